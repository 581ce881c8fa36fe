"""Readers refuse a part of a file before it takes more memory than the limits allow."""

from __future__ import annotations

import gzip
import io
import json
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hostile_files import REPEATED, TWICE, hostile_file, hostile_names
from measured_reading import BINARY, CLAIMS
from processes import PATIENCE, start_python

import kernelwood.io.mentions as mentions_module
import kernelwood.io.streams as streams_module
import kernelwood.structures.brackets as brackets_module
from kernelwood.errors import KernelwoodError, ReadError, StructureError
from kernelwood.io import FORMATS, LimitError, Limits, Source, iter_read, read, read_claims
from kernelwood.io.formats.standoff import read_standoff
from kernelwood.io.formats.table import find_format
from kernelwood.structures import iter_brackets

SMALL = Limits(memory=200_000)


def collect(data, form, limits=SMALL):
    text = data.encode() if isinstance(data, str) else data
    return read(io.BytesIO(text), form, "collect", limits=limits)


# Brackets.


@pytest.mark.parametrize("errors", ["raise", "collect"])
def test_a_few_kilobytes_of_open_brackets_are_refused(errors, monkeypatch):
    monkeypatch.setattr(streams_module, "_BROKEN_LIMIT", 1000)
    packed = gzip.compress(b"(a\n" * 3_000_000)
    assert len(packed) < 10_000
    stream = iter_read(io.BytesIO(packed), "penn", errors, limits=Limits(memory=1 << 20))
    with pytest.raises(ReadError, match=r"bracket is never closed|1,001 parts are broken"):
        list(stream)
    assert all(problem.line < 2000 for problem in stream.tally.problems)


def test_the_ratio_is_checked_from_one_mebibyte_on():
    large, small = (gzip.compress(b"a" * size) for size in (1_200_000, 1_000_000))
    with pytest.raises(ReadError, match="more than 300 times as much"):
        read(io.BytesIO(large), "text")
    assert len(read(io.BytesIO(small), "text")) == 1


def test_brackets_are_refused_before_many_are_held():
    given = []

    def lines():
        for number in range(100_000):
            given.append(number)
            yield "(a"

    with pytest.raises(StructureError, match="more than 1,000,000 bytes of memory") as found:
        list(iter_brackets(lines(), memory=1_000_000))
    assert found.value.line == 1
    assert len(given) <= 2000


def test_a_long_line_of_brackets_is_refused_before_it_is_read():
    with pytest.raises(StructureError, match="of memory"):
        list(iter_brackets("(" * 10_000, memory=1_000_000))


def test_the_lines_of_a_large_tree_are_passed_over_once():
    class Lines(list):
        n_passed = 0

        def __iter__(self):
            self.n_passed += len(self)
            return super().__iter__()

    reader = brackets_module._Reader(memory=10**9)
    reader._lines = lines = Lines()
    for number in range(5000):
        reader.feed(number, "(a")
    assert lines.n_passed == 0
    assert reader._n_counted == 5000


def test_the_memory_of_a_tree_is_free_for_the_next():
    tree = "(S\n (NP we)\n (VP go))\n"
    assert sum(1 for _ in iter_brackets(tree * 1000, memory=5000)) == 1000


def test_blanks_and_words_of_a_large_tree_are_not_taken_for_brackets():
    long = "(S " + "b" * 30_000 + " " * 30_000 + ")"
    assert sum(1 for _ in iter_brackets([long, *["(A x)"] * 3], memory=100_000)) == 4


def test_trees_after_one_that_is_too_large_are_read():
    found = collect("(S x)\n(B\n" + " (b\n" * 2000 + "(S y)\n", "penn")
    assert [example.origin.line for example in found] == [1, 2003]
    assert "of memory" in found.tally.problems[0].problem


# Lines and columns.

BLOCKS = {
    "conllu": ("1\ta\t_\t_\t_\t_\t0\tx\t_\t_\n", "\n"),
    "srl": ("0\tw\tN\t*\t-\t-\n", "\n"),
    "penman": ("(a / b)\n", "\n"),
    "semeval": ('1\t"<e1>a</e1> <e2>b</e2>"\nOther\n', "\n"),
    "pubtator": ("1|t|a\n", "\n"),
    "medline": ("PMID- 1\nTI  - a\n", "\n"),
    "kelp": ("a |BS:t| b |ES|\n", ""),
    "jsonl": ('{"views":{}}\n', ""),
    "records": ('{"text":"a"}\n', ""),
}
LARGE = {
    "conllu": "2\t" + "a\t" * 5000,
    "srl": "0\tw\tN\t" + "(a" * 5000 + "*\t-\t-",
    "penman": "(a / b\n" + " :c (d\n" * 1000,
    "semeval": '2\t"' + " <" * 5000 + '"',
    "pubtator": "2|t|a\n2|a|b\n" + "2\t0\t1\ta\tG\t-\n" * 1000,
    "medline": "PMID- 2\n" + "AB  - a\n" * 1000,
    "kelp": "a |BT:t| " + "(a" * 5000 + " |ET|",
    "jsonl": '{"views":{"a":[' + "[]," * 5000 + "[]]}}",
    "records": '{"text":"a","b":[' + "{}," * 5000 + "{}]}",
}


