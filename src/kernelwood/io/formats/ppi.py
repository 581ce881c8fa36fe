"""XML of interaction corpora: entities, pairs and parses.

Two dialects are read: the unified format of protein-protein interactions (PPI)

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

and that of drug-drug interactions (DDIExtraction 2013), one document a file::

    <document id="d0">
      <sentence id="d0.s0" text="Aspirin enhances warfarin.">
        <entity id="d0.s0.e0" charOffset="0-6" type="drug" text="Aspirin"/>
        <entity id="d0.s0.e1" charOffset="17-24" type="drug" text="warfarin"/>
        <pair id="d0.s0.p0" e1="d0.s0.e0" e2="d0.s0.e1" ddi="true" type="effect"/>

In the file ``charOffset`` counts both the first and the last character, and has several ranges
separated by commas or semicolons where an entity is discontinuous. The head of a dependency is
``t1``.

A pair is a relation from ``e1`` to ``e2`` that holds or does not, its arguments without roles. Its
type is ``"interaction"`` in the first dialect and the attribute ``type`` in the second. There a
negative pair has the type ``"ddi"``, and a positive pair without ``type`` has the type ``"int"``,
which in that corpus is an interaction without further information, with a remark. The values of
``interaction`` and ``ddi`` are ``true`` and ``false`` in either case. A pair with neither attribute
has the label that its type tells, or else none: it is left out. Both are remarked.

An entity that differs from the characters at its offsets is an error, unless all offsets are one
character too low or too high; then they are corrected, with a remark.

The view ``"sentence"`` has the parse of the parser ``split_parse`` over the tokenization
``split``, which does not let words run across the ends of entities; where there is none it has
the first parse. The view of every other parse is called ``"sentence."`` and the parser's name.
Other attributes of documents and sentences become metadata; other elements and attributes are
ignored.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.alignment import guess_unit
from kernelwood.io.ids import UsedIds
from kernelwood.io.selection import check_wanted
from kernelwood.io.source import Item, Remark, Source
from kernelwood.io.xml import XmlCollector, parse_xml
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

_OFFSETS = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_RANGES = re.compile("[,;]")
# Each comment is matched in one way only, so that many comments take linear time.
_PROLOG = r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^-]*(?:-(?!->)[^-]*)*-->\s*)*"
_PPI = re.compile(_PROLOG + r"<corpus[\s>]")
_DDI = re.compile(_PROLOG + r"<document[\s>]")
_TOKEN_DIFFERS = Remark("token text differs from the characters at its offsets")
_SHIFTED = Remark("entity stands one character beside its offsets; corrected")
_UNTYPED = Remark("interaction without a type; read as 'int'")
_UNLABELED = Remark("pair without the attribute ddi or interaction; left out")
_ONLY_TYPED = Remark("pair without the attribute ddi; labeled by its type")
_LABELS = ("ddi", "interaction")  # attributes that tell whether a pair interacts, by dialect
_NO_TYPES = frozenset(["none", "null", "no", "false", "negative", "ddi"])
_PREFERRED = ("split_parse", "split")  # parser and tokenizer
_MAX_BYTES = 1 << 22  # of one sentence with all its analyses
_MAX_ATTRIBUTES = 100  # of a document; each of its sentences gets a copy
_MAX_ANALYSES = 50  # of a sentence; each becomes a view
_PARTS = frozenset(
    ["document", "sentence", "entity", "pair", "parse", "dependency", "tokenization", "token"]
)


def looks_like_ppi(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be unified PPI XML.

    Examples
    --------
    >>> looks_like_ppi('<corpus source="letters">'), looks_like_ppi("<html>")
    (True, False)
    """
    return bool(_PPI.match(head))


