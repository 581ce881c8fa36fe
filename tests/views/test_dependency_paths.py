"""Shortest dependency paths as sequences and trees, and negations on them."""

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st
from sentence_strategies import sentences
from sizes import DEPTH

from kernelwood.errors import StructureError
from kernelwood.structures import Sequence, Tree
from kernelwood.text import ROOT, Candidate, Entity, Event, Sentence
from kernelwood.views import (
    DependencyPaths,
    Negations,
    PathTrees,
    make_view,
    negation,
    path_steps,
    path_tree,
    shortest_path,
)


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
    assert path.sequence == Sequence([("", "ENTITY1"), ("same", "ENTITY2")])
    assert (path.tokens, path.fallback) == ((1, 1), "shared token")


def test_of_several_shared_tokens_the_last_is_named():
    assert shortest_path(SENTENCE, at(0, 1, 3), at(1, 3, 4)).tokens == (3, 3)


def test_an_entity_shares_all_tokens_with_itself():
    assert shortest_path(SENTENCE, at(1), at(1)).fallback == "shared token"


def test_without_path_the_words_between_are_taken():
    path = shortest_path(spaced(4, []), at(0), at(3))
    expected = [("", "ENTITY1"), ("next", "b"), ("next", "c"), ("next", "ENTITY2")]
    assert path.sequence == Sequence(expected)
    assert (path.tokens, path.fallback) == ((0, 1, 2, 3), "no path")


def test_without_path_backward_steps_are_marked():
    path = shortest_path(spaced(3, []), at(2), at(0))
    assert path.sequence.edges == ("", "next-of", "next-of")


def test_an_entity_without_token_is_flagged():
    path = shortest_path(SENTENCE, Entity("x", "t", ()), at(1))
    assert path.sequence == Sequence(["ENTITY1", "ENTITY2"])
    assert (path.tokens, path.fallback) == ((), "no token")


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
    with pytest.raises(StructureError, match="unknown labels 'words'"):
        shortest_path(SENTENCE, at(0), at(1), labels="words")


def test_one_preparation_serves_many_pairs():
    paths = DependencyPaths(SENTENCE)
    found = [paths.between(at(i), at(j)) for i in range(5) for j in range(5)]
    assert found == [shortest_path(SENTENCE, at(i), at(j)) for i in range(5) for j in range(5)]


def test_a_long_chain_is_walked():
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
    waiting = [(start,)]
    while waiting:
        way = waiting.pop()
        if way[-1] in ends:
            yield way
        waiting += [(*way, there) for here, there in links if here == way[-1] and there not in way]


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


RAF, RAS = Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((10, 13),))
BINDING = Sentence.from_words(
    ["Raf", "binds", "Ras"], dependencies=[(1, "nsubj", 0), (1, "dobj", 2)], entities=[RAF, RAS]
)


def test_relations_are_elements_of_their_own():
    steps = path_steps(BINDING, RAF, RAS)
    assert steps.nodes == ("ENTITY1", "<nsubj-of>", "binds", "<dobj>", "ENTITY2")


def test_steps_have_no_edge_labels():
    assert set(path_steps(BINDING, RAF, RAS).edges) == {""}


def test_options_are_those_of_the_path():
    steps = path_steps(BINDING, RAF, RAS, labels="stem", directed=False, blind=None, others=None)
    assert steps.nodes == ("raf", "<nsubj>", "bind", "<dobj>", "ras")


def test_an_entity_without_token_leaves_the_two_alone():
    assert path_steps(BINDING, RAF, Entity("z", "protein", ())).nodes == ("ENTITY1", "ENTITY2")


def test_entities_on_one_token_are_joined_by_a_step():
    assert path_steps(BINDING, RAF, RAF).nodes == ("ENTITY1", "<same>", "ENTITY2")


def test_a_fallback_is_told():
    bare = Sentence.from_words(["Raf", "binds", "Ras"], entities=[RAF, RAS])
    candidate = Candidate("c", bare, [("first", RAF), ("second", RAS)])
    assert make_view("steps", candidate)[1] == "no path"


