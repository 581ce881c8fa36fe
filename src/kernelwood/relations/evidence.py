"""Evidence: the training cases that contribute most to a prediction, and shared fragments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, islice, zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ExampleBatch
from kernelwood.explain import FragmentLine, PairValues, fragment_lines
from kernelwood.io import cycles_ignored
from kernelwood.kernels import Kernel, Product, Scaled, Sum
from kernelwood.relations.candidates import NONE, Candidates
from kernelwood.relations.predictions import Case, CaseFragment, Evidence
from kernelwood.relations.wording import MarkedText, WordedExample, mark_shared
from kernelwood.text import Span
from kernelwood.threads import ignored_warnings, lazy_property

Floats = NDArray[np.float64]

_N_FRAGMENTS = 3
_MAX_STEPS = 100_000
_AT_ONCE = 2**22  # contributions in memory, 32 MB
_LEAST = 0.1  # of the largest contribution: smaller ones are not shown


class CaseTexts(NamedTuple):
    """The sentences of training cases and the spans of their entities, each stored once.

    Attributes
    ----------
    sentences : ndarray of str
        Distinct sentences.
    sentence_of : ndarray of int32, shape (n,)
        The sentence of each case.
    spans : ndarray of int32, shape (2, m)
        Start and end of distinct entities.
    n_mentions : ndarray of int32, shape (n,)
        How many spans each case has.
    mentions : ndarray of int32, shape (2, n_mentions.sum())
        Of each span of each case, the column of ``spans``, and 1 if it is that of the trigger.
    """

    sentences: NDArray[Any]
    sentence_of: NDArray[np.int32]
    spans: NDArray[np.int32]
    n_mentions: NDArray[np.int32]
    mentions: NDArray[np.int32]

    @classmethod
    def of(cls, candidates: Candidates, rows: Iterable[int]) -> CaseTexts:
        """Return the texts of some candidates."""
        texts: dict[str, int] = {}
        spans: dict[tuple[int, Span], int] = {}  # spans of a sentence stand together
        sentence_of: list[int] = []
        n_mentions: list[int] = []
        mentions: list[tuple[int, int]] = []
        for row in rows:
            text = candidates.text(row)
            sentence_of.append(texts.setdefault(text, len(texts)))
            trigger = candidates.triggers[row]
            found = [(s, 0) for _, entity in candidates.participants[row] for s in entity.spans]
            found += [] if trigger is None else [(span, 1) for span in trigger.spans]
            n_mentions.append(len(found))
            mentions += [
                (spans.setdefault((sentence_of[-1], span), len(spans)), kind)
                for span, kind in found
            ]
        sentences = np.empty(len(texts), dtype=object)
        sentences[:] = list(texts)
        return cls(
            sentences,
            np.array(sentence_of, dtype=np.int32),
            np.array([span for _, span in spans], dtype=np.int32).reshape(-1, 2).T.copy(),
            np.array(n_mentions, dtype=np.int32),
            np.array(mentions, dtype=np.int32).reshape(-1, 2).T.copy(),
        )

    def keys(self) -> list[tuple[str, tuple[tuple[int, int, int], ...]]]:
        """Return the sentence of each case, and start, end and kind of its spans."""
        columns, kinds = self.mentions
        rows = np.concatenate([self.spans[:, columns], kinds[None]]).T.tolist()
        ends = np.cumsum(self.n_mentions, dtype=np.int64).tolist()
        begins = [0, *ends[:-1]]
        names = self.sentences[self.sentence_of].tolist()
        return [
            (str(name), tuple(tuple(row) for row in rows[begin:end]))
            for name, begin, end in zip(names, begins, ends, strict=True)
        ]

    def take(self, rows: Sequence[int]) -> CaseTexts:
        """Return the texts of some cases, with all sentences and spans."""
        places = np.asarray(rows, dtype=np.int64)
        ends = np.cumsum(self.n_mentions, dtype=np.int64)
        begins = ends - self.n_mentions
        kept = [np.arange(begins[row], ends[row]) for row in places.tolist()]
        columns = np.concatenate([np.empty(0, np.int64), *kept])
        return self._replace(
            sentence_of=self.sentence_of[places],
            n_mentions=self.n_mentions[places],
            mentions=np.ascontiguousarray(self.mentions[:, columns]),
        )

    def extended(self, other: CaseTexts) -> CaseTexts:
        """Return these cases and those of another extractor after them."""
        shift = np.array([[self.spans.shape[1]], [0]], dtype=np.int32)
        return CaseTexts(
            np.concatenate([self.sentences, other.sentences]),
            np.concatenate([self.sentence_of, other.sentence_of + np.int32(len(self.sentences))]),
            np.concatenate([self.spans, other.spans], axis=1),
            np.concatenate([self.n_mentions, other.n_mentions]),
            np.concatenate([self.mentions, other.mentions + shift], axis=1),
        )

    def check(self, n: int) -> None:
        """Raise ValueError unless arrays that are as declared are the texts of ``n`` cases."""
        if len(self.sentence_of) != n:
            raise ValueError("case texts: there must be a sentence for each case")
        if int(self.n_mentions.sum(dtype=np.int64)) != self.mentions.shape[1]:
            raise ValueError("case texts: mentions are not as many as the cases have")
        columns, kinds = self.mentions
        if columns.max(initial=-1) >= self.spans.shape[1] or kinds.max(initial=0) > 1:
            raise ValueError("case texts: mentions refer to spans that do not exist")
        lengths = np.array([len(text) for text in self.sentences], dtype=np.int64)
        longest = np.repeat(lengths[self.sentence_of], self.n_mentions)
        starts, ends = self.spans[:, columns]
        if (starts >= ends).any() or (ends > longest).any():
            raise ValueError("case texts: spans are outside of their sentences")

    def marked(self, case: int) -> MarkedText:
        """Return the sentence of a case with the spans of its participants and trigger.

        Examples
        --------
        >>> from kernelwood.text import Candidate, Entity, Sentence
        >>> raf, ras = Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((10, 13),))
        >>> sentence = Sentence.from_words(["Raf", "binds", "Ras"])
        >>> pair = Candidate("c", sentence, [("first", raf), ("second", ras)])
        >>> str(CaseTexts.of(Candidates.of_rows([pair]), [0]).marked(0))
        '[Raf] binds [Ras]'
        """
        first = int(self.n_mentions[:case].sum(dtype=np.int64))
        columns, kinds = self.mentions[:, first : first + int(self.n_mentions[case])]
        spans = [(start, end) for start, end in self.spans[:, columns].T.tolist()]
        entities, trigger = (
            tuple(span for span, kind in zip(spans, kinds.tolist(), strict=True) if kind == wanted)
            for wanted in (0, 1)
        )
        return MarkedText(str(self.sentences[self.sentence_of[case]]), entities, trigger)


class TrainingCases:
    """The training cases of an extractor, as evidence for predictions.

    Parameters
    ----------
    cases : ExampleBatch, length n
        Training cases, with their classes as labels.
    texts : CaseTexts
    learner : classifier
        Fitted on the cases.
    """

    def __init__(self, cases: ExampleBatch, texts: CaseTexts, learner: Any) -> None:
        self.cases, self.texts, self.learner = cases, texts, learner
        self.ids = np.array(cases.ids, dtype=object)
        self._known: dict[int, WordedExample] = {}

    def find(
        self, candidates: Candidates, views: Iterable[str], relations: Sequence[str], n: int
    ) -> list[Evidence]:
        """Return the cases with the largest contributions to the scores of candidates.

        Parameters
        ----------
        candidates : Candidates
        views : iterable of str
            The views of the extractor.
        relations : sequence of str
            The class that each score compares with ``"none"``.
        n : int
            Maximum number of supporting and of opposing cases.
        """
        examples = candidates.viewed(*views).table
        at_once = max(1, _AT_ONCE // len(self.cases))
        chosen: list[_Choice] = []
        for begin in range(0, len(examples), at_once):
            some = slice(begin, begin + at_once)
            chosen += self._choices(examples[some], list(relations[some]), n)
        rows = [row for row, sums in enumerate(chosen) for _ in sums.cases]
        cases = [case for sums in chosen for case in sums.cases]
        fragments = SharedFragments(self.learner.kernel_, examples[rows], self.cases[cases])
        similarities = iter(fragments.similarities() if rows else ())
        texts = CaseTexts.of(candidates, range(len(candidates)))
        words = [WordedExample(example, texts.marked(row)) for row, example in enumerate(examples)]
        numbers = count()
        found = []
        for sums, own in zip(chosen, words, strict=True):
            shown = [
                self._case(own, case, value, next(similarities), fragments.of_pair(next(numbers)))
                for case, value in zip(sums.cases, sums.values, strict=True)
            ]
            others = sums.score - sums.intercept - sum(sums.values)
            supporting, opposing = shown[: sums.n_supporting], shown[sums.n_supporting :]
            found.append(
                Evidence(
                    tuple(supporting), tuple(opposing), sums.score, sums.intercept, others, own.path
                )
            )
        return found

    def _choices(self, examples: ExampleBatch, relations: list[str], n: int) -> Iterator[_Choice]:
        """Yield the cases of each example."""
        given = self.learner.contributions(examples, relations, against=NONE, training=self.cases)
        for row, id in enumerate(examples.ids):
            sides = self._choose(given.indices, given.values[row], id, n)
            columns = [*sides[0], *sides[1]]
            yield _Choice(
                given.indices[columns].tolist(),
                given.values[row, columns].tolist(),
                len(sides[0]),
                float(given.scores[row]),
                float(given.intercepts[row]),
            )

    def _choose(
        self, numbers: NDArray[np.int64], values: Floats, id: str, n: int
    ) -> tuple[list[int], list[int]]:
        """Return the columns of the largest positive and of the largest negative contributions.

        The candidate itself is not among them, nor are contributions below a tenth of the largest.
        Of equally many cases, those from different sentences are preferred.
        """
        # Smaller ones would fill the lists of learners with few contributions. A fraction of the
        # sum of all would leave out everything: thousands of support structures contribute.
        values = np.where(self.ids[numbers] == id, 0.0, values)
        least = _LEAST * float(np.abs(values).max(initial=0.0))
        sides: list[list[int]] = []
        seen: set[int] = set()
        for sign in (1.0, -1.0):
            order = np.argsort(-sign * values, kind="stable")
            order = order[sign * values[order] > 0.0]
            fresh: list[int] = []
            again: list[int] = []
            for column in order[sign * values[order] >= least].tolist():
                if len(fresh) == n:
                    break
                sentence = int(self.texts.sentence_of[numbers[column]])
                (again if sentence in seen else fresh).append(column)
                seen.add(sentence)
            side = [*fresh, *again[: n - len(fresh)]]
            sides.append(sorted(side, key=lambda column: -sign * values[column]))
        return sides[0], sides[1]

    def _case(
        self,
        example: WordedExample,
        number: int,
        contribution: float,
        similarity: float,
        fragments: Callable[[], tuple[CaseFragment, ...]],
    ) -> Case:
        case = self._worded(number)
        sentence, predicted = mark_shared(case, example, self.cases.views)
        return Case(
            self.cases.ids[number],
            str(self.cases.labels[number]),
            similarity,
            contribution,
            sentence,
            predicted,
            case.path,
            fragments,
        )

    def _worded(self, number: int) -> WordedExample:
        """Return a case with its words, the same object for all predictions of a call."""
        if number not in self._known:
            self._known[number] = WordedExample(self.cases[number], self.texts.marked(number))
        return self._known[number]


class _Choice(NamedTuple):
    """The cases to show for a prediction, supporting ones first, and their contributions."""

    cases: list[int]
    values: list[float]
    n_supporting: int
    score: float
    intercept: float


class SharedFragments:
    """The fragments that examples share with cases, for each pair of them.

    Those of all pairs are found together, when those of one are first asked for.

    Parameters
    ----------
    kernel : Kernel
    examples, cases : ExampleBatch or list of structures, equally long
    """

    def __init__(self, kernel: Kernel, examples: Any, cases: Any) -> None:
        self.kernel, self.examples, self.cases = kernel, examples, cases
        self.values = PairValues()

    def similarities(self) -> list[float]:
        """Return the value of the kernel for each pair."""
        similarities: list[float] = self.values.of(self.kernel, self.examples, self.cases).tolist()
        return similarities

    def of_pair(self, number: int) -> Callable[[], tuple[CaseFragment, ...]]:
        """Return a function that returns the fragments of a pair."""
        return lambda: self.found[number]

    @lazy_property
    def found(self) -> list[tuple[CaseFragment, ...]]:
        """The fragments of each pair."""
        found: list[list[tuple[FragmentLine, float]]] = [[] for _ in range(len(self.cases))]
        pairs = self.examples, self.cases
        # The search for fragments is bounded, so larger ones may exist: a few are enough here.
        with ignored_warnings(category=RuntimeWarning), cycles_ignored():
            for part, shares in _shares(self.kernel, *pairs, self.values):
                each = fragment_lines(
                    part, *pairs, _N_FRAGMENTS, max_steps=_MAX_STEPS, values=self.values
                )
                for rows, fragments, share in zip(found, each, shares.tolist(), strict=True):
                    rows += [(one, one.covers * share) for one in fragments]
        return [_best(rows) for rows in found]


def _best(found: list[tuple[FragmentLine, float]]) -> tuple[CaseFragment, ...]:
    """Return the largest fragments, from different views where possible."""
    by_view: dict[str, dict[str, float]] = {}  # each once, if factors share a view
    for one, weight in sorted(found, key=lambda row: (-row[0].size, -row[1], row[0].text)):
        by_view.setdefault(one.view, {}).setdefault(one.text, weight)
    # The best fragment of each view, then the second best of each.
    views = [[(text, view, w) for text, w in some.items()] for view, some in by_view.items()]
    ranks = (row for rank in zip_longest(*views) for row in rank if row)
    return tuple(CaseFragment(*row) for row in islice(ranks, _N_FRAGMENTS))


def _shares(kernel: Kernel, X: Any, Y: Any, values: PairValues) -> list[tuple[Kernel, Floats]]:
    """Return the parts of a kernel without products, with their shares of similarities.

    Factors of a product have equal shares, summands those of their values. There is a share for
    each pair of structures.

    Examples
    --------
    >>> from kernelwood.kernels import SubsequenceKernel
    >>> from kernelwood.structures import Sequence
    >>> one, other = Sequence(["a"]), SubsequenceKernel()
    >>> kernel = other * other + 2 * other
    >>> [share.tolist() for _, share in _shares(kernel, [one], [one], PairValues())]
    [[0.16666666666666666], [0.16666666666666666], [0.6666666666666666]]
    """
    found: list[tuple[Kernel, Floats]] = []
    waiting = [(kernel, np.ones(len(X)))]
    while waiting:
        part, share = waiting.pop()
        parts = _below(part)
        if isinstance(part, Scaled):
            waiting.append((part.kernel, share))
        elif isinstance(part, Product):
            waiting += [(factor, share / len(parts)) for factor in reversed(parts)]
        elif isinstance(part, Sum) and any(map(_has_product, parts)):
            summands = np.array([values.of(one, X, Y) for one in parts], dtype=np.float64)
            total = summands.sum(axis=0)
            total[total == 0] = 1.0
            waiting += list(zip(parts, share * summands / total, strict=True))[::-1]
        else:
            found.append((part, share))
    return found


def _below(kernel: Kernel) -> list[Kernel]:
    """Return the factors of a product or the summands of a sum."""
    found: list[Kernel] = []
    waiting = [kernel]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (Product, Sum)) and type(part) is type(kernel):
            waiting += [part.right, part.left]
        else:
            found.append(part)
    return found


def _has_product(kernel: Kernel) -> bool:
    waiting = [kernel]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Product):
            return True
        if isinstance(part, Scaled):
            waiting.append(part.kernel)
        elif isinstance(part, Sum):
            waiting += [part.left, part.right]
    return False
