"""Corpora that commands read: annotated documents, examples to compare, saved examples, texts."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import in_command_line_terms, tracked, usage
from kernelwood.errors import KernelInputError, ReadError, StructureError
from kernelwood.io import (
    Counts,
    ExampleStream,
    Limits,
    iter_read,
    iter_texts,
    keep_views,
)
from kernelwood.structures import Forest, Sequence, Tree, one_line
from kernelwood.text import Document, Example, Sentence, annotated_view

if TYPE_CHECKING:
    from kernelwood import Dictionary
    from kernelwood.arrays import ExampleBatch
    from kernelwood.relations import ExampleMaker, RelationExtractor

_SAVED = {"manifest.json", "card.md"}  # members of every file of kw.save
_COMPARABLE = (Sequence, Tree, Forest)
_READABLE = ("words", "tree")  # views that make the best text if an example has none
_TEXT = (".txt", ".txt.gz", ".txt.bz2", ".txt.xz")
_NOT_A_TEXT = "file of a folder or archive is not a text"
_ANNOTATED = "annotated text, such as brat standoff, interaction corpora (ppi, ddi) or CoNLL-U"


def open_corpus(source: str, options: dict[str, Any], **changes: Any) -> ExampleStream:
    """Open a corpus as the options say; invalid options are usage errors."""
    with usage():
        return iter_read(
            source,
            options["source_format"],
            options["errors"],
            only=options["only"],
            limits=reading_limits(options),
            **changes,
        )


def reading_limits(options: dict[str, Any]) -> Limits | None:
    """Return the limits that ``--memory-limit`` asks for, None if it is not given."""
    memory = options["memory_limit"]
    return None if memory is None else Limits(memory=memory)


# Annotated documents.


def read_documents(sources: Iterable[str], options: dict[str, Any]) -> tuple[list[Example], Counts]:
    """Return the annotated sentences and documents of corpora.

    Raises
    ------
    StructureError
        If a part of a corpus is invalid.
    KernelInputError
        If a corpus is empty or has no entities.
    """
    examples: list[Example] = []
    counts = Counts()
    for source in sources:
        check_unsaved(source)
        with open_corpus(source, options) as stream:
            found = list(tracked(stream))
            counts.add(stream.tally)
            _remark_on_texts(found, stream.tally.ignored, counts)
        check_annotation(source, found, counts)
        examples += found
    return examples, counts


def _remark_on_texts(found: list[Example], ignored: tuple[str, ...], counts: Counts) -> None:
    """Remark on texts of a brat folder that have no annotation."""
    texts = [name for name in ignored if name.lower().endswith(_TEXT)]
    if texts and any(one.origin and one.origin.path.lower().endswith(_TEXT) for one in found):
        counts.remarks[f"text without .ann left out, the first is {texts[0]}"] += len(texts)


def check_unsaved(source: str) -> None:
    """Raise ``KernelInputError`` if a path is a file of ``kw.save``."""
    if is_saved(source):
        raise KernelInputError(
            f"{source} is a file of kw.save without annotated sentences; give the corpus itself"
        )


def check_annotation(source: str, examples: list[Example], counts: Counts) -> None:
    """Raise ``KernelInputError`` if the examples of a corpus have no entities."""
    if not examples:
        raise _empty(source, counts)
    annotated = [
        view
        for example in examples
        for view in example.views.values()
        if isinstance(view, (Sentence, Document))
    ]
    if not annotated:
        raise KernelInputError(
            f"{source}: the examples have no sentences; relations are learned from {_ANNOTATED}"
        )
    if not any(view.entities for view in annotated):
        raise KernelInputError(
            f"{source}: the annotation has no entities; annotate them first (brat standoff, ppi "
            "and jsonl can store them)"
        )


def _empty(source: str, counts: Counts) -> KernelInputError:
    reasons = counts.reasons()
    return KernelInputError(f"{source}: no examples" + (f": {reasons}" if reasons else ""))


class Texts:
    """Texts, read one after the other as examples with entities.

    Parameters
    ----------
    paths : iterable of str
        Files, folders and archives; ``-`` for standard input.
    options : dict
        With ``errors``, ``source_format``, ``only``, ``memory_limit``, ``text_field`` and
        ``id_field``.
    annotate : callable, optional
        Adds entities to a document or sentence.
    counts : Counts
        Updated while texts are read.
    terms : Dictionary, optional
        The list that ``annotate`` looks for; there is a warning if none of its terms occurs.
    """

    def __init__(
        self,
        paths: Iterable[str],
        options: dict[str, Any],
        annotate: Callable[[Any], Any] | None,
        counts: Counts,
        terms: Dictionary | None = None,
    ) -> None:
        self.paths, self._terms = list(paths), terms
        self._options, self.annotate, self._counts = options, annotate, counts

    def __iter__(self) -> Iterator[Example]:
        from kernelwood.relations import add_entities

        for path in self.paths:
            check_unsaved(path)
        terms, some = self._terms, False
        # Usage errors may come up at every file, such as a field that a format does not have.
        with usage(), self._open() as stream:
            for example in tracked(stream, "text"):
                text = annotated_view(example).text
                if terms and next(terms.matches(text), None):
                    terms = None
                some = some or bool(text.strip())
                yield add_entities(example, self.annotate)
            self._counts.add(stream.tally)
            if n_ignored := len(stream.tally.ignored):
                self._counts.remarks[_NOT_A_TEXT] += n_ignored
        if terms and some:
            warnings.warn(terms.not_found(), UserWarning, stacklevel=2)

    def _open(self) -> ExampleStream:
        options = self._options
        return iter_texts(
            self.paths,
            options["source_format"],
            options["errors"],
            only=options["only"],
            limits=reading_limits(options),
            text_field=options["text_field"] or None,
            id_field=options["id_field"],
        )


def texts_with_entities(
    extractor: RelationExtractor, paths: Iterable[str], options: dict[str, Any], counts: Counts
) -> Texts:
    """Return texts with entities of the tagger of the model, of a list of terms, or of both."""
    from kernelwood import Dictionary
    from kernelwood.relations import entity_finder

    path, recognized = options["entities"], bool(options.get("ner"))
    terms = None if path is None else Dictionary.read(path, case=options["case"])
    find = entity_finder(extractor, terms, tagger=not recognized)
    return Texts(paths, options, find, counts, None if recognized else terms)


# Views and candidates of examples.


def example_maker(
    options: dict[str, Any], *, views: tuple[str, ...] | None = None, sentences: bool = False
) -> ExampleMaker:
    """Return the function that makes the views and candidates that options ask for.

    Parameters
    ----------
    options : dict
        With ``views``, ``candidates``, ``types`` and ``labels``.
    views : tuple of str, optional
        In place of those of the options.
    sentences : bool
        Whether documents are split into sentences first.
    """
    from kernelwood.relations import ExampleMaker

    with usage():
        return ExampleMaker(
            options["views"] if views is None else views,
            candidates=options["candidates"],
            types=options["types"],
            labels=options["labels"],
            sentences=sentences,
        )


def example_error(failure: StructureError, counts: Counts, format: str = "") -> StructureError:
    """Return an error with the origin of the current example and the options that help.

    Parameters
    ----------
    failure : StructureError
    counts : Counts
        Holds the current example.
    format : str
        Name of the output format, if examples are written.
    """
    example = counts.current
    if isinstance(failure, ReadError) or example is None:
        return in_command_line_terms(failure)
    hints = []
    if any(isinstance(view, Document) for view in example.views.values()) and format != "standoff":
        hints.append("--sentences splits documents into sentences")
    if names := _possible_views(example, format):
        hints.append(f"views that can be made from its sentence with --view: {', '.join(names)}")
    if counts.taken:
        hints.append("--errors skip skips and counts such examples")
    return in_command_line_terms(failure, hints, example.origin)


def _possible_views(example: Example, format: str) -> list[str]:
    """Return the views that a format can store and that the sentence of an example has."""
    from kernelwood.views import VIEWS, make_view

    sentence = example.views.get("sentence")
    if format not in ("penn", "kelp") or not isinstance(sentence, Sentence) or not sentence.tokens:
        return []
    names = []
    for row in VIEWS.values():
        if row.subject != "sentence":
            continue
        try:
            made, _ = make_view(row.name, sentence)
        except StructureError:
            continue
        if format == "kelp" or isinstance(made, Tree):
            names.append(row.name)
    return names


# Examples to compare.


@dataclass
class ExampleList:
    """Examples with the views to compare, their texts, and the counts of the others."""

    examples: list[Example]
    own_texts: list[str]
    views: tuple[str, ...]
    counts: Counts

    def batch(self) -> ExampleBatch:
        """Return the examples as a batch, without their origins.

        Results do not depend on where a corpus is stored.
        """
        from kernelwood.arrays import ExampleBatch

        return ExampleBatch.from_examples(self.select(self.examples))

    def select(self, examples: Iterable[Example]) -> list[Example]:
        """Return examples with the views to compare only, and without origins."""
        return [
            Example(e.id, e.label, {name: e.view(name) for name in self.views}) for e in examples
        ]

    def texts(self) -> list[str]:
        """Return a line of text for each example."""
        return [
            own or _structure_text(example, self.views)
            for example, own in zip(self.examples, self.own_texts, strict=True)
        ]

    def labels(self) -> list[str | None]:
        """Return the labels as text; None for an example without a label."""
        return [_label_text(example.label) for example in self.examples]

    def to_dict(self) -> dict[str, Any]:
        """Return the views and counts as plain JSON values."""
        return {
            "views": list(self.views),
            "n_examples": len(self.examples),
            **self.counts.to_dict(),
        }


def read_examples(source: str, options: dict[str, Any], *, classes: bool = False) -> ExampleList:
    """Read examples from a corpus or a saved file and make the views that options ask for.

    With ``classes`` examples need labels, and no view of sentences is chosen by default.

    Raises
    ------
    StructureError
        If a part of the corpus is invalid, or a view cannot be made.
    KernelInputError
        If there are no examples, or the view is ambiguous.
    """
    counts = Counts()
    read = _read_saved if is_saved(source) else _read_corpus
    try:
        pairs = list(read(source, options, counts, classes=classes))
    except StructureError as failure:
        raise example_error(failure, counts) from failure
    if not pairs:
        raise _empty(source, counts)
    examples, texts = [one for one, _ in pairs], [text for _, text in pairs]
    return ExampleList(examples, texts, _choose_views(source, options, examples[0]), counts)


def is_saved(source: str) -> bool:
    """Return whether a path is a file of ``kw.save``, not an archive of a corpus."""
    path = Path(source)
    if path.suffix.lower() == ".kw":
        return True
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            # A project of kernelwood review can hold a saved file, which then begins later.
            begin = min((one.header_offset for one in archive.infolist()), default=0)
            return set(archive.namelist()) >= _SAVED and begin == 0
    except (zipfile.BadZipFile, NotImplementedError):  # the archive reader reports what is wrong
        return False


def _read_saved(
    source: str, options: dict[str, Any], counts: Counts, *, classes: bool
) -> Iterator[tuple[Example, str]]:
    from kernelwood import load
    from kernelwood.arrays import Batch, ExampleBatch

    if any(options[name] for name in ("candidates", "sentences", "source_format", "only")):
        raise click.UsageError(
            f"{source} contains saved examples; --from, --candidates, --sentences and --only "
            "apply to corpora only"
        )
    found = load(source)
    if isinstance(found, Batch) and not classes:
        for number, structure in enumerate(found):
            yield Example(str(number), None, {found.kind: structure}), ""
    elif isinstance(found, ExampleBatch):
        for example in found:
            kept = keep_views(example, options["views"]) if options["views"] else example
            yield kept, _own_text(example)
    else:
        lacking = " without labels" if classes else ""
        raise KernelInputError(
            f"{source} contains a {type(found).__name__}{lacking}; save examples instead: "
            "kw.save(kw.batch([kw.Example(id, label, views), ...]), path)"
        )


def _read_corpus(
    source: str, options: dict[str, Any], counts: Counts, *, classes: bool
) -> Iterator[tuple[Example, str]]:
    from kernelwood.relations import ExampleMaker, attempted

    make = example_maker(options)
    cut = ExampleMaker(sentences=options["sentences"])
    skip = options["errors"] == "skip"
    chosen = bool(options["views"] or options["candidates"] or classes)
    with open_corpus(source, options) as stream:
        for example in tracked(stream):
            counts.current = example
            for whole in attempted(cut(example, counts), counts, skip=skip):
                if not chosen:
                    make, chosen = example_maker(options, views=_default_views(whole)), True
                for one in attempted(make(whole, counts), counts, skip=skip):
                    # Sentences take a lot of memory, and kernels do not compare them.
                    names = _comparable(one)
                    yield keep_views(one, names) if names else one, _own_text(whole)
                    counts.taken += 1
        counts.current = None
        counts.add(stream.tally)


def _default_views(example: Example) -> tuple[str, ...]:
    """Return the view to make from sentences if examples have no structure to compare."""
    from kernelwood.search import choose_view

    if _comparable(example) or not _has_sentence(example):
        return ()
    chosen = choose_view([example], None, "kernelwood")
    return (chosen,) if chosen else ()


def _comparable(example: Example) -> tuple[str, ...]:
    structures = (n for n, view in example.views.items() if isinstance(view, _COMPARABLE))
    vectors = (n for n, view in example.views.items() if isinstance(view, (tuple, Mapping)))
    return tuple(structures) or tuple(vectors)


def _choose_views(source: str, options: dict[str, Any], example: Example) -> tuple[str, ...]:
    views: tuple[str, ...] = options["views"]
    if views:
        return views
    if options["candidates"]:
        from kernelwood.relations import CANDIDATES

        return (CANDIDATES[options["candidates"]],)
    names = _comparable(example)
    if len(names) == 1:
        return names
    if names:
        raise KernelInputError(
            f"{source}: the examples have the views {', '.join(names)}; choose with --view"
        )
    made = " such as words, lct or grct" if _has_sentence(example) else ""
    raise KernelInputError(
        f"{source}: the examples have no sequence or tree to compare; choose a view{made} with "
        "--view, or compare pairs of entities with --candidates pairs"
    )


def _has_sentence(example: Example) -> bool:
    return isinstance(example.views.get("sentence"), Sentence)


def _own_text(example: Example) -> str:
    """Return the text of an example or of its sentence, or ""."""
    views = example.views
    for view in (views.get("text"), views.get("sentence"), *views.values()):
        text = view.text if isinstance(view, Sentence) else view
        if isinstance(text, str):
            return _folded(text)
    return ""


def _structure_text(example: Example, views: tuple[str, ...]) -> str:
    from kernelwood.search import text_of
    from kernelwood.structures import words_and_tags

    name = next((name for name in _READABLE if name in example.views), views[0])
    view = example.view(name)
    if name == "tree" and isinstance(view, Tree):  # constituents, whose leaves are words
        return _folded(" ".join(words_and_tags(view)[0]))
    return _folded(text_of(view))


def _folded(text: str) -> str:
    return " ".join(one_line(text).split())


def _label_text(label: Any) -> str | None:
    if label is None or label != label:
        return None
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
