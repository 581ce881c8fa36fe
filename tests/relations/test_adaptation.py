"""Adaptation to other texts: drift, rescaling, calibration with labels, stratified estimates."""

from __future__ import annotations

import copy
import math
import warnings

import numpy as np
import pytest
from annotated import documents, event_documents
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.errors import KernelInputError
from kernelwood.persist.estimators import check_restored
from kernelwood.relations import DriftMonitor
from kernelwood.relations.adaptation import (
    MIN_CANDIDATES,
    N_STRATA,
    DocumentSums,
    Drift,
    Line,
    Plan,
    Posterior,
    Sample,
    choose,
    find_drift,
    rescaling,
    shrinkage,
    strata,
)

NUMBERS = st.integers(-40, 40).map(lambda number: number / 8)
PROBABILITIES = st.integers(1, 99).map(lambda number: number / 100)
NO_LABELS = np.empty(0), np.empty(0, dtype=bool)


@st.composite
def texts(draw):
    """Draw logits of candidates, and their documents."""
    n = draw(st.integers(6, 30))
    logits = draw(st.lists(NUMBERS, min_size=n, max_size=n, unique=True))
    units = draw(st.lists(st.sampled_from("abcde"), min_size=n, max_size=n))
    return logits, [*"abc", *units[3:]]


def sums_of(text):
    return DocumentSums.of(np.array(text[0]), text[1])


@pytest.fixture(scope="module")
def extractor():
    return kw.RelationExtractor(random_state=0).fit(documents(12))


@pytest.fixture(scope="module")
def test_documents():
    return documents(12, start=20)


# Sums of documents.


@given(texts())
def test_mean_and_deviation_are_those_of_all_candidates(text):
    sums = sums_of(text)
    assert sums.mean == pytest.approx(np.mean(text[0]), abs=1e-12)
    assert sums.deviation == pytest.approx(np.std(text[0]), abs=1e-7)
    sums._replace(right=np.ones(len(sums.right)), positive=sums.candidates).check()


@given(texts(), NUMBERS)
def test_features_are_means_of_documents(text, center):
    found = sums_of(text).features(center)
    for row, name in zip(found, sorted(set(text[1])), strict=True):
        own = [z for z, unit in zip(*text, strict=True) if unit == name]
        assert row[0] == pytest.approx(sum(own) / len(own))
        assert row[1] == pytest.approx(sum((z - center) ** 2 for z in own) / len(own))


@given(texts(), NUMBERS)
def test_moments_take_documents_as_wholes(text, center):
    logits, units = text
    means, covariance = sums_of(text).moments(center, 2.0)
    rows = [((z - center) / 2, ((z - center) / 2) ** 2) for z in logits]
    n, names = len(rows), sorted(set(units))
    for j in range(2):
        assert means[j] == pytest.approx(sum(row[j] for row in rows) / n)
        for k in range(2):
            total = 0.0
            for name in names:
                own = [row for row, unit in zip(rows, units, strict=True) if unit == name]
                total += math.prod(sum(row[i] - means[i] for row in own) for i in (j, k))
            expected = total / n**2 * len(names) / (len(names) - 1)
            assert covariance[j, k] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("candidates", lambda x: x - x, "candidates_ must be at least 1"),
        ("candidates", lambda x: x.astype(int), "candidates_ must be an array"),
        ("logits", lambda x: x * np.nan, "finite"),
        ("logits", lambda x: x + 1e6, "squares"),
        ("squares", lambda x: -x, "squares_ must be at least 0"),
        ("right", lambda x: x + 100, "right"),
        ("positive", lambda x: x[:-1], "positive_ must be an array of shape"),
        ("positive", list, "positive_ must be an array"),
    ],
)
def test_wrong_sums_are_not_loaded(extractor, name, value, message):
    model = copy.copy(extractor)
    attribute = f"document_{name}_"
    setattr(model, attribute, value(getattr(extractor, attribute)))
    with pytest.raises(ValueError, match=message):
        check_restored(model)


def test_a_model_that_recognized_nothing_is_loaded_but_not_adapted(extractor, test_documents):
    model = copy.copy(extractor)
    model.document_right_ = extractor.document_right_ * 0
    check_restored(model)
    with pytest.raises(kw.errors.KernelInputError, match="cannot be adapted"):
        model.adapt(test_documents)


