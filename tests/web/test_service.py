"""The service: answers, batches, limits, hostile requests, shutdown."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from web.serving import (
    TERMS,
    TEXTS,
    Latch,
    claim,
    client_of,
    document_of,
    entities_of,
    event_extractor,
    extractor,
    httpx,
)

import kernelwood as kw
from kernelwood.errors import KernelInputError, KernelwoodError
from kernelwood.relations import card_of
from kernelwood.web.batching import BATCH_CHARACTERS, Job, Unit, Worker, gather
from kernelwood.web.metrics import Metrics
from kernelwood.web.security import ApiError
from kernelwood.web.served_model import ExtractJob, ServedModel, VerifyJob
from kernelwood.web.server import Server, bind, url_of
from kernelwood.web.service import create_service
from kernelwood.web.service_input import Limits, extract_input, verify_input

WAIT = 60  # seconds until a thread counts as hung
# Warnings are errors in tests; those of the library on threads of a service are not.
pytestmark = pytest.mark.filterwarnings("ignore:.*fallback of a view:UserWarning")


@pytest.fixture(scope="module", autouse=True)
def without_models_at_exit():
    yield
    extractor.cache_clear()
    event_extractor.cache_clear()


@pytest.fixture(autouse=True)
def batches_that_do_not_depend_on_time(monkeypatch):
    monkeypatch.setattr("kernelwood.web.batching._GATHERING", float("inf"))


@pytest.fixture(scope="module")
def client():
    models = {"main": extractor(), "tagger": extractor(entities="learn")}
    with client_of(create_service(models, limits=Limits(seconds=300))) as client:
        yield client


def ask(client, body, path="/v1/extract"):
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client, body, path="/v1/extract"):
    answer = client.post(path, json=body)
    assert answer.status_code >= 400
    return answer.status_code, answer.json()["error"]


def expected(text, name="text1", **options):
    """Return the relations that the library finds in a text whose entities are given."""
    example = kw.Example(name, views={"document": document_of(text)})
    found = extractor().extract([example], **options)
    return [one.to_dict() for one in found]


# Extraction.


@pytest.mark.parametrize("text", TEXTS)
def test_relations_are_those_of_the_library(client, text):
    made = ask(client, {"text": text, "entities": entities_of(text), "all": True})
    assert made["relations"] == expected(text, all=True)
    assert made["model"] == "main"
    assert made["warnings"] == []


def test_negative_predictions_are_left_out_by_default(client):
    documents = [
        {"id": f"a{n}", "text": text, "entities": entities_of(text)} for n, text in enumerate(TEXTS)
    ]
    made = ask(client, {"documents": documents})
    everything = ask(client, {"documents": documents, "all": True})
    assert made["relations"] == [one for one in everything["relations"] if one["positive"]]
    assert 0 < len(made["relations"]) < len(everything["relations"])
    assert made["documents"] == everything["documents"]
    for row in made["documents"]:
        listed = [one for one in everything["relations"] if one["document"] == row["id"]]
        assert row["candidates"] == len(listed)
        assert row["relations"] == sum(one["positive"] for one in listed)
    assert [row["sentences"] for row in made["documents"]] == [1, 1, 1, 1, 1, 2]


def test_several_documents_of_one_request_do_not_affect_each_other(client):
    documents = [
        {"id": f"a{n}", "text": text, "entities": entities_of(text)} for n, text in enumerate(TEXTS)
    ]
    made = ask(client, {"documents": documents, "all": True})
    single = [row for n, text in enumerate(TEXTS) for row in expected(text, f"a{n}", all=True)]
    assert made["relations"] == single


def test_another_threshold_changes_decisions_but_not_probabilities(client):
    body = {"text": TEXTS[5], "entities": entities_of(TEXTS[5]), "all": True}
    given = ask(client, body)["relations"]
    lower = ask(client, {**body, "threshold": 0})["relations"]
    higher = ask(client, {**body, "threshold": 1})["relations"]
    assert all(one["positive"] for one in lower)
    assert not any(one["positive"] for one in higher)
    assert [one["probability"] for one in given] == [one["probability"] for one in higher]


def test_evidence_is_that_of_the_library(client):
    text = TEXTS[0]
    made = ask(client, {"text": text, "entities": entities_of(text), "all": True, "evidence": 2})
    found = extractor().extract(document_of(text), all=True)
    wanted = [one.to_dict(fragments=False) for one in extractor().explain(found, 2)]
    assert [one["evidence"] for one in made["relations"]] == json.loads(json.dumps(wanted))
    assert 0 < len(wanted[0]["cases"]) <= 4


def test_terms_of_a_request_are_entities(client):
    made = ask(
        client, {"text": TEXTS[0], "terms": [["RAK2", "Protein", "P1"], *TERMS], "all": True}
    )
    [relation] = made["relations"]
    assert [one["text"] for one in relation["participants"]] == ["RAK2", "TORP1"]
    assert relation["participants"][0]["reference"] == "P1"


def test_terms_of_one_request_are_unknown_to_others(client):
    assert ask(client, {"text": TEXTS[0], "terms": TERMS, "all": True})["relations"]
    made = ask(client, {"text": TEXTS[0], "all": True})
    assert made["relations"] == []
    [warning] = made["warnings"]
    advice = "send them with the documents, or 'terms'"
    assert warning == f"the input has no entities, so it has no relations: {advice}"


def test_a_model_with_a_tagger_finds_entities_unless_told_otherwise(client):
    body = {"text": TEXTS[0], "model": "tagger", "all": True}
    found = extractor(entities="learn").extract(kw.Document(TEXTS[0]), all=True)
    assert found
    assert ask(client, body)["relations"] == [one.to_dict() for one in found]
    made = ask(client, {**body, "find_entities": False})
    assert made["relations"] == []
    assert "leave out 'find_entities', so that the model finds them, or send" in made["warnings"][0]


def test_types_that_the_model_does_not_know_are_warned_of_once(client):
    terms = [["RAK2", "protein"], ["TORP1", "protein"]]
    documents = [{"id": name, "text": TEXTS[0]} for name in ("a", "b")]
    made = ask(client, {"documents": documents, "terms": terms})
    [warning] = made["warnings"]
    assert warning.startswith("entity types that the model does not know: protein; it was trained")
    assert ask(client, {"text": TEXTS[0], "terms": TERMS})["warnings"] == []
    wrong = claim(TEXTS[0], "Activates", "RAK2", "TORP1")
    wrong["entities"] = [{**one, "type": "protein"} for one in wrong["entities"]]
    assert ask(client, {"claims": [wrong]}, "/v1/verify")["warnings"] == [warning]


def test_discontinuous_entities_and_characters_outside_the_basic_plane(client):
    text = "𝛼-RAK2 and 𝛽 chains activate TORP1."
    places = [text.index(word) for word in ("RAK2", "chains", "TORP1")]
    entities = [
        {"type": "Protein", "spans": [[places[0], places[0] + 4], [places[1], places[1] + 6]]},
        {"type": "Protein", "start": places[2], "end": places[2] + 5, "text": "TORP1"},
    ]
    [relation] = ask(client, {"text": text, "entities": entities, "all": True})["relations"]
    assert [one["text"] for one in relation["participants"]] == ["RAK2 chains", "TORP1"]
    assert [one["id"] for one in relation["participants"]] == ["T1", "T2"]


def test_pairs_that_a_model_does_not_consider_are_counted():
    model, text = extractor(max_distance=4), TEXTS[3]
    with client_of(create_service({"near": model})) as client:
        made = ask(client, {"text": text, "entities": entities_of(text), "all": True})
    assert [one["id"] for one in made["relations"]] == [
        one.id for one in model.extract(document_of(text), all=True)
    ]
    assert len(made["relations"]) == 2
    assert made["dropped"] == {"pair that is not a candidate of the model": 1}


def test_empty_texts_have_no_relations(client):
    for body in ({"text": ""}, {"text": " \n\t"}, {"documents": []}):
        assert ask(client, body)["relations"] == []


def test_a_text_that_names_a_file_is_a_text(client, tmp_path):
    file = tmp_path / "secret.txt"
    file.write_text("RAK2 activates TORP1.")
    made = ask(client, {"text": str(file), "terms": TERMS, "all": True})
    assert made["documents"][0]["entities"] == 0


def test_terms_that_name_a_file_are_refused(client, tmp_path):
    file = tmp_path / "terms.tsv"
    file.write_text("RAK2\tProtein\n")
    assert refused(client, {"text": TEXTS[0], "terms": str(file)})[0] == 422


# Verification.


def test_verdicts_are_those_of_the_library(client):
    rows = [
        claim(TEXTS[0], "Activates", "RAK2", "TORP1"),
        claim(TEXTS[0], "Activates", "TORP1", "RAK2"),
        claim(TEXTS[4], "Binds", "RAK2", "SNUR5"),
        claim(TEXTS[5], "Binds", "FENK1", "TORP1"),
        claim(TEXTS[1], "unknown", "MEL3", "RAK2"),
    ]
    made = ask(client, {"claims": rows}, "/v1/verify")
    claims = [kw.io.Claim.from_object(row, f"claim{n + 1}") for n, row in enumerate(rows)]
    wanted = [verdict.to_dict() for verdict in extractor().verify(claims)]
    assert made["verdicts"] == wanted
    assert sum(made["counts"].values()) == len(rows)
    assert "evidence" not in made["verdicts"][0]


def test_verdicts_have_evidence_on_request(client):
    rows = [claim(TEXTS[0], "Activates", "RAK2", "TORP1")]
    made = ask(client, {"claims": rows, "evidence": 1}, "/v1/verify")
    assert 0 < len(made["verdicts"][0]["evidence"]["cases"]) <= 2


def test_claims_may_use_other_names_of_relation_types(client):
    rows = [claim(TEXTS[0], "turns on", "RAK2", "TORP1")]
    made = ask(client, {"claims": rows, "map": {"turns on": "Activates"}}, "/v1/verify")
    assert made["verdicts"][0]["checked_as"] == "Activates"
    status, error = refused(client, {"claims": rows, "map": {"x": "y"}}, "/v1/verify")
    assert (status, error["field"]) == (422, "map")


def test_claims_with_parses_use_them(client):
    row = claim("RAK2 activates TORP1", "Activates", "RAK2", "TORP1")
    tokens = [["RAK2", 0, 4], ["activates", 5, 14], ["TORP1", 15, 20]]
    arcs = [[1, "nsubj", 0], [1, "dobj", 2], [-1, "root", 1]]
    parsed = {**row, "tokens": tokens, "dependencies": arcs}
    assert not VerifyJob(a_model(), verify_input({"claims": [parsed]}, [], Limits())).shared
    made = ask(client, {"claims": [parsed]}, "/v1/verify")
    [verdict] = extractor().verify([kw.io.Claim.from_object(parsed)])
    assert made["verdicts"][0]["probability"] == verdict.probability


def test_models_of_events_extract_but_do_not_verify():
    with client_of(create_service({"main": event_extractor()})) as client:
        text = "A promotes B."
        rows = [{"type": "protein", "start": n, "end": n + 1} for n in (0, 11)]
        made = ask(client, {"text": text, "entities": rows, "all": True})
        entities = [
            kw.text.Entity(f"T{n + 1}", "protein", ((m, m + 1),)) for n, m in enumerate((0, 11))
        ]
        found = event_extractor().extract(kw.Document(text, entities), all=True)
        assert made["relations"] == [one.to_dict() for one in found] != []
        assert made["relations"][0]["trigger"]["text"] == "promotes"
        status, error = refused(client, {"claims": []}, "/v1/verify")
        assert (status, "predicts events" in error["message"]) == (422, True)


# Wrong requests.

SPAN = {"type": "Protein", "start": 0, "end": 4}


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({}, None, "either 'text' or 'documents'"),
        ({"text": "a", "documents": []}, None, "either 'text' or 'documents'"),
        ({"text": 1}, "text", "must be a string, got the number 1"),
        ({"text": "a", "modelx": "x"}, "modelx", "did you mean 'model'?"),
        ({"text": "a", "model": 5}, "model", "must be a string"),
        ({"text": "a", "all": "yes"}, "all", "true or false"),
        ({"text": "a", "find_entities": 1}, "find_entities", "true or false"),
        ({"text": "a", "evidence": -1}, "evidence", "from 0 to 10"),
        ({"text": "a", "evidence": 11}, "evidence", "from 0 to 10"),
        ({"text": "a", "evidence": True}, "evidence", "from 0 to 10"),
        ({"text": "a", "threshold": 1.5}, "threshold", "from 0 to 1"),
        ({"text": "a", "threshold": "high"}, "threshold", "from 0 to 1"),
        ({"documents": {}}, "documents", "must be a list"),
        ({"documents": [5]}, "documents[0]", "must be an object"),
        ({"documents": [{}]}, "documents[0].text", "is missing"),
        ({"documents": [{"text": None}]}, "documents[0].text", "must be a string, got null"),
        ({"documents": [{"text": "", "id": 5}]}, "documents[0].id", "must be a string"),
        ({"documents": [{"text": "", "id": "a"}] * 2}, "documents[1].id", "used twice"),
        ({"documents": [{"text": "", "x": 1}]}, "documents[0].x", "unknown field"),
        ({"documents": [], "entities": []}, "entities", "belong to each document"),
        ({"text": "a", "entities": {}}, "entities", "must be a list"),
        ({"text": "RAK2", "entities": [5]}, "entities[0]", "must be an object"),
        ({"text": "RAK2", "entities": [{**SPAN, "end": 5}]}, "entities[0]", "4 characters"),
        ({"text": "RAK2", "entities": [{**SPAN, "start": -1}]}, "entities[0]", "characters"),
        ({"text": "RAK2", "entities": [{**SPAN, "start": 4}]}, "entities[0]", "characters"),
        ({"text": "RAK2", "entities": [{**SPAN, "end": 2.0}]}, "entities[0]", "whole numbers"),
        ({"text": "RAK2", "entities": [{**SPAN, "end": True}]}, "entities[0]", "whole numbers"),
        ({"text": "RAK2", "entities": [{"type": "P", "start": 0}]}, "entities[0]", "'spans'"),
        ({"text": "RAK2", "entities": [{**SPAN, "spans": [[0, 4]]}]}, "entities[0]", "either"),
        ({"text": "RAK2", "entities": [{"type": "P", "spans": []}]}, "entities[0].spans", "pairs"),
        (
            {"text": "RAK2", "entities": [{"type": "P", "spans": [[2, 4], [0, 1]]}]},
            "entities[0].spans", "in order",
        ),
        ({"text": "RAK2", "entities": [{"start": 0, "end": 4}]}, "entities[0].type", "missing"),
        ({"text": "RAK2", "entities": [{**SPAN, "text": "RAK"}]}, "entities[0].text", "offsets"),
        ({"text": "RAK2", "entities": [{**SPAN, "id": "a"}] * 2}, "entities", "a"),
        ({"text": "a", "terms": ["RAK2"]}, "terms[0]", "a term, its type"),
        ({"text": "a", "terms": [["RAK2"]]}, "terms[0]", "a term, its type"),
        ({"text": "a", "terms": [["RAK2", ""]]}, "terms[0]", "a term, its type"),
        ({"text": "a", "terms": [["RAK2", "P", "1", "2"]]}, "terms[0]", "a term, its type"),
    ],
)  # fmt: skip
def test_wrong_fields_are_named(client, body, field, message):
    status, error = refused(client, body)
    assert (status, error["code"]) == (422, "invalid")
    assert error.get("field") == field
    assert message in error["message"]


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({}, "claims", "no field 'claims'"),
        ({"claims": {}}, "claims", "must be a list"),
        ({"claims": [5]}, "claims[0]", "must be an object"),
        ({"claims": [{"text": "a"}]}, "claims[0]", "no key 'entities'"),
        ({"claims": [], "evidence": 11}, "evidence", "from 0 to 10"),
        ({"claims": [], "map": []}, "map", "must be an object"),
        ({"claims": [], "all": True}, "all", "unknown field"),
    ],
)
def test_wrong_claims_are_named(client, body, field, message):
    status, error = refused(client, body, "/v1/verify")
    assert (status, error["field"]) == (422, field)
    assert message in error["message"]


def test_unknown_models_are_named(client):
    status, error = refused(client, {"text": "a", "model": "other"})
    assert (status, error["code"]) == (404, "model")
    assert "main, tagger" in error["message"]
    assert client.get("/v1/model", params={"name": "other"}).status_code == 404


def test_only_json_is_accepted(client):
    assert client.post("/v1/extract", content=b"{}").status_code == 415
    headers = {"content-type": "application/json"}
    for body, status in [(b"{", 400), (b"[]", 422), (b'"text"', 422), (b"\xff", 400)]:
        answer = client.post("/v1/extract", content=body, headers=headers)
        assert answer.status_code == status
        assert answer.json()["error"]["message"]


def test_other_paths_and_methods_do_not_exist(client):
    for method, path, status in [
        ("GET", "/", 404), ("GET", "/v1/extract", 405), ("DELETE", "/v1/models", 415),
        ("POST", "/shutdown", 404), ("GET", "/v1/models/../../etc/passwd", 404),
    ]:  # fmt: skip
        body = {"json": {}} if method == "POST" else {}
        answer = client.request(method, path, **body)
        assert (answer.status_code, list(answer.json())) == (status, ["error"]), path


def test_pages_of_other_origins_are_refused(client):
    for headers in ({"origin": "http://evil.example"}, {"host": "evil.example"}):
        answer = client.post("/v1/extract", json={"text": "a"}, headers=headers)
        assert answer.status_code == 403


# Limits.

SMALL = Limits(
    body=5000, documents=3, characters=600, document_characters=400, entities=8, terms=2, claims=2,
    claim_characters=50, sentence_characters=300, candidates=5, name=10,
)  # fmt: skip


@pytest.fixture(scope="module")
def small():
    with client_of(create_service({"main": extractor()}, limits=SMALL)) as client:
        yield client


FOUR = [{"type": "P", "start": 2 * n, "end": 2 * n + 1} for n in range(4)]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"text": "a" * 5000}, "more than 5,000 bytes"),
        ({"text": "a" * 401}, "401 characters in text"),
        ({"documents": [{"text": "a" * 301}] * 2}, "602 characters, the limit is 600"),
        ({"documents": [{"text": ""}] * 4}, "4 documents, the limit is 3"),
        ({"text": "a" * 20, "entities": [{"type": "P", "start": 0, "end": 1}] * 9}, "9 entities"),
        ({"text": "a b c d", "entities": FOUR}, "more than 5 pairs of entities"),
        ({"text": "", "terms": [["a", "b"]] * 3}, "3 terms"),
        ({"text": "", "terms": [["a" * 11, "b"]]}, "11 characters in terms[0]"),
        ({"documents": [{"text": "", "id": "a" * 11}]}, "characters in documents[0].id"),
    ],
)
def test_limits_are_named(small, body, message):
    status, error = refused(small, body)
    assert (status, error["code"]) == (413, "too-large")
    assert message in error["message"]


def test_limits_of_claims_are_named(small):
    row = claim(TEXTS[0], "Binds", "RAK2", "TORP1")
    long = {**row, "text": row["text"] + " " * 50}
    for rows, message in [([row] * 3, "3 claims"), ([long], "characters in claims[0].text")]:
        status, error = refused(small, {"claims": rows}, "/v1/verify")
        assert (status, message in error["message"]) == (413, True), error


def test_sentences_that_are_too_long_are_left_out(small):
    long = f"RAK2 {'very ' * 60}activates TORP1. RAK2 activates TORP1."
    places = [n for n in range(len(long)) if long.startswith(("RAK2", "TORP1"), n)]
    rows = [{"type": "Protein", "start": n, "end": n + 4} for n in places]
    made = ask(small, {"text": long, "entities": rows, "all": True})
    assert made["dropped"] == {"sentence with more than 300 characters": 1}
    assert [one["text"] for one in made["relations"]] == ["RAK2 activates TORP1."]


def test_a_body_of_unknown_length_is_limited(small):
    def chunks():
        yield from [b'{"text": "', *[b"a" * 1000] * 10, b'"}']

    headers = {"content-type": "application/json"}
    try:
        answer = small.post("/v1/extract", content=chunks(), headers=headers)
    except httpx.WriteError:  # the server closed the connection while the body was sent
        return
    assert answer.status_code == 413


# Hostile texts.


@pytest.mark.parametrize(
    "text",
    [
        "RAK2 " + "the " * 300 + "TORP1",
        "RAK2 " + "(" * 2000 + " TORP1",
        "RAK2 \x00\x01\x1b[2J\u202e\ufeff\u2028 TORP1 \x7f",
        "RAK2" + "\u0301" * 3000 + " TORP1",
        "RAK2 <script>alert(1)</script> ' \" `; DROP TABLE x; -- TORP1",
        "RAK2\r\n\r\n\n\n\t TORP1",
        "RAK2 " + "." * 4000 + " TORP1",
        "RAK2 " + "a" * 4900 + " TORP1",
        "RAK2 " + "😀" * 2000 + " TORP1",
    ],
    ids=[
        "determiners",
        "brackets",
        "control",
        "accents",
        "markup",
        "blanks",
        "dots",
        "word",
        "emoji",
    ],
)
def test_hostile_texts_are_answered(client, text):
    rows = [
        {"type": "Protein", "start": text.index(name), "end": text.index(name) + len(name)}
        for name in ("RAK2", "TORP1")
    ]
    made = ask(client, {"text": text, "entities": rows, "all": True})
    for relation in made["relations"]:
        start, end = relation["sentence"]
        assert relation["text"] == text[start:end]


def test_the_time_of_a_batch_is_bounded_for_the_worst_texts():
    """Eighty words that the grammar takes for anything cost most; a batch has few of them."""
    worst = "a " * 80
    model = a_model()
    document = {"text": f"{worst}. " * 300, "entities": []}
    job = ExtractJob(model, extract_input(document, Limits()))
    assert job.peek() is None  # sentences without entities are not parsed
    units = [Unit(None, 161, 1)] * 500
    assert len(gather([Listed(units)])[0][1]) == BATCH_CHARACTERS // 161


# Batches.


def a_model():
    return ServedModel("main", extractor(), Limits(), Metrics())


class Listed(Job):
    """A job of given units, which keeps what it was computed with."""

    def __init__(self, units, shared=True, seconds=60):
        super().__init__(seconds)
        self.units, self.shared, self.batches = list(units), shared, []

    def peek(self):
        if self.units and isinstance(self.units[0], Exception):
            raise self.units[0]
        return self.units[0] if self.units else None

    def pop(self):
        self.units.pop(0)

    def compute(self, parts):
        if any("broken" in contents for _, contents in parts):
            raise RuntimeError("secret")
        for job, contents in parts:
            job.batches.append((contents, len(parts)))

    def answer(self):
        return b"done"


def unit(content, n_characters=1, n_candidates=1):
    return Unit(content, n_characters, n_candidates)


def test_units_are_taken_in_turn():
    long, short = Listed([unit(n) for n in range(5)]), Listed([unit("a"), unit("b")])
    assert gather([long, short]) == [(long, [0, 1, 2, 3, 4]), (short, ["a", "b"])]
    quarter = BATCH_CHARACTERS // 4
    long, short = Listed([unit(n, quarter) for n in range(9)]), Listed([unit("a", quarter)])
    assert gather([long, short]) == [(long, [0, 1, 2]), (short, ["a"])]
    assert gather([long]) == [(long, [3, 4, 5, 6])]


def test_a_batch_has_at_least_one_unit():
    job = Listed([unit("huge", 10**9, 10**9), unit("next")])
    assert gather([job]) == [(job, ["huge"])]
    assert gather([Listed([])]) == []


def test_a_job_whose_units_cannot_be_made_fails_alone():
    bad, good = Listed([unit(1), ApiError(413, "too-large", "x")]), Listed([unit(2)])
    assert gather([bad, good]) == [(good, [2])]
    assert bad.result.exception().status == 413


@pytest.fixture
def worker():
    made = Worker("main", Metrics(), max_queue=8)
    yield made
    made.stop(WAIT)


def run_all(worker, *jobs):
    """Let a worker compute jobs that wait when it is ready."""
    gate = Listed([unit("gate")])
    latch = gate.compute = Latch(gate.compute)
    worker.submit(gate)
    assert latch.reached.wait(WAIT)
    for job in jobs:
        worker.submit(job)
    latch.released.set()
    for job in jobs:
        if not job.result.cancelled():
            job.result.exception(WAIT)


def test_waiting_jobs_are_computed_together(worker):
    jobs = [Listed([unit(n)]) for n in range(5)]
    run_all(worker, *jobs)
    assert [job.batches for job in jobs] == [[([n], 5)] for n in range(5)]
    assert all(job.result.result() == b"done" for job in jobs)


def test_jobs_that_must_not_be_shared_are_computed_alone(worker):
    jobs = [Listed([unit(n)], shared=n != 1) for n in range(3)]
    run_all(worker, *jobs)
    assert [job.batches[0][1] for job in jobs] == [2, 1, 2]


def test_jobs_that_do_not_fit_are_first_in_the_next_batch(worker):
    half = BATCH_CHARACTERS // 2
    jobs = [Listed([unit(n, half)] * 3) for n in range(3)]
    order = []
    for job in jobs:
        job.answer = lambda job=job: order.append(jobs.index(job)) or b""
    run_all(worker, *jobs)
    assert [len(job.batches) for job in jobs] == [3, 3, 3]  # two jobs in each batch, in turn
    assert sorted(order) == [0, 1, 2]


def test_an_error_is_that_of_the_job_that_caused_it(worker, caplog):
    jobs = [Listed([unit("good")]), Listed([unit("broken")]), Listed([unit("good")])]
    run_all(worker, *jobs)
    assert jobs[0].result.result() == jobs[2].result.result() == b"done"
    error = jobs[1].result.exception()
    assert (error.status, "secret" in error.message) == (500, False)
    assert "secret" in caplog.text


def test_errors_of_the_library_are_shown():
    job = Listed([unit(1)])
    job.fail(KernelInputError("a bad value\n    hint"))
    error = job.result.exception()
    assert (error.status, error.message) == (422, "a bad value")


def test_a_full_queue_refuses_with_the_time_to_wait(worker):
    worker.max_queue = 2
    gate = Listed([unit("gate")])
    latch = gate.compute = Latch(gate.compute)
    worker.submit(gate)
    assert latch.reached.wait(WAIT)
    worker.submit(Listed([unit(1)]))
    with pytest.raises(ApiError) as failure:
        worker.submit(Listed([unit(2)]))
    assert (failure.value.status, failure.value.code) == (429, "busy")
    assert 1 <= int(failure.value.headers["retry-after"]) <= 30
    latch.released.set()


def test_answered_jobs_of_an_unfinished_batch_do_not_count(worker):
    gate, first, second = (Listed([unit(n)]) for n in range(3))
    start = gate.compute = Latch(gate.compute)
    latch = second.answer = Latch(second.answer)
    worker.submit(gate)
    assert start.reached.wait(WAIT)
    worker.submit(first)
    worker.submit(second)
    assert len(worker) == 3
    start.released.set()
    assert latch.reached.wait(WAIT)  # the first is answered, the second is not
    assert first.result.result(WAIT) == b"done"
    assert len(worker) == 1
    latch.released.set()
    assert second.result.result(WAIT) == b"done"
    assert len(worker) == 0


def test_canceled_and_late_jobs_are_not_computed(worker):
    late, canceled, good = (Listed([unit(n)], seconds=60 * (n > 0)) for n in range(3))
    canceled.result.cancel()
    run_all(worker, late, good, canceled)
    assert good.result.result() == b"done"
    assert late.result.exception().status == 504
    assert late.batches == canceled.batches == []


def test_documents_after_the_time_limit_are_not_read():
    model = a_model()
    job = ExtractJob(model, extract_input({"text": TEXTS[0], "terms": TERMS}, Limits()))
    job.deadline = 0.0
    with pytest.raises(ApiError) as failure:
        job.peek()
    assert failure.value.status == 504


def test_a_batch_is_computed_before_slow_units_are_made(monkeypatch):
    quick, slow = Listed([unit(1)]), Listed([unit(2)])
    monkeypatch.setattr("kernelwood.web.batching._GATHERING", -1.0)
    assert gather([quick, slow]) == [(quick, [1])]
    assert gather([slow]) == [(slow, [2])]


def test_jobs_that_wait_when_a_worker_stops_fail(worker):
    gate, waiting = Listed([unit("gate"), unit("more")] * 1), Listed([unit(1)])
    latch = gate.compute = Latch(gate.compute)
    worker.submit(gate)
    assert latch.reached.wait(WAIT)
    worker.submit(waiting)
    stopper = threading.Thread(target=worker.stop, args=(WAIT,))
    stopper.start()
    while not worker._stopping:
        time.sleep(0.001)
    latch.released.set()
    stopper.join(WAIT)
    assert waiting.result.exception(WAIT).status == 503
    with pytest.raises(ApiError, match="stopping"):
        worker.submit(Listed([unit(2)]))


def test_combined_requests_have_the_same_answers_bit_for_bit():
    model = a_model()
    bodies = [
        {
            "text": text,
            "entities": entities_of(text),
            "all": n % 2 == 0,
            "evidence": n % 3,
            **({"threshold": 0.2} if n % 4 == 0 else {}),
        }
        for n, text in enumerate(TEXTS * 3)
    ]

    def job(body):
        return ExtractJob(model, extract_input(body, model.limits))

    def answers(bodies):
        jobs = [job(body) for body in bodies]
        gate = job(bodies[0])
        latch = gate.compute = Latch(gate.compute)
        model.worker.submit(gate)
        assert latch.reached.wait(WAIT)
        for one in jobs:
            model.worker.submit(one)
        latch.released.set()
        return [one.result.result(WAIT) for one in jobs]

    alone = [answers([body])[0] for body in bodies]
    before = model.worker.metrics._values["batches_total"][(("model", "main"),)]
    together = answers(bodies)
    after = model.worker.metrics._values["batches_total"][(("model", "main"),)]
    assert together == alone
    assert after - before == 2  # that of the gate, and one for all others
    model.worker.stop()


def test_combined_claims_have_the_same_verdicts_bit_for_bit():
    model = a_model()
    rows = [claim(text, "Binds", *[row["id"] for row in entities_of(text)][:2]) for text in TEXTS]

    def job(some, evidence):
        return VerifyJob(model, verify_input({"claims": some, "evidence": evidence}, [], Limits()))

    def answers(*jobs):
        for one in jobs:
            while one.peek() is not None:
                one.pop()
        return [one.answer() for one in jobs]

    alone = []
    for n, row in enumerate(rows):
        one = job([row, rows[0]], n % 2)
        one.compute([(one, [unit.content for unit in one._units])])
        alone += answers(one)
    jobs = [job([row, rows[0]], n % 2) for n, row in enumerate(rows)]
    jobs[0].compute([(one, [unit.content for unit in one._units]) for one in jobs])
    assert answers(*jobs) == alone


def test_many_clients_at_once_get_their_own_answers(client):
    wanted = {text: expected(text, all=True) for text in TEXTS}

    def check(text):
        made = ask(client, {"text": text, "entities": entities_of(text), "all": True})
        return made["relations"] == wanted[text]

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(check, TEXTS * 8))


def test_a_slow_request_is_answered_in_time_and_others_after_it():
    app = create_service({"main": extractor()}, limits=Limits(seconds=0.3))
    model = model_of(app)
    latch = Latch(model.predict)
    body = {"text": TEXTS[0], "entities": entities_of(TEXTS[0])}
    with client_of(app) as client:
        model.predict = latch
        answer = client.post("/v1/extract", json=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (504, "timeout")
        latch.released.set()
        model.predict = latch._function
        service_of(app).limits = model.limits = Limits()
        assert client.post("/v1/extract", json=body).status_code == 200


def service_of(app):
    """Return the routes of an application and what they share."""
    [route] = [route for route in app.routes if route.path == "/v1/extract"]
    return route.endpoint.__self__


def model_of(app):
    """Return the model that an application serves."""
    return next(iter(service_of(app).models.values()))


def test_a_full_queue_is_answered_by_429_over_http():
    app = create_service({"main": extractor()}, limits=Limits(queue=1))
    model = model_of(app)
    latch = model.predict = Latch(model.predict)
    body = {"text": TEXTS[0], "entities": entities_of(TEXTS[0])}
    with client_of(app) as client, ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.post, "/v1/extract", json=body)
        assert latch.reached.wait(WAIT)
        answer = client.post("/v1/extract", json=body)
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) >= 1
        assert client.get("/health").status_code == 200
        latch.released.set()
        assert first.result(WAIT).status_code == 200


def test_drift_is_that_of_the_documents_of_the_request():
    model = a_model()
    text = "RAK2 TORP1 MEL3 BRIN4 SNUR5"
    rows = [{"id": f"a{n}", "text": text, "entities": entities_of(text)} for n in range(25)]
    job = ExtractJob(model, extract_input({"documents": rows}, Limits()))
    model.worker.submit(job)
    warnings = json.loads(job.result.result(WAIT))["warnings"]
    examples = [kw.Example(f"a{n}", views={"document": document_of(text)}) for n in range(25)]
    monitor = kw.relations.DriftMonitor(extractor())
    monitor.add(extractor().predict(examples, all=True))
    assert monitor.drift.significant == bool(warnings)
    assert all(text.startswith("drift: scores of the 25 documents") for text in warnings)
    model.worker.stop()


@pytest.mark.filterwarnings("ignore:the model was trained on parses")
def test_warnings_about_a_model_are_in_every_answer():
    model = extractor(parser="auto")  # the corpus has parses, texts of requests do not
    with client_of(create_service({"main": model})) as client:
        made = ask(client, {"text": TEXTS[0], "entities": entities_of(TEXTS[0])})
    [warning] = made["warnings"]
    assert warning.startswith("the model was trained on parses that were given")


# Other routes.


def test_models_are_listed_and_described(client):
    rows = client.get("/v1/models").json()["models"]
    assert [(row["name"], row["default"]) for row in rows] == [("main", True), ("tagger", False)]
    assert [row["finds_entities"] for row in rows] == [False, True]
    assert rows[0]["relations"] == list(extractor().relations_)
    made = client.get("/v1/model").json()
    assert (made["name"], made["card"]) == ("main", json.loads(json.dumps(card_of(extractor()))))
    assert client.get("/v1/model", params={"name": "tagger"}).json()["name"] == "tagger"


def test_health_tells_the_version(client):
    assert client.get("/health").json() == {"status": "ok", "version": kw.__version__}


def test_metrics_count_requests_and_batches():
    with client_of(create_service({"main": extractor()})) as client:
        for _ in range(3):
            ask(client, {"text": TEXTS[0], "entities": entities_of(TEXTS[0])})
        client.post("/v1/extract", json={})
        client.get("/unknown/path")
        answer = client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.text.splitlines()
    for line in [
        'kernelwood_requests_total{route="/v1/extract",status="200"} 3',
        'kernelwood_requests_total{route="/v1/extract",status="422"} 1',
        'kernelwood_requests_total{route="other",status="404"} 1',
        'kernelwood_request_seconds_count{route="/v1/extract"} 4',
        'kernelwood_request_seconds_bucket{route="/v1/extract",le="+Inf"} 4',
        'kernelwood_queue_length{model="main"} 0',
        'kernelwood_batches_total{model="main"} 3',
        'kernelwood_batch_units_total{model="main"} 3',
    ]:
        assert line in lines, line


def test_histograms_are_cumulative_and_labels_are_escaped():
    metrics = Metrics()
    metrics.describe("seconds", "histogram", "Durations.")
    metrics.describe("n_total", "counter", "Numbers.")
    for seconds in (0.005, 0.006, 1000):
        metrics.observe("seconds", seconds)
    metrics.add("n_total", 12_345_678, name='a"b\\c\nd')
    lines = metrics.text().splitlines()
    assert 'kernelwood_seconds_bucket{le="0.005"} 1' in lines
    assert 'kernelwood_seconds_bucket{le="0.01"} 2' in lines
    assert 'kernelwood_seconds_bucket{le="60"} 2' in lines
    assert 'kernelwood_seconds_bucket{le="+Inf"} 3' in lines
    assert "kernelwood_seconds_sum 1000.011000" in lines
    assert 'kernelwood_n_total{name="a\\"b\\\\c\\nd"} 12345678' in lines


def test_a_token_is_needed_except_for_health():
    token = "a-token-of-some-length"
    with client_of(create_service({"main": extractor()}, token=token)) as client:
        assert client.get("/health").status_code == 200
        for path in ("/v1/models", "/metrics", "/openapi.json"):
            assert client.get(path).status_code == 401
        headers = {"authorization": f"Bearer {token}"}
        assert client.get("/v1/models", headers=headers).status_code == 200


@pytest.mark.parametrize("name", ["", "a b", "ä", "x" * 65, "a/b"])
def test_names_of_models_are_checked(name):
    with pytest.raises(KernelInputError, match="name of a model"):
        create_service({name: extractor()})


def test_a_path_with_a_slash_at_the_end_is_unknown(client):
    answer = client.post("/v1/extract/", json={"text": "Raf binds Ras."})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not-found")


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [
        (
            {"a": "model.kw"},
            {},
            r"'a' must be a RelationExtractor(.|\n)*kernelwood.load\('model.kw'",
        ),
        (kw.RelationExtractor(), {}, r"mapping of names to extractors(.|\n)*\{'name': extractor\}"),
        (["model.kw"], {}, "mapping of names"),
        ({1: kw.RelationExtractor()}, {}, "name of a model"),
        ({"a": kw.RelationExtractor()}, {"limits": {"documents": 3}}, r"web\.Limits\(documents="),
        ({"a": kw.RelationExtractor()}, {"hosts": "a.org"}, r"give \['a\.org'\]"),
    ],
)
def test_arguments_of_a_service_are_checked(models, options, message):
    with pytest.raises(KernelInputError, match=message):
        create_service(models, **options)


def test_a_service_needs_a_fitted_model():
    with pytest.raises(KernelInputError, match="at least one model"):
        create_service({})
    with pytest.raises((KernelwoodError, ValueError)):
        create_service({"main": kw.RelationExtractor()})


# Documentation.


def test_the_client_of_the_documentation_works(client, capsys):
    page = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^```text\n(import json\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len([line for line in code.splitlines() if line]) <= 10
    exec(
        code.replace("http://127.0.0.1:8420", client.server.url).replace(
            '"evidence": 1', '"all": True'
        ),
        {},
    )
    assert "['Raf', 'Ras']" in capsys.readouterr().out


# The server.


async def hello(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


def test_a_taken_port_is_an_error():
    with bind("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        with pytest.raises(KernelInputError, match=f"port {port}, is in use"):
            bind("127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "port", "message"),
    [
        ("127.0.0.1", 70000, "from 0 to 65535"),
        ("no.such.host.invalid", 0, "is unknown"),
        ("192.0.2.1", 0, "not an address of this machine"),
    ],
)
def test_addresses_that_cannot_be_used(host, port, message):
    with pytest.raises(KernelInputError, match=message):
        bind(host, port)


def test_addresses_are_shown_for_browsers():
    with bind("localhost", 0) as sock:
        assert url_of(sock) == f"http://127.0.0.1:{sock.getsockname()[1]}"
    with bind("0.0.0.0", 0) as sock:
        assert url_of(sock) == f"http://{socket.gethostname()}:{sock.getsockname()[1]}"


def test_a_server_reports_its_end_and_frees_its_port():
    stopped = []
    with Server(hello, stopping=lambda: stopped.append(True)) as server:
        answer = httpx.get(server.url)
        assert answer.text == "hello"
        assert "server" not in answer.headers
        port = int(server.url.rpartition(":")[2])
    assert stopped == [True]
    bind("127.0.0.1", port).close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(server.url)


def test_requests_in_progress_are_answered_when_the_server_stops():
    app = create_service({"main": extractor()})
    model = model_of(app)
    latch = model.predict = Latch(model.predict)
    body = {"text": TEXTS[0], "entities": entities_of(TEXTS[0])}
    with ThreadPoolExecutor(2) as pool:
        with Server(app, grace=WAIT) as server:
            first = pool.submit(httpx.post, f"{server.url}/v1/extract", json=body, timeout=WAIT)
            assert latch.reached.wait(WAIT)
            server._server.should_exit = True  # as after a signal
            while server._socket.fileno() != -1:  # no new connections
                time.sleep(0.01)
            latch.released.set()
        assert first.result(WAIT).status_code == 200


def test_an_application_that_fails_at_the_start_is_an_error():
    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.failed", "message": "broken"})

    with pytest.raises(KernelwoodError, match="did not start"), Server(app):
        pass


def test_heads_of_requests_are_limited():
    with Server(hello) as server:
        host, port = server.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=WAIT) as sock:
            sock.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"a" * 100_000)
            assert b" 400 " in sock.recv(1000).splitlines()[0]
