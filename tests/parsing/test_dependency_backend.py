"""Raw text to parsed sentences with the bundled dependency parser, and its file."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from parsing.test_transitions import TREEBANK
from work import count_calls

import kernelwood as kw
from kernelwood.errors import KernelInputError, ModelFormatError
from kernelwood.parsing import analyze, bundled, load_backend
from kernelwood.parsing.bundled import (
    PARSERS,
    load_dependency_parser,
    read_dependency_parser,
    write_dependency_parser,
)
from kernelwood.parsing.dependency_backend import DependencyBackend
from kernelwood.parsing.dependency_parser import DependencyParser
from kernelwood.parsing.units import parse_inside
from kernelwood.text import ROOT, Document, Entity, Sentence

TEXT = (
    "The IL-2-induced p50/p65 complex (20%) binds DNA in vivo. "
    "Raf-1 phosphorylates MEK1, and MEK2 is activated by CD4(+) cells.\n\n"
    "Ras was not found [3]."
)


@pytest.fixture(scope="module")
def backend():
    return DependencyBackend()


@pytest.fixture(scope="module")
def document():
    names = ("IL-2", "p50", "p65", "Raf-1", "MEK1", "Ras")
    spans = [(TEXT.index(name), TEXT.index(name) + len(name)) for name in names]
    rows = zip(names, spans, strict=True)
    return Document(TEXT, [Entity(f"T{i}", "P", (span,), n) for i, (n, span) in enumerate(rows)])


def is_tree(sentence):
    heads = {edge.dependent: edge.head for edge in sentence.dependencies}
    assert sorted(heads) == list(range(len(sentence.tokens)))
    assert sum(head == ROOT for head in heads.values()) == (1 if heads else 0)
    for word in heads:
        seen = set()
        while word != ROOT:
            assert word not in seen
            seen.add(word)
            word = heads[word]
    return True


def test_relations_of_a_plain_sentence(backend):
    [sentence] = backend.parse([Sentence("ERK is activated by MEK.")])
    assert [tuple(edge) for edge in sentence.dependencies] == [
        (2, "nsubjpass", 0), (2, "auxpass", 1), (-1, "root", 2), (2, "prep", 3), (3, "pobj", 4),
        (2, "punct", 5),
    ]  # fmt: skip
    assert sentence.tree is None


def test_tokens_are_those_of_the_grammar_backend(backend, document):
    ours, theirs = (analyze(b, [document])[0] for b in (backend, load_backend("biomedical")))
    for one, other in zip(ours, theirs, strict=True):
        assert [t[:3] for t in one.tokens] == [t[:3] for t in other.tokens]
        assert one.entities == other.entities and one.start == other.start
        for a, b in zip(one.tokens, other.tokens, strict=True):
            assert a.tag != b.tag or a.lemma == b.lemma


def test_a_word_that_an_entity_cuts_is_parsed_as_one(backend):
    text = "the IL-2-induced binding"
    [whole] = backend.parse([Sentence(text)])
    [cut] = backend.parse([Sentence(text, entities=[Entity("T1", "P", ((4, 8),))])])
    assert [token.text for token in cut.tokens] == ["the", "IL-2", "-", "induced", "binding"]
    assert whole.dependencies[1][:2] == (2, "amod") and cut.dependencies[3][:2] == (4, "amod")
    assert {edge.head for edge in cut.dependencies[1:3]} == {3}


@pytest.mark.parametrize("tag", ["NN", "JJ", "VBN", "VBD", "CD", "RB", "CC", "IN", "-LRB-", "X"])
def test_the_words_of_a_unit_have_one_head(tag):
    for texts in (["a", "-", "b"], ["-", "-"], ["1", "/", "2"], ["p", "50", "/"], ["-", "b"]):
        inside = parse_inside(tag, texts)
        assert len(inside.tags) == len(inside.edges) == len(texts)
        assert [e.dependent for e in inside.edges] == list(range(len(texts)))
        assert [e.head for e in inside.edges].count(ROOT) == 1
        assert inside.edges[inside.head].head == ROOT


@settings(max_examples=60)
@given(st.lists(st.text("ab1-/().,;é\ud800 \n\u0301…'", max_size=60), max_size=5), st.data())
def test_every_text_gets_a_tree(texts, data):
    backend = DependencyBackend()
    sentences = []
    for text in texts:
        places = st.integers(0, len(text))
        begin, end = sorted(data.draw(st.tuples(places, places)))
        entities = [Entity("T1", "P", ((begin, end),))] if begin < end else []
        sentences.append(Sentence(text, entities=entities))
    for sentence, parsed in zip(sentences, backend.parse(sentences), strict=True):
        assert parsed.text == sentence.text and is_tree(parsed)


def test_given_tokens_are_kept_even_odd_ones(backend):
    given = Sentence.from_words(["New York", "a\nb", "(", "", "x"])
    [parsed] = backend.parse([given])
    assert [t[:3] for t in parsed.tokens] == [t[:3] for t in given.tokens] and is_tree(parsed)


def test_a_tree_that_was_given_does_not_stay_beside_other_dependencies(backend):
    given = Sentence.from_tree(kw.Tree.from_brackets("(S (NP (NN rain)) (VP (VBZ falls)))"))
    assert backend.parse([given])[0].tree is None


def test_long_and_empty_sentences(backend):
    long, empty = backend.parse([Sentence("rain falls " * 500), Sentence("")])
    assert len(long.tokens) == 1000 and is_tree(long)
    assert empty.tokens == () and empty.dependencies == ()
    assert backend.parse([]) == []


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_parses_do_not_depend_on_the_batch_or_on_threads(document, n_jobs):
    [sentences] = [document.sentences()]
    many = [*sentences] * 120
    backend = DependencyBackend(n_jobs=n_jobs)
    alone = [backend.parse([sentence])[0] for sentence in sentences]
    assert backend.parse(many) == alone * 120


def test_sentences_of_a_batch_are_one_native_call(backend, document):
    sentences = [*document.sentences()] * 10
    [n] = count_calls(lambda: backend.parse(sentences), DependencyParser.parse_numbers)
    assert n == 1


# The file.


@pytest.fixture(scope="module")
def parser():
    return DependencyParser().fit(TREEBANK)


def as_bytes(parser):
    out = io.BytesIO()
    write_dependency_parser(parser, out)
    return out.getvalue()


def changed(content, **arrays):
    """Return a file with arrays replaced, or left out where they are None."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            name = info.filename.removesuffix(".npy")
            if name not in arrays:
                new.writestr(info.filename, old.read(info))
            elif arrays[name] is not None:
                with new.open(info.filename, "w") as member:
                    np.lib.format.write_array(member, arrays[name])
    return out.getvalue()


