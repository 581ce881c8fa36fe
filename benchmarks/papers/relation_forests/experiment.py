"""From views and settings to predictions, by cross-validation over documents."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from relation_forests.corpora import Pair, documents
from relation_forests.structures import features, view
from roles.experiment import single_best

import kernelwood as kw

__all__ = ["Laboratory", "Settings", "figures"]

KEPT = 4  # batches of views, and matrices, that stay in memory

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Settings:
    """Everything that a row of the table depends on.

    Attributes
    ----------
    view : str
        A key of `structures.VIEWS`, or "" for flat features alone.
    forest : bool
        Whether all readings are compared, or the best tree alone.
    flat : str
        Name of the flat features, or "".
    theta : float
        Share of the kernel of structures; the rest is that of the flat features.
    decay, sharpness : float
        Of the forest kernel.
    pruning : float
        Nats by which a reading may be worse than the best.
    C : float
        Cost of errors of the support vector machines.
    balanced : bool
        Whether errors of rare classes cost more.
    """

    view: str = "pet"
    forest: bool = False
    flat: str = ""
    theta: float = 0.5
    decay: float = 0.4
    sharpness: float = 1.0
    pruning: float = 4.0
    C: float = 1.0
    balanced: bool = False

    def structure_kernel(self) -> kw.ForestKernel:
        """Return the kernel of structures; on single trees it is the subset tree kernel."""
        return kw.ForestKernel(decay=self.decay, sharpness=self.sharpness)

    def of_structures(self) -> Settings:
        """Return the settings with what changes the kernel of structures, and nothing else."""
        kept = replace(Settings(), view=self.view, forest=self.forest, decay=self.decay)
        if self.forest:
            kept = replace(kept, sharpness=self.sharpness, pruning=self.pruning)
        return kept


class Laboratory:
    """Pairs with their forests; predicts every pair by models that have not seen its document.

    Parameters
    ----------
    pairs : sequence of Pair
        The pairs.
    forests : mapping
        The forest of each sentence.
    blind : bool
        Whether entities are renamed.
    negative : str
        The label of pairs without a relation.
    n_splits, seed : int
        Folds.
    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        forests: Mapping[tuple[str, ...], kw.Forest],
        *,
        blind: bool,
        negative: str,
        n_splits: int = 5,
        seed: int = 0,
    ) -> None:
        self.pairs = list(pairs)
        self.forests = {pair.words: forests[pair.words] for pair in pairs}
        self.blind, self.negative = blind, negative
        self.y = [pair.label for pair in pairs]
        self.groups = documents(pairs)
        self.folds = np.zeros(len(self.pairs), dtype=np.int64)
        splits = kw.evaluate.group_splits(self.groups, self.y, n_splits=n_splits, random_state=seed)
        for number, (_, test) in enumerate(splits):
            self.folds[test] = number
        self._flat: dict[str, Matrix] = {}
        self._views: dict[Any, Any] = {}
        self._structures: dict[Settings, tuple[Matrix, dict[str, float]]] = {}

    @property
    def positive(self) -> list[str]:
        """The relations."""
        return sorted(set(self.y) - {self.negative})

    def views(self, settings: Settings) -> Any:
        """Return a batch with the structure of every pair."""
        key = settings.view, settings.forest, settings.pruning if settings.forest else 0.0
        if key not in self._views:
            prepared = {
                words: forest.prune(settings.pruning) if settings.forest else single_best(forest)
                for words, forest in self.forests.items()
            }
            made = [
                view(prepared[pair.words], pair, settings.view, blind=self.blind)
                for pair in self.pairs
            ]
            self._views[key] = kw.batch(made)
            _drop_oldest(self._views)
        return self._views[key]

    def structures(self, settings: Settings) -> tuple[Matrix, dict[str, float]]:
        """Return the Gram matrix of structures, with their size and the CPU time of the kernel."""
        key = settings.of_structures()
        if key not in self._structures:
            batch = self.views(key)
            started = time.process_time()
            gram = _single(key.structure_kernel().gram(batch))
            cost = {
                "edges": float(np.mean([len(forest.edges) for forest in batch])),
                "kernel_seconds": time.process_time() - started,
            }
            self._structures[key] = gram, cost
            _drop_oldest(self._structures)
        return self._structures[key]

    def flat(self, name: str) -> Matrix:
        """Return the Gram matrix of flat features."""
        if name not in self._flat:
            rows = [features(pair, name, blind=self.blind) for pair in self.pairs]
            self._flat[name] = _single(kw.VectorKernel("cosine").gram(rows))
        return self._flat[name]

    def gram(self, settings: Settings) -> Matrix:
        """Return the Gram matrix of the kernel of some settings."""
        if not settings.view:
            return self.flat(settings.flat)
        structures, _ = self.structures(settings)
        if not settings.flat:
            return structures
        theta = np.float32(settings.theta)
        return theta * structures + (1 - theta) * self.flat(settings.flat)

    def predict(self, settings: Settings) -> list[str]:
        """Return the label of each pair by machines, one for each class, of the other folds."""
        weights = "balanced" if settings.balanced else None
        # The matrix of the settings is given; kernel and vectors are never compared.
        machines = kw.KernelSVC(kw.VectorKernel(), C=settings.C, class_weight=weights)
        rows = np.zeros((len(self.pairs), 1))
        scores = machines.held_out(rows, self.y, self.folds, gram=self.gram(settings))
        classes = np.unique(self.y)
        numbers = (scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return classes[numbers].tolist()

    def f1(self, settings: Settings) -> float:
        """Return micro-averaged F1 of the relations."""
        return figures(self.y, self.predict(settings), self.positive)["f1"]


def figures(y: Sequence[str], predicted: Sequence[str], positive: Sequence[str]) -> dict[str, Any]:
    """Return precision, recall and F1 over all relations, and the mean F1 of the relations."""
    found = kw.evaluate.score(y, predicted, positive=list(positive), n_bootstrap=0)
    return {
        "precision": float(found.micro.precision),
        "recall": float(found.micro.recall),
        "f1": float(found.micro.f1),
        "macro_f1": float(found.macro.f1),
    }


def _drop_oldest(kept: dict[Any, Any]) -> None:
    if len(kept) > KEPT:
        del kept[next(iter(kept))]


def _single(gram: NDArray[Any]) -> Matrix:
    return np.ascontiguousarray(gram, dtype=np.float32)
