"""Raw text to parsed sentences with the bundled grammar."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given, settings, strategies as st
from work import count_calls

from kernelwood.errors import KernelInputError
from kernelwood.parsing import analyze
from kernelwood.parsing.grammar_backend import GrammarBackend, chunk_tree, expand_tree
from kernelwood.parsing.units import escape, find_units
from kernelwood.structures import Tree, count_leaves, words_and_tags
from kernelwood.text import (
    ROOT,
    Argument,
    Document,
    Entity,
    Relation,
    Sentence,
    dependencies_of_tree,
    tokenize,
)

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
    [[sentence]] = analyze(backend, [Document(text)])
    return sentence.tree.to_brackets()


def test_sentences_have_exact_offsets(backend, document):
    [sentences] = analyze(backend, [document])
    for sentence in sentences:
        assert TEXT[sentence.start :].startswith(sentence.text)
        for token in sentence.tokens:
            assert sentence.text[token.start : token.end] == token.text


def test_entities_and_relations_are_shared_out(backend, document):
    [sentences] = analyze(backend, [document])
    assert [len(sentence.entities) for sentence in sentences] == [3, 2, 1]
    assert [len(sentence.relations) for sentence in sentences] == [0, 1, 0]


def test_entities_are_whole_tokens(backend, document):
    [sentences] = analyze(backend, [document])
    for sentence in sentences:
        for entity in sentence.entities:
            [index] = sentence.tokens_of(entity)
            assert sentence.tokens[index].text == entity.text


def test_leaves_and_tags_of_the_tree_are_those_of_the_tokens(backend, document):
    [sentences] = analyze(backend, [document])
    for sentence in sentences:
        words, tags = words_and_tags(sentence.tree)
        assert words == [token.text for token in sentence.tokens]
        assert tags == [token.tag for token in sentence.tokens]


def test_dependencies_are_those_of_the_tree(backend, document):
    [sentences] = analyze(backend, [document])
    for sentence in sentences:
        assert sentence.dependencies == dependencies_of_tree(sentence.tree)


def test_a_word_cut_by_an_entity_is_parsed_as_one(backend):
    text = "IL-2-induced binding increased."
    [[sentence]] = analyze(backend, [Document(text, [Entity("T1", "P", ((0, 4),))])])
    assert sentence.tree.children[0].to_brackets() == (
        "(NP (ADJP (NN IL-2) (HYPH -) (JJ induced)) (NN binding))"
    )


def test_brackets_are_parsed_as_the_treebank_writes_them(backend):
    assert '(-LRB- "\\(") (NP (NN NO)) (-RRB- "\\)")' in tree_of(
        backend, "Nitric oxide (NO) was measured."
    )


def test_lemmas_are_given(backend):
    [[sentence]] = analyze(backend, [Document("The proteins were activated.")])
    assert [token.lemma for token in sentence.tokens] == ["the", "protein", "be", "activate", "."]


@pytest.mark.parametrize("text", ["", "   \n ", "\u200b"])
def test_a_document_without_words_is_no_trouble(backend, text):
    [sentences] = analyze(backend, [Document(text)])
    assert all(sentence.text.strip() for sentence in sentences)


def test_no_documents_give_nothing(backend):
    assert analyze(backend, []) == []


def test_documents_keep_their_order(backend):
    found = analyze(backend, [Document("Raf binds."), Document(""), Document("Ras binds. It is.")])
    assert [len(sentences) for sentences in found] == [1, 0, 2]
    assert found[2][0].text == "Ras binds."


def test_threads_and_company_change_nothing(backend, document):
    alone = analyze(backend, [document])
    together = analyze(GrammarBackend(n_jobs=2), [Document("Raf binds. " * 300), document])
    assert together[1] == alone[0]


def test_a_long_sentence_is_parsed_in_pieces(backend):
    clause = "the protein binds the promoter in cells; "
    [[sentence]] = analyze(backend, [Document(clause * 15)])
    assert dict(sentence.metadata)["fallback"] == "pieces"
    assert sentence.tree.label == "S"
    assert sum(edge.head == ROOT for edge in sentence.dependencies) == 1


def test_pieces_end_at_semicolons_where_there_are_some(backend):
    clause = "the protein, a kinase, binds the promoter in cells; "
    [[sentence]] = analyze(backend, [Document(clause * 10)])
    words, _ = words_and_tags(sentence.tree.children[0])
    assert words[-1] == ";"


def test_what_is_hardly_a_sentence_is_chunked(backend):
    [[sentence]] = analyze(backend, [Document("the protein binds " * 200)])
    assert dict(sentence.metadata)["fallback"] == "chunks"
    assert sentence.tree.children[0].to_brackets() == "(NP (DT the) (NN protein))"


def test_a_sentence_that_is_parsed_says_nothing_about_fallbacks(backend):
    [[sentence]] = analyze(backend, [Document("Raf binds Ras.")])
    assert sentence.metadata == ()


def test_fallbacks_are_counted_in_the_log(backend, caplog):
    with caplog.at_level(logging.INFO, logger="kernelwood"):
        analyze(backend, [Document("the protein binds " * 200)])
    assert "1 of 1 sentences have trees made of chunks" in caplog.text


def test_the_work_for_a_text_without_sentences_is_linear(backend):
    short, long = Document("protein binds " * 1_000), Document("protein binds " * 4_000)
    analyze(backend, [short])  # fills the cache of tags
    [least] = count_calls(lambda: analyze(backend, [short]))
    [most] = count_calls(lambda: analyze(backend, [long]))
    assert most < 4.1 * least


@pytest.mark.parametrize("n_words", [80, 81, 400, 401])
def test_no_more_than_80_words_are_parsed_at_once(n_words, monkeypatch):
    backend = GrammarBackend()
    parse_trees, lengths = backend._parser.parse_trees, []

    def recorded(sentences):
        lengths.extend(map(len, sentences))
        return parse_trees(sentences)

    monkeypatch.setattr(backend._parser, "parse_trees", recorded)
    backend.parse([Sentence("protein " * n_words)])
    assert max(lengths, default=0) <= 80
    assert sum(lengths) == (n_words if n_words <= 400 else 0)


@pytest.mark.parametrize("length", [0, 2.5, None])
def test_a_length_that_is_none_is_refused(length):
    with pytest.raises(KernelInputError, match="max_length"):
        GrammarBackend(max_length=length)


@settings(max_examples=40, deadline=None)
@given(
    st.text(alphabet="Rafp5 -/+()[].,'%é\u2013\n", max_size=50),
    st.tuples(st.integers(0, 49), st.integers(1, 8)),
)
def test_any_text_is_covered_by_tokens(backend, text, place):
    start = min(place[0], max(len(text) - 1, 0))
    end = min(start + place[1], len(text))
    entities = [Entity("T1", "P", ((start, end),))] if start < end else []
    [sentences] = analyze(backend, [Document(text, entities)])
    found = "".join(token.text for sentence in sentences for token in sentence.tokens)
    assert found == "".join(text.split())


def units_of(text: str, *spans: tuple[int, int]) -> list[str]:
    entities = [Entity(f"T{i}", "P", (span,)) for i, span in enumerate(spans)]
    [sentence] = Document(text, entities).split([(0, len(text))]).sentences
    return ["|".join(sentence.tokens[i].text for i in unit) for unit in find_units(sentence)]


@pytest.mark.parametrize(
    ("text", "spans", "expected"),
    [
        ("IL-2-induced", [(0, 4)], ["IL-2|-|induced"]),
        ("p50/p65 dimers", [], ["p50|/|p65", "dimers"]),
        ("CD4+ cells", [], ["CD4|+", "cells"]),
        ("CD4(+) cells", [], ["CD4|(|+|)", "cells"]),
        ("Ca(2+)-dependent", [], ["Ca|(|2|+|)|-|dependent"]),
        ("Raf (c-Raf) binds", [], ["Raf", "(", "c-Raf", ")", "binds"]),
        ("Raf, Ras; MEK: ERK.", [], ["Raf", ",", "Ras", ";", "MEK", ":", "ERK", "."]),
        ("20% of 5", [], ["20", "%", "of", "5"]),
        ("Ras's role isn't", [], ["Ras", "'s", "role", "is", "n't"]),
        ("1,25(OH)2D3 binds", [(0, 11)], ["1,25|(|OH|)|2D3", "binds"]),
        ("a,b c", [(0, 3)], ["a|,|b", "c"]),
        ("(Raf)-like", [], ["(", "Raf", ")", "-|like"]),
    ],
)
def test_tokens_are_grouped(text, spans, expected):
    assert units_of(text, *spans) == expected


def test_no_tokens_are_no_units():
    assert find_units(Sentence("")) == []


@given(st.text(alphabet="ab1 -/+()[],.'%", max_size=40))
def test_units_have_every_token_once_and_no_blanks(text):
    sentence = Sentence(text, tuple(tokenize(text)))
    units = find_units(sentence)
    assert [i for unit in units for i in unit] == list(range(len(sentence.tokens)))
    for unit in units:
        inside = text[sentence.tokens[unit[0]].start : sentence.tokens[unit[-1]].end]
        assert " " not in inside


@pytest.mark.parametrize(("text", "expected"), [("]", "-RSB-"), ("Raf", "Raf"), ("“", "``")])
def test_words_are_written_as_in_treebanks(text, expected):
    assert escape(text) == expected


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ("(NP (NN u))", "(NP (NN a) (HYPH /) (NN b))"),
        ("(NP (DT u))", "(NP (DT a) (HYPH /) (DT b))"),
        ("(VP (VBN u))", "(VP (ADJP (NN a) (HYPH /) (VBN b)))"),
        ("(VP (VBD u))", "(VP (NN a) (HYPH /) (VBD b))"),
        ("(NN u)", "(NP (NN a) (HYPH /) (NN b))"),
    ],
)
def test_a_word_of_several_tokens_becomes_a_phrase_of_its_kind(tree, expected):
    found = expand_tree(Tree.from_brackets(tree), [range(3)], tokenize("a/b"))
    assert found == Tree.from_brackets(expected)


def test_a_word_that_ends_in_a_sign_keeps_its_tag_on_the_letters():
    found = expand_tree(
        Tree.from_brackets("(NP (NN u) (NN v))"), [range(2), range(2, 3)], tokenize("CD4+ cells")
    )
    assert found == Tree.from_brackets("(NP (NP (NN CD4) (HYPH +)) (NN cells))")


def test_the_root_may_be_a_word_of_several_tokens_without_a_phrase():
    found = expand_tree(
        Tree.from_brackets("(S (CC u) (NN v))"), [range(3), range(3, 4)], tokenize("and/or x")
    )
    assert count_leaves(found) == 4


TAGS = ["DT", "JJ", "NN", "NNS", "PRP", "IN", "TO", "VBZ", "CC", ",", "HYPH", "RB"]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("DT NN VBZ", "(S (NP (DT a) (NN b)) (VBZ c))"),
        ("NN DT NN", "(S (NP (NN a)) (NP (DT b) (NN c)))"),
        ("IN DT NN", "(S (PP (IN a) (NP (DT b) (NN c))))"),
        ("IN IN NN", "(S (IN a) (PP (IN b) (NP (NN c))))"),
        ("IN VBZ IN", "(S (IN a) (VBZ b) (IN c))"),
        ("DT JJ VBZ", "(S (DT a) (JJ b) (VBZ c))"),
    ],
)
def test_words_are_grouped_by_their_tags(tags, expected):
    assert chunk_tree(zip("abc", tags.split(), strict=True)).to_brackets() == expected


@given(st.lists(st.sampled_from(TAGS), min_size=1, max_size=20))
def test_words_and_tags_stay_as_they_are(tags):
    words = [f"w{i}" for i in range(len(tags))]
    assert words_and_tags(chunk_tree(zip(words, tags, strict=True))) == (words, tags)
