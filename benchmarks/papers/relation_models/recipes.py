"""The recipes in the table: kernels on views of pairs, a learner, and a rule for the threshold.

All choices were made on held-out documents of the training corpus, see `relation_models.tried`,
and before anything was judged on another corpus.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import kernelwood as kw

__all__ = ["RECIPES", "Recipe", "before", "product", "weighted_sum"]


@dataclass(frozen=True)
class Recipe:
    """A row of the table.

    Attributes
    ----------
    name : str
        What the table shows.
    kernel : callable
        From vectors, or None, to the kernel.
    recipe : str
        A name in `kernelwood.relations.RECIPES`.
    threshold : str
        How the line is drawn.
    has_vectors : bool
        Whether words match by degrees.
    """

    name: str
    kernel: Callable[[Any], kw.Kernel]
    recipe: str = "svm"
    threshold: str = "f1"
    has_vectors: bool = False

    def extractor(self, vectors: kw.Vectors) -> kw.RelationExtractor:
        """Return the extractor, not fitted."""
        kernel = self.kernel(vectors if self.has_vectors else None)
        return kw.RelationExtractor(
            self.recipe,
            kernel=kernel,
            threshold=self.threshold,
            parser="given",
            random_state=0,
            n_jobs=2,
        )


def parts(vectors: Any) -> list[kw.Kernel]:
    """Return kernels on the words around a pair, the steps between, its names, and negation.

    Subsequences have at most three elements. Without vectors, words are cut to stems.
    """
    similarity = None if vectors is None else kw.similarity.Exponential(vectors, floor=0.5)
    prefix = "stem-" if vectors is None else ""
    short = kw.SubsequenceKernel(max_length=3, similarity=similarity, dtype="float32")
    single = kw.SubsequenceKernel(max_length=1, dtype="float32")
    return [
        kw.OnView(f"{prefix}context", short),
        kw.OnView(f"{prefix}steps", short),
        kw.OnView("names", single),
        kw.OnView("negation", single),
    ]


def multiplied(context: kw.Kernel, steps: kw.Kernel, pair: kw.Kernel) -> kw.Kernel:
    return 1 / 3 * ((context + 0.5 * pair) * (steps + pair))


def product(vectors: Any) -> kw.Kernel:
    """Return a product: words and steps must both be similar, or either where the pair is."""
    context, steps, names, negation = parts(vectors)
    return multiplied(context, steps, 0.5 * names + 0.5 * negation)


def without_negation(vectors: Any) -> kw.Kernel:
    """Return the product without regard to words that deny."""
    return multiplied(*parts(vectors)[:3])


def weighted_sum(vectors: Any) -> kw.Kernel:
    """Return the sum of three kernels."""
    context, steps, names, _ = parts(vectors)
    return 0.45 * context + 0.25 * steps + 0.3 * names


def before(vectors: Any) -> kw.Kernel:
    """Return what was known to be good before: two kernels on subsequences of all lengths."""
    path = kw.similarity.Gaussian(vectors)
    words = kw.similarity.Exponential(vectors, floor=0.5)
    return 0.5 * kw.OnView("context", kw.SubsequenceKernel(similarity=words)) + 0.5 * kw.OnView(
        "steps", kw.SubsequenceKernel(similarity=path)
    )


RECIPES = (
    Recipe("SVM, product", product),
    Recipe("SVM, product, cautious", product, threshold="cautious"),
    Recipe("SVM, product, no negation", without_negation),
    Recipe("SVM, product, vectors", product, has_vectors=True),
    Recipe("SVM, sum", weighted_sum),
    Recipe("SVM, all lengths, vectors", before, has_vectors=True),
    Recipe("KLSH-RF, product", product, recipe="klsh-rf"),
    Recipe("Nyström, product", product, recipe="nystrom"),
)
