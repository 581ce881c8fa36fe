"""Costs of plans: overhead, large corpora, structures by the million, a plan of 10^8 sentences.

    python benchmarks/plans.py [--parts overhead corpus encode dry text] [--sentences 1000000]
                               [--folder DIR] [--data DIR] [--json]

- overhead: CPU time of `kernelwood predict`, with and without --resume, and of plan, run and
  collect, on 20,000 sentences with given parses, and the seconds in which they wait for the disk
  (fsync); the files must be equal.
- corpus: a corpus of --sentences sentences, planned, run by two processes that are killed in the
  middle and started again, and collected; peak memory of a process, also for a hundredth of them.
- encode: --sentences structures (dependency paths) hashed with 100 references and 1,000 bits, and
  embedded with 500 landmarks, on two threads, from objects to arrays.
- dry: a plan for 10^8 sentences of text, JSON lines of abstracts; the same file 150 times, linked.
- text: sentences per CPU second from abstracts with given entities, by parser (BioNLP 2009).

The corpus is the bundled one, repeated with other ids. CPU times are those of one run; the two
sides of a ratio are measured one after the other.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measure import show_table

import kernelwood as kw
from kernelwood import scale
from kernelwood.datasets import find_data, load_interactions
from kernelwood.scale.parts import missing_shards

# Runs a command, and writes the seconds that it spends in fsync to the file of the first argument.
MEASURED = """
import os, sys, time
from kernelwood.cli import main
fsync, total = os.fsync, [0.0, 0]
def measured(descriptor):
    started = time.perf_counter()
    fsync(descriptor)
    total[:] = total[0] + time.perf_counter() - started, total[1] + 1
os.fsync = measured
try:
    main(sys.argv[2:])
finally:
    print(*total, file=open(sys.argv[1], "w"))
"""
KERNELWOOD = [sys.executable, "-m", "kernelwood", "-q"]
Row = dict[str, object]


def corpus_lines(n: int) -> Iterator[str]:
    """Yield sentences with entities and parses, one a line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "all.jsonl")
        kw.write(load_interactions(), path)
        lines = path.read_text("utf-8").splitlines()
    made = [json.loads(line)["id"] for line in lines]
    pieces = [line.split(json.dumps(name), 1) for name, line in zip(made, lines, strict=True)]
    for number in range(n):
        before, after = pieces[number % len(pieces)]
        yield f'{before}"s{number}"{after}\n'


def write_corpus(path: Path, n: int) -> Path:
    """Write a corpus of n sentences."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(corpus_lines(n))
    return path


def save_model(path: Path) -> Path:
    """Write an extractor of the bundled corpus."""
    kw.save(kw.RelationExtractor(random_state=0).fit(load_interactions("train")), path)
    return path


class Usage:
    """CPU and wall time, and peak memory, of processes."""

    def __init__(self) -> None:
        self.cpu = self.wall = self.peak = self.waited = 0.0
        self.calls = 0

    def run(self, *arguments: object) -> None:
        """Run a command to its end."""
        started = time.perf_counter()
        waits = Path(tempfile.gettempdir(), f"kernelwood-fsync-{os.getpid()}")
        process = subprocess.Popen(
            [sys.executable, "-c", MEASURED, str(waits), "-q", *map(str, arguments)],
            stdout=subprocess.DEVNULL,
        )
        # Not ru_maxrss, in which a process begins with the peak of the one that started it.
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            self.peak = max(self.peak, peak_of(process.pid))
            time.sleep(0.02)
        _, status, used = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{arguments} failed")
        self.wall += time.perf_counter() - started
        self.cpu += used.ru_utime + used.ru_stime
        waited, calls = waits.read_text().split()
        waits.unlink()
        self.waited += float(waited)
        self.calls += int(calls)


def peak_of(process: int) -> float:
    """Return the peak memory of a process so far, in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(one.split()[1]) / 1024 for one in lines if one.startswith("VmHWM:")), 0.0)


