"""Interactions in AMR and dependency graphs: trees and walks."""

from collections import deque
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH

from kernelwood import Graph, Sequence, Tree
from kernelwood.errors import StructureError
from kernelwood.text import ROOT, Entity, Sentence
from kernelwood.views import (
    entity_nodes,
    head_token,
    interaction_nodes,
    interaction_path,
    interaction_tree,
    trigger_path,
    trigger_tree,
)
from kernelwood.views.interaction_graphs import ENTITY_CONCEPTS, INTERACTION_CONCEPTS

# Some family of proteins, one of them named, has sites to bind an enzyme, and sites where one small
# molecule is exchanged for another.
SITES = """
(h / have-03
   :ARG0 (f / protein
      :example (p / protein :name (n / name :op1 "Pax")))
   :ARG1 (a / and
      :op1 (s / site
         :purpose (b / bind-01
            :ARG1 (e / enzyme :name (n2 / name :op1 "Rox"))))
      :op2 (s2 / site
         :purpose (x / exchange-01
            :ARG1 (m / small-molecule)
            :ARG2 (m2 / small-molecule)))))
"""

# The published walk reaches the second molecule from the site at once, without the exchange; so
# does this graph, where the edge leaves the site.
SITES_AS_PRINTED = SITES.replace(
    """
            :ARG1 (m / small-molecule)
            :ARG2 (m2 / small-molecule)))))""",
    """
            :ARG1 (m / small-molecule))
         :ARG2 (m2 / small-molecule))))""",
)


@pytest.fixture
def sites():
    return Graph.from_penman(SITES)


@pytest.fixture
def sites_as_printed():
    assert SITES_AS_PRINTED != SITES
    return Graph.from_penman(SITES_AS_PRINTED)


# The walk


def test_the_positive_walk_is_the_published_one(sites_as_printed):
    found = interaction_path(
        sites_as_printed, "b", [("catalyst", "p"), ("domain", "e"), ("domain", "m")]
    )
    assert found == Sequence(
        [
            ("example", "protein"),
            ("arg0", "protein"),
            ("arg1-of", "have"),
            ("op1-of", "and"),
            ("purpose-of", "site"),
            ("", "bind"),
            ("", "bind"),
            ("arg1", "enzyme"),
            ("", "bind"),
            ("purpose-of", "site"),
            ("op1-of", "and"),
            ("op2", "site"),
            ("purpose", "exchange"),
            ("arg1", "small-molecule"),
        ]
    )


NEGATIVE = [("catalyst", "e"), ("domain", "m"), ("domain", "m2")]
NEGATIVE_START = [
    ("arg1", "enzyme"),
    ("", "bind"),
    ("", "bind"),
    ("purpose-of", "site"),
    ("op1-of", "and"),
    ("op2", "site"),
    ("purpose", "exchange"),
    ("arg1", "small-molecule"),
    ("", "bind"),
    ("purpose-of", "site"),
    ("op1-of", "and"),
    ("op2", "site"),
]


def test_the_negative_walk_is_the_published_one(sites_as_printed):
    found = interaction_path(sites_as_printed, "b", NEGATIVE)
    assert found == Sequence([*NEGATIVE_START, ("arg2", "small-molecule")])


def test_the_negative_walk_of_a_sensible_graph_passes_the_exchange(sites):
    found = interaction_path(sites, "b", NEGATIVE)
    assert found == Sequence([*NEGATIVE_START, ("purpose", "exchange"), ("arg2", "small-molecule")])


def test_the_first_participant_acts_if_none_is_a_catalyst(sites):
    found = interaction_path(sites, "x", [("a", "m"), ("b", "m2")])
    assert found == Sequence(
        [("arg1", "small-molecule"), ("", "exchange"), ("", "exchange"), ("arg2", "small-molecule")]
    )


def test_participants_that_act_come_first(sites):
    found = interaction_path(sites, "x", [("domain", "m"), ("catalyst", "m2")])
    assert found.edges == ("arg2", "", "", "arg1")


def test_all_participants_may_act(sites):
    found = interaction_path(sites, "x", [("agent", "m"), ("agent", "m2")], up={"agent"})
    assert found.edges == ("arg1", "", "arg2", "")


def test_a_single_role_may_be_given_as_a_string(sites):
    both = [("cat", "m"), ("catalyst", "m2")]
    found = interaction_path(sites, "x", both, up="catalyst")
    assert found == interaction_path(sites, "x", both, up=["catalyst"])


def test_the_ends_of_a_walk_may_be_colored(sites):
    found = interaction_path(sites, "x", [("catalyst", "m"), ("", "m2")], colored=True)
    assert found.nodes == ("catalyst:small-molecule", "exchange", "exchange", "small-molecule")


