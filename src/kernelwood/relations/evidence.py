"""Evidence: the training cases most similar to a prediction, and the fragments they share."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ExampleBatch
from kernelwood.explain import shared_fragments
from kernelwood.kernels import Kernel, Product, Scaled
from kernelwood.learners import KernelSVC
from kernelwood.relations.candidates import NONE, Candidates
from kernelwood.relations.predictions import Case, CaseFragment
from kernelwood.text import Span

_N_FRAGMENTS = 3
_MAX_STEPS = 100_000
_MARKS = ("[]", "{}")  # around participants, and around the trigger


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
            text = candidates.sentence(row).text
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

    def check(self, n: int) -> None:
        """Raise ValueError unless these are the texts of ``n`` cases."""
        for name, array, shape, ndim in (
            ("sentence_of", self.sentence_of, (n,), 1),
            ("n_mentions", self.n_mentions, (n,), 1),
            ("spans", self.spans, (2,), 2),
            ("mentions", self.mentions, (2,), 2),
        ):
            if (
                not isinstance(array, np.ndarray)
                or array.dtype != np.int32
                or array.shape[: len(shape)] != shape
                or array.ndim != ndim
                or array.min(initial=0) < 0
            ):
                raise ValueError(f"case texts: {name} must be counts of type int32")
        if not isinstance(self.sentences, np.ndarray) or self.sentences.ndim != 1:
            raise ValueError("case texts: sentences must be strings")
        if self.sentence_of.max(initial=-1) >= len(self.sentences):
            raise ValueError("case texts: there are fewer sentences")
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

    def text(self, case: int) -> str:
        """Return the sentence of a case, participants in brackets, the trigger in braces.

        Examples
        --------
        >>> from kernelwood.text import Candidate, Entity, Sentence
        >>> raf, ras = Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((10, 13),))
        >>> sentence = Sentence.from_words(["Raf", "binds", "Ras"])
        >>> pair = Candidate("c", sentence, [("first", raf), ("second", ras)])
        >>> CaseTexts.of(Candidates.of_rows([pair]), [0]).text(0)
        '[Raf] binds [Ras]'
        """
        text = str(self.sentences[self.sentence_of[case]])
        first = int(self.n_mentions[:case].sum(dtype=np.int64))
        columns, kinds = self.mentions[:, first : first + int(self.n_mentions[case])]
        # Where one span ends and another begins, the end comes first.
        marks = sorted(
            (place, begins, _MARKS[kind][1 - begins])
            for span, kind in zip(self.spans[:, columns].T.tolist(), kinds.tolist(), strict=True)
            for place, begins in ((span[0], 1), (span[1], 0))
        )
        pieces, done = [], 0
        for place, _, mark in marks:
            pieces += [text[done:place], mark]
            done = place
        return "".join([*pieces, text[done:]])


class TrainingCases:
    """The training cases of an extractor, to be searched for evidence.

    Parameters
    ----------
    kernel : Kernel
    cases : ExampleBatch, length n
        With their classes as labels.
    texts : CaseTexts
    learner : classifier
        Fitted on the cases.
    """

    def __init__(self, kernel: Kernel, cases: ExampleBatch, texts: CaseTexts, learner: Any) -> None:
        self.kernel, self.cases, self.texts = kernel, cases, texts
        self.factors = _factors(kernel)
        self.weights = _weights(learner, len(cases))

    def find(self, examples: ExampleBatch, n: int) -> list[tuple[Case, ...]]:
        """Return the ``n`` cases most similar to each example, except itself."""
        if not len(examples) or n == 0:
            return [()] * len(examples)
        # One more than asked for: a candidate of the training corpus would find itself.
        k = min(n + 1, len(self.cases))
        indices, similarities = self.kernel.neighbors(examples, self.cases, k)
        found = []
        for example, row, values in zip(examples, indices, similarities, strict=True):
            near = [
                (int(i), float(value))
                for i, value in zip(row, values, strict=True)
                if self.cases.ids[int(i)] != example.id
            ]
            found.append(tuple(self._case(example, i, value) for i, value in near[:n]))
        return found

    def _case(self, example: Any, i: int, similarity: float) -> Case:
        return Case(
            self.cases.ids[i],
            str(self.cases.labels[i]),
            similarity,
            self.texts.text(i),
            None if self.weights is None else float(self.weights[i]) * similarity + 0.0,  # not -0
            self._fragments(example, self.cases[i]),
        )

    def _fragments(self, a: Any, b: Any) -> tuple[CaseFragment, ...]:
        with warnings.catch_warnings():
            # The search for fragments is bounded, so larger ones may exist: a few are enough here.
            warnings.filterwarnings("ignore", category=RuntimeWarning)
            found = [
                (fragment, (fragment.covers or 0.0) / len(self.factors))
                for factor in self.factors
                for fragment in shared_fragments(factor, a, b, _N_FRAGMENTS, max_steps=_MAX_STEPS)
            ]
        by_view: dict[str, dict[str, CaseFragment]] = {}  # each once, if factors share a view
        for one, weight in sorted(found, key=lambda row: (-row[0].size, -row[1], row[0].text)):
            fragments = by_view.setdefault(one.view, {})
            fragments.setdefault(one.text, CaseFragment(one.text, one.view, float(weight)))
        # The best fragment of each view, then the second best of each.
        ranks = zip_longest(*(fragments.values() for fragments in by_view.values()))
        return tuple(fragment for rank in ranks for fragment in rank if fragment)[:_N_FRAGMENTS]


def _factors(kernel: Kernel) -> list[Kernel]:
    """Return the factors of a product of kernels, without numbers; of another kernel, itself."""
    found, waiting = [], [kernel]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Scaled):
            waiting.append(part.kernel)
        elif isinstance(part, Product):
            waiting += [part.right, part.left]
        else:
            found.append(part)
    return found


def _weights(learner: Any, n: int) -> NDArray[np.float64] | None:
    """Return the weight of each case in the score of a relation, None if there are no weights."""
    if not isinstance(learner, KernelSVC) or learner.strategy != "ovr":
        return None
    none = learner.classes_.tolist().index(NONE)
    two = len(learner.classes_) == 2
    # With two classes, the only machine has positive scores for the second.
    sign = 1.0 if two and none == 0 else -1.0
    weights = np.zeros(n)
    weights[learner.support_indices_] = sign * learner.coefficients_[0 if two else none]
    return weights
