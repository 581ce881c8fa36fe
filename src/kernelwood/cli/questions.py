"""What `kernelwood demo` computes on the bundled questions, as plain data."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

__all__ = ["NOTE", "run_demo"]

NOTE = (
    "The 120 questions were written so that there is something to learn, and they are far too few "
    "to tell which of two methods is better."
)
# Two that ask alike in different words, and two to look up neighbors for.
_PAIR = ("q094", "q082")
_QUERIES = ("q048", "q030")
_N_NEIGHBORS = 3
_N_FRAGMENTS = {"size": 3, "weight": 4}
_FOLDS, _SEED = 5, 0
_WORDS, _SUBSET, _PARTIAL = "words: subsequences", "tree: subset trees", "tree: partial trees"


def run_demo(
    n_jobs: int | None = None, step: Callable[[str], object] = lambda name: None
) -> dict[str, Any]:
    """Compare, search and classify the bundled questions.

    Parameters
    ----------
    n_jobs : int, optional
        Threads, -1 for all cores.
    step : callable, optional
        Called with the name of each phase as it begins.

    Returns
    -------
    dict
        With the keys ``dataset``, ``comparison``, ``neighbors``, ``classification``, ``note`` and
        ``seconds``; ready for JSON.
    """
    started = time.perf_counter()
    step("reading the questions")
    import kernelwood as kw
    from kernelwood.compute import resolve_jobs
    from kernelwood.datasets import load_questions

    examples = load_questions()
    questions = kw.batch(examples)
    with kw.config_context(n_jobs=resolve_jobs(n_jobs)):
        step("comparing two questions")
        comparison = _compare(questions)
        step("searching neighbors")
        neighbors = _search(questions)
        step("training classifiers")
        classification = _classify(questions)
    return {
        "dataset": {"n_questions": len(examples), "classes": dict(Counter(questions.labels))},
        "comparison": comparison,
        "neighbors": neighbors,
        "classification": classification,
        "note": NOTE,
        "seconds": round(time.perf_counter() - started, 3),
    }


def _kernels() -> dict[str, Any]:
    import kernelwood as kw

    return {
        _WORDS: kw.OnView("words", kw.SubsequenceKernel()),
        _SUBSET: kw.OnView("tree", kw.SubsetTreeKernel()),
        _PARTIAL: kw.OnView("tree", kw.PartialTreeKernel()),
    }


def _describe(example: Any) -> dict[str, Any]:
    tree = example.view("tree")
    text = " ".join(leaf.label for leaf in tree.leaves())
    for mark in ("?", ".", "'s"):
        text = text.replace(f" {mark}", mark)
    return {"id": example.id, "label": example.label, "text": text}


def _compare(questions: Any) -> dict[str, Any]:
    """Compare two questions under each kernel, and say what they share."""
    import kernelwood as kw

    a, b = (next(e for e in questions if e.id == wanted) for wanted in _PAIR)
    kernels = _kernels()
    similarities = []
    for name, kernel in kernels.items():
        gram = kernel.gram(questions)
        n = len(questions)
        average = (gram.sum() - n) / (n * (n - 1))
        similarities.append(
            {
                "name": name,
                "kernel": repr(kernel),
                "similarity": kernel.value(a, b),
                "average_pair": float(average),
            }
        )
    fragments = {
        order: [
            {
                name: getattr(fragment, name)
                for name in ("kernel", "view", "text", "weight", "share", "covers")
            }
            | {"count_a": fragment.count_a, "count_b": fragment.count_b}
            for kernel in (kernels[_WORDS], kernels[_SUBSET])
            for fragment in kw.shared_fragments(kernel, a, b, n, order=order)
        ]
        for order, n in _N_FRAGMENTS.items()
    }
    described = [_describe(e) | {"tree": e.view("tree").to_brackets()} for e in (a, b)]
    return {
        "a": described[0],
        "b": described[1],
        "similarities": similarities,
        "largest_fragments": fragments["size"],
        "heaviest_fragments": fragments["weight"],
    }


def _search(questions: Any) -> list[dict[str, Any]]:
    kernel = _kernels()[_SUBSET]
    indices, similarities = kernel.neighbors(questions, questions, _N_NEIGHBORS, exclude_self=True)
    found = []
    for i, example in enumerate(questions):
        if example.id in _QUERIES:
            nearest = [
                _describe(questions[int(j)])
                | {"similarity": float(s), "same_label": questions[int(j)].label == example.label}
                for j, s in zip(indices[i], similarities[i], strict=True)
            ]
            found.append({"query": _describe(example), "kernel": repr(kernel), "nearest": nearest})
    return found


def _classify(questions: Any) -> list[dict[str, Any]]:
    """Cross-validate a support vector machine with each kernel, and with their sum."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.svm import SVC

    import kernelwood as kw

    kernels = _kernels()
    kernels["all three, summed"] = kernels[_WORDS] + kernels[_SUBSET] + kernels[_PARTIAL]
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=_SEED)
    rows = []
    for name, kernel in kernels.items():
        started = time.perf_counter()
        with kw.counting() as counters:
            scores = cross_val_score(SVC(kernel=kernel), questions, questions.labels, cv=folds)
        rows.append(
            {
                "name": name,
                "kernel": repr(kernel),
                "accuracy": float(scores.mean()),
                "deviation": float(scores.std()),
                "kernel_evaluations": counters.kernel_evaluations,
                "seconds": round(time.perf_counter() - started, 4),
            }
        )
    return rows
