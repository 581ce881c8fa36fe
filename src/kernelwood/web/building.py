"""Building projects: reading, entities, parses, candidates, views, and the file that holds them.

The file is built under a temporary name in its folder and renamed when it is complete and on the
disk, so that an interrupted or failed call leaves no file behind.
"""

from __future__ import annotations

import importlib
import os
import sqlite3
import string
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias, cast

import numpy as np

from kernelwood.arrays import ExampleBatch
from kernelwood.entities import Dictionary, EntityFinder
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.evaluate import documents as document_names
from kernelwood.io import ErrorPolicy, check_parent, iter_texts, temporary_name
from kernelwood.parsing import PreparsedBackend, load_backend
from kernelwood.persist import save
from kernelwood.relations import (
    GIVEN,
    NONE,
    Candidates,
    RelationClasses,
    RelationExtractor,
    SentenceTable,
    example_entries,
    is_backward,
    pairs_in,
    type_of,
)
from kernelwood.seeds import child_generator
from kernelwood.text import Document, Entity, Example, Sentence, sentence_object
from kernelwood.views import find_view
from kernelwood.web.project import (
    BLOB_PART,
    DEFAULT_ROLES,
    NAMES_BLOB,
    PRIOR_BLOB,
    VIEWS_BLOB,
    Project,
    ProjectError,
    TypeRow,
    check_types,
    insert_type,
    to_json,
)
from kernelwood.web.project_file import (
    ProjectLock,
    connect,
    create_schema,
    remove_remains,
    translated,
)
from kernelwood.web.teaching import Teacher

__all__ = ["VIEWS", "build_project", "read_types"]

# Stage, how much of it is done, and of how much; None if that is unknown.
Progress: TypeAlias = Callable[[str, int, "int | None"], None]

VIEWS = (
    "stem-context",
    "stem-steps",
    "names",
    "negation",
    "types",
    "sentence-words",
    "stem-entity-words",
)
_PATH, _TYPES = "stem-steps", "types"
_AUTO = "auto"
_DEFAULT_PARSER = "biomedical-dependencies"
_CHUNK = 50_000  # characters that are parsed and stored at once
_PLACES = {"e1", "e2"}  # roles that name places in the text
_HELD_OUT = 1  # stream of random numbers
_MANY = 5  # relations, from which the direction of a type is inferred
_NO_ENTITIES = (
    "give a list of names: --entities terms.tsv, or a model that finds entities: --model model.kw"
)


