"""The experiment on relations across corpora, on scores and sentences that are easy to check."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "papers"))

from relation_models.baselines import blinded, judge_baseline
from relation_models.facts import facts
from relation_models.figures import Pairs, best_f1, figures_of, lines
from relation_models.parts import PARTS, structures
from relation_models.recipes import RECIPES
from relation_models.shifts import shifts
from relation_models.transductive import adapt, expected_f1_threshold
from relation_models.tried import RULES, TRIALS, Laboratory

VERBS = {"binds": 1, "activates": 1, "resembles": 0, "precedes": 0}
WORDS = [*VERBS, "raf", "ras", "here"]
VECTORS = kw.Vectors(WORDS, np.eye(len(WORDS)))


def example(number: int, holds: bool, verb: str) -> kw.Example:
    words = ["Raf", verb, "Ras", "here"]
    start = len(f"Raf {verb} ")
    raf = kw.text.Entity("e0", "protein", ((0, 3),), "Raf")
    ras = kw.text.Entity("e1", "protein", ((start, start + 3),), "Ras")
    arguments = tuple(kw.text.Argument("", end) for end in ("e0", "e1"))
    sentence = kw.Sentence.from_words(
        words,
        dependencies=[(1, "nsubj", 0), (1, "dobj", 2), (1, "advmod", 3)],
        entities=[raf, ras],
        relations=[kw.text.Relation("p0", "interaction", arguments, holds)],
    )
    return kw.Example(f"d{number}.s0", views={"sentence": sentence})


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    made = [(at, bool(holds), verb) for at in range(10) for verb, holds in VERBS.items()]
    read = [example(4 * at + i % 4, *rest) for i, (at, *rest) in enumerate(made)]
    candidates = kw.relations.pair_candidates(read)
    y = np.array([holds for _, holds, _ in made])
    return Pairs("toy", candidates, y, [one.id for one in read])


def test_figures_are_those_of_a_threshold() -> None:
    found = figures_of(np.array([True, False, True, False]), np.array([0.9, 0.8, 0.2, 0.1]), 0.5)
    assert (found.precision, found.recall, found.f1, found.auc) == (0.5, 0.5, 0.5, 0.75)


def test_best_f1_is_that_of_the_best_threshold() -> None:
    assert best_f1(np.array([True, False, True]), np.array([3.0, 2.0, 1.0])) == pytest.approx(0.8)


def test_every_rule_draws_a_line() -> None:
    drawn = lines(np.array([True, False]), np.array([0.7, 0.1]), ["a", "b"])
    assert [*drawn, "share"] == list(RULES)
    assert drawn["f1"] == pytest.approx(0.4)


@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_the_base_rate_of_perfect_scores_is_found(known: float, true: float) -> None:
    n = int(1000 * true)
    probabilities = np.where(np.arange(1000) < n, 1 - 1e-9, 1e-9)
    assert adapt(probabilities, known)[1] == pytest.approx(n / 1000, abs=1e-3)


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=12))
def test_no_threshold_is_expected_to_be_better(values: list[float]) -> None:
    probabilities = np.array(values)

    def expected(line: float) -> float:
        found = probabilities >= line
        return float(2 * probabilities[found].sum() / (found.sum() + probabilities.sum()))

    chosen = expected(expected_f1_threshold(probabilities))
    assert chosen == pytest.approx(max(expected(line) for line in values))


def test_facts_count_pairs_of_a_kind(pairs: Pairs) -> None:
    found = {fact["name"]: (fact["pairs"], fact["share"]) for fact in facts(pairs)}
    assert found == {"names:other": (40, 0.5), "with a protein": (40, 0.5)}


def test_documents_are_halved_by_the_number_of_proteins(pairs: Pairs) -> None:
    few, many = shifts(pairs)["few to many"]
    assert len(few) + len(many) == len(pairs.y)
    assert not {pairs.documents[i] for i in few} & {pairs.documents[i] for i in many}


@pytest.mark.parametrize("name", PARTS)
def test_every_part_compares_all_pairs(name: str, pairs: Pairs) -> None:
    made = structures(PARTS[name], pairs.candidates[:4])
    gram = PARTS[name].kernel(VECTORS).gram(made)
    assert gram.diagonal() == pytest.approx(np.ones(4))


def test_parts_of_trials_are_known() -> None:
    assert {part for trial in TRIALS for part in trial.parts} <= set(PARTS)


def test_what_the_verb_tells_is_learned_from_other_documents(pairs: Pairs) -> None:
    [product] = [trial for trial in TRIALS if trial.name == "product"]
    found = Laboratory(pairs, VECTORS).held_out(product)
    assert (found["auc"], found["f1"]) == (1.0, 1.0)


@pytest.mark.filterwarnings("ignore:overlap")  # the same verbs are asked for
@pytest.mark.parametrize("recipe", RECIPES[:5], ids=lambda recipe: recipe.name)
def test_recipes_find_what_the_verb_tells(recipe, pairs: Pairs) -> None:
    read = [example(i, bool(holds), verb) for i, (verb, holds) in enumerate([*VERBS.items()] * 6)]
    extractor = recipe.extractor(VECTORS).fit(read)
    assert extractor.evaluate(read, n_bootstrap=0).f1 == 1.0


def test_proteins_are_blinded_for_the_yardsticks(pairs: Pairs) -> None:
    assert blinded(pairs, window=5)[0] == "ENTITY1 binds ENTITY2 here"


def test_tfidf_learns_what_the_verb_tells(pairs: Pairs) -> None:
    texts = blinded(pairs, window=5)
    held_out, found = judge_baseline(pairs, pairs, texts, texts, is_text=True)
    assert (held_out.f1, found.f1) == (1.0, 1.0)
