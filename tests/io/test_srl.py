"""Columns of semantic roles, read and written."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH

from kernelwood.errors import ReadError, StructureError
from kernelwood.io import Source, iter_read, write_srl
from kernelwood.io.formats.srl import VERB_ROLES, looks_like_srl, read_srl, srl_text
from kernelwood.io.source import Remark
from kernelwood.structures import Tree
from kernelwood.text import Dependency, Entity, Example, Predicate, RoleSpan, Sentence

BASIC = """\
# sent_id = s1
# doc = letters/1
0\tShe\tPRP\t(TOP(S(NP*)\t-\t-\t(ARG0*)\t*
1\treads\tVBZ\t(VP*\tread\tread.01\t(V*)\t*
2\tnovels\tNNS\t(NP(NP*)\t-\t-\t(ARG1*\t(R-ARG1*)
3\twritten\tVBN\t(VP*\twrite\twrite.01\t*\t(V*)
4\thereabouts\tRB\t(ADVP*))))\t-\t-\t*)\t(ARGM-LOC*)
5\t.\t.\t*))\t-\t-\t*\t*

"""

# Padded with blanks, as the shared task has it.
TASK = """\
#begin document (letters/1); part 003
letters/1   3   0   Ann    NNP   (TOP(S(NP*)   -     -    -   kim   (PERSON)   (ARG0*)   (4)
letters/1   3   1   saw    VBD   (VP*          see   01   1   kim   *          (V*)      -
letters/1   3   2   New    NNP   (NP*          -     -    -   kim   (GPE*      (ARG1*    (5
letters/1   3   3   York   NNP   *))))         -     -    -   kim   *)         *)        5)

