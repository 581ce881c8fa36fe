"""Texts that spaCy, Stanza and the conllu package hold in memory.

None of these packages is imported to read their objects: only attributes are used.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kernelwood.errors import KernelInputError, StructureError
from kernelwood.structures import Tree, make_node, shorten
from kernelwood.text.annotation import (
    ROOT,
    Attribute,
    Dependency,
    EmptyNode,
    Entity,
    Multiword,
    Token,
)
from kernelwood.text.document import Document
from kernelwood.text.sentence import Sentence

_SPANS = "entities"  # key of doc.spans for all entities, also those that overlap


def from_spacy(doc: Any, *, spans: str | None = None) -> Document:
    """Return a spaCy ``Doc`` as a document.

    Parameters
    ----------
    doc : spacy.tokens.Doc
        Entities are those of ``doc.ents``; ``kb_id_`` and ``id_`` of an entity become attributes
        of the type ``"Reference"``. If the sentences of the ``Doc`` are known, the document has
        its tokens, lemmas, parts of speech and dependencies as ``parse``.
    spans : str, optional
        Use the spans ``doc.spans[spans]`` as entities instead.

    Returns
    -------
    Document
        Blanks that are tokens of spaCy are left out of the parse.

    Raises
    ------
    KernelInputError
        If the object is not a ``Doc``, or has no such spans.

    Examples
    --------
    >>> import spacy
    >>> doc = spacy.blank("en")("Raf-1 binds Ras.")
    >>> doc.ents = [doc.char_span(0, 5, label="protein", kb_id="UniProt:P04049")]
    >>> document = from_spacy(doc)
    >>> document
    Document('Raf-1 binds Ras.', 1 entity)
    >>> document.attributes[0].value
    'UniProt:P04049\\tRaf-1'
    """
    _check_class(doc, "spacy", "Doc", "from_spacy")
    if spans is not None and spans not in doc.spans:
        raise KernelInputError(
            f"the Doc {shorten(repr(doc.text))} has no doc.spans[{spans!r}]; it has "
            f"{', '.join(map(repr, doc.spans)) or 'none'}"
        )
    entities: list[Entity] = []
    references: list[Attribute] = []
    for number, span in enumerate(doc.ents if spans is None else doc.spans[spans], start=1):
        place = (span.start_char, span.end_char)
        entities.append(Entity(f"T{number}", span.label_, (place,), span.text))
        for reference in dict.fromkeys(filter(None, (span.kb_id_, span.id_))):
            name, value = f"N{len(references) + 1}", f"{reference}\t{span.text}"
            references.append(Attribute(name, "Reference", f"T{number}", value))
    parse = spacy_sentences(doc) if doc.has_annotation("SENT_START") else ()
    return Document(doc.text, tuple(entities), attributes=tuple(references), parse=tuple(parse))


def spacy_sentences(doc: Any) -> list[Sentence]:
    """Return the sentences of a spaCy ``Doc`` with their parses, without entities.

    If the ``Doc`` has no sentence boundaries, all of it is one sentence.
    """
    known = doc.has_annotation("SENT_START")
    return [made for span in (doc.sents if known else [doc[:]]) if (made := _spacy_sentence(span))]


def _spacy_sentence(span: Any) -> Sentence | None:
    """Return a sentence of spaCy, None if it has only blanks."""
    listed = list(span)
    words = [token for token in listed if not token.is_space]
    if not words:
        return None
    numbers = {token.i: place for place, token in enumerate(words)}
    heads = {token.i: token.head.i for token in listed}
    start = words[0].idx
    tokens, edges = [], []
    for place, token in enumerate(words):
        text, begin = token.text, token.idx - start
        fields = (token.lemma_, token.pos_, token.tag_, str(token.morph))
        tokens.append(Token(text, begin, begin + len(text), *fields))
        if token.dep_:
            head = _spacy_head(token, heads, numbers)
            edges.append(Dependency(head, "root" if head == ROOT else token.dep_, place))
    text = span.doc.text[start : start + tokens[-1].end]
    return Sentence(text, tuple(tokens), tuple(edges), start=start)


def _spacy_head(token: Any, heads: Mapping[int, int], numbers: Mapping[int, int]) -> int:
    """Return the number of the word that a token depends on; blanks between them are skipped."""
    at = token.i
    for _ in range(len(heads) + 1):
        head = heads.get(at)
        if head is None:
            raise KernelInputError(
                f"the head of {token.text!r} at character {token.idx} of the Doc is in another "
                "sentence"
            )
        if head == at:
            return ROOT
        if head in numbers:
            return numbers[head]
        at = head
    raise KernelInputError("the heads of the tokens of the Doc form a cycle")


def _check_class(value: Any, package: str, names: str, function: str) -> None:
    """Raise KernelInputError unless a value is of one of these classes of a package."""
    if not any(is_a(value, package, name) for name in names.split("|")):
        raise KernelInputError(
            f"{function} takes a {names.replace('|', ' or ')} of {package}, "
            f"got {type(value).__name__}"
        )


def is_a(value: object, package: str, name: str) -> bool:
    """Return whether a value is of a class of a package, which need not be imported.

    Examples
    --------
    >>> from collections import Counter
    >>> is_a(Counter(), "collections", "Counter"), is_a([], "collections", "Counter")
    (True, False)
    """
    return any(
        kind.__name__ == name and kind.__module__.partition(".")[0] == package
        for kind in type(value).__mro__
    )
