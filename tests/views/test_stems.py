"""Words without their endings."""

import pytest
from hypothesis import given, strategies as st

from kernelwood.views import stem


@pytest.mark.parametrize(
    "words",
    [
        "bind binds binding",
        "activates activated activating activation activator activators",
        "interact interacts interacted interacting interaction interactions",
        "antibody antibodies",
        "inhibit inhibitor inhibitory inhibition",
    ],
)
def test_forms_of_a_word_have_one_stem(words):
    assert len({stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize("word", ["does", "the", "ring", "IL-2", "p53", "Binding", "co-binds", ""])
def test_short_words_and_names_are_left_alone(word):
    assert stem(word) == word


@given(st.text(st.sampled_from("abdeginorst"), max_size=12))
def test_a_stem_begins_the_word_and_has_four_letters_if_the_word_has(word):
    assert word.startswith(stem(word))
    assert len(stem(word)) >= min(4, len(word))
