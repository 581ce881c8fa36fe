from __future__ import annotations

import warnings

import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH

import kernelwood as kw
from kernelwood.explain import Fragment, first_occurrence

_A = kw.Tree.from_brackets("(S (NP (DT the) (NN cat)) (VP (VB saw) (NP (DT the) (NN dog))))")
_B = kw.Tree.from_brackets("(S (NP (DT the) (NN cow)) (VP (VB saw) (NP (DT a) (NN dog))))")
_LEFT = kw.Sequence("where is the island of zanzibar ?".split())
_RIGHT = kw.Sequence("where on earth is the coast of chile ?".split())


def _example(tree, words):
    return kw.Example("1", views={"tree": tree, "words": words})


def test_largest_fragment_shows_cut_off_nodes_as_bare_labels():
    best = kw.shared_fragments(kw.SubsetTreeKernel(), _A, _B)[0]
    assert best.text == "(S (NP (DT the) NN) (VP (VB saw) (NP DT (NN dog))))"


def test_text_of_a_tree_fragment_reads_back_as_its_structure():
    for fragment in kw.shared_fragments(kw.SubsetTreeKernel(), _A, _B, None, order="weight"):
        assert kw.Tree.from_brackets(fragment.text) == fragment.structure


def test_counts_are_occurrences_in_each_tree():
    found = kw.shared_fragments(kw.SubsetTreeKernel(), _A, _B, order="weight")
    the = next(f for f in found if f.text == "(DT the)")
    assert (the.count_a, the.count_b) == (2, 1)


def test_weight_is_decay_to_the_productions_times_both_counts():
    found = kw.shared_fragments(kw.SubsetTreeKernel(decay=0.5), _A, _B, None, order="weight")
    phrase = next(f for f in found if f.text == "(NP (DT the) NN)")
    assert phrase.weight == 0.5**2 * 2 * 1


def test_fragments_inside_larger_ones_are_left_out_by_size():
    texts = [f.text for f in kw.shared_fragments(kw.SubsetTreeKernel(), _A, _B)]
    assert "(VB saw)" not in texts


def test_subtree_kernel_shares_complete_subtrees_only():
    texts = {f.text for f in kw.shared_fragments(kw.SubtreeKernel(), _A, _B)}
    assert texts == {"(DT the)", "(VB saw)", "(NN dog)"}


def test_partial_tree_fragment_aligns_children_across_a_gap():
    a, b = (kw.Tree.from_brackets(t) for t in ("(A (b) (c))", "(A (b) (d) (c))"))
    assert kw.shared_fragments(kw.PartialTreeKernel(), a, b)[0].text == "(A b c)"


def test_rooted_tree_kernel_shares_nothing_below_different_roots():
    a, b = (kw.Tree.from_brackets(t) for t in ("(A (b) (c))", "(B (b) (c))"))
    assert kw.shared_fragments(kw.RootedTreeKernel(), a, b) == []


def test_edges_are_part_of_a_fragment():
    a = kw.Tree.from_brackets('(saw "nsubj":cat "obj":dog)')
    b = kw.Tree.from_brackets('(saw "nsubj":cat "obj":cow)')
    assert kw.shared_fragments(kw.PartialTreeKernel(), a, b)[0].text == '(saw "nsubj":cat)'


def test_sequence_text_marks_gaps():
    best = kw.shared_fragments(kw.SubsequenceKernel(), _LEFT, _RIGHT)[0]
    assert best.text == "where … is the … of … ?"


def test_sequence_text_shows_edges():
    path = kw.Sequence(["A", ("nsubj", "binds"), ("obj", "B")])
    assert kw.shared_fragments(kw.SubsequenceKernel(), path, path)[0].text == "A nsubj:binds obj:B"


def test_max_length_bounds_the_longest_subsequence():
    kernel = kw.SubsequenceKernel(max_length=2)
    assert kw.shared_fragments(kernel, _LEFT, _RIGHT)[0].text == "is the"


def test_an_identical_sequence_covers_all_of_itself():
    words = kw.Sequence("all words differ here".split())
    assert kw.shared_fragments(kw.SubsequenceKernel(), words, words)[0].covers == pytest.approx(1)


