"""JSON lines: one example per line, with views of every kind.

::

    {"id": "s1", "label": "LOC", "views": {"tree": {"tree": "(S (NP we) (VP go))"}, "text": "we"}}

=============================  ================  ============================================
written                        view              body
=============================  ================  ============================================
``{"tree": "…"}``              Tree              see `kernelwood.structures.structure_json`
``{"sequence": […]}``          Sequence          see `kernelwood.structures.structure_json`
``{"graph": {…}}``             Graph             see `kernelwood.structures.structure_json`
``{"forest": {…}}``            Forest            see `kernelwood.structures.structure_json`
``{"sentence": {…}}``          Sentence          see `kernelwood.text.sentence_json`
``{"document": {…}}``          Document          see `kernelwood.text.sentence_json`
``{"vector": {…}}``            dict              a number for each name
``[…]``                        tuple of float    numbers
``"…"``                        str               the text itself
=============================  ================  ============================================

The id of a line without ``id`` is the stem of the file and the number of the line; ids must not
repeat. A label is a string, a number, or a list of these and of ``[name, number]`` pairs.
A line that is itself a forest is an example with that forest as its only view, ``"forest"``.

The origin of an example is written as ``"origin": {"path": …, "line": …, "start": …, "end": …}``,
unknown parts left out. The origin of a line without ``origin`` is its place in this file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from math import isfinite
from numbers import Integral, Real
from typing import IO, Any, cast

from kernelwood.errors import StructureError
from kernelwood.io.atomic import write_text
from kernelwood.io.formats.json_arrays import first_object
from kernelwood.io.lines import read_lines
from kernelwood.io.selection import check_wanted, view_names, write_each
from kernelwood.io.source import Item, Source
from kernelwood.structures import (
    Forest,
    Graph,
    Sequence,
    Tree,
    check_object,
    decode_json,
    describe,
    encode_json,
    forest_from_object,
    forest_object,
    graph_from_object,
    graph_object,
    sequence_from_object,
    sequence_object,
    shorten,
    tree_from_object,
)
from kernelwood.text import (
    Document,
    Example,
    Label,
    Origin,
    Sentence,
    View,
    document_from_object,
    document_object,
    sentence_from_object,
    sentence_object,
)

# One of these keys marks a line that is a forest, not an example.
_BARE = ("labels", "edges")


def looks_like_jsonl(head: str) -> bool:
    """Return whether a file that begins with ``head`` may hold JSON lines.

    Examples
    --------
    >>> looks_like_jsonl(' {"id": "s1", "views": {}}'), looks_like_jsonl('{"text": "Raf"}')
    (True, False)
    """
    keys = first_object(head).keys()
    return head.lstrip().startswith("{") and ("views" in keys or keys >= {*_BARE})


def read_jsonl(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example for each line that is not blank.

    With ``views`` only those are built, and a line that lacks one of them is an error.
    """

    def parse(number: int, text: str) -> Example:
        value = decode_line(text)
        if isinstance(value, dict) and "views" not in value and not value.keys().isdisjoint(_BARE):
            value = {"views": {"forest": {"forest": value}}}
        line = check_object(value, "the example", ("views",), ("id", "label", "origin"))
        name = line.get("id", f"{source.stem}:{number}")
        if not isinstance(name, str):
            raise StructureError(
                f"'id' must be a string, got {describe(name)}", hint="put it in quotes"
            )
        return Example(
            name,
            label=_read_label(line.get("label")),
            views=_read_views(check_object(line["views"], "'views'", optional=None), views),
            origin=_read_origin(line["origin"]) if "origin" in line else source.origin(number),
        )

    return read_lines(source, parse)


def decode_line(text: str) -> object:
    """Return the JSON value of a line; errors say that a line is one object."""
    try:
        return decode_json(text)
    except StructureError as failure:
        raise StructureError(
            failure.problem,
            column=failure.column,
            hint=failure.hint or "every line is one complete JSON object",
        ) from failure


def _read_origin(value: object) -> Origin:
    known = check_object(value, "'origin'", ("path",), ("line", "start", "end"))
    return _check_origin(Origin(**known))


def _check_origin(origin: Origin) -> Origin:
    if not isinstance(origin.path, str):
        raise StructureError(f"the path of an origin must be a string, got {describe(origin.path)}")
    for name, least in (("line", 1), ("start", 0), ("end", 0)):
        number = getattr(origin, name)
        if number is not None and (type(number) is not int or number < least):
            raise StructureError(
                f"the {name} of an origin must be a whole number from {least}, "
                f"got {describe(number)}"
            )
    return origin


def _read_label(value: object) -> Label:
    if value is None:
        return None
    if isinstance(value, list):
        return cast(Label, tuple(_read_member(member) for member in value))
    return _read_simple_label(value)


def _read_member(value: object) -> str | float | tuple[str, float]:
    match value:
        case [str(name), int() | float() as number]:
            return name, cast(float, _read_simple_label(number))
    return _read_simple_label(value)


def _read_simple_label(value: object) -> str | float:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value):
        raise StructureError(
            f"a label cannot be {describe(value)}",
            hint="write a string, a finite number, or a list of these",
        )
    return value


def _is_finite(value: float) -> bool:
    return isinstance(value, int) or isfinite(value)


