"""Requests to ASGI applications without a server."""

from __future__ import annotations

import asyncio
import json
from typing import NamedTuple


class Answer(NamedTuple):
    """The answer of an application; headers are lists of (name, value)."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name):
        """Return the value of a header, None if it is missing; it must not be repeated."""
        values = [value for key, value in self.headers if key == name]
        assert len(values) <= 1, values
        return values[0] if values else None

    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        """Return the error, after a check of its form."""
        assert self.header("content-type") == "application/json"
        [(name, error)] = self.json().items()
        assert name == "error" and error["message"]
        return error


def scope(method="GET", path="/", headers=None, *, query="", server=("127.0.0.1", 8420)):
    """Return the scope of a request; headers may be given in any case."""
    rows = {"host": "127.0.0.1:8420", **(headers or {})}
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "scheme": "http",
        "headers": [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in rows.items()
            if value is not None
        ],
        "server": server,
        "client": ("127.0.0.1", 5000),
    }


def ask(app, request, *chunks, end=True):
    """Send a request with a body of some chunks; without ``end``, the client goes away."""
    messages = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    if end:
        messages.append({"type": "http.request", "body": b"", "more_body": False})
    sent = []

    async def receive():
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    asyncio.run(app(request, receive, send))
    if not sent:
        return None
    body = b"".join(message.get("body", b"") for message in sent[1:])
    headers = [(name.decode(), value.decode()) for name, value in sent[0]["headers"]]
    return Answer(sent[0]["status"], headers, body)
