"""Decision forests on hashcodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ArrayOf, Instance, Maybe, Real, Schema, Whole
from kernelwood.compute import counting
from kernelwood.errors import KernelInputError
from kernelwood.features import (
    HASHER,
    KERNEL,
    SEED,
    BitBlock,
    Codes,
    GrowingArray,
    HashingEstimator,
    encode_labels,
)
from kernelwood.learners.base import (
    CLASSES,
    EVALUATIONS,
    Contributions,
    StreamLabels,
    StructureClassifier,
    checked_batches,
)
from kernelwood.learners.bit_forest import BitForest, grow_forest, leaf_members, out_of_bag

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]


class HashForestClassifier(StructureClassifier, HashingEstimator):
    r"""Random forest on the hashcodes of structures (KLSH-RF).

    Every structure is compared with ``n_references`` references; the trees test bits made of these
    similarities. Training on :math:`N` structures takes :math:`N M + M^2 / 2` kernel evaluations, a
    prediction :math:`M`.

    Parameters
    ----------
    kernel : Kernel
        Kernel that compares structures.
    n_estimators : int
        Number of trees, :math:`R`.
    bits_per_tree : int or None
        Number of bits drawn for each tree, :math:`\eta`; None for all.
    method, n_references, n_bits, subset_size, references
        Parameters of the hashcodes; see :class:`KernelHasher`.
    bootstrap : bool or None
        Whether each tree gets :math:`N` examples drawn with replacement. None is True if
        ``bits_per_tree`` is None or ``threshold_for`` is given.
    class_weight : None, "balanced" or dict from label to weight
        Weights of the examples of a class. "balanced": as if the classes were equally frequent.
    max_depth : int or None
        Maximum depth of a tree.
    min_samples_leaf : int
        Minimum number of examples of a leaf; an example drawn twice counts twice.
    threshold_for : label or None
        A class with a decision threshold: it is predicted if its probability reaches
        ``threshold_``, otherwise the most probable of the other classes is. The threshold maximizes
        the F1 of the class on out-of-bag predictions.
    random_state : None, int, Generator or RandomState
        Seed of references, bits and trees.
    n_jobs : int, optional
        Number of threads; no result depends on it.

    Attributes
    ----------
    hasher_ : KernelHasher
        The hasher that makes codes.
    forest_ : BitForest
        The trees, as flat arrays.
    classes_ : ndarray
        The labels, sorted.
    oob_proba_ : ndarray of float64, shape (n, n_classes), or None
        With ``bootstrap``: mean probabilities over the trees that an example was not drawn for, or
        the weighted class frequencies if there is no such tree.
    oob_missing_ : int or None
        With ``bootstrap``: number of examples drawn for every tree. They are not used for
        ``oob_score_`` and ``threshold_``, unless there are no others.
    oob_score_ : float or None
        With ``bootstrap``: accuracy of out-of-bag predictions.
    threshold_ : float or None
        With ``threshold_for``: the decision threshold, halfway between two out-of-bag
        probabilities; the highest of equally good ones.
    bit_importances_ : ndarray of float64, shape (n_bits,)
        Importance of each bit; sums to 1.
    kernel_evaluations_ : int
        Number of kernel evaluations of ``fit``.
    seed_ : int
        The seed that was used.

    See Also
    --------
    KernelHasher : The hashcodes alone.
    HashNeighborsClassifier : Few comparisons, with neighbors as evidence.
    KernelSVC : Slower, often more accurate.

    References
    ----------
    S. Garg, A. Galstyan, G. Ver Steeg, I. Rish, G. Cecchi, S. Gao: Kernelized hashcode
    representations for relation extraction. AAAI 2019. T. K. Ho: The random subspace method for
    constructing decision forests. IEEE TPAMI 20 (8), 1998.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_questions
    >>> questions = load_questions()
    >>> trees = [question.view("tree") for question in questions]
    >>> labels = [question.label for question in questions]
    >>> forest = kw.HashForestClassifier(
    ...     kw.SubsetTreeKernel(), n_estimators=50, n_references=40, random_state=0
    ... )
    >>> forest.fit(trees[:100], labels[:100]).kernel_evaluations_
    4820
    >>> forest.predict_proba(trees[100:]).shape
    (20, 6)

    The most important references are readable evidence:

    >>> strongest = forest.reference_importances().argsort()[::-1][:2]
    >>> [labels[i] for i in forest.hasher_.reference_indices_[strongest]]
    ['HUM', 'ABBR']
    """

    _fitted: ClassVar[Schema] = {
        "kernel_": KERNEL,
        "seed_": SEED,
        "classes_": CLASSES,
        "hasher_": HASHER,
        "forest_": Instance(BitForest, exact=True),
        "threshold_": Maybe(Real(0, 1)),
        "oob_proba_": Maybe(ArrayOf("float64", None, "classes_", least=0, most=1)),
        "oob_missing_": Maybe(Whole()),
        "oob_score_": Maybe(Real(0, 1)),
        "kernel_evaluations_": EVALUATIONS,
    }

    def __init__(
        self,
        kernel: Any,
        *,
        n_estimators: int = 250,
        bits_per_tree: int | None = 30,
        method: str = "rmm",
        n_references: int = 100,
        n_bits: int = 1000,
        subset_size: int = 2,
        references: Any = "random",
        bootstrap: bool | None = None,
        class_weight: Any = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        threshold_for: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_estimators = n_estimators
        self.bits_per_tree = bits_per_tree
        self.method = method
        self.n_references = n_references
        self.n_bits = n_bits
        self.subset_size = subset_size
        self.references = references
        self.bootstrap = bootstrap
        self.class_weight = class_weight
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.threshold_for = threshold_for
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> HashForestClassifier:
        """Choose references, draw bits, and grow trees.

        Parameters
        ----------
        X : list of structures or batch
        y : array-like of labels, optional
            By default the labels of examples.
        """
        return self.fit_batches([(X, y)])

    def fit_batches(self, batches: Iterable[tuple[Any, Any]]) -> HashForestClassifier:
        """Train on a stream of batches of structures, with one batch at a time in memory.

        Codes and labels of all structures are kept in memory, ``n_bits / 8`` bytes and 4 bytes for
        each structure. Codes do not depend on batches; the same structures give the same forest, as
        long as the first batch is the same.

        Parameters
        ----------
        batches : iterable of (X, y)
            Structures and their labels; ``y`` can be None for examples with labels. The references
            are chosen from the first batch, which should be a random sample.
        """
        seen, codes, numbers = StreamLabels(type(self).__name__), None, None
        with self._threads(), counting() as counters:
            for X, y in checked_batches(type(self).__name__, batches):
                structures = self._start(X) if codes is None else self._prepare(X)
                found = seen.encode(structures, y)
                if codes is None or numbers is None:
                    own = encode_labels(type(self).__name__, structures, y)[1]
                    codes = GrowingArray(self._fit_hasher(structures, own).codes(structures))
                    numbers = GrowingArray(found)
                else:
                    codes.append(self.hasher_.codes(structures))
                    numbers.append(found)
        if codes is None or numbers is None:
            raise KernelInputError(f"{type(self).__name__}: give at least one structure")
        self.kernel_evaluations_ = counters.kernel_evaluations
        self.classes_, order = seen.classes()
        self._fit_codes(codes.rows, order[numbers.rows])
        return self

    def _fit_codes(self, codes: Codes, numbers: NDArray[np.int32]) -> None:
        weights = self._weigh_classes(numbers)
        positive = self._positive_class()
        with self._threads():
            self.forest_ = grow_forest(
                codes,
                numbers,
                n_bits=self.n_bits,
                n_classes=len(self.classes_),
                n_trees=self.n_estimators,
                bits_per_tree=self.bits_per_tree,
                bootstrap=self._uses_bootstrap(),
                class_weights=weights,
                max_depth=self.max_depth,
                min_samples_leaf=self.min_samples_leaf,
                seed=self.seed_,
            )
            self._predict_out_of_bag(codes, numbers, weights, positive)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, the mean of the trees, shape (n, n_classes)."""
        self._check_is_fitted()
        with self._threads():
            return self.forest_.predict_proba(self.hasher_.codes(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each structure.

        The label is the most probable one, the first of equally probable ones; see
        ``threshold_for`` for the exception.
        """
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[self._choose(probabilities, self._positive_class())])

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the leaf of each structure in each tree, shape (n, n_estimators)."""
        self._check_is_fitted()
        with self._threads():
            return self.forest_.apply(self.hasher_.codes(X))

    def contributions(
        self, X: Any, label: Any, *, against: Any = None, training: Any
    ) -> Contributions:
        """Return the contribution of each training structure to scores, through shared leaves.

        The score is the probability of the class, minus that of ``against``. A tree divides the
        probability of a class among the structures of its leaf, by their weights.

        Parameters
        ----------
        X : list of structures or batch, length n
        label : label, or list of labels of length n
            The class to explain.
        against : label, optional
            The class it is compared with.
        training : batch with labels
            The structures that the forest was fitted on, in the same order. Their leaves are
            computed once for each object.
        """
        from scipy.sparse import csr_array

        self._check_is_fitted()
        numbers, members = self._leaf_members(training)
        with self._threads():
            leaves = self.forest_.apply(self.hasher_.codes(X)) + self.forest_.offsets[:-1]
        n_trees = self.forest_.n_trees
        ends = np.arange(0, leaves.size + 1, n_trees)
        shape = (len(leaves), members.shape[0])
        passed = csr_array((np.full(leaves.size, 1 / n_trees), leaves.ravel(), ends), shape=shape)
        signs = self._signs(len(leaves), label, against)
        values = (passed @ members).toarray() * signs[:, numbers]
        return Contributions(np.arange(len(numbers)), values, np.zeros(len(values)))

    def _leaf_members(self, training: Any) -> tuple[NDArray[np.int64], csr_array]:
        """Return class numbers of training structures, and their shares of the leaves."""
        made: tuple[Any, ...] | None = self.__dict__.get("_made_members")
        if made is None or made[0] is not training or made[1] is not self.forest_:
            structures = self._prepare(training)
            labels, own = encode_labels(type(self).__name__, structures, None)
            numbers = np.array([self._class_number("training", one) for one in labels.tolist()])
            weights = self._weigh_classes(numbers[own])
            with self._threads():
                codes = self.hasher_.codes(structures)
            seed = self.seed_ if self._uses_bootstrap() else None
            members = leaf_members(self.forest_, codes, weights[numbers[own]], seed=seed)
            self._made_members = made = (training, self.forest_, numbers[own], members)
        return made[2], made[3]

    @property
    def bit_importances_(self) -> Floats:
        """Importance of each bit, shape (n_bits,)."""
        self._check_is_fitted()
        return self.forest_.importances()

    def reference_importances(self) -> Floats:
        """Return the importance of each reference.

        The importance of a bit is divided among the references of its two subsets; for ``"rmm"``
        proportionally to the absolute values of their weights in the boundary.

        Returns
        -------
        ndarray of float64, shape (n_references,)
            Sums to 1; all 0 if the trees are single leaves.
        """
        self._check_is_fitted()
        importances, first = self.forest_.importances(), 0
        total = np.zeros(len(self.hasher_.references_))
        for block in self.hasher_.blocks_:
            shares = _reference_weights(block) * importances[first : first + block.n_bits, None]
            total += np.bincount(block.subsets.ravel(), shares.ravel(), minlength=len(total))
            first += block.n_bits
        return total

    def _uses_bootstrap(self) -> bool:
        if self.bootstrap is None:
            return self.bits_per_tree is None or self.threshold_for is not None
        return bool(self.bootstrap)

    def _positive_class(self) -> int | None:
        """Return the number of the class that has a threshold."""
        if self.threshold_for is None:
            return None
        return self._class_number("threshold_for", self.threshold_for)

    def _predict_out_of_bag(
        self, codes: Codes, numbers: NDArray[np.int32], weights: Floats, positive: int | None
    ) -> None:
        self.oob_proba_: Floats | None = None
        self.oob_missing_: int | None = None
        self.oob_score_: float | None = None
        self.threshold_: float | None = None
        if not self._uses_bootstrap():
            return
        sums, n_trees = out_of_bag(self.forest_, codes, seed=self.seed_)
        known = n_trees > 0
        prior = weights * np.bincount(numbers, minlength=len(weights))
        self.oob_proba_ = np.tile(prior / prior.sum(), (len(sums), 1))
        self.oob_proba_[known] = sums[known] / n_trees[known, None]
        self.oob_missing_ = int((~known).sum())
        used = known if known.any() else ~known
        if positive is not None:
            scores = self.oob_proba_[used, positive]
            self.threshold_ = best_threshold(scores, numbers[used] == positive)
        chosen = self._choose(self.oob_proba_[used], positive)
        self.oob_score_ = float((chosen == numbers[used]).mean())

    def _choose(self, probabilities: Floats, positive: int | None) -> NDArray[np.int64]:
        """Return the predicted class numbers."""
        if positive is None or self.threshold_ is None or probabilities.shape[1] == 1:
            return np.asarray(probabilities.argmax(axis=1))
        others = probabilities.copy()
        others[:, positive] = -1.0
        reached = probabilities[:, positive] >= self.threshold_
        return np.where(reached, positive, others.argmax(axis=1))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_choice("bootstrap", (None, True, False))
        self._check_count("n_estimators", 1)
        self._check_count("min_samples_leaf", 1)
        for name in ("bits_per_tree", "max_depth"):
            self._check_count(name, 1, none=True)
        if self.bits_per_tree is not None and self.bits_per_tree > self.n_bits:
            raise KernelInputError(
                f"{type(self).__name__}: bits_per_tree={self.bits_per_tree} must not exceed "
                f"n_bits={self.n_bits}"
            )
        if self.threshold_for is not None and not self._uses_bootstrap():
            raise KernelInputError(
                f"{type(self).__name__}: threshold_for is chosen on out-of-bag predictions; use "
                "bootstrap=True or None"
            )

    def _check_restored(self) -> None:
        super()._check_restored()
        self.forest_.check_sizes(self.n_bits, len(self.classes_))
        if (self.threshold_ is None) != (self.threshold_for is None):
            raise ValueError("threshold_ must be given exactly if threshold_for is")
        if self.threshold_ is not None:
            self._positive_class()


def best_threshold(scores: Floats, positive: NDArray[np.bool_]) -> float:
    r"""Return the decision threshold with the greatest F1.

    With :math:`t` true positives among :math:`p` examples that reach the threshold and :math:`a`
    positive examples, :math:`F_1 = 2 t / (p + a)`. The threshold is halfway between two neighboring
    scores, or between the lowest score and 0; the highest of equally good ones. Without positive
    examples it is 0.5.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
        From 0 to 1.
    positive : ndarray of bool, shape (n,)

    Examples
    --------
    >>> best_threshold(np.array([0.9, 0.5, 0.25, 0.0]), np.array([True, False, True, False]))
    0.125
    """
    if not positive.any():
        return 0.5
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    last = np.flatnonzero(np.append(ranked[:-1] > ranked[1:], True))  # of examples that tie
    true_positives = np.cumsum(positive[order])[last]
    best = int(np.argmax(2 * true_positives / (last + 1 + positive.sum())))
    score = float(ranked[last[best]])
    below = float(ranked[last[best] + 1]) if best + 1 < len(last) else 0.0
    middle = below + (score - below) / 2
    return middle if middle > below else score  # no double lies between the two


def _reference_weights(block: BitBlock) -> Floats:
    """Return the weights of references in each bit of a block, shape (n_bits, 2 * subset_size)."""
    sizes = np.ones(block.subsets.shape).reshape(block.n_bits, -1)
    if block.method == "rmm":
        weights = np.abs(block.weights)
        sizes = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, sizes)
    return np.asarray(sizes / sizes.sum(axis=1, keepdims=True), dtype=np.float64)
