"""Check what would be published: build, metadata, contents, installation in an empty environment.

::

    python tools/release_check.py dist            # a folder with one sdist and one wheel
    python tools/release_check.py dist --no-install

The sdist must contain what a build needs, and nothing that was built; the wheel must contain the
package, its type information and licenses, no tests, and be small. Then the wheel and its pinned
requirements (``requirements/ci.txt``) are installed into a new environment, and
``kernelwood doctor`` and ``kernelwood demo`` run in a folder outside the repository.
``make release-check`` builds both files and runs this.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from requirements import ROOT, requirements_of

LARGEST_WHEEL = 4e6  # bytes; the core has about 1.2e6, the bundled parsers 1e6
LICENSES = ("LICENSE", "NOTICE")
# What a wheel must have beside modules: patterns, of which each must match a file.
IN_WHEEL = (
    r"kernelwood/py\.typed",
    r"kernelwood/_core\.[^/]*so",
    r"kernelwood/_core\.pyi",
    r"kernelwood/__init__\.pyi",
    r"kernelwood/parsing/grammars/.*\.npz",
    r"kernelwood/datasets/interactions/train\.jsonl",
    r"kernelwood/web/static/.*\.js",
    r"kernelwood/web/templates/.*\.html",
    r"kernelwood-.*\.dist-info/entry_points\.txt",
    *(rf"kernelwood-.*\.dist-info/licenses/{name}" for name in LICENSES),
)
NOT_IN_WHEEL = r"(^|/)(tests|benchmarks|fuzz|native|__pycache__)/|(^|/)(test_[^/]*|conftest)\.py$"
IN_SDIST = (
    *LICENSES, "PKG-INFO", "README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml",
    "CMakeLists.txt", "native/hardening.cmake", "native/src/core.cpp", "src/kernelwood/py.typed",
    "requirements/ci.txt", "tests/conftest.py",
)  # fmt: skip
NOT_IN_SDIST = (
    r"^(build|dist|\.venv|docs/_build|docs/gallery|\.git)/|\.(so|pyc|o|whl|kwp)$|__pycache__"
)


def problems_of_wheel(path: Path) -> list[str]:
    """Return what is wrong with a wheel."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        [about] = [name for name in names if name.endswith(".dist-info/METADATA")]
        metadata = archive.read(about).decode()
    problems = missing_or_unwanted(names, IN_WHEEL, NOT_IN_WHEEL)
    size = path.stat().st_size
    if size > LARGEST_WHEEL:
        problems.append(f"{size / 1e6:.2f} MB, more than {LARGEST_WHEEL / 1e6:g} MB")
    roots = {PurePosixPath(name).parts[0] for name in names}
    if unknown := {r for r in roots if r != "kernelwood" and not r.startswith("kernelwood-")}:
        problems.append(f"would install {', '.join(sorted(unknown))}")
    if not re.search("^License-Expression: Apache-2.0$", metadata, re.MULTILINE):
        problems.append("the metadata name no license")
    return problems


def problems_of_sdist(path: Path) -> list[str]:
    """Return what is wrong with a source distribution."""
    with tarfile.open(path) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
    names = [member.name.partition("/")[2] for member in members]
    return missing_or_unwanted(names, [f"{re.escape(name)}$" for name in IN_SDIST], NOT_IN_SDIST)


def missing_or_unwanted(names: list[str], wanted: Iterable[str], unwanted: str) -> list[str]:
    """Return a line for each pattern that matches no name, and for each unwanted name."""
    missing = [p for p in wanted if not any(re.match(p, name) for name in names)]
    return [f"no file {pattern}" for pattern in missing] + [
        f"must not contain {name}" for name in names if re.search(unwanted, name)
    ]


def problems_of_metadata(paths: list[Path]) -> list[str]:
    """Return what twine finds: descriptions that cannot be shown, wrong fields."""
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [done.stdout + done.stderr]


def install(wheel: Path, folder: Path) -> tuple[Path, dict[str, float]]:
    """Install a wheel and its pinned requirements; return the interpreter, and seconds of steps."""
    seconds: dict[str, float] = {}
    python = folder / "environment" / "bin" / "python"
    pins = folder / "requirements.txt"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    selected = [sys.executable, str(ROOT / "tools" / "requirements.py"), "base"]
    pins.write_text(run(selected, folder), encoding="utf-8")
    steps = {
        "environment": [sys.executable, "-m", "venv", str(python.parent.parent)],
        "requirements": [*pip, "--require-hashes", "--only-binary=:all:", "-r", str(pins)],
        # Complains if the pins do not satisfy what the wheel asks for.
        "wheel": [*pip, "--no-index", str(wheel)],
    }
    for name, command in steps.items():
        started = time.perf_counter()
        run(command, folder)
        seconds[name] = time.perf_counter() - started
    return python, seconds


def use(python: Path, folder: Path) -> list[str]:
    """Run commands of the installed package outside the repository; return what is wrong."""
    command = str(python.parent / "kernelwood")
    report = json.loads(run([command, "doctor", "--json"], folder))
    problems = [] if report["ok"] else ["kernelwood doctor found faults"]
    where = run([str(python), "-c", "import kernelwood; print(kernelwood.__file__)"], folder)
    if not Path(where.strip()).is_relative_to(folder):
        problems.append(f"imported from {where.strip()}, not from the new environment")
    run([command, "demo", "--output", "demo.html"], folder)
    if not (folder / "demo.html").stat().st_size:
        problems.append("kernelwood demo wrote no report")
    return problems


def run(command: list[str], folder: Path) -> str:
    """Return what a command prints; its messages are shown if it fails."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "KERNELWOOD"))}
    done = subprocess.run(
        command, cwd=folder, env=clean, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def main(arguments: list[str]) -> int:
    """Print a line for each check; the exit code is 1 if one fails."""
    parser = argparse.ArgumentParser(description="Check the files of a release.")
    parser.add_argument("folder", type=Path, help="folder with one sdist and one wheel")
    parser.add_argument("--no-install", action="store_true", help="only look at the files")
    options = parser.parse_args(arguments)
    found = [sorted(options.folder.resolve().glob(pattern)) for pattern in ("*.tar.gz", "*.whl")]
    if [len(paths) for paths in found] != [1, 1]:
        print(f"{options.folder} must have one sdist and one wheel", file=sys.stderr)
        return 1
    [[sdist], [wheel]] = found
    checks = {
        f"{sdist.name}, {sdist.stat().st_size / 1e6:.2f} MB": problems_of_sdist(sdist),
        f"{wheel.name}, {wheel.stat().st_size / 1e6:.2f} MB": problems_of_wheel(wheel),
        "metadata (twine check --strict)": problems_of_metadata([sdist, wheel]),
    }
    if not options.no_install:
        with tempfile.TemporaryDirectory(prefix="kernelwood-release-") as name:
            folder = Path(name).resolve()
            python, seconds = install(wheel, folder)
            times = ", ".join(f"{step} {value:.1f} s" for step, value in seconds.items())
            label = f"installation of {len(requirements_of('base'))} requirements ({times})"
            checks[f"{label}, doctor, demo"] = use(python, folder)
    for check, problems in checks.items():
        print("\n  ".join([f"{'✗' if problems else '✓'} {check}", *problems]))
    return 1 if any(checks.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
