"""Graphs written in PENMAN notation come back as they were."""

from __future__ import annotations

import penman
import pytest
from hypothesis import assume, given, strategies as st
from penman.models import amr
from sizes import DEPTH

from kernelwood.errors import StructureError
from kernelwood.structures import Graph, parse_penman, penman_notation, write_penman

PLAIN_ROLES = ["ARG0", "op1", "mod", "consist-of", "polarity", "prep-on-behalf-of", ""]
TRICKY_ROLES = ["ARG0-of", "consist", "domain-of", "x-of-of", "prep-on-behalf", "-of", "#"]
LABELS = [
    "dog", "", "-", "12", "name", "two words", 'a"b', "back\\slash", "a\nb", "x\u2028y", "~e.1",
    "(", "#", "http://x/y:z", "é", "cafe\u0301", "𝛽", "a", "b", "\x85", "imperative",
]  # fmt: skip
IDS = ["a", "b", "c", "d", "a.op1", "a.op1.2", "b.ARG0", "c.", "𝛽", "x#", "5", "-"]


# Pieces of PENMAN, good and bad, with blanks and comments in places where few expect them.
PIECES = ["(", ")", "(a", "(b / c", " / d", "/", ":x", ":x ", ":instance ", ":instance e", ":", " ",
          ": f", ":y~e.1 g", " ~2", "~e.3,4", "~x", '"s"', '"', '"\\""', "#", "# k\n", "\n", "\r",
          "a", "1", ":x (a", ":z (n / m)", ":p-of (q)", "\v", "\xa0", "\\"]  # fmt: skip


def read_or_refused(read, lines):
    try:
        return read(lines)
    except StructureError as failure:
        return str(failure)


def again(graph: Graph, **options) -> Graph:
    return Graph.from_penman(write_penman(graph, **options))


@st.composite
def graphs(draw, roles, *, connected):
    """Random graphs; a connected one grows from its root along edges of either direction."""
    ids = draw(st.permutations(IDS))[: draw(st.integers(1, 7))]
    edges = []
    for position, name in enumerate(ids[1:], start=1):
        if connected or draw(st.booleans()):
            ends = [name, draw(st.sampled_from(ids[:position]))]
            source, target = draw(st.permutations(ends))
            edges.append((source, draw(st.sampled_from(roles)), target))
    for _ in range(draw(st.integers(0, 4))):
        ends = st.sampled_from(ids)
        edges.append((draw(ends), draw(st.sampled_from(roles)), draw(ends)))
    labels = {name: draw(st.sampled_from(LABELS)) for name in ids}
    return Graph(labels, draw(st.permutations(edges)), root=ids[0])


@given(graph=graphs(PLAIN_ROLES, connected=True))
def test_every_connected_graph_of_plain_roles_comes_back(graph):
    assert again(graph) == graph


@given(graph=graphs(PLAIN_ROLES + TRICKY_ROLES, connected=False))
def test_a_graph_comes_back_or_is_refused(graph):
    try:
        text = write_penman(graph)
    except StructureError:
        assume(False)
    assert Graph.from_penman(text) == graph


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=9), closing=st.integers(0, 3))
def test_every_text_is_read_as_penman_reads_it(pieces, closing):
    lines = f"({''.join(pieces)}{')' * closing}".split("\n")
    whole = read_or_refused(penman_notation._parse_by_penman, lines)
    assert read_or_refused(parse_penman, lines) == whole


@pytest.mark.parametrize(
    "text",
    [
        "(a)", " ( a / b ) ", "(a#b / c)", '(a / "b c"~e.1)', "(a :b c :d-of (e / f) :g a)",
        "(a :instance b)", "(a / b :instance b)", "(a / b ~1 :c~e.2 d ~3)", "# ::id x\n(a / b) # c",
        "(a :#b c)", "(a :b(c) :d\"e\" : f)", "(a / b\r\n :c d)",
    ],
)  # fmt: skip
def test_graphs_are_read_without_the_parser_of_penman(text, monkeypatch):
    lines = text.split("\n")
    expected = penman_notation._parse_by_penman(lines)
    monkeypatch.setattr(penman_notation, "_parse_by_penman", None)
    assert parse_penman(lines) == expected


