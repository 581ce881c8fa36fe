"""ForestParser: from a treebank and a sentence to a packed forest."""

import copy
import pickle
import random

import pytest
from hypothesis import given, strategies as st
from parsing.treebank_sample import TREEBANK, UNAMBIGUOUS, tags, words
from sizes import DEPTH
from strategies import chain

import kernelwood as kw
from kernelwood.errors import KernelInputError, MemoryBudgetError, StructureError
from kernelwood.parsing import ForestParser, load_grammar
from kernelwood.structures import Forest, Tree

PARSER = ForestParser().fit(TREEBANK)
VOCABULARY = sorted({word for tree in TREEBANK for word in words(tree)})
sentences = st.lists(
    st.sampled_from([*VOCABULARY, "blick", "Wug", "1999", "名詞"]), min_size=1, max_size=9
)


def sums_by_head(forest):
    sums = {}
    for head, _, p in forest.edges:
        sums[head] = sums.get(head, 0.0) + p
    return list(sums.values())


@pytest.mark.parametrize("tree", UNAMBIGUOUS, ids=lambda tree: tree.to_brackets())
def test_an_unambiguous_training_sentence_gets_its_tree(tree):
    parser = ForestParser(horizontal=None).fit(UNAMBIGUOUS)
    assert parser.parse(words(tree)).best_tree() == tree


@pytest.mark.parametrize("tree", TREEBANK, ids=lambda tree: " ".join(words(tree)))
def test_training_trees_are_in_the_forests_of_their_sentences(tree):
    forest = PARSER.parse(words(tree))
    assert tree in [found for found, _ in forest.k_best(100)]


def test_words_are_recombined():
    forest = PARSER.parse("the girl saw the boat .".split())
    assert forest.best_tree() == Tree.from_brackets(
        "(S (NP (DT the) (NN girl)) (VP (VBD saw) (NP (DT the) (NN boat))) (. .))"
    )


def test_an_ambiguous_sentence_has_both_readings():
    forest = PARSER.parse("she saw the girl with a kite .".split())
    phrases = {node.to_brackets() for tree, _ in forest.k_best(50) for node in tree.preorder()}
    attached = "(NP (NP (DT the) (NN girl)) (PP (IN with) (NP (DT a) (NN kite))))"
    assert {attached, "(NP (DT the) (NN girl))"} <= phrases


def test_productions_of_many_children_come_back_whole():
    tree = PARSER.parse("the small red old dog slept .".split()).best_tree()
    assert [child.label for child in tree.children[0].children] == ["DT", "JJ", "JJ", "JJ", "NN"]


def test_forgetting_left_sisters_makes_productions_never_seen():
    forest = PARSER.parse("the small red old old red boat sank .".split())
    assert not forest.fallback


def test_remembering_all_left_sisters_makes_none():
    parser = ForestParser(horizontal=None).fit(UNAMBIGUOUS)
    tree = Tree.from_brackets("(S (A (a x)) (B (b y) (c z) (d v)))")
    assert parser.parse(words(tree), tags(tree)).fallback


def test_unary_chains_come_back():
    tree = PARSER.parse("sailing is hard .".split()).best_tree()
    assert tree.children[0] == Tree.from_brackets("(S (VP (VBG sailing)))")


@pytest.mark.parametrize("tree", TREEBANK, ids=lambda tree: " ".join(words(tree)))
def test_only_labels_of_the_treebank_show(tree):
    sentence = words(tree)
    forest = PARSER.parse(sentence)
    assert set(forest.labels[len(sentence) :]) <= set(PARSER.labels_)


def test_words_are_the_first_nodes_and_have_spans():
    forest = PARSER.parse(["birds", "sing", "."])
    assert forest.labels[:3] == ("birds", "sing", ".")
    assert forest.spans[:3] == ((0, 1), (1, 2), (2, 3))


def test_the_root_spans_the_sentence():
    forest = PARSER.parse(["birds", "sing", "."])
    assert forest.spans[forest.root] == (0, 3)


def test_labels_and_tags_are_told():
    assert {"NP", "NN", "VP"} <= set(PARSER.labels_)
    assert "NN" in PARSER.tags_ and "NP" not in PARSER.tags_
    assert PARSER.n_trees_ == len(TREEBANK)


@given(sentences)
def test_every_tree_has_the_sentence_as_its_leaves(sentence):
    forest = PARSER.parse(sentence)
    rng = random.Random(0)
    for tree in (forest.best_tree(), *(forest.sample(rng) for _ in range(3))):
        assert words(tree) == sentence