def test_sums_are_those_of_held_out_candidates(extractor):
    assert extractor.document_candidates_.sum() == extractor.n_candidates_
    assert len(extractor.document_candidates_) == extractor.n_documents_
    assert extractor.document_positive_.sum() == extractor.n_relations_


def within(rating, positive, found):
    """Return whether the positive rate, precision, recall and F1 are in their intervals."""
    hits = (positive & found).sum()
    true = [
        positive.mean(),
        hits / found.sum(),
        hits / positive.sum(),
        2 * hits / (found.sum() + positive.sum()),
    ]
    return [one.low <= value <= one.high for one, value in zip(rating, true, strict=True)]


# Drift.


def plain_p_value(first, second):
    """Return the p-value of the Mann-Whitney test by the normal approximation."""
    pairs = [(a > b) + (a == b) / 2 for a in first for b in second]
    n, m = len(first), len(second)
    values = [*first, *second]
    ties = sum(values.count(value) ** 3 - values.count(value) for value in set(values))
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    distance = abs(sum(pairs) - n * m / 2) - 0.5
    return math.erfc(max(0.0, distance) / math.sqrt(2 * variance)), sum(pairs) / (n * m)


@given(texts(), texts())
def test_drift_is_the_smaller_p_value_of_two_rank_tests(old, new):
    held, others = sums_of(old), sums_of(new)
    drift = find_drift(held, others)
    scales = np.array([[held.deviation], [held.deviation**2]])
    features = ((sums.features(held.mean).T / scales).round(2) for sums in (others, held))
    columns = zip(*features, strict=True)
    tests = [plain_p_value(a.tolist(), b.tolist()) for a, b in columns]
    p_value, order = min(tests, key=lambda test: (test[0], -abs(test[1] - 0.5)))
    assert drift.p_value == pytest.approx(min(1.0, 2 * p_value), abs=1e-9)
    assert drift.statistic == pytest.approx(abs(2 * order - 1))
    assert (drift.n_documents, drift.n_candidates) == (len(set(new[1])), len(new[0]))


def test_documents_with_one_score_do_not_drift():
    same = DocumentSums.of(np.zeros(40), np.arange(40))
    assert find_drift(same, same) == Drift(40, 40, 0.0, 1.0)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"n_documents": 19}, False),
        ({"n_candidates": 99}, False),
        ({"p_value": 0.001}, False),
        ({"statistic": 0.19}, False),
    ],
)
def test_drift_needs_documents_candidates_and_a_clear_difference(changes, expected):
    assert Drift(20, 100, 0.2, 0.0009)._replace(**changes).significant is expected


def test_documents_of_one_corpus_rarely_drift():
    rng = np.random.default_rng(0)
    alarms = shifted = 0
    for _ in range(300):
        # Candidates of a document are alike, and documents have different sizes.
        means = rng.normal(size=150)
        units = np.repeat(np.arange(150), rng.integers(1, 12, size=150))
        logits = means[units] + rng.normal(size=len(units))
        held = DocumentSums.of(logits[units < 100], units[units < 100])
        new = units >= 100
        alarms += find_drift(held, DocumentSums.of(logits[new], units[new])).significant
        shifted += find_drift(held, DocumentSums.of(logits[new] + 1.5, units[new])).significant
    assert alarms <= 2
    assert shifted >= 290


def scored(extractor, given, change):
    """Return predictions with changed scores."""
    made = extractor.predict(given, all=True)
    made.probability = change(made.probability)
    return made


def test_a_monitor_warns_once_of_all_batches(extractor):
    many = documents(40, start=20)
    monitor = DriftMonitor(extractor)
    for start in range(0, len(many), 50):
        monitor.add(scored(extractor, many[start : start + 50], lambda p: p * 0 + 0.4))
    assert monitor.drift.n_candidates == len(many)
    assert monitor.drift.n_documents == 40
    with pytest.warns(UserWarning, match="drift: scores of the 40 documents") as caught:
        monitor.warn()
    assert len(caught) == 1


def test_training_documents_are_not_compared(extractor):
    monitor = DriftMonitor(extractor)
    monitor.add(scored(extractor, documents(12), lambda p: p * 0 + 0.4))
    assert monitor.drift is None
    monitor.warn()


