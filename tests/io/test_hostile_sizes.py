"""Inputs made to cost more than their size: time, memory and messages stay within bounds.

Sizes are such that work that grows with their square would take minutes or all of the memory.
"""

from __future__ import annotations

import gzip
import io
import re
import tarfile

import pytest
from hypothesis import given, strategies as st

import kernelwood.io.source as source_module
from kernelwood.errors import ReadError, StructureError
from kernelwood.io import LimitError, Line, Source, general_reason, iter_read, read
from kernelwood.io.formats.penman import _depth_after
from kernelwood.io.formats.penn import _recorded
from kernelwood.io.formats.ppi import looks_like_ppi
from kernelwood.io.formats.standoff import read_standoff
from kernelwood.io.formats.table import find_format
from kernelwood.io.inputs import make_plan
from kernelwood.io.lines import cut_at_blank_lines
from kernelwood.structures import Graph
from kernelwood.text import Example

MILLION = 1_000_000


def collect(text, form):
    return read(io.StringIO(text), format=form, errors="collect")


def corpus(*sentences, document='id="d"'):
    return f"<corpus><document {document}>{''.join(sentences)}</document></corpus>"


def sentence(number, inside="", text="Raf"):
    return f'<sentence id="s{number}" text="{text}">{inside}</sentence>'


LONG = "k" * MILLION


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("penn", LONG),
        ("kelp", f"|BV:a| {LONG} |EV|"),
        ("kelp", f"|BV:a| {LONG}:1 {LONG}:1 |EV|"),
        ("kelp", f"|BDV:a| {LONG} |EDV|"),
        ("kelp", f"|BG:a| {LONG} |EG|"),
        ("kelp", f"|BG:a| 1 a%%{LONG} |EG|"),
        ("kelp", f"|BT:a| {LONG} |ET|"),
        ("kelp", f"|B{LONG}:a| x |ES|"),
        ("kelp", f"|BS:{LONG}| x |ES| |BS:{LONG}| x |ES|"),
        ("kelp", f"|BS:{LONG}| x"),
        ("semeval", f'1\t"A <e1>b</e1> c <e2>d</e2>"\n{LONG}\n'),
        ("conllu", f"1\t{LONG}\t_\t_\t_\t_\t1\tx\t_\t_\n"),
        ("srl", f"0\t{LONG}\tN\t*)\t-\t-\n"),
        ("penman", f"({LONG} / a / b)"),
        ("pubtator", f"1|t|a\n1\t0\t1\t{LONG}\tGene\t-\n"),
        ("pubtator", f"1|t|a\n{LONG}\n"),
        ("pubtator", f"1|t|{LONG}\n1\t0\t2\tx\tGene\t-\n"),
        (
            "bioc",
            f"<collection><document><id>1</id><passage><offset>{LONG}</offset><text>a</text>"
            "</passage></document></collection>",
        ),
        (
            "bioc",
            "<collection><document><id>1</id><relation><node role='a' "
            f"refid='{LONG}'/></relation></document></collection>",
        ),
        ("bioc", f"<{LONG}/>"),
        ("bioc-json", f'{{"id":"1","passages":[{{"offset":"{LONG}","text":"a"}}]}}'),
        ("bioc-json", f'{{"documents":[{{"{LONG}"}}]}}'),
        ("jsonl", f'{{"views":{{"{LONG}":{{"a":1}}}}}}'),
        ("jsonl", f'{{"views":{{"a":{{"{LONG}":1}}}}}}'),
        (
            "ppi",
            corpus(
                sentence(
                    1,
                    f'<parse parser="p" tokenizer="{LONG}"/><tokenization tokenizer="x{LONG}"/>',
                )
            ),
        ),
    ],
)
def test_messages_stay_short_however_long_the_words_are(form, text):
    [problem] = collect(text, form).tally.problems
    assert len(str(problem)) < 1000


@pytest.mark.parametrize(
    ("form", "text"),
    [("kelp", "|BS:{0}| x |ES|"), ("jsonl", '{{"views":{{"{0}":"x"}}}}')],
)
def test_a_missing_view_is_not_explained_by_all_there_are(form, text):
    stream = iter_read(io.StringIO(text.format(LONG)), form, errors="collect", views="other")
    assert list(stream) == []
    assert len(str(stream.tally.problems[0])) < 1000


