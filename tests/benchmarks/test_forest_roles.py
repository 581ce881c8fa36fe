"""The role-labeling experiment on sentences small enough to check by hand."""

from __future__ import annotations

import io
import math
import sys
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import kernelwood as kw
from kernelwood.errors import ReadError
from kernelwood.text import Span
from kernelwood.views import Readings

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "papers"))

from roles.candidates import Candidate, find_candidates, thin_out
from roles.corpus import arguments, document, read_sentences
from roles.experiment import (
    Settings,
    Task,
    constituents,
    coverage,
    instances,
    label,
    role_kernel,
    role_views,
    sample_tasks,
    single_best,
    split,
)
from roles.facts import voice
from roles.learning import NONE, Proposal, resolve, train
from roles.scaled import choose_labels, frequent_roles, learn_stream, margins_of, turns
from roles.scoring import Scores, mcnemar, randomization, score

COLUMNS = """\
# sent_id = garden-1
# doc = garden
0	Ann	NNP	(TOP(S(NP*)	-	-	(ARG0*)	(ARG0*)
1	saw	VBD	(VP*	see	see.01	(V*)	*
2	and	CC	*	-	-	*	*
3	fed	VBD	*	feed	feed.01	*	(V*)
4	birds	NNS	(NP(NP*)	-	-	(ARG1*	(ARG1*
5	in	IN	(PP*	-	-	*	*
6	trees	NNS	(NP*))))	-	-	*)	*)
7	.	.	*))	-	-	*	*
"""

HIGH = "(S (NP (PRP We)) (VP (VBD saw) (NP (NNS birds)) (PP (IN with) (NP (NNS glasses)))))"
Argument = kw.text.RoleSpan

LOW = "(S (NP (PRP We)) (VP (VBD saw) (NP (NP (NNS birds)) (PP (IN with) (NP (NNS glasses))))))"
SAW = 1
BIRDS, WITH_GLASSES, GLASSES, ALL = (2, 3), (3, 5), (4, 5), (2, 5)


def tree(brackets: str) -> kw.Tree:
    return kw.Tree.from_brackets(brackets)


def read(text: str) -> list[kw.Sentence]:
    return list(read_sentences(io.StringIO(text)))


def one_tree(brackets: str) -> Readings:
    return Readings(kw.Forest.from_trees([tree(brackets)]))


@pytest.fixture
def attachment() -> Readings:
    """Return two readings of one sentence: the PP belongs to the verb (3 of 4) or to the noun."""
    return Readings(kw.Forest.from_trees([(tree(HIGH), 3), (tree(LOW), 1)]))


def spans(candidates: list[Candidate]) -> list[Span]:
    return [candidate.span for candidate in candidates]


# Reading


def test_words_and_document_are_read() -> None:
    [sentence] = read(COLUMNS)
    assert document(sentence) == "garden"
    assert sentence.words == tuple("Ann saw and fed birds in trees .".split())


def test_the_tree_is_built_from_parse_bits_without_its_outermost_bracket() -> None:
    [sentence] = read(COLUMNS)
    assert sentence.tree.to_brackets() == (
        "(S (NP (NNP Ann)) (VP (VBD saw) (CC and) (VBD fed) "
        "(NP (NP (NNS birds)) (PP (IN in) (NP (NNS trees))))) (. .))"
    )


def test_arguments_are_read_without_the_verb() -> None:
    [sentence] = read(COLUMNS)
    see, feed = sentence.predicates
    assert (see.token, see.lemma) == (1, "see")
    found = {Argument("ARG0", 0, 1), Argument("ARG1", 4, 7)}
    assert arguments(see) == arguments(feed) == found


def test_continuations_and_references_keep_their_prefix() -> None:
    rows = ["(R-ARG0*)", "(V*)", "*", "(C-V*)", "(C-ARG1*", "*", "*)", "*"]
    lines = COLUMNS.splitlines()
    lines[2:] = [
        "\t".join([*line.split("\t")[:7], bit]) for line, bit in zip(lines[2:], rows, strict=True)
    ]
    [sentence] = read("\n".join(lines))
    found = {Argument("R-ARG0", 0, 1), Argument("C-ARG1", 4, 7)}
    assert arguments(sentence.predicates[1]) == found


