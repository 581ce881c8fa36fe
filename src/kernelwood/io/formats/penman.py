"""PENMAN files: abstract meaning representations, with comments and alignments.

::

    # ::id s1 ::annotator someone
    # ::snt Raf binds Ras.
    # ::tok Raf binds Ras .
    (b / bind-01~e.1
        :ARG0 (p / protein :name (n / name :op1 "Raf"~e.0))
        :ARG1 (q / protein :name (m / name :op1 "Ras"~e.2)))

The notation of one graph is that of ``Graph.from_penman``. A graph begins on a line of its own and
ends with its last bracket, regardless of blank lines. The comments before it become metadata:
``# ::key value ::key value`` gives pairs in order, the value of ``::snt`` and ``::tok`` being the
rest of the line; any other comment is a text without value. Comments without ``::`` before a blank
line, such as the header of a release, belong to no graph.

``::id`` is the id. The text of the sentence is ``::snt``; the tokens are the parts of ``::tok``
between blanks, searched for in the text from left to right. If ``::snt`` is missing, or has
anything between the tokens but blanks, the text is ``::tok`` itself. Without ``::tok`` there are no
tokens.

Alignments on concepts, constants and variables (``~e.3``, ``~e.3,5``, ``~3``) become
``alignments`` of the node, sorted by token. Those on roles, and all of a sentence without
``::tok``, are left out with a remark in the tally; an ``::alignments`` comment is metadata only.

After a broken graph reading continues at the next line that begins with ``(`` or ``# ::`` in
column 1, or that follows a blank line if the brackets of the graph were closed.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import takewhile
from typing import IO

from kernelwood.errors import StructureError
from kernelwood.io.alignment import MisfitError, place_words
from kernelwood.io.atomic import write_text
from kernelwood.io.lines import Block, Parsed, Scan, read_blocks
from kernelwood.io.selection import view_to_write, write_each
from kernelwood.io.source import LINE_ROOM, Extent, Item, Line, Source
from kernelwood.structures import (
    Graph,
    PenmanGraph,
    parse_penman,
    shorten,
    write_penman as graph_text,
)
from kernelwood.text import Example, Metadata, Sentence, Token

_GRAPH_START = re.compile(r"\s*\(\s*[^\s()]+\s*/\s")
_COMMENT_START = re.compile(r"\s*#[ \t]*::[a-z]")
_OTHERS = r'(?::|[^\s"()/:~#])[^\s"()/:~]*|\#.*|[()]'
_MARKS = re.compile(rf'"[^"\\]*(?:\\.[^"\\]*)*"|"|{_OTHERS}', re.DOTALL)
_UNQUOTED = re.compile(_OTHERS, re.DOTALL)
_ROLE_AT_END = re.compile(r':[^ \t"()/:~]*(?:~[a-z0-9.,]*)?[ \t]*\Z')
_KEY = re.compile(r"(?:^|(?<=[ \t]))::([^ \t]+)")
_TO_THE_END = ("snt", "tok")  # sentences may hold "::"
_WORD = re.compile(r"[^ \t]+")
_SHORT = 40  # characters; graphs of sentences are longer


def looks_like_penman(head: str) -> bool:
    r"""Return whether a file that begins with ``head`` may hold PENMAN graphs.

    Examples
    --------
    >>> looks_like_penman("# ::id 1\n(w / want-01)"), looks_like_penman("(S (NP we))")
    (True, False)
    """
    position = 0
    for line in head.split("\n"):
        if _COMMENT_START.match(line):
            return True
        if line.strip() and not line.lstrip().startswith("#"):
            break
        position += len(line) + 1
    return _GRAPH_START.match(head, position) is not None


def read_penman(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example with the view ``"sentence"`` for each graph.

    The id is that of ``::id``, else the stem of the file and the number of the graph, broken ones
    counted; the origin is the line on which its comments begin.
    """
    return read_blocks(source, _iter_parts(source.lines(), source), _parse, views)


