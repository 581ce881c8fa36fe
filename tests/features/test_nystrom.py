from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
import strategies
from corpora import data_file
from features import oracles
from hypothesis import given, strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import kernelwood as kw
from kernelwood.features import BY_CLASS, SELECTIONS
from kernelwood.features.nystrom import decompose

TREES = strategies.sample_trees(90, seed=2, max_nodes=15)
LABELS = [tree.label for tree in TREES]
KERNEL = kw.PartialTreeKernel(decay=0.6)
KERNELS = (
    KERNEL,
    kw.SubsetTreeKernel(),
    kw.PartialTreeKernel(normalize=False),
    2.0 * kw.SubtreeKernel() + kw.SubsetTreeKernel(),
)


def embedder(**parameters):
    options = {"n_landmarks": 25, "random_state": 5, **parameters}
    return kw.NystromEmbedder(options.pop("kernel", KERNEL), **options)


def products(vectors):
    return vectors @ vectors.T


# What vectors are.


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("selection", SELECTIONS)
def test_products_of_vectors_are_those_of_the_pseudoinverse(kernel, selection):
    fitted = embedder(kernel=kernel, selection=selection).fit(TREES, LABELS)
    c = kernel.cross(TREES, fitted.landmarks_)
    expected = c @ np.linalg.pinv(fitted.gram_, rcond=1e-12, hermitian=True) @ c.T
    scale = np.abs(expected).max()
    assert products(fitted.transform(TREES)) == pytest.approx(expected, abs=1e-8 * max(scale, 1))


@given(st.lists(strategies.trees(), min_size=1, max_size=6), st.integers(1, 4))
def test_products_of_vectors_are_those_of_the_definition(trees, n_landmarks):
    fitted = embedder(n_landmarks=n_landmarks, tolerance=1e-9).fit(trees)
    similarities = KERNEL.cross(trees, fitted.landmarks_).tolist()
    gram = fitted.gram_.tolist()
    found = products(fitted.transform(trees))
    for i, left in enumerate(similarities):
        for j, right in enumerate(similarities):
            assert found[i, j] == pytest.approx(
                oracles.projected_product(left, right, gram), abs=1e-7
            )


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("n_landmarks", [90, 1000])
def test_with_all_structures_as_landmarks_products_are_exact(kernel, n_landmarks):
    fitted = embedder(kernel=kernel, n_landmarks=n_landmarks).fit(TREES)
    gram = kernel.gram(TREES)
    assert products(fitted.transform(TREES)) == pytest.approx(gram, abs=1e-8 * max(1, gram.max()))
    assert fitted.residual_ == 0.0
    assert sorted(fitted.landmark_indices_.tolist()) == list(range(90))


def test_products_with_landmarks_are_exact():
    fitted = embedder().fit(TREES)
    found = fitted.transform(TREES) @ fitted.transform(fitted.landmarks_).T
    assert found == pytest.approx(KERNEL.cross(TREES, fitted.landmarks_), abs=1e-9)


def test_equal_landmarks_lower_the_rank_and_harm_nothing():
    once = embedder(n_landmarks=30).fit(TREES[:30])
    thrice = embedder(n_landmarks=90).fit(TREES[:30] * 3)
    assert thrice.rank_ == once.rank_ <= 30
    assert len(thrice.landmarks_) == 90
    assert products(thrice.transform(TREES)) == pytest.approx(
        products(once.transform(TREES)), abs=1e-8
    )


def test_a_single_structure_has_one_dimension():
    vectors = embedder().fit(TREES[:1]).transform(TREES[:1])
    assert vectors == pytest.approx(np.ones((1, 1)))


def test_a_kernel_of_float32_gives_vectors_of_float64():
    kernel = kw.PartialTreeKernel(decay=0.6, dtype="float32")
    vectors = embedder(kernel=kernel).fit(TREES).transform(TREES)
    assert vectors.dtype == np.float64
    assert vectors == pytest.approx(embedder().fit(TREES).transform(TREES), abs=1e-9)


def test_dimensions_come_in_the_order_of_their_eigenvalues():
    fitted = embedder().fit(TREES)
    assert (np.diff(fitted.eigenvalues_) <= 0).all()
    landmarks = fitted.transform(fitted.landmarks_)
    assert landmarks.T @ landmarks == pytest.approx(np.diag(fitted.eigenvalues_), abs=1e-8)


