"""Project files: texts, types, decisions, undo, comments, settings, models, opening."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from contextlib import closing
from functools import cache
from pathlib import Path
from shutil import copy
from tempfile import mkdtemp

import numpy as np
import pytest

import kernelwood as kw
from kernelwood.entities import Dictionary
from kernelwood.errors import KernelwoodError
from kernelwood.web import project_file
from kernelwood.web.building import build_project
from kernelwood.web.project import (
    ConflictError,
    Decision,
    Predicted,
    Project,
    ProjectError,
    TypeRow,
)

NAMES = Dictionary([(name, "protein") for name in ("Raf", "Ras", "Mek", "Erk", "Akt")])
TEXTS = [
    "Raf binds Ras. Mek does not bind Erk, and Akt is inactive.",
    "We studied kinases.\nMek activates Erk.",
    "Erk is activated by Mek. Ras and Raf and Akt were measured.",
]
TYPES = (
    TypeRow("Binds", True),
    TypeRow("Activates", False, "the first activates the second", ("Agent", "Target")),
)


@cache
def _built():
    path = Path(mkdtemp(prefix="kernelwood-test-")) / "a.kwp"
    documents = [
        kw.Example(f"d{number}", views={"document": kw.Document(text)})
        for number, text in enumerate(TEXTS)
    ]
    build_project(path, documents, entities=NAMES, types=TYPES).close()
    return path


@pytest.fixture
def path(tmp_path):
    return Path(copy(_built(), tmp_path / "a.kwp"))


@pytest.fixture
def project(path):
    with Project.open(path) as opened:
        yield opened


def labels(project):
    return {row: one.label for row, one in project.current().items()}


def edit(path, *statements):
    """Change a project file behind its back."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


# Texts.


def test_texts_and_sentences_are_those_of_the_documents(project):
    assert [row.name for row in project.documents()] == ["d0", "d1", "d2"]
    assert [project.document_text(number) for number in range(3)] == TEXTS
    for row in project.documents():
        numbers = project.sentence_numbers(row.number)
        assert len(numbers) == row.n_sentences == 2
        for number in numbers:
            _, sentence = project.sentence(number)
            end = sentence.start + len(sentence.text)
            assert TEXTS[row.number][sentence.start : end] == sentence.text
            assert project.sentence_texts()[number] == sentence.text
            assert project.document_of_sentence(number) == row.number


def test_candidates_are_pairs_in_text_order(project):
    found = []
    for row in range(len(project.candidates)):
        candidate = project.candidate(row)
        assert candidate.id == project.candidates.names[row]
        first, second = candidate.entities
        assert first.start < second.start
        text = candidate.sentence.text
        found.append(tuple(text[one.start : one.end] for one in (first, second)))
    assert found == [
        ("Raf", "Ras"), ("Mek", "Erk"), ("Mek", "Akt"), ("Erk", "Akt"), ("Mek", "Erk"),
        ("Erk", "Mek"), ("Ras", "Raf"), ("Ras", "Akt"), ("Raf", "Akt"),
    ]  # fmt: skip
    assert project.candidates.document.tolist() == [0] * 4 + [1] + [2] * 4
    assert [row.n_candidates for row in project.documents()] == [4, 1, 4]


def test_sentences_with_pairs_are_parsed(project):
    for row, number in enumerate(project.candidates.sentence.tolist()):
        assert project.sentence(number)[1].dependencies, row


def test_documents_have_their_entities(project):
    document = project.document(2)
    assert [entity.text for entity in document.entities] == ["Erk", "Mek", "Ras", "Raf", "Akt"]
    ids = project.entity_ids(2)
    mentions = project.mentions()
    for (sentence, place), name in ids.items():
        entity = next(one for one in document.entities if one.id == name)
        assert mentions[sentence, place] == (entity.text, "protein", entity.spans)
        inner = project.sentence(sentence)[1].entities[place]
        assert inner.start + project.sentence(sentence)[1].start == entity.start
    assert len(ids) == 5
    assert project.entity_types() == ["protein"]


