import json
import sys

import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH
from strategies import forests

from kernelwood.errors import StructureError
from kernelwood.structures import (
    Forest,
    decode_json,
    encode_json,
    forest_from_object,
    forest_object,
)

GOOD = {"labels": ["S", "x"], "edges": [[0, [1], 0.5]], "root": 0}
READINGS = Forest(
    ["NP", "NP", "NP", "old", "men", "and", "women"],
    [(0, (1, 5, 6), 0.25), (0, (3, 2), 0.75), (1, (3, 4), 1.0), (2, (4, 5, 6), 1.0)],
    0,
    [(0, 4), (0, 2), (1, 4), (0, 1), (1, 2), (2, 3), (3, 4)],
)

any_text = st.text(st.characters(exclude_categories=()), max_size=8)


def refusal(text):
    with pytest.raises(StructureError) as caught:
        Forest.from_json(text)
    return caught.value


@given(forests())
def test_what_is_written_reads_back(forest):
    assert Forest.from_json(forest.to_json()) == forest


@given(forests())
def test_objects_read_back(forest):
    assert forest_from_object(forest_object(forest)) == forest


@given(forests())
def test_a_forest_is_one_line(forest):
    assert "\n" not in forest.to_json()


@given(any_text)
def test_any_label_reads_back(label):
    forest = Forest([label], [], 0)
    assert Forest.from_json(forest.to_json()) == forest


@given(st.floats(0.0, 1.0, exclude_min=True))
def test_probabilities_keep_every_bit(weight):
    forest = Forest(["S", "x"], [(0, (1,), weight)], 0)
    assert Forest.from_json(forest.to_json()).edges[0][2] == weight


def test_spans_read_back():
    assert Forest.from_json(READINGS.to_json()) == READINGS


def test_the_methods_of_forests_do_the_same():
    assert Forest.from_json(READINGS.to_json()) == READINGS


def test_what_is_not_there_is_not_written():
    assert set(json.loads(Forest(["x"], [], 0).to_json())) == {"labels", "edges", "root"}


def test_text_is_not_escaped():
    assert Forest(["né"], [], 0).to_json() == '{"labels":["né"],"edges":[],"root":0}'


def test_integers_are_probabilities_too():
    assert Forest.from_json('{"labels":["S","x"],"edges":[[0,[1],1]],"root":0}').edges[0][2] == 1.0


def test_blanks_and_line_breaks_are_allowed():
    assert Forest.from_json(json.dumps(GOOD, indent=2)) == Forest.from_json(json.dumps(GOOD))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"edge": []}, "unknown key 'edge'"),
        ({"labels": "Sx"}, "'labels' of the forest must be a list, got the string 'Sx'"),
        ({"labels": {"S": 1}}, "'labels' of the forest must be a list, got an object"),
        ({"labels": ["S", 1]}, "label of node 1 must be a string"),
        ({"labels": []}, "at least one node"),
        ({"edges": None}, "'edges' of the forest must be a list, got null"),
        ({"edges": [[0, [1]]]}, "hyper-edge 0 must be"),
        ({"edges": [[0, 1, 0.5]]}, "children of hyper-edge 0 must be a list, got the number 1"),
        ({"edges": [[0, {"1": 0}, 0.5]]}, "children of hyper-edge 0 must be a list"),
        ({"edges": [[0, [1.0], 0.5]]}, "child of hyper-edge 0 must be an integer"),
        ({"edges": [[True, [1], 0.5]]}, "head of hyper-edge 0 must be an integer"),
        ({"edges": [[0, [1], "0.5"]]}, "probability of hyper-edge 0 must be a number"),
        ({"edges": [[0, [1], True]]}, "probability of hyper-edge 0 must be a number"),
        ({"edges": [[0, [1], 10**400]]}, "probability of hyper-edge 0 must be"),
        ({"root": "S"}, "root must be an integer"),
        ({"root": False}, "root must be an integer"),
        ({"root": 10**30}, "root is 1"),
        ({"spans": None}, "'spans' of the forest must be a list, got null"),
        ({"spans": [[0, 1], 3]}, "span of node 1"),
        ({"spans": [[0, 1], [0, 1.0]]}, "end of the span of node 1"),
        ({"fallback": 1}, "'fallback' of the forest must be true or false, got the number 1"),
        ({"fallback": None}, "'fallback' of the forest must be true or false, got null"),
    ],
)
def test_wrong_values_are_named(change, problem):
    assert problem in refusal(json.dumps({**GOOD, **change})).problem


