"""Head rules: which word of a constituent stands for it, and the dependencies that follow.

In every constituent one part is the head, and its head word is that of the whole. All other parts
depend on it. Which part that is, tables of priorities say, after Magerman and Collins [1]_ and
with content words as heads, as in the Stanford dependencies:

- A noun phrase has its last noun as head, or its first noun phrase if it has no noun of its own.
- A verb phrase has its content verb as head: auxiliaries, modals and *to* depend on it. What is
  said with a form of *be* is the head of it: *inhibitor* in *is an inhibitor*, *active* in *is
  active*.
- A prepositional phrase has its preposition as head.
- Of coordinated parts the first is the head; the others depend on it (``conj``), and so do
  conjunctions and commas. Words coordinated inside of a noun phrase are put together first:
  *levels* is the head of *protein and mRNA levels*, and *mRNA* depends on *protein*.
- Labels without a rule (FRAG, PRN, UCP, X, those of other treebanks): the first clause, verb
  phrase, noun phrase or other phrase; else the first verb, the last noun, the first word that is
  no punctuation, the first of all.

Traces are words like any other here, so cut them out first (`kernelwood.Sentence.from_tree`
does). The time is linear in the size of the tree, at any depth.

References
----------
.. [1] M. Collins, "Head-driven statistical models for natural language parsing", PhD thesis,
   University of Pennsylvania, 1999.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from kernelwood.structures import Tree
from kernelwood.text.annotation import ROOT, Dependency
from kernelwood.text.sentence import Sentence
from kernelwood.text.tree_relations import (
    BE,
    CLAUSES,
    NOUN_PHRASES,
    NOUNS,
    PUNCTUATION,
    VERBS,
    Part,
    relation_of,
)

__all__ = ["dependencies_of", "dependencies_of_tree", "head_words"]

_DECORATION = re.compile(r"[-=|]")
_LEFT, _RIGHT = False, True  # where the search for a head begins

_FAMILIES = {
    **dict.fromkeys(CLAUSES, "clause"),
    **dict.fromkeys(NOUN_PHRASES, "noun"),
    "VP": "verb",
    "PP": "preposition",
    "WHPP": "preposition",
    "SBAR": "subordinate",
    "QP": "number",
    **dict.fromkeys(("ADJP", "ADVP", "WHADJP", "WHADVP"), "modifier"),
}
_PREDICATES = ("ADJP", "NP", "UCP", "QP", "NX")
_ADJECTIVES = ("JJ", "JJR", "JJS", "VBN", "VBG", "NN", "NNS", "QP", "CD")
_ADVERBS = ("RB", "RBR", "RBS", "WRB", "FW", "JJ", "JJR", "JJS", "IN", "CD", "NN", "DT")

# For each label: where to begin, and labels of which the first found is the head; then the next.
_Rule = tuple[bool, Collection[str]]
_RULES: dict[str, tuple[_Rule, ...]] = {
    **dict.fromkeys(
        CLAUSES,
        (
            (_LEFT, ("VP",)),
            (_LEFT, CLAUSES),
            (_LEFT, VERBS - {"TO"}),
            (_LEFT, ("ADJP", "UCP")),
            (_LEFT, ("NP", "SBAR")),
        ),
    ),
    "SBAR": ((_LEFT, ("S", "SQ", "SINV")), (_LEFT, ("SBAR", "FRAG", "VP"))),
    "VP": ((_LEFT, ("VP",)), (_LEFT, VERBS - {"TO"}), (_LEFT, ("TO", "ADJP", "NP", "S"))),
    **dict.fromkeys(
        NOUN_PHRASES,
        (
            (_RIGHT, NOUNS | {"NX", "NML"}),
            (_LEFT, ("NP", "WHNP")),
            (_RIGHT, ("$", "PRP", "WP", "EX", "FW", "WDT")),
            (_RIGHT, ("CD", "QP")),
            (_RIGHT, ("JJ", "JJR", "JJS", "ADJP", "VBG", "VBN", "DT", "RB", "PRN")),
        ),
    ),
    "PP": ((_LEFT, ("IN", "TO")), (_LEFT, ("PP", "VBG", "VBN", "RP", "FW", "JJ", "RB"))),
    "WHPP": ((_LEFT, ("IN", "TO")),),
    "ADJP": (
        (_RIGHT, _ADJECTIVES),
        (_LEFT, ("ADJP",)),
        (_RIGHT, ("DT", "RB", "RBR", "FW", "IN", "VBD")),
        (_LEFT, ("ADVP", "NP")),
    ),
    "WHADJP": ((_RIGHT, _ADJECTIVES),),
    "ADVP": ((_RIGHT, _ADVERBS[:4]), (_RIGHT, ("ADVP",)), (_RIGHT, _ADVERBS), (_LEFT, ("NP",))),
    "WHADVP": ((_RIGHT, _ADVERBS),),
    "QP": ((_RIGHT, ("$", "CD")), (_RIGHT, ("NNS", "NN", "QP", "JJ", "DT"))),
    "CONJP": ((_LEFT, ("CC",)), (_RIGHT, ("RB", "IN"))),
}
_OTHERWISE: tuple[_Rule, ...] = (
    (_LEFT, CLAUSES),
    (_LEFT, ("VP",)),
    (_LEFT, NOUN_PHRASES),
    (_LEFT, ("PP", "ADJP", "ADVP", "SBAR", "UCP", "QP", "PRN")),
    (_LEFT, VERBS - {"TO"}),
    (_RIGHT, NOUNS),
)

_COORDINATORS = frozenset({"CC", "CONJP"})
_SEPARATORS = frozenset({",", ":"})
_BETWEEN_CONJUNCTS = _COORDINATORS | _SEPARATORS | {"HYPH"}  # and/or
_BESIDE_CONJUNCTS = frozenset({"ADVP", "RB", "PRN"}) | PUNCTUATION
_KINDS = {
    **dict.fromkeys(NOUNS | {"FW"}, "noun"),
    **dict.fromkeys(("JJ", "JJR", "JJS", "VBN", "VBG", "ADJP"), "adjective"),
    **dict.fromkeys(NOUN_PHRASES, "noun phrase"),
    **dict.fromkeys(("S", "SINV"), "clause"),
    **dict.fromkeys(("VB", "VBD", "VBP", "VBZ"), "verb"),
}


def head_words(tree: Tree) -> tuple[int, ...]:
    """Return the head of every node, as the index of a leaf.

    Parameters
    ----------
    tree : Tree
        Constituents; leaves are words, the labels above them parts of speech.

    Returns
    -------
    tuple of int
        One index for each node in post-order, as `Tree.postorder` gives them.

    Examples
    --------
    >>> tree = Tree.from_brackets("(S (NP (DT the) (NN cat)) (VP (VBD was) (VP (VBN fed))))")
    >>> heads = head_words(tree)
    >>> for node, head in zip(tree.postorder(), heads):
    ...     if node.label in ("NP", "VP", "S"):
    ...         print(node.label, head)
    NP 1
    VP 3
    VP 3
    S 3
    """
    return _percolate(tree)[1]


def dependencies_of_tree(tree: Tree) -> tuple[Dependency, ...]:
    """Return the dependencies that follow from the heads of a constituency tree.

    They are a projective tree: one dependency for each leaf, in order; one of them has the head
    ``ROOT`` (-1) and the relation ``root``. `kernelwood.text.tree_relations` lists the
    relations.

    Parameters
    ----------
    tree : Tree
        As in `head_words`.

    Examples
    --------
    >>> tree = "(S (NP (NN Raf)) (VP (VBZ is) (VP (VBN bound) (PP (IN by) (NP (NN Ras))))))"
    >>> for head, relation, dependent in dependencies_of_tree(Tree.from_brackets(tree)):
    ...     print(dependent, relation, head)
    0 nsubjpass 2
    1 auxpass 2
    2 root -1
    3 prep 2
    4 pobj 3
    """
    edges, heads = _percolate(tree)
    edges[heads[-1]] = Dependency(ROOT, "root", heads[-1])
    return tuple(edges[leaf] for leaf in range(len(edges)))


def dependencies_of(sentence: Sentence) -> tuple[Dependency, ...]:
    """Return the dependencies of a sentence; if it has none but a tree, those of the tree.

    Examples
    --------
    >>> sentence = Sentence.from_tree(Tree.from_brackets("(S (NP (PRP we)) (VP (VBP go)))"))
    >>> sentence.dependencies, dependencies_of(sentence)[0]
    ((), Dependency(head=1, relation='nsubj', dependent=0))
    """
    if sentence.dependencies or sentence.tree is None or not sentence.tokens:
        return sentence.dependencies
    return dependencies_of_tree(sentence.tree)


def _percolate(tree: Tree) -> tuple[dict[int, Dependency], tuple[int, ...]]:
    """Return the dependency of every leaf but one, and the head of every node in post-order."""
    edges: dict[int, Dependency] = {}
    heads: list[int] = []
    ready: list[Part] = []
    n_leaves = 0
    for node in tree.postorder():
        if node.is_leaf:
            ready.append(Part("", n_leaves, node.label.lower(), ""))
            n_leaves += 1
        else:
            count = len(node.children)
            parts = ready[-count:]
            del ready[-count:]
            label = _bare(node.label)
            if count == 1 and node.children[0].is_leaf:
                ready.append(_tagged(label, parts[0]))
            else:
                ready.append(_combine(label, parts, edges))
        heads.append(ready[-1].head)
    return edges, tuple(heads)


def _bare(label: str) -> str:
    """Return a label without function tags and indices."""
    found = None if label.startswith("-") else _DECORATION.search(label, 1)
    return label[: found.start()] if found else label


def _tagged(tag: str, leaf: Part) -> Part:
    verb = tag if tag in VERBS else ""
    opener = leaf.word if tag in ("IN", "WRB", "TO") else ""
    return Part(tag, leaf.head, leaf.word, tag, _FAMILIES.get(tag, ""), verb, opener=opener)


def _combine(label: str, parts: list[Part], edges: dict[int, Dependency]) -> Part:
    """Return a constituent, having noted what depends on its head."""
    items = _coordinate(label, parts, edges)
    at = _find_head(label, items)
    head = items[at]
    family = _FAMILIES.get(label) or head.family or _family_of_tag(head.tag)
    for side, before in ((reversed(items[:at]), True), (items[at + 1 :], False)):
        met = set()
        for part in side:
            kind = part.family or part.label
            again = kind in met
            met.add(kind)
            relation = relation_of(family, part, head, before=before, again=again)
            edges[part.head] = Dependency(head.head, relation, part.head)
    return _describe(label, family, parts, items, head)


def _describe(label: str, family: str, parts: list[Part], items: list[Part], head: Part) -> Part:
    """Return what those around a constituent can know about it."""
    first = next((part for part in items if part.label not in _BESIDE_CONJUNCTS), items[0])
    own = next((part for part in items if part.label in VERBS), None)
    passive = head.passive
    if own is not None and own.word in BE and head.label == "VP" and head.verb == "VBN":
        passive = True
    subject = family == "clause" and any(
        part.family == "noun" and part.head < head.head and part is not head for part in items
    )
    if first.family in ("noun", "modifier", "preposition") and first.label.startswith("WH"):
        opener = first.label
    else:
        opener = first.word if first.label in ("IN", "TO", "WRB", "DT") else ""
    return Part(
        label,
        head.head,
        head.word,
        head.tag,
        family,
        own.tag if own is not None else head.verb,
        passive,
        subject or (family != "noun" and head.has_subject),
        opener if family == "subordinate" else "",
        parts[-1].label == "POS",
    )


def _family_of_tag(tag: str) -> str:
    if tag in NOUNS:
        return "noun"
    return "verb" if tag in VERBS else ""


def _find_head(label: str, items: list[Part]) -> int:
    if len(items) == 1:
        return 0
    if label in ("VP", "SQ", "SINV"):
        said = _said_with_be(items)
        if said is not None:
            return said
    places = range(len(items))
    for from_right, wanted in (*_RULES.get(label, ()), *_OTHERWISE):
        for place in reversed(places) if from_right else places:
            if items[place].label in wanted:
                return place
    words = (at for at, part in enumerate(items) if part.label not in PUNCTUATION)
    return next(words, 0)


def _said_with_be(items: list[Part]) -> int | None:
    """Return the place of what follows a form of *be*, None if that is a verb or nothing."""
    verb = next((at for at, part in enumerate(items) if part.label in VERBS), None)
    if verb is None or items[verb].word not in BE or any(part.label == "VP" for part in items):
        return None
    after = range(verb + 1, len(items))
    return next((at for at in after if items[at].label in _PREDICATES), None)


def _coordinate(label: str, parts: list[Part], edges: dict[int, Dependency]) -> list[Part]:
    """Return the parts with coordinated ones put together, the first standing for all."""
    if all(part.label not in _COORDINATORS for part in parts):
        return parts
    items: list[Part] = []
    coordinator: int | None = None  # the place in items of one that waits for what follows
    for part in parts:
        items.append(part)
        if part.label in _COORDINATORS:
            coordinator = len(items) - 1
        elif coordinator is not None and part.label not in _BESIDE_CONJUNCTS:
            first = _first_conjunct(label, items, coordinator)
            if first < coordinator:
                _join(items, first, coordinator, edges)
            coordinator = None
    return items


def _first_conjunct(label: str, items: list[Part], coordinator: int) -> int:
    """Return where a coordination begins whose last part is the last item.

    From the conjunction to the left, conjuncts and commas have to take turns.
    """
    kind = _kind(items[-1])
    first = coordinator
    at = coordinator - 1
    while at >= 0:
        while at >= 0 and items[at].label in _BETWEEN_CONJUNCTS:
            at -= 1
        if at < 0 or not (label == "UCP" or _kind(items[at]) == kind):
            break
        first = at
        at -= 1
        if at < 0 or items[at].label not in _SEPARATORS:
            break
    return first


def _kind(part: Part) -> str:
    return _KINDS.get(part.label, part.label)


def _join(items: list[Part], first: int, coordinator: int, edges: dict[int, Dependency]) -> None:
    """Replace the items from the first conjunct on by that conjunct."""
    leader, last = items[first], items[-1]
    for at in range(first + 1, len(items)):
        part = items[at]
        head = leader
        if part.label in _COORDINATORS:
            relation = "cc"
        elif part.label in PUNCTUATION:
            relation = "punct"
        elif at > coordinator and part is not last:
            head, relation = last, relation_of(last.family, part, last, before=True)
        else:
            relation = "conj"
        edges[part.head] = Dependency(head.head, relation, part.head)
    del items[first + 1 :]
