from __future__ import annotations

import io
import time

import pytest
from hypothesis import given, settings, strategies as st
from processes import run_python

from kernelwood.errors import ReadError, StructureError
from kernelwood.io import Source, iter_read, read, write_conllu
from kernelwood.io.formats.conllu import conllu_text, find_cycle, looks_like_conllu, read_conllu
from kernelwood.io.source import Remark
from kernelwood.structures import Tree
from kernelwood.text import ROOT, Dependency, EmptyNode, Entity, Example, Multiword, Sentence, Token

MANY = 100_000


def row(name, form, head="0", **columns):
    written = {
        "lemma": "_",
        "upos": "_",
        "xpos": "_",
        "feats": "_",
        "head": head,
        "deprel": "_" if head == "_" else "dep",
        "deps": "_",
        "misc": "_",
    }
    assert columns.keys() <= written.keys()
    return "\t".join([str(name), form, *(written | columns).values()]) + "\n"


def part(name, form, **columns):
    """Return the line of a range or of an empty node."""
    return row(name, form, "_", **columns)


def parse(*lines, errors="raise"):
    return read(io.BytesIO("".join(lines).encode()), format="conllu", errors=errors)


def sentence_of(*lines):
    [example] = parse(*lines)
    return example.views["sentence"]


def items_of(*lines):
    return list(read_conllu(Source(io.BytesIO("".join(lines).encode()))))


def problem_of(*lines):
    with pytest.raises(ReadError) as caught:
        parse(*lines)
    return caught.value


def written(*sentences):
    examples = [Example(f"s{i}", views={"sentence": s}) for i, s in enumerate(sentences)]
    return "".join(conllu_text(examples))


def refusal_of(*sentences):
    with pytest.raises(StructureError) as caught:
        written(*sentences)
    return str(caught.value)


# Words and columns


def test_a_word_keeps_all_columns():
    line = "1\tsaw\tsee\tVERB\tVBD\tTense=Past|Mood=Ind\t0\troot\t_\tGloss=x|Gloss=y\n"
    assert sentence_of(line).tokens == (
        Token("saw", 0, 3, "see", "VERB", "VBD", "Tense=Past|Mood=Ind", "Gloss=x|Gloss=y"),
    )


def test_what_is_not_known_is_empty():
    assert sentence_of(part(1, "saw")).tokens == (Token("saw", 0, 3),)


def test_an_underscore_is_a_word_and_its_own_lemma():
    assert sentence_of(part(1, "_")).tokens[0][:4] == ("_", 0, 1, "_")


def test_an_underscore_may_have_another_lemma():
    assert sentence_of(part(1, "_", lemma="line")).tokens[0].lemma == "line"


def test_words_may_have_blanks_inside():
    text = "# text = So vice  versa\n"
    sentence = sentence_of(text, row(1, "So"), row(2, "vice  versa"))
    assert sentence.tokens[1][:3] == ("vice  versa", 3, 14)


def test_blanks_at_the_end_of_a_line_belong_to_its_last_column():
    assert sentence_of(row(1, "a", misc="X=\u00a0")).tokens[0].misc == "X=\u00a0"


def test_composed_and_decomposed_letters_stay_as_they_are():
    sentence = sentence_of("# text = é e\u0301\n", row(1, "é"), row(2, "e\u0301"))
    assert [token[:3] for token in sentence.tokens] == [("é", 0, 1), ("e\u0301", 2, 4)]


def test_a_composed_letter_is_not_found_in_a_decomposed_text():
    assert "does not continue the text" in problem_of("# text = e\u0301\n", row(1, "é")).problem


def test_offsets_count_characters_beyond_the_basic_plane_once():
    sentence = sentence_of("# text = 𝛼🦉 β\n", row(1, "𝛼🦉"), row(2, "β"))
    assert [token[1:3] for token in sentence.tokens] == [(0, 2), (3, 4)]


@pytest.mark.parametrize("separator", ["\u2028", "\u0085", "\x0b", "\x1c"])
def test_other_line_breaks_of_unicode_are_characters(separator):
    assert sentence_of(row(1, f"a{separator}b")).tokens[0].text == f"a{separator}b"


# Text


def test_the_text_is_taken_as_it_is_written():
    sentence = sentence_of("# text =  We  go! \n", row(1, "We"), row(2, "go"), row(3, "!"))
    assert sentence.text == " We  go! "
    assert [token[1:3] for token in sentence.tokens] == [(1, 3), (5, 7), (7, 8)]


