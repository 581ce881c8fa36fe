"""What clusters are about, as objects and as text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from strategies import chain, sequences, star, trees

import kernelwood as kw
from kernelwood.clustering import KernelKMeans
from kernelwood.clustering.description import common_fragments, is_part, structure_text
from kernelwood.datasets import load_questions
from kernelwood.features import NystromEmbedder

QUESTIONS = load_questions()
TREES = [question.view("tree") for question in QUESTIONS]
LABELS = [question.label for question in QUESTIONS]
KERNEL = kw.SubsetTreeKernel()


def tree(text):
    return kw.Tree.from_brackets(text)


def words(text):
    return kw.Sequence(text.split())


@pytest.fixture(scope="module")
def model():
    return KernelKMeans(6, KERNEL, random_state=0).fit(TREES)


# Descriptions.


def test_there_is_a_description_of_each_cluster(model):
    found = model.describe()
    assert [each.number for each in found] == list(range(6))
    assert [each.size for each in found] == model.cluster_sizes_.tolist()


def test_medoids_come_in_order_of_their_distance(model):
    for each in model.describe(n_medoids=4):
        distances = model.transform(each.medoids)[:, each.number]
        assert len(distances) == 4
        assert (distances[1:] >= distances[:-1] - 1e-9).all()
        assert each.medoids == tuple(TREES[index] for index in each.medoid_indices)


def test_a_small_cluster_has_no_more_medoids_than_members():
    model = KernelKMeans(5, KERNEL, random_state=0).fit(TREES[:6])
    assert [len(each.medoids) for each in model.describe()] == [2, 1, 1, 1, 1]


def test_classes_are_counted_the_most_frequent_first(model):
    for each in model.describe(LABELS):
        members = [LABELS[i] for i in range(120) if model.labels_[i] == each.number]
        assert each.classes == {label: members.count(label) for label in set(members)}
        counts = list(each.classes.values())
        assert counts == sorted(counts, reverse=True)


def test_without_classes_none_are_counted(model):
    assert all(each.classes is None for each in model.describe())


def test_fragments_are_in_the_medoid(model):
    for each in model.describe():
        assert each.fragments
        assert all(is_part(fragment.structure, each.medoids[0]) for fragment in each.fragments)


def test_counts_of_fragments_are_those_of_the_nearest_members(model):
    for each in model.describe(n_medoids=12):
        for fragment in each.fragments:
            having = sum(is_part(fragment.structure, member) for member in each.medoids[1:])
            assert fragment.n_compared == len(each.medoids) - 1
            assert 1 <= fragment.count <= having


def test_as_many_fragments_as_asked_for_are_listed(model):
    assert all(len(each.fragments) <= 2 for each in model.describe(n_fragments=2))
    assert not any(each.fragments or each.note for each in model.describe(n_fragments=0))


def test_what_the_first_question_words_have_in_common_is_found():
    model = KernelKMeans(2, kw.SubsequenceKernel(), random_state=0).fit(
        [
            words(text)
            for text in ("who sang it", "who wrote it", "when did he go", "when did we go")
        ]
    )
    found = [[fragment.text for fragment in each.fragments] for each in model.describe()]
    assert found == [["who … it"], ["when did … go"]]


def test_examples_are_described_by_their_views():
    kernel = kw.OnView("tree", KERNEL) + kw.OnView("words", kw.SubsequenceKernel())
    model = KernelKMeans(4, kernel, random_state=0).fit(QUESTIONS)
    found = model.describe(LABELS)
    assert {fragment.view for each in found for fragment in each.fragments} == {"tree", "words"}
    assert f"[{found[0].medoid_indices[0]}] {found[0].medoids[0].id}: " in str(found[0])


def test_a_kernel_that_cannot_be_explained_is_noted():
    model = KernelKMeans(2, KERNEL * KERNEL, random_state=0).fit(TREES[:20])
    for each in model.describe():
        assert each.fragments == ()
        assert "cannot explain Product" in each.note
        assert "cannot explain Product" in str(each)


def test_members_that_share_nothing_are_noted():
    model = KernelKMeans(1, kw.SubsequenceKernel(), random_state=0).fit([words("a"), words("b")])
    assert model.describe()[0].note == "no shared fragments"


def test_vectors_are_described_as_well():
    embedder = NystromEmbedder(KERNEL, n_landmarks=40)
    model = KernelKMeans(4, KERNEL, embedder=embedder, random_state=0).fit(TREES)
    assert all(each.fragments for each in model.describe())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_medoids": 13}, "n_medoids must be an int from 0 to 12"),
        ({"n_medoids": -1}, "n_medoids must be an int from 0 to 12"),
        ({"n_fragments": 1.5}, "n_fragments must be an int of at least 0"),
        ({"y": LABELS[:5]}, "120 structures, but 5 labels"),
    ],
)
def test_wrong_arguments_are_refused(model, parameters, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        model.describe(**parameters)


# Text.


def test_a_description_reads_well():
    texts = ["who sang it", "who wrote it", "when did it end"]
    model = KernelKMeans(2, kw.SubsequenceKernel(), random_state=0).fit(list(map(words, texts)))
    first, second = model.describe(["HUM", "HUM", "NUM"])
    assert str(first).splitlines() == [
        "cluster 0: 2 structures (2 HUM)",
        "  [0] who sang it",
        "  [1] who wrote it",
        "  fragments of the first, with the number of structures near the center that share them:",
        "    1 of 1  who … it",
    ]
    assert str(second).splitlines() == [
        "cluster 1: 1 structure (1 NUM)",
        "  [2] when did it end",
    ]


def test_lines_fit_a_terminal():
    long = [star(200, lambda position: f"word{position}"), star(200, lambda position: "w\nw")]
    model = KernelKMeans(1, kw.PartialTreeKernel(), random_state=0).fit(long)
    [text] = map(str, model.describe(["a" * 300, "b\nb"]))
    assert all(len(line) < 240 for line in text.splitlines())
    assert len(text.splitlines()) <= 9


def test_many_classes_are_cut(model):
    text = str(model.describe([f"c{i}" for i in range(120)])[0]).splitlines()[0]
    assert text.endswith(f"{model.cluster_sizes_[0] - 6} classes more)")


def test_a_description_is_plain_json(model):
    [first, *_] = json.loads(json.dumps([each.to_dict() for each in model.describe(LABELS)]))
    assert first["size"] == model.cluster_sizes_[0]
    assert sum(count for _, count in first["classes"]) == first["size"]


@pytest.mark.parametrize(
    ("structure", "text"),
    [
        (words("we go"), "we go"),
        (tree("(S (NP we) (VP go))"), "we go"),
        (kw.Forest.from_trees([(tree("(S (NP we) (VP go))"), 1.0)]), "we go"),
        (kw.Example("7", views={"tree": tree("(S a)"), "words": words("b c")}), "7: b c"),
    ],
    ids=["sequence", "tree", "forest", "example"],
)
def test_structures_are_shown_by_their_words(structure, text):
    assert structure_text(structure) == text


# Fragments.


def test_what_most_share_is_listed():
    first = tree("(S (A x) (B y) (C z))")
    others = [tree("(S (A x) (B y) (C w))"), tree("(S (A x) (B v) (C w))"), tree("(T (B y))")]
    found = common_fragments(KERNEL, first, others, 5)
    assert [(each.text, each.count) for each in found] == [("(S (A x) B C)", 2), ("(B y)", 2)]


def test_if_nothing_is_shared_by_half_the_best_of_the_rest_is_listed():
    first = words("a b c")
    others = [words("a"), words("b"), words("c"), words("x")]
    found = common_fragments(kw.SubsequenceKernel(), first, others, 5)
    assert [(each.text, each.count) for each in found] == [("a", 1), ("b", 1), ("c", 1)]


def test_a_smaller_piece_comes_first_if_it_is_shared_that_much_more_often():
    others = [words(text) for text in ("x y a b c", "x y a b c", "x y", "x y")]
    found = common_fragments(kw.SubsequenceKernel(), words("a b c x y"), others, 5)
    assert [(each.text, each.count) for each in found] == [("x y", 4), ("a b c", 2)]


def test_what_is_part_of_a_listed_piece_is_left_out():
    others = [words(text) for text in ("a b c", "a b c", "a b c", "a b")]
    found = common_fragments(kw.SubsequenceKernel(), words("a b c"), others, 5)
    assert [(each.text, each.count) for each in found] == [("a b c", 3)]


def test_words_that_match_softly_are_shown_as_the_medoid_has_them():
    pets = kw.similarity.Table.from_pairs({("cat", "dog"): 0.8, ("cat", "cow"): 0.7})
    kernel = kw.SubsequenceKernel(similarity=pets)
    found = common_fragments(kernel, words("the cat"), [words("the dog"), words("the cow")], 5)
    assert [(each.text, each.count) for each in found] == [("the cat", 2)]


def test_deep_trees_have_something_in_common():
    found = common_fragments(kw.SubtreeKernel(), chain(20_000), [chain(20_000)], 3)
    assert [each.size for each in found] == [20_000]


# Parts.


def reference_part(piece, whole):
    """Return whether a piece fits somewhere, by the definition."""

    def fits(a, b):
        if (a.label, a.edge) != (b.label, b.edge):
            return False

        def children(i, j):
            if i == len(a.children):
                return True
            return any(
                fits(a.children[i], b.children[k]) and children(i + 1, k + 1)
                for k in range(j, len(b.children))
            )

        return children(0, 0)

    return any(fits(piece, node) for node in whole.preorder())


@given(trees(), trees())
def test_parts_of_trees_are_those_of_the_definition(piece, whole):
    assert is_part(piece, whole) == reference_part(piece, whole)


@given(trees())
def test_every_subtree_is_part_of_a_tree(whole):
    assert all(is_part(node, whole) for node in whole.preorder())


@given(sequences(), sequences())
def test_a_sequence_is_part_of_what_it_is_put_into(piece, other):
    mixed = [element for pair in zip(piece, other, strict=False) for element in pair]
    rest = list(piece)[len(list(zip(piece, other, strict=False))) :]
    assert is_part(piece, kw.Sequence([*mixed, *rest]))


def test_a_sequence_in_another_order_is_no_part():
    assert not is_part(words("b a"), words("a b"))


def test_a_sequence_is_no_part_of_a_tree():
    assert not is_part(words("a"), kw.Tree("a"))


def test_no_label_moves_the_cursor():
    texts = [kw.Sequence(["\x1b[2J", "it\nis", word]) for word in ("here", "there", "here")]
    model = KernelKMeans(1, kw.SubsequenceKernel(), random_state=0).fit(texts)
    [shown] = model.describe(["a\rb"] * 3)
    assert all(line.isprintable() for line in str(shown).splitlines())
    assert "it is" in str(shown)
