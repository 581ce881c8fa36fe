"""Dictionary lookup of entities: a list of terms, found in text by longest match."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, TypeVar

from kernelwood.arrays import Flag, Named, Schema, Strings, Text, Whole
from kernelwood.entities.mentions import Mention, add_mentions, mention_entity
from kernelwood.entities.term_search import TermSearch
from kernelwood.errors import StructureError
from kernelwood.io import Line, Readable, Source, Tally, cycles_ignored
from kernelwood.structures import check_label, share, shorten, show
from kernelwood.text import Document, Entity, Sentence, Span, is_frame, is_missing

_A = TypeVar("_A", bound="Document | Sentence")
Case: TypeAlias = Literal["smart", "exact", "ignore"]

_CASES = ("smart", "exact", "ignore")
_MANY_LETTERS = 4  # shorter terms are often other words in another case
_MANY_ASCII = re.compile(f"(?:[^A-Za-z]*[A-Za-z]){{{_MANY_LETTERS}}}")
_INNER_CAPITAL = re.compile("[A-Za-z][A-Z]")
_SAVED_COLUMNS = ("terms", "types", "ids")
_COLUMNS = ("term", "type", "id")
_FORMS = (
    'give a file, {"Raf-1": "protein"}, {"protein": ["Raf-1"]}, [("Raf-1", "protein")], a '
    "DataFrame with the columns term and type, or a Dictionary"
)
_FORM = "write term<TAB>type, or term<TAB>type<TAB>id"


class Term(NamedTuple):
    """A term, its entity type, and its id in a database, if any."""

    term: str
    type: str
    id: str = ""


class Match(NamedTuple):
    """A term found in a text, and its span."""

    start: int
    end: int
    term: Term


class Dictionary:
    """A list of terms to find in texts: a gazetteer.

    Texts are searched from left to right for the longest term. Terms begin and end at token
    boundaries, and at a hyphen inside a token if it separates the term from another word: ``Raf``
    is found in ``Raf-dependent`` and ``Raf-Ras``, not in ``Raf-1``, ``Raf-β`` or ``Rafs``.

    Parameters
    ----------
    terms : iterable of (term, type) or (term, type, id)
        The id is from a database, such as ``"UniProt:P04049"``. The first of several equal terms
        is used; ``tally`` counts the others.
    case : {"smart", "exact", "ignore"}, default "smart"
        Case sensitivity. "smart" ignores case in terms of at least 4 letters whose words are in
        lower case or capitalized, such as *insulin* or *Sonic hedgehog*, and no others: *Ras*,
        *IMPACT* and *mTOR* must match exactly.
    variants : bool, default True
        Whether to match spelling variants: a blank, a hyphen or nothing between letters and digits
        (*IL-2*, *IL 2*, *IL2*), a blank or a hyphen between words, Greek letters or their names
        (*TNF-alpha*, *TNFα*). The number of blanks and the composition of accents never matter.

    Attributes
    ----------
    terms : tuple of Term
        The terms that are searched, in order.
    tally : Tally
        Number of terms used and skipped, with reasons.

    See Also
    --------
    Dictionary.read : Read terms from a file.

    Notes
    -----
    Terms are an automaton in the native core. Building takes time linear in the size of the terms.
    Searching takes time linear in the length of the text times the number of words in the longest
    term that partly matches.

    Examples
    --------
    >>> proteins = Dictionary([("Raf-1", "protein", "UniProt:P04049"), ("insulin", "hormone")])
    >>> [(entity.type, entity.text) for entity in proteins.find("Insulin activates Raf1.")]
    [('hormone', 'Insulin'), ('protein', 'Raf1')]
    """

    _saved: ClassVar[Schema] = {
        "case": Text(*_CASES),
        "variants": Flag(),
        "refused": Named(Whole(1)),
        **{name: Strings("columns") for name in _SAVED_COLUMNS},
    }

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
        other = isinstance(terms, (str, bytes, os.PathLike, Mapping)) or is_frame(terms)
        if other or not isinstance(terms, Iterable):
            raise StructureError(
                f"terms must be pairs of term and type, got {type(terms).__name__}",
                hint="Dictionary.of(terms) takes a file, a mapping or a DataFrame, too",
            )
        refused: Counter[str] = Counter()
        with cycles_ignored():
            rows = [_check_term(row, number) for number, row in enumerate(terms)]
            names = [row.term for row in rows]
            self._search = TermSearch(names, self._ignores_case, self.variants)
            placed = self._search.placed
            kept = [row for row, number in zip(rows, placed, strict=True) if number >= 0]
            for row, number in zip(rows, placed, strict=True):
                if number < 0:
                    refused[_why_refused(row, kept[-1 - number])] += 1
        self.terms = tuple(kept)
        self.tally = _tally(len(kept), refused)

    @classmethod
    def read(cls, path: Readable, *, case: Case = "smart", variants: bool = True) -> Dictionary:
        r"""Return the dictionary of a file of terms.

        A line has a term, its type and optionally its id, separated by tabs. Lines that begin
        with ``#`` are comments; the first row may be a header ``term<TAB>type<TAB>id``. The file
        is UTF-8 and may be compressed.

        Parameters
        ----------
        path : str, PathLike or stream
            The file, or ``"-"`` for standard input.
        case, variants
            As for `Dictionary`.

        Raises
        ------
        ReadError
            If a line is not UTF-8, does not have two or three columns, or has an empty one; or
            if there are no terms.
        OSError
            If the file is missing or cannot be read.

        Examples
        --------
        >>> import io
        >>> Dictionary.read(io.StringIO("Raf-1\tprotein\nRas\tprotein\n"))
        <Dictionary: 2 terms of 1 type>
        """
        with Source(path) as source:
            made = cls(_read_terms(source), case=case, variants=variants)
            if not made.terms:
                raise source.error(
                    "the file has no terms", hint="a line has a term, a tab, and a type of entity"
                )
        return made

    @classmethod
    def of(cls, terms: Any, *, case: Case = "smart", variants: bool = True) -> Dictionary:
        """Return the dictionary of terms given in any of several forms.

        Parameters
        ----------
        terms : path, mapping, DataFrame, iterable or Dictionary
            A file for `Dictionary.read`; a mapping of terms to types (``{"Raf-1": "protein"}``)
            or of types to lists of terms (``{"protein": ["Raf-1", "Ras"]}``): a string is a type,
            a list has terms; a DataFrame with the columns ``term``, ``type`` and optionally
            ``id``; pairs ``(term, type)`` or triples ``(term, type, id)``. A `Dictionary` is
            returned unchanged.
        case, variants
            As for `Dictionary`.

        Raises
        ------
        StructureError
            If the terms have another form, or the file does not exist.
        ReadError
            If the file cannot be read.

        Examples
        --------
        >>> Dictionary.of({"Raf-1": "protein", "insulin": "hormone"})
        <Dictionary: 2 terms of 2 types>
        >>> Dictionary.of({"protein": ["Raf-1", "Ras"]})
        <Dictionary: 2 terms of 1 type>
        """
        if isinstance(terms, Dictionary):
            return terms
        if isinstance(terms, (str, os.PathLike)) or hasattr(terms, "readline"):
            try:
                return cls.read(terms, case=case, variants=variants)
            except FileNotFoundError:
                raise StructureError(
                    f"the file of terms {show(terms)} does not exist", hint=_FORMS
                ) from None
        if isinstance(terms, Mapping):
            rows: Any = _terms_of_mapping(terms)
        elif is_frame(terms):
            rows = _terms_of_frame(terms)
        elif isinstance(terms, (bytes, set, frozenset)) or not isinstance(terms, Iterable):
            raise StructureError(
                f"terms cannot be {show(terms)} of type {type(terms).__name__}", hint=_FORMS
            )
        else:
            rows = terms
        return cls(rows, case=case, variants=variants)

    @classmethod
    def _selected(cls, terms: Iterable[Term], refused: Mapping[str, int]) -> Dictionary:
        """Return the dictionary of some of the terms of a list, and count the others."""
        made = cls(terms)
        made.tally = _tally(len(made.terms), Counter(made.tally.reasons) + Counter(refused))
        return made

    def find(self, text: str) -> list[Entity]:
        """Return the terms in a text as entities ``T1``, ``T2``, ... in the order of the text.

        Examples
        --------
        >>> Dictionary([("Ras", "protein")]).find("Ras-like GTPases")
        [Entity(id='T1', type='protein', spans=((0, 3),), text='Ras')]
        """
        found = self.matches(text)
        return [
            mention_entity(f"T{number}", text, start, end, term.type)
            for number, (start, end, term) in enumerate(found, start=1)
        ]

    def not_found(self) -> str:
        """Return the message for texts without any of the terms.

        Examples
        --------
        >>> print(Dictionary([("protein", "Raf")]).not_found().partition(";")[0])
        no term of the list (such as 'protein') occurs in the texts
        """
        first = f" (such as {self.terms[0].term!r})" if self.terms else ""
        return (
            f"no term of the list{first} occurs in the texts; its first column is the term, its "
            "second the type"
        )

    def matches(self, text: str, taken: Iterable[Span] = ()) -> Iterator[Match]:
        """Yield the terms in a text, each with its span.

        Parameters
        ----------
        text : str
            Any text.
        taken : iterable of (start, end)
            Spans that terms must not overlap.

        Yields
        ------
        Match
            In the order of the text, not overlapping.
        """
        if not isinstance(text, str):
            raise StructureError(f"the text must be a string, got {type(text).__name__}")
        terms = self.terms
        for start, end, number in self._search.find(text, taken):
            yield Match(start, end, terms[number])

    def annotate(self, document: _A) -> _A:
        r"""Return a document or sentence with entities for the terms that overlap no entity.

        The ids are ``T1``, ``T2``, ..., if not in use. The database id of a term becomes an
        attribute as in standoff normalizations, with the type ``"Reference"`` and the value
        ``id<TAB>term``.

        Parameters
        ----------
        document : Document or Sentence
            The text to search.

        Returns
        -------
        Document or Sentence
            A copy; new entities follow the existing ones.

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
        taken = (span for entity in document.entities for span in entity.spans)
        return add_mentions(document, self._mentions(document.text, taken))

    def _mentions(self, text: str, taken: Iterable[Span] = ()) -> Iterator[Mention]:
        """Yield the terms in a text as mentions, with their ids as references."""
        for start, end, term in self.matches(text, taken):
            reference = f"{term.id}\t{term.term}" if term.id else ""
            yield Mention(start, end, term.type, None, reference)

    def _ignores_case(self, term: str) -> bool:
        if self.case != "smart":
            return self.case == "ignore"
        if term.isascii():
            return _MANY_ASCII.match(term) is not None and _INNER_CAPITAL.search(term) is None
        if sum(map(str.isalpha, term)) < _MANY_LETTERS:
            return False
        return not any(b.isupper() and a.isalpha() for a, b in pairwise(term))

    def _to_saved(self) -> tuple[dict[str, Any], dict[str, list[str]], dict[str, Any]]:
        """Return parameters, the terms in columns, and no arrays."""
        columns = zip(*self.terms, strict=True) if self.terms else ((), (), ())
        parameters = {"case": self.case, "variants": self.variants}
        counts = {"refused": dict(self.tally.reasons)}
        return parameters | counts, dict(zip(_SAVED_COLUMNS, map(list, columns), strict=True)), {}

    @classmethod
    def _from_saved(
        cls, parameters: dict[str, Any], texts: dict[str, list[str]], arrays: dict[str, Any]
    ) -> Dictionary:
        """Return the dictionary of parts that are as declared, the inverse of `_to_saved`."""
        terms = zip(*(texts[name] for name in _SAVED_COLUMNS), strict=True)
        made = cls(terms, case=parameters["case"], variants=parameters["variants"])
        made.tally = _tally(len(made.terms), parameters["refused"])
        return made

    def __len__(self) -> int:
        return len(self.terms)

    def __reduce__(self) -> tuple[object, ...]:
        # The automaton is made again.
        return (Dictionary._from_saved, self._to_saved())

    def __repr__(self) -> str:
        n_types = len({term.type for term in self.terms})
        return (
            f"<Dictionary: {len(self):,} term{'s' * (len(self) != 1)} of {n_types:,} "
            f"type{'s' * (n_types != 1)}>"
        )


