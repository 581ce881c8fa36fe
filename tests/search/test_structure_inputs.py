from __future__ import annotations

import pytest
from parsed_samples import sentence

import kernelwood as kw
from kernelwood.search import choose_view, text_of
from kernelwood.search.structure_inputs import as_inputs, choose_kernel, make_structures, name_of
from kernelwood.views import grct, lct

PARSED = sentence("cats", "see", "birds")
PLAIN = kw.Sentence.from_words(["we", "go"])
WITH_TREE = kw.Sentence.from_tree(kw.Tree.from_brackets("(S (NP (PRP we)) (VP (VBP go)))"))
WORDS = kw.Sequence(["we", "go"])
TREE = kw.Tree.from_brackets("(S (NP we) (VP go))")


# Which view.


@pytest.mark.parametrize(
    ("inputs", "kernel", "expected"),
    [
        ([PARSED], None, "lct"),
        ([PLAIN, PARSED], None, "lct"),
        ([WITH_TREE], None, "tree"),
        ([PLAIN], None, "words"),
        ([PARSED], kw.SubsequenceKernel(), "words"),
        ([PARSED], kw.SubsetTreeKernel(), "lct"),
        ([kw.Example("a", views={"sentence": PARSED})], None, "lct"),
        ([kw.Example("a", views={"parse": TREE})], None, "parse"),
        ([kw.Example("a", views={"words": WORDS, "tree": TREE})], None, "tree"),
        ([kw.Example("a", views={"words": WORDS, "x": TREE})], kw.PartialTreeKernel(), "x"),
        ([TREE], None, None),
        (kw.batch([WORDS]), None, None),
        ([PARSED], kw.OnView("words", kw.SubsequenceKernel()), None),
    ],
)
def test_a_sensible_view_is_chosen(inputs, kernel, expected):
    assert choose_view(inputs, kernel, "x") == expected


def test_a_choice_among_unknown_views_is_left_to_the_user():
    example = kw.Example("a", views={"one": TREE, "two": TREE})
    with pytest.raises(
        kw.errors.KernelInputError, match="several views that could be compared, one, two"
    ):
        choose_view([example], None, "x")


@pytest.mark.parametrize(
    ("item", "kernel"),
    [
        (kw.Sentence("we go"), None),
        (PLAIN, kw.PartialTreeKernel()),
        (PARSED, kw.ForestKernel()),
        (kw.Example("a", views={"text": "we go"}), None),
    ],
)
def test_sentences_of_which_no_view_can_be_made_are_refused(item, kernel):
    with pytest.raises(kw.errors.KernelInputError, match="with dependencies have 'lct'"):
        choose_view([item], kernel, "x")


@pytest.mark.parametrize(
    ("structure", "view", "expected"),
    [
        (WORDS, "words", kw.SubsequenceKernel()),
        (TREE, "tree", kw.SubsetTreeKernel()),
        (TREE, "lct", kw.PartialTreeKernel()),
        (TREE, None, kw.PartialTreeKernel()),
        (kw.Forest.from_trees([TREE]), None, kw.ForestKernel()),
    ],
)
def test_the_kernel_suits_the_view(structure, view, expected):
    assert choose_kernel(structure, view) == expected


# Making structures.


def test_a_view_of_an_example_is_taken_as_it_is():
    example = kw.Example("a", views={"sentence": PARSED, "lct": TREE})
    assert make_structures([example], None, "lct", "x") == [TREE]


def test_a_view_that_an_example_lacks_is_made_of_its_sentence():
    example = kw.Example("a", views={"sentence": PARSED})
    assert make_structures([example], None, "grct", "x") == [grct(PARSED)]


def test_sentences_and_examples_can_be_mixed():
    example = kw.Example("a", views={"sentence": PARSED})
    assert make_structures([example, PARSED], None, "lct", "x") == [lct(PARSED)] * 2


def test_candidates_have_views_of_pairs():
    first, second = kw.text.Entity("a", "x", ((0, 4),)), kw.text.Entity("b", "x", ((9, 14),))
    candidate = kw.text.Candidate("c", PARSED, [("first", first), ("second", second)])
    [made] = make_structures([candidate], None, "path", "x")
    assert "see" in made.nodes


