r"""BioC as XML; `kernelwood.io.formats.bioc` describes its parts.

::

    <!DOCTYPE collection SYSTEM "BioC.dtd">
    <collection><source>PubMed</source><date></date><key></key>
      <document><id>27</id>
        <passage><infon key="type">title</infon><offset>0</offset><text>Raf binds Ras</text>
          <annotation id="1"><infon key="type">Gene</infon><infon key="identifier">5894</infon>
            <location offset="0" length="3"/><text>Raf</text></annotation>
          ...
        <relation id="R1"><infon key="type">Bind</infon>
          <node refid="1" role="Arg1"/><node refid="2" role="Arg2"/></relation>

The file is parsed chunk by chunk, one document at a time. A document type is accepted, but not
fetched; one that declares anything itself is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, TypeAlias

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.atomic import write_text
from kernelwood.io.formats.bioc import PLACE, Part, check_id, document_id, document_of, part_of
from kernelwood.io.ids import UsedIds
from kernelwood.io.selection import annotated_to_write, write_each
from kernelwood.io.source import Item, Source
from kernelwood.io.xml import XmlCollector, parse_xml
from kernelwood.structures import shorten
from kernelwood.text import Example, View

# Blanks and comments are matched in one way only, so that many of them take linear time.
_COMMENTS = r"(?:<!--[^-]*(?:-(?!->)[^-]*)*-->\s*)*"
_FIRST = re.compile(
    rf"\s*(?:<\?xml[^>]*>\s*)?{_COMMENTS}"
    rf"(?:<!DOCTYPE\s+collection\b[^>\[]*>\s*{_COMMENTS})?"
    r"<collection[\s>]"
)
_MAX_DOCUMENT = 1 << 24  # bytes, markup included
# Element -> elements inside it, each with the name of its list and what is inside in turn.
_Nested: TypeAlias = "dict[str, tuple[str, Any]]"
_ANNOTATED: _Nested = {
    "annotation": ("annotations", {"location": ("locations", None)}),
    "relation": ("relations", {"node": ("nodes", None)}),
}
_DOCUMENT: _Nested = {
    "passage": ("passages", {"sentence": ("sentences", _ANNOTATED), **_ANNOTATED}),
    **_ANNOTATED,
}
_PARTS = frozenset("collection document passage sentence annotation relation location node".split())
_LEAVES = frozenset(["infon", "id", "offset", "text"])
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HEADER = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>kernelwood</source><date></date><key></key>
"""


