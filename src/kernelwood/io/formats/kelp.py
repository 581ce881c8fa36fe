"""KeLP: one example per line, with named representations.

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

The label of an example is None, a string, a pair ``(name, value)`` for a numeric label such as
``score:1.5``, or a tuple of strings and pairs for several labels. Node labels are kept as written,
kinds (``LEX##``) included.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from typing import IO, NamedTuple, NoReturn, TypeAlias, cast

from kernelwood.errors import StructureError
from kernelwood.io.atomic import write_text
from kernelwood.io.lines import BLANKS, read_lines
from kernelwood.io.selection import check_wanted, view_names, write_each
from kernelwood.io.source import Item, Source
from kernelwood.structures import Forest, Graph, NodeId, Sequence, Tree, make_node, share, shorten
from kernelwood.text import Document, Example, Label, Sentence, View

_WORD = re.compile(r"[^ \t]+")  # other white space, such as a non-breaking space, is text
_SIGNATURE = re.compile(r"[^\n]*?(?:\|B[A-Z]+(?::[^|\n]*)?\||\|<\|)")
_HEADER = re.compile(r"\|B([^|: ]*)(?::([^|]*))?\|")
_MARK = re.compile(r"\|B|\|[<,>]\|")
_MAX_NESTING = 32  # of pairs in pairs; each level makes the names of views longer
# No two parts of this match the same digits, so long numbers are matched in linear time.
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_COMPONENT = re.compile(r"[^ \t,;]+")
_NODE_ID = re.compile(r"-?[0-9]{1,18}")
_TRIMMED = re.compile(r"[ \t]*([^ \t](?:.*[^ \t])?)", re.DOTALL)
_ELEMENT = re.compile(r"[ \t]*\(([^()]*)\)")
# A leaf, or a node above a few leaves; the opening of another node; a closing bracket; or a word
# in Penn style.
_TREE_TOKEN = re.compile(r"\([^() \t]+(?:\([^() \t]+\)){0,3}\)|\([ \t]*[^() \t]*|\)|[^() \t]+")
_LEAF_CACHE_LIMIT = 1 << 16
# What the writer accepts.
_PLAIN_WORD = re.compile(r"[^ \t\n]+")
_PLAIN_NODE = re.compile(r"[^() \t\n]+")
_PLAIN_ELEMENT = re.compile(r"[^()\n]+")
_PLAIN_GRAPH_LABEL = re.compile(r"(?! |\t)[^\n]+(?<![ \t])")
_VIEW_NAME = re.compile(r"[^|\n]+")

_LeafCache: TypeAlias = dict[str, Tree]
_Label: TypeAlias = str | tuple[str, float]


def looks_like_kelp(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be in KeLP format.

    Examples
    --------
    >>> looks_like_kelp("NUM |BT:grct| (A(B)) |ET|"), looks_like_kelp("(S (NP we))")
    (True, False)
    """
    return bool(_SIGNATURE.match(head.lstrip()))


