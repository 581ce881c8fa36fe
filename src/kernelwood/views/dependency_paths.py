"""Views of the shortest dependency path between two entities: sequences, tree, negation."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from kernelwood.structures import Sequence, Tree, make_node
from kernelwood.text import ROOT, Dependency, Entity, Sentence, dependencies_of
from kernelwood.views.word_sequences import (
    BLIND,
    OTHERS,
    Labels,
    check_blind,
    entity_tokens,
    mentions_of,
    prepared_once,
)

SHARED_TOKEN = "shared token"
NO_PATH = "no path"
NO_TOKEN = "no token"

# English words that negate, or report something that did not happen.
_NEGATING_WORDS = frozenset(
    """
    no not n't n’t never neither nor none cannot without absence absent unable
    fail fails failed failing failure lack lacks lacked lacking
    """.split()
)
_NEGATION = "neg"  # relation of the Stanford dependencies


_Route: TypeAlias = "tuple[tuple[int, ...], _Links | None, str | None]"


class Path(NamedTuple):
    """A path from one entity to another.

    Attributes
    ----------
    tokens : tuple of int
        The token of each node; empty if an entity has none.
    relations : list of str
        The label of each step.
    nodes : list of str
        The label of each node, one more than there are steps.
    fallback : str or None
        Reason why the path does not follow dependencies: ``"shared token"``, ``"no path"`` or
        ``"no token"``; None if it does.
    """

    tokens: tuple[int, ...]
    relations: list[str]
    nodes: list[str]
    fallback: str | None = None

    @property
    def sequence(self) -> Sequence:
        """The nodes, each with the relation that leads to it as its edge."""
        return Sequence._of(["", *self.relations], self.nodes)

    @property
    def steps(self) -> Sequence:
        """Nodes and relations in turn, without edges; see `path_steps`."""
        nodes = self.nodes
        written = [nodes[0]]
        for place, relation in enumerate(self.relations, start=1):
            if relation:
                written.append(f"<{relation}>")
            written.append(nodes[place])
        return Sequence._of([""] * len(written), written)


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
        Sentence with tokens and dependencies.
    first, second : Entity
        Start and end of the path. If they have several tokens, the nearest two are used.
    labels : {"text", "lemma", "stem", "tag", "pos"}
        Label of a token, see `kernelwood.views.word_sequences.token_label`.
    lowercase : bool
        Whether words are lowercased.
    directed : bool
        Whether a step from a dependent up to its head is labeled ``relation-of``; a step down is
        always labeled ``relation``.
    blind : (str, str) or None
        Labels of the two entities; None for their own words.
    others : str or None
        Label of the tokens of other entities, except triggers of events; None for their own
        words.

    Returns
    -------
    Path
        Tokens, labels, and the reason if it is a fallback.

    Raises
    ------
    StructureError
        If an entity lies outside the sentence or an option cannot be used.

    Notes
    -----
    Ties between shortest paths go to the one that begins at the last token of ``first``, then to
    the one whose tokens come first in the sentence, compared step by step; ties between relations
    of two tokens to one that leads down, then to the first of the alphabet. Edges from the root
    are ignored.

    If there is no path, a fallback is returned and flagged: entities that share a token are joined
    by the edge ``same`` (``"shared token"``); entities that the dependencies do not connect are
    joined by the words between them, with edges ``next``, or ``next-of`` if ``second`` comes first
    (``"no path"``); if an entity covers no token, the path has only the two entities, with an
    empty edge (``"no token"``).

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
    """Shortest dependency paths of a sentence, prepared once for all pairs.

    Parameters
    ----------
    sentence, labels, lowercase, directed, blind, others
        As in `shortest_path`.

    Attributes
    ----------
    mentions : Mentions
        Tokens of entities, and labels of tokens.

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

    __slots__ = ("_blind", "_directed", "_lowercase", "_routes", "mentions")

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
        self.mentions = mentions_of(sentence, labels=labels, lowercase=lowercase, others=others)
        self._routes = prepared_once(sentence, "routes", lambda: _Routes(sentence))
        self._lowercase = lowercase
        self._directed = directed
        self._blind = blind

    def between(self, first: Entity, second: Entity) -> Path:
        """Return the path from one entity to another; see `shortest_path`."""
        tokens, links, fallback = self._routes.between(first, second)
        if not tokens:
            covered = map(self.mentions.tokens_of, (first, second))
            ends = zip((0, 1), (first, second), covered, strict=True)
            return Path((), [""], [self._end(*end) for end in ends], fallback)
        relations = ["same"] if links is None else links.steps(tokens, self._directed)
        if self._blind is None:
            start, end = self.mentions.word(tokens[0]), self.mentions.word(tokens[-1])
        else:
            start, end = self._blind
        nodes = [start, *map(self.mentions.label, tokens[1:-1]), end]
        return Path(tokens, relations, nodes, fallback)

    def _end(self, role: int, entity: Entity, tokens: tuple[int, ...]) -> str:
        """Return the label of an entity of a pair without a path."""
        if self._blind is not None:
            return self._blind[role]
        if tokens:
            return self.mentions.word(tokens[-1])
        return entity.text.lower() if self._lowercase else entity.text


