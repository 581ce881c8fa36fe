"""Arguments of the wrong type: every entry point names what it got, in an error of its own."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kernelwood as kw
from kernelwood.datasets import load_interactions, load_questions
from kernelwood.learners import LEARNERS
from kernelwood.relations import event_candidates, pair_candidates

nltk = pytest.importorskip("nltk")
networkx = pytest.importorskip("networkx")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
spacy = pytest.importorskip("spacy")

KERNEL = kw.SubsetTreeKernel()
TREE = kw.Tree.from_brackets("(S (NP we))")
WORDS = kw.SubsequenceKernel()


@cache
def extractor():
    return kw.RelationExtractor(random_state=0, n_splits=2).fit(load_interactions("train"))


@cache
def classifier():
    questions = load_questions()[:102]
    return kw.KernelSVC(KERNEL).fit(
        [question.view("tree") for question in questions],
        [question.label for question in questions],
    )


@cache
def index():
    return kw.SentenceIndex().fit([TREE])


@cache
def doc():
    return spacy.blank("en")("Raf binds Ras.")


# Values that are wrong nearly everywhere, by name: a function that makes one.
WRONG = {
    "None": lambda: None,
    "int": lambda: 3,
    "bytes": lambda: b"Raf binds Ras.",
    "object": object,
    "class": lambda: kw.Tree,
    "dict": lambda: {"a": 1},
    "set": lambda: {"Raf"},
    "ints": lambda: [1, 2],
    "nan": lambda: [float("nan")],
    "objects": lambda: np.array([object(), object()]),
    "matrix of objects": lambda: np.empty((2, 2), dtype=object),
    "frame": lambda: pd.DataFrame({"a": ["x"], "b": [1]}),
    "polars frame": lambda: pl.DataFrame({"a": ["x"], "b": [1]}),
    "lazy frame": lambda: pl.LazyFrame({"a": [1]}),
    "span": lambda: doc()[:2],
}
GRAPH = {"graph": lambda: [networkx.DiGraph([(1, 2)])]}  # a structure
STRING = {"str": lambda: "Raf binds Ras.", "strs": lambda: ["Raf binds Ras."]}
PARSED = {"doc": doc, "docs": lambda: [doc()]}
NLTK = {"tree": lambda: nltk.Tree("S", ["we"]), "trees": lambda: [nltk.Tree("S", ["we"])]}
EMPTY = {"exhausted": lambda: iter(())}

DOCUMENTS = {
    "fit": lambda X: kw.RelationExtractor().fit(X),
    "cross_validate": lambda X: kw.RelationExtractor().cross_validate(X),
    "learning_curve": lambda X: kw.RelationExtractor().learning_curve(X),
    "predict": lambda X: extractor().predict(X),
    "evaluate": lambda X: extractor().evaluate(X),
    "score": lambda X: extractor().score(X),
    "adapt": lambda X: extractor().adapt(X),
    "suggest_labels": lambda X: extractor().suggest_labels(X),
    "pair_candidates": pair_candidates,
    "event_candidates": event_candidates,
}
NAMED = {
    "verify": lambda X: extractor().verify(X),
    "explain": lambda X: extractor().explain(X),
    "documents": kw.evaluate.documents,
}
STRUCTURES = {
    "batch": kw.batch,
    "gram": KERNEL.gram,
    "diag": KERNEL.diag,
    "cross": lambda X: KERNEL.cross(X, [TREE]),
    "neighbors": lambda X: KERNEL.neighbors(X, [TREE], 1),
    "KernelHasher": lambda X: kw.KernelHasher(KERNEL).fit(X, ["a", "b"]),
    "NystromEmbedder": kw.NystromEmbedder(KERNEL).fit,
    "KernelKMeans": kw.KernelKMeans(2, KERNEL).fit,
    "ReferenceSelector": lambda X: kw.ReferenceSelector(KERNEL).fit(X, ["a", "b"]),
    "GateLearner": lambda X: kw.GateLearner(KERNEL).fit(X, ["a", "b"]),
    "predict": lambda X: classifier().predict(X),
    **{
        name: lambda X, make=make: make(KERNEL).fit(X, ["a", "b"])
        for name, make in LEARNERS.items()
    },
}
SENTENCES = {
    "SentenceIndex": lambda X: kw.SentenceIndex().fit(X),
    "search": lambda X: index().search(X, 1),
    "add": lambda X: index().add(X),
    "find_duplicates": lambda X: kw.find_duplicates(X, KERNEL),
    "text_similarities": lambda X: kw.search.text_similarities(WORDS, X),
    "text_similarity": lambda X: kw.text_similarity(WORDS, X, kw.Document("We go.")),
}


def cases(entries, *tables):
    wrong = {name: make for table in tables for name, make in table.items()}
    return pytest.mark.parametrize(
        ("call", "make"),
        [
            pytest.param(call, make, id=f"{entry}-{name}")
            for entry, call in entries.items()
            for name, make in wrong.items()
        ],
    )


def refused(call, value, error=kw.KernelwoodError):
    """Call a function that must raise one of our errors; return the message."""
    with pytest.raises(error) as caught:
        call(value)
    return str(caught.value)


def kinds(value):
    """Return the names of the classes that a message may name: of a value, or of what it has."""
    found = {type(value).__name__}
    if isinstance(value, (list, np.ndarray)):
        found |= {type(item).__name__ for item in value}
    return found | {"shape", "a set", "column"}


@cases(DOCUMENTS, WRONG, GRAPH, NLTK)
def test_what_is_not_a_document_is_named(call, make):
    value = make()
    message = refused(call, value)
    assert any(kind in message for kind in kinds(value)), message


@cases(DOCUMENTS, STRING)
def test_a_string_is_not_a_document(call, make):
    assert "is a text without annotation" in refused(call, make())


@cases({"extract": lambda X: extractor().extract(X)}, WRONG, GRAPH, NLTK)
def test_what_is_not_a_text_is_named(call, make):
    assert refused(call, make()).startswith("extract: ")


@cases({name: DOCUMENTS[name] for name in ("fit", "cross_validate", "evaluate", "score")}, EMPTY)
def test_no_documents_are_refused(call, make):
    assert "no " in refused(call, make())


@cases(NAMED, WRONG, GRAPH, STRING, PARSED, NLTK)
def test_what_is_not_a_claim_a_prediction_or_an_example_is_refused(call, make):
    assert refused(call, make())


@cases(STRUCTURES, WRONG, STRING, PARSED)
def test_what_is_not_a_structure_is_refused(call, make):
    assert "wrap it in kw.Sequence" not in refused(call, make())


@cases({"batch": kw.batch, "kernel-svc": STRUCTURES["kernel-svc"]}, EMPTY)
def test_no_structures_are_refused(call, make):
    assert refused(call, make())


@cases(SENTENCES, WRONG)
def test_what_is_not_a_sentence_is_refused(call, make):
    assert refused(call, make())


CONVERTERS = {
    name: getattr(kw.text, name)
    for name in (
        *("from_spacy", "from_stanza", "from_conllu", "from_nltk", "from_networkx", "from_penman"),
        *("to_spacy", "to_nltk", "to_networkx"),
    )
}


@cases(CONVERTERS, WRONG, STRING, {"list of trees": NLTK["trees"]})
def test_converters_name_themselves_and_the_class(call, make):
    value = make()
    message = refused(call, value)
    assert message.startswith(call.__name__)
    assert type(value).__name__ in message


DICTIONARIES = {
    "Dictionary.of": kw.Dictionary.of,
    "Dictionary": kw.Dictionary,
    "dictionary": lambda X: extractor().extract("Raf binds Ras.", dictionary=X),
}


@cases(DICTIONARIES, {name: make for name, make in WRONG.items() if name != "None"}, STRING)
def test_what_is_not_a_list_of_terms_is_refused(call, make):
    assert refused(call, make(), kw.errors.StructureError)
