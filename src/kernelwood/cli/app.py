"""The command group ``kernelwood``."""

from __future__ import annotations

import importlib
from typing import Any

import click

from kernelwood import __version__
from kernelwood.cli.console import reported

# Command -> first line of its help. A module is imported only when its command is run.
COMMANDS = {
    "adapt": "Adapt the decision threshold of a model to other texts.",
    "cluster": "Cluster structures by kernel k-means.",
    "convert": "Convert a corpus to another format.",
    "crossval": "Cross-validate a relation extractor.",
    "demo": "Train on a bundled corpus and extract from new text.",
    "doctor": "Show the installation and test the kernels.",
    "embed": "Compute vectors of structures by the Nyström method.",
    "evaluate": "Evaluate a model on annotated documents.",
    "explain": "Explain predictions by the contributions of training cases.",
    "extract": "Extract relations from plain text.",
    "inspect": "Show the contents of a model file.",
    "learn-gates": "Learn which labels a kernel should ignore.",
    "predict": "Predict relations in annotated documents.",
    "search": "Find structures similar to queries.",
    "terms": "Make a list of terms from annotated entities.",
    "train": "Train a relation extractor on annotated documents.",
    "vectors": "Learn word vectors from unlabeled texts.",
    "verify": "Check relations found by another tool.",
}


class Commands(click.Group):
    """A group that imports a command when it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, None if the name is unknown."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(
            importlib.import_module(f"kernelwood.cli.commands.{name}"), name
        )
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command and report expected errors."""
        with reported():
            return super().invoke(ctx)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(__version__, prog_name="kernelwood")
def main() -> None:
    """Learn relation extractors from annotated text, apply and explain them.

    Results are written to standard output, messages to standard error. Exit codes: 0 success,
    1 invalid data or installation, 2 invalid usage.
    """
