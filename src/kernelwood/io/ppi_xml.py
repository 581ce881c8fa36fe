"""The sentences of a unified PPI XML file as they are written, one at a time.

Nothing is interpreted here but the nesting of the elements. The parser is the hardened one of
defusedxml, fed chunk by chunk: a document type, and with it every entity and external reference,
is refused, and what a file can make us keep is bounded by the limits below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from xml.sax import SAXParseException

from defusedxml import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from kernelwood.errors import ReadError
from kernelwood.io.source import Source
from kernelwood.structures import shorten
from kernelwood.text import Metadata

if TYPE_CHECKING:
    from pyexpat import XMLParserType

__all__ = ["Analysis", "Element", "WrittenSentence", "iter_sentences"]

_CHUNK = 1 << 16
_MAX_BYTES = 1 << 22  # of one tag, and of one sentence with all its analyses
_MAX_DEPTH = 250_000
# What every sentence of a document, and every parse of a sentence, gets a copy of.
_MAX_ATTRIBUTES = 100
_MAX_ANALYSES = 50
_LEFT_OUT: list[Element] = []  # stands for a list that is not kept; never filled
_PARTS = frozenset(
    ["document", "sentence", "entity", "pair", "parse", "dependency", "tokenization", "token"]
)


class Element(NamedTuple):
    """The attributes of a tag, and where it begins, counted from 1."""

    attributes: dict[str, str]
    line: int
    column: int


class Analysis(NamedTuple):
    """A parse or a tokenization with the elements inside it."""

    element: Element
    members: list[Element]


@dataclass(slots=True)
class WrittenSentence:
    """A sentence element with what belongs to it, in the order of the file.

    ``document`` has the attributes of the document, one tuple for all of its sentences.
    """

    element: Element
    document: Metadata
    entities: list[Element] = field(default_factory=list)
    pairs: list[Element] = field(default_factory=list)
    parses: list[Analysis] = field(default_factory=list)
    tokenizations: list[Analysis] = field(default_factory=list)


def iter_sentences(
    source: Source, enough: tuple[str, str] | None = None
) -> Iterator[WrittenSentence | ReadError]:
    """Yield the sentences of a file, and what is wrong with its nesting.

    Parameters
    ----------
    source : Source
        The file.
    enough : (str, str), optional
        A parser and a tokenizer: where a sentence has this parse, the members of analyses that
        follow and do not belong to it are left out.

    Raises
    ------
    ReadError
        Where the file is not well-formed, declares a document type, or exceeds a limit.
    """
    collector = _Collector(source, enough)
    parser = _Parser(collector)
    blank = True
    chunk = b" "
    while chunk:
        chunk = source.stream.read(_CHUNK)
        blank = blank and not chunk.strip()
        if blank and not chunk:
            return
        problem = _feed(parser, chunk)
        yield from collector.take_finished()
        if problem is not None:
            raise problem


def _feed(parser: _Parser, chunk: bytes) -> ReadError | None:
    """Parse a chunk, or the end of the file if it is empty; return what was wrong."""
    try:
        if chunk:
            parser.feed(chunk)
        else:
            parser.close()
        parser.collector.check_size(len(chunk))
    except ReadError as failure:
        return failure
    except DefusedXmlException:
        return parser.collector.error(
            "the file declares a document type",
            hint="this format needs none; a DTD and the entities in it can do harm: remove them",
        )
    except SAXParseException as failure:
        return parser.collector.error(
            f"this is not well-formed XML: {failure.getMessage()}",
            hint="the rest cannot be read; if a character is odd here, the file may not be in the "
            "encoding it declares (UTF-8 if none)",
        )
    except (LookupError, ValueError) as failure:
        return parser.collector.error(
            f"the declared encoding cannot be read: {shorten(str(failure))}",
            hint="convert the file to UTF-8",
        )
    return None


class _Parser(DefusedExpatParser):  # type: ignore[misc]  # defusedxml has no types
    """The hardened parser, calling a collector directly: there is a call for every word."""

    def __init__(self, collector: _Collector) -> None:
        super().__init__(forbid_dtd=True)
        self.collector = collector

    def reset(self) -> None:
        super().reset()
        expat = self.collector.expat = self._parser
        expat.StartElementHandler = self.collector.start
        expat.EndElementHandler = self.collector.end
        expat.CharacterDataHandler = None  # there is no text but in attributes


class _Collector:
    """Puts elements into the sentence that is open."""

    def __init__(self, source: Source, enough: tuple[str, str] | None) -> None:
        self.expat: XMLParserType
        self._source = source
        self._enough = enough
        self._depth = 0
        self._document: Metadata = ()
        self._sentence: WrittenSentence | None = None
        self._sentence_depth = 0
        self._given_up = False  # on the sentence that is open
        self._lists: dict[str, list[Element]] = {}  # where elements go, by name
        self._finished: list[WrittenSentence | ReadError] = []
        self._sentence_bytes = 0
        self._tag_bytes = 0
        self._last_place = (0, 0)

    def take_finished(self) -> list[WrittenSentence | ReadError]:
        finished, self._finished = self._finished, []
        return finished

    def place(self) -> tuple[int, int]:
        return self.expat.CurrentLineNumber, self.expat.CurrentColumnNumber + 1

    def error(self, problem: str, hint: str | None = None) -> ReadError:
        line, column = self.place()
        return self._source.error(problem, line=line, column=column, hint=hint)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        collected = self._lists.get(name)
        if collected is not None:
            if collected is not _LEFT_OUT:
                expat = self.expat
                collected.append(
                    Element(attributes, expat.CurrentLineNumber, expat.CurrentColumnNumber + 1)
                )
        elif name in _PARTS:
            self._open(name, Element(attributes, *self.place()))
        elif self._depth == 1 and name != "corpus":
            raise self.error(
                f"the outermost element is <{shorten(name)}>, not <corpus>",
                hint="this is no unified PPI file; say format=... if it is something else",
            )

    def _open(self, name: str, element: Element) -> None:
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
            self._sentence = opened = WrittenSentence(element, self._document)
            self._sentence_depth = self._depth
            self._sentence_bytes = 0
            self._lists = {"entity": opened.entities, "pair": opened.pairs}
        elif name == "parse" and sentence is not None and "dependency" not in self._lists:
            self._lists["dependency"] = members = [] if self._wants(sentence) else _LEFT_OUT
            self._add(Analysis(element, members), sentence.parses)
        elif name == "tokenization" and sentence is not None and "token" not in self._lists:
            wanted = self._wants(sentence, element.attributes.get("tokenizer"))
            self._lists["token"] = members = [] if wanted else _LEFT_OUT
            self._add(Analysis(element, members), sentence.tokenizations)
        else:
            self._misplaced(name)

    def _add(self, analysis: Analysis, others: list[Analysis]) -> None:
        others.append(analysis)
        if len(others) > _MAX_ANALYSES:
            problem = self.error(
                f"the sentence has more than {_MAX_ANALYSES} parses or tokenizations",
                hint="each parse becomes a view of its own; leave out those you do not need",
            )
            self._give_up(problem)

    def _wants(self, sentence: WrittenSentence, tokenizer: str | None = None) -> bool:
        """Say whether an analysis is needed; a parse has no tokens of its own."""
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
        """Keep no more of the sentence that is open, if one is, than what is wrong with it."""
        self._finished.append(problem)
        self._given_up = self._sentence is not None
        self._lists = {}

    def end(self, name: str) -> None:
        if name == "sentence":
            if self._sentence is not None and self._depth == self._sentence_depth:
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
        self._depth -= 1

    def check_size(self, n_bytes: int) -> None:
        """Take note of bytes that were parsed; raise if they would make us keep too much."""
        if self._depth > _MAX_DEPTH:
            raise self.error(
                f"elements are nested more than {_MAX_DEPTH:,} deep",
                hint="perhaps end tags are missing",
            )
        place = self.place()
        self._tag_bytes = self._tag_bytes + n_bytes if place == self._last_place else 0
        self._last_place = place
        if self._tag_bytes > _MAX_BYTES:
            raise self.error(
                f"a tag or comment has more than {_MAX_BYTES:,} bytes",
                hint="perhaps a quotation mark or an angle bracket is missing",
            )
        self._sentence_bytes += n_bytes
        sentence = self._sentence
        if sentence is None or self._given_up or self._sentence_bytes <= _MAX_BYTES:
            return
        problem = self._source.error(
            f"the sentence has more than {_MAX_BYTES:,} bytes",
            line=sentence.element.line,
            column=sentence.element.column,
            hint="perhaps its end tag is missing",
        )
        self._give_up(problem)
