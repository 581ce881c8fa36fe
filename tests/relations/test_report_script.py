"""The functions of the script of reports that do not need a page, run by Node.js."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files

import pytest
from hypothesis import given, settings, strategies as st

from kernelwood.relations import MarkedText

NODE = shutil.which("node")
SCRIPT = files("kernelwood.relations").joinpath("templates", "report.js").read_text("utf-8")
ITEM = {
    "text": "raf activates mek1",
    "type": "2",
    "document": "7",
    "kind": "ok",
    "probability": 0.8,
}
ANY = {"words": [], "type": "", "document": "", "kinds": [], "probability": 0}

pytestmark = pytest.mark.skipif(NODE is None, reason="Node.js is not installed")


def run(expression, **values):
    """Return the value of an expression as JSON; the values are its variables."""
    names = ", ".join(values)
    code = (
        f"{SCRIPT}\nconst {{ {names} }} = JSON.parse(require('fs').readFileSync(0, 'utf8'));\n"
        f"console.log(JSON.stringify({expression}));"
    )
    made = subprocess.run(
        [NODE, "-e", code], input=json.dumps(values), capture_output=True, text=True, check=True
    )
    return json.loads(made.stdout)


@pytest.mark.parametrize(
    ("wanted", "accepted"),
    [
        ({}, True),
        ({"words": ["mek", "raf"]}, True),
        ({"words": ["raf", "erk"]}, False),
        ({"type": "2"}, True),
        ({"type": "1"}, False),
        ({"document": "7"}, True),
        ({"document": "77"}, False),
        ({"kinds": ["fp", "ok"]}, True),
        ({"kinds": ["fp"]}, False),
        ({"probability": 0.8}, True),
        ({"probability": 0.81}, False),
    ],
)
def test_filters(wanted, accepted):
    assert run("accepts(item, wanted)", item=ITEM, wanted={**ANY, **wanted}) is accepted


def test_search_ignores_case_and_accents():
    assert run("folded(text)", text="Ménière ΑΒ İL-2") == "meniere αβ il-2"


def test_numbers_are_sorted_as_numbers_and_ties_keep_their_order():
    rows = [[10, "a"], [9, "b"], [10, "c"], [-1, "d"]]
    made = run("[true, false].map((down) => ordered(rows, (row) => row[0], down))", rows=rows)
    assert ["".join(name for _, name in some) for some in made] == ["acbd", "dbac"]


def test_names_with_numbers_are_sorted_by_the_numbers():
    assert run("ordered(names, (name) => name, false)", names=["d10", "D9", "d1"]) == [
        "d1",
        "D9",
        "d10",
    ]


def test_spans_are_read():
    assert run("spansOf('0-3,14-18')") == [[0, 3], [14, 18]]
    assert run("[spansOf(''), spansOf(undefined)]") == [[], []]


@pytest.mark.parametrize(("n", "pages"), [(0, 1), (1, 1), (25, 1), (26, 2), (51, 3)])
def test_pages_are_counted(n, pages):
    assert run("pageCount(n, 25)", n=n) == pages


@st.composite
def marked_texts(draw):
    text = draw(st.text(st.sampled_from("ab c.é😀漢"), min_size=1, max_size=30))
    place = st.integers(0, len(text) - 1)
    span = st.tuples(place, place).map(lambda ends: (min(ends), max(ends) + 1))
    spans = st.lists(span, max_size=3).map(tuple)
    return MarkedText(text, draw(spans), draw(spans), draw(spans))


@settings(max_examples=5, deadline=None)
@given(st.lists(marked_texts(), min_size=20, max_size=20))
def test_pieces_are_those_of_the_library(marked):
    texts = [
        [one.text, {"trigger": one.trigger, "entity": one.entities, "shared": one.shared}]
        for one in marked
    ]
    found = run("texts.map(([text, kinds]) => pieces(text, kinds))", texts=texts)
    assert found == [[list(piece) for piece in one.pieces()] for one in marked]