@pytest.mark.parametrize("form", BLOCKS)
def test_a_part_that_is_too_large_is_left_out(form):
    good, end = BLOCKS[form]
    other = good.replace("1", "3", 1) if form in ("pubtator", "medline", "semeval") else good
    found = collect(f"{good}{end}{LARGE[form]}\n{end}{other}{end}", form)
    assert len(found) == 2
    [problem] = found.tally.problems
    assert "would take more than" in problem.problem and "of memory" in problem.problem
    assert problem.line == good.count("\n") + len(end) + 1
    assert "limits=Limits(memory=...)" in problem.hint


@pytest.mark.parametrize("form", BLOCKS)
def test_the_same_part_is_not_too_large_for_the_default(form):
    for problem in collect(f"{LARGE[form]}\n", form, Limits()).tally.problems:
        assert "of memory" not in problem.problem


def test_elements_of_an_array_are_weighed():
    large = '{"text":"a","b":[' + "{}," * 30_000 + "{}]}"
    found = collect(f'[{{"text":"a"}},{large},{{"text":"b"}}]', "records")
    assert [example.view("document").text for example in found] == ["a", "b"]
    assert "of memory" in found.tally.problems[0].problem


@pytest.mark.parametrize(
    ("form", "before", "piece", "after"),
    [
        ("bioc", "<collection><document><id>1</id>", "<annotation/>", "</document></collection>"),
        (
            "ppi",
            '<corpus><document><sentence id="s" text="a">',
            "<entity/>",
            "</sentence></document></corpus>",
        ),
        ("jats", "<article><body><sec><p>a", "<b/>", "</p></sec></body></article>"),
    ],
)
def test_elements_are_weighed(form, before, piece, after):
    problems = collect(before + piece * 20_000 + after, form).tally.problems
    assert "would take more than" in problems[0].problem


def test_fields_of_a_record_are_weighed():
    found = collect("id,text\n1,a\n2,b" + ",c" * 5000 + "\n3,d\n", "csv")
    assert [example.id for example in found] == ["1", "3"]
    assert "of memory" in found.tally.problems[0].problem


def test_annotations_of_a_document_are_weighed():
    from kernelwood.io.containers.limits import Meter

    text = Source(io.BytesIO(b"Raf"), meter=Meter(SMALL))
    lines = "".join(f"T{number}\tA 0 3\tRaf\n" for number in range(1000))
    annotation = Source(io.BytesIO(lines.encode()), meter=Meter(SMALL))
    [problem] = read_standoff({".txt": text, ".ann": annotation})
    assert isinstance(problem, ReadError) and "of memory" in problem.problem


def test_rows_of_a_table_of_entities_are_weighed():
    from kernelwood.io.containers.limits import Meter

    files = {
        "_abstracts.tsv": b"27\tRaf\tIt binds.\n",
        "_entities.tsv": b"27\tT1\tG\t0\t3\tRaf\n" * 1000,
    }
    sources = {key: Source(io.BytesIO(files[key]), meter=Meter(SMALL)) for key in files}
    with pytest.raises(ReadError, match="of memory"):
        list(find_format("chemprot").read(sources, None))


@pytest.mark.parametrize("text", ["a" * 20_000, "a"])
def test_texts_that_a_table_stores_once_count_each_time(text):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pyarrow.table({"text": [text] * 30_000}), out, compression="zstd")
    assert len(out.getvalue()) < 2000
    stream = iter_read(io.BytesIO(out.getvalue()), "parquet", "collect")
    n_read = sum(1 for _ in stream)
    assert n_read < 25_000
    assert "more than 300 times as much" in stream.tally.problems[0].problem


# Long documents that are not hostile.

WORDS = "Raf (a kinase) binds Ras, and the two leave the membrane. "
LONG_TEXT = WORDS * 52_000  # 3 MB
SECTION = f"<sec><title>A</title><p>{WORDS * 20}</p></sec>"
LONG = {
    "jats": f"<article><body>{SECTION * 2600}</body></article>",
    "text": LONG_TEXT,
    "records": json.dumps({"text": LONG_TEXT * 3}) + "\n",
    "jsonl": json.dumps({"views": {"v": [0.125] * 500_000}}) + "\n",
    "csv": f'text\n"{LONG_TEXT}"\n',
    "pubtator": f"1|t|A\n1|a|{LONG_TEXT}\n" + "1\t2\t5\tRaf\tGene\t1\n" * 10_000,
    "bioc-json": json.dumps(
        {
            "id": "1",
            "passages": [{"offset": 0, "text": LONG_TEXT, "annotations": []}],
        }
    ),
    "medline": "PMID- 1\nAB  - " + WORDS * 30_000 + "\n",
    "conllu": "".join(f"{n}\tRaf\tRaf\tPROPN\tNN\t_\t0\troot\t_\t_\n" for n in range(1, 50_000)),
}


