"""``kernelwood shards``."""

from __future__ import annotations

from typing import Any

import click

from kernelwood.cli.console import (
    counted,
    note,
    one_message,
    one_name,
    say,
    show_table,
    staged,
    write_json,
)
from kernelwood.cli.options import (
    FileName,
    cluster_option,
    corpus_options,
    jobs_option,
    json_option,
)
from kernelwood.cli.outputs import check_writable
from kernelwood.cli.planned import collect_plan, planned_work, run_plan, show_plan, show_run

_ENCODINGS = ("hash", "index", "gram")  # that are commands of plans only
_COMMANDS = ("extract", "predict", "convert", "embed", *_ENCODINGS)
_EPILOG = """\b
Examples:
  kernelwood shards plan work extract model.kw pubmed/ --entities terms.tsv
  kernelwood shards run work
  kernelwood shards run work --cluster local:4
  kernelwood shards collect work found.jsonl

\b
On many machines that share the folder, by a Slurm array or xargs:
  kernelwood shards run work --shard $SLURM_ARRAY_TASK_ID
  seq 0 99 | xargs -P 8 -I {} kernelwood shards run work --shard {}
"""
_base_option = click.option(
    "--base", metavar="DIR", type=FileName(),
    help="Folder of relative input paths, if inputs have moved.",
)  # fmt: skip


@click.group(epilog=_EPILOG)
def shards() -> None:
    """Cut large work into shards that any machine computes.

    A plan is a folder with the command, the model and the list of shards. Each shard gives one
    part, with the same bytes wherever and whenever it is computed; an interrupted run continues
    with the missing parts.
    """


