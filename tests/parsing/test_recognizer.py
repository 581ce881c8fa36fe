"""Entities that parsers recognize, as an object that annotates documents."""

from __future__ import annotations

import pytest
from parsing.stanza_stand_in import Pipeline

from kernelwood.errors import KernelInputError
from kernelwood.parsing import EntityRecognizer
from kernelwood.text import Document, Entity

BARE = Document("We go. We go. We go.")


def test_documents_without_entities_get_those_of_the_parser():
    made = EntityRecognizer(Pipeline()).annotate(BARE)
    assert made.entities == (
        Entity("T1", "W", ((0, 2),), "We"),
        Entity("T2", "W", ((7, 9),), "We"),
        Entity("T3", "W", ((14, 16),), "We"),
    )


def test_offsets_in_a_later_sentence_count_from_its_beginning():
    _, second, _ = BARE.sentences()
    made = EntityRecognizer(Pipeline()).annotate(second)
    assert [entity.spans for entity in made.entities] == [((0, 2),)]


def test_documents_with_entities_are_left_alone():
    document = Document(BARE.text, [Entity("T1", "X", ((3, 5),))])
    assert EntityRecognizer(Pipeline()).annotate(document) is document


def test_a_parser_that_recognizes_nothing_is_refused():
    with pytest.raises(KernelInputError, match="'biomedical' does not recognize entities"):
        EntityRecognizer("biomedical")