@given(graph=graphs(PLAIN_ROLES + TRICKY_ROLES, connected=True))
def test_reading_agrees_with_penman(graph):
    try:
        text = write_penman(graph)
    except StructureError:
        assume(False)
    theirs = penman.decode(text, model=amr.model)
    ours = Graph.from_penman(text)
    variables = theirs.variables()
    joined = [(s, f":{label}", t) for s, label, t in ours.edges if t in variables]
    assert sorted(joined) == sorted(
        triple for triple in theirs.triples if triple[1] != ":instance" and triple[2] in variables
    )


@given(graph=graphs(PLAIN_ROLES, connected=True), data=st.data())
def test_alignments_come_back(graph, data):
    some = st.sets(st.integers(0, 9), min_size=1, max_size=3).map(sorted).map(tuple)
    alignments = data.draw(st.dictionaries(st.sampled_from(list(graph.nodes)), some))
    found = parse_penman(write_penman(graph, alignments).split("\n"))
    assert Graph(found.nodes, found.edges, found.root) == graph
    assert found.alignments == alignments


def test_edges_are_followed_downward_before_upward():
    text = "(w / want-01\n    :ARG0 (b / boy)\n    :ARG1 (g / go-02\n        :ARG0 b))"
    assert write_penman(Graph.from_penman(text)) == text


def test_what_is_out_of_reach_is_opened_against_the_edge():
    text = "(d / dog\n    :ARG0-of (b / bark-01\n        :manner (l / loud)))"
    assert write_penman(Graph.from_penman(text)) == text


@pytest.mark.parametrize(
    ("edge", "label", "constant"),
    [
        (":quant", "12", "12"),
        (":quant", "1.5", "1.5"),
        (":polarity", "-", "-"),
        (":mode", "imperative", "imperative"),
        (":mode", "two words", '"two words"'),
        (":wiki", "Raf", '"Raf"'),
        (":wiki", "", '""'),
        (":quant", "5a", '"5a"'),
    ],
)
def test_constants_are_quoted_as_amr_does(edge, label, constant):
    graph = Graph({"a": "x", f"a.{edge[1:]}": label}, [("a", edge[1:], f"a.{edge[1:]}")], "a")
    assert write_penman(graph) == f"(a / x\n    {edge} {constant})"


def test_numbers_in_names_are_quoted():
    text = '(n / name\n    :op1 "2")'
    assert write_penman(Graph.from_penman(text)) == text


def test_a_constant_that_is_spelled_like_a_node_is_quoted():
    graph = Graph.from_penman('(a / x :mode "b" :ARG0 (b / y))')
    assert ':mode "b"' in write_penman(graph)
    assert again(graph) == graph


def test_a_leaf_with_an_id_of_its_own_is_no_constant():
    graph = Graph({"a": "x", "b": "12"}, [("a", "quant", "b")], "a")
    assert write_penman(graph) == "(a / x\n    :quant (b / 12))"


def test_constants_of_one_role_keep_their_ids():
    graph = Graph.from_penman('(a / and :op "x" :op "y" :op "z")')
    assert again(graph) == graph


def test_constants_whose_ids_are_out_of_order_become_nodes():
    nodes = {"a": "x", "a.op.2": "first", "a.op": "second"}
    graph = Graph(nodes, [("a", "op", "a.op.2"), ("a", "op", "a.op")], "a")
    assert again(graph) == graph


def test_an_inverted_role_of_a_constant_is_kept():
    graph = Graph.from_penman('(a / x :ARG0-of "y")')
    assert again(graph) == graph


def test_indentation_can_be_chosen():
    graph = Graph.from_penman("(a / x :ARG0 (b / y))")
    assert write_penman(graph, indent="\t") == "(a / x\n\t:ARG0 (b / y))"


