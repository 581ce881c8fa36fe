from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from math import prod
from typing import Any

from kernelwood.errors import KernelInputError, KernelOverflowError
from kernelwood.explain.best_first import heaviest_subset_trees
from kernelwood.explain.classes import Classes
from kernelwood.explain.forests import Expected, heaviest_forest_fragments, largest_forest_fragments
from kernelwood.explain.fragment import Fragment, Steps, sequence_text
from kernelwood.explain.matching import Matching
from kernelwood.explain.packed_nodes import PackedNodes
from kernelwood.explain.pairs import Shapes
from kernelwood.explain.partial import PartialRules, number_nodes, partial_trees, rooted_trees
from kernelwood.explain.subsequences import heaviest_subsequences, longest_subsequences
from kernelwood.explain.whole_productions import largest_subset_trees, subtrees
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
)
from kernelwood.structures import Forest, Sequence, Tree
from kernelwood.text import Example

__all__ = ["shared_fragments"]

_ORDERS = ("size", "weight")


def shared_fragments(
    kernel: Kernel,
    a: Any,
    b: Any,
    top: int | None = 10,
    *,
    order: str = "size",
    max_steps: int = 500_000,
) -> list[Fragment]:
    r"""Return what two structures share in the eyes of a kernel: why they are similar.

    Parameters
    ----------
    kernel : Kernel
        A subset tree, subtree, partial tree, rooted tree, subsequence or forest kernel; or one of
        these in ``OnView``, ``Normalized``, sums and multiples.
    a, b : Tree, Sequence, Forest or Example
        What the kernel compares.
    top : int or None
        How many fragments to return, None for all.
    order : {"size", "weight"}
        ``"size"`` returns the largest fragments first, and leaves out those that are merely part
        of a larger one in the same place: what a person would point at. ``covers`` then tells
        how much of the similarity is owed to each with all its parts; over all fragments of a
        tree it sums to 1. ``"weight"`` lists every fragment on its own, the heaviest first; with
        ``decay < 1`` these are mostly single productions or words.
    max_steps : int
        Bound on the work beside two evaluations of the kernel, in comparisons of nodes; the
        default takes about a second. Where it is reached a `RuntimeWarning` says so: what is
        returned is right, but the search left something out, first of all what lies high up in
        large trees; for partial and rooted trees the weights then count the pairs visited.

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
    What a fragment is, and its weight, depend on the kernel:

    * Subset tree and subtree kernel: the fragment of the definition, of weight
      :math:`\lambda^p n_a n_b` for p productions that occur :math:`n_a` and :math:`n_b` times. The
      weights of all fragments sum to the raw value.
    * Subsequence kernel: a subsequence u, of weight
      :math:`\sum_i \lambda^{l(i)} \sum_j \lambda^{l(j)}` over its occurrences in both; these
      too sum to the raw value. By size, a longest one through each pair of equal elements is
      listed, and ``covers`` counts what is aligned along it.
    * Forest kernel: as for subset trees, with :math:`n_a` and :math:`n_b` the expected counts over
      the trees of each forest. By size, the fragment of each pair of equal hyper-edges goes on
      below by the pairs that share most; the other readings there have fragments of their own.
    * Partial tree kernel: fragments are too many to list, so each pair of nodes of equal label
      adds its :math:`\Delta` to the largest fragment that can be read off it, aligning children
      so that most nodes match. ``count_a`` and ``count_b`` count the nodes that take part.
    * Rooted tree kernel: likewise, with the pairs that are reached from the roots. A pair adds the
      product of the factors on the way to it, so that all of them sum to the raw value.

    Gates and similarities multiply these weights as they do in the kernel: every node or element
    adds both gates and the similarity of its labels, the cut-off nodes of a subset tree and the
    leaves of a subtree the similarity alone. Where different labels match, a fragment is a
    ``structure`` in ``a`` and its ``counterpart`` in ``b``, the counts are those of either, and by
    size children and elements are aligned so that most match, each counted by its similarity.

    For a combination the weights are what each fragment adds to its value, before the outermost
    normalisation.

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
    _check_request(kernel, top, order, max_steps)
    parts = _parts(kernel, a, b)
    total = sum(part.factor * part.raw for part in parts)
    fragments = []
    for part in parts:
        request = _Request(top, order == "size", Steps(max_steps))
        name = type(part.kernel).__name__
        for found in _EXPLAINERS[type(part.kernel)](part.kernel, part.a, part.b, request):
            weight = found.weight * part.factor
            covers = None if found.covers is None else found.covers * part.factor / total
            fragments.append(
                replace(
                    found,
                    weight=weight,
                    share=weight / total,
                    covers=covers,
                    view=part.view,
                    kernel=name,
                )
            )
        request.steps.warn()
    return sorted(fragments, key=_by_size if order == "size" else _by_weight)[:top]


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


# Taking combinations apart.


@dataclass(frozen=True)
class _Part:
    """A kernel inside a combination: what it compares, its raw value, and the factor on it."""

    kernel: Any
    a: Any
    b: Any
    view: str
    factor: float
    raw: float


def _parts(kernel: Kernel, a: Any, b: Any) -> list[_Part]:
    """Return the kernels a combination adds up, those of value 0 left out."""
    parts = []
    # The last entry tells whether normalising is the last thing that happens, and is left out.
    todo: list[tuple[Any, Any, Any, str, float, bool]] = [(kernel, a, b, "", 1.0, True)]
    while todo:
        inner, a, b, view, factor, outermost = todo.pop()
        kind = type(inner)
        if kind is OnView:
            views = (_view(inner, example) for example in (a, b))
            todo.append((inner.kernel, *views, inner.name, factor, outermost))
        elif kind is Sum:
            todo.append((inner.right, a, b, view, factor, False))
            todo.append((inner.left, a, b, view, factor, False))
        elif kind is Scaled:
            todo.append((inner.kernel, a, b, view, factor * inner.factor, False))
        elif kind is Normalized:
            if not outermost:
                factor *= _ratio(inner, inner.kernel, a, b)
            todo.append((inner.kernel, a, b, view, factor, outermost))
        elif kind in _EXPLAINERS:
            raw_kernel = inner.clone().set_params(normalize=False, dtype="float64")
            raw = _raw_value(raw_kernel, a, b)
            if inner.normalize and not outermost:
                factor *= _ratio(inner, raw_kernel, a, b)
            if factor * raw > 0:
                parts.append(_Part(raw_kernel, a, b, view, factor, raw))
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


def _ratio(outer: Kernel, inner: Kernel, a: Any, b: Any) -> float:
    """Return what a value is multiplied by on the way from one kernel to the other."""
    below = _raw_value(inner, a, b)
    return outer.value(a, b) / below if below > 0 else 0.0


def _raw_value(kernel: Kernel, a: Any, b: Any) -> float:
    try:
        return kernel.value(a, b)
    except KernelOverflowError:
        raise KernelOverflowError(
            f"{kernel!r}: the raw value of this pair exceeds the range of a double, so that no "
            "share of it can be told; explain it with a smaller decay, or smaller gates"
        ) from None


def _unsupported(kernel: Kernel) -> KernelInputError:
    names = ", ".join(kind.__name__ for kind in _EXPLAINERS)
    return KernelInputError(
        f"shared_fragments cannot explain {type(kernel).__name__}: its value is not a sum over "
        f"fragments known to it. It explains {names}, alone or inside OnView, Normalized, "
        "sums (k1 + k2) and multiples (0.3 * k)"
    )


# Explaining a single kernel. Weights and covers are parts of the raw value.


@dataclass(frozen=True)
class _Request:
    """What was asked for."""

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
    # Both hand fragments out in the order wanted, and work no further than asked.
    return _tree_fragments(islice(found, request.top), shapes, request)


def _explain_partial_trees(
    kernel: PartialTreeKernel, a: Tree, b: Tree, request: _Request
) -> list[Fragment]:
    classes, shapes = _subtrees_of(kernel, a, b, request)
    rules = PartialRules(
        kernel.decay,
        kernel.depth_decay,
        kernel.leaf_power,
        kernel.terminal_factor,
        kernel.decay_over == "span",
    )
    found = partial_trees(classes, shapes, rules, request.steps, largest=request.largest)
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


def _tree_fragments(found: Iterator[Expected], shapes: Shapes, request: _Request) -> list[Fragment]:
    """Make trees and text of the fragments that come first in the order wanted."""

    def rank(one: Expected) -> tuple[float, float]:
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
        piece, other = ([elements[matching.pairs[p][side]] for p in pairs] for side in (0, 1))
        similarities = [matching.similarities[p] for p in pairs]
        fragments.append(
            Fragment(
                sequence_text(piece, other, similarities, (a, b)),
                weight,
                0.0,
                count_a,
                count_b,
                Sequence(piece),
                covers,
                counterpart=None if piece == other else Sequence(other),
                similarity=prod(similarities),
            )
        )
    return fragments


# Kernel -> what explains it; a new kernel that can be explained adds a row here.
_EXPLAINERS: dict[type[Kernel], Callable[..., list[Fragment]]] = {
    SubtreeKernel: _explain_subtrees,
    SubsetTreeKernel: _explain_subset_trees,
    PartialTreeKernel: _explain_partial_trees,
    RootedTreeKernel: _explain_rooted_trees,
    SubsequenceKernel: _explain_subsequences,
    ForestKernel: _explain_forests,
}
