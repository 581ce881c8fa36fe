r"""PubTator: titles and abstracts with mentions of concepts, and relations between concepts.

A document is a block of lines, and a blank line ends it; columns are separated by tabs::

    27|t|Naproxen and ulcers
    27|a|Naproxen may cause ulcers.
    27  0   8   Naproxen    Chemical    MESH:D009288
    27  13  19  ulcers  Disease MESH:D014456
    27  CID MESH:D009288    MESH:D014456

The text is the title, a line end and the abstract: offsets count one character between the two. A
mention has an offset, the position after its last character, its text, a type and database ids,
which become attributes of the type ``Reference``. Several ids are separated by ``;``, ``,``, ``|``
or ``+``; ``-1``, ``-`` and an empty column stand for none. Where a mention has several ids, a
seventh column may have a name for each, separated by ``|``.

A relation is between ids: its type, two ids, and in BioRED a fifth column, which becomes the
attribute ``Novelty``. It is read as relations between mentions, as described in
`kernelwood.io.formats.concepts`. Where a mention of the pair has several ids, the attribute
``Concepts`` holds the two that the relation is about.

Mentions are called ``T1``, ``T2``, ... and relations ``R1``, ``R2``, ... in the order of the file,
since the format has no names for them. A document with a bad line is left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, TypeVar

from kernelwood.errors import StructureError
from kernelwood.io.alignment import compare_mention, mention_problem
from kernelwood.io.atomic import write_text
from kernelwood.io.formats.concepts import (
    CONCEPTS,
    REFERENCES,
    ConceptRelation,
    concepts_of,
    database_ids,
    find_concept,
    ground_relations,
    new_tuple,
    several_concepts,
    split_ids,
)
from kernelwood.io.ids import UsedIds
from kernelwood.io.lines import Block, Scan, large_block, scan_blocks
from kernelwood.io.selection import annotated_to_write, write_each
from kernelwood.io.source import LINE_ROOM, Item, Line, Remark, Source
from kernelwood.structures import shorten
from kernelwood.text import Attribute, Document, Entity, Example, Relation, Sentence, View

A = TypeVar("A", Document, Sentence)

NOVELTY = "Novelty"
_HEADER = re.compile(r"([^|\t]{1,200})\|([ta])\|")
_FIRST_LINE = re.compile(r"\s*[^|\s]{1,200}\|[ta]\|")
_MENTION = re.compile(
    r"([^\t]*)\t([0-9]{1,9})\t([0-9]{1,9})\t([^\t]*)\t([^\t]*)(?:\t([^\t]*)(?:\t(.*))?)?", re.DOTALL
)
_NUMBER = re.compile(r"-?[0-9]+")
_LONGEST_ID = 210  # characters in which a title begins
_EMPTY = Document("")
_FORM = "write PMID<TAB>start<TAB>end<TAB>mention<TAB>type<TAB>id"
_OTHER_NAMES = Remark("names of single ids do not match the ids; left out")
_TABS = str.maketrans("\t\r", "  ")
_LINE_ENDS = str.maketrans("\n", " ")


def looks_like_pubtator(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be in the PubTator format.

    Examples
    --------
    >>> looks_like_pubtator("27|t|Naproxen and ulcers"), looks_like_pubtator("|BT:tree| (A)")
    (True, False)
    """
    return bool(_FIRST_LINE.match(head))


