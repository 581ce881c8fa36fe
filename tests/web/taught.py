"""Candidates with views and true classes, for tests of the live model."""

from __future__ import annotations

from functools import cache

import numpy as np

from kernelwood.datasets import load_interactions
from kernelwood.relations import pair_candidates
from kernelwood.web import Teacher

VIEWS = (
    "stem-context", "stem-steps", "names", "negation", "types", "sentence-words",
    "stem-entity-words",
)  # fmt: skip


@cache
def corpus():
    """Return a table of views, document numbers and classes of the bundled interactions."""
    candidates = pair_candidates(load_interactions("train"), labels="directed")
    viewed = candidates.viewed(*VIEWS)
    groups = [candidates.groups()[row] for row in viewed.rows]
    documents = np.unique(groups, return_inverse=True)[1]
    return viewed.table, documents, [str(candidates.labels[row]) for row in viewed.rows]


def new_teacher(**options):
    """Return a teacher of these candidates, without labels."""
    table, documents, _ = corpus()
    return Teacher(table, documents, **options)


def some_labels(n, *, seed=0):
    """Return the true classes of n random candidates."""
    _, _, classes = corpus()
    rows = np.random.default_rng(seed).permutation(len(classes))[:n].tolist()
    return {row: classes[row] for row in rows}
