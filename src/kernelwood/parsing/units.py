"""Units: groups of tokens that are parsed as one word.

Entities end tokens, so *IL-2-induced* is three tokens if *IL-2* is an entity, and *p50/p65* is
always three. Treebanks of biomedical English treat both as one word. A unit is a group of tokens
that is parsed as one word; the parse is then expanded to one word per token.
"""

from __future__ import annotations

from collections.abc import Sequence as Listing
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from kernelwood.structures import Tree, make_node
from kernelwood.text import ROOT, Dependency, Sentence, Span, dependencies_of_tree

_ESCAPES = {
    **{"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"},
    **{"“": "``", "”": "''", "‘": "`", "’": "'", "–": "--", "—": "--", "‒": "--", "…": "..."},
}
_INSIDE_WORDS = str.maketrans({mark: _ESCAPES[mark] for mark in "()[]{}"})
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_APART = frozenset(",;:?!%$=<>≤≥\"“”‘’'`") | {"...", "''", "``", ".", "…"}
_CLITICS = frozenset(["'s", "'d", "'m", "'re", "'ve", "'ll", "n't"])
_JOINT = "HYPH"  # part of speech of hyphens and slashes inside words


def find_units(sentence: Sentence) -> list[range]:
    """Return the groups of tokens of a sentence that are parsed as one word.

    Adjacent tokens without a blank between them form a group, unless one is a punctuation mark or
    a clitic; brackets belong to the word directly before them, ``CD4(+)``. Adjacent tokens of one
    entity always form a group.

    Examples
    --------
    >>> from kernelwood.text import Document, Entity
    >>> text = "IL-2-induced p50/p65 binding (20%), not Ras's."
    >>> [sentence] = Document(text, [Entity("T1", "Protein", ((0, 4),))]).sentences()
    >>> [[sentence.tokens[i].text for i in unit] for unit in find_units(sentence)][:6]
    [['IL-2', '-', 'induced'], ['p50', '/', 'p65'], ['binding'], ['('], ['20'], ['%']]
    """
    tokens = sentence.tokens
    inside: list[bool] | None = None
    units: list[range] = []
    begin = 0
    n_open = 0  # open brackets of the word
    left = None
    for here, right in enumerate(tokens):
        if left is not None and left[2] == right[1]:
            if inside is None:
                inside = _inside_entities(sentence)
            longer = here - begin > 1 or n_open > 0
            if inside[right[1]] or _belong_together(left[0], right[0], longer, n_open):
                n_open += (right[0] in _OPENING) - (right[0] in _CLOSING and n_open > 0)
                left = right
                continue
        if here > begin:
            units.append(range(begin, here))
            begin, n_open = here, 0
        left = right
    return [*units, range(begin, len(tokens))] if tokens else []


def unit_words(sentence: Sentence, units: Listing[range]) -> list[str]:
    """Return the units of a sentence as words in the notation of treebanks.

    Examples
    --------
    >>> from kernelwood.text import Document
    >>> [sentence] = Document("p50/p65 (20%)").sentences()
    >>> unit_words(sentence, find_units(sentence))
    ['p50/p65', '-LRB-', '20', '%', '-RRB-']
    """
    text, tokens = sentence.text, sentence.tokens
    return [escape(text[tokens[unit[0]].start : tokens[unit[-1]].end]) for unit in units]


def escape(text: str) -> str:
    """Return a word in the notation of treebanks.

    Examples
    --------
    >>> [escape(text) for text in ("(", "Ca(2+)", "—")]
    ['-LRB-', 'Ca-LRB-2+-RRB-', '--']
    """
    return _ESCAPES.get(text) or text.translate(_INSIDE_WORDS)


