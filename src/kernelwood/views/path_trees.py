"""The shortest dependency path between two entities, and what hangs from it, as a tree."""

from __future__ import annotations

from operator import itemgetter
from typing import NamedTuple

from kernelwood.structures import Tree, make_node
from kernelwood.text import Entity, Sentence, dependencies_of
from kernelwood.views.paths import DependencyPaths, Way
from kernelwood.views.word_sequences import BLIND, OTHERS, Labels

__all__ = ["PathTree", "PathTrees", "path_tree"]

# Labels of roots; relations of dependencies are below them.
_TOP = "root"
_NO_PATH = "none"

_PLACE = itemgetter(0)


class PathTree(NamedTuple):
    """The dependencies around the way from one entity to another.

    Attributes
    ----------
    tree : Tree
        Relations with their words and dependents below them.
    fallback : str or None
        Why this is no part of the dependencies, see `kernelwood.views.Path`; None if it is one.
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
    """Return the shortest dependency path, and what hangs from it, as a tree of relations.

    Inner nodes are relations. Below each stand its word and what the word governs, in the order of
    the sentence. Of what is not on the path, only dependents of words on the path are taken along
    (a negation, say), and nothing below them. The label of the root is ``root``.

    Takes time proportional to tokens and dependencies. For several pairs of one sentence,
    `PathTrees` prepares it once.

    Parameters
    ----------
    sentence, first, second, labels, lowercase, blind, others
        As in `kernelwood.views.shortest_path`.

    Returns
    -------
    PathTree
        The tree, and why it is a fallback if it is one.

    Raises
    ------
    StructureError
        If an entity lies outside the sentence or an option cannot be used.

    Notes
    -----
    The root is the word where the last step up ends; without a step up, the first entity. What
    comes before it on the path hangs below it, whichever way the steps lead (dependencies may be a
    graph). Further words of the two entities are left out.

    Where there is no path, the words of the fallback hang below a root ``none``.

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
    """The trees around all shortest dependency paths of a sentence, made one by one.

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
        """Return the tree around the path from one entity to another, as `path_tree` does."""
        way = self._paths.way(first, second)
        leaves = [make_node(node, (), "") for node in way.nodes]
        if way.fallback:
            return PathTree(make_node(_NO_PATH, tuple(leaves), ""), way.fallback)
        left_out = {*way.tokens, *self._mentions.tokens_of(first)}
        left_out.update(self._mentions.tokens_of(second))
        below = []
        for token, leaf in zip(way.tokens, leaves, strict=True):
            children = [child for child in self._below(token) if child[0] not in left_out]
            children.append((token, leaf))
            below.append(children)
        return PathTree(_join(way, below, self._top(way.tokens)))

    def _below(self, token: int) -> list[tuple[int, Tree]]:
        """Return what a word governs: trees of a relation above a word, made once a sentence."""
        hanging = self._hanging.get(token)
        if hanging is None:
            label = self._mentions.label
            hanging = self._hanging[token] = [
                (dependent, make_node(relation, (make_node(label(dependent), (), ""),), ""))
                for dependent, relation in self._governed.get(token, ())
            ]
        return hanging

    def _top(self, tokens: tuple[int, ...]) -> int:
        """Return where on a path the last step up ends; a step that can lead down does."""
        for at in range(len(tokens) - 1, 0, -1):
            governed = self._governed.get(tokens[at - 1], ())
            if all(dependent != tokens[at] for dependent, _ in governed):
                return at
        return 0


def _join(way: Way, below: list[list[tuple[int, Tree]]], top: int) -> Tree:
    """Return one tree of what hangs below each word of a path.

    From both ends to the top, so that a subtree is complete when it is hung below the next word.
    """
    tokens, relations = way.tokens, way.relations
    for at in range(top):
        below[at + 1].append((tokens[at], _node(relations[at], below[at])))
    for at in range(len(tokens) - 1, top, -1):
        below[at - 1].append((tokens[at], _node(relations[at - 1], below[at])))
    return _node(_TOP, below[top])


def _node(relation: str, below: list[tuple[int, Tree]]) -> Tree:
    if len(below) > 1:
        below.sort(key=_PLACE)
    return make_node(relation, tuple([tree for _, tree in below]), "")
