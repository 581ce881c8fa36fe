"""Evidence in words: sentences with marked words, and dependency paths with plain names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from kernelwood import structures
from kernelwood.text import Example, Span, Token, tokenize
from kernelwood.threads import lazy_property
from kernelwood.views import stem

# Words, entities and steps of a path in turn: text, and "word", "entity" or "step".
SpelledPath: TypeAlias = tuple[tuple[str, str], ...]
_Label: TypeAlias = tuple[str, str]  # side of the entities or "", and label
_Walk: TypeAlias = list[tuple[str, str]]  # nodes, each after the dependency that leads to it

_BRACKETS = {"entity": "[]", "trigger": "{}", "shared": "**"}
_ZONES = ("before", "between", "after")  # edge labels of context views
_END = re.compile(r"ENTITY\d+")  # labels of the entities of a candidate
_OTHER = "ENTITY"
_ARTICLES = {"a", "an", "the"}
_CLIPPED, _LONG = 400, 30  # characters of a shown sentence, and of a long word
_UP = "-of"  # end of the label of a step from a dependent to its head

# Plain names of dependencies, Stanford and universal; others are shown as they are.
_NAMES = {
    "nsubj": "subject", "csubj": "subject", "nsubjpass": "passive subject",
    "nsubj:pass": "passive subject", "csubjpass": "passive subject", "nsubj:xsubj": "subject",
    "xsubj": "subject",
    "dobj": "object", "obj": "object", "iobj": "indirect object", "pobj": "object",
    "amod": "adjective", "nn": "noun modifier", "compound": "noun modifier",
    "advmod": "adverb", "npadvmod": "modifier", "nmod": "modifier", "obl": "modifier",
    "poss": "owner", "nmod:poss": "owner", "num": "number", "nummod": "number",
    "vmod": "verb modifier", "acl": "verb modifier", "partmod": "verb modifier",
    "infmod": "verb modifier", "rcmod": "relative clause", "acl:relcl": "relative clause",
    "advcl": "adverbial clause", "ccomp": "clause", "xcomp": "complement", "acomp": "complement",
    "pcomp": "complement", "parataxis": "side clause", "prep": "preposition",
    "neg": "negation", "dep": "dependent",
}  # fmt: skip
# Names of steps that read the same in both directions.
_EVEN = {"conj": "joined with", "appos": "that is", "same": "same word", "next": "next to"}
# Dependencies whose labels end in a preposition: prep_of, nmod:of.
_WITH_WORD = ("prep_", "prepc_", "nmod:", "obl:", "acl:", "advcl:")
_OBJECTS = {"pobj", "pcomp"}  # of prepositions


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A sentence with marked entities and words.

    Attributes
    ----------
    text : str
    entities, trigger : tuples of (start, end)
        Characters of the participants, and of the word that stands for an event.
    shared : tuple of (start, end)
        Characters of the words that it shares with another sentence.

    Examples
    --------
    >>> marked = MarkedText("Raf binds Ras", ((0, 3), (10, 13)), shared=((4, 9),))
    >>> str(marked)
    '[Raf] *binds* [Ras]'
    >>> list(marked.pieces())
    [('Raf', 'entity'), (' ', ''), ('binds', 'shared'), (' ', ''), ('Ras', 'entity')]
    """

    text: str
    entities: tuple[Span, ...] = ()
    trigger: tuple[Span, ...] = ()
    shared: tuple[Span, ...] = ()

    def pieces(self) -> Iterator[tuple[str, str]]:
        """Yield the parts of the text: text, and "entity", "trigger", "shared" or ""."""
        spans = self._spans()
        cuts = {0, len(self.text), *(place for start, end, _ in spans for place in (start, end))}
        for left, right in pairwise(sorted(cuts)):
            kinds = {kind for start, end, kind in spans if start <= left < end}
            kind = next((kind for kind in ("trigger", "entity", "shared") if kind in kinds), "")
            yield self.text[left:right], kind

    def clipped(self, length: int = _CLIPPED) -> MarkedText:
        """Return the part around the entities, of about ``length`` characters.

        Examples
        --------
        >>> str(MarkedText("It is known that Raf binds Ras.", ((17, 20), (27, 30))).clipped(20))
        '… [Raf] binds [Ras].'
        """
        if len(self.text) <= length:
            return self
        marks = (*self.entities, *self.trigger) or ((0, 0),)
        low, high = min(start for start, _ in marks), max(end for _, end in marks)
        room = max(0, length - (high - low)) // 2
        low, high = max(0, low - room), min(len(self.text), high + room, low + 2 * length)
        if low:  # whole words
            low = max(low, self.text.find(" ", low, min(low + _LONG, min(s for s, _ in marks))))
        head, tail = "…" if low else "", "…" if high < len(self.text) else ""
        entities, trigger, shared = (
            tuple(
                (start - low + len(head), end - low + len(head))
                for start, end in spans
                if low <= start and end <= high
            )
            for spans in (self.entities, self.trigger, self.shared)
        )
        return MarkedText(f"{head}{self.text[low:high]}{tail}", entities, trigger, shared)

    def __str__(self) -> str:
        # Where one span ends and another begins, the end comes first.
        marks = sorted(
            (place, begins, _BRACKETS[kind][1 - begins])
            for start, end, kind in self._spans()
            for place, begins in ((start, 1), (end, 0))
        )
        pieces, done = [], 0
        for place, _, mark in marks:
            pieces += [self.text[done:place], mark]
            done = place
        return "".join([*pieces, self.text[done:]])

    def _spans(self) -> list[tuple[int, int, str]]:
        kinds = {"entity": self.entities, "trigger": self.trigger, "shared": self.shared}
        return [(start, end, kind) for kind, spans in kinds.items() for start, end in spans]


