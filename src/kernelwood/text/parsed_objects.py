"""Texts that spaCy, Stanza and the conllu package hold in memory.

None of these packages is imported to read their objects: only attributes are used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from kernelwood.errors import KernelInputError, StructureError
from kernelwood.structures import Tree, check_label, make_node, shorten, show
from kernelwood.text.annotation import (
    ROOT,
    Attribute,
    Dependency,
    EmptyNode,
    Entity,
    Multiword,
    Span,
    Token,
)
from kernelwood.text.document import Document
from kernelwood.text.sentence import Sentence
from kernelwood.text.structure_objects import check_class, install

_BLANK = Sentence("")
_SPANS = "entities"  # key of doc.spans for all entities, also those that overlap


def from_spacy(doc: Any, *, spans: str | None = None) -> Document:
    r"""Return a spaCy ``Doc`` as a document.

    Parameters
    ----------
    doc : spacy.tokens.Doc
        Entities are those of ``doc.ents``; ``kb_id_`` and ``id_`` of an entity become attributes
        of the type ``"Reference"``. If the sentences of the ``Doc`` are known, the document has
        its tokens, lemmas, parts of speech and dependencies as ``parse``.
    spans : str, optional
        Use the spans ``doc.spans[spans]`` as entities instead.

    Returns
    -------
    Document
        Blanks that are tokens of spaCy are left out of the parse.

    Raises
    ------
    KernelInputError
        If the object is not a ``Doc``, or has no such spans.

    Examples
    --------
    >>> import spacy
    >>> doc = spacy.blank("en")("Raf-1 binds Ras.")
    >>> doc.ents = [doc.char_span(0, 5, label="protein", kb_id="UniProt:P04049")]
    >>> document = from_spacy(doc)
    >>> document
    Document('Raf-1 binds Ras.', 1 entity)
    >>> document.attributes[0].value
    'UniProt:P04049\tRaf-1'
    """
    check_class(doc, "spacy", "Doc", "from_spacy")
    if spans is not None and spans not in doc.spans:
        raise KernelInputError(
            f"the Doc {shorten(repr(doc.text))} has no doc.spans[{spans!r}]; it has "
            f"{', '.join(map(repr, doc.spans)) or 'none'}"
        )
    entities: list[Entity] = []
    references: list[Attribute] = []
    for number, span in enumerate(doc.ents if spans is None else doc.spans[spans], start=1):
        place = (span.start_char, span.end_char)
        entities.append(Entity(f"T{number}", span.label_, (place,), span.text))
        for reference in dict.fromkeys(filter(None, (span.kb_id_, span.id_))):
            name, value = f"N{len(references) + 1}", f"{reference}\t{span.text}"
            references.append(Attribute(name, "Reference", f"T{number}", value))
    parse = spacy_sentences(doc) if doc.has_annotation("SENT_START") else ()
    return Document(doc.text, tuple(entities), attributes=tuple(references), parse=tuple(parse))


def spacy_sentences(doc: Any) -> list[Sentence]:
    """Return the sentences of a spaCy ``Doc`` with their parses, without entities.

    If the ``Doc`` has no sentence boundaries, all of it is one sentence.
    """
    known = doc.has_annotation("SENT_START")
    return [made for span in (doc.sents if known else [doc[:]]) if (made := _spacy_sentence(span))]


def _spacy_sentence(span: Any) -> Sentence | None:
    """Return a sentence of spaCy, None if it has only blanks."""
    listed = list(span)
    # Not token.is_space, which a vocabulary without a language does not know.
    words = [token for token in listed if not token.text.isspace()]
    if not words:
        return None
    numbers = {token.i: place for place, token in enumerate(words)}
    heads = {token.i: token.head.i for token in listed}
    start = words[0].idx
    tokens, edges = [], []
    for place, token in enumerate(words):
        text, begin = token.text, token.idx - start
        fields = (token.lemma_, token.pos_, token.tag_, str(token.morph))
        tokens.append(Token(text, begin, begin + len(text), *fields))
        if token.dep_:
            head = _spacy_head(token, heads, numbers)
            edges.append(Dependency(head, "root" if head == ROOT else token.dep_, place))
    text = span.doc.text[start : start + tokens[-1].end]
    # Valid as it was made, so it is not checked.
    return _BLANK._with(text=text, tokens=tuple(tokens), dependencies=tuple(edges), start=start)


def _spacy_head(token: Any, heads: Mapping[int, int], numbers: Mapping[int, int]) -> int:
    """Return the number of the word that a token depends on; blanks between them are skipped."""
    at = token.i
    for _ in range(len(heads) + 1):
        head = heads.get(at)
        if head is None:
            raise KernelInputError(
                f"the head of {token.text!r} at character {token.idx} of the Doc is in another "
                "sentence"
            )
        if head == at:
            return ROOT
        if head in numbers:
            return numbers[head]
        at = head
    raise KernelInputError("the heads of the tokens of the Doc form a cycle")


def to_spacy(annotated: Document | Sentence, vocab: Any = None) -> Any:
    """Return a document or sentence as a spaCy ``Doc``; spaCy must be installed.

    Parameters
    ----------
    annotated : Document or Sentence
        With tokens, lemmas, parts of speech and dependencies as far as they are known; a document
        without a parse is cut into sentences and tokens by `Document.split`.
    vocab : spacy.vocab.Vocab, optional
        That of a pipeline, ``nlp.vocab``; by default a new one.

    Returns
    -------
    spacy.tokens.Doc
        ``doc.spans["entities"]`` has all entities that share a character with a token, from their
        first to their last one; ``doc.ents`` those that begin and end with tokens and overlap no
        other, of overlapping ones the longest. ``kb_id_`` is the id of the first reference.
        Relations, events and other attributes are not part of a ``Doc``.

    Raises
    ------
    StructureError
        If tokens overlap, as words written as one do, or the dependencies of a sentence are not a
        tree, or only some sentences have dependencies.

    Examples
    --------
    >>> doc = to_spacy(Document("Raf binds Ras.", [Entity("T1", "protein", ((0, 3),), "Raf")]))
    >>> [token.text for token in doc], [(span.text, span.label_) for span in doc.ents]
    (['Raf', 'binds', 'Ras', '.'], [('Raf', 'protein')])
    """
    if not isinstance(annotated, (Document, Sentence)):
        raise KernelInputError(
            f"to_spacy takes a Document or a Sentence, got {type(annotated).__name__}"
        )
    columns = _SpacyColumns(annotated.text)
    if isinstance(annotated, Sentence):
        columns.add(annotated, 0)
    else:
        for sentence in annotated.sentences():
            columns.add(sentence, sentence.start)
    columns.fill(len(annotated.text))
    tokens = install("spacy", "tokens")
    if vocab is None:
        vocab = install("spacy", "vocab").Vocab()
    doc = columns.doc(tokens.Doc, vocab)
    ids = {
        attribute.target: attribute.value.partition("\t")[0]
        for attribute in reversed(annotated.attributes)
        if attribute.type == "Reference"
    }
    spans, exact = [], []
    for entity in annotated.entities:
        named = {"label": entity.type, "kb_id": ids.get(entity.id, "")}
        place = (entity.start, entity.end)
        span = doc.char_span(*place, **named, alignment_mode="expand") if entity.spans else None
        if span is not None:
            spans.append(span)
            if (span.start_char, span.end_char) == place and len(entity.spans) == 1:
                exact.append(span)
    doc.spans[_SPANS] = spans
    doc.ents = _without_overlap(exact)
    return doc


class _SpacyColumns:
    """The tokens of a ``Doc`` as columns, with tokens for blanks, as spaCy has them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self._rows: list[tuple[str, str, str, str, str]] = []  # text, lemma, pos, tag, features
        self._spaces: list[bool] = []
        self._heads: list[int] = []
        self._labels: list[str] = []
        self._starts: list[bool] = []
        self._unparsed: str | None = None  # a sentence without dependencies

    def add(self, sentence: Sentence, start: int) -> None:
        numbers = []
        for token in sentence.tokens:
            if token.start + start < self._end or token.start == token.end:
                raise StructureError(
                    f"the token {token.text!r} at character {token.start + start} overlaps the one "
                    "before it, or has no characters: a Doc cannot have such tokens",
                    hint="words written as one must be one token",
                )
            self.fill(token.start + start)
            numbers.append(len(self._rows))
            written = sentence.text[token.start : token.end]
            row = (written, token.lemma, token.pos, token.tag, token.features)
            self._append(row, self._end + len(written))
        heads = _one_tree(sentence)
        if heads is None and sentence.dependencies:
            raise StructureError(
                f"the dependencies of {shorten(repr(sentence.text))} are not a tree of all tokens",
                hint="remove them: sentence.with_parts(dependencies=())",
            )
        if heads is None and numbers:
            self._unparsed = sentence.text
        labels = {edge.dependent: edge.relation for edge in sentence.dependencies}
        for place, number in enumerate(numbers):
            self._starts[number] = place == 0
            if heads is not None:
                is_root = heads[place] == ROOT
                self._heads[number] = number if is_root else numbers[heads[place]]
                self._labels[number] = "ROOT" if is_root else labels[place]

    def fill(self, end: int) -> None:
        """Add tokens for the characters before ``end`` that belong to no token."""
        gap = self._text[self._end : end]
        if gap.startswith(" ") and self._spaces:
            self._spaces[-1] = True
            gap = gap[1:]
        at = end - len(gap)
        for part in re.findall(r"\s+|\S+", gap):
            at += len(part)
            self._append((part, part, "SPACE" if part.isspace() else "", "", ""), at)
        self._end = end

    def _append(self, row: tuple[str, str, str, str, str], end: int) -> None:
        number = len(self._rows)
        self._rows.append(row)
        self._spaces.append(False)
        self._heads.append(max(number - 1, 0))  # such as blanks, which depend on the token before
        self._labels.append("")
        self._starts.append(False)
        self._end = end

    def doc(self, make: Any, vocab: Any) -> Any:
        if not self._rows:
            return make(vocab)
        words, lemmas, pos, tags, features = map(list, zip(*self._rows, strict=True))
        first = self._starts.index(True) if True in self._starts else 0
        for number in range(first):  # blanks before the first word
            self._heads[number] = first
            self._starts[number] = False
        self._starts[0] = True
        if first:
            self._starts[first] = False
        named = {"tags": tags, "pos": pos, "lemmas": lemmas, "morphs": features}
        named = {name: column for name, column in named.items() if any(column)}
        if any(self._labels):
            if self._unparsed is not None:
                raise StructureError(
                    f"the sentence {shorten(repr(self._unparsed))} has no dependencies, and others "
                    "have some: a Doc is parsed as a whole",
                    hint="parse all sentences, or none",
                )
            named |= {"heads": self._heads, "deps": self._labels}
        else:
            named["sent_starts"] = self._starts
        return make(vocab, words=words, spaces=self._spaces, **named)


