"""``kernelwood shards``."""

from __future__ import annotations

import json
import signal
import sys
from functools import partial
from pathlib import Path
from subprocess import run as run_process

import pytest
from cli.interactions import some_documents
from cli.running import answer, invoke, wrong_data
from processes import run_python, start_python, stop

import kernelwood as kw
from kernelwood import scale
from kernelwood.scale import parts

run = partial(invoke, "shards")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.kw"
    kw.save(kw.RelationExtractor(random_state=0).fit(some_documents()), path)
    return path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "in.jsonl"
    kw.write(some_documents(8, start=20), path)
    return path


@pytest.fixture
def plan(model, corpus, tmp_path):
    made = run("plan", "--shard-size", "2kB", tmp_path / "work", "predict", model, corpus)
    assert made.exit_code == 0, made.stderr
    return tmp_path / "work"


def test_the_whole_way(model, corpus, plan, tmp_path):
    n = scale.open_plan(plan).n_shards
    assert n > 2
    made = run("run", plan)
    assert made.exit_code == 0, made.stderr
    assert f"{n} shards computed" in made.stderr
    assert f"{n} of {n} shards computed" in run("status", plan).stdout
    assert run("verify", plan, "--sample", 2).stdout == f"{plan}: no problems\n"
    made = run("collect", plan, tmp_path / "found.jsonl")
    assert made.exit_code == 0, made.stderr
    plain = invoke("predict", model, corpus, "-o", tmp_path / "plain.jsonl")
    assert made.stdout == plain.stdout
    assert (tmp_path / "found.jsonl").read_bytes() == (tmp_path / "plain.jsonl").read_bytes()


def test_answers_as_json(plan, tmp_path):
    n = scale.open_plan(plan).n_shards
    made = answer("shards", "run", plan, "--shard", 1)
    assert made == {"plan": str(plan), "done": [1], "busy": [], "failed": {}}
    assert answer("shards", "run", plan, "--shards", "0-1")["done"] == [0]
    made = answer("shards", "status", plan)
    assert (made["n_done"], made["n_missing"], made["command"]) == (2, n - 2, "predict")
    run("run", plan)
    assert answer("shards", "verify", plan) == {"plan": str(plan), "problems": {}}
    made = answer("shards", "collect", plan, tmp_path / "found.tsv.jsonl")
    assert made["n_documents"] == 48 and made["out"].endswith("found.tsv.jsonl")


def test_shards_by_other_tools(plan, tmp_path):
    done = run_process(
        ["xargs", "-P", "2", "-I", "{}", sys.executable, "-m", "kernelwood", "shards", "run",
         str(plan), "--shard", "{}"],
        input="2\n0\n1\n",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not {0, 1, 2} & set(parts.missing_shards(scale.open_plan(plan)))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("predict", "MODEL", "CORPUS", "--positive-rate", "0.1"), "leave out --positive-rate"),
        (("predict", "MODEL", "CORPUS", "--facts", "x.tsv"), "leave out --facts"),
        (("predict", "MODEL", "CORPUS", "--report", "x.html"), "leave out --report"),
        (("predict", "MODEL", "CORPUS", "--nonsense"), "No such option"),
        (("predict", "MODEL", "-"), "standard input cannot be cut"),
        (("predict", "MODEL"), "Missing argument 'CORPUS'"),
        (("train", "CORPUS"), "'train' is not one of"),
        (("embed", "CORPUS", "-o", "x.npy"), "needs a saved model"),
        (("convert", "CORPUS", "x.xyz"), "x.xyz"),
    ],
)
def test_wrong_usage(model, corpus, tmp_path, arguments, problem):
    named = {"MODEL": model, "CORPUS": corpus}
    made = run("plan", tmp_path / "work", *(named.get(one, one) for one in arguments))
    assert made.exit_code == 2 and problem in made.stderr
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("arguments", [("--shard", "99"), ("--shards", "5-99")])
def test_shards_that_do_not_exist(plan, arguments):
    assert "there is no shard" in wrong_data(run("run", plan, *arguments))


@pytest.mark.parametrize("value", ["3-1", "a", "1-", "-1", "1-b"])
def test_wrong_ranges(plan, value):
    assert run("run", plan, f"--shards={value}").exit_code == 2


