"""Kernels with a similarity compute what their reference defines, whatever else is in a call."""

import math
import random

import numpy as np
import pytest
from cases import MATCHABLE, sample
from hypothesis import given, settings, strategies as st
from matching_cases import (
    LABELS,
    SIMILARITIES,
    VECTORS,
    constant,
    every_name,
    every_similarity,
    gates,
    kernels,
    relabeled,
    structures,
    tree_names,
)
from oracles import exact_value, reference_matrix

import kernelwood as kw
from kernelwood import similarity as similarities
from kernelwood.errors import KernelInputError
from kernelwood.kernels import KERNELS, PartialTreeKernel, SubsequenceKernel, SubsetTreeKernel
from kernelwood.similarity import Exact, Exponential, Gaussian, Lexical, Table, Threshold
from kernelwood.structures import Sequence, Tree
from kernelwood.vectors import Vectors

pytestmark = pytest.mark.filterwarnings("ignore:.*self-similarity 0:RuntimeWarning")

TOLERANCE = {"float64": {"rtol": 1e-9, "atol": 0}, "float32": {"rtol": 3e-5, "atol": 1e-30}}


# A similarity becomes a table, of which a kernel knows no more: two kernels for each, in turn.
two_kernels_for_every_similarity = pytest.mark.parametrize(
    ("name", "similarity"),
    [
        (MATCHABLE[(number + step) % len(MATCHABLE)], similarity)
        for number, similarity in enumerate(SIMILARITIES)
        for step in (0, 2)
    ],
)

# By the definition.


def test_every_class_of_similarities_is_tested():
    assert {*map(type, SIMILARITIES.values())} >= {*similarities.SIMILARITIES.values()}


@two_kernels_for_every_similarity
def test_any_structures_agree_with_the_reference(name, similarity):
    @settings(max_examples=7)
    @given(
        kernels(name, LABELS, similarity=SIMILARITIES[similarity]),
        structures(name, LABELS),
        st.data(),
    )
    def check(kernel, X, data):
        Y = data.draw(structures(name, LABELS, max_size=3))
        right = reference_matrix(kernel, [*X, *Y], [*X, *Y])
        n = len(X)
        for dtype, tolerance in TOLERANCE.items():
            found = {
                "gram": (kernel.gram([*X, *Y], dtype=dtype), right),
                "cross": (kernel.cross(X, Y, dtype=dtype), right[:n, n:]),
                "other way": (kernel.cross(Y, X, dtype=dtype), right[n:, :n]),
                "diag": (kernel.diag(X, dtype=dtype), right.diagonal()[:n]),
                "pairs": (kernel.pairs(X, X[::-1], dtype=dtype), right[range(n), range(n)[::-1]]),
            }
            for verb, (values, expected) in found.items():
                np.testing.assert_allclose(values, expected, **tolerance, err_msg=verb)

    check()


@every_name
@pytest.mark.parametrize("similarity", ["gaussian", "lexical", "own", "exact"])
def test_any_structures_are_normalized_as_the_reference_says(name, similarity):
    @settings(max_examples=7)
    @given(
        kernels(name, LABELS, raw=False, similarity=SIMILARITIES[similarity]),
        structures(name, LABELS, min_size=2),
    )
    def check(kernel, X):
        right = reference_matrix(kernel, X, X)
        for dtype, tolerance in TOLERANCE.items():
            np.testing.assert_allclose(kernel.gram(X, dtype=dtype), right, **tolerance)
            np.testing.assert_allclose(kernel.cross(X[1:], X, dtype=dtype), right[1:], **tolerance)

    check()


@pytest.mark.parametrize("name", tree_names)
@pytest.mark.parametrize("similarity", ["sigmoid", "exponential-floor", "own"])
def test_wide_nodes_agree_with_dynamic_programming(name, similarity):
    """More than 48 pairs of children match, which the engine sums in another way."""
    words = ["play", "strum", "né", "LEX##guitar::n", "unknown"]

    @settings(max_examples=5)
    @given(kernels(name, words, raw=False, similarity=SIMILARITIES[similarity]), st.randoms())
    def check(kernel, rng):
        trees = []
        for width in (1, 2, 9, 17, 17, 30):
            children = [
                Tree(rng.choice(words), [Tree("né")] * rng.choice((0, 0, 2)), rng.choice(("", "e")))
                for _ in range(width)
            ]
            trees.append(Tree(rng.choice(words), children))
        raw = np.array([[float(exact_value(kernel, a, b)) for b in trees] for a in trees])
        own = np.sqrt(raw.diagonal())
        right = np.divide(raw, np.outer(own, own), out=np.zeros_like(raw), where=raw > 0)
        for dtype, tolerance in TOLERANCE.items():
            np.testing.assert_allclose(kernel.gram(trees, dtype=dtype), right, **tolerance)
            crossed = kernel.cross(trees, trees[:3], dtype=dtype)
            np.testing.assert_allclose(crossed, right[:, :3], **tolerance)

    check()