def scan_penman(source: Source) -> Scan:
    """Return the function that finds graphs with their comments; blank lines may be in them."""

    def scan(data: bytes) -> tuple[int, int] | None:
        lines = data.split(b"\n")[:-1]
        if max(map(len, lines), default=0) >= source.meter.limits.line:
            return None
        whole = b"".join(line + b"\n" for line in lines)
        parts = list(_iter_parts(source.part(iter([whole]), Extent()).lines()))
        if len(parts) < 2:
            return 0, 0
        before = parts[-1][0].number - 1  # the last may go on
        return sum(map(len, lines[:before])) + before, len(parts) - 1

    return scan


def _parse(block: Block) -> Parsed:
    n_comments = sum(1 for _ in takewhile(_is_comment, block))
    rows = block[n_comments:] if n_comments else block
    if not rows:
        raise StructureError(
            "comments without a graph", hint="a graph such as (d / dog) follows its comments"
        )
    try:
        if not n_comments and len(rows) == 1 and len(rows[0].text) <= _SHORT:
            return _parse_short(rows[0].text)
        comments = block[:n_comments]
        metadata = tuple(pair for line in comments for pair in _read_comment(line.text))
        sentence, remarks = _sentence(metadata, parse_penman([line.text for line in rows]))
    except StructureError as failure:
        raise StructureError(
            failure.problem,
            line=rows[(failure.line or 1) - 1].number,
            column=failure.column,
            snippet=failure.snippet,
            hint=failure.hint,
        ) from failure
    name = next((value for key, value in metadata if key == "id"), None)
    return Parsed(name, sentence, remarks)


@lru_cache(1 << 12)  # sentences never change, so that equal small ones are shared
def _parse_short(text: str) -> Parsed:
    return Parsed(None, *_sentence((), parse_penman([text])))


def _sentence(metadata: Metadata, graph: PenmanGraph) -> tuple[Sentence, tuple[str, ...]]:
    text, tokens = _place_tokens(metadata) if metadata else ("", ())
    remarks = []
    if graph.n_aligned_roles:
        remarks.append("alignments of roles are not kept")
    alignments = graph.alignments
    if alignments and not tokens:
        remarks.append("alignments without ::tok are not kept")
        alignments = {}
    # By token, so that the order does not depend on how the graph is laid out.
    listed = sorted(alignments.items(), key=lambda pair: (pair[1], str(pair[0])))
    amr = Graph._trusted(graph.nodes, tuple(graph.edges), graph.root)
    sentence = Sentence(text, tokens, amr=amr, alignments=tuple(listed), metadata=metadata)
    return sentence, tuple(remarks)


class _Part:
    """The comments and lines of a graph, filled line by line, without blank lines."""

    __slots__ = ("_depth", "_gap", "_in_graph", "_keys", "_room", "_source", "has_content", "lines")

    def __init__(self, source: Source | None = None) -> None:
        self.lines: Block = []
        self._source = source
        self._room = sys.maxsize if source is None else source.room
        self._in_graph = False
        self._keys: set[str] = set()
        self._depth = 0
        self._gap = False  # a blank line came last
        self.has_content = False  # a graph, a comment with a key, or an unreadable line

    def add_blank(self) -> None:
        """Record a blank line."""
        self._gap = True

    def add(self, line: Line) -> None:
        """Add a line that is not blank."""
        self._gap = False
        self.lines.append(line)
        self._room -= len(line.text) + LINE_ROOM
        if self._room < 0 and self._source is not None:
            # Only the last line is needed, to find the end of the part.
            first = self.lines[0].number
            self.lines = [Line(first, line.text, self._source.too_large(first, "graph"))]
            self.has_content = True
        if line.problem is not None:
            self.has_content = True
        if not self._in_graph and _is_comment(line):
            if self._room >= 0:
                self._keys.update(_keys(line.text))
                self.has_content |= bool(self._keys)
        elif not self._in_graph or self._depth:
            self._in_graph = self.has_content = True
            self._depth = _depth_after(line.text, self._depth)

    def ends_before(self, line: Line) -> bool:
        """Return whether a line that is not blank belongs to the next part."""
        if not self._in_graph:
            # Blank lines may separate comments, but a repeated key begins a new part.
            known = not self._keys or not self._keys.isdisjoint(_keys(line.text))
            return self._gap and known
        if not self._depth:
            apart = self._gap or line.problem is not None
            return apart or line.text.lstrip().startswith(("(", "#"))
        if line.text.startswith("("):
            return self._gap or not _ROLE_AT_END.search(self.lines[-1].text)
        return line.text.startswith("#") and bool(_keys(line.text))


