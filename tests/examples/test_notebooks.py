"""The notebooks are clean in the repository, and run without errors and warnings."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)

CELL_KEYS = {
    "code": {"cell_type", "execution_count", "id", "metadata", "outputs", "source"},
    "markdown": {"cell_type", "id", "metadata", "source"},
}
# Absolute paths, those of a home folder, and addresses outside this machine.
PLACES = re.compile(r"""(?:^|[\s"'(=])(?:/\w+/|~/|[A-Za-z]:\\)|https?://|file://""", re.MULTILINE)
# What a user would stumble over, wherever it is printed.
STUMBLES = re.compile(r"Warning\b|Traceback|<[\w.]+ object at 0x")
SECONDS = 300  # of a cell, by the clock, on a busy machine


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) == 5


@each_notebook
def test_a_notebook_is_valid(path: Path) -> None:
    notebook = read(path)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    for cell in notebook["cells"]:
        assert set(cell) == CELL_KEYS[cell["cell_type"]]
        assert all(isinstance(line, str) for line in cell["source"])
        assert all(line.endswith("\n") for line in cell["source"][:-1])


@each_notebook
def test_a_notebook_is_valid_for_nbformat(path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(nbformat.reads(path.read_text(encoding="utf-8"), as_version=4))


@each_notebook
def test_a_notebook_is_stored_without_results(path: Path) -> None:
    for cell in read(path)["cells"]:
        assert cell["metadata"] == {}
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


@each_notebook
def test_ids_of_cells_are_unique_names(path: Path) -> None:
    ids = [cell["id"] for cell in read(path)["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in ids)


@each_notebook
def test_a_notebook_names_no_place(path: Path) -> None:
    for cell in read(path)["cells"]:
        assert not PLACES.search("".join(cell["source"])), cell["id"]


@each_notebook
def test_the_first_cell_says_what_is_needed(path: Path) -> None:
    first = read(path)["cells"][0]
    text = "".join(first["source"])
    assert first["cell_type"] == "markdown" and text.startswith("# ")
    for word in ("**Requirements:**", "**Data:**", "**Run time:**"):
        assert word in text


@each_notebook
def test_a_notebook_is_on_the_page(path: Path) -> None:
    page = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    assert f"| `{path.name}` |" in page


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=" ".join)
def test_code_is_clean(command: list[str]) -> None:
    pytest.importorskip("ruff")
    arguments = [sys.executable, "-m", "ruff", *command, "--no-cache", *map(str, NOTEBOOKS)]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def stumbles(cell: dict) -> list[str]:
    """Return what a user of the notebook would not expect below a cell."""
    found = []
    for output in cell.get("outputs", []):
        if output["output_type"] == "error":
            found.append("\n".join(output["traceback"]))
        elif output["output_type"] == "stream":
            if output["name"] == "stderr" or STUMBLES.search(output["text"]):
                found.append(output["text"])
        elif "text/html" not in output["data"] and STUMBLES.search(output["data"]["text/plain"]):
            found.append(output["data"]["text/plain"])
    return found


def test_a_stumble_is_noticed() -> None:
    def cell(kind: str, **values: object) -> dict:
        return {"outputs": [{"output_type": kind, **values}]}

    assert stumbles(cell("error", traceback=["ZeroDivisionError"])) == ["ZeroDivisionError"]
    assert stumbles(cell("stream", name="stderr", text="hm"))
    assert stumbles(cell("stream", name="stdout", text="UserWarning: hm"))
    assert stumbles(cell("execute_result", data={"text/plain": "<a.B object at 0x7f>"}))
    assert not stumbles(cell("stream", name="stdout", text="3 relations"))
    assert not stumbles(cell("execute_result", data={"text/plain": "True"}))


@pytest.mark.slow
@each_notebook
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    for name in ("ipykernel", "matplotlib", "distributed"):
        pytest.importorskip(name)
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    from jupyter_client import AsyncKernelManager

    # The interpreter of the tests, whatever kernels are installed.
    manager = AsyncKernelManager(kernel_name="python3")
    manager.kernel_spec.argv[0] = sys.executable
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        km=manager,
        timeout=SECONDS,
        allow_errors=True,
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute(cleanup_kc=True)  # also of a manager that was given
    found = {cell["id"]: problems for cell in notebook.cells if (problems := stumbles(cell))}
    assert found == {}
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    assert list(tmp_path.iterdir()) == []
