"""The live model of a project: kernel ridge regression that grows with decisions.

Similarities of labeled candidates to all candidates are kept, so that a new label costs one row of
the kernel, a row of the factor, and one product. Probabilities of all candidates, those of labeled
candidates without their documents, come from one slope and an offset for each class, fitted to
held-out scores. ``docs/teaching-orders.md`` describes the choice of the settings.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning

from kernelwood.arrays import ExampleBatch
from kernelwood.clustering import KernelKMeans
from kernelwood.compute import one_blas_thread
from kernelwood.errors import KernelInputError
from kernelwood.learners import Contributions, GrowingFactor
from kernelwood.relations import NONE, kernel_on, type_of
from kernelwood.seeds import child_generator
from kernelwood.threads import ignored_warnings

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Indices = NDArray[np.int64]

FORWARD, BACKWARD = "(e1,e2)", "(e2,e1)"
_BLIND_VIEWS = ("stem-context", "stem-steps", "names", "negation", "types", "sentence-words")
_ENTITY_VIEW = "stem-entity-words"

_RIDGE = 0.3
_SLOPE, _SLOPE_SPREAD = 2.0, 0.5  # prior of the slope: its median, and the spread of its logarithm
_OFFSET_SPREAD = 1.0  # of the offsets of classes
_FEWEST_LABELS = 30  # labels from which on entity words are tried
_MORE_LABELS = 1.1  # factor by which labels have grown when they are tried again
_LEAST_GAIN = 0.01  # of the log-likelihood of a label, to change the views
_BLOCK = 64  # rows of the kernel that are stored together
_AT_ONCE = 256  # rows of the kernel that are computed together
_MEMORY = 300_000_000  # bytes of rows in memory; further ones are in a temporary file
_SPARE_ROWS = 128  # rows of prepared candidates that are kept
FIRST_PICKS = 20  # candidates to begin with
_SAMPLE = 2000  # candidates that first picks are chosen from
_MEDOIDS, _SAMPLED = 1, 2  # purposes of child generators
_SMALLEST = 1e-12  # probability whose logarithm is taken


class Prior(NamedTuple):
    """Class probabilities of all candidates by a given model.

    Attributes
    ----------
    classes : tuple of str
    probabilities : ndarray, shape (n, n_classes)
    predict : callable, optional
        Returns the same probabilities of new candidates, given a table of their views.
    """

    classes: tuple[str, ...]
    probabilities: NDArray[Any]
    predict: Callable[[ExampleBatch], NDArray[Any]] | None = None


class Scaling(NamedTuple):
    """Class probabilities from scores: the softmax of a slope times scores, plus offsets."""

    slope: float
    offsets: Floats

    def probabilities(self, scores: Any) -> Any:
        """Return class probabilities, of the shape and type of scores."""
        logits = scores * np.asarray(self.slope, scores.dtype) + self.offsets.astype(scores.dtype)
        return np.exp(log_softmax(logits, axis=1))


class Learned(NamedTuple):
    """What new candidates are scored by.

    Attributes
    ----------
    candidates : tuple of int
        Row numbers of the labeled candidates, ascending.
    cases : ExampleBatch
        Their views.
    weights : ndarray, shape (n_labels, n_classes)
    classes : tuple of str
    scaling : Scaling
    kernel : Kernel
    factor : GrowingFactor
        Of the labeled candidates, in this order; never changed.
    order : ndarray of int, shape (n_labels,)
        Positions of ``candidates`` in the factor.
    prior : callable or None
        Returns the scores of new candidates that the labels correct.
    """

    candidates: tuple[int, ...]
    cases: ExampleBatch
    weights: Floats
    classes: tuple[str, ...]
    scaling: Scaling
    kernel: Any
    factor: GrowingFactor
    order: Indices
    prior: Callable[[ExampleBatch], NDArray[Any]] | None = None

    def explained(self, similarities: Floats) -> Floats:
        """Return the part of similarities that the labels explain, shape (m, m).

        The rest is the covariance of the errors of scores, if scores are a Gaussian process.

        Parameters
        ----------
        similarities : ndarray, shape (m, n_labels)
            Of candidates to the labeled ones.
        """
        ordered = np.empty(similarities.shape[::-1])
        ordered[self.order] = similarities.T
        with one_blas_thread():
            found: Floats = ordered.T @ self.factor.solve(ordered)
        return found


@dataclass(frozen=True, eq=False)
class TeachingModel:
    """Probabilities of all candidates by the labels so far; never changed.

    Attributes
    ----------
    number : int
        From 1; the models of a `Teacher` are numbered.
    labels : int
        Number of labels that it was learned from.
    classes : tuple of str
        Ascending, ``"none"`` among them.
    probabilities : ndarray of float32, shape (n, n_classes)
        Class probabilities; for labeled candidates, by a model learned from other documents.
    threshold : float
        Candidates whose most probable relation has at least this probability are predicted.
    views : tuple of str
        Views in use.
    blind : bool
        Whether the words of entities are not used.
    seconds : float
        CPU time of learning.
    learned : Learned or None
        Scores and explains candidates; None if it was made by a given model alone, or was stored.
    """

    number: int
    labels: int
    classes: tuple[str, ...]
    probabilities: Singles
    threshold: float
    views: tuple[str, ...] = ()
    blind: bool = True
    seconds: float = 0.0
    learned: Learned | None = None

    @property
    def none(self) -> int:
        """Column of ``"none"``."""
        return self.classes.index(NONE)

    def relations(self) -> tuple[Indices, Singles]:
        """Return the column and the probability of the most probable relation of each candidate."""
        others = np.delete(np.arange(len(self.classes)), self.none)
        if not len(others):
            n = len(self.probabilities)
            return np.full(n, self.none), np.zeros(n, dtype=np.float32)
        columns = others[self.probabilities[:, others].argmax(axis=1)]
        return columns, self.probabilities[np.arange(len(columns)), columns]

    def best(self, row: int) -> tuple[str, float]:
        """Return the most probable class other than ``"none"``, and its probability."""
        return next(
            ((name, p) for name, p in self.ranking(row) if name != NONE),
            (NONE, float(self.probabilities[row, self.none])),
        )

    def ranking(self, row: int) -> list[tuple[str, float]]:
        """Return all classes with their probabilities, most probable first."""
        values = self.probabilities[row]
        order = np.argsort(-values, kind="stable")
        return [(self.classes[column], float(values[column])) for column in order]

    def predicted(self) -> Indices:
        """Return the column of the predicted class of every candidate."""
        columns, probabilities = self.relations()
        return np.where(probabilities >= self.threshold, columns, self.none)

    def _latest(self) -> Learned:
        if self.learned is None:
            raise KernelInputError(
                "the model has not been learned yet; label candidates of two classes"
            )
        return self.learned

    @property
    def kernel(self) -> Any:
        """The kernel of the model."""
        return self._latest().kernel

    def score(self, table: ExampleBatch) -> Floats:
        """Return the class probabilities of new candidates.

        Parameters
        ----------
        table : ExampleBatch
            Candidates with the views of the model, and those of the prior if there is one.
        """
        learned = self._latest()
        similarities = learned.kernel.cross(table, learned.cases).astype(np.float64)
        with one_blas_thread():
            scores = similarities @ learned.weights
        if learned.prior is not None:
            scores += learned.prior(table)
        found: Floats = learned.scaling.probabilities(scores)
        return found

    def contributions(self, table: ExampleBatch, classes: Sequence[str]) -> Contributions:
        """Return the contributions of labeled candidates to scores, that of a class minus none.

        Parameters
        ----------
        table : ExampleBatch
            Candidates.
        classes : sequence of str
            The class to explain, for each candidate.

        Returns
        -------
        Contributions
            ``indices`` are the row numbers of the labeled candidates. The intercepts are the
            scores by the prior.
        """
        learned = self._latest()
        for name in classes:
            if name not in learned.classes:
                raise KernelInputError(
                    f"the model has no class {name!r}; classes: {', '.join(learned.classes)}"
                )
        similarities = learned.kernel.cross(table, learned.cases).astype(np.float64)
        none = learned.classes.index(NONE)
        columns = [learned.classes.index(name) for name in classes]
        margins = learned.weights[:, columns] - learned.weights[:, [none]]
        rest = np.zeros(len(similarities))
        if learned.prior is not None:
            scores = learned.prior(table)
            rest += scores[np.arange(len(rest)), columns] - scores[:, none]
        return Contributions(
            np.array(learned.candidates, dtype=np.int64), similarities * margins.T, rest
        )


def agree(one: str, other: str) -> bool:
    """Return whether classes agree; one without direction agrees with either direction.

    Examples
    --------
    >>> agree("Binds(e2,e1)", "Binds"), agree("Binds(e2,e1)", "Binds(e1,e2)")
    (True, False)
    """
    return one == other or (type_of(one) == type_of(other) and type_of(one) in (one, other))


def fit_scaling(scores: Floats, classes: Indices, start: Scaling | None = None) -> Scaling:
    """Return the most probable scaling, given the classes of some scores.

    The logarithm of the slope and the offsets have normal priors, so that few labels leave them
    near typical values, and the slope is never 0: scores keep their order.

    Parameters
    ----------
    scores : ndarray, shape (n, n_classes)
        Held-out scores.
    classes : ndarray of int, shape (n,)
        Column of the true class.
    start : Scaling, optional
        Where the search begins.
    """
    n_classes = scores.shape[1]
    rows = np.arange(len(scores))

    def loss(values: Floats) -> tuple[float, Floats]:
        slope, offsets = float(np.exp(values[0])), values[1:]
        logs = log_softmax(slope * scores + offsets, axis=1)
        errors = np.exp(logs)
        errors[rows, classes] -= 1.0
        away = (values[0] - np.log(_SLOPE)) / _SLOPE_SPREAD
        value = -logs[rows, classes].sum() + away**2 / 2
        value += (offsets @ offsets) / (2 * _OFFSET_SPREAD**2)
        first = slope * (errors * scores).sum() + away / _SLOPE_SPREAD
        rest = errors.sum(axis=0) + offsets / _OFFSET_SPREAD**2
        return float(value), np.concatenate([[first], rest])

    values = np.zeros(n_classes + 1)
    values[0] = np.log(_SLOPE)
    if start is not None and len(start.offsets) == n_classes:
        values = np.concatenate([[np.log(start.slope)], start.offsets])
    with one_blas_thread():
        found = minimize(loss, values, jac=True, method="L-BFGS-B").x
    return Scaling(float(np.exp(found[0])), found[1:].copy())


def best_threshold(probabilities: NDArray[Any], related: NDArray[Any]) -> float:
    """Return the threshold with the highest expected F1.

    Parameters
    ----------
    probabilities : ndarray, shape (n,)
        Calibrated, of the most probable relation of each candidate.
    related : ndarray, shape (n,)
        Of any relation.

    Examples
    --------
    >>> p = np.array([0.9, 0.8, 0.3, 0.1])
    >>> round(best_threshold(p, p), 3)
    0.55
    """
    falling = np.sort(probabilities.astype(np.float64))[::-1]
    f1 = 2 * np.cumsum(falling) / (np.arange(1, len(falling) + 1) + related.sum(dtype=np.float64))
    at = int(f1.argmax())
    low = falling[at + 1] if at + 1 < len(falling) else 0.0
    return float((falling[at] + low) / 2)


class SimilarityRows:
    """Similarities of some candidates to all, in blocks of rows.

    Blocks beyond a limit are in a temporary file. Rows are read by other threads while some are
    added or dropped.

    Parameters
    ----------
    n : int
        Number of all candidates.
    memory : int
        Bytes of rows in memory.
    """

    def __init__(self, n: int, memory: int = _MEMORY) -> None:
        self._n, self._memory = n, memory
        self._blocks: list[Singles] = []
        self._place: dict[int, int] = {}
        self._free: list[int] = []
        self._lock = Lock()

    def __contains__(self, candidate: object) -> bool:
        return candidate in self._place

    def __len__(self) -> int:
        return len(self._place)

    def candidates(self) -> list[int]:
        """Return the candidates that have a row, the oldest first."""
        return list(self._place)

    def add(self, candidates: Sequence[int], rows: NDArray[Any]) -> None:
        """Store rows of candidates that have none."""
        with self._lock:
            for candidate, row in zip(candidates, rows, strict=True):
                if not self._free:
                    begin = _BLOCK * len(self._blocks)
                    self._blocks.append(self._new_block())
                    self._free = list(range(begin + _BLOCK - 1, begin - 1, -1))
                place = self._free.pop()
                self._blocks[place // _BLOCK][place % _BLOCK] = row
                self._place[candidate] = place

    def _new_block(self) -> Singles:
        shape = (_BLOCK, self._n)
        if 4 * _BLOCK * self._n * (len(self._blocks) + 1) <= self._memory:
            return np.zeros(shape, dtype=np.float32)
        with tempfile.TemporaryFile(prefix="kernelwood-") as file:
            file.truncate(4 * _BLOCK * self._n)
            return np.asarray(np.memmap(file, np.float32, "r+", shape=shape))

    def drop(self, candidates: Iterable[int]) -> None:
        """Forget the rows of candidates."""
        with self._lock:
            for candidate in candidates:
                self._free.append(self._place.pop(candidate))

    def get(self, candidates: Sequence[int], columns: Any = slice(None)) -> Singles | None:
        """Return a copy of the rows of candidates, None if one of them has none."""
        with self._lock:
            if not all(candidate in self._place for candidate in candidates):
                return None
            places = [self._place[candidate] for candidate in candidates]
            rows = [self._blocks[place // _BLOCK][place % _BLOCK][columns] for place in places]
            return np.stack(rows) if rows else np.zeros((0, self._n), np.float32)[:, columns]

    def product(self, candidates: Sequence[int], weights: Floats) -> Singles:
        """Return the sums of rows times weights, shape (n, n_columns)."""
        places = np.array([self._place[candidate] for candidate in candidates], dtype=np.int64)
        table = np.zeros((_BLOCK * len(self._blocks), weights.shape[1]), dtype=np.float32)
        table[places] = weights
        found = np.zeros((self._n, weights.shape[1]), dtype=np.float32)
        with one_blas_thread():
            for number, block in enumerate(self._blocks):
                part = table[number * _BLOCK : (number + 1) * _BLOCK]
                if part.any():
                    found += block.T @ part
        return found


class Teacher:
    """Learns from labels of candidates, and predicts the classes of all candidates.

    Parameters
    ----------
    views : ExampleBatch
        Views of all candidates, in the order of their row numbers.
    documents : ndarray of int, shape (n,)
        The document of each candidate.
    seed : int
    prior : Prior, optional
        Probabilities by a given model. The model then learns the difference of labels from them.
    symmetric : iterable of str
        Relation types without direction.
    first_picks : sequence of int, optional
        Result of `first_picks` for the same candidates and seed, if known.

    Notes
    -----
    `learn` and `prepare` are called by one thread at a time (a lock makes others wait); the other
    methods can be called meanwhile. Learning releases the global interpreter lock most of the time.

    A class is a label. A type that has been labeled in one direction of the text only is one class,
    called by this direction; a symmetric type is called by its name. Labels of a type without a
    direction count as ``(e1,e2)``, in text order, if there are labels with a direction.

    Growing by labels in another order, or relearning after a restart, changes probabilities by
    rounding errors.
    """

    def __init__(
        self,
        views: ExampleBatch,
        documents: Any,
        *,
        seed: int = 0,
        prior: Prior | None = None,
        symmetric: Iterable[str] = (),
        first_picks: Sequence[int] = (),
    ) -> None:
        self._table = views
        self._documents = np.asarray(documents)
        if self._documents.shape != (len(views),):
            raise KernelInputError(
                f"Teacher: documents must have a number for each of the {len(views):,} candidates, "
                f"got shape {self._documents.shape}"
            )
        if prior is not None and np.shape(prior.probabilities) != (len(views), len(prior.classes)):
            raise KernelInputError(
                f"Teacher: the prior must have a row for each of the {len(views):,} candidates and "
                f"a column for each of its {len(prior.classes)} classes, got shape "
                f"{np.shape(prior.probabilities)}"
            )
        self._seed, self._prior, self._symmetric = seed, prior, frozenset(symmetric)
        self._blind_views = tuple(name for name in _BLIND_VIEWS if name in views.views)
        with_words = (*self._blind_views, _ENTITY_VIEW)
        self._all_views = with_words if _ENTITY_VIEW in views.views else self._blind_views
        self._views = self._blind_views
        self._lock = Lock()
        self._rows = SimilarityRows(len(views))
        self._labeled: list[int] = []
        self._factors: dict[tuple[str, ...], GrowingFactor] = {
            names: GrowingFactor(_RIDGE) for names in (self._blind_views, self._all_views)
        }
        self._try_at = float(_FEWEST_LABELS)  # labels from which on the views are compared again
        self._scaling: Scaling | None = None
        self._number = 0
        self._first_picks = list(first_picks)
        if not all(isinstance(row, int) and 0 <= row < len(views) for row in self._first_picks):
            raise KernelInputError("Teacher: first_picks must be row numbers of candidates")

    def __len__(self) -> int:
        return len(self._table)

    @property
    def seed(self) -> int:
        """The seed."""
        return self._seed

    @property
    def documents(self) -> NDArray[Any]:
        """The document of each candidate."""
        return self._documents

    # Learning.

    def learn(self, labels: Mapping[int, str]) -> TeachingModel | None:
        """Return a model learned from labels, None if they are of one class.

        Labels may have been changed or removed since the last call.

        Parameters
        ----------
        labels : mapping of int to str
            Class of each labeled candidate.
        """
        with self._lock:
            return self._learn(self._names(labels), time.process_time())

    def _learn(self, names: dict[int, str], started: float) -> TeachingModel | None:
        classes = tuple(sorted({NONE, *names.values(), *self._prior_names(names)}))
        means = None
        if self._prior is not None:
            chances = self._chances(self._prior.probabilities, names)
            if not names:
                return self._model(chances, 0, classes, started)
            means = self._means(chances)
        if means is None and len(set(names.values())) < 2:
            return None
        self._update(list(names))
        labeled = self._labeled
        numbers = np.array([classes.index(names[row]) for row in labeled])
        targets = 2.0 * np.eye(len(classes))[numbers] - 1.0
        if means is not None:
            targets -= means[labeled]
        held = self._choose_views(targets, 0.0 if means is None else means[labeled], numbers)
        self._compute(labeled)
        weights = self._factors[self._views].solve(targets)
        scores = self._rows.product(labeled, weights)
        if means is not None:
            scores += means
        scores[labeled] = held
        self._scaling = fit_scaling(held, numbers, self._scaling)
        probabilities = self._scaling.probabilities(scores)
        learned = self._snapshot(weights, classes, names)
        return self._model(probabilities, len(labeled), classes, started, learned)

    def _snapshot(
        self, weights: Floats, classes: tuple[str, ...], names: Mapping[int, str]
    ) -> Learned:
        order = np.argsort(self._labeled)
        cases = np.asarray(self._labeled)[order]
        assert self._scaling is not None
        return Learned(
            tuple(cases.tolist()),
            self._table[cases],
            weights[order],
            classes,
            self._scaling,
            kernel_on(self._views),
            deepcopy(self._factors[self._views]),
            order,
            None if self._prior is None else lambda table: self._predict_means(table, names),
        )

    def _model(
        self,
        probabilities: NDArray[Any],
        labels: int,
        classes: tuple[str, ...],
        started: float,
        learned: Learned | None = None,
    ) -> TeachingModel:
        self._number += 1
        values = probabilities.astype(np.float32, copy=False)
        blind = _ENTITY_VIEW not in self._views
        made = TeachingModel(
            self._number, labels, classes, values, 0.5, self._views, blind, learned=learned
        )
        _, best = made.relations()
        threshold = best_threshold(best, 1.0 - values[:, made.none])
        return replace(made, threshold=threshold, seconds=time.process_time() - started)

    # Classes.

    def _names(self, labels: Mapping[int, str]) -> dict[int, str]:
        """Return the class of each label."""
        for row in labels:
            if not 0 <= row < len(self):
                raise KernelInputError(
                    f"Teacher: there is a label of candidate {row}, but candidates are numbered "
                    f"from 0 to {len(self) - 1:,}"
                )
        listed = [*labels.values(), *(() if self._prior is None else self._prior.classes)]
        directed = {type_of(name) for name in listed if name != type_of(name)}
        return {row: self._name(label, directed) for row, label in labels.items()}

    def _name(self, label: str, directed: set[str]) -> str:
        kind = type_of(label)
        if kind in self._symmetric:
            return kind
        return kind + FORWARD if label == kind != NONE and kind in directed else label

    def _prior_names(self, names: Mapping[int, str]) -> list[str]:
        """Return the names of the classes of the prior."""
        if self._prior is None:
            return []
        listed = [*names.values(), *self._prior.classes]
        directed = {type_of(name) for name in listed if name != type_of(name)}
        return [self._name(label, directed) for label in self._prior.classes]

    def _chances(self, probabilities: NDArray[Any], names: Mapping[int, str]) -> Singles:
        """Return the probabilities by the prior of all classes; 0 for classes it lacks."""
        given = self._prior_names(names)
        classes = sorted({NONE, *names.values(), *given})
        chances = np.zeros((len(probabilities), len(classes)), dtype=np.float32)
        for column, name in enumerate(given):
            chances[:, classes.index(name)] += probabilities[:, column]
        return chances

    def _means(self, chances: Singles) -> Singles:
        """Return scores from -1 to 1, of which the typical scaling makes these probabilities."""
        clipped = np.clip(chances, np.exp(-2 * _SLOPE), 1.0)
        return (1 + np.log(clipped) / _SLOPE).astype(np.float32)

    def _predict_means(self, table: ExampleBatch, names: Mapping[int, str]) -> Singles:
        if self._prior is None or self._prior.predict is None:
            raise KernelInputError(
                "Teacher: labels correct a given model, which is needed to score new candidates; "
                "give Prior.predict"
            )
        return self._means(self._chances(self._prior.predict(table), names))

    # Similarities to labeled candidates.

    def _update(self, candidates: Sequence[int]) -> None:
        """Bring the factors up to date with the labeled candidates."""
        wanted = set(candidates)
        kept = 0
        while kept < len(self._labeled) and self._labeled[kept] in wanted:
            kept += 1
        known = set(self._labeled)
        # Those after the first that vanished are appended again.
        again = [row for row in self._labeled[kept:] if row in wanted]
        new = again + [row for row in candidates if row not in known]
        for factor in self._factors.values():
            factor.truncate(kept)
        self._labeled = self._labeled[:kept]
        if new:
            self._compute(new)
            for views, factor in self._factors.items():
                factor.append(self._similarities_to_labeled(new, views))
            self._labeled += new

    def _similarities_to_labeled(self, new: Sequence[int], views: tuple[str, ...]) -> Any:
        columns = [*self._labeled, *new]
        if views == self._views:
            return self._rows.get(new, columns)
        return self._cross(views, new, columns)

    def _choose_views(self, targets: Floats, means: Any, numbers: Indices) -> Floats:
        """Set the views that predict held-out labels best; return held-out scores."""
        groups = self._documents[self._labeled]
        if len(np.unique(groups)) == 1:
            groups = np.arange(len(groups))  # of one document: candidates are held out

        def held_out(views: tuple[str, ...]) -> Floats:
            found: Floats = self._factors[views].held_out(targets, groups) + means
            return found

        held = held_out(self._views)
        if len(numbers) < self._try_at or len(self._factors) == 1:
            return held
        self._try_at = _MORE_LABELS * len(numbers)
        [others] = [views for views in self._factors if views != self._views]
        tried = held_out(others)
        if _log_likelihood(tried, numbers) < _log_likelihood(held, numbers) + _LEAST_GAIN:
            return held
        self._views, self._scaling = others, None
        self._rows = SimilarityRows(len(self))
        return tried

    def _compute(self, candidates: Sequence[int]) -> None:
        """Compute the rows of candidates that have none."""
        missing = [row for row in dict.fromkeys(candidates) if row not in self._rows]
        for begin in range(0, len(missing), _AT_ONCE):
            some = missing[begin : begin + _AT_ONCE]
            self._rows.add(some, self._cross(self._views, some))

    def prepare(self, rows: Sequence[int]) -> None:
        """Compute the similarities of candidates that will probably be labeled next."""
        with self._lock:
            self._compute(rows)
            needed = {*self._labeled, *rows}
            spare = [row for row in self._rows.candidates() if row not in needed]
            self._rows.drop(spare[: max(0, len(spare) - _SPARE_ROWS)])

    # Similarities.

    def _cross(
        self, views: tuple[str, ...], rows: Sequence[int], columns: Sequence[int] | None = None
    ) -> Singles:
        """Return the similarities of candidates to others, by default to all."""
        others = self._table if columns is None else self._table[list(columns)]
        found: Singles = kernel_on(views).cross(self._table[list(rows)], others)
        return found

    def rows(self, candidates: Sequence[int]) -> Singles:
        """Return the similarities of candidates to all, shape (m, n)."""
        stored = self._rows.get(candidates)
        return self._cross(self._views, candidates) if stored is None else stored

    def similarities(self, table: ExampleBatch) -> Singles:
        """Return the similarities of new candidates to all, shape (m, n)."""
        found: Singles = kernel_on(self._views).cross(table, self._table)
        return found

    def norms(self, table: ExampleBatch) -> Floats:
        """Return the square roots of the similarities of candidates to themselves."""
        found: Floats = np.sqrt(kernel_on(self._views).diag(table).astype(np.float64))
        return found

    def covariances(self, model: TeachingModel, rows: Sequence[int]) -> Floats:
        """Return the covariances of the errors of scores of candidates, shape (m, m).

        Scores are modeled as a Gaussian process, with the labels as noisy observations.
        """
        views = model.views or self._blind_views
        found = self._cross(views, rows, rows).astype(np.float64)
        if model.learned is not None:
            labeled = self._cross(views, rows, model.learned.candidates)
            found -= model.learned.explained(labeled.astype(np.float64))
        return found

    def first_picks(self, n: int = FIRST_PICKS) -> list[int]:
        """Return candidates that differ: medoids of kernel k-means on a sample.

        The larger the cluster of a medoid, the earlier it comes.
        """
        if not self._first_picks:
            self._first_picks = self._medoids(n)
        return list(self._first_picks)

    def _medoids(self, n: int) -> list[int]:
        sample = np.arange(len(self))
        if len(sample) > _SAMPLE:
            rng = child_generator(self._seed, _SAMPLED)
            sample = np.sort(rng.choice(sample, _SAMPLE, replace=False))
        if len(sample) <= n:
            return [int(row) for row in sample]
        seed = int(child_generator(self._seed, _MEDOIDS).integers(2**31))
        clusters = KernelKMeans(n, kernel_on(self._blind_views), random_state=seed, n_init=1)
        # Fewer candidates that differ, or no convergence, give fewer or other medoids.
        with ignored_warnings(category=ConvergenceWarning):
            clusters.fit(self._table[sample].only(self._blind_views))
        return [int(sample[row]) for row in clusters.medoid_indices_]


def _log_likelihood(scores: Floats, numbers: Indices) -> float:
    """Return the mean log-likelihood of classes after scaling."""
    made = fit_scaling(scores, numbers).probabilities(scores)
    return float(np.log(np.maximum(made[np.arange(len(numbers)), numbers], _SMALLEST)).mean())
