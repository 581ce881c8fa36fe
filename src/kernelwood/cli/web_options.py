"""Options of commands that serve pages or models: address, allowed hosts and token."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Literal, TypeVar, overload

import click

from kernelwood.cli.options import together
from kernelwood.errors import MissingPackageError

F = TypeVar("F", bound=Callable[..., Any])

_NEEDED = ("starlette", "uvicorn")
_ALL_ADDRESSES = ("0.0.0.0", "::")


def _check_hosts(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the names of hosts that requests may have, with that of --host."""
    from kernelwood.web import own_names, split_host

    for name in value:
        parts = split_host(name)
        if parts is None or parts[1] is not None:
            raise click.BadParameter(f"{name!r} is not the name of a host")
    host = str(ctx.params.get("host", "")).lower()
    return (*value, *(own_names() if host in _ALL_ADDRESSES else (host,)))


def address_options(port: int) -> Callable[[F], F]:
    """Return a decorator that adds the options of the address, with a default port."""
    return together(
        click.option(
            "--host", metavar="ADDRESS", default="127.0.0.1", is_eager=True,
            help="Address to listen on; others than this machine need a token.",
        ),
        click.option(
            "--port", type=click.IntRange(0, 65535), metavar="N", default=port,
            help="Port to listen on; 0 for any free one.",
        ),
        click.option(
            "--allow-host", "hosts", metavar="NAME", multiple=True, callback=_check_hosts,
            help="Further host name that requests may use (repeatable).",
        ),
        click.option(
            "--token-file", metavar="FILE", help="File with the token that requests need."
        ),
    )  # fmt: skip


def need_web() -> None:
    """Raise an error if the packages of the extra ``web`` are not installed."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise MissingPackageError(
            f"this command needs {' and '.join(missing)}; install the extra: "
            "pip install 'kernelwood[web]'"
        )


@overload
def token_of(options: Mapping[str, Any], *, always: Literal[True]) -> str: ...
@overload
def token_of(options: Mapping[str, Any], *, always: bool = False) -> str | None: ...
def token_of(options: Mapping[str, Any], *, always: bool = False) -> str | None:
    """Return the token that requests need, from the file or a new one.

    Parameters
    ----------
    options : mapping
        With ``host`` and ``token_file``.
    always : bool
        Whether a token is needed on a loopback address, too; otherwise it is None there, unless
        a file is given.
    """
    from kernelwood.web import is_loopback, new_token, read_token

    if options["token_file"] is not None:
        return read_token(options["token_file"])
    return new_token() if always or not is_loopback(options["host"]) else None
