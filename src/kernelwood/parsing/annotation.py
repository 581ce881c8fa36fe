"""Symbols finer than labels: what a node is depends on where it stands and what it holds.

A treebank's labels are coarse: an NP that is a subject is built differently from one that is an
object, and a VP with a participle appears where one with a finite verb never does. Following
Johnson (1998) and Klein and Manning (2003), a node is annotated with the labels above it and with
a few facts about what is below. The refinements of categories look for labels of the Penn
Treebank; with other labels they do nothing.

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

from kernelwood.structures import Tree

__all__ = ["Annotation", "Productions", "Symbol", "count_productions"]

# The label first, then the labels above it, then what is known about its inside.
Symbol: TypeAlias = tuple[str, ...]

_ABOVE_ALL = "ROOT"
_FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})
_VERBS = _FINITE | {"VB", "VBG", "VBN", "TO"}
_BE = frozenset({"be", "am", "is", "are", "was", "were", "been", "being", "'m", "'s", "'re"})
_HAVE = frozenset({"have", "has", "had", "having", "'ve", "'d"})
_MAY_HOLD_VERBS = frozenset({"NP", "PP"})


@dataclass(frozen=True, slots=True)
class Annotation:
    """How much of its surroundings a symbol remembers.

    Parameters
    ----------
    vertical : int
        Labels on the way up that a category remembers: 1 its own, 2 its parent's too, and so on.
    split_tags : bool
        Whether parts of speech remember their parent, prepositions their grandparent too, and
        forms of *be* and *have* that they are such.
    split_categories : bool
        Whether a VP remembers the form of its verb; an NP that it is a possessor; an NP or PP
        that there is a verb in it.
    """

    vertical: int
    split_tags: bool
    split_categories: bool


@dataclass(slots=True)
class Productions:
    """What a treebank consists of, counted."""

    roots: Counter[Symbol] = field(default_factory=Counter)
    rules: Counter[tuple[Symbol, tuple[Symbol, ...]]] = field(default_factory=Counter)
    words: Counter[tuple[str, Symbol]] = field(default_factory=Counter)


def count_productions(trees: Iterable[Tree], annotation: Annotation) -> Productions:
    """Count the productions of prepared trees over annotated symbols.

    Examples
    --------
    >>> tree = Tree.from_brackets("(S (NP (NN rain)) (VP (VBZ falls)))")
    >>> counts = count_productions([tree], Annotation(2, False, False))
    >>> list(counts.rules)[0]
    (('S', 'ROOT'), (('NP', 'S'), ('VP', 'S')))
    >>> list(counts.words)
    [('rain', ('NN',)), ('falls', ('VBZ',))]
    """
    counts = Productions()
    for tree in trees:
        nodes = _flatten(tree)
        symbols = _annotate(nodes, annotation)
        counts.roots[symbols[0]] += 1
        for node, symbol in zip(nodes, symbols, strict=True):
            if node.word is None:
                children = tuple(symbols[child] for child in node.children)
                counts.rules[symbol, children] += 1
            else:
                counts.words[node.word, symbol] += 1
    return counts


@dataclass(slots=True)
class _Node:
    """A node among all nodes of a tree, which are listed parents first."""

    label: str
    parent: int
    word: str | None  # of a part of speech
    children: list[int] = field(default_factory=list)
    has_verb: bool = False
    verb: str = ""  # the part of speech of the verb of a VP


def _flatten(tree: Tree) -> list[_Node]:
    """List the nodes parents first, left to right, and look at them children first."""
    nodes: list[_Node] = []
    todo = [(tree, -1)]
    while todo:
        node, parent = todo.pop()
        if parent >= 0:
            nodes[parent].children.append(len(nodes))
        word = node.children[0].label if node.children[0].is_leaf else None
        if word is None:
            todo.extend((child, len(nodes)) for child in reversed(node.children))
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
    """Return the part of speech of the first verb, looked for in the first VP if there is none."""
    own = (child.label for child in children if child.word is not None and child.label in _VERBS)
    inner = (child.verb for child in children if child.label == "VP")
    return next(own, None) or next(inner, "")


def _annotate(nodes: list[_Node], annotation: Annotation) -> list[Symbol]:
    symbols = []
    for node in nodes:
        if node.word is None:
            above = _labels_above(nodes, node, annotation.vertical - 1)
            marks = _category_marks(nodes, node) if annotation.split_categories else ()
        else:
            levels = 2 if node.label == "IN" else 1
            above = _labels_above(nodes, node, levels) if annotation.split_tags else ()
            marks = _tag_marks(node, node.word) if annotation.split_tags else ()
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
