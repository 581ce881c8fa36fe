"""Words and their parts of speech, unknown words included."""

import pytest

from kernelwood.parsing.lexicon import estimate_lexicon, signatures

NOUN, VERB, DETERMINER, NAME = ("NN",), ("VBD",), ("DT",), ("NNP",)
NUMBERS = {NOUN: 0, VERB: 1, DETERMINER: 2, NAME: 3}
LABELS = ["NN", "VBD", "DT", "NNP"]


@pytest.fixture
def lexicon():
    words = {("the", DETERMINER): 500, ("a", DETERMINER): 300}
    words |= {(f"{stem}ness", NOUN): 1 for stem in ("kind", "dark", "sad", "ill", "mad")}
    words |= {(f"{stem}ed", VERB): 1 for stem in ("walk", "talk", "jump", "land", "load")}
    words |= {(name, NAME): 1 for name in ("Ada", "Oslo", "Rome", "Turin", "Basel")}
    words[("light", NOUN)] = 3
    return estimate_lexicon(words, NUMBERS, LABELS)


def probabilities(lexicon, word, opener=False, tag=None):
    symbols, p = lexicon.look_up(word, opener, tag)
    return dict(zip(symbols.tolist(), p.tolist(), strict=True))


@pytest.mark.parametrize(
    ("word", "label"), [("fondness", 0), ("barked", 1), ("the", 2), ("Vienna", 3)]
)
def test_the_look_of_a_word_tells_its_part_of_speech(lexicon, word, label):
    assert lexicon.best_tag(word, opener=False) == label


@pytest.mark.parametrize(("word", "label"), [("Zurich", 3), ("NATO", 0), ("blick", 0)])
def test_an_ending_never_seen_leaves_the_shape(lexicon, word, label):
    # No name ends like the first; no word at all is written like the second.
    assert lexicon.best_tag(word, opener=False) == label


def test_a_number_is_like_other_numbers():
    cardinal = ("CD",)
    words = {(word, NOUN): 1 for word in "ice tea sea rain wind".split()}
    words |= {("10", cardinal): 1, ("200", cardinal): 1}
    lexicon = estimate_lexicon(words, {NOUN: 0, cardinal: 1}, ["NN", "CD"])
    assert lexicon.best_tag("3,000", opener=False) == 1


def test_a_capital_means_less_at_the_beginning(lexicon):
    assert lexicon.best_tag("Barked", opener=True) == 1


def test_an_opener_is_looked_up_in_small_letters(lexicon):
    assert lexicon.best_tag("The", opener=True) == 2


def test_closed_classes_take_no_unknown_words(lexicon):
    assert 2 not in probabilities(lexicon, "blick")


def test_a_rare_word_may_have_a_part_of_speech_never_seen(lexicon):
    assert probabilities(lexicon, "light").keys() >= {0, 1}


def test_a_frequent_word_has_those_it_was_seen_with(lexicon):
    assert probabilities(lexicon, "the").keys() == {2}


def test_frequent_words_are_as_probable_as_they_are_frequent(lexicon):
    assert probabilities(lexicon, "the")[2] == pytest.approx(500 / 800)


def test_a_given_part_of_speech_is_the_only_one(lexicon):
    assert probabilities(lexicon, "the", tag=0).keys() == {0}


def test_a_part_of_speech_that_does_not_exist_leaves_nothing(lexicon):
    assert probabilities(lexicon, "the", tag=-1) == {}


@pytest.mark.parametrize("word", ["", "-", "...", "名詞", "ÉTÉ", "x" * 10_000, "3.5", "p53"])
def test_any_string_is_a_word(lexicon, word):
    found = probabilities(lexicon, word)
    assert found and all(0.0 < p <= 1.0 for p in found.values())


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("12", "1"),
        ("1,250.5", "1"),
        ("p53", "d"),
        ("10-year", "d-"),
        ("NATO", "A"),
        ("Oslo", "C"),
        ("low-cost", "l-"),
        ("Corp.", "C."),
        ("--", "o"),
    ],
)
def test_the_shape_of_a_word(word, shape):
    assert signatures(word, opener=False)[1] == shape


def test_annotated_symbols_share_what_their_part_of_speech_knows():
    inside, outside = ("NN", "NP"), ("NN", "VP")
    words = {("cat", inside): 8, ("dog", inside): 1, ("dog", outside): 1}
    lexicon = estimate_lexicon(words, {inside: 0, outside: 1}, ["NN"])
    assert set(probabilities(lexicon, "cat")) == {0, 1}
