"""Kernels and batches where scikit-learn takes a kernel and data."""

import numpy as np
import pytest
from cases import every_variant, number_of
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
    train_test_split,
)
from sklearn.svm import SVC, SVR

import kernelwood as kw
from kernelwood.kernels import (
    Normalized,
    OnView,
    PartialTreeKernel,
    SubsequenceKernel,
    SubsetTreeKernel,
)
from kernelwood.similarity import Exponential
from kernelwood.structures import Sequence, Tree
from kernelwood.vectors import Vectors

pytestmark = pytest.mark.filterwarnings("ignore:.*self-similarity 0:RuntimeWarning")

QUESTIONS = [f"(S (W {w}) (V (V is) (N {n})))" for w in ("who", "where") for n in "abcdefghij"]
TREES = [Tree.from_brackets(question) for question in QUESTIONS]
LABELS = np.array(["person"] * 10 + ["place"] * 10)
KERNEL = SubsetTreeKernel()
# "who" resembles "whom", "where" resembles "whither".
VECTORS = Vectors("who whom where whither".split(), [[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]])
SOFT = SubsetTreeKernel(similarity=Exponential(VECTORS, floor=0.5), gates={"S": 0.5})


def as_array(structures):
    array = np.empty(len(structures), dtype=object)
    array[:] = structures
    return array


@pytest.fixture(params=["batch", "list", "array"])
def data(request):
    return {"batch": kw.batch, "list": list, "array": as_array}[request.param](TREES)


def test_svc_learns(data):
    assert SVC(kernel=KERNEL).fit(data, LABELS).score(data, LABELS) == 1


def test_svc_predicts_structures_with_labels_it_has_not_seen(data):
    unseen = [Tree.from_brackets("(S (W who) (V (V was) (N zebra)))")]
    assert SVC(kernel=KERNEL).fit(data, LABELS).predict(kw.batch(unseen)) == ["person"]


def test_svc_is_cross_validated(data):
    assert cross_val_score(SVC(kernel=KERNEL), data, LABELS, cv=5).mean() == 1


def test_svr_learns():
    numbers = np.arange(20.0)
    fitted = SVR(kernel=PartialTreeKernel(), C=1e3).fit(kw.batch(TREES), numbers)
    assert np.abs(fitted.predict(kw.batch(TREES)) - numbers).max() < 1


def test_a_decay_is_searched_through_the_estimator(data):
    search = GridSearchCV(
        SVC(kernel=KERNEL), {"kernel__decay": [0.1, 0.5, 1.0], "C": [1, 10]}, cv=3
    )
    search.fit(data, LABELS)
    assert search.best_score_ == 1 and len(search.cv_results_["params"]) == 6
    assert KERNEL.decay == 0.4  # ours is left alone


def test_numpy_grids_are_searched():
    sequences = kw.batch([Sequence(t.label for t in tree.preorder()) for tree in TREES])
    grid = {"kernel__max_length": np.arange(1, 4), "kernel__decay": np.linspace(0.2, 1, 3)}
    search = GridSearchCV(SVC(kernel=SubsequenceKernel()), grid, cv=3).fit(sequences, LABELS)
    assert search.best_score_ == 1


def test_a_combination_is_searched_by_its_parts():
    kernel = Normalized(0.5 * SubsetTreeKernel() + PartialTreeKernel())
    grid = {"kernel__kernel__left__factor": [0.1, 1], "kernel__kernel__right__decay": [0.2, 0.4]}
    search = GridSearchCV(SVC(kernel=kernel), grid, cv=3).fit(kw.batch(TREES), LABELS)
    assert search.best_score_ == 1


def test_views_of_examples_are_classified():
    words = [Sequence(leaf.label for leaf in tree.leaves()) for tree in TREES]
    examples = kw.batch(
        [
            kw.Example(str(i), views={"tree": t, "words": w})
            for i, (t, w) in enumerate(zip(TREES, words, strict=True))
        ]
    )
    kernel = OnView("tree", KERNEL) + OnView("words", SubsequenceKernel())
    assert cross_val_score(SVC(kernel=kernel), examples, LABELS, cv=4).mean() == 1


@every_variant
def test_kernels_are_cloned(kernel):
    kernel = kernel.clone().set_params(**{number_of(kernel): 0.3})
    assert clone(kernel) == kernel and clone(kernel) is not kernel


def test_combinations_are_cloned():
    kernel = Normalized(2 * SubsetTreeKernel(decay=0.3) + PartialTreeKernel() ** 2)
    copy = clone(kernel)
    assert copy == kernel and copy.kernel.left is not kernel.kernel.left


def test_a_kernel_without_parameters_fits_into_an_estimator():
    class SameRootKernel(kw.Kernel):
        accepts = kw.arrays.TreeBatch

        def reference(self, a, b):
            return float(a.children[0] == b.children[0])

    assert cross_val_score(SVC(kernel=SameRootKernel()), kw.batch(TREES), LABELS, cv=5).mean() == 1


def test_estimators_show_their_kernel():
    assert "SubsetTreeKernel(decay=0.3)" in repr(SVC(kernel=SubsetTreeKernel(decay=0.3)))