def test_sentences_end_at_empty_lines_and_at_the_end_of_the_file() -> None:
    second = COLUMNS.replace("garden-1", "garden-2").rstrip("\n")
    assert len(read(f"{COLUMNS}\n\n{second}")) == 2


@pytest.mark.parametrize(
    ("good", "bad", "line", "message"),
    [
        ("(ARG1*\t(ARG1*", "(ARG1*", 7, "7 columns"),
        ("(NP*))))", "(NP*)))", 3, "constituent 'TOP' is never closed"),
        ("(NP*))))", "(NP*)))))))", 9, "never opened"),
        ("(PP*", "(PP", 8, "not brackets around a star"),
        ("*)\t*)", "*))\t*)", 9, "never opened"),
        ("*)\t*)", "*\t*)", 7, "role 'ARG1' is never closed"),
        ("feed.01\t*\t(V*)", "-\t*\t*", 3, "columns of roles: 2, rolesets: 1"),
    ],
)  # fmt: skip
def test_broken_lines_are_reported_by_number(good: str, bad: str, line: int, message: str) -> None:
    assert good in COLUMNS
    with pytest.raises(ReadError, match=message) as caught:
        read(COLUMNS.replace(good, bad, 1))
    assert caught.value.line == line


# Candidates


def test_sisters_on_the_way_to_the_root_are_candidates() -> None:
    found = find_candidates(one_tree(LOW), SAW)
    assert found == [Candidate((0, 1), 1.0), Candidate(ALL, 1.0)]


def test_children_of_a_prepositional_sister_are_candidates() -> None:
    found = spans(find_candidates(one_tree(HIGH), SAW))
    assert found == [(0, 1), BIRDS, (3, 4), WITH_GLASSES, GLASSES]


def test_coordinated_sisters_and_their_conjunction_are_no_candidates() -> None:
    [sentence] = read(COLUMNS)
    readings = Readings(kw.Forest.from_trees([sentence.tree]))
    assert spans(find_candidates(readings, 1)) == [(0, 1), (4, 7)]


def test_a_conjunction_that_opens_a_sentence_is_a_candidate() -> None:
    readings = one_tree("(S (CC But) (NP (PRP we)) (VP (VBD slept)))")
    assert spans(find_candidates(readings, 2)) == [(0, 1), (1, 2)]


def test_punctuation_is_no_candidate() -> None:
    readings = one_tree("(S (NP (PRP We)) (, ,) (VP (VBD slept)) (. .))")
    assert spans(find_candidates(readings, 2)) == [(0, 1)]


def test_candidates_of_a_forest_have_the_probability_of_their_readings(
    attachment: Readings,
) -> None:
    found = {c.span: c.probability for c in find_candidates(attachment, SAW)}
    assert found == pytest.approx(
        {(0, 1): 1.0, BIRDS: 0.75, WITH_GLASSES: 0.75, (3, 4): 0.75, GLASSES: 0.75, ALL: 0.25}
    )


def test_improbable_candidates_are_dropped(attachment: Readings) -> None:
    found = find_candidates(attachment, SAW)
    kept = thin_out(found, min_probability=0.5, max_crossing=9)
    assert ALL not in spans(kept)
    assert len(kept) == len(found) - 1


def test_candidates_that_cross_too_many_better_ones_are_dropped() -> None:
    found = [Candidate((0, 3), 0.9), Candidate((2, 5), 0.4), Candidate((1, 2), 0.1)]
    assert spans(thin_out(found, min_probability=0.0, max_crossing=1)) == [(0, 3), (1, 2), (2, 5)]
    assert spans(thin_out(found, min_probability=0.0, max_crossing=0)) == [(0, 3), (1, 2)]


def test_the_best_tree_alone_gives_the_candidates_of_that_tree(attachment: Readings) -> None:
    forest = kw.Forest.from_trees([(tree(HIGH), 3), (tree(LOW), 1)])
    best = Readings(single_best(forest))
    assert find_candidates(best, SAW) == find_candidates(one_tree(HIGH), SAW)


