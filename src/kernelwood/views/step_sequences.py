"""The shortest dependency path as one line of words and relations, side by side."""

from __future__ import annotations

from typing import Any

from kernelwood.structures import Sequence
from kernelwood.text import Entity, Sentence
from kernelwood.views.paths import DependencyPaths, Way

__all__ = ["path_steps", "steps_of"]


def path_steps(sentence: Sentence, first: Entity, second: Entity, **options: Any) -> Sequence:
    """Return the shortest dependency path with relations as elements of their own.

    On a path of (relation, word) pairs, elements match if both labels do, or are similar. Here a
    word counts where another relation leads to it, and a relation where it leads to another word,
    which serves where examples are few.

    Parameters
    ----------
    sentence : Sentence
        With tokens and dependencies.
    first, second : Entity
        Where the path begins and ends.
    **options
        As in `kernelwood.views.shortest_path`.

    Returns
    -------
    Sequence
        Without edge labels. A relation is written in angle brackets, so none is taken for a word.

    Raises
    ------
    StructureError
        If an entity lies outside the sentence or an option cannot be used.

    Examples
    --------
    >>> raf, ras = Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((8, 11),))
    >>> sentence = Sentence.from_words(
    ...     ["Raf", "met", "Ras"], dependencies=[(1, "nsubj", 0), (1, "dobj", 2)]
    ... )
    >>> path_steps(sentence, raf, ras)
    Sequence(['ENTITY1', '<nsubj-of>', 'met', '<dobj>', 'ENTITY2'])
    """
    return steps_of(DependencyPaths(sentence, **options).way(first, second))


def steps_of(way: Way) -> Sequence:
    """Return a path with relations as elements of their own, see `path_steps`.

    Examples
    --------
    >>> steps_of(Way((0, 2), ["conj_and"], ["ENTITY1", "ENTITY2"], None))
    Sequence(['ENTITY1', '<conj_and>', 'ENTITY2'])
    """
    first, *rest = way.nodes
    written = [first]
    for relation, node in zip(way.relations, rest, strict=True):
        if relation:
            written.append(f"<{relation}>")
        written.append(node)
    return Sequence(written)
