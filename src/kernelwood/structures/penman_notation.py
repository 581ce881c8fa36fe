"""Graphs in PENMAN notation, as the ``penman`` package reads them.

`parse_penman` reads one graph with its alignments; the parse and its interpretation for AMR are
computed here without recursion and equal those of ``penman``, which takes three times as long and
is used only to find errors in malformed texts. `write_penman` is the inverse: ids, labels, edges
and root of every graph that can be written are read back, so the graphs are equal. The order of
nodes and edges, and the quotes of constants, may change.

A node is written where the edges, followed in their order from the root, first lead to it; a node
that cannot be reached along edges is written against one, with a role ``...-of``. A leaf whose id
is the one a reader gives to a constant, such as ``n.op1``, is written as a constant.
"""

from __future__ import annotations

import json
import logging
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from kernelwood.errors import StructureError
from kernelwood.structures.structure_base import error_at, shorten, show

if TYPE_CHECKING:
    from kernelwood.structures.graph import Edge, Graph, NodeId

# Without a handler, Python prints the log messages of penman.
logging.getLogger("penman").addHandler(logging.NullHandler())

_MAX_NESTING = 400  # penman recurses twice a level, and Python stops it near 1,000
_BLANK = r" \t\r\n\v\f"
_TOKEN = re.compile(
    r"(?P<comment>\#[^\n]*)"
    rf'|(?P<atom>"[^"\\]*(?:\\.[^"\\]*)*"|[^{_BLANK}"()/:~]+)'
    rf"|(?P<role>:[^{_BLANK}\"()/:~]*)"
    rf"|(?P<alignment>~[^{_BLANK}()]*)"
    r"|(?P<open>\()|(?P<close>\))|(?P<slash>/)"
    r'|(?P<quote>")'
)
# What a graph is made of: an opening bracket with an id and perhaps a concept, a role with a
# target unless a bracket follows, a closing bracket; and comments before and after it.
_IN_SYMBOL = rf"[^{_BLANK}\"()/:~]"
_ATOM = rf'(?:"[^"\\\n]*(?:\\.[^"\\\n]*)*"|(?!\#){_IN_SYMBOL}+)'
_MARK = rf"(?:[{_BLANK}]*(~(?:[a-z]\.?)?[0-9]+(?:,[0-9]+)*)(?![^{_BLANK}()]))?"
_PART = re.compile(
    rf"\([{_BLANK}]*((?!\#){_IN_SYMBOL}+)(?:[{_BLANK}]*/[{_BLANK}]*({_ATOM}){_MARK})?"
    rf"|(:{_IN_SYMBOL}*)(?!{_IN_SYMBOL}){_MARK}[{_BLANK}]*(?:({_ATOM}){_MARK}|(?=\())"
    rf"|(\))|(\#[^\n]*)|[^{_BLANK}]"
)
_ONE_NODE = re.compile(
    rf"[{_BLANK}]*\([{_BLANK}]*((?!\#){_IN_SYMBOL}+)"
    rf"(?:[{_BLANK}]*/[{_BLANK}]*({_ATOM}))?[{_BLANK}]*\)[{_BLANK}]*"
)
_MAX_NAME = 250
_CONCEPT_ROLES = ("/", ":instance")
_INDEX = re.compile(r"[0-9]+")
_INDENT = "    "
_ROLE = re.compile(r'[^ \t\r\n\v\f"()/:~]*')
_SYMBOL = re.compile(r'[^ \t\r\n\v\f"()/:~#][^ \t\r\n\v\f"()/:~]*')
_NUMBER_OR_SIGN = re.compile(r"[-+]|[-+]?[0-9]+(?:\.[0-9]+)?")
_BARE_ROLES = frozenset({"mode", "polarity", "polite"})
# Some readers take these for line ends.
_ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}


