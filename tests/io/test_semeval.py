from __future__ import annotations

import io

import pytest
from hypothesis import given, strategies as st

from kernelwood.errors import ReadError, StructureError
from kernelwood.io import read, write, write_semeval
from kernelwood.text import Argument, Dependency, Entity, Example, Relation, Sentence, Token

LINE = '1\t"The <e1>lid</e1> of a <e2>pot</e2>."\n'
FULL = LINE + "Component-Whole(e2,e1)\nComment: cooking\n\n"


def parse(text: str | bytes, errors: str = "raise", views=None):
    data = text.encode() if isinstance(text, str) else text
    return read(io.BytesIO(data), format="semeval", errors=errors, views=views)


def only(text: str) -> Sentence:
    (example,) = parse(text)
    return example.view("sentence")


def written(*examples: Example, **options) -> str:
    out = io.StringIO()
    write(examples, out, format="semeval", **options)
    return out.getvalue()


def an_example(name="1", label="Other", **parts) -> Example:
    return Example(name, label, {"sentence": only(LINE).with_parts(**parts)})


# Reading.


def test_the_label_is_the_relation_as_it_is_written():
    (example,) = parse(FULL)
    assert (example.id, example.label, example.origin.line) == ("1", "Component-Whole(e2,e1)", 1)


def test_tags_and_quotes_are_taken_off():
    assert only(FULL).text == "The lid of a pot."


def test_nominals_are_entities_at_their_places():
    assert only(FULL).entities == (
        Entity("e1", "nominal", ((4, 7),), "lid"),
        Entity("e2", "nominal", ((13, 16),), "pot"),
    )


def test_entities_are_in_the_order_of_their_names():
    assert [e.id for e in only('1\t"<e2>a</e2> <e1>b</e1>"').entities] == ["e1", "e2"]


def test_arguments_are_in_the_order_they_are_written():
    arguments = (Argument("e2", "e2"), Argument("e1", "e1"))
    assert only(FULL).relations == (Relation("r1", "Component-Whole", arguments),)


def test_other_is_a_label_and_no_relation():
    (example,) = parse(LINE + "Other\nComment:\n")
    assert example.label == "Other"
    assert example.view("sentence").relations == ()


def test_a_comment_is_metadata():
    assert only(FULL).metadata == (("comment", "cooking"),)


def test_an_empty_comment_is_nothing():
    assert only(LINE + "Other\nComment: \n").metadata == ()


@pytest.mark.parametrize("between", ["", "\n", "\r\n\r\n"])
def test_test_files_have_no_labels(between):
    examples = parse(LINE + between + LINE.replace("1\t", "2\t"))
    assert [(example.id, example.label) for example in examples] == [("1", None), ("2", None)]


def test_a_comment_may_follow_without_a_relation():
    (example,) = parse(LINE + "Comment: cooking\n")
    assert (example.label, example.view("sentence").metadata[0][1]) == (None, "cooking")


def test_tokens_end_where_nominals_end():
    found = only('1\t"A <e1>tea</e1>pot-<e2>like</e2>ness isn\'t."')
    assert found.words == ("A", "tea", "pot", "-", "like", "ness", "is", "n't", ".")


def test_quotes_within_the_text_are_kept():
    assert only('1\t""<e1>a</e1>," said <e2>b</e2>""').text == '"a," said b"'


def test_adjacent_and_nested_nominals_are_read():
    spans = [e.spans for e in only('1\t"<e1>tea <e2>pot</e2></e1>"').entities]
    assert spans == [((0, 7),), ((4, 7),)]


def test_decomposed_letters_stay_decomposed():
    assert only('1\t"<e1>ra\u0308f</e1> <e2>x</e2>"').entities[0].text == "ra\u0308f"


def test_offsets_count_characters_beyond_the_basic_plane_once():
    assert only('1\t"𝒜 <e1>b</e1> <e2>c</e2>"').entities[0].spans == ((2, 3),)


