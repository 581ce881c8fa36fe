"""Annotated texts as dictionaries for the visualizer displaCy of spaCy.

``spacy.displacy.render(made, style="ent", manual=True)`` draws them; spaCy is not needed to make
them. displaCy escapes words and texts, but not labels, tags, ids and titles; they are escaped here.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from kernelwood.errors import StructureError
from kernelwood.structures import escape
from kernelwood.text.annotation import ROOT, Entity, Token
from kernelwood.text.tokenizer import tokenize

if TYPE_CHECKING:
    from kernelwood.text.document import Document
    from kernelwood.text.sentence import Sentence

DisplacyStyle: TypeAlias = Literal["ent", "span", "dep"]
_STYLES = ("ent", "span", "dep")


def displacy_object(annotated: Document | Sentence, style: DisplacyStyle = "ent") -> dict[str, Any]:
    """Return a text with its entities or dependencies for displaCy.

    Parameters
    ----------
    annotated : Document or Sentence
        The text. A document has no dependencies.
    style : {"ent", "span", "dep"}
        ``"ent"``: entities, without those that overlap an earlier or longer one, since displaCy
        cannot draw them; ``"span"``: all entities, by tokens; ``"dep"``: dependencies.

    Raises
    ------
    StructureError
        If the style is unknown, or ``"dep"`` for a text without tokens.

    Examples
    --------
    >>> from kernelwood.text import Document
    >>> displacy_object(Document("Raf binds.", [("T1", "Protein", [(0, 3)])]))["ents"]
    [{'start': 0, 'end': 3, 'label': 'Protein', 'kb_id': '', 'kb_url': '#'}]
    """
    check_displacy_style(style)
    text = annotated.text
    if style == "ent":
        references = references_of(annotated)
        return {"text": text, "ents": _ents(annotated.entities, references), "title": None}
    tokens: Sequence[Token] = getattr(annotated, "tokens", None) or tokenize(text)
    if style == "span":
        return _spans(text, tokens, annotated.entities, references_of(annotated))
    if not getattr(annotated, "tokens", None):
        raise StructureError(
            "the text has no tokens, so it has no dependencies",
            hint="parse it first: kernelwood.parsing.analyze(...)",
        )
    arcs = [
        displacy_arc(head, dependent, relation)
        for head, relation, dependent in getattr(annotated, "dependencies", ())
        if head not in (ROOT, dependent)
    ]
    return {"words": displacy_words(tokens), "arcs": arcs}


def check_displacy_style(style: str) -> None:
    """Raise StructureError if the style is unknown."""
    if style not in _STYLES:
        raise StructureError(f"style must be one of {', '.join(_STYLES)}; got {style!r}")


def displacy_words(tokens: Iterable[Token]) -> list[dict[str, str]]:
    """Return tokens with their tags."""
    return [{"text": token.text, "tag": escape(token.pos or token.tag or "")} for token in tokens]


def displacy_arc(start: int, end: int, label: str) -> dict[str, Any]:
    """Return an arc between two words whose arrow is at the end.

    Examples
    --------
    >>> displacy_arc(2, 0, "nsubj")
    {'start': 0, 'end': 2, 'label': 'nsubj', 'dir': 'left'}
    """
    low, high = sorted((start, end))
    toward = "right" if start < end else "left"
    return {"start": low, "end": high, "label": escape(label), "dir": toward}


def references_of(annotated: Document | Sentence) -> dict[str, str]:
    """Return the database id of each entity that has one."""
    return {
        attribute.target: attribute.value.split("\t", 1)[0]
        for attribute in annotated.attributes
        if attribute.type in ("Reference", "Normalization")
    }


def _ents(entities: Iterable[Entity], references: dict[str, str]) -> list[dict[str, Any]]:
    spans = sorted(
        (start, -end, entity.type, references.get(entity.id, ""))
        for entity in entities
        for start, end in entity.spans
    )
    made: list[dict[str, Any]] = []
    done = 0
    for start, negative, kind, reference in spans:
        if start >= done:
            done = -negative
            made.append({"start": start, "end": done, **_named(kind, reference)})
    return made


def _named(kind: str, reference: str) -> dict[str, str]:
    return {"label": escape(kind), "kb_id": escape(reference), "kb_url": "#"}


def _spans(
    text: str, tokens: Sequence[Token], entities: Iterable[Entity], references: dict[str, str]
) -> dict[str, Any]:
    starts, ends = [token.start for token in tokens], [token.end for token in tokens]
    made = []
    for entity in entities:
        for start, end in entity.spans:
            first, last = bisect_right(ends, start), bisect_left(starts, end)
            if first < last:
                made.append(
                    {
                        "start": start,
                        "end": end,
                        "start_token": first,
                        "end_token": last,
                        **_named(entity.type, references.get(entity.id, "")),
                    }
                )
    return {"text": text, "spans": made, "tokens": [token.text for token in tokens]}
