"""Files that are neither models nor corpora: word vectors, terms, labels, settings, checkpoints."""

from __future__ import annotations

import random
import struct
import zipfile
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path

import click
import numpy as np

import kernelwood as kw
from fuzz.archives import draw_zip, pack
from fuzz.edits import apply_array, apply_bytes, draw_array, draw_bytes, parse_array
from fuzz.folders import temporary_folder
from fuzz.kinds import REFUSED, Kind, Mutation, Use
from fuzz.readers import ReaderKind
from kernelwood.cli.commands.adapt import read_labels
from kernelwood.cli.commands.learn_gates import open_checkpoint
from kernelwood.cli.commands.train import train
from kernelwood.vectors import FORMATS
from kernelwood.web import read_types

_SETTINGS = {"settings": {"seed": 1, "method": "neighbors"}, "data_sha256": "ab"}


def _checkpoint() -> bytes:
    with temporary_folder() as folder:
        path = Path(folder) / "gates.jsonl"
        with open_checkpoint(path, _SETTINGS) as checkpoint:
            checkpoint.add({"label": "det", "gate": 0.0, "loss": 0.5})
            checkpoint.add({"label": "nsubj", "gate": 1.0})
        return path.read_bytes()


@cache
def _samples() -> dict[str, list[bytes]]:
    rows = struct.pack("<6f", 1, 0, 0.5, -1, 0, 2)
    return {
        "vectors-glove": [b"owl 1 0 0.5\nmouse -1 0 2e-3\n"],
        "vectors-word2vec": [b"2 3\nowl 1 0 0.5\nmouse -1 0 2\n"],
        "vectors-word2vec-binary": [b"2 3\nowl " + rows[:12] + b"\nmouse " + rows[12:] + b"\n"],
        "vectors-lemma-pos": [b"2 2\nowl::n\t1\t0\t1,0.5\nwait::v\t1\t0\t0,-2\n"],
        "terms": [b"term\ttype\tid\nowl\tanimal\tDB:1\nTawny owl\tanimal\n# no\nRaf-1\tprotein\n"],
        "labels-jsonl": [b'{"id": "a", "label": "none"}\n{"id": "b", "label": "hears"}\n'],
        "labels-tsv": [b'id\tlabel\trelation\ttext\na\tnone\thears\t"x"\nb\thears\thears\ty\n'],
        "settings": [b'recipe = "svm"\nseed = 3\nview = ["path", "words"]\noption = ["C=10"]\n'],
        "types": [b'[[type]]\nname = "hears"\nroles = ["a", "b"]\n[[type]]\nname = "eats"\n'],
        "checkpoint": [_checkpoint()],
    }


class FileKind(ReaderKind):
    """Damaged files of one kind, which a function reads and uses.

    Parameters
    ----------
    name : str
    use : callable
        Called with the path of a file.
    suffix : str
    """

    def __init__(self, name: str, use: Callable[[Path], object], suffix: str = ".txt") -> None:
        Kind.__init__(self, f"file/{name}")
        self.format, self._use, self._suffix = name, use, suffix

    def samples(self) -> list[bytes]:
        """Return the honest files."""
        return _samples()[self.format]

    def run(self, mutations: list[Mutation]) -> str:
        """Read the file, and use what it has."""
        with temporary_folder() as folder:
            path = Path(folder) / f"file{self._suffix}"
            path.write_bytes(self.forge(mutations))
            use = Use(click.ClickException, OSError)
            use(self._use, path)
        return REFUSED if use.n_errors else use.outcome


class VectorArchiveKind(FileKind):
    """Archives of vectors as `Vectors.save` writes them: arrays changed, archives faulty."""

    def __init__(self) -> None:
        super().__init__("vectors-npz", _use_vectors("npz"), ".npz")

    @cached_property
    def _members(self) -> dict[str, bytes]:
        with temporary_folder() as folder:
            path = Path(folder) / "vectors.npz"
            kw.Vectors(["owl", "mouse"], np.array([[1, 0.5], [0, 2]])).save(path)
            with zipfile.ZipFile(path) as archive:
                return {name: archive.read(name) for name in archive.namelist()}

    def samples(self) -> list[bytes]:
        """Return the honest file."""
        return [pack(self._members)]

    def draw(self, rng: random.Random) -> list[Mutation]:
        """Return one to three changes."""
        return [self._draw(rng) for _ in range(rng.choice((1, 1, 2, 3)))]

    def _draw(self, rng: random.Random) -> Mutation:
        name = rng.choice(list(self._members))
        match rng.randrange(4):
            case 0:
                return draw_zip(rng)
            case 1:
                return {**draw_bytes(self._members[name], rng), "member": name}
        array = parse_array(self._members[name])[0]
        return {"op": "array", "member": name, **draw_array(array, rng, [2, 3])}

    def forge(self, mutations: list[Mutation]) -> bytes:
        """Return the changed file."""
        members, faults = dict(self._members), []
        for change in mutations:
            match change["op"]:
                case "zip":
                    faults.append(change)
                case "array":
                    members[change["member"]] = apply_array(members[change["member"]], change)
                case _:
                    members[change["member"]] = apply_bytes(members[change["member"]], change)
        return pack(members, faults)


def _use_vectors(name: str) -> Callable[[Path], object]:
    def use(path: Path) -> object:
        vectors = kw.Vectors.load(path, format=name, cache=False)
        words = list(vectors.words)[:2]
        vectors.save(path.with_name("again.npz"))
        return vectors.matrix, vectors.rows(words), vectors.nearest(words[0], 1)

    return use


def _use_terms(path: Path) -> object:
    terms = kw.Dictionary.read(path)
    return terms.find("A Tawny owl and Raf-1."), len(terms)


def _use_checkpoint(path: Path) -> object:
    with open_checkpoint(path, _SETTINGS) as checkpoint:
        return len(checkpoint.earlier)


def _use_settings(path: Path) -> object:
    arguments = ["--config", str(path), "corpus", "-o", "model.kw"]
    return train.make_context("train", arguments).params["seed"]


def kinds() -> list[Kind]:
    """Return the kinds of other files."""
    texts = [row.name for row in FORMATS if row.name != "npz"]
    return [
        *(FileKind(f"vectors-{name}", _use_vectors(name)) for name in texts),
        VectorArchiveKind(),
        FileKind("terms", _use_terms),
        FileKind("labels-jsonl", lambda path: read_labels(str(path)), ".jsonl"),
        FileKind("labels-tsv", lambda path: read_labels(str(path)), ".tsv"),
        FileKind("settings", _use_settings, ".toml"),
        FileKind("types", read_types, ".toml"),
        FileKind("checkpoint", _use_checkpoint),
    ]
