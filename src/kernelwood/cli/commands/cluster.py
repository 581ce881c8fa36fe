"""``kernelwood cluster``."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import running, say, show_table, write_json
from kernelwood.cli.model_files import Compared, read_compared
from kernelwood.cli.options import (
    corpus_options,
    exclusive,
    jobs_option,
    json_option,
    kernel_options,
    plot_options,
    seed_option,
)
from kernelwood.cli.outputs import ROWS, check_files, compared_files, save_map, write_rows
from kernelwood.errors import KernelInputError
from kernelwood.structures import shorten

if TYPE_CHECKING:
    from kernelwood.clustering import ClusterDescription, KernelKMeans
    from kernelwood.evaluate import ClusterScores

_EXACT = 5000  # number of examples up to which all pairs are compared by default
_LANDMARKS = 300
_NO_LABEL = "(no label)"
_CLASSES, _FRAGMENTS = 3, 3  # shown of each cluster
_WIDTH = 48  # of a text in the table
_NAMED = 12  # medoids with a text on the map


@click.command()
@click.argument("corpus")
@click.option(
    "-k", "--clusters", "n_clusters", type=click.IntRange(min=1), required=True, metavar="K",
    help="Number of clusters.",
)  # fmt: skip
@corpus_options
@kernel_options
@click.option("--exact", is_flag=True, help="Compare all pairs of examples.")
@click.option(
    "--landmarks", type=click.IntRange(min=1), metavar="N",
    show_default=f"exact up to {_EXACT:,} examples, {_LANDMARKS} landmarks above",
    help="Cluster Nyström vectors with this number of landmarks.",
)  # fmt: skip
@click.option(
    "--restarts", type=click.IntRange(min=1), metavar="N", default=4,
    help="Number of initializations; the best result is kept.",
)  # fmt: skip
@click.option(
    "-o", "--out", metavar="FILE", help="Output file of assignments (.tsv, .csv or .jsonl)."
)
@click.option("--model-out", metavar="FILE", help="Output file of the fitted model.")
@plot_options
@click.option(
    "--color-by", type=click.Choice(["cluster", "label"]), default="cluster",
    help="Color of the points on the map.",
)  # fmt: skip
@seed_option
@jobs_option
@json_option
def cluster(corpus: str, as_json: bool, **options: Any) -> None:
    """Cluster structures by kernel k-means.

    CORPUS is a file, folder or archive, - for standard input, or a file of kw.save with examples.
    The result lists the medoid of each cluster and the fragments that it shares with its
    neighbors. If examples have labels, clusters are compared with the classes.
    """
    started = time.perf_counter()
    exclusive(options, "exact", "landmarks")
    outputs = ("out", "model_out", "plot")
    check_files(
        compared_files(corpus, options),
        {f"--{name.replace('_', '-')}": options[name] for name in outputs},
        figure="--plot",
        suffixes={"--out": ROWS},
    )
    data = read_compared(corpus, options)
    if not as_json:
        data.show()
    with running(options["n_jobs"]) as begin:
        begin("clustering")
        found = _find(data, options)
    _write_outputs(found, options)
    result = found.to_dict() | {"seconds": round(time.perf_counter() - started, 3)}
    write_json(result) if as_json else _show(result)


@dataclass(frozen=True)
class _Found:
    """Clusters with descriptions, and their agreement with the classes if there are any."""

    data: Compared
    model: KernelKMeans
    descriptions: list[ClusterDescription]
    texts: list[str]
    labels: list[str | None]
    scores: ClusterScores | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        embedder = self.model.embedder_
        return {
            "kernel": repr(self.model.kernel_),
            **self.data.read.to_dict(),
            "n_clusters": len(self.descriptions),
            "n_landmarks": None if embedder is None else len(embedder.landmarks_),
            "inertia": self.model.inertia_,
            "scores": None if self.scores is None else self.scores.to_dict(),
            "clusters": [self._row(description) for description in self.descriptions],
            "seed": self.model.seed_,
        }

    def _row(self, description: ClusterDescription) -> dict[str, Any]:
        medoid = description.medoid_indices[0]
        row = {
            "cluster": description.number,
            "size": description.size,
            "medoid": self.data.read.examples[medoid].id,
            "text": self.texts[medoid],
            "fragments": [fragment.to_dict() for fragment in description.fragments],
            "note": description.note,
        }
        if self.scores is None or description.classes is None:
            return row
        classes = {str(name): count for name, count in description.classes.items()}
        known = Counter({name: n for name, n in classes.items() if name != _NO_LABEL})
        purity = max(known.values()) / known.total() if known else None
        return row | {"classes": classes, "purity": purity}


def _find(data: Compared, options: dict[str, Any]) -> _Found:
    from kernelwood import NystromEmbedder
    from kernelwood.clustering import KernelKMeans
    from kernelwood.evaluate import cluster_scores

    n, wanted, landmarks = len(data.read.examples), options["n_clusters"], options["landmarks"]
    if wanted > n:
        raise KernelInputError(f"-k {wanted} is more than the number of examples, {n:,}; reduce it")
    if landmarks is None and not options["exact"] and n > _EXACT:
        landmarks = _LANDMARKS
    embedder = None
    if landmarks is not None:
        embedder = NystromEmbedder(data.kernel, n_landmarks=landmarks)
    model = KernelKMeans(
        wanted,
        data.kernel,
        embedder=embedder,
        n_init=options["restarts"],
        random_state=options["seed"],
    ).fit(data.structures)
    labels = data.read.labels()
    known = [number for number, label in enumerate(labels) if label is not None]
    scores = classes = None
    if known:
        scores = cluster_scores([labels[n] for n in known], model.labels_[known].tolist())
        classes = [_NO_LABEL if label is None else label for label in labels]
    described = model.describe(classes, n_medoids=1, n_fragments=_FRAGMENTS)
    return _Found(data, model, described, data.read.texts(), labels, scores)


def _write_outputs(found: _Found, options: dict[str, Any]) -> None:
    from kernelwood import save

    if options["out"] is not None:
        medoids = set(found.model.medoid_indices_.tolist())
        rows = zip(
            (example.id for example in found.data.read.examples),
            found.model.labels_.tolist(),
            (number in medoids for number in range(len(found.texts))),
            found.labels,
            found.texts,
            strict=True,
        )
        write_rows(options["out"], ["id", "cluster", "medoid", "label", "text"], rows)
    if options["model_out"] is not None:
        save(found.model, options["model_out"])
    if options["plot"] is not None:
        _draw(found, options)


def _draw(found: _Found, options: dict[str, Any]) -> None:
    from kernelwood import NystromEmbedder

    structures = found.data.structures
    with running(options["n_jobs"]) as begin:
        begin("embedding")
        embedder = found.model.embedder_
        if embedder is None:
            embedder = NystromEmbedder(found.model.kernel_, random_state=options["seed"])
            embedder.fit(structures)
        vectors = embedder.transform(structures)
    by_cluster = options["color_by"] == "cluster" or found.scores is None
    medoids = found.model.medoid_indices_.tolist()[:_NAMED]
    save_map(
        vectors,
        [f"cluster {n}" for n in found.model.labels_.tolist()] if by_cluster else found.labels,
        options,
        title=f"{len(found.texts):,} examples in {len(found.descriptions):,} clusters",
        texts={medoid: found.texts[medoid] for medoid in medoids},
    )


def _show(result: dict[str, Any]) -> None:
    labeled = result["scores"] is not None
    titles = [">cluster", ">size", *([">purity", "classes"] if labeled else [])]
    rows = [
        [
            str(row["cluster"]),
            f"{row['size']:,}",
            *([_purity(row["purity"]), _class_text(row["classes"])] if labeled else []),
            shorten(row["text"], _WIDTH),
            shorten(_shared(row["fragments"]), _WIDTH),
        ]
        for row in result["clusters"]
    ]
    show_table([*titles, "medoid", "fragments shared with neighbors"], rows)
    if labeled:
        scores = result["scores"]
        say(
            f"\npurity {scores['purity']:.3f}, NMI {scores['nmi']:.3f}, ARI {scores['ari']:.3f} "
            f"for {scores['n_classes']:,} classes"
        )


def _purity(purity: float | None) -> str:
    return "" if purity is None else f"{purity:.2f}"


def _class_text(classes: dict[str, int]) -> str:
    shown = [f"{shorten(name, 20)} {count:,}" for name, count in classes.items()]
    more = [f"{len(shown) - _CLASSES} more"] if len(shown) > _CLASSES else []
    return ", ".join(shown[:_CLASSES] + more)


def _shared(fragments: list[dict[str, Any]]) -> str:
    return "; ".join(" ".join(fragment["text"].split()) for fragment in fragments)
