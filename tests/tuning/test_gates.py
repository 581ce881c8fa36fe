import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import kernelwood as kw

SMALL = kw.tuning.planted_paths(150, n_signal=4, n_noise=5, length=(1, 5))


def learner(**options):
    options = {
        "labels": 1.0,
        "random_state": 0,
        "n_samples": 20,
        "n_trials": 3,
        "n_passes": 1,
    } | options
    return kw.GateLearner(options.pop("kernel", kw.SubsequenceKernel()), **options)


@pytest.fixture(scope="module")
def fitted():
    return learner(n_passes=2).fit(SMALL.paths, SMALL.classes)


def held_out_accuracy(kernel, planted):
    half = len(planted.paths) // 2
    paths = kw.batch(planted.paths)
    model = kw.KernelNeighborsClassifier(kernel, n_neighbors=5)
    model.fit(paths[:half], planted.classes[:half])
    return model.score(paths[half:], planted.classes[half:])


def shares(gates, planted):
    noise = np.mean([gates[label] == 0 for label in planted.noise])
    signal = np.mean([gates[label] != 0 for label in planted.signal])
    return noise, signal


@pytest.mark.parametrize(("n_classes", "n_signal_words", "seed"), [(2, 4, 0), (4, 2, 1)])
def test_noise_is_ignored_and_signal_is_kept(n_classes, n_signal_words, seed):
    planted = kw.tuning.planted_paths(
        1000, n_classes=n_classes, n_signal_words=n_signal_words, random_state=seed
    )
    before = held_out_accuracy(kw.SubsequenceKernel(), planted)
    found = learner(n_samples=50, n_trials=5, n_passes=6).fit(
        planted.paths[:500], planted.classes[:500]
    )
    noise, signal = shares(found.gates_, planted)
    assert noise >= 0.9 and signal >= 0.9
    assert before < 1 / n_classes + 0.15
    assert held_out_accuracy(found.kernel_, planted) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_neighborhoods_beat_random_samples_of_equal_cost(seed):
    planted = kw.tuning.planted_paths(
        4000, n_signal=5, n_noise=5, n_signal_words=150, length=(3, 3), bias=0.3, random_state=seed
    )
    paths = kw.batch(planted.paths)

    def learn(**options):
        with kw.compute.counting() as cost:
            found = learner(n_passes=3, random_state=seed, **options).fit(paths, planted.classes)
        return min(shares(found.gates_, planted)), cost.kernel_evaluations

    local, cost = learn(n_samples=15, n_trials=5)
    random, random_cost = learn(n_samples=800, n_trials=9, sampling="random")
    assert random_cost >= cost
    assert local >= 0.9 and random <= 0.5


def test_the_learned_kernel_has_the_gates(fitted):
    assert fitted.kernel_.gates == fitted.gates_
    assert set(fitted.gates_) == set(SMALL.signal) | set(SMALL.noise)
    assert set(fitted.gates_.values()) <= {0.0, 1.0}


def test_the_given_kernel_is_left_alone():
    kernel = kw.SubsequenceKernel()
    learner(kernel=kernel).fit(SMALL.paths, SMALL.classes)
    assert kernel.gates is None


def test_gates_of_the_kernel_are_where_the_search_begins():
    kernel = kw.SubsequenceKernel(gates={"n0": 0.0, "s0": 2.0, "elsewhere": 0.5})
    found = learner(kernel=kernel).fit(SMALL.paths, SMALL.classes)
    first = {decision["label"]: decision["before"] for decision in found.trace_}
    assert first["n0"] is False and first["s0"] is True
    assert found.gates_["s0"] in (0.0, 2.0)
    assert found.kernel_.gates["elsewhere"] == 0.5
    assert "elsewhere" not in found.gates_


def test_a_trace_tells_every_decision(fitted):
    labels = [decision["label"] for decision in fitted.trace_ if decision["step"] == 0]
    assert labels == fitted.labels_
    for decision in fitted.trace_:
        better = decision["loss_closed"] < decision["loss_open"]
        tie = decision["loss_closed"] == decision["loss_open"]
        assert decision["open"] == (decision["before"] if tie else not better)
        assert decision["structures"] > 0 and decision["compared"] > 0
    assert json.loads(json.dumps(fitted.trace_)) == fitted.trace_


def test_losses_are_those_of_the_last_decision(fitted):
    last = {decision["label"]: decision for decision in fitted.trace_}
    assert fitted.loss_open_.tolist() == [last[x]["loss_open"] for x in fitted.labels_]
    assert fitted.loss_closed_.tolist() == [last[x]["loss_closed"] for x in fitted.labels_]


def test_a_search_ends_when_a_pass_changes_nothing():
    found = learner(n_passes=50).fit(SMALL.paths, SMALL.classes)
    last = found.trace_[-1]["step"]
    assert last < 49
    assert all(d["open"] == d["before"] for d in found.trace_ if d["step"] == last)