# Views


def distribution(forest: kw.Forest) -> dict[kw.Tree, float]:
    """Return every tree with the summed probability of its derivations; for small forests."""
    below: dict[int, dict[kw.Tree, float]] = {}
    for node in forest.bottom_up():
        below[node] = defaultdict(float)
        for number in forest.edges_of(node):
            _, children, weight = forest.edges[number]
            for choice in product(*(below[child].items() for child in children)):
                trees, weights = zip(*choice, strict=True)
                below[node][kw.Tree(forest.labels[node], trees)] += weight * math.prod(weights)
        if not forest.edges_of(node):
            below[node][kw.Tree(forest.labels[node])] = 1.0
    return below[forest.root]


def test_the_path_of_a_tree_keeps_only_what_leads_to_predicate_and_argument() -> None:
    view = role_views(one_tree(HIGH), SAW, (0, 1), "see", [("VOICE", "active")])["path"]
    assert view.best_tree().to_brackets() == ("(*PATH* (VOICE active) (S NP-ARG (VP (VBD see))))")
    assert view.n_trees == 1


def test_the_argument_is_the_topmost_constituent_of_its_span() -> None:
    view = role_views(one_tree(HIGH), SAW, BIRDS, "see")["argument"]
    assert view.best_tree().to_brackets() == "(*ARGUMENT* (NP (NNS birds)))"


def test_views_are_conditioned_on_the_candidate(attachment: Readings) -> None:
    view = role_views(attachment, SAW, WITH_GLASSES, "see")["path"]
    paths = {found.to_brackets(): p for found, p in view.k_best(9)}
    assert paths == pytest.approx(
        {
            "(*PATH* (VP (VBD see) PP-ARG))": 0.75,
            "(*PATH* (VP (VBD see) (NP PP-ARG)))": 0.25,
        }
    )


def test_a_span_that_is_no_constituent_has_no_views(attachment: Readings) -> None:
    with pytest.raises(ValueError, match="no tree of the forest"):
        role_views(attachment, SAW, (2, 4), "see")


# No choice on a path through these trees depends on more than the label above it, so paths too are
# exact.
AMBIGUOUS = [
    ("(S (NP (N a)) (VP (VP (V b) (NP (N c))) (PP (P d) (NP (N e) (PP (P f) (N g))))))", 5),
    ("(S (NP (N a)) (VP (V b) (NP (NP (N c)) (PP (P d) (NP (N e)))) (PP (P f) (N g))))", 3),
    ("(S (NP (N a)) (VP (VP (V b) (NP (N c) (PP (P d) (NP (N e))))) (PP (P f) (N g))))", 2),
    ("(S (NP (N a)) (VP (V b) (S (NP (NP (N c))) (VP (P d) (NP (N e) (PP (P f) (N g)))))))", 2),
    ("(S (NP (N a)) (VP (V b) (NP (N c)) (VP (P d) (NP (N e) (PP (P f) (N g))))))", 1),
]


@pytest.mark.parametrize("span", [(0, 1), (2, 3), (2, 5), (2, 7), (3, 5), (3, 7), (4, 7), (5, 7)])
def test_views_are_those_of_all_trees_weighted_by_probability(span: Span) -> None:
    forest = kw.Forest.from_trees([(tree(text), weight) for text, weight in AMBIGUOUS])
    wanted: dict[str, dict[kw.Tree, float]] = {
        "path": defaultdict(float),
        "argument": defaultdict(float),
    }
    for single, probability in forest.k_best(10_000):
        forest_of_one = kw.Forest.from_trees([single])
        readings = Readings(forest_of_one)
        if span in constituents(forest_of_one):
            for name, view in role_views(readings, 1, span, "b").items():
                wanted[name][view.best_tree()] += probability
    for name, view in role_views(Readings(forest), 1, span, "b").items():
        total = sum(wanted[name].values())
        assert distribution(view) == pytest.approx({t: p / total for t, p in wanted[name].items()})


