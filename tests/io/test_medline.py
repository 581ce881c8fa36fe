"""Tests of MEDLINE lines."""

from __future__ import annotations

import io

import pytest
from article_files import named, only

from kernelwood.errors import ReadError
from kernelwood.io import read


def test_medline_lines_are_title_and_abstract():
    text = (
        "PMID- 12\nDP  - 2001 Mar\nJT  - Letters\nTI  - On Raf\n      and Ras.\nPG  - 1-2\n"
        "LID - 10.1/a [doi]\nAB  - BACKGROUND: We ask. RESULTS: It\n      binds.\nPMC - PMC7\n"
    )
    made = only(text)
    assert named(made) == {
        "title": "On Raf and Ras.", "abstract/BACKGROUND": "BACKGROUND\n\nWe ask.",
        "abstract/RESULTS": "RESULTS\n\nIt binds.",
    }  # fmt: skip
    assert made.metadata[:5] == (
        ("pmid", "12"), ("doi", "10.1/a"), ("pmc", "PMC7"), ("year", "2001"),
        ("journal", "Letters"),
    )  # fmt: skip


def test_a_medline_block_without_a_pmid_is_an_error():
    with pytest.raises(ReadError, match=r":1:1: the citation has no PMID"):
        read(io.StringIO("TI  - a\n"), "medline")


def test_a_medline_file_is_recognized_by_its_suffix(tmp_path):
    (tmp_path / "a.nbib").write_text("\nPMID- 1\nTI  - a\n")
    assert [example.id for example in read(tmp_path / "a.nbib")] == ["1"]
