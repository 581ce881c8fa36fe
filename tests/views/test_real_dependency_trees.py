"""The trees of the question data, rebuilt from the dependencies that one of them shows."""

import pytest
from corpora import data_file

import kernelwood as kw
from kernelwood.structures import Tree
from kernelwood.text import ROOT, Dependency, Sentence
from kernelwood.views import cgrct, clct, grct, lct, loct

VIEWS = {view.__name__: view for view in (grct, lct, loct, cgrct, clct)}


def questions(name):
    return kw.read(data_file("question-classification", name), views=list(VIEWS))


def sentence_of(tree):
    """Read tokens, lemmas, tags and dependencies off a GRCT.

    The words of the tree from left to right are taken for the sentence: where relations cross,
    the order may differ from that of the text, but not among a word and its dependents.
    """
    lemmas, tags = [], []
    relations, above, token_of = [], [], []  # of each relation node
    waiting = [(tree, ROOT)]
    while waiting:
        node, parent = waiting.pop()
        kind, _, label = node.label.partition("##")
        if kind == "POS":
            token_of[parent] = len(tags)
            tags.append(label)
            lemmas.append(node.children[0].label.removeprefix("LEX##").rpartition("::")[0])
        else:
            waiting += [(child, len(relations)) for child in reversed(node.children)]
            relations.append(label)
            above.append(parent)
            token_of.append(None)
    edges = [
        Dependency(ROOT if parent == ROOT else token_of[parent], relation, token)
        for parent, relation, token in zip(above, relations, token_of, strict=True)
    ]
    return Sentence.from_words(lemmas, lemmas=lemmas, tags=tags, dependencies=edges)


@pytest.mark.parametrize(
    ("name", "n_questions"),
    [
        pytest.param("train_5500.coarse.klp.gz", 5452, marks=pytest.mark.slow),
        ("TREC_10.coarse.klp.gz", 500),
    ],
)
def test_all_trees_of_the_question_data_are_rebuilt(name, n_questions):
    equal = dict.fromkeys(VIEWS, 0)
    for example in questions(name):
        sentence = sentence_of(example.view("grct"))
        for view, make in VIEWS.items():
            equal[view] += make(sentence) == example.view(view)
    assert equal == dict.fromkeys(VIEWS, n_questions)


def test_a_sentence_is_read_off_its_tree():
    tree = Tree.from_brackets(
        "(SYNT##root (SYNT##nsubj (POS##PRP LEX##we::p)) (POS##VB LEX##go::v))"
    )
    sentence = sentence_of(tree)
    assert (sentence.words, sentence.dependencies) == (
        ("we", "go"),
        ((ROOT, "root", 1), (1, "nsubj", 0)),
    )
