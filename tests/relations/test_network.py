"""Networks of facts: boxes that do not overlap, and lines that lead from box to box."""

from __future__ import annotations

import re
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings, strategies as st

from kernelwood.relations import Fact, FactEntity
from kernelwood.relations.network import components, draw_network


def fact(first, second, *, type="Binds", directed=False, count=1):
    ends = [None if name is None else FactEntity(name, "protein") for name in (first, second)]
    return Fact(ends[0], type, ends[1], directed, count, ("d1",), 0.9, 0.9)


names = st.text("abcXYZ-α漢", min_size=1, max_size=30)
pairs = st.lists(st.tuples(names, names), min_size=1, max_size=40)


def overlaps(one, other):
    return (
        abs(one.x - other.x) < (one.width + other.width) / 2
        and abs(one.y - other.y) < (one.height + other.height) / 2
    )


@settings(max_examples=40, deadline=None)
@given(pairs)
def test_boxes_do_not_overlap_and_are_inside(ends):
    drawing = draw_network([fact(*pair) for pair in ends])
    if drawing is None:
        assert all(a == b for a, b in ends)
        return
    assert not [pair for pair in combinations(drawing.nodes, 2) if overlaps(*pair)]
    for node in drawing.nodes:
        assert node.width / 2 <= node.x <= drawing.width - node.width / 2
        assert node.height / 2 <= node.y <= drawing.height - node.height / 2


@pytest.mark.parametrize("n", [3, 12, 60])
@pytest.mark.parametrize("shape", ["star", "chain", "circle", "pairs"])
def test_shapes_are_drawn_without_overlaps(shape, n):
    ring = [(str(i), str(i + 1)) for i in range(n)]
    ends = {
        "star": [("middle", str(i)) for i in range(n)],
        "chain": ring,
        "circle": [*ring[:-1], (str(n - 1), "0")],
        "pairs": [(f"{i}a", f"{i}b") for i in range(n)],
    }[shape]
    drawing = draw_network([fact(*pair) for pair in ends])
    assert not [pair for pair in combinations(drawing.nodes, 2) if overlaps(*pair)]
    assert len(drawing.edges) == len(ends)


def test_the_same_facts_give_the_same_drawing():
    facts = [fact(str(i % 7), str(i % 11)) for i in range(1, 40)]
    assert draw_network(facts) == draw_network(facts)


def test_the_first_facts_are_drawn():
    drawing = draw_network([fact(str(i), str(i + 1)) for i in range(100)], 5)
    assert [edge.fact for edge in drawing.edges] == [0, 1, 2, 3, 4]


def test_facts_with_one_entity_are_left_out():
    assert draw_network([fact("a", None), fact("a", "a")]) is None
    assert [edge.fact for edge in draw_network([fact("a", None), fact("a", "b")]).edges] == [1]


def test_lines_begin_and_end_at_the_boxes():
    drawing = draw_network([fact("a", "b"), fact("b", "c"), fact("c", "a")])
    for edge, (first, second) in zip(drawing.edges, [(0, 1), (1, 2), (2, 0)], strict=True):
        x, y, *_, to_x, to_y = map(float, re.findall(r"-?[\d.]+", edge.path))
        for place_x, place_y, node in ((x, y, first), (to_x, to_y, second)):
            box = drawing.nodes[node]
            assert abs(place_x - box.x) <= box.width / 2 + 0.1
            assert abs(place_y - box.y) <= box.height / 2 + 0.1


def test_only_directed_facts_have_arrowheads():
    drawing = draw_network([fact("a", "b", directed=True), fact("a", "c")])
    assert [bool(edge.head) for edge in drawing.edges] == [True, False]


def test_several_facts_of_two_entities_have_lines_of_their_own():
    drawing = draw_network([fact("a", "b"), fact("b", "a", type="Cuts"), fact("a", "b", type="X")])
    assert len({edge.path for edge in drawing.edges}) == 3


def test_more_mentions_make_thicker_lines():
    drawing = draw_network([fact("a", "b", count=n) for n in (1, 2, 8, 10**9)])
    widths = [edge.thickness for edge in drawing.edges]
    assert all(one < other for one, other in pairwise(widths)) and widths[-1] <= 6


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_components_contain_each_node_once_and_both_ends(ends):
    found = components(10, ends)
    assert sorted(node for part in found for node in part) == list(range(10))
    where = {node: number for number, part in enumerate(found) for node in part}
    assert all(where[a] == where[b] for a, b in ends)
    # Without lines, every node stands alone.
    assert len(found) >= 10 - len(ends)
