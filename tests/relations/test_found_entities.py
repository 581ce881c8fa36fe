"""Extractors that find the entities of texts by themselves."""

from copy import copy

import pytest
from sklearn.base import clone

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.entities import Dictionary, EntityTagger
from kernelwood.errors import KernelInputError, ModelFormatError
from kernelwood.text import Document, Entity, Example, Sentence

TEXT = "RAK2 activates TORP1 in T cells. Then TORP1 binds HAB1."
FAST = {"views": "context", "parser": "biomedical", "random_state": 0}


@pytest.fixture(scope="module")
def corpus():
    return load_interactions("train")[:120]


@pytest.fixture(scope="module")
def extractor(corpus):
    return kw.RelationExtractor(entities="learn", **FAST).fit(corpus)


def pairs(predictions):
    return [tuple(entity.text for _, entity in one.candidate.participants) for one in predictions]


def test_relations_are_extracted_from_plain_text(extractor):
    found = extractor.extract(TEXT, all=True)
    assert pairs(found) == [("RAK2", "TORP1"), ("TORP1", "HAB1")]


def test_without_a_tagger_plain_text_has_no_candidates(corpus):
    model = kw.RelationExtractor(**FAST).fit(corpus)
    assert model.tagger_ is None
    with pytest.warns(UserWarning, match="no entities"):
        assert not model.extract(TEXT, all=True)


def test_entities_of_a_text_are_kept_and_none_are_added(extractor):
    marked = Document(TEXT, [Entity("T1", "Protein", ((0, 4),)), Entity("T2", "Cell", ((24, 31),))])
    assert pairs(extractor.extract(marked, all=True)) == [("", "")]
    assert extractor.find_entities(marked) == marked


def test_the_tagger_can_be_left_out(extractor):
    with pytest.warns(UserWarning, match="no entities"):
        assert not extractor.extract(TEXT, find_entities=False, all=True)


def test_a_dictionary_adds_to_what_is_found(extractor):
    listed = Dictionary([("T cells", "Protein"), ("HAB1", "Gene", "DB:7")])
    document = extractor.find_entities(Document(TEXT), listed)
    assert [(one.type, one.text) for one in document.entities] == [
        ("Protein", "RAK2"),
        ("Protein", "TORP1"),
        ("Protein", "T cells"),
        ("Protein", "TORP1"),
        ("Gene", "HAB1"),
    ]
    assert ("RAK2", "T cells") in pairs(extractor.extract(TEXT, dictionary=listed, all=True))


def test_sentences_without_entities_get_some(extractor):
    [sentence] = Document("RAK2 activates TORP1.").sentences()
    example = Example("s", views={"sentence": sentence})
    assert pairs(extractor.extract([example], all=True)) == [("RAK2", "TORP1")]
    assert isinstance(extractor.find_entities(sentence), Sentence)


def test_any_object_that_annotates_can_be_given(extractor):
    class Recognizer:
        def annotate(self, document):
            return Document(document.text, [("T1", "Cell", ((24, 31),), "T cells")])

    assert pairs(extractor.extract(TEXT, dictionary=Recognizer(), all=True)) == [
        ("RAK2", "TORP1"),
        ("RAK2", "T cells"),
        ("TORP1", "T cells"),
        ("TORP1", "HAB1"),
    ]


def test_a_dictionary_can_be_part_of_the_model(corpus, tmp_path):
    listed = Dictionary([("RAK2", "Protein"), ("TORP1", "Protein")])
    model = kw.RelationExtractor(entities=listed, **FAST).fit(corpus)
    kw.save(model, tmp_path / "model.kw")
    loaded = kw.load(tmp_path / "model.kw")
    assert pairs(loaded.extract(TEXT, all=True)) == [("RAK2", "TORP1")]


def test_a_tagger_with_other_parameters_is_copied_and_fitted(corpus):
    given = EntityTagger(l2=0.5)
    model = kw.RelationExtractor(entities=given, types="Protein", **FAST).fit(corpus)
    assert not hasattr(given, "types_") and given.types is None
    assert model.tagger_.l2 == 0.5 and model.tagger_.types_ == ["Protein"]


def test_an_extractor_with_a_tagger_is_loaded_as_it_was(extractor, tmp_path):
    kw.save(extractor, tmp_path / "model.kw")
    loaded = kw.load(tmp_path / "model.kw")
    before, after = (one.extract(TEXT, all=True) for one in (extractor, loaded))
    assert [one.to_dict() for one in before] == [one.to_dict() for one in after]
    assert loaded.tagger_.held_out_ == extractor.tagger_.held_out_


def test_threads_and_repetition_do_not_change_the_file(extractor, corpus, tmp_path):
    again = kw.RelationExtractor(entities="learn", n_jobs=2, **FAST).fit(corpus)
    for name, model in (("a.kw", extractor), ("b.kw", again)):
        kw.save(model, tmp_path / name)
    assert (tmp_path / "a.kw").read_bytes() == (tmp_path / "b.kw").read_bytes()


def test_a_model_whose_tagger_is_another_is_refused(extractor, tmp_path):
    for wrong in (None, Dictionary([("a", "b")]), EntityTagger()):
        changed = copy(extractor)
        changed.tagger_ = wrong
        with pytest.raises(ModelFormatError, match="tagger_ must be"):
            kw.save(changed, tmp_path / "model.kw")


def test_the_card_says_how_entities_are_found(extractor):
    card = kw.relations.card_of(extractor)["entities"]
    assert card["found_by"] == "a learned tagger"
    assert set(card["held_out"]) == {"precision", "recall", "f1"}
    assert card["mentions"] == extractor.tagger_.n_mentions_


def test_parameters_are_checked_and_cloned():
    with pytest.raises(KernelInputError, match="entities must be 'learn', an EntityTagger"):
        kw.RelationExtractor(entities="yes").fit([])
    with pytest.raises(KernelInputError, match="EntityTagger: l1 must be"):
        kw.RelationExtractor(entities=EntityTagger(l1=-1)).fit([])
    assert clone(kw.RelationExtractor(entities="learn")).entities == "learn"
    assert clone(kw.RelationExtractor(entities=EntityTagger(l2=2.0))).entities.l2 == 2.0


def test_events_are_found_between_found_entities():
    from test_defaults import events

    examples = [
        Example(f"d{n}", views={"sentence": one.view("sentence")}) for n, one in enumerate(events())
    ]
    model = kw.RelationExtractor(
        candidates="events", views="context", entities="learn", random_state=0
    )
    with pytest.warns(UserWarning, match="small corpus"):
        model.fit(examples)
    assert model.tagger_.types_ == ["protein"]