def test_fewer_components_are_the_first_dimensions():
    whole = embedder().fit(TREES).transform(TREES)
    fitted = embedder(n_components=7).fit(TREES)
    assert fitted.rank_ == 7
    assert fitted.transform(TREES) == pytest.approx(whole[:, :7], abs=1e-12)


def test_a_larger_tolerance_keeps_fewer_dimensions():
    ranks = [embedder(tolerance=tolerance).fit(TREES).rank_ for tolerance in (0, 1e-3, 0.1, 0.9)]
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[-1] == 1 < ranks[2] < ranks[0]


# What is said of them.


def test_vectors_beyond_the_range_of_floats_are_an_error():
    trees = [kw.Tree.from_brackets(text) for text in ("(A (b) (c))", "(A (b) (d))", "(A (c) (b))")]
    embedder = kw.NystromEmbedder(kw.PartialTreeKernel(), random_state=0).fit(trees)
    similarities = np.full((1, 3), np.finfo(float).max)
    with pytest.raises(kw.errors.KernelOverflowError, match="range of float64"):
        embedder.embed(similarities)


def test_residuals_are_what_products_miss():
    fitted = embedder().fit(TREES)
    squares = (fitted.transform(TREES) ** 2).sum(axis=1)
    assert fitted.residual(TREES) == pytest.approx(1 - squares, abs=1e-9)
    assert fitted.residual(fitted.landmarks_) == pytest.approx(0, abs=1e-9)
    others = np.setdiff1d(np.arange(90), fitted.landmark_indices_)
    assert fitted.residual_ == pytest.approx(fitted.residual(kw.batch(TREES)[others]).mean())


def test_residuals_of_strangers_are_1():
    stranger = kw.Tree.from_brackets("(unheard (of x))")
    assert embedder().fit(TREES).residual([stranger]) == pytest.approx([1.0])


def test_residuals_fall_with_more_landmarks():
    found = [embedder(n_landmarks=n).fit(TREES).residual(TREES).mean() for n in (5, 15, 45, 90)]
    assert found == sorted(found, reverse=True)


def test_residuals_of_structures_without_self_similarity_are_0():
    kernel = kw.SubsequenceKernel(normalize=False)
    texts = [kw.Sequence([]), kw.Sequence(["a"])]
    fitted = embedder(kernel=kernel).fit(texts[1:])
    assert fitted.residual(texts).tolist() == [0.0, 0.0]


def test_landmarks_speak_for_themselves():
    fitted = embedder(selection="kmeans++").fit(TREES)
    landmarks, similarities = fitted.inverse_neighbors(fitted.transform(fitted.landmarks_), k=1)
    assert landmarks[:, 0].tolist() == list(range(len(fitted.landmarks_)))
    assert similarities[:, 0] == pytest.approx(1)


def test_landmarks_of_a_vector_are_those_of_largest_similarity():
    fitted = embedder().fit(TREES)
    numbers, similarities = fitted.inverse_neighbors(fitted.transform(TREES), k=6)
    exact = KERNEL.cross(TREES, fitted.landmarks_)
    assert similarities == pytest.approx(-np.sort(-exact, axis=1)[:, :6], abs=1e-9)
    assert np.take_along_axis(exact, numbers, axis=1) == pytest.approx(similarities, abs=1e-9)


def test_more_landmarks_than_there_are_cannot_speak():
    fitted = embedder(n_landmarks=4).fit(TREES)
    numbers, similarities = fitted.inverse_neighbors(np.zeros((2, fitted.rank_)), k=50)
    assert numbers.tolist() == [[0, 1, 2, 3]] * 2
    assert not similarities.any()


# Signs and rotations.


