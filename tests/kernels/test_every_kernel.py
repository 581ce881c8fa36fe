"""What holds for every row of ``KERNELS``, whatever it computes."""

import pickle

import numpy as np
import pytest
from cases import (
    every_bounded_variant,
    every_definite_variant,
    every_dtype,
    every_engine,
    every_exact_variant,
    every_kernel,
    every_variant,
    sample,
    strategy,
    with_labels,
)
from hypothesis import given, settings, strategies as st

import kernelwood as kw
from kernelwood.structures import Forest, Graph, Sequence, Tree

pytestmark = pytest.mark.filterwarnings("ignore:.*self-similarity 0:RuntimeWarning")


def single(kernel, label):
    """Return the structure of one node that a kernel reads."""
    make = {
        kw.arrays.SequenceBatch: lambda x: Sequence([x]),
        kw.arrays.ForestBatch: lambda x: Forest([x], [], 0),
        kw.arrays.GraphBatch: lambda x: Graph([x]),
    }
    return make.get(kernel.accepts, Tree)(label)


# What a kernel is.


@every_variant
def test_gram_is_symmetric_to_the_last_bit(kernel):
    matrix = kernel.gram(sample(kernel, 40))
    np.testing.assert_array_equal(matrix, matrix.T)


@every_definite_variant
def test_gram_is_positive_semidefinite(kernel):
    @settings(max_examples=10)
    @given(st.lists(strategy(kernel), min_size=2, max_size=6))
    def check(structures):
        assert np.linalg.eigvalsh(kernel.gram(structures)).min() >= -1e-9

    check()


@every_definite_variant
def test_gram_of_many_is_positive_semidefinite(kernel):
    assert np.linalg.eigvalsh(kernel.gram(sample(kernel, 150, seed=5))).min() >= -1e-9


@every_variant
def test_normalized_structures_have_self_similarity_one(kernel):
    structures = sample(kernel, 30)
    for dtype in ("float64", "float32"):
        np.testing.assert_array_equal(kernel.gram(structures, dtype=dtype).diagonal(), 1)
    np.testing.assert_array_equal(kernel.diag(structures), 1)


@every_bounded_variant
@every_dtype
def test_normalized_values_lie_between_zero_and_one(kernel, dtype):
    # Equal structures: without a bound, rounding makes some of their values greater than 1.
    structures = [s for s in sample(kernel, 40, seed=3) for _ in range(3)]
    gram = kernel.gram(structures, dtype=dtype)
    cross = kernel.cross(structures, structures[::-1], dtype=dtype)
    for matrix in (gram, cross):
        assert matrix.min() >= 0 and matrix.max() == 1
    assert kernel.neighbors(structures, structures, 1, dtype=dtype)[1].max() == 1
    assert kernel.pairs(structures, structures, dtype=dtype).max() == 1


@every_definite_variant
def test_normalized_values_exceed_one_by_rounding_at_most(kernel):
    matrix = kernel.gram(sample(kernel, 60))
    assert matrix.min() >= 0 and matrix.max() <= 1 + 1e-12


@every_variant
def test_raw_diag_is_the_diagonal_of_the_raw_gram(kernel):
    raw = kernel.clone().set_params(normalize=False)
    structures = sample(kernel, 30)
    np.testing.assert_allclose(raw.diag(structures), raw.gram(structures).diagonal(), rtol=1e-14)


@every_kernel
def test_nothing_to_compare_gives_zero_and_a_warning(kernel):
    nothing = single(kernel, "x") if kernel.accepts is not kw.arrays.SequenceBatch else Sequence([])
    if kernel.clone().set_params(normalize=False).value(nothing, nothing) > 0:
        pytest.skip("a single node counts for this kernel")
    with pytest.warns(RuntimeWarning, match=r"1 structure\(s\) have self-similarity 0"):
        matrix = kernel.gram([nothing, *sample(kernel, 3)])
    np.testing.assert_array_equal(matrix[0], 0)


@every_kernel
def test_equal_structures_are_completely_similar(kernel):
    a = sample(kernel, 1, seed=3)[0]
    assert kernel.value(a, pickle.loads(pickle.dumps(a))) == pytest.approx(1, abs=1e-14)


# What must not matter.


@every_exact_variant
def test_renaming_labels_changes_no_bit(kernel):
    structures = sample(kernel, 30)
    renamed = [with_labels(s, lambda label: f"{'zyx'['abc'.index(label)]} ñ") for s in structures]
    np.testing.assert_array_equal(kernel.gram(renamed), kernel.gram(structures))


