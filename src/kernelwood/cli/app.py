"""The command group ``kernelwood``."""

from __future__ import annotations

import importlib
from typing import Any

import click
from click.shell_completion import CompletionItem

from kernelwood import __version__
from kernelwood.cli.console import LEVEL_OPTIONS, flushed, nearest, reported, start_clock
from kernelwood.cli.options import adapt_types

# Command -> first line of its help. A module is imported only when its command is run.
COMMANDS = {
    "adapt": "Adapt the decision threshold of a model to other texts.",
    "cluster": "Cluster structures by kernel k-means.",
    "completion": "Print the completion script of a shell.",
    "convert": "Convert a corpus to another format.",
    "crossval": "Cross-validate a relation extractor.",
    "demo": "Train on a bundled corpus and extract from new text.",
    "doctor": "Show the installation and test the kernels.",
    "embed": "Compute vectors of structures by the Nyström method.",
    "evaluate": "Evaluate a model on annotated documents.",
    "explain": "Explain predictions by the contributions of training cases.",
    "extract": "Extract relations from texts.",
    "inspect": "Show the contents of a model file.",
    "learn-gates": "Learn which labels a kernel should ignore.",
    "predict": "Predict relations in annotated documents.",
    "review": "Review candidates and teach a model in the browser.",
    "sample": "Write sample files to try other commands.",
    "search": "Find structures similar to queries.",
    "serve": "Serve models over HTTP.",
    "shards": "Cut large work into shards that any machine computes.",
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
        for one in (command, *getattr(command, "commands", {}).values()):
            _with_shared_options(adapt_types(one))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called."""
        name = args[0]
        if name not in COMMANDS and name[:1] != "-" and not ctx.resilient_parsing:
            ctx.fail(f"No such command {name!r}{nearest(name, COMMANDS)}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that begin with a text, without importing them."""
        found = [
            CompletionItem(name, help=text)
            for name, text in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line; the end of its output is written, or its loss reported."""
        with flushed():
            return super().main(*args, **options)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Parse the command line; --help and --version print."""
        with reported():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command and report expected errors."""
        start_clock(ctx)
        with reported():
            return super().invoke(ctx)


def _with_shared_options(command: click.Command) -> click.Command:
    """Add the options of all commands to a command that does not have them."""
    command.params += [option for option in LEVEL_OPTIONS if option not in command.params]
    return command


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


_with_shared_options(main)
