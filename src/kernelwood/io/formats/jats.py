"""Full articles in JATS XML, as PubMed Central and publishers provide them.

A document is the title, the abstract, the sections of the body with their headings, and the
captions of figures and tables, which stand at the end. Sections are recorded
(`kernelwood.io.sections_of`), such as ``body/Results`` or ``figure/Figure 1``. The id of the
article is its PMC id, else its PMID or DOI; all of them are metadata.

Tables, formulas, code, footnotes, acknowledgments, appendices, reviews, translated abstracts and
the list of references are left out, as are citations by number; remarks count articles that have
them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from kernelwood.io.formats.article_xml import Article, ArticleCollector, clean, read_articles
from kernelwood.io.formats.pubmed import PROLOG
from kernelwood.io.source import Item, Source
from kernelwood.structures import shorten

_JATS = re.compile(
    PROLOG + r"<(?:article[\s>][^>]*(?:article-type|dtd-version|xmlns:|>\s*<front)"
    r"|pmc-articleset[\s>])"
)
_IDS = {"pmid": "pmid", "pmc": "pmc", "pmcid": "pmc", "doi": "doi"}
_VALUES = {"journal-title": "journal", "year": "year"}
_REGIONS = {"title-group": "title", "abstract": "abstract", "body": "body", "floats-group": ""}
_FLOATS = {"fig": "figure", "table-wrap": "table"}
_BLOCKS = frozenset(("p", "title", "article-title", "term", "verse-line"))
_LEFT_OUT = {
    "table": "tables",
    "disp-formula": "formulas",
    "inline-formula": "formulas",
    "math": "formulas",
    "tex-math": "formulas",
    "code": "code",
    "preformat": "code",
    "fn": "footnotes",
    "table-wrap-foot": "footnotes",
    "back": "references and back matter",
    "ref-list": "references and back matter",
    "trans-abstract": "translated abstracts",
    "sub-article": "reviews and replies",
    "response": "reviews and replies",
    "supplementary-material": "supplements",
}
# Parts whose titles, labels and years are not those of the article.
_IGNORED = frozenset(
    (
        "contrib-group", "aff", "permissions", "author-notes", "kwd-group", "funding-group",
        "history", "custom-meta-group", "related-article", "related-object", "product",
        "processing-meta", "article-categories", "pub-history", "notes", "alt-text", "long-desc",
        "alt-title", "subtitle", "trans-title-group", "object-id", "conference",
    )
)  # fmt: skip
_CITATION = "\x00"  # stands for a citation by number until its brackets are removed
_CITATIONS = re.compile(r"\x00(?:[\s,;\u2013\u2014-]*\x00)*")
_CLOSING = re.compile(r" ?[\])]")
_MAX_CAPTION_NAME = 60


def looks_like_jats(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be JATS XML.

    Examples
    --------
    >>> looks_like_jats('<article article-type="research-article">'), looks_like_jats("<article>")
    (True, False)
    """
    return bool(_JATS.match(head))


