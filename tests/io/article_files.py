"""Helpers of tests of articles."""

from __future__ import annotations

import io

from kernelwood.io import read, sections_of

__all__ = ["DOCTYPE", "named", "only"]

DOCTYPE = (
    '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE {0} PUBLIC "-//NLM//DTD {0}//EN" '
    '"https://dtd.example.org/{0}.dtd">\n'
)


def only(text, format=None):
    [example] = read(io.StringIO(text), format)
    return example.view("document")


def named(document):
    return {s.name: document.text[s.start : s.end] for s in sections_of(document)}
