import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernelwood.arrays import Vocabulary
from kernelwood.errors import StructureError

label_lists = st.lists(st.text(max_size=3))


def ids(*numbers):
    return np.array(numbers, dtype=np.int32)


def test_the_empty_label_is_zero():
    assert Vocabulary().get("") == 0 and Vocabulary(["a", ""]).add("") == 0


@given(label_lists)
def test_labels_and_ids_are_one_to_one(labels):
    vocabulary = Vocabulary(labels)
    assert [vocabulary.label(vocabulary.get(label)) for label in labels] == labels
    assert len(vocabulary) == len({"", *labels}) == len(set(vocabulary))


@given(label_lists, label_lists)
def test_growing_changes_no_id(first, second):
    vocabulary = Vocabulary(first)
    before = vocabulary.add_all(first)
    vocabulary.add_all(second)
    assert vocabulary.add_all(first) == before


def test_ids_follow_the_order_of_appearance():
    assert Vocabulary().add_all(["b", "a", "b", "", "c"]) == [1, 2, 1, 0, 3]


def test_an_unknown_label_has_no_id():
    assert Vocabulary(["a"]).get("b") is None and "b" not in Vocabulary(["a"])


@pytest.mark.parametrize("label", [1, None, b"a", ("a",)])
def test_what_is_no_string_is_named(label):
    with pytest.raises(StructureError) as caught:
        Vocabulary().add(label)
    assert repr(label) in str(caught.value)


@given(label_lists, label_lists)
def test_translation_keeps_known_labels_and_separates_the_rest(ours, theirs):
    source, target = Vocabulary(ours), Vocabulary(theirs)
    size = len(target)
    translated = source.translate(np.arange(len(source), dtype=np.int32), target)
    for label, found in zip(source, translated.tolist(), strict=True):
        assert found == target.get(label) if label in target else found >= size
    assert len(set(translated.tolist())) == len(source)
    assert len(target) == size


def test_translating_nothing_gives_nothing():
    assert Vocabulary(["a"]).translate(ids(), Vocabulary()).shape == (0,)


def test_a_pickled_vocabulary_has_the_same_ids():
    vocabulary = Vocabulary(["né", "a", "名"])
    copy = pickle.loads(pickle.dumps(vocabulary))
    assert list(copy) == list(vocabulary) and copy.get("a") == vocabulary.get("a")


def test_repr_counts():
    assert repr(Vocabulary(["a", "b"])) == "Vocabulary(3 labels)"


def test_threads_agree_on_ids():
    vocabulary = Vocabulary()
    labels = [str(i) for i in range(2000)]
    found = []

    def add(order):
        found.append({label: vocabulary.add(label) for label in order})

    threads = [threading.Thread(target=add, args=(labels[::step],)) for step in (1, -1, 1, -1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(ids == found[0] for ids in found) and len(vocabulary) == 2001
