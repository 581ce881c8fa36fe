"""The glossary is written from one table."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import glossary
from glossary import headings, link, main, page_of, slug


@pytest.fixture
def docs(tmp_path):
    (tmp_path / "gates.md").write_text("# Gates\n\n```sh\n# no heading\n```\n\n## What it costs\n")
    return tmp_path


def table(**terms):
    return {"topics": {"kernels": "Kernels"}, "kernels": terms}


def test_the_page_is_up_to_date():
    assert main(["--check"]) == 0


def test_a_page_that_is_out_of_date_is_noticed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(glossary, "PAGE", tmp_path / "glossary.md")
    assert main(["--check"]) == 1
    assert "out of date" in capsys.readouterr().err
    assert main([]) == 0
    assert main(["--check"]) == 0


def test_terms_are_sorted_and_have_links(docs):
    page = page_of(
        table(
            view={"meaning": "A structure.", "see": ["gates.md#what-it-costs"]},
            Gate={"meaning": "A weight.", "also": ["switch"], "see": ["gates.md"]},
        ),
        docs,
    )
    assert page.endswith(
        "\n## Kernels\n\n| term | meaning | see |\n|---|---|---|\n"
        "| **Gate** (switch) | A weight. | [Gates](gates.md) |\n"
        "| **view** | A structure. | [What it costs](gates.md#what-it-costs) |\n"
    )


def test_headings_in_code_do_not_count(docs):
    assert headings(docs / "gates.md") == {
        "": "Gates", "gates": "Gates", "what-it-costs": "What it costs",
    }  # fmt: skip


@pytest.mark.parametrize("target", ["gate.md", "gates.md#cost"])
def test_links_that_lead_to_no_page_or_heading_are_errors(docs, target):
    with pytest.raises(ValueError, match=target):
        link(target, docs)


def test_a_term_is_in_one_topic(docs):
    given = table(gate={"meaning": "A weight."}) | {"learning": {"Gate": {"meaning": "Else."}}}
    given["topics"]["learning"] = "Learning"
    with pytest.raises(ValueError, match="gate is in two topics"):
        page_of(given, docs)


def test_unknown_keys_and_topics_are_errors(docs):
    with pytest.raises(ValueError, match="unknown key means"):
        page_of(table(gate={"means": "A weight."}), docs)
    with pytest.raises(ValueError, match="more has no title"):
        page_of(table() | {"more": {}}, docs)


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Smoothed: SPTK and CSPTK", "smoothed-sptk-and-csptk"),
        ("How good are they?", "how-good-are-they"),
        ("A `view`, by name", "a-view-by-name"),
    ],
)
def test_anchors_are_those_of_the_built_pages(heading, anchor):
    assert slug(heading) == anchor
