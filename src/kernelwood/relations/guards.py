"""Warnings about misleading figures: documents used for training, and small corpora.

The limits come from learning curves (support vector machine, default views, five folds) of AIMed,
BioInfer, CoNLL04 and two parts of DDIExtraction 2013. Mean difference of F1 on held-out documents,
measured during training, and F1 on test documents, by number of training relations:

========  ========  =========  ==========  ==========  =========
below 25  25 to 49  50 to 99   100 to 249  250 to 499  from 500
========  ========  =========  ==========  ==========  =========
0.15      0.12      0.08       0.07        0.06        0.03
========  ========  =========  ==========  ==========  =========

The difference is 0.15 below 200 candidates and 0.09 from 200 to 399, 0.15 below 10 documents and
0.12 from 10 to 19. Relation types with one training example were never found in 53 % of the runs,
those with two to four in 8 %, those with five or more in none of 344.
"""

from __future__ import annotations

import hashlib
import itertools
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.relations.candidates import NONE, Candidates
from kernelwood.relations.corpus import SentenceTable

if TYPE_CHECKING:
    from kernelwood.relations.scores import RelationScores

MIN_DOCUMENTS = 10
MIN_RELATIONS = 50
MIN_CANDIDATES = 200
MIN_EXAMPLES = 5  # of a relation type
MIN_TEST_RELATIONS = 30
_NAMED = 5  # types in a message

Hashes = NDArray[np.uint64]


def fingerprint(text: str) -> int:
    """Return a 64-bit hash of a text; case and whitespace do not matter.

    Examples
    --------
    >>> fingerprint("Raf  binds Ras.") == fingerprint("raf binds Ras .")
    True
    """
    plain = "".join(text.casefold().split()).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(plain, digest_size=8).digest(), "little")


class TextHashes(NamedTuple):
    """Hashes of a corpus, sorted, by which its texts are recognized.

    Attributes
    ----------
    sentences, documents, ids : ndarray of uint64
        Of the distinct texts of sentences, texts of documents, and ids of documents.
    """

    sentences: Hashes
    documents: Hashes
    ids: Hashes

    @classmethod
    def of(cls, table: SentenceTable, groups: Sequence[str]) -> TextHashes:
        """Return the hashes of all sentences and documents of a table, given its `groups`."""
        documents = _document_texts(table, groups)
        sentences = itertools.chain.from_iterable(documents.values())
        return cls(
            _sorted(map(fingerprint, sentences)),
            _sorted(fingerprint(" ".join(texts)) for texts in documents.values()),
            _sorted(map(fingerprint, documents)),
        )

    def find(self, candidates: Candidates) -> tuple[NDArray[np.bool_], set[str]]:
        """Return which candidates are in a known sentence or document, and documents by id.

        Returns
        -------
        seen : ndarray of bool
            Whether the sentence of a candidate, or all of its document, is known.
        same_id : set of str
            Documents that have the id of a known one, but no known text.
        """
        table = candidates.sentences
        groups = table.groups()
        texts_of = _document_texts(table, groups)
        joined = {name: " ".join(texts) for name, texts in texts_of.items()}
        known = self._known(joined, self.documents)
        rows = sorted(set(candidates.sentence_of))
        texts = {row: table.sentences.text(row) for row in rows}
        sentences = self._known(texts, self.sentences)
        seen_rows = {row for row in rows if row in sentences or groups[row] in known}
        seen = np.array([row in seen_rows for row in candidates.sentence_of], dtype=bool)
        others = {groups[row] for row in rows} - {groups[row] for row in seen_rows}
        return seen, self._known({name: name for name in others}, self.ids)

    @staticmethod
    def _known(texts: Mapping[Any, str], hashes: Hashes) -> set[Any]:
        made = np.array([fingerprint(text) for text in texts.values()], dtype=np.uint64)
        return {
            name for name, is_known in zip(texts, np.isin(made, hashes), strict=True) if is_known
        }


def _document_texts(table: SentenceTable, groups: Iterable[str]) -> dict[str, list[str]]:
    """Return the texts of the sentences of each document."""
    texts: dict[str, list[str]] = {}
    for row, name in enumerate(groups):
        texts.setdefault(name, []).append(table.sentences.text(row))
    return texts


def _sorted(hashes: Iterable[int]) -> Hashes:
    return np.unique(np.fromiter(hashes, dtype=np.uint64))


def type_f1(true: Sequence[str], predicted: Sequence[str]) -> dict[str, float]:
    """Return the F1 of each relation type that occurs.

    Examples
    --------
    >>> type_f1(["binds", "cuts", "none"], ["binds", "binds", "none"])
    {'binds': 0.6666666666666666, 'cuts': 0.0}
    """
    right = Counter(name for name, other in zip(true, predicted, strict=True) if name == other)
    both = Counter(true) + Counter(predicted)
    return {name: 2 * right[name] / both[name] for name in sorted(set(true) - {NONE})}


