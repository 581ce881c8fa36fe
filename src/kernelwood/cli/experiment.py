"""Experiments: command-line options in a flat TOML file.

The keys are the long names of options and the names of arguments of the commands that share the
file. Each command uses the keys that it has an option for. The command line takes precedence.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from kernelwood.cli.console import nearest

_COMMANDS = ("train", "crossval", "evaluate")  # which share a file
# Parameters that are paths, relative to the folder of the file.
_PATHS = (
    *("corpus", "test", "model", "out", "kernel", "vectors"),
    *("errors_out", "report", "save_config"),
)
_OWN = ("config", "save_config", "help", "quiet", "verbose")  # not allowed in a file
_MOMENTARY = ("n_jobs", "as_json")  # without influence on results, so not saved
_TEXTS_OR_NUMBERS = ("threshold", "positive_rate")
_STANDARD = "-"
_POSITION = re.compile(r"\s*\(at line (\d+), column (\d+)\)$")


class Named(click.Argument):
    """An argument that may come from a settings file."""

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        """Return the value and its source; an empty list counts as not given."""
        value, source = super().consume_value(ctx, opts)
        if not value and self.name is not None:
            given = ctx.lookup_default(self.name)
            if given:
                return given, click.core.ParameterSource.DEFAULT_MAP
        return value, source


def _use(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is None or ctx.resilient_parsing:
        return value
    try:
        text = Path(value).read_text(encoding="utf-8-sig")
    except OSError as failure:
        raise click.ClickException(f"{value}: {failure.strerror or failure}") from failure
    except UnicodeDecodeError as failure:
        raise click.ClickException(f"{value}: not a text in UTF-8") from failure
    ctx.default_map = _defaults(ctx, read_settings(text, value), text, value)
    return value


config_option = click.option(
    "--config", metavar="FILE.toml", is_eager=True, callback=_use,
    help="Read options from this file; the command line takes precedence.",
)  # fmt: skip


def read_settings(text: str, path: str) -> dict[str, Any]:
    """Return the content of a settings file.

    Examples
    --------
    >>> read_settings('recipe = "svm"', "experiment.toml")
    {'recipe': 'svm'}
    """
    parser = _parser()
    try:
        found: dict[str, Any] = parser.loads(text)
    except parser.TOMLDecodeError as failure:
        place = _POSITION.search(str(failure))
        where = f"{path}:{place[1]}:{place[2]}" if place else path
        problem = _POSITION.sub("", str(failure))
        raise click.ClickException(f"{where}: not valid TOML: {problem}") from failure
    except RecursionError as failure:
        raise click.ClickException(f"{path}: not valid TOML: nested too deeply") from failure
    return found


def _parser() -> Any:
    # Not in the standard library of Python 3.10.
    return importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def _defaults(ctx: click.Context, settings: dict[str, Any], text: str, path: str) -> dict[str, Any]:
    """Return the values in a file for the parameters of a command."""
    own, known = _parameters(ctx.command), {}
    for name in _COMMANDS:
        module = importlib.import_module(f"kernelwood.cli.commands.{name}")
        known.update(_parameters(getattr(module, name)))
    made: dict[str, Any] = {}
    for key, value in settings.items():
        where = f"{path}:{line}" if (line := _line_of(key, text)) else path
        plain = key.replace("_", "-")
        if plain not in known:
            raise click.UsageError(f"{where}: {_unknown(key, value, known)}")
        param = own.get(plain, known[plain])
        if str(param.name) in made:
            raise click.UsageError(f"{where}: {key} is given twice")
        checked = _checked(ctx, param, value, where, key)
        if plain in own:
            made[str(param.name)] = _from_folder(str(param.name), checked, path)
    return made


def _parameters(command: click.Command) -> dict[str, click.Parameter]:
    """Return the parameters of a command by their keys in a file."""
    named: dict[str, click.Parameter] = {}
    for param in command.params:
        if param.name in _OWN:
            continue
        if isinstance(param, click.Argument):
            named[str(param.name).replace("_", "-")] = param
        for flag in param.opts:
            if flag.startswith("--"):
                named[flag.removeprefix("--")] = param
    return named


def _unknown(key: str, value: Any, known: Iterable[str]) -> str:
    if isinstance(value, dict):
        return f"sections are not allowed; move the keys of [{key}] to the top level"
    if key.replace("-", "_") in _OWN:
        return f"{key} is allowed on the command line only; remove it from the file"
    guess = nearest(key.replace("_", "-"), known)
    return f"unknown option {key!r}{guess} (options: {', '.join(sorted(known))})"


def _checked(ctx: click.Context, param: click.Parameter, value: Any, where: str, key: str) -> Any:
    """Return a value that an option accepts, or raise an error with its position."""
    many = param.multiple if isinstance(param, click.Option) else param.nargs == -1
    if many and isinstance(value, str):
        value = [value]
    expected, fits = _expected(param, many=many)
    if not fits(value):
        raise click.UsageError(f"{where}: {key} must be {expected}, not {_shown(value)}")
    try:
        param.process_value(ctx, value)
    except click.UsageError as failure:
        raise click.UsageError(f"{where}: {key}: {failure.message}") from failure
    return value


def _expected(param: click.Parameter, *, many: bool) -> tuple[str, Callable[[Any], bool]]:
    """Return a description and a test of the values of a parameter in a file."""
    if many:
        return "a string or a list of strings", _is_texts
    if isinstance(param, click.Option) and param.is_flag:
        return "true or false", lambda value: isinstance(value, bool)
    if isinstance(param.type, click.types.IntParamType):
        return "an integer", lambda value: type(value) is int
    if isinstance(param.type, click.types.FloatParamType):
        return "a number", lambda value: type(value) in (int, float)
    if param.name in _TEXTS_OR_NUMBERS:
        return "a string or a number", lambda value: type(value) in (str, int, float)
    return "a string in quotes", lambda value: isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _line_of(key: str, text: str) -> int | None:
    """Return the line of a key, or None if it is not found."""
    pattern = re.compile(rf"""^\s*\[*\s*["']?{re.escape(key)}["']?\s*[\].=]""", re.MULTILINE)
    found = pattern.search(text)
    if found is None:
        return None
    start = found.end() - len(found.group().lstrip())
    return text.count("\n", 0, start) + 1


def _from_folder(name: str, value: Any, path: str) -> Any:
    """Return paths in a file relative to the current folder."""
    if name not in _PATHS:
        return value
    if isinstance(value, list):
        return [_from_folder(name, one, path) for one in value]
    return value if value == _STANDARD else str(Path(path).parent / value)


def effective(ctx: click.Context) -> dict[str, Any]:
    """Return the settings of a run by their keys in a file.

    Settings without influence on results and those without a value are left out.
    """
    settings: dict[str, Any] = {}
    for param in ctx.command.params:
        value = ctx.params.get(str(param.name))
        if param.name in (*_OWN, *_MOMENTARY) or value in (None, (), "") or value is False:
            continue
        key = next((flag for flag in param.opts if flag.startswith("--")), str(param.name))
        name = key.removeprefix("--").replace("_", "-")
        settings[name] = list(value) if isinstance(value, tuple) else value
    return settings


def write_settings(path: str, settings: Mapping[str, Any]) -> None:
    """Write a settings file, with paths relative to its folder."""
    import tomli_w

    from kernelwood.io import write_text

    folder = Path(path).resolve().parent
    values = {
        key: _to_folder(key.replace("-", "_"), value, folder) for key, value in settings.items()
    }
    write_text(path, [tomli_w.dumps(values)])


def _to_folder(name: str, value: Any, folder: Path) -> Any:
    if name not in _PATHS or value == _STANDARD:
        return value
    if isinstance(value, list):
        return [_to_folder(name, one, folder) for one in value]
    whole = Path(value).absolute()
    try:
        return Path(os.path.relpath(whole, folder)).as_posix()
    except ValueError:  # on another drive
        return whole.as_posix()
