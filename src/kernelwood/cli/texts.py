"""Raw texts on the command line: where they are, who finds their entities, who parsed them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.corpus import usage, with_progress
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.io import UsedIds
from kernelwood.structures import shorten
from kernelwood.text import Document, Example, Sentence

if TYPE_CHECKING:
    from kernelwood import Dictionary
    from kernelwood.text import Cut

__all__ = [
    "WAYS",
    "GivenParses",
    "Texts",
    "case_option",
    "entities_option",
    "load_parser",
    "parser_option",
    "read_dictionary",
    "with_entities_of",
]

WAYS = (
    "name a file of terms with --entities terms.tsv (a line has a term, a tab, and a type), put "
    "name.ann with entities beside name.txt, or use --ner with a parser that finds names"
)
_PACKINGS = ("", ".gz", ".bz2", ".xz")

entities_option = click.option(
    "--entities", metavar="FILE",
    help="Terms to be found as entities: a line has a term, a tab, a type, and perhaps a tab and "
    "an id.",
)  # fmt: skip
case_option = click.option(
    "--case", type=click.Choice(["smart", "exact", "ignore"]), default="smart", show_default=True,
    help="Whether capitals matter in terms; smart: in short ones, and those like mTOR.",
)  # fmt: skip
parser_option = click.option(
    "--parser", metavar="NAME",
    help="What parses: biomedical, spacy, spacy:MODEL, stanza or stanza:LANGUAGE. Default: as the "
    "model was trained.",
)  # fmt: skip


def read_dictionary(path: str | None, case: Any) -> Dictionary | None:
    """Return the terms in a file, None if there is none."""
    from kernelwood import Dictionary

    return None if path is None else Dictionary.read(path, case=case)


def load_parser(name: str, *, entities: bool = False) -> Any:
    """Return the parser of a name, which finds entities if it is asked to.

    Raises
    ------
    click.UsageError
        If there is no such parser, or it finds no names.
    """
    from kernelwood.parsing import BACKENDS, load_backend

    kind = name.partition(":")[0]
    if kind not in BACKENDS:
        near = get_close_matches(kind, BACKENDS, n=1)
        guess = f"; did you mean {near[0]!r}?" if near else ""
        raise click.UsageError(f"there is no parser {name!r}{guess} ({', '.join(BACKENDS)})")
    backend = load_backend(name, entities=entities)
    if entities and not getattr(backend, "entities", False):
        raise click.UsageError(f"the parser {name!r} finds no names; --ner needs spacy or stanza")
    return backend


class Texts:
    """Texts one after the other, as examples with entities.

    Parameters
    ----------
    paths : sequence of str
        Files, folders and archives; ``-`` for standard input.
    errors : {"raise", "skip"}
        What to do with broken ones.
    annotate : callable, optional
        Gives a document more entities.

    Attributes
    ----------
    reasons, remarks : Counter
        What was left out, and what is odd.
    """

    def __init__(
        self,
        paths: Iterable[str],
        errors: Any,
        annotate: Callable[[Document], Document] | None = None,
    ) -> None:
        self.paths = list(paths)
        self.reasons: Counter[str] = Counter()
        self.remarks: Counter[str] = Counter()
        self._errors, self._annotate = errors, annotate

    def __iter__(self) -> Iterator[Example]:
        from kernelwood.io import iter_read

        used = UsedIds()
        for path in self.paths:
            # As standoff annotation a text is read with the entities beside it, if there are any.
            with usage(partial(iter_read, path, "standoff", self._errors)) as stream:
                for example in with_progress(stream):
                    if used.add(example.id, 0) is not None:
                        raise StructureError(
                            f"two texts are called {shorten(repr(example.id))}",
                            hint="give the folder that both are in: their paths will be their "
                            "names",
                        )
                    yield self._prepared(example)
                self.reasons.update(stream.tally.reasons)
                self.remarks.update(stream.tally.remarks)

    def _prepared(self, example: Example) -> Example:
        document = example.view("document")
        if self._annotate is None or not isinstance(document, Document):
            return example
        return example.with_views({"document": self._annotate(document)})


class GivenParses:
    """Sentences that were parsed elsewhere, to be joined with their texts.

    Parameters
    ----------
    path : str
        A file of CoNLL-U with the sentences of one text, or of several, each beginning with
        ``# newdoc id = NAME``; or a folder with a file ``NAME.conllu`` for each text.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._by_name: dict[str, list[Sentence]] | None = None
        if not Path(path).is_dir():
            self._by_name = _grouped(path)

    def analyze(self, name: str, document: Document) -> Cut:
        """Return the parsed sentences of a text, with its annotation."""
        return document.annotate(self._sentences(name))

    def _sentences(self, name: str) -> list[Sentence]:
        if self._by_name is None:
            return self._from_folder(name)
        if list(self._by_name) == [""]:  # of one text, then
            self._by_name = {name: self._by_name[""]}
        if name not in self._by_name:
            raise KernelInputError(
                f"{self.path} has no parse of {shorten(repr(name))}: of several texts, the first "
                f"sentence of each needs a line # newdoc id = {name}"
            )
        return self._by_name[name]

    def _from_folder(self, name: str) -> list[Sentence]:
        files = [Path(self.path, f"{name}.conllu{packing}") for packing in _PACKINGS]
        for file in files:
            if file.is_file():
                return [sentence for part in _grouped(str(file)).values() for sentence in part]
        raise KernelInputError(f"there is no parse of {shorten(repr(name))}: {files[0]} is missing")


def with_entities_of(example: Example, sentences: Iterable[Sentence]) -> Example:
    """Return a text with the entities of its sentences."""
    entities = [
        entity._replace(
            spans=tuple((a + sentence.start, b + sentence.start) for a, b in entity.spans)
        )
        for sentence in sentences
        for entity in sentence.entities
    ]
    document = example.view("document")
    if not isinstance(document, Document) or document.entities:
        return example
    return example.with_views({"document": replace(document, entities=tuple(entities))})


def _grouped(path: str) -> dict[str, list[Sentence]]:
    """Return sentences by the text they are from; "" for those before the first that has a name."""
    from kernelwood import read

    groups: dict[str, list[Sentence]] = {}
    current = ""
    for example in read(path, "conllu"):
        sentence = example.view("sentence")
        if isinstance(sentence, Sentence):
            current = dict(sentence.metadata).get("newdoc id") or current
            groups.setdefault(current, []).append(sentence)
    return groups
