"""The review pages in a real browser: Chromium of the system, driven by Playwright."""

from __future__ import annotations

import re
import shutil
import time
from collections import Counter
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from kernelwood.datasets import load_interactions
from kernelwood.text import Document, Entity, Example
from kernelwood.web import (
    Project,
    Server,
    Session,
    TypeRow,
    build_project,
    create_review,
    new_token,
)

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
expect = playwright.expect
PATIENCE = 60_000  # milliseconds until a condition counts as never met

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PAGES = {
    "queue": "/",
    "documents": "/documents",
    "candidates": "/documents?view=candidates&words=serine",
    "similar": "/documents?view=similar&candidate=7",
    "document": "/documents/3",
    "facts": "/facts?words=p5",
    "model": "/model",
    "try": "/try",
    "export": "/export",
}
TYPES = [
    TypeRow("Activates", False, "Raises the activity of the second protein.", ("Arg1", "Arg2")),
    TypeRow("Inhibits", False, "", ("Arg1", "Arg2")),
    TypeRow("Binds", True, "Physical contact.", ("Arg1", "Arg2")),
    TypeRow("Phosphorylates", False, "", ("Arg1", "Arg2")),
    TypeRow("Regulates", False, "Changes the expression of a gene.", ("Arg1", "Arg2")),
]
KEYS = {row.name: str(number) for number, row in enumerate(TYPES, start=1)}

pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="Chromium is not installed (apt install chromium): the pages were not tested",
)


