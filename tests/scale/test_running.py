"""Plans, run shard by shard: the same bytes as the plain work, whatever happens on the way."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from processes import run_python, start_python, wait_until
from scale.shared_work import corpus, extractor, few, model, terms, texts

import kernelwood as kw
from kernelwood import scale
from kernelwood.datasets import load_interactions
from kernelwood.errors import KernelwoodError, ReadError
from kernelwood.relations import PredictionCounts, predict_stream, write_predictions
from kernelwood.scale import PlanError, parts, plan as plans, running
from kernelwood.scale.parts import lock_part, part_folder, read_part


def predicting(folder, size=20_000, **options):
    """Make a plan of predictions for the corpus."""
    return scale.make_plan(
        folder, "predict", [corpus()], model=model(), shard_size=size, options=options
    )


def test_a_plan_takes_one_path(tmp_path):
    plans = [
        scale.make_plan(tmp_path / name, "predict", inputs, model=model())
        for name, inputs in (("one", corpus()), ("list", [corpus()]))
    ]
    assert plans[0].id == plans[1].id


def test_a_model_in_place_of_its_file_is_noticed(tmp_path):
    with pytest.raises(
        KernelwoodError, match=r"model must be the path of a file(.|\n)*save it first"
    ):
        scale.make_plan(tmp_path, "predict", [corpus()], model=extractor())


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The predictions that are written without a plan."""
    path = tmp_path_factory.mktemp("expected") / "found.jsonl"
    write(path)
    return path.read_bytes()


def write(path, *, every=False, n_evidence=0):
    model = extractor()
    results = predict_stream(
        model,
        kw.read(corpus()),
        lambda batch: (batch, model.predict(batch, all=True)),
        PredictionCounts(),
        every=every,
        n_evidence=n_evidence,
        drift=False,
    )
    write_predictions(results, path, evidence=n_evidence > 0)


def collected(plan, out):
    scale.collect(plan, out)
    return out.read_bytes()


# The same bytes.


@pytest.mark.parametrize("size", [1, 5_000, 20_000, 10**9])
def test_parts_join_to_what_the_plain_work_writes(tmp_path, expected, size):
    plan = predicting(tmp_path / "plan", size)
    made = scale.run(plan)
    assert (made.done, made.busy, made.failed) == (list(range(plan.n_shards)), [], {})
    assert collected(plan, tmp_path / "found.jsonl") == expected


def test_shards_in_any_order_and_twice(tmp_path, expected):
    plan = predicting(tmp_path / "plan")
    order = list(range(plan.n_shards))
    random.Random(0).shuffle(order)
    for number in [*order, *order[:3]]:
        scale.run_shard(plan, number)
    assert collected(plan, tmp_path / "found.jsonl") == expected


def test_a_part_that_is_computed_again_has_the_same_bytes(tmp_path):
    plan = predicting(tmp_path / "plan")
    scale.run(plan)
    before = {p: p.read_bytes() for p in plan.parts.rglob("found.jsonl")}
    for path in before:
        shutil.rmtree(path.parent)
    scale.run(plan)
    assert {p: p.read_bytes() for p in plan.parts.rglob("found.jsonl")} == before


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("found.tsv", {"format": "tsv"}),
        ("found.tsv", {"format": "tsv", "n_evidence": 1}),
        ("found.jsonl", {"every": True}),
        ("found.jsonl.gz", {}),
    ],
)
def test_other_outputs(tmp_path, name, options, monkeypatch):
    if options.get("n_evidence"):  # which takes time
        monkeypatch.setattr("scale.test_running.corpus", few)
    plan = predicting(tmp_path / "plan", **options)
    scale.run(plan)
    scale.collect(plan, tmp_path / name)
    options.pop("format", None)
    write(tmp_path / f"plain-{name}", **options)
    assert (tmp_path / name).read_bytes() == (tmp_path / f"plain-{name}").read_bytes()


def test_counters_are_those_of_the_whole(tmp_path):
    plan = predicting(tmp_path / "plan")
    scale.run(plan)
    counts, model = PredictionCounts(), extractor()
    for _ in predict_stream(
        model, kw.read(corpus()), lambda b: (b, model.predict(b, all=True)), counts, drift=False
    ):
        pass
    counters = scale.collect(plan, tmp_path / "found.jsonl")
    assert {k: v for k, v in counters.items() if k != "warnings"} == counts.to_dict()


