"""The check of releases finds what must not be published."""

from __future__ import annotations

import io
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import release_check

INFO = "kernelwood-0.1.0.dist-info"
WHEEL = {
    "kernelwood/py.typed": "",
    "kernelwood/_core.abi3.so": "",
    "kernelwood/_core.pyi": "",
    "kernelwood/__init__.pyi": "",
    "kernelwood/parsing/grammars/biomedical.npz": "",
    "kernelwood/datasets/interactions/train.jsonl": "",
    "kernelwood/web/static/api.js": "",
    "kernelwood/web/templates/page.html": "",
    f"{INFO}/entry_points.txt": "",
    f"{INFO}/METADATA": "Name: kernelwood\nLicense-Expression: Apache-2.0\n",
    f"{INFO}/licenses/LICENSE": "",
    f"{INFO}/licenses/NOTICE": "",
}


def wheel(folder, files):
    path = folder / "kernelwood-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def sdist(folder, names):
    path = folder / "kernelwood-0.1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"kernelwood-0.1.0/{name}"), io.BytesIO())
    return path


def test_a_good_wheel_has_no_problems(tmp_path):
    assert release_check.problems_of_wheel(wheel(tmp_path, WHEEL)) == []


@pytest.mark.parametrize("name", [name for name in WHEEL if not name.endswith("METADATA")])
def test_a_file_that_is_missing_in_a_wheel_is_found(tmp_path, name):
    files = {other: text for other, text in WHEEL.items() if other != name}
    [problem] = release_check.problems_of_wheel(wheel(tmp_path, files))
    assert problem.startswith("no file")


@pytest.mark.parametrize("name", ["kernelwood/tests/a.py", "kernelwood/test_a.py"])
def test_tests_in_a_wheel_are_found(tmp_path, name):
    problems = release_check.problems_of_wheel(wheel(tmp_path, {**WHEEL, name: ""}))
    assert problems == [f"must not contain {name}"]


def test_a_second_package_in_a_wheel_is_found(tmp_path):
    problems = release_check.problems_of_wheel(wheel(tmp_path, {**WHEEL, "other/a.py": ""}))
    assert problems == ["would install other"]


def test_a_large_wheel_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(release_check, "LARGEST_WHEEL", 100)
    [problem] = release_check.problems_of_wheel(wheel(tmp_path, WHEEL))
    assert problem.endswith("more than 0.0001 MB")


def test_metadata_without_a_license_are_found(tmp_path):
    files = {**WHEEL, f"{INFO}/METADATA": "Name: kernelwood\n"}
    assert len(release_check.problems_of_wheel(wheel(tmp_path, files))) == 1


def test_a_good_sdist_has_no_problems(tmp_path):
    assert release_check.problems_of_sdist(sdist(tmp_path, release_check.IN_SDIST)) == []


def test_a_file_that_is_missing_in_an_sdist_is_found(tmp_path):
    path = sdist(tmp_path, set(release_check.IN_SDIST) - {"NOTICE"})
    assert release_check.problems_of_sdist(path) == ["no file NOTICE$"]


@pytest.mark.parametrize("name", ["build/a", "src/kernelwood/_core.so", "docs/_build/index.html"])
def test_built_files_in_an_sdist_are_found(tmp_path, name):
    path = sdist(tmp_path, [*release_check.IN_SDIST, name])
    assert release_check.problems_of_sdist(path) == [f"must not contain {name}"]


def test_a_folder_without_files_is_refused(tmp_path, capsys):
    assert release_check.main([str(tmp_path)]) == 1
    assert "one sdist and one wheel" in capsys.readouterr().err