def _iter_parts(lines: Iterable[Line], source: Source | None = None) -> Iterator[Block]:
    """Yield the parts of a file: comments and one graph, good or broken.

    Comments without keys that stand alone are left out. A part that would take more memory than
    the limits of ``source`` allow becomes one line with the problem.
    """
    part = _Part(source)
    for line in lines:
        if not line.text.strip():
            part.add_blank()
            continue
        if part.ends_before(line):
            if part.has_content:
                yield part.lines
            part = _Part(source)
        part.add(line)
    if part.has_content:
        yield part.lines


def _is_comment(line: Line) -> bool:
    """Return whether a line before a graph is a comment."""
    return line.text.lstrip().startswith("#")


def _keys(text: str) -> list[str]:
    body = text.lstrip()
    if not body.startswith("#"):
        return []
    return [key for key, value in _read_comment(body) if value is not None]


def _depth_after(text: str, depth: int) -> int:
    """Return the number of open brackets after a line; 0 once the last was closed."""
    if '"' not in text and "#" not in text:
        n_closed = text.count(")")
        after = depth + text.count("(") - n_closed
        if n_closed < depth or after <= 0:
            return max(0, after)
    for match in _marks(text):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
            if depth <= 0:
                return 0
    return depth


def _marks(text: str) -> Iterator[re.Match[str]]:
    for match in _MARKS.finditer(text):
        if match[0] == '"':  # never closed, so that no later quote can be either
            yield from _UNQUOTED.finditer(text, match.end())
            return
        yield match


def _read_comment(text: str) -> list[tuple[str, str | None]]:
    """Return the pairs of a comment, or its text and None.

    Examples
    --------
    >>> _read_comment("# ::id s1 ::date 2020-02-20 ::preferred")
    [('id', 's1'), ('date', '2020-02-20'), ('preferred', '')]
    >>> _read_comment("# checked twice")
    [('checked twice', None)]
    """
    body = text.strip(" \t")[1:].strip(" \t")
    if not _KEY.match(body):
        return [(body, None)]
    pairs: list[tuple[str, str | None]] = []
    found = _KEY.match(body)
    while found is not None:
        key = found[1]
        following = None if key in _TO_THE_END else _KEY.search(body, found.end())
        end = len(body) if following is None else following.start()
        pairs.append((key, body[found.end() : end].strip(" \t")))
        found = following
    return pairs


def _write_comment(key: str, value: str | None) -> str | None:
    """Return the comment, without line end, that reads as this pair; None if impossible.

    Examples
    --------
    >>> _write_comment("id", "s1"), _write_comment("note", "see ::id")
    ('# ::id s1', None)
    """
    line = f"# {key}" if value is None else f"# ::{key} {value}".rstrip(" ")
    fits = "\n" not in line and not line.endswith("\r") and _read_comment(line) == [(key, value)]
    return line if fits else None