def read_pubtator(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    r"""Yield an example for each document, its id being that of the document.

    Examples
    --------
    >>> import io
    >>> lines = b"27|t|Naproxen\n27|a|It may cause ulcers.\n27\t22\t28\tulcers\tDisease\tD014456\n"
    >>> [example] = read_pubtator(Source(io.BytesIO(lines)))
    >>> example.view("document")
    Document('Naproxen\nIt may cause ulcers.', 1 entity)
    """
    wanted = views is None or "document" in views
    used = UsedIds()
    for block in _documents(source):
        first = block[0]
        problem = next((line.problem for line in block if line.problem is not None), None)
        if problem is not None:
            yield problem
            continue
        try:
            name, document, remarks = _parse(block)
        except StructureError as failure:
            yield source.locate(failure, first.number)
            continue
        repeated = used.check(name, first.number, source)
        if repeated is not None:
            yield repeated
            continue
        yield from remarks
        shown: dict[str, View] = {"document": document} if wanted else {}
        yield Example._trusted(name, None, shown, source.origin(first.number))


def scan_pubtator(source: Source) -> Scan:
    """Return the function that finds documents, where blank lines separate them."""
    return scan_blocks(source, _documents)


def _documents(source: Source) -> Iterator[Block]:
    """Yield the lines of each document; a title begins a new one even without a blank line."""
    block: Block = []
    most = room = source.room
    for line in source.lines():
        _, text, problem = line
        if not text or text.isspace():
            if block:
                yield block
                block, room = [], most
            continue
        if "|t|" in text[:_LONGEST_ID] and block and _title_id(text) is not None:
            yield block
            block, room = [], most
        # A document with an unreadable line is not parsed, so the rest of it is not kept.
        if room < 0:
            continue
        block.append(line)
        if problem is not None:
            room = -1
        elif len(block) > 2:  # title and abstract are plain text
            room -= len(text) + LINE_ROOM
            if room < 0:
                block = [large_block(block, source)]
    if block:
        yield block


def _title_id(text: str) -> str | None:
    header = _HEADER.match(text)
    return header[1] if header is not None and header[2] == "t" else None


def _parse(block: Block) -> tuple[str, Document, list[Remark]]:
    """Return id, document and remarks; raise StructureError at the first bad line."""
    name, text, n_lines = _heading(block)
    draft = _Draft(text)
    for line in block[n_lines:]:
        mention = _MENTION.fullmatch(line.text)
        if (line.text.partition("\t")[0] if mention is None else mention[1]) != name:
            raise _stray(line, name)
        if mention is not None:
            draft.add_mention(line, mention)
        else:
            draft.add_relation(line)
    return name, draft.document(), draft.remarks


class _Draft:
    """The annotations of a document."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.remarks: list[Remark] = []
        self._entities: list[Entity] = []
        self._attributes: list[Attribute] = []
        self._mentions: dict[str, list[str]] = {}  # by concept
        self._ids: dict[str, Sequence[str]] = {}  # concepts by mention
        self._asked: list[ConceptRelation] = []
        self._details: list[str] = []

    def add_mention(self, line: Line, match: re.Match[str]) -> None:
        _, start_text, end_text, mention, kind, written, names = match.groups("")
        start, end = int(start_text), int(end_text)
        if start + len(mention) != end or not mention or not self.text.startswith(mention, start):
            self.remarks += _check_place(line, self.text, (start, end), mention)
        name = f"T{len(self._entities) + 1}"
        self._entities.append(new_tuple(Entity, (name, kind, ((start, end),), mention)))
        found = split_ids(written)
        for concept, value in zip(found, self._values(found, names), strict=True):
            number = len(self._attributes) + 1
            self._attributes.append(new_tuple(Attribute, (f"N{number}", "Reference", name, value)))
            self._mentions.setdefault(concept, []).append(name)
        if len(found) > 1:
            self._mentions.setdefault(written, []).append(name)
            self._ids[name] = found

    def _values(self, found: Sequence[str], names: str) -> Sequence[str]:
        """Return the values of references: the ids, with names if there is one for each."""
        if not names.strip():
            return found
        terms = names.split("|")
        if len(terms) == len(found) > 1:
            return [f"{concept}\t{term}" for concept, term in zip(found, terms, strict=True)]
        self.remarks.append(_OTHER_NAMES)
        return found

    def add_relation(self, line: Line) -> None:
        columns = [column.strip() for column in line.text.split("\t")[1:]]
        if not 3 <= len(columns) <= 4 or not all(columns[:3]) or _NUMBER.fullmatch(columns[0]):
            raise line.error(
                line.text.find("\t") + 1,
                "this is neither a mention nor a relation",
                f"{_FORM}, or PMID<TAB>type<TAB>id<TAB>id",
            )
        self._asked.append(ConceptRelation(columns[0], columns[1], columns[2]))
        self._details.append("".join(columns[3:]))

    def document(self) -> Document:
        relations = self._relations() if self._asked else ()
        # The mentions were compared with the text, and all ids were given here.
        return _EMPTY._with(
            text=self.text,
            entities=tuple(self._entities),
            relations=relations,
            attributes=tuple(self._attributes),
        )

    def _relations(self) -> tuple[Relation, ...]:
        mentions = self._mentions
        asked = [
            ConceptRelation(kind, find_concept(first, mentions), find_concept(second, mentions))
            for kind, first, second, _ in self._asked
        ]
        grounded = ground_relations(self.text, self._entities, mentions, asked)
        self.remarks += grounded.remarks
        for relation, source in zip(grounded.relations, grounded.sources, strict=True):
            if self._details[source]:
                self._add_attribute(NOVELTY, relation.id, self._details[source])
        for name, pair in several_concepts(grounded, asked, self._ids):
            self._add_attribute(CONCEPTS, name, pair)
        return grounded.relations

    def _add_attribute(self, kind: str, target: str, value: str) -> None:
        self._attributes.append(Attribute(f"A{len(self._attributes) + 1}", kind, target, value))


def _heading(block: Block) -> tuple[str, str, int]:
    """Return the id, the text, and the number of lines that they take."""
    parts: dict[str, str] = {}
    name = ""
    for line in block[:2]:
        header = _HEADER.match(line.text)
        if header is None:
            break
        name = name or header[1]
        if header[1] != name:
            raise _stray(line, name)
        if header[2] in parts or (header[2] == "t" and parts):
            raise line.error(
                0, "this document has a second title or abstract", "write PMID|t|title and "
                "PMID|a|abstract once each, in this order",
            )  # fmt: skip
        parts[header[2]] = line.text[header.end() :]
    if not parts:
        raise block[0].error(
            0, "the title of the document is missing", "a document begins with PMID|t|title"
        )
    text = parts.get("t", "")
    return name, f"{text}\n{parts['a']}" if "a" in parts else text, len(parts)


def _stray(line: Line, name: str) -> StructureError:
    return line.error(
        0,
        f"this line does not belong to document {shorten(repr(name))}",
        "every line begins with the id of its document; a blank line ends a document",
    )


def _check_place(line: Line, text: str, span: tuple[int, int], mention: str) -> list[Remark]:
    """Return a remark if the mention differs in blanks; raise if it is not at its place."""
    start, end = span
    index = line.text.index("\t") + 1
    if start >= end:
        raise line.error(
            index,
            f"the span {start} {end} is empty",
            "an end is the position after the last character",
        )
    if end <= len(text) and compare_mention(mention, text, [span]) is not None:
        return [Remark("blanks in a mention differ from the text")]
    raise line.error(index, *mention_problem("the mention", mention, text, [span]))


def pubtator_text(
    examples: Iterable[Example], *, view: str | None = None, adapt: bool = False
) -> Iterator[str]:
    r"""Yield the lines of each document, and a blank line.

    The format holds mentions of one span with a type and database ids, and relations between
    database ids; other parts are left out, among them ids of mentions and relations, relations
    of mentions without a database id, and discontinuous mentions. A relation between two mentions
    is written once for their concepts, so it is read for all their mentions that share a sentence.

    Parameters
    ----------
    examples : iterable of Example
        Their ids become ids of documents.
    view : str, optional
        Name of the view; by default "document", else "sentence", else the only view that is a
        document or a sentence.
    adapt : bool
        Write a blank for each tab and line end that the format cannot hold, which is an error
        otherwise: all but the first line end of a text, which ends the title.

    Raises
    ------
    StructureError
        If an example cannot be written, with its id.

    Examples
    --------
    >>> document = Document("Raf binds Ras.", [Entity("e1", "Gene", ((0, 3),))])
    >>> "".join(pubtator_text([Example("7", views={"document": document})]))
    '7|t|Raf binds Ras.\n7\t0\t3\tRaf\tGene\t-\n\n'
    """
    return write_each(examples, lambda example: _written(example, view, adapt))


def write_pubtator(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    *,
    view: str | None = None,
    adapt: bool = False,
) -> None:
    r"""Write examples in the PubTator format; parameters are those of `pubtator_text`.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> write_pubtator([Example("7", views={"document": Document("Raf\nIt binds.")})], out)
    >>> out.getvalue()
    '7|t|Raf\n7|a|It binds.\n\n'
    """
    write_text(path, pubtator_text(examples, view=view, adapt=adapt))


def _written(example: Example, view: str | None, adapt: bool) -> str:
    document = annotated_to_write(example, view)
    name = example.id
    header = _HEADER.fullmatch(f"{name}|t|")
    if header is None or header[1] != name or name != name.strip() or "\n" in name:
        raise StructureError(
            f"the id {shorten(repr(name))} cannot be the id of a document",
            hint="use up to 200 characters without '|', tabs, line ends and blanks around it",
        )
    text = one_line_end(document.text)
    if text != document.text and not adapt:
        raise StructureError(
            "its text has a tab, a carriage return, or more than one line end",
            hint="adapt=True writes blanks for them; the first line end ends the title",
        )
    title, line_end, abstract = text.partition("\n")
    lines = [f"{name}|t|{title}", *([f"{name}|a|{abstract}"] if line_end else [])]
    references = database_ids(document.attributes)
    for entity in _mentions(document):
        (start, end), kind = entity.spans[0], _field(entity.type)
        columns = _id_columns(references.get(entity.id, ()))
        lines.append(f"{name}\t{start}\t{end}\t{text[start:end]}\t{kind}\t{columns}")
    lines += [f"{name}\t{line}" for line in _relation_lines(document, references)]
    return "\n".join([*lines, "", ""])


def one_line_end(text: str) -> str:
    r"""Return a text with blanks for tabs and all line ends but the first.

    Examples
    --------
    >>> one_line_end("Title\nOne.\nTwo\tthree.")
    'Title\nOne. Two three.'
    """
    title, line_end, abstract = text.translate(_TABS).partition("\n")
    return f"{title}{line_end}{abstract.translate(_LINE_ENDS)}"


def _mentions(document: Document | Sentence) -> Iterator[Entity]:
    # A mention across the end of the title would be two lines.
    return (
        entity
        for entity in document.entities
        if len(entity.spans) == 1 and not _crosses_title(entity, document.text)
    )


def _crosses_title(entity: Entity, text: str) -> bool:
    line_end = text.find("\n")
    return entity.start <= line_end < entity.end


def _id_columns(references: Sequence[tuple[str, str]]) -> str:
    """Return the column of ids and, where several have names, that of the names."""
    kept = [(name, term) for name, term in references if split_ids(name) == (name,)]
    if not kept:
        return "-"
    ids = ";".join(name for name, _ in kept)
    named = len(kept) > 1 and all(term and _field(term) == term for _, term in kept)
    names = "|".join(term for _, term in kept)
    return f"{ids}\t{names}" if named and names.count("|") == len(kept) - 1 else ids


def _relation_lines(
    document: Document | Sentence, references: Mapping[str, Sequence[tuple[str, str]]]
) -> Iterator[str]:
    """Yield each relation between concepts once, without the id of the document."""
    mentioned = {entity.id for entity in _mentions(document)}
    chosen = {item.target: item.value for item in document.attributes if item.type == CONCEPTS}
    details = {item.target: item.value for item in document.attributes if item.type == NOVELTY}
    seen: set[tuple[str, ...]] = set()
    for relation in document.relations:
        targets = [target for _, target in relation.arguments]
        if not relation.holds or len(targets) != 2 or not mentioned.issuperset(targets):
            continue
        pair = concepts_of(relation, references, chosen.get(relation.id))
        if pair is None or not all(split_ids(name) == (name,) for name in pair):
            continue
        columns = (_field(relation.type), *pair)
        if columns not in seen:
            seen.add(columns)
            detail = _field(details.get(relation.id, ""))
            yield "\t".join([*columns, detail] if detail else columns)


def _field(written: str) -> str:
    return written.translate(_TABS).translate(_LINE_ENDS)


def fit_to_pubtator(document: A) -> A:
    """Return a document with blanks for tabs and line ends that the format cannot hold."""
    return document._with(text=one_line_end(document.text))


def left_out_of_pubtator(document: Document | Sentence) -> Iterator[str]:
    """Yield the parts of a document that the format cannot hold."""
    references = database_ids(document.attributes)
    kept = {entity.id for entity in _mentions(document)}
    if len(kept) < len(document.entities):
        yield "discontinuous entities"
    if document.events:
        yield "events"
    if not all(relation.holds for relation in document.relations):
        yield "negative relations"
    if any(
        relation.holds
        and not (
            len(relation.arguments) == 2
            and all(target in kept and target in references for _, target in relation.arguments)
        )
        for relation in document.relations
    ):
        yield "relations of entities without a database id"
    if any(item.type not in (*REFERENCES, CONCEPTS, NOVELTY) for item in document.attributes):
        yield "attributes"
    if document.metadata:
        yield "metadata"
    if one_line_end(document.text) != document.text:
        yield "line ends after the first"
