"""The GENIA treebank as its archive holds it, and how the bundled grammar is learned from it."""

from __future__ import annotations

import io
import tarfile
from typing import Any

import kernelwood as kw
from kernelwood.datasets import require_data

ARCHIVE = "genia-treebank/genia_mclosky_split_ptb_ud1.tar.gz"
LEARNED = ("dev", "future_use")
HELD_OUT = "test"
# The best of a few, learned from future_use and 900 sentences of dev, measured on 300 others.
PARAMETERS: dict[str, Any] = {"horizontal": 3, "smoothing": 0.0}


def read_genia(data: str | None, *parts: str) -> list[kw.Tree]:
    """Return the trees of some of the parts dev, future_use and test."""
    trees = []
    for part in parts:
        text = _member(data, f"mclosky/{part}.trees")
        trees += [example.view("tree") for example in kw.read(text, format="penn")]
    return trees


def read_genia_heads(data: str | None, part: str) -> list[list[int]]:
    """Return the heads of the words of each sentence, converted to Universal Dependencies."""
    found = []
    for example in kw.read(_member(data, f"{part}.conllu"), format="conllu"):
        heads = {edge.dependent: edge.head for edge in example.view("sentence").dependencies}
        found.append([heads[word] for word in range(len(heads))])
    return found


def _member(data: str | None, name: str) -> io.StringIO:
    with tarfile.open(require_data(ARCHIVE, data=data)) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.removeprefix("./") == name else None
            if file is not None:
                return io.StringIO(file.read().decode())
    raise SystemExit(f"{ARCHIVE} has no {name}")
