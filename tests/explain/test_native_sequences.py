"""The native search for subsequences equals the one in plain Python, for any pairs at once."""

from __future__ import annotations

import math
import random
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from subsequences_by_definition import longest_fragments

import kernelwood as kw
from kernelwood import _native
from kernelwood.errors import KernelInputError
from kernelwood.explain import fragment_lines, fragments_of_pairs
from kernelwood.similarity import Exponential, Gaussian, Lexical
from kernelwood.vectors import Vectors

_LABELS = "wxyz"
_edges = st.sampled_from(["", "", "e"])
_sequences = st.lists(st.tuples(_edges, st.sampled_from(_LABELS)), max_size=9).map(kw.Sequence)
_vectors = st.lists(st.floats(0, math.pi), min_size=4, max_size=4).map(
    lambda angles: Vectors(_LABELS, [[math.cos(x), math.sin(x)] for x in angles])
)
_similarities = st.one_of(
    st.none(),
    st.builds(Gaussian, _vectors),
    st.builds(lambda v, weight: Lexical(v, weight=weight), _vectors, st.sampled_from([0.9, 1.0])),
)
_kernels = st.builds(
    kw.SubsequenceKernel,
    decay=st.sampled_from([0.4, 0.7, 1.0]),
    max_length=st.sampled_from([None, 1, 2, 3]),
    similarity=_similarities,
    gates=st.dictionaries(
        st.sampled_from(["", "e", "x", "y"]), st.sampled_from([0, 0.5, 3.0]), max_size=3
    ),
    gate_on=st.sampled_from(["edge", "node"]),
    normalize=st.just(False),
)


