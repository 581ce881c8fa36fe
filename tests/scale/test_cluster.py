"""Plans on Dask clusters: the same bytes as in one process, whatever fails on the way."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from processes import PATIENCE
from scale.counting_task import ROWS, begun, counting_plan, expected, order
from scale.shared_work import corpus, model

from kernelwood import scale
from kernelwood.errors import KernelInputError
from kernelwood.scale import ClusterError, PlanError, cluster, open_cluster
from kernelwood.scale.parts import lock_file, lock_part, missing_shards, read_part

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    """A cluster in this process, with one worker of one thread."""
    with (
        distributed.LocalCluster(
            processes=False,
            n_workers=1,
            threads_per_worker=1,
            memory_limit=8 * 10**9,
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        ) as started,
        distributed.Client(started, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def plan(tmp_path):
    return counting_plan(tmp_path / "plan", 12)


def collected(plan):
    out = plan.folder.with_name("collected")
    scale.collect(plan, out)
    return out.read_bytes()


def tasks(client):
    """Return the keys of the tasks that the scheduler knows."""
    return [key for key in client.cluster.scheduler.tasks if str(key).startswith("kernelwood")]


# Runs.


def test_workers_compute_the_same_bytes(client, tmp_path):
    plans = [
        scale.make_plan(tmp_path / name, "predict", [corpus()], model=model(), shard_size=30_000)
        for name in ("here", "there")
    ]
    assert plans[0].n_shards > 2
    scale.run(plans[0])
    made = scale.run(plans[1], client=client)
    assert (made.done, made.busy, made.failed) == (list(range(plans[1].n_shards)), [], {})
    for name, plan in zip("ab", plans, strict=True):
        scale.collect(plan, tmp_path / f"{name}.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_only_missing_shards_are_computed(client, plan):
    scale.run(plan, [3, 5])
    seen = []
    made = scale.run(plan, client=client, progress=lambda *numbers: seen.append(numbers))
    assert made.done == [0, 1, 2, 4, *range(6, 12)]
    assert sorted(number for number, _ in begun(plan)) == list(range(12))
    assert seen[0] == (2 * ROWS, 12 * ROWS)
    assert seen[-1] == (12 * ROWS, 12 * ROWS)
    assert scale.run(plan, client=client).done == []
    assert collected(plan) == expected(12)


def test_failed_shards_do_not_stop_others_and_can_be_repeated(client, plan):
    order(plan, 2, "fail")
    order(plan, 4, "full")
    made = scale.run(plan, client=client)
    assert made.done == [n for n in range(12) if n not in (2, 4)]
    assert made.failed.keys() == {2, 4}
    assert "told to fail" in made.failed[2]
    assert "No space left" in made.failed[4]
    assert scale.status(plan).failed.keys() == {2, 4}
    assert scale.run(plan, client=client).done == [2, 4]
    assert collected(plan) == expected(12)


def test_few_tasks_are_submitted_at_any_time(client, plan, monkeypatch):
    monkeypatch.setattr(cluster, "_FEWEST", 2)
    monkeypatch.setattr(cluster, "_PER_THREAD", 3)
    counts = []
    submit = client.submit

    def counting(*arguments, **options):
        states = [state.status for state in client.futures.values()]
        counts.append(states.count("pending"))
        return submit(*arguments, **options)

    monkeypatch.setattr(client, "submit", counting)
    assert len(scale.run(plan, client=client).done) == 12
    assert len(counts) == 12
    assert max(counts) == 2


def test_the_number_of_tasks_follows_the_size_of_the_cluster(client, plan):
    many = cluster._Tasks(client, plan, None)
    assert many._capacity() == cluster._FEWEST
    many._client = type("Client", (), {"nthreads": staticmethod(lambda: {"a": 64, "b": 1})})
    assert many._capacity() == cluster._FEWEST  # asked a moment ago
    many._asked -= cluster._ASKED
    assert many._capacity() == 65 * cluster._PER_THREAD


def test_only_names_strings_and_numbers_are_sent(client, plan, monkeypatch):
    sent = []
    submit = client.submit

    def recording(function, *arguments, **options):
        sent.append((function, arguments))
        return submit(function, *arguments, **options)

    monkeypatch.setattr(client, "submit", recording)
    order(plan, 1, "fail")
    scale.run(plan, client=client, base="inputs")
    for function, (folder, number, base) in sent:
        assert getattr(sys.modules[function.__module__], function.__qualname__) is function
        assert (type(folder), type(number), base) == (str, int, "inputs")
    assert json.loads(json.dumps(cluster.compute_shard(folder, 0)))["state"] == "present"
    order(plan, 1, "fail")
    assert cluster.compute_shard(folder, 1) == {
        "shard": 1, "state": "failed", "error": "told to fail"
    }  # fmt: skip


def test_an_interrupt_cancels_the_other_tasks(client, plan):
    path = order(plan, 6, "wait")

    def interrupt(number):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cluster.run_on_cluster(plan, range(12), client, finished=interrupt)
    path.unlink()
    wait_for(lambda: not tasks(client))
    assert len(missing_shards(plan)) > 1
    assert scale.run(plan, client=client).failed == {}
    assert collected(plan) == expected(12)


def test_errors_of_the_caller_are_not_those_of_the_cluster(client, plan):
    def report(number):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        cluster.run_on_cluster(plan, range(12), client, finished=report)
    wait_for(lambda: not tasks(client))


def wait_for(condition):
    """Wait until a condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_other_exceptions_stop_the_run(client, plan):
    order(plan, 0, "bug")
    with pytest.raises(ZeroDivisionError, match="told to have a bug"):
        scale.run(plan, client=client)
    wait_for(lambda: not tasks(client))


