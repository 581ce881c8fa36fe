"""Shortest paths as one line of words and relations."""

from hypothesis import given, strategies as st
from sentence_strategies import sentences

from kernelwood.text import Candidate, Entity, Sentence
from kernelwood.views import make_view, path_steps, shortest_path

RAF, RAS = Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((10, 13),))
SENTENCE = Sentence.from_words(
    ["Raf", "binds", "Ras"], dependencies=[(1, "nsubj", 0), (1, "dobj", 2)], entities=[RAF, RAS]
)


def test_relations_are_elements_of_their_own():
    steps = path_steps(SENTENCE, RAF, RAS)
    assert steps.nodes == ("ENTITY1", "<nsubj-of>", "binds", "<dobj>", "ENTITY2")


def test_steps_have_no_edge_labels():
    assert set(path_steps(SENTENCE, RAF, RAS).edges) == {""}


def test_options_are_those_of_the_path():
    steps = path_steps(SENTENCE, RAF, RAS, labels="stem", directed=False, blind=None, others=None)
    assert steps.nodes == ("raf", "<nsubj>", "bind", "<dobj>", "ras")


def test_an_entity_without_token_leaves_the_two_alone():
    assert path_steps(SENTENCE, RAF, Entity("z", "protein", ())).nodes == ("ENTITY1", "ENTITY2")


def test_entities_on_one_token_are_joined_by_a_step():
    assert path_steps(SENTENCE, RAF, RAF).nodes == ("ENTITY1", "<same>", "ENTITY2")


def test_a_fallback_is_told():
    bare = Sentence.from_words(["Raf", "binds", "Ras"], entities=[RAF, RAS])
    candidate = Candidate("c", bare, [("first", RAF), ("second", RAS)])
    assert make_view("steps", candidate)[1] == "no path"


def test_stems_of_steps_have_a_name():
    candidate = Candidate("c", SENTENCE, [("first", RAF), ("second", RAS)])
    assert make_view("stem-steps", candidate) == (
        path_steps(SENTENCE, RAF, RAS, labels="stem"),
        None,
    )


@given(sentences(min_tokens=2, max_tokens=8, tree=False, amr=False), st.data())
def test_steps_are_the_labels_of_the_path_in_turn(sentence, data):
    entity = st.sampled_from(
        [Entity(str(at), "", ((t.start, t.end),)) for at, t in enumerate(sentence.tokens)]
    )
    first, second = data.draw(entity), data.draw(entity)
    expected = []
    for edge, node in shortest_path(sentence, first, second).sequence:
        expected += [f"<{edge}>", node] if edge else [node]
    assert list(path_steps(sentence, first, second).nodes) == expected
