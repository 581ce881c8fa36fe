"""Vectors as raw floats behind their words, as word2vec writes them with ``-binary 1``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood._native import VectorProblem
from kernelwood.errors import ReadError
from kernelwood.vectors.collect import Collector, Loaded, decode_words
from kernelwood.vectors.feed import Feed
from kernelwood.vectors.text import take_header

__all__ = ["read_word2vec_binary"]

_LONGEST_WORD = 1 << 16


def read_word2vec_binary(feed: Feed, normalize: bool) -> Loaded:
    """Read a header line, and for each word its text, a space and 32-bit floats."""
    promised, dim = take_header(feed, bytes_per_number=4)
    collector = Collector(feed, dim, promised, normalize)
    while collector.n_read < promised:
        feed.fill()
        capacity = min(promised - collector.n_read, 1 + len(feed.data) // (4 * dim + 1))
        values = np.empty((capacity, dim), dtype=np.float32)
        spans = np.empty((capacity, 2), dtype=np.int64)
        # numpy takes no empty buffer.
        raw = np.frombuffer(feed.data or b"\n", dtype=np.uint8)
        chunk = _native.parse_vector_records(raw, values, spans)
        words = _decode(feed, spans[: chunk.rows])
        collector.add(words, values[: chunk.rows])
        if chunk.problem != VectorProblem.none:
            raise _unusable(feed, collector.n_read + 1, chunk.problem)
        feed.drop(chunk.consumed, 0)
        if not chunk.rows:
            if feed.ended:
                raise feed.error(
                    f"the file ends in vector {collector.n_read + 1:,} of {promised:,}",
                    hint="fetch it again; the download may have been cut",
                )
            if len(feed.data) > _LONGEST_WORD + 4 * dim:
                _check_word_end(feed, collector.n_read + 1)
    _check_end(feed, promised)
    return collector.finish()


def _decode(feed: Feed, spans: NDArray[np.int64]) -> list[str]:
    try:
        return decode_words(feed, spans)
    except ReadError as failure:
        # Lines mean nothing between raw floats.
        raise feed.error(failure.problem, hint=failure.hint) from failure


def _unusable(feed: Feed, number: int, problem: VectorProblem) -> ReadError:
    if problem == VectorProblem.not_finite:
        return feed.error(
            f"vector {number:,} has a number that is not finite",
            hint="write the file again without this vector; it cannot be compared with others",
        )
    return _misplaced(feed, number)


def _misplaced(feed: Feed, number: int) -> ReadError:
    return feed.error(
        f"there is no word where vector {number:,} should begin",
        hint="the dimension in the header does not fit the content, or the file is damaged",
    )


def _check_word_end(feed: Feed, number: int) -> None:
    if b" " not in feed.data[:_LONGEST_WORD]:
        raise _misplaced(feed, number)


def _check_end(feed: Feed, promised: int) -> None:
    """Raise ReadError if anything but line ends follows the last vector."""
    while True:
        if feed.data.strip(b"\r\n"):
            raise feed.error(
                f"the header promises {promised:,} vectors, but there is more after the last",
                hint="correct the header; the file may have been made from several",
            )
        if feed.ended:
            return
        feed.drop(len(feed.data), 0)
        feed.fill()
