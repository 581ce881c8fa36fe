"""Pairs of entities as candidates."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from kernelwood.errors import StructureError
from kernelwood.relations import pair_candidates
from kernelwood.text import Argument, Document, Entity, Event, Example, Origin, Relation, Sentence

WORDS = ["Raf", "binds", "Ras", "and", "Mek", "."]
RAF = Entity("raf", "protein", ((0, 3),), "Raf")
RAS = Entity("ras", "protein", ((10, 13),), "Ras")
MEK = Entity("mek", "kinase", ((18, 21),), "Mek")


def example(entities=(RAF, RAS, MEK), relations=(), label=None, **parts):
    sentence = Sentence.from_words(WORDS, entities=entities, relations=relations, **parts)
    return Example("s1", label, {"sentence": sentence}, Origin("a.xml", 7))


def relation(name, first, second, type="interaction", holds=True):
    return Relation(name, type, (Argument("", first.id), Argument("", second.id)), holds)


def ids(candidates):
    return [tuple(entity.id for entity in candidate.entities) for candidate in candidates]


def test_every_pair_is_a_candidate_once():
    assert ids(pair_candidates([example()])) == [("raf", "ras"), ("raf", "mek"), ("ras", "mek")]


def test_entities_of_a_pair_stand_in_the_order_of_the_text():
    assert ids(pair_candidates([example((MEK, RAF))])) == [("raf", "mek")]


def test_pairs_that_hold_are_labeled_1_and_all_others_0():
    found = pair_candidates(
        [example(relations=[relation("p1", RAS, RAF), relation("p2", RAF, MEK, holds=False)])]
    )
    assert found.labels == [1, 0, 0]


def test_a_pair_has_the_id_of_a_relation_that_names_its_sentence():
    found = pair_candidates([example(relations=[relation("s1.p9", RAS, RAF)])])
    assert [candidate.id for candidate in found] == ["s1.p9", "s1.raf-mek", "s1.ras-mek"]


def test_ids_that_are_those_of_a_sentence_only_are_qualified():
    found = pair_candidates([example((RAF, RAS), [relation("r1", RAS, RAF)])])
    assert [candidate.id for candidate in found] == ["s1.raf-ras"]


def test_ids_do_not_name_the_sentence_three_times():
    long = [entity._replace(id=f"s1.{entity.id}") for entity in (RAF, RAS)]
    assert pair_candidates([example(long)])[0].id == "s1.raf-ras"


def test_labels_can_be_types():
    found = pair_candidates([example(relations=[relation("p1", RAS, RAF, "binds")])], labels="type")
    assert found.labels == ["binds", "none", "none"]


def test_labels_can_have_a_direction():
    relations = [relation("p1", RAS, RAF, "binds"), relation("p2", RAF, MEK, "cuts")]
    found = pair_candidates([example(relations=relations)], labels="directed")
    assert found.labels == ["binds(e2,e1)", "cuts(e1,e2)", "none"]


def test_labels_can_be_those_of_the_example():
    found = pair_candidates([example((RAF, RAS), label="Other")], labels="example")
    assert found.labels == ["Other"]


def test_candidates_can_be_without_labels():
    assert pair_candidates([example((RAF, RAS))], labels=None).labels == [None]


def test_unknown_labels_are_refused():
    with pytest.raises(ValueError, match="labels must be one of"):
        pair_candidates([], labels="yes")


def test_only_relations_that_are_wanted_count():
    relations = [relation("p1", RAF, RAS, "binds"), relation("p2", RAF, MEK, "cuts")]
    assert pair_candidates([example(relations=relations)], relations=["cuts"]).labels == [0, 1, 0]


def test_two_names_of_one_thing_are_no_relation_unless_asked_for():
    same = example((RAF, RAS), [relation("*", RAF, RAS, "Equiv")])
    assert pair_candidates([same]).labels == [0]
    assert pair_candidates([same]).tally.reasons == {}
    assert pair_candidates([same], relations=["Equiv"]).labels == [1]


def test_only_types_that_are_wanted_are_paired():
    assert ids(pair_candidates([example()], types=["protein"])) == [("raf", "ras")]


def test_a_single_name_may_be_given_as_a_string():
    relations = [relation("p1", RAF, RAS, "binds"), relation("p2", RAF, MEK, "cuts")]
    found = pair_candidates([example(relations=relations)], types="protein", relations="binds")
    assert (ids(found), found.labels) == ([("raf", "ras")], [1])


def test_relations_that_no_pair_can_stand_for_are_counted():
    three = Relation("r3", "binds", tuple(Argument("", one.id) for one in (RAF, RAS, MEK)))
    about = Relation("r4", "binds", (Argument("", "raf"), Argument("", "E1")))
    by = Relation("r5", "binds", (Argument("", "raf"), Argument("", "t")))
    trigger = Entity("t", "Binding", ((4, 9),))
    found = pair_candidates(
        [
            example(
                (RAF, RAS, MEK, trigger),
                [relation("r1", RAF, RAS), relation("r2", RAF, RAF), three, about, by],
                events=[Event("E1", "Binding", "t")],
            )
        ]
    )
    assert found.labels == [1, 0, 0]
    assert found.tally.reasons == {"relation that is not between two entities": 4}


def test_relations_that_are_denied_or_not_asked_for_are_not_missed():
    denied = relation("r1", RAF, RAF, holds=False)
    found = pair_candidates(
        [example(relations=[denied, relation("r2", RAS, RAS, "cuts")])], relations=["interaction"]
    )
    assert found.tally.reasons == {}


def test_triggers_are_not_paired():
    trigger = Entity("t", "Binding", ((4, 9),))
    found = pair_candidates([example((RAF, trigger, RAS), events=[Event("E1", "Binding", "t")])])
    assert ids(found) == [("raf", "ras")]


def test_distant_pairs_are_dropped_and_counted():
    found = pair_candidates([example()], max_distance=1)
    assert ids(found) == [("raf", "ras"), ("ras", "mek")]
    assert found.tally.reasons == {"more than 1 tokens apart": 1}


def test_entities_between_tokens_are_dropped_and_counted():
    blank = Entity("x", "protein", ((3, 4),))
    found = pair_candidates([example((RAF, blank))])
    assert (len(found), found.tally.reasons) == (0, {"an entity covers no token": 1})


def test_entities_without_tokens_are_fine_where_there_are_no_tokens():
    sentence = Sentence("Raf binds Ras.", entities=[RAF, RAS])
    assert len(pair_candidates([Example("s", views={"sentence": sentence})])) == 1


def test_the_origin_leads_to_file_line_and_characters():
    candidate = pair_candidates([example(start=100)])[0]
    assert candidate.origin == Origin("a.xml", 7, 100, 113)


def test_documents_are_cut_into_sentences():
    text = "Raf binds Ras.\nMek is cut by Erk."
    entities = [
        Entity("T1", "protein", ((0, 3),), "Raf"),
        Entity("T2", "protein", ((10, 13),), "Ras"),
        Entity("T3", "protein", ((15, 18),), "Mek"),
        Entity("T4", "protein", ((29, 32),), "Erk"),
    ]
    across = Relation("R1", "binds", (Argument("", "T1"), Argument("", "T3")))
    within = Relation("R2", "cuts", (Argument("", "T4"), Argument("", "T3")))
    document = Document(text, entities, [across, within])
    found = pair_candidates([Example("d", views={"document": document}, origin=Origin("d.txt", 1))])
    assert (ids(found), found.labels) == ([("T1", "T2"), ("T3", "T4")], [0, 1])
    assert [candidate.origin for candidate in found] == [
        Origin("d.txt", 1, 0, 13),
        Origin("d.txt", 2, 15, 32),
    ]
    assert found.tally.skipped == 1


@pytest.mark.parametrize(("given", "lines"), [(None, [1, 2, 4]), (1, [1, 2, 4]), (4, [4] * 3)])
def test_lines_are_counted_in_documents_that_are_a_file_of_their_own(given, lines):
    text = "Raf binds Ras.\nMek binds Erk.\n\nIt binds Sos."
    places = [(0, 3), (10, 13), (15, 18), (25, 28), (31, 33), (40, 43)]
    entities = [Entity(f"T{place[0]}", "protein", (place,)) for place in places]
    document = Example("d", views={"document": Document(text, entities)}, origin=Origin("d", given))
    assert [candidate.origin.line for candidate in pair_candidates([document])] == lines


def test_views_that_are_no_sentences_are_refused():
    with pytest.raises(StructureError, match="with a sentence or a document"):
        pair_candidates([Example("s", views={"sentence": "Raf binds Ras"})])


def test_views_are_made_by_name_and_by_function():
    dependencies = [(1, "nsubj", 0), (1, "dobj", 2), (2, "conj", 4)]
    found = pair_candidates([example(dependencies=dependencies)])
    examples = found.examples("path", length=lambda candidate: str(len(candidate.sentence.text)))
    assert [list(one.views) for one in examples] == [["path", "length"]] * 3
    assert examples[0].view("path").edges == ("", "nsubj-of", "dobj")
    assert (examples[0].label, examples[0].origin) == (0, found[0].origin)
    assert examples.tally.remarks == {}


def test_fallbacks_are_remarked_and_kept():
    examples = pair_candidates([example((RAF, RAS))]).examples("path")
    assert (len(examples), examples.tally.remarks) == (1, {"path: no path": 1})


def test_fallbacks_of_candidates_that_are_left_out_are_not_remarked():
    examples = pair_candidates([example((RAF, RAS))]).examples("path", "pet")
    assert (len(examples), examples.tally.remarks) == (0, {})


def test_views_that_cannot_be_made_are_counted():
    examples = pair_candidates([example((RAF, RAS))]).examples("pet")
    assert len(examples) == 0
    assert examples.tally.reasons == {"pet: the sentence has no constituency tree": 1}


def test_unknown_views_are_refused_with_a_guess():
    with pytest.raises(ValueError, match="did you mean 'path'"):
        pair_candidates([example()]).examples("paths")


def test_unknown_views_are_refused_even_if_there_is_no_candidate():
    with pytest.raises(ValueError, match="unknown view 'paths'"):
        pair_candidates([]).examples("paths")


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9)), max_size=6),
    st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=6),
)
def test_labels_are_those_of_the_annotation_whatever_the_order(places, related):
    entities = [
        Entity(f"e{number}", "protein", ((start, min(start + length, 23)),))
        for number, (start, length) in enumerate(places)
    ]
    linked = [(i, j) for i, j in sorted(related) if i < j < len(entities)]
    relations = [relation(f"r{i}{j}", entities[j], entities[i]) for i, j in linked]
    found = pair_candidates([example(entities, relations)])
    pairs = {frozenset((a.id, b.id)): c.label for c in found for a, b in [c.entities]}
    covered = [e for e in entities if found and Sentence.from_words(WORDS).tokens_of(e)]
    assert all(c.entities[0].start <= c.entities[1].start for c in found)
    assert pairs == {
        frozenset((a.id, b.id)): int((entities.index(a), entities.index(b)) in linked)
        for a, b in combinations(covered, 2)
    }
    total = len(entities) * (len(entities) - 1) // 2
    assert len(found) + found.tally.skipped == total
