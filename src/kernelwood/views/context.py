"""The words around two entities: before, between and after them."""

from __future__ import annotations

from typing import NamedTuple

from kernelwood.errors import StructureError
from kernelwood.structures import Entity, Sentence, Sequence
from kernelwood.views.words import BLIND, OTHERS, Labels, Mentions, check_blind

__all__ = ["Context", "context"]


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
        parts = zip(self._fields, self, strict=True)
        return Sequence((name, node) for name, part in parts for node in part.nodes)


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

    Parameters
    ----------
    sentence : Sentence
        With tokens.
    first, second : Entity
        The entities, in any order: which comes first in the sentence shows in their labels.
    window : int or None
        How many elements at most are taken before and after; None for all.
    labels : {"text", "lemma", "tag", "pos"}
        What is written for a token, see `kernelwood.views.words.token_label`.
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
    check_blind(blind)
    if window is not None and window < 0:
        raise StructureError(
            f"window must be 0 or more, got {window}", hint="window=None takes all words"
        )
    mentions = Mentions(sentence, labels=labels, lowercase=lowercase, others=others)
    covered = (mentions.tokens_of(first), mentions.tokens_of(second))
    inside = [token for tokens in covered for token in tokens]
    if not inside:
        return Context(Sequence(), Sequence(), Sequence())
    start, end = min(inside), max(inside) + 1
    before = mentions.nodes(range(start))
    after = mentions.nodes(range(end, len(sentence.tokens)))
    written = _write_ends(mentions, covered, blind)
    return Context(
        Sequence(before if window is None else before[max(0, len(before) - window) :]),
        Sequence(mentions.nodes(range(start, end), written)),
        Sequence(after if window is None else after[:window]),
    )


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