def build_project(
    path: str | os.PathLike[str],
    sources: Any,
    *,
    entities: Dictionary | None = None,
    extractor: RelationExtractor | None = None,
    types: Sequence[TypeRow] = (),
    annotation: bool | None = None,
    held_out: float = 0.0,
    parser: Any = _AUTO,
    max_distance: int | None = None,
    max_entities: int = 60,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    overwrite: bool = False,
    errors: ErrorPolicy = "raise",
    **options: Any,
) -> Project:
    """Create a project from texts or an annotated corpus, and open it.

    Parameters
    ----------
    path : str or PathLike
        The new file.
    sources : path, or iterable of paths and documents
        Files, folders and archives, as `kernelwood.io.read_texts` reads them, or examples,
        documents and sentences. Documents of the same name get a number.
    entities : Dictionary, optional
        Names to find in texts.
    extractor : RelationExtractor, optional
        A model to start with: it finds entities, its relation types are added, and it is stored in
        the project.
    types : sequence of TypeRow
        Declared relation types; they take precedence over those of annotation and model.
    annotation : bool, optional
        Whether relations of the sources are stored as existing annotation; by default if there
        are any.
    held_out : float
        Fraction of the annotated documents that are kept for evaluation, from 0 to less than 1.
    parser : str or Backend
        As in `RelationExtractor`; with a model, by default the parser of its training corpus.
    max_distance, max_entities : int
        As in `kernelwood.relations.pair_candidates`.
    seed : int
        Seed of the choice of held-out documents.
    settings : mapping of str to JSON values, optional
        Settings to store.
    progress : callable, optional
        Called with a stage ("reading", "parsing", "saving"), the number of documents done, and
        the number of all, or None.
    overwrite : bool
        Whether to replace an existing file.
    errors : {"raise", "skip", "collect"}
        Treatment of broken parts of files, as in `kernelwood.io.read_texts`.
    **options
        Further arguments of `kernelwood.io.read_texts`: ``only``, ``format``, ``text_field``, ...

    Returns
    -------
    Project
        Open for writing. The setting ``"building"`` has the name of the parser, and counts of the
        documents and annotations that were read and dropped.

    Raises
    ------
    ProjectError
        If the file exists or cannot be written, there are no candidates, or an argument is not
        valid.
    ReadError
        If a source cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> import kernelwood as kw
    >>> from kernelwood.entities import Dictionary
    >>> names = Dictionary([("Raf", "protein"), ("Ras", "protein")])
    >>> texts = [kw.Document("Raf binds Ras.")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with build_project(f"{folder}/raf.kwp", texts, entities=names) as project:
    ...         project.candidates.names
    ['text1.s0.T1-T2']
    """
    report = progress or _silent
    declared = check_types(types)
    _check_held_out(held_out)
    _check_model(extractor)
    target = Path(os.path.realpath(path))
    with _NewFile(target, overwrite=overwrite) as file:
        finder = _finder(entities, extractor)
        read = _read(sources, finder, errors, options, report)
        backend, parser_name = _backend(parser, read.documents, extractor)
        scheme = _learn_scheme(read.documents)
        built = _Built()
        limits = {"max_distance": max_distance, "max_entities": max_entities}
        wanted = None if extractor is None else extractor.types
        with translated(target):
            for chunk in _chunks(read.documents, whole=isinstance(backend, PreparsedBackend)):
                _add_documents(file.connection, built, chunk, backend, limits, wanted)
                report("parsing", built.n_documents, len(read.documents))
            if not built.rows:
                raise _no_candidates(target, built, read.n_entities, entities)
            report("saving", 0, None)
            known = annotation if annotation is not None else built.has_relations
            rows = _all_types(declared, scheme if known else None, built, extractor)
            _add_candidates(file.connection, built, rows if known else None)
            _hold_out(file.connection, built, held_out if known else 0.0, seed)
            if held_out and not known:
                raise ProjectError(
                    "documents can be held out only if their relations are annotated",
                    hint="leave out --held-out, or give an annotated corpus",
                )
            for row in rows:
                insert_type(file.connection, row)
            table = built.table()
            _add_blob(file.connection, VIEWS_BLOB, table)
            if extractor is not None:
                _add_blob(file.connection, PRIOR_BLOB, extractor)
            if isinstance(entities, Dictionary):
                _add_blob(file.connection, NAMES_BLOB, entities)
            facts = {
                "parser": parser_name,
                "annotation": bool(known),
                "seed": seed,
                "max_distance": max_distance,
                "max_entities": max_entities,
                "n_documents": built.n_documents,
                "n_sentences": built.n_sentences,
                "n_candidates": len(built.rows),
                "skipped": read.skipped,
                "dropped": dict(+built.dropped),
                # Known from the start, so that the project opens at once.
                "first_picks": Teacher(table, np.zeros(len(table)), seed=seed).first_picks(),
            }
            for name, value in {**(settings or {}), "building": facts}.items():
                file.connection.execute(
                    "INSERT INTO settings(name, value) VALUES (?, ?)",
                    (name, to_json(value, f"setting {name!r}")),
                )
        report("saving", 1, 1)
        return file.finish()


def _silent(stage: str, done: int, total: int | None) -> None:
    """Report no progress."""


def _check_held_out(fraction: float) -> None:
    if not isinstance(fraction, (int, float)) or not 0 <= fraction < 1:
        raise ProjectError(
            f"the fraction of held-out documents must be at least 0 and less than 1, got "
            f"{fraction!r}"
        )


def _check_model(extractor: RelationExtractor | None) -> None:
    """Raise ProjectError if a model does not compare pairs by views that a project stores."""
    if extractor is None:
        return
    if extractor.candidates != "pairs":
        raise ProjectError(
            "the model predicts events, and projects have pairs of entities",
            hint="give a model of pairs, or leave out --model",
        )
    unknown = sorted(set(extractor.views_) - set(VIEWS))
    if unknown:
        raise ProjectError(
            f"the model compares the view {unknown[0]!r}, which projects do not have",
            hint=f"train a model on default views ({', '.join(VIEWS)}), or leave out --model",
        )


