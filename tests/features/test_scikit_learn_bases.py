"""Estimators are those of scikit-learn from the moment it is imported, and do not import it."""

import pytest

import kernelwood as kw
from kernelwood.features import Classifier, Clusterer, Estimator
from kernelwood.learners import LEARNERS

MADE = [
    "import sys",
    "import kernelwood as kw",
    "svc = kw.KernelSVC(kw.SubsetTreeKernel(), C=2.0)",
    "hasher = kw.KernelHasher(kw.SubsetTreeKernel(), n_references=6)",
    "assert 'sklearn' not in sys.modules",
]
TREES = "[kw.Tree(label, [kw.Tree('b')]) for label in 'xyzxyz']"


def test_classes_and_objects_made_before_the_import_become_scikit_learns(run_python):
    lines = [
        *MADE,
        "class Own(kw.KernelSVC): pass",
        "from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, ClusterMixin",
        "print(isinstance(svc, BaseEstimator), issubclass(kw.KernelSVC, ClassifierMixin),",
        "      isinstance(hasher, TransformerMixin), issubclass(kw.KernelKMeans, ClusterMixin),",
        "      issubclass(Own, ClassifierMixin),",
        "      isinstance(kw.RelationExtractor(), BaseEstimator))",
    ]
    assert run_python(*lines) == "True True True True True True"


def test_they_get_what_scikit_learn_adds_to_subclasses(run_python):
    lines = [
        *MADE,
        "from sklearn.base import clone, is_classifier",
        "hasher.set_output(transform='pandas')",
        f"made = hasher.fit({TREES}).transform({TREES})",
        "print(type(made).__name__, is_classifier(svc), clone(svc).C)",
    ]
    pytest.importorskip("pandas")
    assert run_python(*lines) == "DataFrame True 2.0"


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("print(repr(svc))", "KernelSVC(C=2.0, kernel=SubsetTreeKernel())"),
        ("print(svc.set_params(C=3.0).C)", "3.0"),
        ("print(svc.get_params()['kernel__decay'])", "0.4"),
        (f"print(svc.fit({TREES}, list('ababab')).score({TREES}, list('ababab')) > 0)", "True"),
        ("print(svc.__sklearn_tags__().estimator_type)", "classifier"),
        ("print(hasher.__sklearn_tags__().input_tags.two_d_array)", "False"),
        ("print('score' in dir(svc), hasattr(svc, 'set_score_request'))", "True True"),
        ("print('KernelSVC' in svc._repr_html_())", "True"),
    ],
)
def test_what_scikit_learn_provides_can_be_used_before_it_is_imported(use, expected, run_python):
    assert run_python(*MADE, use) == expected


def test_own_parameters_are_listed_without_it_and_as_it_lists_them(run_python):
    lines = [
        *MADE,
        "before = list(svc.get_params(deep=False).items())",
        "assert 'sklearn' not in sys.modules",
        "import sklearn",
        "print(before == list(svc.get_params(deep=False).items()))",
    ]
    assert run_python(*lines) == "True"


def test_an_attribute_that_is_missing_is_an_error_before_and_after(run_python):
    lines = [
        *MADE,
        "print(hasattr(svc, 'kernel_'), hasattr(svc, '_own'), 'sklearn' in sys.modules)",
        "print(hasattr(svc, 'no_such'), 'sklearn' in sys.modules, hasattr(svc, 'kernel_'))",
        "svc.no_such",
    ]
    guarded = "\n    ".join(["try:", "svc.no_such", "pass"])
    lines[-1] = guarded + "\nexcept AttributeError as error:\n    print(error)"
    assert run_python(*lines).splitlines() == [
        "False False False",
        "False True False",
        "'KernelSVC' object has no attribute 'no_such'",
    ]


def test_objects_are_copied_and_pickled_without_it(run_python):
    lines = [
        *MADE,
        "import copy, pickle",
        "print(copy.deepcopy(svc).C, pickle.loads(pickle.dumps(svc)).C, 'sklearn' in sys.modules)",
    ]
    assert run_python(*lines) == "2.0 2.0 False"


def test_the_module_of_scikit_learn_keeps_its_own_loader(run_python):
    lines = [
        *MADE,
        "import inspect, sklearn.base",
        "assert type(sklearn.base.__loader__) is type(sklearn.__loader__)",
        "assert sklearn.base.__spec__.loader is sklearn.base.__loader__",
        "assert 'class BaseEstimator' in inspect.getsource(sklearn.base)",
        "print([f for f in sys.meta_path if 'kernelwood.features' in type(f).__module__])",
    ]
    assert run_python(*lines) == "[]"


@pytest.mark.parametrize("first", ["import sklearn.base", "import sklearn", "import sklearn.svm"])
def test_scikit_learn_may_be_imported_first(first, run_python):
    lines = [first, "import kernelwood as kw", "from sklearn.base import BaseEstimator"]
    assert run_python(*lines, "print(issubclass(kw.KernelSVC, BaseEstimator))") == "True"


def test_the_order_of_base_classes_is_that_of_plain_subclasses():
    from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin

    for cls in (*LEARNERS.values(), kw.KernelKMeans, kw.KernelHasher, kw.RelationExtractor):
        order = [base for base in cls.__mro__ if base not in (Estimator, Classifier, Clusterer)]
        assert order.index(BaseEstimator) < order.index(object)
        for mixin in (ClassifierMixin, ClusterMixin):
            if mixin in order:
                assert order.index(mixin) < order.index(BaseEstimator)
