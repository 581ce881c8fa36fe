"""Public word vectors, when they are on this machine."""

from __future__ import annotations

import gzip
from itertools import islice

import numpy as np
import pytest
from corpora import data_file

from kernelwood.vectors import Vectors

# File -> (words, dimensions, a word, another, their least cosine)
FILES = {
    "glove.6B.100d.subset.txt.gz": (61257, 100, "king", "queen", 0.7),
    "qc-standin-250.txt.gz": (6846, 250, "king::n", "queen::n", 0.2),
}


@pytest.mark.parametrize("name", FILES)
def test_all_words_are_read(name):
    n_words, dim, a, b, least = FILES[name]
    vectors = Vectors.load(data_file("word-vectors", name))
    assert vectors.matrix.shape == (n_words, dim)
    assert vectors.similarity(a, b) > least


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_the_copy_in_the_cache_is_the_same(name):
    path = data_file("word-vectors", name)
    expected = Vectors.load(path, cache=False)
    Vectors.load(path)
    assert Vectors.load(path) == expected


@pytest.mark.parametrize("name", FILES)
def test_numbers_are_those_of_the_text(name):
    vectors = Vectors.load(data_file("word-vectors", name), normalize=False, cache=False)
    with gzip.open(data_file("word-vectors", name), "rt", encoding="utf-8") as lines:
        rows = [line.replace(",", " ").split()[-vectors.dim :] for line in islice(lines, 300)]
    numbers = [list(map(float, row)) for row in rows if len(row) == vectors.dim]
    assert np.array_equal(vectors.matrix[: len(numbers)], np.array(numbers, dtype=np.float32))
    assert len(numbers) >= 299
