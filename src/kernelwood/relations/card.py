"""Model card of a relation extractor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import kernelwood
from kernelwood.entities import Dictionary
from kernelwood.relations.recipes import ENTITY_VIEW, SOFT_ENTITY_VIEW


def card_of(extractor: Any) -> dict[str, Any]:
    """Return the model card of a fitted extractor as JSON values.

    Parameters
    ----------
    extractor : RelationExtractor
        A fitted extractor.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_interactions
    >>> extractor = kw.RelationExtractor(random_state=0)
    >>> card = card_of(extractor.fit(load_interactions("train")))
    >>> card["recipe"], card["parser"]
    ('svm', 'given')
    """
    extractor._check_is_fitted()
    learner = extractor.learner_
    settings = {
        name: value
        for name, value in learner.get_params(deep=False).items()
        if name not in ("kernel", "random_state", "n_jobs") and _is_plain(value)
    }
    return {
        "model": "relation extractor",
        "description": extractor.description,
        "license": extractor.license,
        "version": kernelwood.__version__,
        "recipe": extractor.recipe,
        "candidates": extractor.candidates,
        "relations": list(extractor.relations_),
        "classes": [str(name) for name in extractor.classes_],
        "views": list(extractor.views_),
        "kernel": repr(learner.kernel_),
        "learner": type(learner).__name__,
        "settings": settings,
        "choices": list(_choices(extractor)),
        "entities": _entities(extractor.tagger_),
        "parser": extractor.parser_,
        "threshold": extractor.threshold_,
        "held_out": dict(extractor.held_out_),
        "type_f1": dict(extractor.type_f1_),
        "type_examples": dict(extractor.type_examples_),
        "warnings": extractor.warnings_,
        "documents": extractor.n_documents_,
        "sentences": extractor.n_sentences_,
        "training_candidates": extractor.n_candidates_,
        "training_relations": extractor.n_relations_,
        "seed": extractor.seed_,
    }


def _entities(tagger: Any) -> dict[str, Any]:
    """Return how entities of new texts are found, and how well."""
    if tagger is None:
        return {"found_by": "not by the model; give a list of names or annotated texts"}
    if isinstance(tagger, Dictionary):
        return {"found_by": f"a dictionary of {len(tagger):,} terms"}
    return {
        "found_by": "a learned tagger",
        "types": list(tagger.types_),
        "mentions": tagger.n_mentions_,
        "held_out": dict(tagger.held_out_),
        "type_f1": dict(tagger.type_f1_),
        "not_learned": dict(tagger.dropped_),
    }


def _choices(extractor: Any) -> Iterator[str]:
    """Yield what was decided on the training documents, in words."""
    if trial := extractor.trial_:
        compared = bool({ENTITY_VIEW, SOFT_ENTITY_VIEW} & set(extractor.views_))
        yield (
            f"words of entities are {'compared' if compared else 'ignored'}: held-out F1 "
            f"{trial['words']:.3f} with them, {trial['blind']:.3f} without"
        )
    for one, other in extractor.signatures_["types"]:
        yield f"pairs of {one} and {other} are not candidates: never related in training"
    for kind in extractor.signatures_["kinds"]:
        yield f"pairs of {kind} are not candidates: never related in training"
    for name, pairs in extractor.arguments_.items():
        listed = ", ".join(f"{first} → {second}" for first, second in pairs)
        yield f"the direction of {name} follows from entity types: {listed}"


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, list, tuple, dict))