def test_evaluation_warns_of_drift_unless_the_threshold_is_another(extractor):
    found = scored(extractor, documents(40, start=20), lambda p: p * 0.1 + 0.4)
    with pytest.warns(UserWarning, match=r"drift: .*\(kernelwood adapt"):
        extractor.evaluate(found, n_bootstrap=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        extractor.evaluate(found.with_positive_rate(0.3), n_bootstrap=0)


def test_extraction_warns_of_drift(extractor):
    moved = copy.copy(extractor)
    moved.document_logits_ = extractor.document_logits_ - 9 * extractor.document_candidates_
    moved.document_squares_ = extractor.document_squares_ + 1000
    with pytest.warns(UserWarning, match="drift: "):
        found = moved.extract(documents(40, start=20))
    assert found.positive.all()


# Rescaling.


@given(texts(), texts())
def test_a_full_rescaling_gives_mean_and_deviation(old, new):
    held, others = sums_of(old), sums_of(new)
    if not 0.25 < held.deviation / others.deviation < 4:
        return
    made = rescaling(held, others, 1.0).of(np.array(new[0]))
    assert made.mean() == pytest.approx(held.mean, abs=1e-9)
    assert made.std() == pytest.approx(held.deviation, abs=1e-6)


@given(texts(), texts())
def test_no_rescaling_without_a_difference(old, new):
    line = rescaling(sums_of(old), sums_of(new), 0.0)
    assert line == pytest.approx(Line(1.0, 0.0), abs=1e-9)
    assert shrinkage(sums_of(old), sums_of(old)) == 0.0
    assert 0.0 <= shrinkage(sums_of(old), sums_of(new)) <= 1.0


@given(texts(), texts())
def test_shrinkage_is_the_factor_of_james_and_stein(old, new):
    held, others = sums_of(old), sums_of(new)
    first, second = (sums.moments(held.mean, held.deviation) for sums in (held, others))
    (a, b), (c, d) = (first[1] + second[1]).tolist()
    determinant = a * d - b * c
    if determinant < 1e-3 * a * d:
        return
    x, y = (second[0] - first[0]).tolist()
    distance = (d * x * x - (b + c) * x * y + a * y * y) / determinant
    expected = 0.0 if distance <= 2 else 1 - 2 / distance
    assert shrinkage(held, others) == pytest.approx(expected, abs=1e-6)


def test_more_documents_make_a_difference_clearer():
    held = DocumentSums.of(np.linspace(-2, 2, 1000), np.arange(1000))
    parts = [
        shrinkage(held, DocumentSums.of(np.linspace(-1.5, 2.5, n), np.arange(n)))
        for n in (20, 100, 1000)
    ]
    assert parts == sorted(parts)
    assert parts[-1] > 0.95


def test_one_document_tells_nothing_of_others():
    held = DocumentSums.of(np.arange(9.0), np.arange(9))
    assert shrinkage(held, DocumentSums.of(np.arange(9.0) + 5, [0] * 9)) == 0.0


# Calibration.


@given(st.lists(st.tuples(NUMBERS, st.booleans()), max_size=8), st.integers(0, 4))
def test_posterior_is_prior_times_likelihood(labels, quarters):
    part = quarters / 4
    logits, right = [z for z, _ in labels], [is_right for _, is_right in labels]
    posterior = Posterior.of(part, np.array(logits, float), np.array(right, bool))
    weights = []
    for slope, offset in zip(posterior.slopes, posterior.offsets, strict=True):
        made = -(((math.log(slope) + 0.5 * part) / 0.3) ** 2) / 2
        made -= ((offset + 0.5 * part) / 0.6) ** 2 / 2
        for one, is_right in labels:
            probability = 1 / (1 + math.exp(-(slope * one + offset)))
            made += math.log(probability if is_right else 1 - probability)
        weights.append(math.exp(made))
    expected = np.array(weights) / sum(weights)
    np.testing.assert_allclose(posterior.weights, expected, rtol=1e-6, atol=1e-12)


@given(st.lists(NUMBERS, min_size=3, max_size=12, unique=True), st.integers(10, 15))
def test_the_threshold_has_the_best_expected_f1(logits, tenths):
    per_right = tenths / 10
    posterior = Posterior.of(1.0, *NO_LABELS)
    cut, rating = posterior.decide(np.array(logits), per_right)

    def expected(line):
        total = 0.0
        rows = zip(posterior.slopes, posterior.offsets, posterior.weights, strict=True)
        for slope, offset, weight in rows:
            made = [1 / (1 + math.exp(-(slope * z + offset))) for z in logits]
            found = [p for p, z in zip(made, logits, strict=True) if z >= line]
            total += weight * 2 * sum(found) / (len(found) + per_right * sum(made))
        return total

    best = max(map(expected, logits))
    assert expected(cut) == pytest.approx(best)
    assert rating.f1.value == pytest.approx(best)
    for estimate in rating:
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_large_texts_are_decided_in_blocks():
    rng = np.random.default_rng(0)
    logits = rng.normal(-2, 2, size=20_000)
    posterior = Posterior.of(0.0, *NO_LABELS)
    cut, rating = posterior.decide(logits, 1.0)
    small, other = posterior.decide(np.quantile(logits, (np.arange(400) + 0.5) / 400), 1.0)
    assert cut == pytest.approx(small, abs=0.05)
    assert rating.f1.value == pytest.approx(other.f1.value, abs=0.01)


def test_expected_intervals_contain_realized_figures():
    rng = np.random.default_rng(0)
    inside = np.zeros(4)
    for _ in range(200):
        # Slope and offset are those of the prior, and classes are drawn for few candidates.
        logits = rng.normal(-1, 2, size=120)
        slope, offset = np.exp(rng.normal(-0.5, 0.3)), rng.normal(-0.5, 0.6)
        positive = rng.random(120) < 1 / (1 + np.exp(-(slope * logits + offset)))
        cut, rating = Posterior.of(1.0, *NO_LABELS).decide(logits, 1.0)
        found = logits >= cut
        inside += within(rating, positive, found)
    assert (inside >= 180).all()


def test_labels_move_slope_and_offset():
    logits = np.linspace(-4, 4, 200)
    prior = Posterior.of(0.0, *NO_LABELS).line
    assert prior == pytest.approx(Line(1.0, 0.0), abs=1e-9)
    steep = Posterior.of(0.0, logits, logits > 0).line
    higher = Posterior.of(0.0, logits, logits > -1).line
    assert steep.slope > 2
    assert higher.offset > 1


# Labels.


@given(st.lists(PROBABILITIES, min_size=1, max_size=60))
def test_strata_are_intervals_with_equal_deviations(probabilities):
    given = np.array(probabilities)
    numbers = strata(given)
    order = np.argsort(given, kind="stable")
    assert (np.diff(numbers[order]) >= 0).all()
    assert numbers.min() >= 0
    assert numbers.max() < N_STRATA
    deviations = np.sqrt(given * (1 - given))
    sums = np.bincount(numbers, deviations, N_STRATA)
    assert (sums <= deviations.sum() / N_STRATA + deviations.max() + 1e-9).all()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(1, 50), st.integers(0, 9))
