import numpy as np
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.tuning.losses import NeighborLoss, nearest_others

KERNEL = kw.SubsequenceKernel(decay=0.7)


def sample_paths(n, seed):
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
    paths = sample_paths(n, seed)
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
    paths = kw.batch(sample_paths(90, 1))
    groups = np.arange(90) // 4 if grouped else None
    whole = nearest_others(KERNEL, paths, 5, groups)
    for name, size in (("_WHOLE", 10), ("_QUERIES", 17), ("_SEARCHED", 23)):
        monkeypatch.setattr(f"kernelwood.tuning.losses.{name}", size)
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
    paths = sample_paths(n, seed)
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
    paths, y = sample_paths(40, 3), np.arange(40) % 2
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
        kw.errors.KernelInputError, match="negative_label='maybe' is none of the classes"
    ):
        measure("paper", ["no", "yes"], negative_label="maybe")