#end document
"""


def items(text: str | bytes) -> list:
    data = text.encode() if isinstance(text, str) else text
    return list(read_srl(Source(io.BytesIO(data))))


def sentence(text: str) -> Sentence:
    [example] = [item for item in items(text) if not isinstance(item, Remark)]
    assert isinstance(example, Example), example
    return example.views["sentence"]


def problem(text: str | bytes) -> ReadError:
    [found] = items(text)
    assert isinstance(found, ReadError)
    return found


def rows(*roles: str, senses: tuple[str, ...] = (), parse: str = "*") -> str:
    """Return a sentence of one column of roles, cell by cell."""
    senses = senses or ("go.01", *("-" for _ in roles[1:]))
    lines = [
        f"{index}\tw{index}\tX\t{parse}\t-\t{sense}\t{role}"
        for index, (role, sense) in enumerate(zip(roles, senses, strict=True))
    ]
    return "\n".join(lines) + "\n"


def written(view: Sentence, name: str = "a") -> str:
    return "".join(srl_text([Example(name, views={"sentence": view})]))


# ---------------------------------------------------------------- reading the short layout


def test_words_are_joined_by_blanks():
    assert sentence(BASIC).text == "She reads novels written hereabouts ."


def test_tags_and_lemmas_are_those_of_the_tokens():
    tokens = sentence(BASIC).tokens
    assert [token.tag for token in tokens] == ["PRP", "VBZ", "NNS", "VBN", "RB", "."]
    assert [token.lemma for token in tokens] == ["", "read", "", "write", "", ""]


def test_the_tree_is_built_without_its_outermost_bracket():
    expected = (
        "(S (NP (PRP She)) (VP (VBZ reads) (NP (NP (NNS novels)) (VP (VBN written) "
        "(ADVP (RB hereabouts))))) (. .))"
    )
    assert sentence(BASIC).tree == Tree.from_brackets(expected)


@pytest.mark.parametrize("top", ["TOP", "ROOT"])
def test_an_outermost_bracket_of_several_constituents_stays(top):
    text = f"0\ta\tX\t({top}(A*)\t-\t-\n1\tb\tY\t(B*))\t-\t-\n"
    assert sentence(text).tree.label == top


def test_another_outermost_bracket_stays():
    assert sentence("0\ta\tX\t(FRAG(A*))\t-\t-\n").tree.label == "FRAG"


@pytest.mark.parametrize("bit", ["*", "-"])
def test_without_brackets_there_is_no_tree(bit):
    assert sentence(f"0\ta\tX\t{bit}\t-\t-\n1\tb\tX\t{bit}\t-\t-\n").tree is None


def test_predicates_have_lemma_sense_and_roles_in_order():
    first, second = sentence(BASIC).predicates
    assert first == Predicate(
        1, "read", "read.01", (RoleSpan("ARG0", 0, 1), RoleSpan("ARG1", 2, 5))
    )
    assert [span.role for span in second.arguments] == ["R-ARG1", "ARGM-LOC"]


def test_nested_roles_open_from_the_outside():
    text = rows("(V*)", "(ARG1(ARGM-LOC*", "*", "*))")
    [predicate] = sentence(text).predicates
    assert predicate.arguments == (RoleSpan("ARG1", 1, 4), RoleSpan("ARGM-LOC", 1, 4))


def test_a_nested_role_may_end_before_the_outer_one():
    [predicate] = sentence(rows("(V*)", "(ARG1(R-ARG0*)", "*)")).predicates
    assert predicate.arguments == (RoleSpan("ARG1", 1, 3), RoleSpan("R-ARG0", 1, 2))


def test_the_verb_on_its_own_word_is_left_out():
    assert sentence(rows("(V*)", "*")).predicates[0].arguments == ()


@pytest.mark.parametrize(
    ("cells", "kept"),
    [
        (("(V*", "*)"), [RoleSpan("V", 0, 2)]),
        (("*", "(V*)"), [RoleSpan("V", 1, 2)]),
        (("(V*)", "(V*)"), [RoleSpan("V", 0, 1), RoleSpan("V", 1, 2)]),
        (("(V*)", "(C-V*)"), [RoleSpan("C-V", 1, 2)]),
        (("(C-V*)", "(V*)"), [RoleSpan("C-V", 0, 1), RoleSpan("V", 1, 2)]),
    ],
)
def test_a_verb_that_differs_is_kept_and_survives_writing(cells, kept):
    found = sentence(rows(*cells))
    assert list(found.predicates[0].arguments) == kept
    assert sentence(written(found)).predicates == found.predicates


def test_verb_roles_name_what_is_no_argument_proper():
    arguments = sentence(rows("(C-V*)", "(V*)", "(ARG1*)")).predicates[0].arguments
    assert [span.role for span in arguments if span.role not in VERB_ROLES] == ["ARG1"]


def test_a_predicate_without_verb_is_remarked():
    assert items(rows("*", "(ARG1*)"))[0] == Remark("a predicate without V among its roles")


def test_without_rolesets_the_verbs_tell_the_predicates():
    text = "0\ta\tX\t*\tgo\t-\t(V*)\t(ARG0*)\n1\tb\tX\t*\tsee\tsee.01\t(ARG1*)\t(V*)\n"
    assert [(p.token, p.lemma, p.sense) for p in sentence(text).predicates] == [
        (0, "go", ""),
        (1, "see", "see.01"),
    ]


def test_comments_are_metadata_and_the_id_is_not_repeated():
    [example] = items("# a remark\n# sent_id = x\n# k = v = w\n0\ta\tX\t*\t-\t-\n")
    assert example.id == "x"
    assert example.views["sentence"].metadata == (("a remark", None), ("k", "v = w"))


def test_sentences_without_an_id_are_numbered_with_broken_ones_counted():
    good = "0\ta\tX\t*\t-\t-\n\n"
    found = items(good + "0\ta\n\n" + good)
    assert [getattr(item, "id", None) for item in found] == ["stream:1", None, "stream:3"]


def test_the_origin_is_the_first_line_of_the_block():
    assert [item.origin.line for item in items("\n" + BASIC + BASIC.replace("s1", "s2"))] == [2, 11]


def test_words_may_hold_blanks_between_tabs():
    found = sentence("0\tvice\u00a0versa\tRB\t*\t-\t-\n1\tNew York\tNNP\t*\t-\t-\n")
    assert found.words == ("vice\u00a0versa", "New York")


def test_characters_are_kept_and_counted_one_by_one():
    found = sentence("0\tcafe\u0301\tNN\t*\t-\t-\n1\t𝛽\tNN\t*\t-\t-\n2\tx\tNN\t*\t-\t-\n")
    assert [(token.text, token.start) for token in found.tokens] == [
        ("cafe\u0301", 0),
        ("𝛽", 6),
        ("x", 8),
    ]


def test_other_views_are_not_made():
    [example] = read_srl(Source(io.StringIO(BASIC)), ("tree",))
    assert dict(example.views) == {}


def test_comments_alone_belong_to_no_sentence():
    assert items("# a header\n\n# doc = x\n\n") == []


def test_an_id_without_words_is_an_error():
    found = problem("# sent_id = x\n# doc = y\n\n")
    assert (found.line, found.problem) == (1, "a sentence without words")


def test_an_id_that_was_used_before_is_an_error():
    good, bad = items(BASIC + BASIC)
    assert good.id == "s1"
    assert (bad.line, bad.problem) == (10, "the id 's1' was used before, on line 1")


def test_two_ids_in_a_block_are_an_error():
    assert problem("# sent_id = a\n# sent_id = b\n0\ta\tX\t*\t-\t-\n").line == 1


def test_a_line_in_another_encoding_costs_its_sentence():
    data = b"0\tcaf\xe9\tNN\t*\t-\t-\n1\tb\tNN\t*\t-\t-\n\n0\tok\tJJ\t*\t-\t-\n"
    bad, good = items(data)
    assert (bad.line, bad.column, good.id) == (1, 6, "stream:2")


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("0\ta\tX\t*\t-\n", 1, 1, "not a row of semantic roles"),
        ("0\ta\tX\tS\t-\t-\n", 1, 1, "not a row of semantic roles"),
        ("0\ta\tX\t*\t-\t-\n1\tb\tX\t*\t-\n", 2, 10, "5 columns, but the sentence began with 6"),
        ("0\ta\tX\t*\t-\t-\n2\tb\tX\t*\t-\t-\n", 2, 1, "the index is '2', expected 1"),
        ("0\ta\tX\t*\t-\t-\n0\tb\tX\t*\t-\t-\n", 2, 1, "the index is '0', expected 1"),
        ("0\t\tX\t*\t-\t-\n", 1, 3, "a column is empty"),
        ("0\ta\tX\t(S*\t-\t-\n", 1, 7, "the constituent 'S' is never closed"),
        ("0\ta\tX\t(S*))\t-\t-\n", 1, 7, "a bracket is closed that was never opened"),
        ("0\ta\tX\t(S*)\t-\t-\n1\tb\tX\t*\t-\t-\n", 2, 7, "the word 'b' stands outside the tree"),
        ("0\ta\tX\t(S*)\t-\t-\n1\tb\tX\t(S*)\t-\t-\n", 2, 7, "stands outside the tree"),
        ("0\ta\tX\t*\t-\t-\n1\tb\tX\t(S*)\t-\t-\n", 1, 7, "the word 'a' stands outside the tree"),
        ("0\ta\tX\t(S*\t-\t-\n1\tb\tX\t)\t-\t-\n", 2, 7, "')' is not brackets around a star"),
        ("0\ta\tX\t*\t-\tgo.01\n", 1, 16, "columns of roles: 0, rolesets: 1"),
        ("0\ta\tX\t*\t-\t-\t*\n", 1, 13, "columns of roles: 1, rolesets: 0"),
        ("0\ta\tX\t*\t-\tgo.01\t(V*\n", 1, 17, "the role 'V' is never closed"),
        ("0\ta\tX\t*\t-\tgo.01\t*)\n", 1, 17, "a bracket is closed that was never opened"),
        ("0\ta\tX\t*\t-\tgo.01\tARG0\n", 1, 17, "'ARG0' is not brackets around a star"),
    ],
)
def test_problems_are_located(text, line, column, message):
    found = problem(text)
    assert message in found.problem
    assert (found.line, found.column) == (line, column)
    assert found.hint and found.snippet


def test_columns_of_rows_with_blanks_are_located():
    assert problem("0  a   X  (S*  -  -\n").column == 11


def test_a_message_says_how_to_go_on():
    assert str(problem("0\ta\tX\t(S*))\t-\t-\n")) == (
        "<stream>:1:7: a bracket is closed that was never opened\n"
        "    0 a X (S*)) - -\n"
        "          ^\n"
        "    remove it, or open it before"
    )


def test_blanks_for_tabs_are_hinted_at():
    assert "tabs" in problem("0 a X S - -\n").hint


# ---------------------------------------------------------------- the layout of CoNLL-2012


def test_the_columns_of_the_shared_task_are_recognized():
    found = sentence(TASK)
    assert found.words == ("Ann", "saw", "New", "York")
    assert found.tree == Tree.from_brackets(
        "(S (NP (NNP Ann)) (VP (VBD saw) (NP (NNP New) (NNP York))))"
    )
    assert found.predicates == (
        Predicate(1, "see", "01", (RoleSpan("ARG0", 0, 1), RoleSpan("ARG1", 2, 4))),
    )


def test_named_entities_are_read():
    assert sentence(TASK).entities == (
        Entity("T1", "PERSON", ((0, 3),), "Ann"),
        Entity("T2", "GPE", ((8, 16),), "New York"),
    )


def test_document_part_and_speaker_are_metadata():
    expected = (("document", "letters/1"), ("part", "3"), ("speaker", "kim"))
    assert sentence(TASK).metadata == expected


def test_what_the_sentence_cannot_hold_is_remarked():
    remarks = [item.reason for item in items(TASK) if isinstance(item, Remark)]
    assert remarks == ["coreference is not read", "word senses are not read"]


def test_tabs_separate_the_columns_of_the_shared_task_as_well():
    assert sentence(re.sub(r"   +", "\t", TASK)) == sentence(TASK)


def test_both_layouts_may_stand_in_one_file():
    found = [item.id for item in items(TASK + "\n" + BASIC) if isinstance(item, Example)]
    assert found == ["stream:1", "s1"]


def test_a_number_for_a_document_is_no_short_row():
    text = "0 0 0 * NN (TOP*) - - - - * -\n"
    assert sentence(text).words == ("*",)


def test_a_short_row_of_many_columns_is_no_row_of_the_shared_task():
    lines = [
        [str(i), str(i), "CD", "*", "-", "x.01", *("(V*)" if i == j else "*" for j in range(6))]
        for i in range(6)
    ]
    assert sentence("".join("\t".join(line) + "\n" for line in lines)).words == tuple("012345")


# ---------------------------------------------------------------- recognizing


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (BASIC, True),
        (TASK, True),
        ("#end document\n", True),
        ("\n# x\n0\ta\tX\t*\t-\t-", True),
        ("1\tWe\twe\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n", False),
        ("# sent_id = 1\n", False),
        ("", False),
    ],
)
def test_recognizing(head, expected):
    assert looks_like_srl(head) is expected


# ---------------------------------------------------------------- writing


def test_the_text_is_written_as_it_was():
    assert "".join(srl_text(items(BASIC))) == BASIC


def test_the_shared_task_is_written_in_the_short_layout():
    found = sentence(TASK)
    assert sentence(written(found)) == found.with_parts(entities=())


def test_a_number_becomes_the_id():
    [example] = items("0\ta\tX\t*\t-\t-\n")
    assert "".join(srl_text([example])).startswith("# sent_id = stream:1\n")


def test_a_file_is_written(tmp_path):
    write_srl(items(BASIC), tmp_path / "out.srl")
    assert (tmp_path / "out.srl").read_text() == BASIC


def test_parts_without_a_column_are_left_out():
    view = Sentence.from_words(["we", "go"], dependencies=[Dependency(1, "nsubj", 0)])
    assert sentence(written(view)) == view.with_parts(dependencies=())


def test_roles_and_predicates_are_written_in_the_order_of_the_words():
    roles = (RoleSpan("B", 1, 2), RoleSpan("A", 0, 1))
    view = Sentence.from_words(
        ["a", "b", "c"], predicates=[Predicate(2, "", "x.01", roles), Predicate(0, "", "y.01")]
    )
    first, second = sentence(written(view)).predicates
    assert (first.token, second.token, second.arguments) == (0, 2, roles[::-1])


def words_with(**parts) -> Sentence:
    return Sentence.from_words(["a", "b", "c", "d"], **parts)


def predicate(*arguments, sense="go.01", lemma="", token=0):
    return words_with(predicates=[Predicate(token, lemma, sense, arguments)])


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (Sentence("text only"), "it has no words"),
        (Sentence.from_words(["a\tb"]), r"the word 'a\\tb' does not fit in a column"),
        (Sentence.from_words([""]), "the word '' does not fit in a column"),
        (Sentence.from_words(["a"], tags=["-"]), 'the tag is "-", which stands for none'),
        (Sentence.from_words(["a"], lemmas=["b\n"]), "the lemma .* does not fit in a column"),
        (predicate(sense=""), "the predicate 'a' has no sense"),
        (predicate(sense="-"), "the predicate 'a' has no sense"),
        (predicate(RoleSpan("x(", 0, 1)), r"the role 'x\(' does not fit in a bracket"),
        (predicate(RoleSpan("", 0, 1)), "the role '' does not fit in a bracket"),
        (predicate(RoleSpan("A", 0, 2), RoleSpan("B", 1, 3)), "'B' .* overlaps another"),
        (
            words_with(predicates=[Predicate(0, "", "x.01"), Predicate(0, "", "y.01")]),
            "two predicates share a word",
        ),
        (
            Sentence.from_words(["a"], lemmas=["b"], predicates=[Predicate(0, "c", "x.01")]),
            "the lemma is 'b' as a word and 'c' as a predicate",
        ),
        (words_with(tree=Tree.from_brackets("(S a b c d)")), "the node 'a' of the tree"),
        (
            Sentence.from_words(["a"], tags=["X"], tree=Tree.from_brackets("(Y a)")),
            "the tree has 'a' below 'Y' where the word is 'a' and its tag 'X'",
        ),
        (
            Sentence.from_words(
                ["a", "b"], tags=["X", "X"], tree=Tree.from_brackets('(S ("e":N (X a)) (X b))')
            ),
            "the node 'N' of the tree",
        ),
        (
            Sentence.from_words(["a"], tags=["X"], tree=Tree("(", [Tree("X", [Tree("a")])])),
            r"the constituent '\(' does not fit in a bracket",
        ),
        (words_with(metadata=[("a\nb", None)]), "the comment .* would not read back"),
        (words_with(metadata=[("a=b", "c")]), "the comment .* would not read back"),
        (words_with(metadata=[("sent_id", "c")]), "the comment .* would not read back"),
        (words_with(metadata=[("begin document", None)]), "the comment .* would not read back"),
    ],
)
def test_what_the_columns_cannot_hold_is_refused_by_name(view, message):
    with pytest.raises(StructureError, match=message) as caught:
        written(view, "example-7")
    assert "example 'example-7'" in str(caught.value)
    assert caught.value.hint


def test_an_example_without_sentence_is_refused():
    with pytest.raises(
        StructureError, match="example 'a' cannot be written: it has no sentence in view 'sentence'"
    ):
        list(srl_text([Example("a", views={"text": "x"})]))


# ---------------------------------------------------------------- sizes


def test_brackets_of_any_depth_are_read_and_written():
    text = f"# sent_id = a\n0\tx\tNN\t(TOP{'(A' * DEPTH}*{')' * (DEPTH + 1)}\t-\t-\n\n"
    found = sentence(text)
    assert found.tree.n_nodes == DEPTH + 2
    assert written(found) == text


def test_roles_nested_to_any_depth_are_read_and_written():
    text = f"# sent_id = a\n0\tx\tNN\t*\t-\tgo.01\t{'(A' * DEPTH}(V*){')' * DEPTH}\n\n"
    found = sentence(text)
    assert len(found.predicates[0].arguments) == DEPTH
    assert written(found) == text


def test_many_words_are_read():
    text = "".join(f"{index}\tx\tNN\t*\t-\t-\n" for index in range(DEPTH))
    assert len(sentence(text).tokens) == DEPTH


@pytest.mark.parametrize("filler", [" ", "=", "\t", "# "])
def test_long_comments_take_no_time(filler):
    text = "#" + filler * 100_000 + "x\n0\ta\tX\t*\t-\t-\n"
    assert len(sentence(text).metadata) == 1


# ---------------------------------------------------------------- any sentence

forms = st.sampled_from(
    ["we", "(", ")", "*", "-", "#", "cafe\u0301", "𝛽", "New York", "a\u2028b", '"']
)
labels = st.sampled_from(["S", "NP", "TOP", "ROOT", "NP-SBJ=2", "é", "#"])
tags = st.sampled_from(["", "NN", "-LRB-", "TOP", "#"])


@st.composite
def trees(draw, leaves):
    """Random constituents above given preterminals."""
    nodes = list(leaves)
    while len(nodes) > 1 or draw(st.booleans()):
        first = draw(st.integers(0, len(nodes) - 1))
        width = draw(st.integers(1, len(nodes) - first))
        nodes[first : first + width] = [Tree(draw(labels), nodes[first : first + width])]
    return nodes[0]


@st.composite
def role_spans(draw, n_tokens):
    """Spans of which one holds the other if they share words, in their order."""
    found: list[RoleSpan] = []
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, n_tokens - 1))
        end = draw(st.integers(start + 1, n_tokens))
        if all(
            end <= span.start
            or span.end <= start
            or (span.start <= start and end <= span.end)
            or (start <= span.start and span.end <= end)
            for span in found
        ):
            found.append(RoleSpan(draw(st.sampled_from(["ARG0", "R-ARG1", "C-V"])), start, end))
    return tuple(sorted(found, key=lambda span: (span.start, -span.end)))


@st.composite
def sentences(draw):
    words = draw(st.lists(forms, min_size=1, max_size=6))
    marks = [draw(tags) for _ in words]
    lemmas = [draw(st.sampled_from(["", "be", "é"])) for _ in words]
    heads = sorted(draw(st.sets(st.integers(0, len(words) - 1), max_size=3)))
    leaves = [Tree(tag, [Tree(word)]) for word, tag in zip(words, marks, strict=True)]
    return Sentence.from_words(
        words,
        tags=marks,
        lemmas=lemmas,
        tree=draw(st.none() | trees(leaves)),
        predicates=[
            Predicate(head, lemmas[head], "x.01", draw(role_spans(len(words)))) for head in heads
        ],
        metadata=draw(
            st.lists(
                st.sampled_from(
                    [
                        ("k", "v"),
                        ("k", "a = b"),
                        ("text", None),
                        ("e", ""),
                        ("f", " g\t"),
                        ("", "h"),
                    ]
                )
            )
        ),
    )


@given(view=sentences())
def test_what_is_written_reads_back(view):
    assert sentence(written(view)) == view


@given(
    cells=st.lists(
        st.lists(
            st.sampled_from(["0", "1", "*", "-", "(A*", "*)", "(V*)", "x", "", "#"]), max_size=9
        ),
        max_size=4,
    )
)
def test_random_cells_give_only_our_own_errors(cells):
    text = "".join("\t".join(row) + "\n" for row in cells)
    stream = iter_read(io.BytesIO(text.encode()), format="srl", errors="skip")
    assert len(list(stream)) + stream.tally.skipped <= max(1, len(cells))
