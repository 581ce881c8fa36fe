"""What must hold of the repository as a whole."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import kernelwood
from kernelwood.io import FORMATS, Format
from kernelwood.kernels import KERNELS
from kernelwood.learners import LEARNERS
from kernelwood.persist import MODELS

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src" / "kernelwood"

# Folders and addresses that exist on one machine only. Written in pieces, or this file would
# be the first one found.
MACHINE_ONLY = re.compile(
    "|".join(
        [
            r"(?<![\w.])/" + "home/",
            r"(?<![\w.])/" + "root/",
            r"(?<![\w.])/" + "work/",
            r"(?<![\w.])/" + "opt/",
            r"(?<![\w.])/" + "Users/",
            r"file:" + "///",
            r"(extra-)?index-" + "url",
            r"find-" + "links",
        ]
    )
)


def tracked_files() -> list[Path]:
    """Return the files of text that are, or are about to be, in the repository."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git clone")
    paths = [ROOT / name for name in listed.decode().split("\0") if name]
    binary = {".kw", ".npz", ".png"}  # models, grammars and pictures
    return [path for path in paths if path.is_file() and path.suffix not in binary]


def text_of(folder: str, pattern: str) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob(pattern))


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_has_a_test_file(name: str) -> None:
    kernel = KERNELS[name]
    module = kernel.__module__.rpartition(".")[2]
    tests = ROOT / "tests" / "kernels" / f"test_{module}.py"
    assert tests.exists(), f"{name}: write {tests.relative_to(ROOT)}"
    assert kernel.__name__ in tests.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_has_a_page(name: str) -> None:
    page = ROOT / "docs" / "kernels" / f"{name}.md"
    assert page.exists(), f"write {page.relative_to(ROOT)}"
    assert f"kernels/{name}\n" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_is_in_the_table_of_kernels(name: str) -> None:
    assert f"| `{KERNELS[name].__name__}` |" in text_of("docs", "choosing.md")


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_has_a_benchmark(name: str) -> None:
    benchmarks = text_of("benchmarks", "*.py")
    assert KERNELS[name].__name__ in benchmarks


@pytest.mark.parametrize("name", [row.name for row in FORMATS])
def test_every_format_has_a_test_file(name: str) -> None:
    assert (ROOT / "tests" / "io" / f"test_{name.replace('-', '_')}.py").exists()