def test_stems_of_steps_have_a_name():
    candidate = Candidate("c", BINDING, [("first", RAF), ("second", RAS)])
    assert make_view("stem-steps", candidate) == (
        path_steps(BINDING, RAF, RAS, labels="stem"),
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


def sentence_of(words, dependencies, *entities):
    """Return a sentence with an entity on each of some tokens, named by its number."""
    bare = Sentence.from_words(words)
    found = [
        Entity(str(at), "protein", ((bare.tokens[at].start, bare.tokens[at].end),))
        for at in entities
    ]
    return Sentence.from_words(words, dependencies=dependencies, entities=found)


def brackets(sentence, first=0, second=1, **options):
    ends = sentence.entities[first], sentence.entities[second]
    return path_tree(sentence, *ends, **options).tree.to_brackets()


NEGATED = sentence_of(
    ["Raf", "does", "not", "bind", "free", "Ras"],
    [(3, "nsubj", 0), (3, "aux", 1), (3, "neg", 2), (3, "dobj", 5), (5, "amod", 4)],
    0,
    5,
)


def test_what_hangs_from_the_path_is_taken_along():
    assert brackets(NEGATED) == (
        "(root (nsubj ENTITY1) (aux does) (neg not) bind (dobj (amod free) ENTITY2))"
    )


def test_nothing_below_what_hangs_is_taken_along():
    sentence = sentence_of(
        ["Raf", "binds", "Ras", "very", "fast"],
        [(1, "nsubj", 0), (1, "dobj", 2), (1, "advmod", 4), (4, "advmod", 3)],
        0,
        2,
    )
    assert brackets(sentence) == "(root (nsubj ENTITY1) binds (dobj ENTITY2) (advmod fast))"


def test_the_order_of_the_entities_does_not_move_words():
    assert brackets(NEGATED, 1, 0) == (
        "(root (nsubj ENTITY2) (aux does) (neg not) bind (dobj (amod free) ENTITY1))"
    )


def test_other_entities_are_blinded():
    sentence = sentence_of(
        ["Raf", "binds", "Ras", "Mek"], [(1, "nsubj", 0), (1, "dobj", 2), (2, "dep", 3)], 0, 2, 3
    )
    assert brackets(sentence) == "(root (nsubj ENTITY1) binds (dobj ENTITY2 (dep ENTITY)))"


def test_triggers_of_events_are_not_blinded_in_the_tree():
    sentence = NEGATED.with_parts(
        entities=[*NEGATED.entities, Entity("t", "Negation", ((9, 12),))],
        events=[Event("E", "Negation", "t")],
    )
    assert "(neg not)" in brackets(sentence)


def test_further_words_of_the_two_entities_are_left_out():
    words = ["protein", "kinase", "binds", "Ras"]
    kinase, ras = Entity("k", "protein", ((0, 14),)), Entity("r", "protein", ((21, 24),))
    sentence = Sentence.from_words(
        words, dependencies=[(1, "nn", 0), (2, "nsubj", 1), (2, "dobj", 3)], entities=[kinase, ras]
    )
    assert brackets(sentence) == "(root (nsubj ENTITY1) binds (dobj ENTITY2))"


def test_the_root_may_be_an_entity():
    sentence = sentence_of(["Raf", "of", "Ras"], [(0, "prep_of", 2)], 0, 2)
    assert brackets(sentence) == "(root ENTITY1 (prep_of ENTITY2))"
    assert brackets(sentence, 1, 0) == "(root ENTITY2 (prep_of ENTITY1))"


def test_a_relation_whose_name_looks_like_a_step_up_leads_down():
    sentence = sentence_of(["Raf", "Ras"], [(0, "part-of", 1)], 0, 1)
    assert brackets(sentence) == "(root ENTITY1 (part-of ENTITY2))"


def test_words_without_path_hang_from_one_node():
    tree, fallback = path_tree(
        sentence := sentence_of(["Raf", "and", "Ras"], [], 0, 2), *sentence.entities
    )
    assert tree.to_brackets() == "(none ENTITY1 and ENTITY2)"
    assert fallback == "no path"


def test_labels_and_ends_can_be_chosen():
    assert brackets(NEGATED, labels="stem", blind=("A", "B")) == (
        "(root (nsubj A) (aux doe) (neg not) bind (dobj (amod free) B))"
    )


def test_constituents_serve_where_there_are_no_dependencies():
    tree = Tree.from_brackets("(S (NP (NN Raf)) (VP (VBZ binds) (NP (NN Ras))))")
    ends = Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((10, 13),))
    sentence = Sentence.from_tree(tree, entities=ends)
    assert brackets(sentence) == "(root (nsubj ENTITY1) binds (dobj ENTITY2))"


