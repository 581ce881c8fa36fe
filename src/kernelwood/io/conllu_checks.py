"""What reader and writer of CoNLL-U must agree on: what is written as one, and heads in trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernelwood.text import Span

__all__ = ["COLUMNS", "find_circle", "written_units"]

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")


def written_units(n_words: int, ranges: Iterable[Span]) -> list[Span]:
    """Return what is written as one: the ranges, and each word outside of them.

    Parameters
    ----------
    n_words : int
        The number of words.
    ranges : iterable of (first, end)
        The words of each multiword token, in order and without overlap.

    Examples
    --------
    >>> written_units(4, [(1, 3)])
    [(0, 1), (1, 3), (3, 4)]
    """
    units: list[Span] = []
    position = 0
    for first, end in ranges:
        units += [(index, index + 1) for index in range(position, first)]
        units.append((first, end))
        position = end
    return units + [(index, index + 1) for index in range(position, n_words)]


def find_circle(heads: Sequence[int]) -> list[int]:
    """Return the indices of words whose heads run in a circle; none if there is no circle.

    Parameters
    ----------
    heads : sequence of int
        The index of the head of each word, negative for a root and for a word without a head.

    Examples
    --------
    >>> find_circle([1, -1, 1]), find_circle([2, -1, 0])
    ([], [0, 2])
    """
    seen = [0] * len(heads)
    for number in range(1, len(heads) + 1):
        word = number - 1
        while word >= 0 and not seen[word]:
            seen[word] = number
            word = heads[word]
        if word >= 0 and seen[word] == number:
            circle = [word]
            while heads[circle[-1]] != word:
                circle.append(heads[circle[-1]])
            return circle
    return []
