"""The objective of the chain over gates: codes, and what they tell of classes beyond chance."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.errors import KernelInputError
from kernelwood.information import explain
from kernelwood.tuning.labels import tabulate_labels
from kernelwood.tuning.objective import (
    CodeSettings,
    InformationObjective,
    draw_groups,
    information_above_chance,
)
from kernelwood.tuning.problem import GateProblem, quiet_zeros

SETTINGS = {
    "n_samples": 150,
    "hash_method": "rmm",
    "n_references": 40,
    "n_bits": 150,
    "subset_size": 2,
}


def planted_problem(n=300, *, kernel=None, seed=0, **planted):
    planted = {"n_signal": 4, "n_noise": 6, "length": (1, 10), **planted}
    kernel = kw.SubsequenceKernel() if kernel is None else kernel
    data = kw.tuning.planted_paths(n, **planted)
    X, classes = kw.batch(data.paths), data.classes.astype(np.int32)
    table = tabulate_labels(kernel, X)
    return GateProblem(kernel, X, classes, loss=None, groups=None, table=table, seed=seed)


def objective_of(problem, unlabelled=None, **changed):
    return InformationObjective(problem, CodeSettings(**{**SETTINGS, **changed}), unlabelled)


def open_if(problem, keep):
    return np.array([keep(label) for label in problem.table.labels])


def is_signal(label):
    return label.startswith("s")


def above_chance(codes, classes, seed=0):
    """Return the value of codes by the latent variables that explain them."""
    bits, random = codes.astype(np.uint8), np.random.default_rng(seed)
    groups = draw_groups(random, classes, len(bits) - len(classes))
    return information_above_chance(
        bits, classes, [groups], [explain(bits, n_restarts=1).responsibilities]
    )


@pytest.fixture(scope="module")
def problem():
    return planted_problem()


@pytest.fixture(scope="module")
def objective(problem):
    return objective_of(problem)


# Values.


@pytest.mark.parametrize("hash_method", ["rmm", "rknn"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_planted_gates_are_worth_more_than_open_ones(hash_method, n_classes):
    problem = planted_problem(n_classes=n_classes)
    objective = objective_of(problem, hash_method=hash_method)
    planted = objective.value(open_if(problem, is_signal), {})
    assert planted > objective.value(problem.start(), {}) + 1


def test_signal_is_worth_more_than_noise(problem, objective):
    signal, noise = (
        objective.value(open_if(problem, keep), {})
        for keep in (is_signal, lambda label: not is_signal(label))
    )
    assert signal > noise + 1


def test_each_label_of_noise_lowers_the_value_of_planted_gates(problem, objective):
    planted = open_if(problem, is_signal)
    values = []
    for t in np.flatnonzero(~planted):
        opened = planted.copy()
        opened[t] = True
        values.append(objective.value(opened, {}))
    assert max(values) < objective.value(planted, {})


def test_closed_gates_tell_nothing(problem, objective):
    with quiet_zeros():
        assert objective.value(np.zeros(len(problem.table), dtype=bool), {}) == 0


def test_classes_at_random_are_worth_nothing_on_average():
    values = []
    for seed in range(6):
        problem = planted_problem(200, purity=0.0, seed=seed)
        values.append(objective_of(problem).value(problem.start(), {}))
    assert abs(np.mean(values)) < 1


def test_value_does_not_depend_on_what_was_asked_before(problem):
    planted = open_if(problem, is_signal)
    alone, after_others = objective_of(problem), objective_of(problem)
    after_others.value(problem.start(), {})
    after_others.value(~planted, {"decay": 0.3})
    assert alone.value(planted, {}) == after_others.value(planted, {})


def test_value_depends_on_the_run(problem):
    start = problem.start()
    first, second = (objective_of(problem.in_run(run)).value(start, {}) for run in (0, 1))
    assert first != second


def test_value_depends_on_parameters_of_the_kernel(problem, objective):
    start = problem.start()
    assert objective.value(start, {"decay": 0.1}) != objective.value(start, {"decay": 0.9})


def test_listed_values_stay_as_they_are(problem, objective):
    vectors = kw.Vectors(["w0", "w1"], np.eye(2))
    similarity = kw.similarity.Exponential(vectors, floor=0.1)
    objective.bits(problem.start(), {"similarity": similarity, "similarity__floor": 0.5})
    assert similarity.floor == 0.1


def test_value_does_not_depend_on_threads(problem, force_threads):
    values = []
    for n_jobs in (1, 3):
        with kw.config_context(n_jobs=n_jobs):
            values.append(objective_of(problem).value(problem.start(), {}))
    assert values[0] == values[1]


# Codes.


def test_codes_are_those_of_a_kernel_with_the_gates(problem, objective):
    planted = open_if(problem, is_signal)
    gates = {label: 0.0 for label in problem.table.labels if not is_signal(label)}
    learned = planted_problem(kernel=kw.SubsequenceKernel(gates=gates))
    same = objective_of(problem)
    same._problem = learned
    np.testing.assert_array_equal(objective.bits(planted, {}), same.bits(learned.start(), {}))


def test_no_bit_of_the_first_kernel_is_idle_for_the_references(problem, objective):
    ones = objective.bits(problem.start(), {}).mean(axis=0)
    assert ((ones > 0) & (ones < 1)).mean() > 0.9


def test_few_structures_are_all_looked_at():
    problem = planted_problem(60)
    assert len(objective_of(problem).bits(problem.start(), {})) == 60


def test_every_class_is_looked_at(problem):
    classes = np.zeros(len(problem.X), dtype=np.int32)
    classes[17] = 1
    rare = replace(problem, classes=classes)
    assert set(objective_of(rare, n_samples=10)._classes) == {0, 1}


def test_too_few_references_for_two_subsets_are_refused(problem):
    with pytest.raises(KernelInputError, match="need 10 references, there are 8"):
        objective_of(problem, n_references=8, subset_size=5)


# Structures without a class.


def test_codes_of_unlabelled_structures_follow(problem):
    more = kw.batch(kw.tuning.planted_paths(70, random_state=9).paths)
    codes = objective_of(problem, more).bits(problem.start(), {})
    assert len(codes) == SETTINGS["n_samples"] + 70


def test_no_more_unlabelled_structures_are_taken_than_labeled_ones(problem):
    more = kw.batch(kw.tuning.planted_paths(400, random_state=9).paths)
    codes = objective_of(problem, more).bits(problem.start(), {})
    assert len(codes) == 2 * SETTINGS["n_samples"]


def test_unlabelled_structures_change_the_value(problem, objective):
    more = kw.batch(kw.tuning.planted_paths(100, random_state=9).paths)
    start = problem.start()
    assert objective_of(problem, more).value(start, {}) != objective.value(start, {})


def test_varied_unlabelled_codes_make_those_of_classes_look_special():
    random = np.random.default_rng(0)
    classes = np.repeat([0, 1], 50)
    labeled = np.tile(classes[:, None], 6)
    varied = random.integers(2, size=(100, 6))
    values = [above_chance(np.concatenate([labeled, more]), classes) for more in (labeled, varied)]
    assert values[1] > values[0] + 0.5


# Groups and chance.


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(0, 30), st.integers(0, 99))
def test_groups_are_disjoint_and_as_large_as_classes(classes, n_more, seed):
    classes = np.array(classes)
    groups = draw_groups(np.random.default_rng(seed), classes, n_more)
    together = np.concatenate(groups)
    sizes = np.unique(classes, return_counts=True)[1]
    assert [len(group) for group in groups] == sizes.tolist()
    assert len(set(together.tolist())) == len(classes)
    assert together.max() < len(classes) + n_more


def test_a_bit_that_is_the_class_tells_its_entropy():
    classes = np.tile([0, 1], 500)
    assert above_chance(classes[:, None], classes) == pytest.approx(np.log(2), abs=0.01)


def test_value_by_several_sets_of_latent_variables_is_their_mean():
    random = np.random.default_rng(0)
    bits, classes = random.integers(2, size=(60, 12)).astype(np.uint8), np.tile([0, 1, 2], 20)
    groups = [draw_groups(random, classes, 0) for _ in range(3)]
    latent = [random.random((60, 4)) for _ in range(3)]
    single = [
        information_above_chance(bits, classes, [some], [each])
        for some, each in zip(groups, latent, strict=True)
    ]
    together = information_above_chance(bits, classes, groups, latent)
    assert together == pytest.approx(np.mean(single))


def test_value_is_the_difference_of_entropies_that_explain_returns():
    random = np.random.default_rng(1)
    bits = (random.random((60, 12)) < random.random((60, 1))).astype(np.uint8)
    classes = np.repeat([0, 1], [20, 40])
    groups, whole = draw_groups(random, classes, 0), explain(bits)

    def entropy(examples):
        start = replace(whole, responsibilities=whole.responsibilities[examples])
        return explain(bits[examples], start=start, max_iterations=0).entropy

    expected = sum(
        share * (entropy(group) - entropy(np.flatnonzero(classes == number)))
        for number, (share, group) in enumerate(zip([1 / 3, 2 / 3], groups, strict=True))
    )
    value = information_above_chance(bits, classes, [groups], [whole.responsibilities])
    assert value == pytest.approx(expected)


def test_independent_bits_tell_nothing_on_average():
    random = np.random.default_rng(0)
    values = [
        above_chance(random.integers(2, size=(80, 30)), random.integers(2, size=80), seed)
        for seed in range(30)
    ]
    # Compared with the whole, classes would seem to tell 30 / (2 * 80) by their bits alone.
    assert abs(np.mean(values)) < 0.08


def test_a_class_of_one_structure_breaks_nothing():
    codes = np.random.default_rng(0).integers(2, size=(20, 8))
    assert np.isfinite(above_chance(codes, np.array([0] * 19 + [3])))
