"""Joining of parsed sentences into one: their spans, and their parses one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kernelwood.text.annotation import ROOT, Entity, Span
from kernelwood.text.sentence import Sentence

PARSE = ("tokens", "dependencies", "tree", "enhanced", "empty", "multiwords")


def join_across(spans: Iterable[Span], entities: Iterable[Entity]) -> list[Span]:
    """Return the spans of sentences, with those joined that share an entity.

    Examples
    --------
    >>> join_across([(0, 4), (5, 12)], [Entity("T1", "Figure", ((0, 6),))])
    [(0, 12)]
    """
    ordered = sorted((entity.start, entity.end) for entity in entities if entity.spans)
    joined: list[Span] = []
    reach = at = 0  # largest end of the entities that began so far
    for start, end in spans:
        if joined and reach > start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
        while at < len(ordered) and ordered[at][0] < end:
            reach = max(reach, ordered[at][1])
            at += 1
    return joined


def join_parses(parts: Sequence[Sentence], start: int = 0) -> dict[str, Any]:
    """Return the parse of a sentence of which these are parts, as fields of `Sentence`.

    A single part keeps its tree; several parts have none.

    Parameters
    ----------
    parts : sequence of Sentence
        In order; ``start`` of each is its offset in the text that contains them.
    start : int
        Offset of the whole sentence in that text.

    Examples
    --------
    >>> parts = [Sentence.from_words(["Fig."]), Sentence.from_words(["2"], start=5)]
    >>> [(token.text, token.start) for token in join_parses(parts)["tokens"]]
    [('Fig.', 0), ('2', 5)]
    """
    if len(parts) == 1 and parts[0].start == start:
        return {name: getattr(parts[0], name) for name in PARSE}
    n_tokens = sum(len(part.tokens) for part in parts)
    joined: dict[str, list[Any]] = {name: [] for name in PARSE if name != "tree"}
    for part in parts:
        first, shift = len(joined["tokens"]), part.start - start
        # Heads and dependents of enhanced dependencies are tokens, then empty nodes.
        nodes = [*range(first, first + len(part.tokens))]
        nodes += [n_tokens + len(joined["empty"]) + place for place in range(len(part.empty))]
        nodes.append(ROOT)  # at index -1
        for name in ("dependencies", "enhanced"):
            joined[name] += [
                edge._replace(head=nodes[edge.head], dependent=nodes[edge.dependent])
                for edge in getattr(part, name)
            ]
        joined["tokens"] += [
            token._replace(start=token.start + shift, end=token.end + shift)
            for token in part.tokens
        ]
        joined["empty"] += [node._replace(after=node.after + first) for node in part.empty]
        joined["multiwords"] += [
            word._replace(first=word.first + first, end=word.end + first)
            for word in part.multiwords
        ]
    tree = parts[0].tree if len(parts) == 1 else None
    return {name: tuple(rows) for name, rows in joined.items()} | {"tree": tree}
