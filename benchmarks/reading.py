"""Speed of the readers on real corpora: CPU time to examples, and on to a batch.

python benchmarks/reading.py [--data DIR] [--repeats 3] [--json]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import zipfile
from pathlib import Path

from measure import cpu_seconds

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.io import write

# Row -> (file, format, view to batch)
FILES = {
    "questions, one view": ("question-classification/train_5500.coarse.klp.gz", "kelp", "grct"),
    "questions, all views": ("question-classification/train_5500.coarse.klp.gz", "kelp", None),
    "questions, JSON lines": ("question-classification/train_5500.coarse.klp.gz", "jsonl", None),
    "Penn Treebank sample": ("ptb-sample/treebank.zip", "penn", "tree"),
}


def prepared(path: Path, format_name: str, folder: Path) -> Path:
    """Return the corpus as one file in the format, the path itself if it is one already."""
    if format_name == "jsonl":
        converted = folder / "questions.jsonl"
        write(kw.read(path), converted)
        return converted
    if path.suffix != ".zip":
        return path
    with zipfile.ZipFile(path) as archive:
        names = sorted(n for n in archive.namelist() if "combined/" in n and n.endswith(".mrg"))
        joined = folder / "sample.mrg"
        joined.write_bytes(b"\n".join(archive.read(name) for name in names))
    return joined


def measure(name: str, folder: Path, data: str | None, repeats: int) -> dict[str, object]:
    file, format_name, view = FILES[name]
    path = prepared(require_data(file, data=data), format_name, folder)
    views = None if view is None or format_name == "penn" else [view]
    examples = kw.read(path, format=format_name, views=views)
    row: dict[str, object] = {"file": name, "format": format_name, "examples": len(examples)}
    row["read"] = cpu_seconds(lambda: kw.read(path, format=format_name, views=views), repeats)
    copy = folder / f"copy.{format_name}"
    row["write"] = cpu_seconds(lambda: write(examples, copy, format=format_name), repeats)
    structures = [example.view(view or "grct") for example in examples]
    row["batch"] = cpu_seconds(lambda: kw.batch(structures), repeats)
    row["nodes"] = kw.batch(structures).n_elements
    return row


def show(rows: list[dict[str, object]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="CPU seconds")
    for column in ("file", "format", "examples", "nodes", "read", "write", "batch"):
        table.add_column(column, justify="left" if column in ("file", "format") else "right")
    for row in rows:
        table.add_row(
            *(f"{v:,}" if isinstance(v, int) else f"{v:.2f}" if isinstance(v, float) else str(v)
              for v in (row[column.header] for column in table.columns))
        )  # fmt: skip
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(name, Path(folder), options.data, options.repeats) for name in FILES]
    print(json.dumps(rows)) if options.json else show(rows)


if __name__ == "__main__":
    main()
