"""The objective of the chain over gates: codes, and what they tell of classes beyond chance."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.errors import KernelInputError
from kernelwood.information import explain
from kernelwood.tuning.chain import (
    ChainSettings,
    CodeSettings,
    InformationObjective,
    draw_groups,
    information_above_chance,
    search_by_information,
)
from kernelwood.tuning.problem import Earlier, GateProblem, quiet_zeros, tabulate_labels

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


def objective_of(problem, unlabeled=None, **changed):
    return InformationObjective(problem, CodeSettings(**{**SETTINGS, **changed}), unlabeled)


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


def test_codes_of_unlabeled_structures_follow(problem):
    more = kw.batch(kw.tuning.planted_paths(70, random_state=9).paths)
    codes = objective_of(problem, more).bits(problem.start(), {})
    assert len(codes) == SETTINGS["n_samples"] + 70


def test_no_more_unlabeled_structures_are_taken_than_labeled_ones(problem):
    more = kw.batch(kw.tuning.planted_paths(400, random_state=9).paths)
    codes = objective_of(problem, more).bits(problem.start(), {})
    assert len(codes) == 2 * SETTINGS["n_samples"]


def test_unlabeled_structures_change_the_value(problem, objective):
    more = kw.batch(kw.tuning.planted_paths(100, random_state=9).paths)
    start = problem.start()
    assert objective_of(problem, more).value(start, {}) != objective.value(start, {})


def test_varied_unlabeled_codes_make_those_of_classes_look_special():
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


LABELS = ("a", "b", "c")
PATHS = kw.batch([kw.Sequence([(label, "w") for label in LABELS])] * 4)
# What three gates are worth, by the number that their states make up as bits.
LANDSCAPE = np.array([0.0, 1.0, -0.5, 0.3, 0.7, -1.0, 0.2, 0.5])


def number_of(is_open):
    return int(np.dot(is_open, [1, 2, 4]))


@pytest.fixture
def stub(monkeypatch):
    """Return a function that puts a function of gates and parameters in the objective's place."""

    def put(function):
        class Stub:
            def __init__(self, problem, settings, unlabeled):
                pass

            def value(self, is_open, parameters):
                return float(function(is_open, **parameters))

        monkeypatch.setattr("kernelwood.tuning.chain.InformationObjective", Stub)

    return put


@pytest.fixture
def landscape(stub):
    stub(lambda is_open: LANDSCAPE[number_of(is_open)])


def search(*, seed=0, run=0, earlier=(), kernel=None, **changed):
    """Return all decisions, whether they were new, and the outcome."""
    kernel = kw.SubsequenceKernel() if kernel is None else kernel
    table = tabulate_labels(kernel, PATHS)
    classes = np.array([0, 1, 0, 1], dtype=np.int32)
    problem = GateProblem(
        kernel, PATHS, classes, loss=None, groups=None, table=table, seed=seed, run=run
    )
    settings = {
        "n_samples": 4,
        "hash_method": "rmm",
        "n_references": 4,
        "n_bits": 8,
        "subset_size": 1,
        "n_steps": 60,
        "patience": None,
        "temperature": 1.0,
        "parameters": {},
        "search": "chain",
    }
    steps = search_by_information(
        problem, ChainSettings(**{**settings, **changed}), None, Earlier(earlier)
    )
    decisions, new = [], []
    while True:
        try:
            decision, is_new = next(steps)
        except StopIteration as end:
            return decisions, new, end.value
        decisions.append(decision)
        new.append(is_new)


def visited(decisions, start=(True, True, True)):
    """Return the gates after each decision."""
    state, states = list(start), []
    for decision in decisions:
        if "label" in decision:
            state[LABELS.index(decision["label"])] = decision["open"]
        states.append(tuple(state))
    return states


def of_phase(decisions, phase):
    return [decision for decision in decisions if decision["phase"] == phase]


# The chain.


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_states_are_visited_as_often_as_their_values_demand(landscape, temperature):
    decisions, _, _ = search(n_steps=8000, temperature=temperature)
    counts = Counter(map(number_of, visited(of_phase(decisions, "chain"))))
    weights = np.exp(LANDSCAPE / temperature)
    shares = np.array([counts[i] for i in range(8)]) / counts.total()
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=0.025)


def test_better_steps_are_always_taken(landscape):
    decisions, _, _ = search(n_steps=400)
    assert all(step["accepted"] for step in decisions if step["objective"] > step["current"])


