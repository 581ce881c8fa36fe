"""Structures as JSON, with a strict JSON decoder.

A tree is a string in brackets; a sequence is a list of strings, or of ``[edge, node]`` pairs. A
graph is an object with the keys ``nodes``, ``edges`` and ``root``: nodes are an object of labels
by id, a list of ``[id, label]`` pairs (which allows integer ids), or a list of labels whose ids
are 0, 1, 2, ...; edges are ``[source, label, target]``. A forest is an object::

    {"labels": ["NP", "Ann"], "edges": [[0, [1], 1.0]], "root": 0, "spans": [[0, 1], [0, 1]]}

Its ``edges`` list head, children and probability; nodes are counted from 0 in the order of
``labels``. ``spans`` is omitted if the forest has none, and ``fallback`` unless it is true.

Unlike Python's ``json``, the decoder rejects repeated keys and ``NaN``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NoReturn

from kernelwood.errors import StructureError
from kernelwood.structures.forest import Forest
from kernelwood.structures.graph import Graph
from kernelwood.structures.sequence import Sequence
from kernelwood.structures.structure_base import error_at, shorten
from kernelwood.structures.tree import Tree

_STRING_OR_CONSTANT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|(-?Infinity|NaN)', re.DOTALL)


def tree_from_object(value: object) -> Tree:
    """Return the tree that a decoded JSON value describes; ``to_brackets`` is the inverse.

    Examples
    --------
    >>> tree_from_object("(NP (NN cat))")
    Tree('(NP (NN cat))')
    """
    if not isinstance(value, str):
        raise StructureError(
            f"a tree must be a string, got {describe(value)}", hint='write "(S (NP we) (VP go))"'
        )
    try:
        return Tree.from_brackets(value)
    except StructureError as failure:
        where = f" (character {failure.column} of the brackets)" if failure.column else ""
        raise StructureError(failure.problem + where, hint=failure.hint) from failure


def sequence_object(sequence: Sequence) -> list[object]:
    """Return a sequence as JSON lists and strings.

    Examples
    --------
    >>> sequence_object(Sequence(["we", ("nsubj", "go")]))
    ['we', ['nsubj', 'go']]
    """
    return [[edge, node] if edge else node for edge, node in sequence]


def sequence_from_object(value: object) -> Sequence:
    """Return the sequence that a decoded JSON value describes.

    Examples
    --------
    >>> sequence_from_object(["we", ["nsubj", "go"]])
    Sequence([('', 'we'), ('nsubj', 'go')])
    """
    elements = check_list(value, "a sequence")
    try:
        return Sequence(elements)
    except RecursionError:  # in a message that shows hundreds of nested lists
        raise _too_deep("a sequence") from None


def graph_object(graph: Graph) -> dict[str, object]:
    """Return a graph as JSON values.

    Examples
    --------
    >>> graph_object(Graph({"b": "bind-01"}, root="b"))
    {'nodes': {'b': 'bind-01'}, 'edges': [], 'root': 'b'}
    """
    nodes: object
    if all(isinstance(name, str) for name in graph.nodes):
        nodes = dict(graph.nodes)  # keys of a JSON object are strings
    elif list(graph.nodes) == list(range(len(graph.nodes))):
        nodes = list(graph.nodes.values())
    else:
        nodes = [[name, label] for name, label in graph.nodes.items()]
    made: dict[str, object] = {"nodes": nodes, "edges": [list(edge) for edge in graph.edges]}
    if graph.root is not None:
        made["root"] = graph.root
    return made


def graph_from_object(value: object, what: str = "a graph") -> Graph:
    """Return the graph that a decoded JSON value describes, the inverse of `graph_object`.

    Examples
    --------
    >>> graph_from_object({"nodes": ["we", "go"], "edges": [[1, "nsubj", 0]]})
    Graph(2 nodes, 1 edge)
    """
    graph = check_object(value, what, ("nodes",), ("edges", "root"))
    nodes = graph["nodes"]
    if not isinstance(nodes, dict):
        check_list(nodes, f"'nodes' of {what}")
    edges = check_list(graph.get("edges", []), f"'edges' of {what}")
    try:
        return Graph(nodes, edges, graph.get("root"))
    except RecursionError:  # in a message that shows hundreds of nested lists
        raise _too_deep(what) from None


def forest_object(forest: Forest) -> dict[str, object]:
    """Return a forest as JSON values.

    Examples
    --------
    >>> forest_object(Forest(["Ann"], [], 0, [(0, 1)]))
    {'labels': ['Ann'], 'edges': [], 'root': 0, 'spans': [[0, 1]]}
    """
    made: dict[str, object] = {
        "labels": list(forest.labels),
        "edges": [[head, list(children), weight] for head, children, weight in forest.edges],
        "root": forest.root,
    }
    if forest.spans is not None:
        made["spans"] = [list(span) for span in forest.spans]
    if forest.fallback:
        made["fallback"] = True
    return made


def forest_from_object(value: object) -> Forest:
    """Return the forest that a decoded JSON object describes, the inverse of `forest_object`.

    Raises
    ------
    StructureError
        If a key is missing or unknown, a value has the wrong type, or the parts do not make a
        forest.

    Examples
    --------
    >>> forest_from_object({"labels": ["Ann"], "edges": [], "root": 0})
    Forest(1 node, 0 hyper-edges, root='Ann')
    """
    known = check_object(value, "the forest", ("labels", "edges", "root"), ("spans", "fallback"))
    for key in ("labels", "edges", "spans"):
        if key in known:
            check_list(known[key], f"{key!r} of the forest")
    for position, edge in enumerate(known["edges"]):
        # Edges that are not triples are reported by Forest.
        if type(edge) is list and len(edge) == 3 and type(edge[1]) is not list:
            check_list(edge[1], f"children of hyper-edge {position}")
    fallback = known.get("fallback", False)
    if type(fallback) is not bool:
        raise StructureError(
            f"'fallback' of the forest must be true or false, got {describe(fallback)}"
        )
    try:
        return Forest(
            known["labels"], known["edges"], known["root"], known.get("spans"), fallback=fallback
        )
    except RecursionError:  # in a message that shows hundreds of nested lists
        raise _too_deep("the forest") from None


def encode_json(value: object) -> str:
    """Return a value as one line of compact JSON; floats keep every bit.

    Raises
    ------
    StructureError
        If a number is not finite, or has more digits than Python writes.

    Examples
    --------
    >>> encode_json({"é": [0.1, 1]})
    '{"é":[0.1,1]}'
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as failure:
        raise StructureError(f"a number cannot be written as JSON: {failure}") from failure


