"""Pictures of structures for notebooks."""

import random
import re
from itertools import pairwise

import defusedxml.ElementTree
import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH

from kernelwood.structures import Forest, Graph, Sequence, Tree
from kernelwood.structures.pictures import forest_svg, graph_html, sequence_html, tree_svg

SCRIPT = "<script>alert('x')</script>"
SVG = "{http://www.w3.org/2000/svg}"
any_text = st.text(st.characters(exclude_categories=()), max_size=40)


def parse(svg):
    return defusedxml.ElementTree.fromstring(svg)


def drawn_texts(svg):
    return [element.text for element in parse(svg).iter(f"{SVG}text")]


def boxes(svg):
    rects = parse(svg).iter(f"{SVG}rect")
    return [tuple(float(r.get(key)) for key in ("x", "y", "width", "height")) for r in rects]


@pytest.mark.parametrize(
    "shown",
    [
        Tree(SCRIPT, [Tree(SCRIPT, edge=SCRIPT)])._repr_svg_(),
        Tree("x" * 40 + SCRIPT)._repr_svg_(),
        Sequence([(SCRIPT, SCRIPT)])._repr_html_(),
        Graph({SCRIPT: SCRIPT, "b": "B"}, [(SCRIPT, SCRIPT, "b")], root=SCRIPT)._repr_html_(),
        Graph({SCRIPT: "alone"})._repr_html_(),
        Forest([SCRIPT, "x" * 40 + SCRIPT], [(0, (1,), 1.0)], 0)._repr_svg_(),
    ],
)
def test_markup_in_labels_is_escaped(shown):
    assert "<script" not in shown and "&lt;script" in shown


@given(any_text, any_text)
def test_any_label_gives_well_formed_svg(label, edge):
    parse(tree_svg(Tree(label, [Tree(edge, edge=label)], edge)))
    parse(forest_svg(Forest([label, edge], [(0, (1,), 1.0)], 0)))


@given(any_text)
def test_any_label_gives_well_formed_html(label):
    html = sequence_html(Sequence([(label, label)])) + graph_html(Graph([label], [(0, label, 0)]))
    parse(f"<div>{html.replace('&nbsp;', ' ')}</div>")


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
    root = parse(svg)
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


BLUE = "#3b7ddd"


def attachment():
    """Two readings of one sentence; the first is the better."""
    return Forest.from_trees(
        [
            (Tree.from_brackets("(S (NP we) (VP (V heard) (NP her) (PP from afar)))"), 0.7),
            (Tree.from_brackets("(S (NP we) (VP (V heard) (NP (NP her) (PP from afar))))"), 0.3),
        ]
    )


def ambiguous(n_words, *, with_spans=True, seed=0):
    """All binary trees over ``n_words`` words, with random probabilities."""
    rng = random.Random(seed)
    spans = [(i, i + w) for w in range(1, n_words + 1) for i in range(n_words - w + 1)]
    index = {span: i for i, span in enumerate(spans)}
    edges = [
        (index[i, k], (index[i, j], index[j, k]), rng.uniform(0.01, 1.0))
        for i, k in spans
        for j in range(i + 1, k)
    ]
    labels = ["w" * rng.randint(1, 9) if k - i == 1 else f"X{i}.{k}" for i, k in spans]
    return Forest(labels, edges, len(spans) - 1, spans if with_spans else None)


def chain(depth):
    return Forest(["n"] * depth, [(i, (i + 1,), 0.5) for i in range(depth - 1)], 0)


FORESTS = {
    "one word": Forest(["word"], [], 0),
    "one word, empty span": Forest(["word"], [], 0, [(0, 0)]),
    "attachment": attachment(),
    "spans": ambiguous(7),
    "no spans": ambiguous(7, with_spans=False),
    "cut": ambiguous(12, seed=1),
    "cut, no spans": ambiguous(12, with_spans=False, seed=1),
    "two words at one place": Forest(
        ["S", "a long word", "another"], [(0, (1,), 0.5), (0, (2,), 0.25)], 0, [(0, 1)] * 3
    ),
    "nothing spoken": Forest(["S", "*T*", "go"], [(0, (1, 2), 1.0)], 0, [(0, 1), (0, 0), (0, 1)]),
    "one child twice": Forest(["S", "ha"], [(0, (1, 1), 1.0)], 0),
    "impossible to count": Forest(
        ["n"] * 150 + ["x", "y"],
        [(i, (i + 1, i + 1), 0.5) for i in range(149)] + [(149, (150,), 0.5), (149, (151,), 0.5)],
        0,
    ),
    "unlikely": Forest(["S", "x", "y"], [(0, (1,), 1.0), (0, (2,), 5e-324)], 0),
}
every_forest = pytest.mark.parametrize("forest", FORESTS.values(), ids=FORESTS)


