"""Grammars read off treebanks: symbols, rules, probabilities."""

from collections import defaultdict

import numpy as np
import pytest
from parsing.treebank_sample import TREEBANK
from sizes import DEPTH
from strategies import chain

from kernelwood.parsing.grammar import ChildProcess, estimate_grammar
from kernelwood.parsing.treebank import count_productions
from kernelwood.structures import Tree


def annotated(vertical: int, split_tags: bool, split_categories: bool) -> dict[str, object]:
    return {
        "vertical": vertical, "split_tags": split_tags, "split_categories": split_categories
    }  # fmt: skip


PLAIN = annotated(1, False, False)
FULL = annotated(2, True, True)


def symbols(text, annotation):
    counts = count_productions([Tree.from_brackets(text)], **annotation)
    return {symbol for rule in counts.rules for symbol in (rule[0], *rule[1])}


def totals_by_parent(rules):
    totals = defaultdict(float)
    for parent, p in zip(rules.binary[:, 0].tolist(), rules.binary_p, strict=True):
        totals[parent] += p
    for parent, p in zip(rules.unary[:, 0].tolist(), rules.unary_p, strict=True):
        totals[parent] += p
    return list(totals.values())


def strings(process, parent, first):
    """Return the children that the rules of a process can write, with their probabilities."""
    finished, waiting = {}, [((), 1.0, parent)]
    while waiting:
        written, p, symbol = waiting.pop()
        for (_, left, right), share in process.rules(symbol):
            if right >= first:
                waiting.append(((*written, left), p * share, right))
            else:
                key = (*written, left, right)
                finished[key] = finished.get(key, 0.0) + p * share
    return finished


def test_a_category_remembers_its_parent():
    assert ("NP", "S") in symbols("(S (NP (NN rain)))", annotated(2, False, False))


def test_a_category_remembers_its_grandparent():
    found = symbols("(S (VP (NP (NN rain))))", annotated(3, False, False))
    assert {("NP", "VP", "S"), ("VP", "S", "ROOT"), ("S", "ROOT")} <= found


def test_a_plain_grammar_has_the_labels_of_the_treebank():
    assert symbols("(S (NP (NN rain)))", PLAIN) == {("S",), ("NP",), ("NN",)}


def test_parts_of_speech_remember_their_parent_if_told():
    assert ("NN", "NP") in symbols("(S (NP (NN rain)))", annotated(1, True, False))


def test_prepositions_remember_their_grandparent_too():
    found = symbols("(VP (PP (IN on) (NP (NN ice))))", annotated(1, True, False))
    assert ("IN", "PP", "VP") in found


@pytest.mark.parametrize(("word", "mark"), [("was", "-be"), ("Had", "-have")])
def test_auxiliaries_stand_apart(word, mark):
    assert ("VBD", "VP", mark) in symbols(f"(VP (VBD {word}))", annotated(1, True, False))


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("(VP (VBD sang))", ("VP", "-finite")),
        ("(VP (ADVP (RB then)) (VBG singing))", ("VP", "-VBG")),
        ("(VP (VP (VBN sung)) (CC or) (VP (VBN said)))", ("VP", "-VBN")),
        ("(NP (NNP Ada) (POS 's))", ("NP", "-possessor")),
        ("(NP (NP (NN girl)) (VP (VBG singing)))", ("NP", "-verb")),
        ("(VP (RB not))", ("VP", "-")),
    ],
)
def test_categories_remember_what_is_inside(text, symbol):
    assert symbol in symbols(text, annotated(1, False, True))


