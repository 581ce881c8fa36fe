"""Labeled structures on the command line: from a corpus, or from a file of saved examples."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.corpus import Counts, attempted, example_maker, usage, with_progress
from kernelwood.cli.hypotheses import CANDIDATES
from kernelwood.cli.messages import explained
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.io import iter_read, keep_views
from kernelwood.structures import Example, Forest, Sentence, Sequence, Tree

if TYPE_CHECKING:
    from kernelwood.arrays import ExampleBatch

__all__ = ["Asked", "Labeled", "read_labeled"]

_SAVED = {"manifest.json", "card.md"}  # what a file of kw.save has in it
_COMPARABLE = (Sequence, Tree, Forest)


@dataclass(frozen=True)
class Asked:
    """What the options say of the corpus."""

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


@dataclass
class Labeled:
    """Examples with the views that are compared, and what became of the others."""

    labeled: ExampleBatch
    documents: list[str] | None
    unlabelled: ExampleBatch | None
    views: tuple[str, ...]
    skipped: dict[str, int]
    dropped: dict[str, int]
    remarks: dict[str, int]


def read_labeled(asked: Asked) -> Labeled:
    """Read examples, make the views that are asked for, and part those without a label.

    Raises
    ------
    StructureError
        If a part of the corpus is broken, or has not what a view is made of.
    KernelInputError
        If no example has a label, or it is not clear which view is meant.
    """
    from kernelwood import batch
    from kernelwood.evaluate import documents

    counts = Counts()
    try:
        examples = list(_saved(asked) if is_saved(asked.source) else _read(asked, counts))
    except StructureError as failure:
        raise explained(
            failure, counts.current, format="", others_fit=counts.taken > 0
        ) from failure
    if not examples:
        reasons = counts.reasons + counts.dropped
        told = "; ".join(f"{count:,} × {reason}" for reason, count in reasons.items())
        raise KernelInputError(f"{asked.source}: no examples" + (f": {told}" if told else ""))
    views = _choose_views(asked, examples[0])
    without = [_bare(e, views) for e in examples if not _has_label(e)]
    known = [e for e in examples if _has_label(e)]
    if not known:
        raise KernelInputError(_no_labels(asked, len(examples)))
    return Labeled(
        batch([_bare(e, views) for e in known]),
        documents(known) if asked.by_document else None,
        batch(without) if without else None,
        views,
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


def _saved(asked: Asked) -> Iterator[Example]:
    from kernelwood import ExampleBatch, load

    if asked.candidates or asked.sentences or asked.format or asked.only:
        raise click.UsageError(
            f"{asked.source} holds saved examples; --from, --candidates, --sentences and --only "
            "are for corpora"
        )
    found = load(asked.source)
    if not isinstance(found, ExampleBatch):
        raise KernelInputError(
            f"{asked.source} holds a {type(found).__name__}, which has no labels; save examples: "
            "kw.save(kw.batch([kw.Example(id, label, views), ...]), path)"
        )
    yield from (keep_views(e, asked.views) if asked.views else e for e in found)


def _read(asked: Asked, counts: Counts) -> Iterator[Example]:
    make = usage(
        lambda: example_maker(
            asked.views, asked.candidates, asked.types, asked.labels, sentences=asked.sentences
        )
    )
    skip = asked.errors == "skip"
    with usage(
        lambda: iter_read(asked.source, asked.format, asked.errors, only=asked.only)
    ) as stream:
        for example in with_progress(stream):
            counts.current = example
            made = make(example, counts.dropped, counts.remarks)
            for one in attempted(made, counts.reasons, skip=skip):
                # What kernels cannot compare is let go: sentences take a lot of memory.
                yield _light(one)
                counts.taken += 1
        counts.current = None
        counts.reasons.update(stream.tally.reasons)
        counts.remarks.update(stream.tally.remarks)


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


def _has_label(example: Example) -> bool:
    label = example.label
    if isinstance(label, tuple):
        raise KernelInputError(
            f"example {example.id!r} has several labels, {label!r}; gates are learned from one "
            "class for each structure"
        )
    return label is not None and label == label


def _bare(example: Example, views: tuple[str, ...]) -> Example:
    """Return an example without its origin: gates are the same wherever the corpus lies."""
    return Example(example.id, example.label, {name: example.view(name) for name in views})


def _no_labels(asked: Asked, n: int) -> str:
    hint = "" if asked.candidates else ", or label candidates by annotation: --candidates pairs"
    return (
        f"{asked.source}: none of the {n:,} examples has a label; read a format with labels, such "
        f"as jsonl, kelp or semeval{hint}"
    )
