import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH
from strategies import chain, sample_sequences, sample_trees, sequences, star, trees

import kernelwood as kw
from kernelwood.arrays import SequenceBatch, TreeBatch, Vocabulary
from kernelwood.errors import StructureError
from kernelwood.structures import Sequence, Tree

SAMPLES = {"trees": sample_trees(12), "sequences": sample_sequences(12)}
every_kind = pytest.mark.parametrize("structures", SAMPLES.values(), ids=SAMPLES)


@given(st.lists(trees(), min_size=1, max_size=4))
def test_trees_come_back_as_they_went_in(structures):
    assert list(kw.batch(structures)) == structures


@given(st.lists(sequences(), min_size=1, max_size=4))
def test_sequences_come_back_as_they_went_in(structures):
    assert list(kw.batch(structures)) == structures


@pytest.mark.parametrize("tree", [chain(DEPTH, label=str), star(DEPTH)], ids=["deep", "wide"])
def test_hostile_shapes_come_back(tree):
    assert kw.batch([tree])[0] == tree


@every_kind
@pytest.mark.parametrize(
    "key",
    [
        slice(None),
        slice(2, 7),
        slice(7, 2),
        slice(-3, None),
        slice(None, None, 3),
        slice(None, None, -1),
        slice(50, 60),
        [0, 5, 5, -1],
        [],
        np.array([3, 1]),
        np.array([], dtype=int),
        np.arange(12) % 3 == 0,
        [True, False] * 6,
        np.zeros(12, dtype=bool),
        (np.array([4, 2]), ...),
        (slice(1, 3), ...),
    ],
    ids=str,
)
def test_slicing_is_that_of_an_array(structures, key):
    array = np.empty(12, dtype=object)
    array[:] = structures
    assert list(kw.batch(structures)[key]) == list(array[key])


@every_kind
@pytest.mark.parametrize("index", [0, 5, -1, -12, np.int64(3), np.int32(-2)])
def test_an_integer_gives_a_structure(structures, index):
    assert kw.batch(structures)[index] == structures[index]


@every_kind
@pytest.mark.parametrize("index", [12, -13, 10**9])
def test_an_index_out_of_range_is_named(structures, index):
    with pytest.raises(IndexError, match=str(index)):
        kw.batch(structures)[index]


@every_kind
@pytest.mark.parametrize("key", [[12], np.zeros(5, dtype=bool), [[0, 1]], None, "a", 1.5])
def test_what_is_no_index_is_refused(structures, key):
    with pytest.raises((IndexError, TypeError)):
        kw.batch(structures)[key]


@every_kind
def test_slices_of_slices_are_sliced_again(structures):
    assert list(kw.batch(structures)[2:10][[7, 0]][::-1]) == [structures[2], structures[9]]


@every_kind
@pytest.mark.parametrize("indices", [[0, 3], [-1, -12], []])
def test_take_gives_the_structures_asked_for(structures, indices):
    taken = kw.batch(structures).take(np.array(indices, dtype=int))
    assert list(taken) == [structures[i] for i in indices]


@every_kind
def test_plain_slices_copy_nothing(structures):
    batch = kw.batch(structures)
    assert np.shares_memory(batch[2:5].arrays[0], batch.arrays[0])


@every_kind
def test_shape_is_that_of_a_one_dimensional_array(structures):
    batch = kw.batch(structures)
    assert (len(batch), batch.shape, batch.ndim) == (12, (12,), 1)


@every_kind
def test_sizes_count_elements(structures):
    batch = kw.batch(structures)[3:]
    sizes = [s.n_nodes if isinstance(s, Tree) else len(s) for s in structures[3:]]
    assert batch.sizes.tolist() == sizes and batch.n_elements == sum(sizes)


@every_kind
def test_arrays_are_read_only(structures):
    batch = kw.batch(structures)
    for array in (batch.offsets, *batch.arrays, *batch[[1, 2]].arrays):
        assert not array.flags.writeable


@every_kind
def test_a_batch_becomes_an_object_array(structures):
    array = np.asarray(kw.batch(structures))
    assert array.dtype == object and array.shape == (12,) and list(array) == structures


def test_equally_long_sequences_become_no_matrix():
    assert np.asarray(kw.batch([Sequence(["a", "b"])] * 3)).shape == (3,)


@every_kind
def test_pickle_gives_the_same_structures(structures):
    copy = pickle.loads(pickle.dumps(kw.batch(structures)[3:6]))
    assert list(copy) == structures[3:6]


@every_kind
def test_a_pickled_slice_leaves_the_rest_behind(structures):
    few, all_of_them = (kw.batch(structures * 200)[:n] for n in (2, 2400))
    assert len(pickle.dumps(few)) < len(pickle.dumps(all_of_them)) / 10


def test_repr_counts():
    assert repr(kw.batch([Tree("a", [Tree("b")])])) == "TreeBatch(1 trees, 2 nodes)"
    assert repr(kw.batch([Sequence(["a"] * 1500)])) == "SequenceBatch(1 sequences, 1,500 elements)"


# from_arrays.


def tree_arrays(offsets=(0, 3), labels=(1, 2, 1), edges=(0, 0, 0), n_children=(0, 0, 2)):
    return (
        np.array(offsets, dtype=np.int64),
        *(np.array(a, dtype=np.int32) for a in (labels, edges, n_children)),
    )


VOCABULARY = Vocabulary(["a", "b"])


def test_arrays_are_wrapped():
    batch = TreeBatch.from_arrays(*tree_arrays(), vocabulary=VOCABULARY)
    assert list(batch) == [Tree("a", [Tree("a"), Tree("b")])]


