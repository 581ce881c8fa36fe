"""Shifts that can be made inside one corpus: test documents unlike those learned from.

How much such documents cost, and which rule for thresholds bears it best, can be asked without
another corpus.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from relation_models.figures import Pairs
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

__all__ = ["Split", "shifts", "topics"]

Split: TypeAlias = "tuple[NDArray[Any], NDArray[Any]]"

N_TOPICS = 5
SMALLEST = 300  # pairs; fewer say nothing


def shifts(pairs: Pairs) -> dict[str, Split]:
    """Return two splits: learned where few proteins share a sentence, judged where many do; back.

    Documents stay whole, each half has about half of the pairs.
    """
    counts: dict[str, list[int]] = defaultdict(list)
    for document, candidate in zip(pairs.documents, pairs.candidates, strict=True):
        counts[document].append(len(candidate.sentence.entities))
    rising = sorted(counts, key=lambda name: (sum(counts[name]) / len(counts[name]), name))
    sizes = np.cumsum([len(counts[name]) for name in rising])
    few = set(rising[: 1 + int(np.searchsorted(sizes, len(pairs.y) / 2))])
    is_few = np.array([document in few for document in pairs.documents])
    low, high = np.flatnonzero(is_few), np.flatnonzero(~is_few)
    return {"few to many": (low, high), "many to few": (high, low)}


def topics(pairs: Pairs) -> dict[str, Split]:
    """Return splits in which the documents about one topic are judged, learned from the others."""
    texts: dict[str, dict[str, None]] = defaultdict(dict)
    for document, candidate in zip(pairs.documents, pairs.candidates, strict=True):
        texts[document][candidate.sentence.text] = None
    names = sorted(texts)
    words = TfidfVectorizer(min_df=2, stop_words="english")
    table = words.fit_transform([" ".join(texts[name]) for name in names])
    reduced = TruncatedSVD(10, random_state=0).fit_transform(table)
    found = KMeans(N_TOPICS, n_init=5, random_state=0).fit_predict(reduced)
    topic = dict(zip(names, found.tolist(), strict=True))
    numbers = np.array([topic[document] for document in pairs.documents])
    splits = {}
    for number in range(N_TOPICS):
        is_topic = numbers == number
        if is_topic.sum() >= SMALLEST:
            splits[f"topic {number + 1}"] = (np.flatnonzero(~is_topic), np.flatnonzero(is_topic))
    return splits
