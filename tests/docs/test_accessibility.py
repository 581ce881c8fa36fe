"""Corrections to pages of the documentation."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "docs" / "extensions"))

from accessibility import corrected


def test_headings_and_landmarks_are_complete():
    page = '<p class="caption" role="heading">Guide</p><aside class="toc-drawer"></aside>'
    assert corrected(page) == (
        '<p class="caption" role="heading" aria-level="2">Guide</p>'
        '<aside class="toc-drawer" aria-label="This page"></aside>'
    )


def test_parameters_on_lines_of_their_own_are_not_definitions():
    lines = [f'<dd><em class="sig-param">{name}</em>,</dd>\n' for name in "ab"]
    signature = f"<dl>\n{''.join(lines)}</dl>"
    page = corrected(f"<dl><dt>f({signature})</dt><dd>text</dd></dl>")
    assert page.count("<dl>") == page.count("<dd>") == page.count("</dd>") == 1
    assert page.count('<span class="sig-line"><em class="sig-param">') == 2
    assert page.count("<span") == page.count("</span>")


def test_a_correct_page_stays_as_it_is():
    page = corrected('<pre>1</pre><p class="caption" role="heading">Guide</p>')
    assert corrected(page) == page


def test_headers_of_tables_have_text():
    formula = '<math xmlns="m">\n  <mi>K</mi>\n  <mo>(</mo>\n  <mi>a</mi>\n  <mo>)</mo>\n</math>'
    page = corrected(f'<th class="head"><p></p></th><th class="head"><p>{formula}</p></th>')
    assert page.startswith('<td class="head"></td><th class="head"><p><math aria-label="K(a)" xml')
    assert corrected(page) == page
    assert corrected(f"<td><p>{formula}</p></td>") == f"<td><p>{formula}</p></td>"
