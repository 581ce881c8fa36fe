"""The review pages on a large project: answers, learning, opening, memory.

    python benchmarks/reviewing.py [--data DIR] [--project FILE.kwp] [--candidates 50000]
                                   [--decisions 1000] [--json]

The project has texts of DDIExtraction 2013 and BioNLP 2009 and 2013, parsed by the bundled grammar;
building it takes about ten minutes, so ``--project`` keeps the file and uses it again (a copy of
it). ``kernelwood review`` runs in a process of its own on a loopback address. A client decides
candidates as they are annotated (BioNLP: at random, since its events are not relations), one after
the other, while the model learns in the background, and then tries texts of 25 words. Times of
requests are measured by the client, with a wall clock; learning is CPU time of the process for ten
new labels after all others; memory is its peak (Linux only).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
from measure import show_table

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.text import Document, Example, Sentence
from kernelwood.web import Project, TypeRow, build_project

SOURCES = [
    ("ddi-2013/ddi-2013-train.tar.gz", None),
    ("bionlp-st/bionlp-st-2009.tar.gz", "*/train/*"),
    ("bionlp-st/bionlp-st-2013-ge.tar.gz", "*/train/*"),
    ("bionlp-st/bionlp-st-2009.tar.gz", "*/devel/*"),
    ("bionlp-st/bionlp-st-2013-ge.tar.gz", "*/devel/*"),
]
HEADERS = {"Content-Type": "application/json", "X-Kernelwood": "1"}
N_WORDS = 25


def texts(data: str | None) -> list[Example]:
    """Return documents with entities; events and their triggers are left out."""
    found: list[Example] = []
    for number, (name, only) in enumerate(SOURCES):
        options = {} if only is None else {"only": only}
        for example in kw.read(require_data(name, data), **options):
            view = example.views.get("document", example.views.get("sentence"))
            if isinstance(view, Document):
                triggers = {event.trigger for event in view.events}
                entities = [one for one in view.entities if one.id not in triggers]
                view = Document(view.text, entities)
            kind = "sentence" if isinstance(view, Sentence) else "document"
            found.append(Example(f"{number}.{example.id}", views={kind: view}))
    return found


def build(path: Path, data: str | None, n_candidates: int) -> None:
    """Build the project, of as many texts as have about that many candidates."""
    chosen: list[Example] = []
    n = 0
    for example in texts(data):
        view = example.views.get("document", example.views.get("sentence"))
        parts = view.sentences() if isinstance(view, Document) else [view]
        n += sum(len(one.entities) * (len(one.entities) - 1) // 2 for one in parts)
        chosen.append(example)
        if n >= n_candidates:
            break
    print(f"building a project of {len(chosen):,} texts", file=sys.stderr)
    build_project(path, chosen, types=[TypeRow("int", True)], parser="biomedical").close()


class Client:
    """Requests to ``kernelwood review``, which runs in a process of its own."""

    def __init__(self, project: Path) -> None:
        self.started = time.perf_counter()
        command = [sys.executable, "-m", "kernelwood", "review", str(project), "--no-browser"]
        self.process = subprocess.Popen(
            [*command, "--port", "0"], stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if found := re.search(r"http://([^/]+)/\?token=(\S+)", line):
                break
        else:
            raise SystemExit("kernelwood review did not start")
        self.connection = HTTPConnection(found[1], timeout=120)
        self.headers = {**HEADERS, "X-Kernelwood-Token": found[2]}

    def ask(self, path: str, body: Any = None) -> tuple[Any, float]:
        """Return an answer and its milliseconds."""
        method = "GET" if body is None else "POST"
        data = None if body is None else json.dumps(body)
        started = time.perf_counter()
        self.connection.request(method, path, data, self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        elapsed = 1000 * (time.perf_counter() - started)
        if answer.status != 200:
            raise SystemExit(f"{path}: status {answer.status}: {text[:300]!r}")
        return json.loads(text), elapsed

    def wait(self) -> dict[str, Any]:
        """Wait until the model has learned from all decisions."""
        while True:
            status, _ = self.ask("/api/status")
            if status["error"]:
                raise SystemExit(status["error"])
            if not status["training"] and not status["waiting"]:
                return status
            time.sleep(0.05)

    def cpu(self) -> float:
        """Return the CPU seconds of the process."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> tuple[float, float]:
        """Return peak and current memory of the process in MB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        found = {line.partition(":")[0]: line.split() for line in lines}
        return int(found["VmHWM"][1]) / 1024, int(found["VmRSS"][1]) / 1024

    def close(self) -> None:
        """End the process."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def sentences_to_try(project: Project, n: int) -> list[str]:
    """Return texts of 25 words with two names or more."""
    found: list[str] = []
    for row in range(0, len(project.candidates), 97):
        sentence = project.candidate(row).sentence
        words = sentence.text.split()
        if len(words) >= N_WORDS and len(sentence.entities) > 1:
            found.append(" ".join(words[:N_WORDS]))
        if len(found) == n:
            break
    return found