class _Routes:
    """The tokens on the shortest paths between entities of a sentence, each found once."""

    __slots__ = ("_chain", "_found", "_links", "_n_tokens", "_tokens_of")

    def __init__(self, sentence: Sentence) -> None:
        self._tokens_of = entity_tokens(sentence)
        self._n_tokens = len(sentence.tokens)
        self._links = _Links(self._n_tokens, dependencies_of(sentence))
        self._chain: _Links | None = None
        # By the tokens of the two entities.
        self._found: dict[tuple[tuple[int, ...], ...], _Route] = {}

    def between(self, first: Entity, second: Entity) -> _Route:
        """Return tokens, the links between them (None for a shared token), and the fallback."""
        ends = self._tokens_of(first), self._tokens_of(second)
        found = self._found.get(ends)
        if found is None:
            found = self._found[ends] = self._find(*ends)
        return found

    def _find(self, starts: tuple[int, ...], ends: tuple[int, ...]) -> _Route:
        if not (starts and ends):
            return (), None, NO_TOKEN
        if not (starts[-1] < ends[0] or ends[-1] < starts[0]):
            shared = set(starts).intersection(ends)
            if shared:
                return (max(shared),) * 2, None, SHARED_TOKEN
        tokens = self._links.shortest(starts, ends)
        if tokens:
            return tokens, self._links, None
        if self._chain is None:
            neighbors = (Dependency(at, "next", at + 1) for at in range(self._n_tokens - 1))
            self._chain = _Links(self._n_tokens, neighbors)
        return self._chain.shortest(starts, ends), self._chain, NO_PATH


class _Links:
    """Dependencies as an undirected graph."""

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
        """Return the tokens of the shortest path from a start to an end, () if there is none.

        Ties go to the last of the nearest starts, then to the smallest token at each step.
        """
        distances, nearer = self._toward(ends)
        reached = [(-distances[token], token) for token in starts if token in distances]
        if not reached:
            return ()
        token: int | None = max(reached)[1]
        path = []
        while token is not None:
            path.append(token)
            token = nearer.get(token)
        return tuple(path)

    def _toward(self, ends: tuple[int, ...]) -> tuple[dict[int, int], dict[int, int]]:
        """Return the distance of each token to the nearest end, and the next token on the path.

        Computed breadth-first, once for all paths to an entity. The tokens of a level are visited
        in order, so that a neighbor is reached from the smallest of them.
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


def path_steps(sentence: Sentence, first: Entity, second: Entity, **options: Any) -> Sequence:
    """Return the shortest dependency path with relations as elements of their own.

    Elements of `shortest_path` match if relation and word match. Here, words match although their
    relations differ, and relations although their words differ, which helps if there are few
    examples.

    Parameters
    ----------
    sentence : Sentence
        Sentence with tokens and dependencies.
    first, second : Entity
        Start and end of the path.
    **options
        As in `kernelwood.views.shortest_path`.

    Returns
    -------
    Sequence
        Sequence without edge labels; angle brackets distinguish relations from words.

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
    return DependencyPaths(sentence, **options).between(first, second).steps


