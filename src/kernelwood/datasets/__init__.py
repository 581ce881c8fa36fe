"""The bundled example data, and the way to corpora that are not bundled."""

from __future__ import annotations

from kernelwood.datasets._interactions import interactions_path, load_interactions
from kernelwood.datasets._locate import DATA_VARIABLE, find_data, require_data
from kernelwood.datasets._questions import load_questions

__all__ = [
    "DATA_VARIABLE",
    "find_data",
    "interactions_path",
    "load_interactions",
    "load_questions",
    "require_data",
]