# Projects and servers.


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A project without decisions, and the annotated class of each candidate."""
    folder = tmp_path_factory.mktemp("corpus")
    with_answers = build_project(folder / "answers.kwp", load_interactions())
    answers = [label or "none" for label in with_answers.candidates.annotation]
    with_answers.close()
    path = folder / "cells.kwp"
    build_project(path, load_interactions(), annotation=False, types=TYPES).close()
    binds = [re.sub(r"^Binds\(.*", "Binds", label) for label in answers]
    return path, binds


@pytest.fixture(scope="module")
def taught(corpus, tmp_path_factory):
    """A project with 80 decisions and a model."""
    path, answers = corpus
    copy = tmp_path_factory.mktemp("taught") / "cells.kwp"
    shutil.copy(path, copy)
    with opened(copy) as session:
        for _ in range(80):
            pick = session.next()
            session.decide([pick.candidate], answers[pick.candidate])
        session.train()
        assert session.wait(60)
    return copy


@pytest.fixture
def fresh(corpus, tmp_path):
    """A copy of the project without decisions."""
    return Path(shutil.copy(corpus[0], tmp_path / "cells.kwp"))


@pytest.fixture
def copied(taught, tmp_path):
    """A copy of the project with decisions."""
    return Path(shutil.copy(taught, tmp_path / "cells.kwp"))


@contextmanager
def opened(path, *, read_only=False, **options):
    project = Project.open(path, read_only=read_only)
    try:
        session = Session(project, author="ada", **options).start()
        try:
            yield session
        finally:
            session.close()
    finally:
        project.close()


class Served:
    """A server of a project, and the address that is opened first."""

    def __init__(self, session, server, token):
        self.session, self.url = session, server.url
        self.contexts = []  # of pages that are closed before the server
        self.start = f"{server.url}/?token={token}"


@contextmanager
def served(path, *, read_only=False, port=0, token=None, **options):
    token = token or new_token()
    with opened(path, read_only=read_only, **options) as session:
        app = create_review(session, token=token)
        with Server(app, port=port, grace=1, stopping=session.stop) as server:
            made = Served(session, server, token)
            try:
                yield made
            finally:
                for context in made.contexts:
                    context.close()


# Browser.


@pytest.fixture(scope="module")
def browser():
    expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def new_page(browser):
    """Return a function that opens a page; errors of its scripts fail the test."""
    contexts, users, problems = [], [], []

    def make(served, *, expected=None, keep=False, **options):
        context = browser.new_context(**{"reduced_motion": "reduce", **options})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        if not keep:
            served.contexts.append(context)
            users.append(served)
        page = context.new_page()
        # Requests are intercepted from the beginning: those just after a first route would not be.
        page.route("**/never-requested", lambda route: route.abort())
        watch(page, problems, expected)
        page.goto(served.start)
        return page

    yield make
    for context in contexts:
        context.close()
    for served in users:
        served.contexts.clear()
    assert not problems


def watch(page, problems, expected=None):
    """Collect errors of scripts, violations of the policy, and dialogs of a page."""

    def console(message):
        if message.type == "error" and not (expected and re.search(expected, message.text)):
            problems.append(message.text)

    def dialog(shown):
        problems.append(f"dialog: {shown.message}")
        shown.dismiss()

    page.on("console", console)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", dialog)


def ready(page):
    """Wait until a candidate is shown; return its number."""
    expect(page.locator("#queue .card .choices")).to_be_visible()
    return page.locator("#queue .card").get_attribute("data-candidate")


def decide(page, act):
    """Decide the candidate that is shown, and wait until it is saved and the next one is shown."""
    before = ready(page)
    act()
    expect(page.locator("#queue .card")).not_to_have_attribute("data-candidate", before)
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")


def answer(page, answers, turn, choose):
    """Decide the candidate that is shown as a person who knows the answer would."""
    label = answers[int(ready(page))]
    name = re.sub(r"\(e[12],e[12]\)$", "", label)
    direction = page.locator("#queue .flip").get_attribute("data-direction")
    if label.endswith("(e2,e1)") == (direction == "forward") and label != name:
        turn()
    choose(name)


def answer_by_key(page, answers):
    answer(
        page,
        answers,
        turn=lambda: page.keyboard.press("f"),
        choose=lambda name: page.keyboard.press("n" if name == "none" else KEYS[name]),
    )


def answer_by_mouse(page, answers):
    def choose(name):
        action = "reject" if name == "none" else f"type-{name}"
        page.locator(f"#queue [data-action='{action}']").click()

    answer(page, answers, turn=page.locator("#queue .flip").click, choose=choose)


def labels(page):
    return int(page.locator("[data-slot=labels] b").inner_text().replace(",", ""))


def expect_labels(page, n):
    expect(page.locator("[data-slot=labels] b")).to_have_text(str(n))


def n_stored(path):
    """Return the number of decided candidates in the file, read by another connection."""
    project = Project.open(path, read_only=True)
    try:
        return len(project.current())
    finally:
        project.close()


# The journey.


def test_teaching_by_keyboard(fresh, corpus, new_page):
    _, answers = corpus
    with served(fresh) as one:
        page = new_page(one)
        ready(page)
        expect(page.locator("[data-slot=model]")).to_contain_text("none yet")
        for _ in range(30):
            decide(page, partial(answer_by_key, page, answers))
        expect_labels(page, 30)
        expect(page.locator("[data-slot=model]")).to_contain_text("No. ")
        expect(page.locator("#queue .prediction .main .probability")).to_be_visible()
        expect(page.locator("#queue .evidence, #queue .evidence-empty")).to_be_visible()

        # Undo, twice, and look at earlier decisions.
        for left in (29, 28):
            before = ready(page)
            page.keyboard.press("u")
            expect_labels(page, left)
            expect(page.locator("#queue .card")).not_to_have_attribute("data-candidate", before)
        shown = ready(page)
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#place")).to_contain_text("Earlier decision 28 of 28")
        expect(page.locator("#queue .decided")).to_be_visible()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#queue .card")).to_have_attribute("data-candidate", shown)

        # A reload keeps everything, also the earlier decisions of the session.
        decide(page, partial(answer_by_key, page, answers))
        page.reload()
        ready(page)
        expect_labels(page, 29)
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#place")).to_contain_text("Earlier decision 29 of 29")

        # Comment by keyboard; keys are letters while typing.
        page.keyboard.press("c")
        page.keyboard.type("sunny day")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#saved")).to_have_text(re.compile("Comment saved"))
        expect(page.locator("#queue .comment")).to_contain_text("sunny day")
        expect_labels(page, 29)

        # Help.
        page.keyboard.press("?")
        expect(page.locator("#help")).to_be_visible()
        page.keyboard.press("n")
        page.keyboard.press("Escape")
        expect(page.locator("#help")).to_be_hidden()
        expect_labels(page, 29)
    assert n_stored(fresh) == 29


def test_thirty_decisions_by_mouse(fresh, corpus, new_page):
    _, answers = corpus
    with served(fresh) as one:
        page = new_page(one)
        for _ in range(30):
            decide(page, partial(answer_by_mouse, page, answers))
        expect_labels(page, 30)
        expect(page.locator("[data-slot=model]")).to_contain_text("No. ")
    with opened(fresh, read_only=True) as session:
        stored = {row: one.label for row, one in session.decided.items()}
    assert stored == {row: answers[row] for row in stored} and len(stored) == 30


def test_the_order_is_chosen_in_a_menu(copied, new_page):
    with served(copied) as one:
        page = new_page(one)
        ready(page)
        page.get_by_label("Order").select_option("probable")
        first = one.session.next("probable").candidate
        expect(page.locator("#queue .card")).to_have_attribute("data-candidate", str(first))
        assert one.session.order == "probable"
        page.reload()
        expect(page.get_by_label("Order")).to_have_value("probable")


def test_teaching_by_mouse(copied, new_page):
    with served(copied) as one:
        page = new_page(one)
        before = labels(page) if ready(page) else 0
        decide(page, page.get_by_role("button", name="Accept").click)
        decide(page, page.get_by_role("button", name="None", exact=True).click)
        expect_labels(page, before + 2)
        flip = page.locator("#queue .flip")
        direction = flip.get_attribute("data-direction")
        flip.click()
        expect(flip).not_to_have_attribute("data-direction", direction)
        page.get_by_role("button", name="Undo").click()
        expect_labels(page, before + 1)

        page.get_by_role("link", name="Documents").click()
        page.get_by_role("searchbox", name="Search").fill("sorafenib")
        expect(page.locator("tbody tr")).to_have_count(1)
        page.locator("tbody a").first.click()
        expect(page.locator("mark", has_text="Sorafenib").first).to_be_visible()

        page.get_by_role("link", name="Facts").click()
        expect(page.locator(".facts tbody").first).to_be_visible()
        page.locator(".facts tbody button").first.click()
        expect(page.locator(".facts .more:not([hidden]) .row-text").first).to_be_visible()
        page.locator(".network .edge").first.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("searchbox", name="Search")).not_to_have_value("")

        page.get_by_role("link", name="Export").click()
        with page.expect_download() as download:
            page.get_by_role("button", name="Download facts.tsv").click()
        assert Path(download.value.path()).read_text("utf-8").count("\n") > 1


def test_the_strip_shows_what_was_learned(fresh, corpus, new_page):
    _, answers = corpus
    with served(fresh) as one:
        page = new_page(one)
        ready(page)
        while one.session.snapshot.model is None:
            decide(page, partial(answer_by_key, page, answers))
        first = one.session.snapshot.model.number
        one.session.train()
        for _ in range(10):
            decide(page, partial(answer_by_key, page, answers))
        page.locator("#strip-more").click()
        page.get_by_role("button", name="Train now").click()
        expect(page.locator("[data-slot=model]")).to_contain_text("up to date")
        latest = one.session.snapshot.model.number
        assert latest > first
        expect(page.locator("[data-slot=model]")).to_contain_text(f"No. {latest}")


def test_a_group_is_decided_and_undone_at_once(copied, new_page):
    with served(copied) as one:
        groups = one.session.project.candidates.group.tolist()
        decided = one.session.decided
        sizes = Counter(group for row, group in enumerate(groups) if row not in decided)
        group, size = next((g, n) for g, n in sizes.most_common() if g >= 0 and n < 50)
        row = next(r for r, g in enumerate(groups) if g == group and r not in decided)
        page = new_page(one)
        ready(page)
        before = labels(page)
        page.goto(f"{one.url}/?candidate={row}")
        assert ready(page) == str(row)
        page.keyboard.press("g")
        boxes = page.locator(".group-list input")
        expect(boxes).to_have_count(size)
        page.get_by_label("All", exact=True).check()
        boxes.last.uncheck()
        page.keyboard.press("n")
        expect_labels(page, before + size - 1)
        page.keyboard.press("u")
        expect_labels(page, before)


def below_threshold(session):
    """Return undecided candidates that are predicted as none, with their best relations."""
    assert session.wait(60)
    session.set_threshold(0.99)
    model, decided = session.snapshot.model, session.decided
    best = {row: model.best(row) for row in range(len(session.rows)) if row not in decided}
    return {row: label for row, (label, probability) in best.items() if probability < 0.99}


def test_accepting_below_the_threshold_saves_none(copied, new_page):
    with served(copied) as one:
        (first, _), (second, best), *_ = below_threshold(one.session).items()
        page = new_page(one)
        page.goto(f"{one.url}/?candidate={first}")
        expect(page.locator("#queue .prediction .main")).to_contain_text("none")
        decide(page, lambda: page.keyboard.press("y"))
        assert one.session.decided[first].label == "none"
        # The best relation is saved by the number of its type, in its direction.
        page.goto(f"{one.url}/?candidate={second}")
        ready(page)
        decide(page, lambda: page.keyboard.press(KEYS[best.partition("(")[0]]))
        assert one.session.decided[second].label == best


def test_a_group_that_is_predicted_as_none_is_not_ticked(copied, new_page):
    with served(copied) as one:
        groups = one.session.project.candidates.group
        rows = below_threshold(one.session)
        sizes = Counter(groups[row] for row in rows if groups[row] >= 0)
        group = next(group for group, n in sizes.items() if n > 1)
        row = next(row for row in rows if groups[row] == group)
        page = new_page(one)
        page.goto(f"{one.url}/?candidate={row}")
        ready(page)
        page.keyboard.press("g")
        expect(page.locator(".group-list input").first).to_be_visible()
        expect(page.locator(".group-list input:checked")).to_have_count(0)
        expect(page.get_by_label("All", exact=True)).not_to_be_checked()


@pytest.fixture
def annotated(tmp_path):
    """A small project whose annotation the model learns from."""
    path = tmp_path / "annotated.kwp"
    build_project(path, load_interactions("test")[:40]).close()
    return path


def test_accepted_relations_are_kept_whatever_is_predicted(annotated, new_page):
    with served(annotated) as one:
        assert one.session.wait(60)
        one.session.set_threshold(0.99)
        one.session.set_order("doubtful")
        annotation, model = one.session.project.candidates.annotation, one.session.snapshot.model
        accepted = [row for row, label in enumerate(annotation) if label not in (None, "none")]
        alike = [row for row in accepted if model.best(row)[0] == annotation[row]]
        assert len(alike) < len(accepted)
        one.session.decide(alike, None)
        assert one.session.wait(60)
        page = new_page(one)
        row = int(ready(page))
        known = annotation[row]
        label, probability = one.session.snapshot.model.best(row)
        assert label != known and probability < 0.99
        decide(page, lambda: page.keyboard.press("y"))
        assert one.session.decided[row].label == known
        # So it is after an undo, which brings the candidate back.
        page.keyboard.press("u")
        expect(page.locator("#queue .card")).to_have_attribute("data-candidate", str(row))
        decide(page, lambda: page.keyboard.press("y"))
        assert one.session.decided[row].label == known


def test_the_annotation_has_its_own_line(annotated, new_page):
    with served(annotated) as one:
        assert one.session.wait(60)
        one.session.set_order("doubtful")
        page = new_page(one)
        ready(page)
        names = page.locator("#queue .prediction dt")
        places = [name.bounding_box() for name in names.all()]
        assert names.last.inner_text() == "Annotated"
        assert len({place["x"] for place in places}) == 1
        assert len({place["y"] for place in places}) == len(places)


def test_nothing_is_accepted_before_there_is_a_prediction(fresh, new_page):
    with served(fresh) as one:
        page = new_page(one)
        shown = ready(page)
        expect(page.locator("#queue .accept")).to_have_count(0)
        page.keyboard.press("y")
        expect(page.locator("#announcer")).to_contain_text("no prediction yet")
        assert page.locator("#queue .card").get_attribute("data-candidate") == shown
        assert not one.session.decided


def test_a_new_type_is_made_on_the_way(copied, new_page):
    with served(copied) as one:
        page = new_page(one)
        ready(page)
        page.get_by_role("button", name="New type…").click()
        page.get_by_role("textbox", name="Name").fill("Cleaves <b>")
        page.get_by_label("Symmetric").check()
        page.get_by_label("Decide this candidate").check()
        page.get_by_role("button", name="Create type").click()
        expect(page.locator("#saved")).to_contain_text("Cleaves <b>")
        assert one.session.project.types()[-1][:2] == ("Cleaves <b>", True)
        last = one.session.project.log()
        assert [*last][-1].label == "Cleaves <b>"


def test_a_new_type_decides_only_on_request(copied, new_page):
    with served(copied) as one:
        n = len(one.session.decided)
        page = new_page(one)
        ready(page)
        page.get_by_role("button", name="New type…").click()
        page.get_by_role("textbox", name="Name").fill("Cleaves")
        page.get_by_role("button", name="Create type").click()
        expect(page.locator("#queue [data-action='type-Cleaves']")).to_be_visible()
        assert len(one.session.decided) == n
        # In the menu, a type for the candidate is being chosen.
        page.keyboard.press("t")
        page.get_by_role("dialog").get_by_role("button", name="New type…").click()
        expect(page.get_by_label("Decide this candidate")).to_be_checked()


def test_more_types_than_keys_are_in_a_menu(tmp_path, new_page):
    path = tmp_path / "many.kwp"
    types = [TypeRow(f"Kind {letter}", True) for letter in "ABCDEFGHIJKL"]
    build_project(path, load_interactions("test"), annotation=False, types=types).close()
    with served(path) as one:
        page = new_page(one)
        decide(page, lambda: page.keyboard.press("9"))
        ready(page)
        page.keyboard.press("t")
        page.keyboard.type("kind l")
        decide(page, lambda: page.keyboard.press("Enter"))
        ready(page)
        page.get_by_role("button", name="All types…").click()
        decide(page, page.get_by_role("dialog").get_by_role("button", name="Kind J").click)
        labels = [one.label for one in one.session.project.log()]
        assert labels == ["Kind I", "Kind L", "Kind J"]


def test_a_project_without_types_asks_for_the_first_beside_a_sentence(tmp_path, new_page):
    path = tmp_path / "new.kwp"
    build_project(path, load_interactions("test"), annotation=False).close()
    with served(path) as one:
        page = new_page(one)
        ready(page)
        expect(page.locator("#queue .sentence mark")).to_have_count(2)
        expect(page.locator("#queue .card")).to_contain_text("Which relation do you look for?")
        page.get_by_role("button", name="New type…").click()
        page.get_by_role("textbox", name="Name").fill("Binds")
        page.get_by_label("Symmetric").check()
        page.get_by_role("button", name="Create type").click()
        expect(page.locator("#queue [data-action='type-Binds']")).to_be_visible()
        decide(page, lambda: page.keyboard.press("1"))
        assert [one.label for one in one.session.decided.values()] == ["Binds"]


def test_the_end_of_the_queue(tmp_path, new_page):
    path = tmp_path / "short.kwp"
    text = "Raf binds MEK1. Raf binds ERK2."
    entities = tuple(
        Entity(f"T{place}", "Protein", ((place, place + len(name)),), name)
        for name in ("Raf", "MEK1", "ERK2")
        for place in (found.start() for found in re.finditer(name, text))
    )
    build_project(
        path, [Example("d", views={"document": Document(text, entities)})], types=TYPES
    ).close()
    with served(path) as one:
        page = new_page(one)
        decide(page, lambda: page.keyboard.press("3"))
        ready(page)
        page.keyboard.press("n")
        expect(page.get_by_role("heading", name="All candidates are decided.")).to_be_visible()
        expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
        for key in "yns3fgct":  # an error of a script would fail the test
            page.keyboard.press(key)
        expect(page.locator("dialog[open]")).to_have_count(0)
        assert len(one.session.decided) == 2
        page.keyboard.press("u")
        ready(page)


# Faults.


def test_decisions_survive_a_restart_of_the_server(fresh, corpus, new_page):
    _, answers = corpus
    token = new_token()
    with served(fresh, token=token) as one:
        port = int(one.url.rsplit(":", 1)[1])
        page = new_page(one, expected="ERR_|Failed to load resource", keep=True)
        for _ in range(3):
            decide(page, partial(answer_by_key, page, answers))
        ready(page)
    # The server is gone: the decision is not shown as saved, and comes back.
    undecided = page.locator("#queue .card").get_attribute("data-candidate")
    page.keyboard.press("n")
    expect(page.locator("#saved")).to_have_attribute("data-state", "failed")
    expect(page.locator("#notices")).to_contain_text("Not saved yet")
    expect(page.locator("#queue .card")).to_have_attribute("data-candidate", undecided)
    assert n_stored(fresh) == 3
    with served(fresh, token=token, port=port) as again:
        expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
        expect(page.locator("#notices")).not_to_contain_text("Not saved yet")
        expect(page.locator("#queue .card")).not_to_have_attribute("data-candidate", undecided)
        assert again.session.decided[int(undecided)].label == "none"
        expect_labels(page, 4)


def test_a_lost_answer_is_not_stored_twice(fresh, new_page):
    with served(fresh) as one:
        page = new_page(one, expected="Failed to load resource")
        shown = ready(page)

        def lose(route):
            route.fetch()  # the server stores the decision
            route.abort()

        page.route("**/api/decisions", lose, times=1)
        page.keyboard.press("n")
        expect(page.locator("#queue .card")).not_to_have_attribute("data-candidate", shown)
        expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
        expect_labels(page, 1)
        assert len([*one.session.project.log()]) == 1


def wait_for(page, condition):
    """Wait until a condition holds, while the handlers of a page run."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not condition():
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)


