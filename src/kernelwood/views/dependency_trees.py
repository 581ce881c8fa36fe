"""Dependencies as trees for tree kernels: GRCT, LCT, LOCT, CGRCT and CLCT.

Every word of the sentence makes some of these nodes:

========  ==========================  ====================================================
kind      label                       meaning
========  ==========================  ====================================================
SYNT      ``SYNT##dobj``              the relation to its head
POS       ``POS##NN``                 its tag
LEX       ``LEX##play::v``            its lemma and the first letter of its tag
COMP      ``COMP##dobj<a::v,b::n>``   the relation with head and word; the head of a root is
                                      ``*::*``
========  ==========================  ====================================================

Inside ``COMP``, the characters ``,`` ``<`` ``>`` of words are written ``_comma_``, ``_oang_`` and
``_cang_``. A word without lemma appears as in the text, a word without tag has no ``::`` part and
no ``POS`` node. `kernelwood.PartialTreeKernel.sptk` and ``.csptk`` compare these labels word by
word.

Dependencies may be a graph; a tree is extracted from it by fixed rules:

1. Roots are the words that depend on ``ROOT``; if there are none, the words without head.
2. Other words are reached breadth-first from all roots, in the order of the sentence, along
   dependencies in their own order. A word belongs to the first head that reaches it.
3. If words remain that no root reaches, those without head become roots, from left to right; then
   one word of each cycle: from the leftmost remaining word, first heads are followed until a word
   is repeated. Such roots have the relation ``root``.
4. Words without any dependency, such as prepositions that collapsed into a relation, are left
   out; so are words with a relation in ``skip`` that have no remaining dependents. Roots are kept.
5. Dependents are in the order of the sentence. Several roots are joined by a node for an empty
   word ``*``: ``SYNT##*``, ``LEX##*::*`` or ``COMP##*<*::*,*::*>``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from kernelwood.errors import StructureError
from kernelwood.structures import Tree, make_node, shorten
from kernelwood.text import ROOT, Dependency, Sentence, dependencies_of
from kernelwood.views.word_sequences import token_label

_PUNCTUATION = ("punct",)

_NO_WORD = "*::*"
_N_SHARED = 1 << 14
_ESCAPES = str.maketrans({",": "_comma_", "<": "_oang_", ">": "_cang_"})


def grct(
    sentence: Sentence,
    *,
    kinds: bool = True,
    lowercase: bool = True,
    skip: Collection[str] = _PUNCTUATION,
) -> Tree:
    """Return the grammatical relation centered tree of a sentence.

    Relations are the inner nodes; below each are, in the order of the sentence, its dependents and
    the tag of its own word, with the word below the tag.

    Parameters
    ----------
    sentence : Sentence
        Sentence with dependencies, or with a tree from which they are derived. Rules for graphs:
        see `kernelwood.views.dependency_trees`.
    kinds : bool
        Whether labels begin with their kind, as in ``LEX##``.
    lowercase : bool
        Whether words are lowercased.
    skip : collection of str
        Relations whose words are left out unless they have dependents.

    Returns
    -------
    Tree

    Raises
    ------
    StructureError
        If the sentence has neither dependencies nor a tree.

    References
    ----------
    .. [1] D. Croce, A. Moschitti, R. Basili, "Structured lexical similarity via convolution
       kernels on dependency trees", EMNLP 2011.

    Examples
    --------
    >>> sentence = Sentence.from_words(
    ...     ["Cats", "sleep"], lemmas=["cat", "sleep"], tags=["NNS", "VBP"],
    ...     dependencies=[(-1, "root", 1), (1, "nsubj", 0)],
    ... )
    >>> print(grct(sentence).to_brackets())
    (SYNT##root (SYNT##nsubj (POS##NNS LEX##cat::n)) (POS##VBP LEX##sleep::v))
    """
    return _build(sentence, skip, kinds, lowercase, _GRCT)


def lct(
    sentence: Sentence,
    *,
    kinds: bool = True,
    lowercase: bool = True,
    skip: Collection[str] = _PUNCTUATION,
) -> Tree:
    """Return the lexical centered tree: words are the inner nodes.

    Below each word its dependents in the order of the sentence, then its tag and its relation.
    Parameters as in `grct`.

    Examples
    --------
    >>> sentence = Sentence.from_words(
    ...     ["cats", "sleep"], tags=["NNS", "VBP"],
    ...     dependencies=[(-1, "root", 1), (1, "nsubj", 0)],
    ... )
    >>> print(lct(sentence).to_brackets())
    (LEX##sleep::v (LEX##cats::n POS##NNS SYNT##nsubj) POS##VBP SYNT##root)
    """
    return _build(sentence, skip, kinds, lowercase, _LCT)


def loct(
    sentence: Sentence,
    *,
    kinds: bool = True,
    lowercase: bool = True,
    skip: Collection[str] = _PUNCTUATION,
) -> Tree:
    """Return the lexical only centered tree: words without relations and tags.

    Parameters as in `grct`.

    Examples
    --------
    >>> sentence = Sentence.from_words(
    ...     ["cats", "sleep"], tags=["NNS", "VBP"],
    ...     dependencies=[(-1, "root", 1), (1, "nsubj", 0)],
    ... )
    >>> print(loct(sentence).to_brackets())
    (LEX##sleep::v LEX##cats::n)
    """
    return _build(sentence, skip, kinds, lowercase, _LOCT)


def cgrct(
    sentence: Sentence,
    *,
    kinds: bool = True,
    lowercase: bool = True,
    skip: Collection[str] = _PUNCTUATION,
) -> Tree:
    r"""Return the compositional `grct`: relations include their two words.

    Parameters as in `grct`.

    References
    ----------
    .. [1] \P. Annesi, D. Croce, R. Basili, "Semantic compositionality in tree kernels", CIKM 2014.

    Examples
    --------
    >>> sentence = Sentence.from_words(
    ...     ["cats", "sleep"], tags=["NNS", "VBP"], dependencies=[(-1, "root", 1), (1, "nsubj", 0)]
    ... )
    >>> cgrct(sentence).label, cgrct(sentence).children[0].label
    ('COMP##root<*::*,sleep::v>', 'COMP##nsubj<sleep::v,cats::n>')
    """
    return _build(sentence, skip, kinds, lowercase, _CGRCT)


def clct(
    sentence: Sentence,
    *,
    kinds: bool = True,
    lowercase: bool = True,
    skip: Collection[str] = _PUNCTUATION,
) -> Tree:
    """Return the compositional `lct`: relations with their two words are the inner nodes.

    Below each its dependents in the order of the sentence, then tag, relation and word.
    Parameters as in `grct`.

    Examples
    --------
    >>> sentence = Sentence.from_words(
    ...     ["cats", "sleep"], tags=["NNS", "VBP"], dependencies=[(-1, "root", 1), (1, "nsubj", 0)]
    ... )
    >>> print(clct(sentence).children[0].to_brackets())
    (COMP##nsubj<sleep::v,cats::n> POS##NNS SYNT##nsubj LEX##cats::n)
    """
    return _build(sentence, skip, kinds, lowercase, _CLCT)


class _Labels(NamedTuple):
    """The labels of one word; ``tag`` and ``composed`` may be ""."""

    relation: str
    composed: str
    tag: str
    word: str


class _Shape(NamedTuple):
    """How the tree of a word is made of the trees of its dependents.

    ``arrange`` takes the labels, the dependents, and the number of dependents before the word;
    ``top`` is the label that joins several roots; ``composed`` is whether relations include their
    two words.
    """

    arrange: Callable[[_Labels, list[Tree], int], Tree]
    top: tuple[str, str]
    composed: bool = False


# Trees are immutable, so equal leaves, and equal words below their tags, are shared.
@lru_cache(_N_SHARED)
def _leaf(label: str) -> Tree:
    return make_node(label, (), "")


@lru_cache(_N_SHARED)
def _tagged(tag: str, word: str) -> Tree:
    return make_node(tag, (_leaf(word),), "") if tag else _leaf(word)


def _tag_leaf(labels: _Labels) -> tuple[Tree, ...]:
    return (_leaf(labels.tag),) if labels.tag else ()


def _around_word(label: str, labels: _Labels, dependents: list[Tree], place: int) -> Tree:
    own = _tagged(labels.tag, labels.word)
    return make_node(label, (*dependents[:place], own, *dependents[place:]), "")


def _arrange_grct(labels: _Labels, dependents: list[Tree], place: int) -> Tree:
    return _around_word(labels.relation, labels, dependents, place)


def _arrange_cgrct(labels: _Labels, dependents: list[Tree], place: int) -> Tree:
    return _around_word(labels.composed, labels, dependents, place)


def _arrange_lct(labels: _Labels, dependents: list[Tree], place: int) -> Tree:
    return make_node(labels.word, (*dependents, *_tag_leaf(labels), _leaf(labels.relation)), "")


def _arrange_loct(labels: _Labels, dependents: list[Tree], place: int) -> Tree:
    return make_node(labels.word, tuple(dependents), "")


def _arrange_clct(labels: _Labels, dependents: list[Tree], place: int) -> Tree:
    own = (*_tag_leaf(labels), _leaf(labels.relation), _leaf(labels.word))
    return make_node(labels.composed, (*dependents, *own), "")


_GRCT = _Shape(_arrange_grct, ("SYNT", "*"))
_LCT = _Shape(_arrange_lct, ("LEX", _NO_WORD))
_LOCT = _Shape(_arrange_loct, ("LEX", _NO_WORD))
_CGRCT = _Shape(_arrange_cgrct, ("COMP", f"*<{_NO_WORD},{_NO_WORD}>"), composed=True)
_CLCT = _Shape(_arrange_clct, ("COMP", f"*<{_NO_WORD},{_NO_WORD}>"), composed=True)


def _build(
    sentence: Sentence, skip: Collection[str], kinds: bool, lowercase: bool, shape: _Shape
) -> Tree:
    """Arrange the labels of all words, dependents before their heads."""
    if isinstance(skip, str):
        raise StructureError(
            f"skip must be a collection of relations, got the string {shorten(repr(skip))}",
            hint=f"put it in a tuple: skip=({shorten(repr(skip))},)",
        )
    kept = _without_skipped(_spanning_tree(sentence), frozenset(skip))
    words = {edge.dependent: _word(sentence, edge.dependent, lowercase) for edge in kept}
    words[ROOT] = _NO_WORD
    below: dict[int, list[tuple[int, Tree]]] = {token: [] for token in words}
    for edge in reversed(kept):
        token = edge.dependent
        dependents = sorted(below.pop(token), key=itemgetter(0))
        place = sum(at < token for at, _ in dependents)
        tag = token_label(sentence.tokens[token], labels="tag")
        head = words[edge.head] if shape.composed else None
        labels = _labels(edge.relation, head, words[token], tag, kinds)
        node = shape.arrange(labels, [tree for _, tree in dependents], place)
        below[edge.head].append((token, node))
    roots = tuple(tree for _, tree in sorted(below[ROOT], key=itemgetter(0)))
    if len(roots) == 1:
        return roots[0]
    kind, label = shape.top
    return make_node(f"{kind}##{label}" if kinds else label, roots, "")


def _word(sentence: Sentence, index: int, lowercase: bool) -> str:
    """Return a lemma with the first letter of its tag, ``play::v``."""
    token = sentence.tokens[index]
    lemma = token_label(token, labels="lemma", lowercase=lowercase)
    tag = token_label(token, labels="tag")
    return f"{lemma}::{tag[0].lower()}" if tag else lemma


def _labels(relation: str, head: str | None, word: str, tag: str, kinds: bool) -> _Labels:
    composed = ""
    if head is not None:
        pair = f"{head.translate(_ESCAPES)},{word.translate(_ESCAPES)}"
        composed = f"{relation.translate(_ESCAPES)}<{pair}>"
    if not kinds:
        return _Labels(relation, composed, tag, word)
    return _Labels(
        f"SYNT##{relation}", f"COMP##{composed}", f"POS##{tag}" if tag else "", f"LEX##{word}"
    )


def _spanning_tree(sentence: Sentence) -> list[Dependency]:
    """Return one dependency for each word that has any, heads before their dependents."""
    below: dict[int, list[Dependency]] = {ROOT: []}
    heads: dict[int, list[int]] = {}
    for edge in dependencies_of(sentence):
        if edge.head == edge.dependent:
            continue
        below.setdefault(edge.head, []).append(edge)
        above = heads.setdefault(edge.dependent, [])
        if edge.head != ROOT:
            above.append(edge.head)
            heads.setdefault(edge.head, [])
    if not heads:
        raise StructureError(
            f"the sentence {shorten(repr(sentence.text))} has no dependencies",
            hint="parse the sentence first; the tree is made of Sentence.dependencies",
        )
    kept: dict[int, Dependency] = {}
    _reach(below[ROOT], below, kept)
    headless = [token for token, above in heads.items() if not above]
    _reach([Dependency(ROOT, "root", token) for token in headless], below, kept)
    for token in sorted(heads):
        if token not in kept:
            _reach([Dependency(ROOT, "root", _top(token, heads))], below, kept)
    return list(kept.values())


def _reach(
    roots: list[Dependency], below: dict[int, list[Dependency]], kept: dict[int, Dependency]
) -> None:
    """Add to ``kept`` the first dependency that reaches each word, breadth-first."""
    queue = sorted(roots, key=lambda edge: edge.dependent)
    for edge in queue:  # grows during the loop
        if edge.dependent not in kept:
            kept[edge.dependent] = edge
            queue += below.get(edge.dependent, ())


def _top(token: int, heads: dict[int, list[int]]) -> int:
    """Return a word of the cycle above a word that no root reaches, along first heads.

    Every word on this path has a head, and no root reaches any of them.
    """
    seen: set[int] = set()
    while token not in seen:
        seen.add(token)
        token = heads[token][0]
    return token


def _without_skipped(edges: list[Dependency], skip: frozenset[str]) -> list[Dependency]:
    """Return the dependencies without skipped words that have no dependents."""
    holding = {ROOT}
    kept = []
    for edge in reversed(edges):
        if edge.relation in skip and edge.head != ROOT and edge.dependent not in holding:
            continue
        holding.add(edge.head)
        kept.append(edge)
    kept.reverse()
    return kept
