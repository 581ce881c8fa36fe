import pytest

import kernelwood as kw
from kernelwood.tuning.problem import find_gated, tabulate_labels, with_gates

PATHS = [
    kw.Sequence([("nsubj", "Ras"), ("prep", "of"), ("prep", "in")]),
    kw.Sequence([("prep", "in")]),
    kw.Sequence([("dobj", "Raf"), ("nsubj", "Ras")]),
]


def test_labels_come_by_falling_number_of_structures_then_by_name():
    paths = [*PATHS, kw.Sequence([("dobj", "Sos"), ("amod", "big")])]
    table = tabulate_labels(kw.SubsequenceKernel(), kw.batch(paths))
    assert table.labels == ("dobj", "nsubj", "prep", "amod")
    assert table.n_structures.tolist() == [2, 2, 2, 1]


def test_occurrences_count_elements_and_structures_count_once():
    table = tabulate_labels(kw.SubsequenceKernel(), kw.batch(PATHS))
    counts = dict(zip(table.labels, table.occurrences.tolist(), strict=True))
    assert counts == {"nsubj": 2, "prep": 3, "dobj": 1}
    assert table.structures_with(table.labels.index("prep")).tolist() == [0, 1]


def test_gates_on_nodes_are_found_by_node_labels():
    table = tabulate_labels(kw.SubsequenceKernel(gate_on="node"), kw.batch(PATHS))
    assert table.labels[:2] == ("Ras", "in")


def test_a_slice_of_a_batch_has_the_labels_of_its_own_structures():
    table = tabulate_labels(kw.SubsequenceKernel(), kw.batch(PATHS)[1:2])
    assert table.labels == ("prep",)
    assert table.structures_with(0).tolist() == [0]


def test_trees_have_labels_at_their_nodes_and_edges():
    tree = kw.Tree("S", [kw.Tree("NP", edge="subj"), kw.Tree("VP", edge="head")])
    table = tabulate_labels(kw.PartialTreeKernel(gate_on="node"), kw.batch([tree]))
    assert set(table.labels) == {"S", "NP", "VP"}
    assert "subj" in tabulate_labels(kw.PartialTreeKernel(), kw.batch([tree])).labels


def test_views_of_a_combined_kernel_are_counted_together():
    examples = kw.batch(
        [
            kw.Example("1", views={"a": PATHS[0], "b": PATHS[1]}),
            kw.Example("2", views={"a": PATHS[2], "b": PATHS[1]}),
        ]
    )
    kernel = kw.OnView("a", kw.SubsequenceKernel()) + kw.OnView("b", kw.SubsequenceKernel())
    table = tabulate_labels(kernel, examples)
    counts = dict(zip(table.labels, table.occurrences.tolist(), strict=True))
    assert counts == {"nsubj": 2, "prep": 4, "dobj": 1}
    assert table.structures_with(table.labels.index("prep")).tolist() == [0, 1]


def test_one_view_read_by_two_kernels_is_counted_once():
    examples = kw.batch([kw.Example("1", views={"a": PATHS[0]})])
    part = kw.OnView("a", kw.SubsequenceKernel())
    table = tabulate_labels(part + part, examples)
    assert dict(zip(table.labels, table.occurrences.tolist(), strict=True)) == {
        "nsubj": 1,
        "prep": 2,
    }


def test_gates_reach_every_kernel_inside_and_leave_the_original():
    kernel = kw.SubsequenceKernel(gates={"punct": 0.0}) + 0.5 * kw.SubsequenceKernel()
    gated = with_gates(kernel, {"det": 0.0})
    assert gated.left.gates == {"punct": 0.0, "det": 0.0}
    assert gated.right.kernel.gates == {"det": 0.0}
    assert kernel.right.kernel.gates is None


def test_a_kernel_without_gates_is_named():
    with pytest.raises(kw.errors.KernelInputError, match=r"ForestKernel.* has no gates"):
        find_gated(kw.ForestKernel())


def test_gates_on_edges_and_on_nodes_cannot_be_shared():
    kernel = kw.SubsequenceKernel() + kw.SubsequenceKernel(gate_on="node")
    with pytest.raises(kw.errors.KernelInputError, match="same gate_on"):
        find_gated(kernel)


def test_graphs_have_gates_on_nodes():
    graphs = [kw.Graph(["x", "y"], [(0, "e", 1)]), kw.Graph(["x", ""], [(0, "x", 1), (1, "y", 1)])]
    table = tabulate_labels(kw.WeisfeilerLehmanKernel(), kw.batch(graphs))
    assert dict(zip(table.labels, table.occurrences.tolist(), strict=True)) == {
        "x": 2,
        "y": 1,
        "": 1,
    }


def test_deep_combinations_need_no_recursion():
    kernel = kw.SubsequenceKernel()
    for _ in range(3000):
        kernel = 0.9 * kernel
    assert len(find_gated(kernel)) == 1
