"""Support vector machines on a Gram matrix: the solver, parts of the matrix, its computation."""

from __future__ import annotations

import signal

import numpy as np
import pytest
import strategies
from hypothesis import given, settings, strategies as st
from learners.smo_reference import problems, textbook_smo
from processes import start_python, stop
from sklearn.svm import SVC
from work import count_calls

import kernelwood as kw
from kernelwood import _native
from kernelwood.learners.svm_machines import Trainer, add_gram, class_scores, compute_gram

DTYPES = ("float32", "float64")


def solve(
    gram,
    targets,
    bounds,
    tolerance=1e-3,
    *,
    rows=None,
    max_iterations=10**7,
    stop=None,
    space=None,
):
    rows = np.arange(len(gram)) if rows is None else np.asarray(rows)
    found = np.full(len(rows), np.nan)
    data = (gram, rows, targets, bounds)
    return found, *_native.solve_svm(*data, tolerance, max_iterations, found, stop, space)


def libsvm(gram, targets, bounds, tolerance):
    # scikit-learn lets the larger target be the positive one, LIBSVM the first: the same here.
    machine = SVC(kernel="precomputed", C=1.0, tol=tolerance)
    machine.fit(gram, -targets, sample_weight=bounds)
    found = np.zeros(len(targets))
    found[machine.support_] = -machine.dual_coef_[0]
    return found, -machine.intercept_[0], machine.n_iter_[0]


def objective(gram, coefficients):
    return coefficients @ gram @ coefficients / 2 - np.abs(coefficients).sum()


def large_problem(n=300, seed=0, noise=0.5):
    random = np.random.default_rng(seed)
    points = random.normal(size=(n, 6))
    targets = np.where(points[:, 0] + noise * random.normal(size=n) > 0.3, 1, -1).astype(np.int8)
    selves = (points**2).sum(axis=1)
    gram = np.exp((points @ points.T - (selves[:, None] + selves) / 2) / 4)
    gram = ((gram + gram.T) / 2).astype(np.float32).astype(np.float64)
    return gram, targets, random.choice([1.0, 3.0], size=n)


# The solution.


@pytest.mark.parametrize("dtype", DTYPES)
@given(problems())
def test_the_optimality_conditions_hold(dtype, problem):
    gram, targets, bounds = problem
    found, intercept, value, _, converged = solve(gram.astype(dtype), targets, bounds)
    assert converged
    alpha = targets * found
    assert (alpha >= 0).all() and (alpha <= bounds).all()
    assert found.sum() == pytest.approx(0, abs=1e-9 * bounds.sum())
    margins = targets * (gram @ found + intercept)
    slack = 1e-3 + 1e-9 * (1 + np.abs(gram) @ np.abs(found)).max()
    assert (margins[alpha < bounds] >= 1 - slack).all()
    assert (margins[alpha > 0] <= 1 + slack).all()
    assert value == pytest.approx(objective(gram, found), rel=1e-9, abs=1e-9)


@given(problems(max_size=12))
def test_the_solution_is_that_of_the_textbook(problem):
    gram, targets, bounds = problem
    expected, offset = textbook_smo(gram.tolist(), targets.tolist(), bounds.tolist(), 1e-7)
    found, intercept, *_ = solve(gram, targets, bounds, 1e-7)
    assert objective(gram, found) == pytest.approx(objective(gram, np.array(expected)), abs=1e-5)
    assert gram @ found + intercept == pytest.approx(gram @ expected + offset, abs=2e-3)


@pytest.mark.parametrize("dtype", DTYPES)
@given(problems())
def test_the_solution_is_that_of_libsvm(dtype, problem):
    gram, targets, bounds = problem
    expected, offset, _ = libsvm(gram, targets, bounds, 1e-7)
    found, intercept, *_ = solve(gram.astype(dtype), targets, bounds, 1e-7)
    assert objective(gram, found) == pytest.approx(objective(gram, expected), abs=1e-5)
    assert gram @ found + intercept == pytest.approx(gram @ expected + offset, abs=2e-3)


