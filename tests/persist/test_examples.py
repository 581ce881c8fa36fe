"""Batches of examples come back equal, and hostile ones are refused."""

import math
from enum import IntEnum

import numpy as np
import pytest
import strategies
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.arrays import Anything
from kernelwood.errors import ModelFormatError
from kernelwood.persist import State, load, save
from kernelwood.persist.archive import array_chunks, dump_text
from kernelwood.persist.parts import Part, join, split
from kernelwood.persist.structures import example_state, restore_examples, restore_rows

TREES, SEQUENCES = strategies.sample_trees(4), strategies.sample_sequences(4)
FORESTS = strategies.sample_forests(4)
KERNEL = kw.OnView("words", kw.SubsequenceKernel()) + kw.OnView("tree", kw.PartialTreeKernel())


def examples(**changes):
    """Return four examples with every kind of view."""
    views = zip(TREES, SEQUENCES, FORESTS, strict=True)
    return [
        kw.Example(**{"id": f"x{i}", "views": {"tree": t, "words": s, "all": f}, **changes})
        for i, (t, s, f) in enumerate(views)
    ]


def through_state(batch):
    return restore_examples(kw.arrays.ExampleBatch, example_state(batch))


_labels = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False), st.text()
)
_places = st.one_of(st.none(), st.integers(0, 2**63 - 1))
_origins = st.one_of(st.none(), st.builds(kw.text.Origin, st.text(max_size=3), _places, _places))
_example = st.builds(
    kw.Example,
    st.text(st.characters(exclude_categories=()), max_size=3),
    _labels,
    st.fixed_dictionaries(
        {},
        optional={
            "words": strategies.sequences(),
            "né\n": strategies.trees(depth=2),
            "": strategies.small_forests(max_inner=2),
        },
    ),
    _origins,
)


@given(st.lists(_example, max_size=4))
def test_any_examples_come_back_equal(listed):
    assert list(through_state(kw.batch(listed, kind=kw.arrays.ExampleBatch))) == listed


@given(st.lists(_example, max_size=4))
def test_labels_keep_their_types(listed):
    again = through_state(kw.batch(listed, kind=kw.arrays.ExampleBatch))
    assert [repr(x.label) for x in again] == [repr(x.label) for x in listed]


def test_examples_survive_in_a_file(round_trip):
    batch = kw.batch(examples(label="LOC", origin=kw.text.Origin("a/b.mrg", 3, 0, 9)))
    assert list(round_trip(batch)) == list(batch)


def test_kernel_values_have_the_same_bits(round_trip):
    batch = kw.batch(examples())
    again = round_trip(batch)
    assert KERNEL.cross(batch, again).tobytes() == KERNEL.cross(batch, batch).tobytes()
    assert KERNEL.gram(again).tobytes() == KERNEL.gram(batch).tobytes()


def test_a_loaded_view_need_not_be_batched_again(round_trip, monkeypatch):
    again = round_trip(kw.batch(examples()))
    monkeypatch.setattr("kernelwood.arrays.build.batch", None)
    assert len(again.view("tree")) == 4


def test_a_view_that_some_examples_lack_survives(round_trip):
    first, second, *_ = examples()
    listed = [kw.Example("0"), first, kw.Example("1", views={"tree": TREES[0]}), second]
    assert list(round_trip(kw.batch(listed))) == listed


def test_a_batch_that_serves_two_views_survives(round_trip):
    tree = kw.batch(TREES)
    listed = [kw.Example("0", views={"a": t, "b": t}) for t in TREES]
    batch = kw.arrays.ExampleBatch(["0"] * len(TREES), views={"a": tree, "b": tree})
    assert list(round_trip(batch)) == listed


def test_a_slice_is_saved_alone(tmp_path):
    words = [kw.Sequence([f"word{i}"]) for i in range(5000)]
    batch = kw.batch([kw.Example(str(i), views={"w": s}) for i, s in enumerate(words)])
    batch.view("w")
    save(batch[:3], tmp_path / "slice.kw")
    assert (tmp_path / "slice.kw").stat().st_size < 5000


class Level(IntEnum):
    HIGH = 3


@pytest.mark.parametrize(
    ("label", "plain"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (Level.HIGH, 3),
    ],
    ids=repr,
)
def test_other_labels_become_plain_ones(label, plain):
    [again] = through_state(kw.batch([kw.Example("0", label)]))
    assert again.label == plain and type(again.label) is type(plain)


@pytest.mark.parametrize("label", [math.inf, -0.0, 5e-324, 10**100], ids=repr)
def test_extreme_labels_survive_in_a_file(label, round_trip):
    [again] = round_trip(kw.batch([kw.Example("0", label)]))
    assert repr(again.label) == repr(label)


