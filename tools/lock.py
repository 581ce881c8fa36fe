"""Write ``requirements/ci.txt``: versions and hashes of all that ``make`` installs.

::

    python tools/lock.py              # keep versions that still satisfy pyproject.toml
    python tools/lock.py --upgrade    # the newest versions; arguments are those of uv pip compile

One file for all supported versions of Python and all platforms: entries have environment markers
where versions differ, and the hashes of all files of a version. ``tools/requirements.py`` selects
from it.
"""

from __future__ import annotations

import subprocess
import sys

from requirements import LOCK, ROOT, requirements_of

EXTRAS = ("dev", "docs", "slow", "release")  # those that make installs
OLDEST = "3.10"


def main(arguments: list[str]) -> int:
    """Run uv and return its exit code."""
    extras = [word for extra in EXTRAS for word in ("--extra", extra)]
    command = [
        sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "-", *extras,
        "--universal", "--python-version", OLDEST, "--generate-hashes", "--quiet",
        "--custom-compile-command", "make lock", "--output-file", str(LOCK.relative_to(ROOT)),
        *arguments,
    ]  # fmt: skip
    build = "\n".join(requirements_of("build"))
    return subprocess.run(command, cwd=ROOT, input=build, text=True, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