def test_views_are_those_of_the_candidates(project):
    views = project.views()
    assert views.ids == project.candidates.names
    for row in (0, 4):
        made, _ = kw.views.make_view("stem-steps", project.candidate(row))
        assert made == views[row].view("stem-steps")


def test_candidates_with_equal_paths_share_a_group(project):
    views, groups = project.views(), project.candidates.group.tolist()
    keys = [(views[row].view("stem-steps"), views[row].view("types")) for row in range(len(views))]
    for one in range(len(keys)):
        for other in range(len(keys)):
            same = keys[one] == keys[other]
            assert (groups[one] == groups[other]) == same or groups[one] == -1


@pytest.mark.parametrize("number", [-1, 9, True, "1", 1.0])
def test_unknown_numbers_are_refused(project, number):
    for function in (project.candidate, project.document, project.sentence):
        with pytest.raises(ProjectError):
            function(number)


def test_names_and_prior_are_stored(project):
    assert {term.term for term in project.dictionary().terms} == {"Raf", "Ras", "Mek", "Erk", "Akt"}
    assert project.prior() is None and project.prior_model() is None


# Types.


def test_types_are_listed_in_order_and_extended(project):
    assert project.types() == list(TYPES)
    made = project.add_type("Inhibits", description="x", roles=("A", "B"))
    assert project.types() == [*TYPES, made]
    assert project.add_type("Inhibits", description="x", roles=("A", "B")) == made
    with pytest.raises(ProjectError, match="exists, with other properties"):
        project.add_type("Inhibits", symmetric=True)
    assert len(project.types()) == 3


@pytest.mark.parametrize(
    "name", ["", "none", "A(e1,e2)", "A(e2,e1)", " A", "A\n", "A\x00", "x" * 201, 3, "\ud800"]
)
def test_names_of_types_are_checked(project, name):
    with pytest.raises(ProjectError):
        project.add_type(name)
    assert project.types() == list(TYPES)


# Decisions.


def test_decisions_are_stored_and_survive_reopening(path):
    with Project.open(path) as project:
        [one] = project.decide(
            [3],
            "Activates(e2,e1)",
            author="ann",
            comment="sure",
            predictions=[Predicted("none", 0.25, 7)],
            weights=[0.5],
            time=12.5,
        )
        assert one == Decision(
            1, 1, 3, "Activates(e2,e1)", 12.5, "ann", "sure", "none", 0.25, 0.5, 7
        )
        project.decide([3], "none", author="bob")
    with Project.open(path) as project:
        log = list(project.log())
        assert log[0] == one
        assert [decision.label for decision in log] == ["Activates(e2,e1)", "none"]
        assert project.current() == {3: log[1]}


@pytest.mark.parametrize("label", ["none", None, "Binds", "Activates(e1,e2)", "Activates(e2,e1)"])
def test_labels_of_the_types_are_accepted(project, label):
    project.decide([0], label, author="ann")
    assert labels(project) == {0: label}


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Unknown", "unknown"),
        ("Unknown(e1,e2)", "unknown"),
        ("Activates", "needs a direction"),
        ("Binds(e1,e2)", "symmetric"),
        ("", "unknown"),
        (3, "text"),
        ("None", "unknown"),
    ],
)
def test_other_labels_are_refused(project, label, said):
    with pytest.raises(ProjectError, match=said):
        project.decide([0], label, author="ann")
    assert project.current() == {}


@pytest.mark.parametrize("rows", [[], [9], [-1], [0, 0], ["0"], [True], [0.0]])
def test_candidates_of_decisions_are_checked(project, rows):
    with pytest.raises(ProjectError):
        project.decide(rows, "none", author="ann")
    assert project.current() == {}


