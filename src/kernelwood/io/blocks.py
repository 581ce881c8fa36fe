"""Formats made of blocks of lines, each of them a sentence: from the block to the example.

CoNLL-U, semantic roles, PENMAN and SemEval differ in where a block ends and in what it says. What
comes then is the same for all: ids, sentences that are broken, remarks, and where it all stood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.ids import UsedIds
from kernelwood.io.source import Item, Line, Remark, Source
from kernelwood.text import Example, Sentence

__all__ = ["BLANKS", "Block", "Parsed", "cut_at_blank_lines", "read_blocks"]

BLANKS = " \t"  # other white space is text

Block: TypeAlias = list[Line]


class Parsed(NamedTuple):
    """What a block says; without a name the sentence is called by its number."""

    name: str | None
    sentence: Sentence
    remarks: tuple[str, ...] = ()
    label: str | None = None


def read_blocks(
    source: Source,
    blocks: Iterable[Block],
    parse: Callable[[Block], Parsed],
    views: tuple[str, ...] | None = None,
) -> Iterator[Item]:
    """Yield an example with the view ``"sentence"`` for each block.

    Parameters
    ----------
    source : Source
        The file; its stem and the number of the block, broken ones counted, are the id of a
        sentence without a name. Ids must not repeat.
    blocks : iterable of list of Line
        None of them empty. One with a line that is not UTF-8 is not parsed.
    parse : callable
        Raises ``StructureError``, with a line if that is not the first of the block, when the
        block is broken, and ``ReadError`` when the rest of the file cannot be read either.
    views : tuple of str, optional
        The examples have no views unless "sentence" is among them.
    """
    wanted = views is None or "sentence" in views
    used = UsedIds()
    for number, block in enumerate(blocks, start=1):
        first = block[0].number
        parsed = _parse(source, block, parse)
        if isinstance(parsed, ReadError):
            yield parsed
            continue
        name = parsed.name or f"{source.stem}:{number}"
        repeated = used.check(name, first, source)
        if repeated is not None:
            yield repeated
            continue
        yield from map(Remark, parsed.remarks)
        parts = {"sentence": parsed.sentence} if wanted else {}
        yield Example(name, parsed.label, parts, source.origin(first))


def _parse(source: Source, block: Block, parse: Callable[[Block], Parsed]) -> Parsed | ReadError:
    for line in block:
        if line.problem is not None:
            return line.problem
    try:
        return parse(block)
    except ReadError:
        raise
    except StructureError as failure:
        return source.locate(failure, block[0].number)


def cut_at_blank_lines(lines: Iterable[Line]) -> Iterator[Block]:
    """Yield the lines between blank ones.

    Examples
    --------
    >>> lines = [Line(1, "a"), Line(2, "b"), Line(3, ""), Line(4, " "), Line(5, "c")]
    >>> [[line.text for line in block] for block in cut_at_blank_lines(lines)]
    [['a', 'b'], ['c']]
    """
    block: Block = []
    for line in lines:
        if line.text.strip(BLANKS):
            # With a line that cannot be read, nothing of the block will be.
            if not (block and block[-1].problem):
                block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block
