from __future__ import annotations

from kernelwood.arrays import ExampleBatch
from kernelwood.kernels.base import Kernel
from kernelwood.kernels.combined import CombinedKernel, OnView

__all__ = ["keep_views", "needed_views"]


def needed_views(kernel: Kernel) -> tuple[str, ...] | None:
    """Return the names of the views of examples that a kernel reads.

    Parameters
    ----------
    kernel : Kernel
        However deeply combined.

    Returns
    -------
    tuple of str or None
        In the order in which they first appear; empty for a kernel over plain structures. None if
        a kernel inside compares whole examples in a way of its own, which may read any view.

    Examples
    --------
    >>> import kernelwood as kw
    >>> words = kw.OnView("words", kw.SubsequenceKernel())
    >>> needed_views(words + 0.5 * kw.OnView("tree", kw.SubsetTreeKernel()) * words)
    ('words', 'tree')
    """
    names: dict[str, None] = {}
    waiting = [kernel]
    seen: set[int] = set()  # k + k has one kernel inside, however often that is repeated
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, OnView):
            names[current.name] = None
        elif isinstance(current, CombinedKernel):
            waiting.extend(reversed(current._parts()))
        elif current._accepts() is ExampleBatch:
            return None
    return tuple(names)


def keep_views(examples: ExampleBatch, kernel: Kernel) -> ExampleBatch:
    """Return examples with those views only that a kernel reads, for an estimator to keep.

    Views that are batched already stay so.

    Examples
    --------
    >>> import kernelwood as kw
    >>> views = {"words": kw.Sequence(["we", "go"]), "text": "We go."}
    >>> examples = kw.batch([kw.Example("1", views=views)])
    >>> keep_views(examples, kw.OnView("words", kw.SubsequenceKernel()))
    ExampleBatch(1 examples, views words)
    """
    names = needed_views(kernel)
    return examples if names is None else examples.only(names)
