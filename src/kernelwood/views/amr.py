"""Interactions in meaning graphs: who takes part in what, as a tree and as a walk.

A candidate is an interaction, the node of a graph that says what happens, and participants with
their roles. The part of the graph that joins them becomes a tree rooted in the interaction, after
Garg, Galstyan, Hermjakob and Marcu (2016), Extracting biomolecular interactions using semantic
parsing of biomedical text.

The way from the interaction to a participant is a shortest one, edges being walked in both
directions. All ways of a candidate are taken from one breadth-first search, so they part once and
never meet again. Ties are broken by the order of edges in the graph: a node first tries the edges
that leave it, then those that enter it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias

from kernelwood.errors import StructureError
from kernelwood.structures import Graph, Sequence, Tree
from kernelwood.structures.graph import NodeId
from kernelwood.structures.labels import shorten

__all__ = [
    "ENTITY_CONCEPTS",
    "INTERACTION_CONCEPTS",
    "entity_nodes",
    "interaction_nodes",
    "interaction_path",
    "interaction_tree",
]

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
"""What molecules do to each other: stems of concepts, without the number of the sense."""

ENTITY_CONCEPTS = frozenset(
    """
    amino-acid antibody dna-sequence enzyme gene kinase ligand macro-molecular-complex
    molecular-physical-entity nucleic-acid peptide phosphatase protein protein-family
    protein-segment receptor rna small-molecule
    """.split()
)
"""Concepts of things that take part in interactions, even where they have no name."""

# Roles of AMR that end in -of without being inverted.
_NOT_INVERTED = frozenset(["consist-of", "prep-on-behalf-of", "prep-out-of"])
_INVERSE = "-of"
_SELF = "self"
# Not the number in a name like IL-10, which may stand in a graph as a constant.
_SENSE = re.compile(r"(?<=[a-z])-\d\d$")

_Participants: TypeAlias = "list[tuple[str, NodeId]]"
_Steps: TypeAlias = "dict[NodeId, tuple[NodeId, str]]"  # node -> the one it hangs from, and by what


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
    known = INTERACTION_CONCEPTS if concepts is None else _several(concepts)
    return [
        node
        for node, concept in graph.nodes.items()
        if concept in known or _SENSE.sub("", concept) in known
    ]


def entity_nodes(graph: Graph, concepts: Collection[str] | None = None) -> list[NodeId]:
    """Return the nodes that may take part in interactions, in the order of the graph.

    These are the nodes that have a name (an edge ``name`` leaves them), and those of some concepts.

    Parameters
    ----------
    graph : Graph
        An abstract meaning representation.
    concepts : collection of str, optional
        Concepts of things that need no name. Default: `ENTITY_CONCEPTS`.

    Examples
    --------
    >>> graph = Graph.from_penman('(b / bind-01 :ARG1 (x / thing :name (n / name :op1 "Raf")))')
    >>> entity_nodes(graph)
    ['x']
    """
    known = ENTITY_CONCEPTS if concepts is None else _several(concepts)
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

    The root is the interaction, the leaves are the participants. A node stands below the next one
    on the shortest way to the root; its edge label is the role by which it hangs there: ``arg1``
    where the edge points down, ``arg1-of`` where it points up. Where the way to one participant
    leads through another, or a node is named twice, the inner node keeps its plain concept, and the
    participant hangs below it once more, as a leaf with the edge ``self``. Children stand in the
    order of the participants they lead to.

    Parameters
    ----------
    graph : Graph
        An abstract meaning representation; also any other graph.
    root : str or int
        Id of the interaction.
    participants : iterable of (role, id)
        At least one; not the root.
    colored : bool, default True
        Whether the label of a participant tells its role: ``catalyst:protein``, not ``protein``.
    senses : bool, default False
        Whether concepts keep the number of their sense: ``bind-01``, not ``bind``.
    lowercase : bool, default True
        Whether roles on edges are written in lower case: ``arg1``, not ``ARG1``.

    Raises
    ------
    StructureError
        If a node does not exist, there are no participants, one is the root, or one is not joined
        with it.

    Examples
    --------
    >>> graph = Graph.from_penman('''
    ... (h / have-03 :ARG0 (p / protein) :ARG1 (s / site :purpose (b / bind-01 :ARG1 (e / enzyme))))
    ... ''')
    >>> interaction_tree(graph, "b", [("catalyst", "p"), ("domain", "e")]).to_brackets()
    '(bind ("purpose-of":site ("arg1-of":have "arg0":catalyst:protein)) "arg1":domain:enzyme)'
    """
    listed = list(participants)
    steps = _search(graph, root, listed)
    below = _children(steps, root, listed)
    made: dict[NodeId, Tree] = {}
    for node in reversed(below):  # children were found after the node they hang from
        ends = [role for role, end in listed if end == node]
        concept = _concept(graph, node, senses)
        edge = _edge(steps, node, lowercase)
        children = [made[child] for child in below[node]]
        if len(ends) == 1 and not children:
            made[node] = Tree(_color(ends[0], concept, colored), (), edge)
        else:
            own = [Tree(_color(role, concept, colored), (), _SELF) for role in ends]
            made[node] = Tree(concept, (*own, *children), edge)
    return made[root]


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

    First up, from each participant that acts to the interaction; then down, from the interaction to
    each other participant, in the order given. Elements are pairs of the role by which a node hangs
    from the next one towards the interaction (see `interaction_tree`) and its concept. The
    interaction has the role "" and opens every part that goes down.

    Parameters
    ----------
    graph, root, participants, senses, lowercase
        As in `interaction_tree`.
    up : collection of str, default ("catalyst",)
        Roles of participants that act. If no participant has one of these, the first one counts as
        acting.
    colored : bool, default False
        Whether the concept at the end of a way tells the role: ``catalyst:protein``.

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
    listed = list(participants)
    steps = _search(graph, root, listed)
    acting = {number for number, (role, _) in enumerate(listed) if role in _several(up)} or {0}
    rising: list[tuple[str, str]] = []
    falling: list[tuple[str, str]] = []
    for number, (role, end) in enumerate(listed):
        way = [
            (_edge(steps, node, lowercase), _concept(graph, node, senses))
            for node in _way(steps, end)
        ]
        way[0] = (way[0][0], _color(role, way[0][1], colored))
        if number in acting:
            rising += way
        else:
            falling += reversed(way)
    return Sequence(rising + falling)


