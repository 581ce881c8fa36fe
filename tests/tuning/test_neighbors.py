from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tuning.oracles import Reference

import kernelwood as kw
from kernelwood.tuning.neighbors import NeighborGraph, find_graph

LABELS = [f"e{i}" for i in range(6)]


def sample_paths(n, seed):
    random = np.random.default_rng(seed)
    return [
        kw.Sequence(
            (str(random.choice(LABELS)), str(random.choice(list("abcdefgh"))))
            for _ in range(random.integers(2, 7))
        )
        for _ in range(n)
    ]


def uneven_kernel(seed):
    """Return a kernel by which hardly any two structures are equally near."""
    random = np.random.default_rng(seed)
    return kw.SubsequenceKernel(
        decay=0.7, gates={label: float(random.uniform(0.5, 1.5)) for label in LABELS}
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", ["votes", "paper"])
def test_decisions_are_those_of_the_algorithm_in_plain_python(loss, seed):
    paths = sample_paths(25, seed)
    classes = np.random.default_rng(seed).integers(2, size=25)
    kernel = uneven_kernel(seed)
    learner = kw.GateLearner(
        kernel,
        labels=1.0,
        loss=loss,
        n_votes=3,
        n_samples=5,
        n_trials=3,
        n_neighbors=2,
        n_passes=1,
        random_state=seed,
    ).fit(paths, classes)
    reference = Reference(
        kernel,
        paths,
        classes,
        kind=loss,
        labels=learner.labels_,
        seed=seed,
        samples=5,
        trials=3,
        k=2,
    )
    expected = reference.one_pass()
    for made, (label, gate, compared, totals) in zip(learner.trace_, expected, strict=True):
        assert (made["label"], made["compared"]) == (label, compared)
        assert made["open"] == (gate != 0)
        assert made["loss_closed"] * compared == pytest.approx(totals.pop(0.0), abs=1e-9)
        assert made["loss_open"] * compared == pytest.approx(*totals.values(), abs=1e-9)


def test_every_pass_has_a_graph_made_with_the_gates_of_its_beginning(monkeypatch):
    kernels = []

    def spy(kernel, *args, **options):
        kernels.append(kernel)
        return find_graph(kernel, *args, **options)

    monkeypatch.setattr("kernelwood.tuning.neighbors.find_graph", spy)
    planted = kw.tuning.planted_paths(120, n_signal=3, n_noise=4, length=(1, 4))
    learner = kw.GateLearner(
        kw.SubsequenceKernel(), labels=1.0, n_samples=20, n_passes=5, random_state=0
    ).fit(planted.paths, planted.classes)
    gates = dict.fromkeys(learner.labels_, 1.0)
    n_passes = learner.trace_[-1]["step"] + 1
    assert len(kernels) == n_passes > 1
    for number, kernel in enumerate(kernels):
        assert kernel.gates == gates
        made = [decision for decision in learner.trace_ if decision["step"] == number]
        gates = {decision["label"]: float(decision["open"]) for decision in made}


@given(st.integers(2, 20), st.integers(1, 4), st.integers(0, 1000))
def test_a_neighborhood_is_what_the_paper_says(n, k, seed):
    random = np.random.default_rng(seed)
    k = min(k, n - 1)
    neighbors = np.array(
        [random.choice([j for j in range(n) if j != i], k, replace=False) for i in range(n)]
    )
    chosen = random.choice(n, random.integers(1, n + 1), replace=False)
    pointing = defaultdict(set)
    for i in range(n):
        for j in neighbors[i]:
            pointing[j].add(i)
    near = {j for i in chosen for j in [*neighbors[i], *pointing[i]]}
    expected = set(chosen) | near | {neighbors[i][0] for i in near}
    assert NeighborGraph(neighbors).around(chosen).tolist() == sorted(expected)


def test_an_exact_graph_holds_the_nearest_without_themselves():
    paths, kernel = kw.batch(sample_paths(50, 2)), uneven_kernel(2)
    graph = find_graph(kernel, paths, 3, hashed=False, seed=0)
    assert (graph.neighbors == kernel.neighbors(paths, paths, 3, exclude_self=True)[0]).all()


def test_a_hashed_graph_finds_near_ones_with_few_evaluations():
    planted = kw.tuning.planted_paths(2000, length=(3, 1), purity=1.0)
    paths, kernel = kw.batch(planted.paths), kw.SubsequenceKernel()
    with kw.counting() as counts:
        graph = find_graph(kernel, paths, 4, hashed=True, seed=0)
    assert counts.kernel_evaluations < 2000**2 / 10
    assert (graph.neighbors != np.arange(2000)[:, None]).all()
    random = np.random.default_rng(0).integers(2000, size=2000)
    found = kernel.pairs(paths, paths[graph.neighbors[:, 0]]).mean()
    assert found > 2 * kernel.pairs(paths, paths[random]).mean()


def test_structures_with_equal_codes_have_other_structures_as_neighbors():
    paths = kw.batch([kw.Sequence(["a"])] * 30 + [kw.Sequence(["b"])] * 30)
    graph = find_graph(kw.SubsequenceKernel(), paths, 3, hashed=True, seed=0)
    assert graph.neighbors.shape == (60, 3)
    assert (graph.neighbors != np.arange(60)[:, None]).all()


def test_a_graph_has_at_most_all_others_as_neighbors():
    paths = kw.batch(sample_paths(3, 0))
    assert (
        find_graph(kw.SubsequenceKernel(), paths, 4, hashed=False, seed=0).neighbors.shape[1] == 2
    )


def test_an_exact_graph_holds_neighbors_of_other_groups():
    paths, kernel = kw.batch(sample_paths(50, 2)), uneven_kernel(2)
    groups = np.arange(50) // 5
    graph = find_graph(kernel, paths, 3, hashed=False, seed=0, groups=groups)
    assert (groups[graph.neighbors] != groups[:, None]).all()
