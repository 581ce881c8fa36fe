"""Support vector machines over structures."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import LARGE, ArrayOf, Maybe, Schema
from kernelwood.compute import counting, resolve_jobs
from kernelwood.errors import KernelInputError
from kernelwood.features import (
    KERNEL,
    SEED,
    SELECTIONS,
    Structures,
    available_if,
    compare_rows,
    not_fitted,
    product,
)
from kernelwood.kernels import TILE
from kernelwood.learners.base import (
    EVALUATIONS,
    TWO_CLASSES,
    Contributions,
    Evidence,
    StructureClassifier,
    Support,
    gives_probabilities,
    strongest,
)
from kernelwood.learners.landmark_machines import LandmarkTrainer, compare_landmarks
from kernelwood.learners.svm_machines import (
    REST,
    Machines,
    Trainer,
    class_scores,
    compute_gram,
    decide,
    pairs_of_classes,
)
from kernelwood.parameters import check_int
from kernelwood.seeds import child_generator

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]

_SIMILARITIES_AT_ONCE = 2**23  # 64 MB in double


class KernelSVC(StructureClassifier):
    r"""Support vector machine whose examples are structures.

    A machine scores a structure :math:`x` by its similarities to the support structures
    :math:`s_i`, the training structures with a nonzero weight:

    .. math:: f(x) = \sum_i \beta_i\, k(x, s_i) + b .

    Fitting costs :math:`n(n+1)/2` kernel evaluations and :math:`4 n^2` bytes for the Gram matrix,
    which all machines share: in memory or, beyond the memory budget, in a temporary file (see
    :class:`kernelwood.compute.Config`). Only the support structures are kept.

    With ``n_landmarks``, only landmarks have weights, and every structure is compared with these
    only: :math:`n m` evaluations and :math:`4 n m` bytes for :math:`m` landmarks. The kernel is
    then that of the Nyström method, :math:`k(x, y) \approx c_x^\top W^{-1} c_y` with the
    similarities :math:`c` to landmarks and :math:`W` among them, and errors are squared.

    Parameters
    ----------
    kernel : Kernel
        Positive semidefinite kernel, preferably normalized.
    C : float
        Cost of a training error, above 0. Large values fit the training set more closely.
    class_weight : None, "balanced" or dict from label to weight
        Factors of ``C`` for the structures of a class. "balanced": inversely proportional to
        class frequencies; with ``"ovr"``, to the frequencies of the class and of the rest.
    strategy : {"ovr", "ovo"}
        For more than two classes: one machine for each class against the rest, or one for each
        pair of classes, whose votes are counted.
    n_landmarks : int or None
        Number of landmarks; None for exact machines.
    selection : {"balanced", "uniform", "kmeans++", "stratified", "leverage"}
        Landmark selection; see :class:`NystromEmbedder`.
    probability : bool
        Whether to calibrate probabilities for :meth:`predict_proba`. This trains
        ``calibration_folds`` times more machines, without further kernel evaluations.
    calibration_folds : int
        Number of cross-validation folds used for calibration.
    tol : float
        Tolerance of the stopping criterion, above 0. With landmarks: of the largest derivative of
        the loss, as a fraction of that at zero.
    max_iter : int
        Maximum number of iterations of a machine; a warning is issued when it is reached.
    random_state : None, int, Generator or RandomState
        Seed of the landmarks and of the calibration folds; nothing else is random.
    n_jobs : int, optional
        Number of threads; no result depends on it.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    supports_ : batch
        The support structures of all machines; all landmarks, if there are any.
    support_indices_ : ndarray of int64, shape (n_supports,)
        Their positions in the training structures, ascending.
    support_classes_ : ndarray of int32, shape (n_supports,)
        Their class numbers.
    machines_ : ndarray of int32, shape (n_machines, 2)
        Class numbers of positive and of negative scores of each machine; -1 for the rest.
    coefficients_ : ndarray, shape (n_machines, n_supports)
        Weights of the support structures, :math:`\beta`.
    intercepts_ : ndarray, shape (n_machines,)
        :math:`b` of each machine.
    sigmoids_ : ndarray, shape (n_classes, 2) or (1, 2) for two classes; or None
        Slope and offset that convert a score of :meth:`decision_function` to a probability.
    n_support_ : ndarray of int64, shape (n_classes,)
        Number of support structures of each class.
    kernel_evaluations_ : int
        Number of kernel evaluations of ``fit``, including those of a matrix that was given.
    seed_ : int
        The seed that was used.

    See Also
    --------
    KernelNetworkClassifier : Networks on similarities to landmarks.
    HashForestClassifier : For more structures than a Gram matrix can hold.
    KernelNeighborsClassifier : Predicts by the most similar structures, without training.

    Notes
    -----
    The machines are trained by sequential minimal optimization as in LIBSVM, with second-order
    selection of the working set and shrinking. Within the tolerance, ``"ovo"`` predicts the same as
    scikit-learn's ``SVC(kernel)``, and ``"ovr"`` the same as ``OneVsRestClassifier(SVC(kernel))``.
    With landmarks the loss is smooth and minimized by L-BFGS. Held-out scores are then those of
    machines on the landmarks in the other folds.

    Probabilities are Platt's sigmoids of the scores, one for each class, normalized to sum 1; the
    most probable class can differ from the predicted one. Calibration needs at least two
    structures of each class; a class with fewer than ``calibration_folds`` is missing in some
    folds.

    References
    ----------
    C. Cortes, V. Vapnik: Support-vector networks. Machine Learning 20, 1995. C.-C. Chang, C.-J.
    Lin: LIBSVM: a library for support vector machines. ACM TIST 2, 2011. J. Platt: Probabilistic
    outputs for support vector machines. 1999. C. Williams, M. Seeger: Using the Nyström method to
    speed up kernel machines. NIPS 2000.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_questions
    >>> questions = load_questions()
    >>> trees, labels = [q.view("tree") for q in questions], [q.label for q in questions]
    >>> svc = kw.KernelSVC(kw.SubsetTreeKernel(), C=3).fit(trees[:90], labels[:90])
    >>> svc.predict(trees[90:93]).tolist(), labels[90:93]
    (['DESC', 'ENTY', 'ABBR'], ['DESC', 'ENTY', 'ABBR'])
    >>> evidence = svc.evidence(trees[93], k=1)
    >>> evidence.label, evidence.supporting[0].label
    ('HUM', 'HUM')
    """

    _fitted: ClassVar[Schema] = {
        "kernel_": KERNEL,
        "seed_": SEED,
        "classes_": TWO_CLASSES,
        "supports_": Structures(),
        "support_indices_": ArrayOf("int64", "supports_", least=0, rising=True),
        "support_classes_": ArrayOf("int32", "supports_", least=0, below="classes_"),
        "machines_": ArrayOf("int32", "machines", 2, least=REST, below="classes_"),
        "coefficients_": ArrayOf(
            "float32 float64", "machines", "supports_", least=-LARGE, most=LARGE
        ),
        "intercepts_": ArrayOf("float64", "machines", least=-LARGE, most=LARGE),
        "sigmoids_": Maybe(ArrayOf("float64", "columns", 2, least=-LARGE, most=LARGE)),
        "kernel_evaluations_": EVALUATIONS,
    }

    def __init__(
        self,
        kernel: Any,
        *,
        C: float = 1.0,
        class_weight: Any = None,
        strategy: str = "ovr",
        n_landmarks: int | None = None,
        selection: str = "balanced",
        probability: bool = False,
        calibration_folds: int = 5,
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.class_weight = class_weight
        self.strategy = strategy
        self.n_landmarks = n_landmarks
        self.selection = selection
        self.probability = probability
        self.calibration_folds = calibration_folds
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> KernelSVC:
        """Train on structures and their labels.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : sequence of labels, length n, optional
            By default the labels of examples.
        """
        self._fit(X, y, None, None)
        return self

    def fit_held_out(self, X: Any, y: Any = None, folds: Any = None, *, gram: Any = None) -> Floats:
        """Fit, and return cross-validation scores of the training structures.

        The Gram matrix of ``fit`` is reused, without further kernel evaluations.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : sequence of labels, length n, optional
            By default the labels of examples.
        folds : sequence of int, length n
            The fold of each structure, from 0; for example one for each group of documents.
        gram : ndarray of float32, shape (n, n), optional
            The Gram matrix of ``X``, if it is known, for example from a fit with another ``C``.

        Returns
        -------
        ndarray, shape (n, n_classes) or (n,)
            Scores as of :meth:`decision_function`, of machines trained on the other folds. A class
            that the other folds do not have gets the lowest score.
        """
        scores = self._fit(X, y, folds, gram)
        if scores is None:
            raise KernelInputError("KernelSVC.fit_held_out: give the fold of each structure")
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def held_out(self, X: Any, y: Any = None, folds: Any = None, *, gram: Any = None) -> Floats:
        """Return the cross-validation scores of :meth:`fit_held_out` without fitting.

        No machines are trained on all structures. Parameters and scores are those of
        :meth:`fit_held_out`.
        """
        model = type(self)(**self.get_params(deep=False))
        X = model._start(X)
        numbers = model._encode_labels(X, y)
        model._check_classes(numbers)
        checked = model._check_folds(folds, numbers)
        with model._threads():
            trainer, similarities = model._compare(X, numbers, gram)
            scores = trainer.held_out(similarities, numbers, checked)
        return scores[:, 0] if len(model.classes_) == 2 else scores

    def _fit(self, X: Any, y: Any, folds: Any, gram: Any) -> Floats | None:
        X = self._start(X)
        numbers = self._encode_labels(X, y)
        self._check_classes(numbers)
        folds = None if folds is None else self._check_folds(folds, numbers)
        foldings = [] if folds is None else [folds]
        if self.probability:
            n_folds = min(self.calibration_folds, len(X))
            foldings.append(deal_folds(numbers, n_folds, self.seed_))
        with self._threads():
            with counting() as counters:
                trainer, similarities = self._compare(X, numbers, gram)
            known = 0 if gram is None else len(X) * (len(X) + 1) // 2
            self.kernel_evaluations_ = known + counters.kernel_evaluations
            machines, scores = trainer.train(similarities, numbers, foldings)
        if isinstance(trainer, LandmarkTrainer):
            machines = replace(machines, supports=trainer.landmarks)
        self.sigmoids_: Floats | None = None
        if self.probability:
            wanted = [1] if len(self.classes_) == 2 else range(len(self.classes_))
            columns = zip(scores[-1].T, wanted, strict=True)
            self.sigmoids_ = np.array([fit_sigmoid(c, numbers == n) for c, n in columns])
        self._keep_supports(X, numbers, machines)
        if machines.stopped:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"KernelSVC: {machines.stopped} of {len(machines.pairs)} machines stopped after "
                f"max_iter={self.max_iter:,} steps; normalize the kernel, or choose a smaller C "
                "or a larger tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        return None if folds is None else scores[0]

    def _compare(self, X: Any, numbers: Numbers, gram: Any) -> tuple[Trainer, NDArray[Any]]:
        """Return the trainer, and the similarities that it reads."""
        self._check_gram(gram, len(X))
        parameters = (
            self.strategy,
            self._weigh_classes(numbers),
            isinstance(self.class_weight, str),
            float(self.C),
            float(self.tol),
            int(self.max_iter),
            resolve_jobs(self.n_jobs),
        )
        if self.n_landmarks is None:
            return Trainer(*parameters), compute_gram(self.kernel_, X) if gram is None else gram
        choose, n = SELECTIONS[self.selection], min(int(self.n_landmarks), len(X))
        landmarks = np.sort(choose(self.kernel_, X, numbers, n, self.seed_))
        similarities = compare_landmarks(self.kernel_, X, landmarks)
        return LandmarkTrainer(*parameters, landmarks), similarities

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted labels of structures, shape (n,)."""
        numbers = decide(self._scores(X), self.machines_, len(self.classes_))
        return self.classes_[numbers]

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the classes.

        Returns
        -------
        ndarray, shape (n, n_classes) or (n,)
            For two classes one score, positive for the second class. For ``"ovo"`` the votes for
            each class plus a tie-breaking term below one half, as in scikit-learn.
        """
        scores = class_scores(self._scores(X), self.machines_, len(self.classes_))
        return scores[:, 0] if len(self.classes_) == 2 else scores

    @available_if(gives_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities, shape (n, n_classes), in the order of ``classes_``."""
        self._check_is_fitted()
        if self.sigmoids_ is None:
            raise not_fitted("this KernelSVC was fitted without probability=True; fit it again")
        scores = class_scores(self._scores(X), self.machines_, len(self.classes_))
        return probabilities(scores, self.sigmoids_)

    def evidence(self, x: Any, k: int = 5, *, label: Any = None) -> Evidence:
        """Return the support structures with the largest contributions to a score.

        Parameters
        ----------
        x : structure
        k : int
            Maximum number of supporting and of opposing structures.
        label : label, optional
            The class to explain, by default the predicted one. With ``"ovo"``, contributions and
            scores are sums over the pairs with this class.
        """
        self._check_is_fitted()
        check_int("KernelSVC.evidence: k", k, 1)
        with self._threads():
            similarities = self.kernel_.cross(self._prepare_one(x), self.supports_)[0]
        coefficients = self.coefficients_.astype(np.float64)
        scores = product(similarities[None], coefficients.T) + self.intercepts_
        number = int(decide(scores, self.machines_, len(self.classes_))[0])
        if label is not None:
            number = self._class_number("label", label)
        sides = (self.machines_[:, 0] == number).astype(int) - (self.machines_[:, 1] == number)
        contributions = product(sides[None], coefficients)[0] * similarities
        supporting, opposing = (
            tuple(
                Support(
                    self.supports_[i],
                    self.classes_[self.support_classes_[i]].item(),
                    int(self.support_indices_[i]),
                    float(similarities[i]),
                    float(contributions[i]),
                )
                for i in some
            )
            for some in strongest(contributions, k)
        )
        return Evidence(
            self.classes_[number].item(),
            float((scores[0] * sides).sum()),
            float((self.intercepts_ * sides).sum()),
            supporting,
            opposing,
        )

    def contributions(
        self, X: Any, label: Any, *, against: Any = None, training: Any = None
    ) -> Contributions:
        """Return the contribution of each support structure to scores.

        The score is the margin of the class, minus that of ``against``; with two classes or
        ``"ovo"`` that of the machine between the two.

        Parameters
        ----------
        X : list of structures or batch, length n
        label : label, or list of labels of length n
            The class to explain.
        against : label, optional
            The class it is compared with. Without it, the score is that of :meth:`evidence`.
        training : None
            Not used; the support structures are stored.
        """
        self._check_is_fitted()
        X = self._prepare(X)
        sides = _sides(self._signs(len(X), label, against), self.machines_, against is not None)
        weights = product(sides, self.coefficients_.astype(np.float64))
        values = np.empty(weights.shape)
        with self._threads():
            for some, similarities in compare_rows(self.kernel_, X, self.supports_):
                np.multiply(weights[some], similarities, out=values[some])
        return Contributions(
            self.support_indices_, values, product(sides, self.intercepts_[:, None])[:, 0]
        )

    @property
    def n_support_(self) -> NDArray[np.int64]:
        """Number of support structures of each class, shape (n_classes,)."""
        self._check_is_fitted()
        return np.bincount(self.support_classes_, minlength=len(self.classes_))

    def _keep_supports(self, X: Any, numbers: Numbers, machines: Machines) -> None:
        self.supports_ = self._keep(X[machines.supports])
        self.support_indices_ = machines.supports
        self.support_classes_ = numbers[machines.supports]
        self.machines_ = machines.pairs
        # More digits than similarities have would only make files larger.
        self.coefficients_ = np.ascontiguousarray(machines.coefficients, self.kernel_._dtype(None))
        self.intercepts_ = machines.intercepts

    def _scores(self, X: Any) -> Floats:
        """Return the scores of all machines, shape (n, n_machines)."""
        self._check_is_fitted()
        X = self._prepare(X)
        scores = np.empty((len(X), len(self.machines_)))
        weights = np.ascontiguousarray(self.coefficients_.T, dtype=np.float64)
        n_rows = max(1, min(TILE, _SIMILARITIES_AT_ONCE // len(self.supports_)))
        with self._threads():
            rows = compare_rows(self.kernel_, X, self.supports_, n_rows=n_rows)
            for some, similarities in rows:
                scores[some] = product(similarities, weights) + self.intercepts_
        return scores

    # Checks.

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_number("C", 0, float("inf"), "(0, inf)")
        self._check_choice("strategy", ("ovr", "ovo"))
        self._check_count("n_landmarks", 1, none=True)
        self._check_choice("selection", tuple(SELECTIONS))
        self._check_choice("probability", (False, True))
        self._check_count("calibration_folds", 2)
        self._check_number("tol", 0, float("inf"), "(0, inf)")
        self._check_count("max_iter", 1)

    def _check_classes(self, numbers: Numbers) -> None:
        labels = self.classes_.tolist()
        if len(labels) == 1:
            raise KernelInputError(
                f"KernelSVC: every structure has the label {labels[0]!r}; give at least two classes"
            )
        rare = np.flatnonzero(np.bincount(numbers) < 2)
        if self.probability and len(rare):
            raise KernelInputError(
                "KernelSVC: probability=True needs at least 2 structures of each class, but "
                f"{labels[rare[0]]!r} has one; leave it out, or use probability=False"
            )

    def _check_folds(self, folds: Any, numbers: Numbers) -> NDArray[np.int64]:
        array = super()._check_folds(folds, numbers)
        if self.strategy == "ovo":
            for number, label in enumerate(self.classes_.tolist()):
                if len(np.unique(array[numbers == number])) < 2:
                    raise KernelInputError(
                        f"KernelSVC: the class {label!r} is in one fold only, so the other folds "
                        "cannot train a machine for it; use strategy='ovr'"
                    )
        return array

    def _check_gram(self, gram: Any, n: int) -> None:
        if gram is None:
            return
        if self.n_landmarks is not None:
            raise KernelInputError("KernelSVC: gram is not used with n_landmarks; leave it out")
        given = (gram.dtype, gram.shape) if isinstance(gram, np.ndarray) else (type(gram).__name__,)
        if given != (np.float32, (n, n)) or not gram.flags.c_contiguous:
            raise KernelInputError(
                f"KernelSVC: gram must be the matrix of {n:,} structures, a C-ordered array of "
                f"float32 of shape ({n}, {n}); got {' of shape '.join(map(str, given))}"
            )

    def _check_restored(self) -> None:
        super()._check_restored()
        n_classes = len(self.classes_)
        if len(self.supports_) == 0:
            raise ValueError("there must be support structures")
        if not np.array_equal(self.machines_, pairs_of_classes(self.strategy, n_classes)):
            raise ValueError("machines_ must be those of the strategy")
        if self.coefficients_.dtype != self.kernel_._dtype(None):
            raise ValueError("coefficients_ must be of the type of the kernel")
        if self.sigmoids_ is not None and len(self.sigmoids_) != (
            1 if n_classes == 2 else n_classes
        ):
            raise ValueError("sigmoids_ must be one for each class")

    def _n_training(self) -> int:
        return int(self.support_indices_[-1]) + 1


def _sides(signs: Floats, pairs: Numbers, between: bool) -> Floats:
    """Return the weight of each machine in scores that add classes with these signs.

    Parameters
    ----------
    signs : ndarray, shape (n, n_classes)
    pairs : ndarray, shape (n_machines, 2)
    between : bool
        Whether two classes are compared: then only the machine between them counts, if there is
        one.

    Examples
    --------
    >>> _sides(np.array([[0.0, 1.0, -1.0]]), pairs_of_classes("ovo", 3), True)
    array([[0., 0., 1.]])
    >>> _sides(np.array([[0.0, 1.0, -1.0]]), pairs_of_classes("ovr", 3), True)
    array([[ 0.,  1., -1.]])
    """
    first, rest = signs[:, pairs[:, 0]], pairs[:, 1] == REST
    second = np.where(rest, 0.0, signs[:, pairs[:, 1]])
    if not between:
        return np.asarray(first - second)
    return np.where(rest, first, np.where(first * second < 0, first, 0.0))


# Calibration.


def deal_folds(numbers: Numbers, n_folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each structure, stratified by class.

    Examples
    --------
    >>> folds = deal_folds(np.array([0, 0, 0, 0, 1, 1, 1, 1]), 2, seed=0)
    >>> np.bincount(folds[:4]).tolist(), np.bincount(folds[4:]).tolist()
    ([2, 2], [2, 2])
    """
    shuffled = child_generator(seed, 0).permutation(len(numbers))
    by_class = shuffled[np.argsort(numbers[shuffled], kind="stable")]
    folds = np.empty(len(numbers), dtype=np.int64)
    folds[by_class] = np.arange(len(numbers)) % n_folds
    return folds


def fit_sigmoid(scores: Floats, positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Return slope and offset of the maximum-likelihood ``expit(slope * score + offset)``.

    Targets are Platt's, which differ from 0 and 1, so that separable scores do not give certainty.
    The slope is not negative: a higher score never lowers the probability.

    Examples
    --------
    >>> slope, offset = fit_sigmoid(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1]) > 0)
    >>> bool(slope > 0), abs(round(offset, 6))
    (True, 0.0)
    """
    from scipy.optimize import minimize
    from scipy.special import expit, logit

    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    targets = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    level = float(logit(targets.mean()))

    # Sums of products, not products of vectors: threads of a BLAS could change the last bit.
    def loss(line: Floats) -> float:
        z = line[0] * scores + line[1]
        return float((np.logaddexp(0, z) - targets * z).mean())

    def gradient(line: Floats) -> Floats:
        rest = expit(line[0] * scores + line[1]) - targets
        return np.array([(rest * scores).mean(), rest.mean()])

    def curvature(line: Floats) -> Floats:
        p = expit(line[0] * scores + line[1])
        w = p * (1 - p)
        mixed = (w * scores).mean()
        return np.array([[(w * scores * scores).mean(), mixed], [mixed, w.mean()]])

    derivatives = {"jac": gradient, "hess": curvature}
    best = minimize(loss, [0.0, level], method="trust-exact", options={"gtol": 1e-9}, **derivatives)
    slope, offset = best.x.tolist()
    return (slope, offset) if slope > 0 else (0.0, level)


def probabilities(scores: Floats, sigmoids: Floats) -> Floats:
    """Return class probabilities, rows that sum to 1."""
    from scipy.special import expit

    likely = expit(scores * sigmoids[:, 0] + sigmoids[:, 1])
    if likely.shape[1] == 1:
        return np.concatenate([1 - likely, likely], axis=1)
    total = likely.sum(axis=1, keepdims=True)
    # Equal probabilities where all sigmoids underflow.
    shares: Floats = np.full(likely.shape, 1 / likely.shape[1])
    np.divide(likely, total, out=shares, where=total > 0)
    return shares
