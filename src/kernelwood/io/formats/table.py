"""The table of formats: readers, writers, and format recognition.

A new format is one module in this folder and one row in :data:`FORMATS`. Its reader takes a
:class:`~kernelwood.io.source.Source` and the wanted views, and yields, in the order of the file,
an ``Example`` for each good part and a ``ReadError`` (as a value) for each broken part after which
it can continue. It *raises* ``ReadError`` only if it cannot continue. The ``errors`` argument of
:func:`kernelwood.io.read` decides how broken parts are treated. A writer takes examples and yields
text, line ends included; it does not open files.

A reader may take keyword options, such as the column of the text. The row lists their names with a
line of help for each; :func:`kernelwood.io.read` passes on only those. The reader checks values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeAlias

from kernelwood.io.formats import (
    bioc_json,
    bioc_xml,
    chemprot,
    conllu,
    delimited,
    doccano,
    jats,
    jsonl,
    kelp,
    label_studio,
    parquet,
    penman,
    penn,
    ppi,
    prodigy,
    pubmed,
    pubtator,
    records,
    semeval,
    spacy_docbin,
    srl,
    standoff,
    token_json,
)
from kernelwood.io.formats.json_arrays import scan_objects
from kernelwood.io.lines import Scan, scan_blocks, scan_lines
from kernelwood.io.source import Item, Source, encoding_hint

Views: TypeAlias = "tuple[str, ...] | None"

# Shared by several formats; a file with another suffix may have any JSON format.
_JSON_LINES = (".jsonl", ".ndjson")
_OBJECT = re.compile(r'\s*\{\s*["}]')
_TREE = re.compile(r"\s*\(\s*(?:\(\s*)?[^\s()]+\s*\(")  # a node and its first child
_BRACKET = re.compile(r"[()]")
_BRACKETS = 0.3  # for each word; a tree has one for every two or three words and labels
# Arguments of `read` itself, which may be misspelled.
_ARGUMENTS = ("format", "errors", "views", "only", "limits", "qualify_ids")


@dataclass(frozen=True)
class Format:
    """One row of the table.

    Attributes
    ----------
    name : str
        Value of ``format=``.
    summary : str
        One line for help pages.
    suffixes : tuple of str
        Ends of file names, in lower case with the dot, before ``.gz`` and the like. If formats
        share one, the content decides.
    sniff : callable
        Returns whether a file that begins with a given text may be in this format.
    read : callable
        ``read(source, views, **options)``; see the module text.
    write : callable, optional
        ``write(examples, **options)`` yields text; None if there is no writer.
    views : tuple of str, optional
        The views that every example has; None if they depend on the file.
    companions : tuple of str
        For a format of several files: the suffixes of these files, which otherwise have the same
        name; that of the text is the first. Its ``read`` gets a mapping of suffix to source.
    write_files : callable, optional
        For such a format: ``write_files(examples, **options)`` yields pairs of a relative file
        name and its text; they are written into a folder.
    options : mapping of str to str
        Names of the keyword options of ``read``, each with a line of help.
    general : bool
        Whether the format is recognized by its content only if no other format is, as records
        with any fields.
    binary : bool
        Whether files are binary data, not text.
    scan : callable, optional
        ``scan(source, **options)`` returns the function that finds records in the bytes of a
        file, so that it can be cut into segments; None if this file cannot. Such a reader begins
        at the ``extent`` of its source.
    groups : callable, optional
        For tables of row groups, in place of ``scan``: ``groups(source, **options)`` returns the
        numbers of rows and bytes of each; the extent of the reader counts rows.
    """

    name: str
    summary: str
    suffixes: tuple[str, ...]
    sniff: Callable[[str], bool]
    read: Callable[..., Iterator[Item]]
    write: Callable[..., Iterator[str]] | None = None
    views: Views = None
    companions: tuple[str, ...] = ()
    write_files: Callable[..., Iterator[tuple[str, str]]] | None = None
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    general: bool = False
    binary: bool = False
    scan: Callable[..., Scan | None] | None = None
    groups: Callable[..., list[tuple[int, int]]] | None = None

    def reader(self, options: Mapping[str, Any]) -> Callable[[Any, Views], Iterator[Item]]:
        """Return ``read`` with options; ``ValueError`` if the format lacks one of them."""
        check_options(options, self)
        return partial(self.read, **options) if options else self.read


FORMATS: tuple[Format, ...] = (
    Format(
        name="penn",
        summary="Penn Treebank brackets, one or more lines a tree",
        suffixes=(".mrg", ".penn", ".ptb", ".psd", ".tree", ".trees"),
        sniff=penn.looks_like_penn,
        read=penn.read_penn,
        write=penn.penn_text,
        views=("tree",),
    ),
    Format(
        name="conllu",
        summary="CoNLL-U: dependencies, one line a word",
        suffixes=(".conllu",),
        sniff=conllu.looks_like_conllu,
        read=conllu.read_conllu,
        scan=conllu.scan_conllu,
        write=conllu.conllu_text,
        views=("sentence",),
    ),
    Format(
        name="srl",
        summary="CoNLL-2012-like columns: constituents and semantic roles",
        suffixes=(".srl", ".srl.conll", "gold_conll"),
        sniff=srl.looks_like_srl,
        read=srl.read_srl,
        scan=srl.scan_srl,
        write=srl.srl_text,
        views=("sentence",),
    ),
    Format(
        name="penman",
        summary="PENMAN: abstract meaning representations, with alignments if there are any",
        suffixes=(".amr", ".penman"),
        sniff=penman.looks_like_penman,
        read=penman.read_penman,
        scan=penman.scan_penman,
        write=penman.penman_text,
        views=("sentence",),
    ),
    Format(
        name="ppi",
        summary="unified XML of protein-protein interactions: entities, pairs, parses",
        suffixes=("-learning-format.xml",),
        sniff=ppi.looks_like_ppi,
        read=ppi.read_ppi,
    ),
    Format(
        name="ddi",
        summary="DDIExtraction 2013 XML of drug-drug interactions: entities and pairs",
        suffixes=("_ddi.xml",),
        sniff=ppi.looks_like_ddi,
        read=ppi.read_ppi,
    ),
    Format(
        name="semeval",
        summary="SemEval-2010 task 8: sentences with two marked nominals and their relation",
        suffixes=("train_file.txt", "test_file.txt", "test_file_full.txt"),
        sniff=semeval.looks_like_semeval,
        read=semeval.read_semeval,
        scan=semeval.scan_semeval,
        write=semeval.semeval_text,
        views=("sentence",),
    ),
    Format(
        name="standoff",
        summary="brat and BioNLP standoff: a text file with files of entities and events",
        suffixes=(".ann", ".a1", ".a2"),
        sniff=standoff.looks_like_standoff,
        read=standoff.read_standoff,
        views=("document",),
        companions=(".txt", ".ann", ".a1", ".a2"),
        write_files=standoff.standoff_files,
    ),
    Format(
        name="pubtator",
        summary="PubTator: abstracts with mentions of concepts, and relations between concepts",
        suffixes=(".pubtator", ".pubtator.txt"),
        sniff=pubtator.looks_like_pubtator,
        read=pubtator.read_pubtator,
        scan=pubtator.scan_pubtator,
        write=pubtator.pubtator_text,
        views=("document",),
    ),
    Format(
        name="bioc",
        summary="BioC XML: passages with annotations and relations",
        suffixes=(".bioc.xml", ".bioc"),
        sniff=bioc_xml.looks_like_bioc,
        read=bioc_xml.read_bioc,
        write=bioc_xml.bioc_text,
        views=("document",),
    ),
    Format(
        name="bioc-json",
        summary="BioC JSON, also of PubTator3: passages with annotations and relations",
        suffixes=(".bioc.json", ".bioc.jsonl"),
        sniff=bioc_json.looks_like_bioc_json,
        read=bioc_json.read_bioc_json,
        scan=bioc_json.scan_bioc_json,
        write=bioc_json.bioc_json_text,
        views=("document",),
    ),
    Format(
        name="chemprot",
        summary="ChemProt and DrugProt: tables of abstracts, entities and relations",
        suffixes=(*chemprot.ENTITIES, *chemprot.RELATIONS, *chemprot.GOLD, *chemprot.ABSTRACTS),
        sniff=chemprot.looks_like_chemprot,
        read=chemprot.read_chemprot,
        views=("document",),
        companions=chemprot.COMPANIONS,
    ),
    Format(
        name="kelp",
        summary="KeLP examples, one line each with named representations",
        suffixes=(".klp", ".kelp"),
        sniff=kelp.looks_like_kelp,
        read=kelp.read_kelp,
        scan=scan_lines,
        write=kelp.kelp_text,
    ),
    Format(
        name="jsonl",
        summary="JSON lines, one example each with views of every kind",
        suffixes=_JSON_LINES,
        sniff=jsonl.looks_like_jsonl,
        read=jsonl.read_jsonl,
        scan=scan_lines,
        write=jsonl.jsonl_text,
    ),
    Format(
        name="spert",
        summary="SpERT JSON (CoNLL04): tokens of a sentence, entities, relations",
        suffixes=_JSON_LINES,
        sniff=token_json.looks_like_spert,
        read=token_json.read_spert,
        scan=scan_objects,
        views=("sentence",),
    ),
    Format(
        name="tacred",
        summary="TACRED JSON: tokens of a sentence, a pair of entities, its relation, a parse",
        suffixes=_JSON_LINES,
        sniff=token_json.looks_like_tacred,
        read=token_json.read_tacred,
        scan=scan_objects,
        views=("sentence",),
    ),
    Format(
        name="scierc",
        summary="SciERC and DyGIE++ JSON: sentences of tokens, entities, relations",
        suffixes=_JSON_LINES,
        sniff=token_json.looks_like_scierc,
        read=token_json.read_scierc,
        scan=scan_objects,
        views=("document",),
    ),
    Format(
        name="docred",
        summary="DocRED JSON: sentences of tokens, clusters of mentions, their relations",
        suffixes=_JSON_LINES,
        sniff=token_json.looks_like_docred,
        read=token_json.read_docred,
        scan=scan_objects,
        views=("document",),
    ),
    Format(
        name="labelstudio",
        summary="Label Studio JSON: texts with entities and relations",
        suffixes=_JSON_LINES,
        sniff=label_studio.looks_like_label_studio,
        read=label_studio.read_label_studio,
        scan=scan_objects,
        write=label_studio.label_studio_text,
        views=("document",),
        options={"text_field": "Field of the data that holds the text."},
    ),
    Format(
        name="doccano",
        summary="doccano JSON lines: texts with entities and relations",
        suffixes=_JSON_LINES,
        sniff=doccano.looks_like_doccano,
        read=doccano.read_doccano,
        scan=scan_objects,
        write=doccano.doccano_text,
        views=("document",),
    ),
    Format(
        name="prodigy",
        summary="Prodigy JSON lines: texts with spans and relations",
        suffixes=_JSON_LINES,
        sniff=prodigy.looks_like_prodigy,
        read=prodigy.read_prodigy,
        scan=scan_objects,
        write=prodigy.prodigy_text,
        views=("document",),
    ),
    Format(
        name="spacy",
        summary="spaCy DocBin: documents with parses, entities and relations",
        suffixes=(".spacy",),
        sniff=spacy_docbin.looks_like_docbin,
        read=spacy_docbin.read_docbin,
        views=("document",),
        binary=True,
    ),
    Format(
        name="pubmed",
        summary="PubMed XML: titles and abstracts with their sections",
        suffixes=(),
        sniff=pubmed.looks_like_pubmed,
        read=pubmed.read_pubmed,
        scan=pubmed.scan_pubmed,
        views=("document",),
    ),
    Format(
        name="medline",
        summary="MEDLINE lines of PubMed: titles and abstracts",
        suffixes=(".nbib", ".medline"),
        sniff=pubmed.looks_like_medline,
        read=pubmed.read_medline,
        scan=scan_blocks,
        views=("document",),
    ),
    Format(
        name="jats",
        summary="JATS XML of PubMed Central: full articles by sections",
        suffixes=(".nxml",),
        sniff=jats.looks_like_jats,
        read=jats.read_jats,
        views=("document",),
    ),
    Format(
        name="records",
        summary="JSON objects, as lines or one array, with a field for the text",
        suffixes=_JSON_LINES,
        sniff=records.looks_like_records,
        read=records.read_records,
        scan=records.scan_records,
        views=("document",),
        options=records.OPTIONS,
        general=True,
    ),
    Format(
        name="csv",
        summary="table with a header and a column for the text; comma, semicolon or tab",
        suffixes=(".csv",),
        sniff=delimited.looks_like_csv,
        read=delimited.read_csv,
        scan=delimited.scan_csv,
        views=("document",),
        options={**records.OPTIONS, "delimiter": "Character between fields."},
        general=True,
    ),
    Format(
        name="tsv",
        summary="table with a header and a column for the text; tabs",
        suffixes=(".tsv",),
        sniff=delimited.looks_like_tsv,
        read=delimited.read_tsv,
        scan=delimited.scan_tsv,
        views=("document",),
        options=records.OPTIONS,
        general=True,
    ),
    Format(
        name="parquet",
        summary="Parquet table with a column for the text (extra arrow)",
        suffixes=(".parquet",),
        sniff=parquet.looks_like_parquet,
        read=parquet.read_parquet,
        groups=parquet.row_groups,
        views=("document",),
        options=records.OPTIONS,
        binary=True,
    ),
    Format(
        name="text",
        summary="plain text, one document a file",
        suffixes=(),
        sniff=lambda head: False,  # any file might be; `kernelwood.io.iter_texts` decides
        read=standoff.read_text,
        views=("document",),
        companions=(".txt",),
    ),
)


def find_format(name: str) -> Format:
    """Return the format called ``name``.

    Examples
    --------
    >>> find_format("penn").suffixes[0]
    '.mrg'
    """
    for row in FORMATS:
        if row.name == name:
            return row
    near = get_close_matches(str(name).lower(), [row.name for row in FORMATS], n=1, cutoff=0.4)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"unknown format {name!r}{guess} (known formats: {_listing()})")


def check_options(options: Iterable[str], form: Format | None = None) -> None:
    """Raise ``ValueError`` if a format, or every format if None, lacks one of the options.

    Examples
    --------
    >>> check_options(["delimiter"], find_format("penn"))
    Traceback (most recent call last):
    ...
    ValueError: the penn format has no option 'delimiter' (it has none; formats with it: csv)
    """
    rows = FORMATS if form is None else (form,)
    known = list(dict.fromkeys(name for row in rows for name in row.options))
    listed = ", ".join(known) or "none"
    for name in options:
        if name in known:
            continue
        others = ", ".join(row.name for row in FORMATS if name in row.options)
        near = [] if others else get_close_matches(name, [*known, *_ARGUMENTS], n=1)
        guess = f"; did you mean {near[0]!r}?" if near else ""
        if form is None:
            raise ValueError(f"no format has the option {name!r}{guess} (options: {listed})")
        listed += f"; formats with it: {others}" if others else ""
        raise ValueError(f"the {form.name} format has no option {name!r}{guess} (it has {listed})")


def given_options(options: Mapping[str, Any], form: Format | None) -> dict[str, Any]:
    """Return the options that are not None, after `check_options`."""
    given = {name: value for name, value in options.items() if value is not None}
    check_options(given, form)
    return given


def formats_by_suffix(file_name: str) -> list[Format]:
    """Return the formats whose suffix ends ``file_name`` (in lower case, without ``.gz``).

    Only the longest suffix counts, but several formats may share it.
    """
    lengths = [
        max((len(suffix) for suffix in row.suffixes if file_name.endswith(suffix)), default=0)
        for row in FORMATS
    ]
    longest = max(lengths)
    return [r for r, length in zip(FORMATS, lengths, strict=True) if 0 < length == longest]


def format_by_suffix(file_name: str) -> Format | None:
    """Return the format whose suffix ends ``file_name``, the first of the table if several do."""
    return next(iter(formats_by_suffix(file_name)), None)


def formats_by_content(head: bytes) -> list[Format]:
    """Return the formats that a file that begins with ``head`` may have.

    Examples
    --------
    >>> [row.name for row in formats_by_content(b"(S (NP we) (VP go))")]
    ['penn']
    """
    # The last character may be cut; recognition needs only ASCII.
    text = head.decode("utf-8", "replace")
    fitting = [row for row in FORMATS if row.sniff(text)]
    return [row for row in fitting if not row.general] or fitting


def sure_formats(head: bytes) -> list[Format]:
    """Return the formats of `formats_by_content` that prose that begins with a bracket lacks.

    Examples
    --------
    >>> [row.name for row in sure_formats(b"(Raf (wt)) binds Ras")]
    []
    >>> [row.name for row in sure_formats(b"(S (NP we) (VP go))")]
    ['penn']
    """
    text = head.decode("utf-8", "replace")
    return [row for row in formats_by_content(head) if _is_sure(row, text)]


def _is_sure(form: Format, text: str) -> bool:
    if form.name == "jsonl":
        return bool(_OBJECT.match(text))
    if form.name == "penn":
        enough = text.count("(") > _BRACKETS * len(text.split())
        return enough and bool(_TREE.match(text)) and _after_bracket(text)[:1] in ("", "(")
    return True


def _after_bracket(text: str) -> str:
    """Return the rest after the bracket that begins a text, "" if it is not closed."""
    depth = 0
    for found in _BRACKET.finditer(text):
        depth += 1 if found[0] == "(" else -1
        if depth == 0:
            return text[found.end() :].lstrip()
    return ""


def recognize(source: Source) -> Format | None:
    """Return the format of ``source`` from its suffix, else from its content.

    None if the source is empty, so that every format would give the same result.
    """
    named = formats_by_suffix(source.suffix)
    if len(named) == 1:
        return named[0]
    if not source.head.strip() and source.is_blank():
        return None
    fitting = formats_by_content(source.head)
    if named:  # the formats that share the suffix; the first reports what is wrong
        fitting = [row for row in fitting if row in named] or named[:1]
    if len(fitting) == 1:
        return fitting[0]
    found = " or ".join(row.name for row in fitting)
    raise source.error(
        f"cannot tell the format: the content may be {found}"
        if found
        else "cannot tell the format from the name or the content",
        hint=encoding_hint(source.head) or f"give format=...; known formats: {_listing()}",
    )


def _listing() -> str:
    return ", ".join(
        f"{row.name} ({' '.join(row.suffixes)})" if row.suffixes else row.name for row in FORMATS
    )