@pytest.mark.parametrize(
    "options",
    [
        {"author": "x" * 201},
        {"author": None},
        {"comment": "x" * 10_001},
        {"comment": "\ud800"},
        {"weights": [0.0]},
        {"weights": [float("nan")]},
        {"weights": [1.0, 1.0]},
        {"predictions": [Predicted("none", float("inf"), 1)]},
        {"predictions": []},
        {"expected": [None, None]},
        {"time": float("nan")},
        {"token": "x" * 201},
    ],
)
def test_values_of_decisions_are_checked(project, options):
    with pytest.raises(ProjectError):
        project.decide([0], "none", **{"author": "ann", **options})
    assert project.current() == {}


def test_decisions_of_a_batch_share_its_number(project):
    made = project.decide([0, 4, 2], "none", author="ann")
    assert [one.candidate for one in made] == [0, 4, 2]
    assert len({one.batch for one in made}) == 1
    [other] = project.decide([1], "none", author="ann")
    assert other.batch != made[0].batch


def test_a_repeated_token_stores_nothing(path):
    with Project.open(path) as project:
        made = project.decide([0, 1], "none", author="ann", token="t1")
        assert project.decide([0, 1], "none", author="ann", token="t1") == made
        # Also if what was expected has changed by the first request.
        again = project.decide([0, 1], "none", author="ann", token="t1", expected=[None, None])
        assert again == made
        with pytest.raises(ProjectError, match="another decision"):
            project.decide([0, 1], "Binds", author="ann", token="t1")
        with pytest.raises(ProjectError, match="another decision"):
            project.decide([0], "none", author="ann", token="t1")
    with Project.open(path) as project:
        assert project.decide([0, 1], "none", author="ann", token="t1") == made
        assert len(list(project.log())) == 2


def test_a_conflict_stores_nothing_and_gives_the_current_decision(project):
    [first] = project.decide([0], "none", author="ann", expected=[None])
    with pytest.raises(ConflictError) as caught:
        project.decide([1, 0], "Binds", author="bob", expected=[None, None])
    assert caught.value.current == {0: first}
    assert labels(project) == {0: "none"}
    project.decide([1, 0], "Binds", author="bob", expected=[None, first.id])
    assert labels(project) == {0: "Binds", 1: "Binds"}
    with pytest.raises(ConflictError) as caught:
        project.decide([2], "Binds", author="bob", expected=[first.id])
    assert caught.value.current == {2: None}


def test_rows_of_the_log_cannot_be_changed(path):
    with Project.open(path) as project:
        project.decide([0], "none", author="ann")
        project.comment(0, "a", author="ann")
        project.undo(author="ann")
    for table in ("batches", "decisions", "undos", "comments"):
        for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET rowid = 5"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                edit(path, statement)


# Undo.


def test_undo_goes_back_to_the_beginning(path):
    with Project.open(path) as project:
        project.decide([0], "none", author="ann")
        batch = project.decide([0, 1, 2], "Binds", author="ann")
        project.decide([2], None, author="ann")
        states = [labels(project)]
        project.undo(author="ann")
        states.append(labels(project))
    with Project.open(path) as project:
        assert labels(project) == states[-1]
        assert project.undo(author="ann") == batch
        states.append(labels(project))
        project.undo(author="ann")
        states.append(labels(project))
        assert project.undo(author="ann") == []
    binds = {0: "Binds", 1: "Binds", 2: "Binds"}
    assert states == [{**binds, 2: None}, binds, {0: "none"}, {}]


def test_a_decision_after_undos_is_undone_first(project):
    project.decide([0], "none", author="ann")
    project.decide([1], "none", author="ann")
    project.undo(author="ann")
    project.decide([2], "Binds", author="ann")
    assert labels(project) == {0: "none", 2: "Binds"}
    assert [one.candidate for one in project.undo(author="ann")] == [2]
    assert [one.candidate for one in project.undo(author="ann")] == [0]
    assert list(project.log()) == []


def test_a_repeated_token_undoes_once(project):
    project.decide([0], "none", author="ann")
    project.decide([1], "none", author="ann")
    undone = project.undo(author="ann", token="u")
    assert project.undo(author="ann", token="u") == undone
    assert labels(project) == {0: "none"}


