"""``--resume``: an interrupted command continues, and writes the same bytes."""

from __future__ import annotations

import errno
import gzip
import json
import os
import shutil
import sys
import tarfile
from pathlib import Path

import pytest
from cli.running import answer, invoke, wrong_data
from power_cut import Disk
from processes import run_python
from scale.shared_work import few, model, terms, texts

import kernelwood as kw
from kernelwood import scale
from kernelwood.io import FileInUseError, FileLock
from kernelwood.scale import parts, running, tasks

COMMANDS = (tasks.Extract, tasks.Predict, tasks.Convert, tasks.Embed)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    for task in COMMANDS:
        monkeypatch.setattr(task, "block", 1_500)


@pytest.fixture
def computed(monkeypatch):
    """The first shards of the blocks that are computed."""
    made, original = [], running._computed

    def compute(plan, number, *rest):
        part = original(plan, number, *rest)
        made.append(number)
        return part

    monkeypatch.setattr(running, "_computed", compute)
    return made


@pytest.fixture
def out(tmp_path):
    """A folder with nothing in it."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def content(path):
    if path.is_dir():
        return {one.relative_to(path): one.read_bytes() for one in path.rglob("*.*")}
    return path.read_bytes()


def ran(*arguments):
    made = invoke(*arguments)
    assert made.exit_code == 0, made.stderr
    return made


def interrupted(monkeypatch, after, *arguments):
    """Run a command that stops after some blocks."""
    original, counted = running.write_part, iter(range(after))

    def stop(*given):
        if next(counted, None) is None:
            raise KeyboardInterrupt
        return original(*given)

    with monkeypatch.context() as patch:
        patch.setattr(running, "write_part", stop)
        made = invoke(*arguments)
    assert made.exit_code == 130, made.stderr
    return made


def predicting(target, *options):
    return ("predict", model(), few(), "-o", target, *options)


def extracting(target, *options):
    fields = ("--text-field", "abstract", "--id-field", "pmid")
    return ("extract", model(), texts(), "--entities", terms(), "-o", target, *fields, *options)


@pytest.fixture(scope="module")
def embedder(tmp_path_factory):
    path = tmp_path_factory.mktemp("embedder") / "embedder.kw"
    made = invoke("embed", few(), "--view", "words", "--landmarks", 10, "--model-out", path)
    assert made.exit_code == 0, made.stderr
    return path


# The same bytes.


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("found.jsonl", ()),
        ("found.jsonl.gz", ("--all",)),
        ("found.tsv", ()),
        ("found.txt", ("--to", "tsv")),
        ("found", ("--to", "documents")),
        ("found", ("--to", "ann")),
        ("found.xml", ("--to", "bioc")),
        ("found.parquet", ()),
    ],
)
def test_predictions(tmp_path, out, monkeypatch, computed, name, options):
    ran(*predicting(tmp_path / name, *options))
    resuming = predicting(out / name, *options, "--resume")
    made = interrupted(monkeypatch, 2, *resuming)
    assert "the same command continues" in made.stderr
    assert [path.name for path in out.iterdir()] == [f"{name}.plan"]
    ran(*resuming)
    assert content(out / name) == content(tmp_path / name)
    assert [path.name for path in out.iterdir()] == [name]
    assert len(computed) > 3 and computed == sorted(set(computed))


@pytest.mark.filterwarnings("ignore:the model was trained on parses")
@pytest.mark.parametrize("name", ["found.jsonl", "found.ann"])
def test_extraction(tmp_path, out, monkeypatch, computed, name):
    monkeypatch.setattr(tasks.Extract, "block", 300)
    ran(*extracting(tmp_path / name))
    interrupted(monkeypatch, 2, *extracting(out / name, "--resume"))
    ran(*extracting(out / name, "--resume"))
    assert content(out / name) == content(tmp_path / name)
    assert len(computed) > 3 and computed == sorted(set(computed))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("out.conllu", ()),
        ("out.jsonl.gz", ("--candidates", "pairs", "--view", "path")),
        ("folder", ("--to", "standoff")),
        ("out.bioc.xml", ("--to", "bioc")),
    ],
)
def test_conversion(tmp_path, out, monkeypatch, computed, name, options):
    ran("convert", few(), tmp_path / name, *options)
    resuming = ("convert", few(), out / name, *options, "--resume")
    interrupted(monkeypatch, 2, *resuming)
    ran(*resuming)
    assert content(out / name) == content(tmp_path / name)
    assert len(computed) > 3 and computed == sorted(set(computed))


def test_qualified_ids(tmp_path, out):
    (tmp_path / "in").mkdir()
    for name in "ab":
        shutil.copy(few(), tmp_path / "in" / f"{name}.jsonl")
    options = ("--qualify-ids",)
    ran("convert", tmp_path / "in", tmp_path / "plain.jsonl", *options)
    ran("convert", tmp_path / "in", out / "out.jsonl", *options, "--resume")
    assert content(out / "out.jsonl") == content(tmp_path / "plain.jsonl")


@pytest.mark.parametrize("name", ["v.npz", "v.npy", "v.csv", "v.tsv", "v.parquet"])
def test_vectors(tmp_path, out, monkeypatch, computed, embedder, name):
    options = ("--view", "words", "--model", embedder)
    ran("embed", few(), "-o", tmp_path / name, *options)
    resuming = ("embed", few(), "-o", out / name, *options, "--resume")
    interrupted(monkeypatch, 2, *resuming)
    ran(*resuming)
    assert len(computed) > 3 and computed == sorted(set(computed))
    assert content(out / name) == content(tmp_path / name)


# Sizes of blocks.


@pytest.fixture
def blocks(monkeypatch):
    """First shard, end and wall time of each block, for a clock that counts the work."""
    made, now, original = [], [0.0], running._computed
    monkeypatch.setattr(running.time, "perf_counter", lambda: now[0])

    def compute(plan, number, base, stop=None):
        part = original(plan, number, base, stop)
        stop = number + 1 if stop is None else stop
        seconds = sum(map(blocks.seconds, range(number, stop)))
        now[0] += seconds
        made.append((number, stop, seconds))
        return part

    blocks.made, blocks.seconds = made, lambda shard: 0.0
    monkeypatch.setattr(running, "_computed", compute)
    return blocks


def converting(monkeypatch, tmp_path, out, n=100, *, n_shards=8):
    """Convert records of equal size, each a shard."""
    source, words = tmp_path / "in.jsonl", kw.Sequence(["we", "go"])
    kw.write([kw.Example(f"r{one:03d}", views={"words": words}) for one in range(n)], source)
    monkeypatch.setattr(tasks.Convert, "block", n_shards * source.stat().st_size // n)
    return ("convert", source, out / "out.jsonl", "--resume")


def test_blocks_grow_while_the_work_is_fast(tmp_path, out, monkeypatch, blocks):
    ran(*converting(monkeypatch, tmp_path, out, 40))
    sizes = [stop - number for number, stop, _ in blocks.made]
    assert sizes[:4] == [1, 2, 4, 8] and max(sizes) == 8 and sum(sizes) == 40


def test_blocks_of_slow_work_are_small(tmp_path, out, monkeypatch, blocks):
    # Fast, then half as fast again and again, until a shard takes 8 seconds.
    blocks.seconds = lambda shard: min(8.0, 0.25 * 2 ** (shard // 10))
    ran(*converting(monkeypatch, tmp_path, out))
    assert blocks.made[-1][1] == 100 and len(blocks.made) > 60
    assert max(seconds for _, _, seconds in blocks.made) <= 10
    assert max(stop - number for number, stop, _ in blocks.made) == 8


def test_a_block_is_not_larger_than_its_limit(tmp_path, out, monkeypatch, blocks):
    ran(*converting(monkeypatch, tmp_path, out, 20, n_shards=3))
    assert max(stop - number for number, stop, _ in blocks.made) == 3


def test_blocks_can_be_verified_and_shown(tmp_path, out, monkeypatch):
    interrupted(monkeypatch, 3, *converting(monkeypatch, tmp_path, out, 20))
    plan = scale.open_plan(out / "out.jsonl.plan")
    assert parts.found_parts(plan) == [(0, 1), (1, 3), (3, 7)]
    state = scale.status(plan)
    assert state.n_done == 7 and state.missing == list(range(7, plan.n_shards))
    assert scale.verify(plan, sample=3) == {}
    (parts.part_folder(plan, 3, 7) / "part").write_text("")
    assert scale.verify(plan) == {3: "part has changed"}


def test_shards_that_were_computed_twice_are_used_once(tmp_path, out, monkeypatch):
    """Processes that do not see each other's locks may do so."""
    resuming = converting(monkeypatch, tmp_path, out, 20)
    interrupted(monkeypatch, 3, *resuming)
    plan = scale.open_plan(out / "out.jsonl.plan")
    for place in ((2, 3), (5, 9), (6, 7)):
        running._computed(plan, place[0], None, place[1])
    assert parts.missing_shards(plan) == list(range(7, plan.n_shards))
    (plan.parts / "00000-99999999").mkdir()  # not a block of this plan
    ran(*resuming)
    ran(*converting(monkeypatch, tmp_path, tmp_path, 20)[:-1])
    assert content(out / "out.jsonl") == content(tmp_path / "out.jsonl")


