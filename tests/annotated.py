"""Small annotated corpora for tests of extractors."""

from __future__ import annotations

import kernelwood as kw

NAMES = ["Raf", "Ras", "Mek", "Erk", "Sos", "Grb", "Src", "Abl", "Myc", "Jun"]

# Words, dependencies, and the relation: its type, the places of its arguments. @ is an entity.
PATTERNS = [
    ("@ activates @ here", [(1, "nsubj", 0), (1, "dobj", 2), (1, "advmod", 3)],
     ("Activates", 0, 2)),
    ("@ is activated by @", [(2, "nsubjpass", 0), (2, "auxpass", 1), (2, "agent", 4)],
     ("Activates", 4, 0)),
    ("@ binds @ well", [(1, "nsubj", 0), (1, "dobj", 2), (1, "advmod", 3)], ("Binds", 0, 2)),
    ("binding of @ to @", [(0, "prep_of", 2), (0, "prep_to", 4)], ("Binds", 2, 4)),
    ("@ and @ were studied", [(4, "nsubjpass", 0), (0, "conj_and", 2), (4, "auxpass", 3)], None),
    ("@ , unlike @ , is small", [(6, "nsubj", 0), (6, "prep_unlike", 3), (6, "cop", 5)], None),
    ("we saw @ or @", [(1, "nsubj", 0), (1, "dobj", 2), (2, "conj_or", 4)], None),
]  # fmt: skip


def sentence(pattern, first, second):
    """Return the sentence of a pattern about two entities."""
    template, arcs, relation = PATTERNS[pattern]
    given = iter((first, second))
    words = [next(given) if word == "@" else word for word in template.split()]
    places = [i for i, word in enumerate(template.split()) if word == "@"]
    starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
    entities = [
        kw.text.Entity(f"e{i}", "protein", ((starts[i], starts[i] + len(words[i])),), words[i])
        for i in places
    ]
    relations = []
    if relation is not None:
        kind, source, target = relation
        ends = (kw.text.Argument("Arg1", f"e{source}"), kw.text.Argument("Arg2", f"e{target}"))
        relations = [kw.text.Relation("r1", kind, ends)]
    return kw.Sentence.from_words(words, dependencies=arcs, entities=entities, relations=relations)


def documents(n=8, start=0, patterns=None):
    """Return the sentences of some documents, one of each pattern."""
    return [
        kw.Example(
            f"d{d}.s{p}",
            views={"sentence": sentence(p, _name(d, d + p), _name(d, d + 2 * p + 4))},
        )
        for d in range(start, start + n)
        for p in (range(len(PATTERNS)) if patterns is None else patterns)
        if NAMES[(d + p) % 10] != NAMES[(d + 2 * p + 5) % 10 - 1]
    ]


def _name(d, number):
    """Return a name; documents after the tenth have names of their own."""
    return NAMES[number % 10] + (str(d // 10) if d >= 10 else "")


def event_sentence(trigger, kind, acting):
    """Return a sentence in which Sos acts on Ras, if it does, named by a trigger."""
    words = ["Sos", trigger, "Ras", "near", "Raf"]
    starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
    spans = [((starts[i], starts[i] + len(words[i])),) for i in range(len(words))]
    entities = [kw.text.Entity(f"T{i}", "Protein", spans[i], words[i]) for i in (0, 2, 4)]
    events = []
    if acting:
        entities.append(kw.text.Entity("T9", kind, spans[1], trigger))
        roles = (kw.text.Argument("Theme", "T2"), kw.text.Argument("Cause", "T0"))
        events = [kw.text.Event("E1", kind, "T9", roles)]
    return kw.Sentence.from_words(
        words,
        dependencies=[(1, "nsubj", 0), (1, "dobj", 2), (1, "prep_near", 4)],
        entities=entities,
        events=events,
    )


def event_documents(n=6):
    """Return documents with events of two types."""
    rows = [("promotes", "Positive", True), ("blocks", "Negative", True), ("is", "", False)]
    return [
        kw.Example(f"d{d}.s{i}", views={"sentence": event_sentence(*row)})
        for d in range(n)
        for i, row in enumerate(rows)
    ]
