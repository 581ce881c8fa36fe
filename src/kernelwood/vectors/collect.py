"""Words and rows as they come out of a file, and what must hold of them."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.compute import check_budget
from kernelwood.errors import ReadError, StructureError
from kernelwood.structures import check_label, shorten
from kernelwood.vectors.feed import Feed

__all__ = [
    "Collector",
    "Loaded",
    "assemble",
    "check_finite",
    "check_memory",
    "check_words",
    "decode_words",
    "first_of_each",
    "warn_of_repeated",
]

logger = logging.getLogger("kernelwood")

_BLOCK = 1 << 14  # rows looked at together


class Loaded(NamedTuple):
    """Distinct words, their rows, and which of the rows are zero."""

    words: tuple[str, ...]
    matrix: NDArray[np.float32]
    zeros: NDArray[np.int64]


def assemble(words: Iterable[str], matrix: NDArray[np.float32], normalize: bool) -> Loaded:
    """Return words and rows, having scaled the rows in place if they are to have length 1."""
    if normalize:
        _native.scale_to_unit_length(matrix)
    return Loaded(tuple(words), matrix, _zero_rows(matrix))


def check_words(words: Iterable[object]) -> list[str]:
    """Return words as plain strings, or say which of them no file could hold."""
    checked = [check_label(word, f"word {place}") for place, word in enumerate(words)]
    if "" in checked:
        raise StructureError(f"word {checked.index('')} is empty", hint="leave it out")
    text = "".join(checked)
    if "\n" in text:
        [word, *_] = (word for word in checked if "\n" in word)
        raise StructureError(
            f"the word {shorten(repr(word))} has a line feed inside",
            hint="replace it, for example by a space",
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as failure:
        raise StructureError(
            f"a word has the character {failure.object[failure.start]!r}, which is no text",
            hint="a lone surrogate comes from text decoded with errors='surrogateescape'",
        ) from failure
    return checked


def check_finite(matrix: NDArray[np.float32]) -> None:
    """Raise StructureError if a number is NaN or infinite as a 32-bit float."""
    for begin in range(0, len(matrix), _BLOCK):
        finite = np.isfinite(matrix[begin : begin + _BLOCK])
        if not finite.all():
            row, column = np.argwhere(~finite)[0].tolist()
            raise StructureError(
                f"the number in row {begin + row}, column {column} of the matrix is not finite",
                hint="remove the row; its vector cannot be compared with others",
            )


def first_of_each(words: list[str], known: Iterable[str] = ()) -> list[int]:
    """Return the places of words that were neither known nor came before.

    >>> first_of_each(["a", "b", "a", "c"], known={"c": 0})
    [0, 1]
    """
    seen = set(known)
    places = []
    for place, word in enumerate(words):
        if word not in seen:
            seen.add(word)
            places.append(place)
    return places


class Collector:
    """Grows a matrix block by block, within the memory budget and without repeated words.

    Parameters
    ----------
    feed : Feed
        Where the rows come from; tells how many are to be expected.
    dim : int
        Numbers in a row.
    promised : int, optional
        How many rows there must be.
    normalize : bool
        Whether to scale rows to length 1.
    """

    def __init__(self, feed: Feed, dim: int, promised: int | None, normalize: bool) -> None:
        self.n_read = 0
        self._feed = feed
        self._dim = dim
        self._promised = promised
        self._normalize = normalize
        self._rows: dict[str, int] = {}
        self._zeros: list[NDArray[np.int64]] = []
        self._matrix = np.empty((0, dim), dtype=np.float32)

    def add(self, words: list[str], block: NDArray[np.float32]) -> None:
        """Append rows, which may be changed in place."""
        self.n_read += len(words)
        if self._promised is not None and self.n_read > self._promised:
            raise self._broken_promise("more")
        fresh = dict.fromkeys(words)
        if len(fresh) < len(words) or not self._rows.keys().isdisjoint(fresh):
            places = first_of_each(words, self._rows)
            words, block = [words[place] for place in places], block[places]
        if self._normalize:
            _native.scale_to_unit_length(block)
        filled = len(self._rows)
        self._reserve(filled + len(words))
        self._matrix[filled : filled + len(words)] = block
        self._zeros.append(_zero_rows(block) + filled)
        self._rows.update(zip(words, range(filled, filled + len(words)), strict=True))

    def finish(self) -> Loaded:
        """Return what was collected."""
        if self._promised is not None and self.n_read < self._promised:
            raise self._broken_promise(f"only {self.n_read:,}")
        if not self._rows:
            raise self._feed.error("there are no vectors", hint="is this the right file?")
        warn_of_repeated(self._feed, self.n_read - len(self._rows))
        # Nothing else refers to the matrix; blocks were copied.
        self._matrix.resize((len(self._rows), self._dim), refcheck=False)
        return Loaded(tuple(self._rows), self._matrix, np.concatenate(self._zeros))

    def _broken_promise(self, found: str) -> ReadError:
        return self._feed.error(
            f"the header promises {self._promised:,} vectors, but there are {found}",
            hint="correct the header, or fetch the file again if the download was cut",
        )

    def _reserve(self, n_rows: int) -> None:
        if n_rows <= len(self._matrix):
            return
        expected = self._promised
        if expected is None:
            portion = self._feed.portion
            expected = int(n_rows / portion * 1.02) if portion else 2 * n_rows
        expected = max(n_rows, expected)
        check_memory(expected, self._dim)
        # Grown in place where the system can do it; the new part is written by add.
        self._matrix.resize((expected, self._dim), refcheck=False)


def warn_of_repeated(feed: Feed, count: int) -> None:
    """Log how many rows were left out because their word had one already."""
    if count:
        logger.warning("%s: %d vectors of words that came before were left out", feed.path, count)


def check_memory(n_rows: int, dim: int) -> None:
    """Raise MemoryBudgetError if a matrix would not fit the budget."""
    check_budget(
        4 * n_rows * dim,
        f"the matrix of {n_rows:,} word vectors of {dim:,} numbers",
        "Use a file with fewer words or shorter vectors.",
    )


def decode_words(feed: Feed, spans: NDArray[np.int64], what: str = "word") -> list[str]:
    """Return the words at these places of ``feed.data``."""
    data = feed.data
    begin = 0
    words = []
    try:
        for begin, end in spans.tolist():
            words.append(data[begin:end].decode("utf-8"))
    except UnicodeDecodeError as failure:
        place = begin + failure.start
        raise feed.error_at(
            f"byte 0x{data[place]:02x} in a {what} is not valid UTF-8",
            place,
            line=feed.line + data.count(b"\n", 0, begin),
            hint="convert the file to UTF-8, for example with iconv -t UTF-8",
        ) from failure
    return words


def _zero_rows(matrix: NDArray[np.float32]) -> NDArray[np.int64]:
    return np.flatnonzero(~matrix.any(axis=1)).astype(np.int64, copy=False)
