"""View of two entities as a graph of the whole sentence, for the all-paths graph kernel."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

from kernelwood.structures import Graph
from kernelwood.text import ROOT, Dependency, Entity, Sentence, dependencies_of
from kernelwood.views.dependency_paths import DependencyPaths
from kernelwood.views.word_sequences import BLIND, OTHERS, Labels

_ON_PATH = "/IP"
_BEFORE, _MIDDLE, _AFTER = "/B", "/M", "/A"
PATH_EDGE, OTHER_EDGE, NEXT_EDGE = "path", "", "next"


class PathGraph(NamedTuple):
    """The graph of a sentence for two of its entities.

    Attributes
    ----------
    graph : Graph
        Dependencies, and words in order.
    fallback : str or None
        Why no path of dependencies is marked, see `Path`; None if one is.
    """

    graph: Graph
    fallback: str | None = None


def all_paths_graph(
    sentence: Sentence,
    first: Entity,
    second: Entity,
    *,
    labels: Labels = "text",
    lowercase: bool = True,
    blind: tuple[str, str] | None = BLIND,
    others: str | None = OTHERS,
) -> PathGraph:
    """Return the graph of a sentence in which the shortest path of two entities is marked.

    It has two parts that are not connected. The part of dependencies has a node for each token and
    for each dependency, labeled by its relation, with edges from the head to the dependency and
    from there to the dependent. Nodes on the shortest path between the entities have the ending
    ``/IP`` (in path), and the edges there are labeled ``path``, all others "". The part of words
    has another node for each token, with an edge ``next`` to the following one; labels end in
    ``/B``, ``/M`` and ``/A`` before, between and after the entities, whose own tokens have no
    ending.

    Takes time proportional to tokens and dependencies. For several pairs of one sentence,
    `PathGraphs` prepares it once.

    Parameters
    ----------
    sentence, first, second, labels, lowercase, others
        As in `kernelwood.views.shortest_path`.
    blind : (str, str) or None
        Labels of all tokens of the two entities; None for their own words.

    Returns
    -------
    PathGraph
        The graph, and the reason if no path is marked: its ends only are then ``/IP``.

    Raises
    ------
    StructureError
        If an entity lies outside the sentence or an option cannot be used.

    Notes
    -----
    This is the graph of [1]_, except that a token has one label; there, it also has its part of
    speech. Edges from the root are left out.

    References
    ----------
    .. [1] A. Airola, S. Pyysalo, J. Björne, T. Pahikkala, F. Ginter, T. Salakoski, "All-paths graph
       kernel for protein-protein interaction extraction with evaluation of cross-corpus learning",
       BMC Bioinformatics 9 (Suppl 11), 2008.

    Examples
    --------
    >>> raf, ras = Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((15, 18),))
    >>> sentence = Sentence.from_words(
    ...     ["Raf", "quickly", "met", "Ras"],
    ...     dependencies=[(2, "nsubj", 0), (2, "advmod", 1), (2, "dobj", 3)],
    ...     entities=[raf, ras],
    ... )
    >>> graph = all_paths_graph(sentence, raf, ras).graph
    >>> [graph.nodes[node] for node in range(7)]
    ['ENTITY1/IP', 'quickly', 'met/IP', 'ENTITY2/IP', 'nsubj/IP', 'advmod', 'dobj/IP']
    >>> [graph.nodes[node] for node in range(7, 11)]
    ['ENTITY1', 'quickly/M', 'met/M', 'ENTITY2']
    >>> graph.edges[:3]
    ((2, 'path', 4), (4, 'path', 0), (2, '', 5))
    """
    graphs = PathGraphs(sentence, labels=labels, lowercase=lowercase, blind=blind, others=others)
    return graphs.between(first, second)


class PathGraphs:
    """Graphs of a sentence for pairs of entities, prepared once for all pairs.

    Parameters
    ----------
    sentence, labels, lowercase, blind, others
        As in `all_paths_graph`.

    Examples
    --------
    >>> cat, mouse = Entity("a", "animal", ((0, 4),)), Entity("b", "animal", ((9, 14),))
    >>> sentence = Sentence.from_words(
    ...     ["cats", "eat", "mouse"], dependencies=[(1, "nsubj", 0), (1, "obj", 2)]
    ... )
    >>> PathGraphs(sentence).between(mouse, cat).graph
    Graph(8 nodes, 6 edges)
    """

    __slots__ = ("_blind", "_dependencies", "_n_tokens", "_paths")

    def __init__(
        self,
        sentence: Sentence,
        *,
        labels: Labels = "text",
        lowercase: bool = True,
        blind: tuple[str, str] | None = BLIND,
        others: str | None = OTHERS,
    ) -> None:
        options: Any = {"labels": labels, "lowercase": lowercase, "blind": blind, "others": others}
        self._paths = DependencyPaths(sentence, **options)
        self._blind = blind
        self._n_tokens = len(sentence.tokens)
        self._dependencies: list[Dependency] = [
            Dependency(*each) for each in dependencies_of(sentence) if each[0] != ROOT
        ]

    def between(self, first: Entity, second: Entity) -> PathGraph:
        """Return the graph for a pair of entities; see `all_paths_graph`."""
        path = self._paths.between(first, second)
        ends = [self._paths.mentions.tokens_of(entity) for entity in (first, second)]
        words = [self._word(token, ends) for token in range(self._n_tokens)]
        follows = path.fallback is None
        marked = set(path.tokens if follows else path.tokens[:1] + path.tokens[-1:])
        links = {frozenset(link) for link in pairwise(path.tokens)} if follows else set()

        labels = [word + _ON_PATH if at in marked else word for at, word in enumerate(words)]
        edges: list[tuple[int, str, int]] = []
        for head, relation, dependent in self._dependencies:
            on_path = frozenset((head, dependent)) in links
            edge = PATH_EDGE if on_path else OTHER_EDGE
            edges += [(head, edge, len(labels)), (len(labels), edge, dependent)]
            labels.append(relation + _ON_PATH if on_path else relation)
        start = len(labels)
        labels += self._in_order(words, *ends)
        edges += [(at, NEXT_EDGE, at + 1) for at in range(start, len(labels) - 1)]
        nodes = dict(enumerate(labels))
        return PathGraph(Graph._trusted(nodes, tuple(edges), None), path.fallback)

    def _word(self, token: int, ends: list[tuple[int, ...]]) -> str:
        """Return the label of a token: of the two entities by role, else as in other views."""
        for role, tokens in enumerate(ends):
            if token in tokens:
                return (
                    self._paths.mentions.word(token) if self._blind is None else self._blind[role]
                )
        return self._paths.mentions.label(token)

    def _in_order(
        self, words: list[str], first: tuple[int, ...], second: tuple[int, ...]
    ) -> list[str]:
        """Return the labels of the tokens in order, with their places relative to the entities."""
        own = {*first, *second}
        if not own:
            return [word + _MIDDLE for word in words]
        low, high = min(own), max(own)
        return [
            word
            if at in own
            else word + (_BEFORE if at < low else _AFTER if at > high else _MIDDLE)
            for at, word in enumerate(words)
        ]
