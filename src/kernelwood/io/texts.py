"""Texts of every kind of file, and the rule that markup and records are not prose."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from kernelwood.errors import ReadError
from kernelwood.io.containers.limits import LimitError, Limits
from kernelwood.io.formats.delimited import looks_like_table
from kernelwood.io.formats.table import (
    Format,
    find_format,
    formats_by_suffix,
    given_options,
    recognize,
    sure_formats,
)
from kernelwood.io.ids import UsedIds
from kernelwood.io.inputs import as_path, open_input
from kernelwood.io.reading import Examples, ExampleStream
from kernelwood.io.source import Item, Readable, Source, encoding_hint
from kernelwood.io.streams import ErrorPolicy, Input, check_policy, cycles_ignored
from kernelwood.structures import shorten
from kernelwood.text import Document, Example, Sentence

_CONVERT = "convert it to plain text first"
_AS_PROSE = "format='text' reads it as prose"
_OTHER_XML = f"convert it to a known format or to plain text; {_AS_PROSE}"
# Beginnings that are not prose: pattern, name, advice. Formats that are read come first.
_SIGNS: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE if name == "HTML" else 0), name, advice)
    for pattern, name, advice in (
        (r"%PDF-", "PDF", f"{_CONVERT}, for example with pdftotext"),
        (r"\{\\rtf", "RTF", _CONVERT),
        (r"%!PS", "PostScript", _CONVERT),
        (r"\s*(?:<!--.*?-->\s*)?<(?:!doctype\s+html|html|head|body|div|table|h[1-6]|p|br|ul|a)\b",
         "HTML", f"{_CONVERT}, for example with pandoc -t plain"),
        (r"\s*<(?:\?xml|!DOCTYPE|!--)", "XML", _OTHER_XML),
        (r"\s*</?[A-Za-z_][\w:.-]*(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*\s*/?>",
         "XML", _OTHER_XML),
        (r"\s*(?:\{\s*(?:\"|\}\s*$)|\[\s*[\[{\"])", "JSON",
         "format='records' with text_field=... reads objects with a field for the text; "
         f"{_AS_PROSE}"),
        (r"\s*[0-9]+\|[ta]\|", "PubTator", f"format='pubtator' reads it; {_AS_PROSE}"),
        (r"\s*TY {1,2}- ", "RIS", f"{_CONVERT}, or export PubMed XML or CSV; {_AS_PROSE}"),
        (r"\s*(?:%[^\n]*\n\s*)*@[A-Za-z]+\s*\{[^\n]*,[ \t]*\r?\n", "BibTeX",
         f"{_CONVERT}, or export PubMed XML or CSV; {_AS_PROSE}"),
        (r"\s*(?:%[^\n]*\n\s*)*\\(?:documentclass|documentstyle|begin\{|usepackage)", "LaTeX",
         f"{_CONVERT}, for example with detex; {_AS_PROSE}"),
        (r"---[ \t]*\r?\n(?:[\w-]+:[^\n]*\n)", "YAML", f"{_CONVERT}; {_AS_PROSE}"),
        (r"\s*(?:-DOCSTART-|(?:[^\s]+[ \t]+){1,9}(?:O|[BIES]-\S+)[ \t]*\n"
         r"(?:[^\s]+[ \t]+){1,9}(?:O|[BIES]-\S+)[ \t]*\n)", "CoNLL columns",
         f"convert them to CoNLL-U, brat or jsonl; {_AS_PROSE}"),
    )
)  # fmt: skip
_UNREADABLE = "not UTF-8 text"
_LISTED = 200
_ANNOTATED = (Document, Sentence)


def iter_texts(
    paths: Readable | Iterable[Readable],
    format: str | None = None,
    errors: ErrorPolicy = "raise",
    *,
    only: str | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> ExampleStream:
    """Read texts one at a time; parameters are those of :func:`read_texts`.

    Returns
    -------
    ExampleStream
        An iterator over examples with a ``tally``.

    Examples
    --------
    >>> import io
    >>> stream = iter_texts(io.StringIO("Raf binds Ras."))
    >>> [example.view("document").text for example in stream]
    ['Raf binds Ras.']
    """
    check_policy(errors)
    form = None if format is None else find_format(format)
    options = given_options(options, form)
    settings = {"only": only, "limits": limits, "options": options}
    return ExampleStream(_TextInput(several(paths), form, settings), errors)


def several(paths: Readable | Iterable[Readable]) -> list[Readable]:
    """Return the paths and streams of an argument that may be one or several of them.

    Examples
    --------
    >>> several("a.txt"), several(("a.txt", "b.txt"))
    (['a.txt'], ['a.txt', 'b.txt'])
    """
    if isinstance(paths, (str, os.PathLike)) or hasattr(paths, "read"):
        return [paths]  # type: ignore[list-item]
    if not isinstance(paths, Iterable):
        raise TypeError(f"expected a path, a stream or several of these, got {paths!r}")
    return list(paths)


def read_texts(
    paths: Readable | Iterable[Readable],
    format: str | None = None,
    errors: ErrorPolicy = "raise",
    *,
    only: str | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> Examples:
    r"""Read texts from files of any kind: plain text, articles, records, annotated corpora.

    A file that looks like markup or records of an unknown format is refused, not read as prose.
    Prose may begin with a bracket.

    Parameters
    ----------
    paths : str, PathLike or stream, or an iterable of these
        Files, folders and archives; ``"-"`` is standard input. A text file ``name.txt`` is read
        with its annotation in ``name.ann``, ``name.a1`` and ``name.a2``, if there is any.
    format : str, optional
        A name from :data:`~kernelwood.io.FORMATS`; ``"text"`` reads any file as prose. By default
        suffix and content decide.
    errors : {"raise", "skip", "collect"}
        Treatment of a broken part, as in :func:`read`.
    only : str, optional
        A glob: read only the files of folders and archives whose path matches.
    limits : Limits, optional
        Limits on compressed files and archives.
    **options
        Options of the format, such as ``text_field="abstract"`` and ``id_field="pmid"`` for
        tables and JSON records.

    Returns
    -------
    kernelwood.io.Examples
        Each has a view "document", or "sentence" if the format has sentences. Ids are unique.

    Raises
    ------
    ReadError
        If a part is broken and ``errors="raise"``, or a file is neither prose nor in a known
        format; the message says how to read it.

    Examples
    --------
    >>> import io
    >>> [example] = read_texts(io.StringIO('{"pmid": 7, "abstract": "Raf binds Ras."}'))
    >>> example.id, example.view("document").text
    ('7', 'Raf binds Ras.')
    >>> read_texts(io.StringIO("<html><p>Raf binds Ras.</p></html>"))
    Traceback (most recent call last):
    ...
    kernelwood.errors.ReadError: <stream>:1: this is HTML, not plain text
        convert it to plain text first, for example with pandoc -t plain
    """
    with iter_texts(paths, format, errors, only=only, limits=limits, **options) as stream:
        with cycles_ignored():
            examples = list(stream)
        return Examples(examples, stream.tally)


def recognize_text(source: Source) -> Format:
    """Return the format of a source that may also be plain text.

    Raises
    ------
    ReadError
        If the content looks like markup or records in no known format.
    """
    if formats_by_suffix(source.suffix):
        found = recognize(source)
    else:
        fitting = sure_formats(source.head)
        found = fitting[0] if len(fitting) == 1 else recognize(source) if fitting else None
        if found is not None and found.companions:
            raise source.error(
                "this is annotation, not text",
                line=1,
                hint="name it name.ann, put the text into name.txt beside it, and read that",
            )
        if found is not None and found.name == "penn":
            raise source.error("a file of parse trees has no text", line=1, hint=_AS_PROSE)
    if found is None:
        said = not_prose(source.head)
        if said is not None:
            kind, advice = said
            problem = f"this is {kind}" + ("" if kind == _UNREADABLE else ", not plain text")
            raise source.error(problem, line=1, hint=advice)
        return find_format("standoff")  # which reads text with the annotation beside it
    return found


def not_prose(head: bytes) -> tuple[str, str] | None:
    r"""Return the kind of a file that begins with ``head`` and is not prose, and how to read it.

    None if it may be prose. Formats that are recognized by their content are not considered.

    Examples
    --------
    >>> not_prose(b"{\\rtf1 Raf binds Ras.}")
    ('RTF', 'convert it to plain text first')
    >>> not_prose(b"(Raf) binds <0.1 % of Ras, [1] says.") is None
    True
    """
    hint = encoding_hint(head)
    if hint is not None:
        return _UNREADABLE, hint
    text = head.decode("utf-8", "replace")
    for pattern, name, advice in _SIGNS:
        if pattern.match(text):
            return name, advice
    columns = looks_like_table(text)
    if columns:
        listed = shorten(", ".join(columns), _LISTED)
        return "a table", (
            f"its columns are {listed}; format='csv' with text_field=... reads it; {_AS_PROSE}"
        )
    return None


class _TextInput(Input[Example]):
    """The texts of several files, folders and archives, one after the other."""

    def __init__(
        self, paths: list[Readable], form: Format | None, settings: dict[str, Any]
    ) -> None:
        self._paths, self._form, self._settings = paths, form, settings
        self._current: Input[Example] | None = None
        self._done = self._files = 0
        places = [as_path(path) for path in paths]  # raises if one does not exist
        self._sizes = [p.stat().st_size if p and p.is_file() else None for p in places]
        super().__init__(self._all_items(), [])

    def _all_items(self) -> Iterator[Item]:
        used = UsedIds()
        for path in self._paths:
            try:
                self._current = open_input(
                    path, self._form, text_format=recognize_text, **self._settings
                )
                self.ignored += self._current.ignored
                for item in self._current.items:
                    yield checked_text(item, used) if isinstance(item, Example) else item
            except LimitError:
                raise
            except ReadError as problem:  # of this path; the others may be readable
                yield problem
            self._finish()

    def _finish(self) -> None:
        if self._current is not None:
            self._files += self._current.files
            self._done += self._current.position
            self._current.close()
            self._current = None
            self.files = self._files

    @property
    def position(self) -> int:
        """Number of bytes read so far."""
        return self._done + (0 if self._current is None else self._current.position)

    @property
    def size(self) -> int | None:
        """Number of bytes of all files; None if unknown."""
        if len(self._paths) == 1 and self._current is not None:
            return self._current.size
        known = [size for size in self._sizes if size is not None]
        return sum(known) if len(known) == len(self._sizes) else None

    def close(self) -> None:
        """Close the files that were opened here."""
        items, self.items = self.items, iter(())
        if hasattr(items, "close"):
            items.close()
        self._finish()


def checked_text(example: Example, used: UsedIds) -> Example | ReadError:
    """Return an example with a text; an error if it has none or its id was used before."""
    origin = example.origin
    path, line = (None, None) if origin is None else (origin.path, origin.line)
    if used.add(example.id, 0) is not None:
        return ReadError(
            f"two texts have the name {shorten(repr(example.id))}",
            path=path,
            line=line,
            hint="give the folder that contains both: texts are then named by their paths",
        )
    views = example.views
    if any(isinstance(views.get(name), _ANNOTATED) for name in ("document", "sentence")):
        return example
    text = views.get("text")
    texts = [text] if isinstance(text, str) else [v for v in views.values() if isinstance(v, str)]
    if len(texts) == 1:
        return Example(example.id, example.label, {"document": Document(texts[0])}, origin)
    return ReadError(
        f"example {shorten(repr(example.id))} has no text; it has "
        f"{shorten(', '.join(views), _LISTED) or 'no views'}",
        path=path,
        line=line,
        hint="texts are read from plain text, articles, records and annotated corpora",
    )
