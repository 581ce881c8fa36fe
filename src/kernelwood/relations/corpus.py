"""The sentences of documents as a table, with the parses that views need."""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from kernelwood.errors import KernelInputError, StructureError
from kernelwood.evaluate import documents
from kernelwood.parsing import Backend, PreparsedBackend, load_backend
from kernelwood.structures import shorten
from kernelwood.text import Candidate, Document, Example, Label, Origin, Sentence

_LOG = logging.getLogger(__name__)

AUTO = "auto"  # given parses, or if no sentence has one, those of the default parser
GIVEN = "given"  # given parses only
_DEFAULT = "biomedical"
_BATCH = 512  # sentences parsed together

# Views that are made of words alone.
_WORD_VIEWS = frozenset(
    ("words", "context", "stem-context", "names", "types", "between-words", "sentence-words")
)

# A document or sentence with its id, label and origin.
_Entry: TypeAlias = tuple[str, "Document | Sentence", Label, "Origin | None"]


class SentenceTable:
    """Sentences as columns.

    Attributes
    ----------
    ids, documents : list of str
        The id of each sentence, and of the document or example it comes from.
    sentences : list of Sentence
    labels : list
        The label of the example each sentence comes from.
    origins : list of Origin or None
        Where each sentence was read.
    """

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.documents: list[str] = []
        self.sentences: list[Sentence] = []
        self.labels: list[Label] = []
        self.origins: list[Origin | None] = []

    @classmethod
    def read(
        cls, entries: Iterable[_Entry], dropped: Counter[str], backend: Any = None
    ) -> SentenceTable:
        """Cut documents into sentences; count the annotation that is lost in ``dropped``.

        A `PreparsedBackend` cuts and parses documents at once.
        """
        table = cls()
        listed = list(entries)
        parsed: list[list[Sentence]] | None = None
        if isinstance(backend, PreparsedBackend):
            parsed = backend.sentences(
                [Example(name, views={"document": text}) for name, text, _, _ in listed]
            )
        for number, (name, annotated, label, origin) in enumerate(listed):
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

        Where nothing tells the document, it is the example that the sentence comes from.
        """
        rows = zip(self.ids, self.sentences, self.origins, strict=True)
        try:
            return documents(
                [
                    Candidate._trusted(id, sentence, (), None, "", None, origin)
                    for id, sentence, origin in rows
                ]
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
    return not _WORD_VIEWS.issuperset(views)


def read_sentences(
    entries: Iterable[_Entry],
    parser: Any,
    dropped: Counter[str],
    *,
    views: Iterable[str],
    least: int,
    most: int | None,
    n_jobs: int | None = None,
) -> tuple[SentenceTable, str]:
    """Return the sentences of documents, and the name of what parsed them.

    Parameters
    ----------
    entries : iterable of (id, Document or Sentence, label, origin)
    parser : str or Backend
        ``"auto"``, ``"given"``, or an argument of `kernelwood.parsing.load_backend`, which then
        parses all sentences, even if they have a parse.
    dropped : Counter
        Gets the annotation that is lost where documents are cut.
    views : iterable of str
        If none of these views is made from a parse, ``"auto"`` does not parse.
    least, most : int or None
        Sentences with fewer or more entities have no candidates and are not parsed.
    n_jobs : int, optional
        Threads of the bundled grammar.
    """
    needed = needs_parse(views)
    backend = None if parser in (AUTO, GIVEN) else load_backend(parser, n_jobs=n_jobs)
    table = SentenceTable.read(entries, dropped, backend)
    if parser == AUTO and needed and len(table) and not any(map(_is_parsed, table.sentences)):
        backend = load_backend(_DEFAULT, n_jobs=n_jobs)
    if backend is None:
        return table, GIVEN
    if not isinstance(backend, PreparsedBackend):
        _LOG.info("parsing with %s", backend.name)
        table.parse(backend, least=least, most=most)
    return table, backend.name if needed else GIVEN


def example_entries(examples: Iterable[Example], view: str | None = None) -> Iterator[_Entry]:
    """Yield the sentence or document of each example.

    Raises
    ------
    KernelInputError
        If an item is not an example.
    StructureError
        If an example has neither a sentence nor a document, or not under the name ``view``.
    """
    listed: Iterable[Any] = [examples] if isinstance(examples, Example) else examples
    for number, example in enumerate(listed):
        if not isinstance(example, Example):
            raise KernelInputError(
                f"document {number} is {shorten(repr(example))} of type {type(example).__name__}; "
                "give examples as kernelwood.read returns them, or use extract for texts"
            )
        yield example.id, _annotated(example, view), example.label, example.origin


def text_entries(texts: Any, dictionary: Any) -> Iterator[_Entry]:
    """Yield texts as documents whose entities are found.

    Parameters
    ----------
    texts : str, Document or Example, or an iterable of these
        Texts are called ``text1``, ``text2``, ...; examples keep their ids.
    dictionary : Dictionary, EntityFinder or None
        Its method ``annotate`` adds entities.

    Examples
    --------
    >>> from kernelwood.entities import Dictionary
    >>> [entry] = text_entries("Raf binds Ras.", Dictionary([("Raf", "protein")]))
    >>> entry[:2]
    ('text1', Document('Raf binds Ras.', 1 entity))
    """
    listed: Iterable[Any] = [texts] if isinstance(texts, (str, Document, Example)) else texts
    for number, text in enumerate(listed, start=1):
        name, label, origin = f"text{number}", None, None
        annotated: Document | Sentence
        if isinstance(text, str):
            annotated = Document(text)
        elif isinstance(text, Document):
            annotated = text
        elif isinstance(text, Example):
            name, label, origin, annotated = text.id, text.label, text.origin, _annotated(text)
        else:
            raise KernelInputError(
                f"{name} is {shorten(repr(text))} of type {type(text).__name__}; give strings, "
                "documents or examples"
            )
        yield (
            name,
            annotated if dictionary is None else dictionary.annotate(annotated),
            label,
            origin,
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
