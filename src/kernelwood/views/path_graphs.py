"""View of two entities as a graph of the whole sentence, for the all-paths graph kernel."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

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
        Reason why no path of dependencies is marked, see `Path`; None if one is.
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
    tags: bool = False,
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
    tags : bool
        Whether tokens have their part of speech as a second label. A token then has two more nodes:
        one where paths begin, and one where they end.

    Returns
    -------
    PathGraph
        The graph, and the reason if no path is marked; ``/IP`` then marks its ends only.

    Raises
    ------
    StructureError
        If an entity lies outside the sentence or an option cannot be used.

    Notes
    -----
    With ``tags``, this is the graph of [1]_, in which paths join words and parts of speech. Edges
    from the root are left out.

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
    graphs = PathGraphs(
        sentence, labels=labels, lowercase=lowercase, blind=blind, others=others, tags=tags
    )
    return graphs.between(first, second)


class PathGraphs:
    """Graphs of a sentence for pairs of entities, prepared once for all pairs.

    Parameters
    ----------
    sentence, labels, lowercase, blind, others, tags
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

    __slots__ = ("_blind", "_dependencies", "_paths", "_tags")

    def __init__(
        self,
        sentence: Sentence,
        *,
        labels: Labels = "text",
        lowercase: bool = True,
        blind: tuple[str, str] | None = BLIND,
        others: str | None = OTHERS,
        tags: bool = False,
    ) -> None:
        options: Any = {"labels": labels, "lowercase": lowercase, "blind": blind, "others": others}
        self._paths = DependencyPaths(sentence, **options)
        self._blind = blind
        named = [token.tag or token.pos for token in sentence.tokens]
        self._tags = named if tags else [""] * len(named)
        self._dependencies: list[Dependency] = [
            Dependency(*each) for each in dependencies_of(sentence) if each[0] != ROOT
        ]

    def between(self, first: Entity, second: Entity) -> PathGraph:
        """Return the graph for a pair of entities; see `all_paths_graph`."""
        path = self._paths.between(first, second)
        ends = [self._paths.mentions.tokens_of(entity) for entity in (first, second)]
        words = [self._word(token, ends) for token in range(len(self._tags))]
        follows = path.fallback is None
        marked = set(path.tokens if follows else path.tokens[:1] + path.tokens[-1:])
        links = {frozenset(link) for link in pairwise(path.tokens)} if follows else set()

        graph = _Drawing()
        tokens = graph.add_tokens(
            words, self._tags, [_ON_PATH * (at in marked) for at in self._all]
        )
        for head, relation, dependent in self._dependencies:
            on_path = frozenset((head, dependent)) in links
            label, edge = (relation + _ON_PATH, PATH_EDGE) if on_path else (relation, OTHER_EDGE)
            between = graph.add(label)
            graph.join(tokens[head], edge, between)
            graph.join(between, edge, tokens[dependent])
        in_order = graph.add_tokens(words, self._tags, self._places({*ends[0], *ends[1]}))
        for one, other in pairwise(in_order):
            graph.join(one, NEXT_EDGE, other)
        return PathGraph(graph.made(), path.fallback)

    @property
    def _all(self) -> range:
        return range(len(self._tags))

    def _word(self, token: int, ends: list[tuple[int, ...]]) -> str:
        """Return the label of a token: of the two entities by role, else as in other views."""
        mentions = self._paths.mentions
        for role, tokens in enumerate(ends):
            if token in tokens:
                return mentions.word(token) if self._blind is None else self._blind[role]
        return mentions.label(token)

    def _places(self, own: set[int]) -> list[str]:
        """Return what tells where each token is, relative to those of the entities."""
        low, high = min(own, default=-1), max(own, default=len(self._tags))
        return [
            "" if at in own else _BEFORE if at < low else _AFTER if at > high else _MIDDLE
            for at in self._all
        ]


# The nodes of a vertex that edges leave, and those that edges enter.
_Vertex: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


class _Drawing:
    """A graph that is being made."""

    def __init__(self) -> None:
        self._labels: list[str] = []
        self._edges: list[tuple[int, str, int]] = []

    def add(self, *labels: str) -> _Vertex:
        """Add a vertex with one label or two.

        The second one has two nodes, where paths begin and where they end, so that all paths that
        begin or end at the vertex have both labels, and those through it are not doubled.
        """
        at = len(self._labels)
        self._labels += [*labels, *labels[1:]]
        return ((at, at + 1), (at, at + 2)) if len(labels) > 1 else ((at,), (at,))

    def add_tokens(self, words: list[str], tags: list[str], endings: list[str]) -> list[_Vertex]:
        """Add a vertex for each token, labeled by its word and, unless it is "", its tag."""
        return [
            self.add(word + ending, tag + ending) if tag else self.add(word + ending)
            for word, tag, ending in zip(words, tags, endings, strict=True)
        ]

    def join(self, source: _Vertex, label: str, target: _Vertex) -> None:
        """Add an edge between two vertices."""
        self._edges += [(begin, label, end) for begin in source[0] for end in target[1]]

    def made(self) -> Graph:
        """Return the graph."""
        return Graph._trusted(dict(enumerate(self._labels)), tuple(self._edges), None)
