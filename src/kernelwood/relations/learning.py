"""Training a classifier of candidates, with scores of held-out documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ExampleBatch
from kernelwood.errors import KernelInputError, MemoryBudgetError
from kernelwood.evaluate import group_splits
from kernelwood.kernels import Kernel
from kernelwood.learners import KernelRidgeClassifier, KernelSVC, add_gram, compute_gram

_TRIAL = 5000  # candidates of a trial
_RARE = 100  # candidates of the rarer kind in a trial, if there are as many
_SMALLEST = 1e-4  # probability whose logarithm is taken: votes of few trees may be 0

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def assign_folds(
    documents: Sequence[str], sentences: Sequence[int], y: Sequence[str], n_splits: int, seed: int
) -> Indices:
    """Return the fold of each candidate; a document is in one fold.

    In a corpus of one document, folds consist of sentences.

    Examples
    --------
    >>> folds = assign_folds(["a", "a", "b"], [0, 0, 1], ["none", "x", "x"], 3, seed=0)
    >>> bool(folds[0] == folds[1] != folds[2])
    True
    """
    largest = max(Counter(y).values())
    for groups in (list(documents), list(sentences)):
        n_folds = min(n_splits, len(set(groups)))
        if n_folds < 2:
            continue
        folds = np.empty(len(y), dtype=np.int64)
        # Classes of fewer examples than folds cannot be stratified.
        classes = None if largest < n_folds else y
        for fold, (_, test) in enumerate(
            group_splits(groups, classes, n_splits=n_folds, random_state=seed)
        ):
            folds[test] = fold
        return np.unique(folds, return_inverse=True)[1]  # without empty folds
    raise KernelInputError(
        "all candidates are in one sentence, so none can be held out to calibrate scores; "
        "give more sentences"
    )


def trial_rows(
    documents: Sequence[str], folds: Indices, negative: NDArray[np.bool_], seed: int
) -> Indices:
    """Return candidates to try a setting on: about 5,000 of a large corpus, of whole documents.

    If some documents of that size are in one fold, or have candidates of one kind only, they are
    single candidates of all documents.

    Parameters
    ----------
    documents : sequence of str, length n
    folds : ndarray of int, shape (n,)
    negative : ndarray of bool, shape (n,)
        Which candidates are not relations.
    seed : int

    Examples
    --------
    >>> folds, negative = np.arange(8) % 2, np.arange(8) < 6
    >>> trial_rows(list("aabbccdd"), folds, negative, seed=0).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    random = np.random.default_rng(seed)
    names, numbers = np.unique(np.asarray(documents), return_inverse=True)
    order = random.permutation(len(names))
    sizes = np.bincount(numbers)[order]
    n_taken = int(np.searchsorted(np.cumsum(sizes), _TRIAL)) + 1
    rows = np.flatnonzero(np.isin(numbers, order[:n_taken]))
    columns = (folds[rows], negative[rows])
    if len(rows) <= 2 * _TRIAL and all(len(np.unique(column)) > 1 for column in columns):
        return rows
    everything = np.arange(len(documents))
    if len(everything) <= 2 * _TRIAL:
        return everything
    # Both kinds in proportion, but not too few of the rarer one.
    some = []
    for kind in (negative, ~negative):
        members = everything[kind]
        wanted = max(_TRIAL * len(members) // len(everything), min(len(members), _RARE))
        some.append(random.permutation(members)[:wanted])
    return np.sort(np.concatenate(some))


def fit_and_hold_out(
    learner: Any, X: Any, y: NDArray[Any], folds: Indices | None, gram: Any = None
) -> Any:
    """Fit a classifier; return the class scores of candidates by classifiers of the other folds.

    Parameters
    ----------
    learner : classifier of kernelwood
        In the end it is fitted on all candidates.
    X : batch of examples, length n
    y : ndarray of str, shape (n,)
    folds : ndarray, shape (n,), or None
        None to hold out nothing.
    gram : ndarray of float32, shape (n, n), optional
        The Gram matrix, for a classifier that `reads_gram`.

    Returns
    -------
    ndarray, shape (n, n_classes), or None
    """
    with _memory_advice(learner):
        return _fit_and_hold_out(learner, X, y, folds, {} if gram is None else {"gram": gram})


def reads_gram(learner: Any) -> bool:
    """Return whether a classifier is trained on the Gram matrix in single precision.

    Examples
    --------
    >>> reads_gram(KernelSVC(None)), reads_gram(KernelSVC(None, n_landmarks=9))
    (True, False)
    """
    return isinstance(learner, KernelSVC) and learner.n_landmarks is None


class Comparison:
    """Compares a kernel with a sum of it and another one, on some candidates.

    Of a classifier that is trained on the Gram matrix, the matrix of all candidates is computed
    first. The comparison reads it, and so does the classifier, afterwards.

    Parameters
    ----------
    learner : classifier of kernelwood
        Learner that is fitted on all candidates after the comparison.
    machine : KernelSVC
        Machine for the comparison, with the first kernel.
    added : Kernel
        The other kernel, in single precision, as the first one.
    X : batch of examples, length n
    rows : ndarray of int64
        Candidates that are compared on, ascending.
    """

    def __init__(
        self, learner: Any, machine: KernelSVC, added: Kernel, X: ExampleBatch, rows: Indices
    ) -> None:
        self._machine, self._added, self._X = machine, added, X
        self._some = X[rows]
        self._whole: Any = None
        with _memory_advice(learner):
            if reads_gram(learner):
                self._whole = compute_gram(machine.kernel, X)
                self._gram = self._whole[np.ix_(rows, rows)]
            else:
                self._gram = compute_gram(machine.kernel, self._some)

    def held_out(self, y: NDArray[Any], folds: Indices) -> Floats:
        """Return class scores of the compared candidates by machines of the other folds."""
        scores = self._machine.held_out(self._some, y, folds, gram=self._gram)
        return _columns(scores, len(np.unique(y)))

    def add(self) -> None:
        """Add the other kernel."""
        add_gram(self._added, self._some, self._gram)

    def gram(self, *, added: bool) -> Any:
        """Return the Gram matrix of all candidates; None if the classifier does not read it.

        Parameters
        ----------
        added : bool
            Whether the other kernel is added.
        """
        del self._gram
        if self._whole is not None and added:
            add_gram(self._added, self._X, self._whole)
        return self._whole


@contextmanager
def _memory_advice(learner: Any) -> Iterator[None]:
    """Tell which recipes need less memory than a classifier."""
    try:
        yield
    except MemoryBudgetError as failure:
        problem = str(failure).splitlines()[0]
        nystrom = "recipe nystrom, which compares candidates with at most 3,000 of them"
        if isinstance(learner, KernelRidgeClassifier):
            advice = f"Choose the recipe svm, which can use a temporary file,\n    or the {nystrom}"
        elif isinstance(learner, KernelSVC):
            folder = "a folder on a larger disk: kw.config_context(temp_dir=...)"
            smaller = "recipe landmark-ridge, which stores no similarities"
            recipe = nystrom if learner.n_landmarks is None else smaller
            advice = f"Choose the {recipe},\n    or {folder}"
        else:
            raise
        raise MemoryBudgetError(f"{problem}\n    {advice}") from failure


def _fit_and_hold_out(
    learner: Any, X: Any, y: NDArray[Any], folds: Indices | None, matrix: Mapping[str, Any]
) -> Any:
    if folds is None:
        learner.fit(X, y)
        return None
    if hasattr(learner, "fit_held_out"):
        scores = learner.fit_held_out(X, y, folds, **matrix)
        return _columns(scores, len(learner.classes_))
    from sklearn.base import clone

    classes = np.unique(y)
    # A class that the other folds do not have has the lowest score.
    scores = np.full((len(y), len(classes)), np.log(_SMALLEST))
    for fold in range(int(folds.max()) + 1):
        test = folds == fold
        known = np.unique(y[~test])
        columns = np.searchsorted(classes, known)
        if len(known) == 1:
            scores[np.ix_(test, columns)] = 0.0
            continue
        part = clone(learner).fit(X[~test], y[~test])
        scores[np.ix_(test, columns)] = class_scores(part, X[test])
    learner.fit(X, y)
    return scores


def class_scores(learner: Any, X: Any) -> Floats:
    """Return the scores of all classes, shape (n, n_classes): margins, or log-probabilities.

    With two classes and one margin, the first class has the score 0.
    """
    if hasattr(learner, "decision_function"):
        return _columns(learner.decision_function(X), len(learner.classes_))
    probabilities = np.asarray(learner.predict_proba(X), dtype=np.float64)
    return np.log(np.maximum(probabilities, _SMALLEST))


def _columns(scores: Floats, n_classes: int) -> Floats:
    if scores.ndim == 2 and scores.shape[1] == n_classes:
        return scores
    return np.stack([np.zeros(len(scores)), scores.reshape(-1)], axis=1)