class PenmanGraph(NamedTuple):
    """Nodes, edges and root of a graph, with the alignments of nodes to tokens.

    Attributes
    ----------
    nodes : dict
        Label of each id.
    edges : list of (source, label, target)
        Inverted roles are turned around.
    root : str
        The outermost node.
    alignments : dict
        Sorted token indices of each aligned node or constant, from all its mentions.
    n_aligned_roles : int
        Number of alignments of roles, which are not kept.
    """

    nodes: dict[NodeId, str]
    edges: list[Edge]
    root: NodeId | None
    alignments: dict[NodeId, tuple[int, ...]]
    n_aligned_roles: int


class _Mention(NamedTuple):
    """A role of a node as written; ``opens`` if its target is in brackets."""

    variable: str
    role: str
    target: str
    opens: bool


_NOTHING = _Mention("", "", "", False)


def parse_penman(lines: Sequence[str]) -> PenmanGraph:
    """Return the only graph in the lines, with alignments such as ``~e.3``.

    Raises
    ------
    StructureError
        If there is not exactly one well-formed graph; carries line and column.

    Examples
    --------
    >>> parse_penman(["(d / dog~e.1", "   :quant 3~e.0)"]).alignments
    {'d': (1,), 'd.quant': (0,)}
    """
    text = "\n".join(lines)
    alone = _ONE_NODE.fullmatch(text)
    if alone is not None:
        return PenmanGraph({alone[1]: _plain(alone[2] or "")}, [], alone[1], {}, 0)
    found = _scan(text)
    if found is not None:
        return _interpret(*found)
    return _parse_by_penman(lines)


def _parse_by_penman(lines: Sequence[str]) -> PenmanGraph:
    """Return the only graph in the lines, or raise an error with the place of what is wrong."""
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


def _scan(text: str) -> tuple[str, list[_Mention]] | None:
    """Return the root and the roles of a graph in written order; None if something is wrong."""
    mentions: list[_Mention] = []
    outer: list[tuple[str, int]] = []  # open nodes, and where the concept of each is
    root = variable = role = ""
    place = -1
    for match in _PART.finditer(text):
        opened, concept, mark, written, role_mark, target, target_mark, closed, note = (
            match.groups()
        )
        if opened is not None:
            if role:
                mentions.append(_Mention(variable, role, opened, True))
            elif mentions:  # a bracket without a role, or a second graph
                return None
            else:
                root = opened
            outer.append((variable, place))
            if len(outer) > _MAX_NESTING:
                return None
            variable, role, place = opened, "", len(mentions)
            mentions.append(_Mention(opened, "/", (concept or "") + (mark or ""), False))
        elif not outer:
            if note is None:
                return None
        elif written is not None:
            if written == ":instance" and not mentions[place].target:
                mentions[place] = _NOTHING  # this is the concept
            if role_mark is not None:
                written += role_mark
            if target is None:
                role = written
            else:
                mentions.append(_Mention(variable, written, target + (target_mark or ""), False))
        elif closed is not None:
            variable, place = outer.pop()
        else:
            return None
    if outer or not mentions:
        return None
    return root, [mention for mention in mentions if mention is not _NOTHING]


def penman_graph_of(decoded: Any) -> PenmanGraph:
    """Return a ``Graph`` or ``Tree`` of ``penman`` as nodes, edges and root.

    Edges of a ``Graph`` have the direction of its triples.

    Examples
    --------
    >>> import penman
    >>> penman_graph_of(penman.decode("(d / dog :quant 3)")).nodes
    {'d': 'dog', 'd.quant': '3'}
    """
    if hasattr(decoded, "node"):
        return _interpret(decoded.node[0], list(_mentions(decoded.node)))
    variables = decoded.variables()
    if not variables:
        raise StructureError("the graph of penman has no nodes")
    for name in variables:
        if not isinstance(name, str):
            raise StructureError(f"the id {show(name)} of a node of penman must be a string")
    triples = list(decoded.triples)
    named = {source for source, role, _ in triples if role in _CONCEPT_ROLES}
    triples += [(name, "/", None) for name in sorted(variables - named)]
    mentions = [
        _Mention(str(source), str(role), "" if target is None else str(target), target in variables)
        for source, role, target in triples
    ]
    return _interpret(str(decoded.top), mentions, directed=True)


