"""Views that a format can hold."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.io import fit_to_format, left_out, write
from kernelwood.text import (
    ROOT,
    Argument,
    Attribute,
    Document,
    Entity,
    Example,
    Relation,
    Sentence,
)

_tokens = st.integers(0, 3)


def _is_forest(edges):
    """Return whether every token has one head at most, and a path of heads that ends."""
    heads = {dependent: head for head, _, dependent in edges}
    for token in heads:
        for _ in range(5):
            token = heads.get(token, ROOT)
        if token != ROOT:
            return False
    return len(heads) == len(edges)


@given(
    st.lists(st.tuples(st.just(ROOT) | _tokens, st.sampled_from("xy"), _tokens), max_size=5)
    | st.permutations(range(4)).map(lambda order: [*zip(order, "xyx", order[1:], strict=False)])
)
def test_dependencies_become_enhanced_ones_unless_they_form_a_forest(edges):
    edges = list(dict.fromkeys(edge for edge in edges if edge[0] != edge[2]))
    sentence = kw.Sentence.from_words([*"abcd"], dependencies=edges)
    example = kw.Example("a", views={"sentence": sentence})
    made = fit_to_format(example, "conllu").view("sentence")
    named = "dependencies that are not a tree, which became enhanced ones"
    if _is_forest(edges):
        assert (made, left_out(example, "conllu")) == (sentence, [])
    else:
        assert (made.dependencies, made.enhanced) == ((), sentence.dependencies)
        assert left_out(example, "conllu") == [named]


ANNOTATED = Document(
    "Title\nOne\nTwo",
    [Entity("T1", "Gene", ((0, 1), (2, 3)), "T t"), Entity("T2", "Gene", ((6, 9),), "One")],
    [Relation("R1", "x", (Argument("a", "T1"), Argument("b", "T2")), False)],
    (),
    [Attribute("A1", "type", "T1", "y"), Attribute("N1", "Reference", "T2", "D1|D2")],
    [("key", "a"), ("key", "b")],
)


@pytest.mark.parametrize(
    ("format", "lost"),
    [
        ("standoff", ["metadata", "negative relations"]),
        (
            "pubtator",
            [
                "discontinuous entities",
                "negative relations",
                "attributes",
                "metadata",
                "line ends after the first",
            ],
        ),
        (
            "bioc",
            [
                "attributes with the key of another infon",
                "metadata with repeated keys",
                "database ids with separators",
            ],
        ),
    ],
)
def test_parts_of_documents_that_are_lost_are_named(format, lost):
    assert left_out(Example("7", views={"document": ANNOTATED}), format) == lost


@pytest.mark.parametrize("format", ["pubtator", "bioc", "bioc-json"])
@pytest.mark.parametrize("view", [ANNOTATED, Sentence("We\tgo", metadata=[("a", None)] * 2)])
def test_documents_and_sentences_that_were_fitted_are_written(format, view):
    name = type(view).__name__.lower()
    fitted = fit_to_format(Example("7", views={name: view}), format)
    write([fitted], io.StringIO(), format=format)


def test_annotation_tools_lose_what_they_cannot_hold():
    document = kw.Document(
        "Raf binds Ras",
        [kw.text.Entity("a", "x", ((0, 3),)), kw.text.Entity("b", "x", ((4, 5), (8, 9)))],
        [kw.text.Relation("r", "x", [("Agent", "a"), ("Arg2", "b")])],
        [kw.text.Event("e", "x", "a")],
        [kw.text.Attribute("n", "Negation", "e")],
    )
    shared = [
        "entities of several spans, or of none",
        "relations that are negative or not pairs of such entities",
        "roles of arguments",
    ]
    example = kw.Example("a", views={"document": document})
    assert left_out(example, "doccano") == ["events", "attributes", *shared]
    assert left_out(example, "labelstudio") == [
        "events",
        *shared,
        "attributes other than database ids, notes and probabilities",
    ]


def test_annotation_tools_hold_pairs_of_entities():
    document = kw.Document(
        "Raf binds Ras",
        [kw.text.Entity("a", "x", ((0, 3),)), kw.text.Entity("b", "x", ((10, 13),))],
        [kw.text.Relation("r", "x", [("Arg1", "a"), ("Arg2", "b")])],
    )
    example = kw.Example("a", views={"document": document})
    assert [left_out(example, name) for name in ("labelstudio", "doccano", "prodigy")] == [[]] * 3
