"""``kernelwood sample``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import click

from kernelwood.cli.console import counted, one_name, say, write_json
from kernelwood.cli.options import json_option

_NOTE = "EGFR activates Ras in growing cells. ERK2 is phosphorylated by MEK1 there.\n"
_CONTENTS = {  # names of folders and files, and what they are
    "train": "{}, annotated (brat)",
    "test": "{}, annotated (brat)",
    "texts": "{} without annotation",
    "names.tsv": "{} with their types",
    "note.txt": "a short text",
}
_EPILOG = """\b
Example:
  kernelwood sample sample
  kernelwood crossval sample/train --report report.html
"""


@click.command(epilog=_EPILOG)
@click.argument("folder")
@json_option
def sample(folder: str, as_json: bool) -> None:
    """Write sample files to try other commands.

    FOLDER is created. It gets the bundled corpus of made-up abstracts as brat folders (train and
    test), the texts of the second without annotation, a list of the names in them, and a short
    text. Files are not overwritten.
    """
    started = time.perf_counter()
    from kernelwood.io import check_parent, check_vacant, write_folder

    target = Path(folder)
    check_parent(target)
    check_vacant(target)
    counts: dict[str, int] = {}
    write_folder(target, _files(counts))
    if as_json:
        seconds = round(time.perf_counter() - started, 3)
        write_json({"folder": folder, "files": counts, "seconds": seconds})
        return
    for name, text in _CONTENTS.items():
        noun = "name" if name == "names.tsv" else "document"
        say(f"{one_name(target / name)}: {text.format(counted(counts[name], noun))}")


def _files(counts: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Yield the files, and count documents and names on the way."""
    from kernelwood.datasets import interactions_path
    from kernelwood.entities import harvest_terms
    from kernelwood.io import read, separated_rows

    folders = {part: interactions_path(part, "brat") for part in ("train", "test")}
    for part, place in folders.items():
        files = sorted(place.iterdir())
        counts[part] = sum(file.suffix == ".txt" for file in files)
        for file in files:
            yield f"{part}/{file.name}", file.read_text("utf-8")
            if part == "test" and file.suffix == ".txt":
                yield f"texts/{file.name}", file.read_text("utf-8")
    counts["texts"] = counts["test"]
    names = harvest_terms([one for place in folders.values() for one in read(place)]).terms
    counts["names.tsv"], counts["note.txt"] = len(names), 1
    yield "names.tsv", "".join(separated_rows(((one.term, one.type) for one in names), "\t"))
    yield "note.txt", _NOTE