def _check_layout(text: str) -> None:
    """Raise for text that ``penman`` repairs or skips, or that exceeds its recursion limit."""
    opened: list[int] = []
    previous, finished = "", False
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind == "comment":
            continue
        if finished:
            raise error_at("text after the graph", text, match.start(), "read one graph at a time")
        if not opened and kind not in {"open", "close"}:
            raise error_at(
                "text before the graph", text, match.start(), "a graph looks like (d / dog)"
            )
        if kind == "alignment":
            continue
        if kind == "quote":
            raise error_at(
                "string opened here is never closed",
                text,
                match.start(),
                "close it with a second quote, or remove this one",
            )
        if previous == "slash" and kind != "atom":
            raise error_at("a concept is missing here", text, match.start(), "write (id / concept)")
        if previous == "role" and kind in {"role", "close"}:
            raise error_at(
                "the role before this has no target", text, match.start(), "add or remove it"
            )
        if kind == "open":
            opened.append(match.start())
            if len(opened) > _MAX_NESTING:
                hint = f"at most {_MAX_NESTING} brackets can be open at a time"
                raise error_at("graph is nested too deeply", text, match.start(), hint)
        elif kind == "close":
            if not opened:
                raise error_at('unexpected ")"', text, match.start(), "remove it")
            if previous == "open":
                raise error_at("node without an id", text, opened[-1], "write (id / concept)")
            opened.pop()
            finished = not opened
        previous = kind
    if opened:
        raise error_at(
            "bracket is never closed", text, opened[-1], f"add {')' * min(len(opened), 20)}"
        )
    if not finished:
        raise StructureError("no graph in the text", line=1, hint="a graph looks like (d / dog)")


def _mentions(root: Any) -> Iterator[_Mention]:
    """Yield the roles in written order, including concepts."""
    pending = [_with_concept(root)]
    while pending:
        variable, edges = pending[-1]
        for role, target in edges:
            if isinstance(target, tuple):
                yield _Mention(variable, role, target[0], True)
                pending.append(_with_concept(target))
                break
            yield _Mention(variable, role, target or "", False)
        else:
            pending.pop()


def _with_concept(node: Any) -> tuple[str, Iterator[tuple[str, Any]]]:
    variable, edges = node
    if not any(role.partition("~")[0] in _CONCEPT_ROLES for role, _ in edges):
        edges = [("/", None), *edges]
    return variable, iter(edges)


def _interpret(root: str, mentions: list[_Mention], *, directed: bool = False) -> PenmanGraph:
    """Return the graph of mentions; ``directed`` if inverted roles are already reversed."""
    nodes = _concepts(mentions, directed)
    variables = {root} | {mention.target for mention in mentions if mention.opens}
    fresh = _FreshIds(nodes)
    edges: list[Edge] = []
    aligned: dict[NodeId, set[int]] = {}
    n_aligned_roles = 0
    for variable, written, target, opens in mentions:
        role, _, mark = written.partition("~")
        n_aligned_roles += bool(mark)
        plain = opens or directed  # graphs of penman have alignments of their own
        atom, indices = (target, []) if plain else _split_alignment(target)
        end: NodeId = atom
        if role in _CONCEPT_ROLES:
            end = variable
        elif atom in variables:
            turned = not directed and _is_inverted(role)
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
    if len(variable) + len(role) > _MAX_NAME:  # else the ids of many constants fill the memory
        raise StructureError(
            f"node {shorten(repr(variable))} has a constant with the role {shorten(repr(role))}; "
            f"id and role together are longer than {_MAX_NAME} characters",
            hint="the id of a constant consists of both; shorten the id of the node, or the role",
        )
    return f"{variable}.{role}"


