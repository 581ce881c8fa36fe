from __future__ import annotations

import json
import zipfile

import pytest
from click.testing import CliRunner

import kernelwood as kw
from kernelwood.cli import main
from kernelwood.errors import StructureError
from kernelwood.io import Format, fit_to_format, read, write
from kernelwood.io.formats import penn, table

TREES = "(S (NP (PRP we)) (VP (VBP go)))\n(S (NP (PRP they)) (VP (VBP stay)))\n"
LINES = (
    "NUM |BT:a| (A(B)) |ET| |BS:text| how many |ES|\nLOC |BT:a| (A(C)) |ET| |BS:text| where |ES|\n"
)


def convert(*arguments, stdin=None):
    return CliRunner().invoke(main, ["convert", *map(str, arguments)], input=stdin)


@pytest.fixture
def trees(tmp_path):
    path = tmp_path / "in.mrg"
    path.write_text(TREES)
    return path


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "in.klp"
    path.write_text(LINES)
    return path


@pytest.fixture
def sentences(tmp_path):
    sentence = kw.Sentence.from_tree(
        kw.Tree.from_brackets("(S (NP (PRP we)) (VP (VBP go)))"),
        dependencies=[(1, "nsubj", 0), (-1, "root", 1)],
    )
    path = tmp_path / "in.jsonl"
    write([kw.Example("s1", views={"sentence": sentence})], path)
    return path


def test_suffixes_tell_the_formats(trees, tmp_path):
    assert convert(trees, tmp_path / "out.jsonl").exit_code == 0
    assert [dict(e.views) for e in read(tmp_path / "out.jsonl")] == [
        dict(e.views) for e in read(trees)
    ]


def test_formats_can_be_given(trees, tmp_path):
    assert convert(trees, tmp_path / "out.txt", "--from", "penn", "--to", "kelp").exit_code == 0
    assert len(read(tmp_path / "out.txt", format="kelp")) == 2


def test_dashes_are_the_standard_streams():
    result = convert("-", "-", "--to", "penn", stdin=LINES)
    assert result.stdout == "(A B)\n(A C)\n"


def test_a_reader_that_has_seen_enough_is_no_error_to_talk_about(trees, monkeypatch):
    def full(*arguments, **options):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("kernelwood.cli.convert.write", full)
    assert convert(trees, "-", "--to", "kelp").stderr == ""


def test_the_summary_goes_to_standard_error(trees, tmp_path):
    result = convert(trees, tmp_path / "out.klp")
    assert (result.stdout, result.stderr) == ("", "2 read, 2 written, 0 skipped\n")


def test_json_has_the_promised_keys(trees, tmp_path):
    result = convert(trees, tmp_path / "out.klp", "--json")
    assert json.loads(result.stdout) == {
        "format": "kelp", "read": 2, "written": 2, "skipped": 0,
        "reasons": {}, "dropped": {}, "remarks": {}, "files": 1, "ignored": [],
    }  # fmt: skip


def test_json_and_the_result_cannot_share_standard_output(trees):
    assert convert(trees, "-", "--to", "kelp", "--json").exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("out.xyz",),
        ("out.klp", "--from", "pen"),
        ("out.klp", "--to", "klp"),
        ("out.klp", "--only", "*.mrg"),
        ("out.klp", "--errors", "collect"),
        ("out.klp", "--view", "path"),
        ("in.mrg",),
        ("-", "--to", "standoff"),
    ],
)
def test_wrong_calls_exit_with_two(trees, arguments, monkeypatch):
    monkeypatch.chdir(trees.parent)
    assert convert("in.mrg", *arguments).exit_code == 2


def test_a_wrong_call_leaves_the_input(trees):
    convert(trees, trees)
    assert trees.read_text() == TREES


def test_a_missing_file_exits_with_one(tmp_path):
    result = convert(tmp_path / "nowhere.mrg", tmp_path / "out.klp")
    assert (result.exit_code, "No such file" in result.stderr) == (1, True)


def test_a_broken_part_exits_with_one_and_writes_nothing(tmp_path):
    (tmp_path / "in.mrg").write_text(TREES + "(S")
    result = convert(tmp_path / "in.mrg", tmp_path / "out.klp")
    assert (result.exit_code, "in.mrg:3:1" in result.stderr) == (1, True)
    assert not (tmp_path / "out.klp").exists()


def test_skipped_parts_are_counted_with_their_reasons(tmp_path):
    (tmp_path / "in.mrg").write_text(TREES + "(S")
    result = convert(tmp_path / "in.mrg", tmp_path / "out.klp", "--errors", "skip")
    assert result.stderr.splitlines() == [
        "2 read, 2 written, 1 skipped",
        "  reason: 1 × bracket is never closed",
    ]


def test_examples_a_format_cannot_hold_can_be_skipped(tmp_path):
    (tmp_path / "in.mrg").write_text('(S "two words")\n' + TREES)
    result = convert(tmp_path / "in.mrg", tmp_path / "out.klp", "--errors", "skip", "--json")
    report = json.loads(result.stdout)
    assert (report["read"], report["written"], report["skipped"]) == (3, 2, 1)
    assert len(read(tmp_path / "out.klp")) == 2


