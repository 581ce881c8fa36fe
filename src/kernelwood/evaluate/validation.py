"""Cross-validation and training with several seeds."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import counting
from kernelwood.errors import KernelInputError
from kernelwood.evaluate.class_labels import (
    ClassLabel,
    Encoded,
    Groups,
    as_array,
    check_model,
    encode,
    encode_groups,
    encode_positive,
    labels_of,
    plain_labels,
    sorted_classes,
    subset,
    take,
)
from kernelwood.evaluate.classification import METRICS, Plan, Scores, Spread, score_encoded
from kernelwood.evaluate.resampling import check_resampling
from kernelwood.evaluate.splits import Indices, Split, split_examples
from kernelwood.evaluate.table_rendering import TabularResult, html_table, text_table
from kernelwood.seeds import resolve_seed, sklearn_seed
from kernelwood.structures import shorten

logger = logging.getLogger("kernelwood")
Progress: TypeAlias = Callable[[int, int], object]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cost:
    """Time and kernel evaluations of a computation.

    Attributes
    ----------
    seconds : float
        Wall-clock time.
    cpu_seconds : float
        CPU time of all threads.
    kernel_evaluations : int
        Number of pairs of structures compared.

    Examples
    --------
    >>> Cost(1.0, 1.5, 10) + Cost(0.5, 0.5, 5)
    Cost(seconds=1.5, cpu_seconds=2.0, kernel_evaluations=15)
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    kernel_evaluations: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.seconds + other.seconds,
            self.cpu_seconds + other.cpu_seconds,
            self.kernel_evaluations + other.kernel_evaluations,
        )

    def to_dict(self) -> dict[str, float]:
        """Return plain JSON values."""
        return {
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "kernel_evaluations": self.kernel_evaluations,
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Run:
    """A model trained once and tested once.

    Attributes
    ----------
    name : str
        The fold or seed.
    indices : ndarray of int64, read-only
        The test examples.
    y_pred : tuple of labels
        The predictions for them.
    scores : Scores
        Scores without intervals, over the classes that occur in this run.
    n_train : int
        Number of training examples.
    fitting, predicting : Cost
        Cost of fitting and predicting.
    """

    name: str
    indices: NDArray[np.int64]
    y_pred: tuple[ClassLabel, ...]
    scores: Scores
    n_train: int
    fitting: Cost
    predicting: Cost

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, without the predictions."""
        return {
            "name": self.name,
            "n_train": self.n_train,
            "n_test": len(self.indices),
            **{name: float(self.scores.metric(name)) for name in METRICS},
            "fitting": self.fitting.to_dict(),
            "predicting": self.predicting.to_dict(),
        }

    def __repr__(self) -> str:
        sizes = f"{self.n_train:,} and {len(self.indices):,} examples"
        return f"<Run: {self.name}, {sizes}, accuracy {self.scores.accuracy:.3f}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation(TabularResult):
    """Scores and cost of a model.

    Made by :func:`cross_validate` and :func:`train_and_test`.

    Attributes
    ----------
    model : str
        The model with its parameters.
    scores : Scores
        Scores of all predictions together, with intervals. After several runs on the same examples,
        an example is resampled with all its predictions, so that repetition does not narrow the
        intervals.
    runs : tuple of Run
        One for each fold or seed.
    indices : ndarray of int64, read-only
        The test examples in order; after several runs on the same examples, run by run.
    y_true, y_pred : tuples of labels
        Their labels and predictions.
    """

    model: str
    scores: Scores
    runs: tuple[Run, ...]
    indices: NDArray[np.int64]
    y_true: tuple[ClassLabel, ...]
    y_pred: tuple[ClassLabel, ...]

    @property
    def fitting(self) -> Cost:
        """Cost of fitting in all runs together."""
        return sum((run.fitting for run in self.runs), Cost())

    @property
    def predicting(self) -> Cost:
        """Cost of predicting in all runs together."""
        return sum((run.predicting for run in self.runs), Cost())

    @property
    def over_runs(self) -> Mapping[str, Spread]:
        """Mean and standard deviation over the runs of each metric and cost."""
        spreads = {
            name: Spread.of([run.scores.metric(name) for run in self.runs]) for name in METRICS
        }
        for work, costs in (
            ("fit", [run.fitting for run in self.runs]),
            ("predict", [run.predicting for run in self.runs]),
        ):
            for name in ("seconds", "cpu_seconds", "kernel_evaluations"):
                spreads[f"{work}_{name}"] = Spread.of([getattr(cost, name) for cost in costs])
        return spreads

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, without the predictions."""
        return {
            "model": self.model,
            "scores": self.scores.to_dict(),
            "over_runs": {name: spread.to_dict() for name, spread in self.over_runs.items()},
            "fitting": self.fitting.to_dict(),
            "predicting": self.predicting.to_dict(),
            "runs": [run.to_dict() for run in self.runs],
        }

    def __repr__(self) -> str:
        runs = "1 run" if len(self.runs) == 1 else f"{len(self.runs)} runs"
        return (
            f"<Evaluation: {shorten(self.model)}, {runs}, accuracy {self.scores.accuracy:.3f}, "
            f"macro F1 {self.scores.macro.f1:.3f}>"
        )

    def __str__(self) -> str:
        parts = (shorten(self.model, 100), str(self.scores), text_table(*self._table()))
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        costs = html_table(*self._table(), shorten(self.model, 200))
        return f"<div>{costs}{self.scores._repr_html_()}</div>"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        spreads = self.over_runs
        rows = [
            [name.replace("_", " ").replace("f1", "F1"), _spread_text(name, spread)]
            for name, spread in spreads.items()
            if name not in self._repeating()
        ]
        heading = "1 run" if len(self.runs) == 1 else f"mean ± deviation of {len(self.runs)} runs"
        return ["", heading], rows

    def _repeating(self) -> tuple[str, ...]:
        """Return the metrics that are equal to another metric."""
        if len(self.scores.positive) == len(self.scores.classes):
            return METRICS[1:4]  # micro averages over all classes are the accuracy
        return METRICS[4:] if len(self.scores.positive) == 1 else ()


def _spread_text(name: str, spread: Spread) -> str:
    if not name.endswith("evaluations"):
        return str(spread)
    return f"{spread.mean:,.0f}" + (f" ± {spread.deviation:,.0f}" if spread.n_runs > 1 else "")


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
    """Return the evaluation of a model by cross-validation.

    A new copy of the model is trained for each fold; the model itself is not changed.

    Parameters
    ----------
    model : estimator
        With ``fit`` and ``predict``.
    X : batch, list of structures, or array
        The examples. Estimators of scikit-learn take a batch, ``kw.batch(structures)``.
    y : sequence of labels, optional
        By default those of the examples.
    splits : int, list of (train, test), or splitter of scikit-learn
        Number of stratified folds, or indices. An example may be tested only once.
    groups : sequence, optional
        Groups of examples, such as documents; see :func:`documents`. No group is then in both
        parts of a split, and intervals are computed from resamples of groups.
    classes, positive, n_bootstrap, confidence
        As in :func:`score`.
    random_state : None, int, Generator or RandomState
        Seed of folds and intervals; not that of the model.
    progress : callable, optional
        Called as ``progress(done, total)`` with the number of folds.

    Returns
    -------
    Evaluation

    Raises
    ------
    KernelInputError
        If lengths differ, a class is unknown, there are too few examples or groups for the
        number of folds, or splits overlap.

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
    from sklearn.base import clone

    check_model(model)
    labels = labels_of(X, y, "X", "y")
    seed = resolve_seed(random_state)
    task = _Task.of(labels, labels, classes, positive, groups, Plan(n_bootstrap, confidence, seed))
    numbered = encode({"y": labels}).codes[0]
    pairs = split_examples(splits, numbered, task.groups, seed=seed)
    _check_apart(pairs, task.groups)
    runs = []
    for number, (train, test) in enumerate(pairs, start=1):
        learned = take(X, train), as_array([labels[i] for i in train])
        try:
            run = task.run(clone(model), f"fold {number}", learned, (take(X, test), test))
        except KernelInputError as error:
            missing = _missing_class(labels, train)
            if missing is None:
                raise
            raise KernelInputError(f"fold {number}: {error}; {missing}") from None
        runs.append(run)
        if progress is not None:
            progress(number, len(pairs))
    return task.evaluation(model, runs)


def _missing_class(labels: list[Any], train: Any) -> str | None:
    """Return which class a training part lacks, None if it has all."""
    sizes, present = Counter(labels), {labels[i] for i in train}
    lacking = next((label for label in sizes if label not in present), None)
    if lacking is None:
        return None
    return (
        f"its training part has none of the class {lacking!r}, which has "
        f"{sizes[lacking]} in all: leave this class out, or add examples of it"
    )


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
    """Return the evaluation of a model on test examples, with one or several seeds.

    Parameters
    ----------
    model : estimator
        With ``fit`` and ``predict``; copies of it are trained.
    X_train, X_test : batch, list of structures, or array
        Training and test examples.
    y_train, y_test : sequence of labels, or None
        Their labels; None for those of the examples.
    random_states : iterable of int, optional
        Seeds: a copy is trained with each as ``random_state`` of the model and of its parts.
        ``range(10)`` shows the variation due to the seed.
    groups : sequence, optional
        Groups of test examples, such as documents; see :func:`documents`. Intervals are then
        computed from resamples of groups.
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
        If lengths differ, a class is unknown, or the model has no ``random_state``.

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
    from sklearn.base import clone

    check_model(model)
    learned = labels_of(X_train, y_train, "X_train", "y_train")
    tested = labels_of(X_test, y_test, "X_test", "y_test")
    seeds = None
    if random_states is not None:  # parts of scikit-learn take seeds of 32 bits
        seeds = [sklearn_seed(resolve_seed(seed)) for seed in random_states]
    if seeds is not None and not seeds:
        raise KernelInputError("random_states is empty; give at least one seed, or None")
    plan = Plan(n_bootstrap, confidence, resolve_seed(random_state))
    task = _Task.of([*learned, *tested], tested, classes, positive, groups, plan)
    copies = (
        [("test", clone(model))]
        if seeds is None
        else [(f"seed {seed}", _seeded(model, seed)) for seed in seeds]
    )
    train, everything = (X_train, as_array(learned)), np.arange(len(tested))
    runs = []
    for number, (name, copy) in enumerate(copies, start=1):
        runs.append(task.run(copy, name, train, (X_test, everything)))
        if progress is not None:
            progress(number, len(copies))
    return task.evaluation(model, runs)


@dataclass(frozen=True, slots=True)
class _Task:
    """Labels of the test examples and the settings of their scores."""

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
        """Return a task after checking all arguments, before any training."""
        known = encode({"y": seen}, classes).classes
        chosen = None
        if positive is not None:
            chosen = tuple(known[code] for code in encode_positive(positive, known))
        grouped = None if groups is None else encode_groups(groups, len(tested))
        check_resampling("n_bootstrap", plan.n_bootstrap, plan.confidence, grouped, least=0)
        plan = Plan(int(plan.n_bootstrap), float(plan.confidence), plan.seed)
        return cls(tested, known, classes is not None, chosen, grouped, plan)

    def run(
        self, model: Any, name: str, train: tuple[Any, NDArray[Any]], test: tuple[Any, Indices]
    ) -> Run:
        """Fit a model, which is changed, and score its predictions."""
        (X_train, y_train), (X_test, tested) = train, test
        _, fitting = _measure(lambda: model.fit(X_train, y_train))
        answer, predicting = _measure(lambda: model.predict(X_test))
        predicted = plain_labels(answer, "predictions")
        if len(predicted) != len(tested):
            raise KernelInputError(
                f"{name}: the model made {len(predicted):,} predictions for {len(tested):,} "
                "examples"
            )
        logger.info(
            "%s: fitted in %.2f s, predicted in %.2f s", name, fitting.seconds, predicting.seconds
        )
        plan = Plan(0, self.plan.confidence, self.plan.seed)
        scores = self._score(self._encode(tested, predicted), None, plan, closed=False)
        indices = tested.copy()
        indices.flags.writeable = False
        return Run(name, indices, tuple(predicted), scores, len(y_train), fitting, predicting)

    def evaluation(self, model: Any, runs: Sequence[Run]) -> Evaluation:
        """Return the evaluation of the predictions of all runs."""
        indices = np.concatenate([run.indices for run in runs])
        predicted = [label for run in runs for label in run.y_pred]
        repeated = len(runs) > 1 and np.array_equal(runs[0].indices, runs[1].indices)
        if not repeated:
            order = np.argsort(indices, kind="stable")
            indices, predicted = indices[order], [predicted[i] for i in order]
        encoded = self._encode(indices, predicted)
        indices.flags.writeable = False
        return Evaluation(
            model=" ".join(repr(model).split()),
            scores=self._score(encoded, self._regroup(indices, repeated), self.plan),
            runs=tuple(runs),
            indices=indices,
            y_true=tuple(self.labels[i] for i in indices),
            y_pred=tuple(predicted),
        )

    def _encode(self, indices: Indices, predicted: list[ClassLabel]) -> Encoded:
        vectors = {"y": [self.labels[i] for i in indices], "predictions": predicted}
        known = self.known if self.closed else sorted_classes([list(self.known), predicted])
        return encode(vectors, known)

    def _score(
        self, encoded: Encoded, groups: Groups | None, plan: Plan, closed: bool | None = None
    ) -> Scores:
        """Return scores over the classes that occur, or over all if the user named them."""
        if not (self.closed if closed is None else closed):
            occurring = set(np.unique(np.concatenate(encoded.codes)).tolist())
            wanted = encode_positive(self.positive, encoded.classes) if self.positive else ()
            encoded = subset(encoded, sorted(occurring | set(wanted)))
        positive = None if self.positive is None else list(self.positive)
        return score_encoded(encoded, encode_positive(positive, encoded.classes), groups, plan)

    def _regroup(self, indices: Indices, repeated: bool) -> Groups | None:
        """Return the groups of tested examples; repeated examples are groups of their own."""
        if self.groups is not None:
            return encode_groups(self.groups.codes[indices], len(indices))
        if repeated and len(self.labels) > 1:
            return encode_groups(indices, len(indices))
        return None


def _measure(work: Callable[[], T]) -> tuple[T, Cost]:
    with counting() as counters:
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    return result, Cost(seconds, cpu_seconds, counters.kernel_evaluations)


def _seeded(model: Any, seed: int) -> Any:
    from sklearn.base import clone

    copy = clone(model)
    names = [name for name in copy.get_params() if name.rpartition("__")[2] == "random_state"]
    if not names:
        raise KernelInputError(
            f"{type(model).__name__} has no parameter random_state, so that all runs would be the "
            "same; remove random_states"
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
                "whole groups with group_splits, or remove groups"
            )
