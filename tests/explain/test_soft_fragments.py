"""What fragments look like where gates and similarities decide on what is shared."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kernelwood as kw
from kernelwood.similarity import Exact, Gaussian, Table
from kernelwood.vectors import Vectors

_PETS = Table.from_pairs({("dog", "cat"): 0.8, ("the", "a"): 0.5})
_A = kw.Tree.from_brackets("(NP (DT the) (NN dog))")
_B = kw.Tree.from_brackets("(NP (DT the) (NN cat))")
_TREE_KERNELS = [kw.SubsetTreeKernel, kw.SubtreeKernel, kw.PartialTreeKernel, kw.RootedTreeKernel]


def _first(kernel, a, b):
    return kw.shared_fragments(kernel, a, b, 1)[0]


@pytest.mark.parametrize("kind", _TREE_KERNELS)
def test_labels_that_match_softly_are_shown_with_their_similarity(kind):
    assert _first(kind(similarity=_PETS), _A, _B).text == "(NP (DT the) (NN dog~cat (0.80)))"


def test_elements_that_match_softly_are_shown_with_their_similarity():
    a, b = (kw.Sequence(words.split()) for words in ("the old dog sat", "the cat sat"))
    text = _first(kw.SubsequenceKernel(similarity=_PETS), a, b).text
    assert text == "the … dog~cat (0.80) sat"


def test_edges_are_shown_once():
    a, b = (kw.Tree.from_brackets(f'(saw "obj":{noun})') for noun in ("dog", "cat"))
    text = _first(kw.PartialTreeKernel(similarity=_PETS), a, b).text
    assert text == '(saw "obj":dog~cat (0.80))'


def test_edges_of_a_sequence_are_shown_once():
    a, b = (kw.Sequence([("obj", noun)]) for noun in ("dog", "cat"))
    assert _first(kw.SubsequenceKernel(similarity=_PETS), a, b).text == "obj:dog~cat (0.80)"


def test_odd_labels_are_quoted_on_both_sides():
    odd = Table.from_pairs({("big dog", "big cat"): 0.8})
    a, b = kw.Tree("big dog"), kw.Tree("big cat")
    text = _first(kw.PartialTreeKernel(similarity=odd), a, b).text
    assert text == '("big dog"~"big cat" (0.80))'


def test_different_edges_never_match():
    a, b = (kw.Tree.from_brackets(f'(saw "{edge}":dog)') for edge in ("subj", "obj"))
    assert _first(kw.PartialTreeKernel(similarity=_PETS), a, b).text == "(saw)"


def test_counterpart_is_the_piece_of_the_second_structure():
    fragment = _first(kw.SubsetTreeKernel(similarity=_PETS), _A, _B)
    assert (fragment.structure, fragment.counterpart) == (_A, _B)


def test_equal_pieces_have_no_counterpart():
    assert _first(kw.SubsetTreeKernel(similarity=_PETS), _A, _A).counterpart is None


def test_equal_labels_are_shown_bare_even_if_they_match_by_less_than_one():
    hazy = Table(["dog"], [[0.5]])
    fragment = _first(kw.SubsequenceKernel(similarity=hazy), *[kw.Sequence(["dog"])] * 2)
    assert (fragment.text, fragment.similarity) == ("dog", 0.5)


def test_counts_are_occurrences_of_each_side():
    a, b = (kw.Tree.from_brackets(t) for t in ("(S (N dog) (N dog))", "(T (N cat))"))
    fragment = _first(kw.SubsetTreeKernel(similarity=_PETS), a, b)
    assert (fragment.count_a, fragment.count_b) == (2, 1)


def test_weight_of_a_subset_tree_takes_frontier_similarities_and_gates_of_expanded_nodes():
    kernel = kw.SubsetTreeKernel(
        decay=0.5, similarity=_PETS, gates={"NP": 3.0, "DT": 2.0, "the": 9.0}, gate_on="node"
    )
    b = kw.Tree.from_brackets("(NP (DT a) (NN cat))")
    found = kw.shared_fragments(kernel, _A, b, None, order="weight")
    phrase = next(f for f in found if f.text == "(NP (DT the~a (0.50)) NN)")
    assert phrase.weight == pytest.approx(0.5**2 * 3**2 * 2**2 * 0.5)


def test_a_fragment_that_gains_by_growing_comes_before_lighter_ones():
    tree = kw.Tree.from_brackets("(A (B (C x)))")
    gates = {"A": 0.5, "B": 0.5, "C": 3.0}
    kernel = kw.SubsetTreeKernel(decay=1.0, gates=gates, gate_on="node")
    heaviest = kw.shared_fragments(kernel, tree, tree, 3, order="weight")
    assert [f.text for f in heaviest] == ["(C x)", "(B (C x))", "(A (B (C x)))"]


def test_a_closed_gate_cuts_subset_trees_off():
    kernel = kw.SubsetTreeKernel(gates={"NN": 0.0}, gate_on="node")
    texts = [f.text for f in kw.shared_fragments(kernel, _A, _A)]
    assert texts == ["(NP (DT the) NN)"]


@pytest.mark.parametrize("kind", [kw.PartialTreeKernel, kw.RootedTreeKernel])
def test_a_closed_gate_takes_nodes_out_of_partial_fragments(kind):
    kernel = kind(gates={"NN": 0.0}, gate_on="node")
    assert _first(kernel, _A, _A).text == "(NP (DT the))"


def test_a_closed_gate_takes_elements_out_of_subsequences():
    words = kw.Sequence("the dog sat".split())
    kernel = kw.SubsequenceKernel(gates={"dog": 0.0}, gate_on="node")
    assert _first(kernel, words, words).text == "the … sat"


def test_alignment_prefers_what_is_more_similar():
    near = Table.from_pairs({("dog", "cat"): 0.8, ("dog", "idea"): 0.1})
    a, b = kw.Sequence(["dog"]), kw.Sequence(["idea", "cat"])
    found = kw.shared_fragments(kw.SubsequenceKernel(similarity=near), a, b)
    assert found[0].text == "dog~cat (0.80)"


def test_similarities_too_small_for_two_digits_are_shown_all_the_same():
    far = Table.from_pairs({("dog", "idea"): 0.0004})
    a, b = kw.Sequence(["dog"]), kw.Sequence(["idea"])
    assert _first(kw.SubsequenceKernel(similarity=far), a, b).text == "dog~idea (4e-04)"


@pytest.mark.parametrize("order", ["size", "weight"])
@pytest.mark.parametrize("kind", _TREE_KERNELS)
def test_the_exact_similarity_changes_nothing(kind, order):
    found = kw.shared_fragments(kind(similarity=Exact()), _A, _B, order=order)
    assert found == kw.shared_fragments(kind(), _A, _B, order=order)


def test_soft_fragments_of_a_sum_are_told_apart():
    kernel = kw.SubsetTreeKernel(similarity=_PETS) + kw.SubsetTreeKernel()
    texts = {f.text for f in kw.shared_fragments(kernel, _A, _B)}
    assert texts == {"(NP (DT the) (NN dog~cat (0.80)))", "(NP (DT the) NN)"}


# Hostile shapes: everything matches everything.


def _everything_matches(n):
    words = [f"w{i}" for i in range(n)]
    vectors = np.random.default_rng(0).normal(size=(n, 4))
    return words, Gaussian(Vectors(words, vectors))


def _explain(kernel, structure, order):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return kw.shared_fragments(kernel, structure, structure, 3, order=order, max_steps=20_000)


@pytest.mark.parametrize(
    ("kind", "order", "shape"),
    [  # both orders and both shapes of every kernel
        (kind, ("size", "weight")[(number + side) % 2], ("deep", "wide")[side])
        for number, kind in enumerate(_TREE_KERNELS)
        for side in (0, 1)
    ],
)
def test_large_trees_are_explained(kind, order, shape):
    words, similarity = _everything_matches(300)
    if shape == "deep":
        words = words * 4
        tree = kw.Tree.from_postorder(words, [""] * 1200, [0] + [1] * 1199)
    else:
        tree = kw.Tree("w0", [kw.Tree(word, [kw.Tree("w1")]) for word in words[:200]])
    kernel = kind(similarity=similarity, decay=0.1, gates={"": 1.3})
    assert _explain(kernel, tree, order)  # unbounded, this would not end


@pytest.mark.parametrize("order", ["size", "weight"])
def test_long_sequences_are_explained(order):
    words, similarity = _everything_matches(150)
    kernel = kw.SubsequenceKernel(similarity=similarity, decay=0.3)
    assert _explain(kernel, kw.Sequence(words), order)  # unbounded, this would not end


def test_more_labels_than_can_be_compared_are_told():
    words, similarity = _everything_matches(100)
    sequence = kw.Sequence(words)
    with pytest.warns(RuntimeWarning, match="increase max_steps"):
        kw.shared_fragments(
            kw.SubsequenceKernel(similarity=similarity), sequence, sequence, max_steps=100
        )


@pytest.mark.parametrize(
    ("kind", "max_steps"), [(kw.SubsetTreeKernel, 4000), (kw.SubtreeKernel, 200)]
)
def test_what_a_bounded_search_returns_is_exact(kind, max_steps):
    words, similarity = _everything_matches(40)
    tree = kw.Tree.from_postorder(words, [""] * 40, [0] + [1] * 39)
    kernel = kind(similarity=similarity, decay=0.2)
    everything = kw.shared_fragments(kernel, tree, tree, 2000, order="weight", max_steps=10**6)
    exact = {(f.structure, f.counterpart): f.weight for f in everything}
    with pytest.warns(RuntimeWarning):
        bounded = kw.shared_fragments(kernel, tree, tree, order="weight", max_steps=max_steps)
    assert bounded
    assert all(exact[f.structure, f.counterpart] == pytest.approx(f.weight) for f in bounded)
