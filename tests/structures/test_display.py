import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, strategies as st

from kernelwood.structures import Graph, Sequence, Tree
from kernelwood.structures.display import graph_html, sequence_html, tree_svg

SCRIPT = "<script>alert('x')</script>"
SVG = "{http://www.w3.org/2000/svg}"
any_text = st.text(st.characters(exclude_categories=()), max_size=40)


def drawn_texts(svg):
    return [element.text for element in ET.fromstring(svg).iter(f"{SVG}text")]


def boxes(svg):
    rects = ET.fromstring(svg).iter(f"{SVG}rect")
    return [tuple(float(r.get(key)) for key in ("x", "y", "width", "height")) for r in rects]


@pytest.mark.parametrize(
    "shown",
    [
        Tree(SCRIPT, [Tree(SCRIPT, edge=SCRIPT)])._repr_svg_(),
        Tree("x" * 40 + SCRIPT)._repr_svg_(),
        Sequence([(SCRIPT, SCRIPT)])._repr_html_(),
        Graph({SCRIPT: SCRIPT, "b": "B"}, [(SCRIPT, SCRIPT, "b")], root=SCRIPT)._repr_html_(),
        Graph({SCRIPT: "alone"})._repr_html_(),
    ],
)
def test_markup_in_labels_is_escaped(shown):
    assert "<script" not in shown and "&lt;script" in shown


@given(any_text, any_text)
def test_any_label_gives_well_formed_svg(label, edge):
    ET.fromstring(tree_svg(Tree(label, [Tree(edge, edge=label)], edge)))


@given(any_text)
def test_any_label_gives_well_formed_html(label):
    html = sequence_html(Sequence([(label, label)])) + graph_html(Graph([label], [(0, label, 0)]))
    ET.fromstring(f"<div>{html.replace('&nbsp;', ' ')}</div>")


def test_every_label_is_drawn():
    svg = tree_svg(Tree.from_brackets('(S (NP x) "obj":y)'))
    assert sorted(drawn_texts(svg)) == ["NP", "S", "obj", "x", "y"]


def test_leaves_and_inner_nodes_look_different():
    fills = set(re.findall(r'<rect[^>]* fill="(#\w+)"', tree_svg(Tree("S", [Tree("x")]))))
    assert len(fills) == 2


@given(st.lists(st.text("abcW", min_size=1, max_size=12), min_size=2, max_size=8))
def test_plates_do_not_overlap(words):
    leaves = [Tree(word, edge=word * 2) for word in words]
    found = boxes(tree_svg(Tree("a quite long root label", [Tree("N", leaves), Tree("M", leaves)])))
    for i, (x, y, width, height) in enumerate(found):
        for other_x, other_y, other_width, other_height in found[:i]:
            apart = x >= other_x + other_width - 0.2 or other_x >= x + width - 0.2
            stacked = y >= other_y + other_height - 0.2 or other_y >= y + height - 0.2
            assert apart or stacked


def test_plates_stay_inside_the_picture():
    svg = tree_svg(Tree("the root", [Tree("x", [Tree("a very wide leaf")], edge="e")], edge="root"))
    root = ET.fromstring(svg)
    assert all(
        x >= 0
        and y >= 0
        and x + w <= float(root.get("width"))
        and y + h <= float(root.get("height"))
        for x, y, w, h in boxes(svg)
    )


def test_large_tree_is_cut_with_a_note():
    texts = drawn_texts(tree_svg(Tree("S", [Tree("x")] * 5000), max_nodes=50))
    assert texts.count("x") == 49 and "50 of 5,001 nodes shown" in texts


def test_small_tree_has_no_note():
    assert "shown" not in tree_svg(Tree("S", [Tree("x")]))


def test_long_label_is_cut_but_kept_as_a_tooltip():
    svg = tree_svg(Tree("word" * 20))
    assert "word" * 20 in svg and drawn_texts(svg)[0].endswith("…")


def test_long_sequence_is_cut_with_a_note():
    assert "… 50 more" in sequence_html(Sequence(["x"] * 150), max_elements=100)


def test_empty_sequence_says_so():
    assert "empty" in sequence_html(Sequence([]))


def test_graph_table_has_a_row_for_each_edge_and_each_unconnected_node():
    graph = Graph(["A", "B", "alone"], [(0, "x", 1), (1, "y", 0)])
    assert graph_html(graph).count("<tr>") == 3


def test_long_graph_table_is_cut_with_a_note():
    html = graph_html(Graph(["A"], [(0, "x", 0)] * 500), max_rows=10)
    assert html.count("<tr>") == 10 and "first 10 edges shown" in html
