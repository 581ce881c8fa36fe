"""The live model: equal to plain kernel ridge regression, however the labels arrived."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.special import softmax
from web.taught import corpus, new_teacher, some_labels

from kernelwood.compute import counting
from kernelwood.errors import KernelInputError
from kernelwood.relations import NONE, kernel_on
from kernelwood.web import Prior, Teacher, TeachingModel, teaching
from kernelwood.web.teaching import SimilarityRows, best_threshold, fit_scaling

RIDGE = teaching._RIDGE


@pytest.fixture(scope="module")
def grams():
    """Return the Gram matrix of all candidates by views, computed once."""
    made = {}

    def gram(views):
        if views not in made:
            made[views] = kernel_on(views).gram(corpus()[0]).astype(float)
        return made[views]

    return gram


def plain_scores(gram, labels, classes):
    """Return scores of all candidates, those of labeled ones without their documents."""
    _, documents, _ = corpus()

    def scores(rows, wanted):
        rows = np.array(rows)
        targets = np.array([[1.0 if labels[row] == name else -1.0 for name in classes]
                            for row in rows])  # fmt: skip
        weights = np.linalg.solve(gram[np.ix_(rows, rows)] + RIDGE * np.eye(len(rows)), targets)
        return gram[np.ix_(wanted, rows)] @ weights

    found = scores(list(labels), np.arange(len(gram)))
    for row in labels:
        others = [one for one in labels if documents[one] != documents[row]]
        found[row] = scores(others, [row])[0]
    return found


def test_probabilities_are_those_of_plain_ridge_regression(grams):
    labels = some_labels(60)
    model = new_teacher().learn(labels)
    scores = plain_scores(grams(model.views), labels, model.classes)
    slope, offsets = model.learned.scaling
    expected = softmax(slope * scores + offsets, axis=1)
    np.testing.assert_allclose(model.probabilities, expected, atol=1e-4)
    assert set(model.classes) == {NONE, *labels.values()} and model.labels == 60


def test_labels_one_by_one_give_the_model_of_all_at_once():
    labels, grown, part = some_labels(25), new_teacher(), {}
    for row, label in labels.items():
        part[row] = label
        model = grown.learn(part)
    at_once = new_teacher().learn(labels)
    assert model.classes == at_once.classes
    np.testing.assert_allclose(model.probabilities, at_once.probabilities, atol=1e-5)
    assert model.number > at_once.number == 1


@pytest.mark.parametrize("removed", [[-1], [0], [3, 10]])
def test_labels_that_vanish_leave_no_trace(removed):
    labels = some_labels(20)
    gone = [list(labels)[place] for place in removed]
    kept = {row: label for row, label in labels.items() if row not in gone}
    undone = new_teacher()
    undone.learn(labels)
    before, after = undone.learn(kept), new_teacher().learn(kept)
    np.testing.assert_allclose(before.probabilities, after.probabilities, atol=1e-5)


def test_a_changed_label_changes_the_model_and_costs_no_similarities():
    labels, changed = some_labels(20), some_labels(20)
    row = next(row for row, label in labels.items() if label == NONE)
    changed[row] = next(label for label in labels.values() if label != NONE)
    grown = new_teacher()
    grown.learn(labels)
    with counting() as counted:
        model = grown.learn(changed)
    assert counted.kernel_evaluations == 0
    np.testing.assert_allclose(
        model.probabilities, new_teacher().learn(changed).probabilities, atol=1e-5
    )


def test_a_new_label_costs_one_row_unless_it_was_prepared():
    labels = some_labels(22)
    rows = list(labels)
    n = len(corpus()[0])
    grown = new_teacher()
    grown.learn({row: labels[row] for row in rows[:20]})
    with counting() as counted:
        grown.learn({row: labels[row] for row in rows[:21]})
    # One row of the kernel in use, and the labeled candidates by the other one.
    assert counted.kernel_evaluations < 2 * 7 * (n + 21)
    grown.prepare([rows[21]])
    with counting() as prepared:
        grown.learn(labels)
    assert prepared.kernel_evaluations < counted.kernel_evaluations / 5


def test_rows_of_prepared_candidates_are_dropped_but_not_those_of_labeled_ones():
    labels, spare = some_labels(10), teaching._SPARE_ROWS
    teacher = new_teacher()
    teacher.learn(labels)
    for begin in range(0, 400, 100):
        teacher.prepare(range(begin, begin + 100))
    assert set(labels) <= set(teacher._rows.candidates())
    assert len(teacher._rows) <= 10 + 100 + spare


def test_there_is_no_model_of_one_class():
    rows = [row for row, name in enumerate(corpus()[2]) if name == NONE][:5]
    assert new_teacher().learn(dict.fromkeys(rows, NONE)) is None
    assert new_teacher().learn({}) is None


def test_new_candidates_are_scored_like_those_of_the_project():
    table, _, _ = corpus()
    labels = some_labels(40)
    model = new_teacher().learn(labels)
    rows = [row for row in range(200) if row not in labels]
    np.testing.assert_allclose(model.score(table[rows]), model.probabilities[rows], atol=1e-4)


def test_contributions_add_up_to_the_difference_of_scores():
    table, _, _ = corpus()
    labels = some_labels(40)
    model = new_teacher().learn(labels)
    rows = [row for row in range(50) if row not in labels]
    names = [model.best(row)[0] for row in rows]
    found = model.contributions(table[rows], names)
    assert found.indices.tolist() == sorted(labels)
    slope, offsets = model.learned.scaling
    scores = (np.log(model.score(table[rows])) - offsets) / slope
    columns = [model.classes.index(name) for name in names]
    differences = scores[np.arange(len(rows)), columns] - scores[:, model.none]
    np.testing.assert_allclose(found.scores, differences, atol=1e-6)


def test_contributions_to_an_unknown_class_are_refused():
    model = new_teacher().learn(some_labels(10))
    with pytest.raises(KernelInputError, match="no class 'Eats'"):
        model.contributions(corpus()[0][:1], ["Eats"])


@pytest.mark.parametrize(
    ("labels", "symmetric", "classes"),
    [
        (["none", "A(e2,e1)"], [], {"A(e2,e1)"}),
        (["none", "A(e1,e2)", "A(e2,e1)"], [], {"A(e1,e2)", "A(e2,e1)"}),
        (["none", "A(e1,e2)", "A(e2,e1)"], ["A"], {"A"}),
        (["none", "A", "A(e2,e1)"], [], {"A(e1,e2)", "A(e2,e1)"}),
        (["none", "A", "B(e2,e1)"], [], {"A", "B(e2,e1)"}),
    ],
)
def test_directions_of_classes(labels, symmetric, classes):
    model = new_teacher(symmetric=symmetric).learn(dict(enumerate(labels)))
    assert set(model.classes) == {NONE, *classes}


def test_a_class_without_direction_agrees_with_both():
    assert teaching.agree("A", "A(e2,e1)") and teaching.agree("A(e1,e2)", "A")
    assert not teaching.agree("A(e1,e2)", "A(e2,e1)") and not teaching.agree("A", NONE)


def given_prior(**options):
    classes = (NONE, "Binds(e1,e2)")
    chances = np.linspace(0, 1, len(corpus()[0]))
    return Prior(classes, np.stack([1 - chances, chances], axis=1), **options)


def prior_scores(chances):
    slope = teaching._SLOPE
    return 1 + np.log(np.maximum(chances, np.exp(-2 * slope))) / slope


def test_without_labels_the_prior_predicts():
    prior = given_prior()
    model = new_teacher(prior=prior).learn({})
    assert model.classes == ("Binds(e1,e2)", NONE) and model.labels == 0
    np.testing.assert_allclose(model.probabilities[:, ::-1], prior.probabilities, atol=1e-6)


def test_labels_teach_the_difference_to_the_prior(grams):
    labels, prior = some_labels(30), given_prior()
    labels = {row: name if name == NONE else "Binds(e1,e2)" for row, name in labels.items()}
    model = new_teacher(prior=prior).learn(labels)
    rows = list(labels)
    gram = grams(model.views)
    means = prior_scores(prior.probabilities[:, ::-1])
    targets = [[1.0, -1.0] if labels[row] != NONE else [-1.0, 1.0] for row in rows]
    weights = np.linalg.solve(
        gram[np.ix_(rows, rows)] + RIDGE * np.eye(len(rows)), targets - means[rows]
    )
    slope, offsets = model.learned.scaling
    expected = softmax(slope * (means + gram[:, rows] @ weights) + offsets, axis=1)
    others = [row for row in range(len(gram)) if row not in labels]
    np.testing.assert_allclose(model.probabilities[others], expected[others], atol=1e-4)


def test_the_prior_has_a_part_in_scores_of_new_candidates():
    table, _, _ = corpus()
    labels, prior = some_labels(30), given_prior()
    given = dict(zip(table.ids, prior.probabilities, strict=True))
    prior = prior._replace(predict=lambda some: np.array([given[name] for name in some.ids]))
    model = new_teacher(prior=prior).learn(labels)
    rows = [row for row in range(100) if row not in labels]
    np.testing.assert_allclose(model.score(table[rows]), model.probabilities[rows], atol=1e-4)
    found = model.contributions(table[rows[:1]], ["Binds(e1,e2)"])
    scores = prior_scores(prior.probabilities[rows[0]])
    assert found.intercepts[0] == pytest.approx(scores[1] - scores[0], abs=1e-5)


def test_new_candidates_need_the_given_model_itself():
    model = new_teacher(prior=given_prior()).learn(some_labels(30))
    with pytest.raises(KernelInputError, match=r"Prior\.predict"):
        model.score(corpus()[0][:1])


def by_entity_words(n):
    """Return labels of candidates with frequent entities that follow from their words alone."""
    table, _, _ = corpus()
    words = [table[row].view("stem-entity-words").nodes[0] for row in range(len(table))]
    rank = {word: place for place, (word, _) in enumerate(Counter(words).most_common(8))}
    rows = [row for row, word in enumerate(words) if word in rank]
    rows = np.random.default_rng(1).permutation(rows)[:n].tolist()
    return {row: NONE if rank[words[row]] % 2 else "Binds(e1,e2)" for row in rows}


def test_entity_words_are_used_if_labels_follow_from_them():
    labels = by_entity_words(80)
    model = new_teacher().learn(labels)
    assert not model.blind and "stem-entity-words" in model.views
    assert new_teacher().learn(some_labels(80)).blind


def test_views_that_change_give_the_model_of_these_views(grams):
    labels = by_entity_words(80)
    grown, few = new_teacher(), dict(list(labels.items())[::3])
    first, model = grown.learn(few), grown.learn(labels)
    assert first.blind and not model.blind
    scores = plain_scores(grams(model.views), labels, model.classes)
    slope, offsets = model.learned.scaling
    expected = softmax(slope * scores + offsets, axis=1)
    np.testing.assert_allclose(model.probabilities, expected, atol=1e-4)


def test_scaling_is_the_maximum_of_the_posterior():
    rng = np.random.default_rng(0)
    classes = rng.integers(3, size=40)
    scores = rng.normal(size=(40, 3)) * 0.3 + np.eye(3)[classes] * 0.4

    def loss(slope, offsets):
        chances = softmax(slope * scores + offsets, axis=1)[np.arange(40), classes]
        away = (np.log(slope) - np.log(teaching._SLOPE)) / teaching._SLOPE_SPREAD
        return -np.log(chances).sum() + away**2 / 2 + (offsets**2).sum() / 2

    found = fit_scaling(scores, classes)
    best = loss(*found)
    for change in (-0.02, 0.02):
        assert loss(found.slope * (1 + change), found.offsets) > best
        for one in range(3):
            assert loss(found.slope, found.offsets + change * np.eye(3)[one]) > best


def test_scaling_keeps_the_order_of_scores_that_say_nothing():
    scores = np.array([[0.5, -0.5], [-0.5, 0.5]])
    found = fit_scaling(scores, np.array([1, 0]))  # the opposite of the scores
    assert found.slope > 0.1


def test_the_threshold_has_the_highest_expected_f1():
    chances = np.random.default_rng(0).random(30)

    def f1(threshold):
        chosen = chances[chances >= threshold]
        return 2 * chosen.sum() / (len(chosen) + chances.sum())

    best = max(f1(threshold) for threshold in [0.0, *chances.tolist()])
    assert f1(best_threshold(chances, chances)) == pytest.approx(best)


def test_predictions_reach_the_threshold():
    chances = np.array([[0.5, 0.3, 0.2], [0.1, 0.5, 0.4], [0.7, 0.1, 0.2]], dtype=np.float32)
    model = TeachingModel(1, 2, ("A", "B", NONE), chances, 0.6)
    assert model.predicted().tolist() == [2, 2, 0]
    assert model.best(1)[0] == "B" and model.ranking(1)[1][0] == NONE
    assert model.relations()[0].tolist() == [0, 1, 0]


def test_first_picks_are_distinct_and_the_same_for_a_seed():
    picks = new_teacher(seed=3).first_picks(12)
    assert picks == new_teacher(seed=3).first_picks(12) != new_teacher(seed=4).first_picks(12)
    assert len(set(picks)) == 12


def test_candidates_are_more_similar_to_first_picks_than_to_random_ones(grams):
    teacher = new_teacher()
    gram = grams(teacher._blind_views)
    others = np.random.default_rng(0).permutation(len(gram))

    def covered(rows):
        return gram[:, rows].max(axis=1).mean()

    drawn = [covered(others[begin : begin + 12]) for begin in range(0, 960, 12)]
    assert covered(teacher.first_picks(12)) > np.quantile(drawn, 0.9)


def test_first_picks_of_a_few_candidates_are_all():
    table, documents, _ = corpus()
    assert Teacher(table[:5], documents[:5]).first_picks(12) == [0, 1, 2, 3, 4]


def test_covariances_are_those_of_a_gaussian_process(grams):
    labels, teacher = some_labels(30), new_teacher()
    model = teacher.learn(labels)
    gram, known, rows = grams(model.views), sorted(labels), [1, 5, 9, 700]
    across = gram[np.ix_(rows, known)]
    inverse = np.linalg.inv(gram[np.ix_(known, known)] + RIDGE * np.eye(30))
    expected = gram[np.ix_(rows, rows)] - across @ inverse @ across.T
    found = teacher.covariances(model, rows)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    teacher.learn(some_labels(50))  # a model does not change when others are learned
    np.testing.assert_array_equal(teacher.covariances(model, rows), found)


def test_rows_are_those_of_the_kernel(grams):
    teacher = new_teacher()
    expected = grams(teacher._blind_views)[[3, 8]]
    np.testing.assert_allclose(teacher.rows([3, 8]), expected, atol=1e-5)
    teacher.prepare([3, 8])
    np.testing.assert_allclose(teacher.rows([3, 8]), expected, atol=1e-5)
    np.testing.assert_allclose(teacher.similarities(corpus()[0][[3, 8]]), expected, atol=1e-5)


@pytest.mark.parametrize("memory", [10**9, 0])
def test_products_of_stored_rows(memory):
    rng = np.random.default_rng(0)
    rows, weights = rng.random((150, 40)).astype(np.float32), rng.normal(size=(100, 3))
    stored = SimilarityRows(40, memory)
    stored.add(range(100), rows[:100])
    stored.drop(range(0, 100, 2))
    stored.add(range(100, 150), rows[100:])
    left = [*range(1, 100, 2), *range(100, 150)]
    assert sorted(stored.candidates()) == left and 0 not in stored and len(stored) == 100
    np.testing.assert_allclose(stored.product(left, weights), rows[left].T @ weights, rtol=1e-4)
    np.testing.assert_array_equal(stored.get([149, 1], [5, 6]), rows[[149, 1]][:, [5, 6]])
    assert stored.get([0, 1]) is None
    assert len(stored._blocks) == 2  # places of dropped rows are used again


def test_candidates_of_one_document_are_held_out_one_by_one(grams):
    table, documents, _ = corpus()
    labels = some_labels(20)
    model = Teacher(table, np.zeros(len(documents), dtype=int)).learn(labels)
    rows = list(labels)
    gram = grams(model.views)
    row, others = rows[0], rows[1:]
    targets = [[1.0 if labels[one] == name else -1.0 for name in model.classes] for one in others]
    weights = np.linalg.solve(gram[np.ix_(others, others)] + RIDGE * np.eye(19), targets)
    slope, offsets = model.learned.scaling
    expected = softmax(slope * (gram[row, others] @ weights) + offsets)
    np.testing.assert_allclose(model.probabilities[row], expected, atol=1e-4)


def test_wrong_arguments_are_refused():
    table, documents, _ = corpus()
    with pytest.raises(KernelInputError, match="documents must have a number for each of the 1,0"):
        Teacher(table, documents[:5])
    with pytest.raises(KernelInputError, match="prior must have a row"):
        Teacher(table, documents, prior=Prior(("none",), np.ones((3, 1))))
    with pytest.raises(KernelInputError, match="label of candidate 5000, but"):
        new_teacher().learn({0: NONE, 5000: "A"})
