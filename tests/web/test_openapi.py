"""The OpenAPI document: it is valid, complete, and answers are as it says."""

from __future__ import annotations

import contextlib
import copy
from contextlib import ExitStack

import pytest
from web.serving import (
    TERMS,
    TEXTS,
    Latch,
    claim,
    client_of,
    entities_of,
    event_extractor,
    extractor,
)

from kernelwood.web.openapi import describe_service
from kernelwood.web.service import create_service
from kernelwood.web.service_input import Limits, extract_input, verify_input

jsonschema = pytest.importorskip("jsonschema")
pytestmark = pytest.mark.filterwarnings("ignore:.*fallback of a view:UserWarning")
DOCUMENT = describe_service(Limits())
TOKEN = "a-token-of-some-length"
TEXT = {"text": TEXTS[0], "entities": entities_of(TEXTS[0])}
CLAIM = claim(TEXTS[0], "Activates", "RAK2", "TORP1")


@pytest.fixture(scope="module", autouse=True)
def without_models_at_exit():
    yield
    extractor.cache_clear()
    event_extractor.cache_clear()


@pytest.fixture(scope="module")
def client():
    models = {"main": extractor(), "events": event_extractor()}
    with client_of(create_service(models)) as client:
        yield client


def validator(schema):
    """Return the validator of a schema that refers to the components of the document."""
    return jsonschema.Draft202012Validator({**schema, "components": DOCUMENT["components"]})


def resolved(row):
    """Return a response, or the one that it refers to."""
    if "$ref" not in row:
        return row
    *_, kind, name = row["$ref"].split("/")
    return DOCUMENT["components"][kind][name]


def check(answer):
    """Check an answer of the service against the document, and return its status."""
    request = answer.request
    operation = DOCUMENT["paths"][request.url.path][request.method.lower()]
    described = resolved(operation["responses"][str(answer.status_code)])
    kind = answer.headers["content-type"].partition(";")[0]
    [(expected, content)] = described["content"].items()
    assert kind == expected
    if kind == "application/json":
        validator(content["schema"]).validate(answer.json())
    for name in described.get("headers", {}):
        assert answer.headers[name].isdigit()
    return answer.status_code


