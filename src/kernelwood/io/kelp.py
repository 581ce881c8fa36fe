"""The line format of KeLP: one example a line, with named representations.

::

    label label ... |BT:name| (A(B)(C)) |ET| |BS:text| any words |ES| ...

====  ===============  =============================================================
type  view             body
====  ===============  =============================================================
T     Tree             ``(SYNT##root(POS##VB(LEX##go::v)))`` or ``(VP (VB go))``
SQ    Sequence         ``(the)(cat)(sleeps)``
G     Graph            ``1 cat&&2 the%%1 2``: nodes, then edges from node to node
S     str              raw text; one blank on each side belongs to the notation
V     dict             sparse vector ``word:1.0 other:0.5``
DV    tuple of float   dense vector ``0.1 0.2 0.3``
====  ===============  =============================================================

A representation without a name is named by its index, ``"0"``, ``"1"``, .... A pair of examples,
``label |<| example |,| example |>|``, becomes one example whose views are called ``left.name`` and
``right.name``; the labels of its two sides, if any, are the texts ``left.label`` and
``right.label``.

The label of an example is None without labels, a string for one label, a ``(name, value)`` pair
for one numeric label such as ``score:1.5``, and a tuple of such strings and pairs for several.
Node labels are kept as they are written, kinds (``LEX##``) included.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import IO, cast

from kernelwood.io.atomic import write_text
from kernelwood.io.kelp_bodies import BODY_PARSERS, BodyError, LeafCache, parse_number
from kernelwood.io.kelp_lines import scan_line
from kernelwood.io.kelp_writer import kelp_text
from kernelwood.io.source import Item, Source
from kernelwood.structures import shorten
from kernelwood.text import Example, Label, View

__all__ = ["kelp_text", "looks_like_kelp", "read_kelp", "write_kelp"]

_LABEL = re.compile(r"[^ \t]+")
_SIGNATURE = re.compile(r"[^\n]*?(?:\|B[A-Z]+(?::[^|\n]*)?\||\|<\|)")

_Label = str | tuple[str, float]


def looks_like_kelp(head: str) -> bool:
    """Say whether a file that begins with ``head`` may be in KeLP format.

    Examples
    --------
    >>> looks_like_kelp("NUM |BT:grct| (A(B)) |ET|"), looks_like_kelp("(S (NP we))")
    (True, False)
    """
    return bool(_SIGNATURE.match(head.lstrip()))


def read_kelp(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example for each line that is not blank.

    The identifier is the stem of the file and the number of the line. With ``views`` only those
    are parsed, and a line that lacks one of them is an error.
    """
    leaves: LeafCache = {}
    for number, text, problem in source.lines():
        if problem is not None:
            yield problem
        elif text.strip(" \t"):
            try:
                example = _parse_line(source, number, text, views, leaves)
            except BodyError as failure:
                yield source.error(
                    failure.problem,
                    line=number,
                    column=failure.index + 1,
                    snippet=text,
                    hint=failure.hint,
                )
            else:
                yield example


def _parse_line(
    source: Source, number: int, text: str, wanted: tuple[str, ...] | None, leaves: LeafCache
) -> Example:
    labels, parts = scan_line(text)
    views: dict[str, View] = {
        name: BODY_PARSERS[part.kind](text, part.start, part.end, leaves)
        for name, part in parts.items()
        if wanted is None or name in wanted
    }
    own = _LABEL.findall(labels.pop(""))
    for side, written in labels.items():
        name = f"{side}label"
        if written.strip(" \t") and (wanted is None or name in wanted):
            if name in parts:
                raise BodyError(
                    f"{shorten(name)} is both a label and a representation",
                    parts[name].header,
                    "give the representation another name",
                )
            views[name] = " ".join(_LABEL.findall(written))
    for name in wanted or ():
        if name not in views:
            near = get_close_matches(name, parts, n=1)
            guess = f"did you mean {near[0]!r}? " if near else ""
            raise BodyError(
                f"there is no view {name!r}",
                0,
                f"{guess}the line has {shorten(', '.join(parts), 200)}",
            )
    return Example(
        f"{source.stem}:{number}",
        label=_join_labels([_parse_label(written) for written in own]),
        views=views,
        origin=source.origin(number),
    )


def _parse_label(written: str) -> _Label:
    name, _, number = written.rpartition(":")
    value = parse_number(number)
    return written if value is None or not name else (name, value)


def _join_labels(labels: list[_Label]) -> Label:
    if len(labels) > 1:
        return cast(Label, tuple(labels))
    return labels[0] if labels else None


def write_kelp(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    views: Iterable[str] | None = None,
) -> None:
    r"""Write examples as KeLP lines; reading them gives the same labels and views.

    Parameters
    ----------
    examples : iterable of Example
        What the format cannot hold (a node label with a blank or a bracket, edge labels) is an
        error and not changed silently; identifiers and origins are left out.
    path : str, PathLike or text stream
        Replaced only when everything is written; see :func:`kernelwood.io.write`.
    views : iterable of str, optional
        Write these views only.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> write_kelp([Example("a", "NUM", {"text": "how many"})], out)
    >>> out.getvalue()
    'NUM |BS:text| how many |ES|\n'
    """
    write_text(path, kelp_text(examples, views=views))
