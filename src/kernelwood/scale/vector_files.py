"""Files of vectors with ids and labels, in the format of the suffix."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.io import open_output, separated_rows, write_text, write_vectors

VECTOR_SUFFIXES = (".npz", ".npy", ".csv", ".tsv", ".parquet")
_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def write_vector_file(
    path: str | os.PathLike[str],
    ids: Sequence[str],
    labels: Sequence[str | None],
    vectors: NDArray[Any],
) -> None:
    """Write vectors, one for each id.

    Parameters
    ----------
    path : str or PathLike
        Output file, with one of `VECTOR_SUFFIXES`; it appears when it is complete. A ``.npy`` file
        contains the vectors only.
    ids, labels : sequence of str
        Labels may be None.
    vectors : ndarray, shape (n, n_dimensions)
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".parquet":
        write_vectors(path, ids, vectors, labels)
        return
    given = [label or "" for label in labels]
    if suffix in _SEPARATORS:
        titles = ["id", "label", *(f"v{number}" for number in range(vectors.shape[1]))]
        rows = (
            [name, label, *vector.tolist()]
            for name, label, vector in zip(ids, given, vectors, strict=True)
        )
        write_text(path, separated_rows(chain([titles], rows), _SEPARATORS[suffix]))
        return
    with open_output(path) as file:
        if suffix == ".npy":
            np.save(file, vectors, allow_pickle=False)
        else:
            names, classes = np.array(ids, dtype=str), np.array(given, dtype=str)
            np.savez(file, ids=names, labels=classes, vectors=vectors)
