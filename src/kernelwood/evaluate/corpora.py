"""Learning from one corpus, testing on another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from kernelwood.arrays import OneDimensional, batch
from kernelwood.errors import KernelInputError
from kernelwood.evaluate.inputs import labels_of
from kernelwood.evaluate.labels import show

__all__ = ["CorpusSplit", "Scheme", "cross_corpus"]

Scheme: TypeAlias = Literal["pairs", "leave_one_out"]

_SCHEMES = ("pairs", "leave_one_out")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CorpusSplit:
    """One or more corpora to learn from and another one to be tested on.

    Attributes
    ----------
    train : tuple of str
        The corpora that are learned from.
    test : str
        The one that is tested on.
    X_train, y_train, X_test, y_test
        Their structures and labels.
    """

    train: tuple[str, ...]
    test: str
    X_train: Any
    y_train: list[Any]
    X_test: Any
    y_test: list[Any]

    @property
    def name(self) -> str:
        """Both sides, such as ``"AIMed → BioInfer"``."""
        return f"{' + '.join(self.train)} → {self.test}"

    @property
    def data(self) -> tuple[Any, list[Any], Any, list[Any]]:
        """Structures and labels in the order that :func:`train_and_test` takes them."""
        return self.X_train, self.y_train, self.X_test, self.y_test

    def __repr__(self) -> str:
        sizes = f"{len(self.y_train):,} and {len(self.y_test):,} examples"
        return f"<CorpusSplit: {self.name}, {sizes}>"


def cross_corpus(
    corpora: Mapping[str, tuple[Any, Any]], *, scheme: Scheme = "pairs"
) -> Iterator[CorpusSplit]:
    """Iterate over the ways to learn from some corpora and be tested on another.

    Parameters
    ----------
    corpora : mapping of str to (X, y)
        Structures and labels by the name of the corpus; two or more.
    scheme : {"pairs", "leave_one_out"}
        Learn from each corpus and be tested on each other; or learn from all but the one that is
        tested on.

    Returns
    -------
    iterator of CorpusSplit
        In the order of the mapping. Corpora are joined one split at a time.

    Raises
    ------
    KernelInputError
        If there are fewer than two corpora, or lengths differ.

    Examples
    --------
    >>> corpora = {"A": (["a1", "a2"], [0, 1]), "B": (["b1"], [1]), "C": (["c1"], [0])}
    >>> [split.name for split in cross_corpus(corpora, scheme="leave_one_out")]
    ['B + C → A', 'A + C → B', 'A + B → C']
    >>> len(list(cross_corpus(corpora)))
    6
    """
    if scheme not in _SCHEMES:
        raise KernelInputError(f"scheme must be one of {', '.join(_SCHEMES)}; got {scheme!r}")
    if not isinstance(corpora, Mapping) or len(corpora) < 2:
        raise KernelInputError(
            f"cross_corpus needs two corpora or more, as {{name: (X, y)}}; got {show(corpora)}"
        )
    checked = {str(name): _check_corpus(name, corpus) for name, corpus in corpora.items()}
    return _splits(checked, scheme)


def join_structures(parts: Sequence[Any]) -> Any:
    """Return collections of structures, or arrays, as one.

    Examples
    --------
    >>> join_structures([["a"], ("b", "c")])
    ['a', 'b', 'c']
    """
    if len(parts) == 1:
        return parts[0]
    if any(isinstance(part, OneDimensional) for part in parts):
        return batch([structure for part in parts for structure in part])
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    if any(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    return [structure for part in parts for structure in part]


def _splits(corpora: Mapping[str, tuple[Any, list[Any]]], scheme: str) -> Iterator[CorpusSplit]:
    for train, test in _names(list(corpora), scheme):
        X_train = join_structures([corpora[name][0] for name in train])
        y_train = [label for name in train for label in corpora[name][1]]
        yield CorpusSplit(train, test, X_train, y_train, *corpora[test])


def _names(names: list[str], scheme: str) -> Iterator[tuple[tuple[str, ...], str]]:
    if scheme == "leave_one_out":
        for test in names:
            yield tuple(name for name in names if name != test), test
    else:
        for train in names:
            for test in names:
                if train != test:
                    yield (train,), test


def _check_corpus(name: object, corpus: Any) -> tuple[Any, list[Any]]:
    try:
        X, y = corpus
    except (TypeError, ValueError):
        raise KernelInputError(
            f"corpus {show(name)} must be a pair (X, y), got {show(corpus)}"
        ) from None
    shown = show(name)
    return X, labels_of(X, y, f"X of corpus {shown}", f"y of corpus {shown}")
