"""F1 by number of labels: samples, baselines and figures, on sentences made for it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "papers"))
sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import label_efficiency
from label_models import corpora
from label_models.corpora import Corpus, Words, f1, held_out, make_corpus, ordered
from label_models.methods import (
    Regression,
    marked_words,
    most_frequent,
    recipe_method,
    text_method,
    vector_method,
)
from label_models.vectors import glove_vectors, marked_vectors, segments
from tables import Row
from tables.gates_paths import TABLE as GATES
from tables.label_efficiency import TABLE
from tables.questions import TABLE as QUESTIONS

VERBS = {"binds": 1, "activates": 1, "resembles": 0, "precedes": 0}


def sentence(verb: str, holds: bool) -> kw.Sentence:
    words = ["Raf", verb, "Ras", "here"]
    start = len(f"Raf {verb} ")
    raf = kw.text.Entity("e0", "protein", ((0, 3),), "Raf")
    ras = kw.text.Entity("e1", "protein", ((start, start + 3),), "Ras")
    arguments = tuple(kw.text.Argument("", end) for end in ("e0", "e1"))
    return kw.Sentence.from_words(
        words,
        dependencies=[(1, "nsubj", 0), (1, "dobj", 2), (1, "advmod", 3)],
        entities=[raf, ras],
        relations=[kw.text.Relation("p0", "interaction", arguments, holds)],
    )


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Return 30 documents of four sentences; verbs tell which pairs interact."""
    made = [
        kw.Example(f"d{at:02}.s{i}", views={"sentence": sentence(verb, bool(holds))})
        for at in range(30)
        for i, (verb, holds) in enumerate(VERBS.items())
    ]
    return make_corpus("aimed", made)


@pytest.fixture(scope="module")
def split(corpus: Corpus) -> tuple[Any, Any]:
    test = held_out(corpus)
    return ordered(corpus, test, 8, seed=0), np.flatnonzero(test)


def test_pairs_have_classes_documents_and_words(corpus: Corpus) -> None:
    assert len(corpus) == 120
    assert corpus.classes[:4].tolist() == ["relation", "relation", "none", "none"]
    assert len(set(corpus.documents.tolist())) == 30
    assert corpus.words[0] == Words([], ["ENTITY1", "binds", "ENTITY2"], ["here"], ([], []))


def test_held_out_are_whole_documents_and_always_the_same(corpus: Corpus) -> None:
    test = held_out(corpus)
    assert len(set(corpus.documents[test].tolist())) == 9
    assert not set(corpus.documents[test].tolist()) & set(corpus.documents[~test].tolist())
    assert (test == held_out(corpus)).all()


@given(st.integers(0, 100))
def test_samples_are_documents_in_random_order_with_both_classes(corpus: Corpus, seed: int) -> None:
    test = held_out(corpus)
    order = ordered(corpus, test, 6, seed)
    assert sorted(order.tolist()) == np.flatnonzero(~test).tolist()
    assert len(set(corpus.classes[order[:6]].tolist())) == 2
    documents = corpus.documents[order]
    assert (np.diff(documents) != 0).sum() == len(set(documents.tolist())) - 1


def test_orders_differ_by_seed(corpus: Corpus) -> None:
    test = held_out(corpus)
    one, other = (ordered(corpus, test, 6, seed).tolist() for seed in (0, 1))
    assert one != other


def test_samples_that_cannot_have_both_classes_are_refused(corpus: Corpus) -> None:
    test = ~(corpus.classes == "none")
    with pytest.raises(ValueError, match="larger --sizes"):
        ordered(corpus, test, 6, seed=0)


def test_f1_of_relations_counts_the_positive_class(corpus: Corpus) -> None:
    true = np.array(["relation", "relation", "none", "none"])
    predicted = np.array(["relation", "none", "relation", "none"])
    assert f1(corpus, true, predicted) == 0.5


