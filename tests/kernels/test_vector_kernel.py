"""VectorKernel: the values of scikit-learn, the same bits however they are asked for."""

import copy
import math
import pickle

import numpy as np
import pytest
import strategies
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.feature_extraction import DictVectorizer
from sklearn.metrics import pairwise
from sklearn.svm import SVC

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.errors import KernelInputError, KernelOverflowError
from kernelwood.kernels import VectorKernel
from kernelwood.kernels.vector_kernel import mean_vectors

KINDS = {
    "linear": (VectorKernel(), pairwise.linear_kernel),
    "polynomial": (VectorKernel("polynomial"), lambda X, Y: pairwise.polynomial_kernel(X, Y, 2)),
    "cubic": (
        VectorKernel("polynomial", degree=3, gamma=0.5, coef0=0.25),
        lambda X, Y: pairwise.polynomial_kernel(X, Y, 3, 0.5, 0.25),
    ),
    "rbf": (VectorKernel("rbf"), pairwise.rbf_kernel),
    "narrow": (VectorKernel("rbf", gamma=3.0), lambda X, Y: pairwise.rbf_kernel(X, Y, 3.0)),
    "cosine": (VectorKernel("cosine"), pairwise.cosine_similarity),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
RANDOM = np.random.default_rng(0)
DENSE = RANDOM.normal(size=(700, 33))
SPARSE = sparse.random(700, 90, 0.1, format="csr", random_state=1)
DATA = {"dense": DENSE, "sparse": SPARSE}
every_data = pytest.mark.parametrize("data", DATA)
numbers = st.floats(-50, 50).map(lambda x: round(x, 3))
features = st.lists(st.dictionaries(st.sampled_from("abcdé"), numbers), min_size=1, max_size=6)
matrices = st.integers(1, 7).flatmap(lambda n: arrays(float, (5, n), elements=numbers))
WORDS = kw.Vectors([*"abc"], RANDOM.normal(size=(3, 5)))


def same(one, other):
    np.testing.assert_array_equal(one, other)


# Values.


@every_kind
@given(matrices)
def test_any_matrix_has_the_values_of_scikit_learn(kind, X):
    kernel, oracle = KINDS[kind]
    for form in (np.asarray, sparse.csr_matrix):
        expected = oracle(form(X), form(X))
        options = {"rtol": 1e-9, "atol": 1e-9}
        np.testing.assert_allclose(kernel.gram(form(X)), expected, **options)
        np.testing.assert_allclose(kernel.cross(form(X), form(X[2:])), expected[:, 2:], **options)
        np.testing.assert_allclose(kernel.diag(form(X)), expected.diagonal(), **options)


@every_kind
@given(features, features)
def test_any_features_have_the_values_of_scikit_learn(kind, X, Y):
    kernel, oracle = KINDS[kind]
    vectorizer = DictVectorizer().fit([*X, *Y, {"a": 1.0}])
    width = len(vectorizer.feature_names_)
    kernel = kernel.clone().set_params(gamma=kernel.gamma or 1 / width)
    expected = oracle(vectorizer.transform(X), vectorizer.transform(Y))
    np.testing.assert_allclose(kernel.cross(X, Y), expected, rtol=1e-9, atol=1e-9)


@every_kind
@every_data
def test_many_rows_have_the_values_of_scikit_learn(kind, data):
    kernel, oracle = KINDS[kind]
    X = DATA[data]
    np.testing.assert_allclose(kernel.gram(X), oracle(X, X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kernel.gram(X, dtype="float32"), oracle(X, X), rtol=2e-5, atol=1e-6)


@every_kind
@given(features)
def test_any_features_agree_with_the_reference(kind, X):
    kernel = KINDS[kind][0].clone().set_params(gamma=0.25)
    expected = [[kernel.reference(a, b) for b in X] for a in X]
    np.testing.assert_allclose(kernel.gram(X), expected, rtol=1e-9, atol=1e-9)


@every_kind
def test_rows_agree_with_the_reference(kind):
    kernel, X = KINDS[kind][0], DENSE[:4]
    expected = [[kernel.reference(a, b) for b in X] for a in X]
    np.testing.assert_allclose(kernel.gram(X), expected, rtol=1e-12)
    assert kernel.reference(SPARSE[0], SPARSE[1]) == pytest.approx(kernel.gram(SPARSE[:2])[0, 1])


@every_kind
@every_data
def test_gram_is_positive_semidefinite(kind, data):
    assert np.linalg.eigvalsh(KINDS[kind][0].gram(DATA[data][:150])).min() >= -1e-9


def test_the_cosine_of_a_zero_vector_is_zero():
    kernel = VectorKernel("cosine")
    assert kernel.gram([[0.0, 0.0], [1.0, 2.0]]).tolist() == [[0, 0], [0, 1]]
    assert kernel.diag([{}, {"a": 1e-300}]).tolist() == [0, 1]


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200, 1e307])
def test_cosines_do_not_depend_on_the_length(scale):
    X = DENSE[:9] * scale
    expected = pairwise.cosine_similarity(X / scale)
    np.testing.assert_allclose(VectorKernel("cosine").gram(X), expected, atol=1e-3)
    scaled = DENSE[:9] * 2.0**600
    same(VectorKernel("cosine").gram(scaled), VectorKernel("cosine").gram(DENSE[:9]))


