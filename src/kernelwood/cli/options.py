"""Options that several commands share: what to read, and what compares it."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

import click

from kernelwood.cli.corpus import (
    candidates_option,
    errors_option,
    from_option,
    labels_option,
    only_option,
    sentences_option,
    types_option,
)
from kernelwood.cli.examples import Asked
from kernelwood.cli.kernels import COMPARING, SOFT

__all__ = [
    "asked",
    "corpus_options",
    "decay_option",
    "kernel_options",
    "seed_option",
    "similarity_option",
    "together",
    "vectors_option",
]

F = TypeVar("F", bound=Callable[..., Any])

_view_option = click.option(
    "--view", "views", metavar="NAME", multiple=True,
    help="What to compare: a view of the file, or one made of its sentences, such as words or "
    "grct, or of candidates, such as path. Repeated, kernels are added.",
)  # fmt: skip
decay_option = click.option("--decay", type=float, help="Decay of the kernel.")
vectors_option = click.option(
    "--vectors", metavar="FILE", help="Word vectors, for words that match in part."
)
similarity_option = click.option(
    "--similarity", type=click.Choice(SOFT), help="What to make of vectors. Default: gaussian."
)
seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), metavar="N", default=0, show_default=True,
    help="Where random numbers come from.",
)  # fmt: skip


def _check_kernel(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and value not in COMPARING and not value.endswith(".kw"):
        known = ", ".join(COMPARING)
        raise click.BadParameter(f"{value!r} is none of {known}, and no file that ends in .kw")
    return value


_kernel_option = click.option(
    "--kernel", metavar="NAME|FILE.kw", callback=_check_kernel,
    help=f"{', '.join(COMPARING)}; or a file with a saved kernel. Default: subsequence for "
    "sequences, partial-tree for trees, forest for forests.",
)  # fmt: skip


def together(*options: Any) -> Callable[[F], F]:
    """Return what gives a command several options, in this order."""

    def give(command: F) -> F:
        return reduce(lambda inner, option: option(inner), reversed(options), command)

    return give


corpus_options = together(
    from_option,
    errors_option,
    _view_option,
    candidates_option,
    types_option,
    labels_option,
    sentences_option,
    only_option,
)
kernel_options = together(_kernel_option, decay_option, vectors_option, similarity_option)


def asked(source: str, options: dict[str, Any], **changes: Any) -> Asked:
    """Return what the options say of a corpus."""
    said = {
        "format": options["source_format"],
        "errors": options["errors"],
        "views": options["views"],
        "candidates": options["candidates"],
        "types": options["types"],
        "labels": options["labels"],
        "sentences": options["sentences"],
        "only": options["only"],
    }
    return Asked(source, **{**said, **changes})