def test_without_text_words_are_joined_by_blanks():
    words = [row(1, "Go", misc="A=b|SpaceAfter=No"), row(2, "on"), row(3, "!")]
    assert sentence_of(*words).text == "Goon !"


def test_a_longer_name_does_not_glue_words():
    assert sentence_of(row(1, "Go", misc="SpaceAfter=Not"), row(2, "on")).text == "Go on"


def test_no_blank_follows_the_last_word():
    assert sentence_of(row(1, "Go")).text == "Go"


def test_a_word_that_does_not_continue_the_text_is_an_error():
    problem = problem_of("# text = We gone\n", row(1, "We"), row(2, "went"))
    assert problem.problem == "word 2 'went' does not continue the text at character 4"
    assert (problem.line, problem.column) == (3, 3)
    assert "'gone'" in problem.hint


def test_a_word_after_the_end_of_the_text_is_an_error():
    assert "there it ends" in problem_of("# text = We\n", row(1, "We"), row(2, "go")).hint


def test_text_after_the_last_word_is_an_error():
    problem = problem_of("# text = We go\n", row(1, "We"))
    assert (problem.line, problem.column) == (1, 13)
    assert "continues after the last word" in problem.problem


def test_an_empty_text_is_no_missing_text():
    assert "does not continue" in problem_of("# text = \n", row(1, "We")).problem


@pytest.mark.parametrize("form", [" ", "\u00a0", "  x", "x ", " \u3000 "])
@pytest.mark.parametrize("text", [None, "a {} b"])
def test_words_of_blanks_find_a_place(form, text):
    comment = "" if text is None else f"# text = {text.format(form)}\n"
    lines = comment, row(1, "a"), row(2, form), row(3, "b")
    sentence = sentence_of(*lines)
    assert [sentence.text[t.start : t.end] for t in sentence.tokens] == ["a", form, "b"]


# Dependencies


def test_heads_become_dependencies():
    sentence = sentence_of(row(1, "We", "2", deprel="nsubj"), row(2, "go", "0", deprel="root"))
    assert sentence.dependencies == ((1, "nsubj", 0), (ROOT, "root", 1))


def test_a_word_without_a_head_has_no_dependency():
    assert sentence_of(row(1, "We"), part(2, "go")).dependencies == ((ROOT, "dep", 0),)


def test_a_dependency_may_have_no_relation():
    assert sentence_of(row(1, "We", deprel="_")).dependencies == ((ROOT, "", 0),)


def test_several_roots_are_allowed():
    assert len(sentence_of(row(1, "We"), row(2, "go")).dependencies) == 2


@pytest.mark.parametrize("head", ["3", "-1", "1.1", "1-2", "x", "01", "+1", "٢", "9" * 5000, "1 "])
def test_a_head_must_be_a_word(head):
    problem = problem_of(row(1, "We", head), row(2, "go"))
    assert "is none of the 2 words" in problem.problem
    assert (problem.line, problem.column) == (1, 14)


def test_a_relation_without_a_head_is_an_error():
    assert "but no head" in problem_of(row(1, "We", "_", deprel="nsubj")).problem


def test_a_word_is_not_its_own_head():
    problem = problem_of(row(1, "We"), row(2, "go", "2"))
    assert problem.problem == "word 2 'go' is its own head"
    assert problem.line == 2


def test_heads_in_a_circle_are_named():
    words = row(1, "a", "0"), row(2, "b", "4"), row(3, "c", "2"), row(4, "d", "3")
    problem = problem_of(*words)
    assert problem.problem == "the heads of 3 words form a cycle: 2 'b', 4 'd', 3 'c'"
    assert problem.line == 2


def test_a_long_circle_is_not_shown_whole():
    words = [row(i, "a", str(i % 50 + 1)) for i in range(1, 51)]
    problem = problem_of(*words)
    assert "50 words" in problem.problem
    assert problem.problem.endswith("5 'a', ...")


@given(st.lists(st.integers(-1, 7), max_size=8))
def test_a_circle_is_found_where_one_is(heads):
    heads = [min(head, len(heads) - 1) for head in heads]

    def goes_round(word):
        for _ in heads:
            word = heads[word]
            if word < 0:
                return False
        return True

    cycle = find_cycle(heads)
    assert bool(cycle) == any(goes_round(word) for word in range(len(heads)))
    assert [heads[word] for word in cycle] == cycle[1:] + cycle[:1]


