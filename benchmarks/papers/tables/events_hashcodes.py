"""Table 2 of the paper on hashcodes, and table 3(d) of that on nonstationary kernels: BioNLP."""

from __future__ import annotations

from typing import Any

from tables import Row, Table

# F1 (precision, recall) of column BioNLP; the paper learns the parameters of the kernel.
PUBLISHED = {
    ("SVM", "plain", "random"): ".46 (.35, .67)",
    ("KLSH-kNN", "plain", "random"): ".60 (.63, .57)",
    ("KLSH-RF", "information", "random"): ".63 (.78, .53)",
}
PUBLISHED_3D = {
    ("hashed", "plain"): ".602 (.622, .583)",
    ("hashed", "neighbors"): ".624 (.652, .598)",
}
_HEADLINES = {("KLSH-kNN", "plain"), ("KLSH-RF", "information"), ("KLSH-RF", "plain")}
_LEARNED = {
    "plain": "",
    "neighbors": ", gates by neighbors",
    "information": ", gates and decay by information",
}


def _row(row: dict[str, Any]) -> Row:
    deviation = f" ± {row['f1_deviation']:.3f}" if row["n"] > 1 else ""
    ours = f"{row['f1']:.3f}{deviation} ({row['precision']:.3f}, {row['recall']:.3f})"
    model = row["model"]
    if row["table"].startswith("nonstationary"):
        published = PUBLISHED_3D.get((model, row["kernel"]), "")
        model = f"k-NN, {model} (nonstationary kernels, table 3(d))"
    else:
        published = PUBLISHED.get((model, row["kernel"], row["references"]), "")
    if row["part"] == "svm":
        model += f", {row['trained_on']:,} training candidates"
    references = ", learned references" if row["references"] == "learned" else ""
    return Row(
        f"{model}{_LEARNED[row['kernel']]}{references}",
        "F1 (P, R)",
        ours,
        published,
        headline=(row["model"], row["kernel"]) in _HEADLINES and not references,
    )


def rows(result: dict[str, Any]) -> list[Row]:
    """Return the rows of the table, and those on repeated documents."""
    made = [_row(row) for row in result["rows"]]
    for found in result["shared"]:
        name = f"{found['test']}, of {', '.join(found['training'])}"
        for key in ("equal_documents", "equal_sentences", "near_sentences"):
            kind = "documents" if key == "equal_documents" else "sentences"
            ours = f"{found[key]:,} of {found[kind]:,}"
            made.append(Row(f"repeated in {name}", key.replace("_", " "), ours))
    return made


TABLE = Table(
    name="events-hashcodes",
    paper="hashcodes",
    number="Table 2",
    topic="events of BioNLP by hashcodes",
    program="events.py",
    arguments=("--protocol", "task", "--trials", "3"),
    data=("bionlp-st/bionlp-st-2009.tar.gz", "bionlp-st/bionlp-st-2013-ge.tar.gz"),
    protocol=(
        "Trained on 2009 train and devel and 2013 train, tested on 2013 devel; all candidates, "
        "triggers and proteins as annotated. M = 100, H = 1000, R = 250, η = 30, α = 2, bits by "
        "maximum margin; k-NN with 14 bits and 8 neighbors; the prediction of the classifier, "
        "without a tuned threshold. Differences: dependency paths instead of AMR; no BioNLP 2011; "
        "exact words instead of word vectors; three sets of references instead of ten."
    ),
    rows=rows,
    page="experiments/events.md",
)
