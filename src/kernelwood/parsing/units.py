"""Words as a treebank cuts them, made of tokens that are cut finer, and back.

Entities end tokens, so *IL-2-induced* is three tokens if *IL-2* is an entity, and *p50/p65* is
three anyway. Treebanks of biomedical English take each for one word. A unit is what is parsed as
one word; in the tree it becomes its tokens again.
"""

from __future__ import annotations

from collections.abc import Sequence as Listing
from itertools import accumulate

from kernelwood.structures import Tree, make_node
from kernelwood.text import Sentence, Span, Token

__all__ = ["escape", "expand_tree", "find_units"]

_ESCAPES = {
    **{"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"},
    **{"“": "``", "”": "''", "‘": "`", "’": "'", "–": "--", "—": "--", "‒": "--", "…": "..."},
}
_INSIDE_WORDS = str.maketrans({mark: _ESCAPES[mark] for mark in "()[]{}"})
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_APART = frozenset(",;:?!%$=<>≤≥\"“”‘’'`") | {"...", "''", "``", ".", "…"}
_CLITICS = frozenset(["'s", "'d", "'m", "'re", "'ve", "'ll", "n't"])
_JOINT = "HYPH"  # part of speech of hyphens and slashes inside of words


def find_units(sentence: Sentence) -> list[range]:
    """Return the tokens of a sentence in groups that are parsed as one word.

    Tokens without a blank between them belong together, unless one is a punctuation mark or a
    clitic; brackets belong to the word they follow closely, ``CD4(+)``. What stands in one entity
    without a blank belongs together in any case.

    Examples
    --------
    >>> from kernelwood.text import Document, Entity
    >>> text = "IL-2-induced p50/p65 binding (20%), not Ras's."
    >>> [sentence] = Document(text, [Entity("T1", "Protein", ((0, 4),))]).sentences()
    >>> [[sentence.tokens[i].text for i in unit] for unit in find_units(sentence)][:6]
    [['IL-2', '-', 'induced'], ['p50', '/', 'p65'], ['binding'], ['('], ['20'], ['%']]
    """
    tokens = sentence.tokens
    inside = _inside_entities(sentence)
    units: list[range] = []
    begin = 0
    n_open = 0  # brackets of the word that are open
    for here in range(1, len(tokens)):
        left, right = tokens[here - 1], tokens[here]
        longer = here - begin > 1 or n_open > 0
        if left.end == right.start and (
            inside[right.start] or _belong_together(left.text, right.text, longer, n_open)
        ):
            n_open += (right.text in _OPENING) - (right.text in _CLOSING and n_open > 0)
        else:
            units.append(range(begin, here))
            begin, n_open = here, 0
    return [*units, range(begin, len(tokens))] if tokens else []


def escape(text: str) -> str:
    """Return a word the way treebanks write it.

    Examples
    --------
    >>> [escape(text) for text in ("(", "Ca(2+)", "—")]
    ['-LRB-', 'Ca-LRB-2+-RRB-', '--']
    """
    return _ESCAPES.get(text) or text.translate(_INSIDE_WORDS)


def expand_tree(tree: Tree, units: Listing[range], tokens: Listing[Token]) -> Tree:
    """Return a tree over units as a tree over tokens.

    A noun of several tokens becomes a noun phrase, an adjective or participle an adjective
    phrase; the tokens of other words stand side by side.

    Examples
    --------
    >>> from kernelwood.text import tokenize
    >>> tree = Tree.from_brackets("(NP (JJ Raf/Ras) (NN binding))")
    >>> tokens = tokenize("Raf/Ras binding")
    >>> print(expand_tree(tree, [range(0, 3), range(3, 4)], tokens).to_brackets())
    (NP (ADJP (NN Raf) (HYPH /) (JJ Ras)) (NN binding))
    """
    ready: list[tuple[Tree, ...]] = []
    at = 0
    for node in tree.postorder():
        if node.is_leaf:
            ready.append(tuple(make_node(tokens[i].text, (), "") for i in units[at]))
            at += 1
            continue
        count = len(node.children)
        below = tuple(part for parts in ready[-count:] for part in parts)
        del ready[-count:]
        if node.children[0].is_leaf:
            ready.append(_expand_word(node.label, below))
        elif len(below) == 1 and below[0].label == node.label and below[0].n_nodes > 2:
            ready.append(below)
        else:
            ready.append((make_node(node.label, below, ""),))
    [[expanded], *_] = ready
    return expanded


def _expand_word(tag: str, leaves: tuple[Tree, ...]) -> tuple[Tree, ...]:
    if len(leaves) == 1:
        return (make_node(tag, leaves, ""),)
    wordy = [i for i, leaf in enumerate(leaves) if any(map(str.isalnum, leaf.label))]
    last = wordy[-1] if wordy else len(leaves) - 1
    other = "NN" if tag[:1] in ("N", "J", "V") else tag
    tags = [
        tag if i == last else _JOINT if i not in wordy else "CD" if leaf.label.isdigit() else other
        for i, leaf in enumerate(leaves)
    ]
    parts = tuple(make_node(t, (leaf,), "") for t, leaf in zip(tags, leaves, strict=True))
    if tag.startswith("N"):
        return (make_node("NP", parts, ""),)
    if tag.startswith("J") or tag in ("VBN", "VBG"):
        return (make_node("ADJP", parts, ""),)
    return parts


def _belong_together(left: str, right: str, longer: bool, n_open: int) -> bool:
    """Say whether two tokens that touch are parts of a word.

    ``longer`` says whether ``left`` is in a word with others, and ``n_open`` how many of its
    brackets are open.
    """
    if _stands_apart(left) or _stands_apart(right):
        return False
    if right in _OPENING:
        return left[-1].isalnum()
    if right in _CLOSING or left in _OPENING:
        return n_open > 0
    return left not in _CLOSING or longer


def _stands_apart(text: str) -> bool:
    return text in _APART or text.lower().replace("\u2019", "'") in _CLITICS


def _inside_entities(sentence: Sentence) -> list[bool]:
    """Return for every position whether the characters before and after are of one entity."""
    changes = [0] * (len(sentence.text) + 2)
    for entity in sentence.entities:
        for start, end in _runs(entity.spans):
            changes[start + 1] += 1
            changes[max(end, start + 1)] -= 1
    return [depth > 0 for depth in accumulate(changes)]


def _runs(spans: tuple[Span, ...]) -> list[Span]:
    """Return spans with those joined that touch."""
    runs: list[Span] = []
    for start, end in spans:
        if runs and runs[-1][1] == start:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs
