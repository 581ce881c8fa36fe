"""Files and folders that appear only when they are complete, whatever ends the process."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading

import pytest
from power_cut import Disk
from processes import start_python

import kernelwood as kw
from kernelwood.io import (
    create_temporary,
    new_folder,
    remove_folder,
    replacing,
    temporary,
    temporary_name,
    write_folder,
    write_text,
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="locks of folders, signals")
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads files by /proc")

WRITING = """
import sys
from pathlib import Path
from kernelwood.io import new_folder, replacing
target = Path(sys.argv[2])
if sys.argv[1] == "file":
    with replacing(target) as file:
        file.write(b"half")
        file.flush()
        print("writing", flush=True)
        sys.stdin.readline()
        file.write(b" and half")
else:
    with new_folder(target) as folder:
        (folder / "a.txt").write_text("half")
        print("writing", flush=True)
        sys.stdin.readline()
"""


def writing(kind, target):
    """Start a process that is in the middle of writing a file or folder."""
    process = start_python("-c", WRITING, kind, target, stdin=-1)
    assert process.stdout.readline() == "writing\n"
    return process


def write(kind, target, text="whole"):
    if kind == "file":
        write_text(target, [text])
    else:
        write_folder(target, [("b.txt", text)])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@posix
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_killed_process_leaves_is_removed_by_the_next_one(tmp_path, kind):
    target = tmp_path / "out"
    left = [writing(kind, target) for _ in range(2)]
    for process in left:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert names(tmp_path) == [temporary_name(target, number).name for number in range(2)]
    write("file", tmp_path / "other")  # which is not theirs
    assert len(names(tmp_path)) == 3
    write(kind, target)
    assert names(tmp_path) == ["other", "out"]


@posix
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_process_at_work_keeps_its_file(tmp_path, kind):
    target = tmp_path / "out"
    process = writing(kind, target)
    write(kind, target)
    assert len(names(tmp_path)) == 2
    if kind == "folder":
        (target / "b.txt").unlink()  # so that the process may replace it
    _, err = process.communicate("\n")
    assert (process.returncode, err) == (0, "")
    assert names(tmp_path) == ["out"]
    text = target.read_text() if kind == "file" else (target / "a.txt").read_text()
    assert text == ("half and half" if kind == "file" else "half")


def test_many_writers_of_one_file(tmp_path):
    target, errors = tmp_path / "out", []

    def work(number):
        try:
            for _ in range(50):
                write_text(target, [f"{number}\n"] * 100)
        except BaseException as failure:
            errors.append(failure)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and names(tmp_path) == ["out"]
    lines = target.read_text().splitlines()
    assert len(lines) == 100 and len(set(lines)) == 1


def test_a_file_that_is_taken_away_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    target, original = tmp_path / "out", temporary.try_lock
    taken = iter([True])

    def lock(descriptor):
        if next(taken, False):
            temporary_name(target).unlink()
        return original(descriptor)

    monkeypatch.setattr(temporary, "try_lock", lock)
    write("file", target)
    assert names(tmp_path) == ["out"] and target.read_text() == "whole"


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_without_locks_nothing_is_removed(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(temporary, "try_lock", lambda descriptor: None)
    path, descriptor = create_temporary(tmp_path / "out", folder=kind == "folder")
    if descriptor is not None:
        os.close(descriptor)
    write(kind, tmp_path / "out")
    assert names(tmp_path) == [path.name, "out"]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links")
def test_a_link_with_a_temporary_name_is_not_followed(tmp_path):
    (tmp_path / "precious").write_text("old")
    temporary_name(tmp_path / "out").symlink_to(tmp_path / "precious")
    write("file", tmp_path / "out")
    assert (tmp_path / "precious").read_text() == "old"
    assert (tmp_path / "out").read_text() == "whole"


@posix
def test_an_error_leaves_nothing(tmp_path):
    (tmp_path / "old").write_text("old")
    for block in (replacing(tmp_path / "old"), new_folder(tmp_path / "new")):
        with pytest.raises(RuntimeError), block:
            raise RuntimeError
    assert names(tmp_path) == ["old"] and (tmp_path / "old").read_text() == "old"


@posix
def test_a_folder_is_removed_as_a_whole(tmp_path):
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "a").write_text("a")
    path, descriptor = create_temporary(tmp_path / "out", folder=True)
    os.close(descriptor)
    (path / "plan").mkdir()  # another one, which was being removed
    remove_folder(tmp_path / "plan", tmp_path / "out")
    assert names(tmp_path) == []


# The disk.


@linux
def test_a_power_cut_leaves_the_old_file_or_the_new_one(tmp_path, monkeypatch):
    target = tmp_path / "model.kw"
    kw.save(kw.SubsetTreeKernel(decay=0.5), target)
    with Disk(monkeypatch, tmp_path) as disk:
        kw.save(kw.SubsetTreeKernel(decay=0.25), target)
        last = len(disk.moments) - 1
        for moment in range(last + 1):
            disk.restore(moment)
            assert kw.load(target).decay == (0.25 if moment == last else 0.5)
    assert last > 0


@linux
def test_a_power_cut_leaves_no_half_folder(tmp_path, monkeypatch):
    target = tmp_path / "found"
    with Disk(monkeypatch, tmp_path) as disk:
        write_folder(target, [("a.txt", "one"), ("deep/b.txt", "two"), ("deep/c.txt.gz", "three")])
        whole = {path.name: path.read_bytes() for path in target.rglob("*.*")}
        last = len(disk.moments) - 1
        for moment in range(last + 1):
            disk.restore(moment)
            assert target.exists() == (moment == last)
        assert {path.name: path.read_bytes() for path in target.rglob("*.*")} == whole
        assert len(whole) == 3


@posix
@pytest.mark.parametrize(("number", "fails"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_folders_that_cannot_be_synchronized(tmp_path, monkeypatch, number, fails):
    def fsync(descriptor):
        if os.path.samestat(os.fstat(descriptor), tmp_path.stat()):
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fsync)
    if fails:
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            write("file", tmp_path / "out")
    else:
        write("file", tmp_path / "out")
    assert names(tmp_path) == ["out"]
