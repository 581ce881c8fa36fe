"""Backends by name and by object."""

from __future__ import annotations

import pytest
from parsing.stanza_stand_in import Pipeline
from work import count_calls

from kernelwood.errors import KernelInputError
from kernelwood.parsing import BACKENDS, Backend, PreparsedBackend, analyze, load_backend
from kernelwood.parsing.grammar_backend import GrammarBackend
from kernelwood.parsing.neural import LOADED
from kernelwood.text import Argument, Document, Entity, Relation, Sentence, tokenize


class Own:
    name = "own"
    version = "0"

    def parse(self, sentences):
        return list(sentences)


@pytest.fixture(params=["biomedical", "biomedical-dependencies", "spacy", "stanza", "conllu"])
def backend(request) -> Backend:
    """Every backend, with stand-ins for the models of spaCy and Stanza."""
    if request.param == "spacy":
        model = pytest.importorskip("spacy").blank("en")
        model.add_pipe("sentencizer")
        return load_backend(model)
    if request.param == "stanza":
        return load_backend(Pipeline())
    if request.param == "conllu":
        return PreparsedBackend([Sentence.from_words(["We", "go", ".", "Cannot", "."])])
    return load_backend(request.param)


def test_a_sentence_that_looks_like_two_stays_one(backend):
    [sentence] = backend.parse([Sentence("We go. Cannot.")])
    assert sentence.text == "We go. Cannot."
    assert (sentence.tokens[0].start, sentence.tokens[-1].end) == (0, 14)


def test_given_sentences_keep_their_boundaries(backend):
    texts = ["We go. Cannot.\r\n", " ", ""]
    found = analyze(backend, map(Sentence, texts))
    assert [[sentence.text for sentence in sentences] for sentences in found] == [
        [text] for text in texts
    ]
    assert found[0][0].tokens[-1].end == 14


@pytest.mark.parametrize("backend", ["biomedical", "spacy"], indirect=True)
@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("It binds purified Raf. p53 binds MDM2.", [(0, 38)]),
        ("Smith et al. Raf binds Ras.", [(0, 27)]),
        ("Raf was seen in Hep. G2 cells.", [(0, 20), (21, 30)]),
        ("We saw mTOR in cells of mice.", [(0, 11), (12, 29)]),
    ],
)
def test_bounds_that_the_splitter_would_not_choose_are_kept(backend, text, spans):
    cut = Document(text).sentences(spans)
    found = analyze(backend, cut)
    assert [(one.start, one.start + len(one.text)) for [one] in found] == spans
    assert [one.tokens[-1].end for [one] in found] == [end - start for start, end in spans]


def test_annotation_start_and_metadata_survive_the_parser(backend):
    we, cannot = Entity("T1", "A", ((0, 2),), "We"), Entity("T2", "B", ((7, 13),), "Cannot")
    pair = Relation("R1", "Pair", (Argument("a", "T1"), Argument("b", "T2")))
    given = Sentence(
        "We go. Cannot.", entities=[we, cannot], relations=[pair], metadata=[("k", "v")], start=5
    )
    [parsed] = backend.parse([given])
    assert (parsed.entities, parsed.relations) == ((we, cannot), (pair,))
    assert (parsed.start, parsed.metadata) == (5, (("k", "v"),))


def test_parsed_sentences_pass_the_checks_of_the_constructor(backend):
    words = [("We go. Cannot.", 0, 14), *[("", 14, 14)] * 9]
    given = Sentence("We go. Cannot.", words, predicates=[(9, "", "")], empty=[(9, "it")])
    [parsed] = backend.parse([given])
    assert parsed.with_parts() == parsed


def test_no_sentences_give_none(backend):
    assert backend.parse([]) == []


@pytest.mark.parametrize("backend", ["biomedical", "spacy", "stanza"], indirect=True)
@pytest.mark.parametrize("n_sentences", [1, 5])
def test_sentences_are_checked_and_tokenized_once(backend, n_sentences):
    document = Document("We go. " * n_sentences, [Entity("T1", "A", ((0, 2),), "We")])
    checks, cuts = count_calls(
        lambda: analyze(backend, [document]), Sentence.__post_init__, tokenize
    )
    assert (checks, cuts) == (n_sentences, n_sentences)


def test_sentences_without_tokens_are_tokenized_once():
    backend, given = load_backend(), Sentence("We go.")
    checks, cuts = count_calls(lambda: backend.parse([given]), Sentence.__post_init__, tokenize)
    assert (checks, cuts) == (0, 1)


def test_the_bundled_grammar_is_the_default():
    backend = load_backend()
    assert isinstance(backend, GrammarBackend)
    assert (backend.name, backend.version) == ("biomedical", "2")


def test_a_backend_is_returned_as_it_is():
    own = Own()
    assert isinstance(own, Backend)
    assert load_backend(own) is own


def test_the_number_of_threads_is_passed_on():
    assert load_backend("biomedical", n_jobs=2).n_jobs == 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("biomedcal", "did you mean 'biomedical'"),
        ("udpipe", "known: biomedical, biomedical-dependencies, spacy, stanza, conllu"),
        ("biomedical:x", "has no argument"),
        ("biomedical-dependencies:x", "has no argument"),
        ("conllu", "conllu:parses.conllu"),
    ],
)
def test_a_wrong_name_is_refused_with_what_to_do(name, message):
    with pytest.raises(KernelInputError, match=message):
        load_backend(name)


@pytest.mark.parametrize("thing", [None, 3, object()])
def test_what_is_no_backend_is_refused(thing):
    with pytest.raises(KernelInputError, match="is not a backend"):
        load_backend(thing)


@pytest.mark.parametrize("name", ["spacy", "stanza", "spacy:xx_no_such_model"])
def test_a_missing_package_or_model_is_named_with_the_way_to_install_it(name, monkeypatch):
    LOADED.clear()
    monkeypatch.setitem(__import__("sys").modules, name.partition(":")[0], None)
    with pytest.raises(KernelInputError, match=r"not installed\n    install it: pip install"):
        load_backend(name)


def test_every_backend_has_a_row():
    assert list(BACKENDS) == [
        "biomedical",
        "biomedical-dependencies",
        "spacy",
        "stanza",
        "conllu",
    ]


def test_parses_can_be_named_as_a_file(tmp_path):
    path = tmp_path / "parses.conllu"
    path.write_text(
        "# text = we go\n1\twe\twe\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n"
        "2\tgo\tgo\tVERB\tVBP\t_\t0\troot\t_\t_\n\n",
        encoding="utf-8",
    )
    backend = load_backend(f"conllu:{path}")
    [[sentence]] = analyze(backend, [Document("We: we  go")])
    assert backend.name == "conllu:parses.conllu"
    assert (sentence.text, sentence.start) == ("we  go", 4)
