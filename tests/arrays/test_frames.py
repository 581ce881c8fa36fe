"""Structures in columns of DataFrames, in arrays of objects, and of other packages."""

from __future__ import annotations

import numpy as np
import pytest

import kernelwood as kw
from kernelwood.arrays import ExampleBatch, as_rows

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
nltk = pytest.importorskip("nltk")

BRACKETS = ["(S (NP we) (VP go))", "(S (NP we) (VP eat))", "(S (NP you) (VP go))"]
TREES = [kw.Tree.from_brackets(text) for text in BRACKETS]
NLTK = [nltk.Tree.fromstring(text) for text in BRACKETS]
WORDS = [kw.Sequence([leaf.label for leaf in tree.leaves()]) for tree in TREES]
KERNEL = kw.SubsetTreeKernel()
EXPECTED = KERNEL.gram(TREES)


def objects(values, shape=(-1,)):
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made.reshape(shape)


def pandas(**columns):
    return pd.DataFrame({name: objects(values) for name, values in columns.items()})


def polars(**columns):
    return pl.DataFrame([pl.Series(name, v, dtype=pl.Object) for name, v in columns.items()])


COLUMNS = {
    "list": TREES,
    "tuple": tuple(TREES),
    "generator": (tree for tree in TREES),
    "array": objects(TREES),
    "column of an array": objects(TREES, (-1, 1)),
    "pandas column": pandas(tree=TREES)["tree"],
    "pandas frame": pandas(tree=TREES),
    "polars column": polars(tree=TREES)["tree"],
    "polars frame": polars(tree=TREES),
    "nltk": NLTK,
    "nltk in pandas": pandas(tree=NLTK),
    "nltk in polars": polars(tree=NLTK),
    "both": [NLTK[0], TREES[1], NLTK[2]],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_structures_is_a_batch(name):
    assert list(kw.batch(COLUMNS[name] if name != "generator" else iter(TREES))) == TREES


@pytest.mark.parametrize("name", [name for name in COLUMNS if name != "generator"])
def test_kernels_compare_columns(name):
    np.testing.assert_array_equal(KERNEL.gram(COLUMNS[name]), EXPECTED)


def test_a_kernel_compares_two_trees_of_nltk():
    assert KERNEL.value(NLTK[0], NLTK[1]) == KERNEL.value(TREES[0], TREES[1])


def test_fragments_of_trees_of_nltk_are_those_of_trees():
    expected = kw.shared_fragments(KERNEL, TREES[0], TREES[1])
    assert kw.shared_fragments(KERNEL, NLTK[0], NLTK[1]) == expected


@pytest.mark.parametrize("make", [pandas, polars])
def test_several_columns_are_views_of_examples(make):
    made = kw.batch(make(tree=NLTK, words=WORDS))
    assert isinstance(made, ExampleBatch)
    assert list(made.view("tree")) == TREES
    assert made.ids == ["0", "1", "2"]


def test_examples_are_named_by_the_index():
    frame = pandas(tree=TREES, words=WORDS).set_axis(["a", "b", "c"])
    assert kw.batch(frame).ids == ["a", "b", "c"]


def test_examples_are_numbered_if_the_index_is_not_unique():
    frame = pandas(tree=TREES, words=WORDS).set_axis([7, 7, 7])
    assert kw.batch(frame).ids == ["0", "1", "2"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_of_numbers_are_vectors(make):
    rows = kw.batch(make({"a": [1.0, 2.0], "b": [0, 3]}))
    assert [tuple(row) for row in rows] == [(1.0, 0.0), (2.0, 3.0)]


@pytest.mark.parametrize("make", [pandas, polars])
def test_a_classifier_takes_a_frame(make):
    model = kw.KernelSVC(KERNEL).fit(make(tree=TREES), ["x", "y", "x"])
    assert list(model.predict(make(tree=NLTK))) == list(model.predict(TREES))


@pytest.mark.parametrize("make", [pandas, polars])
def test_a_kernel_of_views_takes_a_frame(make):
    kernel = kw.OnView("tree", KERNEL) + kw.OnView("words", kw.SubsequenceKernel())
    frame = make(tree=TREES, words=WORDS)
    examples = [
        kw.Example(str(row), views={"tree": tree, "words": words})
        for row, (tree, words) in enumerate(zip(TREES, WORDS, strict=True))
    ]
    np.testing.assert_array_equal(kernel.gram(frame), kernel.gram(examples))


def test_a_column_of_texts_is_searched():
    index = kw.SentenceIndex().fit(pd.Series(["we go home", "cats sleep"]))
    assert index.search("we go", k=1)[0].text == "we go home"


def test_columns_of_texts_are_compared():
    texts = pd.Series(["We met a cat. It was old.", "It was old."])
    documents = [kw.Document(text) for text in texts]
    kernel = kw.SubsequenceKernel()
    np.testing.assert_array_equal(
        kw.search.text_similarities(kernel, texts),
        kw.search.text_similarities(kernel, documents),
    )


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pandas(tree=[TREES[0], None]), r"row 1 of the column 'tree' is None.*\n.*dropna"),
        (pandas(tree=[TREES[0], float("nan")]), r"row 1 .* is nan of type float.*\n.*dropna"),
        (pandas(tree=[TREES[0], pd.NA]), r"row 1 .* of type NAType.*\n.*dropna"),
        (polars(tree=[TREES[0], None]), r"row 1 of the column 'tree' is None"),
        (
            pandas(tree=TREES).assign(pmid=[1, 2, 3]),
            r"row 0 of the column 'pmid' is 1 of type int.*\n.*\[\[.tree.\]\]",
        ),
        (pd.DataFrame(), "the DataFrame has no columns"),
        (pd.concat([pandas(tree=TREES)] * 2, axis=1), "different names"),
        (pd.DataFrame({"text": ["we go"]}), r"structure 0 .* got str\n.*from_brackets"),
        (objects(TREES[:2] * 2, (2, 2)), r"array of objects of shape \(2, 2\)"),
        (NLTK[0], r"got a single Tree\n.*in a list"),
        ({TREES[0]}, r"got a set\n.*no order"),
        (pl.LazyFrame({"a": [1]}), r"got LazyFrame\n.*collect"),
    ],
)
def test_what_is_not_a_column_of_structures_is_refused(frame, message):
    with pytest.raises(kw.errors.StructureError, match=message):
        kw.batch(frame)


@pytest.mark.parametrize(
    ("thing", "hint"),
    [
        (kw.Document("We go."), "document.sentences"),
        (kw.Sentence("We go."), "make_view"),
    ],
)
def test_what_no_kernel_compares_is_refused_with_a_hint(thing, hint):
    with pytest.raises(kw.errors.StructureError, match=rf"structure 0 .*\n.*{hint}"):
        kw.batch([thing])


def test_other_values_are_their_own_rows():
    assert as_rows(TREES) is TREES


def test_views_of_examples_are_converted():
    networkx = pytest.importorskip("networkx")
    example = kw.Example("e", views={"tree": NLTK[0], "graph": networkx.DiGraph([("a", "b")])})
    assert example.view("tree") == TREES[0]
    assert example.view("graph") == kw.Graph({"a": "a", "b": "b"}, [("a", "", "b")])


def test_a_tree_of_nltk_without_children_is_not_a_vector():
    assert list(kw.batch([nltk.Tree("NP", [])])) == [kw.Tree("NP")]
