"""What commands compare, and by which kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.examples import Gathered, gather
from kernelwood.cli.kernels import KernelChoice, build_kernel, load_kernel
from kernelwood.cli.options import asked
from kernelwood.cli.output import counted
from kernelwood.errors import KernelInputError

if TYPE_CHECKING:
    from kernelwood import Kernel

__all__ = ["Compared", "read_compared", "read_for", "refuse"]


@dataclass(frozen=True)
class Compared:
    """Examples, the kernel that compares them, and what it reads of each."""

    read: Gathered
    kernel: Kernel
    structures: Any

    def say(self) -> None:
        """Tell on standard error what is compared."""
        from kernelwood.cli.outputs import say_counts

        n = counted(len(self.read.examples), "example")
        click.echo(f"{n}; {self.kernel!r}", err=True)
        say_counts(self.read)


def read_compared(corpus: str, options: dict[str, Any]) -> Compared:
    """Read a corpus, and choose the kernel that options ask for or that suits it."""
    name = options["kernel"]
    if name is not None and name.endswith(".kw"):
        refuse(options, ("decay", "vectors", "similarity"), f"the kernel is in {name}")
        return read_for(load_kernel(name), corpus, options, owner=name)
    read = gather(asked(corpus, options))
    batch = read.batch()
    choice = KernelChoice(name, options["decay"], None, options["vectors"], options["similarity"])
    kernel = build_kernel(choice, {view: batch.view(view) for view in read.views})
    return Compared(read, kernel, batch)


def read_for(
    kernel: Kernel, corpus: str, options: dict[str, Any], *, owner: str, **changes: Any
) -> Compared:
    """Read what a kernel compares that is there already, in the file ``owner``."""
    from kernelwood.kernels import needed_views

    names = needed_views(kernel)
    if names:
        if set(options["views"]) - set(names):
            raise click.UsageError(
                f"the kernel in {owner} reads {', '.join(names)}; leave out --view"
            )
        read = gather(asked(corpus, options, **{**changes, "views": names}))
        return Compared(read, kernel, read.batch())
    read = gather(asked(corpus, options, **changes))
    if len(read.views) > 1:
        raise KernelInputError(
            f"the kernel in {owner} compares single structures; name one view with --view, not "
            f"{', '.join(read.views)}"
        )
    [name] = read.views
    return Compared(read, kernel, [example.view(name) for example in read.examples])


def refuse(options: dict[str, Any], names: tuple[str, ...], why: str) -> None:
    """Raise click.UsageError if one of some options is given, where it would do nothing."""
    flags = {"views": "view", "source_format": "from"}
    for name in names:
        if options[name] not in (None, (), False):
            flag = flags.get(name, name.replace("_", "-"))
            raise click.UsageError(f"{why}; leave out --{flag}")