# Enhanced dependencies, ranges and empty nodes


def test_enhanced_dependencies_are_read_with_their_order():
    words = row(1, "We", deps="2:nsubj|0:root"), row(2, "go", deps="1:a:b")
    edges = ((1, "nsubj", 0), (ROOT, "root", 0), (0, "a:b", 1))
    assert sentence_of(*words).enhanced == edges


def test_empty_nodes_are_numbered_after_the_words():
    lines = [
        part("0.1", "_", deps="2.2:x"),
        row(1, "We", deps="0.1:y"),
        row(2, "go"),
        part("2.1", "too", lemma="to", upos="ADV", xpos="RB", feats="A=b", misc="C=d"),
        part("2.2", "_", deps="2:z|2.2:self"),
    ]
    sentence = sentence_of(*lines)
    assert sentence.empty == (
        EmptyNode(-1, ""),
        EmptyNode(1, "too", "to", "ADV", "RB", "A=b", "C=d"),
        EmptyNode(1, ""),
    )
    assert sentence.enhanced == ((4, "x", 2), (2, "y", 0), (1, "z", 4), (4, "self", 4))


def test_empty_nodes_are_not_in_the_text():
    assert sentence_of(row(1, "We"), part("1.1", "all"), row(2, "go")).text == "We go"


def test_enhanced_relations_may_begin_with_digits_and_lines():
    assert sentence_of(row(1, "We", deps="0:2-x|0:-y|0:_")).enhanced == (
        (ROOT, "2-x", 0),
        (ROOT, "-y", 0),
        (ROOT, "", 0),
    )


@pytest.mark.parametrize(
    ("deps", "column"),
    [
        ("x:a", 20),
        ("0:a|3:b", 24),
        ("0:a|", 24),
        ("0", 20),
        ("0:", 20),
        (":a", 20),
        ("1.1:a", 20),
        ("01.1:a", 20),
        ("1-2:a", 20),
        ("0:a||0:b", 24),
        ("9" * 5000 + ":a", 20),
    ],
)
def test_a_broken_enhanced_dependency_is_an_error(deps, column):
    problem = problem_of(row(1, "We", deps=deps), row(2, "go"))
    assert "enhanced" in problem.problem
    assert (problem.line, problem.column) == (1, column)


def test_words_written_as_one_share_their_characters():
    lines = [
        "# text = No dámelo.\n",
        row(1, "No"),
        part("2-3", "dámelo", misc="SpaceAfter=No"),
        row(2, "dame"),
        row(3, "lo"),
        row(4, "."),
    ]
    sentence = sentence_of(*lines)
    assert [token[1:3] for token in sentence.tokens] == [(0, 2), (3, 9), (3, 9), (9, 10)]
    assert sentence.multiwords == (Multiword(1, 3, "dámelo", "SpaceAfter=No"),)


def test_the_line_of_the_range_tells_whether_a_blank_follows():
    lines = [
        part("1-2", "dámelo", misc="SpaceAfter=No"),
        row(1, "dame", misc="SpaceAfter=No"),
        row(2, "lo"),
        part("3-4", "du"),
        row(3, "de", misc="SpaceAfter=No"),
        row(4, "le", misc="SpaceAfter=No"),
        row(5, "y"),
    ]
    assert sentence_of(*lines).text == "dámelodu y"


def test_an_empty_node_may_stand_within_a_range():
    lines = part("1-2", "ab"), row(1, "a"), part("1.1", "x"), row(2, "b")
    assert sentence_of(*lines).empty == (EmptyNode(0, "x"),)


@pytest.mark.parametrize(
    ("names", "line"),
    [
        (["2"], 1),
        (["0"], 1),
        (["1", "1"], 2),
        (["1", "3"], 2),
        (["1", "02"], 2),
        (["1", "x"], 2),
        (["1", "_"], 2),
        (["1", "٢"], 2),
        (["1", "2 "], 2),
        (["1", "9" * 5000], 2),
        (["2-3", "1", "2", "3"], 1),
        (["1-2", "1"], 1),
        (["1-99999999999", "1"], 1),
        (["2-1", "1", "2"], 1),
        (["1-2", "1-3", "1", "2", "3"], 2),
        (["1-2", "1", "2-3", "2", "3"], 3),
        (["1-2", "0.1", "1", "2"], 2),
        (["1", "1.2"], 2),
        (["1", "1.1", "1.1"], 3),
        (["1", "0.1"], 2),
        (["1", "01.1"], 2),
        (["1", "2.1", "2"], 2),
    ],
)
def test_ids_out_of_order_are_errors(names, line):
    problem = problem_of(*(part(name, "a") for name in names))
    assert (problem.line, problem.column) == (line, 1)


