"""Pairs of words by the cosine of their composed vectors."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.similarity.base import BuiltIn
from kernelwood.similarity.labels import COMPOSITE, Label, Word, parse_label
from kernelwood.similarity.resolution import Indices, Resolution, group_ids
from kernelwood.similarity.words import (
    WordVectors,
    check_vectors,
    cosine,
    find_rows,
    label_rows,
    vector_of,
)

__all__ = ["Compositional"]

_AT_ONCE = 4096  # pairs composed at a time, so that only the result is large


class Compositional(BuiltIn):
    r"""Compares relations between two words by composing the vectors of the two.

    Two labels ``COMP##relation<head::pos,modifier::pos>`` are compared if their heads agree in
    part of speech, their modifiers do, and their relations do:

    .. math:: k(a, b) = \tau \cos(p_a, p_b)

    and 0 if that is below the floor. The composed vector :math:`p` of the vectors :math:`h` of the
    head and :math:`m` of the modifier is

    ==============  ==================================================================
    ``operation``   :math:`p`
    ==============  ==================================================================
    ``"sum"``       :math:`\alpha h + \beta m`
    ``"product"``   :math:`h \odot m`, entry by entry
    ``"dilation"``  :math:`(m \cdot m)\, h + (\delta - 1)(h \cdot m)\, m`: the head,
                    stretched by :math:`\delta` along the modifier
    ==============  ==================================================================

    If only one of the two words has a vector, it stands for both. A label without any, or whose
    composed vector is zero, matches only itself. Single words are compared as by
    :class:`Lexical`, all other labels exactly. This makes :class:`~kernelwood.PartialTreeKernel`
    the compositionally smoothed partial tree kernel (CSPTK).

    Parameters
    ----------
    vectors : Vectors
        The vectors of words, composed as they are: of length 1, unless they were read with
        ``normalize=False``. The word ``play::v`` is looked up under this name, then as ``play``.
    operation : {"sum", "product", "dilation"}
        How two vectors become one.
    head_weight, modifier_weight : float in [0, 1e6]
        :math:`\alpha` and :math:`\beta`, for ``"sum"``; not both 0.
    dilation : float in (0, 1e6]
        :math:`\delta`, for ``"dilation"``.
    same_relation : bool
        Compare only labels of the same relation.
    lexical : bool
        Compare single words by their vectors, too; otherwise they match exactly.
    weight : float in [1e-6, 1]
        :math:`\tau`, how much relations and words with a vector count against other labels.
    floor : float in [0, weight)
        Similarities below this count as 0; so do negative ones.

    Notes
    -----
    KeLP compares relations of different names, and single words only exactly: that is
    ``same_relation=False, lexical=False``.

    Not positive semidefinite in general, because cosines are cut at the floor.

    References
    ----------
    .. [1] P. Annesi, D. Croce, R. Basili, "Semantic compositionality in tree kernels", CIKM 2014.
    .. [2] J. Mitchell, M. Lapata, "Composition in distributional models of semantics", Cognitive
       Science 34(8), 2010.

    Examples
    --------
    >>> from kernelwood.similarity import Compositional
    >>> from kernelwood.vectors import Vectors
    >>> vectors = Vectors(["play", "strum", "guitar"], [[1, 0], [0.8, 0.6], [0, 1]])
    >>> labels = ["COMP##dobj<play::v,guitar::n>", "COMP##dobj<strum::v,guitar::n>"]
    >>> round(Compositional(vectors).value(*labels), 3)
    0.949
    >>> round(Compositional(vectors, operation="dilation").value(*labels), 3)
    0.555
    """

    def __init__(
        self,
        vectors: WordVectors,
        *,
        operation: Literal["sum", "product", "dilation"] = "sum",
        head_weight: float = 1.0,
        modifier_weight: float = 1.0,
        dilation: float = 2.0,
        same_relation: bool = True,
        lexical: bool = True,
        weight: float = 1.0,
        floor: float = 0.01,
    ) -> None:
        self.vectors = vectors
        self.operation = operation
        self.head_weight = head_weight
        self.modifier_weight = modifier_weight
        self.dilation = dilation
        self.same_relation = same_relation
        self.lexical = lexical
        self.weight = weight
        self.floor = floor

    @property
    def positive_semidefinite(self) -> bool:
        """False: cosines are cut at the floor."""
        return False

    def check(self) -> None:
        """Raise KernelInputError if a parameter is out of range."""
        check_vectors(self, self.vectors)
        self._check_choice("operation", ("sum", "product", "dilation"))
        self._check_choice("same_relation", (False, True))
        self._check_choice("lexical", (False, True))
        self._check_number("head_weight", 0, 1e6, "[0, 1e6]")
        self._check_number("modifier_weight", 0, 1e6, "[0, 1e6]")
        self._check_number("dilation", 0, 1e6, "(0, 1e6]")
        self._check_number("weight", 1e-6, 1, "[1e-6, 1]")
        self._check_number("floor", 0, self.weight, "[0, weight)")
        if self.head_weight == self.modifier_weight == 0:
            raise KernelInputError(
                "Compositional: head_weight and modifier_weight are both 0, which leaves nothing "
                "to compare; make one of them positive"
            )

    # By the book.

    def value(self, a: str, b: str) -> float:
        """Return the similarity of two labels by the formula, in plain Python."""
        self.check()
        left, right = parse_label(a), parse_label(b)
        u, v = self._vector(left), self._vector(right)
        if u is None or v is None:
            return float(a == b)
        value = self.weight * cosine(u, v) if self._comparable(left, right) else 0.0
        return value if value >= self.floor else 0.0

    def _comparable(self, left: Label, right: Label) -> bool:
        if left.head and left.modifier and right.head and right.modifier:
            return (
                left.head.pos == right.head.pos
                and left.modifier.pos == right.modifier.pos
                and (left.relation == right.relation or not self.same_relation)
            )
        return left.is_word and right.is_word and left.pos == right.pos

    def _vector(self, label: Label) -> list[float] | None:
        if label.head and label.modifier:
            head = vector_of(self.vectors, label.head)
            modifier = vector_of(self.vectors, label.modifier)
            if head is None or modifier is None:
                head = modifier = head or modifier
            if head is None or modifier is None:
                return None
            composed = self._composed(head, modifier)
            return composed if math.fsum(x * x for x in composed) > 0 else None
        if self.lexical and label.is_word:
            return vector_of(self.vectors, Word(label.word, label.pos))
        return None

    def _composed(self, head: list[float], modifier: list[float]) -> list[float]:
        pairs = list(zip(head, modifier, strict=True))
        if self.operation == "sum":
            alpha, beta = self._weights()
            return [alpha * h + beta * m for h, m in pairs]
        if self.operation == "product":
            return [h * m for h, m in pairs]
        along = math.fsum(m * m for m in modifier)
        stretch = (self.dilation - 1) * math.fsum(h * m for h, m in pairs)
        return [along * h + stretch * m for h, m in pairs]

    def _weights(self) -> tuple[float, float]:
        """Return the two weights, the larger as 1: only their ratio counts."""
        largest = max(self.head_weight, self.modifier_weight)
        return float(self.head_weight / largest), float(self.modifier_weight / largest)

    # In arrays.

    def resolve(self, labels: list[str]) -> Resolution:
        """Return a new matrix with the composed vectors, each pair of words once."""
        self.check()
        parsed = [parse_label(label) for label in labels]
        at = np.array([i for i, x in enumerate(parsed) if x.kind == COMPOSITE], dtype=np.int64)
        heads, modifiers = self._pair_rows([parsed[i] for i in at.tolist()])
        at, heads, modifiers = (side[heads >= 0] for side in (at, heads, modifiers))
        n_words = max(1, len(self.vectors.matrix))
        pairs, pair_of = np.unique(heads * n_words + modifiers, return_inverse=True)
        words = label_rows(self.vectors, parsed) if self.lexical else np.full(len(parsed), -1)
        used, used_of = np.unique(words[words >= 0], return_inverse=True)

        vectors = np.empty((len(pairs) + len(used), self.vectors.matrix.shape[1]))
        not_zero = self._compose_all(pairs // n_words, pairs % n_words, vectors)
        vectors[len(pairs) :] = self.vectors.matrix[used]
        rows = np.full(len(labels), -1, dtype=np.int64)
        rows[at] = np.where(not_zero[pair_of], pair_of, -1)
        rows[words >= 0] = len(pairs) + used_of
        keys = zip(labels, parsed, rows.tolist(), strict=True)
        return Resolution(
            groups=group_ids(text if row < 0 else self._group(x) for text, x, row in keys),
            rows=rows,
            vectors=vectors,
            function="cosine",
            weight=float(self.weight),
            floor=float(self.floor),
        )

    def _group(self, label: Label) -> Hashable:
        """Return what two labels with vectors must have in common to be compared."""
        if label.head and label.modifier:
            relation = label.relation if self.same_relation else ""
            return (relation, label.head.pos, label.modifier.pos)
        return (label.pos,)

    def _pair_rows(self, composites: list[Label]) -> tuple[Indices, Indices]:
        """Return the rows of heads and modifiers; a word without one borrows its partner's."""
        numbers: dict[Any, int] = {}
        sides = [
            np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int64)
            for words in ([x.head for x in composites], [x.modifier for x in composites])
        ]
        rows = find_rows(self.vectors, list(numbers))
        heads, modifiers = rows[sides[0]], rows[sides[1]]
        return np.where(heads < 0, modifiers, heads), np.where(modifiers < 0, heads, modifiers)

    def _compose_all(
        self, heads: Indices, modifiers: Indices, out: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Write the composed vectors into the first rows of ``out``; return which are not zero."""
        not_zero = np.empty(len(heads), dtype=bool)
        for begin in range(0, len(heads), _AT_ONCE):
            some = slice(begin, min(begin + _AT_ONCE, len(heads)))
            h = self.vectors.matrix[heads[some]].astype(np.float64)
            m = self.vectors.matrix[modifiers[some]].astype(np.float64)
            if self.operation == "sum":
                alpha, beta = self._weights()
                out[some] = alpha * h + beta * m
            elif self.operation == "product":
                out[some] = h * m
            else:
                stretch = (self.dilation - 1) * np.einsum("ij,ij->i", h, m)
                out[some] = np.einsum("ij,ij->i", m, m)[:, None] * h + stretch[:, None] * m
            not_zero[some] = np.einsum("ij,ij->i", out[some], out[some]) > 0
        return not_zero