def decode_json(text: str) -> Any:
    """Return the value of a JSON text.

    Raises
    ------
    StructureError
        If the text is not JSON, repeats a key, has ``NaN`` or ``Infinity``, a number beyond
        Python's limit of digits, or hundreds of nested brackets.

    Examples
    --------
    >>> decode_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> decode_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: the key 'a' appears twice in one object
        keep one of the two
    """
    if not isinstance(text, str):
        raise StructureError(f"expected JSON text, got {type(text).__name__}")
    try:
        return _DECODER.decode(text)
    except StructureError:
        raise
    except _ConstantError as failure:
        constants = (match for match in _STRING_OR_CONSTANT.finditer(text) if match[1])
        position = next(constants).start()
        raise error_at(f"{failure} is not a number in JSON", text, position) from None
    except json.JSONDecodeError as failure:
        problem = f"not valid JSON: {failure.msg[0].lower()}{failure.msg[1:]}"
        raise error_at(problem, text, failure.pos) from None
    except RecursionError:
        raise _too_deep("the text") from None
    except ValueError as failure:
        raise StructureError(
            f"a number has too many digits: {failure}", hint="write it with an exponent"
        ) from None


def decode_json_at(text: str, start: int) -> tuple[Any, int] | None:
    """Return the JSON value that begins at a character, and where it ends; None if it is broken.

    Use it for texts with several values, of which the last may be cut off; `decode_json` reports
    the error in a broken value.

    Examples
    --------
    >>> decode_json_at('[{"a": 1}, {"a"', 1), decode_json_at('[{"a": 1}, {"a"', 11)
    (({'a': 1}, 9), None)
    """
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, _ConstantError, RecursionError):
        return None


def check_object(
    value: object, what: str, required: Iterable[str] = (), optional: Iterable[str] | None = ()
) -> dict[str, Any]:
    """Return a decoded object after a check of its keys; ``optional=None`` allows any.

    Examples
    --------
    >>> check_object({"root": 0}, "the forest", ["root"], ["spans"])
    {'root': 0}
    """
    if not isinstance(value, dict):
        raise StructureError(f"{what} must be an object, got {describe(value)}")
    required = tuple(required)
    known = None if optional is None else (*required, *optional)
    for key in value:
        if known is not None and key not in known:
            near = get_close_matches(key, known, n=1)
            guess = f"did you mean {near[0]!r}? " if near else ""
            raise StructureError(
                f"{what} has an unknown key {shorten(repr(key))}",
                hint=f"{guess}known keys: {', '.join(known)}",
            )
    for key in required:
        if key not in value:
            raise StructureError(f"{what} has no key {key!r}")
    return value


def check_list(value: object, what: str) -> list[Any]:
    """Return ``value`` if it is a list.

    Examples
    --------
    >>> check_list("NP", "'labels' of the forest")
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: 'labels' of the forest must be a list, got the string 'NP'
    """
    if not isinstance(value, list):
        raise StructureError(f"{what} must be a list, got {describe(value)}")
    return value


def describe(value: object) -> str:
    """Return a short description of a decoded value, for a message.

    Examples
    --------
    >>> describe(None), describe([[]]), describe(1.5)
    ('null', 'a list', 'the number 1.5')
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the string {shorten(repr(value))}"
        case int() | float():
            return f"the number {shorten(repr(value))}"
        case dict():
            return "an object"
        case list():
            return "a list"
    return f"a {type(value).__name__}"


class _ConstantError(Exception):
    """``NaN``, ``Infinity`` or ``-Infinity`` in a JSON text."""


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise StructureError(
                    f"the key {shorten(repr(key))} appears twice in one object",
                    hint="keep one of the two",
                )
            seen.add(key)
    return made


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant)


def _too_deep(what: str) -> StructureError:
    return StructureError(f"lists or objects inside {what} are nested too deeply")
