"""What a wrong file, or a wrong name, is told."""

from __future__ import annotations

import gzip
import io
import os

import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.errors import ReadError
from kernelwood.io import Limits, iter_read, read, write
from kernelwood.io.source import encoding_hint

ROWS = "1|we|we|PRON|_|_|2|nsubj|_|_\n2|go|go|VERB|_|_|0|root|_|_\n\n".replace("|", "\t")
TREES = "(S (NP we) (VP go))\n"


def problem_of(path, **options):
    with pytest.raises(ReadError) as caught:
        read(path, **options)
    return caught.value


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize(("name", "text"), [("a.conllu", ROWS), ("a.mrg", TREES), ("a", TREES)])
def test_text_in_wide_characters_is_recognized(tmp_path, encoding, name, text):
    (tmp_path / name).write_bytes(text.encode(encoding))
    found = problem_of(tmp_path / name)
    wanted = encoding.upper().replace("16-", "16")
    assert f"seems to be in {wanted}; convert it with iconv -f {wanted}" in str(found)


@pytest.mark.parametrize("name", ["a.conllu", "a.mrg", "a.jsonl", "a"])
def test_binary_data_are_recognized(tmp_path, name):
    (tmp_path / name).write_bytes(bytes(range(256)) * 20)
    assert "binary data" in str(problem_of(tmp_path / name))


def test_latin_1_is_told_how_to_be_converted(tmp_path):
    (tmp_path / "a.mrg").write_bytes("(S (NN Öl))".encode("latin-1"))
    assert "iconv -f LATIN1 -t UTF-8" in problem_of(tmp_path / "a.mrg").hint


@given(st.text(min_size=1))
def test_ordinary_text_raises_no_suspicion(text):
    printable = "".join(letter for letter in text if letter.isprintable())
    assert encoding_hint(printable.encode()) is None


@pytest.mark.parametrize("format", ["penn", "srl", "penman", "ppi", "semeval", "kelp", "jsonl"])
def test_a_wrong_format_is_told_what_it_looks_like(format):
    found = problem_of(io.StringIO(ROWS), format=format)
    assert found.hint == (f"this does not look like {format} but like conllu; give format='conllu'")


def test_a_wrong_suffix_is_told_what_it_looks_like_and_where(tmp_path):
    (tmp_path / "a.conllu").write_text(TREES)
    found = problem_of(tmp_path)
    assert (found.path, found.line) == (str(tmp_path / "a.conllu"), 1)
    assert "format='penn'" in found.hint


def test_an_error_further_down_keeps_its_own_hint():
    found = problem_of(io.StringIO(TREES + ROWS), format="penn")
    assert (found.line, "look" in found.hint) == (2, False)


def test_an_error_of_the_right_format_keeps_its_own_hint():
    assert "look" not in problem_of(io.StringIO("(S (NP we)"), format="penn").hint


def test_limits_of_unpacking_are_not_mistaken_for_a_wrong_format(tmp_path):
    (tmp_path / "a.mrg.gz").write_bytes(gzip.compress(bytes(80 << 20)))
    found = problem_of(tmp_path / "a.mrg.gz", limits=Limits(ratio=2))
    assert "limits=Limits(ratio=...)" in found.hint


def test_an_empty_folder_is_not_told_about_suffixes(tmp_path):
    assert "hidden files" in problem_of(tmp_path).hint


def test_a_glob_that_fits_nothing_is_told_how_globs_work(tmp_path):
    (tmp_path / "a.mrg").write_text(TREES)
    assert "* matches any" in problem_of(tmp_path, only="b*").hint


def test_a_link_to_itself_is_passed_over(tmp_path):
    (tmp_path / "a.mrg").write_text(TREES)
    (tmp_path / "b.mrg").symlink_to("b.mrg")
    examples = read(tmp_path)
    assert (len(examples), examples.tally.ignored) == (1, ("b.mrg",))