@pytest.mark.parametrize(
    ("kernel", "a", "b"),
    [
        (kw.SubsequenceKernel(), kw.Sequence(), kw.Sequence()),
        (kw.SubsequenceKernel(), kw.Sequence(["a"]), kw.Sequence(["b"])),
        (kw.SubsetTreeKernel(), kw.Tree("A"), kw.Tree("A")),
        (kw.SubtreeKernel(), _A, kw.Tree("A")),
        (kw.PartialTreeKernel(), _A, kw.Tree("other")),
    ],
)
@pytest.mark.parametrize("order", ["size", "weight"])
def test_nothing_shared_gives_an_empty_list(kernel, a, b, order):
    assert kw.shared_fragments(kernel, a, b, order=order) == []


def test_top_bounds_the_number_of_fragments():
    assert len(kw.shared_fragments(kw.SubsetTreeKernel(), _A, _B, 3, order="weight")) == 3


def test_fragments_are_immutable():
    fragment = kw.shared_fragments(kw.SubsetTreeKernel(), _A, _B)[0]
    with pytest.raises(AttributeError):
        fragment.weight = 2.0


# Combinations.


def test_view_names_its_fragments():
    kernel = kw.OnView("tree", kw.SubsetTreeKernel())
    found = kw.shared_fragments(kernel, _example(_A, _LEFT), _example(_B, _RIGHT))
    assert {f.view for f in found} == {"tree"}


@pytest.mark.parametrize("normalized", [False, True])
def test_weights_of_a_sum_add_up_to_its_value(normalized):
    tree, words = kw.SubsetTreeKernel(), kw.SubsequenceKernel(normalize=False)
    kernel = 0.3 * kw.OnView("tree", tree) + 0.7 * kw.OnView("words", kw.Normalized(words))
    a, b = _example(_A, _LEFT), _example(_B, _RIGHT)
    explained = kw.Normalized(kernel) if normalized else kernel
    found = kw.shared_fragments(explained, a, b, None, order="weight")
    assert sum(f.weight for f in found) == pytest.approx(kernel.value(a, b))


def test_shares_of_a_sum_add_up_to_one():
    kernel = kw.SubsetTreeKernel() + 2 * kw.Normalized(kw.SubtreeKernel() + kw.PartialTreeKernel())
    found = kw.shared_fragments(kernel, _A, _B, None, order="weight")
    assert sum(f.share for f in found) == pytest.approx(1)


def test_kernel_names_tell_fragments_of_a_sum_apart():
    found = kw.shared_fragments(kw.SubsetTreeKernel() + kw.SubtreeKernel(), _A, _B)
    assert {f.kernel for f in found} == {"SubsetTreeKernel", "SubtreeKernel"}


def test_float32_kernel_is_explained_in_double_precision():
    found = kw.shared_fragments(kw.SubtreeKernel(dtype="float32"), _A, _B, None, order="weight")
    assert sum(f.share for f in found) == pytest.approx(1, rel=1e-12)


# Errors.


@pytest.mark.parametrize(
    "kernel", [kw.SubtreeKernel() * kw.SubtreeKernel(), kw.SubtreeKernel() ** 2]
)
def test_products_and_powers_are_refused_naming_what_is_supported(kernel):
    with pytest.raises(kw.errors.KernelInputError, match="SubsetTreeKernel, PartialTreeKernel"):
        kw.shared_fragments(kernel, _A, _B)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"top": 0}, "top must be a positive int, got 0"),
        ({"order": "big"}, "order must be one of"),
        ({"max_steps": -1}, "max_steps must be a positive int"),
    ],
)
def test_wrong_parameters_are_named(arguments, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        kw.shared_fragments(kw.SubtreeKernel(), _A, _B, **arguments)


def test_a_bare_tree_where_a_view_is_read_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match="reads a view of an example, got Tree"):
        kw.shared_fragments(kw.OnView("tree", kw.SubtreeKernel()), _A, _B)


def test_wrong_kind_of_structure_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match="should be a tree, got Sequence"):
        kw.shared_fragments(kw.SubtreeKernel(), _LEFT, _RIGHT)


def test_a_class_instead_of_a_kernel_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match="needs a kernel, got type"):
        kw.shared_fragments(type(kw.SubtreeKernel()), _A, _B)


