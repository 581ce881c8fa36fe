"""Fragments that two structures share, as an explanation of a kernel value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from math import hypot, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError, KernelOverflowError
from kernelwood.explain.forest_fragments import (
    PackedNodes,
    heaviest_forest_fragments,
    largest_forest_fragments,
)
from kernelwood.explain.pairing import Classes, Matching, Shapes, Steps, Weighted, label_text
from kernelwood.explain.sequence_fragments import heaviest_subsequences, longest_subsequences
from kernelwood.explain.tree_fragments import (
    heaviest_subset_trees,
    largest_subset_trees,
    number_nodes,
    partial_trees,
    rooted_trees,
    subtrees,
)
from kernelwood.kernels import (
    ForestKernel,
    Kernel,
    Normalized,
    OnView,
    PartialTreeKernel,
    RootedTreeKernel,
    Scaled,
    SubsequenceKernel,
    SubsetTreeKernel,
    SubtreeKernel,
    Sum,
    VectorKernel,
)
from kernelwood.structures import Forest, Sequence, Tree
from kernelwood.text import Example, adapt

_ORDERS = ("size", "weight")
Floats = NDArray[np.float64]
_Element = tuple[str, str]  # edge and node of a sequence


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part that two structures share, and its contribution to their similarity.

    Of vectors, a fragment is a feature that both have, if the kernel is linear or the cosine and
    features have names; otherwise the only fragment is the value of the kernel.

    Attributes
    ----------
    text : str
        Readable form: bracket notation for trees, with a bare label for a node without its
        children, ``(NP (DT the) NN)``; words for sequences, with ``…`` for gaps. Different labels
        that match are written with their similarity, ``dog~cat (0.80)``. The name of a feature,
        or the kind of the kernel of vectors.
    weight : float
        Contribution to the raw value of the kernel.
    share : float
        ``weight`` divided by the raw value.
    count_a, count_b : int or float
        Number of occurrences in each structure; in a forest, the expected number over its trees;
        the values of a feature.
    structure : Tree, Sequence or None
        The fragment with the labels of the first structure; None for vectors.
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
        """Number of nodes of a tree, or of elements of a sequence; 1 for vectors."""
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
        A subset tree, subtree, partial tree, rooted tree, subsequence, forest or vector kernel; or
        one of these in ``OnView``, ``Normalized``, sums and multiples.
    a, b : Tree, Sequence, Forest, vector or Example
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
        Empty if the structures share nothing.

    Raises
    ------
    KernelInputError
        If the kernel cannot be explained, or a parameter is wrong.
    KernelOverflowError
        If the raw value exceeds the range of a double, or an expected count.

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
    return fragments_with_each(kernel, a, [b], top, order=order, max_steps=max_steps)[0]


def fragments_with_each(
    kernel: Kernel,
    a: Any,
    others: list[Any],
    top: int | None = 10,
    *,
    order: str = "size",
    max_steps: int = 500_000,
) -> list[list[Fragment]]:
    """Return the fragments that a structure shares with each of several others.

    Parameters are those of `shared_fragments`. Each kernel compares the structure with all others
    at once, which takes a fraction of the time of one pair after another.

    Examples
    --------
    >>> import kernelwood as kw
    >>> kernel, others = kw.SubsequenceKernel(), [kw.Sequence(["b", "c"]), kw.Sequence(["a"])]
    >>> found = fragments_with_each(kernel, kw.Sequence(["a", "b"]), others)
    >>> [[fragment.text for fragment in each] for each in found]
    [['b'], ['a']]
    """
    _check_request(kernel, top, order, max_steps)
    others = [adapt(other) for other in others]
    parts = _parts(kernel, adapt(a), others)
    values = [np.maximum(part.factors * part.raws, 0.0) for part in parts]
    totals = sum(values, np.zeros(len(others)))
    made: list[list[Fragment]] = []
    for number, total in enumerate(totals.tolist()):
        fragments = []
        for part, value in zip(parts, values, strict=True):
            if value[number] == 0:
                continue
            factor = float(part.factors[number])
            request = _Request(top, order == "size", Steps(max_steps))
            explain = _EXPLAINERS[type(part.kernel)]
            for found in explain(part.kernel, part.a, part.others[number], request):
                weight = found.weight * factor
                fragments.append(
                    replace(
                        found,
                        weight=weight,
                        share=weight / total,
                        covers=None if found.covers is None else found.covers * factor / total,
                        view=part.view,
                        kernel=type(part.kernel).__name__,
                    )
                )
            request.steps.warn()
        made.append(sorted(fragments, key=_by_size if order == "size" else _by_weight)[:top])
    return made


def _by_size(fragment: Fragment) -> tuple[float, float, str]:
    return -fragment.size, -(fragment.covers or 0.0), fragment.text


def _by_weight(fragment: Fragment) -> tuple[float, float, str]:
    return -fragment.weight, -fragment.size, fragment.text


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
    a: Any
    others: list[Any]
    view: str
    factors: Floats
    raws: Floats


def _parts(kernel: Kernel, a: Any, others: list[Any]) -> list[_Part]:
    """Return the kernels whose values a combination adds."""
    parts = []
    # Last entry: whether a normalization here is the outermost one, which is left out.
    waiting: list[tuple[Any, Any, list[Any], str, Floats, bool]] = [
        (kernel, a, others, "", np.ones(len(others)), True)
    ]
    while waiting:
        inner, a, others, view, factors, outermost = waiting.pop()
        kind = type(inner)
        if kind is OnView:
            seen, *views = (_view(inner, example) for example in (a, *others))
            waiting.append((inner.kernel, seen, views, inner.name, factors, outermost))
        elif kind is Sum:
            waiting.append((inner.right, a, others, view, factors, False))
            waiting.append((inner.left, a, others, view, factors, False))
        elif kind is Scaled:
            waiting.append((inner.kernel, a, others, view, factors * inner.factor, False))
        elif kind is Normalized:
            if not outermost:
                X, Y = inner._batch([a]), inner._batch(others)
                factors = factors * _ratios(inner, _raw_values(inner.kernel, X, Y), X, Y)
            waiting.append((inner.kernel, a, others, view, factors, outermost))
        elif kind is VectorKernel:
            exact = inner.clone().set_params(dtype="float64")
            raws = _raw_values(exact, [a], others)
            parts.append(_Part(exact, a, others, view, factors, raws))
        elif kind in _EXPLAINERS:
            raw_kernel = inner.clone().set_params(normalize=False, dtype="float64")
            X, Y = inner._batch([a]), inner._batch(others)
            raws = _raw_values(raw_kernel, X, Y)
            if inner.normalize and not outermost:
                factors = factors * _ratios(inner, raws, X, Y)
            parts.append(_Part(raw_kernel, a, others, view, factors, raws))
        else:
            raise _unsupported(inner)
    return parts


def _view(kernel: OnView, example: Any) -> Any:
    if not isinstance(example, Example):
        raise KernelInputError(
            f"{kernel!r} reads a view of an example, got {type(example).__name__}; "
            "use the kernel inside for bare structures"
        )
    return example.view(kernel.name)


def _ratios(kernel: Kernel, raws: Floats, X: Any, Y: Any) -> Floats:
    """Return the values of a kernel divided by raw values, 0 where these are 0."""
    ratios, some = np.zeros(len(raws)), raws > 0
    if some.any():
        ratios[some] = kernel.cross(X, Y[some])[0] / raws[some]
    return ratios


def _raw_values(kernel: Kernel, X: Any, Y: Any) -> Floats:
    try:
        values: Floats = kernel.cross(X, Y)[0].astype(np.float64)
    except KernelOverflowError:
        raise KernelOverflowError(
            f"{kernel!r}: the raw value of this pair exceeds the range of a double; "
            "use a smaller decay or smaller gates to explain it"
        ) from None
    return values


def _unsupported(kernel: Kernel) -> KernelInputError:
    names = ", ".join(kind.__name__ for kind in _EXPLAINERS)
    return KernelInputError(
        f"shared_fragments cannot explain {type(kernel).__name__}: supported kernels are "
        f"{names}, alone or inside OnView, Normalized, sums (k1 + k2) and multiples (0.3 * k)"
    )


@dataclass(frozen=True)
class _Request:
    """Options of `shared_fragments`."""

    top: int | None
    largest: bool
    steps: Steps


def _subtrees_of(kernel: Kernel, a: Tree, b: Tree, request: _Request) -> tuple[Classes, Shapes]:
    classes = Classes.of(a, b)
    matching = Matching(kernel, classes.labels, classes.used_heads(), request.steps)
    return classes, Shapes(matching)


def _explain_subtrees(kernel: SubtreeKernel, a: Tree, b: Tree, request: _Request) -> list[Fragment]:
    classes, shapes = _subtrees_of(kernel, a, b, request)
    found = subtrees(classes, shapes, kernel.decay, request.steps, largest=request.largest)
    return _tree_fragments(found, shapes, request)


def _explain_subset_trees(
    kernel: SubsetTreeKernel, a: Tree, b: Tree, request: _Request
) -> list[Fragment]:
    classes, shapes = _subtrees_of(kernel, a, b, request)
    find = largest_subset_trees if request.largest else heaviest_subset_trees
    found = find(classes, shapes, kernel.decay, request.steps, count_leaves=kernel.count_leaves)
    # Both are generators that yield fragments in the requested order.
    return _tree_fragments(islice(found, request.top), shapes, request)


def _explain_partial_trees(
    kernel: PartialTreeKernel, a: Tree, b: Tree, request: _Request
) -> list[Fragment]:
    classes, shapes = _subtrees_of(kernel, a, b, request)
    found = partial_trees(classes, shapes, kernel, request.steps, largest=request.largest)
    return _tree_fragments(found, shapes, request)


def _explain_rooted_trees(
    kernel: RootedTreeKernel, a: Tree, b: Tree, request: _Request
) -> list[Fragment]:
    heads, nodes = number_nodes((a, b))
    left, right = (list(dict.fromkeys(node.head for node in side)) for side in nodes)
    shapes = Shapes(Matching(kernel, heads, (left, right), request.steps))
    found = rooted_trees(
        nodes,
        shapes,
        kernel.decay,
        request.steps,
        contiguous=kernel.contiguous,
        largest=request.largest,
    )
    return _tree_fragments(found, shapes, request)


def _explain_forests(
    kernel: ForestKernel, a: Forest, b: Forest, request: _Request
) -> list[Fragment]:
    packed = PackedNodes.of(a, b, kernel.sharpness)
    shapes = Shapes(Matching(kernel, packed.labels, ([], []), request.steps))
    find = largest_forest_fragments if request.largest else heaviest_forest_fragments
    found = find(packed, shapes, kernel.decay, request.steps)
    return _tree_fragments(islice(found, request.top), shapes, request)


def _tree_fragments(found: Iterator[Weighted], shapes: Shapes, request: _Request) -> list[Fragment]:
    """Return the first fragments in the requested order, as trees and text."""

    def rank(one: Weighted) -> tuple[float, float]:
        size = -shapes.n_nodes[one[0]]
        return (size, -(one[4] or 0.0)) if request.largest else (-one[1], size)

    fragments = []
    for shape, weight, count_a, count_b, covers in sorted(found, key=rank)[: request.top]:
        tree = shapes.tree(shape)
        other = shapes.tree(shape, 1) if shapes.matching.is_soft else tree
        fragments.append(
            Fragment(
                shapes.text(shape),
                weight,
                0.0,
                count_a,
                count_b,
                tree,
                covers,
                counterpart=None if other == tree else other,
                similarity=shapes.similarities[shape],
            )
        )
    return fragments


def _explain_subsequences(
    kernel: SubsequenceKernel, a: Sequence, b: Sequence, request: _Request
) -> list[Fragment]:
    symbols: dict[tuple[str, str], int] = {}
    left, right = ([symbols.setdefault(x, len(symbols)) for x in side] for side in (a, b))
    used = list(dict.fromkeys(left)), list(dict.fromkeys(right))
    matching = Matching(kernel, [(node, edge) for edge, node in symbols], used, request.steps)
    elements = list(symbols)
    find = longest_subsequences if request.largest else heaviest_subsequences
    found = find(left, right, matching, kernel.decay, kernel.max_length, request.steps)
    fragments = []
    for pairs, weight, count_a, count_b, covers in islice(found, request.top):
        part, other = ([elements[matching.pairs[p][side]] for p in pairs] for side in (0, 1))
        similarities = [matching.similarities[p] for p in pairs]
        fragments.append(
            Fragment(
                sequence_text(part, other, similarities, (a, b)),
                weight,
                0.0,
                count_a,
                count_b,
                Sequence(part),
                covers,
                counterpart=None if part == other else Sequence(other),
                similarity=prod(similarities),
            )
        )
    return fragments


def _explain_vectors(kernel: VectorKernel, a: Any, b: Any, request: _Request) -> list[Fragment]:
    named = isinstance(a, Mapping) and isinstance(b, Mapping)
    if not named or kernel.kind not in ("linear", "cosine"):
        value = kernel.value(a, b)
        covers = value if request.largest else None
        return [Fragment(f"vectors ({kernel.kind})", value, 0.0, 1, 1, None, covers)]
    lengths = [hypot(*v.values()) if kernel.kind == "cosine" else 1.0 for v in (a, b)]
    fragments = []
    for name in sorted(a.keys() & b.keys()):
        weight = (a[name] / lengths[0]) * (b[name] / lengths[1])
        covers = weight if request.largest else None
        fragments.append(Fragment(name, weight, 0.0, a[name], b[name], None, covers))
    return fragments


# Kernel -> function that explains it.
_EXPLAINERS: dict[type[Kernel], Callable[..., list[Fragment]]] = {
    SubtreeKernel: _explain_subtrees,
    SubsetTreeKernel: _explain_subset_trees,
    PartialTreeKernel: _explain_partial_trees,
    RootedTreeKernel: _explain_rooted_trees,
    SubsequenceKernel: _explain_subsequences,
    ForestKernel: _explain_forests,
    VectorKernel: _explain_vectors,
}


def sequence_text(
    left: list[_Element],
    right: list[_Element],
    similarities: list[float],
    wholes: tuple[Sequence, Sequence],
) -> str:
    """Return a subsequence as text, with ``…`` where it is not contiguous in both sequences.

    Parameters
    ----------
    left, right : list of (str, str)
        Its elements (edge, node) in the first and in the second sequence.
    similarities : list of float
        Similarities of these elements.
    wholes : pair of Sequence
        The two sequences.

    Examples
    --------
    >>> wholes = Sequence("the old dog sat".split()), Sequence("the cat sat".split())
    >>> left, right = ([("", "the"), ("", noun), ("", "sat")] for noun in ("dog", "cat"))
    >>> sequence_text(left, right, [1.0, 0.8, 1.0], wholes)
    'the … dog~cat (0.80) sat'
    """
    gaps = [False] * len(left)
    for chosen, whole in zip((left, right), wholes, strict=True):
        places = _tightest(chosen, whole.elements)
        for k in range(1, len(places)):
            gaps[k] = gaps[k] or places[k] - places[k - 1] > 1
    text = ""
    for k, ((edge, node), (_, other)) in enumerate(zip(left, right, strict=True)):
        word = f"{edge}:{node}" if edge else node
        word = word if node == other else label_text(word, other, similarities[k])
        text += word if k == 0 else f" … {word}" if gaps[k] else f" {word}"
    return text


def _tightest(chosen: list[_Element], whole: tuple[_Element, ...]) -> list[int]:
    """Return the positions of the occurrence of a subsequence with the shortest span."""
    starts: list[int | None] = [None] * len(chosen)  # of the latest match of chosen[: k + 1]
    best: tuple[int, int] | None = None
    for position, element in enumerate(whole):
        for k in range(len(chosen) - 1, -1, -1):
            if element == chosen[k]:
                starts[k] = position if k == 0 else starts[k - 1]
        start = starts[-1] if chosen and element == chosen[-1] else None
        if start is not None and (best is None or position - start < best[1] - best[0]):
            best = (start, position)
    if best is None:
        return []
    places = [best[1]]
    for element in reversed(chosen[:-1]):
        # From the end backwards, every element as late as possible: gaps move to the front.
        places.append(next(p for p in range(places[-1] - 1, -1, -1) if whole[p] == element))
    return places[::-1]


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
