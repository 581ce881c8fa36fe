"""The words of a constituency tree."""

from __future__ import annotations

from kernelwood.errors import StructureError
from kernelwood.structures.tree import Tree, make_node

__all__ = ["count_leaves", "without_empty_elements", "words_and_tags"]

_EMPTY = "-NONE-"


def count_leaves(tree: Tree) -> int:
    """Return the number of leaves.

    Examples
    --------
    >>> count_leaves(Tree.from_brackets("(S (NP we) (VP go))"))
    2
    """
    return sum(1 for node in tree.postorder() if not node.children)


def words_and_tags(tree: Tree) -> tuple[list[str], list[str]]:
    """Return the leaves and, for each, the label above it if it has no sisters, else "".

    Examples
    --------
    >>> words_and_tags(Tree.from_brackets("(S (NP (DT the) (NN cat)) sleeps)"))
    (['the', 'cat', 'sleeps'], ['DT', 'NN', ''])
    """
    words: list[str] = []
    tags: list[str] = []
    pending = [(tree, "")]
    while pending:
        node, above = pending.pop()
        if not node.children:
            words.append(node.label)
            tags.append(above)
            continue
        tag = node.label if len(node.children) == 1 else ""
        pending += [(child, tag) for child in reversed(node.children)]
    return words, tags


def without_empty_elements(tree: Tree) -> Tree:
    """Return a tree without ``-NONE-`` nodes and without what dominates nothing else.

    Raises
    ------
    StructureError
        If nothing is left.

    Examples
    --------
    >>> tree = Tree.from_brackets("(S (NP (-NONE- *)) (VP (VB go)))")
    >>> without_empty_elements(tree)
    Tree('(S (VP (VB go)))')
    """
    if all(node.label != _EMPTY for node in tree.postorder()):
        return tree
    done: list[Tree | None] = []
    for node in tree.postorder():
        count = len(node.children)
        kept = tuple(child for child in done[len(done) - count :] if child is not None)
        del done[len(done) - count :]
        if node.label == _EMPTY or (count and not kept):
            done.append(None)
        else:
            done.append(make_node(node.label, kept, node.edge))
    [left] = done
    if left is None:
        raise StructureError("the tree holds nothing but empty elements")
    return left
