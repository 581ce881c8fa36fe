"""Candidates of public corpora, when they are on this machine."""

from __future__ import annotations

from collections import Counter

import pytest
from corpora import data_file

from kernelwood.io import read
from kernelwood.relations import event_candidates, flatten_events, pair_candidates


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "true", "false", "fallbacks"),
    [
        ("AImed", 1000, 4834, {"path: shared token": 305, "path: no path": 4}),
        ("BioInfer", 2534, 7132, {"path: shared token": 238}),
    ],
)
def test_protein_pairs_are_those_of_the_corpus(name, true, false, fallbacks):
    corpus = read(data_file("ppi", f"{name}-learning-format.xml.gz"), views=["sentence"])
    candidates = pair_candidates(corpus)
    assert Counter(candidates.labels) == {1: true, 0: false}
    assert candidates.tally.reasons == {}
    assert len({candidate.id for candidate in candidates}) == len(candidates)
    examples = candidates.examples("path")
    assert len(examples) == true + false
    assert examples.tally.remarks == fallbacks


@pytest.mark.slow
def test_nominals_of_semeval_have_the_label_of_their_sentence():
    corpus = read(data_file("semeval2010-task8", "TRAIN_FILE.TXT.gz"))
    by_relation = pair_candidates(corpus, labels="directed").labels
    by_example = pair_candidates(corpus, labels="example").labels
    assert len(by_example) == 8000
    assert [label if label != "none" else "Other" for label in by_relation] == by_example


def test_events_of_bionlp_are_labeled_or_counted():
    corpus = read(data_file("bionlp-st", "bionlp-st-2009.tar.gz"), only="*/devel/*")
    documents = [example.view("document") for example in corpus]
    assert sum(len(document.events) for document in documents) == 1795
    inside = [sentence for document in documents for sentence in document.sentences()]
    interactions = {
        (number, one.trigger, frozenset(one.participants), one.catalyst)
        for number, sentence in enumerate(inside)
        for one in flatten_events(sentence.events, sentence.entities)[0]
    }
    candidates = event_candidates(corpus, types=["Protein"], max_entities=6)
    lost = candidates.tally.reasons["interaction that no candidate stands for"]
    assert sum(candidates.labels) + lost == len(interactions)
    assert 0 < lost == len(candidates.missed) < 0.02 * len(interactions)


def test_meanings_of_bio_amr_give_walks():
    corpus = read(data_file("bio-amr", "amr-release-dev-bio.txt.gz"))[:40]
    candidates = event_candidates(corpus, source="amr", max_entities=6)
    examples = candidates.examples("amr-path", "amr-tree")
    assert len(examples) == len(candidates) > 100
    assert all(example.view("amr-tree").n_nodes > 1 for example in examples)
