"""Plans of commands: what their options mean for shards, runs on a cluster and resumable runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import (
    counted,
    note,
    one_message,
    one_name,
    running,
    say,
    show_counts,
    staged,
    write_json,
)
from kernelwood.cli.options import refuse
from kernelwood.cli.outputs import check_inputs, check_writable

if TYPE_CHECKING:
    from kernelwood.scale import Plan, Run

# Options that concern all inputs together, or that are given elsewhere.
_WHOLE = ("positive_rate", "facts", "report")
_REASON = "a plan computes parts of the inputs one by one"
_MOST_BLOCKS = 10**6  # of a resumable run; larger inputs get larger blocks
_ENCODINGS = ("embed", "hash", "index", "gram")
_SUFFIXES = {"": "jsonl", ".jsonl": "jsonl", ".tsv": "tsv", ".parquet": "parquet"}
_SHOWN = 5  # errors of shards


def planned_work(command: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `kernelwood.scale.make_plan` for a parsed command.

    Parameters
    ----------
    command : str
        Name of the command.
    values : dict
        Its arguments and options.

    Raises
    ------
    click.UsageError
        If an option cannot be used in plans.
    """
    made: dict[str, Any] = {"format": values.get("source_format"), "only": values.get("only")}
    options: dict[str, Any] = {"errors": values["errors"], "memory_limit": values["memory_limit"]}
    if command in ("extract", "predict"):
        refuse(values, _WHOLE, _REASON)
        if values.get("parses") is not None:
            raise click.UsageError(f"{_REASON}; leave out --parses, and give parsed documents")
        for name in ("threshold", "n_evidence", "every"):
            options[name] = values[name]
        options["format"] = _part_format(values)
        made["model"] = values["model"]
        made["inputs"] = values["texts"] if command == "extract" else [values["corpus"]]
    if command == "extract":
        made["terms"] = values["entities"]
        for name in ("case", "ner", "parser", "id_field"):
            options[name] = values[name]
        options["text_field"] = list(values["text_field"])
    if command in ("convert", *_ENCODINGS):
        for name in ("candidates", "labels", "sentences"):
            options[name] = values[name]
        for name in ("views", "types"):
            options[name] = list(values[name])
    if command == "convert":
        options["qualify_ids"] = values["qualify_ids"]
        made["inputs"] = [values["source"]]
        options["format"] = _converted_format(values)
    if command in _ENCODINGS:
        if values["model"] is None:
            raise click.UsageError(f"a plan of {command} needs a saved model: --model FILE.kw")
        made["model"], made["inputs"] = values["model"], [values["corpus"]]
    if "-" in made["inputs"]:
        raise click.UsageError("standard input cannot be cut into shards; give files")
    check_inputs(*made["inputs"], made.get("model"), made.get("terms"))
    return {**made, "options": options}


def _part_format(values: dict[str, Any]) -> str:
    """Return the format of parts: that of --to or --out, by default JSON lines."""
    out, format = values["out"], values["target_format"]
    if format is None:
        suffix = "" if out in (None, "-") else Path(out).suffix.lower()
        if suffix in _SUFFIXES:
            return _SUFFIXES[suffix]
    from kernelwood.relations import output_format  # which imports much

    try:
        return output_format(out or "", format)
    except ValueError as failure:
        raise click.UsageError(str(failure)) from failure


def _converted_format(values: dict[str, Any]) -> str:
    from kernelwood.io import format_to_write

    try:
        return format_to_write(values["target"], values["target_format"]).name
    except ValueError as failure:
        raise click.UsageError(str(failure)) from failure


def show_plan(plan: Plan) -> None:
    """Print the size of a plan."""
    from kernelwood.compute import format_bytes

    rows = plan.command == "gram"
    size = counted(sum(plan.sizes), "row") if rows else format_bytes(sum(plan.sizes))
    shards = counted(plan.n_shards, "shard")
    say(f"{one_name(plan.folder)}: {plan.command}, {shards}, {size} of input")