def test_missing_files(model, corpus, tmp_path):
    made = run("plan", tmp_path / "work", "predict", tmp_path / "no.kw", corpus)
    assert "no.kw" in wrong_data(made)
    for command in ("run", "status", "verify"):
        assert "does not exist" in wrong_data(run(command, tmp_path / "no"))
    assert "no such folder" in wrong_data(
        run("plan", tmp_path / "a" / "b", "predict", model, corpus)
    )


def test_incomplete_plans_are_not_joined(plan, tmp_path):
    said = wrong_data(run("collect", plan, tmp_path / "found.jsonl"))
    assert "shards are not computed yet" in said
    assert not (tmp_path / "found.jsonl").exists()


def test_errors_of_shards(model, corpus, tmp_path):
    lines = corpus.read_text("utf-8").splitlines()
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join([*lines[:3], "{broken", *lines[3:]]), "utf-8")
    run("plan", "--shard-size", "2kB", tmp_path / "work", "predict", model, source)
    made = run("run", tmp_path / "work")
    assert made.exit_code == 1
    assert "in.jsonl:4:" in made.stderr and "1 shard failed" in made.stderr
    assert "in.jsonl:4:" in run("status", tmp_path / "work").stdout


WAITING = """
import sys, time
from kernelwood.cli import main
from kernelwood.scale import running

whole = running.run_shard

def run_shard(plan, number, **options):
    if number == 3:
        print("waiting", flush=True)
        time.sleep(300)
    return whole(plan, number, **options)

running.run_shard = run_shard
sys.argv[1:] = ["shards", "run", sys.argv[1]]
main()
"""


def test_an_interrupted_run_goes_on_later(plan):
    opened = scale.open_plan(plan)
    process = start_python("-c", WAITING, plan)
    assert process.stdout.readline() == "waiting\n"
    ended = stop(process, signal.SIGINT)
    assert ended.returncode == 130
    assert "Traceback" not in ended.stderr
    assert parts.missing_shards(opened) == list(range(3, opened.n_shards))
    assert run("run", plan).exit_code == 0
    assert parts.missing_shards(opened) == []
    left = [path.name for path in Path(opened.parts).iterdir()]
    assert sorted(left) == [f"{number:05d}" for number in range(opened.n_shards)]


def test_extraction_with_a_list_of_terms(model, tmp_path):
    (tmp_path / "terms.tsv").write_text("Raf\tprotein\nRas\tprotein\n", "utf-8")
    (tmp_path / "texts").mkdir()
    for number in range(4):
        (tmp_path / "texts" / f"{number}.txt").write_text("Raf binds Ras. It rains.\n", "utf-8")
    options = ("--entities", tmp_path / "terms.tsv", "--all")
    made = run("plan", "--shard-size", 30, tmp_path / "work", "extract", model,
               tmp_path / "texts", *options)  # fmt: skip
    assert made.exit_code == 0, made.stderr
    assert scale.open_plan(tmp_path / "work").n_shards == 4
    assert run("run", tmp_path / "work").exit_code == 0
    assert run("collect", tmp_path / "work", tmp_path / "found.jsonl").exit_code == 0
    invoke("extract", model, tmp_path / "texts", *options, "-o", tmp_path / "plain.jsonl")
    found = (tmp_path / "found.jsonl").read_bytes()
    assert found == (tmp_path / "plain.jsonl").read_bytes()
    assert len({json.loads(line)["document"] for line in found.splitlines()}) == 4


@pytest.mark.parametrize("spec", ["local:0", "nowhere.json"])
def test_a_wrong_cluster_leaves_no_plan(model, corpus, tmp_path, spec):
    pytest.importorskip("distributed")
    made = invoke("predict", model, corpus, "-o", tmp_path / "x.jsonl", "--cluster", spec)
    assert made.exit_code == 1 and spec in made.stderr
    assert list(tmp_path.iterdir()) == []


IMPORTED = """
import sys
from kernelwood.cli import main
try:
    main(sys.argv[1:])
finally:
    print(*{"sklearn", "scipy", "pandas"} & set(sys.modules), file=sys.stderr)
"""


def test_planning_and_joining_import_little(model, corpus, plan, tmp_path):
    assert run("run", plan).exit_code == 0
    for arguments in (
        ("plan", tmp_path / "other", "predict", model, corpus),
        ("status", plan),
        ("collect", plan, tmp_path / "found.jsonl"),
    ):
        made = run_python("-c", IMPORTED, "-q", "shards", *arguments)
        assert (made.returncode, made.stderr) == (0, "\n"), arguments
