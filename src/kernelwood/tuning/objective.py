"""How much hashcodes tell of the classes, as a function of gates and kernel parameters.

Hundreds of bits cannot be explained entirely by a few latent variables, and a sample of a few
hundred codes looks more regular than what it is drawn from. Both make entropies wrong by more than
one gate changes them. Three things keep these errors from deciding:

- The codes of a class are compared with those of *groups*, structures drawn at random, as many as
  the class has: what is wrong with the entropy of the one is wrong with that of the other.
- The same latent variables explain the codes of all classes and groups. If a search were made for
  each of them, their optima would differ by more than what is sought.
- For the same reason no search is made from state to state. A latent variable is the question
  which of two structures a code resembles more, and these two stay. What a few of them explain is
  a lower bound, and so is the mean over several sets of them, which depends less on the draw.

Everything random is drawn once. So the objective is a function, with one value for each state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.features import draw_bits, draw_sample, make_bits, n_words, unpack
from kernelwood.information import Search, random_start
from kernelwood.kernels import Kernel
from kernelwood.parameters import Parameterized
from kernelwood.seeds import child_generator
from kernelwood.tuning.problem import GateProblem, Open

__all__ = ["CodeSettings", "InformationObjective", "draw_groups", "information_above_chance"]

Bits = NDArray[np.uint8]
Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

# What the random numbers of a child generator are for.
_SAMPLE, _REFERENCES, _SUBSETS, _GROUPS, _LATENT = 5, 6, 7, 8, 9
# Sets of latent variables, each with a division into groups of its own. With one set, a kernel
# that sees fewer kinds of structures is too often taken for better.
_SETS, _SET_SIZE = 8, 8


@dataclass(frozen=True)
class CodeSettings:
    """What codes are made of, and of how many structures; see :class:`GateLearner`."""

    n_samples: int
    hash_method: str
    n_references: int
    n_bits: int
    subset_size: int


class InformationObjective:
    r"""The mutual information of hashcodes and classes beyond what chance has, in nats.

    .. math:: \sum_y p(y) \left(\bar H(c \mid g_y) - \bar H(c \mid y)\right)

    with classes :math:`y` and groups :math:`g_y`: as many structures, but of any class. If there
    are structures without a class, groups are drawn from these, too.

    Parameters
    ----------
    problem : GateProblem
    settings : CodeSettings
        Of ``n_samples`` structures with a class the codes are looked at, of every class one at
        least, and of as many without.
    unlabelled : batch, optional
        Structures without a class.
    """

    def __init__(self, problem: GateProblem, settings: CodeSettings, unlabelled: Any) -> None:
        self._problem, self._method = problem, settings.hash_method
        self._unlabelled: Any = None
        n = len(problem.X)
        sample = draw_sample(self._generator(_SAMPLE), problem.classes, min(settings.n_samples, n))
        self._sample, self._classes = problem.X[sample], problem.classes[sample]
        if unlabelled is not None:
            drawn = self._generator(_SAMPLE, 1).permutation(len(unlabelled))
            self._unlabelled = unlabelled[np.sort(drawn[: settings.n_samples])]
        n_more = 0 if self._unlabelled is None else len(self._unlabelled)
        self._groups = [
            draw_groups(self._generator(_GROUPS, i), self._classes, n_more) for i in range(_SETS)
        ]
        n_references = min(settings.n_references, n)
        if n_references < 2 * settings.subset_size:
            raise KernelInputError(
                f"GateLearner: two subsets of subset_size={settings.subset_size} need "
                f"{2 * settings.subset_size} references, there are {n_references}"
            )
        references = self._generator(_REFERENCES).permutation(n)[:n_references]
        self._references = problem.X[np.sort(references)]
        self._subsets = self._draw_subsets(settings)
        self._latent = self._seed(_LATENT)

    def value(self, is_open: Open, parameters: Mapping[str, Any]) -> float:
        """Return the objective of gates and kernel parameters."""
        bits = self.bits(is_open, parameters)
        questions = random_start(bits, _SETS * _SET_SIZE, self._latent, 0)
        sets = np.split(questions, _SETS, axis=1)
        return information_above_chance(bits, self._classes, self._groups, sets)

    def bits(self, is_open: Open, parameters: Mapping[str, Any]) -> Bits:
        """Return codes, a byte for each bit: of structures with a class, then of those without."""
        # Copies: parameters inside a listed value may be set, too.
        own = {
            name: value.clone() if isinstance(value, Parameterized) else value
            for name, value in parameters.items()
        }
        kernel = self._problem.kernel.clone().set_params(**own)
        kernel = self._problem.kernel_with(is_open, kernel)
        block = make_bits(self._method, self._gram(kernel), self._subsets)
        codes = []
        for batch in (self._sample, self._unlabelled):
            if batch is not None:
                similarities = kernel.cross(batch, self._references, dtype="float64")
                packed = np.zeros((len(batch), n_words(block.n_bits)), dtype=np.uint64)
                block.fill(similarities, 0, packed)
                codes.append(unpack(packed, block.n_bits))
        return np.concatenate(codes)

    def _draw_subsets(self, settings: CodeSettings) -> NDArray[np.int32]:
        """Draw the references of each bit, so that the kernel as it is has no idle bits."""
        return draw_bits(
            self._method,
            self._gram(self._problem.kernel_with(self._problem.start())),
            seed=self._seed(_SUBSETS),
            first_bit=0,
            n_bits=settings.n_bits,
            subset_size=settings.subset_size,
        ).subsets

    def _gram(self, kernel: Kernel) -> Floats:
        return np.asarray(kernel.gram(self._references, dtype="float64"))

    def _seed(self, purpose: int) -> int:
        return int(self._generator(purpose).integers(2**63))

    def _generator(self, *path: int) -> np.random.Generator:
        return child_generator(self._problem.seed, self._problem.run, *path)


def draw_groups(random: np.random.Generator, classes: NDArray[Any], n_more: int) -> list[Numbers]:
    """Draw groups at random that are as large as the classes.

    Parameters
    ----------
    random : Generator
    classes : ndarray of int, shape (n,)
    n_more : int
        Number of structures without a class, which follow those with one.

    Returns
    -------
    list of ndarrays of int64
        A group for each class that occurs, by rising number; no structure is in two of them.

    Examples
    --------
    >>> draw_groups(np.random.default_rng(0), np.array([0, 0, 1]), n_more=1)
    [array([0, 2]), array([1])]
    """
    ends = np.cumsum(np.unique(classes, return_counts=True)[1])
    order = random.permutation(len(classes) + n_more)
    return [np.sort(group) for group in np.split(order, ends)[: len(ends)]]


def information_above_chance(
    bits: Bits, classes: NDArray[Any], groups: list[list[Numbers]], latent: list[Floats]
) -> float:
    """Return how much more entropy groups have than classes, in nats, by given latent variables.

    Parameters
    ----------
    bits : ndarray of uint8, shape (n, n_bits)
        The codes of structures with a class, then of those without.
    classes : ndarray of int
        Class numbers.
    groups : list of lists of ndarrays of int64
        By :func:`draw_groups`, for each set of latent variables.
    latent : list of ndarrays of float64, shape (n, n_latent)
        Sets of latent variables: of each the probability to be 1. The mean over them is returned.

    Examples
    --------
    >>> classes = np.tile([0, 1], 50)
    >>> bits = classes[:, None].astype(np.uint8)
    >>> groups = draw_groups(np.random.default_rng(0), classes, 0)
    >>> round(information_above_chance(bits, classes, [groups], [np.full((100, 1), 0.5)]), 1)
    0.7
    """
    present, sizes = np.unique(classes, return_counts=True)
    members = [np.flatnonzero(classes == number) for number in present]
    parts = [(each, some) for each, own in zip(latent, groups, strict=True) for some in own]
    parts += [(each, some) for each in latent for some in members]
    found = Search(1, 1, 0, 0.0, 0, None).run(
        [bits[some] for _, some in parts], [each[some] for each, some in parts]
    )
    entropies = np.array([part.sum_of_entropies - part.total_correlation for part in found])
    of_groups, of_classes = entropies.reshape(2, len(latent), len(present))
    gains = (of_groups - of_classes).mean(axis=0)
    return float((gains * sizes).sum() / len(classes))
