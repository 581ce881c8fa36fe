r"""Sets of tables of ChemProt (BioCreative VI) and DrugProt (BioCreative VII).

A set is two or three files with tabs between columns, which begin with the same name:

==========================  =======================================================
``…_abstracts.tsv``         document, title, abstract
``…_entities.tsv``          document, ``T1``, type, start, end, text
``…_relations.tsv``         document, ``CPR:4``, ``Y``, type, ``Arg1:T1``, ``Arg2:T2``
``…_gold_standard.tsv``     document, ``CPR:4``, ``Arg1:T1``, ``Arg2:T2``
==========================  =======================================================

Files may also end in ``_gs.tsv``; DrugProt calls the first ``…_abstracs.tsv``, and its relations
have four columns. The text is the title, a line end and the abstract: offsets count one character
between the two. The type of a relation is the second column; of six columns the third and fourth
become the attributes ``Evaluated`` and ``Name``. The gold standard is read if there is no file of
relations. Relations are called ``R1``, ``R2``, ... in each document.

Abstracts are read one by one, entities and relations first of all, since they may be in another
order. A document with a bad line is left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.alignment import compare_mention, mention_problem
from kernelwood.io.containers.limits import LINE_MEMORY
from kernelwood.io.ids import UsedIds
from kernelwood.io.source import Item, Line, Remark, Source
from kernelwood.structures import shorten
from kernelwood.text import Argument, Attribute, Document, Entity, Example, Relation

ABSTRACTS = ("_abstracts.tsv", "_abstracs.tsv", "_abstracts_gs.tsv", "_abstracs_gs.tsv")
ENTITIES = ("_entities.tsv", "_entities_gs.tsv")
RELATIONS = ("_relations.tsv", "_relations_gs.tsv")
GOLD = ("_gold_standard.tsv", "_gold_standard_gs.tsv")
COMPANIONS = (*ABSTRACTS, *ENTITIES, *RELATIONS, *GOLD)

_FIRST_LINE = re.compile(
    r"\s*[^\t\n]{1,100}\t(?:T[0-9]+\t[^\t\n]+\t[0-9]+\t[0-9]+\t"
    r"|[^\t\n]+\t(?:[YN] *\t[^\t\n]*\t)?Arg1:T[0-9]+\tArg2:T[0-9]+)"
)
_NUMBER = re.compile(r"[0-9]{1,9}")
_ENTITY_FORM = "write document<TAB>T1<TAB>type<TAB>start<TAB>end<TAB>text"
_RELATION_FORM = "write document<TAB>type<TAB>Arg1:T1<TAB>Arg2:T2"
_OTHER_BLANKS = Remark("blanks in the text of an entity differ from the document")
_NO_ABSTRACT = Remark("annotation of a document without an abstract left out")


def looks_like_chemprot(head: str) -> bool:
    r"""Return whether a file that begins with ``head`` may hold entities or relations.

    Examples
    --------
    >>> looks_like_chemprot("27\tT1\tCHEMICAL\t0\t8\tNaproxen"), looks_like_chemprot("27\tTitle")
    (True, False)
    """
    return bool(_FIRST_LINE.match(head))


def read_chemprot(
    files: Mapping[str, Source] | Source, views: tuple[str, ...] | None = None
) -> Iterator[Item]:
    r"""Yield an example for each abstract, its id being that of the document.

    Parameters
    ----------
    files : mapping of str to Source
        The files by suffix; that of the abstracts must be there. A single source is a file of
        annotation without abstracts, which is an error.
    views : tuple of str, optional
        The examples have no views unless "document" is among them.

    Examples
    --------
    >>> import io
    >>> data = {"_abstracts.tsv": b"7\tRaf\tIt binds.", "_entities.tsv": b"7\tT1\tGENE\t0\t3\tRaf"}
    >>> [example] = read_chemprot({key: Source(io.BytesIO(data[key])) for key in data})
    >>> example.view("document").entities
    (Entity(id='T1', type='GENE', spans=((0, 3),), text='Raf'),)
    """
    if isinstance(files, Source):
        files = {ENTITIES[0]: files}
    source = _first(files, ABSTRACTS)
    if source is None:
        raise _without_abstracts(files)
    entities = _Table(_first(files, ENTITIES))
    relations = _Table(_first(files, (*RELATIONS, *GOLD)))
    wanted = views is None or "document" in views
    used = UsedIds()
    for line in source.lines():
        if line.problem is not None:
            yield line.problem
            continue
        if not line.text.strip():
            continue
        columns = line.text.split("\t")
        name = columns[0].strip()
        own = entities.take(name), relations.take(name)
        repeated = used.check(name, line.number, source)
        if repeated is not None:
            yield repeated
            continue
        try:
            document, remarks = _document(line, columns, *own)
        except ReadError as failure:
            yield failure
            continue
        except StructureError as failure:
            yield source.locate(failure, line.number)
            continue
        yield from remarks
        views_of = {"document": document} if wanted else {}
        yield Example(name, views=views_of, origin=source.origin(line.number))
    yield from [_NO_ABSTRACT] * (entities.n_left() + relations.n_left())


def _first(files: Mapping[str, Source], suffixes: tuple[str, ...]) -> Source | None:
    return next((files[suffix] for suffix in suffixes if suffix in files), None)


def _without_abstracts(files: Mapping[str, Source]) -> ReadError:
    hint = "put name_abstracts.tsv beside name_entities.tsv, and read that path"
    for source in files.values():
        return source.error("the abstracts of these annotations are missing", line=1, hint=hint)
    return ReadError("there are no files to read", hint=hint)


class _Row(NamedTuple):
    """A line of a table, and the file it is from."""

    source: Source
    line: Line
    columns: list[str]

    def error(self, column: int, problem: str, hint: str | None = None) -> ReadError:
        index = sum(map(len, self.columns[:column])) + column
        failure = self.line.error(index, problem, hint)
        return self.source.locate(failure, self.line.number)


class _Table:
    """The lines of a file of annotation, by document."""

    def __init__(self, source: Source | None) -> None:
        self._source = source
        self._lines: defaultdict[str, list[Line]] = defaultdict(list)
        room = 0 if source is None else source.meter.limits.memory
        for line in source.lines() if source is not None else ():
            if line.text.strip():
                room -= len(line.text) + LINE_MEMORY
                if room < 0 and source is not None:
                    raise source.too_large(1, "table")
                self._lines[line.text.partition("\t")[0].strip()].append(line)

    def take(self, name: str) -> Iterator[_Row]:
        """Return the lines of a document, which are not needed any more."""
        return self._rows(self._lines.pop(name, []))

    def _rows(self, lines: list[Line]) -> Iterator[_Row]:
        for line in lines:
            if line.problem is not None:
                raise line.problem
            if self._source is not None:
                yield _Row(self._source, line, line.text.split("\t"))

    def n_left(self) -> int:
        """Return the number of lines that were not taken."""
        return sum(map(len, self._lines.values()))


def _document(
    line: Line, columns: list[str], entity_rows: Iterable[_Row], relation_rows: Iterable[_Row]
) -> tuple[Document, list[Remark]]:
    if not 2 <= len(columns) <= 3 or not columns[0].strip():
        raise line.error(
            0,
            f"there are {len(columns)} columns instead of 3",
            "write document<TAB>title<TAB>abstract",
        )
    text = "\n".join(columns[1:])
    remarks: list[Remark] = []
    entities: dict[str, Entity] = {}
    for row in entity_rows:
        entity = _entity(row, text, remarks)
        if entity.id in entities:
            raise row.error(1, f"the id {shorten(repr(entity.id))} was used before")
        entities[entity.id] = entity
    relations: list[Relation] = []
    attributes: list[Attribute] = []
    for row in relation_rows:
        relation, details = _relation(row, f"R{len(relations) + 1}", entities)
        relations.append(relation)
        for kind, value in details:
            attributes.append(Attribute(f"A{len(attributes) + 1}", kind, relation.id, value))
    made = Document(text, tuple(entities.values()), tuple(relations), (), tuple(attributes))
    return made, remarks


def _entity(row: _Row, text: str, remarks: list[Remark]) -> Entity:
    if len(row.columns) != 6:
        raise row.error(0, f"there are {len(row.columns)} columns instead of 6", _ENTITY_FORM)
    name, kind, start_text, end_text, written = row.columns[1:]
    if not (_NUMBER.fullmatch(start_text) and _NUMBER.fullmatch(end_text)):
        raise row.error(3, "start and end must be numbers of characters", _ENTITY_FORM)
    start, end = int(start_text), int(end_text)
    if start >= end:
        raise row.error(3, f"the span {start} {end} is empty")
    if end > len(text) or (differ := compare_mention(written, text, [(start, end)])) is None:
        raise row.error(3, *mention_problem("the entity", written, text, [(start, end)]))
    remarks += [_OTHER_BLANKS] * differ
    if not name or name.startswith("R"):
        raise row.error(1, f"{shorten(repr(name))} is not the id of an entity", _ENTITY_FORM)
    return Entity(name, kind, ((start, end),), written)


def _relation(
    row: _Row, name: str, entities: Mapping[str, Entity]
) -> tuple[Relation, list[tuple[str, str]]]:
    """Return a relation, and its attributes."""
    if len(row.columns) not in (4, 6):
        raise row.error(
            0, f"there are {len(row.columns)} columns instead of 4 or 6", _RELATION_FORM
        )
    details = []
    if len(row.columns) == 6:
        evaluated, kind = (column.strip() for column in row.columns[2:4])
        details = [("Evaluated", evaluated), ("Name", kind)]
    arguments = []
    for place in (len(row.columns) - 2, len(row.columns) - 1):
        role, colon, target = row.columns[place].strip().partition(":")
        if not (role and colon and target):
            raise row.error(place, "this is not an argument", _RELATION_FORM)
        if target not in entities:
            raise row.error(place, f"there is no entity {shorten(repr(target))} in the document")
        arguments.append(Argument(role, target))
    return Relation(name, row.columns[1].strip(), tuple(arguments)), details
