"""Training and testing a model, in parts or repeatedly."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kernelwood.compute import counting
from kernelwood.errors import KernelInputError
from kernelwood.evaluate.evaluation import Cost, Evaluation, Run
from kernelwood.evaluate.inputs import as_array, check_model, labels_of, take
from kernelwood.evaluate.labels import (
    ClassLabel,
    Encoded,
    Groups,
    encode,
    encode_groups,
    encode_positive,
    plain_labels,
    sorted_classes,
    subset,
)
from kernelwood.evaluate.resampling import check_resampling, resolve_seed
from kernelwood.evaluate.scores import Plan, Scores, score_encoded
from kernelwood.evaluate.splits import Indices, Split, split_examples

__all__ = ["cross_validate", "train_and_test"]

logger = logging.getLogger("kernelwood")

Progress: TypeAlias = Callable[[int, int], object]
T = TypeVar("T")


def cross_validate(
    model: Any,
    X: Any,
    y: Iterable[Any] | None = None,
    *,
    splits: Any = 5,
    groups: Iterable[Any] | None = None,
    classes: Iterable[Any] | None = None,
    positive: Any = None,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    random_state: Any = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Train a model on all parts of the data but one and test it on that one, for each part.

    Every part is learned by a new copy of the model, which itself is not changed.

    Parameters
    ----------
    model : estimator
        With ``fit`` and ``predict``; its parameters are kept, what it has learned is not.
    X : batch, list of structures, or array
        The examples. Estimators of scikit-learn want a batch, ``kw.batch(structures)``.
    y : sequence of labels, optional
        By default those of the examples.
    splits : int, list of (train, test), or splitter of scikit-learn
        A number of parts, in which classes have equal shares as far as possible; or indices. An
        example may be tested on once.
    groups : sequence, optional
        The document of each example, say; see :func:`documents`. No group is then in both parts,
        and intervals are made from resamples of groups.
    classes, positive, n_bootstrap, confidence
        As in :func:`score`.
    random_state : None, int, Generator or RandomState
        For parts and intervals; the model has its own.
    progress : callable, optional
        Called as ``progress(done, total)`` with the number of parts.

    Returns
    -------
    Evaluation

    Raises
    ------
    KernelInputError
        If lengths differ, a class is not known, there are too few examples or groups for the
        number of parts, or splits overlap.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_questions
    >>> from sklearn.svm import SVC
    >>> questions = kw.batch(load_questions())
    >>> model = SVC(kernel=kw.SubsetTreeKernel(), C=10)
    >>> result = cross_validate(model, questions.view("tree"), questions.labels, splits=3)
    >>> len(result.runs), result.scores.accuracy > 0.6
    (3, True)
    >>> result.fitting.kernel_evaluations
    9720
    """
    check_model(model)
    labels = labels_of(X, y, "X", "y")
    seed = resolve_seed(random_state)
    task = _Task.of(labels, labels, classes, positive, groups, Plan(n_bootstrap, confidence, seed))
    numbered = encode({"y": labels}).codes[0]
    pairs = split_examples(splits, numbered, task.groups, seed=seed)
    _check_apart(pairs, task.groups)
    trials = []
    for number, (train, test) in enumerate(pairs, start=1):
        trial = _try_model(
            clone(model),
            f"part {number}",
            (take(X, train), as_array([labels[i] for i in train])),
            (take(X, test), test),
        )
        trials.append(trial)
        if progress is not None:
            progress(number, len(pairs))
    return task.evaluation(model, trials)


