"""Folds, documents and splits of corpora."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

import kernelwood as kw
from kernelwood import evaluate
from kernelwood.errors import KernelInputError
from kernelwood.evaluate.class_labels import encode_groups
from kernelwood.evaluate.group_folds import even_folds, stratified_folds
from kernelwood.evaluate.splits import check_splits, join_structures, split_examples

GROUPS = st.lists(st.sampled_from("abcdefgh"), min_size=6, max_size=60).filter(
    lambda groups: len(set(groups)) >= 3
)

PPI = """<corpus source="Own">
  <document id="Own.d0" origId="77">
    <sentence id="Own.d0.s0" text="Raf binds Ras.">
      <entity charOffset="0-2" id="Own.d0.s0.e0" text="Raf" type="protein" />
      <entity charOffset="10-12" id="Own.d0.s0.e1" text="Ras" type="protein" />
      <pair e1="Own.d0.s0.e0" e2="Own.d0.s0.e1" id="Own.d0.s0.p0" interaction="True" />
    </sentence>
    <sentence id="Own.d0.s1" text="Mek needs Ras.">
      <entity charOffset="0-2" id="Own.d0.s1.e0" text="Mek" type="protein" />
      <entity charOffset="10-12" id="Own.d0.s1.e1" text="Ras" type="protein" />
    </sentence>
  </document>
  <document id="Own.d1">
    <sentence id="Own.d1.s0" text="Sos and Raf.">
      <entity charOffset="0-2" id="Own.d1.s0.e0" text="Sos" type="protein" />
      <entity charOffset="8-10" id="Own.d1.s0.e1" text="Raf" type="protein" />
    </sentence>
  </document>
</corpus>
"""
CONLLU = """# newdoc id = tales
# sent_id = 1
1\tCats\tcat\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tsleep\tsleep\tVERB\t_\t_\t0\troot\t_\t_

# sent_id = 2
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\t_