def test_labels_are_spread_over_strata(numbers, n, seed):
    given = np.array(numbers)
    chosen = choose(given, n, np.random.default_rng(seed))
    assert len(chosen) == len(set(chosen)) == min(n, len(given))
    sizes, counts = np.bincount(given, minlength=5), np.bincount(given[chosen], minlength=5)
    # A stratum has fewer than another one only if it has no more, or by one.
    for k in range(5):
        assert counts[k] == sizes[k] or counts[k] >= counts.max() - 1


def test_stratified_estimates_are_unbiased():
    rng = np.random.default_rng(0)
    probabilities = rng.beta(0.3, 1.5, size=400)
    positive = rng.random(400) < probabilities**1.5
    right = positive & (rng.random(400) < 0.8)
    numbers, found = strata(probabilities), probabilities > 0.4
    ratings = []
    for seed in range(1500):
        rows = np.array(choose(numbers, 30, np.random.default_rng(seed)))
        sample = Sample(numbers, rows, positive[rows], right[rows])
        ratings.append(
            (sample.total(positive[rows]) / 400, sample.total((right & found)[rows]) / found.sum())
        )
    means, errors = np.mean(ratings, axis=0), np.std(ratings, axis=0) / math.sqrt(1500)
    true = np.array([positive.mean(), (right & found).sum() / found.sum()])
    assert (np.abs(means - true) < 4 * errors).all()
    # A sample without strata has a larger variance.
    plain = [np.mean(rng.choice(positive, 30, replace=False)) for _ in range(1500)]
    assert np.std([one for one, _ in ratings]) < 0.9 * np.std(plain)


