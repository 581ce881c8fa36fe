"""Routes of the review pages, which return JSON and HTML; other modules make their contents."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from kernelwood import __version__
from kernelwood.errors import KernelInputError, KernelwoodError
from kernelwood.structures import describe, shorten
from kernelwood.web.explore import Explorer
from kernelwood.web.fact_table import FactTable
from kernelwood.web.model_page import ModelPage
from kernelwood.web.presenting import type_objects
from kernelwood.web.project import ConflictError
from kernelwood.web.project_file import ProjectError
from kernelwood.web.security import ApiError, Guard, TokenGate, http_errors, read_json
from kernelwood.web.session import NotFoundError, Session

if TYPE_CHECKING:
    from jinja2 import Environment

T = TypeVar("T")

HEADER = "X-Kernelwood"  # of requests that change something; other sites cannot send it
_EVENTS = "/api/events"
_BEAT = 15.0  # seconds between two comments in the stream of events
_MAX_BODY = 1_000_000  # bytes
_TIMEOUT = 600.0  # seconds: an export trains a model
_MAX_GROUP = 1000  # candidates that are decided at once
_MAX_COMMENT = 2000  # characters
_MAX_NAME = 100  # characters of a relation type, or of an author
_MAX_TEXT = 20_000  # characters of a text to try
_MAX_ROWS = 200  # of a list
_MAX_REMARKS, _MAX_REMARK = 10, 300  # of an export, and characters of each
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_PAGES = {
    "queue": ("/", "Review"),
    "documents": ("/documents", "Documents"),
    "document": ("/documents/{number:int}", "Document"),
    "facts": ("/facts", "Facts"),
    "model": ("/model", "Model"),
    "try": ("/try", "Try a text"),
    "export": ("/export", "Export"),
}


def create_review(session: Session, *, token: str, hosts: tuple[str, ...] = ()) -> Starlette:
    """Return the application of the review pages.

    Parameters
    ----------
    session : Session
        Started.
    token : str
        Token of the address that is opened first.
    hosts : tuple of str
        Further names in ``Host`` headers that are allowed.
    """
    app = Starlette(
        routes=_Routes(session).listed(),
        middleware=[
            Middleware(
                Guard,
                hosts=hosts,
                gate=TokenGate(token, cookie=True),
                header=HEADER,
                max_body=_MAX_BODY,
                timeout=_TIMEOUT,
                streams=(_EVENTS,),
                known={
                    NotFoundError: (404, "not-found"),
                    ProjectError: (422, "project"),
                    KernelInputError: (422, "invalid"),
                    KernelwoodError: (422, "failed"),
                },
            )
        ],
        exception_handlers=http_errors(),
    )
    app.state.session = session
    return app


class _Routes:
    """The routes of a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.explorer = Explorer(session)
        self.facts, self.model = FactTable(session), ModelPage(session)

    def listed(self) -> list[Route]:
        """Return all routes."""
        get: dict[str, Callable[[Request], Any]] = {
            "/api/project": lambda request: self.explorer.project_object(),
            "/api/status": lambda request: self.session.status(),
            "/api/next": self._next,
            "/api/candidates": self._browse,
            "/api/candidates/{row:int}": lambda request: self.explorer.candidate(_row(request)),
            "/api/candidates/{row:int}/evidence": lambda request: self.explorer.evidence.of(
                _row(request)
            ),
            "/api/candidates/{row:int}/similar": lambda request: self.explorer.group(
                _row(request), _MAX_ROWS
            ),
            "/api/documents": self._documents,
            "/api/documents/{number:int}": lambda request: self.explorer.document(
                int(request.path_params["number"])
            ),
            "/api/similar": self._similar,
            "/api/facts": self._facts,
            "/api/network": self._network,
            "/api/model": lambda request: self.model.page(),
            "/api/exports": lambda request: self.explorer.exports(),
        }
        post: dict[str, Callable[[dict[str, Any]], Any]] = {
            "/api/decisions": self._decide,
            "/api/undo": self._undo,
            "/api/comments": self._comment,
            "/api/types": self._add_type,
            "/api/settings": self._configure,
            "/api/train": self._train,
            "/api/similar": self._similar_to_text,
            "/api/try": self._try,
        }
        return [
            *(Route(path, _page(name)) for name, (path, _) in _PAGES.items()),
            Route("/static/{name}", _static),
            Route(_EVENTS, self._events),
            Route("/api/export/{name}", self._export),
            *(Route(path, _answer_get(answer), methods=["GET"]) for path, answer in get.items()),
            *(Route(path, _answer_post(answer), methods=["POST"]) for path, answer in post.items()),
        ]

    # Reading.

    def _next(self, request: Request) -> dict[str, Any]:
        query = request.query_params
        skip = _numbers(query.get("skip", ""))
        pick = self.session.next(query.get("order") or None, skip)
        candidate = None if pick is None else self.explorer.candidate(pick.candidate, pick)
        return {"candidate": candidate, "left": self.session.left()}

    def _browse(self, request: Request) -> dict[str, Any]:
        query = request.query_params
        return self.explorer.browse(
            type=query.get("type", ""),
            decision=query.get("decision", "any"),
            document=_optional_int(query.get("document")),
            low=_fraction(query.get("low"), 0.0),
            high=_fraction(query.get("high"), 1.0),
            words=query.get("words", ""),
            sort=query.get("sort", "text"),
            **_slice(request),
        )

    def _documents(self, request: Request) -> dict[str, Any]:
        return self.explorer.documents(
            words=request.query_params.get("words", ""), **_slice(request)
        )

    def _similar(self, request: Request) -> dict[str, Any]:
        row = _optional_int(request.query_params.get("candidate"))
        if row is None:
            raise ApiError(422, "invalid", "give the number of a candidate")
        return self.explorer.similar(row, _slice(request)["limit"])

    def _facts(self, request: Request) -> dict[str, Any]:
        query = request.query_params
        return self.facts.table(
            type=query.get("type", ""),
            words=query.get("words", ""),
            low=_fraction(query.get("low"), 0.0),
            high=_fraction(query.get("high"), 1.0),
            decided=query.get("decided", "all"),
            sort=query.get("sort", "probability"),
            **_slice(request),
        )

    def _network(self, request: Request) -> dict[str, Any]:
        query = request.query_params
        n = _optional_int(query.get("n"))
        return self.facts.network(
            type=query.get("type", ""),
            low=_fraction(query.get("low"), 0.0),
            n=min(60 if n is None else max(1, n), 300),
        )

    async def _events(self, request: Request) -> Response:
        return StreamingResponse(
            self._stream(), media_type="text/event-stream", headers={"x-accel-buffering": "no"}
        )

    async def _stream(self) -> AsyncIterator[str]:
        """Yield the status after each change, and a comment now and then."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(changed.set)

        end = self.session.listen(wake)
        try:
            changed.set()
            while not self.session.closed:
                try:
                    await asyncio.wait_for(changed.wait(), _BEAT)
                except (TimeoutError, asyncio.TimeoutError):
                    yield ": still here\n\n"
                    continue
                changed.clear()
                status = await run_in_threadpool(self.session.status)
                yield f"event: status\ndata: {json.dumps(status)}\n\n"
        finally:
            end()

    async def _export(self, request: Request) -> Response:
        name = str(request.path_params["name"])
        predicted = request.query_params.get("predicted") == "1"
        made = await run_in_threadpool(self.explorer.export, name, predicted=predicted)
        remarks = [shorten(one, _MAX_REMARK) for one in made.remarks[:_MAX_REMARKS]]
        headers = {
            "content-disposition": f'attachment; filename="{made.name}"',
            f"{HEADER}-Remarks": json.dumps(remarks),
        }
        return Response(made.data, media_type=made.media_type, headers=headers)

    # Writing.

    def _decide(self, body: dict[str, Any]) -> dict[str, Any]:
        rows = _rows(body)
        label = _field(body, "label", (str, type(None)))
        expected = body.get("expected")
        if expected is not None:
            _check_expected(expected, len(rows))
        try:
            made = self.session.decide(
                rows,
                label,
                comment=_text(body, "comment", _MAX_COMMENT),
                token=_text(body, "token", _MAX_NAME),
                expected=expected,
            )
        except ConflictError as conflict:
            raise ApiError(
                409,
                "conflict",
                str(conflict),
                candidates=[self.explorer.candidate(row) for row in rows[:20]],
            ) from conflict
        saved = [{"candidate": one.candidate, "decision": one.id} for one in made]
        return {"saved": saved, "status": self.session.status()}

    def _undo(self, body: dict[str, Any]) -> dict[str, Any]:
        undone = self.session.undo(token=_text(body, "token", _MAX_NAME))
        first = undone[0].candidate if undone else None
        return {
            "undone": [one.candidate for one in undone],
            "candidate": None if first is None else self.explorer.candidate(first),
            "status": self.session.status(),
        }

    def _comment(self, body: dict[str, Any]) -> dict[str, Any]:
        row = self.session.check_row(_field(body, "candidate", (int,)))
        self.session.comment(row, _text(body, "text", _MAX_COMMENT))
        return {"candidate": self.explorer.candidate(row)}

    def _add_type(self, body: dict[str, Any]) -> dict[str, Any]:
        self.session.add_type(
            _text(body, "name", _MAX_NAME),
            symmetric=bool(_field(body, "symmetric", (bool,), False)),
            description=_text(body, "description", _MAX_COMMENT),
        )
        return {"types": type_objects(self.session)}

    def _configure(self, body: dict[str, Any]) -> dict[str, Any]:
        if "order" in body:
            self.session.set_order(_text(body, "order", _MAX_NAME))
        if "author" in body:
            self.session.set_author(_text(body, "author", _MAX_NAME))
        if "threshold" in body:
            self.session.set_threshold(_field(body, "threshold", (int, float, type(None))))
        return {"status": self.session.status()}

    def _train(self, body: dict[str, Any]) -> dict[str, Any]:
        self.session.train()
        return {"status": self.session.status()}

    def _similar_to_text(self, body: dict[str, Any]) -> dict[str, Any]:
        limit = _field(body, "limit", (int,), 20)
        return self.explorer.similar_to_text(
            _text(body, "text", _MAX_TEXT), min(max(1, limit), _MAX_ROWS)
        )

    def _try(self, body: dict[str, Any]) -> dict[str, Any]:
        return self.explorer.trial.predict(_text(body, "text", _MAX_TEXT))


# Answers.


def _answer_get(answer: Callable[[Request], Any]) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        return _json(await run_in_threadpool(answer, request))

    return endpoint


def _answer_post(answer: Callable[[dict[str, Any]], Any]) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        return _json(await run_in_threadpool(answer, await read_json(request)))

    return endpoint


def _json(value: Any) -> Response:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Texts may hold halves of surrogate pairs, which UTF-8 cannot encode.
    return Response(text.encode("utf-8", "replace"), media_type="application/json")


def _page(name: str) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        session: Session = request.app.state.session
        page = _environment().get_template(f"{name}.html")
        made = page.render(
            page=name,
            title=_PAGES[name][1],
            project=session.project.path.name,
            version=__version__,
            read_only=session.project.read_only,
        )
        return HTMLResponse(made)

    return endpoint


async def _static(request: Request) -> Response:
    """Return a script or style sheet of the package; names are looked up, not joined to a path."""
    name = str(request.path_params["name"])
    found = _static_files().get(name)
    if found is None:
        raise ApiError(404, "not-found", f"{shorten(repr(name))} does not exist")
    return Response(found, media_type=next(t for end, t in _TYPES.items() if name.endswith(end)))


@cache
def _static_files() -> dict[str, bytes]:
    folder = files("kernelwood.web").joinpath("static")
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if file.name.endswith(tuple(_TYPES))
    }


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("kernelwood.web"), autoescape=True, undefined=StrictUndefined
    )


# Values of requests.


def _row(request: Request) -> int:
    return int(request.path_params["row"])


def _slice(request: Request) -> dict[str, int]:
    offset = _optional_int(request.query_params.get("offset"))
    limit = _optional_int(request.query_params.get("limit"))
    return {
        "offset": max(0, offset or 0),
        "limit": min(max(1, 50 if limit is None else limit), _MAX_ROWS),
    }


def _optional_int(text: str | None) -> int | None:
    if text in (None, ""):
        return None
    if not text.isascii() or not text.removeprefix("-").isdigit() or len(text) > 15:
        raise ApiError(422, "invalid", f"{shorten(repr(text))} is not a whole number")
    return int(text)


def _fraction(text: str | None, default: float) -> float:
    if text in (None, ""):
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= 1.0:
        raise ApiError(422, "invalid", f"{shorten(repr(text))} is not a number from 0 to 1")
    return value


def _numbers(text: str) -> set[int]:
    found = [_optional_int(part) for part in text.split(",")[:_MAX_GROUP]]
    return {number for number in found if number is not None}


def _field(body: dict[str, Any], name: str, kinds: tuple[type, ...], *default: T) -> Any:
    """Return a field of a body, of one of some types."""
    if name not in body and default:
        return default[0]
    if name not in body:
        raise ApiError(422, "invalid", f"the body lacks {name!r}")
    value = body[name]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        wanted = " or ".join(
            {type(None): "null", str: "a string", int: "a whole number", float: "a number",
             bool: "true or false", list: "a list"}[kind] for kind in kinds
        )  # fmt: skip
        raise ApiError(422, "invalid", f"{name!r} must be {wanted}, got {describe(value)}")
    return value


def _text(body: dict[str, Any], name: str, most: int) -> str:
    text = str(_field(body, name, (str,), ""))
    if len(text) > most:
        raise ApiError(422, "invalid", f"{name!r} has more than {most:,} characters")
    return text


def _rows(body: dict[str, Any]) -> list[int]:
    rows = _field(body, "candidates", (list,))
    if not rows or len(rows) > _MAX_GROUP or len(set(map(repr, rows))) < len(rows):
        raise ApiError(
            422, "invalid", f"'candidates' must be 1 to {_MAX_GROUP:,} different numbers"
        )
    if not all(type(row) is int for row in rows):
        raise ApiError(422, "invalid", "'candidates' must be whole numbers")
    return list(rows)


def _check_expected(expected: Any, n: int) -> None:
    if not isinstance(expected, list) or len(expected) != n:
        raise ApiError(422, "invalid", "'expected' must have a value for each candidate")
    if not all(one is None or type(one) is int for one in expected):
        raise ApiError(422, "invalid", "'expected' must be numbers of decisions, or null")
