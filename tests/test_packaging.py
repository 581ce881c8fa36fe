"""Metadata, workflows and recipes agree with each other."""

from __future__ import annotations

import re
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

sys.path.append(str(Path(__file__).parents[1] / "tools"))

import lock
import requirements

ROOT = Path(__file__).parent.parent
SETTINGS = requirements.tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
WHEELS = SETTINGS["tool"]["cibuildwheel"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PYTHON = re.compile(r"Programming Language :: Python :: (3\.\d+)$")
VERSIONS = [found[1] for line in PROJECT["classifiers"] if (found := PYTHON.match(line))]


def read_yaml(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def wheels(workflow):
    """Return the workflow's machines that build wheels."""
    return read_yaml(ROOT / ".github/workflows" / workflow)["jobs"]["wheels"]["strategy"]["matrix"]


def test_wheels_are_built_for_the_versions_of_the_classifiers():
    patterns = WHEELS["build"].split()
    assert patterns == [f"cp{version.replace('.', '')}-*" for version in VERSIONS]


def test_the_oldest_version_of_the_classifiers_is_the_required_one():
    assert PROJECT["requires-python"] == f">={VERSIONS[0]}"
    assert VERSIONS[0] == lock.OLDEST


def test_the_versions_of_the_classifiers_are_tested():
    jobs = read_yaml(ROOT / ".github" / "workflows" / "test.yml")["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == VERSIONS


@pytest.mark.parametrize(
    ("classifier", "machine", "table"),
    [
        ("Operating System :: POSIX :: Linux", "ubuntu-*", "linux"),
        ("Operating System :: MacOS", "macos-*", "macos"),
        ("Operating System :: Microsoft :: Windows", "windows-*", "windows"),
    ],
)
def test_systems_of_classifiers_are_those_that_wheels_are_built_for(classifier, machine, table):
    machines = wheels("wheels.yml")["os"]
    named = classifier in PROJECT["classifiers"]
    assert any(fnmatch(name, machine) for name in machines) == named
    assert (table in WHEELS) == named


def test_wheels_for_the_stable_abi_begin_with_a_version_of_the_classifiers():
    [digits] = re.findall(r"^cp3(\d+)$", SETTINGS["tool"]["scikit-build"]["wheel"]["py-api"])
    assert f"3.{digits}" in VERSIONS
    assert "STABLE_ABI" in (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")


def test_the_extra_all_does_not_bring_torch():
    assert set(lock.combined()) == {
        "plot", "faiss", "spacy", "arrow", "pandas", "polars", "web", "dask",
    }  # fmt: skip


def test_the_extra_bench_has_no_package_with_code_under_the_gpl():
    names = {requirements.normalized(line) for line in extra("bench")}
    assert "faiss-cpu" in names and not {"strkernels", "grakel"} & names


def test_the_lowest_versions_are_those_that_the_package_allows():
    pinned = {pin.name: pin.text for pin in requirements.read_lock(requirements.OLDEST_LOCK)}
    for text in [*PROJECT["dependencies"], *(t for e in lock.combined() for t in extra(e))]:
        wanted = Requirement(text)
        [lower] = [s.version for s in wanted.specifier if s.operator == ">="]
        version = re.match(r"\S+==(\S+)", pinned[requirements.normalized(wanted.name)])[1]
        assert re.fullmatch(rf"{re.escape(lower)}(\.0)*(\.\d+)?", version), f"{text}: {version}"


def test_extras_for_users_are_shown_by_the_doctor_and_on_the_page():
    from kernelwood.cli.commands.doctor import _OPTIONAL

    assert set(_OPTIONAL) == {*lock.combined(), "stanza"}
    page = (ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")
    listed = "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE))
    assert set(re.findall(r"`(\w+)`", listed)) == {*_OPTIONAL, "all"}


def extra(name):
    return PROJECT["optional-dependencies"][name]


def test_runs_of_benchmarks_are_cached_under_new_names_and_read_under_old_ones():
    steps = read_yaml(ROOT / ".github" / "workflows" / "benchmarks.yml")["jobs"]["peers"]["steps"]
    [cache] = [step["with"] for step in steps if step.get("uses", "").startswith("actions/cache@")]
    assert "github.run_id" in cache["key"] and cache["key"].startswith(cache["restore-keys"])
    [run] = [step["run"] for step in steps if step.get("name") == "make bench"]
    assert f"STORE={cache['path']}/" in run and "benchmarks/history/peers.jsonl" in run


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_may_only_read(path):
    workflow = read_yaml(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert all("permissions" not in job for job in workflow["jobs"].values())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_have_a_major_version(path):
    for job in read_yaml(path)["jobs"].values():
        for step in job["steps"]:
            assert "run" in step or re.search(r"^actions/[\w-]+@v\d+$", step["uses"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_targets_of_make_that_exist(path):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for job in read_yaml(path)["jobs"].values():
        for step in job["steps"]:
            for target in re.findall(r"\bmake PYTHON=python ([\w-]+)", step.get("run", "")):
                assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize(
    "path", [".github/dependabot.yml", ".readthedocs.yaml", "CITATION.cff"]
    + [f".github/ISSUE_TEMPLATE/{name}.yml" for name in ("bug", "question", "feature", "config")],
)  # fmt: skip
def test_files_for_services_can_be_read(path):
    assert read_yaml(ROOT / path)


def test_the_citation_names_the_four_papers():
    references = read_yaml(ROOT / "CITATION.cff")["references"]
    assert len(references) == 4
    assert all(reference["authors"] and reference["title"] for reference in references)


def test_the_conda_package_requires_what_the_package_requires():
    recipe = read_yaml(ROOT / "packaging" / "conda" / "recipe.yaml")
    assert recipe["context"]["version"] == PROJECT["version"]
    wanted = {}
    for text in PROJECT["dependencies"]:
        requirement = Requirement(text)  # markers are for versions of Python: conda has one each
        wanted[requirements.normalized(requirement.name)] = str(requirement.specifier)
    wanted["python"] = PROJECT["requires-python"]
    found = {}
    for line in recipe["requirements"]["run"]:
        name, _, specifier = line.partition(" ")
        found[name] = str(Requirement(f"x{specifier}").specifier)
    assert found == wanted


def test_the_conda_package_is_built_by_the_tools_of_the_package():
    recipe = read_yaml(ROOT / "packaging" / "conda" / "recipe.yaml")["requirements"]
    tools = {*recipe["host"], *(line for line in recipe["build"] if isinstance(line, str))}
    for text in requirements.requirements_of("build"):
        assert re.sub(r"(?<=[\w])(?=[<>=])", " ", text, count=1) in tools


def test_the_image_has_the_parts_of_the_service():
    dockerfile = (ROOT / "packaging" / "docker" / "Dockerfile").read_text(encoding="utf-8")
    from kernelwood.web.service import HEALTH

    assert f"'GET', '{HEALTH}'" in dockerfile
    assert "tools/requirements.py base web" in dockerfile
    assert dockerfile.index("\nUSER 1000\n") > dockerfile.rindex("\nFROM ")


def test_files_of_a_release_are_described_for_maintainers():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in (
        "release-check", "test-oldest", "requirements/oldest.txt", "packaging/conda/recipe.yaml",
        "packaging/docker/Dockerfile", ".github/workflows", "CITATION.cff", ".readthedocs.yaml",
        "deprecation.py", "tools/release_check.py",
    ):  # fmt: skip
        assert name in text, name
