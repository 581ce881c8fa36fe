"""The greedy search for references whose hashcodes tell most about the classes.

A reference set has slots, and each bit is made of the references in some of them. A step draws
examples and candidates for one slot, and puts the candidate there with which the codes of the
examples have the greatest mutual information with their classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import Progress, budget
from kernelwood.features.bit_blocks import make_bits
from kernelwood.features.codes import n_words, unpack
from kernelwood.information import ExplainedClasses, explain_classes
from kernelwood.kernels import Kernel
from kernelwood.seeds import child_generator

__all__ = ["Comparisons", "SlotSearch", "changed_bits", "draw_sample", "swapped_bits"]

Bits = NDArray[np.uint8]
Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Subsets = NDArray[np.int32]

_STEPS = 2  # what the random numbers of a child generator are for
_BITS_AT_ONCE = 2**25  # of candidates that are held, a byte each
_CANDIDATES_AT_ONCE = 1024  # whose similarities are laid out as one matrix
_SHARE_OF_BUDGET = 4  # one in so many bytes may go to a table of all similarities


class Comparisons:
    """Similarities of structures by their numbers in a pool.

    If fewer evaluations are needed to compare all with all than are planned, and there is memory
    for it, that is done once. No value depends on it.

    Parameters
    ----------
    kernel : Kernel
    pool : batch, length n
    planned : int
        Kernel evaluations that are going to be asked for.
    """

    def __init__(self, kernel: Kernel, pool: Any, planned: int) -> None:
        self._kernel, self._pool = kernel, pool
        self._table: NDArray[Any] | None = None
        n_bytes = len(pool) ** 2 * kernel._dtype(None).itemsize
        if len(pool) ** 2 < planned and n_bytes * _SHARE_OF_BUDGET <= budget():
            self._table = kernel.cross(pool, pool)

    def between(self, rows: Numbers, columns: Numbers, dtype: Any = None) -> NDArray[Any]:
        """Return similarities, in the number type of the kernel unless another is wanted."""
        wanted = self._kernel._dtype(dtype)
        if self._table is not None and self._table.dtype == wanted:
            return self._table[np.ix_(rows, columns)]
        return self._kernel.cross(self._pool[rows], self._pool[columns], dtype=wanted)

    def gram(self, numbers: Numbers) -> Floats:
        """Return similarities among some, as hashers compute those of their references."""
        return np.asarray(self._kernel.gram(self._pool[numbers], dtype="float64"))

    def diag(self, numbers: Numbers) -> Floats:
        """Return the similarity of each of some with itself."""
        return np.asarray(self._kernel.diag(self._pool[numbers], dtype="float64"))


@dataclass(frozen=True)
class Swap:
    """Candidates for a slot, and what their bits are made of.

    Parameters
    ----------
    slot : int
    gram : ndarray of float64, shape (n_references, n_references)
        Similarities of the references as they are.
    similarities : ndarray, shape (n, n_references + n_candidates)
        Of examples to the references and to the candidates.
    to_references : ndarray of float64, shape (n_candidates, n_references)
        Of the candidates to the references.
    to_self : ndarray of float64, shape (n_candidates,)
        Of each candidate to itself.
    """

    slot: int
    gram: Floats
    similarities: NDArray[Any]
    to_references: Floats
    to_self: Floats

    def part(self, begin: int, end: int) -> Swap:
        """Return some of the candidates."""
        m = len(self.gram)
        some = np.r_[0:m, m + begin : m + end]
        return Swap(
            self.slot,
            self.gram,
            self.similarities[:, some],
            self.to_references[begin:end],
            self.to_self[begin:end],
        )

    def gram_with_all(self) -> Floats:
        """Return the similarities of references and candidates; no two candidates ever meet."""
        m, n = len(self.gram), len(self.to_self)
        extended = np.zeros((m + n, m + n))
        extended[:m, :m] = self.gram
        extended[m:, :m] = self.to_references
        extended[:m, m:] = self.to_references.T
        extended[np.arange(m, m + n), np.arange(m, m + n)] = self.to_self
        return extended

    def gram_with(self, candidate: int) -> Floats:
        """Return the similarities of the references once a candidate is in the slot."""
        changed = self.gram.copy()
        changed[self.slot] = changed[:, self.slot] = self.to_references[candidate]
        changed[self.slot, self.slot] = self.to_self[candidate]
        return changed


def changed_bits(method: str, subsets: Subsets, slot: int) -> Numbers:
    """Return the bits that a reference in a slot has a part in.

    Examples
    --------
    >>> subsets = np.array([[[0], [1]], [[1], [2]]], dtype=np.int32)
    >>> changed_bits("rmm", subsets, 0), changed_bits("kulis", subsets, 0)
    (array([0]), array([0, 1]))
    """
    if method == "kulis":  # every reference has a part in what whitens all of them
        return np.arange(len(subsets))
    return np.flatnonzero((subsets == slot).any(axis=(1, 2)))


def swapped_bits(method: str, swap: Swap, subsets: Subsets) -> Bits:
    """Return bits of examples with each of several candidates in a slot.

    Parameters
    ----------
    method : {"rmm", "rknn", "kulis"}
    swap : Swap
    subsets : ndarray of int32, shape (n_bits, 2, subset_size)
        Of the bits that are wanted.

    Returns
    -------
    ndarray of uint8, shape (n_candidates, n, n_bits)
    """
    n_candidates, (n_bits, _, _) = len(swap.to_self), subsets.shape
    if method == "kulis":
        return np.stack([_bits_with(method, swap, subsets, i) for i in range(n_candidates)])
    # One candidate in each subset, so that the bits of all of them are made at once.
    theirs = len(swap.gram) + np.arange(n_candidates)[:, None, None, None]
    each = np.where(subsets == swap.slot, theirs, subsets).astype(np.int32)
    extended = swap.gram_with_all()
    bits = _bits(method, extended, each.reshape(-1, *subsets.shape[1:]), swap.similarities)
    return bits.reshape(-1, n_candidates, n_bits).transpose(1, 0, 2)


def _bits_with(method: str, swap: Swap, subsets: Subsets, candidate: int) -> Bits:
    similarities = swap.similarities[:, : len(swap.gram)].copy()
    similarities[:, swap.slot] = swap.similarities[:, len(swap.gram) + candidate]
    return _bits(method, swap.gram_with(candidate), subsets, similarities)


def _bits(method: str, gram: Floats, subsets: Subsets, similarities: NDArray[Any]) -> Bits:
    codes = np.zeros((len(similarities), n_words(len(subsets))), dtype=np.uint64)
    make_bits(method, gram, subsets).fill(similarities, 0, codes)
    return unpack(codes, len(subsets))


def draw_sample(random: np.random.Generator, classes: NDArray[Any], n: int) -> Numbers:
    """Return the numbers of n examples drawn at random, of every class one at least.

    If a class is not among the first n, an example of it takes the place of the last one drawn that
    is not the only one of its class. With more classes than n, some are left out.

    Examples
    --------
    >>> classes = np.array([0] * 99 + [1])
    >>> int(draw_sample(np.random.default_rng(0), classes, 5).max())
    99
    """
    order = random.permutation(len(classes))
    firsts = np.unique(classes[order], return_index=True)[1]
    ranks = np.arange(len(order))
    ranks[firsts] -= len(order)
    return np.sort(order[np.argsort(ranks)[:n]])


@dataclass
class SlotSearch:
    """A reference set on its way to a better one.

    Parameters
    ----------
    comparisons : Comparisons
        Similarities of the pool, labeled structures first.
    classes : ndarray of int32, shape (n_labeled,)
    references : ndarray of int64, shape (n_references,)
        Numbers in the pool; changed by the search, as ``gram``.
    gram : ndarray of float64, shape (n_references, n_references)
        Their similarities.
    subsets : ndarray of int32, shape (n_bits, 2, subset_size)
        Slots of each bit.
    method : {"rmm", "rknn", "kulis"}
    n_pool, n_candidates, n_samples : int
    seed : int
    """

    comparisons: Comparisons
    classes: NDArray[np.int32]
    references: Numbers
    gram: Floats
    subsets: Subsets
    method: str
    n_pool: int
    n_candidates: int
    n_samples: int
    seed: int

    def run(self, n_steps: int, report: Progress | None) -> list[dict[str, Any]]:
        """Improve one slot after the other, round and round; return what each step did."""
        trace = []
        for number in range(n_steps):
            trace.append(self.step(number))
            if report is not None:
                report(number + 1, n_steps)
        return trace

    def step(self, number: int) -> dict[str, Any]:
        """Look for a better reference for one slot; the present one stays if there is none."""
        random = child_generator(self.seed, _STEPS, number)
        slot = number % len(self.references)
        labeled, unlabeled = self._draw_examples(random)
        candidates = self._draw_candidates(random)
        columns = changed_bits(self.method, self.subsets, slot)
        swap = self._compare(slot, np.concatenate([labeled, unlabeled]), candidates)
        fit = self._explain(swap, len(labeled), self.classes[labeled], random)
        before, values = fit.mutual_information, np.empty(0)
        if len(columns):  # few bits may need no reference in this slot
            # The present reference gets the iterations that the candidates get.
            before = float(fit.after_swaps(columns, fit.whole.bits[None][:, :, columns])[0])
            values = np.concatenate(list(self._values(fit, swap, columns)))
        removed, better = int(self.references[slot]), values > before
        if better.any():
            best = int(values.argmax())
            self.references[slot], self.gram = candidates[best], swap.gram_with(best)
        return {
            "step": number,
            "slot": slot,
            "removed": removed,
            "chosen": int(self.references[slot]),
            "before": before,
            "after": float(values.max()) if better.any() else before,
            "n_candidates": len(candidates),
            "n_better": int(better.sum()),
        }

    def _draw_examples(self, random: np.random.Generator) -> tuple[Numbers, Numbers]:
        n_labeled = len(self.classes)
        n_others = self.n_pool - n_labeled
        n = min(self.n_samples, self.n_pool)
        # As many without a label as in the pool, but the classes need examples, too.
        n_unlabeled = min(n // 2, n * n_others // self.n_pool)
        labeled = draw_sample(random, self.classes, n - n_unlabeled)
        unlabeled = n_labeled + random.permutation(n_others)[:n_unlabeled]
        return labeled, np.sort(unlabeled)

    def _draw_candidates(self, random: np.random.Generator) -> Numbers:
        free = np.delete(np.arange(self.n_pool), self.references)
        return np.sort(random.permutation(free)[: self.n_candidates])

    def _compare(self, slot: int, examples: Numbers, candidates: Numbers) -> Swap:
        compared = self.comparisons.between
        n, m = len(candidates), len(self.references)
        # The nearest of two subsets is found without comparing references.
        needed = self.method != "rknn"
        return Swap(
            slot,
            self.gram,
            compared(examples, np.concatenate([self.references, candidates])),
            compared(candidates, self.references, "float64") if needed else np.zeros((n, m)),
            self.comparisons.diag(candidates) if needed else np.zeros(n),
        )

    def _explain(
        self, swap: Swap, n_labeled: int, classes: NDArray[np.int32], random: np.random.Generator
    ) -> ExplainedClasses:
        present = swap.similarities[:, : len(self.gram)]
        bits = _bits(self.method, self.gram, self.subsets, present)
        return explain_classes(
            bits[:n_labeled],
            np.unique(classes, return_inverse=True)[1],
            bits[n_labeled:] if n_labeled < len(bits) else None,
            random_state=int(random.integers(2**62)),
        )

    def _values(self, fit: ExplainedClasses, swap: Swap, columns: Numbers) -> Iterator[Floats]:
        """Yield the mutual information with each candidate, some at a time."""
        n_bits = len(swap.similarities) * len(columns)
        at_once = max(1, min(_BITS_AT_ONCE // n_bits, _CANDIDATES_AT_ONCE))
        for begin in range(0, len(swap.to_self), at_once):
            some = swap.part(begin, min(begin + at_once, len(swap.to_self)))
            yield fit.after_swaps(columns, swapped_bits(self.method, some, self.subsets[columns]))
