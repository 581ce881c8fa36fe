"""The native chart parser against the textbook algorithm, on random small grammars."""

import collections
import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings, strategies as st
from parsing.chart_reference import (
    Boundaries,
    Chart,
    Grammar,
    Sentence,
    coarse_to_fine,
    expected_counts,
)

INFINITE = math.inf
probabilities = st.sampled_from([1.0, 0.5, 0.3, 0.25, 0.1, 0.01])


@st.composite
def grammars(draw, max_symbols=5):
    """Grammars with few symbols, so that much is ambiguous; symbol 0 is the root."""
    n = draw(st.integers(1, max_symbols))
    symbols = st.integers(0, n - 1)
    binary = draw(st.lists(st.tuples(symbols, symbols, symbols, probabilities), max_size=8))
    unary = draw(st.lists(st.tuples(symbols, symbols, probabilities), max_size=4))
    output = [0] + [draw(st.integers(-1, 2)) for _ in range(n - 1)]
    return Grammar(binary, unary, output, draw(st.integers(0, 3)))


@st.composite
def parsable(draw, max_words=4):
    """A grammar and a sentence of it."""
    grammar = draw(grammars())
    symbols = st.integers(0, len(grammar.output) - 1)
    tags = st.dictionaries(symbols, probabilities, min_size=1, max_size=3)
    roots = st.dictionaries(symbols, probabilities, min_size=1, max_size=2)
    sentence = Sentence(draw(st.lists(tags, min_size=1, max_size=max_words)), draw(roots))
    sentence.roots = {s: p for s, p in sentence.roots.items() if grammar.output[s] >= 0} or {0: 1.0}
    return grammar, sentence


def parse(grammar, sentence, *, coarse_threshold=INFINITE, threshold=INFINITE):
    """Parse by the native chart, given either kind of grammar."""
    if isinstance(grammar, Grammar):
        grammar = grammar.native()
    return grammar.parse(*sentence.native(), coarse_threshold, threshold)


def edges_of(forest):
    """Return ``(head, children, probability)`` of every hyper-edge."""
    ends = np.cumsum(forest.edge_n_children)
    parts = np.split(forest.children, ends[:-1]) if len(ends) else []
    return [
        (int(head), tuple(map(int, children)), float(p))
        for head, children, p in zip(forest.edge_head, parts, forest.edge_p, strict=True)
    ]


def name_of(forest, node, n_words):
    """Return a word as its position, another node as label and span."""
    if node < n_words:
        return node
    parts = forest.node_label, forest.node_start, forest.node_end
    return tuple(int(part[node]) for part in parts)


def counts_of(forest, n_words):
    """Return the expected number of every production in the trees of a forest."""
    visits = np.zeros(len(forest.node_label))
    visits[forest.root] = 1.0
    counts = collections.Counter()
    for head, children, p in sorted(edges_of(forest), reverse=True):
        names = tuple(name_of(forest, child, n_words) for child in children)
        counts[name_of(forest, head, n_words), names] += visits[head] * p
        for child in children:
            visits[child] += visits[head] * p
    return counts


def costs_through(forest, n_words):
    """Return, by hyper-edge, how much less likely the best tree through it is, in nats."""
    edges = edges_of(forest)
    below = [0.0] * n_words + [INFINITE] * (len(forest.node_label) - n_words)
    above = [INFINITE] * len(below)
    above[forest.root] = 0.0
    cost = {edge: -math.log(edge[2]) for edge in edges}
    for edge in edges:
        head, children, _ = edge
        below[head] = min(below[head], cost[edge] + sum(below[c] for c in children))
    through = {}
    for edge in sorted(edges, reverse=True):
        head, children, _ = edge
        whole = through[edge] = above[head] + cost[edge] + sum(below[c] for c in children)
        for child in children:
            above[child] = min(above[child], whole - below[child])
    return {edge: each - below[forest.root] for edge, each in through.items()}


def close(counts, other):
    """Whether two sets of counts agree, leaving out what is next to nothing."""
    keys = {key for key in [*counts, *other] if max(counts[key], other[key]) > 1e-12}
    return all(math.isclose(counts[key], other[key], rel_tol=1e-9, abs_tol=1e-12) for key in keys)


@given(parsable())
def test_likelihood_is_the_textbook_one(case):
    grammar, sentence = case
    likelihood = Chart(grammar, sentence).likelihood
    forest = parse(grammar, sentence)
    assert forest.found == (likelihood > 0)
    if forest.found:
        assert forest.log_likelihood == pytest.approx(math.log(likelihood), abs=1e-9)


