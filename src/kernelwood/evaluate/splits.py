"""Cutting examples into those to learn from and those to be tested on."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, StratifiedKFold

from kernelwood.errors import KernelInputError
from kernelwood.evaluate.labels import Groups, encode, encode_groups, show
from kernelwood.evaluate.resampling import resolve_seed

__all__ = ["Split", "check_splits", "group_splits", "split_examples"]

Indices: TypeAlias = NDArray[np.int64]
Split: TypeAlias = tuple[Indices, Indices]


def group_splits(
    groups: Iterable[Any],
    y: Iterable[Any] | None = None,
    *,
    n_splits: int = 5,
    random_state: Any = 0,
) -> list[Split]:
    """Cut examples into parts of whole groups, each of which is once the test part.

    Sentences of one document resemble each other, so one that is tested on must not have been
    learned from: give ``groups=documents(examples)``.

    Parameters
    ----------
    groups : sequence
        The group of each example.
    y : sequence of labels, optional
        Makes the shares of the classes as alike as whole groups allow. Without labels the parts
        are as equal in size as they can be.
    n_splits : int
        Number of parts, at least 2 and at most the number of groups.
    random_state : None, int, Generator or RandomState
        Which groups go together; an int gives the same parts every time.

    Returns
    -------
    list of (train, test)
        Arrays of indices in ascending order.

    Raises
    ------
    KernelInputError
        If lengths differ or there are too few groups.

    Examples
    --------
    >>> splits = group_splits(["d1", "d1", "d2", "d3", "d3", "d3"], n_splits=3)
    >>> sorted(test.tolist() for train, test in splits)
    [[0, 1], [2], [3, 4, 5]]
    """
    names = list(groups)
    codes = None if y is None else encode({"y": y}).codes[0]
    grouped = encode_groups(names, len(names) if codes is None else len(codes))
    return _cut_groups(grouped, codes, n_splits, resolve_seed(random_state))


def split_examples(splits: Any, y: Indices, groups: Groups | None, *, seed: int) -> list[Split]:
    """Return the splits meant by a number of parts, a splitter of scikit-learn, or a list."""
    n = len(y)
    if isinstance(splits, (int, np.integer)) and not isinstance(splits, bool):
        if groups is not None:
            return _cut_groups(groups, y, int(splits), seed)
        return _cut_examples(y, int(splits), seed)
    if hasattr(splits, "get_n_splits"):
        codes = None if groups is None else groups.codes
        splits = splits.split(np.zeros((n, 1)), y, codes)
    return check_splits(splits, n)


def check_splits(splits: Any, n_examples: int) -> list[Split]:
    """Return given splits as arrays of indices; refuse those that would mislead."""
    try:
        pairs = [(np.asarray(train), np.asarray(test)) for train, test in splits]
    except (TypeError, ValueError):
        raise KernelInputError(
            f"splits must be a number of parts or a list of (train, test), got {show(splits)}"
        ) from None
    if not pairs:
        raise KernelInputError("splits is empty; give at least one pair (train, test)")
    tested = np.zeros(n_examples, dtype=np.int64)
    made = []
    for number, pair in enumerate(pairs):
        train, test = (
            _check_indices(part, name, number, n_examples)
            for part, name in zip(pair, ("train", "test"), strict=True)
        )
        shared = np.intersect1d(train, test)
        if len(shared):
            raise KernelInputError(
                f"splits[{number}]: example {shared[0]} is in both parts, so that it would be "
                "tested on what was learned from; take it out of one"
            )
        tested[test] += 1
        made.append((train, test))
    if tested.max() > 1:
        raise KernelInputError(
            f"splits: example {int(np.argmax(tested > 1))} is tested more than once, which would "
            "count it as several; evaluate repeated splits one after the other"
        )
    return made


def _check_indices(part: NDArray[Any], name: str, number: int, n_examples: int) -> Indices:
    where = f"splits[{number}]: the {name} part"
    if part.dtype == bool and part.shape == (n_examples,):
        part = np.flatnonzero(part)
    if part.ndim != 1 or not (part.dtype.kind in "iu" or part.size == 0):
        raise KernelInputError(f"{where} must be a vector of indices, got {show(part)}")
    if part.size == 0:
        raise KernelInputError(f"{where} is empty; both parts need at least one example")
    if part.min() < 0 or part.max() >= n_examples:
        raise KernelInputError(
            f"{where} has the index {part[(part < 0) | (part >= n_examples)][0]}, "
            f"but there are {n_examples:,} examples, counted from 0"
        )
    indices = part.astype(np.int64)
    if len(np.unique(indices)) < len(indices):
        raise KernelInputError(f"{where} has an index twice; name each example once")
    return indices


def _cut_groups(groups: Groups, y: Indices | None, n_splits: Any, seed: int) -> list[Split]:
    _check_number(n_splits, groups.n_groups, "groups")
    nothing = np.zeros((len(groups.codes), 1))
    if y is None:
        # Groups of one size are taken in the order of their numbers, so these are shuffled.
        shuffled = np.random.default_rng(seed).permutation(groups.n_groups)[groups.codes]
        return list(GroupKFold(n_splits).split(nothing, groups=shuffled))
    splitter = StratifiedGroupKFold(n_splits, shuffle=True, random_state=seed)
    return _stratified(splitter, nothing, y, groups.codes)


def _cut_examples(y: Indices, n_splits: Any, seed: int) -> list[Split]:
    _check_number(n_splits, len(y), "examples")
    splitter = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
    return _stratified(splitter, np.zeros((len(y), 1)), y, None)


def _stratified(
    splitter: Any, nothing: NDArray[np.float64], y: Indices, groups: Indices | None
) -> list[Split]:
    largest = int(np.bincount(y).max())
    if largest < splitter.n_splits:
        raise KernelInputError(
            f"the largest class has {largest} examples, too few for {splitter.n_splits} parts "
            "with some of it in each; ask for fewer parts, or give splits of your own"
        )
    with warnings.catch_warnings():
        # A rare class is in as many parts as it has examples: all that can be done.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(splitter.split(nothing, y, groups))


def _check_number(n_splits: Any, available: int, what: str) -> None:
    whole = isinstance(n_splits, (int, np.integer)) and not isinstance(n_splits, bool)
    if not whole or n_splits < 2:
        raise KernelInputError(
            f"the number of splits must be an int of at least 2, got {n_splits!r}"
        )
    if available < n_splits:
        remedy = f"ask for at most {available} splits, or " if available > 1 else ""
        more = "finer groups" if what == "groups" else "more examples"
        raise KernelInputError(
            f"{n_splits} splits need at least {n_splits} {what}, but there "
            f"{'is' if available == 1 else 'are'} only {available:,}; {remedy}give {more}"
        )
