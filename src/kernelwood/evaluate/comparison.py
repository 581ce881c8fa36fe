"""Significance tests of the difference between two classifiers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.evaluate.class_labels import (
    ClassLabel,
    Encoded,
    Groups,
    encode,
    encode_groups,
    encode_positive,
)
from kernelwood.evaluate.classification import Estimate, check_metric, measures
from kernelwood.evaluate.resampling import (
    Counts,
    Units,
    check_resampling,
    draw_bootstrap,
    draw_swaps,
    weigh,
)
from kernelwood.evaluate.table_rendering import TabularResult, label_text
from kernelwood.seeds import resolve_seed

Test: TypeAlias = Literal["mcnemar", "bootstrap", "randomization"]

_TESTS = ("mcnemar", "bootstrap", "randomization")
_ROUNDING = 1e-12  # differences of measures that count as equal


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(TabularResult):
    """Comparison of two vectors of predictions; made by :func:`compare`.

    Attributes
    ----------
    names : pair of str
        Names of the classifiers.
    first, second : float
        The metric of each.
    difference : Estimate
        ``first - second``, with the interval of a paired bootstrap.
    p_value : float
        Probability of a difference at least as large, in either direction, if both are equally
        good.
    test, metric : str
        The test and the metric.
    positive : tuple of labels
        The classes that are averaged.
    both_right, only_first, only_second, both_wrong : int
        Number of examples by the classifiers that predicted them correctly.
    n_examples, n_groups : int
        Number of examples; number of groups, 0 if single examples were resampled.
    n_resamples, confidence, seed
        Settings of the interval and, except for McNemar's test, of the p-value.
    """

    names: tuple[str, str]
    first: float
    second: float
    difference: Estimate
    p_value: float
    test: str
    metric: str
    positive: tuple[ClassLabel, ...]
    both_right: int
    only_first: int
    only_second: int
    both_wrong: int
    n_examples: int
    n_groups: int
    n_resamples: int
    confidence: float
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        agreement = ("both_right", "only_first", "only_second", "both_wrong")
        settings = ("n_examples", "n_groups", "n_resamples", "confidence", "seed")
        return {
            "names": list(self.names),
            "first": self.first,
            "second": self.second,
            "difference": self.difference.to_dict(),
            "p_value": self.p_value,
            "test": self.test,
            "metric": self.metric,
            "positive": [list(x) if isinstance(x, tuple) else x for x in self.positive],
            **{name: getattr(self, name) for name in (*agreement, *settings)},
        }

    def __repr__(self) -> str:
        return (
            f"<Comparison: {self.metric} {self.first:.3f} and {self.second:.3f}, "
            f"p = {_p_text(self.p_value)} ({self.test})>"
        )

    def _table(self) -> tuple[list[str], list[list[str]]]:
        first, second = (label_text(name) for name in self.names)
        rows = [
            [first, f"{self.first:.3f}", f"{self.only_first:,}"],
            [second, f"{self.second:.3f}", f"{self.only_second:,}"],
            ["difference", str(self.difference), f"{self.only_first - self.only_second:,}"],
        ]
        return ["", self.metric, "alone right"], rows

    def _note(self) -> str:
        drawn = f" in {self.n_groups:,} groups" if self.n_groups else ""
        return (
            f"p = {_p_text(self.p_value)} ({self.test}); {self.n_examples:,} examples{drawn}; "
            f"{100 * self.confidence:g} % interval from {self.n_resamples:,} resamples"
        )


def _p_text(p_value: float) -> str:
    return f"{p_value:.4f}" if p_value >= 0.0001 else f"{p_value:.1e}"


def compare(
    y_true: Iterable[Any],
    first: Iterable[Any],
    second: Iterable[Any],
    *,
    test: Test = "mcnemar",
    metric: str = "accuracy",
    classes: Iterable[Any] | None = None,
    positive: Any = None,
    groups: Iterable[Any] | None = None,
    names: tuple[str, str] = ("first", "second"),
    n_resamples: int = 10_000,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Comparison:
    r"""Return a test of the difference of two classifiers on the same examples.

    ``"mcnemar"``
        The exact binomial test on the examples that only one of them predicted correctly; for
        accuracy and independent examples.
    ``"randomization"``
        Compares the difference with those after random exchanges of the two predictions of each
        example or group [1]_.
    ``"bootstrap"``
        Compares the difference with its deviations over samples drawn with replacement [2]_.

    The last two take any metric, and groups; their p-value is :math:`(1+k)/(1+n)` if :math:`k`
    of :math:`n` resamples are as extreme. All tests are two-sided.

    Parameters
    ----------
    y_true, first, second : sequences of str, number or tuple
        The label of each example and both predictions.
    test : {"mcnemar", "bootstrap", "randomization"}
        The test.
    metric : str
        ``"accuracy"``; ``"precision"``, ``"recall"`` or ``"f1"`` from the summed counts of the
        positive classes; or the means ``"macro_precision"``, ``"macro_recall"``, ``"macro_f1"``.
    classes, positive, groups, confidence, random_state
        As in :func:`score`.
    names : pair of str
        Names of the classifiers in the table.
    n_resamples : int
        Number of resamples of the test and of the interval.

    Returns
    -------
    Comparison

    Raises
    ------
    KernelInputError
        If lengths or kinds of labels differ, or the test does not fit the metric or the groups.

    References
    ----------
    .. [1] \E. W. Noreen, *Computer-Intensive Methods for Testing Hypotheses*, 1989.
    .. [2] \T. Berg-Kirkpatrick, D. Burkett, D. Klein, "An empirical investigation of statistical
       significance in NLP", EMNLP 2012.

    Examples
    --------
    >>> true = [1] * 10
    >>> result = compare(true, [1] * 10, [1] * 4 + [0] * 6)
    >>> result.difference > 0.5, result.only_first, result.only_second, result.p_value
    (True, 6, 0, 0.03125)
    """
    if test not in _TESTS:
        raise KernelInputError(f"test must be one of {', '.join(_TESTS)}; got {test!r}")
    column = check_metric(metric, positive)
    encoded = encode({"y_true": y_true, "first": first, "second": second}, classes)
    chosen = encode_positive(positive, encoded.classes)
    grouped = None if groups is None else encode_groups(groups, len(encoded.codes[0]))
    if test == "mcnemar":
        _check_mcnemar(metric, grouped)
    check_resampling("n_resamples", n_resamples, confidence, grouped, least=1)
    seed, n_resamples = resolve_seed(random_state), int(n_resamples)
    pair = _Pair(Units.of(encoded, grouped), chosen, column)
    values, agreement = pair.observed(), _agreement(encoded)
    gap = values[0] - values[1]
    drawn = pair.bootstrap(n_resamples, np.random.default_rng([seed, 0]))
    if test == "mcnemar":
        p_value = _mcnemar(*agreement[1:3])
    elif test == "bootstrap":
        p_value = _share_as_extreme(drawn - gap, gap)
    else:
        swapped = pair.randomize(n_resamples, np.random.default_rng([seed, 1]))
        p_value = _share_as_extreme(swapped, gap)
    tail = (1 - confidence) / 2
    return Comparison(
        _check_names(names),
        *values,
        Estimate(gap, *np.quantile(drawn, [tail, 1 - tail]).tolist()),
        p_value,
        test,
        metric,
        tuple(encoded.classes[code] for code in chosen),
        *agreement,
        n_examples=len(encoded.codes[0]),
        n_groups=0 if grouped is None else grouped.n_groups,
        n_resamples=n_resamples,
        confidence=float(confidence),
        seed=seed,
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """Counts of two vectors of predictions, and the metric by which they are compared."""

    units: Units
    positive: Sequence[int]
    column: int

    def observed(self) -> tuple[float, float]:
        first, second = (self._measure(each[np.newaxis])[0] for each in self.units.totals())
        return float(first), float(second)

    def bootstrap(self, n_resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the differences over resamples, which are the same for both."""
        drawn = []
        for weights in draw_bootstrap(self.units.sizes, n_resamples, rng):
            first, second = (self._measure(weigh(table, weights)) for table in self.units.tables)
            drawn.append(first - second)
        return np.concatenate(drawn)

    def randomize(self, n_resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the differences after random exchanges of predictions."""
        first, second = self.units.totals()
        moved = self.units.tables[1] - self.units.tables[0]
        drawn = []
        for swaps in draw_swaps(self.units.sizes, n_resamples, rng):
            change = weigh(moved, swaps)
            drawn.append(self._measure(first + change) - self._measure(second - change))
        return np.concatenate(drawn)

    def _measure(self, counts: Counts) -> NDArray[np.float64]:
        return measures(counts, self.positive)[:, self.column]


def _share_as_extreme(differences: NDArray[np.float64], observed: float) -> float:
    extreme = int((np.abs(differences) >= abs(observed) - _ROUNDING).sum())
    return (1 + extreme) / (1 + len(differences))


def _mcnemar(only_first: int, only_second: int) -> float:
    from scipy.stats import binomtest

    discordant = only_first + only_second
    return float(binomtest(only_first, discordant).pvalue) if discordant else 1.0


def _agreement(encoded: Encoded) -> tuple[int, int, int, int]:
    true, first, second = encoded.codes
    counted = np.bincount(2 * (first != true) + (second != true), minlength=4).tolist()
    both_right, only_first, only_second, both_wrong = counted
    return both_right, only_first, only_second, both_wrong


def _check_mcnemar(metric: str, groups: Groups | None) -> None:
    if metric != "accuracy":
        raise KernelInputError(
            f"test='mcnemar' compares accuracies, not {metric}; "
            "use test='randomization' or test='bootstrap'"
        )
    if groups is not None:
        raise KernelInputError(
            "test='mcnemar' assumes independent examples, which those of one group are not; "
            "use test='randomization' or test='bootstrap' with groups"
        )


def _check_names(names: tuple[str, str]) -> tuple[str, str]:
    listed = [names] if isinstance(names, str) else list(names)
    if len(listed) != 2 or not all(isinstance(name, str) for name in listed):
        raise KernelInputError(f"names must be two strings, got {names!r}")
    return listed[0], listed[1]
