"""A small model, and the service that serves it."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from functools import cache

import pytest

import kernelwood as kw
from kernelwood.datasets import load_interactions

httpx = pytest.importorskip("httpx")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

# Sentences about invented proteins, each with two or three names.
TEXTS = [
    "RAK2 activates TORP1.",
    "MEL3 binds to RAK2 in vitro, but TORP1 does not.",
    "We show that BRIN4 is phosphorylated by the kinase MEL3 (see Fig. 2).",
    "TORP1 inhibits the binding of SNUR5 and BRIN4 in cells that were treated with serum.",
    "In the absence of RAK2, SNUR5 is not required for MEL3.",
    "The complex of FENK1 with OLBA2 regulates TORP1. MEL3 is not known to bind FENK1.",
]
NAMES = ("RAK2", "TORP1", "MEL3", "BRIN4", "SNUR5", "FENK1", "OLBA2")
TERMS = [[name, "Protein"] for name in NAMES]


@cache
def few_sentences(n_documents=5):
    """Return the sentences of a few training documents."""
    sentences = list(load_interactions("train"))
    names = sorted({one.id.split(".")[0] for one in sentences})[:n_documents]
    return [one for one in sentences if one.id.split(".")[0] in names]


@cache
def extractor(**options):
    """Return a small extractor that parses by the bundled grammar, as the service does."""
    settings = {"parser": "biomedical", "blind": True, "n_splits": 2, "random_state": 0, **options}
    return kw.RelationExtractor(**settings).fit(few_sentences())


@cache
def event_extractor():
    """Return an extractor of events whose triggers are verbs between two names."""
    verbs = [("promotes", "Positive"), ("blocks", "Negative")] * 3
    examples = [
        kw.Example(f"d{n}.s0", views={"sentence": _event_sentence(*verb)})
        for n, verb in enumerate(verbs)
    ]
    model = kw.RelationExtractor(candidates="events", parser="biomedical", random_state=0)
    return model.fit(examples)


def _event_sentence(verb, kind):
    end = 4 + len(verb)
    roles = (kw.text.Argument("Cause", "T1"), kw.text.Argument("Theme", "T2"))
    return kw.Sentence.from_words(
        ["Raf", verb, "Mek"],
        entities=[
            kw.text.Entity("T1", "protein", ((0, 3),), "Raf"),
            kw.text.Entity("T9", kind, ((4, end),), verb),
            kw.text.Entity("T2", "protein", ((end + 1, end + 4),), "Mek"),
        ],
        events=[kw.text.Event("E1", kind, "T9", roles)],
    )


def entities_of(text):
    """Return the names in a text as entities of a request."""
    return [
        {
            "id": name,
            "type": "Protein",
            "start": text.index(name),
            "end": text.index(name) + len(name),
        }
        for name in NAMES
        if name in text
    ]


def document_of(text):
    """Return a text with its names as a document of the library."""
    return kw.Document(
        text,
        [
            kw.text.Entity(row["id"], row["type"], ((row["start"], row["end"]),), row["id"])
            for row in entities_of(text)
        ],
    )


def claim(text, kind, first, second):
    """Return a claim about two names of a text."""
    return {
        "text": text,
        "entities": entities_of(text),
        "relation": {"type": kind, "first": first, "second": second},
    }


@contextmanager
def client_of(app):
    """Serve an application on a free port; yield a client."""
    from kernelwood.web.server import Server

    with Server(app, grace=2) as server, httpx.Client(base_url=server.url, timeout=300) as client:
        client.server = server
        yield client


class Latch:
    """Calls that wait at a function until they are released."""

    def __init__(self, function):
        self._function = function
        self.reached, self.released = threading.Event(), threading.Event()

    def __call__(self, *arguments):
        self.reached.set()
        assert self.released.wait(60)
        return self._function(*arguments)
