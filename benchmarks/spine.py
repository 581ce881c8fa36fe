"""The path of the data, from documents to relations: objects made, size, loading, extraction.

    python benchmarks/spine.py [--before CHECKOUT] [--rounds 5] [--json]

Trains on the bundled corpus, in brat form (documents, parsed by the bundled grammar) to count the
objects made on the way, and in parsed form for the model file, loading and extraction. Times are
CPU seconds of one thread, the minimum over all rounds. With ``--before``, the same is measured on
another checkout of kernelwood with a compiled core, such as a worktree of an earlier commit, in
alternating rounds of one run; the environment of this Python must serve both.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from measure import show_table

HERE = Path(__file__).resolve().parent.parent
# The same for both checkouts, whatever their defaults are.
VIEWS = ["stem-context", "stem-steps", "names", "negation", "types"]
_LOWER = {  # row -> how far it should be below the figure of --before
    "Sentence validations per sentence": "at most 1",
    "Example objects per candidate, training": "at most 1",
    "Example objects, loading": "0",
    "model file, bytes": "at most 55 %",
    "loading, CPU s": "at most 50 %",
    "extraction, sentences per CPU s": "at least 150 %",
    "extract of one sentence, CPU ms": "",
}


def count_calls(counts: Counter[str], owner: Any, name: str, key: str) -> None:
    """Count the calls of a method."""
    original = getattr(owner, name)

    def counting(*arguments: Any, **named: Any) -> Any:
        counts[key] += 1
        return original(*arguments, **named)

    setattr(owner, name, staticmethod(counting) if name == "__new__" else counting)


def counted(load: Any, kw: Any, path: str) -> dict[str, float]:
    """Return how many objects training on documents, saving and loading make."""
    counts: Counter[str] = Counter()
    documents = kw.read(load("train", "brat"))
    count_calls(counts, kw.Sentence, "__post_init__", "sentences")
    count_calls(counts, kw.Example, "__new__", "examples")
    if hasattr(kw.Example, "_trusted"):
        trusted = kw.Example._trusted
        kw.Example._trusted = lambda *a: (counts.update(["examples"]), trusted(*a))[1]
    extractor = kw.RelationExtractor(views=VIEWS, random_state=0, n_jobs=1).fit(documents)
    trained = dict(counts)
    kw.save(extractor, path)
    counts.clear()
    kw.load(path)
    return {
        "Sentence validations per sentence": trained["sentences"] / extractor.n_sentences_,
        "Example objects per candidate, training": (
            trained.get("examples", 0) / extractor.n_candidates_
        ),
        "Example objects, loading": counts["examples"],
    }


def seconds(work: Any, repeats: int) -> float:
    """Return the least CPU time of several calls."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def timed(kw: Any, examples: Any, test: Any, path: str) -> dict[str, float]:
    """Return the size of the model, and what loading and extraction cost."""
    extractor = kw.RelationExtractor(views=VIEWS, random_state=0, n_jobs=1).fit(examples)
    kw.save(extractor, path)
    loaded = kw.load(path)
    # Each sentence once: equal structures are compared once, repetition would flatter that.
    asked = [
        kw.Example(example.id, views=example.views)
        for example in test
        if len(example.view("sentence").entities) > 1
    ]
    loaded.predict(asked)
    return {
        "model file, bytes": Path(path).stat().st_size,
        "loading, CPU s": seconds(lambda: kw.load(path), 9),
        "extraction, sentences per CPU s": len(asked) / seconds(lambda: loaded.predict(asked), 40),
        "extract of one sentence, CPU ms": 1e3 * seconds(lambda: loaded.extract(asked[:1]), 30),
    }


def work(what: str) -> None:
    """Measure the checkout that this process imports, and print the figures."""
    import kernelwood as kw
    from kernelwood.datasets import interactions_path, load_interactions

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.kw")
        if what == "counts":
            found = counted(interactions_path, kw, path)
        else:
            found = timed(kw, load_interactions("train"), load_interactions("test"), path)
    json.dump(found, sys.stdout)


def measure(checkout: Path, what: str) -> dict[str, float]:
    """Return the figures of a checkout, measured in a process of its own."""
    # Not the process's own path: an editable installation would come first.
    code = (
        "import sys, runpy; "
        f"sys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in type(f).__module__]; "
        f"sys.path.insert(0, {str(checkout / 'src')!r}); "
        f"sys.argv = ['spine.py', '--work', {what!r}]; "
        f"runpy.run_path({str(Path(__file__).resolve())!r}, run_name='__main__')"
    )
    environment = {**os.environ, "PYTHONPATH": str(HERE / "benchmarks")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    )
    return dict(json.loads(done.stdout))


def best(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Return the best figure of each row over all rounds."""
    return {
        name: (max if "per CPU s" in name else min)(one[name] for one in rounds)
        for name in rounds[0]
    }


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="another checkout, to compare with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--work", choices=["counts", "times"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work)
        return
    checkouts = {"now": HERE, **({"before": options.before} if options.before else {})}
    figures = {name: measure(path, "counts") for name, path in checkouts.items()}
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in checkouts}
    for _ in range(options.rounds):
        for name, path in checkouts.items():
            rounds[name].append(measure(path, "times"))
    for name in checkouts:
        figures[name] |= best(rounds[name])
    if options.json:
        json.dump(figures, sys.stdout)
        return
    rows = []
    for name, wanted in _LOWER.items():
        row = {"": name, **{key: f"{figures[key][name]:,.4g}" for key in sorted(checkouts)}}
        if options.before:
            old = figures["before"][name]
            row["now / before"] = f"{figures['now'][name] / old:.0%}" if old else "-"
        rows.append({**row, "wanted": wanted})
    show_table("from documents to relations, bundled corpus", rows)


if __name__ == "__main__":
    main()