@given(parsable())
def test_forest_holds_every_production_as_often_as_expected(case):
    grammar, sentence = case
    chart = Chart(grammar, sentence)
    assume(chart.likelihood > 0)
    forest = parse(grammar, sentence)
    assert close(counts_of(forest, len(sentence.tags)), expected_counts(grammar, chart))


@given(parsable())
def test_probabilities_of_a_head_sum_to_one(case):
    grammar, sentence = case
    forest = parse(grammar, sentence, threshold=1.0)
    sums = np.bincount(forest.edge_head, forest.edge_p, minlength=len(forest.node_label))
    assert sums[len(sentence.tags) :] == pytest.approx(1.0)


@given(parsable())
def test_children_come_before_heads_and_the_root_last(case):
    grammar, sentence = case
    forest = parse(grammar, sentence)
    assert all(max(children) < head for head, children, _ in edges_of(forest))
    assert list(forest.edge_head) == sorted(forest.edge_head)
    assert not forest.found or forest.root == len(forest.node_label) - 1


@given(parsable())
def test_every_node_but_the_root_is_a_child(case):
    grammar, sentence = case
    forest = parse(grammar, sentence, threshold=0.5)
    assert {*map(int, forest.children), forest.root} >= set(range(len(forest.node_label)))


@given(parsable())
def test_children_tile_their_head(case):
    grammar, sentence = case
    forest = parse(grammar, sentence)
    for head, children, _ in edges_of(forest):
        ends = [int(forest.node_start[head]), *(int(forest.node_end[c]) for c in children)]
        assert [int(forest.node_start[c]) for c in children] == ends[:-1]
        assert ends[-1] == forest.node_end[head]


def names_of(forest, n_words):
    """Return the hyper-edges of a forest by the names of their nodes."""
    names = [name_of(forest, node, n_words) for node in range(len(forest.node_label))]
    return {
        tuple(names[node] for node in (head, *children)) for head, children, _ in edges_of(forest)
    }


@given(parsable(), st.sampled_from([0.0, 0.7, 2.0, 5.0]))
def test_threshold_adds_nothing(case, threshold):
    grammar, sentence = case
    whole, pruned = parse(grammar, sentence), parse(grammar, sentence, threshold=threshold)
    assert pruned.found == whole.found
    assert names_of(pruned, len(sentence.tags)) <= names_of(whole, len(sentence.tags))


@st.composite
def with_many_trees(draw):
    """A grammar and a sentence with many derivations, each of which is another tree."""
    n = draw(st.integers(1, 3))
    triples = st.sampled_from([*itertools.product(range(n), repeat=3)])
    binary = {(0, 0, 0), *draw(st.lists(triples, max_size=5))}
    # One more symbol stands over others, and nothing else leads to it: layers do not meet.
    unary = {(n, child) for child in draw(st.sets(st.integers(0, n - 1)))}
    above = {(0, n, 0)} if unary else set()
    grammar = Grammar(
        [(*rule, draw(probabilities)) for rule in sorted(binary | above)],
        [(*rule, draw(probabilities)) for rule in sorted(unary)],
        [*range(n + 1)],
        1,
    )
    tags = st.fixed_dictionaries(
        {0: probabilities}, optional=dict.fromkeys(range(1, n), probabilities)
    )
    return grammar, Sentence(draw(st.lists(tags, min_size=2, max_size=4)), {0: 1.0})


@given(with_many_trees(), st.data())
def test_threshold_keeps_what_is_near_the_best_tree(case, data):
    (grammar, sentence), n_words = case, len(case[1].tags)
    whole = parse(grammar, sentence)
    costs = costs_through(whole, n_words)
    others = sorted({cost for cost in costs.values() if cost > 0.1})
    assume(others)
    threshold = data.draw(st.sampled_from(others)) + data.draw(st.sampled_from([0.1, -0.1]))
    pruned = parse(grammar, sentence, threshold=threshold)
    # What lies 4 nats below the threshold is not counted, which makes the rest likelier.
    lost = collections.Counter()
    for (head, _, p), cost in costs.items():
        lost[head] += p * (cost > threshold + 3.9)
    near = {head for (head, _, _), cost in costs.items() if cost < threshold + 1}
    slack = 1e-6 - sum(math.log1p(-lost[head]) for head in near)
    assume(slack < 1)
    names = {
        edge: tuple(name_of(whole, node, n_words) for node in (edge[0], *edge[1])) for edge in costs
    }
    kept = names_of(pruned, n_words)
    assert kept >= {names[edge] for edge, cost in costs.items() if cost < threshold - slack}
    assert kept <= {names[edge] for edge, cost in costs.items() if cost < threshold + slack}


