"""Batches of sequences, trees and forests come back equal, and hostile arrays are refused."""

import json

import numpy as np
import pytest
import strategies
from hypothesis import given, strategies as st
from scipy.sparse import csr_matrix
from sizes import DEPTH

import kernelwood as kw
from kernelwood.arrays import (
    ForestBatch,
    GraphBatch,
    SequenceBatch,
    TreeBatch,
    VectorBatch,
    Vocabulary,
)
from kernelwood.errors import ModelFormatError
from kernelwood.persist import MODELS, load, save
from kernelwood.persist.archive import array_chunks, dump_text
from kernelwood.persist.structures import flat_state

HOSTILE = [
    "", " ", "(", ")", "(a b)", "[e]a", "a\nb", "\r", "\0", "\ud800", "\udc00\ud800", "é", "é",
    "名 詞", "\\", '"', "|", "\u2028", "-LRB-", "null", "x" * 1000,
]  # fmt: skip
_any_label = st.one_of(
    st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=()), max_size=4)
)

KINDS = {
    "sequences": (SequenceBatch, kw.SubsequenceKernel(), strategies.sample_sequences),
    "trees": (TreeBatch, kw.PartialTreeKernel(), strategies.sample_trees),
    "forests": (ForestBatch, kw.ForestKernel(), strategies.sample_forests),
    "graphs": (GraphBatch, kw.WeisfeilerLehmanKernel(), strategies.sample_graphs),
    "vectors": (VectorBatch, kw.VectorKernel(), strategies.sample_features),
}
every_kind = pytest.mark.parametrize("name", KINDS)


def through_state(batch):
    """Return a batch that was plain values in between, strings and arrays as bytes."""
    row = next(row for row in MODELS.values() if row.cls is type(batch))
    return row.from_state(row.cls, row.to_state(batch))


# Everything comes back equal.


@given(st.lists(strategies.sequences(of=_any_label), max_size=4))
def test_any_sequences_come_back_equal(sequences):
    batch = kw.batch(sequences, kind=SequenceBatch)
    assert list(through_state(batch)) == sequences


@given(st.lists(strategies.trees(of=_any_label), max_size=4))
def test_any_trees_come_back_equal(trees):
    assert list(through_state(kw.batch(trees, kind=TreeBatch))) == trees


@given(st.lists(strategies.forests(), max_size=4))
def test_any_forests_come_back_equal(forests):
    assert list(through_state(kw.batch(forests, kind=ForestBatch))) == forests


@given(st.lists(strategies.small_graphs(of=_any_label), max_size=4))
def test_any_graphs_come_back_equal(graphs):
    assert list(through_state(kw.batch(graphs, kind=GraphBatch))) == graphs


@given(st.lists(st.dictionaries(_any_label, st.floats(-9, 9)), max_size=4))
def test_any_features_come_back_equal(rows):
    assert list(through_state(kw.batch(rows, kind=VectorBatch))) == rows


@pytest.mark.parametrize("make", [np.asarray, csr_matrix])
@pytest.mark.parametrize("part", [slice(None), slice(1, None), slice(2, 2)])
def test_rows_of_a_matrix_come_back_equal(make, part, round_trip):
    batch = kw.batch(make([[0.1, 0.0, -2.5], [0.0, 0.0, 0.0], [1e-300, 3.0, 0.0]]))[part]
    again = round_trip(batch)
    assert list(again) == list(batch) and again.width == 3 and again.is_dense == batch.is_dense


def test_labels_that_a_text_form_would_lose_survive_in_a_file(round_trip):
    sequences = [kw.Sequence([(edge, node) for edge in HOSTILE]) for node in HOSTILE]
    assert list(round_trip(kw.batch(sequences))) == sequences


def test_edges_of_trees_survive_in_a_file(round_trip):
    trees = [kw.Tree(label, [kw.Tree("x", edge="[é"), kw.Tree("")], "root") for label in HOSTILE]
    assert list(round_trip(kw.batch(trees))) == trees


def test_forests_with_and_without_spans_survive_in_a_file(round_trip):
    spanned = kw.Forest.from_trees([kw.Tree.from_brackets("(S (A x) y)")])
    plain = kw.Forest(["NP", "\0"], [(0, (1,), 0.1)], 0, fallback=True)
    assert list(round_trip(kw.batch([plain, spanned, plain]))) == [plain, spanned, plain]


def test_a_tree_of_any_depth_survives(round_trip):
    tree = strategies.chain(DEPTH, lambda level: f"n{level % 7}")
    assert list(round_trip(kw.batch([tree]))) == [tree]


def test_a_forest_of_any_depth_survives(round_trip):
    edges = [(node, (node + 1,), 0.5) for node in range(DEPTH - 1)]
    forest = kw.Forest(["n"] * DEPTH, edges, 0)
    assert list(round_trip(kw.batch([forest]))) == [forest]


@every_kind
def test_an_empty_batch_survives(name, round_trip):
    cls, kernel, _ = KINDS[name]
    again = round_trip(kw.batch([], kind=cls))
    assert type(again) is cls and len(again) == 0 and kernel.gram(again).shape == (0, 0)


def test_a_batch_of_empty_sequences_survives(round_trip):
    assert list(round_trip(kw.batch([kw.Sequence()] * 3))) == [kw.Sequence()] * 3


# Kernels see no difference.


@every_kind
@pytest.mark.parametrize(
    "part", [slice(None), slice(7, 30), [3, 3, 39, 0]], ids=["all", "slice", "rows"]
)
def test_kernel_values_have_the_same_bits(name, part, round_trip):
    _, kernel, sample = KINDS[name]
    batch = kw.batch(sample(40, alphabet=("z", "a", "m", "", "k")))
    again = round_trip(batch[part])
    assert kernel.cross(batch, again).tobytes() == kernel.cross(batch, batch[part]).tobytes()
    assert kernel.cross(again, batch).tobytes() == kernel.cross(batch[part], batch).tobytes()
    assert kernel.gram(again).tobytes() == kernel.gram(batch[part]).tobytes()


def test_values_of_a_soft_kernel_have_the_same_bits(round_trip):
    rng = np.random.default_rng(2)
    words = [f"w{i}" for i in range(300)]
    vectors = kw.Vectors(words, rng.normal(size=(300, 50)))
    kernel = kw.SubsequenceKernel(similarity=kw.similarity.Gaussian(vectors))
    batch = kw.batch([kw.Sequence(rng.choice(words, 8).tolist()) for _ in range(60)])
    again = round_trip(batch[20:30])
    assert kernel.cross(batch, again).tobytes() == kernel.cross(batch, batch[20:30]).tobytes()


@every_kind
def test_what_was_loaded_gives_the_same_bytes(name, tmp_path):
    _, _, sample = KINDS[name]
    save(kw.batch(sample(20))[5:], tmp_path / "one.kw")
    save(load(tmp_path / "one.kw"), tmp_path / "two.kw")
    assert (tmp_path / "one.kw").read_bytes() == (tmp_path / "two.kw").read_bytes()


@every_kind
def test_arrays_of_a_loaded_batch_cannot_be_written(name, round_trip):
    again = round_trip(kw.batch(KINDS[name][2](3)))
    assert not any(array.flags.writeable for part in again.parts for array in part.arrays)


# A slice saves small.


def test_a_slice_of_a_large_batch_is_saved_alone(tmp_path):
    batch = kw.batch([kw.Sequence([f"word{i}", "the"]) for i in range(20_000)])
    save(batch[100:102], tmp_path / "slice.kw")
    assert (tmp_path / "slice.kw").stat().st_size < 3000


def test_the_vocabulary_is_the_labels_in_use_in_their_old_order():
    batch = kw.batch([kw.Sequence(["c", ("e", "b")]), kw.Sequence([("", "d"), ("a", "c")])])
    state = flat_state(batch[1:])
    assert state.texts == {"vocabulary": ["c", "d", "a"]}
    assert [state.arrays[name].tolist() for name in ("offsets", "labels", "edges")] == [
        [0, 2], [2, 1], [0, 3],
    ]  # fmt: skip


def test_saving_leaves_the_batch_as_it_was(tmp_path):
    batch = kw.batch([kw.Sequence(["a", "b"]), kw.Sequence(["c"])])
    save(batch[1:], tmp_path / "slice.kw")
    assert list(batch.vocabulary) == ["", "a", "b", "c"]
    assert list(batch) == [kw.Sequence(["a", "b"]), kw.Sequence(["c"])]


def test_a_batch_in_the_vocabulary_of_another_is_refused(tmp_path):
    other = kw.arrays.Vocabulary(["x"])
    batch = kw.batch([kw.Sequence(["a", "b"])]).in_vocabulary(other)
    with pytest.raises(ModelFormatError, match="label numbers of another vocabulary"):
        save(batch, tmp_path / "batch.kw")


# Hostile arrays.


def array(values, dtype):
    return b"".join(array_chunks(np.array(values, dtype=dtype)))