def test_intervals_contain_the_truth():
    rng = np.random.default_rng(1)
    inside = np.zeros(4)
    for seed in range(200):
        probabilities = rng.beta(0.5, 1.5, size=300)
        positive = rng.random(300) < probabilities
        numbers, found = strata(probabilities), probabilities > 0.4
        rows = np.array(choose(numbers, 30, rng))
        rating = Sample(numbers, rows, positive[rows], positive[rows]).rate(
            found, typed=False, seed=seed
        )
        inside += within(rating, positive, found)
    assert (inside >= 180).all()


def test_all_labels_give_exact_figures():
    numbers = np.array([0, 0, 1, 1])
    positive = np.array([False, True, True, True])
    right = np.array([False, True, True, False])
    found = np.array([False, False, True, True])
    rating = Sample(numbers, np.arange(4), positive, right).rate(found, typed=True)
    for estimate, value in zip(rating, (0.75, 0.5, 1 / 3, 0.4), strict=True):
        assert estimate == pytest.approx((value, value, value))


@given(st.lists(st.integers(0, 4), min_size=2, max_size=30), st.data())
def test_joined_strata_have_two_labels(numbers, data):
    given = np.array(numbers)
    n = len(given)
    rows = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=2, unique=True)))
    yes = np.ones(len(rows), dtype=bool)
    joined = Sample(given, rows, yes, yes).joined().numbers
    for k in np.unique(joined):
        assert (joined[rows] == k).sum() >= min(2, (joined == k).sum())
    order = np.argsort(given, kind="stable")
    assert (np.diff(joined[order]) >= 0).all()


# Extractors.


def labels_of(predictions):
    return {one.id: str(one.label) for one in predictions}


def test_an_adapted_extractor_shares_the_classifier(extractor, test_documents):
    before = extractor.threshold_, extractor.curve_.copy()
    adapted, summary = extractor.adapt(test_documents)
    assert adapted is not extractor
    assert adapted.learner_ is extractor.learner_
    assert extractor.threshold_ == before[0]
    np.testing.assert_array_equal(extractor.curve_, before[1])
    assert (summary.threshold_before, summary.threshold) == (before[0], adapted.threshold_)
    assert summary.n_labels == 0
    assert summary.sampled is None


@pytest.mark.parametrize("n", [0, 12, 40])
def test_the_summary_counts_what_the_model_predicts(extractor, test_documents, n):
    chosen = extractor.suggest_labels(test_documents, 40, random_state=0)[:n]
    adapted, summary = extractor.adapt(test_documents, labels_of(chosen))
    assert summary.positives == len(adapted.predict(test_documents))
    assert summary.positives_before == len(extractor.predict(test_documents))
    assert summary.n_labels == n
    assert (summary.sampled is None) == (n < 10)
    old, new = (model.predict(test_documents, all=True) for model in (extractor, adapted))
    order = np.argsort(old.probability, kind="stable")
    assert (np.diff(new.probability[order]) >= -1e-12).all()


@pytest.mark.parametrize(("n", "rescaled"), [(19, True), (20, False)])
def test_many_documents_without_drift_are_not_rescaled(extractor, n, rescaled):
    given = extractor.predict(documents(n, start=20), all=True)
    units = np.array(given.candidates.groups())
    logits = np.random.default_rng(0).permutation(np.linspace(-2, 2, len(units)))
    held = DocumentSums.of(logits, units, 0.5, 0.4)
    # The difference may be due to chance.
    given.probability = 1 / (1 + np.exp(-logits - 0.25))
    plan = Plan.of(held, given)
    assert find_drift(held, plan.sums).p_value > 0.05
    assert shrinkage(held, plan.sums) > 0
    assert (plan.part > 0) is rescaled
    assert (plan.line == Line(1.0, 0.0)) is not rescaled


@pytest.mark.parametrize("n", [0, 30])
def test_the_adapted_calibration_is_a_line_that_fits_the_summary(extractor, n):
    noise = np.random.default_rng(0).normal(-3, 1.5, size=300)
    given = scored(extractor, documents(50, start=20), lambda p: 1 / (1 + np.exp(-noise[: len(p)])))
    chosen = given.take(range(n))
    labels = {one.id: one.relation if one.probability > 0.03 else "none" for one in chosen}
    adapted, summary = extractor.adapt(given, labels)
    slope = adapted.curve_[0] / extractor.curve_[0]
    offset = adapted.curve_[2] - slope * extractor.curve_[2]
    assert adapted.curve_[1] == pytest.approx(slope * extractor.curve_[1])
    made = 1 / (1 + np.exp(-(slope * noise[: len(given)] + offset)))
    assert (made >= adapted.threshold_).sum() == summary.positives > 0
    per_right = extractor.document_positive_.sum() / extractor.document_right_.sum()
    assert per_right * made.mean() == pytest.approx(summary.expected.positive_rate.value, abs=0.04)
    assert adapted.document_right_.sum() == pytest.approx(made.sum())


