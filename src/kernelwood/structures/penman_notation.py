"""Graphs in PENMAN notation, parsed by the ``penman`` package.

`parse_penman` reads one graph with its alignments; what it means is settled here, without
recursion, and equals what ``penman`` makes of it for AMR. Writing is in
`kernelwood.structures.penman_writing`.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from kernelwood.errors import StructureError
from kernelwood.structures.labels import shorten

if TYPE_CHECKING:
    from kernelwood.structures.graph import Edge, NodeId

__all__ = ["MAX_NESTING", "FreshIds", "PenmanGraph", "is_inverted", "parse_penman", "read_penman"]

# Without any handler, Python would print what penman logs.
logging.getLogger("penman").addHandler(logging.NullHandler())

MAX_NESTING = 400  # penman recurses twice a level, and Python stops it near 1,000
_BLANK = r" \t\r\n\v\f"
_TOKEN = re.compile(
    r"(?P<comment>\#[^\n]*)"
    rf'|(?P<atom>"[^"\\]*(?:\\.[^"\\]*)*"|[^{_BLANK}"()/:~]+)'
    rf"|(?P<role>:[^{_BLANK}\"()/:~]*)"
    rf"|(?P<alignment>~[^{_BLANK}()]*)"
    r"|(?P<open>\()|(?P<close>\))|(?P<slash>/)"
    r'|(?P<quote>")'
)
_MAX_NAME = 250
_CONCEPT_ROLES = ("/", ":instance")
_INDEX = re.compile(r"[0-9]+")


class PenmanGraph(NamedTuple):
    """Nodes, edges and root of a graph, and which tokens its nodes are aligned to.

    Attributes
    ----------
    nodes : dict
        Label of each id.
    edges : list of (source, label, target)
        Inverted roles are turned around.
    root : str
        The outermost node.
    alignments : dict
        Token indices, in order, of each node or constant that has any; those of a node mentioned
        several times are put together.
    n_aligned_roles : int
        How many roles have an alignment; these are not kept.
    """

    nodes: dict[NodeId, str]
    edges: list[Edge]
    root: NodeId | None
    alignments: dict[NodeId, tuple[int, ...]]
    n_aligned_roles: int


class _Mention(NamedTuple):
    """A role of a node, as it is written; ``opens`` if its target stands in brackets."""

    variable: str
    role: str
    target: str
    opens: bool


def read_penman(text: str) -> tuple[dict[NodeId, str], list[Edge], NodeId | None]:
    """Return nodes, edges and root of the one graph in a text.

    Examples
    --------
    >>> read_penman("(d / dog :ARG0-of (b / bark-01))")
    ({'d': 'dog', 'b': 'bark-01'}, [('b', 'ARG0', 'd')], 'd')
    """
    if not isinstance(text, str):
        raise StructureError(f"expected PENMAN text, got {type(text).__name__}")
    return parse_penman(text.split("\n"))[:3]


def parse_penman(lines: Sequence[str]) -> PenmanGraph:
    """Return the one graph in some lines, with alignments such as ``~e.3``.

    Raises
    ------
    StructureError
        If there is not exactly one well-formed graph; carries line and column.

    Examples
    --------
    >>> parse_penman(["(d / dog~e.1", "   :quant 3~e.0)"]).alignments
    {'d': (1,), 'd.quant': (0,)}
    """
    import penman

    _check_layout("\n".join(lines))
    try:
        tree = next(penman.iterparse(lines))
    except penman.DecodeError as error:
        raise StructureError(
            f"not PENMAN notation: {error.message}",
            line=error.lineno,
            column=None if error.offset is None else error.offset + 1,
            snippet=error.text,
        ) from None
    except (penman.PenmanError, RecursionError) as error:
        raise StructureError(f"cannot read the graph: {error}") from None
    return _interpret(tree.node[0], list(_mentions(tree.node)))


def _check_layout(text: str) -> None:
    """Refuse what ``penman`` would repair, skip, or fail on by recursing."""
    opened: list[int] = []
    previous, finished = "", False
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind == "comment":
            continue
        if finished:
            _fail("text after the graph", text, match.start(), "read one graph at a time")
        if not opened and kind not in {"open", "close"}:
            _fail("text before the graph", text, match.start(), "a graph looks like (d / dog)")
        if kind == "alignment":
            continue
        if kind == "quote":
            _fail(
                "string opened here is never closed",
                text,
                match.start(),
                "close it with a second quote, or remove this one",
            )
        if previous == "slash" and kind != "atom":
            _fail("a concept is missing here", text, match.start(), "write (id / concept)")
        if previous == "role" and kind in {"role", "close"}:
            _fail("the role before this has no target", text, match.start(), "add or remove it")
        if kind == "open":
            opened.append(match.start())
            if len(opened) > MAX_NESTING:
                hint = f"at most {MAX_NESTING} brackets can be open at a time"
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


def _mentions(root: Any) -> Iterator[_Mention]:
    """Yield the roles in the order in which they are written, concepts among them."""
    pending = [_opened(root)]
    while pending:
        variable, edges = pending[-1]
        for role, target in edges:
            if isinstance(target, tuple):
                yield _Mention(variable, role, target[0], True)
                pending.append(_opened(target))
                break
            yield _Mention(variable, role, target or "", False)
        else:
            pending.pop()


def _opened(node: Any) -> tuple[str, Iterator[tuple[str, Any]]]:
    variable, edges = node
    if not any(role.partition("~")[0] in _CONCEPT_ROLES for role, _ in edges):
        edges = [("/", None), *edges]
    return variable, iter(edges)


def _interpret(root: str, mentions: list[_Mention]) -> PenmanGraph:
    variables = {root} | {mention.target for mention in mentions if mention.opens}
    nodes = _concepts(mentions)
    fresh = FreshIds(nodes)
    edges: list[Edge] = []
    aligned: dict[NodeId, set[int]] = {}
    n_aligned_roles = 0
    for variable, written, target, opens in mentions:
        role, _, mark = written.partition("~")
        n_aligned_roles += bool(mark)
        atom, indices = (target, []) if opens else _split_alignment(target)
        end: NodeId = atom
        if role in _CONCEPT_ROLES:
            end = variable
        elif atom in variables:
            turned = is_inverted(role)
            edges.append((atom, role[1:-3], variable) if turned else (variable, role[1:], atom))
        else:
            end = fresh.name(_constant_name(variable, role[1:]))
            nodes[end] = _plain(atom)
            edges.append((variable, role[1:], end))
        if indices:
            aligned.setdefault(end, set()).update(indices)
    alignments = {name: tuple(sorted(indices)) for name, indices in aligned.items()}
    return PenmanGraph(nodes, edges, root, alignments, n_aligned_roles)


def _constant_name(variable: str, role: str) -> str:
    if len(variable) + len(role) > _MAX_NAME:  # or many constants of a node would fill the memory
        raise StructureError(
            f"node {shorten(repr(variable))} has a constant as {shorten(repr(role))}, and both "
            f"together are longer than {_MAX_NAME} characters",
            hint="the id of a constant is made of these; shorten the id of the node, or the role",
        )
    return f"{variable}.{role}"


def _concepts(mentions: list[_Mention]) -> dict[NodeId, str]:
    nodes: dict[NodeId, str] = {}
    for variable, role, target, _ in mentions:
        if role.partition("~")[0] not in _CONCEPT_ROLES:
            continue
        label = _plain(_split_alignment(target)[0])
        if nodes.setdefault(variable, label) != label:
            raise StructureError(
                f"node {shorten(repr(variable))} has two concepts, "
                f"{shorten(repr(nodes[variable]))} and {shorten(repr(label))}",
                hint="give one of them a new id",
            )
    return nodes


@lru_cache(maxsize=1024)
def is_inverted(role: str) -> bool:
    """Say whether AMR reads a role, written with its colon, from target to source.

    Examples
    --------
    >>> is_inverted(":ARG0-of"), is_inverted(":consist-of")
    (True, False)
    """
    from penman.models import amr

    return bool(amr.model.is_role_inverted(role))


class FreshIds:
    """Makes ids for constants: the wish itself, or with the first number that is free.

    Examples
    --------
    >>> fresh = FreshIds(["n"])
    >>> fresh.name("n.op1"), fresh.name("n.op1")
    ('n.op1', 'n.op1.2')
    """

    def __init__(self, taken: Iterable[NodeId]) -> None:
        self.taken = set(taken)
        self._numbers: dict[str, int] = {}  # or many constants of one role would take long

    def name(self, wish: str) -> str:
        """Return an id that was not taken, and take it."""
        name = self.peek(wish)
        self.taken.add(name)
        return name

    def peek(self, wish: str) -> str:
        """Return the id that `name` would."""
        number = self._numbers.get(wish, 1)
        name = wish if number == 1 else f"{wish}.{number}"
        while name in self.taken:
            number += 1
            name = f"{wish}.{number}"
        self._numbers[wish] = number
        return name


def _split_alignment(atom: str) -> tuple[str, list[int]]:
    """Take ``~e.3`` or ``~e.3,5`` off a concept, variable or constant."""
    place = atom.find("~", atom.rfind('"') + 1)
    if place < 0:
        return atom, []
    numbers = _INDEX.findall(atom, place)
    if max(map(len, numbers)) > 9:
        raise StructureError(
            f"the alignment {shorten(atom[place:])} is beyond any sentence",
            hint="tokens are counted from 0",
        )
    return atom[:place], [int(number) for number in numbers]


def _plain(constant: str) -> str:
    """Return a concept or constant without its quotes."""
    if not constant.startswith('"'):
        return constant
    try:
        return str(json.loads(constant))
    except json.JSONDecodeError:  # an escape JSON does not know: keep what stands there
        return constant[1:-1]