def test_an_unexpected_id_is_told_with_the_expected():
    problem = problem_of(row(1, "a"), row(3, "b"))
    assert problem.problem == "the id is '3' where 2 or 1.1 is expected"


def test_a_range_of_one_word_is_read():
    sentence = sentence_of(part("1-1", "gonna"), row(1, "going"))
    assert (sentence.text, sentence.tokens[0].text) == ("gonna", "going")


def test_empty_nodes_alone_are_no_sentence():
    assert problem_of("# a\n", part("0.1", "x")).problem == "the sentence has no words"


@pytest.mark.parametrize(
    ("line", "remark"),
    [
        (part("1-2", "ab", feats="Typo=Yes"), "FEATS of a multiword token is left out"),
        (part("1-2", "ab", deps="0:root"), "DEPS of a multiword token is left out"),
        (part("0.1", "x", deprel="dep"), "DEPREL of an empty node is left out"),
        (row("0.1", "x", "1", deprel="_"), "HEAD of an empty node is left out"),
    ],
)
def test_annotation_without_a_place_is_remarked_upon(line, remark):
    first, second = items_of(line, row(1, "a"), row(2, "b"))
    assert first == Remark(remark)
    assert isinstance(second, Example)


# Comments and ids


def test_comments_become_metadata_in_their_order():
    comments = "# newpar\n# a = b = c\n#d=e\n# a = \n#\n#  two  words \n"
    assert sentence_of(comments, row(1, "We")).metadata == (
        ("newpar", None),
        ("a", "b = c"),
        ("d", "e"),
        ("a", ""),
        ("", None),
        (" two  words ", None),
    )


def test_name_and_text_are_not_metadata():
    [example] = parse("# sent_id = n1\n# text = We\n# x = y\n", row(1, "We"))
    assert (example.id, example.views["sentence"].metadata) == ("n1", (("x", "y"),))


def test_blanks_around_the_name_are_notation():
    assert parse("#sent_id =  n1 \n", row(1, "We"))[0].id == "n1"


def test_sentences_without_a_name_are_numbered_with_the_broken_ones():
    examples = parse(row(1, "a"), "\n", row(2, "b"), "\n", row(1, "c"), errors="skip")
    assert [example.id for example in examples] == ["stream:1", "stream:3"]


def test_a_name_used_twice_is_a_broken_part():
    named = "# sent_id = n\n" + row(1, "a") + "\n"
    examples = parse(named, named, row(1, "b"), errors="collect")
    assert [example.id for example in examples] == ["n", "stream:3"]
    assert [problem.line for problem in examples.tally.problems] == [4]


def test_a_name_may_not_be_that_of_a_number():
    examples = parse("# sent_id = stream:2\n", row(1, "a"), "\n", row(1, "b"), errors="skip")
    assert (len(examples), examples.tally.skipped) == (1, 1)


def test_a_broken_sentence_does_not_use_up_its_name():
    broken, good = "# sent_id = n\n" + row(2, "a"), "# sent_id = n\n" + row(1, "a")
    assert [example.id for example in parse(broken, "\n", good, errors="skip")] == ["n"]


def test_the_origin_is_the_first_line_with_comments():
    examples = parse("\n# a\n", row(1, "a"), "\n\n", row(1, "b"))
    assert [example.origin.line for example in examples] == [2, 6]


@pytest.mark.parametrize("key", ["sent_id", "text"])
def test_a_second_name_or_text_is_an_error(key):
    problem = problem_of(f"# {key} = a\n# {key} = a\n", row(1, "a"))
    assert (problem.line, problem.column) == (2, 3)


def test_an_empty_name_is_an_error():
    assert problem_of("# sent_id = \n", row(1, "a")).problem == "the sent_id is empty"


