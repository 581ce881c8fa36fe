"""A page about a model for people who open its file."""

from __future__ import annotations

from collections.abc import Iterator

from kernelwood.persist.members import dump_json
from kernelwood.persist.parts import Part
from kernelwood.structures import shorten

__all__ = ["card"]

_SHOWN = 50  # parts


def card(parts: list[Part], version: str) -> str:
    """Return a description of a model in Markdown, always the same for the same model."""
    return "\n".join(_lines(parts, version)) + "\n"


def _lines(parts: list[Part], version: str) -> Iterator[str]:
    *inner, model = parts
    yield f"# {_title(model)}"
    yield ""
    yield f"A model saved by kernelwood {version}. `kernelwood.load` makes it again; nothing in"
    yield "this file is run. Every number and string in it is in `manifest.json`, in a `.txt` or in"
    yield "an `.npy`."
    yield ""
    yield from _description(model)
    for number, part in enumerate(inner[:_SHOWN]):
        yield ""
        yield f"## Part {number}: {_title(part)}"
        yield ""
        yield from _description(part)
    if len(inner) > _SHOWN:
        yield ""
        yield f"There are {len(inner) - _SHOWN:,} more parts."


def _title(part: Part) -> str:
    return part.name if part.name == part.kind else f"{part.name} ({part.kind})"


def _description(part: Part) -> Iterator[str]:
    yield "| what | value |"
    yield "|---|---|"
    for name, value in part.parameters.items():
        yield f"| {name} | {_shown(value)} |"
    for name, strings in part.texts.items():
        yield f"| {name} | {len(strings):,} strings |"
    for name, array in part.arrays.items():
        size = " × ".join(f"{n:,}" for n in array.shape) or "1"
        yield f"| {name} | {size} numbers, {array.dtype} |"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        if value["kind"] == "part":
            return f"part {value['number']}"
        value = next(inner for key, inner in value.items() if key != "kind")
    text = shorten(dump_json(value).decode("utf-8"), 80)
    # A bar would end the cell, a backtick the code.
    return f"`{text.replace('|', chr(92) + 'u007c').replace('`', chr(92) + 'u0060')}`"
