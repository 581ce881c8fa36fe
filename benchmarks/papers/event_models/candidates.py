"""Candidates for events of the shared tasks BioNLP 2009 and 2013 (GE), with their structures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.parsing import analyze, load_backend
from kernelwood.relations import event_candidates
from kernelwood.relations.triggers import learn_forms

__all__ = ["FILES", "PARTS", "PATH", "TEST", "TREE", "Part", "Unique", "prepare", "unique"]

FILES = {
    "2009": "bionlp-st/bionlp-st-2009.tar.gz",
    "2013": "bionlp-st/bionlp-st-2013-ge.tar.gz",
}
PARTS = ("2009 train", "2009 devel", "2013 train", "2013 devel")
TEST = "2013 devel"
PARSER = "biomedical-dependencies"
PATH, TREE = "trigger-path", "trigger-tree"


@dataclass(frozen=True)
class Part:
    """The candidates of a part of the corpora.

    Attributes
    ----------
    name : str
        One of `PARTS`.
    X : ExampleBatch
        With the views `PATH` and `TREE`.
    y : ndarray of int64, shape (n,)
        Whether the event is annotated.
    dropped : dict from str to int
        What has no candidate, by reason.
    texts : list of list of str
        The sentences of each document.
    triggered : list of str
        The sentences with candidates.
    """

    name: str
    X: Any
    y: NDArray[np.int64]
    dropped: Mapping[str, int] = field(default_factory=dict)
    texts: list[list[str]] = field(default_factory=list)
    triggered: list[str] = field(default_factory=list)


def read_documents(name: str, data: str | None, limit: int | None) -> list[kw.Example]:
    """Return the documents of a part, the first ``limit`` of them."""
    year, part = name.split()
    return list(kw.read(require_data(FILES[year], data=data), only=f"*/{part}/*"))[:limit]


def prepare(
    data: str | None = None, *, folder: Path | None = None, limit: int | None = None
) -> list[Part]:
    """Return all parts; with a folder, structures are kept there and not made again.

    Event forms, how many participants and catalysts an event of a type may have, are learned from
    all parts but the test part.
    """
    if folder is not None and all(_is_kept(folder, name) for name in PARTS):
        return [_kept(folder, name) for name in PARTS]
    parsed = {name: _parse(read_documents(name, data, limit)) for name in PARTS}
    training = [s for name in PARTS if name != TEST for document in parsed[name] for s in document]
    forms = learn_forms([one.view("sentence") for one in training])
    parts = [make_part(name, documents, forms) for name, documents in parsed.items()]
    if folder is not None:
        for part in parts:
            _keep(folder, part)
    return parts


def _parse(documents: list[kw.Example]) -> list[list[kw.Example]]:
    """Return the parsed sentences of each document."""
    backend = load_backend(PARSER)
    analyzed = analyze(backend, [one.view("document") for one in documents])
    return [
        [kw.Example(f"{one.id}.{at}", views={"sentence": s}) for at, s in enumerate(sentences)]
        for one, sentences in zip(documents, analyzed, strict=True)
    ]


def make_part(
    name: str, documents: Iterable[list[kw.Example]], forms: Mapping[str, Any] | None
) -> Part:
    """Return the candidates of parsed sentences: annotated triggers with annotated proteins."""
    listed = list(documents)
    candidates = event_candidates(
        [one for sentences in listed for one in sentences], types=["Protein"], forms=forms
    )
    examples = candidates.examples(PATH, TREE)
    X = kw.batch(examples)
    return Part(
        name,
        X,
        np.array(X.labels, dtype=np.int64),
        Counter(candidates.tally.reasons) + Counter(examples.tally.reasons),
        [[one.view("sentence").text for one in sentences] for sentences in listed],
        [candidates.sentences.sentences.text(row) for row in dict.fromkeys(candidates.sentence_of)],
    )


def _files(folder: Path, name: str) -> tuple[Path, Path]:
    stem = f"{name.replace(' ', '-')}-{kw.__version__}"
    return folder / f"{stem}.jsonl.gz", folder / f"{stem}.json"


def _is_kept(folder: Path, name: str) -> bool:
    return all(path.exists() for path in _files(folder, name))


def _keep(folder: Path, part: Part) -> None:
    examples, others = _files(folder, part.name)
    folder.mkdir(parents=True, exist_ok=True)
    kw.io.write(part.X, examples)
    found = {"dropped": part.dropped, "texts": part.texts, "triggered": part.triggered}
    others.write_text(json.dumps(found), encoding="utf-8")


def _kept(folder: Path, name: str) -> Part:
    examples, others = _files(folder, name)
    X = kw.batch(kw.read(examples))
    found = json.loads(others.read_text(encoding="utf-8"))
    return Part(name, X, np.array(X.labels, dtype=np.int64), **found)


@dataclass(frozen=True)
class Unique:
    """Candidates with different paths.

    Attributes
    ----------
    rows : ndarray of int64
        The first candidate with each path.
    y : ndarray of int64
        The class of most candidates with the path; the positive one if both are equally frequent.
    conflicts : int
        Paths with candidates of both classes.
    """

    rows: NDArray[np.int64]
    y: NDArray[np.int64]
    conflicts: int


def unique(paths: Iterable[kw.Sequence], y: NDArray[np.int64]) -> Unique:
    """Return the different paths, in the order of the candidates."""
    rows: dict[Any, int] = {}
    counts: dict[Any, list[int]] = {}
    for row, (path, label) in enumerate(zip(paths, y.tolist(), strict=True)):
        key = tuple(zip(path.edges, path.nodes, strict=True))
        rows.setdefault(key, row)
        counts.setdefault(key, [0, 0])[label] += 1
    return Unique(
        np.array(list(rows.values()), dtype=np.int64),
        np.array([int(right >= wrong) for wrong, right in counts.values()], dtype=np.int64),
        sum(min(pair) > 0 for pair in counts.values()),
    )
