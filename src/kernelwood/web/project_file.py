"""Files of projects: schema, migrations, checks at opening, and the lock of the one writer.

A project is one SQLite file. Its application id identifies it as a project, its user version is the
version of the schema. Tables of user actions are append-only: triggers refuse changes.

While a process writes to ``name.kwp``, it holds a lock of the operating system on the empty file
``name.kwp-lock``. The system releases it when the process ends, even if it is killed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from kernelwood.errors import KernelwoodError
from kernelwood.io import FileInUseError, FileLock

__all__ = [
    "APPLICATION_ID",
    "MIGRATIONS",
    "ProjectError",
    "ProjectLock",
    "check_file",
    "connect",
    "create_schema",
    "damaged",
    "migrate",
    "open_reader",
    "open_writer",
    "remove_journal",
    "remove_remains",
    "translated",
]

APPLICATION_ID = 0x4B575031  # "KWP1"
_BUSY = 10.0  # seconds to wait for a lock of SQLite
_RESTORE = "restore the file from a backup"

_TABLES = """
CREATE TABLE documents (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    held_out INTEGER NOT NULL,
    n_sentences INTEGER NOT NULL,
    n_candidates INTEGER NOT NULL
);
CREATE TABLE texts (
    document INTEGER PRIMARY KEY REFERENCES documents(number),
    text TEXT NOT NULL,
    annotation BLOB NOT NULL
);
CREATE TABLE sentences (
    number INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents(number),
    name TEXT NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    object BLOB NOT NULL
);
CREATE INDEX sentences_of_documents ON sentences(document);
CREATE TABLE entities (
    document INTEGER NOT NULL REFERENCES documents(number),
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    text TEXT NOT NULL,
    spans TEXT NOT NULL,
    sentence INTEGER REFERENCES sentences(number),
    place INTEGER,
    PRIMARY KEY (document, position)
) WITHOUT ROWID;
CREATE INDEX types_of_entities ON entities(type);
CREATE TABLE candidates (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    sentence INTEGER NOT NULL REFERENCES sentences(number),
    first INTEGER NOT NULL,
    second INTEGER NOT NULL,
    annotation TEXT,
    path INTEGER NOT NULL
);
CREATE TABLE types (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    symmetric INTEGER NOT NULL,
    description TEXT NOT NULL,
    first_role TEXT NOT NULL,
    second_role TEXT NOT NULL
);
CREATE TABLE batches (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    token TEXT UNIQUE
);
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    batch INTEGER NOT NULL REFERENCES batches(number),
    candidate INTEGER NOT NULL REFERENCES candidates(number),
    label TEXT,
    time REAL NOT NULL,
    author TEXT NOT NULL,
    comment TEXT NOT NULL,
    predicted TEXT,
    probability REAL,
    weight REAL,
    model INTEGER
);
CREATE INDEX decisions_of_batches ON decisions(batch);
CREATE TABLE undos (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    batch INTEGER UNIQUE REFERENCES batches(number),
    time REAL NOT NULL,
    author TEXT NOT NULL,
    token TEXT UNIQUE
);
CREATE TABLE comments (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    candidate INTEGER NOT NULL REFERENCES candidates(number),
    text TEXT NOT NULL,
    time REAL NOT NULL,
    author TEXT NOT NULL,
    decision INTEGER NOT NULL
);
CREATE TABLE models (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    n_decisions INTEGER NOT NULL,
    classes TEXT NOT NULL,
    threshold REAL NOT NULL,
    facts TEXT NOT NULL,
    probabilities BLOB
);
CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE blobs (
    name TEXT NOT NULL,
    part INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (name, part)
);
"""
_APPEND_ONLY = ("batches", "decisions", "undos", "comments")
# Tables that are checked at opening; the others are large, and checked where they are read.
_CHECKED = ("documents", "candidates", "types", *_APPEND_ONLY, "settings")


def _first_version(connection: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    for table in _APPEND_ONLY:
        for action in ("UPDATE", "DELETE"):
            connection.execute(
                f"CREATE TRIGGER no_{action.lower()}_of_{table} BEFORE {action} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
            )


# Functions that bring the schema from version i to version i + 1. To change the schema, append a
# function; never change one that was released.
MIGRATIONS: list[Callable[[sqlite3.Connection], None]] = [_first_version]


class ProjectError(KernelwoodError, ValueError):
    """A project file cannot be read, written or made, or a value cannot be stored in it.

    Parameters
    ----------
    problem : str
        What is wrong, in one sentence.
    path : str or PathLike, optional
        The file.
    hint : str, optional
        How to fix it.
    """

    def __init__(
        self,
        problem: str,
        *,
        path: str | os.PathLike[str] | None = None,
        hint: str | None = None,
    ) -> None:
        self.problem = problem
        self.path = None if path is None else os.fspath(path)
        self.hint = hint
        text = problem if self.path is None else f"{self.path}: {problem}"
        super().__init__(f"{text}\n    {hint}" if hint else text)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise `ProjectError` in place of errors of SQLite and of the file system."""
    try:
        yield
    except sqlite3.Error as failure:
        raise _project_error(failure, path) from failure
    except UnicodeDecodeError as failure:  # of a text, or of a message of SQLite that quotes one
        raise damaged(path, "a text is not valid UTF-8") from failure
    except OSError as failure:
        reason = failure.strerror or str(failure)
        # Checks of kernelwood raise errors with a text of their own.
        is_own = reason != os.strerror(failure.errno or 0)
        text = reason if is_own else f"the system reports: {reason}"
        raise ProjectError(text, path=path) from failure