# newdoc id = news
# sent_id = 3
1\tRain\train\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tfell\tfall\tVERB\t_\t_\t0\troot\t_\t_
"""

CORPORA = {"A": (["a1", "a2"], [0, 1]), "B": (["b1"], [1]), "C": (["c1"], [0])}


def lists(splits):
    return [(train.tolist(), test.tolist()) for train, test in splits]


@given(GROUPS, st.booleans(), st.integers(0, 50), st.data())
def test_no_group_is_in_both_parts(groups, stratified, seed, data):
    labels = st.lists(st.sampled_from(["x", "y"]), min_size=len(groups), max_size=len(groups))
    y = data.draw(labels.filter(lambda y: max(map(y.count, y)) >= 3)) if stratified else None
    names = np.array(groups)
    for train, test in evaluate.group_splits(groups, y, n_splits=3, random_state=seed):
        assert set(names[train]).isdisjoint(names[test])


@given(GROUPS, st.booleans())
def test_every_example_is_tested_once_and_learned_from_otherwise(groups, stratified):
    y = ["x"] * len(groups) if stratified else None
    splits = evaluate.group_splits(groups, y, n_splits=3)
    everything = list(range(len(groups)))
    assert sorted(i for _, test in splits for i in test) == everything
    assert all(sorted([*train, *test]) == everything for train, test in splits)
    assert all(len(test) for _, test in splits)


@pytest.mark.parametrize("y", [None, [0, 1] * 50])
def test_equal_seeds_give_equal_splits(y):
    groups = np.arange(100) // 4
    first, again = (evaluate.group_splits(groups, y, random_state=3) for _ in range(2))
    assert lists(first) == lists(again)


@pytest.mark.parametrize("y", [None, [0, 1] * 50])
def test_different_seeds_give_different_splits(y):
    groups = np.arange(100) // 4
    first, other = (evaluate.group_splits(groups, y, random_state=seed) for seed in (3, 4))
    assert lists(first) != lists(other)


def test_labels_spread_a_rare_class_over_the_parts():
    groups = np.arange(200) // 2
    y = np.where(groups % 10 == 0, "rare", "common")
    splits = evaluate.group_splits(groups, y, n_splits=5)
    assert [int((y[test] == "rare").sum()) for _, test in splits] == [4] * 5


def numbered(values):
    return np.unique(values, return_inverse=True)[1]


@pytest.mark.filterwarnings("ignore:The least populated class")
@given(st.integers(0, 2**32 - 1), st.integers(2, 11), st.integers(1, 20), st.integers(1, 5))
def test_stratified_folds_of_groups_are_those_of_scikit_learn(seed, n_splits, n_classes, size):
    random = np.random.default_rng(seed)
    y = np.concatenate([np.zeros(n_splits, int), random.integers(n_classes, size=150)])
    groups = np.concatenate([np.arange(n_splits), random.integers(150 // size, size=150)])
    theirs = StratifiedGroupKFold(n_splits, shuffle=True, random_state=seed)
    found = stratified_folds(numbered(y), numbered(groups), n_splits, seed)
    for fold, (_, test) in enumerate(theirs.split(np.zeros((len(y), 1)), y, groups)):
        assert np.flatnonzero(found == fold).tolist() == test.tolist()


@given(st.lists(st.integers(0, 12), min_size=30, max_size=60), st.integers(2, 4))
def test_even_folds_of_groups_are_those_of_scikit_learn(groups, n_splits):
    groups = numbered([*range(n_splits), *groups])
    found = even_folds(groups, n_splits)
    theirs = GroupKFold(n_splits).split(np.zeros((len(groups), 1)), groups=groups)
    for fold, (_, test) in enumerate(theirs):
        assert np.flatnonzero(found == fold).tolist() == test.tolist()


def test_parts_without_labels_are_of_equal_size():
    splits = evaluate.group_splits(np.arange(100) // 5, n_splits=4)
    assert {len(test) for _, test in splits} == {25}


def test_a_class_rarer_than_the_parts_gives_no_warning():
    assert len(evaluate.group_splits(range(9), ["a"] * 8 + ["b"], n_splits=3)) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 1, 2],), "5 splits need at least 5 groups, but there are only 2; use at most 2"),
        (([1, 1, 1],), "but there is only 1; give finer groups"),
        (([1, 2, 3], [0, 1]), "groups has 3 entries, but there are 2 examples"),
    ],
)
def test_groups_that_do_not_do_are_named(arguments, message):
    with pytest.raises(KernelInputError, match=message):
        evaluate.group_splits(*arguments)


@pytest.mark.parametrize("n_splits", [1, 0, 2.0, True, "3"])
def test_a_bad_number_of_splits_is_named(n_splits):
    with pytest.raises(KernelInputError, match="number of splits must be an int of at least 2"):
        evaluate.group_splits(range(10), n_splits=n_splits)


def test_classes_too_small_for_the_parts_are_named():
    with pytest.raises(KernelInputError, match="the largest class has 2 examples, too few for 3"):
        evaluate.group_splits(range(4), [0, 0, 1, 1], n_splits=3)


def test_a_number_without_groups_splits_each_class_evenly():
    y = np.repeat([0, 1], [20, 10])
    splits = split_examples(5, y, None, seed=0)
    assert [np.bincount(y[test]).tolist() for _, test in splits] == [[4, 2]] * 5


def test_a_splitter_of_scikit_learn_is_asked():
    y = np.repeat([0, 1], 6)
    splitter = StratifiedKFold(3)
    expected = lists(splitter.split(np.zeros((12, 1)), y))
    assert lists(split_examples(splitter, y, None, seed=0)) == expected


def test_a_number_with_groups_keeps_them_whole():
    groups = encode_groups(np.arange(12) // 3, 12)
    for train, test in split_examples(2, np.zeros(12, dtype=np.int64), groups, seed=0):
        assert not set(groups.codes[train]) & set(groups.codes[test])


def test_masks_are_splits_too():
    mask = np.array([True, False, True])
    assert lists(check_splits([(mask, ~mask)], 3)) == [([0, 2], [1])]


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ([], "splits is empty"),
        ([([0], [])], r"splits\[0\]: the test part is empty"),
        ([([], [0])], r"splits\[0\]: the train part is empty"),
        ([([0], [3])], r"splits\[0\]: the test part has the index 3, but there are 3 examples"),
        ([([-1], [0])], r"the train part has the index -1"),
        (
            [([0], [1]), ([0, 2], [2])],
            r"splits\[1\]: example 2 is in both the training and the test part",
        ),
        ([([0], [1]), ([0], [1])], "example 1 is tested more than once"),
        ([([0, 0], [1])], "the train part has an index twice"),
        ([([0.5], [1])], "must be a vector of indices"),
        ([([[0]], [1])], "must be a vector of indices"),
        ([0, 1], "splits must be a number of folds or a list"),
        (None, "splits must be a number of folds or a list"),
    ],
)
def test_splits_that_would_mislead_are_named(splits, message):
    with pytest.raises(KernelInputError, match=message):
        check_splits(splits, 3)


def test_folds_of_scikit_learn_pass():
    assert len(check_splits(KFold(4).split(np.zeros(8)), 8)) == 4


def read(text, format):
    return kw.read(io.BytesIO(text.encode()), format=format)


def test_sentences_of_an_interaction_corpus_know_their_document():
    assert evaluate.documents(read(PPI, "ppi")) == ["Own.d0", "Own.d0", "Own.d1"]


def test_candidates_are_of_the_document_of_their_sentence():
    candidates = kw.relations.pair_candidates(read(PPI, "ppi"))
    assert evaluate.documents(candidates) == ["Own.d0", "Own.d0", "Own.d1"]


def test_examples_made_from_candidates_are_told_by_their_id():
    examples = kw.relations.pair_candidates(read(PPI, "ppi")).examples(
        text=lambda c: c.sentence.text
    )
    assert evaluate.documents(examples) == ["Own.d0", "Own.d0", "Own.d1"]


def test_documents_that_a_file_announces_reach_to_the_next_one():
    assert evaluate.documents(read(CONLLU, "conllu")) == ["tales", "tales", "news"]


def test_announced_documents_do_not_depend_on_the_order_of_examples():
    assert evaluate.documents(read(CONLLU, "conllu")[::-1]) == ["news", "tales", "tales"]


def test_a_sentence_before_all_documents_is_of_the_file():
    _, second, third = read(CONLLU, "conllu")
    assert evaluate.documents([second, third]) == [second.origin.path, "news"]


def test_candidates_of_documents_are_told_by_their_id():
    text = "Raf binds Ras. Mek binds Ras."
    mentions = [("T1", 0), ("T2", 10), ("T3", 15), ("T4", 25)]
    entities = [kw.text.Entity(name, "Protein", ((start, start + 3),)) for name, start in mentions]
    example = kw.Example("a/1008", views={"document": kw.Document(text, entities)})
    candidates = kw.relations.pair_candidates([example])
    assert evaluate.documents(candidates) == ["a/1008", "a/1008"]
    assert evaluate.documents([example]) == ["a/1008"]


def test_meaning_representations_are_numbered_within_their_document():
    text = "# ::id doc_7.12 ::snt Cats sleep\n(s / sleep-01 :ARG0 (c / cat))\n"
    assert evaluate.documents(read(text, "penman")) == ["doc_7"]


def test_columns_of_semantic_roles_name_their_document():
    sentence = kw.Sentence.from_words(["we", "go"], metadata=[("doc", "letters/3.xml")])
    assert evaluate.documents([kw.Example("x", views={"sentence": sentence})]) == ["letters/3.xml"]


def test_the_file_is_the_document_if_nothing_finer_is_known():
    items = [
        kw.Example("1", origin=kw.text.Origin("wsj_1.mrg", 4)),
        kw.Example("d.s1", origin=None),
    ]
    assert evaluate.documents(items) == ["wsj_1.mrg", "d"]


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("d.s1", "d"),
        ("d.s1.p0", "d"),
        ("d.s10.e1-e2", "d"),
        ("a.s1.b.s2", "a"),
        ("d.s1x.s2", "d.s1x"),
    ],
)
def test_ids_end_before_the_first_number_of_a_sentence(name, document):
    assert evaluate.documents([kw.Example(name)]) == [document]


def test_an_example_from_nowhere_is_named():
    with pytest.raises(KernelInputError, match=r"the document of 'q1' is unknown.*list of groups"):
        evaluate.documents([kw.Example("q1")])


def test_what_is_no_example_is_named():
    with pytest.raises(KernelInputError, match="item 1 is 'x' of type str"):
        evaluate.documents([kw.Example("d.s1"), "x"])


def test_documents_are_groups_for_splits():
    examples = [kw.Example(f"d{i // 3}.s{i % 3}") for i in range(30)]
    groups = evaluate.documents(examples)
    for train, test in evaluate.group_splits(groups, n_splits=5):
        assert {groups[i] for i in train}.isdisjoint(groups[i] for i in test)


def test_pairs_are_all_ordered_pairs():
    names = [(split.train, split.test) for split in evaluate.cross_corpus(CORPORA)]
    assert names == [
        (("A",), "B"),
        (("A",), "C"),
        (("B",), "A"),
        (("B",), "C"),
        (("C",), "A"),
        (("C",), "B"),
    ]


def test_leaving_one_out_learns_from_all_others():
    splits = evaluate.cross_corpus(CORPORA, scheme="leave_one_out")
    assert [split.data for split in splits] == [
        (["b1", "c1"], [1, 0], ["a1", "a2"], [0, 1]),
        (["a1", "a2", "c1"], [0, 1, 0], ["b1"], [1]),
        (["a1", "a2", "b1"], [0, 1, 1], ["c1"], [0]),
    ]


def test_a_pair_has_the_data_of_its_corpora():
    split = next(evaluate.cross_corpus(CORPORA))
    assert split.data == (["a1", "a2"], [0, 1], ["b1"], [1])
    assert repr(split) == "<CorpusSplit: A → B, 2 and 1 examples>"


def test_batches_are_joined_in_one_vocabulary():
    words = [[kw.Sequence(["a", "b"])], [kw.Sequence(["b", "c"]), kw.Sequence(["d"])]]
    joined = join_structures([kw.batch(part) for part in words])
    assert list(joined) == [*words[0], *words[1]]


@pytest.mark.parametrize("make", [np.array, sparse.csr_matrix], ids=["dense", "sparse"])
def test_arrays_are_joined_by_rows(make):
    joined = join_structures([make([[1, 2]]), make([[3, 4], [5, 6]])])
    assert (joined.toarray() if sparse.issparse(joined) else joined).tolist() == [
        [1, 2],
        [3, 4],
        [5, 6],
    ]


def test_labels_come_from_examples_if_there_are_none():
    corpora = {name: ([kw.Example("1", label=name)], None) for name in "AB"}
    assert [split.y_test for split in evaluate.cross_corpus(corpora)] == [["B"], ["A"]]


@pytest.mark.parametrize(
    ("corpora", "message"),
    [
        ({"A": (["a"], [0])}, "needs two corpora or more"),
        ([1, 2], "needs two corpora or more"),
        (
            {"A": (["a"], [0]), "B": (["b"], [0, 1])},
            "y of corpus 'B' has 2 labels, but X of corpus",
        ),
        ({"A": (["a"], [0]), "B": ["b"]}, r"corpus 'B' must be a pair \(X, y\)"),
        ({"A": (["a"], [0]), "B": ([], [])}, "X of corpus 'B' is empty"),
    ],
)
def test_corpora_that_do_not_do_are_named_at_once(corpora, message):
    with pytest.raises(KernelInputError, match=message):
        evaluate.cross_corpus(corpora)


def test_an_unknown_scheme_is_named():
    with pytest.raises(
        KernelInputError, match="scheme must be one of pairs, leave_one_out; got 'x'"
    ):
        evaluate.cross_corpus(CORPORA, scheme="x")
