"""Shortest paths between all annotated pairs of two corpora of protein interactions."""

from collections import Counter
from functools import cache

import pytest
from corpora import data_file

import kernelwood as kw
from kernelwood.views import DependencyPaths

CORPORA = ["AImed", "BioInfer"]

pytestmark = pytest.mark.slow


@cache
def corpus_paths(corpus):
    """Return the path of every pair of a corpus, with the sentence it is in."""
    path = data_file("ppi", f"{corpus}-learning-format.xml.gz")
    found = []
    for example in kw.read(path, views=["sentence"]):
        sentence = example.view("sentence")
        if not sentence.relations:
            continue
        named = {entity.id: entity for entity in sentence.entities}
        paths = DependencyPaths(sentence)
        for relation in sentence.relations:
            first, second = (named[argument.target] for argument in relation.arguments)
            found.append((sentence, paths.between(first, second)))
    return found


@pytest.mark.parametrize(
    ("corpus", "expected"),
    [
        ("AImed", {None: 5525, "shared token": 305, "no path": 4}),
        ("BioInfer", {None: 9428, "shared token": 238}),
    ],
)
def test_pairs_have_a_path_or_a_reason_why_not(corpus, expected):
    assert Counter(path.fallback for _, path in corpus_paths(corpus)) == expected


@pytest.mark.parametrize("corpus", CORPORA)
def test_every_step_is_a_dependency_of_the_sentence(corpus):
    for sentence, path in corpus_paths(corpus):
        if path.fallback is not None:
            continue
        known = {(head, name, dependent) for head, name, dependent in sentence.dependencies}
        known |= {(dependent, f"{name}-of", head) for head, name, dependent in known}
        steps = zip(path.tokens[:-1], path.sequence.edges[1:], path.tokens[1:], strict=True)
        assert known.issuperset(steps)
