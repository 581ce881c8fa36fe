"""Learned gates on dependency paths, beside figures of Garg et al. 2018 on other data."""

from __future__ import annotations

from math import isnan
from typing import Any

from gate_models.summaries import summarize

from tables import Row, Table

# Table 2(a) and table 6 of the paper: F1 in percent on BioNLP (100 %).
PUBLISHED = {
    ("KLSH-kNN", "plain"): "BioNLP, PK with hashing: 42.4",
    ("KLSH-kNN", "paper"): "BioNLP, NPK with hashing: 47.2",
    ("k-NN", "plain"): "BioNLP, PK without hashing: 47.3",
}
PUBLISHED_GAIN = "BioNLP: +4.8"
HEADLINES = {("KLSH-kNN", "paper")}


def rows(found: list[dict[str, Any]]) -> list[Row]:
    """Return F1 of each corpus, model and variant, and its difference to the plain kernel."""
    made = []
    for corpus in dict.fromkeys(row["corpus"] for row in found):
        for one in summarize([row for row in found if row["corpus"] == corpus]):
            key = one["model"], one["gates"]
            gates = "no gates" if one["gates"] == "plain" else f"gates by `{one['gates']}`"
            setting = f"{corpus}, {one['model']}, {gates}"
            published = PUBLISHED.get(key, "")
            made.append(Row(setting, "F1, %", f"{100 * one['f1']:.1f}", published))
            if one["gates"] == "plain":
                continue
            gain, half = 100 * one["f1_difference"], 100 * one["f1_interval"]
            spread = "" if isnan(half) else f" ± {half:.1f}"  # nan of a single seed
            published = PUBLISHED_GAIN if key in HEADLINES else ""
            made.append(
                Row(
                    setting, "gain of F1, points", f"{gain:+.1f}{spread}", published,
                    headline=key in HEADLINES,
                )
            )  # fmt: skip
    return made


TABLE = Table(
    name="gates-paths",
    paper="nonstationary",
    number="Tables 2(a) and 6",
    topic="learned gates, on other data than the paper's",
    program="gates.py",
    arguments=(
        "--models", "k-NN", "KLSH-kNN", "KLSH-RF", "--variants", "plain", "votes", "paper",
    ),
    data=(
        "ppi/AImed-learning-format.xml.gz",
        "ppi/BioInfer-learning-format.xml.gz",
        "semeval2010-task8/task8_train.stanford_sdp.jsonl.gz",
    ),
    protocol=(
        "**Other data than the paper's, so the columns are not comparable**: the paper has paths "
        "in AMR graphs of BioNLP and PubMed45, unique tuples, random halves of paths; here they "
        "are dependency paths of AIMed, BioInfer and the training part of SemEval-2010 task 8, "
        "in random halves of documents, each half used both ways, five seeds. Gates, classifier "
        "and threshold are learned on one half. `paper` is the loss of the paper, `votes` our "
        "own. F1 of pairs that interact; of SemEval the mean of 17 directed relations. Intervals: "
        "95 %, t distribution over seeds. The losses were not developed independently of these "
        "corpora; see the page."
    ),
    rows=rows,
    page="experiments/gates.md",
)  # fmt: skip
