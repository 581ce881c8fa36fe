"""The functions of the scripts of the review pages that do not need a page, run by Node.js."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib.resources import files

import pytest
from hypothesis import given, settings, strategies as st

NODE = shutil.which("node")
STATIC = files("kernelwood.web").joinpath("static")
SCRIPTS = sorted(file.name for file in STATIC.iterdir() if file.name.endswith(".js"))
ACTIVATES = {"name": "Activates", "symmetric": False, "key": 1}
BINDS = {"name": "Binds", "symmetric": True, "key": 2}
FORWARD = {"label": "Activates(e1,e2)", "type": "Activates", "direction": "forward"}
BACKWARD = {"label": "Activates(e2,e1)", "type": "Activates", "direction": "backward"}
BOUND = {"label": "Binds", "type": "Binds", "direction": None}
REJECTED = {"label": "none", "type": "none", "direction": None}

pytestmark = pytest.mark.skipif(NODE is None, reason="Node.js is not installed")


@pytest.fixture(scope="session")
def modules(tmp_path_factory):
    """A folder with the scripts, which Node.js reads as modules."""
    folder = tmp_path_factory.mktemp("scripts")
    for name in SCRIPTS:
        (folder / name).write_text(STATIC.joinpath(name).read_text("utf-8"), "utf-8")
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


# Evaluates bodies of asynchronous functions, one per line of input: starting a process for each
# would take longer than all tests.
EVALUATE = """
import { createInterface } from 'node:readline';
const AsyncFunction = (async () => {}).constructor;
for await (const line of createInterface({ input: process.stdin })) {
  const { names, body, values } = JSON.parse(line);
  let answer;
  try {
    const loaded = await Promise.all(names.map((name) => import(`./${name}.js`)));
    const run = new AsyncFunction(...names, ...Object.keys(values), body);
    answer = { made: (await run(...loaded, ...Object.values(values))) ?? null };
  } catch (error) {
    answer = { error: error.stack };
  }
  console.log(JSON.stringify(answer));
}
"""


@pytest.fixture(scope="session")
def run(modules):
    """Return a function that evaluates the body of an asynchronous function of some modules."""
    (modules / "evaluate.mjs").write_text(EVALUATE)
    process = subprocess.Popen(
        [NODE, "evaluate.mjs"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        cwd=modules,
    )

    def evaluate(names, body, **values):
        asked = {"names": names.split(), "body": body, "values": values}
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["made"]

    yield evaluate
    process.stdin.close()
    process.stdout.close()
    process.wait()


# All scripts.


@pytest.mark.parametrize("name", SCRIPTS)
def test_imported_names_exist_and_are_used(name):
    text = STATIC.joinpath(name).read_text("utf-8")
    imports = re.findall(r"^import \{([^}]*)\} from \"\./([a-z]+\.js)\";", text, re.MULTILINE)
    assert len(imports) == len(re.findall(r"^import\b", text, re.MULTILINE))
    body = re.sub(r"^import \{[^}]*\} from [^;]*;", "", text, flags=re.MULTILINE)
    for names, source in imports:
        exported = re.findall(
            r"^export (?:async )?(?:function|const|class) (\w+)",
            STATIC.joinpath(source).read_text("utf-8"),
            re.MULTILINE,
        )
        wanted = set(re.findall(r"\w+", names))
        assert wanted <= set(exported)
        assert {one for one in wanted if not re.search(rf"\b{one}\b", body)} == set()


@pytest.mark.parametrize("name", SCRIPTS)
def test_texts_never_become_markup(name):
    text = STATIC.joinpath(name).read_text("utf-8")
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|"
        r'setAttribute\("style"|\bstyle: ',
        text,
    )


def test_templates_have_no_inline_code():
    folder = files("kernelwood.web").joinpath("templates")
    for file in folder.iterdir():
        text = file.read_text("utf-8")
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|\|\s*safe", text)


# Texts.


@st.composite
def marked_texts(draw):
    text = draw(st.text(st.sampled_from("ab c.é😀漢\u202e"), min_size=1, max_size=25))
    place = st.integers(0, len(text) - 1)
    span = st.tuples(place, place).map(lambda ends: [min(ends), max(ends) + 1])
    return text, draw(st.lists(span, max_size=5))


def plain_segments(text, spans):
    """Character by character: neighbors in the same spans form a part."""
    parts, cuts = [], {place for span in spans for place in span}
    for place, character in enumerate(text):
        members = [n for n, (start, end) in enumerate(spans) if start <= place < end]
        if parts and place not in cuts:
            parts[-1][0] += character
        else:
            parts.append([character, members])
    return parts


@settings(max_examples=5, deadline=None)
@given(cases=st.lists(marked_texts(), min_size=30, max_size=30))
def test_segments_are_cut_by_code_points(run, cases):
    found = run("text", "return cases.map(([a, b]) => text.segments(a, b));", cases=cases)
    assert found == [plain_segments(text, spans) for text, spans in cases]


def test_spans_outside_the_text_are_ignored(run):
    spans = [[-1, 2], [1, 9], [2, 2], [3, 1]]
    assert run("text", "return text.segments('a😀c', spans);", spans=spans) == [["a😀c", []]]


def test_overlay_marks_the_words_of_another_cut(run):
    parts = [["😀Raf", ["first"]], [" binds Ras", ["path", "shared"]]]
    other = [["😀R", []], ["af bi", ["shared"]], ["nds Ras", []]]
    found = run("text", "return text.overlay(parts, other, 'shared');", parts=parts, other=other)
    assert found == [
        ["😀R", ["first"]],
        ["af", ["first", "shared"]],
        [" bi", ["path", "shared"]],
        ["nds Ras", ["path"]],
    ]


def test_parts_of_a_name_form_one_group_and_only_the_last_has_its_type(run):
    parts = [
        ["IL", ["first"]], ["-2", ["first", "shared"]], [" and ", []], ["", ["first"]],
        ["R", ["first"]], [" of ", ["path"]], ["Raf", ["second"]],
    ]  # fmt: skip
    found = run("text", "return text.grouped(parts);", parts=parts)
    assert [(one["kind"], one["last"], len(one["parts"])) for one in found] == [
        ("first", False, 2),
        ("", False, 1),
        ("first", True, 1),
        ("", False, 1),
        ("second", True, 1),
    ]


def test_search_ignores_case_and_accents(run):
    assert run("text", "return text.folded('Ménière ΑΒ İL-2');") == "meniere αβ il-2"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.5, "0.50"), (0.999, ">0.99"), (1, "1.00"), (0.001, "<0.01"), (0, "0.00")],
)
def test_probabilities_never_look_certain(run, value, shown):
    assert run("text", "return text.decimal(value);", value=value) == shown


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("counted(1, 'label')", "1 label"),
        ("counted(12345, 'label')", "12,345 labels"),
        ("counted(2, 'entity', 'entities')", "2 entities"),
        ("signed(-0.5)", "−0.50"),
        ("signed(0.254)", "+0.25"),
        ("interval([0.61, 0.52, 0.69])", "0.61 (0.52 to 0.69)"),
        ("interval([0.61, null, null])", "0.61"),
        ("asSentence('the model is being trained')", "The model is being trained."),
        ("asSentence('Stop.')", "Stop."),
        ("asSentence('')", ""),
        ("ago(1000, 1030)", "just now"),
        ("ago(1000, 1090)", "1 minute ago"),
        ("ago(1000, 1000 + 7300)", "2 hours ago"),
        ("ago(1000, 1000 + 86400 * 3)", "3 days ago"),
        ("pageCount(51, 25)", 3),
        ("pageCount(0, 25)", 1),
    ],
)
def test_words_and_numbers(run, expression, shown):
    assert run("text", f"return text.{expression};") == shown


# Relations.


@pytest.mark.parametrize("relation", [FORWARD, BACKWARD, BOUND, REJECTED])
def test_classes_are_read(run, relation):
    assert run("relations", "return relations.relationOf(label);", label=relation["label"]) == (
        relation
    )


def test_a_type_name_may_contain_parentheses_and_line_breaks(run):
    found = run("relations", "return relations.relationOf('Up\\n(x)(e2,e1)');")
    assert (found["type"], found["direction"]) == ("Up\n(x)", "backward")


def test_flipping_turns_directed_relations_round(run):
    body = "return [FORWARD, BACKWARD, BOUND].map(relations.flipped);"
    found = run("relations", body, FORWARD=FORWARD, BACKWARD=BACKWARD, BOUND=BOUND)
    assert found == [BACKWARD, FORWARD, BOUND]


def candidate(prediction=None, decision=None, *, positive=True, **fields):
    return {
        "prediction": None
        if prediction is None
        else {"relation": prediction, "positive": positive, "probabilities": [["none", 0.25]]},
        "decision": decision,
        **fields,
    }


@pytest.mark.parametrize(
    ("given_candidate", "turned", "label"),
    [
        (candidate(), False, None),
        (candidate(), True, None),
        (candidate(BACKWARD), False, "Activates(e2,e1)"),
        (candidate(BACKWARD), True, "Activates(e1,e2)"),
        (candidate(BACKWARD, positive=False), False, "none"),
        (candidate(BACKWARD, positive=False), True, "none"),
        (candidate(BOUND), True, "Binds"),
        (candidate(BOUND, {"id": 3, "relation": FORWARD}), True, "Activates(e2,e1)"),
        (candidate(BOUND, {"id": 3, "relation": FORWARD}, positive=False), False, FORWARD["label"]),
        (candidate(BOUND, {"id": 3, "relation": REJECTED}), False, "Binds"),
        (candidate(BOUND, {"id": 3, "relation": None}), False, "Binds"),
        (candidate(BOUND, annotation=FORWARD), False, "Binds"),
        (candidate(BOUND, annotation=FORWARD, reason="disagreement"), False, "Binds"),
        (candidate(BOUND, annotation=FORWARD, reason="doubtful"), False, "Activates(e1,e2)"),
        (candidate(BOUND, annotation=FORWARD, reason="doubtful"), True, "Activates(e2,e1)"),
        (
            candidate(BOUND, annotation=FORWARD, reason="doubtful", positive=False),
            False,
            "Activates(e1,e2)",
        ),
        (
            candidate(
                BOUND, {"id": 3, "relation": BACKWARD}, annotation=FORWARD, reason="doubtful"
            ),
            False,
            "Activates(e2,e1)",
        ),
        (
            candidate(
                BOUND, {"id": 3, "relation": REJECTED}, annotation=FORWARD, reason="doubtful"
            ),
            False,
            "Binds",
        ),
    ],
)
def test_accept_stores_what_was_accepted_or_is_predicted(run, given_candidate, turned, label):
    body = "return relations.proposal(one, turned)?.label ?? null;"
    assert run("relations", body, one=given_candidate, turned=turned) == label


@pytest.mark.parametrize(
    ("given_candidate", "turned", "label"),
    [
        (candidate(), False, "Activates(e1,e2)"),
        (candidate(), True, "Activates(e2,e1)"),
        (candidate(BACKWARD), False, "Activates(e2,e1)"),
        (candidate(BACKWARD), True, "Activates(e1,e2)"),
        (candidate(BACKWARD, positive=False), False, "Activates(e2,e1)"),
        (candidate(BOUND), True, "Activates(e2,e1)"),
        (candidate(FORWARD, annotation=BACKWARD, reason="doubtful"), False, "Activates(e2,e1)"),
    ],
)
def test_type_keys_use_the_direction_that_is_shown(run, given_candidate, turned, label):
    body = "return relations.choice(one, type, turned).label;"
    assert run("relations", body, one=given_candidate, type=ACTIVATES, turned=turned) == label


@pytest.mark.parametrize(
    ("given_candidate", "relation", "ticked"),
    [
        (candidate(), None, True),
        (candidate(BOUND), BOUND, True),
        (candidate(BOUND, positive=False), BOUND, False),
        (candidate(BOUND, positive=False), REJECTED, False),
        (candidate(BOUND), FORWARD, False),
        (candidate(FORWARD), BACKWARD, False),
    ],
)
def test_members_of_a_group_are_ticked_if_they_are_predicted_alike(
    run, given_candidate, relation, ticked
):
    body = "return group.agrees(one, relation);"
    assert run("group", body, one=given_candidate, relation=relation) is ticked


def test_the_first_argument_of_a_backward_relation_is_second_in_the_text(run):
    body = (
        "return [FORWARD, BACKWARD, null, REJECTED].map((one) => relations.inWords(one, raf, mek));"
    )
    raf, mek = {"text": "Raf"}, {"text": "MEK1"}
    found = run(
        "relations", body, FORWARD=FORWARD, BACKWARD=BACKWARD, REJECTED=REJECTED, raf=raf, mek=mek
    )
    assert found == [
        "Raf Activates MEK1", "MEK1 Activates Raf", "skipped", "no relation between Raf and MEK1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given_candidate", "state"),
    [
        (candidate(), "negative"),
        (candidate(BOUND), "predicted"),
        (candidate(BOUND, {"id": 1, "relation": BOUND}), "accepted"),
        (candidate(BOUND, {"id": 1, "relation": REJECTED}), "rejected"),
        (candidate(BOUND, {"id": 1, "relation": None}), "skipped"),
        (candidate(BOUND, {"id": None, "relation": None, "comment": "?"}), "predicted"),
    ],
)
def test_states_of_candidates(run, given_candidate, state):
    assert run("relations", "return relations.stateOf(one);", one=given_candidate) == state


@pytest.mark.parametrize(
    ("wanted", "accepted"),
    [
        ({}, True),
        ({"show": "undecided"}, True),
        ({"show": "accepted"}, False),
        ({"type": "Binds"}, True),
        ({"type": "Activates"}, False),
        ({"entity": "b"}, True),
        ({"entity": "c"}, False),
        ({"low": 0.5}, True),
        ({"low": 0.75}, False),
    ],
)
def test_filters_of_a_document(run, wanted, accepted):
    one = {**candidate(BOUND), "first": "a", "second": "b"}
    one["prediction"]["probability"] = 0.5
    values = {"show": "relations", "type": "", "low": 0, "entity": "", **wanted}
    assert run("document", "return document.accepts(one, values);", one=one, values=values) is (
        accepted
    )


# Requests.


def test_addresses_leave_out_empty_parameters(run):
    body = "return api.address('/api/x', { a: '', b: null, c: 0, d: 'x&y é' });"
    assert run("api", body) == "/api/x?c=0&d=x%26y+%C3%A9"


def test_waiting_times_grow_up_to_a_limit(run):
    assert run("api", "return [0, 1, 2, 50].map(api.backoff);") == [0.5, 1, 2, 20]


@pytest.mark.parametrize(
    ("error", "temporary"),
    [
        ("new api.ConnectionError()", True),
        ("new api.ApiError(500, {})", True),
        ("new api.ApiError(429, {})", True),
        ("new api.ApiError(403, {})", True),
        ("new api.ApiError(409, {})", False),
        ("new api.ApiError(422, {})", False),
        ("new TypeError()", False),
    ],
)
def test_errors_that_may_pass(run, error, temporary):
    assert run("api", f"return api.isTemporary({error});") is temporary


OUTBOX = """
    const log = [], timers = [];
    const plan = [...answers];
    const box = new outbox.Outbox(async (entry) => {
      log.push(`send ${entry.name}`);
      const next = plan.shift();
      if (next === "lost") throw new api.ConnectionError();
      if (next === "refused") throw new api.ApiError(409, { code: "conflict", message: "no" });
      return next;
    }, { after: (run, seconds) => timers.push([run, seconds]) });
    const told = (name) => box.add({ name }).then(
      (value) => log.push(`${name} ${value}`), (error) => log.push(`${name} ${error.code}`));
    const settle = () => new Promise((resolve) => setImmediate(resolve)); // promises come first
