"""Similarities of the two sentences of each pair, by words, by trees, and by a transformer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from embedding_models.correlation import Scores
from embedding_models.pairs import STOP, Pairs, without_stop_words, words
from sklearn.feature_extraction.text import CountVectorizer

import kernelwood as kw
from kernelwood import views
from kernelwood.text import ROOT, Sentence

__all__ = [
    "BAGS",
    "MEANS",
    "VARIANTS",
    "bag_of_words",
    "cosines",
    "kernel_scores",
    "make_kernel",
    "mean_vectors",
    "trees",
]

# Words of a bag: the first is that of KeLP, whose bags hold lemmas with parts of speech, and marks.
BAGS: dict[str, dict[str, Any]] = {
    "lemmas with tags, marks": {"labels": "both", "marks": True},
    "words, marks": {"labels": "text", "marks": True},
    "words": {"labels": "text"},
    "lemmas": {},
    "lemmas, no stop words": {"stop_words": False},
}
MEANS: dict[str, dict[str, Any]] = {
    "words": {"labels": "text"},
    "lemmas": {},
    "lemmas, no stop words": {"stop_words": False},
}


def cosines(table: Any) -> Scores:
    """Return the cosine of rows 0 and 1, 2 and 3, and so on; 0 if one of them is zero."""
    rows = np.asarray(table, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1)
    scale = lengths[0::2] * lengths[1::2]
    products = (rows[0::2] * rows[1::2]).sum(axis=1)
    found: Scores = np.divide(products, scale, out=np.zeros_like(products), where=scale > 0)
    return found


def bag_of_words(sentences: Iterable[Sentence], options: Mapping[str, Any]) -> Scores:
    """Return cosines of how often words occur."""
    counts = CountVectorizer(analyzer=lambda sentence: words(sentence, **options))
    return cosines(counts.fit_transform(sentences).toarray())


def mean_vectors(
    sentences: Iterable[Sentence], vectors: kw.Vectors, options: Mapping[str, Any]
) -> Scores:
    """Return cosines of the mean vectors of words; words without a vector do not count."""
    means = []
    for sentence in sentences:
        rows = vectors.rows(words(sentence, **options))
        known = vectors.matrix[rows[rows >= 0]]
        means.append(known.mean(axis=0) if len(known) else np.zeros(vectors.dim))
    return cosines(means)


def trees(sentences: Iterable[Sentence], view: str = "loct", **options: Any) -> kw.arrays.TreeBatch:
    """Return a view of sentences as a batch."""
    make = getattr(views, view)
    batch: kw.arrays.TreeBatch = kw.batch([make(sentence, **options) for sentence in sentences])
    return batch


def make_kernel(name: str, vectors: kw.Vectors, terminal_factor: float = 1.0) -> kw.Kernel:
    """Return PTK, SPTK or CSPTK with the paper's decays, 0.4 and 0.4."""
    made: dict[str, Callable[..., kw.Kernel]] = {
        "PTK": kw.PartialTreeKernel,
        "SPTK": lambda **given: kw.PartialTreeKernel.sptk(vectors, **given),
        "CSPTK": lambda **given: kw.PartialTreeKernel.csptk(vectors, **given),
    }
    return made[name](decay=0.4, depth_decay=0.4, terminal_factor=float(terminal_factor))


def kernel_scores(kernel: kw.Kernel, batch: kw.arrays.TreeBatch) -> Scores:
    """Return the similarities of the pairs."""
    return np.asarray(kernel.pairs(batch[0::2], batch[1::2]))


def first_root(sentence: Sentence) -> Sentence:
    """Return what hangs from the first root: the first sentence of several."""
    edges = {edge.dependent: edge for edge in sentence.dependencies}
    first = min(at for at, edge in edges.items() if edge.head == ROOT)
    kept = []
    for edge in sentence.dependencies:
        at = edge.dependent
        while edges[at].head != ROOT:
            at = edges[at].head
        if at == first:
            kept.append(edge)
    return sentence.with_parts(dependencies=kept)


def _change_tokens(sentence: Sentence, change: Callable[[Any], Any]) -> Sentence:
    return sentence.with_parts(tokens=[change(token) for token in sentence.tokens])


def with_forms(sentence: Sentence) -> Sentence:
    """Return a sentence whose lemmas are its words."""
    return _change_tokens(sentence, lambda token: token._replace(lemma=token.text))


def without_tags(sentence: Sentence) -> Sentence:
    """Return a sentence whose words have no part of speech."""
    return _change_tokens(sentence, lambda token: token._replace(tag="", pos=""))


# Relations of spaCy's models.
FUNCTION_WORDS = ("punct", "det", "aux", "auxpass", "prep", "prt", "cc", "mark")

# What may explain a difference to published figures: a change of sentences, what views skip.
VARIANTS: dict[str, tuple[Callable[[Sentence], Sentence], Sequence[str]]] = {
    "as above": (lambda sentence: sentence, ("punct",)),
    "with punctuation": (lambda sentence: sentence, ()),
    "the first of several sentences": (first_root, ("punct",)),
    "words in place of lemmas": (with_forms, ("punct",)),
    "without parts of speech": (without_tags, ("punct",)),
    "without function words at leaves": (lambda sentence: sentence, FUNCTION_WORDS),
    "without stop words at leaves": (without_stop_words, ("punct", STOP)),
}


def variant_trees(pairs: Pairs, name: str) -> kw.arrays.TreeBatch:
    """Return lexical trees after a change."""
    change, skip = VARIANTS[name]
    return trees(map(change, pairs.sentences), "loct", skip=skip)
