"""Objects of other packages, recognized by the names of their classes and packages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from kernelwood.text.parsed_objects import from_conllu, from_spacy, from_stanza
from kernelwood.text.structure_objects import from_networkx, from_nltk, from_penman, is_a

# Package and class -> the function that converts its objects.
_ADAPTERS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("spacy", "Doc"): from_spacy,
    ("stanza", "Document"): from_stanza,
    ("stanza", "Sentence"): from_stanza,
    ("conllu", "TokenList"): from_conllu,
    ("nltk", "Tree"): from_nltk,
    ("networkx", "Graph"): from_networkx,
    ("penman", "Graph"): from_penman,
    ("penman", "Tree"): from_penman,
}
# Package and class -> how to get an object that can be converted.
_HINTS: dict[tuple[str, str], str] = {
    ("spacy", "Span"): "make it a Doc: span.as_doc()",
    ("spacy", "Token"): "give the Doc: token.doc",
    ("spacy", "DocBin"): "give its documents: list(doc_bin.get_docs(nlp.vocab))",
    ("spacy", "Example"): "give its annotated document: example.reference",
    ("polars", "LazyFrame"): "collect it first: frame.collect()",
}
_KNOWN: WeakKeyDictionary[type, Callable[[Any], Any] | None] = WeakKeyDictionary()
_T = TypeVar("_T")


def adapt(value: Any) -> Any:
    """Return an object of another package as a structure, sentence or document.

    ========================================  ==========  ===============
    object                                    becomes     by
    ========================================  ==========  ===============
    ``Doc`` of spaCy                          `Document`  `from_spacy`
    ``Document`` or ``Sentence`` of Stanza    `Document`  `from_stanza`
    ``TokenList`` of conllu                   `Sentence`  `from_conllu`
    ``Tree`` of NLTK                          `Tree`      `from_nltk`
    ``DiGraph``, ... of networkx              `Graph`     `from_networkx`
    ``Graph`` or ``Tree`` of penman           `Graph`     `from_penman`
    ========================================  ==========  ===============

    Any other value is returned unchanged.

    Examples
    --------
    >>> import nltk
    >>> adapt(nltk.Tree("NP", ["bank"])), adapt("bank")
    (Tree('(NP bank)'), 'bank')
    """
    convert = _adapter(type(value))
    return value if convert is None else convert(value)


def adaptable(kind: type) -> bool:
    """Return whether `adapt` converts objects of a class."""
    return _adapter(kind) is not None


def adapting_hint(value: object) -> str | None:
    """Return a hint how to convert an object that `adapt` does not support to one that it does.

    Examples
    --------
    >>> import spacy
    >>> adapting_hint(spacy.blank("en")("Raf binds Ras.")[:2])
    'make it a Doc: span.as_doc()'
    """
    return _lookup(type(value), _HINTS)


def is_frame(value: object) -> bool:
    """Return whether a value is a DataFrame of pandas or polars."""
    return is_a(value, "pandas", "DataFrame") or is_a(value, "polars", "DataFrame")


def is_missing(value: object) -> bool:
    """Return whether a value stands for a missing one: None, NaN, or NA or NaT of pandas.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _adapter(kind: type) -> Callable[[Any], Any] | None:
    if kind not in _KNOWN:
        _KNOWN[kind] = _lookup(kind, _ADAPTERS)
    return _KNOWN[kind]


def _lookup(kind: type, table: dict[tuple[str, str], _T]) -> _T | None:
    for base in kind.__mro__:
        found = table.get((base.__module__.partition(".")[0], base.__name__))
        if found is not None:
            return found
    return None
