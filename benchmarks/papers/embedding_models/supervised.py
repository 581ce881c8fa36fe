"""Regression of the similarity of pairs by kernels of pairs, on held-out pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from embedding_models.correlation import Agreement, Scores
from embedding_models.pairs import Pairs
from embedding_models.similarity_models import kernel_scores, make_kernel, trees
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.kernel_ridge import KernelRidge

import kernelwood as kw

__all__ = ["N_FOLDS", "linked_folds", "supervised_rows"]

N_FOLDS = 10
RIDGE = 1.0  # nothing is chosen on these pairs
MODES = ("sum", "product", "best")

Row = dict[str, Any]


def linked_folds(texts: list[str], n_folds: int = N_FOLDS) -> np.ndarray:
    """Return the fold of each pair; pairs that share a sentence, also by way of others, share it.

    Parameters
    ----------
    texts : list of str
        The sentences: 0 and 1 are the first pair, 2 and 3 the second, and so on.
    n_folds : int
        Number of folds; the largest group of pairs goes first, each to the smallest fold.

    Examples
    --------
    >>> linked_folds(["a", "b", "c", "d", "b", "e", "f", "g"], n_folds=2).tolist()
    [0, 1, 0, 1]
    """
    _, numbers = np.unique(np.array(texts), return_inverse=True)
    links = (np.ones(len(texts) // 2), (numbers[0::2], numbers[1::2]))
    n = int(numbers.max()) + 1
    groups = connected_components(coo_array(links, shape=(n, n)), directed=False)[1][numbers[0::2]]
    sizes, folds = np.zeros(n_folds, np.int64), np.empty(len(groups), np.int64)
    counts = np.bincount(groups)
    for group in np.argsort(-counts, kind="stable").tolist():
        fold = int(sizes.argmin())
        folds[groups == group] = fold
        sizes[fold] += counts[group]
    return folds


def supervised_rows(pairs: Pairs, vectors: kw.Vectors, agreement: Agreement) -> Iterator[Row]:
    """Yield the agreement of kernel ridge regression, each pair predicted by the other folds."""
    kernel = make_kernel("SPTK", vectors)
    sentences = trees(pairs.sentences)
    batch = kw.batch(
        [
            kw.Example.pair(str(i), sentences[2 * i], sentences[2 * i + 1])
            for i in range(len(pairs.gold))
        ]
    )
    similarities = kernel_scores(kernel, sentences)
    grams = {
        f"PairKernel, {mode}": kw.Normalized(kw.PairKernel(kernel, mode=mode)).gram(batch)
        for mode in MODES
    }
    own = np.exp(-((similarities[:, None] - similarities) ** 2) / (2 * similarities.var()))
    grams["similarity of the two"] = own
    grams["similarity of the two + PairKernel, product"] = own + grams["PairKernel, product"]
    folds = linked_folds([sentence.text for sentence in pairs.sentences])
    yield _row("SPTK itself, without learning", similarities, agreement)
    for name, gram in grams.items():
        yield _row(name, held_out(gram, pairs.gold, folds), agreement)


def held_out(gram: np.ndarray, gold: Scores, folds: np.ndarray) -> Scores:
    """Return predictions of each pair by a regression on the other folds."""
    found = np.empty(len(gold))
    for fold in np.unique(folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        model = KernelRidge(alpha=RIDGE, kernel="precomputed")
        center = gold[train].mean()
        model.fit(gram[np.ix_(train, train)], gold[train] - center)
        found[test] = model.predict(gram[np.ix_(test, train)]) + center
    return found


def _row(name: str, scores: Scores, agreement: Agreement) -> Row:
    correlation = agreement.pearson(scores)
    return {
        "regression on": name,
        "Pearson": float(correlation),
        "95 %": f"{correlation.low:.3f} to {correlation.high:.3f}",
        "Spearman": agreement.spearman(scores),
    }
