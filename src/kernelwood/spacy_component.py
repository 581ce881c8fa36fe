"""Relations in pipelines of spaCy: the component ``kernelwood_relations``.

spaCy finds it by its entry point, so nothing needs to be imported::

    nlp.add_pipe("kernelwood_relations", config={"model": "model.kw"})
"""

# Annotations stay objects here: spaCy checks the settings of a component by those of its factory.
# spaCy is an extra, so the names of its classes stand for anything.

import importlib
import importlib.util
import io
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias

from threadpoolctl import threadpool_limits

from kernelwood.compute import config_context
from kernelwood.entities import Dictionary
from kernelwood.errors import KernelInputError
from kernelwood.parsing import sentences_of_doc
from kernelwood.persist import load
from kernelwood.relations import GIVEN, Prediction, RelationExtractor, needs_parse
from kernelwood.structures import shorten
from kernelwood.text import Attribute, Document, Entity, Example, Sentence

__all__ = ["RelationComponent", "make_component"]

Doc: TypeAlias = Any
Language: TypeAlias = Any

FACTORY = "kernelwood_relations"
EXTENSION = "relations"
DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(["model", "entities", "spans_key", "parser", "threshold"]),
    "evidence": 0,
}
_BATCH = 128  # documents
# What a component keeps, and the names of the files it becomes.
_MODEL, _TERMS = "model", "entities"
_FILES = {_MODEL: "model.kw", _TERMS: "terms.tsv"}


class Settings(NamedTuple):
    """The settings of a component; `make_component` says what they mean."""

    spans_key: str | None = None
    parser: str | None = None
    threshold: float | None = None
    evidence: int = 0


def make_component(
    nlp: Language,
    name: str,
    model: str | None,
    entities: str | None,
    spans_key: str | None,
    parser: str | None,
    threshold: float | None,
    evidence: int,
) -> "RelationComponent":
    """Make the component; the other parameters are its settings.

    Parameters
    ----------
    nlp : Language
        The pipeline.
    name : str
        Of the component in it.
    model : str
        File of a `RelationExtractor`. Of a pipeline that is loaded from disk it is not needed: the
        model is stored there.
    entities : str or None
        File of terms, as `Dictionary.read` takes it: they are the entities, instead of
        ``doc.ents``. With ``spans_key``, those are added that do not overlap its spans.
    spans_key : str or None
        The entities are ``doc.spans[spans_key]``, instead of ``doc.ents``.
    parser : str or None
        None for the sentences and dependencies of the pipeline; or a name of
        `kernelwood.parsing.load_backend`, which parses the text again.
    threshold : float or None
        From which score on a relation counts; None for the threshold of the model.
    evidence : int
        How many labeled cases to give as reasons with each relation.

    Returns
    -------
    RelationComponent
        Files that are missing are an error only when the component is used: a pipeline that is
        loaded from disk names the files it was made of, and has them in its own folder.
    """
    if threshold is not None and not 0 <= threshold <= 1:
        raise KernelInputError(f"{name}: threshold must be from 0 to 1 or null, got {threshold!r}")
    if evidence < 0:
        raise KernelInputError(f"{name}: evidence must be at least 0, got {evidence!r}")
    settings = Settings(spans_key, parser, threshold, evidence)
    parsed_by = f"spacy:{nlp.meta.get('lang', '')}_{nlp.meta.get('name', 'pipeline')}"
    named = {_MODEL: model, _TERMS: entities}
    component = RelationComponent(name, settings, parsed_by, named)
    for part, path in named.items():
        if path is not None and Path(path).exists():
            component.take(part, Path(path).read_bytes(), path)
    return component