def _read_views(written: dict[str, Any], wanted: tuple[str, ...] | None) -> dict[str, View]:
    check_wanted(wanted, written, "the line")
    views: dict[str, View] = {}
    for name in written if wanted is None else dict.fromkeys(wanted):
        try:
            views[name] = _read_view(written[name])
        except StructureError as failure:
            # Line and column, if any, refer to a string within the line and are dropped.
            raise StructureError(
                f"view {shorten(repr(name))}: {failure.problem}", hint=failure.hint
            ) from failure
        except RecursionError:  # in a message that shows hundreds of nested lists
            raise StructureError(
                f"view {shorten(repr(name))}: lists or objects are nested too deeply"
            ) from None
    return views


def _read_view(value: object) -> View:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return tuple(
            [
                number if _is_clean(number) else _read_number(number, f"component {place}")
                for place, number in enumerate(value)
            ]
        )
    if isinstance(value, dict) and len(value) == 1:
        [(kind, body)] = value.items()
        if kind in _VIEW_READERS:
            return _VIEW_READERS[kind](body)
        found = f"an object with the key {shorten(repr(kind))}"
    else:
        found = f"an object with {len(value)} keys" if isinstance(value, dict) else describe(value)
    raise StructureError(
        f"expected a string, a list of numbers, or an object with one key, got {found}",
        hint=f"the key is the kind: {', '.join(_VIEW_READERS)}",
    )


def _read_vector(body: object) -> dict[str, float]:
    features = check_object(body, "a vector with names", optional=None)
    return {
        name: number
        if _is_clean(number)
        else _read_number(number, f"the value of {shorten(repr(name))}")
        for name, number in features.items()
    }


def _is_clean(value: object) -> bool:
    """Return whether a number needs no conversion, the usual case."""
    return type(value) is float and isfinite(value)


def _read_number(value: object, what: str) -> float:
    if type(value) is float or type(value) is int:
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if isfinite(number):
            return number
    raise StructureError(f"{what} must be a finite number, got {describe(value)}")


_VIEW_READERS: dict[str, Callable[[object], View]] = {
    "tree": tree_from_object,
    "forest": forest_from_object,
    "sequence": sequence_from_object,
    "graph": graph_from_object,
    "sentence": sentence_from_object,
    "document": document_from_object,
    "vector": _read_vector,
}


def jsonl_text(examples: Iterable[Example], *, views: Iterable[str] | None = None) -> Iterator[str]:
    r"""Yield one line for each example.

    Examples
    --------
    >>> "".join(jsonl_text([Example("a", "LOC", {"tree": Tree("A", [Tree("B")])})]))
    '{"id":"a","label":"LOC","views":{"tree":{"tree":"(A B)"}}}\n'
    """
    wanted = view_names(views)
    return write_each(examples, lambda example: _line(example, wanted))


def _line(example: Example, wanted: tuple[str, ...] | None) -> str:
    names = example.views if wanted is None else wanted
    line: dict[str, object] = {"id": example.id}
    if example.label is not None:
        line["label"] = _label_value(example.label)
    line["views"] = {name: _view_value(example.view(name)) for name in names}
    if example.origin is not None:
        line["origin"] = _origin_value(example.origin)
    return f"{encode_json(line)}\n"


def _origin_value(origin: Origin) -> dict[str, object]:
    _check_origin(origin)
    parts = {name: getattr(origin, name) for name in ("path", "line", "start", "end")}
    return {name: part for name, part in parts.items() if part is not None}


def _label_value(label: object) -> object:
    if isinstance(label, tuple):
        return [_member_value(member) for member in label]
    return _simple_label_value(label)


def _member_value(member: object) -> object:
    match member:
        case (str(name), number) if isinstance(member, tuple) and not isinstance(number, str):
            return [name, _simple_label_value(number)]
    return _simple_label_value(member)


def _simple_label_value(label: object) -> str | float:
    if isinstance(label, str):
        return label
    if isinstance(label, Real) and not isinstance(label, bool):
        return int(label) if isinstance(label, Integral) else _exact_float(label)
    raise StructureError(
        f"label {shorten(repr(label))} is neither string, number nor a tuple of these",
        hint="rewrite the label",
    )


def _view_value(view: View) -> object:
    match view:
        case Tree():
            return {"tree": view.to_brackets()}
        case Forest():
            return {"forest": forest_object(view)}
        case Sequence():
            return {"sequence": sequence_object(view)}
        case Graph():
            return {"graph": graph_object(view)}
        case Sentence():
            return {"sentence": sentence_object(view)}
        case Document():
            return {"document": document_object(view)}
        case str():
            return view
        case tuple():
            return [_exact_float(number) for number in view]
    return {"vector": {name: _exact_float(number) for name, number in view.items()}}


def _exact_float(value: Real | float) -> float:
    if type(value) is float and isfinite(value):
        return value
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not isfinite(number) or number != value:
        raise StructureError(
            f"{shorten(repr(value))} is not a finite number of double precision",
            hint="round it first, or leave it out",
        )
    return number


def write_jsonl(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    views: Iterable[str] | None = None,
) -> None:
    r"""Write examples as JSON lines; reading them gives equal examples, origins included.

    Parameters
    ----------
    examples : iterable of Example
        Views may be of any kind; ids must not repeat.
    path : str, PathLike or text stream
        Replaced only when everything is written; see :func:`kernelwood.io.write`.
    views : iterable of str, optional
        Write these views only.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> write_jsonl([Example("a", views={"words": Sequence(["how", "many"])})], out)
    >>> out.getvalue()
    '{"id":"a","views":{"words":{"sequence":["how","many"]}}}\n'
    """
    write_text(path, jsonl_text(examples, views=views))