def test_arrays_are_not_copied_and_stay_writeable():
    arrays = tree_arrays()
    batch = TreeBatch.from_arrays(*arrays, vocabulary=VOCABULARY)
    assert np.shares_memory(batch.arrays[0], arrays[1]) and arrays[1].flags.writeable


def test_offsets_may_start_inside():
    arrays = tree_arrays((1, 4), (9, 1, 2, 1), (9, 0, 0, 0), (7, 0, 0, 2))
    batch = TreeBatch.from_arrays(*arrays, vocabulary=VOCABULARY)
    assert list(batch) == [Tree("a", [Tree("a"), Tree("b")])]


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        (tree_arrays(offsets=()), "offsets"),
        (tree_arrays(offsets=(-1, 3)), "offsets"),
        (tree_arrays(offsets=(0, 3, 2)), "offsets"),
        (tree_arrays(offsets=(0, 4)), "offsets end at 4.*3"),
        (tree_arrays(edges=(0, 0)), r"lengths \[2, 3\]"),
        (tree_arrays(labels=(1, 3, 1)), "labels hold ids outside the vocabulary of 3"),
        (tree_arrays(edges=(0, -1, 0)), "edges hold ids outside"),
        (tree_arrays(n_children=(0, 0, 1)), "post-order"),
        (tree_arrays(n_children=(0, 0, 3)), "post-order"),
        (tree_arrays(n_children=(1, 0, 2)), "post-order"),
        (tree_arrays(n_children=(0, -1, 2)), "post-order"),
        (tree_arrays(n_children=(0, 2**31 - 1, 2)), "post-order"),
        (tree_arrays(offsets=(0, 0, 3)), "post-order"),
        (tree_arrays(offsets=(0, 1, 3), n_children=(0, 0, 2)), "post-order"),
    ],
)
def test_arrays_that_are_no_trees_are_refused(arrays, complaint):
    with pytest.raises(StructureError, match=complaint):
        TreeBatch.from_arrays(*arrays, vocabulary=VOCABULARY)


@pytest.mark.parametrize(
    ("offsets", "labels", "complaint"),
    [
        (np.array([0, 1]), np.array([1]), "labels must .* int32.*int64"),
        (np.array([0, 1], dtype=np.int32), np.array([1], dtype=np.int32), "offsets must .* int64"),
        ([0, 1], np.array([1], dtype=np.int32), "offsets .* list"),
        (np.array([[0, 1]]), np.array([1], dtype=np.int32), "one-dimensional"),
        (np.array([0, 1, 2])[::2], np.array([1, 1], dtype=np.int32), "contiguous"),
        (np.array([0, 1], dtype=">i8"), np.array([1], dtype=np.int32), "offsets must"),
    ],
)
def test_arrays_of_the_wrong_type_are_named(offsets, labels, complaint):
    with pytest.raises(StructureError, match=complaint):
        SequenceBatch.from_arrays(offsets, labels, labels, vocabulary=VOCABULARY)


def test_a_missing_array_is_named():
    with pytest.raises(StructureError, match="n_children"):
        TreeBatch.from_arrays(*tree_arrays()[:3], vocabulary=VOCABULARY)


def test_empty_batches_are_wrapped():
    arrays = tree_arrays((0,), (), (), ())
    assert list(TreeBatch.from_arrays(*arrays, vocabulary=VOCABULARY)) == []


# Vocabularies.


@every_kind
def test_translation_leaves_the_other_vocabulary_alone(structures):
    other = Vocabulary(["c", "x"])
    translated = kw.batch(structures).in_vocabulary(other)
    assert len(other) == 3
    label = next(iter(structures[0].preorder() if isinstance(structures[0], Tree) else "a"))
    assert translated.arrays[0].shape == kw.batch(structures).arrays[0].shape and label


def test_translation_uses_the_ids_of_the_other_vocabulary():
    batch = kw.batch([Sequence(["a", "c", "q"])]).in_vocabulary(Vocabulary(["c", "x"]))
    labels = batch.arrays[0].tolist()
    assert labels[1] == 1 and min(labels[0], labels[2]) >= 3 and labels[0] != labels[2]


def test_a_translated_batch_decodes_to_the_same_structures():
    structures = [Sequence(["a", "c"]), Sequence(["c"])]
    assert list(kw.batch(structures).in_vocabulary(Vocabulary(["z", "c", "a"]))) == structures


@given(st.one_of(*(st.lists(st.sampled_from(some), max_size=9) for some in SAMPLES.values())))
def test_equal_structures_form_one_group(structures):
    if not structures:
        return
    first, group = kw.batch(structures)[:].distinct()
    assert [structures[place] for place in first] == list(dict.fromkeys(structures))
    assert [structures[first[at]] for at in group] == structures


@every_kind
def test_groups_of_a_slice_are_its_own(structures):
    batch = kw.batch([*structures, *structures])
    assert len(batch.distinct()[0]) == len({*structures})
    assert len(batch[3:9].distinct()[0]) == len({*structures[3:9]})


def test_structures_whose_hashes_collide_are_all_distinct(monkeypatch):
    monkeypatch.setattr("kernelwood.arrays.ragged._scramble", lambda n: n.astype(np.uint64) * 0)
    structures = [Sequence(["a", "b"]), Sequence(["b", "a"]), Sequence(["a", "b"])]
    first, group = kw.batch(structures).distinct()
    assert first.tolist() == group.tolist() == [0, 1, 2]


def test_a_batch_keeps_the_last_values_only():
    batch, computed = kw.batch([Sequence(["a"])]), []
    for key in [*range(20), 19, 0]:
        assert batch.remember(key, lambda key=key: computed.append(key) or key) == key
    assert computed == [*range(20), 0]
    assert len(batch.kept) < 20
