"""Small predictions to count facts of."""

from __future__ import annotations

import kernelwood as kw
from kernelwood.relations import FactCounter, Participant, Prediction


def mention(text, start=0, *, role="first", kind="protein", reference="", name=None):
    name = f"T{start}" if name is None else name
    return Participant(role, name, kind, text, ((start, start + len(text)),), reference)


def predicted(
    *parts,
    document="d1",
    kind="binds",
    relation=None,
    probability=0.9,
    threshold=0.5,
    start=0,
    trigger=None,
    text=None,
    name="p1",
):
    """Return a prediction about participants, whose spans are those of the document."""
    text = "Raf binds Ras, and Mek and Erk follow." if text is None else text
    entities = [
        kw.text.Entity(one.id, one.type, tuple((a - start, b - start) for a, b in one.spans))
        for one in parts
    ]
    sentence = kw.Sentence(text, start=start)
    ends = tuple((one.role, entity) for one, entity in zip(parts, entities, strict=True))
    candidate = kw.text.Candidate(name, sentence, ends)
    return Prediction(
        name, document, kind, relation or kind, probability >= threshold, probability, threshold,
        parts, trigger, (start, start + len(text)), text, None, candidate,
    )  # fmt: skip


def pair(first="Raf", second="Ras", *, references=("", ""), **options):
    ends = (
        mention(first, 0, reference=references[0]),
        mention(second, 10, role="second", reference=references[1]),
    )
    return predicted(*ends, **options)


def event(*roles, kind="Binding", **options):
    """Return an event of Raf, Ras, ... in given roles."""
    places = {"Raf": 0, "Ras": 10, "Mek": 19}
    parts = [
        mention(text, place, role=role)
        for role, (text, place) in zip(roles, places.items(), strict=False)
    ]
    trigger = mention("binds", 4, role="trigger", kind=kind)
    return predicted(*parts, kind=kind, trigger=trigger, **options)


def facts_of(*predictions, **options):
    counter = FactCounter(**options)
    counter.add(predictions)
    return counter.facts()
