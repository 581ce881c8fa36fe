"""``kernelwood completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from kernelwood.cli.console import say

_NAME = "kernelwood"
_EPILOG = """\b
To complete commands, options and file names in each new shell:
  bash   echo 'eval "$(kernelwood completion bash)"' >> ~/.bashrc
  zsh    echo 'eval "$(kernelwood completion zsh)"' >> ~/.zshrc
  fish   kernelwood completion fish > ~/.config/fish/completions/kernelwood.fish
"""


@click.command(epilog=_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    The script lets the Tab key complete commands, options, values and file names.
    """
    made = get_completion_class(shell)
    if made is None:
        raise click.ClickException(f"this version of click does not support {shell}")
    group = ctx.find_root().command
    # Not source(), which runs bash to find its version.
    script = made(group, {}, _NAME, f"_{_NAME.upper()}_COMPLETE")
    say(script.source_template % script.source_vars())
