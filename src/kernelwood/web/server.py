"""The HTTP server: uvicorn on a socket that is bound beforehand, with bounded shutdown."""

from __future__ import annotations

import contextlib
import errno
import math
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import uvicorn

from kernelwood.errors import KernelInputError, KernelwoodError
from kernelwood.structures import shorten
from kernelwood.web.security import App

GRACE = 10.0  # seconds for requests in progress when the server stops
MAX_CONNECTIONS = 256
_MAX_HEAD = 32_768  # bytes of the request line and headers
_KEEP_ALIVE = 15  # seconds until an idle connection is closed
_BACKLOG = 512  # connections that wait to be accepted
_START = 60.0  # seconds for the start of an application
_REASONS = {
    errno.EADDRINUSE: "is in use by another program; choose another port, or port 0 for a free one",
    errno.EACCES: "is not allowed for this user; choose a port from 1024 on, or port 0",
    errno.EADDRNOTAVAIL: "is not an address of this machine; 127.0.0.1 is reachable from this "
    "machine only, 0.0.0.0 from the network",
}


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to an address, but does not accept connections yet.

    Parameters
    ----------
    host : str
        Name or address of this machine.
    port : int
        Port from 0 to 65535; 0 stands for any free port.

    Raises
    ------
    KernelInputError
        If the port is in use, or the host is not an address of this machine.
    """
    if not 0 <= port <= 65535:
        raise KernelInputError(f"the port must be from 0 to 65535, got {port}")
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as failure:
        raise KernelInputError(f"the host {shorten(repr(host))} is unknown: {failure}") from failure
    # localhost may have an IPv6 address, too; not all clients try both.
    family, kind, protocol, _, address = min(rows, key=lambda row: row[0] != socket.AF_INET)
    sock = socket.socket(family, kind, protocol)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows, where SO_REUSEADDR shares a port
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(_BACKLOG)
    except OSError as failure:
        sock.close()
        reason = _REASONS.get(failure.errno or 0, f"cannot be used: {failure.strerror}")
        raise KernelInputError(f"{host}, port {port}, {reason}") from failure
    return sock


def url_of(sock: socket.socket) -> str:
    """Return the address of a bound socket for browsers.

    Examples
    --------
    >>> with bind("127.0.0.1", 0) as sock:
    ...     url_of(sock) == f"http://127.0.0.1:{sock.getsockname()[1]}"
    True
    """
    host, port = sock.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # all addresses
        host = socket.gethostname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Uvicorn(uvicorn.Server):
    """A uvicorn server that reports its start and its end, and that signals stop with success."""

    def __init__(
        self, config: uvicorn.Config, started: Callable[[], None], stopping: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._on_started, self._on_stopping = started, stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stopping()
        await super().shutdown(sockets=sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM; unlike in the base class, signals are not raised again."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        names = ("SIGINT", "SIGTERM", "SIGBREAK")
        numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
        before = {number: signal.signal(number, self._stop) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Stop when requests in progress are answered; at the second signal, at once."""
        self.force_exit = self.should_exit
        self.should_exit = True


class Server:
    """A server, run by `run` until a signal arrives, or in a thread by a ``with`` statement.

    Parameters
    ----------
    app : ASGI application
    host : str, default "127.0.0.1"
    port : int, default 0
        0 stands for any free port.
    grace : float, default 10
        Seconds that requests in progress have when the server stops.
    max_connections : int, default 256
        Further connections are answered by status 503.
    stopping : callable, optional
        Called when the server begins to stop; ends event streams, which would otherwise last for
        the seconds of ``grace``. It is called in the thread of the event loop.

    Attributes
    ----------
    url : str
        Address, such as ``http://127.0.0.1:8420``.

    Raises
    ------
    KernelInputError
        If the address cannot be used.

    Examples
    --------
    >>> from urllib.request import urlopen
    >>> async def app(scope, receive, send):
    ...     await send({"type": "http.response.start", "status": 200, "headers": []})
    ...     await send({"type": "http.response.body", "body": b"hello"})
    >>> with Server(app) as server:
    ...     with urlopen(server.url) as answer:
    ...         answer.read()
    b'hello'
    """

    def __init__(
        self,
        app: App,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        grace: float = GRACE,
        max_connections: int = MAX_CONNECTIONS,
        stopping: Callable[[], None] | None = None,
    ) -> None:
        self._socket = bind(host, port)
        self.url = url_of(self._socket)
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._report: Callable[[str], None] | None = None
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            loop="asyncio",
            lifespan="auto",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=max_connections,
            backlog=_BACKLOG,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=max(1, math.ceil(grace)),
            h11_max_incomplete_event_size=_MAX_HEAD,
        )
        self._server = _Uvicorn(config, self._started, stopping or (lambda: None))

    def run(self, report: Callable[[str], None] | None = None) -> None:
        """Serve until SIGINT or SIGTERM arrives, or `stop` is called.

        Parameters
        ----------
        report : callable, optional
            Called with the address once connections are accepted.

        Raises
        ------
        KernelwoodError
            If the application does not start.
        """
        self._report = report
        try:
            # After a failure of the application, uvicorn raises SystemExit, or just returns (0.30).
            with contextlib.suppress(SystemExit):
                self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()
        if not self._server.started:
            raise KernelwoodError("the server did not start; the log has details")

    def stop(self) -> None:
        """Stop the server; requests in progress are answered first."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def __enter__(self) -> Server:
        self._thread = threading.Thread(target=self._run_in_thread, name="kernelwood-server")
        self._thread.start()
        if not self._ready.wait(_START) or self._failure is not None:
            self.stop()
            raise KernelwoodError("the server did not start") from self._failure
        return self

    def __exit__(self, *failure: Any) -> None:
        self.stop()

    def _run_in_thread(self) -> None:
        try:
            self.run()
        except BaseException as failure:
            self._failure = failure
        finally:
            self._ready.set()

    def _started(self) -> None:
        self._ready.set()
        if self._report is not None:
            self._report(self.url)


def run(
    app: App,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    report: Callable[[str], None] | None = None,
    grace: float = GRACE,
    max_connections: int = MAX_CONNECTIONS,
    stopping: Callable[[], None] | None = None,
) -> None:
    """Serve an application until SIGINT or SIGTERM arrives; see `Server`."""
    server = Server(
        app, host=host, port=port, grace=grace, max_connections=max_connections, stopping=stopping
    )
    server.run(report)