@pytest.mark.filterwarnings("ignore:the model was trained on parses")
def test_texts_with_a_list_of_terms(tmp_path):
    plan = scale.make_plan(
        tmp_path / "plan",
        "extract",
        [texts()],
        model=model(),
        terms=terms(),
        options={"text_field": ["abstract"], "id_field": "pmid", "every": True},
        shard_size=500,
    )
    assert plan.n_shards > 2
    scale.run(plan)
    counters = scale.collect(plan, tmp_path / "found.jsonl")
    [(warning, n)] = counters["warnings"].items()
    assert warning.startswith("the model was trained on parses") and n == plan.n_shards
    found = [json.loads(line) for line in (tmp_path / "found.jsonl").read_bytes().splitlines()]
    names = kw.Dictionary.read(terms())
    read = kw.io.read_texts(texts(), text_field="abstract", id_field="pmid")
    documents = [e.with_views({"document": names.annotate(e.view("document"))}) for e in read]
    plain = extractor().extract(documents, all=True)
    assert found == [one.to_dict() for one in plain]
    assert len({one["document"] for one in found}) > 20


def test_vectors_and_codes(tmp_path):
    examples = load_interactions("test")
    kernel = kw.OnView("words", kw.SubsequenceKernel())
    made = [e for example in examples for e in _with_words(example)]
    for command, encoder, method in (
        ("embed", kw.NystromEmbedder(kernel, n_landmarks=20, random_state=0), "transform"),
        ("hash", kw.KernelHasher(kernel, n_references=20, n_bits=70, random_state=0), "codes"),
    ):
        encoder.fit(made)
        kw.save(encoder, tmp_path / f"{command}.kw")
        plan = scale.make_plan(
            tmp_path / command,
            command,
            [corpus()],
            model=tmp_path / f"{command}.kw",
            shard_size=20_000,
        )
        assert plan.n_shards > 2
        scale.run(plan)
        counters = scale.collect(plan, tmp_path / f"{command}.npy")
        assert counters["n_examples"] == len(made)
        found = np.load(tmp_path / f"{command}.npy")
        plain = getattr(encoder, method)(made)
        assert found.dtype == plain.dtype and found.tobytes() == plain.tobytes()
        rows = (tmp_path / f"{command}.rows.jsonl").read_text("utf-8").splitlines()
        assert [json.loads(row)["id"] for row in rows] == [example.id for example in made]


def test_an_index(tmp_path):
    kernel = kw.OnView("words", kw.SubsequenceKernel())
    made = [e for example in load_interactions("test") for e in _with_words(example)]
    hasher = kw.KernelHasher(kernel, n_references=20, n_bits=70, random_state=0).fit(made)
    kw.save(hasher, tmp_path / "hasher.kw")
    plan = scale.make_plan(
        tmp_path / "plan",
        "index",
        [corpus()],
        model=tmp_path / "hasher.kw",
        shard_size=20_000,
    )
    scale.run(plan)
    assert scale.collect(plan, tmp_path / "index")["n_examples"] == len(made)
    index = scale.IndexFolder(tmp_path / "index")
    assert len(index) == len(made)
    ids, distances = index.search(made[:3], k=1)
    codes = hasher.codes(made)
    for query in range(3):
        bits = np.unpackbits((codes ^ codes[query]).view(np.uint8), axis=1).sum(axis=1)
        assert (ids[query, 0], distances[query, 0]) == (bits.argmin(), 0)
    with pytest.raises(FileExistsError):
        scale.collect(plan, tmp_path / "index")


def test_a_gram_matrix(tmp_path, monkeypatch):
    monkeypatch.setattr("kernelwood.scale.tasks._CELLS", 1)
    kernel = kw.OnView("path", kw.SubsequenceKernel())
    kw.save(kernel, tmp_path / "kernel.kw")
    plan = scale.make_plan(
        tmp_path / "plan",
        "gram",
        [corpus()],
        model=tmp_path / "kernel.kw",
        options={"candidates": "pairs"},
    )
    assert plan.n_shards > 1 and scale.open_plan(plan.folder).shard(1).rows[0] == 256
    for number in reversed(range(plan.n_shards)):
        scale.run_shard(plan, number)
    candidates = kw.relations.pair_candidates(kw.read(corpus()))
    expected = kernel.gram(candidates.viewed("path").table)
    scale.collect(plan, tmp_path / "gram.npy")
    assert (tmp_path / "gram.npy").stat().st_size > expected.nbytes
    assert np.load(tmp_path / "gram.npy").tobytes() == expected.tobytes()