def test_without_the_view_there_is_only_the_label():
    (example,) = parse(FULL, views=[])
    assert (example.label, dict(example.views)) == ("Component-Whole(e2,e1)", {})


def test_a_long_line_is_read():
    text = "word " * 100_000
    assert len(only(f'1\t"{text}<e1>a</e1> <e2>b</e2>"').tokens) == 100_002


def test_a_line_of_many_tags_is_refused():
    assert (
        "a second <e1>"
        in parse('1\t"' + "<e1>" * 200_000 + '"', "collect").tally.problems[0].problem
    )


def test_a_file_is_recognized_by_its_content():
    assert len(read(io.StringIO(FULL))) == 1


# What is wrong.


@pytest.mark.parametrize(
    ("part", "message", "line", "column"),
    [
        ('x\t"a"', "expected a number", 1, 1),
        ("words", "expected a number", 1, 1),
        ("7\ta <e1>b</e1> <e2>c</e2>", "a quotation mark before", 1, 3),
        ('7\t"a <e1>b</e1> <e2>c</e2>', "a quotation mark after", 1, 26),
        ('7\t"', "a quotation mark after", 1, 3),
        ('7\t""', "there is no <e1>", 1, 4),
        ('7\t"a <e1>b</e1> c"', "there is no <e2>", 1, 18),
        ('7\t"<e1>b</e1> <e2>c</e2> <e1>"', "there is a second <e1>", 1, 26),
        ('7\t"<e1></e1> <e2>c</e2>"', "</e1> must follow <e1>", 1, 8),
        ('7\t"b</e1> <e1> <e2>c</e2>"', "</e1> must follow <e1>", 1, 5),
        (LINE.replace("1", "7", 1) + "Part-Of", "'Part-Of' is not a relation", 2, 1),
        (LINE.replace("1", "7", 1) + "Part-Of(e1,e1)", "is not a relation", 2, 1),
        (LINE.replace("1", "7", 1) + "Other\nComment:\nmore", "expected a blank line", 4, 1),
        (LINE.replace("1", "7", 1) + "Other\nOther\n", "expected a blank line", 3, 1),
    ],
)
def test_a_broken_part_is_left_out_and_the_next_is_read(part, message, line, column):
    examples = parse(f"{part}\n\n{FULL}", "collect")
    (found,) = examples.tally.problems
    assert [example.id for example in examples] == ["1"]
    assert message in found.problem
    assert (found.line, found.column) == (line, column)


def test_a_number_that_was_used_before_is_an_error():
    examples = parse(FULL + FULL, "collect")
    assert len(examples) == 1
    assert "the id '1' was used before" in examples.tally.problems[0].problem


@pytest.mark.parametrize("line", [0, 1, 2])
def test_a_wrong_encoding_costs_one_part(line):
    lines = FULL.replace("lid", "l\u00efd").replace("cooking", "\u00e9").encode().splitlines(True)
    lines[line] = lines[line].rstrip(b"\n") + b"\xe4\n"
    examples = parse(b"".join(lines) + FULL.replace("1", "2", 1).encode(), "collect")
    assert [example.id for example in examples] == ["2"]
    assert [problem.line for problem in examples.tally.problems] == [line + 1]


def test_many_lines_without_a_blank_one_are_one_problem():
    examples = parse(LINE + "Other\n" * 100_000, "collect")
    assert (len(examples), examples.tally.skipped) == (0, 1)


# Writing.


def test_what_was_read_is_written_as_it_was():
    assert written(*parse(FULL)) == FULL


def test_without_a_label_there_is_one_line():
    assert written(*parse(LINE + LINE.replace("1", "2", 1))) == LINE + LINE.replace("1", "2", 1)


def test_tokens_may_be_missing():
    assert written(an_example(label=None, tokens=())) == LINE


def test_another_view_can_be_written():
    example = Example("1", None, {"plain": only(LINE)})
    assert written(example, view="plain") == LINE


