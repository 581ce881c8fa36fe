"""Lists of sentences that are stored as JSON."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from sentence_strategies import sentences

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.relations import sentence_list
from kernelwood.relations.sentence_list import SentenceList


@pytest.fixture(autouse=True)
def few_objects(monkeypatch):
    monkeypatch.setattr(sentence_list, "_WHOLE", 2)


@given(st.lists(sentences(), max_size=5), st.data())
def test_a_list_like_others(listed, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence_list, "_WHOLE", data.draw(st.integers(0, 3)))
        made = SentenceList(listed)
        assert list(made) == listed
        assert len(made) == len(listed)
        assert [made.text(row) for row in range(len(made))] == [one.text for one in listed]
        assert list(made[1:4]) == listed[1:4]
        for row in data.draw(st.permutations(range(len(listed)))):
            assert made[row] == listed[row]
        if listed:
            row, other = data.draw(st.integers(0, len(listed) - 1)), data.draw(sentences())
            for one in (made, listed):
                one[row] = other
                one.insert(row, other)
                del one[0]
                one += [other]
        assert list(made) == listed


def test_an_index_outside():
    with pytest.raises(IndexError):
        SentenceList([kw.Sentence("a")])[1]


def test_the_latest_sentence_is_made_once():
    made = SentenceList(kw.Sentence(text) for text in "abcd")
    assert made[3] is made[3]
    assert made[2] is not made[3]


def test_a_model_does_not_depend_on_how_sentences_are_stored(tmp_path, monkeypatch):
    for name, whole in (("objects.kw", 10**6), ("packed.kw", 2)):
        monkeypatch.setattr(sentence_list, "_WHOLE", whole)
        model = kw.RelationExtractor(random_state=0).fit(load_interactions("train")[:60])
        kw.save(model, tmp_path / name)
    assert (tmp_path / "objects.kw").read_bytes() == (tmp_path / "packed.kw").read_bytes()
    found = model.predict(load_interactions("test")[:20], all=True)
    monkeypatch.setattr(sentence_list, "_WHOLE", 10**6)
    again = model.predict(load_interactions("test")[:20], all=True)
    assert [one.to_dict() for one in found] == [one.to_dict() for one in again]
