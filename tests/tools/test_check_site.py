"""What the check of the built documentation notices."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import check_site


def page(title, body=""):
    headerlink = f'<a class="headerlink" href="#{title.lower()}">#</a>'
    return (
        f'<html><body><section id="{title.lower()}"><h1>{title}{headerlink}</h1>{body}</section>'
        "</body></html>"
    )


@pytest.fixture
def site(tmp_path):
    """A site of two pages that is in order."""
    index = {"docnames": ["index", "guide/first"], "titles": ["Start", "First"]}
    (tmp_path / "searchindex.js").write_text(f"Search.setIndex({json.dumps(index)})")
    (tmp_path / "guide").mkdir()
    (tmp_path / "index.html").write_text(
        page("Start", '<a href="guide/first.html#first">1</a><a href="https://a.org/x#y">2</a>')
    )
    (tmp_path / "guide" / "first.html").write_text(page("First", '<a href="../index.html">0</a>'))
    return tmp_path


def add_page(site, name, title):
    path = site / "searchindex.js"
    text = path.read_text()
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    index["docnames"].append(name)
    index["titles"].append(title)
    path.write_text(f"Search.setIndex({json.dumps(index)})")


def test_a_good_site_has_no_problems(site, capsys):
    assert check_site.problems(site) == []
    assert check_site.main([str(site)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("title", ["Searching sentences", "Search"])
def test_a_page_that_sphinx_overwrites_is_noticed(site, title):
    add_page(site, "search", title)
    (site / "search.html").write_text(page("Search"))
    [problem] = check_site.problems(site)
    assert problem.startswith("search: rename the page")


def test_a_page_with_the_title_of_another_is_noticed(site, capsys):
    (site / "guide" / "first.html").write_text(page("Other", '<i id="first"></i>'))
    assert check_site.main([str(site)]) == 1
    assert "guide/first: the title is 'Other', not 'First'" in capsys.readouterr().err


def test_a_page_that_is_not_in_the_site_is_noticed(site):
    add_page(site, "second", "Second")
    assert check_site.problems(site) == ["second: not in the site"]


def test_markup_in_titles_is_no_difference(site):
    add_page(site, "third", "The <code>kw.Tree</code> &amp; more")
    (site / "third.html").write_text(page("The <em>kw.Tree</em>\n&amp; more"))
    assert check_site.problems(site) == []


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("missing.html", "no file missing.html"),
        ("guide/first.html#nowhere", "no anchor guide/first.html#nowhere"),
        ("#nowhere", "no anchor #nowhere"),
    ],
)
def test_a_broken_link_is_noticed(site, link, problem):
    (site / "index.html").write_text(page("Start", f'<a class="reference" href="{link}">1</a>'))
    assert check_site.problems(site) == [f"index.html: {problem}"]


def test_a_missing_picture_is_noticed(site):
    (site / "index.html").write_text(page("Start", '<img alt="a" src="_images/a.png">'))
    assert check_site.problems(site) == ["index.html: no file _images/a.png"]


def test_links_in_code_are_not_links(site):
    (site / "index.html").write_text(page("Start", "<pre>&lt;a href=&quot;no.html&quot;&gt;</pre>"))
    assert check_site.problems(site) == []


def test_a_large_page_is_noticed(site):
    (site / "index.html").write_text(page("Start", "x" * check_site.LARGEST))
    [problem] = check_site.problems(site)
    assert problem.startswith("index.html: 300,") and problem.endswith("at most 300,000")


@pytest.mark.slow
def test_pages_are_checked_in_both_themes(site, monkeypatch, capsys):
    monkeypatch.setattr(check_site, "CHECKED_BY_AXE", ("index", "guide/first"))
    style = "<style>@media (prefers-color-scheme: dark) { body { background: #222 } }</style>"
    body = f'<html lang="en"><title>a</title>{style}<main><h1>First</h1>'
    (site / "guide" / "first.html").write_text(f"<!doctype html>{body}</main></html>")
    (site / "index.html").write_text(f'<!doctype html>{body}<img src="a.png"></main></html>')
    found = list(check_site.check_accessibility(site))
    if "NOT TESTED" in capsys.readouterr().out:
        pytest.skip("no browser")
    assert any(one.startswith("index, light: image-alt") for one in found)
    assert [one.partition(": ")[2].partition(":")[0] for one in found if "guide" in one] == [
        "color-contrast"
    ]
    assert all(one.startswith("guide/first, dark") for one in found if "guide" in one)
