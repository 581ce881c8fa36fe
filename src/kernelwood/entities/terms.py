"""Terms of annotated texts: how often each is an entity, and dictionaries made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.entities.annotated_texts import AnnotatedText, read_texts
from kernelwood.entities.dictionary import Dictionary, Term
from kernelwood.entities.mentions import Mention
from kernelwood.errors import KernelInputError
from kernelwood.io import cycles_ignored

_SHORTEST = 2  # characters of a term


class Occurrence(NamedTuple):
    """A term in a text: its span, its number, and whether it is annotated as an entity."""

    start: int
    end: int
    term: int
    annotated: bool


class TermCounts:
    """The terms of the annotation, and their occurrences in the annotated texts.

    Parameters
    ----------
    texts : sequence of str
    mentions : sequence of sequences of Mention
        The annotated mentions of each text.
    groups : sequence of str
        The document of each text.
    """

    def __init__(
        self, texts: Sequence[str], mentions: Sequence[Sequence[Mention]], groups: Sequence[str]
    ) -> None:
        rows = _frequent_types(texts, mentions)
        self.terms = Dictionary([(term, kind) for (term, kind) in rows]).terms
        self._dictionary = Dictionary(self.terms)
        numbers = {term: number for number, term in enumerate(self.terms)}
        self._groups = groups
        self.found: list[list[Occurrence]] = []
        for text, some in zip(texts, mentions, strict=True):
            annotated = {(one.start, one.end, one.type) for one in some}
            self.found.append(
                [
                    Occurrence(start, end, numbers[term], (start, end, term.type) in annotated)
                    for start, end, term in self._dictionary.matches(text)
                ]
            )
        self._own: dict[str, Counter[tuple[int, bool]]] = {}
        for group, occurrences in zip(groups, self.found, strict=True):
            own = self._own.setdefault(group, Counter())
            own.update((one.term, one.annotated) for one in occurrences)

    def counts(self, chosen: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Return how often each term is not annotated, and how often it is.

        Parameters
        ----------
        chosen : ndarray of bool, optional
            Which texts to count; by default all.

        Returns
        -------
        ndarray of int64, shape (n_terms, 2)
        """
        made = np.zeros((len(self.terms), 2), dtype=np.int64)
        for row, occurrences in enumerate(self.found):
            if chosen is None or chosen[row]:
                for one in occurrences:
                    made[one.term, int(one.annotated)] += 1
        return made

    def listed(
        self, row: int, counts: NDArray[np.int64], *, own: bool
    ) -> Iterator[tuple[int, int, str]]:
        """Yield the terms in a text, each with a feature made of its type and its counts.

        If ``own`` is set, the counts include this document and are reduced by its own, so that
        features of training texts are like those of new ones.
        """
        mine: Mapping[tuple[int, bool], int] = self._own[self._groups[row]] if own else {}
        for start, end, term, _ in self.found[row]:
            without, annotated = (
                int(counts[term, is_annotated]) - mine.get((term, bool(is_annotated)), 0)
                for is_annotated in (0, 1)
            )
            if degree := degree_of(annotated, without):
                yield start, end, feature_of(degree, self.terms[term].type)

    def graded(self) -> Dictionary:
        """Return the dictionary of all terms, with the degree of each as its id."""
        rows = zip(self.terms, self.counts().tolist(), strict=True)
        return Dictionary(
            [
                (term.term, term.type, degree)
                for term, (without, annotated) in rows
                if (degree := degree_of(annotated, without))
            ]
        )


def feature_of(degree: str, type: str) -> str:
    """Return the feature of a term of the annotation."""
    return f"h{degree}{type}"


def degree_of(annotated: int, without: int) -> str:
    """Return a letter for how often a term is an entity; "" if it never is.

    Examples
    --------
    >>> degree_of(1, 9), degree_of(5, 5), degree_of(1, 0), degree_of(9, 1), degree_of(0, 3)
    ('a', 'b', 'c', 'd', '')
    """
    if annotated <= 0:
        return ""
    share = annotated / (annotated + without)
    if share < 0.3:
        return "a"
    if share < 0.7:
        return "b"
    return "c" if annotated < 2 else "d"


