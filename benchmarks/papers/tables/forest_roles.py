"""Table 1 of Zhang, Zhang and Li 2010: semantic role labeling, tree against forest."""

from __future__ import annotations

from typing import Any

from tables import Row, Table

# CoNLL-2005, trained on sections 02-05 of the Wall Street Journal.
PUBLISHED = {
    "tree": {"precision": 0.7602, "recall": 0.6738, "f1": 0.7144, "no_constituent": 0.0978},
    "forest": {
        "precision": 0.7906,
        "recall": 0.6912,
        "f1": 0.7376,
        "no_constituent": 0.0131,
        "no_candidate": 0.031,
        "constituents": 5.6,
        "candidates": 1.31,
    },
}
RATES = ("precision", "recall", "f1")


def rows(result: Any) -> list[Row]:
    """Return the rates of both settings, and the tests of their difference."""
    made = [
        Row(
            setting,
            f"{'F1' if rate == 'f1' else rate}, %",
            f"{100 * result[setting][rate]:.2f}",
            f"{100 * PUBLISHED[setting][rate]:.2f} (CoNLL-2005)",
            headline=rate == "f1",
        )
        for setting in ("tree", "forest")
        for rate in RATES
    ]
    gap = 100 * (result["forest"]["f1"] - result["tree"]["f1"])
    p = result["randomization_p"]
    ours = f"{gap:+.2f} (p = {p:.4f})"
    published = "+2.32 (p < 0.01, CoNLL-2005)"
    return [*made, Row("forest against tree", "difference of F1", ours, published, headline=True)]


TABLE = Table(
    name="forest_roles",
    paper="forests",
    number="Table 1",
    topic="semantic role labeling with forests",
    program="forest_roles.py",
    arguments=("--ignore-probability",),
    data=("srl-propbank",),
    protocol=(
        "Exact spans with roles, on all gold arguments of the development part of PropBank "
        "on the English Web Treebank; 1,500 training predicates; settings chosen on held-out "
        "training sentences; p by randomization over predicates. Candidates and kernel come from "
        "the forest, and probabilities of candidates are ignored, as in the paper. The paper has "
        "CoNLL-2005 (newswire), a lexicalized parser and a chi-square test."
    ),
    rows=rows,
    page="experiments/forest-roles.md",
)
