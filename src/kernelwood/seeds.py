"""Random numbers that depend only on a seed and on their purpose."""

from __future__ import annotations

from typing import cast

import numpy as np

from kernelwood.errors import KernelInputError

__all__ = ["LARGEST_SEED", "check_seed", "child_generator", "resolve_seed", "sklearn_seed"]

LARGEST_SEED = 2**63 - 1


def resolve_seed(random_state: object) -> int:
    """Return the seed meant by ``random_state``: None for a fresh one, an int, or a generator.

    Examples
    --------
    >>> resolve_seed(7)
    7
    >>> resolve_seed(np.random.default_rng(7)) == resolve_seed(np.random.default_rng(7))
    True
    """
    check_seed(random_state)
    if random_state is None:
        entropy = np.random.SeedSequence().entropy
        return int(str(entropy)) % (LARGEST_SEED + 1)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(LARGEST_SEED, endpoint=True))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return int(cast(int, random_state))


def check_seed(random_state: object) -> None:
    """Raise KernelInputError unless ``random_state`` is one that :func:`resolve_seed` takes."""
    if random_state is None or isinstance(
        random_state, (np.random.Generator, np.random.RandomState)
    ):
        return
    whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if not (whole and 0 <= int(cast(int, random_state)) <= LARGEST_SEED):
        raise KernelInputError(
            "random_state must be None, an int from 0 to 2**63 - 1, or a numpy generator, "
            f"got {random_state!r}"
        )


def sklearn_seed(source: int | np.random.Generator) -> int:
    """Return a seed of at most 32 bits, as scikit-learn requires.

    Parameters
    ----------
    source : int or Generator
        A seed, which is returned unchanged if it is below 2**32, or a generator to draw one from.

    Examples
    --------
    >>> sklearn_seed(7), 0 <= sklearn_seed(LARGEST_SEED) < 2**32
    (7, True)
    """
    if isinstance(source, np.random.Generator):
        return int(source.integers(2**31))
    return source if source < 2**32 else sklearn_seed(child_generator(source))


def child_generator(seed: int, *path: int) -> np.random.Generator:
    """Return the generator of one piece of work, such as the bit with the number ``path``.

    Streams of different paths are independent, so that pieces can be made in any order, by any
    thread, and more of them can be added later.

    Examples
    --------
    >>> a, b = child_generator(0, 1, 5), child_generator(0, 1, 5)
    >>> bool(a.integers(1000) == b.integers(1000))
    True
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=path)))
