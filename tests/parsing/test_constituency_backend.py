"""Raw text to parsed sentences with the bundled grammar."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from work import assert_linear

from kernelwood.errors import KernelInputError
from kernelwood.parsing.constituency_backend import GrammarBackend
from kernelwood.structures import ROOT, Argument, Document, Entity, Example, Relation
from kernelwood.structures.tree_heads import dependencies_of_tree
from kernelwood.structures.tree_words import words_and_tags

TEXT = (
    "The IL-2-induced p50/p65 complex (20%) binds DNA in vivo. "
    "Raf-1 phosphorylates MEK1, and MEK2 is activated by CD4(+) cells.\n\n"
    "Ras was not found [3]."
)


@pytest.fixture(scope="module")
def backend() -> GrammarBackend:
    return GrammarBackend()


@pytest.fixture(scope="module")
def document() -> Document:
    names = ("IL-2", "p50", "p65", "Raf-1", "MEK1", "Ras")
    spans = [(TEXT.index(name), TEXT.index(name) + len(name)) for name in names]
    entities = [
        Entity(f"T{i}", "Protein", (span,), name)
        for i, (span, name) in enumerate(zip(spans, names, strict=True))
    ]
    pair = Relation("R1", "Pair", (Argument("a", "T3"), Argument("b", "T4")))
    return Document(TEXT, entities, [pair])


def tree_of(backend: GrammarBackend, text: str) -> str:
    [[sentence]] = backend.analyze([Document(text)])
    return sentence.tree.to_brackets()


def test_sentences_have_exact_offsets(backend, document):
    [sentences] = backend.analyze([document])
    for sentence in sentences:
        assert TEXT[sentence.start :].startswith(sentence.text)
        for token in sentence.tokens:
            assert sentence.text[token.start : token.end] == token.text


def test_entities_and_relations_are_shared_out(backend, document):
    [sentences] = backend.analyze([document])
    assert [len(sentence.entities) for sentence in sentences] == [3, 2, 1]
    assert [len(sentence.relations) for sentence in sentences] == [0, 1, 0]


def test_entities_are_whole_tokens(backend, document):
    [sentences] = backend.analyze([document])
    for sentence in sentences:
        for entity in sentence.entities:
            [index] = sentence.tokens_of(entity)
            assert sentence.tokens[index].text == entity.text


def test_leaves_and_tags_of_the_tree_are_those_of_the_tokens(backend, document):
    [sentences] = backend.analyze([document])
    for sentence in sentences:
        words, tags = words_and_tags(sentence.tree)
        assert words == [token.text for token in sentence.tokens]
        assert tags == [token.tag for token in sentence.tokens]


def test_dependencies_are_those_of_the_tree(backend, document):
    [sentences] = backend.analyze([document])
    for sentence in sentences:
        assert sentence.dependencies == dependencies_of_tree(sentence.tree)


def test_a_word_cut_by_an_entity_is_parsed_as_one(backend):
    text = "IL-2-induced binding increased."
    [[sentence]] = backend.analyze([Document(text, [Entity("T1", "P", ((0, 4),))])])
    assert sentence.tree.children[0].to_brackets() == (
        "(NP (ADJP (NN IL-2) (HYPH -) (JJ induced)) (NN binding))"
    )


def test_brackets_are_parsed_as_the_treebank_writes_them(backend):
    assert '(-LRB- "\\(") (NP (NN NO)) (-RRB- "\\)")' in tree_of(
        backend, "Nitric oxide (NO) was measured."
    )


def test_lemmas_are_given(backend):
    [[sentence]] = backend.analyze([Document("The proteins were activated.")])
    assert [token.lemma for token in sentence.tokens] == ["the", "protein", "be", "activate", "."]


@pytest.mark.parametrize("text", ["", "   \n ", "\u200b"])
def test_a_document_without_words_is_no_trouble(backend, text):
    [sentences] = backend.analyze([Document(text)])
    assert all(sentence.text.strip() for sentence in sentences)


def test_no_documents_give_nothing(backend):
    assert backend.analyze([]) == []


def test_documents_keep_their_order(backend):
    found = backend.analyze([Document("Raf binds."), Document(""), Document("Ras binds. It is.")])
    assert [len(sentences) for sentences in found] == [1, 0, 2]
    assert found[2][0].text == "Ras binds."


def test_texts_and_examples_do_as_documents(backend):
    example = Example("d1", views={"document": Document("Raf binds.")})
    first, second = backend.analyze(["Raf binds.", example])
    assert first == second


@pytest.mark.parametrize("documents", ["Raf binds.", Document("Raf binds."), [3]])
def test_what_are_no_documents_is_refused(backend, documents):
    with pytest.raises(KernelInputError, match=r"several|not a Document"):
        backend.analyze(documents)


def test_threads_and_company_change_nothing(backend, document):
    alone = backend.analyze([document])
    together = GrammarBackend(n_jobs=2).analyze([Document("Raf binds. " * 300), document])
    assert together[1] == alone[0]


def test_a_long_sentence_is_parsed_in_pieces(backend):
    clause = "the protein binds the promoter in cells; "
    [[sentence]] = backend.analyze([Document(clause * 15)])
    assert dict(sentence.metadata)["fallback"] == "pieces"
    assert sentence.tree.label == "S"
    assert sum(edge.head == ROOT for edge in sentence.dependencies) == 1


def test_pieces_end_at_semicolons_where_there_are_some(backend):
    clause = "the protein, a kinase, binds the promoter in cells; "
    [[sentence]] = backend.analyze([Document(clause * 10)])
    words, _ = words_and_tags(sentence.tree.children[0])
    assert words[-1] == ";"


def test_what_is_hardly_a_sentence_is_chunked(backend):
    [[sentence]] = backend.analyze([Document("the protein binds " * 200)])
    assert dict(sentence.metadata)["fallback"] == "chunks"
    assert sentence.tree.children[0].to_brackets() == "(NP (DT the) (NN protein))"


def test_a_sentence_that_is_parsed_says_nothing_about_fallbacks(backend):
    [[sentence]] = backend.analyze([Document("Raf binds Ras.")])
    assert sentence.metadata == ()


def test_fallbacks_are_counted_in_the_log(backend, caplog):
    with caplog.at_level(logging.INFO, logger="kernelwood"):
        backend.analyze([Document("the protein binds " * 200)])
    assert "1 of 1 sentences have trees made of chunks" in caplog.text


def test_a_long_text_without_sentences_takes_linear_work(backend):
    [[sentence]] = backend.analyze([Document("protein binds " * 2_000)])
    assert len(sentence.tokens) == 4_000
    assert_linear(lambda n: backend.analyze([Document("protein binds " * n)]), 500)


@pytest.mark.parametrize("length", [0, 2.5, None])
def test_a_length_that_is_none_is_refused(length):
    with pytest.raises(KernelInputError, match="max_length"):
        GrammarBackend(max_length=length)


@given(
    st.text(alphabet="Rafp5 -/+()[].,'%é\u2013\n", max_size=50),
    st.tuples(st.integers(0, 49), st.integers(1, 8)),
)
def test_any_text_is_covered_by_tokens(backend, text, place):
    start = min(place[0], max(len(text) - 1, 0))
    end = min(start + place[1], len(text))
    entities = [Entity("T1", "P", ((start, end),))] if start < end else []
    [sentences] = backend.analyze([Document(text, entities)])
    found = "".join(token.text for sentence in sentences for token in sentence.tokens)
    assert found == "".join(text.split())
