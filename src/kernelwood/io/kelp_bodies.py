"""The bodies of KeLP representations: what stands between ``|BT:name|`` and ``|ET|``.

A parser gets the whole line with the bounds of the body, so that a :class:`BodyError` can point
to the character in the line. Nothing in the format is quoted or escaped: a node label runs to the
next bracket or blank, and ``_comma_`` and the like stay as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import isfinite
from typing import NoReturn, TypeAlias

from kernelwood.structures import Graph, NodeId, Sequence, Tree, make_node, share, shorten
from kernelwood.text import View

__all__ = ["BODY_PARSERS", "BodyError", "LeafCache", "parse_number"]

# Only these two are blanks: a non-breaking space, say, may be part of a word.
_BLANKS = " \t"
_WORD = re.compile(r"[^ \t]+")
# No two parts of this can match the same digits, or a long row of them would take for ever.
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_COMPONENT = re.compile(r"[^ \t,;]+")
_NODE_ID = re.compile(r"-?[0-9]{1,18}")
_TRIMMED = re.compile(r"[ \t]*([^ \t](?:.*[^ \t])?)", re.DOTALL)
_ELEMENT = re.compile(r"[ \t]*\(([^()]*)\)")
# A leaf, or a node above a few of them; the opening of another node; a closing bracket; or a word
# in Penn style.
_TREE_TOKEN = re.compile(r"\([^() \t]+(?:\([^() \t]+\)){0,3}\)|\([ \t]*[^() \t]*|\)|[^() \t]+")
_LEAF_CACHE_LIMIT = 1 << 16

LeafCache: TypeAlias = dict[str, Tree]


class BodyError(Exception):
    """A body does not follow its grammar.

    Parameters
    ----------
    problem : str
        What is wrong.
    index : int
        Where in the line, counted from 0.
    hint : str, optional
        How to fix it.
    """

    def __init__(self, problem: str, index: int, hint: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.index = index
        self.hint = hint


def parse_number(text: str) -> float | None:
    """Return the finite number written in ``text``, else None.

    Examples
    --------
    >>> parse_number("-1.5e1"), parse_number("nan"), parse_number("1_000")
    (-15.0, None, None)
    """
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if isfinite(value) else None


def _shown(written: str) -> str:
    """Return what stands in the line for a message, which stays short."""
    return shorten(repr(written))


def _parse_string(line: str, start: int, end: int, _: LeafCache) -> str:
    # One blank on each side belongs to the notation, all others to the text.
    if start < end and line[start] in _BLANKS:
        start += 1
    if start < end and line[end - 1] in _BLANKS:
        end -= 1
    return line[start:end]


def _parse_sparse(line: str, start: int, end: int, _: LeafCache) -> dict[str, float]:
    features: dict[str, float] = {}
    for match in _WORD.finditer(line, start, end):
        name, _colon, written = match[0].rpartition(":")
        value = parse_number(written)
        if not name or value is None:
            raise BodyError(
                f"{_shown(match[0])} is not a feature with a finite value",
                match.start(),
                "write name:value, for example word:1.0",
            )
        if name in features:
            raise BodyError(
                f"feature {_shown(name)} appears twice", match.start(), "add up its values"
            )
        features[name] = value
    return features


def _parse_dense(line: str, start: int, end: int, _: LeafCache) -> tuple[float, ...]:
    values = []
    for match in _COMPONENT.finditer(line, start, end):
        value = parse_number(match[0])
        if value is None:
            raise BodyError(f"{_shown(match[0])} is not a finite number", match.start())
        values.append(value)
    return tuple(values)


def _parse_sequence(line: str, start: int, end: int, _: LeafCache) -> Sequence:
    elements = []
    position = start
    while match := _ELEMENT.match(line, position, end):
        if not match[1]:
            raise BodyError("an element of the sequence is empty", match.end() - 2)
        elements.append(match[1])
        position = match.end()
    if rest := _WORD.search(line, position, end):
        raise BodyError(
            "this is not an element of a sequence", rest.start(), "write (one)(two)(three)"
        )
    return Sequence(elements)


def _parse_graph(line: str, start: int, end: int, _: LeafCache) -> Graph:
    cut = line.find("%%", start, end)
    nodes: dict[NodeId, str] = {}
    for item in _items(line, start, end if cut < 0 else cut):
        name, _blank, label = item[1].partition(" ")
        if not _NODE_ID.fullmatch(name) or not label.strip(_BLANKS):
            raise BodyError(
                f"{_shown(item[1])} is not a node", item.start(1), "write: number label"
            )
        if int(name) in nodes:
            raise BodyError(f"node {name} appears twice", item.start(1), "number nodes differently")
        nodes[int(name)] = label.strip(_BLANKS)
    edges: list[tuple[NodeId, str, NodeId]] = []
    for item in _items(line, end if cut < 0 else cut + 2, end):
        ends = _WORD.findall(item[1])
        if len(ends) != 2 or not all(map(_NODE_ID.fullmatch, ends)):
            raise BodyError(
                f"{_shown(item[1])} is not an edge", item.start(1), "write: number number"
            )
        for name in ends:
            if int(name) not in nodes:
                raise BodyError(f"there is no node {name}", item.start(1), "list it before the %%")
        edges.append((int(ends[0]), "", int(ends[1])))
    return Graph(nodes, edges)


def _items(line: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Yield what stands between ``&&``, without blanks around; an empty item is passed over."""
    while start < end:
        stop = line.find("&&", start, end)
        stop = end if stop < 0 else stop
        if match := _TRIMMED.match(line, start, stop):
            yield match
        start = stop + 2


