"""What is counted, and how Prometheus reads it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate

# seconds; a listing is a few milliseconds, a whole history may be seconds
BUCKET_BOUNDS = (0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
KNOWN_METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"})


class RequestMetrics:
    """Requests since the start, by address and outcome; it does not grow with strangers' words."""

    def __init__(self) -> None:
        self.request_counts: Counter[tuple[str, str, int]] = Counter()
        self.bucket_counts = [0] * (len(BUCKET_BOUNDS) + 1)
        self.total_seconds = 0.0

    def record(self, method: str, address: str, status: int, seconds: float) -> None:
        self.request_counts[method if method in KNOWN_METHODS else "other", address, status] += 1
        self.bucket_counts[bisect_left(BUCKET_BOUNDS, seconds)] += 1
        self.total_seconds += seconds

    def render(self) -> Iterable[str]:
        name = "claudekeeper_requests_total"
        yield from header(name, "counter", "Requests that were answered.")
        for (method, address, status), count in sorted(self.request_counts.items()):
            labels = {"method": method, "address": address, "status": str(status)}
            yield sample(name, count, labels)
        name = "claudekeeper_request_seconds"
        yield from header(name, "histogram", "How long answers took.")
        sums = list(accumulate(self.bucket_counts))
        for bound, count in zip([*map(str, BUCKET_BOUNDS), "+Inf"], sums, strict=True):
            yield sample(f"{name}_bucket", count, {"le": bound})
        yield sample(f"{name}_sum", self.total_seconds)
        yield sample(f"{name}_count", sums[-1])


def single_value(
    name: str, kind: str, says: str, value: float, labels: Mapping[str, str] | None = None
) -> Iterable[str]:
    """A metric that has one value."""
    yield from header(name, kind, says)
    yield sample(name, value, labels)


def header(name: str, kind: str, says: str) -> Iterable[str]:
    yield f"# HELP {name} {says}"
    yield f"# TYPE {name} {kind}"


def sample(name: str, value: float, labels: Mapping[str, str] | None = None) -> str:
    inside = ",".join(f'{label}="{_escape_label(text)}"' for label, text in (labels or {}).items())
    number = str(value) if isinstance(value, int) else repr(float(value))
    return f"{name}{{{inside}}} {number}" if inside else f"{name} {number}"


def _escape_label(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
