"""Dictionary forms of words."""

from __future__ import annotations

import pytest

from kernelwood.parsing.lemmas import lemma_of


@pytest.mark.parametrize(
    ("word", "tag", "lemma"),
    [
        ("is", "VBZ", "be"),
        ("has", "VBZ", "have"),
        ("binds", "VBZ", "bind"),
        ("expresses", "VBZ", "express"),
        ("increases", "VBZ", "increase"),
        ("carries", "VBZ", "carry"),
        ("inhibited", "VBD", "inhibit"),
        ("activated", "VBN", "activate"),
        ("induced", "VBN", "induce"),
        ("required", "VBN", "require"),
        ("observed", "VBD", "observe"),
        ("stained", "VBN", "stain"),
        ("expressed", "VBN", "express"),
        ("occurred", "VBD", "occur"),
        ("identified", "VBN", "identify"),
        ("bound", "VBN", "bind"),
        ("binding", "VBG", "bind"),
        ("signaling", "VBG", "signal"),
        ("being", "VBG", "be"),
        ("cells", "NNS", "cell"),
        ("studies", "NNS", "study"),
        ("processes", "NNS", "process"),
        ("analyses", "NNS", "analysis"),
        ("mice", "NNS", "mouse"),
        ("Proteins", "NNS", "protein"),
        ("The", "DT", "the"),
        ("ERKs", "NNS", "ERKs"),
        ("IL-2", "NN", "IL-2"),
        ("Oslo", "NNP", "Oslo"),
        ("red", "VBN", "red"),
        ("s", "NNS", "s"),
        ("", "NN", ""),
    ],
)
def test_common_forms_have_their_lemma(word, tag, lemma):
    assert lemma_of(word, tag) == lemma


@pytest.mark.parametrize(
    ("word", "tag", "known", "lemma"),
    [
        ("viruses", "NNS", "virus", "virus"),
        ("caused", "VBN", "cause", "cause"),
        ("controlled", "VBN", "control", "control"),
        ("diagnoses", "NNS", "diagnosis", "diagnosis"),
        ("coring", "VBG", "core", "core"),
    ],
)
def test_known_words_decide_between_spellings(word, tag, known, lemma):
    assert lemma_of(word, tag, {known}.__contains__) == lemma
