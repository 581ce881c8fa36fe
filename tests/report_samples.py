"""Predictions for tests of reports, and pages that show them."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import kernelwood as kw
from kernelwood.relations import (
    Case,
    CaseFragment,
    Evidence,
    MarkedText,
    Participant,
    Prediction,
    report_html,
)

ATTRIBUTE = re.compile(r"(?<=[a-z])=([\w#.,-]+)(?=[ >]|$)")
COLORS = {"Protein": "k0", "a": "k1", "": "k2"}
RELATIONS = {"Activates": "r3"}
EVIL = "<script>alert('x')</script>\" onload=\"x"
TEXT = "It is known. Raf activates MEK1 and ERK2. It is over."
START = 13
SENTENCE = kw.Sentence(
    TEXT[START:41],
    entities=[
        kw.text.Entity(f"T{i}", "Protein", ((start, start + len(name)),), name)
        for i, (name, start) in enumerate([("Raf", 0), ("MEK1", 14), ("ERK2", 23)])
    ],
)


def case(prediction):
    piece = CaseFragment("ENTITY1 activates ENTITY2", "path", 0.625)
    path = (("Ras", "entity"), ("—subject of→", "step"), ("activates", "word"))
    return Evidence(
        supporting=(
            Case(
                "d3.s1",
                "Activates",
                0.875,
                0.25,
                MarkedText("Ras activates Raf.", ((0, 3), (14, 17)), shared=((4, 13),)),
                MarkedText(SENTENCE.text, ((0, 3), (14, 18)), shared=((4, 13),)),
                path,
                lambda: (piece,),
            ),
        ),
        score=1.0,
        intercept=0.5,
        others=0.25,
        path=path,
    )


def prediction(first=0, second=1, *, probability=0.75, sentence=SENTENCE, start=START, **changes):
    roles = changes.pop("roles", ("Agent", "Target"))
    parts = [sentence.entities[first], sentence.entities[second]]
    spans = [tuple((a + start, b + start) for a, b in entity.spans) for entity in parts]
    values = {
        "id": f"c{first}{second}",
        "document": "doc1",
        "type": "Activates",
        "relation": "Activates",
        "positive": probability >= 0.5,
        "probability": probability,
        "threshold": 0.5,
        "participants": tuple(
            Participant(role, entity.id, entity.type, entity.text, span)
            for role, entity, span in zip(roles, parts, spans, strict=True)
        ),
        "trigger": None,
        "sentence": (start, start + len(sentence.text)),
        "text": sentence.text,
        "label": None,
        "candidate": kw.text.Candidate("c", sentence, list(zip(roles, parts, strict=True))),
        "_explain": case,
    }
    return Prediction(**{**values, **changes})


def candidate_of(made):
    return made.candidate


def fail(found):
    raise AssertionError("asked for evidence")


def evil_evidence():
    marked = MarkedText(EVIL, ((0, 8),), ((9, 14),), ((15, 17),))
    piece = CaseFragment(EVIL, EVIL, 0.5)
    path = ((EVIL, "entity"), (EVIL, "step"), (EVIL, "word"))
    one = Case(EVIL, EVIL, 0.5, 0.1, marked, marked, path, lambda: (piece,))
    return Evidence((one,), (replace(one, contribution=-0.1),), path=path)


def page(*predictions, **given):
    given = {"title": "A title", "documents": {"doc1": TEXT}, **given}
    return report_html(predictions=predictions, **given)


def shown(*predictions, **given):
    """Return a page without its style sheet and script, and with quotes around all attributes."""
    made = page(*predictions, **given)
    assert made.count("<style>") == made.count("<script>") == 1
    made = re.sub("<(style|script)>.*?</\\1>", "", made, flags=re.DOTALL)
    return re.sub(r"(<\w[^<>]*?)(?=>)", lambda tag: ATTRIBUTE.sub(r'="\1"', tag[1]), made)


def plain(markup):
    """Return what is read of a passage, without the types of entities."""
    return unescape(re.sub(r"<small>.*?</small>|<[^>]*>", "", markup, flags=re.DOTALL))


def replace_types(sentence, types):
    """Return a sentence whose entities have other types."""
    entities = zip(sentence.entities, types, strict=True)
    return replace(sentence, entities=[one._replace(type=kind) for one, kind in entities])


class Outline(HTMLParser):
    """Collects the tags and the text of a page, and checks that all elements are closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