def test_signs_do_not_depend_on_the_order_of_landmarks():
    gram = KERNEL.gram(TREES[:20])
    order = np.random.default_rng(0).permutation(20)
    # Equal trees would leave it open which entry is the largest.
    _, plain = decompose("test", KERNEL, gram, cut=1e-6)
    _, shuffled = decompose("test", KERNEL, gram[np.ix_(order, order)], cut=1e-6)
    assert shuffled == pytest.approx(plain[order], abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_equal_eigenvalues_have_the_same_vectors_whatever_rounding_does(seed):
    generator = np.random.default_rng(seed)
    blocks = np.kron(np.eye(4), np.array([[2.0, 1.0, 0.5], [1.0, 2.0, 1.0], [0.5, 1.0, 2.0]]))
    noise = generator.normal(size=blocks.shape) * 1e-14
    _, plain = decompose("test", KERNEL, blocks, cut=1e-12)
    _, disturbed = decompose("test", KERNEL, blocks + noise + noise.T, cut=1e-12)
    assert disturbed == pytest.approx(plain, abs=1e-4)
    assert disturbed @ disturbed.T == pytest.approx(np.linalg.inv(blocks), abs=1e-9)


def test_the_largest_entry_of_an_eigenvector_is_positive():
    _, projection = decompose("test", KERNEL, KERNEL.gram(TREES[:30]), cut=1e-6)
    columns = np.arange(projection.shape[1])
    assert (projection[np.abs(projection).argmax(axis=0), columns] > 0).all()


# Determinism.


@pytest.mark.parametrize("selection", SELECTIONS)
def test_vectors_depend_neither_on_threads_nor_on_lists_nor_on_blas(selection):
    from threadpoolctl import threadpool_limits

    plain = embedder(selection=selection).fit(TREES, LABELS).transform(TREES)
    with threadpool_limits(2):
        threaded = embedder(selection=selection, n_jobs=2).fit(kw.batch(TREES), LABELS)
    assert (threaded.transform(kw.batch(TREES)) == plain).all()


def test_vectors_depend_on_no_other_structure():
    fitted = embedder().fit(TREES)
    together = fitted.transform(TREES)
    alone = np.concatenate([fitted.transform([tree]) for tree in TREES])
    streamed = np.concatenate(list(fitted.iter_transform(iter(TREES), n_rows=7)))
    assert (alone == together).all()
    assert (streamed == together).all()


def test_vectors_are_those_of_the_similarities():
    fitted = embedder().fit(TREES)
    similarities = fitted.similarities(TREES)
    assert similarities == pytest.approx(KERNEL.cross(TREES, fitted.landmarks_), abs=0)
    assert (fitted.embed(similarities) == fitted.transform(TREES)).all()


def test_streams_are_read_as_far_as_vectors_are_asked_for():
    read = []

    def stream():
        for tree in TREES:
            read.append(tree)
            yield tree

    vectors = embedder().fit(TREES).iter_transform(stream(), n_rows=10)
    next(vectors)
    assert len(read) == 10


# Landmarks that are added.


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_added_landmarks_leave_dimensions_as_they_are(kernel):
    fitted = embedder(kernel=kernel, n_landmarks=20).fit(TREES[:30])
    before = fitted.transform(TREES)
    after = fitted.grow(TREES[30:60]).transform(TREES)
    assert after.shape[1] > before.shape[1]
    assert (after[:, : before.shape[1]] == before).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_added_landmarks_give_the_products_of_all(kernel):
    fitted = embedder(kernel=kernel, n_landmarks=20).fit(TREES[:20])
    fitted.grow(TREES[20:40]).grow(kw.batch(TREES[40:45]))
    at_once = embedder(kernel=kernel, n_landmarks=45).fit(TREES[:45])
    scale = max(1.0, np.abs(at_once.gram_).max())
    assert products(fitted.transform(TREES)) == pytest.approx(
        products(at_once.transform(TREES)), abs=1e-7 * scale
    )
    assert fitted.landmark_indices_[20:].tolist() == [-1] * 25
    assert fitted.gram_ == pytest.approx(kernel.gram(fitted.landmarks_), abs=1e-12 * scale)


def test_landmarks_that_are_there_already_add_nothing():
    fitted = embedder().fit(TREES)
    rank = fitted.rank_
    before = fitted.transform(TREES)
    fitted.grow(fitted.landmarks_)
    assert fitted.rank_ == rank
    assert products(fitted.transform(TREES)) == pytest.approx(products(before), abs=1e-8)


def test_known_similarities_are_not_computed_again():
    fitted = embedder().fit(TREES[:30])
    similarities = fitted.similarities(TREES)
    fitted.grow(TREES[30:40])
    with kw.compute.counting() as counts:
        similarities = fitted.similarities(TREES, known=similarities)
    assert counts.kernel_evaluations == 10 * len(TREES)
    assert (fitted.embed(similarities) == fitted.transform(TREES)).all()


def test_the_number_of_components_holds_for_added_landmarks_too():
    fitted = embedder(n_components=8).fit(TREES[:30])
    assert fitted.grow(TREES[30:60]).rank_ == 8


# Errors.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_landmarks": 0}, "n_landmarks must be an int of at least 1"),
        ({"selection": "best"}, "selection must be one of"),
        ({"n_components": 0}, "n_components must be an int of at least 1 or None"),
        ({"tolerance": 1.0}, r"tolerance must be a number in \[0, 1\)"),
        ({"kernel": "ptk"}, "kernel must be a kernel"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        embedder(**parameters).fit(TREES)


@pytest.mark.parametrize("selection", BY_CLASS)
def test_classes_are_needed_for_strata(selection):
    with pytest.raises(kw.errors.KernelInputError, match="y"):
        embedder(selection=selection).fit(TREES)


def test_a_kernel_without_vectors_is_refused_with_its_name():
    class Distance(kw.Kernel):
        accepts = kw.arrays.SequenceBatch

        def reference(self, a, b):
            return float(abs(len(a) - len(b)))

    texts = [kw.Sequence(["a"] * n) for n in range(1, 8)]
    with pytest.raises(
        kw.errors.KernelInputError, match=r"Distance.* is not positive semidefinite"
    ):
        embedder(kernel=Distance()).fit(texts)


def test_structures_that_have_nothing_are_refused():
    kernel = kw.SubsequenceKernel(normalize=False)
    with pytest.raises(kw.errors.KernelInputError, match="span no vectors"):
        embedder(kernel=kernel).fit([kw.Sequence([]), kw.Sequence([])])


def test_nothing_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match="at least one structure"):
        embedder().fit([])


@pytest.mark.parametrize("verb", ["transform", "similarities", "residual", "grow"])
def test_verbs_need_a_fit(verb):
    with pytest.raises(NotFittedError):
        getattr(embedder(), verb)(TREES)


def test_matrices_of_the_wrong_shape_are_refused():
    fitted = embedder().fit(TREES)
    with pytest.raises(kw.errors.KernelInputError, match="25 columns"):
        fitted.embed(np.zeros((3, 4)))
    with pytest.raises(kw.errors.KernelInputError, match="columns, got"):
        fitted.inverse_neighbors(np.zeros((3, fitted.rank_ + 1)))
    with pytest.raises(kw.errors.KernelInputError, match="known similarities"):
        fitted.similarities(TREES, known=np.zeros((3, 4)))
    with pytest.raises(kw.errors.KernelInputError, match="similarities must be finite numbers"):
        fitted.embed(np.full((1, 25), np.nan))
    with pytest.raises(kw.errors.KernelInputError, match="vectors must be finite numbers"):
        fitted.inverse_neighbors(np.array([["a"] * fitted.rank_]))
    with pytest.raises(kw.errors.KernelInputError, match="k must be an int of at least 1"):
        fitted.inverse_neighbors(np.zeros((3, fitted.rank_)), k=0)
    with pytest.raises(kw.errors.KernelInputError, match="n_rows must be an int of at least 1"):
        next(fitted.iter_transform(TREES, n_rows=0))


# With scikit-learn, and on disk.


def test_pipelines_and_grids_take_it():
    model = make_pipeline(embedder(), LogisticRegression(max_iter=1000))
    grid = GridSearchCV(model, {"nystromembedder__kernel__decay": [0.3, 0.6]}, cv=2)
    assert grid.fit(kw.batch(TREES), np.array(LABELS)).best_score_ > 0.4


def test_output_can_have_names():
    fitted = embedder(n_components=2).fit(TREES)
    assert fitted.get_feature_names_out().tolist() == ["nystromembedder0", "nystromembedder1"]
    pandas = pytest.importorskip("pandas")
    frame = fitted.set_output(transform="pandas").transform(TREES)
    assert isinstance(frame, pandas.DataFrame)


def test_clones_are_not_fitted():
    copy = clone(embedder().fit(TREES))
    assert copy.get_params()["n_landmarks"] == 25
    with pytest.raises(NotFittedError):
        copy.transform(TREES)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_saved_embedders_give_the_same_vectors(tmp_path, selection):
    fitted = embedder(selection=selection).fit(TREES[:60], LABELS[:60]).grow(TREES[60:70])
    kw.save(fitted, tmp_path / "embedder.kw")
    loaded = kw.load(tmp_path / "embedder.kw")
    assert (loaded.transform(TREES) == fitted.transform(TREES)).all()
    assert loaded.residual_ == fitted.residual_
    assert loaded.grow(TREES[70:]).rank_ == fitted.grow(TREES[70:]).rank_


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("gram_", np.zeros((3, 3)), "gram_ must be"),
        ("projection_", np.full((25, 25), np.nan), "projection_ must be"),
        ("eigenvalues_", -np.ones(25), "eigenvalues_ must be at least 0"),
        ("landmark_indices_", np.zeros(3, dtype=np.int64), "landmark_indices_ must be"),
        ("residual_", 2.0, "residual_ must be"),
        ("kernel_", "x", "kernel_ must be a Kernel"),
    ],
)
def test_embedders_that_do_not_fit_together_are_not_saved(tmp_path, name, value, message):
    fitted = embedder().fit(TREES)
    setattr(fitted, name, value)
    with pytest.raises(kw.errors.ModelFormatError, match=message):
        kw.save(fitted, tmp_path / "embedder.kw")


