"""spaCy ``DocBin`` files (``.spacy``): tokens, parses, entities and relations.

The file is MessagePack data, compressed with zlib: arrays of numbers for tokens, and strings whose
64-bit hashes stand in these arrays. It is decoded here, by a decoder that makes numbers, strings,
lists and maps only, and every number is checked before a ``Doc`` is made of it: an index outside
the text would crash spaCy. spaCy itself must be installed, for its table of strings.

Entities are those of ``doc.ents``, with their ids. The parse is kept if the sentences are known.
Groups of spans and categories are left out. Relations are read from the user data of a ``Doc``, if
it was stored: ``doc._.rel``, a dictionary of ``(first token, second token)`` to
``{type: probability}``, as in spaCy's tutorial on relation extraction. A type holds if its
probability is at least 0.5.
"""

from __future__ import annotations

import struct
import sys
import zlib
from array import array
from collections.abc import Iterator, Mapping
from itertools import accumulate
from math import isfinite
from typing import Any, NamedTuple

from kernelwood.errors import StructureError
from kernelwood.io.containers.compression import CHUNK
from kernelwood.io.formats.annotation_json import pair
from kernelwood.io.formats.conllu import find_cycle
from kernelwood.io.source import Item, Remark, Source
from kernelwood.structures import shorten
from kernelwood.text import ROOT, Attribute, Document, Example, Relation, from_spacy

_HINT = "write it with DocBin(...).to_disk(...) of spaCy 3"
_MAX_CONTAINERS = 2_000_000  # lists and maps; a DocBin has three a document
_MAX_DEPTH = 100
_NUMBERS = {
    0xCA: "f", 0xCB: "d", 0xCC: "B", 0xCD: "H", 0xCE: "I", 0xCF: "Q", 0xD0: "b", 0xD1: "h",
    0xD2: "i", 0xD3: "q",
}  # fmt: skip
_LENGTHS = {0xC4: "B", 0xC5: "H", 0xC6: "I", 0xD9: "B", 0xDA: "H", 0xDB: "I"}
_RELATIONS = ("rel", "relations")
_HOLDS = 0.5
_LOOSE = Remark("relation of tokens where no entity begins")


def looks_like_docbin(head: str) -> bool:
    r"""Return whether a file that begins with ``head`` may be a ``DocBin``.

    Examples
    --------
    >>> looks_like_docbin(zlib.compress(b"x").decode("utf-8", "replace"))
    True
    """
    return head[:2] == "x\ufffd"  # a zlib header, not valid UTF-8