def test_a_repeated_token_of_an_empty_undo_stays_empty(project):
    assert project.undo(author="ann", token="u") == []
    project.decide([0], "none", author="ann")
    assert project.undo(author="ann", token="u") == []
    assert labels(project) == {0: "none"}


def test_the_log_follows_a_plain_model(project):
    """Random decisions and undos, compared with a list of batches."""
    rng = np.random.default_rng(0)
    batches = []
    for _ in range(150):
        if rng.random() < 0.4:
            expected = batches.pop() if batches else ([], None)
            undone = project.undo(author="ann")
            assert [one.candidate for one in undone] == expected[0]
        else:
            rows = rng.permutation(9)[: rng.integers(1, 4)].tolist()
            label = ["none", "Binds", None, "Activates(e1,e2)"][rng.integers(4)]
            project.decide(rows, label, author="ann")
            batches.append((rows, label))
        wanted = {row: label for rows, label in batches for row in rows}
        assert labels(project) == wanted
        assert len(list(project.log())) == sum(len(rows) for rows, _ in batches)


# Comments.


def test_the_latest_comment_is_shown(path):
    with Project.open(path) as project:
        project.comment(0, "look", author="ann")
        assert project.comments()[0][:2] == ("look", "ann")
        project.decide([0], "none", author="bob")
        assert project.current()[0].comment == "look"
        project.decide([0], "none", author="bob", comment="done")
        assert project.current()[0].comment == "done"
        project.comment(0, "no", author="bob")
        assert project.current()[0].comment == "no"
    with Project.open(path) as project:
        assert project.current()[0].comment == "no"
        assert project.comments()[0].text == "no"
        with pytest.raises(ProjectError):
            project.comment(9, "x", author="ann")


# Settings and models.


def test_settings_are_json_values(path):
    with Project.open(path) as project:
        before = project.settings()
        project.set("extra", "informative")
        project.set("extra", {"a": [1, None, 0.5]})
        for value in (object(), float("nan"), {1, 2}, "\ud800"):
            with pytest.raises(ProjectError, match="cannot be stored as JSON"):
                project.set("bad", value)
        with pytest.raises(ProjectError):
            project.set("", 1)
    with Project.open(path) as project:
        assert project.settings() == {**before, "extra": {"a": [1, None, 0.5]}}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("order", ["random"]),
        ("author", 7),
        ("threshold", 1.5),
        ("threshold", "0.5"),
        ("learn_annotation", "no"),
        ("building", {"seed": "x"}),
        ("building", {"seed": -1}),
        ("building", {"first_picks": [0.5]}),
        ("building", []),
    ],
)
def test_settings_that_the_library_reads_have_possible_values(name, value, path):
    with Project.open(path) as project, pytest.raises(ProjectError, match=f"the setting {name}"):
        project.set(name, value)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, json.dumps(value))
        )
    with Project.open(path) as project, pytest.raises(ProjectError, match=f"the setting {name}"):
        project.settings()


@pytest.mark.parametrize("facts", ["[]", '{"labels": "x"}'])
def test_facts_of_models_that_are_not_figures_are_an_error(facts, path):
    with Project.open(path) as project:
        n = len(project.candidates)
        project.save_model(
            n_decisions=1,
            classes=["Binds", "none"],
            probabilities=np.full((n, 2), 0.5),
            threshold=0.5,
            facts={},
        )
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE models SET facts = ?", (facts,))
    with Project.open(path) as project:
        for method in (project.model_history, project.latest_model):
            with pytest.raises(ProjectError, match="facts of model"):
                method()


