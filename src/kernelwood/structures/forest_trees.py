"""Single trees of a forest: the best one, and random ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kernelwood.errors import StructureError
from kernelwood.structures.forest import Forest
from kernelwood.structures.forest_weights import best_scores, scaled_inside, shares
from kernelwood.structures.labels import shorten
from kernelwood.structures.tree import Tree, make_node

__all__ = ["RandomSource", "best_tree", "sample_tree"]

# A sampled tree chooses anew wherever a node occurs. Where one tree uses a node twice, and that
# one another twice, it may have more nodes than there is memory.
_MOST_NODES = 1_000_000


class RandomSource(Protocol):
    """Whatever draws numbers: a `random.Random` or a `numpy.random.Generator`."""

    def random(self) -> float:
        """Return a number in [0, 1)."""


def best_tree(forest: Forest) -> Tree:
    """Return the most probable tree; see `Forest.best_tree`."""
    _, scores = best_scores(forest)
    # The first of equals, whatever the order of comparison.
    chosen = {
        node: max(heading, key=lambda position: (scores[position], -position))
        for node, heading in enumerate(forest._by_head)
        if heading
    }
    return _build(forest, chosen)[forest.root]


def sample_tree(forest: Forest, rng: RandomSource) -> Tree:
    """Draw a tree; see `Forest.sample`."""
    if not callable(getattr(rng, "random", None)):
        raise StructureError(
            f"rng must draw numbers with random(), got {shorten(repr(rng))} "
            f"of type {type(rng).__name__}",
            hint="give a random.Random(seed) or a numpy.random.default_rng(seed)",
        )
    scores = scaled_inside(forest)[1]
    parts: dict[int, list[float]] = {}
    settled = _settled_trees(forest)
    drawn: list[tuple[int, int]] = []
    todo = [forest.root]
    while todo:
        node = todo.pop()
        if node in settled:
            drawn.append((node, 0))
            continue
        heading = forest._by_head[node]
        if node not in parts:
            parts[node] = shares([scores[position] for position in heading])
        children = forest.edges[heading[_draw(parts[node], rng)]][1]
        drawn.append((node, len(children)))
        todo += children
        if len(drawn) > _MOST_NODES:
            raise _too_large(forest)
    return _assemble(forest, drawn, settled)


def _draw(parts: list[float], rng: RandomSource) -> int:
    rest = rng.random()
    for choice, part in enumerate(parts):
        rest -= part
        if rest < 0.0:
            return choice
    # The parts may add up to a rounding error below 1.
    return max(range(len(parts)), key=parts.__getitem__)


def _assemble(forest: Forest, drawn: list[tuple[int, int]], settled: Mapping[int, Tree]) -> Tree:
    """Build the tree from its nodes in reverse post-order: the last one comes first."""
    ready: list[Tree] = []
    for node, n_children in reversed(drawn):
        if n_children:
            children = tuple(ready[-n_children:])
            del ready[-n_children:]
            ready.append(make_node(forest.labels[node], children, ""))
        else:
            ready.append(settled[node])
    return ready.pop()


def _settled_trees(forest: Forest) -> dict[int, Tree]:
    """Return the trees of the nodes below which there is nothing to choose."""
    trees: dict[int, Tree] = {}
    for node in forest._order:
        heading = forest._by_head[node]
        children = forest.edges[heading[0]][1] if heading else ()
        if len(heading) < 2 and all(child in trees for child in children):
            below = tuple([trees[child] for child in children])
            trees[node] = make_node(forest.labels[node], below, "")
    return trees


def _build(forest: Forest, chosen: Mapping[int, int]) -> dict[int, Tree]:
    """Return the trees that follow from one chosen hyper-edge per node, below the root."""
    used = {forest.root}
    for node in reversed(forest._order):
        if node in used and node in chosen:
            used.update(forest.edges[chosen[node]][1])
    trees: dict[int, Tree] = {}
    for node in forest._order:
        if node in used:
            children = forest.edges[chosen[node]][1] if node in chosen else ()
            below = tuple([trees[child] for child in children])
            trees[node] = make_node(forest.labels[node], below, "")
    return trees


def _too_large(forest: Forest) -> StructureError:
    return StructureError(
        f"a tree of {forest!r} has more than {_MOST_NODES:,} nodes, too many to draw one by one",
        hint="see why one tree uses the same node so often",
    )