def read_jats(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield a document for each article."""

    def name(article: Article, number: int) -> str:
        known = (article.ids.get(kind) for kind in ("pmc", "pmid", "doi"))
        return next((id for id in known if id), f"{source.stem}:{number}")

    return read_articles(source, _Articles(source), name, views)


class _Articles(ArticleCollector):
    roots = frozenset(("article", "pmc-articleset", "articles", "OAI-PMH", "collection"))
    expected = "<article> or <pmc-articleset>"

    def begin_article(self) -> Article:
        self._names: list[str] = []  # open elements, skipped ones excluded
        self._closers: list[Callable[[Article], None] | None] = []
        self._region = ""  # where text is collected
        self._path: list[str] = []  # names of the sections around the text
        self._floats: list[list[str]] = []  # figures and tables around the text: kind and label
        self._captions: list[tuple[tuple[str, ...], str]] = []
        return super().begin_article()

    def open(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        article = self.article
        if article is None:
            if local == "article":
                self.begin_article()
            return
        if local in _LEFT_OUT:
            article.left_out[_LEFT_OUT[local]] += 1
            self.skip(name)
        elif local in _IGNORED or self._has_no_place(local):
            self.skip(name)
        else:
            closer = self._begin(article, local, attributes)
            self._names.append(local)
            self._closers.append(closer)

    def close(self, name: str) -> None:
        article = self.article
        if article is None:
            return
        if not self._names:
            article.blocks += self._captions
            self.end_article()
            return
        self._names.pop()
        closer = self._closers.pop()
        if closer is not None:
            closer(article)

    def _has_no_place(self, name: str) -> bool:
        """Return whether a text is none of the article's own here."""
        if name == "article-title":
            return self._region != "title-group"
        if name in _BLOCKS:
            return not self._region
        if name == "label":
            return not (self._names and self._names[-1] in _FLOATS)
        return name in _VALUES and bool(self._region)

    def _begin(
        self, article: Article, name: str, attributes: dict[str, str]
    ) -> Callable[[Article], None] | None:
        """Handle a start tag; return what the end tag does."""
        if name in _REGIONS:
            self._region, self._path = name, [_REGIONS[name]]
            return self._end_region
        if name in ("sec", "boxed-text"):
            self._path.append("")
            return self._end_section
        if name in _FLOATS:
            self._floats.append([_FLOATS[name]])
            return self._end_float
        if name in _BLOCKS:
            if self._region and not self._floats:
                self._add(article, self.flushed())
            return self._end_of(partial(self._end_block, name, self._names[-1]))
        if name == "label":
            return self._end_of(self._end_label)
        if name in _VALUES:
            return self._end_of(lambda article, text: article.note(_VALUES[name], text))
        if name == "article-id" and attributes.get("pub-id-type") in _IDS:
            kind = _IDS[attributes["pub-id-type"]]
            return self._end_of(lambda article, text: self._end_id(article, kind, text))
        if name == "xref" and attributes.get("ref-type") == "bibr" and self._region:
            return self._end_of(self._end_citation)
        if name == "break":
            self.write(" ")
        return None

    def _end_of(self, take: Callable[[Article, str], None]) -> Callable[[Article], None]:
        """Collect text, which the end tag gives to ``take``."""
        self.collect()
        return lambda article: take(article, self.taken())

    def _end_region(self, article: Article) -> None:
        self._region, self._path = "", []

    def _end_section(self, article: Article) -> None:
        self._path.pop()

    def _end_float(self, article: Article) -> None:
        self._floats.pop()

    def _end_label(self, article: Article, text: str) -> None:
        self._floats[-1] = [self._floats[-1][0], clean(text).rstrip(".:")[:_MAX_CAPTION_NAME]]

    def _end_id(self, article: Article, kind: str, text: str) -> None:
        value = clean(text)[:200]
        if value:
            prefix = "PMC" if kind == "pmc" and value.isdecimal() else ""
            article.ids.setdefault(kind, prefix + value)

    def _end_citation(self, article: Article, text: str) -> None:
        if any(character.isalpha() for character in text):
            self.write(text)
        else:
            article.left_out["citations by number"] += 1
            self.write(_CITATION)

    def _end_block(self, name: str, parent: str, article: Article, text: str) -> None:
        if name == "title" and parent == "abstract":
            return  # the heading "Abstract"
        if name == "title" and parent in ("sec", "boxed-text"):
            self._path[-1] = shorten(clean(text)).replace("/", " ")
        self._add(article, text)

    def _add(self, article: Article, text: str) -> None:
        made = clean(text)
        if _CITATION in made:
            made = _without_citations(made)
        if not made:
            return
        if self._floats:
            self._captions.append((tuple(self._floats[-1]), made))
        else:
            article.blocks.append((tuple(filter(None, self._path)), made))


def _without_citations(text: str) -> str:
    r"""Return a text without citations by number, and without the brackets around them.

    Examples
    --------
    >>> _without_citations("Raf [\x00, \x00] binds (ref. \x00).")
    'Raf binds (ref.).'
    """
    pieces, done = [], 0
    for match in _CITATIONS.finditer(text):
        before, done = text[done : match.start()].rstrip(), match.end()
        closing = _CLOSING.match(text, done)
        if before.endswith(("[", "(")) and closing is not None:
            before, done = before[:-1].rstrip(), closing.end()
        pieces.append(before)
    return "".join([*pieces, text[done:]]).strip()
