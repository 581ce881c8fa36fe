"""The loss of nearest neighbors, whole and sampled."""

from __future__ import annotations

import numpy as np
import pytest

import kernelwood as kw
from kernelwood.tuning import neighbor_loss

PLANTED = kw.tuning.planted_paths(1500, length=(1, 6), random_state=3)
X, Y = kw.batch(PLANTED.paths), PLANTED.classes
KERNEL = kw.SubsequenceKernel()


def nearest(kernel: kw.Kernel, paths: list[kw.Sequence], i: int, k: int) -> list[tuple]:
    """Return similarity and position of the nearest others; of equal ones the first."""
    values = [(round(kernel.value(paths[i], other), 12), j) for j, other in enumerate(paths)]
    return sorted((pair for pair in values if pair[1] != i), key=lambda p: (-p[0], p[1]))[:k]


def test_loss_of_votes_is_the_definition() -> None:
    paths, y = PLANTED.paths[:40], Y[:40].tolist()
    expected = 0.0
    for i, own in enumerate(y):
        votes = nearest(KERNEL, paths, i, 8)
        share = sum(v for v, j in votes if y[j] == own) / sum(v for v, _ in votes)
        expected += 1 - share / (y.count(own) / len(y))
    assert neighbor_loss(KERNEL, paths, y) == pytest.approx(expected / len(y), abs=1e-9)


def test_loss_of_the_paper_is_the_definition() -> None:
    paths, y = PLANTED.paths[:40], Y[:40].tolist()
    expected = 0.0
    for i, own in enumerate(y):
        [(value, j)] = nearest(KERNEL, paths, i, 1)
        expected += value if y[j] != own else -value * (own == 1)
    assert neighbor_loss(KERNEL, paths, y, loss="paper") == pytest.approx(expected / 40, abs=1e-9)


@pytest.mark.parametrize("n_samples", [300, 1000])
def test_as_many_samples_as_structures_give_the_full_loss(n_samples: int) -> None:
    full = neighbor_loss(KERNEL, X[:300], Y[:300])
    assert neighbor_loss(KERNEL, X[:300], Y[:300], n_samples=n_samples, random_state=1) == full


def errors(n_samples: int, sampling: str = "neighbors") -> float:
    full = neighbor_loss(KERNEL, X, Y)
    drawn = [
        neighbor_loss(KERNEL, X, Y, n_samples=n_samples, sampling=sampling, random_state=seed)
        for seed in range(8)
    ]
    return float(np.mean(np.abs(np.array(drawn) - full)))


def test_more_samples_come_nearer_to_the_full_loss() -> None:
    assert errors(1000) < errors(25)


def test_a_seed_draws_the_same_structures() -> None:
    first, second = (neighbor_loss(KERNEL, X, Y, n_samples=30, random_state=5) for _ in range(2))
    assert first == second


def test_another_seed_draws_other_structures() -> None:
    first, second = (neighbor_loss(KERNEL, X, Y, n_samples=30, random_state=s) for s in (5, 6))
    assert first != second


def test_list_and_batch_have_the_same_loss() -> None:
    assert neighbor_loss(KERNEL, PLANTED.paths[:100], Y[:100]) == neighbor_loss(
        KERNEL, X[:100], Y[:100]
    )


def test_threads_do_not_matter() -> None:
    with kw.config_context(n_jobs=2):
        threaded = neighbor_loss(KERNEL, X[:400], Y[:400])
    assert threaded == neighbor_loss(KERNEL, X[:400], Y[:400])


def test_the_negative_class_earns_nothing() -> None:
    paths = [kw.Sequence(["a"]), kw.Sequence(["a"]), kw.Sequence(["b"]), kw.Sequence(["b"])]
    y = ["no", "no", "yes", "yes"]
    losses = [neighbor_loss(KERNEL, paths, y, loss="paper", negative_label=n) for n in ("no", None)]
    assert losses == [-0.5, -1.0]


@pytest.mark.parametrize(("n_votes", "all_agree"), [(1, True), (3, False)])
def test_as_many_vote_as_are_asked(n_votes: int, all_agree: bool) -> None:
    paths = [kw.Sequence(list(text)) for text in ("ab", "ab", "yb", "yb")]
    assert (neighbor_loss(KERNEL, paths, [0, 0, 1, 1], n_votes=n_votes) == -1.0) is all_agree


@pytest.mark.parametrize(
    "parameters",
    [{"n_samples": 1}, {"n_neighbors": 0}, {"n_votes": 0}, {"sampling": "all"}, {"loss": "hinge"},
     {"negative_label": 7, "loss": "paper"}],
)  # fmt: skip
def test_impossible_parameter_is_named(parameters: dict) -> None:
    with pytest.raises(kw.errors.KernelInputError, match=next(iter(parameters))):
        neighbor_loss(KERNEL, X[:20], Y[:20], **parameters)


def test_one_structure_has_no_neighbor() -> None:
    with pytest.raises(kw.errors.KernelInputError, match="two structures"):
        neighbor_loss(KERNEL, X[:1], Y[:1])
