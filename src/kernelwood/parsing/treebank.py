"""From the trees of a treebank to the trees a grammar is read off."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kernelwood.errors import StructureError
from kernelwood.structures import Tree, shorten

__all__ = ["base_label", "prepare_tree", "prepare_treebank"]

_EMPTY = "-NONE-"  # the part of speech of traces and other unspoken words
_TOPS = ("", "ROOT", "TOP", "S1")  # brackets that only say: here begins a tree
_MOST_NODES = 10**7  # subtrees can be shared, so that a small tree has any number of nodes
_DECORATION = re.compile(r"[-=|]")


def base_label(label: str) -> str:
    """Return a label without function tags, indices and alternatives.

    A label that begins with a hyphen, such as ``-LRB-``, is a name of its own.

    Examples
    --------
    >>> [base_label(label) for label in ("NP-SBJ-1", "ADVP|PRT", "PP=2", "-LRB-", "PRP$")]
    ['NP', 'ADVP', 'PP', '-LRB-', 'PRP$']
    """
    if label.startswith("-"):
        return label
    found = _DECORATION.search(label, 1)
    return label[: found.start()] if found else label


def prepare_tree(tree: Tree) -> Tree | None:
    """Return the tree with nothing in it but categories, parts of speech and words.

    Traces (``-NONE-``) go, and with them constituents that have no words; function tags and
    indices are taken off the labels; an outer bracket labeled ``ROOT``, ``TOP``, ``S1`` or not at
    all is opened when it holds one tree; a constituent whose only child has its own label is
    merged with it. Edge labels are not looked at.

    Returns
    -------
    Tree or None
        None if the tree has no words.

    Raises
    ------
    StructureError
        If a word has no part of speech of its own, that is, if a leaf has sisters or is the root;
        also if there are more nodes than any sentence needs.

    Examples
    --------
    >>> tree = "(TOP (S (NP-SBJ (NP (NN rain))) (VP (VBZ falls) (NP (-NONE- *)))))"
    >>> prepare_tree(Tree.from_brackets(tree))
    Tree('(S (NP (NN rain)) (VP (VBZ falls)))')
    """
    if tree.is_leaf:
        raise _no_part_of_speech(tree, tree)
    if tree.n_nodes > _MOST_NODES:
        raise StructureError(f"{tree.n_nodes:,} nodes are too many for the tree of a sentence")
    done: list[Tree | None] = []  # what became of the subtrees, in post-order
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
    """Prepare all trees, leaving out those without words.

    Raises
    ------
    StructureError
        If something is not a tree, a word has no part of speech, or no tree is left; the message
        has the position of the tree.

    Examples
    --------
    >>> prepare_treebank([Tree.from_brackets("(NP-SBJ (-NONE- *))"), Tree.from_brackets("(NN a)")])
    [Tree('(NN a)')]
    """
    if isinstance(trees, (Tree, str)):
        raise StructureError(
            f"a treebank is several trees, got one {type(trees).__name__}",
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
                else "take the trees out of examples: [example.view('tree') for example in ...]",
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
            "the treebank has no tree with words in it",
            hint="fit the parser on trees like Tree.from_brackets('(S (NP (NN rain)) ...)')",
        )
    return prepared


def _prepare_node(node: Tree, children: list[Tree]) -> Tree | None:
    """Return the node over its prepared children, None if nothing is left of it."""
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
    """Take the bracket around a whole tree off."""
    while (
        tree is not None
        and tree.label in _TOPS
        and len(tree.children) == 1
        and not tree.children[0].is_leaf
    ):
        tree = tree.children[0]
    return tree


def _no_part_of_speech(node: Tree, word: Tree) -> StructureError:
    where = "is the root" if node is word else f"stands beside other children of {node.label!r}"
    return StructureError(
        f"the word {shorten(repr(word.label))} {where}: it has no part of speech of its own",
        hint=f"give every word a node above it: (NN {shorten(word.label)})",
    )