def overhead(folder: Path, n: int = 20_000) -> Iterator[Row]:
    """Compare a plan with the plain command."""
    model, corpus = save_model(folder / "model.kw"), write_corpus(folder / "corpus.jsonl", n)
    plain, resumed = Usage(), Usage()
    plain.run("predict", model, corpus, "-o", folder / "plain.jsonl")
    yield _cost("kernelwood predict", plain, plain)
    resumed.run("predict", model, corpus, "-o", folder / "resumed.jsonl", "--resume")
    yield _cost("kernelwood predict --resume", resumed, plain)
    total = Usage()
    for arguments in (
        ("plan", folder / "plan", "predict", model, corpus),
        ("run", folder / "plan"),
        ("collect", folder / "plan", folder / "joined.jsonl"),
    ):
        total.run("shards", *arguments)
    yield _cost("plan, run and collect", total, plain)
    for name in ("resumed.jsonl", "joined.jsonl"):
        if not filecmp.cmp(folder / "plain.jsonl", folder / name, shallow=False):
            raise SystemExit("the files differ")


def _cost(work: str, used: Usage, plain: Usage) -> Row:
    return {
        "work": work,
        "CPU s": used.cpu,
        "ratio": used.cpu / plain.cpu,
        "peak MB": used.peak,
        "fsync": used.calls,
        "fsync s": used.waited,
    }


