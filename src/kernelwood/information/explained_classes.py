"""Codes with classes: explanations of all examples and of each class, and mutual information."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.compute import Runner, StopFlag
from kernelwood.errors import KernelInputError
from kernelwood.information.explained import (
    MAX_ITERATIONS,
    N_LATENT,
    N_RESTARTS,
    TOLERANCE,
    Bits,
    Explained,
    Search,
    check_bits,
    check_columns,
    check_labels,
    check_numbers,
    check_replacements,
    explained,
    lanes,
)
from kernelwood.parameters import check_int

Floats = NDArray[np.float64]

_SWAP_COST = 15  # of a bit of an example in one iteration, in pairs of nodes


@dataclass(frozen=True, eq=False, repr=False)
class ExplainedClasses:
    """Explanations of all codes and of the codes of each class, by :func:`explain_classes`.

    Attributes
    ----------
    mutual_information : float
        Estimate of the mutual information of codes and classes, in nats.
    whole : Explained
        All examples: those with labels, then those without.
    classes : tuple of Explained
        The examples of each class, by rising class number.
    priors : ndarray of float64, shape (n_classes,)
        Fraction of each class among the labeled examples.
    numbers : ndarray of int64, shape (n_labeled,)
        Class number of each labeled example.
    """

    mutual_information: float
    whole: Explained
    classes: tuple[Explained, ...]
    priors: Floats
    numbers: NDArray[np.int64]

    def __repr__(self) -> str:
        return (
            f"ExplainedClasses({len(self.whole.bits)} examples, {len(self.classes)} classes, "
            f"mutual_information={self.mutual_information:.3f})"
        )

    def after_swaps(
        self,
        columns: Any,
        replacements: Any,
        *,
        n_iterations: int = 2,
        n_jobs: int | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> Floats:
        """Return the mutual information after each of several replacements of some bits.

        Each replacement is evaluated by a few iterations that start from this explanation. The
        value is that of ``explain_classes`` on the changed codes with ``start=self``,
        ``max_iterations=n_iterations`` and ``tolerance=0``, to the last bit, and much faster.

        Parameters
        ----------
        columns : array of int, shape (k,)
            Numbers of the bits to replace.
        replacements : array of 0 and 1, shape (n_swaps, n, k)
            New bits of all examples, in the order of ``whole.bits``.
        n_iterations : int
            Number of iterations for each replacement. With 0 the responsibilities do not change,
            which is several times as fast and ranks replacements of a few bits about the same.
        n_jobs : int, optional
            Number of threads; no value depends on it.
        progress : callable, optional
            Called as ``progress(done, n_swaps)``.

        Returns
        -------
        ndarray of float64, shape (n_swaps,)

        Examples
        --------
        >>> import numpy as np
        >>> label = np.tile([0, 1], 20)
        >>> noise = np.repeat([0, 1, 1, 0], 10)
        >>> fit = explain_classes(np.stack([noise, noise], axis=1), label)
        >>> better = np.stack([noise, label])[:, :, np.newaxis]
        >>> [abs(round(value, 3)) for value in fit.after_swaps([0], better).tolist()]
        [0.0, 0.693]
        """
        n, n_bits = self.whole.bits.shape
        chosen = check_columns(columns, n_bits)
        bits = check_replacements(replacements, n, len(chosen))
        check_int("n_iterations", n_iterations, 0)
        n_iterations = int(n_iterations)
        parts = [(self.whole, np.arange(n)), *zip(self.classes, self._examples(), strict=True)]
        swaps = [_native.CodeSwaps(part.bits, part.responsibilities, chosen) for part, _ in parts]
        entropies = np.zeros((len(parts), len(bits)))

        def work(begin: int, end: int, stop: StopFlag) -> None:
            for swap, (_, examples), out in zip(swaps, parts, entropies, strict=True):
                swap.entropies(bits, examples, n_iterations, begin, end, out, stop)

        runner = Runner(n_jobs, len(bits), progress)
        if progress is None:
            runner = runner.quiet()
        width = lanes(self.whole.shares.shape[1])
        cost = _SWAP_COST * 2 * n * n_bits * (n_iterations + 1) * width
        runner.run(work, len(bits), evaluations=len(bits), cost=cost * len(bits))
        values: Floats = _difference(entropies[0], list(entropies[1:]), self.priors)
        return values

    def _examples(self) -> list[NDArray[np.int64]]:
        return [np.flatnonzero(self.numbers == number) for number in np.unique(self.numbers)]


def explain_classes(
    codes: Any,
    y_numbers: Any,
    unlabeled: Any = None,
    *,
    n_latent: int = N_LATENT,
    n_restarts: int = N_RESTARTS,
    max_iterations: int = MAX_ITERATIONS,
    tolerance: float = TOLERANCE,
    random_state: Any = 0,
    n_jobs: int | None = None,
    start: ExplainedClasses | None = None,
) -> ExplainedClasses:
    r"""Explain the codes of all examples and of each class, and estimate their mutual information.

    .. math:: \bar I(c : y) = \bar H(c) - \sum_y p(y)\,\bar H(c \mid y)

    Parameters
    ----------
    codes : array of 0 and 1, shape (n_labeled, n_bits)
        Codes of examples with known classes.
    y_numbers : array of int, shape (n_labeled,)
        Their class numbers.
    unlabeled : array of 0 and 1, shape (n_more, n_bits), optional
        Codes of more examples, for :math:`\bar H(c)`.
    n_latent, n_restarts, max_iterations, tolerance, random_state, n_jobs
        See :func:`explain`; they apply to all examples and to each class.
    start : ExplainedClasses, optional
        Start from the explanation of other codes of the same examples, without restarts.

    Returns
    -------
    ExplainedClasses

    See Also
    --------
    mutual_information : The estimate alone, for labels of any type.

    Examples
    --------
    >>> import numpy as np
    >>> label = np.tile([0, 1], 20)
    >>> explain_classes(label[:, np.newaxis], label)
    ExplainedClasses(40 examples, 2 classes, mutual_information=0.693)
    """
    bits = check_bits(codes)
    numbers = check_numbers(y_numbers, len(bits))
    search = Search(n_latent, n_restarts, max_iterations, tolerance, random_state, n_jobs)
    everything = bits
    if unlabeled is not None:
        more = check_bits(unlabeled, "unlabeled", n_bits=bits.shape[1])
        everything = np.concatenate([bits, more])
    present, sizes = np.unique(numbers, return_counts=True)
    parts = [everything, *(bits[numbers == number] for number in present)]
    found = search.run(parts, _starts(start, everything, numbers))
    whole, *classes = (explained(*pair) for pair in zip(parts, found, strict=True))
    priors = sizes / len(bits)
    within = [np.float64(part.entropy) for part in classes]
    information = _difference(np.float64(whole.entropy), within, priors)
    return ExplainedClasses(float(information), whole, tuple(classes), priors, numbers)


def _starts(
    start: ExplainedClasses | None, everything: Bits, numbers: NDArray[np.int64]
) -> list[Floats] | None:
    if start is None:
        return None
    if len(start.whole.bits) != len(everything) or not np.array_equal(start.numbers, numbers):
        raise KernelInputError(
            "start must explain examples with the same class numbers, and as many unlabeled ones"
        )
    return [part.responsibilities for part in (start.whole, *start.classes)]


def _difference(whole: Any, classes: Sequence[Any], priors: Floats) -> Any:
    """Return H(c) - sum_y p(y) H(c | y) of single values or of arrays, with the same bits."""
    within = 0.0
    for prior, entropy in zip(priors.tolist(), classes, strict=True):
        within = within + prior * entropy
    return whole - within


def mutual_information(
    codes: Any,
    y: Any,
    unlabeled: Any = None,
    *,
    n_latent: int = N_LATENT,
    n_restarts: int = N_RESTARTS,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float:
    r"""Return an estimate of the mutual information of codes and classes, in nats.

    .. math:: \bar I(c : y) = \bar H(c) - \sum_y p(y)\,\bar H(c \mid y)

    Parameters
    ----------
    codes : array of 0 and 1, shape (n, n_bits)
        Codes of examples with known classes.
    y : array, shape (n,)
        Their labels, of any sortable type.
    unlabeled : array of 0 and 1, shape (n_more, n_bits), optional
        Codes of examples without a known class. They make :math:`\bar H(c)` more reliable if they
        have the same distribution, and do not change :math:`\bar H(c \mid y)`.
    n_latent, n_restarts, random_state, n_jobs
        See :func:`explain`.

    Returns
    -------
    float

    Notes
    -----
    The estimate serves to *compare* codes with the same number of bits on the same examples. It is
    not a bound, because two upper bounds are subtracted: for two classes the mutual information is
    at most :math:`\log 2`, but the estimate for a thousand bits can be twenty nats. It is biased
    upwards, more for more bits, more classes and fewer examples: even for random labels, each bit
    contributes about :math:`(n_{classes} - 1) / 2n` nats, and the smaller samples of the classes
    look more redundant. For a thousand bits of 300 examples and two random classes it is 5 to 10
    nats. Permute the labels to measure the bias. Unlabeled examples reduce the part of the bias
    that cancels between the two terms.

    Examples
    --------
    The class is whether two bits differ; neither bit alone is informative about it.

    >>> import numpy as np
    >>> first, second = np.repeat([0, 1], 20), np.tile([0, 1], 20)
    >>> codes = np.stack([first, second], axis=1)
    >>> round(mutual_information(codes, np.where(first == second, "same", "different")), 3)
    0.693
    """
    bits = check_bits(codes)
    return explain_classes(
        bits,
        check_labels(y, len(bits)),
        unlabeled,
        n_latent=n_latent,
        n_restarts=n_restarts,
        random_state=random_state,
        n_jobs=n_jobs,
    ).mutual_information
