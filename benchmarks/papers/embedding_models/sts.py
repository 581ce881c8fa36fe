"""What is measured on pairs of questions: agreement with people of words, trees and vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from embedding_models.correlation import Agreement, Scores, pearson
from embedding_models.pairs import Pairs
from embedding_models.similarity_models import (
    BAGS,
    MEANS,
    VARIANTS,
    bag_of_words,
    cosines,
    kernel_scores,
    make_kernel,
    mean_vectors,
    trees,
    variant_trees,
)
from embedding_models.transformer import NAME, Transformer

import kernelwood as kw
from kernelwood.evaluate import Spread

__all__ = ["Sts", "best_factor"]

FACTORS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
GRID = (
    ("PTK", "loct"), ("SPTK", "loct"), ("PTK", "grct"), ("SPTK", "grct"), ("PTK", "lct"),
    ("SPTK", "lct"), ("CSPTK", "cgrct"),
)  # fmt: skip
SIZES = (100, 200, 300, 400)
FOREIGN_SIZES = (400, 1000, 2000)
TUNED = "tuned on these pairs, as in the paper"
PUBLISHED = {
    "bag of words": 0.077,
    "mean vectors": 0.086,
    f"PTK, {TUNED}": 0.202,
    f"SPTK, {TUNED}": 0.262,
    ("PTK", 300): 0.189,
    ("PTK", 400): 0.202,
    ("SPTK", 300): 0.252,
    ("SPTK", 400): 0.263,
}

Row = dict[str, Any]
Advance = Callable[[int], object]


class Sts:
    """Pairs, word vectors, and what several tables need.

    Parameters
    ----------
    pairs : Pairs
        The parsed pairs.
    vectors : Vectors
        Word vectors of length 1, for kernels.
    raw : Vectors
        The same as they were trained, for means.
    transformer : Transformer, optional
        The yardstick.
    n_resamples : int
        Resamples of the intervals.
    """

    def __init__(
        self,
        pairs: Pairs,
        vectors: kw.Vectors,
        raw: kw.Vectors,
        transformer: Transformer | None = None,
        *,
        n_resamples: int = 10_000,
    ) -> None:
        self.pairs = pairs
        self.vectors = vectors
        self.raw = raw
        self.transformer = transformer
        self.agreement = Agreement(pairs.gold, n_resamples=n_resamples)

    def grid_rows(self, advance: Advance, factors: Sequence[float] = FACTORS) -> Iterator[Row]:
        """Yield the correlation of each kernel and view with each terminal factor."""
        for kernel, view in GRID:
            batch = trees(self.pairs.sentences, view)
            row: Row = {"kernel": kernel, "view": view}
            for factor in factors:
                scores = kernel_scores(make_kernel(kernel, self.vectors, factor), batch)
                row[f"{factor:g}"] = float(self.agreement.pearson(scores))
                advance(1)
            yield row

    def model_rows(self, grid: Sequence[Row]) -> Iterator[Row]:
        """Yield the agreement of each model, and how much better the smoothed kernel does."""
        scores = dict(self._scores(grid))
        smoothed = scores["SPTK"]
        for name, found in scores.items():
            correlation = self.agreement.pearson(found)
            ahead = self.agreement.difference(smoothed, found)
            span = "" if name == "SPTK" else f"{ahead.low:+.3f} to {ahead.high:+.3f}"
            yield {
                "model": name,
                "Pearson": float(correlation),
                "95 %": f"{correlation.low:.3f} to {correlation.high:.3f}",
                "Spearman": self.agreement.spearman(found),
                "SPTK ahead by": float(ahead),
                "95 % of that": span,
                "published": PUBLISHED.get(name.split(":")[0]),
            }

    def _scores(self, grid: Sequence[Row]) -> Iterator[tuple[str, Scores]]:
        sentences = self.pairs.sentences
        for name, options in BAGS.items():
            yield f"bag of words: {name}", bag_of_words(sentences, options)
        for name, options in MEANS.items():
            yield f"mean vectors: {name}", mean_vectors(sentences, self.raw, options)
        batch = trees(sentences)
        for name in ("PTK", "SPTK"):
            yield name, kernel_scores(make_kernel(name, self.vectors), batch)
        for name in ("PTK", "SPTK"):
            kernel = make_kernel(name, self.vectors, best_factor(grid, name, "loct"))
            yield f"{name}, {TUNED}", kernel_scores(kernel, batch)
        if self.transformer is not None:
            texts = [sentence.text for sentence in sentences]
            yield NAME, cosines(self.transformer.encode(texts))

    def nystrom_rows(
        self,
        grid: Sequence[Row],
        *,
        n_seeds: int,
        sizes: Sequence[int] = SIZES,
        advance: Advance,
    ) -> Iterator[Row]:
        """Yield what is left of the correlation if some of the sentences are landmarks."""
        batch = trees(self.pairs.sentences)
        for name in ("PTK", "SPTK"):
            for factor in dict.fromkeys((1.0, best_factor(grid, name, "loct"))):
                kernel = make_kernel(name, self.vectors, factor)
                exact = float(self.agreement.pearson(kernel_scores(kernel, batch)))
                for size in (*sizes, len(batch)):
                    seeds = range(n_seeds if size < len(batch) else 1)
                    runs = [self._embedded(kernel, batch, batch, size, seed) for seed in seeds]
                    yield {
                        **{"kernel": name, "factor": f"{factor:g}", "landmarks": size},
                        **_nystrom_row(runs, exact),
                        "published": None if factor == 1 else PUBLISHED.get((name, size)),
                    }
                    advance(1)

    def foreign_rows(
        self,
        others: kw.arrays.TreeBatch,
        *,
        n_seeds: int,
        sizes: Sequence[int] = FOREIGN_SIZES,
        advance: Advance,
    ) -> Iterator[Row]:
        """Yield the correlation if landmarks are trees of other sentences."""
        batch = trees(self.pairs.sentences)
        for name in ("PTK", "SPTK"):
            kernel = make_kernel(name, self.vectors)
            exact = float(self.agreement.pearson(kernel_scores(kernel, batch)))
            for size in sizes:
                runs = [self._embedded(kernel, others, batch, size, at) for at in range(n_seeds)]
                yield {"kernel": name, "landmarks": size} | _nystrom_row(runs, exact)
                advance(1)

    def _embedded(self, kernel: kw.Kernel, known: Any, batch: Any, size: int, seed: int) -> Row:
        embedder = kw.NystromEmbedder(kernel, n_landmarks=size, random_state=seed).fit(known)
        vectors = embedder.transform(batch)
        products = (vectors[0::2] * vectors[1::2]).sum(axis=1)
        return {
            "Pearson": float(pearson(self.pairs.gold, products)),
            "of cosines": float(pearson(self.pairs.gold, cosines(vectors))),
            "missed": float(embedder.residual(batch).mean()),
            "with a landmark": self._share(embedder.landmark_indices_) if known is batch else 0.0,
        }

    def _share(self, landmarks: Any) -> float:
        """Return the share of pairs one of whose sentences is a landmark."""
        texts = [sentence.text for sentence in self.pairs.sentences]
        chosen = {texts[at] for at in landmarks}
        found = [a in chosen or b in chosen for a, b in zip(texts[0::2], texts[1::2], strict=True)]
        return sum(found) / len(found)

    def variant_rows(self) -> Iterator[Row]:
        """Yield the correlations after one change of the trees at a time, nothing being tuned."""
        kernels = [make_kernel(name, self.vectors) for name in ("PTK", "SPTK")]
        for name in VARIANTS:
            batch = variant_trees(self.pairs, name)
            found = [self.agreement.pearson(kernel_scores(kernel, batch)) for kernel in kernels]
            yield {"trees": name, "PTK": float(found[0]), "SPTK": float(found[1])}


def best_factor(grid: Sequence[Row], kernel: str, view: str) -> float:
    """Return the terminal factor with the highest correlation, the smallest of equal ones."""
    row = next(row for row in grid if (row["kernel"], row["view"]) == (kernel, view))
    found = {float(name): value for name, value in row.items() if name not in ("kernel", "view")}
    return max(sorted(found), key=found.__getitem__)


def _nystrom_row(runs: Sequence[Row], exact: float) -> Row:
    spreads = {name: Spread.of([run[name] for run in runs]) for name in runs[0]}
    products, of_cosines = spreads["Pearson"], spreads["of cosines"]
    return {
        "pairs with a landmark": spreads["with a landmark"].mean,
        "missed": spreads["missed"].mean,
        "products": str(products),
        "products / exact": products.mean / exact,
        "cosines": str(of_cosines),
        "cosines / exact": of_cosines.mean / exact,
    }