def read_types(path: str | os.PathLike[str]) -> list[TypeRow]:
    """Return the relation types of a TOML file.

    ::

        [[type]]
        name = "Activates"
        description = "the first protein activates the second"
        roles = ["Agent", "Target"]

        [[type]]
        name = "Binds"
        symmetric = true

    Raises
    ------
    ProjectError
        If the file is not TOML, or has other keys or values.
    """
    toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        with Path(path).open("rb") as file:
            values = toml.load(file)
    except (toml.TOMLDecodeError, UnicodeDecodeError) as failure:
        raise ProjectError(f"not valid TOML: {failure}", path=path) from failure
    except RecursionError as failure:
        raise ProjectError("not valid TOML: nested too deeply", path=path) from failure
    tables = values.pop("type", None)
    if values or not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise ProjectError(
            "a file of relation types has tables [[type]] and no other keys",
            path=path,
            hint='write [[type]], and below it name = "Activates"',
        )
    try:
        return check_types(_type_row(one) for one in tables)
    except ProjectError as failure:
        raise ProjectError(failure.problem, path=path, hint=failure.hint) from failure


def _type_row(table: dict[str, Any]) -> TypeRow:
    unknown = table.keys() - {"name", "symmetric", "description", "roles"}
    if unknown:
        raise ProjectError(
            f"unknown key {min(unknown)!r} of a relation type",
            hint="the keys are name, symmetric, description and roles",
        )
    roles = table.get("roles", list(DEFAULT_ROLES))
    symmetric = table.get("symmetric", False)
    if not isinstance(symmetric, bool):
        raise ProjectError(f"symmetric must be true or false, got {symmetric!r}")
    if not isinstance(roles, list) or len(roles) != 2:
        raise ProjectError(f"roles must be a list of two names, got {roles!r}")
    return TypeRow(
        table.get("name", ""), symmetric, table.get("description", ""), (roles[0], roles[1])
    )


# Reading.


@dataclass
class _Source:
    """A document, or the sentences of one that has no text of its own."""

    name: str
    document: Document | None = None
    sentences: list[tuple[str, Sentence]] = field(default_factory=list)

    @property
    def parts(self) -> Sequence[Document | Sentence]:
        if self.document is not None:
            return (self.document,)
        return [sentence for _, sentence in self.sentences]

    @property
    def is_parsed(self) -> bool:
        if self.document is not None:
            return bool(self.document.parse)
        return any(one.dependencies or one.tree is not None for _, one in self.sentences)

    @property
    def n_characters(self) -> int:
        return sum(len(part.text) for part in self.parts)


@dataclass
class _Read:
    documents: list[_Source] = field(default_factory=list)
    n_entities: int = 0
    skipped: dict[str, int] = field(default_factory=dict)


def _finder(entities: Any, extractor: RelationExtractor | None) -> EntityFinder | None:
    learned = None if extractor is None else extractor.tagger_
    return None if entities is None and learned is None else EntityFinder(learned, entities)


def _read(
    sources: Any,
    finder: EntityFinder | None,
    errors: ErrorPolicy,
    options: Mapping[str, Any],
    report: Progress,
) -> _Read:
    """Return all documents with their entities, not yet cut into sentences or parsed."""
    made = _Read()
    used: set[str] = set()
    skipped: Counter[str] = Counter()
    for examples in _example_lists(sources, errors, options, skipped):
        sentences: list[tuple[Example, Sentence]] = []
        for example in examples:
            [(name, annotated, _, _)] = example_entries([example], owner="build_project")
            if finder is not None:
                annotated = finder.annotate(annotated)
            made.n_entities += len(annotated.entities)
            if isinstance(annotated, Document):
                made.documents.append(_Source(_unused(name, used), annotated))
            else:
                sentences.append((example, annotated))
            report("reading", len(made.documents) + len(sentences), None)
        made.documents += _joined(sentences, used)
    made.skipped = dict(skipped)
    return made


