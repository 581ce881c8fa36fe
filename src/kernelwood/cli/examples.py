"""Examples on the command line: from a corpus, or from a file of saved ones."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.corpus import (
    Counts,
    Maker,
    attempted,
    cut_first,
    example_maker,
    usage,
    with_progress,
)
from kernelwood.cli.hypotheses import CANDIDATES
from kernelwood.cli.messages import explained
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.io import iter_read, keep_views
from kernelwood.structures import Forest, Sequence, Tree, one_line
from kernelwood.text import Example, Sentence

if TYPE_CHECKING:
    from kernelwood.arrays import ExampleBatch

__all__ = ["Asked", "Gathered", "gather", "is_saved"]

_SAVED = {"manifest.json", "card.md"}  # what a file of kw.save has in it
_COMPARABLE = (Sequence, Tree, Forest)
_READABLE = ("words", "tree")  # views that are read most easily where there is no text


@dataclass(frozen=True)
class Asked:
    """What the options say of the corpus.

    If something is to be learned from ``classes``, views are named and saved structures have
    labels; otherwise a view is chosen where only one suits sentences.
    """

    source: str
    format: str | None
    errors: Any
    views: tuple[str, ...]
    candidates: str | None
    types: tuple[str, ...]
    labels: Any
    sentences: bool
    only: str | None
    by_document: bool = False
    classes: bool = False


@dataclass
class Gathered:
    """Examples with the views that can be compared, and what became of the others."""

    examples: list[Example]
    own_texts: list[str]
    views: tuple[str, ...]
    skipped: dict[str, int]
    dropped: dict[str, int]
    remarks: dict[str, int]

    def batch(self) -> ExampleBatch:
        """Return the examples with the views that are compared."""
        from kernelwood.arrays import ExampleBatch

        return ExampleBatch.from_examples(bare(example, self.views) for example in self.examples)

    def texts(self) -> list[str]:
        """Return what a person would read of each example, in one line."""
        return [
            own or _structure_text(example, self.views)
            for example, own in zip(self.examples, self.own_texts, strict=True)
        ]

    def labels(self) -> list[str | None]:
        """Return the labels as text; None for an example without one."""
        return [_label_text(example.label) for example in self.examples]

    def counts(self) -> dict[str, Any]:
        """Return what is told of the corpus."""
        return {
            "views": list(self.views),
            "n_examples": len(self.examples),
            "skipped": self.skipped,
            "dropped": self.dropped,
            "remarks": self.remarks,
        }


def gather(asked: Asked) -> Gathered:
    """Read examples and make the views that are asked for.

    Raises
    ------
    StructureError
        If a part of the corpus is broken, or has not what a view is made of.
    KernelInputError
        If there are no examples, or it is not clear which view is meant.
    """
    counts = Counts()
    try:
        pairs = list(_saved(asked) if is_saved(asked.source) else _read(asked, counts))
    except StructureError as failure:
        raise explained(
            failure, counts.current, format="", others_fit=counts.taken > 0
        ) from failure
    if not pairs:
        reasons = counts.reasons + counts.dropped
        told = "; ".join(f"{count:,} × {reason}" for reason, count in reasons.items())
        raise KernelInputError(f"{asked.source}: no examples" + (f": {told}" if told else ""))
    return Gathered(
        [example for example, _ in pairs],
        [text for _, text in pairs],
        _choose_views(asked, pairs[0][0]),
        dict(counts.reasons.most_common()),
        dict(counts.dropped.most_common()),
        dict(counts.remarks.most_common()),
    )


def is_saved(source: str) -> bool:
    """Return whether this is a file that ``kw.save`` wrote, and no archive of a corpus."""
    path = Path(source)
    if path.suffix.lower() == ".kw":
        return True
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return set(archive.namelist()) >= _SAVED
    except (zipfile.BadZipFile, NotImplementedError):  # the reader of archives says what is wrong
        return False


def bare(example: Example, views: tuple[str, ...]) -> Example:
    """Return an example without its origin: results are the same wherever the corpus lies."""
    return Example(example.id, example.label, {name: example.view(name) for name in views})


def _saved(asked: Asked) -> Iterator[tuple[Example, str]]:
    from kernelwood import load
    from kernelwood.arrays import Batch, ExampleBatch

    if asked.candidates or asked.sentences or asked.format or asked.only:
        raise click.UsageError(
            f"{asked.source} holds saved examples; --from, --candidates, --sentences and --only "
            "are for corpora"
        )
    found = load(asked.source)
    if isinstance(found, Batch) and not asked.classes:
        for number, structure in enumerate(found):
            yield Example(str(number), None, {found.kind: structure}), ""
    elif isinstance(found, ExampleBatch):
        for example in found:
            kept = keep_views(example, asked.views) if asked.views else example
            yield kept, _own_text(example)
    else:
        lacking = ", which has no labels" if asked.classes else ""
        raise KernelInputError(
            f"{asked.source} holds a {type(found).__name__}{lacking}; save examples: "
            "kw.save(kw.batch([kw.Example(id, label, views), ...]), path)"
        )


def _read(asked: Asked, counts: Counts) -> Iterator[tuple[Example, str]]:
    make = usage(lambda: _maker(asked, asked.views))
    cut = cut_first(_as_it_is) if asked.sentences else _as_it_is
    skip = asked.errors == "skip"
    chosen = bool(asked.views or asked.candidates or asked.classes)
    with usage(
        lambda: iter_read(asked.source, asked.format, asked.errors, only=asked.only)
    ) as stream:
        for example in with_progress(stream):
            counts.current = example
            cuts = cut(example, counts.dropped, counts.remarks)
            for whole in attempted(cuts, counts.reasons, skip=skip):
                if not chosen:
                    make, chosen = _maker(asked, _default_views(whole)), True
                made = make(whole, counts.dropped, counts.remarks)
                for one in attempted(made, counts.reasons, skip=skip):
                    # What kernels cannot compare is let go: sentences take a lot of memory.
                    yield _light(one), _own_text(whole)
                    counts.taken += 1
        counts.current = None
        counts.reasons.update(stream.tally.reasons)
        counts.remarks.update(stream.tally.remarks)


def _maker(asked: Asked, views: tuple[str, ...]) -> Maker:
    return example_maker(views, asked.candidates, asked.types, asked.labels, sentences=False)


def _as_it_is(example: Example, dropped: Counter[str], remarks: Counter[str]) -> Iterator[Example]:
    yield example


def _default_views(example: Example) -> tuple[str, ...]:
    """Return the view to make of sentences if there is nothing else that can be compared."""
    from kernelwood.search import choose_view

    if _comparable(example) or not _has_sentence(example):
        return ()
    chosen = choose_view([example], None, "kernelwood")
    return (chosen,) if chosen else ()


def _light(example: Example) -> Example:
    """Return an example without what kernels cannot compare, unless it has nothing else."""
    names = _comparable(example)
    return keep_views(example, names) if names else example


def _comparable(example: Example) -> tuple[str, ...]:
    return tuple(n for n, view in example.views.items() if isinstance(view, _COMPARABLE))


def _choose_views(asked: Asked, example: Example) -> tuple[str, ...]:
    if asked.views:
        return asked.views
    if asked.candidates:
        return (CANDIDATES[asked.candidates],)
    names = _comparable(example)
    if len(names) == 1:
        return names
    if names:
        raise KernelInputError(
            f"{asked.source}: examples have the views {', '.join(names)}; name those to compare "
            "with --view"
        )
    made = " such as words, lct or grct" if _has_sentence(example) else ""
    raise KernelInputError(
        f"{asked.source}: examples have no sequence or tree to compare; name a view to make{made} "
        "with --view, or compare pairs of entities with --candidates pairs"
    )


def _has_sentence(example: Example) -> bool:
    return isinstance(example.views.get("sentence"), Sentence)


def _own_text(example: Example) -> str:
    """Return the text that an example, or its sentence, has; or ""."""
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
