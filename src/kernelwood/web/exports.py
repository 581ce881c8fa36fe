"""Exports of projects: a model, annotated documents, decisions, facts and a report.

Relations are those that people decided. On request, relations of the existing annotation are added
where no decision was made, and predicted relations of undecided candidates, which are marked with
their probability where the format can store it. Files appear only when they are complete.
"""

from __future__ import annotations

import os
import re
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.io import (
    check_parent,
    check_vacant,
    fit_to_format,
    format_to_write,
    left_out,
    new_folder,
    write,
    write_folder,
    write_text,
)
from kernelwood.persist import save
from kernelwood.relations import (
    GIVEN,
    NONE,
    BratFolder,
    Candidates,
    FactCounter,
    Participant,
    Prediction,
    RelationExtractor,
    ReportContents,
    SentenceTable,
    is_backward,
    type_of,
    write_report,
)
from kernelwood.seeds import child_generator
from kernelwood.structures import encode_json
from kernelwood.text import Argument, Attribute, Document, Example, Relation
from kernelwood.web.project import (
    DEFAULT_ROLES,
    DocumentRow,
    Project,
    ProjectError,
    TypeRow,
)
from kernelwood.web.project_file import damaged, translated

__all__ = [
    "EXPORTS",
    "Export",
    "Exported",
    "annotated_documents",
    "export",
    "export_bytes",
    "relations_of",
    "train_extractor",
]

Progress: TypeAlias = Callable[[str, int, "int | None"], None]

_MOST_ANNOTATED = 5_000  # annotated candidates that a model is trained on, beside decisions
_SAMPLE = 2  # stream of random numbers
_UNDIRECTED = ("", "")
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the same contents give the same bytes
_PROBABILITY, _NOTE = "probability", "AnnotatorNotes"
_HALF = 0.5
_UNSAFE = re.compile(r'[\\:*?"<>|\x00-\x1f\x7f]')  # in file names of some system
_LONGEST_PART = 60  # characters, each of up to four bytes


class Model(Protocol):
    """Predictions for all candidates: a `StoredModel`, or the live model of a session."""

    @property
    def classes(self) -> Sequence[str]: ...
    @property
    def probabilities(self) -> NDArray[np.float32]: ...
    @property
    def threshold(self) -> float: ...


class Exported(NamedTuple):
    """A relation to export.

    Attributes
    ----------
    candidate : int
    label : str
        Its class.
    source : {"decided", "annotated", "predicted"}
    probability : float
        1 unless it is predicted.
    comment : str
    """

    candidate: int
    label: str
    source: str
    probability: float = 1.0
    comment: str = ""


@dataclass(frozen=True)
class _Request:
    """A project with the relations to export."""

    project: Project
    relations: dict[int, list[Exported]]  # by document
    threshold: float
    types: dict[str, TypeRow] = field(default_factory=dict)
    has_predicted: bool = False
    remarks: list[str] = field(default_factory=list)  # parts that a format cannot store
    model_warnings: list[str] = field(default_factory=list)  # training has shown them already

    def roles(self, label: str, undirected: tuple[str, str] = DEFAULT_ROLES) -> tuple[str, str]:
        row = self.types.get(type_of(label), TypeRow(type_of(label)))
        if row.symmetric:
            return undirected
        first, second = row.roles
        return (first or DEFAULT_ROLES[0]), (second or DEFAULT_ROLES[1])

    def documents(self) -> Iterator[tuple[DocumentRow, list[Exported]]]:
        for row in self.project.documents():
            yield row, self.relations.get(row.number, [])


class Export(NamedTuple):
    """A kind of export.

    Attributes
    ----------
    name : str
        File name, or name of a folder.
    title, description : str
        For the page.
    media_type : str
        Media type of the file, or of the zip archive of a folder.
    write : callable
        Writes to a path.
    is_folder : bool
    """

    name: str
    title: str
    description: str
    media_type: str
    write: Callable[[_Request, Path], None]
    is_folder: bool = False


