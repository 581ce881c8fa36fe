"""A parser as plain values: nothing is lost, and nothing that is wrong gets in."""

import json

import numpy as np
import pytest
from parsing.treebank_sample import TREEBANK, words

from kernelwood.arrays import SchemaError
from kernelwood.errors import ModelFormatError
from kernelwood.parsing import ForestParser
from kernelwood.persist import State
from kernelwood.persist.models import from_own_state

PARSER = ForestParser(threshold=7.0, horizontal=1).fit(TREEBANK)
SENTENCES = [*(words(tree) for tree in TREEBANK), ["Wugs", "blicked", "."]]
ARRAYS = sorted(PARSER._to_saved()[2])
INDICES = sorted(name for name, array in PARSER._to_saved()[2].items() if array.dtype == "int32")
NUMBERS = sorted(name for name, array in PARSER._to_saved()[2].items() if array.dtype == "float64")


@pytest.fixture
def saved():
    parameters, texts, arrays = PARSER._to_saved()
    return dict(parameters), dict(texts), {name: array.copy() for name, array in arrays.items()}


def refused(saved, match=None):
    with pytest.raises((SchemaError, ModelFormatError), match=match):
        from_own_state(ForestParser, State(*saved))


def test_a_restored_parser_parses_bit_for_bit_alike(saved):
    restored = ForestParser._from_saved(*saved)
    assert restored.parse_batch(SENTENCES) == PARSER.parse_batch(SENTENCES)


def test_a_restored_parser_has_the_same_attributes(saved):
    restored = ForestParser._from_saved(*saved)
    assert restored == PARSER
    assert (restored.labels_, restored.tags_, restored.n_trees_) == (
        PARSER.labels_,
        PARSER.tags_,
        PARSER.n_trees_,
    )


def test_parameters_are_json(saved):
    assert json.loads(json.dumps(saved[0])) == saved[0]


def test_every_parameter_is_saved_but_the_number_of_threads(saved):
    assert set(saved[0]) == {*PARSER.get_params(), "n_trees"} - {"n_jobs"}


def test_texts_are_lists_of_strings(saved):
    assert all(type(text) is str for texts in saved[1].values() for text in texts)


def test_an_unfitted_parser_is_not_saved():
    with pytest.raises(ModelFormatError, match="fit"):
        ForestParser()._to_saved()


@pytest.mark.parametrize("name", ARRAYS)
def test_a_missing_array_is_refused(saved, name):
    del saved[2][name]
    refused(saved, name)


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_another_type_is_refused(saved, name):
    saved[2][name] = saved[2][name].astype("int16")
    refused(saved, name)


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_another_shape_is_refused(saved, name):
    saved[2][name] = saved[2][name].reshape(1, -1)
    refused(saved)


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_that_is_too_short_is_refused(saved, name):
    if name in ("root", "output", "tags", "tag_symbols"):
        saved[2][name] = saved[2][name][:0]
    else:
        saved[2][name] = saved[2][name][:-1]
    refused(saved)


@pytest.mark.parametrize("value", [-2, 10**9])
@pytest.mark.parametrize("name", INDICES)
def test_an_index_out_of_range_is_refused(saved, name, value):
    saved[2][name].reshape(-1)[0] = value
    refused(saved, name)


@pytest.mark.parametrize("value", [-0.5, np.nan, np.inf])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_out_of_range_is_refused(saved, name, value):
    saved[2][name][0] = value
    refused(saved, name)


@pytest.mark.parametrize("name", ["word_offsets", "class_offsets"])
@pytest.mark.parametrize(("place", "value"), [(0, 1), (1, -5), (-1, 10**9), (1, 10**9)])
def test_offsets_that_do_not_fit_are_refused(saved, name, place, value):
    saved[2][name][place] = value
    refused(saved, name)


def test_an_unknown_array_is_refused(saved):
    saved[2]["more"] = np.zeros(1)
    refused(saved, "more")


@pytest.mark.parametrize("name", ["labels", "words", "word_classes"])
def test_a_missing_text_is_refused(saved, name):
    del saved[1][name]
    refused(saved, name)


@pytest.mark.parametrize("name", ["labels", "words", "word_classes"])
def test_a_text_that_is_no_string_is_refused(saved, name):
    saved[1][name] = [*saved[1][name][:-1], 7]
    refused(saved, name)


@pytest.mark.parametrize("name", ["words", "word_classes"])
def test_words_out_of_order_are_refused(saved, name):
    saved[1][name] = saved[1][name][::-1]
    refused(saved, name)


def test_equal_labels_are_refused(saved):
    saved[1]["labels"] = ["NP"] * len(saved[1]["labels"])
    refused(saved, "labels")


def test_a_root_without_a_label_is_refused(saved):
    saved[2]["root"][0] = len(saved[2]["output"]) - 1
    refused(saved, "root")


def test_a_word_with_a_symbol_of_another_part_of_speech_is_refused(saved):
    saved[2]["tag_of"][:] = 0
    refused(saved, "tag_of")


def test_a_missing_parameter_is_refused(saved):
    del saved[0]["threshold"]
    refused(saved, "threshold is missing")


def test_an_unknown_parameter_is_refused(saved):
    saved[0]["color"] = "red"
    refused(saved, "color")


def test_a_parameter_out_of_range_is_refused(saved):
    saved[0]["vertical"] = 0
    refused(saved, "vertical")


@pytest.mark.parametrize("n_trees", [0, None, "many"])
def test_a_number_of_trees_that_cannot_be_is_refused(saved, n_trees):
    saved[0]["n_trees"] = n_trees
    refused(saved)