def titles(svg):
    return [element.text for element in parse(svg).iter(f"{SVG}title")]


def plate(svg, label):
    """Return the box of the only node with that label."""
    [group] = [
        group
        for group in parse(svg).iter(f"{SVG}g")
        if group.find(f"{SVG}rect") is not None and group.find(f"{SVG}text").text == label
    ]
    box = group.find(f"{SVG}rect")
    return tuple(float(box.get(key)) for key in ("x", "y", "width", "height"))


def links(svg):
    """Return the drawn hyper-edges by their tooltip, marginals left out."""
    return {
        group.find(f"{SVG}title").text.split(" · ")[0]: group
        for group in parse(svg).iter(f"{SVG}g")
        if group.find(f"{SVG}circle") is not None
    }


@every_forest
def test_plates_of_a_row_do_not_overlap(forest):
    rows = {}
    for x, y, width, _ in boxes(forest_svg(forest, 40)):
        rows.setdefault(y, []).append((x, x + width))
    for row in rows.values():
        row.sort()
        for (_, end), (start, _) in pairwise(row):
            assert start >= end


@every_forest
def test_everything_stays_inside_the_picture(forest):
    svg = forest_svg(forest, 40)
    root = parse(svg)
    width, height = float(root.get("width")), float(root.get("height"))
    places = [(x, y) for x, y, _, _ in boxes(svg)] + [(x + w, y + h) for x, y, w, h in boxes(svg)]
    places += [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(f"{SVG}circle")]
    assert all(0 <= x <= width + 0.5 and 0 <= y <= height for x, y in places)


@every_forest
def test_all_coordinates_are_numbers(forest):
    assert not re.search(
        r'(?:=|[" ,MLC])-?(?:nan|inf)\b', re.sub("<title>.*?</title>", "", forest_svg(forest, 40))
    )


@every_forest
def test_drawing_twice_gives_the_same_picture(forest):
    copy = Forest(forest.labels, forest.edges, forest.root, forest.spans)
    assert forest_svg(forest, 40) == forest_svg(copy, 40)


@every_forest
def test_heads_stand_above_their_children(forest):
    for group in links(forest_svg(forest, 40)).values():
        dot = float(group.find(f"{SVG}circle").get("cy"))
        path = group.find(f"{SVG}path").get("d")
        starts = [float(y) for y in re.findall(r"M[\d.]+ ([\d.]+)L", path)]
        ends = [float(y) for y in re.findall(r"C(?:[\d.]+ ){5}([\d.]+)", path)]
        assert max(starts) < dot < min(ends)


def test_every_node_and_hyper_edge_is_drawn():
    forest = attachment()
    svg = forest_svg(forest)
    assert len(boxes(svg)) == forest.n_nodes
    assert len(list(parse(svg).iter(f"{SVG}circle"))) == forest.n_edges


def test_words_stand_in_the_bottom_row_from_left_to_right():
    svg = forest_svg(attachment())
    words = [plate(svg, word) for word in ("we", "heard", "her", "from", "afar")]
    assert len({y for _, y, _, _ in words}) == 1
    assert words == sorted(words)
    assert all(y <= words[0][1] for _, y, _, _ in boxes(svg))


def test_words_without_spans_stand_as_in_the_best_tree():
    forest = attachment()
    svg = forest_svg(Forest(forest.labels, forest.edges, forest.root))
    words = [plate(svg, word) for word in ("we", "heard", "her", "from", "afar")]
    assert words == sorted(words)


def test_a_node_alone_in_its_row_is_centered_over_its_words():
    forest = Forest(["NP", "a", "bee"], [(0, (1, 2), 1.0)], 0, [(0, 2), (0, 1), (1, 2)])
    svg = forest_svg(forest)
    head, first, last = plate(svg, "NP"), plate(svg, "a"), plate(svg, "bee")
    middle = head[0] + head[2] / 2
    assert first[0] < middle < last[0] + last[2]
    assert middle == pytest.approx((first[0] + last[0] + last[2]) / 2, abs=1.0)


def test_the_best_tree_is_drawn_in_its_color():
    drawn = links(forest_svg(attachment()))
    blue = {rule for rule, group in drawn.items() if group.get("stroke") == BLUE}
    assert blue == {
        "S → NP VP",
        "NP → we",
        "VP → V NP PP",
        "V → heard",
        "NP → her",
        "PP → from afar",
    }


def test_the_best_of_equals_is_the_one_the_best_tree_has():
    forest = Forest(["S", "x", "y"], [(0, (2,), 0.5), (0, (1,), 0.5)], 0)
    drawn = links(forest_svg(forest))
    assert forest.best_tree().children[0].label == "y"
    assert drawn["S → y"].get("stroke") == BLUE != drawn["S → x"].get("stroke")


