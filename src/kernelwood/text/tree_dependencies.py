"""Dependencies from constituency trees, by head rules.

In every constituent one part is the head, and its head word is that of the whole; all other parts
depend on it. Tables of priorities select the head, after Collins [1]_ and with content words as
heads, as in the Stanford dependencies:

- The head of a noun phrase is its last noun, or its first noun phrase if it has no noun of its own.
- The head of a verb phrase is its content verb; auxiliaries, modals and *to* depend on it. With a
  form of *be* the head is the predicate: *inhibitor* in *is an inhibitor*, *active* in *is active*.
- The head of a prepositional phrase is its preposition.
- The head of a coordination is its first conjunct; the others depend on it (``conj``), and so do
  conjunctions and commas. Words coordinated inside a noun phrase are joined first: *levels* is the
  head of *protein and mRNA levels*, and *mRNA* depends on *protein*.
- For labels without a rule (FRAG, PRN, UCP, X, those of other treebanks), the head is the first
  clause, verb phrase, noun phrase or other phrase; else the first verb, the last noun, the first
  word that is not punctuation, the first word.

Traces are treated as words, so remove them first, as `kernelwood.Sentence.from_tree` does. The time
is linear in the size of the tree, at any depth.

The relations are a readable part of the basic Stanford dependencies [2]_. They follow from the
configuration alone: an NP before a VP is its subject, an NP after a verb its object. Where the
configuration is ambiguous, the relation is ``dep``.

===============  =====================================================================
relation         dependent
===============  =====================================================================
nsubj, nsubjpass the subject of a verb or predicate; of a passive verb
expl             *there*
dobj             the first NP after a verb
prep, pobj       a PP, and the NP after its preposition; pcomp if it is a clause
aux, auxpass     auxiliaries, modals and *to*; *be* of a passive verb
cop              *be* before a predicate
neg, advmod      *not*; other adverbs
acomp            an ADJP after a verb
ccomp, xcomp     a clause that completes a verb; one without subject
advcl, mark      other subordinate clauses; the word that opens one
csubj            a clause that is a subject
rcmod, vmod      a relative clause; a participle or infinitive that modifies a noun
det, predet      determiners; determiners before an article
poss, possessive a possessor; its *'s*
amod, num, nn    adjectives, numbers and nouns before a noun
appos            an NP after the NP it explains, in brackets or not
npadvmod         a noun that modifies an adjective or adverb
number, quantmod numbers and words inside of numbers
conj, cc         further conjuncts, conjunctions; preconj for *both* and *either*
prt, parataxis   particles; clauses side by side
punct, dep       punctuation; anything else
root             the head of the sentence
===============  =====================================================================

References
----------
.. [1] M. Collins, "Head-driven statistical models for natural language parsing", PhD thesis,
   University of Pennsylvania, 1999.
.. [2] M.-C. de Marneffe, B. MacCartney, C. Manning, "Generating typed dependency parses from
   phrase structure parses", LREC 2006.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from kernelwood.structures import Tree
from kernelwood.text.annotation import ROOT, Dependency
from kernelwood.text.sentence import Sentence

NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_PUNCTUATION = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP", "-NONE-"})
_NOUN_PHRASES = frozenset({"NP", "NX", "NML", "NAC", "WHNP"})
_CLAUSES = frozenset({"S", "SINV", "SQ", "SBARQ"})
_VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD", "TO", "AUX", "AUXG"})
_BE = frozenset("be am is are was were been being 's 're 'm".split())

_NEGATIONS = frozenset({"not", "n't"})
_COMPLEMENTIZERS = frozenset({"", "that", "whether"})
_NUMBERS = frozenset({"CD", "QP"})

_DECORATION = re.compile(r"[-=|]")
_LEFT, _RIGHT = False, True  # side where the search for a head begins

_FAMILIES = {
    **dict.fromkeys(_CLAUSES, "clause"),
    **dict.fromkeys(_NOUN_PHRASES, "noun"),
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

# For each label, by priority: direction of the search, and the labels that may be the head.
_Rule = tuple[bool, Collection[str]]
_RULES: dict[str, tuple[_Rule, ...]] = {
    **dict.fromkeys(
        _CLAUSES,
        (
            (_LEFT, ("VP",)),
            (_LEFT, _CLAUSES),
            (_LEFT, _VERBS - {"TO"}),
            (_LEFT, ("ADJP", "UCP")),
            (_LEFT, ("NP", "SBAR")),
        ),
    ),
    "SBAR": ((_LEFT, ("S", "SQ", "SINV")), (_LEFT, ("SBAR", "FRAG", "VP"))),
    "VP": ((_LEFT, ("VP",)), (_LEFT, _VERBS - {"TO"}), (_LEFT, ("TO", "ADJP", "NP", "S"))),
    **dict.fromkeys(
        _NOUN_PHRASES,
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
    (_LEFT, _CLAUSES),
    (_LEFT, ("VP",)),
    (_LEFT, _NOUN_PHRASES),
    (_LEFT, ("PP", "ADJP", "ADVP", "SBAR", "UCP", "QP", "PRN")),
    (_LEFT, _VERBS - {"TO"}),
    (_RIGHT, NOUNS),
)

_COORDINATORS = frozenset({"CC", "CONJP"})
_SEPARATORS = frozenset({",", ":"})
_BETWEEN_CONJUNCTS = _COORDINATORS | _SEPARATORS | {"HYPH"}  # and/or
_BESIDE_CONJUNCTS = frozenset({"ADVP", "RB", "PRN"}) | _PUNCTUATION
_KINDS = {
    **dict.fromkeys(NOUNS | {"FW"}, "noun"),
    **dict.fromkeys(("JJ", "JJR", "JJS", "VBN", "VBG", "ADJP"), "adjective"),
    **dict.fromkeys(_NOUN_PHRASES, "noun phrase"),
    **dict.fromkeys(("S", "SINV"), "clause"),
    **dict.fromkeys(("VB", "VBD", "VBP", "VBZ"), "verb"),
}


def base_label(label: str) -> str:
    """Return a label without function tags, indices and alternatives.

    Labels that begin with a hyphen, such as ``-LRB-``, are returned unchanged.

    Examples
    --------
    >>> [base_label(label) for label in ("NP-SBJ-1", "ADVP|PRT", "PP=2", "-LRB-", "PRP$")]
    ['NP', 'ADVP', 'PP', '-LRB-', 'PRP$']
    """
    found = None if label.startswith("-") else _DECORATION.search(label, 1)
    return label[: found.start()] if found else label


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
    ``ROOT`` (-1) and the relation ``root``. The docstring of this module lists the relations.

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
    """Return the dependencies of a sentence, or those of its tree if it has none.

    Examples
    --------
    >>> sentence = Sentence.from_tree(Tree.from_brackets("(S (NP (PRP we)) (VP (VBP go)))"))
    >>> sentence.dependencies, dependencies_of(sentence)[0]
    ((), Dependency(head=1, relation='nsubj', dependent=0))
    """
    if sentence.dependencies or sentence.tree is None or not sentence.tokens:
        return sentence.dependencies
    return dependencies_of_tree(sentence.tree)


class _Part(NamedTuple):
    """The properties of a constituent that its surroundings depend on.

    Attributes
    ----------
    label : str
        Label without function tags; for a word its part of speech, "" if it has none.
    head : int
        Index of the head token.
    word, tag : str
        Head word in lower case, and its part of speech.
    family : str
        Kind of phrase: ``"clause"``, ``"verb"``, ``"noun"`` and so on; "" for a word.
    verb : str
        _Part of speech of the first verb of a VP or clause.
    passive, has_subject : bool
        Whether its verb is passive; whether it is a clause with a subject.
    opener : str
        First word of a subordinate clause in lower case, or a label such as ``WHNP``.
    possessive : bool
        Whether it ends in *'s*.
    """

    label: str
    head: int
    word: str
    tag: str
    family: str = ""
    verb: str = ""
    passive: bool = False
    has_subject: bool = False
    opener: str = ""
    possessive: bool = False


def _percolate(tree: Tree) -> tuple[dict[int, Dependency], tuple[int, ...]]:
    """Return the dependency of every leaf but one, and the head of every node in post-order."""
    edges: dict[int, Dependency] = {}
    heads: list[int] = []
    ready: list[_Part] = []
    n_leaves = 0
    for node in tree.postorder():
        if node.is_leaf:
            ready.append(_Part("", n_leaves, node.label.lower(), ""))
            n_leaves += 1
        else:
            count = len(node.children)
            parts = ready[-count:]
            del ready[-count:]
            label = base_label(node.label)
            if count == 1 and node.children[0].is_leaf:
                ready.append(_tagged(label, parts[0]))
            else:
                ready.append(_combine(label, parts, edges))
        heads.append(ready[-1].head)
    return edges, tuple(heads)


def _tagged(tag: str, leaf: _Part) -> _Part:
    verb = tag if tag in _VERBS else ""
    opener = leaf.word if tag in ("IN", "WRB", "TO") else ""
    return _Part(tag, leaf.head, leaf.word, tag, _FAMILIES.get(tag, ""), verb, opener=opener)


def _combine(label: str, parts: list[_Part], edges: dict[int, Dependency]) -> _Part:
    """Return a constituent and add the dependencies on its head to ``edges``."""
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
            relation = _relation_of(family, part, head, before=before, again=again)
            edges[part.head] = Dependency(head.head, relation, part.head)
    return _describe(label, family, parts, items, head)


def _describe(
    label: str, family: str, parts: list[_Part], items: list[_Part], head: _Part
) -> _Part:
    """Return a constituent with its properties."""
    first = next((part for part in items if part.label not in _BESIDE_CONJUNCTS), items[0])
    own = next((part for part in items if part.label in _VERBS), None)
    passive = head.passive
    if own is not None and own.word in _BE and head.label == "VP" and head.verb == "VBN":
        passive = True
    subject = family == "clause" and any(
        part.family == "noun" and part.head < head.head and part is not head for part in items
    )
    if first.family in ("noun", "modifier", "preposition") and first.label.startswith("WH"):
        opener = first.label
    else:
        opener = first.word if first.label in ("IN", "TO", "WRB", "DT") else ""
    return _Part(
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
    return "verb" if tag in _VERBS else ""


def _find_head(label: str, items: list[_Part]) -> int:
    if len(items) == 1:
        return 0
    if label in ("VP", "SQ", "SINV"):
        said = _predicate_of_be(items)
        if said is not None:
            return said
    places = range(len(items))
    for from_right, wanted in (*_RULES.get(label, ()), *_OTHERWISE):
        for place in reversed(places) if from_right else places:
            if items[place].label in wanted:
                return place
    words = (at for at, part in enumerate(items) if part.label not in _PUNCTUATION)
    return next(words, 0)


def _predicate_of_be(items: list[_Part]) -> int | None:
    """Return the index of the predicate after a form of *be*, None if there is none."""
    verb = next((at for at, part in enumerate(items) if part.label in _VERBS), None)
    if verb is None or items[verb].word not in _BE or any(part.label == "VP" for part in items):
        return None
    after = range(verb + 1, len(items))
    return next((at for at in after if items[at].label in _PREDICATES), None)


def _coordinate(label: str, parts: list[_Part], edges: dict[int, Dependency]) -> list[_Part]:
    """Return the parts, with each coordination replaced by its first conjunct."""
    if all(part.label not in _COORDINATORS for part in parts):
        return parts
    items: list[_Part] = []
    coordinator: int | None = None
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


def _first_conjunct(label: str, items: list[_Part], coordinator: int) -> int:
    """Return the index of the first conjunct of the coordination that the last item ends.

    To the left of the conjunction, conjuncts and commas must alternate.
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


