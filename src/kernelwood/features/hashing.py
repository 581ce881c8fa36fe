"""Kernelized locality-sensitive hashcodes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.features.bit_blocks import BitBlock, constant_bits, draw_bits, make_bits
from kernelwood.features.codes import Codes, n_words, unpack
from kernelwood.features.comparing import compare_rows, compare_unknown
from kernelwood.features.estimator import StructureTransformer
from kernelwood.features.reference_parameters import ReferenceParameters
from kernelwood.features.reference_selection import random_references

__all__ = ["HashingEstimator", "KernelHasher"]

_IDLE = 0.1  # share of bits that may tell nothing without a warning


class KernelHasher(StructureTransformer, ReferenceParameters):
    r"""Hashcodes of structures, by their similarities to a few references.

    Similar structures get codes at a small Hamming distance. A structure costs ``n_references``
    kernel evaluations, however many bits there are. With the similarities :math:`k_j` of a
    structure to the references :math:`R` and, for each bit, two disjoint random subsets
    :math:`R_1, R_2` of ``subset_size`` references each, the bit is 1 iff

    * ``"rknn"``: :math:`\max_{j \in R_1} k_j < \max_{j \in R_2} k_j`, the nearest reference is in
      the second subset;
    * ``"rmm"``: it lies on the second subset's side of the maximum-margin boundary between the
      two;
    * ``"kulis"``: :math:`(k - \bar k) K^{-1/2} e_{R_1 \cup R_2} > 0` with the centered Gram matrix
      :math:`K` of the references, a random hyperplane through their mean.

    Parameters
    ----------
    kernel : Kernel
        What compares structures, normalized preferably.
    method : {"rmm", "rknn", "kulis"}
        Kind of the bits.
    n_references : int
        Size of the reference set, :math:`M`, taken from what the hasher is fitted on.
    n_bits : int
        Length of the codes, :math:`H`.
    subset_size : int
        References in each of the two subsets of a bit, :math:`\alpha`.
    references : {"random", "information", "coverage"} or ReferenceSelector
        How references are chosen: at random, or by the classes of structures, which ``fit`` then
        needs. A name stands for a :class:`ReferenceSelector` of that strategy. A selector gives its
        ``strategy``, ``n_candidates``, ``n_samples`` and ``n_steps``; whatever else it shares with
        the hasher is the hasher's.
    random_state : None, int, Generator or RandomState
        Seed. More bits of the same seed begin with the same ones, and so do more references,
        unless they are chosen by information.
    n_jobs : int, optional
        Threads; no bit depends on them.

    Attributes
    ----------
    reference_indices_ : ndarray of int64, shape (n_references,)
        Where the references were in what the hasher was fitted on; -1 if they were added later.
    references_ : batch
        The references.
    subsets_ : ndarray of int32, shape (n_bits, 2, subset_size)
        The references of each bit, by number.
    gram_ : ndarray of float64, shape (n_references, n_references)
        Similarities of the references.
    seed_ : int
        The seed that was used.

    See Also
    --------
    HashForestClassifier : Decision trees on random bits.
    HashNeighborsClassifier : Neighbors within buckets of short codes.
    HashIndex : Search for similar structures by their codes.
    ReferenceSelector : References by the classes of structures.

    Notes
    -----
    A bit that is the same for all references would tell nothing; it is drawn again, several times.
    Where structures repeat, large subsets are likely to share one, and between such subsets there
    is no boundary (``"rmm"``). If more than a tenth of the bits are idle, a warning says so.

    References
    ----------
    S. Garg, A. Galstyan, G. Ver Steeg, I. Rish, G. Cecchi, S. Gao: Kernelized hashcode
    representations for relation extraction. AAAI 2019. B. Kulis, K. Grauman: Kernelized
    locality-sensitive hashing for scalable image search. ICCV 2009. A. Joly, O. Buisson: Random
    maximum margin hashing. CVPR 2011.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_questions
    >>> trees = [question.view("tree") for question in load_questions()]
    >>> hasher = kw.KernelHasher(kw.SubsetTreeKernel(), n_references=30, n_bits=256, random_state=0)
    >>> hasher.fit_transform(trees).shape
    (120, 256)
    >>> hasher.codes(trees[:2]).shape
    (2, 4)
    """

    _fitted = ("kernel_", "seed_", "reference_indices_", "references_", "gram_", "blocks_")

    gram_: NDArray[np.float64]
    blocks_: tuple[BitBlock, ...]

    def __init__(
        self,
        kernel: Any,
        *,
        method: str = "rmm",
        n_references: int = 100,
        n_bits: int = 1000,
        subset_size: int = 2,
        references: Any = "random",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.method = method
        self.n_references = n_references
        self.n_bits = n_bits
        self.subset_size = subset_size
        self.references = references
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> KernelHasher:
        """Choose references from ``X``, and draw the bits.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : list or ndarray of labels, length n, optional
            By default the labels of examples. Not used if references are drawn at random.
        """
        X = self._start(X)
        n = min(self.n_references, len(X))
        if n < self.n_references:
            warnings.warn(
                f"KernelHasher: there are {n} structures for n_references={self.n_references}; "
                "all of them become references",
                stacklevel=2,
            )
        self._check_subsets(n)
        with self._threads():
            self.reference_indices_, subsets = self._choose_references(X, y, n)
            self.references_ = self._keep(X[self.reference_indices_])
            self.gram_ = np.asarray(self.kernel_.gram(self.references_, dtype="float64"))
            if subsets is None:
                self.blocks_ = (self._draw(self.n_bits, first_bit=0),)
            else:
                self.blocks_ = (self._warn_of_idle(make_bits(self.method, self.gram_, subsets)),)
        return self

    def _choose_references(
        self, X: Any, y: Any, n: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32] | None]:
        """Return the positions of n references, and their subsets if these belong to them."""
        selector = self._selector(n)
        if selector is None:
            return random_references(self.seed_, len(X), n), None
        self._check_labels(X, y)
        selector.fit(X, y)
        return selector.indices_, selector.subsets_

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Return the bits of structures, one a byte, shape (n, n_bits)."""
        return unpack(self.codes(X), self._n_features_out)

    def codes(self, X: Any) -> Codes:
        """Return the codes of structures, packed into words of 64 bits.

        Returns
        -------
        ndarray of uint64, shape (n, ceil(n_bits / 64))
            Bit ``l`` is bit ``l % 64``, least first, of word ``l // 64``.
        """
        self._check_is_fitted()
        X = self._prepare(X)
        codes = np.zeros((len(X), n_words(self._n_features_out)), dtype=np.uint64)
        with self._threads():
            for some, similarities in compare_rows(self.kernel_, X, self.references_):
                self._fill(similarities, 0, codes[some])
        return codes

    def similarities(self, X: Any, *, known: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the similarities of structures to the references, from which bits are made.

        Parameters
        ----------
        X : list of structures or batch, length n
        known : ndarray, shape (n, m), optional
            Similarities to the first ``m`` references, which are not computed again.

        Returns
        -------
        ndarray, shape (n, number of references)
        """
        self._check_is_fitted()
        X = self._prepare(X)
        with self._threads():
            return compare_unknown(type(self).__name__, self.kernel_, X, self.references_, known)

    def encode(self, similarities: NDArray[Any], *, first_bit: int = 0) -> Codes:
        """Return the packed codes of structures with these similarities to the references.

        Parameters
        ----------
        similarities : ndarray, shape (n, number of references)
            As :meth:`similarities` returns them.
        first_bit : int
            Bits before this one are left 0: of codes that have them already, the others are added
            with ``|``.
        """
        self._check_is_fitted()
        if similarities.ndim != 2 or similarities.shape[1] != len(self.references_):
            raise KernelInputError(
                f"KernelHasher: similarities must have {len(self.references_)} columns, one for "
                f"each reference, got shape {similarities.shape}"
            )
        codes = np.zeros((len(similarities), n_words(self._n_features_out)), dtype=np.uint64)
        with self._threads():
            self._fill(similarities, first_bit, codes)
        return codes

    def grow(self, n_bits: int = 0, *, references: Any = None) -> KernelHasher:
        """Add bits, or references first; the bits that are there stay what they are.

        Codes need not be made anew. Keep the similarities, and let only what is missing be
        computed:

        >>> import kernelwood as kw
        >>> texts = [kw.Sequence(text.split()) for text in ("a b c", "b c d", "c d e", "d e f")]
        >>> hasher = kw.KernelHasher(
        ...     kw.SubsequenceKernel(), n_references=3, n_bits=8, subset_size=1, random_state=0
        ... ).fit(texts)
        >>> similarities = hasher.similarities(texts)
        >>> hasher = hasher.grow(n_bits=8, references=[kw.Sequence(["e", "f"])])
        >>> similarities = hasher.similarities(texts, known=similarities)  # one more column
        >>> codes = hasher.encode(similarities)
        >>> bool((codes == hasher.codes(texts)).all())
        True

        Parameters
        ----------
        n_bits : int
            How many bits to add.
        references : list of structures or batch, optional
            References to add, which the new bits will use as well.
        """
        self._check_is_fitted()
        if isinstance(n_bits, bool) or not isinstance(n_bits, (int, np.integer)) or n_bits < 0:
            raise KernelInputError(f"KernelHasher: n_bits must be an int from 0 on, got {n_bits!r}")
        with self._threads():
            if references is not None and len(references):
                self._add_references(self._prepare(references))
            if n_bits:
                more = self._draw(int(n_bits), first_bit=self._n_features_out)
                self.blocks_ = (*self.blocks_, more)
        return self

    @property
    def subsets_(self) -> NDArray[np.int32]:
        """The references of each bit, by number, shape (n_bits, 2, subset_size)."""
        self._check_is_fitted()
        return np.concatenate([block.subsets for block in self.blocks_])

    @property
    def _n_features_out(self) -> int:
        return sum(block.n_bits for block in self.blocks_)

    def _draw(self, n_bits: int, *, first_bit: int) -> BitBlock:
        block = draw_bits(
            self.method,
            self.gram_,
            seed=self.seed_,
            first_bit=first_bit,
            n_bits=n_bits,
            subset_size=self.subset_size,
        )
        return self._warn_of_idle(block)

    def _warn_of_idle(self, block: BitBlock) -> BitBlock:
        idle = int(constant_bits(block, self.gram_).sum())
        if idle > _IDLE * block.n_bits:
            warnings.warn(
                f"KernelHasher: {idle} of {block.n_bits} bits are the same for all references, "
                "because there are equal ones in both subsets; use a smaller subset_size than "
                f"{self.subset_size}, or structures that differ more",
                stacklevel=4,
            )
        return block

    def _add_references(self, added: Any) -> None:
        cross = self.kernel_.cross(added, self.references_, dtype="float64")
        own = self.kernel_.gram(added, dtype="float64")
        self.gram_ = np.block([[self.gram_, cross.T], [cross, own]])
        self.references_ = self._prepare([*self.references_, *self._keep(added)])
        unknown = np.full(len(added), -1, dtype=np.int64)
        self.reference_indices_ = np.concatenate([self.reference_indices_, unknown])

    def _fill(self, similarities: NDArray[Any], first_bit: int, codes: Codes) -> None:
        begin = 0
        for block in self.blocks_:
            end = begin + block.n_bits
            if first_bit < end:
                first = max(begin, first_bit)
                block.starting_at(first - begin).fill(similarities, first, codes)
            begin = end

    def _check_restored(self) -> None:
        super()._check_restored()
        n = len(self._prepare(self.references_))
        if self.gram_.shape != (n, n) or self.gram_.dtype != np.float64:
            raise ValueError(f"gram_ must be similarities of {n} references")
        if self.reference_indices_.shape != (n,) or self.reference_indices_.dtype != np.int64:
            raise ValueError(f"reference_indices_ must be {n} whole numbers")
        if not np.isfinite(self.gram_).all():
            raise ValueError("gram_ must be finite")
        if not self.blocks_ or not all(type(block) is BitBlock for block in self.blocks_):
            raise ValueError("blocks_ must be blocks of bits")
        if any(b.n_references > n or b.method != self.method for b in self.blocks_):
            raise ValueError("a block of bits needs references that are not there")
        if len({block.subsets.shape[2] for block in self.blocks_}) > 1:
            raise ValueError("blocks of bits have subsets of different sizes")


class HashingEstimator(ReferenceParameters):
    """Base class of estimators that have a hasher of their own."""

    hasher_: KernelHasher

    def _fit_hasher(self, X: Any, y: Any = None) -> KernelHasher:
        """Set ``hasher_`` to one with the parameters of this estimator, fitted on a batch."""
        self.hasher_ = KernelHasher(
            self.kernel_,
            method=self.method,
            n_references=self.n_references,
            n_bits=self.n_bits,
            subset_size=self.subset_size,
            references=self.references,
            random_state=self.seed_,
        ).fit(X, y)
        return self.hasher_

    def _check_restored(self) -> None:
        super()._check_restored()
        if type(self.hasher_) is not KernelHasher or self.hasher_._n_features_out != self.n_bits:
            raise ValueError(f"hasher_ must be a KernelHasher with {self.n_bits} bits")
        if self.hasher_.kernel_._accepts() is not self.kernel_._accepts():
            raise ValueError("hasher_ and kernel_ must be for the same structures")
