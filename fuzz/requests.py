"""Requests to the service and to the review pages, in this process; and bytes sent to a server."""

from __future__ import annotations

import contextlib
import json
import random
import select
import socket
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import kernelwood as kw
from fuzz.edits import STRINGS, apply_bytes, apply_json, draw_bytes, draw_json, dump
from fuzz.folders import temporary_folder
from fuzz.kinds import ERROR, REFUSED, USED, Kind, Mutation, NotANumberError
from fuzz.model_samples import golden, module_of
from fuzz.projects import HEADERS, TOKEN, BackgroundErrors, FailedError
from kernelwood.web import (
    Limits,
    Project,
    Server,
    Session,
    build_project,
    create_review,
    create_service,
)

_TEXT = "Owl hears mouse. An owl and a mouse wait."
_ENTITIES = [
    {"id": "a", "type": "animal", "start": 0, "end": 3, "text": "Owl"},
    {"id": "b", "type": "animal", "spans": [[10, 15]]},
]
_CLAIM = {
    "id": "c",
    "text": "owl hears mouse",
    "entities": [
        {"id": "a", "start": 0, "end": 3, "type": "animal"},
        {"id": "b", "start": 10, "end": 15, "type": "animal"},
    ],
    "relation": {"type": "hears", "first": "a", "second": "b"},
}
_SERVICE: list[tuple[str, str, Any]] = [
    ("POST", "/v1/extract", {"text": _TEXT, "entities": _ENTITIES, "all": True, "evidence": 2}),
    (
        "POST",
        "/v1/extract",
        {
            "documents": [{"id": "d", "text": _TEXT, "entities": _ENTITIES}, {"text": "No."}],
            "threshold": 0.5,
            "find_entities": True,
            "terms": [["owl", "animal"], ["mouse", "animal", "DB:1"]],
            "model": "main",
        },
    ),
    ("POST", "/v1/verify", {"claims": [_CLAIM], "evidence": 1, "map": {"eats": "hears"}}),
    ("GET", "/v1/model", None),
    ("GET", "/v1/models", None),
    ("GET", "/health", None),
    ("GET", "/metrics", None),
    ("GET", "/openapi.json", None),
]
_REVIEW: list[tuple[str, str, Any]] = [
    ("POST", "/api/decisions", {"candidates": [0, 1], "label": "none", "token": "t"}),
    ("POST", "/api/undo", {"token": "u"}),
    ("POST", "/api/comments", {"candidate": 0, "text": "why"}),
    ("POST", "/api/types", {"name": "eats", "symmetric": False, "description": "food"}),
    ("POST", "/api/settings", {"order": "random", "author": "me", "threshold": 0.4}),
    ("POST", "/api/train", {}),
    ("POST", "/api/similar", {"text": "owl hears mouse", "limit": 2}),
    ("POST", "/api/try", {"text": _TEXT}),
    ("GET", "/api/next?order=random&skip=1,2", None),
    ("GET", "/api/candidates?label=none&start=0&n=5&query=owl", None),
    ("GET", "/api/candidates/0", None),
    ("GET", "/api/candidates/1/evidence", None),
    ("GET", "/api/candidates/2/similar", None),
    ("GET", "/api/documents?start=0&n=5", None),
    ("GET", "/api/documents/0", None),
    ("GET", "/api/similar?candidate=0&limit=3", None),
    ("GET", "/api/facts?relation=hears", None),
    ("GET", "/api/network", None),
    ("GET", "/api/export/decisions.jsonl", None),
    ("GET", "/static/review.css", None),
    ("GET", "/", None),
]  # fmt: skip
_HEADERS = (
    ("content-type", "text/plain"), ("content-type", "application/json; charset=utf-16"),
    ("content-length", "-1"), ("content-length", "99999999999999999999"), ("host", "evil.example"),
    ("host", ""), ("origin", "http://evil.example"), ("content-encoding", "gzip"),
    ("x-kernelwood-token", "é"), ("authorization", "Bearer \xff"), ("cookie", "a" * 5000),
    ("accept", "\0"), ("transfer-encoding", "chunked"), ("range", "bytes=0-18446744073709551615"),
)  # fmt: skip


_WAIT = 0.3  # seconds for an answer to a message that may not be complete