def _why_refused(term: Term, earlier: Term) -> str:
    if term.type != earlier.type:
        return "term that is listed before with another type"
    if term.id != earlier.id:
        return "term that is listed before with another id"
    return "term that is listed before"


def _tally(n_terms: int, refused: Mapping[str, int]) -> Tally:
    return Tally(read=n_terms, skipped=sum(refused.values()), reasons=dict(refused))


def _read_terms(source: Source) -> Iterator[Term]:
    """Yield the terms of a file, without blank lines, comments and a header."""
    first = True
    for line in source.lines():
        if line.problem is not None:
            raise line.problem
        if line.text.startswith("#") or not line.text.strip():
            continue
        columns = tuple([column.strip() for column in line.text.rstrip(" \t").split("\t")])
        if not (first and _is_header(columns)):
            yield _term(source, line, columns)
        first = False


def _is_header(columns: tuple[str, ...]) -> bool:
    names = tuple(column.lower() for column in columns)
    return len(names) > 1 and names == _COLUMNS[: len(names)]


def _term(source: Source, line: Line, columns: tuple[str, ...]) -> Term:
    if not 2 <= len(columns) <= len(_COLUMNS):
        raise source.error(
            f"expected 2 or 3 columns, found {len(columns)}",
            line=line.number,
            column=1,
            snippet=line.text,
            hint=f"{_FORM}; columns are separated by tabs",
        )
    for name, column in zip(_COLUMNS, columns, strict=False):
        if not column:
            raise source.error(
                f"the {name} is empty",
                line=line.number,
                column=1,
                snippet=line.text,
                hint=_FORM,
            )
    return Term(*columns)


