"""Helpers of tests of records."""

from __future__ import annotations

import io

import pytest

from kernelwood.errors import ReadError
from kernelwood.io import read

__all__ = ["COLUMNS", "documents", "problem"]

COLUMNS = "pmid,title,abstract,year\n"


def documents(text, format="csv", **options):
    examples = read(io.StringIO(text), format, **options)
    return {example.id: example.view("document") for example in examples}


def problem(text, format="csv", **options):
    with pytest.raises(ReadError) as caught:
        documents(text, format, **options)
    return caught.value
