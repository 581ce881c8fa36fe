r"""Relation corpora in JSON, with tokens: SpERT, SciERC, DocRED and TACRED.

============  =====================================================================================
format        an object of the file
============  =====================================================================================
``spert``     ``{"tokens": [...], "entities": [{"type", "start", "end"}, ...],
              "relations": [{"type", "head", "tail"}, ...]}``: a sentence, as SpERT reads CoNLL04;
              ``head`` and ``tail`` are indices of entities.
``tacred``    ``{"token": [...], "subj_start", "subj_end", "obj_start", "obj_end", "subj_type",
              "obj_type", "relation"}``: a sentence and a pair of entities. Ends are the last token.
``scierc``    ``{"doc_key", "sentences": [[...]], "ner": [[[start, end, type], ...]],
              "relations": [[[start, end, start, end, type], ...]]}``: a document, as DyGIE++ reads
              it, with one list for each sentence. Indices count tokens of the document; ends are
              the last token.
``docred``    ``{"title", "sents": [[...]], "vertexSet": [[{"name", "sent_id", "pos", "type"}]],
              "labels": [{"h", "t", "r", "evidence"}]}``: a document with clusters of mentions and
              relations between clusters; see `kernelwood.io.formats.concepts`.
============  =====================================================================================

A file is an array of such objects or has one in each line. Words are joined by blanks and kept as
they are, ``-LRB-`` included. The tokens of a sentence, and in TACRED its parse, are those of the
file. Sentences have the id of their document, if it is given, as metadata ``document``. Arguments
have the roles ``Arg1`` and ``Arg2``, in the order of the file. The label of a TACRED sentence is
its relation; ``no_relation`` is a sentence without one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import accumulate
from typing import Any

from kernelwood.errors import StructureError
from kernelwood.io.formats.annotation_json import check_id, check_text, pair
from kernelwood.io.formats.concepts import ConceptRelation, ground_relations
from kernelwood.io.formats.json_arrays import JsonObject, first_object, read_objects
from kernelwood.io.source import Item, Remark, Source
from kernelwood.structures import check_integer, check_list, check_object, describe
from kernelwood.text import (
    ROOT,
    Dependency,
    Document,
    Entity,
    Example,
    Relation,
    Sentence,
    Span,
    Token,
)

_NO_RELATION = "no_relation"
_UNKNOWN_SPAN = Remark("relation of a span that is not an entity")
_EVENTS = Remark("events of a document were left out")


def looks_like_spert(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be in the format of SpERT.

    Examples
    --------
    >>> looks_like_spert('[{"tokens": ["a"], "entities": []'), looks_like_spert('{"tokens": 1}')
    (True, False)
    """
    keys = first_object(head)
    return _is_list_of_strings(keys.get("tokens")) and "entities" in keys and "text" not in keys


