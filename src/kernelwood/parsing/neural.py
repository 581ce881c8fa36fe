"""What the backends of spaCy and Stanza share: parsed tokens of a text become its sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence as Listing
from typing import NamedTuple, Protocol

from kernelwood.errors import KernelInputError
from kernelwood.parsing.documents import as_documents, cut_text, join_across
from kernelwood.structures import Tree
from kernelwood.text import ROOT, Dependency, Document, Entity, Multiword, Sentence, Span, Token

__all__ = ["ParsedText", "Word", "analyze_documents", "sentences_of"]

MOST_CHARACTERS = 100_000  # of a text that is parsed at once


class Word(NamedTuple):
    """A word with its place in the text, and its head as an index of all words, or ``ROOT``."""

    token: Token
    head: int
    relation: str


class ParsedText(NamedTuple):
    """A parsed text.

    Attributes
    ----------
    words : list of Word
        All words in order, none of them blank.
    ends : list of int
        The number of words up to the end of each sentence.
    entities : list of (str, int, int)
        Type, start and end of what was recognized.
    trees : list of Tree or None
        The tree of each sentence; may be empty.
    multiwords : list of Multiword
        Words that are written as one.
    """

    words: list[Word]
    ends: list[int]
    entities: list[tuple[str, int, int]] = []  # noqa: RUF012
    trees: list[Tree | None] = []  # noqa: RUF012
    multiwords: list[Multiword] = []  # noqa: RUF012


class _Parse(Protocol):
    def __call__(self, texts: list[str]) -> Iterable[ParsedText]: ...


def analyze_documents(
    documents: Listing[Document], parse: _Parse, *, entities: bool
) -> list[list[Sentence]]:
    """Return the sentences of documents whose texts ``parse`` parses.

    Texts are parsed in parts of at most 100,000 characters, cut between sentences. Where the
    parser ends a sentence inside of an entity, the two sentences stay one, with two roots.
    """
    listed = as_documents(documents)
    cuts = [cut_text(document, MOST_CHARACTERS) for document in listed]
    texts = [
        document.text[start:end]
        for document, spans in zip(listed, cuts, strict=True)
        for start, end in spans
    ]
    parsed = iter(parse(texts))
    found = []
    for document, spans in zip(listed, cuts, strict=True):
        parts = [(start, next(parsed)) for start, _ in spans]
        found.append(sentences_of(document, parts, entities=entities))
    return found


def sentences_of(
    document: Document, parts: list[tuple[int, ParsedText]], *, entities: bool
) -> list[Sentence]:
    """Return the sentences of a document whose text was parsed in parts, each with its start."""
    if entities and not document.entities:
        document = _recognized(document, parts)
    return _sentences(document, parts)


def _recognized(document: Document, parts: list[tuple[int, ParsedText]]) -> Document:
    spans = [(kind, a + shift, b + shift) for shift, part in parts for kind, a, b in part.entities]
    named = [
        Entity(f"T{number}", kind, ((start, end),), document.text[start:end])
        for number, (kind, start, end) in enumerate(spans, start=1)
    ]
    return Document(document.text, tuple(named), metadata=document.metadata)


def _sentences(document: Document, parts: list[tuple[int, ParsedText]]) -> list[Sentence]:
    pieces = [piece for shift, part in parts for piece in _pieces(part, shift)]
    spans = join_across([piece.span for piece in pieces], document)
    bare = []
    at = 0
    for start, end in spans:
        group = []
        while at < len(pieces) and pieces[at].span[1] <= end:
            group.append(pieces[at])
            at += 1
        bare.append(_join(document.text[start:end], start, group))
    cut = document.annotate(bare)
    return list(cut.sentences)


class _Piece(NamedTuple):
    """A sentence the parser found; heads and multiwords count from its own first word."""

    span: Span
    words: list[Word]
    tree: Tree | None
    multiwords: list[Multiword]


def _pieces(part: ParsedText, shift: int) -> Iterable[_Piece]:
    begin = 0
    for number, end in enumerate(part.ends):
        words = [
            word._replace(
                token=word.token._replace(
                    start=word.token.start + shift, end=word.token.end + shift
                ),
                head=word.head - begin if word.head != ROOT else ROOT,
            )
            for word in part.words[begin:end]
        ]
        inside = [m for m in part.multiwords if begin <= m.first < end]
        own = [m._replace(first=m.first - begin, end=m.end - begin) for m in inside]
        tree = part.trees[number] if part.trees else None
        if words:
            span = (words[0].token.start, max(word.token.end for word in words))
            yield _Piece(span, words, tree, own)
        begin = end


def _join(text: str, start: int, group: list[_Piece]) -> Sentence:
    tokens: list[Token] = []
    edges: list[Dependency] = []
    multiwords: list[Multiword] = []
    for piece in group:
        first = len(tokens)
        for place, (token, head, relation) in enumerate(piece.words):
            tokens.append(token._replace(start=token.start - start, end=token.end - start))
            if relation:
                target = ROOT if head == ROOT else first + head
                edges.append(Dependency(target, relation, first + place))
        multiwords += [
            m._replace(first=m.first + first, end=m.end + first) for m in piece.multiwords
        ]
    tree = group[0].tree if len(group) == 1 else None
    return Sentence(text, tuple(tokens), tuple(edges), tree, multiwords=tuple(multiwords))


def climb(head: int, kept: Callable[[int], bool], head_of: Callable[[int], int]) -> int:
    """Return the nearest head that is kept, ``ROOT`` if there is none."""
    seen = 0
    while head != ROOT and not kept(head):
        head = head_of(head)
        seen += 1
        if seen > MOST_CHARACTERS:
            raise KernelInputError("the heads of the words go round in a circle")
    return head
