"""``kernelwood embed``: vectors of structures."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.compared import Compared, read_compared, read_for, refuse
from kernelwood.cli.corpus import file_errors, orderly_end
from kernelwood.cli.examples import Gathered
from kernelwood.cli.maps import map_option, plot_option, save_map
from kernelwood.cli.options import corpus_options, kernel_options, seed_option
from kernelwood.cli.output import jobs_option, json_option, write_json
from kernelwood.cli.outputs import check_outputs, opened, working, write_rows
from kernelwood.cli.tables import show_table
from kernelwood.errors import KernelInputError

if TYPE_CHECKING:
    from kernelwood import NystromEmbedder

__all__ = ["embed"]

_SUFFIXES = (".npz", ".npy", ".csv", ".tsv")
_SAMPLE = 256  # examples that the residual of a saved embedder is measured on
_FITTING = ("landmarks", "selection", "components", "kernel", "decay", "vectors", "similarity")


@click.command()
@click.argument("corpus")
@click.option(
    "-o", "--out", metavar="FILE",
    help="Where vectors go: .npz (ids, labels, vectors), .npy (vectors), .csv or .tsv.",
)  # fmt: skip
@corpus_options
@kernel_options
@click.option(
    "--landmarks", type=click.IntRange(min=1), metavar="N",
    help="How many examples all are compared with. Default: 300.",
)  # fmt: skip
@click.option(
    "--selection", type=click.Choice(["uniform", "kmeans++", "stratified", "leverage"]),
    help="How these are chosen. Default: uniform.",
)  # fmt: skip
@click.option(
    "--components", type=click.IntRange(min=1), metavar="N",
    help="Dimensions to keep. Default: all.",
)  # fmt: skip
@click.option("--model", metavar="FILE", help="Embed with a saved embedder instead of a new one.")
@click.option("--model-out", metavar="FILE", help="Save the embedder (kw.load).")
@plot_option
@map_option
@click.option(
    "--color-by", type=click.Choice(["label", "none"]), default="label", show_default=True,
    help="What the colors of the map stand for.",
)  # fmt: skip
@seed_option
@jobs_option
@json_option
def embed(corpus: str, as_json: bool, **options: Any) -> None:
    """Turn structures into vectors whose products are their similarities.

    CORPUS is a file, a folder, an archive, or - for standard input; or a file of examples written
    by kw.save. Labels are not needed. Vectors are made by the Nyström method: examples are compared
    with a few landmarks among them. With --model they are made as they were for another corpus, so
    that both can be compared.
    """
    started = time.perf_counter()
    with file_errors(), orderly_end():
        _check(corpus, options)
        data, embedder = _prepare(corpus, options)
        if not as_json:
            data.say()
        with working("comparisons", options["n_jobs"]):
            if options["model"] is None:
                embedder.fit(data.structures, _classes(data.read, options))
            vectors = embedder.transform(data.structures)
            residual = _residual(embedder, data, options)
        _write_outputs(embedder, data.read, vectors, options)
    result = {
        "kernel": repr(embedder.kernel_),
        **data.read.counts(),
        "n_landmarks": len(embedder.landmarks_),
        "n_dimensions": embedder.rank_,
        "residual": residual,
        "seed": embedder.seed_,
        "seconds": round(time.perf_counter() - started, 3),
    }
    write_json(result) if as_json else _show(result)


def _check(corpus: str, options: dict[str, Any]) -> None:
    outputs = {"--out": "out", "--model-out": "model_out", "--plot": "plot"}
    if all(options[name] is None for name in outputs.values()):
        raise click.UsageError(f"nothing would be written; give one of {', '.join(outputs)}")
    if options["model"] is not None:
        refuse(options, (*_FITTING, "model_out"), f"the embedder is in {options['model']}")
    check_outputs(
        {"CORPUS": corpus, "--model": options["model"]},
        {flag: options[name] for flag, name in outputs.items()},
        figure="--plot",
        suffixes={"--out": _SUFFIXES},
    )


def _prepare(corpus: str, options: dict[str, Any]) -> tuple[Compared, NystromEmbedder]:
    """Return what is embedded, and an embedder, which is fitted if it was saved."""
    from kernelwood import NystromEmbedder, load

    if options["model"] is None:
        data = read_compared(corpus, options)
        asked = {
            "n_landmarks": options["landmarks"],
            "selection": options["selection"],
            "n_components": options["components"],
        }
        given = {name: value for name, value in asked.items() if value is not None}
        return data, NystromEmbedder(data.kernel, random_state=options["seed"], **given)
    embedder = load(options["model"])
    if not isinstance(embedder, NystromEmbedder):
        raise KernelInputError(
            f"{options['model']} holds a {type(embedder).__name__}, which is no embedder; "
            "kernelwood embed --model-out writes one"
        )
    return read_for(embedder.kernel_, corpus, options, owner=options["model"]), embedder


def _classes(read: Gathered, options: dict[str, Any]) -> list[str] | None:
    if options["selection"] != "stratified":
        return None
    classes = [label for label in read.labels() if label is not None]
    if len(classes) < len(read.examples):
        missing = len(read.examples) - len(classes)
        raise KernelInputError(
            f"--selection stratified chooses from each class, but {missing:,} of "
            f"{len(read.examples):,} examples have no label"
        )
    return classes


def _residual(embedder: NystromEmbedder, data: Compared, options: dict[str, Any]) -> float:
    """Return what vectors miss of these examples, on average."""
    if options["model"] is None:
        return embedder.residual_
    step = -(-len(data.read.examples) // _SAMPLE)
    return float(embedder.residual(data.structures[::step]).mean())


def _write_outputs(
    embedder: NystromEmbedder, read: Gathered, vectors: Any, options: dict[str, Any]
) -> None:
    from kernelwood import save

    if options["out"] is not None:
        _write_vectors(options["out"], read, vectors)
    if options["model_out"] is not None:
        save(embedder, options["model_out"])
    if options["plot"] is not None:
        labels = read.labels()
        colored = options["color_by"] == "label" and any(label is not None for label in labels)
        save_map(
            options["plot"],
            vectors,
            labels if colored else None,
            method=options["map_method"],
            seed=options["seed"],
            title=f"{len(read.examples):,} examples by {', '.join(read.views)}",
        )


def _write_vectors(path: str, read: Gathered, vectors: Any) -> None:
    import numpy as np

    suffix = Path(path).suffix.lower()
    ids = [example.id for example in read.examples]
    labels = [label or "" for label in read.labels()]
    if suffix in (".csv", ".tsv"):
        titles = ["id", "label", *(f"v{number}" for number in range(vectors.shape[1]))]
        write_rows(path, titles, _rows(ids, labels, vectors))
        return
    with opened(path) as file:
        if suffix == ".npy":
            np.save(file, vectors, allow_pickle=False)
        else:
            names, classes = np.array(ids, dtype=str), np.array(labels, dtype=str)
            np.savez(file, ids=names, labels=classes, vectors=vectors)


def _rows(ids: list[str], labels: list[str], vectors: Any) -> Iterator[list[Any]]:
    for identifier, label, vector in zip(ids, labels, vectors, strict=True):
        yield [identifier, label, *vector.tolist()]


def _show(result: dict[str, Any]) -> None:
    cells = [
        f"{result['n_examples']:,}",
        f"{result['n_landmarks']:,}",
        f"{result['n_dimensions']:,}",
        f"{result['residual']:.4f}",
        f"{result['seconds']:.1f}",
    ]
    show_table([">examples", ">landmarks", ">dimensions", ">residual", ">seconds"], [cells])
