"""Gates: how much edges or labels count."""

import itertools

import numpy as np
import pytest
from cases import NearLetters, sample
from hypothesis import given, settings, strategies as st
from matching_cases import constant, every_name, gates, kernels, relabeled, structures
from oracles import reference_matrix
from strategies import EDGES, sample_sequences, sample_trees

from kernelwood.errors import KernelInputError
from kernelwood.kernels import (
    KERNELS,
    PartialTreeKernel,
    RootedTreeKernel,
    SubsequenceKernel,
    SubsetTreeKernel,
    SubtreeKernel,
)
from kernelwood.structures import Sequence, Tree

pytestmark = pytest.mark.filterwarnings("ignore:.*self-similarity 0:RuntimeWarning")

LABELS = ["a", "b", "c", "", "né"]
TOLERANCE = {"float64": {"rtol": 1e-9, "atol": 0}, "float32": {"rtol": 3e-5, "atol": 1e-30}}
SIMILARITIES = [None, NearLetters()]
every_similarity = pytest.mark.parametrize("similarity", SIMILARITIES, ids=["exact", "soft"])
both_kinds = pytest.mark.parametrize("gate_on", ["edge", "node"])


# By the definition.


@every_name
@pytest.mark.parametrize("normalize", [False, True])
def test_exact_matching_with_gates_agrees_with_the_reference(name, normalize):
    @settings(max_examples=20)
    @given(kernels(name, LABELS, raw=not normalize), structures(name, LABELS))
    def check(kernel, X):
        right = reference_matrix(kernel, X, X)
        for dtype, tolerance in TOLERANCE.items():
            np.testing.assert_allclose(kernel.gram(X, dtype=dtype), right, **tolerance)
            np.testing.assert_allclose(kernel.cross(X[1:], X, dtype=dtype), right[1:], **tolerance)
            pairs = kernel.pairs(X, X[::-1], dtype=dtype)
            np.testing.assert_allclose(pairs, right[:, ::-1].diagonal(), **tolerance)
            if not normalize:
                found = kernel.diag(X, dtype=dtype)
                np.testing.assert_allclose(found, right.diagonal(), **tolerance)

    check()


def test_values_by_hand():
    gated = SubsequenceKernel(decay=0.5, gates={"det": 0.5}, normalize=False)
    words = Sequence([("det", "the"), ("nsubj", "cat")])
    assert gated.value(words, words) == 0.25 + 1 + 0.25 * 0.5**2
    tree = Tree.from_brackets("(S (A x) (B y))")
    subsets = SubsetTreeKernel(decay=1.0, gates={"A": 0.5}, gate_on="node", normalize=False)
    assert subsets.value(tree, tree) == 0.25 + 1 + (1 + 0.25) * (1 + 1)
    subtrees = SubtreeKernel(decay=1.0, gates={"A": 0.5, "y": 0}, gate_on="node", normalize=False)
    assert subtrees.value(tree, tree) == 0.25 + 1 + 0.25  # gates of leaves do not count
    rooted = RootedTreeKernel(decay=0.5, gates={"A": 0.5}, gate_on="node", normalize=False)
    # K(A, A) = 0.25 (0.25 + 0.5), K(B, B) = 1.5; single children, then both
    below, beside = 0.25 * 0.75, 1.5
    expected = 1 + 0.5 * (below * 0.25 + beside) + 0.25 * (below + beside) * 0.25
    assert rooted.value(tree, tree) == expected
    parts = PartialTreeKernel(decay=1.0, depth_decay=1.0, gates={"x": 0.5}, gate_on="node")
    found = parts.set_params(normalize=False).value(tree, tree)
    x, y = 0.25, 1
    a, b = 1 + x, 1 + y
    assert found == x + y + a + b + (1 + a + b + a * b)