@given(parsable(), grammars(max_symbols=3), st.data(), st.sampled_from([0.0, 0.5, 1.5, 4.0]))
def test_coarse_parse_prunes_the_items_it_finds_unlikely(case, coarse, data, threshold):
    grammar, sentence = case
    symbols = st.integers(0, len(coarse.output) - 1)
    coarse_of = [data.draw(symbols) for _ in grammar.output]
    chart = coarse_to_fine(grammar, coarse, coarse_of, sentence, threshold + 1e-7)
    narrower = coarse_to_fine(grammar, coarse, coarse_of, sentence, threshold - 1e-7)
    assume(chart.inside == narrower.inside)
    native = grammar.native(coarse.native(), coarse_of)
    forest = parse(native, sentence, coarse_threshold=threshold)
    assert forest.found == (chart.likelihood > 0)
    if forest.found:
        assert forest.log_likelihood == pytest.approx(math.log(chart.likelihood), abs=1e-9)
        assert close(counts_of(forest, len(sentence.tags)), expected_counts(grammar, chart))


@st.composite
def judged(draw):
    """A grammar with a coarse one and counts of boundaries, its coarse symbols, and a sentence."""
    grammar, sentence = draw(parsable())
    coarse = draw(grammars(max_symbols=3))
    n = len(coarse.output)
    n_sides = draw(st.integers(0, n)) + 1
    counts = st.integers(0, 5)

    def table(n_rows):
        rows = st.lists(counts, min_size=n_sides, max_size=n_sides)
        return np.array(draw(st.lists(rows, min_size=n_rows, max_size=n_rows)), np.float64)

    neighbors = table(n_sides)
    neighbors[0, 0] += 1
    coarse_of = [draw(st.integers(0, n - 1)) for _ in grammar.output]
    return grammar, coarse, coarse_of, Boundaries(neighbors, table(n), table(n)), sentence


def parse_judged(case, coarse_threshold, boundary_threshold):
    """Parse by the native chart, judged by boundaries."""
    grammar, coarse, coarse_of, boundaries, sentence = case
    native = grammar.native(coarse.native(), coarse_of, boundaries)
    limits = coarse_threshold, INFINITE
    return native.parse(*sentence.native(), *limits, boundary_threshold=boundary_threshold)


@given(judged(), st.sampled_from([0.0, 0.7, 2.0, 5.0]), st.sampled_from([1.0, 3.0, 9.0]))
def test_items_of_low_merit_are_not_built_into_longer_ones(case, merit, threshold):
    grammar, coarse, coarse_of, boundaries, sentence = case
    charts = [
        coarse_to_fine(grammar, coarse, coarse_of, sentence, t, boundaries, m)
        for t, m in ((threshold + 0.1, merit + 1e-7), (threshold - 0.1, merit - 1e-7))
    ]
    assume(charts[0].inside == charts[1].inside)
    forest = parse_judged(case, threshold, merit)
    assert forest.found == (charts[0].likelihood > 0)
    if forest.found:
        assert forest.log_likelihood == pytest.approx(math.log(charts[0].likelihood), abs=1e-9)


@given(judged())
def test_merits_never_remove_the_only_parse(case):
    grammar, *_, sentence = case
    forest = parse_judged(case, 0.0, 0.0)
    assert forest.found == parse(grammar, sentence).found


@given(judged(), st.sampled_from([0.5, 4.0]))
def test_infinite_boundary_threshold_judges_nothing(case, threshold):
    grammar, coarse, coarse_of, _, sentence = case
    unjudged = grammar.native(coarse.native(), coarse_of)
    assert edges_of(parse_judged(case, threshold, INFINITE)) == edges_of(
        parse(unjudged, sentence, coarse_threshold=threshold)
    )


