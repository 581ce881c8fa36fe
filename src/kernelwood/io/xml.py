"""Streamed XML: a hardened parser, fed chunk by chunk, and the base class of its handlers.

The parser is that of defusedxml: entities and external references are refused, and so is every
document type that declares something. A document type that only names a file may be accepted; the
file is not fetched. Limits bound the memory.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from kernelwood.errors import ReadError
from kernelwood.io.containers.compression import CHUNK
from kernelwood.io.source import Source
from kernelwood.structures import shorten

if TYPE_CHECKING:
    from pyexpat import XMLParserType

T = TypeVar("T")

MAX_TAG = 1 << 22  # bytes of a tag or comment
_TAG_MEMORY, _BYTE_MEMORY = 500, 4  # estimated bytes of an element and of a byte of text
_ENCODING = re.compile(rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.-]{1,40})["']""")


class XmlCollector:
    """Base class of objects that collect the elements of a file.

    Attributes
    ----------
    expat : XMLParserType
        The parser.
    depth : int
        Number of open elements; counted by `start` and `end`.
    source : Source
        The file.
    memory : int
        Estimated bytes that the open part of the file takes; counted by `check_size`. A collector
        that keeps a part sets it to 0 where the part begins.
    """

    max_depth = 250_000

    def __init__(self, source: Source) -> None:
        self.expat: XMLParserType
        self.depth = 0
        self.source = source
        self.memory = 0
        self._added_lines = 0  # that are not at this place of the file
        self._tag_bytes = 0
        self._last_place = (0, 0)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle a start tag."""
        raise NotImplementedError

    def end(self, name: str) -> None:
        """Handle an end tag."""
        raise NotImplementedError

    def entity(self, name: str) -> None:
        """Handle an entity that the document type, which is not fetched, may define."""
        raise self.error(
            f"the entity &{shorten(name)}; is not defined", hint="write the character itself"
        )

    def place(self) -> tuple[int, int]:
        """Return the current line and column, both from 1."""
        line = self.expat.CurrentLineNumber - self._added_lines
        return line, self.expat.CurrentColumnNumber + 1

    def wrap(self, before: bytes) -> None:
        """Count lines as if these bytes, read first, were not there."""
        self._added_lines = before.count(b"\n") + 1 - self.source.extent.line

    def error(self, problem: str, hint: str | None = None) -> ReadError:
        """Return (not raise) an error at the current place."""
        line, column = self.place()
        return self.source.error(problem, line=line, column=column, hint=hint)

    def check_size(self, n_bytes: int, n_tags: int) -> None:
        """Count parsed bytes and tags; raise if a limit is exceeded."""
        self.memory += n_bytes * _BYTE_MEMORY + n_tags * _TAG_MEMORY
        if self.depth > self.max_depth:
            raise self.error(
                f"elements are nested more than {self.max_depth:,} deep",
                hint="perhaps end tags are missing",
            )
        place = self.place()
        self._tag_bytes = self._tag_bytes + n_bytes if place == self._last_place else 0
        self._last_place = place
        if self._tag_bytes > MAX_TAG:
            raise self.error(
                f"a tag or comment has more than {MAX_TAG:,} bytes",
                hint="perhaps a quotation mark or an angle bracket is missing",
            )


def parse_xml(
    source: Source,
    collector: XmlCollector,
    *,
    doctype: bool = False,
    around: tuple[bytes, bytes] = (b"", b""),
) -> Iterator[None]:
    """Parse a file; the collector is called directly, and control returns after each chunk.

    Parameters
    ----------
    source : Source
        The file; one that is blank has no elements.
    collector : XmlCollector
        Called for each tag.
    doctype : bool
        Whether a document type that declares nothing is accepted.
    around : (bytes, bytes)
        Tags before and after the elements, for a part of a file; complete lines.

    Raises
    ------
    ReadError
        If the file is not well-formed, declares entities, or exceeds a limit; after the last
        return, so that elements before the problem are not lost.
    """
    parser = _make_parser(collector, source.head, doctype=doctype)
    collector.wrap(around[0])
    # read1, since read would lose the bytes before a damaged place of compressed data
    read = partial(source.stream.read1, CHUNK)  # type: ignore[attr-defined]
    blank = True
    for chunk in chain(filter(None, around[:1]), iter(read, b""), filter(None, around[1:]), [b""]):
        blank = blank and not chunk.strip()
        if blank and not chunk:
            return
        problem = _feed(parser, collector, chunk)
        yield
        if problem is not None:
            raise problem


class _Silent(XmlCollector):
    """Collects nothing."""

    start = end = None  # type: ignore[assignment]  # a handler would take most of the time

    def entity(self, name: str) -> None:
        """Accept an entity."""


def is_complete(source: Source, chunks: Iterable[bytes]) -> bool:
    """Return whether some bytes of a file that accepts a document type are a whole document."""
    collector = _Silent(source)
    parser = _make_parser(collector, source.head, doctype=True)
    parts = chain(filter(None, chunks), [b""])
    return all(_feed(parser, collector, part) is None for part in parts)


def _make_parser(collector: XmlCollector, head: bytes, *, doctype: bool) -> Any:
    from defusedxml import DTDForbidden
    from defusedxml.expatreader import DefusedExpatParser  # slow to import

    declared = _ENCODING.match(head)

    class Parser(DefusedExpatParser):  # type: ignore[misc]  # defusedxml has no types
        def reset(self) -> None:
            # The parser knows UTF-8 by one name only.
            if declared is not None and _is_utf8(declared[1].decode()):
                self._source.setEncoding("utf-8")
            super().reset()
            expat = collector.expat = self._parser
            expat.buffer_text = True
            expat.StartElementHandler = collector.start
            expat.EndElementHandler = collector.end
            expat.CharacterDataHandler = None  # collectors that need text set it
            if doctype:
                expat.SetParamEntityParsing(0)  # never: the document type is not fetched
                expat.StartDoctypeDeclHandler = _check_doctype
                expat.SkippedEntityHandler = _skipped

    def _check_doctype(name: str, system: object, public: object, declares: int) -> None:
        if declares:
            raise DTDForbidden(name, system, public)

    def _skipped(name: str, is_parameter: int) -> None:
        if not is_parameter:
            collector.entity(name)

    return Parser(forbid_dtd=not doctype)


def _is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        return False


def _feed(parser: Any, collector: XmlCollector, chunk: bytes) -> ReadError | None:
    """Parse a chunk, or the end of the file if it is empty; return the error if there is one."""
    from xml.sax import SAXParseException

    from defusedxml import DefusedXmlException

    try:
        if chunk:
            parser.feed(chunk)
        else:
            parser.close()
        collector.check_size(len(chunk), chunk.count(b"<"))
    except ReadError as failure:
        return failure
    except DefusedXmlException:
        return collector.error(
            "the file declares a document type or entities of its own",
            hint="remove the declaration; entities can make a small file fill the memory",
        )
    except SAXParseException as failure:
        return collector.error(
            f"this is not well-formed XML: {failure.getMessage()}",
            hint="the rest cannot be read; if a character is odd here, the file may not be in the "
            "encoding it declares (UTF-8 if none)",
        )
    except (LookupError, ValueError) as failure:
        return collector.error(
            f"the declared encoding cannot be read: {shorten(str(failure))}",
            hint="convert the file to UTF-8",
        )
    return None