# Inputs that cannot be entered in the middle.


def test_a_compressed_input_is_decompressed_once(tmp_path, out, monkeypatch, computed):
    source = tmp_path / "in.jsonl.gz"
    source.write_bytes(gzip.compress(few().read_bytes()))
    opened = counted_opening(monkeypatch)
    ran("predict", model(), source, "-o", out / "found.jsonl", "--resume")
    assert len(computed) > 3 and opened == [str(source)]
    ran(*predicting(tmp_path / "plain.jsonl"))
    assert content(out / "found.jsonl") == content(tmp_path / "plain.jsonl")


def test_an_archive_is_opened_once(tmp_path, out, monkeypatch, computed):
    source = tmp_path / "in.tar.gz"
    examples = kw.read(few())
    with tarfile.open(source, "w:gz") as archive:
        for number in range(3):
            kw.write(examples[number * 5 : number * 5 + 5], tmp_path / f"{number}.jsonl")
            archive.add(tmp_path / f"{number}.jsonl", f"{number}.jsonl")
    opened = counted_opening(monkeypatch)
    resuming = ("predict", model(), source, "-o", out / "found.jsonl", "--resume")
    interrupted(monkeypatch, 4, *resuming)
    ran(*resuming)
    assert len(computed) > 6 and opened == [str(source)] * 2
    ran("predict", model(), source, "-o", tmp_path / "plain.jsonl")
    assert content(out / "found.jsonl") == content(tmp_path / "plain.jsonl")


