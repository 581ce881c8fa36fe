"""``kernelwood doctor``."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import random
import re
import time
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import results, write_json
from kernelwood.cli.options import json_option

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

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
    "tomli-w",
)
# The extras for users, and what each makes possible.
_OPTIONAL = {
    "spacy": "spaCy as a parser, a component for spaCy",
    "stanza": "Stanza as a parser",
    "arrow": "Parquet and Arrow files",
    "pandas": "tables as data frames of pandas",
    "polars": "tables as data frames of Polars",
    "web": "kernelwood serve and review",
    "dask": "work on Dask clusters",
    "faiss": "search by faiss",
    "plot": "plots of clusters and gates",
}
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
_GRAPHS: tuple[tuple[str, tuple[tuple[int, str, int], ...]], ...] = (
    ("saw cat dog", ((0, "nsubj", 1), (0, "obj", 2))),
    ("saw dog cat the", ((0, "nsubj", 1), (0, "obj", 2), (2, "det", 3))),
    ("cat saw dog saw", ((1, "nsubj", 0), (1, "obj", 2), (2, "of", 3), (3, "of", 1))),
    ("saw cat", ((0, "nsubj", 1), (0, "obj", 1), (1, "same", 1))),
)
_FEATURES: tuple[dict[str, float], ...] = (
    {"cat": 1.0, "dog": 2.0},
    {"dog": 0.5},
    {"saw": 1.0, "cat": -1.5, "a": 0.25},
    {},
)
_VECTORS = {"cat": (1, 0), "dog": (0.8, 0.6), "saw": (0, 1), "ran": (-0.6, 0.8), "the": (1, 1)}
_TOLERANCE = 1e-9


@click.command()
@json_option
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Show the installation and test the kernels.

    Optional parts that are not installed are shown with the command that installs them.

    The native values of each kernel are compared with the textbook definition on small
    structures, and so is soft matching by word vectors. The exit code is 1 if they differ, or if
    the native core or a library is missing.
    """
    report = _examine()
    write_json(report) if as_json else _render(report, results())
    if not report["ok"]:
        ctx.exit(1)


# Checks.


def _examine() -> dict[str, Any]:
    """Return versions, machine, native core, extras, data and results of the self-test.

    Returns
    -------
    dict
        With the keys ``ok``, ``versions``, ``native``, ``machine``, ``extras``, ``optional``,
        ``data`` and ``self_test``, and plain JSON values.
    """
    native = _native()
    versions = {"python": platform.python_version()} | {p: _version(p) for p in _PACKAGES}
    complete = all(versions[package] for package in _PACKAGES[1:])
    tests = _self_test() if native["ok"] else []
    extras = _extras()
    return {
        "ok": native["ok"] and complete and all(test["ok"] for test in tests),
        "versions": versions,
        "native": native,
        "machine": _machine(native["ok"]),
        "extras": extras,
        "optional": _optional(extras),
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
        if found and not found[2]:  # skip an extra that only combines other extras
            extras.setdefault(found[3], {})[found[1]] = _version(found[1])
    return extras


def _optional(extras: dict[str, dict[str, str | None]]) -> list[dict[str, Any]]:
    """Return what each extra for users makes possible, and how to install it."""
    parts: list[dict[str, Any]] = []
    for name, purpose in _OPTIONAL.items():
        packages = extras.get(name, {})
        missing = [package for package, version in packages.items() if version is None]
        parts.append(
            {
                "extra": name,
                "purpose": purpose,
                "installed": bool(packages) and not missing,
                "missing": missing,
                "install": f"pip install 'kernelwood[{name}]'",
            }
        )
    return parts


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
    """Compare a kernel with its textbook definition on small structures, and measure its time."""
    result: dict[str, Any] = {"kernel": name, "class": kind.__name__}
    try:
        kernel = kind(normalize=False) if "normalize" in kind._parameter_names() else kind()
        difference = _largest_difference(kernel, _small_structures(kernel))
        pairs, seconds = _time_gram(kind(), _generated_structures(kernel))
    except Exception as error:  # any error is a finding
        problem = f"{type(error).__name__}: {error}"
        return result | {"ok": False, "difference": None, "ns_per_pair": None, "error": problem}
    return result | {
        "ok": difference <= _TOLERANCE,
        "difference": difference,
        "ns_per_pair": round(1e9 * seconds / pairs, 1),
        "error": None,
    }


def _test_soft_matching() -> dict[str, Any]:
    """Compare soft tree and sequence kernels with their definitions."""
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
    except Exception as error:  # any error is a finding
        problem = f"{type(error).__name__}: {error}"
        return result | {"ok": False, "difference": None, "error": problem}
    return result | {"ok": difference <= _TOLERANCE, "difference": difference, "error": None}


def _small_structures(kernel: Any) -> list[Any]:
    from kernelwood import Forest, Graph, Sequence, Tree

    if kernel.accepts.kind == "sequence":
        return [Sequence(text.split()) for text in _SEQUENCES]
    if kernel.accepts.kind == "tree":
        return [Tree.from_brackets(text) for text in _TREES]
    if kernel.accepts.kind == "graph":
        return [Graph(labels.split(), edges) for labels, edges in _GRAPHS]
    if kernel.accepts.kind == "vector":
        return list(_FEATURES)
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
    """Return random structures of the size of a sentence, with a fixed seed."""
    from kernelwood import Forest, Graph, Sequence

    draw = random.Random(0)
    words = [f"w{i}" for i in range(50)]
    if kernel.accepts.kind == "sequence":
        return [Sequence(draw.choices(words, k=draw.randint(5, 20))) for _ in range(n)]
    if kernel.accepts.kind == "tree":
        return [_generated_tree(draw, draw.choices(words, k=10)) for _ in range(n)]
    if kernel.accepts.kind == "vector":
        return [[draw.random() for _ in range(100)] for _ in range(n)]
    if kernel.accepts.kind == "graph":
        return [
            Graph(draw.choices(words, k=10), [(draw.randrange(i), "", i) for i in range(1, 10)])
            for _ in range(n)
        ]
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
    for _ in range(3):  # the best of three is the least disturbed
        started = time.perf_counter()
        kernel.gram(prepared)
        seconds.append(time.perf_counter() - started)
    n = len(structures)
    return n * (n + 1) // 2, min(seconds)


# Output.


def _render(report: dict[str, Any], console: Console) -> None:
    console.print()
    console.print(_facts(report))
    console.print()
    console.print("[bold cyan]Optional parts[/]: installed, or the command that installs them")
    console.print(_optional_table(report["optional"], report["extras"]))
    console.print()
    if report["self_test"]:
        console.print("[bold cyan]Self-test[/]: native values against the textbook definition")
        console.print(_self_test_table(report["self_test"]))
        for test in report["self_test"]:
            if test["error"]:
                console.print(f"  [bold red]{test['kernel']}[/]: ", end="")
                console.print(test["error"], markup=False)
        console.print()
    verdict = "all checks passed" if report["ok"] else "some checks failed, marked by ✗ above"
    console.print(f"{_mark(report['ok'])} [bold]{verdict}[/]\n")


def _facts(report: dict[str, Any]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2), pad_edge=True)
    table.add_column()
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for ok, name, text in _rows(report):
        # Text: brackets in paths are not markup.
        table.add_row("" if ok is None else _mark(ok), name, Text(text))
    return table


