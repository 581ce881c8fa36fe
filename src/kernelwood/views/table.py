"""The table of views: which structures can be made, by name, and from what.

A new view is one function in this folder and one row in :data:`VIEWS`. The function takes what it
needs (a sentence, entities, a tree); the row says how to get these from a sentence or a candidate,
so that programs and the command line can ask for views by name. What all candidates of a sentence
have in common is prepared once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal, TypeAlias

from kernelwood.errors import StructureError
from kernelwood.structures import NodeId, Tree, shorten
from kernelwood.text import Candidate, Entity, Sentence, Structure
from kernelwood.views.constituents import entity_span, minimal_complete_tree, path_enclosed_tree
from kernelwood.views.contexts import Contexts
from kernelwood.views.dependency_trees import cgrct, clct, grct, lct, loct
from kernelwood.views.entity_names import entity_types, names
from kernelwood.views.negations import Negations
from kernelwood.views.path_trees import PathTrees
from kernelwood.views.paths import NO_TOKEN, DependencyPaths
from kernelwood.views.step_sequences import steps_of
from kernelwood.views.triggers import trigger_path, trigger_tree
from kernelwood.views.ways import InteractionWays
from kernelwood.views.word_sequences import Labels, words

__all__ = ["VIEWS", "ViewRow", "find_view", "make_view", "view_maker"]

Subject: TypeAlias = Literal["sentence", "pair", "interaction"]
Made: TypeAlias = "tuple[Structure, str | None]"
Maker: TypeAlias = "Callable[[Candidate], Made]"


@dataclass(frozen=True)
class ViewRow:
    """One row of the table.

    Attributes
    ----------
    name : str
        What users write.
    summary : str
        One line for lists and help pages.
    subject : {"sentence", "pair", "interaction"}
        What it is a view of: a sentence, a candidate of two entities, or a candidate with a
        trigger. Views of sentences can be made of candidates, too.
    prepare : callable
        From a sentence to a function, which goes from a subject in that sentence to the structure
        and, if it is only a fallback, the reason.
    """

    name: str
    summary: str
    subject: Subject
    prepare: Callable[[Sentence], Callable[..., Made]]


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


def make_view(name: str, subject: Sentence | Candidate) -> Made:
    """Make the view called ``name``.

    Parameters
    ----------
    name : str
        A name in :data:`VIEWS`.
    subject : Sentence or Candidate
        What to look at.

    Returns
    -------
    structure : Sequence, Tree, Forest or Graph
        The view.
    fallback : str or None
        Why it is not what was asked for but the next best, if so.

    Raises
    ------
    StructureError
        If the subject lacks what the view is made from.
    ValueError
        If there is no such view.

    Examples
    --------
    >>> make_view("words", Sentence.from_words(["We", "go"]))
    (Sequence(['we', 'go']), None)
    """
    return view_maker(name)(subject)


def view_maker(name: str) -> Callable[[Sentence | Candidate], Made]:
    """Return a function that makes the view called ``name``, as `make_view` does.

    It is quick for candidates of one sentence that come in a row: what they share is kept until
    the next sentence.

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
    latest: tuple[Sentence, Callable[..., Made]] | None = None

    def make(subject: Sentence | Candidate) -> Made:
        nonlocal latest
        if isinstance(subject, Candidate):
            sentence = subject.sentence
        elif row.subject == "sentence":
            sentence = subject
        else:
            raise StructureError(
                f"the view {name!r} is one of a candidate, not of a sentence",
                hint="make candidates first, with kw.relations.pair_candidates or event_candidates",
            )
        prepared = latest
        if prepared is None or prepared[0] is not sentence:
            prepared = latest = (sentence, row.prepare(sentence))
        return prepared[1](subject)

    return make


def _tree(sentence: Sentence) -> Tree:
    if sentence.tree is None:
        raise StructureError("the sentence has no constituency tree")
    return sentence.tree


def _path(sentence: Sentence) -> Maker:
    paths = DependencyPaths(sentence)

    def make(candidate: Candidate) -> Made:
        found = paths.between(*_two(candidate))
        return found.sequence, found.fallback

    return make


def _steps(labels: Labels) -> Callable[[Sentence], Maker]:
    def prepare(sentence: Sentence) -> Maker:
        paths = DependencyPaths(sentence, labels=labels)

        def make(candidate: Candidate) -> Made:
            way = paths.way(*_two(candidate))
            return steps_of(way), way.fallback

        return make

    return prepare


def _path_tree(sentence: Sentence) -> Maker:
    trees = PathTrees(sentence)
    return lambda candidate: trees.between(*_two(candidate))


def _context(labels: Labels) -> Callable[[Sentence], Maker]:
    def prepare(sentence: Sentence) -> Maker:
        contexts = Contexts(sentence, labels=labels)

        def make(candidate: Candidate) -> Made:
            first, second = _two(candidate)
            is_whole = contexts.covers(first) and contexts.covers(second)
            return contexts.joined(first, second), None if is_whole else NO_TOKEN

        return make

    return prepare


