"""Tests of relations between concepts as pairs of mentions."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, strategies as st

from kernelwood.errors import StructureError
from kernelwood.io.formats import concepts
from kernelwood.io.formats.concepts import ConceptRelation, ground_relations
from kernelwood.text import Document, Entity

TEXT = "Aa hits Bb. Aa and Aa hit Bb. Cc is alone."
PLACES = {"T1": 0, "T2": 8, "T3": 12, "T4": 19, "T5": 26, "T6": 30}
ENTITIES = [Entity(name, "gene", ((start, start + 2),)) for name, start in PLACES.items()]
MENTIONS = {"A": ["T1", "T3", "T4"], "B": ["T2", "T5"], "C": ["T6"]}


def targets(*relations: ConceptRelation, **options: object) -> list[tuple[str, ...]]:
    grounded = ground_relations(TEXT, ENTITIES, MENTIONS, relations, **options)
    return [tuple(argument.target for argument in made.arguments) for made in grounded.relations]


def reasons(*relations: ConceptRelation) -> list[str]:
    return [remark.reason for remark in ground_relations(TEXT, ENTITIES, MENTIONS, relations)[2]]


def test_every_pair_of_mentions_in_a_sentence_is_a_relation() -> None:
    assert targets(ConceptRelation("hit", "A", "B")) == [("T1", "T2"), ("T3", "T5"), ("T4", "T5")]


def test_order_of_the_concepts_is_kept() -> None:
    assert targets(ConceptRelation("hit", "B", "A"))[0] == ("T2", "T1")


def test_a_concept_with_itself_gives_every_pair_once() -> None:
    assert targets(ConceptRelation("like", "A", "A")) == [("T3", "T4")]


def test_a_mention_of_both_concepts_is_not_paired_with_itself() -> None:
    both = {"A": ["T1"], "B": ["T1", "T2"]}
    grounded = ground_relations(TEXT, ENTITIES, both, [ConceptRelation("hit", "A", "B")])
    assert [made.arguments[1].target for made in grounded.relations] == ["T2"]


def test_concepts_that_share_no_sentence_are_remarked() -> None:
    assert targets(ConceptRelation("hit", "A", "C")) == []
    assert reasons(ConceptRelation("hit", "A", "C")) == [
        "relation between concepts that share no sentence"
    ]


def test_a_concept_without_mentions_is_remarked() -> None:
    assert reasons(ConceptRelation("hit", "A", "Z")) == ["relation of a concept without a mention"]


def test_a_repeated_relation_is_remarked_and_read_once() -> None:
    once = ConceptRelation("like", "A", "A")
    assert targets(once, once) == targets(once)
    assert reasons(once, once) == ["relation between concepts that was given before"]


def test_sources_tell_the_relation_between_concepts() -> None:
    asked = [ConceptRelation("hit", "A", "C"), ConceptRelation("like", "A", "A")]
    assert ground_relations(TEXT, ENTITIES, MENTIONS, asked).sources == (1,)


def test_ids_that_are_taken_are_not_used() -> None:
    asked = [ConceptRelation("like", "A", "A")]
    [made] = ground_relations(TEXT, ENTITIES, MENTIONS, asked, taken=["R1"]).relations
    assert made.id == "R2"


def test_given_sentences_are_used() -> None:
    whole = [(0, len(TEXT))]
    assert len(targets(ConceptRelation("hit", "A", "C"), sentences=whole)) == 3


def test_a_negative_relation_stays_negative() -> None:
    asked = [ConceptRelation("hit", "A", "B", False)]
    made = ground_relations(TEXT, ENTITIES, MENTIONS, asked).relations
    assert not any(relation.holds for relation in made)


def test_too_many_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concepts, "_MAX_RELATIONS", 5)
    asked = [ConceptRelation(kind, "A", "B") for kind in "xy"]
    with pytest.raises(StructureError, match="more than 5 pairs of mentions"):
        ground_relations(TEXT, ENTITIES, MENTIONS, asked)


@given(st.lists(st.sampled_from("ABCD"), min_size=1, max_size=12), st.integers(0, 3))
def test_pairs_are_those_of_the_sentences_of_the_document(names: list[str], length: int) -> None:
    words = [
        f"{name}a" + ("." if place % (length + 2) == 0 else "") for place, name in enumerate(names)
    ]
    text = " ".join(words)
    starts = [sum(len(word) + 1 for word in words[:place]) for place in range(len(words))]
    entities = [Entity(f"T{place}", "x", ((at, at + 2),)) for place, at in enumerate(starts)]
    mentions = {
        name: [f"T{place}" for place, other in enumerate(names) if other == name] for name in "ABCD"
    }
    asked = [ConceptRelation("r", "A", "B")]
    expected = [
        (first.id, second.id)
        for sentence in Document(text, entities).sentences()
        for first, second in product(sentence.entities, sentence.entities)
        if first.id in mentions["A"] and second.id in mentions["B"]
    ]
    made = ground_relations(text, entities, mentions, asked).relations
    assert [tuple(argument.target for argument in item.arguments) for item in made] == expected