def looks_like_tacred(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be in the format of TACRED.

    Examples
    --------
    >>> looks_like_tacred('[{"id": "a", "token": ["a"], "subj_start": 0')
    True
    """
    return {"token", "subj_start"} <= first_object(head).keys()


def looks_like_scierc(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be in the format of SciERC.

    Examples
    --------
    >>> looks_like_scierc('{"doc_key": "a", "sentences": [["a"]]}')
    True
    """
    keys = first_object(head)
    return "sentences" in keys and not {"ner", "doc_key", "clusters"}.isdisjoint(keys)


def looks_like_docred(head: str) -> bool:
    """Return whether a file that begins with ``head`` may be in the format of DocRED.

    Examples
    --------
    >>> looks_like_docred('[{"vertexSet": [[{"name": "Ann"')
    True
    """
    keys = first_object(head)
    return "vertexSet" in keys or {"title", "sents"} <= keys.keys()


def _is_list_of_strings(value: str | None) -> bool:
    return value is not None and value.startswith(('["', "[]"))


def read_spert(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example with the view ``"sentence"`` for each sentence."""
    return read_objects(source, partial(_spert, source, views is None or "sentence" in views))


def read_tacred(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example with the view ``"sentence"`` for each pair of entities."""
    return read_objects(source, partial(_tacred, source, views is None or "sentence" in views))


def read_scierc(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example with the view ``"document"`` for each document."""
    return read_objects(source, partial(_scierc, source, views is None or "document" in views))


def read_docred(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example with the view ``"document"`` for each document."""
    return read_objects(source, partial(_docred, source, views is None or "document" in views))


def _spert(source: Source, shown: bool, part: JsonObject) -> Iterator[Item]:
    known = check_object(part.value, "the sentence", ("tokens", "entities"), None)
    words = _words(known["tokens"], "'tokens'")
    places = _Places([words])
    entities = [
        places.entity(f"T{number}", row["type"], (row["start"], row["end"]), what)
        for number, what, row in _rows(known["entities"], "entity", ("type", "start", "end"))
    ]
    relations = []
    asked = _rows(known.get("relations"), "relation", ("type", "head", "tail"))
    for number, what, row in asked:
        ends = [_index(row[key], entities, f"{key!r} of {what}") for key in ("head", "tail")]
        kind = check_text(row["type"], f"type of {what}")
        relations.append(pair(f"R{number}", kind, ends[0].id, ends[1].id))
    document = _name(known.get("orig_id"), "'orig_id'")
    sentence = places.sentence(
        0,
        entities=tuple(entities),
        relations=tuple(relations),
        metadata=(("document", document),) if document else (),
    )
    yield Example(
        f"{source.stem}:{part.number}",
        views={"sentence": sentence} if shown else {},
        origin=source.origin(part.line),
    )


def _tacred(source: Source, shown: bool, part: JsonObject) -> Iterator[Item]:
    required = ("token", "subj_start", "subj_end", "obj_start", "obj_end")
    known = check_object(part.value, "the sentence", required, None)
    places = _Places([_words(known["token"], "'token'")])
    entities = tuple(
        places.entity(
            name,
            known.get(f"{name}_type", ""),
            (known[f"{name}_start"], _last(known[f"{name}_end"], f"'{name}_end'")),
            f"'{name}_start'",
        )
        for name in ("subj", "obj")
    )
    label = known.get("relation")
    if label is not None:
        label = check_text(label, "'relation'")
    held = label not in (None, _NO_RELATION)
    document = _name(known.get("docid"), "'docid'")
    sentence = places.sentence(
        0,
        tags=_column(known, "stanford_pos", places.words[0]),
        dependencies=_dependencies(known, len(places.words[0])),
        entities=entities,
        relations=(pair("R1", str(label), "subj", "obj"),) if held else (),
        metadata=(("document", document),) if document else (),
    )
    yield Example(
        _name(known.get("id"), "'id'") or f"{source.stem}:{part.number}",
        label,
        {"sentence": sentence} if shown else {},
        source.origin(part.line),
    )


def _dependencies(known: dict[str, Any], n_words: int) -> tuple[Dependency, ...]:
    """Return the parse of a TACRED sentence; heads count words from 1, a root has head 0."""
    if "stanford_head" not in known:
        return ()
    heads = check_list(known["stanford_head"], "'stanford_head'")
    relations = _column(known, "stanford_deprel", heads) or [""] * len(heads)
    if len(heads) != n_words:
        raise StructureError(f"'stanford_head' has {len(heads)} values for {n_words} words")
    made = []
    for place, (value, relation) in enumerate(zip(heads, relations, strict=True)):
        what = f"value {place} of 'stanford_head'"
        # Some copies of the corpus have strings of digits.
        digits = isinstance(value, str) and value.isdecimal() and len(value) < 10
        head = int(value) if digits else check_integer(value, what)
        if not 0 <= head <= n_words:
            raise StructureError(f"{what} is {head}, the sentence has {n_words} words")
        made.append(Dependency(head - 1 if head else ROOT, relation, place))
    return tuple(made)


def _scierc(source: Source, shown: bool, part: JsonObject) -> Iterator[Item]:
    known = check_object(part.value, "the document", ("sentences",), None)
    places = _Places(_sentences(known["sentences"], "'sentences'"))
    entities: list[Entity] = []
    by_span: dict[tuple[int, int], Entity] = {}
    for what, row in _nested(known, "ner", 3, len(places.words)):
        span = (check_integer(row[0], what), _last(row[1], what))
        made = places.entity(f"T{len(entities) + 1}", row[2], span, what)
        entities.append(made)
        by_span.setdefault(span, made)
    relations: list[Relation] = []
    for what, row in _nested(known, "relations", 5, len(places.words)):
        ends = []
        for first, last in (row[:2], row[2:4]):
            span = (check_integer(first, what), _last(last, what))
            places.check(span, what)
            ends.append(by_span.get(span))
        if ends[0] is None or ends[1] is None:
            yield _UNKNOWN_SPAN
        else:
            kind = check_text(row[4], f"type of {what}")
            relations.append(pair(f"R{len(relations) + 1}", kind, ends[0].id, ends[1].id))
    if any(check_list(known.get("events", []), "'events'")):
        yield _EVENTS
    name = _name(known.get("doc_key"), "'doc_key'")
    document = places.document(entities, relations)
    yield Example(
        name or f"{source.stem}:{part.number}",
        views={"document": document} if shown else {},
        origin=source.origin(part.line),
    )


def _nested(
    known: dict[str, Any], key: str, size: int, n_sentences: int
) -> Iterator[tuple[str, list[Any]]]:
    """Yield the rows of ``ner`` or ``relations``, with a name for messages."""
    if key not in known:
        return
    groups = check_list(known[key], f"{key!r}")
    if len(groups) != n_sentences:
        raise StructureError(f"{key!r} has {len(groups)} lists for {n_sentences} sentences")
    for place, group in enumerate(groups):
        for number, row in enumerate(check_list(group, f"{key!r} of sentence {place}")):
            what = f"row {number} of {key!r} of sentence {place}"
            # DyGIE++ writes scores after the type.
            if len(check_list(row, what)) < size:
                raise StructureError(f"{what} has {len(row)} values, expected {size}")
            yield what, row


def _docred(source: Source, shown: bool, part: JsonObject) -> Iterator[Item]:
    known = check_object(part.value, "the document", ("sents", "vertexSet"), None)
    places = _Places(_sentences(known["sents"], "'sents'"))
    entities: list[Entity] = []
    mentions: dict[str, list[str]] = {}
    for cluster, rows in enumerate(check_list(known["vertexSet"], "'vertexSet'")):
        members = mentions[str(cluster)] = []
        for _, what, row in _rows(rows, f"cluster {cluster}, mention", ("sent_id", "pos")):
            made = places.mention(f"T{len(entities) + 1}", row, what)
            entities.append(made)
            members.append(made.id)
    asked = []
    for _, what, row in _rows(known.get("labels"), "label", ("h", "t", "r")):
        ends = [check_integer(row[key], f"{key!r} of {what}") for key in ("h", "t")]
        for end in ends:
            if not 0 <= end < len(mentions):
                raise StructureError(f"{what} names entity {end}, there are {len(mentions)}")
        kind = check_text(row["r"], f"'r' of {what}")
        asked.append(ConceptRelation(kind, str(ends[0]), str(ends[1])))
    grounded = ground_relations(
        places.text, entities, mentions, asked, sentences=places.sentence_spans
    )
    yield from grounded.remarks
    title = _name(known.get("title"), "'title'")
    document = places.document(entities, grounded.relations, title)
    yield Example(
        f"{source.stem}:{part.number}",
        views={"document": document} if shown else {},
        origin=source.origin(part.line),
    )


class _Places:
    """The text of sentences of words, and the offsets of words in it."""

    def __init__(self, sentences: list[list[str]]) -> None:
        self.words = sentences
        self.text = " ".join(" ".join(words) for words in sentences)
        self.spans: list[Span] = []  # of words
        self.sentence_spans: list[Span] = []
        # Number of words before each sentence, and before the end.
        self.begins = [0, *accumulate(map(len, sentences))]
        position = 0
        for words in sentences:
            start = position
            for word in words:
                self.spans.append((position, position + len(word)))
                position += len(word) + 1
            position += not words  # an empty sentence has blanks around it
            self.sentence_spans.append((start, max(start, position - 1)))

    def check(self, span: tuple[int, int], what: str) -> None:
        """Raise an error unless the span of words is in the text."""
        start, end = span
        if not 0 <= start < end <= len(self.spans):
            raise StructureError(
                f"{what} is the words [{start}, {end}), but there are {len(self.spans)}",
                hint="words are counted from 0",
            )

    def entity(self, name: str, kind: object, span: tuple[Any, Any], what: str) -> Entity:
        """Return the entity of the words from the first index up to the second."""
        words = tuple(check_integer(index, what) for index in span)
        self.check((words[0], words[1]), what)
        place = (self.spans[words[0]][0], self.spans[words[1] - 1][1])
        return Entity(name, check_text(kind, f"type of {what}"), (place,), self.text[slice(*place)])

    def mention(self, name: str, row: dict[str, Any], what: str) -> Entity:
        """Return a mention of DocRED, whose words are counted in its sentence."""
        home = _index(row["sent_id"], self.words, f"'sent_id' of {what}", place=True)
        pair = check_list(row["pos"], f"'pos' of {what}")
        if len(pair) != 2:
            raise StructureError(f"'pos' of {what} has {len(pair)} numbers, expected 2")
        first, end = (check_integer(index, f"'pos' of {what}") for index in pair)
        if not 0 <= first < end <= len(self.words[home]):
            raise StructureError(
                f"{what} is the words [{first}, {end}) of sentence {home}, which has "
                f"{len(self.words[home])} words"
            )
        begin = self.begins[home]
        return self.entity(name, row.get("type", ""), (begin + first, begin + end), what)

    def sentence(self, number: int, *, tags: list[str] | None = None, **parts: Any) -> Sentence:
        """Return a sentence with its tokens."""
        start, end = self.sentence_spans[number]
        words = self.words[number]
        spans = self.spans[self.begins[number] : self.begins[number + 1]]
        tokens = tuple(
            Token(word, first - start, last - start, tag=tag)
            for word, (first, last), tag in zip(
                words, spans, tags or [""] * len(words), strict=True
            )
        )
        return Sentence(self.text[start:end], tokens, start=start, **parts)

    def document(
        self, entities: Iterable[Entity], relations: Iterable[Relation], title: str | None = None
    ) -> Document:
        """Return the document, with its sentences as parse."""
        return Document(
            self.text,
            tuple(entities),
            tuple(relations),
            metadata=(("title", title),) if title else (),
            parse=tuple(
                self.sentence(number)
                for number, (start, end) in enumerate(self.sentence_spans)
                if self.text[start:end].strip()
            ),
        )


def _rows(
    value: object, what: str, required: tuple[str, ...]
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield number from 1, name for messages, and content of the objects of a list."""
    rows = [] if value is None else check_list(value, f"the list of each {what}")
    for place, row in enumerate(rows):
        name = f"{what} {place}"
        yield place + 1, name, check_object(row, name, required, None)


def _words(value: object, what: str) -> list[str]:
    words = check_list(value, what)
    for place, word in enumerate(words):
        if type(word) is not str:
            raise StructureError(f"word {place} of {what} must be a string, got {describe(word)}")
    return words


def _sentences(value: object, what: str) -> list[list[str]]:
    return [
        _words(words, f"sentence {place} of {what}")
        for place, words in enumerate(check_list(value, what))
    ]


def _column(known: dict[str, Any], key: str, words: list[Any]) -> list[str] | None:
    """Return the list of a key, a string for each word; None if there is none."""
    if key not in known:
        return None
    values = _words(known[key], repr(key))
    if len(values) != len(words):
        raise StructureError(f"{key!r} has {len(values)} values for {len(words)} words")
    return values


def _last(value: object, what: str) -> int:
    """Return the end of a span, the index after its last word."""
    return check_integer(value, what) + 1


def _name(value: object, what: str) -> str:
    """Return an id as a string, empty if there is none."""
    if value is None:
        return ""
    return check_id(value, what)


def _index(value: object, items: list[Any], what: str, place: bool = False) -> Any:
    """Return the item with an index, or the index if ``place``."""
    index = check_integer(value, what)
    if not 0 <= index < len(items):
        raise StructureError(f"{what} is {index}, there are {len(items)} of them, from 0")
    return index if place else items[index]
