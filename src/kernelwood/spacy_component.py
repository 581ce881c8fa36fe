"""spaCy pipeline component ``kernelwood_relations``.

spaCy finds it by its entry point, without an import::

    nlp.add_pipe("kernelwood_relations", config={"model": "model.kw"})
"""

# No postponed annotations: spaCy validates settings by those of the factory.
# spaCy is an optional dependency, so its classes are Any.

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

from kernelwood.compute import config_context, one_native_thread
from kernelwood.entities import Dictionary, EntityFinder
from kernelwood.errors import KernelInputError
from kernelwood.persist import load
from kernelwood.relations import (
    ENTITY_REMARKS,
    GIVEN,
    Prediction,
    RelationExtractor,
    needs_parse,
    warn_of_entities,
)
from kernelwood.structures import shorten
from kernelwood.text import Document, Example, from_spacy
from kernelwood.threads import ignored_warnings

Doc: TypeAlias = Any
Language: TypeAlias = Any

FACTORY = "kernelwood_relations"
EXTENSION = "relations"
DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(["model", "entities", "spans_key", "parser", "threshold"]),
    "evidence": 0,
}
_BATCH = 128  # documents
_ADVICE = (
    'add a component that sets doc.ents before this one, set "entities" to a list of terms, or use '
    "a model of kernelwood train --learn-entities"
)
# Stored parts of a component, and their file names.
_MODEL, _TERMS = "model", "entities"
_FILES = {_MODEL: "model.kw", _TERMS: "terms.tsv"}


class Settings(NamedTuple):
    """Settings of a component, described at `make_component`."""

    spans_key: str | None = None
    parser: str | None = None
    threshold: float | None = None
    evidence: int = 0


def make_component(
    nlp: Language,
    name: str,
    model: str | None,
    entities: Any,
    spans_key: str | None,
    parser: str | None,
    threshold: float | None,
    evidence: int,
) -> "RelationComponent":
    """Return the component.

    Parameters
    ----------
    nlp : Language
        The pipeline.
    name : str
        Name of the component in the pipeline.
    model : str
        File of a `RelationExtractor`. Not needed for a pipeline loaded from disk, which includes
        the model.
    entities : str, dict, list or None
        Terms for `Dictionary.of`, which are the entities instead of ``doc.ents``: a file, a
        mapping of terms to types or of types to lists of terms, or pairs of term and type. With
        ``spans_key``, terms that do not overlap its spans are added. A model that was trained with
        ``entities="learn"`` adds the entities that it finds; without this setting, it does so if
        ``doc.ents`` has no entity of the types it was trained on.
    spans_key : str or None
        Use ``doc.spans[spans_key]`` as entities instead of ``doc.ents``.
    parser : str or None
        Name of a backend of `kernelwood.parsing.load_backend` that parses the text again; None for
        the sentences and dependencies of the pipeline.
    threshold : float or None
        Decision threshold; None for the threshold of the model.
    evidence : int
        Number of training cases for and against each relation.

    Returns
    -------
    RelationComponent
        Missing files are reported when the component is first used or stored: a pipeline loaded
        from disk names its original files, but has copies in its own folder.
    """
    if threshold is not None and not 0 <= threshold <= 1:
        raise KernelInputError(f"{name}: threshold must be from 0 to 1 or null, got {threshold!r}")
    if evidence < 0:
        raise KernelInputError(f"{name}: evidence must be at least 0, got {evidence!r}")
    settings = Settings(spans_key, parser, threshold, evidence)
    parsed_by = f"spacy:{nlp.meta.get('lang', '')}_{nlp.meta.get('name', 'pipeline')}"
    listed = entities is not None and not isinstance(entities, str)
    named = {_MODEL: model, _TERMS: None if listed else entities}
    component = RelationComponent(name, settings, parsed_by, named)
    for part, path in named.items():
        if path is not None and Path(path).exists():
            component.take(part, Path(path).read_bytes(), path)
    if listed:
        component.take(_TERMS, _terms_file(name, Dictionary.of(entities)))
    return component


def _terms_file(name: str, dictionary: Dictionary) -> bytes:
    """Return the content of a file of terms."""
    for term in dictionary.terms:
        if term.term.startswith("#"):
            raise KernelInputError(
                f"{name}: the term {term.term!r} would be a comment in a file of terms"
            )
    return "".join("\t".join(term).rstrip("\t") + "\n" for term in dictionary.terms).encode()