class Download(NamedTuple):
    """A file in memory.

    Attributes
    ----------
    data : bytes
    media_type, name : str
    remarks : list of str
        Parts that the format cannot store, and warnings about a model.
    """

    data: bytes
    media_type: str
    name: str
    remarks: list[str]


def relations_of(
    project: Project,
    *,
    predicted: bool = False,
    annotation: bool = False,
    model: Model | None = None,
) -> list[Exported]:
    """Return the relations of a project, in the order of the candidates.

    Parameters
    ----------
    project : Project
    predicted : bool
        Whether undecided candidates whose probability reaches the threshold are relations.
    annotation : bool
        Whether candidates without a decision have the class of the existing annotation.
    model : Model, optional
        Predictions; by default those that were stored last.

    Raises
    ------
    ProjectError
        If predictions are requested and there is no model.
    """
    columns, current = project.candidates, project.current()
    found: dict[int, Exported] = {}
    decided = {row for row, one in current.items() if one.label is not None}
    for row in decided:
        label = current[row].label
        if label is not None and label != NONE:
            found[row] = Exported(row, label, "decided", 1.0, current[row].comment)
    if annotation:
        for row, known in enumerate(columns.annotation):
            if row not in decided and known is not None:
                decided.add(row)
                if known != NONE:
                    found[row] = Exported(row, known, "annotated")
    if predicted:
        given = model or project.latest_model()
        if given is None:
            raise ProjectError(
                "there are no predicted relations yet, because no model was trained",
                path=project.path,
                hint="decide more candidates first, or export without --predicted",
            )
        for row, label, probability in _predicted(given):
            if row not in decided:
                found[row] = Exported(row, label, "predicted", probability)
    return [found[row] for row in sorted(found)]


def _predicted(model: Model) -> Iterator[tuple[int, str, float]]:
    """Yield the candidates that are predicted to be relations, with class and probability."""
    names = list(model.classes)
    kinds = [column for column, name in enumerate(names) if name != NONE]
    if not kinds:
        return
    values = np.asarray(model.probabilities)[:, kinds]
    best = values.argmax(axis=1)
    reached = values[np.arange(len(values)), best]
    for row in np.flatnonzero(reached >= model.threshold).tolist():
        yield row, names[kinds[best[row]]], float(reached[row])


def _request(
    project: Project, *, predicted: bool, annotation: bool, model: Model | None
) -> _Request:
    given = (model or project.latest_model()) if predicted else None
    listed = relations_of(project, predicted=predicted, annotation=annotation, model=given)
    by_document: dict[int, list[Exported]] = {}
    for one in listed:
        by_document.setdefault(int(project.candidates.document[one.candidate]), []).append(one)
    return _Request(
        project,
        by_document,
        _HALF if given is None else float(given.threshold),
        {row.name: row for row in project.types()},
        predicted,
    )


# Documents.


def annotated_documents(
    project: Project,
    *,
    predicted: bool = False,
    annotation: bool = False,
    model: Model | None = None,
) -> Iterator[Example]:
    """Yield all documents with entities and relations.

    A predicted relation has the attribute ``probability``; a comment is a note. Arguments of
    symmetric types have no roles.

    Parameters
    ----------
    project : Project
    predicted, annotation, model
        As in `relations_of`.

    Examples
    --------
    >>> import tempfile
    >>> from kernelwood.datasets import load_interactions
    >>> from kernelwood.web import build_project
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with build_project(f"{folder}/a.kwp", load_interactions("test")[:1]) as project:
    ...         decided = project.decide([0], "Activates(e1,e2)", author="me")
    ...         [example] = annotated_documents(project)
    >>> [relation] = example.view("document").relations
    >>> relation.type, relation.arguments[0].role
    ('Activates', 'Arg1')
    """
    request = _request(project, predicted=predicted, annotation=annotation, model=model)
    return _examples(request, _UNDIRECTED)


def _examples(request: _Request, undirected: tuple[str, str] = DEFAULT_ROLES) -> Iterator[Example]:
    for row, relations in request.documents():
        document, _ = _annotated(request, row, relations, undirected)
        yield Example(row.name, views={"document": document})


