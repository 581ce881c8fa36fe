"""Parser backends: a protocol, the known backends by name, and parsing of documents.

============================  ====================================================================
name                          description
============================  ====================================================================
``biomedical``                bundled grammar of biomedical English: trees and dependencies
``biomedical-dependencies``   bundled parser of biomedical English: dependencies, no trees; fast
``spacy``, ``spacy:MODEL``    spaCy with the first installed English model, or the named one
``stanza``, ``stanza:LANG``   Stanza for English, or for the named language or package
``conllu:PATH``               parses in a CoNLL-U file of another tool
============================  ====================================================================
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence as Listing
from typing import Any, Protocol, TypeAlias, runtime_checkable

from kernelwood.errors import KernelInputError
from kernelwood.structures import shorten
from kernelwood.text import Document, Sentence, tokenize

_OVER_TOKENS = ("enhanced", "empty", "multiwords", "predicates", "alignments")


@runtime_checkable
class Backend(Protocol):
    """A parser of sentences.

    Attributes
    ----------
    name, version : str
        Name and version of the parser; the same name and version give the same parses.
    """

    @property
    def name(self) -> str:
        """Name of the parser."""

    @property
    def version(self) -> str:
        """Version of the parser and its model."""

    def parse(self, sentences: Listing[Sentence]) -> list[Sentence]:
        """Return the same sentences, same text and annotation, with parses.

        A parse is tokens, parts of speech, and a tree or dependencies or both. Sentence
        boundaries are kept: if the parser sees two sentences in one, it gets two roots.
        """


def with_tokens(sentence: Sentence) -> Sentence:
    """Return a sentence with tokens, which end where entities do.

    Examples
    --------
    >>> with_tokens(Sentence("Raf binds Ras.")).words
    ('Raf', 'binds', 'Ras', '.')
    """
    if sentence.tokens:
        return sentence
    edges = {place for entity in sentence.entities for span in entity.spans for place in span}
    return sentence._with(tokens=tuple(tokenize(sentence.text, sorted(edges))))


def replace_parse(sentence: Sentence, **parse: Any) -> Sentence:
    """Return a sentence with another parse.

    If the new tokens have other offsets, the layers that refer to the former tokens are removed:
    enhanced dependencies, empty nodes, multiword tokens, semantic roles and AMR alignments.

    Examples
    --------
    >>> sentence = Sentence.from_words(["we", "go"], predicates=[(1, "go", "01")])
    >>> replace_parse(sentence, tokens=tuple(tokenize("we go"))).predicates
    (Predicate(token=1, lemma='go', sense='01', arguments=()),)
    >>> replace_parse(sentence, tokens=tuple(tokenize("we go", [4]))).predicates
    ()
    """
    places, former = ([token[1:3] for token in s] for s in (parse["tokens"], sentence.tokens))
    if places != former:
        parse = dict.fromkeys(_OVER_TOKENS, ()) | parse
    return sentence._with(**parse)


def analyze(backend: Backend, documents: Iterable[Document | Sentence]) -> list[list[Sentence]]:
    """Return the parsed sentences of each document, with its annotation.

    Documents with entities do not get those that the backend recognizes.

    Parameters
    ----------
    backend : Backend or PreparsedBackend
        A `PreparsedBackend` has its own sentence boundaries; otherwise documents are split by
        `Document.split`.
    documents : iterable of Document or Sentence
        A sentence is not split, even if the backend finds several sentences in it.

    Examples
    --------
    >>> [[sentence]] = analyze(load_backend(), [Document("Raf binds Ras.")])
    >>> print(sentence.tree.to_brackets())
    (S (NP (NN Raf)) (VP (VBZ binds) (NP (NN Ras))) (. .))
    """
    from kernelwood.parsing.preparsed_backend import PreparsedBackend

    if isinstance(backend, PreparsedBackend):
        return backend.sentences(documents)
    listed = list(documents)
    cut = [
        (document,) if isinstance(document, Sentence) else document.sentences()
        for document in listed
    ]
    parsed = iter(backend.parse([sentence for sentences in cut for sentence in sentences]))
    found = [[next(parsed) for _ in sentences] for sentences in cut]
    for document, sentences, parses in zip(listed, cut, found, strict=True):
        for place, sentence in enumerate(sentences):
            if document.entities and not sentence.entities and parses[place].entities:
                parses[place] = parses[place]._with(entities=())
    return found


def load_backend(
    backend: str | object = "biomedical", *, n_jobs: int | None = None, entities: bool = False
) -> Backend:
    """Return the backend with a name, or of a loaded pipeline.

    Parameters
    ----------
    backend : str or object
        A name; or a loaded pipeline of spaCy or Stanza; or a backend, which is returned.
    n_jobs : int or None
        Threads of the bundled parsers; ignored by the others.
    entities : bool
        Whether sentences without entities get those that spaCy or Stanza recognize.

    Raises
    ------
    KernelInputError
        If the backend is unknown, or a package or model is not installed.

    Examples
    --------
    >>> backend = load_backend()
    >>> backend.name, backend.version
    ('biomedical', '2')
    >>> [sentence] = backend.parse([Sentence("Raf binds Ras.")])
    >>> sentence.dependencies[0]
    Dependency(head=1, relation='nsubj', dependent=0)
    """
    if not isinstance(backend, str):
        return _adapt(backend, entities)
    name, _, argument = backend.partition(":")
    make = BACKENDS.get(name)
    if make is None:
        near = difflib.get_close_matches(name, BACKENDS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(BACKENDS)}"
        raise KernelInputError(f"unknown backend {shorten(repr(backend))}\n    {hint}")
    return make(argument, n_jobs, entities)


def _adapt(backend: object, entities: bool) -> Backend:
    if isinstance(backend, Backend):
        return backend
    from kernelwood.parsing.neural import SpacyBackend, StanzaBackend

    if hasattr(backend, "pipe_names") and hasattr(backend, "pipe"):
        return SpacyBackend(backend, entities=entities)
    if hasattr(backend, "processors") and callable(backend):
        return StanzaBackend(backend, entities=entities)
    raise KernelInputError(
        f"{shorten(repr(backend))} of type {type(backend).__name__} is not a backend\n"
        f"    give a name ({', '.join(BACKENDS)}), a spaCy or Stanza pipeline, "
        "or an object with name, version and parse(sentences)"
    )


def _biomedical(argument: str, n_jobs: int | None, entities: bool) -> Backend:
    from kernelwood.parsing.grammar_backend import GrammarBackend

    _check_no_argument("biomedical", argument)
    return GrammarBackend("biomedical", n_jobs=n_jobs)


def _dependencies(argument: str, n_jobs: int | None, entities: bool) -> Backend:
    from kernelwood.parsing.dependency_backend import DependencyBackend

    _check_no_argument("biomedical-dependencies", argument)
    return DependencyBackend("biomedical-dependencies", n_jobs=n_jobs)


def _check_no_argument(name: str, argument: str) -> None:
    if argument:
        raise KernelInputError(
            f"the backend {name!r} has no argument, got {shorten(repr(argument))}"
        )


def _spacy(argument: str, n_jobs: int | None, entities: bool) -> Backend:
    from kernelwood.parsing.neural import SpacyBackend

    return SpacyBackend(argument or None, entities=entities)


def _stanza(argument: str, n_jobs: int | None, entities: bool) -> Backend:
    from kernelwood.parsing.neural import StanzaBackend

    return StanzaBackend(argument or "en", entities=entities)


def _conllu(argument: str, n_jobs: int | None, entities: bool) -> Backend:
    from kernelwood.parsing.preparsed_backend import PreparsedBackend

    if not argument:
        raise KernelInputError(
            "the backend 'conllu' needs a file of parses\n    name it: 'conllu:parses.conllu'"
        )
    return PreparsedBackend.from_file(argument)


_Make: TypeAlias = Callable[[str, "int | None", bool], Backend]

# Name -> function of the text after the colon, n_jobs and entities.
BACKENDS: dict[str, _Make] = {
    "biomedical": _biomedical,
    "biomedical-dependencies": _dependencies,
    "spacy": _spacy,
    "stanza": _stanza,
    "conllu": _conllu,
}
