"""Parts of constituency trees: around two entities, and between a predicate and its argument.

Words are the leaves of a tree, counted from 0. A span is a pair ``(start, end)`` of leaf positions,
``end`` being the position after the last. Nothing here recurses, so trees may be of any depth.
"""

from __future__ import annotations

from collections.abc import Iterable

from kernelwood.errors import StructureError
from kernelwood.structures import JOINT, Tree, make_node, shorten
from kernelwood.text import Entity, Sentence, Span
from kernelwood.views.places import ARGUMENT_SUFFIX, Places, check_predicate, check_range, hull

__all__ = [
    "argument_path",
    "argument_tree",
    "constituent",
    "entity_span",
    "minimal_complete_tree",
    "path_enclosed_tree",
]


def entity_span(sentence: Sentence, entity: Entity) -> Span:
    """Return the tokens from the first to the last of an entity, gaps included.

    Raises
    ------
    StructureError
        If no token shares a character with the entity.

    Examples
    --------
    >>> sentence = Sentence.from_words(["small", "and", "large", "birds"])
    >>> entity_span(sentence, Entity("e1", "animal", ((0, 5), (16, 21))))
    (0, 4)
    """
    tokens = sentence.tokens_of(entity)
    if not tokens:
        raise StructureError(
            f"entity {shorten(repr(entity.id))} covers none of the {len(sentence.tokens)} tokens",
            hint="its spans count characters of the text of the sentence"
            if sentence.tokens
            else "cut the text into tokens first",
        )
    return tokens[0], tokens[-1] + 1


def constituent(tree: Tree, start: int, end: int, *, exact: bool = False) -> Tree:
    """Return the smallest constituent over the words from start to end.

    Of a unary chain, the topmost node; as `Forest.subforest` does. A word is a constituent of its
    own only if it has sisters.

    Parameters
    ----------
    tree : Tree
        Its leaves are the words.
    start, end : int
        The words; ``end`` is the position after the last.
    exact : bool, default False
        Whether to refuse constituents that hold more than these words.

    Raises
    ------
    StructureError
        If there are no such words, or, with ``exact``, no such constituent.

    Examples
    --------
    >>> tree = Tree.from_brackets("(S (NP (NNS birds)) (VP (VBP eat) (NP (JJ old) (NN bread))))")
    >>> constituent(tree, 0, 1)
    Tree('(NP (NNS birds))')
    >>> constituent(tree, 1, 3)
    Tree('(VP (VBP eat) (NP (JJ old) (NN bread)))')
    """
    places = Places(tree)
    start, end = check_range((start, end), places.span(0))
    top = places.smallest(start, end)[-1]
    if exact and places.span(top) != (start, end):
        raise _no_constituent(start, end, places.nodes[top], places.span(top))
    return places.nodes[top]


def minimal_complete_tree(
    tree: Tree, first: Span, second: Span, *, mark: tuple[str, str] | None = None
) -> Tree:
    """Return the smallest constituent that holds two entities (MCT).

    It is rooted in their lowest common ancestor; if that is the end of a unary chain, in the top
    of the chain.

    Parameters
    ----------
    tree : Tree
        Its leaves are the words.
    first, second : (int, int)
        The words of the entities, in any order; they may overlap.
    mark : (str, str), optional
        Labels for the first and the second entity, see `path_enclosed_tree`.

    Examples
    --------
    >>> tree = Tree.from_brackets(
    ...     "(S (ADVP (RB here)) (NP (NNS birds)) (VP (VBP eat) (NP (NN bread) (. .))))"
    ... )
    >>> minimal_complete_tree(tree, (2, 3), (3, 4))
    Tree('(VP (VBP eat) (NP (NN bread) (. .)))')

    References
    ----------
    Zhang, Zhang, Su and Zhou (2006), A composite kernel to extract relations between entities with
    both flat and structured features.
    """
    part, shift = _around(tree, first, second)
    return part if mark is None else _mark_both(part, first, second, shift, mark)


