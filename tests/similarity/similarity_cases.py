"""Labels, vectors and similarities that the tests of this folder share."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from kernelwood.similarity import (
    Compositional,
    Exact,
    Exponential,
    Gaussian,
    Lexical,
    Sigmoid,
    Table,
    Threshold,
)
from kernelwood.vectors import Vectors

WORDS = ["play", "strum", "guitar", "piano", "blue"]
KEYS = ["play::v", "play", "strum", "guitar::n", "piano::n", "blue::j", "*", "NN", ","]
PARTS = ["v", "n", ""]


def random_vectors(seed=0, dim=4, keys=KEYS):
    return Vectors(keys, np.random.default_rng(seed).normal(size=(len(keys), dim)))


def on_circle(n, keys=None):
    """Return ``n`` words with unit vectors at equal angles, and the words."""
    words = keys or [f"w{i}" for i in range(n)]
    angles = [2 * math.pi * i / n for i in range(n)]
    return Vectors(words, [[math.cos(x), math.sin(x)] for x in angles]), words


VECTORS = random_vectors()

# One object of each class and of every option that changes a formula.
VARIANTS = [
    Exact(),
    Gaussian(VECTORS),
    Sigmoid(VECTORS),
    Exponential(VECTORS),
    Exponential(VECTORS, floor=0.25),
    Exponential(VECTORS, floor=-0.5),
    Threshold(VECTORS),
    Threshold(VECTORS, floor=-0.25),
    Threshold(VECTORS, floor=1.0),
    Lexical(VECTORS),
    Lexical(VECTORS, weight=0.3, floor=0.0),
    Lexical(VECTORS, weight=0.8, floor=0.5),
    Compositional(VECTORS),
    Compositional(VECTORS, head_weight=2.0, modifier_weight=0.5, weight=0.7),
    Compositional(VECTORS, modifier_weight=0, same_relation=False),
    Compositional(VECTORS, operation="product", lexical=False, floor=0.0),
    Compositional(VECTORS, operation="dilation", same_relation=False),
    Compositional(VECTORS, operation="dilation", dilation=0.5, floor=0.0),
    Table(["NN", "play", "LEX##play::v"], [[1, 0.5, 0], [0.5, 0.75, 0.25], [0, 0.25, 1]]),
    Table.from_pairs({("play", "strum"): 0.5, ("NN", "POS##NN"): 0.25, ("blue", "blue"): 0}),
]

every_variant = pytest.mark.parametrize("similarity", VARIANTS, ids=range(len(VARIANTS)))

_words = st.sampled_from([*WORDS, "unknown", "*", "_comma_"])
_tagged = st.builds(lambda w, p: f"{w}::{p}", _words, st.sampled_from([*PARTS, "*"]))
_odd = st.sampled_from(["", "::", "##", "LEX##", "POS##", "COMP##a<b", "COMP##r<,>", "::n", "X##"])

labels = st.one_of(
    _words,
    _tagged,
    _tagged.map("LEX##{}".format),
    _words.map("LEX##{}".format),
    _words.map("NOTYPE##{}".format),
    st.sampled_from(["POS##NN", "POS##play", "SYNT##dobj", "SYNT##play::v", "OTHER##play", "NN"]),
    st.builds(
        "COMP##{}<{},{}>".format,
        st.sampled_from(["dobj", "nsubj", ""]),
        st.one_of(_tagged, _words),
        st.one_of(_tagged, _words),
    ),
    _odd,
)


def sample_labels():
    """Return labels of all kinds, always the same ones."""
    tagged = [f"{w}::{p}" for w in [*WORDS, "unknown"] for p in ("v", "n")]
    pairs = [f"COMP##{r}<{a},{b}>" for r in ("dobj", "") for a in tagged for b in tagged[::5]]
    plain = [*WORDS, "unknown", "NOTYPE##play", "LEX##play", "POS##NN", "SYNT##dobj", "NN"]
    odd = ["", "::", "##", "COMP##dobj<play", "COMP##root<*::*,play::v>", "COMP##r<*::*,*::*>"]
    return [*plain, *tagged, *(f"LEX##{x}" for x in tagged), *pairs, *odd]


def by_definition(resolution, i, j):
    """Return the similarity of two labels from what a resolution promises, in plain Python."""
    if resolution.groups[i] != resolution.groups[j]:
        return 0.0
    if resolution.table is not None:
        return float(resolution.table(np.array([i]), np.array([j]))[0, 0])
    a, b = int(resolution.rows[i]), int(resolution.rows[j])
    if a < 0 or b < 0:
        assert i == j, "a label without a vector shares its group"
        return 1.0
    u, v = (resolution.vectors[row].astype(float).tolist() for row in (a, b))
    c = sum(x * y for x, y in zip(u, v, strict=True)) / (math.hypot(*u) * math.hypot(*v))
    floor, function = resolution.floor, resolution.function
    if function == "gaussian":
        return math.exp(-(2 - 2 * c))
    if function == "sigmoid":
        return (1 + math.tanh(c)) / 2
    if function == "exponential":
        return math.exp(c - 1) * (1 if floor is None else max(0, (c - floor) / (1 - floor)))
    if function == "threshold":
        return float(c >= floor)
    assert function == "cosine"
    return 0.0 if resolution.weight * c < floor else resolution.weight * c
