"""Random documents that annotation tools can hold, and short forms of annotation to compare."""

from __future__ import annotations

from hypothesis import strategies as st

from kernelwood.text import Argument, Document, Entity, Relation

__all__ = ["documents", "mentions", "triples"]

texts = st.text(st.sampled_from("ab é😀\U0001d4b3.\n\"\\\t'"), min_size=1, max_size=20)
types = st.sampled_from(["protein", "a drug", "<é>", '"&'])


@st.composite
def documents(draw):
    """Return a document whose ids are those that readers give."""
    text = draw(texts)
    entities = []
    for number in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text) - 1))
        end = draw(st.integers(start + 1, len(text)))
        entities.append(Entity(f"T{number + 1}", draw(types), ((start, end),), text[start:end]))
    relations = []
    for number in range(draw(st.integers(0, 3)) if entities else 0):
        ends = [draw(st.sampled_from(entities)).id for _ in range(2)]
        pair = (Argument("Arg1", ends[0]), Argument("Arg2", ends[1]))
        relations.append(Relation(f"R{number + 1}", draw(types), pair))
    return Document(text, tuple(entities), tuple(relations))


def mentions(annotated):
    """Return type and text of the entities, having checked their offsets."""
    for entity in annotated.entities:
        assert annotated.text[entity.start : entity.end] == entity.text
    return [(entity.type, entity.text) for entity in annotated.entities]


def triples(annotated):
    """Return the type of each relation with the texts of its arguments."""
    texts = {entity.id: entity.text for entity in annotated.entities}
    return [
        (relation.type, *(texts[argument.target] for argument in relation.arguments))
        for relation in annotated.relations
    ]
