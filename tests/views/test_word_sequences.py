"""Words as sequences, stems, labels of tokens, and contexts of two entities."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from kernelwood.errors import StructureError
from kernelwood.structures import Sequence
from kernelwood.text import Entity, Event, Sentence, Token
from kernelwood.views import Context, Contexts, context, stem, words
from kernelwood.views.word_sequences import Mentions, check_blind, token_label

TOKEN = Token("Running", 0, 7, lemma="Run", pos="VERB", tag="VBG")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("text", "running"),
        ("lemma", "run"),
        ("stem", "run"),
        ("tag", "VBG"),
        ("pos", "VERB"),
    ],
)
def test_a_token_is_labeled_by_what_was_asked_for(labels, expected):
    assert token_label(TOKEN, labels=labels) == expected


@pytest.mark.parametrize(
    ("labels", "expected"), [("text", "Running"), ("lemma", "Run"), ("stem", "Running")]
)
def test_case_is_kept_on_request(labels, expected):
    assert token_label(TOKEN, labels=labels, lowercase=False) == expected


@pytest.mark.parametrize(
    ("token", "labels", "expected"),
    [
        (Token("Ran", 0, 3), "lemma", "ran"),
        (Token("Ran", 0, 3, pos="VERB"), "tag", "VERB"),
        (Token("Ran", 0, 3, tag="VBD"), "pos", "VBD"),
        (Token("Ran", 0, 3), "tag", ""),
    ],
)
def test_what_is_missing_is_replaced_by_the_next_best(token, labels, expected):
    assert token_label(token, labels=labels) == expected


def test_words_are_one_element_per_token_without_edges():
    sentence = Sentence.from_words(["The", "Cat", "sleeps"])
    assert words(sentence) == Sequence(["the", "cat", "sleeps"])


def test_words_of_nothing_are_the_empty_sequence():
    assert words(Sentence("")) == Sequence()


def test_unknown_labels_are_refused_with_the_known_ones():
    with pytest.raises(StructureError, match=r"'word'\n.*'text', 'lemma', 'stem', 'tag', 'pos'"):
        words(Sentence("no tokens at all"), labels="word")


@pytest.mark.parametrize("blind", ["AB", ("A",), ("A", "B", "C"), ("A", 1), 3])
def test_what_is_not_two_labels_cannot_blind(blind):
    with pytest.raises(StructureError, match="two labels or None"):
        check_blind(blind)


def mentions(sentence, others="ENTITY"):
    return Mentions(sentence, labels="text", lowercase=True, others=others)


def sentence_with(*entities, **parts):
    return Sentence.from_words("a b c d e".split(), entities=entities, **parts)


@pytest.mark.parametrize("span", [(0, 100), (-2, 1), (3, 3), (2, 1)])
def test_an_entity_outside_the_sentence_is_refused(span):
    with pytest.raises(StructureError, match="'x' has the span"):
        mentions(sentence_with()).tokens_of(Entity("x", "t", (span,)))


def test_neighboring_tokens_of_one_entity_share_a_node():
    found = mentions(sentence_with(Entity("x", "t", ((2, 5),))))
    assert found.nodes(range(5)) == ["a", "ENTITY", "d", "e"]


def test_neighboring_entities_have_a_node_each():
    pair = Entity("x", "t", ((2, 3),)), Entity("y", "t", ((4, 5),))
    assert mentions(sentence_with(*pair)).nodes(range(5)) == ["a", "ENTITY", "ENTITY", "d", "e"]


def test_an_entity_inside_another_adds_no_node():
    pair = Entity("x", "t", ((2, 3),)), Entity("y", "t", ((2, 7),))
    assert mentions(sentence_with(*pair)).nodes(range(5)) == ["a", "ENTITY", "e"]


def test_the_parts_of_a_discontinuous_entity_have_a_node_each():
    found = mentions(sentence_with(Entity("x", "t", ((0, 1), (4, 5)))))
    assert found.nodes(range(5)) == ["ENTITY", "b", "ENTITY", "d", "e"]


def test_triggers_keep_their_words():
    trigger, protein = Entity("x", "Binding", ((2, 3),)), Entity("y", "protein", ((4, 5),))
    sentence = sentence_with(trigger, protein, events=[Event("E1", "Binding", "x")])
    assert mentions(sentence).nodes(range(5)) == ["a", "b", "ENTITY", "d", "e"]


def test_entities_keep_their_words_on_request():
    sentence = sentence_with(Entity("x", "t", ((2, 5),)))
    assert mentions(sentence, others=None).nodes(range(5)) == ["a", "b", "c", "d", "e"]


def test_offsets_count_characters_not_bytes():
    entity = Entity("x", "t", ((3, 5),))
    sentence = Sentence.from_words(["𝛼é", "𝛽2", "c"], entities=[entity])
    assert mentions(sentence).tokens_of(entity) == (1,)


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
    with pytest.raises(StructureError, match="at least 0, got -1"):
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
    with pytest.raises(StructureError, match="not of the document"):
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


@pytest.mark.parametrize(
    "words",
    [
        "bind binds binding",
        "activates activated activating activation activator activators",
        "interact interacts interacted interacting interaction interactions",
        "antibody antibodies",
        "inhibit inhibits inhibited inhibiting inhibition",
        "phosphorylate phosphorylates phosphorylation",
    ],
)
def test_forms_of_a_word_have_one_stem(words):
    assert len({stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize("word", ["the", "ring", "IL-2", "p53", "Binding", "co-binds", ""])
def test_short_words_and_names_have_no_other_stem(word):
    assert stem(word) == word


def test_stems_do_not_depend_on_threads():
    words = [first + second + "ations" for first in "bcdfgklm" for second in "aeioulrstn"]
    stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(stem, words * 4))
    stem.cache_clear()
    assert found == [stem(word) for word in words] * 4


@given(st.text(st.sampled_from("abdeginorst"), max_size=12))
def test_a_stem_is_not_longer_than_the_word(word):
    assert bool(stem(word)) == bool(word)
    assert len(stem(word)) <= len(word)


def test_a_bag_has_each_word_of_the_sentence_once():
    raf, ras = Entity("a", "protein", ((3, 6),)), Entity("b", "protein", ((13, 16),))
    sentence = Sentence.from_words("so Raf binds Ras so often".split(), entities=[raf, ras])
    contexts = Contexts(sentence, labels="stem", window=None)
    assert contexts.bag(raf, ras) == dict.fromkeys(["so", "ENTITY1", "bind", "ENTITY2", "often"], 1)


@pytest.mark.parametrize("swapped", [False, True])
def test_words_between_leave_out_entities(swapped):
    spans = {"a": (0, 3), "b": (10, 13), "c": (23, 26)}
    ends = [Entity(name, "", (span,)) for name, span in spans.items()]
    sentence = Sentence.from_words("Raf binds Ras near the Mek".split(), entities=ends)
    first, second = (ends[2], ends[0]) if swapped else (ends[0], ends[2])
    assert Contexts(sentence).between(first, second).nodes == ("binds", "near", "the")
    assert Contexts(sentence).between(first, first).nodes == ()
