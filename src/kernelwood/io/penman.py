"""PENMAN files: abstract meaning representations, with comments and alignments.

::

    # ::id s1 ::annotator someone
    # ::snt Raf binds Ras.
    # ::tok Raf binds Ras .
    (b / bind-01~e.1
        :ARG0 (p / protein :name (n / name :op1 "Raf"~e.0))
        :ARG1 (q / protein :name (m / name :op1 "Ras"~e.2)))

The notation of one graph is that of ``Graph.from_penman``. A graph begins on a line of its own and
ends with its last bracket, whatever blank lines there are or are missing. The comments before it
become metadata: ``# ::key value ::key value`` gives pairs in order, the value of ``::snt`` and
``::tok`` being the rest of the line; any other comment is a text without value. Comments without
``::`` that a blank line follows, such as the head of a release, belong to no graph.

``::id`` is the identifier. The text of the sentence is ``::snt``, the tokens are what blanks
separate in ``::tok`` and are looked for in the text from left to right. If there is no ``::snt``,
or it has anything between the tokens but blanks, the text is ``::tok`` itself. Without ``::tok``
there are no tokens.

Alignments on concepts, constants and variables (``~e.3``, ``~e.3,5``, ``~3``) become
``alignments`` of the node, sorted by token. Those on roles, and all of a sentence without
``::tok``, are left out with a remark in the tally; an ``::alignments`` comment is metadata only.

After a broken graph reading goes on at the next line that begins with ``(`` or ``# ::`` in
column 1, or that follows a blank line if the brackets of the graph were closed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import IO

from kernelwood.errors import StructureError
from kernelwood.io.atomic import write_text
from kernelwood.io.blocks import Block, Parsed, read_blocks
from kernelwood.io.penman_comments import place_tokens, read_comment
from kernelwood.io.penman_parts import is_comment, iter_parts
from kernelwood.io.penman_writer import penman_text
from kernelwood.io.source import Item, Source
from kernelwood.structures import Graph, PenmanGraph, parse_penman
from kernelwood.text import Example, Metadata, Sentence

__all__ = ["looks_like_penman", "penman_text", "read_penman", "write_penman"]

_GRAPH_START = re.compile(r"\s*\(\s*[^\s()]+\s*/\s")
_COMMENT_START = re.compile(r"\s*#[ \t]*::[a-z]")


def looks_like_penman(head: str) -> bool:
    r"""Say whether a file that begins with ``head`` may hold PENMAN graphs.

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

    The identifier is that of ``::id``, else the stem of the file and the number of the graph,
    broken ones counted; the origin has the line on which its comments begin.
    """
    return read_blocks(source, iter_parts(source.lines()), _parse, views)


def _parse(block: Block) -> Parsed:
    comments = list(takewhile(is_comment, block))
    rows = block[len(comments) :]
    if not rows:
        raise StructureError(
            "comments without a graph", hint="a graph such as (d / dog) follows its comments"
        )
    try:
        metadata = tuple(pair for line in comments for pair in read_comment(line.text))
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


def _sentence(metadata: Metadata, graph: PenmanGraph) -> tuple[Sentence, tuple[str, ...]]:
    text, tokens = place_tokens(metadata)
    remarks = []
    if graph.n_aligned_roles:
        remarks.append("alignments of roles are not kept")
    alignments = graph.alignments
    if alignments and not tokens:
        remarks.append("alignments without ::tok are not kept")
        alignments = {}
    # By token, so that the order does not depend on how the graph is laid out.
    listed = sorted(alignments.items(), key=lambda pair: (pair[1], str(pair[0])))
    amr = Graph(graph.nodes, graph.edges, graph.root)
    sentence = Sentence(text, tokens, amr=amr, alignments=tuple(listed), metadata=metadata)
    return sentence, tuple(remarks)


def write_penman(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    view: str = "sentence",
) -> None:
    r"""Write graphs in PENMAN notation with their comments and alignments.

    Parameters
    ----------
    examples : iterable of Example
        Each must have in ``view`` a `Sentence` with ``amr``, or a `Graph`; :func:`penman_text`
        says what of it is written.
    path : str, PathLike or text stream
        Replaced only when everything is written; see :func:`kernelwood.io.write`.
    view : str
        Which sentence or graph to write.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> write_penman([Example("a", views={"sentence": Graph({"d": "dog"}, root="d")})], out)
    >>> out.getvalue()
    '# ::id a\n(d / dog)\n\n'
    """
    write_text(path, penman_text(examples, view=view))
