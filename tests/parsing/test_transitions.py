"""The native transition parser against definitions in plain Python."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kernelwood import _native
from kernelwood.parsing.dependency_parser import DependencyParser, ParsedWords, _order, _Text

SHIFT, LEFT, RIGHT = range(3)


class Reference:
    """The arc-hybrid system with lists."""

    def __init__(self, n):
        self.n, self.stack, self.next, self.heads = n, [], 0, [-1] * n

    def can(self, action):
        return self.next < self.n if action == SHIFT else len(self.stack) > (action == RIGHT)

    def may(self, action):
        last = self.next == self.n and len(self.stack) > 1
        return self.can(action) and not (action == LEFT and last)

    def apply(self, action):
        if action == SHIFT:
            self.stack.append(self.next)
            self.next += 1
        else:
            word = self.stack.pop()
            self.heads[word] = self.next if action == LEFT else self.stack[-1]
        return self

    def after(self, actions):
        for action in actions:
            self.apply(action)
        return self

    @property
    def done(self):
        return self.next == self.n and not self.stack


def best_right(reference, gold):
    """Return the most right heads of all trees that can be reached, by trying all of them."""
    if reference.done:
        return sum(a == b for a, b in zip(reference.heads, gold, strict=True))
    found = []
    for action in (SHIFT, LEFT, RIGHT):
        if reference.can(action):
            other = Reference(reference.n)
            other.stack, other.heads = list(reference.stack), list(reference.heads)
            other.next = reference.next
            found.append(best_right(other.apply(action), gold))
    return max(found)


def is_projective_tree(heads):
    n = len(heads)
    if heads.count(n) != 1 or any(head == word for word, head in enumerate(heads)):
        return False
    for word in range(n):
        above, steps = word, 0
        while above != n and steps <= n:
            above, steps = heads[above], steps + 1
        if steps > n:
            return False
    for word, head in enumerate(heads):
        for between in range(min(word, head) + 1, max(word, head)):
            above = between
            while above not in (n, head, word):
                above = heads[above]
            if head < n and above == n:
                return False
    return True


def projective_trees(n):
    return [list(t) for t in product(range(n + 1), repeat=n) if is_projective_tree(list(t))]


ACTIONS = st.lists(st.integers(0, 2), max_size=24)


def possible(n, wanted, test=Reference.can):
    """Return the actions among those wanted that are possible one after the other."""
    reference, taken = Reference(n), []
    for action in wanted:
        if test(reference, action):
            reference.apply(action)
            taken.append(action)
    return taken


def random_parser(seed, n_tags=5, n_labels=7, places=2**10):
    rng = np.random.default_rng(seed)
    tables = (rng.integers(-127, 128, size, dtype=np.int8) for size in (places, 64, places))
    return _native.TransitionParser(["rain"], n_tags, n_labels, *tables)


def text_of(*sentences):
    return _Text.of([list(words) for words in sentences])


def run(native, text):
    found = [np.full(text.n_words, -9, dtype=np.int32) for _ in range(3)]
    native.parse(*text, 0, len(text.sentences) - 1, *found)
    return [array.tolist() for array in found]


def replay(native, n, actions, gold=None, tags=None):
    words = [f"w{at}" for at in range(n)]
    return native.replay(*text_of(words), tags or [0] * n, actions, gold or [n] * n)


@given(st.integers(1, 8), ACTIONS)
def test_transitions_do_what_the_definition_says(n, wanted):
    actions = possible(n, wanted)
    reference = Reference(n).after(actions)
    _, costs, allowed, heads = replay(random_parser(0), n, actions)
    assert heads == reference.heads
    assert [cost >= 0 for cost in costs] == [reference.can(a) for a in range(3)]
    assert allowed == [reference.may(a) for a in range(3)]


@settings(max_examples=150)
@given(st.data(), st.integers(1, 4), ACTIONS)
def test_costs_of_the_oracle_are_the_heads_that_an_action_loses(data, n, wanted):
    gold = data.draw(st.sampled_from(projective_trees(n)))
    actions = possible(n, wanted)
    before = best_right(Reference(n).after(actions), gold)
    _, costs, _, _ = replay(random_parser(0), n, actions, gold)
    for action, cost in enumerate(costs):
        if cost >= 0:
            assert cost == before - best_right(Reference(n).after([*actions, action]), gold)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_oracle_reaches_every_projective_tree(n):
    native = random_parser(0)
    for gold in projective_trees(n):
        actions = []
        for _ in range(2 * n):
            _, costs, allowed, _ = replay(native, n, actions, gold)
            free = [a for a in range(3) if costs[a] == 0 and allowed[a]]
            actions.append(free[0])
        assert Reference(n).after(actions).heads == gold


@given(st.integers(0, 50), st.integers(1, 12))
def test_heads_are_those_of_a_plain_sum_of_weights(seed, n):
    rng = np.random.default_rng(seed)
    table = rng.integers(-127, 128, 2**8, dtype=np.int8)
    native = _native.TransitionParser([], 1, 1, *(np.zeros(8, dtype=np.int8), table, table))
    actions, reference = [], Reference(n)
    while not reference.done:
        features = replay(native, n, actions)[0]
        scores = [0, 0, 0]
        for feature in features:
            row, turn = feature % 64 * 4, feature >> 57 & 3
            for action in range(3):
                scores[action] += int(table[row + (turn + action) % 4])
        best = max(filter(reference.may, range(3)), key=lambda a: (scores[a], -a))
        actions.append(best)
        reference.apply(best)
    _, heads, _ = run(native, text_of([f"w{at}" for at in range(n)]))
    assert heads == [-1 if head == n else head for head in reference.heads]


HOSTILE = ["", "\x00", "\ud800", "a" * 10_000, "ﬁ", "e\u0301", "—", "\U0001f9ec", "-", "/", "A-"]


@given(st.integers(0, 20), st.lists(st.sampled_from(HOSTILE), max_size=30))
def test_parses_are_projective_trees_whatever_the_words(seed, words):
    tags, heads, labels = run(random_parser(seed), text_of(words))
    assert all(0 <= tag < 5 for tag in tags) and all(0 <= label < 7 for label in labels)
    if words:
        assert is_projective_tree([len(words) if head < 0 else head for head in heads])


def test_a_thousand_words_are_parsed_as_a_whole():
    _, heads, _ = run(random_parser(3), text_of(["rain"] * 1000))
    assert heads.count(-1) == 1


@given(st.lists(st.lists(st.sampled_from(["rain", "falls", "on", "B-2"]), max_size=6), max_size=6))
def test_a_parse_depends_on_its_sentence_only(sentences):
    native = random_parser(5)
    together = run(native, text_of(*sentences))
    alone = [run(native, text_of(words)) for words in sentences]
    assert together == [[x for one in alone for x in one[part]] for part in range(3)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_tags": 0}, "number of classes"),
        ({"n_labels": 5000}, "number of classes"),
        ({"tags": np.zeros(48, dtype=np.int8)}, "power of two"),
        ({"tags": np.zeros(2, dtype=np.int8)}, "power of two"),
        ({"actions": np.zeros(0, dtype=np.int8)}, "power of two"),
    ],
)
def test_tables_that_do_not_fit_are_refused(change, message):
    table = np.zeros(64, dtype=np.int8)
    given = {"n_tags": 3, "n_labels": 3, "tags": table, "actions": table, "labels": table}
    with pytest.raises(ValueError, match=message):
        _native.TransitionParser([], **(given | change))


@pytest.mark.parametrize(
    ("sentences", "words", "message"),
    [([0, 1], [0, 2], "end at"), ([0, 2], [0, 1], "end at"), ([0, 1], [0, 3, 1], "not fall")],
)
def test_offsets_that_do_not_fit_are_refused(sentences, words, message):
    offsets = [np.array(part, dtype=np.int64) for part in (words, sentences)]
    out = [np.zeros(1, dtype=np.int32) for _ in range(3)]
    with pytest.raises(ValueError, match=message):
        random_parser(0).parse(np.zeros(1, dtype=np.uint8), *offsets, 0, 1, *out)


TREEBANK = [
    ParsedWords("the dog sees rain .".split(), "DT NN VBZ NN .".split(), [1, 2, -1, 2, 2],
                "det nsubj root dobj punct".split()),
    ParsedWords("rain falls on the roof".split(), "NN VBZ IN DT NN".split(), [1, -1, 1, 4, 2],
                "nsubj root prep det pobj".split()),
    ParsedWords("dogs fall".split(), "NNS VBP".split(), [1, -1], ["nsubj", "root"]),
    ParsedWords("see the roof".split(), "VB DT NN".split(), [-1, 2, 0], "root det dobj".split()),
]  # fmt: skip


def test_a_parser_learns_its_treebank():
    parser = DependencyParser().fit(TREEBANK * 10)
    assert parser.parse_batch([one.words for one in TREEBANK]) == TREEBANK


def test_learning_twice_gives_the_same_weights():
    first, second = (DependencyParser().fit(TREEBANK, TREEBANK[:2]) for _ in range(2))
    for name in ("tag_weights_", "head_weights_", "relation_weights_"):
        assert np.array_equal(getattr(first, name), getattr(second, name))


def test_weights_are_whole_numbers_up_to_eleven():
    parser = DependencyParser().fit(TREEBANK * 10)
    for table in (parser.tag_weights_, parser.head_weights_, parser.relation_weights_):
        assert abs(table).max() == 11


def test_text_with_labels_that_the_treebank_lacks_is_left_out():
    other = ParsedWords(["we"], ["PRP"], [-1], ["root"])
    parser = DependencyParser().fit(TREEBANK, [other])
    assert "PRP" not in parser.tags_


def test_every_pass_visits_every_sentence_once_in_an_order_of_its_own():
    order = _order(np.arange(50), 3, 0).reshape(3, 50)
    assert (np.sort(order) == np.arange(50)).all()
    assert not np.array_equal(order[0], order[1])


@pytest.mark.parametrize(
    ("heads", "tags", "message"),
    [([0], [0], "head"), ([1], [0], "head"), ([-2], [0], "head"), ([-1], [3], "tag")],
)
def test_wrong_gold_parses_are_refused(heads, tags, message):
    arrays = (np.array(part, dtype=np.int32) for part in (tags, heads, [0]))
    with pytest.raises(ValueError, match=f"no such {message}"):
        _native.TransitionTreebank([], 3, 1, *text_of(["a"]), *arrays)