@pytest.mark.parametrize("C", [0.01, 1, 100])
def test_without_ties_the_steps_are_those_of_libsvm(C):
    gram, targets, bounds = large_problem()
    expected, offset, n_iterations = libsvm(gram, targets, C * bounds, 1e-3)
    found, intercept, _, steps, _ = solve(gram.astype(np.float32), targets, C * bounds)
    assert steps == n_iterations
    assert found == pytest.approx(expected, abs=1e-9 * C)
    assert intercept == pytest.approx(offset, abs=1e-9 * C)


def test_samples_left_out_have_the_right_gradient_in_the_end():
    gram, targets, bounds = large_problem(n=1500)
    found, intercept, value, n_iterations, converged = solve(gram, targets, 50 * bounds, 1e-6)
    assert converged and n_iterations > 3000  # several times 1000, after which samples are left out
    margins = targets * (gram @ found + intercept)
    alpha = targets * found
    assert margins[alpha < 50 * bounds].min() >= 1 - 2e-6
    assert margins[alpha > 0].max() <= 1 + 2e-6
    assert value == pytest.approx(objective(gram, found))


def test_all_variables_may_end_at_their_bounds():
    gram, targets, _ = large_problem(n=40)
    targets[:] = [1, -1] * 20
    bounds = np.full(40, 1e-4)
    found, intercept, *_ = solve(gram, targets, bounds)
    assert (found == bounds * targets).all()
    assert intercept == pytest.approx(libsvm(gram, targets, bounds, 1e-3)[1], abs=1e-9)


def test_equal_samples_of_different_classes_end_at_their_bounds():
    found, intercept, *_ = solve(np.ones((2, 2)), np.array([1, -1], np.int8), np.array([2.0, 2.0]))
    assert found.tolist() == [2, -2] and intercept == 0


def test_a_matrix_that_is_not_positive_semidefinite_is_solved_as_by_libsvm():
    gram, targets, bounds = large_problem(n=80)
    gram = np.round(gram, 1) - 0.5 * np.eye(80)
    found, _, value, *_ = solve(gram.astype(np.float32), targets, bounds)
    alpha = targets * found
    assert (alpha >= 0).all() and (alpha <= bounds).all()
    expected = libsvm(gram, targets, bounds, 1e-3)[0]
    assert value == pytest.approx(objective(gram, expected), rel=0.05)


# Parts of the matrix.