def measure(path: Path, n_decisions: int, seed: int = 0) -> dict[str, Any]:
    """Return the figures of a project."""
    rng = np.random.default_rng(seed)
    with Project.open(path, read_only=True) as project:
        truth = project.candidates.annotation
        made: dict[str, Any] = {
            "sentences": project.n_sentences,
            "candidates": len(project.candidates),
        }
        tried = sentences_to_try(project, 60)
        symmetric = {row.name: row.symmetric for row in project.types()}
    client = Client(path)
    try:
        client.ask("/api/next")
        made["opening_s"] = time.perf_counter() - client.started
        made["opening_cpu_s"] = client.cpu()
        client.wait()
        made["memory_opened_mb"] = client.memory()[0]
        times: dict[str, list[float]] = {"next": [], "decide": [], "evidence": []}
        for number in range(n_decisions):
            answer, elapsed = client.ask("/api/next")
            times["next"].append(elapsed)
            row = answer["candidate"]["id"]
            label = truth[row]
            if label is None:
                kind = next(iter(symmetric))
                label = kind if rng.random() < 0.2 else "none"
            body = {"candidates": [row], "label": label, "token": f"b{number}", "expected": [None]}
            times["decide"].append(client.ask("/api/decisions", body)[1])
            if number % 100 == 99:
                print(f"  {number + 1:,} decisions", file=sys.stderr)
        client.wait()
        cpu = []
        for _ in range(5):
            rows = [client.ask("/api/next")[0]["candidate"]["id"]]
            while len(rows) < 10:
                skip = ",".join(map(str, rows))
                rows.append(client.ask(f"/api/next?skip={skip}")[0]["candidate"]["id"])
            before = client.cpu()
            client.ask("/api/decisions", {"candidates": rows, "label": "none"})
            client.wait()
            cpu.append(client.cpu() - before)
        made["learning_cpu_s"] = min(cpu)
        made["learning_cpu_max_s"] = max(cpu)
        listed = client.ask("/api/candidates?sort=-probability&limit=60")[0]["rows"]
        for row in [one["id"] for one in listed]:
            times["evidence"].append(client.ask(f"/api/candidates/{row}/evidence")[1])
        times["try"] = [client.ask("/api/try", {"text": text})[1] for text in tried]
        for name, values in times.items():
            made |= {f"{name}_p{q}_ms": float(np.percentile(values, q)) for q in (50, 95)}
        for page in ("facts", "network", "model", "documents", "candidates?sort=-probability"):
            made[f"{page.partition('?')[0]}_ms"] = client.ask(f"/api/{page}")[1]
        made["memory_mb"] = client.memory()[0]
        made["labels"] = client.ask("/api/status")[0]["model"]["labels"]
    finally:
        client.close()
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of corpora")
    parser.add_argument("--project", type=Path, help="file of the project, kept for other runs")
    parser.add_argument("--candidates", type=int, default=50_000)
    parser.add_argument("--decisions", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = options.project or Path(folder, "large.kwp")
        if not source.exists():
            build(source, options.data, options.candidates)
        used = Path(folder, "used.kwp")
        shutil.copy(source, used)
        with Project.open(used) as project:  # from zero labels
            project.set("learn_annotation", False)
        figures = measure(used, options.decisions)
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        rows = [{"measure": name, "value": value} for name, value in figures.items()]
        show_table("kernelwood review", rows)


if __name__ == "__main__":
    main()