def path_enclosed_tree(
    tree: Tree, first: Span, second: Span, *, mark: tuple[str, str] | None = None
) -> Tree:
    """Return the part of a tree between two entities (path-enclosed tree, PT).

    The smallest constituent that holds both, as `minimal_complete_tree` gives it, without the words
    left of both entities and right of both, and without the nodes that then hold no word. What is
    left of a node keeps its label, even with a single child.

    Parameters
    ----------
    tree : Tree
        Its leaves are the words.
    first, second : (int, int)
        The words of the entities, in any order; they may overlap.
    mark : (str, str), optional
        Labels for the first and the second entity. A node of that label is put above the smallest
        constituent of what is left that covers the entity, above the top of a unary chain. So an
        entity that is no constituent is marked together with its neighbors; if both have the same
        constituent, the mark of the first stands above that of the second. A mark above the root
        becomes the root.

    Examples
    --------
    >>> tree = Tree.from_brackets(
    ...     "(S (NP (JJ old) (NNS birds)) (VP (VBP eat) (NP (NN bread) (PP (IN in) (NN rain)))))"
    ... )
    >>> path_enclosed_tree(tree, (1, 2), (3, 4))
    Tree('(S (NP (NNS birds)) (VP (VBP eat) (NP (NN bread))))')
    >>> path_enclosed_tree(tree, (1, 2), (3, 4), mark=("E1", "E2"))
    Tree('(S (E1 (NP (NNS birds))) (VP (VBP eat) (E2 (NP (NN bread)))))')
    """
    part, shift = _around(tree, first, second)
    start, end = hull(first, second)
    part = _keep_leaves(part, start - shift, end - shift)
    return part if mark is None else _mark_both(part, first, second, start, mark)


def argument_tree(tree: Tree, start: int, end: int, *, root: str | None = None) -> Tree:
    """Return the constituent that is an argument.

    Parameters
    ----------
    tree : Tree
        Its leaves are the words.
    start, end : int
        The words of the argument.
    root : str, optional
        Label of a node to put above it.

    Raises
    ------
    StructureError
        If the words are no constituent.

    Examples
    --------
    >>> tree = Tree.from_brackets("(S (NP (NNS birds)) (VP (VBP eat) (NP (NN bread))))")
    >>> argument_tree(tree, 2, 3)
    Tree('(NP (NN bread))')
    """
    return _under(root, (), constituent(tree, start, end, exact=True))


def argument_path(
    tree: Tree,
    predicate: int,
    start: int,
    end: int,
    *,
    lemma: str | None = None,
    root: str | None = None,
    facts: Iterable[tuple[str, str]] = (),
) -> Tree:
    """Return the way from a predicate to its argument.

    The smallest constituent that holds both (of a unary chain the lowest node, where the ways
    part), and below it only what contains the predicate or the argument. The argument is cut off
    and marked (``NP-ARG``), the predicate ends in its lemma.

    Parameters
    ----------
    tree : Tree
        Its leaves are the words.
    predicate : int
        Position of the predicate; outside the argument.
    start, end : int
        The words of the argument: a constituent.
    lemma : str, optional
        What to write in place of the predicate; its word, if not given.
    root : str, optional
        Label of a node to put above the path.
    facts : iterable of (kind, value)
        What else is known, as nodes ``(kind value)`` left of the path, below the root; without
        ``root``, below a node labeled ``*``.

    Raises
    ------
    StructureError
        If the argument is no constituent, or contains the predicate.

    Examples
    --------
    >>> tree = Tree.from_brackets("(S (NP (NNS we)) (VP (MD can) (VP (VB eat) (NP (NN bread)))))")
    >>> argument_path(tree, 2, 0, 1, lemma="eat")
    Tree('(S NP-ARG (VP (VP (VB eat))))')
    >>> argument_path(tree, 2, 3, 4, root="PATH", facts=[("VOICE", "active")])
    Tree('(PATH (VOICE active) (VP (VB eat) NP-ARG))')

    References
    ----------
    Che, Zhang, Liu and Li (2006), A hybrid convolution tree kernel for semantic role labeling.
    """
    places = Places(tree)
    start, end = check_range((start, end), places.span(0))
    predicate = check_predicate(predicate, (start, end), places.span(0))
    to_argument = places.smallest(start, end)
    top = to_argument[-1]
    if places.span(top) != (start, end):
        raise _no_constituent(start, end, places.nodes[top], places.span(top))
    to_predicate = places.way(predicate, predicate + 1)
    shared = sum(a == b for a, b in zip(to_argument, to_predicate, strict=False))
    join = places.nodes[to_argument[shared - 1]]
    argument, word = places.nodes[top], places.nodes[to_predicate[-1]]
    branches = (
        places.branch(to_argument[shared:], argument.label + ARGUMENT_SUFFIX),
        places.branch(to_predicate[shared:], word.label if lemma is None else lemma),
    )
    path = Tree(join.label, branches if start < predicate else branches[::-1], join.edge)
    return _under(root, facts, path)