def _parse_tree(line: str, start: int, end: int, leaves: LeafCache) -> Tree:
    """Parse ``(A(B)(C))`` as well as ``(A (B b) (C c))``.

    The first word after an opening bracket is the label, further words are leaves. The loop
    knows no positions, which is what makes it fast; a second look finds them when it fails.
    """
    if len(leaves) > _LEAF_CACHE_LIMIT:
        leaves.clear()
    above: list[tuple[str, list[Tree]]] = []
    siblings: list[Tree] = []
    for token in _TREE_TOKEN.findall(line, start, end):
        if token == ")":
            if not above:
                _explain_tree(line, start, end)
            label, parents = above.pop()
            parents.append(make_node(label, tuple(siblings), ""))
            siblings = parents
        elif token[-1] == ")" or token[0] != "(":
            if token[0] != "(" and not above:
                _explain_tree(line, start, end)
            known = leaves.get(token)
            siblings.append(_remember(token, leaves) if known is None else known)
        else:
            label = share(token[1:].lstrip(_BLANKS))
            if not label:
                _explain_tree(line, start, end)
            above.append((label, siblings))
            siblings = []
    if above or len(siblings) != 1:
        _explain_tree(line, start, end)
    return siblings[0]


def _remember(token: str, leaves: LeafCache) -> Tree:
    """Make a leaf, or a node above leaves; trees never change, so all that are alike are one."""
    label, *below = token.strip("()").split("(")
    words = [f"({word.rstrip(')')})" for word in below]
    children = [leaves.get(word) or _remember(word, leaves) for word in words]
    made = leaves[token] = make_node(share(label), tuple(children), "")
    return made


def _explain_tree(line: str, start: int, end: int) -> NoReturn:
    """Find the first problem of a tree that could not be parsed."""
    opened: list[int] = []
    complete = False
    for match in _TREE_TOKEN.finditer(line, start, end):
        token, index = match[0], match.start()
        if token == ")" and not opened:
            raise BodyError('unexpected ")"', index, "remove it or add the opening bracket")
        if complete:
            raise BodyError("text after the tree", index, "one representation holds one tree")
        if token[0] not in "()" and not opened:
            raise BodyError(
                'expected "("', index, f"a tree of one node is written ({shorten(token)})"
            )
        if token[0] == "(" and not token.strip("( \t"):
            raise BodyError("a node has no label", index, "write a label after the bracket")
        if token == ")":
            opened.pop()
        elif token[0] == "(" and token[-1] != ")":
            opened.append(index)
        complete = not opened
    if opened:
        missing = f"{len(opened)} closing bracket{'s' * (len(opened) > 1)}"
        raise BodyError("bracket is never closed", opened[-1], f"add {missing} before |ET|")
    raise BodyError("the tree is empty", end, "leave the representation out")


# Type in the file -> parser(line, start, end, leaves), bounds being those of the body.
BODY_PARSERS: dict[str, Callable[[str, int, int, LeafCache], View]] = {
    "T": _parse_tree,
    "SQ": _parse_sequence,
    "G": _parse_graph,
    "S": _parse_string,
    "V": _parse_sparse,
    "DV": _parse_dense,
}
