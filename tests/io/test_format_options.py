"""Keyword options that `read` passes to the reader of a format."""

from __future__ import annotations

import io

import pytest

from kernelwood.io import Format, read
from kernelwood.io.formats import table
from kernelwood.text import Example


def _read_named(source, views=None, *, prefix="", limit=None):
    for line in source.lines():
        yield Example(f"{prefix}{line.text}", origin=source.origin(line.number))


NAMED = Format(
    name="named",
    summary="one name a line",
    suffixes=(".named",),
    sniff=lambda head: head.startswith("@"),
    read=_read_named,
    options={"prefix": "Text before each id.", "limit": "Largest number of lines."},
)


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    monkeypatch.setattr(table, "FORMATS", (*table.FORMATS, NAMED))


def ids(*arguments, **options):
    return [example.id for example in read(*arguments, **options)]


def test_an_option_reaches_the_reader():
    assert ids(io.StringIO("a\nb\n"), "named", prefix="x:") == ["x:a", "x:b"]


def test_an_option_reaches_the_reader_of_a_recognized_format(tmp_path):
    (tmp_path / "list.named").write_text("a\n")
    assert ids(tmp_path / "list.named", prefix="x:") == ["x:a"]


def test_an_option_reaches_the_readers_of_a_folder(tmp_path):
    (tmp_path / "one.named").write_text("a\n")
    (tmp_path / "two.named").write_text("b\n")
    assert ids(tmp_path, prefix="x:") == ["x:a", "x:b"]


def test_none_is_the_default():
    assert ids(io.StringIO("a\n"), "named", prefix=None) == ["a"]


def test_an_option_of_another_format_is_refused_with_those_of_this_one():
    with pytest.raises(ValueError, match=r"named format has no option 'colour' .it has prefix, "):
        read(io.StringIO("a\n"), "named", colour="red")


def test_an_option_without_a_format_is_refused_before_the_file_is_opened():
    with pytest.raises(ValueError, match=r"no format has the option 'colour' .options: .*prefix"):
        read("missing.named", colour="red")


def test_an_option_is_refused_if_the_recognized_format_lacks_it():
    with pytest.raises(ValueError, match=r"penn format has no option 'prefix' .it has none"):
        read(io.StringIO("(S (NP we))"), prefix="x")


def test_an_option_is_refused_if_a_format_in_the_folder_lacks_it(tmp_path):
    (tmp_path / "one.named").write_text("a\n")
    (tmp_path / "two.mrg").write_text("(S (NP we))")
    with pytest.raises(ValueError, match="penn format has no option 'prefix'"):
        read(tmp_path, prefix="x")


@pytest.mark.parametrize("name, meant", [("prefx", "prefix"), ("veiws", "views")])
def test_a_misspelled_option_gets_a_guess(name, meant):
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        read(io.StringIO("a\n"), "named", **{name: "x"})


def test_formats_that_share_a_suffix_are_told_apart_by_content(tmp_path, monkeypatch):
    other = Format("other", "", (".named",), lambda head: head.startswith("%"), _read_named)
    monkeypatch.setattr(table, "FORMATS", (*table.FORMATS, other))
    (tmp_path / "list.named").write_text("%a\n")
    with pytest.raises(ValueError, match="the other format has no option"):
        read(tmp_path / "list.named", prefix="x")


def test_a_general_format_is_recognized_only_if_no_other_is(monkeypatch):
    broad = Format("broad", "", (), lambda head: True, _read_named, general=True)
    monkeypatch.setattr(table, "FORMATS", (*table.FORMATS, broad))
    assert [row.name for row in table.formats_by_content(b"@a")] == ["named"]
    assert [row.name for row in table.formats_by_content(b"%a")] == ["broad"]