def read_docbin(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example with the view ``"document"`` for each ``Doc``."""
    shown = views is None or "document" in views
    table = _Table(_unpack(source), source)
    for number in range(len(table.lengths)):
        try:
            document, remarks = table.document(number)
        except StructureError as failure:
            problem = f"document {number + 1}: {failure.problem}"
            yield source.error(problem, hint=failure.hint)
            continue
        yield from remarks
        yield Example(
            f"{source.stem}:{number + 1}",
            views={"document": document} if shown else {},
            origin=source.origin(1),
        )


def _unpack(source: Source) -> bytes:
    """Return the decompressed bytes."""
    unpacker = zlib.decompressobj()
    pieces: list[bytes] = []
    packed = unpacked = 0
    while not unpacker.eof:
        data = unpacker.unconsumed_tail
        if not data:
            data = source.stream.read(CHUNK)
            packed += len(data)
        if not packed:
            return b""
        if not data:
            raise source.error("the file is cut off", hint="fetch or write it again")
        try:
            piece = unpacker.decompress(data, CHUNK)
        except zlib.error as failure:
            raise source.error(f"not a DocBin: {failure}", hint=_HINT) from failure
        unpacked += len(piece)
        source.meter.add(len(piece), source.name)
        source.meter.compare(unpacked, packed, source.name)
        pieces.append(piece)
    return b"".join(pieces)


class _Open(NamedTuple):
    """A list or map that is being decoded; keys and values of a map take turns."""

    items: list[Any]
    size: int
    is_map: bool


def decode_msgpack(data: bytes) -> Any:
    """Return the value of MessagePack data: numbers, strings, bytes, tuples and dictionaries.

    Extension types, and with them all code that a file could ask for, are errors.

    Examples
    --------
    >>> decode_msgpack(bytes([0x82, 0xA1, 0x61, 0x92, 1, 0xFF, 0xA1, 0x62, 0xC0]))
    {'a': (1, -1), 'b': None}
    """
    stack = [_Open([], 1, False)]
    place = n_containers = 0
    while True:
        top = stack[-1]
        if len(top.items) == top.size:
            stack.pop()
            if not stack:
                return top.items[0]
            stack[-1].items.append(_closed(top))
            continue
        value, size, place = _next_value(data, place)
        if size is None:
            top.items.append(value)
            continue
        n_containers += 1
        if size > len(data) - place or n_containers > _MAX_CONTAINERS or len(stack) > _MAX_DEPTH:
            raise StructureError(f"a list or map at byte {place} is too large or nested too deeply")
        stack.append(_Open([], size, value))


def _closed(opened: _Open) -> Any:
    if not opened.is_map:
        return tuple(opened.items)
    try:
        return dict(zip(opened.items[::2], opened.items[1::2], strict=True))
    except TypeError:
        raise StructureError("the key of a map is itself a map") from None


def _next_value(data: bytes, place: int) -> tuple[Any, int | None, int]:
    """Return value, None and next place; for a list or map, whether it is one, and its size."""
    try:
        kind = data[place]
        place += 1
        if kind < 0x80 or kind >= 0xE0:
            return (kind if kind < 0x80 else kind - 0x100), None, place
        if kind < 0x90:
            return True, 2 * (kind & 0x0F), place
        if kind < 0xA0:
            return False, kind & 0x0F, place
        if kind < 0xC0:
            return _piece(data, place, kind & 0x1F).decode("utf-8"), None, place + (kind & 0x1F)
        if kind in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[kind], None, place
        if kind in _NUMBERS:
            code = f">{_NUMBERS[kind]}"
            return struct.unpack_from(code, data, place)[0], None, place + struct.calcsize(code)
        if kind in _LENGTHS:
            code = f">{_LENGTHS[kind]}"
            [length] = struct.unpack_from(code, data, place)
            start = place + struct.calcsize(code)
            piece = _piece(data, start, length)
            text = piece.decode("utf-8") if kind >= 0xD9 else piece
            return text, None, start + length
        if kind >= 0xDC:
            code = ">H" if kind in (0xDC, 0xDE) else ">I"
            [size] = struct.unpack_from(code, data, place)
            is_map = kind >= 0xDE
            return is_map, size * (1 + is_map), place + struct.calcsize(code)
    except (IndexError, struct.error, UnicodeDecodeError):
        raise StructureError(f"the value at byte {place} is cut off or not valid") from None
    raise StructureError(f"the value at byte {place} is of a type that a DocBin does not have")


def _piece(data: bytes, start: int, length: int) -> bytes:
    if length > len(data) - start:
        raise IndexError
    return data[start : start + length]


class _Table:
    """The arrays and strings of a ``DocBin``, after a check of their sizes."""

    def __init__(self, data: bytes, source: Source) -> None:
        self.lengths = array("i")
        if not data:
            return
        self._spacy = _load_spacy(source)
        try:
            self._fill(decode_msgpack(data))
        except StructureError as failure:
            raise source.error(
                f"not a DocBin: {failure.problem}", hint=failure.hint or _HINT
            ) from failure

    def _fill(self, read: object) -> None:
        if not isinstance(read, dict):
            raise StructureError("its content is not a map")
        names = {number: name for name, number in self._spacy.attrs.IDS.items()}
        attrs = _typed(read, "attrs", tuple)
        if not attrs or not all(type(number) is int and number in names for number in attrs):
            raise StructureError("'attrs' has an unknown attribute")
        self._columns = {names[number]: place for place, number in enumerate(attrs)}
        if "ORTH" not in self._columns:
            raise StructureError("'attrs' has no ORTH")
        self._width = len(attrs)
        self.lengths = _numbers(_typed(read, "lengths", bytes), "i")
        if any(length < 0 for length in self.lengths):
            raise StructureError("a document has a negative number of tokens")
        self._starts = [0, *accumulate(self.lengths)]
        self._tokens = _numbers(_typed(read, "tokens", bytes), "Q")
        self._spaces = _typed(read, "spaces", bytes)
        n_tokens = self._starts[-1]
        if len(self._tokens) != n_tokens * self._width or len(self._spaces) != n_tokens:
            raise StructureError("the number of tokens differs between its arrays")
        self._flags = _one_each(read, "flags", len(self.lengths))
        self._user_data = _one_each(read, "user_data", len(self.lengths))
        self._vocab = self._spacy.vocab.Vocab()
        for text in _typed(read, "strings", tuple):
            if type(text) is not str:
                raise StructureError("'strings' has a value that is not a string")
            self._vocab.strings.add(text)

    def document(self, number: int) -> tuple[Document, list[Remark]]:
        """Return a document and the remarks on it."""
        doc, starts = self._doc(number)
        try:
            document = from_spacy(doc)
        except StructureError:
            raise
        except ValueError as failure:
            raise StructureError(str(failure)) from failure
        remarks: list[Remark] = []
        found = self._relations(number, remarks)
        if not found:
            return document, remarks
        # Entities of a Doc are in order and do not overlap.
        entities = {
            start: entity.id for (start, _), entity in zip(starts, document.entities, strict=True)
        }
        relations: list[Relation] = []
        attributes = list(document.attributes)
        for (first, second), kind, probability in found:
            if first not in entities or second not in entities:
                remarks.append(_LOOSE)
                continue
            name = f"R{len(relations) + 1}"
            relations.append(pair(name, kind, entities[first], entities[second]))
            if probability != 1:
                value = repr(probability)
                attributes.append(Attribute(f"A{len(attributes) + 1}", "probability", name, value))
        made = Document(
            document.text,
            document.entities,
            tuple(relations),
            attributes=tuple(attributes),
            parse=document.parse,
        )
        return made, remarks

    def _doc(self, number: int) -> tuple[Any, list[tuple[int, int]]]:
        """Return the ``Doc``, and the tokens of its entities."""
        start, end = self._starts[number], self._starts[number + 1]
        count = end - start
        strings = {name: self._strings(name, start, end) for name in _STRINGS}
        flags = self._flags[number]
        unknown = isinstance(flags, dict) and bool(flags.get("has_unknown_spaces"))
        parts: dict[str, Any] = {
            "tags": strings["TAG"], "lemmas": strings["LEMMA"], "morphs": strings["MORPH"],
            "pos": self._parts_of_speech(start, end),
        }  # fmt: skip
        if any(strings["DEP"] or ()):
            parts["deps"] = strings["DEP"]
            parts["heads"] = self._heads(start, end)
        elif "SENT_START" in self._columns:
            parts["sent_starts"] = [
                _signed(value) for value in self._column("SENT_START", start, end)
            ]
        spaces = None if unknown else [bool(self._spaces[place]) for place in range(start, end)]
        try:
            doc = self._spacy.tokens.Doc(
                self._vocab, words=strings["ORTH"], spaces=spaces,
                **{name: column for name, column in parts.items() if column is not None},
            )  # fmt: skip
            spans = self._entity_spans(start, count)
            doc.ents = [
                self._spacy.tokens.Span(
                    doc, first, last, strings["ENT_TYPE"][first] if strings["ENT_TYPE"] else "",
                    kb_id=strings["ENT_KB_ID"][first] if strings["ENT_KB_ID"] else "",
                    span_id=strings["ENT_ID"][first] if strings["ENT_ID"] else "",
                )
                for first, last in spans
            ]  # fmt: skip
        except (ValueError, KeyError, TypeError, OverflowError) as failure:
            raise StructureError(f"spaCy refuses it: {shorten(str(failure), 200)}") from failure
        return doc, spans

    def _column(self, name: str, start: int, end: int) -> Any:
        place = self._columns[name]
        return self._tokens[start * self._width + place : end * self._width : self._width]

    def _strings(self, name: str, start: int, end: int) -> list[str] | None:
        if name not in self._columns:
            return None
        strings = self._vocab.strings
        try:
            return [strings[value] if value else "" for value in self._column(name, start, end)]
        except KeyError:
            raise StructureError(f"a string of {name} is missing") from None

    def _parts_of_speech(self, start: int, end: int) -> list[str] | None:
        if "POS" not in self._columns:
            return None
        names = self._spacy.parts_of_speech.NAMES
        try:
            return [names[value] for value in self._column("POS", start, end)]
        except KeyError:
            raise StructureError("a part of speech is not one of spaCy's") from None

    def _heads(self, start: int, end: int) -> list[int]:
        """Return the heads as indices, after a check that they form trees."""
        count = end - start
        if "HEAD" not in self._columns:
            raise StructureError("there are dependencies without heads")
        steps = self._column("HEAD", start, end)
        heads = [place + _signed(step) for place, step in enumerate(steps)]
        if not all(0 <= head < count for head in heads):
            raise StructureError("a head is not a token of the document")
        if find_cycle([ROOT if head == place else head for place, head in enumerate(heads)]):
            raise StructureError("the heads form a cycle")
        return heads

    def _entity_spans(self, start: int, count: int) -> list[tuple[int, int]]:
        if "ENT_IOB" not in self._columns or "ENT_TYPE" not in self._columns:
            return []
        marks = list(self._column("ENT_IOB", start, start + count))
        kinds = list(self._column("ENT_TYPE", start, start + count))
        spans: list[tuple[int, int]] = []
        for place, (mark, kind) in enumerate(zip(marks, kinds, strict=True)):
            if not kind or mark not in (1, 3):
                continue
            follows = mark == 1 and spans and spans[-1][1] == place and kinds[place - 1] == kind
            if follows:
                spans[-1] = (spans[-1][0], place + 1)
            else:
                spans.append((place, place + 1))
        return spans

    def _relations(
        self, number: int, remarks: list[Remark]
    ) -> list[tuple[tuple[int, int], str, float]]:
        """Return tokens, type and probability of the relations in the user data."""
        data = self._user_data[number]
        if not isinstance(data, bytes):
            return []
        try:
            read = decode_msgpack(data)
        except StructureError:
            remarks.append(Remark("user data of a document that cannot be read"))
            return []
        items: Mapping[Any, Any] = read if isinstance(read, dict) else {}
        found: Mapping[Any, Any] = next(
            (
                items[("._.", name, None, None)]
                for name in _RELATIONS
                if isinstance(items.get(("._.", name, None, None)), dict)
            ),
            {},
        )
        made = []
        for key, types in found.items():
            match key:
                case (int(first), int(second)) if isinstance(types, dict):
                    made += [
                        ((first, second), kind, float(value))
                        for kind, value in types.items()
                        if isinstance(kind, str) and isinstance(value, (int, float))
                        if isfinite(value) and value >= _HOLDS
                    ]
                case _:
                    remarks.append(Remark("relation in user data that is not a pair of tokens"))
        return made


_STRINGS = ("ORTH", "TAG", "LEMMA", "MORPH", "DEP", "ENT_TYPE", "ENT_KB_ID", "ENT_ID")


def _load_spacy(source: Source) -> Any:
    try:
        import spacy
        import spacy.attrs
        import spacy.parts_of_speech
        import spacy.tokens
    except ImportError:
        raise source.error(
            "spaCy is not installed, which this format needs",
            hint="install it: pip install 'kernelwood[spacy]'",
        ) from None
    return spacy


def _typed(read: Mapping[Any, Any], key: str, kind: type) -> Any:
    value = read.get(key)
    if not isinstance(value, kind):
        raise StructureError(f"{key!r} is missing or of another type")
    return value


def _one_each(read: Mapping[Any, Any], key: str, count: int) -> tuple[Any, ...]:
    """Return a list with a value for each document; None for each if there is no list."""
    value = read.get(key)
    if not isinstance(value, tuple) or len(value) != count:
        return (None,) * count
    return value


def _numbers(data: bytes, code: str) -> array[int]:
    made = array(code)
    if len(data) % made.itemsize:
        raise StructureError("an array has a wrong number of bytes")
    made.frombytes(data)
    if sys.byteorder == "big":
        made.byteswap()
    return made


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
