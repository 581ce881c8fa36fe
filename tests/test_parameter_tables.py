"""Tables of parameters in the documentation show the defaults of the code."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import kernelwood as kw

DOCS = Path(__file__).parent.parent / "docs"
CLASSES: dict[str, Any] = {
    "gates": kw.GateLearner,
    "hashing": kw.KernelHasher,
    "kernels/all-paths-graph": kw.AllPathsGraphKernel,
    "kernels/forest": kw.ForestKernel,
    "kernels/pairs": kw.PairKernel,
    "kernels/partial-tree": kw.PartialTreeKernel,
    "kernels/rooted-tree": kw.RootedTreeKernel,
    "kernels/subsequence": kw.SubsequenceKernel,
    "kernels/subset-tree": kw.SubsetTreeKernel,
    "kernels/subtree": kw.SubtreeKernel,
    "kernels/vector": kw.VectorKernel,
    "kernels/weisfeiler-lehman": kw.WeisfeilerLehmanKernel,
}
KERNELS = [page for page in CLASSES if page.startswith("kernels/")]
UNLISTED = {"n_jobs", "kernel"}
CODE = re.compile(r"`([^`]+)`")


def listed(page: str) -> dict[str, str]:
    """Return the defaults that the tables of a page show, by parameter."""
    found: dict[str, str] = {}
    columns: list[str] = []
    for line in (DOCS / f"{page}.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            columns = []
        elif not columns:
            columns = cells
        elif columns[0] == "parameter" and "default" in columns and not line.startswith("|---"):
            names, values = CODE.findall(cells[0]), CODE.findall(cells[columns.index("default")])
            assert len(names) == len(values), f"{page}: {line}"
            found |= dict(zip(names, values, strict=True))
    return found


def defaults(page: str) -> dict[str, Any]:
    parameters = inspect.signature(CLASSES[page]).parameters
    return {name: one.default for name, one in parameters.items() if name not in UNLISTED}


@pytest.mark.parametrize("page", CLASSES)
def test_defaults_are_those_of_the_code(page: str) -> None:
    shown = {name: ast.literal_eval(value) for name, value in listed(page).items()}
    own = defaults(page)
    assert shown == {name: own.get(name, "no such parameter") for name in shown}


@pytest.mark.parametrize("page", KERNELS)
def test_every_parameter_of_a_kernel_is_in_a_table(page: str) -> None:
    assert listed(page).keys() == defaults(page).keys()


@pytest.mark.parametrize("page", ["gates", "hashing"])
def test_pages_of_searches_have_a_table(page: str) -> None:
    assert len(listed(page)) >= 4
