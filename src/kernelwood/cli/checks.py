"""What `kernelwood doctor` finds out, as plain data."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import random
import re
import time
from typing import Any

__all__ = ["examine"]

_PACKAGES = (
    "kernelwood",
    "numpy",
    "scipy",
    "scikit-learn",
    "click",
    "rich",
    "penman",
    "conllu",
    "defusedxml",
)
_TREES = (
    "(S (NP (DT the) (NN cat)) (VP (VB saw) (NP (DT a) (NN dog))))",
    "(S (NP (DT the) (NN dog)) (VP (VB saw) (NP (DT the) (NN cat))))",
    "(S (NP (NP (DT the) (NN cat)) (PP (IN of) (NP (NN dog)))) (VP (VB ran)))",
    "(VP (VB ran))",
    '(saw "nsubj":cat "obj":dog)',
    "(S)",
)
_READINGS = (
    (("(S (NP (DT the) (NN cat)) (VP (VB saw) (NP (DT a) (NN dog))))", 1),),
    (
        ("(VP (VB saw) (NP (NN cat)) (PP (IN of) (NN dog)))", 0.7),
        ("(VP (VB saw) (NP (NP (NN cat)) (PP (IN of) (NN dog))))", 0.3),
    ),
    (("(VP (VB saw) (NP (NN dog)))", 2), ("(NP (NN saw) (NN dog))", 1)),
)
_SEQUENCES = ("the cat saw a dog", "a dog saw the cat", "the the the", "cat", "no match here")
_VECTORS = {"cat": (1, 0), "dog": (0.8, 0.6), "saw": (0, 1), "ran": (-0.6, 0.8), "the": (1, 1)}
_TOLERANCE = 1e-9


def examine() -> dict[str, Any]:
    """Return versions, machine, native core, extras, data and the results of the self-test.

    Returns
    -------
    dict
        With the keys ``ok``, ``versions``, ``native``, ``machine``, ``extras``, ``data`` and
        ``self_test``; ready for JSON.
    """
    native = _native()
    versions = {"python": platform.python_version()} | {p: _version(p) for p in _PACKAGES}
    complete = all(versions[package] for package in _PACKAGES[1:])
    tests = _self_test() if native["ok"] else []
    return {
        "ok": native["ok"] and complete and all(test["ok"] for test in tests),
        "versions": versions,
        "native": native,
        "machine": _machine(native["ok"]),
        "extras": _extras(),
        "data": _data(),
        "self_test": tests,
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _native() -> dict[str, Any]:
    try:
        from kernelwood import _native as core
    except ImportError as error:
        return {"ok": False, "build": None, "instruction_set": None, "error": str(error)}
    return {
        "ok": True,
        "build": core.build_info(),
        "instruction_set": core.instruction_set(),
        "error": None,
    }


def _machine(has_core: bool) -> dict[str, Any]:
    usable = getattr(os, "sched_getaffinity", None)
    budget = None
    if has_core:
        from kernelwood.compute import budget as memory_budget

        budget = memory_budget()
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count() or 1,
        "usable_cores": len(usable(0)) if usable else os.cpu_count() or 1,
        "memory_budget": budget,
    }


def _extras() -> dict[str, dict[str, str | None]]:
    """Return the packages of each extra with their versions, None if not installed."""
    extras: dict[str, dict[str, str | None]] = {}
    try:
        required = importlib.metadata.requires("kernelwood") or []
    except importlib.metadata.PackageNotFoundError:
        return extras
    for requirement in required:
        found = re.fullmatch(r"\s*([\w.-]+)(\[.*?\])?.*extra\s*==\s*[\"'](\w+)[\"'].*", requirement)
        if found and not found[2]:  # an extra that only names other extras says nothing new
            extras.setdefault(found[3], {})[found[1]] = _version(found[1])
    return extras


def _data() -> dict[str, Any]:
    from kernelwood.datasets import DATA_VARIABLE, find_data

    folder = find_data()
    entries = sorted(p.name for p in folder.iterdir() if p.is_dir()) if folder else []
    return {
        "variable": DATA_VARIABLE,
        "folder": None if folder is None else str(folder),
        "entries": entries,
    }


def _self_test() -> list[dict[str, Any]]:
    from kernelwood.kernels import KERNELS

    return [*(_test_kernel(name, kind) for name, kind in KERNELS.items()), _test_soft_matching()]


def _test_kernel(name: str, kind: Any) -> dict[str, Any]:
    """Compare a kernel with its textbook definition on small structures, and time it."""
    result: dict[str, Any] = {"kernel": name, "class": kind.__name__}
    try:
        kernel = kind(normalize=False)
        difference = _largest_difference(kernel, _small_structures(kernel))
        pairs, seconds = _time_gram(kind(), _generated_structures(kernel))
    except Exception as error:  # whatever goes wrong is the finding
        problem = f"{type(error).__name__}: {error}"
        return result | {"ok": False, "difference": None, "ns_per_pair": None, "error": problem}
    return result | {
        "ok": difference <= _TOLERANCE,
        "difference": difference,
        "ns_per_pair": round(1e9 * seconds / pairs, 1),
        "error": None,
    }


def _test_soft_matching() -> dict[str, Any]:
    """Compare a tree and a sequence kernel with word vectors with their definitions."""
    from kernelwood import PartialTreeKernel, SubsequenceKernel
    from kernelwood.similarity import Gaussian
    from kernelwood.vectors import Vectors

    names = f"{PartialTreeKernel.__name__}, {SubsequenceKernel.__name__}"
    result: dict[str, Any] = {"kernel": "soft matching", "class": names, "ns_per_pair": None}
    try:
        vectors = Vectors(list(_VECTORS), list(_VECTORS.values()))
        kernels = [
            PartialTreeKernel.sptk(vectors, normalize=False),
            SubsequenceKernel(similarity=Gaussian(vectors), normalize=False),
        ]
        difference = max(_largest_difference(k, _small_structures(k)) for k in kernels)
    except Exception as error:  # whatever goes wrong is the finding
        problem = f"{type(error).__name__}: {error}"
        return result | {"ok": False, "difference": None, "error": problem}
    return result | {"ok": difference <= _TOLERANCE, "difference": difference, "error": None}


def _small_structures(kernel: Any) -> list[Any]:
    from kernelwood import Forest, Sequence, Tree

    if kernel.accepts.kind == "sequence":
        return [Sequence(text.split()) for text in _SEQUENCES]
    if kernel.accepts.kind == "tree":
        return [Tree.from_brackets(text) for text in _TREES]
    readings = [[(Tree.from_brackets(text), weight) for text, weight in row] for row in _READINGS]
    return [Forest.from_trees(weighted) for weighted in readings]


def _largest_difference(kernel: Any, structures: list[Any]) -> float:
    """Return the largest relative difference between the native values and the reference."""
    matrix = kernel.gram(structures)
    return float(
        max(
            abs(matrix[i, j] - expected) / max(1.0, abs(expected))
            for i, a in enumerate(structures)
            for j, b in enumerate(structures)
            for expected in [kernel.reference(a, b)]
        )
    )


def _generated_structures(kernel: Any, n: int = 400) -> list[Any]:
    """Return random structures of the size of a sentence, the same every time."""
    from kernelwood import Forest, Sequence

    draw = random.Random(0)
    words = [f"w{i}" for i in range(50)]
    if kernel.accepts.kind == "sequence":
        return [Sequence(draw.choices(words, k=draw.randint(5, 20))) for _ in range(n)]
    if kernel.accepts.kind == "tree":
        return [_generated_tree(draw, draw.choices(words, k=10)) for _ in range(n)]
    sentences = [draw.choices(words, k=10) for _ in range(n)]
    readings = ([(_generated_tree(draw, s), w) for w in (3, 2, 1)] for s in sentences)
    return [Forest.from_trees(weighted) for weighted in readings]


def _generated_tree(draw: random.Random, words: list[str]) -> Any:
    from kernelwood import Tree

    parts = [Tree(draw.choice("NVDAP"), [Tree(word)]) for word in words]
    while len(parts) > 1:
        start, width = draw.randrange(len(parts) - 1), draw.randint(2, 3)
        parts[start : start + width] = [
            Tree(draw.choice(["S", "NP", "VP", "PP"]), parts[start : start + width])
        ]
    return parts[0]


def _time_gram(kernel: Any, structures: list[Any]) -> tuple[int, float]:
    from kernelwood import batch

    prepared = batch(structures)
    seconds = []
    for _ in range(3):  # the best of three is what the machine can do
        started = time.perf_counter()
        kernel.gram(prepared)
        seconds.append(time.perf_counter() - started)
    n = len(structures)
    return n * (n + 1) // 2, min(seconds)
