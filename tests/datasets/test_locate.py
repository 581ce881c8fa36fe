from __future__ import annotations

from pathlib import Path

import pytest

from kernelwood.datasets import DATA_VARIABLE, find_data, require_data


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory without any data folder in reach."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    return folder


def make_folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path.resolve()


def test_variable_is_the_documented_one() -> None:
    assert DATA_VARIABLE == "KERNELWOOD_DATA"


def test_nothing_is_found_when_nothing_is_set(project: Path) -> None:
    assert find_data() is None


def test_default_is_beside_the_working_directory(project: Path) -> None:
    folder = make_folder(project.parent / "shared" / "data")
    assert find_data() == folder


def test_default_follows_the_working_directory(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_folder(project.parent / "shared" / "data")
    monkeypatch.chdir(make_folder(project / "deeper"))
    assert find_data() is None


def test_variable_wins_over_default(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_folder(project.parent / "shared" / "data")
    folder = make_folder(project / "corpora")
    monkeypatch.setenv(DATA_VARIABLE, str(folder))
    assert find_data() == folder


def test_argument_wins_over_variable(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATA_VARIABLE, str(make_folder(project / "corpora")))
    folder = make_folder(project / "others")
    assert find_data(data=folder) == folder


def test_empty_variable_counts_as_unset(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATA_VARIABLE, "")
    folder = make_folder(project.parent / "shared" / "data")
    assert find_data() == folder


def test_wrong_variable_does_not_fall_back_to_default(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_folder(project.parent / "shared" / "data")
    monkeypatch.setenv(DATA_VARIABLE, str(project / "mistyped"))
    assert find_data() is None


def test_wrong_argument_does_not_fall_back_to_variable(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DATA_VARIABLE, str(make_folder(project / "corpora")))
    assert find_data(data=project / "mistyped") is None


def test_relative_argument_gives_absolute_path(project: Path) -> None:
    make_folder(project / "corpora")
    found = find_data(data="corpora")
    assert found is not None and found.is_absolute()


def test_tilde_is_the_home_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(project))
    monkeypatch.setenv("USERPROFILE", str(project))
    make_folder(project / "corpora")
    assert find_data(data="~/corpora") == project / "corpora"


def test_name_is_looked_up_inside_the_folder(project: Path) -> None:
    entry = make_folder(project / "corpora" / "treebank")
    assert find_data("treebank", data=project / "corpora") == entry


def test_name_may_be_a_file_in_a_subfolder(project: Path) -> None:
    entry = make_folder(project / "corpora" / "treebank") / "one.mrg"
    entry.write_text("(S x)\n", encoding="utf-8")
    assert find_data("treebank/one.mrg", data=project / "corpora") == entry


def test_absent_name_is_not_found(project: Path) -> None:
    assert find_data("treebank", data=make_folder(project / "corpora")) is None


def test_a_file_is_not_a_data_folder(project: Path) -> None:
    file = project / "corpora"
    file.write_text("", encoding="utf-8")
    assert find_data(data=file) is None


def test_require_returns_what_find_returns(project: Path) -> None:
    entry = make_folder(project / "corpora" / "treebank")
    assert require_data("treebank", project / "corpora") == entry


def test_require_says_how_to_set_the_folder(project: Path) -> None:
    with pytest.raises(FileNotFoundError, match=rf"--data[\s\S]*{DATA_VARIABLE}"):
        require_data()


def test_require_names_the_default_it_searched(project: Path) -> None:
    expected = (project.parent / "shared" / "data").resolve()
    with pytest.raises(FileNotFoundError) as caught:
        require_data()
    assert f"{expected} (the default) does not exist" in str(caught.value)


def test_require_blames_the_variable(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATA_VARIABLE, str(project / "mistyped"))
    with pytest.raises(FileNotFoundError) as caught:
        require_data()
    assert f"{project / 'mistyped'} (set by {DATA_VARIABLE}) does not exist" in str(caught.value)


def test_require_blames_the_argument(project: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        require_data(data=project / "mistyped")
    assert f"{project / 'mistyped'} (given as data) does not exist" in str(caught.value)


def test_require_names_the_absent_entry(project: Path) -> None:
    with pytest.raises(FileNotFoundError, match="has no 'treebank'"):
        require_data("treebank", data=make_folder(project / "corpora"))


def test_require_tells_a_file_from_a_missing_folder(project: Path) -> None:
    file = project / "corpora"
    file.write_text("", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        require_data(data=file)
