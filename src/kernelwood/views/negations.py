"""Whether a sentence denies what it says about two entities."""

from __future__ import annotations

from functools import lru_cache

from kernelwood.structures import Sequence
from kernelwood.text import ROOT, Entity, Sentence, dependencies_of
from kernelwood.views.paths import DependencyPaths

__all__ = ["Negations", "negation"]

# English words that deny, or tell of something that did not happen.
_WORDS = frozenset(
    """
    no not n't n’t never neither nor none cannot without absence absent unable
    fail fails failed failing failure lack lacks lacked lacking
    """.split()
)
_RELATION = "neg"  # as Stanford dependencies have it


def negation(sentence: Sentence, first: Entity, second: Entity) -> Sequence:
    """Return whether two entities are joined by words that deny, as a sequence of two labels.

    A denial is one word of many, and seldom on the path itself, so that kernels on words and paths
    make little of it. This view tells nothing else.

    For several pairs of one sentence, `Negations` prepares it once.

    Parameters
    ----------
    sentence : Sentence
        With tokens and dependencies.
    first, second : Entity
        In any order.

    Returns
    -------
    Sequence
        ``pair``, which is common to all pairs; then ``denied`` if a word such as *not*, *no* or
        *failed* is on the shortest dependency path between the two, or depends on a word there or
        on the head of one; else ``stated``.

    Notes
    -----
    The words are English. What is further away is not seen. Without dependencies, the words between
    the two entities are looked at.

    Examples
    --------
    >>> raf, ras = Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((17, 20),))
    >>> sentence = Sentence.from_words(
    ...     ["Raf", "did", "not", "bind", "Ras"],
    ...     dependencies=[(3, "nsubj", 0), (3, "aux", 1), (3, "neg", 2), (3, "dobj", 4)],
    ... )
    >>> negation(sentence, raf, ras)
    Sequence(['pair', 'denied'])
    """
    return Negations(sentence).around(first, second)


class Negations:
    """Which pairs of entities of a sentence are joined by words that deny.

    Parameters
    ----------
    sentence : Sentence
        As in `negation`.

    Examples
    --------
    >>> sentence = Sentence.from_words(["cats", "never", "bark"])
    >>> ends = Entity("a", "", ((0, 4),)), Entity("b", "", ((11, 15),))
    >>> Negations(sentence).around(*ends)
    Sequence(['pair', 'denied'])
    """

    __slots__ = ("_denied", "_heads", "_paths")

    def __init__(self, sentence: Sentence) -> None:
        denying = {i for i, token in enumerate(sentence.tokens) if token.text.lower() in _WORDS}
        arcs = [arc for arc in dependencies_of(sentence) if arc.head != ROOT]
        self._denied = denying | {
            head for head, relation, dependent in arcs
            if dependent in denying or relation == _RELATION
        }  # fmt: skip
        self._heads: dict[int, list[int]] = {}
        self._paths: DependencyPaths | None = None
        if self._denied:  # most sentences deny nothing, and need no paths
            self._paths = DependencyPaths(sentence)
            for head, _, dependent in arcs:
                self._heads.setdefault(dependent, []).append(head)

    def around(self, first: Entity, second: Entity) -> Sequence:
        """Return whether the words that join two entities deny, as `negation` does."""
        if self._paths is None:
            return _sequence(denied=False)
        path = self._paths.way(first, second).tokens
        heads = (head for token in path for head in self._heads.get(token, ()))
        return _sequence(denied=not self._denied.isdisjoint((*path, *heads)))


@lru_cache(maxsize=2)
def _sequence(*, denied: bool) -> Sequence:
    return Sequence(["pair", "denied" if denied else "stated"])
