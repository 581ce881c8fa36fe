"""Kernels on the command line: the one that is asked for, or one that suits the structures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import click

from kernelwood.errors import KernelInputError

if TYPE_CHECKING:
    from kernelwood import Kernel
    from kernelwood.arrays import Batch

__all__ = [
    "COMPARING",
    "GATED",
    "SOFT",
    "KernelChoice",
    "build_kernel",
    "learned_values",
    "load_kernel",
    "plain_value",
]

# Kernels, those with gates, and similarities of words; the names are those of the library.
GATED = ("subsequence", "rooted-tree", "subtree", "subset-tree", "partial-tree")
COMPARING = (*GATED, "forest")
SOFT = ("gaussian", "sigmoid", "exponential", "lexical", "compositional")
_DEFAULTS = {"sequence": "subsequence", "tree": "partial-tree", "forest": "forest"}


@dataclass(frozen=True)
class KernelChoice:
    """What the options say of the kernel; None stands for what suits the structures."""

    kernel: str | None = None
    decay: float | None = None
    gate_on: str | None = None
    vectors: str | None = None
    similarity: str | None = None


def build_kernel(
    choice: KernelChoice, views: Mapping[str, Batch], *, gates: bool = False
) -> Kernel:
    """Return a kernel over examples: one for each view, and their sum.

    Parameters
    ----------
    choice : KernelChoice
    views : mapping of str to batch
        What is compared.
    gates : bool
        Whether labels are to have gates, which not all kernels know.

    Examples
    --------
    >>> import kernelwood as kw
    >>> paths = kw.batch([kw.Sequence([("", "ENTITY1"), ("nsubj", "binds")])])
    >>> build_kernel(KernelChoice(decay=0.5), {"path": paths})
    OnView('path', SubsequenceKernel(decay=0.5))
    """
    from kernelwood import OnView

    given: dict[str, Any] = {} if choice.decay is None else {"decay": choice.decay}
    if gates:
        given["gate_on"] = choice.gate_on or _gated_field(views)
    if choice.vectors is not None:
        given["similarity"] = _similarity(choice)
    elif choice.similarity is not None:
        raise click.UsageError("--similarity compares word vectors; name their file with --vectors")
    return reduce(
        add, [OnView(name, _kernel(choice, name, batch, given)) for name, batch in views.items()]
    )


def _kernel(choice: KernelChoice, view: str, batch: Batch, given: dict[str, Any]) -> Kernel:
    from kernelwood.kernels import KERNELS

    name = choice.kernel or _DEFAULTS[batch.kind]
    kind: Any = KERNELS[name]
    if "gate_on" in given and name not in GATED:
        raise KernelInputError(
            f"the view {view!r} holds {batch.kind}s, whose kernel has no gates; compare sequences "
            "or trees"
        )
    if kind.accepts.kind != batch.kind:
        raise click.UsageError(
            f"--kernel {name} compares {kind.accepts.kind}s, but the view {view!r} holds "
            f"{batch.kind}s"
        )
    if "similarity" in given and name not in GATED:
        raise click.UsageError(
            f"the kernel {name} of the view {view!r} matches labels exactly; leave out --vectors"
        )
    kernel: Kernel = kind(**given)
    return kernel


def load_kernel(path: str) -> Kernel:
    """Return the kernel in a file, such as learn-gates writes.

    Raises
    ------
    KernelInputError
        If something else is in the file.
    """
    from kernelwood import Kernel, load

    found = load(path)
    if not isinstance(found, Kernel):
        raise KernelInputError(f"{path} holds a {type(found).__name__}, which is no kernel")
    return found


def _gated_field(views: Mapping[str, Batch]) -> str:
    """Return where gates can do something: at edges, if any has a label, or else at nodes."""
    return "edge" if any(_has_edge_labels(batch) for batch in views.values()) else "node"


def _has_edge_labels(batch: Batch) -> bool:
    import numpy as np

    edges = batch.arrays[1][batch.parts[0].window]
    return any(batch.vocabulary.labels(np.unique(edges)))


def _similarity(choice: KernelChoice) -> Any:
    from kernelwood import Vectors
    from kernelwood.similarity import SIMILARITIES

    kind: Any = SIMILARITIES[choice.similarity or "gaussian"]
    return kind(Vectors.load(str(choice.vectors)))


def learned_values(asked: tuple[str, ...], kernel: Kernel) -> dict[str, list[Any]]:
    """Return the parameters of a kernel to learn, given as ``NAME=VALUE,VALUE``.

    A name may leave out what leads to the only kernel inside that has it.

    Examples
    --------
    >>> import kernelwood as kw
    >>> learned_values(("decay=0.4,0.8",), kw.OnView("path", kw.SubsequenceKernel()))
    {'kernel__decay': [0.4, 0.8]}
    """
    known = kernel.get_params(deep=True)
    values = {}
    for text in asked:
        name, _, listed = text.partition("=")
        found = [key for key in known if key == name or key.endswith(f"__{name}")]
        if len(found) != 1 or not listed:
            numbers = [key for key, v in known.items() if isinstance(v, (bool, int, float))]
            raise click.UsageError(
                f"--learn takes NAME=VALUE,VALUE,... with one of {', '.join(numbers)}; got {text!r}"
            )
        values[found[0]] = [plain_value(part) for part in listed.split(",")]
    return values


def plain_value(text: str) -> Any:
    """Return a number or a word, as it is written."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    words = {"true": True, "false": False, "none": None}
    return words.get(text.lower(), text)