def _rows(report: dict[str, Any]) -> list[tuple[bool | None, str, str]]:
    from kernelwood.compute import format_bytes

    versions, native, machine = report["versions"], report["native"], report["machine"]
    data, budget = report["data"], report["machine"]["memory_budget"]
    rows: list[tuple[bool | None, str, str]] = [
        (
            None,
            "kernelwood",
            f"{versions['kernelwood'] or 'not installed, imported from its folder'}",
        ),
        (None, "Python", f"{versions['python']} on {machine['system']}"),
    ]
    others = {name: v for name, v in versions.items() if name not in ("kernelwood", "python")}
    installed = ", ".join(f"{name} {version}" for name, version in others.items() if version)
    missing = ", ".join(name for name, version in others.items() if not version)
    rows.append(
        (not missing, "libraries", installed + (f"; missing: {missing}" if missing else ""))
    )
    core = f"{native['build']}, using {native['instruction_set']}"
    rows.append(
        (native["ok"], "native core", core if native["ok"] else f"missing: {native['error']}")
    )
    rows.append((None, "cores", f"{machine['usable_cores']} of {machine['cores']} usable"))
    if budget is not None:
        rows.append((None, "memory budget", format_bytes(budget)))
    where = data["folder"] or f"none (set {data['variable']} to a folder of corpora)"
    entries = f": {', '.join(data['entries'])}" if data["entries"] else ""
    rows.append((None, "real data", where + entries))
    return rows


def _optional_table(parts: list[dict[str, Any]], extras: dict[str, Any]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2), pad_edge=True)
    table.add_column()
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    table.add_column(no_wrap=True)
    for part in parts:
        versions = ", ".join(f"{name} {v}" for name, v in extras.get(part["extra"], {}).items())
        table.add_row(
            "[green]✓[/]" if part["installed"] else "–",
            part["extra"],
            part["purpose"],
            Text(versions if part["installed"] else part["install"]),
        )
    return table


def _self_test_table(tests: list[dict[str, Any]]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("")
    table.add_column("kernel", no_wrap=True)
    table.add_column("difference", justify="right")
    table.add_column("ns per pair", justify="right")
    for test in tests:
        difference, speed = test["difference"], test["ns_per_pair"]
        table.add_row(
            _mark(test["ok"]),
            test["kernel"],
            "–" if difference is None else f"{difference:.0e}" if difference else "0",
            "–" if speed is None else f"{speed:,.0f}",
        )
    return table


def _mark(ok: bool) -> str:
    """Return a check mark or a cross, in colors that read on light and dark."""
    return "[green]✓[/]" if ok else "[bold red]✗[/]"
