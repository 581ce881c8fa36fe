"""Projects that begin with a model."""

from __future__ import annotations

from copy import copy
from functools import cache

import numpy as np
import pytest
from web.projects import session_of, teach

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.relations import NONE, type_of
from kernelwood.text import Argument, Document, Entity, Example, Relation
from kernelwood.web import ProjectError, Session, build_project
from kernelwood.web.explore import Explorer
from kernelwood.web.given_model import GivenModel
from kernelwood.web.model_page import ModelPage


@cache
def extractor():
    return kw.RelationExtractor(random_state=0).fit(load_interactions("train")[:120])


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "given.kwp"
    documents = load_interactions("test")[:40]
    settings = {"learn_annotation": False}
    build_project(path, documents, extractor=extractor(), settings=settings).close()
    return path


def test_without_decisions_predictions_are_those_of_the_given_model(path):
    with session_of(path) as session:
        assert session.wait(60)
        model = session.snapshot.model
        predictions = extractor().predict(load_interactions("test")[:40], all=True)
        given = {one.id: one for one in predictions}
        names = session.project.candidates.names
        compared = 0
        for row, name in enumerate(names):
            if name in given:
                label, probability = model.best(row)
                assert type_of(label) == given[name].type
                assert probability == pytest.approx(given[name].probability, abs=1e-4)
                compared += 1
        assert compared > 100


def test_decisions_change_what_the_given_model_predicts(path):
    with session_of(path) as session:
        assert session.wait(60)
        before = session.snapshot.model.probabilities.copy()
        row = int(before[:, session.snapshot.model.none].argmin())
        session.decide([row], NONE)
        assert session.wait(60)
        after = session.snapshot.model
        changed = np.abs(after.probabilities - before).max(axis=1)
        assert changed.max() > 0.01


def test_evidence_and_new_texts_take_the_given_model_into_account(path):
    with session_of(path) as session:
        teach(session, 6)
        explorer, model = Explorer(session), session.snapshot.model
        row = session.next().candidate
        evidence = explorer.evidence.of(row)
        assert evidence["intercept"] != 0
        sentence = session.project.candidate(row).sentence
        tried = explorer.trial.predict(sentence.text)
        assert tried["relations"]
        table = session.project.views()[[row]]
        label, probability = model.best(row)
        scored = model.score(table)[0]
        assert scored[model.classes.index(label)] == pytest.approx(probability, abs=0.02)


def test_directions_follow_from_the_types_of_entities():
    documents = []
    for number in range(30):
        drug, disease = f"drug{number}", f"disease{number}"
        turned = number % 2
        text = f"{disease} is cured by {drug}." if turned else f"{drug} cures {disease}."
        where = [(name, text.index(name)) for name in (drug, disease)]
        entities = [
            Entity(f"T{place}", kind, ((start, start + len(name)),), name)
            for place, ((name, start), kind) in enumerate(
                zip(where, ("drug", "disease"), strict=True), 1
            )
        ]
        related = number % 3 > 0
        relation = Relation("R1", "Treats", (Argument("Agent", "T1"), Argument("Target", "T2")))
        relations = [relation] if related else []
        documents.append(
            Example(f"d{number}", views={"document": Document(text, entities, relations)})
        )
    model = kw.RelationExtractor(random_state=0, signatures=False).fit(documents)
    assert model.arguments_ == {"Treats": [["drug", "disease"]]}
    given = GivenModel(model)
    assert set(given.classes) == {NONE, "Treats(e1,e2)", "Treats(e2,e1)"}
    candidates = kw.relations.pair_candidates(documents)
    views = candidates.viewed(*model.views_, "types").table
    found = given.predict(views)
    plain = model.class_probabilities(views)[:, model.learner_.classes_.tolist().index("Treats")]
    for row in range(len(views)):
        way = "Treats(e2,e1)" if row % 2 else "Treats(e1,e2)"
        assert found[row, given.classes.index(way)] == plain[row] > 0
    assert np.allclose(found.sum(axis=1), 1)


def test_symmetric_types_have_no_direction():
    given = GivenModel(extractor(), symmetric=["Binds"])
    assert "Binds" in given.classes or "Binds(e1,e2)" in given.classes
    assert all(type_of(name) != name for name in given.classes if name not in (NONE, "Binds"))


def test_gates_of_the_given_model_are_shown(tmp_path):
    kernel = kw.OnView("stem-steps", kw.SubsequenceKernel(gates={"bind": 0.5}, gate_on="node"))
    model = kw.RelationExtractor(kernel=kernel, random_state=0)
    path = tmp_path / "gates.kwp"
    model.fit(load_interactions("train")[:60])
    with build_project(path, load_interactions("test")[:20], extractor=model) as project:
        assert ModelPage(Session(project)).page()["gates"] == [["bind", 0.5]]


@pytest.mark.parametrize(
    ("options", "said"),
    [({"views": ["path"]}, "view 'path'"), ({"candidates": "events"}, "predicts events")],
)
def test_models_that_do_not_fit_are_refused(tmp_path, options, said):
    model = copy(extractor())
    for name, value in options.items():
        setattr(model, {"views": "views_"}.get(name, name), value)
    with pytest.raises(ProjectError, match=said):
        build_project(tmp_path / "a.kwp", load_interactions("test")[:5], extractor=model)
    assert list(tmp_path.iterdir()) == []