@pytest.fixture(scope="module", params=["neighbors", "information"])
def whole(request):
    options = {"n_passes": 2, "n_runs": 2, "n_steps": 15, "n_references": 20, "n_bits": 50}
    return learner(method=request.param, **options).fit(SMALL.paths, SMALL.classes)


@pytest.mark.parametrize("cut", [0, 1, 9, 10, 17])  # a run has two passes of nine labels
def test_a_resumed_search_gives_the_same(whole, cut):
    new = []
    resumed = clone(whole).fit(
        SMALL.paths, SMALL.classes, resume=whole.trace_[:cut], on_decision=new.append
    )
    assert resumed.trace_ == whole.trace_
    assert new == whole.trace_[cut:]
    assert resumed.gates_ == whole.gates_
    assert (resumed.loss_open_ == whole.loss_open_).all()


def test_an_interrupted_fit_leaves_its_trace_and_is_not_fitted():
    interrupted = learner()

    def stop(decision):
        if len(interrupted.trace_) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted.fit(SMALL.paths, SMALL.classes, on_decision=stop)
    with pytest.raises(NotFittedError):
        interrupted.report()
    assert len(interrupted.trace_) == 4
    again = learner().fit(SMALL.paths, SMALL.classes, resume=interrupted.trace_)
    assert again.gates_ == learner().fit(SMALL.paths, SMALL.classes).gates_


def test_decisions_of_another_search_are_refused():
    other = learner(labels=["n0", "s1"]).fit(SMALL.paths, SMALL.classes)
    with pytest.raises(kw.errors.KernelInputError, match="resume with the same data"):
        learner().fit(SMALL.paths, SMALL.classes, resume=other.trace_)


def test_more_decisions_than_there_are_steps_are_refused(fitted):
    with pytest.raises(kw.errors.KernelInputError, match="beyond the end"):
        learner(n_passes=1).fit(SMALL.paths, SMALL.classes, resume=fitted.trace_)


def test_most_of_several_runs_decide():
    found = learner(n_runs=3).fit(SMALL.paths, SMALL.classes)
    closed = {
        label: np.mean(
            [not d["open"] for d in found.trace_ if d["label"] == label and d["step"] == 0]
        )
        for label in found.labels_
    }
    assert found.ignored_.tolist() == pytest.approx([closed[x] for x in found.labels_])
    for label, share in zip(found.labels_, found.ignored_, strict=True):
        assert (found.gates_[label] == 0) == (share > 0.5)
    assert {d["run"] for d in found.trace_} == {0, 1, 2}


@pytest.mark.parametrize("labels", [0.5, 3, ["n1", "s0"], ("s0",)])
def test_labels_are_a_share_a_number_or_names(labels):
    found = learner(labels=labels).fit(SMALL.paths, SMALL.classes)
    if isinstance(labels, (list, tuple)):
        assert set(found.labels_) == set(labels)
    else:
        assert len(found.labels_) == (5 if labels == 0.5 else 3)
        assert (np.diff(found.structures_) <= 0).all()


def test_the_empty_label_has_a_gate_only_if_it_is_named():
    paths = [kw.Sequence([("", "start"), *path]) for path in SMALL.paths]
    assert "" not in learner().fit(paths, SMALL.classes).gates_
    assert "" in learner(labels=["", "n0"]).fit(paths, SMALL.classes).gates_


def test_threads_and_batches_change_no_bit(force_threads):
    lists = learner(n_jobs=1).fit(SMALL.paths, SMALL.classes)
    threads = learner(n_jobs=2).fit(kw.batch(SMALL.paths), SMALL.classes)
    assert lists.trace_ == threads.trace_


def test_examples_bring_their_labels_and_views():
    examples = [
        kw.Example(str(i), label="yes" if y else "no", views={"path": path})
        for i, (path, y) in enumerate(zip(SMALL.paths, SMALL.classes, strict=True))
    ]
    found = learner(kernel=kw.OnView("path", kw.SubsequenceKernel())).fit(examples)
    plain = learner().fit(SMALL.paths, SMALL.classes)
    assert found.gates_ == plain.gates_
    assert found.kernel_.kernel.gates == found.gates_
    assert found.classes_.tolist() == ["no", "yes"]


def test_gates_of_trees_can_be_learned():
    def tree(path):
        return kw.Tree("ROOT", [kw.Tree(word, edge=edge) for edge, word in path])

    trees = [tree(path) for path in SMALL.paths]
    found = learner(kernel=kw.PartialTreeKernel(), n_passes=3).fit(trees, SMALL.classes)
    assert np.mean([found.gates_[label] == 0 for label in SMALL.noise]) >= 0.8


