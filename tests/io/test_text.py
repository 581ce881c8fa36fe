"""Tests of texts from files of any kind."""

from __future__ import annotations

import io
import zipfile

import pytest
from foreign import FOREIGN
from hypothesis import given, strategies as st

from kernelwood.errors import ReadError
from kernelwood.io import iter_texts, not_prose, read_texts

PROSE = {
    "plain": "Raf binds Ras.",
    "bracket": "(Raf) binds Ras (see Fig. 1).",
    "brackets": "(Raf (a kinase) binds Ras (a small protein) in most of the cells we saw).",
    "word in brackets": "( Text ) Crimean Supreme Soviet",
    "minus in brackets": "(-)-Epigallocatechin gallate inhibits EGFR.",
    "bracket in a bracket": "(Raf(wt)) binds Ras.",
    "closed bracket": "(A)",
    "reference": "[1] Raf binds Ras.",
    "less": "<0.05 was significant. Values < 3 and > 2 occurred.",
    "commas": "Raf, Ras and Mek are proteins.\nRaf, as we know, binds.\nRas, in turn, is small.\n",
    "commas and a word": "In this text, an abstract, we go on,\nand on, and on.\n",
    "one line of words": "text, abstract, title\n",
    "tabs": "Raf\tbinds Ras.\nMek does not.\n",
    "list": "- Raf\n- Ras\n",
    "dashes": "---\nRaf binds Ras: always.\n",
    "percent": "% of Raf that binds\n",
    "quoted": '"Raf binds Ras", she said.',
    "braces": "{Raf} binds Ras.",
    "at": "@home Raf binds Ras.",
    "number": "123|4 cells\n",
    "heading": "# Raf\n\nIt binds Ras.\n",
    "words": "Raf binds I\nRas binds O\nMek\n",
    "empty": "",
}


def texts(content, **options):
    data = content.encode() if isinstance(content, str) else content
    return read_texts(io.BytesIO(data), **options)


def bytes_of(content):
    return content.encode("latin-1" if content.startswith("ÿþ") else "utf-8")


@pytest.mark.parametrize("name", list(PROSE))
def test_prose_is_read_as_it_stands(name):
    [example] = texts(PROSE[name])
    assert example.view("document").text == PROSE[name]


def test_prose_in_folders_is_read_as_it_stands(tmp_path):
    for name in PROSE:
        (tmp_path / f"{name}.txt").write_text(PROSE[name])
    found = {example.id: example.view("document").text for example in read_texts(tmp_path)}
    assert found == PROSE


def test_prose_that_begins_with_a_bracket_has_its_annotation(tmp_path):
    (tmp_path / "a.txt").write_text("(-)-Raf binds.")
    (tmp_path / "a.ann").write_text("T1\tProtein 4 7\tRaf\n")
    for path in (tmp_path, tmp_path / "a.txt"):
        [example] = read_texts(path)
        assert len(example.view("document").entities) == 1


def test_trees_are_refused_with_advice(tmp_path):
    (tmp_path / "a.txt").write_text("(S (NP we) (VP go))\n(S (NP they) (VP stay))\n")
    for path in (tmp_path, tmp_path / "a.txt"):
        with pytest.raises(ReadError, match="a file of parse trees has no text") as caught:
            read_texts(path)
        assert "format='text'" in caught.value.hint


@pytest.mark.parametrize("name", list(FOREIGN))
@pytest.mark.parametrize("suffix", [".txt", "", ".dat"])
def test_what_is_not_prose_is_refused_with_advice(name, suffix, tmp_path):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(bytes_of(FOREIGN[name]))
    with pytest.raises(ReadError) as caught:
        read_texts(path)
    assert caught.value.hint
    assert caught.value.path == str(path)


@pytest.mark.parametrize(
    "name", ["HTML", "XML", "RTF", "PDF", "PostScript", "JSON", "RIS", "BibTeX", "LaTeX", "YAML",
             "CoNLL columns", "a table", "annotation", "not UTF-8"],
)  # fmt: skip
def test_the_message_names_what_it_is(name):
    with pytest.raises(ReadError, match=f"this is {name}"):
        texts(bytes_of(FOREIGN[name]))


@pytest.mark.parametrize("name", [name for name in FOREIGN if name != "not UTF-8"])
def test_the_format_text_reads_anything_as_prose(name):
    [example] = texts(FOREIGN[name], format="text")
    assert example.view("document").text == FOREIGN[name]


@given(
    st.lists(st.sampled_from(["Raf", "binds", "Ras.", "(see", "1)", ",", "a,", "\n", "<3", "p>"]))
)
def test_words_are_prose(words):
    assert not_prose(" ".join(words).encode()) is None


@given(st.binary(max_size=300))
def test_any_bytes_are_prose_or_not(data):
    assert not_prose(data) is None or len(not_prose(data)) == 2


