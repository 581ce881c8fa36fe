"""Dependencies as trees: GRCT, LCT, LOCT, CGRCT and CLCT."""

from collections import Counter

import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH

from kernelwood import PartialTreeKernel, Vectors
from kernelwood.errors import StructureError
from kernelwood.similarity import parse_label
from kernelwood.structures import Tree
from kernelwood.text import ROOT, Sentence, Token
from kernelwood.views import cgrct, clct, grct, lct, loct

ALL = [grct, lct, loct, cgrct, clct]

SENTENCE = Sentence.from_words(
    ["Which", "Songs", "did", "she", "sing", "?"],
    lemmas=["which", "song", "do", "she", "sing", "?"],
    tags=["WDT", "NNS", "VBD", "PRP", "VB", "."],
    dependencies=[
        (ROOT, "root", 4),
        (1, "det", 0),
        (4, "dobj", 1),
        (4, "aux", 2),
        (4, "nsubj", 3),
        (4, "punct", 5),
    ],
)


def letters(n_tokens, dependencies):
    words = [chr(ord("a") + index) for index in range(n_tokens)]
    return Sentence.from_words(words, dependencies=dependencies)


def brackets(tree):
    return tree.to_brackets()


def test_grct_puts_the_tag_at_the_place_of_its_word():
    assert brackets(grct(SENTENCE)) == (
        "(SYNT##root"
        " (SYNT##dobj (SYNT##det (POS##WDT LEX##which::w)) (POS##NNS LEX##song::n))"
        " (SYNT##aux (POS##VBD LEX##do::v))"
        " (SYNT##nsubj (POS##PRP LEX##she::p))"
        " (POS##VB LEX##sing::v))"
    )


def test_lct_puts_tag_and_relation_after_the_dependents():
    assert brackets(lct(SENTENCE)) == (
        "(LEX##sing::v"
        " (LEX##song::n (LEX##which::w POS##WDT SYNT##det) POS##NNS SYNT##dobj)"
        " (LEX##do::v POS##VBD SYNT##aux)"
        " (LEX##she::p POS##PRP SYNT##nsubj)"
        " POS##VB SYNT##root)"
    )


def test_loct_has_words_only():
    assert (
        brackets(loct(SENTENCE))
        == "(LEX##sing::v (LEX##song::n LEX##which::w) LEX##do::v LEX##she::p)"
    )


def test_cgrct_is_grct_with_both_words_in_each_relation():
    assert brackets(cgrct(SENTENCE)) == (
        "(COMP##root<*::*,sing::v>"
        " (COMP##dobj<sing::v,song::n>"
        " (COMP##det<song::n,which::w> (POS##WDT LEX##which::w)) (POS##NNS LEX##song::n))"
        " (COMP##aux<sing::v,do::v> (POS##VBD LEX##do::v))"
        " (COMP##nsubj<sing::v,she::p> (POS##PRP LEX##she::p))"
        " (POS##VB LEX##sing::v))"
    )


def test_clct_puts_tag_relation_and_word_after_the_dependents():
    assert brackets(clct(SENTENCE)) == (
        "(COMP##root<*::*,sing::v>"
        " (COMP##dobj<sing::v,song::n>"
        " (COMP##det<song::n,which::w> POS##WDT SYNT##det LEX##which::w)"
        " POS##NNS SYNT##dobj LEX##song::n)"
        " (COMP##aux<sing::v,do::v> POS##VBD SYNT##aux LEX##do::v)"
        " (COMP##nsubj<sing::v,she::p> POS##PRP SYNT##nsubj LEX##she::p)"
        " POS##VB SYNT##root LEX##sing::v)"
    )


@pytest.mark.parametrize("view", ALL)
def test_kinds_are_left_out_on_request(view):
    marked = [node.label.partition("##")[2] for node in view(SENTENCE).preorder()]
    assert [node.label for node in view(SENTENCE, kinds=False).preorder()] == marked


def test_case_is_kept_on_request():
    sentence = Sentence.from_words(["Go"], dependencies=[(ROOT, "root", 0)])
    assert brackets(loct(sentence, lowercase=False)) == "(LEX##Go)"


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (grct, "(SYNT##root LEX##a (SYNT##x LEX##b))"),
        (lct, "(LEX##a (LEX##b SYNT##x) SYNT##root)"),
        (cgrct, "(COMP##root<*::*,a> LEX##a (COMP##x<a,b> LEX##b))"),
        (clct, "(COMP##root<*::*,a> (COMP##x<a,b> SYNT##x LEX##b) SYNT##root LEX##a)"),
    ],
)
def test_a_word_without_tag_has_no_tag_node(view, expected):
    sentence = letters(2, [(ROOT, "root", 0), (0, "x", 1)])
    assert brackets(view(sentence)) == expected


def test_a_word_without_tag_has_its_part_of_speech_instead():
    token = Token("We", 0, 2, pos="PRON")
    sentence = Sentence("We", [token], [(ROOT, "root", 0)])
    assert brackets(grct(sentence)) == "(SYNT##root (POS##PRON LEX##we::p))"


