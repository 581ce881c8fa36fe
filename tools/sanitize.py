"""Run tests with a native core that was built with sanitizers.

    python tools/sanitize.py CORE [PYTEST ARGUMENTS]

CORE is the extension module, or a wheel with it, built with ``KERNELWOOD_SANITIZE``; ``make
sanitize`` builds one in ``build/sanitize``. The tests of the installed package run with it in place
of the installed core. Without arguments these are the tests of all native algorithms. The first
read or write out of bounds, and the first undefined operation, ends the run with a report.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

MODULE = "kernelwood._core"
TESTS = (
    "tests/kernels",
    "tests/arrays",
    "tests/similarity",
    "tests/parsing/test_chart.py",
    "tests/parsing/test_parser.py",
    "tests/features/test_hashing.py",
    "tests/features/test_hash_index.py",
    "tests/features/test_vector_search.py",
    "tests/learners/test_bit_forest.py",
    "tests/learners/test_kernel_svc.py",
    "tests/entities/test_chains.py",
    "tests/information",
    "tests/vectors",
)
# Exceptions of C++ are caught by the sanitizer's runtime only if the library was loaded before.
RUNTIMES = ("libasan.so", "libubsan.so", "libstdc++.so.6")
RUN = f"""
import importlib.machinery, importlib.util, sys
loader = importlib.machinery.ExtensionFileLoader({MODULE!r}, sys.argv[1])
spec = importlib.util.spec_from_file_location({MODULE!r}, sys.argv[1], loader=loader)
core = importlib.util.module_from_spec(spec)
sys.modules[{MODULE!r}] = core
loader.exec_module(core)
from kernelwood import _native
assert _native._core is core, "the installed core is in use"
import pytest
sys.exit(pytest.main(sys.argv[2:]))
"""


def environment() -> dict[str, str]:
    """Return the variables with which Python loads a module that has sanitizers."""
    compiler = os.environ.get("CXX", "c++")
    found = [
        subprocess.run(
            [compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True
        ).stdout.strip()
        for name in RUNTIMES
    ]
    return {
        **os.environ,
        "LD_PRELOAD": " ".join(found),
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter frees little when it ends
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "PYTHONMALLOC": "malloc",  # arrays get red zones of their own
    }


def extract(core: Path, folder: Path) -> Path:
    """Return the extension module, from a wheel if it is in one."""
    if core.suffix != ".whl":
        return core
    with zipfile.ZipFile(core) as wheel:
        names = [name for name in wheel.namelist() if Path(name).name.startswith("_core.")]
        modules = [name for name in names if not name.endswith(".pyi")]
        return Path(wheel.extract(modules[0], folder))


def main(arguments: list[str]) -> int:
    """Run the tests and return the exit code of pytest."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        module = extract(Path(arguments[0]), Path(folder)).resolve()
        tests = arguments[1:] or list(TESTS)
        command = [sys.executable, "-c", RUN, str(module), "-q", "-p", "no:xdist", *tests]
        return subprocess.run(command, env=environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