def _example_lists(
    sources: Any, errors: ErrorPolicy, options: Mapping[str, Any], skipped: Counter[str]
) -> Iterator[Iterable[Example]]:
    """Yield the examples of each path, and those that are given, in order."""
    one = isinstance(sources, (str, os.PathLike, Example, Document, Sentence))
    listed = [sources] if one or hasattr(sources, "read") else list(sources)
    given: list[Any] = []
    for number, source in enumerate(listed):
        if isinstance(source, (str, os.PathLike)) or hasattr(source, "read"):
            with iter_texts(source, errors=errors, **options) as stream:
                yield stream
                skipped.update(stream.tally.reasons)
        else:
            given.append(source)
            if number + 1 == len(listed) or isinstance(listed[number + 1], (str, os.PathLike)):
                yield _examples(given)
                given = []


def _examples(given: Iterable[Any]) -> Iterator[Example]:
    for name, annotated, _, origin in example_entries(given, owner="build_project"):
        view = "document" if isinstance(annotated, Document) else "sentence"
        yield Example(name, views={view: annotated}, origin=origin)


def _joined(sentences: Sequence[tuple[Example, Sentence]], used: set[str]) -> list[_Source]:
    """Return the documents of sentences; where these are unknown, each sentence is one."""
    examples = [example for example, _ in sentences]
    try:
        names = document_names(examples)
    except KernelInputError:
        names = [example.id for example in examples]
    found: dict[str, _Source] = {}
    for name, (example, sentence) in zip(names, sentences, strict=True):
        if example.origin is not None and name == example.origin.path:
            name = example.id  # only the file is known, which may have any number of documents
        if name not in found:
            found[name] = _Source(_unused(name, used))
        found[name].sentences.append((example.id, sentence))
    return list(found.values())


def _unused(name: str, used: set[str]) -> str:
    """Return a name that is not in use, with a number if necessary, and use it."""
    number, made = 1, name
    while made in used:
        number += 1
        made = f"{name}~{number}"
    used.add(made)
    return made


def _backend(
    parser: Any, documents: Iterable[_Source], extractor: RelationExtractor | None
) -> tuple[Any, str]:
    """Return what parses the sentences, None if parses are given, and its name."""
    if parser == _AUTO and extractor is not None and extractor.parser_ != GIVEN:
        parser = extractor.parser_
    if parser == _AUTO:
        parser = GIVEN if any(one.is_parsed for one in documents) else _DEFAULT_PARSER
    if parser == GIVEN:
        return None, GIVEN
    backend = load_backend(parser)
    return backend, backend.name


def _chunks(documents: Sequence[_Source], *, whole: bool) -> Iterator[list[_Source]]:
    chunk: list[_Source] = []
    size = 0
    for document in documents:
        chunk.append(document)
        size += document.n_characters
        if size >= _CHUNK and not whole:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


# Documents and sentences.


@dataclass
class _Built:
    """What was made of the documents so far."""

    n_documents: int = 0
    n_sentences: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    # Of each candidate: name, sentence, places of the two entities, directed label, group.
    rows: list[tuple[str, int, int, int, str, int]] = field(default_factory=list)
    n_candidates: list[int] = field(default_factory=list)  # of each document
    columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in VIEWS})
    groups: dict[tuple[Any, ...], int] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    @property
    def has_relations(self) -> bool:
        return any(label != NONE for *_, label, _ in self.rows)

    def table(self) -> ExampleBatch:
        return ExampleBatch([name for name, *_ in self.rows], None, self.columns)


def _add_documents(
    connection: sqlite3.Connection,
    built: _Built,
    chunk: Sequence[_Source],
    backend: Any,
    limits: Mapping[str, Any],
    types: Any,
) -> None:
    """Cut, parse and store documents, and make their candidates and views."""
    tables = [_table(source, backend, built.dropped) for source in chunk]
    joined = SentenceTable()
    for table in tables:
        joined.extend(table)
    if backend is not None and not isinstance(backend, PreparsedBackend):
        joined.parse(backend, least=2, most=limits["max_entities"])
    candidates = pairs_in(joined, types=types, labels="directed", **limits)
    built.dropped.update(candidates.dropped)
    owners: list[int] = []
    for source, table in zip(chunk, tables, strict=True):
        table.sentences = joined.sentences[len(owners) : len(owners) + len(table)]
        owners += [built.n_documents] * len(table)
        _store_document(connection, built, source, table)
    _make_candidates(built, candidates, owners)


