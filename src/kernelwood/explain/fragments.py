"""Fragments that two structures share, as an explanation of a kernel value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ExampleBatch
from kernelwood.errors import KernelInputError, KernelOverflowError
from kernelwood.explain.forest_fragments import (
    PackedNodes,
    heaviest_forest_fragments,
    largest_forest_fragments,
)
from kernelwood.explain.found import Found, Part, Request, Shared, one_by_one
from kernelwood.explain.graph_fragments import explain_colors, explain_paths
from kernelwood.explain.pair_values import PairValues
from kernelwood.explain.pairing import Classes, Matching, Shapes, Steps, Weighted
from kernelwood.explain.sequence_fragments import explain_subsequences
from kernelwood.explain.tree_fragments import (
    heaviest_subset_trees,
    largest_subset_trees,
    number_nodes,
    partial_trees,
    rooted_trees,
    subtrees,
)
from kernelwood.explain.tree_pairs import largest_trees
from kernelwood.explain.vector_fragments import explain_vectors
from kernelwood.kernels import (
    AllPathsGraphKernel,
    ForestKernel,
    Kernel,
    Normalized,
    OnView,
    PairKernel,
    PartialTreeKernel,
    RootedTreeKernel,
    Scaled,
    SubsequenceKernel,
    SubsetTreeKernel,
    SubtreeKernel,
    Sum,
    VectorKernel,
    WeisfeilerLehmanKernel,
)
from kernelwood.structures import Forest, Sequence, Tree
from kernelwood.text import Example

_ORDERS = ("size", "weight")
_PAIRS_AT_ONCE = 2**14  # pairs whose fragments are searched together
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part that two structures share, and its contribution to their similarity.

    For vectors, a fragment is a feature that both have, if the kernel is linear or the cosine and
    features have names; otherwise the only fragment is the value of the kernel. For graphs, it is a
    pair of labels that paths join, or a node with its neighborhood, written as text only.

    Attributes
    ----------
    text : str
        Readable form: bracket notation for trees, with a bare label for a node without its
        children, ``(NP (DT the) NN)``; words for sequences, with ``…`` for gaps. Different labels
        that match are written with their similarity, ``dog~cat (0.80)``. The name of a feature,
        or the kind of the kernel of vectors. ``first … last`` for paths of a graph; for a
        neighborhood the label of the node, then edges and neighbors, ``met (obj: cat)``.
    weight : float
        Contribution to the raw value of the kernel.
    share : float
        ``weight`` divided by the raw value.
    count_a, count_b : int or float
        Number of occurrences in each structure; in a forest, the expected number over its trees;
        the values of a feature; the weight of all paths; the sum of the gates of nodes.
    structure : Tree, Sequence or None
        The fragment with the labels of the first structure; None for vectors and graphs.
    covers : float or None
        Fraction of the raw value contributed by the fragment and all its parts in the same places;
        None if fragments are ordered by weight, where parts are listed separately.
    view : str
        The view of the fragment, "" if the kernel names none.
    kernel : str
        The kernel that counts it.
    counterpart : Tree, Sequence or None
        The fragment with the labels of the second structure, None if they are equal.
    similarity : float
        Product of the similarities of all its labels; 1 with exact matching.
    """

    text: str
    weight: float
    share: float
    count_a: float
    count_b: float
    structure: Tree | Sequence | None
    covers: float | None = None
    view: str = ""
    kernel: str = ""
    counterpart: Tree | Sequence | None = None
    similarity: float = 1.0

    @property
    def size(self) -> int:
        """Number of nodes of a tree, or of elements of a sequence; 1 for vectors and graphs."""
        if self.structure is None:
            return 1
        return self.structure.n_nodes if isinstance(self.structure, Tree) else len(self.structure)


