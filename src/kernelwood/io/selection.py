"""Shared parts of writers and readers: the choice of views, and errors about them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TypeVar, overload

from kernelwood.errors import StructureError
from kernelwood.io.ids import UsedIds
from kernelwood.structures import shorten
from kernelwood.text import Document, Example, Sentence, View

T = TypeVar("T")
V = TypeVar("V")
W = TypeVar("W")


def write_each(
    examples: Iterable[Example], write: Callable[[Example], T], *, unique_ids: bool = True
) -> Iterator[T]:
    """Yield the result of ``write`` for each example; its errors get the id of the example.

    Parameters
    ----------
    examples : iterable of Example
        The examples to write.
    write : callable
        Raises ``StructureError`` if an example cannot be written.
    unique_ids : bool
        Whether a repeated id is an error, as it is for readers of formats that hold ids.

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
            before = used.add(example.id, number) if unique_ids else None
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


def annotated_to_write(example: Example, view: str | None) -> Document | Sentence:
    """Return the view to write in a format of annotated text.

    Without a name it is "document", else "sentence", else the only document or sentence.
    """
    if view is not None:
        return view_to_write(example, view, Document, Sentence)
    fitting = {
        name: made for name, made in example.views.items() if isinstance(made, (Document, Sentence))
    }
    for name in ("document", "sentence", *(fitting if len(fitting) == 1 else ())):
        if name in fitting:
            return fitting[name]
    raise StructureError(
        f"it has {len(fitting)} views that are documents or sentences",
        hint=f"say which with view=...: {', '.join(fitting)}"
        if fitting
        else "annotated text needs a document or a sentence",
    )


def view_names(views: Iterable[str] | str | None) -> tuple[str, ...] | None:
    """Return the argument ``views`` of readers and writers as a tuple; None means all views."""
    return (views,) if isinstance(views, str) else None if views is None else tuple(views)


def check_wanted(wanted: Iterable[str] | None, known: Collection[str], owner: str) -> None:
    """Raise ``StructureError`` if one of the wanted views is not known.

    Examples
    --------
    >>> check_wanted(["tre"], ["tree", "text"], "the line")
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: there is no view 'tre'
        did you mean 'tree'? the line has tree, text
    """
    for name in wanted or ():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            guess = f"did you mean {near[0]!r}? " if near else ""
            raise StructureError(
                f"there is no view {name!r}",
                hint=f"{guess}{owner} has {shorten(', '.join(known), 200) or 'no views'}",
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
