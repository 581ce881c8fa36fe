"""The skeleton of a KeLP line: where its labels, pairs and representations are.

Bodies are not looked into, so text that contains ``|<|`` or brackets does no harm, and views that
nobody wants cost next to nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kernelwood.io.kelp_bodies import BODY_PARSERS, BodyError
from kernelwood.structures import shorten

__all__ = ["Part", "Skeleton", "scan_line"]

_HEADER = re.compile(r"\|B([^|: ]*)(?::([^|]*))?\|")
_MARK = re.compile(r"\|B|\|[<,>]\|")
_NOT_BLANK = re.compile(r"[^ \t]")
_MAX_NESTING = 32  # pairs of pairs of ...; each level makes the names of views longer


class Part(NamedTuple):
    """A representation in a line: its type, where its header is, and the bounds of its body."""

    kind: str
    header: int
    start: int
    end: int


class Skeleton(NamedTuple):
    """Labels by side (``""``, ``"left."``, ...) as they are written, and parts by view name."""

    labels: dict[str, str]
    parts: dict[str, Part]


def scan_line(text: str) -> Skeleton:
    """Find the labels and representations of a line.

    Raises
    ------
    BodyError
        When the line does not follow the format.

    Examples
    --------
    >>> skeleton = scan_line("NUM |BS:a| how many |ES| |BT| (X) |ET|")
    >>> skeleton.labels[""].strip(), list(skeleton.parts)
    ('NUM', ['a', '1'])
    """
    return _Scanner(text).run()


class _Scanner:
    """One pass from left to right; pairs inside pairs are followed on a stack."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.sides: list[str] = []
        self.counts: list[int] = []  # representations so far in each open example
        self.may_pair = True  # until the open example has a representation
        self.labels: dict[str, str] = {}
        self.parts: dict[str, Part] = {}

    def run(self) -> Skeleton:
        self.begin_example()
        while found := _NOT_BLANK.search(self.text, self.position):
            mark = _MARK.match(self.text, found.start())
            if mark is None:
                raise BodyError(
                    "expected a representation",
                    found.start(),
                    "it looks like |BT:name| (A(B)) |ET|",
                )
            if mark[0] == "|B":
                self.take_part(mark.start())
            else:
                self.take_pair_mark(mark[0], mark.start())
        if self.sides:
            raise BodyError("the pair is not complete", len(self.text), "end it with |>|")
        return Skeleton(self.labels, self.parts)

    def begin_example(self) -> None:
        mark = _MARK.search(self.text, self.position)
        if mark is None or mark[0] in {"|,|", "|>|"}:
            raise BodyError(
                "the example has no representation",
                self.position if mark is None else mark.start(),
                "it looks like label |BT:name| (A(B)) |ET|",
            )
        self.labels["".join(self.sides)] = self.text[self.position : mark.start()]
        self.position = mark.start()
        self.counts.append(0)
        self.may_pair = True

    def take_part(self, index: int) -> None:
        header = _HEADER.match(self.text, index)
        if header is None:
            raise BodyError("the header is malformed", index, "it looks like |BT:name|")
        kind, given = header.groups()
        if kind not in BODY_PARSERS:
            known = ", ".join(BODY_PARSERS)
            raise BodyError(
                f"unknown representation type {shorten(repr(kind))}", index, f"known types: {known}"
            )
        if given == "":
            raise BodyError("the name is empty", index, f"write |B{kind}:name| or |B{kind}|")
        name = "".join(self.sides) + (str(self.counts[-1]) if given is None else given)
        if name in self.parts:
            raise BodyError(
                f"representation {shorten(repr(name))} appears twice", index, "rename one of them"
            )
        end = self.text.find(f"|E{kind}|", header.end())
        if end < 0:
            raise BodyError(
                f"representation {shorten(repr(name))} is never closed",
                index,
                f"end it with |E{kind}|",
            )
        self.parts[name] = Part(kind, index, header.end(), end)
        self.position = end + len(kind) + 3
        self.counts[-1] += 1
        self.may_pair = False

    def take_pair_mark(self, mark: str, index: int) -> None:
        due = {"": "|<|", "left.": "|,|", "right.": "|>|"}[self.sides[-1] if self.sides else ""]
        self.position = index + len(mark)
        if mark == "|<|" and self.may_pair:
            if len(self.sides) >= _MAX_NESTING:
                raise BodyError(f"pairs are nested more than {_MAX_NESTING} deep", index)
            self.sides.append("left.")
            self.begin_example()
        elif mark == "|<|" or mark != due:
            raise BodyError(
                f"unexpected {mark}", index, "a pair is |<| example |,| example |>|, nothing before"
            )
        else:
            self.counts.pop()
            side = self.sides.pop()
            if side == "left.":
                self.sides.append("right.")
                self.begin_example()