def test_an_old_status_does_not_replace_a_newer_one(fresh, new_page):
    with served(fresh) as one:
        page = new_page(one)
        ready(page)
        held = []
        page.route("**/api/decisions", lambda route: held.append((route, route.fetch())), times=1)
        page.keyboard.press("n")
        expect_labels(page, 1)  # by the stream of events, maybe before the answer is here
        wait_for(page, lambda: held)
        [(route, response)] = held
        answer = response.json()
        answer["status"]["counts"]["decided"] = 0
        route.fulfill(response=response, json=answer)
        expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
        expect_labels(page, 1)


def test_a_failed_decision_is_sent_again_or_discarded(fresh, new_page):
    with served(fresh) as one:
        page = new_page(one, expected="Failed to load resource")
        shown = ready(page)
        page.clock.install()  # later attempts do not happen by themselves
        page.clock.pause_at(page.evaluate("Date.now() + 1000"))
        page.route("**/api/decisions", lambda route: route.abort())
        page.keyboard.press("n")
        expect(page.locator("#saved")).to_have_attribute("data-state", "failed")
        expect(page.locator("#queue .card")).to_have_attribute("data-candidate", shown)
        page.keyboard.press("3")  # the first decision is not settled yet
        page.unroute("**/api/decisions")
        page.get_by_role("button", name="Send again").click()
        expect(page.locator("#queue .card")).not_to_have_attribute("data-candidate", shown)
        assert [made.label for made in one.session.project.log()] == ["none"]

        expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
        shown = ready(page)
        page.route("**/api/decisions", lambda route: route.abort())
        page.keyboard.press("n")
        expect(page.locator("#notices")).to_contain_text("Not saved yet")
        page.get_by_role("button", name="Discard").click()
        expect(page.locator("#notices")).not_to_contain_text("Not saved yet")
        assert ready(page) == shown
        expect(page.get_by_role("button", name="None", exact=True)).to_be_enabled()
        assert len(one.session.decided) == 1


