"""Signatures and members on the pages of classes."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import kernelwood as kw

pytest.importorskip("numpydoc", reason="the tools of the documentation are not installed")
pytest.importorskip("sphinx", reason="the tools of the documentation are not installed")
sys.path.append(str(Path(__file__).parents[2] / "docs" / "extensions"))

import reference


def on_page(name):
    return SimpleNamespace(env=SimpleNamespace(docname=name))


def test_kernels_link_to_the_methods_of_their_base():
    inherited = dict(reference._inherited(kw.SubsetTreeKernel))
    assert inherited["gram"] == inherited["get_params"] == "kernelwood.Kernel"
    assert "reference" not in inherited


def test_methods_of_scikit_learn_are_named_without_a_link():
    inherited = dict(reference._inherited(kw.KernelSVC))
    assert inherited["get_params"] == inherited["score"] == ""
    assert not [name for name in inherited if name.endswith("_request")]


def test_methods_of_internal_bases_are_on_the_page():
    assert "take" not in dict(reference._inherited(kw.arrays.TreeBatch))
    page = on_page("api/kernelwood.arrays.TreeBatch")
    assert reference.choose_members(page, "method", "take", None, False, None) is None


def test_methods_on_other_pages_are_left_out():
    page = on_page("api/kernelwood.SubsetTreeKernel")
    assert reference.choose_members(page, "method", "gram", None, False, None) is True
    assert reference.choose_members(page, "method", "reference", None, False, None) is None


def test_the_signature_of_a_kernel_has_its_parameters():
    shown, _ = reference.show_parameters(
        None, "class", "", kw.SubsetTreeKernel, None, "(*args: Any, **kwargs: Any)", None
    )
    assert shown.startswith("(*, decay: float = 0.4, ")
    assert reference.show_parameters(None, "class", "", kw.Tree, None, "(label)", None) is None


def test_every_class_of_the_overview_is_known():
    assert reference._documented()[kw.Tree] == "kernelwood.Tree"
    assert reference._documented()[kw.relations.Prediction] == "kernelwood.relations.Prediction"
