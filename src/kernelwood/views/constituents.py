"""Parts of constituency trees: around two entities, and between a predicate and its argument.

Words are the leaves of a tree, counted from 0. A span is a pair ``(start, end)`` of leaf positions,
``end`` being the position after the last. No function recurses, so trees may have any depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelwood.errors import StructureError
from kernelwood.structures import JOINT, Tree, check_integer, make_node, shorten, show
from kernelwood.text import Entity, Sentence, Span

# Appended to the label of an argument at the end of its path.
ARGUMENT_SUFFIX = "-ARG"


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
            else "tokenize the sentence first",
        )
    return tokens[0], tokens[-1] + 1


def constituent(tree: Tree, start: int, end: int, *, exact: bool = False) -> Tree:
    """Return the smallest constituent over the words from start to end.

    In a unary chain, this is the topmost node, as in `Forest.subforest`. A word is a constituent of
    its own only if it has siblings.

    Parameters
    ----------
    tree : Tree
        Its leaves are the words.
    start, end : int
        The words; ``end`` is the position after the last.
    exact : bool, default False
        Whether the constituent must hold exactly these words.

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
    order = _Preorder(tree)
    start, end = check_range((start, end), order.span(0))
    top = order.smallest(start, end)[-1]
    if exact and order.span(top) != (start, end):
        raise _no_constituent(start, end, order.nodes[top], order.span(top))
    return order.nodes[top]


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
    left of both entities and right of both, and without nodes above such words only. The remaining
    nodes keep their labels, even with a single child.

    Parameters
    ----------
    tree : Tree
        Its leaves are the words.
    first, second : (int, int)
        The words of the entities, in any order; they may overlap.
    mark : (str, str), optional
        Labels for the first and the second entity. A node with that label is inserted above the
        smallest remaining constituent that covers the entity, above the top of a unary chain. So
        an entity that is not a constituent is marked together with its neighbors; if both have
        the same constituent, the mark of the first is above that of the second. A mark above the
        root becomes the root.

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
        Label of a node above it.

    Raises
    ------
    StructureError
        If the words are not a constituent.

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
    """Return the path from a predicate to its argument.

    The smallest constituent that holds both (in a unary chain, the lowest node), and below it only
    nodes that contain the predicate or the argument. The argument is a leaf with a marked label
    (``NP-ARG``), the predicate ends in its lemma.

    Parameters
    ----------
    tree : Tree
        Its leaves are the words.
    predicate : int
        Position of the predicate; outside the argument.
    start, end : int
        The words of the argument: a constituent.
    lemma : str, optional
        Label of the predicate; default: its word.
    root : str, optional
        Label of a node above the path.
    facts : iterable of (kind, value)
        Further information, added as nodes ``(kind value)`` left of the path, below the root;
        without ``root``, below a node labeled ``*``.

    Raises
    ------
    StructureError
        If the argument is not a constituent, or contains the predicate.

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
    order = _Preorder(tree)
    start, end = check_range((start, end), order.span(0))
    predicate = check_predicate(predicate, (start, end), order.span(0))
    to_argument = order.smallest(start, end)
    top = to_argument[-1]
    if order.span(top) != (start, end):
        raise _no_constituent(start, end, order.nodes[top], order.span(top))
    to_predicate = order.path(predicate, predicate + 1)
    shared = sum(a == b for a, b in zip(to_argument, to_predicate, strict=False))
    join = order.nodes[to_argument[shared - 1]]
    argument, word = order.nodes[top], order.nodes[to_predicate[-1]]
    branches = (
        order.branch(to_argument[shared:], argument.label + ARGUMENT_SUFFIX),
        order.branch(to_predicate[shared:], word.label if lemma is None else lemma),
    )
    path = Tree(join.label, branches if start < predicate else branches[::-1], join.edge)
    return _under(root, facts, path)


def check_range(span: object, whole: Span) -> Span:
    """Return a span of the sentence as plain integers."""
    if not isinstance(span, (tuple, list)) or len(span) != 2:
        raise StructureError(f"a span must be (start, end), got {show(span)}")
    start, end = check_integer(span[0], "start"), check_integer(span[1], "end")
    if not whole[0] <= start < end <= whole[1]:
        raise StructureError(
            f"[{show(start)}, {show(end)}) is not a span of the words [{whole[0]}, {whole[1]})",
            hint="words are counted from 0; the end is the position after the last",
        )
    return start, end


def check_predicate(predicate: object, argument: Span, whole: Span) -> int:
    """Return the position of a predicate, which must be a word outside its argument."""
    position = check_integer(predicate, "predicate")
    if not whole[0] <= position < whole[1]:
        raise StructureError(
            f"predicate {show(position)} is not one of the words [{whole[0]}, {whole[1]})",
            hint="words are counted from 0",
        )
    if argument[0] <= position < argument[1]:
        raise StructureError(
            f"the argument [{argument[0]}, {argument[1]}) contains its predicate, word {position}",
            hint="leave the pair out: there is no path between the two",
        )
    return position


def hull(first: Span, second: Span) -> Span:
    """Return the smallest span that holds two spans, in any order."""
    return min(first[0], second[0]), max(first[1], second[1])


class _Preorder:
    """The nodes of a tree in pre-order, identified by their positions in that order.

    The same node object may occur in a tree several times, but not at the same position.
    """

    def __init__(self, tree: Tree) -> None:
        self.nodes = list(tree.preorder())
        self._leaves_before = [0]
        for node in self.nodes:
            self._leaves_before.append(self._leaves_before[-1] + (not node.children))

    def span(self, position: int) -> Span:
        """Return the leaves below a node."""
        after = position + self.nodes[position].n_nodes
        return self._leaves_before[position], self._leaves_before[after]

    def children(self, position: int) -> Iterator[int]:
        """Iterate over the positions of the children."""
        below = position + 1
        for child in self.nodes[position].children:
            yield below
            below += child.n_nodes

    def path(self, start: int, end: int) -> list[int]:
        """Return the nodes that cover some leaves, from the root down."""
        found: list[int] = []
        below: int | None = 0
        while below is not None:
            found.append(below)
            below = next((c for c in self.children(below) if self._covers(c, start, end)), None)
        return found

    def smallest(self, start: int, end: int) -> list[int]:
        """Return the path from the root to the topmost node on the smallest span."""
        path = self.path(start, end)
        span = self.span(path[-1])
        while len(path) > 1 and self.span(path[-2]) == span:
            path.pop()
        return path

    def branch(self, positions: list[int], end: str) -> Tree:
        """Return the nodes at some positions as a chain whose last node is relabeled."""
        chain = Tree(end, (), self.nodes[positions[-1]].edge)
        for position in positions[-2::-1]:
            node = self.nodes[position]
            chain = make_node(node.label, (chain,), node.edge)
        return chain

    def _covers(self, position: int, start: int, end: int) -> bool:
        low, high = self.span(position)
        return low <= start and end <= high


def _around(tree: Tree, first: Span, second: Span) -> tuple[Tree, int]:
    """Return the smallest constituent that holds two spans, and its first leaf."""
    order = _Preorder(tree)
    whole = order.span(0)
    top = order.smallest(*hull(check_range(first, whole), check_range(second, whole)))[-1]
    return order.nodes[top], order.span(top)[0]


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
    # The second first: later marks are above earlier ones.
    for (start, end), label in ((second, mark[1]), (first, mark[0])):
        tree = _mark(tree, start - shift, end - shift, label)
    return tree


def _mark(tree: Tree, start: int, end: int, label: str) -> Tree:
    """Return the tree with a node inserted above the smallest constituent over some leaves."""
    order = _Preorder(tree)
    path = order.smallest(start, end)
    marked = order.nodes[path[-1]]
    new = Tree(label, (make_node(marked.label, marked.children, ""),), marked.edge)
    for below, position in zip(path[:0:-1], path[-2::-1], strict=True):
        node = order.nodes[position]
        children = [
            new if child == below else node.children[number]
            for number, child in enumerate(order.children(position))
        ]
        new = make_node(node.label, tuple(children), node.edge)
    return new


def _under(root: str | None, facts: Iterable[tuple[str, str]], tree: Tree) -> Tree:
    """Return a tree below an optional root, with facts beside it."""
    known = [Tree(kind, (Tree(value),)) for kind, value in facts]
    if root is None and not known:
        return tree
    return Tree(JOINT if root is None else root, (*known, tree))


def _no_constituent(start: int, end: int, around: Tree, span: Span) -> StructureError:
    return StructureError(
        f"the words [{start}, {end}) are not a constituent",
        hint=f"the smallest around them is {shorten(repr(around.label))} over "
        f"[{span[0]}, {span[1]})",
    )
