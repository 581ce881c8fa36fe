"""Remarks on the entities of an input: none at all, or types that a model does not know."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import TYPE_CHECKING

from kernelwood.arrays import SequenceBatch
from kernelwood.relations.candidates import names_of

if TYPE_CHECKING:
    from kernelwood.relations.extractor import RelationExtractor
    from kernelwood.relations.predictions import Predictions

NO_ENTITIES = "the input has no entities, so it has no relations"
ENTITY_REMARKS = f"{NO_ENTITIES}|entity types"  # how remarks begin, for `ignored_warnings`
_TYPES_VIEW, _MARK = "types", "types:"
_NAMED = 5  # types in a message


def entity_types(predictions: Predictions) -> set[str]:
    """Return the types of the entities of candidates, or if there are none, of all entities."""
    candidates = predictions.candidates
    if len(candidates):
        return {entity.type for pair in candidates.participants for _, entity in pair}
    return {one.type for sentence in candidates.sentences.sentences for one in sentence.entities}


def type_remark(extractor: RelationExtractor, types: Collection[str]) -> str:
    """Return which entity types a model does not know, empty if there are none.

    A model that does not compare the types of entities knows all. One that was trained with
    ``types`` ignores entities of other types, so that only the lack of these types is remarked.
    """
    if extractor.candidates != "pairs":
        return ""
    wanted = names_of(extractor.types)
    if wanted is not None:
        if not types or wanted & set(types):
            return ""
        return (
            f"entity types: the input has {_listed(types)}, the model only uses {_listed(wanted)}"
        )
    known = _known_types(extractor)
    unknown = set(types) - known
    if not known or not unknown:
        return ""
    return (
        f"entity types that the model does not know: {_listed(unknown)}; it was trained on "
        f"{_listed(known)}. Probabilities are less reliable: give entities the types of the "
        "training documents"
    )


def warn_of_entities(
    extractor: RelationExtractor, predictions: Predictions, advice: str = "", *, stacklevel: int = 3
) -> None:
    """Warn of an input without entities, if there is advice, and of types that are unknown.

    Parameters
    ----------
    extractor : RelationExtractor
    predictions : Predictions
        Of all candidates.
    advice : str
        How to get entities.
    stacklevel : int
    """
    types = entity_types(predictions)
    remark = type_remark(extractor, types)
    if advice and len(predictions.candidates.sentences):
        triggers = {kind for _, kind in extractor.triggers_}
        remark = remark if types - triggers else f"{NO_ENTITIES}: {advice}"
    if remark:
        warnings.warn(remark, UserWarning, stacklevel=stacklevel)


def _known_types(extractor: RelationExtractor) -> set[str]:
    """Return the entity types of the training documents; empty if they are not compared."""
    if _TYPES_VIEW not in extractor.views_ or _TYPES_VIEW not in extractor.cases_.views:
        return set()
    batch = extractor.cases_.view(_TYPES_VIEW)
    if not isinstance(batch, SequenceBatch):
        return set()
    labels = [label for row in batch.distinct()[0].tolist() for label in batch[row].nodes]
    pairs = [label.removeprefix(_MARK).split("+") for label in labels]
    # A type may itself have a plus sign.
    known = {"+".join(pair[:cut]) for pair in pairs for cut in range(1, len(pair))}
    known |= {"+".join(pair[cut:]) for pair in pairs for cut in range(1, len(pair))}
    pairs += [list(ends) for some in extractor.arguments_.values() for ends in some]
    return known | {kind for pair in [*pairs, *extractor.signatures_["types"]] for kind in pair}


def _listed(types: Collection[str]) -> str:
    names = sorted(types)
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