def path_text(path: SpelledPath) -> str:
    """Return a path as one line, entities in brackets.

    Examples
    --------
    >>> path_text((("Raf", "entity"), ("—subject of→", "step"), ("binds", "word")))
    '[Raf] —subject of→ binds'
    """
    return " ".join(f"[{text}]" if kind == "entity" else text for text, kind in path)


# Words that two sentences share.


class WordedExample:
    """An example with its sentence, and what is read from both, each once.

    Parameters
    ----------
    example : Example
        Views of a candidate.
    marked : MarkedText
        Its sentence.
    """

    def __init__(self, example: Example, marked: MarkedText) -> None:
        self.example, self.marked = example, marked
        self._labels: dict[str, set[_Label]] = {}

    def labels(self, view: str) -> set[_Label]:
        """Return the labels of a view, each with its side of the entities in context views."""
        if view not in self._labels:
            self._labels[view] = _labels(self.example.view(view))
        return self._labels[view]

    @lazy_property
    def words(self) -> list[tuple[Token, str, int]]:
        """The words outside of entities, their side of these, and their distance from them."""
        return list(_words(self.marked))

    @lazy_property
    def places(self) -> dict[_Label, list[tuple[int, Span]]]:
        """Where the words are that have each label, with their distance from the entities."""
        found: dict[_Label, list[tuple[int, Span]]] = {}
        for token, zone, distance in self.words:
            place = (distance, (token.start, token.end))
            for label in _labels_of(token.text):
                found.setdefault((zone, label), []).append(place)
                found.setdefault(("", label), []).append(place)
        return found

    @lazy_property
    def path(self) -> SpelledPath:
        """The dependency path in words, as `spell_path` returns it."""
        return spell_path(self.example, self.marked, self.words)


def mark_shared(
    first: WordedExample, second: WordedExample, views: Iterable[str]
) -> tuple[MarkedText, MarkedText]:
    """Return two sentences with the words marked that the views of both examples contain.

    A word is shared if a view has its label in both: the word or its stem and, for contexts, on
    the same side of the entities. Of several words with the label of a path or tree, the one
    nearest to the entities is marked. Articles and punctuation are not.

    Parameters
    ----------
    first, second : WordedExample
        The candidates.
    views : iterable of str
        Names of the views to compare.
    """
    common = {label for view in views for label in first.labels(view) & second.labels(view)}
    both = [label for label in common if label in first.places and label in second.places]
    made = []
    for each in (first, second):
        spans: set[Span] = set()
        for label in both:
            found = each.places[label]
            spans.update([min(found)[1]] if label[0] == "" else [span for _, span in found])
        marked = each.marked
        shared = tuple(sorted(spans))
        made.append(MarkedText(marked.text, marked.entities, marked.trigger, shared))
    return made[0], made[1]


