"""Adaptation of an extractor to texts that differ from its training corpus.

Three steps, on the logits of the most probable relation. *Drift*: documents are compared with held-
out documents of the training corpus by rank tests. *Rescaling*: logits get the mean and the
standard deviation of those of held-out documents, where the difference is shrunk by the factor of
James and Stein; many documents without drift are not rescaled. *Calibration*:
slope and offset of the rescaled logits have a normal prior, measured on transfers between corpora;
labels, if there are any, update it. The decision threshold maximizes the expected F1.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.relations.calibration import Calibration
from kernelwood.relations.candidates import NONE
from kernelwood.relations.predictions import Predictions
from kernelwood.relations.relation_classes import type_of

if TYPE_CHECKING:
    from kernelwood.relations.extractor import RelationExtractor

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Bools = NDArray[np.bool_]

MIN_CANDIDATES = 20  # for an adaptation
MIN_DRIFT_DOCUMENTS, MIN_DRIFT_CANDIDATES = 20, 100  # for a warning
DRIFT_LEVEL, MIN_DELTA = 0.001, 0.2  # of p-value and statistic, for a warning
N_STRATA = 5
MIN_SAMPLE = 2 * N_STRATA  # labels, for estimates without the model
_SMALLEST = 1e-9  # probability whose logit is taken
_ALIKE = 0.05  # p-value above which many documents are not rescaled
_MIN_UNITS = 10  # documents; with fewer, sentences count as independent
# Logarithm of the slope, and offset, of rescaled logits: means and standard deviations of the
# prior, from fourteen transfers between AIMed, BioInfer, DrugBank and MedLine.
_PRIOR_MEAN, _PRIOR_DEVIATION = np.array([-0.5, -0.5]), np.array([0.3, 0.6])
_GRID = np.linspace(-2.5, 2.5, 11)  # in standard deviations
_MOST_BLOCKS = 500  # of candidates with adjacent logits
_LARGEST_RATIO = 4.0  # of standard deviations
_DIGITS = 2  # of standardized means of documents
_N_DRAWS, _BOUNDS = 4000, (2.5, 97.5)


class Estimate(NamedTuple):
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


class Rating(NamedTuple):
    """Estimates of the positive rate, and of precision, recall and F1 of a threshold."""

    positive_rate: Estimate
    precision: Estimate
    recall: Estimate
    f1: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {name: one._asdict() for name, one in self._asdict().items()}


class Drift(NamedTuple):
    """Difference between the scores of new documents and of held-out training documents.

    Attributes
    ----------
    n_documents, n_candidates : int
        Size of the new text.
    statistic : float
        Cliff's delta of documents, 0 if they are alike, 1 if all documents of one side have
        higher values than those of the other; that of the mean logit or of its spread, whichever
        differs more clearly.
    p_value : float
        p-value of Mann-Whitney tests on both, with Bonferroni's correction.
    """

    n_documents: int
    n_candidates: int
    statistic: float
    p_value: float

    @property
    def significant(self) -> bool:
        """Whether there are enough documents, and a large and significant difference."""
        return (
            self.n_documents >= MIN_DRIFT_DOCUMENTS
            and self.n_candidates >= MIN_DRIFT_CANDIDATES
            and self.p_value < DRIFT_LEVEL
            and self.statistic >= MIN_DELTA
        )


@dataclass(frozen=True, eq=False)
class Adaptation:
    """Summary of an adaptation.

    Attributes
    ----------
    drift : Drift
    threshold_before, threshold : float
        Decision thresholds before and after the adaptation. Probabilities change too, so the
        two do not compare; `positives_before` and `positives` do.
    positives_before, positives : int
        Predicted relations with the old threshold, and with the new one.
    expected : Rating
        Estimates of the model for the new threshold. Intervals include the variation of calibration
        between the corpora that the method was developed on.
    n_labels : int
        Number of labeled candidates.
    sampled : Rating or None
        Estimates from labels alone, without the model: stratified, and unbiased for candidates of
        `RelationExtractor.suggest_labels`. None with fewer than ten labels.
    """

    drift: Drift
    threshold_before: float
    threshold: float
    positives_before: int
    positives: int
    expected: Rating
    n_labels: int = 0
    sampled: Rating | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "drift": self.drift._asdict(),
            "threshold_before": self.threshold_before,
            "threshold": self.threshold,
            "positives_before": self.positives_before,
            "positives": self.positives,
            "labels": self.n_labels,
            "expected": self.expected.to_dict(),
            "sampled": None if self.sampled is None else self.sampled.to_dict(),
        }

    def __str__(self) -> str:
        drift, n = self.drift, self.drift.n_candidates
        lines = [
            f"drift: {drift.statistic:.2f}, p = {drift.p_value:.2g} "
            f"({drift.n_documents:,} documents, {n:,} candidates)",
            f"threshold: {self.threshold_before:.3f} before, {self.threshold:.3f} now",
            f"predicted relations: {self.positives_before:,} before, {self.positives:,} now",
        ]
        ratings = [("expected", self.expected)]
        if self.sampled is not None:
            ratings.append((f"from {self.n_labels} labels alone", self.sampled))
        for title, rating in ratings:
            named = (f"{name.replace('_', ' ')} {one}" for name, one in rating._asdict().items())
            lines.append(f"{title} (95 % interval): {', '.join(named)}")
        return "\n".join(lines).replace("f1 ", "F1 ")


# Sums of documents.


class DocumentSums(NamedTuple):
    """Sums over the candidates of each document, by which texts are compared.

    Attributes
    ----------
    candidates, logits, squares, positive, right : ndarray, shape (n_documents,)
        Number of candidates; sums of the logits of the most probable relation and of their
        squares; numbers of relations, and of relations that are the most probable one.
    """

    candidates: Floats
    logits: Floats
    squares: Floats
    positive: Floats
    right: Floats

    @classmethod
    def of(cls, logits: Floats, units: Any, positive: Any = 0.0, right: Any = 0.0) -> DocumentSums:
        """Return the sums of candidates by document, or by another unit.

        Examples
        --------
        >>> sums = DocumentSums.of(np.array([1.0, 2.0, -1.0]), ["a", "a", "b"])
        >>> sums.candidates, sums.logits, sums.squares
        (array([2., 1.]), array([ 3., -1.]), array([5., 1.]))
        """
        numbers = np.unique(np.asarray(units), return_inverse=True)[1]

        def summed(column: Any) -> Floats:
            whole = np.broadcast_to(np.asarray(column, dtype=np.float64), logits.shape)
            return np.bincount(numbers, whole).astype(np.float64)

        return cls(*map(summed, (1.0, logits, logits**2, positive, right)))

    def check(self) -> None:
        """Raise ValueError unless arrays that are as declared are sums of candidates."""
        if not len(self.candidates):
            raise ValueError("sums must be those of documents")
        if (self.right > self.positive).any():
            raise ValueError("sums of right predictions must be those of relations")
        if (self.squares * self.candidates < self.logits**2 * (1 - 1e-9)).any():
            raise ValueError("sums of squares are too small")

    @property
    def mean(self) -> float:
        """Mean logit of all candidates."""
        return float(self.logits.sum() / self.candidates.sum())

    @property
    def deviation(self) -> float:
        """Standard deviation of the logits of all candidates."""
        square = self.squares.sum() / self.candidates.sum()
        return float(np.sqrt(max(0.0, square - self.mean**2)))

    def features(self, center: float) -> Floats:
        """Return the mean of logits and of squared distances from a center, by document."""
        mean = self.logits / self.candidates
        spread = self.squares / self.candidates - 2 * center * mean + center**2
        return np.stack([mean, spread], axis=1)

    def moments(self, center: float, scale: float) -> tuple[Floats, Floats]:
        """Return mean and mean square of standardized logits, and their covariance matrix.

        Documents are independent, candidates of a document are not.
        """
        mean, spread = self.features(center).T
        rows = np.stack([(mean - center) / scale, spread / scale**2], axis=1)
        n = self.candidates.sum()
        center_of_rows = (rows * self.candidates[:, None]).sum(axis=0) / n
        rest = (rows - center_of_rows) * self.candidates[:, None] / n
        n_units = len(rest)
        factor = n_units / (n_units - 1) if n_units > 1 else np.inf
        products = (rest[:, :, None] * rest[:, None, :]).sum(axis=0)
        return center_of_rows, products * factor if n_units > 1 else np.full((2, 2), np.inf)


def find_drift(held: DocumentSums, new: DocumentSums) -> Drift:
    """Return how documents differ from held-out documents of the training corpus.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> held, new = rng.normal(size=(2, 300)), rng.normal(1.0, size=300)
    >>> sums = [DocumentSums.of(logits, np.arange(300) // 5) for logits in (*held, new)]
    >>> find_drift(sums[0], sums[1]).significant, find_drift(sums[0], sums[2]).significant
    (False, True)
    """
    from scipy.stats import mannwhitneyu

    scale = held.deviation or 1.0
    # Differences below a hundredth of the standard deviation do not matter.
    columns = (
        (sums.features(held.mean).T / [[scale], [scale**2]]).round(_DIGITS) for sums in (held, new)
    )
    found = []
    for old, others in zip(*columns, strict=True):
        test = mannwhitneyu(others, old, method="asymptotic")
        delta = 2 * float(test.statistic) / (len(old) * len(others)) - 1
        # All values are tied: no evidence of a difference.
        p_value = float(test.pvalue) if np.isfinite(test.pvalue) else 1.0
        found.append((p_value, -abs(delta)))
    p_value, delta = min(found)
    n_candidates = int(new.candidates.sum())
    return Drift(len(new.candidates), n_candidates, -delta, min(1.0, len(found) * p_value))


class DriftMonitor:
    """Collects predictions of new texts, and warns of drift from the training corpus.

    Parameters
    ----------
    extractor : RelationExtractor
    """

    def __init__(self, extractor: RelationExtractor) -> None:
        self._extractor = extractor
        self._sums: dict[str, Floats] = {}

    def add(self, predictions: Predictions) -> None:
        """Add predictions of all candidates of some texts; training sentences are left out."""
        if not len(predictions):
            return
        seen, _ = self._extractor._text_hashes().find(predictions.candidates)
        names = np.array(predictions.candidates.groups())[~seen]
        if not len(names):
            return
        rows = np.stack(DocumentSums.of(logits_of(predictions.probability[~seen]), names), axis=1)
        for name, row in zip(np.unique(names).tolist(), rows, strict=True):
            self._sums[name] = row + self._sums.get(name, 0.0)

    @property
    def drift(self) -> Drift | None:
        """Drift of the added predictions; None if there are none."""
        if not self._sums:
            return None
        new = DocumentSums(*np.stack(list(self._sums.values()), axis=1))
        return find_drift(self._extractor._document_sums(), new)

    def warn(self, *, stacklevel: int = 3) -> None:
        """Warn if the decision threshold probably does not fit the texts."""
        if len(self._sums) < MIN_DRIFT_DOCUMENTS:  # too few, and the test takes a millisecond
            return
        drift = self.drift
        if drift is not None and drift.significant:
            warnings.warn(
                f"drift: scores of the {drift.n_documents:,} documents differ from those of the "
                f"training corpus (Cliff's delta {drift.statistic:.2f}, p = {drift.p_value:.1g}), "
                "so the decision threshold probably does not fit; adapt the model to these texts "
                "(kernelwood adapt, RelationExtractor.adapt)",
                UserWarning,
                stacklevel=stacklevel,
            )


def logits_of(probabilities: Floats) -> Floats:
    """Return the logits of probabilities from 0 to 1, inclusive."""
    from scipy.special import logit

    made: Floats = logit(np.clip(probabilities, _SMALLEST, 1 - _SMALLEST))
    return made


# Rescaling and calibration.


class Line(NamedTuple):
    """A straight line from logits to logits."""

    slope: float
    offset: float

    def of(self, logits: Any) -> Any:
        """Return the values at some logits."""
        return self.slope * logits + self.offset


def shrinkage(held: DocumentSums, new: DocumentSums) -> float:
    """Return which part of a difference between texts is not due to chance, from 0 to 1.

    Examples
    --------
    >>> sums = [DocumentSums.of(np.array([0.0, 1, 2, 3]) + shift, [0, 1, 2, 3]) for shift in (0, 9)]
    >>> shrinkage(sums[0], sums[0]), shrinkage(*sums) > 0.9
    (0.0, True)
    """
    center, scale = held.mean, held.deviation or 1.0
    (old, old_covariance), (mean, covariance) = (
        sums.moments(center, scale) for sums in (held, new)
    )
    total = old_covariance + covariance
    if not np.isfinite(total).all():
        return 0.0
    apart = mean - old
    distance = float((apart[:, None] * np.linalg.pinv(total) * apart[None, :]).sum())
    return max(0.0, 1.0 - len(apart) / distance) if distance > 0 else 0.0


def rescaling(held: DocumentSums, new: DocumentSums, part: float) -> Line:
    """Return the line that gives logits mean and deviation of the held-out ones, in part.

    Examples
    --------
    >>> sums = [DocumentSums.of(np.array(z), [0, 1]) for z in ([-1.0, 1.0], [0.0, 4.0])]
    >>> rescaling(*sums, 1.0), rescaling(*sums, 0.0)
    (Line(slope=0.5, offset=-1.0), Line(slope=1.0, offset=0.0))
    """
    ratio = held.deviation / new.deviation if min(held.deviation, new.deviation) > 0 else 1.0
    slope = float(np.clip(ratio, 1 / _LARGEST_RATIO, _LARGEST_RATIO)) ** part
    center = part * new.mean + (1 - part) * held.mean
    return Line(slope, held.mean - slope * center)


class Posterior(NamedTuple):
    """Slopes and offsets of logits with their probabilities.

    Attributes
    ----------
    slopes, offsets, weights : ndarray, shape (n,)
        Weights sum to 1.
    """

    slopes: Floats
    offsets: Floats
    weights: Floats

    @classmethod
    def of(cls, part: float, logits: Floats, right: Bools) -> Posterior:
        """Return the distribution after labels.

        Parameters
        ----------
        part : float
            By which part the prior mean differs from slope 1 and offset 0: the `shrinkage`.
        logits : ndarray, shape (n_labels,)
            Rescaled logits of labeled candidates.
        right : ndarray of bool, shape (n_labels,)
            Whether the most probable relation is right.

        Examples
        --------
        >>> prior = Posterior.of(0.0, np.empty(0), np.empty(0, dtype=bool))
        >>> bool(abs(prior.weights @ prior.offsets) < 1e-9)
        True
        """
        from scipy.special import log_expit

        steps = np.stack(np.meshgrid(_GRID, _GRID, indexing="ij")).reshape(2, -1)
        values = part * _PRIOR_MEAN[:, None] + _PRIOR_DEVIATION[:, None] * steps
        slopes, offsets = np.exp(values[0]), values[1]
        logs = -(steps**2).sum(axis=0) / 2
        for one, is_right in zip(logits, right, strict=True):
            made = slopes * one + offsets
            logs += log_expit(made if is_right else -made)
        weights = np.exp(logs - logs.max())
        return cls(slopes, offsets, weights / weights.sum())

    @property
    def line(self) -> Line:
        """The line with the mean logarithm of slopes and the mean offset."""
        return Line(
            float(np.exp((self.weights * np.log(self.slopes)).sum())),
            float((self.weights * self.offsets).sum()),
        )

    def decide(self, logits: Floats, per_right: float) -> tuple[float, Rating]:
        """Return the threshold, a logit, with the highest expected F1, and estimates of it.

        Parameters
        ----------
        logits : ndarray, shape (n,)
            Rescaled logits of all candidates.
        per_right : float
            Relations per relation that is the most probable one; 1 if there is only one class.
        """
        from scipy.special import expit

        ordered = -np.sort(-logits)
        n = len(ordered)
        ends = np.unique(np.linspace(0, n, min(n, _MOST_BLOCKS) + 1).round().astype(np.int64))
        sizes, found = np.diff(ends), ends[1:]
        means = np.add.reduceat(ordered, ends[:-1]) / sizes
        made = expit(self.slopes[:, None] * means + self.offsets[:, None])
        right = np.cumsum(made * sizes, axis=1)
        variances = np.cumsum(made * (1 - made) * sizes, axis=1)
        relations = per_right * right[:, -1:]
        f1 = 2 * right / (found + relations)
        at = int((self.weights[:, None] * f1).sum(axis=0).argmax())
        last = int(found[at])
        threshold = ordered[last - 1] if last == n else (ordered[last - 1] + ordered[last]) / 2
        hits, missed = right[:, at], relations[:, 0] - right[:, at]
        rest = per_right * (variances[:, -1] - variances[:, at]) + (per_right - 1) * hits
        return float(threshold), self._rate(hits, missed, variances[:, at], rest, n, last)

    def _rate(
        self, hits: Floats, missed: Floats, spread: Floats, rest: Floats, n: int, n_found: int
    ) -> Rating:
        """Return means, and intervals of draws of slope and offset and of classes after them.

        Parameters
        ----------
        hits, missed : ndarray
            Expected numbers of relations that are found, and of the others, by slope and offset.
        spread, rest : ndarray
            The variances of these numbers.
        n, n_found : int
            Numbers of candidates, and of predicted positives.
        """
        rng = np.random.default_rng(0)
        rows = rng.choice(len(self.weights), size=_N_DRAWS, p=self.weights)
        numbers = [
            np.clip(rng.normal(mean[rows], np.sqrt(variance[rows])), 0, most)
            for mean, variance, most in ((hits, spread, n_found), (missed, rest, n))
        ]
        drawn = _measures(numbers[0], numbers[1], n, n_found)
        values = (float((self.weights * one).sum()) for one in _measures(hits, missed, n, n_found))
        return Rating(
            *(
                Estimate(value, *_bounds(draws, value))
                for value, draws in zip(values, drawn, strict=True)
            )
        )


# Labels.


def strata(probabilities: Floats) -> Indices:
    """Return the stratum of each candidate, 0 having the lowest probabilities.

    Strata have about the same sum of standard deviations, so that equal numbers of labels in all
    of them estimate the positive rate with little variance.

    Examples
    --------
    >>> strata(np.array([0.5, 0.01, 0.01, 0.01, 0.01, 0.5, 0.6, 0.4, 0.01])).tolist()
    [2, 0, 0, 0, 0, 3, 4, 1, 0]
    """
    order = np.argsort(probabilities, kind="stable")
    clipped = np.clip(probabilities[order], _SMALLEST, 1 - _SMALLEST)
    deviations = np.sqrt(clipped * (1 - clipped))
    middle = np.cumsum(deviations) - deviations / 2
    made = np.empty(len(order), dtype=np.int64)
    made[order] = np.minimum(middle / deviations.sum() * N_STRATA, N_STRATA - 1).astype(np.int64)
    return made


def choose(numbers: Indices, n: int, rng: np.random.Generator) -> list[int]:
    """Return candidates to label: equally many of each stratum, drawn without replacement.

    The first m of them are equally many of each stratum, too, as far as m permits.

    Examples
    --------
    >>> chosen = choose(np.array([0, 0, 0, 0, 1, 1]), 4, np.random.default_rng(0))
    >>> sorted(np.array([0, 0, 0, 0, 1, 1])[chosen].tolist())
    [0, 0, 1, 1]
    """
    waiting = [rng.permutation(np.flatnonzero(numbers == k)).tolist() for k in np.unique(numbers)]
    chosen: list[int] = []
    while len(chosen) < min(n, len(numbers)):
        filled = [rows for rows in waiting if rows]
        for place in rng.permutation(len(filled)).tolist():
            chosen.append(filled[place].pop())
    return chosen[:n]


class Sample(NamedTuple):
    """Labeled candidates of strata.

    Attributes
    ----------
    numbers : ndarray of int, shape (n,)
        The stratum of each candidate, labeled or not.
    rows : ndarray of int, shape (n_labels,)
        Labeled candidates.
    positive, right : ndarray of bool, shape (n_labels,)
        Whether they are relations, and whether the most probable relation is right.
    """

    numbers: Indices
    rows: Indices
    positive: Bools
    right: Bools

    def joined(self) -> Sample:
        """Return strata that have at least two labels each, if there are as many."""
        numbers = self.numbers.copy()
        while True:
            known, counts = np.unique(numbers, return_counts=True)
            labeled = np.array([(numbers[self.rows] == k).sum() for k in known])
            few = np.flatnonzero(labeled < np.minimum(2, counts))
            if not len(few) or len(known) == 1:
                return self._replace(numbers=numbers)
            at = int(few[0])
            numbers[numbers == known[at]] = known[at + 1 if at + 1 < len(known) else at - 1]

    def total(self, values: Any) -> float:
        """Return the stratified estimate of the sum of a column over all candidates.

        Examples
        --------
        >>> rows, yes = np.array([0, 1, 4]), np.array([True, False, True])
        >>> Sample(np.array([0, 0, 0, 0, 1]), rows, yes, yes).total(yes)
        3.0
        """
        own = self.numbers[self.rows]
        return float(
            sum(
                (self.numbers == k).sum() * np.mean(np.asarray(values, dtype=float)[own == k])
                for k in np.unique(self.numbers)
            )
        )

    def rate(self, found: Bools, *, typed: bool, seed: int = 0) -> Rating:
        """Return estimates for predicted positives.

        Intervals are predictions for the candidates without a label: their classes are drawn
        from a Dirichlet distribution (Jeffreys' prior) for each stratum.

        Parameters
        ----------
        found : ndarray of bool, shape (n,)
            Which candidates are predicted positives.
        typed : bool
            Whether a predicted relation may have the wrong type.
        seed : int
            Of the draws.
        """
        hits = self.right & found[self.rows]
        columns = np.stack([hits, self.positive & ~hits, ~self.positive])
        rng = np.random.default_rng(seed)
        sums = np.zeros((2, _N_DRAWS))  # relations that are found, and the others
        for k in np.unique(self.numbers):
            inside = self.numbers == k
            counts = columns[:, inside[self.rows]].sum(axis=1)
            some, every = found[inside].any(), found[inside].all()
            possible = np.array([some, typed or not every, True]) | (counts > 0)
            # One label fewer: the variance of a mean has n - 1 degrees of freedom.
            weights = counts * (1 - 1 / max(2, counts.sum())) + 0.5
            shares = rng.gamma(np.where(possible, weights, 1e-12), size=(_N_DRAWS, 3))
            shares /= shares.sum(axis=1, keepdims=True)
            rest = rng.multinomial(inside.sum() - counts.sum(), shares)
            sums += (counts + rest).T[:2]
        n, n_found = len(self.numbers), int(found.sum())
        totals = np.array([self.total(column) for column in columns[:2]])
        # The prior pulls shares toward each other: the center is that of the unbiased estimates.
        sums += (totals - sums.mean(axis=1))[:, None]
        sums = np.maximum(sums, columns[:2].sum(axis=1, keepdims=True))
        drawn = _measures(sums[0], sums[1], n, n_found)
        return Rating(
            *(
                Estimate(float(value), *_bounds(draws, float(value)))
                for value, draws in zip(
                    _measures(totals[0], totals[1], n, n_found), drawn, strict=True
                )
            )
        )


def _measures(right: Any, missed: Any, n: int, n_found: int) -> tuple[Any, Any, Any, Any]:
    """Return positive rate, precision, recall and F1 of numbers of relations."""
    relations = right + missed
    some = np.maximum(relations, _SMALLEST)
    return (
        np.minimum(1.0, relations / n),
        np.minimum(1.0, right / max(1, n_found)),
        right / some,
        np.minimum(1.0, 2 * right / np.maximum(n_found + relations, _SMALLEST)),
    )


def _bounds(draws: Floats, value: float) -> tuple[float, float]:
    low, high = np.percentile(draws, _BOUNDS)
    return min(float(low), value), max(float(high), value)


# Extractors.


class Plan(NamedTuple):
    """State of an adaptation to new texts, before labels are used.

    Attributes
    ----------
    sums : DocumentSums
        Of the new documents.
    part : float
        The `shrinkage`; 0 if at least 20 documents show no drift (p >= 0.05).
    line : Line
        The `rescaling`.
    logits : ndarray, shape (n,)
        Rescaled logits of the candidates.
    strata : ndarray of int, shape (n,)
        Of the candidates.
    """

    sums: DocumentSums
    part: float
    line: Line
    logits: Floats
    strata: Indices

    @classmethod
    def of(cls, held: DocumentSums, predictions: Predictions) -> Plan:
        """Return the plan for predictions of all candidates."""
        from scipy.special import expit

        if len(predictions) < MIN_CANDIDATES:
            raise KernelInputError(
                f"the texts have {len(predictions)} candidates, which are too few to adapt to; "
                f"give texts with at least {MIN_CANDIDATES}"
            )
        logits = logits_of(predictions.probability)
        documents = predictions.candidates.groups()
        sums = DocumentSums.of(logits, documents)
        units: Any = documents
        if len(sums.candidates) < _MIN_UNITS:
            units = predictions.candidates.sentence_of
        drift = find_drift(held, sums)
        alike = drift.n_documents >= MIN_DRIFT_DOCUMENTS and drift.p_value >= _ALIKE
        part = 0.0 if alike else shrinkage(held, DocumentSums.of(logits, units))
        line = rescaling(held, sums, part)
        rescaled = line.of(logits)
        prior = Posterior.of(part, np.empty(0), np.empty(0, dtype=bool)).line
        return cls(sums, part, line, rescaled, strata(expit(prior.of(rescaled))))


def adapt_calibration(
    calibration: Calibration,
    held: DocumentSums,
    predictions: Predictions,
    labels: Mapping[str, str],
    known: Sequence[str],
) -> tuple[Calibration, DocumentSums, Adaptation]:
    """Return calibration and sums of documents for new texts, and a summary.

    Parameters
    ----------
    calibration : Calibration
        That of the predictions.
    held : DocumentSums
        Of held-out documents of the training corpus.
    predictions : Predictions
        Of all candidates of the new texts.
    labels : mapping of str to str
        Relation or ``"none"`` by id of the candidate.
    known : sequence of str
        The classes of the model.
    """
    from scipy.special import expit

    plan = Plan.of(held, predictions)
    sample = _sample(plan, predictions, labels, known)
    posterior = Posterior.of(plan.part, plan.logits[sample.rows], sample.right)
    if not held.right.any():
        raise KernelInputError(
            "no relation of held-out training documents was recognized, so the model cannot be "
            "adapted; train it on more documents"
        )
    per_right = float(held.positive.sum() / held.right.sum())
    cut, expected = posterior.decide(plan.logits, per_right)
    total = posterior.line
    line = Line(total.slope * plan.line.slope, total.of(plan.line.offset))
    found = plan.logits >= cut
    adapted = calibration._replace(
        curve=line.slope * calibration.curve + np.array([0.0, 0.0, line.offset]),
        threshold=float(expit(total.of(cut))),
    )
    old = logits_of(predictions.probability)
    probable = expit(line.of(old))
    sums = DocumentSums.of(
        line.of(old), predictions.candidates.groups(), per_right * probable, probable
    )
    summary = Adaptation(
        find_drift(held, plan.sums),
        calibration.threshold,
        adapted.threshold,
        int(predictions.positive.sum()),
        int(found.sum()),
        expected,
        len(sample.rows),
        sample.joined().rate(found, typed=len(known) > 2)
        if len(sample.rows) >= MIN_SAMPLE
        else None,
    )
    return adapted, sums, summary


def _sample(
    plan: Plan, predictions: Predictions, labels: Mapping[str, str], known: Sequence[str]
) -> Sample:
    """Return the labeled candidates; raise an error for unknown ids and labels."""
    rows = {name: row for row, name in enumerate(predictions.candidates.ids)}
    for name, label in labels.items():
        if name not in rows:
            raise KernelInputError(
                f"labels: the texts have no candidate {name!r}; give the texts that "
                "suggest_labels was called with"
            )
        if label not in known and label not in map(type_of, known):
            raise KernelInputError(
                f"labels: {label!r} of the candidate {name!r} is not a relation of the model; "
                f"give one of: {', '.join(sorted({NONE, *map(type_of, known)}))}"
            )
    places = np.array([rows[name] for name in labels], dtype=np.int64)
    best = [predictions.classes[row] for row in places]
    right = [
        label in (name, type_of(name)) for name, label in zip(best, labels.values(), strict=True)
    ]
    positive = [label != NONE for label in labels.values()]
    return Sample(plan.strata, places, np.array(positive, bool), np.array(right, bool))
