"""Kernel-based networks and linear models on Nyström vectors, by the number of landmarks."""

from __future__ import annotations

from typing import Any

from tables import Row, Table

# Of KeLP's linear model on vectors with random landmarks, measured with the KeLP software.
KELP = {
    ("PTK", 100): "77", ("PTK", 200): "83", ("PTK", 500): "86",
    ("SPTK", 100): "81", ("SPTK", 200): "87", ("SPTK", 500): "90",
}  # fmt: skip


def rows(found: Any) -> list[Row]:
    """Return the accuracy of networks, linear models and exact machines."""
    made = []
    for row in found["curve"]:
        kernel, size = row["kernel"], row["landmarks"]
        headline = (kernel, size) == ("SPTK", 500)
        made += [
            Row(
                f"{kernel}, {size} landmarks, network", "accuracy, %", row["network"],
                headline=headline,
            ),
            Row(
                f"{kernel}, {size} landmarks, linear SVM", "accuracy, %", row["linear SVM"],
                f"{KELP[kernel, size]} (KeLP)" if (kernel, size) in KELP else "",
            ),
        ]  # fmt: skip
    exact = {row["kernel"]: _exact(row) for row in found["curve"]}
    return made + [
        Row(f"{kernel}, exact `KernelSVC`", "accuracy, %", f"{value:.1f}")
        for kernel, value in exact.items()
    ]


def _exact(row: Any) -> float:
    return next(float(value) for name, value in row.items() if name.startswith("exact"))


TABLE = Table(
    name="question-networks",
    paper="",
    number="",
    topic="networks on Nyström vectors, question classification",
    program="../embeddings.py",
    arguments=("--parts", "curve"),
    data=("question-classification", "word-vectors/qc-standin-250.txt.gz"),
    protocol=(
        "Six classes learned from 5,452 questions, accuracy on the 500 of TREC 10, mean and "
        "deviation over three choices of landmarks. A network is the kernel-based deep "
        'architecture of Croce et al. ("Deep learning in semantic kernel spaces", ACL 2017; '
        "`KernelNetworkClassifier`): its first layer is the "
        "Nyström projection. The paper on sentence embeddings cites it without an accuracy, so "
        "this table has no published figures of networks. All settings were chosen on held-out "
        "parts of the 5,452 (`--parts choice`). KeLP's figures are of its linear model with random "
        "landmarks. The terminal factor is 5; `C` of exact machines was chosen for PTK only."
    ),
    rows=rows,
    page="experiments/embeddings.md",
)