def _place_tokens(metadata: Metadata) -> tuple[str, tuple[Token, ...]]:
    """Return text and tokens of the sentence that the comments give.

    Examples
    --------
    >>> text, tokens = _place_tokens((("snt", "We go."), ("tok", "We go .")))
    >>> text, tokens[2].start
    ('We go.', 5)
    """
    values = {
        key: value for key, value in reversed(metadata) if value
    }  # the first of each key counts
    sentence, words = values.get("snt", ""), values.get("tok", "")
    written = _WORD.findall(words)
    if sentence:
        try:
            spans = place_words(sentence, written) if written else []
            return sentence, tuple(Token(w, *span) for w, span in zip(written, spans, strict=True))
        except MisfitError:
            pass  # ::tok is not a tokenization of ::snt, so the text is ::tok
    found = _WORD.finditer(words)
    return words or sentence, tuple(Token(m[0], m.start(), m.end()) for m in found)


def penman_text(examples: Iterable[Example], *, view: str = "sentence") -> Iterator[str]:
    """Yield comments and graph of each example, and a blank line.

    The metadata, ``::id``, ``::snt`` and ``::tok`` if they are not among them, the graph, and
    alignments are written and read back. A plain `Graph` has an ``::id`` only. An ``::id`` in the
    metadata is replaced by the id of the example. Labels of examples, lemmas, tags, syntax,
    entities and relations are not written.

    Raises
    ------
    StructureError
        If an example has no graph, the graph cannot be written (see
        `kernelwood.structures.write_penman`), a comment would not read back, or the tokens do not
        follow one another in the text with only blanks between them.
    """
    return write_each(examples, lambda example: _written(example, view))


def _written(example: Example, view: str) -> str:
    found = view_to_write(example, view, Sentence, Graph)
    if isinstance(found, Graph):
        pairs: Metadata = (("id", example.id),)
        text = graph_text(found)
    elif found.amr is None:
        raise StructureError(
            f"the sentence in view {view!r} has no graph", hint="the format needs its amr"
        )
    else:
        pairs = _metadata(example.id, found)
        text = graph_text(found.amr, dict(found.alignments))
    return "\n".join([*(_comment(*pair) for pair in pairs), text]) + "\n\n"


def _metadata(name: str, sentence: Sentence) -> Metadata:
    """Return the pairs to write, having checked that they give text and tokens."""
    metadata: Metadata = tuple(
        (key, name if key == "id" and value is not None else value)
        for key, value in sentence.metadata
    )
    keys = {key for key, value in metadata if value is not None}
    if "id" not in keys:
        metadata = (("id", name), *metadata)
    if "tok" not in keys and sentence.tokens:
        metadata += (("tok", " ".join(sentence.words)),)
    if "snt" not in keys and _place_tokens(metadata)[0] != sentence.text:
        metadata += (("snt", sentence.text),)
    text, tokens = _place_tokens(metadata)
    wanted = [(token.text, token.start, token.end) for token in sentence.tokens]
    if text != sentence.text or [(t.text, t.start, t.end) for t in tokens] != wanted:
        raise StructureError(
            "the text and its tokens are not what ::snt and ::tok can hold",
            hint="tokens follow one another with only blanks between them, and cover the text",
        )
    return metadata


def _comment(key: str, value: str | None) -> str:
    line = _write_comment(key, value)
    if line is None:
        raise StructureError(
            f"the comment {shorten(repr((key, value)))} would not read back",
            hint='it is one line; keys have no blanks, values no " ::" unless of snt or tok',
        )
    return line


def write_penman(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    view: str = "sentence",
) -> None:
    r"""Write graphs in PENMAN notation with their comments and alignments.

    Parameters
    ----------
    examples : iterable of Example
        Each has in ``view`` a `Sentence` with ``amr``, or a `Graph`; :func:`penman_text` lists the
        contents of the file.
    path : str, PathLike or text stream
        Replaced only when everything is written; see :func:`kernelwood.io.write`.
    view : str
        Name of the sentence or graph.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> write_penman([Example("a", views={"sentence": Graph({"d": "dog"}, root="d")})], out)
    >>> out.getvalue()
    '# ::id a\n(d / dog)\n\n'
    """
    write_text(path, penman_text(examples, view=view))