def test_a_hashed_graph_serves_as_well():
    planted = kw.tuning.planted_paths(600, n_signal=4, n_noise=5, length=(1, 5))
    found = learner(graph="hashed", n_passes=3).fit(planted.paths, planted.classes)
    assert min(shares(found.gates_, planted)) >= 0.8


def test_progress_counts_decisions():
    seen = []
    with kw.config_context(progress=lambda done, total: seen.append((done, total))):
        learner(n_runs=2).fit(SMALL.paths, SMALL.classes)
    assert [done for done, _ in seen[:-1]] == list(range(1, 19))
    assert {total for _, total in seen} == {18} and seen[-1] == (18, 18)


def test_closed_gates_that_leave_nothing_raise_no_warning():
    paths = [kw.Sequence([("only", word)]) for word in "abab" * 10]
    learner(labels=1).fit(paths, [0, 1] * 20)


def test_scikit_learn_can_clone_it():
    copy = clone(learner(n_trials=7))
    assert copy.n_trials == 7 and not hasattr(copy, "gates_")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"method": "guess"}, "method must be one of"),
        ({"labels": 0.0}, "labels must be a fraction above 0"),
        ({"labels": True}, "labels must be a fraction above 0"),
        ({"labels": "det"}, "labels must be a fraction above 0"),
        ({"labels": []}, "labels must be a fraction above 0"),
        ({"labels": ["nosuch"]}, "'nosuch', which no edge has"),
        ({"n_samples": 1}, "n_samples must be an int of at least 2"),
        ({"n_trials": 0}, "n_trials must be"),
        ({"loss": "mine"}, "loss must be one of"),
        ({"loss": "paper", "negative_label": 9}, "negative_label=9 is not one of the classes"),
        ({"temperature": 0}, "temperature must be a number in"),
        ({"parameters": {"decay": [0.5]}}, "method='information' only"),
        ({"method": "information", "parameters": {"decay": 0.5}}, "lists of values"),
        ({"method": "information", "parameters": {"decay": [2.0]}}, "decay"),
        ({"method": "information", "parameters": {"dekay": [0.2]}}, "did you mean 'decay'"),
        ({"method": "information", "parameters": {"gates": [None]}}, "gates are always learned"),
        ({"kernel": kw.ForestKernel()}, "has no gates to learn"),
        ({"kernel": "path"}, "kernel must be a kernel"),
    ],
)
def test_wrong_parameters_are_named(options, part):
    with pytest.raises(kw.errors.KernelInputError, match=part):
        learner(**options).fit(SMALL.paths, SMALL.classes)


@pytest.mark.parametrize(
    ("X", "y", "part"),
    [
        (SMALL.paths, np.zeros(150), "two classes or more"),
        (SMALL.paths, None, "y is missing"),
        (SMALL.paths, [1, 0], "150 structures, but 2 labels"),
        ([kw.Sequence(["a", "b"])] * 4, [0, 1, 0, 1], "gate_on='node'"),
        ([], [], "at least one structure"),
    ],
)
def test_wrong_data_are_named(X, y, part):
    with pytest.raises(kw.errors.KernelInputError, match=part):
        learner().fit(X, y)


def test_neighbors_in_the_same_group_do_not_count():
    # Every path occurs twice in its document, so that within it all labels look right.
    planted = kw.tuning.planted_paths(200, n_signal=4, n_noise=5)
    paths, classes = planted.paths * 2, np.tile(planted.classes, 2)
    documents = [f"d{i}" for i in range(200)] * 2
    apart = learner(n_passes=4).fit(paths, classes, groups=documents)
    together = learner(n_passes=4).fit(paths, classes)
    assert min(shares(apart.gates_, planted)) >= 0.8
    assert shares(together.gates_, planted)[0] < 0.5


def test_a_wrong_number_of_groups_is_named():
    with pytest.raises(kw.errors.KernelInputError, match="150 structures, but 2 groups"):
        learner().fit(SMALL.paths, SMALL.classes, groups=["a", "b"])


def test_groups_that_are_no_list_are_named():
    with pytest.raises(
        kw.errors.KernelInputError, match="must name the group of each structure, got 5"
    ):
        learner().fit(SMALL.paths, SMALL.classes, groups=5)


def test_unlabeled_structures_are_refused_where_they_are_of_no_use():
    with pytest.raises(kw.errors.KernelInputError, match="method='information' only"):
        learner().fit(SMALL.paths, SMALL.classes, unlabeled=SMALL.paths)


@pytest.mark.parametrize(
    "change", [{"open": None}, {"open": 1}, {"loss_open": None}, {"loss_closed": "0"}]
)
def test_a_decision_to_resume_from_needs_its_values(fitted, change):
    with pytest.raises(kw.errors.KernelInputError, match="was the file changed"):
        learner().fit(SMALL.paths, SMALL.classes, resume=[{**fitted.trace_[0], **change}])
