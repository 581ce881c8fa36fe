"""Parsed sentences to test with."""

import random

import kernelwood as kw

SUBJECTS = ["cats", "dogs", "we", "they", "birds"]
VERBS = ["see", "eat", "sing", "find", "like"]
OBJECTS = ["songs", "fish", "trees", "books", "rain"]


def sentence(subject, verb, *rest, **parts):
    """Return a subject, a verb, and perhaps an object and an adverb, with dependencies."""
    relations = ["obj", "advmod"]
    edges = [(-1, "root", 1), (1, "nsubj", 0)]
    edges += [(1, relation, place) for place, relation in enumerate(relations[: len(rest)], 2)]
    return kw.Sentence.from_words([subject, verb, *rest], dependencies=edges, **parts)


def sentences(n, *, seed=0):
    """Return ``n`` random sentences, always the same ones."""
    rng = random.Random(seed)
    made = []
    for _ in range(n):
        rest = [rng.choice(OBJECTS), rng.choice(["today", "often"])][: rng.randint(0, 2)]
        made.append(sentence(rng.choice(SUBJECTS), rng.choice(VERBS), *rest))
    return made