def test_the_adapted_model_is_not_surprised_by_its_texts(extractor, test_documents):
    adapted, _ = extractor.adapt(test_documents)
    found = adapted.predict(test_documents, all=True)
    assert adapted.document_logits_.sum() == pytest.approx(
        np.log(found.probability / (1 - found.probability)).sum()
    )
    monitor = DriftMonitor(adapted)
    monitor.add(found)
    assert monitor.drift.p_value > 0.5


def test_adapted_models_are_loaded_as_they_were(extractor, test_documents, tmp_path):
    adapted, _ = extractor.adapt(test_documents)
    kw.save(adapted, tmp_path / "model.kw")
    loaded = kw.load(tmp_path / "model.kw")
    one, other = (model.predict(test_documents, all=True) for model in (adapted, loaded))
    np.testing.assert_array_equal(one.probability, other.probability)
    np.testing.assert_array_equal(one.positive, other.positive)
    assert loaded.adapt(test_documents)[1].to_dict() == adapted.adapt(test_documents)[1].to_dict()


def test_labels_that_deny_relations_leave_fewer(extractor, test_documents):
    chosen = extractor.suggest_labels(test_documents, 30, random_state=1)
    none, _ = extractor.adapt(test_documents, {one.id: "none" for one in chosen})
    every, _ = extractor.adapt(test_documents, {one.id: one.relation for one in chosen})
    low, high = (
        model.predict(test_documents, all=True).probability.sum() for model in (none, every)
    )
    assert low < high


def test_a_label_may_leave_out_the_direction(extractor, test_documents):
    chosen = extractor.suggest_labels(test_documents, 20, random_state=1)
    full = extractor.adapt(test_documents, {one.id: one.relation for one in chosen})[1]
    short = extractor.adapt(test_documents, {one.id: one.type for one in chosen})[1]
    assert any(one.relation != one.type for one in chosen)
    assert full.to_dict() == short.to_dict()


def test_suggestions_depend_on_the_seed_only(extractor, test_documents):
    names = [
        [one.id for one in extractor.suggest_labels(test_documents, 10, random_state=seed)]
        for seed in (0, 0, 1)
    ]
    assert names[0] == names[1] != names[2]
    assert len(set(names[0])) == 10


def test_events_are_adapted():
    model = kw.RelationExtractor(candidates="events", random_state=0).fit(event_documents())
    given = model.predict(event_documents(), all=True)
    assert len(given) >= MIN_CANDIDATES
    labels = {one.id: one.label for one in model.suggest_labels(given, 12, random_state=0)}
    adapted, summary = model.adapt(given, labels)
    assert summary.n_labels == 12
    assert summary.positives == len(adapted.predict(event_documents()))


@pytest.mark.parametrize(
    ("labels", "message"),
    [({"nowhere": "none"}, "no candidate 'nowhere'"), ({None: "eats"}, "Activates, Binds, none")],
)
def test_wrong_labels_are_errors(extractor, test_documents, labels, message):
    [(name, label)] = labels.items()
    known = extractor.suggest_labels(test_documents, 1)[0].id
    with pytest.raises(KernelInputError, match=message):
        extractor.adapt(test_documents, {name or known: label})


def test_few_candidates_are_an_error(extractor):
    with pytest.raises(KernelInputError, match="too few to adapt"):
        extractor.adapt(documents(1, start=30))


@pytest.mark.parametrize("n", [0, -1, 2.0, True])
def test_the_number_of_suggestions_is_positive(extractor, test_documents, n):
    with pytest.raises(KernelInputError, match="n must be a positive number"):
        extractor.suggest_labels(test_documents, n)


def test_the_summary_can_be_read(extractor, test_documents):
    chosen = extractor.suggest_labels(test_documents, 20, random_state=0)
    _, summary = extractor.adapt(test_documents, labels_of(chosen))
    lines = str(summary).splitlines()
    assert [line.split(":")[0].split(" (")[0] for line in lines] == [
        "drift",
        "threshold",
        "predicted relations",
        "expected",
        "from 20 labels alone",
    ]
    assert f"F1 {summary.expected.f1}" in lines[3]
