"""Whether a sentence denies what it says about two entities."""

import pytest

from kernelwood.structures import Tree
from kernelwood.text import Candidate, Entity, Sentence
from kernelwood.views import Negations, make_view, negation


def at(sentence, word):
    token = next(token for token in sentence.tokens if token.text == word)
    return Entity(word, "protein", ((token.start, token.end),), word)


def polarity(sentence, first="Raf", second="Ras"):
    common, told = negation(sentence, at(sentence, first), at(sentence, second)).nodes
    assert common == "pair"
    return told


def parsed(line, arcs):
    return Sentence.from_words(line.split(), dependencies=arcs)


BINDS = [(3, "nsubj", 0), (3, "aux", 1), (3, "neg", 2), (3, "dobj", 4)]


@pytest.mark.parametrize("word", ["not", "NOT", "n't", "never"])
def test_a_word_that_denies_the_verb_is_seen(word):
    assert polarity(parsed(f"Raf did {word} bind Ras", BINDS)) == "denied"


def test_an_unknown_word_denies_if_the_parser_says_so():
    assert polarity(parsed("Raf did nimmer bind Ras", BINDS)) == "denied"


def test_a_word_that_denies_counts_whatever_the_parser_calls_it():
    arcs = [(3, "nsubj", 0), (3, "aux", 1), (3, "advmod", 2), (3, "obj", 4)]
    assert polarity(parsed("Raf did not bind Ras", arcs)) == "denied"


def test_a_noun_can_be_denied():
    arcs = [(1, "det", 0), (1, "prep_between", 3), (3, "conj_and", 5)]
    assert polarity(parsed("no interaction between Raf and Ras", arcs)) == "denied"


def test_further_heads_do_not_count():
    arcs = [(1, "det", 0), (1, "acl", 3), (3, "mark", 2), (3, "ccomp", 5), (5, "nsubj", 4)]
    arcs.append((5, "dobj", 6))
    assert polarity(parsed("no evidence to say Raf binds Ras", arcs)) == "stated"


def test_the_path_itself_can_deny():
    arcs = [(1, "nsubj", 0), (1, "xcomp", 3), (3, "aux", 2), (3, "dobj", 4)]
    assert polarity(parsed("Raf failed to bind Ras", arcs)) == "denied"


def test_one_of_two_entities_can_be_excepted():
    arcs = [(1, "nsubj", 0), (1, "dobj", 2), (2, "conj_negcc", 5), (5, "neg", 4)]
    sentence = parsed("Raf binds Ras but not Rho", arcs)
    assert polarity(sentence, "Raf", "Rho") == "denied"
    assert polarity(sentence, "Raf", "Ras") == "stated"


def test_what_is_denied_elsewhere_does_not_matter():
    arcs = [(1, "nsubj", 0), (1, "dobj", 2), (1, "advcl", 7), (7, "nsubj", 4), (7, "neg", 6)]
    assert polarity(parsed("Raf binds Ras while Rho does not move", arcs)) == "stated"


def test_most_sentences_deny_nothing():
    arcs = [(1, "nsubj", 0), (1, "dobj", 2)]
    assert polarity(parsed("Raf binds Ras", arcs)) == "stated"


def test_the_order_of_the_entities_does_not_matter():
    sentence = parsed("Raf did not bind Ras", BINDS)
    assert polarity(sentence, "Ras", "Raf") == "denied"


def test_without_dependencies_the_words_between_are_looked_at():
    assert polarity(Sentence.from_words("Raf did not bind Ras".split())) == "denied"
    assert polarity(Sentence.from_words("not Raf but Rho binds Ras".split())) == "stated"


def test_a_tree_gives_dependencies():
    tree = Tree.from_brackets(
        "(S (NP (NN Raf)) (VP (VBD did) (RB not) (VP (VB bind) (NP (NN Ras)))))"
    )
    sentence = Sentence.from_words("Raf did not bind Ras".split(), tree=tree)
    assert polarity(sentence) == "denied"


def test_an_entity_without_a_token_is_not_denied():
    sentence = parsed("Raf did not bind Ras", BINDS)
    assert Negations(sentence).around(at(sentence, "Raf"), Entity("x", "", ((3, 4),))).nodes == (
        "pair",
        "stated",
    )


def test_the_view_has_a_name():
    sentence = parsed("Raf did not bind Ras", BINDS)
    first, second = at(sentence, "Raf"), at(sentence, "Ras")
    candidate = Candidate("c", sentence, [("first", first), ("second", second)])
    assert make_view("negation", candidate) == (negation(sentence, first, second), None)
