"""``read`` and ``iter_read``, for every format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernelwood.io.containers.limits import Limits
from kernelwood.io.formats.table import find_format
from kernelwood.io.inputs import open_input
from kernelwood.io.selection import view_names
from kernelwood.io.source import Readable
from kernelwood.io.streams import ErrorPolicy, ReadList, ReadStream, check_policy, cycles_ignored
from kernelwood.text import Example


class Examples(ReadList[Example]):
    """A list of examples with the counts of their reading in :attr:`tally`."""


class ExampleStream(ReadStream[Example]):
    """Examples one at a time; made by :func:`iter_read`.

    Use it in a ``for`` loop, or in a ``with`` block if the loop may end early.
    """


def iter_read(
    path: Readable,
    format: str | None = None,
    errors: ErrorPolicy = "raise",
    *,
    views: Iterable[str] | None = None,
    only: str | None = None,
    limits: Limits | None = None,
    qualify_ids: bool = False,
    **options: Any,
) -> ExampleStream:
    """Read examples one at a time, for files larger than memory.

    Parameters are those of :func:`read`. The file is opened at once, so a missing file raises an
    error here, not in the loop. ``stream.tally`` has the counts so far, ``stream.position`` and
    ``stream.size`` the progress in bytes.

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
    check_policy(errors)
    opened = open_input(
        path,
        None if format is None else find_format(format),
        views=view_names(views),
        only=only,
        limits=limits,
        qualify_ids=qualify_ids,
        options=options,
    )
    return ExampleStream(opened, errors)


def read(
    path: Readable,
    format: str | None = None,
    errors: ErrorPolicy = "raise",
    *,
    views: Iterable[str] | None = None,
    only: str | None = None,
    limits: Limits | None = None,
    qualify_ids: bool = False,
    **options: Any,
) -> Examples:
    r"""Read all examples of a file, a folder or an archive.

    Parameters
    ----------
    path : str, PathLike or stream
        A file, ``"-"`` for standard input, an open text or binary stream, a folder, or a zip or
        tar archive. Compression (gzip, bzip2, xz) and archives are recognized by their content.
    format : str, optional
        A name from :data:`~kernelwood.io.FORMATS`; by default the suffix decides, and the content
        if the suffix is unknown. In folders and archives, files of other formats are not read; if
        none has a suffix of this format, all files without a known suffix are read.
    errors : {"raise", "skip", "collect"}
        Treatment of a broken part: raise a ``ReadError``, leave it out and count it, or also keep
        the error in ``tally.problems``.
    views : iterable of str, optional
        Parse only these views, which saves time if a file has many.
    only : str, optional
        A glob such as ``"*/train/*.a2"``: read only the files of a folder or an archive whose path
        in it matches. ``*`` matches slashes as well.
    limits : Limits, optional
        Limits on compressed files and archives; see :class:`~kernelwood.io.Limits`.
    qualify_ids : bool
        In a folder or an archive, begin every id with the path of its file there, as in
        ``"train/a:s1"``; otherwise only in files without ids of their own. Ids must be unique to
        be written into one file, and files often number their sentences alike.
    **options
        Options of the format, such as ``text_field="abstract"``; see
        :attr:`~kernelwood.io.Format.options`.

    Returns
    -------
    kernelwood.io.Examples
        A list with a ``tally``.

    Raises
    ------
    ReadError
        With file, line and column, if a part is broken and ``errors="raise"``; also if the format
        is unknown, a folder or an archive has no file to read, or a limit is exceeded.
    OSError
        If the file is missing or cannot be read.
    ValueError
        If an argument is not valid.

    Examples
    --------
    >>> import io
    >>> examples = read(io.StringIO("(S (NP we) (VP go))\n(S (NP it\n"), errors="skip")
    >>> examples[0].views["tree"].label
    'S'
    >>> examples.tally.read, examples.tally.skipped
    (1, 1)
    """
    with iter_read(
        path,
        format,
        errors,
        views=views,
        only=only,
        limits=limits,
        qualify_ids=qualify_ids,
        **options,
    ) as stream:
        with cycles_ignored():
            examples = list(stream)
        return Examples(examples, stream.tally)
