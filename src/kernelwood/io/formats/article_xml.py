"""XML of articles, streamed: the collector of text that formats extend.

The document type of these files is accepted without fetching anything. Entities of characters that
it would declare, such as ``&alpha;``, are those of HTML.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from html.entities import html5
from typing import TypeAlias

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.containers.limits import format_size
from kernelwood.io.formats.sections import join_sections
from kernelwood.io.ids import UsedIds
from kernelwood.io.source import Item, Remark, Source
from kernelwood.io.xml import XmlCollector, parse_xml
from kernelwood.structures import shorten
from kernelwood.text import Document, Example

_END = object()
_MAX_ARTICLE = 1 << 26  # bytes, markup included
_MAX_SECTIONS = 2000
_MAX_VALUE = 1000  # characters of a value of the metadata
_NO_TEXT = Remark("article without text was left out")
_MANY_SECTIONS = Remark(f"only the first {_MAX_SECTIONS:,} sections are recorded")

# What an article is made of: blocks of text with the names of the sections around them.
Blocks: TypeAlias = "list[tuple[tuple[str, ...], str]]"


def clean(text: str) -> str:
    r"""Return text on one line; line breaks and indentation of the file mean nothing.

    Examples
    --------
    >>> clean(" Raf\n   binds  Ras. ")
    'Raf binds Ras.'
    """
    return " ".join(text.split())


class Article:
    """An article that is being read."""

    def __init__(self, line: int, column: int) -> None:
        self.line, self.column = line, column
        self.id = ""
        self.ids: dict[str, str] = {}
        self.metadata: dict[str, str] = {}
        self.blocks: Blocks = []
        self.left_out: Counter[str] = Counter()
        self.problem: ReadError | None = None

    def add(self, section: tuple[str, ...], text: str) -> None:
        """Add a block of text, unless it is blank."""
        made = clean(text)
        if made:
            self.blocks.append((section, made))

    def note(self, key: str, value: str) -> None:
        """Keep the first value of a key as metadata."""
        made = clean(value)
        if made:
            self.metadata.setdefault(key, made[:_MAX_VALUE])

    def items(self, id: str, source: Source, *, wanted: bool) -> Iterator[Item]:
        """Yield the example and the remarks on it."""
        if not self.blocks:
            yield _NO_TEXT
            return
        text, sections = join_sections(_grouped(self.blocks))
        if len(sections) > _MAX_SECTIONS:
            yield _MANY_SECTIONS
        metadata = (*self.ids.items(), *self.metadata.items(), *sections[:_MAX_SECTIONS])
        views = {"document": Document(text, metadata=metadata)} if wanted else {}
        for kind in sorted(self.left_out):
            yield Remark(f"{kind} left out")
        yield Example(id, views=views, origin=source.origin(self.line))


def _grouped(blocks: Blocks) -> Iterator[tuple[str, list[str]]]:
    """Yield sections with their blocks; those that follow one another are joined."""
    current: tuple[str, ...] = ()
    paragraphs: list[str] = []
    for section, text in blocks:
        if section != current and paragraphs:
            yield "/".join(current), paragraphs
            paragraphs = []
        current = section
        paragraphs.append(text)
    if paragraphs:
        yield "/".join(current), paragraphs


class ArticleCollector(XmlCollector):
    """Collects articles from the events of the parser; base class of the formats.

    A format defines `open` and `close`, called at tags outside of skipped elements, and the sets
    of names below. Handlers run for every tag of files of hundreds of megabytes, so elements that
    are skipped have none but that of end tags.
    """

    skipped: frozenset[str] = frozenset()  # with all that is in them
    roots: frozenset[str] = frozenset()
    expected = ""

    max_depth = 1000

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.article: Article | None = None
        self.finished: list[Article | ReadError | Remark] = []
        self._skipping = ""
        self._skip_depth = 0
        self._texts: list[list[str]] = []  # open elements whose text is collected
        self._article_bytes = 0

    # Interface of formats.

    def open(self, name: str, attributes: dict[str, str]) -> None:
        """Handle a start tag."""
        raise NotImplementedError

    def close(self, name: str) -> None:
        """Handle an end tag."""
        raise NotImplementedError

    def begin_article(self) -> Article:
        """Begin an article at the current tag."""
        self.article = Article(*self.place())
        self._article_bytes = self.memory = 0
        return self.article

    def end_article(self) -> None:
        """Finish the article."""
        if self.article is not None:
            self.finished.append(self.article.problem or self.article)
        self.article = None
        self._texts = []
        self.expat.CharacterDataHandler = None

    def collect(self) -> None:
        """Collect the text from here on, until `taken` is called."""
        self._texts.append([])
        self.expat.CharacterDataHandler = self._texts[-1].append

    def taken(self) -> str:
        """Return the text since the last `collect`, and go on with the text around it."""
        text = "".join(self._texts.pop()) if self._texts else ""
        self.expat.CharacterDataHandler = self._texts[-1].append if self._texts else None
        return text

    def flushed(self) -> str:
        """Return the text collected so far, and go on with an empty one."""
        if not self._texts:
            return ""
        text = "".join(self._texts[-1])
        self._texts[-1].clear()
        return text

    def write(self, text: str) -> None:
        """Add characters to the text that is being collected."""
        if self._texts:
            self._texts[-1].append(text)

    def skip(self, name: str) -> None:
        """Skip the current element with all that is in it."""
        self._skipping, self._skip_depth = name, 1
        expat = self.expat
        expat.CharacterDataHandler = None
        expat.StartElementHandler = self._start_skipped

    # Handlers.

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle a start tag outside of skipped elements."""
        self.depth += 1
        if self.depth == 1 and name.rpartition(":")[2] not in self.roots:
            raise self.error(
                f"the outermost element is <{shorten(name)}>, not {self.expected}",
                hint="give format=... if the file is in another format",
            )
        if name in self.skipped:
            self.skip(name)
        else:
            self.open(name, attributes)

    def _start_skipped(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        self._skip_depth += name == self._skipping

    def end(self, name: str) -> None:
        """Handle an end tag."""
        self.depth -= 1
        if not self._skipping:
            self.close(name)
        elif name == self._skipping:
            self._skip_depth -= 1
            if not self._skip_depth:
                self._skipping = ""
                self.expat.StartElementHandler = self.start
                self.expat.CharacterDataHandler = self._texts[-1].append if self._texts else None

    def entity(self, name: str) -> None:
        """Write the character of an entity of HTML."""
        if self._skipping:
            return
        character = html5.get(f"{name};")
        if character is not None:
            self.write(character)
        elif self.article is not None and self.article.problem is None:
            self.article.problem = self.error(
                f"the entity &{shorten(name)}; is not known",
                hint="write the character itself, in UTF-8",
            )

    # Limits.

    def check_size(self, n_bytes: int, n_tags: int) -> None:
        """Count parsed bytes and tags; raise if a limit is exceeded."""
        super().check_size(n_bytes, n_tags)
        self._article_bytes += n_bytes
        article = self.article
        if article is not None and self.memory > self.source.meter.limits.memory:
            raise self.source.too_large(article.line, "article")
        if article is not None and self._article_bytes > _MAX_ARTICLE:
            raise self.source.error(
                f"the article has more than {format_size(_MAX_ARTICLE)}",
                line=article.line,
                column=article.column,
                hint="perhaps its end tag is missing",
            )


def read_articles(
    source: Source,
    collector: ArticleCollector,
    name: Callable[[Article, int], str],
    views: tuple[str, ...] | None,
    around: tuple[bytes, bytes] = (b"", b""),
) -> Iterator[Item]:
    """Yield the examples of the articles that a collector makes of a file.

    Parameters
    ----------
    source : Source
    collector : ArticleCollector
    name : callable
        Returns the id of an article, given its number from 1; raises ``StructureError`` if it has
        none.
    views : tuple of str, optional
        Examples have no views unless "document" is among them.
    around : (bytes, bytes)
        Tags around the articles that are missing in a part of a file.

    Raises
    ------
    ReadError
        If the file is not well-formed, declares entities, or exceeds a limit.
    """
    wanted = views is None or "document" in views
    used = UsedIds()
    number = 0
    for found in _articles(source, collector, around):
        if not isinstance(found, Article):
            yield found
            continue
        number += 1
        try:
            id = name(found, number)
        except StructureError as failure:
            yield source.locate(failure, found.line, found.column)
            continue
        repeated = used.check(id, found.line, source)
        if repeated is not None:
            yield repeated
        else:
            yield from found.items(id, source, wanted=wanted)


def _articles(
    source: Source, collector: ArticleCollector, around: tuple[bytes, bytes]
) -> Iterator[Article | ReadError | Remark]:
    chunks = parse_xml(source, collector, doctype=True, around=around)
    while True:
        more = next(chunks, _END)
        finished, collector.finished = collector.finished, []
        yield from finished
        if more is _END:
            return
