"""Entropy, total correlation and mutual information as plain functions."""

from __future__ import annotations

from typing import Any

from kernelwood.information.checks import check_bits, check_labels
from kernelwood.information.classes import explain_classes
from kernelwood.information.explained import explain
from kernelwood.information.search import N_LATENT, N_RESTARTS

__all__ = ["entropy", "mutual_information", "total_correlation"]


def entropy(
    codes: Any,
    *,
    n_latent: int = N_LATENT,
    n_restarts: int = N_RESTARTS,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float:
    r"""Return an estimate of the entropy of codes, in nats.

    .. math:: \bar H(c) = \sum_l H(c_l) - TC(c; z)

    Parameters
    ----------
    codes : array of 0 and 1, shape (n, n_bits)
        Codes of examples.
    n_latent, n_restarts, random_state, n_jobs
        As :func:`explain` takes them.

    Returns
    -------
    float
        No less than the entropy of the sample of codes, in which each is as frequent as it is.

    See Also
    --------
    explain : Which latent variables explain what, and how it is done.

    Examples
    --------
    >>> import numpy as np
    >>> bit = np.tile([0, 1], 50)
    >>> round(entropy(np.stack([bit, bit, bit], axis=1)), 3)
    0.693
    """
    return explain(
        codes,
        n_latent=n_latent,
        n_restarts=n_restarts,
        random_state=random_state,
        n_jobs=n_jobs,
    ).entropy


def total_correlation(
    codes: Any,
    *,
    n_latent: int = N_LATENT,
    n_restarts: int = N_RESTARTS,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float:
    r"""Return how much the bits of codes repeat of each other, in nats: a lower bound.

    Parameters
    ----------
    codes : array of 0 and 1, shape (n, n_bits)
        Codes of examples.
    n_latent, n_restarts, random_state, n_jobs
        As :func:`explain` takes them.

    Returns
    -------
    float
        :math:`TC(c; z)`, at least 0 and at most the total correlation of the sample.

    See Also
    --------
    explain : Which latent variables explain what, and how it is done.

    Notes
    -----
    Binary variables cannot explain everything: of three bits where the third tells whether the
    first two differ, :math:`TC = \log 2`, but no variable that tells of one bit is simple. And
    in a sample of few examples, bits seem to repeat more than they do.

    Examples
    --------
    >>> import numpy as np
    >>> bit = np.tile([0, 1], 50)
    >>> round(total_correlation(np.stack([bit, bit, 1 - bit], axis=1)) / float(np.log(2)), 3)
    2.0
    """
    return explain(
        codes,
        n_latent=n_latent,
        n_restarts=n_restarts,
        random_state=random_state,
        n_jobs=n_jobs,
    ).total_correlation


def mutual_information(
    codes: Any,
    y: Any,
    unlabelled: Any = None,
    *,
    n_latent: int = N_LATENT,
    n_restarts: int = N_RESTARTS,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float:
    r"""Return an estimate of how much codes tell of the class, in nats.

    .. math:: \bar I(c : y) = \bar H(c) - \sum_y p(y)\,\bar H(c \mid y)

    Parameters
    ----------
    codes : array of 0 and 1, shape (n, n_bits)
        Codes of examples whose class is known.
    y : array, shape (n,)
        Their labels, of any kind that can be sorted.
    unlabelled : array of 0 and 1, shape (n_more, n_bits), optional
        Codes of examples whose class is not known. They make :math:`\bar H(c)` more reliable,
        provided that they are of the same kind, and leave :math:`\bar H(c \mid y)` as it is.
    n_latent, n_restarts, random_state, n_jobs
        As :func:`explain` takes them.

    Returns
    -------
    float

    Notes
    -----
    The estimate serves to *compare* codes of the same number of bits on the same examples. It is
    no bound: the mutual information is at most the entropy of the labels, :math:`\log 2` for two
    classes, and the estimate of a thousand bits can be twenty nats, because two upper bounds are
    subtracted. It is too high on average, and by more for more bits, more classes and fewer
    examples: even of labels that have nothing to do with the codes, each bit seems to know about
    :math:`(n_{classes} - 1) / 2n` nats, and the bits of each class, being fewer, seem to
    repeat more of each other. A thousand bits of 300 examples know 5 to 10 nats of two random
    classes. To tell how much of a value is due to that, permute the labels. Part of it cancels
    between the two terms; the more examples without a label there are, the less.

    Examples
    --------
    The class tells whether two bits differ; neither bit knows anything of it.

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
        unlabelled,
        n_latent=n_latent,
        n_restarts=n_restarts,
        random_state=random_state,
        n_jobs=n_jobs,
    ).mutual_information
