from __future__ import annotations

import functools

import numpy as np
import pytest
import strategies
from corpora import data_file
from features import oracles
from hypothesis import given, strategies as st
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import kernelwood as kw
from kernelwood.datasets import load_questions
from kernelwood.features import ReferenceSelector, compare_rows, draw_bits, pack, product, unpack
from kernelwood.features.bit_blocks import inverse_root, make_bits

METHODS = ("rknn", "rmm", "kulis")
TREES = strategies.sample_trees(120, seed=1, max_nodes=15)


def hasher(**parameters):
    options = {"n_references": 20, "n_bits": 150, "random_state": 3, **parameters}
    return kw.KernelHasher(options.pop("kernel", kw.SubsetTreeKernel(decay=0.5)), **options)


def bits_by_definition(fitted, similarities):
    """Every bit of every structure, and how far its score is from the threshold."""
    gram = fitted.gram_.tolist()
    bits = np.zeros((len(similarities), len(fitted.subsets_)), dtype=int)
    margins = np.full(bits.shape, np.inf)
    for column, (first, second) in enumerate(fitted.subsets_.tolist()):
        if fitted.method == "rmm":
            weights, threshold = oracles.boundary(gram, first, second)
        for row, k in enumerate(similarities.tolist()):
            if fitted.method == "rknn":
                bits[row, column] = oracles.nearest_bit(k, first, second)
                continue
            if fitted.method == "rmm":
                score = sum(w * k[j] for j, w in weights.items()) - threshold
            else:
                score = oracles.kulis_score(k, gram, [*first, *second])
            bits[row, column], margins[row, column] = score > 0, abs(score)
    return bits, margins


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("subset_size", [1, 2, 4])
def test_bits_are_those_of_the_definition(method, subset_size):
    # Few trees are equally unlike both subsets: there, rounding decides.
    kernel = kw.PartialTreeKernel(decay=0.7)
    fitted = hasher(kernel=kernel, method=method, subset_size=subset_size, n_bits=40).fit(TREES)
    similarities = fitted.similarities(TREES[:30])
    expected, margins = bits_by_definition(fitted, similarities)
    clear = margins > 1e-8
    assert clear.mean() > 0.95
    assert (fitted.transform(TREES[:30])[clear] == expected[clear]).all()


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_boundaries_halve_the_way_between_convex_hulls(seed, size):
    points = np.random.default_rng(seed).normal(size=(2 * size, 9))
    gram = points @ points.T
    first, second = np.arange(2 * size).reshape(2, size)
    [weights], [threshold] = boundaries(gram, [[first, second]])
    expected, middle = oracles.boundary(gram, first.tolist(), second.tolist())
    assert weights == pytest.approx([expected[i] for i in range(2 * size)], abs=1e-6)
    assert threshold == pytest.approx(middle, abs=1e-6)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("size", [1, 2, 5])
def test_boundaries_are_those_of_a_support_vector_machine(seed, size):
    points = np.random.default_rng(seed).normal(size=(2 * size, 6))
    points[size:, 0] += 4  # well apart, or libsvm would take for ever
    gram = points @ points.T
    [weights], [threshold] = boundaries(gram, np.arange(2 * size).reshape(1, 2, size))
    machine = SVC(kernel="precomputed", C=1e6, tol=1e-8, max_iter=1_000_000)
    machine.fit(gram, np.repeat([0, 1], size))
    dual = np.zeros(2 * size)
    dual[machine.support_] = machine.dual_coef_[0]
    scale = np.abs(dual).sum() / 2
    assert weights == pytest.approx(dual / scale, abs=1e-5)
    assert threshold == pytest.approx(-machine.intercept_[0] / scale, abs=1e-5)


def boundaries(gram, subsets):
    from kernelwood import _native

    subsets = np.ascontiguousarray(subsets, dtype=np.int32)
    weights = np.empty((len(subsets), subsets[0].size))
    thresholds = np.empty(len(subsets))
    _native.margin_boundaries(np.ascontiguousarray(gram, dtype=float), subsets, weights, thresholds)
    return weights, thresholds


def test_sets_that_cannot_be_told_apart_have_no_boundary():
    weights, thresholds = boundaries(np.ones((4, 4)), [[[0, 1], [2, 3]]])
    assert not weights.any() and not thresholds.any()


def test_a_similarity_that_is_no_inner_product_ends_in_finite_weights():
    random = np.random.default_rng(0)
    gram = random.uniform(-1, 1, size=(40, 40))
    gram += gram.T
    subsets = np.array([random.permutation(40)[:10].reshape(2, 5) for _ in range(200)])
    weights, thresholds = boundaries(gram, subsets)
    assert np.isfinite(weights).all() and np.isfinite(thresholds).all()