def _annotated(
    request: _Request,
    row: DocumentRow,
    exported: Sequence[Exported],
    undirected: tuple[str, str] = DEFAULT_ROLES,
) -> tuple[Document, frozenset[str]]:
    """Return a document with relations, and the ids of those that have a direction."""
    given = request.project.document(row.number)
    ids = request.project.entity_ids(row.number) if exported else {}
    used = {*(one.id for one in given.entities), *(one.id for one in given.attributes)}
    names = {letter: _unused(letter, used) for letter in "RA#"}
    relations: list[Relation] = []
    attributes = list(given.attributes)
    directed: set[str] = set()
    columns = request.project.candidates
    for one in exported:
        sentence = int(columns.sentence[one.candidate])
        places = (int(columns.first[one.candidate]), int(columns.second[one.candidate]))
        ends = [ids.get((sentence, place), "") for place in places]
        if "" in ends:
            raise damaged(request.project.path, "an entity of a candidate is missing")
        if is_backward(one.label):
            ends.reverse()
        name, kind = next(names["R"]), type_of(one.label)
        roles = request.roles(one.label, undirected)
        arguments = tuple(Argument(role, end) for role, end in zip(roles, ends, strict=True))
        relations.append(Relation(name, kind, arguments))
        if kind != one.label:
            directed.add(name)
        if one.source == "predicted":
            value = f"{one.probability:.6g}"
            attributes.append(Attribute(next(names["A"]), _PROBABILITY, name, value))
        if one.comment:
            attributes.append(Attribute(next(names["#"]), _NOTE, name, one.comment))
    document = Document(
        given.text,
        given.entities,
        tuple(relations),
        attributes=tuple(attributes),
        metadata=given.metadata,
    )
    return document, frozenset(directed)


def _unused(letter: str, used: set[str]) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        if f"{letter}{number}" not in used:
            yield f"{letter}{number}"


def _write_brat(request: _Request, path: Path) -> None:
    used: set[str] = set()
    documents = (
        (_file_name(row.name, used), *_annotated(request, row, relations))
        for row, relations in request.documents()
    )
    write_folder(path, BratFolder().files(documents))


def _file_name(name: str, used: set[str]) -> str:
    r"""Return a relative path for a document, safe on all systems, and use it.

    Examples
    --------
    >>> used = set()
    >>> [_file_name(name, used) for name in ("a/b.c", "../b", "a:b", "a?b")]
    ['a/b.c', '_/b', 'a_b', 'a_b~2']
    """
    parts = [_UNSAFE.sub("_", part)[:_LONGEST_PART].rstrip(". ") for part in name.split("/")]
    plain = "/".join(part or "_" for part in parts)
    number, made = 1, plain
    while made.casefold() in used:
        number += 1
        made = f"{plain}~{number}"
    used.add(made.casefold())
    return made


def _writer(format: str) -> Callable[[_Request, Path], None]:
    """Return a function that writes annotated documents in a format of `kernelwood.io`."""

    def write_documents(request: _Request, path: Path) -> None:
        lost: Counter[str] = Counter()

        def examples() -> Iterator[Example]:
            for example in _examples(request, _UNDIRECTED if format == "jsonl" else DEFAULT_ROLES):
                lost.update(left_out(example, format))
                yield fit_to_format(example, format)

        row = format_to_write(path, format)
        takes = signature(row.write or write).parameters
        options = {"adapt": True, "predictions": request.has_predicted}
        write(examples(), path, format, **{k: v for k, v in options.items() if k in takes})
        if lost:
            listed = ", ".join(f"{part} of {n:,} documents" for part, n in lost.most_common())
            request.remarks.append(f"the format {format} cannot store {listed}")

    return write_documents


# Decisions.