def test_senses_and_case_may_be_kept(sites):
    found = interaction_path(sites, "b", [("catalyst", "e")], senses=True, lowercase=False)
    assert found.elements == (("ARG1", "enzyme"), ("", "bind-01"))


# The tree


def test_the_tree_is_rooted_in_the_interaction_with_participants_as_leaves(sites):
    found = interaction_tree(sites, "b", [("catalyst", "p"), ("domain", "e"), ("domain", "m")])
    assert found == Tree(
        "bind",
        [
            Tree(
                "site",
                [
                    Tree(
                        "and",
                        [
                            Tree(
                                "have",
                                [
                                    Tree(
                                        "protein",
                                        [Tree("catalyst:protein", edge="example")],
                                        edge="arg0",
                                    )
                                ],
                                edge="arg1-of",
                            ),
                            Tree(
                                "site",
                                [
                                    Tree(
                                        "exchange",
                                        [Tree("domain:small-molecule", edge="arg1")],
                                        edge="purpose",
                                    )
                                ],
                                edge="op2",
                            ),
                        ],
                        edge="op1-of",
                    )
                ],
                edge="purpose-of",
            ),
            Tree("domain:enzyme", edge="arg1"),
        ],
    )


def test_children_stand_in_the_order_of_participants(sites):
    found = interaction_tree(sites, "b", [("domain", "e"), ("catalyst", "p")])
    assert [child.edge for child in found.children] == ["arg1", "purpose-of"]


def test_colors_may_be_left_out(sites):
    found = interaction_tree(sites, "b", [("catalyst", "e")], colored=False)
    assert found == Tree("bind", [Tree("enzyme", edge="arg1")])


def test_a_participant_on_the_way_to_another_hangs_below_itself(sites):
    found = interaction_tree(sites, "h", [("catalyst", "p"), ("domain", "f")])
    assert found.to_brackets() == (
        '(have ("arg0":protein "self":domain:protein "example":catalyst:protein))'
    )


def test_a_walk_ends_at_a_participant_on_the_way_to_another(sites):
    found = interaction_path(sites, "h", [("catalyst", "f"), ("domain", "p")])
    assert found.elements == (
        ("arg0", "protein"),
        ("", "have"),
        ("", "have"),
        ("arg0", "protein"),
        ("example", "protein"),
    )


def test_a_node_in_two_roles_is_two_leaves():
    graph = Graph.from_penman("(p / phosphorylate-01 :ARG1 (k / kinase))")
    found = interaction_tree(graph, "p", [("catalyst", "k"), ("domain", "k")])
    assert found.to_brackets() == (
        '(phosphorylate ("arg1":kinase "self":catalyst:kinase "self":domain:kinase))'
    )


@pytest.mark.parametrize(
    ("role", "inverse"),
    [
        ("ARG0", "ARG0-of"),
        ("ARG0-of", "ARG0"),  # from a graph whose edges were never turned around
        ("consist-of", "consist-of-of"),  # a role of its own, not an inverted one
    ],
)
def test_edges_walked_backwards_have_inverse_roles(role, inverse):
    graph = Graph({"a": "x", "b": "y"}, [("a", role, "b")])
    [down] = interaction_tree(graph, "a", [("", "b")], lowercase=False).children
    [up] = interaction_tree(graph, "b", [("", "a")], lowercase=False).children
    assert (down.edge, up.edge) == (role, inverse)


def test_of_equally_long_ways_the_first_edge_wins():
    nodes = {"r": "root", "a": "first", "b": "second", "e": "end"}
    edges = [("r", "y", "b"), ("r", "x", "a"), ("a", "p", "e"), ("b", "q", "e")]
    found = interaction_tree(Graph(nodes, edges), "r", [("", "e")])
    assert found.to_brackets() == '(root ("y":second "q":end))'


def test_edges_that_leave_a_node_come_before_those_that_enter_it():
    graph = Graph({"r": "root", "e": "end"}, [("e", "in", "r"), ("r", "out", "e")])
    assert interaction_tree(graph, "r", [("", "e")]).to_brackets() == '(root "out":end)'


def test_numbers_in_names_are_no_senses():
    graph = Graph({"b": "bind-01", "n": "IL-10"}, [("b", "ARG1", "n")])
    assert interaction_path(graph, "b", [("", "n")]).nodes == ("IL-10", "bind")


def test_an_unreachable_participant_is_named():
    graph = Graph({"b": "bind-01", "p": "protein"})
    with pytest.raises(StructureError, match="from the interaction 'b' to the participant 'p'"):
        interaction_tree(graph, "b", [("domain", "p")])