@pytest.mark.parametrize("key", GOOD)
def test_missing_keys_are_named(key):
    rest = {name: value for name, value in GOOD.items() if name != key}
    assert refusal(json.dumps(rest)).problem == f"the forest has no key {key!r}"


def test_the_nearest_key_is_suggested():
    assert "did you mean 'spans'?" in refusal(json.dumps({**GOOD, "span": []})).hint


@pytest.mark.parametrize(
    ("text", "found"),
    [("[]", "a list"), ("null", "null"), ("true", "true"), ("1.5", "1.5"), ('"x"', "'x'")],
)
def test_what_is_no_object_is_named(text, found):
    assert refusal(text).problem.endswith(found)


def test_repeated_keys_are_refused():
    text = '{"labels":["x"],"edges":[],"root":0,"root":0}'
    assert "'root' appears twice" in refusal(text).problem


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_words_for_numbers_are_refused_and_located(name):
    text = f'{{"labels": ["\\"NaN", "x"],\n "edges": [[0, [1], {name}]], "root": 0}}'
    problem = refusal(text)
    assert problem.problem == f"{name} is not a number in JSON"
    assert (problem.line, problem.column) == (2, 21)


def test_numbers_that_overflow_are_refused():
    text = '{"labels":["S","x"],"edges":[[0,[1],1e999]],"root":0}'
    assert "probability of hyper-edge 0" in refusal(text).problem


def test_broken_json_is_located():
    problem = refusal('{"labels": ["x"],\n "edges" []}')
    assert (problem.line, problem.column) == (2, 10)
    assert problem.snippet == ' "edges" []}'


@pytest.mark.parametrize("text", ["", " ", "{", '{"labels": ["x', "{}x", "\ufeff{}", '"\t"'])
def test_what_is_no_json_is_refused(text):
    assert refusal(text).problem.startswith("not valid JSON")


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_deep_nesting_is_refused(opening):
    assert "nested too deeply" in refusal(opening * DEPTH).problem


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.97])
def test_deep_nesting_that_can_be_decoded_is_refused(share):
    depth = int(sys.getrecursionlimit() * share)
    nested = "[" * depth + "]" * depth
    refusal(f'{{"labels":["S","x"],"edges":[{nested}],"root":0}}')


@pytest.mark.skipif(
    not hasattr(sys, "get_int_max_str_digits"), reason="this Python has no limit of digits"
)
def test_too_many_digits_are_refused():
    assert "too many digits" in refusal("9" * 10_000).problem


def test_something_that_is_no_text_is_refused():
    assert "expected JSON text, got bytes" in refusal(b"{}").problem


def test_numbers_that_json_does_not_have_are_not_written():
    with pytest.raises(StructureError, match="cannot be written as JSON"):
        encode_json([float("nan")])


@given(st.text(max_size=30) | st.text('[]{}:,"\\eE+-.0123456789ntf', max_size=30))
def test_any_text_is_decoded_or_refused(text):
    try:
        value = decode_json(text)
    except StructureError:
        return
    assert value == json.loads(text)


def test_a_deep_forest_reads_back():
    forest = Forest(["n"] * DEPTH, [(i, (i + 1,), 0.5) for i in range(DEPTH - 1)], 0)
    assert Forest.from_json(forest.to_json()) == forest