def test_the_tree_is_a_view():
    participants = list(zip(("first", "second"), NEGATED.entities, strict=True))
    made = make_view("path-tree", Candidate("c", NEGATED, participants))
    assert made == path_tree(NEGATED, *NEGATED.entities)


def test_a_long_path_is_no_matter():
    chain = [(at, "dep", at + 1) for at in range(DEPTH - 1)]
    sentence = sentence_of(["w"] * DEPTH, chain, 0, DEPTH - 1)
    assert path_tree(sentence, *sentence.entities).tree.n_nodes == 2 * DEPTH


@st.composite
def pairs_in_sentences(draw):
    n = draw(st.integers(2, 8))
    token = st.integers(0, n - 1)
    edges = st.tuples(st.integers(ROOT, n - 1), st.sampled_from(["a", "b", "c-of"]), token)
    dependencies = draw(st.lists(edges, max_size=12, unique=True))
    words = [chr(ord("p") + at) for at in range(n)]
    marked = draw(st.sets(token, min_size=2, max_size=n))
    return sentence_of(words, dependencies, *sorted(marked))


def plain_tree(sentence, first, second):
    """Return what `path_tree` returns, by a textbook recursion over a path without fallback."""
    tokens = shortest_path(sentence, first, second).tokens
    down = {(head, dependent) for head, _, dependent in sentence.dependencies}
    ups = [at for at in range(1, len(tokens)) if (tokens[at - 1], tokens[at]) not in down]
    top = ups[-1] if ups else 0
    owned = {at for entity in sentence.entities for at in sentence.tokens_of(entity)}
    ends = {tokens[0]: "ENTITY1", tokens[-1]: "ENTITY2"}

    def word(token):
        return ends.get(token) or ("ENTITY" if token in owned else sentence.tokens[token].text)

    def label(at, other):
        here, there = tokens[at], tokens[other]
        names = [
            [r for h, r, d in sentence.dependencies if (h, d) == way]
            for way in (
                [(here, there), (there, here)] if at < other else [(there, here), (here, there)]
            )
        ]
        return min(names[0] or names[1])

    def below(at, before):
        children = [(tokens[at], Tree(word(tokens[at])))]
        for head, relation, dependent in sentence.dependencies:
            if head == tokens[at] and dependent not in tokens:
                children.append((dependent, Tree(relation, [Tree(word(dependent))])))
        for other in (at - 1, at + 1):
            if 0 <= other < len(tokens) and other != before:
                children.append((tokens[other], Tree(label(at, other), below(other, at))))
        return [tree for _, tree in sorted(children, key=lambda child: child[0])]

    return Tree("root", below(top, None))


@given(pairs_in_sentences())
def test_trees_are_those_of_the_textbook(sentence):
    trees = PathTrees(sentence)
    for first in sentence.entities:
        for second in sentence.entities:
            tree, fallback = trees.between(first, second)
            if fallback is None:
                assert tree == plain_tree(sentence, first, second)


def on(sentence, word):
    token = next(token for token in sentence.tokens if token.text == word)
    return Entity(word, "protein", ((token.start, token.end),), word)


def polarity(sentence, first="Raf", second="Ras"):
    common, told = negation(sentence, on(sentence, first), on(sentence, second)).nodes
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
    assert Negations(sentence).around(on(sentence, "Raf"), Entity("x", "", ((3, 4),))).nodes == (
        "pair",
        "stated",
    )


def test_the_negation_is_a_view():
    sentence = parsed("Raf did not bind Ras", BINDS)
    first, second = on(sentence, "Raf"), on(sentence, "Ras")
    candidate = Candidate("c", sentence, [("first", first), ("second", second)])
    assert make_view("negation", candidate) == (negation(sentence, first, second), None)