def test_an_interaction_cannot_take_part_in_itself(sites):
    with pytest.raises(StructureError, match="node 'b' is the interaction"):
        interaction_path(sites, "b", [("domain", "e"), ("domain", "b")])


def test_an_interaction_needs_participants(sites):
    with pytest.raises(StructureError, match="has no participants"):
        interaction_tree(sites, "b", [])


@pytest.mark.parametrize(("root", "end"), [("nobody", "e"), ("b", "nobody"), ("b", ["e"])])
def test_nodes_that_are_not_there_are_refused(sites, root, end):
    with pytest.raises(StructureError, match="is not the id of a node"):
        interaction_tree(sites, root, [("domain", end)])


def test_participants_without_a_role_are_refused(sites):
    with pytest.raises(StructureError, match=r"must be a \(role, node id\) pair, got 'e'"):
        interaction_tree(sites, "b", ["e"])


@st.composite
def candidates(draw):
    """A connected or unconnected graph with integer ids, a root, and other nodes."""
    n_nodes = draw(st.integers(2, 8))
    ids = st.integers(0, n_nodes - 1)
    edges = draw(st.lists(st.tuples(ids, st.sampled_from(["ARG0", "mod"]), ids), max_size=14))
    root = draw(ids)
    ends = draw(st.lists(ids.filter(lambda node: node != root), min_size=1, max_size=3))
    labels = [f"c{node}" for node in range(n_nodes)]
    return Graph(labels, edges), root, [(f"r{i}", end) for i, end in enumerate(ends)]


def distances(graph, root):
    found, waiting = {root: 0}, deque([root])
    while waiting:
        node = waiting.popleft()
        for other in graph.neighbors(node):
            if other not in found:
                found[other] = found[node] + 1
                waiting.append(other)
    return found


@given(candidates())
def test_participants_are_leaves_at_their_distance_from_the_root(drawn):
    graph, root, participants = drawn
    away = distances(graph, root)
    if any(end not in away for _, end in participants):
        with pytest.raises(StructureError, match="no path leads"):
            interaction_tree(graph, root, participants)
        return
    found = []
    waiting = [(interaction_tree(graph, root, participants), 0)]
    while waiting:
        node, depth = waiting.pop()
        if not node.children:
            found.append((node.label, depth - (node.edge == "self")))
        waiting += [(child, depth + 1) for child in node.children]
    expected = [(f"{role}:c{end}", away[end]) for role, end in participants]
    assert sorted(found) == sorted(expected)


@given(candidates())
def test_steps_of_a_walk_are_edges_of_the_graph(drawn):
    graph, root, participants = drawn
    away = distances(graph, root)
    participants = [(role, end) for role, end in participants if end in away]
    if not participants:
        return
    known = {(f"c{s}", role.lower(), f"c{t}") for s, role, t in graph.edges}
    known |= {(f"c{t}", f"{role.lower()}-of", f"c{s}") for s, role, t in graph.edges}
    walk = interaction_path(graph, root, participants).elements
    first = away[participants[0][1]] + 1
    steps = [(above, below) for below, above in pairwise(walk[:first])]
    steps += [(above, below) for above, below in pairwise(walk[first:]) if below[0]]
    assert {(above[1], below[0], below[1]) for above, below in steps} <= known
    assert len(walk) == sum(away[end] + 1 for _, end in participants)


def test_ways_may_be_of_any_length():
    edges = [(node + 1, "ARG0", node) for node in range(DEPTH)]
    graph = Graph([f"n{node}" for node in range(DEPTH + 1)], edges)
    assert interaction_tree(graph, 0, [("catalyst", DEPTH)]).depth == DEPTH + 1
    assert len(interaction_path(graph, 0, [("catalyst", DEPTH)])) == DEPTH + 1


# Which nodes


def test_interactions_are_found_by_their_stem(sites):
    assert interaction_nodes(sites) == ["b", "x"]


@pytest.mark.parametrize(
    ("concepts", "found"), [(["have"], ["h"]), (["have-03"], ["h"]), (["have-01"], []), ([], [])]
)
def test_other_interactions_may_be_asked_for(sites, concepts, found):
    assert interaction_nodes(sites, concepts) == found


def test_a_single_concept_is_no_set_of_letters():
    graph = Graph({"b": "bind-01", "i": "in"})
    assert interaction_nodes(graph, "bind") == ["b"]
    assert entity_nodes(graph, "bind") == []


def test_entities_have_a_name_or_a_concept_of_their_own(sites):
    assert entity_nodes(sites) == ["f", "p", "e", "m", "m2"]