@given(sentences)
def test_probabilities_of_a_head_sum_to_at_most_one(sentence):
    assert max(sums_by_head(PARSER.parse(sentence))) <= 1.0 + 1e-9


def test_without_pruning_probabilities_of_a_head_sum_to_one():
    parser = ForestParser(threshold=60.0, coarse_threshold=float("inf")).fit(TREEBANK)
    sums = sums_by_head(parser.parse("she saw the girl with a kite .".split()))
    assert sums == pytest.approx([1.0] * len(sums), abs=1e-9)


def test_a_smaller_threshold_leaves_a_smaller_forest():
    sentence = "she saw the girl with a kite .".split()
    small = ForestParser(threshold=0.0).fit(TREEBANK).parse(sentence)
    assert small.n_trees == 1 < PARSER.parse(sentence).n_trees
    assert small.best_tree() == PARSER.parse(sentence).best_tree()


def test_a_threshold_can_change_after_fitting():
    parser = ForestParser().fit(TREEBANK).set_params(threshold=0.0)
    assert parser.parse("she saw the girl with a kite .".split()).n_trees == 1


def test_a_limit_on_unary_chains_can_change_after_fitting():
    parser = ForestParser().fit(TREEBANK)
    sentence = "sailing is hard .".split()
    assert not parser.parse(sentence, ["VBG", "VBZ", "JJ", "."]).fallback
    assert parser.set_params(max_unary=0).parse(sentence, ["VBG", "VBZ", "JJ", "."]).fallback


# --- unary productions in a circle


@pytest.fixture(scope="module")
def circular():
    treebank = ["(S (VP (S (VP (V go)))))", "(VP (S (V go)))", "(S (V go) (V go))"]
    return ForestParser(vertical=1, max_unary=6).fit(map(Tree.from_brackets, treebank))


def test_unary_productions_in_a_circle_are_parsed(circular):
    assert not circular.parse(["go"]).fallback


def test_a_circle_of_unary_productions_is_cut(circular):
    forest = circular.parse(["go", "go"])
    depths = {tree.depth for tree, _ in forest.k_best(20)}
    assert 3 <= max(depths) <= 2 + 2 * (6 + 1) + 1


# --- given parts of speech


def test_given_tags_are_the_tags_of_every_tree():
    given_tags = ["NN", "VBP", "."]
    forest = PARSER.parse(["sing", "birds", "."], given_tags)
    assert all(tags(tree) == given_tags for tree, _ in forest.k_best(20))


def test_tags_the_treebank_does_not_have_lead_to_the_fallback():
    forest = PARSER.parse(["birds", "sing"], ["NNS", "NEW"])
    assert forest.fallback
    assert tags(forest.best_tree()) == ["NNS", "NEW"]


def test_a_category_is_no_tag():
    assert PARSER.parse(["birds", "sing"], ["NP", "VP"]).fallback


def test_too_few_tags_are_refused():
    with pytest.raises(KernelInputError, match="1 parts of speech for 2 words"):
        PARSER.parse(["birds", "sing"], ["NNS"])


# --- sentences that are not covered, unknown, long


def test_a_sentence_that_is_not_covered_is_flagged():
    forest = PARSER.parse([",", ",", ","], [",", ",", ","])
    assert forest.fallback


def test_the_fallback_is_flat_under_the_most_frequent_root():
    forest = PARSER.parse([",", "the", "birds"], [",", "DT", "NNS"])
    assert forest.best_tree() == Tree.from_brackets("(S (, ,) (DT the) (NNS birds))")
    assert forest.spans[forest.root] == (0, 3)


def test_the_fallback_chooses_probable_tags():
    parser = ForestParser(max_length=1).fit(TREEBANK)
    assert parser.parse(["the", "boat"]).best_tree() == Tree.from_brackets("(S (DT the) (NN boat))")


def test_a_sentence_to_which_too_many_rules_apply_gets_the_fallback(monkeypatch):
    sentence = ["the", "birds", "sing", "."]
    whole = PARSER.parse(sentence)
    monkeypatch.setattr("kernelwood.parsing.parser._MOST_RULES", 1)
    given_up = PARSER.parse(sentence)
    assert given_up.fallback and not whole.fallback
    assert [given_up.labels[leaf] for leaf in range(4)] == sentence


