from __future__ import annotations

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays.batches import FlatBatch
from kernelwood.arrays.ragged import Ragged
from kernelwood.arrays.vocabulary import Vocabulary
from kernelwood.errors import StructureError
from kernelwood.structures import Graph

NODE, ROOT = -1, -2  # source of the row of a node, and of the root


class GraphBatch(FlatBatch):
    """A batch of directed graphs: one row for each node, then one for each edge.

    The row of a node has its ``labels``, and -1 for ``sources``, or -2 if it is the root; the row
    of an edge has its ``edges`` (the edge label), ``sources`` and ``targets``, counted from the
    graph's first node. Other values of a row are 0, and -1 for ``targets``. Ids of nodes are not
    kept: those of a decoded graph are 0, 1, 2, ...

    Examples
    --------
    >>> import kernelwood as kw
    >>> graphs = kw.batch([kw.Graph({"b": "bind", "p": "protein"}, [("b", "ARG1", "p")], "b")])
    >>> graphs
    GraphBatch(1 graphs, 3 nodes and edges)
    >>> graphs[0].nodes, graphs[0].edges, graphs[0].root
    (mappingproxy({0: 'bind', 1: 'protein'}), ((0, 'ARG1', 1),), 0)
    """

    kind = "graph"
    unit = "nodes and edges"
    fields = ("labels", "edges", "sources", "targets")

    @property
    def is_node(self) -> NDArray[np.bool_]:
        """Whether each row is that of a node, not of an edge."""
        found: NDArray[np.bool_] = self.arrays[2][self.parts[0].window] < 0
        return found

    def _decode(self, index: int) -> Graph:
        labels, edges, sources, targets = (
            array[self.parts[0].piece(index)] for array in self.arrays
        )
        n_nodes = int(np.count_nonzero(sources < 0))
        roots = np.flatnonzero(sources == ROOT).tolist()
        return Graph._trusted(
            dict(enumerate(self.vocabulary.labels(labels[:n_nodes]))),
            tuple(
                zip(
                    sources[n_nodes:].tolist(),
                    self.vocabulary.labels(edges[n_nodes:]),
                    targets[n_nodes:].tolist(),
                    strict=True,
                )
            ),
            roots[0] if roots else None,
        )

    def _check(self) -> None:
        super()._check()
        part = self.parts[0].alone()
        labels, edges, sources, targets = part.arrays
        is_node = sources < 0
        before = np.concatenate([[0], np.cumsum(is_node)])
        n_nodes = (before[part.offsets[1:]] - before[part.offsets[:-1]]).repeat(part.sizes)
        place = np.arange(len(labels)) - part.offsets[:-1].repeat(part.sizes)
        root = np.concatenate([[0], np.cumsum(sources == ROOT)])
        wrong = (
            (is_node != (place < n_nodes)).any()
            or (sources < ROOT).any()
            or (root[part.offsets[1:]] - root[part.offsets[:-1]] > 1).any()
            or (edges[is_node] != 0).any()
            or (labels[~is_node] != 0).any()
            or (targets[is_node] != NODE).any()
            or (sources >= n_nodes).any()
            or (targets >= n_nodes).any()
            or (targets[~is_node] < 0).any()
        )
        if wrong:
            raise StructureError("sources and targets do not describe nodes and then edges")


def flatten_graphs(graphs: list[Graph], vocabulary: Vocabulary) -> GraphBatch:
    """Lay graphs out as flat arrays."""
    labels: list[str] = []
    edges: list[str] = []
    rows: list[tuple[int, int]] = []
    sizes = []
    for graph in graphs:
        place = {node: number for number, node in enumerate(graph.nodes)}
        labels += [*graph.nodes.values(), *[""] * len(graph.edges)]
        edges += [*[""] * len(place), *(edge for _, edge, _ in graph.edges)]
        rows += [(ROOT if node == graph.root else NODE, NODE) for node in place]
        rows += [(place[source], place[target]) for source, _, target in graph.edges]
        sizes.append(len(place) + len(graph.edges))
    ids = np.array(vocabulary.add_all(chain(labels, edges)), dtype=np.int32)
    ends = np.array(rows, dtype=np.int32).reshape(-1, 2)
    arrays = (*ids.reshape(2, -1), *np.ascontiguousarray(ends.T))
    return GraphBatch._wrap((Ragged.from_sizes(sizes, *arrays),), vocabulary)
