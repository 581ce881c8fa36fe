"""Faults of storage: killed processes, full disks, damaged and foreign files, two processes."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from processes import run_python, start_python, stop

import kernelwood as kw
from kernelwood.entities import Dictionary
from kernelwood.web.building import build_project
from kernelwood.web.project import Project, ProjectError, TypeRow

NAMES = Dictionary([(name, "protein") for name in ("Raf", "Ras", "Mek", "Erk", "Akt", "Src")])
TEXT = "Raf binds Ras and Mek. Erk does not activate Akt. Src, Raf and Mek bind Erk."
N_CANDIDATES = 3 + 1 + 6


@cache
def _built():
    path = Path(mkdtemp(prefix="kernelwood-test-")) / "a.kwp"
    documents = [
        kw.Example(f"d{number}", views={"document": kw.Document(TEXT)}) for number in range(3)
    ]
    with build_project(path, documents, entities=NAMES, types=[TypeRow("Binds", True)]) as made:
        for row in range(10):
            made.decide([row], ["none", "Binds", None][row % 3], author="ann", comment="because")
        made.undo(author="ann")
        made.comment(3, "look", author="bob")
        made.save_model(
            n_decisions=9,
            classes=["none", "Binds"],
            probabilities=np.full((len(made.candidates), 2), 0.5),
            threshold=0.5,
            facts={"f1": 0.5},
        )
    return path


@pytest.fixture
def path(tmp_path):
    return Path(shutil.copy(_built(), tmp_path / "a.kwp"))


def use_everything(path):
    """Call every function that reads; return how many failed with a ProjectError."""
    failures = 0
    with Project.open(path) as project:
        uses = [
            *[lambda row=row: project.candidate(row) for row in range(len(project.candidates))],
            *[lambda one=one: project.document(one.number) for one in project.documents()],
            *[lambda one=one: project.entity_ids(one.number) for one in project.documents()],
            *[lambda number=number: project.sentence(number) for number in range(9)],
            project.sentence_texts,
            project.mentions,
            project.entity_types,
            project.views,
            project.dictionary,
            project.prior_model,
            project.types,
            project.settings,
            project.latest_model,
            project.model_history,
            project.comments,
            project.current,
            lambda: list(project.log()),
            lambda: project.decide([0], "none", author="ann"),
            lambda: project.undo(author="ann"),
            lambda: project.set("a", 1),
        ]
        for use in uses:
            try:
                use()
            except ProjectError:
                failures += 1
    return failures


# Files that are not projects.


def test_a_sound_file_has_no_failures(path):
    assert use_everything(path) == 0


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ProjectError, match=r"missing\.kwp: the file does not exist"):
        Project.open(tmp_path / "missing.kwp")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ProjectError, match="folder"):
        Project.open(tmp_path)


@pytest.mark.parametrize(
    "content",
    [b"", b"Raf binds Ras.\n", b"\x00" * 10_000, b"SQLite format 3\x00" + b"\xff" * 5000],
    ids=["empty", "text", "zeros", "header"],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_other_files_are_refused_and_kept(tmp_path, content, read_only):
    file = tmp_path / "a.kwp"
    file.write_bytes(content)
    with pytest.raises(ProjectError):
        Project.open(file, read_only=read_only)
    assert file.read_bytes() == content
    assert [one.name for one in tmp_path.iterdir()] == ["a.kwp"]


def test_another_database_is_refused(tmp_path):
    file = tmp_path / "a.kwp"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE documents (number INTEGER)")
    connection.commit()
    connection.close()
    with pytest.raises(ProjectError, match="not a kernelwood project"):
        Project.open(file)


# Damaged files.


def damaged_copies(path, n, seed):
    """Yield copies of a file in which 1 to 40 bytes are changed."""
    rng = np.random.default_rng(seed)
    sound = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    for number in range(n):
        broken = sound.copy()
        places = rng.integers(0, len(sound), rng.integers(1, 41))
        if number % 4 == 0:  # the header and the schema
            places %= 4096
        broken[places] = rng.integers(0, 256, len(places))
        copied = path.with_name(f"b{number}.kwp")
        copied.write_bytes(broken.tobytes())
        yield copied


def check_damaged(path, n, seed):
    refused = 0
    for copied in damaged_copies(path, n, seed):
        try:
            refused += use_everything(copied) > 0
        except ProjectError:
            refused += 1
        for file in copied.parent.glob(f"{copied.name}*"):
            file.unlink()
    return refused


def test_damaged_files_give_errors_of_projects_only(path):
    assert check_damaged(path, 60, 1) > 20


@pytest.mark.slow
def test_many_damaged_files_give_errors_of_projects_only(path):
    assert check_damaged(path, 1500, 2) > 500


@pytest.mark.parametrize("fraction", [0.001, 0.1, 0.5, 0.9, 0.999])
def test_truncated_files_give_errors_of_projects_only(path, fraction):
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * fraction)])
    with pytest.raises(ProjectError):
        use_everything(path)


def test_a_damaged_file_is_not_locked_after_the_error(path):
    content = path.read_bytes()
    path.write_bytes(content[:5000])
    with pytest.raises(ProjectError):
        Project.open(path)
    path.write_bytes(content)
    Project.open(path).close()


# Full disks, and files that cannot be written.


def test_a_full_disk_loses_no_confirmed_decision(path):
    with Project.open(path) as project:
        before = project.current()
        pages = project._writer.execute("PRAGMA page_count").fetchone()[0]
        project._writer.execute(f"PRAGMA max_page_count = {pages}")
        confirmed = {}
        with pytest.raises(ProjectError, match=r"disk is full(.|\n)*free some disk space"):
            for number in range(10_000):
                row = number % N_CANDIDATES
                [one] = project.decide([row], "none", author="ann", comment="x" * 2000)
                confirmed[row] = one
        assert project.current() == {**before, **confirmed}
        project._writer.execute("PRAGMA max_page_count = 1000000")
        [one] = project.decide([0], "Binds", author="ann")
        confirmed[0] = one
    with Project.open(path) as project:
        assert project.current() == {**before, **confirmed}


LIMITED = """
import resource, sys
from kernelwood.web.project import Project, ProjectError
project = Project.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
n = 0
try:
    while True:
        project.decide([n % 9], "none", author="ann", comment="x" * 5000)
        n += 1
