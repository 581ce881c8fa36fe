"""Corpora of protein pairs in the unified format, and what two of them share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kernelwood as kw
from kernelwood.relations import Candidates
from kernelwood.relations.shared_sentences import near_sentences

__all__ = ["Corpus", "read_corpus", "shared"]


@dataclass(frozen=True)
class Corpus:
    """Pairs of proteins, whether they interact, and the document of each.

    Attributes
    ----------
    name : str
    path : Path or None
        The file, for programs that read it again.
    candidates : Candidates
    y : ndarray of int, shape (n,)
        1 for pairs that interact.
    documents : list of str
    """

    name: str
    path: Path | None
    candidates: Candidates
    y: NDArray[Any]
    documents: list[str]

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def rate(self) -> float:
        """Fraction of the pairs that interact."""
        return float(self.y.mean())


def read_corpus(name: str, path: str | Path) -> Corpus:
    """Return the pairs of a corpus in the unified format."""
    candidates = kw.relations.pair_candidates(kw.read(path))
    y = np.array(candidates.labels, dtype=np.int64)
    return Corpus(name, Path(path), candidates, y, kw.evaluate.documents(candidates))


def shared(training: Corpus, test: Corpus) -> dict[str, int]:
    """Return how many test sentences, and documents with one, are in the training corpus.

    Sentences are those with pairs; case and whitespace are ignored. Nearly equal ones share at
    least 70 % of their word trigrams.
    """
    known, tested = (_sentences(corpus) for corpus in (training, test))
    plain = {_plain(text) for text in known.values()}
    equal = {row for row, text in tested.items() if _plain(text) in plain}
    rest = [text for row, text in tested.items() if row not in equal]
    names = test.candidates.sentences.groups()
    return {
        "sentences": len(tested),
        "equal_sentences": len(equal),
        "near_sentences": len(near_sentences(rest, list(known.values()))),
        "documents": len(set(test.documents)),
        "documents_with_equal_sentences": len({names[row] for row in equal}),
    }


def _sentences(corpus: Corpus) -> dict[int, str]:
    table = corpus.candidates.sentences.sentences
    return {row: table.text(row) for row in dict.fromkeys(corpus.candidates.sentence_of)}


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
