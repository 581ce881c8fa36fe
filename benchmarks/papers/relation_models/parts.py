"""The kernels that combinations are made of: a view of a pair, and how two views compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import kernelwood as kw
from kernelwood import views
from kernelwood.views import view_maker

__all__ = ["PARTS", "Part", "structures"]


@dataclass(frozen=True)
class Part:
    """A view, by name or as a function of a candidate; and the kernel, given vectors."""

    view: str | Callable[[kw.text.Candidate], Any]
    kernel: Callable[[Any], kw.Kernel]


def structures(part: Part, candidates: Any) -> list[Any]:
    """Return the view of every candidate."""
    if isinstance(part.view, str):
        make = view_maker(part.view)
        return [make(candidate)[0] for candidate in candidates]
    return [part.view(candidate) for candidate in candidates]


def short(max_length: int | None = 3, decay: float = 0.8) -> Callable[[Any], kw.Kernel]:
    return lambda _: kw.SubsequenceKernel(max_length=max_length, decay=decay)


def soft(max_length: int | None, kind: str = "Exponential") -> Callable[[Any], kw.Kernel]:
    def make(vectors: Any) -> kw.Kernel:
        if kind == "Gaussian":
            similarity: Any = kw.similarity.Gaussian(vectors)
        else:
            similarity = kw.similarity.Exponential(vectors, floor=0.5)
        return kw.SubsequenceKernel(max_length=max_length, similarity=similarity)

    return make


def window(size: int) -> Callable[[kw.text.Candidate], kw.Sequence]:
    return lambda c: views.context(c.sentence, *c.entities, window=size, labels="stem").joined()


def tags(candidate: kw.text.Candidate) -> kw.Sequence:
    """Return the context as parts of speech."""
    return views.context(candidate.sentence, *candidate.entities, labels="tag").joined()


def walks(candidate: kw.text.Candidate) -> kw.Sequence:
    """Return the path as a bag of word-relation-word and relation-word-relation."""
    path = views.shortest_path(candidate.sentence, *candidate.entities, labels="stem").sequence
    line = [label for edge, node in path for label in (edge, node)][1:]
    return kw.Sequence([" ".join(line[at : at + 3]) for at in range(max(1, len(line) - 2))])


def numbers(candidate: kw.text.Candidate) -> kw.Sequence:
    """Return how many proteins there are, and how far apart the two are, in steps of two."""
    sentence = candidate.sentence
    between = views.context(sentence, *candidate.entities, window=0).between.nodes
    path = views.shortest_path(sentence, *candidate.entities)
    counts = {
        "proteins": len(sentence.entities),
        "others between": between.count("ENTITY"),
        "words between": len(between) - 2,
        "path": len(path.tokens),
    }
    return kw.Sequence([f"{name}: {(count + 1).bit_length()}" for name, count in counts.items()])


PARTS = {
    "steps all": Part("stem-steps", short(None)),
    "steps 3": Part("stem-steps", short()),
    "steps 3 text": Part("steps", short()),
    "steps 3 vectors": Part("steps", soft(3)),
    "steps all vectors": Part("steps", soft(None, "Gaussian")),
    "context all": Part("stem-context", short(None)),
    "context 1": Part("stem-context", short(1)),
    "context 2": Part("stem-context", short(2)),
    "context 3": Part("stem-context", short()),
    "context 4": Part("stem-context", short(4)),
    "context 3 text": Part("context", short()),
    "context 3 vectors": Part("context", soft(3)),
    "context all vectors": Part("context", soft(None)),
    "context 3 window 2": Part(window(2), short()),
    "context 3 window 8": Part(window(8), short()),
    "context 3 decay half": Part("stem-context", short(3, 0.5)),
    "names": Part("names", short(1)),
    "negation": Part("negation", short(1)),
    "tree": Part("path-tree", lambda _: kw.PartialTreeKernel()),
    "tags": Part(tags, short()),
    "walks": Part(walks, short(1)),
    "numbers": Part(numbers, short(2, 1.0)),
}
