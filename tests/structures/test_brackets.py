import io

import pytest
from hypothesis import example, given, strategies as st

from kernelwood.errors import StructureError
from kernelwood.structures import Tree, iter_brackets, strip_empty_root
from kernelwood.structures.brackets import read_brackets

nasty = st.text(st.sampled_from("()\"\\:\n\r\t\f\v '`a#=/\xa0\u2028n"), max_size=6)
labels = nasty | st.text(st.characters(exclude_categories=()), max_size=4)
trees = st.recursive(
    st.builds(Tree, labels, edge=labels | st.just("")),
    lambda children: st.builds(
        Tree, labels, st.lists(children, max_size=3), labels | st.just("")
    ),
    max_leaves=8,
)  # fmt: skip


def leaf(text):
    """Read the only word of ``(X word)``."""
    (word,) = read_brackets(text).children
    return word.label


@given(trees)
@example(Tree(""))
@example(Tree("", [Tree("")]))
@example(Tree("", [Tree("", [Tree("")])], edge="e"))
@example(Tree("x\\", [Tree("\\"), Tree("\\\\"), Tree('"', edge='"')]))
def test_every_tree_survives_writing_and_reading(tree):
    assert read_brackets(tree.to_brackets()) == tree


@given(trees)
def test_a_tree_is_written_on_one_line(tree):
    assert not set("\n\r\v\f\t") & set(tree.to_brackets())


@given(st.lists(trees, max_size=4))
def test_many_trees_survive_one_to_a_line(many):
    text = "\n".join(tree.to_brackets() for tree in many)
    assert list(iter_brackets(text)) == list(enumerate(many, 1))


@pytest.mark.parametrize(
    "text",
    [
        "(S (NP x) (VP y))",
        "(x)",
        '("")',
        "( (S x))",
        "(`` ``)",
        "('' '')",
        '(. ")',
        '(" ")',
        '(`` ") ',
        '(NN 5")',
        "(NN don't)",
        "(-LRB- -LRB-)",
        r"(NN \()",
        r"(NN a\(b\)c)",
        r"(NN 1\/2)",
        r"(NN AC\/DC)",
        "(: :)",
        "(: --)",
        "(NN a:b=c/d|e#f)",
        "(NP-SBJ=1 (-NONE- *T*-1))",
        "(NN naïve)",
        "(NN 10\u00a0000)",
        '(X "New York")',
        '(X "\\(a)")',
        '(saw "nsubj":cat ("obj":mouse "amod":small))',
    ],
)
def test_conventional_text_is_kept_to_the_letter(text):
    assert read_brackets(text).to_brackets() == text.strip()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('(. ")', '"'),
        ('(. "\n)', '"'),
        ("('' '')", "''"),
        ("(`` ``)", "``"),
        ('(NN 5")', '5"'),
        ('(NN 5"6")', '5"6"'),
        ('(X "")', ""),
        ('(X "a b")', "a b"),
        ('(X "a)(b")', "a)(b"),
        (r'(X "\"")', '"'),
        (r'(X "\\")', "\\"),
        (r'(X "\n\r\t\f\v\ \(\)")', "\n\r\t\f\v ()"),
        (r"(X \()", r"\("),
        (r"(X \))", r"\)"),
        (r"(X \\\))", r"\\\)"),
        ("(X \\ )", "\\"),
    ],
)
def test_word_reads_as(text, word):
    assert leaf(text) == word


def test_two_lone_quotes_do_not_make_a_quotation():
    tree = read_brackets("(S (`` \") (NP x) ('' \"))")
    assert [word.label for word in tree.leaves()] == ['"', "x", '"']


def test_bracketed_leaf_equals_bare_word():
    assert read_brackets("(NP (x))") == read_brackets("(NP x)")


def test_no_blanks_are_needed_beside_brackets():
    tree = read_brackets("(SYNT##root(POS##VB(LEX##develop::v))(POS##.(LEX##.::.)))")
    expected = Tree(
        "SYNT##root",
        [Tree("POS##VB", [Tree("LEX##develop::v")]), Tree("POS##.", [Tree("LEX##.::.")])],
    )
    assert tree == expected


@pytest.mark.parametrize("blank", ["\n", "\r\n", "\t", "\n\n  ", "\r"])
def test_any_blank_separates(blank):
    text = "( S ( NP x ) y )".replace(" ", blank)
    assert read_brackets(text) == read_brackets("(S (NP x) y)")


def test_missing_label_is_empty():
    assert read_brackets("( (S x) )") == Tree("", [Tree("S", [Tree("x")])])


