"""Support vector machines over structures."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.metaestimators import available_if

from kernelwood.compute import counting, resolve_jobs
from kernelwood.errors import KernelInputError
from kernelwood.features import compare_rows, product
from kernelwood.kernels import TILE, Kernel
from kernelwood.learners.base import StructureClassifier, weights_of_classes
from kernelwood.learners.svc_calibration import deal_folds, fit_sigmoids, probabilities
from kernelwood.learners.svc_checks import check_array, check_classes, check_folds, check_memory
from kernelwood.learners.svc_evidence import Evidence, Support, strongest
from kernelwood.learners.svc_machines import (
    Machines,
    Trainer,
    class_scores,
    decide,
    pairs_of_classes,
)

__all__ = ["KernelSVC"]

Floats = NDArray[np.float64]
_SIMILARITIES_AT_ONCE = 2**23  # 64 MB in double


def _gives_probabilities(model: Any) -> bool:
    if not model.probability:
        raise AttributeError(
            "this KernelSVC gives no probabilities; make it with probability=True and fit it"
        )
    return True


class KernelSVC(StructureClassifier):
    r"""Support vector machine whose examples are structures.

    A machine scores a structure :math:`x` by its similarities to the support structures
    :math:`s_i`, those training structures that have a weight:

    .. math:: f(x) = \sum_i \beta_i\, k(x, s_i) + b .

    Fitting costs :math:`n(n+1)/2` kernel evaluations and the memory of the :math:`n \times n`
    Gram matrix, which all machines share. Afterwards only the support structures are kept.

    Parameters
    ----------
    kernel : Kernel
        What compares structures; positive semidefinite, and normalized preferably.
    C : float
        How much a training structure on the wrong side costs, above 0. Large values follow the
        training set more closely.
    class_weight : None, "balanced" or dict from label to weight
        Factors of ``C`` for the structures of a class; "balanced": inversely proportional to how
        many there are, of one class against the rest on either side.
    strategy : {"ovr", "ovo"}
        Of more than two classes: one machine for each class against the rest, or one for each
        pair of classes, whose votes are counted.
    probability : bool
        Learn what :meth:`predict_proba` needs, for the price of training ``calibration_folds``
        times more, without further kernel evaluations.
    calibration_folds : int
        Parts of the training set, each scored by machines trained on the others.
    tol : float
        When to stop training, above 0.
    max_iter : int
        Steps after which a machine stops anyway, with a warning.
    random_state : None, int, Generator or RandomState
        Seed of the calibration folds; nothing else is random.
    n_jobs : int, optional
        Threads; no result depends on them.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    supports_ : batch
        The support structures, of all machines together.
    support_indices_ : ndarray of int64, shape (n_supports,)
        Where they were in what the classifier was fitted on, ascending.
    support_classes_ : ndarray of int32, shape (n_supports,)
        The numbers of their classes.
    machines_ : ndarray of int32, shape (n_machines, 2)
        The class that positive scores of a machine speak for, and the other one; -1 for the rest.
    coefficients_ : ndarray, shape (n_machines, n_supports)
        Weights of the support structures, :math:`\beta`.
    intercepts_ : ndarray, shape (n_machines,)
        :math:`b` of each machine.
    sigmoids_ : ndarray, shape (n_classes, 2) or (1, 2) for two classes; or None
        Slope and offset, by which a score of :meth:`decision_function` becomes a probability.
    n_support_ : ndarray of int64, shape (n_classes,)
        How many support structures each class has.
    kernel_evaluations_ : int
        What fitting cost.
    seed_ : int
        The seed that was used.

    See Also
    --------
    HashForestClassifier : For more structures than a Gram matrix can hold.
    KernelNeighborsClassifier : Without training, by the most similar structures.

    Notes
    -----
    The machines are those of libsvm, as scikit-learn trains them. But for rounding, ``"ovo"``
    predicts what scikit-learn's ``SVC(kernel)`` does, and ``"ovr"`` what its
    ``OneVsRestClassifier(SVC(kernel))`` does.

    Probabilities are Platt's sigmoids of the scores, one for each class, divided by their sum; the
    likeliest class need not be the predicted one. They need two structures of each class at least;
    a class with fewer than ``calibration_folds`` is missing in some of the folds.

    References
    ----------
    C. Cortes, V. Vapnik: Support-vector networks. Machine Learning 20, 1995. C.-C. Chang, C.-J.
    Lin: LIBSVM: a library for support vector machines. ACM TIST 2, 2011. J. Platt: Probabilistic
    outputs for support vector machines. 1999.

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

    _fitted = (
        "kernel_", "seed_", "classes_", "supports_", "support_indices_", "support_classes_",
        "machines_", "coefficients_", "intercepts_", "sigmoids_", "kernel_evaluations_",
    )  # fmt: skip

    def __init__(
        self,
        kernel: Any,
        *,
        C: float = 1.0,
        class_weight: Any = None,
        strategy: str = "ovr",
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
        self.probability = probability
        self.calibration_folds = calibration_folds
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> KernelSVC:
        """Learn from structures and their labels.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : sequence of labels, length n, optional
            By default the labels of examples.
        """
        self._fit(X, y, None)
        return self

    def fit_held_out(self, X: Any, y: Any = None, folds: Any = None) -> Floats:
        """Fit, and return what machines trained on other folds say of each structure.

        No kernel evaluations are needed beyond those of ``fit``: all machines share its matrix.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : sequence of labels, length n, optional
            By default the labels of examples.
        folds : sequence of int, length n
            The fold of each structure, from 0 on; say, one for each group of documents.

        Returns
        -------
        ndarray, shape (n, n_classes) or (n,)
            Scores as :meth:`decision_function` returns them. A class that the other folds do not
            have scores the lowest of all.
        """
        scores = self._fit(X, y, folds)
        if scores is None:
            raise KernelInputError("KernelSVC.fit_held_out: give the fold of each structure")
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _fit(self, X: Any, y: Any, folds: Any) -> Floats | None:
        X = self._start(X)
        numbers = self._encode_labels(X, y)
        check_classes(self.classes_, numbers, 2 if self.probability else 1)
        folds = None if folds is None else check_folds(folds, numbers, self)
        trainer = self._trainer(numbers)
        counts = [] if folds is None else [int(folds.max()) + 1]
        counts += [min(self.calibration_folds, len(X))] if self.probability else []
        check_memory(len(X), max(counts, default=None), trainer.n_jobs)
        with self._threads():
            with counting() as counters:
                gram: Floats = self.kernel_.gram(X, dtype="float64")  # type: ignore[assignment]
            self.kernel_evaluations_ = counters.kernel_evaluations
            machines = trainer.train(gram, numbers)
            self.sigmoids_ = self._calibrate(trainer, gram, numbers) if self.probability else None
            scores = None if folds is None else trainer.scores_of_others(gram, numbers, folds)
        self._keep_supports(X, numbers, machines)
        if machines.stopped:
            warnings.warn(
                f"KernelSVC: {machines.stopped} of {len(machines.pairs)} machines stopped after "
                f"max_iter={self.max_iter:,} steps; normalize the kernel, or choose a smaller C "
                "or a larger tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels of structures, shape (n,)."""
        numbers = decide(self._scores(X), self.machines_, len(self.classes_))
        return self.classes_[numbers]

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of classes, from which labels are decided.

        Returns
        -------
        ndarray, shape (n, n_classes) or (n,)
            For two classes, one score: positive for the second. For ``"ovo"``, the votes for a
            class and a part below one half that breaks ties, as scikit-learn has it.
        """
        scores = class_scores(self._scores(X), self.machines_, len(self.classes_))
        return scores[:, 0] if len(self.classes_) == 2 else scores

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of classes, shape (n, n_classes), in the order of `classes_`."""
        self._check_is_fitted()
        if self.sigmoids_ is None:
            raise NotFittedError("this KernelSVC was fitted without probability=True; fit it again")
        scores = class_scores(self._scores(X), self.machines_, len(self.classes_))
        return probabilities(scores, self.sigmoids_)

    def evidence(self, x: Any, k: int = 5, *, label: Any = None) -> Evidence:
        """Return the support structures that say most about one structure.

        Parameters
        ----------
        x : structure
        k : int
            How many to return, for and against.
        label : label, optional
            Of the class to speak about, by default the predicted one. Of pairs of classes
            (``"ovo"``), contributions and scores are sums over the pairs with this class.
        """
        self._check_is_fitted()
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise KernelInputError(f"KernelSVC.evidence: k must be an int from 1 on, got {k!r}")
        with self._threads():
            similarities = self.kernel_.cross(self._prepare([x]), self.supports_)[0]
        scores = product(similarities[None], self.coefficients_.T) + self.intercepts_
        number = int(decide(scores, self.machines_, len(self.classes_))[0])
        if label is not None:
            number = self._number_of(label)
        sides = (self.machines_[:, 0] == number).astype(int) - (self.machines_[:, 1] == number)
        contributions = product(sides[None], self.coefficients_)[0] * similarities
        supporting, opposing = (
            tuple(self._support(i, similarities, contributions) for i in some)
            for some in strongest(contributions, k)
        )
        return Evidence(
            self.classes_[number].item(),
            float((scores[0] * sides).sum()),
            float((self.intercepts_ * sides).sum()),
            supporting,
            opposing,
        )

    @property
    def n_support_(self) -> NDArray[np.int64]:
        """How many support structures each class has, shape (n_classes,)."""
        self._check_is_fitted()
        return np.bincount(self.support_classes_, minlength=len(self.classes_))

    # Fitting.

    def _trainer(self, numbers: NDArray[np.int32]) -> Trainer:
        weights = weights_of_classes("KernelSVC", self.class_weight, self.classes_, numbers)
        return Trainer(
            strategy=self.strategy,
            C=float(self.C),
            tol=float(self.tol),
            max_iter=self.max_iter,
            weights=weights,
            balanced=self.class_weight is not None and not isinstance(self.class_weight, dict),
            n_jobs=resolve_jobs(self.n_jobs),
        )

    def _calibrate(self, trainer: Trainer, gram: Floats, numbers: NDArray[np.int32]) -> Floats:
        folds = deal_folds(numbers, min(self.calibration_folds, len(numbers)), self.seed_)
        scores = trainer.scores_of_others(gram, numbers, folds)
        return fit_sigmoids(scores, numbers, len(self.classes_))

    def _keep_supports(self, X: Any, numbers: NDArray[np.int32], machines: Machines) -> None:
        indices = np.flatnonzero(machines.coefficients.any(axis=0))
        self.supports_ = self._keep(X[indices])
        self.support_indices_ = indices.astype(np.int64)
        self.support_classes_ = numbers[indices]
        self.machines_ = machines.pairs
        self.coefficients_ = np.ascontiguousarray(machines.coefficients[:, indices])
        self.intercepts_ = machines.intercepts

    # Predicting.

    def _scores(self, X: Any) -> Floats:
        """Return the scores of all machines, shape (n, n_machines)."""
        self._check_is_fitted()
        X = self._prepare(X)
        scores = np.empty((len(X), len(self.machines_)))
        weights = np.ascontiguousarray(self.coefficients_.T)
        n_rows = max(1, min(TILE, _SIMILARITIES_AT_ONCE // len(self.supports_)))
        with self._threads():
            rows = compare_rows(self.kernel_, X, self.supports_, n_rows=n_rows)
            for some, similarities in rows:
                scores[some] = product(similarities, weights) + self.intercepts_
        return scores

    def _support(self, i: int, similarities: NDArray[Any], contributions: Floats) -> Support:
        return Support(
            self.supports_[i],
            self.classes_[self.support_classes_[i]].item(),
            int(self.support_indices_[i]),
            float(similarities[i]),
            float(contributions[i]),
        )

    def _number_of(self, label: Any) -> int:
        known: list[Any] = self.classes_.tolist()
        if label not in known:
            raise KernelInputError(
                f"KernelSVC.evidence: label is {label!r}, but the labels are {known[:20]}"
            )
        return known.index(label)

    # Checks.

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_number("C", 0, float("inf"), "(0, inf)")
        self._check_choice("strategy", ("ovr", "ovo"))
        self._check_choice("probability", (False, True))
        self._check_count("calibration_folds", 2)
        self._check_number("tol", 0, float("inf"), "(0, inf)")
        self._check_count("max_iter", 1)

    def _check_restored(self) -> None:
        super()._check_restored()
        if not isinstance(self.kernel_, Kernel):
            raise ValueError("kernel_ must be a kernel")
        if not isinstance(self.supports_, self.kernel_._accepts()):
            raise ValueError("supports_ must be a batch that the kernel reads")
        n, n_classes = len(self.supports_), len(self.classes_)
        pairs = pairs_of_classes(self.strategy, n_classes)
        check_array(self, "support_indices_", np.int64, (n,))
        check_array(self, "support_classes_", np.int32, (n,))
        check_array(self, "machines_", np.int32, pairs.shape)
        check_array(self, "coefficients_", np.float64, (len(pairs), n))
        check_array(self, "intercepts_", np.float64, (len(pairs),))
        if self.sigmoids_ is not None:
            check_array(self, "sigmoids_", np.float64, (1 if n_classes == 2 else n_classes, 2))
        if n == 0 or n_classes < 2:
            raise ValueError("there must be support structures of two classes at least")
        if (self.machines_ != pairs).any():
            raise ValueError("machines_ must be those of the strategy")
        if (np.diff(self.support_indices_) <= 0).any() or self.support_indices_[0] < 0:
            raise ValueError("support_indices_ must ascend")
        if (self.support_classes_ < 0).any() or (self.support_classes_ >= n_classes).any():
            raise ValueError("support_classes_ must be numbers of classes")
        if type(self.kernel_evaluations_) is not int or self.kernel_evaluations_ < 0:
            raise ValueError("kernel_evaluations_ must be a count")