def _concepts(mentions: list[_Mention], directed: bool) -> dict[NodeId, str]:
    nodes: dict[NodeId, str] = {}
    for variable, role, target, _ in mentions:
        if role != "/" and role.partition("~")[0] not in _CONCEPT_ROLES:
            continue
        label = _plain(target if directed else _split_alignment(target)[0])
        if nodes.setdefault(variable, label) != label:
            raise StructureError(
                f"node {shorten(repr(variable))} has two concepts, "
                f"{shorten(repr(nodes[variable]))} and {shorten(repr(label))}",
                hint="give one of them a new id",
            )
    return nodes


@lru_cache(maxsize=1024)
def _is_inverted(role: str) -> bool:
    """Return whether AMR reads a role, with its colon, from target to source."""
    from penman.models import amr

    return bool(amr.model.is_role_inverted(role))


class _FreshIds:
    """Unused ids for constants: the requested name, or that name with the first free number."""

    def __init__(self, taken: Iterable[NodeId]) -> None:
        self.taken = set(taken)
        self._numbers: dict[str, int] = {}  # last number tried per name, for speed

    def name(self, wish: str) -> str:
        """Return an unused id and mark it as used."""
        name = self.peek(wish)
        self.taken.add(name)
        return name

    def peek(self, wish: str) -> str:
        """Return the id that `name` would return."""
        number = self._numbers.get(wish, 1)
        name = wish if number == 1 else f"{wish}.{number}"
        while name in self.taken:
            number += 1
            name = f"{wish}.{number}"
        self._numbers[wish] = number
        return name


def _split_alignment(atom: str) -> tuple[str, list[int]]:
    """Return a concept, variable or constant without its alignment, and the token indices."""
    place = atom.find("~", atom.rfind('"') + 1) if "~" in atom else -1
    if place < 0:
        return atom, []
    numbers = _INDEX.findall(atom, place)
    if max(map(len, numbers)) > 9:
        raise StructureError(
            f"the alignment {shorten(atom[place:])} has an index of more than 9 digits",
            hint="indices are positions of tokens, counted from 0",
        )
    return atom[:place], [int(number) for number in numbers]


def _plain(constant: str) -> str:
    """Return a concept or constant without its quotes."""
    if not constant.startswith('"'):
        return constant
    try:
        return str(json.loads(constant))
    except json.JSONDecodeError:  # an escape unknown to JSON is kept
        return constant[1:-1]


class _Step(NamedTuple):
    """An edge as written at a node; ``opens`` if the other end is written there in full."""

    role: str
    other: NodeId
    opens: bool
    constant: bool


def write_penman(
    graph: Graph, alignments: Mapping[NodeId, Sequence[int]] | None = None, *, indent: str = _INDENT
) -> str:
    r"""Return a graph in PENMAN notation, one edge per line, without a final line break.

    Parameters
    ----------
    graph : Graph
        Ids must be strings, and all nodes connected with the root.
    alignments : mapping of id to token indices, optional
        Written as ``~e.3,5`` after the concept or constant.
    indent : str
        Indentation per open bracket.

    Raises
    ------
    StructureError
        If the graph has no root, PENMAN does not allow an id or an edge label, a node is not
        connected with the root, or brackets would nest too deeply for reading.

    Examples
    --------
    >>> from kernelwood.structures import Graph
    >>> graph = Graph({"d": "dog", "b": "bark-01"}, [("b", "ARG0", "d")], root="d")
    >>> print(write_penman(graph, {"b": [1]}))
    (d / dog
        :ARG0-of (b / bark-01~e.1))
    """
    root = _check_writable(graph)
    for open_nodes in (_open_along_edges, _open_nearest):
        opening = open_nodes(graph, root)
        _check_connected(graph, opening)
        text = _render(graph, root, opening, alignments or {}, indent)
        if text is not None:
            return text
    raise StructureError(
        f"the graph needs more than {_MAX_NESTING} nested brackets",
        hint="PENMAN cannot be read at that depth; write JSON lines",
    )