def counted_opening(monkeypatch):
    from kernelwood.io import segments

    opened, original = [], segments._Place.__init__

    def init(self, path, limits):
        opened.append(path)
        original(self, path, limits)

    monkeypatch.setattr(segments._Place, "__init__", init)
    return opened


# Interruptions.


@pytest.mark.skipif(sys.platform == "win32", reason="signals and forks of POSIX")
@pytest.mark.parametrize(
    ("command", "resume", "kills"),
    [("predict", True, 4)]
    + [
        pytest.param(command, resume, 50, marks=pytest.mark.slow)
        for command in ("extract", "predict", "embed", "convert", "folder")
        for resume in (True, False)
    ],
)
def test_killed_runs(out, embedder, command, resume, kills):
    target = out / ("vectors.npz" if command == "embed" else "found")
    arguments = {
        "extract": extracting(target, "--to", "tsv", "--jobs", "1"),
        "predict": predicting(target, "--to", "jsonl", "--jobs", "1"),
        "embed": ("embed", few(), "-o", target, "--view", "words", "--model", embedder),
        "convert": ("convert", few(), target, "--to", "conllu"),
        "folder": predicting(target, "--to", "ann", "--jobs", "1"),
    }[command]
    script = Path(__file__).parents[1] / "killed_runs.py"
    done = run_python(script, target, kills, kills, *arguments, *(["--resume"] * resume))
    assert done.returncode == 0, done.stderr
    left = json.loads(done.stdout.splitlines()[-1])
    assert sum(left.values()) == kills
    print(command, resume, left)


@pytest.mark.skipif(sys.platform != "linux", reason="reads files by /proc")
@pytest.mark.parametrize("format", ["jsonl", "ann"])
def test_a_power_cut_loses_at_most_one_block(tmp_path, out, monkeypatch, computed, format):
    monkeypatch.setattr(tasks.Predict, "block", 4_000)
    target, plain = out / "found", tmp_path / "plain"
    ran(*predicting(plain, "--to", format))
    resuming, plain = predicting(target, "--to", format, "--resume"), content(plain)
    with Disk(monkeypatch, out) as disk:
        monkeypatch.setattr(running, "_computed", marking(disk, running._computed))
        ran(*resuming)
        n, moments = disk.mark, range(len(disk.moments))  # shards
        assert len(computed) > 2
        confirmed = list(disk.marks)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # which takes time
    for moment in moments:
        disk.restore(moment)
        if target.exists():  # the output is complete
            assert content(target) == plain and confirmed[moment] == n
            continue
        computed.clear()
        ran(*resuming)
        assert content(target) == plain
        assert (computed or [n])[0] >= confirmed[moment]  # no shard before is computed again
    assert content(target) == plain


