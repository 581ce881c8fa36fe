"""Shortest dependency paths between entities."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sizes import DEPTH

from kernelwood.errors import StructureError
from kernelwood.structures import ROOT, Entity, Event, Sentence, Sequence
from kernelwood.views.paths import DependencyPaths, shortest_path


def spaced(n_tokens, dependencies, entities=()):
    """Return a sentence of one-letter words: token i stands at character 2 i."""
    letters = [chr(ord("a") + index % 26) for index in range(n_tokens)]
    return Sentence.from_words(letters, dependencies=dependencies, entities=entities)


def at(*tokens, name="x"):
    """Return an entity on some tokens of a `spaced` sentence."""
    return Entity(name, "thing", tuple((2 * token, 2 * token + 1) for token in tokens))


SENTENCE = spaced(5, [(ROOT, "root", 2), (2, "subj", 0), (0, "mod", 1), (2, "obj", 4)])


def test_steps_up_are_marked_and_steps_down_are_not():
    path = shortest_path(SENTENCE, at(1), at(4))
    assert path.sequence.edges == ("", "mod-of", "subj-of", "obj")


def test_nodes_are_words_between_blinded_ends():
    path = shortest_path(SENTENCE, at(1), at(4))
    assert path.sequence.nodes == ("ENTITY1", "a", "c", "ENTITY2")


def test_tokens_say_where_the_path_runs():
    assert shortest_path(SENTENCE, at(4), at(1)).tokens == (4, 2, 0, 1)


def test_a_real_path_is_no_fallback():
    assert shortest_path(SENTENCE, at(1), at(4)).fallback is None


def test_without_direction_no_step_is_marked():
    path = shortest_path(SENTENCE, at(1), at(4), directed=False)
    assert path.sequence.edges == ("", "mod", "subj", "obj")


def test_ends_can_be_named():
    path = shortest_path(SENTENCE, at(0), at(4), blind=("AGENT", "TARGET"))
    assert path.sequence.nodes == ("AGENT", "c", "TARGET")


def test_ends_can_keep_their_words():
    assert shortest_path(SENTENCE, at(0), at(4), blind=None).sequence.nodes == ("a", "c", "e")


def test_other_entities_on_the_way_are_blinded():
    sentence = SENTENCE.with_parts(entities=[at(0, name="o"), at(1, name="p"), at(4, name="q")])
    path = shortest_path(sentence, at(1, name="p"), at(4, name="q"), blind=None)
    assert path.sequence.nodes == ("b", "ENTITY", "c", "e")


def test_other_entities_can_keep_their_words():
    sentence = SENTENCE.with_parts(entities=[at(0, name="o")])
    assert "a" in shortest_path(sentence, at(1), at(4), others=None).sequence.nodes


def test_triggers_of_events_are_not_blinded():
    sentence = SENTENCE.with_parts(entities=[at(2, name="t")], events=[Event("E", "Binding", "t")])
    assert shortest_path(sentence, at(0), at(4)).sequence.nodes == ("ENTITY1", "c", "ENTITY2")


def test_labels_can_be_tags():
    sentence = Sentence.from_words(
        ["a", "b", "c"], tags=["X", "Y", "Z"], dependencies=[(1, "l", 0), (1, "r", 2)]
    )
    path = shortest_path(sentence, at(0), at(2), labels="tag", blind=None)
    assert path.sequence == Sequence([("", "X"), ("l-of", "Y"), ("r", "Z")])


def test_the_nearest_tokens_of_the_entities_count():
    path = shortest_path(SENTENCE, at(0, 1), at(3, 4))
    assert path.tokens == (0, 2, 4)


def test_of_equally_near_tokens_the_path_begins_at_the_last():
    sentence = spaced(3, [(2, "x", 0), (2, "x", 1)])
    assert shortest_path(sentence, at(0, 1), at(2)).tokens == (1, 2)


def test_of_equally_short_ways_the_leftmost_token_is_taken_at_each_step():
    sentence = spaced(4, [(0, "x", 2), (0, "x", 1), (2, "x", 3), (1, "x", 3)])
    assert shortest_path(sentence, at(0), at(3)).tokens == (0, 1, 3)


def test_a_relation_down_is_preferred_to_one_up():
    sentence = spaced(2, [(1, "a", 0), (0, "z", 1)])
    assert shortest_path(sentence, at(0), at(1)).sequence.edges == ("", "z")


def test_of_two_relations_the_first_of_the_alphabet_is_taken():
    sentence = spaced(2, [(0, "obj", 1), (0, "nsubj", 1), (0, "xcomp", 1)])
    assert shortest_path(sentence, at(0), at(1)).sequence.edges == ("", "nsubj")


def test_the_root_is_no_way_between_words():
    sentence = spaced(2, [(ROOT, "root", 0), (ROOT, "root", 1)])
    assert shortest_path(sentence, at(0), at(1)).fallback == "no path"


def test_entities_on_one_token_are_the_same():
    path = shortest_path(SENTENCE, at(0, 1), at(1, 2))
    assert path == (Sequence([("", "ENTITY1"), ("same", "ENTITY2")]), (1, 1), "shared token")


def test_of_several_shared_tokens_the_last_is_named():
    assert shortest_path(SENTENCE, at(0, 1, 3), at(1, 3, 4)).tokens == (3, 3)


def test_an_entity_shares_all_tokens_with_itself():
    assert shortest_path(SENTENCE, at(1), at(1)).fallback == "shared token"


def test_without_path_the_words_between_are_taken():
    path = shortest_path(spaced(4, []), at(0), at(3))
    expected = [("", "ENTITY1"), ("next", "b"), ("next", "c"), ("next", "ENTITY2")]
    assert path == (Sequence(expected), (0, 1, 2, 3), "no path")


def test_without_path_backward_steps_are_marked():
    path = shortest_path(spaced(3, []), at(2), at(0))
    assert path.sequence.edges == ("", "next-of", "next-of")


def test_an_entity_without_token_is_flagged():
    path = shortest_path(SENTENCE, Entity("x", "t", ()), at(1))
    assert path == (Sequence(["ENTITY1", "ENTITY2"]), (), "no token")


def test_an_entity_without_token_is_written_as_its_text_if_ends_keep_words():
    path = shortest_path(SENTENCE, at(1), Entity("x", "t", ((1, 2),), "Gap"), blind=None)
    assert path.sequence.nodes == ("b", "gap")


def test_the_case_of_an_entity_without_token_is_kept_on_request():
    gap = Entity("x", "t", ((1, 2),), "Gap")
    path = shortest_path(SENTENCE, at(1), gap, blind=None, lowercase=False)
    assert path.sequence.nodes == ("b", "Gap")


def test_an_entity_without_path_is_written_as_its_last_word():
    gap = Entity("x", "t", (), "gap")
    assert shortest_path(SENTENCE, at(0, 3), gap, blind=None).sequence.nodes == ("d", "gap")


def test_an_entity_of_another_sentence_is_refused():
    with pytest.raises(StructureError, match="the sentence has 9 characters"):
        shortest_path(SENTENCE, at(0), at(7))


def test_unknown_labels_are_refused():
    with pytest.raises(StructureError, match="labels cannot be 'words'"):
        shortest_path(SENTENCE, at(0), at(1), labels="words")


def test_one_preparation_serves_many_pairs():
    paths = DependencyPaths(SENTENCE)
    found = [paths.between(at(i), at(j)) for i in range(5) for j in range(5)]
    assert found == [shortest_path(SENTENCE, at(i), at(j)) for i in range(5) for j in range(5)]


def test_a_long_chain_of_words_is_walked():
    sentence = spaced(DEPTH, [(index, "x", index + 1) for index in range(DEPTH - 1)])
    assert len(shortest_path(sentence, at(0), at(DEPTH - 1)).tokens) == DEPTH


N_TOKENS = 6
tokens = st.integers(0, N_TOKENS - 1)
dependencies = st.lists(
    st.tuples(st.integers(ROOT, N_TOKENS - 1), st.sampled_from("pqr"), tokens), max_size=9
)
entities = st.sets(tokens, min_size=1, max_size=3).map(lambda chosen: at(*sorted(chosen)))


def all_simple_ways(links, start, ends):
    """Enumerate by plain search the ways from ``start`` to any of ``ends``."""
    todo = [(start,)]
    while todo:
        way = todo.pop()
        if way[-1] in ends:
            yield way
        todo += [(*way, there) for here, there in links if here == way[-1] and there not in way]


def expected_path(sentence, first, second):
    """Return tokens and edges by the rules, choosing among all ways there are; None without."""
    edges = [edge for edge in sentence.dependencies if edge.head != ROOT]
    links = {pair for edge in edges for pair in [(edge[0], edge[2]), (edge[2], edge[0])]}
    ends = set(sentence.tokens_of(second))
    ways = [
        way for start in sentence.tokens_of(first) for way in all_simple_ways(links, start, ends)
    ]
    if not ways:
        return None
    way = min(ways, key=lambda tokens: (len(tokens), -tokens[0], tokens))
    labels = [
        min(
            [(0, edge.relation) for edge in edges if (edge[0], edge[2]) == (here, there)]
            + [(1, edge.relation + "-of") for edge in edges if (edge[2], edge[0]) == (here, there)]
        )[1]
        for here, there in pairwise(way)
    ]
    return way, ("", *labels)


@given(dependencies, entities, entities)
def test_paths_are_the_best_of_all_there_are(edges, first, second):
    sentence = spaced(N_TOKENS, edges)
    path = shortest_path(sentence, first, second)
    expected = expected_path(sentence, first, second)
    if set(sentence.tokens_of(first)) & set(sentence.tokens_of(second)):
        assert path.fallback == "shared token"
    elif expected is None:
        assert path.fallback == "no path"
    else:
        assert (path.tokens, path.sequence.edges, path.fallback) == (*expected, None)


@given(dependencies, entities, entities)
def test_the_way_back_is_as_long(edges, first, second):
    paths = DependencyPaths(spaced(N_TOKENS, edges))
    there, back = paths.between(first, second), paths.between(second, first)
    assert len(there.tokens) == len(back.tokens)


@given(dependencies, entities, entities, st.randoms(use_true_random=False))
def test_the_order_of_dependencies_does_not_matter(edges, first, second, random):
    shuffled = random.sample(edges, len(edges))
    path = shortest_path(spaced(N_TOKENS, edges), first, second)
    assert path == shortest_path(spaced(N_TOKENS, shuffled), first, second)
