"""What is counted, and how Prometheus reads it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate

# seconds; a listing is a few milliseconds, a whole history may be seconds
BOUNDS = (0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"})


class Tally:
    """Requests since the start, by address and outcome; it does not grow with strangers' words."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.within = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0

    def count(self, method: str, address: str, status: int, seconds: float) -> None:
        self.requests[method if method in METHODS else "other", address, status] += 1
        self.within[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    def lines(self) -> Iterable[str]:
        name = "claudekeeper_requests_total"
        yield from header(name, "counter", "Requests that were answered.")
        for (method, address, status), count in sorted(self.requests.items()):
            labels = {"method": method, "address": address, "status": str(status)}
            yield sample(name, count, labels)
        name = "claudekeeper_request_seconds"
        yield from header(name, "histogram", "How long answers took.")
        sums = list(accumulate(self.within))
        for bound, count in zip([*map(str, BOUNDS), "+Inf"], sums, strict=True):
            yield sample(f"{name}_bucket", count, {"le": bound})
        yield sample(f"{name}_sum", self.seconds)
        yield sample(f"{name}_count", sums[-1])


def single(
    name: str, kind: str, says: str, value: float, labels: Mapping[str, str] | None = None
) -> Iterable[str]:
    """A metric that has one value."""
    yield from header(name, kind, says)
    yield sample(name, value, labels)


def header(name: str, kind: str, says: str) -> Iterable[str]:
    yield f"# HELP {name} {says}"
    yield f"# TYPE {name} {kind}"


def sample(name: str, value: float, labels: Mapping[str, str] | None = None) -> str:
    inside = ",".join(f'{label}="{_quoted(text)}"' for label, text in (labels or {}).items())
    number = str(value) if isinstance(value, int) else repr(float(value))
    return f"{name}{{{inside}}} {number}" if inside else f"{name} {number}"


def _quoted(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