def test_raw_value_beyond_double_range_is_explained():
    level = kw.Tree("A", [kw.Tree("x")])
    for _ in range(12):
        level = kw.Tree("A", [level, level])
    with pytest.raises(kw.errors.KernelOverflowError, match="smaller decay"):
        kw.shared_fragments(kw.SubsetTreeKernel(decay=1.0), level, level)


# Hostile shapes.


def _chain(depth):
    return kw.Tree.from_postorder(["x"] + ["A"] * depth, [""] * (depth + 1), [0] + [1] * depth)


def _explain(kernel, a, b, order):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return kw.shared_fragments(kernel, a, b, 3, order=order, max_steps=100_000)


@pytest.mark.parametrize(
    ("kernel", "order", "shape"),
    [  # both orders and both shapes of every kernel
        (kw.SubsetTreeKernel(), "size", "deep"),
        (kw.SubsetTreeKernel(), "weight", "wide"),
        (kw.SubtreeKernel(), "weight", "deep"),
        (kw.SubtreeKernel(), "size", "wide"),
        (kw.PartialTreeKernel(), "size", "deep"),
        (kw.PartialTreeKernel(), "weight", "wide"),
        (kw.RootedTreeKernel(), "weight", "deep"),
        (kw.RootedTreeKernel(), "size", "wide"),
    ],
)
def test_large_trees_are_explained(kernel, order, shape):
    # Wide enough, but not so wide that the raw value overflows.
    width = 300 if isinstance(kernel, kw.RootedTreeKernel) else 2000
    leaves = [kw.Tree(f"B{i}", [kw.Tree("x")]) for i in range(width)]
    tree = _chain(3000) if shape == "deep" else kw.Tree("A", leaves)
    assert _explain(kernel, tree, tree, order)  # unbounded, this would not end


@pytest.mark.parametrize("order", ["size", "weight"])
def test_long_repetitive_sequences_are_explained(order):
    words = kw.Sequence(["a", "b"] * 150)
    assert _explain(kw.SubsequenceKernel(), words, words, order)  # unbounded, this would not end


def test_trees_of_any_depth_are_explained():
    found = kw.shared_fragments(kw.SubtreeKernel(), _chain(DEPTH), _chain(DEPTH))
    assert found[0].size == DEPTH + 1


def test_reaching_the_bound_is_told():
    with pytest.warns(RuntimeWarning, match="increase max_steps"):
        kw.shared_fragments(kw.SubsetTreeKernel(), _A, _B, None, order="weight", max_steps=5)


@pytest.mark.parametrize("order", ["size", "weight"])
def test_sequences_too_long_for_a_table_are_told(order):
    a, b = (kw.Sequence(["x", *(f"{name}{i}" for i in range(50))]) for name in "ab")
    with pytest.warns(RuntimeWarning, match="increase max_steps"):
        [found] = kw.shared_fragments(kw.SubsequenceKernel(), a, b, order=order, max_steps=2000)
    assert found.text == "x"  # the search itself ends long before the bound


@pytest.mark.parametrize("order", ["size", "weight"])
def test_what_a_bounded_search_for_subset_trees_returns_is_exact(order):
    kernel, a, b = kw.SubsetTreeKernel(), _chain(30), _chain(20)
    found = kw.shared_fragments(kernel, a, b, None, order="weight")
    exact = {f.structure: f.weight for f in found}
    with pytest.warns(RuntimeWarning):
        bounded = kw.shared_fragments(kernel, a, b, order=order, max_steps=300)
    assert bounded
    assert all(exact[f.structure] == pytest.approx(f.weight) for f in bounded)


# Where a fragment stands.


def test_first_occurrence_lists_positions_in_preorder():
    taken = first_occurrence(kw.Tree.from_brackets("(NP DT (NN dog))"), _A)
    nodes = list(_A.preorder())
    assert [nodes[i].label for i in sorted(taken)] == ["NP", "DT", "NN", "dog"]


def test_first_occurrence_of_a_foreign_fragment_is_empty():
    assert first_occurrence(kw.Tree.from_brackets("(NP NN DT)"), _A) == frozenset()


