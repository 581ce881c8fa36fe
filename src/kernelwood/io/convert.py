"""Conversion of examples to the views that a format can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple, TypeVar

from kernelwood.errors import StructureError
from kernelwood.io.formats.annotation_json import left_out_of_tool
from kernelwood.io.formats.bioc import fit_to_bioc, left_out_of_bioc
from kernelwood.io.formats.conllu import find_cycle
from kernelwood.io.formats.label_studio import NOTES
from kernelwood.io.formats.pubtator import fit_to_pubtator, left_out_of_pubtator
from kernelwood.io.formats.standoff import adapt_to_standoff, left_out_of_standoff
from kernelwood.io.selection import list_views
from kernelwood.structures import Forest, Graph, Tree, shorten
from kernelwood.text import ROOT, Document, Example, Sentence, View

K = TypeVar("K", bound=View)

_ANNOTATION = (("entities", "relations", "events", "attributes", "metadata"), ())  # see _LOSSES
# Format -> the parts of a sentence, and of its tokens, that it holds beside words.
_HELD = {
    "penn": (("tree",), ("tag",)),
    "conllu": (
        ("dependencies", "enhanced", "empty", "multiwords", "metadata"),
        ("lemma", "pos", "tag", "features", "misc"),
    ),
    "srl": (("tree", "predicates", "metadata"), ("lemma", "tag")),
    "penman": (("amr", "alignments", "metadata"), ()),
    "kelp": (("tree",), ("tag",)),
}
# Format of annotated text -> the parts of a document or sentence that it does not hold.
_LOSSES: dict[str, Callable[[Document | Sentence], Iterable[str]]] = {
    "standoff": left_out_of_standoff,
    "pubtator": left_out_of_pubtator,
    "bioc": left_out_of_bioc,
    "bioc-json": left_out_of_bioc,
    "labelstudio": partial(left_out_of_tool, attributes=NOTES),
    "doccano": left_out_of_tool,
    "prodigy": left_out_of_tool,
}
_HELD |= dict.fromkeys(_LOSSES, _ANNOTATION)
_PARTS = (
    "dependencies", "enhanced", "empty", "multiwords", "tree", "amr", "alignments", "entities",
    "relations", "events", "attributes", "predicates", "metadata",
)  # fmt: skip
_TOKEN_PARTS = ("lemma", "pos", "tag", "features", "misc")
_WITH_LABELS = ("kelp", "semeval")
_WORDS = "a sentence, or a tree over words"


class _Fit(NamedTuple):
    """The views to write, and the views of the example that they are made of."""

    views: dict[str, View]
    used: tuple[View, ...]


def fit_to_format(example: Example, format: str) -> Example:
    """Return an example with only the views that a format can hold.

    A format of trees gets the constituency tree of a sentence, one of graphs its AMR graph, and one
    of sentences the sentence spanned by a tree. Dependencies that are not a tree become enhanced
    dependencies in CoNLL-U. Nothing is parsed.

    Parameters
    ----------
    example : Example
        An example as a reader returns it.
    format : str
        Name of the format to write. For a format that holds all views the example is returned
        unchanged.

    Raises
    ------
    StructureError
        If the example has no view, or several, that the format could hold.

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
    return Example(example.id, example.label, fit(example).views, example.origin)


def keep_views(example: Example, names: Iterable[str]) -> Example:
    """Return an example with these views only, in this order.

    Examples
    --------
    >>> keep_views(Example("a", views={"text": "we go", "tags": "PRP VBP"}), ["tags"])
    Example('a', None, views: tags)
    """
    views = {name: example.view(name) for name in names}
    return Example(example.id, example.label, views, example.origin)