def show_run(plan: Plan, made: Run) -> None:
    """Print what a run has done; exit with 1 if shards failed."""
    note(f"{counted(len(made.done), 'shard')} computed")
    if made.busy:
        note(f"{counted(len(made.busy), 'shard')} being computed by other processes")
    for number, message in list(made.failed.items())[:_SHOWN]:
        note(one_message(f"shard {number} failed: {message}"))
    if made.failed:
        raise click.ClickException(
            f"{counted(len(made.failed), 'shard')} failed; kernelwood shards status "
            f"{one_name(plan.folder)} lists them. Fix the cause and run the plan again, or use "
            "--errors skip in a new plan"
        )


def run_plan(
    plan: Plan,
    *,
    shards: Any = None,
    base: str | None = None,
    cluster: str | None = None,
    n_jobs: int | None = None,
    stop: bool = False,
    block: int | None = None,
) -> Run:
    """Compute missing shards of a plan, here or on a cluster, with progress."""
    from kernelwood.scale import open_cluster, run

    with ExitStack() as stack:
        stack.enter_context(running(n_jobs, bar=False))
        client = None if cluster is None else stack.enter_context(open_cluster(cluster))
        progress = stack.enter_context(staged())
        return run(
            plan,
            shards,
            base=base,
            client=client,
            stop=stop,
            block=block,
            progress=lambda done, total: progress("computing shards", done, total),
        )


def collect_plan(plan: Plan, out: str | Path, *, as_json: bool, exact: bool = False) -> None:
    """Join the parts of a plan, and print the sums of their counters."""
    from kernelwood.scale import collect

    with staged() as progress:
        counters = collect(
            plan,
            out,
            exact=exact,
            progress=lambda done, total: progress("joining parts", done, total),
        )
    for text, n in counters.pop("warnings", {}).items():
        note(f"warning: {one_name(text)} ({counted(n, 'shard')})")
    if as_json:
        write_json({"plan": str(plan.folder), "out": str(out), **counters})
        return
    _show_counters(counters)
    note(one_name(out))


def _show_counters(counters: dict[str, Any]) -> None:
    from kernelwood.io import Counts

    if "n_relations" in counters:
        say(
            f"{counted(counters['n_relations'], 'relation')} among "
            f"{counted(counters['n_candidates'], 'candidate')} in "
            f"{counted(counters['n_documents'], 'document')}"
        )
        if counters["n_documents"] and not counters["n_entities"]:
            note("warning: the input has no entities, so it has no relations")
    else:
        noun = next(one for one in ("written", "n_examples", "n_rows") if one in counters)
        say(counted(counters[noun], "row" if noun == "n_rows" else "example"))
    counts = Counts()
    for name in ("skipped", "dropped", "remarks"):
        getattr(counts, name).update(counters.get(name, {}))
    show_counts(counts)


def run_planned(command: str, values: dict[str, Any], *, as_json: bool) -> None:
    """Run a command on a cluster: plan, compute, join.

    The plan is in the folder ``OUT.plan`` until the output is complete; the same command goes on
    with it after an interruption. If ``OUT`` has no suffix it is a folder, which keeps the plan.
    """
    from kernelwood.scale import check_cluster

    out = values["out"]
    if out in (None, "-"):
        raise click.UsageError("--cluster needs an output file: --out FILE")
    if values["resume"]:
        raise click.UsageError("--cluster can be resumed without --resume; leave it out")
    work = planned_work(command, values)
    check_cluster(values["cluster"])
    target = Path(out)
    keep = not target.suffix
    folder = target if keep else _plan_folder(target)
    if keep:
        target = target / "found.jsonl"
    check_writable(folder)
    plan = _make_plan(folder, command, work)
    show_run(plan, run_plan(plan, cluster=values["cluster"]))
    collect_plan(plan, target, as_json=as_json)
    if not keep:
        _remove(folder, target)