def _one_tree(sentence: Sentence) -> list[int] | None:
    """Return the head of each token; None if the dependencies are not one tree of all tokens."""
    heads: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for head, _, dependent in sentence.dependencies:
        if dependent in heads:
            return None
        heads[dependent] = head
        children.setdefault(head, []).append(dependent)
    waiting = list(children.get(ROOT, ()))
    if len(waiting) != 1:
        return None
    n_reached = 0
    while waiting:
        n_reached += 1
        waiting += children.get(waiting.pop(), ())
    n_tokens = len(sentence.tokens)
    return [heads[token] for token in range(n_tokens)] if n_reached == n_tokens else None


def _without_overlap(spans: list[Any]) -> list[Any]:
    """Return the longest spans that do not overlap, the first of equally long ones."""
    taken: set[int] = set()
    kept = []
    for span in sorted(spans, key=lambda one: (one.start - one.end, one.start)):
        if taken.isdisjoint(range(span.start, span.end)):
            taken.update(range(span.start, span.end))
            kept.append(span)
    return sorted(kept, key=lambda one: int(one.start))


def from_stanza(parsed: Any) -> Document:
    """Return a ``Document`` or ``Sentence`` of Stanza as a document with its parse.

    Parameters
    ----------
    parsed : stanza Document or Sentence
        Entities are those of ``parsed.ents``. Constituency trees are kept if their leaves are the
        words of the sentence.

    Returns
    -------
    Document
        The document of a sentence has the text of the sentence only. If Stanza does not know the
        text, words are joined by blanks.

    Raises
    ------
    KernelInputError
        If the object is not of these classes.
    """
    check_class(parsed, "stanza", "Document|Sentence", "from_stanza")
    return stanza_document(parsed, parsed.text)