def left_out(example: Example, format: str) -> list[str]:
    """Return the parts of an example that are lost when it is written in a format.

    Parameters
    ----------
    example : Example
        The argument of :func:`fit_to_format`.
    format : str
        A format that can hold the example.

    Examples
    --------
    >>> from kernelwood.text import Entity
    >>> entity = Entity("e1", "protein", ((0, 3),))
    >>> sentence = Sentence.from_words(["Raf", "binds"], lemmas=["Raf", "bind"], entities=[entity])
    >>> left_out(Example("a", "POS", {"sentence": sentence}), "conllu")
    ['labels', 'entities']
    >>> left_out(Example("a", "POS", {"sentence": sentence}), "jsonl")
    []
    """
    if format not in _FITS:
        return []
    lost = ["labels"] if example.label is not None and format not in _WITH_LABELS else []
    views, used = _FITS[format](example)
    # By identity, since comparing two sentences takes longer than writing one.
    lost += [
        f"the view {name}"
        for name, view in example.views.items()
        if not any(view is other for other in used)
    ]
    sentence = views.get("sentence") if isinstance(used[0], Tree) else used[0]
    if isinstance(sentence, Sentence) and format in _HELD:
        lost += _parts_left_out(sentence, format)
    if isinstance(sentence, (Document, Sentence)) and format in _LOSSES:
        if isinstance(sentence, Document) and sentence.parse:
            lost.append("the parse")
        lost += _LOSSES[format](sentence)
    return lost


def _parts_left_out(sentence: Sentence, format: str) -> list[str]:
    parts, token_parts = _HELD[format]
    lost = [name for name in _PARTS if name not in parts and getattr(sentence, name)]
    lost += [
        f"{name} of tokens"
        for name in _TOKEN_PARTS
        if name not in token_parts and any(getattr(token, name) for token in sentence.tokens)
    ]
    if format == "srl" and sentence.text != " ".join(sentence.words):
        lost.append("the text between words")
    if format == "conllu" and not sentence.enhanced and not _is_forest(sentence):
        lost.append("dependencies that are not a tree, which became enhanced ones")
    return lost


def _penn(example: Example) -> _Fit:
    tree = _pick(example, Tree, "tree")
    if tree is not None:
        return _Fit({"tree": tree}, (tree,))
    sentence = _pick(example, Sentence, "sentence")
    if sentence is None or sentence.tree is None:
        raise _lacking(example, "tree", "penn", "a tree, or a sentence with a tree")
    return _Fit({"tree": sentence.tree}, (sentence,))


def _penman(example: Example) -> _Fit:
    sentence = _pick(example, Sentence, "sentence")
    if sentence is not None and sentence.amr is not None:
        return _Fit({"sentence": sentence}, (sentence,))
    graph = _pick(example, Graph, "graph")
    if graph is None:
        raise _lacking(example, "graph", "penman", "a graph, or a sentence with an AMR")
    return _Fit({"sentence": graph}, (graph,))


def _conllu(example: Example) -> _Fit:
    sentence, used = _sentence(example, "sentence", "conllu", _WORDS)
    if not sentence.enhanced and not _is_forest(sentence):
        sentence = sentence.with_parts(dependencies=(), enhanced=sentence.dependencies)
    return _Fit({"sentence": sentence}, (used,))


def _is_forest(sentence: Sentence) -> bool:
    """Return whether every token has at most one head and the heads form no cycle."""
    heads = [ROOT] * len(sentence.tokens)
    headed: set[int] = set()
    for head, _, dependent in sentence.dependencies:
        if dependent in headed:
            return False
        headed.add(dependent)
        heads[dependent] = head
    return not find_cycle(heads)


def _srl(example: Example) -> _Fit:
    sentence, used = _sentence(example, "sentence", "srl", _WORDS)
    return _Fit({"sentence": sentence}, (used,))


def _semeval(example: Example) -> _Fit:
    sentence = _pick(example, Sentence, "sentence")
    if sentence is None:
        raise _lacking(example, "sentence", "semeval", "a sentence with two nominals")
    return _Fit({"sentence": sentence}, (sentence,))