def train_and_test(
    model: Any,
    X_train: Any,
    y_train: Iterable[Any] | None,
    X_test: Any,
    y_test: Iterable[Any] | None,
    *,
    random_states: Iterable[int] | None = None,
    groups: Iterable[Any] | None = None,
    classes: Iterable[Any] | None = None,
    positive: Any = None,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    random_state: Any = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Train a copy of a model on some examples and test it on others, once or with several seeds.

    Parameters
    ----------
    model : estimator
        With ``fit`` and ``predict``; it is not changed.
    X_train, X_test : batch, list of structures, or array
        The examples to learn from and to be tested on.
    y_train, y_test : sequence of labels, or None
        Their labels; None for those of the examples.
    random_states : iterable of int, optional
        Repeat with each of these as ``random_state`` of the model, and of what it is made of:
        ``range(10)`` tells how much of a result is the luck of the draw.
    groups : sequence, optional
        The document of each test example, say; see :func:`documents`. Intervals are then made from
        resamples of groups.
    classes, positive, n_bootstrap, confidence, random_state
        As in :func:`score`.
    progress : callable, optional
        Called as ``progress(done, total)`` with the number of runs.

    Returns
    -------
    Evaluation

    Raises
    ------
    KernelInputError
        If lengths differ, a class is not known, or the model takes no seed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = np.arange(20).reshape(-1, 1), ["low"] * 10 + ["high"] * 10
    >>> forest = RandomForestClassifier(5)
    >>> result = train_and_test(forest, X[::2], y[::2], X[1::2], y[1::2], random_states=range(4))
    >>> [run.name for run in result.runs]
    ['seed 0', 'seed 1', 'seed 2', 'seed 3']
    """
    check_model(model)
    learned = labels_of(X_train, y_train, "X_train", "y_train")
    tested = labels_of(X_test, y_test, "X_test", "y_test")
    seeds = None if random_states is None else [resolve_seed(seed) for seed in random_states]
    if seeds is not None and not seeds:
        raise KernelInputError("random_states is empty; give at least one seed, or leave it out")
    plan = Plan(n_bootstrap, confidence, resolve_seed(random_state))
    task = _Task.of([*learned, *tested], tested, classes, positive, groups, plan)
    copies = (
        [("test", clone(model))]
        if seeds is None
        else [(f"seed {seed}", _seeded(model, seed)) for seed in seeds]
    )
    train, everything = (X_train, as_array(learned)), np.arange(len(tested))
    trials = []
    for number, (name, copy) in enumerate(copies, start=1):
        trials.append(_try_model(copy, name, train, (X_test, everything)))
        if progress is not None:
            progress(number, len(copies))
    return task.evaluation(model, trials)


@dataclass(frozen=True, slots=True)
class _Trial:
    """What a trained copy predicted, before it is scored."""

    name: str
    indices: Indices
    y_pred: list[ClassLabel]
    n_train: int
    fitting: Cost
    predicting: Cost


@dataclass(frozen=True, slots=True)
class _Task:
    """What is known before any training: labels of the test examples and how to score them."""

    labels: list[ClassLabel]
    known: tuple[ClassLabel, ...]
    closed: bool  # the user named all classes
    positive: tuple[ClassLabel, ...] | None
    groups: Groups | None
    plan: Plan

    @classmethod
    def of(
        cls,
        seen: list[ClassLabel],
        tested: list[ClassLabel],
        classes: Iterable[Any] | None,
        positive: Any,
        groups: Iterable[Any] | None,
        plan: Plan,
    ) -> _Task:
        """Check everything now rather than after hours of training."""
        known = encode({"y": seen}, classes).classes
        chosen = None
        if positive is not None:
            chosen = tuple(known[code] for code in encode_positive(positive, known))
        grouped = None if groups is None else encode_groups(groups, len(tested))
        check_resampling("n_bootstrap", plan.n_bootstrap, plan.confidence, grouped, least=0)
        plan = Plan(int(plan.n_bootstrap), float(plan.confidence), plan.seed)
        return cls(tested, known, classes is not None, chosen, grouped, plan)

    def evaluation(self, model: Any, trials: Sequence[_Trial]) -> Evaluation:
        """Score the predictions of all trials."""
        indices = np.concatenate([trial.indices for trial in trials])
        predicted = [label for trial in trials for label in trial.y_pred]
        repeated = len(trials) > 1 and np.array_equal(trials[0].indices, trials[1].indices)
        if not repeated:
            order = np.argsort(indices, kind="stable")
            indices, predicted = indices[order], [predicted[i] for i in order]
        encoded = self._encode(indices, predicted)
        runs = tuple(self._run(trial) for trial in trials)
        indices.flags.writeable = False
        return Evaluation(
            model=" ".join(repr(model).split()),
            scores=self._score(encoded, self._regroup(indices, repeated), self.plan),
            runs=runs,
            indices=indices,
            y_true=tuple(self.labels[i] for i in indices),
            y_pred=tuple(predicted),
        )

    def _run(self, trial: _Trial) -> Run:
        scores = self._score(
            self._encode(trial.indices, trial.y_pred),
            None,
            Plan(0, self.plan.confidence, self.plan.seed),
            closed=False,
        )
        indices = trial.indices.copy()
        indices.flags.writeable = False
        costs = (trial.n_train, trial.fitting, trial.predicting)
        return Run(trial.name, indices, tuple(trial.y_pred), scores, *costs)

    def _encode(self, indices: Indices, predicted: list[ClassLabel]) -> Encoded:
        vectors = {"y": [self.labels[i] for i in indices], "predictions": predicted}
        known = self.known if self.closed else sorted_classes([list(self.known), predicted])
        return encode(vectors, known)

    def _score(
        self, encoded: Encoded, groups: Groups | None, plan: Plan, closed: bool | None = None
    ) -> Scores:
        """Score over the classes that occur, unless the user named them all."""
        if not (self.closed if closed is None else closed):
            occurring = set(np.unique(np.concatenate(encoded.codes)).tolist())
            wanted = encode_positive(self.positive, encoded.classes) if self.positive else ()
            encoded = subset(encoded, sorted(occurring | set(wanted)))
        positive = None if self.positive is None else list(self.positive)
        return score_encoded(encoded, encode_positive(positive, encoded.classes), groups, plan)

    def _regroup(self, indices: Indices, repeated: bool) -> Groups | None:
        """Return the groups of what was tested; an example tested repeatedly is one itself."""
        if self.groups is not None:
            return encode_groups(self.groups.codes[indices], len(indices))
        if repeated and len(self.labels) > 1:
            return encode_groups(indices, len(indices))
        return None


def _try_model(
    model: Any, name: str, train: tuple[Any, NDArray[Any]], test: tuple[Any, Indices]
) -> _Trial:
    """Fit a copy that is ours, and let it predict."""
    (X_train, y_train), (X_test, indices) = train, test
    _, fitting = _measure(lambda: model.fit(X_train, y_train))
    answer, predicting = _measure(lambda: model.predict(X_test))
    predicted = plain_labels(answer, "predictions")
    if len(predicted) != len(indices):
        raise KernelInputError(
            f"{name}: the model made {len(predicted):,} predictions for {len(indices):,} examples"
        )
    logger.info(
        "%s: fitted in %.2f s, predicted in %.2f s", name, fitting.seconds, predicting.seconds
    )
    return _Trial(name, indices, predicted, len(y_train), fitting, predicting)


def _measure(work: Callable[[], T]) -> tuple[T, Cost]:
    with counting() as counters:
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    return result, Cost(seconds, cpu_seconds, counters.kernel_evaluations)


def _seeded(model: Any, seed: int) -> Any:
    copy = clone(model)
    names = [name for name in copy.get_params() if name.rpartition("__")[2] == "random_state"]
    if not names:
        raise KernelInputError(
            f"{type(model).__name__} has no parameter random_state, so that all runs would be the "
            "same; leave random_states out"
        )
    return copy.set_params(**dict.fromkeys(names, seed))


def _check_apart(splits: list[Split], groups: Groups | None) -> None:
    if groups is None:
        return
    for number, (train, test) in enumerate(splits):
        shared = np.intersect1d(groups.codes[train], groups.codes[test])
        if len(shared):
            first = int(np.flatnonzero(groups.codes == shared[0])[0])
            raise KernelInputError(
                f"splits[{number}]: the group of example {first} is in both parts; make splits of "
                "whole groups with group_splits, or leave groups out"
            )
