"""Similarities of words computed from word vectors."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.similarity.label_notation import COMPOSITE, ROOT, Label, Word, parse_label
from kernelwood.similarity.similarity import BuiltIn, Function, Indices, Resolution, group_ids

_AT_ONCE = 4096  # pairs composed at a time, which bounds the temporary memory
_ROUNDED = 1e-6  # above the error of cosines that comes from vectors of 32-bit numbers


class WordVectors(Protocol):
    """The part of :class:`kernelwood.Vectors` that similarities use."""

    @property
    def matrix(self) -> NDArray[np.float32]:
        """One row of unit length per word."""

    def rows(self, labels: list[str]) -> NDArray[np.int64]:
        """Return the row of each text, -1 for texts without a vector."""


class _FromVectors(BuiltIn):
    """A function of the cosine of labels that have vectors; all other labels match exactly."""

    vectors: WordVectors
    _function: Function

    def check(self) -> None:
        """Raise KernelInputError if a parameter is out of range."""
        vectors = self.vectors
        if getattr(vectors, "matrix", None) is None or not callable(getattr(vectors, "rows", None)):
            raise KernelInputError(
                f"{type(self).__name__}: vectors must be a Vectors object, got {vectors!r}; read "
                "one with kw.Vectors.load(path) or make one with kw.Vectors(words, matrix)"
            )

    def value(self, a: str, b: str) -> float:
        """Return the similarity of two labels by the formula, in plain Python."""
        self.check()
        left, right = parse_label(a), parse_label(b)
        u, v = self._vector(left), self._vector(right)
        if u is None or v is None:
            return float(a == b)
        return self._formula(_cosine(u, v)) if self._group(left) == self._group(right) else 0.0

    def resolve(self, labels: list[str]) -> Resolution:
        """Return the matrix of the vectors, with the groups of labels that are compared."""
        self.check()
        parsed = [parse_label(label) for label in labels]
        return self._resolution(
            labels, parsed, self._word_rows(parsed), np.ascontiguousarray(self.vectors.matrix)
        )

    def _resolution(
        self, labels: list[str], parsed: list[Label], rows: Indices, vectors: NDArray[Any]
    ) -> Resolution:
        keys = zip(labels, parsed, rows.tolist(), strict=True)
        weight, floor = self._weight_and_floor()
        return Resolution(
            groups=group_ids(text if row < 0 else self._group(label) for text, label, row in keys),
            rows=rows,
            vectors=vectors,
            function=self._function,
            weight=weight,
            floor=floor,
        )

    def _group(self, label: Label) -> Hashable:
        """Return the key that two labels with vectors must share to be compared."""
        return ("with a vector",)

    def _formula(self, c: float) -> float:
        """Return the similarity of two labels whose vectors have the cosine ``c``."""
        raise NotImplementedError

    def _weight_and_floor(self) -> tuple[float, float | None]:
        return 1.0, None

    def _word_rows(self, labels: Sequence[Label]) -> Indices:
        """Return the row of each label, -1 for labels that are not words or have no vector."""
        at = [i for i, label in enumerate(labels) if label.is_word]
        rows = np.full(len(labels), -1, dtype=np.int64)
        rows[at] = _find_rows(self.vectors, [Word(labels[i].word, labels[i].pos) for i in at])
        return rows

    def _vector(self, label: Label) -> list[float] | None:
        return self._word_vector(Word(label.word, label.pos)) if label.is_word else None

    def _word_vector(self, word: Word) -> list[float] | None:
        """Return the vector of one word as plain numbers."""
        if word == ROOT:
            return None
        for key in (_key(word), word.word):
            row = int(self.vectors.rows([key])[0])
            if row >= 0:
                numbers: list[float] = self.vectors.matrix[row].tolist()
                return numbers
        return None


def _find_rows(vectors: WordVectors, words: Sequence[Word]) -> Indices:
    """Return the row of each word: that of ``word::pos``, else of ``word``, else -1."""
    rows = np.array(vectors.rows([_key(word) for word in words]), dtype=np.int64)
    again = [i for i in np.flatnonzero(rows < 0).tolist() if words[i].pos]
    rows[again] = vectors.rows([words[i].word for i in again])
    rows[[i for i, word in enumerate(words) if word == ROOT]] = -1
    return rows


def _cosine(u: list[float], v: list[float]) -> float:
    """Return the cosine of two nonzero vectors by its definition."""
    if u == v:
        return 1.0
    product = math.fsum(x * y for x, y in zip(u, v, strict=True))
    lengths = (math.sqrt(math.fsum(x * x for x in w)) for w in (u, v))
    return max(-1.0, min(1.0, product / math.prod(lengths)))


def _key(word: Word) -> str:
    return f"{word.word}::{word.pos}" if word.pos else word.word


class Gaussian(_FromVectors):
    r"""Similarity of words that decreases with the squared distance of their vectors.

    .. math:: k(a, b) = \exp(-\lVert w_a - w_b \rVert^2)

    with unit vectors :math:`w`, from :math:`e^{-4}` for opposite vectors to 1. Words with a vector
    are compared regardless of their part of speech; other labels match only themselves. Always
    positive semidefinite.

    Parameters
    ----------
    vectors : Vectors
        The vectors of words.

    Notes
    -----
    No two words with vectors have similarity 0. On long structures many small matches add up;
    prefer :class:`Exponential` with a ``floor`` or :class:`Lexical` there.

    Examples
    --------
    >>> from kernelwood.similarity import Gaussian
    >>> from kernelwood.vectors import Vectors
    >>> vectors = Vectors(["cat", "dog", "run"], [[1, 0], [0.8, 0.6], [0, 1]])
    >>> Gaussian(vectors).table(["cat"], ["cat", "dog", "run", "unknown"]).round(3)
    array([[1.   , 0.67 , 0.135, 0.   ]])
    """

    _function = "gaussian"

    def __init__(self, vectors: WordVectors) -> None:
        self.vectors = vectors

    @property
    def positive_semidefinite(self) -> bool:
        """True: the elementwise exponential of a Gram matrix is positive semidefinite."""
        return True

    def _formula(self, c: float) -> float:
        return math.exp(-(2 - 2 * c))


class Sigmoid(_FromVectors):
    r"""Similarity of words that is a sigmoid of the cosine of their vectors.

    .. math:: k(a, b) = (1 + \tanh(w_a \cdot w_b)) / 2

    with unit vectors :math:`w`, from 0.12 for opposite vectors to 0.88 for equal ones: a word with
    a vector matches itself by 0.88, a label without one by 1. Words with a vector are compared
    regardless of their part of speech; other labels match only themselves. Not positive
    semidefinite in general.

    Parameters
    ----------
    vectors : Vectors
        The vectors of words.

    Notes
    -----
    Unrelated words still match by 0.5, so prefer it only for short structures with few words.

    Examples
    --------
    >>> from kernelwood.similarity import Sigmoid
    >>> from kernelwood.vectors import Vectors
    >>> vectors = Vectors(["cat", "dog", "run"], [[1, 0], [0.8, 0.6], [0, 1]])
    >>> Sigmoid(vectors).table(["cat"], ["cat", "dog", "run", "unknown"]).round(3)
    array([[0.881, 0.832, 0.5  , 0.   ]])
    """

    _function = "sigmoid"

    def __init__(self, vectors: WordVectors) -> None:
        self.vectors = vectors

    @property
    def positive_semidefinite(self) -> bool:
        """False: the power series of tanh has negative terms."""
        return False

    def _formula(self, c: float) -> float:
        return (1 + math.tanh(c)) / 2


class Exponential(_FromVectors):
    r"""Exponential of the cosine of two word vectors; with a floor, distant words do not match.

    .. math::

        k(a, b) = \exp(w_a \cdot w_b - 1) \cdot
                  \max\left(0, \frac{w_a \cdot w_b - \gamma}{1 - \gamma}\right)

    with unit vectors :math:`w`; without a floor :math:`\gamma` the second factor is omitted. Words
    with a vector are compared regardless of their part of speech; other labels match only
    themselves.

    Parameters
    ----------
    vectors : Vectors
        The vectors of words.
    floor : float in (-1, 1), optional
        :math:`\gamma`, the cosine above which words match. None: all words match.

    Notes
    -----
    Positive semidefinite without a floor, not in general with one. With a floor most pairs are 0,
    which is fast and prevents accidental matches of long structures.

    Examples
    --------
    >>> from kernelwood.similarity import Exponential
    >>> from kernelwood.vectors import Vectors
    >>> vectors = Vectors(["cat", "dog", "run"], [[1, 0], [0.8, 0.6], [0, 1]])
    >>> Exponential(vectors).table(["cat"], ["cat", "dog", "run"]).round(3)
    array([[1.   , 0.819, 0.368]])
    >>> Exponential(vectors, floor=0.5).table(["cat"], ["cat", "dog", "run"]).round(3)
    array([[1.   , 0.491, 0.   ]])
    """

    _function = "exponential"

    def __init__(self, vectors: WordVectors, floor: float | None = None) -> None:
        self.vectors = vectors
        self.floor = floor

    @property
    def positive_semidefinite(self) -> bool:
        """True without a floor, as for :class:`Gaussian`; False with a floor."""
        return self.floor is None

    def check(self) -> None:
        """Raise KernelInputError if a parameter is out of range."""
        super().check()
        if self.floor is not None:
            self._check_number("floor", -1, 1, "(-1, 1)")

    def _formula(self, c: float) -> float:
        value = math.exp(c - 1)
        return value if self.floor is None else value * max(0, (c - self.floor) / (1 - self.floor))

    def _weight_and_floor(self) -> tuple[float, float | None]:
        return 1.0, None if self.floor is None else float(self.floor)


class Threshold(_FromVectors):
    r"""Words match fully if the cosine of their vectors reaches a floor, otherwise not at all.

    .. math:: k(a, b) = [w_a \cdot w_b \ge \gamma]

    with unit vectors :math:`w`: 1 or 0, and 1 for a word and itself. Words with a vector are
    compared regardless of their part of speech; other labels match only themselves. Not positive
    semidefinite in general.

    Parameters
    ----------
    vectors : Vectors
        The vectors of words.
    floor : float in (-1, 1]
        :math:`\gamma`, the least cosine of words that match.

    Notes
    -----
    A word may match two words that do not match each other. The table of these three has the
    eigenvalue :math:`1 - \sqrt 2`, so it is not positive semidefinite;
    ``smallest_eigenvalue`` measures this on a sample of labels. Consequences:
    :class:`~kernelwood.NystromEmbedder` raises an error if the matrix of its landmarks has a
    clearly negative eigenvalue, and drops small ones; kernel ridge regression and Gaussian
    processes fail if the matrix with their ridge is not positive definite; a support vector machine
    may stop at a solution that is not the best; normalized values may exceed 1. Nearest neighbors
    and hashcodes of the method ``"rknn"`` need no positive semidefinite kernel.
    :class:`Exponential` with a ``floor`` has no jump and smaller negative eigenvalues.

    Vectors are stored as 32-bit numbers, which changes cosines by less than 1e-6. A cosine up to
    1e-6 below the floor counts as reaching it, so words match if their exact cosine is the floor.
    Kernels of both number types match the same words, because cosines are computed in double
    precision. ``table`` and ``value`` sum products in another order and can differ from kernels
    only for cosines within about 1e-15 of :math:`\gamma - 10^{-6}`.

    References
    ----------
    .. [1] S. Garg, A. Galstyan, G. Ver Steeg, I. Rish, G. Cecchi, S. Gao, "Kernelized hashcode
       representations for relation extraction", AAAI 2019. Code published by the first author
       counts words above a cosine as full matches.

    Examples
    --------
    >>> from kernelwood.similarity import Threshold
    >>> from kernelwood.vectors import Vectors
    >>> vectors = Vectors(["cat", "dog", "run"], [[1, 0], [0.8, 0.6], [0, 1]])
    >>> Threshold(vectors).table(["cat", "dog"], ["cat", "dog", "run", "unknown"])
    array([[1., 1., 0., 0.],
           [1., 1., 1., 0.]])
    >>> Threshold(vectors, floor=0.7).table(["cat", "dog"], ["cat", "dog", "run", "unknown"])
    array([[1., 1., 0., 0.],
           [1., 1., 0., 0.]])
    """

    _function = "threshold"

    def __init__(self, vectors: WordVectors, floor: float = 0.5) -> None:
        self.vectors = vectors
        self.floor = floor

    @property
    def positive_semidefinite(self) -> bool:
        """False: a word may match two words that do not match each other."""
        return False

    def check(self) -> None:
        """Raise KernelInputError if a parameter is out of range."""
        super().check()
        self._check_number("floor", -1, 1, "(-1, 1]")

    def _formula(self, c: float) -> float:
        return float(c >= float(self.floor) - _ROUNDED)

    def _weight_and_floor(self) -> tuple[float, float | None]:
        return 1.0, float(self.floor) - _ROUNDED


class Lexical(_FromVectors):
    r"""Compares words of one part of speech by the cosine of their vectors, other labels exactly.

    .. math:: k(a, b) = \tau \cos(w_a, w_b)

    if both labels are words of the same part of speech with vectors; 0 if this is below the floor.
    Any other two labels match if they are equal. This makes
    :class:`~kernelwood.PartialTreeKernel` the smoothed partial tree kernel (SPTK).

    Parameters
    ----------
    vectors : Vectors
        The vectors of words. ``LEX##play::v`` is looked up as ``play::v``, then as ``play``.
    weight : float in [1e-6, 1]
        :math:`\tau`, the weight of words relative to labels that match exactly, such as tags.
        A word with a vector also matches itself with this weight.
    floor : float in [0, weight)
        Similarities below this, and negative ones, count as 0.

    Notes
    -----
    A plain word without ``::`` has the empty part of speech: plain words are compared with each
    other, and never with ``play::v``. Sequences of plain words therefore need no part-of-speech
    tags.

    Not positive semidefinite in general, because cosines are cut at the floor;
    ``smallest_eigenvalue`` measures it on a sample of labels.

    References
    ----------
    .. [1] D. Croce, A. Moschitti, R. Basili, "Structured lexical similarity via convolution
       kernels on dependency trees", EMNLP 2011.

    Examples
    --------
    >>> from kernelwood.similarity import Lexical
    >>> from kernelwood.vectors import Vectors
    >>> vectors = Vectors(["cat::n", "dog::n", "run"], [[1, 0], [0.8, 0.6], [0.6, 0.8]])
    >>> labels = ["LEX##cat::n", "LEX##dog::n", "LEX##run::n", "LEX##run::v", "POS##NN"]
    >>> Lexical(vectors).table(labels[:1], labels).round(3)
    array([[1. , 0.8, 0.6, 0. , 0. ]])
    """

    _function = "cosine"

    def __init__(self, vectors: WordVectors, *, weight: float = 1.0, floor: float = 0.01) -> None:
        self.vectors = vectors
        self.weight = weight
        self.floor = floor

    @property
    def positive_semidefinite(self) -> bool:
        """False: cosines are cut at the floor."""
        return False

    def check(self) -> None:
        """Raise KernelInputError if a parameter is out of range."""
        super().check()
        self._check_number("weight", 1e-6, 1, "[1e-6, 1]")
        self._check_number("floor", 0, self.weight, "[0, weight)")

    def _group(self, label: Label) -> Hashable:
        return (label.pos,)

    def _formula(self, c: float) -> float:
        value = self.weight * c
        return value if value >= self.floor else 0.0

    def _weight_and_floor(self) -> tuple[float, float | None]:
        return float(self.weight), float(self.floor)


class Compositional(Lexical):
    r"""Compares relations between two words by composing the vectors of both words.

    Two labels ``COMP##relation<head::pos,modifier::pos>`` are compared if their heads have the
    same part of speech, their modifiers too, and their relations are equal:

    .. math:: k(a, b) = \tau \cos(p_a, p_b)

    and 0 if this is below the floor. The composed vector :math:`p` of the vectors :math:`h` of the
    head and :math:`m` of the modifier is

    ==============  ==================================================================
    ``operation``   :math:`p`
    ==============  ==================================================================
    ``"sum"``       :math:`\alpha h + \beta m`
    ``"product"``   :math:`h \odot m`, entry by entry
    ``"dilation"``  :math:`(m \cdot m)\, h + (\delta - 1)(h \cdot m)\, m`: the head,
                    stretched by :math:`\delta` along the modifier
    ==============  ==================================================================

    If only one of the two words has a vector, it is used for both. A label without vectors, or
    with a composed vector of zero, matches only itself. Single words are compared as by
    :class:`Lexical`, all other labels exactly. This makes :class:`~kernelwood.PartialTreeKernel`
    the compositionally smoothed partial tree kernel (CSPTK).

    Parameters
    ----------
    vectors : Vectors
        The vectors of words, composed without scaling: they have length 1 unless they were read
        with ``normalize=False``. ``play::v`` is looked up under this name, then as ``play``.
    operation : {"sum", "product", "dilation"}
        The composition.
    head_weight, modifier_weight : float in [0, 1e6]
        :math:`\alpha` and :math:`\beta`, for ``"sum"``; not both 0.
    dilation : float in (0, 1e6]
        :math:`\delta`, for ``"dilation"``.
    same_relation : bool
        Compare only labels of the same relation.
    lexical : bool
        Compare single words by their vectors too; otherwise they match exactly.
    weight : float in [1e-6, 1]
        :math:`\tau`, the weight of relations and words with a vector relative to other labels.
    floor : float in [0, weight)
        Similarities below this, and negative ones, count as 0.

    Notes
    -----
    KeLP compares relations of different names, and single words exactly; this is
    ``same_relation=False, lexical=False``.

    Not positive semidefinite in general, because cosines are cut at the floor.

    References
    ----------
    .. [1] \P. Annesi, D. Croce, R. Basili, "Semantic compositionality in tree kernels", CIKM 2014.
    .. [2] \J. Mitchell, M. Lapata, "Composition in distributional models of semantics", Cognitive
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

    def check(self) -> None:
        """Raise KernelInputError if a parameter is out of range."""
        super().check()
        self._check_choice("operation", ("sum", "product", "dilation"))
        self._check_choice("same_relation", (False, True))
        self._check_choice("lexical", (False, True))
        self._check_number("head_weight", 0, 1e6, "[0, 1e6]")
        self._check_number("modifier_weight", 0, 1e6, "[0, 1e6]")
        self._check_number("dilation", 0, 1e6, "(0, 1e6]")
        if self.head_weight == self.modifier_weight == 0:
            raise KernelInputError(
                "Compositional: head_weight and modifier_weight are both 0, so that all composed "
                "vectors are 0; make one of them positive"
            )

    def _vector(self, label: Label) -> list[float] | None:
        if label.head and label.modifier:
            head, modifier = self._word_vector(label.head), self._word_vector(label.modifier)
            if head is None or modifier is None:
                head = modifier = head or modifier
            if head is None or modifier is None:
                return None
            composed = self._composed(head, modifier)
            return composed if math.fsum(x * x for x in composed) > 0 else None
        return super()._vector(label) if self.lexical else None

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
        """Return both weights scaled so that the larger is 1; only their ratio matters."""
        largest = max(self.head_weight, self.modifier_weight)
        return float(self.head_weight / largest), float(self.modifier_weight / largest)

    def resolve(self, labels: list[str]) -> Resolution:
        """Return a new matrix with the composed vector of each distinct pair of words."""
        self.check()
        parsed = [parse_label(label) for label in labels]
        at = np.array([i for i, x in enumerate(parsed) if x.kind == COMPOSITE], dtype=np.int64)
        heads, modifiers = self._pair_rows([parsed[i] for i in at.tolist()])
        at, heads, modifiers = (side[heads >= 0] for side in (at, heads, modifiers))
        n_words = max(1, len(self.vectors.matrix))
        pairs, pair_of = np.unique(heads * n_words + modifiers, return_inverse=True)
        words = self._word_rows(parsed) if self.lexical else np.full(len(parsed), -1)
        used, used_of = np.unique(words[words >= 0], return_inverse=True)

        vectors = np.empty((len(pairs) + len(used), self.vectors.matrix.shape[1]))
        not_zero = self._compose_all(pairs // n_words, pairs % n_words, vectors)
        vectors[len(pairs) :] = self.vectors.matrix[used]
        rows = np.full(len(labels), -1, dtype=np.int64)
        rows[at] = np.where(not_zero[pair_of], pair_of, -1)
        rows[words >= 0] = len(pairs) + used_of
        return self._resolution(labels, parsed, rows, vectors)

    def _group(self, label: Label) -> Hashable:
        if label.head and label.modifier:
            relation = label.relation if self.same_relation else ""
            return (relation, label.head.pos, label.modifier.pos)
        return super()._group(label)

    def _pair_rows(self, composites: list[Label]) -> tuple[Indices, Indices]:
        """Return the rows of heads and modifiers; a word without a row gets that of the other."""
        numbers: dict[Any, int] = {}
        sides = [
            np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int64)
            for words in ([x.head for x in composites], [x.modifier for x in composites])
        ]
        rows = _find_rows(self.vectors, list(numbers))
        heads, modifiers = rows[sides[0]], rows[sides[1]]
        return np.where(heads < 0, modifiers, heads), np.where(modifiers < 0, heads, modifiers)

    def _compose_all(
        self, heads: Indices, modifiers: Indices, out: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Write composed vectors into the first rows of ``out``; return which are not zero."""
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