def test_a_file_is_written(tmp_path):
    write_semeval(parse(FULL), tmp_path / "TRAIN_FILE.TXT.gz")
    assert read(tmp_path / "TRAIN_FILE.TXT.gz")[0].views == parse(FULL)[0].views


@pytest.mark.parametrize(
    ("example", "message"),
    [
        (an_example("s1"), "'s1' cannot be written: its id is not a number"),
        (an_example("٣"), "its id is not a number"),
        (an_example(label=3), "the label 3 is not a string"),
        (an_example(label="Part-Of"), "'Part-Of' is not a relation"),
        (an_example(label="Comment:x(e1,e2)"), "is not a relation"),
        (an_example(label="Part-Of(e1,e2)"), "cannot hold its relations"),
        (an_example(metadata=[("source", "a letter")]), "cannot hold its metadata"),
        (an_example(metadata=[("comment", "a\nb")]), "its comment has a line end"),
        (an_example(metadata=[("comment", " a")]), "its comment has"),
        (an_example(entities=only(LINE).entities[:1]), "two entities 'e1' and 'e2'"),
        (an_example(entities=[Entity("e1", "nominal", ((0, 3),), "The")] * 1), "two entities"),
        (
            an_example(entities=[e._replace(type="x") for e in only(LINE).entities]),
            "cannot hold its entities",
        ),
        (
            an_example(entities=[e._replace(spans=((0, 1), (2, 3))) for e in only(LINE).entities]),
            "each in one part",
        ),
        (an_example(tokens=[Token("The", 0, 3)]), "cannot hold its tokens"),
        (an_example(dependencies=[Dependency(1, "det", 0)]), "cannot hold its dependencies"),
        (an_example(start=5), "cannot hold its start 5"),
        (an_example(text="The <e1> lid pot.", tokens=(), entities=only(LINE).entities), "a tag"),
        (an_example(text="The\nlid of a pot.", tokens=()), "a line feed"),
        (
            Example("1", None, {"sentence": "text"}),
            "it has no sentence in view 'sentence'\n    it has sentence (text)",
        ),
        (Example("1", None, {}), "it has no sentence in view 'sentence'\n    it has no views"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(example, message):
    with pytest.raises(StructureError, match=r"example .* cannot be written") as caught:
        written(example)
    assert message in str(caught.value)


# Characters that matter to the format, and any others a file can hold.
letters = st.text(
    min_size=2, alphabet=st.sampled_from("ab<>/e12\"'\t -\r\u0301𝒜") | st.characters(codec="utf-8")
)
labels = st.sampled_from([None, "Other", "A-B(e1,e2)", "Cause(e2,e1)"])


@given(letters, st.data(), labels, st.just("") | st.just('why\t"so') | letters)
def test_sentences_that_can_be_written_are_read_again_the_same(text, data, label, comment):
    offsets = st.sets(st.integers(0, len(text)), min_size=2, max_size=2).map(sorted)
    spans = data.draw(st.tuples(offsets, offsets))
    sentence = Sentence(
        text,
        entities=[
            Entity(f"e{i}", "nominal", (tuple(span),), text[slice(*span)])
            for i, span in enumerate(spans, start=1)
        ],
        relations=only(f"{LINE}{label}\n").relations if label else (),
        metadata=[("comment", comment)] if comment else [],
    )
    try:
        result = written(Example("5", label, {"sentence": sentence}))
    except StructureError as refusal:
        assert "\n" in text + comment or "<e" in text or "its comment has" in refusal.problem
        return
    (again,) = parse(result)
    assert again.label == label
    assert again.view("sentence").with_parts(tokens=()) == sentence
    assert written(again) == result


@given(
    st.lists(
        st.sampled_from([*'1\t"<>\n /', "<e1>", "</e1>", "<e2>b</e2>", "Other", "Comment:", FULL])
    )
)
def test_junk_made_of_the_format_gives_only_read_errors(pieces):
    try:
        parse("".join(pieces))
    except ReadError as found:
        assert found.line is not None