def test_a_comment_within_a_sentence_is_an_error():
    problem = problem_of(row(1, "a"), "# b\n", row(2, "c"))
    assert (problem.line, problem.problem) == (2, "a comment stands within a sentence")


def test_comments_without_words_are_an_error_of_their_own():
    examples = parse("# a\n# b\n\n", row(1, "c"), errors="collect")
    assert len(examples) == 1
    assert [problem.line for problem in examples.tally.problems] == [1]


def test_other_columns_end_the_reading():
    lines = "# global.columns = ID FORM UPOS\n", "1\ta\tX\n\n", row(1, "b")
    examples = parse(*lines, errors="collect")
    assert examples == []
    assert "CoNLL-U Plus" in examples.tally.problems[0].problem


def test_other_columns_end_the_reading_wherever_they_are_announced():
    examples = parse(row(1, "a"), "\n# global.columns = ID\n", row(1, "b"), errors="skip")
    assert (len(examples), examples.tally.skipped) == (1, 1)


def test_the_usual_columns_may_be_announced():
    names = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC"
    sentence = sentence_of(f"# global.columns = {names}\n", row(1, "a"))
    assert sentence.metadata == (("global.columns", names),)


# Broken lines


def test_too_few_columns_are_counted():
    problem = problem_of("1\ta\tb\n")
    assert problem.problem == "the line has 3 columns instead of 10"
    assert (problem.line, problem.column) == (1, 6)


def test_too_many_columns_are_counted():
    problem = problem_of(row(1, "a").rstrip("\n") + "\tmore\n")
    assert (problem.problem, problem.column) == ("the line has 11 columns instead of 10", 23)


def test_a_line_of_unusual_blanks_does_not_end_a_sentence():
    assert problem_of(row(1, "a"), "\u00a0\n", row(1, "b")).line == 2


def test_blanks_instead_of_tabs_are_told():
    assert "only blanks" in problem_of(row(1, "a").replace("\t", "  ")).hint


@pytest.mark.parametrize(
    ("lines", "column"),
    [
        (["# text = a\r\r\n", row(1, "a")], 11),
        ([row(1, "a", misc="_\r\r")], 22),
        ([row(1, "\r")], 3),
    ],
)
def test_a_stray_carriage_return_is_an_error(lines, column):
    problem = problem_of(*lines)
    assert problem.problem == "there is a stray carriage return"
    assert (problem.line, problem.column) == (1, column)


def test_an_empty_column_is_an_error():
    problem = problem_of(row(1, "a", xpos=""))
    assert (problem.problem, problem.column) == ("the column XPOS is empty", 9)


def test_a_broken_sentence_costs_only_itself():
    examples = parse(row(1, "a"), "\n", "junk\n", row(1, "x"), "\n", row(1, "b"), errors="skip")
    assert [e.views["sentence"].text for e in examples] == ["a", "b"]
    assert examples.tally.skipped == 1


def test_wrong_encoding_costs_one_sentence():
    data = row(1, "a").encode() + b"\n" + row(1, "é").encode("latin-1") * 2 + b"\n"
    examples = read(io.BytesIO(data + row(1, "b").encode()), format="conllu", errors="collect")
    assert [e.views["sentence"].text for e in examples] == ["a", "b"]
    assert [problem.line for problem in examples.tally.problems] == [3]


def test_the_message_shows_file_line_and_place():
    assert str(problem_of(row(1, "We"), row(2, "go", "7"))) == (
        "<stream>:2:14: the head '7' is none of the 2 words\n"
        "    2 go _ _ _ _ 7 dep _ _\n"
        "                 ^\n"
        "    a head is the id of a word; 0 marks a root, '_' a word without a head"
    )


def test_unwanted_views_are_not_made():
    source = Source(io.BytesIO(row(1, "a").encode()))
    [example] = read_conllu(source, ("words",))
    assert dict(example.views) == {}


def test_sentences_are_read_one_at_a_time():
    data = io.BytesIO((row(1, "a") + "\n").encode() * MANY)
    with iter_read(data, format="conllu") as stream:
        next(stream)
        assert data.tell() < len(data.getvalue()) // 2


@pytest.mark.parametrize("head", ["# text = a b\n", "\n# c\n" + row(1, "a"), row("1-2", "ab", "_")])
def test_the_format_is_recognized(head):
    assert looks_like_conllu(head)