except ProjectError as error:
    print(n, str(error).splitlines()[0].partition(": ")[2])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes")
def test_a_limit_of_the_system_is_reported_and_loses_no_decision(path):
    with Project.open(path) as project:
        before = len(list(project.log()))
    done = run_python("-c", LIMITED, path)
    assert done.returncode == 0, done.stderr
    n, said = done.stdout.strip().split(" ", 1)
    assert said == "the disk is full or cannot be written; the last change was not saved"
    with Project.open(path) as project:
        assert len(list(project.log())) == before + int(n)


def test_building_on_a_full_disk_leaves_no_file(tmp_path, monkeypatch):
    from kernelwood.web import building

    def limited(connection):
        building_schema(connection)
        connection.execute("PRAGMA max_page_count = 40")

    building_schema = building.create_schema
    monkeypatch.setattr(building, "create_schema", limited)
    with pytest.raises(ProjectError, match="disk is full"):
        build_project(tmp_path / "a.kwp", [kw.Document(f"{TEXT} " * 200)], entities=NAMES)
    assert list(tmp_path.iterdir()) == []


OPENED = """
import os, sys
from kernelwood.web.project import Project, ProjectError
Project.open(sys.argv[2]).close()  # with all imports
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for read_only in (False, True):
    try:
        with Project.open(sys.argv[1], read_only=read_only) as project:
            print(len(project.current()))
    except ProjectError as error:
        print(error.hint)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="permissions")
def test_a_file_that_cannot_be_written_opens_for_reading(path):
    folder = Path(mkdtemp(prefix="kernelwood-test-"))  # which other users may enter
    try:
        locked = Path(shutil.copy(path, folder / "a.kwp"))
        locked.chmod(0o444)
        folder.chmod(0o555)
        done = run_python("-c", OPENED, locked, path)
        assert done.returncode == 0, done.stderr
        said, n = done.stdout.splitlines()
        assert "--read-only" in said
        assert int(n) == 9
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


# Several processes.


HOLDING = """
import sys, time
from kernelwood.web.project import Project
project = Project.open(sys.argv[1])
print("open", flush=True)
time.sleep(1000)
"""


def test_a_process_that_holds_the_project_is_named(path):
    process = start_python("-c", HOLDING, path)
    try:
        assert process.stdout.readline() == "open\n"
        with pytest.raises(ProjectError, match=rf"process {process.pid}(.|\n)*--read-only"):
            Project.open(path)
        with Project.open(path, read_only=True) as project:
            assert len(project.current()) == 9
    finally:
        process.kill()
        process.communicate()
    # The lock ends with the process.
    with Project.open(path) as project:
        project.decide([0], "none", author="ann")


DECIDING = """
import sys
from kernelwood.web.project import Project
project = Project.open(sys.argv[1])
print("ready", flush=True)
number = 0
while True:
    number += 1
    rows = [(number + place) % 10 for place in range(1 + number % 3)]
    made = project.decide(rows, "none", author=sys.argv[2], token=f"{sys.argv[2]}-{number}")
    sys.stdout.write(" ".join(str(one.id) for one in made) + "\\n")
    sys.stdout.flush()
    if number % 7 == 0:
        project.set("last", number)
