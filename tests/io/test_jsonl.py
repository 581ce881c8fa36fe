from __future__ import annotations

import io
import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sizes import DEPTH

import kernelwood as kw
from kernelwood.errors import ReadError, StructureError
from kernelwood.io import read, write, write_jsonl
from kernelwood.structures import Forest, Graph, Sequence, Tree
from kernelwood.text import Document, Entity, Example, Origin, Sentence, Token

FOREST = Forest(
    ["S", "A", "x", "y"],
    [(0, (1, 3), 0.1), (0, (2, 3), 0.2), (1, (2,), 1.0)],
    0,
    [(0, 2), (0, 1), (0, 1), (1, 2)],
)
BARE = '{"labels":["S","x"],"edges":[[0,[1],0.5]],"root":0}'


def parse(text, errors="raise", views=None):
    return read(io.BytesIO(text.encode()), format="jsonl", errors=errors, views=views)


def line(view, **others):
    return json.dumps({**others, "views": {"v": view}}) + "\n"


def view(value):
    return parse(line(value))[0].view("v")


def refusal(text, views=None):
    with pytest.raises(ReadError) as caught:
        parse(text, views=views)
    assert caught.value.line == 1
    return caught.value


def written(*examples, **options):
    out = io.StringIO()
    write_jsonl(examples, out, **options)
    return out.getvalue()


# Views


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain |BT| text\n", "plain |BT| text\n"),
        ("", ""),
        ([1.0, 2, -0.5], (1.0, 2.0, -0.5)),
        ([], ()),
        ({"vector": {"a": 1, "b": 0.5}}, {"a": 1.0, "b": 0.5}),
        ({"tree": "(S (NP x) y)"}, Tree("S", [Tree("NP", [Tree("x")]), Tree("y")])),
        ({"sequence": [["e", "a"], "b"]}, Sequence([("e", "a"), "b"])),
        ({"sequence": []}, Sequence([])),
        ({"graph": {"nodes": {"a": "A"}}}, Graph({"a": "A"})),
        (
            {"graph": {"nodes": {"a": "A", "b": "B"}, "edges": [["a", "r", "b"]], "root": "a"}},
            Graph({"a": "A", "b": "B"}, [("a", "r", "b")], "a"),
        ),
        (
            {"graph": {"nodes": ["A", "B"], "edges": [[0, "r", 1]]}},
            Graph(["A", "B"], [(0, "r", 1)]),
        ),
        ({"graph": {"nodes": [[7, "A"], ["b", "B"]]}}, Graph({7: "A", "b": "B"})),
        ({"forest": json.loads(BARE)}, Forest(["S", "x"], [(0, (1,), 0.5)], 0)),
        (
            {"sentence": {"text": "we go", "tokens": [["we", 0, 2, "I"], ["go", 3, 5]]}},
            Sentence("we go", [Token("we", 0, 2, "I"), Token("go", 3, 5)]),
        ),
        (
            {"document": {"text": "Raf\n", "entities": [["T1", "Protein", [[0, 3]]]]}},
            Document("Raf\n", [Entity("T1", "Protein", ((0, 3),))]),
        ),
    ],
)
def test_views(value, expected):
    assert view(value) == expected


def test_numbers_of_vectors_are_floats():
    assert [type(number) for number in view([1, 2.0])] == [float, float]


def test_a_bare_forest_is_an_example():
    [example] = parse(BARE)
    assert (example.id, dict(example.views)) == ("stream:1", {"forest": Forest.from_json(BARE)})


def test_bare_forests_and_examples_may_alternate():
    assert len(parse(f"{BARE}\n{line('x')}{BARE}\n")) == 3


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "view 'v': expected a string, a list of numbers, or an object"),
        (True, "got true"),
        (3, "got the number 3"),
        ({}, "got an object with 0 keys"),
        ({"tree": "(x)", "text": "x"}, "got an object with 2 keys"),
        ({"parse": "(x)"}, "got an object with the key 'parse'"),
        ({"tree": {}}, "view 'v': a tree must be a string, got an object"),
        ({"tree": "(S (NP x)"}, "bracket is never closed (character 1 of the brackets)"),
        ({"tree": ""}, "no tree"),
        ({"sequence": "a b"}, "a sequence must be a list, got the string 'a b'"),
        ({"sequence": ["a", 3]}, "element 1 must be a string"),
        ({"sequence": [["a", "b", "c"]]}, "element 0 must be"),
        ({"graph": []}, "a graph must be an object, got a list"),
        ({"graph": {"edges": []}}, "a graph has no key 'nodes'"),
        ({"graph": {"nodes": {}, "edge": []}}, "a graph has an unknown key 'edge'"),
        ({"graph": {"nodes": "ab"}}, "'nodes' of a graph must be a list"),
        ({"graph": {"nodes": ["A"], "edges": {}}}, "'edges' of a graph must be a list"),
        ({"graph": {"nodes": ["A"], "edges": [[0, "r"]]}}, "edge 0 must be"),
        ({"graph": {"nodes": ["A"], "root": 1}}, "root is 1"),
        ({"graph": {"nodes": [[True, "A"]]}}, "id of node 0"),
        ({"vector": [1.0]}, "a vector with names must be an object, got a list"),
        ({"vector": {"a": "1"}}, "the value of 'a' must be a finite number"),
        ([1, None], "component 1 must be a finite number, got null"),
        ([True], "component 0 must be a finite number, got true"),
        ([10**400], "component 0 must be a finite number"),
        ({"forest": {"labels": ["x"], "edges": [], "root": 1}}, "view 'v': root is 1"),
        ({"forest": []}, "view 'v': the forest must be an object, got a list"),
        ({"sentence": "we go"}, "view 'v': the sentence must be an object, got the string"),
        (
            {"sentence": {"text": "we", "tokens": [["we", 0, 3]]}},
            "view 'v': token 0 ('we') has the span",
        ),
        ({"document": []}, "view 'v': the document must be an object, got a list"),
    ],
)
def test_wrong_views_are_named(value, problem):
    assert problem in refusal(line(value)).problem