@pytest.mark.parametrize("digits", ["9" * 5000, "9" * MILLION])
@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("conllu", "{0}\ta\t_\t_\t_\t_\t0\tx\t_\t_\n"),
        ("conllu", "1\ta\t_\t_\t_\t_\t{0}\tx\t_\t_\n"),
        ("conllu", "1\ta\t_\t_\t_\t_\t0\tx\t{0}:x\t_\n"),
        ("conllu", "1-{0}\ta\t_\t_\t_\t_\t0\tx\t_\t_\n"),
        ("srl", "{0}\ta\tN\t*\t-\t-\n"),
        ("penman", "(a / b~e.{0})"),
        ("ppi", corpus(sentence(1, '<entity id="e" charOffset="0-{0}" text="Raf"/>'))),
        ("bioc-json", '{{"documents": [{{"id": {0}, "passages": []}}]}}'),
        ("kelp", "|BG:a| {0} a |EG|"),
        ("kelp", "|BDV:a| {0} |EDV|"),
        ("jsonl", '{{"views":{{"a":[{0}]}}}}'),
        ("jsonl", '{{"views":{{"a":{{"sentence":{{"text":"a","start":{0}}}}}}}}}'),
    ],
)
def test_numbers_of_any_length_are_an_error_like_any_other(form, text, digits):
    assert [problem.line for problem in collect(text.format(digits), form).tally.problems] == [1]


def test_digits_that_are_no_number_take_linear_time():
    [problem] = collect(f"|BV:a| w:{'9' * MILLION}x |EV|", "kelp").tally.problems
    assert "is not a feature" in str(problem)


@pytest.mark.parametrize("number", ["1.", ".5", "1.5e3", "+1", "-0.25E-2", "12"])
def test_every_way_to_write_a_number_is_read(number):
    [example] = collect(f"|BDV:a| {number} |EDV|", "kelp")
    assert example.views["a"] == (float(number),)


@pytest.mark.parametrize("head", ["<!---->" * 5000, "<!-- - -->\n" * 5000, "<!--" + "-" * 50_000])
def test_comments_without_a_corpus_are_soon_seen_to_be_no_corpus(head):
    assert not looks_like_ppi(head)


@pytest.mark.parametrize("comment", ["<!---->", "<!-- a - b -->", "<!-- > <corpus> -->"])
def test_comments_may_stand_before_a_corpus(comment):
    assert looks_like_ppi(f"<?xml version='1.0'?>\n{comment}\n{comment}<corpus>")


def test_blank_lines_of_brackets_are_not_kept():
    kept: list[Line] = []
    lines = [Line(1, ""), Line(2, "(a"), Line(3, " \t"), Line(4, "b)"), Line(5, "")]
    assert list(_recorded(lines, kept)) == ["", "(a", " \t", "b)", ""]
    assert [line.number for line in kept] == [2, 4]


def test_blank_lines_count_when_brackets_are_read_again():
    found = collect("\n\n(A x)\n\n(S\n\n  (NP y)\n\n\n(B z)\n\n", "penn")
    assert [example.origin.line for example in found] == [3, 10]
    assert [problem.line for problem in found.tally.problems] == [5]


def test_blank_lines_may_be_all_there_is_before_the_damage():
    packed = gzip.compress(b"\n" * 300_000 + bytes(range(256)) * 400)
    with pytest.raises(ReadError, match="cut off"):
        read(io.BytesIO(packed[:350]), format="penn")


def test_quotes_that_are_never_closed_take_linear_time():
    found = collect('(a / "' + '\\" ' * 300_000 + "\n\n(b / c)\n", "penman")
    assert [example.origin.line for example in found] == [3]


_TRIED_EACH_TIME = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*"|(?::|[^\s"()/:~#])[^\s"()/:~]*|\#.*|[()]', re.DOTALL
)


@given(st.text(alphabet='"\\() a:#~/', max_size=30))
def test_an_open_quote_hides_no_bracket(text):
    depth = 5
    for match in _TRIED_EACH_TIME.finditer(text):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            break
    assert _depth_after(text, 5) == depth


@pytest.mark.parametrize("graph", [f"({'v' * 500} / c {':a 1 ' * 10})", f"(v / c :{'a' * 500} 1)"])
def test_the_ids_of_constants_have_a_bound(graph):
    with pytest.raises(StructureError, match="longer than 250 characters"):
        Graph.from_penman(graph)


def test_long_ids_without_constants_are_read():
    assert Graph.from_penman(f"({'v' * 500} / c :a (b / d))").root == "v" * 500


