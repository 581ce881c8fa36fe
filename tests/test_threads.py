"""State of the process that threads share, and objects that all threads may use."""

from __future__ import annotations

import copy
import gc
import pickle
import re
import threading
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits
from together import in_threads, overlapping

import kernelwood as kw
from kernelwood.arrays import Vocabulary
from kernelwood.compute import Counters, one_blas_thread
from kernelwood.compute.executor import uses_executor
from kernelwood.datasets import load_interactions, load_questions
from kernelwood.io import cycles_ignored
from kernelwood.threads import ignored_warnings, lazy_property

SOURCE = Path(kw.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "computing.md"


# States of the process.


def blas_threads():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


def test_blas_has_one_thread_until_the_last_thread_leaves():
    seen = []
    with threadpool_limits(2, user_api="blas"):
        overlapping(one_blas_thread, lambda: seen.append(blas_threads()))
        assert seen == [{1}] and blas_threads() == {2}


def test_the_collector_pauses_until_the_last_thread_leaves():
    seen = []
    overlapping(cycles_ignored, lambda: seen.append(gc.isenabled()))
    assert seen == [False] and gc.isenabled()


def test_filters_of_warnings_are_as_before_afterwards():
    before = list(warnings.filters)
    overlapping(lambda: ignored_warnings("few"), lambda: warnings.warn("few bits", stacklevel=1))
    assert warnings.filters == before


def test_warnings_of_other_threads_and_other_warnings_are_not_ignored():
    def warn(message="few bits", category=UserWarning):
        warnings.warn(message, category, stacklevel=1)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ignored_warnings("few", UserWarning):
            warn()
            warn("no few")
            warn(category=RuntimeWarning)
            assert len(caught) == 2
            in_threads(lambda _: warn(), 1)
            assert len(caught) == 3
        warn()
        assert len(caught) == 4


@pytest.mark.parametrize(
    ("pattern", "allowed"),
    [
        # Records of whole commands, of tasks in processes of their own, and before threads start.
        (
            r"catch_warnings\(",
            {
                "cli/console.py",
                "cli/commands/adapt.py",
                "cli/commands/serve.py",
                "compute/executor.py",
                "deprecation.py",  # an example in a docstring
                "scale/cluster.py",
                "scale/tasks.py",
                "threads.py",
                "web/served_model.py",
            },
        ),
        (r"import cached_property|functools\.cached_property", {"threads.py"}),
        (r"threadpool_limits\(", {"compute/blas.py"}),
        (r"gc\.(dis|en)able\(", {"io/streams.py"}),
    ],
)
def test_states_of_the_process_are_changed_where_threads_are_considered(pattern, allowed):
    files = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(pattern, path.read_text(encoding="utf-8"))
    }
    assert files <= allowed


def test_threads_that_compute_a_property_get_the_same_object():
    start = threading.Barrier(16)

    class Slow:
        @lazy_property
        def made(self):
            start.wait()
            return object()

    slow = Slow()
    assert len(set(map(id, in_threads(lambda _: slow.made)))) == 1


def test_counters_can_be_copied():
    assert pickle.loads(pickle.dumps(copy.deepcopy(Counters(3, 1.0, 2)))) == Counters(3, 1.0, 2)


def test_a_thread_that_its_pool_does_not_list_yet_is_one_of_its_threads():
    class Pool:
        _threads, _thread_name_prefix = (), "pool"

        def submit(self):
            raise AssertionError

    def is_used(name):
        seen = []

        def ask():
            with kw.config_context(executor=Pool()):
                seen.append(uses_executor(lambda: 10**12))

        thread = threading.Thread(target=ask, name=name)
        thread.start()
        thread.join()
        return seen

    assert is_used("pool_0") == [False]
    assert is_used("other") == [True]


# Vocabularies.


def test_labels_that_another_thread_adds_do_not_share_numbers_with_unknown_labels():
    target, source = Vocabulary(["a"]), Vocabulary(["x", "y"])

    class Growing(dict):
        def get(self, label):
            found = super().get(label)
            if label == "x":  # another thread adds a label now
                target._labels.append("y")
                self["y"] = 2
            return found

    target._ids = Growing(target._ids)
    numbers = source.translate(np.array([1, 2], dtype=np.int32), target)
    assert len(set(numbers.tolist())) == 2 and min(numbers) > 1


def test_labels_added_by_many_threads_have_one_number_each():
    vocabulary = Vocabulary()
    labels = [f"label {n}" for n in range(300)]
    found = in_threads(lambda n: vocabulary.add_all(labels if n % 2 else labels[::-1]))
    assert len(vocabulary) == 301
    for n, numbers in enumerate(found):
        named = vocabulary.labels(np.array(numbers, dtype=np.int32))
        assert named == (labels if n % 2 else labels[::-1])


def test_batches_remember_for_many_threads():
    def remember(n):
        return [batch.remember((n + i) % 40, lambda: n) is not None for i in range(200)]

    batch = kw.batch([kw.Sequence(["a"])])
    assert all(map(all, in_threads(remember)))
    assert len(batch.kept) <= 16


# Objects that all threads use.


@cache
def questions():
    return load_questions()[:60]