def test_parquet(tmp_path):
    plan = predicting(tmp_path / "plan", format="parquet")
    scale.run(plan)
    scale.collect(plan, tmp_path / "found.parquet")
    write(tmp_path / "plain.parquet")
    assert (tmp_path / "found.parquet").read_bytes() == (tmp_path / "plain.parquet").read_bytes()


def test_a_data_set(tmp_path, expected):
    plan = predicting(tmp_path / "plan")
    scale.run(plan)
    counters = scale.collect(plan, tmp_path / "found")
    files = sorted((tmp_path / "found").glob("found-*.jsonl"))
    assert len(files) == plan.n_shards
    assert b"".join(file.read_bytes() for file in files) == expected
    assert json.loads((tmp_path / "found" / "counters.json").read_text("utf-8")) == counters
    assert counters["n_documents"] == len(kw.read(corpus()))
    with pytest.raises(FileExistsError):
        scale.collect(plan, tmp_path / "found")


def _with_words(example):
    from kernelwood.io import Counts
    from kernelwood.relations import ExampleMaker

    return ExampleMaker(["words"])(example, Counts())


@pytest.mark.parametrize("format", ["jsonl", "conllu", "kelp", "penn"])
def test_conversions(tmp_path, format):
    view = {"kelp": ["grct"], "penn": ["grct"]}.get(format, [])
    plan = scale.make_plan(
        tmp_path / "plan",
        "convert",
        [corpus()],
        options={"format": format, "views": view},
        shard_size=20_000,
    )
    assert plan.n_shards > 2
    assert scale.run(plan).failed == {}
    found = collected(plan, tmp_path / "out")
    from kernelwood.io import Counts, fit_to_format
    from kernelwood.relations import ExampleMaker

    make = ExampleMaker(view)
    examples = [
        fit_to_format(made, format) for e in kw.read(corpus()) for made in make(e, Counts())
    ]
    kw.write(examples, tmp_path / "plain", format)
    assert found == (tmp_path / "plain").read_bytes()


# Resuming and sharing.


def test_a_run_computes_missing_parts_only(tmp_path, monkeypatch):
    plan = predicting(tmp_path / "plan")
    scale.run(plan, range(2))
    computed = []
    original = running._computed
    monkeypatch.setattr(
        running, "_computed", lambda p, n, *rest: computed.append(n) or original(p, n, *rest)
    )
    assert scale.run(plan).done == list(range(2, plan.n_shards)) == computed
    assert scale.run(plan).done == []


def test_status_and_progress(tmp_path):
    plan = predicting(tmp_path / "plan")
    reports = []
    scale.run(plan, range(2), progress=lambda *both: reports.append(both))
    total = sum(plan.sizes[:2])
    assert reports == [(0, total), (plan.sizes[0], total), (total, total)]
    state = scale.status(tmp_path / "plan")
    assert (state.n_done, state.n_shards) == (2, plan.n_shards)
    assert state.missing == list(range(2, plan.n_shards))
    assert state.n_bytes_done == total and state.seconds_left > 0


def test_a_shard_that_is_locked_is_left_to_its_owner(tmp_path):
    plan = predicting(tmp_path / "plan")
    with lock_part(plan, 1):
        made = scale.run(plan)
        assert made.busy == [1] and 1 not in made.done
        with pytest.raises(PlanError, match=r"1 of .* shards are not computed yet"):
            scale.collect(plan, tmp_path / "found.jsonl")
    assert scale.run(plan).done == [1]


SCRIPT = """
import sys
from kernelwood import scale
made = scale.run(sys.argv[1])
print(*made.done)
"""


def test_two_processes_share_a_plan(tmp_path, expected):
    plan = predicting(tmp_path / "plan", 4_000)
    running = [start_python("-c", SCRIPT, plan.folder) for _ in range(2)]
    outputs = [process.communicate(timeout=300) for process in running]
    assert [process.returncode for process in running] == [0, 0], outputs
    done = [[int(number) for number in out.split()] for out, _ in outputs]
    assert sorted(done[0] + done[1]) == list(range(plan.n_shards))
    assert collected(plan, tmp_path / "found.jsonl") == expected


KILLED = 2