@pytest.mark.parametrize(
    ("neighbors", "before"),
    [
        (np.zeros((2, 2)), np.zeros((1, 2))),  # no counts
        (np.ones((2, 2)), np.ones((2, 2))),  # other symbols
        (np.ones((3, 3)), np.ones((1, 3))),  # more labels than symbols
        (np.full((2, 2), -1.0), np.ones((1, 2))),
        (np.full((2, 2), np.nan), np.ones((1, 2))),
    ],
)
def test_counts_of_boundaries_must_fit(neighbors, before):
    grammar = Grammar([], [], [0])
    with pytest.raises(ValueError, match="boundaries"):
        grammar.native(grammar.native(), [0], Boundaries(neighbors, before, before))


@given(parsable(), grammars(max_symbols=2))
def test_infinite_coarse_threshold_prunes_nothing(case, coarse):
    grammar, sentence = case
    native = grammar.native(coarse.native(), [0] * len(grammar.output))
    forest, plain = parse(native, sentence), parse(grammar, sentence)
    assert forest.found == plain.found
    assume(plain.found)
    assert forest.log_likelihood == pytest.approx(plain.log_likelihood)
    assert close(counts_of(forest, len(sentence.tags)), counts_of(plain, len(sentence.tags)))


def chain(n_children, p=1.0):
    """Return a grammar with one production of ``n_children`` like children, and its sentence."""
    inner = range(2, n_children)
    heads = [0, *inner]
    binary = [(head, 1, below, 1.0) for head, below in zip(heads, [*inner, 1], strict=True)]
    binary[0] = (*binary[0][:3], p)
    grammar = Grammar(binary, [], [0, 1] + [-1] * len(inner))
    return grammar, Sentence([{1: p}] * n_children, {0: 1.0})


def ambiguous():
    """Return a grammar with a coarse one, and a sentence with very many parses."""
    symbols = range(4)
    triples = itertools.product(symbols, repeat=3)
    binary = [(a, b, c, 1 / (5 + 3 * a + 2 * b + c)) for a, b, c in triples]
    coarse = Grammar([(0, 0, 0, 0.3), (0, 0, 1, 0.2), (1, 0, 0, 0.7)], [], [0, 1])
    grammar = Grammar(binary, [(0, 1, 0.1), (2, 3, 0.3)], [0, 1, 2, -1])
    tags = [{symbol: 1 / (3 + (symbol * i) % 7) for symbol in symbols} for i in range(9)]
    return grammar.native(coarse.native(), [0, 0, 0, 1]), Sentence(tags, {0: 1.0})


def test_intermediate_symbols_are_spliced_out():
    grammar, sentence = chain(5)
    forest = parse(grammar, sentence)
    assert edges_of(forest)[-1] == (10, (5, 6, 7, 8, 9), 1.0)


def test_long_sentences_neither_underflow_nor_recurse():
    grammar, sentence = chain(300, p=1e-9)
    forest = parse(grammar, sentence)
    assert forest.log_likelihood == pytest.approx(301 * math.log(1e-9))
    assert edges_of(forest)[-1][1] == tuple(range(300, 600))


def test_chains_too_small_for_a_number_are_left_out():
    grammar = Grammar([], [(1, 0, 1e-300), (0, 1, 1.0)], [0, 1], max_unary=2)
    forest = parse(grammar, Sentence([{0: 1e-300}], {0: 1.0}))
    assert list(forest.node_label) == [-1, 0]


def test_unary_cycle_is_told_apart_by_layer():
    grammar = Grammar([], [(0, 1, 0.5), (1, 0, 0.5)], [0, 1], max_unary=3)
    forest = parse(grammar, Sentence([{0: 1.0}], {0: 1.0}))
    labels = list(forest.node_label)
    assert (labels, forest.root) == ([-1, 0, 1, 0], 3)


def test_layers_share_a_node_where_labels_form_no_cycle():
    rules = [(0, 1, 0.5), (1, 2, 0.5), (0, 2, 0.5)]
    forest = parse(Grammar([], rules, [0, 1, 2], max_unary=3), Sentence([{2: 1.0}], {0: 1.0}))
    assert list(forest.node_label) == [-1, 2, 1, 0]
    assert list(forest.edge_p) == pytest.approx([1.0, 1.0, 2 / 3, 1 / 3])


def test_unary_chains_end_at_the_longest_allowed():
    grammar = Grammar([], [(1, 0, 1.0), (2, 1, 1.0)], [0, 1, 2], max_unary=1)
    assert not parse(grammar, Sentence([{0: 1.0}], {2: 1.0})).found


