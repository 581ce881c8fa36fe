"""Triggers with participants and catalysts as candidates."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given, strategies as st

from kernelwood.relations import Candidates, event_candidates, flatten_events
from kernelwood.structures import Graph
from kernelwood.text import Argument, Entity, Event, Example, Origin, Sentence

WORDS = ["Sos", "promotes", "binding", "of", "Ras", "to", "GTP"]
DEPENDENCIES = [(1, "nsubj", 0), (1, "dobj", 2), (2, "prep_of", 4), (2, "prep_to", 6)]
SPANS = {"sos": (0, 3), "promote": (4, 12), "bind": (13, 20), "ras": (24, 27), "gtp": (31, 34)}
PROTEINS = {name: Entity(name, "Protein", (SPANS[name],)) for name in ("sos", "ras", "gtp")}
TRIGGERS = [
    Entity("promote", "Positive_regulation", (SPANS["promote"],)),
    Entity("bind", "Binding", (SPANS["bind"],)),
]
BINDING = Event("E1", "Binding", "bind", (Argument("Theme", "ras"), Argument("Theme2", "gtp")))
PROMOTION = Event(
    "E2", "Positive_regulation", "promote", (Argument("Theme", "E1"), Argument("Cause", "sos"))
)


ALL = (*PROTEINS.values(), *TRIGGERS)


def example(entities=ALL, events=(BINDING, PROMOTION), **parts):
    sentence = Sentence.from_words(WORDS, entities=entities, events=events, **parts)
    return Example("s1", None, {"sentence": sentence}, Origin("a.txt", 3))


def shape(candidate):
    return candidate.trigger.id, tuple((role, e.id) for role, e in candidate.participants)


def test_candidates_are_all_ways_to_fill_an_interaction():
    found = event_candidates([example()])
    # For each trigger: 3 single participants and 3 pairs, alone or with one of the others.
    assert len(found) == 2 * (3 * (1 + 2) + 3 * (1 + 1))
    assert len({candidate.id for candidate in found}) == len(found)


def test_what_the_annotation_says_is_labeled_1():
    found = event_candidates([example()])
    assert [shape(candidate) for candidate in found if candidate.label == 1] == [
        ("promote", (("catalyst", "sos"), ("participant", "ras"), ("participant", "gtp"))),
        ("bind", (("participant", "ras"), ("participant", "gtp"))),
    ]
    assert {candidate.label for candidate in found} == {0, 1}


def test_nothing_is_dropped_where_all_can_be_said():
    assert event_candidates([example()]).tally.reasons == {}


def test_each_cause_of_an_event_makes_a_candidate_true():
    causes = (Argument("Theme", "gtp"), Argument("Cause", "sos"), Argument("Cause2", "ras"))
    found = event_candidates([example(events=[Event("E1", "Binding", "bind", causes)])])
    assert [shape(candidate) for candidate in found if candidate.label == 1] == [
        ("bind", (("catalyst", "sos"), ("participant", "gtp"))),
        ("bind", (("catalyst", "ras"), ("participant", "gtp"))),
    ]


def test_a_single_type_may_be_given_as_a_string():
    found = event_candidates([example()], triggers="Binding", types="Protein")
    assert len(found) == 3 * (1 + 2) + 3 * (1 + 1)
    assert {candidate.trigger.id for candidate in found} == {"bind"}


def test_candidates_have_the_type_of_their_trigger():
    assert {candidate.type for candidate in event_candidates([example()])} == {
        "Binding",
        "Positive_regulation",
    }


def test_the_origin_spans_trigger_and_participants():
    found = {shape(candidate): candidate for candidate in event_candidates([example(start=50)])}
    assert found["bind", (("participant", "gtp"),)].origin == Origin("a.txt", 3, 63, 84)


def test_catalysts_can_be_left_out():
    found = event_candidates([example()], catalysts=False)
    assert {role for candidate in found for role, _ in candidate.participants} == {"participant"}
    assert found.tally.reasons == {"interaction that no candidate stands for": 1}


def test_one_participant_can_be_the_limit():
    found = event_candidates([example()], max_participants=1)
    assert max(len(candidate.participants) for candidate in found) == 2  # with a catalyst
    assert found.tally.reasons == {}


def test_participants_can_be_restricted_to_types():
    site = Entity("site", "Entity", ((21, 23),))
    found = event_candidates([example((*PROTEINS.values(), *TRIGGERS, site))], types=["Protein"])
    assert "site" not in {entity.id for candidate in found for entity in candidate.entities}


def test_triggers_of_other_types_are_no_participants():
    found = event_candidates([example()], triggers=["Binding"])
    assert {e.id for candidate in found for e in candidate.entities} == {"sos", "ras", "gtp"}


def test_triggers_can_be_found_by_type_without_events():
    found = event_candidates([example(events=())], triggers=["Binding"], types=["Protein"])
    assert {candidate.trigger.id for candidate in found} == {"bind"}
    assert {candidate.label for candidate in found} == {0}


def chosen(found):
    """Return the ids of the entities that are combined with each trigger."""
    near = {}
    for candidate in found:
        near.setdefault(candidate.trigger.id, set()).update(e.id for e in candidate.entities)
    return near


def test_triggers_take_the_entities_with_the_fewest_dependencies_between():
    found = event_candidates([example(dependencies=DEPENDENCIES)], max_entities=2)
    # Sos is two steps from binding, Ras and GTP one; both are two steps from promotes.
    assert chosen(found) == {"promote": {"sos", "ras"}, "bind": {"ras", "gtp"}}


def test_triggers_take_the_nearest_entities_of_the_text_without_dependencies():
    found = event_candidates([example()], max_entities=2)
    # Four characters are between binding and Ras, ten to Sos, eleven to GTP.
    assert chosen(found) == {"promote": {"sos", "ras"}, "bind": {"sos", "ras"}}


def test_entities_that_dependencies_connect_come_before_others():
    found = event_candidates([example(dependencies=[(1, "dobj", 6)])], max_entities=1)
    assert chosen(found)["promote"] == {"gtp"}


def test_pruned_candidates_and_events_are_counted():
    found = event_candidates([example(dependencies=DEPENDENCIES)], max_entities=2)
    # Of 15 ways to fill a trigger's event, 5 remain: sos and ras do not make the promotion.
    assert len(found) == 10
    assert found.tally.reasons == {
        "candidate with an entity beyond the 2 nearest to its trigger": 20,
        "interaction that no candidate stands for": 1,
    }
    assert [shape(candidate) for candidate in found.missed] == [
        ("promote", (("catalyst", "sos"), ("participant", "ras"), ("participant", "gtp")))
    ]


def test_events_that_were_not_asked_for_are_not_missed():
    assert event_candidates([example()], types=["Gene"]).missed.ids == []
    assert event_candidates([example()], catalysts=False).missed.ids == []


def test_events_of_triggers_that_are_not_known_are_missed():
    found = event_candidates([example()], triggers=["Binding"])
    assert [candidate.trigger.id for candidate in found.missed] == ["promote"]


def test_a_crowded_sentence_has_few_candidates():
    words = [f"P{i}" for i in range(40)] + ["bind"]
    entities = [Entity(f"T{i}", "Protein", ((3 * i, 3 * i + 2),)) for i in range(10)]
    entities += [Entity(f"T{i}", "Protein", ((4 * i - 10, 4 * i - 7),)) for i in range(10, 40)]
    entities.append(Entity("T40", "Binding", ((150, 154),)))
    event = Event("E1", "Binding", "T40", (Argument("Theme", "T39"), Argument("Theme2", "T0")))
    sentence = Sentence.from_words(words, entities=entities, events=[event])
    found = event_candidates([Example("s1", views={"sentence": sentence})])
    assert len(found) == 870  # of the 12 nearest entities
    assert [shape(candidate) for candidate in found.missed] == [
        ("T40", (("participant", "T0"), ("participant", "T39")))
    ]


def test_missed_events_stay_with_chosen_and_joined_candidates():
    found = event_candidates([example(dependencies=DEPENDENCIES)], max_entities=2)
    both = Candidates.concatenate([found[:3], found[3:5]])
    assert len(both) == 5
    assert both.missed.sentence_of == [0, 1]
    assert both.with_missed().ids == both.ids + both.missed.ids
    assert both.with_missed().sentences is both.sentences


@pytest.mark.parametrize(
    ("forms", "n", "lost"),
    [
        ({"Binding": [(1, False)], "Positive_regulation": [(2, True)]}, 3 + 3, 1),
        ({"Binding": [[2, 0]]}, 3 + 15, 0),  # as in forms_
        ({"Binding": []}, 15, 1),
    ],
)
def test_events_have_the_forms_of_their_type(forms, n, lost):
    found = event_candidates([example()], forms=forms)
    assert (len(found), len(found.missed)) == (n, lost)
    reason = "candidate of a form that its event type rarely has"
    assert found.tally.reasons[reason] == 30 - n


def steps(edges, starts):
    """Return the steps from the nearest start to each place: a plain relaxation."""
    found = dict.fromkeys(starts, 0)
    for _ in range(len(edges)):
        for one, other in (*edges, *((b, a) for a, b in edges)):
            if one in found:
                found[other] = min(found.get(other, len(edges) + 1), found[one] + 1)
    return found


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12),
    st.integers(1, 4),
    st.integers(0, 6),
)
def test_the_nearest_entities_are_those_of_the_reference(edges, n, at):
    words = ["ab"] * 7
    entities = [
        Entity(f"T{i}", "Binding" if i == at else "P", ((3 * i, 3 * i + 2),)) for i in range(7)
    ]
    event = Event("E1", "Binding", f"T{at}")
    sentence = Sentence.from_words(
        words, dependencies=[(a, "x", b) for a, b in edges], entities=entities, events=[event]
    )
    found = event_candidates([Example("s1", views={"sentence": sentence})], max_entities=n)
    far = steps(edges, [at])
    others = sorted(set(range(7)) - {at}, key=lambda i: (far.get(i, 99), abs(i - at), i))
    assert chosen(found) == {f"T{at}": {f"T{i}" for i in others[:n]}}


def test_events_that_say_nothing_are_counted():
    alone = Event("E1", "Binding", "bind")
    assert event_candidates([example(events=[alone])]).tally.reasons == {
        "the event has no participant": 1
    }


@pytest.mark.parametrize("options", [{"source": "text"}, {"max_participants": 3}])
def test_wrong_options_are_refused(options):
    with pytest.raises(ValueError, match="must be"):
        event_candidates([], **options)


GRAPH = Graph.from_penman(
    "(p / promote-01 :ARG0 (s / protein :name (n / name :op1 'Sos'))"
    " :ARG1 (b / bind-01 :ARG1 (r / enzyme :name (n2 / name :op1 'Ras'))"
    " :ARG2 (g / small-molecule :name (n3 / name :op1 'GTP'))))"
)


def meaning(**parts):
    sentence = Sentence.from_words(WORDS, amr=GRAPH, **parts)
    return Example("s1", views={"sentence": sentence}, origin=Origin("a.amr", 1))


def test_candidates_of_meanings_have_nodes_for_entities():
    found = event_candidates([meaning()], source="amr", triggers=["bind"])
    assert {candidate.trigger.id for candidate in found} == {"b"}
    assert {e.id for candidate in found for e in candidate.entities} == {"s", "r", "g"}
    assert {candidate.label for candidate in found} == {None}


def test_nodes_take_the_entities_with_the_fewest_edges_between():
    found = event_candidates([meaning()], source="amr", max_entities=2)
    # The node of promotion is one edge from Sos, and two from Ras and GTP.
    assert chosen(found) == {"p": {"s", "r"}, "b": {"r", "g"}}
    assert found.missed.ids == []


def test_aligned_nodes_have_characters():
    aligned = [("b", (2,)), ("r", (4,)), ("g", (6,)), ("s", (0,))]
    found = event_candidates([meaning(alignments=aligned)], source="amr", triggers=["bind"])
    single = {shape(candidate): candidate for candidate in found}["b", (("participant", "g"),)]
    assert (single.origin.start, single.origin.end) == (13, 34)


def test_nodes_aligned_with_a_word_that_is_two_tokens_have_its_characters_once():
    tokens = [("can", 0, 6), ("not", 0, 6), ("bind", 7, 11)]
    sentence = Sentence("cannot bind", tokens, amr=GRAPH, alignments=[("b", (1, 0, 2))])
    [example] = [Example("s1", views={"sentence": sentence})]
    found = event_candidates([example], source="amr", triggers="bind")
    assert found[0].trigger.spans == ((0, 6), (7, 11))


def test_nodes_may_have_numbers_for_ids():
    graph = Graph(["bind-01", "protein", "enzyme"], [(0, "ARG1", 1), (0, "ARG2", 2)])
    found = event_candidates(
        [Example("s1", views={"sentence": Sentence("Ras binds", amr=graph)})], source="amr"
    )
    examples = found.examples("amr-tree", "amr-path")
    assert len(examples) == len(found) == 5
    assert examples[0].view("amr-path").nodes == ("protein", "bind")


def test_meanings_give_trees_and_paths():
    found = event_candidates([meaning()], source="amr", triggers=["bind"])
    examples = found.examples("amr-tree", "amr-path")
    assert len(examples) == len(found)
    chosen = {shape(c): e for c, e in zip(found, examples, strict=True)}
    both = chosen["b", (("catalyst", "s"), ("participant", "r"), ("participant", "g"))]
    assert both.view("amr-path").nodes == (
        "protein", "promote", "bind", "bind", "enzyme", "bind", "small-molecule",
    )  # fmt: skip


def test_dependencies_give_trees_and_paths():
    found = event_candidates([example(dependencies=DEPENDENCIES)])
    examples = found.examples("trigger-tree", "trigger-path")
    assert len(examples) == len(found)
    chosen = {shape(c): e for c, e in zip(found, examples, strict=True)}
    both = chosen["bind", (("catalyst", "sos"), ("participant", "gtp"))]
    assert list(both.view("trigger-path")) == [
        ("nsubj", "protein"), ("dobj-of", "promotes"), ("", "binding"),
        ("", "binding"), ("prep_to", "protein"),
    ]  # fmt: skip


@given(st.integers(0, 5), st.booleans(), st.integers(1, 2), st.data())
def test_every_interaction_of_random_events_is_found_once(n, catalysts, most, data):
    names = [f"p{i}" for i in range(n)]
    proteins = [Entity(name, "Protein", ((i, i + 1),)) for i, name in enumerate(names)]
    arguments = st.lists(
        st.tuples(st.sampled_from(["Theme", "Theme2", "Cause"]), st.sampled_from(names or ["E0"])),
        max_size=3,
    )
    events = [
        Event(f"E{i}", "Binding", trigger, tuple(Argument(*a) for a in data.draw(arguments)))
        for i, trigger in enumerate(["bind", "promote"])
    ]
    given_example = example((*proteins, *TRIGGERS), events)
    found = event_candidates([given_example], catalysts=catalysts, max_participants=most)
    groups = sum(comb(n, k) * (1 + catalysts * (n - k)) for k in range(1, most + 1))
    assert len(found) == 2 * groups
    stated = {
        (one.trigger, frozenset(one.participants), one.catalyst)
        for one in flatten_events(events, proteins, max_participants=most)[0]
        if catalysts or one.catalyst is None
    }
    labeled = {
        (
            c.trigger.id,
            frozenset(e.id for role, e in c.participants if role == "participant"),
            next((e.id for role, e in c.participants if role == "catalyst"), None),
        )
        for c in found
        if c.label == 1
    }
    assert labeled == stated