def test_named_nodes_are_entities_whatever_their_concept(sites):
    assert entity_nodes(sites, concepts=()) == ["p", "e"]


def test_concepts_are_stems_in_lower_case():
    for concept in INTERACTION_CONCEPTS | ENTITY_CONCEPTS:
        assert concept == concept.lower()
        assert not concept[-1].isdigit()


WORDS = ["Kinase", "A", "cuts", "Sos", "1", "here"]


def sentence(*dependencies):
    return Sentence.from_words(WORDS, dependencies=dependencies)


def over(*words, kind="Protein"):
    """Return an entity of some words, each a span of its own."""
    starts = [sum(len(before) + 1 for before in WORDS[: WORDS.index(word)]) for word in words]
    spans = [(start, start + len(word)) for start, word in zip(starts, words, strict=True)]
    return Entity("+".join(words), kind, tuple(spans))


CUT = (
    (ROOT, "root", 2),
    (2, "nsubj", 0),
    (0, "dep", 1),
    (2, "obj", 3),
    (3, "num", 4),
    (2, "advmod", 5),
)
KINASE, SOS, CUTS = over("Kinase", "A"), over("Sos", "1"), over("cuts", kind="Cut")


def test_the_head_is_the_word_whose_head_lies_outside():
    assert [head_token(sentence(*CUT), one) for one in (KINASE, SOS, CUTS)] == [0, 3, 2]


def test_of_several_heads_the_last_is_taken():
    assert head_token(sentence((2, "x", 0), (2, "x", 1)), KINASE) == 1


def test_without_dependencies_the_last_word_is_the_head():
    assert head_token(sentence(), KINASE) == 1


def test_a_word_that_nothing_joins_is_no_head_if_another_is_joined():
    assert head_token(sentence((2, "nsubj", 0)), KINASE) == 0


def test_a_word_that_depends_on_itself_may_be_the_head():
    assert head_token(sentence((0, "x", 0), (2, "nsubj", 0), (0, "dep", 1)), KINASE) == 0


def test_words_that_depend_on_each_other_in_a_circle_have_the_last_as_head():
    assert head_token(sentence((0, "x", 1), (1, "x", 0)), KINASE) == 1


def test_heads_of_discontinuous_entities_may_stand_in_either_piece():
    assert head_token(sentence(*CUT), over("Kinase", "here")) == 5
    assert head_token(sentence((2, "x", 0), (0, "y", 5)), over("Kinase", "here")) == 0


def test_the_tree_joins_the_trigger_with_head_words_blinded_by_type():
    found = trigger_tree(sentence(*CUT), CUTS, [("catalyst", KINASE), ("participant", SOS)])
    assert found.to_brackets() == '(cuts "nsubj":catalyst:protein "obj":participant:protein)'


def test_the_walk_goes_up_from_the_catalyst_and_down_to_the_participant():
    found = trigger_path(sentence(*CUT), CUTS, [("participant", SOS), ("catalyst", KINASE)])
    assert found.elements == (("nsubj", "protein"), ("", "cuts"), ("", "cuts"), ("obj", "protein"))


def test_entities_without_type_are_written_as_entities():
    found = trigger_path(sentence(*CUT), CUTS, [("participant", over("Sos", kind=""))])
    assert found.nodes == ("entity", "cuts")


def test_options_are_those_of_interactions():
    found = trigger_tree(sentence(*CUT), CUTS, [("participant", SOS)], colored=False)
    assert found.to_brackets() == '(cuts "obj":protein)'


def test_numbers_of_words_are_no_senses():
    joined = Sentence.from_words(["il-10", "acts"], dependencies=[(1, "nsubj", 0)])
    trigger, actor = Entity("t", "", ((0, 5),)), Entity("e", "Cell", ((6, 10),))
    assert trigger_path(joined, trigger, [("", actor)]).nodes == ("cell", "il-10")


@pytest.mark.parametrize(
    ("dependencies", "participants", "problem"),
    [
        ((), [("", SOS)], "the sentence has no dependencies"),
        (CUT, [("", CUTS)], "share a head token"),
        (CUT, [("", SOS), ("", over("Sos"))], "share a head token"),
        (CUT, [("", Entity("e", "", ()))], "entity 'e' covers no token"),
        (CUT[:1], [("", SOS)], "no path leads from the interaction 2 to the participant 4"),
        (CUT, [], "has no participants"),
    ],
)
def test_what_cannot_be_joined_is_refused(dependencies, participants, problem):
    for view in (trigger_tree, trigger_path):
        with pytest.raises(StructureError, match=problem):
            view(sentence(*dependencies), CUTS, participants)
