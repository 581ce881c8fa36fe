"""Pairs of labels and neighborhoods that two graphs share."""

import pytest
from strategies import sample_graphs

import kernelwood as kw
from kernelwood.structures import Graph

A = Graph(["met", "Raf", "Ras"], [(0, "subj", 1), (0, "obj", 2)])
B = Graph(["met", "Raf", "Sos"], [(0, "subj", 1), (0, "obj", 2)])
KERNELS = [
    kw.AllPathsGraphKernel(edge_weight=0.25, gates={"a": 0.5}),
    kw.AllPathsGraphKernel(edge_weight=0.25, variant="max"),
    kw.WeisfeilerLehmanKernel(gates={"a": 0.5, "c": 0}),
    kw.WeisfeilerLehmanKernel(base="assignment", n_iterations=2),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("order", ["size", "weight"])
def test_weights_sum_to_the_raw_value(kernel, order):
    raw = kernel.clone().set_params(normalize=False)
    for a, b in zip(sample_graphs(12, seed=1), sample_graphs(12, seed=2), strict=True):
        found = kw.shared_fragments(kernel, a, b, None, order=order)
        assert sum(one.weight for one in found) == pytest.approx(raw.value(a, b), rel=1e-12)
        if found:
            assert sum(one.share for one in found) == pytest.approx(1, rel=1e-12)


def test_paths_are_pairs_of_labels():
    [found] = kw.shared_fragments(kw.AllPathsGraphKernel(edge_weight=0.5), A, B)
    assert (found.text, found.weight, found.count_a, found.covers) == ("met … Raf", 0.25, 0.5, 1)


def test_neighborhoods_are_written_with_edges_and_neighbors():
    found = kw.shared_fragments(kw.WeisfeilerLehmanKernel(n_iterations=2), A, B)
    assert [(one.text, one.weight) for one in found] == [
        ("Raf (subj-of: met)", 1),
        ("Raf", 1),
        ("met", 1),
    ]
    both = kw.shared_fragments(kw.WeisfeilerLehmanKernel(n_iterations=1), A, A, 2)
    assert both[1].text == "Ras (obj-of: met)" and both[0].text == "Raf (subj-of: met)"


def test_large_neighborhoods_are_named_by_their_radius():
    graph = Graph(["hub", *["word"] * 60], [(0, "e", i) for i in range(1, 61)])
    found = kw.shared_fragments(kw.WeisfeilerLehmanKernel(n_iterations=1), graph, graph)
    assert "hub (all within 1 edges)" in [one.text for one in found]


def test_graphs_are_explained_in_sums_and_views():
    kernel = 0.5 * kw.OnView("g", KERNELS[0]) + kw.OnView("g", KERNELS[2])
    a, b = (kw.Example(str(i), views={"g": graph}) for i, graph in enumerate((A, B)))
    found = kw.shared_fragments(kernel, a, b, None)
    assert {one.kernel for one in found} == {"AllPathsGraphKernel", "WeisfeilerLehmanKernel"}
    assert {one.view for one in found} == {"g"}
    assert sum(one.share for one in found) == pytest.approx(1)