def corpus(folder: Path, n: int) -> Iterator[Row]:
    """Run a large corpus by two processes, one of which is killed and started again."""
    model = save_model(folder / "model.kw")
    for size in (max(1000, n // 100), n):
        source = write_corpus(folder / "corpus.jsonl", size)
        planned = Usage()
        planned.run("shards", "plan", folder / "plan", "predict", model, source)
        plan = scale.open_plan(folder / "plan")
        started = time.perf_counter()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        kills = _run_and_kill(plan, 3)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        wall = time.perf_counter() - started
        joined = Usage()
        joined.run("shards", "collect", folder / "plan", folder / "found.jsonl")
        state = scale.status(plan)
        lines = sum(1 for _ in (folder / "found.jsonl").open("rb"))
        yield {
            "sentences": size,
            "MB": source.stat().st_size / 1e6,
            "shards": plan.n_shards,
            "plan CPU s": planned.cpu,
            "plan peak MB": planned.peak,
            "run CPU s": cpu,
            "of parts": state.seconds,
            "run wall s": wall,
            "kills": kills,
            "collect CPU s": joined.cpu,
            "collect peak MB": joined.peak,
            "relations": lines,
        }
        if size == n:
            print(f"verified, one part computed again: {scale.verify(plan)}", file=sys.stderr)
        shutil.rmtree(folder / "plan")


def _run_and_kill(plan: scale.Plan, kills: int) -> int:
    """Run a plan by two processes; kill one of them after each quarter of the parts."""
    command = [*KERNELWOOD, "shards", "run", str(plan.folder)]
    running = [subprocess.Popen(command) for _ in range(2)]
    killed = 0
    while any(process.poll() is None for process in running):
        done = plan.n_shards - len(missing_shards(plan))
        if killed < kills and done * (kills + 1) >= plan.n_shards * (killed + 1):
            running[killed % 2].kill()
            running[killed % 2].wait()
            running[killed % 2] = subprocess.Popen(command)
            killed += 1
        time.sleep(0.05)
    if missing_shards(plan):
        raise SystemExit("shards are missing")
    return killed


def paths(n: int) -> Iterator[kw.Sequence]:
    """Yield dependency paths of candidates, those of the bundled corpus with other words."""
    candidates = kw.relations.pair_candidates(load_interactions())
    base = [example.view("path") for example in candidates.examples("path")]
    for number in range(n):
        path = base[number % len(base)]
        word = f"w{number * 7919 % 5003}"
        middle = len(path.nodes) // 2
        nodes = [*path.nodes[:middle], word, *path.nodes[middle + 1 :]]
        yield kw.Sequence(list(zip(path.edges, nodes, strict=True)))


def encode(n: int) -> Iterator[Row]:
    """Hash and embed structures."""
    kernel = kw.SubsequenceKernel()
    sample = list(paths(5000))
    hasher = kw.KernelHasher(kernel, n_references=100, n_bits=1000, random_state=0).fit(sample)
    embedder = kw.NystromEmbedder(kernel, n_landmarks=500, random_state=0).fit(sample)
    for name, method in (("hash", hasher.codes), ("embed", embedder.transform)):
        making = encoding = 0.0
        stream, done = paths(n), 0
        with kw.config_context(n_jobs=2):
            while done < n:
                some = [one for _, one in zip(range(50_000), stream, strict=False)]
                started = time.perf_counter()
                batch = kw.batch(some)
                making += time.perf_counter() - started
                started = time.perf_counter()
                made = np.ascontiguousarray(method(batch))
                encoding += time.perf_counter() - started
                done += len(made)
        yield {"work": name, "structures": n, "batches wall s": making,
               "encoding wall s": encoding, "sum": making + encoding}  # fmt: skip


def abstracts(path: Path, megabytes: int) -> int:
    """Write JSON lines of abstracts; return the number of sentences."""
    sentences = [e.view("sentence").text for e in load_interactions()]
    n = size = number = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        while size < megabytes * 10**6:
            some = [sentences[(number * 9 + k) % len(sentences)] for k in range(9)]
            size += file.write(json.dumps({"pmid": number, "abstract": " ".join(some)}) + "\n")
            number, n = number + 1, n + 9
    return n


def dry(folder: Path) -> Iterator[Row]:
    """Plan 10^8 sentences."""
    model = save_model(folder / "model.kw")
    (folder / "in").mkdir()
    n = abstracts(folder / "in" / "0.jsonl", 100)
    copies = -(-(10**8) // n)
    for number in range(1, copies):
        os.link(folder / "in" / "0.jsonl", folder / "in" / f"{number}.jsonl")
    used = Usage()
    used.run("shards", "plan", folder / "plan", "extract", model, folder / "in",
             "--text-field", "abstract", "--id-field", "pmid")  # fmt: skip
    plan = scale.open_plan(folder / "plan")
    yield {
        "sentences": n * copies,
        "GB": sum(plan.sizes) / 1e9,
        "shards": plan.n_shards,
        "CPU s": used.cpu,
        "peak MB": used.peak,
        "plan MB": sum(p.stat().st_size for p in plan.folder.iterdir() if p.is_file()) / 1e6,
    }


def text(folder: Path, data: str | None) -> Iterator[Row]:
    """Extract from abstracts with annotated proteins, which are parsed: BioNLP 2009."""
    found = find_data("bionlp-st/bionlp-st-2009.tar.gz", data)
    if found is None:
        print("text: the folder of corpora is missing (--data)", file=sys.stderr)
        return
    with tarfile.open(found) as archive:
        for member in archive.getmembers():
            name = Path(member.name)
            if "train" in member.name and name.suffix in (".txt", ".a1"):
                (folder / "in").mkdir(exist_ok=True)
                opened = archive.extractfile(member)
                if opened is not None:
                    (folder / "in" / name.name).write_bytes(opened.read())
    model = save_model(folder / "model.kw")
    texts = [path.read_text("utf-8") for path in sorted((folder / "in").glob("*.txt"))]
    n = sum(len(list(kw.text.find_sentences(one))) for one in texts)
    for parser in ("biomedical", "spacy"):
        used = Usage()
        used.run("extract", model, folder / "in", "-o", folder / "found.jsonl", "--parser", parser)
        yield {"parser": parser, "documents": len(texts), "sentences": n,
               "MB of text": sum(map(len, texts)) / 1e6, "CPU s": used.cpu,
               "sentences/s": n / used.cpu, "peak MB": used.peak,
               "MB of results": (folder / "found.jsonl").stat().st_size / 1e6}  # fmt: skip


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = ["overhead", "corpus", "encode", "dry", "text"]
    parser.add_argument("--parts", nargs="+", choices=known, default=known)
    parser.add_argument("--sentences", type=int, default=10**6)
    parser.add_argument("--folder", type=Path, help="where files are written, removed afterwards")
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for part in options.parts:
        with tempfile.TemporaryDirectory(dir=options.folder) as name:
            folder = Path(name)
            work: dict[str, Any] = {
                "overhead": lambda folder=folder: overhead(folder),
                "corpus": lambda folder=folder: corpus(folder, options.sentences),
                "encode": lambda: encode(options.sentences),
                "dry": lambda folder=folder: dry(folder),
                "text": lambda folder=folder: text(folder, options.data),
            }
            rows = list(work[part]())
        if options.json:
            print(json.dumps({part: rows}))
        elif rows:
            show_table(part, rows)


if __name__ == "__main__":
    main()