def test_separators_inside_words_are_escaped_in_compositions_only():
    sentence = Sentence.from_words(
        ["a,b", "<c>"], tags=["NN", ","], dependencies=[(ROOT, "root", 0), (0, "x", 1)]
    )
    labels = {node.label for node in clct(sentence).preorder()}
    assert labels >= {"COMP##x<a_comma_b::n,_oang_c_cang_::_comma_>", "LEX##<c>::,"}


def test_escaped_words_are_read_back():
    sentence = Sentence.from_words(
        ["a,b", "<c>"], tags=["NN", ","], dependencies=[(ROOT, "root", 0), (0, "x", 1)]
    )
    label = parse_label(cgrct(sentence).children[1].label)
    assert (label.relation, label.head, label.modifier) == ("x", ("a,b", "n"), ("<c>", ","))


def test_separators_inside_relations_are_escaped_in_compositions():
    sentence = letters(1, [(ROOT, "a<b,c>", 0)])
    assert cgrct(sentence).label == "COMP##a_oang_b_comma_c_cang_<*::*,a>"


def test_words_with_brackets_and_blanks_are_kept():
    sentence = Sentence.from_words(["( x )"], tags=["NN"], dependencies=[(ROOT, "root", 0)])
    assert loct(sentence).label == "LEX##( x )::n"


def test_skipped_relations_are_chosen_by_the_caller():
    kept = loct(SENTENCE, skip=("det", "aux"))
    assert brackets(kept) == "(LEX##sing::v LEX##song::n LEX##she::p LEX##?::.)"


def test_a_skipped_relation_stays_if_something_hangs_from_it():
    sentence = letters(3, [(ROOT, "root", 0), (0, "punct", 1), (1, "x", 2)])
    assert brackets(loct(sentence)) == "(LEX##a (LEX##b LEX##c))"


def test_skipped_relations_below_skipped_relations_go_together():
    sentence = letters(3, [(ROOT, "root", 0), (0, "punct", 1), (1, "punct", 2)])
    assert brackets(loct(sentence)) == "(LEX##a)"


def test_a_root_is_never_skipped():
    sentence = letters(1, [(ROOT, "punct", 0)])
    assert brackets(grct(sentence)) == "(SYNT##punct LEX##a)"


def test_a_single_string_is_no_collection_of_relations():
    with pytest.raises(StructureError, match=r"skip=\('punct',\)"):
        grct(SENTENCE, skip="punct")


def test_words_without_dependencies_are_left_out():
    sentence = letters(3, [(ROOT, "root", 0), (0, "prep_of", 2)])
    assert brackets(loct(sentence)) == "(LEX##a LEX##c)"


def test_without_root_the_word_without_head_is_the_root():
    assert brackets(grct(letters(2, [(1, "x", 0)]))) == "(SYNT##root (SYNT##x LEX##a) LEX##b)"


def test_a_word_with_several_heads_stays_with_the_one_nearest_to_the_root():
    sentence = letters(4, [(ROOT, "root", 0), (0, "x", 1), (1, "x", 2), (2, "y", 3), (0, "z", 3)])
    assert brackets(loct(sentence)) == "(LEX##a (LEX##b LEX##c) LEX##d)"


def test_of_equally_near_heads_the_first_reached_keeps_a_word():
    sentence = letters(
        4, [(ROOT, "root", 0), (0, "x", 2), (0, "x", 1), (1, "late", 3), (2, "soon", 3)]
    )
    assert brackets(loct(sentence)) == "(LEX##a LEX##b (LEX##c LEX##d))"


def test_of_two_roots_the_first_of_the_sentence_keeps_a_word():
    sentence = letters(3, [(ROOT, "root", 1), (ROOT, "root", 0), (1, "x", 2), (0, "x", 2)])
    assert brackets(loct(sentence)) == "(LEX##*::* (LEX##a LEX##c) LEX##b)"


def test_of_two_relations_to_one_head_the_first_is_kept():
    sentence = letters(2, [(ROOT, "root", 0), (0, "z", 1), (0, "a", 1)])
    assert brackets(grct(sentence)) == "(SYNT##root LEX##a (SYNT##z LEX##b))"


def test_a_cycle_below_the_root_is_cut_where_it_closes():
    sentence = letters(3, [(ROOT, "root", 0), (0, "x", 1), (1, "x", 2), (2, "x", 1), (2, "x", 0)])
    assert brackets(loct(sentence)) == "(LEX##a (LEX##b LEX##c))"


def test_a_cycle_without_root_is_entered_from_the_words_that_hang_from_it():
    sentence = letters(3, [(1, "x", 0), (1, "y", 2), (2, "z", 1)])
    assert brackets(grct(sentence)) == "(SYNT##root (SYNT##x LEX##a) LEX##b (SYNT##y LEX##c))"


@pytest.mark.parametrize(
    ("view", "label"),
    [
        (grct, "SYNT##*"),
        (lct, "LEX##*::*"),
        (loct, "LEX##*::*"),
        (cgrct, "COMP##*<*::*,*::*>"),
        (clct, "COMP##*<*::*,*::*>"),
    ],
)
def test_several_roots_are_joined(view, label):
    roots = [(ROOT, "root", 2), (ROOT, "root", 0)]
    apart = [view(letters(3, [edge])) for edge in reversed(roots)]
    assert view(letters(3, roots)) == Tree(label, apart)