def test_numbers_that_overflow_are_refused():
    assert "component 0" in refusal('{"views": {"v": [1e999]}}').problem


# Lines


@pytest.mark.parametrize(
    "label", ["LOC", "", 3, -1.5, 10**30, ["a", "b"], [], ["score", 1.5], ["a", ["score", 2.0]]]
)
def test_labels(label):
    def frozen(value):
        return tuple(map(frozen, value)) if isinstance(value, list) else value

    assert parse(line("x", label=label))[0].label == frozen(label)


def test_whole_numbers_stay_whole_as_labels():
    assert type(parse(line("x", label=3))[0].label) is int


@pytest.mark.parametrize("others", [{}, {"label": None}])
def test_an_unknown_label_is_none(others):
    assert parse(line("x", **others))[0].label is None


@pytest.mark.parametrize("label", [True, {}, ["a", None], [["a"]], [["a", True]], [[1, 2]]])
def test_wrong_labels_are_refused(label):
    assert refusal(line("x", label=label)).problem.startswith("a label cannot be")


def test_an_infinite_label_is_refused():
    assert "a label cannot be" in refusal('{"label": 1e999, "views": {}}').problem


def test_the_id_is_kept():
    assert parse(line("x", id="s1"))[0].id == "s1"


def test_without_an_id_file_and_line_name_the_example(tmp_path):
    path = tmp_path / "part.one.jsonl"
    path.write_text("\n" + line("x"))
    assert [(example.id, example.origin.line) for example in read(path)] == [("part.one:2", 2)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "the example must be an object, got a list"),
        ("7", "the example must be an object, got the number 7"),
        ("{}", "the example has no key 'views'"),
        ('{"id": 7, "views": {}}', "'id' must be a string, got the number 7"),
        ('{"id": null, "views": {}}', "'id' must be a string, got null"),
        ('{"view": {}}', "the example has an unknown key 'view'"),
        ('{"views": []}', "'views' must be an object, got a list"),
        ('{"views": {}, "views": {}}', "the key 'views' appears twice"),
        ('{"views": {"a": "x", "a": "y"}}', "the key 'a' appears twice"),
        ('{"labels": ["x"], "root": 0}', "view 'forest': the forest has no key 'edges'"),
        ('{"labels": ["x"], "edges": [], "root": 0, "id": "a"}', "an unknown key 'id'"),
        ('{"labels": ["x"], "edges": [], "views": {}}', "unknown key 'labels'"),
    ],
)
def test_wrong_lines_are_named(text, problem):
    assert problem in refusal(text).problem


def test_broken_json_is_located_with_a_hint():
    problem = refusal('{"views": {')
    assert problem.column == 12
    assert problem.hint == "every line is one complete JSON object"


def test_words_for_numbers_are_located():
    problem = refusal('{"views": {"NaN": [1, NaN]}}')
    assert (problem.problem, problem.column) == ("NaN is not a number in JSON", 23)


def test_reading_goes_on_after_every_kind_of_problem():
    broken = ["{", "[]", '{"views": {"v": 1}}', "[" * DEPTH, '{"views": {"v": [NaN]}}', "{}"]
    examples = parse("\n".join([*broken, line("x")]), errors="collect")
    assert len(examples) == 1
    assert [problem.line for problem in examples.tally.problems] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("opening", ["[", '{"views":'])
def test_deep_nesting_is_refused(opening):
    assert "nested too deeply" in refusal(opening * DEPTH).problem


@pytest.mark.parametrize(
    "kind", ["tree", "forest", "sequence", "graph", "vector", "sentence", "document"]
)
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.97])
def test_deep_nesting_that_can_be_decoded_is_refused(kind, share):
    depth = int(sys.getrecursionlimit() * share)
    refusal(f'{{"views": {{"v": {{"{kind}": {"[" * depth}{"]" * depth}}}}}}}')


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.97])
def test_deep_nesting_inside_a_graph_is_refused(share):
    depth = int(sys.getrecursionlimit() * share)
    nested = "[" * depth + "]" * depth
    refusal(f'{{"views": {{"v": {{"graph": {{"nodes": ["A"], "edges": [{nested}]}}}}}}}}')


