"""What the writers of all formats have in common: choosing a view, and saying which one is bad."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar, overload

from kernelwood.errors import StructureError
from kernelwood.io.ids import UsedIds
from kernelwood.structures import shorten
from kernelwood.text import Example, View

__all__ = ["list_views", "view_to_write", "write_each"]

T = TypeVar("T")
V = TypeVar("V")
W = TypeVar("W")


def write_each(examples: Iterable[Example], write: Callable[[Example], T]) -> Iterator[T]:
    """Yield what ``write`` makes of each example; what it refuses is named by its id.

    For formats that hold ids: readers refuse a file in which one comes twice.

    Examples
    --------
    >>> from kernelwood.structures import Tree
    >>> next(write_each([Example("a")], lambda example: view_to_write(example, "t", Tree)))
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: example 'a' cannot be written: it has no tree in view 't'
        it has no views; choose one with view=...
    """
    used = UsedIds()
    for number, example in enumerate(examples, start=1):
        try:
            before = used.add(example.id, number)
            if before is not None:
                raise StructureError(
                    f"its id was used before, by example number {before}",
                    hint="give every example an id of its own",
                )
            made = write(example)
        except StructureError as failure:
            raise StructureError(
                f"example {shorten(repr(example.id))} cannot be written: {failure.problem}",
                hint=failure.hint,
            ) from failure
        yield made


@overload
def view_to_write(example: Example, name: str, kind: type[V], /) -> V: ...
@overload
def view_to_write(example: Example, name: str, kind: type[V], other: type[W], /) -> V | W: ...
def view_to_write(example: Example, name: str, *kinds: type[object]) -> object:
    """Return the view of that name, which must be of one of these kinds."""
    found = example.views.get(name)
    if isinstance(found, kinds):
        return found
    wanted = " or ".join(kind.__name__.lower() for kind in kinds)
    raise StructureError(
        f"it has no {wanted} in view {name!r}",
        hint=f"it has {list_views(example)}; choose one with view=...",
    )


def list_views(example: Example) -> str:
    """Return the names and kinds of the views of an example, for messages.

    Examples
    --------
    >>> list_views(Example("a", views={"text": "we go", "counts": (2.0, 5.0)}))
    'text (text), counts (vector)'
    """
    listed = ", ".join(f"{name} ({_kind(view)})" for name, view in example.views.items())
    return listed or "no views"


def _kind(view: View) -> str:
    if isinstance(view, str):
        return "text"
    return "vector" if isinstance(view, (tuple, Mapping)) else type(view).__name__
