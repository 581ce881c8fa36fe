"""Entities of texts by a tagger, a dictionary, or both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from kernelwood.entities.dictionary import Dictionary
from kernelwood.entities.tagger import EntityTagger
from kernelwood.text import Document, Sentence

_A = TypeVar("_A", bound="Document | Sentence")


@dataclass(frozen=True)
class EntityFinder:
    """Adds entities to documents, by the finder of a model and one given by the user.

    Parameters
    ----------
    learned : EntityTagger, Dictionary or None
        Finder of the model. A tagger is used for documents without entities only.
    given : Dictionary, argument of `Dictionary.of`, or object with ``annotate``, optional
        Finder of the user, usually a list of terms: its entities are added to all documents. Where
        they overlap mentions of the tagger, the longer ones are kept; of equal ones, those given.

    Examples
    --------
    >>> finder = EntityFinder(Dictionary([("Raf", "protein")]), Dictionary([("Ras", "protein")]))
    >>> [entity.text for entity in finder.annotate(Document("Raf binds Ras.")).entities]
    ['Ras', 'Raf']
    """

    learned: Any = None
    given: Any = None

    def __post_init__(self) -> None:
        if self.given is not None and not hasattr(self.given, "annotate"):
            object.__setattr__(self, "given", Dictionary.of(self.given))

    @property
    def types(self) -> frozenset[str]:
        """The types of entities that the model finds."""
        if isinstance(self.learned, EntityTagger):
            return frozenset(self.learned.types_)
        terms = self.learned.terms if isinstance(self.learned, Dictionary) else ()
        return frozenset(term.type for term in terms)

    @property
    def finds(self) -> bool:
        """Whether there is a tagger or a list of terms."""
        return self.learned is not None or self.given is not None

    def annotate(self, document: _A) -> _A:
        """Return a document or sentence with entities."""
        learned, given = self.learned, self.given
        if isinstance(learned, EntityTagger):
            if document.entities:
                learned = None
            elif given is None or isinstance(given, Dictionary):
                return learned.annotate(document, given)
        for one in (given, learned):
            document = document if one is None else one.annotate(document)
        return document
