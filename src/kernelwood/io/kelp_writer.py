"""Examples as KeLP lines.

Nothing can be quoted in this format, so a label or text that would be read back as something else
is refused with a ``StructureError`` instead of being changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite

from kernelwood.errors import StructureError
from kernelwood.io.kelp_bodies import parse_number
from kernelwood.structures import Forest, Graph, Sequence, Tree
from kernelwood.text import Document, Example, Sentence, View

__all__ = ["kelp_text"]

_WORD = re.compile(r"[^ \t\n]+")
_NODE = re.compile(r"[^() \t\n]+")
_ELEMENT = re.compile(r"[^()\n]+")
_GRAPH_LABEL = re.compile(r"(?! |\t)[^\n]+(?<![ \t])")
_VIEW_NAME = re.compile(r"[^|\n]+")
_MARK = re.compile(r"\|B|\|[<,>]\|")
_MAX_NESTING = 32  # as in reading


def kelp_text(examples: Iterable[Example], *, views: Iterable[str] | None = None) -> Iterator[str]:
    r"""Yield one line for each example.

    Examples
    --------
    >>> "".join(kelp_text([Example("a", ("LOC", ("score", 0.5)), {"t": Tree("A", [Tree("B")])})]))
    'LOC score:0.5 |BT:t| (A(B)) |ET|\n'
    """
    wanted = None if views is None else (views,) if isinstance(views, str) else tuple(views)
    for example in examples:
        names = example.views if wanted is None else wanted
        chosen = {name: example.view(name) for name in names}
        try:
            parts = [*_format_labels(example.label), *_format_views(chosen)]
        except StructureError as failure:
            raise StructureError(
                f"example {example.id!r} cannot be written: {failure.problem}", hint=failure.hint
            ) from failure
        line = " ".join(parts)
        # A byte order mark at the very start of a file would be taken off when it is read.
        yield f" {line}\n" if line.startswith("\ufeff") else f"{line}\n"


def _format_labels(label: object) -> list[str]:
    if label is None:
        return []
    if isinstance(label, tuple) and not _is_numeric(label):
        return [_format_label(member) for member in label]
    return [_format_label(label)]


def _is_numeric(label: tuple[object, ...]) -> bool:
    """Tell a numeric label, a name with a number, from several labels."""
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
    if name and colon and parse_number(number) is not None:
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
    return bool(_WORD.fullmatch(label)) and not _MARK.search(label)


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
                f"KeLP's format has no place for a {type(view).__name__.lower()}",
                hint="make views of it, such as kw.views.grct, or write jsonl",
            )
        case str():
            return "S", view
        case tuple():
            return "DV", " ".join(map(_format_number, view))
    return "V", " ".join(
        f"{_check(_WORD, name, 'feature')}:{_format_number(value)}" for name, value in view.items()
    )


def _format_tree(tree: Tree) -> str:
    pieces: list[str] = []
    todo: list[Tree | None] = [tree]
    while todo:
        node = todo.pop()
        if node is None:
            pieces.append(")")
            continue
        _check_no_edge(node.edge)
        pieces.append("(" + _check(_NODE, node.label, "node label"))
        todo.append(None)
        todo.extend(reversed(node.children))
    return "".join(pieces)


def _format_sequence(sequence: Sequence) -> str:
    for edge in sequence.edges:
        _check_no_edge(edge)
    return "".join(f"({_check(_ELEMENT, node, 'element')})" for node in sequence.nodes)


def _format_graph(graph: Graph) -> str:
    if graph.root is not None:
        raise StructureError("the format has no place for the root of a graph")
    nodes = []
    for name, label in graph.nodes.items():
        if not isinstance(name, int):
            raise StructureError(f"node id {name!r} is not a number", hint="number the nodes")
        if "&&" in label or "%%" in label:
            raise StructureError(f"node label {label!r} has && or %%", hint="rename it")
        # A blank, not part of the label, keeps "a&" apart from the "&&" that follows it.
        gap = " " if label.endswith(("&", "%")) else ""
        nodes.append(f"{name} {_check(_GRAPH_LABEL, label, 'node label')}{gap}")
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
            f"the format has no place for the edge label {edge!r}",
            hint="rewrite the structure with edge labels as nodes",
        )


def _check(pattern: re.Pattern[str], text: str, what: str) -> str:
    if not pattern.fullmatch(text):
        raise StructureError(
            f"{what} {text!r} is empty, or has a blank, bracket or line break",
            hint="the format cannot quote them; rename it",
        )
    return text
