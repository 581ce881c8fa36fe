"""Labeled structures on the command line: what can be learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelwood.cli.examples import Asked, bare, gather
from kernelwood.errors import KernelInputError
from kernelwood.text import Example

if TYPE_CHECKING:
    from kernelwood.arrays import ExampleBatch

__all__ = ["Labeled", "read_labeled"]


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

    read = gather(asked)
    views = read.views
    without = [bare(e, views) for e in read.examples if not _has_label(e)]
    known = [e for e in read.examples if _has_label(e)]
    if not known:
        raise KernelInputError(_no_labels(asked, len(read.examples)))
    return Labeled(
        batch([bare(e, views) for e in known]),
        documents(known) if asked.by_document else None,
        batch(without) if without else None,
        views,
        read.skipped,
        read.dropped,
        read.remarks,
    )


def _has_label(example: Example) -> bool:
    label = example.label
    if isinstance(label, tuple):
        raise KernelInputError(
            f"example {example.id!r} has several labels, {label!r}; gates are learned from one "
            "class for each structure"
        )
    return label is not None and label == label


def _no_labels(asked: Asked, n: int) -> str:
    hint = "" if asked.candidates else ", or label candidates by annotation: --candidates pairs"
    return (
        f"{asked.source}: none of the {n:,} examples has a label; read a format with labels, such "
        f"as jsonl, kelp or semeval{hint}"
    )