@pytest.mark.parametrize("max_length", [None, 1, 3])
@pytest.mark.parametrize("decay", [0.05, 0.8, 0.999])
def test_sequences_of_any_length_agree_with_dynamic_programming(decay, max_length):
    """Around the lengths from which on the engine does without vector instructions."""
    kernel = SubsequenceKernel(
        decay=decay,
        max_length=max_length,
        similarity=SIMILARITIES["exponential-floor"],
        gates={"e": 0.5, "": 1.25},
    )
    words = ("play", "strum", "né", "LEX##guitar::n", "unknown")
    rng = random.Random(7)
    some = [
        Sequence([(rng.choice(("", "e")), rng.choice(words)) for _ in range(n)])
        for n in (1, 20, 60, 120, 255, 256, 257, 270)
    ]
    raw = kernel.clone().set_params(normalize=False)
    pairs = [(1, 3), (2, 4), (5, 0), (5, 1), (6, 2), (7, 3)]
    right = [float(exact_value(raw, some[i], some[j])) for i, j in pairs]
    own = raw.diag(some)
    assert own[6] == pytest.approx(float(exact_value(raw, some[6], some[6])), rel=1e-9)
    expected = [v / math.sqrt(own[i] * own[j]) for v, (i, j) in zip(right, pairs, strict=True)]
    for dtype, tolerance in TOLERANCE.items():
        matrix, crossed = kernel.gram(some, dtype=dtype), kernel.cross(some, some, dtype=dtype)
        for found in (matrix, crossed, crossed.T):
            np.testing.assert_allclose([found[p] for p in pairs], expected, **tolerance)


@every_name
@every_similarity
def test_batches_with_different_vocabularies_are_compared_by_label(name, similarity):
    kernel = KERNELS[name](similarity=similarity, gates={"play": 0.5, "né": 2.0}, gate_on="node")
    X = sample(kernel, 20, alphabet=LABELS)
    left = kw.batch(X[:8], vocabulary=kw.arrays.Vocabulary(["strum", "", "unused", "play"]))
    right = kw.batch(X[8:], vocabulary=kw.arrays.Vocabulary(["", "play", "né", "e"]))
    expected = kernel.cross(X[:8], X[8:])
    np.testing.assert_array_equal(kernel.cross(left, right), expected)


@pytest.mark.parametrize("similarity", ["table", "own", "lexical", "gaussian"])
@every_name
def test_one_label_is_compared_with_many(name, similarity):
    kernel = KERNELS[name](similarity=SIMILARITIES[similarity], normalize=False)
    make = (lambda x: Tree(x, [Tree(x)])) if name in tree_names else (lambda x: Sequence([x]))
    one, many = [make("play")], [make(label) for label in LABELS]
    right = reference_matrix(kernel, one, many)
    np.testing.assert_allclose(kernel.cross(one, many), right, rtol=1e-9)
    np.testing.assert_allclose(kernel.cross(many, one), right.T, rtol=1e-9)


@every_name
def test_labels_that_lack_on_the_other_side_of_a_similarity_are_no_trouble(name):
    kernel = KERNELS[name](similarity=constant("ab", 0.5))
    known, unknown = sample(kernel, 3, alphabet=["a"]), sample(kernel, 3, alphabet=["z"])
    assert not kernel.cross(known, unknown).any()
    assert not kernel.cross(unknown, known).any()


# What must not matter.

MANY = [f"w{i}" for i in range(60)]
PLANE = Vectors(MANY, np.random.default_rng(1).normal(size=(60, 4)))
# From hardly any two labels match to all of them match.
DENSITIES = {
    "few": Exponential(PLANE, floor=0.97),
    "some": Lexical(PLANE),
    "all": Gaussian(PLANE),
    "full": Threshold(PLANE, floor=0.8),
}
every_density = pytest.mark.parametrize("similarity", DENSITIES.values(), ids=DENSITIES)
every_dtype = pytest.mark.parametrize("dtype", ["float64", "float32"])
GATES = {"e": 0.7, "": 1.3}


def crowd(name, n, **options):
    """Return structures in which some labels are frequent and many are not."""
    kernel = KERNELS[name]
    return sample(kernel, n, alphabet=[*MANY[:4] * 8, *MANY], **options)