def damaged(path: Path, what: str) -> ProjectError:
    """Return the error of a file whose contents are not those of a project."""
    return ProjectError(f"the project file is damaged: {what}", path=path, hint=_RESTORE)


def _project_error(failure: sqlite3.Error, path: Path) -> ProjectError:
    said = str(failure)
    if isinstance(failure, sqlite3.ProgrammingError):
        return ProjectError("the project is closed", path=path)
    if isinstance(failure, (sqlite3.IntegrityError, sqlite3.InternalError)):
        return damaged(path, said)
    if "disk is full" in said or "disk I/O" in said:
        return ProjectError(
            "the disk is full or cannot be written; the last change was not saved",
            path=path,
            hint="free some disk space, then repeat the change",
        )
    if "readonly" in said:
        return ProjectError(
            "the file cannot be written", path=path, hint="open it with --read-only"
        )
    if "locked" in said or "busy" in said:
        return ProjectError(
            "another program keeps the file locked", path=path, hint="close that program"
        )
    if "unable to open" in said:
        return ProjectError(
            "the file cannot be opened", path=path, hint="check the permissions of file and folder"
        )
    if "not a database" in said:
        return _not_a_project(path)
    return damaged(path, said)


def _not_a_project(path: Path) -> ProjectError:
    return ProjectError(
        "the file is not a kernelwood project",
        path=path,
        hint="choose a new name to create a project: kernelwood review NEW.kwp TEXTS",
    )


def connect(path: Path, *, mode: str) -> sqlite3.Connection:
    """Return a connection to a file; ``mode`` is ``"ro"``, ``"rw"``, ``"rwc"`` or ``"immutable"``.

    Transactions are explicit. The connection may be used by several threads, one at a time.
    """
    option = "mode=ro&immutable=1" if mode == "immutable" else f"mode={mode}"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{option}",
        uri=True,
        timeout=_BUSY,
        isolation_level=None,
        check_same_thread=False,
    )
    # Functions with side effects cannot be called by the schema of a crafted file.
    for setting in ("foreign_keys = ON", "trusted_schema = OFF", "cell_size_check = ON"):
        connection.execute(f"PRAGMA {setting}")
    return connection


def open_reader(path: Path) -> sqlite3.Connection:
    """Return a connection that only reads, while another process may write."""
    connection = connect(path, mode="ro")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as failure:
        connection.close()
        refused = any(said in str(failure) for said in ("unable to open", "readonly"))
        if not refused or _sibling(path, "-wal").exists():
            raise
        # In a folder that cannot be written, a file without a journal does not change.
        return connect(path, mode="immutable")
    except BaseException:
        connection.close()
        raise
    return connection


def open_writer(path: Path) -> sqlite3.Connection:
    """Return a connection whose commits are on the disk before they return."""
    connection = connect(path, mode="rw")
    try:
        _check_application(connection, path)  # before a foreign file is changed
        mode = _pragma(connection, "journal_mode = WAL")
        if mode != "wal":
            raise ProjectError(
                "the file system does not support write-ahead logging",
                path=path,
                hint="copy the file to a local disk",
            )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")  # fails if the file cannot be written
        connection.execute("ROLLBACK")
    except BaseException:
        connection.close()
        raise
    return connection


