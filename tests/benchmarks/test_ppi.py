"""The experiment on protein interactions, on sentences small enough to check by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "papers"))

from interactions.experiment import Corpus, Settings, held_out_scores, read_corpus, run_trial
from interactions.representation import REPRESENTATIONS, examples
from interactions.settings import CHOSEN, GRIDS, settings_of
from interactions.thresholds import Rates, choose_thresholds, rates

VERBS = {"binds": 1, "activates": 1, "resembles": 0, "precedes": 0}
VECTORS = kw.Vectors(
    list(VERBS), [[1.0, 0.1, 0.0], [0.9, 0.3, 0.0], [0.0, 0.2, 1.0], [0.1, 0.0, 0.9]]
)


def candidates(words: list[str], dependencies: list[tuple[int, str, int]], *proteins: int):
    sentence = kw.Sentence.from_words(words, dependencies=dependencies)
    entities = [
        kw.text.Entity(f"e{at}", "protein", ((sentence.tokens[at].start, sentence.tokens[at].end),))
        for at in proteins
    ]
    sentence = kw.Sentence.from_words(words, dependencies=dependencies, entities=entities)
    return kw.relations.pair_candidates([kw.Example("d0.s0", views={"sentence": sentence})])


@pytest.fixture
def negated() -> kw.text.Candidate:
    [made] = candidates(
        ["Raf", "does", "not", "bind", "free", "Ras"],
        [(3, "nsubj", 0), (3, "aux", 1), (3, "neg", 2), (3, "dobj", 5), (5, "amod", 4)],
        0,
        5,
    )
    return made


def corpus_xml(n_documents: int) -> str:
    """Return a corpus whose verbs tell whether two proteins interact."""
    documents = []
    for number in range(n_documents):
        verb, holds = list(VERBS.items())[number % len(VERBS)]
        name = f"d{number}"
        tokens = ["Raf", verb, "Ras"]
        starts = [0, 4, 5 + len(verb)]
        spans = [f"{a}-{a + len(t) - 1}" for a, t in zip(starts, tokens, strict=True)]
        documents.append(
            f'<document id="{name}"><sentence id="{name}.s0" text="Raf {verb} Ras">'
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


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    path = tmp_path / "toy.xml"
    path.write_text(corpus_xml(40), encoding="utf-8")
    return read_corpus("toy", path)


# Views


def test_every_pair_has_the_views_that_kernels_compare(negated: kw.text.Candidate) -> None:
    [made] = examples(
        kw.relations.pair_candidates([kw.Example("x", views={"sentence": negated.sentence})])
    )
    assert made.view("steps").nodes == ("ENTITY1", "<nsubj-of>", "bind", "<dobj>", "ENTITY2")
    assert made.view("path").edges == ("", "nsubj", "dobj")
    assert made.view("tree").to_brackets() == (
        "(root (nsubj ENTITY1) (aux does) (neg not) bind (dobj (amod free) ENTITY2))"
    )


@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_kernels_of_all_representations_are_normalized(
    name: str, negated: kw.text.Candidate
) -> None:
    made = examples(
        kw.relations.pair_candidates([kw.Example("x", views={"sentence": negated.sentence})])
    )
    kernel = REPRESENTATIONS[name].kernel(VECTORS)
    assert kernel.gram(made)[0, 0] == pytest.approx(1.0)


# Thresholds


def test_rates_are_those_of_the_positive_class() -> None:
    found = rates(np.array([1, 1, 0, 0, 1]), np.array([1, 0, 1, 0, 0]))
    assert (found.precision, found.recall, found.f1) == pytest.approx((1 / 2, 1 / 3, 2 / 5))


def test_rates_of_nothing_found_are_zero() -> None:
    assert rates(np.array([1, 0]), np.array([0, 0])) == Rates(0.0, 0.0, 0.0)


def test_best_threshold_lies_between_the_scores_it_divides() -> None:
    chosen = choose_thresholds(np.array([1, 1, 0, 0]), np.array([0.9, 0.7, 0.3, 0.1]), list("abcd"))
    assert chosen.best == pytest.approx(0.5)
    assert chosen.held_out_best.f1 == 1.0


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6), st.integers(0, 4)), min_size=2).filter(
        lambda rows: any(y for y, _, _ in rows)
    )
)
def test_no_threshold_is_better_than_the_best(rows: list[tuple[int, int, int]]) -> None:
    y, scores, documents = (np.array(column) for column in zip(*rows, strict=True))
    chosen = choose_thresholds(y, scores / 6, [str(d) for d in documents])
    tried = [rates(y, (scores / 6 >= at).astype(int)).f1 for at in np.unique(scores) / 6]
    assert chosen.held_out_best.f1 == pytest.approx(max(tried))


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6), st.integers(0, 4)), min_size=2).filter(
        lambda rows: any(y for y, _, _ in rows)
    )
)
def test_cautious_threshold_is_lower_and_within_a_standard_error(
    rows: list[tuple[int, int, int]],
) -> None:
    y, scores, documents = (np.array(column) for column in zip(*rows, strict=True))
    chosen = choose_thresholds(y, scores / 6, [str(d) for d in documents])
    assert chosen.cautious <= chosen.best
    lost = chosen.held_out_best.f1 - chosen.held_out_cautious.f1
    assert lost <= chosen.standard_error + 1e-9


# The experiment


def test_a_corpus_keeps_labels_and_documents(corpus: Corpus) -> None:
    assert corpus.y.tolist() == list(VERBS.values()) * 10
    assert len(set(corpus.documents)) == 40


def test_held_out_scores_never_come_from_the_own_document(corpus: Corpus) -> None:
    one_document = Corpus(corpus.name, corpus.X, corpus.y, ["a"] * 20 + ["b"] * 20)
    flipped = Corpus(
        corpus.name, corpus.X, np.r_[corpus.y[:20], 1 - corpus.y[20:]], one_document.documents
    )
    scores = held_out_scores(Settings("SVM", "path"), flipped, VECTORS, n_splits=2, seed=0)
    # Each half is scored by a machine that has seen the opposite labels only.
    assert rates(flipped.y, (scores >= 0).astype(int)).f1 == 0.0


SMALL = {
    "KLSH-kNN": {"n_references": 10, "n_bits": 4, "n_neighbors": 3},
    "KLSH-RF": {"n_references": 12, "n_bits": 64, "n_estimators": 20},
    "SVM": {},
}


@pytest.mark.parametrize("model", SMALL)
def test_every_model_learns_what_the_verb_tells(model: str, corpus: Corpus) -> None:
    settings = Settings(model, "path", SMALL[model])
    trial = run_trial(settings, corpus, corpus, VECTORS, seeds=range(2), n_splits=2)
    assert [found.f1 for found in trial.best] == [1.0] * (2 if settings.is_random else 1)
    assert trial.evaluations > 0


def test_a_trial_is_the_same_every_time(corpus: Corpus) -> None:
    settings = Settings("KLSH-RF", "path", SMALL["KLSH-RF"])
    first, second = (
        run_trial(settings, corpus, corpus, VECTORS, seeds=[3], n_splits=2) for _ in range(2)
    )
    assert (first.cautious, first.thresholds) == (second.cautious, second.thresholds)


@pytest.mark.parametrize(("model", "training"), CHOSEN)
def test_what_a_corpus_chose_is_among_what_was_tried(model: str, training: str) -> None:
    assert settings_of(model, "chosen", training) in GRIDS[model]