def strict(schema):
    """Return all schemas inside a document."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from strict(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from strict(value)


# The document.


def test_it_is_what_the_service_shows(client):
    assert client.get("/openapi.json").json() == DOCUMENT


def test_schemas_are_valid_and_all_references_exist():
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    for part in strict(DOCUMENT):
        if "$ref" in part:
            place = DOCUMENT
            for name in part["$ref"].removeprefix("#/").split("/"):
                place = place[name]


def test_every_component_is_used():
    used = {part["$ref"] for part in strict(DOCUMENT) if "$ref" in part}
    for kind in ("schemas", "responses"):
        for name in DOCUMENT["components"][kind]:
            assert f"#/components/{kind}/{name}" in used, name


def test_every_route_is_described():
    app = create_service({"main": extractor()})
    routes = {(route.path, method) for route in app.routes for method in route.methods - {"HEAD"}}
    described = {
        (path, method.upper()) for path, methods in DOCUMENT["paths"].items() for method in methods
    }
    assert routes == described


def test_limits_are_those_of_the_service():
    made = describe_service(Limits(claims=7, evidence=3))["components"]["schemas"]["VerifyRequest"]
    assert made["properties"]["claims"]["maxItems"] == 7
    assert made["properties"]["evidence"]["maximum"] == 3


# Answers.


@pytest.mark.parametrize(
    "body",
    [
        {**TEXT, "all": True, "evidence": 2},
        {"text": TEXTS[5], "terms": TERMS, "threshold": 0},
        {"text": ""},
        {"documents": []},
        {"documents": [{"id": "a", **TEXT}, {"text": TEXTS[1]}], "model": None, "threshold": None},
        {**TEXT, "model": "events", "all": True, "evidence": 1},
        {"text": "A promotes B.", "terms": [["A", "protein"], ["B", "protein"]], "all": True,
         "model": "events", "evidence": 2},
    ],
)  # fmt: skip
def test_good_requests_and_answers_are_described(client, body):
    validator({"$ref": "#/components/schemas/ExtractRequest"}).validate(body)
    assert check(client.post("/v1/extract", json=body)) == 200


@pytest.mark.parametrize(
    "body",
    [
        {"claims": [CLAIM], "evidence": 2},
        {"claims": [{**CLAIM, "id": "c", "metadata": {"a": [1]}}], "map": {"x": "Binds"}},
        {"claims": [claim(TEXTS[0], "Activates", "TORP1", "RAK2")]},
        {"claims": [claim(TEXTS[5], "other", "FENK1", "MEL3")]},
        {"claims": []},
    ],
)
def test_good_claims_and_verdicts_are_described(client, body):
    validator({"$ref": "#/components/schemas/VerifyRequest"}).validate(body)
    assert check(client.post("/v1/verify", json=body)) == 200


@pytest.mark.parametrize(
    "path", ["/v1/model", "/v1/models", "/health", "/metrics", "/openapi.json"]
)
def test_other_answers_are_described(client, path):
    assert check(client.get(path)) == 200
    assert check(client.get(path, headers={"host": "evil.example"})) == 403


BAD = [
    {}, {"text": 5}, {"text": "", "documents": []}, {"text": "", "x": 1}, {"text": "", "all": 0},
    {"text": "", "evidence": 11}, {"text": "", "threshold": 2}, {"text": "", "terms": [["a"]]},
    {"text": "", "terms": [["", "b"]]}, {"documents": 5}, {"documents": [{}]},
    {"documents": [{"text": "", "id": 5}]}, {"documents": [], "entities": []},
    {"text": "a", "entities": [{"type": "P"}]},
    {"text": "a", "entities": [{"type": "P", "start": 0}]},
    {"text": "a", "entities": [{"type": "P", "start": -1, "end": 1}]},
    {"text": "a", "entities": [{"type": "P", "start": 0, "end": 1, "spans": [[0, 1]]}]},
    {"text": "a", "entities": [{"type": "P", "spans": []}]},
    {"text": "a", "entities": [{"start": 0, "end": 1}]},
    {"documents": [{"text": ""}] * 201},
    {"text": "a" * 50_001},
    {"documents": [{"text": "", "id": "a" * 301}]},
]  # fmt: skip


@pytest.mark.parametrize("body", BAD, ids=range(len(BAD)))
def test_what_the_document_forbids_is_refused(client, body):
    with pytest.raises(jsonschema.ValidationError):
        validator({"$ref": "#/components/schemas/ExtractRequest"}).validate(body)
    assert check(client.post("/v1/extract", json=body)) in (413, 422)


BAD_CLAIMS = [
    {}, {"claims": 5}, {"claims": [{}]}, {"claims": [CLAIM] * 257}, {"claims": [], "map": 5},
    {"claims": [{**CLAIM, "relation": {"type": "x"}}]}, {"claims": [{**CLAIM, "x": 1}]},
]  # fmt: skip


@pytest.mark.parametrize("body", BAD_CLAIMS, ids=range(len(BAD_CLAIMS)))
def test_claims_that_the_document_forbids_are_refused(client, body):
    with pytest.raises(jsonschema.ValidationError):
        validator({"$ref": "#/components/schemas/VerifyRequest"}).validate(body)
    assert check(client.post("/v1/verify", json=body)) in (413, 422)


def test_other_errors_are_described(client):
    headers = {"content-type": "application/json"}
    assert check(client.post("/v1/extract", content=b"{", headers=headers)) == 400
    assert check(client.post("/v1/extract", content=b"{}")) == 415
    assert check(client.post("/v1/extract", json={"text": "", "model": "x"})) == 404
    assert check(client.get("/v1/model", params={"name": "x"})) == 404
    assert check(client.post("/v1/verify", json={"claims": [], "model": "events"})) == 422


def test_missing_tokens_are_described():
    with client_of(create_service({"main": extractor()}, token=TOKEN)) as client:
        assert check(client.get("/v1/models")) == 401
        assert check(client.post("/v1/extract", json=TEXT)) == 401


def test_errors_of_load_are_described():
    from concurrent.futures import ThreadPoolExecutor

    app = create_service({"main": extractor()}, limits=Limits(queue=1, seconds=1))
    [route] = [route for route in app.routes if route.path == "/v1/extract"]
    model = route.endpoint.__self__.models["main"]
    latch = model.predict = Latch(model.predict)
    with ExitStack() as stack:
        client = stack.enter_context(client_of(app))
        stack.callback(latch.released.set)
        pool = stack.enter_context(ThreadPoolExecutor(1))
        first = pool.submit(client.post, "/v1/extract", json=TEXT)
        assert latch.reached.wait(60)
        assert check(client.post("/v1/extract", json=TEXT)) == 429
        assert check(first.result(60)) == 504


def test_an_internal_error_is_described(client, monkeypatch, caplog):
    app = create_service({"main": extractor()})
    [route] = [route for route in app.routes if route.path == "/v1/extract"]
    model = route.endpoint.__self__.models["main"]
    model.predict = None
    with client_of(app) as client:
        assert check(client.post("/v1/extract", json=TEXT)) == 500
    assert "NoneType" in caplog.text


def test_schemas_refuse_other_answers(client):
    """The checks above can fail: an answer with one wrong value is not valid."""
    answer = client.post("/v1/extract", json={**TEXT, "all": True, "evidence": 1}).json()
    schema = validator({"$ref": "#/components/schemas/ExtractAnswer"})
    schema.validate(answer)
    for place, value in [
        (("relations", 0, "probability"), 1.5), (("relations", 0, "sentence"), [0]),
        (("relations", 0, "participants", 0, "spans"), 5), (("documents", 0, "entities"), -1),
        (("relations", 0, "evidence", "cases", 0, "similarity"), "high"), (("warnings",), None),
        (("relations", 0, "more"), 1),
    ]:  # fmt: skip
        wrong = copy.deepcopy(answer)
        inner = wrong
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
        assert not schema.is_valid(wrong), place


def test_what_is_converted_is_what_the_document_allows():
    """Conversion without a service, for all bodies above."""
    limits = Limits()
    assert extract_input({"documents": [{"text": "a"}]}, limits).documents[0][0] == "text1"
    assert len(verify_input({"claims": [CLAIM]}, [], limits).claims) == 1


# Generated requests.


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_generated_requests_are_answered_as_described():
    schemathesis = pytest.importorskip(
        "schemathesis", reason="generated requests need schemathesis: pip install schemathesis"
    )
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    wanted = [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
    ]
    app = create_service({"main": extractor()})
    with client_of(app) as client:
        schema = schemathesis.openapi.from_url(f"{client.server.url}/openapi.json")
        operations = [found.ok() for found in schema.get_all_operations()]
        assert len(operations) >= 6
        for operation in operations:
            for mode in schemathesis.GenerationMode:
                statuses = generated(operation, mode, wanted)
                if operation.method == "post":
                    assert len(statuses) >= 50
                    assert (200 in statuses) == mode.is_positive


def generated(operation, mode, checks):
    """Check answers to generated requests, and return their statuses; [] if none are possible."""
    from hypothesis import HealthCheck, given, settings
    from hypothesis.errors import Unsatisfiable

    statuses = []

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    def run(case):
        statuses.append(case.call_and_validate(checks=checks).status_code)

    with contextlib.suppress(Unsatisfiable):  # a GET without parameters cannot be wrong
        run()
    return statuses