def test_a_kernel_on_views_keeps_labels():
    kernel = kw.OnView("lct", kw.PartialTreeKernel())
    example = kw.Example("a", "yes", {"sentence": PARSED})
    assert make_structures([example], kernel, None, "x") == [
        kw.Example("a", "yes", {"lct": lct(PARSED)})
    ]


def test_examples_that_have_the_views_of_a_kernel_stay_what_they_are():
    kernel = kw.OnView("tree", kw.PartialTreeKernel())
    examples = kw.batch([kw.Example("a", views={"tree": TREE})])
    assert make_structures(examples, kernel, None, "x") is examples


def test_a_sentence_that_lacks_dependencies_is_named():
    with pytest.raises(
        kw.errors.StructureError, match=r"'lct' of sentence 1 \('we go'\)"
    ) as caught:
        make_structures([PARSED, PLAIN], None, "lct", "x")
    assert "view='words'" in str(caught.value)


@pytest.mark.parametrize(
    ("item", "kernel", "view", "message"),
    [
        (PARSED, None, "lcct", "there is no view 'lcct'"),
        (kw.Example("a", views={"tree": TREE}), None, "tre", "has no view 'tre'"),
        (kw.Example("a", views={"text": "we go"}), None, "text", "is not a structure"),
        (TREE, None, "lct", "the input is structures already"),
        (TREE, kw.OnView("lct", kw.PartialTreeKernel()), None, "the input is structures already"),
        (PARSED, kw.OnView("lct", kw.PartialTreeKernel()), "lct", "names its views itself"),
        (PARSED, None, "path", "needs a candidate, got a sentence"),
    ],
)
def test_views_that_cannot_be_made_are_told(item, kernel, view, message):
    with pytest.raises(ValueError, match=message):
        make_structures([item], kernel, view, "x")


def test_a_view_of_a_batch_of_structures_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match="the input is structures already"):
        make_structures(kw.batch([TREE]), None, "lct", "x")


# What is taken.


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (PARSED, "give a list, got the single Sentence"),
        ("we go", "give a list, got the single str"),
        (3, "give a list of sentences"),
        ({PARSED}, "got {.* of type set"),
        (b"we go", "of type bytes"),
        ([PARSED, 3], "item 1 is 3 of type int"),
        ([kw.Document("We go. It is.")], r"2 sentences.*document\.sentences"),
    ],
)
def test_what_is_no_list_of_sentences_is_refused(given, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        as_inputs(given, "x")


def test_a_string_is_a_sentence_of_words():
    [sentence] = as_inputs(["we go."], "x")
    assert sentence.words == ("we", "go", ".")


def test_a_document_of_one_sentence_is_that_sentence():
    assert as_inputs([kw.Document("We go.")], "x")[0].text == "We go."


def test_any_iterable_is_taken():
    assert as_inputs(iter([PARSED, PLAIN]), "x") == [PARSED, PLAIN]


# Texts and names.


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (PARSED, "cats see birds"),
        (kw.Example("a", views={"sentence": PARSED}), "cats see birds"),
        (kw.Example("a", views={"sentence": PARSED, "text": "Cats!"}), "Cats!"),
        (kw.Example("a", views={"tree": TREE, "words": WORDS}), "we go"),
        (kw.Example("a", views={"tree": TREE}), "(S (NP we) (VP go))"),
        (kw.Example("a"), ""),
        (WORDS, "we go"),
        (TREE, "(S (NP we) (VP go))"),
        (kw.Forest.from_trees([TREE]), "(S (NP we) (VP go))"),
        (
            kw.text.Candidate("c", PARSED, [("x", kw.text.Entity("a", "x", ((0, 4),)))]),
            "cats see birds",
        ),
    ],
)
def test_the_text_is_what_a_person_would_read(item, expected):
    assert text_of(item) == expected


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (PARSED, ""),
        (PARSED.with_parts(metadata=[("sent_id", "w-7"), ("note", None)]), "w-7"),
        (kw.Example("a"), "a"),
        (kw.text.Candidate("c", PARSED, [("x", kw.text.Entity("a", "x", ((0, 4),)))]), "c"),
        (TREE, ""),
    ],
)
def test_the_name_is_the_id(item, expected):
    assert name_of(item) == expected
