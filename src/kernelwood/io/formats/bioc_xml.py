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
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.sax.saxutils import escape, quoteattr

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.atomic import write_text
from kernelwood.io.formats.bioc import PLACE, Part, check_id, document_id, document_of, part_of
from kernelwood.io.ids import UsedIds
from kernelwood.io.selection import annotated_to_write, write_each
from kernelwood.io.source import Item, Source
from kernelwood.io.xml import XmlCollector, parse_xml
from kernelwood.structures import shorten
from kernelwood.text import Example

# Each comment is matched in one way only, so that many comments take linear time.
_COMMENTS = r"\s*(?:<!--[^-]*(?:-(?!->)[^-]*)*-->\s*)*"
_FIRST = re.compile(
    rf"\s*(?:<\?xml[^>]*>)?{_COMMENTS}(?:<!DOCTYPE\s+collection\b[^>\[]*>{_COMMENTS})?"
    r"<collection[\s>]"
)
_MAX_DOCUMENT = 1 << 24  # bytes, markup included
# Element -> elements inside it, each with the name of its list and what is inside in turn.
_ANNOTATED = {
    "annotation": ("annotations", {"location": ("locations", None)}),
    "relation": ("relations", {"node": ("nodes", None)}),
}
_DOCUMENT: dict[str, tuple[str, Any]] = {
    "passage": ("passages", {"sentence": ("sentences", _ANNOTATED), **_ANNOTATED}),
    **_ANNOTATED,
}
_PLACED = frozenset(["passage", "sentence", "annotation", "relation"])
_PARTS = _PLACED | {"collection", "document", "location", "node"}
_TEXTS = frozenset(["id", "offset", "text"])
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
        yield Example(
            name, views={"document": document} if wanted else {}, origin=source.origin(line)
        )


def _documents(source: Source) -> Iterator[Part | ReadError]:
    collector = _Collector(source)
    for _ in parse_xml(source, collector, doctype=True):
        yield from collector.take_finished()


class _Collector(XmlCollector):
    """Collects documents; inside of one, elements are built by the tree builder of Python."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._builder: TreeBuilder | None = None  # of the open document; None if it is given up
        self._begun = (0, 0)
        self._document_depth = 0
        self._document_bytes = 0
        self._finished: list[Part | ReadError] = []

    def take_finished(self) -> list[Part | ReadError]:
        finished, self._finished = self._finished, []
        return finished

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if name == "document":
            self._begun = self.place()
            self._document_depth = self.depth
            self._document_bytes = 0
            self._builder = builder = TreeBuilder()
            builder.start(name, _with_place({}, self._begun))
            self._start_element, self._end_element = builder.start, builder.end
            self.expat.StartElementHandler = self._start_inside
            self.expat.EndElementHandler = self._end_inside
            self.expat.CharacterDataHandler = builder.data
        elif self.depth == 1 and name != "collection":
            raise self.error(
                f"the outermost element is <{shorten(name)}>, not <collection>",
                hint="this is not BioC XML; give format=... if it is in another format",
            )

    def end(self, _name: str) -> None:
        self.depth -= 1

    def _start_inside(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if name in _PLACED:
            expat = self.expat
            place = expat.CurrentLineNumber, expat.CurrentColumnNumber + 1
            _with_place(attributes, place)
        self._start_element(name, attributes)

    def _end_inside(self, name: str) -> None:
        self._end_element(name)
        if self.depth == self._document_depth:
            self._end_document()
        self.depth -= 1

    def _start_skipped(self, _name: str, _attributes: dict[str, str]) -> None:
        self.depth += 1

    def _end_skipped(self, _name: str) -> None:
        if self.depth == self._document_depth:
            self._end_document()
        self.depth -= 1

    def _end_document(self) -> None:
        if self._builder is not None:
            root = self._builder.close()
            try:
                self._finished.append(_part(root, _DOCUMENT))
            except StructureError as failure:
                self._finished.append(self.source.locate(failure, *self._begun))
        self._builder = None
        self.expat.StartElementHandler = self.start
        self.expat.EndElementHandler = self.end
        self.expat.CharacterDataHandler = None

    def check_size(self, n_bytes: int) -> None:
        super().check_size(n_bytes)
        self._document_bytes += n_bytes
        if self._builder is None or self._document_bytes <= _MAX_DOCUMENT:
            return
        problem = self.source.error(
            f"the document has more than {_MAX_DOCUMENT:,} bytes",
            line=self._begun[0],
            column=self._begun[1],
            hint="perhaps its end tag is missing",
        )
        self._finished.append(problem)
        self._builder = None
        self.expat.StartElementHandler = self._start_skipped
        self.expat.EndElementHandler = self._end_skipped
        self.expat.CharacterDataHandler = None


def _with_place(attributes: dict[Any, Any], place: tuple[int, int]) -> dict[Any, Any]:
    attributes[PLACE] = place
    return attributes


def _part(element: Element, nested: Mapping[str, tuple[str, Any]]) -> Part:
    """Return an element in the form that JSON has; the depth of its parts is bounded."""
    attributes: dict[Any, Any] = element.attrib
    made: Part = {"id": attributes.get("id", ""), PLACE: attributes[PLACE]}
    infons: dict[str, str] = {}
    for child in element:
        tag = child.tag
        if tag == "infon":
            infons[child.attrib.get("key", "")] = _text(child)
        elif tag in _TEXTS:
            made[tag] = _text(child) if tag == "text" else _text(child).strip()
        elif tag in nested:
            several, inside = nested[tag]
            one = child.attrib if inside is None else _part(child, inside)
            if several in made:
                made[several].append(one)
            else:
                made[several] = [one]
        elif tag in _PARTS:
            line, column = attributes[PLACE]
            raise StructureError(
                f"a <{tag}> cannot stand inside a <{element.tag}>",
                line=line,
                column=column,
                hint="documents hold passages, passages hold sentences, annotations and relations",
            )
    if infons:
        made["infons"] = infons
    return made


def _text(element: Element) -> str:
    return "".join(element.itertext()) if len(element) else element.text or ""


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
    """Write examples as BioC XML; takes what `bioc_text` takes."""
    write_text(path, bioc_text(examples, view=view, adapt=adapt))


def _written(example: Example, view: str | None, adapt: bool) -> str:
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
    return escape(text, {"\r": "&#13;"})


def _quoted(text: str) -> str:
    return quoteattr(text, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
