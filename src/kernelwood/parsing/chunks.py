"""Shallow trees for what cannot be parsed: noun phrases and prepositional phrases, no more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelwood.structures import Tree
from kernelwood.text import NOUNS

__all__ = ["chunk_tree"]

_HEADS = NOUNS | {"PRP", "EX", "CD"}
_BEFORE_HEADS = frozenset({"DT", "PDT", "PRP$", "POS", "JJ", "JJR", "JJS", "FW", "HYPH", "ADJP"})
_PHRASES = frozenset({"NP"})


def chunk_tree(words: Iterable[tuple[str, str]]) -> Tree:
    """Return a tree in which words are grouped by their parts of speech alone.

    Nouns with what stands before them are an NP, a preposition with the NP after it is a PP, and
    all else is a child of the root S.

    Parameters
    ----------
    words : iterable of (word, tag)

    Examples
    --------
    >>> words = [("Raf", "NN"), ("binds", "VBZ"), ("to", "TO"), ("active", "JJ"), ("Ras", "NN")]
    >>> print(chunk_tree(words).to_brackets())
    (S (NP (NN Raf)) (VBZ binds) (PP (TO to) (NP (JJ active) (NN Ras))))
    """
    return Tree("S", _attach(_noun_phrases(words)))


def _noun_phrases(words: Iterable[tuple[str, str]]) -> Iterator[Tree]:
    group: list[Tree] = []
    for word, tag in words:
        node = Tree(tag, [Tree(word)])
        # An article after a noun begins another phrase.
        if group and tag not in _HEADS and group[-1].label in _HEADS:
            yield from _close(group)
        if tag in _HEADS or tag in _BEFORE_HEADS:
            group.append(node)
        else:
            yield from _close(group)
            yield node
    yield from _close(group)


def _close(group: list[Tree]) -> list[Tree]:
    parts = group.copy()
    group.clear()
    return [Tree("NP", parts)] if parts and parts[-1].label in _HEADS else parts


def _attach(parts: Iterable[Tree]) -> Iterator[Tree]:
    waiting: Tree | None = None  # a preposition
    for part in parts:
        if waiting is not None:
            yield Tree("PP", [waiting, part]) if part.label in _PHRASES else waiting
            if part.label in _PHRASES:
                waiting = None
                continue
            waiting = None
        if part.label in ("IN", "TO"):
            waiting = part
        else:
            yield part
    if waiting is not None:
        yield waiting
