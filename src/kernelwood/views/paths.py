"""The shortest path between two entities along the dependencies of their sentence."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from kernelwood.structures import Sequence
from kernelwood.text import ROOT, Dependency, Entity, Sentence, dependencies_of
from kernelwood.views.word_sequences import BLIND, OTHERS, Labels, Mentions, check_blind

__all__ = [
    "NO_PATH",
    "NO_TOKEN",
    "SHARED_TOKEN",
    "DependencyPaths",
    "Path",
    "Way",
    "shortest_path",
]

SHARED_TOKEN = "shared token"
NO_PATH = "no path"
NO_TOKEN = "no token"


class Path(NamedTuple):
    """The way from one entity to another.

    Attributes
    ----------
    sequence : Sequence
        The first entity, then for every step the relation and the word it leads to.
    tokens : tuple of int
        The token of each element; empty if an entity has none.
    fallback : str or None
        Why this is no path of the dependencies: ``"shared token"``, ``"no path"`` or
        ``"no token"``; None if it is one.
    """

    sequence: Sequence
    tokens: tuple[int, ...]
    fallback: str | None = None


class Way(NamedTuple):
    """A path in plain parts, before it becomes a structure.

    Attributes
    ----------
    tokens, fallback
        As in `Path`.
    relations : list of str
        The label of each step.
    nodes : list of str
        What is written for each place, one more than there are steps.
    """

    tokens: tuple[int, ...]
    relations: list[str]
    nodes: list[str]
    fallback: str | None


def shortest_path(
    sentence: Sentence,
    first: Entity,
    second: Entity,
    *,
    labels: Labels = "text",
    lowercase: bool = True,
    directed: bool = True,
    blind: tuple[str, str] | None = BLIND,
    others: str | None = OTHERS,
) -> Path:
    """Return the shortest dependency path from one entity of a sentence to another.

    Takes time proportional to tokens and dependencies. For several pairs of one sentence,
    `DependencyPaths` prepares it once.

    Parameters
    ----------
    sentence : Sentence
        With tokens and dependencies.
    first, second : Entity
        Where the path begins and ends; each may have several tokens, the nearest two count.
    labels : {"text", "lemma", "stem", "tag", "pos"}
        What is written for a token, see `kernelwood.views.word_sequences.token_label`.
    lowercase : bool
        Whether words are written in lower case.
    directed : bool
        Whether a step from a dependent up to its head is written ``relation-of``; a step down is
        always written ``relation``.
    blind : (str, str) or None
        What stands for the two entities; None for their own words.
    others : str or None
        What stands for the tokens of further entities, the triggers of events excepted; None for
        their own words.

    Returns
    -------
    Path
        Sequence, tokens, and why it is a fallback if it is one.

    Raises
    ------
    StructureError
        If an entity lies outside the sentence or an option cannot be used.

    Notes
    -----
    Of several shortest paths, the one that begins at the last token of ``first`` is taken, and
    of these, the one whose tokens come first in the sentence, compared step by step. Of several
    relations between two tokens, one that leads down, then the first of the alphabet. Edges from
    the root are no way between words.

    Where there is no path, something is returned nevertheless, and flagged: entities that share
    a token are joined by the edge ``same`` (``"shared token"``); entities that the dependencies
    do not connect are joined by the words between them, with edges ``next``, or ``next-of`` when
    ``second`` comes first (``"no path"``); if an entity covers no token, the sequence is just
    the two, with an empty edge (``"no token"``).

    References
    ----------
    .. [1] R. Bunescu, R. Mooney, "A shortest path dependency kernel for relation extraction",
       HLT-EMNLP 2005.

    Examples
    --------
    >>> raf, ras = Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((15, 18),))
    >>> sentence = Sentence.from_words(
    ...     ["Raf", "quickly", "met", "Ras"],
    ...     dependencies=[(2, "nsubj", 0), (2, "advmod", 1), (2, "dobj", 3)],
    ...     entities=[raf, ras],
    ... )
    >>> path = shortest_path(sentence, raf, ras)
    >>> path.sequence
    Sequence([('', 'ENTITY1'), ('nsubj-of', 'met'), ('dobj', 'ENTITY2')])
    >>> path.tokens, path.fallback
    ((0, 2, 3), None)
    """
    paths = DependencyPaths(
        sentence,
        labels=labels,
        lowercase=lowercase,
        directed=directed,
        blind=blind,
        others=others,
    )
    return paths.between(first, second)


class DependencyPaths:
    """All shortest dependency paths of a sentence, found one by one.

    Parameters
    ----------
    sentence, labels, lowercase, directed, blind, others
        As in `shortest_path`.

    Attributes
    ----------
    mentions : Mentions
        Where entities stand, and what is written for tokens.

    Examples
    --------
    >>> cat, mouse = Entity("a", "animal", ((0, 3),)), Entity("b", "animal", ((9, 14),))
    >>> sentence = Sentence.from_words(
    ...     ["cats", "eat", "mouse"], dependencies=[(1, "nsubj", 0), (1, "obj", 2)]
    ... )
    >>> paths = DependencyPaths(sentence, blind=None)
    >>> paths.between(mouse, cat).sequence
    Sequence([('', 'mouse'), ('obj-of', 'eat'), ('nsubj', 'cats')])
    """

    __slots__ = ("_blind", "_chain", "_directed", "_links", "_lowercase", "_n_tokens", "mentions")

    def __init__(
        self,
        sentence: Sentence,
        *,
        labels: Labels = "text",
        lowercase: bool = True,
        directed: bool = True,
        blind: tuple[str, str] | None = BLIND,
        others: str | None = OTHERS,
    ) -> None:
        check_blind(blind)
        self.mentions = Mentions(sentence, labels=labels, lowercase=lowercase, others=others)
        self._n_tokens = len(sentence.tokens)
        self._links = _Links(self._n_tokens, dependencies_of(sentence))
        self._chain: _Links | None = None
        self._lowercase = lowercase
        self._directed = directed
        self._blind = blind

    def between(self, first: Entity, second: Entity) -> Path:
        """Return the path from one entity to another, as `shortest_path` does."""
        tokens, relations, nodes, fallback = self.way(first, second)
        return Path(Sequence(zip(["", *relations], nodes, strict=True)), tokens, fallback)

    def way(self, first: Entity, second: Entity) -> Way:
        """Return the path from one entity to another in plain parts.

        Examples
        --------
        >>> sentence = Sentence.from_words(["a", "cat"], dependencies=[(1, "det", 0)])
        >>> ends = Entity("x", "", ((0, 1),)), Entity("y", "", ((2, 5),))
        >>> DependencyPaths(sentence).way(*ends)
        Way(tokens=(0, 1), relations=['det-of'], nodes=['ENTITY1', 'ENTITY2'], fallback=None)
        """
        starts, ends = self.mentions.tokens_of(first), self.mentions.tokens_of(second)
        if not (starts and ends):
            written = [self._end(0, first, starts), self._end(1, second, ends)]
            return Way((), [""], written, NO_TOKEN)
        shared = set(starts).intersection(ends)
        if shared:
            token = max(shared)
            return self._way((token, token), ["same"], SHARED_TOKEN)
        tokens = self._links.shortest(starts, ends)
        if tokens:
            return self._way(tokens, self._links.steps(tokens, self._directed), None)
        if self._chain is None:
            neighbors = (Dependency(at, "next", at + 1) for at in range(self._n_tokens - 1))
            self._chain = _Links(self._n_tokens, neighbors)
        tokens = self._chain.shortest(starts, ends)
        return self._way(tokens, self._chain.steps(tokens, self._directed), NO_PATH)

    def _way(self, tokens: tuple[int, ...], relations: list[str], fallback: str | None) -> Way:
        if self._blind is None:
            first, second = self.mentions.word(tokens[0]), self.mentions.word(tokens[-1])
        else:
            first, second = self._blind
        nodes = [first, *map(self.mentions.label, tokens[1:-1]), second]
        return Way(tokens, relations, nodes, fallback)

    def _end(self, role: int, entity: Entity, tokens: tuple[int, ...]) -> str:
        """Return what is written for an entity of a pair that has no path."""
        if self._blind is not None:
            return self._blind[role]
        if tokens:
            return self.mentions.word(tokens[-1])
        return entity.text.lower() if self._lowercase else entity.text


class _Links:
    """Dependencies as ways that can be walked in both directions."""

    __slots__ = ("_found", "_neighbors", "_relations")

    def __init__(self, n_tokens: int, dependencies: Iterable[Dependency]) -> None:
        neighbors: list[list[int]] = [[] for _ in range(n_tokens)]
        relations: dict[tuple[int, int], str] = {}
        for head, relation, dependent in dependencies:
            if head == ROOT:
                continue
            known = relations.get((head, dependent))
            if known is None:
                neighbors[head].append(dependent)
                neighbors[dependent].append(head)
            if known is None or relation < known:
                relations[head, dependent] = relation
        self._neighbors = neighbors
        self._relations = relations
        self._found: dict[tuple[int, ...], tuple[dict[int, int], dict[int, int]]] = {}

    def shortest(self, starts: tuple[int, ...], ends: tuple[int, ...]) -> tuple[int, ...]:
        """Return the tokens of the shortest way from a start to an end, () if there is none.

        Of several, the first: from the last of the nearest starts, by the smallest token at each
        step.
        """
        distances, nearer = self._toward(ends)
        reached = [token for token in starts if token in distances]
        if not reached:
            return ()
        way = [max(reached, key=lambda token: (-distances[token], token))]
        while (token := nearer.get(way[-1])) is not None:
            way.append(token)
        return tuple(way)

    def _toward(self, ends: tuple[int, ...]) -> tuple[dict[int, int], dict[int, int]]:
        """Return how far each token is from the nearest end, and the next token on the way.

        Found breadth-first, once for all ways that lead to an entity. The tokens of a level are
        taken in order, so that the first to reach a neighbor is the smallest that does.
        """
        found = self._found.get(ends)
        if found is None:
            distances, nearer = dict.fromkeys(ends, 0), {}
            level, n_steps = sorted(ends), 0
            while level:
                n_steps += 1
                reached = []
                for token in level:
                    for neighbor in self._neighbors[token]:
                        if neighbor not in distances:
                            distances[neighbor], nearer[neighbor] = n_steps, token
                            reached.append(neighbor)
                level = sorted(reached)
            found = self._found[ends] = distances, nearer
        return found

    def steps(self, tokens: tuple[int, ...], directed: bool) -> list[str]:
        """Return the labels of the steps from token to token."""
        upward = "-of" if directed else ""
        labels = []
        for here, there in pairwise(tokens):
            down = self._relations.get((here, there))
            labels.append(self._relations[there, here] + upward if down is None else down)
        return labels
