"""The HTTP service under load: requests a second, latency and memory.

    python benchmarks/serving.py [--model FILE.kw] [--clients 1 8 32] [--requests 1000]
                                 [--memory-requests 10000] [--jobs 1] [--json]

A service runs in a process of its own on a loopback address, with a model that is trained on the
bundled corpus, or with a given one. Each client is a thread with one connection that sends the next
request when it has the answer to the last. A request has a sentence of the test part of the bundled
corpus with its entities, which the service parses by the bundled grammar. Latency is measured by
the client. Every answer is compared with the first answer to the same request: a different one is
counted as an error. At the end, memory of the process of the service is measured every
1,000 requests (Linux only). Clients and service share the cores of the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
from measure import show_table

import kernelwood as kw
from kernelwood.datasets import load_interactions

HEADERS = {"Content-Type": "application/json"}
STEP = 1000  # requests between two measurements of memory


def train(path: Path) -> None:
    """Save a model of the bundled corpus that parses by the bundled grammar."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kw.RelationExtractor(parser="biomedical", blind=True, random_state=0)
        kw.save(model.fit(load_interactions("train")), path)


def bodies() -> list[bytes]:
    """Return requests, each with a sentence and its entities."""
    made = []
    for example in load_interactions("test"):
        sentence = example.view("sentence")
        if len(sentence.entities) < 2:
            continue
        entities = [
            {"id": one.id, "type": one.type, "spans": [list(span) for span in one.spans]}
            for one in sentence.entities
        ]
        made.append(json.dumps({"text": sentence.text, "entities": entities}).encode())
    return made


@contextmanager
def service(model: Path, jobs: int) -> Iterator[tuple[subprocess.Popen[str], str, int]]:
    """Start a service in a process; yield it with its host and port."""
    command = [sys.executable, "-m", "kernelwood", "serve", str(model), "--port", "0"]
    process = subprocess.Popen([*command, "--jobs", str(jobs)], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if found := re.search(r"http://([\d.]+):(\d+)", line):
                break
        else:
            raise SystemExit("the service did not start")
        yield process, found[1], int(found[2])
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


class Load:
    """Clients that send requests to a service, each on a connection of its own."""

    def __init__(self, host: str, port: int, requests: list[bytes]) -> None:
        self.host, self.port, self.requests = host, port, requests
        self.answers: dict[int, bytes] = {}
        self.seconds: list[float] = []
        self.n_errors = 0
        self._numbers = iter(())
        self._lock = threading.Lock()

    def run(self, n_clients: int, n_requests: int) -> float:
        """Send requests and return the wall-clock seconds of all."""
        self.seconds, self.n_errors = [], 0
        self._numbers = iter(range(n_requests))
        clients = [threading.Thread(target=self._client) for _ in range(n_clients)]
        started = time.perf_counter()
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        return time.perf_counter() - started

    def _client(self) -> None:
        connection = HTTPConnection(self.host, self.port, timeout=120)
        while True:
            with self._lock:
                number = next(self._numbers, None)
            if number is None:
                connection.close()
                return
            place = number % len(self.requests)
            started = time.perf_counter()
            try:
                connection.request("POST", "/v1/extract", self.requests[place], HEADERS)
                answer = connection.getresponse()
                body, status = answer.read(), answer.status
            except OSError:
                connection.close()
                body, status = b"", 0
            taken = time.perf_counter() - started
            with self._lock:
                self.seconds.append(taken)
                right = status == 200 and self.answers.setdefault(place, body) == body
                self.n_errors += not right


def memory_of(process: subprocess.Popen[str]) -> float:
    """Return the resident memory of a process in MB; NaN where the system does not tell it."""
    file = Path(f"/proc/{process.pid}/statm")
    if not file.exists():
        return float("nan")
    return int(file.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure(arguments: argparse.Namespace, model: Path) -> dict[str, Any]:
    requests = bodies()
    rows = []
    with service(model, arguments.jobs) as (process, host, port):
        load = Load(host, port, requests)
        load.run(1, len(requests))  # first answers, which the others are compared with
        for n_clients in arguments.clients:
            seconds = load.run(n_clients, arguments.requests)
            p50, p95, p99 = np.percentile(np.array(load.seconds) * 1000, [50, 95, 99]).tolist()
            rows.append(
                {
                    "clients": n_clients,
                    "requests": arguments.requests,
                    "requests/s": arguments.requests / seconds,
                    "p50 ms": p50,
                    "p95 ms": p95,
                    "p99 ms": p99,
                    "errors": load.n_errors,
                }
            )
        memory, errors = [memory_of(process)], 0
        for _ in range(arguments.memory_requests // STEP):
            load.run(8, STEP)
            errors += load.n_errors
            memory.append(memory_of(process))
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, load {busy:.1f}",
        "rows": rows,
        "memory_mb": memory,
        "memory_requests": arguments.memory_requests,
        "memory_errors": errors,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--memory-requests", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model or Path(folder) / "model.kw"
        if arguments.model is None:
            train(model)
        found = measure(arguments, model)
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    show_table(f"service on {found['machine']}", found["rows"], digits=1)
    shown = ", ".join(f"{size:.0f}" for size in found["memory_mb"])
    print(
        f"memory in MB every {STEP:,} of {found['memory_requests']:,} requests: {shown}; "
        f"{found['memory_errors']} errors"
    )


if __name__ == "__main__":
    main()