def shared_fragments(
    kernel: Kernel,
    a: Any,
    b: Any,
    top: int | None = 10,
    *,
    order: str = "size",
    max_steps: int = 500_000,
) -> list[Fragment]:
    r"""Return the fragments that two structures share, which explain a kernel value.

    Parameters
    ----------
    kernel : Kernel
        A subset tree, subtree, partial tree, rooted tree, subsequence, forest, graph or vector
        kernel; or one of these in ``OnView``, ``Normalized``, sums and multiples.
    a, b : Tree, Sequence, Forest, Graph, vector or Example
        The structures to compare.
    top : int or None
        Maximum number of fragments, None for all.
    order : {"size", "weight"}
        ``"size"`` returns the largest fragments first, without those that are part of a larger one
        in the same place. ``covers`` is then the contribution of each fragment with all its parts;
        over all fragments of a tree it sums to 1. ``"weight"`` returns every fragment separately,
        heaviest first; with ``decay < 1`` these are mostly single productions or words.
    max_steps : int
        Limit on the number of comparisons of nodes; the default takes about a second. A
        `RuntimeWarning` reports that it was reached: the fragments returned are correct, but
        others may be missing, especially near the roots of large trees; for partial and rooted
        trees the weights then include only the pairs visited.

    Returns
    -------
    list of Fragment
        Empty if the structures share no fragment.

    Raises
    ------
    KernelInputError
        If the kernel cannot be explained, or a parameter is wrong.
    KernelOverflowError
        If the raw value or an expected count exceeds the range of a double.

    Notes
    -----
    Fragments and their weights depend on the kernel:

    * Subset tree and subtree kernel: the fragment of the definition, with the weight
      :math:`\lambda^p n_a n_b` for p productions that occur :math:`n_a` and :math:`n_b` times. The
      weights of all fragments sum to the raw value.
    * Subsequence kernel: a subsequence u, with the weight
      :math:`\sum_i \lambda^{l(i)} \sum_j \lambda^{l(j)}` over its occurrences in both; these
      also sum to the raw value. By size, a longest one through each pair of equal elements is
      returned, and ``covers`` is the value along that alignment.
    * Forest kernel: as for subset trees, with :math:`n_a` and :math:`n_b` the expected counts over
      the trees of each forest. By size, the fragment of each pair of equal hyper-edges continues
      below by the pairs that share most; alternatives have fragments of their own.
    * Partial tree kernel: fragments are too many to list, so each pair of nodes with equal labels
      adds its :math:`\Delta` to the largest fragment at that pair, with children aligned so that
      most nodes match. ``count_a`` and ``count_b`` are the numbers of these nodes.
    * Rooted tree kernel: likewise, with the pairs reached from the roots. A pair adds the product
      of the factors on the path to it, so that all pairs sum to the raw value.
    * All-paths graph kernel: a pair of labels that paths join in both graphs, with the product of
      the weights of the paths. Weisfeiler-Lehman kernel: a node with its neighbors up to some
      distance, with the contribution of its color to the value; by size, those of a larger distance
      come first. All fragments sum to the raw value, and ``covers`` is the fraction of each.
    * Vector kernel, linear or cosine, with named features: each feature that both have, with its
      part of the sum. Otherwise there is one fragment, with the value of the kernel.

    Gates and similarities multiply these weights as in the kernel: every node or element adds both
    gates and the similarity of its labels; leaves of a subset tree that have children in the tree,
    and leaves of a subtree, add the similarity only. With soft matching, a fragment is a
    ``structure`` in ``a`` and its ``counterpart`` in ``b``, each with its own count, and by size
    children and elements are aligned for the largest sum of similarities.

    For a combination, weights are contributions to its value before the outermost normalization.

    Examples
    --------
    >>> import kernelwood as kw
    >>> a = kw.Tree.from_brackets("(S (NP (DT the) (NN cat)) (VP (VB sat)))")
    >>> b = kw.Tree.from_brackets("(S (NP (DT the) (NN dog)) (VP (VB sat)))")
    >>> for fragment in kw.shared_fragments(kw.SubsetTreeKernel(decay=0.5), a, b):
    ...     print(fragment.text, fragment.count_a, fragment.count_b, f"{fragment.covers:.0%}")
    (S (NP (DT the) NN) (VP (VB sat))) 1 1 100%
    >>> heavy = kw.shared_fragments(kw.SubsetTreeKernel(decay=0.5), a, b, 2, order="weight")
    >>> [(fragment.text, fragment.weight) for fragment in heavy]
    [('(NP DT NN)', 0.5), ('(DT the)', 0.5)]
    >>> pets = kw.similarity.Table.from_pairs({("cat", "dog"): 0.8})
    >>> kw.shared_fragments(kw.SubsetTreeKernel(similarity=pets), a, b)[0].text
    '(S (NP (DT the) (NN cat~dog (0.80))) (VP (VB sat)))'
    """
    return fragments_of_pairs(kernel, [a], [b], top, order=order, max_steps=max_steps)[0]


