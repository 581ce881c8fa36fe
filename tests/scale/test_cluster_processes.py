"""Clusters of real processes, which are killed in the middle of the work."""

from __future__ import annotations

import os
import random
import signal
import sys
import textwrap
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from processes import PATIENCE, run_python, start_python, wait_until
from scale import counting_task
from scale.counting_task import begun, counting_plan, expected, order
from scale.shared_work import corpus, model

from kernelwood import scale
from kernelwood.scale import ClusterError, open_cluster
from kernelwood.scale.parts import missing_shards, read_part

dask = pytest.importorskip("dask")
psutil = pytest.importorskip("psutil")  # comes with distributed
pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
ROUNDS = int(os.environ.get("KERNELWOOD_ROUNDS", "10"))  # kills of each kind
PRELOAD = str(Path(counting_task.__file__))


@contextmanager
def local(spec):
    """Start a cluster whose workers know the task of the tests."""
    with dask.config.set({"distributed.worker.preload": [PRELOAD]}), open_cluster(spec) as client:
        yield client


def collected(plan):
    """Return the result of a plan whose parts are all complete."""
    out = plan.folder.with_name("collected")
    scale.collect(plan, out)
    assert all(read_part(plan, number).problems() == [] for number in range(plan.n_shards))
    return out.read_bytes()


def exists(number):
    """Return whether a process runs."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_for_end(numbers):
    """Wait until processes have ended; fail if they do not."""
    deadline = time.monotonic() + 60
    while alive := [number for number in numbers if exists(number)]:
        assert time.monotonic() < deadline, f"processes are left: {alive}"
        time.sleep(0.05)


def test_workers_in_processes_compute_the_same_bytes(tmp_path):
    plans = [
        scale.make_plan(tmp_path / name, "predict", [corpus()], model=model(), shard_size=10_000)
        for name in ("here", "there")
    ]
    scale.run(plans[0])
    variables = dict(os.environ)
    with open_cluster("local:2") as client:
        assert list(client.nthreads().values()) == [1, 1]
        workers = client.run(os.getpid).values()
        listening = [
            connection.laddr.ip
            for number in (os.getpid(), *workers)
            for connection in psutil.Process(number).net_connections()
            if connection.status == psutil.CONN_LISTEN
        ]
        assert set(listening) == {"127.0.0.1"}
        trimmed = client.run(os.getenv, "MALLOC_TRIM_THRESHOLD_").values()
        assert (len(workers), set(trimmed)) == (2, {None})
        assert scale.run(plans[1], client=client).failed == {}
    wait_for_end(workers)
    assert dict(os.environ) == variables
    for name, plan in zip("ab", plans, strict=True):
        scale.collect(plan, tmp_path / f"{name}.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_workers_are_forks_of_a_process_without_threads(tmp_path):
    program = textwrap.dedent("""
        import json, os
        from multiprocessing import forkserver
        from kernelwood import scale

        def look():
            import sys
            return os.getppid(), "kernelwood.relations.extractor" in sys.modules

        if __name__ == "__main__":
            with scale.open_cluster("local:2") as client:
                server = forkserver._forkserver._forkserver_pid
                found = list(client.run(look).values())
                tasks = f"/proc/{server}/task"
                names = [open(f"{tasks}/{one}/comm").read() for one in os.listdir(tasks)]
            # That of pyarrow's allocator, which expects forks: jemalloc has handlers for them.
            names = [name for name in names if name != "jemalloc_bg_thd\\n"]
            print(json.dumps([found == [(server, True)] * 2, len(names)]))
    """)
    (tmp_path / "program.py").write_text(program)
    done = run_python(tmp_path / "program.py")
    assert (done.stdout, done.stderr) == ("[true, 1]\n", "")


def test_workers_that_are_killed_are_replaced(tmp_path):
    plan = counting_plan(tmp_path / "plan", 8 * ROUNDS, seconds=0.05)
    killed = []

    def kill(done, total):
        if done * ROUNDS // total > len(killed) and len(killed) < ROUNDS:
            _, process = begun(plan)[-1]
            killed.append(process)
            os.kill(process, signal.SIGKILL)

    with local("local:2") as client:
        made = scale.run(plan, client=client, progress=kill)
    assert len(killed) >= ROUNDS - 1
    assert (made.failed, made.busy, missing_shards(plan)) == ({}, [], [])
    assert collected(plan) == expected(plan.n_shards)
    wait_for_end({process for _, process in begun(plan)})


def test_a_shard_that_kills_workers_is_reported_and_the_rest_is_done(tmp_path):
    plan = counting_plan(tmp_path / "plan", 20)
    path = order(plan, 4, *["kill"] * 20)
    with local("local:2") as client:
        made = scale.run(plan, client=client)
        assert [number for number, _ in begun(plan)].count(4) == 3
        assert made.failed.keys() == {4}
        assert "3 workers ended" in made.failed[4]
        assert missing_shards(plan) == [4]
        path.unlink()
        assert scale.run(plan, client=client).done == [4]
    assert collected(plan) == expected(20)


def test_eight_workers_with_delays_and_failures(tmp_path):
    plan = counting_plan(tmp_path / "plan", 120, seconds=0.02)
    random_ = random.Random(0)
    for number in random_.sample(range(120), 24):
        order(plan, number, random_.choice(["fail", "full", "kill", "kill fail"]))
    with local("local:8") as client:
        assert len(client.nthreads()) == 8
        runs = []
        while missing_shards(plan):
            runs.append(scale.run(plan, client=client))
            assert len(runs) < 5
    assert runs[0].failed
    assert collected(plan) == expected(120)
    wait_for_end({process for _, process in begun(plan)})


# A driver that is stopped.

DRIVER = textwrap.dedent("""
    import sys
    import dask
    from kernelwood import scale

    def main(plan, preload, spec):
        with dask.config.set({"distributed.worker.preload": [preload]}):
            with scale.open_cluster(spec) as client:
                made = scale.run(plan, client=client)
        print(len(made.done), made.busy, made.failed)

    if __name__ == "__main__":
        sys.path.insert(0, sys.argv[4])
        import scale.counting_task as unused
        try:
            main(*sys.argv[1:4])
        except KeyboardInterrupt:
            print("interrupted")
