"""Print the pinned requirements of parts of the package, for ``pip install --require-hashes``.

::

    python tools/requirements.py build base
    python tools/requirements.py dev

A part is ``base`` (what the package needs), ``build`` (what compiles it), or an extra. Versions and
hashes are those of ``requirements/ci.txt``, which ``make lock`` writes (``tools/lock.py``): the
requirements of a part with everything that these need. Only the standard library is used, since
nothing else is installed yet.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements" / "ci.txt"
OLDEST_LOCK = ROOT / "requirements" / "oldest.txt"  # the lowest versions, for make test-oldest
# The package is built without isolation, where the backend does not ask for these.
BUILD_TOOLS = ("cmake>=3.26", "ninja>=1.10")


@dataclass
class Pin:
    """A version of a package in the lock file."""

    name: str
    text: str
    needed_by: list[str] = field(default_factory=list)


def normalized(name: str) -> str:
    """Return the name of a package as indexes spell it, from a requirement or an annotation."""
    found = re.match(r"[A-Za-z0-9._-]+", name)
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def requirements_of(part: str, project: dict[str, Any] | None = None) -> list[str]:
    """Return the requirements of a part in ``pyproject.toml``, not pinned."""
    if project is None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    if part == "build":
        return [*project["build-system"]["requires"], *BUILD_TOOLS]
    if part == "base":
        return list(project["project"]["dependencies"])
    extras = project["project"]["optional-dependencies"]
    if part not in extras:
        sys.exit(f"the package has no extra {part!r}")
    return list(extras[part])


def read_lock(path: Path = LOCK) -> list[Pin]:
    """Return the entries of a lock file that uv wrote, in its order."""
    pins: list[Pin] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if re.match(r"[A-Za-z0-9]", line):
            pins.append(Pin(normalized(line), line))
        elif line.lstrip().startswith("--hash"):
            pins[-1].text += "\n" + line
        elif pins and (parent := re.sub(r"^\s*#\s*(via\b)?\s*", "", line)):
            pins[-1].needed_by.append(normalized(parent))
    return pins


def select(names: set[str], pins: list[Pin]) -> list[Pin]:
    """Return the entries of packages, and of all that these need."""
    chosen, size = set(names), -1
    while size != len(chosen):
        size = len(chosen)
        chosen |= {pin.name for pin in pins if chosen.intersection(pin.needed_by)}
    return [pin for pin in pins if pin.name in chosen]


def main(parts: list[str]) -> int:
    """Print the pinned requirements of parts."""
    pins = read_lock()
    wanted = {normalized(line) for part in parts for line in requirements_of(part)}
    if missing := wanted - {pin.name for pin in pins}:
        print(f"not in {LOCK.name}: {', '.join(sorted(missing))}; run make lock", file=sys.stderr)
        return 1
    print("\n".join(pin.text for pin in select(wanted, pins)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