def test_counted_leaves_are_gated():
    gate = {"gates": {"x": 3.0}, "gate_on": "node"}
    plain, counted = (
        SubsetTreeKernel(decay=0.5, count_leaves=c, normalize=False, **gate) for c in (False, True)
    )
    tree = Tree.from_brackets("(S x y)")
    assert counted.value(tree, tree) == plain.value(tree, tree) + 0.5 * (9 + 1)


# What is known about values.


@every_name
@every_similarity
@both_kinds
@pytest.mark.parametrize("none", [{}, dict.fromkeys([*EDGES, "a", "b", "c"], 1), {"elsewhere": 0}])
def test_gates_that_say_nothing_change_no_bit(name, similarity, gate_on, none):
    kernel = KERNELS[name](similarity=similarity)
    X = sample(kernel, 40)
    gated = kernel.clone().set_params(gates=none, gate_on=gate_on)
    np.testing.assert_array_equal(gated.gram(X), kernel.gram(X))


@every_name
@every_similarity
def test_one_gate_for_all_edges_or_for_all_labels_is_the_same(name, similarity):
    kernel = KERNELS[name](similarity=similarity, normalize=False)
    X = sample(kernel, 40)
    on_edges, on_nodes = (
        kernel.clone().set_params(gates=dict.fromkeys(keys, 0.5), gate_on=on)
        for keys, on in ((["", "e"], "edge"), (["a", "b", "c"], "node"))
    )
    np.testing.assert_array_equal(on_edges.gram(X), on_nodes.gram(X))


@pytest.mark.parametrize(
    ("kernel", "structure", "power"),
    [
        (SubsequenceKernel(), Sequence(["a"]), 2),
        (RootedTreeKernel(), Tree("a"), 4),
        (PartialTreeKernel(), Tree("a"), 2),
        (SubsetTreeKernel(count_leaves=True), Tree("a"), 2),
        (SubsetTreeKernel(), Tree("a", [Tree("b")]), 2),
        (SubtreeKernel(), Tree("a", [Tree("b")]), 2),
    ],
    ids=["subsequence", "rooted", "partial", "leaf", "subset", "subtree"],
)
@every_similarity
@both_kinds
@pytest.mark.parametrize("gate", [0.0, 1e-3, 0.5, 3.0, 1e6])
def test_a_gate_scales_the_value_of_one_node_by_a_power(
    kernel, structure, power, similarity, gate_on, gate
):
    kernel = kernel.clone().set_params(similarity=similarity, normalize=False)
    gated = kernel.clone().set_params(gates={"": gate, "a": gate}, gate_on=gate_on)
    expected = kernel.value(structure, structure) * gate**power
    assert gated.value(structure, structure) == pytest.approx(expected, rel=1e-12)


@every_similarity
@both_kinds
def test_gates_scale_subsequences_of_one_length_by_a_power(similarity, gate_on):
    def value(length, gate, a, b):
        longer, shorter = (
            SubsequenceKernel(
                similarity=similarity,
                max_length=n,
                gates=dict.fromkeys(["", "e", "a", "b", "c"], gate),
                gate_on=gate_on,
                normalize=False,
            )
            for n in (length, max(length - 1, 1))
        )
        return longer.value(a, b) - (shorter.value(a, b) if length > 1 else 0)

    a, b = sample_sequences(2, seed=3, max_length=7)
    for length in (1, 2, 3):
        expected = 0.5 ** (2 * length) * value(length, 1, a, b)
        assert value(length, 0.5, a, b) == pytest.approx(expected, rel=1e-9)


# A gate of 0.


def made_strange(structures, is_gated, *, inner_only=False):
    """Return structures in which what is gated matches nothing at all."""
    fresh = itertools.count()

    def strange(edge, label):
        return (edge, f"strange {next(fresh)}") if is_gated(edge, label) else (edge, label)

    def renamed(node):
        if inner_only and node.is_leaf:
            return node
        children = [renamed(child) for child in node.children]
        edge, label = strange(node.edge, node.label)
        return Tree(label, children, edge)

    if inner_only:
        return [renamed(structure) for structure in structures]
    return [relabeled(structure, strange) for structure in structures]


