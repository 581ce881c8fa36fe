"""Graphs in PENMAN notation, decoded by the ``penman`` package."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

from kernelwood.errors import StructureError

if TYPE_CHECKING:
    from kernelwood.structures.graph import Edge, NodeId

__all__ = ["read_penman"]

# Without any handler, Python would print what penman logs.
logging.getLogger("penman").addHandler(logging.NullHandler())

_MAX_NESTING = 500
_TOKEN = re.compile(
    r"(?P<comment>\#[^\n]*)"
    r'|(?P<atom>"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"()/:~]+)'
    r"|(?P<role>:[^\s\"()/:~]*)"
    r"|(?P<alignment>~[^\s()]*)"
    r"|(?P<open>\()|(?P<close>\))|(?P<slash>/)"
    r'|(?P<quote>")'
)


def read_penman(text: str) -> tuple[dict[NodeId, str], list[Edge], NodeId | None]:
    """Return nodes, edges and root of the one graph in a text.

    Examples
    --------
    >>> read_penman("(d / dog :ARG0-of (b / bark-01))")
    ({'d': 'dog', 'b': 'bark-01'}, [('b', 'ARG0', 'd')], 'd')
    """
    import penman
    from penman.models import amr

    if not isinstance(text, str):
        raise StructureError(f"expected PENMAN text, got {type(text).__name__}")
    _check_layout(text)
    try:
        decoded = penman.decode(text, model=amr.model)
    except penman.DecodeError as error:
        raise StructureError(
            f"not PENMAN notation: {error.message}",
            line=error.lineno,
            column=None if error.offset is None else error.offset + 1,
            snippet=error.text,
        ) from None
    except (penman.PenmanError, RecursionError) as error:
        raise StructureError(f"cannot read the graph: {error}") from None
    return _translate(decoded.triples, decoded.top)


def _check_layout(text: str) -> None:
    """Refuse what ``penman`` would repair, skip, or fail on by recursing."""
    opened: list[int] = []
    previous, finished = "", False
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind in {"comment", "alignment"}:
            continue
        if finished:
            _fail("text after the graph", text, match.start(), "read one graph at a time")
        if kind == "quote":
            _fail("string opened here is never closed", text, match.start(), "fix the quote")
        if previous == "slash" and kind != "atom":
            _fail("a concept is missing here", text, match.start(), "write (id / concept)")
        if previous == "role" and kind in {"role", "close"}:
            _fail("the role before this has no target", text, match.start(), "add or remove it")
        if kind == "open":
            opened.append(match.start())
            if len(opened) > _MAX_NESTING:
                hint = f"at most {_MAX_NESTING} brackets can be open at a time"
                _fail("graph is nested too deeply", text, match.start(), hint)
        elif kind == "close":
            if not opened:
                _fail('unexpected ")"', text, match.start(), "remove it")
            if previous == "open":
                _fail("node without an id", text, opened[-1], "write (id / concept)")
            opened.pop()
            finished = not opened
        previous = kind
    if opened:
        _fail("bracket is never closed", text, opened[-1], f"add {')' * min(len(opened), 20)}")
    if not finished:
        raise StructureError("no graph in the text", line=1, hint="a graph looks like (d / dog)")


def _fail(problem: str, text: str, position: int, hint: str) -> NoReturn:
    start = text.rfind("\n", 0, position) + 1
    raise StructureError(
        problem,
        line=text.count("\n", 0, position) + 1,
        column=position - start + 1,
        snippet=text[start:].partition("\n")[0].rstrip("\r"),
        hint=hint,
    )


def _translate(
    triples: Iterable[tuple[str, str, str | None]], top: str | None
) -> tuple[dict[NodeId, str], list[Edge], NodeId | None]:
    triples = list(triples)
    nodes: dict[NodeId, str] = {}
    for variable, role, concept in triples:
        if role != ":instance":
            continue
        label = _plain(concept)
        if nodes.setdefault(variable, label) != label:
            raise StructureError(
                f"node {variable!r} has two concepts, {nodes[variable]!r} and {label!r}",
                hint="give one of them a new id",
            )
    variables = frozenset(nodes)
    edges: list[Edge] = []
    for source, role, target in triples:
        if role == ":instance":
            continue
        end: NodeId = target or ""
        if end not in variables:
            end = _fresh_id(f"{source}.{role[1:]}", nodes)
            nodes[end] = _plain(target)
        edges.append((source, role[1:], end))
    return nodes, edges, top


def _fresh_id(wish: str, taken: dict[NodeId, str]) -> str:
    name, number = wish, 1
    while name in taken:
        number += 1
        name = f"{wish}.{number}"
    return name


def _plain(constant: str | None) -> str:
    """Return a concept or constant without its quotes."""
    if constant is None or not constant.startswith('"'):
        return constant or ""
    try:
        return str(json.loads(constant))
    except json.JSONDecodeError:  # an escape JSON does not know: keep what stands there
        return constant[1:-1]