def test_ids_used_twice_can_be_skipped(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text('{"id": "same", "views": {"text": "x"}}\n')
    result = convert(tmp_path, tmp_path / "out.ndjson", "--errors", "skip", "--json")
    assert json.loads(result.stdout)["written"] == 1


def test_a_file_is_not_replaced_by_nothing(tmp_path, trees):
    (tmp_path / "out.amr").write_text("old")
    result = convert(trees, tmp_path / "out.klp", "--view", "nothing", "--errors", "skip")
    assert (result.exit_code, "nothing is left to write" in result.stderr) == (1, True)
    assert not (tmp_path / "out.klp").exists()


def test_an_empty_file_becomes_an_empty_file(tmp_path):
    (tmp_path / "in.mrg").write_text("")
    assert convert(tmp_path / "in.mrg", tmp_path / "out.klp").exit_code == 0
    assert (tmp_path / "out.klp").read_text() == ""


def test_archives_are_converted_and_what_is_ignored_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        for name in ("train/a.mrg", "test/b.mrg", "train/notes"):
            archive.writestr(name, TREES)
    result = convert(tmp_path / "in.zip", tmp_path / "out.jsonl", "--only", "train/*")
    assert result.stderr.splitlines() == [
        "2 read, 2 written, 0 skipped",
        "  1 file not read: train/notes",
    ]


def test_an_interrupted_run_leaves_nothing(tmp_path, trees, monkeypatch):
    def interrupted(source, views):
        yield from penn.read_penn(source, views)
        raise KeyboardInterrupt

    row = Format("stop", "", (".stop",), lambda head: False, interrupted)
    monkeypatch.setattr(table, "FORMATS", (*table.FORMATS, row))
    result = convert(trees, tmp_path / "out.klp", "--from", "stop")
    assert result.exit_code == 130
    assert [path.name for path in tmp_path.iterdir()] == ["in.mrg"]


def test_a_view_of_the_file_can_be_chosen(lines, tmp_path):
    convert(lines, tmp_path / "out.jsonl", "--view", "text")
    assert [dict(e.views) for e in read(tmp_path / "out.jsonl")] == [
        {"text": "how many"},
        {"text": "where"},
    ]


def test_a_view_can_be_made_of_sentences(sentences, tmp_path):
    result = convert(sentences, tmp_path / "out.klp", "--view", "words", "--view", "loct")
    assert result.exit_code == 0, result.stderr
    assert list(read(tmp_path / "out.klp")[0].views) == ["words", "loct"]


def test_a_view_nobody_has_names_the_nearest(lines, tmp_path):
    result = convert(lines, tmp_path / "out.jsonl", "--view", "texts")
    assert (result.exit_code, "'text'" in result.stderr) == (1, True)


@pytest.mark.parametrize("suffix", ["mrg", "conllu", "srl", "klp", "jsonl"])
def test_a_sentence_with_a_tree_fits_many_formats(sentences, tmp_path, suffix):
    result = convert(sentences, tmp_path / f"out.{suffix}")
    assert result.exit_code == 0, result.stderr
    assert len(read(tmp_path / f"out.{suffix}")) == 1


def test_a_tree_becomes_a_sentence(trees, tmp_path):
    assert convert(trees, tmp_path / "out.conllu").exit_code == 0
    assert read(tmp_path / "out.conllu")[0].view("sentence").words == ("we", "go")


GRAPH = kw.Graph({"b": "bind-01"}, [], "b")
TREE = kw.Tree("S", [kw.Tree("we")])
SENTENCE = kw.Sentence.from_words(["we"])


@pytest.mark.parametrize(
    ("format", "views", "problem"),
    [
        ("penn", {"text": "we"}, r"no tree: it has text \(text\)"),
        ("penn", {"sentence": SENTENCE}, "no tree"),
        ("penn", {"a": TREE, "b": TREE}, "several views of the kind Tree: a, b"),
        ("penman", {"sentence": SENTENCE, "tree": TREE}, "no graph"),
        ("conllu", {"graph": GRAPH}, "no sentence"),
        ("semeval", {"tree": TREE}, "no sentence"),
        ("standoff", {"v": (1.0,)}, r"no document: it has v \(vector\)"),
        ("kelp", {"sentence": SENTENCE}, "no view for KeLP"),
        ("kelp", {}, "it has no views"),
    ],
)
def test_what_does_not_fit_says_what_is_there(format, views, problem):
    with pytest.raises(StructureError, match=f"example 'x' has {problem}|{problem}"):
        fit_to_format(kw.Example("x", views=views), format)


@pytest.mark.parametrize(
    ("format", "views", "kept"),
    [
        ("penn", {"tree": TREE, "other": TREE}, ["tree"]),
        ("penn", {"parse": TREE, "text": "we"}, ["tree"]),
        ("penman", {"graph": GRAPH}, ["sentence"]),
        ("penman", {"sentence": SENTENCE.with_parts(amr=GRAPH)}, ["sentence"]),
        ("standoff", {"document": kw.Document("we"), "sentence": SENTENCE}, ["document"]),
        ("standoff", {"sentence": SENTENCE}, ["sentence"]),
        ("kelp", {"sentence": SENTENCE, "text": "we", "v": (1.0,)}, ["text", "v"]),
        ("jsonl", {"sentence": SENTENCE, "text": "we"}, ["sentence", "text"]),
    ],
)
def test_what_fits_is_kept(format, views, kept):
    made = fit_to_format(kw.Example("x", "LABEL", views), format)
    assert (made.label, list(made.views)) == ("LABEL", kept)