@every_data
def test_equal_rows_are_completely_similar(data):
    X = DATA[data]
    for kind in ("rbf", "cosine"):
        same(VectorKernel(kind).pairs(X, X.copy()), 1)


@pytest.mark.parametrize("kind", ["linear", "polynomial", "rbf"])
def test_overflow_is_named(kind):
    huge = [[1e200, 1.0], [1.0, 1e200]]
    with pytest.raises(KernelOverflowError, match=r"VectorKernel\(.*exceeds the range of float64"):
        VectorKernel(kind).gram(huge)
    with pytest.raises(KernelOverflowError):
        VectorKernel(kind).diag(huge)
    with pytest.raises(KernelOverflowError, match="float32"):
        VectorKernel("polynomial").gram([[1e15]], dtype="float32")


# What must not matter.


@every_kind
@every_data
def test_verbs_agree_to_the_last_bit(kind, data):
    kernel, X = KINDS[kind][0], kw.batch(DATA[data])
    gram = kernel.gram(X)
    same(gram, gram.T)
    same(kernel.cross(X, X), gram)
    same(kernel.diag(X), gram.diagonal())
    same(kernel.pairs(X[:90], X[300:390]), gram[:90, 300:390].diagonal())
    indices, values = kernel.neighbors(X[:20], X, 700)
    same(np.take_along_axis(gram[:20], indices, 1), values)
    assert kernel.value(DATA[data][3], DATA[data][600]) == gram[3, 600]


@every_kind
def test_dense_and_sparse_rows_have_the_same_bits(kind):
    kernel, full = KINDS[kind][0], SPARSE.toarray()
    expected = kernel.gram(full)
    same(kernel.gram(SPARSE), expected)
    same(kernel.cross(full, SPARSE[:50]), expected[:, :50])
    same(kernel.cross(SPARSE, full[:50]), expected[:, :50])


@every_kind
@every_data
def test_other_rows_change_no_bit(kind, data):
    kernel, X = KINDS[kind][0], DATA[data]
    same(kernel.gram(X)[:30, :30], kernel.gram(X[:30]))
    same(kernel.cross(X, X[:1]), kernel.cross(X, X)[:, :1])


@every_kind
@every_data
def test_blocks_and_threads_change_no_bit(kind, data, monkeypatch):
    kernel, X = KINDS[kind][0].clone(), kw.batch(DATA[data][:130])
    expected = kernel.gram(X)
    monkeypatch.setattr("kernelwood.compute.runner._INLINE_COST", 0)
    for name, size in (("_ROWS", 3), ("_COLUMNS", 17)):
        monkeypatch.setattr(f"kernelwood.kernels.vector_kernel.{name}", size)
        same(kernel.set_params(n_jobs=5).gram(X), expected)
    monkeypatch.setattr("kernelwood.kernels.kernel.TILE", 48)
    same(kernel.gram(X), expected)
    same(kernel.cross(X, X), expected)


@every_kind
def test_the_order_of_features_and_of_the_vocabulary_changes_no_bit(kind):
    kernel = KINDS[kind][0].clone().set_params(gamma=0.25)
    X = [dict(zip("cabd", row.tolist(), strict=False)) for row in DENSE[:40]]
    expected = kernel.gram(X)
    turned = [dict(reversed(row.items())) for row in X]
    same(kernel.gram(kw.batch(turned, vocabulary=kw.arrays.Vocabulary("dcxba"))), expected)
    left = kw.batch(X[:5], vocabulary=kw.arrays.Vocabulary("d"))
    same(kernel.cross(left, turned), expected[:5])


def test_features_that_only_one_side_has_count_nothing():
    kernel = VectorKernel()
    left, right = kw.batch([{"a": 1.0}]), kw.batch([{"b": 1.0, "a": 2.0}, {"c": 1.0}])
    assert kernel.cross(left, right).tolist() == [[2, 0]]
    assert len(left.vocabulary) == 2


