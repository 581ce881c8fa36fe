"""A few annotated sentences about proteins, for commands to learn relations from."""

from __future__ import annotations

import kernelwood as kw

# Words with places for two proteins, dependencies, and whether they interact.
_PATTERNS = [
    ("{} binds {}", [(1, "nsubj", 0), (1, "dobj", 2)], True),
    ("{} strongly binds {}", [(2, "nsubj", 0), (2, "advmod", 1), (2, "dobj", 3)], True),
    ("{} binds to {}", [(1, "nsubj", 0), (1, "prep_to", 3)], True),
    ("{} sits beside {}", [(1, "nsubj", 0), (1, "prep_beside", 3)], False),
    ("{} and {} were seen", [(4, "nsubjpass", 0), (0, "conj_and", 2), (4, "aux", 3)], False),
    ("{} , unlike {} , is small", [(6, "nsubj", 0), (6, "prep_unlike", 3)], False),
]
_NAMES = ["Raf", "Ras", "Mek", "Erk", "Sos", "Grb", "Src", "Abl"]


def a_sentence(pattern, first, second, kind="binds"):
    """Return a sentence of a pattern with two entities, and a relation if the pattern has one."""
    template, arcs, interact = _PATTERNS[pattern]
    words = template.format(first, second).split()
    starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
    entities = [
        kw.text.Entity(name, "protein", ((start, start + len(word)),), word)
        for name, word in (("e1", first), ("e2", second))
        for start in [starts[words.index(word)]]
    ]
    ends = (kw.text.Argument("", "e1"), kw.text.Argument("", "e2"))
    return kw.Sentence.from_words(
        words,
        dependencies=arcs,
        entities=entities,
        relations=[kw.text.Relation("r1", kind, ends)] if interact else [],
    )


def some_documents(n_documents=8, kind="binds", start=0):
    """Return six sentences, half of them with a relation, for each of some documents."""
    examples = []
    for d in range(start, start + n_documents):
        for p in range(len(_PATTERNS)):
            first, second = _NAMES[(d + p) % 8], _NAMES[(d + 2 * p + 3) % 8]
            if first == second:
                second = "Akt"
            if d >= 8:  # no sentence twice
                first, second = f"{first}{d // 8}", f"{second}{d // 8}"
            sentence = a_sentence(p, first, second, kind)
            examples.append(kw.Example(f"d{d}.s{p}", views={"sentence": sentence}))
    return examples
