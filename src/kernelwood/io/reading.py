"""``read`` and ``iter_read``: one way in for every format."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kernelwood.errors import ReadError
from kernelwood.io.formats import Format, Views, find_format, recognize
from kernelwood.io.source import Closing, Item, Readable, Source
from kernelwood.structures import Example

__all__ = ["ErrorPolicy", "ExampleStream", "Examples", "Tally", "iter_read", "read"]

ErrorPolicy: TypeAlias = Literal["raise", "skip", "collect"]

_POLICIES = ("raise", "skip", "collect")
_PROBLEM_LIMIT = 1000
_PARTICULARS = re.compile(r"""'[^']*'|"[^"]*"|\b0x[0-9a-f]+|\b\d+""")


@dataclass(frozen=True)
class Tally:
    """What became of the parts of a file.

    Attributes
    ----------
    read : int
        Examples delivered.
    skipped : int
        Broken parts left out.
    reasons : mapping of str to int
        How many parts were left out for which reason; names and numbers in a reason are
        replaced by an ellipsis so that alike problems count together.
    problems : tuple of ReadError
        The first 1,000 problems, kept only with ``errors="collect"``.

    Examples
    --------
    >>> Tally(read=7, skipped=2, reasons={"bracket is never closed": 2})
    <Tally: 7 read, 2 skipped (2 × bracket is never closed)>
    """

    read: int = 0
    skipped: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict, hash=False)
    problems: tuple[ReadError, ...] = field(default=(), hash=False)

    def __repr__(self) -> str:
        why = "; ".join(f"{count} × {reason}" for reason, count in self.reasons.items())
        return f"<Tally: {self.read} read, {self.skipped} skipped{f' ({why})' if why else ''}>"


class Examples(list[Example]):
    """A list of examples that remembers how the reading went in :attr:`tally`."""

    tally: Tally

    def __init__(self, examples: Iterable[Example] = (), tally: Tally | None = None) -> None:
        super().__init__(examples)
        self.tally = Tally(read=len(self)) if tally is None else tally

    def __repr__(self) -> str:
        return f"<Examples: {len(self)}, {self.tally.skipped} skipped>"


class ExampleStream(Closing, Iterator[Example]):
    """Examples one at a time; made by :func:`iter_read`.

    Use it in a ``for`` loop, or in a ``with`` block when the loop may end early.
    """

    def __init__(
        self, path: Readable, format: str | None, errors: ErrorPolicy, views: Iterable[str] | None
    ) -> None:
        if errors not in _POLICIES:
            raise ValueError(f"errors must be one of {', '.join(_POLICIES)}; got {errors!r}")
        form = None if format is None else find_format(format)
        self._errors = errors
        self._read = 0
        self._reasons: Counter[str] = Counter()
        self._problems: list[ReadError] = []
        self._source = Source(path)
        try:
            self._items = _open_items(self._source, form, views)
        except BaseException:
            self.close()
            raise

    @property
    def tally(self) -> Tally:
        """The count so far; final when the stream is exhausted."""
        skipped = sum(self._reasons.values())
        return Tally(self._read, skipped, dict(self._reasons), tuple(self._problems))

    def __next__(self) -> Example:
        while True:
            try:
                item = next(self._items)
            except ReadError as problem:  # the reader cannot go on, whatever it says if asked
                self._items = iter(())
                self._refuse(problem)
            except BaseException:  # the end among them
                self.close()
                raise
            else:
                if isinstance(item, Example):
                    self._read += 1
                    return item
                self._refuse(item)

    def _refuse(self, problem: ReadError) -> None:
        if self._errors == "raise":
            self.close()
            raise problem
        self._reasons[_PARTICULARS.sub("…", problem.problem)] += 1
        if self._errors == "collect" and len(self._problems) < _PROBLEM_LIMIT:
            self._problems.append(problem)

    def close(self) -> None:
        """End the stream and close its file, if it was opened here."""
        self._items = iter(())
        self._source.close()


def iter_read(
    path: Readable,
    format: str | None = None,
    errors: ErrorPolicy = "raise",
    *,
    views: Iterable[str] | None = None,
) -> ExampleStream:
    """Read examples one at a time, for files larger than memory.

    Takes what :func:`read` takes. The file is opened at once, so a missing one is reported here
    and not in the loop; ``stream.tally`` counts along.

    Returns
    -------
    ExampleStream
        An iterator over examples with a ``tally``.

    Examples
    --------
    >>> import io
    >>> stream = iter_read(io.StringIO("(S (NP we) (VP go))"), format="penn")
    >>> [example.id for example in stream], stream.tally.read
    (['stream:1'], 1)
    """
    return ExampleStream(path, format, errors, views)


def read(
    path: Readable,
    format: str | None = None,
    errors: ErrorPolicy = "raise",
    *,
    views: Iterable[str] | None = None,
) -> Examples:
    r"""Read all examples of a file.

    Parameters
    ----------
    path : str, PathLike or stream
        A file, ``"-"`` for standard input, or an open text or binary stream. Gzip data is
        recognized by its first bytes.
    format : str, optional
        A name from :data:`~kernelwood.io.FORMATS`. When left out, the suffix decides, and the
        content when the suffix is unknown.
    errors : {"raise", "skip", "collect"}
        What to do with a broken part: raise a ``ReadError``, leave it out and count it, or leave
        it out and keep the error in ``tally.problems`` as well.
    views : iterable of str, optional
        Parse these views only, which saves time when a file holds many.

    Returns
    -------
    kernelwood.io.Examples
        A list with a ``tally``.

    Raises
    ------
    ReadError
        With file, line and column, when a part is broken and ``errors="raise"``; also when the
        format cannot be told.
    OSError
        When the file is missing, is a folder or cannot be read.
    ValueError
        When an argument is not valid.

    Examples
    --------
    >>> import io
    >>> examples = read(io.StringIO("(S (NP we) (VP go))\n(S (NP it\n"), errors="skip")
    >>> examples[0].views["tree"].label
    'S'
    >>> examples.tally.read, examples.tally.skipped
    (1, 1)
    """
    with iter_read(path, format, errors, views=views) as stream:
        examples = list(stream)
        return Examples(examples, stream.tally)


def _open_items(source: Source, form: Format | None, views: Iterable[str] | None) -> Iterator[Item]:
    form = recognize(source) if form is None else form
    if form is None:
        return iter(())
    wanted: Views = None
    if views is not None:
        wanted = (views,) if isinstance(views, str) else tuple(views)
        missing = [name for name in wanted if form.views is not None and name not in form.views]
        if missing and form.views is not None:
            raise ValueError(
                f"the {form.name} format has no view {missing[0]!r}; it has {', '.join(form.views)}"
            )
    return form.read(source, wanted)