def test_labels_that_are_equal_and_not_the_same_stay_apart(round_trip):
    labels = [0.0, -0.0, 0, False, 1.0, 1, True, math.nan, -0.0, float("nan"), 0.0]
    again = round_trip(kw.batch([kw.Example(str(i), label) for i, label in enumerate(labels)]))
    assert [repr(example.label) for example in again] == [repr(label) for label in labels]


def test_a_label_is_stored_once():
    labels = [0.0, -0.0, math.nan, -0.0, float("nan"), 0.0, "a", "a"]
    state = example_state(kw.batch([kw.Example(str(i), x) for i, x in enumerate(labels)]))
    assert [repr(label) for label in state.parameters["labels"]] == ["0.0", "-0.0", "nan", "'a'"]


# What cannot be saved.


@pytest.mark.parametrize("label", [("a", "b"), b"a", 1j, frozenset("a")], ids=repr)
def test_a_label_of_another_kind_is_refused_with_a_hint(label, tmp_path):
    batch = kw.batch([kw.Example("x7", label)])
    with pytest.raises(ModelFormatError, match=r"the label .* cannot be saved") as caught:
        save(batch, tmp_path / "batch.kw")
    assert "strings or numbers" in caught.value.hint


@pytest.mark.parametrize(
    "view",
    [
        "text",
        (1.0, math.nan),
        kw.Sentence("we", [kw.text.Token("we", 0, 2)]),
    ],
    ids=lambda view: type(view).__name__,
)
@pytest.mark.parametrize("others", [0, 1], ids=["all", "some"])
def test_a_view_that_no_kernel_reads_is_refused_with_a_hint(view, others, tmp_path):
    batch = kw.batch([kw.Example("0", views={"v": view})] + [kw.Example("1")] * others)
    with pytest.raises(ModelFormatError, match="the view 'v' of examples cannot be") as caught:
        save(batch, tmp_path / "batch.kw")
    assert "leave out other views" in caught.value.hint


def test_a_view_of_several_kinds_is_refused(tmp_path):
    batch = kw.batch([kw.Example("0", views={"v": v}) for v in (TREES[0], SEQUENCES[0])])
    with pytest.raises(ModelFormatError, match="structure 1 should be a tree, got Sequence"):
        save(batch, tmp_path / "batch.kw")


@pytest.mark.parametrize(
    "origin",
    [
        kw.text.Origin(7),
        kw.text.Origin("f", -1),
        kw.text.Origin("f", True),
        kw.text.Origin("f", end=2**63),
    ],
    ids=repr,
)
def test_an_impossible_origin_is_refused(origin, tmp_path):
    batch = kw.batch([kw.Example("0", origin=origin)])
    with pytest.raises(ModelFormatError, match=r"Origin\(.*cannot be saved"):
        save(batch, tmp_path / "batch.kw")


# Hostile files.


def array(values, dtype="i8"):
    return b"".join(array_chunks(np.array(values, dtype=dtype)))


BATCH = kw.batch(
    [kw.Example("0", "a", {"t": TREES[0]}, kw.text.Origin("f", 1)), kw.Example("1", 7)]
)


@pytest.mark.parametrize(
    ("member", "content"),
    [
        ("label_of.npy", array([0, 2])),
        ("label_of.npy", array([0, -1])),
        ("label_of.npy", array([0])),
        ("label_of.npy", array([0, 1], "i4")),
        ("label_of.npy", array([0.0, 1.0], "f8")),
        ("ids.txt", dump_text(["0"])),
        ("ids.txt", dump_text(["0", "1", "2"])),
        ("paths.txt", b""),
        ("origins.npy", array([[0, 1, -1, -1]])),
        ("origins.npy", array([[0, 1, -1], [-1, -1, -1]])),
        ("origins.npy", array([[1, 1, -1, -1], [-1, -1, -1, -1]])),
        ("origins.npy", array([[0, -2, -1, -1], [-1, -1, -1, -1]])),
        ("view0-rows.npy", array([2])),
        ("view0-rows.npy", array([-1])),
        ("view0-rows.npy", array([0, 1])),
        ("view0-rows.npy", array([0.0], "f8")),
        ("view0-sizes.npy", array([-1], "i4")),
        ("view0-sizes.npy", array([2**31 - 1], "i4")),
        ("view0-sizes.npy", array([1, 1], "i4")),
        ("view0-sizes.npy", array([1])),
        ("view0-labels.npy", array([0, 0, 2**31 - 1], "i4")),
        ("view0-labels.npy", array([[0]], "i4")),
        ("view0-n_children.npy", array([5], "i4")),
        ("vocabulary.txt", dump_text(["x", "x"])),
    ],
)
def test_arrays_that_stand_for_nothing_are_refused(member, content, forge):
    def change(manifest, members):
        assert member in members and members[member] != content
        members[member] = content

    with pytest.raises(ModelFormatError, match="the structures 'examples', cannot be restored"):
        load(forge(BATCH, change))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("labels", None),
        ("labels", ["a", [7]]),
        ("labels", ["a", {"kind": "tuple", "values": []}]),
        ("labels", []),
        ("views", []),
        ("views", None),
        ("views", {"kind": "mapping", "values": {"t": {"kind": "part", "number": 0}}}),
        ("views", {"kind": "mapping", "values": {"t": ["x", None]}}),
        ("views", {"kind": "mapping", "values": {"t": [{"kind": "part", "number": 0}, None]}}),
        ("views", {"kind": "mapping", "values": {"t": [{"kind": "part", "number": 0}, 0]}}),
        ("views", {"kind": "pairs", "values": [[1, [{"kind": "part", "number": 0}, None]]]}),
    ],
)
def test_parameters_that_stand_for_nothing_are_refused(name, value, forge):
    def change(manifest, members):
        manifest["parameters"][name] = value

    with pytest.raises(ModelFormatError, match="the structures 'examples', cannot be restored"):
        load(forge(BATCH, change))