@pytest.mark.parametrize(
    "head",
    [
        "",
        "# sent_id = x\n",
        "# sent_id = x\n0\tWe\tPRP\t(S*\t-\t-\t*\t*\t*\t*\n",
        "# sent_id = x\n1\tWe\tPRP\t(S*\t-\t-\t*\t*\t*\t*\n",
        "# ::id x\n(w / want-01)\n",
        '1\t"We <e1>go</e1>."\n',
        row(1, "a").replace("\t", " "),
    ],
)
def test_other_formats_are_not_recognized(head):
    assert not looks_like_conllu(head)


def test_the_package_is_loaded_only_when_a_file_is_read():
    code = "import sys, kernelwood.io.formats.conllu; sys.exit('conllu.parser' in sys.modules)"
    assert run_python("-c", code).returncode == 0


# Large input


def test_a_very_long_circle_is_found():
    words = [row(i + 1, "a", str((i + 1) % MANY + 1)) for i in range(MANY)]
    assert f"{MANY} words form a cycle" in problem_of(*words).problem


def test_very_many_enhanced_heads_are_read():
    deps = "|".join(["0:a:b"] * MANY)
    assert len(sentence_of(row(1, "a", deps=deps)).enhanced) == MANY


@pytest.mark.parametrize("end", ["", "x:"])
def test_long_columns_cost_no_more_than_their_length(end):
    deps = "0" + ":a" * MANY + end
    started = time.process_time()
    items_of(row(1, "a" * MANY, lemma=" " * MANY, deps=deps, misc="|" * MANY))
    assert time.process_time() - started < 2


def test_very_many_blank_words_take_linear_time():
    n_words = MANY // 4
    text = "# text = " + " " * 2 * MANY + "x\n"
    started = time.process_time()
    items_of(text, *(row(i + 1, " ") for i in range(n_words)), row(n_words + 1, "x"))
    assert time.process_time() - started < 10


# Writing


def test_a_sentence_is_written_in_columns():
    sentence = Sentence.from_words(
        ["We", "go"],
        lemmas=["we", ""],
        tags=["PRP", "VBP"],
        dependencies=[(ROOT, "root", 1), (1, "nsubj", 0)],
        metadata=[("newpar", None), ("x", "y")],
    )
    assert written(sentence) == (
        "# newpar\n# x = y\n# sent_id = s0\n# text = We go\n"
        "1\tWe\twe\t_\tPRP\t_\t2\tnsubj\t_\t_\n"
        "2\tgo\t_\t_\tVBP\t_\t0\troot\t_\t_\n\n"
    )


def test_ranges_and_empty_nodes_are_written_in_their_places():
    sentence = sentence_of(
        part("0.1", "_"),
        part("1-2", "ab"),
        row(1, "a"),
        part("1.1", "x", deps="0.1:dep"),
        row(2, "b"),
    )
    names = [line.split("\t")[0] for line in written(sentence).splitlines()[2:-1]]
    assert names == ["0.1", "1-2", "1", "1.1", "2"]


def test_what_the_format_has_no_place_for_is_left_out():
    full = Sentence.from_words(
        ["We"], tree=Tree.from_brackets("(S We)"), entities=[Entity("T1", "x", ((0, 2),))]
    )
    assert written(full) == written(Sentence.from_words(["We"]))


def test_another_view_can_be_written(tmp_path):
    example = Example("a", views={"gold": Sentence.from_words(["We"])})
    write_conllu([example], tmp_path / "a.conllu", view="gold")
    assert read(tmp_path / "a.conllu")[0].views["sentence"] == example.views["gold"]


