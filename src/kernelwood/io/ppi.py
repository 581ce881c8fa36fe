"""Unified XML of protein-protein interactions: entities, pairs and parses.

::

    <corpus>
      <document id="d0">
        <sentence id="d0.s0" text="Raf binds Ras.">
          <entity charOffset="0-2" id="d0.s0.e0" text="Raf" type="protein" />
          <entity charOffset="10-12" id="d0.s0.e1" text="Ras" type="protein" />
          <pair e1="d0.s0.e0" e2="d0.s0.e1" id="d0.s0.p0" interaction="True" />
          <sentenceanalyses>
            <parses>
              <parse parser="split_parse" tokenizer="split">
                <dependency t1="st_2" t2="st_1" type="nsubj" />
                ...
            <tokenizations>
              <tokenization tokenizer="split">
                <token POS="NN" charOffset="0-2" id="st_1" text="Raf" />
                ...

In the file ``charOffset`` counts both the first and the last character, and has several ranges
separated by commas where an entity is discontinuous. The head of a dependency is ``t1``.

The view ``"sentence"`` has the parse of the parser ``split_parse`` over the tokenization
``split``, which does not let words run across the ends of entities; where there is none it has
the first parse. The view of every other parse is called ``"sentence."`` and the parser's name.
Elements and attributes that are not shown above are passed over, but those of documents and
sentences are kept as metadata.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.alignment import guess_unit
from kernelwood.io.ids import UsedIds
from kernelwood.io.source import Item, Remark, Source
from kernelwood.structures import shorten
from kernelwood.text import (
    Argument,
    Dependency,
    Entity,
    Example,
    Metadata,
    Relation,
    Sentence,
    Span,
    Token,
)

if TYPE_CHECKING:
    from kernelwood.io.ppi_xml import Analysis, Element, WrittenSentence

__all__ = ["looks_like_ppi", "read_ppi"]

_OFFSETS = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
# A comment is matched in one way only: of two, many comments would make more than can be tried.
_SIGNATURE = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^-]*(?:-(?!->)[^-]*)*-->\s*)*<corpus[\s>]")
_TOKEN_DIFFERS = Remark("token text differs from the characters at its offsets")
_HOLDS = {"True": True, "False": False}
_PREFERRED = ("split_parse", "split")  # parser and tokenizer


def looks_like_ppi(head: str) -> bool:
    """Say whether a file that begins with ``head`` may be unified PPI XML.

    Examples
    --------
    >>> looks_like_ppi('<corpus source="letters">'), looks_like_ppi("<html>")
    (True, False)
    """
    return bool(_SIGNATURE.match(head))


def read_ppi(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example for each sentence, its id being that of the sentence.

    With ``views`` only those are built, and a sentence that lacks one of them is an error. A token
    that differs from the characters at its offsets is kept as it stands, with a remark.
    """
    from kernelwood.io.ppi_xml import iter_sentences  # needs an XML parser, which most never do

    used = UsedIds()
    enough = _PREFERRED if views is not None and set(views) <= {"sentence"} else None
    for written in iter_sentences(source, enough):
        if isinstance(written, ReadError):
            yield written
            continue
        element = written.element
        try:
            example, n_remarks = _build(written, source, views)
        except StructureError as failure:
            yield source.locate(failure, element.line, element.column)
            continue
        repeated = used.check(example.id, element.line, source)
        if repeated is not None:
            yield repeated
            continue
        yield example
        for _ in range(n_remarks):
            yield _TOKEN_DIFFERS


def _build(
    written: WrittenSentence, source: Source, wanted: tuple[str, ...] | None
) -> tuple[Example, int]:
    """Return the example and the number of tokens to remark on."""
    name, text = _need(written.element, "id"), _need(written.element, "text")
    parses = _named_parses(written.parses)
    entities = _entities(written.entities, text)
    relations = _relations(written.pairs, {entity.id for entity in entities})
    metadata = _metadata(written)
    views, n_remarks = {}, 0
    for view in _choose_views(parses, wanted):
        tokens, dependencies = _analysis(written, parses[view], text)
        n_remarks += sum(_differs(token, text) for token in tokens)
        views[view] = Sentence(
            text,
            tokens,
            dependencies,
            entities=entities,
            relations=relations,
            metadata=metadata,
        )
    return Example(name, views=views, origin=source.origin(written.element.line)), n_remarks


