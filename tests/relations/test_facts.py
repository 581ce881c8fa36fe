"""Facts: predictions of a corpus, counted once for each pair of entities and type."""

from __future__ import annotations

import math

import pytest
from fact_samples import event, facts_of, mention, pair, predicted
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.errors import KernelInputError
from kernelwood.relations import FactCounter, Facts


def names(facts):
    return [tuple(entity.name for entity in fact.entities) for fact in facts]


# Which mentions are the same entity.


def test_equal_pairs_of_two_documents_are_one_fact():
    (fact,) = facts_of(pair(document="a"), pair(document="b"))
    assert (fact.count, fact.documents, fact.n_documents) == (2, ("a", "b"), 2)


@pytest.mark.parametrize("spelling", ["IL2", "il 2", "IL-2", "Il\u20112"])
def test_spelling_variants_are_one_entity(spelling):
    (fact,) = facts_of(pair("IL-2"), pair(spelling, document="b"), pair("IL-2", document="c"))
    assert fact.first.name == "IL-2"
    assert set(fact.first.spellings) == {"IL-2", spelling}


def test_a_word_cut_elsewhere_is_another_entity():
    assert len(facts_of(pair("p 53 a"), pair("p 5 3a"))) == 2


def test_entities_of_another_type_are_others():
    drug = predicted(mention("Raf", kind="drug"), mention("Ras", 10, role="second"))
    assert len(facts_of(pair(), drug)) == 2


def test_a_name_is_the_same_in_all_facts():
    found = facts_of(pair("IL-2", "Ras"), pair("IL2", "Mek"), pair("IL2", "Erk"))
    assert {entity.name for entity in found.entities} == {"IL2", "Ras", "Mek", "Erk"}


def test_equal_references_are_one_entity_by_id():
    both = pair("Raf", references=("U:1", "U:2")), pair("c-raf", references=("U:1", "U:2"))
    assert len(facts_of(*both)) == 2
    (fact,) = facts_of(*both, by="id")
    assert (fact.first.reference, fact.second.reference) == ("U:1", "U:2")


def test_the_type_of_an_entity_by_id_is_the_most_frequent():
    kinds = ["gene", "protein", "protein"]
    found = facts_of(
        *(
            predicted(mention("Raf", kind=kind, reference="U:1"), mention("Ras", 10, role="second"))
            for kind in kinds
        ),
        by="id",
    )
    assert [(fact.count, fact.first.type, fact.first.reference) for fact in found] == [
        (3, "protein", "U:1")
    ]


def test_mentions_without_reference_are_identified_by_text_and_have_none():
    found = facts_of(pair("Raf", references=("U:1", "")), pair("Raf", document="b"), by="id")
    assert sorted(fact.first.reference for fact in found) == ["", "U:1"]


def test_by_text_the_most_frequent_reference_is_given():
    found = facts_of(pair(references=("U:1", "")), pair(references=("U:1", "")), pair())
    assert {entity.name: entity.reference for entity in found.entities} == {"Raf": "U:1", "Ras": ""}


def test_an_unknown_way_to_count_is_refused():
    with pytest.raises(KernelInputError, match="by must be 'text' or 'id', got 'name'"):
        FactCounter("name")
    with pytest.raises(KernelInputError, match="n_sentences must be 0 or more"):
        FactCounter(n_sentences=-1)


# Directions.


def test_a_relation_without_direction_is_unordered():
    (fact,) = facts_of(pair("Raf", "Ras"), pair("Ras", "Raf"))
    assert not fact.directed
    assert fact.count == 2


def test_a_relation_with_direction_is_ordered():
    activates = {"kind": "activates", "relation": "activates(e1,e2)"}
    found = facts_of(pair("Raf", "Ras", **activates), pair("Ras", "Raf", **activates))
    assert [fact.directed for fact in found] == [True, True]
    assert names(found) == [("Raf", "Ras"), ("Ras", "Raf")]


def test_spans_follow_the_order_of_the_entities():
    (fact,) = facts_of(pair("Zap", "Abl"))
    assert names([fact]) == [("Abl", "Zap")]
    assert (fact.sentences[0].first, fact.sentences[0].second) == (((10, 13),), ((0, 3),))


def test_directions_of_entity_types_count():
    scheme = kw.relations.relation_classes.RelationClasses(
        "directed", (), {"treats": ["", ""]}, {"treats": [["drug", "disease"]]}
    )
    sentence = kw.Sentence("pain, aspirin")
    ends = [("T1", "disease", ((0, 4),)), ("T2", "drug", ((6, 13),))]
    entities = [kw.text.Entity(*end) for end in ends]
    parts = tuple(zip(("first", "second"), entities, strict=True))
    candidates = kw.relations.Candidates.of_rows([kw.text.Candidate("p", sentence, parts)])
    predictions = kw.relations.Predictions(candidates, ["treats"], [0.9], 0.5, scheme=scheme)
    (fact,) = predictions.facts()
    assert str(fact) == "aspirin → pain: treats"


# Events.


def test_a_catalyst_and_its_participant_are_a_directed_fact():
    (fact,) = facts_of(event("catalyst", "participant"))
    assert (names([fact]), fact.directed) == ([("Raf", "Ras")], True)


def test_two_participants_are_a_fact_without_direction():
    (fact,) = facts_of(event("participant", "participant"))
    assert (names([fact]), fact.directed) == ([("Raf", "Ras")], False)


