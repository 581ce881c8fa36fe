from __future__ import annotations

import gzip
import io
import os
import stat
from pathlib import Path

import pytest

from kernelwood.errors import StructureError
from kernelwood.io import read, write, write_kelp, write_penn
from kernelwood.structures import Tree
from kernelwood.text import Example

GOOD = Example("a", "X", {"tree": Tree("NP", [Tree("we")])})


def interrupted():
    yield GOOD
    raise KeyboardInterrupt


@pytest.mark.parametrize("writer", [write_penn, write_kelp])
def test_an_interrupted_write_leaves_the_old_file(tmp_path, writer):
    path = tmp_path / "old.mrg"
    path.write_text("(OLD)\n")
    with pytest.raises(KeyboardInterrupt):
        writer(interrupted(), path)
    assert path.read_text() == "(OLD)\n"


def test_an_interrupted_write_leaves_nothing_else(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        write_penn(interrupted(), tmp_path / "new.mrg")
    assert list(tmp_path.iterdir()) == []


def test_a_refused_example_leaves_the_old_file(tmp_path):
    path = tmp_path / "old.klp"
    path.write_text("old")
    with pytest.raises(StructureError):
        write([GOOD, Example("b", views={"tree": Tree("two words")})], path)
    assert path.read_text() == "old"


def test_a_file_can_be_rewritten_while_it_is_read(tmp_path):
    path = tmp_path / "same.mrg"
    path.write_text("(A b)\n(C d)\n")
    write(read(path), path)
    assert path.read_text() == "(A b)\n(C d)\n"


@pytest.mark.parametrize(
    ("name", "text"), [("a.mrg", "(NP we)\n"), ("a.klp", "X |BT:tree| (NP(we)) |ET|\n")]
)
def test_the_suffix_chooses_the_format(tmp_path, name, text):
    write([GOOD], tmp_path / name)
    assert (tmp_path / name).read_text() == text


def test_a_gz_name_is_compressed(tmp_path):
    write([GOOD], tmp_path / "a.mrg.gz")
    assert gzip.decompress((tmp_path / "a.mrg.gz").read_bytes()) == b"(NP we)\n"


def test_compression_is_reproducible(tmp_path):
    for name in ("a.mrg.gz", "b.mrg.gz"):
        write([GOOD], tmp_path / name)
    assert (tmp_path / "a.mrg.gz").read_bytes() == (tmp_path / "b.mrg.gz").read_bytes()


def test_options_reach_the_writer():
    out = io.StringIO()
    write([Example("a", views={"parse": Tree("x")})], out, format="penn", view="parse")
    assert out.getvalue() == "(x)\n"


def test_a_dash_is_standard_output(capsys):
    write([GOOD], "-", format="penn")
    assert capsys.readouterr().out == "(NP we)\n"


def test_an_unknown_suffix_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"give format= \(penn, .*kelp, jsonl, .*prodigy.*\)"):
        write([GOOD], tmp_path / "a.xyz")


def test_a_format_that_is_only_read_is_refused(tmp_path):
    with pytest.raises(ValueError, match="the ppi format can be read only; write one of penn"):
        write([GOOD], tmp_path / "a.xml", format="ppi")


def test_a_folder_is_no_place_for_a_format_of_one_file(tmp_path):
    with pytest.raises(IsADirectoryError):
        write([GOOD], tmp_path, format="penn")


@pytest.mark.skipif(os.name != "posix", reason="permissions and links are those of POSIX")
class TestPosix:
    def test_permissions_are_kept(self, tmp_path):
        path = tmp_path / "a.mrg"
        path.write_text("")
        path.chmod(0o640)
        write([GOOD], path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640

    def test_a_link_keeps_pointing_to_its_file(self, tmp_path):
        (tmp_path / "real.mrg").write_text("")
        (tmp_path / "link.mrg").symlink_to("real.mrg")
        write([GOOD], tmp_path / "link.mrg")
        assert (tmp_path / "link.mrg").is_symlink()
        assert (tmp_path / "real.mrg").read_text() == "(NP we)\n"

    def test_a_device_is_written_not_replaced(self):
        write([GOOD], "/dev/null", format="penn")
        assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_lone_surrogate_is_refused(tmp_path):
    with pytest.raises(StructureError, match="cannot be written as UTF-8"):
        write([Example("a", views={"tree": Tree("\udc80")})], tmp_path / "a.mrg")
