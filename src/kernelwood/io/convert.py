"""From what an example has to what a format holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from kernelwood.errors import StructureError
from kernelwood.structures import (
    Document,
    Example,
    Forest,
    Graph,
    Sentence,
    Tree,
    View,
)
from kernelwood.structures.labels import shorten

__all__ = ["fit_to_format", "keep_views"]

K = TypeVar("K", bound=View)


def fit_to_format(example: Example, format: str) -> Example:
    """Return an example with just the views that a format can hold.

    A format of trees takes the constituents of a sentence, one of graphs its AMR; a format of
    sentences takes a tree for the sentence it spans. Nothing is computed that is not there.

    Parameters
    ----------
    example : Example
        As it was read.
    format : str
        The name of the format to write. Formats that are not known here get the example as it is.

    Raises
    ------
    StructureError
        When the example has nothing, or several things, that the format could hold.

    Examples
    --------
    >>> tree = Tree.from_brackets("(S (NP (PRP we)) (VP (VBP go)))")
    >>> example = Example("a", views={"sentence": Sentence.from_tree(tree)})
    >>> fit_to_format(example, "penn").view("tree") == tree
    True
    >>> fit_to_format(example, "penman")
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: example 'a' has no graph: it has sentence (Sentence)
        the penman format holds a graph, or a sentence with an AMR
    """
    fit = _FITS.get(format)
    if fit is None:
        return example
    views = fit(example)
    return Example(example.id, example.label, views, example.origin)


def keep_views(example: Example, names: Iterable[str]) -> Example:
    """Return an example with these views only, in this order.

    Examples
    --------
    >>> keep_views(Example("a", views={"text": "we go", "tags": "PRP VBP"}), ["tags"])
    Example('a', None, views: tags)
    """
    views = {name: example.view(name) for name in names}
    return Example(example.id, example.label, views, example.origin)


def _penn(example: Example) -> dict[str, View]:
    tree = _pick(example, Tree, "tree")
    if tree is None:
        sentence = _pick(example, Sentence, "sentence")
        tree = None if sentence is None else sentence.tree
    if tree is None:
        raise _lacking(example, "tree", "penn", "a tree, or a sentence with a tree")
    return {"tree": tree}


def _penman(example: Example) -> dict[str, View]:
    sentence = _pick(example, Sentence, "sentence")
    if sentence is not None and sentence.amr is not None:
        return {"sentence": sentence}
    graph = _pick(example, Graph, "graph")
    if graph is None:
        raise _lacking(example, "graph", "penman", "a graph, or a sentence with an AMR")
    return {"sentence": graph}


def _sentence(format: str, *, from_tree: bool) -> Callable[[Example], dict[str, View]]:
    def fit(example: Example) -> dict[str, View]:
        sentence = _pick(example, Sentence, "sentence")
        if sentence is None and from_tree:
            tree = _pick(example, Tree, "tree")
            sentence = None if tree is None else Sentence.from_tree(tree)
        if sentence is None:
            also = ", or a tree over words" if from_tree else ""
            raise _lacking(example, "sentence", format, f"a sentence{also}")
        return {"sentence": sentence}

    return fit


def _standoff(example: Example) -> dict[str, View]:
    document = _pick(example, Document, "document")
    if document is not None:
        return {"document": document}
    sentence = _pick(example, Sentence, "sentence")
    if sentence is None:
        raise _lacking(example, "document", "standoff", "a document or a sentence")
    return {"sentence": sentence}


def _kelp(example: Example) -> dict[str, View]:
    views: dict[str, View] = {
        name: view
        for name, view in example.views.items()
        if not isinstance(view, (Sentence, Document, Forest))
    }
    if not views:
        sentence = _pick(example, Sentence, "sentence")
        if sentence is None or sentence.tree is None:
            raise _lacking(
                example, "view for KeLP", "kelp",
                "trees, sequences, graphs, text and vectors; choose views of a sentence by name",
            )  # fmt: skip
        views = {"tree": sentence.tree}
    return views


_FITS: dict[str, Callable[[Example], dict[str, View]]] = {
    "penn": _penn,
    "penman": _penman,
    "conllu": _sentence("conllu", from_tree=True),
    "srl": _sentence("srl", from_tree=True),
    "semeval": _sentence("semeval", from_tree=False),
    "standoff": _standoff,
    "kelp": _kelp,
}


def _pick(example: Example, kind: type[K], name: str) -> K | None:
    """Return the view of a kind: that called ``name``, else the only one."""
    found = {key: view for key, view in example.views.items() if isinstance(view, kind)}
    if len(found) > 1 and name not in found:
        raise StructureError(
            f"example {shorten(repr(example.id))} has several views of the kind "
            f"{kind.__name__}: {', '.join(found)}",
            hint="choose one of them by name",
        )
    return found[name] if name in found else next(iter(found.values()), None)


def _lacking(example: Example, what: str, format: str, holds: str) -> StructureError:
    has = ", ".join(f"{name} ({_kind(view)})" for name, view in example.views.items())
    return StructureError(
        f"example {shorten(repr(example.id))} has no {what}: it has {has or 'no views'}",
        hint=f"the {format} format holds {holds}",
    )


def _kind(view: View) -> str:
    if isinstance(view, str):
        return "text"
    return "vector" if isinstance(view, (tuple, Mapping)) else type(view).__name__
