"""The native search for terms finds what the search in plain Python finds."""

from __future__ import annotations

import random
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from entities.dictionary_reference import ReferenceSearch
from hypothesis import given, settings, strategies as st
from sizes import DEPTH

from kernelwood import _native
from kernelwood.entities import Dictionary
from kernelwood.entities.term_search import TermSearch, is_plain

# Of every kind: letters of several alphabets and cases, names of Greek letters, digits, marks,
# signs, blanks, dashes, clitics, characters that are composed, fold to several, or need 21 bits.
PARTS = [
    *"aAbBzZsdmxX019_.,-'’`!?+/()[]{}#@~^&:;\"% \n\t\r\x0b\x1c\x85\xa0\u2003\u3000",
    *"éÉßſıİçñÆǅﬁﬀ…–—−‒‐‑\u00ad\u200b\u200d\ufeff",
    *"αβΑΒσςΣΩωάΆϐµμΩÅ\u0301\u0308\u0327\u20d7\u0345\u034f",
    *"жЖ中文字あア한글ᄒ\u1161\u11abक\u093f\u09be\u09c7١²½Ⅷ①",
    *"😀𝔸𝛼\U00016d67\U00016d63\U0001f1e9\U0010ffff",
    *["alpha", "ALPHA", "Beta", "gamma", "lambda", "theta", "zeta", "alp", "betas", "omegA"],
    *["n't", "'s", "'re", "U.S.", "e.g.", "a.b.c", "1,250.5", "IL", "il", "TNF", "Ras", "raf"],
    *["kinase", "Kinase", "mTOR", "2a", "p53"],
    "\ud800",
]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=14).map("".join)
ANY = st.one_of(TEXTS, st.text(max_size=12))
CASES = st.sampled_from(["smart", "exact", "ignore"])


def normal(term):
    return " ".join(term.split())


def searches(terms, case, variants):
    rule = Dictionary([], case=case)._ignores_case
    return TermSearch(terms, rule, variants), ReferenceSearch(terms, rule, variants)


@settings(max_examples=400)
@given(
    terms=st.lists(ANY.map(normal).filter(bool), max_size=8),
    texts=st.lists(ANY, min_size=1, max_size=4),
    case=CASES,
    variants=st.booleans(),
    data=st.data(),
)
def test_the_native_search_finds_what_the_plain_one_finds(terms, texts, case, variants, data):
    native, plain = searches(terms, case, variants)
    assert native.placed == plain.placed
    mixed = data.draw(st.lists(st.sampled_from([*terms, *texts, " ", "-", "."]), max_size=8))
    for text in [*terms, *texts, "".join(mixed), " ".join(mixed)]:
        taken = data.draw(
            st.lists(st.tuples(st.integers(-2, 20), st.integers(-2, 20)).map(sorted), max_size=3)
        )
        assert native.find(text) == plain.find(text)
        assert native.find(text, taken) == plain.find(text, taken)


def test_it_does_so_for_many_terms_in_a_long_text():
    choose = random.Random(0)
    terms = list(
        dict.fromkeys(
            normal("".join(choose.choices(PARTS, k=choose.randint(1, 4)))) or "x"
            for _ in range(1500)
        )
    )
    text = "".join(choose.choice([*PARTS, *choose.sample(terms, 9)]) for _ in range(8000))
    for case in ("smart", "exact", "ignore"):
        for variants in (False, True):
            native, plain = searches(terms, case, variants)
            assert native.placed == plain.placed
            found = native.find(text)
            assert found == plain.find(text)
            assert len(found) > 500


def test_characters_that_change_the_spelling_of_others_are_not_plain():
    changed = set()
    for code in range(sys.maxunicode + 1):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            changed.add(chr(int(parts[1], 16)))
    changed |= {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    assert len(changed) > 90
    assert not [each for each in changed if is_plain(each)]


@pytest.mark.parametrize("variants", [True, False])
def test_what_is_plain_is_its_own_spelling(variants):
    codes = [*range(0xD800), *range(0xE000, 0x30000)]
    plain = [chr(code) for code in codes if is_plain(chr(code))]
    text = "".join(plain)
    assert unicodedata.is_normalized("NFC", text)
    assert unicodedata.normalize("NFC", text[::-1]) == text[::-1]
    assert len(text.casefold()) == len(text)
    terms = [normal(f"x{character}y") for character in plain[::97]]
    native, reference = searches(terms, "ignore", variants)
    assert native.placed == reference.placed
    listed = " ; ".join(f"X{character}Y" for character in plain[::97])
    assert native.find(listed) == reference.find(listed)


def test_a_long_term_of_many_pieces_is_found():
    term = "a " * DEPTH + "b"
    native, _ = searches([term, "a"], "exact", True)
    assert native.find(term) == [(0, len(term), 0)]


def test_a_token_with_very_many_runs_is_searched():
    text = "a1" * DEPTH + "-" * DEPTH + "'s" * DEPTH + "a." * DEPTH
    native, plain = searches(["a1", "b", "a."], "exact", True)
    assert native.find(text) == plain.find(text)


def test_nothing_is_found_in_an_empty_text():
    assert searches(["a"], "exact", True)[0].find("") == []


def test_threads_share_a_dictionary_and_the_characters():
    texts = [chr(0x4E00 + 300 * number) + " Ras" for number in range(40)]
    listed = Dictionary([("Ras", "protein"), *((text[0], "sign") for text in texts)])
    expected = [listed.find(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert list(pool.map(listed.find, texts)) == expected


def test_pieces_that_are_not_spelled_are_refused():
    search = TermSearch(["a"], lambda term: False, True)
    codes = np.frombuffer("e\u0301".encode("utf-32-le"), dtype=np.uint32)
    table = _native.CharacterTable()
    with pytest.raises(ValueError, match="pages of characters are missing"):
        _native.TermPieces(table, codes, True, False)
    TermSearch(["e\u0301"], lambda term: False, True)
    from kernelwood.entities.term_search import _CHARACTERS

    pieces = _native.TermPieces(_CHARACTERS.table, codes, True, False)
    assert pieces.unspelled() == [(0, 2)]
    nothing = np.empty(0, dtype=np.int64)
    with pytest.raises(ValueError, match="need their spelling"):
        search._automaton.find(pieces, nothing, nothing)


def test_a_number_that_is_no_character_is_refused():
    with pytest.raises(ValueError, match="no such character"):
        _native.CharacterTable().missing(np.array([0x110000], dtype=np.uint32))
