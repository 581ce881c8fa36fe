"""Cross-validation on executors gives the bits, the order and the warnings of one without."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from annotated import documents
from executors import SeparateWorkers, processes  # noqa: F401

import kernelwood as kw

CORPUS = documents(8)
# Few trees, and more references than there are candidates, of which a warning tells.
FOREST = {"n_estimators": 5, "n_references": 100}


@pytest.fixture(scope="module")
def threads():
    with ThreadPoolExecutor(2) as pool:
        yield pool


def validate(executor, extractor, corpus, **options):
    """Return the validation, the warnings and the number of kernel evaluations."""
    with (
        kw.config_context(executor=executor),
        kw.compute.counting() as counters,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        found = extractor.cross_validate(corpus, n_splits=2, n_bootstrap=10, **options)
    texts = [(one.category, str(one.message)) for one in caught]
    return found, texts, counters.kernel_evaluations


def check(executor, extractor, corpus, **options):
    expected, *others = validate(None, extractor, corpus, **options)
    found, *found_others = validate(executor, extractor, corpus, **options)
    assert found.to_dict() == expected.to_dict()
    assert [part.to_dict() for part in found.parts] == [part.to_dict() for part in expected.parts]
    assert found_others == others
    for one, other in zip(found.predictions, expected.predictions, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)
        assert one.classes == other.classes
        assert one[0].to_dict(evidence=True) == other[0].to_dict(evidence=True)
    return found, found_others[0]


@pytest.mark.parametrize("workers", ["threads", "separate"])
def test_folds_are_the_same(workers, threads):
    extractor = kw.RelationExtractor(random_state=0)
    executor = threads if workers == "threads" else SeparateWorkers(2)
    found, _ = check(executor, extractor, CORPUS, predictions=True)
    assert len(found.predictions) == 2


@pytest.mark.slow
def test_folds_are_the_same_in_processes(processes):  # noqa: F811
    check(processes, kw.RelationExtractor(random_state=0), CORPUS, predictions=True)


def test_warnings_of_folds_come_in_their_order(threads):
    extractor = kw.RelationExtractor("klsh-rf", options=FOREST, random_state=0)
    _, texts = check(threads, extractor, CORPUS)
    assert len(texts) >= 4


def test_models_are_not_sent_back_unless_asked_for():
    workers = SeparateWorkers(2)
    found, *_ = validate(workers, kw.RelationExtractor(random_state=0), CORPUS)
    assert found.predictions == () and workers.n_with_data == 2


def test_progress_counts_folds(threads):
    seen = []
    with kw.config_context(executor=threads, progress=lambda *now: seen.append(now)):
        kw.RelationExtractor(random_state=0).cross_validate(CORPUS, n_splits=2)
    assert seen == [(1, 2), (2, 2)]


def test_the_first_error_of_folds_is_raised(threads):
    extractor = kw.RelationExtractor(options={"C": -1.0}, random_state=0)
    texts = []
    for executor in (None, threads):
        with kw.config_context(executor=executor), pytest.raises(kw.KernelwoodError) as caught:
            extractor.cross_validate(CORPUS, n_splits=2)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_learning_curves_are_the_same(threads):
    extractor = kw.RelationExtractor(random_state=0)
    curves = []
    for executor in (None, threads):
        with kw.config_context(executor=executor), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            curve = extractor.learning_curve(CORPUS, n_splits=2, n_bootstrap=0)
        curves.append(curve.to_dict())
    assert curves[0] == curves[1]
