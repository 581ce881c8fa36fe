"""Routes of the review pages."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from web.asgi import ask, scope
from web.projects import session_of, small_project, teach, true_label

from kernelwood.relations import NONE
from kernelwood.web import Project, Session, create_review
from kernelwood.web.review import _PAGES, _static_files

TOKEN = "a-token-of-enough-characters"
IMPORTED = re.compile(r'^(?:import|export)\b[^;]*?\bfrom "([^"]+)"', re.MULTILINE)
ADDRESS = re.compile(r"""["'`]https?://([^/"'`]*)""")
HEADERS = {"x-kernelwood-token": TOKEN, "x-kernelwood": "1", "content-type": "application/json"}


class Client:
    """Requests to the application of a session."""

    def __init__(self, session):
        self.session = session
        self.app = create_review(session, token=TOKEN)

    def get(self, path, query="", **headers):
        return ask(self.app, scope("GET", path, {**HEADERS, **headers}, query=query))

    def post(self, path, body, **headers):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return ask(self.app, scope("POST", path, {**HEADERS, **headers}), data)

    def decide(self, rows, label, **fields):
        return self.post("/api/decisions", {"candidates": rows, "label": label, **fields})


@pytest.fixture
def client(tmp_path):
    with session_of(small_project(tmp_path)) as session:
        yield Client(session)


@pytest.fixture
def taught(client):
    teach(client.session, 20)
    return client


def test_the_address_with_the_token_sets_a_cookie_and_hides_the_token(client):
    answer = ask(client.app, scope("GET", "/", query=f"token={TOKEN}&order=random"))
    assert answer.status == 303 and answer.header("location") == "/?order=random"
    cookie = answer.header("set-cookie")
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    name = cookie.partition(";")[0]
    assert ask(client.app, scope("GET", "/api/status", {"cookie": name})).status == 200


@pytest.mark.parametrize("path", ["/", "/api/status", "/api/next", "/static/review.css"])
def test_nothing_is_shown_without_the_token(client, path):
    assert ask(client.app, scope("GET", path)).status == 401
    wrong = ask(client.app, scope("GET", path, query="token=wrong-wrong-wrong-wrong"))
    assert wrong.status == 401 and wrong.header("set-cookie") is None


def test_other_sites_cannot_decide(client):
    body = json.dumps({"candidates": [0], "label": NONE}).encode()
    for headers in (
        {"origin": "http://example.org"},
        {"x-kernelwood": None},
        {"sec-fetch-site": "cross-site"},
        {"host": "example.org"},
    ):
        answer = ask(client.app, scope("POST", "/api/decisions", {**HEADERS, **headers}), body)
        assert answer.status == 403, headers
    plain = ask(
        client.app, scope("POST", "/api/decisions", {**HEADERS, "content-type": "text/plain"}), body
    )
    assert plain.status == 415
    assert client.session.decided == {}


def test_get_changes_nothing(taught):
    before = taught.session.project.settings(), list(taught.session.project.log())
    for path in (
        "/api/project", "/api/status", "/api/next", "/api/candidates", "/api/candidates/3",
        "/api/candidates/3/evidence", "/api/candidates/3/similar", "/api/documents",
        "/api/documents/0", "/api/facts", "/api/network", "/api/model", "/api/exports",
    ):  # fmt: skip
        assert taught.get(path).status == 200, path
    for path in ("/api/decisions", "/api/undo", "/api/train", "/api/settings"):
        assert taught.get(path).status == 405, path
    assert before == (taught.session.project.settings(), list(taught.session.project.log()))


def test_next_candidate_is_decided_and_undone(client):
    shown = client.get("/api/next").json()
    candidate = shown["candidate"]
    assert shown["left"] == len(client.session.project.candidates)
    assert "".join(text for text, _ in candidate["parts"]) == candidate["sentence"]["text"]
    row = candidate["id"]
    label = true_label(client.session.project, row)
    saved = client.decide([row], label, token="x", expected=[None]).json()
    assert saved["saved"] == [{"candidate": row, "decision": 1}]
    assert saved["status"]["counts"]["decided"] == 1
    now = client.get(f"/api/candidates/{row}").json()
    assert now["decision"]["relation"]["label"] == label
    undone = client.post("/api/undo", {"token": "y"}).json()
    assert undone["undone"] == [row] and undone["candidate"]["decision"] is None
    assert client.post("/api/undo", {"token": "z"}).json()["candidate"] is None


def test_a_conflict_shows_what_was_decided_elsewhere(client):
    assert client.decide([5], NONE, expected=[None]).status == 200
    answer = client.decide([5], NONE, expected=[None])
    assert answer.status == 409 and answer.error["code"] == "conflict"
    [candidate] = answer.error["candidates"]
    assert candidate["id"] == 5 and candidate["decision"]["relation"]["label"] == NONE


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "lacks 'candidates'"),
        ({"candidates": [1]}, "lacks 'label'"),
        ({"candidates": [], "label": NONE}, "different numbers"),
        ({"candidates": [1, 1], "label": NONE}, "different numbers"),
        ({"candidates": ["1"], "label": NONE}, "whole numbers"),
        ({"candidates": [True], "label": NONE}, "whole numbers"),
        ({"candidates": list(range(1001)), "label": NONE}, "different numbers"),
        ({"candidates": 3, "label": NONE}, "must be a list"),
        ({"candidates": [1], "label": 7}, "string or null"),
        ({"candidates": [1], "label": "Kisses"}, "unknown"),
        ({"candidates": [1], "label": NONE, "expected": [1, 2]}, "each candidate"),
        ({"candidates": [1], "label": NONE, "expected": ["a"]}, "numbers of decisions"),
        ({"candidates": [1], "label": NONE, "comment": "x" * 2001}, "2,000 characters"),
        ({"candidates": [1], "label": NONE, "comment": 3}, "must be a string"),
    ],
)
def test_wrong_decisions_are_refused_with_a_reason(client, body, said):
    answer = client.post("/api/decisions", body)
    assert answer.status == 422 and said in answer.error["message"]
    assert client.session.decided == {}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/candidates/99999999", 404),
        ("/api/candidates/-1", 404),
        ("/api/candidates/99999999/evidence", 404),
        ("/api/documents/9999", 404),
        ("/api/nothing", 404),
        ("/static/../review.py", 404),
        ("/static/%2e%2e", 404),
        ("/static/queue.html", 404),
        ("/api/export/shadow", 404),
    ],
)
def test_what_does_not_exist_is_not_found(client, path, status):
    answer = client.get(path)
    assert answer.status == status and answer.error["code"] == "not-found"


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/api/next", "order=best"),
        ("/api/next", "skip=a"),
        ("/api/candidates", "low=2"),
        ("/api/candidates", "low=nan"),
        ("/api/candidates", "decision=perhaps"),
        ("/api/candidates", "sort=size"),
        ("/api/candidates", "offset=1e3"),
        ("/api/candidates", "document=9999999999999999999999"),
        ("/api/facts", "sort=size"),
        ("/api/facts", "decided=x"),
        ("/api/similar", ""),
    ],
)
def test_wrong_queries_are_refused(taught, path, query):
    answer = taught.get(path, query)
    assert answer.status == 422 and answer.error["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"a": NaN}', b'"x"', b"\xff", b"[" * 5000])
def test_bodies_that_are_not_objects_are_refused(client, body):
    for path in ("/api/decisions", "/api/undo", "/api/try", "/api/types", "/api/settings"):
        assert client.post(path, body).status in (400, 422)


def test_large_bodies_are_refused(client):
    assert client.post("/api/try", {"text": "x" * 20_001}).status == 422
    assert client.post("/api/try", {"text": "x" * 2_000_000}).status == 413


def test_browsing_selects_and_sorts(taught):
    project, decided = taught.session.project, taught.session.decided

    def rows(query):
        found = taught.get("/api/candidates", query + "&limit=200").json()
        assert found["total"] >= len(found["rows"])
        return [one["id"] for one in found["rows"]]

    related = sorted(row for row, one in decided.items() if one.label != NONE)
    assert rows("decision=accepted") == related
    assert rows("decision=rejected") == sorted(decided.keys() - set(related))
    assert set(rows("decision=undecided")).isdisjoint(decided)
    assert set(project.candidates.document[rows("document=1")].tolist()) == {1}
    model = taught.session.snapshot.model
    best = [model.best(row)[1] for row in rows("sort=-probability")]
    assert best == sorted(best, reverse=True)
    assert all(model.best(row)[1] >= 0.3 for row in rows("low=0.3"))
    word = project.candidate(7).sentence.text.split()[0].lower()
    assert 7 in rows(f"words={word}")
    assert all(
        word in project.candidate(row).sentence.text.lower() for row in rows(f"words={word}")
    )


def test_evidence_has_decided_candidates_only(taught):
    decided = taught.session.decided
    row = taught.get("/api/next").json()["candidate"]["id"]
    evidence = taught.get(f"/api/candidates/{row}/evidence").json()
    cases = evidence["supporting"] + evidence["opposing"]
    assert cases and len(evidence["supporting"]) <= 3 and len(evidence["opposing"]) <= 3
    for case in cases:
        assert case["relation"]["label"] == decided[case["candidate"]].label
        sentence = taught.session.project.candidate(case["candidate"]).sentence.text
        assert "".join(text for text, _ in case["parts"]) == sentence
    assert all(case["contribution"] > 0 for case in evidence["supporting"])
    total = sum(case["contribution"] for case in cases)
    parts = total + evidence["others"] + evidence["intercept"]
    assert evidence["score"] == pytest.approx(parts)
    kernel, table = taught.session.snapshot.live.kernel, taught.session.project.views()
    own = table[[row, *(case["candidate"] for case in cases)]]
    norms = kernel.diag(own) ** 0.5
    expected = kernel.cross(own[:1], own[1:])[0] / (norms[0] * norms[1:])
    assert [case["similarity"] for case in cases] == pytest.approx(expected, rel=1e-4)


def test_evidence_says_if_there_is_no_model(client):
    assert "no model yet" in client.get("/api/candidates/0/evidence").json()["empty"]


def test_similar_candidates_are_of_other_sentences(taught):
    sentences = taught.session.project.candidates.sentence
    found = taught.get("/api/similar", "candidate=3&limit=10").json()["rows"]
    assert all(sentences[one["id"]] != sentences[3] for one in found)
    values = [one["similarity"] for one in found]
    kernel, table = taught.session.snapshot.live.kernel, taught.session.project.views()
    own = table[[3, found[0]["id"]]]
    expected = kernel.gram(own)[0, 1] / (kernel.diag(own).prod() ** 0.5)
    assert values[0] == pytest.approx(expected, rel=1e-4)
    assert values == sorted(values, reverse=True) and len(values) == 10
    sentence = taught.session.project.candidate(3).sentence.text
    by_text = taught.post("/api/similar", {"text": sentence, "limit": 5}).json()["rows"]
    assert sentences[by_text[0]["id"]] == sentences[3] or by_text[0]["similarity"] > 0.9
    nothing = taught.post("/api/similar", {"text": "Nothing known."}).json()
    assert nothing["rows"] == [] and "two names" in nothing["note"]


def test_facts_count_decided_and_predicted_relations(taught):
    taught.session.set_threshold(0.99)
    decided = {row: one.label for row, one in taught.session.decided.items() if one.label != NONE}
    facts = taught.get("/api/facts", "limit=200").json()
    assert sum(fact["n_decided"] for fact in facts["rows"]) == len(decided)
    assert {one["candidate"] for fact in facts["rows"] for one in fact["sentences"]} >= {
        *list(decided)[:1]
    }
    taught.session.set_threshold(0.1)
    assert taught.get("/api/facts").json()["total"] > facts["total"]
    only = taught.get("/api/facts", "decided=decided&limit=200").json()
    assert all(fact["n_decided"] for fact in only["rows"])
    network = taught.get("/api/network", "n=5").json()
    assert 0 < len(network["edges"]) <= 5 and network["nodes"]


def test_a_rejected_candidate_is_not_a_fact(taught):
    taught.session.set_threshold(0.05)
    fact = taught.get("/api/facts", "decided=predicted&limit=1").json()["rows"][0]
    names = {"words": f"{fact['first']} {fact['second']}"}
    for one in fact["sentences"]:
        taught.decide([one["candidate"]], NONE)
    query = f"words={names['words']}&type={fact['type']}&limit=200".replace(" ", "%20")
    left = taught.get("/api/facts", query).json()["rows"]
    found = {one["candidate"] for other in left for one in other["sentences"]}
    assert found.isdisjoint(one["candidate"] for one in fact["sentences"])


def test_a_text_is_tried(taught):
    names = [taught.get("/api/candidates/0").json()[key]["text"] for key in ("first", "second")]
    answer = taught.post("/api/try", {"text": f"{names[0]} activates {names[1]}."}).json()
    assert [one["text"] for one in answer["entities"]] == names
    [relation] = answer["relations"]
    assert 0 <= relation["probability"] <= 1 and relation["evidence"] is not None
    assert taught.post("/api/try", {"text": ""}).json()["relations"] == []


def test_types_are_made_up_on_the_way(client):
    types = client.post("/api/types", {"name": " Kisses ", "symmetric": True}).json()["types"]
    assert types[-1]["name"] == "Kisses" and types[-1]["key"] == len(types) <= 9
    assert client.decide([2], "Kisses").status == 200
    for wrong in ("", "none", "A(e1,e2)", "x" * 101, "a\nb"):
        assert client.post("/api/types", {"name": wrong}).status == 422


def test_comments_are_kept_with_and_without_a_decision(client):
    shown = client.post("/api/comments", {"candidate": 1, "text": "unclear"}).json()["candidate"]
    assert shown["decision"]["comment"] == "unclear" and shown["decision"]["relation"] is None
    client.decide([2], NONE, comment="no verb")
    assert client.get("/api/candidates/2").json()["decision"]["comment"] == "no verb"


def test_settings_are_kept(client):
    status = client.post("/api/settings", {"order": "document", "author": "Ada"}).json()["status"]
    assert status["order"] == "document"
    client.decide([0], NONE)
    assert client.session.decision(0).author == "Ada"
    assert client.post("/api/settings", {"threshold": 2}).status == 422
    assert client.post("/api/settings", {"order": "x"}).status == 422


class _Checker(HTMLParser):
    """Collects what a page loads, and inline scripts and styles."""

    def __init__(self):
        super().__init__()
        self.loaded, self.inline = [], []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.inline += [name for name in given if name.startswith("on") or name == "style"]
        if tag == "script" and "src" not in given:
            self.inline.append("script")
        if tag == "style":
            self.inline.append("style")
        if tag in ("script", "link", "img"):
            self.loaded.append(given.get("src") or given.get("href"))


@pytest.mark.parametrize("name", _PAGES)
def test_pages_load_only_files_of_the_package(client, name):
    path = _PAGES[name][0].replace("{number:int}", "0")
    answer = client.get(path)
    assert answer.status == 200 and answer.header("content-type").startswith("text/html")
    assert "default-src 'none'" in answer.header("content-security-policy")
    page = _Checker()
    page.feed(answer.body.decode())
    assert page.inline == [] and page.loaded
    for address in page.loaded:
        assert address.startswith("/static/") and client.get(address).status == 200, address


def test_modules_import_only_files_of_the_package():
    found = _static_files()
    scripts = {name: data.decode() for name, data in found.items() if name.endswith(".js")}
    assert scripts
    for name, text in scripts.items():
        for address in IMPORTED.findall(text):
            assert address.removeprefix("./") in found, (name, address)
        assert [one for one in ADDRESS.findall(text) if one != "www.w3.org"] == [], name
        for unsafe in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert unsafe not in text, (name, unsafe)


def test_names_are_escaped_in_pages(tmp_path):
    path = small_project(tmp_path, name="<b>&.kwp")
    with session_of(path) as session:
        page = Client(session).get("/").body.decode()
    assert "<b>&.kwp" not in page and "&lt;b&gt;&amp;.kwp" in page


def test_a_project_for_reading_refuses_changes(tmp_path):
    path = small_project(tmp_path)
    with Project.open(path, read_only=True) as project:
        session = Session(project).start()
        try:
            client = Client(session)
            assert client.get("/api/next").status == 200
            answer = client.decide([0], NONE)
            assert answer.status == 422 and "reading only" in answer.error["message"]
        finally:
            session.close()