@pytest.mark.parametrize("n", [KILLED, pytest.param(10, marks=pytest.mark.slow)])
def test_a_killed_process_leaves_no_half_part(tmp_path, expected, n):
    plan = predicting(tmp_path / "plan", 4_000)
    for _ in range(n):
        before = plan.n_shards - len(parts.missing_shards(plan))
        process = start_python("-c", SCRIPT, plan.folder)
        wait_until(
            lambda before=before: (
                plan.n_shards - len(parts.missing_shards(plan)) > before
                or not parts.missing_shards(plan)
            ),
            process,
        )
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert scale.verify(plan, sample=0) == {}
        for number in range(plan.n_shards):
            read_part(plan, number)  # raises if it is incomplete
    assert scale.run(plan).failed == {}
    assert collected(plan, tmp_path / "found.jsonl") == expected
    left = [p.name for p in plan.parts.iterdir() if not p.name.isdigit()]
    assert [name for name in left if name.endswith(".tmp")] == []


# Changes and damage.


def test_a_changed_input_fails_with_its_name(tmp_path):
    source = Path(shutil.copy(corpus(), tmp_path / "in.jsonl"))
    plan = scale.make_plan(tmp_path / "plan", "predict", [source], model=model(), shard_size=20_000)
    data = source.read_bytes()
    source.write_bytes(data.replace(b"binds", b"BINDS", 1))
    made = scale.run(plan)
    assert made.failed
    assert all("changed since the plan" in text and "in.jsonl" in text
               for text in made.failed.values())  # fmt: skip
    source.write_bytes(data)
    os.utime(source, (0, 2**33))  # the clock of another machine may be wrong
    assert scale.run(plan).failed == {} and scale.status(plan).failed == {}


def test_a_missing_input(tmp_path):
    source = Path(shutil.copy(corpus(), tmp_path / "in.jsonl"))
    plan = scale.make_plan(tmp_path / "plan", "predict", [source], model=model())
    source.unlink()
    assert "in.jsonl" in scale.run(plan).failed[0]


def test_inputs_that_have_moved(tmp_path, monkeypatch, expected):
    (tmp_path / "here").mkdir()
    shutil.copy(corpus(), tmp_path / "here" / "corpus.jsonl")
    monkeypatch.chdir(tmp_path / "here")
    plan = scale.make_plan(
        tmp_path / "plan", "predict", ["corpus.jsonl"], model=model(), shard_size=20_000
    )
    monkeypatch.chdir("/")
    (tmp_path / "here").rename(tmp_path / "there")
    assert scale.run(plan).failed
    assert scale.run(plan, base=os.fspath(tmp_path / "there")).failed == {}
    assert collected(plan, tmp_path / "found.jsonl") == expected


def test_a_changed_model_is_refused(tmp_path):
    plan = predicting(tmp_path / "plan")
    path = plan.folder / "files" / "model.kw"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(PlanError, match="has changed since the plan was made"):
        scale.run(plan)


def test_another_version_is_refused(tmp_path, monkeypatch):
    plan = predicting(tmp_path / "plan")
    monkeypatch.setattr(plans, "__version__", "9.9")
    for work in (scale.run, lambda plan: scale.run_shard(plan, 0), scale.verify):
        with pytest.raises(PlanError, match=r"made by kernelwood .*, this is 9\.9"):
            work(plan)


def test_a_plan_of_the_same_work_is_used_again(tmp_path):
    first, again = (predicting(tmp_path / "plan") for _ in range(2))
    assert again.id == first.id
    with pytest.raises(PlanError, match=r"other work\n *options: {} in the plan, .*every"):
        predicting(tmp_path / "plan", every=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(FileExistsError):
        predicting(tmp_path / "full")


def test_a_plan_is_not_used_again_for_changed_inputs(tmp_path):
    (tmp_path / "in").mkdir()
    source = tmp_path / "in" / "a.jsonl"
    source.write_bytes(few().read_bytes())

    def planned():
        return scale.make_plan(
            tmp_path / "in" / "plan", "predict", [tmp_path / "in"], model=model(), only="*.jsonl"
        )

    first = planned()
    scale.run(first)
    for name in ("plan.lock", ".kernelwood-1.tmp"):
        (tmp_path / "in" / name).touch()
    assert planned().id == first.id  # neither these nor the parts are inputs
    os.utime(source, (0, 0))
    with pytest.raises(PlanError, match=r"input_files: 1 with (\d+) bytes .*, 1 with \1 bytes now"):
        planned()
    source.with_name("b.jsonl").write_bytes(few().read_bytes())
    with pytest.raises(PlanError, match=r"2 with \d+ bytes now\n *files were added"):
        planned()


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("plan.json", lambda text: "{}", "not a plan"),
        ("plan.json", lambda text: text[:-40], "damaged"),
        ("plan.json", lambda text: text.replace('"format": 1', '"format": 2'), "newer"),
        ("plan.json", lambda text: text.replace('"format": 1', '"format": true'), "damaged"),
        ("plan.json", lambda text: text.replace('"model.kw"', '"../m"'), "damaged"),
        ("plan.json", lambda text: text.replace('"sizes": [', '"sizes": [-1,'), "damaged"),
    ],
)
def test_damaged_plans(tmp_path, name, change, problem):
    folder = predicting(tmp_path / "plan").folder
    (folder / name).write_text(change((folder / name).read_text("utf-8")), "utf-8")
    with pytest.raises(PlanError, match=problem):
        scale.open_plan(folder)