def test_tokens_as_long_as_the_text_are_compared_without_copies():
    text = "a" * 1_500_000
    token = f'<token charOffset="0-{len(text) - 1}" id="t{{}}" text="a"/>'
    tokens = "".join(map(token.format, range(30_000)))
    inside = f'<tokenization tokenizer="t">{tokens}</tokenization>'
    found = collect(corpus(sentence(1, inside, text)), "ppi")
    assert found.tally.remarks["token text differs from the characters at its offsets"] == 30_000


def test_a_document_with_very_many_attributes_is_refused():
    attributes = " ".join(f'a{number}="1"' for number in range(101))
    with pytest.raises(ReadError, match="more than 100 attributes"):
        read(io.StringIO(corpus(sentence(1), document=attributes)), format="ppi")


def test_the_attributes_of_a_document_are_kept_once():
    first, second = collect(corpus(sentence(1), sentence(2), document=f'id="d" {LONG}="1"'), "ppi")
    pairs = [example.views["sentence"].metadata[1] for example in (first, second)]
    assert pairs[0][0] == f"document.{LONG}"
    assert pairs[0][0] is pairs[1][0]


@pytest.mark.parametrize("element", ["parse parser", "tokenization tokenizer"])
def test_a_sentence_with_very_many_analyses_is_left_out(element):
    analyses = "".join(f'<{element}="p{number}"/>' for number in range(51))
    found = collect(corpus(sentence(1, analyses), sentence(2)), "ppi")
    assert [example.id for example in found] == ["s2"]
    assert "more than 50 parses or tokenizations" in str(found.tally.problems[0])


def test_names_that_nest_without_end_are_refused():
    rows = [f"d 0 {place} w N * - - - - {{}} -" for place in range(1000)]
    cells = ["(A" * 1000 + "*", *["*"] * 998, "*" + ")" * 1000]
    text = "\n".join(row.format(cell) for row, cell in zip(rows, cells, strict=True))
    [problem] = collect(text, "srl").tally.problems
    assert "nested more than 50 deep" in str(problem)


def test_a_name_inside_a_name_is_read():
    text = "d 0 0 w N * - - - - (A(B*)) -\nd 0 1 w N * - - - - (C) -\n"
    [example] = collect(text, "srl")
    assert [entity.type for entity in example.views["sentence"].entities] == ["A", "B", "C"]


def standoff(text, annotation):
    files = {".txt": text, ".ann": annotation}
    return list(read_standoff({name: Source(io.StringIO(files[name])) for name in files}))


def test_entities_that_stretch_over_endless_blanks_are_not_compared():
    size = 4 * MILLION
    lines = "".join(f"T{number}\tProtein 0 {size}\tRaf\n" for number in range(20_000))
    problems = standoff("Raf" + " " * size, lines)
    assert "but at its offsets stands" in str(problems[0])
    assert not any(isinstance(item, Example) for item in problems)


def test_a_few_more_blanks_in_the_text_of_an_entity_are_no_error():
    found = standoff("p53" + " " * 50 + "gene", "T1\tProtein 0 57\tp53 gene\n")
    assert any(isinstance(item, Example) for item in found)


def test_pieces_of_an_entity_may_be_far_apart():
    found = standoff("p53" + "x" * 5000 + "gene", "T1\tProtein 0 3;5003 5007\tp53 gene\n")
    assert any(isinstance(item, Example) for item in found)


def test_many_documents_of_several_files_are_planned_in_linear_time():
    names = [f"{number}{suffix}" for number in range(60_000) for suffix in (".txt", ".ann")]
    assert len(make_plan(names, None, None, lambda _: None).parts) == 60_000


def test_documents_of_another_format_are_ignored():
    plan = make_plan(["a.txt", "a.ann", "b.mrg"], find_format("penn"), None, lambda _: None)
    assert [part.names for part in plan.parts] == [("b.mrg",)]
    assert plan.ignored == ("a.ann", "a.txt")


def test_a_tar_that_says_very_much_of_all_files_is_refused():
    out = io.BytesIO()
    fields = {f"field{number}": "x" for number in range(101)}
    with tarfile.open(fileobj=out, mode="w", pax_headers=fields) as archive:
        archive.addfile(tarfile.TarInfo("a.mrg"))
    with pytest.raises(LimitError, match="more than 100 headers for all files"):
        read(io.BytesIO(out.getvalue()))


def test_collected_problems_keep_no_long_line():
    [problem] = collect(LONG, "penn").tally.problems
    assert problem.snippet is None
    assert str(problem).count("kkk") > 0


def test_collected_problems_keep_the_line_if_it_is_short():
    [problem] = collect("(a b", "penn").tally.problems
    assert problem.snippet == "(a b"


