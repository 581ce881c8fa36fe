"""Texts of a report: entities marked, and what is said about each sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kernelwood.pages import Markup, element, joined
from kernelwood.relations.predictions import Prediction
from kernelwood.text import Span

__all__ = ["Colors", "Mention", "Passage", "marked", "passages_of"]

_N_COLORS = 6  # that the style of pages knows


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """An entity of a sentence; characters are counted from the beginning of the sentence."""

    spans: tuple[Span, ...]
    type: str
    id: str


class Colors:
    """Which color each type of entity has: the same in every report of the same types.

    Examples
    --------
    >>> colors = Colors(["Protein", "Gene", "Protein"])
    >>> colors["Gene"], colors["Protein"]
    ('k0', 'k1')
    """

    def __init__(self, types: Iterable[str]) -> None:
        self._numbers = {name: number for number, name in enumerate(sorted(set(types)))}

    def __getitem__(self, type: str) -> str:
        return f"k{self._numbers.get(type, 0) % _N_COLORS}"

    def legend(self) -> Markup:
        """Return the types, each in its color."""
        return joined((element("mark", name, class_=self[name]) for name in self._numbers), by=" ")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document: a sentence that was judged, or what stands between two of them.

    Attributes
    ----------
    text : str
        Its characters.
    mentions : tuple of Mention
        Its entities, in order.
    predictions : tuple of Prediction
        What is said about it; none if it was not judged.
    """

    text: str
    mentions: tuple[Mention, ...] = ()
    predictions: tuple[Prediction, ...] = ()


def passages_of(
    predictions: Iterable[Prediction], documents: Mapping[str, str]
) -> dict[str, list[Passage]]:
    """Return the passages of each document, in the order of documents, then of predictions.

    A sentence that is not where its offsets say, because the text given for its document is
    another one, or none is given, stands for itself.
    """
    found: dict[str, dict[tuple[Span, str], list[Prediction]]] = {name: {} for name in documents}
    for prediction in predictions:
        sentences = found.setdefault(prediction.document, {})
        sentences.setdefault((prediction.sentence, prediction.text), []).append(prediction)
    return {
        name: _arranged(sentences, documents.get(name, "")) for name, sentences in found.items()
    }


def _arranged(
    sentences: Mapping[tuple[Span, str], Sequence[Prediction]], text: str
) -> list[Passage]:
    """Return sentences in order, and between them what else the text has."""
    passages: list[Passage] = []
    done = 0
    for (span, sentence), judged in sorted(sentences.items(), key=lambda item: item[0]):
        start, end = span
        if done <= start and text[start:end] == sentence:
            if text[done:start].strip():
                passages.append(Passage(text[done:start].strip()))
            done = end
        passages.append(Passage(sentence, _mentions(judged), tuple(judged)))
    # A text in which no sentence was found is not the one the predictions are about.
    if text[done:].strip() and (done or not sentences):
        passages.append(Passage(text[done:].strip()))
    return passages


def _mentions(judged: Sequence[Prediction]) -> tuple[Mention, ...]:
    """Return the entities of a sentence: those that were judged, and all others it has."""
    found: dict[tuple[tuple[Span, ...], str], Mention] = {}
    for prediction in judged:
        start = prediction.sentence[0]
        others = [] if prediction.trigger is None else [prediction.trigger]
        for one in (*prediction.participants, *others):
            spans = tuple((first - start, last - start) for first, last in one.spans)
            found.setdefault((spans, one.id), Mention(spans, one.type, one.id))
        for entity in prediction.candidate.sentence.entities:
            mention = Mention(entity.spans, entity.type, entity.id)
            found.setdefault((entity.spans, entity.id), mention)
    return tuple(sorted(found.values()))


def marked(passage: Passage, colors: Colors) -> Markup:
    """Return the text of a passage with its entities marked; they may overlap.

    Examples
    --------
    >>> raf = Mention(((0, 3),), "Protein", "T1")
    >>> marked(Passage("Raf <b>", (raf,)), Colors(["Protein"]))
    '<mark class="k0">Raf<small>Protein</small></mark> &lt;b&gt;'
    """
    ends = _ends(passage)
    length = len(passage.text)
    places = sorted({0, length, *(place for end in ends for place in (end.start, end.end))})
    starting: dict[int, list[_End]] = {}
    for end in ends:
        starting.setdefault(end.start, []).append(end)
    pieces: list[str] = []
    inside: list[_End] = []
    for left, right in pairwise(places):
        inside = [end for end in inside if end.end > left] + starting.get(left, [])
        piece = passage.text[left:right]
        pieces.append(_mark(piece, inside, right, colors) if inside else piece)
    return joined(pieces)


class _End(NamedTuple):
    """A span of an entity within the text, and whether it is its last."""

    start: int
    end: int
    type: str
    last: bool


def _ends(passage: Passage) -> list[_End]:
    length = len(passage.text)
    return [
        _End(max(0, start), min(end, length), mention.type, number == len(mention.spans))
        for mention in passage.mentions
        for number, (start, end) in enumerate(mention.spans, 1)
        if start < end and start < length and end > 0
    ]


def _mark(text: str, inside: Sequence[_End], right: int, colors: Colors) -> Markup:
    # Where entities overlap, the shortest is seen, and each is named where it ends.
    shortest = min(inside, key=lambda end: end.end - end.start)
    names = [end.type for end in inside if end.last and end.end == right and end.type]
    label = [element("small", ", ".join(names))] if names else []
    return element("mark", text, *label, class_=colors[shortest.type])