def _write_decisions(request: _Request, path: Path) -> None:
    project = request.project
    names = [row.name for row in project.documents()]
    listed = sorted(project.current().values(), key=lambda one: one.id)

    def lines() -> Iterator[str]:
        for one in listed:
            columns = project.candidates
            document = int(columns.document[one.candidate])
            candidate = project.candidate(one.candidate)
            ids = project.entity_ids(document)
            sentence, number = candidate.sentence, int(columns.sentence[one.candidate])
            mentions = project.mentions()
            value: dict[str, Any] = {
                "document": names[document],
                "candidate": columns.names[one.candidate],
                "label": one.label,
                "author": one.author,
                "time": datetime.fromtimestamp(one.time, timezone.utc).isoformat(),
                "comment": one.comment,
                "sentence": [sentence.start, sentence.start + len(sentence.text)],
                "text": sentence.text,
            }
            for role, place in (("first", columns.first), ("second", columns.second)):
                key = number, int(place[one.candidate])
                mention = mentions[key]
                value[role] = {
                    "id": ids[key],
                    "type": mention.type,
                    "text": mention.text,
                    "spans": [list(span) for span in mention.spans],
                }
            for name in ("predicted", "probability", "weight", "model"):
                if getattr(one, name) is not None:
                    value[name] = getattr(one, name)
            yield f"{encode_json(value)}\n"

    write_text(path, lines())


# Facts and report.


def _predictions(request: _Request, relations: Iterable[Exported]) -> Iterator[Prediction]:
    project = request.project
    columns = project.candidates
    names = [row.name for row in project.documents()]
    for one in relations:
        candidate = project.candidate(one.candidate)
        sentence, document = candidate.sentence, int(columns.document[one.candidate])
        number = int(columns.sentence[one.candidate])
        mentions = project.mentions()
        ends = [(number, int(place[one.candidate])) for place in (columns.first, columns.second)]
        references = {
            attribute.target: attribute.value.split("\t", 1)[0]
            for attribute in reversed(sentence.attributes)
            if attribute.type in ("Reference", "Normalization")
        }
        if is_backward(one.label):
            ends.reverse()
        kind = type_of(one.label)
        roles = ("first", "second") if kind == one.label else request.roles(one.label)
        participants = []
        for role, key in zip(roles, ends, strict=True):
            mention, entity = mentions[key], sentence.entities[key[1]]
            participants.append(
                Participant(
                    role,
                    entity.id,
                    mention.type,
                    mention.text,
                    mention.spans,
                    references.get(entity.id, ""),
                )
            )
        yield Prediction(
            candidate.id,
            names[document],
            kind,
            one.label,
            True,
            one.probability,
            request.threshold,
            tuple(participants),
            None,
            (sentence.start, sentence.start + len(sentence.text)),
            sentence.text,
            None,
            candidate,
            None,
            {one.label: one.probability, NONE: 1.0 - one.probability},
        )


def _write_facts(request: _Request, path: Path) -> None:
    counter = FactCounter()
    for _, relations in request.documents():
        counter.add(_predictions(request, relations))
    counter.facts().write(path, "tsv")


def _write_report(request: _Request, path: Path) -> None:
    project, contents, sources = request.project, ReportContents(), dict[str, str]()
    for row, relations in request.documents():
        text = {row.name: project.document_text(row.number)}
        made = list(_predictions(request, relations))
        contents.add(made, text)
        for one, prediction in zip(relations, made, strict=True):
            if one.source != "predicted":
                sources[prediction.id] = one.source
    write_report(
        path,
        title=project.path.stem,
        predictions=contents,
        n_explained=0,
        sources=sources,
        relation_types=list(request.types),
        entity_types=project.entity_types(),
    )


# Model.


