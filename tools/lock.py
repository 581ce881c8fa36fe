"""Write ``requirements/ci.txt`` and ``requirements/oldest.txt``: versions and hashes.

::

    python tools/lock.py              # keep versions that still satisfy pyproject.toml
    python tools/lock.py --upgrade    # the newest versions; arguments are those of uv pip compile

``ci.txt`` has all that ``make`` installs: one file for all supported versions of Python and all
platforms: entries have environment markers where versions differ, and the hashes of all files of a
version. ``tools/requirements.py`` selects from it.

``oldest.txt`` has the lowest versions that ``pyproject.toml`` allows of what the package and the
extra ``all`` need, with the test tools of ``ci.txt``, for ``make test-oldest``.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from requirements import LOCK, OLDEST_LOCK, ROOT, normalized, read_lock, requirements_of

EXTRAS = ("dev", "docs", "slow", "bench", "release")  # those that make installs
OLDEST = "3.10"
OLDEST_TOOLS = ("pytest", "pytest-xdist", "hypothesis", "httpx")  # what `make test-oldest` runs


def main(arguments: list[str]) -> int:
    """Run uv for both files and return its exit code."""
    extras = [word for extra in EXTRAS for word in ("--extra", extra)]
    build = requirements_of("build")
    failed = _compile([*extras, "pyproject.toml", *_to(LOCK), *arguments], build)
    if failed:
        return failed
    lowest = ["--resolution", "lowest-direct", *_to(OLDEST_LOCK)]
    return _compile([*lowest, *arguments], oldest_requirements())


def oldest_requirements() -> list[str]:
    """Return what ``oldest.txt`` is made from: runtime requirements, and test tools as in CI."""
    runtime = [*requirements_of("base"), *(line for e in combined() for line in requirements_of(e))]
    tools = [pin.text.split("\\")[0].strip() for pin in read_lock() if pin.name in OLDEST_TOOLS]
    return [*runtime, *tools]


def combined() -> list[str]:
    """Return the extras that the extra ``all`` combines."""
    [line] = requirements_of("all")
    [names] = re.findall(r"\[(.*)\]", line)
    return [normalized(name.strip()) for name in names.split(",")]


def _to(path: Path) -> list[str]:
    return ["--output-file", str(path.relative_to(ROOT))]


def _compile(arguments: list[str], requirements: list[str]) -> int:
    command = [
        sys.executable, "-m", "uv", "pip", "compile", "-",
        "--universal", "--python-version", OLDEST, "--generate-hashes", "--quiet",
        "--custom-compile-command", "make lock", *arguments,
    ]  # fmt: skip
    text = "\n".join(requirements)
    return subprocess.run(command, cwd=ROOT, input=text, text=True, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
