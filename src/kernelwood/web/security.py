"""Protection of the pages and of the service: hosts, origins, limits, tokens, errors as JSON.

`Guard` is ASGI middleware around all routes. It answers requests that must not reach them, adds
security headers to every answer, and turns errors into JSON::

    {"error": {"code": "too-large", "message": "the request has more than 4,000,000 bytes; ..."}}

Checks are made in this order: name of the host (403), token (401), origin (403), content type
(415), size (413, also while the body arrives), time (504).
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import logging
import math
import re
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qsl, urlencode

from kernelwood.errors import KernelInputError, KernelwoodError, StructureError
from kernelwood.structures import decode_json, describe, shorten

if TYPE_CHECKING:
    from starlette.requests import Request

_LOG = logging.getLogger(__name__)

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 4_000_000  # bytes of a request
MAX_DEPTH = 16  # nested lists and objects of a body
MAX_VALUES = 500_000  # strings, numbers, lists and objects of a body
TIMEOUT = 60.0  # seconds for a request
JSON = "application/json"
STATIC = "/static/"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

_SAFE = frozenset(("GET", "HEAD", "OPTIONS", "TRACE"))
_OWN = frozenset(("same-origin", "none"))  # values of Sec-Fetch-Site
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
_TOKEN = re.compile(r"[!#-+\--:<-\[\]-~]{16,512}")  # visible ASCII that a cookie can hold


class ApiError(KernelwoodError):
    """An answer other than success.

    Parameters
    ----------
    status : int
        HTTP status.
    code : str
        Name of the error for programs, such as ``"too-large"``.
    message : str
        What is wrong and how to fix it, for people.
    headers : mapping of str to str, optional
        Headers of the answer, such as ``Retry-After``.
    **fields
        Further fields of the error object, of JSON values.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        headers: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.headers, self.fields = dict(headers or {}), fields

    def body(self) -> bytes:
        """Return the error as JSON."""
        error = {"code": self.code, "message": self.message, **self.fields}
        return json.dumps({"error": error}, ensure_ascii=False).encode("utf-8", "replace")


# Names of hosts.


