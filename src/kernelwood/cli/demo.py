"""``kernelwood demo``: from annotated sentences to relations in a new text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.corpus import file_errors, orderly_end
from kernelwood.cli.demo_job import PHASES, run_demo
from kernelwood.cli.output import (
    counted,
    jobs_option,
    json_option,
    phases,
    plain_table,
    results,
    write_json,
)
from kernelwood.cli.outputs import check_outputs
from kernelwood.structures import shorten

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["demo"]

_MOST_GATES = 5
_LONGEST = 72  # characters of a case: two lines of the table


@click.command()
@click.option(
    "--output", "-o", metavar="FILE", default="kernelwood-demo.html", show_default=True,
    help="Where to write the report.",
)  # fmt: skip
@jobs_option
@json_option
def demo(output: str, n_jobs: int | None, as_json: bool) -> None:
    """Learn relations from the bundled corpus and find some in a new text.

    Trains an extractor, evaluates it on other documents, learns which labels a kernel should
    ignore, reads a paragraph that it has never seen, and writes a report to look at in a browser.
    Takes less than a minute and needs no download.
    """
    with file_errors(), orderly_end():
        check_outputs({}, {"--output": output}, suffixes={"--output": (".html", ".htm")})
        with phases(len(PHASES)) as step:
            report = run_demo(output, n_jobs, step)
    if as_json:
        write_json(report)
    else:
        _render(report, results())


def _render(report: dict[str, Any], console: Console) -> None:
    console.print("\n[bold]kernelwood[/]: relations out of documents, with evidence\n")
    _render_learning(report, console)
    _render_evaluation(report, console)
    _render_gates(report, console)
    _render_relations(report, console)
    console.print(_plain(report["note"]))
    console.print(f"\nDone in {report['seconds']:.1f} s. With --json you get all of it as data.")
    # Never broken into lines, so that it can be copied.
    console.print("The report, to be opened in a browser:", style="bold")
    click.echo(f"{report['report']}\n")


def _heading(number: int, text: str, report: dict[str, Any], console: Console) -> None:
    """Print what a step does, and how long it took."""
    seconds = report["timings"][PHASES[number]]
    console.print(f"[bold cyan]{number}  {text}[/] [dim]{seconds:.1f} s[/]\n")


def _plain(text: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(text, style=style)


def _render_learning(report: dict[str, Any], console: Console) -> None:
    train, model = report["dataset"]["train"], report["model"]
    _heading(1, "Learn from annotated sentences", report, console)
    kinds = ", ".join(f"{name} ({n})" for name, n in train["relations"].items())
    console.print(
        f"{counted(train['sentences'], 'sentence')} in {counted(train['documents'], 'document')}, "
        f"{counted(model['candidates'], 'pair')} of entities, relations: {kinds}. "
        f"Recipe {model['recipe']}, comparing the views {', '.join(model['views'])}; "
        f"sentences parsed by {model['parser']}.\n"
    )


def _render_evaluation(report: dict[str, Any], console: Console) -> None:
    from kernelwood.relations import relation_name

    scores = report["evaluation"]
    test = report["dataset"]["test"]
    _heading(2, "Evaluate on documents it has not seen", report, console)
    table = plain_table("relation", ">precision", ">recall", ">F1", "95 % interval", ">annotated")
    averages = {"label": "all", "support": scores["relations"], **scores["scores"]["micro"]}
    positive = scores["scores"]["positive"]
    rows = [row for row in scores["scores"]["classes"] if row["label"] in positive]
    for row in [*rows, averages]:
        f1 = row["f1"]
        table.add_row(
            _plain(relation_name(row["label"]), "magenta"),
            *(f"{row[name]['value']:.2f}" for name in ("precision", "recall", "f1")),
            _plain(f"[{f1['low']:.2f}, {f1['high']:.2f}]"),
            f"{row['support']:,}",
        )
    console.print(table)
    console.print(
        f"{counted(test['sentences'], 'sentence')}, {counted(scores['candidates'], 'pair')}; "
        f"AUC {scores['auc']:.2f}, average precision {scores['average_precision']:.2f}.\n"
    )


def _render_gates(report: dict[str, Any], console: Console) -> None:
    gates = report["gates"]
    _heading(3, "Learn what a kernel should ignore", report, console)
    console.print(
        f"Of the {gates['n_labels']} most frequent steps of dependency paths, "
        f"{gates['n_ignored']} tell nothing about relations:"
    )
    table = plain_table("step", "gate", ">gain of closing")
    for row in gates["labels"][:_MOST_GATES]:
        gate = "ignored" if row["ignored"] else f"{row['gate']:g}"
        table.add_row(_plain(row["label"] or "(empty)"), gate, f"{row['gain']:+.4f}")
    console.print(table)


def _render_relations(report: dict[str, Any], console: Console) -> None:
    _heading(4, "Find relations in a new text", report, console)
    console.print(_highlighted(report), soft_wrap=False)
    table = plain_table("relation", "first", "second", ">score", "because it is like")
    for row in report["relations"]:
        first, second = row["participants"]
        case = row["evidence"][0] if row["evidence"] else {"text": ""}
        table.add_row(
            _plain(row["type"], "magenta"),
            *(_plain(one["text"], "bold") for one in (first, second)),
            f"{row['score']:.2f}",
            _plain(shorten(case["text"], _LONGEST)),
        )
    console.print(table)


def _highlighted(report: dict[str, Any]) -> Text:
    text = _plain(report["text"])
    spans = {
        tuple(span)
        for row in report["relations"]
        for one in row["participants"]
        for span in one["spans"]
    }
    for start, end in sorted(spans):
        text.stylize("bold green", start, end)
    return text