def test_the_limit_of_rules_changes_no_forest_below_it(monkeypatch):
    sentence = ["the", "birds", "sing", "."]
    whole = PARSER.parse(sentence)
    monkeypatch.setattr("kernelwood.parsing.parser._MOST_RULES", 10**5)
    assert PARSER.parse(sentence) == whole


def test_a_parse_without_pruning_has_no_limit_of_rules(monkeypatch):
    monkeypatch.setattr("kernelwood.parsing.parser._MOST_RULES", 1)
    parser = ForestParser(coarse_threshold=float("inf")).fit(TREEBANK)
    assert not parser.parse(["the", "birds", "sing", "."]).fallback


@pytest.mark.slow
def test_one_word_hundreds_of_times_gets_the_fallback():
    # Every span may be anything: 300 words took minutes.
    assert load_grammar("biomedical").parse(["the"] * 300).fallback


def test_sentences_within_the_limit_are_parsed():
    parser = ForestParser(max_length=3).fit(TREEBANK)
    assert not parser.parse(["birds", "sing", "."]).fallback


def test_a_sentence_of_unknown_words_is_parsed():
    assert not PARSER.parse(["Wugs", "blicked", "glorply", "."]).fallback


def test_a_sentence_of_one_unknown_word_is_answered():
    assert words(PARSER.parse(["blick"]).best_tree()) == ["blick"]


def test_a_sentence_of_300_words_is_parsed():
    sentence = ["she", "saw"] + "the man with a kite and".split() * 49 + ["bread", "."]
    forest = PARSER.parse(sentence)
    assert words(forest.best_tree()) == sentence


def test_a_treebank_of_bare_tags_parses_single_words():
    parser = ForestParser().fit([Tree.from_brackets("(UH oh)")])
    assert parser.parse(["oh"]).best_tree() == Tree.from_brackets("(UH oh)")


def test_a_chart_beyond_the_memory_budget_is_refused():
    with kw.config_context(memory="1MB"), pytest.raises(MemoryBudgetError, match="max_length"):
        PARSER.parse(["birds"] * 500)


# --- treebanks of odd shape


def test_a_treebank_of_any_depth_is_learned():
    deep = chain(DEPTH, label=lambda level: "AB"[level % 2])
    parser = ForestParser().fit([deep])
    assert words(parser.parse(["B"]).best_tree()) == ["B"]


def test_words_without_parts_of_speech_are_refused():
    with pytest.raises(StructureError, match="no part of speech"):
        ForestParser().fit([Tree.from_brackets("(S (NP the cat) (VP sat))")])


def test_raw_treebank_trees_are_prepared():
    raw = "(TOP (S (NP-SBJ-1 (NN rain)) (VP (VBZ falls) (NP (-NONE- *-1)))))"
    parser = ForestParser().fit([Tree.from_brackets(raw)])
    assert parser.parse(["rain", "falls"]).best_tree() == Tree.from_brackets(
        "(S (NP (NN rain)) (VP (VBZ falls)))"
    )


# --- many sentences

MANY = [words(tree) for tree in TREEBANK] * 2


@pytest.mark.parametrize("n_jobs", [1, 2, 5, -1])
def test_batches_equal_single_sentences_for_any_number_of_threads(n_jobs):
    parser = ForestParser(n_jobs=n_jobs).fit(TREEBANK)
    assert parser.parse_batch(MANY) == [PARSER.parse(sentence) for sentence in MANY]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_trees_are_those_of_forests_without_a_threshold(n_jobs):
    parser = ForestParser(n_jobs=n_jobs).fit(TREEBANK)
    narrow = ForestParser(threshold=0.0).fit(TREEBANK)
    assert parser.parse_trees(MANY) == [narrow.parse(sentence).best_tree() for sentence in MANY]


def test_there_is_no_tree_where_there_is_a_fallback():
    parser = ForestParser(max_length=2).fit(TREEBANK)
    assert parser.parse_trees([["birds", "sing", "."]]) == [None]


def test_words_are_looked_up_once(monkeypatch):
    parser = ForestParser().fit(TREEBANK)
    asked = []
    look_up = type(parser.lexicon_).look_up
    monkeypatch.setattr(
        type(parser.lexicon_), "look_up", lambda *args: asked.append(args[1:]) or look_up(*args)
    )
    first, second = (parser.parse(["birds", "sing", "."]) for _ in range(2))
    assert first == second
    assert len(asked) == 3


