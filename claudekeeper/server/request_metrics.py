"""What is counted of requests."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric

# seconds; a listing takes a few milliseconds, a whole history may take seconds
BUCKET_BOUNDS = (0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
KNOWN_METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"})


class RequestMetrics:
    """Requests since the start, by address and status. No caller can add new labels."""

    def __init__(self) -> None:
        self.request_counts: Counter[tuple[str, str, int]] = Counter()
        self.bucket_counts = [0] * (len(BUCKET_BOUNDS) + 1)
        self.total_seconds = 0.0

    def record(self, method: str, address: str, status: int, seconds: float) -> None:
        self.request_counts[method if method in KNOWN_METHODS else "other", address, status] += 1
        self.bucket_counts[bisect_left(BUCKET_BOUNDS, seconds)] += 1
        self.total_seconds += seconds

    def collect(self) -> Iterator[Metric]:
        requests = CounterMetricFamily(
            "claudekeeper_requests",
            "Requests that were answered.",
            labels=("method", "address", "status"),
        )
        for (method, address, status), count in sorted(self.request_counts.items()):
            requests.add_metric((method, address, str(status)), count)
        yield requests
        bounds = [*map(str, BUCKET_BOUNDS), "+Inf"]
        yield HistogramMetricFamily(
            "claudekeeper_request_seconds",
            "How long answers took.",
            list(zip(bounds, accumulate(self.bucket_counts), strict=True)),
            self.total_seconds,
        )