def fragments_of_pairs(
    kernel: Kernel,
    X: Any,
    Y: Any,
    top: int | None = 10,
    *,
    order: str = "size",
    max_steps: int = 500_000,
) -> list[list[Fragment]]:
    """Return the fragments that ``X[i]`` and ``Y[i]`` share, for every i.

    Other parameters are those of `shared_fragments`. Each kernel compares all pairs at once, which
    takes a fraction of the time of one pair after another.

    Parameters
    ----------
    X, Y : lists of structures or batches, equally long

    Examples
    --------
    >>> import kernelwood as kw
    >>> kernel, others = kw.SubsequenceKernel(), [kw.Sequence(["b", "c"]), kw.Sequence(["a"])]
    >>> found = fragments_of_pairs(kernel, [kw.Sequence(["a", "b"])] * 2, others)
    >>> [[fragment.text for fragment in each] for each in found]
    [['b'], ['a']]
    """
    _check_request(kernel, top, order, max_steps)
    request = Request(top, order == "size", max_steps)
    return [[each.fragment() for each in some] for some in _ranked(kernel, X, Y, request)]


class FragmentLine(NamedTuple):
    """A shared fragment without its structures; attributes are those of `Fragment`."""

    text: str
    view: str
    size: int
    covers: float


def fragment_lines(
    kernel: Kernel,
    X: Any,
    Y: Any,
    top: int,
    *,
    max_steps: int = 500_000,
    values: PairValues | None = None,
) -> list[list[FragmentLine]]:
    """Return the largest fragments that ``X[i]`` and ``Y[i]`` share, for every i, as text.

    Parameters are those of `fragments_of_pairs`, which takes longer: it makes structures. Kernels
    in ``values`` are not evaluated again.

    Examples
    --------
    >>> import kernelwood as kw
    >>> a, b = kw.Sequence(["the", "cat"]), kw.Sequence(["a", "cat"])
    >>> fragment_lines(kw.SubsequenceKernel(), [a], [b], 3)
    [[FragmentLine(text='cat', view='', size=1, covers=1.0)]]
    """
    _check_request(kernel, top, "size", max_steps)
    ranked = _ranked(kernel, X, Y, Request(top, True, max_steps), values)
    return [[each.line() for each in some] for some in ranked]


class _Weighed(NamedTuple):
    """A fragment that one kernel of a combination found.

    ``factor`` turns its weight into one of the combination, whose value is ``total``.
    """

    shared: Shared
    part: _Part
    found: Found
    factor: float
    total: float

    def covers(self) -> float:
        return (self.shared.covers or 0.0) * self.factor / self.total

    def line(self) -> FragmentLine:
        return FragmentLine(self.shared.text, self.part.view, self.shared.size, self.covers())

    def fragment(self) -> Fragment:
        shared = self.shared
        weight = shared.weight * self.factor
        structure, other = self.found.structures(shared.number)
        return Fragment(
            shared.text,
            weight,
            weight / self.total,
            shared.count_a,
            shared.count_b,
            structure,
            None if shared.covers is None else self.covers(),
            self.part.view,
            type(self.part.kernel).__name__,
            None if structure == other else other,
            shared.similarity,
        )


def _ranked(
    kernel: Kernel, X: Any, Y: Any, request: Request, known: PairValues | None = None
) -> Iterator[list[_Weighed]]:
    """Yield the fragments of each pair in the requested order."""
    parts = _parts(kernel, X, Y, PairValues() if known is None else known)
    for begin in range(0, max(len(X), 1), _PAIRS_AT_ONCE):
        some = slice(begin, begin + _PAIRS_AT_ONCE)
        yield from _ranked_at_once([part.cut(some) for part in parts], len(X[some]), request)


