"""Dependency paths with classes: pairs of proteins, and relations of nominals."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kernelwood as kw
from kernelwood import views
from kernelwood.datasets import require_data

__all__ = ["FILES", "VECTORS", "PathCorpus", "nominal_path", "protein_paths", "read_paths"]

FILES = {
    "AIMed": "ppi/AImed-learning-format.xml.gz",
    "BioInfer": "ppi/BioInfer-learning-format.xml.gz",
    "SemEval": "semeval2010-task8/task8_train.stanford_sdp.jsonl.gz",
}
VECTORS = "word-vectors/glove.6B.100d.subset.txt.gz"
NO_PATH = "none"
OTHER = "Other"  # the class of SemEval that is no relation


@dataclass(frozen=True)
class PathCorpus:
    """Paths, their classes, and what must stay together when they are divided.

    Attributes
    ----------
    name : str
        A key of `FILES`.
    X : SequenceBatch
        The paths, of relation and word.
    y : ndarray, shape (n,)
        0 and 1 for pairs of proteins, else the names of relations.
    groups : list of str
        The document of each pair of proteins; the sentence of each relation of nominals.
    positive : list of labels
        The classes whose F1 counts.
    """

    name: str
    X: kw.arrays.SequenceBatch
    y: NDArray[Any]
    groups: list[str]
    positive: list[Any]

    @property
    def is_binary(self) -> bool:
        """Whether there is one class to be found, by a threshold on its scores."""
        return len(self.positive) == 1


def read_paths(name: str, data: str | None = None) -> PathCorpus:
    """Return a corpus of the data folder."""
    path = require_data(FILES[name], data=data)
    return read_nominals(path) if name == "SemEval" else read_proteins(name, path)


def read_proteins(name: str, path: str | Path) -> PathCorpus:
    """Read pairs of proteins in the unified format."""
    candidates = kw.relations.pair_candidates(kw.read(path))
    y = np.array(candidates.labels, dtype=np.int64)
    groups = kw.evaluate.documents(candidates)
    return PathCorpus(name, kw.batch(protein_paths(candidates)), y, groups, [1])


def protein_paths(candidates: Any) -> list[kw.Sequence]:
    """Return the shortest path of each pair, without direction, as the hashing paper has it."""
    return [
        views.shortest_path(c.sentence, *c.entities, directed=False).sequence for c in candidates
    ]


def read_nominals(path: str | Path) -> PathCorpus:
    """Read paths between nominals; equal sentences are one group."""
    paths, labels, groups = [], [], []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            # From the second nominal to the first; a few have no path.
            unlinked = [row["words"][row[at][-1]] for at in ("e2_tokens", "e1_tokens")]
            paths.append(nominal_path(row["sdp"] or [unlinked[0], NO_PATH, unlinked[1]]))
            labels.append(row["label"])
            groups.append(" ".join(row["words"]).lower())
    y = np.array(labels)
    # One relation occurs in one direction only once, so nobody can learn it.
    positive = sorted(label for label, n in Counter(labels).items() if label != OTHER and n > 1)
    return PathCorpus("SemEval", kw.batch(paths), y, groups, positive)


def nominal_path(steps: list[str]) -> kw.Sequence:
    """Return a path that is written as word, relation, word, ….

    The words of the two nominals stay: unlike names of proteins they tell much of the relation.
    """
    words = [word.lower() for word in steps[::2]]
    return kw.Sequence(zip(["", *steps[1::2]], words, strict=True))
