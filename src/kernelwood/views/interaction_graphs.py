"""Views of interactions in graphs: the subgraph of trigger and participants, as tree and as walk.

A candidate is an interaction (a node of an AMR graph, or the trigger word of a dependency graph)
and participants with their roles. The part of the graph that joins them becomes a tree rooted in
the interaction [1]_, or a walk from participant to participant.

Paths are shortest paths, with edges in either direction. All paths of a candidate come from one
breadth-first search, so they branch once and never meet again. Ties are broken by the order of
edges in the graph: outgoing edges of a node before incoming ones.

References
----------
.. [1] S. Garg, A. Galstyan, U. Hermjakob, D. Marcu, "Extracting biomolecular interactions using
   semantic parsing of biomedical text", AAAI 2016.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

from kernelwood.errors import StructureError
from kernelwood.structures import Graph, NodeId, Sequence, Tree, make_node, shorten
from kernelwood.text import ROOT, Entity, Sentence, dependencies_of

INTERACTION_CONCEPTS = frozenset(
    """
    abolish abrogate accelerate acetylate activate affect amplify antagonize associate attenuate
    autophosphorylate bind block catalyze cleave colocalize conjugate convert couple deacetylate
    decrease degrade dephosphorylate deregulate destabilize dimerize diminish disrupt dissociate
    downmodulate downregulate elevate enhance exchange express facilitate glycosylate
    heterodimerize homodimerize hydrolyze hydroxylate immunoprecipitate impair inactivate increase
    induce influence inhibit interact interfere ligate load localize mediate methylate modify
    modulate myristoylate oligomerize overexpress oxidize palmitoylate phosphorylate polymerize
    potentiate prevent promote recruit reduce regulate release repress ribosylate secrete sequester
    stabilize stimulate sumoylate suppress synthesize tether transactivate transcribe translocate
    transport trigger ubiquitinate upregulate
    """.split()
)
"""Concepts of molecular interactions, without the number of the sense."""

ENTITY_CONCEPTS = frozenset(
    """
    amino-acid antibody dna-sequence enzyme gene kinase ligand macro-molecular-complex
    molecular-physical-entity nucleic-acid peptide phosphatase protein protein-family
    protein-segment receptor rna small-molecule
    """.split()
)
"""Concepts of possible participants, with or without a name."""

# Roles of AMR that end in -of without being inverted.
_NOT_INVERTED = frozenset(["consist-of", "prep-on-behalf-of", "prep-out-of"])
_INVERSE = "-of"
_SELF = "self"
# Not the number in a name like IL-10, which may be a constant of the graph.
_SENSE = re.compile(r"(?<=[a-z])-\d\d$")

_Names = TypeVar("_Names", bound=Iterable[str])

_Participants: TypeAlias = "list[tuple[str, NodeId]]"
_Steps: TypeAlias = (
    "dict[NodeId, tuple[NodeId, str]]"  # node -> the next node towards the root, and the role
)


def interaction_nodes(graph: Graph, concepts: Collection[str] | None = None) -> list[NodeId]:
    """Return the nodes that may be interactions, in the order of the graph.

    Parameters
    ----------
    graph : Graph
        An abstract meaning representation.
    concepts : collection of str, optional
        Their concepts, with a sense (``bind-01``) or without one (``bind``: any sense). Default:
        `INTERACTION_CONCEPTS`.

    Examples
    --------
    >>> graph = Graph.from_penman("(b / bind-01 :ARG1 (p / protein) :ARG2 (e / enzyme))")
    >>> interaction_nodes(graph)
    ['b']
    """
    known = INTERACTION_CONCEPTS if concepts is None else several(concepts)
    return [
        node
        for node, concept in graph.nodes.items()
        if concept in known or _without_sense(concept) in known
    ]


def entity_nodes(graph: Graph, concepts: Collection[str] | None = None) -> list[NodeId]:
    """Return the possible participants of interactions, in the order of the graph.

    These are the nodes that have a name (an edge ``name`` leaves them), and those of some concepts.

    Parameters
    ----------
    graph : Graph
        An abstract meaning representation.
    concepts : collection of str, optional
        Concepts of participants without a name. Default: `ENTITY_CONCEPTS`.

    Examples
    --------
    >>> graph = Graph.from_penman('(b / bind-01 :ARG1 (x / thing :name (n / name :op1 "Raf")))')
    >>> entity_nodes(graph)
    ['x']
    """
    known = ENTITY_CONCEPTS if concepts is None else several(concepts)
    named = {source for source, role, _ in graph.edges if role == "name"}
    return [node for node, concept in graph.nodes.items() if node in named or concept in known]


def interaction_tree(
    graph: Graph,
    root: NodeId,
    participants: Iterable[tuple[str, NodeId]],
    *,
    colored: bool = True,
    senses: bool = False,
    lowercase: bool = True,
) -> Tree:
    """Return the part of a graph that joins an interaction with its participants, as a tree.

    The root is the interaction, the leaves are the participants. A node is below the next one on
    the shortest path to the root; its edge label is the role between them: ``arg1`` if the edge
    points down, ``arg1-of`` if it points up. If the path to one participant leads through another,
    or a node is listed twice, the inner node keeps its plain concept, and the participant is
    repeated below it as a leaf with the edge ``self``. Children have the order of the participants
    they lead to.

    Parameters
    ----------
    graph : Graph
        An abstract meaning representation; also any other graph.
    root : str or int
        Id of the interaction.
    participants : iterable of (role, id)
        Participants, at least one; not the root.
    colored : bool, default True
        Whether labels of participants include their role: ``catalyst:protein``, not ``protein``.
    senses : bool, default False
        Whether concepts keep the number of their sense: ``bind-01``, not ``bind``.
    lowercase : bool, default True
        Whether roles on edges are lowercased: ``arg1``, not ``ARG1``.

    Raises
    ------
    StructureError
        If a node does not exist, there are no participants, one is the root, or one is not
        connected with it.

    Examples
    --------
    >>> graph = Graph.from_penman('''
    ... (h / have-03 :ARG0 (p / protein) :ARG1 (s / site :purpose (b / bind-01 :ARG1 (e / enzyme))))
    ... ''')
    >>> interaction_tree(graph, "b", [("catalyst", "p"), ("domain", "e")]).to_brackets()
    '(bind ("purpose-of":site ("arg1-of":have "arg0":catalyst:protein)) "arg1":domain:enzyme)'
    """
    paths = InteractionPaths(graph, senses=senses, lowercase=lowercase)
    return paths.tree(root, participants, colored=colored)


def interaction_path(
    graph: Graph,
    root: NodeId,
    participants: Iterable[tuple[str, NodeId]],
    *,
    up: Collection[str] = ("catalyst",),
    colored: bool = False,
    senses: bool = False,
    lowercase: bool = True,
) -> Sequence:
    """Return a walk between the participants of an interaction through the interaction.

    First up, from each acting participant to the interaction; then down, from the interaction to
    each other participant, in the given order. Elements are pairs of the role between a node and
    the next one towards the interaction (see `interaction_tree`) and the concept of the node. The
    interaction has the role "" and begins every downward part.

    Parameters
    ----------
    graph, root, participants, senses, lowercase
        As in `interaction_tree`.
    up : collection of str, default ("catalyst",)
        Roles of acting participants. If no participant has one of these, the first one is acting.
    colored : bool, default False
        Whether labels of participants include their role: ``catalyst:protein``.

    Raises
    ------
    StructureError
        As in `interaction_tree`.

    Examples
    --------
    >>> graph = Graph.from_penman('''
    ... (h / have-03 :ARG0 (p / protein) :ARG1 (s / site :purpose (b / bind-01 :ARG1 (e / enzyme))))
    ... ''')
    >>> for element in interaction_path(graph, "b", [("catalyst", "p"), ("domain", "e")]):
    ...     print(element)
    ('arg0', 'protein')
    ('arg1-of', 'have')
    ('purpose-of', 'site')
    ('', 'bind')
    ('', 'bind')
    ('arg1', 'enzyme')

    References
    ----------
    Garg, Ver Steeg and Galstyan (2018), Stochastic learning of nonstationary kernels for natural
    language modeling, table 1.
    """
    paths = InteractionPaths(graph, senses=senses, lowercase=lowercase)
    return paths.path(root, participants, up=up, colored=colored)


class InteractionPaths:
    """Paths from interactions of a graph to their participants, each computed once.

    For several candidates of one graph; `interaction_tree` and `interaction_path` are for one.

    Parameters
    ----------
    graph, senses, lowercase
        As in `interaction_tree`.
    """

    __slots__ = ("_graph", "_lowercase", "_searches", "_senses")

    def __init__(self, graph: Graph, *, senses: bool = False, lowercase: bool = True) -> None:
        self._graph = graph
        self._senses = senses
        self._lowercase = lowercase
        self._searches: dict[NodeId, _Search] = {}

    def tree(
        self, root: NodeId, participants: Iterable[tuple[str, NodeId]], *, colored: bool = True
    ) -> Tree:
        """Return the tree of `interaction_tree`."""
        listed = list(participants)
        steps = self._search(root, listed).steps
        below = _children(steps, root, listed)
        made: dict[NodeId, Tree] = {}
        for node in reversed(below):  # children after their parents
            ends = [role for role, end in listed if end == node]
            edge, concept = self._element(steps, node)
            children = [made[child] for child in below[node]]
            if len(ends) == 1 and not children:
                made[node] = make_node(_color(ends[0], concept, colored), (), edge)
            else:
                own = [make_node(_color(role, concept, colored), (), _SELF) for role in ends]
                made[node] = make_node(concept, (*own, *children), edge)
        return made[root]

    def path(
        self,
        root: NodeId,
        participants: Iterable[tuple[str, NodeId]],
        *,
        up: Collection[str] = ("catalyst",),
        colored: bool = False,
    ) -> Sequence:
        """Return the walk of `interaction_path`."""
        listed = list(participants)
        search = self._search(root, listed)
        roles = several(up)
        acting = {number for number, (role, _) in enumerate(listed) if role in roles} or {0}
        rising: list[tuple[str, str]] = []
        falling: list[tuple[str, str]] = []
        for number, (role, end) in enumerate(listed):
            (edge, concept), *rest = self._path(search, end)
            path = [(edge, _color(role, concept, colored)), *rest]
            if number in acting:
                rising += path
            else:
                falling += reversed(path)
        return Sequence(rising + falling)

    def _search(self, root: NodeId, participants: _Participants) -> _Search:
        """Return a search that has found the participants; raise if it cannot."""
        ends = _check_nodes(self._graph, root, participants)
        search = self._searches.get(root)
        if search is None:
            search = self._searches[root] = _Search(self._graph, root)
        missing = search.find(ends)
        for _, end in participants:
            if end in missing:
                raise StructureError(
                    f"no path leads from the interaction {shorten(repr(root))} "
                    f"to the participant {shorten(repr(end))}",
                    hint="they are in unconnected parts of the graph; leave the candidate out",
                )
        return search

    def _path(self, search: _Search, end: NodeId) -> list[tuple[str, str]]:
        """Return the elements from a participant up to the root."""
        path = search.paths.get(end)
        if path is None:
            steps = search.steps
            path = search.paths[end] = [self._element(steps, node) for node in _path(steps, end)]
        return path

    def _element(self, steps: _Steps, node: NodeId) -> tuple[str, str]:
        """Return the role between a node and the next one towards the root, and its concept."""
        role = steps[node][1] if node in steps else ""
        concept = self._graph.nodes[node]
        return (
            role.lower() if self._lowercase else role,
            concept if self._senses else _without_sense(concept),
        )


class _Search:
    """A breadth-first search from one node that can be continued.

    Attributes
    ----------
    steps : dict
        The next node towards the root, and the role, of each node found.
    paths : dict
        Cache for the elements of paths.
    """

    __slots__ = ("_graph", "_root", "_waiting", "paths", "steps")

    def __init__(self, graph: Graph, root: NodeId) -> None:
        self._graph = graph
        self._root = root
        self._waiting = deque([root])
        self.steps: _Steps = {}
        self.paths: dict[NodeId, list[tuple[str, str]]] = {}

    def find(self, ends: set[NodeId]) -> set[NodeId]:
        """Search until all ends are found; return those that cannot be reached."""
        root, steps, waiting = self._root, self.steps, self._waiting
        missing = ends.difference(steps)
        while waiting and missing:
            node = waiting.popleft()
            for role, other in _neighbors(self._graph, node):
                if other not in steps and other != root:
                    steps[other] = (node, role)
                    missing.discard(other)
                    waiting.append(other)
        return missing


def _check_nodes(graph: Graph, root: NodeId, participants: _Participants) -> set[NodeId]:
    """Return the nodes of the participants; raise if they are not valid."""
    graph.successors(root)  # raises if there is no such node
    for pair in participants:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise StructureError(
                f"a participant must be a (role, node id) pair, got {shorten(repr(pair))}"
            )
        end = pair[1]
        graph.successors(end)
        if end == root:
            raise StructureError(
                f"node {shorten(repr(root))} is the interaction and cannot be its own participant",
                hint="leave the candidate out",
            )
    if not participants:
        raise StructureError(f"the interaction {shorten(repr(root))} has no participants")
    return {end for _, end in participants}


def _neighbors(graph: Graph, node: NodeId) -> Iterator[tuple[str, NodeId]]:
    yield from graph.successors(node)
    for role, source in graph.predecessors(node):
        yield _inverse(role), source


def _inverse(role: str) -> str:
    """Return the role of an edge against its direction."""
    if role.endswith(_INVERSE) and role not in _NOT_INVERTED:
        return role[: -len(_INVERSE)]
    return role + _INVERSE


def _path(steps: _Steps, end: NodeId) -> Iterator[NodeId]:
    """Iterate over the nodes from a participant up to the root."""
    node = end
    while node in steps:
        yield node
        node = steps[node][0]
    yield node


def _children(
    steps: _Steps, root: NodeId, participants: _Participants
) -> dict[NodeId, list[NodeId]]:
    """Return the nodes on the paths with their children, parents before children."""
    below: dict[NodeId, list[NodeId]] = {root: []}
    for _, end in participants:
        new: list[NodeId] = []
        for node in _path(steps, end):
            if node in below:
                break
            new.append(node)
        for node in reversed(new):
            below[steps[node][0]].append(node)
            below[node] = []
    return below


def _color(role: str, concept: str, colored: bool) -> str:
    return f"{role}:{concept}" if colored and role else concept


def several(names: _Names) -> _Names | tuple[str]:
    """Return names as a collection; a single string is one name, not its letters.

    Examples
    --------
    >>> several("bind")
    ('bind',)
    """
    return (names,) if isinstance(names, str) else names


def _without_sense(concept: str) -> str:
    """Return a concept without the number of its sense."""
    return _SENSE.sub("", concept)


def head_token(sentence: Sentence, entity: Entity) -> int:
    """Return the head token of an entity.

    The last token whose head is outside the entity, as in *nuclear factor kappa B*; without
    dependencies, the last token.

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
        Sentence with dependencies, or a tree from which they are derived.
    trigger : Entity
        Its head token becomes the root.
    participants : iterable of (role, Entity)
        Their head tokens become leaves.
    **options
        As in `kernelwood.views.interaction_tree`.

    Raises
    ------
    StructureError
        If two of them share a head token, one covers no token, or they are not connected.
    """
    graph, root, ends = _dependency_graph(sentence, trigger, participants)
    return interaction_tree(graph, root, ends, **{"senses": True, **options})


def trigger_path(
    sentence: Sentence, trigger: Entity, participants: Iterable[tuple[str, Entity]], **options: Any
) -> Sequence:
    """Return the walk between a trigger and its participants over the dependencies.

    Parameters as in `trigger_tree`, options as in `kernelwood.views.interaction_path`.
    """
    graph, root, ends = _dependency_graph(sentence, trigger, participants)
    return interaction_path(graph, root, ends, **{"senses": True, **options})


def _dependency_graph(
    sentence: Sentence, trigger: Entity, participants: Iterable[tuple[str, Entity]]
) -> tuple[Graph, int, list[tuple[str, int]]]:
    """Return the dependencies as a graph in which types replace the words of participants."""
    dependencies = dependencies_of(sentence)
    if not dependencies:
        raise StructureError("the sentence has no dependencies")
    root = head_token(sentence, trigger)
    labels = [(index, token.text.lower()) for index, token in enumerate(sentence.tokens)]
    ends: list[tuple[str, int]] = []
    for role, entity in participants:
        token = head_token(sentence, entity)
        if token == root or any(token == other for _, other in ends):
            raise StructureError("trigger and participants share a head token")
        labels[token] = (token, (entity.type or "entity").lower())
        ends.append((role, token))
    edges = [edge for edge in dependencies if edge.head != ROOT]
    return Graph(labels, edges, root), root, ends