def test_shards_that_another_process_computes_are_left_to_it(client, plan):
    seen = []
    with lock_part(plan, 3):
        made = cluster.run_on_cluster(plan, range(12), client, finished=seen.append)
    assert (made.busy, len(made.done)) == ([3], 11)
    assert sorted(seen) == list(range(12))
    assert 3 not in [number for number, _ in begun(plan)]


def test_shards_whose_process_has_ended_meanwhile_are_computed(client, plan):
    lock = lock_part(plan, 0)
    made = cluster.run_on_cluster(plan, range(12), client, finished=lambda number: lock.release())
    assert (made.busy, made.done) == ([], list(range(12)))


def test_the_memory_limit_of_a_worker_is_its_budget(client, plan):
    scale.run(plan, client=client)
    limit = client.cluster.workers[0].memory_manager.memory_limit
    assert read_part(plan, 0).counters["budget"] == int(limit * 0.75)
    assert cluster._settings() == {}


# Workers that cannot be used.


def test_workers_of_another_version_are_refused(client, plan, monkeypatch):
    monkeypatch.setattr(cluster, "__version__", "9.9.9")
    with pytest.raises(PlanError, match=r"the worker inproc.* has 9\.9\.9"):
        scale.run(plan, client=client)
    assert begun(plan) == []


def test_workers_of_another_version_that_join_later_are_refused(client, plan, monkeypatch):
    monkeypatch.setattr(cluster, "_check_workers", lambda *arguments: None)
    monkeypatch.setattr("kernelwood.scale.plan.__version__", "9.9.9")
    with pytest.raises(PlanError, match=r"this is 9\.9\.9(.|\n)*on the worker .*, process"):
        cluster.run_on_cluster(plan, range(12), client)
    wait_for(lambda: not tasks(client))


def test_workers_without_kernelwood_are_refused(client, plan, monkeypatch):
    def failing(*arguments, **options):
        return {"tcp://there:1": ModuleNotFoundError("No module named 'kernelwood'")}

    monkeypatch.setattr(client, "run", failing)
    with pytest.raises(PlanError, match=r"there:1 cannot import kernelwood .*: No module named"):
        scale.run(plan, client=client)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": "0" * 64}, "another plan is there"),
        ({"folder": Path("nowhere")}, "the folder does not exist"),
    ],
)
def test_workers_that_do_not_see_the_plan_are_refused(client, plan, changes, message):
    other = dataclasses.replace(plan, **changes)
    with pytest.raises(PlanError, match=rf"does not find the plan: (.|\n)*{message}") as caught:
        cluster.run_on_cluster(other, range(12), client)
    assert "a folder that all machines share" in str(caught.value)


def test_workers_of_several_threads_and_a_cluster_without_workers_are_told(plan, client):
    class Other:
        def __init__(self, threads):
            self.nthreads = lambda: threads

        run = client.run

    address = next(iter(client.nthreads()))
    with pytest.warns(UserWarning, match="1 of 1 workers have several threads, such as inproc"):
        cluster._check_workers(plan, Other({address: 2}))
    with pytest.warns(UserWarning, match="no workers yet"):
        cluster._check_workers(plan, Other({}))


# Tasks that come to nothing.