def test_two_tabs_see_a_conflict(fresh, new_page):
    with served(fresh) as one:
        first = new_page(one)
        second = new_page(one, expected="409")
        shown = ready(first)
        second.goto(f"{one.url}/?candidate={shown}")
        assert ready(second) == shown
        decide(first, lambda: first.keyboard.press("3"))
        second.keyboard.press("n")
        notice = second.locator("#queue .notice")
        expect(notice).to_contain_text("Not saved")
        expect(notice).to_contain_text("Binds")
        expect(second.locator("#queue .card")).to_have_attribute("data-candidate", shown)
        assert one.session.decided[int(shown)].label == "Binds"
        # A second decision knows of the first one.
        second.keyboard.press("n")
        expect(second.locator("#saved")).to_have_attribute("data-state", "saved")
        assert one.session.decided[int(shown)].label == "none"


def test_both_tabs_count_decisions(fresh, new_page):
    with served(fresh) as one:
        first, second = new_page(one), new_page(one)
        ready(second)
        decide(first, lambda: first.keyboard.press("n"))
        expect_labels(second, 1)


def test_a_read_only_project_cannot_be_decided(copied, new_page):
    with served(copied, read_only=True) as one:
        page = new_page(one)
        shown = ready(page)
        expect(page.locator("#notices")).to_contain_text("read-only")
        expect(page.get_by_role("button", name="None", exact=True)).to_be_disabled()
        expect(page.get_by_role("button", name="Undo")).to_be_disabled()
        n = len(one.session.decided)
        page.keyboard.press("n")
        expect(page.locator("#announcer")).to_contain_text("read-only")
        assert page.locator("#queue .card").get_attribute("data-candidate") == shown
        assert len(one.session.decided) == n


