from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_matrix
from sizes import DEPTH

import kernelwood as kw
from kernelwood.errors import ReadError, StructureError
from kernelwood.io import read, write_kelp
from kernelwood.structures import Graph, Sequence, Tree
from kernelwood.text import Example


def parse(text, errors="raise", views=None):
    data = text.encode("utf-8", "surrogatepass")
    return read(io.BytesIO(data), format="kelp", errors=errors, views=views)


def view(body):
    (value,) = parse(body)[0].views.values()
    return value


def written(*examples, **options):
    out = io.StringIO()
    write_kelp(examples, out, **options)
    return out.getvalue()


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("", None),
        ("NUM ", "NUM"),
        ("NUM", "NUM"),
        ("NUM:count ", "NUM:count"),
        ("score:1.5 ", ("score", 1.5)),
        ("a:b:-2e1 ", ("a:b", -20.0)),
        ("1.5 ", "1.5"),
        (":1.5 ", ":1.5"),
        ("x:nan ", "x:nan"),
        ("x:1e999 ", "x:1e999"),
        ("a  b\tc ", ("a", "b", "c")),
        ("a score:2 ", ("a", ("score", 2.0))),
        ("a|b ", "a|b"),
    ],
)
def test_labels(text, label):
    assert parse(f"{text}|BT:t| (A) |ET|")[0].label == label


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("(A)", "(A)"),
        (" (A(B)(C(D))) ", "(A B (C D))"),
        ("(A (B b) (C c))", "(A (B b) (C c))"),
        ("( A b\tc (D) e )", "(A b c D e)"),
        ("(A(B) c)", "(A B c)"),
    ],
)
def test_trees_in_both_styles(body, expected):
    assert view(f"|BT:t|{body}|ET|") == Tree.from_brackets(expected)


@pytest.mark.parametrize(
    "label",
    ["LEX##go::v", "COMP##nn<a_comma_b::n,c::n>", '"', '"a', "a|b", "|E", "|<|", "#", "\\", "\xa0"],
)
def test_node_labels_are_kept_as_written(label):
    assert view(f"|BT:t| (A({label}(B))({label})) |ET|").children[1].label == label


def test_a_string_is_raw_but_for_one_blank_on_each_side():
    assert view('|BS:s|  a "b" (c) |BT:x| |<| |ET|  d  |ES|') == ' a "b" (c) |BT:x| |<| |ET|  d '


@pytest.mark.parametrize("body", ["", " ", "  "])
def test_a_string_may_be_empty(body):
    assert view(f"|BS:s|{body}|ES|") == ""


def test_a_sparse_vector_splits_at_the_last_colon():
    assert view("|BV:v| a:1.0 _:__::0.5\tb:-1e2 |EV|") == {"a": 1.0, "_:__:": 0.5, "b": -100.0}


def test_a_vector_may_be_empty():
    assert view("|BV:v| |EV|") == {}


def test_a_dense_vector_is_a_tuple():
    assert view("|BDV:v| 1.0 2,3;-.5 |EDV|") == (1.0, 2.0, 3.0, -0.5)


def test_a_sequence_keeps_blanks_inside_elements():
    assert view("|BSQ:s| (a b) (LEX##c::n)( ) |ESQ|") == Sequence(["a b", "LEX##c::n", " "])


@pytest.mark.parametrize(
    ("body", "graph"),
    [
        ("1 a&&2 b c%%1 2&&2 1", Graph({1: "a", 2: "b c"}, [(1, "", 2), (2, "", 1)])),
        ("1 a && 2 b %% 1 2 &&", Graph({1: "a", 2: "b"}, [(1, "", 2)])),
        ("7 a", Graph({7: "a"})),
        ("7 a%%", Graph({7: "a"})),
        ("", Graph({})),
    ],
)
def test_graphs(body, graph):
    assert view(f"|BG:g| {body} |EG|") == graph


def test_unnamed_representations_are_named_by_their_index():
    views = parse("|BS:a| x |ES| |BT| (A) |ET| |BT| (B) |ET|")[0].views
    assert list(views) == ["a", "1", "2"]


def test_the_identifier_has_the_number_of_the_line():
    assert [e.id for e in parse("\n|BT| (A) |ET|\n\n|BT| (A) |ET|\n")] == ["stream:2", "stream:4"]


def test_a_pair_has_views_of_both_sides():
    (example,) = parse("yes |<| |BT:t| (A) |ET| |,| |BT:t| (B) |ET| |>| |BS| both |ES|")
    assert example.label == "yes"
    assert dict(example.views) == {"left.t": Tree("A"), "right.t": Tree("B"), "0": "both"}