@pytest.mark.parametrize("name", ["subsequence", "rooted-tree", "partial-tree", "subtree"])
@pytest.mark.parametrize("similarity", [None, constant("abc", 0.5)], ids=["exact", "soft"])
@both_kinds
def test_a_gate_of_zero_is_a_label_that_matches_nothing(name, similarity, gate_on):
    gate, keys = {"edge": ("e", "edge"), "node": ("b", "label")}[gate_on]

    @settings(max_examples=12)
    @given(structures(name, ["a", "b", "c"]), st.data())
    def check(X, data):
        Y = data.draw(structures(name, ["a", "b", "c"]))
        kernel = KERNELS[name](similarity=similarity, normalize=False)
        gated = kernel.clone().set_params(gates={gate: 0}, gate_on=gate_on)

        def is_gated(edge, label):
            return (edge if keys == "edge" else label) == gate

        strange = made_strange([*X, *Y], is_gated, inner_only=name == "subtree")
        expected = kernel.cross(strange[: len(X)], strange[len(X) :])
        np.testing.assert_allclose(gated.cross(X, Y), expected, rtol=1e-12)

    check()


def cut(tree, label):
    """Return the trees a tree falls into if it is cut at a label, which stays as a leaf."""
    parts = []

    def shortened(node):
        children = [shortened(child) for child in node.children]
        if node.label != label:
            return Tree(node.label, children, node.edge)
        parts.extend(children)
        return Tree(node.label, (), node.edge)

    return [shortened(tree), *parts]


@every_similarity
def test_a_gate_of_zero_cuts_trees_for_the_subset_tree_kernel(similarity):
    @settings(max_examples=20)
    @given(structures("subset-tree", ["a", "b", "c"]))
    def check(X):
        kernel = SubsetTreeKernel(similarity=similarity, normalize=False)
        gated = kernel.clone().set_params(gates={"b": 0}, gate_on="node")
        parts = [cut(tree, "b") for tree in X]
        # A cut node is a leaf: it is gone as a root, but still the frontier of a production.
        expected = [[gated.cross(left, right).sum() for right in parts] for left in parts]
        ungated = [[kernel.cross(left, right).sum() for right in parts] for left in parts]
        np.testing.assert_allclose(gated.gram(X), ungated, rtol=1e-12)
        np.testing.assert_allclose(expected, ungated, rtol=1e-12)

    check()


def test_a_production_keeps_a_child_that_is_gated_to_zero():
    kernel = SubsetTreeKernel(decay=1.0, gates={"A": 0}, gate_on="node", normalize=False)
    tree = Tree.from_brackets("(S (A x) (B y))")
    assert kernel.value(tree, tree) == 1 + 2  # (B y); (S A B), (S A (B y))


@every_name
@every_similarity
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_structure_that_is_gated_away_has_similarity_zero(name, similarity, dtype):
    kernel = KERNELS[name](
        similarity=similarity, gates={"a": 0, "b": 0}, gate_on="node", dtype=dtype
    )
    gone, others = sample(kernel, 3, alphabet=["a", "b"]), sample(kernel, 3, alphabet=["c"])
    with pytest.warns(RuntimeWarning, match=r"3 structure\(s\) have self-similarity 0"):
        matrix = kernel.gram([*gone, *others])
    assert not matrix[:3].any() and (matrix[3:, 3:].diagonal() == 1).all()
    assert not kernel.cross(gone, others).any()
    assert not kernel.pairs(gone, gone).any()
    assert not kernel.diag(gone).any()


# Renaming.


