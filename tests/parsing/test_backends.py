"""Backends by name and by object."""

from __future__ import annotations

import pytest

from kernelwood.errors import KernelInputError
from kernelwood.parsing import BACKENDS, Backend, analyze, load_backend
from kernelwood.parsing.constituency_backend import GrammarBackend
from kernelwood.text import Document, Sentence


class Own:
    name = "own"
    version = "0"

    def analyze(self, documents):
        return [[Sentence(document.text)] for document in documents]


def test_the_bundled_grammar_is_the_default():
    backend = load_backend()
    assert isinstance(backend, GrammarBackend)
    assert (backend.name, backend.version) == ("biomedical", "1")


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
        ("udpipe", "there are: biomedical, spacy, stanza, conllu"),
        ("biomedical:x", "nothing after a colon"),
        ("conllu", "conllu:parses.conllu"),
    ],
)
def test_a_wrong_name_is_refused_with_what_to_do(name, message):
    with pytest.raises(KernelInputError, match=message):
        load_backend(name)


@pytest.mark.parametrize("thing", [None, 3, object()])
def test_what_is_no_backend_is_refused(thing):
    with pytest.raises(KernelInputError, match="is no backend"):
        load_backend(thing)


@pytest.mark.parametrize("name", ["spacy", "stanza", "spacy:xx_no_such_model"])
def test_a_missing_package_or_model_is_named_with_the_way_to_install_it(name, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, name.partition(":")[0], None)
    with pytest.raises(KernelInputError, match=r"not installed\n    install it: pip install"):
        load_backend(name)


def test_every_backend_has_a_row():
    assert list(BACKENDS) == ["biomedical", "spacy", "stanza", "conllu"]


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
