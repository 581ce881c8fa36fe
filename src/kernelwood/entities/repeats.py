"""Further mentions of names that were found elsewhere in a document."""

from __future__ import annotations

from collections.abc import Sequence

from kernelwood.entities.mentions import Mention
from kernelwood.entities.tagger_features import Pieces

_SHORTEST = 2  # characters of a name


def add_repeats(
    texts: Sequence[tuple[str, Pieces]], mentions: Sequence[Sequence[Mention]], least: float
) -> list[list[Mention]]:
    """Return mentions of the texts of a document, with further ones that are written the same.

    Parameters
    ----------
    texts : sequence of (str, Pieces)
        The texts of one document.
    mentions : sequence of sequences of Mention
        The mentions of each text.
    least : float
        Mentions below this probability are not looked for elsewhere.

    Returns
    -------
    list of lists of Mention
        In the order of the texts. New ones overlap no others; they have the type and probability
        of the most probable mention that is written the same.
    """
    best: dict[str, Mention] = {}
    for (text, _), some in zip(texts, mentions, strict=True):
        for one in some:
            name = text[one.start : one.end]
            before = best.get(name)
            if before is None or _chance(before) < _chance(one):
                best[name] = one
    chosen = [
        name for name, one in best.items() if _chance(one) >= least and len(name) >= _SHORTEST
    ]
    chosen.sort(key=lambda name: (-len(name), name))  # the longest first
    by_first: dict[str, list[str]] = {}
    for name in chosen:
        by_first.setdefault(name[0], []).append(name)
    return [
        sorted([*some, *_repeats(text, cut, some, by_first, best)])
        for (text, cut), some in zip(texts, mentions, strict=True)
    ]


def _repeats(
    text: str,
    cut: Pieces,
    mentions: Sequence[Mention],
    by_first: dict[str, list[str]],
    best: dict[str, Mention],
) -> list[Mention]:
    ends = set(cut.ends)
    taken = {place for one in mentions for place in range(one.start, one.end)}
    made = []
    for start in cut.starts:
        for name in by_first.get(text[start], ()):
            end = start + len(name)
            if text.startswith(name, start) and end in ends and taken.isdisjoint(range(start, end)):
                taken.update(range(start, end))
                made.append(best[name]._replace(start=start, end=end))
                break
    return made


def _chance(mention: Mention) -> float:
    return 1.0 if mention.probability is None else mention.probability