@pytest.mark.parametrize("smoothing", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("horizontal", [0, 1, 2, 3, None])
@pytest.mark.parametrize("annotation", [PLAIN, FULL], ids=["plain", "full"])
def test_probabilities_of_every_parent_sum_to_one(annotation, horizontal, smoothing):
    productions = count_productions(TREEBANK, **annotation)
    grammar, _ = estimate_grammar(productions, horizontal, smoothing)
    sums = totals_by_parent(grammar.fine)
    assert sums == pytest.approx([1.0] * len(sums))


@pytest.mark.parametrize("smoothing", [0.0, 2.0])
@pytest.mark.parametrize("horizontal", [0, 1, 2, None])
def test_probabilities_of_every_coarse_parent_sum_to_one(horizontal, smoothing):
    grammar, _ = estimate_grammar(count_productions(TREEBANK, **FULL), horizontal, smoothing)
    sums = totals_by_parent(grammar.coarse)
    assert sums == pytest.approx([1.0] * len(sums))


def test_every_fine_rule_has_a_coarse_one():
    grammar, _ = estimate_grammar(count_productions(TREEBANK, **FULL), 2)
    coarse = set(map(tuple, grammar.coarse.binary.tolist()))
    assert set(map(tuple, grammar.coarse_of[grammar.fine.binary].tolist())) <= coarse


def test_coarse_rules_count_how_often_symbols_are_expected():
    treebank = [Tree.from_brackets("(S (NP (A a) (B b)) (VP (NP (A a) (A a))))")] * 3
    grammar, _ = estimate_grammar(count_productions(treebank, **annotated(2, False, False)), 2)
    names = grammar.labels
    rules = {
        tuple(names[symbol] for symbol in rule): p
        for rule, p in zip(grammar.coarse.binary.tolist(), grammar.coarse.binary_p, strict=True)
    }
    assert rules["NP", "A", "B"] == pytest.approx(0.5)


def test_roots_come_by_frequency():
    grammar, _ = estimate_grammar(count_productions(TREEBANK, **PLAIN), 2)
    shown = [grammar.labels[label] for label in grammar.output[grammar.root]]
    assert shown == ["S", "SQ", "NP"]
    assert grammar.root_p[0] == pytest.approx(18 / 20)


def test_only_intermediate_symbols_show_no_label():
    grammar, numbers = estimate_grammar(count_productions(TREEBANK, **FULL), 2)
    assert (grammar.output[: len(numbers)] >= 0).all()
    assert (grammar.output[len(numbers) :] == -1).all()


def test_without_forgetting_children_come_as_they_were_seen():
    process = ChildProcess(None)
    process.add(0, (1, 2, 3, 4), count=3)
    process.add(0, (1, 2, 4), count=1)
    process.number_states(first=10)
    assert strings(process, 0, 10) == pytest.approx({(1, 2, 3, 4): 0.75, (1, 2, 4): 0.25})


def test_forgetting_composes_productions_never_seen():
    process = ChildProcess(1)
    process.add(0, (1, 2, 3), count=1)
    process.add(0, (4, 2, 5), count=1)
    process.number_states(first=10)
    assert strings(process, 0, 10) == pytest.approx(
        {(1, 2, 3): 0.25, (1, 2, 5): 0.25, (4, 2, 3): 0.25, (4, 2, 5): 0.25}
    )


def smoothed(horizontal, weight, *productions):
    process = ChildProcess(horizontal)
    for children in productions:
        process.add(0, children, count=2)
    process.smooth(weight)
    process.number_states(first=10)
    return strings(process, 0, 10)


def test_smoothing_lends_what_follows_a_shorter_history():
    found = smoothed(2, 2.0, (1, 2, 3), (4, 2, 5))
    # After 1 2: twice 3, and 3 and 5 once each by smoothing; the same the other way.
    assert found == pytest.approx(
        {(1, 2, 3): 0.375, (1, 2, 5): 0.125, (4, 2, 3): 0.125, (4, 2, 5): 0.375}
    )


def test_no_smoothing_keeps_to_the_history():
    found = smoothed(2, 0.0, (1, 2, 3), (4, 2, 5))
    assert found == pytest.approx({(1, 2, 3): 0.5, (4, 2, 5): 0.5})


@pytest.mark.parametrize("horizontal", [None, 0, 1])
def test_smoothing_changes_no_short_and_no_full_memory(horizontal):
    productions = [(1, 2), (2, 1)]
    assert smoothed(horizontal, 2.0, *productions) == smoothed(horizontal, 0.0, *productions)


def test_continuations_seen_once_are_not_lent():
    process = ChildProcess(2)
    process.add(0, (1, 2, 3), count=2)
    process.add(0, (4, 2, 5), count=1)
    process.smooth(2.0)
    process.number_states(first=10)
    assert (1, 2, 5) not in strings(process, 0, 10)


def test_smoothing_leaves_no_state_without_continuation():
    process = ChildProcess(2)
    process.add(0, (1, 2, 3, 6), count=1)
    process.add(0, (4, 2, 5, 7), count=1)
    process.smooth(2.0)
    process.number_states(first=10)
    assert sum(strings(process, 0, 10).values()) == pytest.approx(1.0)


def test_a_production_of_ten_thousand_children_is_taken():
    wide = Tree("S", [Tree("ABC"[i % 3], [Tree("w")]) for i in range(10_000)])
    grammar, _ = estimate_grammar(count_productions([wide], **PLAIN), None)
    assert len(grammar.fine.binary) == 9_999


def test_a_tree_of_any_depth_is_taken():
    deep = Tree("S", [chain(DEPTH, label=lambda level: "AB"[level % 2])])
    grammar, _ = estimate_grammar(count_productions([deep], **FULL), 2)
    assert len(grammar.fine.unary) > 0


def test_the_same_treebank_gives_the_same_bits():
    first, second = (
        estimate_grammar(count_productions(TREEBANK, **FULL), 2)[0] for _ in range(2)
    )  # fmt: skip
    assert np.array_equal(first.fine.binary, second.fine.binary)
    assert np.array_equal(first.coarse.binary_p, second.coarse.binary_p)