def _table(source: _Source, backend: Any, dropped: Counter[str]) -> SentenceTable:
    """Return the sentences of a document; ``start`` is the offset in its text."""
    given: Any = [(source.name, source.document, None, None)]
    if source.document is None:
        given = [(name, one, None, None) for name, one in source.sentences]
    table = SentenceTable.read(given, dropped, backend)
    if source.document is None:
        start = 0
        for row, sentence in enumerate(table.sentences):
            table.sentences[row] = sentence.with_parts(start=start)
            start += len(sentence.text) + 1
    return table


def _store_document(
    connection: sqlite3.Connection, built: _Built, source: _Source, table: SentenceTable
) -> None:
    number, first = built.n_documents, built.n_sentences
    document, ids = _whole(source, table)
    try:
        document.text.encode()
        source.name.encode()
    except UnicodeEncodeError as failure:
        raise ProjectError(
            f"document {source.name!r} has a character that is not valid Unicode",
            hint="read the text with its encoding, and without errors='surrogateescape'",
        ) from failure
    connection.execute(
        "INSERT INTO documents(number, name, held_out, n_sentences, n_candidates) "
        "VALUES (?, ?, 0, ?, 0)",
        (number, source.name, len(table)),
    )
    rest = {
        "attributes": [list(one) for one in document.attributes],
        "metadata": [list(one) for one in document.metadata],
    }
    packed = _pack(rest, f"document {source.name!r}")
    connection.execute(
        "INSERT INTO texts(document, text, annotation) VALUES (?, ?, ?)",
        (number, document.text, packed),
    )
    connection.executemany(
        "INSERT INTO sentences(number, document, name, start, end, object) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [
            (
                first + row,
                number,
                name,
                one.start,
                one.start + len(one.text),
                _pack(sentence_object(one), f"sentence {name}"),
            )
            for row, (name, one) in enumerate(zip(table.ids, table.sentences, strict=True))
        ],
    )
    places = {
        ids[row][entity.id]: (first + row, place)
        for row, sentence in enumerate(table.sentences)
        for place, entity in enumerate(sentence.entities)
    }
    connection.executemany(
        "INSERT INTO entities(document, position, name, type, text, spans, sentence, place) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                number,
                position,
                one.id,
                one.type,
                one.text,
                to_json([list(span) for span in one.spans], "spans"),
                *places.get(one.id, (None, None)),
            )
            for position, one in enumerate(document.entities)
        ],
    )
    built.n_documents += 1
    built.n_sentences += len(table)
    built.n_candidates.append(0)


def _whole(source: _Source, table: SentenceTable) -> tuple[Document, list[dict[str, str]]]:
    """Return the document without relations and events, and entity ids by those of sentences."""
    if source.document is not None:
        given = source.document
        own = {entity.id for entity in given.entities}
        attributes = [one for one in given.attributes if one.target in own]
        ids = [{one.id: one.id for one in sentence.entities} for sentence in table.sentences]
        made = Document(
            given.text, given.entities, attributes=tuple(attributes), metadata=given.metadata
        )
        return made, ids
    entities: list[Entity] = []
    attributes, used, ids = [], set[str](), []
    for name, sentence in zip(table.ids, table.sentences, strict=True):
        shift = sentence.start
        found: dict[str, str] = {}
        for entity in sentence.entities:
            new = entity.id if entity.id not in used else f"{name}.{entity.id}"
            found[entity.id] = new = _unused(new, used)
            spans = tuple((start + shift, end + shift) for start, end in entity.spans)
            entities.append(entity._replace(id=new, spans=spans))
        for attribute in sentence.attributes:
            if attribute.target in found:
                new = _unused(attribute.id, used)
                attributes.append(attribute._replace(id=new, target=found[attribute.target]))
        ids.append(found)
    text = "\n".join(sentence.text for sentence in table.sentences)
    return Document(text, tuple(entities), attributes=tuple(attributes)), ids


def _pack(value: Any, what: str) -> bytes:
    return zlib.compress(to_json(value, what).encode())


# Candidates.


