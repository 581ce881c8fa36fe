"""``kernelwood doctor``: the state of the installation, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.checks import examine
from kernelwood.cli.output import json_option, mark, results, write_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["doctor"]


@click.command()
@json_option
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Show what is installed, and test every kernel.

    Each kernel's native values are compared with its textbook definition on small structures;
    so is matching by word vectors, with a tree and a sequence kernel.
    Exit code 1 if they differ or if the native core is missing.
    """
    report = examine()
    if as_json:
        write_json(report)
    else:
        _render(report, results())
    if not report["ok"]:
        ctx.exit(1)


def _render(report: dict[str, Any], console: Console) -> None:
    console.print()
    console.print(_facts(report))
    console.print()
    if report["self_test"]:
        console.print("[bold cyan]Self-test[/]: native values against the textbook definition")
        console.print(_self_test(report["self_test"]))
        for test in report["self_test"]:
            if test["error"]:
                console.print(f"  [bold red]{test['kernel']}[/]: ", end="")
                console.print(test["error"], markup=False)
        console.print()
    verdict = "everything works" if report["ok"] else "something is wrong, see ✗ above"
    console.print(f"{mark(report['ok'])} [bold]{verdict}[/]\n")


def _facts(report: dict[str, Any]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2), pad_edge=True)
    table.add_column()
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for ok, name, text in _rows(report):
        # Paths and versions are data: brackets in them are not markup.
        table.add_row("" if ok is None else mark(ok), name, Text(text))
    return table


def _rows(report: dict[str, Any]) -> list[tuple[bool | None, str, str]]:
    from kernelwood.compute import format_bytes

    versions, native, machine = report["versions"], report["native"], report["machine"]
    data, budget = report["data"], report["machine"]["memory_budget"]
    rows: list[tuple[bool | None, str, str]] = [
        (None, "kernelwood", f"{versions['kernelwood'] or 'not installed, run from its folder'}"),
        (None, "Python", f"{versions['python']} on {machine['system']}"),
    ]
    others = {name: v for name, v in versions.items() if name not in ("kernelwood", "python")}
    installed = ", ".join(f"{name} {version}" for name, version in others.items() if version)
    missing = ", ".join(name for name, version in others.items() if not version)
    rows.append(
        (not missing, "libraries", installed + (f"; missing: {missing}" if missing else ""))
    )
    core = f"{native['build']}, using {native['instruction_set']}"
    rows.append(
        (native["ok"], "native core", core if native["ok"] else f"missing: {native['error']}")
    )
    rows.append((None, "cores", f"{machine['usable_cores']} of {machine['cores']} usable"))
    if budget is not None:
        rows.append((None, "memory budget", format_bytes(budget)))
    rows += [_extra_row(name, packages) for name, packages in report["extras"].items()]
    where = data["folder"] or f"none (set {data['variable']} to a folder of corpora)"
    entries = f": {', '.join(data['entries'])}" if data["entries"] else ""
    rows.append((None, "real data", where + entries))
    return rows


def _extra_row(name: str, packages: dict[str, str | None]) -> tuple[bool | None, str, str]:
    missing = [package for package, version in packages.items() if version is None]
    text = f"missing: {', '.join(missing)}" if missing else "installed"
    return None, f"extra [{name}]".replace("[", r"\["), text


def _self_test(tests: list[dict[str, Any]]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("")
    table.add_column("kernel", no_wrap=True)
    table.add_column("difference", justify="right")
    table.add_column("ns per pair", justify="right")
    for test in tests:
        difference, speed = test["difference"], test["ns_per_pair"]
        table.add_row(
            mark(test["ok"]),
            test["kernel"],
            "–" if difference is None else f"{difference:.0e}" if difference else "0",
            "–" if speed is None else f"{speed:,.0f}",
        )
    return table
