"""The command that serves models over HTTP."""

from __future__ import annotations

import json
import re
import signal
import sys
import urllib.request

import pytest
from cli.running import invoke, wrong_data
from processes import start_python, stop, wait_until
from web.serving import TERMS, TEXTS, extractor

import kernelwood as kw
from kernelwood.web.server import bind

TOKEN = "a-token-of-some-length"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "small.kw"
    kw.save(extractor(), path)
    yield path
    extractor.cache_clear()


@pytest.fixture
def served(monkeypatch):
    """Replace the server by a function; return what it is called with."""
    calls = []

    def run(app, **options):
        options["report"](f"http://{options['host']}:{options['port']}")
        calls.append({"app": app, **options})

    monkeypatch.setattr("kernelwood.web.run", run)
    return calls


def ask(url, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    kind = {"Content-Type": "application/json"} if data else {}
    request = urllib.request.Request(url, data, {**kind, **headers})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def gate_of(app):
    [guard] = [row for row in app.user_middleware if row.cls.__name__ == "Guard"]
    return guard.kwargs


# Processes.


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_service_answers_until_a_signal_arrives(model, tmp_path, number):
    log = tmp_path / "log.txt"
    arguments = ("-m", "kernelwood", "serve", model, "--port", "0")
    with log.open("w") as file:
        process = start_python(*arguments, stderr=file)
    wait_until(lambda: "Ctrl-C" in log.read_text(), process)
    [url] = re.findall(r"serving small at (http://127\.0\.0\.1:\d+)", log.read_text())
    made = ask(f"{url}/v1/extract", {"text": TEXTS[0], "terms": TERMS, "all": True})
    assert [one["document"] for one in made["relations"]] == ["text1"]
    ended = stop(process, number)
    assert (ended.returncode, ended.stdout) == (0, "")
    assert "Traceback" not in log.read_text() and "leaked" not in log.read_text()


# Options.


def test_models_have_the_names_of_their_files_or_given_ones(model, served):
    result = invoke("serve", model, f"other={model}", "--port", "1234")
    assert result.exit_code == 0, result.output
    assert "serving small, other at http://127.0.0.1:1234" in result.stderr
    assert result.stdout == ""


def test_two_models_need_different_names(model, served):
    result = invoke("serve", model, model)
    assert result.exit_code == 2
    assert "two models are called 'small'" in result.stderr and "NAME=FILE" in result.stderr


def test_a_name_may_not_have_blanks(model, served):
    assert "cannot be the name of a model" in wrong_data(invoke("serve", f"a b={model}"))


def test_a_loopback_address_needs_no_token(model, served):
    result = invoke("serve", model)
    assert "token" not in result.stderr
    assert gate_of(served[0]["app"])["gate"] is None
    assert (served[0]["host"], served[0]["port"]) == ("127.0.0.1", 8420)


def test_another_address_has_a_random_token(model, served):
    first, second = (invoke("serve", model, "--host", "0.0.0.0") for _ in range(2))
    tokens = {re.search(r"token: (\S{32})\n", one.stderr)[1] for one in (first, second)}
    assert len(tokens) == 2
    assert all(gate_of(call["app"])["gate"] is not None for call in served)


def test_a_token_may_be_in_a_file(model, served, tmp_path):
    file = tmp_path / "token.txt"
    file.write_text(f"{TOKEN}\n")
    for host in ("0.0.0.0", "127.0.0.1"):
        result = invoke("serve", model, "--host", host, "--token-file", file)
        assert result.exit_code == 0
        assert TOKEN not in result.output
    assert all(gate_of(call["app"])["gate"] is not None for call in served)
    file.write_text("short")
    assert "16 to 512" in wrong_data(invoke("serve", model, "--token-file", file))


def test_names_of_hosts_are_allowed(model, served):
    invoke("serve", model, "--host", "lab.example", "--allow-host", "proxy.example")
    assert set(gate_of(served[0]["app"])["hosts"]) == {"lab.example", "proxy.example"}
    invoke("serve", model, "--host", "0.0.0.0")
    assert "localhost" in gate_of(served[1]["app"])["hosts"]
    assert invoke("serve", model, "--allow-host", "a/b").exit_code == 2


def test_limits_are_passed_on(model, served):
    invoke("serve", model, "--max-queue", "3", "--timeout", "7")
    [route] = [one for one in served[0]["app"].routes if one.path == "/v1/extract"]
    limits = route.endpoint.__self__.limits
    assert (limits.queue, limits.seconds) == (3, 7.0)


def test_a_taken_port_is_an_error(model):
    with bind("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        message = wrong_data(invoke("serve", model, "--port", port))
    assert f"port {port}, is in use by another program" in message


def test_files_that_are_not_models(model, tmp_path):
    assert "No such file" in wrong_data(invoke("serve", tmp_path / "missing.kw"))
    kernel = tmp_path / "kernel.kw"
    kw.save(kw.SubsequenceKernel(), kernel)
    assert "not a relation extractor" in wrong_data(invoke("serve", kernel))


def test_the_missing_extra_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    message = wrong_data(invoke("serve", model))
    assert "needs uvicorn; install the extra: pip install 'kernelwood[web]'" in message
