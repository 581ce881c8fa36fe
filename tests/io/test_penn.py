from __future__ import annotations

import io

import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH

from kernelwood.errors import ReadError, StructureError
from kernelwood.io import read, write_penn
from kernelwood.structures import Sequence, Tree
from kernelwood.text import Example


def parse(text, errors="raise"):
    return read(io.StringIO(text), format="penn", errors=errors)


def brackets(examples):
    return [example.views["tree"].to_brackets() for example in examples]


def written(*trees):
    out = io.StringIO()
    write_penn([Example("x", views={"tree": tree}) for tree in trees], out)
    return out.getvalue()


labels = st.text(max_size=6) | st.sampled_from(['"', "(", ")", " ", "\\", "", "a b", "\n", "\r\n"])
trees = st.recursive(
    st.builds(Tree, labels, edge=labels),
    lambda children: st.builds(Tree, labels, st.lists(children, max_size=4), labels),
    max_leaves=12,
)


def test_a_tree_may_span_lines():
    assert brackets(parse("(S\n  (NP we)\n\n  (VP go))\n")) == ["(S (NP we) (VP go))"]


def test_several_trees_may_share_a_line():
    assert brackets(parse("(A b) (C\nd) (E f)")) == ["(A b)", "(C d)", "(E f)"]


def test_the_origin_is_the_line_on_which_the_tree_begins():
    assert [e.origin.line for e in parse("\n(A b) (C\nd)\n\n( (E f))")] == [2, 2, 5]


def test_the_empty_outer_bracket_is_taken_off():
    assert brackets(parse("( (S (NP we)))")) == ["(S (NP we))"]


def test_an_empty_root_with_two_children_stays():
    assert parse("( (A b) (C d))")[0].views["tree"].label == ""


def test_slashes_escaped_in_the_penn_way_stay_as_written():
    assert parse(r"(CD 1\/2)")[0].views["tree"].children[0].label == r"1\/2"


def test_a_quoted_bracket_does_not_count():
    assert brackets(parse('(A "x)"\n b)\n(C d)\n')) == ['(A "x)" b)', "(C d)"]


def test_unindented_continuation_lines_belong_to_their_tree():
    assert brackets(parse("(S\n(NP we)\n(VP go))\n(X y)\n")) == ["(S (NP we) (VP go))", "(X y)"]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("(A b)\n  )\n", 2, 3),
        ("(A b)\nword\n", 2, 1),
        ("(A b)\n\n(C (D e)\n", 3, 1),
        ("(A\n  (B c)\n  (D e\n", 3, 3),
        ("(A b) (C\n  d) (E\n", 2, 6),
        ("(A b) (C\n  d) )\n", 2, 6),
        ("(A\n b) (C\n d) (E\n", 3, 5),
        ('(A "b\n', 1, 4),
        ("(Ä é) )", 1, 7),
    ],
)
def test_the_position_is_exact(text, line, column):
    with pytest.raises(ReadError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "kept", "problem_lines"),
    [
        ("(A b)\n(C (D e)\n(F g)\n(H i)\n", ["(A b)", "(F g)", "(H i)"], [2]),
        ("(A b))\n(C d)\n", ["(C d)"], [1]),
        ("(A b)\n)\njunk\n(more) junk\n(C d)\n", ["(A b)", "(C d)"], [2, 4]),
        ("(A\n  (B c\n  d)\n( (E f))\n", ["(E f)"], [1]),
        ("(A\n (B c)) (D\n e\n(F g)\n", ["(A (B c))", "(F g)"], [2]),
        ("(A\n(B c)) (D\n e\n(F g)\n", ["(A (B c))", "(F g)"], [2]),
        ("(A b) (C d) (E\n(F g)\n", ["(A b)", "(C d)", "(F g)"], [1]),
        ("(A b) )\n(C d)\n", ["(C d)"], [1]),
        ("(A\n(B c)\n", ["(B c)"], [1]),
        ('(A "b)\n junk\n(C d)\n(E\n(F g)\n', ["(C d)", "(F g)"], [1, 4]),
    ],
)
def test_reading_goes_on_at_the_next_bracket_in_column_one(text, kept, problem_lines):
    examples = parse(text, "collect")
    assert brackets(examples) == kept
    assert [problem.line for problem in examples.tally.problems] == problem_lines


def test_broken_trees_are_counted_in_identifiers():
    assert [e.id for e in parse("(A b)\n(C\n(D e)\n", "skip")] == ["stream:1", "stream:3"]


def test_bad_bytes_inside_a_tree_drop_that_tree_only():
    data = b"(A\n (B \xff))\n(C d)\n"
    examples = read(io.BytesIO(data), format="penn", errors="collect")
    assert brackets(examples) == ["(C d)"]
    assert [(p.line, p.column) for p in examples.tally.problems] == [(2, 5)]


def test_many_broken_trees_take_linear_time():
    examples = parse("(A\n" * 20_000, "skip")
    assert examples.tally.skipped == 20_000


def test_many_stray_brackets_take_linear_time():
    examples = parse("(A b) )\n" * 20_000, "skip")
    assert examples.tally.skipped == 20_000


def test_a_deep_tree_is_read():
    assert parse("(a " * DEPTH + "b" + ")" * DEPTH)[0].views["tree"].n_nodes == DEPTH + 1


def test_a_deep_tree_over_many_lines_is_read():
    assert parse("(a\n" * DEPTH + "b" + ")" * DEPTH)[0].views["tree"].n_nodes == DEPTH + 1


def test_a_deep_unclosed_tree_is_an_error():
    with pytest.raises(ReadError) as caught:
        parse("(a " * DEPTH)
    assert caught.value.column == 3 * DEPTH - 2


def test_a_deep_tree_is_written():
    text = "(a " * DEPTH + "b" + ")" * DEPTH + "\n"
    assert written(parse(text)[0].views["tree"]) == text


@given(st.lists(trees, max_size=4))
def test_trees_survive_writing_and_reading(given_trees):
    examples = read(io.BytesIO(written(*given_trees).encode("utf-8", "surrogatepass")), "penn")
    assert [example.views["tree"] for example in examples] == given_trees


def test_a_tree_with_its_own_empty_root_survives():
    tree = Tree("", [Tree("S", [Tree("x")])])
    assert parse(written(tree))[0].views["tree"] == tree


def test_a_missing_view_names_those_there_are():
    with pytest.raises(
        StructureError,
        match=r"'q7' cannot be written: it has no tree in view 'tree'\n    it has parse",
    ):
        write_penn([Example("q7", views={"parse": Tree("x")})], io.StringIO())


def test_a_view_that_is_no_tree_is_refused():
    with pytest.raises(StructureError, match="no tree in view 'words'"):
        write_penn([Example("a", views={"words": Sequence(["x"])})], io.StringIO(), view="words")
