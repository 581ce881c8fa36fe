"""The sentences of documents as a table, with the parses that views need."""

from __future__ import annotations

import logging
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

from kernelwood.arrays import as_rows
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.evaluate import documents
from kernelwood.io import FORMATS, iter_read, iter_texts
from kernelwood.parsing import Backend, PreparsedBackend, load_backend
from kernelwood.relations.sentence_list import SentenceList
from kernelwood.structures import Tree, shorten, show
from kernelwood.text import (
    Candidate,
    Document,
    Example,
    Label,
    Origin,
    Sentence,
    adapt,
    adaptable,
    adapting_hint,
    is_frame,
    is_missing,
)
from kernelwood.views import find_view

_LOG = logging.getLogger(__name__)

AUTO = "auto"  # given parses, or if no sentence has one, those of the default parser
GIVEN = "given"  # given parses only
_TREES, _DEPENDENCIES = "biomedical", "biomedical-dependencies"  # bundled parsers
_BATCH = 512  # sentences parsed together
_LONGEST_PATH = 4096  # longer strings are texts
# Suffixes of texts and containers, which are not those of a format of their own.
_OTHER_SUFFIXES = (".txt", ".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".xml", ".json", ".csv")

# A document or sentence with its id, label and origin.
_Entry: TypeAlias = tuple[str, "Document | Sentence", Label, "Origin | None"]


class SentenceTable:
    """Sentences as columns.

    Attributes
    ----------
    ids, documents : list of str
        The id of each sentence, and of the document or example it comes from.
    sentences : SentenceList
    labels : list
        The label of the example each sentence comes from.
    origins : list of Origin or None
        File and position of each sentence.
    """

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.documents: list[str] = []
        self.sentences = SentenceList()
        self.labels: list[Label] = []
        self.origins: list[Origin | None] = []

    @classmethod
    def read(
        cls, entries: Iterable[_Entry], dropped: Counter[str], backend: Any = None
    ) -> SentenceTable:
        """Split documents into sentences; count the annotation that is lost in ``dropped``.

        A `PreparsedBackend` splits and parses documents at once.
        """
        table = cls()
        parsed: list[list[Sentence]] | None = None
        if isinstance(backend, PreparsedBackend):
            entries = list(entries)
            parsed = backend.sentences(
                [Example(name, views={"document": text}) for name, text, _, _ in entries]
            )
        for number, (name, annotated, label, origin) in enumerate(entries):
            if isinstance(annotated, Sentence):
                [sentence] = [annotated] if parsed is None else parsed[number]
                table._append(name, name, sentence, label, origin)
            elif parsed is not None:
                table._cut(name, label, origin, parsed[number], annotated.text)
            else:
                cut = annotated.split()
                dropped.update(cut.lost)
                table._cut(name, label, origin, cut.sentences, annotated.text)
        return table

    def _cut(
        self,
        name: str,
        label: Label,
        origin: Origin | None,
        sentences: Iterable[Sentence],
        text: str,
    ) -> None:
        # A document that begins further down in its file is one line there, such as one of JSON.
        is_file = origin is not None and origin.line in (None, 1)
        line, counted_to = 1, 0
        for number, sentence in enumerate(sentences):
            line += text.count("\n", counted_to, sentence.start)
            counted_to = sentence.start
            if origin is not None and is_file:
                origin = replace(origin, line=line)
            self._append(f"{name}.s{number}", name, sentence, label, origin)

    def _append(
        self, id: str, document: str, sentence: Sentence, label: Label, origin: Origin | None
    ) -> None:
        self.ids.append(id)
        self.documents.append(document)
        self.sentences.append(sentence)
        self.labels.append(label)
        self.origins.append(origin)

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: Iterable[int]) -> SentenceTable:
        """Return some of the sentences, in that order."""
        table = SentenceTable()
        for row in rows:
            table._append(
                self.ids[row],
                self.documents[row],
                self.sentences[row],
                self.labels[row],
                self.origins[row],
            )
        return table

    def extend(self, other: SentenceTable) -> None:
        """Append the sentences of another table."""
        for name, column in vars(self).items():
            column += getattr(other, name)

    def groups(self) -> list[str]:
        """Return the document of each sentence as `kernelwood.evaluate.documents` finds it.

        If the document is unknown, it is the example that the sentence comes from.
        """
        rows = zip(self.ids, self.sentences, self.origins, strict=True)
        try:
            return documents(
                Candidate._trusted(id, sentence, (), None, "", None, origin)
                for id, sentence, origin in rows
            )
        except KernelInputError:
            return list(self.documents)

    def parse(self, backend: Backend, *, least: int = 0, most: int | None = None) -> None:
        """Parse the sentences with at least ``least`` and at most ``most`` entities."""
        waiting = [
            row
            for row, sentence in enumerate(self.sentences)
            if least <= len(sentence.entities) and (most is None or len(sentence.entities) <= most)
        ]
        for begin in range(0, len(waiting), _BATCH):
            rows = waiting[begin : begin + _BATCH]
            parsed = backend.parse([self.sentences[row] for row in rows])
            for row, sentence in zip(rows, parsed, strict=True):
                self.sentences[row] = sentence


