"""Parses of other tools joined with their documents."""

from __future__ import annotations

import pytest

from kernelwood.errors import KernelInputError, StructureError
from kernelwood.parsing import PreparsedBackend, analyze, preparsed
from kernelwood.text import ROOT, Document, Entity, Example, Sentence


def parse(words: str, document: str | None = None) -> Sentence:
    metadata = [("newdoc id", document)] if document else []
    return Sentence.from_words(words.split(), metadata=metadata)


def named(name: str, text: str) -> Example:
    return Example(name, views={"document": Document(text)})


def texts(found: list[list[Sentence]]) -> list[list[str]]:
    return [[sentence.text for sentence in sentences] for sentences in found]


def test_parses_are_joined_in_order():
    documents = [Document("Raf binds. Ras binds."), Document(""), Document("Raf binds.")]
    found = preparsed(documents, [parse("Raf binds ."), parse("Ras binds ."), parse("Raf binds .")])
    assert texts(found) == [["Raf binds.", "Ras binds."], [], ["Raf binds."]]


def test_parses_are_joined_by_the_names_of_documents():
    documents = [named("a", "Raf binds."), named("b", "Ras binds. It is.")]
    parses = [parse("Ras binds .", "b"), parse("It is ."), parse("Raf binds .", "a")]
    assert texts(preparsed(documents, parses)) == [["Raf binds."], ["Ras binds.", "It is."]]


def test_names_that_no_document_has_leave_the_order():
    parses = [parse("Raf binds .", "x"), parse("Ras binds .", "y")]
    found = preparsed([Document("Raf binds."), Document("Ras binds.")], parses)
    assert texts(found) == [["Raf binds."], ["Ras binds."]]


def test_sentences_get_the_annotation_of_their_document():
    document = Document("It is. Ras binds.", [Entity("T1", "P", ((7, 10),), "Ras")])
    [[_, second]] = preparsed([document], [parse("It is ."), parse("Ras binds .")])
    assert second.tokens_of(second.entities[0]) == (0,)
    assert second.start == 7


def test_examples_do_as_parses():
    example = Example("s1", views={"sentence": parse("Raf binds .")})
    assert texts(preparsed([Document("Raf binds.")], [example])) == [["Raf binds."]]


def test_a_sentence_with_several_parses_stays_one():
    whole = Sentence(
        "It is.\tRas binds.\n", entities=[Entity("T1", "P", ((7, 10),), "Ras")], start=3
    )
    it = Sentence.from_words(
        ["It", "is", "."],
        dependencies=[(1, "nsubj", 0), (ROOT, "root", 1)],
        empty=[(0, "so")],
        enhanced=[(3, "x", 1)],
    )
    ras = Sentence.from_words(
        ["Ras", "binds", "."],
        dependencies=[(1, "nsubj", 0), (ROOT, "root", 1)],
        empty=[(-1, "who"), (1, "it")],
        enhanced=[(4, "x", 0), (ROOT, "root", 3)],
        multiwords=[(0, 2, "Ras binds")],
    )
    others = [Sentence(" \n"), Sentence.from_words(["Yes"])]
    [[found], *rest] = preparsed([whole, *others], [it, ras])
    assert found.text == whole.text
    assert (found.entities, found.start) == (whole.entities, 3)
    assert [whole.text[t.start : t.end] for t in found.tokens] == [*it.words, *ras.words]
    assert found.dependencies == (
        (1, "nsubj", 0), (ROOT, "root", 1), (4, "nsubj", 3), (ROOT, "root", 4)
    )  # fmt: skip
    assert [tuple(node[:2]) for node in found.empty] == [(0, "so"), (2, "who"), (4, "it")]
    assert found.enhanced == ((6, "x", 1), (8, "x", 3), (ROOT, "root", 7))
    assert found.multiwords[0][:2] == (3, 5)
    assert rest == [[other] for other in others]


def test_a_parse_of_no_document_is_refused():
    with pytest.raises(StructureError, match=r"parse 1 is in none of the 1 documents: 'MEK \.'"):
        preparsed([Document("Raf binds.")], [parse("Raf binds ."), parse("MEK .")])


def test_a_parse_that_does_not_fit_the_document_it_names_is_refused():
    with pytest.raises(StructureError, match="document 0: sentence 0 is not in the document"):
        preparsed([named("a", "Raf binds.")], [parse("MEK .", "a")])


def test_what_is_no_parse_is_refused():
    with pytest.raises(KernelInputError, match="parse 0 is 'Raf' of type str"):
        preparsed([Document("Raf")], ["Raf"])


def test_the_backend_looks_parses_up_again_and_again():
    backend = PreparsedBackend(iter([parse("Raf binds .")]), name="other", version="2")
    assert analyze(backend, [Document("Raf binds.")]) == analyze(backend, [Document("Raf binds.")])
    assert (backend.name, backend.version) == ("other", "2")


def test_sentences_get_the_parse_of_their_text_in_any_order():
    backend = PreparsedBackend([parse("Raf binds ."), parse("Ras binds .")])
    parsed = backend.parse([Sentence("Ras binds."), Sentence("Ras  binds.")])
    assert [sentence.words for sentence in parsed] == [("Ras", "binds", ".")] * 2
    assert [sentence.tokens[1].start for sentence in parsed] == [4, 5]


def test_a_sentence_without_a_parse_is_refused():
    with pytest.raises(StructureError, match=r"no parse of sentence 0, 'MEK\.'"):
        PreparsedBackend([parse("Raf binds .")]).parse([Sentence("MEK.")])
