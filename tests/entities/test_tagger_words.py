"""What the tagger computes in a fast way, beside the plain way."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from snowballstemmer import EnglishStemmer

from kernelwood import _native
from kernelwood.entities.chain_model import ChainModel, ChainWeights, n_labels, sentence_rows
from kernelwood.entities.dictionary import Dictionary
from kernelwood.entities.pieces import cut_pieces
from kernelwood.entities.tagger_corpus import listed_places, placed_terms
from kernelwood.entities.tagger_features import (
    GREEK,
    LONGEST,
    cut_text,
    cut_token,
    piece_features,
    token_features,
)
from kernelwood.text import find_sentences, tokenize
from kernelwood.views import stem

ENDINGS = (
    "s es ies ied sses us ss ed eed ing edly eedly ingly bl at iz y anci enci ogi li bli abli alli "
    "fulli lessli ousli entli aliti biliti iviti tional ational alism ation ization izer ator "
    "iveness fulness ousness ogist icate ative alize iciti ical ful ness ic ance ence able ible "
    "ate ive ize iti al ism ion er ous ant ent ment ement e l ll ly log past even cann inn earr "
    "herr out succ proc exc arsen commun emerg gener inter later organ univers bb dd ff gg mm nn "
    "pp rr tt ying sion andes atlas bias cosmos early gently howe idly news only singly skies skis "
    "sky ugly"
).split()
letters = st.text("aeiouybdlnrstwxyz", max_size=5)
lower_words = st.builds(
    lambda start, ends: start + "".join(ends),
    letters,
    st.lists(st.sampled_from(ENDINGS), max_size=3),
)
ascii_words = st.text(
    st.one_of(st.sampled_from("aAbIVX-_09'.("), st.characters(max_codepoint=127)), min_size=1
)
TEXTS = st.lists(
    st.sampled_from(
        ["Raf", "IL-2", "(", ")", "[", "]", ". ", ".", "?", "! ", " ", " ", "\n", "\u00a0", "it's",
         "TNF-α", "TNF–α", "β", "e.g.", "...", "U.S.", "The", "x_y", "’s", "\u0301", "ÄÖ", "\x1f"]
    ),
    max_size=20,
).map("".join)  # fmt: skip


@given(lower_words.filter(bool))
def test_stems_are_those_of_snowball(word):
    assert _native.english_stem(word) == EnglishStemmer().stemWord(word)


def test_every_pair_of_endings_has_the_stem_of_snowball():
    plain = EnglishStemmer()
    words = [*ENDINGS, *(a + b for a in ENDINGS for b in ENDINGS)]
    assert [_native.english_stem(word) for word in words] == plain.stemWords(words)


@pytest.mark.parametrize("word", ["Raf", "il-2", "é"])
def test_the_native_stemmer_takes_letters_only(word):
    with pytest.raises(ValueError, match="ASCII letters in lower case"):
        _native.english_stem(word)


def features_of(token):
    pieces = [
        piece_features(token, number, stem(token[slice(*span)].lower()))
        for number, span in enumerate(cut_token(token))
    ]
    return [token_features(token, stem(token.lower())), *pieces]


@given(st.lists(st.one_of(ascii_words, st.sampled_from(sorted(GREEK)), st.just("a" * 30))))
def test_native_features_of_words(tokens):
    expected = [features_of(token) for token in tokens]
    names = sorted({name for rows in expected for row in rows for name in row})
    known = {name: 3 * number for number, name in enumerate(names) if number % 5}  # not all
    finder = _native.WordFeatures([*known], [*known.values()], sorted(GREEK), LONGEST)
    groups, numbers, piece_groups, piece_numbers, begins = (
        array.tolist() for array in finder.find(tokens)
    )
    made = []
    for token in range(len(tokens)):
        rows = [numbers[groups[token] : groups[token + 1]]]
        for piece in range(begins[token], begins[token + 1]):
            rows.append(piece_numbers[piece_groups[piece] : piece_groups[piece + 1]])
        made.append(rows)
    assert made == [
        [[known[name] for name in row if name in known] for row in rows] for rows in expected
    ]


def test_native_features_are_for_ascii_words():
    finder = _native.WordFeatures([], [], [], LONGEST)
    with pytest.raises(ValueError, match="ASCII"):
        finder.find(["é"])
    with pytest.raises(ValueError, match="number"):
        _native.WordFeatures(["Plx"], [], [], LONGEST)


@given(TEXTS)
def test_one_cut_of_a_text_is_that_of_its_sentences(text):
    cut = cut_text(text)
    assert cut == cut_text(text, tokens=tokenize(text))
    words, pieces = [], []
    for start, end in find_sentences(text):
        for token in tokenize(text[start:end]):
            words.append(token.text)
            first = start + token.start
            pieces += [(first + left, first + right) for left, right in cut_token(token.text)]
    assert cut.tokens == words
    assert list(zip(cut.starts, cut.ends, strict=True)) == pieces


@given(TEXTS, st.booleans())
def test_pieces_of_known_tokens(text, variants):
    assert cut_pieces(text, variants, tokenize(text)) == cut_pieces(text, variants)


@given(st.lists(TEXTS, min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_emissions_of_new_texts_are_those_of_their_features(texts, seed):
    terms = Dictionary([("Raf", "A"), ("TNF-α it's", "A"), ("IL-2", "A")])
    rows = []
    for text in texts:
        cut = cut_text(text)
        listed = [(start, end, "hA") for start, end, _ in terms.matches(text)]
        rows.append((text, cut, listed, listed_places(text, cut, listed)))
    names = {
        feature[1:]
        for _, cut, _, places in rows
        for sentence in sentence_rows(cut, places)
        for row in sentence
        for feature in row
    }
    generator = np.random.default_rng(seed)
    kept = sorted(name for name in names if generator.random() < 0.8)
    n = n_labels(1)
    weights = ChainWeights(
        np.array([*kept, None], dtype=object)[:-1],
        np.arange(len(kept) + 1) * n,
        np.tile(np.arange(n, dtype=np.int32), len(kept)),
        generator.normal(size=n * len(kept)),
        np.zeros((n, n)),
        np.ones(n, dtype=np.uint8),
    )
    weights.check(1)
    model, plain = ChainModel(weights), ChainModel(weights)
    for text, cut, listed, places in rows:
        made = model.new_emissions(text, cut, placed_terms(cut, listed))
        assert np.array_equal(made, plain.emissions(cut, places))
