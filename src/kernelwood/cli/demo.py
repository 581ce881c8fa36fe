"""``kernelwood demo``: a short tour on the bundled questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.output import (
    jobs_option,
    json_option,
    mark,
    phases,
    plain_table,
    results,
    write_json,
)
from kernelwood.cli.questions import run_demo

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

__all__ = ["demo"]

_MEANING = {
    "DESC": "description",
    "ENTY": "thing",
    "ABBR": "abbreviation",
    "HUM": "person",
    "NUM": "number",
    "LOC": "place",
}


@click.command()
@jobs_option
@json_option
def demo(n_jobs: int | None, as_json: bool) -> None:
    """Compare, search and classify the bundled questions.

    Shows why two questions are similar, what is most similar to a question, and how well a
    classifier tells the kinds of questions apart. Takes a few seconds and needs no download.
    """
    with phases(4) as step:
        report = run_demo(n_jobs, step)
    if as_json:
        write_json(report)
    else:
        _render(report, results())


def _render(report: dict[str, Any], console: Console) -> None:
    data = report["dataset"]
    console.print("\n[bold]kernelwood[/]: similarity of the structures of language")
    kinds = ", ".join(f"{label} ({_MEANING.get(label, label)})" for label in data["classes"])
    console.print(
        f"\n{data['n_questions']} bundled questions, labeled with what they ask for: {kinds}. "
        "Every question comes as its words and as its parse tree.\n"
    )
    _render_comparison(report["comparison"], console)
    _render_neighbors(report["neighbors"], console)
    _render_classification(report, console)


def _heading(number: int, text: str, console: Console) -> None:
    console.print(f"[bold cyan]{number}  {text}[/]\n")


def _render_comparison(comparison: dict[str, Any], console: Console) -> None:
    from rich.table import Table

    a, b = comparison["a"], comparison["b"]
    _heading(1, "Why are two questions similar?", console)
    trees = Table.grid(padding=(0, 4, 0, 0))
    trees.add_row(*(f"[bold]{q['text']}[/] [magenta]{q['label']}[/]" for q in (a, b)))
    shared = [f["text"] for f in comparison["largest_fragments"] if f["view"] == "tree"]
    trees.add_row(*(_draw(q["tree"], shared[0] if shared else None) for q in (a, b)))
    console.print(trees)
    console.print("\nIn [green]green[/]: the largest part of the trees that is the same.")
    table = plain_table("kernel", ">this pair", ">average pair")
    for row in comparison["similarities"]:
        table.add_row(row["name"], f"{row['similarity']:.2f}", f"{row['average_pair']:.2f}")
    console.print(table)
    console.print("The largest pieces they share. Each accounts, with all its parts, for:")
    console.print(_fragments(comparison["largest_fragments"], "covers"))
    console.print("The pieces that weigh most on their own:")
    console.print(_fragments(comparison["heaviest_fragments"], "share"))


def _fragments(fragments: list[dict[str, Any]], share: str) -> Table:
    table = plain_table("view", ">share", "fragment")
    for fragment in fragments:
        table.add_row(fragment["view"], f"{fragment[share]:.0%}", _plain(fragment["text"]))
    return table


def _plain(text: str, style: str = "") -> RenderableType:
    from rich.text import Text

    return Text(text, style=style)


def _draw(brackets: str, shared: str | None) -> RenderableType:
    """Draw a parse tree, the nodes of a shared fragment in green."""
    from rich.tree import Tree as Drawing

    from kernelwood import Tree
    from kernelwood.explain import first_occurrence

    tree = Tree.from_brackets(brackets)
    taken = first_occurrence(Tree.from_brackets(shared), tree) if shared else frozenset()
    root = Drawing("", hide_root=True, guide_style="dim")
    todo = [(tree, 0, root)]
    while todo:
        node, place, above = todo.pop()
        line = _node_text(node, place, taken)
        below = above.add(line)
        if len(node.children) == 1 and node.children[0].is_leaf:
            continue  # the word stands beside its part of speech
        children, place = [], place + 1
        for child in node.children:
            children.append((child, place, below))
            place += child.n_nodes
        todo += reversed(children)
    return root


def _node_text(node: Any, place: int, taken: frozenset[int]) -> RenderableType:
    from rich.text import Text

    line = Text(node.label, style="bold green" if place in taken else "")
    if len(node.children) == 1 and node.children[0].is_leaf:
        line.append(" ")
        word_style = "bold green" if place + 1 in taken else "italic"
        line.append(node.children[0].label, style=word_style)
    return line


def _render_neighbors(searches: list[dict[str, Any]], console: Console) -> None:
    _heading(2, "What is most similar?", console)
    console.print("The nearest questions by their trees; ✓ asks for the same kind of answer.\n")
    for search in searches:
        query = search["query"]
        console.print(f"[bold]{query['text']}[/] [magenta]{query['label']}[/]")
        table = plain_table("", ">similarity", "label", "question")
        table.show_header = False
        for found in search["nearest"]:
            table.add_row(
                mark(found["same_label"]),
                f"{found['similarity']:.2f}",
                _plain(found["label"], "magenta"),
                _plain(found["text"]),
            )
        console.print(table)


def _render_classification(report: dict[str, Any], console: Console) -> None:
    _heading(3, "Can a classifier tell what is asked for?", console)
    n_classes = len(report["dataset"]["classes"])
    console.print(
        f"A support vector machine with each kernel, 5-fold cross-validation, {n_classes} classes "
        f"(guessing: {1 / n_classes:.0%})."
    )
    table = plain_table("kernel", ">accuracy", ">± folds", ">evaluations", ">seconds")
    for row in report["classification"]:
        table.add_row(
            row["name"],
            f"{row['accuracy']:.1%}",
            f"{row['deviation']:.1%}",
            f"{row['kernel_evaluations']:,}",
            f"{row['seconds']:.2f}",
        )
    console.print(table)
    console.print(report["note"])
    console.print(f"\nDone in {report['seconds']:.1f} s. With --json you get all of it as data.\n")