def test_macro_f1_is_that_of_the_task(corpus: Corpus) -> None:
    columns = ("candidates", "table", "documents", "classes", "words")
    many = Corpus("semeval", *(getattr(corpus, name) for name in columns))
    true = np.array(["A(e1,e2)", "A(e2,e1)", "A(e1,e2)", "B(e1,e2)", "none"])
    predicted = np.array(["A(e1,e2)", "A(e1,e2)", "none", "B(e1,e2)", "B(e2,e1)"])
    # A: 1 right of 2 predicted and 3 annotated; B: 1 right of 2 predicted and 1 annotated.
    assert f1(many, true, predicted) == pytest.approx((2 / 5 + 2 / 3) / 2)
    assert f1(many, true, np.full(5, "none")) == 0.0


@pytest.mark.parametrize("method", [recipe_method("svm"), recipe_method("ridge"), text_method()])
def test_methods_learn_what_verbs_mean(corpus: Corpus, split: Any, method: Any) -> None:
    order, test = split
    assert f1(corpus, corpus.classes[test], method(corpus, order[:40], test, 0)) == 1.0


def test_methods_see_the_labels_of_their_sample_only(corpus: Corpus, split: Any) -> None:
    order, test = split
    changed = corpus.classes.copy()
    hidden = np.setdiff1d(np.arange(len(corpus)), order[:40])
    changed[hidden] = "none"
    candidates = corpus.candidates.take(range(len(corpus)))
    candidates.labels = changed.tolist()
    blind = Corpus("aimed", candidates, corpus.table, corpus.documents, changed, corpus.words)
    for method in (recipe_method("ridge"), text_method()):
        found = [method(one, order[:40], test, 0).tolist() for one in (corpus, blind)]
        assert found[0] == found[1]


class Signed:
    """A model whose scores are the features times its strength."""

    def __init__(self, strength: float) -> None:
        self.strength = strength

    def fit(self, X: Any, y: Any) -> Signed:
        return self

    def decision_function(self, X: Any) -> Any:
        return self.strength * X


def known_classes(corpus: Corpus) -> Any:
    """Return a number that tells the class."""
    return np.where(corpus.classes == "none", -1.0, 1.0)


@pytest.mark.parametrize("strengths", [(-1.0, 1.0), (1.0, -1.0)])
def test_a_regression_takes_the_strength_with_the_best_held_out_f1(
    corpus: Corpus, split: Any, strengths: tuple[float, float]
) -> None:
    order, test = split
    chosen = Regression(Signed, strengths, known_classes)
    assert f1(corpus, corpus.classes[test], chosen(corpus, order[:40], test, 0)) == 1.0


def test_a_regression_scores_classes_that_a_fold_lacks_lowest(corpus: Corpus, split: Any) -> None:
    order, test = split
    one = [row for row in order.tolist() if corpus.classes[row] == "relation"][:1]
    none = [row for row in order.tolist() if corpus.classes[row] == "none"][:6]
    method = Regression(Signed, (1.0,), known_classes)
    names, X = np.array(["none", "relation"]), np.array([1.0, -1.0])
    alone = method._scores(1.0, X, np.array(["none", "none"]), names, X)
    assert alone.tolist() == [[0.0, -20.0], [0.0, -20.0]]
    both = method._scores(1.0, X, names, names, X)
    assert both.tolist() == [[-0.5, 0.5], [0.5, -0.5]]
    found = text_method()(corpus, np.array(one + none), test, 0)
    assert set(found.tolist()) <= {"relation", "none"}


def test_the_most_frequent_relation_is_predicted_everywhere(corpus: Corpus, split: Any) -> None:
    order, test = split
    assert set(most_frequent(corpus, order[:8], test, 0).tolist()) == {"relation"}


def test_words_are_marked_with_their_part() -> None:
    words = Words(["we"], ["ENTITY1", "in", "ENTITY2"], [], (["cells"], []))
    assert marked_words(words) == (
        "before:we between:ENTITY1 between:in between:ENTITY2 first:cells"
    )


