"""The loss of nearest neighbors, whole and sampled."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tuning.oracles import Reference

import kernelwood as kw
from kernelwood.tuning import neighbor_loss
from kernelwood.tuning.neighbor_search import (
    NeighborGraph,
    NeighborLoss,
    find_graph,
    nearest_others,
)

KERNEL = kw.SubsequenceKernel(decay=0.7)


def letter_paths(n, seed):
    random = np.random.default_rng(seed)
    return [
        kw.Sequence(random.choice(list("abcdef"), random.integers(1, 7)).tolist()) for _ in range(n)
    ]


def plain_neighbors(matrix, i, k, groups):
    others = [
        j for j in range(len(matrix)) if j != i and (groups is None or groups[i] != groups[j])
    ]
    return sorted(others, key=lambda j: (-round(matrix[i, j], 12), j))[:k]


@given(st.integers(2, 25), st.integers(1, 9), st.booleans(), st.integers(0, 1000))
def test_neighbors_are_the_nearest_of_other_groups(n, k, grouped, seed):
    paths = letter_paths(n, seed)
    groups = np.random.default_rng(seed).integers(4, size=n) if grouped else None
    found, similarities = nearest_others(KERNEL, kw.batch(paths), k, groups)
    matrix = KERNEL.gram(paths)
    for i in range(n):
        expected = plain_neighbors(matrix, i, min(k, n - 1), groups)
        assert found[i, : len(expected)].tolist() == expected
        assert similarities[i, : len(expected)] == pytest.approx(matrix[i, expected], abs=1e-11)
        assert (similarities[i, len(expected) :] == 0).all()


@pytest.mark.parametrize("grouped", [False, True])
def test_neighbors_do_not_depend_on_whether_the_matrix_is_held(monkeypatch, grouped):
    paths = kw.batch(letter_paths(90, 1))
    groups = np.arange(90) // 4 if grouped else None
    whole = nearest_others(KERNEL, paths, 5, groups)
    for name, size in (("_WHOLE", 10), ("_QUERIES", 17), ("_SEARCHED", 23)):
        monkeypatch.setattr(f"kernelwood.tuning.neighbor_search.{name}", size)
    parts = nearest_others(KERNEL, paths, 5, groups)
    assert (parts[0] == whole[0]).all()
    assert parts[1] == pytest.approx(whole[1], abs=1e-11)


def test_of_equal_neighbors_the_first_are_taken():
    paths = kw.batch([kw.Sequence(["a", "b"])] * 6)
    assert nearest_others(KERNEL, paths, 2)[0].tolist() == [[1, 2], [0, 2]] + [[0, 1]] * 4


def measure(kind, y, **options):
    classes, numbers = np.unique(y, return_inverse=True)
    numbers = numbers.astype(np.int32)
    return NeighborLoss.of("test", kind, classes, numbers, **options), numbers


def loss_of(kind, paths, y, groups=None, **options):
    loss, numbers = measure(kind, y, **options)
    return loss(KERNEL, kw.batch(paths), numbers, groups)


@given(st.integers(2, 25), st.integers(1, 9), st.integers(0, 1000))
def test_votes_are_those_of_the_definition(n, n_votes, seed):
    paths = letter_paths(n, seed)
    y = np.random.default_rng(seed).integers(3, size=n)
    found = loss_of("votes", paths, y, n_votes=n_votes)
    matrix = KERNEL.gram(paths)
    for i in range(n):
        near = plain_neighbors(matrix, i, min(n_votes, n - 1), None)
        total = sum(matrix[i, j] for j in near)
        agreeing = sum(matrix[i, j] for j in near if y[i] == y[j])
        expected = 1 - agreeing / total / np.mean(y == y[i]) if total else 0.0
        assert found[i] == pytest.approx(expected, abs=1e-9)


def test_a_structure_that_is_like_no_other_is_no_loss_and_no_gain():
    paths = [kw.Sequence(["a"]), kw.Sequence(["a"]), kw.Sequence(["z"])]
    for kind in ("votes", "paper"):
        assert loss_of(kind, paths, [0, 0, 1])[2] == 0


def test_a_structure_of_which_closed_gates_leave_nothing_is_a_loss():
    kernel = kw.SubsequenceKernel(gates={"z": 0.0}, gate_on="node")
    paths = [kw.Sequence(["a"]), kw.Sequence(["a"]), kw.Sequence(["b"]), kw.Sequence(["z"])]
    loss, numbers = measure("votes", [0, 0, 1, 1])
    with pytest.warns(RuntimeWarning, match="self-similarity 0"):
        found = loss(kernel, kw.batch(paths), numbers)
    assert found.tolist() == [-1.0, -1.0, 0.0, 1.0]


def test_the_loss_by_votes_does_not_change_with_all_similarities():
    paths, y = letter_paths(40, 3), np.arange(40) % 2
    loss, numbers = measure("votes", y)
    batch = kw.batch(paths)
    scaled = loss(0.25 * KERNEL, batch, numbers)
    assert scaled == pytest.approx(loss(KERNEL, batch, numbers), abs=1e-9)


@pytest.mark.parametrize(
    ("negative", "expected"),
    [("auto", [0.0, 0.0, -1.0, -1.0, 1.0]), (None, [-1.0, -1.0, -1.0, -1.0, 1.0])],
)
def test_the_paper_rewards_neighbors_that_are_not_negative(negative, expected):
    paths = [kw.Sequence([word]) for word in "aabbb"]
    y = ["no", "no", "yes", "yes", "no"]  # the last is nearest to the third
    assert loss_of("paper", paths, y, negative_label=negative).tolist() == expected


def test_classes_count_the_same_however_rare():
    # At chance: neighbors by coin, whatever the share of a class.
    random = np.random.default_rng(0)
    y = (random.random(3000) < 0.1).astype(int)
    paths = kw.batch([kw.Sequence([("", str(i)) for i in random.integers(40, size=3)]) for _ in y])
    found = loss_of("votes", paths, y)
    for number in (0, 1):
        assert abs(found[y == number].mean()) < 0.25


def test_a_negative_label_that_is_no_class_is_named():
    with pytest.raises(
        kw.errors.KernelInputError, match="negative_label='maybe' is not one of the classes"
    ):
        measure("paper", ["no", "yes"], negative_label="maybe")


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

    monkeypatch.setattr("kernelwood.tuning.neighbor_search.find_graph", spy)
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
@settings(max_examples=50, deadline=None)
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
    with kw.compute.counting() as counts:
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


PLANTED = kw.tuning.planted_paths(1500, length=(1, 6), random_state=3)
X, Y = kw.batch(PLANTED.paths), PLANTED.classes
PLAIN = kw.SubsequenceKernel()


def nearest(kernel: kw.Kernel, paths: list[kw.Sequence], i: int, k: int) -> list[tuple]:
    """Return similarity and position of the nearest others; of equal ones the first."""
    values = [(round(kernel.value(paths[i], other), 12), j) for j, other in enumerate(paths)]
    return sorted((pair for pair in values if pair[1] != i), key=lambda p: (-p[0], p[1]))[:k]


def test_loss_of_votes_is_the_definition() -> None:
    paths, y = PLANTED.paths[:40], Y[:40].tolist()
    expected = 0.0
    for i, own in enumerate(y):
        votes = nearest(PLAIN, paths, i, 8)
        share = sum(v for v, j in votes if y[j] == own) / sum(v for v, _ in votes)
        expected += 1 - share / (y.count(own) / len(y))
    assert neighbor_loss(PLAIN, paths, y) == pytest.approx(expected / len(y), abs=1e-9)


def test_loss_of_the_paper_is_the_definition() -> None:
    paths, y = PLANTED.paths[:40], Y[:40].tolist()
    expected = 0.0
    for i, own in enumerate(y):
        [(value, j)] = nearest(PLAIN, paths, i, 1)
        expected += value if y[j] != own else -value * (own == 1)
    assert neighbor_loss(PLAIN, paths, y, loss="paper") == pytest.approx(expected / 40, abs=1e-9)


@pytest.mark.parametrize("n_samples", [300, 1000])
def test_as_many_samples_as_structures_give_the_full_loss(n_samples: int) -> None:
    full = neighbor_loss(PLAIN, X[:300], Y[:300])
    assert neighbor_loss(PLAIN, X[:300], Y[:300], n_samples=n_samples, random_state=1) == full


def errors(n_samples: int, sampling: str = "neighbors") -> float:
    full = neighbor_loss(PLAIN, X, Y)
    drawn = [
        neighbor_loss(PLAIN, X, Y, n_samples=n_samples, sampling=sampling, random_state=seed)
        for seed in range(8)
    ]
    return float(np.mean(np.abs(np.array(drawn) - full)))


def test_more_samples_come_nearer_to_the_full_loss() -> None:
    assert errors(1000) < errors(25)


def test_a_seed_draws_the_same_structures() -> None:
    first, second = (neighbor_loss(PLAIN, X, Y, n_samples=30, random_state=5) for _ in range(2))
    assert first == second


def test_another_seed_draws_other_structures() -> None:
    first, second = (neighbor_loss(PLAIN, X, Y, n_samples=30, random_state=s) for s in (5, 6))
    assert first != second


def test_list_and_batch_have_the_same_loss() -> None:
    assert neighbor_loss(PLAIN, PLANTED.paths[:100], Y[:100]) == neighbor_loss(
        PLAIN, X[:100], Y[:100]
    )


def test_threads_do_not_matter() -> None:
    with kw.config_context(n_jobs=2):
        threaded = neighbor_loss(PLAIN, X[:400], Y[:400])
    assert threaded == neighbor_loss(PLAIN, X[:400], Y[:400])


def test_the_negative_class_earns_nothing() -> None:
    paths = [kw.Sequence(["a"]), kw.Sequence(["a"]), kw.Sequence(["b"]), kw.Sequence(["b"])]
    y = ["no", "no", "yes", "yes"]
    losses = [neighbor_loss(PLAIN, paths, y, loss="paper", negative_label=n) for n in ("no", None)]
    assert losses == [-0.5, -1.0]


@pytest.mark.parametrize(("n_votes", "all_agree"), [(1, True), (3, False)])
def test_as_many_vote_as_are_asked(n_votes: int, all_agree: bool) -> None:
    paths = [kw.Sequence(list(text)) for text in ("ab", "ab", "yb", "yb")]
    assert (neighbor_loss(PLAIN, paths, [0, 0, 1, 1], n_votes=n_votes) == -1.0) is all_agree


@pytest.mark.parametrize(
    "parameters",
    [{"n_samples": 1}, {"n_neighbors": 0}, {"n_votes": 0}, {"sampling": "all"}, {"loss": "hinge"},
     {"negative_label": 7, "loss": "paper"}],
)  # fmt: skip
def test_impossible_parameter_is_named(parameters: dict) -> None:
    with pytest.raises(kw.errors.KernelInputError, match=next(iter(parameters))):
        neighbor_loss(PLAIN, X[:20], Y[:20], **parameters)


def test_one_structure_has_no_neighbor() -> None:
    with pytest.raises(kw.errors.KernelInputError, match="two structures"):
        neighbor_loss(PLAIN, X[:1], Y[:1])
