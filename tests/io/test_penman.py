"""PENMAN files, read and written."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH

from kernelwood.errors import ReadError, StructureError
from kernelwood.io import Source, iter_read, write_penman
from kernelwood.io.formats.penman import looks_like_penman, penman_text, read_penman
from kernelwood.io.source import Remark
from kernelwood.structures import Graph
from kernelwood.text import Dependency, Example, Sentence, Token

BASIC = """\
# AMR release; corpus: made up

# ::id s1 ::date 2020-02-20 ::preferred
# ::snt Raf binds Ras.
# ::tok Raf binds Ras .
(b / bind-01~e.1
      :ARG0 (p / protein :name (n / name :op1 "Raf"~e.0))
      :ARG1 (q / protein :name (m / name :op1 "Ras"~e.2)))

# ::id s2
# ::snt Not it.
(i / it :polarity -)
"""


def items(text: str | bytes) -> list:
    data = text.encode() if isinstance(text, str) else text
    return list(read_penman(Source(io.BytesIO(data))))


def examples(text: str) -> list[Example]:
    found = [item for item in items(text) if not isinstance(item, Remark)]
    assert all(isinstance(item, Example) for item in found), found
    return found


def sentence(text: str) -> Sentence:
    [example] = examples(text)
    return example.views["sentence"]


def outline(text: str | bytes) -> list:
    """Return the root of each graph, or the line of each problem."""
    return [
        item.line if isinstance(item, ReadError) else item.views["sentence"].amr.root
        for item in items(text)
        if not isinstance(item, Remark)
    ]


def written(view, name: str = "x") -> str:
    return "".join(penman_text([Example(name, views={"sentence": view})]))


# ---------------------------------------------------------------- sentences


def test_the_graph_is_what_the_notation_says():
    first = examples(BASIC)[0].views["sentence"]
    text = "".join(line for line in BASIC.split("\n\n")[1].splitlines(True) if line[0] != "#")
    assert first.amr == Graph.from_penman(text)


def test_ids_are_those_of_the_file():
    assert [example.id for example in examples(BASIC)] == ["s1", "s2"]


def test_graphs_without_id_are_numbered_with_broken_ones_counted():
    found = items("(a / b)\n\n(a / \n\n(c / d)\n")
    assert [getattr(item, "id", None) for item in found] == ["stream:1", None, "stream:3"]


def test_the_origin_is_the_first_comment_or_the_graph():
    assert [item.origin.line for item in items(BASIC + "\n(a / b)\n")] == [3, 10, 14]


def test_pairs_are_kept_in_order():
    assert examples(BASIC)[0].views["sentence"].metadata == (
        ("id", "s1"),
        ("date", "2020-02-20"),
        ("preferred", ""),
        ("snt", "Raf binds Ras."),
        ("tok", "Raf binds Ras ."),
    )


def test_the_first_comment_of_a_release_belongs_to_no_graph():
    text = "# AMR release\n# of today\n\n# kept\n(a / b)\n"
    assert sentence(text).metadata == (("kept", None),)


def test_sentences_may_hold_colons():
    text = "# ::snt a ::b c\n# ::note d::e ::f g\n(a / b)\n"
    assert sentence(text).metadata == (("snt", "a ::b c"), ("note", "d::e"), ("f", "g"))


def test_tokens_are_found_in_the_text():
    first = examples(BASIC)[0].views["sentence"]
    assert first.text == "Raf binds Ras."
    assert first.tokens[2:] == (Token("Ras", 10, 13), Token(".", 13, 14))


@pytest.mark.parametrize("tokens", ["Raf @-@ 1 binds", "Raf-1", "Raf-1 binds . x", "binds"])
def test_tokens_that_are_not_in_the_text_are_a_text_of_their_own(tokens):
    found = sentence(f"# ::snt Raf-1 binds .\n# ::tok {tokens}\n(a / b)\n")
    assert (found.text, list(found.words)) == (tokens, tokens.split(" "))


def test_tokens_may_begin_with_blanks_that_are_not_ascii():
    found = sentence("# ::snt a \u00a0b\n# ::tok a \u00a0b\n(a / b)\n")
    assert (found.text, found.tokens[1]) == ("a \u00a0b", Token("\u00a0b", 2, 4))


def test_tokens_without_a_sentence_are_the_text():
    found = sentence("# ::tok We  go\n(a / b)\n")
    assert (found.text, found.tokens[1]) == ("We  go", Token("go", 4, 6))


def test_without_tokens_there_is_only_the_text():
    second = examples(BASIC)[1].views["sentence"]
    assert (second.text, second.tokens) == ("Not it.", ())


def test_without_comments_there_is_only_the_graph():
    assert sentence("(a / b)") == Sentence("", amr=Graph({"a": "b"}, root="a"))


def test_characters_are_kept_and_counted_one_by_one():
    found = sentence('# ::snt 𝛽 cafe\u0301!\n# ::tok 𝛽 cafe\u0301 !\n(a / b :op "e\u0301𝛽")\n')
    assert found.tokens[1:] == (Token("cafe\u0301", 2, 7), Token("!", 7, 8))
    assert found.amr.nodes["a.op"] == "e\u0301𝛽"


def test_blanks_within_a_token_that_are_not_ascii_do_not_separate():
    assert sentence("# ::tok a\u00a0b c\n(a / b)\n").words == ("a\u00a0b", "c")


def test_other_views_are_not_made():
    found = list(read_penman(Source(io.StringIO(BASIC)), ("tree",)))
    assert [dict(example.views) for example in found] == [{}, {}]


# ---------------------------------------------------------------- alignments


def test_alignments_are_listed_by_token():
    assert examples(BASIC)[0].views["sentence"].alignments == (
        ("n.op1", (0,)),
        ("b", (1,)),
        ("m.op1", (2,)),
    )


def test_alignments_of_roles_are_left_out_with_a_remark():
    found = items("# ::tok a b\n(a / b :ARG0~e.1 (c / d~e.0))\n")
    assert found[0] == Remark("alignments of roles are not kept")
    assert found[1].views["sentence"].alignments == (("c", (0,)),)


def test_alignments_without_tokens_are_left_out_with_a_remark():
    found = items("# ::snt a b\n(a / b~e.0)\n")
    assert found[0] == Remark("alignments without ::tok are not kept")
    assert found[1].views["sentence"].alignments == ()


def test_an_alignment_outside_the_sentence_is_an_error():
    [found] = items("# ::tok a b\n(a / b~e.2)\n")
    assert (found.line, "range of the 2 tokens" in found.problem) == (2, True)


# ---------------------------------------------------------------- parts


def test_blank_lines_may_be_missing():
    assert outline("(a / b)\n(c / d)\n# ::id x\n(e / f)\n# note\n(g / h)") == ["a", "c", "e", "g"]


def test_blank_lines_may_stand_within_a_graph():
    text = "# ::id x\n\n# ::snt y\n\n(a / b\n\n   :ARG0 (c / d\n \t \n))\n\n(e / f)\n"
    found = examples(text)
    assert [example.id for example in found] == ["x", "stream:2"]
    assert found[0].views["sentence"].metadata == (("id", "x"), ("snt", "y"))
    assert found[0].views["sentence"].amr.edges == (("a", "ARG0", "c"),)


def test_a_node_may_begin_a_line_after_its_role():
    assert sentence("(a / b\n:ARG0\n(c / d)\n:ARG1~e.1 \n(e / f))\n").amr.edges == (
        ("a", "ARG0", "c"),
        ("a", "ARG1", "e"),
    )


def test_brackets_in_strings_do_not_end_a_graph():
    text = '(a / b :op ")"\n  :op2 "x\\")" :op3 ":(")\n(c / d)\n'
    assert outline(text) == ["a", "c"]


def test_indented_graphs_are_read():
    assert outline("  (a / b)\n  (c / d)\n") == ["a", "c"]


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ("(b / two\n   :ARG0 (x / y\n", 3),
        ("(b / two\n   :ARG0 (x / y))\n   :ARG1 (z / w))\n", 4),
        ("(b / two))\n", 2),
        ("(b / two) x\n", 2),
        ("(b / two) (x / y)\n", 2),
        ("(b / two :ARG0)\n", 2),
        ('(b / two :op "x)\n', 2),
        ("(b / two :ARG0 (b / other))\n", 2),
        ("()\n", 2),
        ("(b / / two)\n", 2),
        ("(b / two~x)\n", 2),
    ],
)
@pytest.mark.parametrize("gap", ["", "\n"])
def test_a_broken_graph_costs_only_itself(broken, line, gap):
    text = f"(a / one)\n{gap}{broken}{gap}# ::id c\n(c / three)\n"
    assert outline(text) == ["a", line + len(gap), "c"]


def test_a_graph_that_never_ends_stops_at_the_next_one():
    assert outline("(a / b\n   :ARG0 (c / d)\n\n(e / f)\n") == [1, "e"]


def test_a_graph_cut_at_the_end_is_an_error_at_its_bracket():
    [found] = items("# ::id x\n(a / b\n   :ARG0 (c / d")
    assert (found.line, found.column, found.problem) == (3, 10, "bracket is never closed")


def test_a_string_ends_on_its_line():
    assert outline('(a / b :op "x\n   y")\n\n(c / d)\n') == [1, "c"]


def test_text_between_graphs_is_an_error():
    assert outline("(a / b)\n\nwhat is this\nand this\n\n(c / d)\n") == ["a", 3, "c"]


def test_comments_that_come_again_without_graph_are_an_error():
    assert outline("# ::id a\n# ::snt x\n\n# ::id b\n(b / c)\n") == [1, "b"]


def test_an_id_that_was_used_before_is_an_error():
    good, bad = items("# ::id x\n(a / b)\n\n# ::id x\n(c / d)\n")
    assert good.id == "x"
    assert (bad.line, bad.problem) == (4, "the id 'x' was used before, on line 1")


def test_an_empty_id_is_none():
    assert examples("# ::id\n(a / b)\n")[0].id == "stream:1"


def test_a_line_in_another_encoding_costs_its_graph():
    data = b'# ::id x\n# ::snt caf\xe9\n(a / b)\n\n(c / d :op "\xff")\n\n(e / f)\n'
    assert outline(data) == [2, 5, "e"]


def test_a_message_says_what_where_and_how():
    [found] = items("# ::id x\n(a / b\n   :ARG0 :ARG1 c)\n")
    assert str(found) == (
        "<stream>:3:10: the role before this has no target\n"
        "       :ARG0 :ARG1 c)\n"
        "             ^\n"
        "    add or remove it"
    )


def test_problems_in_the_notation_are_located():
    [found] = items("# ::id x\n\n(a / b\n   / c)\n")
    assert (found.line, found.column, found.snippet) == (4, 4, "   / c)")


def test_an_unlocated_problem_has_the_line_of_the_graph():
    [found] = items("# ::id x\n(a / b\n :ARG0 (a / c))\n")
    assert (found.line, "two concepts" in found.problem) == (2, True)


@pytest.mark.parametrize("depth", [401, DEPTH])
def test_deep_nesting_is_refused_and_the_next_graph_read(depth):
    deep = "".join(f"(x{i} / c :ARG0 " for i in range(depth)) + "(y / d" + ")" * (depth + 1)
    bad, good = items(f"{deep}\n\n(a / b)\n")
    assert "nested too deeply" in bad.problem
    assert good.views["sentence"].amr.root == "a"


@pytest.mark.parametrize(
    "line",
    ["(" * 100_000, ")" * 100_000, '"' * 99_999, ":a~" * 50_000, "(a)" * 50_000, "~" * 100_000],
)
def test_long_lines_take_no_time(line):
    assert len(items(f"(a / b :c\n{line}\n(c / d)\n")) <= 3


@pytest.mark.parametrize("filler", ["::a ", " ", ":", ":: ", "::"])
def test_long_comments_take_no_time(filler):
    [found] = items("# " + filler * 50_000 + "\n(a / b)\n")
    assert isinstance(found, Example)


# ---------------------------------------------------------------- recognizing


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (BASIC, True),
        ("(w / want-01)", True),
        ("\n\n  ( w\n/ want-01)", True),
        ("# note\n(w / want-01)", True),
        ("#::id x\n", True),
        ("( (S (NP we)))", False),
        ("# sent_id = 1\n0\twe", False),
        ("# note only", False),
        ("", False),
    ],
)
def test_recognizing(head, expected):
    assert looks_like_penman(head) is expected


# ---------------------------------------------------------------- writing


def test_what_was_read_is_written_and_reads_back():
    found = examples(BASIC)
    again = examples("".join(penman_text(found)))
    assert [(e.id, e.views) for e in again] == [(e.id, e.views) for e in found]


def test_the_text_of_a_graph():
    expected = "# ::id s2\n# ::snt Not it.\n(i / it\n    :polarity -)\n\n"
    assert "".join(penman_text(examples(BASIC)[1:])) == expected


def test_a_plain_graph_is_written_with_its_id():
    graph = Graph({"d": "dog", "b": "bark-01"}, [("b", "ARG0", "d")], root="d")
    text = "".join(penman_text([Example("x", views={"meaning": graph})], view="meaning"))
    assert text == "# ::id x\n(d / dog\n    :ARG0-of (b / bark-01))\n\n"


def test_a_file_is_written(tmp_path):
    write_penman(examples(BASIC), tmp_path / "out.amr")
    assert outline((tmp_path / "out.amr").read_bytes()) == ["b", "i"]


AMR = Graph({"g": "go-02"}, root="g")


def test_text_and_tokens_become_comments():
    view = Sentence("We go.", [Token("We", 0, 2), Token("go", 3, 5), Token(".", 5, 6)], amr=AMR)
    text = written(view)
    assert text.startswith("# ::id x\n# ::tok We go .\n# ::snt We go.\n(g")
    again = sentence(text)
    assert (again.text, again.tokens) == (view.text, view.tokens)


def test_the_id_of_the_example_counts():
    view = Sentence("", amr=AMR, metadata=[("date", "now"), ("id", "old")])
    assert written(view, "new").startswith("# ::date now\n# ::id new\n")


def test_parts_without_a_place_are_left_out():
    view = Sentence.from_words(["We"], tags=["PRP"], dependencies=[Dependency(-1, "root", 0)])
    again = sentence(written(view.with_parts(amr=AMR)))
    assert (again.dependencies, again.tokens) == ((), (Token("We", 0, 2),))


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (Sentence("no graph"), "cannot be written: the sentence in view 'sentence' has no graph"),
        (Sentence("two\nlines", amr=AMR), "would not read back"),
        (Sentence(" blank first", amr=AMR), "would not read back|can hold"),
        (Sentence("a b", [Token("a b", 0, 3)], amr=AMR), "can hold"),
        (Sentence("a b", [Token("a", 0, 1)], amr=AMR), "can hold"),
        (Sentence("x", amr=AMR, metadata=[("snt", "y")]), "can hold"),
        (Sentence("", amr=AMR, metadata=[("a key", "y")]), "would not read back"),
        (Sentence("", amr=AMR, metadata=[("key", "see ::id")]), "would not read back"),
        (Sentence("", amr=AMR, metadata=[("::key x", None)]), "would not read back"),
        (Sentence("", amr=Graph({"a": "b"})), "without root"),
        (Graph(["b"], root=0), "the id 0 cannot be written"),
    ],
)
def test_what_cannot_be_written_is_refused_by_name(view, message):
    with pytest.raises(StructureError, match=message) as caught:
        written(view, "example-7")
    assert "example 'example-7'" in str(caught.value)
    assert caught.value.hint


# ---------------------------------------------------------------- any sentence

words = st.sampled_from(["Raf", "binds", "cafe\u0301", "𝛽", "::", "(", '"', "#", "a~b"])
values = st.sampled_from(["", "x", "a b", "::", "a::b", "é", "#"])


@st.composite
def sentences(draw):
    """Sentences with all their comments, as a file would have them."""
    forms = draw(st.lists(words, min_size=1, max_size=5))
    gaps = [draw(st.sampled_from([" ", ""])) for _ in forms[1:]]
    text = forms[0] + "".join(gap + form for gap, form in zip(gaps, forms[1:], strict=True))
    tokens, position = [], 0
    for form, gap in zip(forms, [*gaps, ""], strict=True):
        tokens.append(Token(form, position, position + len(form)))
        position += len(form) + len(gap)
    extra = draw(st.lists(st.tuples(st.sampled_from(["date", "note"]), values), max_size=2))
    pairs = [("id", "x"), ("snt", text), ("tok", " ".join(forms)), *extra]
    names = [f"n{i}" for i in range(draw(st.integers(1, 5)))]
    labels = st.sampled_from(["dog", "two words", "", "-", "n1"])
    edges = [
        draw(st.sampled_from([(old, "ARG0", new), (new, "mod", old)]))
        for position, new in enumerate(names[1:])
        for old in [draw(st.sampled_from(names[: position + 1]))]
    ]
    graph = Graph({name: draw(labels) for name in names}, edges, "n0")
    index = st.integers(0, len(forms) - 1)
    aligned = draw(
        st.dictionaries(st.sampled_from(names), st.sets(index, min_size=1).map(sorted).map(tuple))
    )
    listed = sorted(aligned.items(), key=lambda pair: (pair[1], pair[0]))
    return Sentence(
        text, tokens, amr=graph, alignments=listed, metadata=draw(st.permutations(pairs))
    )


@given(view=sentences())
def test_any_sentence_reads_back(view):
    assert sentence(written(view)) == view


@given(
    pieces=st.lists(
        st.sampled_from(
            ["(a / b", "(", ")", "))", " :ARG0 ", ":op1", '"', '"x"', "\n", "\n\n", "# ::id x",
             "# note", "#", "~e.1", "/", " c ", "\\"]
        ),
        max_size=25,
    )
)  # fmt: skip
def test_random_pieces_give_only_our_own_errors(pieces):
    stream = iter_read(io.BytesIO("".join(pieces).encode()), format="penman", errors="skip")
    assert len(list(stream)) + stream.tally.skipped <= len(pieces)