def test_static_vectors_are_means_of_the_parts(corpus: Corpus, split: Any) -> None:
    vectors = kw.Vectors([*VERBS, "here"], np.eye(5))
    found = glove_vectors(corpus, vectors)
    assert found.shape == (120, 25)
    assert found[0].nonzero()[0].tolist() == [5 + 0, 10 + 4]
    order, test = split
    learned = vector_method(lambda corpus: glove_vectors(corpus, vectors))
    assert f1(corpus, corpus.classes[test], learned(corpus, order[:40], test, 0)) == 1.0


def test_entities_are_marked_for_the_transformer() -> None:
    words = Words(["we"], ["ENTITY1", "in", "ENTITY", "ENTITY2"], ["."], (["cells"], []))
    assert list(segments(words)) == [
        (0, "we"), (1, "@ cells @"), (0, "in protein"), (2, "# protein #"), (0, "."),
    ]  # fmt: skip


class Counting:
    """A transformer whose states are the numbers of tokens: lengths of words."""

    def __init__(self) -> None:
        self.calls = 0

    def tokenize(self, text: str) -> list[int]:
        return [100, *(len(word) for word in text.split()), 200]

    def states(self, tokens: list[int]) -> Any:
        self.calls += 1
        return np.array(tokens, dtype=np.float32)[:, None]


def test_marked_vectors_are_means_over_all_and_each_entity(corpus: Corpus, tmp_path: Path) -> None:
    model = Counting()
    found = marked_vectors(corpus, model, tmp_path)
    # [100] @ protein @ binds # protein # here [200]
    everything = [100, 1, 7, 1, 5, 1, 7, 1, 4, 200]
    assert found[0].tolist() == pytest.approx([np.mean(everything), 3.0, 3.0])
    assert model.calls == 120
    assert (marked_vectors(corpus, model, tmp_path) == found).all()
    assert model.calls == 120


def test_events_make_pairs_of_trigger_and_protein() -> None:
    text = "Raf activates Ras , not Rac ."
    entities = [
        ("T1", "Protein", [(0, 3)]), ("T2", "Protein", [(14, 17)]), ("T3", "Protein", [(24, 27)]),
        ("T4", "Positive_regulation", [(4, 13)]),
    ]  # fmt: skip
    arguments = (kw.text.Argument("Theme", "T2"), kw.text.Argument("Cause", "T1"))
    events = [kw.text.Event("E1", "Positive_regulation", "T4", arguments)]
    document = kw.Document(text, entities, events=events)
    made = [kw.Example(f"d{at}", views={"document": document}) for at in range(3)]
    corpus = make_corpus("bionlp", made)
    assert corpus.classes.tolist() == 3 * ["relation", "relation", "none"]
    assert corpus.words[1].entities == (["activates"], [])
    assert corpus.words[0].between == ["ENTITY1", "ENTITY2"]


def test_sizes_beyond_the_corpus_become_all_candidates() -> None:
    assert label_efficiency.reachable([25, 2000, 5000], 3744) == [25, 2000, 3744]
    assert label_efficiency.reachable([5000, 9000], 3744) == [3744]