def marking(disk, original):
    def compute(plan, number, base, stop=None):
        part = original(plan, number, base, stop)
        disk.mark += 1 if stop is None else stop - number
        return part

    return compute


def test_parts_that_are_cut_anywhere_are_computed_again(tmp_path, out, monkeypatch, computed):
    ran(*predicting(tmp_path / "plain.jsonl"))
    resuming = predicting(out / "found.jsonl", "--resume")
    interrupted(monkeypatch, 2, *resuming)
    plan = scale.open_plan(out / "found.jsonl.plan")
    folder = parts.part_folder(plan, 1)
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        path.write_bytes(data[:-1] + b"x")
        assert running._is_damaged(plan, 1)
        for size in reversed(range(len(data))):
            os.truncate(path, size)
            assert running._is_damaged(plan, 1), (path.name, size)
        path.unlink()
        assert running._is_damaged(plan, 1)
        path.write_bytes(data)
        assert not running._is_damaged(plan, 1)
    path.write_bytes(b"")
    made = ran(*resuming)
    assert "1 damaged block computed again" in made.stderr
    assert computed[:3] == [0, 1, 1] and sorted(computed[2:]) == computed[2:]
    assert content(out / "found.jsonl") == content(tmp_path / "plain.jsonl")


def test_an_interrupted_run_on_a_cluster_continues_here(tmp_path, out, computed):
    ran(*predicting(tmp_path / "plain.jsonl"))
    work = {"model": model(), "options": {"format": "jsonl"}}
    plan = scale.make_plan(out / "found.jsonl.plan", "predict", [str(few())], **work)
    assert plan.n_shards == 1
    scale.run(plan)
    ran(*predicting(out / "found.jsonl", "--resume"))
    assert computed == [0]
    assert content(out / "found.jsonl") == content(tmp_path / "plain.jsonl")


@pytest.mark.parametrize("command", ["predict", "convert"])
def test_a_folder_that_is_complete_is_not_written_again(out, monkeypatch, command):
    target = out / "found"
    arguments = {
        "predict": predicting(target, "--to", "ann", "--resume"),
        "convert": ("convert", few(), target, "--to", "standoff", "--resume"),
    }[command]
    with monkeypatch.context() as patch:  # killed when the folder has just appeared
        patch.setattr("kernelwood.cli.planned._remove", lambda *given: None)
        ran(*arguments)
    before, state = content(target), target.stat()
    made = ran(*arguments)
    assert f"{target} is complete" in made.stderr
    assert content(target) == before and os.path.samestat(target.stat(), state)
    assert [path.name for path in out.iterdir()] == ["found"]
    assert invoke(*arguments).exit_code != 0  # now the folder is one like any other


def test_counters_are_those_of_the_whole(out, monkeypatch):
    plain = answer(*predicting(out / "plain.jsonl"))
    interrupted(monkeypatch, 2, *predicting(out / "found.jsonl", "--resume"))
    made = answer(*predicting(out / "found.jsonl", "--resume"))
    assert {**made, "out": 0} == {
        **{k: v for k, v in plain.items() if k not in ("model", "seconds")},
        "out": 0,
        "plan": str(out / "found.jsonl.plan"),
    }


# Changes and wrong use.


def test_other_options_are_not_mixed_with_the_blocks(out, monkeypatch):
    interrupted(monkeypatch, 2, *predicting(out / "found.jsonl", "--resume"))
    message = wrong_data(invoke(*predicting(out / "found.jsonl", "--resume", "--all")))
    assert "a plan of other work" in message and "every" in message and "remove" in message


def test_a_changed_input_is_refused(tmp_path, out, monkeypatch):
    source = Path(shutil.copy(few(), tmp_path / "in.jsonl"))
    resuming = ("predict", model(), source, "-o", out / "found.jsonl", "--resume")
    interrupted(monkeypatch, 2, *resuming)
    data, state = source.read_bytes(), source.stat()
    source.write_bytes(data[:-5] + b"     ")
    message = wrong_data(invoke(*resuming))
    assert "files were added, removed or written" in message and "found.jsonl.plan" in message
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))  # noticed only when it is read
    message = wrong_data(invoke(*resuming))
    assert "the file has changed" in message and "found.jsonl.plan to start again" in message
    shutil.rmtree(out / "found.jsonl.plan")
    assert "the file has changed" not in wrong_data(invoke(*resuming))


