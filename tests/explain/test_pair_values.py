"""Values of kernels for pairs that are kept are those of `Kernel.pairs`."""

from __future__ import annotations

import numpy as np
import pytest

import kernelwood as kw
from kernelwood.errors import KernelOverflowError
from kernelwood.explain import PairValues, fragment_lines
from kernelwood.kernels import Kernel

_TREES = [kw.Tree.from_brackets(text) for text in ("(S (A a) (B b))", "(S (A a))", "(X x)")]
_WORDS = [kw.Sequence(text.split()) for text in ("the cat sat", "the dog sat", "x")]
_EXAMPLES = kw.batch(
    [
        kw.Example(str(i), views={"tree": tree, "words": words, "bag": {"a": 1.0, str(i): 2.0}})
        for i, (tree, words) in enumerate(zip(_TREES, _WORDS, strict=True))
    ]
)
_X, _Y = _EXAMPLES[[0, 0, 1, 2]], _EXAMPLES[[0, 1, 2, 2]]


def on_views(**options):
    tree = kw.OnView("tree", kw.SubsetTreeKernel(**options))
    words = kw.OnView("words", kw.SubsequenceKernel(**options))
    bag = kw.OnView("bag", kw.VectorKernel("cosine", **options))
    return tree, words, bag


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.filterwarnings("ignore:.*self-similarity 0")
def test_values_of_combinations_have_the_bits_of_pairs(dtype):
    tree, words, bag = on_views(dtype=dtype)
    for kernel in (
        tree,
        0.3 * ((words + 0.5 * tree) * (bag + words)) + 0.7 * tree,
        kw.Normalized(words + tree) * bag,
        words**3 + bag,
    ):
        values = PairValues().of(kernel, _X, _Y)
        assert values.dtype == np.dtype(dtype)
        assert values.tolist() == kernel.pairs(_X, _Y).tolist()


def test_kernels_of_different_number_types_are_combined_in_the_first():
    tree, words, _ = on_views()
    kernel = kw.OnView("words", kw.SubsequenceKernel(dtype="float32")) + tree * words
    values = PairValues()
    assert values.of(kernel, _X, _Y).tolist() == kernel.pairs(_X, _Y).tolist()
    assert values.of(tree, _X, _Y).tolist() == tree.pairs(_X, _Y).tolist()


def counted(monkeypatch):
    """Return a list to which the type of each kernel is added when its `pairs` is called."""
    calls = []
    pairs = Kernel.pairs

    def counting(self, *args, **kwargs):
        calls.append(type(self).__name__)
        return pairs(self, *args, **kwargs)

    monkeypatch.setattr(Kernel, "pairs", counting)
    return calls


def test_a_kernel_that_occurs_twice_is_computed_once(monkeypatch):
    tree, words, bag = on_views()
    calls = counted(monkeypatch)
    values = PairValues()
    values.of(tree * words + 0.5 * (tree + bag), _X, _Y)
    assert sorted(calls) == ["SubsequenceKernel", "SubsetTreeKernel", "VectorKernel"]
    values.of(tree + words, _X, _Y)
    assert len(calls) == 3
    values.of(tree + words, _X[:2], _Y[:2])
    assert len(calls) == 5  # other structures


def test_fragments_do_not_compute_known_values_again(monkeypatch):
    tree, words, _ = on_views()
    kernel = tree + 0.5 * words
    values = PairValues()
    values.of(kernel, _X, _Y)
    expected = fragment_lines(kernel, _X, _Y, 3)
    calls = counted(monkeypatch)
    assert fragment_lines(kernel, _X, _Y, 3, values=values) == expected
    assert sorted(calls) == ["SubsequenceKernel", "SubsetTreeKernel"]  # raw values
    fragment_lines(kernel, _X, _Y, 3)
    assert len(calls) == 6  # raw and normalized ones


def test_sums_of_any_depth_are_computed():
    tree, *_ = on_views()
    kernel = tree
    for _ in range(3000):
        kernel = kernel + tree
    values = PairValues().of(kernel, _X, _Y)
    assert values == pytest.approx(3001 * tree.pairs(_X, _Y))


def test_values_beyond_the_range_are_told_by_the_kernel():
    tree, *_ = on_views(dtype="float32")
    kernel = 1e30 * tree * (1e30 * tree)
    with pytest.raises(KernelOverflowError):
        PairValues().of(kernel, _X, _Y)
