"""Training and testing a model."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import kernelwood as kw
from kernelwood import evaluate
from kernelwood.datasets import load_questions
from kernelwood.errors import KernelInputError

QUESTIONS = kw.batch(load_questions())
TREES, LABELS = QUESTIONS.view("tree"), QUESTIONS.labels
SST = SVC(kernel=kw.SubsetTreeKernel(), C=10)
RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(60, 2))
SIDES = np.where(POINTS[:, 0] + 0.5 * RNG.normal(size=60) > 0, "right", "left")


class Remembering(ClassifierMixin, BaseEstimator):
    """Predicts a label; tells the test what it was given."""

    def __init__(self, answer="a"):
        self.answer = answer

    def fit(self, X, y):
        LOG.append((list(X), list(y)))
        self.fitted_ = True
        return self

    def predict(self, X):
        return [self.answer] * len(X)


LOG: list[tuple[list, list]] = []


@pytest.fixture(autouse=True)
def empty_log():
    LOG.clear()


def test_predictions_are_those_of_scikit_learn():
    splitter = StratifiedKFold(4)
    result = evaluate.cross_validate(SST, TREES, LABELS, splits=splitter, n_bootstrap=10)
    assert list(result.y_pred) == cross_val_predict(SST, TREES, LABELS, cv=splitter).tolist()


def test_predictions_are_in_the_order_of_the_examples():
    result = evaluate.cross_validate(SST, TREES, LABELS, splits=3, n_bootstrap=10)
    assert result.indices.tolist() == list(range(120)) and list(result.y_true) == LABELS
    for run in result.runs:
        assert [result.y_pred[i] for i in run.indices] == list(run.y_pred)


def test_overall_scores_are_those_of_all_predictions():
    result = evaluate.cross_validate(SST, TREES, LABELS, splits=3, positive=["LOC", "HUM"])
    expected = evaluate.score(LABELS, result.y_pred, positive=["LOC", "HUM"])
    assert result.scores == expected


def test_the_mean_is_that_of_the_runs():
    result = evaluate.cross_validate(SST, TREES, LABELS, splits=3, n_bootstrap=0)
    accuracies = [
        np.mean([LABELS[i] == label for i, label in zip(run.indices, run.y_pred, strict=True)])
        for run in result.runs
    ]
    spread = result.over_runs["accuracy"]
    assert spread.mean == pytest.approx(np.mean(accuracies))
    assert spread.deviation == pytest.approx(np.std(accuracies, ddof=1))


@pytest.mark.parametrize(
    "structures", [list(load_questions()), QUESTIONS, tuple(load_questions())], ids=type
)
def test_lists_and_batches_of_examples_bring_their_labels(structures):
    result = evaluate.cross_validate(Remembering(answer="LOC"), structures, splits=2)
    assert list(result.y_true) == LABELS and result.scores["LOC"].recall == 1


def test_a_list_is_learned_from_as_a_list():
    evaluate.cross_validate(
        Remembering(), ["x", "y", "z"], list("aab"), splits=[([0, 2], [1])], n_bootstrap=0
    )
    assert LOG == [(["x", "z"], ["a", "b"])]


def test_arrays_are_sliced_by_rows():
    model = make_pipeline(StandardScaler(), SVC())
    assert evaluate.cross_validate(model, POINTS, SIDES).scores.accuracy > 0.7


def test_the_model_itself_is_not_changed():
    model = Remembering()
    evaluate.cross_validate(model, ["x", "y"] * 4, list("ab") * 4, splits=2)
    evaluate.train_and_test(model, ["x"], ["a"], ["y"], ["a"])
    assert not hasattr(model, "fitted_")


def test_a_fitted_model_stays_fitted_on_what_it_was():
    model = clone(SST).fit(TREES[:30], LABELS[:30])
    before = model.predict(TREES).tolist()
    evaluate.cross_validate(model, TREES, LABELS, splits=2, n_bootstrap=0)
    assert model.predict(TREES).tolist() == before


def test_kernel_evaluations_of_fitting_and_predicting_are_counted():
    result = evaluate.train_and_test(SST, TREES[:40], LABELS[:40], TREES[40:50], LABELS[40:50])
    with kw.compute.counting() as fitting:
        model = clone(SST).fit(TREES[:40], LABELS[:40])
    with kw.compute.counting() as predicting:
        model.predict(TREES[40:50])
    assert result.fitting.kernel_evaluations == fitting.kernel_evaluations > 0
    assert result.predicting.kernel_evaluations == predicting.kernel_evaluations > 0


def test_costs_of_runs_add_up():
    result = evaluate.cross_validate(SST, TREES, LABELS, splits=3, n_bootstrap=0)
    total = sum(run.fitting.kernel_evaluations for run in result.runs)
    assert result.fitting.kernel_evaluations == total
    assert result.over_runs["fit_kernel_evaluations"].mean == pytest.approx(total / 3)
    assert result.fitting.seconds > 0 and result.predicting.seconds > 0


def test_groups_are_never_on_both_sides():
    groups = np.arange(60) // 5
    result = evaluate.cross_validate(SVC(), POINTS, SIDES, groups=groups)
    for run in result.runs:
        tested = set(groups[run.indices])
        assert not tested & set(groups[np.setdiff1d(np.arange(60), run.indices)])


def test_groups_make_the_intervals():
    groups = np.arange(60) // 5
    result = evaluate.cross_validate(SVC(), POINTS, SIDES, groups=groups)
    assert result.scores == evaluate.score(SIDES, result.y_pred, groups=groups)


def test_splits_that_cut_groups_are_refused():
    with pytest.raises(KernelInputError, match=r"splits\[0\]: the group of example 1 is in both"):
        evaluate.cross_validate(
            SVC(), POINTS[:4], SIDES[:4], groups=[0, 1, 1, 2], splits=[([0, 1], [2, 3])]
        )


def test_equal_seeds_give_equal_results():
    first, again = (evaluate.cross_validate(SVC(), POINTS, SIDES, random_state=4) for _ in range(2))
    assert first.y_pred == again.y_pred and first.scores == again.scores
    assert [run.indices.tolist() for run in first.runs] == [
        run.indices.tolist() for run in again.runs
    ]


def test_different_seeds_make_different_parts():
    first, other = (
        evaluate.cross_validate(SVC(), POINTS, SIDES, random_state=s).runs[0] for s in (4, 5)
    )
    assert first.indices.tolist() != other.indices.tolist()


def test_only_what_was_tested_counts():
    result = evaluate.cross_validate(
        Remembering(), list("xyz"), list("aab"), splits=[([0, 2], [1])], n_bootstrap=0
    )
    assert (result.indices.tolist(), result.scores.n_examples, result.scores.accuracy) == (
        [1],
        1,
        1,
    )


def test_classes_that_only_training_knows_do_not_lower_the_average():
    result = evaluate.train_and_test(Remembering(), ["x"] * 3, ["a", "b", "c"], ["x"], ["a"])
    assert [each.label for each in result.scores.classes] == ["a"] and result.scores.macro.f1 == 1


def test_named_classes_are_all_in_the_table():
    result = evaluate.train_and_test(
        Remembering(), ["x"], ["a"], ["x"], ["a"], classes=["b", "a"], n_bootstrap=0
    )
    assert [each.label for each in result.scores.classes] == ["b", "a"]


def test_a_positive_class_may_be_missing_from_a_part():
    result = evaluate.cross_validate(
        Remembering(),
        list("wxyz"),
        list("aaab"),
        splits=[([0, 3], [1]), ([0, 1], [2, 3])],
        positive="b",
        n_bootstrap=0,
    )
    assert [run.scores["b"].support for run in result.runs] == [0, 1]


def test_a_label_that_was_never_seen_may_be_predicted():
    result = evaluate.train_and_test(Remembering(answer="new"), ["x"], ["a"], ["x"], ["a"])
    assert [each.label for each in result.scores.classes] == ["a", "new"]


def test_labels_of_any_length_reach_the_model_unharmed():
    labels = ["a\0", "b" * 1000]
    evaluate.train_and_test(Remembering(), ["x", "y"], labels, ["x"], ["a"], n_bootstrap=0)
    assert LOG[0][1] == labels


def test_seeds_are_repeated_runs():
    model = DecisionTreeClassifier(max_features=1, splitter="random")
    data = POINTS[:40], SIDES[:40], POINTS[40:], SIDES[40:]
    result = evaluate.train_and_test(model, *data, random_states=range(6))
    expected = [
        clone(model).set_params(random_state=seed).fit(*data[:2]).predict(data[2]).tolist()
        for seed in range(6)
    ]
    assert [list(run.y_pred) for run in result.runs] == expected
    assert result.over_runs["accuracy"].deviation > 0
    assert result.scores.accuracy == pytest.approx(result.over_runs["accuracy"].mean)


def test_seeds_reach_the_parts_of_a_pipeline():
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier(splitter="random"))
    data = POINTS[:40], SIDES[:40], POINTS[40:], SIDES[40:]
    first, again = (
        evaluate.train_and_test(model, *data, random_states=[3, 4]).y_pred for _ in range(2)
    )
    assert first == again


def test_repetition_does_not_narrow_the_intervals():
    data = POINTS[:40], SIDES[:40], POINTS[40:], SIDES[40:]
    model = DecisionTreeClassifier(max_depth=1, random_state=0)
    once = evaluate.train_and_test(model, *data).scores.accuracy
    often = evaluate.train_and_test(model, *data, random_states=[0] * 20).scores.accuracy
    assert often.high - often.low == pytest.approx(once.high - once.low, abs=0.06)


def test_a_cross_corpus_split_is_trained_and_tested():
    corpora = {"even": (TREES[::2], LABELS[::2]), "odd": (TREES[1::2], LABELS[1::2])}
    results = [
        evaluate.train_and_test(DummyClassifier(), *split.data, n_bootstrap=0)
        for split in evaluate.cross_corpus(corpora)
    ]
    assert [result.scores.n_examples for result in results] == [60, 60]


def test_progress_tells_the_parts():
    seen = []
    evaluate.cross_validate(
        SVC(), POINTS, SIDES, splits=3, progress=lambda *now: seen.append(now), n_bootstrap=0
    )
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_nothing_is_printed(capfd):
    print_free = evaluate.cross_validate(SVC(), POINTS, SIDES, splits=3)
    assert str(print_free) and capfd.readouterr() == ("", "")


def test_json_reads_back_as_the_dictionary():
    result = evaluate.cross_validate(SST, TREES, LABELS, splits=3, n_bootstrap=np.int64(20))
    assert json.loads(result.to_json()) == result.to_dict()


def test_the_table_shows_model_scores_and_costs():
    text = str(evaluate.cross_validate(SST, TREES, LABELS, splits=3))
    for part in ("SVC(C=10", "macro average", "mean ± deviation of 3 runs", "kernel evaluations"):
        assert part in text


def test_metrics_that_say_the_same_are_not_repeated_in_the_table():
    lines = str(evaluate.cross_validate(SVC(), POINTS, SIDES, positive="left")).splitlines()
    names = [line.split("  ")[0] for line in lines[lines.index("") :]]
    assert "recall" in names and "macro recall" not in names


def test_html_is_escaped():
    model = Remembering(answer="<script>")
    html = evaluate.train_and_test(model, ["x"], ["a"], ["x"], ["a"])._repr_html_()
    assert "<script" not in html and html.count("<table") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": list("ab")}, "y has 2 labels, but X has 4 examples"),
        ({"y": None}, "y is None, but X does not consist of examples"),
        ({"X": [], "y": []}, "X is empty"),
        ({"X": "wxyz"}, "X must be a batch, a list of structures or an array"),
        ({"X": 3}, "X must be a batch"),
        ({"model": SVC}, r"model is the class SVC; give SVC\(...\)"),
        ({"model": "svm"}, "model must be an estimator.*'svm' of type str has no fit"),
        (
            {"splits": 9},
            "9 splits need at least 9 examples, but there are only 4; use at most 4",
        ),
        ({"splits": 1}, "number of splits must be"),
        ({"splits": 3}, "the largest class has 2 examples, too few for 3 folds"),
        ({"splits": "many"}, "splits must be a number of folds or a list"),
        ({"groups": [1, 2]}, "groups has 2 entries"),
        ({"groups": [1, 2, 2, 2], "splits": 4}, "4 splits need at least 4 groups"),
        ({"groups": [1, 1, 1, 1]}, "all examples are in one group"),
        ({"positive": "z"}, "positive: 'z' is not among the classes"),
        ({"classes": ["a"]}, r"y\[1\] is 'b', which is not among the classes"),
        ({"n_bootstrap": -1}, "n_bootstrap must be an int of at least 0"),
        ({"random_state": "x"}, "random_state must be"),
    ],
)
def test_a_bad_argument_is_named_before_anything_is_trained(arguments, message):
    settings = {"model": Remembering(), "X": list("wxyz"), "y": list("abab"), "splits": 2}
    with pytest.raises(KernelInputError, match=message):
        evaluate.cross_validate(**{**settings, **arguments})
    assert LOG == []


def test_a_model_without_a_seed_is_not_repeated():
    with pytest.raises(KernelInputError, match="Remembering has no parameter random_state"):
        evaluate.train_and_test(Remembering(), ["x"], ["a"], ["x"], ["a"], random_states=[1, 2])


def test_no_seeds_are_refused():
    with pytest.raises(KernelInputError, match="random_states is empty"):
        evaluate.train_and_test(SVC(), POINTS, SIDES, POINTS, SIDES, random_states=[])


def test_too_few_predictions_are_named():
    class Short(Remembering):
        def predict(self, X):
            return ["a"]

    with pytest.raises(KernelInputError, match="test: the model made 1 predictions for 2 examples"):
        evaluate.train_and_test(Short(), ["x"], ["a"], ["x", "y"], ["a", "a"])


def test_an_error_of_a_fold_names_the_fold_and_the_class_that_it_lacks():
    words = [kw.Sequence(list(text)) for text in ("ab", "abc", "ac", "bd", "bde", "zz")]
    model = kw.KernelSVC(kw.SubsequenceKernel())
    with pytest.raises(
        KernelInputError,
        match=r"^fold \d: KernelSVC: .* none of the class 'rare', which has 1 in all",
    ):
        evaluate.cross_validate(model, words, ["often"] * 5 + ["rare"], splits=2)


def test_other_errors_of_a_fold_stay_as_they_are():
    words = [kw.Sequence(list(text)) for text in ("ab", "abc", "ac", "bd")]
    model = kw.KernelNeighborsClassifier(kw.SubsequenceKernel(), n_neighbors=9)
    with pytest.raises(KernelInputError, match=r"^KernelNeighborsClassifier: n_neighbors=9"):
        evaluate.cross_validate(model, words, ["a", "b", "a", "b"], splits=2)
