"""Evidence: the training cases that contribute to a decision, and sums that agree with it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from annotated import documents, event_documents
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood import _native
from kernelwood.arrays import ExampleBatch
from kernelwood.datasets import load_interactions
from kernelwood.explain import PairValues
from kernelwood.relations import RECIPES, Evidence, relation_name
from kernelwood.relations.evidence import (
    CaseTexts,
    SharedFragments,
    TrainingCases,
    _shares,
)

LABELINGS = ("binary", "directed")


@cache
def extractor(recipe="svm", labels="directed"):
    """Return an extractor in double precision, so that sums in any order agree."""
    views = ("stem-context", "stem-steps", "negation")
    kernel = kw.relations.kernel_on(views)
    doubles = {name: "float64" for name in kernel.get_params() if name.endswith("dtype")}
    model = kw.RelationExtractor(
        recipe,
        kernel=kernel.clone().set_params(**doubles),
        labels=labels,
        random_state=0,
    )
    return model.fit(load_interactions("train")[:50])


@cache
def predictions(recipe="svm", labels="directed"):
    return extractor(recipe, labels).predict(load_interactions("test")[:6], all=True)


def decision(model, one):
    """Return the score of a relation compared with none, by the scores of the classes."""
    table = kw.relations.Candidates.of_rows([one.candidate]).viewed(*model.views_).table
    learner, classes = model.learner_, model.learner_.classes_.tolist()
    if hasattr(model.learner_, "decision_function"):
        scores = learner.decision_function(table)[0]
        scores = [0.0, scores] if len(classes) == 2 else scores
    else:
        [scores] = learner.predict_proba(table)
    return scores[classes.index(one.relation)] - scores[classes.index("none")]


@pytest.mark.parametrize("labels", LABELINGS)
@pytest.mark.parametrize("recipe", RECIPES)
def test_shown_cases_the_others_and_the_intercept_add_up_to_the_score(recipe, labels):
    model = extractor(recipe, labels)
    found = predictions(recipe, labels)
    for one, evidence in zip(found, model.explain(found), strict=True):
        shown = sum(case.contribution for case in evidence)
        assert shown + evidence.others + evidence.intercept == pytest.approx(evidence.score)
        assert evidence.score == pytest.approx(decision(model, one), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("recipe", RECIPES)
def test_all_cases_leave_nothing_to_others(recipe, monkeypatch):
    monkeypatch.setattr("kernelwood.relations.evidence._LEAST", 0.0)
    model = extractor(recipe)
    for evidence in model.explain(predictions(recipe)[:5], model.n_candidates_):
        assert evidence.others == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("recipe", RECIPES)
def test_supporting_cases_come_first_and_the_largest_before_smaller_ones(recipe):
    for evidence in extractor(recipe).explain(predictions(recipe)):
        assert [case.supports for case in evidence] == [True] * len(evidence.supporting) + [
            False
        ] * len(evidence.opposing)
        for side in (evidence.supporting, evidence.opposing):
            amounts = [abs(case.contribution) for case in side]
            assert amounts == sorted(amounts, reverse=True) and len(side) <= 3


@pytest.mark.parametrize("recipe", ["svm", "klsh-rf", "klsh-knn"])
def test_cases_of_the_relation_support_it_and_others_oppose_it(recipe):
    for evidence in extractor(recipe, "binary").explain(predictions(recipe, "binary")):
        assert {case.type for case in evidence.supporting} <= {"relation"}
        assert {case.type for case in evidence.opposing} <= {"none"}


@pytest.mark.parametrize("recipe", RECIPES)
def test_many_predictions_are_explained_as_each_alone(recipe, monkeypatch):
    model, found = extractor(recipe), predictions(recipe)[:6]
    alone = [one.evidence for one in found]
    monkeypatch.setattr("kernelwood.relations.evidence._AT_ONCE", 2 * model.n_candidates_)
    for one, other in zip(alone, model.explain(found), strict=True):
        assert [case.id for case in one] == [case.id for case in other]
        assert [case.similarity for case in one] == [case.similarity for case in other]
        assert one.score == pytest.approx(other.score)


def test_a_training_case_is_not_evidence_for_itself():
    model = extractor()
    for one in model.predict(load_interactions("train")[:10], all=True):
        assert one.id not in {case.id for case in one.evidence}


@pytest.mark.parametrize("recipe", RECIPES)
def test_small_contributions_are_not_shown(recipe):
    for evidence in extractor(recipe).explain(predictions(recipe)):
        largest = max(abs(case.contribution) for case in evidence)
        assert all(abs(case.contribution) >= largest / 10 for case in evidence)


def test_similarities_are_those_of_the_kernel():
    model = extractor()
    [one, *_] = predictions()
    table = kw.relations.Candidates.of_rows([one.candidate]).viewed(*model.views_).table
    for case in one.evidence:
        other = model.cases_[model.cases_.ids.index(case.id)]
        assert case.similarity == pytest.approx(model.learner_.kernel_.value(table[0], other))


def test_fragments_are_computed_when_asked_for(monkeypatch):
    calls = []
    monkeypatch.setattr("kernelwood.relations.evidence._shares", lambda *_: calls.append(1) or ())
    evidence = predictions()[0].evidence
    evidence.to_dict(fragments=False)
    assert not calls
    evidence.to_dict()
    assert evidence[0].fragments == () and calls == [1]  # those of all cases at once


def test_fragments_of_all_predictions_of_a_call_are_found_together(monkeypatch):
    calls = []
    native = _native.longest_subsequences
    monkeypatch.setattr(
        _native, "longest_subsequences", lambda *a, **k: calls.append(1) or native(*a, **k)
    )
    found = extractor().explain(predictions()[:4])
    assert not calls
    first = found[0][0].fragments
    assert len(calls) == 3 and first  # one for each view of the kernel, which has one of each
    assert all(case.fragments is not None for evidence in found for case in evidence)
    assert len(calls) == 3


def test_fragments_of_all_predictions_are_those_of_each_alone():
    model, found = extractor(), predictions()[:4]
    together = [[case.fragments for case in evidence] for evidence in model.explain(found)]
    assert together == [[case.fragments for case in one.evidence] for one in found]


def test_fragments_of_a_case_are_those_shared_with_it():
    model = extractor()
    [one, *_] = predictions()
    table = kw.relations.Candidates.of_rows([one.candidate]).viewed(*model.views_).table
    found = [case.fragments for case in one.evidence]
    assert len(set(found)) > 1
    for case, fragments in zip(one.evidence, found, strict=True):
        row = model.cases_.ids.index(case.id)
        alone = SharedFragments(model.learner_.kernel_, table, model.cases_[[row]])
        assert alone.of_pair(0)() == fragments


def test_what_shares_nothing_has_no_fragments():
    kernel, a, b = kw.SubsequenceKernel(), kw.Sequence(["a"]), kw.Sequence(["b"])
    kernel = kernel * kernel + kernel
    shared = SharedFragments(kernel, [a, a], [b, a])
    nothing, something = shared.of_pair(0), shared.of_pair(1)
    assert nothing() == ()
    assert [fragment.text for fragment in something()] == ["a"]
    assert [shares.tolist() for _, shares in _shares(kernel, [a, a], [b, a], PairValues())] == [
        [0, 0.25], [0, 0.25], [0, 0.5]
    ]  # fmt: skip


def test_plain_values_have_spans_of_both_sentences():
    one = predictions()[0]
    made = one.to_dict(evidence=True)["evidence"]
    assert set(made) == {"score", "intercept", "others", "path", "cases"}
    for case, row in zip(one.evidence, made["cases"], strict=True):
        texts = [row["text"][start:end] for start, end in row["shared"]["case"]]
        assert texts == row["shared"]["words"] == list(case.words)
        here = {one.text[start:end].lower() for start, end in row["shared"]["prediction"]}
        assert bool(here) == bool(texts)
        assert row["supports"] == (row["contribution"] > 0)
        assert len(row["entities"]) == 2


def test_no_cases_are_shown_if_none_are_asked_for():
    [evidence] = extractor().explain(predictions()[:1], 0)
    assert len(evidence) == 0
    assert evidence.others + evidence.intercept == pytest.approx(evidence.score)


def test_evidence_is_printed_as_a_table():
    [evidence] = extractor().explain(predictions()[:1], 1)
    assert repr(evidence).startswith(f"<Evidence: score {evidence.score:+.3f}, ")
    first, *rows = str(evidence).splitlines()
    assert first.startswith(f"score {evidence.score:+.3f}: shown ")
    assert len(rows) == len(evidence)
    for case, row in zip(evidence, rows, strict=True):
        side = "for" if case.supports else "against"
        start = [side, f"{case.contribution:+.3f}", *relation_name(case.type).split()]
        assert row.split()[: len(start)] == start
        assert repr(case).startswith(f"<Case: {case.type}, contribution {case.contribution:+.3f}, ")
        assert len(repr(case)) < 130


def test_only_predictions_are_explained():
    with pytest.raises(kw.errors.KernelInputError, match="'x' is not a Prediction"):
        extractor().explain("x")


def test_nothing_is_explained_by_nothing():
    assert extractor().explain([]) == []


def test_events_are_explained_with_their_triggers():
    model = kw.RelationExtractor(candidates="events", random_state=0).fit(event_documents())
    for one in model.predict(event_documents(1)):
        assert one.evidence.supporting[0].type == "event"
        assert "{" in one.evidence.supporting[0].text
        assert one.evidence.path[0][1] == "entity"


def test_the_evidence_of_a_prediction_made_by_hand_is_empty():
    from dataclasses import replace

    assert replace(predictions()[0], _explain=None).evidence == Evidence()


# The choice of cases, compared with a plain definition.


def chosen_by_definition(values, ids, sentences, id, n):
    """Return the cases to show: by falling amount, those of new sentences first."""
    allowed = [i for i in range(len(values)) if ids[i] != id]
    largest = max((abs(values[i]) for i in allowed), default=0.0)
    seen, sides = set(), []
    for sign in (1, -1):
        ranked = [i for i in allowed if sign * values[i] > 0 and abs(values[i]) >= 0.1 * largest]
        ranked.sort(key=lambda i: (-abs(values[i]), i))
        fresh, again = [], []
        for i in ranked:
            if len(fresh) == n:
                break
            (again if sentences[i] in seen else fresh).append(i)
            seen.add(sentences[i])
        sides.append(sorted(fresh + again[: n - len(fresh)], key=lambda i: -abs(values[i])))
    return sides


@given(
    st.lists(
        st.tuples(st.sampled_from([-2.0, -1.0, -0.1, 0.0, 0.1, 0.5, 1.0, 3.0]), st.integers(0, 4)),
        min_size=1,
        max_size=12,
    ),
    st.integers(0, 14),
    st.integers(0, 4),
)
def test_cases_are_chosen_by_definition(rows, own, n):
    values, sentences = np.array([v for v, _ in rows]), np.array([s for _, s in rows], np.int32)
    ids = [f"c{i}" for i in range(len(rows))]
    nothing = np.zeros((2, 0), dtype=np.int32)
    texts = CaseTexts(np.array(["x"] * 5, dtype=object), sentences, nothing, nothing[0], nothing)
    cases = TrainingCases(ExampleBatch(ids), texts, extractor().learner_)
    found = cases._choose(np.arange(len(rows)), values, f"c{own}", n)
    expected = chosen_by_definition(values.tolist(), ids, sentences.tolist(), f"c{own}", n)
    assert [list(side) for side in found] == expected


def test_different_sentences_are_preferred():
    sentences = documents(8)
    model = kw.RelationExtractor(random_state=0).fit(sentences)
    for one in model.predict(documents(2, start=20), all=True):
        texts = [case.text for case in one.evidence]
        assert len(set(texts)) >= min(2, len(texts))
