"""Write the type stub of the compiled core, or check that it is up to date.

::

    python tools/stubs.py src/kernelwood/_core.pyi
    python tools/stubs.py --check src/kernelwood/_core.pyi
"""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path

from nanobind.stubgen import StubGen

import kernelwood._core

HEADER = "# Written by `make stubs` from the compiled core; do not edit.\n\n"


def generate() -> str:
    """Return the stub of the core as it is installed."""
    stubs = StubGen(kernelwood._core)
    stubs.put(kernelwood._core)
    return HEADER + stubs.get()


def same_meaning(left: str, right: str) -> bool:
    """Compare two stubs, ignoring comments and layout."""
    return ast.dump(ast.parse(left)) == ast.dump(ast.parse(right))


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--check", action="store_true", help="change nothing, fail when outdated")
    arguments = parser.parse_args()
    current = generate()
    if not arguments.check:
        arguments.path.write_text(current, encoding="utf-8")
    elif not arguments.path.exists() or not same_meaning(
        current, arguments.path.read_text(encoding="utf-8")
    ):
        sys.exit(f"{arguments.path} does not describe the compiled core; run `make stubs`")


if __name__ == "__main__":
    main()