def _differs(token: Token, text: str) -> bool:
    # Without a copy of what stands there: every token may claim to be as long as the text.
    same_length = len(token.text) == token.end - token.start
    return not (same_length and text.startswith(token.text, token.start))


def _named_parses(parses: list[Analysis]) -> dict[str, Analysis | None]:
    """Return the parses by view; None is the parse of a sentence without any."""
    if not parses:
        return {"sentence": None}
    names = [(_need(p.element, "parser"), _need(p.element, "tokenizer")) for p in parses]
    best = names.index(_PREFERRED) if _PREFERRED in names else 0
    named: dict[str, Analysis | None] = {"sentence": parses[best]}
    for index, (parse, (parser, _)) in enumerate(zip(parses, names, strict=True)):
        if index == best:
            continue
        if f"sentence.{parser}" in named:
            raise _problem(
                f"there is a second parse by {shorten(repr(parser))}",
                parse.element,
                "views are named by the parser, so its name must be unique in the sentence",
            )
        named[f"sentence.{parser}"] = parse
    return named


def _choose_views(parses: dict[str, Analysis | None], wanted: tuple[str, ...] | None) -> list[str]:
    for name in wanted or ():
        if name not in parses:
            near = get_close_matches(name, parses, n=1)
            guess = f"did you mean {near[0]!r}? " if near else ""
            raise StructureError(
                f"there is no view {name!r}",
                hint=f"{guess}the sentence has {shorten(', '.join(parses), 200)}",
            )
    return list(parses if wanted is None else dict.fromkeys(wanted))


def _entities(elements: list[Element], text: str) -> tuple[Entity, ...]:
    made: dict[str, Entity] = {}
    for element in elements:
        name = _unused(element, made, "entity")
        written = _need(element, "text")
        spans = tuple(_spans(element, text))
        pieces = [text[start:end] for start, end in spans]
        if written != " ".join(pieces) and written != "".join(pieces):
            raise _problem(
                f"entity {shorten(repr(name))} is {shorten(repr(written))}, but at its offsets "
                f"stands {shorten(repr(' '.join(pieces)))}",
                element,
                _offset_hint(written, text, spans),
            )
        made[name] = Entity(name, element.attributes.get("type", ""), spans, written)
    return tuple(made.values())


def _spans(element: Element, text: str) -> Iterator[Span]:
    before = 0
    offsets = _need(element, "charOffset")
    for part in offsets.split(","):
        start, end = _span(part, element)
        if not before <= start < end <= len(text):
            raise _outside(offsets, element, text)
        yield start, end
        before = end


def _span(written: str, element: Element) -> Span:
    match = _OFFSETS.fullmatch(written)
    if match is None:
        raise _problem(
            f"{shorten(repr(written))} is no pair of offsets",
            element,
            'write the first and the last character, counted from 0: charOffset="0-2"',
        )
    return int(match[1]), int(match[2]) + 1


def _outside(written: str, element: Element, text: str) -> StructureError:
    return _problem(
        f"the offsets {shorten(repr(written))} do not fit a text of {len(text)} characters",
        element,
        "they count the first and the last character from 0, and stand in order",
    )


def _offset_hint(written: str, text: str, spans: tuple[Span, ...]) -> str:
    """Say how offsets are to be counted, and how they were if that can be told."""
    guess = guess_unit(written, text, spans)
    if guess is not None:
        return guess
    if written == " ".join(text[start : end - 1] for start, end in spans):
        return "the offsets seem to end after the last character; write that of the last one"
    return "offsets count characters from 0, the first and the last included"