def _around(tree: Tree, first: Span, second: Span) -> tuple[Tree, int]:
    """Return the smallest constituent that holds two spans, and its first leaf."""
    places = Places(tree)
    whole = places.span(0)
    top = places.smallest(*hull(check_range(first, whole), check_range(second, whole)))[-1]
    return places.nodes[top], places.span(top)[0]


def _keep_leaves(tree: Tree, start: int, end: int) -> Tree:
    """Return a tree without the leaves outside a span; at least one must be inside."""
    done: list[Tree | None] = []
    position = 0
    for node in tree.postorder():
        count = len(node.children)
        if not count:
            done.append(node if start <= position < end else None)
            position += 1
            continue
        below = done[-count:]
        del done[-count:]
        kept = tuple([child for child in below if child is not None])
        if kept and kept != node.children:
            node = make_node(node.label, kept, node.edge)
        done.append(node if kept else None)
    [left] = done
    return tree if left is None else left


def _mark_both(tree: Tree, first: Span, second: Span, shift: int, mark: tuple[str, str]) -> Tree:
    if not isinstance(mark, (tuple, list)) or len(mark) != 2:
        raise StructureError(
            f"mark must be two labels or None, got {shorten(repr(mark))}",
            hint='one label for each entity: mark=("E1", "E2")',
        )
    # The second goes first: what is marked later stands above.
    for (start, end), label in ((second, mark[1]), (first, mark[0])):
        tree = _mark(tree, start - shift, end - shift, label)
    return tree


def _mark(tree: Tree, start: int, end: int, label: str) -> Tree:
    """Put a node above the smallest constituent over some leaves."""
    places = Places(tree)
    way = places.smallest(start, end)
    marked = places.nodes[way[-1]]
    new = Tree(label, (make_node(marked.label, marked.children, ""),), marked.edge)
    for below, place in zip(way[:0:-1], way[-2::-1], strict=True):
        node = places.nodes[place]
        children = [
            new if child == below else node.children[number]
            for number, child in enumerate(places.children(place))
        ]
        new = make_node(node.label, tuple(children), node.edge)
    return new


def _under(root: str | None, facts: Iterable[tuple[str, str]], tree: Tree) -> Tree:
    """Put a root above a tree, and facts beside it."""
    known = [Tree(kind, (Tree(value),)) for kind, value in facts]
    if root is None and not known:
        return tree
    return Tree(JOINT if root is None else root, (*known, tree))


def _no_constituent(start: int, end: int, around: Tree, span: Span) -> StructureError:
    return StructureError(
        f"the words [{start}, {end}) are no constituent",
        hint=f"the smallest around them is {shorten(repr(around.label))} over "
        f"[{span[0]}, {span[1]})",
    )