SEQUENCES = kw.batch([kw.Sequence([("e", "a"), "b"]), kw.Sequence(["a"])])
TREES = kw.batch([kw.Tree("S", [kw.Tree("x"), kw.Tree("y")]), kw.Tree("z")])
FORESTS = kw.batch([kw.Forest(["NP", "x", "y"], [(0, (1,), 0.5), (0, (2,), 0.5)], 0)])
FEATURES = kw.batch([{"a": 1.0, "b": 2.0}, {"b": -1.0}], vocabulary=Vocabulary(["a", "b"]))
DENSE = kw.batch(np.array([[1.0, 2.0], [3.0, 4.0]]))
NUMBERED = kw.batch(csr_matrix([[1.0, 2.0], [0.0, -1.0]]))


@pytest.mark.parametrize(
    ("batch", "member", "content"),
    [
        (SEQUENCES, "labels.npy", array([0, 1, 99], "i4")),
        (SEQUENCES, "labels.npy", array([0, 1, -1], "i4")),
        (SEQUENCES, "labels.npy", array([0, 1, 1], "i8")),
        (SEQUENCES, "labels.npy", array([0, 1, 1], "f4")),
        (SEQUENCES, "labels.npy", array([[0, 1, 1]], "i4")),
        (SEQUENCES, "labels.npy", array(1, "i4")),
        (SEQUENCES, "labels.npy", array([0, 1], "i4")),
        (SEQUENCES, "edges.npy", array([0, 1, 2**31 - 1], "i4")),
        (SEQUENCES, "offsets.npy", array([], "i8")),
        (SEQUENCES, "offsets.npy", array([0, 2, 4], "i8")),
        (SEQUENCES, "offsets.npy", array([0, 3, 2], "i8")),
        (SEQUENCES, "offsets.npy", array([-1, 2, 3], "i8")),
        (SEQUENCES, "offsets.npy", array([0, 2, 2**62], "i8")),
        (SEQUENCES, "offsets.npy", array([0, 2, 3], "i4")),
        (SEQUENCES, "vocabulary.txt", dump_text(["a", "b"])),
        (SEQUENCES, "vocabulary.txt", dump_text(["a", "b", "b", "e"])),
        (SEQUENCES, "vocabulary.txt", dump_text(["", "a", "b", "e"])),
        (SEQUENCES, "vocabulary.txt", b"1\n2\n3\n"),
        (TREES, "n_children.npy", array([0, 0, 3, 0], "i4")),
        (TREES, "n_children.npy", array([0, 0, 1, 0], "i4")),
        (TREES, "n_children.npy", array([0, 0, 1, 1], "i4")),
        (TREES, "n_children.npy", array([0, 0, -1, 0], "i4")),
        (TREES, "n_children.npy", array([2**31 - 1, 0, 2, 0], "i4")),
        (TREES, "offsets.npy", array([0, 3, 3, 4], "i8")),
        (FORESTS, "heads.npy", array([0, 3], "i4")),
        (FORESTS, "heads.npy", array([1, 2], "i4")),
        (FORESTS, "children.npy", array([1, 0], "i4")),
        (FORESTS, "children.npy", array([1, -2], "i4")),
        (FORESTS, "children.npy", array([1, 1], "i4")),
        (FORESTS, "n_children.npy", array([1, 0], "i4")),
        (FORESTS, "n_children.npy", array([2, 1], "i4")),
        (FORESTS, "probabilities.npy", array([0.5, 1.5], "f8")),
        (FORESTS, "probabilities.npy", array([0.5, np.nan], "f8")),
        (FORESTS, "probabilities.npy", array([0.5, 0.5], "f4")),
        (FORESTS, "roots.npy", array([3], "i4")),
        (FORESTS, "roots.npy", array([0, 0], "i4")),
        (FORESTS, "roots.npy", array(0, "i4")),
        (FORESTS, "fallbacks.npy", array([], "i4")),
        (FORESTS, "node_offsets.npy", array([0, 0], "i8")),
        (FORESTS, "edge_offsets.npy", array([0, 5], "i8")),
        (FORESTS, "child_offsets.npy", array([0, 1, 2], "i8")),
        (FORESTS, "starts.npy", array([0, 0, 0], "i4")),
        (FEATURES, "columns.npy", array([2, 1, 2], "i4")),
        (FEATURES, "columns.npy", array([1, 1, 2], "i4")),
        (FEATURES, "columns.npy", array([1, 3, 2], "i4")),
        (FEATURES, "columns.npy", array([1, 2, 2], "i8")),
        (FEATURES, "vocabulary.txt", dump_text(["b", "a"])),
        (FEATURES, "values.npy", array([1.0, 2.0, np.inf], "f8")),
        (FEATURES, "values.npy", array([1.0, 2.0, 3.0], "f4")),
        (FEATURES, "values.npy", array([1.0, 2.0], "f8")),
        (FEATURES, "offsets.npy", array([0, 2, 2**62], "i8")),
        (FEATURES, "offsets.npy", array([0, 3, 2], "i8")),
        (NUMBERED, "columns.npy", array([0, 2, 1], "i4")),
        (NUMBERED, "columns.npy", array([0, -1, 1], "i4")),
        (NUMBERED, "columns.npy", array([1, 0, 1], "i4")),
        (DENSE, "values.npy", array([[1.0, 2.0], [3.0, np.nan]], "f8")),
        (DENSE, "values.npy", array([[1.0], [3.0]], "f8")),
        (DENSE, "values.npy", array([1.0, 2.0], "f8")),
        (DENSE, "values.npy", array([[1.0, 2.0]], "f4")),
    ],
)  # fmt: skip
def test_arrays_that_stand_for_nothing_are_refused(batch, member, content, forge):
    def change(manifest, members):
        assert member in members and members[member] != content
        members[member] = content

    with pytest.raises(ModelFormatError, match=r"cannot be restored|cannot be read"):
        load(forge(batch, change))