def test_words_out_of_reach_of_the_root_become_further_roots():
    sentence = letters(4, [(ROOT, "root", 3), (2, "x", 1)])
    assert brackets(loct(sentence)) == "(LEX##*::* (LEX##c LEX##b) LEX##d)"


@pytest.mark.parametrize("view", ALL)
@pytest.mark.parametrize("dependencies", [[], [(0, "x", 0)]])
def test_a_sentence_without_dependencies_is_refused(view, dependencies):
    with pytest.raises(StructureError, match="has no dependencies"):
        view(letters(2, dependencies))


@pytest.fixture(scope="module")
def chain():
    """Return a sentence in which each of many words depends on the one before."""
    edges = [(index - 1, "x", index) for index in range(DEPTH)]
    return Sentence.from_words(["w"] * DEPTH, dependencies=edges)


@pytest.mark.parametrize(
    ("view", "nodes_per_word"), [(grct, 2), (lct, 2), (loct, 1), (cgrct, 2), (clct, 3)]
)
def test_a_long_chain_of_words_becomes_a_tree(view, nodes_per_word, chain):
    assert view(chain).n_nodes == DEPTH * nodes_per_word


def test_a_long_cycle_becomes_a_tree():
    edges = [(index - 1 if index else DEPTH - 1, "x", index) for index in range(DEPTH)]
    cycle = Sentence.from_words(["w"] * DEPTH, dependencies=edges)
    assert loct(cycle).n_nodes == DEPTH


VECTORS = Vectors(["cat::n", "dog::n", "run::v"], [[1, 0], [0.8, 0.6], [0.6, 0.8]])


def animal(word):
    return Sentence.from_words(
        [word, "run"], tags=["NN", "VBP"], dependencies=[(ROOT, "root", 1), (1, "nsubj", 0)]
    )


@pytest.mark.parametrize("view", [grct, lct, loct])
def test_words_are_compared_by_their_vectors(view):
    kernel = PartialTreeKernel.sptk(VECTORS)
    cat, dog, cow = (view(animal(word)) for word in ("cat", "dog", "cow"))
    assert kernel.value(cat, cow) < kernel.value(cat, dog) < 1


@pytest.mark.parametrize("view", [cgrct, clct])
def test_compositions_are_compared_by_their_vectors(view):
    kernel = PartialTreeKernel.csptk(VECTORS)
    cat, dog, cow = (view(animal(word)) for word in ("cat", "dog", "cow"))
    assert kernel.value(cat, cow) < kernel.value(cat, dog) < 1


N_TOKENS = 6
graphs = st.lists(
    st.tuples(
        st.integers(ROOT, N_TOKENS - 1),
        st.sampled_from(["p", "q", "punct"]),
        st.integers(0, N_TOKENS - 1),
    ).filter(lambda edge: edge[0] != edge[2]),
    min_size=1,
    max_size=12,
)


@given(graphs)
def test_every_word_with_a_dependency_is_in_the_tree_once(edges):
    words = Counter(node.label for node in loct(letters(N_TOKENS, edges), skip=()).preorder())
    joined = {index for head, _, dependent in edges for index in (head, dependent)} - {ROOT}
    del words["LEX##*::*"]
    assert words == Counter(f"LEX##{'abcdef'[index]}" for index in joined)


@given(graphs)
def test_every_relation_in_the_tree_is_one_of_the_sentence(edges):
    known = {
        f"{relation}<{'abcdef'[head]},{'abcdef'[dependent]}>"
        for head, relation, dependent in edges
        if head != ROOT
    }
    tree = cgrct(letters(N_TOKENS, edges), kinds=False, skip=())
    found = {node.label for node in tree.preorder() if "<" in node.label and "*" not in node.label}
    assert found <= known


def expected_grct(sentence, heads, token):
    """Build the tree of one word by plain recursion."""
    below = [index for index, head in enumerate(heads) if head == token]
    parts = [(index, expected_grct(sentence, heads, index)) for index in below]
    own = (token, Tree(f"LEX##{sentence.tokens[token].text}"))
    children = [tree for _, tree in sorted([*parts, own], key=lambda part: part[0])]
    return Tree(f"SYNT##r{token}", children)


@st.composite
def tree_shaped(draw):
    """A head for each word such that the words form one tree, in any order."""
    order = draw(st.permutations(range(N_TOKENS)))
    heads = [ROOT] * N_TOKENS
    for place, token in enumerate(order[1:], start=1):
        heads[token] = order[draw(st.integers(0, place - 1))]
    return heads


@given(tree_shaped())
def test_dependencies_that_form_a_tree_are_kept_as_they_are(heads):
    edges = [(head, f"r{token}", token) for token, head in enumerate(heads)]
    sentence = letters(N_TOKENS, edges)
    assert grct(sentence) == expected_grct(sentence, heads, heads.index(ROOT))
