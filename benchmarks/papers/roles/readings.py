"""Forests as the experiment reads them: spans that are constituents, and the best tree alone."""

from __future__ import annotations

import kernelwood as kw
from kernelwood.views.readings import Readings

__all__ = ["Readings", "Span", "constituents", "single_best"]

Span = tuple[int, int]


def constituents(forest: kw.Forest) -> set[Span]:
    """Return the spans of all nodes above words."""
    spans = forest.spans or ()
    return {spans[head] for head, _, _ in forest.edges}


def single_best(forest: kw.Forest) -> kw.Forest:
    """Return the most probable tree of a forest as a forest of one tree."""
    return kw.Forest.from_trees([(forest.best_tree(), 1.0)])
