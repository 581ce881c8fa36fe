"""The experiments on events, on sentences and paths small enough to check by hand."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelwood as kw

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "papers"))

from event_models.candidates import PATH, TREE, Part, _keep, _kept, make_part, unique
from event_models.halves import SETTINGS, Halves, Setting, run_halves
from event_models.learning import CLASSIFIERS, GATES, Learned, kernels
from event_models.losses import sample_losses
from event_models.repeats import shared
from event_models.task import MODELS, Model, Task
from events import CHOICES, cells, counts, label
from tables import events_hashcodes, events_nonstationary

WORDS = "Raf promotes binding of Ras".split()
DEPENDENCIES = [(1, "nsubj", 0), (1, "dobj", 2), (2, "prep", 3), (3, "pobj", 4)]


def sentence() -> kw.Sentence:
    entity, argument, event = kw.text.Entity, kw.text.Argument, kw.text.Event
    return kw.Sentence.from_words(
        WORDS,
        dependencies=DEPENDENCIES,
        entities=[
            entity("T1", "Protein", ((0, 3),), "Raf"),
            entity("T2", "Protein", ((24, 27),), "Ras"),
            entity("T3", "Positive_regulation", ((4, 12),), "promotes"),
            entity("T4", "Binding", ((13, 20),), "binding"),
        ],
        events=[
            event("E1", "Binding", "T4", (argument("Theme", "T2"),)),
            event(
                "E2",
                "Positive_regulation",
                "T3",
                (argument("Theme", "E1"), argument("Cause", "T1")),
            ),
        ],
    )


def part(name: str = "2009 train", forms: Any = None) -> Part:
    return make_part(name, [[kw.Example("d1.0", views={"sentence": sentence()})]], forms)


def examples(paths: list[kw.Sequence], y: Any) -> Any:
    return kw.batch(
        kw.Example(f"c{i}", int(label), {PATH: path, TREE: kw.Tree("root", [kw.Tree("a")])})
        for i, (path, label) in enumerate(zip(paths, y, strict=True))
    )


def repeated(found: dict[str, Any]) -> tuple[int, int, int]:
    return found["equal_documents"], found["equal_sentences"], found["near_sentences"]


PLANTED = kw.tuning.planted_paths(240, length=(1, 3), random_state=0)


@pytest.fixture
def halves() -> Halves:
    y = np.asarray(PLANTED.classes, dtype=np.int64)
    return Halves(examples(list(PLANTED.paths), y), y, data=None, seed=0)


def test_candidates_are_triggers_with_proteins_in_all_roles() -> None:
    made = part()
    labels = dict(zip(made.X.ids, made.y.tolist(), strict=True))
    assert {id.partition(".T")[2] for id, label in labels.items() if label} == {
        "3(*T1+T2)",
        "4(T2)",
    }
    assert len(labels) == 10  # for each trigger: T1, T2, both, and each with the other as catalyst


def test_forms_restrict_candidates() -> None:
    assert len(part(forms={"Binding": [[1, 0]], "Positive_regulation": [[1, 0]]}).y) == 4


def test_path_goes_from_the_catalyst_over_the_trigger_to_the_participant() -> None:
    X = part().X
    row = next(i for i, id in enumerate(X.ids) if id.endswith("T3(*T1+T2)"))
    assert list(X.view(PATH)[row]) == [
        ("nsubj", "protein"), ("", "promotes"), ("", "promotes"), ("dobj", "binding"),
        ("prep", "of"), ("pobj", "protein"),
    ]  # fmt: skip


def test_kept_parts_are_the_same(tmp_path: Path) -> None:
    made = part()
    _keep(tmp_path, made)
    again = _kept(tmp_path, made.name)
    assert [(e.id, e.views) for e in again.X] == [(e.id, e.views) for e in made.X]
    assert again.y.tolist() == made.y.tolist()
    assert (again.dropped, again.texts, again.triggered) == (
        made.dropped,
        made.texts,
        made.triggered,
    )


def test_different_paths_have_the_class_of_most_candidates() -> None:
    a, b, c = (kw.Sequence(list(text)) for text in ("ab", "ba", "c"))
    found = unique([a, b, a, a, b, c], np.array([1, 0, 0, 0, 1, 0]))
    assert found.rows.tolist() == [0, 1, 5]
    assert found.y.tolist() == [0, 1, 0]
    assert found.conflicts == 2


def test_paths_with_other_edges_are_different() -> None:
    paths = [kw.Sequence([(edge, "a")]) for edge in ("x", "y", "x")]
    assert unique(paths, np.array([0, 0, 0])).rows.tolist() == [0, 1]


def test_repeats_are_found_but_for_case_and_whitespace() -> None:
    known, tested = part(), part("2013 devel")
    tested.texts[0] = [" ".join(tested.texts[0][0].upper().split()) + " "]
    tested.triggered[0] = tested.texts[0][0]
    found = shared([known], tested)
    assert (found["equal_documents"], found["equal_sentences"], found["near_sentences"]) == (
        1,
        1,
        0,
    )
    assert found["candidates_with_known_path"] == found["candidates"] == 10


def test_nearly_equal_sentences_are_counted_apart() -> None:
    known, tested = part(), part("2013 devel")
    text = "It was seen again and again that Raf promotes binding of Ras in cells of"
    known.texts[0], tested.triggered[0] = [f"{text} mice ."], f"{text} rats ."
    tested.texts[0] = [tested.triggered[0]]
    found = shared([known], tested)
    assert (found["equal_documents"], found["equal_sentences"], found["near_sentences"]) == (
        0,
        0,
        1,
    )


def test_halves_are_disjoint_and_the_same_for_all_settings(halves: Halves) -> None:
    first = list(halves.splits(Setting("", "hashed"), 3))
    second = list(halves.splits(Setting("", "exact", gates="β = 100"), 3))
    for (train, test, _), (again, _, _) in zip(first, second, strict=True):
        assert sorted([*train, *test]) == list(range(240))
        assert train.tolist() == again.tolist()
    assert len({tuple(train) for train, _, _ in first}) == 3


def test_unseen_half_is_not_the_one_of_the_gates(halves: Halves) -> None:
    [(train, test, _)] = halves.splits(Setting("", "exact", unseen=True), 3)
    assert train.tolist() == halves.learning.tolist()
    assert not set(test) & set(halves.learning)


def test_a_share_is_taken_from_both_halves(halves: Halves) -> None:
    [(train, test, _)] = halves.splits(Setting("", "hashed", share=0.8), 1)
    assert (len(train), len(test)) == (96, 96)
    assert not set(train) & set(test)


def test_gates_do_not_depend_on_classes_of_the_other_half(halves: Halves) -> None:
    y = halves.y.copy()
    y[halves.other] = 1 - y[halves.other]
    turned = Halves(halves.X, y, data=None, seed=0)
    first, second = (one.gates("path", "β = 25") for one in (halves, turned))
    assert first.passes == second.passes


def test_gates_after_some_passes() -> None:
    learned = Learned(["a", "b"], [["a"], ["a", "b"]], 0.0, 0)
    assert [learned.ignored(n) for n in (1, 2, 9)] == [["a"], ["a", "b"], ["a", "b"]]
    assert learned.applied(kw.SubsequenceKernel(), 2).gates == {"a": 0.0, "b": 0.0}


def test_settings_are_those_of_the_paper() -> None:
    model = CLASSIFIERS["hashed"](kernels(["path"], None)["path"], 8, 15_000, 0)
    assert (model.n_neighbors, model.n_bits, model.method) == (8, 14, "rknn")
    assert (model.n_references, model.kernel.decay) == (122, 0.8)
    core = GATES["β = 550"]
    assert (core["n_samples"], core["n_trials"], core["labels"], core["n_neighbors"]) == (
        550, 10, 0.5, 4,
    )  # fmt: skip


def test_every_setting_runs(halves: Halves) -> None:
    settings = [Setting("", name, trials=1) for name in CLASSIFIERS]
    rows = [halves.run(one, 1) for one in [*settings, Setting("", "hashed", gates="β = 25")]]
    assert all(0 <= row["f1"] <= 1 and row["n"] == 1 for row in rows)
    assert rows[-1]["ignored"] == halves.gates("path", "β = 25").ignored(1)


def test_rows_are_named_apart() -> None:
    for parts in SETTINGS.values():
        rows = [asdict(one) for one in parts]
        assert len({(row["table"], label(row)) for row in rows}) == len(rows)


def test_parts_run_in_order(halves: Halves, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SETTINGS, "core", [Setting("2a", "exact")])
    [row] = run_halves(halves, ["core"], 1)
    assert (row["part"], row["table"]) == ("core", "2a")
    assert next(cells(row)) == "2a"


def test_loss_of_the_half_is_that_of_the_library(
    halves: Halves, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("event_models.losses.N_DRAWN", {20: 2, 1000: 2})
    plain, gated = sample_losses(halves, "β = 25")
    some = halves.learning
    expected = kw.tuning.neighbor_loss(
        halves.plain("path"), halves.X.view(PATH)[some], halves.y[some], loss="paper"
    )
    assert plain["all"] == pytest.approx(expected)
    assert len(gated["20"]) == 2
    assert "1000" not in gated  # more than there are


def test_support_vectors_learn_from_some_candidates(halves: Halves) -> None:
    task = Task(halves.X, halves.y, halves.X, halves.y, seed=0)
    model = Model("t", "SVM", "plain", lambda kernel, n, seed: kw.KernelSVC(kernel), most=60)
    row = task.run(model, 2)
    assert (row["trained_on"], row["n"], label(row)) == (60, 2, "SVM")


def test_kernel_is_learned_from_training_candidates_alone(halves: Halves) -> None:
    model = Model("t", "k-NN", "neighbors", lambda k, n, s: CLASSIFIERS["exact"](k, 8, n, s))
    first, second = (
        Task(halves.X, halves.y, halves.X[:40], classes, seed=0)
        for classes in (halves.y[:40], 1 - halves.y[:40])
    )
    rows = [task.run(model, 1) for task in (first, second)]
    assert first.learned["neighbors"]["ignored"] == second.learned["neighbors"]["ignored"]
    # The predictions are the same, too: what was right is wrong.
    found = [row["precision"] for row in rows]
    assert sum(found) == pytest.approx(1)


def test_neighborhood_is_of_the_training_candidates() -> None:
    paths = [kw.Sequence(list(text)) for text in ("ab",) * 8 + ("xyzx",) * 8]
    known = examples(paths, [1] * 8 + [0] * 8)
    tested = examples([kw.Sequence(list("abc"))], [0])
    task = Task(known, np.array([1] * 8 + [0] * 8), tested, np.array([0]), seed=0)
    assert task.neighborhood() == {
        "valid": 0.5,
        "valid_neighbors": 1.0,
        "length": 3.0,
        "length_of_tested": 3.0,
        "length_of_neighbors": 2.0,
    }


def test_counts_are_of_candidates() -> None:
    [(name, row)] = counts([part()]).items()
    assert (name, row["valid"], row["invalid"], row["documents"]) == ("2009 train", 2, 8, 1)


FIGURES = {"f1": 0.5, "precision": 0.5, "recall": 0.5, "f1_deviation": 0.01, "n": 5}


def test_table_of_gates_has_every_published_figure() -> None:
    found = [
        {"part": part, **asdict(one), **FIGURES} for part, some in SETTINGS.items() for one in some
    ]
    losses = [
        {"gates": name, "all": 0.01, **{size: [0.02, 0.001] for size in ("200", "500", "1000")}}
        for name in ("", "β = 100")
    ]
    made = events_nonstationary.rows({"rows": found, "losses": losses})
    published = [row.published for row in made if row.published]
    assert set(events_nonstationary.PUBLISHED.values()) <= set(published)
    assert len({row.setting for row in made}) == len(made)
    assert [row.setting for row in made if row.headline] == [
        "2a: PK, hashed",
        "2a: NPK, hashed, β = 550",
        "6: PK, exact, k = 4",
        "6: NPK, exact, β = 550, k = 4",
    ]
    assert made[0].ours == "50.0 ± 1.0 (50.0, 50.0)"


def test_table_of_hashcodes_has_every_published_figure() -> None:
    found = [
        {
            "part": part,
            "table": one.table,
            "model": one.name,
            "kernel": one.kernel,
            "references": "learned" if one.references else "random",
            "trained_on": 100,
            **FIGURES,
        }
        for part, some in MODELS.items()
        for one in some
    ]
    repeats = shared([part()], part("2013 devel"))
    made = events_hashcodes.rows({"rows": found, "shared": [repeats]})
    published = [row.published for row in made if row.published]
    expected = {**events_hashcodes.PUBLISHED, **events_hashcodes.PUBLISHED_3D}
    assert sorted(published) == sorted(expected.values())
    assert made[-3].ours == "1 of 1"


def test_tables_have_data_and_arguments_of_the_program() -> None:
    for table, protocol in ((events_nonstationary, "halves"), (events_hashcodes, "task")):
        assert table.TABLE.program == "events.py"
        assert protocol in table.TABLE.arguments
        assert protocol in CHOICES