def test_a_catalyst_with_two_participants_gives_three_facts():
    found = facts_of(event("catalyst", "participant", "participant"))
    assert {(*name, fact.directed) for name, fact in zip(names(found), found, strict=True)} == {
        ("Raf", "Ras", True),
        ("Raf", "Mek", True),
        ("Mek", "Ras", False),
    }


def test_an_event_with_one_participant_has_no_second_entity():
    (fact,) = facts_of(event("participant", kind="Gene_expression"))
    assert fact.second is None
    assert str(fact) == "Raf: Gene_expression"
    assert fact.to_dict()["second"] is None
    assert fact.sentences[0].trigger == ((4, 9),)


# Probabilities and sentences.


def test_probabilities_of_documents_are_combined():
    same = pair(document="a", probability=0.5), pair(document="a", probability=0.6)
    (fact,) = facts_of(*same, pair(document="b", probability=0.5))
    assert fact.probability == 0.6
    assert fact.combined == pytest.approx(1 - 0.4 * 0.5)


def test_a_certain_prediction_is_combined():
    (fact,) = facts_of(pair(probability=1.0), pair(document="b", probability=0.6))
    assert fact.combined == 1.0


def test_candidates_below_the_threshold_are_counted_on_request():
    denied = pair(probability=0.1)
    assert len(facts_of(denied)) == 0
    assert len(facts_of(denied, all=True)) == 1


def test_the_best_sentences_are_kept_once_each():
    chances = [0.6, 0.9, 0.7, 0.8]
    found = [pair(document=f"d{i}", probability=p) for i, p in enumerate(chances)]
    again = pair(document="d1", probability=0.95, name="p2")
    (fact,) = facts_of(*found, again, n_sentences=2)
    assert [(one.document, one.probability) for one in fact.sentences] == [
        ("d1", 0.95),
        ("d3", 0.8),
    ]


def test_marked_sentences_have_the_spans_of_the_sentence():
    late = predicted(mention("Raf", 100), mention("Ras", 110, role="second"), start=100)
    (fact,) = facts_of(late)
    assert str(fact.sentences[0].marked).startswith("[Raf] binds [Ras]")


# The collection.


def test_facts_are_sorted_by_combined_probability_and_count():
    found = facts_of(
        pair("A", "B", probability=0.6),
        pair("C", "D", probability=0.9),
        pair("E", "F", probability=0.9),
        pair("E", "F", probability=0.9, name="p2"),
    )
    assert names(found) == [("E", "F"), ("C", "D"), ("A", "B")]


def test_a_slice_of_facts_is_facts():
    found = facts_of(pair("A", "B"), pair("C", "D"))
    assert isinstance(found[:1], Facts)
    assert len(found[:1]) == 1
    assert repr(found) == "<Facts: 2 facts, 4 entities, by text>"


# Properties.

_names = st.sampled_from(["IL-2", "IL2", "il 2", "Raf", "RAF", "TNF-alpha", "TNFα", "x"])
_pairs = st.builds(
    pair,
    _names,
    _names,
    references=st.tuples(st.sampled_from(["", "U:1"]), st.sampled_from(["", "U:2", "U:3"])),
    document=st.sampled_from("abc"),
    kind=st.sampled_from(["binds", "activates"]),
    relation=st.sampled_from([None, "activates(e1,e2)"]),
    probability=st.floats(0, 1),
    name=st.sampled_from(["p1", "p2"]),
)
_events = st.builds(
    event,
    st.sampled_from(["catalyst", "participant"]),
    st.sampled_from(["participant"]),
    document=st.sampled_from("abc"),
    probability=st.floats(0, 1),
)
_some = st.lists(_pairs | _events, max_size=12)
_by = st.sampled_from(["text", "id"])


@given(_some, st.integers(0, 12), _by, st.randoms(use_true_random=False))
def test_facts_do_not_depend_on_batches_and_order(predictions, cut, by, random):
    counter = FactCounter(by)
    counter.add(predictions[cut:])
    counter.add(predictions[:cut])
    shuffled = random.sample(predictions, len(predictions))
    assert counter.facts() == facts_of(*predictions, by=by) == facts_of(*shuffled, by=by)


@given(_some)
def test_facts_are_those_of_a_plain_count(predictions):
    fold = {
        "IL2": "il 2",
        "IL-2": "il 2",
        "il 2": "il 2",
        "RAF": "raf",
        "TNFα": "t",
        "TNF-alpha": "t",
    }
    plain = {}
    for one in predictions:
        if not one.positive:
            continue
        ends = [fold.get(part.text, part.text.lower()) for part in one.participants]
        directed = one.trigger is None and one.relation != one.type
        if one.trigger is not None:
            directed = one.participants[0].role == "catalyst"
        if not directed:
            ends.sort()
        plain.setdefault((*ends, one.type, directed), []).append(one)
    found = facts_of(*predictions)
    assert len(found) == len(plain)
    assert sorted(fact.count for fact in found) == sorted(map(len, plain.values()))
    for fact in found:
        ends = [fold.get(one.name, one.name.lower()) for one in fact.entities]
        ones = plain[(*(ends if fact.directed else sorted(ends)), fact.type, fact.directed)]
        best = {}
        for one in ones:
            best[one.document] = max(one.probability, best.get(one.document, 0))
        assert fact.documents == tuple(sorted(best))
        assert fact.probability == max(best.values())
        product = math.prod(1 - p for p in best.values())
        assert fact.combined == pytest.approx(1 - product)
        assert fact.probability <= fact.combined <= 1
