"""Facts about a corpus that bear on what can be learned from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from relation_models.figures import Pairs

from kernelwood.views import names, negation

__all__ = ["facts"]


def facts(pairs: Pairs) -> Iterator[dict[str, Any]]:
    """Yield how many pairs there are of a kind, and which share of these interacts."""
    related = [names(c.sentence, *c.entities).nodes[-1] for c in pairs.candidates]
    typed = [{entity.type for entity in c.entities} for c in pairs.candidates]
    kinds = {name: np.array([one == name for one in related]) for name in sorted({*related})}
    denied = [negation(c.sentence, *c.entities).nodes[-1] == "denied" for c in pairs.candidates]
    if any(denied):
        kinds["denied"] = np.array(denied)
    for name in sorted(set().union(*typed)):
        kinds[f"with a {name}"] = np.array([name in types for types in typed])
    for name, chosen in kinds.items():
        yield {"name": name, "pairs": int(chosen.sum()), "share": float(pairs.y[chosen].mean())}
