import copy
import pickle

import numpy as np
import pytest

from kernelwood.errors import StructureError
from kernelwood.structures import Graph, Sequence, Tree
from kernelwood.text import Example, Origin

VIEWS = {
    "tree": Tree("S", [Tree("x")]),
    "path": Sequence(["a"]),
    "graph": Graph(["A"]),
    "text": "some words",
    "dense": (0.5, 1, np.float32(2)),
    "sparse": {"word": 1.0, "other": 2},
}


@pytest.fixture
def example():
    return Example("e1", "POS", VIEWS, Origin("file.txt", line=3, start=5, end=9))


def test_every_kind_of_view_is_kept(example):
    assert dict(example.views) == VIEWS


def test_defaults_are_empty():
    bare = Example("e")
    assert (bare.label, dict(bare.views), bare.origin) == (None, {}, None)


@pytest.mark.parametrize("label", [None, "A", 1, 0.5, ("A", "B"), (1, 2)])
def test_label_is_kept_as_given(label):
    assert Example("e", label).label == label


def test_view_returns_the_structure(example):
    assert example.view("tree") is VIEWS["tree"]


def test_unknown_view_lists_the_names_and_guesses(example):
    with pytest.raises(StructureError, match=r"no view 'trees'\n.*did you mean 'tree'.*'sparse'"):
        example.view("trees")


def test_view_of_an_example_without_views_says_so():
    with pytest.raises(StructureError, match="views: none"):
        Example("e").view("tree")


def test_pickle_gives_an_equal_example(example):
    assert pickle.loads(pickle.dumps(example)) == example


def test_pickled_origin_is_equal():
    origin = Origin("file.txt", line=3)
    assert pickle.loads(pickle.dumps(origin)) == origin


def test_deepcopy_of_an_immutable_example_is_the_example(example):
    assert copy.deepcopy(example) is example


def test_equal_examples_have_equal_hashes(example):
    again = Example("e1", "POS", dict(VIEWS), example.origin)
    assert again == example and hash(again) == hash(example)


@pytest.mark.parametrize(
    "other",
    [
        Example("e2", "A", {"text": "x"}),
        Example("e1", "B", {"text": "x"}),
        Example("e1", "A", {"text": "y"}),
        Example("e1", "A", {"words": "x"}),
        Example("e1", "A", {"text": "x"}, Origin("f")),
        "e1",
    ],
)
def test_one_difference_makes_examples_unequal(other):
    assert Example("e1", "A", {"text": "x"}) != other


@pytest.mark.parametrize("name", ["id", "label", "views", "origin", "new"])
def test_attributes_cannot_be_set(example, name):
    with pytest.raises(AttributeError, match="Example objects never change"):
        setattr(example, name, None)


def test_views_cannot_be_changed(example):
    with pytest.raises(TypeError):
        example.views["new"] = "text"


def test_sparse_vectors_cannot_be_changed(example):
    with pytest.raises(TypeError):
        example.view("sparse")["word"] = 5.0


def test_changing_the_given_mapping_changes_nothing():
    vector = {"word": 1.0}
    example = Example("e", views={"v": vector})
    vector["word"] = 2.0
    assert example.view("v")["word"] == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Example(5), r"example id must be a string, got 5 of type int\n.*str\(5\)"),
        (lambda: Example("e", ["A"]), "label of example 'e' must be hashable, got a list"),
        (lambda: Example("e", (["A"],)), "label of example 'e' must be hashable"),
        (lambda: Example("e", None, Tree("x")), "views of example 'e' must be a mapping, got Tree"),
        (lambda: Example("e", None, {1: "x"}), "view name of example 'e' must be a string"),
        (lambda: Example("e", None, {"v": ["a"]}), r"view 'v' .* cannot be \['a'\] of type list"),
        (lambda: Example("e", None, {"v": ("a",)}), r"view 'v' .* of type tuple"),
        (lambda: Example("e", None, {"v": {"a": "b"}}), "view 'v' .* of type dict"),
        (lambda: Example("e", origin="f"), r"must be an Origin, got str\n.*Origin\('f'\)"),
    ],
)
def test_wrong_parts_are_named_with_a_remedy(make, message):
    with pytest.raises(StructureError, match=message):
        make()


def test_repr_names_id_label_and_views():
    assert repr(Example("e", "A", {"text": "x"})) == "Example('e', 'A', views: text)"


@pytest.mark.parametrize(
    ("origin", "shown"), [(Origin("f.txt"), "f.txt"), (Origin("f.txt", line=2), "f.txt:2")]
)
def test_origin_is_shown_as_path_and_line(origin, shown):
    assert str(origin) == shown


def test_numpy_has_no_way_to_unpack_an_example():
    assert not hasattr(Example, "__getitem__")


def test_an_example_in_place_of_a_sentence_says_where_the_sentence_is():
    with pytest.raises(AttributeError, match=r"'dependencies'; .* example.view\('sentence'\)"):
        Example("q1").dependencies  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute 'zzz'$"):
        Example("q1").zzz  # noqa: B018
    assert not hasattr(Example("q1"), "tree")
