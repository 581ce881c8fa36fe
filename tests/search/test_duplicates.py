from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given, strategies as st
from parsed_samples import sentence, sentences
from sizes import DEPTH

import kernelwood as kw
from kernelwood.search import find_duplicates
from kernelwood.views import lct

KERNEL = kw.SubsetTreeKernel()
TREES = list(dict.fromkeys(strategies.sample_trees(150, seed=6, max_nodes=8)))
COPIES = [TREES[i % 40] for i in range(100)]


def by_definition(structures, kernel, threshold):
    """Pairs of first ones, and of each first one with its copies, with similarities."""
    values = kernel.cross(structures, structures)
    firsts = {}
    found = []
    for j, structure in enumerate(structures):
        first = firsts.setdefault(structure, j)
        if first < j:
            found.append((kernel.diag([structure])[0], first, j))
        else:
            found += [(values[i, j], i, j) for i in firsts.values() if i < j]
    alike = sorted((-value, i, j) for value, i, j in found if value >= threshold)
    return [(i, j, -value) for value, i, j in alike]


def components(pairs, n):
    """Groups of more than one, by merging sets."""
    group = {i: {i} for i in range(n)}
    for i, j in pairs:
        if group[i] is not group[j]:
            group[i] |= group[j]
            for member in group[j]:
                group[member] = group[i]
    groups = {id(members): sorted(members) for members in group.values() if len(members) > 1}
    return tuple(sorted((tuple(g) for g in groups.values()), key=lambda g: (-len(g), g)))


def rows(found):
    return [
        (i, j, value)
        for (i, j), value in zip(found.pairs.tolist(), found.similarities.tolist(), strict=True)
    ]


# All pairs.


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("structures", [TREES, COPIES], ids=["distinct", "copies"])
def test_pairs_follow_the_definition(structures, threshold):
    found = find_duplicates(structures, KERNEL, threshold=threshold)
    assert rows(found) == by_definition(structures, KERNEL, threshold)


@given(st.lists(strategies.trees(), max_size=8), st.sampled_from([0.3, 0.8, 1.0]))
def test_any_trees_follow_the_definition(structures, threshold):
    found = find_duplicates(structures, kw.PartialTreeKernel(), threshold=threshold)
    assert rows(found) == by_definition(structures, kw.PartialTreeKernel(), threshold)


@given(st.lists(strategies.trees(), max_size=10), st.sampled_from([0.3, 0.8]))
def test_groups_are_what_pairs_join(structures, threshold):
    found = find_duplicates(structures, kw.PartialTreeKernel(), threshold=threshold)
    assert found.groups == components(found.pairs.tolist(), len(structures))


@pytest.mark.parametrize("n_pairs", [1, 10, 300])
def test_no_bit_depends_on_blocks(monkeypatch, n_pairs):
    expected = rows(find_duplicates(TREES[:25], KERNEL, threshold=0.1))
    monkeypatch.setattr("kernelwood.search.block_comparison._PAIRS", n_pairs)
    assert rows(find_duplicates(kw.batch(TREES[:25]), KERNEL, threshold=0.1)) == expected


def test_no_bit_depends_on_threads(force_threads):
    expected = rows(find_duplicates(TREES, KERNEL, threshold=0.3))
    with kw.config_context(n_jobs=2):
        assert rows(find_duplicates(TREES, KERNEL, threshold=0.3)) == expected


def test_a_thousand_copies_make_999_pairs():
    found = find_duplicates([TREES[0]] * 1000, KERNEL)
    assert found.pairs.tolist() == [[0, j] for j in range(1, 1000)]
    assert found.groups == (tuple(range(1000)),)


def test_copies_are_not_compared():
    with kw.compute.counting() as counters:
        find_duplicates([TREES[0]] * 1000, KERNEL)
    assert counters.kernel_evaluations < 10