@pytest.fixture
def program(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    """Return a function that runs the program and returns what it printed."""
    monkeypatch.setattr(label_efficiency, "read_corpus", lambda name, data: corpus)

    def call(*options: str) -> str:
        monkeypatch.setattr(sys, "argv", ["label_efficiency.py", "--corpora", "aimed", *options])
        label_efficiency.main()
        return capsys.readouterr().out

    return call


def test_the_program_prints_means_with_intervals(program: Any) -> None:
    options = ("--methods", "tf-idf", "all", "--sizes", "8", "40", "--seeds", "2", "--json")
    found = json.loads(program(*options))
    assert [(row["method"], row["labels"]) for row in found] == [
        ("tf-idf", 8), ("tf-idf", 40), ("all", 8), ("all", 40),
    ]  # fmt: skip
    assert found[1]["f1"] == 1.0
    assert found[1]["interval"] == 0.0
    assert found[1]["seeds"] == 2
    assert found[1]["n_test"] == 36


def test_the_program_draws_and_shows(program: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "figure.svg"
    shown = program("--methods", "all", "--quick", "--sizes", "8", "--plot", str(path))
    assert "0.667" in shown
    assert path.read_text(encoding="utf-8").startswith("<?xml")


def test_methods_that_lack_something_are_left_out(
    program: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(label_efficiency, "load_transformer", lambda: None)
    made = label_efficiency.make_method("minilm", None)
    assert isinstance(made, str)
    assert "pip install" in made
    made = label_efficiency.make_method("glove", str(tmp_path))
    assert made == f"the data lack {label_efficiency.GLOVE}"
    shown = program("--methods", "minilm", "all", "--sizes", "8", "--seeds", "1", "--json")
    assert {row["method"] for row in json.loads(shown)} == {"all"}


def test_every_corpus_is_named_in_the_table() -> None:
    needed = {*corpora.FILES.values(), label_efficiency.GLOVE}
    assert set(TABLE.data) == needed


# Rows of published tables.


def test_rows_of_label_efficiency_say_where_recipes_lose() -> None:
    def one(method: str, labels: int, value: float) -> dict[str, Any]:
        return {"corpus": "aimed", "measure": "F1", "method": method, "labels": labels,
                "f1": value, "interval": 0.01}  # fmt: skip

    found = [one("svm", 25, 0.3), one("svm", 1000, 0.6), one("glove", 25, 0.4),
             one("glove", 1000, 0.5), one("all", 25, 0.9), one("all", 1000, 0.9)]  # fmt: skip
    measure = "F1 with 25 / 1,000 labels"
    assert TABLE.rows(found) == [
        Row("AIMed, best recipe minus best other method", measure, "-0.100 / +0.100",
            headline=True),
        Row("AIMed, svm", measure, "0.300 ± 0.010 / 0.600 ± 0.010"),
        Row("AIMed, glove", measure, "0.400 ± 0.010 / 0.500 ± 0.010"),
        Row("AIMed, all", measure, "0.900 ± 0.010 / 0.900 ± 0.010"),
    ]  # fmt: skip


def test_rows_of_gates_have_gains_beside_the_published_ones() -> None:
    def one(seed: int, half: int, variant: str, value: float) -> dict[str, Any]:
        return {"corpus": "AIMed", "seed": seed, "half": half, "variant": variant,
                "model": "KLSH-kNN", "f1": value, "f1_voted": value, "gated": [], "ignored": [],
                "cpu_seconds": 1.0, "kernel_evaluations": 1, "p_value": None}  # fmt: skip

    found = [one(seed, half, *rest) for seed in (0, 1) for half in (0, 1)
             for rest in (("plain", 0.4), ("paper", 0.41 + 0.01 * seed))]  # fmt: skip
    plain, gated, gain = GATES.rows(found)
    assert (plain.ours, gated.ours) == ("40.0", "41.5")
    assert gain == Row("AIMed, KLSH-kNN, gates by `paper`", "gain of F1, points", "+1.5 ± 6.4",
                       "BioNLP: +4.8", headline=True)  # fmt: skip
    assert "not comparable" in GATES.protocol


def test_rows_of_questions_have_those_of_kelp() -> None:
    machine = {"kernel": "PTK", "C": 3.0, "class weight": "none", "accuracy": 90.2, "KeLP": 91.0}
    balanced = {**machine, "class weight": "balanced", "accuracy": 91.0, "KeLP": None}
    neighbor = {"candidates": "all", "bits": None, "of N^1.6": 2.86, "accuracy": 79.4, "±": 0.0}
    assert QUESTIONS.rows({"machines": [machine, balanced], "neighbors": [neighbor]}) == [
        Row("PTK, C = 3", "accuracy, %", "90.2", "91.0", headline=True),
        Row("PTK, C = 3, balanced classes", "accuracy, %", "91.0"),
        Row("8 neighbors, SST, exact, candidates: all", "accuracy, %; kernel evaluations",
            "79.4 ± 0.0, 2.86 of N^1.6"),
    ]  # fmt: skip