@pytest.mark.parametrize("method", METHODS)
def test_codes_do_not_depend_on_threads_or_company(method):
    fitted = hasher(method=method).fit(TREES)
    codes = fitted.codes(TREES)
    alone = np.concatenate([fitted.codes([tree]) for tree in TREES])
    threaded = clone(fitted).set_params(n_jobs=2).fit(kw.batch(TREES))
    assert (codes == alone).all()
    assert (codes == threaded.codes(kw.batch(TREES))).all()


@pytest.mark.parametrize("method", METHODS)
def test_codes_do_not_depend_on_the_tile_size(method, monkeypatch):
    fitted = hasher(method=method).fit(TREES)
    codes = fitted.codes(TREES)
    small = functools.partial(compare_rows, n_rows=7)
    monkeypatch.setattr("kernelwood.features.hashing.compare_rows", small)
    assert (fitted.codes(TREES) == codes).all()


def test_progress_is_that_of_the_whole(monkeypatch):
    fitted, seen = hasher().fit(TREES), []
    small = functools.partial(compare_rows, n_rows=50)
    monkeypatch.setattr("kernelwood.features.hashing.compare_rows", small)
    with kw.config_context(progress=lambda done, total: seen.append((done, total))):
        fitted.codes(TREES)
    assert {total for _, total in seen} == {20 * 120}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (2400, 2400)


def test_codes_do_not_depend_on_threads_for_small_work(force_threads):
    fitted = hasher().fit(TREES)
    threaded = clone(fitted).set_params(n_jobs=3).fit(TREES)
    assert (fitted.codes(TREES) == threaded.codes(TREES)).all()


def test_codes_are_the_packed_bits():
    fitted = hasher().fit(TREES)
    assert (fitted.codes(TREES) == pack(fitted.transform(TREES))).all()


def test_a_structure_costs_as_many_evaluations_as_there_are_references():
    for n_bits in (10, 1000):
        fitted = hasher(n_bits=n_bits).fit(TREES)
        with kw.compute.counting() as counters:
            fitted.codes(TREES)
        assert counters.kernel_evaluations == 20 * len(TREES)


@pytest.mark.parametrize("method", METHODS)
def test_more_bits_begin_with_the_same_ones(method):
    few, many = hasher(method=method).fit(TREES), hasher(method=method, n_bits=300).fit(TREES)
    assert (few.transform(TREES) == many.transform(TREES)[:, :150]).all()
    assert (few.subsets_ == many.subsets_[:150]).all()


def test_more_references_begin_with_the_same_ones():
    few, many = hasher().fit(TREES), hasher(n_references=40).fit(TREES)
    assert few.reference_indices_.tolist() == many.reference_indices_[:20].tolist()


def test_fitting_again_forgets_what_was_before():
    again = hasher().fit(TREES[:60]).grow(n_bits=20).fit(TREES)
    assert (again.codes(TREES) == hasher().fit(TREES).codes(TREES)).all()


def test_a_fit_that_fails_leaves_nothing_fitted():
    broken = hasher(subset_size=11)
    with pytest.raises(kw.errors.KernelInputError):
        broken.fit(TREES)
    with pytest.raises(NotFittedError):
        broken.codes(TREES)


def test_examples_are_kept_with_the_views_that_are_read():
    examples = [kw.Example(str(i), views={"tree": t, "text": "x"}) for i, t in enumerate(TREES)]
    fitted = hasher(kernel=kw.OnView("tree", kw.SubsetTreeKernel())).fit(examples)
    assert list(fitted.references_[0].views) == ["tree"]


def test_growing_bits_gives_what_fitting_gives():
    grown = hasher(n_bits=70).fit(TREES).grow(n_bits=80)
    assert (grown.transform(TREES) == hasher().fit(TREES).transform(TREES)).all()
    assert (grown.subsets_ == hasher().fit(TREES).subsets_).all()


