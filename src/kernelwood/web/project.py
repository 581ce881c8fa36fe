"""Projects: documents, candidates, decisions, models and settings in one SQLite file.

The text never changes after a project was built (`kernelwood.web.build_project`). Decisions are a
log that only grows: an undo is a row that names the batch of decisions it undoes. A decision is on
the disk before `Project.decide` returns.
"""

from __future__ import annotations

import math
import operator
import os
import sqlite3
import tempfile
import threading
import time as clock
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ExampleBatch
from kernelwood.entities import Dictionary
from kernelwood.errors import KernelwoodError, ModelFormatError, StructureError
from kernelwood.persist import load
from kernelwood.relations import NONE, RelationExtractor, type_of
from kernelwood.structures import decode_json, encode_json, shorten
from kernelwood.text import (
    Attribute,
    Candidate,
    Document,
    Entity,
    Sentence,
    sentence_from_object,
)
from kernelwood.web.project_file import (
    ProjectError,
    ProjectLock,
    check_file,
    damaged,
    migrate,
    open_reader,
    open_writer,
    remove_journal,
    translated,
)

__all__ = [
    "CandidateColumns",
    "Comment",
    "ConflictError",
    "Decision",
    "DocumentRow",
    "Mention",
    "Predicted",
    "Project",
    "ProjectError",
    "StoredModel",
    "TypeRow",
]

DEFAULT_ROLES = ("Arg1", "Arg2")
VIEWS_BLOB, PRIOR_BLOB, NAMES_BLOB = "views", "prior", "names"
BLOB_PART = 1 << 24  # bytes in one row
_CACHED = 2048  # sentences that are kept decoded
_LONGEST_OBJECT = 1 << 26  # bytes of a sentence or an annotation as JSON
_LONGEST_NAME, _LONGEST_COMMENT = 200, 10_000  # characters
_DIRECTIONS = ("(e1,e2)", "(e2,e1)")


def _is_building(value: Any) -> bool:
    """Return whether a value can be the setting with facts about the building of a project."""
    if not isinstance(value, dict):
        return False
    seed, parser = value.get("seed", 0), value.get("parser")
    picks = value.get("first_picks", [])
    return (
        type(seed) is int
        and 0 <= seed < 2**64
        and isinstance(parser, (str, type(None)))
        and isinstance(picks, list)
        and all(type(one) is int for one in picks)
    )


def _is_threshold(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and 0 <= value <= 1)


# Settings that the library reads, and whether a value is possible.
_SETTINGS: dict[str, Callable[[Any], bool]] = {
    "author": lambda value: isinstance(value, str),
    "building": _is_building,
    "learn_annotation": lambda value: isinstance(value, bool),
    "order": lambda value: isinstance(value, str),
    "threshold": _is_threshold,
}


class Decision(NamedTuple):
    """A label that a person gave to a candidate.

    Attributes
    ----------
    id : int
        Ascending.
    batch : int
        Decisions made at once share it, and are undone at once.
    candidate : int
        Row of the candidate.
    label : str or None
        The class; None if the candidate was skipped.
    time : float
        Seconds since the epoch.
    author, comment : str
    predicted : str or None
        The class that the model predicted before the decision; None without a model.
    probability : float or None
        Probability of the best class other than none.
    weight : float or None
        Weight of a check, 1 / (n · probability of being drawn); None for other decisions.
    model : int or None
        Number of the model that predicted.
    """

    id: int
    batch: int
    candidate: int
    label: str | None
    time: float
    author: str
    comment: str
    predicted: str | None
    probability: float | None
    weight: float | None
    model: int | None


class Predicted(NamedTuple):
    """The prediction for a candidate before a decision: class, probability, number of the model."""

    label: str | None = None
    probability: float | None = None
    model: int | None = None


class Comment(NamedTuple):
    """The latest comment on a candidate."""

    text: str
    author: str
    time: float


class Mention(NamedTuple):
    """An entity: the words at its spans, its type, and its spans in the document."""

    text: str
    type: str
    spans: tuple[tuple[int, int], ...]


class DocumentRow(NamedTuple):
    """A document without its text."""

    number: int
    name: str
    n_sentences: int
    n_candidates: int
    held_out: bool


class TypeRow(NamedTuple):
    """A relation type; a symmetric one has no direction."""

    name: str
    symmetric: bool = False
    description: str = ""
    roles: tuple[str, str] = DEFAULT_ROLES


class StoredModel(NamedTuple):
    """The predictions of a model for all candidates.

    Attributes
    ----------
    number : int
        From 1.
    time : float
        Seconds since the epoch.
    n_decisions : int
        Number of labels it was trained on.
    classes : tuple of str
    probabilities : ndarray of float32, shape (n_candidates, n_classes)
    threshold : float
    facts : dict
        Figures about the model.
    """

    number: int
    time: float
    n_decisions: int
    classes: tuple[str, ...]
    probabilities: NDArray[np.float32]
    threshold: float
    facts: dict[str, Any]


class ConflictError(ProjectError):
    """Candidates have other decisions than expected; ``current`` has them by candidate."""

    def __init__(self, current: Mapping[int, Decision | None]) -> None:
        self.current = dict(current)
        n = len(self.current)
        super().__init__(
            f"{n} candidate{'s were' if n > 1 else ' was'} decided elsewhere in the meantime",
            hint="look at the current decision, then decide again",
        )


@dataclass(frozen=True, eq=False)
class CandidateColumns:
    """Candidates as columns; the row is the number of a candidate.

    Attributes
    ----------
    names : list of str
        Unique.
    sentence, document : ndarray of int32
        Numbers of the sentence and the document.
    first, second : ndarray of int32
        Positions of the two entities in ``sentence.entities``, in text order.
    annotation : list of str or None
        Class in the annotated corpus; None if there is no annotation.
    group : ndarray of int32
        Equal for candidates with the same path and the same entity types; -1 without a path.
    held_out : ndarray of bool
        Whether the document is kept for evaluation.
    """

    names: list[str]
    sentence: NDArray[np.int32]
    document: NDArray[np.int32]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    annotation: list[str | None]
    group: NDArray[np.int32]
    held_out: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.names)


