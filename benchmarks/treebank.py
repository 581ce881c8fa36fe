"""The Penn Treebank sample, by the numbers of its files."""

from __future__ import annotations

import io
import re
import zipfile

import kernelwood as kw
from kernelwood.datasets import require_data

SAMPLE = "ptb-sample/treebank.zip"


def read_trees(data: str | None, first: int, last: int) -> list[kw.Tree]:
    """Return the trees of the files numbered ``first`` to ``last``."""
    trees = []
    with zipfile.ZipFile(require_data(SAMPLE, data=data)) as archive:
        for name in sorted(archive.namelist()):
            match = re.search(r"combined/wsj_(\d+)\.mrg$", name)
            if match and first <= int(match[1]) <= last:
                text = io.StringIO(archive.read(name).decode())
                trees += [example.view("tree") for example in kw.read(text, format="penn")]
    return trees
