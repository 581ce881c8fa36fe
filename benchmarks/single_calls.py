"""Single calls: one pair, listed pairs, one structure against many that stay.

    python benchmarks/single_calls.py [--data DIR] [--n 1000] [--repeats 7] [--only NAME ...]
                                      [--json]

The structures are UIUC questions: grammatical relation centered trees, lexical centered trees for
soft matching, and the tokens of the text. The many are a batch that has been compared before, the
structure that comes in is a new list in each call. Every figure is CPU time of one thread, the
minimum of several repeats of many calls: of `value` in microseconds, of `pairs` in microseconds a
pair, of `cross` of one structure with the many in nanoseconds a pair (float32), of `neighbors` of
one among the many in microseconds.

Models learn from all questions (labels of six classes), the relation extractor from the bundled
corpus of interactions, and predict one structure, which includes laying it out. Sentences are not
parsed. "kept" is the memory that a batch or model keeps for the next call.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import QUESTIONS, WORDS, cpu_seconds, read_view, show_table

import kernelwood as kw
from kernelwood.datasets import find_data, load_interactions, require_data

TREES, LEXICAL = "grct", "lct"
LEMMAS = "word-vectors/qc-standin-250.txt.gz"
GLOVE = "word-vectors/glove.6B.100d.subset.txt.gz"
N_CALLS = 20  # of each kind in a repeat
N_FORESTS = 200


def kernels(data: str | None) -> dict[str, tuple[str, kw.Kernel]]:
    """Return the rows: name -> (view, kernel)."""
    rows: dict[str, tuple[str, kw.Kernel]] = {
        "subset tree (SST)": (TREES, kw.SubsetTreeKernel()),
        "subtree (ST)": (TREES, kw.SubtreeKernel()),
        "partial tree (PTK)": (TREES, kw.PartialTreeKernel()),
        "rooted tree": (TREES, kw.RootedTreeKernel()),
        "SST, gates": (TREES, kw.SubsetTreeKernel(gates={"SYNT##det": 0.0, "SYNT##root": 0.5})),
        "SST + 0.5 * PTK": (TREES, kw.SubsetTreeKernel() + 0.5 * kw.PartialTreeKernel()),
        "subsequence": (WORDS, kw.SubsequenceKernel()),
        "subsequence, up to 3": (WORDS, kw.SubsequenceKernel(max_length=3)),
    }
    if (path := find_data(LEMMAS, data)) is not None:
        lemmas = kw.Vectors.load(path)
        rows["SPTK"] = (LEXICAL, kw.PartialTreeKernel.sptk(lemmas))
    if (path := find_data(GLOVE, data)) is not None:
        glove = kw.Vectors.load(path, lowercase=True)
        similarity = kw.similarity.Exponential(glove, floor=0.5)
        rows["subsequence, soft"] = (WORDS, kw.SubsequenceKernel(similarity=similarity))
    return rows


def measure_kernel(
    name: str, kernel: kw.Kernel, structures: list[Any], n: int, repeats: int
) -> dict[str, Any]:
    """Return what single calls of a kernel cost."""
    many, new = kw.batch(structures[:n]), structures[n : n + N_CALLS]
    shifted = many[1:]
    half = many[:-1]
    kernel.cross(new[:1], many, dtype="float32")
    kernel.neighbors(new[:1], many, 5)

    def seconds(work: Callable[[Any], object]) -> float:
        return cpu_seconds(lambda: [work(one) for one in new], repeats) / len(new)

    return {
        "kernel": name,
        "value us": 1e6 * seconds(lambda one: kernel.value(one, structures[0])),
        "pairs us": 1e6 * cpu_seconds(lambda: kernel.pairs(half, shifted), repeats) / (n - 1),
        "cross 1 x n, ns a pair": 1e9
        / n
        * seconds(lambda one: kernel.cross([one], many, dtype="float32")),
        "cross 16 x n, ns a pair": 1e9
        / n
        / 16
        * cpu_seconds(lambda: kernel.cross(new[:16], many, dtype="float32"), repeats),
        "neighbors of one, us": 1e6 * seconds(lambda one: kernel.neighbors([one], many, 5)),
        "kept kB": getattr(many, "prepared_nbytes", 0) / 1e3,
    }


def models() -> dict[str, Any]:
    """Return the learners and indexes to fit."""
    sst, ptk, words = kw.SubsetTreeKernel(), kw.PartialTreeKernel(), kw.SubsequenceKernel()
    return {
        "KernelSVC, SST": (TREES, kw.KernelSVC(sst)),
        "KernelSVC, PTK": (TREES, kw.KernelSVC(ptk)),
        "KernelSVC, subsequence": (WORDS, kw.KernelSVC(words)),
        "KernelNeighborsClassifier, SST": (TREES, kw.KernelNeighborsClassifier(sst)),
        "KernelNeighborsClassifier, subsequence": (WORDS, kw.KernelNeighborsClassifier(words)),
        "HashForestClassifier, SST": (TREES, kw.HashForestClassifier(sst, random_state=0)),
        "HashIndex, SST": (TREES, kw.HashIndex(sst, random_state=0)),
        "NystromEmbedder, SST": (TREES, kw.NystromEmbedder(sst, n_landmarks=500, random_state=0)),
    }


def measure_model(
    name: str, model: Any, structures: list[Any], labels: list[str], repeats: int
) -> dict[str, Any]:
    """Return what predicting one structure costs; those used are not learned."""
    learned, new = structures[N_CALLS:], structures[:N_CALLS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(learned, labels[N_CALLS:]) if hasattr(model, "predict") else model.fit(learned)
    ask = getattr(model, "predict", None) or getattr(model, "transform", None) or model.search
    ask(new[:1])
    seconds = cpu_seconds(lambda: [ask([one]) for one in new], repeats) / len(new)
    return {"model": name, "learned": len(learned), "one structure, ms": 1e3 * seconds}


def measure_extractor(repeats: int) -> dict[str, Any]:
    """Return what predicting one candidate costs, without parsing."""
    extractor = kw.RelationExtractor("svm", random_state=0, n_jobs=1)
    examples = load_interactions("train")
    extractor.fit(examples)
    candidates = kw.relations.pair_candidates(load_interactions("test"))
    found = list(candidates.viewed(*extractor.views_).table[:N_CALLS])
    extractor.class_probabilities(kw.batch(found[:1]))
    seconds = cpu_seconds(
        lambda: [extractor.class_probabilities(kw.batch([one])) for one in found], repeats
    )
    return {
        "model": "RelationExtractor, one candidate",
        "learned": extractor.n_candidates_,
        "one structure, ms": 1e3 * seconds / len(found),
    }


def read_labels(path: Path) -> list[str]:
    return [str(example.label) for example in kw.read(path)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--n", type=int, default=1000, help="structures that stay")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", nargs="+", default=[""], help="rows whose names contain a text")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    path = require_data(QUESTIONS, data=options.data)
    views: dict[str, list[Any]] = {}

    def structures(view: str) -> list[Any]:
        if view not in views:
            views[view] = list(read_view(path, view, 10**6))
        return views[view]

    def wanted(name: str) -> bool:
        return any(text.lower() in name.lower() for text in options.only)

    calls = [
        measure_kernel(name, kernel, structures(view), options.n, options.repeats)
        for name, (view, kernel) in kernels(options.data).items()
        if wanted(name)
    ]
    labels = read_labels(path)
    asked = [
        measure_model(name, model, structures(view), labels, options.repeats)
        for name, (view, model) in models().items()
        if wanted(name)
    ]
    if wanted("RelationExtractor"):
        asked.append(measure_extractor(options.repeats))
    if options.json:
        print(json.dumps({"kernels": calls, "models": asked}))
        return
    if calls:
        show_table(f"CPU time of one thread, against {options.n:,} structures", calls, 1)
    if asked:
        show_table("CPU time of one thread, one structure", asked, 2)


if __name__ == "__main__":
    main()