def _types(sentence: Sentence) -> Maker:
    return lambda candidate: (entity_types(*_two(candidate)), None)


def _names(sentence: Sentence) -> Maker:
    return lambda candidate: (names(sentence, *_two(candidate)), None)


def _negation(sentence: Sentence) -> Maker:
    negations = Negations(sentence)
    return lambda candidate: (negations.around(*_two(candidate)), None)


def _of_spans(function: Callable[..., Structure]) -> Callable[[Sentence], Maker]:
    def prepare(sentence: Sentence) -> Maker:
        def make(candidate: Candidate) -> Made:
            tree = _tree(sentence)
            return function(tree, *(entity_span(sentence, end) for end in _two(candidate))), None

        return make

    return prepare


def _two(candidate: Candidate) -> tuple[Entity, Entity]:
    if len(candidate.participants) != 2:
        raise StructureError(
            f"the view is one of two entities; the candidate has {len(candidate.participants)}"
        )
    first, second = candidate.entities
    return first, second


def _of_meaning(function: Callable[..., Structure]) -> Callable[[Sentence], Maker]:
    def prepare(sentence: Sentence) -> Maker:
        if sentence.amr is None:
            raise StructureError("the sentence has no abstract meaning representation")
        ways = InteractionWays(sentence.amr)
        # Entities have strings for ids, nodes may have numbers; "1" is node 1 if there is no "1".
        nodes = {str(node): node for node in sentence.amr.nodes}
        nodes |= {node: node for node in sentence.amr.nodes if isinstance(node, str)}
        return lambda candidate: (function(ways, *_nodes(candidate, nodes)), None)

    return prepare


def _of_trigger(function: Callable[..., Structure]) -> Callable[[Sentence], Maker]:
    def prepare(sentence: Sentence) -> Maker:
        return lambda candidate: (
            function(sentence, _trigger(candidate), candidate.participants),
            None,
        )

    return prepare


def _nodes(
    candidate: Candidate, nodes: Mapping[str, NodeId]
) -> tuple[NodeId, list[tuple[str, NodeId]]]:
    """Return the nodes that trigger and participants stand for; an unknown id is refused later."""
    root = _trigger(candidate).id
    ends = [(role, nodes.get(entity.id, entity.id)) for role, entity in candidate.participants]
    return nodes.get(root, root), ends


def _trigger(candidate: Candidate) -> Entity:
    if candidate.trigger is None:
        raise StructureError(f"candidate {shorten(repr(candidate.id))} has no trigger")
    return candidate.trigger


def _sentence(name: str, summary: str, function: Callable[[Sentence], Structure]) -> ViewRow:
    def prepare(sentence: Sentence) -> Maker:
        made = function(sentence)
        return lambda _: (made, None)

    return ViewRow(name, summary, "sentence", prepare)


def _pair(name: str, summary: str, prepare: Callable[[Sentence], Maker]) -> ViewRow:
    return ViewRow(name, summary, "pair", prepare)


def _interaction(name: str, summary: str, prepare: Callable[[Sentence], Maker]) -> ViewRow:
    return ViewRow(name, summary, "interaction", prepare)


_ROWS: tuple[ViewRow, ...] = (
    _sentence("words", "the words in order", words),
    _sentence("tree", "the constituency tree", _tree),
    _sentence("grct", "dependencies: grammatical relations centered", grct),
    _sentence("lct", "dependencies: words centered", lct),
    _sentence("loct", "dependencies: words only", loct),
    _sentence("cgrct", "grct with head and modifier of each relation", cgrct),
    _sentence("clct", "lct with head and modifier of each relation", clct),
    _pair("path", "shortest dependency path between two entities", _path),
    _pair("steps", "words and relations in turn along the shortest path", _steps("text")),
    _pair("stem-steps", "steps, with words cut to stems", _steps("stem")),
    _pair("path-tree", "dependencies on the shortest path and hanging from it", _path_tree),
    _pair("context", "words before, between and after two entities", _context("text")),
    _pair("stem-context", "context, with words cut to stems", _context("stem")),
    _pair("names", "how the names of two entities relate", _names),
    _pair("negation", "whether words that join two entities deny", _negation),
    _pair("types", "types of two entities", _types),
    _pair("pet", "path-enclosed tree of two entities", _of_spans(path_enclosed_tree)),
    _pair("mct", "minimal complete tree of two entities", _of_spans(minimal_complete_tree)),
    _interaction(
        "amr-tree",
        "AMR subgraph from interaction to participants",
        _of_meaning(InteractionWays.tree),
    ),
    _interaction(
        "amr-path",
        "walk from participants to interaction in the AMR",
        _of_meaning(InteractionWays.path),
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
