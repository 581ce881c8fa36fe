"""The lock file: complete, with hashes, and what is selected from it."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import lock
import requirements

PARTS = ("build", "base", *lock.EXTRAS)
PINS = requirements.read_lock()
# Versions of Python that are supported, on the platforms that make runs on.
ENVIRONMENTS = [
    {**default_environment(), "python_version": version, "python_full_version": f"{version}.9"}
    | {"sys_platform": platform, "os_name": "posix", "platform_system": platform.capitalize()}
    for version in ("3.10", "3.11", "3.12", "3.13", "3.14")
    for platform in ("linux", "darwin")
]


def pinned(environment):
    """Return the version of each package in the lock file that an environment gets."""
    found = {}
    for pin in PINS:
        line = Requirement(pin.text.split("\\")[0])
        if line.marker is None or line.marker.evaluate(environment):
            assert pin.name not in found, f"{pin.name} has two versions"
            [version] = line.specifier
            found[pin.name] = version
    return found


def selected(*parts):
    names = {requirements.normalized(line) for part in parts for line in wanted(part)}
    return requirements.select(names, PINS)


def wanted(part):
    return requirements.requirements_of(part)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "environment", ENVIRONMENTS, ids=lambda e: f"{e['python_version']}-{e['sys_platform']}"
)
def test_the_lock_file_satisfies_what_a_part_requires(part, environment):
    versions = pinned(environment)
    for line in map(Requirement, wanted(part)):
        if line.marker is None or line.marker.evaluate(environment):
            version = versions[requirements.normalized(line.name)]
            assert version.operator == "==" and line.specifier.contains(version.version)


def test_every_entry_has_hashes():
    for pin in PINS:
        assert re.search(r"\\\n +--hash=sha256:[0-9a-f]{64}( \\)?$", pin.text, re.MULTILINE)
        assert len(pin.text.splitlines()) > 1 and not pin.text.endswith("\\")


def test_the_lock_file_has_no_addresses():
    text = requirements.LOCK.read_text(encoding="utf-8")
    assert "://" not in text and " @ " not in text and "\n-" not in text


def test_heavy_frameworks_are_not_installed():
    names = {pin.name for pin in PINS}
    assert not {"torch", "tensorflow", "jax", "stanza", "transformers"} & names
    assert not [name for name in names if name.startswith("nvidia")]


@pytest.mark.parametrize("parts", [("base",), ("base", "dev")], ids="-".join)
def test_a_selection_has_everything_that_its_packages_require(parts):
    names = {pin.name for pin in selected(*parts)}
    missing = set()
    for name in names:
        try:
            lines = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform or version
        needed = [line for line in map(Requirement, lines) if not line.marker or applies(line)]
        missing |= {requirements.normalized(line.name) for line in needed} - names
    assert missing == set()


def applies(line):
    return line.marker.evaluate({"extra": ""})


def test_a_selection_has_nothing_of_other_parts():
    names = {pin.name for pin in selected("base")}
    assert "numpy" in names and "mdurl" in names  # needed by a package that rich needs
    assert not {"pytest", "spacy", "sphinx", "uv", "cmake"} & names


def test_entries_are_read_with_hashes_and_what_needs_them(tmp_path):
    path = tmp_path / "lock.txt"
    path.write_text(
        "# This file was written by a tool:\n#    make lock\n"
        "Big.Pack==1.0 ; python_version < '4' \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n"
        "    # via kernelwood (pyproject.toml)\n"
        "part==2 \\\n    --hash=sha256:cc\n    # via\n    #   big-pack\n    #   other_one\n"
        "alone==3 \\\n    --hash=sha256:dd\n"
    )
    pins = requirements.read_lock(path)
    assert [(pin.name, pin.needed_by) for pin in pins] == [
        ("big-pack", ["kernelwood"]),
        ("part", ["big-pack", "other-one"]),
        ("alone", []),
    ]
    assert pins[0].text.endswith("\\\n    --hash=sha256:aa \\\n    --hash=sha256:bb")
    assert [pin.name for pin in requirements.select({"big-pack"}, pins)] == ["big-pack", "part"]


def test_a_requirement_that_is_not_pinned_is_named(capsys):
    assert requirements.main(["stanza"]) == 1
    assert "not in ci.txt: stanza; run make lock" in capsys.readouterr().err
