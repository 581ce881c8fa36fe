import numpy as np
import pytest

import kernelwood as kw
from kernelwood.arrays import ExampleBatch, SequenceBatch, TreeBatch, Vocabulary, as_batch
from kernelwood.errors import StructureError
from kernelwood.structures import Sequence, Tree

EXAMPLE = kw.Example("1", views={"tree": Tree("a")})


@pytest.mark.parametrize(
    ("structure", "kind"),
    [(Tree("a"), TreeBatch), (Sequence(["a"]), SequenceBatch), (EXAMPLE, ExampleBatch)],
)
def test_the_first_structure_decides_the_kind(structure, kind):
    assert isinstance(kw.batch([structure]), kind)


@pytest.mark.parametrize("make", [iter, tuple, lambda x: np.array(x, dtype=object)])
def test_any_iterable_will_do(make):
    assert list(kw.batch(make([Tree("a"), Tree("b")]))) == [Tree("a"), Tree("b")]


def test_an_empty_list_needs_a_kind():
    with pytest.raises(StructureError, match=r"empty list.*\n.*kind=kw.arrays.TreeBatch"):
        kw.batch([])


@pytest.mark.parametrize("kind", [TreeBatch, SequenceBatch, ExampleBatch])
def test_an_empty_list_of_a_kind_is_a_batch(kind):
    batch = kw.batch([], kind=kind)
    assert isinstance(batch, kind) and len(batch) == 0 and list(batch) == []


def test_a_shared_vocabulary_is_extended():
    vocabulary = Vocabulary(["a"])
    first = kw.batch([Sequence(["b"])], vocabulary=vocabulary)
    second = kw.batch([Sequence(["c", "b"])], vocabulary=vocabulary)
    assert list(vocabulary) == ["", "a", "b", "c"]
    assert first.arrays[0].tolist() == [2] and second.arrays[0].tolist() == [3, 2]


@pytest.mark.parametrize(
    ("structures", "complaint"),
    [
        ([Tree("a"), Sequence(["a"])], "structure 1 should be a tree, got Sequence"),
        ([Sequence(["a"]), None], "structure 1 should be a sequence, got NoneType"),
        ([EXAMPLE, Tree("a")], "structure 1 should be an example, got Tree"),
        (["(a b)"], "structure 0 .* got str\n.*from_brackets"),
        ([("a", "b")], "structure 0 .* got tuple\n.*Sequence"),
        ("(a b)", "got a string\n.*from_brackets"),
        (b"(a b)", "got bytes"),
        (Tree("a"), "single Tree\n.*in a list"),
        (None, "got NoneType"),
        (3.0, "got float"),
    ],
)
def test_what_cannot_be_batched_is_named(structures, complaint):
    with pytest.raises(StructureError, match=complaint):
        kw.batch(structures)


def test_a_kind_is_insisted_on():
    with pytest.raises(StructureError, match="structure 0 should be a sequence, got Tree"):
        kw.batch([Tree("a")], kind=SequenceBatch)


def test_a_batch_of_the_right_kind_is_left_as_it_is():
    batch = kw.batch([Tree("a")])
    assert as_batch(batch, TreeBatch) is batch


def test_a_batch_of_another_kind_is_named():
    with pytest.raises(StructureError, match="expected trees, got a batch of sequences"):
        as_batch(kw.batch([Sequence(["a"])]), TreeBatch)


def test_a_batch_of_examples_hints_at_views():
    with pytest.raises(StructureError, match=r"batch of examples\n.*OnView"):
        as_batch(kw.batch([EXAMPLE]), TreeBatch)
