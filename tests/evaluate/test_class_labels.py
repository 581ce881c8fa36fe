"""Labels, classes and groups as users give them."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwood.errors import KernelInputError
from kernelwood.evaluate.class_labels import (
    encode,
    encode_groups,
    encode_positive,
    plain_labels,
    subset,
)


def test_classes_are_those_that_occur_anywhere_sorted():
    assert encode({"y_true": ["b", "c"], "y_pred": ["a", "c"]}).classes == ("a", "b", "c")


def test_given_classes_keep_their_order():
    encoded = encode({"y": ["b", "a"]}, ["b", "c", "a"])
    assert (encoded.classes, encoded.codes[0].tolist()) == (("b", "c", "a"), [0, 2])


def test_tuples_that_cannot_be_ordered_are_classes_too():
    assert len(encode({"y": [("a", 1), (1, "a"), ("a", 1)]}).classes) == 2


@pytest.mark.parametrize(
    "values",
    [
        np.array(["x", "y"]),
        np.array(["x", "y"], dtype=object),
        [np.str_("x"), np.str_("y")],
        ("x", "y"),
        iter(["x", "y"]),
    ],
    ids=["strings", "objects", "scalars", "tuple", "iterator"],
)
def test_labels_of_any_container_become_plain(values):
    labels = plain_labels(values, "y")
    assert [(type(label), label) for label in labels] == [(str, "x"), (str, "y")]


def test_numbers_of_numpy_become_plain():
    assert [type(label) for label in plain_labels([np.int64(1), np.bool_(True)], "y")] == [
        int,
        bool,
    ]


def test_one_and_true_are_the_same_class():
    assert encode({"y_true": [1, 0], "y_pred": [True, False]}).n_classes == 2


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, None], r"y\[1\] is None; remove"),
        ([1.0, float("nan")], r"y\[1\] is nan of type float; a label is"),
        ([float("inf")], r"y\[0\] is inf"),
        ([b"x"], r"y\[0\] is b'x' of type bytes"),
        ([["x"]], r"y\[0\] is \['x'\] of type list"),
        ([(("x",),)], r"y\[0\] is \(\('x',\),\)"),
        ("abc", r"y must be a list or an array, got 'abc'"),
        (3, r"y must be a list or an array, got 3"),
        (np.zeros((2, 2)), r"y has 2 dimensions, shape \(2, 2\); give one value"),
    ],
)
def test_what_is_no_label_is_named_with_its_place(values, message):
    with pytest.raises(KernelInputError, match=message):
        plain_labels(values, "y")


def test_different_lengths_are_named():
    with pytest.raises(KernelInputError, match=r"y_pred has 1 labels, but y_true has 2; give"):
        encode({"y_true": [1, 2], "y_pred": [1]})


def test_no_examples_are_refused():
    with pytest.raises(KernelInputError, match="y_true is empty"):
        encode({"y_true": [], "y_pred": []})


def test_strings_are_not_compared_with_numbers():
    with pytest.raises(
        KernelInputError, match=r"y_true has strings such as '1', y_pred has numbers"
    ):
        encode({"y_true": ["1"], "y_pred": [1]})


def test_a_label_that_is_not_among_the_classes_is_named_with_its_place():
    with pytest.raises(KernelInputError, match=r"y\[1\] is 'lco'.*\('loc', 'num'\).*mean 'loc'"):
        encode({"y": ["num", "lco"]}, ["loc", "num"])


@pytest.mark.parametrize(
    ("classes", "message"), [(["a", "a"], "classes has 'a' twice"), ([], "classes is empty")]
)
def test_useless_classes_are_refused(classes, message):
    with pytest.raises(KernelInputError, match=message):
        encode({"y": ["a"]}, classes)


@pytest.mark.parametrize(
    ("positive", "codes"),
    [(None, (0, 1, 2)), ("b", (1,)), (["c", "a", "c"], (2, 0)), ({"a"}, (0,))],
)
def test_positive_is_one_class_or_several(positive, codes):
    assert encode_positive(positive, ("a", "b", "c")) == codes


def test_a_tuple_may_be_one_positive_class():
    assert encode_positive(("a", 1), (("a", 1), ("b", 2))) == (0,)


def test_a_tuple_may_be_several_positive_classes():
    assert encode_positive(("a", "b"), ("a", "b", "c")) == (0, 1)


@pytest.mark.parametrize(
    ("positive", "message"),
    [
        ("yess", r"positive: 'yess' is not among the classes \('no', 'yes'\); did you mean 'yes'"),
        ([], "positive is empty"),
        (7, "positive: 7 is not among"),
    ],
)
def test_a_positive_class_must_be_known(positive, message):
    with pytest.raises(KernelInputError, match=message):
        encode_positive(positive, ("no", "yes"))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1], "groups has 1 entries, but there are 2 examples"),
        ([1, None], r"groups\[1\] is None; give every example a group"),
        ([float("nan"), 1], r"groups\[0\] is nan"),
        ([[1], [2]], r"groups\[0\] is \[1\], which is not hashable"),
        ("ab", "groups must be a list"),
    ],
)
def test_groups_that_cannot_be_used_are_named(groups, message):
    with pytest.raises(KernelInputError, match=message):
        encode_groups(groups, 2)


def test_a_subset_of_classes_renumbers_the_labels():
    smaller = subset(encode({"y": ["d", "b"]}, ["a", "b", "c", "d"]), [1, 3])
    assert (smaller.classes, smaller.codes[0].tolist()) == (("b", "d"), [1, 0])