def stanza_document(parsed: Any, text: str | None, *, checked: bool = True) -> Document:
    """Return the document of a Stanza ``Document`` or ``Sentence`` with a known text.

    Sentences that a pipeline of Stanza has just made need not be checked.
    """
    make = Sentence if checked else _BLANK._with
    whole = hasattr(parsed, "sentences")
    sentences = parsed.sentences if whole else [parsed]
    tokens = [token for sentence in sentences for token in sentence.tokens]
    shift = 0 if whole or not tokens else tokens[0].start_char or 0
    if text is None or any(token.start_char is None for token in tokens):
        text, places = _placed([(token.text, True) for token in tokens], text)
    else:
        places = [(token.start_char - shift, token.end_char - shift) for token in tokens]
    place_of = {id(token): place for token, place in zip(tokens, places, strict=True)}
    entities = []
    for number, span in enumerate(getattr(parsed, "ents", None) or (), start=1):
        if span.start_char is None:
            start, end = place_of[id(span.tokens[0])][0], place_of[id(span.tokens[-1])][1]
        else:
            start, end = span.start_char - shift, span.end_char - shift
        entities.append(Entity(f"T{number}", span.type, ((start, end),), text[start:end]))
    parse = [make(**_stanza_sentence(one, place_of, text)) for one in sentences if one.tokens]
    return Document(text, tuple(entities), parse=tuple(parse))