def test_a_training_error_is_shown(copied, new_page, monkeypatch):
    def fail(*arguments):
        raise ArithmeticError("out of numbers")

    with served(copied) as one:
        page = new_page(one)
        ready(page)
        monkeypatch.setattr(one.session, "_learn", fail)
        page.locator("#strip-more").click()
        page.get_by_role("button", name="Train now").click()
        expect(page.locator("[data-slot=model]")).to_contain_text("training failed")


# Other pages.


def test_a_relation_is_decided_in_its_document(copied, new_page):
    with served(copied) as one:
        page = new_page(one)
        page.goto(f"{one.url}/documents/3")
        n = len(page.request.get(f"{one.url}/api/documents/3").json()["candidates"])
        page.get_by_label("Show").select_option("skipped")
        expect(page.locator(".side-list .total")).to_have_text(f"0 of {n} candidates")
        page.get_by_label("Show").select_option("undecided")
        row = page.locator(".row-button").first
        number = int(row.get_attribute("data-id"))
        row.focus()
        expect(page.locator(".arcs path").first).to_be_attached()
        page.keyboard.press("Enter")
        page.locator(".panel").get_by_role("button", name="None", exact=True).click()
        expect(page.locator(f".row-button[data-id='{number}'] .state")).to_contain_text("none")
        assert one.session.decided[number].label == "none"


