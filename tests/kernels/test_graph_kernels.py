"""Properties of the graph kernels: paths, cycles, colors, gates, and graphs of any shape."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sizes import DEPTH
from strategies import sample_graphs, small_graphs

import kernelwood as kw
from kernelwood.errors import KernelInputError, KernelOverflowError, MemoryBudgetError
from kernelwood.structures import Graph

PATHS = kw.AllPathsGraphKernel(edge_weight=0.25, normalize=False)
BEST = kw.AllPathsGraphKernel(edge_weight=0.5, variant="max", normalize=False)
COLORS = kw.WeisfeilerLehmanKernel(normalize=False)
ASSIGNMENT = kw.WeisfeilerLehmanKernel(base="assignment", normalize=False)
every_kind = pytest.mark.parametrize("kernel", [PATHS, BEST, COLORS, ASSIGNMENT], ids=repr)

pytestmark = pytest.mark.filterwarnings("ignore:.*self-similarity 0:RuntimeWarning")


def chain(n, label=str):
    return Graph([label(i) for i in range(n)], [(i, "", i + 1) for i in range(n - 1)])


def ring(n, label=str):
    return Graph([label(i) for i in range(n)], [(i, "", (i + 1) % n) for i in range(n)])


def star(n, label=str):
    return Graph(["root", *map(label, range(n))], [(0, "", i + 1) for i in range(n)])


def shuffled(graph, rng):
    """Return an equal graph with nodes and edges in another order, and other ids."""
    nodes, edges = list(graph.nodes), list(graph.edges)
    rng.shuffle(nodes)
    rng.shuffle(edges)
    names = {node: f"n{number}" for number, node in enumerate(nodes)}
    return Graph(
        {names[node]: graph.nodes[node] for node in nodes},
        [(names[source], label, names[target]) for source, label, target in edges],
    )


# Both kernels.


@every_kind
@given(st.lists(small_graphs(), min_size=2, max_size=5))
@settings(max_examples=15)
def test_any_graphs_are_compared_as_the_reference_says(kernel, graphs):
    right = [[kernel.reference(a, b) for b in graphs] for a in graphs]
    np.testing.assert_allclose(kernel.gram(graphs), right, rtol=1e-9)
    np.testing.assert_allclose(kernel.cross(graphs[:1], graphs)[0], right[0], rtol=1e-9)


@every_kind
def test_order_and_ids_of_nodes_do_not_matter(kernel):
    rng = np.random.default_rng(4)
    graphs = sample_graphs(30)
    others = [shuffled(graph, rng) for graph in graphs]
    np.testing.assert_allclose(kernel.gram(others), kernel.gram(graphs), rtol=1e-12)


@every_kind
def test_a_node_with_gate_zero_is_as_if_it_were_not_there(kernel):
    def without(graph):
        kept = {node: label for node, label in graph.nodes.items() if label != "a"}
        return Graph(kept, [e for e in graph.edges if e[0] in kept and e[2] in kept])

    graphs = sample_graphs(40)
    gated = kernel.clone().set_params(gates={"a": 0, "b": 0.5})
    plain = kernel.clone().set_params(gates={"b": 0.5})
    cut = [without(graph) for graph in graphs]
    np.testing.assert_allclose(gated.gram(graphs), plain.gram(cut), rtol=1e-12)


@every_kind
def test_the_direction_of_edges_counts(kernel):
    there, back = Graph(["a", "b"], [(0, "e", 1)]), Graph(["a", "b"], [(1, "e", 0)])
    assert kernel.value(there, back) < kernel.value(there, there)


@every_kind
def test_a_graph_without_nodes_is_like_nothing(kernel):
    matrix = kernel.gram([Graph([]), Graph(["a", "b"], [(0, "", 1)])])
    assert matrix[0].tolist() == [0, 0] and matrix[1, 1] > 0


@every_kind
@pytest.mark.parametrize("make", [chain, star, ring])
def test_ten_thousand_nodes_of_few_labels(kernel, make):
    graph = make(min(DEPTH, 10_000), lambda i: "xyz"[i % 3])
    if make is ring:
        graph = make(400, lambda i: "xyz"[i % 3])
    normalized = kernel.clone().set_params(normalize=True)
    matrix = normalized.gram([graph, make(50, lambda i: "xyz"[i % 3])])
    assert matrix[0, 0] == 1 and 0 < matrix[0, 1] <= 1


@every_kind
def test_fifty_thousand_distinct_neighbors(kernel):
    graph = star(50_000)
    normalized = kernel.clone().set_params(normalize=True)
    assert normalized.value(graph, graph) == pytest.approx(1, rel=1e-12)


@every_kind
def test_features_beyond_the_memory_budget_are_refused(kernel):
    graphs = kw.batch([star(5_000, lambda i, g=g: f"{g} {i}") for g in range(20)])
    with (
        kw.config_context(memory="100kB"),
        pytest.raises(MemoryBudgetError, match=r"features of these graphs need more than"),
    ):
        kernel.gram(graphs)


# Paths.


def test_values_by_hand():
    a = Graph(["x", "y", "z"], [(0, "", 1), (1, "", 2), (0, "", 2)])
    b = Graph(["x", "z"], [(0, "", 1)])
    # From x to z: an edge, and two edges in a row.
    assert PATHS.value(a, b) == (0.25 + 0.25**2) * 0.25
    assert BEST.value(a, b) == 0.5 * 0.5
    assert PATHS.value(a, a) == 2 * 0.25**2 + (0.25 + 0.25**2) ** 2


def test_weights_go_by_edge_labels():
    graph = Graph(["x", "y", "z"], [(0, "e", 1), (1, "path", 2)])
    kernel = kw.AllPathsGraphKernel(normalize=False)
    assert kernel.value(graph, graph) == pytest.approx(0.3**2 + 0.9**2 + 0.27**2)
    plain = kernel.clone().set_params(edge_weights={})
    assert plain.value(graph, graph) == pytest.approx(0.3**2 + 0.3**2 + 0.09**2)
    cut = kernel.clone().set_params(edge_weights={"e": 0.0, "path": 0.5})
    assert cut.value(graph, graph) == 0.25


def test_gates_multiply_the_weights_of_paths_through_a_node():
    graph = Graph(["x", "y", "z"], [(0, "", 1), (1, "", 2)])
    gated = PATHS.clone().set_params(gates={"y": 0.5})
    other = Graph(["x", "z"], [(0, "", 1)])
    assert gated.value(graph, other) == 0.5 * 0.25**2 * 0.25
    ends = PATHS.clone().set_params(gates={"x": 0.5, "z": 4.0})
    assert ends.value(graph, other) == (2 * 0.25**2) * (2 * 0.25)


def test_a_ring_has_the_sum_of_a_geometric_series():
    graph = ring(4)
    round_trip = 0.25**4
    right = 4 * sum((0.25**n / (1 - round_trip)) ** 2 for n in range(1, 5))
    assert PATHS.value(graph, graph) == pytest.approx(right, rel=1e-14)
    assert BEST.value(graph, graph) == 4 * sum(0.25**n for n in range(1, 5))


@pytest.mark.parametrize("edges", [0.999, 1.001])
def test_sums_are_refused_if_and_only_if_the_spectral_radius_reaches_one(edges):
    rng = np.random.default_rng(2)
    for _ in range(25):
        n = int(rng.integers(2, 9))
        graph = Graph(["x"] * n, [(int(i), "", int(j)) for i, j in rng.integers(0, n, (2 * n, 2))])
        matrix = np.zeros((n, n))
        for source, _, target in graph.edges:
            matrix[source, target] += 1
        radius = abs(np.linalg.eigvals(matrix)).max()
        if radius < 0.5:
            continue  # no cycle
        kernel = kw.AllPathsGraphKernel(edge_weight=edges / radius, normalize=False)
        if edges > 1:
            with pytest.raises(KernelInputError, match=r"graph 1 .* no finite sum"):
                kernel.gram([chain(3), graph])
        else:
            scaled = matrix * edges / radius
            inverse = np.linalg.inv(np.eye(n) - scaled) - np.eye(n)
            assert kernel.diag([graph])[0] == pytest.approx(inverse.sum() ** 2, rel=1e-6)


def test_best_paths_are_refused_if_a_cycle_gains():
    kernel = kw.AllPathsGraphKernel(edge_weight=1.0, edge_weights={"up": 1.5}, variant="max")
    assert kernel.gram([ring(3)]) == 1
    assert kernel.gram([Graph(["x", "y"], [(0, "up", 1)])]) == 1  # no cycle
    with pytest.raises(KernelInputError, match=r"graph 0 .* has a cycle .* more than 1"):
        kernel.gram([Graph(["x", "y"], [(0, "up", 1), (1, "", 0)])])


def test_large_weights_are_fine_without_cycles():
    graph = chain(20)
    kernel = kw.AllPathsGraphKernel(edge_weight=1e10)
    assert kernel.value(graph, graph) == pytest.approx(1, rel=1e-12)  # a path weighs 1e190
    with pytest.raises(KernelOverflowError, match="smaller weights or gates"):
        kernel.clone().set_params(normalize=False).value(graph, graph)


def test_graphs_that_take_minutes_are_refused_at_once():
    with pytest.raises(
        KernelInputError, match=r"paths of graph 0 .* more than 3,000,000,000 steps"
    ):
        PATHS.gram([chain(60_000)])
    with pytest.raises(KernelInputError, match=r"more than 3,000,000,000 steps"):
        PATHS.gram([ring(2_000)])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"edge_weight": -0.1}, "edge_weight must be a number in"),
        ({"edge_weight": math.nan}, "edge_weight must be a number in"),
        ({"edge_weights": 0.5}, "edge_weights must be a mapping"),
        ({"edge_weights": {"e": -1}}, "edge_weights must map labels"),
        ({"edge_weights": {3: 1.0}}, "edge_weights must map labels"),
        ({"variant": "mean"}, "variant must be one of"),
        ({"gates": {"a": -1}}, "gates must map labels"),
    ],
)
def test_wrong_parameters_of_paths_are_named(parameters, message):
    with pytest.raises(KernelInputError, match=f"AllPathsGraphKernel: {message}"):
        kw.AllPathsGraphKernel(**parameters).gram(sample_graphs(2))


# Colors.


def test_colors_by_hand():
    a = Graph(["x", "y", "y"], [(0, "e", 1), (0, "e", 2)])
    b = Graph(["x", "y", "y"], [(0, "e", 1), (0, "f", 2)])
    # Labels: 1 * 1 + 2 * 2; then one y of b has the neighborhood of both of a.
    assert kw.WeisfeilerLehmanKernel(n_iterations=1, normalize=False).value(a, b) == 5 + 2
    one = kw.WeisfeilerLehmanKernel(n_iterations=1, base="assignment", normalize=False)
    assert one.value(a, b) == 3 + 1


def test_more_iterations_see_farther():
    a, b = chain(6, lambda i: "x"), chain(7, lambda i: "x")
    values = [kw.WeisfeilerLehmanKernel(n_iterations=h).value(a, b) for h in range(6)]
    assert values[0] == pytest.approx(1) and (np.diff(values) < 0).all()


def test_the_assignment_kernel_is_the_best_assignment_of_nodes():
    from scipy.optimize import linear_sum_assignment

    for a, b in zip(sample_graphs(15, seed=1), sample_graphs(15, seed=2), strict=True):
        numbers = {}

        def colors(graph, numbers=numbers):
            found = [list(graph.nodes.values())]
            for _ in range(3):
                around = [[] for _ in graph.nodes]
                for source, label, target in graph.edges:
                    around[source].append((0, label, found[-1][target]))
                    around[target].append((1, label, found[-1][source]))
                keys = [(c, *sorted(n, key=repr)) for c, n in zip(found[-1], around, strict=True)]
                found.append([numbers.setdefault(key, len(numbers)) for key in keys])
            return np.array(found, dtype=object)

        left, right = colors(a), colors(b)
        match = (left[:, :, None] == right[:, None, :]).sum(axis=0)
        rows, columns = linear_sum_assignment(match, maximize=True)
        assert ASSIGNMENT.value(a, b) == match[rows, columns].sum()


def test_wrong_parameters_of_colors_are_named():
    for parameters, message in (
        ({"n_iterations": -1}, "n_iterations must be an int"),
        ({"base": "sum"}, "base must be one of"),
    ):
        with pytest.raises(KernelInputError, match=f"WeisfeilerLehmanKernel: {message}"):
            kw.WeisfeilerLehmanKernel(**parameters).gram(sample_graphs(2))


# What is kept.


@every_kind
def test_features_of_a_batch_are_made_once(kernel, monkeypatch):
    calls = []
    make = type(kernel)._side

    def count(self, *arguments):
        calls.append(arguments)
        return make(self, *arguments)

    monkeypatch.setattr(type(kernel), "_side", count)
    batch = kw.batch(sample_graphs(20))
    first = kernel.cross(batch[:2], batch)
    second = kernel.cross(batch[:2], batch)
    assert len(calls) == 3  # the batch, and twice the few
    np.testing.assert_array_equal(first, second)
    batch.forget()
    kernel.gram(batch)
    assert len(calls) == 4


@every_kind
def test_labels_that_a_batch_learns_later_do_not_match_unknown_ones(kernel):
    vocabulary = kw.arrays.Vocabulary()
    kept = kw.batch([ring(3, "abc".__getitem__)], vocabulary=vocabulary)
    first = kernel.cross([ring(3, "xyz".__getitem__)], kept)
    vocabulary.add_all(["z", "y", "x"])
    np.testing.assert_array_equal(kernel.cross([ring(3, "xyz".__getitem__)], kept), first)
    assert first == 0


# What takes kernels.


@every_kind
def test_models_of_graphs_are_saved_and_loaded(kernel, tmp_path):
    graphs = sample_graphs(24, seed=9)
    labels = ["many" if len(graph.nodes) > 4 else "few" for graph in graphs]
    normalized = kernel.clone().set_params(normalize=True)
    for model, use in (
        (kw.KernelSVC(normalized), "decision_function"),
        (kw.KernelHasher(normalized, n_references=8, n_bits=16, random_state=1), "transform"),
        (kw.NystromEmbedder(normalized, n_landmarks=8, random_state=1), "transform"),
        (kw.KernelNeighborsClassifier(normalized, n_neighbors=3), "predict_proba"),
    ):
        model.fit(graphs, labels)
        kw.save(model, tmp_path / "model.kw")
        again = kw.load(tmp_path / "model.kw")
        for one, other in zip(
            getattr(model, use)(graphs), getattr(again, use)(graphs), strict=True
        ):
            np.testing.assert_array_equal(one, other)


def test_an_extractor_learns_from_graphs_and_explains():
    documents = list(kw.datasets.load_interactions("train"))[:60]
    kernel = kw.OnView("all-paths-graph", kw.AllPathsGraphKernel())
    model = kw.RelationExtractor(kernel=kernel, random_state=1).fit(documents)
    found = model.predict(documents[:5], all=True)
    case = found[0].evidence[0]
    assert " … " in case.fragments[0].text and case.fragments[0].view == "all-paths-graph"
