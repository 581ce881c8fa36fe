"""Orders of the queue."""

from __future__ import annotations

import numpy as np
import pytest
from web.taught import corpus, new_teacher, some_labels

from kernelwood.errors import KernelInputError
from kernelwood.relations import NONE
from kernelwood.web import ORDERS, TeachingModel, make_queue, orders

N = len(corpus()[0])


@pytest.fixture(scope="module")
def taught():
    """Return a teacher, its model, and the labels."""
    teacher, labels = new_teacher(), some_labels(40)
    return teacher, teacher.learn(labels), labels


def queue(order, taught, **options):
    teacher, model, labels = taught
    settings = {
        "decided": labels,
        "annotation": corpus()[2],
        "eligible": np.ones(N, dtype=bool),
        "n": 12,
        "seed": 0,
        "n_decisions": 40,
    }
    return make_queue(order, teacher, model, **(settings | options))


@pytest.mark.parametrize("order", ORDERS)
def test_the_same_arguments_give_the_same_queue(order, taught):
    picks = queue(order, taught)
    assert picks == queue(order, taught)
    assert len({pick.candidate for pick in picks}) == len(picks) > 0


@pytest.mark.parametrize("order", [order for order in ORDERS if order != "doubtful"])
def test_decided_and_ineligible_candidates_are_not_picked(order, taught):
    eligible = np.arange(N) % 2 == 0
    decided = {**taught[2], 0: None, 2: None}
    picks = queue(order, taught, eligible=eligible, decided=decided, n=N)
    assert picks
    assert all(eligible[pick.candidate] and pick.candidate not in decided for pick in picks)


@pytest.mark.parametrize("order", ["informative", "probable", "document", "random"])
def test_a_queue_ends_with_the_candidates(order, taught):
    eligible = np.zeros(N, dtype=bool)
    eligible[[1, 5, 9]] = True
    picks = queue(order, taught, eligible=eligible, decided={5: NONE})
    assert sorted(pick.candidate for pick in picks) == [1, 9]
    assert queue(order, taught, eligible=np.zeros(N, dtype=bool)) == []


@pytest.mark.parametrize("order", ORDERS)
def test_orders_work_without_a_model(order):
    picks = queue(order, (new_teacher(), None, {}))
    assert [pick.weight for pick in picks] == [1.0 if order == "random" else None] * len(picks)
    assert len(picks) == (0 if order in ("doubtful", "disagreement") else 12)


def test_an_unknown_order_is_refused(taught):
    with pytest.raises(KernelInputError, match="unknown order 'best'; orders: informative, "):
        queue("best", taught)


def test_every_fifth_decision_is_a_check(taught):
    places = [n for n in range(43, 60) if n % 5 == 4]
    picks = queue("informative", taught, n=17, n_decisions=43)
    assert [43 + n for n, pick in enumerate(picks) if pick.reason == "check"] == places
    assert all((pick.weight is not None) == (pick.reason == "check") for pick in picks)
    assert {pick.reason for pick in picks} == {"check", "informative"}


def test_the_first_check_does_not_depend_on_the_length_of_the_queue(taught):
    short, long = queue("informative", taught, n=5), queue("informative", taught, n=12)
    assert short[4].reason == long[4].reason == "check" and short[4] == long[4]


def test_checks_are_drawn_with_the_probability_of_their_weight(taught):
    _, model, _ = taught
    left = np.zeros(N, dtype=bool)
    left[:30] = True
    drawn = [orders.draw_check(model, left, 0, place) for place in range(3000)]
    counts = np.bincount([pick.candidate for pick in drawn], minlength=30)
    chances = {pick.candidate: 1 / (30 * pick.weight) for pick in drawn}
    assert sum(chances.values()) == pytest.approx(1.0) and len(counts) == 30
    spread = orders.deviations(model)[:30]
    for row, chance in chances.items():
        assert abs(counts[row] - 3000 * chance) < 5 * np.sqrt(3000 * chance)
        share = spread[row] / spread.sum()
        assert chance == pytest.approx(0.5 / 30 + 0.5 * share)  # half of the draws are uniform


def test_checks_prefer_what_decides_on_f1():
    chances = np.array([0.01, 0.3, 0.6, 0.99])
    made = np.stack([chances, 1 - chances], axis=1).astype(np.float32)
    model = TeachingModel(1, 2, ("A", NONE), made, 0.5)
    f1 = 2 * 1.59 / (2 + chances.sum())
    expected = [
        np.sqrt(0.01) * f1 / 2,
        np.sqrt(0.3) * f1 / 2,
        np.sqrt(0.6 * (1 - f1) ** 2 + 0.4 * f1**2 / 4),
        np.sqrt(0.99 * (1 - f1) ** 2 + 0.01 * f1**2 / 4),
    ]
    np.testing.assert_allclose(orders.deviations(model), expected, rtol=1e-5)


def test_first_picks_come_before_there_is_a_model():
    teacher = new_teacher()
    picks = queue("informative", (teacher, None, {}), n=25, n_decisions=0)
    first = teacher.first_picks(20)
    assert [pick.candidate for pick in picks[:20]] == first
    assert {pick.reason for pick in picks} == {"diverse"}
    later = queue("informative", (teacher, None, {}), decided={first[0]: NONE}, n=3, n_decisions=1)
    assert [pick.candidate for pick in later] == first[1:4]