@pytest.mark.parametrize("dtype", DTYPES)
@given(problems(), st.data())
def test_rows_give_the_same_bits_as_a_copy_of_them(dtype, problem, data):
    gram, targets, bounds = problem
    gram = gram.astype(dtype)
    rows = np.array(data.draw(st.permutations(range(len(gram)))))
    rows = np.concatenate([rows[targets[rows] == side][: len(gram) // 2 + 1] for side in (1, -1)])
    if data.draw(st.booleans()):
        rows = np.sort(rows)
    expected = solve(np.ascontiguousarray(gram[np.ix_(rows, rows)]), targets[rows], bounds[rows])
    found = solve(gram, targets[rows], bounds[rows], rows=rows)
    assert (found[0] == expected[0]).all() and found[1:] == expected[1:]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 700, 5000, 10**6])
@given(problems(), st.data())
@settings(max_examples=20)
def test_space_for_copies_of_rows_changes_no_bit(dtype, size, problem, data):
    gram, targets, bounds = problem
    gram = gram.astype(dtype)
    rows = np.array(data.draw(st.permutations(range(len(gram)))))
    part = (gram, targets[rows], bounds[rows])
    space = np.full(size, np.nan, dtype)
    expected, found = solve(*part, rows=rows), solve(*part, rows=rows, space=space)
    assert (found[0] == expected[0]).all() and found[1:] == expected[1:]


@pytest.mark.parametrize("size", [0, 1, 5000, 10**5, 10**7])
@pytest.mark.parametrize("step", [1, 2])
def test_space_changes_no_bit_where_samples_are_left_out(size, step):
    gram, targets, bounds = large_problem(n=1600)
    rows = np.arange(0, 1600, step)
    part = (gram.astype(np.float32), targets[rows], 50 * bounds[rows], 1e-6)
    expected = solve(*part, rows=rows)
    assert expected[3] > 2000
    found = solve(*part, rows=rows, space=np.full(size, np.nan, np.float32))
    assert (found[0] == expected[0]).all() and found[1:] == expected[1:]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_memory_map_is_read_in_place(tmp_path, dtype):
    gram, targets, bounds = large_problem()
    stored = np.memmap(tmp_path / "gram", dtype, "w+", shape=gram.shape)
    stored[:] = gram
    stored.flush()
    opened = np.memmap(tmp_path / "gram", dtype, "r", shape=gram.shape)
    found, expected = (solve(matrix, targets, bounds) for matrix in (opened, gram.astype(dtype)))
    assert (found[0] == expected[0]).all() and found[1:] == expected[1:]


def test_held_out_scores_are_those_of_copies():
    gram, *_ = large_problem(n=90)
    gram = gram.astype(np.float32)
    numbers = (np.arange(90) % 3).astype(np.int32)
    folds = np.arange(90) // 7 % 4
    for strategy in ("ovr", "ovo"):
        trainer = Trainer(strategy, np.ones(3), False, 1.0, 1e-3, 10**6, 1)
        _, [scores] = trainer.train(gram, numbers, [folds])
        for fold in range(4):
            held, kept = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            [machines] = trainer.train_parts(gram, numbers, [kept])
            copy = np.ascontiguousarray(gram[np.ix_(kept, kept)])
            copied, _ = trainer.train(copy, numbers[kept])
            assert (kept[copied.supports] == machines.supports).all()
            assert (copied.coefficients == machines.coefficients).all()
            similarities = gram[np.ix_(held, machines.supports)].astype(np.float64)
            margins = similarities @ machines.coefficients.T + machines.intercepts
            again = class_scores(margins, machines.pairs, 3)
            assert scores[held] == pytest.approx(again, abs=1e-12)


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_held_out_scores_alone_are_those_of_training(strategy):
    gram, *_ = large_problem(n=90)
    gram, numbers = gram.astype(np.float32), (np.arange(90) % 3).astype(np.int32)
    folds = np.arange(90) // 7 % 4
    trainer = Trainer(strategy, np.ones(3), False, 1.0, 1e-3, 10**6, 1)
    _, [expected] = trainer.train(gram, numbers, [folds])
    calls = count_calls(lambda: trainer.held_out(gram, numbers, folds), Trainer._solve)
    assert calls == [4 * 3]
    assert (trainer.held_out(gram, numbers, folds) == expected).all()


@pytest.mark.parametrize("at_once", [1, 100])
def test_held_out_scores_do_not_depend_on_the_rows_at_once(monkeypatch, at_once):
    gram, targets, _ = large_problem(n=60)
    data = (gram.astype(np.float32), (targets > 0).astype(np.int32), [np.arange(60) % 3])
    trainer = Trainer("ovr", np.ones(2), False, 1.0, 1e-3, 10**6, 1)
    _, [expected] = trainer.train(*data)
    monkeypatch.setattr("kernelwood.learners.svm_machines._SIMILARITIES_AT_ONCE", at_once)
    assert (trainer.train(*data)[1][0] == expected).all()


def test_a_part_with_one_class_scores_a_constant():
    gram, *_ = large_problem(n=6)
    numbers = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    trainer = Trainer("ovr", np.ones(2), False, 1.0, 1e-3, 10**6, 1)
    _, [scores] = trainer.train(gram.astype(np.float32), numbers, [numbers])
    assert scores[:, 0].tolist() == [1, 1, 1, -1, -1, -1]


# The end.


@given(problems(), st.integers(0, 20))
@settings(max_examples=20)
def test_iterations_that_are_not_enough_leave_a_feasible_point(problem, max_iterations):
    gram, targets, bounds = problem
    found, intercept, value, steps, converged = solve(
        gram, targets, bounds, 1e-6, max_iterations=max_iterations
    )
    assert steps <= max_iterations and (converged or steps == max_iterations)
    assert ((targets * found >= 0) & (targets * found <= bounds)).all()
    assert np.isfinite(intercept)
    assert value == pytest.approx(objective(gram, found), rel=1e-9, abs=1e-9)


def test_a_raised_flag_ends_the_iterations():
    gram, targets, bounds = large_problem()
    *_, n_iterations, converged = solve(gram, targets, bounds, stop=np.ones(1, dtype=np.int32))
    assert (n_iterations, converged) == (0, False)


INTERRUPTED = """
import numpy as np
import kernelwood as kw
from kernelwood import _native

random = np.random.default_rng(0)
points, labels = random.normal(size=(3000, 30)), random.integers(0, 2, 3000)
solve = _native.solve_svm

def announced(*arguments):
    print("running", flush=True)
    return solve(*arguments)

_native.solve_svm = announced
try:
    kernel = kw.VectorKernel("linear")
    kw.KernelSVC(kernel, C=1e9, tol=1e-12, max_iter=10**15, n_jobs={n_jobs}).fit(points, labels)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_the_training(n_jobs):
    process = start_python("-c", INTERRUPTED.format(n_jobs=n_jobs))
    assert process.stdout.readline() == "running\n", process.communicate()
    done = stop(process, signal.SIGINT)  # it would go on for hours
    assert done.stdout == "interrupted\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gram": np.ones((3, 2))}, "square"),
        ({"rows": np.array([0, 3])}, "no such row"),
        ({"rows": np.array([-1, 0])}, "no such row"),
        ({"rows": np.array([0, 1, 2])}, "shapes do not fit"),
        ({"targets": np.array([1, 0], np.int8)}, "targets are 1 or -1"),
        ({"targets": np.array([1, 1], np.int8)}, "both classes"),
        ({"bounds": np.array([1.0, 0.0])}, "bounds are above 0"),
        ({"bounds": np.array([1.0, np.inf])}, "bounds are above 0"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"stop": np.empty(0, np.int32)}, "stop needs an element"),
    ],
)
def test_wrong_arguments_are_refused(change, message):
    right = {
        "gram": np.eye(3),
        "rows": np.array([0, 2]),
        "targets": np.array([1, -1], np.int8),
        "bounds": np.ones(2),
    }
    assert solve(**right)[-1]
    with pytest.raises(ValueError, match=message):
        solve(**right | change)


# The Gram matrix.

SEQUENCES = kw.batch(strategies.sample_sequences(700, seed=3))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_matrix_is_that_of_the_kernel_rounded(dtype, monkeypatch):
    monkeypatch.setattr("kernelwood.learners.svm_machines._TILE", 256)
    kernel = kw.SubsequenceKernel(dtype=dtype)
    seen = []
    with (
        kw.compute.counting() as counters,
        kw.config_context(progress=lambda *now: seen.append(now)),
    ):
        gram = compute_gram(kernel, kernel._batch(SEQUENCES))
    assert gram.dtype == np.float32
    assert (gram == kernel.gram(SEQUENCES).astype(np.float32)).all()
    assert (gram == gram.T).all()
    total = 700 * 701 // 2
    assert counters.kernel_evaluations == total
    assert seen[-1] == (total, total) and [done for done, _ in seen] == sorted(d for d, _ in seen)


@pytest.mark.parametrize("tile", [256, 4096])
def test_an_added_kernel_gives_the_matrix_of_the_sum(monkeypatch, tile):
    monkeypatch.setattr("kernelwood.learners.svm_machines._TILE", tile)
    one, two = (kw.SubsequenceKernel(max_length=n, dtype="float32") for n in (2, 3))
    gram = compute_gram(one, SEQUENCES)
    add_gram(0.3 * two, SEQUENCES, gram)
    assert (gram == (one + 0.3 * two).gram(SEQUENCES)).all()


def test_values_beyond_single_precision_are_refused():
    class Huge(kw.Kernel):
        accepts = kw.arrays.SequenceBatch

        def reference(self, a, b):
            return 1e39

    with pytest.raises(kw.errors.KernelOverflowError, match="Huge exceeds the range of float32"):
        kw.KernelSVC(Huge()).fit(SEQUENCES[:4], [0, 1, 0, 1])
