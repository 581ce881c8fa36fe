"""Backend of the bundled dependency parser: tags, lemmas and dependencies, no trees."""

from __future__ import annotations

from collections.abc import Sequence as Listing
from functools import partial

from kernelwood.parsing.backends import with_tokens
from kernelwood.parsing.bundled import load_dependency_parser, parser_version
from kernelwood.parsing.lemmas import lemma_of
from kernelwood.parsing.units import find_units, parse_inside, unit_words
from kernelwood.text import ROOT, Dependency, Sentence, Token

_BATCH = 256  # sentences parsed together
_MOST_LEMMAS = 100_000

_token = partial(tuple.__new__, Token)
_dependency = partial(tuple.__new__, Dependency)


class DependencyBackend:
    """Parts of speech, lemmas and dependencies from the bundled dependency parser.

    Tokens, lemmas and relations are those of `GrammarBackend`, which is slower and makes trees,
    too; the dependencies are a projective tree of the same kind. The time is linear in the length
    of a sentence, so sentences of any length are parsed as a whole.

    Parameters
    ----------
    name : {"biomedical-dependencies"}
        Name of the parser.
    n_jobs : int or None, default None
        Threads; None for the setting, -1 for all cores. Has no effect on the result.

    Attributes
    ----------
    name, version : str
        Name and version of the parser.

    Examples
    --------
    >>> from kernelwood.text import Document
    >>> backend = DependencyBackend()
    >>> [sentence] = backend.parse(Document("ERK is activated by MEK.").sentences())
    >>> [(token.lemma, token.tag) for token in sentence.tokens][1:3]
    [('be', 'VBZ'), ('activate', 'VBN')]
    >>> sentence.dependencies[0]
    Dependency(head=2, relation='nsubjpass', dependent=0)
    """

    def __init__(self, name: str = "biomedical-dependencies", *, n_jobs: int | None = None) -> None:
        self.name = name
        self.version = parser_version(name)
        self.n_jobs = n_jobs
        self._parser = load_dependency_parser(name)
        self._nouns, self._verbs = map(frozenset, (self._parser.nouns_, self._parser.verbs_))
        self._lemmas: dict[tuple[str, str], str] = {}

    def __repr__(self) -> str:
        return f"DependencyBackend({self.name!r})"

    def parse(self, sentences: Listing[Sentence]) -> list[Sentence]:
        """Return the sentences with tags, lemmas and dependencies."""
        parsed: list[Sentence] = []
        for begin in range(0, len(sentences), _BATCH):
            batch = [with_tokens(sentence) for sentence in sentences[begin : begin + _BATCH]]
            units = [find_units(sentence) for sentence in batch]
            words = [unit_words(*pair) for pair in zip(batch, units, strict=True)]
            starts, tags, heads, relations = self._parser.parse_numbers(words, n_jobs=self.n_jobs)
            for at, (sentence, found) in enumerate(zip(batch, units, strict=True)):
                place = slice(starts[at], starts[at + 1])
                names = [self._parser.tags_[tag] for tag in tags[place]]
                parsed.append(self._fill(sentence, found, names, heads[place], relations[place]))
        return parsed

    def _fill(
        self,
        sentence: Sentence,
        units: list[range],
        tags: list[str],
        heads: list[int],
        relations: list[int],
    ) -> Sentence:
        if not units:
            return sentence
        names = list(map(self._parser.relations_.__getitem__, relations))
        if len(units) == len(sentence.tokens):
            edges = map(_dependency, zip(heads, names, range(len(heads)), strict=True))
            return self._with(sentence, tags, tuple(edges))
        return self._with(sentence, *_expand(sentence, units, tags, heads, names))

    def _with(self, sentence: Sentence, tags: list[str], edges: tuple[Dependency, ...]) -> Sentence:
        lemmas = self._lemmas
        tokens = []
        for token, tag in zip(sentence.tokens, tags, strict=True):
            text, start, end, _, pos, _, features, misc = token
            lemma = lemmas.get((text, tag))
            if lemma is None:
                lemma = self._find_lemma(text, tag)
            tokens.append(_token((text, start, end, lemma, pos, tag, features, misc)))
        # A tree that was given is not that of these dependencies.
        return sentence._with(tokens=tuple(tokens), tree=None, dependencies=edges)

    def _find_lemma(self, text: str, tag: str) -> str:
        known = self._verbs if tag.startswith("V") else self._nouns
        lemma = lemma_of(text, tag, known.__contains__)
        if len(self._lemmas) < _MOST_LEMMAS:
            self._lemmas[text, tag] = lemma
        return lemma


def _expand(
    sentence: Sentence, units: list[range], tags: list[str], heads: list[int], names: list[str]
) -> tuple[list[str], tuple[Dependency, ...]]:
    """Return the parts of speech and the dependencies of tokens from those of units."""
    inside = [
        parse_inside(tag, [sentence.tokens[at].text for at in unit]) if len(unit) > 1 else None
        for tag, unit in zip(tags, units, strict=True)
    ]
    stands = [
        unit[0] if part is None else unit[part.head]
        for unit, part in zip(units, inside, strict=True)
    ]
    of_tokens: list[str] = []
    edges: list[Dependency] = []
    for unit, part, tag, head, name in zip(units, inside, tags, heads, names, strict=True):
        above = ROOT if head < 0 else stands[head]
        if part is None:
            of_tokens.append(tag)
            edges.append(_dependency((above, name, unit[0])))
            continue
        of_tokens += part.tags
        first = unit[0]
        for own, relation, at in part.edges:
            outer = own == ROOT
            edges.append(
                _dependency(
                    (above if outer else first + own, name if outer else relation, first + at)
                )
            )
    return of_tokens, tuple(edges)