def _kind(part: _Part) -> str:
    return _KINDS.get(part.label, part.label)


def _join(items: list[_Part], first: int, coordinator: int, edges: dict[int, Dependency]) -> None:
    """Merge the items after the first conjunct into it."""
    leader, last = items[first], items[-1]
    for at in range(first + 1, len(items)):
        part = items[at]
        head = leader
        if part.label in _COORDINATORS:
            relation = "cc"
        elif part.label in _PUNCTUATION:
            relation = "punct"
        elif at > coordinator and part is not last:
            head, relation = last, _relation_of(last.family, part, last, before=True)
        else:
            relation = "conj"
        edges[part.head] = Dependency(head.head, relation, part.head)
    del items[first + 1 :]


def _relation_of(
    family: str, part: _Part, head: _Part, *, before: bool, again: bool = False
) -> str:
    """Return the relation of a part to the head of a constituent of some family.

    ``before`` says whether the part precedes the head, ``again`` whether a part of the same kind
    is between the two.
    """
    if part.label in _PUNCTUATION:
        return "punct"
    if part.label in ("CC", "CONJP"):
        return "preconj" if before else "cc"
    if part.word in _NEGATIONS and part.tag == "RB":
        return "neg"
    special = _SPECIAL.get(family)
    found = special(part, head, before, again) if special is not None else ""
    return found or _GENERAL.get(part.label, "dep")


