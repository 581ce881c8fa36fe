"""The words around two entities: before, between and after them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence as Listing
from typing import NamedTuple

from kernelwood.errors import StructureError
from kernelwood.structures import Sequence
from kernelwood.text import Entity, Sentence
from kernelwood.views.word_sequences import BLIND, OTHERS, Labels, Mentions, check_blind

__all__ = ["Context", "Contexts", "context"]


class Context(NamedTuple):
    """The words around two entities, each part in the order of the sentence.

    Attributes
    ----------
    before, between, after : Sequence
        The words before both entities; the entities and the words between them; the words after
        both.
    """

    before: Sequence
    between: Sequence
    after: Sequence

    def joined(self) -> Sequence:
        """Return one sequence whose edges say which part an element belongs to.

        Examples
        --------
        >>> Context(Sequence(["we"]), Sequence(["ENTITY1", "ENTITY2"]), Sequence()).joined()
        Sequence([('before', 'we'), ('between', 'ENTITY1'), ('between', 'ENTITY2')])
        """
        return _join(*(part.nodes for part in self))


def _join(*parts: Listing[str]) -> Sequence:
    edges = [name for name, part in zip(Context._fields, parts, strict=True) for _ in part]
    return Sequence.from_labels(edges, [node for part in parts for node in part])


def context(
    sentence: Sentence,
    first: Entity,
    second: Entity,
    *,
    window: int | None = 4,
    labels: Labels = "text",
    lowercase: bool = True,
    blind: tuple[str, str] | None = BLIND,
    others: str | None = OTHERS,
) -> Context:
    """Return the words before, between and after two entities.

    For several pairs of one sentence, `Contexts` prepares it once.

    Parameters
    ----------
    sentence : Sentence
        With tokens.
    first, second : Entity
        The entities, in any order: which comes first in the sentence shows in their labels.
    window : int or None
        How many elements at most are taken before and after; None for all.
    labels : {"text", "lemma", "stem", "tag", "pos"}
        What is written for a token, see `kernelwood.views.word_sequences.token_label`.
    lowercase : bool
        Whether words are written in lower case.
    blind : (str, str) or None
        What stands for the two entities, each written once; None for their own words.
    others : str or None
        What stands for further entities, the triggers of events excepted; tokens side by side
        that belong to one entity become one element. None for their own words.

    Returns
    -------
    Context
        Three sequences without edge labels.

    Raises
    ------
    StructureError
        If an entity lies outside the sentence or an option cannot be used.

    Notes
    -----
    ``between`` reaches from the first to the last token of both entities. A blinded entity is
    written at the place of its first token, so nested, overlapping and discontinuous entities
    need no further rule: what neither covers is kept, and if both begin with the same token,
    ``first`` is written first. An entity that covers no token is left out; if neither covers
    one, all three parts are empty.

    References
    ----------
    .. [1] R. Bunescu, R. Mooney, "Subsequence kernels for relation extraction", NIPS 2005.

    Examples
    --------
    >>> raf, ras = Entity("a", "protein", ((10, 15),)), Entity("b", "protein", ((21, 24),))
    >>> sentence = Sentence.from_words("It is why Raf 1 binds Ras here".split())
    >>> parts = context(sentence, raf, ras, window=2)
    >>> parts.before
    Sequence(['is', 'why'])
    >>> parts.between
    Sequence(['ENTITY1', 'binds', 'ENTITY2'])
    >>> parts.after
    Sequence(['here'])
    """
    contexts = Contexts(
        sentence, window=window, labels=labels, lowercase=lowercase, blind=blind, others=others
    )
    return contexts.around(first, second)


class Contexts:
    """The words around all pairs of entities of a sentence, one pair after the other.

    Parameters
    ----------
    sentence, window, labels, lowercase, blind, others
        As in `context`.

    Examples
    --------
    >>> raf, ras = Entity("a", "protein", ((3, 6),)), Entity("b", "protein", ((13, 16),))
    >>> sentence = Sentence.from_words("so Raf binds Ras here".split(), entities=[raf, ras])
    >>> Contexts(sentence).around(ras, raf).between
    Sequence(['ENTITY2', 'binds', 'ENTITY1'])
    """

    __slots__ = ("_blind", "_ends", "_mentions", "_nodes", "_starts", "_window")

    def __init__(
        self,
        sentence: Sentence,
        *,
        window: int | None = 4,
        labels: Labels = "text",
        lowercase: bool = True,
        blind: tuple[str, str] | None = BLIND,
        others: str | None = OTHERS,
    ) -> None:
        check_blind(blind)
        if window is not None and window < 0:
            raise StructureError(
                f"window must be 0 or more, got {window}", hint="window=None takes all words"
            )
        self._mentions = Mentions(sentence, labels=labels, lowercase=lowercase, others=others)
        self._blind = blind
        self._window = window
        # What is written for the whole sentence, and the tokens each element stands for.
        self._nodes, self._starts, self._ends = self._mentions.runs()

    def covers(self, entity: Entity) -> bool:
        """Return whether an entity covers a token."""
        return bool(self._mentions.tokens_of(entity))

    def around(self, first: Entity, second: Entity) -> Context:
        """Return the words around two entities, as `context` does."""
        return Context(*map(Sequence, self._parts(first, second)))

    def joined(self, first: Entity, second: Entity) -> Sequence:
        """Return the same in one sequence, as `Context.joined` does."""
        return _join(*self._parts(first, second))

    def _parts(self, first: Entity, second: Entity) -> tuple[list[str], list[str], list[str]]:
        mentions, window, nodes = self._mentions, self._window, self._nodes
        covered = (mentions.tokens_of(first), mentions.tokens_of(second))
        inside = [token for tokens in covered for token in tokens]
        if not inside:
            return [], [], []
        start, end = min(inside), max(inside) + 1
        # An element of several tokens counts on each side where it has one.
        n_before = bisect_left(self._starts, start)
        n_until = bisect_right(self._ends, end)
        low = 0 if window is None else max(0, n_before - window)
        high = len(nodes) if window is None else n_until + window
        written = _write_ends(mentions, covered, self._blind)
        between = mentions.nodes(range(start, end), written)
        return nodes[low:n_before], between, nodes[n_until:high]


def _write_ends(
    mentions: Mentions, covered: tuple[tuple[int, ...], ...], blind: tuple[str, str] | None
) -> dict[int, tuple[str, ...]]:
    """Return what takes the place of each token of the two entities."""
    if blind is None:
        return {token: (mentions.word(token),) for tokens in covered for token in tokens}
    written: dict[int, tuple[str, ...]] = {token: () for tokens in covered for token in tokens}
    for label, tokens in zip(blind, covered, strict=True):
        if tokens:
            written[tokens[0]] += (label,)
    return written