class Future:
    """A task that has ended."""

    key = "key"

    def __init__(self, status):
        self.status = status

    def cancelled(self):
        return self.status in ("cancelled", "lost")


@pytest.fixture
def killed():
    last = SimpleNamespace(address="tcp://there:7")
    failure = distributed.KilledWorker("key", last, 2)
    return type(failure), failure, None


def test_a_shard_that_kills_workers_fails(plan, killed):
    running = cluster._Tasks(None, plan, None)
    running._attempts[5] = 1
    lock_file(plan, 5).touch()  # a process that is killed leaves the file
    outcome = running._outcome(5, Future("error"), killed)
    assert outcome["state"] == "failed"
    assert "3 workers ended" in outcome["error"]
    assert "tcp://there:7" in outcome["error"]
    made = scale.Run()
    cluster._note(plan, made, 5, outcome)
    assert made.failed == {5: outcome["error"]} == scale.status(plan).failed


def test_a_shard_that_only_waited_on_workers_that_were_killed_is_submitted_again(plan, killed):
    running = cluster._Tasks(None, plan, None)
    running._attempts[5] = 1
    assert running._outcome(5, Future("error"), killed) is None
    running._attempts[5] = cluster._ATTEMPTS
    assert running._outcome(5, Future("error"), killed)["state"] == "failed"


def test_a_result_counts_although_its_worker_has_died(plan):
    result = {"shard": 5, "state": "done", "seconds": 0.0}
    assert cluster._Tasks(None, plan, None)._outcome(5, Future("pending"), result) == result


def test_lost_tasks_are_an_error_that_says_what_to_do(plan):
    running = cluster._Tasks(None, plan, None)
    with pytest.raises(ClusterError, match=r"canceled: lost\n    run the plan again"):
        running._outcome(5, Future("cancelled"), "lost")
    for failure in (TimeoutError("late"), OSError("gone")):
        with (
            pytest.raises(ClusterError, match=r"scheduler of the cluster was lost: (late|gone)"),
            cluster._naming_losses(),
        ):
            raise failure


def test_a_local_cluster_whose_workers_do_not_start_again_is_an_error(client, plan, monkeypatch):
    running = cluster._Tasks(client, plan, None)
    monkeypatch.setattr(client, "nthreads", dict)
    assert running._capacity() == cluster._FEWEST
    running._asked -= cluster._ASKED
    running._alive -= cluster._START + 1
    with pytest.raises(ClusterError, match="do not start again"):
        running._capacity()


# Descriptions of clusters.


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("local:0", "from 1 to 1024, got 'local:0'"),
        ("local:", "from 1 to 1024"),
        ("local:-2", "from 1 to 1024"),
        ("local:2000", "from 1 to 1024"),
        ("local:９", "from 1 to 1024"),
        ("nowhere", "'nowhere' is not a cluster: No such file or directory"),
        ("http://host:1", "is not a cluster"),
        ("tcp://", "is not a cluster"),
        ("", "is not a cluster"),
        ("a\0b", "is not a cluster: embedded null byte"),
    ],
)
def test_other_descriptions_are_refused(spec, message):
    with pytest.raises(KernelInputError, match=message), open_cluster(spec):
        pass


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"address": 1}', '{"address": "inproc://a"}', "[" * 100_000, "\xff"]
)
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "scheduler.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(KernelInputError, match="is not a scheduler file"), open_cluster(path):
        pass


def test_a_scheduler_file_names_the_address(tmp_path):
    path = tmp_path / "scheduler.json"
    path.write_text('{"type": "Scheduler", "address": "tcp://127.0.0.1:1"}')
    message = r"no scheduler answers at tcp://127\.0\.0\.1:1(.|\n)*dask scheduler"
    with pytest.raises(ClusterError, match=message), open_cluster(path, timeout=0.2):
        pass


def test_workers_that_do_not_start_are_told_from_a_program_that_each_of_them_runs(monkeypatch):
    import distributed

    def fail(**_):
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "LocalCluster", fail)
    message = r'Nanny failed to start\.\n +in a program, .*: if __name__ == "__main__":'
    with pytest.raises(ClusterError, match=message), open_cluster("local:2"):
        pass


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"kernelwood\[dask\]"), open_cluster("local:2"):
        pass


def test_one_worker_for_each_core_is_the_default():
    assert cluster._local_workers("local") == os.cpu_count()
    assert cluster._local_workers("local:12") == 12
    assert cluster._local_workers("localhost:12") is None