def is_loopback(host: str) -> bool:
    """Return whether a name or address refers to this machine only.

    Examples
    --------
    >>> [is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def split_host(value: str) -> tuple[str, int | None] | None:
    """Return name and port of a Host header, None if it is malformed.

    Examples
    --------
    >>> split_host("Localhost:8420"), split_host("[::1]:80"), split_host("a@b"), split_host("a.")
    (('localhost', 8420), ('::1', 80), None, ('a', None))
    """
    found = _HOST.fullmatch(value)
    if found is None:
        return None
    name = found[1].strip("[]").lower().rstrip(".")
    return (name, None if found[2] is None else int(found[2])) if name else None


def _header(scope: Scope, name: bytes) -> str | None:
    """Return the value of a header; of a repeated one, all values joined by commas."""
    values = [value.decode("latin-1") for key, value in scope["headers"] if key == name]
    return ", ".join(values) if values else None


def _allowed_names(scope: Scope, further: frozenset[str]) -> frozenset[str]:
    """Return the names by which clients may address the socket of a connection."""
    server = scope.get("server") or ("", None)
    bound = str(server[0]).lower()
    return further | {bound} | (_LOOPBACK if is_loopback(bound) else frozenset())


def _check_host(scope: Scope, further: frozenset[str]) -> str:
    """Return the Host header of a request.

    A page whose name is made to resolve to this machine (DNS rebinding) sends its own name. The
    port is not compared: it differs if a port is forwarded, and pages cannot choose their name by
    it.
    """
    value = _header(scope, b"host") or ""
    parts = split_host(value)
    if parts is None or parts[0] not in _allowed_names(scope, further):
        raise ApiError(
            403,
            "host",
            f"the host name {shorten(repr(value))} is not allowed; use the address that was "
            "printed at the start, or allow the name with --allow-host",
        )
    return value


def _check_origin(scope: Scope, host: str, header: str | None) -> None:
    """Refuse requests that pages of other origins make.

    Browsers send ``Sec-Fetch-Site`` and, with unsafe methods, ``Origin``; programs send neither.
    Navigation is allowed from anywhere, since it cannot change anything.
    """
    safe = scope["method"] in _SAFE
    site = _header(scope, b"sec-fetch-site")
    origin = _header(scope, b"origin")
    navigation = safe and _header(scope, b"sec-fetch-mode") == "navigate"
    if site is not None and site not in _OWN and not navigation:
        raise ApiError(403, "origin", f"requests of other pages ({site}) are not allowed")
    if safe:
        return
    if origin is not None and origin.lower() != f"{scope.get('scheme', 'http')}://{host}".lower():
        raise ApiError(403, "origin", f"requests from {shorten(repr(origin))} are not allowed")
    if header is not None and _header(scope, header.lower().encode()) != "1":
        raise ApiError(403, "origin", f"the request has no header {header}: 1")


def _check_body(scope: Scope, max_body: int) -> None:
    """Check type and announced size of the body of a request with an unsafe method."""
    if scope["method"] not in _SAFE:
        given = _header(scope, b"content-type") or ""
        kind, _, parameters = given.lower().partition(";")
        charset = parameters.replace(" ", "").replace('"', "")
        if kind.strip() != JSON or charset not in ("", "charset=utf-8"):
            raise ApiError(
                415,
                "content-type",
                f"the content type must be {JSON}, got {shorten(repr(given))}",
            )
        packed = _header(scope, b"content-encoding")
        if packed not in (None, "identity"):
            raise ApiError(415, "content-type", "compressed requests are not supported")
    length = _header(scope, b"content-length")
    if length is not None and (not length.isdigit() or int(length) > max_body):
        raise _too_large(max_body)


def _too_large(max_body: int) -> ApiError:
    return ApiError(
        413, "too-large", f"the request has more than {max_body:,} bytes; send several requests"
    )


# Tokens.


def new_token() -> str:
    """Return a random token of 192 bits."""
    return secrets.token_urlsafe(24)


def read_token(path: str | Path) -> str:
    """Return the token in a file: one line of 16 to 512 visible ASCII characters.

    Raises
    ------
    KernelInputError
        If the file contains something else.
    """
    with Path(path).open("rb") as file:
        text = file.read(1000).decode("utf-8", "replace").strip()
    return check_token(text, f"{path}: the token")


def check_token(token: str, what: str = "the token") -> str:
    """Return a token if it is suitable.

    Examples
    --------
    >>> check_token("0123456789abcdef")
    '0123456789abcdef'
    """
    if not _TOKEN.fullmatch(token):
        raise KernelInputError(
            f"{what} must have 16 to 512 visible ASCII characters other than quotes, comma, "
            'semicolon and backslash; python -c "import secrets; print(secrets.token_urlsafe())" '
            "prints one"
        )
    return token


class TokenGate:
    """A token that requests must present.

    Programs send it in a header, ``Authorization: Bearer TOKEN`` or ``X-Kernelwood-Token: TOKEN``.
    With ``cookie``, a browser opens ``/?token=TOKEN``, gets a cookie that scripts cannot read and
    other sites cannot send, and is redirected to the same page without the token.

    Parameters
    ----------
    token : str
        As `check_token` accepts it.
    cookie : bool, default False
        Whether browsers may present the token by address and cookie.
    public : iterable of str
        Paths that need no token, such as ``/health``.
    """

    def __init__(self, token: str, *, cookie: bool = False, public: Iterable[str] = ()) -> None:
        self._token = check_token(token).encode()
        self.cookie = cookie
        self.public = frozenset(public)

    def check(self, scope: Scope) -> tuple[str, str] | None:
        """Check the token of a request.

        Returns
        -------
        tuple of str, or None
            Address to redirect to and the cookie to set, or None if the request may pass.

        Raises
        ------
        ApiError
            If the request has no token, or a wrong one.
        """
        if scope["path"] in self.public:
            return None
        if self.cookie and scope["method"] in ("GET", "HEAD"):
            query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), True)
            given = [value for name, value in query if name == "token"]
            if given and self._equal(given[0]):
                rest = urlencode([(name, value) for name, value in query if name != "token"])
                return _own_path(scope) + (f"?{rest}" if rest else ""), self._cookie(scope)
        if any(self._equal(one) for one in self._presented(scope)):
            return None
        raise ApiError(
            401,
            "token",
            "open the address that was printed at the start, which contains a token"
            if self.cookie
            else "the request needs a token: send the header Authorization: Bearer TOKEN",
            headers={} if self.cookie else {"www-authenticate": "Bearer"},
        )

    def _presented(self, scope: Scope) -> list[str]:
        found = []
        kind, _, value = (_header(scope, b"authorization") or "").partition(" ")
        if kind.lower() == "bearer":
            found.append(value.strip())
        found.append(_header(scope, b"x-kernelwood-token") or "")
        if self.cookie:
            try:
                cookies = SimpleCookie(_header(scope, b"cookie") or "")
            except CookieError:
                cookies = SimpleCookie()
            name = _cookie_name(scope)
            found += [cookies[name].value] if name in cookies else []
        return found

    def _equal(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token)

    def _cookie(self, scope: Scope) -> str:
        secure = "; Secure" if scope.get("scheme") == "https" else ""
        value = self._token.decode()
        return f"{_cookie_name(scope)}={value}; Path=/; HttpOnly; SameSite=Strict{secure}"


def _own_path(scope: Scope) -> str:
    """Return the path of a request for a redirect; ``//name`` would lead to another host."""
    path = scope.get("raw_path") or scope["path"].encode("utf-8", "replace")
    text: str = path.decode("latin-1").partition("?")[0]
    return "/" + re.sub(r"[^!-~]|\\", "", text).lstrip("/")


