"""Lines between relations and the rest, drawn on held-out scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kernelwood.relations import positive_rate_threshold
from kernelwood.relations.calibration import (
    ScoredCandidates,
    calibrate,
    probability,
    ranking,
    rates,
)

# Score, whether a relation holds, whether it is the likeliest one, and the document.
rows_of = st.tuples(st.integers(-20, 20), st.booleans(), st.booleans(), st.integers(0, 5))
scored = st.lists(rows_of, min_size=4, max_size=40).filter(
    lambda rows: len({row[1] for row in rows}) == 2
)


def columns(rows):
    scores, positive, right, documents = zip(*rows, strict=True)
    judged = ScoredCandidates(np.array(scores) / 7.0, np.array(positive), np.array(right))
    return judged, [f"d{d}" for d in documents]


def f1_of(judged, cut):
    """Return F1 by its definition, counting one by one."""
    found = right = 0
    for score, holds, typed in zip(*judged, strict=True):
        if score >= cut:
            found += 1
            right += holds and typed
    return 2 * right / (found + sum(judged.positive))


@given(scored)
def test_no_threshold_has_a_better_f1(rows):
    judged, documents = columns(rows)
    line = calibrate(judged, documents, "f1")
    reached = rates(judged, probability(judged.scores, line) >= line.threshold).f1
    best = max(f1_of(judged, cut) for cut in judged.scores)
    if line.slope > 0:
        assert reached == pytest.approx(best)
    else:
        # Scores that say nothing have one probability: all are relations, or none.
        assert reached == pytest.approx(f1_of(judged, judged.scores.min()))


@given(scored)
def test_the_cautious_threshold_is_not_higher(rows):
    judged, documents = columns(rows)
    best = calibrate(judged, documents, "f1")
    cautious = calibrate(judged, documents, "cautious")
    assert cautious.threshold <= best.threshold


def standard_error(judged, cut, documents, n_draws=4000):
    """Return the deviation of F1 if whole documents are drawn with replacement."""
    found = judged.scores >= cut
    names = sorted(set(documents))
    members = [np.array([d == name for d in documents]) for name in names]
    right = np.array([(found & judged.positive & judged.right)[m].sum() for m in members])
    both = np.array([found[m].sum() + judged.positive[m].sum() for m in members])
    drawn = np.random.default_rng(1).integers(len(names), size=(n_draws, len(names)))
    return np.std(2 * right[drawn].sum(axis=1) / both[drawn].sum(axis=1))


@pytest.mark.parametrize("seed", range(5))
def test_the_cautious_threshold_is_the_lowest_within_a_standard_error(seed):
    random = np.random.default_rng(seed)
    positive = random.random(80) < 0.4
    judged = ScoredCandidates(
        random.normal(size=80) + 1.5 * positive, positive, random.random(80) < 0.9
    )
    documents = [f"d{d}" for d in random.integers(10, size=80)]
    f1 = {cut: f1_of(judged, cut) for cut in judged.scores}
    best = max(judged.scores, key=f1.get)
    error = standard_error(judged, best, documents)
    # A bootstrap is known to some per cent: what lies that close to the bound may be in or out.
    lowest = min(cut for cut in f1 if f1[cut] >= f1[best] - 0.9 * error)
    beyond = min(cut for cut in f1 if f1[cut] >= f1[best] - 1.1 * error)
    line = calibrate(judged, documents, "cautious")
    taken = judged.scores[probability(judged.scores, line) >= line.threshold].min()
    assert beyond <= taken <= lowest


@given(scored, st.floats(0.01, 0.99))
def test_a_number_is_the_threshold_itself(rows, number):
    judged, documents = columns(rows)
    assert calibrate(judged, documents, number).threshold == number
    assert calibrate(judged, documents, "half").threshold == 0.5


@given(scored)
def test_probabilities_rise_with_scores(rows):
    judged, documents = columns(rows)
    line = calibrate(judged, documents, "f1")
    chances = probability(np.sort(judged.scores), line)
    assert (np.diff(chances) >= 0).all()
    assert ((chances >= 0) & (chances <= 1)).all()


@settings(max_examples=50)
@given(scored)
def test_ranking_is_the_share_of_pairs_in_order(rows):
    (scores, positive, _), _ = columns(rows)
    auc, precision = ranking(positive, scores)
    pairs = [(a, b) for a in scores[positive] for b in scores[~positive]]
    expected = np.mean([1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs])
    assert auc == pytest.approx(expected)
    assert 0 < precision <= 1


def test_one_class_has_no_ranking():
    assert ranking(np.array([True, True]), np.array([0.1, 0.2])) == (None, None)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_a_share_of_scores_reaches_its_threshold(scores, share):
    line = positive_rate_threshold(scores, share)
    wanted = max(1, round(share * len(scores)))
    assert sum(score >= line for score in scores) >= wanted
    assert sum(score > line for score in scores) < wanted