def _ranked_at_once(parts: list[_Part], n_pairs: int, request: Request) -> Iterator[list[_Weighed]]:
    values = [np.maximum(part.factors * part.raws, 0.0) for part in parts]
    totals: Floats = sum(values, np.zeros(n_pairs))
    # Of each pair, rows that are sorted: two numbers, text, and a number that keeps the order.
    rows: list[list[tuple[float, float, str, int, _Weighed]]] = [[] for _ in range(n_pairs)]
    serial = count()
    exceeded = False
    for part, value in zip(parts, values, strict=True):
        there = np.flatnonzero(value)
        if not len(there):
            continue
        pairs = part.X, part.Y
        if len(there) < len(value):
            pairs = part.X[there], part.Y[there]
        found = _EXPLAINERS[type(part.kernel)](part.kernel, *pairs, request)
        exceeded = exceeded or bool(found.exceeded.any())
        numbers = zip(
            there.tolist(), part.factors[there].tolist(), totals[there].tolist(), strict=True
        )
        for (row, factor, total), fragments in zip(numbers, found.fragments, strict=True):
            for shared in fragments:
                each = _Weighed(shared, part, found, factor, total)
                if request.largest:
                    key = (-shared.size, -each.covers())
                else:
                    key = (-shared.weight * factor, -shared.size)
                rows[row].append((*key, shared.text, next(serial), each))
    if exceeded:
        request.warn()
    for own in rows:
        own.sort()
        yield [each for *_, each in own[: request.top]]


def _check_request(kernel: Any, top: Any, order: Any, max_steps: Any) -> None:
    if not isinstance(kernel, Kernel):
        raise KernelInputError(f"shared_fragments needs a kernel, got {type(kernel).__name__}")
    if order not in _ORDERS:
        raise KernelInputError(f"order must be one of {_ORDERS}, got {order!r}")
    for name, number in (("top", top), ("max_steps", max_steps)):
        whole = isinstance(number, int) and not isinstance(number, bool) and number >= 1
        if not whole and not (name == "top" and number is None):
            raise KernelInputError(f"{name} must be a positive int, got {number!r}")
    kernel._check_params()


@dataclass(frozen=True)
class _Part:
    """A kernel of a combination: its inputs, and its raw values and factors for each pair."""

    kernel: Any
    X: Any
    Y: Any
    view: str
    factors: Floats
    raws: Floats

    def cut(self, some: slice) -> _Part:
        """Return the part for some of the pairs."""
        cut = (each[some] for each in (self.X, self.Y, self.factors, self.raws))
        X, Y, factors, raws = cut
        return _Part(self.kernel, X, Y, self.view, factors, raws)


def _parts(kernel: Kernel, X: Any, Y: Any, known: PairValues) -> list[_Part]:
    """Return the kernels whose values a combination adds."""
    parts = []
    # Last entry: whether a normalization here is the outermost one, which is left out.
    waiting: list[tuple[Any, Any, Any, str, Floats, bool]] = [
        (kernel, X, Y, "", np.ones(len(X)), True)
    ]
    while waiting:
        inner, X, Y, view, factors, outermost = waiting.pop()
        kind = type(inner)
        if kind is OnView:
            seen = (_view(inner, X), _view(inner, Y))
            waiting.append((inner.kernel, *seen, inner.name, factors, outermost))
        elif kind is Sum:
            waiting.append((inner.right, X, Y, view, factors, False))
            waiting.append((inner.left, X, Y, view, factors, False))
        elif kind is Scaled:
            waiting.append((inner.kernel, X, Y, view, factors * inner.factor, False))
        elif kind is Normalized:
            if not outermost:
                X, Y = inner._batch(X), inner._batch(Y)
                factors = factors * _ratios(inner, _raw_values(inner.kernel, X, Y), X, Y, known)
            waiting.append((inner.kernel, X, Y, view, factors, outermost))
        elif kind is VectorKernel:
            X, Y = inner._batch(X), inner._batch(Y)
            exact = inner.clone().set_params(dtype="float64")
            parts.append(_Part(exact, X, Y, view, factors, _raw_values(exact, X, Y)))
        elif kind in _EXPLAINERS:
            X, Y = inner._batch(X), inner._batch(Y)
            raw_kernel = inner.clone().set_params(normalize=False, dtype="float64")
            raws = _raw_values(raw_kernel, X, Y)
            if inner.normalize and not outermost:
                factors = factors * _ratios(inner, raws, X, Y, known)
            parts.append(_Part(raw_kernel, X, Y, view, factors, raws))
        else:
            raise _unsupported(inner)
    return parts


