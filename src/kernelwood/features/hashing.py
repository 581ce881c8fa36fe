"""Kernelized locality-sensitive hashcodes."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import LARGE, ArrayOf, Instance, Items, Schema
from kernelwood.errors import KernelInputError
from kernelwood.features.bit_blocks import (
    BitBlock,
    HashParameters,
    constant_bits,
    draw_bits,
    make_bits,
)
from kernelwood.features.codes import Codes, check_codes, n_words, unpack
from kernelwood.features.collection import CollectionEstimator, collected
from kernelwood.features.estimator import (
    KERNEL,
    SEED,
    Fitted,
    Structures,
    StructureTransformer,
)
from kernelwood.features.reference_selection import STRATEGIES, ReferenceSelector, random_references
from kernelwood.features.rowwise import compare_rows, compare_unknown
from kernelwood.parameters import check_int
from kernelwood.text import Example

_RANDOM = "random"
_OF_SELECTORS = ("strategy", "n_candidates", "n_samples", "n_steps")


class ReferenceParameters(HashParameters):
    """Base class of estimators with a parameter ``references``; see :class:`KernelHasher`."""

    references: Any

    def _selector(self, n_references: int) -> ReferenceSelector | None:
        """Return a selector of this many references for the hashcodes of this estimator.

        None if they are drawn at random.
        """
        options: dict[str, Any] = {"strategy": self.references}
        if isinstance(self.references, ReferenceSelector):
            options = {name: getattr(self.references, name) for name in _OF_SELECTORS}
        elif self.references == _RANDOM:
            return None
        return ReferenceSelector(
            getattr(self, "kernel_", self.kernel),
            n_references=n_references,
            method=self.method,
            n_bits=self.n_bits,
            subset_size=self.subset_size,
            random_state=getattr(self, "seed_", None),
            **options,
        )

    def _check_labels(self, X: Any, y: Any) -> None:
        """Raise KernelInputError if references are chosen by classes, but there are none."""
        if y is None and not (len(X) and isinstance(X[0], Example)):
            raise KernelInputError(
                f"{type(self).__name__}: y is missing, and references are chosen by classes; "
                "call fit(X, y), or use references='random'"
            )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        names = (_RANDOM, *STRATEGIES)
        if isinstance(self.references, ReferenceSelector):
            selector = self._selector(self.n_references)
            assert selector is not None
            selector._check_parameters()
        elif not isinstance(self.references, str) or self.references not in names:
            raise KernelInputError(
                f"{type(self).__name__}: references must be one of {names} or a "
                f"ReferenceSelector, got {self.references!r}"
            )


_MOST_CONSTANT = 0.1  # fraction of constant bits above which a warning is issued


class KernelHasher(StructureTransformer, ReferenceParameters):
    r"""Hashcodes of structures, from their similarities to a few references.

    Similar structures get codes at a small Hamming distance. A structure costs ``n_references``
    kernel evaluations, for any number of bits. With the similarities :math:`k_j` of a structure to
    the references :math:`R` and, for each bit, two disjoint random subsets :math:`R_1, R_2` of
    ``subset_size`` references each, the bit is 1 iff

    * ``"rknn"``: :math:`\max_{j \in R_1} k_j < \max_{j \in R_2} k_j`, the nearest reference is in
      the second subset;
    * ``"rmm"``: the structure is on the second subset's side of the maximum-margin boundary between
      the two;
    * ``"kulis"``: :math:`(k - \bar k) K^{-1/2} e_{R_1 \cup R_2} > 0` with the centered Gram matrix
      :math:`K` of the references, a random hyperplane through their mean.

    Parameters
    ----------
    kernel : Kernel
        Kernel that compares structures, preferably normalized.
    method : {"rmm", "rknn", "kulis"}
        Hashing method.
    n_references : int
        Number of references, :math:`M`, chosen from the structures of ``fit``.
    n_bits : int
        Length of the codes, :math:`H`.
    subset_size : int
        Number of references in each of the two subsets of a bit, :math:`\alpha`.
    references : {"random", "information", "coverage"} or ReferenceSelector
        Reference selection: at random, or by classes, which ``fit`` then needs. A name stands for a
        :class:`ReferenceSelector` with that strategy. Only ``strategy``, ``n_candidates``,
        ``n_samples`` and ``n_steps`` of a selector are used; other parameters are those of the
        hasher.
    random_state : None, int, Generator or RandomState
        Seed. The first bits do not depend on ``n_bits``, and the first references not on
        ``n_references``, unless they are chosen by information.
    n_jobs : int, optional
        Number of threads; no bit depends on it.

    Attributes
    ----------
    reference_indices_ : ndarray of int64, shape (n_references,)
        Positions of the references in the structures of ``fit``; -1 if they were added later.
    references_ : batch
        The references.
    subsets_ : ndarray of int32, shape (n_bits, 2, subset_size)
        Reference numbers of each bit.
    gram_ : ndarray of float64, shape (n_references, n_references)
        Similarities of the references.
    seed_ : int
        The seed that was used.

    See Also
    --------
    HashForestClassifier : Decision trees on random bits.
    HashNeighborsClassifier : Neighbors within buckets of short codes.
    HashIndex : Search for similar structures by their codes.
    ReferenceSelector : Reference selection by classes.

    Notes
    -----
    Thread safety: all methods but ``fit`` and ``grow``.

    A bit that is the same for all references carries no information; it is drawn again, up to ten
    times. If structures repeat, large subsets are likely to share one, and there is no boundary
    between such subsets (``"rmm"``). A warning is issued if more than a tenth of the bits are
    constant.

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

    _fitted: ClassVar[Schema] = {
        "kernel_": KERNEL,
        "seed_": SEED,
        "references_": Structures(),
        "reference_indices_": ArrayOf("int64", "references_", least=-1),
        "gram_": ArrayOf("float64", "references_", "references_", least=-LARGE, most=LARGE),
        "blocks_": Items(Instance(BitBlock, exact=True), kind=tuple),
    }

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
            By default the labels of examples. Not used for random references.
        """
        X = self._start(X)
        n = min(self.n_references, len(X))
        if n < self.n_references:
            warnings.warn(
                f"KernelHasher: {n} structures are fewer than n_references={self.n_references}; "
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
                self.blocks_ = (
                    self._warn_if_constant(make_bits(self.method, self.gram_, subsets)),
                )
        return self

    def _choose_references(
        self, X: Any, y: Any, n: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32] | None]:
        """Return the positions of n references, and their subsets if chosen with them."""
        selector = self._selector(n)
        if selector is None:
            return random_references(self.seed_, len(X), n), None
        self._check_labels(X, y)
        selector.fit(X, y)
        return selector.indices_, selector.subsets_

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Return the bits of structures, one per byte, shape (n, n_bits)."""
        return unpack(self.codes(X), self._n_features_out)

    def codes(self, X: Any) -> Codes:
        """Return the codes of structures, packed into 64-bit words.

        Returns
        -------
        ndarray of uint64, shape (n, ceil(n_bits / 64))
            Bit ``l`` is bit ``l % 64``, least significant first, of word ``l // 64``.
        """
        self._check_is_fitted()
        X = self._prepare(X)
        codes = np.zeros((len(X), n_words(self._n_features_out)), dtype=np.uint64)
        with self._threads():
            for some, similarities in compare_rows(self.kernel_, X, self.references_):
                self._fill(similarities, 0, codes[some])
        return codes

    def similarities(self, X: Any, *, known: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the similarities of structures to the references.

        Parameters
        ----------
        X : list of structures or batch, length n
        known : ndarray, shape (n, m), optional
            Similarities to the first ``m`` references, which are not recomputed.

        Returns
        -------
        ndarray, shape (n, number of references)
        """
        self._check_is_fitted()
        X = self._prepare(X)
        with self._threads():
            return compare_unknown(type(self).__name__, self.kernel_, X, self.references_, known)

    def encode(self, similarities: NDArray[Any], *, first_bit: int = 0) -> Codes:
        """Return the packed codes for given similarities to the references.

        Parameters
        ----------
        similarities : ndarray, shape (n, number of references)
            As of :meth:`similarities`.
        first_bit : int
            Bits before this one are 0, to combine with existing codes by ``|``.
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
        """Add references or bits; existing bits do not change.

        Existing codes stay valid. Only missing similarities need to be computed:

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
            Number of bits to add.
        references : list of structures or batch, optional
            References to add, for the new bits.
        """
        self._check_is_fitted()
        check_int("KernelHasher: n_bits", n_bits, 0)
        with self._threads():
            if references is not None and len(references):
                self._add_references(self._prepare(references))
            if n_bits:
                more = self._draw(int(n_bits), first_bit=self._n_features_out)
                self.blocks_ = (*self.blocks_, more)
        return self

    @property
    def subsets_(self) -> NDArray[np.int32]:
        """Reference numbers of each bit, shape (n_bits, 2, subset_size)."""
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
        return self._warn_if_constant(block)

    def _warn_if_constant(self, block: BitBlock) -> BitBlock:
        constant = int(constant_bits(block, self.gram_).sum())
        if constant > _MOST_CONSTANT * block.n_bits:
            warnings.warn(
                f"KernelHasher: {constant} of {block.n_bits} bits are the same for all references, "
                "because both subsets have equal ones; use a smaller subset_size than "
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
        self._check_subsets(n)
        if not self.blocks_:
            raise ValueError("blocks_ must not be empty")
        if any(b.n_references > n or b.method != self.method for b in self.blocks_):
            raise ValueError("blocks_ must use existing references and the method of the hasher")
        if any(block.subsets.shape[2] != self.subset_size for block in self.blocks_):
            raise ValueError(f"blocks_ must have subsets of {self.subset_size} references")


HASHER = Fitted(KernelHasher)


class HashingEstimator(ReferenceParameters):
    """Base class of estimators that contain a hasher."""

    hasher_: KernelHasher

    def _fit_hasher(self, X: Any, y: Any = None) -> KernelHasher:
        """Set ``hasher_`` to a hasher with the parameters of this estimator, fitted on a batch."""
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
        if self.hasher_._n_features_out != self.n_bits:
            raise ValueError(f"hasher_ must be a KernelHasher with {self.n_bits} bits")


class HashCollection(CollectionEstimator, HashingEstimator):
    """Base class of estimators that store structures and their codes."""

    codes_ = collected("codes", "Codes of the structures, in the order of their ids.")

    def _check_columns(self, columns: dict[str, NDArray[Any]]) -> None:
        if columns["codes"].shape[1] != n_words(self.n_bits):
            raise ValueError(f"codes_ must be codes of {self.n_bits} bits")
        check_codes(columns["codes"], self.n_bits)