""").replace("import scale.counting_task as unused", "__import__('scale.counting_task')")


@pytest.fixture
def driver(tmp_path):
    """Return a function that starts a driver on a plan."""
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    tests = Path(__file__).parents[1]

    def start(plan, spec):
        return start_python(script, plan.folder, PRELOAD, spec, tests, start_new_session=True)

    return start


def members(session):
    """Return the processes of a session."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def test_nothing_is_left_of_a_driver_that_is_killed(tmp_path, driver):
    plan = counting_plan(tmp_path / "plan", 8 * ROUNDS, seconds=0.05)
    for _ in range(ROUNDS):
        before = len(begun(plan))
        with driver(plan, "local:2") as process:
            wait_until(lambda n=before: len(begun(plan)) >= n + 3, process)
            processes = members(process.pid)
            assert len(processes) >= 3
            process.kill()
        wait_for_end(processes)
    assert 0 < len(missing_shards(plan)) < plan.n_shards
    assert scale.run(plan).failed == {}
    assert collected(plan) == expected(plan.n_shards)
    # A process that is killed between the end of the work and that of the lock leaves its file.
    names = {path.name for path in plan.parts.iterdir() if path.suffix != ".lock"}
    assert names == {f"{number:05d}" for number in range(plan.n_shards)}


def test_an_interrupt_of_driver_and_workers_ends_all_of_them_quietly(tmp_path, driver):
    plan = counting_plan(tmp_path / "plan", 200, seconds=0.2)
    with driver(plan, "local:2") as process:
        wait_until(lambda: len(begun(plan)) >= 3, process)
        processes = members(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (out, err, process.returncode) == ("interrupted\n", "", 0)
    wait_for_end(processes)
    assert missing_shards(plan)


# A scheduler that is killed.


@contextmanager
def remote(folder):
    """Start a scheduler and a worker; gives the scheduler and its file."""
    file = folder / "scheduler.json"
    file.unlink(missing_ok=True)
    options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    scheduler = start_python(
        "-m", "distributed.cli.dask_scheduler", *options, "--scheduler-file", file,
    )  # fmt: skip
    with ended(scheduler):
        wait_until(lambda: file.exists() and file.stat().st_size, scheduler)
        worker = start_python(
            "-m", "distributed.cli.dask_worker", "--scheduler-file", file, "--nthreads", "1",
            "--no-nanny", "--no-dashboard", "--death-timeout", "20", "--preload", PRELOAD,
            "--host", "127.0.0.1",
        )  # fmt: skip
        with ended(worker):
            yield scheduler, file


@contextmanager
def ended(process):
    try:
        yield
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def test_a_scheduler_that_is_killed_is_a_clear_error(tmp_path):
    plan = counting_plan(tmp_path / "plan", 8 * ROUNDS, seconds=0.05)
    for _ in range(ROUNDS):
        before = len(begun(plan))

        def kill(done, total, n=before):
            if len(begun(plan)) >= n + 3:
                scheduler.kill()

        with remote(tmp_path) as (scheduler, file), open_cluster(file, timeout=5) as client:
            client.wait_for_workers(1, timeout=PATIENCE)
            with pytest.raises(ClusterError, match="run the plan again"):
                scale.run(plan, client=client, progress=kill)
    missing = missing_shards(plan)
    assert 0 < len(missing) < plan.n_shards
    with remote(tmp_path) as (_, file), open_cluster(file) as client:
        client.wait_for_workers(1, timeout=PATIENCE)
        assert scale.run(plan, client=client).failed == {}
    assert collected(plan) == expected(plan.n_shards)


def test_the_command_line_runs_on_a_cluster(tmp_path):
    options = ("-m", "kernelwood", "predict", model(), corpus(), "-o")
    for name, more in (("a", ()), ("b", ("--cluster", "local:1"))):
        done = run_python(*options, tmp_path / f"{name}.jsonl", *more)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
