"""``kernelwood learn-gates``: which labels should a kernel ignore?"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.checkpoint import Checkpoint, fingerprint, open_checkpoint
from kernelwood.cli.corpus import file_errors, orderly_end
from kernelwood.cli.gate_options import learner_parameters, method_options
from kernelwood.cli.kernels import GATED, KernelChoice, build_kernel
from kernelwood.cli.labeled import Labeled, read_labeled
from kernelwood.cli.options import (
    asked,
    corpus_options,
    decay_option,
    similarity_option,
    vectors_option,
)
from kernelwood.cli.output import (
    counted,
    jobs_option,
    json_option,
    plain_table,
    results,
    steps,
    write_json,
)
from kernelwood.cli.outputs import check_outputs, say_counts

if TYPE_CHECKING:
    from kernelwood import GateLearner

__all__ = ["learn_gates"]

_OUTPUTS = ("out", "gates_out", "figure", "checkpoint")


@click.command("learn-gates")
@click.argument("corpus")
@corpus_options
@click.option(
    "--kernel", type=click.Choice(GATED),
    help="Default: subsequence for sequences, partial-tree for trees.",
)  # fmt: skip
@decay_option
@click.option(
    "--gate-on", type=click.Choice(["edge", "node"]),
    help="Whose labels have gates. Default: edges, if any has a label.",
)  # fmt: skip
@vectors_option
@similarity_option
@method_options
@jobs_option
@click.option("--out", metavar="FILE", help="Save the kernel with the learned gates (kw.load).")
@click.option("--gates-out", metavar="FILE", help="Write the gates as JSON.")
@click.option("--figure", metavar="FILE", help="Draw the report: .png, .svg or .pdf.")
@click.option(
    "--checkpoint", metavar="FILE",
    help="Keep every decision in this file, and go on from those that are in it.",
)  # fmt: skip
@json_option
def learn_gates(corpus: str, as_json: bool, **options: Any) -> None:
    """Learn which labels a kernel should ignore.

    CORPUS is a file, a folder, an archive, or - for standard input, with labeled examples; or a
    file of examples written by kw.save. The result is a table of labels, the ignored ones first.
    Examples without a label are left out, or with --method information looked at as well.
    """
    started = time.perf_counter()
    with file_errors(), orderly_end():
        check_outputs(
            {"CORPUS": corpus},
            {f"--{name.replace('_', '-')}": options[name] for name in _OUTPUTS},
            figure="--figure",
        )
        by_document = bool(options["by_document"])
        data = read_labeled(asked(corpus, options, classes=True, by_document=by_document))
        learner = _learner(data, options)
        if not as_json:
            _say_what_is_learned(data, learner)
        with _opened(options["checkpoint"], learner, data, options) as checkpoint:
            _fit(learner, data, checkpoint, options["checkpoint"])
        _write_outputs(learner, options)
    if as_json:
        write_json(_result(learner, data, time.perf_counter() - started))
    else:
        _show(learner)


def _learner(data: Labeled, options: dict[str, Any]) -> GateLearner:
    from kernelwood import GateLearner

    choice = KernelChoice(
        options["kernel"],
        options["decay"],
        options["gate_on"],
        options["vectors"],
        options["similarity"],
    )
    views = {name: data.labeled.view(name) for name in data.views}
    kernel = build_kernel(choice, views, gates=True)
    parameters = learner_parameters(options, kernel, data.labeled.labels)
    return GateLearner(kernel, n_jobs=options["n_jobs"], **parameters)


def _say_what_is_learned(data: Labeled, learner: GateLearner) -> None:
    labels = data.labeled.labels
    classes = counted(len(set(labels)), "class", "es")
    text = f"{counted(len(labels), 'example')} of {classes}; {learner.kernel!r}"
    if data.unlabelled is not None:
        use = "looked at" if learner.method == "information" else "left out"
        text += f"; {len(data.unlabelled):,} without a label are {use}"
    click.echo(text, err=True)
    say_counts(data)


def _opened(path: str | None, learner: GateLearner, data: Labeled, options: dict[str, Any]) -> Any:
    """Return a context with the checkpoint, or with None if none is asked for."""
    if path is None:
        return nullcontext()
    parameters = learner.get_params(deep=False)
    settings = {k: v for k, v in parameters.items() if k not in ("kernel", "n_jobs")}
    unlabelled = data.unlabelled if learner.method == "information" else None
    header = {
        "settings": {"kernel": repr(learner.kernel), **settings},
        "vectors_sha256": _file_digest(options["vectors"]),
        "data_sha256": fingerprint(data.labeled),
        "documents_sha256": _digest(data.documents),
        "unlabelled_sha256": None if unlabelled is None else fingerprint(unlabelled),
    }
    return open_checkpoint(path, header)


def _digest(names: list[str] | None) -> str | None:
    return None if names is None else hashlib.sha256(json.dumps(names).encode()).hexdigest()


def _file_digest(path: str | None) -> str | None:
    if path is None:
        return None
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def _fit(
    learner: GateLearner, data: Labeled, checkpoint: Checkpoint | None, path: str | None
) -> None:
    from kernelwood import config_context

    unlabelled = data.unlabelled if learner.method == "information" else None
    keep: Callable[[dict[str, Any]], object] | None = None
    earlier = None
    if checkpoint is not None:
        keep, earlier = checkpoint.add, checkpoint.earlier
        if earlier:
            click.echo(f"going on after {len(earlier):,} decisions in {path}", err=True)
    try:
        with steps("decisions") as show, config_context(progress=show):
            learner.fit(
                data.labeled,
                groups=data.documents,
                unlabelled=unlabelled,
                resume=earlier,
                on_decision=keep,
            )
    except (KeyboardInterrupt, SystemExit):
        if checkpoint is not None:
            done = len(checkpoint.earlier) + checkpoint.added
            click.echo(
                f"stopped after {done:,} decisions; the same command goes on from {path}", err=True
            )
        raise


def _write_outputs(learner: GateLearner, options: dict[str, Any]) -> None:
    from kernelwood import save
    from kernelwood.io import write_text

    if options["out"] is not None:
        save(learner.kernel_, options["out"])
    if options["gates_out"] is not None:
        text = json.dumps(learner.gates_, indent=2, ensure_ascii=False)
        write_text(options["gates_out"], [text, "\n"])
    if options["figure"] is not None:
        learner.report().save_figure(options["figure"])


def _result(learner: GateLearner, data: Labeled, seconds: float) -> dict[str, Any]:
    report = learner.report().to_dict()
    return {
        "kernel": repr(learner.kernel),
        "views": list(data.views),
        "n_examples": len(data.labeled),
        "n_unlabelled": 0 if data.unlabelled is None else len(data.unlabelled),
        "skipped": data.skipped,
        "dropped": data.dropped,
        "remarks": data.remarks,
        "gates": dict(learner.gates_),
        **report,
        "seconds": round(seconds, 3),
    }


def _show(learner: GateLearner) -> None:
    report = learner.report()
    console = results()
    if not console.is_terminal:  # as wide as it is, for files and other programs
        click.echo(str(report))
        return
    from rich.text import Text

    first, *others = report.header()
    table = plain_table(first, *(f">{title}" for title in others))
    for row in report.labels:
        label, *cells = report.cells(row)
        table.add_row(Text(label), *cells, style="" if row.ignored else "dim")
    console.print(table)
    console.print(Text(report.note()))