def read_kelp(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example for each line that is not blank.

    The id is the stem of the file and the number of the line. With ``views`` only those are
    parsed, and a line that lacks one of them is an error.
    """
    leaves: _LeafCache = {}

    def parse(number: int, text: str) -> Example:
        label, made = _parse_line(text, views, leaves)
        return Example(f"{source.stem}:{number}", label, made, source.origin(number))

    return read_lines(source, parse, unique_ids=False, json=False)


def _parse_line(
    text: str, wanted: tuple[str, ...] | None, leaves: _LeafCache
) -> tuple[Label, dict[str, View]]:
    scanner = _Scanner(text)
    labels, parts = scanner.labels, scanner.parts
    own = _WORD.findall(labels.pop(""))
    sides = {f"{side}label": " ".join(_WORD.findall(written)) for side, written in labels.items()}
    sides = {name: label for name, label in sides.items() if label}
    check_wanted(wanted, {**parts, **sides}, "the line")
    views: dict[str, View] = {
        name: _BODY_PARSERS[part.kind](text, part.start, part.end, leaves)
        for name, part in parts.items()
        if wanted is None or name in wanted
    }
    for name, label in sides.items():
        if name in views:
            raise _error(
                f"{shorten(name)} is both a label and a representation",
                parts[name].header,
                "give the representation another name",
            )
        if wanted is None or name in wanted:
            views[name] = label
    return _join_labels([_parse_label(written) for written in own]), views


def _parse_label(written: str) -> _Label:
    name, _, number = written.rpartition(":")
    value = _parse_number(number)
    return written if value is None or not name else (name, value)


def _join_labels(labels: list[_Label]) -> Label:
    if len(labels) > 1:
        return cast(Label, tuple(labels))
    return labels[0] if labels else None


class _Part(NamedTuple):
    """A representation in a line: its type, and the places of its header and body."""

    kind: str
    header: int
    start: int
    end: int


class _Scanner:
    """Labels and representations of a line; bodies are not parsed.

    ``labels`` maps each side (``""``, ``"left."``, ...) to its labels as written, ``parts`` the
    names of views to representations. Pairs inside pairs are followed on a stack.

    Examples
    --------
    >>> scanner = _Scanner("NUM |BS:a| how many |ES| |BT| (X) |ET|")
    >>> scanner.labels[""].strip(), list(scanner.parts)
    ('NUM', ['a', '1'])
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.sides: list[str] = []
        self.counts: list[int] = []  # representations so far in each open example
        self.may_pair = True  # until the open example has a representation
        self.labels: dict[str, str] = {}
        self.parts: dict[str, _Part] = {}
        self.begin_example()
        while found := _WORD.search(self.text, self.position):
            mark = _MARK.match(self.text, found.start())
            if mark is None:
                raise _error(
                    "expected a representation",
                    found.start(),
                    "it looks like |BT:name| (A(B)) |ET|",
                )
            if mark[0] == "|B":
                self.take_part(mark.start())
            else:
                self.take_pair_mark(mark[0], mark.start())
        if self.sides:
            raise _error("the pair is not complete", len(self.text), "end it with |>|")

    def begin_example(self) -> None:
        mark = _MARK.search(self.text, self.position)
        if mark is None or mark[0] in {"|,|", "|>|"}:
            raise _error(
                "the example has no representation",
                self.position if mark is None else mark.start(),
                "it looks like label |BT:name| (A(B)) |ET|",
            )
        self.labels["".join(self.sides)] = self.text[self.position : mark.start()]
        self.position = mark.start()
        self.counts.append(0)
        self.may_pair = True

    def take_part(self, index: int) -> None:
        header = _HEADER.match(self.text, index)
        if header is None:
            raise _error("the header is malformed", index, "it looks like |BT:name|")
        kind, given = header.groups()
        if kind not in _BODY_PARSERS:
            known = ", ".join(_BODY_PARSERS)
            raise _error(
                f"unknown representation type {shorten(repr(kind))}", index, f"known types: {known}"
            )
        if given == "":
            raise _error("the name is empty", index, f"write |B{kind}:name| or |B{kind}|")
        name = "".join(self.sides) + (str(self.counts[-1]) if given is None else given)
        if name in self.parts:
            raise _error(
                f"representation {shorten(repr(name))} appears twice", index, "rename one of them"
            )
        end = self.text.find(f"|E{kind}|", header.end())
        if end < 0:
            raise _error(
                f"representation {shorten(repr(name))} is never closed",
                index,
                f"end it with |E{kind}|",
            )
        self.parts[name] = _Part(kind, index, header.end(), end)
        self.position = end + len(kind) + 3
        self.counts[-1] += 1
        self.may_pair = False

    def take_pair_mark(self, mark: str, index: int) -> None:
        due = {"": "|<|", "left.": "|,|", "right.": "|>|"}[self.sides[-1] if self.sides else ""]
        self.position = index + len(mark)
        if mark == "|<|" and self.may_pair:
            if len(self.sides) >= _MAX_NESTING:
                raise _error(f"pairs are nested more than {_MAX_NESTING} deep", index)
            self.sides.append("left.")
            self.begin_example()
        elif mark == "|<|" or mark != due:
            raise _error(
                f"unexpected {mark}", index, "a pair is |<| example |,| example |>|, nothing before"
            )
        else:
            self.counts.pop()
            side = self.sides.pop()
            if side == "left.":
                self.sides.append("right.")
                self.begin_example()


def _error(problem: str, index: int, hint: str | None = None) -> StructureError:
    """Return the error at a character of the line, counted from 0."""
    return StructureError(problem, column=index + 1, hint=hint)


# Parsers of bodies get the whole line with the bounds of the body, so that errors have a column.
# Nothing in the format is quoted or escaped: a node label ends at the next bracket or blank.


def _parse_number(text: str) -> float | None:
    """Return the finite number written in ``text``, else None.

    Examples
    --------
    >>> _parse_number("-1.5e1"), _parse_number("nan"), _parse_number("1_000")
    (-15.0, None, None)
    """
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if isfinite(value) else None


def _shown(written: str) -> str:
    """Return a shortened quotation for a message."""
    return shorten(repr(written))


def _parse_string(line: str, start: int, end: int, _: _LeafCache) -> str:
    # One blank on each side is part of the notation, all others are text.
    if start < end and line[start] in BLANKS:
        start += 1
    if start < end and line[end - 1] in BLANKS:
        end -= 1
    return line[start:end]


def _parse_sparse(line: str, start: int, end: int, _: _LeafCache) -> dict[str, float]:
    features: dict[str, float] = {}
    for match in _WORD.finditer(line, start, end):
        name, _colon, written = match[0].rpartition(":")
        value = _parse_number(written)
        if not name or value is None:
            raise _error(
                f"{_shown(match[0])} is not a feature with a finite value",
                match.start(),
                "write name:value, for example word:1.0",
            )
        if name in features:
            raise _error(
                f"feature {_shown(name)} appears twice", match.start(), "add up its values"
            )
        features[name] = value
    return features


def _parse_dense(line: str, start: int, end: int, _: _LeafCache) -> tuple[float, ...]:
    values = []
    for match in _COMPONENT.finditer(line, start, end):
        value = _parse_number(match[0])
        if value is None:
            raise _error(f"{_shown(match[0])} is not a finite number", match.start())
        values.append(value)
    return tuple(values)


def _parse_sequence(line: str, start: int, end: int, _: _LeafCache) -> Sequence:
    elements = []
    position = start
    while match := _ELEMENT.match(line, position, end):
        if not match[1]:
            raise _error("an element of the sequence is empty", match.end() - 2)
        elements.append(match[1])
        position = match.end()
    if rest := _WORD.search(line, position, end):
        raise _error(
            "this is not an element of a sequence", rest.start(), "write (one)(two)(three)"
        )
    return Sequence(elements)


def _parse_graph(line: str, start: int, end: int, _: _LeafCache) -> Graph:
    cut = line.find("%%", start, end)
    nodes: dict[NodeId, str] = {}
    for item in _items(line, start, end if cut < 0 else cut):
        name, _blank, label = item[1].partition(" ")
        if not _NODE_ID.fullmatch(name) or not label.strip(BLANKS):
            raise _error(f"{_shown(item[1])} is not a node", item.start(1), "write: number label")
        if int(name) in nodes:
            raise _error(f"node {name} appears twice", item.start(1), "number nodes differently")
        nodes[int(name)] = label.strip(BLANKS)
    edges: list[tuple[NodeId, str, NodeId]] = []
    for item in _items(line, end if cut < 0 else cut + 2, end):
        ends = _WORD.findall(item[1])
        if len(ends) != 2 or not all(map(_NODE_ID.fullmatch, ends)):
            raise _error(f"{_shown(item[1])} is not an edge", item.start(1), "write: number number")
        for name in ends:
            if int(name) not in nodes:
                raise _error(f"there is no node {name}", item.start(1), "list it before the %%")
        edges.append((int(ends[0]), "", int(ends[1])))
    return Graph(nodes, edges)


def _items(line: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Yield the items between ``&&`` without blanks around them; empty items are left out."""
    while start < end:
        stop = line.find("&&", start, end)
        stop = end if stop < 0 else stop
        if match := _TRIMMED.match(line, start, stop):
            yield match
        start = stop + 2


def _parse_tree(line: str, start: int, end: int, leaves: _LeafCache) -> Tree:
    """Parse ``(A(B)(C))`` as well as ``(A (B b) (C c))``.

    The first word after an opening bracket is the label, further words are leaves. For speed the
    loop does not track positions; `_explain_tree` finds the place of an error.
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
            label = share(token[1:].lstrip(BLANKS))
            if not label:
                _explain_tree(line, start, end)
            above.append((label, siblings))
            siblings = []
    if above or len(siblings) != 1:
        _explain_tree(line, start, end)
    return siblings[0]


def _remember(token: str, leaves: _LeafCache) -> Tree:
    """Return a leaf, or a node above leaves; trees are immutable, so equal ones are shared."""
    label, *below = token.strip("()").split("(")
    words = [f"({word.rstrip(')')})" for word in below]
    children = [leaves.get(word) or _remember(word, leaves) for word in words]
    made = leaves[token] = make_node(share(label), tuple(children), "")
    return made


def _explain_tree(line: str, start: int, end: int) -> NoReturn:
    """Raise the first error of a tree that could not be parsed."""
    opened: list[int] = []
    complete = False
    for match in _TREE_TOKEN.finditer(line, start, end):
        token, index = match[0], match.start()
        if token == ")" and not opened:
            raise _error('unexpected ")"', index, "remove it or add the opening bracket")
        if complete:
            raise _error("text after the tree", index, "one representation holds one tree")
        if token[0] not in "()" and not opened:
            raise _error('expected "("', index, f"a tree of one node is written ({shorten(token)})")
        if token[0] == "(" and not token.strip("( \t"):
            raise _error("a node has no label", index, "write a label after the bracket")
        if token == ")":
            opened.pop()
        elif token[0] == "(" and token[-1] != ")":
            opened.append(index)
        complete = not opened
    if opened:
        missing = f"{len(opened)} closing bracket{'s' * (len(opened) > 1)}"
        raise _error("bracket is never closed", opened[-1], f"add {missing} before |ET|")
    raise _error("the tree is empty", end, "leave the representation out")


# Type in the file -> parser(line, start, end, leaves), bounds being those of the body.
_BODY_PARSERS: dict[str, Callable[[str, int, int, _LeafCache], View]] = {
    "T": _parse_tree,
    "SQ": _parse_sequence,
    "G": _parse_graph,
    "S": _parse_string,
    "V": _parse_sparse,
    "DV": _parse_dense,
}


def kelp_text(examples: Iterable[Example], *, views: Iterable[str] | None = None) -> Iterator[str]:
    r"""Yield one line for each example; parameters are those of `write_kelp`.

    Nothing can be quoted in this format, so a label or text that would be read back as something
    else is a ``StructureError``.

    Examples
    --------
    >>> "".join(kelp_text([Example("a", ("LOC", ("score", 0.5)), {"t": Tree("A", [Tree("B")])})]))
    'LOC score:0.5 |BT:t| (A(B)) |ET|\n'
    """
    wanted = view_names(views)
    return write_each(examples, lambda example: _line(example, wanted), unique_ids=False)


def _line(example: Example, wanted: tuple[str, ...] | None) -> str:
    names = example.views if wanted is None else wanted
    views = {name: example.view(name) for name in names}
    line = " ".join([*_format_labels(example.label), *_format_views(views)])
    # A byte order mark at the start of a file would be removed by the reader.
    return f" {line}\n" if line.startswith("\ufeff") else f"{line}\n"


def _format_labels(label: object) -> list[str]:
    if label is None:
        return []
    if isinstance(label, tuple) and not _is_numeric(label):
        return [_format_label(member) for member in label]
    return [_format_label(label)]


def _is_numeric(label: tuple[object, ...]) -> bool:
    """Return whether a label is numeric, a pair of name and number, and not several labels."""
    return len(label) == 2 and isinstance(label[0], str) and isinstance(label[1], (int, float))


def _format_label(label: object) -> str:
    if isinstance(label, tuple) and _is_numeric(label):
        name, value = label
        return f"{_check_label_text(name)}:{_format_number(value)}"
    if not isinstance(label, str):
        raise StructureError(
            f"label {label!r} is not a string", hint='give a number a name: ("score", 1.5)'
        )
    name, colon, number = label.rpartition(":")
    if name and colon and _parse_number(number) is not None:
        raise StructureError(
            f"label {label!r} would be read as a number",
            hint=f"make it the pair ({name!r}, {number})",
        )
    return _check_label_text(label)


def _check_label_text(label: str) -> str:
    if not _is_label_text(label):
        raise StructureError(
            f"label {label!r} has a blank or a mark such as |B", hint="rename the label"
        )
    return label


def _is_label_text(label: str) -> bool:
    return bool(_PLAIN_WORD.fullmatch(label)) and not _MARK.search(label)


def _format_views(views: Mapping[str, View], level: int = 0) -> Iterator[str]:
    if not views:
        raise StructureError("there are no views", hint="the format wants at least one")
    left, right = _side(views, "left."), _side(views, "right.")
    if not left or not right or "" in left or "" in right:
        for name, view in views.items():
            yield _format_part(name, view)
        return
    if level >= _MAX_NESTING:
        raise StructureError(f"pairs are nested more than {_MAX_NESTING} deep")
    yield "|<|"
    yield from _format_side(left, level)
    yield "|,|"
    yield from _format_side(right, level)
    yield "|>|"
    for name, view in views.items():
        if not name.startswith(("left.", "right.")):
            yield _format_part(name, view)


def _side(views: Mapping[str, View], prefix: str) -> dict[str, View]:
    return {name[len(prefix) :]: view for name, view in views.items() if name.startswith(prefix)}


def _format_side(views: dict[str, View], level: int) -> Iterator[str]:
    label = views.get("label")
    if isinstance(label, str) and len(views) > 1:
        words = label.split(" ")
        if all(map(_is_label_text, words)):
            del views["label"]
            yield label
    yield from _format_views(views, level + 1)


def _format_part(name: str, view: View) -> str:
    if not _VIEW_NAME.fullmatch(name):
        raise StructureError(f"view name {name!r} is empty or has a |", hint="rename the view")
    kind, body = _format_body(view)
    if f"|E{kind}|" in body or "\n" in body:
        raise StructureError(
            f"view {name!r} has a line break or |E{kind}|, which would end it too early"
        )
    return f"|B{kind}:{name}| {body} |E{kind}|"


def _format_body(view: View) -> tuple[str, str]:
    match view:
        case Tree():
            return "T", _format_tree(view)
        case Sequence():
            return "SQ", _format_sequence(view)
        case Graph():
            return "G", _format_graph(view)
        case Forest():
            raise StructureError("KeLP's format has no forests", hint="write them as jsonl")
        case Sentence() | Document():
            raise StructureError(
                f"KeLP's format cannot hold a {type(view).__name__.lower()}",
                hint="make views of it, such as kw.views.grct, or write jsonl",
            )
        case str():
            return "S", view
        case tuple():
            return "DV", " ".join(map(_format_number, view))
    return "V", " ".join(
        f"{_check(_PLAIN_WORD, name, 'feature')}:{_format_number(value)}"
        for name, value in view.items()
    )


def _format_tree(tree: Tree) -> str:
    pieces: list[str] = []
    waiting: list[Tree | None] = [tree]
    while waiting:
        node = waiting.pop()
        if node is None:
            pieces.append(")")
            continue
        _check_no_edge(node.edge)
        pieces.append("(" + _check(_PLAIN_NODE, node.label, "node label"))
        waiting.append(None)
        waiting.extend(reversed(node.children))
    return "".join(pieces)


def _format_sequence(sequence: Sequence) -> str:
    for edge in sequence.edges:
        _check_no_edge(edge)
    return "".join(f"({_check(_PLAIN_ELEMENT, node, 'element')})" for node in sequence.nodes)


def _format_graph(graph: Graph) -> str:
    if graph.root is not None:
        raise StructureError("the format cannot hold the root of a graph")
    nodes = []
    for name, label in graph.nodes.items():
        if not isinstance(name, int):
            raise StructureError(f"node id {name!r} is not a number", hint="number the nodes")
        if "&&" in label or "%%" in label:
            raise StructureError(f"node label {label!r} has && or %%", hint="rename it")
        # A blank separates "a&" from the "&&" that follows; it is not part of the label.
        gap = " " if label.endswith(("&", "%")) else ""
        nodes.append(f"{name} {_check(_PLAIN_GRAPH_LABEL, label, 'node label')}{gap}")
    for _, label, _ in graph.edges:
        _check_no_edge(label)
    edges = "&&".join(f"{source} {target}" for source, _, target in graph.edges)
    return "&&".join(nodes) + (f"%%{edges}" if edges else "")


def _format_number(value: float) -> str:
    if not isfinite(value):
        raise StructureError(f"{value!r} is not a finite number")
    return repr(float(value))


def _check_no_edge(edge: str) -> None:
    if edge:
        raise StructureError(
            f"the format cannot hold the edge label {edge!r}",
            hint="rewrite the structure with edge labels as nodes",
        )


def _check(pattern: re.Pattern[str], text: str, what: str) -> str:
    if not pattern.fullmatch(text):
        raise StructureError(
            f"{what} {text!r} is empty, or has a blank, bracket or line break",
            hint="the format cannot quote them; rename it",
        )
    return text


def write_kelp(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    views: Iterable[str] | None = None,
) -> None:
    r"""Write examples as KeLP lines; reading them gives the same labels and views.

    Parameters
    ----------
    examples : iterable of Example
        Ids and origins are not written. Views that the format cannot hold, such as those with
        edge labels or with a blank or bracket in a node label, are an error.
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