def test_concepts_in_quotes_hold_no_line_end_of_any_kind():
    graph = Graph({"a": "x\x85y\u2028z\nw\r"}, root="a")
    assert len(write_penman(graph).splitlines()) == 1
    assert again(graph) == graph


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (Graph({"a": "x"}), "without root"),
        (Graph(["x"], root=0), "the id 0 cannot be written"),
        (Graph({"a b": "x"}, root="a b"), "the id 'a b' cannot be written"),
        (Graph({"#a": "x"}, root="#a"), "the id '#a' cannot be written"),
        (Graph({"": "x"}, root=""), "the id '' cannot be written"),
        (Graph({"a": "x"}, [("a", "b c", "a")], "a"), r"\('a', 'b c', 'a'\)"),
        (Graph({"a": "x"}, [("a", "instance", "a")], "a"), "'instance'"),
        (Graph({"a": "x", "b": "y"}, root="a"), "node 'b' is not connected"),
        (Graph({"a": "x", "b": "y"}, [("a", "ARG0-of", "b")], "a"), "node 'b' is not connected"),
        (Graph({"a": "x", "b": "y"}, [("b", "consist", "a")], "a"), "node 'b' is not connected"),
        (
            Graph({"a": "x", "a.x-of.2": "y"}, [("a", "x-of", "a.x-of.2")], "a"),
            "reads as inverted",
        ),
    ],
)
def test_what_penman_cannot_hold_is_refused_with_a_hint(graph, message):
    with pytest.raises(StructureError, match=message) as caught:
        write_penman(graph)
    assert caught.value.hint


def test_an_edge_in_of_is_written_from_the_other_end_where_that_is_possible():
    graph = Graph({"a": "x", "b": "y"}, [("b", "ARG0-of", "a")], "a")
    assert again(graph) == graph


def test_a_chain_that_is_too_long_is_refused():
    chain = [(str(i), "x", str(i + 1)) for i in range(DEPTH - 1)]
    graph = Graph({str(i): "c" for i in range(DEPTH)}, chain, "0")
    with pytest.raises(StructureError, match="nested brackets"):
        write_penman(graph)


def test_a_chain_near_the_limit_is_written_and_read():
    chain = [(str(i), "x", str(i + 1)) for i in range(399)]
    graph = Graph({str(i): "c" for i in range(400)}, chain, "0")
    assert again(graph) == graph


def test_a_deep_chain_with_short_cuts_is_written_flat():
    n_nodes = 5_000
    chain = [(f"n{i}", "x", f"n{i + 1}") for i in range(n_nodes - 1)]
    short = [("n0", "y", f"n{i}") for i in range(1, n_nodes)]
    graph = Graph({f"n{i}": "c" for i in range(n_nodes)}, chain + short, "n0")
    assert again(graph) == graph


@pytest.mark.parametrize("inward", [False, True])
def test_thousands_of_neighbors_take_no_time(inward):
    n_nodes = 30_000
    edges = [(f"n{i}", "x", "r") if inward else ("r", "x", f"n{i}") for i in range(n_nodes)]
    graph = Graph({"r": "c"} | {f"n{i}": "d" for i in range(n_nodes)}, edges, "r")
    assert write_penman(graph).count("\n") == n_nodes


def test_thousands_of_constants_of_one_role_take_no_time():
    text = "(a / b " + ":op x " * 30_000 + ")"
    graph = Graph.from_penman(text)
    assert len(graph.nodes) == 30_001
    assert write_penman(graph).count(":op") == 30_000


# ---------------------------------------------------------------- alignments


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a / b~e.3)", {"a": (3,)}),
        ("(a / b~3)", {"a": (3,)}),
        ("(a / b~e.9,7)", {"a": (7, 9)}),
        ('(a :op "x~y"~e.2)', {"a.op": (2,)}),
        ('(a :op "x~1")', {}),
        ("(a :polarity -~e.0)", {"a.polarity": (0,)}),
        ("(a / b~e.1 :ARG0 (c :ARG1 a~e.4))", {"a": (1, 4)}),
        ("(a :ARG0-of (c) :ARG1-of c~e.5)", {"c": (5,)}),
        ('(a :op "x"~e.1 :op "x"~e.2)', {"a.op": (1,), "a.op.2": (2,)}),
    ],
)
def test_alignments_of_nodes_and_constants_are_read(text, expected):
    assert parse_penman([text]).alignments == expected


def test_alignments_of_roles_are_counted():
    found = parse_penman(["(a :ARG0~e.1 (b) :ARG1-of~e.2 (c))"])
    assert (found.n_aligned_roles, found.alignments) == (2, {})
    assert found.edges == [("a", "ARG0", "b"), ("c", "ARG1", "a")]


def test_an_endless_alignment_is_refused():
    with pytest.raises(StructureError, match="more than 9 digits"):
        parse_penman([f"(a / b~e.{'9' * 5000})"])


def test_text_before_the_graph_is_refused():
    with pytest.raises(StructureError, match="text before the graph") as caught:
        parse_penman(["x (a / b)"])
    assert caught.value.column == 1
