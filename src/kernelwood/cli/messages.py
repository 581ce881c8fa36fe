"""Messages of the library in the words of the command line, with the options that help."""

from __future__ import annotations

import re

from kernelwood.errors import ReadError, StructureError
from kernelwood.structures import Tree
from kernelwood.text import Document, Example, Sentence

__all__ = ["explained", "in_options"]

# What programs write -> what is typed instead.
_OPTIONS = (
    (re.compile(r"\bgive format= "), "give --to "),
    (re.compile(r"\bformat='(\w+)'"), r"--from \1"),
    (re.compile(r"\bformat=\.\.\."), "--from FORMAT"),
    (re.compile(r'\berrors="skip"'), "--errors skip"),
    (re.compile(r"\bonly='"), "--only '"),
    (re.compile(r"\bonly= "), "--only "),
    (re.compile(r"\bview='([^']*)'"), r"--view \1"),
    (re.compile(r"\bview=\.\.\."), "--view NAME"),
    (re.compile(r"\bgive limits=Limits\((?!line)\w+=\.\.\.\)"), "unpack it yourself first"),
)


def in_options(text: str) -> str:
    """Return a message that names options instead of parameters.

    Examples
    --------
    >>> in_options('format=... reads it; errors="skip" passes over it')
    '--from FORMAT reads it; --errors skip passes over it'
    """
    for parameter, option in _OPTIONS:
        text = parameter.sub(option, text)
    return text


def explained(
    failure: StructureError, example: Example | None, *, format: str, others_fit: bool
) -> StructureError:
    """Return an error for the command line.

    Parameters
    ----------
    failure : StructureError
        Of the file that is read, or of what is made of its examples.
    example : Example, optional
        The one in question, unless it is the file.
    format : str
        To be written.
    others_fit : bool
        Whether it would help to leave this example out.
    """
    hints = [] if failure.hint is None else [in_options(failure.hint)]
    path, line = failure.path, failure.line
    if not isinstance(failure, ReadError) and example is not None:
        hints += _ways_out(example, format)
        if others_fit:
            hints.append("--errors skip leaves out what does not fit, and counts it")
        if example.origin is not None:
            path, line = example.origin.path, example.origin.line
    return type(failure)(
        in_options(failure.problem),
        path=path,
        line=line,
        column=failure.column,
        snippet=failure.snippet,
        hint="\n    ".join(hints) or None,
    )


def _ways_out(example: Example, format: str) -> list[str]:
    """Return what can be done when an example does not fit a format."""
    ways = []
    if any(isinstance(view, Document) for view in example.views.values()) and format != "standoff":
        ways.append("--sentences cuts documents into sentences")
    names = _views_to_make(example, format)
    if names:
        ways.append(f"of its sentence can be made, with --view NAME: {', '.join(names)}")
    return ways


def _views_to_make(example: Example, format: str) -> list[str]:
    from kernelwood.views import VIEWS, make_view

    sentence = example.views.get("sentence")
    if format not in ("penn", "kelp") or not isinstance(sentence, Sentence):
        return []
    if not sentence.tokens:
        return []
    names = []
    for row in VIEWS.values():
        if row.subject != "sentence":
            continue
        try:
            made, _ = make_view(row.name, sentence)
        except StructureError:
            continue
        if format == "kelp" or isinstance(made, Tree):
            names.append(row.name)
    return names