class RelationComponent:
    """Sets ``doc._.relations`` to the predicted relations, a list of dictionaries of plain values.

    Made by `make_component`. It keeps the bytes of its files, so that it can be copied to other
    processes and stored with its pipeline. No code is stored.

    Parameters
    ----------
    name : str
        Name in the pipeline.
    settings : Settings
        Settings of the component.
    parsed_by : str
        Name of the pipeline in `kernelwood.parsing`.
    named : dict
        Files named in the settings.
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
        """Load a part from the content of ``path``, or from bytes stored in a pipeline."""
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
                f"{self.name}: {path or 'the stored model'} is a {type(model).__name__}, not a "
                "relation extractor\n    train one with: kernelwood train"
            )
        if self.settings.threshold is not None:
            model.threshold_ = float(self.settings.threshold)
        if model.parser_ == self._parsed_by:
            model.parser_ = GIVEN  # the documents have the parses of this pipeline
        return model

    def __call__(self, doc: Doc) -> Doc:
        """Predict the relations of one document."""
        self._predict([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = _BATCH) -> Iterator[Doc]:
        """Predict the relations of many documents in batches."""
        waiting = iter(stream)
        while docs := list(islice(waiting, batch_size)):
            yield from self._usable(docs)

    def _usable(self, docs: list[Doc]) -> list[Doc]:
        """Predict relations; return the documents without those passed to the error handler."""
        try:
            self._predict(docs)
            return docs
        except Exception as failure:
            if len(docs) > 1:
                return [usable for doc in docs for usable in self._usable([doc])]
            self._on_error(self.name, self, docs, failure)
            return []

    def set_error_handler(self, handler: Callable[..., Any]) -> None:
        """Set the function called with name, component, documents and error; the default raises."""
        self._on_error = handler

    def get_error_handler(self) -> Callable[..., Any]:
        """Return the error handler."""
        return self._on_error

    def _predict(self, docs: Sequence[Doc]) -> None:
        extractor = self._ready()
        examples = [
            Example(str(place), views={"document": self._document(doc, extractor)})
            for place, doc in enumerate(docs)
        ]
        found: list[list[dict[str, Any]]] = [[] for _ in docs]
        with _one_thread_in_workers():
            with ignored_warnings(ENTITY_REMARKS):
                every = extractor.extract(
                    examples, find_entities=False, parser=self.settings.parser or GIVEN, all=True
                )
            predictions = every.positives()
            reasons = self._reasons(extractor, predictions)
        warn_of_entities(extractor, every, "" if self._has_entities(docs) else _ADVICE)
        for prediction, reason in zip(predictions, reasons, strict=True):
            found[int(prediction.document)].append(_plain(prediction) | reason)
        for doc, relations in zip(docs, found, strict=True):
            doc._.set(EXTENSION, relations)

    def _has_entities(self, docs: Sequence[Doc]) -> bool:
        """Return whether anything looked for entities: the component, the model or the pipeline."""
        return (
            self.settings.spans_key is not None
            or self._dictionary is not None
            or (self._extractor is not None and self._extractor.tagger_ is not None)
            or any(doc.has_annotation("ENT_IOB") for doc in docs)
        )

    def _document(self, doc: Doc, extractor: RelationExtractor) -> Document:
        """Return a document with its entities and, unless it is parsed again, its parse."""
        document = self._annotated(doc, extractor)
        if self.settings.parser:
            return document._with(parse=())
        self._check_parsed(doc, document, extractor)
        return document

    def _reasons(
        self, extractor: RelationExtractor, predictions: Sequence[Prediction]
    ) -> list[dict[str, Any]]:
        n = self.settings.evidence
        if not (n and predictions):
            return [{} for _ in predictions]
        explained = extractor.explain(predictions, n)
        return [{"evidence": evidence.to_dict()} for evidence in explained]

    def _ready(self) -> RelationExtractor:
        """Return the extractor; raise KernelInputError if a file is missing."""
        for part, path in self._named.items():
            if path is not None and part not in self._stored:
                raise KernelInputError(
                    f"{self.name}: the file {path!r} of the setting {part!r} does not exist\n"
                    "    correct the path, or load the stored pipeline"
                )
        if self._extractor is None:
            raise KernelInputError(
                f"{self.name}: the setting 'model' is missing\n"
                f'    nlp.add_pipe("{FACTORY}", config={{"model": "model.kw"}})'
            )
        return self._extractor

    def _annotated(self, doc: Doc, extractor: RelationExtractor) -> Document:
        """Return the text of a document with its entities."""
        document = self._marked(doc)
        if self.settings.spans_key is not None or extractor.tagger_ is None:
            return document
        types = EntityFinder(extractor.tagger_).types
        if self._dictionary is None and any(one.type in types for one in document.entities):
            return document
        # Entities of types that the model does not know, such as dates, are left out.
        return extractor.find_entities(Document(doc.text), self._dictionary)

    def _marked(self, doc: Doc) -> Document:
        """Return the text of a document with the entities of the pipeline and the list."""
        key = self.settings.spans_key
        if key is not None and key not in doc.spans:
            raise KernelInputError(
                f"{self.name}: the document {shorten(repr(doc.text))} has no doc.spans[{key!r}]\n"
                f"    it has {', '.join(map(repr, doc.spans)) or 'none'}; "
                "add the component that sets it before this one"
            )
        document = from_spacy(doc, spans=key)
        if self._dictionary is None:
            return document
        # Terms are the entities instead of doc.ents, and are added to spans.
        bare = document if key is not None else Document(doc.text, parse=document.parse)
        return self._dictionary.annotate(bare)

    def _check_parsed(self, doc: Doc, document: Document, extractor: RelationExtractor) -> None:
        if len(document.entities) < 2:
            return  # no candidates
        if not doc.has_annotation("SENT_START"):
            lacks, add = "sentence boundaries", "a parser or nlp.add_pipe('sentencizer')"
        elif needs_parse(extractor.views_) and not doc.has_annotation("DEP"):
            lacks, add = "dependencies, which the model needs", "a parser"
        else:
            return
        raise KernelInputError(
            f"{self.name}: the document {shorten(repr(doc.text))} has no {lacks}\n"
            f'    add {add} before this component, or set "parser" to "biomedical"'
        )

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the content of the files, for ``nlp.to_bytes``."""
        self._ready()
        parts = {part: partial(bytes, data) for part, data in self._stored.items()}
        return bytes(_spacy("util").to_bytes(parts, exclude))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "RelationComponent":
        """Load the files from the result of `to_bytes`."""
        takers = {part: partial(self.take, part) for part in _FILES}
        _spacy("util").from_bytes(data, takers, exclude)
        return self

    def to_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        """Write the files to a folder, for ``nlp.to_disk``."""
        self._ready()
        writers = {_FILES[part]: partial(_write, data=data) for part, data in self._stored.items()}
        _spacy("util").to_disk(Path(path), writers, exclude)

    def from_disk(
        self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()
    ) -> "RelationComponent":
        """Load the files that `to_disk` wrote."""
        readers = {
            name: partial(self._take_file, part)
            for part, name in _FILES.items()
            if (Path(path) / name).exists()
        }
        _spacy("util").from_disk(Path(path), readers, exclude)
        self._ready()
        return self

    def _take_file(self, part: str, path: Path) -> None:
        self.take(part, path.read_bytes(), str(path))

    def __reduce__(self) -> tuple[Any, ...]:
        # Other processes get the files, as on disk.
        arguments = (self.name, tuple(self.settings), self._parsed_by, self._named, self._stored)
        return (_restore, arguments)


