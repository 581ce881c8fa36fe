"""Vectors of candidates from pretrained models: static word vectors, and a small transformer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from label_models.corpora import BLIND, Corpus, Words
from numpy.typing import NDArray

import kernelwood as kw

__all__ = ["glove_vectors", "marked_vectors", "segments"]

Floats = NDArray[np.float32]
OTHER = "ENTITY"  # in place of further entities
NAME = "protein"  # in place of blinded entities, for the transformer
LONGEST = 511  # tokens, without the last one
MARKS = ("@", "#")  # around the first and the second entity


def parts(words: Words) -> list[list[str]]:
    """Return the words before, between and after, without placeholders, and of both entities."""
    around = [
        [word for word in part if word not in (*BLIND, OTHER)]
        for part in (words.before, words.between, words.after)
    ]
    return [*around, *words.entities]


def glove_vectors(corpus: Corpus, vectors: kw.Vectors) -> Floats:
    """Return the mean word vectors of the parts of each candidate, one after the other.

    Words without a vector are left out; a part without words is a zero vector.
    """

    def mean(words: list[str]) -> Floats:
        rows = [row for row in vectors.rows(words).tolist() if row >= 0]
        made: Floats = np.zeros(vectors.dim, np.float32)
        return vectors.matrix[rows].mean(axis=0).astype(np.float32) if rows else made

    return np.stack([np.concatenate([mean(part) for part in parts(w)]) for w in corpus.words])


def segments(words: Words) -> Iterator[tuple[int, str]]:
    """Yield the text of a candidate in segments: 1 and 2 are the entities with their marks."""
    run: list[str] = []
    for word in (*words.before, *words.between, *words.after):
        if word not in BLIND:
            run.append(NAME if word == OTHER else word)
            continue
        at = BLIND.index(word)
        if run:
            yield 0, " ".join(run)
        run = []
        own = " ".join(words.entities[at]) or NAME
        yield at + 1, f"{MARKS[at]} {own} {MARKS[at]}"
    if run:
        yield 0, " ".join(run)


def marked_vectors(corpus: Corpus, transformer: Any, folder: Path) -> Floats:
    """Return the mean states of all tokens and of each marked entity, one after the other.

    Stored in a folder, under a hash of the texts.
    """
    texts = [list(segments(words)) for words in corpus.words]
    key = hashlib.sha256(repr(texts).encode()).hexdigest()[:16]
    path = folder / f"{corpus.name}-{key}.npy"
    if path.exists():
        stored: Floats = np.load(path, allow_pickle=False)
        return stored
    made: Floats = np.stack([marked_vector(transformer, text) for text in texts])
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part.npy")
    np.save(part, made)
    part.replace(path)
    return made


def marked_vector(transformer: Any, text: list[tuple[int, str]]) -> Floats:
    from threadpoolctl import threadpool_limits

    first, last = transformer.tokenize("")
    tokens, kinds = [first], [0]
    for kind, segment in text:
        some = transformer.tokenize(segment)[1:-1]
        tokens += some
        kinds += [kind] * len(some)
    tokens, kinds = tokens[:LONGEST], kinds[:LONGEST]
    with threadpool_limits(1):
        states = transformer.states([*tokens, last])
    marked = [np.flatnonzero(np.array([*kinds, 0]) == kind) for kind in (1, 2)]
    means = [
        states[rows].mean(axis=0) if len(rows) else np.zeros_like(states[0]) for rows in marked
    ]
    made: Floats = np.concatenate([states.mean(axis=0), *means]).astype(np.float32)
    return made