def _cookie_name(scope: Scope) -> str:
    """Return the name of the cookie; cookies are shared by all ports of a host."""
    parts = split_host(_header(scope, b"host") or "")
    return f"kernelwood-{(parts and parts[1]) or 80}"


# The middleware.


class Guard:
    """ASGI middleware that protects an application.

    Parameters
    ----------
    app : ASGI application
    hosts : iterable of str
        Names in ``Host`` headers that are allowed beside the address of the connection and, on a
        loopback address, ``localhost``, ``127.0.0.1`` and ``::1``.
    gate : TokenGate, optional
        Token that requests need.
    header : str, optional
        Name of a header that requests with unsafe methods need, with the value 1. Pages of other
        origins cannot set it.
    max_body : int, default 4,000,000
        Maximum number of bytes of a request.
    timeout : float, default 60
        Maximum number of seconds of a request.
    streams : iterable of str
        Paths of event streams, which have no time limit.
    known : mapping of exception class to (status, code)
        Errors whose messages are meant for clients. Other errors are logged and answered by 500
        without details.
    """

    def __init__(
        self,
        app: App,
        *,
        hosts: Iterable[str] = (),
        gate: TokenGate | None = None,
        header: str | None = None,
        max_body: int = MAX_BODY,
        timeout: float = TIMEOUT,
        streams: Iterable[str] = (),
        known: Mapping[type[Exception], tuple[int, str]] | None = None,
    ) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)
        self.gate, self.header = gate, header
        self.max_body, self.timeout = max_body, timeout
        self.streams = frozenset(streams)
        self.known = dict(known or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, _Answer(scope, send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        limit = None if scope["path"] in self.streams else self.timeout
        body = _LimitedBody(receive, self.max_body)
        try:
            host = _check_host(scope, self.hosts)
            redirect = None if self.gate is None else self.gate.check(scope)
            if redirect is not None:
                return await answer.redirect(*redirect)
            _check_origin(scope, host, self.header)
            _check_body(scope, self.max_body)
            await asyncio.wait_for(self.app(scope, body, answer), limit)
        except Exception as failure:
            if not body.lost:
                await answer.fail(self._error(failure, scope))

    def _error(self, failure: Exception, scope: Scope) -> ApiError:
        """Return the error that a client sees."""
        if isinstance(failure, ApiError):
            return failure
        if isinstance(failure, (asyncio.TimeoutError, TimeoutError)):
            return ApiError(
                504, "timeout", f"the request took longer than {self.timeout:g} seconds"
            )
        for kind, (status, code) in self.known.items():
            if isinstance(failure, kind):
                return ApiError(status, code, str(failure))
        _LOG.error("%s %s failed", scope["method"], scope["path"], exc_info=failure)
        return ApiError(500, "internal", "an internal error; the log of the server has details")


class _LimitedBody:
    """The body of a request, refused once it has more bytes than allowed.

    Attributes
    ----------
    lost : bool
        Whether the client closed the connection before the end of the body.
    """

    def __init__(self, receive: Receive, max_body: int) -> None:
        self._receive, self._max_body, self._n_bytes = receive, max_body, 0
        self._complete = self.lost = False

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.lost = not self._complete
        else:
            self._complete = not message.get("more_body", False)
        self._n_bytes += len(message.get("body", b""))
        if self._n_bytes > self._max_body:
            raise _too_large(self._max_body)
        return message


class _Answer:
    """The answer to a request, with security headers."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send, self._started = scope, send, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started = True
            given = list(message.get("headers", ()))
            names = {name.lower() for name, _ in given}
            cache = "no-cache" if self._scope["path"].startswith(STATIC) else "no-store"
            for name, value in {**HEADERS, "cache-control": cache}.items():
                if name.encode() not in names:
                    given.append((name.encode(), value.encode()))
            message = {**message, "headers": given}
        await self._send(message)

    async def redirect(self, address: str, cookie: str) -> None:
        """Redirect to an address and set a cookie."""
        await self._whole(303, {"location": address, "set-cookie": cookie}, b"")

    async def fail(self, error: ApiError) -> None:
        """Answer with an error; an answer that has begun is cut off."""
        if self._started:
            # Without its end, the server closes the connection: clients see that it is incomplete.
            raise ConnectionAbortedError(error.message)
        body = error.body()
        headers = {"content-type": JSON, **error.headers}
        if error.status == 413:
            headers["connection"] = "close"
        await self._whole(error.status, headers, body)

    async def _whole(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        rows = [(k.encode("latin-1"), v.encode("latin-1")) for k, v in headers.items()]
        rows.append((b"content-length", str(len(body)).encode()))
        await self({"type": "http.response.start", "status": status, "headers": rows})
        await self({"type": "http.response.body", "body": body})


# Helpers of routes.


def http_errors() -> dict[Any, Any]:
    """Return exception handlers of Starlette that leave errors of routing to a `Guard`."""
    from starlette.exceptions import HTTPException

    codes = {404: "not-found", 405: "method", 400: "request"}

    async def as_error(request: Request, failure: Exception) -> Any:
        status = getattr(failure, "status_code", 500)
        path, method = shorten(repr(request.url.path)), request.method
        messages = {404: f"{path} does not exist", 405: f"{path} has no method {method}"}
        message = messages.get(status, str(getattr(failure, "detail", failure)))
        headers = dict(getattr(failure, "headers", None) or {})
        raise ApiError(status, codes.get(status, "http"), message, headers=headers) from failure

    return {HTTPException: as_error}


async def read_json(
    request: Request, *, max_depth: int = MAX_DEPTH, max_values: int = MAX_VALUES
) -> dict[str, Any]:
    """Return the body of a request, a JSON object.

    Raises
    ------
    ApiError
        400 if the body is not JSON; 422 if it is not an object, is nested too deeply, has too
        many values, or has a string or number that is not valid Unicode or not finite.
    """
    try:
        value = decode_json((await request.body()).decode("utf-8"))
    except UnicodeDecodeError as failure:
        raise ApiError(400, "json", f"the body is not UTF-8: byte {failure.start}") from None
    except StructureError as failure:
        where = f" (line {failure.line}, column {failure.column})" if failure.line else ""
        raise ApiError(400, "json", f"the body: {failure.problem}{where}") from None
    check_json(value, max_depth=max_depth, max_values=max_values)
    if not isinstance(value, dict):
        raise ApiError(422, "invalid", f"the body must be an object, got {describe(value)}")
    return value


def check_json(value: object, *, max_depth: int = MAX_DEPTH, max_values: int = MAX_VALUES) -> None:
    """Raise ApiError (422) if a decoded value cannot be processed safely.

    Examples
    --------
    >>> check_json({"a": [1, 2]}, max_depth=2)
    >>> check_json({"a": [1, 2]}, max_depth=1)
    Traceback (most recent call last):
    ...
    kernelwood.web.security.ApiError: the body has more than 1 nested lists and objects
    """
    n_values, level = 0, [value]
    for _ in range(max_depth + 1):
        deeper: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                deeper += one
                deeper += one.values()
            elif isinstance(one, list):
                deeper += one
            else:
                _check_scalar(one)
        n_values += len(level)
        if n_values > max_values:
            raise ApiError(422, "invalid", f"the body has more than {max_values:,} values")
        if not deeper:
            return
        level = deeper
    raise ApiError(422, "invalid", f"the body has more than {max_depth} nested lists and objects")


def _check_scalar(value: object) -> None:
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as failure:
            code = f"\\u{ord(value[failure.start]):04x}"
            raise ApiError(
                422, "invalid", f"a string has half a surrogate pair, {code}; send valid Unicode"
            ) from None
    elif isinstance(value, float) and not math.isfinite(value):
        raise ApiError(422, "invalid", "a number is too large for a 64-bit float")
    elif isinstance(value, int) and abs(value) >= 2**63:
        raise ApiError(422, "invalid", "an integer is too large for 64 bits")


def own_names() -> tuple[str, ...]:
    """Return names of this machine, for services that listen on all addresses."""
    return (socket.gethostname().lower(), *_LOOPBACK)
