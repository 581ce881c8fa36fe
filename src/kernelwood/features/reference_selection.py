"""Reference selection for hashcodes by classes: by label coverage, or by mutual information.

Coverage takes structures whose labels are informative about the classes. The search by
information improves a reference set slot by slot: a step draws examples and candidates for one
slot, and puts the candidate there whose codes of the examples have the greatest mutual information
with the classes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import (
    ArrayOf,
    Batch,
    ExampleBatch,
    Fields,
    Figure,
    Items,
    Maybe,
    Schema,
    VectorBatch,
)
from kernelwood.compute import Progress, budget, config_context, get_config
from kernelwood.errors import KernelInputError
from kernelwood.features.bit_blocks import HashParameters, draw_bits, make_bits
from kernelwood.features.codes import n_words, unpack
from kernelwood.features.collection import growing_batch
from kernelwood.features.estimator import KERNEL, SEED, Structures, encode_labels
from kernelwood.information import ExplainedClasses, explain_classes
from kernelwood.kernels import Kernel, needed_views
from kernelwood.seeds import child_generator

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float64]
Bits = NDArray[np.uint8]
Numbers = NDArray[np.int64]
Subsets = NDArray[np.int32]

_FADING = 0.5  # factor of the weight of a label each time a reference covers it
_POSSIBLE = 1e-12  # smaller probabilities are rounding errors of 0
_BITS_AT_ONCE = 2**25  # bits of candidates in memory, a byte each
_CANDIDATES_AT_ONCE = 1024  # candidates in one matrix of similarities
_SHARE_OF_BUDGET = 4  # a table of all similarities may take 1/4 of the memory
_KEYS = ("step", "slot", "removed", "chosen", "before", "after", "n_candidates", "n_better")
# Purposes of child generators.
_REFERENCES, _STEPS = 0, 2


def label_table(batch: Batch) -> csr_matrix:
    """Return which labels occur in each structure, 0 or 1.

    Parameters
    ----------
    batch : Batch
        Sequences, trees, forests or vectors, length n.

    Returns
    -------
    csr_matrix of float64, shape (n, number of labels, or twice as many)
        A column for each label of the vocabulary as a node label; with edge labels, as many columns
        again for these. Edges without a label do not count. Of vectors, a column for each
        feature, which occurs if its value is not 0.

    Examples
    --------
    >>> import kernelwood as kw
    >>> batch = kw.batch([kw.Sequence(["we", "go"]), kw.Sequence(["we", "we"])])
    >>> list(batch.vocabulary), label_table(batch).toarray().tolist()
    (['', 'we', 'go'], [[0.0, 1.0, 1.0], [0.0, 1.0, 0.0]])
    """
    from scipy.sparse import csr_matrix

    if isinstance(batch, VectorBatch):
        occurs = csr_matrix(batch.matrix()) if batch.is_dense else batch.csr(batch.n_columns).copy()
        occurs.data = (occurs.data != 0).astype(np.float64)
        occurs.eliminate_zeros()
        return occurs
    window = batch.parts[0].window
    rows = np.repeat(np.arange(len(batch)), batch.sizes)
    labels = np.asarray(batch.arrays[0])[window]
    n_labels = len(batch.vocabulary)
    shape = (len(batch), n_labels)
    if batch.n_label_fields > 1:
        edges = np.asarray(batch.arrays[1])[window]
        named = edges > 0  # the empty label is always number 0
        if named.any():
            rows = np.concatenate([rows, rows[named]])
            labels = np.concatenate([labels, n_labels + edges[named]])
            shape = (len(batch), 2 * n_labels)
    table = csr_matrix((np.ones(len(labels)), (rows, labels)), shape=shape)
    table.sum_duplicates()
    table.data[:] = 1.0
    return table


def _labels_read(batch: Any, kernel: Kernel) -> csr_matrix:
    """Return which labels occur in the part of each structure that a kernel reads, 0 or 1.

    For examples, the tables of the views that the kernel reads are concatenated.
    """
    from scipy.sparse import csr_matrix, hstack

    if not isinstance(batch, ExampleBatch):
        return label_table(batch)
    names = needed_views(kernel)
    if names is None:
        raise KernelInputError(
            "label coverage needs a kernel that reads named views, but a part of this kernel "
            "compares whole examples; choose references by 'information'"
        )
    return csr_matrix(hstack([label_table(batch.view(name)) for name in names]))


def label_information(table: csr_matrix, classes: NDArray[np.int32]) -> Floats:
    r"""Return the mutual information, in nats, of the class and the occurrence of each label.

    .. math:: I = \sum_{c} \sum_{o \in \{0, 1\}} p(o, c) \log \frac{p(o, c)}{p(o) p(c)}

    Parameters
    ----------
    table : csr_matrix, shape (n, n_labels)
        As of :func:`label_table`.
    classes : ndarray of int, shape (n,)

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> table = csr_matrix(np.array([[1.0, 1.0], [1.0, 0.0]]))
    >>> label_information(table, np.array([0, 1])).round(3)
    array([0.   , 0.693])
    """
    n = table.shape[0]
    occurring = np.asarray(table.sum(axis=0)).ravel() / n
    information = np.zeros(table.shape[1])
    for number in np.unique(classes):
        chosen = classes == number
        share = float(chosen.mean())
        both = np.asarray(table[chosen].sum(axis=0)).ravel() / n
        for joint, single in ((both, occurring), (share - both, 1 - occurring)):
            possible = joint > _POSSIBLE
            ratio = joint[possible] / (single[possible] * share)
            information[possible] += joint[possible] * np.log(ratio)
    return np.maximum(information, 0.0)


def cover(
    table: csr_matrix, weights: Floats, n: int, *, fading: float = _FADING
) -> NDArray[np.int64]:
    """Return the numbers of n rows that greedily cover the labels with the greatest weights.

    The next row is the one with the greatest mean weight, the first of equal ones; the weights of
    its labels are then reduced, so that later rows cover other labels.

    Parameters
    ----------
    table : csr_matrix, shape (n_rows, n_labels)
    weights : ndarray of float64, shape (n_labels,)
    n : int
        Number of rows; all if there are fewer.
    fading : float
        Factor of the weight of a label each time it is covered.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> table = csr_matrix(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    >>> cover(table, np.array([1.0, 0.9]), 2)
    array([0, 2])
    """
    left, sizes = weights.copy(), np.maximum(np.diff(table.indptr), 1)
    free = np.ones(table.shape[0], dtype=bool)
    chosen = []
    for _ in range(min(n, table.shape[0])):
        means = np.where(free, (table @ left) / sizes, -1.0)
        best = int(means.argmax())
        chosen.append(best)
        free[best] = False
        left[table[best].indices] *= fading
    return np.array(chosen, dtype=np.int64)


class Comparisons:
    """Similarities of structures by their numbers in a pool.

    All pairs are compared once if that takes fewer evaluations than planned and fits in memory. No
    value depends on it.

    Parameters
    ----------
    kernel : Kernel
    pool : batch, length n
    planned : int
        Number of kernel evaluations that will be requested.
    """

    def __init__(self, kernel: Kernel, pool: Any, planned: int) -> None:
        self._kernel, self._pool = kernel, pool
        self._table: NDArray[Any] | None = None
        n_bytes = len(pool) ** 2 * kernel._dtype(None).itemsize
        if len(pool) ** 2 < planned and n_bytes * _SHARE_OF_BUDGET <= budget():
            self._table = kernel.cross(pool, pool)

    def between(self, rows: Numbers, columns: Numbers, dtype: Any = None) -> NDArray[Any]:
        """Return similarities, by default in the data type of the kernel."""
        wanted = self._kernel._dtype(dtype)
        if self._table is not None and self._table.dtype == wanted:
            return self._table[np.ix_(rows, columns)]
        return self._kernel.cross(self._pool[rows], self._pool[columns], dtype=wanted)

    def gram(self, numbers: Numbers) -> Floats:
        """Return the Gram matrix of some structures, with the bits of a hasher's ``gram_``."""
        return np.asarray(self._kernel.gram(self._pool[numbers], dtype="float64"))

    def diag(self, numbers: Numbers) -> Floats:
        """Return the self-similarities of some structures."""
        return np.asarray(self._kernel.diag(self._pool[numbers], dtype="float64"))


@dataclass(frozen=True)
class Swap:
    """Candidates for a slot, and the similarities from which their bits are made.

    Parameters
    ----------
    slot : int
    gram : ndarray of float64, shape (n_references, n_references)
        Similarities of the present references.
    similarities : ndarray, shape (n, n_references + n_candidates)
        Similarities of examples to the references and to the candidates.
    to_references : ndarray of float64, shape (n_candidates, n_references)
        Similarities of the candidates to the references.
    to_self : ndarray of float64, shape (n_candidates,)
        Self-similarities of the candidates.
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
        """Return the similarities of references and candidates, 0 between candidates."""
        m, n = len(self.gram), len(self.to_self)
        extended = np.zeros((m + n, m + n))
        extended[:m, :m] = self.gram
        extended[m:, :m] = self.to_references
        extended[:m, m:] = self.to_references.T
        extended[np.arange(m, m + n), np.arange(m, m + n)] = self.to_self
        return extended

    def gram_with(self, candidate: int) -> Floats:
        """Return the Gram matrix of the references with a candidate in the slot."""
        changed = self.gram.copy()
        changed[self.slot] = changed[:, self.slot] = self.to_references[candidate]
        changed[self.slot, self.slot] = self.to_self[candidate]
        return changed


def changed_bits(method: str, subsets: Subsets, slot: int) -> Numbers:
    """Return the numbers of the bits that depend on the reference in a slot.

    Examples
    --------
    >>> subsets = np.array([[[0], [1]], [[1], [2]]], dtype=np.int32)
    >>> changed_bits("rmm", subsets, 0), changed_bits("kulis", subsets, 0)
    (array([0]), array([0, 1]))
    """
    if method == "kulis":  # the whitening depends on all references
        return np.arange(len(subsets))
    return np.flatnonzero((subsets == slot).any(axis=(1, 2)))


def swapped_bits(method: str, swap: Swap, subsets: Subsets) -> Bits:
    """Return the bits of examples with each of several candidates in a slot.

    Parameters
    ----------
    method : {"rmm", "rknn", "kulis"}
    swap : Swap
    subsets : ndarray of int32, shape (n_bits, 2, subset_size)
        Subsets of the bits to compute.

    Returns
    -------
    ndarray of uint8, shape (n_candidates, n, n_bits)
    """
    n_candidates, (n_bits, _, _) = len(swap.to_self), subsets.shape
    if method == "kulis":
        return np.stack([_bits_with(method, swap, subsets, i) for i in range(n_candidates)])
    # One candidate in each subset, so that all bits are computed at once.
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
    """Return the numbers of n random examples, with at least one of every class.

    If a class is not among the first n, one of its examples replaces the last drawn example that is
    not the only one of its class. With more classes than n, some are missing.

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
    """Greedy search for a better reference set.

    Parameters
    ----------
    comparisons : Comparisons
        Similarities of the pool, labeled structures first.
    classes : ndarray of int32, shape (n_labeled,)
    references : ndarray of int64, shape (n_references,)
        Numbers in the pool; changed by the search, as is ``gram``.
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
        """Improve one slot after the other, cyclically; return a record of each step."""
        trace = []
        for number in range(n_steps):
            trace.append(self.step(number))
            if report is not None:
                report(number + 1, n_steps)
        return trace

    def step(self, number: int) -> dict[str, Any]:
        """Replace the reference in one slot by a better candidate, if there is one."""
        random = child_generator(self.seed, _STEPS, number)
        slot = number % len(self.references)
        labeled, unlabeled = self._draw_examples(random)
        candidates = self._draw_candidates(random)
        columns = changed_bits(self.method, self.subsets, slot)
        swap = self._compare(slot, np.concatenate([labeled, unlabeled]), candidates)
        fit = self._explain(swap, len(labeled), self.classes[labeled], random)
        before, values = fit.mutual_information, np.empty(0)
        if len(columns):  # no bit may use this slot
            # The present reference gets as many iterations as the candidates.
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
        # The fraction without a label is that of the pool, but at most one half.
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
        # rknn does not compare references.
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


class ReferenceSelector(HashParameters):
    r"""Reference selection for hashcodes by classes.

    Random references can be redundant or uninformative about the classes. There are two strategies.

    * ``"information"``: greedy maximization of the mutual information :math:`I(c : y)` of codes
      :math:`c` and classes :math:`y`. Starting from random references and the subsets of the bits,
      ``n_candidates`` structures compete for each slot in turn with the present reference. The
      winner has the greatest mutual information on ``n_samples`` examples, drawn anew in each step.
    * ``"coverage"``: by labels alone, without kernel evaluations. The next reference is the
      structure whose node and edge labels have the greatest mean mutual information with the
      class; the weight of a covered label is halved. It is fast, and hard to beat if single words
      indicate the class.

    Parameters
    ----------
    kernel : Kernel
        Kernel that compares structures.
    n_references : int
        Number of references, :math:`M`.
    strategy : {"information", "coverage"}
        Selection strategy.
    method, n_bits, subset_size
        Parameters of the hashcodes; see :class:`KernelHasher`. ``"coverage"`` ignores these and all
        following parameters except ``n_jobs``.
    n_candidates : int
        Number of candidates in a step, :math:`\beta`.
    n_samples : int
        Number of examples in a step, :math:`\gamma`, with and without labels, at least 4.
    n_steps : int, optional
        Number of steps, by default ``n_references``: one for each slot.
    random_state : None, int, Generator or RandomState
        Seed.
    n_jobs : int, optional
        Number of threads; no choice depends on it.

    Attributes
    ----------
    indices_ : ndarray of int64, shape (n_references,)
        Positions of the references in ``X``, followed by ``unlabeled``.
    references_ : batch
        The references.
    subsets_ : ndarray of int32, shape (n_bits, 2, subset_size), or None
        Reference numbers of each bit; None for ``"coverage"``, which does not depend on bits.
    trace_ : list of dict
        A record of each step: its number ``"step"``, the ``"slot"``, the reference ``"removed"``
        and the one ``"chosen"`` (the same if it stayed), the mutual information on the examples of
        the step ``"before"`` and ``"after"`` in nats, ``"n_candidates"``, and the number of better
        ones, ``"n_better"``. Empty if all structures are references.
    seed_ : int
        The seed that was used.

    See Also
    --------
    KernelHasher : Takes the name of a strategy, or a selector, as ``references``.
    kernelwood.information : Mutual information of codes and classes.

    Notes
    -----
    A step costs :math:`\gamma (M + \beta) + \beta M` kernel evaluations, or :math:`N^2` for all
    steps if that is less and fits in memory. Only bits that use the slot are recomputed, about
    :math:`2 \alpha / M` of all; for ``"kulis"`` all bits, which takes about four times as long.

    Mutual information is overestimated from few examples, and more so for more candidates;
    ``trace_`` shows values on the examples of a step, not on held-out ones.

    References
    ----------
    S. Garg, A. Galstyan, G. Ver Steeg, I. Rish, G. Cecchi, S. Gao: Kernelized hashcode
    representations for relation extraction. AAAI 2019, algorithm 1.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_questions
    >>> questions = load_questions()
    >>> trees, labels = [q.view("tree") for q in questions], [q.label for q in questions]
    >>> selector = kw.ReferenceSelector(
    ...     kw.SubsetTreeKernel(), n_references=8, n_bits=64, n_samples=60, random_state=0
    ... ).fit(trees, labels)
    >>> len(selector.references_), selector.subsets_.shape
    (8, (64, 2, 2))
    >>> all(step["after"] >= step["before"] for step in selector.trace_)
    True
    """

    _fitted: ClassVar[Schema] = {
        "kernel_": KERNEL,
        "seed_": SEED,
        "references_": Structures(),
        "indices_": ArrayOf("int64", "references_", least=0),
        "subsets_": Maybe(
            ArrayOf("int32", "n_bits", 2, "subset_size", least=0, below="references_")
        ),
        "trace_": Items(Fields(dict.fromkeys(_KEYS, Figure()))),
    }
    _saved_unfitted = True  # as a parameter of other estimators

    subsets_: NDArray[np.int32] | None

    def __init__(
        self,
        kernel: Any,
        *,
        n_references: int = 100,
        strategy: str = "information",
        method: str = "rmm",
        n_bits: int = 1000,
        subset_size: int = 2,
        n_candidates: int = 1000,
        n_samples: int = 300,
        n_steps: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_references = n_references
        self.strategy = strategy
        self.method = method
        self.n_bits = n_bits
        self.subset_size = subset_size
        self.n_candidates = n_candidates
        self.n_samples = n_samples
        self.n_steps = n_steps
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, unlabeled: Any = None) -> ReferenceSelector:
        """Choose references.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : list or ndarray of labels, length n, optional
            By default the labels of examples.
        unlabeled : list of structures or batch, optional
            Structures without a label, which can also become references. With ``"information"``, up
            to half of the examples of a step are drawn from them, to estimate the entropy of codes.
        """
        pool = self._start(X)
        classes = self._encode_classes(X, y)
        if unlabeled is not None and len(unlabeled):
            growing = growing_batch(pool, self.kernel_)
            growing.append(self._prepare(unlabeled))
            pool = growing.batch
        n = min(self.n_references, len(pool))
        if n < self.n_references:
            warnings.warn(
                f"ReferenceSelector: {n} structures are fewer than n_references="
                f"{self.n_references}; all of them become references",
                stacklevel=2,
            )
        with self._threads():
            chosen, self.subsets_, self.trace_ = STRATEGIES[self.strategy](self, pool, classes, n)
        self.indices_ = chosen
        self.references_ = self._keep(pool[chosen])
        return self

    def _encode_classes(self, X: Any, y: Any) -> NDArray[np.int32]:
        labels, classes = encode_labels(type(self).__name__, X, y)
        if len(labels) < 2:
            raise KernelInputError(
                f"ReferenceSelector: all structures are of the class {labels.tolist()[0]!r}; "
                "give at least two classes to choose references"
            )
        return classes

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_choice("strategy", tuple(STRATEGIES))
        self._check_count("n_candidates", 1)
        self._check_count("n_samples", 4)
        self._check_count("n_steps", 0, none=True)

    def _check_restored(self) -> None:
        super()._check_restored()
        self._prepare(self.references_)


Choice = tuple[NDArray[np.int64], "NDArray[np.int32] | None", list[dict[str, Any]]]


def random_references(seed: int, n_pool: int, n: int) -> NDArray[np.int64]:
    """Return n random positions in a pool; the first ones do not depend on n."""
    return child_generator(seed, _REFERENCES).permutation(n_pool)[:n].astype(np.int64)


def _by_information(
    selector: ReferenceSelector, pool: Any, classes: NDArray[np.int32], n: int
) -> Choice:
    selector._check_subsets(n)
    n_steps = n if selector.n_steps is None else int(selector.n_steps)
    if n == len(pool):
        n_steps = 0
    report = get_config().progress
    with config_context(progress=None):
        search = _start_search(selector, pool, classes, n, n_steps)
        trace = search.run(n_steps, report)
    return search.references, search.subsets, trace


def _start_search(
    selector: ReferenceSelector, pool: Any, classes: NDArray[np.int32], n: int, n_steps: int
) -> SlotSearch:
    """Return a search that starts from the bits of a hasher with random references."""
    n_samples, n_candidates = (
        min(int(most), len(pool)) for most in (selector.n_samples, selector.n_candidates)
    )
    planned = n_steps * (n_samples * (n + n_candidates) + n_candidates * n)
    comparisons = Comparisons(selector.kernel_, pool, planned)
    references = random_references(selector.seed_, len(pool), n)
    gram = comparisons.gram(references)
    block = draw_bits(
        selector.method,
        gram,
        seed=selector.seed_,
        first_bit=0,
        n_bits=selector.n_bits,
        subset_size=selector.subset_size,
    )
    return SlotSearch(
        comparisons,
        classes,
        references,
        gram,
        block.subsets,
        method=selector.method,
        n_pool=len(pool),
        n_candidates=n_candidates,
        n_samples=n_samples,
        seed=selector.seed_,
    )


def _by_coverage(
    selector: ReferenceSelector, pool: Any, classes: NDArray[np.int32], n: int
) -> Choice:
    table = _labels_read(pool, selector.kernel_)
    information = label_information(table[: len(classes)], classes)
    return cover(table, information, n), None, []


# Strategy -> function that chooses n references, and returns their subsets and a trace.
STRATEGIES: dict[str, Callable[[ReferenceSelector, Any, NDArray[np.int32], int], Choice]] = {
    "information": _by_information,
    "coverage": _by_coverage,
}
