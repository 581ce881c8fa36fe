"""What a power cut leaves of files: only what was written to the disk before."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path


class Disk:
    """The content of a folder as it is on the disk, after each call of ``os.fsync``.

    A file has the content of its last ``fsync``, and is empty before the first; a folder has the
    names of its last ``fsync``. Whatever was not synchronized is lost.
    """

    def __init__(self, monkeypatch, root: Path) -> None:
        self.root = root
        self.files: dict[int, bytes] = {}
        self.folders: dict[int, dict[str, tuple[int, bool]]] = {}
        self.moments: list[tuple[dict, dict]] = []
        self.marks: list[int] = []  # of the moments, set by `mark`
        self.mark = 0
        self._open: list[int] = []  # so that the system does not use their inodes again
        for path in (root, *root.rglob("*")):
            self._take(os.open(path, os.O_RDONLY))
        self._monkeypatch = monkeypatch.context()
        self._root = root.stat().st_ino

    def __enter__(self) -> Disk:
        self._monkeypatch.__enter__().setattr(os, "fsync", self._fsync)
        return self

    def __exit__(self, *error: object) -> None:
        self._monkeypatch.__exit__(*error)
        for descriptor in self._open:
            os.close(descriptor)

    def _fsync(self, descriptor: int) -> None:
        self._take(os.dup(descriptor))
        self.moments.append((dict(self.files), dict(self.folders)))
        self.marks.append(self.mark)

    def _take(self, descriptor: int) -> None:
        self._open.append(descriptor)
        state = os.fstat(descriptor)
        if stat.S_ISDIR(state.st_mode):
            with os.scandir(descriptor) as entries:
                self.folders[state.st_ino] = {
                    entry.name: (entry.inode(), entry.is_dir()) for entry in entries
                }
        else:
            self.files[state.st_ino] = Path(f"/proc/self/fd/{descriptor}").read_bytes()

    def restore(self, moment: int) -> None:
        """Replace the content of the folder by what a power cut after a moment leaves."""
        files, folders = self.moments[moment]
        for path in self.root.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        pending = [(self.root, self._root)]
        while pending:
            folder, number = pending.pop()
            for name, (inode, is_folder) in folders.get(number, {}).items():
                if is_folder:
                    (folder / name).mkdir()
                    pending.append((folder / name, inode))
                else:
                    (folder / name).write_bytes(files.get(inode, b""))