@pytest.mark.parametrize(
    "mark", ["(", "<a b='c' ", "<!--", "@a{", "%\n", "a ", "a,", '{"', "---\na:"]
)
def test_recognition_takes_linear_time(mark):
    head = (mark * (1 << 14)).encode()[: 1 << 14]
    assert not_prose(head) is None or not_prose(head)[0]


def test_annotation_beside_a_text_is_read(tmp_path):
    (tmp_path / "a.txt").write_text("Raf binds.")
    (tmp_path / "a.ann").write_text("T1\tProtein 0 3\tRaf\n")
    assert len(read_texts(tmp_path / "a.txt")[0].view("document").entities) == 1
    assert not read_texts(tmp_path / "a.txt", "text")[0].view("document").entities


def test_annotated_folders_are_read_as_prose_if_asked_for(tmp_path):
    (tmp_path / "a.txt").write_text("Raf binds.")
    (tmp_path / "a.ann").write_text("T1\tProtein 0 3\tRaf\n")
    [example] = read_texts(tmp_path, "text")
    assert not example.view("document").entities


def test_several_paths_are_read_one_after_the_other(tmp_path):
    (tmp_path / "a.txt").write_text("Raf")
    (tmp_path / "b.csv").write_text("id,text\nr,Ras\n")
    stream = iter_texts([tmp_path / "a.txt", str(tmp_path / "b.csv")])
    assert [example.id for example in stream] == ["a", "r"]
    assert (stream.tally.read, stream.tally.files) == (2, 2)
    assert stream.position == stream.size


def test_a_missing_path_is_an_error_before_anything_is_read(tmp_path):
    (tmp_path / "a.txt").write_text("Raf")
    with pytest.raises(FileNotFoundError):
        iter_texts([tmp_path / "a.txt", tmp_path / "b.txt"])


def test_a_folder_may_mix_all_kinds(tmp_path):
    for name, content in {
        "a.txt": "Raf",
        "b.txt": "Ras",
        "b.ann": "T1\tProtein 0 3\tRas\n",
        "c.csv": "id,text\nr1,Mek\n",
        "d.jsonl": '{"id": "r2", "abstract": "Erk"}\n',
        "e.nbib": "PMID- 5\nTI  - Src\n",
        "terms.tsv": "Raf\tprotein\n",
        "README.md": "notes",
        "data.json": '{"text": "a setting"}',
    }.items():
        (tmp_path / name).write_text(content)
    examples = read_texts(tmp_path)
    assert [example.id for example in examples] == ["a", "b", "r1", "r2", "5"]
    assert examples.tally.ignored == ("README.md", "data.json", "terms.tsv")


def test_an_archive_of_texts_is_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x/a.txt", "Raf")
        archive.writestr("x/b.txt", "<html>")
    examples = read_texts(tmp_path / "a.zip", errors="collect")
    assert [example.id for example in examples] == ["x/a"]
    assert ["x/b.txt" in problem.path for problem in examples.tally.problems] == [True]


def test_office_documents_are_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", "<w:document/>")
    with pytest.raises(ReadError, match="this is an Office document, not text"):
        read_texts(tmp_path / "a.docx")


def test_a_refused_file_costs_no_other_if_errors_are_skipped(tmp_path):
    (tmp_path / "a.txt").write_text("<html>")
    (tmp_path / "b.txt").write_text("Raf")
    examples = read_texts([tmp_path / "a.txt", tmp_path / "b.txt"], errors="skip")
    assert [example.id for example in examples] == ["b"]
    assert examples.tally.reasons == {"this is HTML, not plain text": 1}


def test_names_must_be_unique(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("Raf")
    with pytest.raises(ReadError, match="two texts have the name 'a'"):
        read_texts([tmp_path / "x" / "a.txt", tmp_path / "y" / "a.txt"])
    assert [example.id for example in read_texts(tmp_path)] == ["x/a", "y/a"]


def test_a_sentence_is_a_text():
    [example] = texts("# sent_id = s\n1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n\n")
    assert example.view("sentence").text == "Go"


def test_the_text_among_other_views_is_a_document():
    [example] = texts('{"id": "a", "views": {"text": "Raf", "tree": {"tree": "(A B)"}}}\n')
    assert example.view("document").text == "Raf"


def test_examples_without_text_are_errors():
    with pytest.raises(ReadError, match="example 'stream:1' has no text; it has tree"):
        texts("(S (NP (PRP we)) (VP (VBP go)))", format="penn")


def test_options_reach_the_records():
    [example] = texts('{"a": "Raf", "b": "x"}', format="records", text_field="a", id_field="b")
    assert (example.id, example.view("document").text) == ("x", "Raf")


def test_an_unknown_option_is_refused():
    with pytest.raises(ValueError, match="did you mean 'text_field'"):
        iter_texts(io.StringIO("Raf"), text_feild="a")


def test_a_stream_may_be_left_early(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n1,Raf\n2,Ras\n")
    with iter_texts(tmp_path / "a.csv") as stream:
        assert next(stream).id == "1"
    assert list(stream) == []