def test_worse_steps_are_never_taken_without_heat(landscape):
    decisions, _, _ = search(n_steps=400, temperature=1e-9)
    assert not any(step["accepted"] for step in decisions if step["objective"] < step["current"])


def test_much_worse_steps_are_rarely_taken(stub):
    stub(lambda is_open: 3.0 * is_open[0])
    decisions, _, _ = search(n_steps=2000)
    chances = [
        step["accepted"]
        for step in of_phase(decisions, "chain")
        if step["label"] == "a" and step["before"]
    ]
    assert np.mean(chances) == pytest.approx(np.exp(-3), abs=0.03)


def test_best_sample_is_kept(landscape):
    _, _, outcome = search(n_steps=200, temperature=100.0)
    assert number_of(outcome.is_open) == LANDSCAPE.argmax()
    assert outcome.objective == -LANDSCAPE.max()


def test_best_value_so_far_never_falls(landscape):
    decisions, _, _ = search(n_steps=200)
    best = [step["best"] for step in decisions]
    assert best == sorted(best)


def test_chain_begins_with_the_gates_of_the_kernel(landscape):
    kernel = kw.SubsequenceKernel(gates={"b": 0.0})
    decisions, _, _ = search(kernel=kernel, n_steps=2)
    assert decisions[0]["current"] == LANDSCAPE[number_of([True, False, True])]


def test_every_state_is_computed_once(stub):
    asked = []

    def value(is_open):
        asked.append(number_of(is_open))
        return LANDSCAPE[asked[-1]]

    stub(value)
    search(n_steps=300)
    assert len(asked) == len(set(asked))


def test_no_more_steps_are_made_than_wanted(landscape):
    assert all(len(search(n_steps=n)[0]) <= n for n in (1, 2, 7, 100))


def test_patience_ends_the_chain(stub):
    stub(lambda is_open: -3.0 * (is_open != [True, True, False]).sum())
    decisions, _, _ = search(n_steps=1000, patience=12)
    chain = of_phase(decisions, "chain")
    last = max(i for i, step in enumerate(chain) if step["best"] > chain[i - 1]["best"] or i == 0)
    assert len(chain) == last + 1 + 12


def test_without_patience_the_chain_goes_on(stub):
    stub(lambda is_open: 0.0)
    assert len(of_phase(search(n_steps=100)[0], "chain")) == 100 - 3 * 3


def test_polish_ends_where_no_flip_is_better(stub):
    random = np.random.default_rng(0).normal(size=8)
    stub(lambda is_open: random[number_of(is_open)])
    _, _, outcome = search(n_steps=40, temperature=1e6)
    neighbors = [number_of(outcome.is_open) ^ flip for flip in (1, 2, 4)]
    assert random[number_of(outcome.is_open)] > random[neighbors].max()


def test_polish_takes_only_better_steps(landscape):
    polish = of_phase(search(n_steps=60)[0], "polish")
    assert all(step["accepted"] == (step["objective"] > step["current"]) for step in polish)


def test_losses_are_those_of_single_flips_of_the_best_sample(landscape):
    _, _, outcome = search(n_steps=200)
    best = number_of(outcome.is_open)
    assert outcome.loss_open.tolist() == [-LANDSCAPE[best | bit] for bit in (1, 2, 4)]
    assert outcome.loss_closed.tolist() == [-LANDSCAPE[best & ~bit] for bit in (1, 2, 4)]


# Parameters of the kernel.


def by_decay(is_open, decay, max_length=None):
    return is_open.sum() / 10 - 5 * (decay - 0.5) ** 2 - 0.1 * (max_length or 0)


def test_chain_moves_parameters_within_their_values(stub):
    stub(by_decay)
    listed = {"decay": [0.1, 0.5, 0.9], "max_length": [None, 2]}
    decisions, _, _ = search(n_steps=200, parameters=listed)
    moves = [step for step in decisions if "parameter" in step]
    seen = {(step["parameter"], step["value"]) for step in moves}
    assert seen == {(name, value) for name, values in listed.items() for value in values}


def test_chain_never_proposes_the_value_it_has(stub):
    stub(by_decay)
    decisions, _, _ = search(n_steps=200, parameters={"decay": [0.1, 0.5, 0.9]})
    assert all(s["proposed"] != s["before"] for s in decisions if "parameter" in s)


def test_chain_finds_the_best_parameters(stub):
    stub(by_decay)
    _, _, outcome = search(n_steps=200, parameters={"decay": [0.1, 0.5, 0.9]})
    assert outcome.parameters == {"decay": 0.5}


