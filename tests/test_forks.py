"""Processes that are forked while other threads compute."""

from __future__ import annotations

import os

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked")

# A forked process that hangs is ended by a signal; -W error is not for the threads' warnings.
START = """
import gc, os, signal, sys, threading, warnings
import numpy
warnings.simplefilter("ignore")
import kernelwood as kw

def forked(work):
    child = os.fork()
    if child == 0:
        signal.alarm(120)
        try:
            work()
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def while_waiting(enter, work):
    \"\"\"Fork while another thread is inside something, and return the exit code.\"\"\"
    inside, leave = threading.Event(), threading.Event()
    def wait(*_):
        inside.set()
        leave.wait()
    thread = threading.Thread(target=enter, args=(wait,))
    thread.start()
    inside.wait()
    code = forked(work)
    leave.set()
    thread.join()
    return code
"""


def test_a_tagger_that_another_thread_uses(run_python):
    code = """
from kernelwood.datasets import load_interactions
from kernelwood.entities.chain_model import ChainModel

tagger = kw.EntityTagger(n_splits=2, max_iterations=5).fit(load_interactions("train")[:30])
text = "RAK2 binds TORP1."
expected = tagger.mentions(text)
plain = ChainModel.new_emissions

def enter(wait):
    def waiting(self, *arguments):
        wait()
        return plain(self, *arguments)
    ChainModel.new_emissions = waiting
    tagger.mentions(text)

def work():
    ChainModel.new_emissions = plain
    assert tagger.mentions(text) == expected

print(while_waiting(enter, work))
"""
    assert run_python(START, code) == "0"


def test_a_property_that_another_thread_computes(run_python):
    code = """
words = [kw.Sequence(["a", "b"]), kw.Sequence(["b", "c"])]
vectors = kw.Vectors(["a", "b", "c"], [[1, 0], [0, 1], [1, 1]])
kernel = kw.SubsequenceKernel(similarity=kw.similarity.Gaussian(vectors))
expected = kernel.gram(words)
similarity = kw.similarity.Gaussian
plain = similarity.resolve

def enter(wait):
    def waiting(self, labels):
        wait()
        return plain(self, labels)
    similarity.resolve = waiting
    kernel.gram(words)

def work():
    similarity.resolve = plain
    assert (kernel.gram(words) == expected).all()

print(while_waiting(enter, work))
"""
    assert run_python(START, code) == "0"


def test_states_of_the_process_that_another_thread_needs(run_python):
    code = """
from threadpoolctl import threadpool_info
from kernelwood.compute import one_blas_thread
from kernelwood.io import cycles_ignored

def threads():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

def enter(wait):
    with one_blas_thread(), cycles_ignored():
        wait()

def work():
    assert gc.isenabled() and threads() == {2}, (gc.isenabled(), threads())
    with one_blas_thread(), cycles_ignored():
        assert not gc.isenabled() and threads() == {1}
    assert gc.isenabled() and threads() == {2}

codes = [while_waiting(enter, work)]
with one_blas_thread(), cycles_ignored():  # a process that is forked inside stays inside
    codes.append(forked(lambda: gc.isenabled() and 1 / 0))
print(*codes, gc.isenabled(), *threads())
"""
    assert run_python(START, code, env={"OPENBLAS_NUM_THREADS": "2"}) == "0 0 True 2"


def test_a_fork_waits_until_a_change_is_complete(run_python):
    code = """
from kernelwood.features import GrowingArray

trees = [kw.Tree.from_brackets(f"(S (A a{n}) (B b{n % 3}))") for n in range(40)]
index = kw.HashIndex(kw.SubsetTreeKernel(), n_references=10, random_state=0).fit(trees[:20])
plain, inside = GrowingArray.append, threading.Event()

def slow(self, rows):
    plain(self, rows)
    inside.set()
    timeout.wait(0.05)

timeout = threading.Event()
GrowingArray.append = slow
thread = threading.Thread(target=index.add, args=(trees[20:],))
thread.start()
inside.wait()

def work():
    GrowingArray.append = plain
    assert len(index) == 40  # not before the addition is complete
    assert 30 in index.search(trees[30:31], 40)[0]
    assert index.add(trees[:1]).tolist() == [40]
    index.remove([40])

print(forked(work))
thread.join()
"""
    assert run_python(START, code) == "0"


def test_a_process_with_sixteen_busy_threads(run_python):
    code = """
import numpy as np
from kernelwood.compute import runner
from kernelwood.datasets import load_interactions, load_questions

runner._INLINE_COST = 0  # even the smallest work runs on threads
sys.setswitchinterval(1e-5)
trees = [question.view("tree") for question in load_questions()[:30]]
corpus = load_interactions("train")[:30]
extractor = kw.RelationExtractor(
    random_state=0, n_splits=2, parser="biomedical", entities="learn"
).fit(corpus)
kernel = kw.SubsetTreeKernel(n_jobs=2)
index = kw.EmbeddingIndex(kernel, n_landmarks=10, random_state=0).fit(trees)
sentences = kw.SentenceIndex(kernel, n_landmarks=10, random_state=0).fit(trees)
parser = kw.ForestParser(n_jobs=2).fit(trees)
words = [[leaf.label for leaf in tree.leaves()] for tree in trees[:3]]

WORK = [
    lambda: kernel.gram(kw.batch(trees)).tolist(),
    lambda: [one.probability for one in extractor.extract("RAK2 binds TORP1.", all=True)],
    lambda: [one.probability for one in extractor.predict(corpus[:3])],
    lambda: [forest.to_json() for forest in parser.parse_batch(words)],
    lambda: [array.tolist() for array in index.search(trees[:3], 2, n_rerank=5)],
    lambda: [one.text for one in sentences.search(trees[0], 2)],
]
CHANGES = [
    lambda: index.remove(index.add(trees[:2])),
    lambda: sentences.remove(sentences.add(trees[:2])),
]
expected = [one() for one in WORK]
done = threading.Event()

def repeat(work):
    while not done.is_set():
        work()

every = [*WORK, *CHANGES]
threads = [threading.Thread(target=repeat, args=(every[n % len(every)],)) for n in range(16)]
for one in threads:
    one.start()

def work():
    index.remove(index.ids_[30:])
    sentences.remove(sentences.ids_[30:])
    assert [one() for one in WORK] == expected
    for one in CHANGES:
        one()
    assert [one() for one in WORK] == expected

try:
    codes = [forked(work) for _ in range(5)]
finally:
    done.set()
for one in threads:
    one.join()
print(*codes)
"""
    assert run_python(START, code) == "0 0 0 0 0"
