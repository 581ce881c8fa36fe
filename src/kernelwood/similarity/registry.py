"""Similarities by name, for files of settings and for tests that run on every similarity."""

from __future__ import annotations

from kernelwood.similarity.base import Similarity
from kernelwood.similarity.compositional import Compositional
from kernelwood.similarity.lexical import Lexical
from kernelwood.similarity.pointwise import Exact, Exponential, Gaussian, Sigmoid
from kernelwood.similarity.table import Table

SIMILARITIES: dict[str, type[Similarity]] = {
    "exact": Exact,
    "gaussian": Gaussian,
    "sigmoid": Sigmoid,
    "exponential": Exponential,
    "lexical": Lexical,
    "compositional": Compositional,
    "table": Table,
}