@pytest.mark.skipif(
    not hasattr(sys, "get_int_max_str_digits"), reason="this Python has no limit of digits"
)
def test_too_many_digits_are_refused():
    assert "too many digits" in refusal(f'{{"views": {{"v": [{"9" * 10_000}]}}}}').problem


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.97])
@pytest.mark.parametrize("part", ["tokens", "entities", "alignments", "metadata", "tree", "amr"])
def test_deep_nesting_inside_a_sentence_is_refused(part, share):
    depth = int(sys.getrecursionlimit() * share)
    nested = "[" * depth + "]" * depth
    refusal(f'{{"views": {{"v": {{"sentence": {{"text": "", "{part}": {nested}}}}}}}}}')


# Wanted views


def test_only_wanted_views_are_built():
    text = '{"views": {"a": "x", "b": {"tree": "(broken"}}}'
    assert dict(parse(text, views=["a"])[0].views) == {"a": "x"}


def test_a_wanted_view_of_a_bare_forest():
    assert list(parse(BARE, views=["forest"])[0].views) == ["forest"]


def test_a_wanted_view_that_is_missing_is_an_error():
    problem = refusal('{"views": {"words": "x"}}', views=["word"])
    assert problem.problem == "there is no view 'word'"
    assert problem.hint == "did you mean 'words'? the line has words"


# Writing


def test_the_written_line_is_compact():
    example = Example("s1", "LOC", {"amr": Graph({"a": "A"}, [("a", "r", "a")], "a"), "t": "é"})
    assert written(example) == (
        '{"id":"s1","label":"LOC","views":'
        '{"amr":{"graph":{"nodes":{"a":"A"},"edges":[["a","r","a"]],"root":"a"}},"t":"é"}}\n'
    )


def test_only_wanted_views_are_written():
    assert written(Example("a", views={"x": "1", "y": "2"}), views="y") == (
        '{"id":"a","views":{"y":"2"}}\n'
    )


def test_the_suffix_chooses_the_format(tmp_path):
    for name in ("a.jsonl", "a.ndjson.gz"):
        write([Example("a", views={"forest": FOREST})], tmp_path / name)
        assert read(tmp_path / name)[0].view("forest") == FOREST


def test_content_is_recognized_without_a_suffix():
    assert len(read(io.StringIO(" " + BARE))) == 1


def test_numbers_of_numpy_are_written():
    views = {"v": (np.float32(0.5), np.int64(2)), "w": {"a": np.float64(0.1)}}
    [example] = parse(written(Example("a", np.int64(3), views)))
    assert (example.label, example.view("v"), example.view("w")) == (3, (0.5, 2.0), {"a": 0.1})


@pytest.mark.parametrize(
    ("example", "problem"),
    [
        (Example("a", True), "label True is neither"),
        (Example("a", (("x",),)), "is neither string, number"),
        (Example("a", frozenset()), "is neither string, number"),
        (Example("a", float("nan")), "nan is not a finite number"),
        (Example("a", views={"v": (float("inf"),)}), "inf is not a finite number"),
        (Example("a", views={"v": (2**53 + 1,)}), "9007199254740993 is not a finite number"),
        (Example("a", views={"v": (10**400,)}), "is not a finite number"),
        (Example("a", views={"v": {"x": Fraction(1, 3)}}), "is not a finite number"),
        (Example("a", origin=Origin("a", 0)), "the line of an origin must be"),
        (Example("a", origin=Origin(Path("a"))), "the path of an origin must be a string"),
    ],
)
def test_what_json_cannot_hold_is_refused(example, problem):
    with pytest.raises(StructureError, match="example 'a' cannot be written") as caught:
        written(example)
    assert problem in caught.value.problem


def test_a_missing_view_is_named():
    with pytest.raises(StructureError, match="has no view 'tree'"):
        written(Example("a"), views=["tree"])


def test_a_deep_tree_reads_back():
    tree = Tree("x")
    for _ in range(DEPTH):
        tree = Tree("n", (tree,))
    assert parse(written(Example("a", views={"v": tree})))[0].view("v") == tree


def test_a_deep_forest_reads_back():
    forest = Forest(["n"] * DEPTH, [(i, (i + 1,), 0.5) for i in range(DEPTH - 1)], 0)
    assert parse(written(Example("a", views={"v": forest})))[0].view("v") == forest


def test_vectors_are_views_that_kernels_read_and_are_written_back():
    views = {"dense": np.array([0.5, 1.0]), "list": [1, 2], "named": {"a": 0.25}}
    out = io.StringIO()
    kw.write(kw.batch([kw.Example("1", views=views)]), out, format="jsonl")
    again = kw.read(io.StringIO(out.getvalue()), format="jsonl")
    assert again[0].views == {"dense": (0.5, 1.0), "list": (1.0, 2.0), "named": {"a": 0.25}}
    values = [kw.OnView(name, kw.VectorKernel()).value(again[0], again[0]) for name in views]
    assert values == [1.25, 5.0, 0.0625]