def _labels(structure: Any) -> set[_Label]:
    if isinstance(structure, structures.Sequence):
        pairs = zip(structure.edges, structure.nodes, strict=True)
        return {(edge if edge in _ZONES else "", label) for edge, label in pairs}
    if isinstance(structure, structures.Tree):
        return {("", node.label) for node in structure.preorder()}
    return set()


def _labels_of(word: str) -> set[str]:
    """Return the labels that views may give to a word."""
    return {word, word.lower(), stem(word.lower())}


def _words(marked: MarkedText) -> Iterator[tuple[Token, str, int]]:
    """Yield the words outside of entities, their side of these, and their distance from them."""
    inside = (*marked.entities, *marked.trigger)
    low = min((end for _, end in marked.entities), default=0)
    high = max((start for start, _ in marked.entities), default=len(marked.text))
    for token in tokenize(marked.text, {place for span in inside for place in span}):
        if any(start < token.end and token.start < end for start, end in inside):
            continue
        if token.text.lower() in _ARTICLES or not any(map(str.isalnum, token.text)):
            continue
        if token.end <= low:
            yield token, "before", low - token.end
        elif token.start >= high:
            yield token, "after", token.start - high
        else:
            yield token, "between", 0


# Dependency paths.


def spell_path(
    example: Example,
    marked: MarkedText,
    words_outside: Iterable[tuple[Token, str, int]] | None = None,
) -> SpelledPath:
    """Return the dependency path of a candidate with words and plain names of dependencies.

    It is read from the view ``stem-steps``, ``steps``, ``path`` or ``trigger-path`` of the
    example; without these, it is empty. Stems become the words of the sentence.

    Examples
    --------
    >>> steps = structures.Sequence(["ENTITY1", "<nsubj-of>", "bind", "<dobj>", "ENTITY2"])
    >>> marked = MarkedText("Raf binds Ras", ((0, 3), (10, 13)))
    >>> path_text(spell_path(Example("a", views={"stem-steps": steps}), marked))
    '[Raf] —subject of→ binds —object→ [Ras]'
    """
    walks = list(_walks(example))
    labels = {node for walk in walks for _, node in walk}
    outside = _words(marked) if words_outside is None else words_outside
    words = _words_by_label(marked, outside, labels)
    names = {node for walk in walks for _, node in walk if _END.fullmatch(node)}
    entities = {name: f"entity {name.removeprefix(_OTHER)}" for name in names}
    if len(names) == len(marked.entities):  # else parts of entities cannot be told apart
        texts = [marked.text[start:end] for start, end in marked.entities]
        entities = {f"{_OTHER}{n}": text for n, text in enumerate(texts, start=1)}
    spelled: list[tuple[str, str]] = []
    for walk in walks:
        spelled += [(";", "step")] if spelled else []
        for number, (relation, node) in enumerate(_joined(walk, words)):
            spelled += [(_step(relation), "step")] if number else []
            kind = "entity" if node in entities else "word"
            spelled.append((entities.get(node) or words.get(node, node), kind))
    return tuple(spelled)


def _words_by_label(
    marked: MarkedText, outside: Iterable[tuple[Token, str, int]], labels: set[str]
) -> dict[str, str]:
    """Return the word for each of some labels, of several the nearest to the entities."""
    found: dict[str, tuple[int, str]] = {}
    for token, _, distance in outside:
        for label in _labels_of(token.text) & labels:
            here = (distance, token.text)
            found[label] = min(found.get(label, here), here)
    for start, end in marked.trigger:
        word = marked.text[start:end]
        found.update(dict.fromkeys(_labels_of(word), (0, word)))
    return {label: text for label, (_, text) in found.items()} | {_OTHER: "other entity"}


