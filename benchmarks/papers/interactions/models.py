"""Models of a row: learner, representation, filters and selection of bits."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from interactions.filters import kept_pairs
from interactions.matrices import Lookup
from numpy.typing import NDArray

import kernelwood as kw
from kernelwood.features import pack
from kernelwood.learners.bit_forest import grow_forest

__all__ = ["KINDS", "Model", "Scores", "balanced_bits", "fit_scores", "scores_of", "undersample"]

Floats: TypeAlias = "NDArray[np.float64]"
Bools: TypeAlias = "NDArray[np.bool_]"

KINDS: dict[str, Any] = {
    "KLSH-kNN": kw.HashNeighborsClassifier,
    "KLSH-RF": kw.HashForestClassifier,
    "SVM": kw.KernelSVC,
    "ridge": kw.KernelRidgeClassifier,
}
_DRAWN = 4  # bits drawn for each bit that is selected


@dataclass(frozen=True)
class Model:
    """A learner with all that was chosen for it.

    Attributes
    ----------
    kind : str
        A name in `KINDS`.
    representation : str
        A name in `interactions.representation.REPRESENTATIONS`.
    parameters : dict
        Parameters of the classifier that differ from its defaults.
    filters : tuple of str
        Names in `interactions.filters.RULES`; what they remove is neither learned from nor
        predicted positive.
    target_bits : bool
        Whether the bits of KLSH-RF are those that divide the unlabeled test pairs most evenly.
    undersampled : bool
        Whether only as many pairs without an interaction are learned from, drawn at random, as
        there are with one.
    cut : float, optional
        A fixed decision threshold, in place of the one from held-out documents.
    """

    kind: str
    representation: str
    parameters: dict[str, Any] = field(default_factory=dict)
    filters: tuple[str, ...] = ()
    target_bits: bool = False
    undersampled: bool = False
    cut: float | None = None

    @property
    def is_random(self) -> bool:
        """Whether references are drawn."""
        return self.kind.startswith("KLSH")

    def classifier(self, kernel: kw.Kernel, seed: int) -> Any:
        """Return the classifier, not fitted."""
        options = {"random_state": seed} if self.is_random else {}
        return KINDS[self.kind](kernel, **options, **self.parameters)


@dataclass(frozen=True)
class Scores:
    """Scores of pairs, and which of them the filters keep; the others are never positive."""

    values: Floats
    kept: Bools

    @property
    def ranked(self) -> Floats:
        """The scores, with those of removed pairs below all others."""
        lowest = self.values[self.kept].min() if self.kept.any() else 0.0
        return np.where(self.kept, self.values, lowest - 1.0)


def fit_scores(
    model: Model,
    kernel: Lookup,
    pairs: Any,
    y: NDArray[Any],
    train: NDArray[Any],
    test: NDArray[Any],
    removed: dict[str, Bools],
    seed: int,
) -> Scores:
    """Fit a model and return the scores of other pairs.

    Parameters
    ----------
    pairs : batch
        All pairs, as `interactions.matrices.numbered` makes them.
    y : ndarray
        Classes of training pairs; those of test pairs are not read.
    train, test : ndarray of int
        Rows of pairs.
    removed : dict of str to ndarray of bool
        The pairs that each filter removes.
    seed : int
    """
    kept = kept_pairs(removed, model.filters, len(pairs))
    train = train[kept[train]]
    if model.undersampled:
        train = undersample(train, y, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of constant bits: short paths repeat
        if model.target_bits:
            values = _forest_on_balanced_bits(model, kernel, pairs, y, train, test, seed)
        else:
            values = scores_of(
                model.classifier(kernel, seed).fit(pairs[train], y[train]), pairs[test]
            )
    return Scores(values, kept[test])


def undersample(train: NDArray[Any], y: NDArray[Any], seed: int) -> NDArray[Any]:
    """Return rows with as many pairs of class 0 as of class 1, if there are as many, ascending."""
    others = train[y[train] == 0]
    n = min(len(others), int((y[train] == 1).sum()))
    drawn = np.random.default_rng(seed).choice(others, n, replace=False)
    return np.sort(np.concatenate([train[y[train] == 1], drawn]))


def scores_of(model: Any, X: Any) -> Floats:
    """Return the scores of a fitted classifier: margins, or probabilities of an interaction."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64).reshape(len(X))
    return np.asarray(model.predict_proba(X)[:, 1], dtype=np.float64)


def balanced_bits(bits: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Return the numbers of the bits whose mean is nearest to one half, ascending.

    Parameters
    ----------
    bits : ndarray, shape (n_pairs, n_bits)
    n : int
        Number of bits to select; of equally balanced ones the first.
    """
    distance = np.abs(bits.mean(axis=0) - 0.5)
    return np.sort(np.argsort(distance, kind="stable")[:n])


def _forest_on_balanced_bits(
    model: Model,
    kernel: Lookup,
    pairs: Any,
    y: NDArray[Any],
    train: NDArray[Any],
    test: NDArray[Any],
    seed: int,
) -> Floats:
    settings = model.classifier(kernel, seed)
    hasher = kw.KernelHasher(
        kernel,
        method=settings.method,
        n_references=settings.n_references,
        n_bits=_DRAWN * settings.n_bits,
        subset_size=settings.subset_size,
        random_state=seed,
    ).fit(pairs[train])
    found = hasher.transform(pairs[test])
    chosen = balanced_bits(found, settings.n_bits)
    forest = grow_forest(
        pack(hasher.transform(pairs[train])[:, chosen]),
        y[train].astype(np.int32),
        n_bits=len(chosen),
        n_classes=2,
        n_trees=settings.n_estimators,
        bits_per_tree=settings.bits_per_tree,
        min_samples_leaf=settings.min_samples_leaf,
        seed=seed,
    )
    return np.asarray(forest.predict_proba(pack(found[:, chosen]))[:, 1], dtype=np.float64)
