"""The table of views: names, descriptions, and functions that make them.

A new view is one function in this package and one row in :data:`VIEWS`. The row says how to get the
arguments of the function from a sentence or a candidate, so that programs and the command line can
request views by name. Work shared by all candidates of a sentence is done once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal, TypeAlias

from kernelwood.errors import StructureError
from kernelwood.structures import NodeId, Tree, shorten
from kernelwood.text import Candidate, Entity, Example, Sentence, Structure
from kernelwood.views.constituents import entity_span, minimal_complete_tree, path_enclosed_tree
from kernelwood.views.dependency_paths import NO_TOKEN, DependencyPaths, Negations, PathTrees
from kernelwood.views.dependency_trees import cgrct, clct, grct, lct, loct
from kernelwood.views.entity_names import EntityWords, entity_types, names
from kernelwood.views.interaction_graphs import InteractionPaths, trigger_path, trigger_tree
from kernelwood.views.path_graphs import PathGraphs
from kernelwood.views.word_sequences import Contexts, Labels, words

_Subject: TypeAlias = Literal["sentence", "pair", "interaction"]
# The part of a parse that a view needs; a tree has dependencies, too, by head rules.
Needed: TypeAlias = Literal["words", "dependencies", "tree"]
# The view, a structure or features with values; and the reason if it is a fallback.
_Made: TypeAlias = "tuple[Structure | dict[str, float], str | None]"
_Maker: TypeAlias = "Callable[[Candidate], _Made]"
_Prepare: TypeAlias = "Callable[[Sentence], _Maker]"


@dataclass(frozen=True)
class ViewRow:
    """One row of the table.

    Attributes
    ----------
    name : str
        Name of the view.
    summary : str
        One line for lists and help pages.
    subject : {"sentence", "pair", "interaction"}
        Kind of input: a sentence, a candidate of two entities, or a candidate with a trigger.
        Views of sentences can also be made of candidates.
    prepare : callable
        From a sentence to a function, which maps an input in that sentence to the structure and,
        if it is a fallback, the reason.
    needs : {"words", "dependencies", "tree"}
        The part of a parse that it is made from.
    """

    name: str
    summary: str
    subject: _Subject
    prepare: Callable[[Sentence], Callable[..., _Made]]
    needs: Needed = "dependencies"


def find_view(name: str) -> ViewRow:
    """Return the row called ``name``.

    Examples
    --------
    >>> find_view("grct").subject
    'sentence'
    """
    if name in VIEWS:
        return VIEWS[name]
    near = get_close_matches(str(name), VIEWS, n=1, cutoff=0.4)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"unknown view {name!r}{guess} (known views: {', '.join(VIEWS)})")


def make_view(name: str, subject: Sentence | Candidate) -> _Made:
    """Return the view called ``name``.

    Parameters
    ----------
    name : str
        A name in :data:`VIEWS`.
    subject : Sentence or Candidate
        The input.

    Returns
    -------
    structure : Sequence, Tree, Forest or Graph
        The view.
    fallback : str or None
        The reason if it is a substitute.

    Raises
    ------
    StructureError
        If the input lacks a part that the view needs.
    ValueError
        If there is no such view.

    Examples
    --------
    >>> make_view("words", Sentence.from_words(["We", "go"]))
    (Sequence(['we', 'go']), None)
    """
    return view_maker(name)(subject)


def view_maker(name: str) -> Callable[[Sentence | Candidate], _Made]:
    """Return a function that makes the view called ``name``; see `make_view`.

    It is fast for consecutive candidates of one sentence: shared work is kept until the next
    sentence.

    Raises
    ------
    ValueError
        If there is no such view.

    Examples
    --------
    >>> make = view_maker("words")
    >>> make(Sentence.from_words(["We", "go"]))
    (Sequence(['we', 'go']), None)
    """
    row = find_view(name)
    latest: tuple[Sentence, Callable[..., _Made]] | None = None

    def make(subject: Sentence | Candidate) -> _Made:
        nonlocal latest
        if isinstance(subject, Candidate):
            sentence = subject.sentence
        elif isinstance(subject, Example):
            needed, hint = "sentence", "give the sentence of the example, example.view('sentence')"
            if row.subject != "sentence":
                needed = "candidate"
                hint = "make candidates of the examples, kw.relations.pair_candidates(examples)"
            raise StructureError(f"the view {name!r} needs a {needed}, got an example", hint=hint)
        elif row.subject == "sentence":
            sentence = subject
        else:
            raise StructureError(
                f"the view {name!r} needs a candidate, got a sentence",
                hint="make candidates first, with kw.relations.pair_candidates or event_candidates",
            )
        prepared = latest
        if prepared is None or prepared[0] is not sentence:
            prepared = latest = (sentence, row.prepare(sentence))
        return prepared[1](subject)

    return make


def _tree(sentence: Sentence) -> Tree:
    if sentence.tree is None:
        raise StructureError(
            "the sentence has no constituency tree",
            hint="parse it with the parser 'biomedical'; 'biomedical-dependencies' makes no trees",
        )
    return sentence.tree


def _path(sentence: Sentence) -> _Maker:
    paths = DependencyPaths(sentence)

    def make(candidate: Candidate) -> _Made:
        found = paths.between(*_two(candidate))
        return found.sequence, found.fallback

    return make


def _steps(labels: Labels) -> _Prepare:
    def prepare(sentence: Sentence) -> _Maker:
        paths = DependencyPaths(sentence, labels=labels)

        def make(candidate: Candidate) -> _Made:
            found = paths.between(*_two(candidate))
            return found.steps, found.fallback

        return make

    return prepare


def _path_tree(sentence: Sentence) -> _Maker:
    trees = PathTrees(sentence)
    return lambda candidate: trees.between(*_two(candidate))


def _path_graph(*, tags: bool) -> _Prepare:
    def prepare(sentence: Sentence) -> _Maker:
        graphs = PathGraphs(sentence, tags=tags)
        return lambda candidate: graphs.between(*_two(candidate))

    return prepare


def _context(labels: Labels) -> _Prepare:
    def prepare(sentence: Sentence) -> _Maker:
        contexts = Contexts(sentence, labels=labels)

        def make(candidate: Candidate) -> _Made:
            first, second = map(contexts.tokens_of, _two(candidate))
            return contexts.joined(first, second), None if first and second else NO_TOKEN

        return make

    return prepare


def _bag(sentence: Sentence) -> _Maker:
    contexts = Contexts(sentence, labels="stem", window=None)
    return lambda candidate: (contexts.bag(*_two(candidate)), None)


def _between(sentence: Sentence) -> _Maker:
    contexts = Contexts(sentence)
    return lambda candidate: (contexts.between(*_two(candidate)), None)


def _entity_words(*, stems: bool) -> _Prepare:
    def prepare(sentence: Sentence) -> _Maker:
        words = EntityWords(sentence, stems=stems)
        return lambda candidate: (words.between(*_two(candidate)), None)

    return prepare


def _types(sentence: Sentence) -> _Maker:
    return lambda candidate: (entity_types(*_two(candidate)), None)


def _names(sentence: Sentence) -> _Maker:
    return lambda candidate: (names(sentence, *_two(candidate)), None)


def _negation(sentence: Sentence) -> _Maker:
    negations = Negations(sentence)
    return lambda candidate: (negations.around(*_two(candidate)), None)


def _of_spans(function: Callable[..., Structure]) -> _Prepare:
    def prepare(sentence: Sentence) -> _Maker:
        def make(candidate: Candidate) -> _Made:
            tree = _tree(sentence)
            return function(tree, *(entity_span(sentence, end) for end in _two(candidate))), None

        return make

    return prepare


def _two(candidate: Candidate) -> tuple[Entity, Entity]:
    participants = candidate.participants
    if len(participants) != 2:
        raise StructureError(f"the view needs two entities, the candidate has {len(participants)}")
    return participants[0][1], participants[1][1]


def _of_meaning(function: Callable[..., Structure]) -> _Prepare:
    def prepare(sentence: Sentence) -> _Maker:
        if sentence.amr is None:
            raise StructureError("the sentence has no abstract meaning representation")
        paths = InteractionPaths(sentence.amr)
        # Ids of entities are strings, those of nodes may be integers: "1" is node 1 unless "1" is
        # a node, too.
        nodes = {str(node): node for node in sentence.amr.nodes}
        nodes |= {node: node for node in sentence.amr.nodes if isinstance(node, str)}
        return lambda candidate: (function(paths, *_nodes(candidate, nodes)), None)

    return prepare


def _of_trigger(function: Callable[..., Structure]) -> _Prepare:
    def prepare(sentence: Sentence) -> _Maker:
        return lambda candidate: (
            function(sentence, _trigger(candidate), candidate.participants),
            None,
        )

    return prepare


def _nodes(
    candidate: Candidate, nodes: Mapping[str, NodeId]
) -> tuple[NodeId, list[tuple[str, NodeId]]]:
    """Return the nodes of trigger and participants; unknown ids are kept as they are."""
    root = _trigger(candidate).id
    ends = [(role, nodes.get(entity.id, entity.id)) for role, entity in candidate.participants]
    return nodes.get(root, root), ends


def _trigger(candidate: Candidate) -> Entity:
    if candidate.trigger is None:
        raise StructureError(f"candidate {shorten(repr(candidate.id))} has no trigger")
    return candidate.trigger


def _sentence(
    name: str,
    summary: str,
    function: Callable[[Sentence], Structure],
    needs: Needed = "dependencies",
) -> ViewRow:
    def prepare(sentence: Sentence) -> _Maker:
        made = function(sentence)
        return lambda _: (made, None)

    return ViewRow(name, summary, "sentence", prepare, needs)


def _pair(name: str, summary: str, prepare: _Prepare, needs: Needed = "dependencies") -> ViewRow:
    return ViewRow(name, summary, "pair", prepare, needs)


def _interaction(name: str, summary: str, prepare: _Prepare) -> ViewRow:
    return ViewRow(name, summary, "interaction", prepare)


_ROWS: tuple[ViewRow, ...] = (
    _sentence("words", "the words in order", words, "words"),
    _sentence("tree", "the constituency tree", _tree, "tree"),
    _sentence("grct", "dependencies: grammatical relations centered", grct),
    _sentence("lct", "dependencies: words centered", lct),
    _sentence("loct", "dependencies: words only", loct),
    _sentence("cgrct", "grct with head and modifier of each relation", cgrct),
    _sentence("clct", "lct with head and modifier of each relation", clct),
    _pair("path", "shortest dependency path between two entities", _path),
    _pair("steps", "words and relations in turn along the shortest path", _steps("text")),
    _pair("stem-steps", "steps, with words cut to stems", _steps("stem")),
    _pair("path-tree", "shortest path with its dependents", _path_tree),
    _pair(
        "all-paths-graph",
        "sentence as a graph with the shortest path marked",
        _path_graph(tags=False),
    ),
    _pair(
        "tagged-all-paths-graph",
        "all-paths-graph with words and their parts of speech",
        _path_graph(tags=True),
    ),
    _pair("context", "words before, between and after two entities", _context("text"), "words"),
    _pair("stem-context", "context, with words cut to stems", _context("stem"), "words"),
    _pair("names", "relation of the names of two entities", _names, "words"),
    _pair("negation", "whether the relation of two entities is negated", _negation),
    _pair("types", "types of two entities", _types, "words"),
    _pair("entity-words", "head words of two entities", _entity_words(stems=False)),
    _pair("stem-entity-words", "stems of the head words of entities", _entity_words(stems=True)),
    _pair("between-words", "words between two entities, for word vectors", _between, "words"),
    _pair("sentence-words", "stems of all words of the sentence, without order", _bag, "words"),
    _pair("pet", "path-enclosed tree of two entities", _of_spans(path_enclosed_tree), "tree"),
    _pair("mct", "minimal complete tree of two entities", _of_spans(minimal_complete_tree), "tree"),
    _interaction(
        "amr-tree",
        "AMR subgraph from interaction to participants",
        _of_meaning(InteractionPaths.tree),
    ),
    _interaction(
        "amr-path",
        "walk from participants to interaction in the AMR",
        _of_meaning(InteractionPaths.path),
    ),
    _interaction(
        "trigger-tree", "dependencies from trigger to participants", _of_trigger(trigger_tree)
    ),
    _interaction(
        "trigger-path",
        "walk from participants to trigger over dependencies",
        _of_trigger(trigger_path),
    ),
)

VIEWS: Mapping[str, ViewRow] = MappingProxyType({row.name: row for row in _ROWS})