def test_an_example_without_a_sentence_is_refused():
    with pytest.raises(StructureError, match="'a' cannot be written: it has no sentence"):
        list(conllu_text([Example("a", views={"text": "We"})]))


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (Sentence("We go"), "no tokens"),
        (Sentence("a\nb", [Token("a", 0, 1), Token("b", 2, 3)]), "line break"),
        (Sentence("a\rb", [Token("a", 0, 1), Token("b", 2, 3)]), "line break"),
        (Sentence("a", [Token("a", 0, 1, misc="x\ny")]), "line break"),
        (Sentence("a", [Token("a", 0, 1, misc="x\r")]), "line break"),
        (Sentence("a", [Token("a", 0, 1)], metadata=[("x", "y\nz")]), "line break"),
        (Sentence("a", [Token("a", 0, 1, lemma="x\ty")]), "tab in LEMMA"),
        (Sentence("a\tb", [Token("a\tb", 0, 3)]), "tab in FORM"),
        (Sentence("a", [Token("a", 0, 1, pos="_")]), "UPOS is '_'"),
        (Sentence("a", [Token("a", 0, 1, lemma="_")]), "LEMMA is '_'"),
        (Sentence("_", [Token("_", 0, 1)]), "has no lemma"),
        (Sentence("a", [Token("", 0, 0), Token("a", 0, 1)]), "a word is empty"),
        (Sentence("a b", [Token("b", 2, 3)]), "word 1 'b' does not continue the text"),
        (Sentence("a b", [Token("a", 0, 1)]), "continues after the last word"),
        (Sentence("a a", [Token("a", 2, 3), Token("a", 0, 1)]), r"stands at \[2, 3\)"),
        (Sentence("a", [Token("a", 0, 1)], [(ROOT, "x", 0), (ROOT, "y", 0)]), "two heads"),
        (Sentence("a", [Token("a", 0, 1)], [(0, "x", 0)]), "cycle"),
        (Sentence("a", [Token("a", 0, 1)], [(ROOT, "_", 0)]), "DEPREL is '_'"),
        (Sentence("a", [Token("a", 0, 1)], enhanced=[(ROOT, "x|y", 0)]), "has a '|'"),
        (Sentence("a", [Token("a", 0, 1)], enhanced=[(ROOT, "_", 0)]), "DEPS is '_'"),
        (Sentence("a", [Token("a", 0, 1)], empty=[EmptyNode(-1, "_")]), "FORM is '_'"),
        (Sentence("a", [Token("a", 0, 1)], empty=[EmptyNode(0, ""), EmptyNode(-1, "")]), "behind"),
        (Sentence("a", [Token("a", 0, 1)], multiwords=[Multiword(0, 1, "")]), "a word is empty"),
        (Sentence("a", [Token("a", 0, 1)], multiwords=[Multiword(0, 1, "a")] * 2), "overlap"),
        (Sentence("ab", [Token("a", 0, 1)], multiwords=[Multiword(0, 1, "ab")]), "stands at"),
        (Sentence("a", [Token("a", 0, 1)], metadata=[("text", "b")]), "written by itself"),
        (Sentence("a", [Token("a", 0, 1)], metadata=[("sent_id", "b")]), "written by itself"),
        (
            Sentence("a", [Token("a", 0, 1)], metadata=[("x=y", "b")]),
            "comment .* would not read back",
        ),
        (
            Sentence("a", [Token("a", 0, 1)], metadata=[("x = y", None)]),
            "comment .* would not read back",
        ),
        (
            Sentence("a", [Token("a", 0, 1)], metadata=[(" x", "y")]),
            "comment .* would not read back",
        ),
        (Sentence("a", [Token("a", 0, 1)], metadata=[("global.columns", "ID")]), "other columns"),
    ],
)
def test_what_would_not_read_back_is_refused(sentence, message):
    refusal = refusal_of(sentence)
    assert refusal.startswith("example 's0' cannot be written: ")
    with pytest.raises(StructureError, match=message):
        written(sentence)


@pytest.mark.parametrize("name", ["", " a", "a\u00a0", "a\nb"])
def test_names_that_would_not_read_back_are_refused(name):
    example = Example(name, views={"sentence": Sentence.from_words(["We"])})
    with pytest.raises(StructureError, match="cannot be written"):
        list(conllu_text([example]))


def test_two_examples_of_one_name_are_refused():
    example = Example("a", views={"sentence": Sentence.from_words(["We"])})
    with pytest.raises(
        StructureError, match="example 'a' cannot be written: its id was used before"
    ):
        list(conllu_text([example, example]))


def test_a_long_chain_is_written_and_read_back():
    edges = [(i - 1, "dep", i) for i in range(MANY)]
    sentence = Sentence.from_words(["a"] * MANY, dependencies=edges)
    assert sentence_of(written(sentence)) == sentence


# Round trips and junk

