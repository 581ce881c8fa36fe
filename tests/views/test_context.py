"""Words before, between and after two entities."""

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from kernelwood.errors import StructureError
from kernelwood.structures import Sequence
from kernelwood.text import Entity, Sentence
from kernelwood.views import Context, Contexts, context

SENTENCE = Sentence.from_words("a b c d e f g h i j".split())


def at(*tokens, name="x"):
    """Return an entity on some tokens of SENTENCE, each with a span of its own."""
    return Entity(name, "thing", tuple((2 * token, 2 * token + 1) for token in tokens))


def parts(*arguments, **options):
    """Return the nodes of the three parts as strings."""
    return tuple(" ".join(part.nodes) for part in context(*arguments, **options))


def test_three_parts_in_the_order_of_the_sentence():
    found = parts(SENTENCE, at(2), at(5), blind=("X", "Y"))
    assert found == ("a b", "X d e Y", "g h i j")


def test_the_window_keeps_the_nearest_words():
    assert parts(SENTENCE, at(4), at(5), window=1)[::2] == ("d", "g")


def test_a_window_of_zero_keeps_nothing_outside():
    assert parts(SENTENCE, at(4), at(5), window=0)[::2] == ("", "")


def test_without_window_everything_is_kept():
    assert parts(SENTENCE, at(4), at(5), window=None)[::2] == ("a b c d", "g h i j")


def test_four_words_are_kept_by_default():
    assert parts(SENTENCE, at(5), at(5))[::2] == ("b c d e", "g h i j")


def test_a_negative_window_is_refused():
    with pytest.raises(StructureError, match="0 or more, got -1"):
        context(SENTENCE, at(1), at(2), window=-1)


def test_the_window_does_not_cut_between():
    assert parts(SENTENCE, at(0), at(9), window=1)[1] == "ENTITY1 b c d e f g h i ENTITY2"


def test_reversed_entities_show_in_their_labels():
    assert parts(SENTENCE, at(3), at(1))[1] == "ENTITY2 c ENTITY1"


def test_an_entity_of_several_words_is_written_once():
    assert parts(SENTENCE, at(1, 2), at(4, 5))[1] == "ENTITY1 d ENTITY2"


def test_ends_can_keep_their_words():
    assert parts(SENTENCE, at(1, 2), at(4), blind=None)[1] == "b c d e"


def test_a_nested_entity_follows_the_one_around_it():
    assert parts(SENTENCE, at(3), at(2, 3, 4)) == ("a b", "ENTITY2 ENTITY1", "f g h i")


def test_entities_that_begin_together_are_written_in_the_order_given():
    assert parts(SENTENCE, at(3), at(3, 4))[1] == "ENTITY1 ENTITY2"


def test_overlapping_entities_have_nothing_between():
    assert parts(SENTENCE, at(2, 3), at(3, 4))[1] == "ENTITY1 ENTITY2"


def test_words_inside_a_discontinuous_entity_are_between():
    assert parts(SENTENCE, at(2, 5), at(3))[1] == "ENTITY1 ENTITY2 e"


def test_other_entities_are_blinded_everywhere():
    others = [at(0, name="o"), at(3, name="p"), at(6, 7, name="q")]
    sentence = SENTENCE.with_parts(entities=others)
    assert parts(sentence, at(2), at(4)) == (
        "ENTITY b",
        "ENTITY1 ENTITY ENTITY2",
        "f ENTITY i j",
    )


def test_ends_that_keep_their_words_are_not_blinded_as_others():
    sentence = SENTENCE.with_parts(entities=[at(2, name="x"), at(4, name="y")])
    assert parts(sentence, at(2, name="x"), at(4, name="y"), blind=None)[1] == "c d e"


def test_an_entity_around_an_end_is_written_on_both_sides():
    sentence = SENTENCE.with_parts(entities=[at(1, 2, 3, name="o")])
    assert parts(sentence, at(2), at(4), window=1)[:2] == ("ENTITY", "ENTITY1 ENTITY ENTITY2")


def test_an_entity_around_a_later_end_is_written_on_both_sides():
    sentence = SENTENCE.with_parts(entities=[at(3, 4, 5, name="o")])
    found = parts(sentence, at(1), Entity("y", "t", ((8, 9), (12, 13))))
    assert found[1] == "ENTITY1 c ENTITY ENTITY2 ENTITY"


def test_an_entity_without_token_is_left_out():
    assert parts(SENTENCE, Entity("x", "t", ()), at(1)) == ("a", "ENTITY2", "c d e f")


def test_two_entities_without_token_leave_nothing():
    nowhere = Entity("x", "t", ())
    assert context(SENTENCE, nowhere, nowhere) == (Sequence(), Sequence(), Sequence())


def test_joined_parts_are_told_apart_by_edges():
    found = Context(Sequence(["a"]), Sequence(["X", "Y"]), Sequence(["b"])).joined()
    expected = [("before", "a"), ("between", "X"), ("between", "Y"), ("after", "b")]
    assert found == Sequence(expected)


def test_an_entity_of_another_sentence_is_refused():
    with pytest.raises(StructureError, match="not of its document"):
        context(SENTENCE, at(1), at(40))


some_tokens = st.sets(st.integers(0, 9), min_size=1, max_size=4).map(sorted)


@given(some_tokens, some_tokens)
def test_no_word_is_lost_or_doubled(first, second):
    found = context(SENTENCE, at(*first), at(*second), window=None, blind=None)
    assert found.joined().nodes == SENTENCE.words


@given(some_tokens, some_tokens)
def test_blinding_replaces_the_words_of_the_entities_by_one_node_each(first, second):
    nodes = context(SENTENCE, at(*first), at(*second), window=None).joined().nodes
    kept = [word for index, word in enumerate(SENTENCE.words) if index not in {*first, *second}]
    assert sorted(nodes) == ["ENTITY1", "ENTITY2", *kept]


def plain_nodes(tokens, owners, written=None):
    """Return what is written for tokens; neighbors of one entity are written once."""
    found, before = [], None
    for token in tokens:
        owner = owners.get(token)
        if written and token in written:
            found += written[token]
            owner = None
        elif owner is None or owner != before:
            found.append(SENTENCE.words[token] if owner is None else "ENTITY")
        before = owner
    return found


@given(st.lists(some_tokens, min_size=2, max_size=5), st.integers(0, 4) | st.none())
def test_contexts_are_those_of_a_plain_walk(entities, window):
    others = [at(*tokens, name=str(number)) for number, tokens in enumerate(entities)]
    owners = {}
    for number in sorted(range(len(others)), key=lambda n: len(entities[n])):
        owners |= dict.fromkeys(entities[number], number)
    contexts = Contexts(SENTENCE.with_parts(entities=others), window=window)
    for first, second in pairwise(others):
        covered = entities[others.index(first)], entities[others.index(second)]
        low, high = min(map(min, covered)), max(map(max, covered)) + 1
        written = {token: [] for tokens in covered for token in tokens}
        for label, tokens in zip(("ENTITY1", "ENTITY2"), covered, strict=True):
            written[tokens[0]] = [*written[tokens[0]], label]
        before, after = plain_nodes(range(low), owners), plain_nodes(range(high, 10), owners)
        assert contexts.around(first, second) == (
            Sequence(
                before if window is None else before[len(before) - min(window, len(before)) :]
            ),
            Sequence(plain_nodes(range(low, high), owners, written)),
            Sequence(after[:window]),
        )