def test_copies_are_a_pair_only_if_their_similarity_reaches_the_threshold():
    kernel = kw.SubsequenceKernel(normalize=False, decay=0.5)
    short, long = kw.Sequence(["a"]), kw.Sequence(["a", "b", "c", "d"])
    found = find_duplicates([short, short, long, long], kernel, threshold=1.5)
    assert found.pairs.tolist() == [[2, 3]]


def test_order_of_nodes_makes_a_difference():
    trees = [kw.Tree.from_brackets(text) for text in ("(a (b c) d)", "(a (b c d))", "(a (b c) d)")]
    assert find_duplicates(trees, KERNEL, threshold=1.0).pairs.tolist() == [[0, 2]]


@pytest.mark.parametrize("n", [0, 1])
def test_few_structures_have_no_duplicates(n):
    found = find_duplicates(kw.batch(TREES[:n], kind=kw.arrays.TreeBatch), KERNEL)
    assert found.pairs.shape == (0, 2) and found.groups == () and len(found) == 0


def test_similarities_have_the_number_type_of_the_kernel():
    found = find_duplicates(TREES, kw.SubsetTreeKernel(dtype="float32"), threshold=0.3)
    assert found.similarities.dtype == np.float32


def test_what_is_found_says_how_much_it_is():
    assert repr(find_duplicates([TREES[0]] * 3, KERNEL)) == "Duplicates(2 pairs, 1 groups)"


def test_progress_ends_with_the_total(monkeypatch):
    monkeypatch.setattr("kernelwood.search.block_comparison._PAIRS", 400)
    calls = []
    with kw.config_context(progress=lambda done, total: calls.append((done, total))):
        find_duplicates(TREES, KERNEL)
    assert calls == sorted(calls) and calls[-1][0] == calls[-1][1]


def test_more_pairs_than_memory_are_refused():
    with (
        kw.config_context(memory=20_000),
        pytest.raises(kw.errors.MemoryBudgetError, match="Raise the threshold"),
    ):
        find_duplicates([TREES[0]] * 1000, KERNEL)


# Other structures.


@pytest.mark.parametrize(
    ("structures", "kernel"),
    [
        (strategies.sample_sequences(30), kw.SubsequenceKernel()),
        (strategies.sample_forests(20), kw.ForestKernel()),
    ],
    ids=["sequences", "forests"],
)
def test_copies_of_every_kind_are_found(structures, kernel):
    structures = list(dict.fromkeys(structures))
    n = len(structures)
    found = find_duplicates(structures * 2, kernel, threshold=1.0)
    assert {(i, i + n) for i in range(n)} <= set(map(tuple, found.pairs.tolist()))


def test_sentences_are_compared_by_a_view():
    parsed = sentences(30)
    trees = [lct(one) for one in parsed]
    found = find_duplicates(parsed, kw.PartialTreeKernel(), threshold=0.5, view="lct")
    assert rows(found) == rows(find_duplicates(trees, kw.PartialTreeKernel(), threshold=0.5))


def test_examples_are_equal_if_the_views_that_are_read_are():
    kernel = kw.OnView("lct", kw.PartialTreeKernel())
    parsed = [sentence("cats", "see"), sentence("cats", "eat"), sentence("cats", "see")]
    examples = [kw.Example(str(i), i, {"sentence": one}) for i, one in enumerate(parsed)]
    assert find_duplicates(examples, kernel, threshold=1.0).pairs.tolist() == [[0, 2]]


def test_deep_trees_are_compared():
    deep, other = (
        kw.Tree.from_postorder([label] * DEPTH, [""] * DEPTH, [0] + [1] * (DEPTH - 1))
        for label in "ab"
    )
    found = find_duplicates([deep, other, deep], kw.SubtreeKernel())
    assert found.groups == ((0, 2),)


# Candidates.


def indexes():
    return {
        "vectors": kw.EmbeddingIndex(KERNEL, n_landmarks=30, random_state=0),
        "codes": kw.HashIndex(KERNEL, n_references=30, random_state=0),
    }