def looks_like_bioc(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be BioC XML.

    Examples
    --------
    >>> looks_like_bioc('<!DOCTYPE collection SYSTEM "BioC.dtd"><collection><source>')
    True
    >>> looks_like_bioc("<corpus>")
    False
    """
    return bool(_FIRST.match(head))


def read_bioc(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example for each document, its id being that of the document.

    Examples
    --------
    >>> import io
    >>> xml = b"<collection><document><id>7</id><passage><offset>0</offset><text>Raf</text>"
    >>> xml += b"</passage></document></collection>"
    >>> [example] = read_bioc(Source(io.BytesIO(xml)))
    >>> example
    Example('7', None, views: document)
    """
    wanted = views is None or "document" in views
    used = UsedIds()
    for part in _documents(source):
        if isinstance(part, ReadError):
            yield part
            continue
        line, column = part[PLACE]
        try:
            name = document_id(part)
            document, remarks = document_of(part)
        except StructureError as failure:
            yield source.locate(failure, line, column)
            continue
        repeated = used.check(name, line, source)
        if repeated is not None:
            yield repeated
            continue
        yield from remarks
        shown: dict[str, View] = {"document": document} if wanted else {}
        yield Example._trusted(name, None, shown, source.origin(line))


def _documents(source: Source) -> Iterator[Part | ReadError]:
    collector = _Collector(source)
    for _ in parse_xml(source, collector, doctype=True):
        yield from collector.take_finished()


class _Collector(XmlCollector):
    """Collects documents in the form that JSON has; the depth of their parts is bounded.

    The parser calls `start` and `end` outside of documents, `_start_inside` and `_end_inside`
    inside of them, and `_start_skipped` and `_end_skipped` in the rest of one that is given up.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._begun = (0, 0)
        self._is_open = False  # whether a document is being collected
        self._document_bytes = 0
        self._problem: StructureError | None = None  # the first of the document
        self._part: Part = {}  # the innermost open part, and the parts that can be inside
        self._nested = _DOCUMENT
        self._outer: list[tuple[Part, _Nested, str]] = []  # around it; each with the next tag
        self._inner = 0  # number of open elements inside the part
        self._attributes: dict[str, str] = {}  # of the outermost of them, and its text
        self._pieces: list[str] = []
        self._finished: list[Part | ReadError] = []

    def take_finished(self) -> list[Part | ReadError]:
        finished, self._finished = self._finished, []
        return finished

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if name == "document":
            self._begun = self.place()
            self._is_open = True
            self._document_bytes = self.memory = 0
            self._problem = None
            self._part = {"id": "", "infons": {}, PLACE: self._begun}
            self._nested = _DOCUMENT
            self.expat.StartElementHandler = self._start_inside
            self.expat.EndElementHandler = self._end_inside
            self.expat.CharacterDataHandler = self._pieces.append
        elif self.depth == 1 and name != "collection":
            raise self.error(
                f"the outermost element is <{shorten(name)}>, not <collection>",
                hint="this is not BioC XML; give format=... if it is in another format",
            )

    def end(self, _name: str) -> None:
        self.depth -= 1

    def _start_inside(self, name: str, attributes: dict[str, str]) -> None:
        if self._inner:
            self._inner += 1
        elif name in _LEAVES:
            self._inner = 1
            self._attributes = attributes
            self._pieces.clear()
        elif name in self._nested:
            several, inside = self._nested[name]
            part: Part = attributes
            if inside is None:
                self._inner = 1
            else:
                expat = self.expat
                place = expat.CurrentLineNumber, expat.CurrentColumnNumber + 1
                part = {"id": attributes.get("id", ""), "infons": {}, PLACE: place}
            outer = self._part
            if several in outer:
                outer[several].append(part)
            else:
                outer[several] = [part]
            if inside is not None:
                self._outer.append((outer, self._nested, name))
                self._part, self._nested = part, inside
        else:
            self._inner = 1
            if name in _PARTS and self._problem is None:
                self._problem = self._misplaced(name)

    def _end_inside(self, name: str) -> None:
        inner = self._inner
        if inner > 1:
            self._inner = inner - 1
        elif inner:
            self._inner = 0
            if name == "infon":
                self._part["infons"][self._attributes.get("key", "")] = "".join(self._pieces)
            elif name == "text":
                self._part["text"] = "".join(self._pieces)
            elif name in _LEAVES:
                self._part[name] = "".join(self._pieces).strip()
        elif self._outer:
            self._part, self._nested, _ = self._outer.pop()
        else:
            self._end_document()

    def _start_skipped(self, _name: str, _attributes: dict[str, str]) -> None:
        self._inner += 1

    def _end_skipped(self, _name: str) -> None:
        if self._inner:
            self._inner -= 1
        else:
            self._end_document()

    def _misplaced(self, name: str) -> StructureError:
        line, column = self._part[PLACE]
        outer = self._outer[-1][-1] if self._outer else "document"
        return StructureError(
            f"a <{name}> cannot stand inside a <{outer}>",
            line=line,
            column=column,
            hint="documents hold passages, passages hold sentences, annotations and relations",
        )

    def _end_document(self) -> None:
        if self._is_open:
            problem = self._problem
            self._finished.append(
                self._part if problem is None else self.source.locate(problem, *self._begun)
            )
        self._close(self.start, self.end)
        self.depth -= 1

    def _close(self, start: Callable[..., None], end: Callable[..., None]) -> None:
        """Forget the open document."""
        self._is_open = False
        self._part = {}
        self._outer.clear()
        self._pieces.clear()
        self.expat.StartElementHandler = start
        self.expat.EndElementHandler = end
        self.expat.CharacterDataHandler = None

    def check_size(self, n_bytes: int, n_tags: int) -> None:
        outside = self.depth
        self.depth += len(self._outer) + self._inner
        super().check_size(n_bytes, n_tags)
        self.depth = outside
        self._document_bytes += n_bytes
        if not self._is_open:
            return
        if self._document_bytes > _MAX_DOCUMENT:
            problem = self.source.error(
                f"the document has more than {_MAX_DOCUMENT:,} bytes",
                line=self._begun[0],
                column=self._begun[1],
                hint="perhaps its end tag is missing",
            )
        elif self.memory > self.source.meter.limits.memory:
            problem = self.source.too_large(self._begun[0], "document")
        else:
            return
        self._finished.append(problem)
        self._inner += len(self._outer)
        self._close(self._start_skipped, self._end_skipped)


def bioc_text(
    examples: Iterable[Example], *, view: str | None = None, adapt: bool = False
) -> Iterator[str]:
    """Yield a BioC collection as XML, document by document.

    Parameters
    ----------
    examples : iterable of Example
        Their ids become ids of documents.
    view : str, optional
        Name of the view; by default "document", else "sentence", else the only view that is a
        document or a sentence.
    adapt : bool
        Leave out attributes that would be read as something else, and write blanks for characters
        that XML cannot hold, both of which are errors otherwise.

    Raises
    ------
    StructureError
        If an example cannot be written, with its id.

    Examples
    --------
    >>> from kernelwood.text import Document
    >>> text = "".join(bioc_text([Example("7", views={"document": Document("Raf & Ras.")})]))
    >>> print(text.split("</key>")[1])
    <BLANKLINE>
    <document><id>7</id>
    <passage><offset>0</offset><text>Raf &amp; Ras.</text>
    </passage>
    </document>
    </collection>
    <BLANKLINE>
    """
    yield _HEADER
    yield from write_each(examples, lambda example: _written(example, view, adapt))
    yield "</collection>\n"


def write_bioc(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    *,
    view: str | None = None,
    adapt: bool = False,
) -> None:
    """Write examples as BioC XML; parameters are those of `bioc_text`."""
    write_text(path, bioc_text(examples, view=view, adapt=adapt))


def _written(example: Example, view: str | None, adapt: bool) -> str:
    from xml.sax.saxutils import escape

    check_id(example.id)
    part = part_of(example.id, annotated_to_write(example, view), adapt=adapt)
    lines = [f"<document><id>{escape(part['id'])}</id>{_infon_tags(part)}\n"]
    for passage in part["passages"]:
        lines.append(f"<passage>{_infon_tags(passage)}<offset>{passage['offset']}</offset>")
        lines.append(f"<text>{_escaped(passage['text'])}</text>\n")
        for annotation in passage["annotations"]:
            places = "".join(
                f'<location offset="{place["offset"]}" length="{place["length"]}"/>'
                for place in annotation["locations"]
            )
            lines.append(
                f"<annotation id={_quoted(annotation['id'])}>{_infon_tags(annotation)}{places}"
                f"<text>{_escaped(annotation['text'])}</text></annotation>\n"
            )
        lines.append("</passage>\n")
    for relation in part["relations"]:
        nodes = "".join(
            f"<node refid={_quoted(node['refid'])} role={_quoted(node['role'])}/>"
            for node in relation["nodes"]
        )
        lines.append(
            f"<relation id={_quoted(relation['id'])}>{_infon_tags(relation)}{nodes}</relation>\n"
        )
    text = "".join([*lines, "</document>\n"])
    if _UNWRITABLE.search(text):
        if not adapt:
            raise StructureError(
                "it has a character that XML cannot hold",
                hint="remove control characters; adapt=True writes blanks for them",
            )
        return _UNWRITABLE.sub(" ", text)
    return text


def _infon_tags(part: Part) -> str:
    return "".join(
        f"<infon key={_quoted(key)}>{_escaped(value)}</infon>"
        for key, value in part["infons"].items()
    )


def _escaped(text: str) -> str:
    from xml.sax.saxutils import escape

    return escape(text, {"\r": "&#13;"})


def _quoted(text: str) -> str:
    from xml.sax.saxutils import quoteattr

    return quoteattr(text, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
