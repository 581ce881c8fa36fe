"""Projects of the review pages: cells, rows, stored models and pages of the SQLite file changed."""

from __future__ import annotations

import base64
import logging
import random
import sqlite3
import zlib
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any

from fuzz.edits import (
    FLOATS,
    INTEGERS,
    STRINGS,
    apply_bytes,
    apply_json,
    cut,
    draw_bytes,
    draw_json,
    dump,
)
from fuzz.folders import temporary_folder
from fuzz.kinds import REFUSED, Kind, Mutation, Use
from fuzz.model_samples import golden, module_of, sample
from fuzz.models import Forge
from kernelwood.errors import KernelwoodError
from kernelwood.structures import decode_json
from kernelwood.web import EXPORTS, Project, Session, build_project, compare, create_review, export

TOKEN = "a-token-of-enough-characters"
HEADERS = {"x-kernelwood-token": TOKEN, "x-kernelwood": "1", "content-type": "application/json"}
# Exports that do not train a model.
_EXPORTS = [name for name in EXPORTS if name != "model.kw"]
_ROUTES = (
    "/api/project", "/api/status", "/api/next", "/api/candidates", "/api/candidates/0",
    "/api/candidates/3/evidence", "/api/candidates/0/similar", "/api/documents",
    "/api/documents/0", "/api/facts", "/api/network", "/api/model", "/api/exports",
)  # fmt: skip
_WAIT = 30  # seconds


class FailedError(Exception):
    """An answer of 500, or an exception in the background."""


class BackgroundErrors(logging.Handler):
    """Keeps exceptions of other types than ours that are logged."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[BaseException] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the exception of a record."""
        failure = record.exc_info[1] if record.exc_info else None
        if failure is not None and not isinstance(failure, (KernelwoodError, OSError)):
            self.found.append(failure)

    def check(self) -> None:
        """Raise the first exception."""
        if self.found:
            found, self.found = self.found[0], []
            raise found


