"""Fragments of two graphs: pairs of labels joined by paths, nodes with equal neighborhoods."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from kernelwood.compute import Runner
from kernelwood.explain.found import Found, Request, Shared
from kernelwood.kernels import AllPathsGraphKernel, WeisfeilerLehmanKernel
from kernelwood.structures import Graph, NodeId

_LONGEST = 200  # characters of the text of a neighborhood

# Of each iteration and color: the sum of gates, and the text.
_Colors = dict[tuple[int, int], tuple[float, str]]


def explain_paths(kernel: AllPathsGraphKernel, X: Any, Y: Any, request: Request) -> Found:
    """Return the pairs of labels that paths join in both graphs of each pair."""
    fragments: list[list[Shared]] = []
    runner = Runner(1, 0).quiet()
    left = kernel._side(X, None, runner)
    right = kernel._side(Y, left, runner)
    for row in range(len(X)):
        others = {(i, j): weight for i, j, weight in right.features.row(row)}
        own: list[Shared] = []
        for i, j, weight in left.features.row(row):
            other = others.get((i, j), 0.0)
            if weight * other > 0:
                first, last = left.vocabulary.label(i), left.vocabulary.label(j)
                own.append(_shared(f"{first} … {last}", weight * other, weight, other, 2, request))
        fragments.append(own)
    return _found(fragments)


def explain_colors(kernel: WeisfeilerLehmanKernel, X: Any, Y: Any, request: Request) -> Found:
    """Return the neighborhoods that nodes of both graphs of each pair have."""
    fragments: list[list[Shared]] = []
    for a, b in zip(X, Y, strict=True):
        numbers: dict[Any, int] = {}
        left, right = (_colors(kernel, graph, numbers) for graph in (a, b))
        own = []
        for color, (weight, text) in left.items():
            other = right[color][0] if color in right else 0.0
            value = min(weight, other) if kernel.base == "assignment" else weight * other
            if value > 0:
                own.append(_shared(text, value, weight, other, color[0] + 1, request))
        fragments.append(own)
    return _found(fragments)


def _colors(kernel: WeisfeilerLehmanKernel, graph: Graph, numbers: dict[Any, int]) -> _Colors:
    """Return the colors of a graph; those of several graphs share their numbers."""
    gates = kernel._visible(graph)
    texts = {node: graph.nodes[node] for node in gates}
    colors = {node: numbers.setdefault(text, len(numbers)) for node, text in texts.items()}
    edges = [edge for edge in graph.edges if edge[0] in gates and edge[2] in gates]
    found: _Colors = {}
    for i in range(kernel.n_iterations + 1):
        for node, gate in gates.items():
            weight, text = found.get((i, colors[node]), (0.0, texts[node]))
            found[i, colors[node]] = (weight + gate, text)
        around: dict[NodeId, list[tuple[str, bool, int, str]]] = defaultdict(list)
        for source, label, target in edges:
            around[source].append((label, False, colors[target], texts[target]))
            around[target].append((label, True, colors[source], texts[source]))
        for some in around.values():
            some.sort()
        texts = {node: _text(graph.nodes[node], around[node], i + 1) for node in gates}
        keys = {
            node: (colors[node], *(neighbor[:3] for neighbor in around[node])) for node in gates
        }
        colors = {node: numbers.setdefault(key, len(numbers)) for node, key in keys.items()}
    return found


def _text(label: str, around: list[tuple[str, bool, int, str]], radius: int) -> str:
    """Return a node with its neighbors, or with their distance if there are too many."""
    parts = [f"{edge or '-'}{'-of' if inward else ''}: {text}" for edge, inward, _, text in around]
    text = f"{label} ({', '.join(parts)})"
    return text if len(text) <= _LONGEST else f"{label} (all within {radius} edges)"


def _shared(
    text: str, weight: float, count_a: float, count_b: float, size: int, request: Request
) -> Shared:
    covers = weight if request.largest else None
    return Shared(text, weight, count_a, count_b, covers, size, 1.0, 0)


def _found(fragments: list[list[Shared]]) -> Found:
    return Found(fragments, np.zeros(len(fragments), dtype=np.bool_), lambda number: (None, None))
