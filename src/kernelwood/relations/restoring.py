"""Whether an extractor that was loaded from a file is in order."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelwood.arrays import ExampleBatch
from kernelwood.kernels import Kernel
from kernelwood.learners import LEARNERS
from kernelwood.relations.predictions import NONE
from kernelwood.seeds import resolve_seed

__all__ = ["check_fitted"]

_COUNTS = ("n_documents_", "n_sentences_", "n_candidates_", "n_relations_")


def check_fitted(model: Any) -> None:
    """Raise ValueError if fitted attributes do not fit together."""
    if type(model.learner_) not in LEARNERS.values():
        raise ValueError("learner_ must be a classifier")
    if not isinstance(model.learner_.kernel_, Kernel):
        raise ValueError("the kernel of learner_ must be a kernel")
    classes = model.learner_.classes_
    if classes.dtype.kind != "U" or NONE not in classes or len(classes) < 2:
        raise ValueError(f"the classes of learner_ must be names, {NONE!r} among them")
    if not isinstance(model.cases_, ExampleBatch) or len(model.cases_) == 0:
        raise ValueError("cases_ must be examples")
    for name in ("case_types_", "case_texts_"):
        strings = getattr(model, name)
        if not isinstance(strings, np.ndarray) or strings.shape != (len(model.cases_),):
            raise ValueError(f"{name} must be one string for each case")
    for name in ("slope_", "offset_", "threshold_"):
        value = getattr(model, name)
        if type(value) is not float or not np.isfinite(value):
            raise ValueError(f"{name} must be a finite number")
    if not 0.0 <= model.threshold_ <= 1.0 or model.slope_ < 0:
        raise ValueError("threshold_ must be from 0 to 1, slope_ not below 0")
    for name in _COUNTS:
        if type(getattr(model, name)) is not int or getattr(model, name) < 0:
            raise ValueError(f"{name} must be a count")
    if resolve_seed(model.seed_) != model.seed_:
        raise ValueError("seed_ must be a whole number")
    _check_plain(model)


def _check_plain(model: Any) -> None:
    """Raise ValueError unless names, roles, triggers and figures are what they should be."""
    if not _strings(model.views_) or type(model.parser_) is not str:
        raise ValueError("views_ and parser_ must be names")
    if model.labels_ not in ("binary", "type", "directed") or not _strings(model.undirected_):
        raise ValueError("labels_ and undirected_ must be those of classes")
    if not isinstance(model.roles_, dict) or not all(
        isinstance(roles, list) and len(roles) == 2 and _strings(roles)
        for roles in model.roles_.values()
    ):
        raise ValueError("roles_ must have two names for each relation")
    if not isinstance(model.triggers_, list) or not all(
        isinstance(row, list) and len(row) == 2 and _strings(row) for row in model.triggers_
    ):
        raise ValueError("triggers_ must be words with types")
    for name in ("held_out_", "dropped_"):
        value = getattr(model, name)
        if not isinstance(value, dict) or not _strings(list(value)):
            raise ValueError(f"{name} must be figures by name")


def _strings(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and all(isinstance(value, str) for value in values)