@pytest.mark.parametrize("by", ["vectors", "codes"])
@pytest.mark.parametrize("structures", [TREES, COPIES], ids=["distinct", "copies"])
def test_enough_candidates_find_all_pairs(by, structures):
    expected = rows(find_duplicates(structures, KERNEL, threshold=0.4))
    found = find_duplicates(structures, KERNEL, threshold=0.4, candidates=by, n_candidates=10**6)
    assert rows(found) == expected and len(expected) > 20


@pytest.mark.parametrize("by", ["vectors", "codes"])
def test_few_candidates_find_some_of_the_pairs(by):
    expected = rows(find_duplicates(TREES, KERNEL, threshold=0.2))
    found = rows(find_duplicates(TREES, KERNEL, threshold=0.2, candidates=by, n_candidates=3))
    assert set(found) < set(expected) and len(found) > 0.2 * len(expected)


@pytest.mark.parametrize("by", ["vectors", "codes"])
def test_near_duplicates_are_found_by_few_candidates(by):
    expected = rows(find_duplicates(COPIES, KERNEL, threshold=0.7))
    found = find_duplicates(COPIES, KERNEL, threshold=0.7, candidates=by, n_candidates=8)
    assert rows(found) == expected


@pytest.mark.parametrize("by", ["vectors", "codes"])
def test_an_index_gives_the_options(by):
    index = indexes()[by]
    found = find_duplicates(COPIES, KERNEL, threshold=0.7, candidates=index)
    assert rows(found) == rows(find_duplicates(COPIES, KERNEL, threshold=0.7))
    assert not index.__sklearn_is_fitted__()


@pytest.mark.parametrize("by", ["vectors", "codes"])
def test_an_index_that_is_fitted_is_used_as_it_is(by):
    index = indexes()[by].fit(COPIES)
    expected = rows(find_duplicates(COPIES, KERNEL, threshold=0.5))
    found = find_duplicates(COPIES, KERNEL, threshold=0.5, candidates=index, n_candidates=99)
    assert rows(found) == expected


def test_ids_of_a_fitted_index_need_not_count_from_zero():
    index = indexes()["codes"].fit([*TREES[100:104], *COPIES])
    index.remove([0, 1, 2, 3])
    expected = rows(find_duplicates(COPIES, KERNEL, threshold=0.5))
    found = find_duplicates(COPIES, KERNEL, threshold=0.5, candidates=index, n_candidates=99)
    assert rows(found) == expected


def test_candidates_cost_less_than_all_pairs():
    with kw.compute.counting() as counters:
        find_duplicates(TREES, KERNEL, candidates=indexes()["codes"], n_candidates=2)
    assert counters.kernel_evaluations < 100 * len(TREES)


def test_an_index_of_other_structures_is_refused():
    index = indexes()["codes"].fit(TREES[:50])
    with pytest.raises(kw.errors.KernelInputError, match="the index holds 50 structures"):
        find_duplicates(TREES, KERNEL, candidates=index)


def test_one_distinct_structure_needs_no_index():
    found = find_duplicates([TREES[0]] * 3, KERNEL, candidates="codes")
    assert found.groups == ((0, 1, 2),)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threshold": 0}, "threshold must be a number above 0"),
        ({"threshold": float("nan")}, "threshold must be a number above 0"),
        ({"threshold": "0.9"}, "threshold must be a number above 0"),
        ({"candidates": "names"}, "candidates must be None, one of"),
        ({"candidates": 20}, "candidates must be None, one of"),
        ({"n_candidates": 0}, "n_candidates must be an int of at least 1"),
        ({"kernel": "stk"}, "kernel must be a kernel"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    kernel = arguments.pop("kernel", KERNEL)
    with pytest.raises(kw.errors.KernelInputError, match=message):
        find_duplicates(TREES, kernel, **arguments)
