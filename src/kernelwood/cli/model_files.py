"""Kernels, extractors and parsers that options ask for, new or loaded from files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kernelwood.cli.console import counted, nearest, note, show_counts
from kernelwood.cli.corpora import ExampleList, read_examples
from kernelwood.cli.options import GATED, refuse
from kernelwood.errors import KernelInputError
from kernelwood.structures import shorten
from kernelwood.text import annotated_view

if TYPE_CHECKING:
    from kernelwood import Kernel
    from kernelwood.arrays import Batch
    from kernelwood.relations import RelationExtractor
    from kernelwood.text import Example

T = TypeVar("T")

_DEFAULTS = {
    "sequence": "subsequence",
    "tree": "partial-tree",
    "forest": "forest",
    "graph": "weisfeiler-lehman",
    "vector": "vector",
}


def load_model(path: str, kind: type[T], noun: str, command: str) -> T:
    """Return the model in a file.

    Parameters
    ----------
    path : str
    kind : type
        Expected class.
    noun : str
        What the class is called in messages, with its article.
    command : str
        The command that writes such files.

    Raises
    ------
    KernelInputError
        If the file contains something else.
    """
    from kernelwood import load

    found = load(path)
    if not isinstance(found, kind):
        raise KernelInputError(
            f"{path} contains a {type(found).__name__}, not {noun}; kernelwood {command} writes one"
        )
    return found


def load_kernel(path: str) -> Kernel:
    """Return the kernel in a file."""
    from kernelwood import Kernel

    return load_model(path, Kernel, "a kernel", "learn-gates --out")


def load_extractor(path: str, threshold: float | None = None) -> RelationExtractor:
    """Return the extractor in a file, with another threshold if one is given."""
    from kernelwood.relations import RelationExtractor

    found = load_model(path, RelationExtractor, "a relation extractor", "train")
    if threshold is not None:
        found.threshold_ = float(threshold)
    return found


def load_parser(name: str, *, entities: bool = False) -> Any:
    """Return the parser with a name, which recognizes entities if ``entities`` is set.

    Raises
    ------
    click.UsageError
        If the parser does not recognize entities.
    """
    from kernelwood.parsing import load_backend

    backend = load_backend(name, entities=entities)
    if entities and not getattr(backend, "entities", False):
        raise click.UsageError(
            f"the parser {name!r} does not recognize entities; --ner needs spacy or stanza"
        )
    return backend


def make_extractor(options: dict[str, Any]) -> RelationExtractor:
    """Return a new extractor with the parameters that options give."""
    from kernelwood import Vectors
    from kernelwood.relations import RelationExtractor

    vectors, kernel = options["vectors"], options["kernel"]
    return RelationExtractor(
        options["recipe"],
        candidates=options["candidates"],
        views=options["views"] or None,
        kernel=None if kernel is None else load_kernel(kernel),
        vectors=None if vectors is None else Vectors.load(vectors),
        blind={"yes": True, "no": False}.get(options["blind"], "auto"),
        options=_settings(options["recipe"], options["settings"]),
        labels=options["labels"],
        signatures=options["signatures"] != "no" and "auto",
        symmetric=options["symmetric"] or None,
        types=options["types"] or None,
        relations=options["relations"] or None,
        max_distance=options["max_distance"],
        max_entities=options["max_entities"],
        threshold=options["threshold"],
        entities="learn" if options.get("learn_entities") else None,
        n_splits=options["splits"],
        parser=options["parser"],
        license=options["license"] or "",
        description=options["description"] or "",
        random_state=options["seed"],
    )


def check_types(options: dict[str, Any], documents: Iterable[Example]) -> None:
    """Check that the types that options name occur in the corpus.

    Raises
    ------
    KernelInputError
        If an entity type or relation type does not occur.
    """
    named = {"--type": "types", "--relation": "relations", "--symmetric": "symmetric"}
    if not any(options[name] for name in named.values()):
        return
    entities: set[str] = set()
    relations: set[str] = set()
    for annotated in map(annotated_view, documents):
        entities.update(one.type for one in annotated.entities)
        relations.update(one.type for one in annotated.relations)
        relations.update(one.type for one in annotated.events)
    for flag, name in named.items():
        noun, known = ("entities", entities) if name == "types" else ("relations", relations)
        for kind in options[name]:
            if kind not in known:
                raise KernelInputError(
                    f"{flag}: the corpus has no {noun} of type {shorten(repr(kind))}"
                    f"{nearest(kind, known)} (types: {shorten(', '.join(sorted(known)), 200)})"
                )


def _settings(recipe: str, given: Iterable[str]) -> dict[str, Any] | None:
    """Return the parameters of the classifier that differ from those of the recipe."""
    from kernelwood.relations import check_options, find_recipe

    settings = {}
    for text in given:
        name, _, value = text.partition("=")
        settings[name] = plain_value(value)
    try:
        check_options(find_recipe(recipe), settings)
    except KernelInputError as failure:
        raise click.UsageError(f"--option: {failure}") from failure
    return settings or None


def plain_value(text: str) -> Any:
    """Return the number, bool or None that a text spells, or the text itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    words = {"true": True, "false": False, "none": None}
    return words.get(text.lower(), text)


