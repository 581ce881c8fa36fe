r"""SemEval-2010 task 8: sentences with two marked nominals and the relation between them.

::

    8<TAB>"The <e1>lid</e1> of the <e2>kettle</e2> rattles."
    Component-Whole(e1,e2)
    Comment: a comment, or nothing

A blank line ends a part. Test files have only the first of these lines, with or without blank lines
between them; the label is then None. ``Other`` means that there is no relation.

The text stands between the quotation marks, without tags. The entities ``e1`` and ``e2`` have the
type ``nominal``; they are also the roles of the arguments, which are in the order written. Tokens
are made by :func:`kernelwood.text.tokenize`, with a boundary at every tag. A comment becomes
metadata.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import IO

from kernelwood.errors import StructureError
from kernelwood.io.atomic import write_text
from kernelwood.io.containers.limits import TOKEN_MEMORY
from kernelwood.io.lines import BLANKS, Block, Parsed, Scan, read_blocks, scan_blocks
from kernelwood.io.selection import view_to_write, write_each
from kernelwood.io.source import Item, Line, Source
from kernelwood.structures import shorten
from kernelwood.text import Argument, Entity, Example, Relation, Sentence, Span, tokenize

_SIGNATURE = re.compile(r'\s*[0-9]+\t"[^\n]*</?e[12]>')
_NUMBERED = re.compile(r"([0-9]+)\t")
_TAG = re.compile(r"<(/?)(e[12])>")
_RELATION = re.compile(r"([^\s(),]+)\((e1,e2|e2,e1)\)")
_COMMENT = "Comment:"
_NO_RELATION = "Other"
_NAMES = ("e1", "e2")
_TYPE = "nominal"
_MAX_LINES = 4  # of a part that are kept; one more than it can have


def looks_like_semeval(head: str) -> bool:
    r"""Return whether a file that begins with ``head`` may be in this format.

    Examples
    --------
    >>> looks_like_semeval('1\t"A <e1>lid</e1> on a <e2>pot</e2>."'), looks_like_semeval("1\ta")
    (True, False)
    """
    return bool(_SIGNATURE.match(head))


def read_semeval(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example for each sentence; its id is the number, its label the relation."""
    return read_blocks(source, _parts(source), _parse, views)


def scan_semeval(source: Source) -> Scan:
    """Return the function that finds sentences."""
    return scan_blocks(source, _parts)


def _parts(source: Source) -> Iterator[Block]:
    """Yield the lines of each part, at most one more than it can have."""
    part: Block = []
    longest = source.meter.limits.memory // TOKEN_MEMORY
    for line in source.lines():
        blank = not line.text.strip(BLANKS)
        if part and (blank or _begins_part(line.text)):
            yield part
            part = []
        if not blank and len(part) < _MAX_LINES:
            if len(line.text) > longest:
                line = Line(line.number, "", source.too_large(line.number, "line"))
            part.append(line)
    if part:
        yield part


def _begins_part(text: str) -> bool:
    # A line with a damaged number begins a part as well.
    return bool(_NUMBERED.match(text)) or ('\t"' in text and not text.startswith(_COMMENT))


def _parse(part: Block) -> Parsed:
    first, *rest = part
    numbered = _NUMBERED.match(first.text)
    if numbered is None:
        raise _error(first, 0, "expected a number, a tab, and a sentence in quotes")
    text, spans = _untag(first, numbered.end())
    label: str | None = None
    relations: tuple[Relation, ...] = ()
    if rest and not rest[0].text.startswith(_COMMENT):
        line = rest.pop(0)
        label = line.text.strip(BLANKS)
        try:
            relations = _relations(label)
        except StructureError as failure:
            raise _error(line, 0, failure.problem, failure.hint) from failure
    comment = ""
    if rest and rest[0].text.startswith(_COMMENT):
        comment = rest.pop(0).text[len(_COMMENT) :].strip(BLANKS)
    if rest:
        raise _error(rest[0], 0, "expected a blank line before the next sentence")
    return Parsed(numbered[1], _sentence(text, spans, relations, comment), label=label)


def _untag(line: Line, start: int) -> tuple[str, dict[str, Span]]:
    """Return the text without quotes and tags, and the spans of ``e1`` and ``e2`` in it."""
    written = line.text.rstrip(BLANKS)
    end = len(written) - 1
    if written[start : start + 1] != '"':
        raise _error(line, start, "expected a quotation mark before the sentence")
    if end <= start or written[end] != '"':
        raise _error(line, end, "expected a quotation mark after the sentence")
    pieces: list[str] = []
    length = 0
    places: dict[str, int] = {}
    position = start + 1
    for tag in _TAG.finditer(written, position, end):
        pieces.append(written[position : tag.start()])
        length += len(pieces[-1])
        position = tag.end()
        if tag[0] in places:
            raise _error(line, tag.start(), f"there is a second {tag[0]}")
        if tag[1] and places.get(f"<{tag[2]}>", length) == length:
            raise _error(
                line,
                tag.start(),
                f"{tag[0]} must follow <{tag[2]}> and at least one character",
            )
        places[tag[0]] = length
    pieces.append(written[position:end])
    for missing in ("<e1>", "</e1>", "<e2>", "</e2>"):
        if missing not in places:
            raise _error(line, end, f"there is no {missing} in the sentence")
    return "".join(pieces), {name: (places[f"<{name}>"], places[f"</{name}>"]) for name in _NAMES}


