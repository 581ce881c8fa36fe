"""Interactions over dependencies: what `amr` does with meanings, done with words.

Where a sentence has a dependency parse but no meaning representation, the subgraph that joins the
trigger of an interaction and its participants is taken from the dependencies.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernelwood.errors import StructureError
from kernelwood.structures import Graph, Sequence, Tree, shorten
from kernelwood.text import ROOT, Entity, Sentence, dependencies_of
from kernelwood.views.amr import interaction_path, interaction_tree

__all__ = ["head_token", "trigger_path", "trigger_tree"]


def head_token(sentence: Sentence, entity: Entity) -> int:
    """Return the token that stands for an entity of several tokens.

    The last of those whose head lies outside the entity, as in *nuclear factor kappa B*; without
    dependencies, the last.

    Raises
    ------
    StructureError
        If the entity covers no token.

    Examples
    --------
    >>> sentence = Sentence.from_words(["protein", "kinase", "C"], dependencies=[(1, "dep", 2)])
    >>> head_token(sentence, Entity("e", "protein", ((0, 16),)))
    1
    """
    tokens = sentence.tokens_of(entity)
    if not tokens:
        raise StructureError(f"entity {shorten(repr(entity.id))} covers no token")
    inside = frozenset(tokens)
    edges = [edge for edge in dependencies_of(sentence) if edge.head != edge.dependent]
    below = {edge.dependent for edge in edges if edge.head in inside}
    joined = {end for edge in edges for end in (edge.head, edge.dependent)}
    outer = [token for token in tokens if token not in below and token in joined]
    return (outer or list(tokens))[-1]


def trigger_tree(
    sentence: Sentence, trigger: Entity, participants: Iterable[tuple[str, Entity]], **options: Any
) -> Tree:
    """Return the part of the dependencies that joins a trigger with its participants.

    Parameters
    ----------
    sentence : Sentence
        With dependencies, or a tree they follow from.
    trigger : Entity
        Its head word becomes the root.
    participants : iterable of (role, Entity)
        Their head words become leaves.
    **options
        As in `kernelwood.views.interaction_tree`.

    Raises
    ------
    StructureError
        If two of them share a word, cover none, or are not joined.
    """
    graph, root, ends = _graph(sentence, trigger, participants)
    return interaction_tree(graph, root, ends, **{"senses": True, **options})


def trigger_path(
    sentence: Sentence, trigger: Entity, participants: Iterable[tuple[str, Entity]], **options: Any
) -> Sequence:
    """Return the walk between a trigger and its participants over the dependencies.

    Takes what `trigger_tree` takes, and the options of `kernelwood.views.interaction_path`.
    """
    graph, root, ends = _graph(sentence, trigger, participants)
    return interaction_path(graph, root, ends, **{"senses": True, **options})


def _graph(
    sentence: Sentence, trigger: Entity, participants: Iterable[tuple[str, Entity]]
) -> tuple[Graph, int, list[tuple[str, int]]]:
    """Return the dependencies as a graph in which participants are blinded by their type."""
    dependencies = dependencies_of(sentence)
    if not dependencies:
        raise StructureError("the sentence has no dependencies")
    root = head_token(sentence, trigger)
    labels = [(index, token.text.lower()) for index, token in enumerate(sentence.tokens)]
    ends: list[tuple[str, int]] = []
    for role, entity in participants:
        token = head_token(sentence, entity)
        if token == root or any(token == other for _, other in ends):
            raise StructureError("trigger and participants share a word")
        labels[token] = (token, (entity.type or "entity").lower())
        ends.append((role, token))
    edges = [edge for edge in dependencies if edge.head != ROOT]
    return Graph(labels, edges, root), root, ends
