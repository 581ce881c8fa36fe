from __future__ import annotations

import builtins
import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.figures import check_figure
from kernelwood.tuning import GateReport
from kernelwood.tuning.gate_report import _agreement, label_text


def learner_with(labels, **changes):
    """Return what a report is made of: every second label ignored, the first gains most."""
    n = len(labels)
    decided = [
        {"run": 0, "step": 0, "label": label, "before": True, "open": t % 2 == 1}
        for t, label in enumerate(labels)
    ]
    fields = {
        "method": "neighbors",
        "n_runs": 1,
        "classes_": np.array(["no", "yes"]),
        "labels_": list(labels),
        "gates_": {label: float(t % 2) for t, label in enumerate(labels)},
        "structures_": np.arange(n, 0, -1) * 1000,
        "occurrences_": np.arange(n, 0, -1) * 2000,
        "loss_open_": np.linspace(0.5, 0.0, n),
        "loss_closed_": np.full(n, 0.25),
        "ignored_": np.array([1.0 - t % 2 for t in range(n)]),
        "parameters_": {},
        "trace_": decided,
        "seed_": 7,
    }
    return SimpleNamespace(**{**fields, **changes})


def report_on(*labels, **changes):
    return GateReport.of(learner_with(labels, **changes))


@pytest.fixture(scope="module")
def learned():
    paths, classes, _, noise = kw.tuning.planted_paths(150, n_signal=2, n_noise=3, length=(1, 8))
    learner = kw.GateLearner(
        kw.SubsequenceKernel(), labels=1.0, n_trials=1, n_runs=2, random_state=0
    )
    return learner.fit(paths, classes), noise


def test_a_fitted_learner_makes_its_report(learned):
    learner, noise = learned
    assert {row.label for row in learner.report().ignored} == set(noise)


def test_losses_are_those_of_the_learner(learned):
    learner, _ = learned
    report = learner.report()
    assert [report[label].loss_open for label in learner.labels_] == learner.loss_open_.tolist()


def test_every_decision_of_the_trace_is_counted(learned):
    learner, _ = learned
    report = learner.report()
    assert sum(row.decisions for row in report.labels) == len(learner.trace_) == report.n_decisions


def test_ignored_labels_come_first_by_falling_gain():
    report = report_on("a", "b", "c", "d", "e")
    assert [row.label for row in report.labels] == ["a", "c", "e", "b", "d"]


def test_labels_of_equal_gain_stay_in_the_order_of_frequency():
    report = report_on("z", "b", "a", "c", loss_open_=np.zeros(4))
    assert [row.label for row in report.labels] == ["z", "a", "b", "c"]


def test_the_gain_is_what_closing_saves():
    assert report_on("a")["a"].gain == pytest.approx(0.5 - 0.25)


def test_kept_and_ignored_are_all():
    report = report_on("a", "b", "c")
    assert {*report.ignored, *report.kept} == set(report.labels)


def test_a_proposal_that_is_not_accepted_changes_nothing():
    trace = [
        {"label": "a", "before": True, "open": False, "accepted": accepted}
        for accepted in (False, True, False)
    ]
    row = report_on("a", trace_=trace)["a"]
    assert (row.changes, row.decisions) == (1, 3)


def test_decisions_on_parameters_are_of_no_label():
    trace = [{"parameter": "decay", "value": 0.4, "accepted": True}]
    assert report_on("a", trace_=trace)["a"].decisions == 0


def test_a_label_without_a_gate_is_a_key_error():
    with pytest.raises(KeyError, match="'nix'"):
        report_on("a")["nix"]


# Agreement of runs.


def test_one_run_agrees_with_nobody():
    assert report_on("a").agreement is None


def test_runs_that_all_ignore_agree_fully():
    assert _agreement(np.array([3.0, 0.0]), 3) == 1


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=2, max_size=6))
def test_agreement_is_the_mean_over_pairs_of_runs(runs):
    pairs = [(a, b) for i, a in enumerate(runs) for b in runs[:i]]
    expected = np.mean([np.mean(np.equal(a, b)) for a, b in pairs])
    assert _agreement(np.sum(runs, axis=0).astype(float), len(runs)) == pytest.approx(expected)


def test_thirds_of_runs_are_counted_as_whole_runs():
    report = report_on("a", "b", n_runs=3, ignored_=np.array([2 / 3, 1 / 3]))
    assert report.agreement == pytest.approx(1 / 3)


# JSON.

PLAIN = (dict, list, str, int, float, bool, type(None))


def plain_values(value):
    assert type(value) in PLAIN
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(v for part in inner for v in plain_values(part))]


def test_json_has_the_promised_keys():
    expected = {
        "method", "classes", "n_labels", "n_ignored", "n_runs", "agreement", "n_decisions",
        "parameters", "seed", "labels",
    }  # fmt: skip
    assert set(report_on("a").to_dict()) == expected


def test_json_of_a_label_has_the_promised_keys():
    expected = {
        "label", "gate", "ignored", "structures", "occurrences", "loss_open", "loss_closed", "gain",
        "ignored_share", "decisions", "changes",
    }  # fmt: skip
    assert set(report_on("a").to_dict()["labels"][0]) == expected