def test_the_first_error_ends_the_run(tmp_path, out, computed):
    source = tmp_path / "in.jsonl"
    lines = few().read_bytes().splitlines(keepends=True)
    source.write_bytes(b"".join([*lines[:6], b"{broken\n", *lines[6:]]))
    plain = wrong_data(invoke("predict", model(), source, "-o", out / "plain.jsonl"))
    resuming = ("predict", model(), source, "-o", out / "found.jsonl", "--resume")
    assert wrong_data(invoke(*resuming)) == plain
    assert 0 < len(computed) <= 6


def test_a_lock_on_a_full_disk_is_held(tmp_path, monkeypatch):
    def write(*given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "work.lock"
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        lock = FileLock(path)
    with lock, pytest.raises(FileInUseError, match="another process"):
        FileLock(path)
    assert not path.exists()


def test_two_processes_do_not_write_one_output(out):
    with FileLock(out / "found.jsonl.plan.lock"):
        message = wrong_data(invoke(*predicting(out / "found.jsonl", "--resume")))
    assert "found.jsonl is being written by process" in message


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("predict", "MODEL", "IN", "--resume"), "give --out FILE"),
        (("predict", "MODEL", "IN", "-o", "-", "--resume"), "cannot continue standard output"),
        (("predict", "MODEL", "-", "-o", "OUT", "--resume"), "standard input cannot be cut"),
        (("predict", "MODEL", "IN", "-o", "OUT", "--resume", "--facts", "F"), "leave out --facts"),
        (("predict", "MODEL", "IN", "-o", "OUT", "--resume", "--report", "R"), "--report"),
        (("predict", "MODEL", "IN", "-o", "R", "--resume"), "report"),
        (
            ("predict", "MODEL", "IN", "-o", "OUT", "--resume", "--positive-rate", "0.5"),
            "leave out --positive-rate",
        ),
        (("predict", "MODEL", "IN", "-o", "OUT", "--resume", "--cluster", "local:1"), "--resume"),
        (("extract", "MODEL", "IN", "-o", "OUT", "--resume", "--parses", "IN"), "--parses"),
        (("convert", "IN", "-", "--to", "conllu", "--resume"), "OUT must be a file or a folder"),
        (("embed", "IN", "-o", "V", "--view", "words", "--resume"), "--model FILE.kw"),
        (("embed", "IN", "-o", "V", "--model", "MODEL", "--plot", "P", "--resume"), "--plot"),
    ],
)
def test_wrong_use(tmp_path, arguments, problem):
    names = {
        "MODEL": model(), "IN": few(), "OUT": tmp_path / "found.jsonl", "V": tmp_path / "v.npy",
        "F": tmp_path / "facts.tsv", "R": tmp_path / "report.html", "P": tmp_path / "plot.svg",
    }  # fmt: skip
    made = invoke(*(names.get(one, one) for one in arguments))
    assert made.exit_code == 2, made.stderr
    assert problem in " ".join(made.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_saved_examples_are_refused(tmp_path, embedder):
    kw.save(kw.batch([kw.Sequence("a b".split())]), tmp_path / "in.kw")
    made = invoke("embed", tmp_path / "in.kw", "-o", tmp_path / "v.npy", "--model", embedder,
                  "--resume")  # fmt: skip
    assert made.exit_code in (1, 2) and "in.kw" in made.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in.kw"]


def test_an_empty_folder_with_the_name_of_the_plan(out):
    (out / "found.jsonl.plan").mkdir()
    ran(*predicting(out / "found.jsonl", "--resume"))
    assert [path.name for path in out.iterdir()] == ["found.jsonl"]


def test_another_folder_with_the_name_of_the_plan(out):
    (out / "found.jsonl.plan").mkdir()
    (out / "found.jsonl.plan" / "notes").write_text("mine")
    message = wrong_data(invoke(*predicting(out / "found.jsonl", "--resume")))
    assert "does not contain a plan" in message
    assert (out / "found.jsonl.plan" / "notes").read_text() == "mine"