def test_words_that_are_kept_are_bounded(monkeypatch):
    monkeypatch.setattr("kernelwood.parsing.parser._MOST_WORDS", 2)
    parser = ForestParser().fit(TREEBANK)
    assert parser.parse_batch(MANY) == PARSER.parse_batch(MANY)
    assert len(parser._known_words) <= 2


def test_learning_again_forgets_the_words_before():
    parser = ForestParser().fit(UNAMBIGUOUS)
    parser.parse(["birds", "sing", "."])
    assert parser.fit(TREEBANK).parse(["birds", "sing", "."]) == PARSER.parse(
        ["birds", "sing", "."]
    )


def test_counts_of_boundaries_are_not_made_for_an_infinite_threshold():
    parser = ForestParser(boundary_threshold=float("inf")).fit(TREEBANK)
    assert parser.grammar_.boundaries is None
    assert PARSER.grammar_.boundaries is not None


def test_batches_take_tags():
    forests = PARSER.parse_batch(MANY, [tags(tree) for tree in TREEBANK] * 2)
    assert [tags(forest.best_tree()) for forest in forests] == [tags(tree) for tree in TREEBANK] * 2


def test_an_empty_batch_gives_no_forests():
    assert PARSER.parse_batch([]) == []


def test_progress_is_reported():
    seen = []
    with kw.config_context(progress=lambda done, total: seen.append((done, total))):
        PARSER.parse_batch(MANY)
    assert seen[-1] == (len(MANY), len(MANY))


def test_a_single_sentence_reports_no_progress():
    seen = []
    with kw.config_context(progress=lambda done, total: seen.append((done, total))):
        PARSER.parse(MANY[0])
    assert seen == []


def test_tags_of_too_few_sentences_are_refused():
    with pytest.raises(KernelInputError, match="1 lists for 2 sentences"):
        PARSER.parse_batch([["birds"], ["boat"]], [["NNS"]])


def test_a_text_is_no_batch():
    with pytest.raises(KernelInputError, match="split"):
        PARSER.parse_batch("birds sing")


def test_the_position_of_a_bad_sentence_is_told():
    with pytest.raises(KernelInputError, match="sentence 1"):
        PARSER.parse_batch([["birds"], "sing"])


# --- what is refused


def test_a_string_is_no_list_of_words():
    with pytest.raises(KernelInputError, match=r"tokens\.split\(\)"):
        PARSER.parse("birds sing")


def test_an_empty_sentence_is_refused():
    with pytest.raises(KernelInputError, match="at least one word"):
        PARSER.parse([])


@pytest.mark.parametrize("tokens", [["birds", 3], [None], 7])
def test_words_are_strings(tokens):
    with pytest.raises(KernelInputError, match="tokens"):
        PARSER.parse(tokens)


def test_an_unfitted_parser_says_so():
    with pytest.raises(KernelInputError, match="fit"):
        ForestParser().parse(["birds"])


@pytest.mark.parametrize(
    "parameters",
    [
        {"horizontal": -1},
        {"horizontal": 1.5},
        {"smoothing": -1.0},
        {"smoothing": float("inf")},
        {"vertical": 0},
        {"vertical": None},
        {"vertical": True},
        {"max_unary": -1},
        {"max_unary": 10**9},
        {"max_length": 0},
        {"threshold": -1.0},
        {"threshold": float("nan")},
        {"threshold": "8"},
        {"coarse_threshold": -0.5},
        {"split_tags": "yes"},
        {"split_categories": None},
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(parameters):
    [name] = parameters
    with pytest.raises(KernelInputError, match=name):
        ForestParser(**parameters).fit(TREEBANK)


# --- an estimator like others


def test_parameters_can_be_read():
    assert ForestParser(vertical=3).get_params()["vertical"] == 3


def test_a_clone_is_not_fitted():
    clone = PARSER.clone()
    assert clone == PARSER and not hasattr(clone, "grammar_")


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_parse_alike(copied):
    twin = copied(PARSER)
    assert twin.parse_batch(MANY) == PARSER.parse_batch(MANY)


def test_fitting_again_forgets_the_first_treebank():
    parser = ForestParser().fit(TREEBANK)
    parser.parse(["birds"])
    parser.fit(UNAMBIGUOUS)
    assert parser.parse(words(UNAMBIGUOUS[0])).best_tree() == UNAMBIGUOUS[0]


def test_the_result_is_a_forest():
    assert isinstance(PARSER.parse(["birds", "sing", "."]), Forest)