def test_a_gaussian_process_classifies(data):
    data = as_array(TREES) if isinstance(data, list) else data
    model = GaussianProcessClassifier(kernel=5.0 * KERNEL).fit(data, LABELS)
    assert model.score(data, LABELS) == 1
    probabilities = model.predict_proba(data)
    assert np.isfinite(probabilities).all() and np.allclose(probabilities.sum(axis=1), 1)


def test_a_gaussian_process_classifies_several_classes():
    labels = np.arange(20) % 3
    model = GaussianProcessClassifier(kernel=KERNEL).fit(kw.batch(TREES), labels)
    assert set(model.predict(kw.batch(TREES))) <= {0, 1, 2}


def test_a_gaussian_process_is_cross_validated():
    scores = cross_val_score(
        GaussianProcessClassifier(kernel=KERNEL), as_array(TREES), LABELS, cv=4
    )
    assert scores.mean() == 1


def test_a_gaussian_process_regresses():
    model = GaussianProcessRegressor(kernel=KERNEL, alpha=1e-6).fit(as_array(TREES), range(20))
    mean, deviation = model.predict(as_array(TREES), return_std=True)
    assert np.abs(mean - range(20)).max() < 0.1 and np.isfinite(deviation).all()


GAUSSIAN_PROCESS = [
    "trees = [kw.Tree.from_brackets(f'(S (W {w}) (N {n}))') for w in 'xy' for n in 'abcdef']",
    "model = GaussianProcessClassifier(kernel=kernel).fit(kw.batch(trees), [0] * 6 + [1] * 6)",
    "print(model.score(kw.batch(trees), [0] * 6 + [1] * 6))",
]


@pytest.mark.parametrize(
    "imports",
    [
        [
            "from sklearn.gaussian_process import GaussianProcessClassifier",
            "import kernelwood as kw",
            "kernel = kw.SubsetTreeKernel()",
        ],
        [
            "import pickle, kernelwood as kw",
            "kernel = kw.SubsetTreeKernel()",
            "from sklearn.gaussian_process import GaussianProcessClassifier",
            "kernel = pickle.loads(pickle.dumps(kernel + kw.SubtreeKernel()))",
        ],
    ],
    ids=["scikit-learn first", "kernel first, pickled combination"],
)
def test_a_gaussian_process_takes_kernels_whatever_was_imported_first(imports, run_python):
    assert run_python(*imports, *GAUSSIAN_PROCESS) == "1.0"


def test_a_batch_is_split_into_training_and_test():
    train, test, y_train, y_test = train_test_split(
        kw.batch(TREES), LABELS, test_size=6, random_state=0, stratify=LABELS
    )
    assert (train.shape, test.shape) == ((14,), (6,))
    by_tree = dict(zip(TREES, LABELS, strict=True))
    assert [by_tree[tree] for tree in train] == list(y_train)
    assert [by_tree[tree] for tree in test] == list(y_test)


def test_folds_index_a_batch():
    batch = kw.batch(TREES)
    for train, test in StratifiedKFold(4).split(batch, LABELS):
        assert list(batch[test]) == [TREES[i] for i in test]
        assert len(batch[train]) == 15


def test_a_fitted_svc_survives_pickling():
    import pickle

    model = SVC(kernel=KERNEL).fit(kw.batch(TREES), LABELS)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(TREES), model.decision_function(TREES))


def test_parallel_cross_validation_gives_the_same_scores():
    labels = np.arange(20) % 2
    alone, together = (
        cross_val_score(SVC(kernel=KERNEL), kw.batch(TREES), labels, cv=4, n_jobs=n) for n in (1, 2)
    )
    np.testing.assert_array_equal(alone, together)


# Kernels with a similarity and gates.


def test_a_soft_kernel_generalises_to_similar_words():
    model = SVC(kernel=SOFT).fit(kw.batch(TREES), LABELS)
    unseen = [Tree.from_brackets(f"(S (W {w}) (V (V was) (N z)))") for w in ("whom", "whither")]
    assert model.predict(kw.batch(unseen)).tolist() == ["person", "place"]


def test_parameters_of_a_similarity_are_searched_through_the_estimator():
    grid = {
        "kernel__similarity__floor": [0.1, 0.5],
        "kernel__gates": [None, {"": 0.5}],
        "kernel__gate_on": ["edge", "node"],
    }
    search = GridSearchCV(SVC(kernel=SOFT), grid, cv=3).fit(kw.batch(TREES), LABELS)
    assert search.best_score_ == 1 and len(search.cv_results_["params"]) == 8
    assert SOFT.similarity.floor == 0.5 and SOFT.gates == {"S": 0.5}  # ours is left alone


def test_a_clone_of_a_soft_kernel_shares_the_vectors():
    assert clone(SOFT).similarity is not SOFT.similarity
    assert clone(SOFT).similarity.vectors is VECTORS


def test_a_fitted_svc_with_a_soft_kernel_survives_pickling():
    import pickle

    model = SVC(kernel=SOFT).fit(kw.batch(TREES), LABELS)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(TREES), model.decision_function(TREES))


def test_a_gaussian_process_takes_a_soft_kernel():
    kernel = SubsetTreeKernel(similarity=Exponential(VECTORS), gates={"S": 0.5})
    model = GaussianProcessClassifier(kernel=5.0 * kernel).fit(kw.batch(TREES), LABELS)
    assert model.score(kw.batch(TREES), LABELS) == 1
