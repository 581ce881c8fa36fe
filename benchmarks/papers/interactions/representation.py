"""How a pair of proteins is seen: the views of a candidate, and the kernels that compare them.

The paper has the shortest path alone. Here the words around the pair and the tree about the path
stand beside it; in all of them the two proteins are `ENTITY1` and `ENTITY2`, other ones `ENTITY`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import kernelwood as kw
from kernelwood import views
from kernelwood.extract.candidates import Candidates
from kernelwood.views.words import OTHERS, token_label

__all__ = ["REPRESENTATIONS", "Representation", "examples", "pair_tree", "steps"]


@dataclass(frozen=True)
class Representation:
    """What a kernel is made of.

    Attributes
    ----------
    parts : tuple of (str, float)
        Names of views, with the weight of the kernel on each.
    similarity : str
        How words compare, ``"gaussian"``, ``"sigmoid"`` or ``"exact"``; in the words around the
        pair, which are many, only words with a cosine above 0.5 do, unless it is ``"exact"``.
    decay : float
        Of the kernels on sequences.
    """

    parts: tuple[tuple[str, float], ...]
    similarity: str = "gaussian"
    decay: float = 0.8

    def kernel(self, vectors: kw.Vectors) -> kw.Kernel:
        """Return the weighted sum of the kernels on the views."""
        kernels = [
            weight * kw.OnView(name, self._kernel_on(name, vectors)) for name, weight in self.parts
        ]
        return sum(kernels[1:], start=kernels[0])

    def _kernel_on(self, name: str, vectors: kw.Vectors) -> kw.Kernel:
        if name == "tree":
            return kw.PartialTreeKernel(decay=0.4, depth_decay=0.4)
        similarity: kw.similarity.Similarity | None = None
        if self.similarity != "exact":
            if name == "context":
                similarity = kw.similarity.Exponential(vectors, floor=0.5)
            elif self.similarity == "sigmoid":
                similarity = kw.similarity.Sigmoid(vectors)
            else:
                similarity = kw.similarity.Gaussian(vectors)
        return kw.SubsequenceKernel(decay=self.decay, similarity=similarity)


REPRESENTATIONS = {
    "path": Representation((("path", 1.0),)),
    "steps": Representation((("steps", 1.0),)),
    "context": Representation((("context", 1.0),)),
    "context+steps": Representation((("context", 0.5), ("steps", 0.5))),
    "context+steps+tree": Representation((("context", 1 / 3), ("steps", 1 / 3), ("tree", 1 / 3))),
}


def examples(candidates: Candidates, window: int = 5) -> list[kw.Example]:
    """Return an example for each candidate, with the views that the kernels compare."""
    return candidates.examples(
        path=lambda c: views.shortest_path(c.sentence, *c.entities, directed=False).sequence,
        steps=steps,
        context=lambda c: views.context(c.sentence, *c.entities, window=window).joined(),
        tree=pair_tree,
    )


def steps(candidate: kw.Candidate) -> kw.Sequence:
    """Return the path with relations and words as elements of their own.

    So a word counts where the relation to it is another one, and a relation with another word.
    """
    path = views.shortest_path(candidate.sentence, *candidate.entities).sequence
    written: list[str] = []
    for edge, node in path:
        if edge:
            written.append(f"<{edge}>")
        written.append(node)
    return kw.Sequence(written)


def pair_tree(candidate: kw.Candidate) -> kw.Tree:
    """Return the dependencies on the path, and those that hang from it, as a tree of relations.

    Relations are inner nodes; below each is its word, and its dependents in the order of the
    sentence. The topmost word of the path is the root. What a word of the path governs besides
    (a negation, say) is taken along, but nothing below.
    """
    path = views.shortest_path(candidate.sentence, *candidate.entities)
    tokens, edges, nodes = path.tokens, path.sequence.edges, path.sequence.nodes
    if path.fallback:
        return kw.Tree("none", [kw.Tree(node) for node in nodes])
    below = _beside(candidate.sentence, tokens)
    for token, node in zip(tokens, nodes, strict=True):
        below[token].append((token, kw.Tree(node)))
    top = max((at for at, edge in enumerate(edges) if edge.endswith("-of")), default=0)
    # From both ends up to the top, so that a subtree is complete when its head is met.
    upward = [(at, at + 1, edges[at + 1]) for at in range(top)]
    upward += [(at, at - 1, edges[at]) for at in range(len(tokens) - 1, top, -1)]
    for at, head, edge in upward:
        subtree = _node(edge.removesuffix("-of"), below[tokens[at]])
        below[tokens[head]].append((tokens[at], subtree))
    return _node("root", below[tokens[top]])


def _beside(sentence: kw.Sentence, tokens: Collection[int]) -> dict[int, list[tuple[int, kw.Tree]]]:
    """Return what each of some tokens governs that is not one of them."""
    proteins = {at for entity in sentence.entities for at in sentence.tokens_of(entity)}
    below: dict[int, list[tuple[int, kw.Tree]]] = {token: [] for token in tokens}
    for head, relation, dependent in sentence.dependencies:
        if head in below and dependent not in below:
            word = OTHERS if dependent in proteins else token_label(sentence.tokens[dependent])
            below[head].append((dependent, kw.Tree(relation, [kw.Tree(word)])))
    return below


def _node(relation: str, below: list[tuple[int, kw.Tree]]) -> kw.Tree:
    return kw.Tree(relation, [tree for _, tree in sorted(below, key=lambda child: child[0])])