def _pragma(connection: sqlite3.Connection, text: str) -> Any:
    row = connection.execute(f"PRAGMA {text}").fetchone()
    return None if row is None else row[0]


def create_schema(connection: sqlite3.Connection) -> None:
    """Make the tables of a new project."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    _run_migrations(connection, 0)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema of a project to the current version, completely or not at all."""
    version = _pragma(connection, "user_version")
    if version < len(MIGRATIONS):
        _run_migrations(connection, version)


def _run_migrations(connection: sqlite3.Connection, version: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for function in MIGRATIONS[version:]:
            function(connection)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def check_file(connection: sqlite3.Connection, path: Path, *, writable: bool) -> None:
    """Raise `ProjectError` unless this is a sound project of a version that can be read.

    Parameters
    ----------
    connection : sqlite3.Connection
    path : Path
        For messages.
    writable : bool
        Whether an older version may be migrated afterwards.
    """
    _check_application(connection, path)
    version = _pragma(connection, "user_version")
    if not isinstance(version, int) or version < 1:
        raise damaged(path, f"its version is {version}")
    if version > len(MIGRATIONS):
        raise ProjectError(
            f"the project has version {version}, and this kernelwood reads versions up to "
            f"{len(MIGRATIONS)}",
            path=path,
            hint="update it: pip install --upgrade kernelwood",
        )
    if version < len(MIGRATIONS) and not writable:
        raise ProjectError(
            f"the project has the older version {version}",
            path=path,
            hint="open it once without --read-only to update it",
        )
    if _schema(connection) != _schema_of_version(version):
        raise damaged(path, "its tables are not those of a project")
    _check_size(connection, path)
    for table in _CHECKED:
        for (said,) in connection.execute(f"PRAGMA quick_check({table})"):
            if said != "ok":
                raise damaged(path, f"table {table}: {said}")


def _check_application(connection: sqlite3.Connection, path: Path) -> None:
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise _not_a_project(path)


def _check_size(connection: sqlite3.Connection, path: Path) -> None:
    """Raise `ProjectError` if the end of the file is missing."""
    journal = _sibling(path, "-wal")
    if not journal.exists() or not journal.stat().st_size:
        expected = _pragma(connection, "page_count") * _pragma(connection, "page_size")
        if path.stat().st_size < expected:
            raise damaged(path, f"it has {path.stat().st_size:,} bytes instead of {expected:,}")


def _schema(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
    """Return all tables, indexes and triggers with their definitions."""
    found = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%'"
    )
    return sorted(found.fetchall(), key=repr)


@cache
def _schema_of_version(version: int) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for function in MIGRATIONS[:version]:
            function(connection)
        return _schema(connection)


def _sibling(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def remove_journal(path: Path) -> None:
    """Move what the journal beside a file holds into the file, and delete the journal.

    A connection that only reads cannot do this when it is closed. Without effect while another
    connection is open, or if the file cannot be written.
    """
    if _sibling(path, "-wal").exists():
        with suppress(sqlite3.Error), closing(connect(path, mode="rw")) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def remove_remains(path: Path, suffixes: Sequence[str] = ("-wal", "-shm", "-journal")) -> None:
    """Delete journals beside a file, which would be applied to a new file of this name."""
    for suffix in suffixes:
        _sibling(path, suffix).unlink(missing_ok=True)


class ProjectLock(FileLock):
    """The right to write to a project, held by one process at a time.

    Parameters
    ----------
    path : Path
        The project file; the lock is on the file ``path-lock``, which has the process id.

    Raises
    ------
    ProjectError
        If another process, or another object of this process, holds the lock.
    """

    def __init__(self, path: Path) -> None:
        try:
            super().__init__(_sibling(path, "-lock"))
        except FileInUseError as failure:
            raise ProjectError(
                f"the project is in use by {failure.holder}",
                path=path,
                hint="close it there, or open it here with --read-only",
            ) from failure
        except OSError as failure:
            raise ProjectError(
                f"the folder cannot be written: {failure.strerror}",
                path=path,
                hint="open the project with --read-only, or copy it to another folder",
            ) from failure
