"""Which document an example comes from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from kernelwood.errors import KernelInputError
from kernelwood.evaluate.labels import show
from kernelwood.text import Candidate, Document, Example, Sentence

__all__ = ["documents"]

Starts: TypeAlias = Mapping[str, list[tuple[int, str]]]

# The id of a sentence, or of a candidate in it, where the document is named first.
_IN_SENTENCE = re.compile(r"(?P<document>.+?)\.s[0-9]+(?:\.|$)", re.DOTALL)
_AMR_ID = re.compile(r"(?P<document>.+)\.[0-9]+", re.DOTALL)
_NAMED_BY = ("document", "doc")  # keys of metadata
_BEGUN_BY = ("newdoc id", "newdoc")


def documents(items: Iterable[Example | Candidate]) -> list[str]:
    """Return the document of each example or candidate, to be used as ``groups``.

    The first of these that there is:

    1. what the file says of the sentence: ``document`` (interaction corpora, CoNLL-2012), ``doc``
       (CoNLL), the last ``newdoc`` before it (CoNLL-U);
    2. the id up to the number of the sentence: ``"AIMed.d7"`` of ``"AIMed.d7.s2.p0"``, as in
       interaction corpora and candidates of documents;
    3. the id of a meaning representation up to its number: ``"bolt_4"`` of ``"bolt_4.12"``;
    4. the id of an example that is a document itself;
    5. the file.

    Where this is not fine enough, the groups are too large, but never does a document end up in
    two of them.

    Parameters
    ----------
    items : iterable of Example or Candidate
        What was read, the candidates, or the examples made from candidates.

    Returns
    -------
    list of str
        A name for each.

    Raises
    ------
    KernelInputError
        If there is nothing to tell the document by.

    Examples
    --------
    >>> documents([Example("AIMed.d7.s2.p0"), Example("AIMed.d7.s3.p0"), Example("AIMed.d8.s0")])
    ['AIMed.d7', 'AIMed.d7', 'AIMed.d8']
    """
    listed = list(items)
    for index, item in enumerate(listed):
        if not isinstance(item, (Example, Candidate)):
            raise KernelInputError(
                f"item {index} is {show(item)} of type {type(item).__name__}, which does not know "
                "its document; give examples or candidates"
            )
    starts = _document_starts(listed)
    return [_document_of(item, starts) for item in listed]


def _document_of(item: Example | Candidate, starts: Starts) -> str:
    sentence = _sentence(item)
    named = _facts(sentence)
    for key in _NAMED_BY:
        if named.get(key):
            return str(named[key])
    origin = item.origin
    if sentence is not None and origin is not None and origin.path in starts:
        return _last_start(starts[origin.path], origin.line or 0, origin.path)
    match = _IN_SENTENCE.match(item.id)
    if match is None and sentence is not None and sentence.amr is not None:
        match = _AMR_ID.fullmatch(named.get("id") or "")
    if match is not None:
        return match["document"]
    if isinstance(item, Example) and any(isinstance(v, Document) for v in item.views.values()):
        return item.id
    if origin is not None:
        return origin.path
    raise KernelInputError(
        f"nothing tells the document of {show(item.id)}: it has no origin, its sentence names "
        "none, and its id is not like 'document.s3'; write a list of groups yourself"
    )


def _sentence(item: Example | Candidate) -> Sentence | None:
    if isinstance(item, Candidate):
        return item.sentence
    return next((view for view in item.views.values() if isinstance(view, Sentence)), None)


def _facts(sentence: Sentence | None) -> dict[str, str | None]:
    return {} if sentence is None else dict(reversed(sentence.metadata))  # the first of each counts


def _document_starts(items: Iterable[Example | Candidate]) -> Starts:
    """Return the lines where documents begin, with their names, by file.

    Only the first sentence of a document says so; the others follow it in the file. If the first
    one is not among the items, its document counts as part of the one before.
    """
    starts: dict[str, set[tuple[int, str]]] = defaultdict(set)
    for item in items:
        origin = item.origin
        if origin is None or origin.line is None:
            continue
        facts = _facts(_sentence(item))
        for key in _BEGUN_BY:
            if key in facts:
                name = facts[key] or f"{origin.path}:{origin.line}"
                starts[origin.path].add((origin.line, name))
                break
    return {path: sorted(lines) for path, lines in starts.items()}


def _last_start(starts: list[tuple[int, str]], line: int, path: str) -> str:
    place = bisect_right(starts, line, key=lambda start: start[0])
    return starts[place - 1][1] if place else path
