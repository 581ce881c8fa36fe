"""Tests of JATS XML."""

from __future__ import annotations

import io

import pytest
from article_files import DOCTYPE, named, only

from kernelwood.io import read


def article(body="", front="", after=""):
    return (
        '<article article-type="research-article"><front><article-meta>'
        f"{front}</article-meta></front><body>{body}</body>{after}</article>"
    )


def paragraph(content):
    return only(article(f"<p>{content}</p>"), "jats").text


def test_an_article_is_title_abstract_and_sections():
    made = only(
        DOCTYPE.format("article")
        + article(
            "<p>Intro.</p><sec><label>1</label><title>Results</title><p>One.</p><p>Two.</p>"
            "<sec><title>Cells</title><p>Three.</p></sec></sec>",
            "<title-group><article-title>On <italic>Raf</italic></article-title>"
            "<alt-title>no</alt-title></title-group><abstract><title>Abstract</title><sec>"
            "<title>Aim</title><p>We ask.</p></sec></abstract>",
        )
    )
    assert named(made) == {
        "title": "On Raf",
        "abstract/Aim": "Aim\n\nWe ask.",
        "body": "Intro.",
        "body/Results": "Results\n\nOne.\n\nTwo.",
        "body/Results/Cells": "Cells\n\nThree.",
    }
    assert made.text == "\n\n".join(named(made).values())


def test_captions_follow_the_body():
    made = only(
        article(
            "<p>One <fig><label>Figure 1.</label><caption><title>Raf</title><p>A blot.</p>"
            "</caption></fig>two.</p><table-wrap><label>Table 2</label><caption>"
            "<p>Counts.</p></caption><table><tr><td>7</td></tr></table></table-wrap>"
        )
    )
    assert named(made) == {
        "body": "One two.", "figure/Figure 1": "Raf\n\nA blot.", "table/Table 2": "Counts.",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            'Raf [<xref ref-type="bibr">1</xref>,<xref ref-type="bibr">2</xref>] binds.',
            "Raf binds.",
        ),
        ('Raf<sup><xref ref-type="bibr">1</xref>-<xref ref-type="bibr">3</xref></sup>.', "Raf."),
        ('Raf (<xref ref-type="bibr">Poe, 2001</xref>).', "Raf (Poe, 2001)."),
        ('see (ref. <xref ref-type="bibr">4</xref>)', "see (ref.)"),
        ('Raf (<xref ref-type="fig">Fig. 1</xref>).', "Raf (Fig. 1)."),
        ("H<sub>2</sub>O<break/>x", "H2O x"),
        ("a <named-content>b</named-content> c", "a b c"),
    ],
)
def test_citations_by_number_are_left_out(content, text):
    assert paragraph(content) == text


def test_lists_are_paragraphs_in_order():
    assert paragraph("First: <list><list-item><p>one</p></list-item></list> Then.") == (
        "First:\n\none\n\nThen."
    )


def test_what_is_left_out_is_counted():
    text = article(
        "<p>a <inline-formula><mml:math/></inline-formula> b<fn><p>no</p></fn></p>"
        "<disp-formula>x</disp-formula>",
        after="<back><ref-list><ref><article-title>no</article-title></ref></ref-list></back>"
        "<sub-article><body><p>no</p></body></sub-article>",
    )
    examples = read(io.StringIO(text))
    assert examples[0].view("document").text == "a b"
    assert set(examples.tally.remarks) == {
        "formulas left out", "footnotes left out", "references and back matter left out",
        "reviews and replies left out",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ({"pmid": "5", "pmc": "6", "doi": "10.1/a"}, "PMC6"),
        ({"pmcid": "PMC6"}, "PMC6"),
        ({"pmid": "5", "doi": "10.1/a"}, "5"),
        ({"doi": "10.1/a"}, "10.1/a"),
        ({"publisher-id": "x"}, "stream:1"),
    ],
)
def test_the_best_known_id_names_the_article(ids, expected):
    front = "".join(
        f'<article-id pub-id-type="{kind}">{value}</article-id>' for kind, value in ids.items()
    )
    [example] = read(io.StringIO(article("<p>a</p>", front)))
    assert example.id == expected


def test_prefixes_of_names_do_not_matter():
    text = '<j:article xmlns:j="x" dtd-version="1"><j:body><j:p>a</j:p></j:body></j:article>'
    assert only(text, "jats").text == "a"


def test_years_of_references_are_not_that_of_the_article():
    front = (
        "<pub-date><year>2001</year></pub-date><history><date><year>1990</year></date></history>"
    )
    assert ("year", "2001") in only(article("<p>a</p>", front)).metadata