def _view(kernel: OnView, examples: Any) -> Any:
    if isinstance(examples, ExampleBatch):
        return examples.view(kernel.name)
    for example in examples:
        if not isinstance(example, Example):
            raise KernelInputError(
                f"{kernel!r} reads a view of an example, got {type(example).__name__}; "
                "use the kernel inside for bare structures"
            )
    return [example.view(kernel.name) for example in examples]


def _ratios(kernel: Kernel, raws: Floats, X: Any, Y: Any, known: PairValues) -> Floats:
    """Return the values of a kernel divided by raw values, 0 where these are 0."""
    some = raws > 0
    values = known.known(kernel, X, Y)
    if values is None and some.all():
        values = kernel.pairs(X, Y)
    ratios = np.zeros(len(raws))
    if values is not None:
        ratios[some] = values[some] / raws[some]
    elif some.any():
        ratios[some] = kernel.pairs(X[some], Y[some]) / raws[some]
    return ratios


def _raw_values(kernel: Kernel, X: Any, Y: Any) -> Floats:
    try:
        values: Floats = kernel.pairs(X, Y).astype(np.float64)
    except KernelOverflowError:
        raise KernelOverflowError(
            f"{kernel!r}: the raw value of this pair exceeds the range of a double; "
            "use a smaller decay or smaller gates to explain it"
        ) from None
    return values


def _unsupported(kernel: Kernel) -> KernelInputError:
    names = ", ".join(kind.__name__ for kind in _EXPLAINERS)
    if isinstance(kernel, PairKernel):
        return KernelInputError(
            "shared_fragments cannot explain PairKernel; explain parts of the pairs: "
            "shared_fragments(kernel.kernel, a.part('left'), b.part('left')), or a.view('left') "
            "if parts are structures"
        )
    return KernelInputError(
        f"shared_fragments cannot explain {type(kernel).__name__}: supported kernels are "
        f"{names}, alone or inside OnView, Normalized, sums (k1 + k2) and multiples (0.3 * k)"
    )


_OfPair = tuple[list[tuple[Shared, tuple[Part, Part]]], bool]  # fragments, limit reached


def _subtrees_of(kernel: Kernel, a: Tree, b: Tree, steps: Steps) -> tuple[Classes, Shapes]:
    classes = Classes.of(a, b)
    return classes, Shapes(Matching(kernel, classes.labels, classes.used_heads(), steps))


def _explain_subtrees(kernel: SubtreeKernel, a: Tree, b: Tree, request: Request) -> _OfPair:
    steps = Steps(request.max_steps)
    classes, shapes = _subtrees_of(kernel, a, b, steps)
    found = subtrees(classes, shapes, kernel.decay, steps, largest=request.largest)
    return _tree_fragments(found, shapes, request), steps.exceeded


def _explain_subset_trees(kernel: SubsetTreeKernel, a: Tree, b: Tree, request: Request) -> _OfPair:
    steps = Steps(request.max_steps)
    classes, shapes = _subtrees_of(kernel, a, b, steps)
    find = largest_subset_trees if request.largest else heaviest_subset_trees
    found = find(classes, shapes, kernel.decay, steps, count_leaves=kernel.count_leaves)
    # Both are generators that yield fragments in the requested order.
    return _tree_fragments(islice(found, request.top), shapes, request), steps.exceeded


def _explain_partial_trees(
    kernel: PartialTreeKernel, a: Tree, b: Tree, request: Request
) -> _OfPair:
    steps = Steps(request.max_steps)
    classes, shapes = _subtrees_of(kernel, a, b, steps)
    found = partial_trees(classes, shapes, kernel, steps, largest=request.largest)
    return _tree_fragments(found, shapes, request), steps.exceeded


def _explain_rooted_trees(kernel: RootedTreeKernel, a: Tree, b: Tree, request: Request) -> _OfPair:
    steps = Steps(request.max_steps)
    heads, nodes = number_nodes((a, b))
    left, right = (list(dict.fromkeys(node.head for node in side)) for side in nodes)
    shapes = Shapes(Matching(kernel, heads, (left, right), steps))
    found = rooted_trees(
        nodes, shapes, kernel.decay, steps, contiguous=kernel.contiguous, largest=request.largest
    )
    return _tree_fragments(found, shapes, request), steps.exceeded


