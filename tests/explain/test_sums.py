"""The weights of all fragments sum to the raw value of the kernel."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, strategies as st

import kernelwood as kw

_decays = st.sampled_from([0.4, 0.7, 1.0])
_leaves = st.builds(kw.Tree, st.sampled_from("xyA"), st.just(()), st.sampled_from(["", "e"]))
_trees = st.recursive(
    _leaves,
    lambda below: st.builds(
        kw.Tree, st.sampled_from("AB"), st.lists(below, min_size=1, max_size=3), st.just("")
    ),
    max_leaves=7,
)
_elements = st.sampled_from(["x", "y", ("e", "x")])
_sequences = st.lists(_elements, max_size=6).map(kw.Sequence)


def _all(kernel, a, b, order):
    return kw.shared_fragments(kernel, a, b, None, order=order, max_steps=10**7)


def _raw(kernel, a, b):
    return kernel.clone().set_params(normalize=False).value(a, b)


@given(_trees, _trees, _decays, st.booleans())
def test_weights_of_subset_trees_sum_to_the_raw_value(a, b, decay, count_leaves):
    kernel = kw.SubsetTreeKernel(decay=decay, count_leaves=count_leaves)
    found = _all(kernel, a, b, "weight")
    assert sum(f.weight for f in found) == pytest.approx(_raw(kernel, a, b), rel=1e-9)


@given(_trees, _trees, _decays)
def test_weights_of_subtrees_sum_to_the_raw_value(a, b, decay):
    kernel = kw.SubtreeKernel(decay=decay)
    found = _all(kernel, a, b, "weight")
    assert sum(f.weight for f in found) == pytest.approx(_raw(kernel, a, b), rel=1e-9)


@given(_sequences, _sequences, _decays, st.sampled_from([None, 1, 2, 3]))
def test_weights_of_subsequences_sum_to_the_raw_value(a, b, decay, max_length):
    kernel = kw.SubsequenceKernel(decay=decay, max_length=max_length, normalize=False)
    found = _all(kernel, a, b, "weight")
    assert sum(f.weight for f in found) == pytest.approx(_raw(kernel, a, b), rel=1e-9)


@given(_sequences, _sequences)
def test_counts_of_subsequences_are_their_occurrences(a, b):
    for fragment in _all(kw.SubsequenceKernel(), a, b, "weight"):
        for whole, count in ((a, fragment.count_a), (b, fragment.count_b)):
            parts = combinations(zip(whole.nodes, whole.edges, strict=True), fragment.size)
            shared = tuple(zip(fragment.structure.nodes, fragment.structure.edges, strict=True))
            assert list(parts).count(shared) == count


@given(_trees, _trees, _decays, st.sampled_from(["gaps", "span"]))
def test_weights_of_partial_trees_sum_to_the_raw_value(a, b, decay, decay_over):
    kernel = kw.PartialTreeKernel(
        decay=decay, decay_over=decay_over, leaf_power=1, terminal_factor=0.7
    )
    found = _all(kernel, a, b, "weight")
    assert sum(f.weight for f in found) == pytest.approx(_raw(kernel, a, b), rel=1e-9)


@given(_trees, _trees, _decays, st.booleans())
def test_weights_of_rooted_trees_sum_to_the_raw_value(a, b, decay, contiguous):
    kernel = kw.RootedTreeKernel(decay=decay, contiguous=contiguous)
    found = _all(kernel, a, b, "weight")
    assert sum(f.weight for f in found) == pytest.approx(_raw(kernel, a, b), rel=1e-9)


@pytest.mark.parametrize(
    "kernel",
    [
        kw.SubsetTreeKernel(),
        kw.SubsetTreeKernel(decay=0.7, count_leaves=True),
        kw.SubtreeKernel(),
        kw.PartialTreeKernel(),
        kw.RootedTreeKernel(),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
@given(a=_trees, b=_trees)
def test_largest_fragments_cover_the_raw_value_of_trees_once(kernel, a, b):
    found = _all(kernel, a, b, "size")
    assert sum(f.covers for f in found) == pytest.approx(float(_raw(kernel, a, b) > 0), rel=1e-9)


@given(_trees, _trees)
def test_largest_fragments_weigh_the_same_in_both_orders(a, b):
    kernel = kw.SubsetTreeKernel(decay=0.7, count_leaves=True)
    by_weight = {f.structure: f for f in _all(kernel, a, b, "weight")}
    for fragment in _all(kernel, a, b, "size"):
        same = by_weight[fragment.structure]
        assert (fragment.count_a, fragment.count_b) == (same.count_a, same.count_b)
        assert fragment.weight == pytest.approx(same.weight)


@given(_sequences, _sequences)
def test_longest_subsequences_weigh_the_same_in_both_orders(a, b):
    kernel = kw.SubsequenceKernel(decay=0.7)
    by_weight = {f.structure: f for f in _all(kernel, a, b, "weight")}
    for fragment in _all(kernel, a, b, "size"):
        same = by_weight[fragment.structure]
        assert (fragment.count_a, fragment.count_b) == (same.count_a, same.count_b)
        assert fragment.weight == pytest.approx(same.weight)


@given(_sequences, _sequences)
def test_the_longest_shared_subsequence_comes_first(a, b):
    kernel = kw.SubsequenceKernel(decay=0.7)
    longest = max((f.size for f in _all(kernel, a, b, "weight")), default=0)
    assert max((f.size for f in _all(kernel, a, b, "size")), default=0) == longest


@given(_trees, _trees, _decays)
def test_the_first_fragments_by_weight_are_the_heaviest_of_all(a, b, decay):
    kernel = kw.SubsetTreeKernel(decay=decay)
    everything = sorted((f.weight for f in _all(kernel, a, b, "weight")), reverse=True)
    first = [f.weight for f in kw.shared_fragments(kernel, a, b, 3, order="weight")]
    assert first == pytest.approx(everything[:3])


@given(_sequences, _sequences, _decays)
def test_the_first_subsequences_by_weight_are_the_heaviest_of_all(a, b, decay):
    kernel = kw.SubsequenceKernel(decay=decay)
    everything = sorted((f.weight for f in _all(kernel, a, b, "weight")), reverse=True)
    first = [f.weight for f in kw.shared_fragments(kernel, a, b, 3, order="weight")]
    assert first == pytest.approx(everything[:3])


@given(_trees, _trees)
def test_no_subset_tree_is_listed_twice(a, b):
    found = _all(kw.SubsetTreeKernel(), a, b, "weight")
    assert len({f.structure for f in found}) == len(found)