characters = st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r")
values = st.text(characters, max_size=4).filter(lambda text: text != "_") | st.sampled_from(
    ["", "A=b|C=d", "SpaceAfter=No", "a  b", "#", "e\u0301", "𝛼", " ", "=", "\u2028"]
)
relations = values.map(lambda text: text.replace("|", ""))
forms = (st.text(characters, min_size=1, max_size=4) | st.sampled_from(["_", "1-2", "#"])).filter(
    lambda text: text == text.strip()
)
gaps = st.sampled_from(["", " ", "  ", "\u00a0", "\u3000"])
comments = st.tuples(
    st.text(characters, max_size=5).filter(
        lambda key: key == key.strip() and key not in ("text", "sent_id") and "=" not in key
    ),
    st.text(characters, max_size=5),
) | st.tuples(st.text(characters, max_size=5).filter(lambda text: "=" not in text), st.none())


@st.composite
def sentences(draw):
    text, tokens, multiwords = draw(gaps), [], []
    for n_inside in draw(st.lists(st.sampled_from([0, 0, 0, 1, 2]), min_size=1, max_size=5)):
        form, start = draw(forms), len(text)
        text += form
        inside = [draw(forms) for _ in range(n_inside)] or [form]
        if n_inside:
            end = len(tokens) + n_inside
            multiwords.append(Multiword(len(tokens), end, form, draw(values)))
        for word in inside:
            lemma = draw(values)
            lemma = lemma or "_" if word == "_" else lemma
            described = [draw(values) for _ in range(4)]
            tokens.append(Token(word, start, len(text), lemma, *described))
        text += draw(gaps)
    places = sorted(draw(st.lists(st.integers(-1, len(tokens) - 1), max_size=3)))
    empty = [EmptyNode(after, *[draw(values) for _ in range(6)]) for after in places]
    return Sentence(
        text,
        tokens,
        draw(trees_over(len(tokens))),
        enhanced=draw(graphs_over(len(tokens), places)),
        empty=empty,
        multiwords=multiwords,
        metadata=draw(st.lists(comments, max_size=3)),
    )


@st.composite
def trees_over(draw, n_tokens):
    order = draw(st.permutations(range(n_tokens)))
    edges = []
    for index, word in enumerate(order):
        head = draw(st.sampled_from([None, ROOT, *order[:index]]))
        if head is not None:
            edges.append(Dependency(head, draw(values), word))
    return sorted(edges, key=lambda edge: edge.dependent)


@st.composite
def graphs_over(draw, n_tokens, places):
    nodes = [(index, 0, index) for index in range(n_tokens)]
    nodes += [(after, 1 + k, n_tokens + k) for k, after in enumerate(places)]
    heads = st.integers(ROOT, n_tokens + len(places) - 1)
    edges = []
    for _, _, dependent in sorted(nodes):
        for head in draw(st.lists(heads, max_size=2)):
            edges.append(Dependency(head, draw(relations), dependent))
    return edges


@settings(max_examples=150)
@given(st.lists(sentences(), min_size=1, max_size=2))
def test_sentences_written_and_read_back_are_equal(many):
    examples = parse(written(*many))
    assert [example.views["sentence"] for example in examples] == many
    assert [example.id for example in examples] == [f"s{i}" for i in range(len(many))]


@settings(max_examples=50)
@given(st.lists(st.text(characters, min_size=1, max_size=3), min_size=1, max_size=5))
def test_whatever_was_read_is_written_and_read_back(words):
    sentence = sentence_of(*(row(i, word) for i, word in enumerate(words, start=1)))
    assert sentence_of(written(sentence)) == sentence


junk_columns = st.sampled_from(
    ["1", "2", "3", "1-2", "1.1", "0.1", "0", "_", "a", "0:root", "1:a|2:b", "1.1:x", "", "-1"]
)
junk_lines = st.one_of(
    st.lists(junk_columns, min_size=9, max_size=11).map("\t".join),
    st.builds(
        lambda name, head, deps: f"{name}\ta\ta\tX\t_\t_\t{head}\tdep\t{deps}\t_",
        junk_columns,
        st.sampled_from("0 1 2 3 _".split()),
        junk_columns,
    ),
    st.sampled_from(["# text = a a", "# text = a", "# sent_id = x", "#", "", " \t", "# a = b"]),
)


@settings(max_examples=200)
@given(st.lists(junk_lines, max_size=12).map("\n".join))
def test_junk_gives_examples_remarks_and_errors_with_lines(text):
    for item in items_of(text):
        assert isinstance(item, (Example, ReadError, Remark))
        assert not isinstance(item, ReadError) or item.line is not None
        assert not isinstance(item, Example) or item.views["sentence"].tokens