def test_fragment_size_counts_elements_of_a_sequence():
    assert Fragment("a b", 1.0, 1.0, 1, 1, kw.Sequence(["a", "b"])).size == 2


# Vectors.

_features = st.dictionaries(st.sampled_from("abcd"), st.floats(-4, 4).map(lambda x: round(x, 2)))


@given(_features, _features, st.sampled_from(["linear", "cosine"]))
def test_weights_of_features_sum_to_the_value(a, b, kind):
    kernel = kw.VectorKernel(kind)
    value = kernel.value(a, b)
    for order in ("size", "weight"):
        found = kw.shared_fragments(kernel, a, b, None, order=order)
        if value <= 0:
            assert found == []
        else:
            assert sum(f.weight for f in found) == pytest.approx(value, abs=1e-12)
            assert {f.text for f in found} == a.keys() & b.keys()
            assert all((f.count_a, f.count_b) == (a[f.text], b[f.text]) for f in found)


@pytest.mark.parametrize(
    ("kernel", "a", "b"),
    [
        (kw.VectorKernel("rbf", gamma=0.5), {"a": 1.0}, {"b": 1.0}),
        (kw.VectorKernel("linear"), (1.0, 2.0), (0.5, 1.0)),
        (
            kw.VectorKernel("cosine", vectors=kw.Vectors(["x", "y"], [[1, 0], [1, 1]])),
            kw.Sequence(["x"]),
            kw.Sequence(["y", "z"]),
        ),
    ],
)
def test_other_vectors_are_explained_by_the_value(kernel, a, b):
    [fragment] = kw.shared_fragments(kernel, a, b)
    assert fragment.text == f"vectors ({kernel.kind})" and fragment.structure is None
    assert fragment.weight == kernel.value(a, b) and fragment.share == fragment.covers == 1
    assert fragment.kernel == "VectorKernel" and fragment.size == 1


def test_vectors_and_structures_are_explained_together():
    tree = kw.Tree.from_brackets("(S (A x) (B y))")
    examples = [
        kw.Example(str(i), views={"tree": tree, "bag": {"w": 2.0, str(i): 1.0}, "code": (1.0, i)})
        for i in range(2)
    ]
    kernel = (
        kw.OnView("tree", kw.SubsetTreeKernel())
        + 0.5 * kw.OnView("bag", kw.VectorKernel())
        + kw.Normalized(kw.OnView("code", kw.VectorKernel("polynomial")))
    )
    found = kw.shared_fragments(kernel, *examples, None, order="weight")
    by_view = {f.view: f.text for f in found if f.view != "tree"}
    assert by_view == {"bag": "w", "code": "vectors (polynomial)"}
    assert sum(f.weight for f in found) == pytest.approx(kernel.value(*examples))
    assert sum(f.share for f in found) == pytest.approx(1)


def test_fragments_with_several_are_those_with_each():
    trees = [kw.Tree.from_brackets(text) for text in ("(S (A a) (B b))", "(S (A a))", "(X x)")]
    numbers = [{"f": 1.0}, {"f": -0.5, "g": 1.0}, {"g": 2.0}]
    a, *others = (
        kw.Example(str(i), views={"tree": trees[i % 3], "number": numbers[i // 3]})
        for i in range(9)
    )
    kernel = 0.5 * kw.OnView("tree", kw.SubsetTreeKernel()) + kw.OnView(
        "number", kw.Normalized(kw.VectorKernel())
    )
    found = kw.explain.fragments_of_pairs(kernel, [a] * len(others), others)
    assert found == [kw.shared_fragments(kernel, a, one) for one in others]
    assert [i for i, fragments in enumerate(found, 1) if not fragments] == [5, 8]


def test_a_value_below_zero_is_not_a_part_of_the_sum():
    tree = kw.Tree.from_brackets("(A a)")
    a, b = (kw.Example("", views={"tree": tree, "number": {"f": x}}) for x in (1.0, -0.5))
    kernel = kw.OnView("tree", kw.SubsetTreeKernel()) + kw.OnView("number", kw.VectorKernel())
    [only] = kw.shared_fragments(kernel, a, b)
    assert (only.text, only.share, only.covers) == ("(A a)", 1.0, 1.0)