def test_examples_keep_the_view_that_is_compared():
    examples = [
        kw.Example(str(i), views={"tree": tree, "other": kw.Sequence(["x"])})
        for i, tree in enumerate(TREES)
    ]
    fitted = embedder(kernel=kw.OnView("tree", KERNEL)).fit(examples)
    assert set(fitted.landmarks_[0].views) == {"tree"}
    assert (fitted.transform(examples) == embedder().fit(TREES).transform(TREES)).all()


# The way landmarks are chosen.


@pytest.mark.parametrize("selection", SELECTIONS)
def test_landmarks_are_distinct_positions(selection):
    chosen = embedder(selection=selection).fit(TREES, LABELS).landmark_indices_
    assert len(set(chosen.tolist())) == len(chosen) == 25
    assert chosen.min() >= 0
    assert chosen.max() < 90


@pytest.mark.parametrize("selection", ["uniform", *BY_CLASS])
def test_more_landmarks_begin_with_the_same(selection):
    few, many = (
        embedder(selection=selection, n_landmarks=n).fit(TREES, LABELS).landmark_indices_
        for n in (12, 40)
    )
    assert many[:12].tolist() == few.tolist()


def test_spread_landmarks_are_never_equal():
    repeated = TREES[:6] * 10
    fitted = embedder(selection="kmeans++").fit(repeated)
    distinct = len({tree.to_brackets() + tree.edge for tree in TREES[:6]})
    assert len(fitted.landmarks_) == distinct
    assert fitted.residual(repeated) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("selection", "n", "expected"),
    [
        ("stratified", 30, [20, 9, 1]),
        ("balanced", 30, [16, 11, 3]),  # as 7.75 : 5.20 : 1.73, but "single" has 3
        ("balanced", 80, [50, 27, 3]),  # classes without structures left are not asked for more
    ],
)
def test_strata_have_their_shares_and_none_is_left_out(selection, n, expected):
    classes = ["common"] * 60 + ["rare"] * 27 + ["single"] * 3
    chosen = embedder(selection=selection, n_landmarks=n).fit(TREES, classes)
    counts = np.bincount(np.searchsorted([60, 87], chosen.landmark_indices_, side="right"))
    assert counts.tolist() == expected


