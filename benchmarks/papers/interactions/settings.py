"""The settings of the paper, those that were tried, and what each training corpus chose.

Chosen from `GRIDS` by F1 on held-out documents of the training corpus; see ``ppi.py --choose``.
"""

from __future__ import annotations

from typing import Any

from interactions.experiment import Settings

__all__ = ["CHOSEN", "GRIDS", "PAPER", "settings_of"]

# KLSH-RF as published: 100 references, 1000 bits by maximum margins, 250 trees of 30 bits, which
# are the defaults. Few bits make large buckets.
PAPER = {
    "KLSH-kNN": Settings("KLSH-kNN", "path", {"n_bits": 4}),
    "KLSH-RF": Settings("KLSH-RF", "path"),
    "SVM": Settings("SVM", "path"),
}

# Fewer, larger leaves on more bits, of boundaries between more references.
FOREST: dict[str, Any] = {"n_references": 300, "bits_per_tree": 100, "min_samples_leaf": 5}
BROAD = FOREST | {"subset_size": 50}
NEIGHBORS: dict[str, Any] = {"n_bits": 4, "n_neighbors": 16}

GRIDS: dict[str, list[Settings]] = {
    "KLSH-kNN": [
        Settings("KLSH-kNN", "steps", NEIGHBORS),
        Settings("KLSH-kNN", "context+steps", {"n_bits": 4}),
        Settings("KLSH-kNN", "context+steps", NEIGHBORS),
    ],
    "KLSH-RF": [
        Settings("KLSH-RF", "path", BROAD),
        Settings("KLSH-RF", "steps", FOREST),
        Settings("KLSH-RF", "steps", BROAD),
        Settings("KLSH-RF", "context+steps", FOREST),
        Settings("KLSH-RF", "context+steps", BROAD),
        Settings("KLSH-RF", "context+steps+tree", BROAD),
    ],
    "SVM": [
        Settings("SVM", "context+steps", {"C": 3.0}),
        Settings("SVM", "context+steps+tree", {"C": 3.0}),
    ],
}

CHOSEN = {
    ("KLSH-kNN", "AIMed"): Settings("KLSH-kNN", "context+steps", NEIGHBORS),
    ("KLSH-kNN", "BioInfer"): Settings("KLSH-kNN", "context+steps", NEIGHBORS),
    ("KLSH-RF", "AIMed"): Settings("KLSH-RF", "context+steps", BROAD),
    ("KLSH-RF", "BioInfer"): Settings("KLSH-RF", "context+steps+tree", BROAD),
    ("SVM", "AIMed"): Settings("SVM", "context+steps", {"C": 3.0}),
    ("SVM", "BioInfer"): Settings("SVM", "context+steps", {"C": 3.0}),
}


def settings_of(model: str, kernel: str, training: str) -> Settings:
    """Return the settings of a model: as published, or as its training corpus chose."""
    return PAPER[model] if kernel == "path" else CHOSEN[model, training]