@pytest.mark.parametrize("method", METHODS)
def test_growing_keeps_the_bits_that_are_there(method):
    fitted = hasher(method=method).fit(TREES)
    before, known = fitted.codes(TREES), fitted.similarities(TREES)
    fitted.grow(n_bits=90, references=TREES[-5:])
    with kw.compute.counting() as counters:
        similarities = fitted.similarities(TREES, known=known)
    assert counters.kernel_evaluations == 5 * len(TREES)
    assert (similarities[:, :20] == known).all()
    after = fitted.codes(TREES)
    assert (unpack(after, 240)[:, :150] == unpack(before, 150)).all()
    added = fitted.encode(similarities, first_bit=150)
    padded = np.zeros_like(after)
    padded[:, : before.shape[1]] = before
    assert (padded | added == after).all()
    assert (fitted.subsets_[150:] >= 20).any()
    assert fitted.reference_indices_[20:].tolist() == [-1] * 5


def test_bits_from_the_middle_of_a_block_are_the_same():
    for method in METHODS:
        fitted = hasher(method=method).fit(TREES)
        rest = unpack(fitted.encode(fitted.similarities(TREES), first_bit=100), 150)
        assert not rest[:, :100].any()
        assert (rest[:, 100:] == fitted.transform(TREES)[:, 100:]).all()


def test_every_bit_tells_some_references_apart():
    # Three different trees in many copies: most draws hold equal trees only.
    trees = [kw.Tree.from_brackets(text) for text in ("(a b)", "(a c)", "(d e)")]
    fitted = hasher(subset_size=1, n_references=30).fit([trees[i % 3] for i in range(60)])
    bits = fitted.transform(list(fitted.references_))
    assert ((bits.sum(axis=0) > 0) & (bits.sum(axis=0) < 30)).all()


@pytest.mark.parametrize("method", METHODS)
def test_bits_that_are_drawn_again_are_those_of_their_subsets(method):
    lengths = np.array([1.0, 1.0, 1.0, 1.0, 3.0, 2.0])  # most pairs are of equal references
    block = draw_bits(
        method, np.outer(lengths, lengths), seed=0, first_bit=0, n_bits=60, subset_size=1
    )
    expected = make_bits(method, np.outer(lengths, lengths), block.subsets)
    for name in ("subsets", "weights", "thresholds", "projection"):
        np.testing.assert_array_equal(getattr(block, name), getattr(expected, name))


def test_subsets_that_share_structures_are_told():
    trees = [TREES[i % 5] for i in range(60)]
    with pytest.warns(UserWarning, match="use a smaller subset_size than 10"):
        hasher(subset_size=10, n_references=30).fit(trees)


def test_bits_that_tell_nothing_are_counted():
    with pytest.warns(UserWarning, match="150 of 150 bits are the same for all references"):
        hasher().fit([TREES[0]] * 30)


@pytest.mark.filterwarnings("ignore:KernelHasher")
@pytest.mark.parametrize("method", METHODS)
def test_equal_references_give_bits_all_the_same(method):
    fitted = hasher(method=method).fit([TREES[0]] * 30)
    assert len(np.unique(fitted.codes(TREES), axis=0)) <= len(TREES)
    assert len(np.unique(fitted.codes([TREES[0]] * 30), axis=0)) == 1


def test_the_inverse_root_whitens():
    random = np.random.default_rng(0)
    points = random.normal(size=(12, 5))
    gram = points @ points.T
    centering = np.eye(12) - np.ones((12, 12)) / 12
    root, centered = inverse_root(gram), centering @ gram @ centering
    whitened = root @ centered @ root
    assert whitened @ whitened == pytest.approx(whitened, abs=1e-9)  # a projection
    assert np.trace(whitened) == pytest.approx(5)


def test_the_inverse_root_does_not_depend_on_threads_of_blas():
    gram = np.corrcoef(np.random.default_rng(0).normal(size=(300, 150)))
    roots = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            roots.append(inverse_root(gram))
    np.testing.assert_array_equal(*roots)


def test_the_inverse_root_is_safe_with_equal_references():
    gram = np.full((10, 10), 1 / 3) + np.random.default_rng(0).normal(size=(10, 10)) * 1e-17
    assert np.abs(inverse_root((gram + gram.T) / 2)).max() < 1e-3


def test_the_inverse_root_leaves_out_negative_eigenvalues():
    gram = np.diag([1.0, 2.0, -3.0, 4.0])
    assert np.isfinite(inverse_root(gram)).all()


def test_products_of_a_row_do_not_depend_on_other_rows():
    random = np.random.default_rng(1)
    for dtype in ("float32", "float64"):
        left, right = random.normal(size=(37, 53)).astype(dtype), random.normal(size=(53, 21))
        whole = product(left, right)
        assert whole == pytest.approx(left.astype(float) @ right, abs=1e-12)
        assert (np.concatenate([product(row[None], right) for row in left]) == whole).all()
        assert (product(left, right[:, :1]) == whole[:, :1]).all()


