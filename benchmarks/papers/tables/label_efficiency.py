"""F1 by number of labeled candidates: recipes of the extractor, and logistic regressions."""

from __future__ import annotations

from typing import Any

from tables import Row, Table

CORPORA = {
    "aimed": "AIMed",
    "bioinfer": "BioInfer",
    "semeval": "SemEval-2010 task 8",
    "bionlp": "BioNLP 2009",
}
RECIPES = ("svm", "ridge", "klsh-rf", "nystrom")
CONSTANT = "all"  # predicts one relation everywhere


def rows(found: list[dict[str, Any]]) -> list[Row]:
    """Return a row for the difference to the best other method, and one for each method."""
    made = []
    for corpus in dict.fromkeys(row["corpus"] for row in found):
        mine = [row for row in found if row["corpus"] == corpus]
        sizes = list(dict.fromkeys(row["labels"] for row in mine))
        measure = f"{mine[0]['measure']} with {' / '.join(f'{size:,}' for size in sizes)} labels"
        best = [best_of(mine, size) for size in sizes]
        if all(ours and others for ours, others in best):
            cells = [f"{ours - others:+.3f}" for ours, others in best if ours and others]
            name = f"{CORPORA[corpus]}, best recipe minus best other method"
            made.append(Row(name, measure, " / ".join(cells), headline=True))
        for method in dict.fromkeys(row["method"] for row in mine):
            cells = [cell(row) for row in mine if row["method"] == method]
            made.append(Row(f"{CORPORA[corpus]}, {method}", measure, " / ".join(cells)))
    return made


def cell(row: dict[str, Any]) -> str:
    """Return a mean with its interval."""
    spread = "" if row["interval"] is None else f" ± {row['interval']:.3f}"
    return f"{row['f1']:.3f}{spread}"


def best_of(found: list[dict[str, Any]], size: int) -> tuple[float | None, float | None]:
    """Return the best F1 of the recipes and of the other methods."""
    some = [row for row in found if row["labels"] == size and row["method"] != CONSTANT]
    ours = [row["f1"] for row in some if row["method"] in RECIPES]
    others = [row["f1"] for row in some if row["method"] not in RECIPES]
    return max(ours, default=None), max(others, default=None)


TABLE = Table(
    name="label-efficiency",
    paper="",
    number="",
    topic="F1 by number of labeled candidates",
    program="../label_efficiency.py",
    arguments=(),
    data=(
        "ppi/AImed-learning-format.xml.gz",
        "ppi/BioInfer-learning-format.xml.gz",
        "semeval2010-task8/TRAIN_FILE.TXT.gz",
        "bionlp-st/bionlp-st-2009.tar.gz",
        "word-vectors/glove.6B.100d.subset.txt.gz",
    ),
    protocol=(
        "30 % of the documents are held out; labels are the first candidates of the others in "
        "random order, smaller samples within larger ones; three seeds, 95 % t interval. Every "
        "method uses its sample only, and sets threshold and regularization by five folds of it. "
        "AIMed, BioInfer: pairs of proteins; SemEval: training part, official macro F1 with "
        "directions; BioNLP: pairs of a given event trigger and a protein. `all` predicts the most "
        "frequent relation for every candidate. `minilm` is left out if it is not installed. The "
        "best of several methods is chosen by the figures shown, on both sides."
    ),
    rows=rows,
    page="experiments/label-efficiency.md",
)