def needs_parse(views: Iterable[str]) -> bool:
    """Return whether any of these views is made from a parse.

    Examples
    --------
    >>> needs_parse(("context",)), needs_parse(("context", "path"))
    (False, True)
    """
    return any(find_view(name).needs != "words" for name in views)


def default_parser(views: Iterable[str], learned: str | None = None) -> str:
    """Return the parser of ``"auto"``: the fastest bundled parser that makes all the views.

    Parameters
    ----------
    views : iterable of str
    learned : str, optional
        The parser of the training corpus of a model, which is returned if it is a bundled one.

    Examples
    --------
    >>> default_parser(("context", "path")), default_parser(("path", "pet"))
    ('biomedical-dependencies', 'biomedical')
    >>> default_parser(("context", "path"), learned="biomedical")
    'biomedical'
    """
    if learned in (_TREES, _DEPENDENCIES):
        return learned
    return _TREES if any(find_view(name).needs == "tree" for name in views) else _DEPENDENCIES


def read_sentences(
    entries: Iterable[_Entry],
    parser: Any,
    dropped: Counter[str],
    *,
    views: Iterable[str],
    least: int,
    most: int | None,
    n_jobs: int | None = None,
    learned: str | None = None,
) -> tuple[SentenceTable, str]:
    """Return the sentences of documents, and the name of their parser.

    Parameters
    ----------
    entries : iterable of (id, Document or Sentence, label, origin)
    parser : str or Backend
        ``"auto"``, ``"given"``, or an argument of `kernelwood.parsing.load_backend`, which then
        parses all sentences, even if they have a parse.
    dropped : Counter
        Gets the counts of annotation that is lost when documents are split.
    views : iterable of str
        If none of these views is made from a parse, ``"auto"`` does not parse.
    least, most : int or None
        Sentences with fewer or more entities have no candidates and are not parsed.
    n_jobs : int, optional
        Threads of the bundled parsers.
    learned : str, optional
        The parser of the training corpus, as in `default_parser`.
    """
    views = tuple(views)
    needed = needs_parse(views)
    backend = None if parser in (AUTO, GIVEN) else load_backend(parser, n_jobs=n_jobs)
    table = SentenceTable.read(entries, dropped, backend)
    if parser == AUTO and needed and len(table) and not any(map(_is_parsed, table.sentences)):
        backend = load_backend(default_parser(views, learned), n_jobs=n_jobs)
    if backend is None:
        return table, GIVEN
    if not isinstance(backend, PreparsedBackend):
        _LOG.info("parsing with %s", backend.name)
        table.parse(backend, least=least, most=most)
    return table, backend.name if needed else GIVEN


