"""How a pair of proteins is seen: the views of a candidate, and the kernels that compare them.

The paper has the shortest path alone. Here the words around the pair and the tree about the path
stand beside it; in all of them the two proteins are `ENTITY1` and `ENTITY2`, other ones `ENTITY`.
"""

from __future__ import annotations

from dataclasses import dataclass

import kernelwood as kw
from kernelwood import views
from kernelwood.relations import Candidates

__all__ = ["REPRESENTATIONS", "Representation", "examples"]


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
        "steps",
        path=lambda c: views.shortest_path(c.sentence, *c.entities, directed=False).sequence,
        context=lambda c: views.context(c.sentence, *c.entities, window=window).joined(),
        tree=lambda c: views.path_tree(c.sentence, *c.entities).tree,
    )