def train_extractor(project: Project, *, recipe: str = "ridge") -> RelationExtractor:
    """Return an extractor trained on the decisions of a project.

    If the project learns from existing annotation (its setting ``learn_annotation``), annotated
    candidates without a decision are also used: those of documents that are not held out, or, for
    large corpora, of a sample of documents with about 5,000 candidates. The training cases of a
    model that the project was created with are added. The extractor finds the names that the
    project was created with.

    Parameters
    ----------
    project : Project
    recipe : str
        As in `RelationExtractor`.

    Raises
    ------
    KernelInputError
        If all decisions are of one class, or there are none.
    """
    labels = _labels(project)
    if not labels:
        raise KernelInputError("a model needs decisions, but no candidate is decided yet")
    prior, settings = project.prior_model(), project.settings()
    names = project.dictionary()
    threshold = settings.get("threshold")
    types = project.types()
    extractor = RelationExtractor(
        recipe,
        symmetric=[row.name for row in types if row.symmetric] or None,
        threshold="f1" if not isinstance(threshold, float) else threshold,
        entities=names,
        random_state=0,
    )
    facts = settings.get("building", {})
    for name in ("max_distance", "max_entities"):
        if facts.get(name) is not None:
            extractor.set_params(**{name: facts[name]})
    extractor.fit_candidates(
        _labeled(project, labels),
        parser=facts.get("parser", GIVEN),
        roles={row.name: row.roles for row in types if not row.symmetric and all(row.roles)},
        cases=prior,
    )
    if names is None and prior is not None:
        extractor.tagger_ = prior.tagger_
    return extractor


def _labels(project: Project) -> dict[int, str]:
    """Return the class of each candidate to learn from."""
    columns, labels = project.candidates, dict[int, str]()
    if project.settings().get("learn_annotation", True):
        known = [row for row, one in enumerate(columns.annotation) if one is not None]
        rows = np.array(known, dtype=np.int64)
        rows = rows[~columns.held_out[rows]]
        if len(rows) > _MOST_ANNOTATED:
            numbers = np.unique(columns.document[rows])
            order = child_generator(0, _SAMPLE).permutation(numbers)
            sizes = np.bincount(columns.document[rows], minlength=len(project.documents()))[order]
            n = int(np.searchsorted(np.cumsum(sizes), _MOST_ANNOTATED)) + 1
            rows = rows[np.isin(columns.document[rows], order[:n])]
        labels = {row: str(columns.annotation[row]) for row in rows.tolist()}
    for row, decision in project.current().items():
        if decision.label is not None:
            labels[row] = decision.label
    return labels


def _labeled(project: Project, labels: dict[int, str]) -> Candidates:
    """Return labeled candidates, with sentences named by their documents."""
    columns, documents = project.candidates, project.documents()
    rows = sorted(labels)
    numbers = sorted({int(columns.sentence[row]) for row in rows})
    entries = []
    for number in numbers:
        document = documents[project.document_of_sentence(number)]
        name = f"{document.name}.s{number}"
        entries.append((name, project.sentence(number)[1], None, None))
    made = Candidates(SentenceTable.read(entries, Counter()))
    places = {number: place for place, number in enumerate(numbers)}
    for row in rows:
        candidate = project.candidate(row)
        place = places[int(columns.sentence[row])]
        made.add(place, candidate.id, candidate.participants, labels[row])
    return made


def _write_model(request: _Request, path: Path) -> None:
    extractor = train_extractor(request.project)
    request.model_warnings.extend(extractor.warnings_)
    save(extractor, path)


_ROWS = (
    Export(
        "model.kw",
        "Model",
        "Relation extractor trained on the decisions, for kernelwood extract and serve.",
        "application/zip",
        _write_model,
    ),
    Export(
        "brat",
        "brat",
        "Folder of texts with standoff annotation, which brat opens.",
        "application/zip",
        _write_brat,
        is_folder=True,
    ),
    Export(
        "decisions.jsonl",
        "Decisions",
        "JSON lines: each decision with document, offsets, label, author, time and comment.",
        "application/jsonl",
        _write_decisions,
    ),
    Export(
        "documents.jsonl",
        "Documents",
        "JSON lines: documents with entities and relations, for kernelwood train.",
        "application/jsonl",
        _writer("jsonl"),
    ),
    Export(
        "bioc.json",
        "BioC JSON",
        "Passages with annotations and relations.",
        "application/json",
        _writer("bioc-json"),
    ),
    Export(
        "bioc.xml",
        "BioC XML",
        "Passages with annotations and relations.",
        "application/xml",
        _writer("bioc"),
    ),
    Export(
        "pubtator.txt",
        "PubTator",
        "Texts with mentions of concepts, and relations between concepts.",
        "text/plain; charset=utf-8",
        _writer("pubtator"),
    ),
    Export(
        "label-studio.json",
        "Label Studio",
        "Tasks of Label Studio with entities and relations.",
        "application/json",
        _writer("labelstudio"),
    ),
    Export(
        "doccano.jsonl",
        "doccano",
        "JSON lines of doccano with entities and relations.",
        "application/jsonl",
        _writer("doccano"),
    ),
    Export(
        "prodigy.jsonl",
        "Prodigy",
        "JSON lines of Prodigy with spans and relations.",
        "application/jsonl",
        _writer("prodigy"),
    ),
    Export(
        "facts.tsv",
        "Facts",
        "Table of unique facts with counts and sentences.",
        "text/tab-separated-values; charset=utf-8",
        _write_facts,
    ),
    Export(
        "report.html",
        "Report",
        "Web page with facts, and relations in their texts.",
        "text/html; charset=utf-8",
        _write_report,
    ),
)
EXPORTS: dict[str, Export] = {row.name: row for row in _ROWS}


