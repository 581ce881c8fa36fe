"""Pages that stand alone: one HTML file, no scripts, nothing from elsewhere.

Whatever is not :class:`Markup` is escaped as it enters an element, so that no text of a corpus can
become part of the page's structure. Colors follow the reader's choice of light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kernelwood.structures import FONT, escape

__all__ = [
    "Markup",
    "Section",
    "bar",
    "diverging_bar",
    "element",
    "facts",
    "interval",
    "joined",
    "page",
    "scrolling",
    "table",
]

_VOID = frozenset({"br", "meta", "wbr"})

# Contrast of every ink on its ground is 4.5 or more, in both schemes.
_STYLE = """
:root { color-scheme: light dark;
  --ground: #ffffff; --raised: #f5f7fb; --ink: #1b2330; --soft: #55607a; --line: #c9d1df;
  --accent: #2456b3; --track: #e1e7f2; --yes: #1d6b3c; --no: #a2302a;
  --k0: #dcebff; --k1: #d9f2e0; --k2: #fdebc8; --k3: #f6dcf0; --k4: #d8f1f3; --k5: #eee0ff; }
@media (prefers-color-scheme: dark) { :root {
  --ground: #12161d; --raised: #1b212c; --ink: #e6eaf2; --soft: #a7b1c5; --line: #3b465a;
  --accent: #8ab4ff; --track: #2b3445; --yes: #7fd6a0; --no: #ff9d94;
  --k0: #1f3f6e; --k1: #1d4a30; --k2: #5a4312; --k3: #5b2a52; --k4: #17494d; --k5: #46306b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); line-height: 1.55;
  font: 16px/1.55 FONT; }
header, main, footer { max-width: 62rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.3rem; margin: 2.4rem 0 .6rem; padding-bottom: .2rem;
  border-bottom: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p { margin: .5rem 0; } p, dd, dt, summary, h1, h3 { overflow-wrap: anywhere; }
td, th { overflow-wrap: break-word; }
p, td, th, dd, dt, summary, mark, h1, h3 { unicode-bidi: isolate; }
a { color: var(--accent); } nav a { margin-right: 1rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .5rem; }
.soft, small, caption, dt, footer { color: var(--soft); }
footer { margin-top: 3rem; padding-bottom: 2rem; font-size: .85rem; }
mark { color: var(--ink); background: var(--k0); border-radius: 4px; padding: .08em .25em; }
mark small { color: var(--ink); font-size: .68em; margin-left: .35em; }
.k1 { background: var(--k1); } .k2 { background: var(--k2); } .k3 { background: var(--k3); }
.k4 { background: var(--k4); } .k5 { background: var(--k5); }
.text { white-space: pre-line; } .yes { color: var(--yes); } .no { color: var(--no); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; margin: .5rem 0; }
caption { text-align: left; caption-side: bottom; padding-top: .4rem; font-size: .85rem; }
th, td { padding: .3rem .7rem .3rem 0; text-align: left; vertical-align: top; }
thead th { color: var(--soft); font-weight: 600; border-bottom: 1px solid var(--line); }
tbody th { font-weight: 600; } tbody tr + tr > * { border-top: 1px solid var(--track); }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
details { background: var(--raised); border: 1px solid var(--line); border-radius: 8px;
  padding: .45rem .8rem; margin: .45rem 0; }
summary { cursor: pointer; } summary strong { margin-right: .6rem; }
code { font: .88em ui-monospace, 'DejaVu Sans Mono', Consolas, monospace; }
ul.plain { list-style: none; padding: 0; margin: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: .5rem 0; }
dd { margin: 0; }
svg text { fill: var(--ink); } svg .soft { fill: var(--soft); } svg .plate { fill: var(--raised);
  stroke: var(--line); } svg .arc { fill: none; stroke: var(--accent); stroke-width: 1.6; }
svg .head { fill: var(--accent); } svg .k0 { fill: var(--k0); } svg .k1 { fill: var(--k1); }
svg .k2 { fill: var(--k2); } svg .k3 { fill: var(--k3); } svg .k4 { fill: var(--k4); }
svg .k5 { fill: var(--k5); } svg .track { fill: var(--track); } svg .fill { fill: var(--accent); }
svg .tick { fill: var(--ink); stroke: var(--ground); } .bar { vertical-align: middle; }
@media print { details { break-inside: avoid; } .scroll { overflow: visible; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # whatever a text says, nothing runs
_BAR = (120.0, 10.0)


class Markup(str):
    """Text that is markup already, and enters a page as it is."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page that the contents lead to.

    Attributes
    ----------
    id : str
        What links name.
    title : str
        Its heading.
    body : Markup
        What stands below.
    """

    id: str
    title: str
    body: Markup


def element(name: str, /, *inside: str, **attributes: str | None) -> Markup:
    """Return an element; text inside and values of attributes are escaped.

    Parameters
    ----------
    name : str
        Of the element.
    *inside : str or Markup
        What it holds.
    **attributes : str or None
        A trailing underscore is dropped, others become hyphens: ``class_``, ``aria_label``. None
        leaves the attribute out.

    Examples
    --------
    >>> element("p", "a < b", class_="x", id=None)
    '<p class="x">a &lt; b</p>'
    >>> element("p", element("b", "kept"))
    '<p><b>kept</b></p>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{joined(inside)}</{name}>")


def joined(pieces: Iterable[str], by: str = "") -> Markup:
    r"""Return pieces one after the other, all but markup escaped; line ends are kept.

    Examples
    --------
    >>> joined(["a\n<b>", element("br")], by=", ")
    'a\n&lt;b&gt;, <br>'
    """
    return Markup(by.join(piece if isinstance(piece, Markup) else _safe(piece) for piece in pieces))


def _safe(text: str) -> str:
    return "\n".join(map(escape, text.split("\n"))) if "\n" in text else escape(text)


def page(title: str, sections: Sequence[Section], *, summary: str = "", footer: str = "") -> str:
    """Return a page with contents, each section below its heading.

    Parameters
    ----------
    title : str
        What the page is about.
    sections : sequence of Section
        Its parts.
    summary, footer : str or Markup
        A sentence below the title, and one at the end.

    Returns
    -------
    str
        A complete HTML document.

    Examples
    --------
    >>> made = page("<all>", [Section("one", "One", element("p", "text"))])
    >>> "<title>&lt;all&gt;</title>" in made, '<a href="#one">One</a>' in made
    (True, True)
    """
    links = [element("a", section.title, href=f"#{section.id}") for section in sections]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Markup(_STYLE.replace("FONT", FONT))),
    )
    body = element(
        "body",
        element("a", "Skip to the content", class_="skip", href="#content"),
        element(
            "header",
            element("h1", title),
            element("p", summary, class_="soft") if summary else "",
            element("nav", joined(links, by=" "), aria_label="Contents"),
        ),
        element("main", *map(_section, sections), id="content"),
        element("footer", element("p", footer)) if footer else "",
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _section(section: Section) -> Markup:
    heading = f"{section.id}-title"
    title = element("h2", section.title, id=heading)
    return element("section", title, section.body, id=section.id, aria_labelledby=heading)


def table(header: Sequence[str], rows: Iterable[Sequence[str]], note: str = "") -> Markup:
    """Return a table whose first cells name the rows.

    Parameters
    ----------
    header : sequence of str
        Titles of the columns; one that starts with ``>`` is aligned to the right.
    rows : iterable of sequences of str or Markup
        The cells.
    note : str
        A caption.

    Examples
    --------
    >>> "<th>" in table(["a"], [["<th>"]])
    False
    """
    kinds = ["n" if title.startswith(">") else None for title in header]
    titles = (
        element("th", title.lstrip(">"), scope="col", class_=kind)
        for title, kind in zip(header, kinds, strict=True)
    )
    body = (element("tr", *_cells(row, kinds)) for row in rows)
    inside = element(
        "table",
        element("caption", note) if note else "",
        element("thead", element("tr", *titles)),
        element("tbody", *body),
    )
    return scrolling(inside, note or ", ".join(title.lstrip(">") for title in header))


def _cells(row: Sequence[str], kinds: Sequence[str | None]) -> list[Markup]:
    first, *others = zip(row, kinds, strict=True)
    name = element("th", first[0], scope="row", class_=first[1])
    return [name, *(element("td", cell, class_=kind) for cell, kind in others)]


def scrolling(inside: Markup, name: str) -> Markup:
    """Return something wide in a box that scrolls, with the keyboard too."""
    return element("div", inside, class_="scroll", role="region", aria_label=name, tabindex="0")


def facts(pairs: Mapping[str, str]) -> Markup:
    """Return names and what is known of each.

    Examples
    --------
    >>> facts({"seed": "7"})
    '<dl><dt>seed</dt><dd>7</dd></dl>'
    """
    rows = (joined([element("dt", name), element("dd", value)]) for name, value in pairs.items())
    return element("dl", *rows)


def bar(share: float, name: str, *, tick: float | None = None) -> Markup:
    """Draw a share from 0 to 1, with a tick across where something is to be reached.

    Examples
    --------
    >>> '<rect class="fill" x="0" y="2" width="60" height="6">' in bar(0.5, "half")
    True
    """
    parts = [_rectangle("track", 0, 1), _rectangle("fill", 0, _within(share))]
    if tick is not None:
        parts.append(_tick(_within(tick)))
    return _small_picture(name, parts)


def interval(low: float, value: float, high: float, name: str) -> Markup:
    """Draw a number from 0 to 1 as a tick, on the interval it lies in."""
    low, value, high = map(_within, (low, value, high))
    parts = [_rectangle("track", 0, 1), _rectangle("fill", low, high - low), _tick(value)]
    return _small_picture(name, parts)


def diverging_bar(share: float, name: str) -> Markup:
    """Draw a share from -1 to 1 as a bar to the left or the right of the middle."""
    length = _within(abs(share)) / 2
    start = 0.5 if share >= 0 else 0.5 - length
    parts = [_rectangle("track", 0, 1), _rectangle("fill", start, length), _tick(0.5)]
    return _small_picture(name, parts)


def _within(share: float) -> float:
    return min(max(0.0, share), 1.0)  # what is no number becomes 0


def _rectangle(kind: str, start: float, length: float) -> Markup:
    width, height = _BAR
    return element(
        "rect", class_=kind, x=f"{start * width:g}", y="2", width=f"{length * width:g}",
        height=f"{height - 4:g}",
    )  # fmt: skip


def _tick(place: float) -> Markup:
    width, height = _BAR
    x = min(max(place * width - 1.5, 0.0), width - 3)
    return element("rect", class_="tick", x=f"{x:g}", y="0", width="3", height=f"{height:g}")


def _small_picture(name: str, parts: Iterable[Markup]) -> Markup:
    width, height = _BAR
    return element(
        "svg", *parts, class_="bar", role="img", aria_label=name, width=f"{width:g}",
        height=f"{height:g}", viewBox=f"0 0 {width:g} {height:g}",
    )  # fmt: skip
