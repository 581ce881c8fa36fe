"""Writing semantic roles in columns: the short layout of :mod:`kernelwood.io.srl`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kernelwood.errors import StructureError
from kernelwood.io.comments import comment_line
from kernelwood.io.srl_columns import TOPS
from kernelwood.io.writers import view_to_write, write_each
from kernelwood.structures import Tree, shorten
from kernelwood.text import Example, Predicate, RoleSpan, Sentence, Token

__all__ = ["VERB_ROLES", "is_document_mark", "srl_text"]

VERB_ROLES = ("V", "C-V")

_DOCUMENT_MARK = re.compile(r"#[ \t]*(?:begin|end) document\b")
_CELL_WORD = re.compile(r"[^\t\n\r]+")
_BRACKET_LABEL = re.compile(r"[^\t\n\r()*]+")


def is_document_mark(text: str) -> bool:
    """Say whether a line begins or ends a document and belongs to no sentence.

    Examples
    --------
    >>> is_document_mark("#begin document (letters/1); part 000")
    True
    """
    return _DOCUMENT_MARK.match(text) is not None


def srl_text(examples: Iterable[Example], *, view: str = "sentence") -> Iterator[str]:
    """Yield the lines of each sentence and a blank one.

    Words, tags, lemmas, tree, predicates and metadata are written, and the identifier as
    ``sent_id``; reading gives them back. The text becomes the words joined by blanks. Roles are
    written in the order of their words, with a ``V`` on the predicate unless there is one
    already, and a lemma that only the predicate or only the token has, for both. What the format
    has no place for is left out: labels of examples, coarse parts of speech, features,
    dependencies, entities, relations, events, meanings.

    Raises
    ------
    StructureError
        If a sentence has no words, a word or label holds a tab or a line end, the tree is not
        words below their tags, roles overlap without one lying in the other, a predicate has no
        sense, two predicates share a word, or a comment would not read back.
    """
    return write_each(examples, lambda example: _written(example, view))


def _written(example: Example, view: str) -> str:
    sentence = view_to_write(example, view, Sentence)
    return "\n".join([*_comments(example.id, sentence), *_rows(sentence)]) + "\n\n"


def _comments(name: str, sentence: Sentence) -> Iterator[str]:
    if not name or name != name.strip():
        raise StructureError("the id is empty or has blanks around it", hint="rename the example")
    yield comment_line("sent_id", name)
    for key, value in sentence.metadata:
        line = comment_line(key, value)
        if key == "sent_id" or is_document_mark(line):
            raise StructureError(
                f"the comment {shorten(repr((key, value)))} would not read back as metadata",
                hint="sent_id is the id of the example; 'begin document' and 'end document' "
                "belong to no sentence",
            )
        yield line


def _rows(sentence: Sentence) -> Iterator[str]:
    tokens = sentence.tokens
    if not tokens:
        raise StructureError("it has no words", hint="give the sentence tokens")
    bits = _parse_bits(sentence.tree, tokens)
    predicates = {predicate.token: predicate for predicate in sentence.predicates}
    if len(predicates) < len(sentence.predicates):
        raise StructureError("two predicates share a word", hint="a word has one roleset")
    columns = [_role_cells(predicates[index], len(tokens)) for index in sorted(predicates)]
    for index, (token, bit) in enumerate(zip(tokens, bits, strict=True)):
        lemma, sense = _lemma_and_sense(token, predicates.get(index))
        cells = [_cell(token.text, "word"), _optional(token.tag, "tag"), bit, lemma, sense]
        yield "\t".join([str(index), *cells, *(column[index] for column in columns)])


def _lemma_and_sense(token: Token, predicate: Predicate | None) -> tuple[str, str]:
    if predicate is None:
        return _optional(token.lemma, "lemma"), "-"
    if token.lemma and predicate.lemma and token.lemma != predicate.lemma:
        raise StructureError(
            f"the lemma is {token.lemma!r} as a word and {predicate.lemma!r} as a predicate",
            hint="the format has one lemma for both",
        )
    if predicate.sense in ("", "-"):
        raise StructureError(
            f"the predicate {shorten(repr(token.text))} has no sense",
            hint="the roleset is what marks a predicate",
        )
    return _optional(token.lemma or predicate.lemma, "lemma"), _cell(predicate.sense, "sense")


def _optional(value: str, what: str) -> str:
    if value == "-":
        raise StructureError(f'the {what} is "-", which stands for none', hint="leave it empty")
    return _cell(value, what) if value else "-"


def _cell(value: str, what: str) -> str:
    return _fitting(_CELL_WORD, value, what, "column", "tab or line end")


def _label(value: str, what: str) -> str:
    return _fitting(_BRACKET_LABEL, value, what, "bracket", "bracket, star, tab or line end")


def _fitting(pattern: re.Pattern[str], value: str, what: str, place: str, never: str) -> str:
    if not pattern.fullmatch(value):
        raise StructureError(
            f"the {what} {shorten(repr(value))} fits no {place}",
            hint=f"it must not be empty and hold no {never}",
        )
    return value


def _parse_bits(tree: Tree | None, tokens: tuple[Token, ...]) -> list[str]:
    """Return a cell for each word; the tree gets an outer bracket, which reading takes off."""
    if tree is None:
        return ["*"] * len(tokens)
    kept = tree.label in TOPS and len(tree.children) > 1  # reading leaves it where it is
    before: list[list[str]] = [[] for _ in tokens]
    n_after = [0] * len(tokens)
    if not kept:
        before[0].append("(TOP")
        n_after[-1] = 1
    position = 0
    pending: list[Tree | None] = [tree]  # None closes a bracket
    while pending:
        node = pending.pop()
        if node is None:
            n_after[position - 1] += 1
        elif len(node.children) == 1 and node.children[0].is_leaf:
            _check_word(node, tokens[position])
            position += 1
        elif node.is_leaf or node.edge:
            raise _wrong_tree(node)
        else:
            before[position].append("(" + _label(node.label, "constituent"))
            pending.append(None)
            pending += reversed(node.children)
    return _join_cells(before, n_after)


def _check_word(node: Tree, token: Token) -> None:
    [word] = node.children
    if node.edge or word.edge:
        raise _wrong_tree(node)
    if (node.label, word.label) != (token.tag, token.text):
        raise StructureError(
            f"the tree has {shorten(repr(word.label))} below {shorten(repr(node.label))} where "
            f"the word is {shorten(repr(token.text))} and its tag {shorten(repr(token.tag))}",
            hint="make the sentence with Sentence.from_tree",
        )


def _wrong_tree(node: Tree) -> StructureError:
    return StructureError(
        f"the node {shorten(repr(node.label))} of the tree is no constituent",
        hint="each word is the only child of its tag, and edges have no labels",
    )


def _role_cells(predicate: Predicate, n_tokens: int) -> list[str]:
    spans = list(predicate.arguments)
    if all(span.role != "V" for span in spans):
        spans.append(RoleSpan("V", predicate.token, predicate.token + 1))
    spans.sort(key=lambda span: (span.start, -span.end))
    before: list[list[str]] = [[] for _ in range(n_tokens)]
    n_after = [0] * n_tokens
    ends: list[int] = []
    for role, start, end in spans:
        while ends and ends[-1] <= start:
            ends.pop()
        if ends and ends[-1] < end:
            raise StructureError(
                f"the role {shorten(repr(role))} of the predicate on word {predicate.token} "
                "overlaps another",
                hint="of two roles that share words, one must hold the other",
            )
        ends.append(end)
        before[start].append("(" + _label(role, "role"))
        n_after[end - 1] += 1
    return _join_cells(before, n_after)


def _join_cells(before: list[list[str]], n_after: list[int]) -> list[str]:
    return [
        f"{''.join(opened)}*{')' * n_closed}"
        for opened, n_closed in zip(before, n_after, strict=True)
    ]
