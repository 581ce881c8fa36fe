"""Orders of the queue: selection of the next candidates to label.

The default order chooses candidates whose labels teach the model most, and draws every fifth at
random with a known probability. These checks estimate the quality of the model without bias.
``docs/teaching-orders.md`` describes the orders and how they compare.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from kernelwood.errors import KernelInputError
from kernelwood.relations import NONE
from kernelwood.seeds import child_generator
from kernelwood.web.teaching import Teacher, TeachingModel, agree

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

CHECK_EVERY = 5  # every fifth pick of the default order is a check
_SHORTLIST = 200  # most uncertain candidates, out of which picks are chosen
_SAMPLE = 300  # random candidates whose errors the picks should reduce
_NOISE = 1.0  # variance of a label, in units of self-similarities
_SMALLEST = 1e-6  # probability whose log odds are taken
_CHECK, _RANDOM, _FIRST, _REFERENCE = 1, 2, 3, 4  # purposes of child generators


class Pick(NamedTuple):
    """A candidate of the queue.

    Attributes
    ----------
    candidate : int
        Row number.
    reason : str
        ``"informative"``, ``"check"``, ``"diverse"``, ``"probable"``, ``"doubtful"``,
        ``"disagreement"``, ``"document"`` or ``"random"``.
    weight : float or None
        Weight of a candidate drawn at random: 1 / (n q), where q is the probability of drawing it
        out of the n undecided candidates.
    """

    candidate: int
    reason: str
    weight: float | None


class Order(NamedTuple):
    """An order that the user can choose."""

    id: str
    title: str
    description: str


_ROWS = (
    Order(
        "informative",
        "Most informative",
        "Uncertain candidates that are similar to many others and differ from labeled ones; every "
        "fifth is drawn at random to estimate the quality of the model.",
    ),
    Order("probable", "Most probable", "Candidates that are most probably relations."),
    Order(
        "doubtful",
        "Least probable among accepted",
        "Accepted relations, decided or annotated, that the model finds least probable.",
    ),
    Order(
        "disagreement",
        "Disagreement with annotation",
        "Candidates whose existing annotation the model contradicts, the least probable annotation "
        "first.",
    ),
    Order("document", "By document", "All candidates in the order of the text."),
    Order("random", "Random", "Candidates drawn at random with equal probabilities."),
)
ORDERS: Mapping[str, Order] = MappingProxyType({row.id: row for row in _ROWS})


def make_queue(
    order: str,
    teacher: Teacher,
    model: TeachingModel | None,
    *,
    decided: Mapping[int, str | None],
    annotation: Sequence[str | None],
    eligible: Bools,
    n: int,
    seed: int,
    n_decisions: int,
) -> list[Pick]:
    """Return the next candidates of the queue; the same arguments give the same queue.

    Parameters
    ----------
    order : str
        A key of `ORDERS`.
    teacher : Teacher
    model : TeachingModel or None
        The latest model.
    decided : mapping of int to str or None
        Labels of decided candidates, None for those skipped. They are not picked, except accepted
        ones by ``"doubtful"``.
    annotation : sequence of str or None
        Existing annotation of each candidate, for ``"doubtful"`` and ``"disagreement"``.
    eligible : ndarray of bool, shape (n_candidates,)
        Whether each candidate may be picked.
    n : int
        Number of picks; fewer if fewer candidates are left.
    seed : int
        Seed of random draws.
    n_decisions : int
        Number of decisions so far, which determines the places of checks.
    """
    if order not in ORDERS:
        raise KernelInputError(f"unknown order {order!r}; orders: {', '.join(ORDERS)}")
    left = np.array(eligible, dtype=bool)
    left[[row for row in decided if 0 <= row < len(left)]] = False
    make: Callable[[], list[Pick]] = {
        "informative": lambda: _informative(teacher, model, left, n, seed, n_decisions),
        "probable": lambda: _probable(teacher, model, left, n, seed),
        "doubtful": lambda: _doubtful(model, eligible, decided, annotation, n),
        "disagreement": lambda: _disagreement(model, left, annotation, n),
        "document": lambda: _listed(np.flatnonzero(left), "document", n),
        "random": lambda: _random(left, n, seed, n_decisions),
    }[order]
    return make()


def _listed(rows: NDArray[np.int64], reason: str, n: int) -> list[Pick]:
    return [Pick(int(row), reason, None) for row in rows[:n]]


def _random(left: Bools, n: int, seed: int, n_decisions: int) -> list[Pick]:
    rows = np.flatnonzero(left)
    drawn = child_generator(seed, _RANDOM, n_decisions).permutation(rows)[:n]
    return [Pick(int(row), "random", 1.0) for row in drawn]


def _probable(
    teacher: Teacher, model: TeachingModel | None, left: Bools, n: int, seed: int
) -> list[Pick]:
    if model is None:
        return _diverse(teacher, left, n, seed)
    rows = np.flatnonzero(left)
    _, best = model.relations()
    return _listed(rows[np.argsort(-best[rows], kind="stable")], "probable", n)


def _doubtful(
    model: TeachingModel | None,
    eligible: Bools,
    decided: Mapping[int, str | None],
    annotation: Sequence[str | None],
    n: int,
) -> list[Pick]:
    """Return accepted relations, decided or else annotated, the least probable first."""
    if model is None:
        return []
    accepted = [
        (row, label)
        for row in np.flatnonzero(eligible).tolist()
        if (label := decided[row] if row in decided else annotation[row]) not in (None, NONE)
    ]
    rows = np.array([row for row, _ in accepted], dtype=np.int64)
    known = _probabilities_of(model, rows, [str(label) for _, label in accepted])
    return _listed(rows[np.argsort(known, kind="stable")], "doubtful", n)


def _disagreement(
    model: TeachingModel | None, left: Bools, annotation: Sequence[str | None], n: int
) -> list[Pick]:
    """Return candidates predicted otherwise than annotated, the least probable class first."""
    if model is None:
        return []
    listed = [row for row in np.flatnonzero(left).tolist() if annotation[row] is not None]
    rows = np.array(listed, dtype=np.int64)
    given = [str(annotation[row]) for row in listed]
    known = _probabilities_of(model, rows, given)
    predicted = [model.classes[column] for column in model.predicted()[rows].tolist()]
    differ = np.array([not agree(*two) for two in zip(predicted, given, strict=True)], dtype=bool)
    rows, known = rows[differ], known[differ]
    return _listed(rows[np.argsort(known, kind="stable")], "disagreement", n)


def _probabilities_of(
    model: TeachingModel, rows: NDArray[np.int64], names: Sequence[str]
) -> NDArray[np.float64]:
    """Return the probability of a class of each candidate; 0 if the model does not have it."""
    columns = {
        name: [column for column, known in enumerate(model.classes) if agree(name, known)]
        for name in set(names)
    }
    found = [
        float(model.probabilities[row, columns[name]].sum())
        for row, name in zip(rows.tolist(), names, strict=True)
    ]
    return np.array(found, dtype=np.float64)


def _informative(
    teacher: Teacher,
    model: TeachingModel | None,
    left: Bools,
    n: int,
    seed: int,
    n_decisions: int,
) -> list[Pick]:
    places = range(n_decisions, n_decisions + n)
    checks: dict[int, Pick] = {}
    if model is not None:
        for place in places:
            if place % CHECK_EVERY == CHECK_EVERY - 1 and left.any():
                checks[place] = draw_check(model, left, seed, place)
                left[checks[place].candidate] = False
    if model is None:
        others = _diverse(teacher, left, n, seed)
    else:
        rows = choose_informative(teacher, model, left, n - len(checks), seed, n_decisions)
        others = [Pick(row, "informative", None) for row in rows]
    others.reverse()
    picks = []
    for place in places:
        if place in checks:
            picks.append(checks[place])
        elif others:
            picks.append(others.pop())
    return picks


def _diverse(teacher: Teacher, left: Bools, n: int, seed: int) -> list[Pick]:
    """Return first picks that are left, then random ones."""
    medoids = [row for row in teacher.first_picks() if left[row]]
    others = child_generator(seed, _FIRST).permutation(len(left)).tolist()
    rows = dict.fromkeys([*medoids, *(row for row in others if left[row])])
    return [Pick(int(row), "diverse", None) for row in list(rows)[:n]]


def choose_informative(
    teacher: Teacher, model: TeachingModel, left: Bools, n: int, seed: int, n_decisions: int
) -> list[int]:
    r"""Return candidates that are uncertain and whose labels would reduce the errors of others.

    With the covariance :math:`C` of the errors of scores, given the labels, a label of :math:`x`
    reduces the variance at :math:`u` by :math:`C(x, u)^2 / (C(x, x) + \lambda)`. The value of a
    candidate is the sum of this over a random sample, weighted by the uncertainty of :math:`u`,
    times its own uncertainty. So candidates count that are similar to many uncertain ones
    (density) and not to those that are labeled or picked before (diversity).

    References
    ----------
    \D. Cohn: Neural network exploration using optimal experiment design. Neural Networks 1996.
    """
    rows = np.flatnonzero(left)
    if n <= 0 or not len(rows):
        return []
    doubt = uncertainty(model)
    first = rows[np.argsort(-doubt[rows], kind="stable")[: max(_SHORTLIST, n)]]
    rng = child_generator(seed, _REFERENCE, n_decisions)
    sample = rng.choice(rows, min(_SAMPLE, len(rows)), replace=False)
    errors = teacher.covariances(model, [*first.tolist(), *sample.tolist()])
    own, others = errors[: len(first), : len(first)].copy(), errors[: len(first), len(first) :]
    others = others * np.sqrt(doubt[sample])
    chosen: list[int] = []
    free = np.ones(len(first), dtype=bool)
    for _ in range(min(n, len(first))):
        variances = np.maximum(own.diagonal(), 0.0) + _NOISE
        value = doubt[first] * (others**2).sum(axis=1) / variances
        at = int(np.where(free, value, -1.0).argmax())
        free[at] = False
        chosen.append(int(first[at]))
        shares = own[:, at] / variances[at]
        others = others - np.outer(shares, others[at])
        own = own - np.outer(shares, own[at])
    return chosen


def uncertainty(model: TeachingModel) -> Floats:
    r"""Return how uncertain the prediction for each candidate is, from 0 to 1.

    The geometric mean of two numbers: one minus the difference of the two largest probabilities;
    and :math:`e^{-d}`, where :math:`d` is the distance of the most probable relation from the
    decision threshold, in log odds.
    """
    largest = np.sort(model.probabilities.astype(np.float64), axis=1)[:, -2:]
    margins = largest[:, -1] - largest[:, 0]
    _, best = model.relations()
    low, high = _SMALLEST, 1 - _SMALLEST
    distances = logit(np.clip(best.astype(np.float64), low, high))
    distances -= logit(np.clip(model.threshold, low, high))
    found: Floats = np.sqrt(np.maximum(1.0 - margins, 0.0) * np.exp(-np.abs(distances)))
    return found


def draw_check(model: TeachingModel, left: Bools, seed: int, place: int) -> Pick:
    """Return a candidate drawn with a known probability.

    Half of the probability is the same for all candidates that are left, half is proportional to
    the share of a candidate in the variance of F1 (Sawade et al., 2010).
    """
    rows = np.flatnonzero(left)
    spread = deviations(model)[rows]
    total = spread.sum()
    chances = np.full(len(rows), 1.0 / len(rows))
    if total > 0:
        chances = 0.5 * chances + 0.5 * spread / total
    at = int(child_generator(seed, _CHECK, place).choice(len(rows), p=chances / chances.sum()))
    return Pick(int(rows[at]), "check", float(1.0 / (len(rows) * chances[at])))


def deviations(model: TeachingModel) -> Floats:
    r"""Return the root of the expected contribution of each candidate to the variance of F1.

    References
    ----------
    \C. Sawade, N. Landwehr, T. Scheffer: Active estimation of F-measures. NIPS 2010.
    """
    _, best = model.relations()
    right = best.astype(np.float64)
    related = 1.0 - model.probabilities[:, model.none].astype(np.float64)
    positive = right >= model.threshold
    n_both = positive.sum() + related.sum()
    f1 = 2 * right[positive].sum() / n_both if n_both else 0.0
    hit, miss = right * (1 - f1) ** 2, related * f1**2 / 4
    wrong = (1 - right) * f1**2 / 4
    return np.sqrt(np.where(positive, hit + wrong, miss))