def run_resumed(command: str, values: dict[str, Any], *, as_json: bool) -> None:
    """Run a command as a plan of small shards, in this process: plan, compute, join.

    Shards are computed in blocks of a few seconds, of which an interruption loses at most one.
    The plan is in the folder ``OUT.plan`` until the output is complete; the same command goes on
    with it after an interruption. The output is that of the command without ``--resume``.
    """
    from kernelwood.scale import MOST_SHARDS, TASKS, remove_damaged

    out = values["target" if command == "convert" else "out"]
    if out in (None, "-"):
        needed = "OUT must be a file or a folder" if command == "convert" else "give --out FILE"
        raise click.UsageError(f"--resume cannot continue standard output; {needed}")
    target = Path(out)
    if target.exists() and not target.is_file() and not target.is_dir():
        raise click.UsageError(
            f"--resume cannot continue {one_name(out)}, which is a device or a pipe"
        )
    work = planned_work(command, values)
    check_writable(target)
    folder = _plan_folder(target)
    with _alone(folder, out):
        size = TASKS[command].block
        plan = _make_plan(
            folder,
            command,
            work,
            shard_size=max(1, size // MOST_SHARDS),
            max_shards=MOST_SHARDS * _MOST_BLOCKS,
        )
        if damaged := remove_damaged(plan):
            note(f"{counted(len(damaged), 'damaged block')} computed again")
        with _resumable(folder):
            run_plan(plan, n_jobs=values.get("n_jobs"), stop=True, block=size)
        collect_plan(plan, target, as_json=as_json, exact=True)
        _remove(folder, target)


def _plan_folder(target: Path) -> Path:
    return target.with_name(f"{target.name}.plan")


def _make_plan(folder: Path, command: str, work: dict[str, Any], **cut: Any) -> Plan:
    """Return the plan in a folder, or make it; shards of an earlier plan keep their size."""
    from kernelwood.scale import make_plan, open_plan

    if folder.is_dir() and any(folder.iterdir()):
        before = open_plan(folder).work["cut"]
        cut = {"shard_size": before.get("size"), "max_shards": before.get("max_shards")}
    with staged() as progress:
        return make_plan(
            folder,
            command,
            progress=lambda done, total: progress("planning", done, total),
            **cut,
            **work,
        )


@contextmanager
def _alone(folder: Path, out: str) -> Iterator[None]:
    """Refuse to write an output that another process is writing."""
    from kernelwood.io import FileInUseError, FileLock

    try:
        lock = FileLock(folder.with_name(f"{folder.name}.lock"))
    except FileInUseError as failure:
        raise click.ClickException(
            f"{one_name(out)} is being written by {failure.holder}"
        ) from None
    with lock:
        yield


@contextmanager
def _resumable(folder: Path) -> Iterator[None]:
    """Say how to continue after an interruption, or with a changed input."""
    from kernelwood.io import ChangedError

    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        note(f"stopped; the same command continues with {one_name(folder)}")
        raise
    except ChangedError:
        note(f"remove {one_name(folder)} to start again with the changed input")
        raise


def is_complete(out: str, *, as_json: bool) -> bool:
    """Return whether an earlier run with ``--resume`` has completed the folder that it writes.

    A run begins only if the folder is new. So folder and plan exist only if the run was interrupted
    just after the folder had appeared; the plan is removed now.
    """
    target = Path(out)
    folder = _plan_folder(target)
    if not (target.is_dir() and any(target.iterdir()) and folder.is_dir()):
        return False
    from kernelwood.scale import open_plan, status

    with _alone(folder, out):
        if status(open_plan(folder)).missing:
            return False
        _remove(folder, target)
    write_json({"plan": str(folder), "out": out}) if as_json else note(
        f"{one_name(out)} is complete"
    )
    return True


def _remove(folder: Path, target: Path) -> None:
    """Remove the plan of an output; an interruption leaves no half of it under its name."""
    from kernelwood.io import remove_folder

    remove_folder(folder, target)
