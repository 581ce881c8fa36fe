"""Grammars that come with the package, and their files."""

from __future__ import annotations

import io
import zipfile

import pytest
from parsing.treebank_sample import TREEBANK
from work import count_calls

import kernelwood as kw
from kernelwood.errors import KernelInputError, ModelFormatError
from kernelwood.parsing import bundled, load_grammar
from kernelwood.parsing.bundled import GRAMMARS, read_grammar, write_grammar

SENTENCE = "she saw the dog with a kite .".split()


def as_bytes(parser: kw.ForestParser) -> bytes:
    out = io.BytesIO()
    write_grammar(parser, out)
    return out.getvalue()


@pytest.fixture(scope="module")
def parser() -> kw.ForestParser:
    return kw.ForestParser().fit(TREEBANK)


@pytest.mark.parametrize("name", GRAMMARS)
def test_every_bundled_grammar_parses(name):
    assert not load_grammar(name).parse("Raf binds Ras .".split()).fallback


@pytest.mark.parametrize("name", GRAMMARS)
def test_bundled_grammars_are_small(name):
    assert (bundled._FOLDER / f"{name}.npz").stat().st_size < 3_000_000


def test_bundled_grammars_are_read_once():
    bundled._read_bundled.cache_clear()
    [n_read] = count_calls(lambda: [load_grammar(), load_grammar()], read_grammar)
    assert n_read == 1


def test_the_native_chart_of_a_bundled_grammar_is_made_once():
    assert load_grammar()._chart() is load_grammar()._chart()


def test_an_unknown_grammar_is_refused_with_those_there_are():
    with pytest.raises(KernelInputError, match=r"no bundled grammar 'klingon'\n.*biomedical"):
        load_grammar("klingon")


def test_every_caller_gets_a_parser_of_their_own():
    first = load_grammar().set_params(max_length=3)
    assert load_grammar().max_length is None
    assert first.max_length == 3


def test_a_grammar_comes_back_from_its_file(parser):
    back = read_grammar(io.BytesIO(as_bytes(parser)))
    found, expected = back.parse(SENTENCE).best_tree(), parser.parse(SENTENCE).best_tree()
    assert found == expected
    assert back.get_params() == parser.get_params()


def test_a_grammar_written_again_has_the_same_bytes(parser):
    written = as_bytes(parser)
    assert as_bytes(read_grammar(io.BytesIO(written))) == written


def test_equal_treebanks_give_equal_bytes(parser):
    assert as_bytes(kw.ForestParser().fit(list(TREEBANK))) == as_bytes(parser)


def test_files_have_no_pickles_and_are_not_compressed(parser):
    with zipfile.ZipFile(io.BytesIO(as_bytes(parser))) as archive:
        infos = archive.infolist()
        assert {info.compress_type for info in infos} == {zipfile.ZIP_STORED}
        assert all(b"'O'" not in archive.read(info)[:128] for info in infos)


def without(content: bytes, name: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            if info.filename != name:
                new.writestr(info.filename, old.read(info))
    return out.getvalue()


@pytest.mark.parametrize("name", ["header.npy", "words.npy", "fine_binary.npy", "output.npy"])
def test_a_file_with_a_part_missing_is_refused(parser, name):
    with pytest.raises(ModelFormatError):
        read_grammar(io.BytesIO(without(as_bytes(parser), name)))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no zip at all"])
def test_what_is_no_grammar_is_refused(content):
    with pytest.raises(ModelFormatError, match="not a grammar file"):
        read_grammar(io.BytesIO(content))


def test_another_format_is_refused(parser, monkeypatch):
    monkeypatch.setattr(bundled, "_GRAMMAR_FORMAT", 99)
    newer = as_bytes(parser)
    monkeypatch.undo()
    with pytest.raises(ModelFormatError, match="format 99"):
        read_grammar(io.BytesIO(newer))