@dataclass
class _History:
    """What people did, as it is in the file."""

    decisions: list[Decision] = field(default_factory=list)
    undone: set[int] = field(default_factory=set)
    comments: dict[int, tuple[Comment, int]] = field(default_factory=dict)
    last_undo: int = 0
    last_comment: int = 0
    # Derived: decisions that are not undone, and the last one of each candidate.
    effective: list[Decision] | None = None
    current: dict[int, Decision] | None = None

    def derive(self) -> tuple[list[Decision], dict[int, Decision]]:
        if self.effective is None or self.current is None:
            kept = [one for one in self.decisions if one.batch not in self.undone]
            current = {one.candidate: one for one in kept}
            for candidate, (comment, after) in self.comments.items():
                one = current.get(candidate)
                if one is not None and (after >= one.id or not one.comment):
                    current[candidate] = one._replace(comment=comment.text)
            self.effective, self.current = kept, current
        return self.effective, self.current

    def changed(self) -> None:
        self.effective = self.current = None


class Project:
    """A project file that is open; see `Project.open`.

    One object may be used by several threads.

    Attributes
    ----------
    path : Path
    read_only : bool
    candidates : CandidateColumns

    Examples
    --------
    >>> import tempfile
    >>> from kernelwood.datasets import load_interactions
    >>> from kernelwood.web import build_project
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     project = build_project(f"{folder}/a.kwp", load_interactions("test")[:5])
    ...     [decision] = project.decide([0], "none", author="me")
    ...     label = project.current()[0].label
    ...     undone = project.undo(author="me")
    ...     project.close()
    >>> label, undone == [decision]
    ('none', True)
    """

    def __init__(self, path: Path, *, read_only: bool, lock: ProjectLock | None) -> None:
        self.path = path
        self.read_only = read_only
        self._lock_file = lock
        # Locks are taken in this order; loading may take seconds and does not stop reading.
        self._loading, self._writing, self._reading = (threading.RLock() for _ in range(3))
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._closed = self._is_sound = False
        self._cache: OrderedDict[int, tuple[str, Sentence]] = OrderedDict()
        self._views: ExampleBatch | None = None
        self._prior: RelationExtractor | None = None
        self._mentions: dict[tuple[int, int], Mention] | None = None
        self._history = _History()
        self._labels: set[str | None] = {None, NONE}  # known to be valid
        self._data_version: int | None = None
        try:
            with translated(path):
                self._connect()
            self._documents = self._load_documents()
            self._sentence_document = self._load_sentence_documents()
            self.candidates = self._load_candidates()
            self._load_types()
            self._load_history()
            self._is_sound = True
        except BaseException:
            self.close()
            raise

    def _connect(self) -> None:
        if not self.read_only:
            self._writer = open_writer(self.path)
            check_file(self._writer, self.path, writable=True)
            migrate(self._writer)
        self._reader = open_reader(self.path)
        if self.read_only:
            check_file(self._reader, self.path, writable=False)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, read_only: bool = False) -> Project:
        """Return the project of a file.

        Parameters
        ----------
        path : str or PathLike
        read_only : bool
            Whether to open it for reading; another process may write at the same time, and its
            decisions become visible here.

        Raises
        ------
        ProjectError
            If the file does not exist, is not a project, is damaged, has a newer version, or is in
            use by another process.
        """
        place = Path(os.path.realpath(path))
        if not place.exists():
            raise ProjectError(
                "the file does not exist",
                path=path,
                hint="to create a project, give texts: kernelwood review PROJECT.kwp TEXTS",
            )
        if not place.is_file():
            raise ProjectError(
                "the path is a folder or a device", path=path, hint="give the name of a file"
            )
        lock = None if read_only else ProjectLock(place)
        return cls(place, read_only=read_only, lock=lock)

    def close(self) -> None:
        """Close the file; without effect if it is closed."""
        with self._loading, self._writing, self._reading:
            reads = self.read_only and self._is_sound and not self._closed
            self._closed = True
            # The writer is last: it then moves everything into the one file.
            for connection in (self._reader, self._writer):
                if connection is not None:
                    connection.close()
            if reads:
                remove_journal(self.path)
            if self._lock_file is not None:
                self._lock_file.release()

    def __enter__(self) -> Project:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __repr__(self) -> str:
        n = f"{len(self._documents):,} documents, {len(self.candidates):,} candidates"
        return f"<Project: {self.path.name}, {n}>"

    # Access to the file.

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._reading, translated(self.path):
            if self._closed or self._reader is None:
                raise ProjectError("the project is closed", path=self.path)
            return self._reader.execute(query, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is on the disk when the block ends, or leaves no trace."""
        if self.read_only:
            raise ProjectError(
                "the project is open for reading only",
                path=self.path,
                hint="open it without --read-only to change it",
            )
        with self._writing, translated(self.path):
            if self._closed or self._writer is None:
                raise ProjectError("the project is closed", path=self.path)
            connection = self._writer
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
                self._load_history()
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _damaged(self, what: str) -> ProjectError:
        return damaged(self.path, what)

    def _column(self, values: Iterable[Any], kind: type, what: str) -> list[Any]:
        """Return values of a column, all of one type."""
        listed = list(values)
        if not {kind}.issuperset(map(type, listed)):
            raise self._damaged(f"{what} must be of type {kind.__name__}")
        return listed

    def _numbers(self, values: Iterable[Any], below: int, what: str) -> NDArray[np.int32]:
        """Return indices from 0 to ``below - 1``."""
        made = self._column(values, int, what)
        if made and not (min(made) >= 0 and max(made) < below):
            raise self._damaged(f"{what} are out of range")
        return np.array(made, dtype=np.int32)

    def _json(self, text: Any, what: str) -> Any:
        try:
            return decode_json(text)
        except (StructureError, TypeError, RecursionError) as failure:
            raise self._damaged(f"{what}: {failure}") from failure

    # Texts.

    def _load_documents(self) -> list[DocumentRow]:
        rows = self._rows(
            "SELECT number, name, n_sentences, n_candidates, held_out FROM documents "
            "ORDER BY number"
        )
        numbers, names, *counts, held = zip(*rows, strict=True) if rows else [()] * 5
        if list(numbers) != list(range(len(rows))):
            raise self._damaged("documents are not numbered from 0")
        self._column(names, str, "names of documents")
        for column in (*counts, held):
            self._column(column, int, "numbers of documents")
        return [DocumentRow(*row)._replace(held_out=bool(row[4])) for row in rows]

    def _load_sentence_documents(self) -> NDArray[np.int32]:
        rows = self._rows("SELECT number, document FROM sentences ORDER BY document, number")
        numbers, documents = zip(*rows, strict=True) if rows else ((), ())
        if list(numbers) != list(range(len(rows))):
            raise self._damaged("sentences are not numbered from 0 in the order of documents")
        return self._numbers(documents, len(self._documents), "documents of sentences")

    def _load_candidates(self) -> CandidateColumns:
        rows = self._rows(
            "SELECT number, name, sentence, first, second, annotation, path FROM candidates "
            "ORDER BY number"
        )
        numbers, names, sentence, first, second, annotation, path = (
            zip(*rows, strict=True) if rows else [()] * 7
        )
        if list(numbers) != list(range(len(rows))):
            raise self._damaged("candidates are not numbered from 0")
        if len(set(self._column(names, str, "names of candidates"))) < len(rows):
            raise self._damaged("two candidates have the same name")
        if not {str, type(None)}.issuperset(map(type, annotation)):
            raise self._damaged("annotations of candidates must be text")
        places = self._numbers(sentence, len(self._sentence_document), "sentences of candidates")
        paths = self._column(path, int, "groups of candidates")
        groups = self._numbers((one + 1 for one in paths), len(rows) + 1, "groups of candidates")
        document = self._sentence_document[places]
        held = np.array([one.held_out for one in self._documents], dtype=np.bool_)
        return CandidateColumns(
            list(names),
            places,
            document,
            self._numbers(first, 1 << 31, "entities of candidates"),
            self._numbers(second, 1 << 31, "entities of candidates"),
            list(annotation),
            groups - 1,
            held[document] if len(rows) else np.zeros(0, dtype=np.bool_),
        )

    @property
    def n_sentences(self) -> int:
        """Number of sentences."""
        return len(self._sentence_document)

    def documents(self) -> list[DocumentRow]:
        """Return all documents; the number of a document is its place."""
        return list(self._documents)

    def document_text(self, number: int) -> str:
        """Return the text of a document."""
        return self._text(number)[0]

    def _text(self, number: int) -> tuple[str, bytes]:
        self._check_number(number, len(self._documents), "document")
        rows = self._rows("SELECT text, annotation FROM texts WHERE document = ?", number)
        if len(rows) != 1 or not isinstance(rows[0][0], str) or type(rows[0][1]) is not bytes:
            raise self._damaged(f"document {number} has no text")
        return rows[0][0], rows[0][1]

    def document(self, number: int) -> Document:
        """Return a document with its entities, their attributes and metadata."""
        text, packed = self._text(number)
        rest = self._unpack(packed, f"annotation of document {number}")
        rows = self._rows(
            "SELECT name, type, spans, text FROM entities WHERE document = ? ORDER BY position",
            number,
        )
        try:
            entities = [
                Entity(name, kind, tuple(map(tuple, self._json(spans, "spans"))), written)
                for name, kind, spans, written in rows
            ]
            attributes = tuple(Attribute(*row) for row in rest["attributes"])
            return Document(text, tuple(entities), attributes=attributes, metadata=rest["metadata"])
        except (StructureError, KeyError, TypeError) as failure:
            raise self._damaged(f"document {number}: {failure}") from failure

    def entity_ids(self, number: int) -> dict[tuple[int, int], str]:
        """Return ids in the document of entities given by sentence and place in it."""
        self._check_number(number, len(self._documents), "document")
        rows = self._rows(
            "SELECT sentence, place, name FROM entities WHERE document = ? AND sentence NOTNULL",
            number,
        )
        for sentence, place, name in rows:
            self._column((sentence, place), int, "places of entities")
            self._column((name,), str, "names of entities")
        return {(sentence, place): name for sentence, place, name in rows}

    def sentence_texts(self) -> list[str]:
        """Return the texts of all sentences; faster than decoding the sentences."""
        rows = self._rows("SELECT start, end FROM sentences ORDER BY number")
        if len(rows) != self.n_sentences:
            raise self._damaged("sentences are missing")
        texts = self._all_texts()
        for ends in zip(*rows, strict=True):
            self._column(ends, int, "offsets of sentences")
        documents = self._sentence_document.tolist()
        return [
            texts[document][start:end]
            for document, (start, end) in zip(documents, rows, strict=True)
        ]

    def _all_texts(self) -> list[str]:
        texts = self._rows("SELECT text FROM texts ORDER BY document")
        if len(texts) != len(self._documents):
            raise self._damaged("texts of documents are missing")
        return self._column((text for (text,) in texts), str, "texts of documents")

    def mentions(self) -> dict[tuple[int, int], Mention]:
        """Return the entities of all sentences by sentence and place in it; not to be changed."""
        with self._loading:
            if self._mentions is None:
                rows = self._rows(
                    "SELECT sentence, place, document, type, text, spans FROM entities "
                    "WHERE sentence NOTNULL"
                )
                self._check_participants(rows)
                self._mentions = dict(self._all_mentions(rows))
            return self._mentions

    def _check_participants(self, rows: list[tuple[Any, ...]]) -> None:
        """Raise `ProjectError` unless the entities of all candidates are among these rows."""
        sentences = self._numbers(
            (row[0] for row in rows), self.n_sentences, "sentences of entities"
        )
        places = self._numbers((row[1] for row in rows), 1 << 31, "places of entities")
        documents = self._numbers(
            (row[2] for row in rows), len(self._documents), "documents of entities"
        )
        if (documents != self._sentence_document[sentences]).any():
            raise self._damaged("an entity is in the sentence of another document")
        known = sentences.astype(np.int64) << 32 | places
        columns = self.candidates
        for participants in (columns.first, columns.second):
            wanted = columns.sentence.astype(np.int64) << 32 | participants
            if not np.isin(wanted, known).all():
                raise self._damaged("an entity of a candidate is missing")

    def _all_mentions(
        self, rows: list[tuple[Any, ...]]
    ) -> Iterator[tuple[tuple[int, int], Mention]]:
        kinds, written, spans = list(zip(*rows, strict=True))[3:] if rows else [()] * 3
        for column in (kinds, written, spans):
            self._column(column, str, "entities")
        decoded = self._json(f"[{','.join(spans)}]", "spans of entities")
        if len(decoded) != len(rows):
            raise self._damaged("spans of entities are missing")
        texts = self._all_texts()
        for row, parts in zip(rows, decoded, strict=True):
            text = texts[row[2]]
            try:
                made = tuple([(start, end) for start, end in parts])
                words = " ".join([text[start:end] for start, end in made])
            except (TypeError, ValueError) as failure:
                raise self._damaged("spans of an entity are not pairs of numbers") from failure
            yield row[:2], Mention(words or row[4], row[3], made)

    def entity_types(self) -> list[str]:
        """Return the types of entities, sorted."""
        rows = self._rows("SELECT DISTINCT type FROM entities ORDER BY type")
        return self._column((kind for (kind,) in rows), str, "types of entities")

    def sentence_numbers(self, document: int) -> list[int]:
        """Return the numbers of the sentences of a document, in text order."""
        self._check_number(document, len(self._documents), "document")
        return np.flatnonzero(self._sentence_document == document).tolist()

    def document_of_sentence(self, number: int) -> int:
        """Return the number of the document of a sentence."""
        self._check_number(number, self.n_sentences, "sentence")
        return int(self._sentence_document[number])

    def sentence(self, number: int) -> tuple[str, Sentence]:
        """Return the id of a sentence and the sentence with parse and entities."""
        self._check_number(number, self.n_sentences, "sentence")
        with self._reading:
            if number in self._cache:
                self._cache.move_to_end(number)
                return self._cache[number]
        rows = self._rows("SELECT name, start, end, object FROM sentences WHERE number = ?", number)
        if len(rows) != 1 or [type(value) for value in rows[0]] != [str, int, int, bytes]:
            raise self._damaged(f"sentence {number} cannot be read")
        name, start, end, packed = rows[0]
        try:
            made = sentence_from_object(self._unpack(packed, f"sentence {number}"))
        except (StructureError, RecursionError) as failure:
            raise self._damaged(f"sentence {number}: {failure}") from failure
        if (made.start, made.start + len(made.text)) != (start, end):
            raise self._damaged(f"sentence {number} is not at its place in the document")
        with self._reading:
            self._cache[number] = name, made
            while len(self._cache) > _CACHED:
                self._cache.popitem(last=False)
        return name, made

    def _unpack(self, packed: bytes, what: str) -> Any:
        """Return the JSON value of compressed data, whose checksum is verified."""
        try:
            unpacker = zlib.decompressobj()
            data = unpacker.decompress(packed, _LONGEST_OBJECT)
            if not unpacker.eof:
                raise self._damaged(f"{what} is not complete or too large")
            return self._json(data.decode("utf-8"), what)
        except (zlib.error, UnicodeDecodeError) as failure:
            raise self._damaged(f"{what}: {failure}") from failure

    def candidate(self, row: int) -> Candidate:
        """Return a candidate; its label is the annotated class."""
        columns = self.candidates
        self._check_number(row, len(columns), "candidate")
        _, sentence = self.sentence(int(columns.sentence[row]))
        first, second = int(columns.first[row]), int(columns.second[row])
        if max(first, second) >= len(sentence.entities) or first == second:
            raise self._damaged(f"candidate {row} refers to entities that do not exist")
        pair = (("first", sentence.entities[first]), ("second", sentence.entities[second]))
        return Candidate(columns.names[row], sentence, pair, label=columns.annotation[row])

    def _check_number(self, number: int, n: int, what: str) -> None:
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
            raise ProjectError(f"the number of a {what} must be an integer, got {number!r}")
        if not 0 <= number < n:
            raise ProjectError(f"{what} {number} does not exist; the project has {n:,}")

    def views(self) -> ExampleBatch:
        """Return the views of all candidates; the row is the number of the candidate."""
        with self._loading:
            if self._views is None:
                made = self._load_blob(VIEWS_BLOB)
                if not isinstance(made, ExampleBatch) or made.ids != self.candidates.names:
                    raise self._damaged("views are not those of the candidates")
                self._views = made
            return self._views

    def prior(self) -> bytes | None:
        """Return the model file that the project was created with, None without one."""
        return self._blob(PRIOR_BLOB) or None

    def prior_model(self) -> RelationExtractor | None:
        """Return the extractor that the project was created with, None without one."""
        with self._loading:
            if self._prior is None and self._has_blob(PRIOR_BLOB):
                made = self._load_blob(PRIOR_BLOB)
                if not isinstance(made, RelationExtractor):
                    raise self._damaged("its model is not a relation extractor")
                self._prior = made
            return self._prior

    def dictionary(self) -> Dictionary | None:
        """Return the list of names that the project was created with, None without one."""
        if not self._has_blob(NAMES_BLOB):
            return None
        made = self._load_blob(NAMES_BLOB)
        if not isinstance(made, Dictionary):
            raise self._damaged("its list of names is not a dictionary")
        return made

    def _has_blob(self, name: str) -> bool:
        return bool(self._rows("SELECT 1 FROM blobs WHERE name = ? LIMIT 1", name))

    def _blob(self, name: str) -> bytes:
        rows = self._rows("SELECT part, data FROM blobs WHERE name = ? ORDER BY part", name)
        if [part for part, _ in rows] != list(range(len(rows))):
            raise self._damaged(f"parts of {name} are missing")
        return b"".join(self._column((data for _, data in rows), bytes, name))

    def _load_blob(self, name: str) -> Any:
        descriptor, file = tempfile.mkstemp(prefix="kernelwood-", suffix=".kw")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(self._blob(name))
            return load(file)
        except (ModelFormatError, StructureError) as failure:
            problem = failure.problem if isinstance(failure, ModelFormatError) else str(failure)
            raise self._damaged(f"{name}: {problem}") from failure
        finally:
            Path(file).unlink()

    # Types.

    def _load_types(self) -> None:
        for row in self._type_rows():
            try:
                _check_type(row)
            except ProjectError as failure:
                raise self._damaged(failure.problem) from failure
        for label in set(self.candidates.annotation):
            try:
                self._check_label(label)
            except ProjectError as failure:
                raise self._damaged(f"annotation: {failure.problem}") from failure
            self._labels.add(label)

    def _type_rows(self) -> list[TypeRow]:
        rows = self._rows(
            "SELECT name, symmetric, description, first_role, second_role FROM types "
            "ORDER BY number"
        )
        for name, symmetric, *texts in rows:
            self._column((name, *texts), str, "relation types")
            self._column((symmetric,), int, "relation types")
        return [
            TypeRow(name, bool(symmetric), description, (first, second))
            for name, symmetric, description, first, second in rows
        ]

    def types(self) -> list[TypeRow]:
        """Return the relation types, in the order in which they were added."""
        return self._type_rows()

    def add_type(
        self,
        name: str,
        *,
        symmetric: bool = False,
        description: str = "",
        roles: tuple[str, str] = DEFAULT_ROLES,
    ) -> TypeRow:
        """Add a relation type and return it.

        Raises
        ------
        ProjectError
            If the name is not allowed, or a type of this name exists and differs.
        """
        row = TypeRow(name, bool(symmetric), description, tuple(roles))  # type: ignore[arg-type]
        _check_type(row)
        with self._transaction() as connection:
            known = {one.name: one for one in self._type_rows()}
            if name in known:
                if known[name] == row:
                    return row
                raise ProjectError(
                    f"the relation type {name!r} exists, with other properties",
                    path=self.path,
                    hint="choose another name",
                )
            insert_type(connection, row)
        return row

    def _check_label(self, label: str | None) -> None:
        if label is None or label == NONE:
            return
        _check_text(label, "the label", _LONGEST_NAME + len(_DIRECTIONS[0]))
        name = type_of(label)
        known = {one.name: one for one in self._type_rows()}
        if name not in known:
            listed = ", ".join(map(repr, known)) or "none yet"
            raise ProjectError(
                f"the relation type {shorten(repr(name))} is unknown",
                path=self.path,
                hint=f"add the type first; types of this project: {shorten(listed, 300)}",
            )
        if known[name].symmetric and label != name:
            raise ProjectError(
                f"the relation type {name!r} is symmetric and has no direction",
                path=self.path,
                hint=f"use the label {name!r}",
            )
        if not known[name].symmetric and label == name:
            raise ProjectError(
                f"the relation type {name!r} needs a direction",
                path=self.path,
                hint="use the label "
                + " or ".join(repr(f"{name}{direction}") for direction in _DIRECTIONS),
            )

    # Decisions.

    def decide(
        self,
        candidates: Sequence[int],
        label: str | None,
        *,
        author: str,
        comment: str = "",
        predictions: Sequence[Predicted | None] | None = None,
        weights: Sequence[float | None] | None = None,
        token: str = "",
        expected: Sequence[int | None] | None = None,
        time: float | None = None,
    ) -> list[Decision]:
        """Store a decision on each candidate; they are on the disk when this returns.

        Parameters
        ----------
        candidates : sequence of int
            Rows of candidates, without repetition; they are one batch.
        label : str or None
            The class; None skips the candidates.
        author, comment : str
        predictions : sequence of Predicted or None, optional
            The prediction for each candidate before the decision.
        weights : sequence of float or None, optional
            The weight of each candidate that is a check.
        token : str
            Key of the request: a repetition with the same key returns the first result.
        expected : sequence of int or None, optional
            Id of the decision that each candidate has, None if it has none.
        time : float, optional
            Seconds since the epoch; by default now.

        Raises
        ------
        ConflictError
            If candidates do not have the expected decisions.
        ProjectError
            If the label, its direction or a candidate is not valid, or the file cannot be written.
        """
        rows = self._check_rows(candidates)
        _check_author(author)
        _check_text(comment, "the comment", _LONGEST_COMMENT)
        _check_text(token, "the token", _LONGEST_NAME)
        notes = _per_candidate(predictions, len(rows), "predictions")
        checks = [_weight(one) for one in _per_candidate(weights, len(rows), "weights")]
        notes = [_check_predicted(Predicted() if one is None else one) for one in notes]
        wanted = None if expected is None else _per_candidate(expected, len(rows), "expected")
        made = clock.time() if time is None else _finite(time, "the time")
        with self._transaction() as connection:
            earlier = self._made_with(connection, token)
            if earlier is not None:
                if [one.candidate for one in earlier] != rows or earlier[0].label != label:
                    raise ProjectError(
                        "the token was used for another decision", hint="use a new token"
                    )
                return earlier
            self._check_label(label)
            if wanted is not None:
                self._check_expected(rows, wanted)
            batch = _insert_decisions(
                connection,
                token,
                [
                    (row, label, made, author, comment, *note[:2], weight, note.model)
                    for row, note, weight in zip(rows, notes, checks, strict=True)
                ],
            )
        return self._batch(batch)

    def add_decisions(self, decisions: Sequence[Decision]) -> list[Decision]:
        """Store decisions from elsewhere as one batch, with their authors, times and comments.

        Ids are new. Predictions and weights are left out: they belong to models and draws of
        another project.
        """
        self._check_rows([one.candidate for one in decisions])
        for one in decisions:
            _check_author(one.author)
            _check_text(one.comment, "the comment", _LONGEST_COMMENT)
            _finite(one.time, "the time")
        with self._transaction() as connection:
            for label in {one.label for one in decisions}:
                self._check_label(label)
            rows = [
                (one.candidate, one.label, one.time, one.author, one.comment, *[None] * 4)
                for one in decisions
            ]
            batch = _insert_decisions(connection, "", rows)
        return self._batch(batch)

    def _batch(self, number: int | None) -> list[Decision]:
        with self._reading:
            return [one for one in self._history.decisions if one.batch == number]

    def _made_with(self, connection: sqlite3.Connection, token: str) -> list[Decision] | None:
        if not token:
            return None
        found = connection.execute("SELECT number FROM batches WHERE token = ?", (token,))
        row = found.fetchone()
        if row is None:
            return None
        return self._batch(row[0])

    def _check_rows(self, candidates: Sequence[int]) -> list[int]:
        rows = list(candidates)
        if not rows:
            raise ProjectError("a decision needs at least one candidate")
        for row in rows:
            self._check_number(row, len(self.candidates), "candidate")
        if len(set(rows)) < len(rows):
            raise ProjectError("a candidate is listed twice")
        return [int(row) for row in rows]

    def _check_expected(self, rows: Sequence[int], expected: Sequence[int | None]) -> None:
        current = self._history.derive()[1]
        found: dict[int, Decision | None] = {}
        for row, wanted in zip(rows, expected, strict=True):
            one = current.get(row)
            if (None if one is None else one.id) != wanted:
                found[row] = one
        if found:
            raise ConflictError(found)

    def undo(self, *, author: str, token: str = "") -> list[Decision]:
        """Undo the last batch of decisions that is not undone; return its decisions.

        Parameters
        ----------
        author : str
        token : str
            As in `decide`.

        Returns
        -------
        list of Decision
            Empty if all decisions are undone.
        """
        _check_author(author)
        _check_text(token, "the token", _LONGEST_NAME)
        with self._transaction() as connection:
            if token:
                row = connection.execute(
                    "SELECT batch FROM undos WHERE token = ?", (token,)
                ).fetchone()
                if row is not None:
                    return self._batch(row[0])
            effective = self._history.derive()[0]
            batch = max((one.batch for one in effective), default=None)
            if batch is None and not token:
                return []
            connection.execute(
                "INSERT INTO undos(batch, time, author, token) VALUES (?, ?, ?, ?)",
                (batch, clock.time(), author, token or None),
            )
        return self._batch(batch)

    def comment(self, candidate: int, text: str, *, author: str) -> None:
        """Store a comment on a candidate, decided or not; it replaces earlier ones."""
        self._check_number(candidate, len(self.candidates), "candidate")
        _check_author(author)
        _check_text(text, "the comment", _LONGEST_COMMENT)
        with self._transaction() as connection:
            last = self._history.decisions[-1].id if self._history.decisions else 0
            connection.execute(
                "INSERT INTO comments(candidate, text, time, author, decision) "
                "VALUES (?, ?, ?, ?, ?)",
                (int(candidate), text, clock.time(), author, last),
            )

    def _load_history(self) -> None:
        """Add the rows that were appended to the file since the last call."""
        with self._reading:
            history = self._history
            self._data_version = self._version()
            # Undos first, so that their decisions are read, too, while another process writes.
            undos = self._rows(
                "SELECT number, batch FROM undos WHERE number > ? ORDER BY number",
                history.last_undo,
            )
            rows = self._rows(
                "SELECT id, batch, candidate, label, time, author, comment, predicted, "
                "probability, weight, model FROM decisions WHERE id > ? ORDER BY id",
                history.decisions[-1].id if history.decisions else 0,
            )
            comments = self._rows(
                "SELECT number, candidate, text, author, time, decision FROM comments "
                "WHERE number > ? ORDER BY number",
                history.last_comment,
            )
            decisions = [self._decision(row) for row in rows]
            self._check_undos(undos, decisions)
            remarks = [(row[1], self._comment(row), row[5]) for row in comments]
            history.decisions += decisions
            history.undone |= {batch for _, batch in undos if batch is not None}
            history.comments |= {row: (comment, after) for row, comment, after in remarks}
            history.last_undo = undos[-1][0] if undos else history.last_undo
            history.last_comment = comments[-1][0] if comments else history.last_comment
            if undos or decisions or comments:
                history.changed()

    def _check_undos(self, undos: list[tuple[Any, ...]], decisions: list[Decision]) -> None:
        if undos:
            batches: set[Any] = {one.batch for one in (*self._history.decisions, *decisions)}
            if not {None, *batches}.issuperset(batch for _, batch in undos):
                raise self._damaged("an undo refers to a decision that does not exist")

    def _comment(self, row: tuple[Any, ...]) -> Comment:
        number, candidate, text, author, when, after = row
        self._numbers([candidate], len(self.candidates), "candidates of comments")
        self._column((text, author), str, "comments")
        self._column((number, after), int, "comments")
        self._column((when,), float, "times of comments")
        return Comment(text, author, when)

    def _version(self) -> int:
        [(version,)] = self._rows("PRAGMA data_version")
        return int(version)

    def _decision(self, row: tuple[Any, ...]) -> Decision:
        made = Decision(*row)
        kinds = zip(row, _DECISION_TYPES, strict=True)
        if not all(isinstance(value, kind) for value, kind in kinds):
            raise self._damaged(f"decision {made.id} has a value of the wrong type")
        if not 0 <= made.candidate < len(self.candidates):
            raise self._damaged(f"decision {made.id} refers to a candidate that does not exist")
        numbers = [one for one in (made.time, made.probability, made.weight) if one is not None]
        if not all(math.isfinite(one) for one in numbers):
            raise self._damaged(f"decision {made.id} has a number that is not finite")
        if made.label not in self._labels:
            try:
                self._check_label(made.label)
            except ProjectError as failure:
                raise self._damaged(f"decision {made.id}: {failure.problem}") from failure
            self._labels.add(made.label)
        return made

    def _refresh(self) -> None:
        """Load what another process has written, if the project is open for reading."""
        if self.read_only and self._version() != self._data_version:
            self._load_history()

    def current(self) -> dict[int, Decision]:
        """Return the effective decision of each candidate that has one.

        Its comment is the latest one on the candidate.
        """
        with self._reading:
            self._refresh()
            return dict(self._history.derive()[1])

    def log(self) -> Iterator[Decision]:
        """Iterate over all decisions that are not undone, in order; checks have a weight."""
        with self._reading:
            self._refresh()
            return iter(tuple(self._history.derive()[0]))

    def comments(self) -> dict[int, Comment]:
        """Return the latest comment of each candidate that has been commented on."""
        with self._reading:
            self._refresh()
            return {row: comment for row, (comment, _) in self._history.comments.items()}

    # Settings and models.

    def settings(self) -> dict[str, Any]:
        """Return all settings."""
        rows = self._rows("SELECT name, value FROM settings ORDER BY name")
        self._column((name for name, _ in rows), str, "names of settings")
        made = {name: self._json(value, f"setting {name}") for name, value in rows}
        for name, fits in _SETTINGS.items():
            if name in made and not fits(made[name]):
                raise self._damaged(f"the setting {name} has an invalid value")
        return made

    def set(self, name: str, value: Any) -> None:
        """Store a setting, a value that JSON can encode.

        Raises
        ------
        ProjectError
            If the value is not a JSON value, or not one of a setting that the library reads.
        """
        _check_text(name, "the name of a setting", _LONGEST_NAME, least=1)
        if name in _SETTINGS and not _SETTINGS[name](value):
            raise ProjectError(f"the setting {name} cannot be {shorten(repr(value))}")
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO settings(name, value) VALUES (?, ?) "
                "ON CONFLICT(name) DO UPDATE SET value = excluded.value",
                (name, to_json(value, f"setting {name!r}")),
            )

    def save_model(
        self,
        *,
        n_decisions: int,
        classes: Sequence[str],
        probabilities: NDArray[Any] | None,
        threshold: float,
        facts: Mapping[str, Any] | None = None,
    ) -> int:
        """Store the figures of a model and, if given, its predictions; return its number, from 1.

        Probabilities of earlier models are then dropped; their figures are kept.
        """
        made = None
        if probabilities is not None:
            made = np.ascontiguousarray(probabilities, dtype="<f4")
            self._check_probabilities(made, classes, ProjectError)
        with self._transaction() as connection:
            if made is not None:
                connection.execute(
                    "UPDATE models SET probabilities = NULL WHERE probabilities NOTNULL"
                )
            number = connection.execute(
                "INSERT INTO models(time, n_decisions, classes, threshold, facts, probabilities) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (
                    clock.time(),
                    int(n_decisions),
                    to_json(list(classes), "classes"),
                    _finite(threshold, "the threshold"),
                    to_json(dict(facts or {}), "facts"),
                    None if made is None else made.tobytes(),
                ),
            ).lastrowid
        return int(number or 0)

    def _check_probabilities(
        self, values: NDArray[np.float32], classes: Sequence[str], error: Any
    ) -> None:
        if len(set(classes)) < len(classes) or NONE not in classes:
            raise error(f"classes of a model must be distinct and include {NONE!r}")
        if values.shape != (len(self.candidates), len(classes)):
            raise error(
                f"probabilities of a model have the shape {values.shape} instead of "
                f"{(len(self.candidates), len(classes))}"
            )
        if not (np.isfinite(values).all() and (values >= 0).all() and (values <= 1.001).all()):
            raise error("probabilities of a model must be numbers from 0 to 1")

    def latest_model(self) -> StoredModel | None:
        """Return the last model that was saved with its predictions, None if there is none."""
        rows = self._rows(
            "SELECT number, time, n_decisions, classes, threshold, facts, probabilities "
            "FROM models WHERE probabilities NOTNULL ORDER BY number DESC LIMIT 1"
        )
        if not rows:
            return None
        number, when, n_decisions, names, threshold, facts, data = rows[0]
        if type(data) is not bytes:
            raise self._damaged(f"probabilities of model {number} are not bytes")
        classes = self._column(self._json(names, "classes"), str, "classes of a model")
        n = len(self.candidates) * len(classes) * 4
        if len(data) != n:
            raise self._damaged(f"model {number} has {len(data)} bytes instead of {n}")
        values = np.frombuffer(data, dtype="<f4").reshape(len(self.candidates), len(classes))
        self._check_probabilities(values, classes, self._damaged)
        self._column((when, threshold), float, "times and thresholds of models")
        self._column((number, n_decisions), int, "numbers of models")
        made = self._facts(facts, number)
        return StoredModel(
            number, when, n_decisions, tuple(classes), values.astype(np.float32), threshold, made
        )

    def _facts(self, text: Any, number: Any) -> dict[str, Any]:
        """Return the figures of a model."""
        made = self._json(text, f"facts of model {number}")
        if not isinstance(made, dict):
            raise self._damaged(f"facts of model {number} are not an object")
        if type(made.get("labels", 0)) is not int:
            raise self._damaged(f"facts of model {number}: the number of labels is not a number")
        return made

    def model_history(self) -> list[dict[str, Any]]:
        """Return number, number of labels, time and figures of all models, the oldest first."""
        rows = self._rows("SELECT number, n_decisions, time, facts FROM models ORDER BY number")
        return [
            {
                "number": number,
                "n_decisions": n_decisions,
                "time": when,
                "facts": self._facts(facts, number),
            }
            for number, n_decisions, when, facts in rows
        ]


_TEXT_OR_NONE, _NUMBER_OR_NONE = (str, type(None)), (float, int, type(None))
_DECISION_TYPES: tuple[Any, ...] = (
    int, int, int, _TEXT_OR_NONE, (float, int), str, str, _TEXT_OR_NONE, _NUMBER_OR_NONE,
    _NUMBER_OR_NONE, (int, type(None)),
)  # fmt: skip


def _insert_decisions(
    connection: sqlite3.Connection, token: str, rows: Iterable[tuple[Any, ...]]
) -> int | None:
    """Append decisions and return the number of their batch."""
    batch = connection.execute("INSERT INTO batches(token) VALUES (?)", (token or None,)).lastrowid
    connection.executemany(
        "INSERT INTO decisions(batch, candidate, label, time, author, comment, predicted, "
        "probability, weight, model) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(batch, *row) for row in rows],
    )
    return batch


def insert_type(connection: sqlite3.Connection, row: TypeRow) -> None:
    """Append a relation type."""
    connection.execute(
        "INSERT INTO types(name, symmetric, description, first_role, second_role) "
        "VALUES (?, ?, ?, ?, ?)",
        (row.name, int(row.symmetric), row.description, *row.roles),
    )


def to_json(value: Any, what: str) -> str:
    """Return a value as JSON.

    Raises
    ------
    ProjectError
        If it has a part that JSON cannot encode.
    """
    try:
        made = encode_json(value)
        made.encode()
    except (KernelwoodError, TypeError, UnicodeEncodeError, RecursionError) as failure:
        raise ProjectError(f"{what} cannot be stored as JSON: {failure}") from failure
    return made


def check_types(types: Iterable[TypeRow]) -> list[TypeRow]:
    """Return relation types after checking that names are allowed and distinct."""
    listed = list(types)
    for row in listed:
        _check_type(row)
    names = [row.name for row in listed]
    for name in names:
        if names.count(name) > 1:
            raise ProjectError(f"the relation type {name!r} is declared twice")
    return listed


def _check_type(row: TypeRow) -> None:
    _check_text(row.name, "the name of a relation type", _LONGEST_NAME, least=1)
    _check_text(row.description, "the description of a relation type", _LONGEST_COMMENT)
    if len(row.roles) != 2:
        raise ProjectError(f"the relation type {row.name!r} needs two roles")
    for role in row.roles:
        _check_text(role, "a role of a relation type", _LONGEST_NAME)
    if row.name == NONE or row.name != type_of(row.name) or row.name != row.name.strip():
        raise ProjectError(
            f"{row.name!r} cannot be the name of a relation type",
            hint="choose another name, without blanks around it; 'none' is the class of candidates "
            "that are not relations",
        )
    if not row.name.isprintable():
        raise ProjectError(f"the relation type {row.name!r} has characters that are not printable")


def _check_text(value: Any, what: str, most: int, *, least: int = 0) -> None:
    if not isinstance(value, str):
        raise ProjectError(f"{what} must be text, got {type(value).__name__}")
    if not least <= len(value) <= most:
        raise ProjectError(f"{what} has {len(value):,} characters; use {least} to {most:,}")
    try:
        value.encode()
    except UnicodeEncodeError as failure:
        raise ProjectError(f"{what} has a character that is not valid Unicode") from failure


def _check_author(author: str) -> None:
    _check_text(author, "the author", _LONGEST_NAME)


def _check_predicted(given: Predicted) -> Predicted:
    made = Predicted(*given)
    if made.label is not None:
        _check_text(made.label, "the predicted class", _LONGEST_NAME + len(_DIRECTIONS[0]))
    probability = None if made.probability is None else _finite(made.probability, "a probability")
    model = None if made.model is None else operator.index(made.model)
    return Predicted(made.label, probability, model)


def _weight(value: float | None) -> float | None:
    made = None if value is None else _finite(value, "a weight")
    if made is not None and made <= 0:
        raise ProjectError(f"weights must be positive, got {made}")
    return made


def _finite(value: Any, what: str) -> float:
    try:
        made = float(value)
    except (TypeError, ValueError):
        made = math.nan
    if not math.isfinite(made):
        raise ProjectError(f"{what} must be a finite number, got {shorten(repr(value))}")
    return made


def _per_candidate(values: Sequence[Any] | None, n: int, what: str) -> list[Any]:
    listed = [None] * n if values is None else list(values)
    if len(listed) != n:
        raise ProjectError(f"{what} has {len(listed)} values for {n} candidates")
    return listed
