"""Trigger words and forms of events: learned from annotation, triggers found in new texts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from kernelwood.entities import Dictionary
from kernelwood.relations.interactions import flatten_events
from kernelwood.text import Entity, Sentence

_MIN_TRIGGER_RATE = 0.3  # fraction of its occurrences in which a word must be a trigger
_MIN_EVENTS = 30  # of a type, to tell its forms
_MIN_FORM_RATE = 0.01  # fraction of the events of a type that must have a form


def learn_triggers(sentences: Sequence[Sentence]) -> list[list[str]]:
    """Return the words that are mostly triggers, with their usual type: ``[[word, type], ...]``.

    A word counts if it is a trigger in at least three of ten occurrences.
    """
    types: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        named = {event.trigger for event in sentence.events}
        for entity in sentence.entities:
            if entity.id in named and len(entity.spans) == 1:
                start, end = entity.spans[0]
                types[sentence.text[start:end].lower()][entity.type] += 1
    if not types:
        return []
    everywhere = Dictionary([(word, "trigger") for word in types], case="ignore")
    places: Counter[str] = Counter()
    for sentence in sentences:
        places.update(match.term.term for match in everywhere.matches(sentence.text))
    return [
        [word, min(counts, key=lambda name: (-counts[name], name))]
        for word, counts in sorted(types.items())
        if counts.total() >= _MIN_TRIGGER_RATE * places[word]
    ]


def learn_forms(sentences: Sequence[Sentence]) -> dict[str, list[list[int]]]:
    """Return the forms of the events of each type: ``{type: [[participants, catalysts], ...]}``.

    A form counts if at least one of a hundred events of the type has it. Candidates of other forms
    would be many: most combine two participants with a catalyst. Types with less than 30 events are
    left out: they may have any form.

    Examples
    --------
    >>> from kernelwood.text import Argument, Event
    >>> entities = [Entity("T1", "Protein", ((0, 3),)), Entity("T2", "Binding", ((4, 9),))]
    >>> events = [Event("E1", "Binding", "T2", (Argument("Theme", "T1"),))]
    >>> learn_forms([Sentence("Raf binds.", entities=entities, events=events)] * 30)
    {'Binding': [[1, 0]]}
    """
    counts: defaultdict[str, Counter[tuple[int, int]]] = defaultdict(Counter)
    for sentence in sentences:
        kinds = {entity.id: entity.type for entity in sentence.entities}
        for one in flatten_events(sentence.events, sentence.entities)[0]:
            form = len(one.participants), int(one.catalyst is not None)
            counts[kinds[one.trigger]][form] += 1
    return {
        kind: [
            list(form) for form, n in sorted(forms.items()) if n >= _MIN_FORM_RATE * forms.total()
        ]
        for kind, forms in sorted(counts.items())
        if forms.total() >= _MIN_EVENTS
    }


def find_triggers(
    sentences: Sequence[Sentence], triggers: Sequence[Sequence[str]]
) -> list[Sentence]:
    """Return sentences with the triggers that occur in them, where none are annotated."""
    if not triggers:
        return list(sentences)
    words = Dictionary([(word, kind) for word, kind in triggers], case="ignore")
    kinds = {kind for _, kind in triggers}
    return [_with_triggers(sentence, words, kinds) for sentence in sentences]


def _with_triggers(sentence: Sentence, words: Dictionary, kinds: set[str]) -> Sentence:
    if sentence.events or any(entity.type in kinds for entity in sentence.entities):
        return sentence
    taken = [span for entity in sentence.entities for span in entity.spans]
    used = {entity.id for entity in sentence.entities}
    found = []
    for number, match in enumerate(words.matches(sentence.text, taken), start=1):
        name = f"trigger{number}"
        while name in used:
            name += "'"
        text = sentence.text[match.start : match.end]
        found.append(Entity(name, match.term.type, ((match.start, match.end),), text))
    return sentence._with(entities=(*sentence.entities, *found)) if found else sentence
