"""What two forests share: fragments by their expected counts over all trees."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter

import pytest
import strategies
from hypothesis import assume, given, strategies as st
from sizes import DEPTH

import kernelwood as kw

# Few labels and few children, so that much is shared.
_forests = st.builds(
    strategies.random_forest,
    st.randoms(use_true_random=False),
    st.integers(1, 5),
    st.just("ab"),
    st.just(2),
)
_decays = st.sampled_from([0.4, 1.0])
_trees = strategies.trees(of=st.sampled_from("ab"))

# "saw girls with hats": the hats belong to the girls, or help to see.
_READINGS = ["(VP saw (NP (NP girls) (PP with hats)))", "(VP saw (NP girls) (PP with hats))"]


def _packed(*weights, noun="girls"):
    trees = [kw.Tree.from_brackets(text.replace("girls", noun)) for text in _READINGS]
    return kw.Forest.from_trees(list(zip(trees, weights, strict=True)))


def _explain(a, b, order="size", top=None, max_steps=10**8, **parameters):
    kernel = kw.ForestKernel(**parameters)
    return kw.shared_fragments(kernel, a, b, top, order=order, max_steps=max_steps)


def _raw(a, b, **parameters):
    return kw.ForestKernel(normalize=False, **parameters).value(a, b)


def _fragments(tree, rooted=False):
    """Return how often each fragment occurs in a tree, or at its root alone."""
    grown = Counter()
    if not tree.children:
        return grown
    options = [[kw.Tree(child.label), *_fragments(child, True)] for child in tree.children]
    for parts in itertools.product(*options):
        grown[kw.Tree(tree.label, parts)] += 1
    if not rooted:
        for child in tree.children:
            grown.update(_fragments(child))
    return grown


def _expected(forest):
    """Return the expected count of every fragment, by listing all trees."""
    counts = Counter()
    for tree, probability in strategies.tree_distribution(forest).items():
        for fragment, count in _fragments(tree).items():
            counts[fragment] += probability * count
    return counts


def _n_productions(fragment):
    return sum(1 for node in fragment.preorder() if node.children)


def _assume_small(*forests):
    """Skip forests of which not all trees and fragments can be listed."""
    assume(all(forest.n_trees <= 100 and len(_expected(forest)) <= 1000 for forest in forests))


# By weight.


@given(_forests, _forests, _decays)
def test_every_fragment_has_its_expected_counts_and_weight(a, b, decay):
    _assume_small(a, b)
    counts_a, counts_b = _expected(a), _expected(b)
    shared = counts_a.keys() & counts_b.keys()
    found = {f.structure: f for f in _explain(a, b, "weight", decay=decay)}
    assert found.keys() == shared
    for fragment in shared:
        counts = counts_a[fragment], counts_b[fragment]
        assert (found[fragment].count_a, found[fragment].count_b) == pytest.approx(counts)
        weight = decay ** _n_productions(fragment) * counts[0] * counts[1]
        assert found[fragment].weight == pytest.approx(weight)


@given(_forests, _forests, _decays, st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_weights_of_all_fragments_sum_to_the_raw_value(a, b, decay, sharpness):
    _assume_small(a, b)
    found = _explain(a, b, "weight", decay=decay, sharpness=sharpness)
    raw = _raw(a, b, decay=decay, sharpness=sharpness)
    assert sum(f.weight for f in found) == pytest.approx(raw, rel=1e-9)


@given(_forests, _forests)
def test_no_fragment_is_listed_twice(a, b):
    _assume_small(a, b)
    found = _explain(a, b, "weight")
    assert len({f.structure for f in found}) == len(found)


@given(_forests, _forests, _decays)
def test_the_first_fragments_by_weight_are_the_heaviest_of_all(a, b, decay):
    _assume_small(a, b)
    everything = [f.weight for f in _explain(a, b, "weight", decay=decay)]
    first = [f.weight for f in _explain(a, b, "weight", 3, decay=decay)]
    assert first == pytest.approx(sorted(everything, reverse=True)[:3])


def test_a_reading_counts_by_its_probability():
    found = _explain(_packed(3, 1), _packed(1, 4), "weight")
    [flat] = [f for f in found if f.text == "(VP saw NP PP)"]
    assert (flat.count_a, flat.count_b) == pytest.approx((0.25, 0.8))


def test_what_all_readings_have_in_common_is_certain():
    [phrase] = [f for f in _explain(_packed(3, 1), _packed(1, 4)) if f.text == "(PP with hats)"]
    assert (phrase.count_a, phrase.count_b) == pytest.approx((1, 1))


def test_sharpness_makes_likely_readings_count_more():
    found = _explain(_packed(3, 1), _packed(3, 1), "weight", sharpness=2.0)
    [flat] = [f for f in found if f.text == "(VP saw NP PP)"]
    assert flat.count_a == pytest.approx(0.1)


def test_great_sharpness_leaves_the_best_reading():
    forest = kw.Forest(["S", "x", "y"], [(0, (1,), 0.01), (0, (2,), 0.02)], 0)
    assert _explain(forest, forest, sharpness=1000.0)[0].text == "(S y)"


def test_fragments_of_an_ambiguous_chart_need_not_be_listed_to_find_the_heaviest():
    # Each of the 200 words has two tags: 2**200 trees.
    labels, edges = ["S"] * 200, []
    for i in range(200):
        word = len(labels)
        labels += ["w", "A", "B"]
        rest = (i + 1,) if i < 199 else ()
        edges += [(word + k, (word,), 1.0) for k in (1, 2)]
        edges += [(i, (word + k, *rest), 0.5) for k in (1, 2)]
    forest = kw.Forest(labels, edges, 0)
    first = _explain(forest, forest, "weight", 2, 500_000)
    assert {f.text: f.count_a for f in first} == pytest.approx({"(A w)": 100, "(B w)": 100})


# By size.


@given(_forests, _forests, _decays, st.sampled_from([0.5, 1.0]))
def test_largest_fragments_cover_the_raw_value_once(a, b, decay, sharpness):
    found = _explain(a, b, decay=decay, sharpness=sharpness)
    raw = _raw(a, b, decay=decay, sharpness=sharpness)
    assert sum(f.covers for f in found) == pytest.approx(float(raw > 0), rel=1e-9)


@given(_forests, _forests)
def test_largest_fragments_weigh_the_same_in_both_orders(a, b):
    _assume_small(a, b)
    by_weight = {f.structure: f for f in _explain(a, b, "weight")}
    for fragment in _explain(a, b):
        same = by_weight[fragment.structure]
        counts = same.count_a, same.count_b
        assert (fragment.count_a, fragment.count_b) == pytest.approx(counts)
        assert fragment.weight == pytest.approx(same.weight)


def _listed(fragments):
    keys = [(f.text, f.weight, f.share, f.count_a, f.count_b, f.structure) for f in fragments]
    return sorted(keys), {f.text: f.covers for f in fragments}


@pytest.mark.parametrize("order", ["size", "weight"])
@given(a=_trees, b=_trees, decay=_decays)
def test_forests_of_one_tree_are_explained_like_trees(order, a, b, decay):
    a, b = (kw.Tree.from_brackets(_without_edges(tree)) for tree in (a, b))
    forests = [kw.Forest.from_trees([tree]) for tree in (a, b)]
    kernel = kw.SubsetTreeKernel(decay=decay)
    expected = kw.shared_fragments(kernel, a, b, None, order=order, max_steps=10**8)
    texts, covers = _listed(_explain(*forests, order, decay=decay))
    expected_texts, expected_covers = _listed(expected)
    assert [text[0] for text in texts] == [text[0] for text in expected_texts]
    for one, other in zip(texts, expected_texts, strict=True):
        assert one[1:5] == pytest.approx(other[1:5])
        assert one[5] == other[5]
    assert covers == (pytest.approx(expected_covers) if order == "size" else expected_covers)


def _without_edges(tree):
    labels, _, n_children = tree.flatten()
    return kw.Tree.from_postorder(labels, [""] * len(labels), n_children).to_brackets()


def test_counts_in_forests_of_one_tree_are_whole_numbers():
    tree = kw.Tree.from_brackets("(S (NP the dog) (VP saw (NP the dog)))")
    forest = kw.Forest.from_trees([tree])
    [phrase] = [f for f in _explain(forest, forest) if f.text == "(NP the dog)"]
    assert (phrase.count_a, phrase.count_b) == (2.0, 2.0)


def test_every_shared_reading_is_listed():
    texts = [f.text for f in _explain(_packed(3, 1), _packed(3, 2, noun="boys"))]
    assert texts[:2] == ["(VP saw (NP NP (PP with hats)))", "(VP saw NP (PP with hats))"]


def test_parts_of_a_larger_fragment_in_the_same_place_are_left_out():
    tree = kw.Tree.from_brackets("(S (A (B x) (C y)) (D z))")
    certain = [(0, (1, 6), 0.3), (1, (2, 4), 0.1), (2, (3,), 0.1), (4, (5,), 0.1)]
    edges = [*certain, (6, (7,), 0.2), (6, (8,), 0.1)]
    forest = kw.Forest(["S", "A", "B", "x", "C", "y", "D", "z", "w"], edges, 0)
    found = _explain(forest, kw.Forest.from_trees([tree]))
    assert [f.text for f in found] == ["(S (A (B x) (C y)) (D z))"]


def test_a_fragment_goes_on_by_the_reading_that_shares_most():
    forest = kw.Forest(["S", "A", "x", "y"], [(0, (1,), 1.0), (1, (2,), 0.4), (1, (3,), 0.6)], 0)
    assert _explain(forest, forest)[0].text == "(S (A y))"


# Combinations and errors.


def test_a_view_of_forests_is_explained():
    examples = [kw.Example(str(n), views={"forest": _packed(n, 1)}) for n in (1, 2)]
    kernel = kw.OnView("forest", kw.ForestKernel())
    found = kw.shared_fragments(kernel, *examples)
    assert {(f.view, f.kernel) for f in found} == {("forest", "ForestKernel")}


def test_weights_of_a_sum_add_up_to_its_value():
    forests = _packed(3, 1), _packed(1, 1)
    kernel = 0.3 * kw.ForestKernel() + kw.ForestKernel(sharpness=0.5, normalize=False)
    found = kw.shared_fragments(kernel, *forests, None, order="weight")
    assert sum(f.weight for f in found) == pytest.approx(kernel.value(*forests))


@pytest.mark.parametrize("order", ["size", "weight"])
def test_forests_that_share_nothing_give_an_empty_list(order):
    word = kw.Forest(["x"], [], 0)
    assert _explain(word, word, order) == []


# Hostile shapes.


def _chain(depth, label):
    labels = [*(label(level) for level in range(depth)), "x"]
    return kw.Forest(labels, [(i, (i + 1,), 0.9) for i in range(depth)], 0)


def test_unlikely_long_forests_do_not_underflow():
    forest = kw.Forest(
        [*(f"n{i}" for i in range(50)), "x"], [(i, (i + 1,), 1e-300) for i in range(50)], 0
    )
    [whole] = _explain(forest, forest)
    assert (whole.count_a, whole.covers) == (1.0, pytest.approx(1))


def test_a_deep_forest_is_shown_whole():
    forest = _chain(DEPTH, lambda level: f"n{level}")
    [whole] = _explain(forest, forest, top=3, max_steps=25 * DEPTH)
    assert whole.size == DEPTH + 1


@pytest.mark.parametrize("order", ["size", "weight"])
def test_a_deep_forest_of_equal_labels_is_explained(order):
    forest = _chain(3_000, lambda level: "A")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert _explain(forest, forest, order, 3, 100_000)  # unbounded, this would not end


@pytest.mark.parametrize("order", ["size", "weight"])
def test_what_a_bounded_search_returns_is_exact(order):
    a, b = _chain(30, lambda level: "A"), _chain(20, lambda level: "A")
    exact = {f.structure: f.weight for f in _explain(a, b, "weight")}
    with pytest.warns(RuntimeWarning, match="increase max_steps"):
        bounded = _explain(a, b, order, max_steps=300)
    assert bounded
    assert all(exact[f.structure] == pytest.approx(f.weight) for f in bounded)


def test_expected_counts_beyond_a_double_are_refused():
    # Every node is used twice by the one above: 2**1100 words, of which the kernel sees one.
    labels = [f"n{i}" for i in range(1100)]
    edges = [(i, (i + 1, i + 1), 1.0) for i in range(1, 1099)]
    many = kw.Forest([*labels, "A", "x"], [*edges, (0, (1, 1100), 1.0), (1100, (1101,), 1.0)], 0)
    one = kw.Forest(["A", "x"], [(0, (1,), 1.0)], 0)
    with pytest.raises(kw.errors.KernelOverflowError, match="expected counts"):
        _explain(many, one)