def _several(names: Collection[str]) -> Collection[str]:
    """Return the names; a single string is one name, not its letters."""
    return (names,) if isinstance(names, str) else names


def _search(graph: Graph, root: NodeId, participants: _Participants) -> _Steps:
    """Return for each node found how it hangs from the one nearer to the root."""
    missing = _check(graph, root, participants)
    steps: _Steps = {}
    todo = deque([root])
    while todo and missing:
        node = todo.popleft()
        for role, other in _neighbors(graph, node):
            if other not in steps and other != root:
                steps[other] = (node, role)
                missing.discard(other)
                todo.append(other)
    for _, end in participants:
        if end in missing:
            raise StructureError(
                f"no way leads from the interaction {shorten(repr(root))} "
                f"to the participant {shorten(repr(end))}",
                hint="they lie in unconnected parts of the graph; leave the candidate out",
            )
    return steps


def _check(graph: Graph, root: NodeId, participants: _Participants) -> set[NodeId]:
    """Return the nodes to be found, if there are any and all are lawful."""
    graph.successors(root)  # says what is wrong if there is no such node
    for pair in participants:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise StructureError(
                f"a participant must be a (role, node id) pair, got {shorten(repr(pair))}"
            )
        end = pair[1]
        graph.successors(end)
        if end == root:
            raise StructureError(
                f"node {shorten(repr(root))} is the interaction and cannot take part in itself",
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
    """Return the role of an edge that is walked against its direction."""
    if role.endswith(_INVERSE) and role not in _NOT_INVERTED:
        return role[: -len(_INVERSE)]
    return role + _INVERSE


def _way(steps: _Steps, end: NodeId) -> Iterator[NodeId]:
    """Iterate over the nodes from a participant up to the root."""
    node = end
    while node in steps:
        yield node
        node = steps[node][0]
    yield node


def _children(
    steps: _Steps, root: NodeId, participants: _Participants
) -> dict[NodeId, list[NodeId]]:
    """Return the nodes on the ways with their children; every node comes before its children."""
    below: dict[NodeId, list[NodeId]] = {root: []}
    for _, end in participants:
        new: list[NodeId] = []
        for node in _way(steps, end):
            if node in below:
                break
            new.append(node)
        for node in reversed(new):
            below[steps[node][0]].append(node)
            below[node] = []
    return below


def _edge(steps: _Steps, node: NodeId, lowercase: bool) -> str:
    if node not in steps:
        return ""
    role = steps[node][1]
    return role.lower() if lowercase else role


def _concept(graph: Graph, node: NodeId, senses: bool) -> str:
    concept = graph.nodes[node]
    return concept if senses else _SENSE.sub("", concept)


def _color(role: str, concept: str, colored: bool) -> str:
    return f"{role}:{concept}" if colored and role else concept
