"""Representations of a pair of proteins: views, kernels on them, and combinations of these.

In all views the two proteins are `ENTITY1` and `ENTITY2`, others `ENTITY`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import kernelwood as kw
from kernelwood import views

__all__ = [
    "CUTS",
    "DECAYS",
    "GRAPHS",
    "REPRESENTATIONS",
    "Part",
    "Representation",
    "described",
    "described_name",
    "described_names",
]

Matrix: TypeAlias = "NDArray[np.float32]"
DECAYS = (0.8, 0.9, 0.99)  # of the kernel as described
CUTS = (0.0, 0.1, 0.2, 0.3, 0.4)  # cosines from which two words match


@dataclass(frozen=True)
class Part:
    """A view of a pair, by name or as a function of a candidate, and the kernel on it."""

    view: str | Callable[[kw.text.Candidate], Any]
    kernel: Callable[[kw.Vectors], kw.Kernel]


@dataclass(frozen=True)
class Representation:
    """Parts, and the function from their matrices to one.

    The matrices of parts may be changed by it.
    """

    parts: dict[str, Part]
    combine: Callable[..., Matrix] = lambda matrix: matrix


def path(candidate: kw.text.Candidate) -> kw.Sequence:
    """Return the path as pairs of relation and word, without direction."""
    return views.shortest_path(candidate.sentence, *candidate.entities, directed=False).sequence


def marked_path(candidate: kw.text.Candidate) -> kw.Sequence:
    """Return the path with relations in brackets, so that no word vector compares them."""
    return kw.Sequence([(f"<{edge}>", node) for edge, node in path(candidate)])


def context(candidate: kw.text.Candidate) -> kw.Sequence:
    """Return the words from five before to five after the pair."""
    return views.context(candidate.sentence, *candidate.entities, window=5).joined()


def _soft(vectors: kw.Vectors) -> kw.Kernel:
    return kw.SubsequenceKernel(similarity=kw.similarity.Gaussian(vectors), dtype="float32")


def _words(vectors: kw.Vectors) -> kw.Kernel:
    similarity = kw.similarity.Exponential(vectors, floor=0.5)
    return kw.SubsequenceKernel(similarity=similarity, dtype="float32")


def _exact(max_length: int) -> Callable[[kw.Vectors], kw.Kernel]:
    return lambda _: kw.SubsequenceKernel(max_length=max_length, dtype="float32")


def _paths(variant: str) -> Callable[[kw.Vectors], kw.Kernel]:
    return lambda _: kw.AllPathsGraphKernel(variant=variant, dtype="float32")


PATH = Part(path, _soft)
STEPS = Part("steps", _soft)
CONTEXT = Part(context, _words)
TREE = Part(
    "path-tree", lambda _: kw.PartialTreeKernel(decay=0.4, depth_decay=0.4, dtype="float32")
)
DEFAULT = {
    "stem-context": Part("stem-context", _exact(3)),
    "stem-steps": Part("stem-steps", _exact(3)),
    "names": Part("names", _exact(1)),
    "negation": Part("negation", _exact(1)),
}
GRAPHS = tuple(
    f"{view}, {variant}"
    for view in ("all-paths-graph", "tagged-all-paths-graph")
    for variant in ("sum", "max")
)


def product(words: Matrix, steps: Matrix, names: Matrix, negation: Matrix) -> Matrix:
    """Return the default kernel of the extractor: words and steps must both be similar."""
    pair = (names + negation) / 2
    words += pair / 2
    steps += pair
    words *= steps
    words /= 3
    return words


def average(*matrices: Matrix) -> Matrix:
    """Return the mean of matrices."""
    total = matrices[0]
    for matrix in matrices[1:]:
        total += matrix
    total /= len(matrices)
    return total


def path_graph(candidate: kw.text.Candidate, *, tags: bool) -> kw.Graph:
    """Return the graph of all paths; without cycles if the weights of its paths have no sum."""
    made = views.all_paths_graph(candidate.sentence, *candidate.entities, tags=tags).graph
    try:
        kw.AllPathsGraphKernel().diag([made])
    except kw.errors.KernelInputError:
        return without_cycles(made)
    return made


def without_cycles(graph: kw.Graph) -> kw.Graph:
    """Return a graph without the edges that close a cycle in a depth-first search."""
    after: dict[Any, list[Any]] = {}
    for edge in graph.edges:
        after.setdefault(edge[0], []).append(edge)
    kept, done, open_nodes = [], set(), set()
    for root in graph.nodes:
        stack = [(root, iter(after.get(root, ())))] if root not in done else []
        open_nodes.update(node for node, _ in stack)
        while stack:
            node, rest = stack[-1]
            edge = next(rest, None)
            if edge is None:
                stack.pop()
                open_nodes.discard(node)
                done.add(node)
            elif edge[2] not in open_nodes:
                kept.append(edge)
                if edge[2] not in done:
                    stack.append((edge[2], iter(after.get(edge[2], ()))))
                    open_nodes.add(edge[2])
    return kw.Graph(graph.nodes, kept)


_GRAPH_VIEWS = {
    "all-paths-graph": partial(path_graph, tags=False),
    "tagged-all-paths-graph": partial(path_graph, tags=True),
}


def _graph(name: str) -> Part:
    view, variant = name.split(", ")
    return Part(_GRAPH_VIEWS[view], _paths(variant))


def _with_default(name: str) -> Representation:
    def combine(graph: Matrix, *rest: Matrix) -> Matrix:
        return average(graph, product(*rest))

    return Representation({name: _graph(name), **DEFAULT}, combine)


def described(decay: float, cut: float) -> Representation:
    """Return the path kernel of the authors' public code, as it is described there.

    Relations must be equal, and words with a cosine of at least the cut match fully.
    """

    def kernel(vectors: kw.Vectors) -> kw.Kernel:
        similarity = kw.similarity.Threshold(vectors, cut)
        return kw.SubsequenceKernel(decay=decay, similarity=similarity, dtype="float32")

    return Representation({described_name(decay, cut): Part(marked_path, kernel)})


def described_name(decay: float, cut: float) -> str:
    """Return the name of a kernel as described."""
    return f"as described, λ={decay}, cut {cut}"


def described_names() -> list[str]:
    """Return the names of all kernels as described."""
    return [described_name(decay, cut) for decay in DECAYS for cut in CUTS]


REPRESENTATIONS: dict[str, Representation] = {
    "path": Representation({"path": PATH}),
    "steps": Representation({"steps": STEPS}),
    "context+steps": Representation({"context": CONTEXT, "steps": STEPS}, average),
    "context+steps+tree": Representation(
        {"context": CONTEXT, "steps": STEPS, "tree": TREE}, average
    ),
    "default": Representation(DEFAULT, product),
    **{name: Representation({name: _graph(name)}) for name in GRAPHS},
    **{f"{name} + default": _with_default(name) for name in GRAPHS},
    **{described_name(decay, cut): described(decay, cut) for decay in DECAYS for cut in CUTS},
}
