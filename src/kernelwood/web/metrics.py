"""Counters, gauges and histograms in the text format of Prometheus."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeAlias

from kernelwood.web.security import App, Message, Receive, Scope, Send

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # seconds
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})

Labels: TypeAlias = tuple[tuple[str, str], ...]


class Metrics:
    """Figures of a running service; all methods may be called by any thread.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.describe("requests_total", "counter", "Number of requests.")
    >>> metrics.add("requests_total", 1, route="/health")
    >>> print(metrics.text(), end="")
    # HELP kernelwood_requests_total Number of requests.
    # TYPE kernelwood_requests_total counter
    kernelwood_requests_total{route="/health"} 1
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._help: dict[str, tuple[str, str]] = {}
        self._values: defaultdict[str, dict[Labels, float]] = defaultdict(dict)
        self._seconds: defaultdict[str, dict[Labels, list[float]]] = defaultdict(dict)
        self._gauges: dict[str, list[tuple[Labels, Callable[[], float]]]] = defaultdict(list)

    def describe(self, name: str, kind: str, text: str) -> None:
        """Add the metric ``kernelwood_<name>``: a counter, gauge or histogram."""
        self._help[name] = (kind, text)

    def add(self, name: str, amount: int, /, **labels: str) -> None:
        """Increase a counter by a whole number."""
        key = tuple(sorted(labels.items()))
        with self._lock:
            self._values[name][key] = self._values[name].get(key, 0) + amount

    def observe(self, name: str, seconds: float, /, **labels: str) -> None:
        """Add a duration to a histogram."""
        key = tuple(sorted(labels.items()))
        with self._lock:
            row = self._seconds[name].setdefault(key, [0.0] * (len(_BOUNDS) + 2))
            row[bisect_left(_BOUNDS, seconds)] += 1
            row[-1] += seconds

    def gauge(self, name: str, value: Callable[[], float], /, **labels: str) -> None:
        """Add a figure that is computed when it is asked for."""
        self._gauges[name].append((tuple(sorted(labels.items())), value))

    def text(self) -> str:
        """Return all figures in the text format of Prometheus."""
        with self._lock:
            lines = [line for name in self._help for line in self._lines(name)]
        return "\n".join(lines) + "\n"

    def _lines(self, name: str) -> Iterable[str]:
        kind, text = self._help[name]
        full = f"kernelwood_{name}"
        yield f"# HELP {full} {text}"
        yield f"# TYPE {full} {kind}"
        for labels, value in self._values[name].items():
            yield f"{full}{_shown(labels)} {value:.0f}"
        for labels, compute in self._gauges[name]:
            yield f"{full}{_shown(labels)} {compute():g}"
        for labels, row in self._seconds[name].items():
            count = 0.0
            for bound, number in zip((*_BOUNDS, float("inf")), row, strict=False):
                count += number
                limit = "+Inf" if bound == float("inf") else f"{bound:g}"
                yield f"{full}_bucket{_shown((*labels, ('le', limit)))} {count:.0f}"
            yield f"{full}_sum{_shown(labels)} {row[-1]:.6f}"
            yield f"{full}_count{_shown(labels)} {count:.0f}"


def _shown(labels: Labels) -> str:
    listed = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels)
    return f"{{{listed}}}" if listed else ""


class Measured:
    """ASGI middleware that counts requests and measures how long they take.

    Parameters
    ----------
    app : ASGI application
    metrics : Metrics
    routes : iterable of str
        Paths that are counted each; all others are counted as ``other``.
    """

    def __init__(self, app: App, *, metrics: Metrics, routes: Iterable[str]) -> None:
        self.app, self.metrics, self.routes = app, metrics, frozenset(routes)
        metrics.describe("requests_total", "counter", "Number of requests by route and status.")
        metrics.describe("request_seconds", "histogram", "Duration of requests by route.")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        status, started = 500, time.perf_counter()

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watch)
        finally:
            route = scope["path"] if scope["path"] in self.routes else "other"
            self.metrics.add("requests_total", 1, route=route, status=str(status))
            self.metrics.observe("request_seconds", time.perf_counter() - started, route=route)