def test_passives_are_seen_in_the_words() -> None:
    words = "The letters were not yet posted , she said".split()
    assert voice("It was never eaten".split(), 3, "eat") == "passive"
    assert voice(words, 8, "say") == "bare"
    assert voice("He is eating".split(), 2, "eat") == "active"


# Learning and scoring


def test_the_largest_margin_wins_and_overlaps_lose() -> None:
    proposals = [
        Proposal((0, 2), 1.0, np.array([-1.0, 0.5, 0.2])),
        Proposal((1, 3), 1.0, np.array([-1.0, 0.9, 0.1])),
        Proposal((3, 4), 1.0, np.array([0.5, 0.4, 0.3])),
        Proposal((4, 5), 1.0, np.array([0.1, 0.0, 0.6])),
    ]
    found = resolve(proposals, (NONE, "ARG0", "ARG1"))
    assert found == {Argument("ARG0", 1, 3), Argument("ARG1", 4, 5)}


def test_improbable_candidates_lose_against_certain_ones() -> None:
    proposals = [
        Proposal((0, 2), 0.1, np.array([-1.0, 0.5])),
        Proposal((1, 3), 1.0, np.array([-1.0, 0.4])),
    ]
    assert resolve(proposals, (NONE, "ARG0"), prior=0.1) == {Argument("ARG0", 1, 3)}
    assert resolve(proposals, (NONE, "ARG0")) == {Argument("ARG0", 0, 2)}


def test_a_bias_for_none_costs_arguments() -> None:
    proposals = [Proposal((0, 1), 1.0, np.array([0.0, 0.5]))]
    assert resolve(proposals, (NONE, "ARG0"), none_bias=0.6) == frozenset()


def test_machines_separate_what_the_kernel_separates() -> None:
    roles = ["ARG0", "ARG1", NONE] * 5
    gram = np.equal.outer(roles, roles).astype(float)
    machines = train(gram, roles, C=1.0)
    best = machines.margins(gram).argmax(axis=1)
    assert [machines.roles[column] for column in best] == roles


def test_examples_of_no_weight_teach_nothing() -> None:
    roles = ["ARG0", NONE] * 5
    gram = np.equal.outer(roles, roles).astype(float)
    doubtful = np.ones((11, 11))
    doubtful[:10, :10] = gram
    doubtful[10, :10] = doubtful[:10, 10] = gram[0]  # looks like an ARG0
    weights = [1.0] * 10 + [1e-9]
    machines = train(doubtful, [*roles, NONE], C=1.0, weights=weights)
    assert machines.margins(gram[:1] @ np.eye(10, 11)).argmax() == machines.roles.index("ARG0")
    assert abs(machines.weights[10]).max() < 1e-8


def test_rare_roles_get_no_machine() -> None:
    roles = ["ARG0", NONE] * 5 + ["ARG9"]
    gram = np.equal.outer(roles, roles).astype(float)
    assert train(gram, roles, C=1.0).roles == ("ARG0", NONE)


A, B, C = Argument("ARG0", 0, 1), Argument("ARG1", 2, 5), Argument("ARG2", 2, 5)


def test_scores_count_role_and_span_against_all_gold_arguments() -> None:
    found = score([frozenset([A, B]), frozenset([B])], [frozenset([A, C]), frozenset()])
    assert found == Scores(correct=1, proposed=2, gold=3)
    assert (found.precision, found.recall, found.f1) == pytest.approx((1 / 2, 1 / 3, 2 / 5))


def test_nothing_proposed_scores_zero() -> None:
    assert score([frozenset([A])], [frozenset()]).f1 == 0.0


def test_randomization_tells_luck_from_difference() -> None:
    gold = [frozenset([A])] * 40
    right, wrong = [frozenset([A])] * 40, [frozenset([B])] * 40
    mixed = right[:20] + wrong[:20]
    assert randomization(gold, right, wrong, rounds=500) < 0.01
    assert randomization(gold, mixed, mixed[::-1], rounds=500) > 0.5