def _make_candidates(built: _Built, candidates: Candidates, documents: Sequence[int]) -> None:
    """Add candidates with their views; those without a view are dropped and counted.

    ``documents`` are the numbers of the documents of the sentences, which are the last ones.
    """
    shift = built.n_sentences - len(documents)
    makers: list[tuple[str, Any]] = []
    latest = -1
    for row in range(len(candidates)):
        candidate = candidates[row]
        place = candidates.sentence_of[row]
        try:
            if place != latest:
                makers = [(name, find_view(name).prepare(candidate.sentence)) for name in VIEWS]
                latest = place
            views = {name: make(candidate) for name, make in makers}
        except StructureError as failure:
            latest = -1
            built.dropped[f"pair without views: {failure.problem}"] += 1
            continue
        for name, (view, _) in views.items():
            built.columns[name].append(view)
        entities = candidate.sentence.entities
        first, second = (_place(entities, one) for one in candidate.entities)
        group = -1
        if not views[_PATH][1]:
            key = (views[_PATH][0], views[_TYPES][0])
            group = built.groups.setdefault(key, len(built.groups))
        name = _unused(candidate.id, built.names)
        built.rows.append((name, shift + place, first, second, str(candidate.label), group))
        built.n_candidates[documents[place]] += 1


def _place(entities: Sequence[Entity], wanted: Entity) -> int:
    return next(place for place, one in enumerate(entities) if one.id == wanted.id)


def _no_candidates(
    target: Path, built: _Built, n_entities: int, terms: Dictionary | None
) -> ProjectError:
    if not built.n_documents:
        return ProjectError("the sources contain no texts", path=target)
    if not n_entities and isinstance(terms, Dictionary):
        return ProjectError(terms.not_found(), path=target)
    if not n_entities:
        return ProjectError(
            "the texts have no entities, so that there are no candidates",
            path=target,
            hint=_NO_ENTITIES,
        )
    reasons = "; ".join(f"{reason}: {n:,}" for reason, n in built.dropped.most_common(3))
    return ProjectError(
        f"{n_entities:,} entities were found, but there is not one pair in a sentence",
        path=target,
        hint=f"dropped: {reasons}" if reasons else "give longer lists of names, or more texts",
    )


def _learn_scheme(documents: Iterable[_Source]) -> RelationClasses:
    """Return roles of the annotated relation types, and the types without direction."""
    parts = (part for source in documents for part in source.parts)
    return RelationClasses.learn(cast("Iterable[Sentence]", parts), "directed", (), None)


def _all_types(
    declared: Sequence[TypeRow],
    scheme: RelationClasses | None,
    built: _Built,
    extractor: RelationExtractor | None,
) -> list[TypeRow]:
    """Return the declared types, those of the annotated candidates, and those of the model."""
    rows = {row.name: row for row in declared}
    if scheme is not None:
        counts = Counter(type_of(label) for *_, label, _ in built.rows if label != NONE)
        for name, _ in counts.most_common():
            roles = tuple(scheme.roles.get(name, ()))
            symmetric = name in scheme.undirected or _in_text_order(name, roles, built)
            rows.setdefault(name, TypeRow(name, symmetric, "", _roles(roles, symmetric)))
    if extractor is not None:
        for name in extractor.relations_:
            roles = tuple(extractor.roles_.get(name, ()))
            symmetric = len(set(roles)) < 2
            rows.setdefault(name, TypeRow(name, symmetric, "", _roles(roles, symmetric)))
    return check_types(rows.values())


def _in_text_order(name: str, roles: tuple[str, ...], built: _Built) -> bool:
    """Return whether the arguments of a type have no names, and are always in text order.

    Formats such as brat name the arguments of all relations, ``Arg1`` and ``Arg2`` if they have no
    roles of their own. If several relations never run against the text, the order has no meaning.
    """
    if len({role.rstrip(string.digits) for role in roles}) > 1:
        return False
    ways = Counter(is_backward(label) for *_, label, _ in built.rows if type_of(label) == name)
    return ways[False] >= _MANY and not ways[True]


def _roles(roles: tuple[str, ...], symmetric: bool) -> tuple[str, str]:
    if symmetric or len(roles) != 2 or not all(roles) or set(roles) == _PLACES:
        return DEFAULT_ROLES
    return roles[0], roles[1]