def _annotated(format: str, fit: Callable[[Any], Document | Sentence]) -> Callable[[Example], _Fit]:
    """Return the function for a format of annotated text; ``fit`` removes what it cannot hold."""

    def made(example: Example) -> _Fit:
        document = _pick(example, Document, "document")
        if document is not None:
            return _Fit({"document": fit(document)}, (document,))
        sentence, used = _sentence(example, "document", format, f"a document, {_WORDS}")
        return _Fit({"sentence": fit(sentence)}, (used,))

    return made


def _unchanged(source: Document | Sentence) -> Document | Sentence:
    return source


def _fit_to_standoff(source: Document | Sentence) -> Document | Sentence:
    # Sentences are adapted when they are written.
    return adapt_to_standoff(source) if isinstance(source, Document) else source


def _sentence(example: Example, what: str, format: str, holds: str) -> tuple[Sentence, View]:
    """Return the sentence, or that of a tree over words, and the view it comes from."""
    sentence = _pick(example, Sentence, "sentence")
    if sentence is not None:
        return sentence, sentence
    tree = _pick(example, Tree, "tree")
    if tree is None:
        raise _lacking(example, what, format, holds)
    mixed = _mixed_node(tree)
    if mixed is not None:
        raise StructureError(
            f"example {shorten(repr(example.id))} has a tree that is not one over words: "
            f"{shorten(repr(mixed))} stands beside other nodes",
            hint="each word of a sentence is the only child of its tag, as in (S (PRP we) (VB go))",
        )
    return Sentence.from_tree(tree), tree


def _mixed_node(tree: Tree) -> str | None:
    """Return the label of a leaf that has siblings, and so is not a word; None if all are."""
    pending = [tree]
    while pending:
        children = pending.pop().children
        leaves = [child.label for child in children if child.is_leaf]
        if leaves and len(children) > 1:
            return leaves[0]
        pending += children
    return None


def _kelp(example: Example) -> _Fit:
    views: dict[str, View] = {
        name: view
        for name, view in example.views.items()
        if not isinstance(view, (Sentence, Document, Forest))
    }
    if views:
        return _Fit(views, tuple(views.values()))
    sentence = _pick(example, Sentence, "sentence")
    if sentence is None or sentence.tree is None:
        raise _lacking(
            example, "view for KeLP", "kelp",
            "trees, sequences, graphs, text and vectors; make one of a sentence, or choose it",
        )  # fmt: skip
    return _Fit({"tree": sentence.tree}, (sentence,))


_FITS: dict[str, Callable[[Example], _Fit]] = {
    "penn": _penn,
    "penman": _penman,
    "conllu": _conllu,
    "srl": _srl,
    "semeval": _semeval,
    "standoff": _annotated("standoff", _fit_to_standoff),
    "pubtator": _annotated("pubtator", fit_to_pubtator),
    "bioc": _annotated("bioc", fit_to_bioc),
    "bioc-json": _annotated("bioc-json", fit_to_bioc),
    "labelstudio": _annotated("labelstudio", _unchanged),
    "doccano": _annotated("doccano", _unchanged),
    "prodigy": _annotated("prodigy", _unchanged),
    "kelp": _kelp,
}


def _pick(example: Example, kind: type[K], name: str) -> K | None:
    """Return the view of a kind: the one called ``name``, else the only one."""
    found = {key: view for key, view in example.views.items() if isinstance(view, kind)}
    if len(found) > 1 and name not in found:
        raise StructureError(
            f"example {shorten(repr(example.id))} has several views of the kind "
            f"{kind.__name__}: {', '.join(found)}",
            hint=f"choose one of them by name, with view={next(iter(found))!r} for example",
        )
    return found[name] if name in found else next(iter(found.values()), None)


def _lacking(example: Example, what: str, format: str, holds: str) -> StructureError:
    return StructureError(
        f"example {shorten(repr(example.id))} has no {what}: it has {list_views(example)}",
        hint=f"the {format} format holds {holds}",
    )
