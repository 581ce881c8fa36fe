"""Synthetic paths with labels that indicate the class, and labels that are noise."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.seeds import child_generator, resolve_seed
from kernelwood.structures import Sequence


class PlantedPaths(NamedTuple):
    """Result of :func:`planted_paths`."""

    paths: list[Sequence]
    classes: NDArray[np.int64]
    signal: tuple[str, ...]
    noise: tuple[str, ...]


def planted_paths(
    n: int,
    *,
    n_classes: int = 2,
    n_signal: int = 10,
    n_noise: int = 20,
    length: tuple[int, int] = (1, 8),
    n_signal_words: int = 4,
    n_noise_words: int = 2,
    purity: float = 0.95,
    bias: float = 0.0,
    random_state: Any = 0,
) -> PlantedPaths:
    """Return paths in which words at some edge labels indicate the class, and others are noise.

    Elements with a signal label have a word of their class; elements with a noise label have any of
    a few words, independent of the class. Noise elements are frequent and match often, so that a
    kernel without gates finds neighbors by noise.

    Parameters
    ----------
    n : int
        Number of paths.
    n_classes : int
        Number of classes.
    n_signal, n_noise : int
        Number of edge labels of each kind, ``s0``, ``s1``, … and ``n0``, ``n1``, ….
    length : (int, int)
        Number of signal and of noise elements of a path.
    n_signal_words : int
        Number of words of each class; more words make structures less similar.
    n_noise_words : int
        Number of words at a noise label; fewer words make more noise.
    purity : float
        Fraction of signal elements with a word of their own class.
    bias : float
        Fraction of noise elements with a word of their class. Such noise helps between distant
        structures and harms between neighbors, which share signal words. A small random sample has
        only distant structures.
    random_state : None, int, Generator or RandomState
        Seed.

    Examples
    --------
    >>> paths, classes, signal, noise = planted_paths(100, length=(1, 2))
    >>> len(paths), signal[:2], noise[:2]
    (100, ('s0', 's1'), ('n0', 'n1'))
    """
    if (
        not 0 <= purity <= 1
        or n_classes < 2
        or min(n, n_signal, n_noise, n_signal_words, n_noise_words) < 1
    ):
        raise KernelInputError(
            "planted_paths needs two classes, at least one path, label and word of each kind, and "
            f"purity and bias from 0 to 1; got n={n}, n_classes={n_classes}, n_signal={n_signal}, "
            f"n_noise={n_noise}, n_signal_words={n_signal_words}, n_noise_words={n_noise_words}, "
            f"purity={purity}, bias={bias}"
        )
    random = child_generator(resolve_seed(random_state))
    classes = random.integers(n_classes, size=n)
    paths = []
    for own in classes.tolist():
        labels, words = [], []
        for label in random.integers(n_signal, size=length[0]).tolist():
            shown = own if random.random() < purity else int(random.integers(n_classes))
            labels.append(f"s{label}")
            words.append(f"c{shown}.{random.integers(n_signal_words)}")
        for label in random.integers(n_noise, size=length[1]).tolist():
            labels.append(f"n{label}")
            biased = random.random() < bias
            words.append(f"w{own % n_noise_words if biased else random.integers(n_noise_words)}")
        order = random.permutation(len(labels)).tolist()
        paths.append(Sequence((labels[i], words[i]) for i in order))
    signal = tuple(f"s{i}" for i in range(n_signal))
    return PlantedPaths(paths, classes, signal, tuple(f"n{i}" for i in range(n_noise)))
