"""Diagrams of the documentation: well-formed, accessible, and true."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import kernelwood as kw

pytest.importorskip("docutils", reason="the tools of the documentation are not installed")
sys.path.append(str(Path(__file__).parents[2] / "docs" / "extensions"))

import diagrams

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def texts(name):
    return [element.text for element in ElementTree.fromstring(diagrams.draw(name)).iter()]


@pytest.mark.parametrize("name", diagrams.DIAGRAMS)
def test_diagrams_are_xml_with_title_and_description(name):
    root = ElementTree.fromstring(diagrams.draw(name))
    assert root.get("role") == "img"
    parts = [root.find(f"{SVG}title"), root.find(f"{SVG}desc")]
    assert all(part is not None and len(part.text) > 10 for part in parts)
    assert root.get("aria-labelledby").split() == [part.get("id") for part in parts]


@pytest.mark.parametrize("name", diagrams.DIAGRAMS)
def test_everything_is_within_the_frame(name):
    root = ElementTree.fromstring(diagrams.draw(name))
    left, top, width, height = map(float, root.get("viewBox").split())
    for text in root.findall(f"{SVG}text"):
        assert left <= float(text.get("x")) <= left + width
        assert top <= float(text.get("y")) <= top + height
    assert width <= diagrams.WIDTH


@pytest.mark.parametrize("name", diagrams.DIAGRAMS)
def test_diagrams_have_no_colors_of_their_own(name):
    assert not re.search(r"#[0-9a-fA-F]{3,6}\b|(fill|stroke)=", diagrams.draw(name))


@pytest.mark.parametrize("name", diagrams.DIAGRAMS)
def test_every_diagram_is_on_a_page(name):
    pages = "".join(path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md"))
    assert f"```{{diagram}} {name}\n```" in pages


@pytest.mark.parametrize("name", ["subsequence", "subset-tree", "partial-tree"])
def test_weights_of_fragments_add_up_to_the_kernel_value(name):
    shown = [text for text in texts(name) if text]
    weights = [float(text) for text in shown if re.fullmatch(r"\d+(\.\d+)?", text)]
    [total] = [text for text in shown if text.startswith("kernel value ")]
    assert len(weights) >= 3
    assert sum(weights) == pytest.approx(float(total.split()[2].rstrip(",")), abs=2e-4)


def test_bits_are_those_of_the_shown_similarities():
    shown = [text for text in texts("hashcode") if text]
    sides = [float(text.rpartition(": ")[2]) for text in shown if text.startswith("max of ")]
    values = re.findall(r"bit \d is (\d)", diagrams.draw("hashcode"))
    assert values == [str(int(a < b)) for a, b in zip(sides[::2], sides[1::2], strict=True)]
    assert set(values) == {"0", "1"}


def test_the_example_of_the_data_flow_is_a_prediction():
    assert any(re.match(r"\w+, probability 0\.\d\d", text or "") for text in texts("data-flow"))


def test_trees_are_drawn_above_their_children():
    drawing = diagrams.draw_tree(kw.Tree.from_brackets("(A b (C d))"))
    rows = {
        text: float(y)
        for y, text in re.findall(r'<text x="[^"]*" y="([^"]*)"[^>]*>(\w)<', "".join(drawing.parts))
    }
    assert rows["A"] < rows["b"] == rows["C"] < rows["d"]