def test_collected_problems_keep_no_file_and_no_text_alive(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"Raf \xff")
    (tmp_path / "a.ann").write_bytes(b"")
    [problem] = read(tmp_path, errors="collect").tally.problems
    assert problem.__traceback__ is problem.__cause__ is problem.__context__ is None


def test_names_that_were_shortened_count_as_one_reason():
    problems = [StructureError(f"the id '{name * 56}... is odd") for name in "ab"]
    assert {general_reason(problem) for problem in problems} == {"the id … is odd"}


def test_reasons_without_end_are_not_all_kept():
    stream = iter_read(io.StringIO("(a\n" * 3000), "penn", errors="skip")
    for number in range(3000):
        stream._refuse(ReadError(f"reason {'x' * number}", path="p"))
    assert len(stream.tally.reasons) == 1001
    assert stream.tally.reasons["other reasons"] == 2000


def test_lines_after_one_that_is_not_utf_8_are_not_kept():
    bad = ReadError("not UTF-8", path="p")
    lines = [
        Line(1, "a"),
        Line(2, "b", bad),
        *(Line(n, "c", bad) for n in range(3, 9)),
        Line(9, ""),
    ]
    assert [[line.number for line in block] for block in cut_at_blank_lines(lines)] == [[1, 2]]


def test_the_encoding_is_guessed_once_a_file(monkeypatch):
    guessed = []
    monkeypatch.setattr(source_module, "encoding_hint", guessed.append)
    problems = [line.problem for line in Source(io.BytesIO(b"\xff\n" * 9)).lines()]
    assert all("iconv" in str(problem) for problem in problems)
    assert len(guessed) == 1


def test_a_long_line_of_open_brackets_is_one_problem():
    [problem] = collect("(" * MILLION, "penn").tally.problems
    assert (problem.line, problem.column) == (1, MILLION)


def repeated_mentions(n):
    """Return mentions of two concepts in one sentence, each the whole text."""
    lines = [f"1\t0\t1\ta\tGene\t{number % 2}\n" for number in range(n)]
    return "".join(["1|t|a\n", *lines, "1\tBind\t0\t1\n"])


def test_relations_between_concepts_have_a_bound():
    [problem] = collect(repeated_mentions(2000), "pubtator").tally.problems
    assert "more than 100,000 pairs of mentions" in problem.problem


def test_mentions_that_claim_to_be_the_whole_text_take_linear_time():
    text = "a" * MILLION
    lines = [f"1\t0\t{MILLION}\ta\tGene\t-\n"] * 20_000
    [problem] = collect("".join([f"1|t|{text}\n", *lines]), "pubtator").tally.problems
    assert problem.line == 2


@pytest.mark.parametrize("mark", ["|", ";", ",", "1|"])
def test_many_separators_of_ids_take_linear_time(mark):
    text = f"1|t|a\n1\t0\t1\ta\tGene\t{mark * 200_000}\n"
    assert len(collect(text, "pubtator")) == 1


def test_annotations_without_a_text_are_not_copied():
    part = f'{{"id":"","locations":[{{"offset":0,"length":{MILLION}}}]}}'
    passage = f'{{"offset":0,"text":"{"a" * MILLION}","annotations":[{",".join([part] * 20_000)}]}}'
    [example] = collect(f'{{"id":"1","passages":[{passage}]}}', "bioc-json")
    assert len(example.view("document").entities) == 20_000


def test_a_chain_of_events_takes_linear_time():
    nodes = '<node refid="a" role="Trigger"/><node refid="{}" role="x"/>'
    chain = "".join(
        f'<relation id="r{n}">{nodes.format(f"r{n + 1}")}</relation>' for n in range(20_000)
    )
    last = '<relation id="r20000"><node refid="a" role="x"/></relation>'
    text = (
        f"<collection><document><id>1</id><annotation id='a'/>{chain}{last}</document></collection>"
    )
    examples = collect(text, "bioc")
    assert examples.tally.remarks == {"relation of relations left out": 20_000}


def test_nested_elements_of_a_document_do_not_overflow():
    deep = "<x>" * 50_000 + "</x>" * 50_000
    assert (
        len(collect(f"<collection><document><id>1</id>{deep}</document></collection>", "bioc")) == 1
    )
    text = f"<passage><offset>0</offset><text>{deep}Raf</text></passage>"
    [example] = collect(f"<collection><document><id>1</id>{text}</document></collection>", "bioc")
    assert example.view("document").text == "Raf"
