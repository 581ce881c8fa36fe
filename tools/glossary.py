"""Write ``docs/glossary.md`` from the terms in ``docs/glossary.toml``.

::

    python tools/glossary.py
    python tools/glossary.py --check

``--check`` writes nothing, and fails if the page is not what would be written. Links must lead to
pages of the documentation, and to headings that these have.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DOCS = Path(__file__).parent.parent / "docs"
TERMS = DOCS / "glossary.toml"
PAGE = DOCS / "glossary.md"
_HEAD = """# Glossary

<!-- Written by tools/glossary.py from docs/glossary.toml; do not edit. -->

The terms of this documentation, of options and of messages.
"""
_FENCES = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_KEYS = {"meaning", "also", "see"}


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub and MyST make it.

    Examples
    --------
    >>> slug("Smoothed: SPTK and CSPTK")
    'smoothed-sptk-and-csptk'
    """
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def headings(page: Path) -> dict[str, str]:
    """Return the headings of a page by anchor; that of the page itself has the anchor ``""``."""
    text = _FENCES.sub("", page.read_text(encoding="utf-8"))
    found = [match.groups() for match in _HEADING.finditer(text)]
    named = {slug(title): title for _, title in found}
    return {"": next(title for level, title in found if level == "#")} | named


def link(target: str, docs: Path = DOCS) -> str:
    """Return a link to a page or a heading, named by its heading.

    Raises
    ------
    ValueError
        If there is no such page or heading.
    """
    name, _, anchor = target.partition("#")
    page = docs / name
    if not page.is_file():
        raise ValueError(f"{target}: no page is named {name}; correct the link")
    known = headings(page)
    if anchor not in known:
        raise ValueError(f"{target}: {name} has no such heading: {', '.join(filter(None, known))}")
    return f"[{known[anchor]}]({target})"


def rows(terms: Mapping[str, Mapping[str, Any]], docs: Path = DOCS) -> Iterator[str]:
    """Yield the table of a topic, terms in alphabetical order."""
    yield "| term | meaning | see |"
    yield "|---|---|---|"
    for name in sorted(terms, key=str.casefold):
        row = terms[name]
        if unknown := set(row) - _KEYS:
            raise ValueError(f"{name}: unknown key {min(unknown)}")
        also = f" ({', '.join(row['also'])})" if "also" in row else ""
        see = ", ".join(link(target, docs) for target in row.get("see", ()))
        yield f"| **{name}**{also} | {row['meaning']} | {see} |"


def page_of(table: Mapping[str, Any], docs: Path = DOCS) -> str:
    """Return the page of a table of terms.

    Raises
    ------
    ValueError
        If a topic has no title, or a term is in two topics.
    """
    topics = table["topics"]
    if untitled := set(table) - {"topics", *topics}:
        raise ValueError(f"the topic {min(untitled)} has no title")
    names = [name.casefold() for topic in topics for name in table[topic]]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{min(twice)} is in two topics")
    parts = [_HEAD]
    for topic, title in topics.items():
        parts += [f"\n## {title}\n\n", *(f"{row}\n" for row in rows(table[topic], docs))]
    return "".join(parts)


def main(arguments: list[str] | None = None) -> int:
    """Write or check the page; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="Only compare the page.")
    check = parser.parse_args(arguments).check
    made = page_of(tomllib.loads(TERMS.read_text(encoding="utf-8")))
    if check:
        if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == made:
            return 0
        print("docs/glossary.md is out of date: python tools/glossary.py", file=sys.stderr)
        return 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
