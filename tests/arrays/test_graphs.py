"""Batches of graphs: what they keep, and arrays they refuse."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from strategies import sample_graphs, small_graphs

import kernelwood as kw
from kernelwood.arrays import GraphBatch, Vocabulary
from kernelwood.errors import StructureError
from kernelwood.structures import Graph


@given(st.lists(small_graphs(), max_size=5))
def test_numbered_graphs_come_back_equal(graphs):
    assert list(kw.batch(graphs, kind=GraphBatch)) == graphs


def test_ids_become_numbers_in_the_order_of_nodes():
    graph = Graph({"p": "protein", 7: "bind"}, [(7, "ARG1", "p"), (7, "ARG0", 7)], root=7)
    assert kw.batch([graph])[0] == Graph(["protein", "bind"], [(1, "ARG1", 0), (1, "ARG0", 1)], 1)


def test_slices_and_picked_rows_are_the_graphs_there():
    graphs = sample_graphs(9)
    batch = kw.batch(graphs)
    assert list(batch[2:5]) == graphs[2:5] and list(batch[[4, 0]]) == [graphs[4], graphs[0]]
    assert batch.sizes.tolist() == [len(g.nodes) + len(g.edges) for g in graphs]


def test_equal_graphs_are_found():
    a, b = sample_graphs(2)
    first, group = kw.batch([a, b, a]).distinct()
    assert first.tolist() == [0, 1] and group.tolist() == [0, 1, 0]


GOOD = {"labels": [1, 2, 0], "edges": [0, 0, 3], "sources": [-2, -1, 0], "targets": [-1, -1, 1]}


def made(**changes):
    arrays = [np.array({**GOOD, **changes}[name], dtype=np.int32) for name in GraphBatch.fields]
    return GraphBatch.from_arrays(np.array([0, 3]), *arrays, vocabulary=Vocabulary("abc"))


def test_arrays_are_wrapped():
    assert made()[0] == Graph(["a", "b"], [(0, "c", 1)], root=0)


@pytest.mark.parametrize(
    "changes",
    [
        {"sources": [-1, -1, 2]},
        {"targets": [-1, -1, 2]},
        {"targets": [-1, -1, -1]},
        {"targets": [0, -1, 1]},
        {"sources": [-3, -1, 0]},
        {"sources": [-2, -2, 0]},
        {"sources": [0, -1, -1]},
        {"labels": [1, 2, 1]},
        {"edges": [0, 1, 3]},
        {"labels": [1, 9, 0]},
    ],
)
def test_arrays_that_are_no_graphs_are_refused(changes):
    with pytest.raises(StructureError):
        made(**changes)
