"""Check the built documentation: pages, links, sizes and accessibility.

    python tools/check_site.py docs/_build/html
    python tools/check_site.py docs/_build/html --axe

Every page of the sources must be in the site with its own title, and no page may have the name of
one that Sphinx makes, such as ``search``, which would overwrite it. Links within the site, with
their anchors, must resolve, and no page may be larger than 300 kB. With ``--axe``, axe-core checks
some pages in a browser, in the light and the dark theme; without a browser, a message says so.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

LARGEST = 300_000  # bytes of a page
MADE_BY_SPHINX = ("genindex", "py-modindex", "search")
CHECKED_BY_AXE = (
    "index",
    "api",
    "api/kernelwood.RelationExtractor",
    "api/kernelwood.SubsetTreeKernel",
    "commands",
    "hashing",
    "kernels/subset-tree",
    "relations",
    "gallery/index",
    "gallery/plot_hashing",
)
_TAG = re.compile(r"<[a-zA-Z][^>]*>")
_ATTRIBUTE = re.compile(r'\s(id|href|src)="([^"]*)"')
_HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)


def text_of(markup: str) -> str:
    """Return the text of HTML, without the link to a heading.

    Examples
    --------
    >>> text_of('A <code>b</code> &amp; c<a class="headerlink" href="#a">#</a>')
    'A b & c'
    """
    bare = re.sub(r'<a class="headerlink".*?</a>', "", markup, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", bare)).split())


def titles(site: Path) -> dict[str, str]:
    """Return the titles of all source pages, as the search index lists them."""
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    data = json.loads(index[index.index("{") : index.rindex("}") + 1])
    return dict(zip(data["docnames"], map(text_of, data["titles"]), strict=True))


def check_titles(site: Path) -> Iterator[str]:
    """Yield source pages that are missing, or whose place has another page."""
    for name, title in titles(site).items():
        if name in MADE_BY_SPHINX:
            yield f"{name}: rename the page, Sphinx writes a {name}.html of its own"
            continue
        path = site / f"{name}.html"
        if not path.exists():
            yield f"{name}: not in the site"
            continue
        found = _HEADING.search(path.read_text(encoding="utf-8"))
        shown = text_of(found[1]) if found else ""
        if shown != title:
            yield f"{name}: the title is {shown!r}, not {title!r}"


def check_links(site: Path) -> Iterator[str]:
    """Yield links to files or anchors that do not exist."""
    anchors: dict[Path, set[str]] = {}
    links: dict[Path, set[str]] = {}
    for path in sorted(site.rglob("*.html")):
        if "_static" in path.relative_to(site).parts:
            continue
        attributes = [
            (kind, html.unescape(value))
            for tag in _TAG.findall(path.read_text(encoding="utf-8"))
            for kind, value in _ATTRIBUTE.findall(tag)
        ]
        anchors[path] = {value for kind, value in attributes if kind == "id"}
        links[path] = {value for kind, value in attributes if kind != "id"}
    for path, found in links.items():
        for link in sorted(found):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = Path((path.parent / unquote(parts.path)).resolve()) if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.exists():
                yield f"{path.relative_to(site)}: no file {link}"
            elif anchor and target in anchors and anchor not in anchors[target]:
                yield f"{path.relative_to(site)}: no anchor {link}"


def check_sizes(site: Path) -> Iterator[str]:
    """Yield pages that are too large."""
    for path in sorted(site.rglob("*.html")):
        size = path.stat().st_size
        if size > LARGEST:
            yield f"{path.relative_to(site)}: {size:,} bytes, at most {LARGEST:,}"


def check_accessibility(site: Path) -> Iterator[str]:
    """Yield what axe-core finds on some pages, in both themes."""
    browser = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    try:
        import axe_playwright_python
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser = None
    if browser is None:
        print("NOT TESTED: accessibility of the documentation; Playwright and Chromium are needed")
        return
    script = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update",
                 "--disable-sync"]  # fmt: skip
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=browser, args=arguments)
        page = opened.new_page()
        page.set_default_timeout(120_000)
        for name in CHECKED_BY_AXE:
            path = site / f"{name}.html"
            if not path.exists():
                yield f"{name}: not in the site"
                continue
            page.goto(path.as_uri())
            page.evaluate(script)
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                found = page.evaluate(
                    "async () => (await axe.run({resultTypes: ['violations']})).violations"
                )
                for one in found:
                    places = "; ".join(node["html"][:160] for node in one["nodes"][:3])
                    reason = one["nodes"][0]["failureSummary"].replace("\n", " ")
                    yield f"{name}, {theme}: {one['id']}: {reason}: {places}"
        opened.close()


def problems(site: Path, *, axe: bool = False) -> list[str]:
    """Return everything that is wrong with a site."""
    site = site.resolve()
    found = [*check_titles(site), *check_links(site), *check_sizes(site)]
    return [*found, *check_accessibility(site)] if axe else found


def main(arguments: list[str] | None = None) -> int:
    """Print what is wrong; return 1 if there is anything."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("site", type=Path, help="folder of the built documentation")
    parser.add_argument("--axe", action="store_true", help="check accessibility in a browser")
    options = parser.parse_args(arguments)
    found = problems(options.site, axe=options.axe)
    for one in found:
        print(one, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
