"""The documentation leads its readers along three paths."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
DOORS = ("curator", "engineer", "researcher")
GROUPS = ["Curator", "Engineer", "Researcher", "Reference", "Results"]
TOCTREE = re.compile(
    r"^```\{toctree\}\n:caption: ([^\n]+)\n:maxdepth: 1\n\n(.*?)^```$", re.M | re.S
)
ROW = re.compile(
    r"^\| \[[^]]+\]\((?P<page>[\w/-]+)\.md(#[\w-]+)?\).* \| (?P<minutes>\d+) \| .+ \|$", re.M
)
MINUTES = 60
WORDS = 200  # a minute
README_LINES = 150
GENERATED = {"gallery/index"}


def index() -> str:
    return (DOCS / "index.md").read_text(encoding="utf-8")


def groups() -> dict[str, list[str]]:
    return {caption: pages.split() for caption, pages in TOCTREE.findall(index())}


def path_of(door: str) -> list[tuple[str, int]]:
    """Return the pages of a path with their minutes."""
    text = (DOCS / f"{door}.md").read_text(encoding="utf-8").partition("\n## The path\n")[2]
    return [(row["page"], int(row["minutes"])) for row in ROW.finditer(text)]


def test_pages_are_grouped_by_readers() -> None:
    assert list(groups()) == GROUPS


def test_every_page_is_in_one_group() -> None:
    built = {"_build", "gallery", "images", "api", "commands.md"}  # make docs writes most of them
    pages = [
        page.relative_to(DOCS).with_suffix("").as_posix()
        for page in DOCS.rglob("*.md")
        if page.relative_to(DOCS).parts[0] not in built and page.name != "index.md"
    ]
    grouped = [page for listed in groups().values() for page in listed]
    assert sorted(grouped) == sorted({*pages, *GENERATED})


def test_no_page_has_a_name_that_the_site_needs() -> None:
    """Sphinx writes pages of its own with these names, over those of the documentation."""
    assert not {"search", "genindex", "py-modindex"} & {page.stem for page in DOCS.glob("*.md")}


@pytest.mark.parametrize("door", DOORS)
def test_a_path_can_be_read_in_an_hour(door: str) -> None:
    path = path_of(door)
    assert 5 <= len(path) <= 8
    assert sum(minutes for _, minutes in path) <= MINUTES
    assert len({page for page, _ in path}) == len(path)
    assert all((DOCS / f"{page}.md").exists() for page, _ in path)


@pytest.mark.parametrize("door", DOORS)
def test_minutes_are_those_of_the_pages(door: str) -> None:
    text = (DOCS / f"{door}.md").read_text(encoding="utf-8")
    whole = re.findall(r"^\| \[[^]]+\]\(([\w/-]+)\.md\) \| (\d+) \|", text, re.MULTILINE)
    assert len(whole) >= 3
    for page, minutes in whole:
        words = len((DOCS / f"{page}.md").read_text(encoding="utf-8").split())
        assert abs(int(minutes) - words / WORDS) <= 1 + 0.25 * words / WORDS, page


@pytest.mark.parametrize("door", DOORS)
def test_a_path_begins_with_an_example(door: str) -> None:
    text = (DOCS / f"{door}.md").read_text(encoding="utf-8")
    first, *_ = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert first == "An example from start to end"
    prompt = "\n$ kernelwood " if door == "curator" else ">>> "  # curators do not program
    assert prompt in text.partition("\n## The path\n")[0]


def test_the_first_command_of_curators_is_the_installation() -> None:
    text = (DOCS / "curator.md").read_text(encoding="utf-8")
    assert text.index("pip install") < text.index("\n$ kernelwood ")
    assert ">>> " not in text


def test_curators_get_to_a_report_in_ten_minutes() -> None:
    """Reading at 220 words a minute, and typing 180 characters of commands a minute."""
    text = (DOCS / "curator.md").read_text(encoding="utf-8").partition("\n### A model")[0]
    assert "--report report.html" in text
    shell = "".join(re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    typed = [*shell.splitlines(), *re.findall(r"^\$ (.+)$", text, re.MULTILINE)]
    assert len(text.split()) / 220 + sum(map(len, typed)) / 180 <= 10


def test_each_door_is_the_one_start_of_its_readers() -> None:
    rows = re.findall(r"^\| \*\*\[(\w+)\]\((\w+)\.md\)\*\* \|.*\|$", index(), re.MULTILINE)
    assert [name.lower() for name, _ in rows] == [page for _, page in rows] == list(DOORS)
    assert "(teaching.md)" not in index().partition("```{toctree}")[0]


@pytest.mark.parametrize("door", DOORS)
def test_doors_are_on_the_home_page_and_in_the_readme(door: str) -> None:
    assert f"]({door}.md)" in index().partition("```{toctree}")[0]
    assert f"](docs/{door}.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert groups()[door.capitalize()][0] == door


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= README_LINES
