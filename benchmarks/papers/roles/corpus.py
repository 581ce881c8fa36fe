"""Sentences with constituency trees and the arguments of their predicates.

Roles are kept as they are written. A reference keeps its ``R-``; a continuation keeps its ``C-``
and counts as an argument of its own, so a discontinuous argument has to be found piece by piece.
The verb itself (``V``, ``C-V``) is no argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

import kernelwood as kw
from kernelwood.io import VERB_ROLES, iter_read

__all__ = ["arguments", "document", "read_sentences"]


def read_sentences(origin: str | Path | IO[str]) -> Iterator[kw.Sentence]:
    """Yield the sentences of a file of semantic roles, plain or gzip."""
    with iter_read(origin, format="srl") as examples:
        for example in examples:
            sentence = example.view("sentence")
            assert isinstance(sentence, kw.Sentence)
            yield sentence


def document(sentence: kw.Sentence) -> str:
    """Return the name of the document a sentence is from."""
    return dict(sentence.metadata).get("doc") or ""


def arguments(predicate: kw.text.Predicate) -> frozenset[kw.text.RoleSpan]:
    """Return the arguments of a predicate."""
    return frozenset(span for span in predicate.arguments if span.role not in VERB_ROLES)
