"""Hosts, origins, limits, tokens and errors, without a server."""

from __future__ import annotations

import asyncio
import logging

import pytest
from web.asgi import ask, scope

from kernelwood.errors import KernelInputError, KernelwoodError
from kernelwood.web.security import (
    CSP,
    ApiError,
    Guard,
    TokenGate,
    check_json,
    check_token,
    is_loopback,
    new_token,
    read_json,
    read_token,
    split_host,
)

TOKEN = "0123456789abcdefghij"
JSON = {"content-type": "application/json"}


async def hello(scope, receive, send):
    """Read the whole body and answer with its size."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RuntimeError("the client is gone")
        size, more = size + len(message["body"]), message["more_body"]
    headers = [(b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"%d" % size})


def failing(failure):
    async def app(scope, receive, send):
        raise failure

    return app


def post(headers=None, **options):
    return scope("POST", headers={**JSON, **(headers or {})}, **options)


# Hosts.


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8420", "localhost:8420", "LOCALHOST", "[::1]:8420", "localhost:9999", "localhost."],
)
def test_names_of_the_loopback_address_are_allowed(host):
    assert ask(Guard(hello), scope(headers={"host": host})).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8420", "127.0.0.1.evil.example", "localhost.evil.example",
        "192.168.0.7:8420", "", None, "a b", "localhost:8420:1", "user@localhost", "localhost:x",
        "localhost/evil", "[::1", "127.0.0.1, evil.example",
    ],
)  # fmt: skip
def test_other_names_are_refused_as_after_dns_rebinding(host):
    answer = ask(Guard(hello), scope(headers={"host": host}))
    assert (answer.status, answer.error["code"]) == (403, "host")


def test_the_bound_address_and_named_hosts_are_allowed_and_loopback_is_not():
    guard = Guard(hello, hosts=["Lab.example"])
    for host, status in [
        ("10.1.2.3:8420", 200), ("lab.example:8420", 200), ("10.1.2.4:8420", 403),
        ("localhost:8420", 403),
    ]:  # fmt: skip
        request = scope(headers={"host": host}, server=("10.1.2.3", 8420))
        assert ask(guard, request).status == status, host


@pytest.mark.parametrize(
    ("host", "expected"), [("localhost", True), ("127.9.9.9", True), ("0.0.0.0", False), ("::", 0)]
)
def test_loopback_addresses(host, expected):
    assert is_loopback(host) == bool(expected)


def test_ports_of_hosts_are_split_off():
    assert split_host("[::1]:80") == ("::1", 80)
    assert split_host("example.org") == ("example.org", None)
    assert split_host("example.org:123456") is None


# Origins.


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),  # programs
        ({"origin": "http://127.0.0.1:8420"}, 200),
        ({"origin": "http://127.0.0.1:8420", "sec-fetch-site": "same-origin"}, 200),
        ({"origin": "http://localhost:8420"}, 403),
        ({"origin": "http://127.0.0.1:3000", "sec-fetch-site": "same-site"}, 403),
        ({"origin": "https://127.0.0.1:8420"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 403),
        ({"sec-fetch-site": "none"}, 200),
    ],
)
def test_only_own_pages_and_programs_change_something(headers, status):
    assert ask(Guard(hello), post(headers)).status == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 200),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, 403),
        ({"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"}, 403),
        ({"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}, 200),
    ],
)
def test_other_pages_may_link_but_not_load(headers, status):
    assert ask(Guard(hello), scope(headers=headers)).status == status


def test_a_header_that_other_pages_cannot_set_may_be_required():
    guard = Guard(hello, header="X-Kernelwood")
    assert ask(guard, post()).error["code"] == "origin"
    assert ask(guard, post({"x-kernelwood": "1"})).status == 200
    assert ask(guard, scope()).status == 200


# Bodies.


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 200),
        ("application/JSON; charset=UTF-8", 200),
        ("application/json; charset=latin-1", 415),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("application/jsonp", 415),
        (None, 415),
    ],
)
def test_bodies_must_be_json(kind, status):
    assert ask(Guard(hello), scope("POST", headers={"content-type": kind})).status == status


def test_compressed_bodies_are_refused():
    assert ask(Guard(hello), post({"content-encoding": "gzip"})).status == 415


def test_an_announced_body_that_is_too_large_is_refused_unread():
    answer = ask(Guard(hello, max_body=10), post({"content-length": "11"}))
    assert (answer.status, answer.error["code"]) == (413, "too-large")
    assert answer.header("connection") == "close"
    assert ask(Guard(hello, max_body=10), post({"content-length": "-1"})).status == 413
    assert ask(Guard(hello, max_body=10), post({"content-length": "10"}), b"x" * 10).body == b"10"


def test_a_body_is_cut_off_when_it_gets_too_large():
    guard = Guard(hello, max_body=10)
    assert ask(guard, post(), b"x" * 5, b"x" * 5).body == b"10"
    assert ask(guard, post(), b"x" * 5, b"x" * 6).status == 413


def test_a_client_that_goes_away_gets_no_answer_and_no_log(caplog):
    assert ask(Guard(hello), post(), b"x", end=False) is None
    assert not caplog.records


class Request:
    def __init__(self, body):
        self._body = body

    async def body(self):
        return self._body


def decoded(body, **limits):
    return asyncio.run(read_json(Request(body), **limits))


def test_a_body_is_decoded():
    assert decoded('{"a": [1, 2.5, null, "é"]}'.encode()) == {"a": [1, 2.5, None, "é"]}


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"", 400, "not valid JSON"),
        (b"{", 400, "line 1, column 2"),
        (b"\xff", 400, "not UTF-8: byte 0"),
        (b'{"a": NaN}', 400, "NaN"),
        (b'{"a": 1, "a": 2}', 400, "twice"),
        (b"[1]", 422, "must be an object, got a list"),
        (b'{"a": 1e400}', 422, "too large"),
        (b'{"a": 9223372036854775808}', 422, "64 bits"),
        (b'{"a": "\\ud800"}', 422, "surrogate"),
        (b'{"\\udc00": 1}', 422, "surrogate"),
        (b'{"a": ' + b"[" * 100_000, 400, "nested"),
        (b'{"a": ' + b"9" * 5000 + b"}", 400, "digits"),
    ],
)
def test_bodies_that_are_refused(body, status, message):
    with pytest.raises(ApiError, match=message) as failure:
        decoded(body)
    assert failure.value.status == status


def test_nesting_and_number_of_values_are_limited():
    assert decoded(b'{"a": [[1]]}', max_depth=3) == {"a": [[1]]}
    with pytest.raises(ApiError, match="more than 2 nested"):
        decoded(b'{"a": [[1]]}', max_depth=2)
    check_json([1] * 9, max_values=10)
    with pytest.raises(ApiError, match="more than 10 values"):
        check_json([1] * 10, max_values=10)


# Answers.


def test_every_answer_has_the_security_headers():
    for answer in (
        ask(Guard(hello), scope()),
        ask(Guard(hello), scope(headers={"host": "evil.example"})),
        ask(Guard(failing(RuntimeError())), scope()),
        ask(Guard(hello, gate=TokenGate(TOKEN, cookie=True)), scope(query=f"token={TOKEN}")),
    ):
        assert answer.header("content-security-policy") == CSP
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("referrer-policy") == "no-referrer"
        assert answer.header("cross-origin-opener-policy") == "same-origin"
        assert answer.header("cross-origin-resource-policy") == "same-origin"
        assert answer.header("cache-control") == "no-store"


def test_policy_allows_no_inline_script_and_nothing_from_elsewhere():
    rules = dict(rule.split(" ", 1) for rule in CSP.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert rules["frame-ancestors"] == rules["base-uri"] == rules["form-action"] == "'none'"


def test_static_files_may_be_kept_but_are_checked():
    assert ask(Guard(hello), scope(path="/static/a.js")).header("cache-control") == "no-cache"


def test_headers_of_the_application_take_precedence():
    async def app(scope, receive, send):
        headers = [(b"Cache-Control", b"max-age=9")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    answer = ask(Guard(app), scope())
    assert [value for name, value in answer.headers if name.lower() == "cache-control"] == [
        "max-age=9"
    ]


def test_errors_of_routes_are_json_with_their_fields():
    error = ApiError(409, "conflict", "decided meanwhile", headers={"x-a": "b"}, candidates=[7])
    answer = ask(Guard(failing(error)), scope())
    assert answer.status == 409
    assert answer.error == {"code": "conflict", "message": "decided meanwhile", "candidates": [7]}
    assert answer.header("x-a") == "b"


def test_other_errors_are_logged_and_not_shown(caplog):
    with caplog.at_level(logging.ERROR, "kernelwood"):
        answer = ask(Guard(failing(RuntimeError("secret"))), scope())
    assert (answer.status, answer.error["code"]) == (500, "internal")
    assert b"secret" not in answer.body and b"Traceback" not in answer.body
    assert "secret" in caplog.text


def test_known_errors_are_shown():
    known = {KernelInputError: (409, "conflict"), KernelwoodError: (422, "invalid")}
    answer = ask(Guard(failing(KernelwoodError("the file is full")), known=known), scope())
    assert (answer.status, answer.error["message"]) == (422, "the file is full")
    assert ask(Guard(failing(KernelInputError("x")), known=known), scope()).status == 409


def test_a_request_that_takes_too_long_is_ended():
    ended = []

    async def app(scope, receive, send):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append(scope["path"])
            raise

    answer = ask(Guard(app, timeout=0.01), scope(path="/slow"))
    assert (answer.status, answer.error["code"], ended) == (504, "timeout", ["/slow"])


def test_event_streams_have_no_time_limit():
    async def app(scope, receive, send):
        await asyncio.sleep(0.05)
        await hello(scope, receive, send)

    guard = Guard(app, timeout=0.001, streams=["/events"])
    assert ask(guard, scope(path="/events")).status == 200


def test_an_error_in_the_middle_of_an_answer_cuts_it_off():
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError

    with pytest.raises(ConnectionAbortedError):
        ask(Guard(app), scope())


def test_websockets_are_closed():
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(hello)({"type": "websocket"}, None, send))
    assert [message["type"] for message in sent] == ["websocket.close"]


# Tokens.


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": f"Bearer {TOKEN}"},
        {"authorization": f"bearer  {TOKEN}"},
        {"x-kernelwood-token": TOKEN},
    ],
)
def test_programs_send_the_token_in_a_header(headers):
    guard = Guard(hello, gate=TokenGate(TOKEN))
    assert ask(guard, scope(headers=headers)).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": "Bearer"},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": f"Bearer {TOKEN[:-1]}"},
        {"x-kernelwood-token": "é" * 20},
        {"cookie": f"kernelwood-8420={TOKEN}"},
    ],
)
def test_wrong_tokens_are_refused(headers):
    answer = ask(Guard(hello, gate=TokenGate(TOKEN)), scope(headers=headers))
    assert (answer.status, answer.error["code"]) == (401, "token")
    assert answer.header("www-authenticate") == "Bearer"


def test_a_token_in_the_address_is_for_pages_only():
    assert ask(Guard(hello, gate=TokenGate(TOKEN)), scope(query=f"token={TOKEN}")).status == 401


def test_public_paths_need_no_token():
    guard = Guard(hello, gate=TokenGate(TOKEN, public=["/health"]))
    assert ask(guard, scope(path="/health")).status == 200
    assert ask(guard, scope(path="/health/")).status == 401


def test_a_browser_gets_a_cookie_and_an_address_without_the_token():
    guard = Guard(hello, gate=TokenGate(TOKEN, cookie=True))
    answer = ask(guard, scope(path="/facts", query=f"a=1&token={TOKEN}&b=%C3%A9"))
    assert (answer.status, answer.header("location")) == (303, "/facts?a=1&b=%C3%A9")
    cookie = answer.header("set-cookie")
    assert cookie == f"kernelwood-8420={TOKEN}; Path=/; HttpOnly; SameSite=Strict"
    assert TOKEN not in answer.header("location")
    pair = cookie.partition(";")[0]
    assert ask(guard, scope(headers={"cookie": f"other=1; {pair}"})).status == 200
    assert ask(guard, scope(headers={"cookie": f"{pair}x"})).status == 401
    assert ask(guard, post({"cookie": pair})).status == 200


def test_a_wrong_token_in_the_address_sets_no_cookie():
    guard = Guard(hello, gate=TokenGate(TOKEN, cookie=True))
    for query in ("token=", f"token={TOKEN}x", f"Token={TOKEN}"):
        answer = ask(guard, scope(query=query))
        assert (answer.status, answer.header("set-cookie")) == (401, None)


def test_a_token_in_the_address_of_a_post_sets_no_cookie():
    guard = Guard(hello, gate=TokenGate(TOKEN, cookie=True))
    assert ask(guard, post(query=f"token={TOKEN}")).status == 401


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("//evil.example/x", "/evil.example/x"),
        ("/\\evil.example", "/evil.example"),
        ("/a\r\nb", "/ab"),
    ],
)
def test_redirects_stay_on_the_host(path, location):
    guard = Guard(hello, gate=TokenGate(TOKEN, cookie=True))
    assert ask(guard, scope(path=path, query=f"token={TOKEN}")).header("location") == location


def test_the_host_is_checked_before_the_token():
    guard = Guard(hello, gate=TokenGate(TOKEN, cookie=True))
    request = scope(headers={"host": "evil.example"}, query=f"token={TOKEN}")
    assert ask(guard, request).status == 403


def test_the_cookies_of_two_ports_differ():
    guard = Guard(hello, gate=TokenGate(TOKEN, cookie=True))
    cookies = {
        ask(guard, scope(headers={"host": host}, query=f"token={TOKEN}")).header("set-cookie")
        for host in ("localhost:8420", "localhost:8421")
    }
    assert len(cookies) == 2


def test_tokens_are_long_and_random():
    made = {new_token() for _ in range(100)}
    assert len(made) == 100
    assert all(check_token(token) and len(token) == 32 for token in made)


@pytest.mark.parametrize("token", ["", "short", "x" * 513, "with blanks inside it", 'quote"' * 4])
def test_unsuitable_tokens_are_refused(token):
    with pytest.raises(KernelInputError, match="16 to 512"):
        check_token(token)


def test_a_token_is_read_from_a_file(tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    assert read_token(file) == TOKEN
    file.write_bytes(b"\xff" * 20)
    with pytest.raises(KernelInputError, match="token"):
        read_token(file)