def _check_writable(graph: Graph) -> NodeId:
    """Return the root; raise if PENMAN does not allow an id or a label."""
    if graph.root is None:
        raise StructureError(
            "a graph without root cannot be written in PENMAN", hint="set one: root=..."
        )
    for name in graph.nodes:
        if not isinstance(name, str) or not _SYMBOL.fullmatch(name):
            raise StructureError(
                f"the id {shorten(repr(name))} cannot be written in PENMAN",
                hint='ids are strings without blanks, quotes, brackets, "/", ":", "~" or "#" first',
            )
    for source, label, target in graph.edges:
        if label == "instance" or not _ROLE.fullmatch(label):
            raise StructureError(
                f"the label of edge {shorten(repr((source, label, target)))} "
                "cannot be written in PENMAN",
                hint="roles have no blanks, quotes, brackets, '/', ':' or '~', and "
                "'instance' stands for the concept",
            )
    return graph.root


def _goes_down(graph: Graph, edge: Edge) -> bool:
    """Return whether an edge can be written at its source."""
    return not _is_inverted(f":{edge[1]}") or _may_be_constant(graph, edge)


def _goes_up(edge: Edge) -> bool:
    """Return whether an edge can be written at its target, as an inverted role."""
    return _is_inverted(f":{edge[1]}-of")


def _may_be_constant(graph: Graph, edge: Edge) -> bool:
    source, label, target = edge
    wish, name = f"{source}.{label}", str(target)
    return (
        name.startswith(wish)
        and (name == wish or name[len(wish)] == ".")
        and target != graph.root
        and not graph.successors(target)
        and len(graph.predecessors(target)) == 1
    )


def _edges_at(graph: Graph) -> tuple[dict[NodeId, list[int]], dict[NodeId, list[int]]]:
    """Return the edges that can be written at each node: downward, and upward."""
    down: dict[NodeId, list[int]] = {name: [] for name in graph.nodes}
    up: dict[NodeId, list[int]] = {name: [] for name in graph.nodes}
    for index, edge in enumerate(graph.edges):
        if _goes_down(graph, edge):
            down[edge[0]].append(index)
        if _goes_up(edge):
            up[edge[2]].append(index)
    return down, up


def _open_along_edges(graph: Graph, root: NodeId) -> dict[int, NodeId]:
    """Return the edges at which nodes are written, depth first along the edges."""
    down, up = _edges_at(graph)
    opening: dict[int, NodeId] = {}
    reached = {root}
    order = _descend(graph, root, down, reached, opening)
    for node in order:  # grows during the loop
        for index in up[node]:
            source = graph.edges[index][0]
            if source not in reached:
                opening[index] = source
                reached.add(source)
                order += _descend(graph, source, down, reached, opening)
    return opening


def _descend(
    graph: Graph,
    start: NodeId,
    down: Mapping[NodeId, list[int]],
    reached: set[NodeId],
    opening: dict[int, NodeId],
) -> list[NodeId]:
    """Return the nodes reached along the edges, depth first, and record them in ``opening``."""
    found = [start]
    pending = [iter(down[start])]
    while pending:
        for index in pending[-1]:
            target = graph.edges[index][2]
            if target not in reached:
                opening[index] = target
                reached.add(target)
                found.append(target)
                pending.append(iter(down[target]))
                break
        else:
            pending.pop()
    return found


def _open_nearest(graph: Graph, root: NodeId) -> dict[int, NodeId]:
    """Return the edges at which nodes are written, breadth first, for the least nesting."""
    down, up = _edges_at(graph)
    opening: dict[int, NodeId] = {}
    reached = {root}
    pending = deque([root])
    while pending:
        node = pending.popleft()
        ends = [(index, graph.edges[index][2]) for index in down[node]]
        for index, other in ends + [(index, graph.edges[index][0]) for index in up[node]]:
            if other not in reached:
                opening[index] = other
                reached.add(other)
                pending.append(other)
    return opening


def _check_connected(graph: Graph, opening: Mapping[int, NodeId]) -> None:
    if len(opening) + 1 < len(graph.nodes):
        reached = {graph.root, *opening.values()}
        lost = next(name for name in graph.nodes if name not in reached)
        raise StructureError(
            f"node {shorten(repr(lost))} is not connected with the root, "
            "or only by an edge that reads as inverted",
            hint="PENMAN can write only nodes reached from the root; "
            "a label ending in -of cannot lead away from it",
        )


