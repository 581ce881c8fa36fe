"""Citations of PubMed: titles and abstracts, in XML and in MEDLINE lines.

A document is the title and the abstract. The label of a section of the abstract is a paragraph of
its own; inline markup is flattened. The PMID is the id; PMID, DOI, PMC id, journal and year are
metadata, and sections are recorded (`kernelwood.io.sections_of`). Authors, keywords, references and
abstracts in other languages are not read, and notes of deleted citations are counted.

XML is that of PubMed's baseline, update files and E-utilities (``<PubmedArticleSet>``, books
included, or ``<MedlineCitationSet>``). MEDLINE lines, also called ``.nbib``, are blocks of fields::

    PMID- 123
    TI  - Raf binds
          Ras.
    AB  - We ask.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.formats.article_xml import Article, ArticleCollector, clean, read_articles
from kernelwood.io.ids import UsedIds
from kernelwood.io.lines import Block, Scan, cut_at_blank_lines
from kernelwood.io.source import Item, Remark, Source
from kernelwood.io.xml import MAX_TAG, is_complete
from kernelwood.structures import shorten

# Each comment is matched in one way only, so that many comments take linear time.
PROLOG = (
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^-]*(?:-(?!->)[^-]*)*-->\s*)*"
    r"(?:(?:<!DOCTYPE[^>\[]*>\s*|<\?[^>]*>\s*)"
    r"(?:<\?[^>]*>\s*|<!--[^-]*(?:-(?!->)[^-]*)*-->\s*)*)?"
)
_SETS = ("PubmedArticleSet", "MedlineCitationSet", "PubmedBookArticleSet")
_ARTICLES = ("PubmedArticle", "PubmedBookArticle", "MedlineCitation", "BookDocument")
_PUBMED = re.compile(PROLOG + rf"<(?:{'|'.join((*_SETS, *_ARTICLES))})[\s>]")
_ROOT = re.compile(PROLOG + rf"<({'|'.join(_SETS)})(?:\s[^<>]*)?(?<!/)>", re.ASCII)
_BETWEEN = re.compile(
    rf"</(?:{'|'.join(_ARTICLES)})>[ \t\r]*\n[ \t\r\n]*(?=<(?:{'|'.join(_ARTICLES)})[\s>])".encode()
)
_DELETED = Remark("deleted citation left out")
_TITLES = {"ArticleTitle": "title", "BookTitle": "title"}
_VALUES = {"Title": "journal", "Year": "year", "MedlineDate": "year", "PMID": "pmid"}
_IDS = {"doi": "doi", "pmc": "pmc", "pubmed": "pmid"}
_FORMULA = ("mml:math", "math")
_FIELD = re.compile(r"([A-Z][A-Z0-9]{1,3}) {0,2}- ?(.*)")
_FIRST_FIELD = re.compile(r"\s*PMID- ?[0-9]")
_LABEL = re.compile(r"(?:^|(?<=[.!?] ))([A-Z][A-Z/,& ]{3,60}): ")
_MEDLINE_IDS = {"PMID": "pmid", "PMC": "pmc"}
_MEDLINE_VALUES = {"JT": "journal", "DP": "year"}
_YEAR = re.compile(r"\b[12][0-9]{3}\b")
_MAX_BLOCK = 100_000  # lines


def looks_like_pubmed(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be PubMed XML.

    Examples
    --------
    >>> looks_like_pubmed("<PubmedArticleSet>"), looks_like_pubmed("<article>")
    (True, False)
    """
    return bool(_PUBMED.match(head))