"""


def test_decisions_are_sent_in_order_and_confirmed_by_the_answer(run):
    body = (
        OUTBOX
        + """
      told('a'); told('b'); log.push(box.size); await settle();
      return [log, box.size];"""
    )
    log, size = run("outbox api", body, answers=["ok", "ok"])
    assert log == ["send a", 2, "send b", "a ok", "b ok"]
    assert size == 0


def test_a_lost_decision_is_sent_again_before_later_ones(run):
    body = (
        OUTBOX
        + """
      told('a'); told('b'); await settle();
      log.push(box.stuck.name, timers[0][1]);
      timers[0][0](); await settle();
      log.push(timers[1][1]);
      box.retry(); await settle();
      return [log, box.stuck];"""
    )
    log, stuck = run("outbox api", body, answers=["lost", "lost", "ok", "ok"])
    assert log == ["send a", "a", 0.5, "send a", 1, "send a", "send b", "a ok", "b ok"]
    assert stuck is None


def test_a_refused_decision_does_not_stop_later_ones(run):
    body = OUTBOX + "told('a'); told('b'); await settle(); return log;"
    assert run("outbox api", body, answers=["refused", "ok"]) == [
        "send a", "send b", "a conflict", "b ok",
    ]  # fmt: skip


def test_discarded_decisions_are_not_sent_by_old_timers(run):
    body = (
        OUTBOX
        + """
      told('a'); await settle();
      const waiting = box.idle();
      log.push(box.discard().length);
      await waiting;
      timers[0][0](); await settle();
      return log;"""
    )
    assert run("outbox api", body, answers=["lost"]) == ["send a", 1]


def test_trail_of_decided_candidates(run):
    body = """
      const trail = new outbox.Trail([5]);
      trail.add(7); trail.add(5); trail.add(9);
      const steps = [1, -1, -1, -1, -1].map((step) => trail.move(step));
      steps.push(trail.live);
      trail.remove([5]);
      return [steps.map((one) => (one === undefined ? 'stop' : one)), trail.ids, trail.live];"""
    assert run("outbox", body) == [["stop", 9, 5, 7, "stop", False], [7, 9], True]


def test_only_the_latest_answer_is_used(run):
    body = """
      const used = [], failures = [];
      const pending = [];
      const ask = filters.latest((signal, name) => new Promise((resolve, reject) => {
        pending.push([resolve, reject]);
      }), (answer) => used.push(answer), (error) => failures.push(error.message));
      ask('a'); ask('b'); const last = ask('c');
      pending[2][0]('third'); pending[0][0]('first'); pending[1][1](new Error('late'));
      await last; await new Promise((resolve) => setImmediate(resolve));
      return [used, failures];"""
    assert run("filters", body) == [["third"], []]


# Keys.


@pytest.mark.parametrize(
    ("event", "key"),
    [
        ({"key": "y"}, "y"),
        ({"key": "Y", "shiftKey": True}, "y"),
        ({"key": "7"}, "7"),
        ({"key": "0"}, None),
        ({"key": "?", "shiftKey": True}, "?"),
        ({"key": "ArrowLeft"}, "ArrowLeft"),
        ({"key": "Enter"}, None),
        ({"key": "n", "ctrlKey": True}, None),
        ({"key": "n", "metaKey": True}, None),
        ({"key": "n", "repeat": True}, None),
        ({"key": "n", "isComposing": True}, None),
    ],
)
def test_shortcuts(run, event, key):
    assert run("keys", "return keys.shortcut(event);", event=event) == key


# Drawings.


def test_scales_and_lines(run):
    assert run("geometry", "return [0, 5, 10].map(geometry.scale([0, 10], [100, 0]));") == [
        100, 50, 0,
    ]  # fmt: skip
    assert run("geometry", "return geometry.scale([3, 3], [1, 2])(3);") == 1
    assert run("geometry", "return geometry.linePath([[0, 1], [2.25, 3]]);") == "M0 1L2.3 3"
    assert run("geometry", "return geometry.bandPath([[0, 1], [2, 1]], [[0, 3], [2, 4]]);") == (
        "M0 1L2 1L2 4L0 3Z"
    )


@pytest.mark.parametrize(
    ("high", "ticks"),
    [(0, [0]), (1, [0, 0.5, 1]), (250, [0, 100, 200]), (800, [0, 200, 400, 600, 800])],
)
def test_ticks_are_round(run, high, ticks):
    assert run("geometry", "return geometry.ticks(high);", high=high) == ticks


def test_zooming_keeps_the_point_and_has_limits(run):
    full = {"x": 0, "y": 0, "width": 100, "height": 50}
    found = run("geometry", "return geometry.zoomed(full, 2, 30, 10, full);", full=full)
    assert found == {"x": 15, "y": 5, "width": 50, "height": 25}
    found = run("geometry", "return geometry.zoomed(full, 1000, 0, 0, full);", full=full)
    assert found["width"] == 12.5
    found = run("geometry", "return geometry.zoomed(full, 0.001, 0, 0, full);", full=full)
    assert found["width"] == 200


def test_panning_keeps_the_drawing_in_view(run):
    full = {"x": 0, "y": 0, "width": 100, "height": 50}
    found = run("geometry", "return geometry.panned(full, 999, -999, full);", full=full)
    assert (found["x"], found["y"]) == (50, -25)


def test_arcs_end_at_the_second_box(run):
    boxes = [
        {"x": 0, "y": 60, "width": 20, "height": 10},
        {"x": 100, "y": 90, "width": 30, "height": 10},
    ]
    found = run("geometry", "return geometry.arc(boxes[0], boxes[1]);", boxes=boxes)
    assert found["path"].startswith("M10 60C10 ")
    assert found["head"].startswith("M115 90L")
    assert found["y"] < 60


def test_nearest_threshold(run):
    rows = [{"threshold": 0.25}, {"threshold": 0.5}]
    body = "return [0, 0.4, 0.9].map((value) => geometry.nearest(rows, value).threshold);"
    assert run("geometry", body, rows=rows) == [0.25, 0.5, 0.5]
    assert run("geometry", "return geometry.nearest([], 1);") is None
