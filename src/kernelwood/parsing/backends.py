"""Parsers behind one small protocol: sentences in, parsed sentences out.

============================  ====================================================================
name                          what it is
============================  ====================================================================
``biomedical``                the bundled grammar, the default; nothing to install
``spacy``, ``spacy:MODEL``    spaCy with the first English model that is installed, or the one named
``stanza``, ``stanza:LANG``   Stanza for English, or the language or package named
``conllu:PATH``               parses that another tool has written as CoNLL-U
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
    """Return a sentence that has tokens, which end where entities do.

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

    If the new tokens have other places, what refers to the former tokens by index is dropped:
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

    Parameters
    ----------
    backend : Backend or PreparsedBackend
        Parses from a file bring their own sentence boundaries; otherwise documents are cut by
        `Document.split`.
    documents : iterable of Document or Sentence

    Examples
    --------
    >>> [[sentence]] = analyze(load_backend(), [Document("Raf binds Ras.")])
    >>> print(sentence.tree.to_brackets())
    (S (NP (NN Raf)) (VP (VBZ binds) (NP (NN Ras))) (. .))
    """
    from kernelwood.parsing.preparsed_backend import PreparsedBackend

    if isinstance(backend, PreparsedBackend):
        return backend.sentences(documents)
    cut = [
        (document,) if isinstance(document, Sentence) else document.sentences()
        for document in documents
    ]
    parsed = iter(backend.parse([sentence for sentences in cut for sentence in sentences]))
    return [[next(parsed) for _ in sentences] for sentences in cut]


def load_backend(
    backend: str | object = "biomedical", *, n_jobs: int | None = None, entities: bool = False
) -> Backend:
    """Return the backend of a name, or make one of a loaded pipeline.

    Parameters
    ----------
    backend : str or object
        One of the names of this module; or a backend, which is returned as it is; or a loaded
        pipeline of spaCy or Stanza.
    n_jobs : int or None
        Threads of the bundled grammar; the others have their own ways.
    entities : bool
        Whether sentences without entities get those that spaCy or Stanza recognize.

    Raises
    ------
    KernelInputError
        If there is no such backend, or what it needs is not installed; the message says what to
        install.

    Examples
    --------
    >>> backend = load_backend()
    >>> backend.name, backend.version
    ('biomedical', '1')
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
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(BACKENDS)}"
        raise KernelInputError(f"there is no backend {shorten(repr(backend))}\n    {hint}")
    return make(argument, n_jobs, entities)


def _adapt(backend: object, entities: bool) -> Backend:
    if isinstance(backend, Backend):
        return backend
    if hasattr(backend, "pipe_names") and hasattr(backend, "pipe"):
        from kernelwood.parsing.spacy_backend import SpacyBackend

        return SpacyBackend(backend, entities=entities)
    if hasattr(backend, "processors") and callable(backend):
        from kernelwood.parsing.stanza_backend import StanzaBackend

        return StanzaBackend(backend, entities=entities)
    raise KernelInputError(
        f"{shorten(repr(backend))} of type {type(backend).__name__} is not a backend\n"
        f"    give a name ({', '.join(BACKENDS)}), a pipeline of spaCy or Stanza, "
        "or an object with name, version and parse(sentences)"
    )


def _biomedical(argument: str, n_jobs: int | None, entities: bool) -> Backend:
    from kernelwood.parsing.constituency_backend import GrammarBackend

    if argument:
        raise KernelInputError(
            f"the backend 'biomedical' takes nothing after a colon, got {shorten(repr(argument))}"
        )
    return GrammarBackend("biomedical", n_jobs=n_jobs)


def _spacy(argument: str, n_jobs: int | None, entities: bool) -> Backend:
    from kernelwood.parsing.spacy_backend import SpacyBackend

    return SpacyBackend(argument or None, entities=entities)


def _stanza(argument: str, n_jobs: int | None, entities: bool) -> Backend:
    from kernelwood.parsing.stanza_backend import StanzaBackend

    return StanzaBackend(argument or "en", entities=entities)


def _conllu(argument: str, n_jobs: int | None, entities: bool) -> Backend:
    from kernelwood.parsing.preparsed_backend import PreparsedBackend

    if not argument:
        raise KernelInputError(
            "the backend 'conllu' needs the file of the parses\n    name it: 'conllu:parses.conllu'"
        )
    return PreparsedBackend.from_file(argument)


_Make: TypeAlias = Callable[[str, "int | None", bool], Backend]

# Name -> what makes the backend of what stands after the colon, n_jobs and entities.
BACKENDS: dict[str, _Make] = {
    "biomedical": _biomedical,
    "spacy": _spacy,
    "stanza": _stanza,
    "conllu": _conllu,
}