def test_mcnemar_counts_what_only_one_system_finds() -> None:
    gold = [frozenset([A, B])] * 12
    found = mcnemar(gold, [frozenset([A])] * 12, [frozenset([A, B])] * 11 + [frozenset()])
    assert (found["only_first"], found["only_second"]) == (1, 11)
    assert found["chi2"] == pytest.approx((10 - 1) ** 2 / 12)
    assert 0.005 < found["p"] < 0.02


# The experiment


def corpus(n_documents: int) -> list[kw.Sentence]:
    return read("\n".join(COLUMNS.replace("garden", f"garden{n}") for n in range(n_documents)))


def test_parts_of_the_corpus_share_no_document() -> None:
    parts = split(corpus(50))
    documents = [
        {document(s) for s in part} for part in (parts.parser, parts.learner, parts.held_out)
    ]
    assert [len(some) for some in documents] == [40, 8, 2]
    assert len(set().union(*documents)) == 50


def test_a_sample_of_tasks_depends_on_the_seed_alone() -> None:
    sentences = corpus(20)
    assert sample_tasks(sentences, 7, seed=1) == sample_tasks(sentences, 7, seed=1)
    assert len(sample_tasks(sentences, 999, seed=1)) == 40


def test_instances_have_the_role_of_the_gold_argument_they_match() -> None:
    [sentence] = read(COLUMNS)
    tasks = [Task(sentence, predicate) for predicate in sentence.predicates]
    parses = [Readings(kw.Forest.from_trees([sentence.tree]))] * 2
    found = instances(tasks, parses, Settings())
    assert [(i.task, i.role) for i in found] == [(0, "ARG0"), (0, "ARG1"), (1, "ARG0"), (1, "ARG1")]


def test_spans_that_are_no_arguments_count_by_their_probability(attachment: Readings) -> None:
    predicate = kw.text.Predicate(SAW, "see", "see.01", (Argument("ARG1", *ALL),))
    sentence = kw.Sentence.from_tree(tree(LOW)).with_parts(predicates=[predicate])
    found = instances([Task(sentence, predicate)], [attachment], Settings())
    weights = {instance.candidate.span: instance.weight for instance in found}
    assert weights[ALL] == 1.0
    assert weights[WITH_GLASSES] == pytest.approx(0.75)


def test_forests_of_one_tree_are_compared_as_trees() -> None:
    sentences = corpus(2)
    tasks = [
        Task(sentence, predicate) for sentence in sentences for predicate in sentence.predicates
    ]
    parses = [Readings(kw.Forest.from_trees([task.sentence.tree])) for task in tasks]
    found = instances(tasks, parses, Settings())
    settings = Settings(theta=0.3, decay=0.5)
    parts = {}
    for view in ("path", "argument"):
        trees = [instance.example.view(view).best_tree() for instance in found]
        parts[view] = kw.SubsetTreeKernel(decay=0.5).gram(trees)
    ours = role_kernel(settings).gram([instance.example for instance in found])
    assert ours == pytest.approx(0.3 * parts["path"] + 0.7 * parts["argument"], abs=1e-9)


def test_perfect_margins_on_gold_trees_give_the_gold_arguments() -> None:
    [sentence] = read(COLUMNS)
    tasks = [Task(sentence, predicate) for predicate in sentence.predicates]
    parses = [Readings(kw.Forest.from_trees([sentence.tree]))] * 2
    found = instances(tasks, parses, Settings())
    roles = (NONE, "ARG0", "ARG1")
    values = np.array([[role == instance.role for role in roles] for instance in found], float)
    assert label(2, found, values, roles, Settings()) == [task.gold for task in tasks]


def test_coverage_counts_arguments_without_constituent() -> None:
    [sentence] = read(COLUMNS)
    wrong = tree(
        "(S (NP (NNP Ann)) (VP (VBD saw) (CC and) (VBD fed) "
        "(NP (NNS birds)) (PP (IN in) (NP (NNS trees)))) (. .))"
    )
    tasks = [Task(sentence, predicate) for predicate in sentence.predicates]
    forest = kw.Forest.from_trees([wrong])
    candidates = instances(tasks, [Readings(forest)] * 2, Settings())
    found = coverage(tasks, [forest] * 2, candidates)
    assert (found.arguments, found.no_constituent, found.no_candidate) == (4, 2, 2)
    assert found.candidates == 2 * 5  # Ann, birds, the PP and its two children


