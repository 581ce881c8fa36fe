"""What the words say about a predicate, whatever the parse."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["facts", "voice"]

PASSIVE_AUXILIARIES = frozenset(
    "be am is are was were been being 's 're 'm get gets got gotten getting".split()
)
# Words that may stand between an auxiliary and its participle; adverbs in -ly beside them.
BETWEEN = frozenset("not n't never also just already still ever always often been being".split())
LONGEST_GAP = 4


def voice(words: Sequence[str], position: int, lemma: str) -> str:
    """Return "passive", "active", or "bare" for a form that shows neither.

    Passive is a form that is neither the lemma nor in -ing nor in -s, after an auxiliary.

    Examples
    --------
    >>> voice("the bread was quickly eaten".split(), 4, "eat")
    'passive'
    >>> voice("they were eating".split(), 2, "eat"), voice("the eaten bread".split(), 1, "eat")
    ('active', 'bare')
    """
    word = words[position].lower()
    if word == lemma or word.endswith(("ing", "s")):
        return "active"
    for before in range(position - 1, max(-1, position - 2 - LONGEST_GAP), -1):
        earlier = words[before].lower()
        if earlier in PASSIVE_AUXILIARIES:
            return "passive"
        if earlier not in BETWEEN and not earlier.endswith("ly"):
            break
    return "bare"


def facts(words: Sequence[str], position: int, lemma: str) -> list[tuple[str, str]]:
    """Return the facts that stand beside a path, kind and value."""
    return [("LEMMA", lemma), ("VOICE", voice(words, position, lemma))]