# Kernels and the examples that they compare.


@dataclass(frozen=True)
class Compared:
    """Examples, the kernel that compares them, and the structures that it reads."""

    read: ExampleList
    kernel: Kernel
    structures: Any

    def show(self) -> None:
        """Print the number of examples and the kernel to standard error."""
        note(f"{counted(len(self.read.examples), 'example')}; {self.kernel!r}")
        show_counts(self.read.counts)


def read_compared(corpus: str, options: dict[str, Any]) -> Compared:
    """Read a corpus and make the kernel that options ask for, or a suitable one."""
    name = options["kernel"]
    if name is not None and name.endswith(".kw"):
        refuse(options, ("decay", "vectors", "similarity"), f"the kernel is in {name}")
        return read_for(load_kernel(name), corpus, options, owner=name)
    read = read_examples(corpus, options)
    batch = read.batch()
    return Compared(read, build_kernel(options, {v: batch.view(v) for v in read.views}), batch)


def read_for(kernel: Kernel, corpus: str, options: dict[str, Any], *, owner: str) -> Compared:
    """Read the views of a corpus that an existing kernel, from the file ``owner``, compares."""
    from kernelwood.kernels import needed_views

    names = needed_views(kernel)
    if names:
        if set(options["views"]) - set(names):
            raise click.UsageError(
                f"the kernel in {owner} compares {', '.join(names)}; leave out --view"
            )
        read = read_examples(corpus, {**options, "views": names})
        return Compared(read, kernel, read.batch())
    read = read_examples(corpus, options)
    if len(read.views) > 1:
        raise KernelInputError(
            f"the kernel in {owner} compares single structures; give one --view, not "
            f"{', '.join(read.views)}"
        )
    [name] = read.views
    return Compared(read, kernel, [example.view(name) for example in read.examples])


def build_kernel(
    options: Mapping[str, Any], views: Mapping[str, Batch], *, gate_on: str | None = None
) -> Kernel:
    """Return a kernel over examples: the sum of one kernel for each view.

    Parameters
    ----------
    options : mapping
        With ``kernel``, ``decay``, ``vectors`` and ``similarity``; None stands for the default.
    views : mapping of str to batch
        The structures to compare.
    gate_on : {"edge", "node"}, optional
        Which labels get gates; not all kernels have them.

    Examples
    --------
    >>> import kernelwood as kw
    >>> options = {"kernel": None, "decay": 0.5, "vectors": None, "similarity": None}
    >>> paths = kw.batch([kw.Sequence([("", "ENTITY1"), ("nsubj", "binds")])])
    >>> build_kernel(options, {"path": paths})
    OnView('path', SubsequenceKernel(decay=0.5))
    """
    from kernelwood import OnView

    given: dict[str, Any] = {} if options["decay"] is None else {"decay": options["decay"]}
    if gate_on is not None:
        given["gate_on"] = gate_on
    if options["vectors"] is not None:
        given["similarity"] = _similarity(options)
    elif options["similarity"] is not None:
        raise click.UsageError("--similarity needs word vectors; give their file with --vectors")
    return reduce(
        add,
        [
            OnView(name, _kernel(options["kernel"], name, batch, given))
            for name, batch in views.items()
        ],
    )


def _kernel(chosen: str | None, view: str, batch: Batch, given: dict[str, Any]) -> Kernel:
    from kernelwood.kernels import KERNELS

    name = chosen or _DEFAULTS[batch.kind]
    kind: Any = KERNELS[name]
    if "gate_on" in given and name not in GATED:
        raise KernelInputError(
            f"the view {view!r} contains {batch.kind}s, whose kernel has no gates; use sequences "
            "or trees"
        )
    if kind.accepts.kind != batch.kind:
        raise click.UsageError(
            f"--kernel {name} compares {kind.accepts.kind}s, but the view {view!r} contains "
            f"{batch.kind}s"
        )
    if "similarity" in given and name not in GATED:
        raise click.UsageError(
            f"the kernel {name} of the view {view!r} matches labels exactly; leave out --vectors"
        )
    if "decay" in given and "decay" not in kind._parameter_names():
        raise click.UsageError(f"the kernel of the view {view!r} has no decay; leave out --decay")
    kernel: Kernel = kind(**given)
    return kernel


def _similarity(options: Mapping[str, Any]) -> Any:
    from kernelwood import Vectors
    from kernelwood.similarity import SIMILARITIES

    kind: Any = SIMILARITIES[options["similarity"] or "gaussian"]
    return kind(Vectors.load(options["vectors"]))