def test_parameters_with_one_value_are_not_moved(stub):
    stub(by_decay)
    decisions, _, outcome = search(parameters={"decay": [0.3]})
    assert not any("parameter" in step for step in decisions)
    assert outcome.parameters == {"decay": 0.3}


def test_chain_begins_with_the_kernel_s_own_parameters(stub):
    stub(by_decay)
    kernel = kw.SubsequenceKernel(decay=0.9)
    decisions, _, _ = search(kernel=kernel, parameters={"decay": [0.1, 0.9]})
    assert decisions[0]["current"] == by_decay(np.ones(3), 0.9)


def test_grid_tries_every_combination_once(stub):
    stub(by_decay)
    listed = {"decay": [0.1, 0.5, 0.9], "max_length": [None, 2]}
    decisions, _, _ = search(parameters=listed, search="grid")
    tried = [tuple(step["parameters"].values()) for step in of_phase(decisions, "grid")]
    assert tried == [(d, m) for d in (0.1, 0.5, 0.9) for m in (None, 2)]


def test_grid_picks_the_best_combination(stub):
    stub(by_decay)
    listed = {"decay": [0.1, 0.5, 0.9], "max_length": [2, None]}
    _, _, outcome = search(parameters=listed, search="grid", n_steps=4)
    assert outcome.parameters == {"decay": 0.5, "max_length": None}


def test_after_the_grid_only_gates_change(stub):
    stub(by_decay)
    decisions, _, _ = search(parameters={"decay": [0.1, 0.9]}, search="grid")
    assert all("label" in step for step in decisions if step["phase"] != "grid")


def test_grid_leaves_all_steps_to_the_chain(stub):
    stub(lambda is_open, decay: 0.0)
    decisions, _, _ = search(parameters={"decay": [0.1, 0.9]}, search="grid", n_steps=50)
    assert len(of_phase(decisions, "chain")) == 50 - 3 * 3


def test_grid_without_parameters_is_a_chain(landscape):
    with_grid, without = (search(search=name)[0] for name in ("grid", "chain"))
    assert with_grid == without


# Decisions, and going on from them.


@pytest.mark.parametrize("how", ["chain", "grid"])
def test_decisions_are_plain_values(stub, how):
    stub(lambda is_open, decay, similarity: by_decay(is_open, float(decay)))
    similarities = [kw.similarity.Exact(), None]
    listed = {"decay": list(np.array([0.1, 0.5])), "similarity": similarities}
    decisions, _, _ = search(parameters=listed, search=how)
    assert json.loads(json.dumps(decisions, allow_nan=False)) == decisions


def test_decisions_say_what_changed(landscape):
    decisions, _, _ = search()
    for step in decisions:
        assert (step["open"] != step["before"]) == step["accepted"]


def test_steps_are_numbered_through_all_phases(stub):
    stub(by_decay)
    decisions, _, _ = search(parameters={"decay": [0.1, 0.9]}, search="grid")
    assert [step["step"] for step in decisions] == list(range(len(decisions)))


@pytest.mark.parametrize("how", ["chain", "grid"])
def test_a_search_resumes_after_any_decision(stub, how):
    stub(by_decay)
    options = {"parameters": {"decay": [0.1, 0.5, 0.9]}, "search": how, "n_steps": 40}
    decisions, _, outcome = search(**options)
    for n in range(len(decisions) + 1):
        kept = json.loads(json.dumps(decisions[:n]))
        again, new, resumed = search(earlier=kept, **options)
        assert again == decisions
        assert new == [False] * n + [True] * (len(decisions) - n)
        assert (resumed.is_open == outcome.is_open).all()
        assert resumed.parameters == outcome.parameters


def test_known_decisions_are_not_computed_again(stub):
    asked = []

    def value(is_open):
        asked.append(number_of(is_open))
        return LANDSCAPE[asked[-1]]

    stub(value)
    decisions, _, _ = search(n_steps=200)
    asked.clear()
    search(n_steps=200, earlier=decisions)
    # The start is in no decision, and the losses may need states that were never proposed.
    assert set(asked) <= {7} | {LANDSCAPE.argmax() ^ bit for bit in (1, 2, 4)}


@pytest.mark.parametrize("other", [{"seed": 1}, {"run": 1}, {"temperature": 9.0}])
def test_decisions_of_another_search_are_refused(landscape, other):
    decisions, _, _ = search(**other)
    with pytest.raises(KernelInputError, match="resume with the same data, parameters"):
        search(earlier=decisions)