def test_numbered_columns_are_features_named_by_number():
    X = kw.batch(SPARSE[:9])
    np.testing.assert_allclose(VectorKernel().cross(X, list(X)), VectorKernel().gram(X), atol=1e-15)


@every_kind
def test_nothing_gives_empty_matrices(kind):
    kernel = KINDS[kind][0]
    found = [kernel.gram([]), kernel.cross([], DENSE), kernel.cross(SPARSE, []), kernel.diag([])]
    assert [matrix.shape for matrix in found] == [(0, 0), (0, 700), (700, 0), (0,)]


# Means of word vectors.


def test_a_sequence_stands_for_the_mean_of_its_unit_vectors():
    X = kw.batch([*strategies.sample_sequences(30, alphabet="abcxyz"), kw.Sequence([*"xy"])])
    found = mean_vectors(X, WORDS).matrix()
    for row, sequence in zip(found, X, strict=True):
        known = [WORDS[word].astype(float) for word in sequence.nodes if word in WORDS]
        mean = [v / np.linalg.norm(v) for v in known] if known else [np.zeros(5)]
        np.testing.assert_allclose(row, np.mean(mean, axis=0), atol=1e-15)


@every_kind
def test_means_agree_with_the_reference(kind):
    kernel = KINDS[kind][0].clone().set_params(vectors=WORDS)
    X = [*strategies.sample_sequences(9, alphabet="abcx"), kw.Sequence(["x"]), kw.Sequence([])]
    expected = [[kernel.reference(a, b) for b in X] for a in X]
    np.testing.assert_allclose(kernel.gram(X), expected, rtol=1e-12, atol=1e-14)


def test_words_are_looked_up_as_soft_matching_does():
    vectors = kw.Vectors(["cat", "run::v"], [[1, 0], [0, 1]], lowercase=True)
    texts = ["CAT", "LEX##cat::n", "run::v", "SYNT##cat", ""]
    found = mean_vectors(kw.batch([kw.Sequence([text]) for text in texts]), vectors)
    assert found.matrix().tolist() == [[1, 0], [1, 0], [0, 1], [0, 0], [0, 0]]


def test_other_sequences_and_a_growing_vocabulary_change_no_bit():
    kernel = VectorKernel("cosine", vectors=WORDS)
    X = strategies.sample_sequences(60, alphabet="abcxy")
    expected = kernel.gram(X)
    vocabulary = kw.arrays.Vocabulary("y")
    few = kw.batch(X[:5], vocabulary=vocabulary)
    same(kernel.gram(few), expected[:5, :5])
    grown = kw.batch(X, vocabulary=vocabulary)
    same(kernel.cross(grown, few), expected[:, :5])
    other = kw.Vectors([*"xy"], [[1, 0], [0, 1]])
    same(kernel.clone().set_params(vectors=other).gram(few), VectorKernel(
        "cosine", vectors=other).gram(X[:5]))  # fmt: skip
    same(kernel.gram(few), expected[:5, :5])


