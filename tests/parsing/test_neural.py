"""spaCy and Stanza: cutting of long texts, and Stanza with a stand-in for its networks."""

from __future__ import annotations

import sys
from types import SimpleNamespace as Thing

import pytest
from hypothesis import example, given, strategies as st
from parsing.stanza_stand_in import Pipeline, node
from together import in_threads

from kernelwood.errors import KernelInputError
from kernelwood.parsing import analyze, load_backend
from kernelwood.parsing.neural import LOADED, cut_text
from kernelwood.structures import Tree
from kernelwood.text import (
    ROOT,
    Dependency,
    Document,
    Entity,
    Multiword,
    Sentence,
    join_across,
)

texts = st.text(alphabet="ab. \nA", max_size=60)


@example("  ", 1)
@example("   a", 2)
@given(texts, st.integers(1, 20))
def test_parts_cover_the_text_and_are_short_enough(text, most):
    parts = cut_text(text, [], most)
    assert "".join(text[start:end] for start, end in parts) == text
    assert all(0 < end - start <= most for start, end in parts)


@example("\n\n \n .A.A.bb.", 2, 5)  # begins in the blanks before a sentence
@example("a b" + "c" * 20, 0, 3)  # begins where the part does
@given(texts, st.integers(0, 59), st.integers(1, 5))
def test_parts_do_not_cut_short_entities(text, start, length):
    end = min(start + length, len(text))
    if start >= end:
        return
    assert not any(start < cut < end for _, cut in cut_text(text, [(start, end)], 12))


def test_parts_end_between_sentences():
    assert cut_text("Raf binds. Ras binds. MEK too.", [], 22) == [(0, 22), (22, 30)]


def test_parts_of_a_long_sentence_end_at_blanks():
    assert cut_text("aa bb cc dd", [], 7) == [(0, 6), (6, 11)]


def test_an_empty_text_has_no_parts():
    assert cut_text("", [], 5) == []


def test_sentences_without_entities_across_stay_apart():
    document = Document("aa bb", [Entity("T1", "P", ((0, 2),)), Entity("T2", "P", ((3, 5),))])
    assert join_across([(0, 2), (3, 5)], document.entities) == [(0, 2), (3, 5)]


def test_an_entity_across_three_sentences_joins_them():
    document = Document("aa bb cc", [Entity("T1", "P", ((1, 7),))])
    assert join_across([(0, 2), (3, 5), (6, 8)], document.entities) == [(0, 8)]


DOCUMENT = Document("We go. Cannot.")


def test_words_become_tokens_with_offsets():
    [[first, second]] = analyze(load_backend(Pipeline()), [DOCUMENT])
    assert [(t.text, t.start, t.end, t.tag) for t in first.tokens][:2] == [
        ("We", 0, 2, "PRP"),
        ("go", 3, 5, ""),
    ]
    assert (second.text, second.start) == ("Cannot.", 7)


def test_a_sentence_in_which_stanza_sees_two_has_two_roots():
    [sentence] = load_backend(Pipeline()).parse([Sentence("We go. Cannot.")])
    assert [edge.dependent for edge in sentence.dependencies if edge.head == ROOT] == [1, 3]
    assert sentence.dependencies[4] == Dependency(3, "advmod", 4)
    assert sentence.multiwords == (Multiword(3, 5, "Cannot"),)


def test_a_sentence_in_which_stanza_sees_two_has_no_tree():
    leaves = [node("NP", node("We")), node("VP", node("go")), node(".", node("."))]
    [sentence] = load_backend(Pipeline(node("S", *leaves))).parse([Sentence("We go. We go.")])
    assert sentence.tree is None


def test_a_long_sentence_is_parsed_in_parts_as_at_once(monkeypatch):
    backend, sentence = load_backend(Pipeline(), entities=True), Sentence("We go. Cannot. We go.")
    [at_once] = backend.parse([sentence])
    monkeypatch.setattr("kernelwood.parsing.neural._MOST_CHARACTERS", 8)
    [in_parts] = backend.parse([sentence])
    assert [entity.spans for entity in at_once.entities] == [((0, 2),), ((15, 17),)]
    assert in_parts == at_once


def test_heads_count_from_the_first_word_of_their_sentence():
    [[_, second]] = analyze(load_backend(Pipeline()), [DOCUMENT])
    assert second.dependencies == (
        Dependency(ROOT, "root", 0),
        Dependency(0, "advmod", 1),
        Dependency(0, "punct", 2),
    )


def test_words_written_as_one_share_its_characters():
    [[_, second]] = analyze(load_backend(Pipeline()), [DOCUMENT])
    assert second.multiwords == (Multiword(0, 2, "Cannot"),)
    assert [(t.start, t.end) for t in second.tokens] == [(0, 6), (0, 6), (6, 7)]


def test_constituents_become_a_tree():
    leaves = [node("NP", node("We")), node("VP", node("go")), node(".", node("."))]
    [[first, second]] = analyze(load_backend(Pipeline(node("S", *leaves))), [DOCUMENT])
    assert first.tree == Tree.from_brackets("(S (NP We) (VP go) (. .))")
    assert second.tree is None


def test_constituents_over_other_words_are_left_out():
    [[first, _]] = analyze(load_backend(Pipeline(node("S", node("We")))), [DOCUMENT])
    assert first.tree is None


def test_entities_are_added_on_request():
    [[first, _]] = analyze(load_backend(Pipeline(), entities=True), [DOCUMENT])
    assert [(entity.type, entity.text) for entity in first.entities] == [("W", "We")]


def test_recognized_entities_have_ids_that_are_unique_in_the_document():
    document = Document("We go. We go. We go.")
    [sentences] = analyze(load_backend(Pipeline(), entities=True), [document])
    entities = [entity for sentence in sentences for entity in sentence.entities]
    assert len({entity.id for entity in entities}) == len(entities) == 3


def test_documents_with_entities_get_no_recognized_ones():
    document = Document("We go. We go.", [Entity("T7", "X", ((3, 5),), "go")])
    [[first, second]] = analyze(load_backend(Pipeline(), entities=True), [document])
    assert [entity.id for entity in first.entities] == ["T7"]
    assert second.entities == ()


def test_documents_without_words_are_not_parsed():
    assert analyze(load_backend(Pipeline()), [Document(""), Document(" ")]) == [[], []]


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
    LOADED.clear()
    yield calls
    LOADED.clear()


def test_a_named_pipeline_is_loaded_once(stanza):
    first, second = load_backend("stanza:de"), load_backend("stanza:de")
    assert len(stanza) == 1
    assert first._pipeline is second._pipeline


def test_threads_share_a_pipeline_that_one_of_them_loads(stanza):
    results = in_threads(lambda _: load_backend("stanza:de")._pipeline, 4)
    assert len(stanza) == 1
    assert all(result is results[0] for result in results)


def test_pipelines_in_memory_are_bounded(stanza):
    for language in ("de", "fr", "it", "nl", "pt", "de"):
        load_backend(f"stanza:{language}")
    assert [language for language, _ in stanza] == ["de", "fr", "it", "nl", "pt", "de"]


def test_a_pipeline_that_cannot_be_loaded_is_tried_again(stanza):
    for _ in range(2):
        with pytest.raises(KernelInputError):
            load_backend("stanza:xx")
    assert len(stanza) == 2


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
