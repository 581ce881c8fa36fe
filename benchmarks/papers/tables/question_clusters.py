"""Clusters of questions: purity by the number of clusters (figure 5)."""

from __future__ import annotations

from typing import Any

from tables import Row, Table

BAG = "bag of words"


def rows(found: Any) -> list[Row]:
    """Return the purity of each method and number of clusters, and the differences in question."""
    curve = next(table for title, table in found.items() if "purity" in title)
    methods = [name for name in curve[0] if name not in ("K", BAG)]
    exact = [name for name in methods if "CSPTK" in name]
    vectors = [name for name in methods if name not in exact]
    made = [
        Row(
            f"{name} against bag of words, every K",
            "purity, lowest to highest difference, points",
            _range([_mean(row[name]) - _mean(row[BAG]) for row in curve]),
            "above (plot without numbers)",
            headline=True,
        )
        for name in exact
    ]
    made += [
        Row(
            f"{approximate} against {kernel}, every K",
            "purity, lowest to highest difference, points",
            _range([_mean(row[approximate]) - _mean(row[kernel]) for row in curve]),
            "overlap (plot without numbers)",
        )
        for approximate, kernel in zip(vectors, exact, strict=True)
    ]
    return made + [
        Row(f"{name}, K = {row['K']}", "purity, %", row[name])
        for row in curve
        for name in (BAG, *methods)
    ]


def _mean(cell: str) -> float:
    return float(cell.split(" ± ")[0])


def _range(values: list[float]) -> str:
    return f"{min(values):+.1f} to {max(values):+.1f}"


TABLE = Table(
    name="question-clusters",
    paper="embeddings",
    number="Figure 5",
    topic="clusters of questions",
    program="embeddings.py",
    arguments=("--parts", "clustering"),
    data=("question-classification", "word-vectors/qc-standin-250.txt.gz"),
    protocol=(
        "The 5,452 questions of the training part, clustered without their classes; purity in six "
        "classes, mean and deviation over five seeds, each the best of four starts by its own "
        "inertia. As in the paper: bags of words of KeLP in Euclidean k-means, CSPTK on `cgrct` in "
        "kernel k-means, and 500 random Nyström landmarks. Different: vectors of lemmas replace "
        "those of the paper. The paper states no terminal factor: 1 is the default here; 5 was "
        "added after the figures of 1 were known. The paper has a plot without numbers."
    ),
    rows=rows,
    page="experiments/embeddings.md",
)
