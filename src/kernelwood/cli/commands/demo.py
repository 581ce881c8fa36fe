"""``kernelwood demo``."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import counted, one_name, plain_table, results, running, say, write_json
from kernelwood.cli.explanations import marked_case, show_explanation
from kernelwood.cli.options import jobs_option, json_option
from kernelwood.cli.outputs import check_files
from kernelwood.structures import shorten

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from kernelwood import GateLearner, RelationExtractor
    from kernelwood.text import Example

_MOST_GATES = 5
_LONGEST = 72  # characters of a training case: two lines of the table
_NOTE = (
    "The bundled sentences were written for this demonstration. They are too few and too simple to "
    "estimate the accuracy on other texts. Expect errors: compare the relations with the text."
)
# The molecules are invented, so that the text is not taken for biology.
_TEXT = (
    "RAK2 activates TORP1 in stimulated T cells. TORP1 in turn phosphorylates SMK3 and binds the "
    "adaptor protein Velin. Phosphorylation of SMK3 by TORP1 was inhibited by Crynin. In contrast, "
    "HAB1 did not bind Velin, and no interaction between HAB1 and SMK3 was detected. Expression of "
    "HAB1 is regulated by RAK2, which suggests that RAK2 may also inhibit Crynin."
)
_PHASES = (
    "reading the corpus",
    "training",
    "evaluating on other documents",
    "learning gates",
    "extracting from a new text",
    "writing the report",
)
_SEED = 0
_SETTINGS: dict[str, Any] = {
    "parser": "biomedical",  # for the corpus as well, so that new texts are parsed the same way
    "symmetric": ["Binds"],
    "threshold": "half",  # the easiest to understand
    "entities": "learn",  # so that the new text needs no list of names
    "random_state": _SEED,
}
_DOCUMENT = "A new text"


@click.command()
@click.option(
    "--output", "-o", metavar="FILE", default="kernelwood-demo.html",
    help="Output file of the report (.html).",
)  # fmt: skip
@jobs_option
@json_option
def demo(output: str, n_jobs: int | None, as_json: bool) -> None:
    """Train on a bundled corpus and extract from new text.

    Trains an extractor that finds entities by itself, evaluates it on other documents, learns which
    labels a kernel should ignore, extracts relations from a new paragraph, and writes an HTML
    report. Takes less than a minute and needs no download.
    """
    check_files({}, {"--output": output}, suffixes={"--output": (".html", ".htm")})
    with running() as begin:
        report = run_demo(output, n_jobs, begin)
    write_json(report) if as_json else _render(report, results())


# Work.


class _Clock:
    """Measures the time of each phase, and shows its name."""

    def __init__(self, step: Callable[[str], object]) -> None:
        self.seconds: dict[str, float] = {}
        self._step = step
        self._begin = self._last = time.perf_counter()
        self._phase: str | None = None

    def start(self, phase: str) -> None:
        """End the current phase and start another."""
        self.stop()
        self._phase = phase
        self._step(phase)

    def stop(self) -> None:
        """End the current phase."""
        now = time.perf_counter()
        if self._phase is not None:
            self.seconds[self._phase] = round(now - self._last, 3)
        self._phase, self._last = None, now

    @property
    def total(self) -> float:
        """Seconds since the clock was created."""
        return round(time.perf_counter() - self._begin, 3)


def run_demo(
    output: str, n_jobs: int | None = None, step: Callable[[str], object] = lambda name: None
) -> dict[str, Any]:
    """Train on the bundled corpus, extract from a new text, and write a report.

    Parameters
    ----------
    output : str
        File of the report.
    n_jobs : int, optional
        Number of threads; -1 for all cores.
    step : callable, optional
        Called with the name of each phase as it begins.

    Returns
    -------
    dict
        With the keys ``dataset``, ``model``, ``evaluation``, ``gates``, ``text``, ``entities``,
        ``relations``, ``report``, ``note``, ``timings`` and ``seconds``; ready for JSON.
    """
    clock = _Clock(step)
    reading, training, evaluating, gating, extracting, writing = _PHASES
    clock.start(reading)
    import kernelwood as kw
    from kernelwood.datasets import load_interactions
    from kernelwood.relations import prediction_object, write_report

    train, test = load_interactions("train"), load_interactions("test")
    clock.start(training)
    extractor = kw.RelationExtractor(**_SETTINGS, n_jobs=n_jobs).fit(train)
    clock.start(evaluating)
    scores = extractor.evaluate(test)
    clock.start(gating)
    gates = _learn_gates(train, n_jobs)
    clock.start(extracting)
    document = extractor.find_entities(kw.Document(_TEXT))
    text = kw.Example(_DOCUMENT, views={"document": document})
    found = extractor.extract(text, all=True)
    relations = found.relations
    evidence = extractor.explain(relations)
    clock.start(writing)
    write_report(
        output,
        title="kernelwood demo: relations in a new text",
        predictions=found,
        documents={_DOCUMENT: _TEXT},
        scores=scores,
        extractor=extractor,
        gates=gates,
        timings=clock.seconds,
    )
    clock.stop()
    return {
        "dataset": {"train": _sizes(train), "test": _sizes(test)},
        "model": _model(extractor),
        "evaluation": scores.to_dict(),
        "gates": gates.report().to_dict(),
        "text": _TEXT,
        "entities": [
            {"type": one.type, "text": one.text, "spans": [list(span) for span in one.spans]}
            for one in document.entities
        ],
        "relations": [prediction_object(*pair) for pair in zip(relations, evidence, strict=True)],
        "report": str(Path(output).resolve()),
        "note": _NOTE,
        "timings": clock.seconds,
        "seconds": clock.total,
    }


def _learn_gates(train: list[Example], n_jobs: int | None) -> GateLearner:
    """Learn which dependencies of the paths should be ignored."""
    import kernelwood as kw

    paths = kw.batch(kw.relations.pair_candidates(train).examples("path"))
    learner = kw.GateLearner(
        kw.OnView("path", kw.SubsequenceKernel()),
        labels=12,
        n_trials=4,
        n_passes=1,
        random_state=_SEED,
        n_jobs=n_jobs,
    )
    return learner.fit(paths, paths.labels)


def _sizes(examples: list[Example]) -> dict[str, Any]:
    from kernelwood.evaluate import documents
    from kernelwood.text import Sentence

    views = [example.view("sentence") for example in examples]
    sentences = [view for view in views if isinstance(view, Sentence)]
    types = Counter(relation.type for sentence in sentences for relation in sentence.relations)
    return {
        "documents": len(set(documents(examples))),
        "sentences": len(sentences),
        "entities": sum(len(sentence.entities) for sentence in sentences),
        "relations": dict(sorted(types.items())),
    }


def _model(extractor: RelationExtractor) -> dict[str, Any]:
    return {
        "recipe": extractor.recipe,
        "views": list(extractor.views_),
        "parser": extractor.parser_,
        "relations": list(extractor.relations_),
        "candidates": extractor.n_candidates_,
        "threshold": extractor.threshold_,
        "held_out": dict(extractor.held_out_),
        "entities": dict(extractor.tagger_.held_out_),
    }


# Output.


def _render(report: dict[str, Any], console: Console) -> None:
    console.print("\n[bold]kernelwood[/]: relation extraction with evidence\n")
    _render_learning(report, console)
    _render_evaluation(report, console)
    _render_gates(report, console)
    _render_relations(report, console)
    console.print(_plain(report["note"]))
    console.print(f"\nDone in {report['seconds']:.1f} s. Option --json prints all results as JSON.")
    console.print("Report (open it in a browser):", style="bold")
    # Not wrapped, so that it can be copied.
    say(f"{one_name(report['report'])}\n")


def _heading(number: int, text: str, report: dict[str, Any], console: Console) -> None:
    """Print the title of a phase and its time."""
    seconds = report["timings"][_PHASES[number]]
    console.print(f"[bold cyan]{number}  {text}[/] [dim]{seconds:.1f} s[/]\n")


def _plain(text: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(text, style=style)


def _render_learning(report: dict[str, Any], console: Console) -> None:
    train, model = report["dataset"]["train"], report["model"]
    _heading(1, "Train on annotated sentences", report, console)
    kinds = ", ".join(f"{name} ({n})" for name, n in train["relations"].items())
    console.print(
        f"{counted(train['sentences'], 'sentence')} in {counted(train['documents'], 'document')}, "
        f"{counted(model['candidates'], 'pair')} of entities, relations: {kinds}. "
        f"Recipe {model['recipe']}, views {', '.join(model['views'])}, parser "
        f"{model['parser']}.\n"
    )


def _render_evaluation(report: dict[str, Any], console: Console) -> None:
    from kernelwood.relations import relation_name

    scores = report["evaluation"]
    test = report["dataset"]["test"]
    _heading(2, "Evaluate on other documents", report, console)
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
    _heading(3, "Learn which labels to ignore", report, console)
    console.print(
        f"{gates['n_ignored']} of the {gates['n_labels']} most frequent dependencies on paths are "
        "ignored:"
    )
    table = plain_table("dependency", "gate", ">gain if ignored")
    for row in gates["labels"][:_MOST_GATES]:
        gate = "ignored" if row["ignored"] else f"{row['gate']:g}"
        table.add_row(_plain(row["label"] or "(empty)"), gate, f"{row['gain']:+.4f}")
    console.print(table)


def _render_relations(report: dict[str, Any], console: Console) -> None:
    _heading(4, "Extract relations from a new text", report, console)
    console.print(_highlighted(report), soft_wrap=False)
    f1 = report["model"]["entities"]["f1"]
    console.print(
        f"\n{counted(len(report['entities']), 'mention')} found by a tagger that was "
        f"learned from the same sentences, F1 {f1:.2f} on held-out documents. None of the names is "
        "in the corpus.\n"
    )
    table = plain_table("relation", "first", "second", ">probability", "strongest supporting case")
    for row in report["relations"]:
        first, second = row["participants"]
        cases = [case for case in row["evidence"]["cases"] if case["supports"]]
        table.add_row(
            _plain(row["type"], "magenta"),
            *(_plain(one["text"], "bold") for one in (first, second)),
            f"{row['probability']:.2f}",
            _plain(shorten(str(marked_case(cases[0])), _LONGEST) if cases else ""),
        )
    console.print(table)
    if report["relations"]:
        best = max(report["relations"], key=lambda row: row["probability"])
        console.print("The evidence of the most probable relation:\n", style="bold")
        show_explanation(best, wrapped=True)
        say()


def _highlighted(report: dict[str, Any]) -> Text:
    text = _plain(report["text"])
    spans = {tuple(span) for one in report["entities"] for span in one["spans"]}
    for start, end in sorted(spans):
        text.stylize("bold green", start, end)
    return text