def test_names_are_marked_by_code_points(tmp_path, new_page):
    path = tmp_path / "emoji.kwp"
    text = "😀😀 In 𝒞 cells, Raf activates MEK1."
    entities = tuple(
        Entity(name, "Protein", ((text.index(name), text.index(name) + len(name)),), name)
        for name in ("Raf", "MEK1")
    )
    build_project(
        path, [Example("d", views={"document": Document(text, entities)})], types=TYPES
    ).close()
    with served(path) as one:
        page = new_page(one)
        ready(page)
        expect(page.locator(".sentence mark")).to_have_text(["RafProtein", "MEK1Protein"])
        page.goto(f"{one.url}/documents/0")
        expect(page.locator(".text mark")).to_have_text(["Raf", "MEK1"])


def test_similar_sentences(copied, new_page):
    with served(copied) as one:
        page = new_page(one)
        ready(page)
        page.get_by_role("link", name="Sentences like this").click()
        expect(page.locator("#view .row").first).to_contain_text("similarity")
        page.get_by_label("Sentence to compare with").fill("Sorafenib inhibits BRAF.")
        expect(page.locator(".like")).to_have_count(0)
        expect(page.locator("#view .list")).to_contain_text(re.compile("similarity|No sentence"))


def test_the_threshold_is_chosen_by_a_slider(copied, new_page):
    with served(copied) as one:
        page = new_page(one)
        page.goto(f"{one.url}/model")
        slider = page.get_by_role("slider", name="Threshold")
        before = page.locator(".threshold output").inner_text()
        slider.fill("0.9")
        expect(page.locator(".threshold output")).to_contain_text("0.90")
        assert page.locator(".threshold output").inner_text() != before
        names = page.locator(".threshold .chart > text")
        assert names.all_text_contents() == ["precision", "recall", "F1"]
        boxes = [name.bounding_box() for name in names.all()]
        ends = [(box["x"], box["x"] + box["width"]) for box in boxes]
        assert all(one[1] < other[0] for one, other in pairwise(ends))
        page.get_by_role("button", name="Apply").click()
        expect(page.get_by_role("button", name="Apply")).to_be_disabled()
        assert one.session.threshold == pytest.approx(0.9)


def test_a_text_is_tried_while_typing(copied, new_page):
    with served(copied) as one:
        page = new_page(one)
        page.goto(f"{one.url}/try")
        page.locator("#text").press_sequentially("SRC phosphorylates FAK1 at focal adhesions.")
        expect(page.locator("#result mark").first).to_be_visible()
        expect(page.locator("#result .row").first).to_be_attached()
        page.locator("#text").fill("")
        expect(page.locator("#result")).to_be_empty()


def view_box(page):
    return [float(one) for one in page.locator(".network").get_attribute("viewBox").split()]


def under(page, place):
    """Return the coordinates in the network that are drawn at a place of the page."""
    return page.evaluate(
        """([x, y]) => {
            const matrix = document.querySelector(".network").getScreenCTM().inverse();
            const point = new DOMPoint(x, y).matrixTransform(matrix);
            return [point.x, point.y];
        }""",
        place,
    )