@every_name
@every_density
@every_dtype
def test_other_structures_change_no_bit_of_a_pair(name, similarity, dtype):
    kernel = KERNELS[name](similarity=similarity, gates=GATES, dtype=dtype)
    X = crowd(name, 90)
    chosen = [3, 4, 17, 30, 31, 55, 89]
    whole, crossed = kernel.gram(X), kernel.cross(X, X)
    some = [X[i] for i in chosen]
    np.testing.assert_array_equal(whole[np.ix_(chosen, chosen)], kernel.gram(some))
    np.testing.assert_array_equal(crossed[np.ix_(chosen, chosen)], kernel.cross(some, some))
    np.testing.assert_array_equal(kernel.pairs(some, X[:7]), crossed[chosen, range(7)])
    assert kernel.value(X[31], X[4]) == crossed[31, 4]


@every_name
@pytest.mark.parametrize("similarity", [None, *DENSITIES.values()], ids=["exact", *DENSITIES])
def test_structures_that_come_before_change_no_bit_of_a_pair(name, similarity):
    kernel = KERNELS[name](similarity=similarity, gates=GATES)
    # Which of two sequences comes first can show in the last bit, and they are put in order of
    # length within windows of 256: so many must come before.
    n = 256 if name == "subsequence" else 100
    X = kw.batch(crowd(name, n + 200))
    np.testing.assert_array_equal(kernel.gram(X)[n:, n:], kernel.gram(X[n:]))


@every_name
@every_density
def test_the_order_of_structures_changes_no_bit_of_a_pair(name, similarity):
    kernel = KERNELS[name](similarity=similarity, gates=GATES)
    X = crowd(name, 50)
    rows, columns = np.random.default_rng(0).permuted([range(50)] * 2, axis=1)
    shuffled = kernel.cross([X[i] for i in rows], [X[i] for i in columns])
    np.testing.assert_array_equal(shuffled, kernel.cross(X, X)[np.ix_(rows, columns)])


@pytest.mark.parametrize("name", tree_names)
@every_dtype
def test_trees_in_a_crowd_have_the_bits_they_have_alone(name, dtype):
    """In a crowd few roots match, alone most do: the engine takes different ways."""
    kernel = KERNELS[name](similarity=DENSITIES["few"], dtype=dtype)
    rng = random.Random(2)

    def wide(root):
        return Tree(root, [Tree(rng.choice(MANY[:5])) for _ in range(rng.choice((2, 5, 12)))])

    alone = [wide(MANY[0]) for _ in range(12)]
    strangers = [wide(root) for root in MANY[1:] for _ in range(4)]
    crowded = kernel.cross([*alone, *strangers], [*strangers, *alone])
    np.testing.assert_array_equal(crowded[:12, -12:], kernel.cross(alone, alone))


@every_name
@every_density
def test_the_size_of_tables_changes_no_bit(name, similarity, monkeypatch):
    kernel = KERNELS[name](similarity=similarity, gates=GATES)
    X = crowd(name, 9)
    verbs = [
        lambda: kernel.gram(X),
        lambda: kernel.cross(X[:5], X),
        lambda: kernel.pairs(X, X[::-1]),
        lambda: kernel.diag(X),
        lambda: np.stack(kernel.neighbors(X[:4], X, 3)),
    ]
    whole = [verb() for verb in verbs]
    monkeypatch.setattr("kernelwood.kernels.engine.TABLE_BYTES", 1_000)
    for verb, expected in zip(verbs, whole, strict=True):
        np.testing.assert_array_equal(verb(), expected)