def corpus_remarks(
    n_documents: int, n_candidates: int, examples: Mapping[str, int], f1: Mapping[str, float]
) -> list[str]:
    """Return what is too small in a training corpus, as sentences.

    One document may be a corpus of independent sentences, and is not reported as such.

    Parameters
    ----------
    n_documents, n_candidates : int
        Size of the corpus.
    examples : mapping of str to int
        Number of training examples by relation type.
    f1 : mapping of str to float
        F1 on held-out documents by relation type.

    Examples
    --------
    >>> corpus_remarks(300, 900, {"binds": 200, "cuts": 90}, {"binds": 0.7, "cuts": 0.0})
    ['types never predicted correctly in held-out documents (F1 0): cuts']
    """
    n_relations = sum(examples.values())
    remarks = []
    if _few(n_documents) or n_candidates < MIN_CANDIDATES or n_relations < MIN_RELATIONS:
        remarks.append(
            f"{_counted(n_documents, 'document')}, {_counted(n_candidates, 'candidate')}, "
            f"{_counted(n_relations, 'relation')}; below {MIN_DOCUMENTS} documents, "
            f"{MIN_CANDIDATES} candidates or {MIN_RELATIONS} relations, F1 on held-out documents "
            "is wrong by more than 0.1 on average: annotate more documents"
        )
    few = {name: n for name, n in sorted(examples.items()) if n < MIN_EXAMPLES}
    if few:
        remarks.append(
            "types that cannot be learned reliably, with their number of examples: "
            f"{_listed([f'{name} {n}' for name, n in few.items()])}; give at least {MIN_EXAMPLES} "
            "examples of each, or leave them out"
        )
    missed = [name for name, value in sorted(f1.items()) if value == 0 and name not in few]
    if missed:
        remarks.append(
            f"types never predicted correctly in held-out documents (F1 0): {_listed(missed)}"
        )
    return remarks


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def warn_of_corpus(remarks: Sequence[str], *, stacklevel: int = 3) -> None:
    """Warn once of all remarks on a corpus, if there are any."""
    if remarks:
        text = "\n    ".join(["small corpus: " + remarks[0], *remarks[1:]])
        warnings.warn(text, UserWarning, stacklevel=stacklevel)


def warn_of_size(scores: RelationScores) -> None:
    """Warn if there are too few documents or relations for reliable figures."""
    if not _few(scores.n_documents) and scores.n_relations >= MIN_TEST_RELATIONS:
        return
    f1 = scores.scores.micro.f1
    known = "" if f1.low is None else f": the 95 % interval of F1 is {f1.low:.2f} to {f1.high:.2f}"
    warnings.warn(
        f"small corpus: figures from {_counted(scores.n_documents, 'document')} with "
        f"{_counted(scores.n_relations, 'relation')} are uncertain{known}; evaluate on at least "
        f"{MIN_DOCUMENTS} documents with {MIN_TEST_RELATIONS} relations",
        UserWarning,
        stacklevel=3,
    )


def warn_of_overlap(scores: RelationScores, *, folds: bool = False) -> None:
    """Warn if evaluated documents were used for training, or are in two folds."""
    overlap = scores.overlap
    if overlap is None:
        return
    if overlap.n_candidates:
        where = "training folds, too" if folds else "the training corpus"
        advice = (
            "remove duplicates, or give copies ids of one document, such as d1.s1 and d1.s2"
            if folds
            else "evaluate on other documents, or use cross-validation (kernelwood crossval)"
        )
        rest = "" if overlap.rest is None else f" (without them F1 {overlap.rest.f1:.3f})"
        warnings.warn(
            f"overlap: {overlap.n_documents:,} of {_counted(scores.n_documents, 'document')} have "
            f"sentences that are in {where}, {overlap.n_candidates:,} of "
            f"{_counted(scores.n_candidates, 'candidate')}. Figures are too high: F1 "
            f"{scores.f1:.3f}{rest}; {advice}",
            UserWarning,
            stacklevel=3,
        )
    if overlap.n_same_id:
        warnings.warn(
            f"overlap: {_counted(overlap.n_same_id, 'document')} have the id of a training "
            "document, but other text; if these are versions of the same documents, figures are "
            "too high, otherwise give documents unique ids",
            UserWarning,
            stacklevel=3,
        )


def _few(n_documents: int) -> bool:
    return 1 < n_documents < MIN_DOCUMENTS


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"