def _frequent_types(
    texts: Sequence[str], mentions: Sequence[Sequence[Mention]]
) -> list[tuple[str, str]]:
    """Return the terms of the annotation in order, each with its most frequent type."""
    kinds: dict[str, Counter[str]] = {}
    for text, some in zip(texts, mentions, strict=True):
        for one in some:
            term = " ".join(text[one.start : one.end].split())
            if len(term) >= _SHORTEST and not term.startswith("#"):  # a comment in files of terms
                kinds.setdefault(term, Counter())[one.type] += 1
    return [(term, most_frequent(counter)) for term, counter in sorted(kinds.items())]


def most_frequent(counter: Mapping[str, int]) -> str:
    """Return the most frequent key, of equally frequent ones the first in the alphabet."""
    return min(counter, key=lambda name: (-counter[name], name))


def reference_terms(texts: Sequence[AnnotatedText]) -> Dictionary:
    """Return the terms of the annotation that have ids, each with its most frequent one."""
    counters: dict[str, Counter[tuple[str, str]]] = {}
    for text in texts:
        for entity in text.entities:
            if len(entity.spans) == 1 and entity.id in text.references:
                term = " ".join(text.text[entity.start : entity.end].split())
                if len(term) >= _SHORTEST:
                    row = (entity.type, text.references[entity.id])
                    counters.setdefault(term, Counter())[row] += 1
    return Dictionary(
        [
            (term, *min(counter, key=lambda row: (-counter[row], row)))
            for term, counter in sorted(counters.items())
        ]
    )


def harvest_terms(
    documents: Iterable[Any], *, types: Any = None, min_count: int = 1, min_share: float = 0.5
) -> Dictionary:
    r"""Return a dictionary of the terms that are annotated as entities.

    Parameters
    ----------
    documents : iterable of Example, Document or Sentence
        Texts with annotated entities. Triggers of events are left out.
    types : list of str, optional
        Types of entities to count; by default all.
    min_count : int, default 1
        Minimum number of annotated occurrences of a term.
    min_share : float, default 0.5
        Minimum fraction of the occurrences of a term in the texts that are annotated as entities.
        Common words that are rarely names are left out.

    Returns
    -------
    Dictionary
        Terms in alphabetical order, those that begin with a letter first, each with its most
        frequent type and, if there are references to a database, its most frequent id. ``tally``
        counts the terms that are left out.

    Examples
    --------
    >>> from kernelwood.text import Document, Entity
    >>> ras = Entity("T1", "protein", ((0, 3),), "Ras")
    >>> texts = [Document("Ras is new.", [ras]), Document("No Ras.")]
    >>> harvest_terms(texts).terms
    (Term(term='Ras', type='protein', id=''),)
    >>> harvest_terms(texts, min_share=0.6).tally
    <Tally: 0 read, 1 skipped (1 × term that is rarely an entity)>
    """
    if isinstance(min_count, bool) or not isinstance(min_count, int) or min_count < 1:
        raise KernelInputError(f"min_count must be an int of at least 1, got {min_count!r}")
    if not 0 <= min_share <= 1:
        raise KernelInputError(f"min_share must be from 0 to 1, got {min_share!r}")
    with cycles_ignored():
        texts = read_texts(documents, types)
        mentions = [list(text.mentions()) for text in texts]
        counted = TermCounts(
            [text.text for text in texts], mentions, [str(n) for n in range(len(texts))]
        )
        ids = {row.term: row.id for row in reference_terms(texts).terms}
        refused: Counter[str] = Counter()
        kept: list[Term] = []
        for term, counts in zip(counted.terms, counted.counts().tolist(), strict=True):
            without, annotated = counts
            if annotated < min_count:
                refused["term that is annotated too rarely"] += 1
            elif annotated < min_share * (annotated + without):
                refused["term that is rarely an entity"] += 1
            else:
                kept.append(Term(term.term, term.type, ids.get(term.term, "")))
    kept.sort(key=lambda term: (not term.term[:1].isalpha(), term.term))  # "1 , 200 acres" last
    return Dictionary._selected(kept, refused)