@given(st.data())
def test_any_damage_of_a_plan_is_an_error_or_harmless(data):
    folder = _one_plan()
    name = data.draw(st.sampled_from(["plan.json", "shards.jsonl"]))
    whole = (folder / name).read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    piece = data.draw(st.binary(max_size=3))
    damaged = whole[:at] + piece + whole[at + data.draw(st.integers(0, 3)) :]
    copy = folder.with_name("damaged")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    (copy / name).write_bytes(damaged)
    try:
        plan = scale.open_plan(copy)
        for number in range(plan.n_shards):
            plan.shard(number)
    except PlanError:
        pass


def _one_plan():
    from scale.shared_work import folder

    path = folder() / "one" / "plan"
    path.parent.mkdir(exist_ok=True)
    return predicting(path, 40_000).folder


def test_a_folder_without_a_plan(tmp_path):
    for path, problem in ((tmp_path, "does not contain"), (tmp_path / "no", "does not exist")):
        with pytest.raises(PlanError, match=problem):
            scale.open_plan(path)
    (tmp_path / "file").touch()
    with pytest.raises(PlanError, match="folder, not a file"):
        scale.open_plan(tmp_path / "file")


def test_damaged_parts_are_found(tmp_path):
    plan = predicting(tmp_path / "plan")
    scale.run(plan)
    assert scale.verify(plan, sample=plan.n_shards) == {}
    path = part_folder(plan, 1) / "found.jsonl"
    data = path.read_bytes()
    path.write_bytes(data.replace(b"{", b"[", 1))
    assert scale.verify(plan, sample=0) == {1: "found.jsonl has changed"}
    with pytest.raises(PlanError, match=r"damaged: found\.jsonl has changed"):
        scale.collect(plan, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()
    path.write_bytes(data)
    # A wrong result with a right checksum is found by computing it again.
    record = part_folder(plan, 1) / "part.json"
    made = json.loads(record.read_text("utf-8"))
    path.write_bytes(b"wrong\n")
    made["files"]["found.jsonl"] = {"bytes": 6, "sha256": plans.hash_file(path)}
    record.write_text(json.dumps(made), "utf-8")
    assert scale.verify(plan, sample=0) == {}
    assert "differs: found.jsonl" in scale.verify(plan, sample=plan.n_shards)[1]


@pytest.mark.parametrize(
    "change",
    [
        {"plan": "0" * 64},
        {"shard": 2},
        {"files": {"../x": {"bytes": 1, "sha256": "0" * 64}}},
        {"files": {"x": {"bytes": -1, "sha256": "0" * 64}}},
        {"files": {"x": {"bytes": 1, "sha256": "0"}}},
        {"files": []},
        {"counters": 1},
        {"seconds": "x"},
    ],
)
def test_hostile_records_of_parts(tmp_path, change):
    plan = predicting(tmp_path / "plan")
    scale.run(plan, [0])
    path = part_folder(plan, 0) / "part.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **change}), "utf-8")
    with pytest.raises(PlanError, match=r"damaged|another plan"):
        read_part(plan, 0)


# Bad input.


def broken(folder):
    """Return a corpus with a broken line in the middle."""
    lines = corpus().read_bytes().splitlines(keepends=True)
    lines[len(lines) // 2] = b'{"id": "x", "views"\n'
    path = folder / "broken.jsonl"
    path.write_bytes(b"".join(lines))
    return path


def test_a_broken_record_stops_its_shard_only(tmp_path):
    plan = scale.make_plan(
        tmp_path / "plan", "predict", [broken(tmp_path)], model=model(), shard_size=20_000
    )
    made = scale.run(plan)
    assert len(made.failed) == 1 and len(made.done) == plan.n_shards - 1
    [(number, text)] = made.failed.items()
    line = len(corpus().read_bytes().splitlines()) // 2 + 1
    assert f"broken.jsonl:{line}:" in text
    assert scale.status(plan).failed == {number: text}


def test_a_broken_record_is_counted_on_request(tmp_path):
    plan = scale.make_plan(
        tmp_path / "plan",
        "predict",
        [broken(tmp_path)],
        model=model(),
        shard_size=20_000,
        options={"errors": "skip"},
    )
    assert scale.run(plan).failed == {}
    counters = scale.collect(plan, tmp_path / "found.jsonl")
    assert sum(counters["skipped"].values()) == 1
    assert counters["n_documents"] == len(kw.read(corpus())) - 1


def test_a_full_disk_leaves_the_shard_missing(tmp_path, monkeypatch):
    plan = predicting(tmp_path / "plan")

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("kernelwood.relations.write_predictions", full)
        made = scale.run(plan, [0])
    assert "No space left" in made.failed[0] or "00000" in made.failed[0]
    assert sorted(p.name for p in plan.parts.iterdir()) == ["00000.failed"]
    assert scale.run(plan, [0]).done == [0]
    assert sorted(p.name for p in plan.parts.iterdir()) == ["00000"]


def test_a_read_only_folder(tmp_path, monkeypatch):
    plan = predicting(tmp_path / "plan")

    def refuse(path, *arguments, **options):
        raise PermissionError(errno.EROFS, "Read-only file system", str(path))

    with monkeypatch.context() as patch:
        patch.setattr("kernelwood.io.locks.os.open", refuse)
        made = scale.run(plan, [0, 1])
    assert list(made.failed) == [0, 1]
    assert all("Read-only file system" in text for text in made.failed.values())
    assert scale.run(plan, [0]).done == [0]


LIMITED = """
import resource, sys
from kernelwood import scale
plan = scale.open_plan(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
made = scale.run(plan)
print(len(made.failed), len(made.done))
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of file sizes")
def test_a_disk_that_is_really_full(tmp_path, expected):
    plan = predicting(tmp_path / "plan", every=True)
    done = run_python("-c", LIMITED, plan.folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(plan.n_shards), "0"]
    assert [p.name for p in plan.parts.iterdir() if p.name.isdigit() or "tmp" in p.name] == []
    assert scale.run(plan).failed == {}


@pytest.mark.parametrize(
    ("command", "options", "problem"),
    [
        ("train", {}, "plans cannot run 'train'"),
        ("predict", {"nonsense": 1}, "no option 'nonsense'"),
        ("predict", {"every": "yes"}, "invalid value: 'yes'"),
        ("predict", {"n_evidence": True}, "invalid value"),
        ("predict", {"format": "penn"}, "'penn' is not a format of predictions"),
        ("convert", {"format": "docred"}, "'docred' cannot be written"),
        ("convert", {}, "does not use the file model.kw"),
    ],
)
def test_wrong_work(tmp_path, command, options, problem):
    with pytest.raises(KernelwoodError, match=problem):
        scale.make_plan(tmp_path / "plan", command, [corpus()], model=model(), options=options)
    assert not (tmp_path / "plan").exists()


def test_more_wrong_work(tmp_path):
    with pytest.raises(PlanError, match="needs the file of a model"):
        scale.make_plan(tmp_path / "plan", "predict", [corpus()])
    with pytest.raises(KernelwoodError, match="at least one path"):
        scale.make_plan(tmp_path / "plan", "predict", [], model=model())
    with pytest.raises((ReadError, OSError), match="nothing"):
        scale.make_plan(tmp_path / "plan", "predict", [tmp_path / "nothing"], model=model())
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(PlanError, match="empty"):
        scale.make_plan(tmp_path / "plan", "predict", [tmp_path / "empty.jsonl"], model=model())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["empty.jsonl"]
    plan = predicting(tmp_path / "plan")
    with pytest.raises(PlanError, match="there is no shard 99"):
        scale.run(plan, [99])
    with pytest.raises(PlanError, match=r"ends in \.jsonl"):
        scale.collect(plan, tmp_path / "found.tsv")


def test_the_number_of_shards_is_bounded(tmp_path):
    plan = scale.make_plan(
        tmp_path / "plan", "predict", [corpus()], model=model(), shard_size=1, max_shards=5
    )
    assert 1 < plan.n_shards <= 6
