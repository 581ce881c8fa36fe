"""The experiment on protein interactions, on sentences small enough to check by hand."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "papers"))

import ppi
from interactions.corpora import Corpus, read_corpus, shared
from interactions.experiment import Laboratory
from interactions.filters import RULES, counts, kept_pairs
from interactions.matrices import Matrices, numbered, structures
from interactions.models import Model, Scores, balanced_bits, fit_scores, scores_of, undersample
from interactions.plan import GRIDS, GROUPS, PAPER, choose, planned
from interactions.points import (
    CALLED,
    LABELED,
    Held,
    at_rate,
    held_out_figures,
    labeled_predictions,
    mean_figures,
    ranking,
    unlabeled_predictions,
)
from interactions.quantification import adjusted_count, estimate_rates, expectation_maximization
from interactions.recipes import RECIPES, recipe_row
from interactions.representation import (
    PATH,
    REPRESENTATIONS,
    described_name,
    described_names,
    without_cycles,
)
from interactions.thresholds import Rates, choose_thresholds, rates
from tables import hashcodes_ppi

VERBS = {"binds": 1, "activates": 1, "resembles": 0, "precedes": 0}
VECTORS = kw.Vectors(
    list(VERBS), [[1.0, 0.1, 0.0], [0.9, 0.3, 0.0], [0.0, 0.2, 1.0], [0.1, 0.0, 0.9]]
)


def candidates(words: list[str], dependencies: list[tuple[int, str, int]], *proteins: int) -> Any:
    sentence = kw.Sentence.from_words(words, dependencies=dependencies)
    entities = [
        kw.text.Entity(f"e{at}", "protein", ((sentence.tokens[at].start, sentence.tokens[at].end),))
        for at in proteins
    ]
    sentence = kw.Sentence.from_words(words, dependencies=dependencies, entities=entities)
    return kw.relations.pair_candidates([kw.Example("d0.s0", views={"sentence": sentence})])


def pair_in(text: str, first: str, second: str, *others: str) -> kw.text.Candidate:
    """Return the pair of two proteins in a text, the last occurrence of the second one."""
    starts = [text.index(first), text.rindex(second), *map(text.index, others)]
    entities = [
        kw.text.Entity(f"e{at}", "protein", ((start, start + len(name)),), name)
        for at, (start, name) in enumerate(zip(starts, (first, second, *others), strict=True))
    ]
    made = kw.Sentence.from_words(text.split(" "))
    sentence = kw.Sentence.from_words(text.split(" "), entities=entities)
    assert made.text == text
    return next(
        pair
        for pair in kw.relations.pair_candidates([kw.Example("x", views={"sentence": sentence})])
        if {one.id for one in pair.entities} == {"e0", "e1"}
    )


def corpus_xml(n_documents: int, *, first: int = 0) -> str:
    """Return a corpus whose verbs tell whether two proteins interact."""
    documents = []
    for number in range(first, first + n_documents):
        verb, holds = list(VERBS.items())[number % len(VERBS)]
        name, extra = f"d{number}", f" x{number}"
        tokens = ["Raf", verb, "Ras"]
        starts = [0, 4, 5 + len(verb)]
        spans = [f"{a}-{a + len(t) - 1}" for a, t in zip(starts, tokens, strict=True)]
        documents.append(
            f'<document id="{name}"><sentence id="{name}.s0" text="Raf {verb} Ras{extra}">'
            f'<entity charOffset="{spans[0]}" id="{name}.s0.e0" text="Raf" type="protein"/>'
            f'<entity charOffset="{spans[2]}" id="{name}.s0.e1" text="Ras" type="protein"/>'
            f'<pair e1="{name}.s0.e0" e2="{name}.s0.e1" id="{name}.s0.p0" '
            f'interaction="{bool(holds)}"/><sentenceanalyses><parses>'
            '<parse parser="split_parse" tokenizer="split">'
            '<dependency id="p1" t1="t2" t2="t1" type="nsubj"/>'
            '<dependency id="p2" t1="t2" t2="t3" type="dobj"/></parse></parses><tokenizations>'
            '<tokenization tokenizer="split">'
            + "".join(
                f'<token POS="NN" charOffset="{span}" id="t{at + 1}" text="{token}"/>'
                for at, (span, token) in enumerate(zip(spans, tokens, strict=True))
            )
            + "</tokenization></tokenizations></sentenceanalyses></sentence></document>"
        )
    return f'<corpus source="toy">{"".join(documents)}</corpus>'


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("corpora")
    made = []
    for name, n, first in (("one", 40, 0), ("two", 22, 37)):
        made.append(folder / f"{name}.xml")
        made[-1].write_text(corpus_xml(n, first=first), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def corpora(files: list[Path]) -> tuple[Corpus, Corpus]:
    one, two = (read_corpus(path.stem, path) for path in files)
    return one, two


@pytest.fixture(scope="module")
def laboratory(corpora: tuple[Corpus, Corpus]) -> Laboratory:
    return Laboratory(*corpora, VECTORS)


SMALL = {
    "KLSH-kNN": {"n_references": 10, "n_bits": 4, "n_neighbors": 3},
    "KLSH-RF": {"n_references": 12, "n_bits": 64, "n_estimators": 20},
    "SVM": {},
    "ridge": {},
}


# Corpora


def test_a_corpus_keeps_labels_and_documents(corpora: tuple[Corpus, Corpus]) -> None:
    assert corpora[0].y.tolist() == list(VERBS.values()) * 10
    assert len(set(corpora[0].documents)) == 40
    assert corpora[0].rate == 0.5


def test_shared_sentences_are_counted(corpora: tuple[Corpus, Corpus]) -> None:
    found = shared(*corpora)
    assert (found["sentences"], found["equal_sentences"]) == (22, 3)
    assert (found["documents"], found["documents_with_equal_sentences"]) == (22, 3)


# Kernel matrices


@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_kernels_of_all_representations_are_normalized(name: str, laboratory: Laboratory) -> None:
    matrix = laboratory.matrices.kernel(name, tested=True).values.matrix
    assert matrix.shape == (62, 40)
    assert np.allclose(np.diagonal(matrix), 1.0)


def test_matrix_has_the_values_of_the_kernel(corpora: tuple[Corpus, Corpus]) -> None:
    kernel = PATH.kernel(VECTORS)
    known, others = (kw.batch(structures(PATH, corpus)) for corpus in corpora)
    made = Matrices(*corpora, VECTORS)
    alone = made.kernel("path", tested=False).values.matrix
    assert np.allclose(alone, kernel.gram(known))
    both = made.kernel("path", tested=True).values.matrix
    assert np.allclose(both[40:], kernel.cross(others, known))
    assert made.kernel("path", tested=False).values.matrix is both


@pytest.mark.parametrize("kind", SMALL)
def test_models_on_a_matrix_are_those_on_the_kernel(
    kind: str, corpora: tuple[Corpus, Corpus], laboratory: Laboratory
) -> None:
    model = Model(kind, "path", SMALL[kind])
    X = [kw.batch(structures(PATH, corpus)) for corpus in corpora]
    direct = model.classifier(PATH.kernel(VECTORS), 0).fit(X[0], corpora[0].y)
    assert laboratory.scores(model, 0).values == pytest.approx(scores_of(direct, X[1]), abs=0.02)


def test_words_match_from_the_cut_on(corpora: tuple[Corpus, Corpus]) -> None:
    def value(cut: float, first: int, second: int) -> float:
        made = REPRESENTATIONS[described_name(0.8, cut)]
        [part] = made.parts.values()
        paths = structures(part, corpora[0])
        return part.kernel(VECTORS).value(paths[first], paths[second])

    binds, activates, resembles = 0, 1, 2
    assert value(0.4, binds, activates) == pytest.approx(1.0)
    assert value(0.4, binds, resembles) < 1.0
    assert value(0.0, binds, resembles) == pytest.approx(1.0)


def test_relations_of_the_kernel_as_described_have_no_vectors(
    corpora: tuple[Corpus, Corpus],
) -> None:
    [part] = REPRESENTATIONS[described_name(0.8, 0.1)].parts.values()
    assert structures(part, corpora[0])[0].edges == ("<>", "<nsubj>", "<dobj>")


def test_graph_without_cycles_keeps_the_other_edges() -> None:
    ring = kw.Graph(["x", "y", "z"], [(0, "", 1), (1, "", 2), (2, "", 0), (0, "", 2)])
    assert without_cycles(ring).edges == ((0, "", 1), (1, "", 2), (0, "", 2))
    assert without_cycles(kw.Graph(["x"], [(0, "", 0)])).edges == ()


# Thresholds on held-out pairs


def test_rates_are_those_of_the_positive_class() -> None:
    found = rates(np.array([1, 1, 0, 0, 1]), np.array([1, 0, 1, 0, 0]))
    assert (found.precision, found.recall, found.f1) == pytest.approx((1 / 2, 1 / 3, 2 / 5))


def test_rates_of_nothing_found_are_zero() -> None:
    assert rates(np.array([1, 0]), np.array([0, 0])) == Rates(0.0, 0.0, 0.0)


def test_best_threshold_lies_between_the_scores_it_divides() -> None:
    chosen = choose_thresholds(np.array([1, 1, 0, 0]), np.array([0.9, 0.7, 0.3, 0.1]), list("abcd"))
    assert chosen.best == pytest.approx(0.5)
    assert chosen.held_out_best.f1 == 1.0


some_rows = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 6), st.integers(0, 4)), min_size=2
).filter(lambda rows: any(y for y, _, _ in rows))


@given(some_rows)
def test_no_threshold_is_better_than_the_best(rows: list[tuple[int, int, int]]) -> None:
    y, scores, documents = (np.array(column) for column in zip(*rows, strict=True))
    chosen = choose_thresholds(y, scores / 6, [str(d) for d in documents])
    tried = [rates(y, (scores / 6 >= at).astype(int)).f1 for at in np.unique(scores) / 6]
    assert chosen.held_out_best.f1 == pytest.approx(max(tried))


@given(some_rows)
def test_cautious_threshold_is_lower_and_within_a_standard_error(
    rows: list[tuple[int, int, int]],
) -> None:
    y, scores, documents = (np.array(column) for column in zip(*rows, strict=True))
    chosen = choose_thresholds(y, scores / 6, [str(d) for d in documents])
    assert chosen.cautious <= chosen.best
    lost = chosen.held_out_best.f1 - chosen.held_out_cautious.f1
    assert lost <= chosen.standard_error + 1e-9


# Operating points


@given(some_rows, st.floats(0.01, 1.0))
def test_predictions_at_a_rate_are_the_smallest_set_that_reaches_it(
    rows: list[tuple[int, int, int]], rate: float
) -> None:
    values = np.array([value for _, value, _ in rows], dtype=float)
    predicted = at_rate(Scores(values, np.ones(len(values), dtype=bool)), rate)
    wanted = max(1, round(rate * len(values)))
    sets = [values >= at for at in np.unique(values)]
    smallest = min((one for one in sets if one.sum() >= wanted), key=lambda one: int(one.sum()))
    assert predicted.tolist() == smallest.tolist()


@given(some_rows)
def test_oracle_is_the_best_of_all_thresholds(rows: list[tuple[int, int, int]]) -> None:
    y = np.array([label for label, _, _ in rows])
    values = np.array([value for _, value, _ in rows], dtype=float)
    kept = np.array([document != 0 for _, _, document in rows])
    kept[0] = True
    found = labeled_predictions(y, Scores(values, kept))["oracle"]
    tried = [rates(y, ((values >= at) & kept).astype(int)).f1 for at in values[kept]]
    assert rates(y, found.astype(int)).f1 == pytest.approx(max(tried))
    assert not found[~kept].any()


def held_scores(n: int = 200, *, rate: float = 0.2, seed: int = 0) -> tuple[Any, Any]:
    """Return classes, and scores that are higher by two deviations for positives."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < rate * n).astype(int)
    return y, rng.normal(2.0 * y, 1.0)