def test_labels_inside_a_pair_are_kept():
    (example,) = parse("yes |<| a b |BT| (A) |ET| |,| score:1 |BT| (B) |ET| |>|")
    assert (example.views["left.label"], example.views["right.label"]) == ("a b", "score:1")


def test_pairs_are_compared_and_written_as_they_were_read():
    line = "{} |<| |BT:t| (A{}) |ET| |,| |BT:t| (A(C)) |ET| |>|\n"
    pairs = parse(line.format("yes", "(B)") + line.format("no", "(C)"))
    kernel = kw.PairKernel(kw.OnView("t", kw.SubsetTreeKernel()), mode="product")
    np.testing.assert_allclose(kernel.gram(pairs), [[1, 0], [0, 2]], rtol=1e-14)
    again = parse(written(*pairs))
    assert [(pair.label, pair.views) for pair in again] == [(p.label, p.views) for p in pairs]


def test_pairs_may_be_nested():
    (example,) = parse("|<| |<| |BT| (A) |ET| |,| |BT| (B) |ET| |>| |,| |BT| (C) |ET| |>|")
    assert list(example.views) == ["left.left.0", "left.right.0", "right.0"]


def test_a_pair_mark_inside_a_body_is_text():
    (example,) = parse("|<| |BS| a |,| b |ES| |,| |BS| |>| |ES| |>|")
    assert dict(example.views) == {"left.0": "a |,| b", "right.0": "|>|"}


def test_only_wanted_views_are_parsed():
    (example,) = parse("|BT:bad| (A |ET| |BT:good| (B) |ET|", views=["good"])
    assert dict(example.views) == {"good": Tree("B")}


def test_a_missing_view_is_an_error_with_a_guess():
    with pytest.raises(ReadError, match=r"no view 'grtc'(?s:.*)did you mean 'grct'"):
        parse("|BT:grct| (A) |ET|", views=["grtc"])


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("LABEL", 1, "no representation"),
        ("L |BT:a (A) |ET|", 3, "never closed"),
        ("L |BT:a", 3, "header is malformed"),
        ("L |BX:a| x |EX|", 3, "unknown representation type 'X'"),
        ("L |BT:a| (A) |ES|", 3, "'a' is never closed"),
        ("L |BT:a| (A) |ET| |BT:a| (B) |ET|", 19, "'a' appears twice"),
        ("L |BT:| (A) |ET|", 3, "name is empty"),
        ("L |BT:a| (A) |ET| junk |BS| x |ES|", 19, "expected a representation"),
        ("L |BT:a| |ET|", 10, "tree is empty"),
        ("L |BT:a| A(B) |ET|", 10, 'expected "\\("'),
        ("L |BT:a| word |ET|", 10, 'expected "\\("'),
        ("L |BT:a| (A(B) |ET|", 10, "never closed"),
        ("L |BT:a| (A(B |ET|", 12, "never closed"),
        ("L |BT:a| (A)) |ET|", 13, 'unexpected "\\)"'),
        ("L |BT:a| (A)(B) |ET|", 13, "text after the tree"),
        ("L |BT:a| (A)b |ET|", 13, "text after the tree"),
        ("L |BT:a| (A()) |ET|", 12, "no label"),
        ("L |BT:a| ( (S)) |ET|", 10, "no label"),
        ("Ä |BT:é| (A)) |ET|", 13, 'unexpected "\\)"'),
        ("L |BSQ:a| (a)b(c) |ESQ|", 14, "not an element"),
        ("L |BSQ:a| (a)(b |ESQ|", 14, "not an element"),
        ("L |BSQ:a| (a)() |ESQ|", 14, "empty"),
        ("L |BV:a| a:1 b |EV|", 14, "'b' is not a feature"),
        ("L |BV:a| a:1 :2 |EV|", 14, "not a feature"),
        ("L |BV:a| a:1 b:nan |EV|", 14, "not a feature"),
        ("L |BV:a| a:1 a:2 |EV|", 14, "appears twice"),
        ("L |BDV:a| 1 2 x |EDV|", 15, "not a finite number"),
        ("L |BG:a| 1 a&& b%%1 1 |EG|", 16, "not a node"),
        ("L |BG:a| 1 a&&1 b |EG|", 15, "appears twice"),
        ("L |BG:a| 1 a%%1 2 |EG|", 15, "no node 2"),
        ("L |BG:a| 1 a%%1 |EG|", 15, "not an edge"),
        ("|<| |BT| (A) |ET| |>|", 19, "unexpected \\|>\\|"),
        ("|<| |BT| (A) |ET| |,| |>|", 23, "no representation"),
        ("|<| |,| |BT| (A) |ET| |>|", 5, "no representation"),
        ("|<| |BT| (A) |ET| |,| |BT| (A) |ET|", 36, "not complete"),
        ("|BT| (A) |ET| |,| |BT| (A) |ET|", 15, "unexpected \\|,\\|"),
        ("|BT| (A) |ET| |<| |BT| (A) |ET| |,| |BT| (A) |ET| |>|", 15, "unexpected \\|<\\|"),
        ("|<| |BT:a| (A) |ET| |,| |BT:a| (A) |ET| |>| |<| |BT:b| (A)", 45, "unexpected \\|<\\|"),
        ("|<| x |BS:label| a |ES| |,| |BT| (A) |ET| |>|", 7, "both a label and"),
    ],
)
def test_problems_are_located(text, column, problem):
    with pytest.raises(ReadError, match=problem) as caught:
        parse(f"ok |BT| (A) |ET|\n{text}")
    assert (caught.value.line, caught.value.column) == (2, column)