def example_entries(
    examples: Any, view: str | None = None, *, owner: str = "this"
) -> Iterator[_Entry]:
    """Yield the sentence or document of each example.

    Parameters
    ----------
    examples : documents, as in `documents_from`
    view : str, optional
        Name of the view that holds the sentence or document.
    owner : str
        Name of the function for messages.

    Raises
    ------
    KernelInputError
        If an item is neither a document nor the path of a corpus.
    StructureError
        If an example has neither a sentence nor a document, or not under the name ``view``.
    """
    for example in documents_from(examples, owner):
        yield example.id, _annotated(example, view), example.label, example.origin


def text_entries(texts: Any, finder: Any = None, *, owner: str = "extract") -> Iterator[_Entry]:
    """Yield texts as documents with the entities that a finder adds.

    Parameters
    ----------
    texts : texts or documents, as in `documents_from`
    finder : object with a method ``annotate``, optional
        Adds entities, such as a `Dictionary` or an `EntityFinder`.
    owner : str
        Name of the function for messages.

    Examples
    --------
    >>> from kernelwood.entities import Dictionary
    >>> [entry] = text_entries("Raf binds Ras.", Dictionary([("Raf", "protein")]))
    >>> entry[:2]
    ('text1', Document('Raf binds Ras.', 1 entity))
    """
    for example in documents_from(texts, owner, texts=True):
        annotated = _annotated(example)
        if finder is not None:
            annotated = finder.annotate(annotated)
        yield example.id, annotated, example.label, example.origin


def documents_from(given: Any, owner: str, *, texts: bool = False) -> Iterator[Example]:
    """Yield documents as examples, from objects or paths.

    Parameters
    ----------
    given : document or path, or an iterable of these
        A document is an `Example`, `Document` or `Sentence`, or an object that
        `kernelwood.text.adapt` makes one of. A path is a string or ``PathLike`` that names a file,
        folder or archive for `kernelwood.read`. A column or DataFrame is an iterable of its rows.
    owner : str
        Name of the function for messages.
    texts : bool
        Whether a string that does not name an existing file is a text. A string without blanks
        that looks like a path, with a slash or the suffix of a known format, is an error then.

    Yields
    ------
    Example
        Documents without an id are called ``text1``, ``text2``, ...

    Raises
    ------
    KernelInputError
        If an item is nothing of the kind, or a path does not exist.
    """
    try:
        listed: Any = [given] if _is_one(given) else as_rows(given)
    except StructureError as failure:
        raise KernelInputError(f"{owner}: {failure}") from None
    unordered = isinstance(listed, (bytes, bytearray, Mapping, set, frozenset))
    matrix = getattr(listed, "ndim", 1) != 1
    if unordered or matrix or adapting_hint(listed) or not isinstance(listed, Iterable):
        raise _no_document(given, "got", owner, texts)
    for number, item in enumerate(listed, start=1):
        found = item if isinstance(item, _DOCUMENTS) else adapt(item)
        if isinstance(found, Example):
            yield found
        elif isinstance(found, Document):
            yield Example(f"text{number}", views={"document": found})
        elif isinstance(found, Sentence):
            name = dict(found.metadata).get("sent_id") or f"text{number}"
            yield Example(name, views={"sentence": found})
        elif isinstance(found, os.PathLike) or (isinstance(found, str) and _is_path(found)):
            yield from _read_documents(found, owner, texts)
        elif isinstance(found, str) and texts:
            yield Example(f"text{number}", views={"document": Document(found)})
        elif isinstance(found, str):
            raise _missing(found, owner)
        else:
            raise _no_document(item, f"document {number - 1} is", owner, texts)


_DOCUMENTS = (Example, Document, Sentence)


def _is_one(given: object) -> bool:
    """Return whether an argument is one document or path rather than several."""
    return isinstance(given, (str, os.PathLike, *_DOCUMENTS)) or adaptable(type(given))