def test_the_network_is_enlarged_and_moved(copied, new_page):
    with served(copied) as one:
        page = new_page(one)
        page.goto(f"{one.url}/facts")
        picture = page.locator(".network")
        expect(picture).to_be_visible()
        page.get_by_role("button", name="Show all").click()
        x, y, width, height = full = view_box(page)
        page.get_by_role("button", name="Enlarge").click()
        assert view_box(page)[2:] == pytest.approx([width / 1.25, height / 1.25])
        page.get_by_role("button", name="Reduce").click()
        assert view_box(page) == pytest.approx(full)
        picture.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        assert view_box(page) == pytest.approx([x + width / 10, y + width / 10, width, height])
        page.keyboard.press("0")
        assert view_box(page) == full

        # The wheel with Ctrl keeps the point below the mouse; without it, it scrolls the page.
        frame = picture.bounding_box()
        corner = int(frame["x"] + frame["width"] / 4), int(frame["y"] + frame["height"] / 4)
        page.mouse.move(*corner)
        point = under(page, corner)
        page.keyboard.down("Control")
        page.mouse.wheel(0, -300)
        page.wait_for_function(
            "width => document.querySelector('.network').viewBox.baseVal.width < width",
            arg=width * 0.6,
        )
        page.keyboard.up("Control")
        near = view_box(page)
        assert near[2:] == pytest.approx([width / 2, height / 2])
        assert under(page, corner) == pytest.approx(point, abs=0.1)

        # Dragging moves the drawing and does not choose what is below the mouse.
        page.mouse.down()
        page.mouse.move(corner[0] - 50, corner[1] - 30, steps=4)
        page.mouse.up()
        assert view_box(page)[0] > near[0] and view_box(page)[1] > near[1]
        expect(page.get_by_role("searchbox", name="Search")).to_have_value("")


def test_the_network_is_drawn_completely(copied, new_page):
    with served(copied) as one:
        page = new_page(one, viewport={"width": 1280, "height": 700})
        page.goto(f"{one.url}/facts")
        frame = page.locator(".network").bounding_box()
        boxes = [node.bounding_box() for node in page.locator(".network .node").all()]
        assert len(boxes) > 10
        for box in boxes:
            assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
            bottom = frame["y"] + frame["height"]
            assert frame["y"] <= box["y"] and box["y"] + box["height"] <= bottom
        # The buttons cover none of them.
        buttons = page.locator(".network-buttons").bounding_box()
        assert buttons["y"] + buttons["height"] <= frame["y"]


def test_facts_are_filtered_by_type(copied, new_page):
    with served(copied) as one:
        page = new_page(one)
        page.goto(f"{one.url}/facts")
        expect(page.locator(".facts tbody").first).to_be_visible()
        page.locator("select[name=type]").select_option("Binds")
        expect(page.locator(".facts tbody", has_text="Regulates")).to_have_count(0)
        expect(page.locator(".facts tbody").first).to_contain_text("Binds")
        expect(page.locator(".network .edge[aria-label*=' Regulates ']")).to_have_count(0)
        expect(page.locator(".network .edge[aria-label*=' Binds ']").first).to_be_attached()


def test_an_export_tells_what_the_format_cannot_store(copied, new_page):
    with served(copied) as one:
        page = new_page(one)
        page.get_by_role("link", name="Export").click()
        with page.expect_download():
            page.get_by_role("button", name="Download model.kw").click()
        expect(page.locator(".remark").first).to_contain_text("documents")
        with page.expect_download():
            page.get_by_role("button", name="Download pubtator.txt").click()
        expect(page.get_by_text("cannot store").first).to_contain_text("without a database id")


# Every page.


@pytest.fixture(scope="module")
def shared(taught, browser, tmp_path_factory):
    """A server for tests that change nothing."""
    path = shutil.copy(taught, tmp_path_factory.mktemp("shared") / "cells.kwp")
    with served(path) as one:
        yield one


@pytest.fixture(scope="module")
def axe():
    package = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
    return Path(package.__file__).with_name("axe.min.js").read_text("utf-8")


def settled(page, name):
    """Wait for the content of a page, and open what is closed."""
    wanted = {
        "queue": ".evidence, .evidence-empty", "documents": "tbody tr", "candidates": ".row",
        "similar": ".row", "document": ".row-button", "facts": ".facts tbody",
        "model": ".threshold", "try": "#text", "export": ".downloads button",
    }[name]  # fmt: skip
    expect(page.locator("#strip")).to_be_visible()
    expect(page.locator(wanted).first).to_be_visible()
    if name == "facts":
        expect(page.locator(".network")).to_be_visible()
        page.locator(".facts tbody button").first.click()
    if name == "document":
        page.locator(".row-button").first.click()
        expect(page.locator(".panel .choices").first).to_be_visible()
    if name == "try":
        page.locator("#text").fill("SRC phosphorylates FAK1 at focal adhesions.")
        expect(page.locator("#result .row").first).to_be_attached()


def violations(page, rules=()):
    """Return what axe-core finds, all rules or some, with the first elements of each."""
    options = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    found = page.evaluate("async (options) => (await axe.run(options)).violations", options)
    return [
        (one["id"], one["nodes"][0]["failureSummary"], [n["html"][:160] for n in one["nodes"]][:3])
        for one in found
    ]


def check_both_schemes(page, axe):
    page.evaluate(axe)
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page) == []
    page.emulate_media(color_scheme="light")


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_accessible_and_fit_small_screens(shared, new_page, axe, name):
    page = new_page(shared, color_scheme="light", viewport={"width": 1280, "height": 700})
    page.goto(shared.url + PAGES[name])
    settled(page, name)
    check_both_schemes(page, axe)
    for width in (1280, 640, 360, 320):  # 640 is also 1280 at 200 % zoom
        page.set_viewport_size({"width": width, "height": 700})
        expect_fits(page, width)


