"""Entities by a list of terms."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count, pairwise
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from kernelwood.entities.dictionary_file import Term, check_term, read_terms
from kernelwood.entities.dictionary_pieces import Pieces, cut_pieces
from kernelwood.errors import ModelFormatError, StructureError
from kernelwood.io import Readable, Source, Tally, cycles_ignored, in_one_line
from kernelwood.text import Attribute, Document, Entity, Sentence, Span

_A = TypeVar("_A", bound="Document | Sentence")

__all__ = ["Case", "Dictionary", "Match", "Term"]

Case: TypeAlias = Literal["smart", "exact", "ignore"]

_CASES = ("smart", "exact", "ignore")
_MANY_LETTERS = 4  # a term with so many is hardly another word in other case
_INNER_CAPITAL = re.compile("[A-Za-z][A-Z]")
_COLUMNS = ("terms", "types", "ids")

# Where a term can go on and end. A node has the next ones by the folded text of a piece. The number
# of a term that ends here is found by the pieces as they are written, or by None where case does
# not count; "" says that there is one of the former.
_Node: TypeAlias = dict["str | tuple[str, ...] | None", Any]


class Match(NamedTuple):
    """A term in a text: its first character, the place after its last one, and the term."""

    start: int
    end: int
    term: Term


class Dictionary:
    """Terms to be found in texts: a gazetteer.

    From left to right, the longest term that stands at a place is taken. Terms begin and end where
    tokens do, and at a hyphen inside a token if another word stands on its other side: ``Raf`` is
    found in ``Raf-dependent`` and ``Raf-Ras``, not in ``Raf-1``, ``Raf-β`` or ``Rafs``.

    Parameters
    ----------
    terms : iterable of (term, type) or (term, type, id)
        The id is that of a database, such as ``"UniProt:P04049"``. Of terms that are the same, the
        first counts; the others are counted in ``tally``.
    case : {"smart", "exact", "ignore"}, default "smart"
        Whether capitals matter. "smart": not for terms with at least 4 letters whose words are
        in lower case or only begin with a capital, such as *insulin* or *Sonic hedgehog*; they do
        for all others, such as *Ras*, *IMPACT* or *mTOR*.
    variants : bool, default True
        Whether a blank, a hyphen and nothing are the same between letters and digits (*IL-2*,
        *IL 2* and *IL2*), a blank and a hyphen between words, and Greek letters the same as their
        names (*TNF-alpha* and *TNFα*). Blanks are the same however many they are, and so are
        composed and decomposed accents, in any case.

    Attributes
    ----------
    terms : tuple of Term
        Those that can be found, in order.
    tally : Tally
        How many were taken, and how many not, with reasons.

    See Also
    --------
    Dictionary.read : terms from a file.

    Notes
    -----
    Time is linear in the terms, and for a text in its length times the number of words in the
    longest term that begins with words of the text.

    Examples
    --------
    >>> proteins = Dictionary([("Raf-1", "protein", "UniProt:P04049"), ("insulin", "hormone")])
    >>> [(entity.type, entity.text) for entity in proteins.find("Insulin activates Raf1.")]
    [('hormone', 'Insulin'), ('protein', 'Raf1')]
    """

    def __init__(
        self,
        terms: Iterable[tuple[str, str] | tuple[str, str, str]],
        *,
        case: Case = "smart",
        variants: bool = True,
    ) -> None:
        if case not in _CASES:
            raise ValueError(f"case must be one of {', '.join(_CASES)}; got {case!r}")
        self.case = case
        self.variants = bool(variants)
        self._start: _Node = {}
        kept: list[Term] = []
        refused: Counter[str] = Counter()
        with cycles_ignored():
            for number, given in enumerate(terms):
                term = check_term(given, number)
                node, key = self._place(term)
                earlier = node.get(None, node.get(key))
                if earlier is None:
                    node[key] = len(kept)
                    kept.append(term)
                else:
                    refused[_why_refused(term, kept[earlier])] += 1
        self.terms = tuple(kept)
        self.tally = _tally(len(kept), refused)

    @classmethod
    def read(cls, path: Readable, *, case: Case = "smart", variants: bool = True) -> Dictionary:
        r"""Read a file of terms.

        A line has the term, its type, and perhaps its id, separated by tabs. Lines that begin
        with ``#`` are comments; the first row may be a header ``term<TAB>type<TAB>id``. The text
        is UTF-8, and may be compressed.

        Parameters
        ----------
        path : str, PathLike or stream
            The file, or ``"-"`` for standard input.
        case, variants
            As for `Dictionary`.

        Raises
        ------
        ReadError
            With the line, if it has other columns; or if there are no terms.
        OSError
            If the file is missing or cannot be read.

        Examples
        --------
        >>> import io
        >>> Dictionary.read(io.StringIO("Raf-1\tprotein\nRas\tprotein\n"))
        <Dictionary: 2 terms of 1 type>
        """
        with Source(path) as source:
            made = cls(read_terms(source), case=case, variants=variants)
            if not made.terms:
                raise source.error(
                    "there are no terms", hint="a line has a term, a tab, and a type of entity"
                )
        return made

    def find(self, text: str) -> list[Entity]:
        """Return the terms in a text as entities ``T1``, ``T2``, ... in the order of the text.

        Examples
        --------
        >>> Dictionary([("Ras", "protein")]).find("Ras-like GTPases")
        [Entity(id='T1', type='protein', spans=((0, 3),), text='Ras')]
        """
        found = self.matches(text)
        return [_entity(f"T{number}", text, match) for number, match in enumerate(found, start=1)]

    def matches(self, text: str, taken: Iterable[Span] = ()) -> Iterator[Match]:
        """Yield the terms in a text, each with its place and its row in the dictionary.

        Parameters
        ----------
        text : str
            Any text.
        taken : iterable of (start, end)
            Characters in which no term is looked for.

        Yields
        ------
        Match
            In the order of the text; none overlaps another, or what is taken.
        """
        if not isinstance(text, str):
            raise StructureError(f"the text must be a string, got {type(text).__name__}")
        cut = cut_pieces(text, self.variants)
        room = _Room(taken, len(text))
        place, n_pieces = 0, len(cut.pieces)
        while place < n_pieces:
            piece = cut.pieces[place]
            if piece.begins and piece.folded in self._start:
                end, term = self._longest(cut, place, room)
                if term is not None:
                    yield Match(*cut.span(place, end), term)
                    place = end
                    continue
            place += 1

    def annotate(self, document: _A) -> _A:
        r"""Add the terms in a document or sentence that do not overlap its entities.

        The ids are ``T1``, ``T2``, ..., as far as they are free. The id in the database becomes an
        attribute, as standoff normalizations do: its type is ``"Reference"``, its value the id,
        a tab, and the term as it is listed.

        Parameters
        ----------
        document : Document or Sentence
            With or without entities.

        Returns
        -------
        Document or Sentence
            The entities that were found follow those that were there.

        Examples
        --------
        >>> document = Document("Raf-1 binds Ras.", [Entity("T1", "gene", ((12, 15),), "Ras")])
        >>> listed = Dictionary([("Raf-1", "protein", "UniProt:P04049"), ("Ras", "protein")])
        >>> annotated = listed.annotate(document)
        >>> [(entity.id, entity.type, entity.text) for entity in annotated.entities]
        [('T1', 'gene', 'Ras'), ('T2', 'protein', 'Raf-1')]
        >>> annotated.attributes
        (Attribute(id='N1', type='Reference', target='T2', value='UniProt:P04049\tRaf-1'),)
        """
        parts = (document.entities, document.relations, document.events, document.attributes)
        used = {part.id for listed in parts for part in listed}
        names, references = _free_names("T", used), _free_names("N", used)
        entities: list[Entity] = []
        attributes: list[Attribute] = []
        taken = (span for entity in document.entities for span in entity.spans)
        for match in self.matches(document.text, taken):
            entities.append(_entity(next(names), document.text, match))
            if match.term.id:
                value = f"{match.term.id}\t{match.term.term}"
                attributes.append(Attribute(next(references), "Reference", entities[-1].id, value))
        return replace(
            document,
            entities=(*document.entities, *entities),
            attributes=(*document.attributes, *attributes),
        )

    def _place(self, term: Term) -> tuple[_Node, tuple[str, ...] | None]:
        """Return the node where a term ends, and its key there."""
        node = self._start
        pieces = cut_pieces(term.term, self.variants).pieces
        for piece in pieces:
            following = node.get(piece.folded)
            if following is None:
                following = node[piece.folded] = {}
            node = following
        if self._ignores_case(term.term):
            return node, None
        node[""] = True
        return node, tuple([piece.written for piece in pieces])

    def _ignores_case(self, term: str) -> bool:
        if self.case != "smart":
            return self.case == "ignore"
        if sum(map(str.isalpha, term)) < _MANY_LETTERS:
            return False
        if term.isascii():
            return _INNER_CAPITAL.search(term) is None
        return not any(b.isupper() and a.isalpha() for a, b in pairwise(term))

    def _longest(self, cut: Pieces, first: int, room: _Room) -> tuple[int, Term | None]:
        """Return the longest term that begins with a piece, and the piece after its last one."""
        limit = room.limit(cut.span(first, first + 1)[0])
        node = self._start
        ends: list[tuple[int, _Node]] = []
        for place in range(first, len(cut.pieces)):
            piece = cut.pieces[place]
            if piece.folded not in node or cut.tokens[place] + piece.end > limit:
                break
            node = node[piece.folded]
            if piece.ends and (None in node or "" in node):
                ends.append((place + 1, node))
        for end, node in reversed(ends):
            written = tuple([piece.written for piece in cut.pieces[first:end]])
            numbers = [node[key] for key in (None, written) if key in node]
            if numbers:
                return end, self.terms[min(numbers)]
        return first, None

    def _to_saved(self) -> tuple[dict[str, Any], dict[str, list[str]], dict[str, Any]]:
        """Return the constructor's parameters, the terms in columns, and no arrays."""
        columns = zip(*self.terms, strict=True) if self.terms else ((), (), ())
        parameters = {"case": self.case, "variants": self.variants}
        counts = {"refused": dict(self.tally.reasons)}
        return parameters | counts, dict(zip(_COLUMNS, map(list, columns), strict=True)), {}

    @classmethod
    def _from_saved(
        cls, parameters: dict[str, Any], texts: dict[str, list[str]], arrays: dict[str, Any]
    ) -> Dictionary:
        """Return what `_to_saved` took apart.

        Raises
        ------
        ModelFormatError
            If a part is missing, unknown or of the wrong kind.
        """
        _check_saved(parameters, texts, arrays)
        terms = zip(*(texts[name] for name in _COLUMNS), strict=True)
        made = cls(terms, case=parameters["case"], variants=parameters["variants"])
        made.tally = _tally(len(made.terms), parameters["refused"])
        return made

    def __len__(self) -> int:
        return len(self.terms)

    def __reduce__(self) -> tuple[object, ...]:
        # The nodes may be nested deeper than copying could follow.
        return (Dictionary._from_saved, self._to_saved())

    def __repr__(self) -> str:
        n_types = len({term.type for term in self.terms})
        return (
            f"<Dictionary: {len(self):,} term{'s' * (len(self) != 1)} of {n_types:,} "
            f"type{'s' * (n_types != 1)}>"
        )


