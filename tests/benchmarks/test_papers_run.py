"""Running published tables: what is run, kept and shown; and the page that is in the repository."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "papers"))

import run as papers
from tables import PAPERS, Row, Table, load_tables

Main = Callable[..., int]

# Notes that it was run, then prints what the argument says.
PROGRAM = """
import os, signal, sys
from pathlib import Path
with open(Path(__file__).with_name("runs.txt"), "a") as log:
    print(*sys.argv[1:], file=log)
if sys.argv[1] == "fail":
    sys.exit(3)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
print("no JSON" if sys.argv[1] == "noise" else '{"f1": 0.5}')
"""


def table(name: str, does: str = "print", **changes: Any) -> Table:
    settings: dict[str, Any] = {
        "name": name,
        "paper": "hashcodes",
        "number": "Table 1",
        "topic": "topic of " + name,
        "program": "program.py",
        "arguments": (does, "two words"),
        "data": ("corpus",),
        "protocol": "Halves of documents.",
        "rows": lambda found: [Row("svm", "F1", f"{found['f1']:.3f}", "0.570", headline=True)],
        "page": "experiments/ppi.md",
    }
    return Table(**{**settings, **changes})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with a program and a data folder."""
    for name in ("benchmarks", "docs", "data/corpus"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "benchmarks" / "program.py").write_text(PROGRAM)
    monkeypatch.setattr(papers, "ROOT", tmp_path)
    monkeypatch.setattr(papers, "HERE", tmp_path / "benchmarks")
    monkeypatch.setattr(papers, "STORED", tmp_path / "stored")
    monkeypatch.setattr(papers, "FINISHED", tmp_path / "finished")
    monkeypatch.setattr(papers, "PAGE", tmp_path / "docs" / "results.md")
    monkeypatch.setenv("KERNELWOOD_DATA", str(tmp_path / "data"))
    return tmp_path