def _plain(prediction: Prediction) -> dict[str, Any]:
    """Return a prediction as an element of ``doc._.relations``."""
    made = prediction.to_dict()
    relation = {
        name: made[name] for name in ("type", "relation", "probability", "threshold", "sentence")
    }
    relation["participants"] = [_with_ends(one) for one in made["participants"]]
    if "trigger" in made:
        relation["trigger"] = _with_ends(made["trigger"])
    return relation


def _with_ends(participant: dict[str, Any]) -> dict[str, Any]:
    """Return a participant with its first and last character instead of its spans."""
    spans = participant.pop("spans")
    return participant | {"start": spans[0][0], "end": spans[-1][1]}


def _register_extension() -> None:
    """Register ``doc._.relations`` unless it exists."""
    docs = _spacy("tokens").Doc
    if not docs.has_extension(EXTENSION):
        docs.set_extension(EXTENSION, default=[])
        return
    _, method, getter, setter = docs.get_extension(EXTENSION)
    if method is not None or (getter is not None and setter is None):
        raise KernelInputError(
            f"doc._.{EXTENSION} is a computed extension and cannot be written\n"
            f'    remove it first: Doc.remove_extension("{EXTENSION}")'
        )


def _spacy(module: str) -> Any:
    return importlib.import_module(f"spacy.{module}")


def _raise(name: str, component: object, docs: object, failure: Exception) -> NoReturn:
    raise failure


@contextmanager
def _one_thread_in_workers() -> Iterator[None]:
    """Use one thread in the processes of ``nlp.pipe(..., n_process=2)``."""
    if multiprocessing.parent_process() is None:
        yield
        return
    with config_context(n_jobs=1), one_native_thread():
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