_GENERAL = {
    "PP": "prep",
    "WHPP": "prep",
    "ADVP": "advmod",
    "WHADVP": "advmod",
    "RB": "advmod",
    "RBR": "advmod",
    "RBS": "advmod",
    "WRB": "advmod",
    "DT": "det",
    "WDT": "det",
    "PDT": "predet",
    "PRP$": "poss",
    "WP$": "poss",
    "POS": "possessive",
    "PRT": "prt",
    "RP": "prt",
    "EX": "expl",
}


def _in_clause(part: _Part, head: _Part, before: bool, again: bool) -> str:
    if part.label in _VERBS:
        return _auxiliary(part, head) if before else "dep"
    if part.family == "noun":
        if again or head.family == "noun":
            return "dep"
        if not before:
            return "dobj" if head.label in _VERBS else "dep"
        return "expl" if part.tag == "EX" else _subject(head)
    if part.family == "subordinate":
        if part.opener in _COMPLEMENTIZERS or part.opener in ("WHNP", "WHPP"):
            return "csubj" if before and not head.has_subject else "ccomp"
        return "advcl"
    if part.family == "clause":
        return "advcl" if before and not part.has_subject else "parataxis"
    return "advcl" if part.label == "VP" else ""


def _in_verb_phrase(part: _Part, head: _Part, before: bool, again: bool) -> str:
    if part.label in _VERBS:
        return _auxiliary(part, head) if before else "dep"
    if part.family == "noun" or part.label in NOUNS:
        return "dep" if before or again else "dobj"
    if part.family == "subordinate":
        asks = part.opener in _COMPLEMENTIZERS or part.opener in ("WHNP", "WHPP")
        return "ccomp" if asks and not before else "advcl"
    if part.family == "clause":
        if part.has_subject:
            return "ccomp"
        return "advcl" if before or again else "xcomp"
    return "acomp" if part.label in ("ADJP", "JJ") else ""


