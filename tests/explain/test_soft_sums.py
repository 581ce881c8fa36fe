"""With gates and similarities too, the weights of all fragments sum to the kernel's definition."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.similarity import Gaussian, Lexical
from kernelwood.vectors import Vectors

_LABELS = ["x", "y", "z", "A", "B"]
_edges = st.sampled_from(["", "", "e"])
_leaves = st.builds(kw.Tree, st.sampled_from("xyA"), st.just(()), _edges)
_trees = st.recursive(
    _leaves,
    lambda below: st.builds(
        kw.Tree, st.sampled_from("AB"), st.lists(below, min_size=1, max_size=3), _edges
    ),
    max_leaves=5,
)
_sequences = st.lists(st.tuples(_edges, st.sampled_from("xyz")), max_size=5).map(kw.Sequence)
_vectors = st.lists(st.floats(0, math.pi), min_size=5, max_size=5).map(
    lambda angles: Vectors(_LABELS, [[math.cos(x), math.sin(x)] for x in angles])
)
# Lexical leaves pairs unmatched, and with a weight equal labels match by less than 1.
_similarities = st.one_of(
    st.none(),
    st.builds(Gaussian, _vectors),
    st.builds(lambda v, weight: Lexical(v, weight=weight), _vectors, st.sampled_from([0.9, 1.0])),
)
_gates = st.dictionaries(
    st.sampled_from(["", "e", "x", "A", "B"]), st.sampled_from([0, 0.5, 2.0, 3.0]), max_size=4
)
_matching = st.fixed_dictionaries(
    {
        "decay": st.sampled_from([0.4, 0.7, 1.0]),
        "similarity": _similarities,
        "gates": _gates,
        "gate_on": st.sampled_from(["edge", "node"]),
    }
)


def _all(kernel, a, b, order="weight"):
    return kw.shared_fragments(kernel, a, b, None, order=order, max_steps=10**7)


def _check_sum(kernel, a, b):
    total = sum(fragment.weight for fragment in _all(kernel, a, b))
    assert total == pytest.approx(kernel.reference(a, b), rel=1e-9)


@given(_trees, _trees, _matching, st.booleans())
def test_weights_of_subset_trees_sum_to_the_definition(a, b, matching, count_leaves):
    _check_sum(kw.SubsetTreeKernel(count_leaves=count_leaves, **matching), a, b)


@given(_trees, _trees, _matching)
def test_weights_of_subtrees_sum_to_the_definition(a, b, matching):
    _check_sum(kw.SubtreeKernel(**matching), a, b)


@given(_trees, _trees, _matching, st.sampled_from(["gaps", "span"]))
def test_weights_of_partial_trees_sum_to_the_definition(a, b, matching, decay_over):
    rules = {"decay_over": decay_over, "leaf_power": 1, "terminal_factor": 0.7}
    _check_sum(kw.PartialTreeKernel(**rules, **matching), a, b)


@given(_trees, _trees, _matching, st.booleans())
def test_weights_of_rooted_trees_sum_to_the_definition(a, b, matching, contiguous):
    _check_sum(kw.RootedTreeKernel(contiguous=contiguous, **matching), a, b)


@given(_sequences, _sequences, _matching, st.sampled_from([None, 1, 2]))
def test_weights_of_subsequences_sum_to_the_definition(a, b, matching, max_length):
    _check_sum(kw.SubsequenceKernel(max_length=max_length, **matching), a, b)


_TREE_KERNELS = [kw.SubsetTreeKernel, kw.SubtreeKernel, kw.PartialTreeKernel, kw.RootedTreeKernel]
_BY_NAME = {"argvalues": _TREE_KERNELS, "ids": lambda kind: kind.__name__}


@pytest.mark.parametrize("kind", **_BY_NAME)
@given(a=_trees, b=_trees, matching=_matching)
def test_largest_fragments_cover_the_value_of_trees_once(kind, a, b, matching):
    kernel = kind(**matching)
    covered = sum(fragment.covers for fragment in _all(kernel, a, b, "size"))
    assert covered == pytest.approx(float(kernel.reference(a, b) > 0), rel=1e-9)


@pytest.mark.parametrize("kind", **_BY_NAME)
@given(a=_trees, b=_trees, matching=_matching)
def test_similarity_is_the_product_over_the_nodes(kind, a, b, matching):
    kernel = kind(**matching)
    for fragment in _all(kernel, a, b):
        other = fragment.counterpart or fragment.structure
        nodes = zip(fragment.structure.preorder(), other.preorder(), strict=True)
        expected = math.prod(kernel._node_similarity(m, n) for m, n in nodes)
        assert fragment.similarity == pytest.approx(expected)


def _identity(fragment):
    return fragment.structure, fragment.counterpart


def _check_orders(kernel, a, b):
    by_weight = {_identity(f): f for f in _all(kernel, a, b)}
    for fragment in _all(kernel, a, b, "size"):
        same = by_weight[_identity(fragment)]
        assert (fragment.count_a, fragment.count_b) == (same.count_a, same.count_b)
        assert fragment.weight == pytest.approx(same.weight)


@given(_trees, _trees, _matching, st.booleans())
def test_largest_subset_trees_weigh_the_same_in_both_orders(a, b, matching, count_leaves):
    _check_orders(kw.SubsetTreeKernel(count_leaves=count_leaves, **matching), a, b)


@given(_sequences, _sequences, _matching)
def test_longest_subsequences_weigh_the_same_in_both_orders(a, b, matching):
    _check_orders(kw.SubsequenceKernel(**matching), a, b)


@given(_trees, _trees, _matching)
def test_no_pair_of_subset_trees_is_listed_twice(a, b, matching):
    found = _all(kw.SubsetTreeKernel(**matching), a, b)
    assert len({_identity(f) for f in found}) == len(found)


def _check_first(kernel, a, b):
    everything = sorted((f.weight for f in _all(kernel, a, b)), reverse=True)
    first = [f.weight for f in kw.shared_fragments(kernel, a, b, 3, order="weight")]
    assert first == pytest.approx(everything[:3])


@given(_trees, _trees, _matching)
def test_the_first_subset_trees_are_the_heaviest_of_all(a, b, matching):
    _check_first(kw.SubsetTreeKernel(**matching), a, b)  # gates above 1 let fragments gain


@given(_sequences, _sequences, _matching)
def test_the_first_subsequences_are_the_heaviest_of_all(a, b, matching):
    _check_first(kw.SubsequenceKernel(**matching), a, b)
