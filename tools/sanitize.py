"""Run tests, or the fuzz harness, with a native core that was built with sanitizers.

    python tools/sanitize.py CORE tests [PYTEST ARGUMENTS]
    python tools/sanitize.py CORE fuzz [ARGUMENTS OF THE HARNESS]

CORE is the extension module, or a wheel with it, built with ``KERNELWOOD_SANITIZE``; ``make
sanitize`` builds one in ``build/sanitize``. Every Python process, also those that tests start,
loads it in place of the installed core. Without arguments, ``tests`` runs the tests of all native
algorithms, and ``fuzz`` 150 crafted models of each class.

The first read or write out of bounds, and the first undefined operation, ends its process with
exit code 99 and a report, which is printed at the end. The exit code is 1 if there is a report, a
test fails, or the harness has findings.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
MODULE = "kernelwood._core"
# Of every package that calls the core, and so of every file in native/src.
TESTS = (
    "tests/arrays",
    "tests/entities/test_chains.py",
    "tests/entities/test_term_search.py",
    "tests/explain",
    "tests/features",
    "tests/information",
    "tests/kernels",
    "tests/learners",
    "tests/parsing",
    "tests/similarity",
    "tests/test_instruction_sets.py",
    "tests/tuning",
    "tests/vectors",
    "tests/views",
)
MODELS = ("--only", "model", "--inputs", "150")
# Addresses cannot be limited, since the sanitizer reserves terabytes of them; single allocations
# are (below). Everything takes a multiple of its time.
LIMITS = ("--memory", "0", "--cpu", "120")
LARGEST_ALLOCATION = 3072  # MiB
EXIT_CODE = 99
# Exceptions of C++ are caught by the sanitizer's runtime only if the library was loaded before.
RUNTIMES = ("libasan.so", "libubsan.so", "libstdc++.so.6")
# Runs when a Python process starts that has its folder on PYTHONPATH, after the finder of an
# editable installation was put in place, and so before it.
STARTUP = """
import importlib.machinery, importlib.util, sys

class Core:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == {module!r}:
            loader = importlib.machinery.ExtensionFileLoader(name, {file!r})
            return importlib.util.spec_from_file_location(name, {file!r}, loader=loader)

sys.meta_path.insert(0, Core)
if {undefined!r}:
    # UBSAN_OPTIONS=log_path would set the path in the runtime of the other sanitizer.
    import ctypes
    ctypes.CDLL({undefined!r}).__sanitizer_set_report_path({report!r})
"""


def environment(file: Path, folder: Path) -> dict[str, str]:
    """Return the variables with which Python processes load a core that has sanitizers.

    Parameters
    ----------
    file : Path
        The extension module.
    folder : Path
        Of the module that runs at the start of processes, and of reports.
    """
    (folder / "start").mkdir()
    (folder / "reports").mkdir()
    runtimes = _runtimes()
    startup = STARTUP.format(
        module=MODULE,
        file=str(file),
        undefined=next((path for path in runtimes if "ubsan" in path), ""),
        report=str(folder / "reports" / "undefined").encode(),
    )
    (folder / "start" / "sitecustomize.py").write_text(startup, encoding="utf-8")
    paths = [str(folder / "start"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "LD_PRELOAD": " ".join(runtimes),
        # The interpreter frees little when it ends. What cannot be allocated is a MemoryError.
        "ASAN_OPTIONS": f"detect_leaks=0:allocator_may_return_null=1:"
        f"max_allocation_size_mb={LARGEST_ALLOCATION}:exitcode={EXIT_CODE}:"
        f"log_path={folder / 'reports' / 'address'}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:exitcode={EXIT_CODE}",
        "PYTHONPATH": os.pathsep.join(paths),
        "OPENBLAS_NUM_THREADS": "1",
    }


def _runtimes() -> list[str]:
    compiler = os.environ.get("CXX", "c++")
    return [
        subprocess.run(
            [compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True
        ).stdout.strip()
        for name in RUNTIMES
    ]


def extract(core: Path, folder: Path) -> Path:
    """Return the extension module, from a wheel if it is in one."""
    if core.suffix != ".whl":
        return core
    with zipfile.ZipFile(core) as wheel:
        names = [name for name in wheel.namelist() if Path(name).name.startswith("_core.")]
        modules = [name for name in names if not name.endswith(".pyi")]
        return Path(wheel.extract(modules[0], folder))


def command_of(what: str, arguments: list[str]) -> list[str]:
    """Return the arguments of Python that run tests or the fuzz harness."""
    if what == "fuzz":
        return ["-W", "ignore", "-m", "fuzz", *LIMITS, *(arguments or MODELS)]
    tests = arguments or [str(ROOT / test) for test in TESTS]
    return ["-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", *tests]


def show_reports(folder: Path) -> int:
    """Print reports of sanitizers, each kind of them once, and return their number."""
    seen = set()
    reports = sorted(folder.iterdir())
    for path in reports:
        report = path.read_text(encoding="utf-8", errors="replace")
        lines = report.splitlines()
        summary = next((line for line in lines if "SUMMARY" in line or "runtime" in line), report)
        if summary not in seen:
            seen.add(summary)
            print(report, file=sys.stderr)
    print(f"{len(reports)} reports of sanitizers, {len(seen)} different", file=sys.stderr)
    return len(reports)


def main(arguments: list[str]) -> int:
    """Run tests or the harness, and return the exit code."""
    if len(arguments) < 2 or arguments[1] not in ("tests", "fuzz"):
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = extract(Path(arguments[0]), folder).resolve()
        variables = environment(file, folder)
        if arguments[1] == "tests":
            # Small objects of Python get red zones of their own; arrays have them anyway.
            variables["PYTHONMALLOC"] = "malloc"
        check = f"import kernelwood._core as core; assert core.__file__ == {str(file)!r}"
        subprocess.run([sys.executable, "-c", check], cwd=ROOT, env=variables, check=True)
        command = [sys.executable, *command_of(arguments[1], arguments[2:])]
        code = subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode
        return 1 if show_reports(folder / "reports") or code else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
