"""``kernelwood embed``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import running, show_table, write_json
from kernelwood.cli.corpora import ExampleList
from kernelwood.cli.model_files import Compared, load_model, read_compared, read_for
from kernelwood.cli.options import (
    corpus_options,
    jobs_option,
    json_option,
    kernel_options,
    plot_options,
    refuse,
    resume_option,
    seed_option,
)
from kernelwood.cli.outputs import check_files, compared_files, save_map
from kernelwood.errors import KernelInputError

if TYPE_CHECKING:
    from kernelwood import NystromEmbedder

_SUFFIXES = (".npz", ".npy", ".csv", ".tsv", ".parquet")
_SAMPLE = 256  # examples used to measure the residual of a saved embedder
_FITTING = ("landmarks", "selection", "components", "kernel", "decay", "vectors", "similarity")


@click.command()
@click.argument("corpus")
@click.option(
    "-o", "--out", metavar="FILE",
    help="Output file: .npz (ids, labels, vectors), .npy, .csv, .tsv or .parquet.",
)  # fmt: skip
@corpus_options
@kernel_options
@click.option(
    "--landmarks", type=click.IntRange(min=1), metavar="N", show_default="300",
    help="Number of landmarks.",
)  # fmt: skip
@click.option(
    "--selection", type=click.Choice(["uniform", "kmeans++", "stratified", "balanced", "leverage"]),
    show_default="uniform", help="Landmark selection.",
)  # fmt: skip
@click.option(
    "--components", type=click.IntRange(min=1), metavar="N", show_default="all",
    help="Number of dimensions to keep.",
)  # fmt: skip
@click.option("--model", metavar="FILE", help="Use a saved embedder instead of fitting one.")
@click.option("--model-out", metavar="FILE", help="Output file of the fitted embedder.")
@plot_options
@click.option(
    "--color-by", type=click.Choice(["label", "none"]), default="label",
    help="Color of the points on the map.",
)  # fmt: skip
@seed_option
@resume_option
@jobs_option
@json_option
def embed(corpus: str, as_json: bool, **options: Any) -> None:
    """Compute vectors of structures by the Nyström method.

    CORPUS is a file, folder or archive, - for standard input, or a file of kw.save with examples;
    labels are optional. The dot product of two vectors approximates the kernel. With --model the
    vectors of several corpora are comparable; with --resume, too, a run that was interrupted
    continues.
    """
    started = time.perf_counter()
    if options["resume"]:
        refuse(options, ("plot",), "--resume writes vectors only")
    _check(corpus, options)
    if options["resume"]:
        from kernelwood.cli.planned import run_resumed

        run_resumed("embed", {"corpus": corpus, **options}, as_json=as_json)
        return
    data, embedder = _prepare(corpus, options)
    if not as_json:
        data.show()
    with running(options["n_jobs"]) as begin:
        begin("embedding")
        if options["model"] is None:
            embedder.fit(data.structures, _classes(data.read, options))
        vectors = embedder.transform(data.structures)
        residual = _residual(embedder, data, options)
    _write_outputs(embedder, data.read, vectors, options)
    result = {
        "kernel": repr(embedder.kernel_),
        **data.read.to_dict(),
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
        raise click.UsageError(f"no output is requested; give one of {', '.join(outputs)}")
    if options["model"] is not None:
        refuse(options, (*_FITTING, "model_out"), f"the embedder is in {options['model']}")
    check_files(
        {**compared_files(corpus, options), "--model": options["model"]},
        {flag: options[name] for flag, name in outputs.items()},
        figure="--plot",
        suffixes={"--out": _SUFFIXES},
    )
    if options["out"] is not None and Path(options["out"]).suffix.lower() == ".parquet":
        from kernelwood.io import check_parquet

        check_parquet(options["out"])


def _prepare(corpus: str, options: dict[str, Any]) -> tuple[Compared, NystromEmbedder]:
    """Return the examples and the embedder, which is fitted if it was saved."""
    from kernelwood import NystromEmbedder

    if options["model"] is None:
        data = read_compared(corpus, options)
        asked = {
            "n_landmarks": options["landmarks"],
            "selection": options["selection"],
            "n_components": options["components"],
        }
        given = {name: value for name, value in asked.items() if value is not None}
        return data, NystromEmbedder(data.kernel, random_state=options["seed"], **given)
    command = "embed --model-out"
    embedder = load_model(options["model"], NystromEmbedder, "an embedder", command)
    return read_for(embedder.kernel_, corpus, options, owner=options["model"]), embedder


def _classes(read: ExampleList, options: dict[str, Any]) -> list[str] | None:
    from kernelwood.features import BY_CLASS

    if options["selection"] not in BY_CLASS:
        return None
    classes = [label for label in read.labels() if label is not None]
    if len(classes) < len(read.examples):
        missing = len(read.examples) - len(classes)
        raise KernelInputError(
            f"--selection {options['selection']} needs labels, but {missing:,} of "
            f"{len(read.examples):,} examples have no label"
        )
    return classes


def _residual(embedder: NystromEmbedder, data: Compared, options: dict[str, Any]) -> float:
    """Return the mean residual of the examples."""
    if options["model"] is None:
        return embedder.residual_
    step = -(-len(data.read.examples) // _SAMPLE)
    return float(embedder.residual(data.structures[::step]).mean())


def _write_outputs(
    embedder: NystromEmbedder, read: ExampleList, vectors: Any, options: dict[str, Any]
) -> None:
    from kernelwood import save
    from kernelwood.scale import write_vector_file

    if options["out"] is not None:
        ids = [example.id for example in read.examples]
        write_vector_file(options["out"], ids, read.labels(), vectors)
    if options["model_out"] is not None:
        save(embedder, options["model_out"])
    if options["plot"] is not None:
        labels = read.labels()
        colored = options["color_by"] == "label" and any(label is not None for label in labels)
        save_map(
            vectors,
            labels if colored else None,
            options,
            title=f"{len(read.examples):,} examples by {', '.join(read.views)}",
        )


def _show(result: dict[str, Any]) -> None:
    cells = [
        f"{result['n_examples']:,}",
        f"{result['n_landmarks']:,}",
        f"{result['n_dimensions']:,}",
        f"{result['residual']:.4f}",
        f"{result['seconds']:.1f}",
    ]
    show_table([">examples", ">landmarks", ">dimensions", ">residual", ">seconds"], [cells])