class PathTree(NamedTuple):
    """The dependencies around the path from one entity to another.

    Attributes
    ----------
    tree : Tree
        Relations with their words and dependents below them.
    fallback : str or None
        Reason why the tree is not part of the dependencies, see `Path`; None if it is.
    """

    tree: Tree
    fallback: str | None = None


def path_tree(
    sentence: Sentence,
    first: Entity,
    second: Entity,
    *,
    labels: Labels = "text",
    lowercase: bool = True,
    blind: tuple[str, str] | None = BLIND,
    others: str | None = OTHERS,
) -> PathTree:
    """Return the shortest dependency path with its direct dependents, as a tree of relations.

    Inner nodes are relations. Below each are its word and the dependents of the word, in the order
    of the sentence. Dependents of words on the path (such as a negation) are included, without
    their own dependents. The label of the root is ``root``.

    Takes time proportional to tokens and dependencies. For several pairs of one sentence,
    `PathTrees` prepares it once.

    Parameters
    ----------
    sentence, first, second, labels, lowercase, blind, others
        As in `kernelwood.views.shortest_path`.

    Returns
    -------
    PathTree
        The tree, and the reason if it is a fallback.

    Raises
    ------
    StructureError
        If an entity lies outside the sentence or an option cannot be used.

    Notes
    -----
    The root is the word at the end of the last step up; without a step up, the first entity. Words
    before it on the path are below it for any direction of their steps (dependencies may be a
    graph). Other words of the two entities are left out.

    If there is no path, the words of the fallback are below a root ``none``.

    Examples
    --------
    >>> raf, ras = Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((23, 26),))
    >>> sentence = Sentence.from_words(
    ...     ["Raf", "does", "not", "bind", "free", "Ras"],
    ...     dependencies=[
    ...         (3, "nsubj", 0), (3, "aux", 1), (3, "neg", 2), (3, "dobj", 5), (5, "amod", 4)
    ...     ],
    ... )
    >>> path_tree(sentence, raf, ras).tree.to_brackets()
    '(root (nsubj ENTITY1) (aux does) (neg not) bind (dobj (amod free) ENTITY2))'
    """
    trees = PathTrees(sentence, labels=labels, lowercase=lowercase, blind=blind, others=others)
    return trees.between(first, second)


class PathTrees:
    """Trees around shortest dependency paths of a sentence, prepared once for all pairs.

    Parameters
    ----------
    sentence, labels, lowercase, blind, others
        As in `path_tree`.

    Examples
    --------
    >>> cat, mouse = Entity("a", "animal", ((0, 3),)), Entity("b", "animal", ((9, 14),))
    >>> sentence = Sentence.from_words(
    ...     ["cats", "eat", "mouse"], dependencies=[(1, "nsubj", 0), (1, "obj", 2)]
    ... )
    >>> PathTrees(sentence, blind=None).between(mouse, cat).tree
    Tree('(root (nsubj cats) eat (obj mouse))')
    """

    __slots__ = ("_governed", "_hanging", "_mentions", "_paths")

    def __init__(
        self,
        sentence: Sentence,
        *,
        labels: Labels = "text",
        lowercase: bool = True,
        blind: tuple[str, str] | None = BLIND,
        others: str | None = OTHERS,
    ) -> None:
        self._paths = DependencyPaths(
            sentence,
            labels=labels,
            lowercase=lowercase,
            directed=False,
            blind=blind,
            others=others,
        )
        self._mentions = self._paths.mentions
        self._governed: dict[int, list[tuple[int, str]]] = {}
        for head, relation, dependent in dependencies_of(sentence):
            self._governed.setdefault(head, []).append((dependent, relation))
        self._hanging: dict[int, list[tuple[int, Tree]]] = {}

    def between(self, first: Entity, second: Entity) -> PathTree:
        """Return the tree around the path from one entity to another; see `path_tree`."""
        path = self._paths.between(first, second)
        leaves = [make_node(node, (), "") for node in path.nodes]
        if path.fallback:
            return PathTree(make_node("none", tuple(leaves), ""), path.fallback)
        left_out = {*path.tokens, *self._mentions.tokens_of(first)}
        left_out.update(self._mentions.tokens_of(second))
        below = []
        for token, leaf in zip(path.tokens, leaves, strict=True):
            children = [child for child in self._below(token) if child[0] not in left_out]
            children.append((token, leaf))
            below.append(children)
        return PathTree(_join(path, below, self._top(path.tokens)))

    def _below(self, token: int) -> list[tuple[int, Tree]]:
        """Return the dependents of a word as trees of a relation above a word."""
        hanging = self._hanging.get(token)
        if hanging is None:
            label = self._mentions.label
            hanging = self._hanging[token] = [
                (dependent, make_node(relation, (make_node(label(dependent), (), ""),), ""))
                for dependent, relation in self._governed.get(token, ())
            ]
        return hanging

    def _top(self, tokens: tuple[int, ...]) -> int:
        """Return the position on a path after the last step that only leads up."""
        for at in range(len(tokens) - 1, 0, -1):
            governed = self._governed.get(tokens[at - 1], ())
            if all(dependent != tokens[at] for dependent, _ in governed):
                return at
        return 0


