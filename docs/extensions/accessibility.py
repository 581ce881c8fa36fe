"""Corrections to the HTML of the theme and of Sphinx, which axe-core asks for."""

from __future__ import annotations

import re
from typing import Any

_REPLACED = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Site">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="This page">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    '<th class="head"><p></p></th>': '<td class="head"></td>',
    ' role="doc-biblioentry"': ' role="listitem"',  # deprecated, in a list
    "<pre>": '<pre tabindex="0">',  # wide code scrolls, also by keys
}
# Parameters of a signature on lines of their own: Sphinx writes definitions without terms.
_SIGNATURE = re.compile(r'<dl>\s*((?:<dd><em class="sig-param">.*?</dd>\s*)+)</dl>', re.DOTALL)
# Headers of tables that are formulas: axe-core takes no text from MathML.
_FORMULA = re.compile(
    r'(<th class="head"><p><math)( xmlns="[^"]*">(?:(?!</math>).)*</math></p></th>)', re.DOTALL
)


def corrected(page: str) -> str:
    """Return a page that axe-core does not object to."""
    for old, new in _REPLACED.items():
        page = page.replace(old, new)
    return _FORMULA.sub(_labeled, _SIGNATURE.sub(_lines, page))


def _lines(found: re.Match[str]) -> str:
    inside = found[1].replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")
    return f'<span class="sig-lines">{inside}</span>'


def _labeled(found: re.Match[str]) -> str:
    text = re.sub(r"<[^>]*>|\s", "", f"<math{found[2]}")
    return f'{found[1]} aria-label="{text}"{found[2]}'


def correct_pages(app: Any) -> None:
    """Let the builder correct every page that it writes."""
    templates = getattr(app.builder, "templates", None)
    if templates is None:  # not a builder of HTML
        return
    render = templates.render

    def render_corrected(template: str, context: dict[str, Any]) -> str:
        page = render(template, context)
        return corrected(page) if template.endswith(".html") else page

    templates.render = render_corrected


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("builder-inited", correct_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
