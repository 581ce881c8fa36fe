import pytest
from hypothesis import given
from strategies import trees

from kernelwood.errors import KernelInputError
from kernelwood.kernels import RootedTreeKernel
from kernelwood.structures import Tree


def raw(**parameters):
    return RootedTreeKernel(normalize=False, **parameters)


def tree(brackets):
    return Tree.from_brackets(brackets)


def test_a_single_node_counts_one():
    assert raw().value(Tree("a"), Tree("a")) == 1


def test_trees_with_different_roots_have_nothing_in_common():
    assert raw().value(tree("(a (x))"), tree("(b (x))")) == 0


def test_only_nodes_below_matching_nodes_count():
    assert raw().value(tree("(a (x (y)))"), tree("(a (z (y)))")) == 1


def test_children_are_summed_over_pairs_of_subsequences():
    # four pairs of one child, one pair of two children with two values in its sum
    pair = tree("(bind (protein) (protein))")
    assert raw(decay=0.5).value(pair, pair) == 1 + 4 * 0.5 + 0.5**2 * 2


def test_contiguous_leaves_out_subsequences_with_gaps():
    gapped, joined = tree("(a (b) (x) (c))"), tree("(a (b) (c))")
    assert raw(decay=0.5).value(gapped, joined) == 1 + 2 * 0.5 + 0.25 * 2
    assert raw(decay=0.5, contiguous=True).value(gapped, joined) == 1 + 2 * 0.5


@given(trees(), trees())
def test_contiguous_never_counts_more(a, b):
    assert raw(contiguous=True).value(a, b) <= raw().value(a, b) * (1 + 1e-12)


def test_the_edge_of_a_node_must_match():
    assert raw().value(Tree("a", (), "x"), Tree("a", (), "y")) == 0


@pytest.mark.parametrize("decay", [1e-160, 1e-300])
def test_a_tiny_decay_leaves_the_roots(decay):
    kernel = RootedTreeKernel(decay=decay)
    assert kernel.value(tree("(a (x))"), tree("(a (x) (y))")) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("contiguous", ["yes", None, 3])
def test_a_bad_contiguous_is_named(contiguous):
    with pytest.raises(KernelInputError, match=f"contiguous .* got {contiguous!r}"):
        RootedTreeKernel(contiguous=contiguous).gram([Tree("a")])
