"""Clusters of questions: bags of words, the exact kernel, and vectors that approximate it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.feature_extraction import DictVectorizer
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

import kernelwood as kw
from kernelwood.evaluate import Spread, cluster_scores

__all__ = [
    "BAG",
    "CLUSTERS",
    "FACTORS",
    "METHODS",
    "Looked",
    "Questions",
    "cluster_rows",
    "curve_rows",
    "read_questions",
]

CLUSTERS = (6, 10, 20, 50, 100, 150, 200)
N_LANDMARKS = 500
N_STARTS = 4  # for all methods alike; the best by its own inertia stays
# The paper does not say which it has: the default, and that of PTK in questions.py.
FACTORS = (1.0, 5.0)
BAG = "bag of words"

Labels = NDArray[np.int32]
Row = dict[str, Any]
Advance = Callable[[int], object]


class Looked(kw.Kernel):
    """Looks similarities up in a Gram matrix, so that it is computed once for many clusterings.

    Structures are sequences of one element, their number in the matrix.

    Parameters
    ----------
    table : ndarray, shape (n, n)
        The Gram matrix.
    """

    accepts = kw.arrays.SequenceBatch

    def __init__(self, table: NDArray[Any]) -> None:
        self.table = table

    def _fill_gram(self, X: Any, out: Any, runner: Any) -> None:
        self._fill_cross(X, X, out, runner)

    def _fill_cross(self, X: Any, Y: Any, out: Any, runner: Any) -> None:
        out[:] = self.table[np.ix_(_numbers(X), _numbers(Y))]
        runner.advance(out.size)

    def _fill_diag(self, X: Any, out: Any, runner: Any) -> None:
        out[:] = self.table.diagonal()[_numbers(X)]
        runner.advance(len(X))


def _numbers(X: Any) -> list[int]:
    return [int(sequence.nodes[0]) for sequence in X]


@dataclass(frozen=True)
class Questions:
    """Questions in both forms, and their classes.

    Attributes
    ----------
    labels : sequence of str
        The classes.
    bags : sparse matrix
        Bags of words, of length 1.
    grams : mapping of float to ndarray, shape (n, n)
        Similarities by the kernel, for each terminal factor.
    """

    labels: Sequence[str]
    bags: Any
    grams: Mapping[float, NDArray[Any]]

    @property
    def numbers(self) -> kw.arrays.SequenceBatch:
        """What `Looked` takes for the questions."""
        numbers = [kw.Sequence([str(number)]) for number in range(len(self.labels))]
        batch: kw.arrays.SequenceBatch = kw.batch(numbers)
        return batch


def read_questions(path: Path, vectors: kw.Vectors) -> Questions:
    """Return the questions of a file in the format of KeLP, compared as cgrct by CSPTK."""
    examples = kw.read(path, views=["bow", "cgrct"])
    trees = kw.batch([example.view("cgrct") for example in examples])
    similarity = kw.similarity.Compositional(vectors)
    grams = {
        factor: kw.PartialTreeKernel(similarity=similarity, terminal_factor=factor).gram(trees)
        for factor in FACTORS
    }
    labels = [str(example.label) for example in examples]
    return Questions(labels, bags_of([example.view("bow") for example in examples]), grams)


def bags_of(counts: Sequence[Any]) -> Any:
    """Return counts of words as rows of length 1."""
    return normalize(DictVectorizer().fit_transform([dict(bag) for bag in counts]))


def _by_words(questions: Questions, n_clusters: int, seed: int) -> Labels:
    model = KMeans(n_clusters, n_init=N_STARTS, random_state=seed)
    with threadpool_limits(1):
        found: Labels = model.fit_predict(questions.bags)
    return found


def _by_kernel(factor: float, questions: Questions, n_clusters: int, seed: int) -> Labels:
    kernel = Looked(questions.grams[factor])
    model = kw.KernelKMeans(n_clusters, kernel, n_init=N_STARTS, random_state=seed)
    return model.fit(questions.numbers).labels_


def _by_vectors(factor: float, questions: Questions, n_clusters: int, seed: int) -> Labels:
    kernel = Looked(questions.grams[factor])
    embedder = kw.NystromEmbedder(kernel, n_landmarks=N_LANDMARKS, random_state=seed)
    model = kw.KernelKMeans(
        n_clusters, kernel, embedder=embedder, n_init=N_STARTS, random_state=seed
    )
    return model.fit(questions.numbers).labels_


METHODS: dict[str, Callable[[Questions, int, int], Labels]] = {BAG: _by_words}
for _factor in FACTORS:
    METHODS[f"CSPTK, factor {_factor:g}"] = partial(_by_kernel, _factor)
    METHODS[f"Nyström-{N_LANDMARKS}, factor {_factor:g}"] = partial(_by_vectors, _factor)


def cluster_rows(
    questions: Questions,
    *,
    n_seeds: int,
    clusters: Sequence[int] = CLUSTERS,
    methods: Sequence[str] = tuple(METHODS),
    advance: Advance,
) -> Iterator[Row]:
    """Cluster with each method, number of clusters and seed; yield what the clusters are worth."""
    for n_clusters in clusters:
        for name in methods:
            for seed in range(n_seeds):
                scores = cluster_scores(
                    questions.labels, METHODS[name](questions, n_clusters, seed)
                )
                yield {
                    "K": n_clusters,
                    "method": name,
                    "seed": seed,
                    "purity": float(scores.purity),
                    "NMI": float(scores.nmi),
                }
                advance(1)


def curve_rows(rows: Sequence[Row], measure: str) -> list[Row]:
    """Return mean and deviation over seeds, in percent: a row for each number of clusters."""
    found = []
    for n_clusters in dict.fromkeys(row["K"] for row in rows):
        made: Row = {"K": n_clusters}
        mine = [row for row in rows if row["K"] == n_clusters]
        for name in dict.fromkeys(row["method"] for row in mine):
            values = [100 * row[measure] for row in mine if row["method"] == name]
            spread = Spread.of(values)
            made[name] = f"{spread.mean:.1f} ± {spread.deviation:.1f}"
        found.append(made)
    return found
