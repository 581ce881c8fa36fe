"""Views by name, for candidates that come in a row."""

import pytest

from kernelwood import Graph
from kernelwood.errors import StructureError
from kernelwood.text import Candidate, Entity, Example, Sentence
from kernelwood.views import (
    VIEWS,
    interaction_path,
    interaction_tree,
    make_view,
    shortest_path,
    view_maker,
)
from kernelwood.views.interaction_graphs import InteractionPaths

RAF = Entity("a", "protein", ((0, 3),))
RAS = Entity("b", "protein", ((10, 13),))
SOS = Entity("c", "protein", ((18, 21),))
AMR = Graph.from_penman(
    "(x / bind-01 :ARG1 (a / protein :part (b / enzyme)) :ARG2 (c / gene :mod (y / express-03)))"
)


def sentence(verb: str) -> Sentence:
    return Sentence.from_words(
        ["Raf", verb, "Ras", "and", "Sos"],
        dependencies=[(1, "nsubj", 0), (1, "obj", 2), (2, "conj", 4)],
        entities=[RAF, RAS, SOS],
        amr=AMR,
    )


def pair(owner: Sentence, first: Entity, second: Entity) -> Candidate:
    return Candidate("p", owner, [("first", first), ("second", second)])


def test_candidates_in_a_row_have_the_paths_they_have_alone():
    make = view_maker("path")
    one, two = sentence("binds"), sentence("knows")
    for owner in (one, one, two, one):
        for first, second in ((RAF, RAS), (RAF, SOS), (SOS, RAS)):
            alone = shortest_path(owner, first, second)
            assert make(pair(owner, first, second)) == (alone.sequence, alone.fallback)


def test_a_sentence_that_is_equal_but_not_the_same_is_no_matter():
    make = view_maker("path")
    assert make(pair(sentence("binds"), RAF, RAS)) == make(pair(sentence("binds"), RAF, RAS))


@pytest.mark.parametrize(
    ("name", "function"), [("amr-path", interaction_path), ("amr-tree", interaction_tree)]
)
def test_candidates_in_a_row_have_the_meanings_they_have_alone(name, function):
    make, owner = view_maker(name), sentence("binds")
    for root in "xy":
        for ends in ([RAF], [RAS], [SOS, RAS], [RAF, SOS]):
            participants = [("participant", entity) for entity in ends]
            trigger = Entity(root, "", ())
            made, _ = make(Candidate("c", owner, participants, trigger=trigger))
            assert made == function(AMR, root, [(role, end.id) for role, end in participants])


def test_a_search_goes_on_where_it_stopped():
    chain = Graph({n: f"n{n}" for n in range(6)}, [(n, "next", n + 1) for n in range(5)])
    paths = InteractionPaths(chain)
    for end in (1, 5, 3):
        assert paths.path(0, [("", end)]) == interaction_path(chain, 0, [("", end)])


def test_a_failure_leaves_later_candidates_alone():
    make = view_maker("amr-path")
    trigger = Entity("x", "", ())
    bare = Candidate("c", Sentence("Raf"), [("participant", RAF)], trigger=trigger)
    whole = Candidate("c", sentence("binds"), [("participant", RAF)], trigger=trigger)
    expected = make(whole)
    with pytest.raises(StructureError, match="no abstract meaning"):
        make(bare)
    assert make(whole) == expected


@pytest.mark.parametrize(
    "name", ["path", "steps", "stem-steps", "path-tree", "context", "stem-context"]
)
def test_an_entity_without_token_is_a_fallback(name):
    nowhere = Entity("z", "protein", ())
    assert make_view(name, pair(sentence("binds"), RAF, nowhere))[1] == "no token"
    assert make_view(name, pair(sentence("binds"), RAF, RAS))[1] is None


@pytest.mark.parametrize("name", ["pet", "mct"])
def test_a_tree_that_is_missing_is_what_is_said_to_be_missing(name):
    with pytest.raises(StructureError, match="no constituency tree"):
        make_view(name, pair(Sentence("Raf binds Ras"), RAF, RAS))


def test_nodes_of_meanings_are_found_by_number_and_by_name():
    graph = Graph([("1", "bind-01"), (1, "protein"), (2, "enzyme")], [("1", "x", 1), ("1", "y", 2)])
    owner = Sentence("Raf binds", amr=graph)
    candidate = Candidate(
        "c", owner, [("", Entity("2", "", ()))], trigger=Entity("1", "bind-01", ())
    )
    assert make_view("amr-tree", candidate)[0].to_brackets() == '(bind "y":enzyme)'


@pytest.mark.parametrize("name", [row.name for row in VIEWS.values() if row.subject != "sentence"])
def test_views_of_candidates_refuse_sentences(name):
    with pytest.raises(StructureError, match="needs a candidate, got a sentence"):
        make_view(name, sentence("binds"))


def test_a_view_of_a_sentence_is_made_once_for_all_its_candidates():
    make, owner = view_maker("loct"), sentence("binds")
    assert make(pair(owner, RAF, RAS))[0] is make(pair(owner, RAF, SOS))[0]
    assert make(pair(sentence("knows"), RAF, RAS))[0] == make_view("loct", sentence("knows"))[0]


@pytest.mark.parametrize(
    ("name", "needed", "hint"),
    [
        ("grct", "sentence", r"example.view\('sentence'\)"),
        ("path", "candidate", "pair_candidates"),
    ],
)
def test_an_example_is_refused_with_what_to_give(name, needed, hint):
    with pytest.raises(StructureError, match=f"needs a {needed}, got an example\n.*{hint}"):
        make_view(name, Example("q1"))
