"""Sentences with marked words, and dependency paths in plain words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.relations import MarkedText, path_text
from kernelwood.relations.wording import WordedExample, mark_shared, spell_path
from kernelwood.views import make_view, stem


def pair(words, dependencies=(), ends=(0, -1), **given):
    """Return a candidate between two words of a sentence."""
    listed = words.split()
    ends = [end % len(listed) for end in ends]
    starts = [sum(len(word) + 1 for word in listed[:i]) for i in range(len(listed))]
    entities = [
        kw.text.Entity(f"T{i}", "protein", ((starts[i], starts[i] + len(listed[i])),), listed[i])
        for i in ends
    ]
    sentence = kw.Sentence.from_words(listed, dependencies=dependencies, entities=entities, **given)
    return kw.text.Candidate("c", sentence, list(zip(("first", "second"), entities, strict=True)))


def marked(candidate):
    spans = tuple(span for entity in candidate.entities for span in entity.spans)
    return MarkedText(candidate.sentence.text, spans)


def example(candidate, *views):
    return kw.Example("c", views={name: make_view(name, candidate)[0] for name in views})


def shared(first, second, *views):
    """Return two sentences of pairs with the words marked that views share."""
    ones = [pair(words) for words in (first, second)]
    worded = [WordedExample(example(one, *views), marked(one)) for one in ones]
    return [str(one) for one in mark_shared(*worded, views)]


def spelled(words, dependencies, view="stem-steps", **given):
    one = pair(words, dependencies, **given)
    return path_text(spell_path(example(one, view), marked(one)))


# Marked text.

SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8)), max_size=4).map(
    lambda rows: tuple((start, start + length) for start, length in rows)
)


@st.composite
def marked_texts(draw):
    text = draw(st.text("ab, ", min_size=40, max_size=80))
    return MarkedText(text, draw(SPANS), draw(SPANS), draw(SPANS))


@given(marked_texts())
def test_pieces_add_up_to_the_text(one):
    assert "".join(text for text, _ in one.pieces()) == one.text
    place = 0
    for text, kind in one.pieces():
        within = {
            name
            for name, spans in (
                ("trigger", one.trigger), ("entity", one.entities), ("shared", one.shared),
            )
            if any(start <= place and place + len(text) <= end for start, end in spans)
        }  # fmt: skip
        assert kind in within if kind else not within
        place += len(text)


@given(marked_texts())
def test_brackets_are_all_that_is_added(one):
    assert re.sub(r"[][{}*]", "", str(one)) == one.text
    assert str(one).count("[") == len(one.entities) == str(one).count("]")


@given(marked_texts(), st.integers(1, 60))
def test_a_clipped_text_keeps_its_marks(one, length):
    cut = one.clipped(length)
    assert cut.text.strip("…") in one.text
    for name in ("entities", "trigger", "shared"):
        before = [one.text[start:end] for start, end in getattr(one, name)]
        after = [cut.text[start:end] for start, end in getattr(cut, name)]
        assert not set(after) - set(before)
    if len(one.text) <= length:
        assert cut == one


def test_a_long_sentence_is_cut_around_its_entities():
    words = ["before"] * 100 + ["Raf", "binds", "Ras"] + ["after"] * 100
    text = " ".join(words)
    start, end = text.index("Raf"), text.index("Ras")
    cut = MarkedText(text, ((start, start + 3), (end, end + 3))).clipped(100)
    assert str(cut).startswith("… before") and str(cut).endswith("…")
    assert "[Raf] binds [Ras]" in str(cut) and len(cut.text) < 110


# Shared words.


def test_words_with_the_same_stem_are_shared():
    found = shared("Raf activates Ras", "Mek slowly activated Erk", "stem-context")
    assert found == ["[Raf] *activates* [Ras]", "[Mek] slowly *activated* [Erk]"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("often Raf binds Ras", "Mek often binds Erk", "[Mek] often *binds* [Erk]"),
        ("often Raf binds Ras", "often Mek often binds Erk", "*often* [Mek] often *binds* [Erk]"),
        ("so Raf , Ras often", "often Mek often Erk often", "often [Mek] often [Erk] *often*"),
    ],
)
def test_words_are_shared_on_the_same_side_of_the_entities(first, second, expected):
    def names(words):
        return [i for i, word in enumerate(words.split()) if word in {"Raf", "Ras", "Mek", "Erk"}]

    a, b = (pair(words, ends=names(words)) for words in (first, second))
    worded = [WordedExample(example(one, "stem-context"), marked(one)) for one in (a, b)]
    _, found = mark_shared(*worded, ["stem-context"])
    assert str(found) == expected


def test_of_words_on_a_path_the_one_near_the_entities_is_shared():
    arcs = [(5, "nsubj", 4), (5, "dobj", 6)]
    one = pair("binding is known when Raf binds Ras", arcs, ends=(4, 6))
    worded = WordedExample(example(one, "stem-steps"), marked(one))
    found, _ = mark_shared(worded, worded, ["stem-steps"])
    assert str(found) == "binding is known when [Raf] *binds* [Ras]"


def test_words_that_only_texts_share_are_not_marked():
    found = shared("Raf activates Ras", "Mek activates Erk", "names")
    assert found == ["[Raf] activates [Ras]", "[Mek] activates [Erk]"]


def test_without_stems_only_equal_words_are_shared():
    found = shared("Raf Binds free Ras", "Mek binds freely Erk", "context")
    assert found == ["[Raf] *Binds* free [Ras]", "[Mek] *binds* freely [Erk]"]


def test_articles_punctuation_and_entities_are_not_marked():
    found = shared("Raf , the Raf , binds a Ras", "Raf , the Raf , binds a Ras", "context")
    assert found[0] == found[1]
    assert re.findall(r"\*(.*?)\*", found[0]) == ["Raf", "binds"]


@given(
    st.lists(st.sampled_from("binds bound activates activation of by the ,".split()), max_size=6),
    st.lists(st.sampled_from("binds binding activates of to by a ,".split()), max_size=6),
)
def test_shared_words_are_those_whose_stems_occur_in_both(first, second):
    texts = [" ".join(["Raf", *words, "Ras"]) for words in (first, second)]
    found = shared(*texts, "stem-context")
    common = {stem(word) for word in first} & {stem(word) for word in second} - {"the", "a", ","}
    for words, text in zip((first, second), found, strict=True):
        expected = [f"*{word}*" if stem(word) in common else word for word in words]
        assert text == " ".join(["[Raf]", *expected, "[Ras]"])


# Paths.


def test_a_path_is_spelled_with_words_and_plain_names():
    found = spelled("Raf activates Ras", [(1, "nsubj", 0), (1, "dobj", 2)])
    assert found == "[Raf] —subject of→ activates —object→ [Ras]"


@pytest.mark.parametrize("view", ["stem-steps", "steps", "path"])
def test_views_of_paths_are_spelled_alike(view):
    found = spelled("Activation of Ras by Raf", [
        (0, "prep", 1), (1, "pobj", 2), (0, "prep", 3), (3, "pobj", 4),
    ], view, ends=(2, 4))  # fmt: skip
    assert found == "[Ras] ←of— Activation —by→ [Raf]"


@pytest.mark.parametrize(
    ("relation", "down", "up"),
    [
        ("nsubjpass", "—passive subject→", "—passive subject of→"),
        ("nsubj:pass", "—passive subject→", "—passive subject of→"),
        ("obj", "—object→", "—object of→"),
        ("prep_of", "—of→", "←of—"),
        ("nmod:in_spite_of", "—in spite of→", "←in spite of—"),
        ("agent", "—by→", "←by—"),
        ("conj_and", "—and→", "—and→"),
        ("conj:or", "—or→", "—or→"),
        ("conj", "—joined with→", "—joined with→"),
        ("appos", "—that is→", "—that is→"),
        ("compound", "—noun modifier→", "—noun modifier of→"),
        ("acl:relcl", "—relative clause→", "—relative clause of→"),
        ("prep", "—preposition→", "—preposition of→"),
        ("unheard", "—unheard→", "—unheard of→"),
    ],
)
def test_dependencies_have_plain_names(relation, down, up):
    assert spelled("Raf Ras", [(0, relation, 1)]) == f"[Raf] {down} [Ras]"
    assert spelled("Raf Ras", [(1, relation, 0)]) == f"[Raf] {up} [Ras]"


def test_of_words_with_one_stem_the_one_near_the_entities_is_taken():
    words = "binding is known when Raf binds Ras"
    found = spelled(words, [(5, "nsubj", 4), (5, "dobj", 6)], ends=(4, 6))
    assert found == "[Raf] —subject of→ binds —object→ [Ras]"


def test_other_entities_on_a_path_are_not_named():
    one = pair("Raf Mek Ras", [(1, "nn", 0), (1, "appos", 2)])
    mek = kw.text.Entity("T9", "protein", ((4, 7),), "Mek")
    sentence = kw.Sentence.from_words(
        ["Raf", "Mek", "Ras"], dependencies=[(1, "nn", 0), (1, "appos", 2)],
        entities=[*one.entities, mek],
    )  # fmt: skip
    one = kw.text.Candidate("c", sentence, one.participants)
    found = path_text(spell_path(example(one, "steps"), marked(one)))
    assert found == "[Raf] —noun modifier of→ other entity —that is→ [Ras]"


def test_discontinuous_entities_are_numbered():
    one = pair("Raf binds Ras", [(1, "nsubj", 0), (1, "dobj", 2)])
    parts = MarkedText("Raf binds Ras", ((0, 1), (2, 3), (10, 13)))
    found = path_text(spell_path(example(one, "steps"), parts))
    assert found == "[entity 1] —subject of→ binds —object→ [entity 2]"


def test_words_that_look_like_dependencies_are_words():
    found = spelled("Raf <i> Ras", [(1, "nsubj", 0), (1, "dobj", 2)], "steps")
    assert found == "[Raf] —subject of→ <i> —object→ [Ras]"


def test_without_a_path_view_nothing_is_spelled():
    assert spelled("Raf binds Ras", [], "context") == ""


def test_pairs_without_dependencies_are_joined_by_words():
    assert spelled("Raf binds Ras", []) == "[Raf] —next to→ binds —next to→ [Ras]"