def _in_noun_phrase(part: _Part, head: _Part, before: bool, again: bool) -> str:
    if part.label in _NUMBERS:
        return "num" if before else "dep"
    if part.label in ("ADJP", "JJ", "JJR", "JJS", "VBN", "VBG", "VBD", "UCP", "WHADJP"):
        return "amod"
    if part.label in NOUNS or part.label in ("FW", "SYM"):
        return "nn" if before else "dep"
    if part.family == "noun":
        return ("poss" if part.possessive else "nn") if before else "appos"
    if part.label == "PRN":
        return "appos" if part.tag in NOUNS else "dep"
    if part.label == "SBAR":
        return "ccomp" if part.opener == "that" and part.has_subject else "rcmod"
    if part.label == "VP" or (part.family == "clause" and not part.has_subject):
        return "vmod"
    return "rcmod" if part.family == "clause" else ""


def _in_prepositional_phrase(part: _Part, head: _Part, before: bool, again: bool) -> str:
    if before:
        return "npadvmod" if part.family == "noun" else ""
    if part.family == "noun" or part.label in NOUNS or part.label in _NUMBERS:
        return "pobj"
    if part.label in ("PRP", "FW", "DT"):
        return "pobj"
    return "pcomp" if part.family in ("clause", "subordinate", "verb", "preposition") else ""


def _in_subordinate_clause(part: _Part, head: _Part, before: bool, again: bool) -> str:
    if part.label in ("IN", "TO", "DT") or part.word == "whether":
        return "mark"
    if part.family == "noun" and before:
        return "dobj" if head.has_subject else _subject(head)
    return ""


def _in_modifier(part: _Part, head: _Part, before: bool, again: bool) -> str:
    if part.family == "noun" or part.label in NOUNS:
        return "npadvmod"
    if part.family == "subordinate":
        return "ccomp" if part.opener in _COMPLEMENTIZERS else "advcl"
    if part.family == "clause":
        return "ccomp" if part.has_subject else "xcomp"
    if part.label in ("JJ", "VBN", "VBG", "ADJP"):
        return "amod"
    return "num" if part.label in _NUMBERS else ""


def _in_number(part: _Part, head: _Part, before: bool, again: bool) -> str:
    return "number" if part.label in _NUMBERS else "quantmod"


def _auxiliary(verb: _Part, head: _Part) -> str:
    if verb.word in _BE and verb.tag.startswith(("VB", "AUX")):
        if head.family != "verb":
            return "cop"
        return "auxpass" if head.verb == "VBN" else "aux"
    return "aux"


def _subject(head: _Part) -> str:
    return "nsubjpass" if head.passive else "nsubj"


_SPECIAL = {
    "clause": _in_clause,
    "verb": _in_verb_phrase,
    "noun": _in_noun_phrase,
    "preposition": _in_prepositional_phrase,
    "subordinate": _in_subordinate_clause,
    "modifier": _in_modifier,
    "number": _in_number,
}