class RequestKind(Kind):
    """Requests to one application."""

    def __init__(self, name: str, requests: list[tuple[str, str, Any]]) -> None:
        super().__init__(f"requests/{name}")
        self.requests = requests
        self._app: Any = None
        self._errors = BackgroundErrors()

    def application(self) -> Any:
        """Return the application, made in the process that uses it: it has threads."""
        raise NotImplementedError

    def start(self) -> None:
        """Start the application, and watch its log."""
        import logging

        for name in ("kernelwood", "uvicorn.error"):
            logger = logging.getLogger(name)
            logger.addHandler(self._errors)
            logger.propagate = False
        self._app = self.application()

    def draw(self, rng: random.Random) -> list[Mutation]:
        """Return a request and one to three changes."""
        number = rng.randrange(len(self.requests))
        _, path, body = self.requests[number]
        made: list[Mutation] = [{"op": "sample", "number": number}]
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
            kind = rng.randrange(10)
            if kind == 0:
                made.append({"op": "header", "value": rng.randrange(len(_HEADERS))})
            elif kind == 1:
                verbs = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "", "\0")
                made.append({"op": "method", "value": rng.choice(verbs)})
            elif kind == 2 or body is None:
                made.append(self._draw_path(path, rng))
            elif kind == 3:
                made.append(draw_bytes(json.dumps(body).encode(), rng))
            elif kind == 4:
                made.append({"op": "chunks", "value": rng.choice((1, 2, 7)), "end": False})
            else:
                made.append(draw_json(body, rng))
        return made

    def _draw_path(self, path: str, rng: random.Random) -> Mutation:
        before, _, query = path.partition("?")
        if query and rng.random() < 0.7:
            names = [part.partition("=")[0] for part in query.split("&")]
            values = [*STRINGS, "-1", "99999999999999999999", "1e999", "0,1,x", "NaN", "%00", "10"]
            value = quote(rng.choice(values).encode("utf-8", "surrogatepass"))
            return {"op": "path", "value": f"{before}?{rng.choice(names)}={value}&{query}"}
        parts = before.split("/")
        wrong = ["..", "%2e%2e", "99999999999999999999", "-1", "0", "\0", "é", "x" * 3000, ""]
        parts[rng.randrange(len(parts))] = rng.choice(wrong)
        return {"op": "path", "value": "/".join(parts) + (f"?{query}" if query else "")}

    def run(self, mutations: list[Mutation]) -> str:
        """Send the request, and judge the answer."""
        method, path, body = self.requests[0]
        headers, raw, chunks, end = dict(HEADERS), None, 1, True
        for change in mutations:
            match change["op"]:
                case "sample":
                    method, path, body = self.requests[change["number"]]
                case "header":
                    name, value = _HEADERS[change["value"]]
                    headers[name] = value
                case "method":
                    method = change["value"]
                case "path":
                    path = change["value"]
                case "chunks":
                    chunks, end = change["value"], change["end"]
                case "bytes":
                    raw = apply_bytes(_bytes(body) if raw is None else raw, change)
                case _:
                    body = apply_json(body, change)
        return self._ask(method, path, headers, _bytes(body) if raw is None else raw, chunks, end)

    def _ask(
        self, method: str, path: str, headers: dict[str, str], data: bytes, chunks: int, end: bool
    ) -> str:
        asgi = module_of("tests/web/asgi.py")
        before, _, query = path.partition("?")
        request = asgi.scope(method, before, headers, query=query)
        size = max(1, -(-len(data) // chunks))
        pieces = [data[begin : begin + size] for begin in range(0, len(data), size)]
        answer = asgi.ask(self._app, request, *pieces, end=end)
        if answer is None:  # the client went away
            self._errors.check()
            return REFUSED
        return self._judge(path, answer.status, answer.header("content-type"), answer.body)

    def _judge(self, path: str, status: int, content: str | None, body: bytes) -> str:
        """Return the outcome of an answer."""
        self._errors.check()
        if status == 500:
            raise FailedError(f"{path[:100]}: {body[:200]!r}")
        if content == "application/json" and body:
            json.loads(body, parse_constant=_refuse_constant)
        if status >= 500:
            return ERROR
        return REFUSED if status >= 400 else USED


def _bytes(body: Any) -> bytes:
    return b"" if body is None else dump(body)


def _refuse_constant(text: str) -> Any:
    raise NotANumberError(f"{text} in an answer")


class ServiceKind(RequestKind):
    """Requests to the service."""

    def __init__(self) -> None:
        super().__init__("service", _SERVICE)

    @cached_property
    def _models(self) -> dict[str, kw.RelationExtractor]:
        made = kw.RelationExtractor(
            "ridge", entities="learn", parser="biomedical", n_splits=2, random_state=1
        )
        return {"main": made.fit(golden()._annotated())}

    def prepare(self) -> None:
        """Fit the model."""
        self._models  # noqa: B018 - made when first used

    def application(self) -> Any:
        """Return the service."""
        return create_service(self._models, limits=Limits(seconds=8.0))


class SocketKind(ServiceKind):
    """Bytes sent to the service as it runs: requests, and messages that are not HTTP."""

    def __init__(self) -> None:
        RequestKind.__init__(self, "socket", _SERVICE)

    def start(self) -> None:
        """Start the server on a free port of the loopback interface."""
        super().start()
        self._server = Server(self._app).__enter__()

    def draw(self, rng: random.Random) -> list[Mutation]:
        """Return a request with changes, and changes of the bytes that are sent."""
        made = super().draw(rng)
        if rng.random() < 0.5:
            message = b"POST /v1/extract HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 2\r\n\r\n{}"
            made.append({"op": "wire", "change": draw_bytes(message, rng)})
        return made

    def run(self, mutations: list[Mutation]) -> str:
        """Send the message, and judge the answer."""
        self._changes = [one["change"] for one in mutations if one["op"] == "wire"]
        return super().run([one for one in mutations if one["op"] != "wire"])

    def _ask(
        self, method: str, path: str, headers: dict[str, str], data: bytes, chunks: int, end: bool
    ) -> str:
        address = urlsplit(self._server.url)
        sent = {"host": address.netloc, "content-length": str(len(data))}
        sent |= {"connection": "close", **headers}
        lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in sent.items()), "", ""]
        message = "\r\n".join(lines).encode("utf-8", "surrogatepass") + data
        for change in self._changes:
            message = apply_bytes(message, change)
        with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
            answer = _exchange(connection, message if end else message[: len(message) // 2])
        head, _, body = answer.partition(b"\r\n\r\n")
        first, *rest = head.split(b"\r\n")
        words = first.split()
        if len(words) < 2:
            self._errors.check()
            return REFUSED
        content = [line for line in rest if line.lower() == b"content-type: application/json"]
        return self._judge(path, int(words[1]), "application/json" if content else None, body)


def _exchange(connection: socket.socket, message: bytes) -> bytes:
    """Send a message; return the answer, or what comes after the end of a message without one."""
    answer = b""
    with contextlib.suppress(ConnectionError):  # an answer may come before the end
        connection.sendall(message)
        if not select.select([connection], [], [], _WAIT)[0]:
            connection.shutdown(socket.SHUT_WR)
        # The connection stays open after an answer if the message does not ask for its end.
        while (not answer or select.select([connection], [], [], _WAIT)[0]) and (
            chunk := connection.recv(1 << 16)
        ):
            answer += chunk
    return answer


class ReviewKind(RequestKind):
    """Requests to the review pages."""

    def __init__(self) -> None:
        super().__init__("review", _REVIEW)
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @cached_property
    def _project(self) -> bytes:
        with temporary_folder() as folder:
            path = Path(folder) / "honest.kwp"
            build_project(path, golden()._annotated()).close()
            return path.read_bytes()

    def prepare(self) -> None:
        """Build the project."""
        self._project  # noqa: B018 - made when first used

    def application(self) -> Any:
        """Return the pages of a new copy of the project."""
        self._folder = temporary_folder()
        path = Path(self._folder.name) / "project.kwp"
        path.write_bytes(self._project)
        session = Session(Project.open(path), author="tester").start()
        session.wait(60)
        return create_review(session, token=TOKEN)


def kinds() -> list[Kind]:
    """Return the kinds of requests."""
    return [ServiceKind(), ReviewKind(), SocketKind()]
