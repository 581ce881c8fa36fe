"""Documents: a text with entities, relations and events, before it is cut into sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kernelwood.errors import StructureError
from kernelwood.structures import shorten
from kernelwood.text.annotation import (
    Attribute,
    Entity,
    Event,
    Metadata,
    Relation,
    Span,
    check_standoff,
    counted,
)
from kernelwood.text.annotation_rows import convert_parts
from kernelwood.text.cutting import Cut, Tokenizer, annotate_sentences, cut_document
from kernelwood.text.sentence import Sentence

__all__ = ["Document"]


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """A text with standoff annotation.

    Parameters
    ----------
    text : str
        The characters, line ends included.
    entities : iterable of Entity
        Mentions and triggers of events.
    relations, events, attributes : iterables
        What is said about them.
    metadata : iterable of (str, str or None)
        Further facts: key and value.

    Raises
    ------
    StructureError
        If a span lies outside, an id is used twice, or a reference leads nowhere.

    Examples
    --------
    >>> Document("Raf binds Ras.", [Entity("T1", "Protein", ((0, 3),), "Raf")])
    Document('Raf binds Ras.', 1 entity)
    """

    text: str
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    events: tuple[Event, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    metadata: Metadata = ()

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise StructureError(f"the text must be a string, got {type(self.text).__name__}")
        convert_parts(self, ("entities", "relations", "events", "attributes", "metadata"))
        check_standoff(self.text, self.entities, self.relations, self.events, self.attributes)

    def sentences(
        self, spans: Iterable[Span] | None = None, *, tokenize: Tokenizer | None = None
    ) -> tuple[Sentence, ...]:
        """Cut the document into sentences; `split` does the same and says what is lost.

        Examples
        --------
        >>> document = Document("Raf binds Ras. It is active.")
        >>> [(sentence.text, sentence.start) for sentence in document.sentences()]
        [('Raf binds Ras.', 0), ('It is active.', 15)]
        """
        return self.split(spans, tokenize=tokenize).sentences

    def split(
        self, spans: Iterable[Span] | None = None, *, tokenize: Tokenizer | None = None
    ) -> Cut:
        """Cut the document into sentences, and count what falls between them.

        A sentence gets the entities that lie in it, and the relations, events and attributes
        whose parts are all in it, events that are parts of events included.

        Parameters
        ----------
        spans : iterable of (start, end), optional
            The sentences, in order. By default they are found by rules for scientific English,
            never ending inside an entity; see `kernelwood.text.splitter.find_sentences`.
        tokenize : callable, optional
            ``tokenize(text, boundaries)`` gives the tokens of a sentence; a token should end at
            every boundary, these being the ends of entities. By default
            `kernelwood.text.tokenizer.tokenize`.

        Returns
        -------
        Cut
            ``sentences`` without the blanks around them, ``start`` being their place in the
            document; and ``lost``, how many annotations are in no sentence, by reason.

        Raises
        ------
        StructureError
            If spans are out of order, overlap or lie outside the text.

        Examples
        --------
        >>> from kernelwood.text import Argument
        >>> raf, ras = Entity("T1", "Protein", ((0, 3),)), Entity("T2", "Protein", ((12, 15),))
        >>> pair = Relation("R1", "Pair", (Argument("a", "T1"), Argument("b", "T2")))
        >>> sentences, lost = Document("Raf is new. Ras is not.", [raf, ras], [pair]).split()
        >>> [sentence.entities[0].spans for sentence in sentences]
        [((0, 3),), ((0, 3),)]
        >>> dict(lost)
        {'relation spans sentences': 1}
        """
        return cut_document(self, spans, tokenize)

    def annotate(self, sentences: Iterable[Sentence]) -> Cut:
        r"""Give sentences that come from elsewhere, say from a parser, the annotation of this text.

        Each sentence is looked for from left to right; blanks are not compared, so a text that
        was wrapped or tokenized is found too. The sentences get the text as it stands in the
        document, with the offsets of their tokens moved accordingly.

        Parameters
        ----------
        sentences : iterable of Sentence
            In the order of the document, without entities; some may be missing.

        Returns
        -------
        Cut
            As from `split`.

        Raises
        ------
        StructureError
            If a sentence is not found, is blank, or has annotation already.

        Examples
        --------
        >>> document = Document("Raf\nbinds Ras.", [Entity("T1", "Protein", ((10, 13),), "Ras")])
        >>> parsed = Sentence.from_words(["Raf", "binds", "Ras", "."])
        >>> [sentence] = document.annotate([parsed]).sentences
        >>> sentence.tokens_of(sentence.entities[0])
        (2,)
        """
        return annotate_sentences(self, sentences)

    def __repr__(self) -> str:
        parts = [
            counted(getattr(self, name), name)
            for name in ("entities", "relations", "events")
            if getattr(self, name)
        ]
        return f"Document({', '.join([shorten(repr(self.text)), *parts])})"
