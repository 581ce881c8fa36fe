r"""Trees in bracket notation, the format of the Penn Treebank.

Notation
--------
A node with children is ``(label child child ...)``; a child without children is a bare word::

    (S (NP (DT the) (NN cat)) (VP sleeps))

* Blanks and line breaks (ASCII only) separate; none is needed beside a bracket:
  ``(NP(DT the)(NN cat))``. A bracketed node without children is a leaf, ``(NP (x))`` equals
  ``(NP x)``, and a tree of one node is written ``(x)``.
* A label may be missing: ``( (S x) )`` has an empty label at its root, as in the Penn files.
  `strip_empty_root` removes that root.
* Labels are not rewritten: ``-LRB-`` is kept. A bracket right after a backslash belongs to the
  word, and the backslash is kept: ``\(`` is two characters.

Quotes
------
A word or label that *begins* with ``"`` is quoted up to the next ``"``, and may then hold blanks,
brackets or nothing at all: ``"New York"``, ``""``. Between the quotes ``\"`` ``\\`` ``\(`` ``\)``
and ``\`` + blank stand for the second character, and ``\n`` ``\r`` ``\t`` ``\f`` ``\v`` for the
same characters as in Python; a quote ends on the line it began on.

A ``"`` followed by a blank, a bracket or the end is the word ``"``, not a quote, as in
``('' ")``; so a blank or bracket at the start of quoted text is escaped, ``"\(a)"``.
A ``"`` inside or after a word is an ordinary character: ``5"``.

Edges
-----
An edge label is always quoted and stands before the node label, joined by a colon:
``(saw "nsubj":cat ("obj":mouse "amod":small))``. Words with colons, slashes, equals signs or
hashes are therefore never split.

`write_brackets` quotes only labels that could not be read otherwise. Reading and then writing
changes a text without quotes only in its blanks, and every written tree is read back unchanged.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache

from kernelwood.errors import StructureError
from kernelwood.structures.structure_base import share, shorten
from kernelwood.structures.tree import Tree, make_node

_BLANKS = " \t\n\r\f\v"
_END = r"(?=[ \t\n\r\f\v()]|\Z)"
_QUOTED = r'"(?![ \t\n\r\f\v()])[^"\\\n\r]*(?:\\[^\n\r][^"\\\n\r]*)*"'
_BARE = r'[^ \t\n\r\f\v()"][^ \t\n\r\f\v()]*(?:(?<=\\)[()][^ \t\n\r\f\v()]*)*'

# Short words without quotes and backslashes. Most of a treebank are nodes above one to four of
# these, and opening brackets with one; as single tokens they cost a fraction of the time.
_SHORT = r'[^ \t\n\r\f\v()"\\]{1,100}'
_OVER_LEAVES = rf"\({_SHORT}(?: {_SHORT}){{0,3}}\)"
_OPENING = rf"\((?:{_SHORT}{_END})?"
# The last alternative matches a quote that is not properly closed.
_TOKEN = re.compile(
    rf"{_OVER_LEAVES}|{_OPENING}|\)|{_BARE}"
    rf'|(?:{_QUOTED}:)?(?:{_QUOTED}{_END}|"{_END})|{_QUOTED}:{_BARE}|"[^ \t\n\r\f\v()]+'
)
# Estimated bytes of a token, since an open bracket is a tuple with a list, and of a line, which is
# kept to locate errors. The memory is estimated once in some lines, and for each long line.
_TOKEN_MEMORY, _LINE_MEMORY = 200, 500
_CHECKED_LINES, _LONG_LINE = 500, 256
_MAX_SHARED_LENGTH = 100
_N_SHARED = 1 << 14
_ATOM = re.compile(rf'(?:({_QUOTED}):)?(?:({_QUOTED})|({_BARE}|"))')
# No backslash at the end: it would escape the bracket that follows.
_WRITTEN_BARE = re.compile(rf'"|{_BARE}(?<!\\)')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_MEANING = {
    '"': '"', "\\": "\\", "(": "(", ")": ")", " ": " ",
    "n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v",
}  # fmt: skip
_WRITTEN = {
    ord(character): "\\" + letter for letter, character in _MEANING.items() if letter not in " ()"
}


def read_brackets(text: str) -> Tree:
    """Return the only tree of a text.

    Raises
    ------
    StructureError
        If there is no tree, a malformed one, or text after it; carries line and column.

    Examples
    --------
    >>> read_brackets("(SYNT##root(POS##VB(LEX##develop::v)))").depth
    3
    >>> read_brackets("(S (NP x) (VP y)")
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: 1:1: bracket is never closed
        (S (NP x) (VP y)
        ^
        add 1 closing bracket
    """
    if not isinstance(text, str):
        raise StructureError(f"expected bracketed text, got {type(text).__name__}")
    reader = _Reader(single=True)
    for number, line in enumerate(text.split("\n"), 1):
        reader.feed(number, line)
    reader.close()
    if not reader.done:
        raise StructureError("no tree in the text", line=1, hint="a tree looks like (S (NP x))")
    return reader.done[0][1]


def iter_brackets(
    text: str | Iterable[str], *, first_line: int = 1, memory: int | None = None
) -> Iterator[tuple[int, Tree]]:
    r"""Iterate over the trees of a text with the line each begins on.

    Parameters
    ----------
    text : str or iterable of str
        The whole text, or its lines, such as an open file; lines are read as they are needed.
    first_line : int, optional
        Number of the first line.
    memory : int, optional
        Bytes that the lines and brackets of one tree may take by an estimate; by default there is
        no limit.

    Yields
    ------
    line : int
        Number of the line on which the tree begins.
    tree : Tree
        The tree.

    Raises
    ------
    StructureError
        At the first malformed tree, and at one that is too large.

    Examples
    --------
    >>> list(iter_brackets("(A x)\n(B\n  y) (C z)"))
    [(1, Tree('(A x)')), (2, Tree('(B y)')), (3, Tree('(C z)'))]
    """
    reader = _Reader(memory=memory)
    for number, line in enumerate(text.split("\n") if isinstance(text, str) else text, first_line):
        reader.feed(number, line)
        if reader.done:
            yield from reader.done
            reader.done.clear()
    reader.close()


def strip_empty_root(tree: Tree) -> Tree:
    """Return the only child of a root with an empty label, or the tree itself.

    Examples
    --------
    >>> strip_empty_root(read_brackets("( (S (NP x)) )"))
    Tree('(S (NP x))')
    """
    return tree.children[0] if not tree.label and len(tree.children) == 1 else tree


def write_brackets(tree: Tree) -> str:
    """Return a tree in brackets on one line.

    Examples
    --------
    >>> write_brackets(Tree("S", [Tree("NP", [Tree("x")]), Tree("")]))
    '(S (NP x) "")'
    """
    return "".join(_pieces(tree))


def preview_brackets(tree: Tree, width: int) -> str:
    """Return the first ``width`` characters of a tree in brackets, without visiting the rest.

    Examples
    --------
    >>> preview_brackets(read_brackets("(S (NP (DT the) (NN cat)) (VP sleeps))"), 24)
    '(S (NP (DT the) (NN ...)'
    """
    text = ""
    for piece in _pieces(tree):
        text += piece
        if len(text) > width:
            return text[: width - 4] + "...)"
    return text


class _Reader:
    """Incremental reader, line by line; no token spans two lines."""

    def __init__(self, *, single: bool = False, memory: int | None = None) -> None:
        self.done: list[tuple[int, Tree]] = []
        self._single = single
        self._memory = sys.maxsize if memory is None else memory
        # Characters that surely fit into the memory. When long lines have used them up, and after
        # some short ones, what the lines of the tree take is counted, but no line twice.
        self._most = self._room = self._memory // _TOKEN_MEMORY
        self._counted = self._n_counted = 0
        # The open node: its label (None while unknown), its edge, its children so far. Outside
        # of all trees, an unlabeled parent of all.
        self._open: tuple[str | None, str, list[Tree]] = ("", "", [])
        self._outer: list[tuple[str, str, list[Tree]]] = []
        self._start = 0
        self._lines: list[
            tuple[int, str]
        ] = []  # of the current tree, to locate an unclosed bracket

    def feed(self, number: int, line: str) -> None:
        """Read one line; finished trees are appended to ``done``."""
        outer = self._outer
        if len(line) > _LONG_LINE:
            self._charge(number, line)
        label, edge, children = self._open
        for index, token in enumerate(_TOKEN.findall(line)):
            if token == ")":
                if not outer:
                    raise self._stray(number, line, index, token)
                node = make_node(label or "", tuple(children), edge)
                label, edge, children = outer.pop()
                children.append(node)
                if not outer:
                    self.done.append((self._start, children.pop()))
            elif token[0] == "(":
                if not outer:
                    self._begin(number, line, index)
                if token[-1] == ")":
                    label = label or ""  # a word after a child is not the label
                    children.append(_over_leaves(token))
                    if not outer:
                        self.done.append((number, children.pop()))
                else:
                    outer.append((label or "", edge, children))
                    label, edge, children = _opened_label(token), "", []
            elif not outer:
                raise self._stray(number, line, index, token)
            elif token[0] == '"':
                word, word_edge = _read_atom(number, line, index, token)
                if label is None:
                    label, edge = word, word_edge
                else:
                    children.append(make_node(word, (), word_edge))
            elif label is None:
                label = token
            else:
                short = len(token) <= _MAX_SHARED_LENGTH
                children.append(_leaf(token) if short else make_node(token, (), ""))
        self._open = (label, edge, children)
        if outer:
            if line.strip(_BLANKS):
                self._lines.append((number, line))
                if not len(self._lines) % _CHECKED_LINES:
                    self._count(self._start)
        elif self._lines:
            self._lines.clear()
            self._counted = self._n_counted = 0

    def _charge(self, number: int, line: str) -> None:
        """Charge a long line before it is read; raise if it may take too much memory."""
        if not self._outer:
            self._room, self._start = self._most, number
        self._room -= len(line)
        if self._room < 0:
            self._count(self._start, line)

    def _count(self, start: int, line: str | None = None) -> None:
        """Estimate the memory of the lines of the current tree and of one more line.

        Raise if it is too much for the tree that begins at line ``start``.
        """
        for _, text in self._lines[self._n_counted :]:
            self._counted += self._estimate(text, self._counted)
        self._n_counted = len(self._lines)
        total = self._counted + (0 if line is None else self._estimate(line, self._counted))
        if total > self._memory:
            raise StructureError(
                f"the tree, or its line, would take more than {self._memory:,} bytes of memory",
                line=start,
                hint="perhaps a closing bracket is missing; if you trust the data, "
                "give limits=Limits(memory=...)",
            )
        self._room = (self._memory - total) // _TOKEN_MEMORY

    def _estimate(self, text: str, before: int) -> int:
        """Return the memory of a line, or more than is left after ``before`` if it is more."""
        if len(text) <= _LONG_LINE:
            n_tokens = len(_TOKEN.findall(text))
        else:
            most = max(0, self._memory - before) // _TOKEN_MEMORY + 1
            n_tokens = sum(1 for _ in itertools.islice(_TOKEN.finditer(text), most))
        return n_tokens * _TOKEN_MEMORY + len(text) + _LINE_MEMORY

    def close(self) -> None:
        """Raise if a bracket is still open."""
        if not self._outer:
            return
        opened: list[tuple[int, str, int]] = []
        for number, line in self._lines:
            for match in _TOKEN.finditer(line):
                if match[0][0] == "(" and match[0][-1] != ")":
                    opened.append((number, line, match.start()))
                elif match[0] == ")":
                    opened.pop()
        number, line, column = opened[-1]
        n_open = len(opened)
        raise StructureError(
            "bracket is never closed",
            line=number,
            column=column + 1,
            snippet=line.rstrip("\r\n"),
            hint=f"add {n_open} closing bracket{'s' if n_open > 1 else ''}",
        )

    def _begin(self, number: int, line: str, index: int) -> None:
        if self._single and self.done:
            hint = "read one tree at a time, or a whole file with kernelwood.read"
            raise _error("text after the tree", number, line, index, hint)
        self._start = number

    def _stray(self, number: int, line: str, index: int, token: str) -> StructureError:
        if token == ")":
            problem, hint = 'unexpected ")"', "remove it, or add the opening bracket it belongs to"
        elif self._single and self.done:
            problem, hint = "text after the tree", "remove it"
        else:
            problem, hint = 'expected "("', f"a tree of one node is written ({shorten(token)})"
            if token[0] in "[{<":
                hint = "brackets are round, as in (S (NP x))"
        return _error(problem, number, line, index, hint)


# Trees are immutable, so equal small trees are shared, which saves memory and time. The caches are
# bounded, and so are their entries.
@lru_cache(_N_SHARED)
def _leaf(word: str) -> Tree:
    return make_node(share(word), (), "")


@lru_cache(_N_SHARED)
def _over_leaves(token: str) -> Tree:
    """Make the node of ``(label word word)``."""
    label, *words = token[1:-1].split(" ")
    return make_node(share(label), tuple(map(_leaf, words)), "")


@lru_cache(_N_SHARED)
def _opened_label(token: str) -> str | None:
    """Return the label after an opening bracket, None if it follows later."""
    return share(token[1:]) or None


def _read_atom(number: int, line: str, index: int, token: str) -> tuple[str, str]:
    """Return label and edge label of a token that begins with a quote."""
    parts = _ATOM.fullmatch(token)
    if parts is None:
        raise _bad_quote(number, line, index)
    edge, quoted, bare = parts.groups()
    try:
        return bare or _unquote(quoted), _unquote(edge) if edge else ""
    except KeyError as unknown:
        problem = f"unknown escape \\{unknown.args[0]} between quotes"
        raise _error(problem, number, line, index, "write \\\\ for a backslash") from None


def _bad_quote(number: int, line: str, index: int) -> StructureError:
    if re.compile(_QUOTED).match(line, _column(line, index) - 1):
        problem = "closing quote must be followed by a blank, a bracket, or a colon and a label"
    else:
        problem = "quote is never closed"
    hint = 'close it on the same line; to begin a word with a quote, write "\\"..."'
    return _error(problem, number, line, index, hint)


def _unquote(text: str) -> str:
    return _ESCAPE.sub(lambda match: _MEANING[match[1]], text[1:-1])


def _error(problem: str, number: int, line: str, index: int, hint: str) -> StructureError:
    """Make an error at the token with that index in the line."""
    snippet = line.rstrip("\r\n")
    return StructureError(
        problem, line=number, column=_column(line, index), snippet=snippet, hint=hint
    )


def _column(line: str, index: int) -> int:
    """Return the column of a token, counted from 1; computed for errors only."""
    return next(itertools.islice(_TOKEN.finditer(line), index, None)).start() + 1


def _pieces(tree: Tree) -> Iterator[str]:
    yield "(" + _head(tree)
    path = [iter(tree.children)]
    while path:
        for child in path[-1]:
            if child.children:
                yield " (" + _head(child)
                path.append(iter(child.children))
                break
            yield " " + _atom(child)
        else:
            path.pop()
            yield ")"


def _head(node: Tree) -> str:
    # An empty label before a bracket is omitted, as in the Penn files.
    if not node.label and not node.edge and node.children and node.children[0].children:
        return ""
    return _atom(node)


def _atom(node: Tree) -> str:
    word = node.label if _WRITTEN_BARE.fullmatch(node.label) else _quote(node.label)
    return f"{_quote(node.edge)}:{word}" if node.edge else word


def _quote(text: str) -> str:
    written = text.translate(_WRITTEN)
    return f'"\\{written}"' if written[:1] in {" ", "(", ")"} else f'"{written}"'
