import gc
import pickle

import numpy as np
import pytest

import kernelwood as kw
from kernelwood.arrays import SequenceBatch, TreeBatch
from kernelwood.errors import StructureError
from kernelwood.structures import Sequence, Tree

EXAMPLES = [
    kw.Example(
        str(i), label="ab"[i % 2], views={"tree": Tree(str(i)), "words": Sequence(["x"] * i)}
    )
    for i in range(6)
]


@pytest.fixture
def batch():
    return kw.batch(EXAMPLES)


def test_views_are_batched(batch):
    assert isinstance(batch.view("tree"), TreeBatch)
    assert isinstance(batch.view("words"), SequenceBatch)
    assert list(batch.view("tree")) == [e.view("tree") for e in EXAMPLES]


def test_a_view_is_batched_once(batch):
    assert batch.view("tree") is batch.view("tree")


def test_a_slice_keeps_the_batched_views(batch):
    vocabulary = batch.view("tree").vocabulary
    assert batch[2:4].view("tree").vocabulary is vocabulary


@pytest.mark.parametrize("asked_before", [True, False])
@pytest.mark.parametrize("key", [slice(1, 4), [5, 0], np.arange(6) > 3, slice(None, None, -2)])
def test_views_of_a_slice_are_slices_of_the_views(batch, key, asked_before):
    if asked_before:
        batch.view("words")
    expected = [EXAMPLES[i].view("words") for i in np.arange(6)[key]]
    assert list(batch[key].view("words")) == expected


def test_it_looks_like_a_one_dimensional_array(batch):
    assert (len(batch), batch.shape, batch.ndim) == (6, (6,), 1)
    assert np.asarray(batch).shape == (6,)
    assert list(batch) == EXAMPLES and batch[2] == EXAMPLES[2] and batch[-1] == EXAMPLES[-1]


def test_scikit_learn_indexing_works(batch):
    assert list(batch[np.array([2, 0]), ...]) == [EXAMPLES[2], EXAMPLES[0]]


def test_labels_are_listed(batch):
    assert batch.labels == ["a", "b"] * 3


def test_an_index_out_of_range_is_refused(batch):
    with pytest.raises(IndexError):
        batch[6]


def test_a_missing_view_is_named(batch):
    with pytest.raises(StructureError, match=r"no view 'word'\n.*did you mean 'words'"):
        batch.view("word")


def test_a_view_of_mixed_kinds_is_named():
    mixed = kw.batch(
        [kw.Example("1", views={"v": Tree("a")}), kw.Example("2", views={"v": Sequence(["a"])})]
    )
    with pytest.raises(StructureError, match="view 'v': structure 1 should be a tree"):
        mixed.view("v")


@pytest.mark.parametrize("view", ["some text", kw.Sentence("We go.")])
def test_a_view_that_is_no_structure_is_named(view):
    with pytest.raises(StructureError, match="view 'v': structure 0"):
        kw.batch([kw.Example("1", views={"v": view})]).view("v")


def test_pickle_gives_the_same_examples(batch):
    batch.view("tree")
    assert list(pickle.loads(pickle.dumps(batch))) == EXAMPLES


def test_repr_names_the_views(batch):
    assert repr(batch) == "ExampleBatch(6 examples, views tree, words)"


def test_views_share_a_vocabulary(batch):
    assert batch.view("tree").vocabulary is batch.view("words").vocabulary


@pytest.mark.parametrize("asked_before", [True, False])
@pytest.mark.parametrize("key", [slice(1, 4), [5, 0, 5], np.arange(6) > 3, slice(None, None, -2)])
def test_examples_may_lack_a_view(key, asked_before):
    listed = [kw.Example(str(i), i, {"tree": Tree(str(i))} if i % 2 else {}) for i in range(6)]
    batch = kw.batch(listed)
    if asked_before:
        batch.column("tree")
    assert list(batch) == listed
    assert list(batch[key]) == [listed[i] for i in np.arange(6)[key]]


def test_a_view_that_an_example_lacks_is_named():
    batch = kw.batch([kw.Example("a", views={"tree": Tree("x")}), kw.Example("b")])
    with pytest.raises(StructureError, match="example 'b' has no view 'tree'"):
        batch.view("tree")


def test_rows_know_the_table_they_were_taken_from(batch):
    source, rows = batch[1:][[3, 0]].taken_from()
    assert source is batch and rows.tolist() == [4, 1]
    assert batch.taken_from() is None


def test_rows_do_not_keep_their_table_alive():
    rows = kw.batch(EXAMPLES)[2:4]
    gc.collect()
    assert rows.taken_from() is None
    assert pickle.loads(pickle.dumps(rows)).taken_from() is None


def test_examples_with_the_views_asked_for(batch):
    assert batch.only(["tree"]).views == ("tree",)
    assert batch.only(["words", "tree"]) is batch
    with pytest.raises(StructureError, match="has no view 'tre'"):
        batch.only(["tre"])


def test_groups_are_cut_like_other_columns():
    table = kw.arrays.ExampleBatch(["a", "b", "c"], groups=["d1", "d1", "d2"])
    assert table[1:].groups == ["d1", "d2"]


def test_a_view_of_texts_says_how_to_make_structures():
    examples = [kw.Example("q1", "a", {"quest": "who is it"})]
    with pytest.raises(StructureError, match=r"view 'quest': .*got str\n.*example.with_views"):
        kw.batch(examples).view("quest")