class RelationComponent:
    """Writes relations to ``doc._.relations``, a list of dictionaries of plain values.

    Made by `make_component`. It can be copied to other processes and stored with its pipeline; it
    holds the bytes of its files for that, and nothing that could be run is stored.

    Parameters
    ----------
    name : str
        In the pipeline.
    settings : Settings
        How to use the model.
    parsed_by : str
        The name that `kernelwood.parsing` has for the pipeline.
    named : dict
        The files that the settings name.
    """

    def __init__(
        self, name: str, settings: Settings, parsed_by: str, named: dict[str, str | None]
    ) -> None:
        self.name = name
        self.settings = settings
        self._parsed_by = parsed_by
        self._named = named
        self._stored: dict[str, bytes] = {}
        self._extractor: RelationExtractor | None = None
        self._dictionary: Dictionary | None = None
        self._on_error: Callable[..., Any] = _raise
        _register_extension()

    def take(self, part: str, data: bytes, path: str | None = None) -> None:
        """Use the content of a file, which was read from ``path`` or is stored in a pipeline."""
        if part == _MODEL:
            self._extractor = self._checked_extractor(
                load(path) if path is not None else _load_bytes(data), path
            )
        else:
            self._dictionary = Dictionary.read(io.BytesIO(data) if path is None else path)
        self._stored[part] = data

    def _checked_extractor(self, model: object, path: str | None) -> RelationExtractor:
        if not isinstance(model, RelationExtractor):
            raise KernelInputError(
                f"{self.name}: {path or 'the stored model'} holds a {type(model).__name__}, which "
                "is no relation extractor\n    kernelwood train writes one"
            )
        if self.settings.threshold is not None:
            model.threshold_ = float(self.settings.threshold)
        if model.parser_ == self._parsed_by:
            model.parser_ = GIVEN  # which the parses of this pipeline are, seen from here
        return model

    def __call__(self, doc: Doc) -> Doc:
        """Find the relations of one document."""
        self._find([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = _BATCH) -> Iterator[Doc]:
        """Find the relations of many documents, so many at a time."""
        waiting = iter(stream)
        while docs := list(islice(waiting, batch_size)):
            yield from self._usable(docs)

    def _usable(self, docs: list[Doc]) -> list[Doc]:
        """Find the relations; return the documents without those the error handler was told of."""
        try:
            self._find(docs)
            return docs
        except Exception as failure:
            if len(docs) > 1:
                return [usable for doc in docs for usable in self._usable([doc])]
            self._on_error(self.name, self, docs, failure)
            return []

    def set_error_handler(self, handler: Callable[..., Any]) -> None:
        """Set what is called with name, component, documents and error; by default it raises."""
        self._on_error = handler

    def get_error_handler(self) -> Callable[..., Any]:
        """Return what is called when documents cannot be used."""
        return self._on_error

    def _find(self, docs: Sequence[Doc]) -> None:
        extractor = self._ready()
        view = "document" if self.settings.parser else "sentence"
        examples = [
            Example(f"{place}.{number}", views={view: part})
            for place, doc in enumerate(docs)
            for number, part in enumerate(self._parts(doc, extractor))
        ]
        found: list[list[dict[str, Any]]] = [[] for _ in docs]
        with _one_thread_in_workers():
            predictions = extractor.extract(examples, parser=self.settings.parser or GIVEN)
            reasons = self._reasons(extractor, predictions)
        for prediction, reason in zip(predictions, reasons, strict=True):
            place = int(prediction.document.partition(".")[0])
            found[place].append(_plain(prediction) | reason)
        for doc, relations in zip(docs, found, strict=True):
            doc._.set(EXTENSION, relations)

    def _parts(self, doc: Doc, extractor: RelationExtractor) -> Sequence[Sentence | Document]:
        """Return the sentences of a document, or all of it if it is to be parsed again."""
        document = self._annotated(doc)
        if self.settings.parser:
            return [document]
        self._check_parsed(doc, document, extractor)
        return sentences_of_doc(doc, document)

    def _reasons(
        self, extractor: RelationExtractor, predictions: Sequence[Prediction]
    ) -> list[dict[str, Any]]:
        n = self.settings.evidence
        if not (n and predictions):
            return [{} for _ in predictions]
        explained = extractor.explain(predictions, n)
        return [{"evidence": [case.to_dict() for case in cases]} for cases in explained]

    def _ready(self) -> RelationExtractor:
        """Return the extractor, or say which file is missing."""
        for part, path in self._named.items():
            if path is not None and part not in self._stored:
                raise KernelInputError(
                    f"{self.name}: there is no file {path!r}, which the setting {part!r} names\n"
                    "    correct the path, or load the pipeline from where it was stored"
                )
        if self._extractor is None:
            raise KernelInputError(
                f"{self.name}: no model is given\n"
                f'    nlp.add_pipe("{FACTORY}", config={{"model": "model.kw"}})'
            )
        return self._extractor

    def _annotated(self, doc: Doc) -> Document:
        """Return the text of a document with its entities."""
        key = self.settings.spans_key
        if key is not None and key not in doc.spans:
            raise KernelInputError(
                f"{self.name}: the document {shorten(repr(doc.text))} has no doc.spans[{key!r}]\n"
                f"    it has {', '.join(map(repr, doc.spans)) or 'none'}; add what sets them before"
            )
        if key is None and self._dictionary is not None:
            return self._dictionary.annotate(Document(doc.text))
        spans = doc.ents if key is None else doc.spans[key]
        entities = tuple(
            Entity(f"T{number}", span.label_, ((span.start_char, span.end_char),), span.text)
            for number, span in enumerate(spans, start=1)
        )
        references = tuple(
            Attribute(f"N{number}", "Reference", f"T{number}", span.kb_id_ or span.id_)
            for number, span in enumerate(spans, start=1)
            if span.kb_id_ or span.id_
        )
        document = Document(doc.text, entities, attributes=references)
        return document if self._dictionary is None else self._dictionary.annotate(document)

    def _check_parsed(self, doc: Doc, document: Document, extractor: RelationExtractor) -> None:
        if len(document.entities) < 2:
            return  # nothing to be judged
        if not doc.has_annotation("SENT_START"):
            lacks, add = "sentence boundaries", "a parser or nlp.add_pipe('sentencizer')"
        elif needs_parse(extractor.views_) and not doc.has_annotation("DEP"):
            lacks, add = "dependencies, which the model compares", "a parser"
        else:
            return
        raise KernelInputError(
            f"{self.name}: the document {shorten(repr(doc.text))} has no {lacks}\n"
            f'    add {add} before this component, or set "parser" to "biomedical"'
        )

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the files, for ``nlp.to_bytes``."""
        parts = {part: partial(bytes, data) for part, data in self._stored.items()}
        return bytes(_spacy("util").to_bytes(parts, exclude))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "RelationComponent":
        """Take the files that `to_bytes` returned."""
        takers = {part: partial(self.take, part) for part in _FILES}
        _spacy("util").from_bytes(data, takers, exclude)
        return self

    def to_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        """Write the files to a folder, for ``nlp.to_disk``."""
        writers = {_FILES[part]: partial(_write, data=data) for part, data in self._stored.items()}
        _spacy("util").to_disk(Path(path), writers, exclude)

    def from_disk(
        self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()
    ) -> "RelationComponent":
        """Take the files that `to_disk` wrote."""
        readers = {
            name: partial(self._take_file, part)
            for part, name in _FILES.items()
            if (Path(path) / name).exists()
        }
        _spacy("util").from_disk(Path(path), readers, exclude)
        return self

    def _take_file(self, part: str, path: Path) -> None:
        self.take(part, path.read_bytes(), str(path))

    def __reduce__(self) -> tuple[Any, ...]:
        # To another process go the files, as they do to disk.
        arguments = (self.name, tuple(self.settings), self._parsed_by, self._named, self._stored)
        return (_restore, arguments)


def _plain(prediction: Prediction) -> dict[str, Any]:
    """Return what `RelationComponent` writes of a prediction."""
    made = prediction.to_dict()
    relation = {name: made[name] for name in ("type", "relation", "score", "threshold", "sentence")}
    relation["participants"] = [_with_ends(one) for one in made["participants"]]
    if "trigger" in made:
        relation["trigger"] = _with_ends(made["trigger"])
    return relation


def _with_ends(participant: dict[str, Any]) -> dict[str, Any]:
    """Return a participant, of one span, with the characters it begins and ends at."""
    spans = participant.pop("spans")
    return participant | {"start": spans[0][0], "end": spans[-1][1]}


def _register_extension() -> None:
    """Make ``doc._.relations`` possible, unless it is already."""
    docs = _spacy("tokens").Doc
    if not docs.has_extension(EXTENSION):
        docs.set_extension(EXTENSION, default=[])
        return
    _, method, getter, setter = docs.get_extension(EXTENSION)
    if method is not None or (getter is not None and setter is None):
        raise KernelInputError(
            f"doc._.{EXTENSION} is computed by something else and cannot be written\n"
            f'    take it away first: Doc.remove_extension("{EXTENSION}")'
        )


def _spacy(module: str) -> Any:
    return importlib.import_module(f"spacy.{module}")


def _raise(name: str, component: object, docs: object, failure: Exception) -> NoReturn:
    raise failure


@contextmanager
def _one_thread_in_workers() -> Iterator[None]:
    """Keep the processes of ``nlp.pipe(..., n_process=2)`` from taking the cores of each other."""
    if multiprocessing.parent_process() is None:
        yield
        return
    with config_context(n_jobs=1), threadpool_limits(1):
        yield


def _load_bytes(data: bytes) -> object:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, _FILES[_MODEL])
        path.write_bytes(data)
        return load(path)


def _write(path: Path, *, data: bytes) -> None:
    path.write_bytes(data)


def _restore(
    name: str,
    settings: tuple[Any, ...],
    parsed_by: str,
    named: dict[str, str | None],
    stored: dict[str, bytes],
) -> RelationComponent:
    component = RelationComponent(name, Settings(*settings), parsed_by, named)
    for part, data in stored.items():
        component.take(part, data)
    return component


if importlib.util.find_spec("spacy") is not None:
    _spacy("language").Language.factory(
        FACTORY, default_config=DEFAULTS, assigns=[f"doc._.{EXTENSION}"], func=make_component
    )