def _is_path(text: str) -> bool:
    """Return whether a string names a file or folder, or looks like a path."""
    if len(text) > _LONGEST_PATH or "\n" in text or not text:
        return False
    if _exists(text):
        return True
    if any(mark.isspace() for mark in text):
        return False
    return "/" in text or os.sep in text or text.lower().endswith(_suffixes())


@cache
def _suffixes() -> tuple[str, ...]:
    known = {suffix for format in FORMATS for suffix in format.suffixes}
    return tuple(suffix for suffix in {*known, *_OTHER_SUFFIXES} if suffix.startswith("."))


def _read_documents(path: Any, owner: str, texts: bool) -> Iterator[Example]:
    """Yield the documents of a file, folder or archive; plain texts too, if texts are wanted."""
    if not _exists(path):
        raise _missing(os.fspath(path), owner, texts=texts)
    with iter_texts(path) if texts else iter_read(path) as stream:
        yield from stream


def _exists(path: Any) -> bool:
    return os.path.exists(path)  # noqa: PTH110 - a Path raises an error for names that are too long


def _missing(path: str, owner: str, *, texts: bool = False) -> KernelInputError:
    shown = shorten(repr(path), 300)
    if texts:
        return KernelInputError(
            f"{owner}: the path {shown} does not exist; if it is a text, give "
            "kernelwood.Document(text)"
        )
    if any(mark.isspace() for mark in path):
        return KernelInputError(
            f"{owner}: {shown} is a text without annotation; {owner} takes annotated documents (as "
            "kernelwood.read returns them) or the path of a corpus, and extract takes texts"
        )
    return KernelInputError(
        f"{owner}: {shown} does not exist; {owner} takes documents or the path of a corpus, and "
        "extract takes texts"
    )


def _no_document(value: object, what: str, owner: str, texts: bool) -> KernelInputError:
    hint = adapting_hint(value)
    if isinstance(value, Mapping):
        hint = "give a list of documents: list(mapping.values())"
    elif isinstance(value, (bytes, bytearray)):
        hint = "decode it first: data.decode()"
    elif isinstance(value, (set, frozenset)):
        hint = "a set has no order; give a list"
    elif isinstance(adapt(value), Tree):
        hint = "a tree is a sentence without entities: kernelwood.Sentence.from_tree(tree)"
    elif is_frame(value):
        hint = 'give the column of documents: frame["text"]'
    elif is_missing(value) and what != "got":
        hint = "leave out missing values"
    shown = " ".join(show(value).split())
    wanted = "texts, documents or paths" if texts else "documents or the path of a corpus"
    return KernelInputError(
        f"{owner}: {what} {shown} of type {type(value).__name__}; give {wanted}: examples as "
        "kernelwood.read returns them, kernelwood.Document, a spaCy Doc, ..."
        + (f"\n    {hint}" if hint else "")
    )


def _annotated(example: Example, view: str | None = None) -> Document | Sentence:
    name = view or ("document" if "document" in example.views else "sentence")
    annotated = example.view(name)
    if isinstance(annotated, (Sentence, Document)):
        return annotated
    raise StructureError(
        f"view {name!r} of example {shorten(repr(example.id))} is a {type(annotated).__name__}",
        hint="give examples with a sentence or a document, and the name of its view",
    )


def _is_parsed(sentence: Sentence) -> bool:
    return bool(sentence.dependencies) or sentence.tree is not None


def check_sentences(table: SentenceTable) -> None:
    """Raise KernelInputError if there are no sentences to learn from."""
    if not len(table):
        raise KernelInputError(
            "there are no sentences to learn from: no documents were given, or they have no text; "
            "a generator can be read only once"
        )


def warn_of_parser(learned: str, used: str) -> None:
    """Warn if texts are parsed in another way than the training corpus."""
    if used != learned:
        warnings.warn(
            f"the model was trained on parses that were "
            f"{'given' if learned == GIVEN else 'made by ' + learned}, and these are "
            f"{'given' if used == GIVEN else 'made by ' + used}: labels may differ, and relations "
            "be missed; train and extract with the same parser",
            UserWarning,
            stacklevel=4,
        )