def _steps(graph: Graph, opening: Mapping[int, NodeId]) -> dict[NodeId, list[_Step]]:
    """Return the edges written at each node, in the order of the graph."""
    steps: dict[NodeId, list[_Step]] = {name: [] for name in graph.nodes}
    for index, edge in enumerate(graph.edges):
        source, label, target = edge
        opened = opening.get(index)
        constant = opened == target and _may_be_constant(graph, edge)
        downward = opened == target if opened is not None else _goes_down(graph, edge)
        if downward:
            steps[source].append(_Step(f":{label}", target, opened is not None, constant))
        else:
            steps[target].append(_Step(f":{label}-of", source, opened is not None, False))
    return steps


def _render(
    graph: Graph,
    root: NodeId,
    opening: Mapping[int, NodeId],
    alignments: Mapping[NodeId, Sequence[int]],
    indent: str,
) -> str | None:
    """Return the text, or None if brackets nest too deeply."""
    steps = _steps(graph, opening)
    candidates = {step.other for listed in steps.values() for step in listed if step.constant}
    # A reader collects all variables before it names the first constant.
    fresh = _FreshIds(name for name in graph.nodes if name not in candidates)
    parts = [_opened(graph, root, alignments)]
    pending: list[tuple[NodeId, Iterator[_Step]]] = [(root, iter(steps[root]))]
    while pending:
        node, rest = pending[-1]
        step = next(rest, None)
        if step is None:
            parts.append(")")
            pending.pop()
            continue
        parts.append(f"\n{indent * len(pending)}{step.role} ")
        if not step.opens:
            parts.append(str(step.other))
        elif _is_constant(node, step, fresh):
            parts.append(_constant(graph, node, step, alignments))
        else:
            parts.append(_opened(graph, step.other, alignments))
            pending.append((step.other, iter(steps[step.other])))
            if len(pending) > _MAX_NESTING:
                return None
    return "".join(parts)


def _is_constant(node: NodeId, step: _Step, fresh: _FreshIds) -> bool:
    """Return whether a reader would give a constant at this place the same id."""
    if not step.constant:
        return False
    found = fresh.peek(f"{node}.{step.role[1:]}") == step.other
    if not found and _is_inverted(step.role):
        raise StructureError(
            f"the edge {step.role[1:]!r} of node {shorten(repr(node))} reads as inverted",
            hint="a label ending in -of can only lead to a constant",
        )
    fresh.taken.add(str(step.other))
    return found


def _opened(graph: Graph, node: NodeId, alignments: Mapping[NodeId, Sequence[int]]) -> str:
    label, aligned = graph.nodes[node], _alignment(node, alignments)
    if not label and not aligned:
        return f"({node}"
    bare = _SYMBOL.fullmatch(label) and label.isprintable()
    return f"({node} / {label if bare else _quoted(label)}{aligned}"


def _constant(
    graph: Graph, node: NodeId, step: _Step, alignments: Mapping[NodeId, Sequence[int]]
) -> str:
    """Return a constant, in quotes unless AMR writes it without."""
    label = graph.nodes[step.other]
    usual = _NUMBER_OR_SIGN.fullmatch(label) or step.role[1:] in _BARE_ROLES
    bare = (
        usual
        and graph.nodes[node] != "name"  # a name is text, even one of digits only
        and label not in graph.nodes
        and _SYMBOL.fullmatch(label)
        and label.isprintable()
    )
    return (label if bare else _quoted(label)) + _alignment(step.other, alignments)


def _quoted(label: str) -> str:
    return json.dumps(label, ensure_ascii=False).translate(_ESCAPED)


def _alignment(node: NodeId, alignments: Mapping[NodeId, Sequence[int]]) -> str:
    indices = alignments.get(node, ())
    return f"~e.{','.join(map(str, indices))}" if indices else ""
