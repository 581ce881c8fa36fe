"""Candidates and views of random sentences: made, or left out and counted, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from sentence_strategies import documents, sentences

from kernelwood.relations import event_candidates, pair_candidates
from kernelwood.text import Example, Origin
from kernelwood.views import VIEWS

# Concepts of the random meanings, so that some of their nodes are interactions.
CONCEPTS = ["", "NN", "VBZ", "nsubj", "Theme", "né"]

GENERATORS = {
    "pairs": pair_candidates,
    "events": event_candidates,
    "meanings": lambda examples: event_candidates(examples, source="amr", triggers=CONCEPTS),
}


@pytest.mark.parametrize("generator", GENERATORS)
@given(sentence=sentences(), name=st.sampled_from(list(VIEWS)))
def test_every_view_of_every_candidate_is_made_or_counted(generator, sentence, name):
    candidates = GENERATORS[generator]([Example("s", views={"sentence": sentence})])
    examples = candidates.examples(name)
    assert len(examples) + examples.tally.skipped == len(candidates)
    assert sum(examples.tally.remarks.values()) <= len(examples)


@pytest.mark.parametrize("generator", GENERATORS)
@given(sentence=sentences())
def test_ids_of_candidates_are_unique(generator, sentence):
    candidates = GENERATORS[generator]([Example("s", views={"sentence": sentence})])
    assert len({candidate.id for candidate in candidates}) == len(candidates)


@pytest.mark.parametrize("generator", ["pairs", "events"])
@given(document=documents())
def test_origins_lead_to_the_characters_of_the_document(generator, document):
    example = Example("d", views={"document": document}, origin=Origin("d.txt", 1))
    there = {entity.id: entity for entity in document.entities}
    for candidate in GENERATORS[generator]([example]):
        named = candidate.entities + ((candidate.trigger,) if candidate.trigger else ())
        found = [there[entity.id] for entity in named if entity.spans]
        assert candidate.origin.start == min(entity.start for entity in found)
        assert candidate.origin.end == max(entity.end for entity in found)
        before = document.text[: candidate.sentence.start]
        assert candidate.origin.line == 1 + before.count("\n")
