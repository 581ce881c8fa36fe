"""The command group: what all commands share."""

from __future__ import annotations

import importlib
from typing import Any

import click

from kernelwood import __version__
from kernelwood.errors import KernelwoodError

__all__ = ["main"]

# Command -> (module, function, one line for --help). Modules load when their command is run; a
# new command adds a row here.
_COMMANDS = {
    "cluster": ("kernelwood.cli.cluster", "cluster", "Find groups of structures that are alike."),
    "convert": ("kernelwood.cli.convert", "convert", "Write examples in another format."),
    "crossval": (
        "kernelwood.cli.crossval",
        "crossval",
        "Tell how good a model of relations would be.",
    ),
    "demo": ("kernelwood.cli.demo", "demo", "Learn relations and find some in a new text."),
    "doctor": ("kernelwood.cli.doctor", "doctor", "Show what is installed and test the kernels."),
    "embed": ("kernelwood.cli.embed", "embed", "Turn structures into vectors."),
    "evaluate": (
        "kernelwood.cli.evaluate",
        "evaluate",
        "Tell how good a model of relations is.",
    ),
    "explain": ("kernelwood.cli.explain", "explain", "Tell why a relation was found, or not."),
    "extract": ("kernelwood.cli.extract", "extract", "Find relations in texts."),
    "inspect": ("kernelwood.cli.inspect", "inspect", "Tell what is in the file of a model."),
    "learn-gates": (
        "kernelwood.cli.learn_gates",
        "learn_gates",
        "Learn which labels a kernel should ignore.",
    ),
    "predict": ("kernelwood.cli.predict", "predict", "Find relations in annotated documents."),
    "search": ("kernelwood.cli.search", "search", "Find the structures that are most like others."),
    "train": ("kernelwood.cli.train", "train", "Learn to find relations."),
    "verify": ("kernelwood.cli.verify", "verify", "Judge relations that another tool found."),
}
_INTERRUPTED = 130  # 128 + SIGINT, as shells have it


class _Commands(click.Group):
    """A group that loads commands late and turns expected errors into one message."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, function, _ = _COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), function)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, row[2]) for name, row in sorted(_COMMANDS.items())])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KernelwoodError as error:
            raise click.ClickException(str(error)) from error
        except KeyboardInterrupt:
            ctx.exit(_INTERRUPTED)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kernelwood")
def main() -> None:
    """Convolution kernels for the structures of language.

    Results go to standard output, messages to standard error. Exit codes: 0 all right, 1 something
    is wrong with the data or the installation, 2 the command was called the wrong way.
    """