def test_likeliest_of_several_root_labels_is_the_root():
    forest = parse(Grammar([], [], [0, 1]), Sentence([{0: 0.25, 1: 0.5}], {0: 1.0, 1: 1.0}))
    assert list(forest.node_label) == [-1, 1]
    assert forest.log_likelihood == pytest.approx(math.log(0.75))


def test_coarse_grammar_that_fits_nothing_is_set_aside():
    grammar = Grammar([(0, 1, 1, 1.0)], [], [0, 1])
    native = grammar.native(Grammar([], [], [0]).native(), [0, 0])
    assert parse(native, Sentence([{1: 1.0}] * 2, {0: 1.0}), coarse_threshold=3.0).found


def test_no_parse_gives_an_empty_forest():
    forest = parse(Grammar([], [], [0]), Sentence([{0: 1.0}] * 2, {0: 1.0}))
    assert (forest.found, len(forest.node_label), len(forest.edge_p)) == (False, 0, 0)


def test_arrays_outlive_the_forest():
    labels = parse(*chain(3)).node_label
    assert list(labels) == [-1, -1, -1, 1, 1, 1, 0]


def test_raised_flag_stops_the_parse():
    grammar, sentence = chain(3)
    with pytest.raises(RuntimeError, match="stopped"):
        grammar.native().parse(*sentence.native(), 1.0, 1.0, np.ones(1, np.int32))


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        (Grammar([(0, 1, 2, 1.0)], [], [0, 0]), "binary rule has a symbol outside"),
        (Grammar([(0, -1, 0, 1.0)], [], [0, 0]), "binary rule has a symbol outside"),
        (Grammar([], [(0, 2, 1.0)], [0, 0]), "unary rule has a symbol outside"),
        (Grammar([(0, 0, 0, 0.0)], [], [0]), "probability of a binary rule"),
        (Grammar([], [(0, 0, math.nan)], [0]), "probability of a unary rule"),
        (Grammar([], [], [-2]), "output label"),
        (Grammar([], [], [0], max_unary=-1), "max_unary"),
        (Grammar([], [], [0], max_unary=1001), "max_unary"),
    ],
)
def test_grammar_with_an_impossible_rule_is_refused(grammar, message):
    with pytest.raises(ValueError, match=message):
        grammar.native()


@pytest.mark.parametrize("coarse_of", [[0], [0, 1], [0, -1]])
def test_coarse_symbols_must_fit(coarse_of):
    with pytest.raises(ValueError, match="coarse_of"):
        Grammar([], [], [0, 0]).native(Grammar([], [], [0]).native(), coarse_of)


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (Sentence([], {0: 1.0}), "needs a word"),
        (Sentence([{2: 1.0}], {0: 1.0}), "tag is outside the grammar"),
        (Sentence([{0: -1.0}], {0: 1.0}), "probability of a tag"),
        (Sentence([{0: 1.0}], {-1: 1.0}), "root is outside the grammar"),
        (Sentence([{0: 1.0}], {1: 1.0}), "root must have an output label"),
        (Sentence([{0: 1.0}], {0: math.inf}), "probability of a root"),
    ],
)
def test_sentence_that_does_not_fit_is_refused(sentence, message):
    with pytest.raises(ValueError, match=message):
        parse(Grammar([], [], [0, -1]), sentence)


@pytest.mark.parametrize("thresholds", [(-1.0, 1.0), (1.0, math.nan)])
def test_thresholds_must_not_be_negative(thresholds):
    grammar, sentence = chain(2)
    with pytest.raises(ValueError, match="thresholds"):
        grammar.native().parse(*sentence.native(), *thresholds)


def test_tag_outside_the_sentence_is_refused():
    one, zero = np.ones(1), np.zeros(1, np.int32)
    with pytest.raises(ValueError, match="outside the sentence"):
        Grammar([], [], [0]).native().parse(1, zero + 1, zero, one, zero, one, 1.0, 1.0)


@example(n_words=3)
@settings(max_examples=10)
@given(n_words=st.integers(1, 6))
def test_catalan_number_of_trees(n_words):
    grammar = Grammar([(0, 0, 0, 0.5)], [], [0])
    forest = parse(grammar, Sentence([{0: 0.5}] * n_words, {0: 1.0}))
    trees = [1] * n_words + [0] * (len(forest.node_label) - n_words)
    for head, children, _ in edges_of(forest):
        trees[head] += math.prod(trees[child] for child in children)
    assert trees[forest.root] == math.comb(2 * n_words - 2, n_words - 1) // n_words
