"""Why a prediction was made: the labeled cases most like it, and what it shares with them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.explain import shared_fragments
from kernelwood.kernels import Kernel, Product, Scaled
from kernelwood.learners import KernelSVC
from kernelwood.relations.predictions import NONE, Case, CaseFragment
from kernelwood.text import Candidate

__all__ = ["Memory", "marked_text"]

_N_PIECES = 3
_MAX_STEPS = 100_000


class Memory:
    """What an extractor learned from, to be searched.

    Parameters
    ----------
    kernel : Kernel
    cases : batch of examples, length n
    types : ndarray of str, shape (n,)
        Their classes.
    texts : ndarray of str, shape (n,)
        Their sentences, with marks.
    learner : classifier
        Fitted on the cases.
    """

    def __init__(
        self,
        kernel: Kernel,
        cases: Any,
        types: NDArray[Any],
        texts: NDArray[Any],
        learner: Any,
    ) -> None:
        self.kernel, self.cases = kernel, cases
        self.factors = _factors(kernel)
        self.types, self.texts = types, texts
        self.weights = _weights(learner, len(cases))

    def find(self, examples: Sequence[Any], n: int) -> list[tuple[Case, ...]]:
        """Return the ``n`` cases most like each example, except itself.

        Parameters
        ----------
        examples : sequence of Example
            With the views that the kernel compares.
        n : int
        """
        if not len(examples) or n == 0:
            return [()] * len(examples)
        # One more than asked for: a candidate of the training corpus would find itself.
        k = min(n + 1, len(self.cases))
        indices, similarities = self.kernel.neighbors(list(examples), self.cases, k)
        found = []
        for example, row, values in zip(examples, indices, similarities, strict=True):
            near = [
                (int(i), float(value))
                for i, value in zip(row, values, strict=True)
                if self.cases[int(i)].id != example.id
            ]
            found.append(tuple(self._case(example, i, value) for i, value in near[:n]))
        return found

    def _case(self, example: Any, i: int, similarity: float) -> Case:
        case = self.cases[i]
        return Case(
            case.id,
            str(self.types[i]),
            similarity,
            str(self.texts[i]),
            None if self.weights is None else float(self.weights[i]) * similarity + 0.0,  # not -0
            self._pieces(example, case),
        )

    def _pieces(self, a: Any, b: Any) -> tuple[CaseFragment, ...]:
        with warnings.catch_warnings():
            # That larger fragments may exist is no news to someone who asked for a few.
            warnings.filterwarnings("ignore", category=RuntimeWarning)
            found = [
                (fragment, (fragment.covers or 0.0) / len(self.factors))
                for factor in self.factors
                for fragment in shared_fragments(factor, a, b, _N_PIECES, max_steps=_MAX_STEPS)
            ]
        by_view: dict[str, dict[str, CaseFragment]] = {}  # each once, if factors share a view
        for one, weight in sorted(found, key=lambda row: (-row[0].size, -row[1], row[0].text)):
            pieces = by_view.setdefault(one.view, {})
            pieces.setdefault(one.text, CaseFragment(one.text, one.view, float(weight)))
        # The best of each view, then the second best: all sides of the matter are shown.
        ranks = zip_longest(*(pieces.values() for pieces in by_view.values()))
        return tuple(piece for rank in ranks for piece in rank if piece)[:_N_PIECES]


def _factors(kernel: Kernel) -> list[Kernel]:
    """Return the kernels whose product a kernel is, but for numbers: it alone, if it is none."""
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
    """Return the weight of each case in the score that there is a relation, if it has one."""
    if not isinstance(learner, KernelSVC) or learner.strategy != "ovr":
        return None
    none = learner.classes_.tolist().index(NONE)
    two = len(learner.classes_) == 2
    # Of two classes, one machine speaks for the second.
    sign = 1.0 if two and none == 0 else -1.0
    weights = np.zeros(n)
    weights[learner.support_indices_] = sign * learner.coefficients_[0 if two else none]
    return weights


def marked_text(candidate: Candidate) -> str:
    """Return the sentence of a candidate with its entities in brackets, the trigger in braces.

    Examples
    --------
    >>> from kernelwood.text import Entity, Sentence
    >>> raf, ras = Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((10, 13),))
    >>> sentence = Sentence.from_words(["Raf", "binds", "Ras"])
    >>> marked_text(Candidate("c", sentence, [("first", raf), ("second", ras)]))
    '[Raf] binds [Ras]'
    """
    marks: list[tuple[int, int, str]] = []  # where one ends and another begins, the end is first
    for _, entity in candidate.participants:
        marks += [mark for span in entity.spans for mark in ((span[0], 1, "["), (span[1], 0, "]"))]
    if candidate.trigger is not None:
        spans = candidate.trigger.spans
        marks += [mark for span in spans for mark in ((span[0], 1, "{"), (span[1], 0, "}"))]
    text, pieces, done = candidate.sentence.text, [], 0
    for at, _, mark in sorted(marks):
        pieces += [text[done:at], mark]
        done = at
    return "".join([*pieces, text[done:]])
