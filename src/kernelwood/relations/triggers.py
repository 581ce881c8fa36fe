"""Words that stand for events: learned from annotation, found in new texts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from kernelwood.entities import Dictionary
from kernelwood.relations.hypotheses import Located
from kernelwood.text import Entity, Sentence

__all__ = ["find_triggers", "learn_triggers"]

_LEAST_SHARE = 0.3  # of its occurrences that a word must be a trigger in


def learn_triggers(located: Iterable[Located]) -> list[list[str]]:
    """Return the words that are mostly triggers, with their usual type: ``[[word, type], ...]``.

    A word counts if it is a trigger in three of ten places where it stands, at least.
    """
    types: defaultdict[str, Counter[str]] = defaultdict(Counter)
    sentences = [place.sentence for place in located]
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
        if counts.total() >= _LEAST_SHARE * places[word]
    ]


def find_triggers(located: Sequence[Located], triggers: Sequence[Sequence[str]]) -> list[Located]:
    """Return sentences with the triggers that stand in them, where none are annotated."""
    if not triggers:
        return list(located)
    words = Dictionary([(word, kind) for word, kind in triggers], case="ignore")
    kinds = {kind for _, kind in triggers}
    return [_with_triggers(place, words, kinds) for place in located]


def _with_triggers(place: Located, words: Dictionary, kinds: set[str]) -> Located:
    sentence: Sentence = place.sentence
    if sentence.events or any(entity.type in kinds for entity in sentence.entities):
        return place
    taken = [span for entity in sentence.entities for span in entity.spans]
    used = {entity.id for entity in sentence.entities}
    found = []
    for number, match in enumerate(words.matches(sentence.text, taken), start=1):
        name = f"trigger{number}"
        while name in used:
            name += "'"
        text = sentence.text[match.start : match.end]
        found.append(Entity(name, match.term.type, ((match.start, match.end),), text))
    if not found:
        return place
    made = replace(sentence, entities=(*sentence.entities, *found))
    return place._replace(example=place.example.with_views({"sentence": made}))
