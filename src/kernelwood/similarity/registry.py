"""Similarities by name, for settings files and for tests that run on every similarity."""

from __future__ import annotations

from kernelwood.similarity.lookup_table import Table
from kernelwood.similarity.similarity import Exact, Similarity
from kernelwood.similarity.vector_similarities import (
    Compositional,
    Exponential,
    Gaussian,
    Lexical,
    Sigmoid,
    Threshold,
)

SIMILARITIES: dict[str, type[Similarity]] = {
    "exact": Exact,
    "gaussian": Gaussian,
    "sigmoid": Sigmoid,
    "exponential": Exponential,
    "threshold": Threshold,
    "lexical": Lexical,
    "compositional": Compositional,
    "table": Table,
}
