"""Neural networks over structures, on top of Nyström vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ArrayOf, Items, Schema
from kernelwood.compute import check_budget, counting, get_config, one_blas_thread
from kernelwood.errors import KernelInputError
from kernelwood.features import (
    KERNEL,
    SEED,
    SELECTIONS,
    Fitted,
    NystromEmbedder,
    compare_rows,
    product,
)
from kernelwood.learners.base import (
    CLASSES,
    EVALUATIONS,
    Contributions,
    Evidence,
    StructureClassifier,
    Support,
    strongest,
)
from kernelwood.parameters import check_int
from kernelwood.seeds import child_generator, resolve_seed, sklearn_seed

Floats = NDArray[np.float64]

_LARGEST = 1e100  # no product of two such numbers, and no sum of products, overflows


@dataclass(frozen=True)
class _Activation:
    """Value of an activation function, and its slope given input and output."""

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats, Floats], Floats]


def _logistic(z: Floats) -> Floats:
    from scipy.special import expit

    made: Floats = expit(z)
    return made


ACTIVATIONS = {
    "relu": _Activation(lambda z: np.maximum(z, 0.0), lambda z, out: (z > 0).astype(np.float64)),
    "tanh": _Activation(np.tanh, lambda z, out: 1.0 - out * out),
    "logistic": _Activation(_logistic, lambda z, out: out * (1.0 - out)),
    "identity": _Activation(lambda z: z, lambda z, out: np.ones_like(z)),
}


@dataclass(frozen=True)
class Layers:
    """Layers of a network: weights, shape (n_in, n_out), and intercepts, shape (n_out,), of each.

    The activation function is applied between layers; the last layer gives a score for each class.

    Examples
    --------
    >>> relu = Layers((np.array([[1.0, -1.0]]), np.eye(2)), (np.zeros(2), np.ones(2)), "relu")
    >>> relu.scores(np.array([[3.0]]))
    array([[4., 1.]])
    """

    weights: Sequence[Floats]
    intercepts: Sequence[Floats]
    activation: str

    def scores(self, vectors: Floats) -> Floats:
        """Return the scores of the classes, shape (n, n_classes); no row depends on others."""
        return self._inputs(vectors)[-1]

    def slopes(self, vectors: Floats, directions: Floats) -> Floats:
        """Return the gradients of weighted sums of scores with respect to input vectors.

        Parameters
        ----------
        vectors : ndarray, shape (n, n_in)
        directions : ndarray, shape (n, n_classes)
            Weights of the scores in the sum of each vector.
        """
        activation = ACTIVATIONS[self.activation]
        found = directions
        inputs = self._inputs(vectors)
        for number in range(len(self.weights) - 1, -1, -1):
            found = product(found, self.weights[number].T)
            if number:
                z = inputs[number - 1]
                found = found * activation.slope(z, activation.value(z))
        return found

    def check(self, shapes: Sequence[tuple[int, int]]) -> None:
        """Raise ValueError unless the layers have these shapes."""
        columns = [(n_out,) for _, n_out in shapes]
        for name, arrays, expected in (
            ("weights_", self.weights, shapes),
            ("intercepts_", self.intercepts, columns),
        ):
            if [array.shape for array in arrays] != list(expected):
                raise ValueError(f"{name} must be arrays of shapes {expected}")

    def _inputs(self, vectors: Floats) -> list[Floats]:
        """Return the inputs of the neurons of each layer, before their activation."""
        activation, values = ACTIVATIONS[self.activation], vectors
        inputs: list[Floats] = []
        for weights, intercepts in zip(self.weights, self.intercepts, strict=True):
            if inputs:
                values = activation.value(inputs[-1])
            inputs.append(product(_bounded(values), weights) + intercepts)
        return inputs


def layer_shapes(n_in: int, hidden: Sequence[int], n_classes: int) -> list[tuple[int, int]]:
    """Return the shape of the weights of each layer.

    Examples
    --------
    >>> layer_shapes(300, (200,), 6)
    [(300, 200), (200, 6)]
    """
    return list(pairwise([n_in, *hidden, n_classes]))


def softmax(scores: Floats) -> Floats:
    """Return probabilities proportional to the exponentials of scores.

    Examples
    --------
    >>> softmax(np.array([[0.0, 0.0], [1e300, 0.0]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    shares: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
    # Summed in order, so that no row depends on others.
    shares /= np.add.accumulate(shares, axis=1)[:, -1:]
    return shares


def _bounded(values: Floats) -> Floats:
    return np.clip(np.nan_to_num(values), -_LARGEST, _LARGEST)


Numbers = NDArray[np.int32]

# Few examples still get many steps in a few epochs.
_STEPS, _SMALLEST_BATCH, _LARGEST_BATCH = 25, 10, 200
_UNCHECKED = {"assume_finite": True, "skip_parameter_validation": True}
_LEAST_SPREAD, _TINY = 1e-6, 1e-90  # of vectors, relative to their length, and absolute


@dataclass(frozen=True)
class TrainedNetwork:
    """Layers for unscaled vectors, and the mean loss of each epoch."""

    weights: tuple[Floats, ...]
    intercepts: tuple[Floats, ...]
    losses: Floats


@dataclass(frozen=True)
class Trainer:
    """Trains networks; the attributes are parameters of :class:`KernelNetworkClassifier`.

    ``validation_fraction`` is None without early stopping.
    """

    hidden: tuple[int, ...]
    activation: str
    alpha: float
    learning_rate: float
    batch_size: int | None
    max_iter: int
    validation_fraction: float | None
    patience: int
    n_classes: int

    def train(
        self, vectors: Floats, numbers: Numbers, seed: int, report: Callable[[int], object]
    ) -> TrainedNetwork:
        """Return a network trained on vectors and their classes.

        Parameters
        ----------
        vectors : ndarray, shape (n, n_dimensions)
        numbers : ndarray of int32, shape (n,)
            Class numbers from 0 to ``n_classes - 1``, each at least once.
        seed : int
        report : callable
            Called with the number of completed epochs after each epoch.
        """
        from sklearn import config_context

        if self.n_classes == 1:
            shapes = layer_shapes(vectors.shape[1], self.hidden, self.n_classes)
            constant = tuple(np.zeros(shape) for shape in shapes)
            return TrainedNetwork(constant, tuple(np.zeros(n) for _, n in shapes), np.zeros(0))
        center = vectors.mean(axis=0)
        scale = _scale(vectors, center)
        # Single precision suffices for random steps, and takes half the time.
        scaled = ((vectors - center) / scale).astype(np.float32)
        held = np.zeros(len(numbers), dtype=bool)
        if self.validation_fraction is not None:
            held = held_out_part(numbers, self.validation_fraction, seed)
            # The bits of BLAS depend on the number of threads.
        with one_blas_thread(), config_context(**_UNCHECKED):
            weights, intercepts, losses = self._epochs(scaled, numbers, held, seed, report)
        first = weights[0] / scale
        intercepts[0] = intercepts[0] - product(center[None], first)[0]
        return TrainedNetwork((first, *weights[1:]), tuple(intercepts), np.array(losses))

    def _epochs(
        self,
        vectors: NDArray[np.float32],
        numbers: Numbers,
        held: NDArray[np.bool_],
        seed: int,
        report: Callable[[int], object],
    ) -> tuple[list[Floats], list[Floats], list[float]]:
        """Return weights and intercepts of the best or last epoch, and the losses of all epochs."""
        X, y = vectors[~held], numbers[~held]
        model, classes = self._model(len(X), seed), np.arange(self.n_classes)
        best, best_score, since = None, -1.0, 0
        for epoch in range(self.max_iter):
            _one_epoch(model, X, y, classes)
            report(epoch + 1)
            if not held.any():
                continue
            score, since = float(model.score(vectors[held], numbers[held])), since + 1
            if score > best_score:
                best, best_score, since = self._copy(model), score, 0
            if since >= self.patience:
                break
        return *(best or self._copy(model)), [float(loss) for loss in model.loss_curve_]

    def _model(self, n: int, seed: int) -> Any:
        from sklearn.neural_network import MLPClassifier

        wanted = self.batch_size or max(_SMALLEST_BATCH, min(n // _STEPS, _LARGEST_BATCH))
        batch_size = min(wanted, n)
        return MLPClassifier(
            self.hidden,
            activation=self.activation,
            alpha=self.alpha * batch_size,  # scikit-learn divides it by the batch size
            batch_size=batch_size,
            learning_rate_init=self.learning_rate,
            random_state=sklearn_seed(child_generator(seed, 0)),
        )

    def _copy(self, model: Any) -> tuple[list[Floats], list[Floats]]:
        """Return the layers of a model, with one output for each class, also of two."""
        weights = [np.array(array, dtype=np.float64) for array in model.coefs_]
        intercepts = [np.array(array, dtype=np.float64) for array in model.intercepts_]
        if self.n_classes == 2:
            # The logistic function of one score is the softmax of 0 and this score.
            weights[-1] = np.column_stack([np.zeros(len(weights[-1])), weights[-1]])
            intercepts[-1] = np.append(0.0, intercepts[-1])
        return weights, intercepts


def held_out_part(numbers: Numbers, fraction: float, seed: int) -> NDArray[np.bool_]:
    """Return a mask of examples to hold out: a fraction of each class, rounded down.

    Examples
    --------
    >>> held = held_out_part(np.array([0] * 20 + [1] * 5, dtype=np.int32), 0.1, seed=0)
    >>> int(held[:20].sum()), int(held[20:].sum())
    (2, 0)
    """
    shuffled = child_generator(seed, 1).permutation(len(numbers))
    held = np.zeros(len(numbers), dtype=bool)
    for number in range(int(numbers.max()) + 1):
        members = shuffled[numbers[shuffled] == number]
        held[members[: int(fraction * len(members))]] = True
    return held


def _scale(vectors: Floats, center: Floats) -> float:
    """Return the root of the mean squared deviation from the center, over all dimensions.

    One scale for all dimensions keeps their relative variance. Deviations due to rounding alone are
    not amplified.
    """
    spread = float(np.sqrt(np.square(vectors - center).mean()))
    return max(spread, _LEAST_SPREAD * float(np.sqrt(np.square(vectors).mean())), _TINY)


def _one_epoch(model: Any, X: NDArray[Any], y: Numbers, classes: NDArray[Any]) -> None:
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            model.partial_fit(X, y, classes=classes)
    except ValueError as failure:
        raise KernelInputError(
            f"KernelNetworkClassifier: training failed: {failure}; normalize the kernel, "
            "or choose a smaller learning_rate"
        ) from failure


_BYTES_OF_VECTORS = 20  # a number in double, centered, and in single precision
_SETS, _TRAINING = 1, 2  # what the random numbers of a child generator are for


class KernelNetworkClassifier(StructureClassifier):
    r"""Feed-forward network whose first layer is the Nyström projection.

    A structure is compared with ``n_landmarks`` landmarks; with its similarities :math:`c` to them
    and the similarities :math:`W = U S U^\top` among them, the input of the network is the vector
    :math:`c\,U S^{-1/2}` (:class:`NystromEmbedder`). Hidden layers and a softmax follow. With
    several networks, each with landmarks of its own, the probabilities are averaged. Training on
    :math:`N` structures takes about :math:`N M` kernel evaluations for each set of :math:`M`
    landmarks, a prediction :math:`M`.

    Parameters
    ----------
    kernel : Kernel
        Positive semidefinite kernel, preferably normalized.
    n_landmarks : int
        Number of landmarks of each set.
    n_sets : int
        Number of networks, each with a set of landmarks of its own.
    selection : {"uniform", "kmeans++", "stratified", "balanced", "leverage"}
        Landmark selection; see :class:`NystromEmbedder`.
    hidden : tuple of int
        Number of neurons of each hidden layer; ``()`` is logistic regression.
    activation : {"relu", "tanh", "logistic", "identity"}
        Activation function of the hidden layers.
    alpha : float
        Weight of the L2 penalty.
    learning_rate : float
        Step size of Adam.
    batch_size : int, optional
        Number of structures in a step; by default 1/25 of the training set, at least 10 and at most
        200.
    max_iter : int
        Number of epochs.
    early_stopping : bool
        Whether to stop when the accuracy on held-out structures no longer improves, and to keep the
        best epoch.
    validation_fraction : float
        Fraction of each class held out for ``early_stopping``.
    patience : int
        Number of epochs without improvement after which ``early_stopping`` stops.
    random_state : None, int, Generator or RandomState
        Seed of landmarks and networks. The first sets do not depend on ``n_sets``.
    n_jobs : int, optional
        Number of threads for comparisons; no result depends on it.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    embedders_ : tuple of NystromEmbedder
        The embedder of each set.
    weights_ : tuple of tuples of ndarrays, shapes (n_in, n_out)
        Weights of each layer of each set, the last with a column for each class.
    intercepts_ : tuple of tuples of ndarrays, shapes (n_out,)
        Intercepts of each layer of each set.
    loss_curve_ : tuple of ndarrays, shapes (n_epochs,)
        Mean loss in each epoch of each set.
    landmark_classes_ : tuple of ndarrays of int32, shapes (n_landmarks,)
        Class numbers of the landmarks of each set.
    kernel_evaluations_ : int
        Number of kernel evaluations of ``fit``.
    seed_ : int
        The seed that was used.

    See Also
    --------
    NystromEmbedder : The vectors alone, for other models.
    KernelSVC : Compares with all structures.
    HashForestClassifier : Decision trees on hashcodes.

    Notes
    -----
    Networks are trained by scikit-learn's ``MLPClassifier`` on vectors that are centered and
    divided by one number, so that their mean square is 1; the first layer includes both steps.
    Dimensions keep the variance that the kernel gives them.

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

    _fitted: ClassVar[Schema] = {
        "kernel_": KERNEL,
        "seed_": SEED,
        "classes_": CLASSES,
        "embedders_": Items(Fitted(NystromEmbedder), "n_sets", tuple),
        "weights_": Items(
            Items(ArrayOf("float64", None, None, least=-_LARGEST, most=_LARGEST), kind=tuple),
            "n_sets",
            tuple,
        ),
        "intercepts_": Items(
            Items(ArrayOf("float64", None, least=-_LARGEST, most=_LARGEST), kind=tuple),
            "n_sets",
            tuple,
        ),
        "loss_curve_": Items(ArrayOf("float64", None), "n_sets", tuple),
        "landmark_classes_": Items(
            ArrayOf("int32", None, least=0, below="classes_"), "n_sets", tuple
        ),
        "kernel_evaluations_": EVALUATIONS,
    }

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

        Progress is reported for the comparisons, then for the epochs of each network.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : sequence of labels, length n, optional
            By default the labels of examples.
        """
        structures = self._start(X)
        numbers = self._encode_labels(structures, y)
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
        """Return the most probable label of each structure; the first of equally probable ones."""
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.argmax(axis=1)])

    def evidence(self, x: Any, k: int = 5, *, label: Any = None) -> Evidence:
        r"""Return the landmarks with the largest contributions to a score.

        The score of a class is its input :math:`z(c)` to the softmax, less the mean of all classes.
        The contribution of the landmark with the similarity :math:`c_j` is that of the linearized
        network, :math:`c_j\, \partial z / \partial c_j`; the intercept is the score less all
        contributions. Scores and contributions are averaged over the networks.

        Parameters
        ----------
        x : structure
        k : int
            Maximum number of supporting and of opposing landmarks.
        label : label, optional
            The class to explain, by default the predicted one.
        """
        self._check_is_fitted()
        check_int("KernelNetworkClassifier.evidence: k", k, 1)
        batch = self._prepare_one(x)
        label = self.predict(batch)[0] if label is None else label
        number, n_classes = self._class_number("label", label), len(self.classes_)
        direction = np.full(n_classes, -1.0 / n_classes)
        direction[number] += 1.0
        score = 0.0
        found: dict[int, Support] = {}
        with self._threads():
            for (embedder, layers), classes in zip(
                self._networks(), self.landmark_classes_, strict=True
            ):
                similarities = embedder.similarities(batch)
                vector = product(similarities, embedder.projection_)
                slopes = layers.slopes(vector, direction[None])
                by_landmark = product(slopes, embedder.projection_.T)[0]
                contributions = similarities[0] * by_landmark
                own_score = float((layers.scores(vector)[0] * direction).sum())
                score += own_score / self.n_sets
                for i, index in enumerate(embedder.landmark_indices_.tolist()):
                    # Sets can share landmarks.
                    before = found[index].contribution if index in found else 0.0
                    found[index] = Support(
                        embedder.landmarks_[i],
                        self.classes_[classes[i]].item(),
                        index,
                        float(similarities[0, i]),
                        before + float(contributions[i]) / self.n_sets,
                    )
        supports = list(found.values())
        sums = np.array([support.contribution for support in supports])
        supporting, opposing = (tuple(supports[i] for i in some) for some in strongest(sums, k))
        intercept = score - float(np.add.accumulate(sums)[-1])
        return Evidence(self.classes_[number].item(), score, intercept, supporting, opposing)

    def contributions(
        self, X: Any, label: Any, *, against: Any = None, training: Any = None
    ) -> Contributions:
        r"""Return the contribution of each landmark to scores.

        The score is the input of the class to the softmax, minus that of ``against`` (or minus the
        mean of all classes), averaged over the networks. Without hidden layers contributions are
        exact, and intercepts are those of the networks. With hidden layers they are those of the
        network linearized at the structure, :math:`c_j\, \partial z / \partial c_j`, and the
        intercept is the rest of the score.

        Parameters
        ----------
        X : list of structures or batch, length n
        label : label, or list of labels of length n
            The class to explain.
        against : label, optional
            The class it is compared with.
        training : None
            Not used; the landmarks are stored.
        """
        self._check_is_fitted()
        X = self._prepare(X)
        directions = self._signs(len(X), label, against)
        if against is None:
            directions -= 1.0 / len(self.classes_)
        indices = np.unique(np.concatenate([e.landmark_indices_ for e in self.embedders_]))
        values, scores = np.zeros((len(X), len(indices))), np.zeros(len(X))
        with self._threads():
            for embedder, layers in self._networks():
                similarities = embedder.similarities(X)
                vectors = product(similarities, embedder.projection_)
                slopes = layers.slopes(vectors, directions)
                columns = np.searchsorted(indices, embedder.landmark_indices_)  # sets share some
                values[:, columns] += product(slopes, embedder.projection_.T) * similarities
                scores += (layers.scores(vectors) * directions).sum(axis=1)
        values /= len(self.embedders_)
        scores /= len(self.embedders_)
        return Contributions(indices, values, scores - values.sum(axis=1))

    # Fitting.

    def _embedder(self, number: int) -> NystromEmbedder:
        """Return the embedder of a set; the first has the seed of the classifier."""
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
        """Raise MemoryBudgetError if the vectors and their copies do not fit in memory."""
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
                "KernelNetworkClassifier: hidden must be the number of neurons of each hidden "
                f"layer, such as (200,) or (), got {sizes!r}"
            )

    def _check_restored(self) -> None:
        super()._check_restored()
        for number in range(self.n_sets):
            self._check_set(number)

    def _check_set(self, number: int) -> None:
        embedder = self.embedders_[number]
        if len(self.landmark_classes_[number]) != len(embedder.landmarks_):
            raise ValueError("landmark_classes_ must have a class for each landmark")
        if len(self.loss_curve_[number]) > self.max_iter:
            raise ValueError("loss_curve_ must be losses of epochs")
        layers = Layers(self.weights_[number], self.intercepts_[number], self.activation)
        layers.check(layer_shapes(embedder.rank_, self.hidden, len(self.classes_)))

    def _n_training(self) -> int:
        return max(int(embedder.landmark_indices_.max()) for embedder in self.embedders_) + 1


def _child_seed(seed: int, *path: int) -> int:
    return resolve_seed(child_generator(seed, *path))
