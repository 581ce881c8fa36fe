from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files

import pytest

from kernelwood.datasets import load_questions
from kernelwood.structures import Sequence, Tree
from kernelwood.text import Example

CLASSES = {"DESC", "ENTY", "ABBR", "HUM", "NUM", "LOC"}

# The tags of the Penn Treebank, without those for symbols that no question needs.
_TAGS = """
CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH
VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB . , :
"""
_PHRASES = """
ADJP ADVP CONJP FRAG INTJ LST NAC NP NX PP PRN PRT QP RRC UCP VP WHADJP WHADVP WHNP WHPP X
S SBAR SBARQ SINV SQ
"""
PART_OF_SPEECH = set(_TAGS.split())
PHRASE = set(_PHRASES.split())

LINES = (
    files("kernelwood.datasets")
    .joinpath("data", "questions.tsv")
    .read_text(encoding="utf-8")
    .splitlines()
)
HEADER, ROWS = LINES[0], [tuple(line.split("\t")) for line in LINES[1:]]


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return load_questions()


def tree_of(example: Example) -> Tree:
    tree = example.views["tree"]
    assert isinstance(tree, Tree)
    return tree


def words_of(example: Example) -> list[str]:
    return [leaf.label for leaf in tree_of(example).leaves()]


def is_preterminal(node: Tree) -> bool:
    return any(child.is_leaf for child in node.children)


def tokenize(question: str) -> list[str]:
    """Split off the final mark and the possessive, the only joined tokens in the file."""
    return re.findall(r"'s\b|[?.]$|(?:(?!'s\b|[?.]$)\S)+", question)


def test_header_tells_origin_and_license() -> None:
    assert re.match(r"# .*written for kernelwood.*Apache-2\.0", HEADER)


def test_every_row_has_three_fields() -> None:
    assert {len(row) for row in ROWS} == {3}


def test_every_class_has_twenty_questions(examples: list[Example]) -> None:
    assert Counter(example.label for example in examples) == dict.fromkeys(CLASSES, 20)


def test_classes_take_turns(examples: list[Example]) -> None:
    stretches = [examples[start : start + 6] for start in range(0, 120, 6)]
    assert all({example.label for example in stretch} == CLASSES for stretch in stretches)


def test_ids_count_from_one(examples: list[Example]) -> None:
    assert [example.id for example in examples] == [f"q{i:03d}" for i in range(1, 121)]


def test_origin_is_the_line_of_the_file(examples: list[Example]) -> None:
    expected = [f"questions.tsv:{line}" for line in range(2, 122)]
    assert [str(example.origin) for example in examples] == expected


def test_examples_follow_the_rows(examples: list[Example]) -> None:
    loaded = [(example.label, tree_of(example).to_brackets()) for example in examples]
    assert loaded == [(label, brackets) for label, _, brackets in ROWS]


def test_views_are_tree_and_words(examples: list[Example]) -> None:
    assert {tuple(sorted(example.views)) for example in examples} == {("tree", "words")}


def test_words_are_the_lowercased_leaves(examples: list[Example]) -> None:
    expected = [Sequence([word.lower() for word in words_of(example)]) for example in examples]
    assert [example.views["words"] for example in examples] == expected


def test_loading_twice_gives_independent_lists() -> None:
    load_questions().clear()
    assert len(load_questions()) == 120


def test_no_question_occurs_twice() -> None:
    assert len({question.lower() for _, question, _ in ROWS}) == 120


def test_leaves_spell_the_question(examples: list[Example]) -> None:
    questions = [question for _, question, _ in ROWS]
    assert [words_of(example) for example in examples] == [tokenize(text) for text in questions]


def test_questions_have_five_to_twelve_words() -> None:
    assert {len(question.split()) for _, question, _ in ROWS} <= set(range(5, 13))


def test_every_tree_ends_in_a_final_mark(examples: list[Example]) -> None:
    last = {tree_of(example).children[0].children[-1].to_brackets() for example in examples}
    assert last == {"(. ?)", "(. .)"}


def test_only_the_top_node_is_a_root(examples: list[Example]) -> None:
    roots = [
        [node.label for node in tree_of(example).preorder()].count("ROOT") for example in examples
    ]
    tops = {tree_of(example).label for example in examples}
    assert (set(roots), tops) == ({1}, {"ROOT"})


def test_every_word_stands_alone_under_its_tag(examples: list[Example]) -> None:
    tags = [node for e in examples for node in tree_of(e).preorder() if is_preterminal(node)]
    assert {len(node.children) for node in tags} == {1}


def test_every_tag_is_a_penn_tag(examples: list[Example]) -> None:
    tags = {node.label for e in examples for node in tree_of(e).preorder() if is_preterminal(node)}
    assert tags <= PART_OF_SPEECH


def test_every_phrase_label_is_a_penn_label(examples: list[Example]) -> None:
    inner = [node for e in examples for node in tree_of(e).preorder() if not node.is_leaf]
    phrases = {node.label for node in inner if not is_preterminal(node)}
    assert phrases - {"ROOT"} <= PHRASE
