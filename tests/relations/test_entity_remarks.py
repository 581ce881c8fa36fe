"""Warnings of inputs without entities, and with entities of types that a model does not know."""

from __future__ import annotations

import warnings

import pytest

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.relations import PredictionCounts, predict_stream, type_remark

NONE = "the input has no entities, so it has no relations: "
UNKNOWN = "entity types that the model does not know: "
TEXT = "Raf binds Ras."
WRONG, RIGHT = {"protein": ["Raf", "Ras"]}, {"Protein": ["Raf", "Ras"]}


@pytest.fixture(scope="module")
def extractor():
    """Return an extractor that compares entity types, and has no tagger."""
    views = ["context", "types"]
    return kw.RelationExtractor(views=views, random_state=0).fit(load_interactions("train"))


def annotated(kind):
    entities = [kw.text.Entity(f"T{at}", kind, ((at, at + 3),)) for at in (0, 10)]
    return kw.Document(TEXT, entities)


def messages(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert all(one.filename == __file__ for one in caught)
    return [str(one.message) for one in caught]


def test_texts_in_which_nothing_finds_entities_are_warned_of(extractor):
    [found] = messages(lambda: extractor.extract([TEXT, TEXT]))
    assert found.startswith(f"{NONE}train with entities='learn'")


def test_documents_without_entities_are_warned_of(extractor):
    [found] = messages(lambda: extractor.predict([kw.Document(TEXT)]))
    assert found.startswith(f"{NONE}give documents with entities")


def test_there_are_no_warnings_if_entities_were_looked_for_or_some_document_has_them(extractor):
    assert messages(lambda: extractor.extract("It rains.", dictionary=RIGHT)) == []
    assert messages(lambda: extractor.predict([kw.Document(TEXT), annotated("Protein")])) == []
    assert messages(lambda: extractor.extract([])) == []


def test_types_that_the_model_does_not_know_are_warned_of_once(extractor):
    [found] = messages(lambda: extractor.extract([TEXT, TEXT], dictionary=WRONG))
    assert found.startswith(f"{UNKNOWN}protein; it was trained on Chemical, ")
    assert messages(lambda: extractor.predict([annotated("protein")] * 2)) == [found]
    assert messages(lambda: extractor.extract(TEXT, dictionary=RIGHT)) == []


def test_evaluation_warns_of_unknown_types_and_scores_do_not(extractor):
    documents = [annotated("protein")]
    assert any(m.startswith(UNKNOWN) for m in messages(lambda: extractor.evaluate(documents)))
    assert messages(lambda: extractor.score(documents)) == []


def test_models_that_do_not_compare_types_know_all():
    model = kw.RelationExtractor(views="context", random_state=0).fit(load_interactions("train"))
    assert type_remark(model, {"protein"}) == ""


def test_a_model_that_was_trained_on_some_types_needs_one_of_them(extractor):
    model = kw.RelationExtractor(types=["Protein"], random_state=0).fit(load_interactions("train"))
    remark = "entity types: the input has protein, the model only uses Protein"
    assert type_remark(model, {"protein"}) == remark
    assert type_remark(model, {"Chemical", "Protein"}) == type_remark(model, set()) == ""


def test_types_may_have_plus_signs(extractor):
    corpus = []
    for example in load_interactions("train"):
        sentence = example.view("sentence")
        renamed = tuple(e._replace(type=f"{e.type}+") for e in sentence.entities)
        corpus.append(example.with_views({"sentence": sentence._with(entities=renamed)}))
    model = kw.RelationExtractor(views="types", random_state=0).fit(corpus)
    assert type_remark(model, {"Protein+", "Chemical+"}) == ""
    assert type_remark(model, {"Other+"}).startswith(f"{UNKNOWN}Other+; ")


def test_a_stream_warns_once_for_all_batches(extractor, monkeypatch):
    monkeypatch.setattr("kernelwood.relations.prediction_stream._EXAMPLES", 1)
    examples = [
        kw.Example(name, views={"document": document})
        for name, document in zip(
            "abc", (annotated("protein"), kw.Document(TEXT), annotated("gene")), strict=True
        )
    ]

    def run():
        found = predict_stream(
            extractor, examples, lambda some: (some, extractor.predict(some)), PredictionCounts()
        )
        assert len(list(found)) == 3

    [found] = messages(run)
    assert found.startswith(f"{UNKNOWN}gene, protein; ")