# Roles from landmarks


def told(word: str, doc: str) -> kw.Sentence:
    columns = COLUMNS.replace("Ann", word).replace("garden", doc)
    [sentence] = read(columns)
    return sentence


def test_no_parser_has_seen_the_documents_it_parses() -> None:
    sentences = [told("Ann", doc) for doc in "abcab"]
    parsed = []
    for others, new in turns(sentences, 2):
        assert {document(one) for one in others}.isdisjoint(document(one) for one in new)
        assert len(others) + len(new) == len(sentences)
        parsed += new
    assert len(parsed) == len(sentences)


def scaled_corpus() -> tuple[list[Task], dict[kw.Sentence, kw.Forest]]:
    """Return predicates whose subject is an argument, or is none if it is called Nobody."""
    sentences = [told("Ann", f"a{number}") for number in range(3)]
    nobody = COLUMNS.replace("Ann", "Nobody").replace("(ARG0*)", "*")
    sentences += [read(nobody.replace("garden", f"n{number}"))[0] for number in range(3)]
    tasks = [Task(one, predicate) for one in sentences for predicate in one.predicates]
    forests = {one: kw.Forest.from_trees([one.tree]) for one in sentences if one.tree is not None}
    return tasks, forests


def test_roles_are_learned_from_a_stream_of_candidates() -> None:
    tasks, forests = scaled_corpus()
    assert frequent_roles(tasks) == {"ARG0", "ARG1"}
    assert frequent_roles(tasks[:4]) == frozenset()
    assert frequent_roles(tasks[4:]) == {"ARG1"}
    settings = Settings(none_bias=0.0, prior=0.0)
    machines = learn_stream(tasks, forests, single_best, settings, n_landmarks=40)
    found, values = margins_of(machines, tasks, forests, single_best, settings)
    labels = label(len(tasks), found, values, machines.roles, settings)
    assert labels == [task.gold for task in tasks]
    assert {instance.task for instance in found} == set(range(len(tasks)))


def test_landmark_margins_do_not_depend_on_how_many_tasks_are_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tasks, forests = scaled_corpus()
    settings = Settings()
    machines = learn_stream(tasks, forests, single_best, settings, n_landmarks=10)
    found, values = margins_of(machines, tasks, forests, single_best, settings)
    monkeypatch.setattr("roles.scaled.TASKS_AT_ONCE", 5)
    again, same = margins_of(machines, tasks, forests, single_best, settings)
    assert np.allclose(values, same)
    assert [(one.task, one.candidate) for one in found] == [
        (one.task, one.candidate) for one in again
    ]


def test_rare_roles_are_never_proposed() -> None:
    tasks, forests = scaled_corpus()
    rare = read(COLUMNS.replace("(ARG1*", "(ARG9*", 1).replace("ARG0", "ARG2"))[0]
    tree = rare.tree
    assert tree is not None
    more = [*tasks, Task(rare, rare.predicates[0])]
    both = forests | {rare: kw.Forest.from_trees([tree])}
    machines = learn_stream(more, both, single_best, Settings(), n_landmarks=40)
    assert set(machines.roles) == {"ARG0", "ARG1", NONE}


def test_bias_and_prior_are_the_best_of_those_tried() -> None:
    tasks, forests = scaled_corpus()
    machines = learn_stream(tasks, forests, single_best, Settings(), n_landmarks=40)
    found, values = margins_of(machines, tasks, forests, single_best, Settings())
    chosen, tried = choose_labels(tasks, found, values, machines.roles, Settings())
    best = max(tried, key=lambda row: row["f1"])
    assert (chosen.none_bias, chosen.prior) == (best["none_bias"], best["prior"])
    assert len({(row["none_bias"], row["prior"]) for row in tried}) == len(tried) == 30