def _terms_of_mapping(terms: Mapping[Any, Any]) -> Iterator[tuple[Any, ...]]:
    for name, value in terms.items():
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, (list, tuple)):
            for term in value:
                yield term, name
        else:
            raise StructureError(
                f"the terms have {show(value)} of type {type(value).__name__} at {show(name)}",
                hint='map terms to types, {"Raf-1": "protein"}, or types to lists of terms, '
                '{"protein": ["Raf-1"]}',
            )


def _terms_of_frame(frame: Any) -> Iterator[tuple[Any, ...]]:
    names = [str(name) for name in frame.columns]
    for name in _COLUMNS[:2]:
        if name not in names:
            raise StructureError(
                f"the DataFrame of terms has no column {name!r}; it has {', '.join(names)}",
                hint="name the columns term, type and, if there are ids, id",
            )
    columns = [frame[name].to_list() for name in _COLUMNS if name in names]
    for term, kind, *ids in zip(*columns, strict=True):
        known = [value for value in ids if not is_missing(value)]
        # Columns of numbers with missing values are floats.
        whole = [
            int(value) if isinstance(value, float) and value.is_integer() else value
            for value in known
        ]
        yield (term, kind, *map(str, whole))


def _check_term(given: object, number: int) -> Term:
    """Return row ``number`` of the terms, after checking its fields."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise _bad_row(given, number)
    row = tuple(given)
    if len(row) not in (2, 3):
        raise _bad_row(given, number)
    for name, part in zip(_COLUMNS, row, strict=False):
        if type(part) is not str:
            check_label(part, f"the {name} in row {number} of the terms")
    # Line ends and repeated blanks become single blanks.
    columns = [part if part.isalnum() else " ".join(part.split()) for part in row]
    if not (columns[0] and columns[1]):
        raise _bad_row(given, number)
    columns[1] = share(columns[1])
    return Term(*columns)


def _bad_row(given: object, number: int) -> StructureError:
    return StructureError(
        f"row {number} of the terms is {shorten(repr(given))}",
        hint='write a term, a type and optionally an id: ("Raf-1", "protein", "UniProt:P04049")',
    )
