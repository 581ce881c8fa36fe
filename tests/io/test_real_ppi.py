"""Counts of AIMed, BioInfer and DDIExtraction 2013, when they are on this machine."""

from __future__ import annotations

from collections import Counter

import pytest
from corpora import data_file

from kernelwood.evaluate import documents
from kernelwood.io import read

CORPORA = ["AImed", "BioInfer"]


@pytest.fixture(scope="module")
def corpora():
    return {
        name: read(data_file("ppi", f"{name}-learning-format.xml.gz"), views=["sentence"])
        for name in CORPORA
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_sentences", "n_true", "n_false"),
    [("AImed", 1955, 1000, 4834), ("BioInfer", 1100, 2534, 7132)],
)
def test_all_sentences_and_pairs_are_read(corpora, name, n_sentences, n_true, n_false):
    examples = corpora[name]
    holds = Counter(r.holds for e in examples for r in e.view("sentence").relations)
    assert (len(examples), holds[True], holds[False]) == (n_sentences, n_true, n_false)


@pytest.mark.parametrize(("name", "count"), [("AImed", 0), ("BioInfer", 122)])
def test_all_discontinuous_entities_are_read(corpora, name, count):
    found = [x for e in corpora[name] for x in e.view("sentence").entities if len(x.spans) > 1]
    assert len(found) == count


@pytest.mark.parametrize("name", CORPORA)
def test_entities_begin_and_end_with_a_token(corpora, name):
    for example in corpora[name]:
        sentence = example.view("sentence")
        covered = {index for token in sentence.tokens for index in range(token.start, token.end)}
        for entity in sentence.entities:
            assert all(entity_span[0] in covered for entity_span in entity.spans)


def test_the_preferred_parse_is_the_one_that_was_asked_for(corpora):
    sentence = corpora["AImed"][0].view("sentence")
    assert len(sentence.tokens) == 11
    assert sentence.tokens[9].tag == "NN"
    assert sentence.dependencies[0] == (1, "nn", 0)


@pytest.mark.parametrize(
    ("part", "n_documents", "n_sentences", "n_pairs", "types", "remarks"),
    [
        ("DrugBank", 572, 5675, 26005, [1535, 1257, 818, 179], 2),
        ("MedLine", 142, 1301, 1787, [152, 62, 8, 10], 0),
    ],
)
def test_all_drug_interactions_are_read(part, n_documents, n_sentences, n_pairs, types, remarks):
    examples = read(data_file("ddi-2013", "ddi-2013-train.tar.gz"), only=f"{part}/*")
    relations = [r for e in examples for r in e.view("sentence").relations]
    holding = Counter(r.type for r in relations if r.holds)
    assert len(set(documents(examples))) == n_documents
    assert (len(examples), len(relations)) == (n_sentences, n_pairs)
    # One of the 179 is the pair without a type.
    assert [holding[name] for name in ("effect", "mechanism", "advise", "int")] == types
    assert sum(holding.values()) == sum(types)
    assert sum(examples.tally.remarks.values()) == remarks


@pytest.mark.slow
def test_both_parses_are_read_with_remarks_on_tokens_that_differ():
    examples = read(data_file("ppi", "BioInfer-learning-format.xml.gz"))
    views = {tuple(example.views) for example in examples}
    assert views == {("sentence", "sentence.Charniak-Lease")}
    assert sum(examples.tally.remarks.values()) == 12