def export(
    project: Project,
    folder: str | os.PathLike[str],
    formats: Iterable[str] | None = None,
    *,
    predicted: bool = False,
    annotation: bool = False,
    model: Model | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Write exports to a folder, which appears when all are complete.

    Parameters
    ----------
    project : Project
    folder : str or PathLike
        A new or empty folder.
    formats : iterable of str, optional
        Names in `EXPORTS`; by default all of them, without the model if the decisions are too few
        to train one, with a warning.
    predicted, annotation, model
        As in `relations_of`.
    progress : callable, optional
        Called with the stage "exporting", the number of exports done and the total number.

    Returns
    -------
    list of Path
        The files and folders that were written, in `folder` as it was given.

    Raises
    ------
    ProjectError
        If a name is unknown, or the folder exists and is not empty.
    """
    wanted = list(EXPORTS if formats is None else formats)
    for name in wanted:
        if name not in EXPORTS:
            raise ProjectError(f"unknown export {name!r}", hint=f"exports: {', '.join(EXPORTS)}")
    target = Path(os.path.realpath(folder))
    with translated(target):
        check_vacant(target)
        check_parent(target)
    request = _request(project, predicted=predicted, annotation=annotation, model=model)
    written: list[Path] = []
    with translated(target), new_folder(target) as temporary:
        for done, name in enumerate(dict.fromkeys(wanted)):
            if progress is not None:
                progress("exporting", done, len(wanted))
            try:
                EXPORTS[name].write(request, temporary / name)
            except KernelInputError as failure:
                if formats is not None or name != "model.kw":
                    raise
                request.remarks.append(f"model.kw was not written: {failure}")
            else:
                written.append(Path(folder) / name)
    for remark in request.remarks:
        warnings.warn(remark, stacklevel=2)
    return written


def export_bytes(
    project: Project,
    name: str,
    *,
    predicted: bool = False,
    annotation: bool = False,
    model: Model | None = None,
) -> Download:
    """Return the contents of an export; folders are zipped."""
    if name not in EXPORTS:
        raise ProjectError(f"unknown export {name!r}", hint=f"exports: {', '.join(EXPORTS)}")
    row = EXPORTS[name]
    request = _request(project, predicted=predicted, annotation=annotation, model=model)
    with tempfile.TemporaryDirectory(prefix="kernelwood-") as folder, translated(project.path):
        path = Path(folder, name)
        row.write(request, path)
        stem = project.path.stem
        shown, file = f"{stem}-{name}", path
        if row.is_folder:
            shown, file = f"{shown}.zip", Path(folder, "archive.zip")
            _zip(path, file)
        remarks = request.remarks + request.model_warnings
        return Download(file.read_bytes(), row.media_type, shown, remarks)


def _zip(folder: Path, archive: Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                name = file.relative_to(folder.parent).as_posix()
                packed.writestr(
                    zipfile.ZipInfo(name, _ZIP_TIME), file.read_bytes(), zipfile.ZIP_DEFLATED
                )