def test_half_a_span_is_no_span(forge):
    def change(manifest, members):
        members["ends.npy"] = array([-1, 5, -3], "i4")
        members["fallbacks.npy"] = array([2], "i4")

    again = load(forge(FORESTS, change))
    assert again.arrays[2].tolist() == [-1, -1, -1] and again.parts[3].arrays[1].tolist() == [1]


@pytest.mark.parametrize("width", [None, 3, 0, -1, 2.0, True, "2", 2**40])
@pytest.mark.parametrize("batch", [FEATURES, DENSE, NUMBERED], ids=["named", "dense", "sparse"])
def test_a_width_that_the_arrays_do_not_have_is_refused(batch, width, forge):
    if (batch is FEATURES and width is None) or (batch is NUMBERED and width == 3):
        pytest.skip("it has this width, or may have it")
    with pytest.raises(ModelFormatError, match="cannot be restored"):
        load(forge(batch, lambda manifest, members: manifest["parameters"].update(width=width)))


@pytest.mark.parametrize(
    "batch", [SEQUENCES, TREES, FORESTS, FEATURES], ids=lambda batch: batch.kind
)
@pytest.mark.parametrize("what", ["texts", "arrays"])
def test_a_batch_that_lacks_a_part_is_refused(batch, what, forge):
    def change(manifest, members):
        name = manifest[what].pop()
        del members[f"{name}.{'txt' if what == 'texts' else 'npy'}"]

    with pytest.raises(ModelFormatError, match=r"missing (text|array)"):
        load(forge(batch, change))


def test_a_batch_has_no_parameters(forge):
    with pytest.raises(ModelFormatError, match="unknown parameter 'x'"):
        load(forge(SEQUENCES, lambda manifest, members: manifest["parameters"].update(x=1)))


_values = {
    "int32": st.integers(-2, 6),
    "int64": st.integers(-2, 6),
    "float64": st.sampled_from([-1.0, 0.0, 0.25, 1.0, np.inf, np.nan]),
}


@given(data=st.data())
def test_any_arrays_are_refused_or_give_structures(data):
    batch = data.draw(st.sampled_from([SEQUENCES, TREES, FORESTS, FEATURES]))
    row = next(row for row in MODELS.values() if row.cls is type(batch))
    state = row.to_state(batch)
    for name in data.draw(st.lists(st.sampled_from(sorted(state.arrays)), max_size=3)):
        old = state.arrays[name]
        values = _values[old.dtype.name]
        sizes = st.integers(max(0, len(old) - 1), len(old) + 1)
        n = data.draw(sizes)
        new = data.draw(st.lists(values, min_size=n, max_size=n))
        state.arrays[name] = np.array(new, dtype=old.dtype)
    try:
        again = row.from_state(row.cls, state)
    except (ValueError, TypeError, IndexError):
        return
    kernel = KINDS[f"{batch.kind}s"][1].clone()
    if batch is not FEATURES:
        kernel.set_params(normalize=False)
    rebuilt = kw.batch(list(again), kind=type(batch))
    assert kernel.gram(again).tobytes() == kernel.gram(rebuilt).tobytes()


def test_the_manifest_names_structures_by_kind(forge):
    seen = {}
    forge(TREES, lambda manifest, members: seen.update(manifest))
    assert (seen["kind"], seen["model"], json.dumps(seen["parameters"])) == (
        "structures", "trees", "{}",
    )  # fmt: skip
