"""Trees of the dependencies on a shortest path, and of what hangs from it."""

from hypothesis import given
from hypothesis import strategies as st
from sizes import DEPTH

from kernelwood.structures import ROOT, Candidate, Entity, Event, Sentence, Tree
from kernelwood.views import PathTrees, make_view, path_tree, shortest_path


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


def test_triggers_of_events_are_not_blinded():
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
        "(root (nsubj A) (aux does) (neg not) bind (dobj (amod free) B))"
    )


def test_constituents_serve_where_there_are_no_dependencies():
    tree = Tree.from_brackets("(S (NP (NN Raf)) (VP (VBZ binds) (NP (NN Ras))))")
    ends = Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((10, 13),))
    sentence = Sentence.from_tree(tree, entities=ends)
    assert brackets(sentence) == "(root (nsubj ENTITY1) binds (dobj ENTITY2))"


def test_the_view_has_a_name():
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