class ProjectKind(Kind):
    """Files of projects."""

    def __init__(self) -> None:
        super().__init__("project/file")
        self._errors = BackgroundErrors()

    @cached_property
    def _sample(self) -> bytes:
        """A project with decisions, comments, types and a model."""
        with temporary_folder() as folder:
            path = Path(folder) / "honest.kwp"
            model = Path(folder) / "model.kw"
            model.write_bytes(sample("relation-extractor"))
            build_project(path, golden()._annotated()).close()
            with Project.open(path) as project:
                project.add_type("eats", description="food")
                session = Session(project, author="tester").start()
                labels = ["hears(e1,e2)", "none", "eats(e1,e2)", "none", "hears(e2,e1)", "none"]
                for row, label in enumerate(labels):
                    if row < len(project.candidates):
                        session.decide([row], label)
                session.comment(0, "a comment")
                session.undo()
                session.wait(_WAIT)
                session.close()
            return path.read_bytes()

    @cached_property
    def _tables(self) -> dict[str, tuple[list[str], list[tuple[Any, ...]]]]:
        """Columns and rows of all tables."""
        with closing(_in_memory(self._sample)) as connection:
            found = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            )
            made = {}
            for (name,) in found.fetchall():
                cursor = connection.execute(f"SELECT * FROM {name}")
                made[name] = [column[0] for column in cursor.description], cursor.fetchall()
            return made

    @cached_property
    def _views(self) -> Forge:
        _, rows = self._tables["blobs"]
        return Forge(b"".join(data for name, _, data in rows if name == "views"))

    def prepare(self) -> None:
        """Make the honest file."""
        self._tables, self._views  # noqa: B018 - made when first used

    def start(self) -> None:
        """Watch the background."""
        logger = logging.getLogger("kernelwood")
        logger.addHandler(self._errors)
        logger.propagate = False

    # Drawing.

    def draw(self, rng: random.Random) -> list[Mutation]:
        """Return one to three changes."""
        return [self._draw(rng) for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))]

    def _draw(self, rng: random.Random) -> Mutation:
        match rng.randrange(12):
            case 0:
                return draw_bytes(self._sample, rng)
            case 1:
                page = 4096 * rng.randrange(len(self._sample) // 4096)
                return cut(page + rng.randrange(100), 1, rng.randbytes(1))
            case 2 | 3:
                return {"op": "model", "mutations": self._views.draw(rng)}
        table = rng.choice([name for name, (_, rows) in self._tables.items() if rows])
        columns, rows = self._tables[table]
        row = rng.randrange(len(rows))
        change: Mutation = {"table": table, "row": row}
        match rng.randrange(8):
            case 0:
                return {**change, "op": "delete"}
            case 1:
                return {**change, "op": "copy"}
        place = rng.randrange(len(columns))
        change["column"] = columns[place]
        inner = _json_of(rows[row][place])
        if inner is not None and rng.random() < 0.8:
            return {**change, **draw_json(inner, rng), "op": "json-cell"}
        return {**change, "op": "cell", "value": _cell(rng)}

    # Applying.

    def forge(self, mutations: list[Mutation], path: Path) -> None:
        """Write the changed file."""
        path.write_bytes(self._sample)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA journal_mode = DELETE")
            triggers = connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall()
            for name, _ in triggers:
                connection.execute(f"DROP TRIGGER {name}")
            for change in mutations:
                if change["op"] != "bytes":
                    self._apply(connection, change)
            for _, sql in triggers:
                connection.execute(sql)
        data = path.read_bytes()
        for change in mutations:
            if change["op"] == "bytes":
                data = apply_bytes(data, change)
        path.write_bytes(data)

    def _apply(self, connection: sqlite3.Connection, change: Mutation) -> None:
        if change["op"] == "model":
            forged = self._views.forge(change["mutations"])
            connection.execute("UPDATE blobs SET data = ? WHERE name = 'views'", (forged,))
            return
        columns, rows = self._tables[change["table"]]
        values = list(rows[change["row"]])
        where = " AND ".join(f"{name} IS ?" for name in columns)
        table = change["table"]
        try:
            match change["op"]:
                case "delete":
                    connection.execute(f"DELETE FROM {table} WHERE {where}", values)
                case "copy":
                    number = values[0] + 1000 if isinstance(values[0], int) else f"{values[0]}+"
                    marks = ", ".join("?" * len(values))
                    connection.execute(
                        f"INSERT INTO {table} VALUES ({marks})", [number, *values[1:]]
                    )
                case _:
                    place = columns.index(change["column"])
                    value = _changed_cell(values[place], change)
                    connection.execute(
                        f"UPDATE {table} SET {change['column']} = ? WHERE {where}", [value, *values]
                    )
        except sqlite3.Error:  # a constraint of the schema
            return

    # Use.

    def run(self, mutations: list[Mutation]) -> str:
        """Open the changed file and use it."""
        with temporary_folder() as folder:
            path = Path(folder) / "project.kwp"
            self.forge(mutations, path)
            use = Use()
            outcomes = [self._open(path, read_only, use) for read_only in (True, False)]
            return REFUSED if outcomes == [REFUSED, REFUSED] else use.outcome

    def _open(self, path: Path, read_only: bool, use: Use) -> str | None:
        try:
            project = Project.open(path, read_only=read_only)
        except KernelwoodError:
            return REFUSED
        with project:
            use_project(project, use)
            if read_only:
                use(export, project, path.parent / "out", _EXPORTS, annotation=True)
                use(lambda: compare(project, project).to_dict())
            else:
                use(self._review, project)
                use_writing(project, use)
        return None

    def _review(self, project: Project) -> None:
        """Open the pages of a project."""
        session = Session(project, author="tester").start()
        try:
            session.wait(_WAIT)
            app = create_review(session, token=TOKEN)
            asgi = module_of("tests/web/asgi.py")
            for route in _ROUTES:
                answer = asgi.ask(app, asgi.scope("GET", route, HEADERS))
                self._errors.check()
                if answer.status == 500:
                    raise FailedError(f"{route}: {answer.body[:200]!r}")
        finally:
            session.close()
        self._errors.check()


def use_project(project: Project, use: Use) -> None:
    """Read everything in a project."""
    use(repr, project)
    n_documents, n_candidates = len(project.documents()), len(project.candidates)
    for number in range(min(n_documents, 3)):
        for method in (project.document, project.document_text, project.entity_ids):
            use(method, number)
        use(project.sentence_numbers, number)
    for number in range(min(project.n_sentences, 12)):
        use(project.sentence, number)
        use(project.document_of_sentence, number)
    for row in range(min(n_candidates, 12)):
        use(project.candidate, row)
    for method in (
        project.sentence_texts, project.mentions, project.entity_types, project.views,
        project.prior, project.prior_model, project.dictionary, project.types, project.current,
        project.comments, project.settings, project.latest_model, project.model_history,
    ):  # fmt: skip
        use(method)
    use(lambda: list(project.log()))


def use_writing(project: Project, use: Use) -> None:
    """Change a project."""
    use(project.decide, [0], "none", author="me")
    use(project.undo, author="me")
    use(project.comment, 0, "again", author="me")
    use(project.add_type, "new")
    use(project.set, "order", "random")


def _in_memory(data: bytes) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    # The journal of a file in memory cannot be a write-ahead log.
    connection.deserialize(data[:18] + b"\1\1" + data[20:])
    return connection


def _json_of(value: Any) -> Any:
    """Return the JSON value in a cell, None if there is none."""
    try:
        if isinstance(value, bytes):
            value = zlib.decompress(value).decode()
        made = decode_json(value) if isinstance(value, str) else None
        return made if isinstance(made, (dict, list)) else None
    except (ValueError, zlib.error):
        return None


def _cell(rng: random.Random) -> Any:
    match rng.randrange(5):
        case 0:
            return rng.choice(INTEGERS)
        case 1:
            return rng.choice([one for one in FLOATS if one != "nan"])
        case 2:
            return rng.choice([one for one in STRINGS if one != "\ud800"])
        case 3:
            return {"blob": base64.b64encode(rng.randbytes(rng.choice((0, 1, 8)))).decode()}
        case _:
            return None


def _changed_cell(value: Any, change: Mutation) -> Any:
    if change["op"] == "json-cell":
        made = dump(apply_json(_json_of(value), change))
        return zlib.compress(made) if isinstance(value, bytes) else made.decode("utf-8", "replace")
    given = change["value"]
    if isinstance(given, dict):
        return base64.b64decode(given["blob"])
    return float(given) if given in ("inf", "-inf") else given


def kinds() -> list[Kind]:
    """Return the kind of projects."""
    return [ProjectKind()]
