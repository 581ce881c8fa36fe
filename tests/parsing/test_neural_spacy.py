"""Parses by spaCy; these tests are skipped where it, or an English model, is not installed."""

from __future__ import annotations

import pytest

from kernelwood.errors import KernelInputError
from kernelwood.parsing import analyze, load_backend
from kernelwood.parsing.neural import LOADED, MODELS, SpacyBackend
from kernelwood.text import ROOT, Document, Entity, Sentence

spacy = pytest.importorskip("spacy", reason="spaCy is an extra: pip install 'kernelwood[spacy]'")

TEXT = "  Raf binds  Ras in London.\n\n It is active. \n"


@pytest.fixture(scope="module")
def backend() -> SpacyBackend:
    if not any(spacy.util.is_package(name) for name in MODELS):
        pytest.skip("no English model of spaCy is installed: python -m spacy download ...")
    return load_backend("spacy")


def blank(*pipes: str) -> SpacyBackend:
    model = spacy.blank("en")
    for pipe in pipes:
        model.add_pipe(pipe)
    return load_backend(model)


def test_the_backend_names_model_and_versions(backend):
    assert backend.name.startswith("spacy:en_core_")
    assert backend.version.endswith(f"spaCy {spacy.__version__}")


def test_sentences_have_exact_offsets(backend):
    [sentences] = analyze(backend, [Document(TEXT)])
    assert len(sentences) == 2
    for sentence in sentences:
        assert TEXT[sentence.start :].startswith(sentence.text)
        for token in sentence.tokens:
            assert sentence.text[token.start : token.end] == token.text


def test_a_call_hands_all_its_sentences_to_one_pipe():
    backend = blank("sentencizer")
    calls = []

    class Counting:
        meta, pipe_names = backend._model.meta, backend._model.pipe_names

        def pipe(self, texts, **options):
            calls.append(list(texts))
            return backend._model.pipe(calls[-1], **options)

    counted = load_backend(Counting())
    counted.parse([Sentence("Raf binds Ras."), Sentence("It is active.")])
    assert calls == [["Raf binds Ras.", "It is active."]]


def test_a_named_model_is_loaded_once(monkeypatch, backend):
    loaded = []
    load = spacy.load
    monkeypatch.setattr(spacy, "load", lambda name: loaded.append(name) or load(name))
    LOADED.clear()
    assert load_backend("spacy")._model is load_backend("spacy")._model
    assert len(loaded) == 1


def test_blanks_are_no_tokens(backend):
    [sentences] = analyze(backend, [Document(TEXT)])
    words = [token.text for sentence in sentences for token in sentence.tokens]
    assert words == "Raf binds Ras in London . It is active .".split()


def test_every_sentence_has_one_root_and_a_head_for_every_word(backend):
    [sentences] = analyze(backend, [Document(TEXT)])
    for sentence in sentences:
        assert [edge.relation for edge in sentence.dependencies if edge.head == ROOT] == ["root"]
        assert len(sentence.dependencies) == len(sentence.tokens)


def test_tokens_have_lemma_and_parts_of_speech(backend):
    [[_, second]] = analyze(backend, [Document(TEXT)])
    assert (second.tokens[1].lemma, second.tokens[1].pos, second.tokens[1].tag) == (
        *("be", "AUX"),
        "VBZ",
    )


def test_entities_of_the_document_are_kept(backend):
    document = Document(TEXT, [Entity("T1", "Protein", ((13, 16),), "Ras")])
    [[first, _]] = analyze(backend, [document])
    assert [first.tokens[i].text for i in first.tokens_of(first.entities[0])] == ["Ras"]


def test_entities_of_the_model_are_added_on_request(backend):
    [[first, _]] = analyze(load_backend(backend._model, entities=True), [Document(TEXT)])
    assert "London" in [entity.text for entity in first.entities]


def test_entities_of_the_model_are_left_out_otherwise(backend):
    [[first, _]] = analyze(backend, [Document(TEXT)])
    assert first.entities == ()


def test_documents_without_words_have_no_sentences(backend):
    found = analyze(backend, [Document(""), Document(" \n "), Document("Raf binds.")])
    assert [len(sentences) for sentences in found] == [0, 0, 1]


def test_a_model_that_is_not_installed_is_named_with_the_way_to_install_it():
    message = r"the model 'xx_no_such' is not installed.*\n.*spacy download xx_no_such"
    with pytest.raises(KernelInputError, match=message):
        load_backend("spacy:xx_no_such")


def test_a_pipeline_without_a_parser_gives_tokens():
    [sentence] = blank().parse([Sentence("Raf binds. It is.")])
    assert len(sentence.tokens) == 6
    assert sentence.dependencies == ()


def test_sentences_that_an_entity_stands_across_are_one():
    document = Document("Raf binds. It is. Yes.", [Entity("T1", "P", ((4, 13),))])
    [sentences] = analyze(blank("sentencizer"), [document])
    assert [sentence.text for sentence in sentences] == ["Raf binds. It is.", "Yes."]


def test_a_sentence_longer_than_spacy_takes_is_parsed_in_parts():
    model, text = spacy.blank("en"), "Raf binds Ras " * 15_000
    model.max_length = 150_000
    with pytest.raises(ValueError, match="E088"):
        model(text)
    [sentence] = load_backend(model).parse([Sentence(text)])
    assert len(sentence.tokens) == 45_000
    assert sentence.tokens[-1][:3] == ("Ras", len(text) - 4, len(text) - 1)
