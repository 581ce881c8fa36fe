"""Annotated sentences: the result of readers and parsers, and the input of views."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kernelwood.errors import StructureError
from kernelwood.structures import (
    Graph,
    NodeId,
    Tree,
    check_integer,
    check_label,
    count_leaves,
    shorten,
    without_empty_elements,
    words_and_tags,
)
from kernelwood.text.annotation import (
    ROOT,
    Attribute,
    Dependency,
    EmptyNode,
    Entity,
    Event,
    Metadata,
    Multiword,
    Predicate,
    Relation,
    Token,
    check_standoff,
    convert_parts,
    counted,
    replace_unchecked,
)

if TYPE_CHECKING:
    from kernelwood.text.displacy import DisplacyStyle


@dataclass(frozen=True, slots=True, repr=False)
class Sentence:
    """A sentence with its parse and annotation.

    Everything but the text is optional. Parts must be consistent with each other. Tokens,
    entities and so on may be plain tuples or lists, which are converted.

    Parameters
    ----------
    text : str
        The characters.
    tokens : iterable of Token
        The words in order.
    dependencies : iterable of Dependency
        ``(head, relation, dependent)`` over token indices; a token may have several heads or
        none. The head of a root is ``ROOT`` (-1).
    tree : Tree, optional
        Constituency tree; its leaves are the tokens.
    amr : Graph, optional
        Abstract meaning representation.
    alignments : iterable of (node id, token indices)
        Tokens aligned with a node of ``amr``.
    entities, relations, events, attributes : iterables
        Annotations with character offsets and ids.
    predicates : iterable of Predicate
        Semantic roles over token spans.
    enhanced : iterable of Dependency
        Enhanced dependencies; index ``len(tokens) + k`` is the empty node ``k``.
    empty : iterable of EmptyNode
        Words that are not in the text.
    multiwords : iterable of Multiword
        Tokens that are written as one word.
    metadata : iterable of (str, str or None)
        Comments of the file: key and value, or a comment and None.
    start : int
        Offset of the text in its document.

    Raises
    ------
    StructureError
        If a part has the wrong number or type of fields, an index or offset is out of range, an
        id is used twice, or a target does not exist.

    Examples
    --------
    >>> sentence = Sentence.from_words(["Raf", "binds", "Ras"], tags=["NN", "VBZ", "NN"])
    >>> sentence
    Sentence('Raf binds Ras', 3 tokens)
    >>> sentence.tokens[1]
    Token(text='binds', start=4, end=9, lemma='', pos='', tag='VBZ', features='', misc='')
    """

    text: str
    tokens: tuple[Token, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    tree: Tree | None = None
    amr: Graph | None = None
    alignments: tuple[tuple[NodeId, tuple[int, ...]], ...] = ()
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    events: tuple[Event, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    predicates: tuple[Predicate, ...] = ()
    enhanced: tuple[Dependency, ...] = ()
    empty: tuple[EmptyNode, ...] = ()
    multiwords: tuple[Multiword, ...] = ()
    metadata: Metadata = ()
    start: int = 0

    def __post_init__(self) -> None:
        if type(self.text) is not str:
            object.__setattr__(self, "text", check_label(self.text, "text of a sentence"))
        if not (self.tree is None or isinstance(self.tree, Tree)):
            raise _wrong_type("tree", Tree, self.tree)
        if not (self.amr is None or isinstance(self.amr, Graph)):
            raise _wrong_type("amr", Graph, self.amr)
        convert_parts(self, _LISTS)
        self._check_start()
        if self.tokens:
            self._check_tokens()
            self._check_tree()
        if self.dependencies or self.enhanced:
            self._check_dependencies()
        if self.predicates or self.multiwords or self.empty or self.alignments:
            self._check_token_ranges()
        if self.entities or self.relations or self.events or self.attributes:
            check_standoff(self.text, self.entities, self.relations, self.events, self.attributes)

    @classmethod
    def from_words(
        cls,
        words: Iterable[str],
        *,
        lemmas: Iterable[str] | None = None,
        tags: Iterable[str] | None = None,
        **parts: Any,
    ) -> Sentence:
        """Return a sentence whose text is the words joined by blanks.

        Parameters
        ----------
        words : iterable of str
            The word forms.
        lemmas, tags : iterable of str, optional
            One for each word.
        **parts
            Further parameters of `Sentence`.

        Examples
        --------
        >>> Sentence.from_words(["we", "go"], dependencies=[(1, "nsubj", 0)]).dependencies
        (Dependency(head=1, relation='nsubj', dependent=0),)
        """
        if isinstance(words, str):
            raise StructureError(
                f"words must be a list of strings, got {shorten(repr(words))}",
                hint="split the text first: text.split()",
            )
        forms = [check_label(form, f"word {place}") for place, form in enumerate(words)]
        tokens, position = [], 0
        for form, lemma, tag in zip(
            forms,
            _one_each(lemmas, forms, "lemmas"),
            _one_each(tags, forms, "tags"),
            strict=True,
        ):
            tokens.append(Token(form, position, position + len(form), lemma, "", tag))
            position += len(form) + 1
        return cls(" ".join(forms), tuple(tokens), **parts)

    @classmethod
    def from_tree(cls, tree: Tree, **parts: Any) -> Sentence:
        """Return a sentence whose words are the leaves of a constituency tree.

        Empty elements (below ``-NONE-``) are removed, with the constituents that contain nothing
        else.

        Examples
        --------
        >>> sentence = Sentence.from_tree(Tree.from_brackets("(S (NP (PRP we)) (VP (VBP go)))"))
        >>> [(token.text, token.tag) for token in sentence.tokens]
        [('we', 'PRP'), ('go', 'VBP')]
        """
        kept = without_empty_elements(tree)
        words, tags = words_and_tags(kept)
        return cls.from_words(words, tags=tags, tree=kept, **parts)

    @property
    def words(self) -> tuple[str, ...]:
        """The word forms."""
        return tuple(token.text for token in self.tokens)

    @property
    def triggers(self) -> tuple[Entity, ...]:
        """The entities that are triggers of events."""
        named = {event.trigger for event in self.events}
        return tuple(entity for entity in self.entities if entity.id in named)

    def tokens_of(self, entity: Entity) -> tuple[int, ...]:
        """Return the indices of the tokens that share a character with an entity.

        Examples
        --------
        >>> sentence = Sentence.from_words(["IL-2", "gene", "expression"])
        >>> sentence.tokens_of(Entity("T1", "gene", ((0, 9),)))
        (0, 1)
        """
        return self.token_finder()(entity)

    def token_finder(self) -> Callable[[Entity], tuple[int, ...]]:
        """Return `tokens_of` as a function that is faster for many entities."""
        tokens = self.tokens
        starts = [token.start for token in tokens]
        ends = [token.end for token in tokens]
        # Tokens may overlap, in words written as one, and be empty; most stand in order.
        ordered = starts == sorted(starts) and ends == sorted(ends)

        def find(entity: Entity) -> tuple[int, ...]:
            found: list[int] = []
            for start, end in entity.spans:
                first = bisect_right(ends, start) if ordered else 0
                last = bisect_left(starts, end) if ordered else len(tokens)
                found += [
                    index
                    for index in range(first, last)
                    if start < ends[index] > starts[index] < end
                ]
            return tuple(found if len(entity.spans) < 2 else sorted({*found}))

        return find

    def dependency_graph(self) -> Graph:
        """Return the dependencies as a graph of word forms; node ids are token indices.

        If the sentence has exactly one root, it is the root of the graph.

        Examples
        --------
        >>> sentence = Sentence.from_words(["we", "go"], dependencies=[(1, "nsubj", 0)])
        >>> sentence.dependency_graph().successors(1)
        (('nsubj', 0),)
        """
        roots = [edge.dependent for edge in self.dependencies if edge.head == ROOT]
        edges = [edge for edge in self.dependencies if edge.head != ROOT]
        root = roots[0] if len(roots) == 1 else None
        return Graph([(index, token.text) for index, token in enumerate(self.tokens)], edges, root)

    def with_parts(self, **parts: Any) -> Sentence:
        """Return a copy with some parts replaced.

        Examples
        --------
        >>> Sentence("we go").with_parts(metadata=[("source", "a letter")]).metadata
        (('source', 'a letter'),)
        """
        return replace(self, **parts)

    def _with(self, **parts: Any) -> Sentence:
        """Return a copy with valid parts replaced, without checks."""
        return replace_unchecked(self, parts)

    def _check_start(self) -> None:
        if type(self.start) is not int:
            object.__setattr__(self, "start", check_integer(self.start, "start of a sentence"))
        if self.start < 0:
            raise StructureError(
                f"a sentence cannot start at {self.start}", hint="offsets count characters from 0"
            )

    def _check_tokens(self) -> None:
        length = len(self.text)
        for index, token in enumerate(self.tokens):
            if not 0 <= token.start <= token.end <= length:
                raise StructureError(
                    f"token {index} ({shorten(repr(token.text))}) has the span "
                    f"[{token.start}, {token.end}), the text has {length} characters",
                    hint="offsets count characters from 0; the end is exclusive",
                )

    def _check_dependencies(self) -> None:
        n_tokens, n_empty = len(self.tokens), len(self.empty)
        for edges, limit in ((self.dependencies, n_tokens), (self.enhanced, n_tokens + n_empty)):
            for edge in edges:
                if not (ROOT <= edge.head < limit and 0 <= edge.dependent < limit):
                    nodes = "tokens and empty nodes" if limit > n_tokens else "tokens"
                    raise StructureError(
                        f"dependency {shorten(repr(tuple(edge)))} refers outside the "
                        f"{limit} {nodes}",
                        hint="token indices start at 0; the head of a root is -1",
                    )

    def _check_tree(self) -> None:
        if self.tree is not None:
            n_leaves = count_leaves(self.tree)
            if n_leaves != len(self.tokens):
                raise StructureError(
                    f"the tree has {n_leaves} leaves for {len(self.tokens)} tokens",
                    hint="Sentence.from_tree removes empty elements",
                )

    def _check_token_ranges(self) -> None:
        for place, predicate in enumerate(self.predicates):
            self._check_range(predicate.token, predicate.token + 1, f"predicate {place}")
            for role, start, end in predicate.arguments:
                self._check_range(start, end, f"role {shorten(repr(role))} of predicate {place}")
        for place, word in enumerate(self.multiwords):
            self._check_range(word.first, word.end, f"multiword {place}")
        for place, node in enumerate(self.empty):
            if node.after != -1:
                self._check_range(node.after, node.after + 1, f"position of empty node {place}")
        for name, indices in self.alignments:
            if self.amr is None or name not in self.amr.nodes:
                raise StructureError(
                    f"an alignment names {shorten(repr(name))}, which is not a node of the AMR"
                )
            for index in indices:
                self._check_range(index, index + 1, f"alignment of node {shorten(repr(name))}")

    def _check_range(self, start: int, end: int, what: str) -> None:
        if not 0 <= start < end <= len(self.tokens):
            raise StructureError(
                f"{what}: [{start}, {end}) is not a range of the {len(self.tokens)} tokens",
                hint="token indices start at 0; the end is exclusive",
            )

    def __repr__(self) -> str:
        parts = [counted(self.tokens, "tokens")]
        parts += [name for name in ("tree", "amr") if getattr(self, name) is not None]
        parts += [
            counted(getattr(self, name), name)
            for name in ("dependencies", "entities", "relations", "events", "predicates")
            if getattr(self, name)
        ]
        return f"Sentence({shorten(repr(self.text))}, {', '.join(parts)})"

    def to_displacy(self, style: DisplacyStyle = "ent") -> dict[str, Any]:
        """Return a dictionary for ``spacy.displacy.render(..., style=style, manual=True)``.

        Parameters
        ----------
        style : {"ent", "span", "dep"}
            Entities that do not overlap, all entities by tokens, or dependencies.

        Examples
        --------
        >>> sentence = Sentence.from_words(["we", "go"], dependencies=[(1, "nsubj", 0)])
        >>> sentence.to_displacy("dep")["arcs"]
        [{'start': 0, 'end': 1, 'label': 'nsubj', 'dir': 'left'}]
        """
        from kernelwood.text.displacy import displacy_object

        return displacy_object(self, style)

    def _repr_html_(self) -> str:
        from kernelwood.text.document_display import relations_html
        from kernelwood.text.sentence_display import sentence_html

        return sentence_html(self) + relations_html(self)


def _one_each(values: Iterable[str] | None, words: list[str], what: str) -> list[str]:
    listed = [""] * len(words) if values is None else list(values)
    if len(listed) != len(words):
        raise StructureError(f"there are {len(listed)} {what} for {len(words)} words")
    return listed


def _wrong_type(name: str, kind: type, value: object) -> StructureError:
    found = type(value).__name__
    return StructureError(f"{name} of a sentence must be a {kind.__name__}, got {found}")


_LISTS = tuple(name for name in Sentence.__slots__ if name not in ("text", "tree", "amr", "start"))