def test_a_parser_comes_back_from_its_file(parser):
    written = as_bytes(parser)
    back = read_dependency_parser(io.BytesIO(written))
    words = [one.words for one in TREEBANK]
    assert back.parse_batch(words) == parser.parse_batch(words)
    assert as_bytes(back) == written


def lines(text):
    return np.frombuffer(text.encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    "arrays",
    [
        {"header": None},
        {"header": lines("[]")},
        {"header": lines('{"format": 1}')},
        {"header": lines('{"format": 1, "kind": "grammar"}')},
        {"header": lines('{"format": 7, "kind": "dependencies"}')},
        {"tags": None},
        {"tags": lines("NN\nNN")},
        {"relations": lines("")},
        {"relations": lines("\n".join(map(str, range(5000))))},
        {"words": lines("b\na")},
        {"tag_weights": None},
        {"tag_weights": np.zeros(2**20, dtype=np.int16)},
        {"tag_weights": np.zeros(3, dtype=np.int8)},
        {"tag_weights": np.zeros((2, 2), dtype=np.int8)},
        {"head_weights": np.zeros(0, dtype=np.int8)},
        {"head_weights": np.zeros(2, dtype=np.int8)},
        {"relation_weights": np.zeros(100, dtype=np.int8)},
    ],
)
def test_damaged_files_are_refused(parser, arrays):
    with pytest.raises(ModelFormatError):
        read_dependency_parser(io.BytesIO(changed(as_bytes(parser), **arrays)))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no zip at all"])
def test_what_is_no_file_of_a_parser_is_refused(content):
    with pytest.raises(ModelFormatError, match="not the file of a dependency parser"):
        read_dependency_parser(io.BytesIO(content))


@pytest.mark.parametrize("name", PARSERS)
def test_bundled_parsers_are_small(name):
    assert (bundled._FOLDER / f"{name}.npz").stat().st_size <= 3_000_000


def test_bundled_parsers_are_read_once():
    bundled._read_bundled_parser.cache_clear()
    [n] = count_calls(lambda: [DependencyBackend(), DependencyBackend()], read_dependency_parser)
    assert n == 1


def test_an_unknown_parser_is_refused_with_those_there_are():
    with pytest.raises(KernelInputError, match=r"'klingon'\n.*biomedical-dependencies"):
        load_dependency_parser("klingon")
