"""Files of predictions: JSON lines, tables, and annotated documents.

============  ====================================================================================
``.jsonl``    one prediction per line, as returned by `Prediction.to_dict`
``.tsv``      one prediction per line, below a header
``.parquet``  one prediction per row, with the content of JSON lines (extra ``arrow``)
``.ann``      a folder in the format of brat, with the text and the annotation of each document: all
              entities, and the predicted relations or events; with configuration files
others        annotated documents in any format that can store them, with the same content
============  ====================================================================================

Documents are written one by one; a file or folder appears only when it is complete.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from inspect import signature
from itertools import count
from pathlib import Path
from typing import IO, Any, NamedTuple

from kernelwood.errors import KernelInputError
from kernelwood.io import (
    FORMATS,
    check_parquet,
    check_vacant,
    fit_to_format,
    format_to_write,
    left_out,
    write,
    write_folder,
    write_parquet,
    write_text,
)
from kernelwood.relations.brat_folder import NOTE, PROBABILITY, BratFolder
from kernelwood.relations.frames import separated_lines
from kernelwood.relations.parquet_rows import (
    EVIDENCE,
    PARTICIPANT,
    PREDICTION,
    evidence_values,
    prediction_values,
)
from kernelwood.relations.predictions import Case, Evidence, Participant, Prediction
from kernelwood.structures import encode_json, one_line, shorten
from kernelwood.text import (
    Argument,
    Attribute,
    Document,
    Entity,
    Event,
    Example,
    Relation,
    Sentence,
)

# Name of a format, which is also the file suffix -> description.
OUTPUTS = {
    "jsonl": "JSON lines, one prediction each",
    "tsv": "tab-separated table, one prediction per line",
    "ann": "folder of texts with standoff annotation (brat)",
    "parquet": "Parquet table, one prediction per row",
}
_SAME = {"standoff": "ann"}  # names in `io.FORMATS` -> names of output formats
_WRITERS = {"documents": "jsonl"}  # names of output formats -> other names in `io.FORMATS`
# Options of writers: change what the format cannot store, such as line ends; mark as predictions.
_WRITER_OPTIONS = ("adapt", "predictions")
_MOST = {False: 2, True: 3}  # participants of a pair, and of an event
# Argument names of brat, for roles that the annotation does not name.
_ROLES = {"first": "Arg1", "second": "Arg2", "participant": "Theme", "catalyst": "Cause"}


class DocumentPredictions(NamedTuple):
    """A document or sentence with its predictions.

    Attributes
    ----------
    id : str
        Id of the example; used as file name of standoff annotation.
    annotated : Document or Sentence
        The text with its entities.
    predictions : sequence of Prediction
        Predictions to write.
    evidence : sequence of Evidence, optional
        Training cases to write with each prediction.
    """

    id: str
    annotated: Document | Sentence
    predictions: Sequence[Prediction]
    evidence: Sequence[Evidence] | None = None

    def explained(self) -> Iterator[tuple[Prediction, Evidence | None]]:
        """Yield each prediction with its evidence, or None if there is none to write."""
        if self.evidence is None:
            yield from ((prediction, None) for prediction in self.predictions)
        else:
            yield from zip(self.predictions, self.evidence, strict=True)


class AnnotatedDocument(NamedTuple):
    """A document with predicted relations or events.

    Attributes
    ----------
    id : str
    document : Document
    directed : frozenset of str
        Ids of the relations that have a direction.
    """

    id: str
    document: Document
    directed: frozenset[str] = frozenset()


def output_format(path: str | os.PathLike[str], format: str | None = None) -> str:
    """Return the output format for a path.

    Raises
    ------
    ValueError
        If the format is unknown.

    Examples
    --------
    >>> output_format("found.jsonl.gz"), output_format("found", "standoff")
    ('jsonl', 'ann')
    """
    known = output_formats()
    if format is not None:
        format = _SAME.get(format, format)
        if format not in known:
            listed = ", ".join(known)
            raise ValueError(f"unknown output format {format!r}; choose one of {listed}")
        return format
    name = Path(path).name.lower().removesuffix(".gz")
    suffixes = {suffix: found for found, some in known.items() for suffix in some}
    for suffix in sorted(suffixes, key=len, reverse=True):
        if name.endswith(suffix):
            return suffixes[suffix]
    listed = ", ".join(suffixes)
    raise ValueError(
        f"unknown output format of {os.fspath(path)!r}; the name must end in one of {listed}"
    )


def output_formats() -> dict[str, tuple[str, ...]]:
    """Return the suffixes of each output format, by its name.

    Besides ``jsonl``, ``tsv``, ``parquet`` and ``ann``, these are all formats of
    `kernelwood.io.FORMATS` that can store documents; ``documents`` are the JSON lines that
    `kernelwood.read` reads.

    Examples
    --------
    >>> output_formats()["tsv"]
    ('.tsv',)
    """
    own: dict[str, tuple[str, ...]] = {name: (f".{name}",) for name in OUTPUTS}
    rows = [
        row
        for row in FORMATS
        if (row.write or row.write_files) and "document" in (row.views or ())
        if row.name not in _SAME
    ]
    # Suffixes of several formats, such as those of JSON lines, do not determine one.
    counts = Counter(suffix for row in rows for suffix in row.suffixes)
    counts.update(suffix for some in own.values() for suffix in some)
    for row in rows:
        own[row.name] = tuple(suffix for suffix in row.suffixes if counts[suffix] == 1)
    return own | dict.fromkeys(_WRITERS, ())


def write_predictions(
    predicted: Iterable[DocumentPredictions],
    path: str | os.PathLike[str] | IO[str],
    *,
    format: str | None = None,
    events: bool = False,
    evidence: bool = False,
) -> None:
    r"""Write predictions to a file or folder, completely or not at all.

    Parameters
    ----------
    predicted : iterable of DocumentPredictions
        Read one by one, so they need not fit in memory together.
    path : str, PathLike or text stream
        Output file, or a new or empty folder for ``"ann"``; ``"-"`` is standard output.
    format : str, optional
        ``"jsonl"``, ``"tsv"``, ``"parquet"``, ``"ann"``, ``"documents"``, or a format of
        `kernelwood.io.FORMATS` that stores documents; by default that of the suffix. The formats
        besides ``"jsonl"``, ``"tsv"`` and ``"parquet"`` contain only positive predictions.
    events : bool
        Whether predictions are events; adds columns to a ``"tsv"`` table.
    evidence : bool
        Whether predictions have evidence; adds a column to a ``"tsv"`` or ``"parquet"`` table.

    Raises
    ------
    ValueError
        If the format is unknown.
    KernelInputError
        If a Parquet table is asked for and pyarrow is not installed, or predictions have evidence
        and ``evidence`` is False.
    FileExistsError
        If ``path`` exists where a folder is to be written.

    Warns
    -----
    UserWarning
        If the format cannot store parts of the documents.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> write_predictions([], out, format="tsv")
    >>> out.getvalue().split("\t")[:4]
    ['document', 'id', 'type', 'positive']
    """
    named = path if isinstance(path, (str, os.PathLike)) else ""
    chosen = output_format(named, format)
    if chosen == "jsonl":
        write_text(path, json_lines(predicted))
    elif chosen == "tsv":
        write_text(path, table_lines(predicted, events=events, evidence=evidence))
    elif chosen == "parquet":
        _write_table(predicted, path, evidence)
    else:
        write_annotated(annotated_documents(predicted), path, chosen)


def write_annotated(
    documents: Iterable[AnnotatedDocument], path: str | os.PathLike[str] | IO[str], format: str
) -> None:
    """Write annotated documents in one of the `output_formats`, as `write_predictions` does."""
    if format == "ann":
        if not isinstance(path, (str, os.PathLike)) or path == "-":
            raise ValueError("standoff annotation has several files; name a folder")
        check_vacant(Path(path))
        write_folder(path, BratFolder().files(documents))
    else:
        _write_documents(documents, path, _WRITERS.get(format, format))


def _write_table(
    predicted: Iterable[DocumentPredictions],
    path: str | os.PathLike[str] | IO[str],
    evidence: bool,
) -> None:
    """Write a Parquet table."""

    def rows() -> Iterator[tuple[Any, ...]]:
        for one in predicted:
            if one.evidence is not None and not evidence:
                raise KernelInputError(
                    f"the predictions of {shorten(repr(one.id))} have evidence, but the table has "
                    "no column for it; use evidence=True"
                )
            for prediction, cases in one.explained():
                row = prediction_values(prediction)
                some = None if cases is None else evidence_values(cases)
                yield (*row, some) if evidence else row

    columns = PREDICTION | ({"evidence": EVIDENCE} if evidence else {})
    write_parquet(check_parquet(path), columns, rows(), content="predictions")


def _write_documents(
    documents: Iterable[AnnotatedDocument],
    path: str | os.PathLike[str] | IO[str],
    format: str,
) -> None:
    """Write annotated documents; warn of parts that the format cannot store."""
    lost: Counter[str] = Counter()

    def examples() -> Iterator[Example]:
        for one in documents:
            example = Example(one.id, views={"document": one.document})
            lost.update(left_out(example, format))
            yield fit_to_format(example, format)

    row = format_to_write(path, format)
    takes = signature(row.write or row.write_files or write).parameters
    write(examples(), path, format, **{name: True for name in _WRITER_OPTIONS if name in takes})
    if lost:
        listed = ", ".join(
            f"{part} of {n:,} document{'s' * (n > 1)}" for part, n in lost.most_common()
        )
        warnings.warn(f"the format {format} cannot store {listed}", stacklevel=3)


def json_lines(predicted: Iterable[DocumentPredictions]) -> Iterator[str]:
    """Yield a line of JSON for each prediction."""
    for one in predicted:
        for prediction, cases in one.explained():
            yield f"{encode_json(prediction_object(prediction, cases))}\n"


def prediction_object(
    prediction: Prediction, evidence: Evidence | None, *, fragments: bool = True
) -> dict[str, Any]:
    """Return a prediction as plain JSON values, with training cases as evidence."""
    made = prediction.to_dict()
    if evidence is not None:
        made["evidence"] = evidence.to_dict(fragments=fragments)
    return made


def prediction_columns(*, events: bool = False, evidence: bool = False) -> dict[str, type]:
    """Return the titles of the columns of a table, and the types of their values.

    Examples
    --------
    >>> list(prediction_columns())[6:12]
    ['role1', 'id1', 'type1', 'text1', 'spans1', 'reference1']
    """
    parts = [f"{name}{n + 1}" for n in range(_MOST[events]) for name in PARTICIPANT]
    trigger = [f"trigger_{name}" for name in ("id", "type", "text", "spans")] if events else []
    return {
        **dict.fromkeys(("document", "id", "type"), str),
        "positive": bool,
        **dict.fromkeys(("probability", "threshold"), float),
        **dict.fromkeys((*parts, *trigger, "label"), str),
        **dict.fromkeys(("start", "end"), int),
        **dict.fromkeys(("sentence", *(["evidence"] if evidence else [])), str),
    }


def table_lines(
    predicted: Iterable[DocumentPredictions], *, events: bool = False, evidence: bool = False
) -> Iterator[str]:
    """Yield the lines of a tab-separated table, header first."""
    rows = (
        [
            *prediction_row(prediction, events=events),
            *(["; ".join(map(_short_case, cases or ()))] if evidence else []),
        ]
        for one in predicted
        for prediction, cases in one.explained()
    )
    return separated_lines(prediction_columns(events=events, evidence=evidence), rows)


def prediction_row(prediction: Prediction, *, events: bool = False) -> list[Any]:
    """Return the values of the columns of a prediction, without evidence."""
    row: list[Any] = [prediction.document, prediction.id, prediction.type]
    row += [prediction.positive, prediction.probability, prediction.threshold]
    for place in range(_MOST[events]):
        if place < len(prediction.participants):
            one = prediction.participants[place]
            row += [one.role, one.id, one.type, one.text, _spans(one), one.reference or None]
        else:
            row += [None] * len(PARTICIPANT)
    if events:
        trigger = prediction.trigger
        row += [None] * 4 if trigger is None else [trigger.id, trigger.type, trigger.text]
        row += [] if trigger is None else [_spans(trigger)]
    return [*row, prediction.label, *prediction.sentence, prediction.text]


def _spans(participant: Participant) -> str:
    return ";".join(f"{start} {end}" for start, end in participant.spans)


def _short_case(case: Case) -> str:
    return f"{case.id} ({case.type}, {case.contribution:+.3f})"


def annotated_document(predicted: DocumentPredictions) -> Document:
    """Return a text with its entities and the predicted relations or events.

    The attribute ``probability`` of each relation or event is its probability; notes give training
    cases. Participants that are not entities of the text, such as detected triggers, are added.

    Examples
    --------
    >>> document = Document("Raf.", [("T1", "Gene product", [(0, 3)])])
    >>> annotated_document(DocumentPredictions("a", document, ())).entities[0].type
    'Gene product'
    """
    return _annotated(predicted)[0]


def annotated_documents(predicted: Iterable[DocumentPredictions]) -> Iterator[AnnotatedDocument]:
    """Yield each text with its entities and the predicted relations or events."""
    return (AnnotatedDocument(one.id, *_annotated(one)) for one in predicted)


def _annotated(predicted: DocumentPredictions) -> tuple[Document, frozenset[str]]:
    """Return the document, and the ids of relations with a direction."""
    given = predicted.annotated
    entities = _Entities(given)
    attributes = [item for item in given.attributes if item.target in entities.ids]
    used = {*entities.ids, *(item.id for item in attributes)}
    names = {letter: _unused(letter, used) for letter in "REA#"}
    relations: list[Relation] = []
    events: list[Event] = []
    directed: set[str] = set()
    for prediction, cases in predicted.explained():
        if not prediction.positive:
            continue
        arguments = _arguments(prediction, entities)
        if prediction.trigger is None:
            name = next(names["R"])
            relations.append(Relation(name, prediction.type, arguments))
            directed.update([name] if prediction.directed else [])
        else:
            name = next(names["E"])
            trigger = entities.name(prediction.trigger)
            events.append(Event(name, prediction.type, trigger, arguments))
        probability = f"{prediction.probability:.6g}"
        attributes.append(Attribute(next(names["A"]), PROBABILITY, name, probability))
        for note in map(_note, cases or ()):
            attributes.append(Attribute(next(names["#"]), NOTE, name, note))
    metadata = given.metadata if isinstance(given, Document) else ()
    document = Document(
        given.text,
        tuple(entities.listed),
        tuple(relations),
        tuple(events),
        tuple(attributes),
        metadata,
    )
    return document, frozenset(directed)


def _unused(letter: str, used: set[str]) -> Iterator[str]:
    return (name for name in (f"{letter}{n}" for n in count(1)) if name not in used)


class _Entities:
    """The entities of a text, and participants added by predictions, whose ids may be taken."""

    def __init__(self, annotated: Document | Sentence) -> None:
        self._shift = annotated.start if isinstance(annotated, Sentence) else 0
        self.listed = list(annotated.entities)
        self.ids = {entity.id for entity in self.listed}
        self._names = {(item.id, item.spans): item.id for item in self.listed}

    def name(self, participant: Participant) -> str:
        """Return the entity id of a participant; add an entity if necessary."""
        spans = tuple((start - self._shift, end - self._shift) for start, end in participant.spans)
        key = (participant.id, spans)
        if key not in self._names:
            names = (f"{participant.id}{'~' * n}" for n in count())
            name = next(name for name in names if name not in self.ids)
            entity = Entity(name, participant.type, spans, participant.text)
            self.listed.append(entity)
            self.ids.add(name)
            self._names[key] = name
        return self._names[key]


def _arguments(prediction: Prediction, entities: _Entities) -> tuple[Argument, ...]:
    """Return the participants; repeated roles are numbered, as in brat."""
    arguments: list[Argument] = []
    used: dict[str, int] = {}
    for one in prediction.participants:
        role = _ROLES.get(one.role, one.role)
        used[role] = used.get(role, 0) + 1
        numbered = role if used[role] == 1 else f"{role}{used[role]}"
        arguments.append(Argument(numbered, entities.name(one)))
    return tuple(arguments)


def _note(case: Case) -> str:
    side = "for" if case.supports else "against"
    return one_line(f"{side}: {_short_case(case)}: {shorten(case.text, 200)}")