def _relations(label: str | None) -> tuple[Relation, ...]:
    """Return the relation of a label; none for None and ``Other``."""
    if label is None or label == _NO_RELATION:
        return ()
    written = _RELATION.fullmatch(label)
    if written is None or label.startswith(_COMMENT):
        raise StructureError(
            f"{shorten(repr(label))} is not a relation",
            hint=f"write {_NO_RELATION}, or a name and its arguments: Cause-Effect(e2,e1)",
        )
    arguments = tuple(Argument(name, name) for name in written[2].split(","))
    return (Relation("r1", written[1], arguments),)


def _sentence(
    text: str, spans: dict[str, Span], relations: tuple[Relation, ...], comment: str
) -> Sentence:
    return Sentence(
        text,
        tuple(tokenize(text, [offset for span in spans.values() for offset in span])),
        entities=tuple(
            Entity(name, _TYPE, (span,), text[slice(*span)]) for name, span in spans.items()
        ),
        relations=relations,
        metadata=(("comment", comment),) if comment else (),
    )


def _error(line: Line, index: int, problem: str, hint: str | None = None) -> StructureError:
    example = 'a sentence looks like 1<TAB>"The <e1>lid</e1> of a <e2>pot</e2>."'
    return line.error(index, problem, hint or example)


def semeval_text(examples: Iterable[Example], *, view: str = "sentence") -> Iterator[str]:
    r"""Yield the lines of each example; only the first line if it has no label.

    Examples
    --------
    >>> import io
    >>> written = '8\t"The <e1>lid</e1> of a <e2>pot</e2>."\nComponent-Whole(e1,e2)\nComment:\n\n'
    >>> "".join(semeval_text(read_semeval(Source(io.StringIO(written))))) == written
    True
    """
    return write_each(examples, lambda example: _written(example, view))


def _written(example: Example, view: str) -> str:
    sentence = view_to_write(example, view, Sentence)
    label = example.label
    if not (label is None or isinstance(label, str)):
        raise StructureError(f"the label {shorten(repr(label))} is not a string")
    spans = _spans(sentence)
    if re.fullmatch("[0-9]+", example.id) is None:
        raise StructureError("its id is not a number", hint="number the examples: 1, 2, 3, ...")
    comment = "".join(value or "" for _, value in sentence.metadata)
    exact = _sentence(sentence.text, spans, _relations(label), comment)
    _check_nothing_is_lost(sentence, exact)
    lines = [f'{example.id}\t"{_tagged(sentence.text, spans)}"']
    if label is not None:
        lines.append(label)
    if label is not None or comment:
        lines += [f"{_COMMENT} {comment}".rstrip(BLANKS), ""]
    return "".join(f"{line}\n" for line in lines)


def _spans(sentence: Sentence) -> dict[str, Span]:
    spans = {entity.id: entity.spans[0] for entity in sentence.entities if len(entity.spans) == 1}
    if len(sentence.entities) != 2 or set(spans) != set(_NAMES):
        raise StructureError(
            "a sentence has the two entities 'e1' and 'e2', each in one part, and no other; "
            f"this one has {', '.join(entity.id for entity in sentence.entities[:5]) or 'none'}"
            + ", ..."
            * (len(sentence.entities) > 5),
            hint="make one example for each pair of entities, and rename them",
        )
    return {name: spans[name] for name in _NAMES}


def _check_nothing_is_lost(sentence: Sentence, exact: Sentence) -> None:
    """Raise unless ``sentence`` would be read back, as ``exact``; tokens may be missing."""
    if "\n" in sentence.text or _TAG.search(sentence.text):
        raise StructureError("its text has a line feed or a tag", hint="replace them first")
    comment = dict(exact.metadata).get("comment") or ""
    if "\n" in comment or comment.endswith("\r") or comment != comment.strip(BLANKS):
        raise StructureError("its comment has a line end, or blanks around it", hint="strip it")
    for part in fields(Sentence):
        found, expected = getattr(sentence, part.name), getattr(exact, part.name)
        if found != expected and not (part.name == "tokens" and not found):
            raise StructureError(
                f"the format cannot hold its {part.name} {shorten(repr(found))}",
                hint="it holds a text, two nominals, the relation that the label names, and a "
                "comment; leave out the rest with sentence.with_parts(...)",
            )


def _tagged(text: str, spans: dict[str, Span]) -> str:
    # At the same offset closing tags stand before opening ones.
    tags = [(end, 0, f"</{name}>") for name, (_, end) in spans.items()]
    tags += [(start, 1, f"<{name}>") for name, (start, _) in spans.items()]
    pieces, position = [], 0
    for offset, _, tag in sorted(tags):
        pieces += [text[position:offset], tag]
        position = offset
    return "".join([*pieces, text[position:]])


def write_semeval(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    view: str = "sentence",
) -> None:
    r"""Write one view of each example in the format of SemEval-2010 task 8.

    Parameters
    ----------
    examples : iterable of Example
        The id is a number, the label a relation such as ``"Cause-Effect(e2,e1)"``, ``"Other"`` or
        None. A sentence may have a text, the nominals ``e1`` and ``e2``, and a comment; any other
        part is an error.
    path : str, PathLike or text stream
        Replaced only when everything is written; see :func:`kernelwood.io.write`.
    view : str
        Name of the sentence.

    Examples
    --------
    >>> import io
    >>> nominals = [Entity("e1", "nominal", ((2, 5),), "lid")]
    >>> nominals.append(Entity("e2", "nominal", ((11, 14),), "pot"))
    >>> sentence = Sentence("A lid on a pot", entities=nominals)
    >>> out = io.StringIO()
    >>> write_semeval([Example("1", views={"sentence": sentence})], out)
    >>> out.getvalue()
    '1\t"A <e1>lid</e1> on a <e2>pot</e2>"\n'
    """
    write_text(path, semeval_text(examples, view=view))