def test_empty_brackets_are_a_leaf_with_empty_label():
    assert read_brackets("(S ())") == Tree("S", [Tree("")])


def test_edges_are_read_before_colons():
    tree = read_brackets('("root":saw "nsubj":cat "punct"::: "x y":"a b")')
    words = [(child.edge, child.label) for child in tree.children]
    assert (tree.edge, words) == ("root", [("nsubj", "cat"), ("punct", "::"), ("x y", "a b")])


def test_strip_empty_root_returns_the_only_child():
    assert strip_empty_root(read_brackets("( (S x) )")) == read_brackets("(S x)")


@pytest.mark.parametrize("text", ["(S (NP x))", "( (A x) (B y))", '("")'])
def test_strip_empty_root_leaves_other_trees_alone(text):
    tree = read_brackets(text)
    assert strip_empty_root(tree) is tree


def test_iter_brackets_tells_where_each_tree_begins():
    text = "\n(A x) (B\n y)\n\n(C z)"
    assert [line for line, _ in iter_brackets(text, first_line=10)] == [11, 11, 14]


def test_iter_brackets_reads_lines_only_when_needed():
    lines = iter(["(A x)\n", "(B y)\n"])
    next(iter_brackets(lines))
    assert next(lines) == "(B y)\n"


def test_iter_brackets_takes_an_open_file():
    assert len(list(iter_brackets(io.StringIO("(A\n x)\n(B y)\n")))) == 2


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_iter_brackets_finds_no_tree_in_blanks(text):
    assert list(iter_brackets(text)) == []


def test_equal_words_share_one_string():
    first, second = read_brackets("(S (NN cats) (NN cats))").leaves()
    assert first.label is second.label


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("(S (NP x) (VP y)", 1, 1, "never closed"),
        ("(S\n  (NP x\n  (VP y)", 2, 3, "never closed"),
        ("(S x))", 1, 6, r'unexpected "\)"'),
        (")", 1, 1, r'unexpected "\)"'),
        ("(S x)\n  (T y)", 2, 3, "text after the tree"),
        ("(S x) y", 1, 7, "text after the tree"),
        ("S x", 1, 1, r'expected "\("'),
        ('(S\n "abc)', 2, 2, "quote is never closed"),
        ('(S "abc\ndef")', 1, 4, "quote is never closed"),
        ('(S "abc\\")', 1, 4, "quote is never closed"),
        ('(S "abc"d)', 1, 4, "closing quote must be followed"),
        ('(S ""d)', 1, 4, "closing quote must be followed"),
        ('(S "e": x)', 1, 4, "closing quote must be followed"),
        ('(S y "a\\qb")', 1, 6, r"unknown escape \\q"),
        ("", 1, None, "no tree"),
        (" \n ", 1, None, "no tree"),
    ],
)
def test_error_points_at_the_problem(text, line, column, problem):
    with pytest.raises(StructureError, match=problem) as caught:
        read_brackets(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_error_shows_the_line_with_a_caret():
    with pytest.raises(StructureError) as caught:
        read_brackets("(S\r\n  x))\r\n")
    assert str(caught.value).splitlines()[1:3] == ["      x))", "        ^"]


def test_error_in_a_later_tree_counts_from_the_first_line():
    with pytest.raises(StructureError) as caught:
        list(iter_brackets("(A x)\n(B y\n(C z)", first_line=5))
    assert (caught.value.line, caught.value.column) == (6, 1)


def test_text_that_is_no_string_is_refused():
    with pytest.raises(StructureError, match="got bytes"):
        Tree.from_brackets(b"(S x)")


@pytest.mark.parametrize("n_leaves", range(6))
@pytest.mark.parametrize("word", ["x", "x" * 99, "x" * 100, "x" * 101])
def test_nodes_above_any_number_of_leaves_are_read_alike_however_they_are_spaced(n_leaves, word):
    leaves = [f"{word}{number}" for number in range(n_leaves)]
    expected = Tree("S", [Tree(word, [Tree(leaf) for leaf in leaves])])
    for blank in (" ", "  ", "\n"):
        assert read_brackets(f"(S ({blank.join([word, *leaves])}))") == expected


def test_a_word_after_the_first_child_is_no_label():
    assert read_brackets("((A b) c)") == Tree("", [Tree("A", [Tree("b")]), Tree("c")])


def test_small_trees_that_are_alike_are_one():
    first, second = read_brackets("(S (NN tree))"), read_brackets("(NP (NN tree))")
    assert first.children[0] is second.children[0]


def test_other_brackets_are_named():
    with pytest.raises(StructureError, match="brackets are round"):
        read_brackets("[A b]")