def test_the_message_shows_the_place():
    with pytest.raises(ReadError) as caught:
        parse("L |BT:a| (A)) |ET|")
    assert str(caught.value) == (
        '<stream>:1:13: unexpected ")"\n'
        "    L |BT:a| (A)) |ET|\n"
        "                ^\n"
        "    remove it or add the opening bracket"
    )


def test_numbers_too_long_for_an_identifier_are_an_error():
    with pytest.raises(ReadError, match="not a node"):
        parse(f"|BG:g| {'1' * 5000} a |EG|")


def test_a_deep_tree_survives_reading_and_writing():
    text = "|BT:t| " + "(a" * DEPTH + ")" * DEPTH + " |ET|\n"
    (example,) = parse(text)
    assert example.views["t"].n_nodes == DEPTH
    assert written(example) == text


def test_a_deep_unclosed_tree_is_an_error():
    with pytest.raises(ReadError) as caught:
        parse("|BT:t|" + "(a" * DEPTH + "|ET|")
    assert caught.value.column == 6 + 2 * DEPTH - 1


def test_deeply_nested_pairs_are_an_error():
    with pytest.raises(ReadError, match="nested more than 32 deep"):
        parse("|<|" * DEPTH + "|BT| (A) |ET|")


marks = st.sampled_from(
    ["|", "|B", "|E", "|ET|", "|ES|", '"', "&", "%", ":", "#", "\r", "é", "\xa0"]
)
pieces = st.lists(marks | st.text(max_size=3), max_size=3).map("".join)


def without(characters):
    return pieces.map(lambda text: "".join(c for c in text if c not in characters) or "x")