def test_likely_hyper_edges_are_drawn_stronger():
    drawn = links(forest_svg(attachment()))
    for key in ("stroke-width", "opacity"):
        assert float(drawn["VP → V NP PP"].get(key)) > float(drawn["VP → V NP"].get(key))


def test_expected_counts_above_one_are_drawn_like_certain_ones():
    forest = Forest(["S", "A", "x"], [(0, (1, 1), 1.0), (1, (2,), 1.0)], 0)
    drawn = links(forest_svg(forest))
    assert drawn["A → x"].get("opacity") == drawn["S → A A"].get("opacity") == "1.00"


def test_tooltips_of_nodes_give_label_span_and_marginal():
    assert "PP · [3, 5) · marginal 1" in titles(forest_svg(attachment()))


def test_tooltips_of_hyper_edges_give_probability_and_marginal():
    assert "VP → V NP · P 0.3 · marginal 0.3" in titles(forest_svg(attachment()))


def test_the_note_counts_the_trees():
    assert drawn_texts(forest_svg(attachment()))[-1] == "2 trees, the best in blue"


def test_the_note_rounds_what_is_too_long_to_write():
    n = 20_000
    sides = [(i, (side,), 0.5) for i in range(1, 100) for side in (100, 101)]
    labels = ["S"] + ["A"] * 99 + ["x", "y"]
    forest = Forest(labels, [(0, tuple(range(1, 100)) * (n // 99), 1.0), *sides], 0)
    assert "about 10^6020 trees" in drawn_texts(forest_svg(forest))[-1]


def test_the_note_tells_a_fallback():
    assert "fallback" in drawn_texts(forest_svg(Forest(["x"], [], 0, fallback=True)))[-1]


@pytest.mark.parametrize("max_nodes", [1, 2, 10, 40, 77])
def test_a_large_forest_is_cut_with_a_note(max_nodes):
    svg = forest_svg(ambiguous(12), max_nodes)
    assert len(boxes(svg)) == max_nodes
    assert drawn_texts(svg)[-1].startswith(f"… {78 - max_nodes} more nodes")


def test_a_cut_forest_keeps_the_best_tree():
    forest = ambiguous(12)
    drawn = links(forest_svg(forest, 23))
    assert len(drawn) == 11
    assert all(group.get("stroke") == BLUE for group in drawn.values())


def test_a_cut_forest_keeps_the_likelier_alternative():
    labels = ["S", "best", "likely", "unlikely", "x"]
    edges = [(0, (1,), 0.6), (0, (3,), 0.1), (0, (2,), 0.3)]
    edges += [(node, (4,), 1.0) for node in (1, 2, 3)]
    assert set(drawn_texts(forest_svg(Forest(labels, edges, 0), 4))[:-1]) == {
        "S", "best", "likely", "x"
    }  # fmt: skip


def test_every_node_of_a_cut_forest_outside_the_best_tree_is_built_from_words():
    forest = ambiguous(12)
    svg = forest_svg(forest, 50)
    shown = set(drawn_texts(svg)[:-1])
    built = {rule.split(" → ")[0] for rule in links(svg)}
    assert shown - built <= set(forest.labels[:12])


def test_where_the_best_tree_does_not_fit_an_ellipsis_stands():
    assert drawn_texts(forest_svg(chain(50), 10)).count("…") == 1


def test_of_too_many_children_the_first_are_drawn():
    forest = Forest(["S", *"abcdefgh"], [(0, tuple(range(1, 9)), 1.0)], 0)
    assert list(links(forest_svg(forest, 4))) == ["S → a b c …"]


def test_hyper_edges_beyond_counting_are_left_out_with_a_note():
    n = 60
    pairs = [(0, (i, j), 1.0) for i in range(1, n) for j in range(1, n)]
    svg = forest_svg(Forest(["S"] + ["x"] * (n - 1), pairs, 0), n)
    assert svg.count("<circle ") == 4 * n
    assert f"… {len(pairs) - 4 * n:,} more hyper-edges" in drawn_texts(svg)[-1]


def test_a_deep_forest_is_drawn():
    svg = forest_svg(chain(DEPTH))
    assert len(boxes(svg)) == 200 and f"… {DEPTH - 200:,} more nodes" in drawn_texts(svg)[-1]


def test_a_deep_forest_is_drawn_whole_if_wanted():
    assert forest_svg(chain(DEPTH), DEPTH).count("<rect ") == DEPTH


def test_notebooks_draw_forests():
    forest = attachment()
    assert forest._repr_svg_() == forest_svg(forest)
