"""Experiments on the command line: options in a file, and the file that repeats a run.

The file is flat TOML. Its keys are the long names of options, or names of arguments, of the
commands that share it; what another command takes is passed over, so that one file serves them
all. What stands on the command line beats the file.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

__all__ = ["Named", "config_option", "effective", "read_settings", "write_settings"]

# Commands that share a file.
_COMMANDS = {
    "train": "kernelwood.cli.train",
    "crossval": "kernelwood.cli.crossval",
    "evaluate": "kernelwood.cli.evaluate",
}
# Options that hold names of files, which are meant from the folder of the file.
_PATHS = ("corpus", "test", "model", "out", "kernel", "vectors", "errors_out", "save_config")
_OWN = ("config", "save_config", "help")  # what a file cannot say
_MOMENTARY = ("n_jobs", "as_json")  # choices that change no result
_TEXTS_OR_NUMBERS = ("threshold", "positive_rate")
_STANDARD = "-"  # standard input, which has no folder
_POSITION = re.compile(r"\s*\(at line (\d+), column (\d+)\)$")


class Named(click.Argument):
    """An argument that a file can give as well."""

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        """Return the value and its source; of many values none are as if not given."""
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
        raise click.ClickException(f"{value}: this is no text in UTF-8") from failure
    ctx.default_map = _defaults(ctx, read_settings(text, value), text, value)
    return value


config_option = click.option(
    "--config", metavar="FILE.toml", is_eager=True, callback=_use,
    help="Take options from this file; those of the command line come first.",
)  # fmt: skip


def read_settings(text: str, path: str) -> dict[str, Any]:
    """Return what a file of settings says, as it says it.

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
        raise click.ClickException(f"{where}: this is no TOML: {problem}") from failure
    return found


def _parser() -> Any:
    # Not in the standard library of Python 3.10.
    return importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def _defaults(ctx: click.Context, settings: dict[str, Any], text: str, path: str) -> dict[str, Any]:
    """Return the values of options of a command that a file gives, by parameter."""
    own, known = _parameters(ctx.command), {}
    for name, module in _COMMANDS.items():
        known.update(_parameters(getattr(importlib.import_module(module), name)))
    made: dict[str, Any] = {}
    for key, value in settings.items():
        where = f"{path}:{line}" if (line := _line_of(key, text)) else path
        plain = key.replace("_", "-")
        if plain not in known:
            raise click.UsageError(f"{where}: {_unknown(key, value, known)}")
        param = own.get(plain, known[plain])
        if str(param.name) in made:
            raise click.UsageError(f"{where}: {key} is there twice")
        checked = _checked(ctx, param, value, where, key)
        if plain in own:
            made[str(param.name)] = _from_folder(str(param.name), checked, path)
    return made


def _parameters(command: click.Command) -> dict[str, click.Parameter]:
    """Return the parameters of a command by the names that a file has for them."""
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
        return f"the file is flat; write the keys of [{key}] before any bracket, without it"
    if key.replace("-", "_") in _OWN:
        return f"{key} is for the command line only; take it out of the file"
    near = get_close_matches(key.replace("_", "-"), known, n=1)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    return f"there is no option {key!r}{guess} (options: {', '.join(sorted(known))})"


def _checked(ctx: click.Context, param: click.Parameter, value: Any, where: str, key: str) -> Any:
    """Return a value that the option takes, or raise an error that names the place."""
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
    """Return what a file must have for a parameter, in words and as a test."""
    if many:
        return "text or a list of texts", _is_texts
    if isinstance(param, click.Option) and param.is_flag:
        return "true or false", lambda value: isinstance(value, bool)
    if isinstance(param.type, click.types.IntParamType):
        return "a whole number", lambda value: type(value) is int
    if isinstance(param.type, click.types.FloatParamType):
        return "a number", lambda value: type(value) in (int, float)
    if param.name in _TEXTS_OR_NUMBERS:
        return "text or a number", lambda value: type(value) in (str, int, float)
    return "text in quotes", lambda value: isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _line_of(key: str, text: str) -> int | None:
    """Return the line where a key begins, or None if that cannot be told."""
    pattern = re.compile(rf"""^\s*\[*\s*["']?{re.escape(key)}["']?\s*[\].=]""", re.MULTILINE)
    found = pattern.search(text)
    if found is None:
        return None
    start = found.end() - len(found.group().lstrip())
    return text.count("\n", 0, start) + 1


def _from_folder(name: str, value: Any, path: str) -> Any:
    """Return names of files as they are seen from here, not from the folder of the file."""
    if name not in _PATHS:
        return value
    if isinstance(value, list):
        return [_from_folder(name, one, path) for one in value]
    return value if value == _STANDARD else str(Path(path).parent / value)


def effective(ctx: click.Context) -> dict[str, Any]:
    """Return the settings of a run by the names that a file has for them.

    Those that change no result are left out, and those that are not given and have no default.
    """
    settings: dict[str, Any] = {}
    for param in ctx.command.params:
        value = ctx.params.get(str(param.name))
        if param.name in (*_OWN, *_MOMENTARY) or value is None or value is False:
            continue
        if value in ((), ""):
            continue
        key = next((flag for flag in param.opts if flag.startswith("--")), str(param.name))
        name = key.removeprefix("--").replace("_", "-")
        settings[name] = list(value) if isinstance(value, tuple) else value
    return settings


def write_settings(path: str, settings: Mapping[str, Any]) -> None:
    """Write settings to a file that :func:`read_settings` reads, with paths from its folder."""
    from kernelwood.io import write_text

    folder = Path(path).resolve().parent
    lines = [
        f"{key} = {_toml(_to_folder(key.replace('-', '_'), value, folder))}\n"
        for key, value in settings.items()
    ]
    write_text(path, lines)


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


def _toml(value: Any) -> str:
    r"""Return a value as TOML writes it.

    Examples
    --------
    >>> print(_toml(['a "b"', "c\n"]), _toml(True), _toml(0.5))
    ["a \"b\"", "c\n"] true 0.5
    """
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        # As JSON writes it, but for a control character that JSON allows.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