@pytest.fixture
def main(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Main:
    """Return a function that runs the command on tables and returns its exit code."""

    def call(tables: list[Table], *options: str) -> int:
        monkeypatch.setattr(papers, "load_tables", lambda: tables)
        monkeypatch.setattr(sys, "argv", ["run.py", *options])
        try:
            papers.main()
        except SystemExit as stopped:
            return int(stopped.code or 0)
        return 0

    return call


def runs(folder: Path) -> list[str]:
    log = folder / "benchmarks" / "runs.txt"
    return log.read_text().splitlines() if log.exists() else []


def page(folder: Path) -> str:
    return (folder / "docs" / "results.md").read_text(encoding="utf-8")


def test_figures_of_a_table_are_stored_with_its_command(folder: Path, main: Main) -> None:
    assert main([table("one")]) == 0
    stored = json.loads((folder / "stored" / "one.json").read_text(encoding="utf-8"))
    assert stored["command"] == "python benchmarks/program.py print 'two words'"
    assert [Row(**row) for row in stored["rows"]] == [Row("svm", "F1", "0.500", "0.570", True)]
    assert "output" not in stored
    assert stored["minutes"] >= 0


def test_a_program_gets_the_data_folder_and_prints_json(folder: Path, main: Main) -> None:
    main([table("one")])
    assert runs(folder) == [f"print two words --json --data {folder / 'data'}"]


def test_a_relative_data_folder_is_that_of_the_caller(
    folder: Path, main: Main, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = folder / "elsewhere"
    (elsewhere / "mine" / "corpus").mkdir(parents=True)
    monkeypatch.chdir(elsewhere)
    assert main([table("one")], "--data", "mine") == 0
    assert runs(folder)[0].endswith(f"--data {elsewhere / 'mine'}")


def test_a_finished_table_is_not_run_again(folder: Path, main: Main) -> None:
    main([table("one")])
    main([table("one"), table("two")])
    assert len(runs(folder)) == 2
    assert main([table("one"), table("two")], "--again", "one") == 0
    assert len(runs(folder)) == 3


def test_a_table_with_another_command_is_run_again(folder: Path, main: Main) -> None:
    main([table("one")])
    main([table("one", arguments=("print",))])
    assert len(runs(folder)) == 2


def test_output_that_was_cut_off_is_not_finished(folder: Path, main: Main) -> None:
    main([table("one")])
    kept = folder / "finished" / "one.json"
    kept.write_text(kept.read_text()[:40])
    assert main([table("one")]) == 0
    assert len(runs(folder)) == 2


def test_rows_are_made_anew_from_kept_output(folder: Path, main: Main) -> None:
    main([table("one")])
    main([table("one", rows=lambda found: [Row("other", "F1", str(found["f1"]))])])
    assert len(runs(folder)) == 1
    assert "| other | F1 |  | 0.5 |" in page(folder)


@pytest.mark.parametrize(
    ("does", "said"),
    [("fail", "exit code 3"), ("killed", "signal 9"), ("noise", "something else than JSON")],
)
def test_a_failed_table_is_named_and_the_others_are_run(
    folder: Path, main: Main, capfd: pytest.CaptureFixture[str], does: str, said: str
) -> None:
    assert main([table("bad", does), table("good")]) == 1
    errors = capfd.readouterr().err
    assert said in errors
    assert "failed: bad" in errors
    assert [path.name for path in (folder / "stored").iterdir()] == ["good.json"]
    assert main([table("bad"), table("good")]) == 0
    assert len(runs(folder)) == 3


def test_output_that_a_table_cannot_read_is_kept(
    folder: Path, main: Main, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([table("one", rows=lambda found: found["no such"])]) == 1
    assert "finished/one.json" in capfd.readouterr().err
    assert main([table("one")]) == 0
    assert len(runs(folder)) == 1


def test_missing_data_are_named_and_the_table_left_out(
    folder: Path, main: Main, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([table("one", data=("corpus", "no/such.xml")), table("two")]) == 0
    assert "left out, data missing: no/such.xml" in capfd.readouterr().err
    assert len(runs(folder)) == 1
    assert "topic of one" not in page(folder)


def test_only_some_tables_are_run(folder: Path, main: Main) -> None:
    main([table("one"), table("two")], "--only", "two")
    assert not (folder / "stored" / "one.json").exists()
    assert (folder / "stored" / "two.json").exists()


def test_an_interruption_keeps_what_has_finished(
    folder: Path, main: Main, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted(found: Any) -> list[Row]:
        raise KeyboardInterrupt

    assert main([table("one"), table("two", rows=interrupted), table("three")]) == 130
    assert "interrupted" in capfd.readouterr().err
    assert "topic of one" in page(folder)
    assert len(runs(folder)) == 2
    assert main([table("one"), table("two"), table("three")]) == 0
    assert len(runs(folder)) == 3


def test_files_are_written_whole_or_not_at_all(folder: Path, main: Main) -> None:
    main([table("one")])
    before = (folder / "stored" / "one.json").read_text()
    with pytest.raises(TypeError):
        papers.write_json(folder / "stored" / "one.json", {"name": object()})
    with pytest.raises(UnicodeEncodeError):
        papers.write_text(folder / "stored" / "one.json", "\ud800")
    assert (folder / "stored" / "one.json").read_text() == before
    assert [path.name for path in (folder / "stored").iterdir()] == ["one.json"]


def test_the_page_alone_runs_nothing(folder: Path, main: Main) -> None:
    main([table("one")])
    (folder / "docs" / "results.md").unlink()
    assert main([table("one"), table("two")], "--page") == 0
    assert len(runs(folder)) == 1
    assert "topic of one" in page(folder)


def test_list_shows_command_and_data(
    folder: Path, main: Main, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([table("one")], "--list") == 0
    shown = "one: python benchmarks/program.py print 'two words' [corpus]\n"
    assert capfd.readouterr().out == shown
    assert runs(folder) == []


def test_page_has_an_overview_and_all_rows() -> None:
    rows = [{"setting": "svm", "measure": "F1", "ours": "0.369", "published": "0.570",
             "headline": True},
            {"setting": "a|b", "measure": "AUC", "ours": "0.774", "published": "",
             "headline": False}]  # fmt: skip
    stored = {"one": {"name": "one", "command": "python x.py", "minutes": 1.25, "rows": rows}}
    text = papers.render([table("one"), table("two")], stored)
    assert text.startswith("# Published results\n")
    authors, title = PAPERS["hashcodes"]
    overview = f"| {authors} | [Table 1](#one) | svm, F1 | 0.570 | 0.369 | 1.2 |"
    assert overview in text.splitlines()
    section = text[text.index("(one)=") :]
    assert f"## {authors}: {title}\n" in text
    assert section == (
        "(one)=\n"
        "### Table 1: topic of one\n\n"
        "**Protocol.** Halves of documents.\n\n"
        "`python x.py`, 1.2 minutes. More figures: [experiments/ppi.md](experiments/ppi.md).\n\n"
        "| setting | measure | published | ours |\n|---|---|---|---|\n"
        "| svm | F1 | 0.570 | 0.369 |\n"
        "| a\\|b | AUC |  | 0.774 |\n"
    )


def test_page_without_figures_says_so() -> None:
    assert "No table has been run yet." in papers.render([table("one")], {})


# The repository.


def test_stored_figures_belong_to_tables_and_their_present_commands() -> None:
    commands = {one.name: papers.command(one) for one in load_tables()}
    for path in papers.STORED.glob("*.json"):
        stored = json.loads(path.read_text(encoding="utf-8"))
        assert path.stem == stored["name"]
        assert stored["command"] == commands.get(stored["name"]), f"run.py --again {path.stem}"


def test_the_page_shows_the_stored_figures() -> None:
    assert papers.PAGE.read_text(encoding="utf-8") == papers.render(
        load_tables(), papers.read_stored()
    ), "python benchmarks/papers/run.py --page"


def test_tables_are_told_apart_and_have_programs() -> None:
    tables = load_tables()
    assert len({one.name for one in tables}) == len(tables)
    for one in tables:
        assert one.paper in PAPERS
        assert (papers.HERE / one.program).is_file()
        assert not one.page or (papers.PAGE.parent / one.page).is_file()