def test_codes_are_the_same_in_the_middle_of_the_words():
    gram = np.random.default_rng(2).uniform(size=(30, 30))
    gram = gram @ gram.T
    block = draw_bits("rmm", gram, seed=0, first_bit=0, n_bits=100, subset_size=2)
    at_zero, shifted = np.zeros((30, 2), np.uint64), np.zeros((30, 3), np.uint64)
    block.fill(gram, 0, at_zero)
    block.fill(gram, 37, shifted)
    assert (unpack(shifted, 137)[:, 37:] == unpack(at_zero, 100)).all()


def test_float32_kernels_are_hashed():
    fitted = hasher(kernel=kw.SubsetTreeKernel(decay=0.5, dtype="float32")).fit(TREES)
    assert fitted.similarities(TREES).dtype == np.float32
    assert (fitted.transform(TREES) != hasher().fit(TREES).transform(TREES)).mean() < 0.02


def test_examples_are_hashed_by_their_views():
    examples = [
        kw.Example(str(i), views={"tree": tree, "words": kw.Sequence(["a", tree.label])})
        for i, tree in enumerate(TREES)
    ]
    kernel = kw.OnView("tree", kw.SubsetTreeKernel()) + kw.OnView("words", kw.SubsequenceKernel())
    fitted = hasher(kernel=kernel).fit(examples)
    assert (fitted.transform(examples) == fitted.transform(kw.batch(examples))).all()


def test_the_callers_kernel_may_change_after_fitting():
    kernel = kw.SubsetTreeKernel(decay=0.5)
    fitted = hasher(kernel=kernel).fit(TREES)
    before = fitted.codes(TREES)
    kernel.set_params(decay=0.1)
    assert (fitted.codes(TREES) == before).all()


def test_a_pipeline_with_a_grid_search_over_the_kernel():
    questions = kw.batch(load_questions())
    pipeline = make_pipeline(hasher(n_bits=64), RandomForestClassifier(10, random_state=0))
    grid = {"kernelhasher__kernel__decay": [0.2, 0.8], "kernelhasher__method": ["rknn", "rmm"]}
    search = GridSearchCV(pipeline, grid, cv=2)
    search.fit(questions.view("tree"), questions.labels)
    assert search.best_score_ > 0.5  # a sixth by chance


def test_features_have_names():
    names = hasher(n_bits=3).fit(TREES).get_feature_names_out()
    assert names.tolist() == ["kernelhasher0", "kernelhasher1", "kernelhasher2"]


def test_the_seed_is_kept():
    first = hasher(random_state=None).fit(TREES)
    again = hasher(random_state=first.seed_).fit(TREES)
    assert (first.codes(TREES) == again.codes(TREES)).all()


def test_generators_are_seeds_too():
    codes = [
        hasher(random_state=make(5)).fit(TREES).codes(TREES)
        for make in (np.random.default_rng, np.random.RandomState)
        for _ in range(2)
    ]
    assert (codes[0] == codes[1]).all() and (codes[2] == codes[3]).all()
    assert (codes[0] != codes[2]).any()