def test_groups_of_candidates_that_are_not_numbers_are_an_error(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE candidates SET path = 'a' WHERE number = 0")
    with pytest.raises(ProjectError, match="groups of candidates must be of type int"):
        Project.open(path)


def test_entities_of_candidates_that_are_missing_are_an_error(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE entities SET place = place + 100 WHERE sentence = 0")
    missing = pytest.raises(ProjectError, match="an entity of a candidate is missing")
    with Project.open(path) as project, missing:
        project.mentions()


def test_the_latest_model_has_its_probabilities(path):
    classes = ["Binds", "none"]
    with Project.open(path) as project:
        assert project.latest_model() is None and project.model_history() == []
        for number in (1, 2):
            values = np.random.default_rng(number).dirichlet([1, 1], 9)
            saved = project.save_model(
                n_decisions=10 * number,
                classes=classes,
                probabilities=values,
                threshold=0.5,
                facts={"f1": number / 10},
            )
            assert saved == number
    with Project.open(path) as project:
        model = project.latest_model()
        assert (model.number, model.n_decisions, model.classes) == (2, 20, tuple(classes))
        assert model.probabilities.dtype == np.float32
        np.testing.assert_array_equal(model.probabilities, values.astype(np.float32))
        assert [(row["number"], row["facts"]) for row in project.model_history()] == [
            (1, {"f1": 0.1}),
            (2, {"f1": 0.2}),
        ]
    connection = sqlite3.connect(path)
    kept = connection.execute("SELECT count(probabilities) FROM models").fetchone()
    connection.close()
    assert kept == (1,)


@pytest.mark.parametrize(
    ("classes", "values"),
    [
        (["Binds"], np.ones((9, 1))),
        (["none", "none"], np.ones((9, 2))),
        (["none", "Binds"], np.ones((8, 2))),
        (["none", "Binds"], np.full((9, 2), np.nan)),
        (["none", "Binds"], np.full((9, 2), 2.0)),
    ],
)
def test_probabilities_of_models_are_checked(project, classes, values):
    with pytest.raises(ProjectError):
        project.save_model(n_decisions=1, classes=classes, probabilities=values, threshold=0.5)
    assert project.latest_model() is None


# Opening.


def test_one_file_is_left_when_a_project_is_closed(path):
    with Project.open(path) as project:
        project.decide([0], "none", author="ann")
    assert [file.name for file in path.parent.iterdir()] == ["a.kwp"]


def test_commits_are_on_the_disk_before_they_return(project):
    settings = {
        name: project._writer.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "foreign_keys")
    }
    assert settings == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_names_of_files_may_have_any_characters(path):
    moved = path.rename(path.with_name("a ?#%41&é.kwp"))
    with Project.open(moved) as project:
        project.decide([0], "none", author="ann")
    link = path.with_name("link.kwp")
    link.symlink_to(moved)
    with Project.open(link) as project, pytest.raises(ProjectError, match="in use"):
        assert labels(project) == {0: "none"}
        Project.open(moved)


def test_a_second_writer_is_refused(path):
    with Project.open(path), pytest.raises(ProjectError, match=f"process {os.getpid()}"):
        Project.open(path)
    Project.open(path).close()


def test_a_reader_sees_what_a_writer_does(path):
    with Project.open(path) as writer, Project.open(path, read_only=True) as reader:
        assert reader.current() == {}
        writer.add_type("New", symmetric=True)
        writer.decide([0], "New", author="ann")
        assert labels(reader) == {0: "New"}
        writer.undo(author="ann")
        assert labels(reader) == {}
        for change in (
            lambda: reader.decide([0], "none", author="ann"),
            lambda: reader.undo(author="ann"),
            lambda: reader.set("a", 1),
            lambda: reader.add_type("A"),
        ):
            with pytest.raises(ProjectError, match="reading only"):
                change()


def journals(path):
    return [file.name for file in path.parent.iterdir() if file.name.startswith(f"{path.name}-")]


def test_the_last_connection_leaves_one_file(path):
    Project.open(path, read_only=True).close()
    assert journals(path) == []
    with Project.open(path, read_only=True) as reader:
        with Project.open(path) as writer:
            writer.decide([0], "none", author="ann")
        assert labels(reader) == {0: "none"}
    assert journals(path) == []
    # A reader leaves the journal to a writer that goes on.
    with Project.open(path) as writer:
        Project.open(path, read_only=True).close()
        writer.decide([1], "none", author="ann")
    with Project.open(path, read_only=True) as reader:
        assert labels(reader) == {0: "none", 1: "none"}


def test_a_reader_loses_nothing_of_a_process_that_was_killed(path, tmp_path):
    left = tmp_path / "left.kwp"
    with Project.open(path) as writer:
        writer.decide([0], "none", author="ann")
        for suffix in ("", "-wal"):
            copy(f"{path}{suffix}", f"{left}{suffix}")
    for _ in range(2):
        with Project.open(left, read_only=True) as reader:
            assert labels(reader) == {0: "none"}
        assert journals(left) == []


def test_a_closed_project_says_so(path):
    project = Project.open(path)
    project.close()
    project.close()
    for use in (project.settings, lambda: project.decide([0], "none", author="a")):
        with pytest.raises(ProjectError, match="closed"):
            use()


def test_errors_are_values_and_kernelwood_errors():
    assert issubclass(ProjectError, (KernelwoodError, ValueError))
    assert issubclass(ConflictError, ProjectError)


def test_several_threads_use_one_project(project):
    failures = []

    def work(number):
        try:
            for step in range(20):
                project.decide([(number + step) % 9], "none", author=str(number))
                project.candidate(step % 9)
                project.sentence(step % project.n_sentences)
                assert project.current()
                list(project.log())
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    log = list(project.log())
    assert len(log) == 80 and [one.id for one in log] == sorted({one.id for one in log})


def test_conflicts_are_found_between_threads(project):
    """Of several threads that decide the same undecided candidate, one succeeds."""
    results = []
    barrier = threading.Barrier(6)

    def work():
        barrier.wait()
        try:
            results.append(project.decide([0], "none", author="a", expected=[None]))
        except ConflictError:
            results.append(None)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(result is not None for result in results) == 1
    assert len(list(project.log())) == 1


# Versions.


def second_version(connection):
    connection.execute("ALTER TABLE types ADD COLUMN color TEXT NOT NULL DEFAULT 'gray'")


@pytest.fixture
def next_version(monkeypatch):
    monkeypatch.setattr(project_file, "MIGRATIONS", [*project_file.MIGRATIONS, second_version])
    yield
    project_file._schema_of_version.cache_clear()


def version(path):
    connection = sqlite3.connect(path)
    [number] = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return number


def test_older_projects_are_migrated(path, next_version):
    with Project.open(path) as project:
        assert project.types() == list(TYPES)
        project.decide([0], "Binds", author="ann")
    assert version(path) == 2
    with Project.open(path) as project:
        assert labels(project) == {0: "Binds"}


def test_older_projects_are_not_migrated_by_readers(path, next_version):
    with pytest.raises(ProjectError, match="without --read-only"):
        Project.open(path, read_only=True)
    assert version(path) == 1


def test_a_failed_migration_changes_nothing(path, monkeypatch):
    def broken(connection):
        second_version(connection)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(project_file, "MIGRATIONS", [*project_file.MIGRATIONS, broken])
    with pytest.raises(ProjectError, match="Input/output error"):
        Project.open(path)
    monkeypatch.undo()
    with Project.open(path) as project:
        assert project.types() == list(TYPES)
    assert version(path) == 1


def test_newer_projects_are_refused(path):
    edit(path, "PRAGMA user_version = 2")
    with pytest.raises(ProjectError, match=r"version 2.*up to 1(.|\n)*pip install --upgrade"):
        Project.open(path)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER extra AFTER INSERT ON decisions BEGIN DELETE FROM settings; END",
        "CREATE VIEW extra AS SELECT 1",
        "DROP TRIGGER no_delete_of_decisions",
        "ALTER TABLE settings ADD COLUMN extra",
    ],
)
def test_other_schemas_are_refused(path, statement):
    edit(path, statement)
    with pytest.raises(ProjectError, match="tables are not those of a project"):
        Project.open(path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE candidates SET sentence = 99 WHERE number = 2",
        "UPDATE candidates SET sentence = 'x' WHERE number = 2",
        "UPDATE candidates SET first = -1 WHERE number = 2",
        "UPDATE candidates SET number = 77 WHERE number = 2",
        "UPDATE candidates SET name = (SELECT name FROM candidates WHERE number = 0)",
        "UPDATE candidates SET name = x'00ff' WHERE number = 1",
        "UPDATE candidates SET annotation = 5",
        "UPDATE candidates SET path = 100",
        "UPDATE sentences SET document = 9 WHERE number = 0",
        "UPDATE sentences SET document = 2 WHERE number = 0",
        "UPDATE documents SET number = 9 WHERE number = 2",
        "UPDATE documents SET held_out = 'x'",
        "UPDATE types SET name = 'none' WHERE number = 1",
        "UPDATE types SET symmetric = 'yes' WHERE number = 1",
        "INSERT INTO batches VALUES (1, NULL)",
    ],
)
def test_impossible_values_are_refused_at_opening(path, statement):
    with Project.open(path) as project:
        project.comment(0, "x", author="ann")
    insert = "INSERT INTO decisions VALUES (1, 1, {}, {}, {}, 'a', '', NULL, NULL, NULL, NULL)"
    if "batches" not in statement:
        edit(path, statement)
        with pytest.raises(ProjectError, match="damaged"):
            Project.open(path)
        return
    for values in ((99, "'none'", 1.0), (0, "'Strange'", 1.0), (0, 7, 1.0), (0, "'none'", "'x'")):
        broken = Path(copy(path, path.with_name("b.kwp")))
        edit(broken, statement, insert.format(*values))
        with pytest.raises(ProjectError, match="damaged"):
            Project.open(broken)