@every_name
def test_an_ungated_kernel_is_invariant_under_renaming_and_a_gated_one_is_not(name):
    X = sample(KERNELS[name], 15)
    new = {"a": "b", "b": "c", "c": "a"}
    renamed = [relabeled(x, lambda edge, label: (edge, new[label])) for x in X]
    plain, gated = (KERNELS[name](gates=g, gate_on="node") for g in (None, {"a": 0.1, "b": 3.0}))
    np.testing.assert_array_equal(plain.gram(renamed), plain.gram(X))
    assert np.abs(gated.gram(renamed) - gated.gram(X)).max() > 0.01


@every_name
def test_gates_that_are_renamed_too_change_no_bit(name):
    X = sample(KERNELS[name], 15)
    new = {"a": "b", "b": "c", "c": "a"}
    renamed = [relabeled(x, lambda edge, label: (edge, new[label])) for x in X]
    gates = {"a": 0.1, "b": 3.0}
    before, after = (
        KERNELS[name](gates=g, gate_on="node")
        for g in (gates, {new[k]: v for k, v in gates.items()})
    )
    np.testing.assert_array_equal(after.gram(renamed), before.gram(X))


@every_name
@every_similarity
def test_gated_kernels_are_positive_semidefinite(name, similarity):
    @settings(max_examples=10)
    @given(gates(["a", "b", "c", "", "e"]), st.sampled_from(["edge", "node"]), st.integers(0, 99))
    def check(gates, gate_on, seed):
        kernel = KERNELS[name](similarity=similarity, gates=gates, gate_on=gate_on)
        assert kernel.smallest_eigenvalue(sample(kernel, 25, seed=seed)) >= -1e-10

    check()


# What cannot be used.


@every_name
@pytest.mark.parametrize(
    "gates",
    [
        {"a": -1},
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": 1e200},
        {"a": 1e-200},
        {"a": "1"},
        {"a": None},
        {"a": 1j},
        {1: 0.5},
        {None: 0.5},
        {("a", "b"): 0.5},
    ],
    ids=repr,
)
def test_a_bad_gate_is_named(name, gates):
    kernel = KERNELS[name](gates=gates)
    ((label, gate),) = gates.items()
    with pytest.raises(KernelInputError) as caught:
        kernel.gram(sample(kernel, 2))
    message = str(caught.value)
    assert message.startswith(f"{type(kernel).__name__}: gates must map labels")
    assert message.endswith(f"got {label!r}: {gate!r}")


@every_name
@pytest.mark.parametrize("gates", ["det", ["det"], 0.5, [("det", 0.5)], True])
def test_gates_that_are_no_mapping_are_refused(name, gates):
    kernel = KERNELS[name](gates=gates)
    message = f"{type(kernel).__name__}: gates must be a mapping .*got {type(gates).__name__}"
    with pytest.raises(KernelInputError, match=message):
        kernel.gram(sample(kernel, 2))


@every_name
@pytest.mark.parametrize("gate_on", ["edges", None, 1, ""])
def test_a_bad_gate_on_is_named(name, gate_on):
    kernel = KERNELS[name](gate_on=gate_on)
    message = f"{type(kernel).__name__}: gate_on must be one of .* got {gate_on!r}"
    with pytest.raises(KernelInputError, match=message):
        kernel.gram(sample(kernel, 2))


@every_name
@pytest.mark.parametrize("number", [np.float32(0.5), np.float64(0.5), np.int64(2), 2, True])
def test_gates_from_numpy_are_gates(name, number):
    X = sample(KERNELS[name], 5)
    one, other = (KERNELS[name](gates={"e": gate}).gram(X) for gate in (number, float(number)))
    np.testing.assert_array_equal(one, other)


def test_gates_are_read_anew_by_every_call():
    kernel = PartialTreeKernel(gates={"e": 0.5})
    X = sample_trees(8)
    before = kernel.gram(X)
    kernel.gates["e"] = 2.0
    np.testing.assert_array_equal(kernel.gram(X), PartialTreeKernel(gates={"e": 2.0}).gram(X))
    assert (kernel.gram(X) != before).any()
