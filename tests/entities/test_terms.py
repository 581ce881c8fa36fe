"""Dictionaries made from annotation, and names that are found again."""

import numpy as np
import pytest

from kernelwood.entities import Dictionary, Mention, harvest_terms
from kernelwood.entities.repeats import add_repeats
from kernelwood.entities.tagger_features import cut_text
from kernelwood.entities.terms import TermCounts
from kernelwood.errors import KernelInputError
from kernelwood.text import Attribute, Document, Entity, Event


def document(text, *marked, kind="protein", id=None, events=()):
    """Return a document in which the first of each of these words is an entity."""
    places = [(text.index(word), word) for word in marked]
    entities = [
        Entity(f"T{n}", kind, ((place, place + len(word)),), word)
        for n, (place, word) in enumerate(places)
    ]
    attributes = [Attribute("N1", "Reference", "T0", f"{id}\tname")] if id else []
    return Document(text, entities, attributes=attributes, events=events)


def rows(*documents, **options):
    return [tuple(term) for term in harvest_terms(documents, **options).terms]


def test_terms_are_in_alphabetical_order_with_types():
    assert rows(
        document("Ras and Raf", "Ras", "Raf"), document("insulin", "insulin", kind="x")
    ) == [
        ("Raf", "protein", ""),
        ("Ras", "protein", ""),
        ("insulin", "x", ""),
    ]


def test_the_most_frequent_type_and_id_are_taken():
    made = rows(
        document("Ras a", "Ras", id="DB:1"),
        document("Ras b", "Ras", id="DB:2"),
        document("Ras c", "Ras", id="DB:2"),
        document("Ras d", "Ras", kind="gene", id="DB:1"),
    )
    assert made == [("Ras", "protein", "DB:2")]


def test_words_that_are_rarely_entities_are_left_out():
    documents = [document("was seen", "was"), document("it was old and was new")]
    assert rows(*documents) == []
    assert harvest_terms(documents).tally.reasons == {"term that is rarely an entity": 1}
    assert rows(*documents, min_share=0.3) == [("was", "protein", "")]


def test_rare_terms_can_be_left_out():
    documents = [document("Ras and Raf", "Ras", "Raf"), document("Ras", "Ras")]
    made = harvest_terms(documents, min_count=2)
    assert [term.term for term in made.terms] == ["Ras"]
    assert made.tally.reasons == {"term that is annotated too rarely": 1}


def test_triggers_single_letters_and_other_types_are_left_out():
    one = document("Ras binds A", "Ras", "binds", "A", events=[Event("E1", "Binding", "T1", ())])
    assert rows(one) == [("Ras", "protein", "")]
    assert rows(one, types=["gene"]) == []


@pytest.mark.parametrize("options", [{"min_count": 0}, {"min_count": True}, {"min_share": 2}])
def test_options_are_checked(options):
    with pytest.raises(KernelInputError, match="must be"):
        harvest_terms([], **options)


def test_features_of_training_texts_do_not_know_their_own_annotation():
    texts = ["Ras and Raf", "Ras alone"]
    mentions = [[Mention(0, 3, "p"), Mention(8, 11, "p")], [Mention(0, 3, "p")]]
    counted = TermCounts(texts, mentions, ["a", "b"])
    everything = counted.counts()
    assert list(counted.listed(0, everything, own=True)) == [(0, 3, "hcp")]  # from the other text
    assert list(counted.listed(0, everything, own=False)) == [(0, 3, "hdp"), (8, 11, "hcp")]
    held_out = counted.counts(np.array([True, False]))
    assert list(counted.listed(1, held_out, own=False)) == [(0, 3, "hcp")]
    together = TermCounts(texts, mentions, ["a", "a"])
    assert list(together.listed(0, together.counts(), own=True)) == []


def repeated(mentions, *texts, least=0.5):
    made = add_repeats([(text, cut_text(text)) for text in texts], mentions, least)
    return [
        [(text[one.start : one.end], one.start, one.type) for one in some]
        for text, some in zip(texts, made, strict=True)
    ]


def test_names_are_found_again_in_all_texts_of_a_document():
    assert repeated([[Mention(0, 3, "p", 0.9)], []], "Ras is Ras", "no Ras-like RAS or Rast") == [
        [("Ras", 0, "p"), ("Ras", 7, "p")],
        [("Ras", 3, "p")],
    ]


def test_improbable_and_short_names_are_not_looked_for():
    assert repeated([[Mention(0, 3, "p", 0.4), Mention(4, 5, "p", 1.0)]], "Ras a Ras a") == [
        [("Ras", 0, "p"), ("a", 4, "p")]
    ]


def test_longer_names_come_first_and_nothing_overlaps():
    text = "Ras-Raf and Ras; then Ras-Raf, Ras"
    found = repeated([[Mention(0, 7, "c", 0.9), Mention(12, 15, "p", 0.9)]], text)
    assert found == [
        [("Ras-Raf", 0, "c"), ("Ras", 12, "p"), ("Ras-Raf", 22, "c"), ("Ras", 31, "p")]
    ]


def test_the_most_probable_type_is_taken():
    found = repeated([[Mention(0, 3, "p", 0.6), Mention(4, 7, "q", 0.9)]], "Ras Ras Ras")
    assert [kind for _, _, kind in found[0]] == ["p", "q", "q"]


def test_what_is_harvested_is_found():
    made = harvest_terms([document("IL-2 binds", "IL-2")])
    assert isinstance(made, Dictionary) and [one.text for one in made.find("an IL2 gene")] == [
        "IL2"
    ]
