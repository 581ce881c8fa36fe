"""Penn Treebank brackets: trees over one or more lines, any number in a file.

The notation is that of :mod:`kernelwood.structures.brackets`. In files a tree may stand in an outer
bracket without a label, ``( (S ...) )``, which is not part of the tree and is removed.

After a broken tree reading continues at the next line that begins with ``(`` in column 1. A missing
closing bracket is found only at the end of the file, so the lines of an unfinished tree are kept
until then, as far as the memory limit allows; the next tree is taken to begin at the first such
line after its beginning.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise, repeat
from operator import attrgetter
from typing import IO

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.atomic import write_text
from kernelwood.io.selection import view_to_write, write_each
from kernelwood.io.source import Item, Line, Source
from kernelwood.structures import Tree, iter_brackets, strip_empty_root
from kernelwood.text import Example

_TREE_START = re.compile(r"\s*\(")
_GRAPH_START = re.compile(r"\s*\(\s*[^\s()]+\s*/\s")  # PENMAN begins with a bracket as well

_BLANKS = " \t\n\r\f\v"  # those of the notation

_Found = tuple[int, Tree] | ReadError


def looks_like_penn(head: str) -> bool:
    """Return whether a file that begins with ``head`` may hold Penn brackets.

    Examples
    --------
    >>> looks_like_penn("( (S (NP we)))"), looks_like_penn("(w / want-01)")
    (True, False)
    """
    return bool(_TREE_START.match(head)) and not _GRAPH_START.match(head)


def read_penn(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example with the view ``"tree"`` for each tree.

    The id is the stem of the file and the number of the tree, broken ones counted; the origin is
    the line on which the tree begins.
    """
    wanted = views is None or "tree" in views
    for number, item in enumerate(_items(source), start=1):
        if isinstance(item, ReadError):
            yield item
            continue
        line, tree = item
        made = {"tree": strip_empty_root(tree)} if wanted else {}
        yield Example._trusted(f"{source.stem}:{number}", None, made, source.origin(line))


def _items(source: Source) -> Iterator[_Found]:
    lines = source.lines()
    first = next(lines, None)
    while first is not None:
        recent: list[Line] = []  # begins between two trees, so that it can be read again
        last = 0  # the line on which the last tree ended
        texts = _recorded(chain([first], lines), recent)
        try:
            memory = source.meter.limits.memory
            for start, tree in iter_brackets(texts, first_line=first.number, memory=memory):
                yield start, tree
                if last < start:
                    del recent[: bisect_left(recent, start, key=attrgetter("number"))]
                last = recent[-1].number
            return
        except StructureError as failure:
            if isinstance(failure, ReadError) and (not recent or failure is not recent[-1].problem):
                raise  # the stream is damaged and cannot be read further
            problem = _located(source, failure)
        yield from _reread(source, recent, last, problem)
        first = next((line for line in lines if line.text.startswith("(")), None)


def _reread(source: Source, recent: list[Line], last: int, problem: ReadError) -> Iterator[_Found]:
    """Read lines again, with a new tree at each line that begins with a bracket.

    Trees that end before or on line ``last`` were delivered before.
    """
    starts = [
        index
        for index, line in enumerate(recent)
        if index and line.number > last and line.text.startswith("(")
    ]
    if not starts:
        yield problem
        return
    for begin, end in pairwise([0, *starts, len(recent)]):
        part = recent[begin:end]
        try:
            memory = source.meter.limits.memory
            for item in iter_brackets(_with_gaps(part), first_line=part[0].number, memory=memory):
                if begin:
                    yield item
        except StructureError as failure:
            yield _located(source, failure)


def _located(source: Source, failure: StructureError) -> ReadError:
    return failure if isinstance(failure, ReadError) else source.locate(failure, None)


def _recorded(lines: Iterable[Line], record: list[Line]) -> Iterator[str]:
    """Yield the text of ``lines`` and record those that are not blank; raise at a bad line."""
    for line in lines:
        if line.problem is not None:
            record.append(line)
            raise line.problem
        if line.text.strip(_BLANKS):
            record.append(line)
        yield line.text


def _with_gaps(lines: Iterable[Line]) -> Iterator[str]:
    """Yield recorded lines with the blank lines that were between them."""
    expected = None
    for line in lines:
        if expected is not None:
            yield from repeat("", line.number - expected)
        if line.problem is not None:
            raise line.problem
        yield line.text
        expected = line.number + 1


def penn_text(examples: Iterable[Example], *, view: str = "tree") -> Iterator[str]:
    """Yield one line of brackets for each example; ids and labels are not written."""
    return write_each(examples, lambda example: _line(example, view), unique_ids=False)


def _line(example: Example, view: str) -> str:
    tree = view_to_write(example, view, Tree)
    text = tree.to_brackets()
    # The reader removes one empty outer bracket, so a tree that has its own needs another.
    return f"( {text})\n" if strip_empty_root(tree) is not tree else f"{text}\n"


def write_penn(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    view: str = "tree",
) -> None:
    r"""Write one view of each example as Penn brackets, one line per tree.

    Parameters
    ----------
    examples : iterable of Example
        Each has a tree in ``view``.
    path : str, PathLike or text stream
        Replaced only when everything is written; see :func:`kernelwood.io.write`.
    view : str
        Name of the tree.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> write_penn([Example("a", views={"tree": Tree("NP", [Tree("we")])})], out)
    >>> out.getvalue()
    '(NP we)\n'
    """
    write_text(path, penn_text(examples, view=view))