def looks_like_ddi(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be DDIExtraction XML.

    Examples
    --------
    >>> looks_like_ddi('<document id="d0"><sentence '), looks_like_ddi("<document><p>")
    (True, False)
    """
    return bool(_DDI.match(head)) and "<sentence" in head


def read_ppi(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example for each sentence of either dialect, its id being that of the sentence.

    With ``views`` only those are built, and a sentence that lacks one of them is an error. A token
    that differs from the characters at its offsets is kept as it stands, with a remark.
    """
    used = UsedIds()
    enough = _PREFERRED if views is not None and set(views) <= {"sentence"} else None
    for written in _iter_sentences(source, enough):
        if isinstance(written, ReadError):
            yield written
            continue
        element = written.element
        try:
            example, remarks = _build(written, source, views)
        except StructureError as failure:
            yield source.locate(failure, element.line, element.column)
            continue
        repeated = used.check(example.id, element.line, source)
        if repeated is not None:
            yield repeated
            continue
        yield example
        yield from remarks


def _build(
    written: _WrittenSentence, source: Source, wanted: tuple[str, ...] | None
) -> tuple[Example, list[Remark]]:
    """Return the example and the remarks on it."""
    name, text = _need(written.element, "id"), _need(written.element, "text")
    parses = _named_parses(written.parses)
    remarks: list[Remark] = []
    entities = _entities(written.entities, text, remarks)
    relations = _relations(written.pairs, {entity.id for entity in entities}, remarks)
    metadata = _metadata(written)
    views = {}
    check_wanted(wanted, parses, "the sentence")
    for view in parses if wanted is None else dict.fromkeys(wanted):
        tokens, dependencies = _analysis(written, parses[view], text)
        remarks += [_TOKEN_DIFFERS for token in tokens if _differs(token, text)]
        views[view] = Sentence(
            text,
            tokens,
            dependencies,
            entities=entities,
            relations=relations,
            metadata=metadata,
        )
    return Example(name, views=views, origin=source.origin(written.element.line)), remarks


def _differs(token: Token, text: str) -> bool:
    # Nothing is copied, since every token of a hostile file may claim to be as long as the text.
    same_length = len(token.text) == token.end - token.start
    return not (same_length and text.startswith(token.text, token.start))


def _named_parses(parses: list[_Analysis]) -> dict[str, _Analysis | None]:
    """Return the parses by view; None for a sentence without parses."""
    if not parses:
        return {"sentence": None}
    names = [(_need(p.element, "parser"), _need(p.element, "tokenizer")) for p in parses]
    best = names.index(_PREFERRED) if _PREFERRED in names else 0
    named: dict[str, _Analysis | None] = {"sentence": parses[best]}
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


def _entities(elements: list[_Element], text: str, remarks: list[Remark]) -> tuple[Entity, ...]:
    made: dict[str, Entity] = {}
    for element in elements:
        name = _unused(element, made, "entity")
        written = _need(element, "text")
        spans = tuple(_spans(element, text))
        if not _reads(written, text, spans):
            hint, shifted = _offset_hint(written, text, spans), _shifted(written, text, spans)
            if hint is not None or shifted is None:
                found = " ".join(text[start:end] for start, end in spans)
                raise _problem(
                    f"entity {shorten(repr(name))} is {shorten(repr(written))}, but at its offsets "
                    f"stands {shorten(repr(found))}",
                    element,
                    hint or "offsets count characters from 0, the first and the last included",
                )
            spans = shifted
            remarks.append(_SHIFTED)
        made[name] = Entity(name, element.attributes.get("type", ""), spans, written)
    return tuple(made.values())


def _reads(written: str, text: str, spans: tuple[Span, ...]) -> bool:
    pieces = [text[start:end] for start, end in spans]
    return written in (" ".join(pieces), "".join(pieces))


def _shifted(written: str, text: str, spans: tuple[Span, ...]) -> tuple[Span, ...] | None:
    """Return the spans one character further or before, if the entity stands there."""
    for step in (1, -1):
        moved = tuple([(start + step, end + step) for start, end in spans])
        if moved[0][0] >= 0 and moved[-1][1] <= len(text) and _reads(written, text, moved):
            return moved
    return None


def _spans(element: _Element, text: str) -> Iterator[Span]:
    before = 0
    offsets = _need(element, "charOffset")
    for part in _RANGES.split(offsets):
        start, end = _span(part, element)
        if not before <= start < end <= len(text):
            raise _outside(offsets, element, text)
        yield start, end
        before = end


def _span(written: str, element: _Element) -> Span:
    match = _OFFSETS.fullmatch(written)
    if match is None:
        raise _problem(
            f"{shorten(repr(written))} is not a pair of offsets",
            element,
            'write the first and the last character, counted from 0: charOffset="0-2"',
        )
    return int(match[1]), int(match[2]) + 1


def _outside(written: str, element: _Element, text: str) -> StructureError:
    return _problem(
        f"the offsets {shorten(repr(written))} do not fit a text of {len(text)} characters",
        element,
        "they count the first and the last character from 0, and stand in order",
    )


def _offset_hint(written: str, text: str, spans: tuple[Span, ...]) -> str | None:
    """Return how offsets seem to have been counted, if that can be told."""
    guess = guess_unit(written, text, spans)
    if guess is not None:
        return guess
    if written == " ".join(text[start : end - 1] for start, end in spans):
        return "the offsets seem to end after the last character; write that of the last one"
    return None


def _relations(
    elements: list[_Element], entities: set[str], remarks: list[Remark]
) -> tuple[Relation, ...]:
    made: dict[str, Relation] = {}
    for element in elements:
        name = _unused(element, made, "pair")
        label = _label(element, remarks)
        if label is None:
            continue
        kind, holds = label
        targets = [(role, _need(element, role)) for role in ("e1", "e2")]
        for role, target in targets:
            if target not in entities:
                raise _problem(
                    f"there is no entity {shorten(repr(target))} in the sentence",
                    element,
                    f"{role} must be the id of an entity",
                )
        # Pairs have no direction, so arguments have no roles.
        arguments = tuple([Argument("", target) for _, target in targets])
        made[name] = Relation(name, kind, arguments, holds)
    return tuple(made.values())


def _label(element: _Element, remarks: list[Remark]) -> tuple[str, bool] | None:
    """Return the type of a pair and whether it interacts; None if it is not labeled."""
    attributes = element.attributes
    kind = next((key for key in _LABELS if key in attributes), None)
    if kind is None and not attributes.get("type"):
        remarks.append(_UNLABELED)
        return None
    if kind is None:  # the type tells
        remarks.append(_ONLY_TYPED)
        holds = attributes["type"].lower() not in _NO_TYPES
    else:
        value = attributes[kind]
        if value.lower() not in ("true", "false"):
            raise _problem(f"{kind} is {shorten(repr(value))}", element, "write true or false")
        holds = value.lower() == "true"
    if kind == "interaction":
        return kind, holds
    if not holds:
        return "ddi", False
    if not attributes.get("type"):
        remarks.append(_UNTYPED)
    return attributes.get("type") or "int", True


def _analysis(
    written: _WrittenSentence, parse: _Analysis | None, text: str
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


def _tokens(tokenization: _Analysis, text: str) -> tuple[tuple[Token, ...], dict[str, int]]:
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


def _dependencies(parse: _Analysis, indices: dict[str, int]) -> tuple[Dependency, ...]:
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


def _metadata(written: _WrittenSentence) -> Metadata:
    """Return the attributes of document and sentence that become metadata."""
    own = written.element.attributes.items()
    return (*written.document, *((key, value) for key, value in own if key not in ("id", "text")))


def _unused(element: _Element, used: Container[str], kind: str) -> str:
    """Return the id of an element, which must not be in ``used``."""
    name = _need(element, "id")
    if name in used:
        raise _repeated(name, kind, element)
    return name


def _repeated(name: str, kind: str, element: _Element) -> StructureError:
    return _problem(
        f"the id {shorten(repr(name))} belongs to another {kind} already",
        element,
        "ids are unique within a sentence",
    )


def _need(element: _Element, attribute: str) -> str:
    value = element.attributes.get(attribute)
    if value is None:
        raise _missing(attribute, element)
    return value


def _missing(attribute: str, element: _Element) -> StructureError:
    return _problem(f"the attribute {attribute} is missing", element)


def _problem(problem: str, element: _Element, hint: str | None = None) -> StructureError:
    return StructureError(problem, line=element.line, column=element.column, hint=hint)


class _Element(NamedTuple):
    """The attributes of a tag, and where it begins, counted from 1."""

    attributes: dict[str, str]
    line: int
    column: int


class _Analysis(NamedTuple):
    """A parse or a tokenization with the elements inside it."""

    element: _Element
    members: list[_Element]


@dataclass(slots=True)
class _WrittenSentence:
    """A sentence element with what belongs to it, in the order of the file.

    ``document`` has the attributes of the document, one tuple for all of its sentences.
    """

    element: _Element
    document: Metadata
    entities: list[_Element] = field(default_factory=list)
    pairs: list[_Element] = field(default_factory=list)
    parses: list[_Analysis] = field(default_factory=list)
    tokenizations: list[_Analysis] = field(default_factory=list)


_LEFT_OUT: list[_Element] = []  # stands for a list that is not kept; never filled


def _iter_sentences(
    source: Source, enough: tuple[str, str] | None = None
) -> Iterator[_WrittenSentence | ReadError]:
    """Yield the sentences of a file, and errors in its nesting.

    The parser is the hardened one of defusedxml, fed chunk by chunk: a document type, and with it
    every entity and external reference, is refused, and limits bound the memory.

    Parameters
    ----------
    source : Source
        The file.
    enough : (str, str), optional
        A parser and a tokenizer: if a sentence has this parse, the members of the analyses that
        follow and do not belong to it are left out.

    Raises
    ------
    ReadError
        If the file is not well-formed, declares a document type, or exceeds a limit.
    """
    collector = _Collector(source, enough)
    for _ in parse_xml(source, collector):
        yield from collector.take_finished()


class _Collector(XmlCollector):
    """Collects elements into sentences."""

    def __init__(self, source: Source, enough: tuple[str, str] | None) -> None:
        super().__init__(source)
        self._enough = enough
        self._document: Metadata = ()
        self._sentence: _WrittenSentence | None = None
        self._sentence_depth = 0
        self._given_up = False  # on the sentence that is open
        self._lists: dict[str, list[_Element]] = {}  # where elements go, by name
        self._finished: list[_WrittenSentence | ReadError] = []
        self._sentence_bytes = 0

    def take_finished(self) -> list[_WrittenSentence | ReadError]:
        finished, self._finished = self._finished, []
        return finished

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        collected = self._lists.get(name)
        if collected is not None:
            if collected is not _LEFT_OUT:
                expat = self.expat
                collected.append(
                    _Element(attributes, expat.CurrentLineNumber, expat.CurrentColumnNumber + 1)
                )
        elif name in _PARTS:
            self._open(name, _Element(attributes, *self.place()))
        elif self.depth == 1 and name != "corpus":
            raise self.error(
                f"the outermost element is <{shorten(name)}>, not <corpus> or <document>",
                hint="this is neither PPI nor DDI XML; give format=... if it is in another format",
            )

    def _open(self, name: str, element: _Element) -> None:
        sentence = self._sentence
        if self._given_up:
            return
        if name == "document" and sentence is None:
            if len(element.attributes) > _MAX_ATTRIBUTES:
                raise self.error(
                    f"the document has more than {_MAX_ATTRIBUTES} attributes",
                    hint="they are kept with each of its sentences; leave out what is not needed",
                )
            self._document = tuple(
                ("document" if key == "id" else f"document.{key}", value)
                for key, value in element.attributes.items()
            )
        elif name == "sentence" and sentence is None:
            self._sentence = opened = _WrittenSentence(element, self._document)
            self._sentence_depth = self.depth
            self._sentence_bytes = self.memory = 0
            self._lists = {"entity": opened.entities, "pair": opened.pairs}
        elif name == "parse" and sentence is not None and "dependency" not in self._lists:
            self._lists["dependency"] = members = [] if self._wants(sentence) else _LEFT_OUT
            self._add(_Analysis(element, members), sentence.parses)
        elif name == "tokenization" and sentence is not None and "token" not in self._lists:
            wanted = self._wants(sentence, element.attributes.get("tokenizer"))
            self._lists["token"] = members = [] if wanted else _LEFT_OUT
            self._add(_Analysis(element, members), sentence.tokenizations)
        else:
            self._misplaced(name)

    def _add(self, analysis: _Analysis, others: list[_Analysis]) -> None:
        others.append(analysis)
        if len(others) > _MAX_ANALYSES:
            problem = self.error(
                f"the sentence has more than {_MAX_ANALYSES} parses or tokenizations",
                hint="each parse becomes a view of its own; leave out those you do not need",
            )
            self._give_up(problem)

    def _wants(self, sentence: _WrittenSentence, tokenizer: str | None = None) -> bool:
        """Return whether the members of an analysis are needed; a parse has no tokenizer."""
        if self._enough is None or tokenizer == self._enough[1]:
            return True
        parses = [parse.element.attributes for parse in sentence.parses]
        return all((p.get("parser"), p.get("tokenizer")) != self._enough for p in parses)

    def _misplaced(self, name: str) -> None:
        problem = self.error(
            f"a <{name}> cannot stand here",
            hint="sentences hold entities, pairs, parses and tokenizations; parses hold "
            "dependencies, tokenizations hold tokens",
        )
        self._give_up(problem)

    def _give_up(self, problem: ReadError) -> None:
        """Report ``problem`` instead of the open sentence, if there is one."""
        self._finished.append(problem)
        self._given_up = self._sentence is not None
        self._lists = {}

    def end(self, name: str) -> None:
        if name == "sentence":
            if self._sentence is not None and self.depth == self._sentence_depth:
                if not self._given_up:
                    self._finished.append(self._sentence)
                self._sentence = None
                self._given_up = False
                self._lists = {}
        elif name == "parse":
            self._lists.pop("dependency", None)
        elif name == "tokenization":
            self._lists.pop("token", None)
        elif name == "document":
            self._document = ()
        self.depth -= 1

    def check_size(self, n_bytes: int, n_tags: int) -> None:
        """Count parsed bytes and tags; raise if a limit is exceeded."""
        super().check_size(n_bytes, n_tags)
        self._sentence_bytes += n_bytes
        sentence = self._sentence
        if sentence is None or self._given_up:
            return
        if self.memory > self.source.meter.limits.memory:
            self._give_up(self.source.too_large(sentence.element.line, "sentence"))
            return
        if self._sentence_bytes <= _MAX_BYTES:
            return
        problem = self.source.error(
            f"the sentence has more than {_MAX_BYTES:,} bytes",
            line=sentence.element.line,
            column=sentence.element.column,
            hint="perhaps its end tag is missing",
        )
        self._give_up(problem)
