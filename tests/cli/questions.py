"""A few questions of two kinds, for commands to read."""

from __future__ import annotations

import kernelwood as kw

TEXTS = [
    *(f"who {verb} the {noun}" for verb in ("wrote", "sang") for noun in ("song", "book", "play")),
    *(f"where is the {noun} of {name}" for noun in ("port", "lake") for name in ("Bari", "Rome")),
]


def an_example(name, text, label=None):
    return kw.Example(name, label, {"words": kw.Sequence(text.split())})
