"""Entities that parsers recognize, as an object that annotates documents."""

from __future__ import annotations

from typing import TypeVar, cast

from kernelwood.errors import KernelInputError
from kernelwood.parsing.backends import analyze, load_backend
from kernelwood.text import Document, Entity, Sentence

_A = TypeVar("_A", bound="Document | Sentence")


class EntityRecognizer:
    """Adds the named entities of spaCy or Stanza to documents that have none.

    Parameters
    ----------
    backend : str or object, default "spacy"
        Name of a backend of `load_backend` that recognizes entities, such as
        ``"spacy:en_core_web_sm"`` or ``"stanza:en"``, or a loaded pipeline.

    See Also
    --------
    kernelwood.Dictionary : Entities by a list of terms.
    kernelwood.EntityTagger : Entities by a tagger that is learned from annotation.
    """

    def __init__(self, backend: str | object = "spacy") -> None:
        if isinstance(backend, str) and not backend.startswith(("spacy", "stanza")):
            raise KernelInputError(
                f"the parser {backend!r} does not recognize entities; choose spacy or stanza"
            )
        self.backend = load_backend(backend, entities=True)

    def annotate(self, document: _A) -> _A:
        """Return a document or sentence with the entities that the parser recognizes.

        Ids are ``T1``, ``T2``, ... in the order of the text. Documents with entities are returned
        unchanged.
        """
        if document.entities:
            return document
        [sentences] = analyze(self.backend, [document])
        shift = document.start if isinstance(document, Sentence) else 0
        spans = [
            (
                entity.type,
                tuple((a + s.start - shift, b + s.start - shift) for a, b in entity.spans),
            )
            for s in sentences
            for entity in s.entities
        ]
        entities = tuple(
            Entity(f"T{number}", kind, places, " ".join(document.text[a:b] for a, b in places))
            for number, (kind, places) in enumerate(spans, start=1)
        )
        return cast(_A, document._with(entities=entities))