def test_large_parts_are_checked_where_they_are_read(path):
    edit(
        path,
        "UPDATE sentences SET object = x'789c' WHERE number = 0",
        "UPDATE sentences SET end = 3 WHERE number = 1",
        "UPDATE candidates SET second = 7 WHERE number = 4",
        "UPDATE texts SET annotation = 'x' WHERE document = 0",
        "UPDATE entities SET spans = '[[0, 99999]]' WHERE document = 2",
        "UPDATE blobs SET data = substr(data, 1, 100) WHERE name = 'views'",
        "UPDATE blobs SET part = 5 WHERE name = 'names'",
        "INSERT INTO settings VALUES ('x', '{')",
        "INSERT INTO models VALUES (1, 1.0, 1, '[\"none\"]', 0.5, '{}', x'00')",
    )
    with Project.open(path) as project:
        for use in (
            lambda: project.sentence(0),
            lambda: project.sentence(1),
            lambda: project.candidate(4),
            lambda: project.document(0),
            lambda: project.document(2),
            project.views,
            project.dictionary,
            project.settings,
            project.latest_model,
        ):
            with pytest.raises(ProjectError, match="damaged"):
                use()
        assert project.sentence(2)


def test_stored_json_cannot_be_a_bomb(path):
    import zlib

    packed = zlib.compress(b" " * (1 << 27)).hex()
    deep = zlib.compress(("[" * 100_000).encode()).hex()
    edit(
        path,
        f"UPDATE sentences SET object = x'{packed}' WHERE number = 0",
        f"UPDATE sentences SET object = x'{deep}' WHERE number = 1",
    )
    with Project.open(path) as project:
        for number in (0, 1):
            with pytest.raises(ProjectError, match="damaged"):
                project.sentence(number)


def test_settings_hold_facts_about_building(project):
    facts = project.settings()["building"]
    assert facts["parser"] == "biomedical-dependencies" and facts["n_candidates"] == 9
    assert json.dumps(facts)
