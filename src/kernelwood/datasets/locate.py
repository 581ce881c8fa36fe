"""The folder of corpora that are not bundled."""

from __future__ import annotations

import os
from pathlib import Path

DATA_VARIABLE = "KERNELWOOD_DATA"
_DEFAULT_FOLDER = Path("..", "shared", "data")


def find_data(
    name: str | os.PathLike[str] | None = None, data: str | os.PathLike[str] | None = None
) -> Path | None:
    """Return the folder of corpora, or one entry of it, if it exists.

    The folder is ``data`` if given, else the environment variable ``KERNELWOOD_DATA`` if set and
    not empty, else ``../shared/data`` relative to the working directory. The first that is set
    decides, even if it does not exist.

    Parameters
    ----------
    name : str or path, optional
        A file or folder inside the data folder; without it, the data folder itself.
    data : str or path, optional
        The data folder; ``~`` stands for the home folder.

    Returns
    -------
    pathlib.Path or None
        An absolute path that exists, or None.

    See Also
    --------
    require_data : The same, with an error if it does not exist.

    Examples
    --------
    >>> find_data("treebank", data="no/such/folder") is None
    True
    """
    folder, _ = _choose_folder(data)
    if not folder.is_dir():
        return None
    found = folder if name is None else folder / name
    return found if found.exists() else None


def require_data(
    name: str | os.PathLike[str] | None = None, data: str | os.PathLike[str] | None = None
) -> Path:
    """Return the result of `find_data`; raise an error if it does not exist.

    Parameters
    ----------
    name, data
        As in `find_data`.

    Returns
    -------
    pathlib.Path
        An absolute path that exists.

    Raises
    ------
    FileNotFoundError
        If the data folder, or ``name`` inside it, does not exist.

    Examples
    --------
    >>> require_data("treebank", data="/no/such/folder")
    Traceback (most recent call last):
    ...
    FileNotFoundError: the data folder /no/such/folder (given as data) does not exist
        real corpora are not part of kernelwood: put them in a folder and pass it as data
        (--data on the command line), or set the environment variable KERNELWOOD_DATA to it
    """
    found = find_data(name, data)
    if found is not None:
        return found
    folder, source = _choose_folder(data)
    if not folder.exists():
        problem = f"the data folder {folder} ({source}) does not exist"
    elif not folder.is_dir():
        problem = f"the data folder {folder} ({source}) is not a folder"
    else:
        problem = f"the data folder {folder} ({source}) has no {os.fspath(name or '')!r}"
    raise FileNotFoundError(
        f"{problem}\n"
        "    real corpora are not part of kernelwood: put them in a folder and pass it as data\n"
        f"    (--data on the command line), or set the environment variable {DATA_VARIABLE} to it"
    )


def _choose_folder(data: str | os.PathLike[str] | None) -> tuple[Path, str]:
    """Return the data folder, which may not exist, and how it was chosen."""
    if data is not None:
        return Path(data).expanduser().absolute(), "given as data"
    named = os.environ.get(DATA_VARIABLE)
    if named:
        return Path(named).expanduser().absolute(), f"set by {DATA_VARIABLE}"
    # Resolved, so that messages have no "..".
    return _DEFAULT_FOLDER.resolve(), "the default"