@every_variant
def test_interning_order_changes_no_bit(kernel):
    structures = sample(kernel, 30)
    other_order = kw.batch(
        structures, vocabulary=kw.arrays.Vocabulary(["e", "unused", "c", "b", "a"])
    )
    np.testing.assert_array_equal(kernel.gram(other_order), kernel.gram(structures))


@every_kernel
def test_batches_with_different_vocabularies_are_compared_by_label(kernel):
    structures = sample(kernel, 30)
    left = kw.batch(structures[:10], vocabulary=kw.arrays.Vocabulary(["c", "a"]))
    right = kw.batch(structures[10:], vocabulary=kw.arrays.Vocabulary(["unused", "e", "b"]))
    expected = kernel.cross(structures[:10], structures[10:])
    np.testing.assert_array_equal(kernel.cross(left, right), expected)


@every_kernel
def test_batches_with_one_vocabulary_are_compared_by_label(kernel):
    structures = sample(kernel, 30)
    vocabulary = kw.arrays.Vocabulary()
    left, right = (kw.batch(s, vocabulary=vocabulary) for s in (structures[:10], structures[10:]))
    expected = kernel.cross(structures[:10], structures[10:])
    np.testing.assert_array_equal(kernel.cross(left, right), expected)


@every_kernel
def test_labels_unknown_to_the_other_side_match_nothing(kernel):
    known = sample(kernel, 10)
    unknown = [with_labels(s, lambda label: f"{label} unknown") for s in known]
    batch = kw.batch(known)
    assert not kernel.cross(batch, kw.batch(unknown)).any()
    assert len(batch.vocabulary) <= 5  # and are not added to it


@every_variant
def test_other_structures_change_no_bit_of_a_pair(kernel):
    # Many labels: most match nothing among the few, but something among all.
    structures = sample(kernel, 80, alphabet=[*"abcdefghijklmnop"])
    for dtype in ("float64", "float32"):
        few = kernel.gram(structures[:30], dtype=dtype)
        np.testing.assert_array_equal(kernel.gram(structures, dtype=dtype)[:30, :30], few)


@every_engine
@every_dtype
def test_tile_size_changes_no_bit_of_a_gram(kernel, dtype, monkeypatch):
    structures = kw.batch(sample(kernel, 300))
    whole = kernel.gram(structures, dtype=dtype)
    # Sequences are sorted by length in windows of 256, which tiles must not cut.
    monkeypatch.setattr("kernelwood.kernels.kernel.TILE", 256)
    np.testing.assert_array_equal(kernel.gram(structures, dtype=dtype), whole)


@every_engine
def test_tile_size_changes_no_bit_of_a_cross(kernel, monkeypatch):
    structures = kw.batch(sample(kernel, 300))
    whole = kernel.cross(structures, structures[:150])
    monkeypatch.setattr("kernelwood.kernels.kernel.TILE", 128)
    np.testing.assert_array_equal(kernel.cross(structures, structures[:150]), whole)


@every_kernel
@pytest.mark.parametrize(("queries", "searched"), [(128, 128), (1, 64), (1000, 7)])
def test_block_size_changes_no_neighbor(kernel, queries, searched, monkeypatch):
    structures = kw.batch(sample(kernel, 200))
    whole = kernel.neighbors(structures[:50], structures, 5)
    monkeypatch.setattr("kernelwood.kernels.kernel._QUERIES", queries)
    monkeypatch.setattr("kernelwood.kernels.kernel._SEARCHED", searched)
    cut = kernel.neighbors(structures[:50], structures, 5)
    np.testing.assert_array_equal(cut[0], whole[0])
    np.testing.assert_array_equal(cut[1], whole[1])


@every_engine
@every_dtype
def test_number_of_threads_changes_no_bit_of_a_gram(kernel, dtype, force_threads):
    structures = kw.batch(sample(kernel, 200))
    alone, together = (
        kernel.clone().set_params(n_jobs=n_jobs, dtype=dtype).gram(structures) for n_jobs in (1, 5)
    )
    np.testing.assert_array_equal(together, alone)


@every_kernel
def test_number_of_threads_changes_no_bit_of_a_cross(kernel, force_threads):
    structures = kw.batch(sample(kernel, 200))
    alone, together = (
        kernel.clone().set_params(n_jobs=n_jobs).cross(structures, structures[:90])
        for n_jobs in (1, 3)
    )
    np.testing.assert_array_equal(together, alone)


@every_kernel
def test_running_on_threads_changes_no_bit(kernel, monkeypatch):
    structures = kw.batch(sample(kernel, 100))
    kernel = kernel.clone().set_params(n_jobs=3)
    inline = kernel.gram(structures)
    monkeypatch.setattr("kernelwood.compute.runner._INLINE_COST", 0)
    np.testing.assert_array_equal(kernel.gram(structures), inline)


