"""Which models are tried within a training corpus, and which are tested on the other corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from interactions.experiment import Laboratory
from interactions.filters import RULES
from interactions.models import Model
from interactions.representation import GRAPHS, described_names

__all__ = ["GRIDS", "GROUPS", "PAPER", "Choices", "choose", "planned", "rows"]

GROUPS = (
    "recipes",
    "models of the paper",
    "kernel as described",
    "balanced classes, cut at one half",
    "all-paths graph",
    "filters",
    "bits",
)

# As published: 100 references, 1000 bits by maximum margins, 250 trees of 30 bits (the defaults).
PAPER = {
    "KLSH-kNN": Model("KLSH-kNN", "path", {"n_bits": 4}),
    "KLSH-RF": Model("KLSH-RF", "path"),
    "SVM": Model("SVM", "path"),
}
# Fewer, larger leaves on more bits, of boundaries between more references.
FOREST: dict[str, Any] = {"n_references": 300, "bits_per_tree": 100, "min_samples_leaf": 5}
BROAD = FOREST | {"subset_size": 50}
NEIGHBORS: dict[str, Any] = {"n_bits": 4, "n_neighbors": 16}
MARGIN: dict[str, Any] = {"C": 3.0}
DEFAULT = Model("SVM", "default", MARGIN)

# The lists were put together with a look at held-out figures of AIMed and BioInfer.
GRIDS: dict[str, list[Model]] = {
    "KLSH-kNN": [
        Model("KLSH-kNN", "steps", NEIGHBORS),
        Model("KLSH-kNN", "context+steps", {"n_bits": 4}),
        Model("KLSH-kNN", "context+steps", NEIGHBORS),
    ],
    "KLSH-RF": [
        Model("KLSH-RF", "path", BROAD),
        Model("KLSH-RF", "steps", FOREST),
        Model("KLSH-RF", "steps", BROAD),
        Model("KLSH-RF", "context+steps", FOREST),
        Model("KLSH-RF", "context+steps", BROAD),
        Model("KLSH-RF", "context+steps+tree", BROAD),
    ],
    "SVM": [
        Model("SVM", "context+steps", MARGIN),
        Model("SVM", "context+steps+tree", MARGIN),
    ],
}

Choices = dict[str, Model]


def choose(
    laboratory: Laboratory, advance: Callable[[], None] = lambda: None
) -> tuple[Choices, list[dict[str, Any]]]:
    """Return the model of each list with the best held-out F1, and all trials.

    Everything comes from the training corpus of the laboratory.
    """
    trials: list[dict[str, Any]] = []

    def best(group: str, models: list[Model]) -> Model:
        found = []
        for model in models:
            trial = laboratory.trial(group, model)
            found.append(trial["held_out"]["f1"])
            if trial not in trials:
                trials.append(trial)
                advance()
        return models[found.index(max(found))]

    made: Choices = {}
    for kind, grid in GRIDS.items():
        made[f"{kind}, chosen"] = best(f"{kind}: representation and settings", grid)
    described = [replace(PAPER["KLSH-RF"], representation=name) for name in described_names()]
    made["described"] = best("kernel as described", described)
    made["graph"] = best("all-paths graph", [Model("ridge", name) for name in GRAPHS])
    for name, start in (("described", made["described"]), ("default", DEFAULT)):
        made[f"filtered {name}"] = _filtered(start, lambda models: best("filters", models))
    return made, trials


def _filtered(start: Model, best: Callable[[list[Model]], Model]) -> Model:
    """Return a model with filters: the best one is added as long as held-out F1 rises."""
    while True:
        rest = [name for name in RULES if name not in start.filters]
        more = [replace(start, filters=(*start.filters, name)) for name in rest]
        found = best([start, *more])
        if found == start:
            return start
        start = found


def rows(choices: Choices) -> Iterator[tuple[str, str, Model]]:
    """Yield group, name and model of each row."""
    for group, models in planned(choices).items():
        for name, model in models.items():
            yield group, name, model


def planned(choices: Choices) -> dict[str, Choices]:
    """Return the models of each group by name."""
    path, described, graph = PAPER["KLSH-RF"], choices["described"], choices["graph"]
    as_described, both = described.representation, f"{graph.representation} + default"
    chosen = {kind: choices[f"{kind}, chosen"] for kind in PAPER}
    return {
        "models of the paper": {
            **{f"{kind}, path": model for kind, model in PAPER.items()},
            **{f"{kind}, chosen": model for kind, model in chosen.items()},
        },
        "kernel as described": {
            f"{kind}, kernel as described": replace(model, representation=as_described)
            for kind, model in PAPER.items()
        },
        "balanced classes, cut at one half": {
            "KLSH-RF, path, balanced": _balanced(path, 0.5),
            "KLSH-RF, kernel as described, balanced": _balanced(described, 0.5),
            "KLSH-RF, chosen, balanced": _balanced(chosen["KLSH-RF"], 0.5),
            "KLSH-RF, path, undersampled": replace(path, undersampled=True, cut=0.5),
            "KLSH-RF, kernel as described, undersampled": replace(
                described, undersampled=True, cut=0.5
            ),
            "KLSH-RF, chosen, undersampled": replace(chosen["KLSH-RF"], undersampled=True, cut=0.5),
            "SVM, path, balanced": _balanced(PAPER["SVM"], 0.0),
            "SVM, default kernel, balanced": _balanced(DEFAULT, 0.0),
        },
        "all-paths graph": {
            "ridge, all-paths graph": graph,
            "SVM, default kernel": DEFAULT,
            "SVM, all-paths graph + default kernel": replace(DEFAULT, representation=both),
        },
        "filters": {
            "KLSH-RF, kernel as described, filtered": choices["filtered described"],
            "SVM, default kernel, filtered": choices["filtered default"],
        },
        "bits": {
            "KLSH-RF, path, balanced bits": replace(path, target_bits=True),
            "KLSH-RF, kernel as described, balanced bits": replace(described, target_bits=True),
        },
    }


def _balanced(model: Model, cut: float) -> Model:
    weighted = model.parameters | {"class_weight": "balanced"}
    return replace(model, parameters=weighted, cut=cut)
