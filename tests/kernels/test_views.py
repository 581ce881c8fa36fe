"""Which views of examples a kernel reads."""

import pytest
from sizes import DEPTH

import kernelwood as kw
from kernelwood.errors import StructureError
from kernelwood.kernels.views import keep_views, needed_views

WORDS = kw.OnView("words", kw.SubsequenceKernel())
TREE = kw.OnView("tree", kw.SubsetTreeKernel())


class Whole(kw.Kernel):
    """A kernel of somebody else that looks at examples as it likes."""

    accepts = kw.ExampleBatch

    def reference(self, a, b):
        return float(a.view("text") == b.view("text"))


@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        (kw.SubsetTreeKernel(), ()),
        (0.5 * kw.SubsetTreeKernel() + kw.SubtreeKernel(), ()),
        (WORDS, ("words",)),
        (kw.Normalized(2 * TREE**3) * WORDS, ("tree", "words")),
        (WORDS + TREE + WORDS, ("words", "tree")),
        (Whole(), None),
        (WORDS + 0.5 * Whole(), None),
    ],
    ids=repr,
)
def test_the_views_of_a_kernel_are_those_it_names(kernel, names):
    assert needed_views(kernel) == names


def test_a_combination_of_many_kernels_is_walked_without_recursion():
    kernel = WORDS
    for _ in range(DEPTH):
        kernel = kernel + TREE
    assert needed_views(kernel) == ("words", "tree")


def test_a_kernel_that_is_inside_again_and_again_is_looked_at_once():
    kernel = WORDS
    for _ in range(200):
        kernel = kernel + kernel
    assert needed_views(kernel) == ("words",)


@pytest.fixture
def examples():
    views = {"words": kw.Sequence(["a"]), "tree": kw.Tree("a"), "text": "a"}
    return kw.batch([kw.Example(str(i), i, views, kw.Origin("f")) for i in range(3)])


def test_other_views_are_dropped_and_the_rest_of_an_example_is_kept(examples):
    kept = keep_views(examples, TREE)
    assert list(kept) == [
        kw.Example(str(i), i, {"tree": kw.Tree("a")}, kw.Origin("f")) for i in range(3)
    ]


def test_views_that_are_batched_stay_so(examples):
    assert keep_views(examples, WORDS).view("words") is examples.view("words")


def test_all_views_are_kept_if_nobody_knows_which_are_read(examples):
    assert keep_views(examples, Whole()) is examples


def test_no_examples_have_no_views():
    assert len(keep_views(kw.batch([], kind=kw.ExampleBatch), WORDS)) == 0


def test_a_missing_view_is_an_error(examples):
    with pytest.raises(StructureError, match="has no view 'path'"):
        keep_views(examples, kw.OnView("path", kw.SubsequenceKernel()))