@cache
def extractor():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kw.RelationExtractor(
            random_state=0, n_splits=2, parser="biomedical", entities="learn"
        ).fit(load_interactions("train")[:40])


def _trees():
    return [question.view("tree") for question in questions()]


def _labels():
    return [question.label for question in questions()]


def _words():
    return [kw.Sequence([leaf.label for leaf in tree.leaves()]) for tree in _trees()]


def _vectors():
    words = sorted({label for one in _words() for label in one.nodes})
    return kw.Vectors(words, np.random.default_rng(0).normal(size=(len(words), 8)))


def _soft():
    return kw.SubsequenceKernel(similarity=kw.similarity.Gaussian(_vectors()), n_jobs=2)


def _learner(made):
    made = made.fit(_trees(), _labels())
    return lambda: made.predict(_trees()[:20])


def _transformer(made):
    made = made.fit(_trees())
    return lambda: made.transform(_trees()[:20])


def _kernel(made, structures):
    batch = kw.batch(structures)
    return lambda: (
        made.gram(batch),
        made.cross(batch, structures[:5]),
        made.diag(batch),
        *made.neighbors(structures[:3], batch, 4),
        made.value(structures[0], structures[1]),
    )


def _index(made):
    made = made.fit(_trees())
    return lambda: made.search(_trees()[:5], 7, n_rerank=20)


def _extracted():
    texts = ["RAK2 activates TORP1 and inhibits ATM.", "EGFR binds Grb2; IL2RB recruits JAK1."]
    return [(one.type, one.probability) for one in extractor().extract(texts, all=True)]


def _explained():
    found = extractor().predict(load_interactions("test")[:6])
    evidence = extractor().explain(found[:3])
    return [one.probability for one in found], [one.to_dict() for one in evidence]


def _parsed():
    parser = kw.ForestParser().fit(_trees())
    sentences = [[leaf.label for leaf in tree.leaves()] for tree in _trees()[:6]]
    return lambda: [forest.to_json() for forest in parser.parse_batch(sentences)]


def _tagged():
    tagger = extractor().tagger_
    return lambda: [tagger.mentions(f"RAK{n} binds TORP1 and JAK{n} in vivo.") for n in range(9)]


def _listed():
    dictionary = kw.Dictionary([("RAK2", "Gene"), ("TORP1 kinase", "Gene")])
    return lambda: dictionary.find("RAK2 binds the TORP1 kinase, not RAK2.")


tree_kernel = kw.SubsetTreeKernel
SHARED = {
    "tree kernel": lambda: _kernel(tree_kernel(n_jobs=2), _trees()),
    "soft kernel": lambda: _kernel(_soft(), _words()),
    "sum of kernels": lambda: _kernel(
        kw.Normalized(tree_kernel() * tree_kernel(decay=0.1) + tree_kernel()), _trees()
    ),
    "vector kernel": lambda: _kernel(kw.VectorKernel(vectors=_vectors()), _words()),
    "hasher": lambda: _transformer(kw.KernelHasher(tree_kernel(), n_references=20, random_state=0)),
    "embedder": lambda: _transformer(
        kw.NystromEmbedder(tree_kernel(), n_landmarks=20, random_state=0)
    ),
    "hash index": lambda: _index(kw.HashIndex(tree_kernel(), n_references=20, random_state=0)),
    "embedding index": lambda: _index(
        kw.EmbeddingIndex(tree_kernel(), n_landmarks=20, random_state=0)
    ),
    "support vectors": lambda: _learner(kw.KernelSVC(tree_kernel(), random_state=0)),
    "neighbors": lambda: _learner(kw.KernelNeighborsClassifier(tree_kernel())),
    "hash neighbors": lambda: _learner(
        kw.HashNeighborsClassifier(tree_kernel(), n_references=20, random_state=0)
    ),
    "hash forest": lambda: _learner(
        kw.HashForestClassifier(tree_kernel(), n_references=20, n_estimators=9, random_state=0)
    ),
    "parser": _parsed,
    "dictionary": _listed,
    "tagger": _tagged,
    "extract": lambda: _extracted,
    "explain": lambda: _explained,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", SHARED.values(), ids=SHARED)
def test_sixteen_threads_get_what_one_gets(make, force_threads):
    expected = pickle.dumps(make()())
    work = make()  # nothing is cached in it yet
    assert all(one == expected for one in in_threads(lambda _: pickle.dumps(work())))


# Documentation.


def test_every_public_class_has_a_row_about_thread_safety():
    page = PAGE.read_text(encoding="utf-8").partition("## Thread safety")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", page))
    public = {
        name
        for name in re.findall(r" as (\w+)", (SOURCE / "__init__.pyi").read_text())
        if isinstance(getattr(kw, name), type)
    }
    by_kind = {"Kernel": kw.Kernel, "StructureClassifier": kw.learners.StructureClassifier}
    covered = {
        name
        for name in public
        if any(kind in named and issubclass(getattr(kw, name), by_kind[kind]) for kind in by_kind)
    }
    errors = {name for name in public if issubclass(getattr(kw, name), Exception)}
    assert public - named - covered - errors == set()