def _relations(elements: list[Element], entities: set[str]) -> tuple[Relation, ...]:
    made: dict[str, Relation] = {}
    for element in elements:
        name = _unused(element, made, "pair")
        holds = _HOLDS.get(_need(element, "interaction"))
        if holds is None:
            raise _problem(
                f"interaction is {shorten(repr(element.attributes['interaction']))}",
                element,
                "write True or False",
            )
        targets = [(role, _need(element, role)) for role in ("e1", "e2")]
        for role, target in targets:
            if target not in entities:
                raise _problem(
                    f"there is no entity {shorten(repr(target))} in the sentence",
                    element,
                    f"{role} must be the id of an entity",
                )
        # Pairs have no direction, so neither end has a role.
        arguments = tuple([Argument("", target) for _, target in targets])
        made[name] = Relation(name, "interaction", arguments, holds)
    return tuple(made.values())


def _analysis(
    written: WrittenSentence, parse: Analysis | None, text: str
) -> tuple[tuple[Token, ...], tuple[Dependency, ...]]:
    """Return the tokens and dependencies of a parse; without a parse, tokens if there are any."""
    found = {_need(each.element, "tokenizer"): each for each in written.tokenizations}
    if len(found) < len(written.tokenizations):
        raise StructureError(
            "two tokenizations have the same tokenizer", hint="parses refer to it; rename one"
        )
    if parse is None:
        tokenization = found.get(_PREFERRED[1], next(iter(found.values()), None))
        return (() if tokenization is None else _tokens(tokenization, text)[0]), ()
    tokenizer = parse.element.attributes["tokenizer"]
    if tokenizer not in found:
        raise _problem(
            f"there is no tokenization {shorten(repr(tokenizer))}",
            parse.element,
            f"the sentence has {shorten(', '.join(found), 200) or 'none'}",
        )
    tokens, indices = _tokens(found[tokenizer], text)
    return tokens, _dependencies(parse, indices)


def _tokens(tokenization: Analysis, text: str) -> tuple[tuple[Token, ...], dict[str, int]]:
    """Return the tokens, and their indices by id."""
    tokens: list[Token] = []
    indices: dict[str, int] = {}
    length = len(text)
    for element in tokenization.members:
        attributes = element.attributes
        try:
            word, offsets, name = attributes["text"], attributes["charOffset"], attributes["id"]
        except KeyError as missing:
            raise _missing(missing.args[0], element) from None
        if name in indices:
            raise _repeated(name, "token", element)
        start, end = _span(offsets, element)
        if not start < end <= length:
            raise _outside(offsets, element, text)
        indices[name] = len(tokens)
        tokens.append(Token(word, start, end, "", "", attributes.get("POS", "")))
    return tuple(tokens), indices


def _dependencies(parse: Analysis, indices: dict[str, int]) -> tuple[Dependency, ...]:
    made = []
    for element in parse.members:
        attributes = element.attributes
        try:
            head, relation, dependent = attributes["t1"], attributes["type"], attributes["t2"]
        except KeyError as missing:
            raise _missing(missing.args[0], element) from None
        try:
            made.append(Dependency(indices[head], relation, indices[dependent]))
        except KeyError as unknown:
            raise _problem(
                f"there is no token {shorten(repr(unknown.args[0]))} in the tokenization",
                element,
                "t1 and t2 must be ids of tokens",
            ) from None
    return tuple(made)


def _metadata(written: WrittenSentence) -> Metadata:
    """Return the attributes of document and sentence that have no place of their own."""
    own = written.element.attributes.items()
    return (*written.document, *((key, value) for key, value in own if key not in ("id", "text")))


def _unused(element: Element, used: Container[str], kind: str) -> str:
    """Return the id of an element, which must not be in ``used``."""
    name = _need(element, "id")
    if name in used:
        raise _repeated(name, kind, element)
    return name


def _repeated(name: str, kind: str, element: Element) -> StructureError:
    return _problem(
        f"the id {shorten(repr(name))} belongs to another {kind} already",
        element,
        "ids are unique within a sentence",
    )


def _need(element: Element, attribute: str) -> str:
    value = element.attributes.get(attribute)
    if value is None:
        raise _missing(attribute, element)
    return value


def _missing(attribute: str, element: Element) -> StructureError:
    return _problem(f"the attribute {attribute} is missing", element)


def _problem(problem: str, element: Element, hint: str | None = None) -> StructureError:
    return StructureError(problem, line=element.line, column=element.column, hint=hint)