def _add_candidates(
    connection: sqlite3.Connection, built: _Built, types: Sequence[TypeRow] | None
) -> None:
    """Store the candidates; ``types`` is None if there is no annotation."""
    symmetric = {row.name for row in types or () if row.symmetric}

    def label_of(label: str) -> str | None:
        if types is None:
            return None
        return type_of(label) if type_of(label) in symmetric else label

    connection.executemany(
        "INSERT INTO candidates(number, name, sentence, first, second, annotation, path) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (number, name, sentence, first, second, label_of(label), group)
            for number, (name, sentence, first, second, label, group) in enumerate(built.rows)
        ],
    )
    connection.executemany(
        "UPDATE documents SET n_candidates = ? WHERE number = ?",
        [(n, number) for number, n in enumerate(built.n_candidates) if n],
    )


def _hold_out(connection: sqlite3.Connection, built: _Built, fraction: float, seed: int) -> None:
    """Choose whole documents that have candidates."""
    if not fraction:
        return
    possible = np.flatnonzero(np.array(built.n_candidates))
    n = round(fraction * len(possible))
    if not 0 < n < len(possible):
        raise ProjectError(
            f"{n} of {len(possible)} documents with candidates would be held out",
            hint="give more documents, or another fraction",
        )
    order = child_generator(seed, _HELD_OUT).permutation(possible)
    connection.executemany(
        "UPDATE documents SET held_out = 1 WHERE number = ?", [(int(one),) for one in order[:n]]
    )


def _add_blob(connection: sqlite3.Connection, name: str, model: Any) -> None:
    """Store a model or table in the format of `kernelwood.save`."""
    with tempfile.TemporaryDirectory(prefix="kernelwood-") as folder:
        file = Path(folder, "blob.kw")
        save(model, file)
        with file.open("rb") as stream:
            for part, data in enumerate(iter(lambda: stream.read(BLOB_PART), b"")):
                connection.execute(
                    "INSERT INTO blobs(name, part, data) VALUES (?, ?, ?)", (name, part, data)
                )


# The file.


class _NewFile:
    """A project file under a temporary name; it is removed unless `finish` is called."""

    def __init__(self, target: Path, *, overwrite: bool) -> None:
        self._target = target
        if target.exists() and not (overwrite and target.is_file()):
            raise ProjectError(
                "the file exists" if target.is_file() else "the path is a folder or a device",
                path=target,
                hint="choose another name",
            )
        try:
            check_parent(target)
        except OSError as failure:
            raise ProjectError("the folder does not exist", path=target.parent) from failure
        self._lock: ProjectLock | None = ProjectLock(target)
        self._temporary = temporary_name(target)

    def __enter__(self) -> _NewFile:
        try:
            with translated(self._target):
                # The project is locked: a process that was killed has left the file behind.
                self._temporary.unlink(missing_ok=True)
                self.connection = connect(self._temporary, mode="rwc")
                # Until the file has its name, an interruption loses no more than this call.
                for setting in ("journal_mode = MEMORY", "synchronous = OFF"):
                    self.connection.execute(f"PRAGMA {setting}")
                create_schema(self.connection)
                self.connection.execute("BEGIN")
        except BaseException:
            self._discard()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._discard()

    def _discard(self) -> None:
        if hasattr(self, "connection"):
            self.connection.close()
        self._temporary.unlink(missing_ok=True)
        remove_remains(self._temporary)
        if self._lock is not None:
            self._lock.release()

    def finish(self) -> Project:
        """Complete the file, give it its name and open it."""
        target, temporary = self._target, self._temporary
        with translated(target):
            self.connection.execute("COMMIT")
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.close()
            _sync(temporary)
            if target.exists():  # what is in the journal of the old file stays in the old file
                with closing(sqlite3.connect(target)) as old:
                    _checkpoint(old)
            remove_remains(target)
            temporary.replace(target)
            _sync(target.parent)
        lock, self._lock = self._lock, None
        return Project(target, read_only=False, lock=lock)


def _checkpoint(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.DatabaseError):  # of a damaged file, which is replaced
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if path.is_dir() and sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