def test_fewer_structures_than_references_is_told():
    with pytest.warns(UserWarning, match="10 structures are fewer than n_references=20"):
        fitted = hasher().fit(TREES[:10])
    assert len(fitted.references_) == 10


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "lsh"}, "method must be one of"),
        ({"n_references": 1}, "n_references must be an int of at least 2"),
        ({"n_bits": 0}, "n_bits must be an int of at least 1"),
        ({"subset_size": 2.0}, "subset_size must be an int"),
        ({"subset_size": 11}, "need 22 references, there are 20"),
        ({"random_state": "x"}, "random_state must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"kernel": "sst"}, "kernel must be a kernel"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        hasher(**parameters).fit(TREES)


def test_what_is_not_fitted_says_so():
    with pytest.raises(NotFittedError, match="call fit"):
        hasher().transform(TREES)


@pytest.mark.parametrize("n_bits", [2**40, 2**63 - 1])
def test_more_bits_than_memory_are_refused(n_bits):
    with pytest.raises(kw.errors.MemoryBudgetError, match="bits needs"):
        draw_bits("rknn", np.eye(4), seed=0, first_bit=0, n_bits=n_bits, subset_size=2)


def test_no_structures_are_refused():
    with pytest.raises(kw.errors.KernelInputError, match="at least one structure"):
        hasher().fit([])


def test_similarities_of_the_wrong_shape_are_refused():
    fitted = hasher().fit(TREES)
    with pytest.raises(kw.errors.KernelInputError, match="must have 20 columns"):
        fitted.encode(np.zeros((3, 19)))
    with pytest.raises(kw.errors.KernelInputError, match="known similarities must have 120 rows"):
        fitted.similarities(TREES, known=np.zeros((3, 20)))


@pytest.fixture(scope="module")
def question_trees():
    path = data_file("question-classification", "train_5500.coarse.klp.gz")
    return kw.batch([example.view("grct") for example in kw.read(path)])


@pytest.mark.parametrize("method", ["rknn", "rmm"])
@pytest.mark.parametrize("kernel", [kw.SubsetTreeKernel(), kw.PartialTreeKernel()])
def test_similar_questions_have_similar_codes(question_trees, method, kernel):
    trees = question_trees
    fitted = kw.KernelHasher(kernel, method=method, random_state=0).fit(trees)
    bits = fitted.transform(trees[:600]).astype(np.float32)
    distances = bits @ (1 - bits.T) + (1 - bits) @ bits.T
    pairs = np.triu_indices(600, 1)
    similarities = kernel.gram(trees[:600])
    assert spearmanr(similarities[pairs], distances[pairs])[0] < -0.8


# Chosen references.


LABELS = ["ab"[size % 2] for size in kw.batch(TREES).sizes]
CHOICE = ReferenceSelector(kw.SubtreeKernel(), n_candidates=8, n_samples=30, n_steps=4)


@pytest.mark.parametrize("method", METHODS)
def test_references_by_information_bring_their_bits(method):
    fitted = hasher(method=method, n_bits=60, references=CHOICE).fit(TREES, LABELS)
    selector = clone(CHOICE).set_params(
        kernel=fitted.kernel, method=method, n_bits=60, n_references=20, random_state=3
    )
    selector.fit(TREES, LABELS)
    assert fitted.reference_indices_.tolist() == selector.indices_.tolist()
    assert (fitted.subsets_ == selector.subsets_).all()


def test_references_by_name_have_the_options_of_a_selector_by_default():
    by_name = hasher(n_bits=20, n_references=4, references="information").fit(TREES, LABELS)
    by_selector = hasher(
        n_bits=20, n_references=4, references=ReferenceSelector(kw.SubtreeKernel())
    ).fit(TREES, LABELS)
    assert (by_name.codes(TREES) == by_selector.codes(TREES)).all()


def test_references_by_coverage_get_bits_like_any_others():
    fitted = hasher(references="coverage").fit(TREES, LABELS)
    drawn = draw_bits("rmm", fitted.gram_, seed=3, first_bit=0, n_bits=150, subset_size=2)
    assert (fitted.subsets_ == drawn.subsets).all()


def test_bits_grow_on_chosen_references():
    fitted = hasher(n_bits=60, references=CHOICE).fit(TREES, LABELS)
    before = fitted.transform(TREES)
    assert (fitted.grow(n_bits=20).transform(TREES)[:, :60] == before).all()


def test_a_selector_that_is_given_is_left_alone():
    choice = clone(CHOICE)
    before = repr(choice.get_params())
    hasher(n_bits=60, references=choice).fit(TREES, LABELS)
    assert repr(choice.get_params()) == before and not hasattr(choice, "indices_")


def test_codes_of_chosen_references_do_not_depend_on_threads(force_threads):
    alone = hasher(n_bits=60, references=CHOICE).fit(TREES, LABELS)
    threaded = hasher(n_bits=60, references=CHOICE, n_jobs=3).fit(TREES, LABELS)
    assert (alone.codes(TREES) == threaded.codes(TREES)).all()


@pytest.mark.parametrize("references", ["information", "coverage", CHOICE], ids=["i", "c", "s"])
def test_references_by_classes_need_classes(references):
    with pytest.raises(
        kw.errors.KernelInputError, match="y is missing, and references are chosen by classes"
    ):
        hasher(references=references).fit(TREES)


@pytest.mark.parametrize("references", ["best", None, 3, kw.SubtreeKernel()], ids=repr)
def test_another_choice_of_references_is_refused(references):
    with pytest.raises(kw.errors.KernelInputError, match="references must be one of"):
        hasher(references=references).fit(TREES, LABELS)


def test_options_of_a_selector_are_checked():
    with pytest.raises(kw.errors.KernelInputError, match="ReferenceSelector: n_samples must be"):
        hasher(references=clone(CHOICE).set_params(n_samples=0)).fit(TREES, LABELS)
