"""``kernelwood learn-gates``."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from kernelwood import __version__
from kernelwood.cli.console import (
    counted,
    note,
    one_name,
    plain_table,
    results,
    running,
    say,
    show_counts,
    write_json,
)
from kernelwood.cli.corpora import read_examples
from kernelwood.cli.model_files import build_kernel, plain_value
from kernelwood.cli.options import (
    GATED,
    corpus_options,
    decay_option,
    exclusive,
    jobs_option,
    json_option,
    seed_option,
    similarity_option,
    together,
    vectors_option,
)
from kernelwood.cli.outputs import check_files
from kernelwood.errors import KernelInputError, KernelwoodError
from kernelwood.text import Example

if TYPE_CHECKING:
    from kernelwood import GateLearner, Kernel
    from kernelwood.arrays import Batch, ExampleBatch
    from kernelwood.io import Counts

_OUTPUTS = ("out", "gates_out", "figure", "checkpoint")
_POSITIVE = click.IntRange(min=1)
# Option -> parameter of the learner. The learner has the defaults.
_NEIGHBORS = {
    "trials": "n_trials",
    "neighbors": "n_neighbors",
    "passes": "n_passes",
    "graph": "graph",
    "loss": "loss",
    "votes": "n_votes",
    "negative": "negative_label",
}
_INFORMATION = {
    "steps": "n_steps",
    "patience": "patience",
    "temperature": "temperature",
    "hash_method": "hash_method",
    "references": "n_references",
    "bits": "n_bits",
    "subset_size": "subset_size",
    "learn": "parameters",
    "search": "search",
}
_BOTH = {"samples": "n_samples", "runs": "n_runs", "seed": "random_state"}

_method_options = together(
    click.option(
        "--method", type=click.Choice(["neighbors", "information"]), default="neighbors",
        help="Search: neighbors decides label by label, information by Markov chain.",
    ),
    click.option(
        "--share", type=click.FloatRange(0, 1, min_open=True), metavar="SHARE", show_default="0.5",
        help="Learn gates of this fraction of labels, most frequent first.",
    ),
    click.option(
        "--top", type=_POSITIVE, metavar="N", help="Learn gates of the N most frequent labels."
    ),
    click.option(
        "--gate", "gates", metavar="LABEL", multiple=True,
        help="Learn the gate of this label (repeatable).",
    ),
    click.option(
        "--samples", type=click.IntRange(min=2), metavar="N",
        show_default="100, with --method information 300", help="Number of structures per sample.",
    ),
    click.option(
        "--trials", type=_POSITIVE, metavar="N", show_default="10",
        help="Number of samples per label.",
    ),
    click.option(
        "--neighbors", type=_POSITIVE, metavar="N", show_default="4",
        help="Number of neighbors in the graph.",
    ),
    click.option(
        "--passes", type=_POSITIVE, metavar="N", show_default="3",
        help="Number of passes over the labels.",
    ),
    click.option(
        "--graph", type=click.Choice(["exact", "hashed"]), show_default="exact",
        help="Neighbor search; hashed is faster.",
    ),
    click.option(
        "--loss", type=click.Choice(["votes", "paper"]), show_default="votes",
        help="Loss: votes of several neighbors, or nearest other class (paper).",
    ),
    click.option(
        "--votes", type=_POSITIVE, metavar="N", show_default="8",
        help="Number of neighbors that vote.",
    ),
    click.option(
        "--by-document", is_flag=True, default=None,
        help="Ignore neighbors from the same document (by id or file).",
    ),
    click.option(
        "--negative", metavar="CLASS", show_default="first of two classes",
        help="Class without a relation, for --loss paper.",
    ),
    click.option(
        "--steps", type=_POSITIVE, metavar="N", show_default="20 per label, at least 200",
        help="Length of the Markov chain.",
    ),
    click.option(
        "--patience", type=_POSITIVE, metavar="N",
        help="Stop after this number of steps without improvement.",
    ),
    click.option(
        "--temperature", type=click.FloatRange(0, min_open=True), metavar="T", show_default="1",
        help="Temperature of the chain; higher accepts more deteriorations.",
    ),
    click.option(
        "--hash-method", type=click.Choice(["rknn", "rmm", "kulis"]), show_default="rmm",
        help="Hashing method.",
    ),
    click.option(
        "--references", type=click.IntRange(min=2), metavar="N", show_default="100",
        help="Number of references of hashcodes.",
    ),
    click.option(
        "--bits", type=_POSITIVE, metavar="N", show_default="1000",
        help="Number of bits of a hashcode.",
    ),
    click.option(
        "--subset-size", type=_POSITIVE, metavar="N", show_default="2",
        help="Number of references on each side of a bit.",
    ),
    click.option(
        "--learn", multiple=True, metavar="NAME=VALUE,...",
        help="Kernel parameter to learn, too, such as decay=0.4,0.8 (repeatable).",
    ),
    click.option(
        "--search", type=click.Choice(["chain", "grid"]), show_default="chain",
        help="Learn parameters together with the gates, or before (grid).",
    ),
    click.option(
        "--runs", type=_POSITIVE, metavar="N", show_default="1",
        help="Number of runs with different seeds; the majority decides.",
    ),
    seed_option,
)  # fmt: skip


@click.command("learn-gates")
@click.argument("corpus")
@corpus_options
@click.option(
    "--kernel", type=click.Choice(GATED),
    show_default="subsequence for sequences, partial-tree for trees", help="Kernel to compare by.",
)  # fmt: skip
@decay_option
@click.option(
    "--gate-on", type=click.Choice(["edge", "node"]), show_default="edge, if any edge has a label",
    help="Labels that get gates: those of edges or nodes.",
)  # fmt: skip
@vectors_option
@similarity_option
@_method_options
@jobs_option
@click.option("--out", metavar="FILE", help="Output file of the kernel with the learned gates.")
@click.option("--gates-out", metavar="FILE", help="Output file of the gates (JSON).")
@click.option("--figure", metavar="FILE", help="Output file of a chart (.png, .svg or .pdf).")
@click.option(
    "--checkpoint", metavar="FILE", help="Record decisions in this file, and resume from it."
)
@json_option
def learn_gates(corpus: str, as_json: bool, **options: Any) -> None:
    """Learn which labels a kernel should ignore.

    CORPUS is a file, folder or archive with labeled examples, - for standard input, or a file of
    kw.save with examples. The result lists the labels, ignored ones first. Examples without a
    label are used by --method information only.
    """
    started = time.perf_counter()
    check_files(
        {"CORPUS": corpus, "--vectors": options["vectors"]},
        {f"--{name.replace('_', '-')}": options[name] for name in _OUTPUTS},
        figure="--figure",
    )
    data = _read_labeled(corpus, options)
    learner = _make_learner(data, options)
    if not as_json:
        _show_data(data, learner)
    with _opened(options["checkpoint"], learner, data, options) as checkpoint:
        _fit(learner, data, checkpoint, options["checkpoint"])
    _write_outputs(learner, options)
    if as_json:
        write_json(_result(learner, data, time.perf_counter() - started))
    else:
        _show(learner)


# Data.


@dataclass
class _Labeled:
    """Labeled examples, the documents that they are from, and examples without a label."""

    labeled: ExampleBatch
    documents: list[str] | None
    unlabeled: ExampleBatch | None
    views: tuple[str, ...]
    counts: Counts


def _read_labeled(corpus: str, options: dict[str, Any]) -> _Labeled:
    from kernelwood import batch
    from kernelwood.evaluate import documents

    read = read_examples(corpus, options, classes=True)
    known = [e for e in read.examples if _has_label(e)]
    unknown = [e for e in read.examples if not _has_label(e)]
    if not known:
        other = "" if options["candidates"] else ", or label candidates with --candidates pairs"
        raise KernelInputError(
            f"{corpus}: none of the {len(unknown):,} examples has a label; use a format with "
            f"labels, such as jsonl, kelp or semeval{other}"
        )
    return _Labeled(
        batch(read.select(known)),
        documents(known) if options["by_document"] else None,
        batch(read.select(unknown)) if unknown else None,
        read.views,
        read.counts,
    )


def _has_label(example: Example) -> bool:
    label = example.label
    if isinstance(label, tuple):
        raise KernelInputError(
            f"example {example.id!r} has several labels, {label!r}; gates need exactly one class "
            "per structure"
        )
    return label is not None and label == label


def _show_data(data: _Labeled, learner: GateLearner) -> None:
    labels = data.labeled.labels
    classes = counted(len(set(labels)), "class", "es")
    text = f"{counted(len(labels), 'example')} of {classes}; {learner.kernel!r}"
    if data.unlabeled is not None:
        use = "used, too" if learner.method == "information" else "ignored"
        text += f"; {counted(len(data.unlabeled), 'example')} without a label: {use}"
    note(text)
    show_counts(data.counts)


# Learner.


def _make_learner(data: _Labeled, options: dict[str, Any]) -> GateLearner:
    from kernelwood import GateLearner

    views = {name: data.labeled.view(name) for name in data.views}
    gate_on = options["gate_on"] or _default_gates(views)
    kernel = build_kernel(options, views, gate_on=gate_on)
    parameters = _parameters(options, kernel, data.labeled.labels)
    return GateLearner(kernel, n_jobs=options["n_jobs"], **parameters)


def _default_gates(views: Mapping[str, Batch]) -> str:
    """Return "edge" if any edge has a label, or else "node"."""
    import numpy as np

    for batch in views.values():
        edges = batch.arrays[1][batch.parts[0].window]
        if any(batch.vocabulary.labels(np.unique(edges))):
            return "edge"
    return "node"


def _parameters(options: dict[str, Any], kernel: Kernel, labels: list[Any]) -> dict[str, Any]:
    """Return the parameters of the learner that options give.

    Raises
    ------
    click.UsageError
        If options contradict each other.
    """
    method = options["method"]
    known, other = (
        (_NEIGHBORS, _INFORMATION) if method == "neighbors" else (_INFORMATION, _NEIGHBORS)
    )
    for option in (*other, *(["by_document"] if method == "information" else [])):
        if options[option] not in (None, ()):
            flag = f"--{option.replace('_', '-')}"
            raise click.UsageError(f"{flag} does not apply to --method {method}")
    if options["negative"] is not None:
        options = {**options, "negative": _class_named(options["negative"], labels)}
    if options["learn"]:
        options = {**options, "learn": _learned_values(options["learn"], kernel)}
    elif options["search"] is not None:
        raise click.UsageError("--search applies to kernel parameters; give some with --learn")
    given = {
        parameter: options[option]
        for option, parameter in {**known, **_BOTH}.items()
        if options[option] not in (None, ())
    }
    exclusive({**options, "gate": options["gates"]}, "share", "top", "gate")
    chosen = options["share"] or options["top"] or list(options["gates"])
    return {"method": method, **({"labels": chosen} if chosen else {}), **given}


def _class_named(name: str, labels: list[Any]) -> Any:
    """Return the class with a name; classes may be numbers."""
    for label in labels:
        if str(label) == name:
            return label
    known = ", ".join(sorted({str(label) for label in labels})[:20])
    raise click.UsageError(f"--negative {name} is not a class; the classes are {known}")


def _learned_values(given: tuple[str, ...], kernel: Kernel) -> dict[str, list[Any]]:
    """Return the kernel parameters to learn, given as ``NAME=VALUE,VALUE``.

    The prefix of a name may be left out if only one inner kernel has such a parameter.

    Examples
    --------
    >>> import kernelwood as kw
    >>> _learned_values(("decay=0.4,0.8",), kw.OnView("path", kw.SubsequenceKernel()))
    {'kernel__decay': [0.4, 0.8]}
    """
    known = kernel.get_params(deep=True)
    values = {}
    for text in given:
        name, _, listed = text.partition("=")
        found = [key for key in known if key == name or key.endswith(f"__{name}")]
        if len(found) != 1 or not listed:
            numbers = [key for key, v in known.items() if isinstance(v, (bool, int, float))]
            raise click.UsageError(
                f"--learn takes NAME=VALUE,VALUE,... with one of {', '.join(numbers)}; got {text!r}"
            )
        values[found[0]] = [plain_value(part) for part in listed.split(",")]
    return values


def _fit(
    learner: GateLearner, data: _Labeled, checkpoint: Checkpoint | None, path: str | None
) -> None:
    unlabeled = data.unlabeled if learner.method == "information" else None
    keep: Callable[[dict[str, Any]], object] | None = None
    earlier = None
    if checkpoint is not None:
        keep, earlier = checkpoint.add, checkpoint.earlier
        if earlier:
            note(f"resuming after {counted(len(earlier), 'decision')} in {one_name(path)}")
    try:
        with running() as begin:
            begin("deciding")
            learner.fit(
                data.labeled,
                groups=data.documents,
                unlabeled=unlabeled,
                resume=earlier,
                on_decision=keep,
            )
    except (KeyboardInterrupt, SystemExit):
        if checkpoint is not None:
            done = counted(len(checkpoint.earlier) + checkpoint.added, "decision")
            note(f"stopped after {done}; run the same command to resume {one_name(path)}")
        raise


# Checkpoints.

_KIND = "kernelwood learn-gates"
_CHECK = "crc32"  # checksum of a line


class CheckpointError(KernelwoodError, ValueError):
    """A file is not a checkpoint of this search."""


class Checkpoint:
    """A file with a line for each decision of a search, which can be resumed from it.

    Parameters
    ----------
    earlier : list of dict
        Decisions that are in the file.
    file : binary file
        New decisions are appended to it; without a buffer.
    path : Path
        Its name, for errors.
    """

    def __init__(self, earlier: list[dict[str, Any]], file: IO[bytes], path: Path) -> None:
        self.earlier = earlier
        self._file, self._path = file, path
        self.added = 0

    def add(self, decision: dict[str, Any]) -> None:
        """Write a decision to the disk, so that it is not lost if the machine is stopped."""
        self.write(_line({**decision, _CHECK: _checksum(decision)}))
        self.added += 1

    def write(self, data: bytes) -> None:
        """Write to the disk."""
        from kernelwood.io import named_if_full

        with named_if_full(self._path):
            while data:
                data = data[self._file.write(data) :]
            os.fsync(self._file.fileno())


@contextmanager
def open_checkpoint(path: str | os.PathLike[str], settings: dict[str, Any]) -> Iterator[Checkpoint]:
    """Open the checkpoint of a search, or create it if the file does not exist.

    The file has a line with the settings, then one for each decision, with a checksum. An
    incomplete last line is removed, as the end of a process or of the machine leaves it.

    Raises
    ------
    CheckpointError
        If the file is not a checkpoint, or one of a search with other settings, or another process
        uses it.
    """
    from kernelwood.io import sync_folder, try_lock

    target = Path(path)
    first = _line({"checkpoint": _KIND, "version": __version__, **settings})
    if target.exists() and not target.is_file():
        raise CheckpointError(f"{target} is a folder or a device; give a file name")
    with target.open("r+b" if target.exists() else "x+b", buffering=0) as file:
        if try_lock(file.fileno()) is False:
            raise CheckpointError(f"{path} is in use by another process; give another name")
        data = file.readall()
        # An incomplete first line is overwritten; other content is not.
        begins = len(data) < len(first) and first.startswith(data)
        earlier, whole = ([], 0) if begins else _parse(target, data, json.loads(first))
        checkpoint = Checkpoint(earlier, file, target)
        file.truncate(whole)
        file.seek(whole)
        checkpoint.write(first if begins else b"")
        sync_folder(target.parent)
        yield checkpoint


def _parse(path: Path, data: bytes, expected: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """Return the decisions in a file, and the size of its complete lines in bytes."""
    header, *lines, rest = data.split(b"\n") if b"\n" in data else (data, b"")
    _compare(path, _object(header), expected)
    decisions = []
    if lines and b"\0" in lines[-1]:  # it has its size, but not all of its content
        rest = lines.pop() + b"\n" + rest
    for number, line in enumerate(lines, start=2):
        decision = _object(line)
        if decision is None or decision.pop(_CHECK, None) != _checksum(decision):
            raise CheckpointError(
                f"{path}:{number}: not a decision, the file is damaged; delete the file to start "
                "again, or delete it from this line on to resume"
            )
        decisions.append(decision)
    return decisions, len(data) - len(rest)


def _compare(path: Path, found: dict[str, Any] | None, expected: dict[str, Any]) -> None:
    if found is None or found.get("checkpoint") != _KIND:
        raise CheckpointError(
            f"{path} is not a checkpoint of learn-gates; give --checkpoint another name"
        )
    before, now = _flat(found), _flat(expected)
    differing = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if differing:
        differences = "; ".join(_difference(name, before, now) for name in differing)
        raise CheckpointError(
            f"{path} is the checkpoint of another search: {differences}. Use the same data and "
            "options to resume it, or give --checkpoint another name"
        )


def _difference(name: str, before: dict[str, Any], now: dict[str, Any]) -> str:
    if name.endswith("sha256"):
        return f"{name.removesuffix('_sha256')} differs"
    return f"{name} was {before.get(name)!r}, is {now.get(name)!r}"


def _flat(header: dict[str, Any]) -> dict[str, Any]:
    nested = header.get("settings")
    rest = {name: value for name, value in header.items() if name != "settings"}
    return {**rest, **nested} if isinstance(nested, dict) else header


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):  # not JSON, not UTF-8, or nested too deeply
        return None
    return value if isinstance(value, dict) else None


def _checksum(decision: dict[str, Any]) -> int:
    return zlib.crc32(_line(decision))


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode("ascii") + b"\n"


def _opened(path: str | None, learner: GateLearner, data: _Labeled, options: dict[str, Any]) -> Any:
    """Return a context with the checkpoint, or with None if no file is given."""
    if path is None:
        return nullcontext()
    parameters = learner.get_params(deep=False)
    settings = {k: v for k, v in parameters.items() if k not in ("kernel", "n_jobs")}
    unlabeled = data.unlabeled if learner.method == "information" else None
    header = {
        "settings": {"kernel": repr(learner.kernel), **settings},
        "vectors_sha256": _file_digest(options["vectors"]),
        "data_sha256": fingerprint(data.labeled),
        "documents_sha256": _digest(data.documents),
        "unlabeled_sha256": None if unlabeled is None else fingerprint(unlabeled),
    }
    return open_checkpoint(path, header)


def _digest(names: list[str] | None) -> str | None:
    return None if names is None else hashlib.sha256(json.dumps(names).encode()).hexdigest()


def _file_digest(path: str | None) -> str | None:
    if path is None:
        return None
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def fingerprint(model: Any) -> str:
    """Return a checksum of the content of anything that can be saved.

    Examples
    --------
    >>> import kernelwood as kw
    >>> kernel = kw.SubsequenceKernel(decay=0.5)
    >>> fingerprint(kernel) == fingerprint(kernel.clone())
    True
    >>> fingerprint(kernel) == fingerprint(kw.SubsequenceKernel(decay=0.6))
    False
    """
    from kernelwood import save

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.kw")
        save(model, path)
        # The manifest has the checksums of all members, and does not depend on compression.
        with zipfile.ZipFile(path) as archive:
            return hashlib.sha256(archive.read("manifest.json")).hexdigest()


# Output.


def _write_outputs(learner: GateLearner, options: dict[str, Any]) -> None:
    from kernelwood import save
    from kernelwood.io import write_text

    if options["out"] is not None:
        save(learner.kernel_, options["out"])
    if options["gates_out"] is not None:
        text = json.dumps(learner.gates_, indent=2, ensure_ascii=False)
        write_text(options["gates_out"], [text, "\n"])
    if options["figure"] is not None:
        learner.report().save_figure(options["figure"])


def _result(learner: GateLearner, data: _Labeled, seconds: float) -> dict[str, Any]:
    return {
        "kernel": repr(learner.kernel),
        "views": list(data.views),
        "n_examples": len(data.labeled),
        "n_unlabeled": 0 if data.unlabeled is None else len(data.unlabeled),
        **data.counts.to_dict(),
        "gates": dict(learner.gates_),
        **learner.report().to_dict(),
        "seconds": round(seconds, 3),
    }


def _show(learner: GateLearner) -> None:
    report = learner.report()
    console = results()
    if not console.is_terminal:  # not cut to the width of a terminal
        say(report)
        return
    from rich.text import Text

    first, *others = report.header()
    table = plain_table(first, *(f">{title}" for title in others))
    for row in report.labels:
        label, *cells = report.cells(row)
        table.add_row(Text(one_name(label)), *cells, style="" if row.ignored else "dim")
    console.print(table)
    console.print(Text(report.note()))
