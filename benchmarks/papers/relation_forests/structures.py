"""What the kernels compare: the part of a forest between two entities, and flat features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from relation_forests.corpora import Pair

import kernelwood as kw
from kernelwood.text import Span
from kernelwood.views import minimal_forest, path_enclosed_forest

__all__ = ["FLAT", "VIEWS", "blinded", "features", "mark_words", "view"]

VIEWS = {"pet": path_enclosed_forest, "mct": minimal_forest}
FLAT = ("entities", "words")
BLIND = ("ENTITY1", "ENTITY2", "OTHER")  # what proteins are called, so that no name is learned
MARKS = ("E1", "E2")
LONGEST = 6  # a number of words between the entities, above which all count alike


def view(forest: kw.Forest, pair: Pair, name: str, *, blind: bool = False) -> kw.Forest:
    """Return a view of a pair, with its entities marked.

    A node E1 or E2 stands above the part of speech of the last word of each entity.

    Parameters
    ----------
    forest : Forest
        Of the whole sentence.
    pair : Pair
        The entities.
    name : str
        A key of `VIEWS`.
    blind : bool
        Whether entities are renamed.
    """
    part = VIEWS[name](forest, pair.first, pair.second)
    marks = [(span[1] - 1, label) for span, label in zip(_spans(pair), MARKS, strict=True)]
    return mark_words(part, blinded(pair) if blind else {}, marks)


def mark_words(
    forest: kw.Forest, names: Mapping[int, str], marks: Sequence[tuple[int, str]]
) -> kw.Forest:
    """Return a forest with other words at some positions, and nodes above parts of speech.

    Probabilities do not change: a mark has one hyper-edge, of probability 1.
    """
    assert forest.spans is not None
    labels, spans = list(forest.labels), list(forest.spans)
    heads = {head for head, _, _ in forest.edges}
    above: dict[int, int] = {}  # part of speech -> its topmost mark
    edges = list(forest.edges)
    for node, (start, end) in enumerate(forest.spans):
        if node not in heads and end == start + 1:
            labels[node] = names.get(start, labels[node])
    over_words = {head for head, children, _ in forest.edges if heads.isdisjoint(children)}
    added = []
    for position, label in marks:
        for node in sorted(over_words):
            if spans[node] == (position, position + 1):
                added.append((len(labels), (above.get(node, node),), 1.0))
                above[node] = len(labels)
                labels.append(label)
                spans.append(spans[node])
    edges = [(h, tuple(above.get(c, c) for c in children), p) for h, children, p in edges]
    root = above.get(forest.root, forest.root)
    return kw.Forest(labels, edges + added, root, spans, fallback=forest.fallback)


def blinded(pair: Pair) -> dict[int, str]:
    """Return the new words of all entities, by position."""
    names: dict[int, str] = {}
    for span in pair.others:
        names.update(dict.fromkeys(range(*span), BLIND[2]))
    for span, name in zip(_spans(pair), BLIND, strict=False):
        names.update(dict.fromkeys(range(*span), name))
    return names


def features(pair: Pair, name: str, *, blind: bool = False) -> dict[str, float]:
    """Return flat features, of the entities alone or also of the words around them."""
    names = blinded(pair) if blind else {}
    words = [names.get(place, word.lower()) for place, word in enumerate(pair.words)]
    found: Counter[str] = Counter()
    heads = [words[span[1] - 1] for span in _spans(pair)]
    for mark, span, head in zip(MARKS, _spans(pair), heads, strict=True):
        found.update(f"{mark}={word}" for word in words[slice(*span)])
        found.update([f"{mark} head={head}", f"{mark} ending={head[-3:]}"])
    found[f"heads={heads[0]} {heads[1]}"] += 1
    if name == "words":
        found.update(_around(pair, words))
    return {key: float(count) for key, count in found.items()}


def _around(pair: Pair, words: Sequence[str]) -> list[str]:
    """Return the words between two entities, and one before and one after them."""
    low, high = sorted(_spans(pair))
    between = list(words[low[1] : high[0]])
    found = [f"between={word}" for word in between]
    found.append(f"number={min(len(between), LONGEST)}")
    found.append("order=" + ("12" if pair.first <= pair.second else "21"))
    if between:
        found += [f"opens={between[0]}", f"closes={between[-1]}"]
    padded = ["<", *words, ">"]
    return [*found, f"before={padded[low[0]]}", f"after={padded[high[1] + 1]}"]


def _spans(pair: Pair) -> tuple[Span, Span]:
    return pair.first, pair.second