class _Room:
    """What is free in a text between spans that are taken."""

    def __init__(self, taken: Iterable[Span], length: int) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(taken):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)
        self._length = length

    def limit(self, place: int) -> int:
        """Return where the free characters from a place on end."""
        following = bisect_right(self._ends, place)
        return self._starts[following] if following < len(self._starts) else self._length


def _why_refused(term: Term, earlier: Term) -> str:
    if term.type != earlier.type:
        return "term that is listed before with another type"
    if term.id != earlier.id:
        return "term that is listed before with another id"
    return "term that is listed before"


def _tally(n_terms: int, refused: Mapping[str, int]) -> Tally:
    return Tally(read=n_terms, skipped=sum(refused.values()), reasons=dict(refused))


def _entity(name: str, text: str, match: Match) -> Entity:
    written = text[match.start : match.end]
    if not written.isprintable():
        written = in_one_line(written)
    return Entity(name, match.term.type, ((match.start, match.end),), written)


def _free_names(letter: str, used: set[str]) -> Iterator[str]:
    return (name for name in map(f"{letter}{{}}".format, count(1)) if name not in used)


def _check_saved(
    parameters: Mapping[str, Any], texts: Mapping[str, list[str]], arrays: Mapping[str, Any]
) -> None:
    if set(parameters) != {"case", "variants", "refused"} or set(texts) != {*_COLUMNS} or arrays:
        raise ModelFormatError("the parts are not those of a dictionary")
    if parameters["case"] not in _CASES or type(parameters["variants"]) is not bool:
        raise ModelFormatError("case or variants is none of the choices of a dictionary")
    refused = parameters["refused"]
    if type(refused) is not dict or not all(
        type(reason) is str and type(times) is int and times > 0
        for reason, times in refused.items()
    ):
        raise ModelFormatError("what was refused is no count by reason")
    if len({len(column) for column in texts.values()}) > 1:
        raise ModelFormatError("the columns of the terms are not of the same length")