"""


def kill_while_deciding(path, n_kills, seed):
    """Kill a process that decides n times; check that all that it confirmed is there, once."""
    rng = np.random.default_rng(seed)
    confirmed = [one.id for one in _log(path)]
    for kill in range(n_kills):
        process = start_python("-c", DECIDING, path, f"p{kill}")
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        lines = [process.stdout.readline() for _ in range(int(rng.integers(1, 40)))]
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read()  # communicate() leaves out what readline() has read ahead
        process.communicate()
        complete = rest.splitlines(keepends=True)
        if complete and not complete[-1].endswith("\n"):
            complete.pop()
        confirmed += [int(number) for line in (*lines, *complete) for number in line.split()]
        log = _log(path)
        ids = [one.id for one in log]
        assert len(set(ids)) == len(ids)
        assert set(confirmed) <= set(ids)
        # One batch may be on the disk without being confirmed.
        unconfirmed = {one.batch for one in log if one.id not in set(confirmed)}
        assert len(unconfirmed) <= kill + 1
        sizes = {}
        for one in log:
            sizes.setdefault(one.batch, []).append(one)
        for decisions in sizes.values():
            number = int(decisions[0].author[1:] or 0) if decisions[0].author != "ann" else None
            assert number is None or len(decisions) in (1, 2, 3)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    tokens = connection.execute("SELECT count(token), count(DISTINCT token) FROM batches")
    assert len(set(tokens.fetchone())) == 1
    connection.close()


def _log(path):
    with Project.open(path) as project:
        return list(project.log())


def test_killed_processes_lose_no_confirmed_decision(path):
    kill_while_deciding(path, 1, 0)


@pytest.mark.slow
def test_many_killed_processes_lose_no_confirmed_decision(path):
    kill_while_deciding(path, 20, 1)


BUILDING = """
import sys
import kernelwood as kw
from kernelwood.entities import Dictionary
from kernelwood.web.building import build_project
def report(stage, done, total):
    print(stage, flush=True)
    if stage == sys.argv[2]:
        sys.stdin.read()
names = Dictionary([("Raf", "protein"), ("Ras", "protein")])
build_project(sys.argv[1], [kw.Document("Raf binds Ras.")], entities=names, progress=report)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="interrupt"),
        pytest.param(signal.SIGKILL, id="kill", marks=pytest.mark.slow),
    ],
)
def test_a_killed_build_leaves_no_project(tmp_path, number):
    path = tmp_path / "a.kwp"
    process = start_python("-c", BUILDING, path, "saving", stdin=subprocess.PIPE)
    while process.stdout.readline() != "saving\n":
        assert process.poll() is None
    stop(process, number)
    assert not path.exists()
    if number == signal.SIGINT:
        assert list(tmp_path.iterdir()) == []
    with build_project(path, [kw.Document("Raf binds Ras.")], entities=NAMES) as project:
        assert len(project.candidates) == 1
