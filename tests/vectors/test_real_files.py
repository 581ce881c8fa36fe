"""Public word vectors, when they are on this machine."""

from __future__ import annotations

import gzip
import os
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from kernelwood.vectors import Vectors

DATA = Path(os.environ.get("KERNELWOOD_DATA") or Path(__file__).parents[3] / "shared" / "data")

# File -> (words, dimensions, a word, another, their least cosine)
FILES = {
    "glove.6B.100d.subset.txt.gz": (61257, 100, "king", "queen", 0.7),
    "qc-standin-250.txt.gz": (6846, 250, "king::n", "queen::n", 0.2),
}


def data_file(name: str) -> Path:
    path = DATA / "word-vectors" / name
    if not path.exists():
        pytest.skip(f"{path} is not there; set KERNELWOOD_DATA to the folder of corpora")
    return path


@pytest.mark.parametrize("name", FILES)
def test_all_words_are_read(name):
    n_words, dim, a, b, least = FILES[name]
    vectors = Vectors.load(data_file(name))
    assert vectors.matrix.shape == (n_words, dim)
    assert vectors.similarity(a, b) > least


@pytest.mark.parametrize("name", FILES)
def test_the_copy_in_the_cache_is_the_same(name):
    path = data_file(name)
    expected = Vectors.load(path, cache=False)
    Vectors.load(path)
    assert Vectors.load(path) == expected


@pytest.mark.parametrize("name", FILES)
def test_numbers_are_those_of_the_text(name):
    vectors = Vectors.load(data_file(name), normalize=False, cache=False)
    with gzip.open(data_file(name), "rt", encoding="utf-8") as lines:
        rows = [line.replace(",", " ").split()[-vectors.dim :] for line in islice(lines, 300)]
    numbers = [list(map(float, row)) for row in rows if len(row) == vectors.dim]
    assert np.array_equal(vectors.matrix[: len(numbers)], np.array(numbers, dtype=np.float32))
    assert len(numbers) >= 299
