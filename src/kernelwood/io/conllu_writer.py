"""Writing sentences as CoNLL-U, so that reading gives the same sentences back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from kernelwood.errors import StructureError
from kernelwood.io.alignment import MisfitError, place_words
from kernelwood.io.comments import comment_line
from kernelwood.io.conllu_checks import COLUMNS, find_circle, written_units
from kernelwood.io.conllu_comments import names_other_columns
from kernelwood.io.writers import view_to_write, write_each
from kernelwood.structures import shorten
from kernelwood.text import ROOT, Dependency, EmptyNode, Example, Multiword, Sentence, Token

__all__ = ["conllu_text"]


def conllu_text(examples: Iterable[Example], *, view: str = "sentence") -> Iterator[str]:
    r"""Yield the lines of each example, with the blank line that ends them.

    See :func:`~kernelwood.io.write_conllu`.

    Examples
    --------
    >>> sentence = Sentence.from_words(["go"], dependencies=[(-1, "root", 0)])
    >>> next(conllu_text([Example("a", views={"sentence": sentence})]))
    '# sent_id = a\n# text = go\n1\tgo\t_\t_\t_\t_\t0\troot\t_\t_\n\n'
    """
    return write_each(examples, lambda example: _written(example, view))


def _written(example: Example, view: str) -> str:
    sentence = view_to_write(example, view, Sentence)
    if not sentence.tokens:
        raise StructureError(
            "the sentence has no tokens", hint="the format has a line for every word"
        )
    lines = _comments(example.id, sentence) + _word_lines(sentence)
    for line in lines:
        _check_line(line)
    return "\n".join(lines) + "\n\n"


def _comments(name: str, sentence: Sentence) -> list[str]:
    if not name or name != name.strip():
        raise StructureError("the id is empty or has blanks around it", hint="rename the example")
    lines = []
    for key, value in sentence.metadata:
        if value is not None and key in ("sent_id", "text"):
            raise StructureError(
                f"its metadata has the key '{key}', which is written by itself",
                hint="sent_id is the id of the example, text that of the sentence",
            )
        if names_other_columns(key, value):
            raise StructureError(
                "its metadata announces other columns than those of CoNLL-U",
                hint="leave 'global.columns' out",
            )
        lines.append(comment_line(key, value))
    return [*lines, f"# sent_id = {name}", f"# text = {sentence.text}"]


def _check_line(line: str) -> None:
    if "\n" in line or "\r" in line:
        raise StructureError(
            f"there is a line break in {shorten(repr(line))}",
            hint="replace line breaks in text and annotation by blanks",
        )


def _word_lines(sentence: Sentence) -> list[str]:
    _check_multiwords(sentence.multiwords)
    _check_places(sentence)
    names = _names(sentence)
    heads = _head_columns(sentence)
    enhanced = _enhanced_columns(sentence, names)
    ranges = {word.first: word for word in sentence.multiwords}
    n_tokens = len(sentence.tokens)
    hidden = [
        (node.after, _empty_line(node, names[n_tokens + k], enhanced[n_tokens + k]))
        for k, node in enumerate(sentence.empty)
    ]
    hidden.reverse()
    lines: list[str] = []
    for index in range(-1, n_tokens):
        if index in ranges:
            lines.append(_range_line(ranges[index]))
        if index >= 0:
            token = sentence.tokens[index]
            lines.append(_token_line(token, names[index], heads[index], enhanced[index]))
        while hidden and hidden[-1][0] == index:
            lines.append(hidden.pop()[1])
    return lines


def _check_multiwords(multiwords: tuple[Multiword, ...]) -> None:
    for before, after in pairwise(multiwords):
        if after.first < before.end:
            raise StructureError(
                f"the multiword tokens {shorten(repr(before.text))} and "
                f"{shorten(repr(after.text))} overlap or stand in the wrong order",
                hint="sort them, and let each word be part of one",
            )


def _check_places(sentence: Sentence) -> None:
    """Raise unless the reader finds the words where the sentence has them."""
    tokens = sentence.tokens
    units = written_units(len(tokens), [(word.first, word.end) for word in sentence.multiwords])
    joined = {word.first: word.text for word in sentence.multiwords}
    forms = [_form(joined.get(first, tokens[first].text)) for first, _ in units]
    try:
        spans = place_words(sentence.text, forms)
    except MisfitError as failure:
        rest = shorten(repr(sentence.text[failure.position : failure.position + 60]), 40)
        what = "the text goes on after the last word"
        if failure.index < len(units):
            name, form = units[failure.index][0] + 1, shorten(repr(forms[failure.index]))
            what = f"word {name} {form} does not continue the text"
        raise StructureError(
            f"{what} at character {failure.position + 1}, {rest}",
            hint="only blanks may stand between words; Sentence.from_words makes a text of words",
        ) from None
    for (first, end), form, (start, stop) in zip(units, forms, spans, strict=True):
        for token in tokens[first:end]:
            if (token.start, token.end) != (start, stop):
                raise StructureError(
                    f"word {first + 1} {shorten(repr(form))} stands at [{token.start}, "
                    f"{token.end}), and would be read back at [{start}, {stop})",
                    hint="words stand in the order of the text; "
                    "those of a multiword token share its characters",
                )


def _names(sentence: Sentence) -> list[str]:
    names = [str(number) for number in range(1, len(sentence.tokens) + 1)]
    before, minor = ROOT, 0
    for node in sentence.empty:
        if node.after < before:
            raise StructureError(
                f"the empty node after token {node.after} stands behind one after token {before}",
                hint="sort the empty nodes by their place, and renumber the enhanced dependencies",
            )
        minor = minor + 1 if node.after == before else 1
        before = node.after
        names.append(f"{node.after + 1}.{minor}")
    return [*names, "0"]  # so that names[ROOT] is the id of the root


def _head_columns(sentence: Sentence) -> list[tuple[str, str]]:
    columns = [("_", "_")] * len(sentence.tokens)
    heads = [ROOT] * len(sentence.tokens)
    for head, relation, dependent in sentence.dependencies:
        if columns[dependent] != ("_", "_"):
            raise StructureError(
                f"word {dependent + 1} has two heads",
                hint="dependencies with several heads belong into 'enhanced'",
            )
        heads[dependent] = head
        columns[dependent] = str(head + 1), _column(relation, "DEPREL")
    circle = find_circle(heads)
    if circle:
        raise StructureError(
            f"the heads of {len(circle)} words run in a circle, that of word {min(circle) + 1} "
            "among them",
            hint="dependencies that are no tree belong into 'enhanced'",
        )
    return columns


def _enhanced_columns(sentence: Sentence, names: list[str]) -> list[str]:
    parts: list[list[str]] = [[] for _ in names]
    for edge in sentence.enhanced:
        parts[edge.dependent].append(_enhanced_part(edge, names[edge.head]))
    return ["|".join(written) or "_" for written in parts]


def _enhanced_part(edge: Dependency, head: str) -> str:
    relation = _column(edge.relation, "DEPS")
    if "|" in relation:
        raise StructureError(
            f"the enhanced relation {shorten(repr(relation))} has a '|', which separates relations",
            hint="rename the relation",
        )
    return f"{head}:{relation}"


def _column(value: str, name: str) -> str:
    if value == "_":
        raise StructureError(f"{name} is '_', which says: not known", hint='write ""')
    if "\t" in value:
        raise StructureError(
            f"there is a tab in {name}, {shorten(repr(value))}", hint="tabs separate columns"
        )
    return value or "_"


def _form(value: str) -> str:
    if not value:
        raise StructureError("a word is empty", hint="leave it out")
    return value if value == "_" else _column(value, "FORM")


def _lemma(token: Token) -> str:
    if token.text != "_":
        return _column(token.lemma, "LEMMA")
    if not token.lemma:
        raise StructureError(
            "a word '_' has no lemma, and would be read back with the lemma '_'",
            hint="give it the lemma '_'",
        )
    return token.lemma if token.lemma == "_" else _column(token.lemma, "LEMMA")


def _token_line(token: Token, name: str, head: tuple[str, str], enhanced: str) -> str:
    columns = [
        name,
        _form(token.text),
        _lemma(token),
        _column(token.pos, "UPOS"),
        _column(token.tag, "XPOS"),
        _column(token.features, "FEATS"),
        *head,
        enhanced,
        _column(token.misc, "MISC"),
    ]
    return "\t".join(columns)


def _range_line(word: Multiword) -> str:
    misc = _column(word.misc, "MISC")
    blank = ["_"] * 7
    return "\t".join([f"{word.first + 1}-{word.end}", _form(word.text), *blank, misc])


def _empty_line(node: EmptyNode, name: str, enhanced: str) -> str:
    described = (node.text, node.lemma, node.pos, node.tag, node.features)
    columns = [_column(value, COLUMNS[i]) for i, value in enumerate(described, start=1)]
    return "\t".join([name, *columns, "_", "_", enhanced, _column(node.misc, "MISC")])
