"""What a constituent is to the head of the constituent around it.

The relations are a readable part of the basic Stanford dependencies [1]_. They are read off the
configuration alone: an NP before a VP is its subject, an NP after a verb its object. Where the
configuration does not tell, the relation is ``dep``.

===============  =====================================================================
relation         of
===============  =====================================================================
nsubj, nsubjpass the subject of a verb or of what is said with *be*; of a passive verb
expl             *there*
dobj             the first NP after a verb
prep, pobj       a PP, and the NP after its preposition; pcomp if it is a clause
aux, auxpass     auxiliaries, modals and *to*; *be* of a passive verb
cop              *be* before what is said of the subject
neg, advmod      *not*; other adverbs
acomp            an ADJP after a verb
ccomp, xcomp     a clause that completes a verb; one without subject
advcl, mark      other subordinate clauses; the word that opens one
csubj            a clause that is a subject
rcmod, vmod      a relative clause; a participle or infinitive that modifies a noun
det, predet      articles and the like; those before an article
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
.. [1] M.-C. de Marneffe, B. MacCartney, C. Manning, "Generating typed dependency parses from
   phrase structure parses", LREC 2006.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["BE", "CLAUSES", "NOUNS", "NOUN_PHRASES", "PUNCTUATION", "VERBS", "Part", "relation_of"]

PUNCTUATION = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP", "-NONE-"})
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
NOUN_PHRASES = frozenset({"NP", "NX", "NML", "NAC", "WHNP"})
CLAUSES = frozenset({"S", "SINV", "SQ", "SBARQ"})
VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD", "TO", "AUX", "AUXG"})
BE = frozenset("be am is are was were been being 's 're 'm".split())

_NEGATIONS = frozenset({"not", "n't"})
_COMPLEMENTIZERS = frozenset({"", "that", "whether"})
_NUMBERS = frozenset({"CD", "QP"})


class Part(NamedTuple):
    """A constituent as those around it see it.

    Attributes
    ----------
    label : str
        Its label without function tags; of a word its part of speech, "" if it has none.
    head : int
        The token that is its head.
    word, tag : str
        The word of that token in lower case, and its part of speech.
    family : str
        The kind of phrase: ``"clause"``, ``"verb"``, ``"noun"`` and so on, "" of a word.
    verb : str
        Part of speech of the first verb of a VP or clause.
    passive, has_subject : bool
        Whether its verb is passive; whether it is a clause with a subject.
    opener : str
        The word or phrase that opens a subordinate clause: a word in lower case, or a label
        such as ``WHNP``.
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


def relation_of(family: str, part: Part, head: Part, *, before: bool, again: bool = False) -> str:
    """Return the relation of a part of a constituent to the part that is the head.

    Parameters
    ----------
    family : str
        The kind of the constituent, see `Part`.
    part, head : Part
        The one that depends and the one it depends on.
    before : bool
        Whether ``part`` comes first.
    again : bool
        Whether a part of the same kind stands between the two.

    Examples
    --------
    >>> raf = Part("NP", 0, "raf", "NN", "noun")
    >>> binds = Part("VP", 1, "binds", "VBZ", "verb", verb="VBZ")
    >>> relation_of("clause", raf, binds, before=True)
    'nsubj'
    >>> relation_of("verb", raf, binds, before=False)
    'dobj'
    """
    if part.label in PUNCTUATION:
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


def _in_clause(part: Part, head: Part, before: bool, again: bool) -> str:
    if part.label in VERBS:
        return _auxiliary(part, head) if before else "dep"
    if part.family == "noun":
        if again or head.family == "noun":
            return "dep"
        if not before:
            return "dobj" if head.label in VERBS else "dep"
        return "expl" if part.tag == "EX" else _subject(head)
    if part.family == "subordinate":
        if part.opener in _COMPLEMENTIZERS or part.opener in ("WHNP", "WHPP"):
            return "csubj" if before and not head.has_subject else "ccomp"
        return "advcl"
    if part.family == "clause":
        return "advcl" if before and not part.has_subject else "parataxis"
    return "advcl" if part.label == "VP" else ""


def _in_verb_phrase(part: Part, head: Part, before: bool, again: bool) -> str:
    if part.label in VERBS:
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


def _in_noun_phrase(part: Part, head: Part, before: bool, again: bool) -> str:
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


def _in_prepositional_phrase(part: Part, head: Part, before: bool, again: bool) -> str:
    if before:
        return "npadvmod" if part.family == "noun" else ""
    if part.family == "noun" or part.label in NOUNS or part.label in _NUMBERS:
        return "pobj"
    if part.label in ("PRP", "FW", "DT"):
        return "pobj"
    return "pcomp" if part.family in ("clause", "subordinate", "verb", "preposition") else ""


def _in_subordinate_clause(part: Part, head: Part, before: bool, again: bool) -> str:
    if part.label in ("IN", "TO", "DT") or part.word == "whether":
        return "mark"
    if part.family == "noun" and before:
        return "dobj" if head.has_subject else _subject(head)
    return ""


def _in_modifier(part: Part, head: Part, before: bool, again: bool) -> str:
    if part.family == "noun" or part.label in NOUNS:
        return "npadvmod"
    if part.family == "subordinate":
        return "ccomp" if part.opener in _COMPLEMENTIZERS else "advcl"
    if part.family == "clause":
        return "ccomp" if part.has_subject else "xcomp"
    if part.label in ("JJ", "VBN", "VBG", "ADJP"):
        return "amod"
    return "num" if part.label in _NUMBERS else ""


def _in_number(part: Part, head: Part, before: bool, again: bool) -> str:
    return "number" if part.label in _NUMBERS else "quantmod"


def _auxiliary(verb: Part, head: Part) -> str:
    if verb.word in BE and verb.tag.startswith(("VB", "AUX")):
        if head.family != "verb":
            return "cop"
        return "auxpass" if head.verb == "VBN" else "aux"
    return "aux"


def _subject(head: Part) -> str:
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
