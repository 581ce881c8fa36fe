"""Parses by Stanza, with objects that look like its own in place of the network's."""

from __future__ import annotations

import sys
from types import SimpleNamespace as Thing

import pytest

from kernelwood.errors import KernelInputError
from kernelwood.parsing import load_backend
from kernelwood.structures import Tree
from kernelwood.text import ROOT, Dependency, Document, Multiword


def word(text, head, relation, **more):
    return Thing(
        **{"text": text, "head": head, "deprel": relation, "lemma": text.lower()},
        **{"upos": "X", "xpos": None, "feats": None, **more},
    )


def token(start, end, *words, text=None):
    return Thing(text=text or words[0].text, start_char=start, end_char=end, words=list(words))


def node(label, *children):
    return Thing(label=label, children=children)


class Pipeline:
    """Knows the parses of a few texts."""

    lang = "en"
    processors: dict[str, object] = {}  # noqa: RUF012

    def __init__(self, constituency=None):
        self.constituency = constituency

    def __call__(self, text):
        assert text == "We go. Cannot."
        first = Thing(
            tokens=[
                token(0, 2, word("We", 2, "nsubj", xpos="PRP")),
                token(3, 5, word("go", 0, "root")),
                token(5, 6, word(".", 2, "punct")),
            ],
            constituency=self.constituency,
        )
        second = Thing(
            tokens=[
                token(7, 13, word("Can", 0, "root"), word("not", 1, "advmod"), text="Cannot"),
                token(13, 14, word(".", 1, "punct")),
            ],
        )
        return Thing(sentences=[first, second], ents=[Thing(type="W", start_char=0, end_char=2)])


DOCUMENT = Document("We go. Cannot.")


def test_words_become_tokens_with_offsets():
    [[first, second]] = load_backend(Pipeline()).analyze([DOCUMENT])
    assert [(t.text, t.start, t.end, t.tag) for t in first.tokens][:2] == [
        ("We", 0, 2, "PRP"),
        ("go", 3, 5, ""),
    ]
    assert (second.text, second.start) == ("Cannot.", 7)


def test_heads_count_from_the_first_word_of_their_sentence():
    [[_, second]] = load_backend(Pipeline()).analyze([DOCUMENT])
    assert second.dependencies == (
        Dependency(ROOT, "root", 0),
        Dependency(0, "advmod", 1),
        Dependency(0, "punct", 2),
    )


def test_words_written_as_one_share_its_characters():
    [[_, second]] = load_backend(Pipeline()).analyze([DOCUMENT])
    assert second.multiwords == (Multiword(0, 2, "Cannot"),)
    assert [(t.start, t.end) for t in second.tokens] == [(0, 6), (0, 6), (6, 7)]


def test_constituents_become_a_tree():
    leaves = [node("NP", node("We")), node("VP", node("go")), node(".", node("."))]
    [[first, second]] = load_backend(Pipeline(node("S", *leaves))).analyze([DOCUMENT])
    assert first.tree == Tree.from_brackets("(S (NP We) (VP go) (. .))")
    assert second.tree is None


def test_constituents_over_other_words_are_left_out():
    [[first, _]] = load_backend(Pipeline(node("S", node("We")))).analyze([DOCUMENT])
    assert first.tree is None


def test_entities_are_added_on_request():
    [[first, _]] = load_backend(Pipeline(), entities=True).analyze([DOCUMENT])
    assert [(entity.type, entity.text) for entity in first.entities] == [("W", "We")]


def test_documents_without_words_are_not_parsed():
    assert load_backend(Pipeline()).analyze([Document(""), Document(" ")]) == [[], []]


@pytest.fixture
def stanza(monkeypatch):
    """Put a module in place of Stanza that remembers how a pipeline was made."""
    calls = []

    def make(language, **options):
        calls.append((language, options))
        if language == "xx":
            raise FileNotFoundError("no models")
        return Pipeline()

    monkeypatch.setitem(sys.modules, "stanza", Thing(Pipeline=make, __version__="9.9"))
    return calls


def test_english_is_the_default_and_nothing_is_downloaded(stanza):
    backend = load_backend("stanza")
    [(language, options)] = stanza
    assert (language, options["package"], options["download_method"]) == ("en", "default", None)
    assert (backend.name, backend.version) == ("stanza:en", "Stanza 9.9")


def test_a_package_stands_after_a_slash(stanza):
    load_backend("stanza:en/genia")
    assert stanza[0][1]["package"] == "genia"


def test_names_are_recognized_on_request_only(stanza):
    load_backend("stanza")
    load_backend("stanza", entities=True)
    assert [options["processors"].endswith(",ner") for _, options in stanza] == [False, True]


def test_missing_models_are_named_with_the_way_to_install_them(stanza):
    with pytest.raises(KernelInputError, match=r"no models\n.*stanza\.download\('xx'\)"):
        load_backend("stanza:xx")
