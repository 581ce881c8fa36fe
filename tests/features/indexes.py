"""Indexes to test, what they must find by their definition, and how results are compared."""

from __future__ import annotations

import numpy as np
import strategies

import kernelwood as kw
from kernelwood.features.vector_search import quantize

TREES = strategies.sample_trees(120, seed=1, max_nodes=15)
QUERIES = strategies.sample_trees(20, seed=2, max_nodes=15)
KERNEL = kw.SubsetTreeKernel(decay=0.5)


def hash_index(**parameters):
    options = {"n_references": 20, "n_bits": 100, "random_state": 3, **parameters}
    return kw.HashIndex(options.pop("kernel", KERNEL), **options)


def embedding_index(**parameters):
    options = {"n_landmarks": 25, "random_state": 3, **parameters}
    return kw.EmbeddingIndex(options.pop("kernel", KERNEL), **options)


def nearest_codes_by_definition(made, queries, k):
    """Ids and Hamming distances, by distance and id."""
    bits = made.hasher_.transform(list(made.structures_)).astype(int)
    rows = []
    for query in made.hasher_.transform(queries).astype(int):
        distances = np.abs(bits - query).sum(axis=1).tolist()
        rows.append(sorted(zip(distances, made.ids_.tolist(), strict=True))[:k])
    return rows


def vectors_by_definition(made, structures):
    """Vectors as long as the geometric mean of what they are and what structures are."""
    vectors = made.embedder_.transform(structures)
    own = made.kernel_.diag(structures, dtype="float64")
    return np.array(
        [
            vector * (length**0.5 / np.sqrt((vector**2).sum())) ** 0.5 if vector.any() else vector
            for vector, length in zip(vectors, own, strict=True)
        ]
    )


def nearest_vectors_by_definition(made, queries, k):
    """Scores and ids, by falling score and rising id."""
    rows, scales = quantize(vectors_by_definition(made, list(made.structures_)))
    asked, asked_scales = quantize(made.embedder_.transform(queries))
    scores = (asked.astype(float) @ rows.astype(float).T) * np.multiply.outer(
        asked_scales.astype(float), scales.astype(float)
    )
    ids = made.ids_.tolist()
    order = [sorted(zip((-row).tolist(), ids, strict=True))[:k] for row in scores]
    return [[(-score, i) for score, i in row] for row in order]


def nearest_by_definition(made, queries, k):
    """Scores and ids of what is nearest by codes or vectors, the best first."""
    if isinstance(made, kw.HashIndex):
        return nearest_codes_by_definition(made, queries, k)
    return nearest_vectors_by_definition(made, queries, k)


def pairs(found):
    ids, scores = found
    return [
        list(zip(s, i, strict=True)) for i, s in zip(ids.tolist(), scores.tolist(), strict=True)
    ]