@pytest.mark.parametrize("name", ["out.mrg", "out"])
def test_a_missing_folder_is_named_and_no_temporary_file(tmp_path, name):
    examples = [kw.Example("a", views={"sentence": kw.Sentence("we")})]
    target = tmp_path / "nowhere" / name
    with pytest.raises(FileNotFoundError, match="there is no such folder; make it first") as caught:
        write(examples, target, format="standoff" if name == "out" else "jsonl")
    assert caught.value.filename == str(tmp_path / "nowhere")


def test_a_link_into_a_missing_folder_is_named(tmp_path):
    (tmp_path / "out.mrg").symlink_to(tmp_path / "nowhere" / "out.mrg")
    with pytest.raises(FileNotFoundError) as caught:
        write([], tmp_path / "out.mrg")
    assert caught.value.filename == os.path.realpath(tmp_path / "nowhere")


def test_what_cannot_be_opened_has_the_name_the_user_gave(tmp_path, monkeypatch):
    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied", "hidden")

    with monkeypatch.context() as patch, pytest.raises(PermissionError) as caught:
        patch.setattr("os.open", refuse)
        write([], tmp_path / "out.mrg")
    assert caught.value.filename == str(tmp_path / "out.mrg")


def test_a_folder_is_no_file_to_write(tmp_path):
    with pytest.raises(IsADirectoryError, match="give the name of a file"):
        write([], tmp_path, format="penn")


@pytest.mark.parametrize("suffix", [".bz2", ".xz", ".zip", ".tar", ".tgz"])
def test_what_would_not_be_packed_is_not_named_so(tmp_path, suffix):
    with pytest.raises(ValueError, match=rf"\{suffix} files can be read, not written"):
        write([], tmp_path / f"out.mrg{suffix}", format="penn")


@pytest.fixture
def alike(tmp_path):
    for name in ("a", "b/a"):
        (tmp_path / f"{name}.conllu").parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.conllu").write_text("# sent_id = s1\n" + ROWS)
    (tmp_path / "c.mrg").write_text(TREES)
    (tmp_path / "d.ann").write_text("")
    (tmp_path / "d.txt").write_text("Raf")
    return tmp_path


def test_ids_can_be_qualified_by_the_paths_of_files(alike):
    found = [example.id for example in read(alike, qualify_ids=True)]
    assert found == ["a:s1", "b/a:s1", "c:1", "d"]


def test_ids_are_left_alone_otherwise(alike):
    assert [example.id for example in iter_read(alike)] == ["s1", "s1", "c:1", "d"]


def test_qualified_examples_are_otherwise_the_same(alike):
    for before, after in zip(read(alike), read(alike, qualify_ids=True), strict=True):
        assert (before.views, before.label, before.origin) == (
            after.views,
            after.label,
            after.origin,
        )


def test_ids_of_one_file_stay_as_they_are(alike):
    assert read(alike / "a.conllu", qualify_ids=True)[0].id == "s1"


def test_an_empty_path_is_not_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "a.mrg").write_text(TREES)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        read("")


@pytest.mark.parametrize("text", [TREES, TREES.strip(), ROWS, TREES * 500, "(S \0)", "a\0b"])
def test_a_text_is_no_path(text):
    with pytest.raises(ValueError, match=r"give io\.StringIO\(text\)"):
        read(text)


def test_an_address_is_no_path():
    with pytest.raises(ValueError, match="fetch the file first"):
        read("https://localhost/a.mrg")


def test_a_missing_file_is_named_as_it_was_given():
    with pytest.raises(FileNotFoundError) as caught:
        read("./none.mrg")
    assert caught.value.filename == "./none.mrg"


def test_a_format_in_capitals_is_understood_as_a_slip():
    with pytest.raises(ValueError, match="did you mean 'kelp'"):
        read(io.StringIO(TREES), format="KELP")


@pytest.mark.parametrize("format", ["penn", "jsonl", "standoff"])
def test_structures_are_no_examples(tmp_path, format):
    with pytest.raises(TypeError, match=r"expected examples, got Tree; make one with"):
        write([kw.Tree("a")], tmp_path / "out", format=format)
    assert list(tmp_path.iterdir()) == []


def test_one_example_is_not_several(tmp_path):
    with pytest.raises(TypeError, match="put it into a list"):
        write(kw.Example("a"), tmp_path / "out.jsonl")
