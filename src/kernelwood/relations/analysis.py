"""From examples to sentences with what the views need: parses that are given, or made here."""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from kernelwood.errors import KernelInputError
from kernelwood.parsing import Backend, PreparsedBackend, load_backend
from kernelwood.relations.candidate_lists import sentences_of
from kernelwood.relations.hypotheses import MAX_ENTITIES, Located
from kernelwood.structures import shorten
from kernelwood.text import Document, Example, Sentence

__all__ = ["AUTO", "GIVEN", "WORD_VIEWS", "analyze", "needs_parse", "sentences_in"]

_LOG = logging.getLogger(__name__)

AUTO = "auto"  # parses that are given, or if there are none at all, those of the default parser
GIVEN = "given"  # parses that are given, and no others
DEFAULT = "biomedical"
_BATCH = 512  # sentences that are parsed together

# Views that are made of words alone.
WORD_VIEWS = frozenset(("words", "context", "stem-context", "names", "types"))


def needs_parse(views: Iterable[str]) -> bool:
    """Return whether any of these views is made from a parse.

    Examples
    --------
    >>> needs_parse(("context",)), needs_parse(("context", "path"))
    (False, True)
    """
    return not WORD_VIEWS.issuperset(views)


def analyze(
    examples: Iterable[Example],
    parser: Any,
    dropped: Counter[str],
    *,
    needed: bool,
    least: int = 0,
    most: int = MAX_ENTITIES,
    n_jobs: int | None = None,
) -> tuple[list[Located], str]:
    """Return the sentences of examples, parsed if need be, and the name of the parser.

    Parameters
    ----------
    examples : iterable of Example
        With a sentence or a document each.
    parser : str or Backend
        ``"auto"``, ``"given"``, or what `kernelwood.parsing.load_backend` takes: then all
        sentences are parsed, even if they have a parse.
    dropped : Counter
        Gets what is lost where documents are cut.
    needed : bool
        Whether the views need parses; else ``"auto"`` makes none.
    least, most : int
        Sentences with fewer or more entities are not parsed: they are not judged.
    n_jobs : int, optional
        Threads of the bundled grammar.
    """
    listed = _checked(examples)
    located = [place for example in listed for place in sentences_in(example, dropped)]
    if parser == AUTO:
        parsed = any(_is_parsed(place.sentence) for place in located)
        parser = DEFAULT if needed and located and not parsed else GIVEN
    if parser == GIVEN:
        return located, GIVEN
    backend = load_backend(parser, n_jobs=n_jobs)
    _LOG.info("parsing with %s", backend.name)
    if isinstance(backend, PreparsedBackend):  # which has parses of whole documents
        return _preparsed(backend, listed), backend.name
    waiting = [
        i for i, place in enumerate(located) if least <= len(place.sentence.entities) <= most
    ]
    made = dict(zip(waiting, _parse(backend, located, waiting), strict=True))
    return [
        new
        for i, place in enumerate(located)
        for new in (_parsed(place, made[i], dropped) if i in made else [place])
    ], backend.name


def _preparsed(backend: PreparsedBackend, examples: Sequence[Example]) -> list[Located]:
    views = [example.views.get("document", example.views.get("sentence")) for example in examples]
    documents = [
        view if isinstance(view, Document) else _document(view)
        for view in views
        if isinstance(view, (Document, Sentence))  # all are, as was checked before
    ]
    return [
        Located(
            example.id,
            Example(f"{example.id}.s{n}", example.label, {"sentence": sentence}, example.origin),
        )
        for example, sentences in zip(examples, backend.analyze(documents), strict=True)
        for n, sentence in enumerate(sentences)
    ]


def _parse(
    backend: Backend, located: Sequence[Located], waiting: list[int]
) -> list[list[Sentence]]:
    """Return what a backend makes of some sentences, in batches."""
    made: list[list[Sentence]] = []
    for begin in range(0, len(waiting), _BATCH):
        batch = waiting[begin : begin + _BATCH]
        made += backend.analyze([_document(located[i].sentence) for i in batch])
    return made


def _checked(examples: Iterable[Example]) -> list[Example]:
    listed = [examples] if isinstance(examples, Example) else list(examples)
    for i, example in enumerate(listed):
        if not isinstance(example, Example):
            raise KernelInputError(
                f"document {i} is {shorten(repr(example))} of type {type(example).__name__}; "
                "give examples as kernelwood.read returns them, or use extract for texts"
            )
    return listed


def sentences_in(example: Example, dropped: Counter[str] | None = None) -> list[Located]:
    """Return the sentences of an example, each as an example of its own."""
    dropped = Counter() if dropped is None else dropped
    name = "document" if "document" in example.views else "sentence"
    if not isinstance(example.view(name), (Sentence, Document)):
        raise KernelInputError(
            f"example {shorten(repr(example.id))} has a {type(example.view(name)).__name__} where "
            "a sentence or a document is needed"
        )
    if name == "sentence":
        return [Located(example.id, example)]
    return [
        Located(
            example.id,
            Example(place.id, example.label, {"sentence": place.sentence}, place.origin),
        )
        for place in sentences_of([example], name, dropped)
    ]


def _is_parsed(sentence: Sentence) -> bool:
    return bool(sentence.dependencies) or sentence.tree is not None


def _document(sentence: Sentence) -> Document:
    return Document(
        sentence.text,
        sentence.entities,
        sentence.relations,
        sentence.events,
        sentence.attributes,
    )


def _parsed(place: Located, sentences: Sequence[Sentence], dropped: Counter[str]) -> list[Located]:
    """Return a sentence with its parse; more than one if the parser thinks that it is several."""
    given, example = place.sentence, place.example
    lost = len(given.relations) - sum(len(sentence.relations) for sentence in sentences)
    if lost > 0:
        dropped["relation spans sentences"] += lost
    single = len(sentences) == 1
    return [
        place._replace(
            example=Example(
                example.id if single else f"{example.id}.{number}",
                example.label,
                {
                    "sentence": sentence.with_parts(
                        start=given.start + sentence.start,
                        metadata=(*given.metadata, *sentence.metadata),
                    )
                },
                example.origin,
            )
        )
        for number, sentence in enumerate(sentences)
    ]


def warn_of_parser(learned: str, used: str) -> None:
    """Warn if texts are parsed in another way than those that were learned from."""
    if used != learned:
        warnings.warn(
            f"the model was trained on parses that were "
            f"{'given' if learned == GIVEN else 'made by ' + learned}, and these are "
            f"{'given' if used == GIVEN else 'made by ' + used}: labels may differ, and relations "
            "be missed; train and extract with the same parser",
            UserWarning,
            stacklevel=3,
        )