def _walks(example: Example) -> Iterator[_Walk]:
    """Yield the paths of an example as nodes, each with the dependency that leads to it."""
    for name in ("stem-steps", "steps"):
        if name in example.views:
            walk: list[tuple[str, str]] = []
            relation = ""
            for node in _sequence(example, name).nodes:
                if node[:1] == "<" and node[-1:] == ">" and not relation and walk:
                    relation = node[1:-1]
                else:
                    walk.append((relation, node))
                    relation = ""
            yield walk
            return
    if "path" in example.views:
        view = _sequence(example, "path")
        yield list(zip(view.edges, view.nodes, strict=True))
    elif "trigger-path" in example.views:
        view = _sequence(example, "trigger-path")
        yield from _from_trigger(list(zip(view.edges, view.nodes, strict=True)))


def _sequence(example: Example, name: str) -> structures.Sequence:
    view = example.view(name)
    assert isinstance(view, structures.Sequence)
    return view


def _from_trigger(elements: _Walk) -> Iterator[_Walk]:
    """Yield the walks up to the trigger and down from it; the trigger has the role "".

    The role of another element is that of its step away from the trigger. The ends of the walks
    are the entities, in order.

    Examples
    --------
    >>> walk = [("nsubj", "protein"), ("", "cuts"), ("", "cuts"), ("dobj", "dna")]
    >>> list(_from_trigger(walk))
    [[('', 'ENTITY1'), ('nsubj-of', 'cuts'), ('dobj', 'ENTITY2')]]
    """
    tops = [place for place, (role, _) in enumerate(elements) if role == ""]
    walks: list[_Walk] = []
    done = 0
    for number, top in enumerate(tops):
        entity = f"{_OTHER}{number + 1}"
        if top > done:  # elements before a trigger lead up to it
            steps = [_reversed(role) for role, _ in elements[done:top]]
            nodes = [entity, *(node for _, node in elements[done + 1 : top + 1])]
            walks.append(list(zip(["", *steps], nodes, strict=True)))
            done = top + 1
        else:
            end = tops[number + 1] if number + 1 < len(tops) else len(elements)
            down = [*elements[top : end - 1], (elements[end - 1][0], entity)]
            if walks and walks[-1][-1][1] == down[0][1]:
                walks[-1] += down[1:]  # one walk through the trigger
            else:
                walks.append(down)
            done = end
    yield from walks


def _reversed(relation: str) -> str:
    return relation.removesuffix(_UP) if relation.endswith(_UP) else relation + _UP


def _joined(walk: _Walk, words: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield a walk with prepositions as steps instead of nodes.

    Examples
    --------
    >>> list(_joined([("", "bound"), ("prep", "to"), ("pobj", "ENTITY2")], {}))
    [('', 'bound'), ('prep_to', 'ENTITY2')]
    """
    place = 0
    while place < len(walk):
        relation, node = walk[place]
        following = walk[place + 1][0] if place + 1 < len(walk) else ""
        down = relation == "prep" and following in _OBJECTS
        up = following == f"prep{_UP}" and relation in {f"{one}{_UP}" for one in _OBJECTS}
        if place and (down or up):
            word = words.get(node, node).lower()
            yield f"prep_{word}{_UP if up else ''}", walk[place + 1][1]
            place += 2
        else:
            yield relation, node
            place += 1


def _step(relation: str) -> str:
    """Return the arrow for a dependency.

    Examples
    --------
    >>> [_step(label) for label in ("nsubj-of", "prep_by", "prep_by-of", "conj", "conj_and-of")]
    ['—subject of→', '—by→', '←by—', '—joined with→', '—and→']
    """
    name, up = relation.removesuffix(_UP), relation.endswith(_UP)
    if name in _EVEN or name.startswith("conj"):
        return f"—{_EVEN.get(name) or name[len('conj') + 1 :]}→"
    if name not in _NAMES:
        prefix = next((one for one in _WITH_WORD if name.startswith(one)), "")
        if prefix or name == "agent":
            word = "by" if name == "agent" else name.removeprefix(prefix).replace("_", " ")
            return f"←{word}—" if up else f"—{word}→"
    plain = _NAMES.get(name, name)
    return f"—{plain} of→" if up else f"—{plain}→"