@every_density
def test_progress_with_small_tables_rises_to_the_total(similarity, monkeypatch):
    monkeypatch.setattr("kernelwood.kernels.engine.TABLE_BYTES", 2_000)
    calls = []
    kernel = PartialTreeKernel(similarity=similarity)
    kernel.gram(crowd("partial-tree", 20), progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (210, 210) and calls == sorted(calls)


@every_name
def test_threads_change_no_bit_of_a_user_defined_similarity(name, force_threads):
    X = crowd(name, 60)
    alone, together = (
        KERNELS[name](similarity=SIMILARITIES["own"], n_jobs=n).gram(X) for n in (1, 3)
    )
    np.testing.assert_array_equal(together, alone)


# What is known about values.


@every_name
@every_dtype
def test_exact_is_the_default_to_the_last_bit(name, dtype):
    X = sample(KERNELS[name], 60)
    plain, exact = (KERNELS[name](similarity=s, dtype=dtype).gram(X) for s in (None, Exact()))
    np.testing.assert_array_equal(exact, plain)


@every_name
def test_a_similarity_that_knows_no_label_is_exact(name):
    kernel, X = KERNELS[name](normalize=False), sample(KERNELS[name], 40)
    strange = Gaussian(Vectors(["strange"], [[1.0]]))
    for similarity in (strange, Table.from_pairs({}), Lexical(strange.vectors)):
        soft = kernel.clone().set_params(similarity=similarity)
        np.testing.assert_allclose(soft.gram(X), kernel.gram(X), rtol=1e-12)


@every_name
def test_labels_of_similarity_one_are_one_label(name):
    kernel = KERNELS[name](normalize=False)
    X = sample(kernel, 30)
    merged = [relabeled(x, lambda edge, label: (edge, "c" if label == "c" else "ab")) for x in X]
    soft = kernel.clone().set_params(similarity=constant("ab", 1.0))
    np.testing.assert_allclose(soft.gram(X), kernel.gram(merged), rtol=1e-11)


@every_name
def test_edges_match_exactly_whatever_the_similarity(name):
    kernel = KERNELS[name](similarity=Gaussian(Vectors("xy", [[1, 0], [0.9, 0.1]])))
    x, y = (relabeled(s, lambda e, label, edge=edge: (edge, "x")) for s, edge in _two(kernel))
    assert kernel.value(x, y) == 0
    assert kernel.value(x, x) == pytest.approx(1, rel=1e-12)


def _two(kernel):
    one = sample(kernel, 1)[0]
    return (one, "x"), (one, "y")


def words_as(name, words):
    """Return the structure of each word in which a kernel compares nothing else."""
    return [Sequence([w]) if name == "subsequence" else Tree(w) for w in words]


@pytest.mark.parametrize("name", ["subsequence", "partial-tree"])
@every_dtype
@pytest.mark.parametrize("distance", [-1e-9, 1e-9])
def test_words_match_at_a_threshold_whatever_the_number_type(name, dtype, distance):
    """Cosines that numbers of 32 bits cannot tell from the threshold."""
    words, rng = MANY[:40], np.random.default_rng(3)
    vectors = Vectors(words, rng.normal(size=(40, 70)))
    unit = vectors.matrix / np.linalg.norm(vectors.matrix.astype(float), axis=1, keepdims=True)
    cosines = unit @ unit.T
    X = words_as(name, words)
    for i, j in zip(range(0, 20), range(20, 40), strict=True):
        floor = cosines[i, j] + 1e-6 + distance
        similarity = Threshold(vectors, floor=floor)
        kernel = KERNELS[name](similarity=similarity, dtype=dtype)
        expected = (cosines >= floor - 1e-6).astype(float)
        assert expected[i, j] == (distance < 0)
        np.testing.assert_allclose(kernel.gram(X), expected, atol=1e-6)
        np.testing.assert_allclose(kernel.cross(X[:9], X), expected[:9], atol=1e-6)


@pytest.mark.parametrize("name", ["subsequence", "partial-tree"])
@every_dtype
def test_words_match_themselves_at_any_threshold(name, dtype):
    """In 32 bits the cosine of a long vector with itself can be less than the highest threshold."""
    words = MANY[:3]
    vectors = Vectors(words, np.repeat([[1, 1, 1], [1, 1, -1], [1, -1, -1]], 1000, axis=1))
    kernel = KERNELS[name](similarity=Threshold(vectors, floor=1.0), dtype=dtype, normalize=False)
    X = words_as(name, words)
    table = kernel.gram(X)
    np.testing.assert_array_equal(table, np.eye(3) * table[0, 0])
    assert table[0, 0] > 0


def test_a_threshold_may_be_exactly_reached():
    similarity = Threshold(Vectors("abc", [[1, 0], [0, 1], [-1, 0]]), floor=1e-6)
    expected = [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    assert [[similarity.value(a, b) for b in "abc"] for a in "abc"] == expected
    assert similarity.table([*"abc"], [*"abc"]).tolist() == expected
    gram = SubsequenceKernel(similarity=similarity).gram(words_as("subsequence", "abc"))
    assert gram.tolist() == expected


class FromZero(Threshold):
    """A threshold that its resolution leaves out."""

    def _weight_and_floor(self):
        return 1.0, None


@every_dtype
def test_a_threshold_that_is_left_out_is_0(dtype):
    X = crowd("subsequence", 40)
    left_out, zero = (
        SubsequenceKernel(similarity=similarity, dtype=dtype).gram(X)
        for similarity in (FromZero(PLANE), Threshold(PLANE, floor=1e-6))
    )
    np.testing.assert_array_equal(left_out, zero)


def test_values_by_hand():
    table = Table.from_pairs({("cat", "dog"): 0.5, ("eat", "chew"): 0.25})
    cat, dog = Sequence(["cat", "eat"]), Sequence(["dog", "chew"])
    kernel = SubsequenceKernel(decay=0.5, similarity=table, normalize=False)
    assert kernel.value(cat, dog) == 0.5 + 0.25 + 0.5 * 0.25 * 0.5**2
    a, b = (Tree("eat", [Tree("N", [Tree(x)])]) for x in ("cat", "dog"))
    subsets = SubsetTreeKernel(decay=0.5, similarity=table, normalize=False)
    assert subsets.value(a, b) == 0.25 + 0.5 * (1 + 0.25)  # (N cat); (eat N) and (eat (N cat))
    parts = PartialTreeKernel(decay=0.5, depth_decay=0.5, similarity=table, normalize=False)
    leaf = 0.5 * 0.5**2 * 0.5
    inner = 0.5 * (0.5**2 + leaf)
    assert parts.value(a, b) == leaf + inner + 0.5 * (0.5**2 + inner)


@every_name
def test_a_soft_kernel_is_not_invariant_under_renaming(name):
    kernel = KERNELS[name](similarity=constant("ab", 0.5))
    X = sample(kernel, 12, alphabet=["a", "b"])
    renamed = [relabeled(x, lambda edge, label: (edge, {"a": "y", "b": "z"}[label])) for x in X]
    plain = KERNELS[name]()
    np.testing.assert_array_equal(plain.gram(renamed), plain.gram(X))
    assert np.abs(kernel.gram(renamed) - kernel.gram(X)).max() > 0.01


def test_sptk_is_the_partial_tree_kernel_with_a_lexical_similarity():
    kernel = PartialTreeKernel.sptk(VECTORS, weight=0.5, floor=0.1, decay=0.3, gates={"e": 0.5})
    similarity = Lexical(VECTORS, weight=0.5, floor=0.1)
    assert kernel == PartialTreeKernel(similarity=similarity, decay=0.3, gates={"e": 0.5})


def test_csptk_is_the_partial_tree_kernel_with_a_compositional_similarity():
    options = {"operation": "dilation", "same_relation": False, "lexical": False}
    kernel = PartialTreeKernel.csptk(VECTORS, **options, depth_decay=0.3)
    similarity = similarities.Compositional(VECTORS, **options)
    assert kernel == PartialTreeKernel(similarity=similarity, depth_decay=0.3)


# Positive semidefinite or not.

PSD = {name: s for name, s in SIMILARITIES.items() if s.positive_semidefinite}


def test_some_similarities_are_positive_semidefinite():
    assert {*PSD} >= {"exact", "gaussian", "exponential"}


@every_name
@pytest.mark.parametrize("similarity", [*PSD.values(), constant("abc", 0.6)], ids=[*PSD, "table"])
def test_positive_semidefinite_similarities_give_such_kernels(name, similarity):
    labels = ["a", "b", "c"] if isinstance(similarity, Table) else LABELS

    @settings(max_examples=8)
    @given(gates(labels), st.integers(0, 2**20), st.booleans())
    def check(gates, seed, normalize):
        kernel = KERNELS[name](
            similarity=similarity, gates=gates, gate_on="node", normalize=normalize
        )
        X = sample(kernel, 25, seed=seed, alphabet=labels)
        assert kernel.smallest_eigenvalue(X) >= -1e-10

    check()


def test_lexical_is_not_positive_semidefinite_and_says_so():
    angles = np.radians([0, 45, 90, 135])
    vectors = Vectors("abcd", np.stack([np.cos(angles), np.sin(angles)], axis=1))
    similarity = Lexical(vectors)
    assert similarity.positive_semidefinite is False
    assert similarity.smallest_eigenvalue("a b c d".split()) < -0.14
    kernel = SubsequenceKernel(similarity=similarity)
    words = [Sequence([word]) for word in "abcd"]
    expected = np.linalg.eigvalsh(kernel.gram(words))
    assert kernel.smallest_eigenvalue(words) == pytest.approx(expected[0] / expected[-1])
    assert kernel.smallest_eigenvalue(words) < -0.05


def test_the_smallest_eigenvalue_of_nothing_is_refused():
    with pytest.raises(KernelInputError, match="at least one structure"):
        SubsequenceKernel().smallest_eigenvalue([])