@pytest.mark.parametrize("selection", BY_CLASS)
def test_with_fewer_landmarks_than_classes_the_largest_have_one(selection):
    classes = ["a"] * 50 + ["b"] * 30 + ["c"] * 10
    chosen = embedder(selection=selection, n_landmarks=2).fit(TREES, classes).landmark_indices_
    assert chosen[0] < 50 <= chosen[1] < 80


@pytest.mark.parametrize("selection", ["kmeans++", "leverage"])
def test_rare_shapes_are_found(selection):
    """Of 200 structures, 190 are alike: a uniform choice of 12 misses most of the others."""
    common = [kw.Sequence(["a", "b", "c", f"{i % 5}"]) for i in range(190)]
    rare = [kw.Sequence([f"x{i}", f"y{i}", f"z{i}"]) for i in range(10)]
    kernel = kw.SubsequenceKernel()

    def missed(way):
        fitted = [
            embedder(kernel=kernel, selection=way, n_landmarks=20, random_state=seed)
            for seed in range(5)
        ]
        return np.mean([f.fit(common + rare).residual(rare).mean() for f in fitted])

    assert missed(selection) < 0.5 < missed("uniform")


@functools.cache
def questions():
    examples = kw.read(data_file("question-classification/TREC_10.coarse.klp.gz"), views=["grct"])
    return kw.batch([example.view("grct") for example in examples])


def test_real_questions_are_approximated_the_better_the_more_landmarks():
    trees = questions()
    kernel = kw.PartialTreeKernel()
    gram = kernel.gram(trees)
    errors = []
    for n in (50, 150, 450):
        vectors = kw.NystromEmbedder(kernel, n_landmarks=n, random_state=0).fit_transform(trees)
        errors.append(np.linalg.norm(products(vectors) - gram) / np.linalg.norm(gram))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.05


def test_no_warning_is_given_when_all_become_landmarks():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        embedder(n_landmarks=500).fit(TREES)
