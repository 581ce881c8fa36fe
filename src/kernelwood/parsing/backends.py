"""Parsers behind one small protocol: documents in, parsed sentences out.

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
from collections.abc import Callable, Sequence as Listing
from typing import Protocol, TypeAlias, runtime_checkable

from kernelwood.errors import KernelInputError
from kernelwood.structures import shorten
from kernelwood.text import Document, Sentence

__all__ = ["BACKENDS", "Backend", "load_backend"]


@runtime_checkable
class Backend(Protocol):
    """What a parser of raw text has to offer.

    Attributes
    ----------
    name, version : str
        Of what parses; the same name and version give the same parses.
    """

    @property
    def name(self) -> str:
        """What parses."""

    @property
    def version(self) -> str:
        """Its version, and that of what it runs on."""

    def analyze(self, documents: Listing[Document]) -> list[list[Sentence]]:
        """Return the parsed sentences of each document.

        Sentences are in order and have tokens, parts of speech, a tree or dependencies or both;
        ``start`` is their place in the text. They have the entities, relations, events and
        attributes of the document, as `Document.split` shares them out. A document without words
        has no sentences.
        """


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
        Whether documents without entities get those that spaCy or Stanza find.

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
    >>> [[sentence]] = backend.analyze([Document("Raf binds Ras.")])
    >>> print(sentence.tree.to_brackets())
    (S (NP (NN Raf)) (VP (VBZ binds) (NP (NN Ras))) (. .))
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
        f"{shorten(repr(backend))} of type {type(backend).__name__} is no backend\n"
        f"    give a name ({', '.join(BACKENDS)}), a pipeline of spaCy or Stanza, "
        "or an object with name, version and analyze(documents)"
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