@shards.command(context_settings={"ignore_unknown_options": True})
@click.option(
    "--shard-size", metavar="SIZE", show_default="2MB of text, 64MB for vectors and conversion",
    help="Input for a shard, such as 4MB.",
)  # fmt: skip
@click.option(
    "--max-shards", type=click.IntRange(min=1), metavar="N", default=10_000,
    help="Maximum number of shards; larger inputs get larger shards.",
)  # fmt: skip
@json_option
@click.argument("plan", type=FileName())
@click.argument("command", type=click.Choice(_COMMANDS))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def plan(
    ctx: click.Context,
    /,
    plan: str,
    command: str,
    arguments: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Plan a command over large inputs.

    PLAN is a new folder. COMMAND and ARGUMENTS are those of the command itself, such as extract
    model.kw texts/; options of the plan come before PLAN. The inputs are read once, to find the
    borders of records and to compute checksums.
    """
    from kernelwood.scale import make_plan

    work = planned_work(command, _parsed(ctx, command, arguments))
    check_writable_folder(plan)
    with staged() as progress:
        made = make_plan(
            plan,
            command,
            shard_size=options["shard_size"],
            max_shards=options["max_shards"],
            progress=lambda done, total: progress("planning", done, total),
            **work,
        )
    if as_json:
        write_json({"plan": plan, "n_shards": made.n_shards, "n_bytes": sum(made.sizes)})
    else:
        show_plan(made)


def check_writable_folder(path: str) -> None:
    """Check that a folder can be created."""
    from pathlib import Path

    check_writable(Path(path))


@click.command()
@click.argument("corpus")
@click.option("--model", metavar="FILE", help="Saved hasher, or kernel for gram.")
@corpus_options
def _encode(**options: Any) -> None:
    """Compute hashcodes, an index or a Gram matrix of the structures of CORPUS."""


def _parsed(ctx: click.Context, command: str, arguments: tuple[str, ...]) -> dict[str, Any]:
    """Return the arguments and options of a command that is not run."""
    root = ctx.find_root()
    group = root.command
    assert isinstance(group, click.Group)
    found = _encode if command in _ENCODINGS else group.get_command(root, command)
    assert found is not None
    return dict(found.make_context(command, list(arguments), parent=ctx).params)


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> range | None:
    """Return a range of shards given as ``A-B``."""
    if value is None:
        return None
    first, sign, last = value.partition("-")
    if not (first.isdigit() and (last.isdigit() if sign else not last)):
        raise click.BadParameter("give a number, or a range such as 0-99")
    end = int(last) if sign else int(first)
    if end < int(first):
        raise click.BadParameter("the range is empty")
    return range(int(first), end + 1)


@shards.command()
@click.argument("plan", type=FileName())
@click.option("--shard", type=click.IntRange(min=0), metavar="K", help="Only this shard, from 0.")
@click.option(
    "--shards",
    "some",
    metavar="A-B",
    callback=_numbers,
    help="Only these shards, A and B included.",
)
@cluster_option
@_base_option
@jobs_option
@json_option
def run(
    plan: str,
    shard: int | None,
    some: range | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compute the missing shards of a plan.

    Several processes may run one plan at the same time. A shard that fails does not stop the
    others.
    """
    if shard is not None and some is not None:
        raise click.UsageError("--shard and --shards are mutually exclusive")
    from kernelwood.scale import open_plan

    opened = open_plan(plan)
    made = run_plan(
        opened,
        shards=some if shard is None else [shard],
        base=options["base"],
        cluster=options["cluster"],
        n_jobs=options["n_jobs"],
    )
    if as_json:
        failed = {str(number): text for number, text in made.failed.items()}
        write_json({"plan": plan, "done": made.done, "busy": made.busy, "failed": failed})
    show_run(opened, made)


@shards.command()
@click.argument("plan", type=FileName())
@json_option
def status(plan: str, as_json: bool) -> None:
    """Show how many shards are computed, and errors."""
    from kernelwood.scale import open_plan, status as state_of

    opened = open_plan(plan)
    state = state_of(opened)
    left = state.seconds_left
    if as_json:
        write_json(
            {
                "plan": plan,
                "command": opened.command,
                "n_shards": state.n_shards,
                "n_done": state.n_done,
                "n_missing": len(state.missing),
                "failed": {str(number): text for number, text in state.failed.items()},
                "cpu_seconds": round(state.seconds, 3),
                "cpu_seconds_left": None if left is None else round(left, 1),
            }
        )
        return
    say(
        f"{one_name(plan)}: {opened.command}, {state.n_done:,} of "
        f"{counted(state.n_shards, 'shard')} computed, {state.seconds:,.0f} s CPU"
        + (f", about {left:,.0f} s CPU left" if left and state.missing else "")
    )
    if state.failed:
        show_table(
            [">shard", "error"],
            [[str(number), text.partition("\n")[0]] for number, text in state.failed.items()],
        )


@shards.command()
@click.argument("plan", type=FileName())
@click.option(
    "--sample", type=click.IntRange(min=0), metavar="N", default=1,
    help="Number of parts to compute again and compare.",
)  # fmt: skip
@_base_option
@json_option
def verify(plan: str, sample: int, base: str | None, as_json: bool) -> None:
    """Check the parts of a plan: checksums, and a sample computed again."""
    from kernelwood.scale import open_plan, verify as check_parts

    opened = open_plan(plan)
    with staged() as progress:
        found = check_parts(
            opened,
            sample=sample,
            base=base,
            progress=lambda done, total: progress("checking parts", done, total),
        )
    if as_json:
        write_json({"plan": plan, "problems": {str(k): text for k, text in found.items()}})
    for number, text in found.items():
        note(one_message(f"shard {number}: {text}"))
    if found:
        raise click.ClickException(
            f"{counted(len(found), 'part')} with problems; remove their folders in {opened.parts} "
            "and run the plan again"
        )
    if not as_json:
        say(f"{one_name(plan)}: no problems")


@shards.command()
@click.argument("plan", type=FileName())
@click.argument("out", type=FileName())
@json_option
def collect(plan: str, out: str, as_json: bool) -> None:
    """Join the parts of a plan into one file, or a data set.

    OUT is created or replaced only when it is complete. If its name has no suffix, it is a new
    folder with a file for each part. Counters of all parts are added up.
    """
    from kernelwood.scale import open_plan

    check_writable_folder(out)
    collect_plan(open_plan(plan), out, as_json=as_json)
