"""The graph of a sentence for two of its entities, against a slow and simple definition."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.text import ROOT, Candidate, Entity, Sentence
from kernelwood.views import PathGraphs, all_paths_graph, make_view, shortest_path

WORDS = ["Raf", "binds", "Ras", "and", "Sos", "now"]
TOKENS = [(0, 3), (4, 9), (10, 13), (14, 17), (18, 21), (22, 25)]
ENTITIES = [Entity(f"T{i}", "protein", (TOKENS[i],)) for i in (0, 2, 4)]
RAF, RAS, SOS = ENTITIES
SENTENCE = Sentence.from_words(
    WORDS,
    dependencies=[(-1, "root", 1), (1, "nsubj", 0), (1, "obj", 2), (2, "cc", 3), (2, "conj", 4)],
    entities=ENTITIES,
)


def named_edges(graph):
    """Return the edges with labels in place of ids, and how often each occurs."""
    return sorted((graph.nodes[a], label, graph.nodes[b]) for a, label, b in graph.edges)


def by_definition(sentence, first, second):
    """Return the labels of all nodes, sorted, and the edges between labels."""
    path = shortest_path(sentence, first, second)
    own = {sentence.tokens_of(entity)[0]: f"ENTITY{n}" for n, entity in ((1, first), (2, second))}
    others = {sentence.tokens_of(e)[0]: "ENTITY" for e in sentence.entities}
    words = [{**others, **own}.get(i, t.text.lower()) for i, t in enumerate(sentence.tokens)]
    steps = [{a, b} for a, b in zip(path.tokens, path.tokens[1:], strict=False)]
    steps = steps if path.fallback is None else []
    ends = (path.tokens[0], path.tokens[-1])
    on_path = [i in path.tokens if path.fallback is None else i in ends for i in range(len(words))]
    left = [word + "/IP" * on_path[i] for i, word in enumerate(words)]
    right = [
        word if i in own else word + ("/B" if i < min(own) else "/A" if i > max(own) else "/M")
        for i, word in enumerate(words)
    ]
    nodes, edges = left + right, list(zip(right, ["next"] * len(right), right[1:], strict=False))
    for head, relation, dependent in sentence.dependencies:
        if head != ROOT:
            there = {head, dependent} in steps
            name, edge = relation + "/IP" * there, "path" if there else ""
            nodes.append(name)
            edges += [(left[head], edge, name), (name, edge, left[dependent])]
    return sorted(nodes), sorted(edges)


@given(
    st.lists(st.tuples(st.integers(-1, 5), st.sampled_from("xyz"), st.integers(0, 5)), max_size=9),
    st.permutations(ENTITIES),
)
def test_graphs_are_those_of_the_definition(dependencies, entities):
    chosen = {(head, dependent): (head, relation, dependent) for head, relation, dependent in
              dependencies if head != dependent}  # fmt: skip
    sentence = Sentence.from_words(WORDS, dependencies=[*chosen.values()], entities=ENTITIES)
    first, second, _ = entities
    made = all_paths_graph(sentence, first, second)
    nodes, edges = by_definition(sentence, first, second)
    assert sorted(made.graph.nodes.values()) == nodes
    assert named_edges(made.graph) == edges
    assert made.fallback == shortest_path(sentence, first, second).fallback


def test_the_two_parts_are_not_connected():
    graph = all_paths_graph(SENTENCE, RAF, SOS).graph
    reached, waiting = set(), [0]
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            waiting.extend(graph.neighbors(node))
    labels = {graph.nodes[node] for node in graph.nodes if node not in reached}
    assert "ENTITY1" in labels and "binds/M" in labels and "now/A" in labels
    assert len(graph.nodes) == 6 + 4 + 6


def test_an_entity_without_a_token_is_a_fallback():
    made = all_paths_graph(SENTENCE, RAF, Entity("z", "protein", ()))
    assert made.fallback == "no token"
    assert not any(label.endswith("/IP") for label in made.graph.nodes.values())


def test_words_of_the_entities_can_stay():
    graph = all_paths_graph(SENTENCE, RAF, RAS, blind=None, others=None, lowercase=False).graph
    assert [graph.nodes[node] for node in range(6)] == [
        *("Raf/IP", "binds/IP", "Ras/IP", "and", "Sos", "now")
    ]


def test_pairs_in_a_row_have_the_graphs_they_have_alone():
    graphs = PathGraphs(SENTENCE)
    for first, second in ((RAF, RAS), (RAS, SOS), (SOS, RAF)):
        alone = all_paths_graph(SENTENCE, first, second)
        assert graphs.between(first, second) == alone
        candidate = Candidate("p", SENTENCE, [("first", first), ("second", second)])
        assert make_view("all-paths-graph", candidate) == tuple(alone)


@pytest.mark.parametrize("tags", [False, True])
def test_the_kernel_weighs_paths_as_published(tags):
    """Airola et al. 2008: 0.9 on the shortest path and in the order of words, 0.3 elsewhere."""
    tagged = Sentence.from_words(
        WORDS, tags=[*"NN VBZ NN CC NN".split(), ""], dependencies=SENTENCE.dependencies,
        entities=ENTITIES,
    )  # fmt: skip
    graph = all_paths_graph(tagged, RAF, RAS).graph
    matrix = np.zeros((len(graph.nodes), len(graph.nodes)))
    for source, label, target in graph.edges:
        matrix[source, target] = 0.3 if label == "" else 0.9
    own = [{label} for label in graph.nodes.values()]
    for first in (0, len(own) - len(WORDS)):  # where the tokens of both parts begin
        for at, token in enumerate(tagged.tokens if tags else ()):
            _, slash, ending = graph.nodes[first + at].partition("/")
            own[first + at] |= {token.tag + slash + ending} if token.tag else set()
    labels = sorted(set().union(*own))
    allocation = np.array([[float(label in some) for label in labels] for some in own])
    walks = np.linalg.inv(np.eye(len(own)) - matrix) - np.eye(len(own))
    weights = allocation.T @ walks @ allocation
    kernel = kw.AllPathsGraphKernel(normalize=False)
    compared = all_paths_graph(tagged, RAF, RAS, tags=tags).graph
    assert kernel.value(compared, compared) == pytest.approx((weights**2).sum(), rel=1e-12)