node_labels = without("() \t\n").filter(lambda text: "|ET|" not in text)
tree_views = st.recursive(
    st.builds(Tree, node_labels),
    lambda children: st.builds(Tree, node_labels, st.lists(children, max_size=4)),
    max_leaves=8,
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
graph_labels = without(" \t\n").filter(
    lambda text: not any(mark in text for mark in ("&&", "%%", "|EG|"))
)
graphs = st.dictionaries(st.integers(-9, 99), graph_labels, max_size=4).flatmap(
    lambda nodes: st.builds(
        Graph,
        st.just(nodes),
        st.lists(st.tuples(st.sampled_from(list(nodes)), st.just(""), st.sampled_from(list(nodes))))
        if nodes
        else st.just([]),
    )
)
any_view = (
    tree_views
    | graphs
    | st.builds(Sequence, st.lists(without("()\n|"), max_size=4))
    | pieces.filter(lambda text: "|ES|" not in text and "\n" not in text)
    | st.lists(numbers, max_size=4).map(tuple)
    | st.dictionaries(without(" \t\n|"), numbers, max_size=4)
)
names = st.sampled_from(["left.", "right.", "left.left.", "left.right.", ""]).flatmap(
    lambda side: without("|\n").map(lambda name: side + name)
)
plain_labels = st.sampled_from(["A", "B:c", "1.5", "é|", "x:nan", "\ufeffa"])
some_label = plain_labels | st.tuples(plain_labels, numbers)
some_labels = (
    st.none() | some_label | st.lists(some_label, min_size=2, max_size=3).map(tuple)
).filter(lambda label: not (isinstance(label, tuple) and label[1:] == (1.5,)))


@given(some_labels, st.dictionaries(names, any_view, min_size=1, max_size=6))
def test_examples_survive_writing_and_reading(label, views):
    example = Example("x", label, views)
    (copy,) = parse(written(example))
    assert (copy.label, copy.views) == (label, example.views)


def test_wanted_views_are_written():
    example = Example("x", views={"a": "one", "b": "two"})
    assert written(example, views=["b"]) == "|BS:b| two |ES|\n"


def test_a_pair_is_written_as_a_pair():
    text = "yes |<| a |BT:t| (A) |ET| |,| |BT:t| (B) |ET| |>| |BS:0| both |ES|\n"
    assert written(*parse(text)) == text


@pytest.mark.parametrize(
    ("example", "problem"),
    [
        (Example("x", views={"t": Tree("a b")}), "node label 'a b'"),
        (Example("x", views={"t": Tree("")}), "node label ''"),
        (Example("x", views={"t": Tree("A", [Tree("(")])}), r"node label '\('"),
        (Example("x", views={"t": Tree("A", [Tree("b", edge="e")])}), "edge label 'e'"),
        (Example("x", views={"t": Tree("|ET|")}), r"\|ET\|, which would end it"),
        (Example("x", views={"s": "a\nb"}), "line break"),
        (Example("x", views={"s": "a |ES| b"}), r"\|ES\|, which would end it"),
        (Example("x", views={"q": Sequence([("e", "a")])}), "edge label 'e'"),
        (Example("x", views={"q": Sequence(["a)"])}), "element"),
        (Example("x", views={"g": Graph({"a": "b"})}), "node id 'a' is not a number"),
        (Example("x", views={"g": Graph({1: "b&&c"})}), "&&"),
        (Example("x", views={"g": Graph({1: " b"})}), "node label ' b'"),
        (Example("x", views={"g": Graph({1: "b"}, [(1, "e", 1)])}), "edge label 'e'"),
        (Example("x", views={"g": Graph({1: "b"}, root=1)}), "root of a graph"),
        (Example("x", views={"v": {"a b": 1.0}}), "feature 'a b'"),
        (Example("x", views={"v": {"a": float("nan")}}), "not a finite number"),
        (Example("x", views={"a|b": "x"}), "view name"),
        (Example("x"), "no views"),
        (Example("x", "a b", {"s": "x"}), "label 'a b'"),
        (Example("x", "a|Bc", {"s": "x"}), "label"),
        (Example("x", "a:1.5", {"s": "x"}), "would be read as a number"),
        (Example("x", 1.5, {"s": "x"}), "not a string"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(example, problem):
    with pytest.raises(StructureError, match=problem):
        written(example)


@pytest.mark.parametrize("n_leaves", range(6))
def test_a_node_above_any_number_of_leaves_is_read_alike_with_blanks_and_without(n_leaves):
    leaves = [f"w{number}" for number in range(n_leaves)]
    expected = Tree("S", [Tree("A", [Tree(leaf) for leaf in leaves])])
    for between in ("", " "):
        body = f"(S(A{between}{between.join(f'({leaf})' for leaf in leaves)}))"
        assert view(f"|BT:t|{body}|ET|") == expected


def test_vectors_are_views_that_kernels_read_and_are_written_back():
    lines = (
        "A |BV:bow| cat:1.0 the:2.0 |EV| |BDV:v| 0.5 -2.0 |EDV|\n"
        "B |BV:bow| the:1.0 |EV| |BDV:v| 1.0 0.25 |EDV|\n"
    )
    examples = kw.read(io.StringIO(lines), format="kelp")
    table = kw.batch(examples)
    assert kw.OnView("bow", kw.VectorKernel()).gram(table).tolist() == [[5, 2], [2, 1]]
    assert kw.OnView("v", kw.VectorKernel()).gram(table).tolist() == [[4.25, 0], [0, 1.0625]]
    for written in (examples, table):
        out = io.StringIO()
        kw.write(written, out, format="kelp")
        assert out.getvalue() == lines


def test_arrays_are_written_as_vectors():
    views = {"v": np.array([0.5, 1.0]), "row": csr_matrix([[0.0, 3.0]])}
    assert written(Example("x", "A", views)) == "A |BDV:v| 0.5 1.0 |EDV| |BV:row| 1:3.0 |EV|\n"