def read_pubmed(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield a document for each citation, its id being the PMID."""
    before, after = _tags_around(source) or (b"", b"")
    around = before if source.extent.start else b"", b"" if source.extent.stop is None else after
    return read_articles(source, _Citations(source), _pmid, views, around)


def scan_pubmed(source: Source) -> Scan | None:
    """Return the function that finds citations that begin and end with a line.

    None if the outermost element is not a set of them. To be sure of the boundaries, the elements
    between them must be well-formed on their own.
    """
    tags = _tags_around(source)
    if tags is None:
        return None
    before, after = b"", tags[1]

    def scan(data: bytes) -> tuple[int, int] | None:
        nonlocal before
        if len(data) > MAX_TAG or _stray_return(data):
            return None
        ends = [match.end() for match in _BETWEEN.finditer(data)]
        if not ends:
            return 0, 0
        end = data.rindex(b"\n", 0, ends[-1]) + 1
        if not is_complete(source, (before, data[:end], after)):
            return 0, 0
        before = tags[0]
        return end, len(ends)

    return scan


def _tags_around(source: Source) -> tuple[bytes, bytes] | None:
    """Return the beginning of a file with the tag of its outermost element, and its end tag."""
    root = _ROOT.match(source.head.decode("latin-1"))
    if root is None or _stray_return(root[0].encode("latin-1")):
        return None
    return f"{root[0]}\n".encode("latin-1"), f"</{root[1]}>".encode()


def _stray_return(data: bytes) -> bool:
    """Return whether there are line ends that only the parser counts."""
    return b"\r" in data and data.count(b"\r") != data.count(b"\r\n")


def _pmid(article: Article, number: int) -> str:
    if "pmid" not in article.ids:
        raise StructureError("the citation has no PMID", hint="every citation needs one")
    return article.ids["pmid"]


class _Citations(ArticleCollector):
    roots = frozenset((*_SETS, *_ARTICLES))
    expected = "<PubmedArticleSet>"
    skipped = frozenset(
        (
            "AuthorList", "MeshHeadingList", "ReferenceList", "ChemicalList", "GrantList",
            "CommentsCorrectionsList", "KeywordList", "InvestigatorList", "DataBankList",
            "PersonalNameSubjectList", "OtherAbstract", "History", "PublicationTypeList",
            "OtherID", "CoiStatement", "GeneSymbolList", "SupplMeshList", "MedlineJournalInfo",
            "ArticleDate", "DateCompleted", "DateRevised", "DateCreated", "Publisher",
            "ItemList", "ContributionDate", "BeginningDate", "EndingDate",
        )
    )  # fmt: skip

    _element = ""  # the article's own, since articles may be wrapped twice
    _label = ""
    _collected = ""
    _id_kind = ""

    def open(self, name: str, attributes: dict[str, str]) -> None:
        article = self.article
        if article is None:
            if name in _ARTICLES:
                self.begin_article()
                self._element, self._collected = name, ""
            elif name == "DeleteCitation":
                self.finished.append(_DELETED)
                self.skip(name)
            return
        if self._collected:
            if name in _FORMULA:
                article.left_out["formulas"] += 1
                self.skip(name)
            return
        if name in _TITLES or name in _VALUES or name == "AbstractText":
            if name == "AbstractText":
                self._label = clean(attributes.get("Label", ""))
            self._collected = name
            self.collect()
        elif name in ("ArticleId", "ELocationID"):
            kind = attributes.get("IdType") or attributes.get("EIdType") or ""
            self._id_kind = _IDS.get(kind, "")
            self._collected = name
            self.collect()

    def close(self, name: str) -> None:
        article = self.article
        if article is None:
            return
        if name == self._collected:
            self._collected = ""
            self._take(article, name, self.taken())
        elif name == self._element:
            self.end_article()

    def _take(self, article: Article, name: str, text: str) -> None:
        if name in _TITLES:
            if name == "BookTitle" and article.blocks:
                article.note("book", text)
            else:
                article.add(("title",), text)
        elif name == "AbstractText":
            label = self._label
            section = ("abstract", shorten(label)) if label else ("abstract",)
            if label and clean(text):
                article.add(section, label)
            article.add(section, text)
        elif name == "PMID":
            article.ids.setdefault("pmid", clean(text)[:100])
        elif name in _VALUES:
            article.note(_VALUES[name], text)
        elif self._id_kind and clean(text):
            article.ids.setdefault(self._id_kind, clean(text)[:200])


def looks_like_medline(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be MEDLINE lines.

    Examples
    --------
    >>> looks_like_medline("PMID- 123"), looks_like_medline("PMID 123")
    (True, False)
    """
    return bool(_FIRST_FIELD.match(head))


def read_medline(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield a document for each citation of MEDLINE lines, its id being the PMID."""
    wanted = views is None or "document" in views
    used = UsedIds()
    for block in cut_at_blank_lines(source.lines(), source):
        first = block[0].number
        problem = next((line.problem for line in block if line.problem), None)
        if problem is not None:
            yield problem
            continue
        try:
            article = _citation(block)
            id = _pmid(article, 0)
        except StructureError as failure:
            yield source.locate(failure, first, 1)
            continue
        repeated: ReadError | None = used.check(id, first, source)
        if repeated is not None:
            yield repeated
        else:
            yield from article.items(id, source, wanted=wanted)


def _citation(block: Block) -> Article:
    if len(block) > _MAX_BLOCK:
        raise StructureError(
            f"the citation has more than {_MAX_BLOCK:,} lines",
            hint="citations are separated by blank lines",
        )
    article = Article(block[0].number, 1)
    fields: list[tuple[str, list[str]]] = []
    for line in block:
        if line.text.startswith("      ") and fields:
            fields[-1][1].append(line.text)
            continue
        match = _FIELD.fullmatch(line.text)
        if match is None:
            raise line.error(
                0,
                "this is not a field",
                hint="a field is a name of two to four letters, a hyphen and a value, as in "
                "'TI  - Raf'; further lines begin with six blanks",
            )
        fields.append((match[1], [match[2]]))
    for name, lines in fields:
        text = clean(" ".join(lines))
        if name in _MEDLINE_IDS and text:
            article.ids.setdefault(_MEDLINE_IDS[name], text[:100])
        elif name in ("LID", "AID") and text.endswith("[doi]"):
            article.ids.setdefault("doi", text.removesuffix("[doi]").strip()[:200])
        elif name in _MEDLINE_VALUES:
            year = _YEAR.search(text) if name == "DP" else None
            article.note(_MEDLINE_VALUES[name], year[0] if year else text)
        elif name in ("TI", "BTI") and not article.blocks:
            article.add(("title",), text)
        elif name == "AB":
            for section, part in _labeled(text):
                article.add(section, part)
    return article


def _labeled(abstract: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the paragraphs of an abstract, labels such as ``METHODS:`` being some of them."""
    pieces = _LABEL.split(abstract)
    yield ("abstract",), pieces[0]
    for label, text in zip(pieces[1::2], pieces[2::2], strict=True):
        yield ("abstract", label), label
        yield ("abstract", label), text
