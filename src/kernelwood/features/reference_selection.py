"""References that tell the classes apart, in place of random ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import config_context, get_config
from kernelwood.errors import KernelInputError
from kernelwood.features.bit_blocks import draw_bits
from kernelwood.features.growing import growing_batch
from kernelwood.features.hash_parameters import HashParameters
from kernelwood.features.label_coverage import cover, label_information, labels_read
from kernelwood.features.slot_search import Comparisons, SlotSearch
from kernelwood.features.targets import encode_labels
from kernelwood.seeds import child_generator

__all__ = ["STRATEGIES", "ReferenceSelector", "random_references"]

_REFERENCES = 0  # what the random numbers of a child generator are for
_KEYS = ("step", "slot", "removed", "chosen", "before", "after", "n_candidates", "n_better")


class ReferenceSelector(HashParameters):
    r"""References for hashcodes, chosen by classes.

    Random references waste some of the kernel evaluations that a structure costs: two may say the
    same, others nothing about the classes. There are two ways to choose them.

    * ``"information"``: greedily, for the mutual information :math:`I(c : y)` of the codes
      :math:`c` and the classes :math:`y`. It begins with random references, and with the subsets
      of which bits are made. Then, slot by slot, ``n_candidates`` structures take the place of the
      reference there, and the best one stays: that with which the codes of ``n_samples`` examples,
      drawn anew in each step, tell most about their classes. The present reference competes, too.
    * ``"coverage"``: by labels alone, without any kernel evaluation. One after the other the
      structure is taken whose labels (of nodes and edges) tell most about the class on average; a
      label that is covered counts half as much from then on. Fast, and for classes that show in
      single words hard to beat.

    Parameters
    ----------
    kernel : Kernel
        What compares structures.
    n_references : int
        Size of the reference set, :math:`M`.
    strategy : {"information", "coverage"}
        How to choose.
    method, n_bits, subset_size
        The hashcodes; see :class:`KernelHasher`. Without meaning for ``"coverage"``, as all that
        follows but ``n_jobs``.
    n_candidates : int
        Structures that are tried in a step, :math:`\beta`.
    n_samples : int
        Examples on which they are, :math:`\gamma`, with and without labels, at least 4.
    n_steps : int, optional
        By default ``n_references``: each slot has its turn once. More go round again.
    random_state : None, int, Generator or RandomState
        Seed.
    n_jobs : int, optional
        Threads; no choice depends on them.

    Attributes
    ----------
    indices_ : ndarray of int64, shape (n_references,)
        Where the references were in ``X``; those from ``unlabelled`` count on from there.
    references_ : batch
        The references.
    subsets_ : ndarray of int32, shape (n_bits, 2, subset_size), or None
        The references of each bit, by number; None for ``"coverage"``, which suits any bits.
    trace_ : list of dict
        For each step its number ``"step"``, the ``"slot"``, the reference that was ``"removed"``
        and the one that was ``"chosen"`` (the same if it stayed), the mutual information on the
        examples of the step ``"before"`` and ``"after"`` in nats, ``"n_candidates"``, and how many
        of them were better, ``"n_better"``. Empty if all structures are references.
    seed_ : int
        The seed that was used.

    See Also
    --------
    KernelHasher : Takes the name of a strategy, or a selector, as ``references``.
    kernelwood.information : The mutual information of codes and classes.

    Notes
    -----
    A step costs :math:`\gamma (M + \beta) + \beta M` kernel evaluations, or once for all
    :math:`N^2` if that is less and there is memory for it. Only those bits are made anew that the
    slot has a part in, about :math:`2 \alpha / M` of all. For ``"kulis"`` all of them depend on
    all references, which takes some four times as long.

    Mutual information is estimated from few examples, too high, and more so for more candidates;
    ``trace_`` shows how it rises on the examples of a step, not on others.

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

    _fitted = ("kernel_", "seed_", "indices_", "references_", "subsets_", "trace_")
    _saved_unfitted = True  # it is a parameter of others

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

    def fit(self, X: Any, y: Any = None, unlabelled: Any = None) -> ReferenceSelector:
        """Choose references.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : list or ndarray of labels, length n, optional
            By default the labels of examples.
        unlabelled : list of structures or batch, optional
            Structures without a label, which may become references, too. For ``"information"`` up
            to half of the examples of a step are drawn from them: they tell how codes spread.
        """
        pool = self._start(X)
        classes = self._encode_classes(X, y)
        if unlabelled is not None and len(unlabelled):
            growing = growing_batch(pool, self.kernel_)
            growing.append(self._prepare(unlabelled))
            pool = growing.batch
        n = min(self.n_references, len(pool))
        if n < self.n_references:
            warnings.warn(
                f"ReferenceSelector: there are {n} structures for n_references="
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
                "references are chosen to tell classes apart, so give two at least"
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
        n = len(self._prepare(self.references_))
        indices, subsets = self.indices_, self.subsets_
        if not isinstance(indices, np.ndarray) or indices.dtype != np.int64:
            raise ValueError("indices_ must be whole numbers")
        if indices.shape != (n,) or (indices < 0).any():
            raise ValueError(f"indices_ must be {n} positions")
        if subsets is not None:
            shape = (self.n_bits, 2, self.subset_size)
            if not isinstance(subsets, np.ndarray) or subsets.dtype != np.int32:
                raise ValueError("subsets_ must be numbers of references")
            if subsets.shape != shape or ((subsets < 0) | (subsets >= n)).any():
                raise ValueError(f"subsets_ must be numbers of {n} references, of shape {shape}")
        if not isinstance(self.trace_, list) or not all(_is_step(step) for step in self.trace_):
            raise ValueError("trace_ must be a list of steps")


Choice = tuple[NDArray[np.int64], "NDArray[np.int32] | None", list[dict[str, Any]]]


def random_references(seed: int, n_pool: int, n: int) -> NDArray[np.int64]:
    """Return the numbers of n structures of a pool; more of the same seed begin with the same."""
    return child_generator(seed, _REFERENCES).permutation(n_pool)[:n].astype(np.int64)


def _by_information(
    selector: ReferenceSelector, pool: Any, classes: NDArray[np.int32], n: int
) -> Choice:
    selector._check_subsets(n)
    n_steps = n if selector.n_steps is None else int(selector.n_steps)
    if n == len(pool):
        n_steps = 0  # there is nothing to choose from
    report = get_config().progress
    with config_context(progress=None):
        search = _start_search(selector, pool, classes, n, n_steps)
        trace = search.run(n_steps, report)
    return search.references, search.subsets, trace


def _start_search(
    selector: ReferenceSelector, pool: Any, classes: NDArray[np.int32], n: int, n_steps: int
) -> SlotSearch:
    """Return a search that begins with what a hasher of random references has."""
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
    table = labels_read(pool, selector.kernel_)
    information = label_information(table[: len(classes)], classes)
    return cover(table, information, n), None, []


# Name of a strategy -> what chooses n references, their subsets and tells how.
STRATEGIES: dict[str, Callable[[ReferenceSelector, Any, NDArray[np.int32], int], Choice]] = {
    "information": _by_information,
    "coverage": _by_coverage,
}


def _is_step(step: Any) -> bool:
    numbers = (int, float)
    return (
        isinstance(step, dict)
        and set(step) == set(_KEYS)
        and all(type(value) in numbers for value in step.values())
    )