def plain_choice(teacher, model, left, n, seed, n_decisions):
    """Return informative candidates by relearning the covariance after each."""
    rows = np.flatnonzero(left)
    doubt = orders.uncertainty(model)
    short = sorted(rows.tolist(), key=lambda row: (-doubt[row], row))[: orders._SHORTLIST]
    rng = orders.child_generator(seed, orders._REFERENCE, n_decisions)
    sample = rng.choice(rows, min(orders._SAMPLE, len(rows)), replace=False).tolist()
    both = [*short, *sample]
    start = teacher.covariances(model, both)
    chosen = []
    for _ in range(n):
        at = [short.index(row) for row in chosen]
        inverse = np.linalg.inv(start[np.ix_(at, at)] + orders._NOISE * np.eye(len(at)))
        errors = start - start[:, at] @ inverse @ start[at]
        values = {}
        for place, row in enumerate(short):
            gains = errors[place, len(short) :] ** 2 / (errors[place, place] + orders._NOISE)
            values[row] = doubt[row] * (gains * doubt[sample]).sum()
        chosen.append(max((row for row in short if row not in chosen), key=lambda row: values[row]))
    return chosen


def test_informative_candidates_are_the_greedy_choice(taught):
    teacher, model, labels = taught
    left = np.ones(N, dtype=bool)
    left[list(labels)] = False
    found = orders.choose_informative(teacher, model, left, 6, 0, 40)
    assert found == plain_choice(teacher, model, left, 6, 0, 40)


def test_copies_of_a_pick_are_not_picked_next(taught):
    teacher, model, labels = taught
    left = np.ones(N, dtype=bool)
    left[list(labels)] = False
    first, second = orders.choose_informative(teacher, model, left, 2, 0, 40)
    similar = teacher.rows([first])[0]
    assert similar[second] < 0.9 * similar[first]


def test_uncertain_is_a_small_margin_close_to_the_threshold():
    chances = np.array([[0.5, 0.4, 0.1], [0.0, 1.0, 0.0], [0.2, 0.1, 0.7]], dtype=np.float32)
    model = TeachingModel(1, 2, ("A", "B", NONE), chances, 0.2)
    odds = 0.25 / 1.0  # of the threshold, by those of the first candidate
    expected = [np.sqrt(0.9 * odds), 0.0, np.sqrt(0.5)]
    np.testing.assert_allclose(orders.uncertainty(model), expected, atol=1e-3)


def test_a_stored_model_makes_a_queue_too(taught):
    teacher, model, labels = taught
    stored = TeachingModel(1, 40, model.classes, model.probabilities, model.threshold)
    picks = queue("informative", (teacher, stored, labels))
    assert len(picks) == 12 and picks[0].reason == "informative"


def test_probable_candidates_come_in_the_order_of_probability(taught):
    _, model, labels = taught
    _, best = model.relations()
    rows = [row for row in range(N) if row not in labels]
    expected = sorted(rows, key=lambda row: (-best[row], row))[:12]
    assert [pick.candidate for pick in queue("probable", taught)] == expected


def test_documents_are_read_in_the_order_of_the_text(taught):
    rows = [row for row in range(N) if row not in taught[2]][:12]
    assert queue("document", taught) == [orders.Pick(row, "document", None) for row in rows]


def small_model():
    chances = np.array(
        [[0.9, 0.05, 0.05], [0.2, 0.1, 0.7], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]], dtype=np.float32
    )
    return TeachingModel(1, 4, ("A(e1,e2)", "A(e2,e1)", NONE), chances, 0.5)


def small_queue(order, decided, annotation):
    eligible = np.ones(4, dtype=bool)
    picks = make_queue(
        order, None, small_model(), decided=decided, annotation=annotation, eligible=eligible,
        n=9, seed=0, n_decisions=0,
    )  # fmt: skip
    return [pick.candidate for pick in picks]


def test_doubtful_are_accepted_relations_by_probability():
    decided = {0: "A(e1,e2)", 1: "A(e1,e2)", 2: "A(e1,e2)", 3: NONE}
    assert small_queue("doubtful", decided, [None] * 4) == [2, 1, 0]
    annotation = ["A(e1,e2)", NONE, "A(e1,e2)", "B"]
    assert small_queue("doubtful", {0: None}, annotation) == [3, 2]


def test_disagreement_with_annotation():
    annotation = ["A(e2,e1)", NONE, NONE, "A(e1,e2)"]
    assert small_queue("disagreement", {}, annotation) == [0, 2, 3]
    assert small_queue("disagreement", {2: NONE}, annotation) == [0, 3]
    assert small_queue("disagreement", {}, ["A", None, None, "B"]) == [3]


def test_random_candidates_have_the_same_weight(taught):
    picks = queue("random", taught)
    assert {(pick.reason, pick.weight) for pick in picks} == {("random", 1.0)}
    assert picks != queue("random", taught, seed=1)