def test_points_have_their_rates() -> None:
    y, values = held_scores()
    kept = np.ones(200, dtype=bool)
    held = Held(y, Scores(values, kept), [str(row // 4) for row in range(200)])
    _, test = held_scores(400, rate=0.5, seed=1)
    found = unlabeled_predictions(held, Scores(test, np.ones(400, dtype=bool)), None)
    assert found["training rate"].mean() == pytest.approx(0.2)
    assert found["43 % called"].mean() == pytest.approx(CALLED)
    for name, line in (
        ("own", held.thresholds.cautious),
        ("cautious", held.thresholds.cautious),
        ("best held-out", held.thresholds.best),
    ):
        assert found[name].tolist() == (test >= line).tolist()
    assert not set(found) & set(LABELED)


def test_a_fixed_cut_replaces_the_threshold() -> None:
    y, values = held_scores()
    held = Held(y, Scores(values, np.ones(200, dtype=bool)), [str(row) for row in range(200)])
    found = unlabeled_predictions(held, Scores(values, np.ones(200, dtype=bool)), 1.0)
    assert found["own"].tolist() == (values >= 1.0).tolist()
    assert found["cautious"].tolist() != found["own"].tolist()


def test_removed_pairs_are_never_positive() -> None:
    y, values = held_scores()
    kept = np.arange(200) % 3 > 0
    scores = Scores(values, kept)
    held = Held(y, scores, [str(row // 4) for row in range(200)])
    found = unlabeled_predictions(held, scores, -9.0) | labeled_predictions(y, scores)
    assert all(not mask[~kept].any() for mask in found.values())
    assert found["own"].tolist() == kept.tolist()
    assert ranking(y, scores)["auc"] < ranking(y, Scores(values, np.ones(200, dtype=bool)))["auc"]


def test_held_out_f1_counts_removed_interactions_as_missed() -> None:
    y, values = np.array([1, 1, 0, 0]), np.array([0.9, 0.8, 0.2, 0.1])
    held = Held(y, Scores(values, np.array([False, True, True, True])), list("abcd"))
    assert held_out_figures(held)["recall"] == 0.5


def test_figures_are_means_over_reference_sets() -> None:
    y = np.array([1, 1, 0, 0])
    masks = [np.array([True, True, False, False]), np.array([True, False, True, False])]
    found = mean_figures(y, [{"own": mask, "oracle": masks[0]} for mask in masks])
    assert found["own"]["f1"] == pytest.approx((1.0 + 0.5) / 2)
    assert found["own"]["f1_deviation"] == pytest.approx(np.std([1.0, 0.5], ddof=1))
    assert found["own"]["positive_rate"] == 0.5
    assert not found["own"]["uses_labels"]
    assert found["oracle"]["uses_labels"]


@pytest.mark.parametrize(
    "model", [Model("SVM", "path"), Model("KLSH-RF", "path", SMALL["KLSH-RF"])]
)
def test_unmarked_points_do_not_depend_on_test_labels(
    model: Model, corpora: tuple[Corpus, Corpus]
) -> None:
    training, test = corpora
    y = np.zeros_like(test.y)
    y[:3] = 1
    changed = replace(test, y=y)
    first, second = (
        Laboratory(training, one, VECTORS).row("", "", model, [1, 2]) for one in (test, changed)
    )
    for name, point in first["points"].items():
        other = second["points"][name]
        if name not in LABELED:
            assert point["positive_rate"] == other["positive_rate"], name
    assert first["points"]["own"]["f1"] != second["points"]["own"]["f1"]
    assert first["held_out"] == second["held_out"]


def test_scores_do_not_depend_on_test_labels(corpora: tuple[Corpus, Corpus]) -> None:
    training, test = corpora
    changed = replace(test, y=1 - test.y)
    for name, model in PAPER.items():
        small = replace(model, parameters=SMALL[name])
        found = [
            Laboratory(training, one, VECTORS).scores(small, 0).values for one in (test, changed)
        ]
        assert found[0].tolist() == found[1].tolist()


# Quantification


@pytest.mark.parametrize("rate", [0.1, 0.2, 0.5])
def test_rates_are_estimated_where_only_the_rate_differs(rate: float) -> None:
    y, held_out = held_scores(4000)
    truth, scores = held_scores(4000, rate=rate, seed=1)
    for name, found in estimate_rates(y, held_out, scores).items():
        assert found == pytest.approx(truth.mean(), abs=0.04), name


def test_adjusted_count_by_hand() -> None:
    y, known = np.array([1, 1, 0, 0]), np.array([0.9, 0.7, 0.1, 0.3])
    assert adjusted_count(y, known, np.array([0.4, 0.6])) == pytest.approx((0.5 - 0.2) / 0.6)
    assert adjusted_count(y, known, np.array([0.1])) == 0.0
    assert adjusted_count(y, known, np.array([0.9])) == 1.0


def test_expectation_maximization_is_at_its_fixed_point() -> None:
    probabilities = np.array([0.9, 0.6, 0.3, 0.1])
    rate = expectation_maximization(probabilities, 0.4)
    shifted = probabilities / (1 - probabilities) * (rate / (1 - rate)) / (0.4 / 0.6)
    assert (shifted / (1 + shifted)).mean() == pytest.approx(rate, abs=1e-6)


# Filters


@pytest.mark.parametrize(
    ("rule", "text", "first", "second", "others", "expected"),
    [
        ("same name", "IL-2 binds IL 2 here", "IL-2", "IL 2", (), True),
        ("same name", "IL-2 binds IL-6 here", "IL-2", "IL-6", (), False),
        ("abbreviation", "heat shock protein 90 (Hsp90) is new", "heat shock protein 90",
         "Hsp90", (), True),
        ("abbreviation", "heat shock protein 90 (Hsp90) binds Raf", "Hsp90", "Raf", (), False),
        ("abbreviation", "heat shock protein 90 binds Hsp90", "heat shock protein 90", "Hsp90",
         (), False),
        ("abbreviation", "heat shock protein 90 (Hsp90) is new", "heat shock protein 90 (Hsp90)",
         "shock protein", (), False),
        ("coordination", "Raf and Ras are kinases", "Raf", "Ras", (), True),
        ("coordination", "Raf/Ras are kinases", "Raf", "Ras", (), True),
        ("coordination", "Raf , Mek and Ras are kinases", "Raf", "Ras", ("Mek",), True),
        ("coordination", "Raf and active Ras are kinases", "Raf", "Ras", (), False),
        ("coordination", "Raf binds Ras and Mek", "Raf", "Ras", ("Mek",), False),
        ("coordination", "binding between Raf and Ras", "Raf", "Ras", (), False),
        ("coordination", "binding between Mek , Raf and Ras", "Raf", "Ras", ("Mek",), False),
        ("coordination", "RafRas binds", "Raf", "Ras", (), False),
        ("coordination", "Raf Ras complex", "Raf", "Ras", (), False),
        ("negation", "Raf never binds Ras", "Raf", "Ras", (), True),
        ("negation", "Raf binds Ras", "Raf", "Ras", (), False),
    ],
)  # fmt: skip
def test_filters_remove_what_they_name(
    rule: str, text: str, first: str, second: str, others: tuple[str, ...], expected: bool
) -> None:
    assert RULES[rule](pair_in(text, first, second, *others)) is expected


def test_negation_is_found_by_dependencies() -> None:
    [pair] = candidates(
        ["Raf", "does", "not", "bind", "free", "Ras"],
        [(3, "nsubj", 0), (3, "aux", 1), (3, "neg", 2), (3, "dobj", 5), (5, "amod", 4)],
        0,
        5,
    )
    assert RULES["negation"](pair)


def test_removed_pairs_are_counted_by_class_in_the_training_corpus() -> None:
    removed = {"a": np.array([True, True, False, True, True])}
    assert counts(removed, np.array([1, 0, 0, 0])) == {"a": {"interactions": 1, "others": 2}}


def test_filters_are_joined() -> None:
    removed = {"a": np.array([True, False, False]), "b": np.array([False, True, False])}
    assert kept_pairs(removed, ("a", "b"), 3).tolist() == [False, False, True]
    assert kept_pairs(removed, (), 3).all()


def test_removed_pairs_are_not_learned_from(laboratory: Laboratory) -> None:
    wrong = np.arange(62) % 4 == 0
    y = np.where(wrong[:40], 1 - laboratory.training.y, laboratory.training.y)
    kernel = laboratory.matrices.kernel("steps", tested=True)
    rows = np.arange(40), np.arange(40, 62)
    removed = {"wrong": wrong}
    model = Model("SVM", "steps", filters=("wrong",))
    found, clean = (
        fit_scores(model, kernel, numbered(62), classes, *rows, removed, 0)
        for classes in (y, laboratory.training.y)
    )
    assert found.values.tolist() == clean.values.tolist()
    assert found.kept.tolist() == (~wrong[40:]).tolist()


def test_undersampling_makes_classes_equally_frequent() -> None:
    y = np.array([1, 0, 0, 0, 1, 0, 0, 0])
    found = undersample(np.array([0, 1, 2, 3, 4, 5]), y, seed=0)
    assert y[found].tolist().count(1) == 2
    assert len(found) == len(set(found.tolist())) == 4
    assert set(found) <= {0, 1, 2, 3, 4, 5}
    assert found.tolist() != undersample(np.array([0, 1, 2, 3, 4, 5]), y, seed=1).tolist()
    assert undersample(np.array([0, 1, 4]), y, seed=0).tolist() == [0, 1, 4]


def test_undersampled_models_leave_out_pairs(laboratory: Laboratory) -> None:
    full = Model("SVM", "steps")
    kernel, rows = laboratory.matrices.kernel("steps", tested=True), np.arange(40, 62)
    y = (np.arange(40) < 5).astype(int)
    found, drawn = (
        fit_scores(model, kernel, numbered(62), y, np.arange(40), rows, {}, 0).values
        for model in (full, replace(full, undersampled=True))
    )
    assert found.tolist() != drawn.tolist()


# Bits


def test_balanced_bits_are_nearest_to_one_half() -> None:
    bits = np.random.default_rng(0).random((50, 12)) < np.linspace(0.05, 0.95, 12)
    chosen = balanced_bits(bits, 4)
    distance = np.abs(bits.mean(axis=0) - 0.5)
    worst = max(distance[chosen])
    assert all(one >= worst for at, one in enumerate(distance) if at not in chosen)
    assert chosen.tolist() == sorted(chosen)


def test_forests_on_balanced_bits_rank_as_others_do(laboratory: Laboratory) -> None:
    model = Model("KLSH-RF", "path", SMALL["KLSH-RF"], target_bits=True)
    assert ranking(laboratory.test.y, laboratory.scores(model, 0))["auc"] == 1.0


# The experiment


def test_held_out_scores_never_come_from_the_own_document(
    corpora: tuple[Corpus, Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interactions.experiment.N_SPLITS", 2)
    training, test = corpora
    y = np.r_[training.y[:20], 1 - training.y[20:]]
    flipped = replace(training, y=y, documents=["a"] * 20 + ["b"] * 20)
    found = Laboratory(flipped, test, VECTORS).held_out(Model("SVM", "path"))
    # Each half is scored by a machine that has seen the opposite labels only.
    assert rates(y, (found.scores.values >= 0).astype(int)).f1 == 0.0


@pytest.mark.parametrize("kind", SMALL)
def test_every_model_learns_what_the_verb_tells(kind: str, laboratory: Laboratory) -> None:
    row = laboratory.row("", kind, Model(kind, "path", SMALL[kind]), [0, 1])
    assert row["points"]["oracle"]["f1"] == 1.0
    assert row["auc"] == 1.0
    assert row["n"] == (2 if kind.startswith("KLSH") else 1)
    assert row["kernel_evaluations"] > 0


def test_choices_and_trials_depend_on_the_training_corpus_alone(
    corpora: tuple[Corpus, Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interactions.plan.described_names", lambda: [described_name(0.8, 0.1)])
    monkeypatch.setitem(PAPER, "KLSH-RF", Model("KLSH-RF", "path", SMALL["KLSH-RF"]))
    for kind, grid in GRIDS.items():
        monkeypatch.setitem(GRIDS, kind, [replace(grid[0], parameters=SMALL[kind])])
    training, test = corpora
    first, second = (
        choose(Laboratory(training, one, VECTORS))
        for one in (
            test,
            replace(test, y=1 - test.y),
        )
    )
    assert first == second
    choices, trials = first
    assert len({json.dumps(one) for one in trials}) == len(trials)
    assert {one["training"] for one in trials} == {"one"}
    for kind, grid in GRIDS.items():
        assert choices[f"{kind}, chosen"] in grid


class Judge:
    """Stands for a laboratory: F1 of a model by a function."""

    def __init__(self, f1: Callable[[Model], float]) -> None:
        self.f1 = f1

    def trial(self, group: str, model: Model) -> dict[str, Any]:
        held_out = {"f1": self.f1(model)}
        return {"training": "one", "group": group, **asdict(model), "held_out": held_out}


def test_the_best_on_held_out_documents_is_chosen_and_filters_are_added_while_they_help() -> None:
    worth = {"negation": 0.1, "coordination": 0.05, "same name": -0.1, "abbreviation": -0.1}
    best = [described_name(0.9, 0.3), "context+steps", "tagged-all-paths-graph, max"]

    def f1(model: Model) -> float:
        return (model.representation in best) + sum(worth[name] for name in model.filters)

    choices, trials = choose(Judge(f1))  # type: ignore[arg-type]
    assert choices["described"] == replace(PAPER["KLSH-RF"], representation=best[0])
    assert choices["graph"].representation == best[2]
    assert choices["KLSH-RF, chosen"] == next(
        model for model in GRIDS["KLSH-RF"] if model.representation == best[1]
    )
    for name in ("filtered described", "filtered default"):
        assert choices[name].filters == ("negation", "coordination")
    assert {one["representation"] for one in trials} >= set(described_names())
    assert len({json.dumps(one) for one in trials}) == len(trials)


def test_a_recipe_has_its_threshold_and_all_pairs(corpora: tuple[Corpus, Corpus]) -> None:
    training, test = corpora
    row = recipe_row("ridge", training, test)
    assert row["points"]["oracle"]["f1"] == 1.0
    assert row["left_out"] == 0
    changed = recipe_row("ridge", training, replace(test, y=1 - test.y))
    for name, point in row["points"].items():
        if name not in LABELED:
            assert point["positive_rate"] == changed["points"][name]["positive_rate"]


def test_any_corpora_are_run_in_all_ordered_pairs(
    files: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(kw.Vectors, "load", lambda *_: VECTORS)
    monkeypatch.setattr(ppi, "require_data", lambda name, data=None: Path(name))
    monkeypatch.setattr(ppi, "RECIPES", ("ridge",))
    named = [f"{path.stem}={path}" for path in files]
    arguments = ["ppi.py", "--corpora", *named, "--groups", "recipes", "--json"]
    monkeypatch.setattr(sys, "argv", arguments)
    ppi.main()
    found = json.loads(capsys.readouterr().out)
    assert [(row["training"], row["test"]) for row in found["rows"]] == [
        ("one", "two"),
        ("two", "one"),
    ]
    assert [one["name"] for one in found["corpora"]] == ["one", "two"]


# The table


def found_rows() -> dict[str, Any]:
    point = {"f1": 0.5, "precision": 0.4, "recall": 0.6, "f1_deviation": 0.01}
    names = ("own", "training rate", "43 % called", "test rate", "oracle")
    model = Model("SVM", "path")
    choices = {f"{kind}, chosen": model for kind in PAPER}
    choices |= dict.fromkeys(
        ("described", "graph", "filtered described", "filtered default"), model
    )
    rows = [f"recipe {one}" for one in RECIPES]
    rows += [name for group in planned(choices).values() for name in group]
    return {
        "rows": [
            {"training": one, "test": two, "name": name, "auc": 0.7, "n": 1,
             "points": dict.fromkeys(names, point)}
            for one, two in hashcodes_ppi.DIRECTIONS for name in rows
        ]
    }  # fmt: skip


def test_table_has_every_published_figure_with_its_protocol() -> None:
    made = hashcodes_ppi.rows(found_rows())
    for one in hashcodes_ppi.PUBLISHED:
        mine = [row for row in made if f"{one.setting}, {one.protocol}" in row.setting]
        assert [row.published for row in mine] == list(one.figures)
        assert [row.ours for row in mine] == [
            "0.500 (0.400, 0.600)" if one.name else "not repeated"
        ] * 2
    assert len({(row.setting, row.measure) for row in made}) == len(made)
    assert all("KLSH-RF" in row.setting for row in made if row.headline)
    assert sum(row.headline for row in made) == 4


def test_groups_are_those_of_the_plan() -> None:
    model = Model("SVM", "path")
    choices = {f"{kind}, chosen": model for kind in PAPER}
    choices |= dict.fromkeys(
        ("described", "graph", "filtered described", "filtered default"), model
    )
    assert tuple(planned(choices)) == GROUPS[1:]