def expand_word(tag: str, leaves: tuple[Tree, ...]) -> tuple[Tree, ...]:
    """Return the trees over the tokens of a word: one phrase, or a tree for each token.

    A noun of several tokens becomes a noun phrase, an adjective or participle an adjective
    phrase.

    Examples
    --------
    >>> [tree] = expand_word("JJ", (Tree("Raf"), Tree("-"), Tree("bound")))
    >>> print(tree.to_brackets())
    (ADJP (NN Raf) (HYPH -) (JJ bound))
    """
    if len(leaves) == 1:
        return (make_node(tag, leaves, ""),)
    tags = _tags_inside(tag, [_kind(leaf.label) for leaf in leaves])
    parts = tuple(make_node(t, (leaf,), "") for t, leaf in zip(tags, leaves, strict=True))
    if tag.startswith("N"):
        return (make_node("NP", parts, ""),)
    if tag.startswith("J") or tag in ("VBN", "VBG"):
        return (make_node("ADJP", parts, ""),)
    return parts


class Inside(NamedTuple):
    """The parse of a word of several tokens.

    Attributes
    ----------
    tags : tuple of str
        Part of speech of each token.
    head : int
        The token that stands for the word.
    edges : tuple of Dependency
        Of each token on another, in order; the head has the dependency on the root.
    """

    tags: tuple[str, ...]
    head: int
    edges: tuple[Dependency, ...]


def parse_inside(tag: str, texts: Listing[str]) -> Inside:
    """Return the dependencies inside a word, as those of its trees (`expand_word`) are.

    Examples
    --------
    >>> inside = parse_inside("JJ", ["Raf", "-", "bound"])
    >>> inside.head, inside.edges[0]
    (2, Dependency(head=2, relation='npadvmod', dependent=0))
    """
    return _parse_kinds(tag, tuple(map(_kind, texts)))


_WORD, _NUMBER, _MARK = "w", "0", "-"  # kinds of tokens inside words
_PHRASES = {"V": "VP", "M": "VP", "C": "QP", "R": "ADVP"}


def _kind(text: str) -> str:
    if text.isdigit():
        return _NUMBER
    return _WORD if any(map(str.isalnum, text)) else _MARK


def _tags_inside(tag: str, kinds: Listing[str]) -> list[str]:
    wordy = [at for at, kind in enumerate(kinds) if kind != _MARK]
    last = wordy[-1] if wordy else len(kinds) - 1
    other = "NN" if tag[:1] in ("N", "J", "V") else tag
    inside = {_MARK: _JOINT, _NUMBER: "CD", _WORD: other}
    return [tag if at == last else inside[kind] for at, kind in enumerate(kinds)]


@lru_cache(maxsize=10_000)
def _parse_kinds(tag: str, kinds: tuple[str, ...]) -> Inside:
    parts = expand_word(tag, tuple(make_node(kind, (), "") for kind in kinds))
    tree = parts[0] if len(parts) == 1 else make_node(_PHRASES.get(tag[:1], "X"), parts, "")
    edges = dependencies_of_tree(tree)
    head = next(at for at, edge in enumerate(edges) if edge.head == ROOT)
    return Inside(tuple(_tags_inside(tag, kinds)), head, edges)


def _belong_together(left: str, right: str, longer: bool, n_open: int) -> bool:
    """Return whether two adjacent tokens are parts of a word.

    ``longer`` says whether the word has tokens before ``left``; ``n_open`` is the number of its
    open brackets.
    """
    if _is_separate(left) or _is_separate(right):
        return False
    if right in _OPENING:
        return left[-1:].isalnum()
    if right in _CLOSING or left in _OPENING:
        return n_open > 0
    return left not in _CLOSING or longer


def _is_separate(text: str) -> bool:
    return text in _APART or text.lower().replace("\u2019", "'") in _CLITICS


def _inside_entities(sentence: Sentence) -> list[bool]:
    """Return for every position whether the characters before and after are in one entity."""
    changes = [0] * (len(sentence.text) + 2)
    for entity in sentence.entities:
        for start, end in _runs(entity.spans):
            changes[start + 1] += 1
            changes[max(end, start + 1)] -= 1
    return [depth > 0 for depth in accumulate(changes)]


def _runs(spans: tuple[Span, ...]) -> list[Span]:
    """Return spans, with adjacent ones joined."""
    runs: list[Span] = []
    for start, end in spans:
        if runs and runs[-1][1] == start:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs
