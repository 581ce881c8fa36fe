"""What learning did to the neighbors of the half it learned from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from gate_models.corpora import OTHER, PathCorpus
from gate_models.protocol import VARIANTS, halves, learn_gates

import kernelwood as kw
from kernelwood.tuning.neighbor_search import LOSSES, NeighborLoss, nearest_others

__all__ = ["neighbors_of", "run_diagnosis"]

Row = dict[str, Any]


def neighbors_of(kernel: kw.Kernel, X: Any, y: Any, groups: Any) -> tuple[float, float, float]:
    """Return what there is to say of the nearest neighbors in other groups.

    Returns
    -------
    similarity, agreement, empty : float
        Their mean similarity; the share that is of the same class; the share of structures that
        nothing is similar to.
    """
    nearest, similarities = nearest_others(kernel, X, 1, groups)
    first = similarities[:, 0]
    return float(first.mean()), float(np.mean(y[nearest[:, 0]] == y)), float(np.mean(first <= 0))


def run_diagnosis(
    corpus: PathCorpus, kernel: kw.Kernel, variants: Iterable[str], seeds: Iterable[int]
) -> Iterator[Row]:
    """Yield the loss and the neighbors of each learning half; nothing is tested."""
    negative = "auto" if corpus.is_binary else OTHER
    for number, (seed, learning, _) in enumerate(halves(corpus, seeds)):
        X, y = corpus.X[learning], corpus.y[learning]
        groups = np.unique(np.array(corpus.groups)[learning], return_inverse=True)[1]
        classes, numbers = np.unique(y, return_inverse=True)
        for variant in variants:
            learned = learn_gates(corpus, learning, kernel, variant, seed)
            similarity, agreement, empty = neighbors_of(learned.kernel, X, y, groups)
            losses = {
                kind: float(
                    NeighborLoss.of("loss", kind, classes, numbers, negative_label=negative)(
                        learned.kernel, X, numbers, groups
                    ).mean()
                )
                for kind in LOSSES
            }
            yield {
                "corpus": corpus.name,
                "seed": seed,
                "half": number % 2,
                "gates": variant,
                "learned": VARIANTS[variant] is not None,
                **losses,
                "similarity": similarity,
                "agreement": agreement,
                "empty": empty,
            }