@pytest.mark.parametrize("name", [row.name for row in FORMATS])
def test_every_format_is_in_the_documentation(name: str) -> None:
    assert f"| `{name}` |" in (ROOT / "docs" / "reading.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_format_is_in_the_table_of_formats(row: Format) -> None:
    rows = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8").splitlines()
    [found] = [line.split("|")[1:-1] for line in rows if line.startswith(f"| `{row.name}` |")]
    assert len(found) == 11
    assert (found[3].strip() == "no") == (row.write is None and row.write_files is None)


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_format_has_a_benchmark_or_seeds_for_fuzzing(row: Format) -> None:
    benchmarks = text_of("benchmarks", "*.py") + text_of("fuzz", "*.py")
    files = [suffix for suffix in row.suffixes if suffix in benchmarks]
    assert files or f'"{row.name}"' in benchmarks, f"no benchmark reads {row.name}"


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_has_a_test_file(name: str) -> None:
    tests = ROOT / "tests" / "learners" / f"test_{name.replace('-', '_')}.py"
    assert LEARNERS[name].__name__ in tests.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_is_in_the_guide(name: str) -> None:
    assert f"`{LEARNERS[name].__name__}`" in text_of("docs", "classifiers.md")


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_has_a_benchmark(name: str) -> None:
    assert LEARNERS[name].__name__ in text_of("benchmarks", "*.py")


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_can_be_saved(name: str) -> None:
    assert MODELS["learner", name].load_class() is LEARNERS[name]


@pytest.mark.parametrize("name", kernelwood.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(kernelwood, name) is not None


@pytest.mark.parametrize(
    "name",
    [name for name in kernelwood.__all__ if not isinstance(getattr(kernelwood, name), ModuleType)],
)
def test_every_public_name_is_in_the_api_reference(name: str) -> None:
    assert f"kernelwood.{name}" in api_entries()


def test_every_entry_of_the_api_reference_resolves_and_is_there_once() -> None:
    entries = api_entries()
    assert len(entries) > 300
    assert sorted(set(entries)) == sorted(entries)
    for entry in entries:
        assert pkgutil.resolve_name(entry).__doc__


def api_entries() -> list[str]:
    """Return the names in the tables of the API reference, each of which gets a page."""
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    table = r"^\.\. autosummary::\n   :toctree: api\n   :nosignatures:\n\n((?:   [\w.]+\n)+)"
    found = re.findall(table, page, re.MULTILINE)
    assert len(found) == page.count("autosummary::") > 0
    return [f"kernelwood.{name}" for names in found for name in names.split()]


def imported_modules(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the modules that a file imports, with the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)


def test_packages_are_used_through_their_init() -> None:
    inner = {
        f"kernelwood.{path.parent.relative_to(SOURCES).as_posix().replace('/', '.')}.{path.stem}"
        for path in SOURCES.rglob("*.py")
        if path.parent != SOURCES and path.stem != "__init__"
    }
    found = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in SOURCES.rglob("*.py")
        for line, module in imported_modules(path)
        if module in inner and module.split(".")[1] != path.relative_to(SOURCES).parts[0]
    ]
    assert found == []


def test_no_exported_name_is_hidden_by_a_module_of_that_name() -> None:
    hidden = [
        f"{stub.parent.name}.{alias.name}"
        for stub in SOURCES.glob("*/__init__.pyi")
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if (stub.parent / f"{alias.name}.py").exists()
    ]
    assert hidden == []


@pytest.mark.parametrize("stub", sorted(SOURCES.rglob("__init__.pyi")), ids=lambda s: s.parent.name)
def test_every_name_in_a_stub_resolves(stub: Path) -> None:
    relative = stub.parent.relative_to(SOURCES.parent)
    package = importlib.import_module(relative.as_posix().replace("/", "."))
    assert package.__all__ and all(hasattr(package, name) for name in package.__all__)


def test_version_is_the_same_everywhere() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    [packaged] = re.findall(r'^version = "(.*)"$', project, re.MULTILINE)
    [cited] = re.findall(r"^version: (.*)$", citation, re.MULTILINE)
    assert packaged == cited == kernelwood.__version__


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("RelationExtracter", "; did you mean 'RelationExtractor'?"),
        ("set_config", "; did you mean 'config_context'?"),
        ("Banana", ""),
    ],
)
def test_a_misspelled_name_has_a_suggestion(wrong: str, hint: str) -> None:
    with pytest.raises(AttributeError) as failure:
        getattr(kernelwood, wrong)
    assert str(failure.value) == f"kernelwood has no attribute {wrong!r}{hint}"


def test_the_version_is_in_the_changelog() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{kernelwood.__version__}]" in changelog


def test_only_one_module_imports_the_compiled_core() -> None:
    importing = [
        path.name
        for path in SOURCES.rglob("*.py")
        if re.search(r"import _core\b|kernelwood\._core\b", path.read_text(encoding="utf-8"))
    ]
    assert importing == ["_native.py"]


def test_no_file_names_a_place_on_one_machine() -> None:
    found = []
    for path in tracked_files():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if MACHINE_ONLY.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert found == []


def test_files_named_in_the_architecture_exist() -> None:
    named = re.findall(
        r"`([\w./-]+\.(?:pyi?|hpp|cpp))\b", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    )
    folders = (ROOT, SOURCES, ROOT / "native" / "include" / "kernelwood")
    missing = [name for name in named if not any((folder / name).exists() for folder in folders)]
    assert named and missing == []


def test_every_native_header_is_in_the_architecture() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    plumbing = {"engine.hpp", "reduce.hpp", "tree_parameters.hpp"}
    headers = {path.name for path in (ROOT / "native" / "include" / "kernelwood").glob("*.hpp")}
    assert {name for name in headers - plumbing if f"`{name}`" not in text} == set()
