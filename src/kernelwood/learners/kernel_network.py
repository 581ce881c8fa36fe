"""Networks over structures, on top of Nyström vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import check_budget, counting, get_config
from kernelwood.errors import KernelInputError
from kernelwood.features import (
    SELECTIONS,
    NystromEmbedder,
    check_array,
    check_positive,
    compare_rows,
)
from kernelwood.learners.base import StructureClassifier
from kernelwood.learners.network_evidence import landmark_evidence
from kernelwood.learners.network_layers import ACTIVATIONS, Layers, layer_shapes, softmax
from kernelwood.learners.network_training import Trainer
from kernelwood.learners.svc_evidence import Evidence
from kernelwood.seeds import child_generator, resolve_seed

__all__ = ["KernelNetworkClassifier"]

Floats = NDArray[np.float64]
_BYTES_OF_VECTORS = 20  # a number in double, centered, and in half the precision
_SETS, _TRAINING = 1, 2  # what the random numbers of a child generator are for


class KernelNetworkClassifier(StructureClassifier):
    r"""Feed-forward network whose first layer is the Nyström projection.

    A structure is compared with ``n_landmarks`` others; with its similarities :math:`c` to them and
    the similarities :math:`W = U S U^\top` among them, the network gets the vector
    :math:`c\,U S^{-1/2}` (:class:`NystromEmbedder`). Hidden layers and a softmax follow. Of several
    networks, each with landmarks of its own, the probabilities are averaged. Training on :math:`N`
    structures takes about :math:`N M` kernel evaluations for each set of :math:`M` landmarks, a
    prediction :math:`M`.

    Parameters
    ----------
    kernel : Kernel
        What compares structures; positive semidefinite, and normalized preferably.
    n_landmarks : int
        Landmarks of each set.
    n_sets : int
        Networks, each with a set of landmarks of its own. More cost more.
    selection : {"uniform", "kmeans++", "stratified", "leverage"}
        How to choose landmarks; see :class:`NystromEmbedder`.
    hidden : tuple of int
        Neurons of each hidden layer; ``()`` for none, which is logistic regression.
    activation : {"relu", "tanh", "logistic", "identity"}
        What neurons of hidden layers do.
    alpha : float
        Penalty of half the squared weights, beside the mean loss. Large values keep a network
        simple.
    learning_rate : float
        Step size of Adam.
    batch_size : int, optional
        Structures for each step; by default a twenty-fifth of them, but 10 to 200.
    max_iter : int
        Epochs: how often every structure is learned from.
    early_stopping : bool
        Hold out a part of the structures, stop when they are no longer predicted better, and keep
        the network as it was at its best.
    validation_fraction : float
        Share of each class that is held out for ``early_stopping``.
    patience : int
        Epochs without improvement after which ``early_stopping`` stops.
    random_state : None, int, Generator or RandomState
        Seed of landmarks and networks. More sets of the same seed begin with the same ones.
    n_jobs : int, optional
        Threads for comparing; no result depends on them.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    embedders_ : tuple of NystromEmbedder
        The landmarks of each set, and how they make vectors.
    weights_ : tuple of tuples of ndarrays, shapes (n_in, n_out)
        Of each set the weights of each layer, the last with a column for each class.
    intercepts_ : tuple of tuples of ndarrays, shapes (n_out,)
        What is added to each neuron.
    loss_curve_ : tuple of ndarrays, shapes (n_epochs,)
        Of each set the mean loss in each epoch.
    landmark_classes_ : tuple of ndarrays of int32, shapes (n_landmarks,)
        Of each set the numbers of the classes of the landmarks.
    kernel_evaluations_ : int
        What fitting cost.
    seed_ : int
        The seed that was used.

    See Also
    --------
    NystromEmbedder : The vectors alone, for other models.
    KernelSVC : Compares with all structures.
    HashForestClassifier : Trees on bits of similarities.

    Notes
    -----
    Networks are trained by scikit-learn's ``MLPClassifier`` on vectors that are centered and
    divided by one number, so that their mean square is 1; both become part of the first layer.
    Dimensions keep the importance that the kernel gives them.

    References
    ----------
    D. Croce, S. Filice, G. Castellucci, R. Basili: Deep learning in semantic kernel spaces. ACL
    2017. D. Kingma, J. Ba: Adam: a method for stochastic optimization. ICLR 2015.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_questions
    >>> questions = load_questions()
    >>> trees, labels = [q.view("tree") for q in questions], [q.label for q in questions]
    >>> network = kw.KernelNetworkClassifier(
    ...     kw.PartialTreeKernel(), n_landmarks=60, random_state=0
    ... ).fit(trees[:90], labels[:90])
    >>> network.predict_proba(trees[90:]).shape
    (30, 6)
    >>> network.predict(trees[90:93]).tolist(), labels[90:93]
    (['DESC', 'ENTY', 'ABBR'], ['DESC', 'ENTY', 'ABBR'])
    """

    _fitted = (
        "kernel_", "seed_", "classes_", "embedders_", "weights_", "intercepts_", "loss_curve_",
        "landmark_classes_", "kernel_evaluations_",
    )  # fmt: skip

    def __init__(
        self,
        kernel: Any,
        *,
        n_landmarks: int = 300,
        n_sets: int = 1,
        selection: str = "uniform",
        hidden: Any = (200,),
        activation: str = "relu",
        alpha: float = 0.005,
        learning_rate: float = 0.001,
        batch_size: int | None = None,
        max_iter: int = 50,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        patience: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.n_sets = n_sets
        self.selection = selection
        self.hidden = hidden
        self.activation = activation
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> KernelNetworkClassifier:
        """Choose landmarks, and train a network for each set of them.

        Progress is that of the comparisons, and then, for each network, the epochs.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : sequence of labels, length n, optional
            By default the labels of examples.
        """
        structures = self._start(X)
        numbers = self._encode_labels(X, y)
        self._check_memory(len(structures))
        trainer = self._trainer()
        report = get_config().progress or (lambda done, total: None)
        embedders, networks = [], []
        with self._threads(), counting() as counters:
            for number in range(int(self.n_sets)):
                embedder = self._embedder(number).fit(structures, numbers)
                networks.append(
                    trainer.train(
                        embedder.transform(structures),
                        numbers,
                        seed=_child_seed(self.seed_, _TRAINING, number),
                        report=lambda done: report(done, trainer.max_iter),
                    )
                )
                embedders.append(embedder)
        self.kernel_evaluations_ = counters.kernel_evaluations
        self.embedders_ = tuple(embedders)
        self.landmark_classes_ = tuple(numbers[e.landmark_indices_] for e in embedders)
        self.weights_ = tuple(network.weights for network in networks)
        self.intercepts_ = tuple(network.intercepts for network in networks)
        self.loss_curve_ = tuple(network.losses for network in networks)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, the mean of the networks, shape (n, n_classes)."""
        self._check_is_fitted()
        X = self._prepare(X)
        total = np.zeros((len(X), len(self.classes_)))
        with self._threads():
            for embedder, layers in self._networks():
                rows = compare_rows(embedder.kernel_, X, embedder.landmarks_, dtype="float64")
                for some, similarities in rows:
                    total[some] += softmax(layers.scores(embedder.embed(similarities)))
        return total / len(self.embedders_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable label of each structure, the first of equal ones."""
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.argmax(axis=1)])

    def evidence(self, x: Any, k: int = 5, *, label: Any = None) -> Evidence:
        r"""Return the landmarks that say most about one structure.

        A class has the score :math:`z(c)` that goes into the softmax, less the mean of all classes.
        Near one structure the network is nearly linear, and the landmark with the similarity
        :math:`c_j` contributes :math:`c_j\, \partial z / \partial c_j`. Whatever contributions do
        not sum up to is the intercept. Of several networks it is the mean.

        Parameters
        ----------
        x : structure
        k : int
            How many to return, for and against.
        label : label, optional
            Of the class to speak about, by default the predicted one.
        """
        self._check_is_fitted()
        check_positive("KernelNetworkClassifier.evidence", "k", k)
        batch = self._prepare([x])
        number = self._number_of(self.predict(batch)[0] if label is None else label)
        labels = [self.classes_[numbers] for numbers in self.landmark_classes_]
        with self._threads():
            return landmark_evidence(
                batch, self._networks(), labels, classes=self.classes_, number=number, k=int(k)
            )

    # Fitting.

    def _embedder(self, number: int) -> NystromEmbedder:
        """Return the embedder of a set; the first is that of the same seed."""
        seed = self.seed_ if number == 0 else _child_seed(self.seed_, _SETS, number)
        return NystromEmbedder(
            self.kernel_,
            n_landmarks=self.n_landmarks,
            selection=self.selection,
            random_state=seed,
        )

    def _trainer(self) -> Trainer:
        return Trainer(
            hidden=tuple(int(n) for n in self.hidden),
            activation=self.activation,
            alpha=float(self.alpha),
            learning_rate=float(self.learning_rate),
            batch_size=None if self.batch_size is None else int(self.batch_size),
            max_iter=int(self.max_iter),
            validation_fraction=float(self.validation_fraction) if self.early_stopping else None,
            patience=int(self.patience),
            n_classes=len(self.classes_),
        )

    def _check_memory(self, n: int) -> None:
        """Raise MemoryBudgetError if the vectors are too many, with the copy to train on."""
        check_budget(
            _BYTES_OF_VECTORS * n * min(int(self.n_landmarks), n),
            f"KernelNetworkClassifier: the vectors of {n:,} structures",
            "Choose fewer landmarks, or fit on fewer structures.",
        )

    # Predicting.

    def _networks(self) -> Iterator[tuple[NystromEmbedder, Layers]]:
        sets = zip(self.embedders_, self.weights_, self.intercepts_, strict=True)
        for embedder, weights, intercepts in sets:
            yield embedder, Layers(weights, intercepts, self.activation)

    def _number_of(self, label: Any) -> int:
        known: list[Any] = self.classes_.tolist()
        if label not in known:
            raise KernelInputError(
                f"KernelNetworkClassifier.evidence: label is {label!r}, but the labels are "
                f"{known[:20]}"
            )
        return known.index(label)

    # Checks.

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("n_landmarks", "n_sets", "max_iter", "patience"):
            self._check_count(name, 1)
        self._check_count("batch_size", 1, none=True)
        self._check_choice("selection", tuple(SELECTIONS))
        self._check_choice("activation", tuple(ACTIVATIONS))
        self._check_choice("early_stopping", (False, True))
        self._check_number("alpha", 0, float("inf"), "[0, inf)")
        self._check_number("learning_rate", 0, float("inf"), "(0, inf)")
        self._check_number("validation_fraction", 0, 1, "(0, 1)")
        self._check_hidden()

    def _check_hidden(self) -> None:
        sizes = self.hidden
        if not isinstance(sizes, (tuple, list)) or not all(
            isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 1 for n in sizes
        ):
            raise KernelInputError(
                "KernelNetworkClassifier: hidden must be the numbers of neurons of each hidden "
                f"layer, such as (200,) or (), got {sizes!r}"
            )

    def _check_restored(self) -> None:
        super()._check_restored()
        for name in ("embedders_", "weights_", "intercepts_", "loss_curve_", "landmark_classes_"):
            value = getattr(self, name)
            if not isinstance(value, tuple) or len(value) != self.n_sets:
                raise ValueError(f"{name} must be {self.n_sets}, one for each set")
        if type(self.kernel_evaluations_) is not int or self.kernel_evaluations_ < 0:
            raise ValueError("kernel_evaluations_ must be a count")
        for number in range(self.n_sets):
            self._check_set(number)

    def _check_set(self, number: int) -> None:
        embedder, classes = self.embedders_[number], self.landmark_classes_[number]
        if type(embedder) is not NystromEmbedder:
            raise ValueError("embedders_ must be of the kind NystromEmbedder")
        if embedder.kernel_._accepts() is not self.kernel_._accepts():
            raise ValueError("embedders_ and kernel_ must be for the same structures")
        check_array("landmark_classes_", classes, np.int32, (len(embedder.landmarks_),))
        if ((classes < 0) | (classes >= len(self.classes_))).any():
            raise ValueError("landmark_classes_ must be numbers of classes")
        losses = self.loss_curve_[number]
        if not isinstance(losses, np.ndarray) or losses.ndim != 1 or len(losses) > self.max_iter:
            raise ValueError("loss_curve_ must be losses of epochs")
        check_array("loss_curve_", losses, np.float64, losses.shape)
        layers = Layers(self.weights_[number], self.intercepts_[number], self.activation)
        layers.check(layer_shapes(embedder.rank_, self.hidden, len(self.classes_)))


def _child_seed(seed: int, *path: int) -> int:
    return resolve_seed(child_generator(seed, *path))