def test_decisions_about_other_data_are_refused_at_once(stub):
    stub(lambda is_open: LANDSCAPE[number_of(is_open)])
    decisions, _, _ = search()
    stub(lambda is_open: 0.1 + LANDSCAPE[number_of(is_open)])
    with pytest.raises(KernelInputError, match=r"decision 0 .* has current="):
        search(earlier=decisions[:1])


@pytest.mark.parametrize("wrong", [None, "1.0", float("nan"), True])
def test_decisions_without_a_value_are_refused(landscape, wrong):
    decisions, _, _ = search()
    decisions[3]["objective"] = wrong
    with pytest.raises(KernelInputError, match=r"decision 3 .* has objective="):
        search(earlier=decisions)


# On structures.


def learner(**changed):
    return kw.GateLearner(
        kw.SubsequenceKernel(),
        **{
            "method": "information",
            "labels": 1.0,
            "n_samples": 200,
            "n_references": 50,
            "n_bits": 400,
            "random_state": 0,
            **changed,
        },
    )


def accuracy(kernel, paths, classes):
    half = len(paths) // 2
    model = kw.KernelNeighborsClassifier(kernel, n_neighbors=5).fit(paths[:half], classes[:half])
    return model.score(paths[half:], classes[half:])


@pytest.mark.parametrize(
    ("n_classes", "planted"),
    [
        (2, {"n_signal": 4, "n_noise": 6, "length": (1, 14)}),
        (3, {"n_signal": 3, "n_noise": 6, "length": (2, 14)}),
        (4, {"n_signal": 3, "n_noise": 6, "length": (2, 14)}),
    ],
)
def test_planted_noise_is_ignored_and_signal_kept(n_classes, planted):
    data = kw.tuning.planted_paths(600, n_classes=n_classes, **planted)
    paths, classes = kw.batch(data.paths), data.classes
    fitted = learner().fit(paths[:300], classes[:300])
    assert np.mean([fitted.gates_[label] == 0 for label in data.noise]) >= 0.9
    assert np.mean([fitted.gates_[label] == 1 for label in data.signal]) >= 0.9
    assert accuracy(kw.SubsequenceKernel(), paths, classes) < 1 / n_classes + 0.2
    assert accuracy(fitted.kernel_, paths, classes) >= 0.9


@pytest.fixture(scope="module")
def small():
    return kw.tuning.planted_paths(120, n_signal=3, n_noise=3, length=(1, 8))


SMALL = {"n_samples": 60, "n_references": 20, "n_bits": 60, "n_steps": 40}


def test_result_does_not_depend_on_threads(small, force_threads):
    traces = [
        learner(n_jobs=n_jobs, **SMALL).fit(small.paths, small.classes).trace_ for n_jobs in (1, 3)
    ]
    assert traces[0] == traces[1]


def test_list_and_batch_give_the_same(small):
    traces = [
        learner(**SMALL).fit(X, small.classes).trace_ for X in (small.paths, kw.batch(small.paths))
    ]
    assert traces[0] == traces[1]


@pytest.mark.parametrize("n", [0, 1, 17, 39])
def test_a_fit_resumes_to_the_same_bits(small, n):
    options = {**SMALL, "parameters": {"decay": [0.4, 0.8]}}
    whole = learner(**options).fit(small.paths, small.classes)
    kept = json.loads(json.dumps(whole.trace_[:n]))
    resumed = learner(**options).fit(small.paths, small.classes, resume=kept)
    assert resumed.trace_ == whole.trace_
    assert resumed.gates_ == whole.gates_
    assert resumed.loss_open_.tolist() == whole.loss_open_.tolist()


def test_a_fit_refuses_the_trace_of_another_seed(small):
    other = learner(**{**SMALL, "random_state": 1}).fit(small.paths, small.classes)
    with pytest.raises(KernelInputError, match="resume with the same data, parameters"):
        learner(**SMALL).fit(small.paths, small.classes, resume=other.trace_[:1])


def test_unlabeled_structures_take_part(small):
    more = kw.tuning.planted_paths(60, n_signal=3, n_noise=3, length=(1, 8), random_state=5).paths
    supervised, semi = (
        learner(**SMALL).fit(small.paths, small.classes, unlabeled=some) for some in (None, more)
    )
    assert supervised.trace_[0]["current"] != semi.trace_[0]["current"]


def test_runs_differ(small):
    fitted = learner(n_runs=2, **SMALL).fit(small.paths, small.classes)
    first, second = ([s for s in fitted.trace_ if s["run"] == run] for run in (0, 1))
    assert first[0]["current"] != second[0]["current"]
