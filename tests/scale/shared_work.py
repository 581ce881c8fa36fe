"""A small model and inputs for plans."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import kernelwood as kw
from kernelwood.datasets import load_interactions


@cache
def folder() -> Path:
    return Path(mkdtemp(prefix="kernelwood-test-"))


@cache
def extractor():
    return kw.RelationExtractor(random_state=0).fit(load_interactions("train")[:80])


@cache
def model() -> Path:
    path = folder() / "model.kw"
    kw.save(extractor(), path)
    return path


@cache
def corpus() -> Path:
    """Annotated sentences with parses."""
    path = folder() / "corpus.jsonl"
    kw.write(load_interactions("test"), path)
    return path


@cache
def few() -> Path:
    """Some of them."""
    path = folder() / "few.jsonl"
    kw.write(load_interactions("test")[:15], path)
    return path


TERMS = (("Raf", "Protein"), ("MEK1", "Protein"), ("ERK2", "Protein"), ("Sos1", "Gene"))


@cache
def terms() -> Path:
    path = folder() / "terms.tsv"
    path.write_text("".join(f"{name}\t{kind}\n" for name, kind in TERMS), encoding="utf-8")
    return path


@cache
def texts() -> Path:
    """Records with texts."""
    path = folder() / "texts.jsonl"
    verbs = ("binds", "activates", "does not bind", "inhibits", "phosphorylates")
    names = [name for name, _ in TERMS]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number in range(30):
            first, second = names[number % 4], names[(number + 1 + number // 4) % 4]
            text = f"In cell {number}, {first} {verbs[number % 5]} {second}. No name here."
            file.write(json.dumps({"pmid": number, "abstract": text}) + "\n")
    return path