def found_at_once(kernel, pairs, top=None, max_steps=500_000):
    """Return the fragments of each pair as `longest_fragments` does, and the raw values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        left, right = ([pair[side] for pair in pairs] for side in (0, 1))
        found = fragments_of_pairs(kernel, left, right, top, max_steps=max_steps)
    return [
        [
            (f.text, f.structure, f.counterpart, f.weight, (f.count_a, f.count_b), f.covers,
             f.similarity)
            for f in some
        ]
        for some in found
    ]  # fmt: skip


def check(kernel, pairs, top=None, max_steps=500_000):
    for (a, b), found in zip(pairs, found_at_once(kernel, pairs, top, max_steps), strict=True):
        expected, _ = longest_fragments(kernel, a, b, top, max_steps)
        raw = kernel.value(a, b)
        if raw == 0:
            assert found == []
            continue
        # In the order of equal sizes and values, which the search leaves open, text decides.
        expected = sorted(expected, key=lambda row: (-len(row[1]), -(row[5] / raw), row[0]))
        assert [row[:3] for row in found] == [row[:3] for row in expected]
        for mine, other in zip(found, expected, strict=True):
            assert mine[4] == other[4]
            assert mine[3] == pytest.approx(other[3], rel=1e-12)
            assert mine[5] == pytest.approx(other[5] / raw, rel=1e-12)
            assert mine[6] == other[6]


@given(_kernels, st.lists(st.tuples(_sequences, _sequences), min_size=1, max_size=4))
def test_all_fragments_are_those_of_the_definition(kernel, pairs):
    check(kernel, pairs)


@given(_kernels, _sequences, _sequences, st.integers(1, 3))
def test_the_first_fragments_are_those_of_the_definition(kernel, a, b, top):
    check(kernel, [(a, b)], top)


@given(_kernels, _sequences, _sequences, st.integers(1, 120))
def test_a_search_with_few_steps_is_that_of_the_definition(kernel, a, b, max_steps):
    check(kernel, [(a, b)], None, max_steps)


@given(_kernels, _sequences, _sequences, st.integers(1, 120))
def test_a_search_that_ends_early_is_told_as_by_the_definition(kernel, a, b, max_steps):
    _, exceeded = longest_fragments(kernel, a, b, None, max_steps)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fragments_of_pairs(kernel, [a], [b], None, max_steps=max_steps)
    assert bool(told) == (exceeded and kernel.value(a, b) > 0)


@pytest.mark.parametrize("max_length", [None, 3])
@pytest.mark.parametrize("soft", [False, True])
def test_long_sequences_are_searched_as_by_the_definition(soft, max_length):
    chooser = random.Random(1)
    words = [f"w{i}" for i in range(25)]
    vectors = np.random.default_rng(0).normal(size=(25, 3))
    similarity = Exponential(Vectors(words, vectors), floor=0.6) if soft else None
    kernel = kw.SubsequenceKernel(
        decay=0.6, max_length=max_length, similarity=similarity, normalize=False
    )
    pairs = [
        tuple(kw.Sequence(chooser.choices(words, k=chooser.randint(40, 90))) for _ in "ab")
        for _ in range(2)
    ]
    check(kernel, pairs, 5)
    check(kernel, pairs, 5, 9_000)


def test_repetitions_have_exact_counts_beyond_the_range_of_doubles():
    a, b = kw.Sequence(["x"] * 100), kw.Sequence(["x"] * 40)
    kernel = kw.SubsequenceKernel(decay=0.5)
    [fragment] = kw.shared_fragments(kernel, a, b)
    assert (fragment.count_a, fragment.count_b) == (math.comb(100, 40), 1)


def test_empty_sequences_share_nothing():
    empty, some = kw.Sequence([]), kw.Sequence(["a"])
    pairs = [empty, some, empty], [some, empty, empty]
    assert fragments_of_pairs(kw.SubsequenceKernel(), *pairs) == [[], [], []]
    assert fragments_of_pairs(kw.SubsequenceKernel(), [], []) == []


def test_pairs_need_as_many_structures_on_both_sides():
    with pytest.raises(KernelInputError, match="same length"):
        fragments_of_pairs(kw.SubsequenceKernel(), [kw.Sequence(["a"])], [])


@given(_kernels, st.lists(st.tuples(_sequences, _sequences), max_size=6))
def test_fragments_do_not_depend_on_the_other_pairs_of_a_call(kernel, pairs):
    alone = [found_at_once(kernel, [pair])[0] for pair in pairs]
    assert found_at_once(kernel, pairs) == alone


def test_fragments_do_not_depend_on_how_many_pairs_are_searched_at_once(monkeypatch):
    words = "the old cat sat on the mat with the old dog".split()
    sides = [kw.Sequence(words[i:]) for i in range(8)], [kw.Sequence(words[:-i]) for i in range(8)]
    kernel = kw.SubsequenceKernel(max_length=3)
    expected = fragments_of_pairs(kernel, *sides)
    monkeypatch.setattr("kernelwood.explain.fragments._PAIRS_AT_ONCE", 3)
    assert fragments_of_pairs(kernel, *sides) == expected


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_fragments_do_not_depend_on_the_number_of_threads(n_jobs):
    words = [kw.Sequence([f"w{i * j % 7}" for i in range(30)]) for j in range(1, 40)]
    expected = fragments_of_pairs(kw.SubsequenceKernel(), words[1:], words[:-1])
    assert (
        fragments_of_pairs(kw.SubsequenceKernel(n_jobs=n_jobs), words[1:], words[:-1]) == expected
    )


def test_lines_are_those_of_the_fragments():
    words = "raf binds ras and ras binds mek".split()
    kernel = kw.SubsequenceKernel() + kw.SubsequenceKernel(max_length=1)
    sides = [kw.Sequence(words)] * 2, [kw.Sequence(words[2:]), kw.Sequence(words[:4])]
    lines = fragment_lines(kernel, *sides, 3)
    expected = [
        [(f.text, f.view, f.size, f.covers) for f in some]
        for some in fragments_of_pairs(kernel, *sides, 3)
    ]
    assert [list(map(tuple, some)) for some in lines] == expected


@pytest.mark.parametrize("similarity", [None, Gaussian(Vectors("ab", [[1, 0], [0.6, 0.8]]))])
def test_all_pairs_are_searched_by_one_call_of_the_native_core(monkeypatch, similarity):
    calls = []
    native = _native.longest_subsequences
    monkeypatch.setattr(
        _native, "longest_subsequences", lambda *a, **k: calls.append(1) or native(*a, **k)
    )
    kernel = kw.SubsequenceKernel(similarity=similarity)
    sides = [kw.Sequence(["a", "b"])] * 50, [kw.Sequence(["a", "c"])] * 50
    assert len(fragments_of_pairs(kernel, *sides)) == 50
    assert calls == [1]


# What the native core refuses.


def side(offsets=(0, 2), labels=(1, 2), edges=(0, 0), gates=None, places=None):
    return _native.PairSide(
        np.array(offsets, np.int64), np.array(labels, np.int32), np.array(edges, np.int32),
        None if gates is None else np.array(gates, np.float64),
        None if places is None else np.array(places, np.int32),
    )  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"offsets": (0, 3)},
        {"offsets": (2, 1)},
        {"offsets": ()},
        {"offsets": (-1, 1)},
        {"edges": (0,)},
        {"gates": (1.0,)},
        {"places": (0, 1, 2)},
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(wrong):
    with pytest.raises(ValueError):
        side(**wrong)


@pytest.mark.parametrize(
    ("places", "values", "begin", "width"),
    [
        ((0, 1), 3, 0, 2),  # a row beyond the end
        ((0, 2), 6, 0, 2),  # a column beyond the width
        ((0, -1), 4, 0, 2),
        ((0, 1), 4, 5, 2),
        ((0, 1), 4, -1, 2),
        ((0, 1), 4, 0, 0),
    ],
)
def test_tables_that_do_not_hold_all_places_are_refused(places, values, begin, width):
    both = side(places=places), side(places=places)
    tables = _native.PairTables(np.ones(values), np.array([begin]), np.array([width]))
    with pytest.raises(ValueError):
        _native.longest_subsequences(*both, tables, 0.5, 0, 3, 100)
