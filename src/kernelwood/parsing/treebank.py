"""Treebanks: trees prepared for learning a grammar, and their productions, counted.

The labels of a treebank are coarse: a subject NP is built differently from an object NP, and a VP
with a participle occurs where one with a finite verb does not. Following Johnson (1998) and Klein
and Manning (2003), a symbol is a label annotated with the labels above it and with a few facts
about its inside. The refinements of categories apply to labels of the Penn Treebank only.

References
----------
M. Johnson. PCFG models of linguistic tree representations. Computational Linguistics 24(4), 1998.
D. Klein, C. Manning. Accurate unlexicalized parsing. ACL 2003.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from kernelwood.errors import StructureError
from kernelwood.structures import Tree, shorten
from kernelwood.text import base_label

# A label, the labels above it, and marks for its inside.
Symbol: TypeAlias = tuple[str, ...]

_EMPTY = "-NONE-"  # part of speech of traces
_TOPS = ("", "ROOT", "TOP", "S1")  # labels of outer brackets
_MOST_NODES = 10**7  # shared subtrees let a small tree have any number of nodes

_ABOVE_ALL = "ROOT"
_FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})
_VERBS = _FINITE | {"VB", "VBG", "VBN", "TO"}
_BE = frozenset({"be", "am", "is", "are", "was", "were", "been", "being", "'m", "'s", "'re"})
_HAVE = frozenset({"have", "has", "had", "having", "'ve", "'d"})
_MAY_HOLD_VERBS = frozenset({"NP", "PP"})


def prepare_tree(tree: Tree) -> Tree | None:
    """Return a tree of plain categories, parts of speech and words; None if it has no words.

    Traces (``-NONE-``), constituents without words, function tags and indices are removed. An
    outer bracket with one child and the label ``ROOT``, ``TOP``, ``S1`` or none is removed. A
    constituent is merged with an only child of the same label. Edge labels are ignored.

    Raises
    ------
    StructureError
        If a leaf has siblings or is the root, so that the word has no part of speech; or if the
        tree has more than ten million nodes.

    Examples
    --------
    >>> tree = "(TOP (S (NP-SBJ (NP (NN rain))) (VP (VBZ falls) (NP (-NONE- *)))))"
    >>> prepare_tree(Tree.from_brackets(tree))
    Tree('(S (NP (NN rain)) (VP (VBZ falls)))')
    """
    if tree.is_leaf:
        raise _no_part_of_speech(tree, tree)
    if tree.n_nodes > _MOST_NODES:
        raise StructureError(
            f"the tree of a sentence has {tree.n_nodes:,} nodes, more than {_MOST_NODES:,}"
        )
    done: list[Tree | None] = []  # prepared subtrees, in post-order
    for node in tree.postorder():
        n_children = len(node.children)
        if node.is_leaf:
            done.append(node)
            continue
        children = [child for child in done[-n_children:] if child is not None]
        del done[-n_children:]
        done.append(_prepare_node(node, children))
    return _open_top(done[0])


def prepare_treebank(trees: Iterable[Tree]) -> list[Tree]:
    """Return the prepared trees that have words.

    Raises
    ------
    StructureError
        If an item is not a tree, a word has no part of speech, or no tree has words; the message
        has the position of the tree.

    Examples
    --------
    >>> prepare_treebank([Tree.from_brackets("(NP-SBJ (-NONE- *))"), Tree.from_brackets("(NN a)")])
    [Tree('(NN a)')]
    """
    if isinstance(trees, (Tree, str)):
        raise StructureError(
            f"a treebank must be a list of trees, got one {type(trees).__name__}",
            hint="put it in a list: fit([tree])",
        )
    prepared = []
    for position, tree in enumerate(trees):
        if not isinstance(tree, Tree):
            raise StructureError(
                f"tree {position} of the treebank is {shorten(repr(tree))} "
                f"of type {type(tree).__name__}, not a Tree",
                hint="parse the brackets first: Tree.from_brackets(text)"
                if isinstance(tree, str)
                else "get the trees of examples: [example.view('tree') for example in ...]",
            )
        try:
            result = prepare_tree(tree)
        except StructureError as failure:
            problem = f"tree {position} of the treebank: {failure.problem}"
            raise StructureError(problem, hint=failure.hint) from None
        if result is not None:
            prepared.append(result)
    if not prepared:
        raise StructureError(
            "no tree of the treebank has words",
            hint="fit the parser on trees like Tree.from_brackets('(S (NP (NN rain)) ...)')",
        )
    return prepared


@dataclass(slots=True)
class Productions:
    """Counts of root symbols, productions, and words with their symbols."""

    roots: Counter[Symbol] = field(default_factory=Counter)
    rules: Counter[tuple[Symbol, tuple[Symbol, ...]]] = field(default_factory=Counter)
    words: Counter[tuple[str, Symbol]] = field(default_factory=Counter)


def count_productions(
    trees: Iterable[Tree], *, vertical: int, split_tags: bool, split_categories: bool
) -> Productions:
    """Return the counts of the productions of prepared trees over annotated symbols.

    The parameters are those of `kernelwood.ForestParser`.

    Examples
    --------
    >>> tree = Tree.from_brackets("(S (NP (NN rain)) (VP (VBZ falls)))")
    >>> counts = count_productions(
    ...     [tree], vertical=2, split_tags=False, split_categories=False
    ... )
    >>> list(counts.rules)[0]
    (('S', 'ROOT'), (('NP', 'S'), ('VP', 'S')))
    >>> list(counts.words)
    [('rain', ('NN',)), ('falls', ('VBZ',))]
    """
    counts = Productions()
    for tree in trees:
        nodes = _flatten(tree)
        symbols = _annotate(nodes, vertical, split_tags, split_categories)
        counts.roots[symbols[0]] += 1
        for node, symbol in zip(nodes, symbols, strict=True):
            if node.word is None:
                children = tuple(symbols[child] for child in node.children)
                counts.rules[symbol, children] += 1
            else:
                counts.words[node.word, symbol] += 1
    return counts


def _prepare_node(node: Tree, children: list[Tree]) -> Tree | None:
    """Return the node with its prepared children, None if it has no words."""
    if node.label == _EMPTY or not children:
        return None
    label = base_label(node.label)
    if any(child.is_leaf for child in children):
        if len(node.children) > 1:
            raise _no_part_of_speech(node, next(child for child in children if child.is_leaf))
        return Tree(label, children)
    only = children[0] if len(children) == 1 else None
    if only is not None and only.label == label:
        return only
    return Tree(label, children)


def _open_top(tree: Tree | None) -> Tree | None:
    """Return a tree without its outer brackets."""
    while (
        tree is not None
        and tree.label in _TOPS
        and len(tree.children) == 1
        and not tree.children[0].is_leaf
    ):
        tree = tree.children[0]
    return tree


def _no_part_of_speech(node: Tree, word: Tree) -> StructureError:
    where = "is the root" if node is word else f"has siblings under {node.label!r}"
    return StructureError(
        f"the word {shorten(repr(word.label))} {where}, so it has no part of speech",
        hint=f"put every word under a node of its own: (NN {shorten(word.label)})",
    )


@dataclass(slots=True)
class _Node:
    """A node in the list of all nodes of a tree, parents first."""

    label: str
    parent: int
    word: str | None  # of a part of speech
    children: list[int] = field(default_factory=list)
    has_verb: bool = False
    verb: str = ""  # part of speech of the verb of a VP


def _flatten(tree: Tree) -> list[_Node]:
    """Return the nodes of a tree, parents first, left to right."""
    nodes: list[_Node] = []
    waiting = [(tree, -1)]
    while waiting:
        node, parent = waiting.pop()
        if parent >= 0:
            nodes[parent].children.append(len(nodes))
        word = node.children[0].label if node.children[0].is_leaf else None
        if word is None:
            waiting.extend((child, len(nodes)) for child in reversed(node.children))
        nodes.append(_Node(node.label, parent, word))
    for flat in reversed(nodes):
        below = [nodes[child] for child in flat.children]
        if flat.word is None:
            flat.has_verb = any(child.has_verb for child in below)
            flat.verb = _find_verb(below) if flat.label == "VP" else ""
        else:
            flat.has_verb = flat.label.startswith("VB") or flat.label == "MD"
    return nodes


def _find_verb(children: list[_Node]) -> str:
    """Return the part of speech of the first verb, else that of the first VP."""
    own = (child.label for child in children if child.word is not None and child.label in _VERBS)
    inner = (child.verb for child in children if child.label == "VP")
    return next(own, None) or next(inner, "")


def _annotate(
    nodes: list[_Node], vertical: int, split_tags: bool, split_categories: bool
) -> list[Symbol]:
    symbols = []
    for node in nodes:
        if node.word is None:
            above = _labels_above(nodes, node, vertical - 1)
            marks = _category_marks(nodes, node) if split_categories else ()
        else:
            levels = 2 if node.label == "IN" else 1
            above = _labels_above(nodes, node, levels) if split_tags else ()
            marks = _tag_marks(node, node.word) if split_tags else ()
        symbols.append((node.label, *above, *marks))
    return symbols


def _labels_above(nodes: list[_Node], node: _Node, levels: int) -> Symbol:
    above: list[str] = []
    while len(above) < levels:
        if node.parent < 0:
            above.append(_ABOVE_ALL)
            break
        node = nodes[node.parent]
        above.append(node.label)
    return tuple(above)


def _category_marks(nodes: list[_Node], node: _Node) -> Symbol:
    marks: Symbol = ()
    if node.label == "VP":
        marks += ("-finite" if node.verb in _FINITE else f"-{node.verb}",)
    if node.label == "NP" and nodes[node.children[-1]].label == "POS":
        marks += ("-possessor",)
    if node.label in _MAY_HOLD_VERBS and node.has_verb:
        marks += ("-verb",)
    return marks


def _tag_marks(node: _Node, word: str) -> Symbol:
    if not node.label.startswith("VB"):
        return ()
    lowered = word.lower()
    return ("-be",) if lowered in _BE else ("-have",) if lowered in _HAVE else ()
