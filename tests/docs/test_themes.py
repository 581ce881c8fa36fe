"""Pictures of the documentation in both themes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("docutils", reason="the tools of the documentation are not installed")
sys.path.append(str(Path(__file__).parents[2] / "docs" / "extensions"))

from docutils import nodes
from docutils.utils import new_document
from themes import add_dark_pictures


def test_a_dark_picture_stands_beside_its_light_one(tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a-dark.png").touch()
    page = new_document("page")
    page += nodes.paragraph("", "", nodes.image(uri="images/a.png", alt="A"))
    page += nodes.image(uri="images/b.png", alt="B")
    add_dark_pictures(page, tmp_path)
    assert [(one["uri"], one["alt"], one["classes"]) for one in page.findall(nodes.image)] == [
        ("images/a.png", "A", ["only-light"]),
        ("images/a-dark.png", "A", ["only-dark"]),
        ("images/b.png", "B", []),
    ]


def test_pictures_of_the_review_pages_are_there_in_both_themes():
    folder = Path(__file__).parents[2] / "docs" / "images"
    names = {file.name for file in folder.glob("review-*.png")}
    assert names == {
        f"review-{page}{theme}.png"
        for page in ("document", "facts", "model", "queue")
        for theme in ("", "-dark")
    }