def _stanza_sentence(parsed: Any, place_of: Mapping[int, Span], text: str) -> dict[str, Any]:
    """Return the parts of a sentence."""
    start = place_of[id(parsed.tokens[0])][0]
    end = max(place_of[id(token)][1] for token in parsed.tokens)
    tokens: list[Token] = []
    edges: list[Dependency] = []
    multiwords: list[Multiword] = []
    for written in parsed.tokens:
        # The words of a multiword token share its offsets.
        first, last = (place - start for place in place_of[id(written)])
        if len(written.words) > 1:
            at = len(tokens)
            multiwords.append(Multiword(at, at + len(written.words), written.text))
        for word in written.words:
            if word.head is not None:
                edges.append(Dependency(word.head - 1, word.deprel or "dep", len(tokens)))
            fields = (word.lemma or "", word.upos or "", word.xpos or "", word.feats or "")
            tokens.append(Token(word.text, first, last, *fields))
    return {
        "text": text[start:end],
        "tokens": tuple(tokens),
        "dependencies": tuple(edges),
        "tree": _stanza_tree(getattr(parsed, "constituency", None), len(tokens)),
        "multiwords": tuple(multiwords),
        "start": start,
    }


def _stanza_tree(root: Any, n_words: int) -> Tree | None:
    """Return the tree of a Stanza tree, None if its leaves are not the words."""
    if root is None:
        return None
    order, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += node.children
    ready: list[Tree] = []
    n_leaves = 0
    for node in reversed(order):  # children before parents, from left to right
        count = len(node.children)
        children = tuple(ready[len(ready) - count :])
        del ready[len(ready) - count :]
        n_leaves += not count
        ready.append(make_node(str(node.label), children, ""))
    return ready[0] if n_leaves == n_words else None


def from_conllu(tokens: Any) -> Sentence:
    r"""Return a ``TokenList`` of the conllu package as a sentence.

    Parameters
    ----------
    tokens : conllu.TokenList
        One sentence, as of ``conllu.parse(text)[0]``. The comment ``text`` is the text of the
        sentence; without it words are joined by blanks, except after ``SpaceAfter=No``. Other
        comments become ``metadata``.

    Raises
    ------
    KernelInputError
        If the object is not a ``TokenList``.
    StructureError
        If words are not numbered from 1, a head does not exist, or the text differs from the
        words.

    Examples
    --------
    >>> import conllu
    >>> rows = ["1 we _ _ _ _ 2 nsubj _ _", "2 go _ _ _ _ 0 root _ _", ""]
    >>> [tokens] = conllu.parse("\n".join(row.replace(" ", "\t") for row in rows))
    >>> from_conllu(tokens).dependencies[0]
    Dependency(head=1, relation='nsubj', dependent=0)
    """
    check_class(tokens, "conllu", "TokenList", "from_conllu")
    rows = [_Row.of(row, place) for place, row in enumerate(tokens)]
    words = [row for row in rows if isinstance(row.id, int)]
    ranges = {row.id[0]: row for row in rows if isinstance(row.id, tuple) and row.id[1] == "-"}
    empty = [row for row in rows if isinstance(row.id, tuple) and row.id[1] == "."]
    names = [row.id for row in words]
    if names != [*range(1, len(words) + 1)]:
        raise StructureError(
            f"words must be numbered from 1, got {shorten(repr(names))}",
            hint="a TokenList that was filtered is no longer a sentence",
        )
    units: list[tuple[str, bool]] = []
    unit_of: list[int] = []  # of each word
    multiwords: list[Multiword] = []
    while len(unit_of) < len(words):
        first = len(unit_of)
        row, end = words[first], first + 1
        if first + 1 in ranges:
            row = ranges[first + 1]
            end = row.id[2]
            if not first < end <= len(words):
                raise StructureError(f"the range {row.id} is not one of the {len(words)} words")
            multiwords.append(Multiword(first, end, row.form, row.misc))
        unit_of += [len(units)] * (end - first)
        units.append((row.form, "SpaceAfter=No" not in row.misc.split("|")))
    metadata = {str(key): value for key, value in tokens.metadata.items()}
    text, places = _placed(units, metadata.pop("text", None))
    nodes = {row.id: number for number, row in enumerate([*words, *empty])}
    return Sentence(
        text,
        tuple(
            Token(row.form, *places[unit], *row.fields)
            for row, unit in zip(words, unit_of, strict=True)
        ),
        tuple(
            Dependency(_node(nodes, row.head), row.relation, place)
            for place, row in enumerate(words)
            if row.head is not None
        ),
        enhanced=tuple(
            Dependency(_node(nodes, head), relation, nodes[row.id])
            for row in rows
            if row.id in nodes
            for relation, head in row.enhanced
        ),
        empty=tuple(EmptyNode(row.id[0] - 1, row.form, *row.fields) for row in empty),
        multiwords=tuple(multiwords),
        metadata=tuple(metadata.items()),
    )


