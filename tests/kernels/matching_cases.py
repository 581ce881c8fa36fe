"""Labels of all kinds, similarities of all classes, and parameters of all kernels."""

from itertools import takewhile

import numpy as np
import pytest
import strategies
from cases import MATCHABLE
from hypothesis import strategies as st

from kernelwood.arrays import SequenceBatch
from kernelwood.kernels import KERNELS
from kernelwood.similarity import (
    Compositional,
    Exact,
    Exponential,
    Gaussian,
    Lexical,
    Sigmoid,
    Similarity,
    Table,
    Threshold,
)
from kernelwood.structures import Sequence, Tree
from kernelwood.vectors import Vectors

_KEYS = ["play::v", "play", "strum", "guitar::n", "piano::n", "né"]
VECTORS = Vectors(_KEYS, np.random.default_rng(5).normal(size=(len(_KEYS), 3)))

# With a vector and without; words, tags, relations, and what cannot be read.
LABELS = [
    *("play", "strum", "né", "unknown", "", "::"),
    *("LEX##play::v", "strum::v", "LEX##guitar::n", "LEX##piano::n", "LEX##unknown::n"),
    *("POS##NN", "SYNT##play", "COMP##dobj<play::v"),
    *("COMP##dobj<play::v,guitar::n>", "COMP##dobj<strum::v,piano::n>"),
    *("COMP##nsubj<strum::v,guitar::n>", "COMP##dobj<play::v,unknown::n>"),
]


class SharedPrefix(Similarity):
    """How much of the longer label is a prefix of both; some labels are 0 to themselves."""

    def table(self, left, right):
        return [[self._shared(a, b) for b in right] for a in left]

    def _shared(self, a, b):
        same = takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))
        return len([*same]) / max(len(a), len(b), 1)


# One object of each class, with options that change formulas.
SIMILARITIES = {
    "exact": Exact(),
    "gaussian": Gaussian(VECTORS),
    "sigmoid": Sigmoid(VECTORS),
    "exponential": Exponential(VECTORS),
    "exponential-floor": Exponential(VECTORS, floor=0.6),
    "lexical": Lexical(VECTORS),
    "lexical-weight": Lexical(VECTORS, weight=0.5, floor=0.2),
    "sum": Compositional(VECTORS),
    "product": Compositional(VECTORS, operation="product", same_relation=False, floor=0.0),
    "dilation": Compositional(VECTORS, operation="dilation", lexical=False, weight=0.75),
    "table": Table(["", "play", "POS##NN"], [[0.5, 0.25, 0], [0.25, 1, 0.125], [0, 0.125, 0]]),
    "own": SharedPrefix(),
    "threshold": Threshold(VECTORS, floor=0.25),
}
every_similarity = pytest.mark.parametrize(
    "similarity", SIMILARITIES.values(), ids=SIMILARITIES.keys()
)

_DECAYS = st.sampled_from([0.3, 0.8, 1.0])
PARAMETERS = {
    "subsequence": {"decay": _DECAYS, "max_length": st.sampled_from([None, 1, 2, 3, 4, 7])},
    "rooted-tree": {"decay": _DECAYS, "contiguous": st.booleans()},
    "subtree": {"decay": _DECAYS},
    "subset-tree": {"decay": _DECAYS, "count_leaves": st.booleans()},
    "partial-tree": {
        "decay": _DECAYS,
        "depth_decay": _DECAYS,
        "leaf_power": st.sampled_from([0, 1, 2, 3.5]),
        "terminal_factor": st.sampled_from([0.2, 1.0, 5.0]),
        "decay_over": st.sampled_from(["gaps", "span"]),
    },
}
every_name = pytest.mark.parametrize("name", MATCHABLE)
tree_names = [name for name in MATCHABLE if KERNELS[name].accepts is not SequenceBatch]


def gates(keys, values=(0, 1e-3, 0.25, 1, 2.0, 7.5)):
    """Gates for some of the keys, or none at all."""
    return st.none() | st.dictionaries(st.sampled_from(keys), st.sampled_from(values), max_size=4)


def kernels(name, labels, *, raw=True, **fixed):
    """Kernels of a row of ``KERNELS`` with any parameters and any gates on edges or nodes."""
    anywhere = st.one_of(
        st.tuples(st.just("edge"), gates(strategies.EDGES)),
        st.tuples(st.just("node"), gates(labels)),
    )
    return st.builds(
        lambda parameters, where: KERNELS[name](
            **{"gate_on": where[0], "gates": where[1], "normalize": not raw, **parameters, **fixed}
        ),
        st.fixed_dictionaries(PARAMETERS[name]),
        anywhere,
    )


def structures(name, labels, *, max_size=5, min_size=1):
    """Lists of structures that a kernel reads, with labels from a list."""
    of = st.sampled_from(labels)
    one = strategies.trees(of=of) if name in tree_names else strategies.sequences(of=of)
    return st.lists(one, min_size=min_size, max_size=max_size)


def relabeled(structure, rename):
    """Return a structure with every (edge, label) replaced by what ``rename`` returns."""
    if isinstance(structure, Sequence):
        return Sequence([rename(edge, label) for edge, label in structure])
    labels, edges, n_children = structure.flatten()
    pairs = [rename(edge, label) for edge, label in zip(edges, labels, strict=True)]
    return Tree.from_postorder(
        [label for _, label in pairs], [edge for edge, _ in pairs], n_children
    )


def constant(labels, similarity, own=1.0):
    """Return a table in which all different labels are equally similar."""
    n = len(labels)
    return Table(list(labels), np.full((n, n), similarity) + (own - similarity) * np.eye(n))
