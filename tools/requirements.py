"""Print what an extra of the installed package needs, one requirement a line.

::

    python tools/requirements.py dev

Installing these directly leaves the package alone; ``pip install .[dev]`` would compile the
native core again.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import requires


def requirements_of(extra: str) -> list[str]:
    """Return the requirements of ``extra``, without those of the package itself."""
    marker = re.compile(rf"""\s*;\s*extra\s*==\s*["']{re.escape(extra)}["']\s*$""")
    lines = requires("kernelwood") or []
    return [marker.sub("", line) for line in lines if marker.search(line)]


if __name__ == "__main__":
    found = requirements_of(sys.argv[1])
    if not found:
        sys.exit(f"the package has no extra {sys.argv[1]!r}")
    print("\n".join(found))