def _join(path: Path, below: list[list[tuple[int, Tree]]], top: int) -> Tree:
    """Return the tree of a path and the subtrees below each of its words.

    Built from both ends to the top, so that each subtree is complete when it is attached.
    """
    tokens, relations = path.tokens, path.relations
    for at in range(top):
        below[at + 1].append((tokens[at], _node(relations[at], below[at])))
    for at in range(len(tokens) - 1, top, -1):
        below[at - 1].append((tokens[at], _node(relations[at - 1], below[at])))
    return _node("root", below[top])


def _node(relation: str, below: list[tuple[int, Tree]]) -> Tree:
    if len(below) > 1:
        below.sort(key=itemgetter(0))
    return make_node(relation, tuple([tree for _, tree in below]), "")


def negation(sentence: Sentence, first: Entity, second: Entity) -> Sequence:
    """Return whether the relation of two entities is negated, as a sequence of two labels.

    A negation is one word of many and seldom on the path itself, so that kernels on words and paths
    give it little weight. This view contains only the negation.

    For several pairs of one sentence, `Negations` prepares it once.

    Parameters
    ----------
    sentence : Sentence
        Sentence with tokens and dependencies.
    first, second : Entity
        The entities, in any order.

    Returns
    -------
    Sequence
        ``pair``, which is common to all pairs; then ``denied`` if a word such as *not*, *no* or
        *failed* is on the shortest dependency path between the two, or depends on a word of the
        path or on the head of one; else ``stated``.

    Notes
    -----
    The words are English. Negations further away are ignored. Without dependencies, the words
    between the two entities are searched.

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
    """Negations of a sentence, prepared once for all pairs of entities.

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

    __slots__ = ("_denied", "_heads", "_routes")

    def __init__(self, sentence: Sentence) -> None:
        denying = {
            i for i, token in enumerate(sentence.tokens) if token.text.lower() in _NEGATING_WORDS
        }
        arcs = [arc for arc in dependencies_of(sentence) if arc.head != ROOT]
        self._denied = denying | {
            head for head, relation, dependent in arcs
            if dependent in denying or relation == _NEGATION
        }  # fmt: skip
        self._heads: dict[int, list[int]] = {}
        self._routes: _Routes | None = None
        if self._denied:  # most sentences have no negation, and need no paths
            self._routes = prepared_once(sentence, "routes", lambda: _Routes(sentence))
            for head, _, dependent in arcs:
                self._heads.setdefault(dependent, []).append(head)

    def around(self, first: Entity, second: Entity) -> Sequence:
        """Return whether the relation of two entities is negated; see `negation`."""
        if self._routes is None:
            return _negation_sequence(denied=False)
        path, _, _ = self._routes.between(first, second)
        heads = (head for token in path for head in self._heads.get(token, ()))
        return _negation_sequence(denied=not self._denied.isdisjoint((*path, *heads)))


@lru_cache(maxsize=2)
def _negation_sequence(*, denied: bool) -> Sequence:
    return Sequence(["pair", "denied" if denied else "stated"])