def test_all_values_are_plain(learned):
    assert plain_values(learned[0].report().to_dict())


def test_numbers_of_numpy_become_plain():
    report = report_on("a", parameters_={"decay": np.float64(0.5)}, classes_=np.array([0, 1]))
    assert plain_values(report.to_dict())
    assert report.to_dict()["parameters"] == {"decay": 0.5}


def test_what_is_no_number_is_null():
    report = report_on("a", loss_open_=np.array([math.nan]))
    assert json.loads(report.to_json())["labels"][0]["gain"] is None


def test_parameters_that_json_has_not_are_shown():
    exact = kw.similarity.Exact()
    report = report_on("a", parameters_={"similarity": exact})
    assert report.to_dict()["parameters"] == {"similarity": repr(exact)}


@given(st.lists(st.text(max_size=8), min_size=1, max_size=5, unique=True))
def test_json_keeps_every_label(labels):
    report = report_on(*labels)
    assert {row["label"] for row in json.loads(report.to_json())["labels"]} == set(labels)


# Text.


def test_the_table_has_a_line_for_each_label():
    lines = str(report_on("a", "b", "c")).splitlines()
    beginnings = [" ".join(line.split()[:2]) for line in lines[1:4]]
    assert beginnings == ["a ignored", "c ignored", "b 1"]


def test_the_table_shows_stability_of_several_runs_only():
    several = report_on("a", n_runs=4, ignored_=np.array([0.75]))
    assert "3 of 4" in str(several)
    assert "ignored in" not in str(report_on("a"))


def test_the_note_tells_learned_parameters():
    assert "decay=0.4" in str(report_on("a", parameters_={"decay": 0.4}))


def test_the_note_tells_what_losses_are():
    assert "nats" in str(report_on("a", method="information"))


@given(st.text(max_size=80))
def test_any_label_takes_one_line(label):
    assert len(str(report_on(label)).splitlines()) == len(str(report_on("a")).splitlines())


@given(st.text(min_size=1, max_size=80))
def test_labels_are_cut_to_a_width(label):
    assert len(label_text(label, 20)) <= 20


def test_columns_are_aligned():
    rows = str(report_on("a", "a longer label")).splitlines()[:3]
    assert len({len(row) for row in rows}) == 1


def test_repr_is_short():
    assert repr(report_on("a", "b")) == "<GateReport: 1 of 2 labels ignored, by neighbors>"


# Figures.


@pytest.fixture
def matplotlib():
    found = pytest.importorskip("matplotlib")
    found.use("agg")
    return found


BEGINNINGS = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml", "pdf": b"%PDF-"}


@pytest.mark.parametrize("suffix", BEGINNINGS)
def test_figures_are_written_as_their_names_say(matplotlib, tmp_path, suffix):
    path = tmp_path / f"gates.{suffix}"
    report_on("a", "b").save_figure(path)
    assert path.read_bytes().startswith(BEGINNINGS[suffix])


@pytest.mark.parametrize("suffix", BEGINNINGS)
def test_the_same_report_gives_the_same_figure(matplotlib, tmp_path, suffix):
    for name in ("one", "two"):
        report_on("a", "b").save_figure(tmp_path / f"{name}.{suffix}")
    one, two = sorted(tmp_path.iterdir())
    assert one.read_bytes() == two.read_bytes()


def test_dollars_in_labels_are_no_formula(matplotlib, tmp_path):
    report_on("$x_", r"$\frac$").save_figure(tmp_path / "gates.svg")
    assert (tmp_path / "gates.svg").stat().st_size > 1000


def test_a_figure_is_as_high_as_its_labels_need(matplotlib):
    from matplotlib import pyplot as plt

    heights = []
    for n in (10, 60):
        ax = report_on(*(f"label {i}" for i in range(n))).plot()
        heights.append(ax.figure.get_figheight())
        plt.close(ax.figure)
    assert heights[1] > 3 * heights[0]


def test_bars_are_as_long_as_gains(matplotlib):
    from matplotlib.figure import Figure

    report = report_on("a", "b", "c", "d")
    ax = report.plot(Figure().subplots())
    assert [bar.get_width() for bar in ax.patches] == [row.gain for row in report.labels]


def test_the_figure_tells_frequencies(matplotlib):
    from matplotlib.figure import Figure

    ax = report_on("a", "b").plot(Figure().subplots())
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a (2,000)", "b (1,000)"]


def test_the_figure_tells_stability(matplotlib):
    from matplotlib.figure import Figure

    report = report_on("a", n_runs=4, ignored_=np.array([0.75]))
    ax = report.plot(Figure().subplots())
    assert "3 of 4" in [text.get_text() for text in ax.texts]


def test_saving_leaves_no_figure_open(matplotlib, tmp_path):
    from matplotlib import pyplot as plt

    before = plt.get_fignums()
    report_on("a").save_figure(tmp_path / "gates.png")
    assert plt.get_fignums() == before


def test_an_unknown_suffix_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match=r"\.png, \.svg or \.pdf"):
        check_figure("gates.bmp")


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    original = builtins.__import__

    def missing(name, *arguments, **options):
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return original(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(kw.errors.KernelInputError, match=r"kernelwood\[plot\]"):
        report_on("a").plot()