# Odd sizes.


@every_kernel
def test_nothing_gives_empty_matrices(kernel):
    some = sample(kernel, 3)
    shapes = [
        kernel.gram([]).shape,
        kernel.cross([], some).shape,
        kernel.cross(some, []).shape,
        kernel.diag([]).shape,
        kernel.pairs([], []).shape,
        kernel.neighbors([], some, 2)[0].shape,
    ]
    assert shapes == [(0, 0), (0, 3), (3, 0), (0,), (0,), (0, 2)]


@every_kernel
def test_an_empty_slice_of_a_batch_gives_empty_matrices(kernel):
    batch = kw.batch(sample(kernel, 5))
    assert kernel.gram(batch[3:3]).shape == (0, 0)
    assert kernel.cross(batch[:0], batch).shape == (0, 5)


@every_kernel
def test_a_slice_of_a_batch_gives_the_slice_of_the_matrix(kernel):
    batch = kw.batch(sample(kernel, 40))
    expected = kernel.cross(batch, batch)[10:20, 25:]
    np.testing.assert_array_equal(kernel.cross(batch[10:20], batch[25:]), expected)


@every_kernel
def test_one_structure_gives_one_value(kernel):
    assert kernel.gram(sample(kernel, 1)).tolist() == [[1]]


@every_kernel
def test_single_nodes_are_compared(kernel):
    matrix = kernel.gram([single(kernel, label) for label in ("a", "b", "a", "")])
    assert np.isfinite(matrix).all()
    assert matrix[0, 1] == matrix[0, 3] == 0


# Arrays from elsewhere.


def from_groups(batch, change):
    """Return a batch made from another's arrays after ``change(offsets, array)`` of each."""
    groups = [
        (part.offsets, *(change(part.offsets, array) for array in part.arrays))
        for part in batch.parts
    ]
    if isinstance(batch, kw.arrays.ForestBatch):
        *groups, (offsets, *roots) = groups
        groups.append([array[offsets[0] :] for array in roots])  # there is one root a forest
    else:
        (groups,) = groups
    return type(batch).from_arrays(*groups, vocabulary=batch.vocabulary)


@every_kernel
def test_read_only_arrays_are_accepted(kernel):
    def read_only(offsets, array):
        array = array.copy()
        array.flags.writeable = False
        return array

    batch = kw.batch(sample(kernel, 20))
    wrapped = from_groups(batch, read_only)
    np.testing.assert_array_equal(kernel.gram(wrapped), kernel.gram(batch))


@every_kernel
def test_memory_mapped_arrays_are_accepted(kernel, tmp_path):
    def mapped(offsets, array):
        path = tmp_path / f"{len([*tmp_path.iterdir()])}.npy"
        np.save(path, array)
        return np.load(path, mmap_mode="r")

    batch = kw.batch(sample(kernel, 20))
    wrapped = from_groups(batch, mapped)
    np.testing.assert_array_equal(kernel.gram(wrapped), kernel.gram(batch))


@every_kernel
def test_what_lies_outside_the_offsets_is_ignored(kernel):
    def spoiled(offsets, array):
        array = array.copy()
        array[: offsets[0]] = -9
        return array

    window = kw.batch(sample(kernel, 20))[5:]
    wrapped = from_groups(window, spoiled)
    others = sample(kernel, 4, seed=1)
    np.testing.assert_array_equal(kernel.cross(others, wrapped), kernel.cross(others, window))


@every_variant
def test_repeated_structures_have_the_bits_of_single_ones(kernel):
    some, others = sample(kernel, 12)[:5], sample(kernel, 12)[5:]
    once = kernel.cross(some, others)
    rows, columns = [0, 3, 3, 1, 4, 0, 3, 2] * 3, [2, 2, 6, 0, 1, 5, 3, 4, 2] * 2
    repeated = kernel.cross([some[i] for i in rows], [others[j] for j in columns])
    assert np.array_equal(repeated, once[np.ix_(rows, columns)])


@every_variant
def test_changed_parameters_are_not_answered_from_memory(kernel):
    batch = kw.batch(sample(kernel, 6))
    kernel = kernel.clone()
    kernel.cross(batch, batch)
    changed = {"decay": 0.3, "max_length": 1}
    kernel.set_params(**{name: changed[name] for name in changed if name in kernel.get_params()})
    fresh = kw.batch(sample(kernel, 6))
    assert np.array_equal(kernel.cross(batch, batch), kernel.cross(fresh, fresh))