def _explain_forests(kernel: ForestKernel, a: Forest, b: Forest, request: Request) -> _OfPair:
    steps = Steps(request.max_steps)
    packed = PackedNodes.of(a, b, kernel.sharpness)
    shapes = Shapes(Matching(kernel, packed.labels, ([], []), steps))
    find = largest_forest_fragments if request.largest else heaviest_forest_fragments
    found = find(packed, shapes, kernel.decay, steps)
    return _tree_fragments(islice(found, request.top), shapes, request), steps.exceeded


def _tree_fragments(
    found: Iterator[Weighted], shapes: Shapes, request: Request
) -> list[tuple[Shared, tuple[Part, Part]]]:
    """Return the first fragments in the requested order, as trees and text."""

    def rank(one: Weighted) -> tuple[float, float]:
        size = -shapes.n_nodes[one[0]]
        return (size, -(one[4] or 0.0)) if request.largest else (-one[1], size)

    fragments: list[tuple[Shared, tuple[Part, Part]]] = []
    for shape, weight, count_a, count_b, covers in sorted(found, key=rank)[: request.top]:
        tree = shapes.tree(shape)
        other = shapes.tree(shape, 1) if shapes.matching.is_soft else tree
        similarity, size = shapes.similarities[shape], shapes.n_nodes[shape]
        shared = Shared(shapes.text(shape), weight, count_a, count_b, covers, size, similarity, 0)
        fragments.append((shared, (tree, other)))
    return fragments


def _of_trees(explain: Callable[..., _OfPair]) -> Callable[..., Found]:
    """Return the search of all pairs: by size in the native core, by weight one by one."""
    heaviest = one_by_one(explain)

    def explain_all(kernel: Any, X: Any, Y: Any, request: Request) -> Found:
        return (largest_trees if request.largest else heaviest)(kernel, X, Y, request)

    return explain_all


# Kernel -> function that explains all pairs of some batches.
_EXPLAINERS: dict[type[Kernel], Any] = {
    SubtreeKernel: _of_trees(_explain_subtrees),
    SubsetTreeKernel: _of_trees(_explain_subset_trees),
    PartialTreeKernel: _of_trees(_explain_partial_trees),
    RootedTreeKernel: _of_trees(_explain_rooted_trees),
    SubsequenceKernel: explain_subsequences,
    ForestKernel: one_by_one(_explain_forests),
    AllPathsGraphKernel: explain_paths,
    WeisfeilerLehmanKernel: explain_colors,
    VectorKernel: explain_vectors,
}


def first_occurrence(fragment: Tree, tree: Tree) -> frozenset[int]:
    """Return the nodes of the first occurrence of a fragment in a tree.

    Whole productions are compared, as in :class:`~kernelwood.SubsetTreeKernel`: a leaf of the
    fragment matches a node of the tree with any children.

    Parameters
    ----------
    fragment : Tree
        The fragment, such as ``Fragment.structure``.
    tree : Tree
        The tree to search.

    Returns
    -------
    frozenset of int
        Positions in pre-order, empty if the fragment does not occur.

    Examples
    --------
    >>> tree = Tree.from_brackets("(S (NP (DT the) (NN cat)) (VP sat))")
    >>> sorted(first_occurrence(Tree.from_brackets("(NP (DT the) NN)"), tree))
    [1, 2, 3, 4]
    """
    for position, node in enumerate(tree.preorder()):
        if node.n_nodes >= fragment.n_nodes:
            taken = _match(fragment, node, position)
            if taken:
                return taken
    return frozenset()


def _match(fragment: Tree, node: Tree, position: int) -> frozenset[int]:
    taken = []
    waiting = [(fragment, node, position)]
    while waiting:
        part, found, place = waiting.pop()
        if (part.label, part.edge) != (found.label, found.edge):
            return frozenset()
        taken.append(place)
        if not part.children:
            continue
        if len(part.children) != len(found.children):
            return frozenset()
        place += 1
        for below, child in zip(part.children, found.children, strict=True):
            waiting.append((below, child, place))
            place += child.n_nodes
    return frozenset(taken)
