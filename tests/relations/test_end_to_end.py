"""Relations from plain text, evaluated against annotation."""

import pytest

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.entities import Dictionary
from kernelwood.errors import KernelInputError
from kernelwood.relations import EndToEnd, Rates, score_end_to_end
from kernelwood.text import Argument, Document, Entity, Example, Relation

FAST = {"views": "context", "parser": "given", "random_state": 0}
TERMS = [("Raf", "protein"), ("Ras", "protein"), ("Mek", "protein"), ("Erk", "protein")]


def document(name, text, related=(), kind="protein"):
    """Return a document in which all terms are entities, and some pairs are related."""
    listed = Dictionary([(term, kind) for term, _ in TERMS])
    entities = listed.find(text)
    ids = {entity.text: entity.id for entity in entities}
    relations = [
        Relation(f"R{n}", "binds", (Argument("Arg1", ids[a]), Argument("Arg2", ids[b])))
        for n, (a, b) in enumerate(related)
    ]
    return Example(name, views={"document": Document(text, entities, relations)})


def corpus():
    made = []
    for n in range(12):
        made.append(document(f"a{n}", f"Raf binds Ras in {n}.", [("Raf", "Ras")]))
        made.append(document(f"b{n}", f"Mek sits beside Erk in {n}."))
    return made


@pytest.fixture(scope="module")
def extractor():
    listed = Dictionary(TERMS)
    with pytest.warns(UserWarning, match="small corpus"):
        return kw.RelationExtractor(entities=listed, **FAST).fit(corpus())


NEW = [
    document("x", "Then Raf binds Ras.", [("Raf", "Ras")]),
    document("y", "Then Mek sits beside Raf."),
    document("z", "Then Erk binds Mek.", [("Erk", "Mek")]),
]


def test_with_all_entities_found_nothing_is_lost(extractor):
    found = score_end_to_end(extractor, NEW)
    assert found.mentions == Rates(6, 6, 6)
    gold = extractor.predict(NEW, all=True)
    assert found.relations == Rates(2, len(gold.relations), 2)


def test_relations_of_entities_that_are_not_found_are_missed(extractor):
    model = with_entities(extractor, TERMS[:2])
    found = score_end_to_end(model, NEW)
    assert found.relations == Rates(1, 1, 2)
    assert found.relations.recall == 0.5 and found.relations.f1 == pytest.approx(2 / 3)
    assert found.types == {"binds": Rates(1, 1, 2)}


def test_entities_of_another_type_are_wrong(extractor):
    model = with_entities(extractor, [(term, "gene") for term, _ in TERMS])
    found = score_end_to_end(model, NEW)
    assert found.relations.right == 0 and found.relations.annotated == 2


def test_entities_with_other_spans_are_wrong(extractor):
    model = with_entities(extractor, [("Then Raf", "protein"), ("Ras", "protein")])
    found = score_end_to_end(model, NEW[:1])
    assert found.relations.right == 0 and found.mentions.right == 1


def with_entities(extractor, terms):
    from copy import copy

    made = copy(extractor)
    made.tagger_ = made.entities = Dictionary(terms)
    return made


def test_annotation_does_not_help_to_find_entities():
    marked = document("x", "Then Raf binds Foo.")
    marked = Example(
        "x",
        views={
            "document": Document(
                marked.view("document").text,
                [*marked.view("document").entities, Entity("T9", "protein", ((15, 18),), "Foo")],
            )
        },
    )
    with pytest.warns(UserWarning, match="small corpus"):
        model = kw.RelationExtractor(entities=Dictionary(TERMS), **FAST).fit(corpus())
    assert score_end_to_end(model, [marked]).mentions == Rates(1, 1, 2)


@pytest.mark.filterwarnings("ignore:small corpus", "ignore:few documents", "ignore:.*test")
def test_evaluate_shows_both(extractor):
    scores = extractor.evaluate(NEW, n_bootstrap=0, end_to_end=True)
    assert scores.end_to_end == score_end_to_end(extractor, NEW)
    assert "with found entities, relations: precision" in str(scores)
    assert scores.to_dict()["end_to_end"]["mentions"]["f1"] == 1.0
    assert extractor.evaluate(NEW, n_bootstrap=0).end_to_end is None


def test_an_extractor_that_finds_no_entities_is_refused(extractor):
    model = with_entities(extractor, TERMS)
    model.tagger_ = model.entities = None
    with pytest.raises(KernelInputError, match="does not find entities"):
        score_end_to_end(model, NEW)
    with pytest.raises(KernelInputError, match="needs documents, not predictions"):
        extractor.evaluate(extractor.predict(NEW, all=True), end_to_end=True)


def test_each_fold_is_found_by_a_tagger_of_the_others():
    sentences = load_interactions("train")[:90]
    model = kw.RelationExtractor(**FAST)
    found = model.cross_validate(sentences, n_splits=2, n_bootstrap=0, end_to_end=True).pooled
    n_mentions = sum(len(one.view("sentence").entities) for one in sentences)
    assert found.end_to_end.mentions.annotated == n_mentions
    assert 0 < found.end_to_end.relations.f1 < found.f1
    assert 0.3 < found.end_to_end.mentions.f1 < 1


def test_rates_add_up():
    one = EndToEnd(Rates(1, 2, 3), Rates(4, 5, 6), {"a": Rates(1, 2, 3)})
    assert one + EndToEnd() == one
    assert (one + one).types == {"a": Rates(2, 4, 6)}
    assert Rates().f1 == Rates().precision == Rates().recall == 0.0