@pytest.mark.parametrize("form", LONG)
def test_long_documents_are_read_with_the_default_limits(form):
    data = LONG[form].encode()
    assert len(data) > 1_600_000
    if form == "text":
        found = list(find_format(form).read({".txt": Source(io.BytesIO(data))}, None))
    else:
        found = read(io.BytesIO(data), form)
    assert len(found) == 1


def test_claims_have_limits():
    line = '{"text":"' + "a " * 3000 + '","relations":[["a","x","b"]]}\n'
    assert len(read_claims(io.StringIO(line), "skip", format="triples")) == 1
    found = read_claims(io.StringIO(line), "collect", format="triples", limits=SMALL)
    assert "of memory" in found.tally.problems[0].problem


# Floods of broken parts.


def test_reading_ends_when_nearly_everything_is_broken(monkeypatch):
    monkeypatch.setattr(streams_module, "_BROKEN_LIMIT", 1000)
    stream = iter_read(io.BytesIO(b"|\n" * 5000), "kelp", "collect")
    with pytest.raises(LimitError, match="1,001 parts are broken and 0 are not"):
        list(stream)


def test_reading_goes_on_while_some_parts_are_good(monkeypatch):
    monkeypatch.setattr(streams_module, "_BROKEN_LIMIT", 10)
    text = ("a |BS:t| b |ES|\n" + "|\n" * 9) * 5
    assert len(read(io.BytesIO(text.encode()), "kelp", "skip")) == 5


# Recognition by content.


@pytest.mark.parametrize("piece", [" ", "\n", "\n\t", "<!---->", '\\"', '"\\', "a ", "<?a>"])
@pytest.mark.parametrize("start", ["", "<!--", '{"', '{"a":"', "<a "])
def test_a_format_is_recognized_in_linear_time(piece, start):
    # A million characters: work that grows with their square would take hours.
    head = (start + piece * (1_000_000 // len(piece)))[:1_000_000]
    for row in FORMATS:
        row.sniff(head)


# Claims.


def claims(text, form):
    return read_claims(io.BytesIO(text.encode()), "collect", format=form)


def test_statements_of_very_many_pairs_are_refused():
    member = '{"name":"A"}'
    for n_members, n_problems in ((10, 0), (11, 1)):
        members = ",".join([member] * n_members)
        text = f'[{{"type":"Complex","members":[{members}],"evidence":[{{"text":"A"}}]}}]'
        assert len(claims(text, "indra").tally.problems) == n_problems


def test_long_evidence_has_room_for_more_pairs():
    members = ",".join(f'{{"name":"A{number}"}}' for number in range(20))
    said = " ".join(f"A{number}" for number in range(20)) + " bind each other" * 100
    text = f'[{{"type":"Complex","members":[{members}],"evidence":[{{"text":"{said}"}}]}}]'
    assert len(claims(text, "indra")) == 190


def test_the_search_for_mentions_has_a_bound(monkeypatch):
    monkeypatch.setattr(mentions_module, "_MOST_WORK", 100_000)
    few = '{"text":"a b","relations":[["a","x","b"]]}\n'
    rows = ",".join(f'["a","x{number}","b"]' for number in range(1000))
    found = claims(f'{few}{{"text":"{"a b " * 1000}","relations":[{rows}]}}\n', "triples")
    assert len(found) == 1
    assert "too many mentions" in found.tally.problems[0].problem


# All formats.


def test_every_format_has_hostile_files():
    assert {row.name for row in FORMATS} | {*CLAIMS, "archives"} == {*REPEATED, *BINARY}
    assert set(TWICE) <= set(REPEATED)


@pytest.mark.parametrize("size", [3000, pytest.param(300_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("form", [row.name for row in FORMATS if not row.companions])
def test_hostile_files_give_results_or_errors_of_ours(form, size):
    for name in hostile_names(form):
        data = hostile_file(form, name, size)
        for limits in (Limits(), Limits(memory=20_000)):
            with suppress(KernelwoodError):
                collect(data, form, limits)


@pytest.mark.parametrize("size", [3000, pytest.param(300_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("form", CLAIMS)
def test_hostile_claims_give_results_or_errors_of_ours(form, size):
    for name in hostile_names(form):
        data = hostile_file(form, name, size)
        with suppress(KernelwoodError):
            read_claims(io.BytesIO(data), "collect", format=form)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as on Linux")
@pytest.mark.parametrize("form", [*REPEATED, *BINARY, "texts"])
def test_a_megabyte_costs_5_seconds_and_300_megabytes_at_most(form):
    # CPU time does not count the time in which other processes run. Those that share a core and its
    # caches still slow it down, and so does an older machine; the margin is for them.
    program = Path(__file__).with_name("measured_reading.py")
    process = start_python(program, form)
    shown, errors = process.communicate(timeout=4 * PATIENCE)
    rows = [json.loads(line) for line in shown.splitlines()]
    assert process.returncode == 0 and rows, errors
    for row in rows:
        assert row["outcome"] in ("read", "refused"), row
        megabytes = max(1, row["unpacked"] / 1_000_000)
        assert row["cpu"] < 5 * megabytes and row["mb"] < 300 * megabytes, row