# Parameters and inputs.


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"kind": "sigmoid"}, "kind must be one of"),
        ({"degree": 0}, "degree must be an int of at least 1, got 0"),
        ({"degree": 1.5}, "degree"),
        ({"gamma": 0.0}, r"gamma must be a number in \(0, inf\), got 0.0"),
        ({"gamma": math.inf}, "gamma"),
        ({"coef0": -1.0}, r"coef0 must be a number in \[0, inf\)"),
        ({"coef0": 10**400}, r"coef0 must be a number in \[0, inf\)"),
        ({"vectors": {"a": [1.0]}}, "vectors must be None or word vectors"),
        ({"dtype": "int64"}, "dtype must be float64 or float32"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_parameters_are_named(parameters, complaint):
    with pytest.raises(KernelInputError, match=complaint):
        VectorKernel(**parameters).gram(DENSE[:2])


def test_a_reference_beyond_the_range_of_floats_is_an_error():
    kernel = VectorKernel("polynomial", degree=10**30, coef0=2.0)
    with pytest.raises(KernelOverflowError, match="range of float64"):
        kernel.reference([1.0], [1.0])


@pytest.mark.parametrize("kind", ["polynomial", "rbf"])
def test_features_with_names_need_gamma(kind):
    with pytest.raises(KernelInputError, match="features with names have no width"):
        VectorKernel(kind).gram([{"a": 1.0}])
    with pytest.raises(KernelInputError, match="features with names have no width"):
        VectorKernel(kind).reference({"a": 1.0}, {"a": 1.0})


@pytest.mark.parametrize(
    ("X", "Y", "complaint"),
    [
        (
            DENSE,
            DENSE[:, :3],
            "VectorKernel: dense vectors of width 33? .* dense vectors of width 33?",
        ),
        (DENSE, [{"a": 1.0}], "dense vectors of width 33 cannot be compared with features"),
        (SPARSE, DENSE, "sparse vectors of width 90"),
        (DENSE, ["text"], "structure 0 should be a vector, got str"),
        (DENSE, kw.batch([kw.Tree("a")]), "expected vectors, got a batch of trees"),
        (DENSE, [kw.Example("1", views={"v": [1.0]})], "structure 0 .* got Example\n.*OnView"),
    ],
)
def test_what_cannot_be_compared_is_named(X, Y, complaint):
    with pytest.raises(KernelInputError, match=complaint):
        VectorKernel().cross(X, Y)


def test_with_word_vectors_it_compares_sequences():
    with pytest.raises(KernelInputError, match="expected sequences, got a batch of vectors"):
        VectorKernel(vectors=WORDS).gram(kw.batch(DENSE))


def test_duplicates_are_equal_and_independent():
    kernel = VectorKernel("rbf", gamma=0.5, vectors=WORDS)
    for other in (kernel.clone(), copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert other == kernel and other is not kernel
        assert other.set_params(gamma=0.25) != kernel
    assert repr(VectorKernel()) == "VectorKernel()"
    assert repr(VectorKernel("rbf", gamma=0.5)) == "VectorKernel(kind='rbf', gamma=0.5)"


# In combinations and estimators.


def examples(n=40):
    """Return examples of two classes, with a tree, a sequence, features and a dense vector."""
    made = []
    trees = strategies.sample_trees(n)
    for i, tree in enumerate(trees):
        views = {
            "tree": tree,
            "words": kw.Sequence([*"ab"] if i % 2 else [*"cxa"]),
            "features": {"odd" if i % 2 else "even": 1.0, f"i{i % 5}": 0.5},
            "vector": DENSE[i] + 3 * (i % 2),
        }
        made.append(kw.Example(str(i), ["even", "odd"][i % 2], views))
    return made


def composite():
    return (
        kw.OnView("tree", kw.SubsetTreeKernel())
        + 0.5 * kw.OnView("features", VectorKernel("cosine"))
        + kw.OnView("words", VectorKernel("cosine", vectors=WORDS)) ** 2
        + kw.Normalized(kw.OnView("vector", VectorKernel("polynomial")))
        * kw.OnView("vector", VectorKernel("rbf"))
    )


def test_combinations_are_made_of_the_values_of_their_parts():
    X = kw.batch(examples())
    tree, cosine, words, rbf, polynomial = (
        kernel.gram(X.view(name))
        for name, kernel in (
            ("tree", kw.SubsetTreeKernel()),
            ("features", VectorKernel("cosine")),
            ("words", VectorKernel("cosine", vectors=WORDS)),
            ("vector", VectorKernel("rbf")),
            ("vector", VectorKernel("polynomial")),
        )
    )
    roots = np.sqrt(polynomial.diagonal())
    expected = tree + 0.5 * cosine + words**2 + polynomial / np.outer(roots, roots) * rbf
    np.testing.assert_allclose(composite().gram(X), expected, rtol=1e-12)


def test_a_table_of_matrices_is_compared():
    table = kw.arrays.ExampleBatch([str(i) for i in range(9)], views={"v": DENSE[:9]})
    same(kw.OnView("v", VectorKernel()).gram(table), VectorKernel().gram(DENSE[:9]))


ESTIMATORS = {
    "svc": lambda kernel: kw.KernelSVC(kernel, random_state=1),
    "neighbors": lambda kernel: kw.KernelNeighborsClassifier(kernel),
    "hash-neighbors": lambda kernel: kw.HashNeighborsClassifier(
        kernel, n_references=12, n_bits=32, n_candidates=10, random_state=1
    ),
    "network": lambda kernel: kw.KernelNetworkClassifier(
        kernel, n_landmarks=9, max_iter=20, random_state=1
    ),
    "nystrom": lambda kernel: kw.NystromEmbedder(kernel, n_landmarks=9, random_state=1),
    "hasher": lambda kernel: kw.KernelHasher(kernel, n_references=12, n_bits=32, random_state=1),
    "covering": lambda kernel: kw.KernelHasher(
        kernel,
        n_bits=32,
        n_references=12,
        references=kw.ReferenceSelector(kernel, strategy="coverage"),
        random_state=1,
    ),
    "kmeans": lambda kernel: kw.KernelKMeans(2, kernel, random_state=1),
}
INPUTS = {
    "composite": (composite(), examples()),
    "dense": (VectorKernel("rbf"), np.array([e.view("vector") for e in examples()])),
    "sparse": (VectorKernel("cosine"), sparse.csr_matrix(SPARSE[:40])),
    "named": (VectorKernel(), [e.view("features") for e in examples()]),
    "words": (VectorKernel("rbf", vectors=WORDS), [e.view("words") for e in examples()]),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.*(references|landmarks|distinct|duplicates)")
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("data", INPUTS)
def test_estimators_take_vectors_and_come_back_from_files(name, data, tmp_path):
    kernel, X = INPUTS[data]
    y = [example.label for example in examples()]
    model = ESTIMATORS[name](kernel).fit(X, y)
    use = model.predict if hasattr(model, "predict") else model.transform
    found = use(X)
    assert len(found) == 40
    if name == "svc" and data in ("composite", "dense", "named", "words"):
        assert list(found) == y
    kw.save(model, tmp_path / "model.kw")
    again = kw.load(tmp_path / "model.kw")
    same((again.predict if hasattr(again, "predict") else again.transform)(X), found)


@pytest.mark.parametrize("kind", [kw.HashIndex, kw.EmbeddingIndex])
def test_indexes_grow_by_vectors_of_the_same_width(kind):
    options = {"n_references": 9} if kind is kw.HashIndex else {"n_landmarks": 9}
    index = kind(VectorKernel("cosine"), n_rerank=90, random_state=1, **options).fit(DENSE[:30])
    index.add(sparse.csr_matrix(DENSE[30:40]))
    ids, values = index.search(DENSE[35:36], k=1)
    assert ids[0, 0] == 35 and values[0, 0] == pytest.approx(1)
    with pytest.raises((KernelInputError, kw.errors.StructureError), match="width 2"):
        index.add(DENSE[:1, :2])


def test_indexes_grow_by_new_features():
    kernel = VectorKernel("cosine")
    index = kw.EmbeddingIndex(kernel, n_landmarks=2, n_rerank=9, random_state=1)
    index.fit([{"a": 1.0}, {"b": 1.0}]).add([{"z": 1.0, "a": 1.0}])
    ids, values = index.search([{"z": 2.0, "a": 2.0}], k=3)
    assert ids[0, 0] == 2 and values[0, 0] == pytest.approx(1)


def test_scikit_learn_takes_the_kernel():
    y = [e.label for e in examples()]
    X = np.array([e.view("vector") for e in examples()])
    same(
        SVC(kernel=VectorKernel("rbf")).fit(X, y).predict(X), SVC(gamma=1 / 33).fit(X, y).predict(X)
    )


def test_duplicates_of_vectors_are_found():
    X = np.concatenate([DENSE[:5], DENSE[2:3]])
    found = kw.find_duplicates(kw.batch(X), VectorKernel("cosine"), threshold=0.999)
    assert found.groups == ((2, 5),)


def test_clusters_of_vectors_are_described():
    X = [example.view("features") for example in examples()]
    model = kw.KernelKMeans(2, VectorKernel("cosine"), random_state=1).fit(X)
    described = model.describe()
    assert [cluster.size for cluster in described] == [20, 20]
    assert not any(cluster.fragments for cluster in described)


def test_an_index_of_examples_searches_by_vectors():
    kernel = kw.OnView("tree", kw.SubsetTreeKernel()) + kw.OnView("features", VectorKernel())
    index = kw.SentenceIndex(kernel, n_landmarks=20, random_state=1).fit(examples())
    [found] = index.search(examples()[7], k=1)
    assert found.id == 7 and found.similarity == pytest.approx(2.25)
    by_vectors = kw.SentenceIndex(VectorKernel("rbf"), view="vector", n_landmarks=20)
    assert by_vectors.fit(examples()).search(examples()[7], k=1)[0].id == 7


def test_an_extractor_learns_from_mean_word_vectors_and_explains():
    sentences = list(load_interactions("train"))[:60]
    words = sorted({token.text for e in sentences for token in e.view("sentence").tokens})
    vectors = kw.Vectors(words, np.random.default_rng(1).normal(size=(len(words), 8)))
    kernel = kw.OnView("path", kw.SubsequenceKernel()) * kw.OnView(
        "context", VectorKernel("rbf", vectors=vectors)
    )
    extractor = kw.RelationExtractor(kernel=kernel, random_state=1).fit(sentences)
    found = extractor.predict(sentences[:10], all=True)
    shared = [piece for one in found for case in one.evidence for piece in case.fragments]
    assert {piece.view for piece in shared} == {"path", "context"}