def expect_fits(page, width):
    """Wait until the layout fits the window."""
    deadline = time.monotonic() + PATIENCE / 1000
    while found := too_wide(page, width):
        assert time.monotonic() < deadline, found
        page.wait_for_timeout(20)


def too_wide(page, width):
    """Return elements that make a page wider than the window; empty if it is not."""
    return page.evaluate(
        """(width) => document.documentElement.scrollWidth <= width ? [] :
          [...document.querySelectorAll("body *")]
          .filter((one) => one.getBoundingClientRect().right > width + 0.5)
          .map((one) => one.outerHTML.slice(0, 160))""",
        width,
    )


def test_the_strip_names_what_it_counts(tmp_path, new_page):
    path = tmp_path / "held.kwp"
    build_project(path, load_interactions("test")[:60], held_out=0.3).close()
    with served(path) as one:
        assert one.session.wait(60)
        held_out = int(one.session.project.candidates.held_out.sum())
        left = one.session.left()
        page = new_page(one)
        expect(page.locator("[data-slot=labels]")).to_have_text(f"0of {left}")
        expect(page.locator("[data-slot=f1-name]")).to_have_text("F1, held-out documents")
        page.locator("#strip-more").click()
        details = page.locator("#strip-details")
        expect(details).to_contain_text(f"Held out{held_out}, only to evaluate")
        expect(details).to_contain_text(f"from {left} labels, decided or annotated")


def test_a_new_project_fits_small_screens(fresh, new_page):
    with served(fresh) as one:
        page = new_page(one, viewport={"width": 320, "height": 700})
        for _ in range(2):
            expect(page.locator("[data-slot=model]")).to_be_visible()
            expect_fits(page, 320)
            # A model without enough checks for an estimate.
            for row, label in enumerate(("none", "Binds", "none", "Activates(e1,e2)")):
                one.session.decide([row], label)
            assert one.session.wait(60)
            expect(page.locator("[data-slot=f1]")).to_contain_text("not enough checks yet")
        expect_fits(page, 320)


def test_dialogs_are_accessible(shared, new_page, axe):
    page = new_page(shared, color_scheme="light")
    ready(page)
    page.locator("#strip-more").click()
    page.keyboard.press("?")
    check_both_schemes(page, axe)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="New type…").click()
    check_both_schemes(page, axe)


def test_everything_is_reached_by_tab(copied, new_page):
    """The focus visits the choices in the order of the page, is visible, and leaves again."""
    with served(copied) as one:
        page = new_page(one)
        ready(page)
        seen = []
        for _ in range(60):
            page.keyboard.press("Tab")
            seen.append(
                page.evaluate(
                    """() => {
                      const one = document.activeElement;
                      const style = getComputedStyle(one);
                      return [one.dataset.action || one.id || one.textContent.trim(),
                        style.outlineStyle !== 'none' || one === document.body];
                    }"""
                )
            )
        names = [name for name, _ in seen]
        order = ["Skip to content", "Queue", "strip-more", "order", "accept", "reject", "undo"]
        assert [name for name in names if name in order][: len(order)] == order
        assert all(visible for _, visible in seen)


HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"'><svg onload=alert(3)>",
    "\u202eevil\u202c{{ 7 * 7 }}",
    "</textarea><iframe srcdoc='<script>alert(4)</script>'>",
)


def test_a_hostile_document_runs_nothing(tmp_path, new_page):
    path = tmp_path / "<b>hostile.kwp"
    documents = []
    for number, name in enumerate(HOSTILE):
        text = f"{name} activates MEK1, and {name} binds Raf."
        entities = tuple(
            Entity(f"T{place}", f"<i>{number}", ((place, place + len(part)),), part)
            for part in (name, "MEK1", "Raf")
            for place in (found.start() for found in re.finditer(re.escape(part), text))
        )
        views = {"document": Document(text, entities)}
        documents.append(Example(f"<u>{number}{name}", views=views))
    hostile_type = TypeRow("<script>alert(5)</script>", False, "<b>", ("Arg1", "Arg2"))
    build_project(path, documents, types=[hostile_type]).close()
    with served(path, retrain_after=2) as one:
        page = new_page(one)
        for row in range(8):
            page.goto(f"{one.url}/?candidate={row}")
            ready(page)
            decide(page, lambda row=row: page.keyboard.press("1" if row % 2 else "n"))
        one.session.train()
        assert one.session.wait(60)
        for name, address in PAGES.items():
            page.goto(one.url + re.sub("&?words=.*", "", address).replace("=7", "=1"))
            if name == "try":
                page.locator("#text").fill(f"{HOSTILE[1]} activates MEK1.")
                expect(page.locator("#try-note")).not_to_be_empty()
            else:
                settled(page, name)
            assert page.locator("main script, main img, main iframe, main svg[onload]").count() == 0
            assert page.locator("main i:not(.path-line i), main u").count() == 0
        assert "49" not in page.locator("main").inner_text()


def test_an_export_that_fails_says_why(fresh, new_page):
    with served(fresh) as one:
        page = new_page(one, expected="422")
        page.get_by_role("link", name="Export").click()
        page.get_by_role("button", name="Download model.kw").click()
        expect(page.get_by_text("Not exported:")).to_be_visible()
        expect(page.get_by_role("button", name="Download model.kw")).to_be_enabled()