def test_one_batch_for_many_views_is_refused(forge):
    def change(manifest, members):
        views = manifest["parameters"]["views"]["values"]
        views["other"] = views["forest"]

    listed = [kw.Example(str(i), views={"forest": one}) for i, one in enumerate(FORESTS)]
    with pytest.raises(ModelFormatError, match="not a separate batch"):
        load(forge(kw.batch(listed), change))


def test_rows_of_a_view_must_grow(forge):
    def change(manifest, members):
        members["view0-rows.npy"] = array([2, 1])

    listed = [kw.Example(str(i), views={"t": t} if i else {}) for i, t in enumerate(TREES[:3])]
    with pytest.raises(ModelFormatError, match="must increase"):
        load(forge(kw.batch(listed), change))


def test_loading_makes_no_examples(tmp_path, monkeypatch):
    save(BATCH, tmp_path / "batch.kw")
    made = []
    monkeypatch.setattr(kw.Example, "_trusted", classmethod(lambda *parts: made.append(parts)))
    monkeypatch.setattr(kw.Tree, "from_postorder", lambda *parts: made.append(parts))
    assert len(load(tmp_path / "batch.kw")) == 2 and made == []


def test_rows_of_a_table_in_the_same_file_are_numbers(tmp_path):
    table = kw.batch([kw.Example(str(i), views={"t": tree}) for i, tree in enumerate(TREES[:3])])
    for rows, stored in (([0, 2], "mask"), ([2, 0], "rows")):
        classifier = kw.KernelNeighborsClassifier(
            kw.OnView("t", kw.SubsetTreeKernel()), n_neighbors=2
        )
        classifier.fit(table, ["a", "b", "a"])
        classifier.table_, classifier.rows_ = table, table[rows]
        more = dict.fromkeys(("table_", "rows_"), Anything())
        classifier._fitted = {**type(classifier)._fitted, **more}
        [part] = [part for part in split(classifier) if part.name == "example-rows"]
        assert list(part.arrays) == [stored]
        state = State({"source": table}, {}, part.arrays)
        assert list(restore_rows(kw.arrays.ExampleBatch, state)) == [list(table)[i] for i in rows]


@pytest.mark.parametrize(
    "arrays",
    [
        {"rows": np.array([0, 3])},
        {"rows": np.array([-1])},
        {"rows": np.array([0], dtype=np.int32)},
        {"mask": np.array([True, False])},
        {"mask": np.array([1, 0, 1])},
        {"mask": np.ones(3, dtype=bool), "rows": np.array([0])},
        {},
    ],
)
def test_rows_that_are_not_there_are_refused(arrays):
    table = kw.batch([kw.Example(str(i), views={"t": tree}) for i, tree in enumerate(TREES[:3])])
    with pytest.raises(ValueError, match=r"row|array"):
        restore_rows(kw.arrays.ExampleBatch, State({"source": table}, {}, arrays))


_json = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 3), st.text(max_size=2)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.fixed_dictionaries({"kind": st.just("part"), "number": inner}),
        st.fixed_dictionaries({"kind": st.just("array"), "name": st.just("parameter-views")}),
        st.fixed_dictionaries(
            {"kind": st.sampled_from(["tuple", "pairs"]), "values": st.lists(inner, max_size=2)}
        ),
        st.fixed_dictionaries(
            {
                "kind": st.just("mapping"),
                "values": st.dictionaries(st.sampled_from("tu"), inner, max_size=2),
            }
        ),
    ),
    max_leaves=8,
)


@given(name=st.sampled_from(["labels", "views"]), value=_json)
def test_any_forged_parameter_is_refused_or_gives_examples(name, value):
    *inner, last = split(BATCH)
    forged = Part(
        last.kind, last.name, {**last.parameters, name: value}, last.texts, dict(last.arrays)
    )
    try:
        again = join([*inner, forged])
    except ModelFormatError:
        return
    assert list(kw.batch(list(again), kind=kw.arrays.ExampleBatch)) == list(again)