class _Row(NamedTuple):
    """A row of a ``TokenList`` after checks; unknown fields are "" or None."""

    id: Any  # number of a word; or (first, "-", last) of a range, (after, ".", number) if empty
    form: str
    head: int | None
    relation: str
    enhanced: list[tuple[str, Any]]
    fields: tuple[str, ...]  # lemma, pos, tag, features, misc

    @property
    def misc(self) -> str:
        return self.fields[-1]

    @classmethod
    def of(cls, row: Any, place: int) -> _Row:
        """Return a row, or raise StructureError with its place."""
        name, form, head, deps = (row.get(key) for key in ("id", "form", "head", "deps"))
        enhanced = deps if isinstance(deps, list) else []
        for key, value, is_valid in (
            ("id", name, _is_number(name) or _is_name(name)),
            ("form", form, isinstance(form, str) and form != ""),
            ("head", head, head is None or head == "_" or _is_number(head)),
            ("deps", deps, all(_is_edge(edge) for edge in enhanced)),
        ):
            if not is_valid:
                raise StructureError(f"row {place} of the TokenList: {key} is {show(value)}")
        return cls(
            name,
            form,
            head if _is_number(head) else None,
            _written(row, "deprel") or "dep",
            enhanced,
            tuple(_written(row, key) for key in ("lemma", "upos", "xpos", "feats", "misc")),
        )


def _is_number(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_name(value: object) -> bool:
    """Return whether a value is the id of a range or of an empty node."""
    return (
        type(value) is tuple
        and len(value) == 3
        and value[1] in ("-", ".")
        and _is_number(value[0])
        and _is_number(value[2])
    )


def _is_edge(value: object) -> bool:
    return (
        isinstance(value, (tuple, list))
        and len(value) == 2
        and isinstance(value[0], str)
        and (_is_number(value[1]) or _is_name(value[1]))
    )


def _node(nodes: Mapping[Any, int], name: Any) -> int:
    if name == 0:
        return ROOT
    if name not in nodes:
        raise StructureError(f"the head {name} is not the id of a word")
    return nodes[name]


def _written(row: Mapping[str, Any], key: str) -> str:
    """Return a column as written in a file, "" for unknown values."""
    value = row.get(key)
    if isinstance(value, Mapping):
        return "|".join(f"{k}" if v is None else f"{k}={v}" for k, v in value.items())
    unknown = value is None or (value == "_" and row["form"] != "_")
    return "" if unknown else str(value)


def _placed(units: list[tuple[str, bool]], text: str | None) -> tuple[str, list[Span]]:
    """Return a text and the places of its words, each given with whether a blank follows it."""
    if text is None:
        text = "".join(form + " " * blank for form, blank in units).rstrip()
    text = check_label(text, "the text of a sentence")
    places: list[Span] = []
    at = 0
    for number, (form, _) in enumerate(units):
        start = text.find(form, at)
        if start < 0 or text[at:start].strip():
            raise StructureError(
                f"word {number} ({shorten(repr(form))}) does not follow in the text "
                f"{shorten(repr(text))} at character {at}"
            )
        at = start + len(form)
        places.append((start, at))
    return text, places
