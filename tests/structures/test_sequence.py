import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernelwood.errors import StructureError
from kernelwood.structures import Sequence

elements = st.lists(st.text(max_size=5) | st.tuples(st.text(max_size=5), st.text(max_size=5)))


def test_plain_strings_get_the_empty_edge():
    assert Sequence(["a", "b"]).elements == (("", "a"), ("", "b"))


def test_pairs_and_strings_may_be_mixed():
    assert Sequence(["a", ("e", "b"), ["f", "c"]]).edges == ("", "e", "f")


def test_a_two_letter_string_is_a_node_not_a_pair():
    assert Sequence(["ab"]).nodes == ("ab",)


def test_a_generator_is_accepted():
    assert Sequence(word for word in ["a", "b"]).nodes == ("a", "b")


def test_an_empty_sequence_is_allowed():
    assert (len(Sequence([])), Sequence([]).elements) == (0, ())


@given(elements)
def test_iteration_gives_as_many_pairs_as_len(given_elements):
    sequence = Sequence(given_elements)
    assert len(list(sequence)) == len(sequence) == len(given_elements)


@given(elements)
def test_a_sequence_can_be_made_from_its_elements(given_elements):
    sequence = Sequence(given_elements)
    assert Sequence(sequence.elements) == sequence == Sequence(sequence)


@given(elements)
def test_equal_sequences_have_equal_hashes(given_elements):
    assert hash(Sequence(given_elements)) == hash(Sequence(given_elements))


@given(elements)
def test_pickle_gives_an_equal_sequence(given_elements):
    sequence = Sequence(given_elements)
    assert pickle.loads(pickle.dumps(sequence)) == sequence


@pytest.mark.parametrize("other", [["a", "c"], ["a"], ["a", ("e", "b")], ["b", "a"]])
def test_one_difference_makes_sequences_unequal(other):
    assert Sequence(["a", "b"]) != Sequence(other)


def test_comparison_with_something_else_is_false():
    assert Sequence(["a"]) != (("", "a"),)


@pytest.mark.parametrize("name", ["edges", "nodes", "new"])
def test_attributes_cannot_be_set(name):
    with pytest.raises(AttributeError, match="Sequence objects never change"):
        setattr(Sequence(["a"]), name, ("b",))


def test_deepcopy_of_an_immutable_sequence_is_the_sequence():
    sequence = Sequence(["a"])
    assert copy.deepcopy(sequence) is sequence


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("abc", r"single string 'abc'\n.*Sequence\('abc'\.split\(\)\)"),
        (5, "must be an iterable .* got int"),
        (["a", 5], r"element 1 must be a string, got 5 of type int\n.*str\(5\)"),
        (["a", None], "element 1 must be a string, got None of type NoneType"),
        ([("e", 5)], "node label of element 0 must be a string, got 5"),
        ([(5, "n")], "edge label of element 0 must be a string, got 5"),
        ([("a", "b", "c")], r"element 0 .* pair, got \('a', 'b', 'c'\) with 3 parts"),
        ([b"a"], "element 0 must be a string, got b'a' of type bytes"),
    ],
)
def test_wrong_elements_are_named_with_a_remedy(wrong, message):
    with pytest.raises(StructureError, match=message):
        Sequence(wrong)


@pytest.mark.parametrize(
    ("given_elements", "shown"),
    [
        (["a", "b"], "Sequence(['a', 'b'])"),
        (["a", ("e", "b")], "Sequence([('', 'a'), ('e', 'b')])"),
        ([], "Sequence([])"),
    ],
)
def test_repr_can_be_read_back(given_elements, shown):
    assert repr(Sequence(given_elements)) == shown


def test_repr_of_a_long_sequence_says_how_many_are_left_out():
    sequence = Sequence(["word"] * 1000)
    shown = repr(sequence)
    assert len(shown) < 110
    assert f"... {1000 - shown.count('word')} more" in shown


def test_numpy_takes_sequences_for_objects():
    assert np.array([Sequence(["a", "b"])] * 3, dtype=object).shape == (3,)


def test_numpy_has_no_way_to_unpack_a_sequence():
    assert not hasattr(Sequence, "__getitem__")


def test_a_sequence_can_be_made_of_edges_and_nodes():
    made = Sequence.from_labels(["", "nsubj"], ["sleeps", "cat"])
    assert made == Sequence([("", "sleeps"), ("nsubj", "cat")])
    assert hash(made) == hash(Sequence([("", "sleeps"), ("nsubj", "cat")]))


def test_edges_and_nodes_must_be_as_many():
    with pytest.raises(StructureError, match="2 edges and 1 nodes"):
        Sequence.from_labels(["", ""], ["cat"])


def test_edges_and_nodes_must_be_strings():
    with pytest.raises(StructureError, match="node label of element 1"):
        Sequence.from_labels(["", ""], ["cat", 7])
