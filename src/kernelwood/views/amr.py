"""Interactions in meaning graphs: who takes part in what, as a tree and as a walk.

A candidate is an interaction, the node of a graph that says what happens, and participants with
their roles. The part of the graph that joins them becomes a tree rooted in the interaction, after
Garg, Galstyan, Hermjakob and Marcu (2016), Extracting biomolecular interactions using semantic
parsing of biomedical text.

The ways from the interaction to its participants are those of `kernelwood.views.ways`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kernelwood.structures import Graph, NodeId, Sequence, Tree
from kernelwood.views.ways import InteractionWays, several, without_sense

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
        if concept in known or without_sense(concept) in known
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
    ways = InteractionWays(graph, senses=senses, lowercase=lowercase)
    return ways.tree(root, participants, colored=colored)


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
    ways = InteractionWays(graph, senses=senses, lowercase=lowercase)
    return ways.path(root, participants, up=up, colored=colored)
