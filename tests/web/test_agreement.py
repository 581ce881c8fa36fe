"""Agreement of two projects, and merging."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from shutil import copy
from tempfile import mkdtemp

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import cohen_kappa_score

import kernelwood as kw
from kernelwood.entities import Dictionary
from kernelwood.web.agreement import cohen_kappa, compare, merge
from kernelwood.web.building import build_project
from kernelwood.web.project import Project, ProjectError, TypeRow

NAMES = Dictionary([(name, "protein") for name in ("Raf", "Ras", "Mek", "Erk")])
TEXT = "Raf binds Ras, Mek and Erk."  # six pairs
TYPES = (TypeRow("Binds", True), TypeRow("Acts"))
LABELS = ("none", "Binds", "Acts(e1,e2)", "Acts(e2,e1)")


def documents(numbers):
    return [kw.Example(f"d{number}", views={"document": kw.Document(TEXT)}) for number in numbers]


@cache
def _built(first, end, types):
    path = Path(mkdtemp(prefix="kernelwood-test-")) / "a.kwp"
    build_project(path, documents(range(first, end)), entities=NAMES, types=types).close()
    return path


@pytest.fixture
def make(tmp_path):
    """Return a function that opens a new copy of a project with some documents."""
    opened = []

    def made(name, first=0, end=5, types=TYPES):
        project = Project.open(copy(_built(first, end, types), tmp_path / f"{name}.kwp"))
        opened.append(project)
        return project

    yield made
    for project in opened:
        project.close()


def decide(project, labels, author):
    for row, label in labels.items():
        project.decide([row], label, author=author)


# Cohen's kappa.


def kappa_of(pairs):
    """Return kappa by its definition, None if it is not defined."""
    n = len(pairs)
    labels = {label for pair in pairs for label in pair}
    observed = sum(one == other for one, other in pairs) / n
    expected = sum(
        sum(one == label for one, _ in pairs) * sum(other == label for _, other in pairs)
        for label in labels
    ) / (n * n)
    return None if expected == 1 else (observed - expected) / (1 - expected)


PAIRS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1)


@given(PAIRS)
def test_kappa_is_that_of_its_definition_and_of_scikit_learn(pairs):
    names = sorted({label for pair in pairs for label in pair})
    table = np.zeros((len(names), len(names)))
    for one, other in pairs:
        table[names.index(one), names.index(other)] += 1
    found = float(cohen_kappa(table))
    expected = kappa_of(pairs)
    if expected is None:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(expected)
        first, second = zip(*pairs, strict=True)
        assert found == pytest.approx(cohen_kappa_score(first, second))


def test_kappa_of_several_tables():
    tables = np.array([[[20, 5], [10, 15]], [[3, 0], [0, 0]], [[1, 0], [0, 1]]])
    found = cohen_kappa(tables)
    assert found[0] == pytest.approx(0.4) and np.isnan(found[1]) and found[2] == 1


# Comparison.


def test_agreement_is_that_of_scikit_learn(make):
    rng = np.random.default_rng(0)
    first, second = make("a"), make("b")
    here = {row: LABELS[rng.integers(4)] for row in range(30)}
    there = {
        row: label if rng.random() < 0.6 else LABELS[rng.integers(4)] for row, label in here.items()
    }
    decide(first, here, "ann")
    decide(second, there, "bob")
    found = compare(first, second)
    assert float(found.kappa) == pytest.approx(
        cohen_kappa_score(list(here.values()), list(there.values()))
    )
    assert found.n_both == 30
    assert found.n_equal == sum(here[row] == there[row] for row in here)
    for one in found.types:
        mine, yours = (
            [label.split("(")[0] == one.type for label in labels.values()]
            for labels in (here, there)
        )
        assert one.kappa == pytest.approx(cohen_kappa_score(mine, yours))
        assert (one.n_here, one.n_there) == (sum(mine), sum(yours))
        assert one.n_both == sum(a and b for a, b in zip(mine, yours, strict=True))
    assert [one.type for one in found.types] == ["Acts", "Binds"]
    assert [one.candidate for one in found.disagreements] == [
        row for row in here if here[row] != there[row]
    ]
    # The other side sees the same.
    other = compare(second, first)
    assert float(other.kappa) == pytest.approx(float(found.kappa))


def test_the_interval_is_a_bootstrap_over_documents(make):
    rng = np.random.default_rng(1)
    first, second = make("a"), make("b")
    here = {row: LABELS[rng.integers(2)] for row in range(30)}
    there = {
        row: label if rng.random() < 0.7 else LABELS[rng.integers(2)] for row, label in here.items()
    }
    decide(first, here, "ann")
    decide(second, there, "bob")
    found = compare(first, second, n_resamples=2000)
    values = []
    for drawn in np.random.default_rng(2).integers(0, 5, (2000, 5)):
        rows = [6 * document + place for document in drawn for place in range(6)]
        value = kappa_of([(here[row], there[row]) for row in rows])
        values += [] if value is None else [value]
    low, high = np.quantile(values, [0.025, 0.975])
    assert found.kappa.low == pytest.approx(low, abs=0.06)
    assert found.kappa.high == pytest.approx(high, abs=0.06)
    assert found.kappa.low < float(found.kappa) < found.kappa.high
    again = compare(first, second, n_resamples=2000)
    assert (again.kappa.low, again.kappa.high) == (found.kappa.low, found.kappa.high)


def test_candidates_are_matched_by_documents_and_spans(make):
    first, second = make("a", 0, 3), make("b", 1, 5)  # d1 and d2 are in both
    decide(first, {6: "Binds", 7: "none", 12: "none", 0: "none"}, "ann")
    decide(second, {0: "none", 1: "none", 6: "none", 12: "Binds", 2: "Binds"}, "bob")
    found = compare(first, second)
    assert (found.n_both, found.n_equal) == (3, 2)
    assert (found.n_here, found.n_there, found.n_unknown) == (1, 1, 1)
    [one] = found.disagreements
    assert (one.document, one.first, one.second) == ("d1", "Raf", "Ras")
    assert (one.label, one.other, one.author, one.other_author) == ("Binds", "none", "ann", "bob")
    assert (one.text, one.candidate) == (TEXT, 6)


def test_documents_with_another_text_are_not_the_same(make, tmp_path):
    first = make("a", 0, 1)
    text = kw.Document(TEXT.replace("Ras", "Erk", 1).replace("and Erk", "and Ras"))
    with build_project(
        tmp_path / "c.kwp",
        [kw.Example("d0", views={"document": text})],
        entities=NAMES,
        types=TYPES,
    ) as second:
        decide(first, dict.fromkeys(range(6), "none"), "ann")
        decide(second, dict.fromkeys(range(6), "none"), "bob")
        found = compare(first, second)
    assert found.n_both == 1  # Raf and Mek stand where they stood
    assert found.n_unknown == 5


def test_skipped_and_undone_decisions_do_not_count(make):
    first, second = make("a"), make("b")
    decide(first, {0: "none", 1: None, 2: "Binds"}, "ann")
    decide(second, {0: "none", 1: "none", 2: "Binds"}, "bob")
    first.undo(author="ann")
    found = compare(first, second)
    assert (found.n_both, found.n_here, found.n_there) == (1, 0, 2)


def test_kappa_may_not_be_defined(make):
    first, second = make("a"), make("b")
    assert compare(first, second).kappa is None
    decide(first, {0: "none", 6: "none"}, "ann")
    decide(second, {0: "none", 6: "none"}, "bob")
    found = compare(first, second)
    assert found.kappa is None and found.n_equal == 2
    assert "not defined" in str(found) and found.to_dict()["kappa"] is None


def test_one_document_has_no_interval(make):
    first, second = make("a"), make("b")
    decide(first, {0: "none", 1: "Binds"}, "ann")
    decide(second, {0: "none", 1: "Binds"}, "bob")
    found = compare(first, second)
    assert float(found.kappa) == 1 and found.kappa.low is None
    assert "Cohen's kappa: 1.000" in str(found)


def test_results_are_json_values(make):
    first, second = make("a"), make("b")
    decide(first, {0: "none", 1: "Binds", 7: "none"}, "ann")
    decide(second, {0: "Binds", 1: "Binds", 7: "none", 8: "none"}, "bob")
    made = json.loads(json.dumps(compare(first, second).to_dict()))
    assert made["n_both"] == 3 and len(made["kappa"]) == 3
    assert made["disagreements"][0]["document"] == "d0"
    merged = json.loads(json.dumps(merge(first, second).to_dict()))
    assert merged["n_added"] == 1 and len(merged["conflicts"]) == 1


# Merging.


def test_decisions_on_undecided_candidates_are_added(make):
    first, second = make("a"), make("b")
    decide(first, {0: "none", 1: "Binds", 2: None}, "ann")
    decide(second, {0: "none", 1: "none", 2: "Binds", 3: None}, "bob")
    second.decide([4], "Acts(e2,e1)", author="bob", comment="look", time=5.0, weights=[0.5])
    before = first.current()
    merged = merge(first, second)
    current = first.current()
    assert {row: current[row] for row in (0, 1)} == {row: before[row] for row in (0, 1)}
    assert current[2].label == "Binds" and current[2].author == "bob"
    assert current[4][3:7] == ("Acts(e2,e1)", 5.0, "bob", "look")
    assert current[4].weight is None and 3 not in current
    assert len(merged.added) == 2 and merged.n_equal == 1
    [one] = merged.conflicts
    assert (one.candidate, one.label, one.other) == (1, "Binds", "none")
    # All of it is undone at once.
    assert len(first.undo(author="ann")) == 2
    assert first.current() == before


def test_merging_twice_adds_nothing(make):
    first, second = make("a"), make("b")
    decide(second, {0: "none", 1: "Binds"}, "bob")
    assert len(merge(first, second).added) == 2
    merged = merge(first, second)
    assert merged.added == [] and merged.n_equal == 2
    assert len(list(first.log())) == 2


def test_authors_get_a_prefix(make):
    first, second = make("a"), make("b")
    decide(second, {0: "none"}, "bob")
    merge(first, second, author_prefix="b: ")
    assert first.current()[0].author == "b: bob"


def test_missing_types_are_added(make):
    first, second = make("a"), make("b")
    second.add_type("New", description="d", roles=("X", "Y"))
    second.add_type("Unused")
    decide(second, {0: "New(e1,e2)"}, "bob")
    merged = merge(first, second)
    assert merged.types == ["New"] and "New" in str(merged)
    assert first.types() == [*TYPES, TypeRow("New", False, "d", ("X", "Y"))]
    assert first.current()[0].label == "New(e1,e2)"


def test_types_that_differ_are_refused(make):
    first, second = make("a"), make("b", types=(TypeRow("Binds", False),))
    decide(second, {0: "none", 1: "Binds(e1,e2)"}, "bob")
    with pytest.raises(ProjectError, match="symmetric here and directed in the other"):
        merge(first, second)
    assert first.current() == {}


def test_rows_of_other_projects_are_translated(make):
    first, second = make("a", 0, 3), make("b", 1, 5)
    decide(second, {0: "Binds", 17: "none"}, "bob")  # d1 and d3
    merged = merge(first, second)
    assert {row: one.label for row, one in first.current().items()} == {6: "Binds"}
    assert merged.n_unknown == 1
