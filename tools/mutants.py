"""Change single lines of the package at random, and list the changes that no test notices.

Every change is made in a temporary copy of `src`, and checked by the tests of its module:
`tests/<package>/test_<module>.py` if there is such a file, and if it survives those, or there is no
such file, `tests/<package>`. These tests have to pass on the unchanged copy first. A change that
survives is a missing test, or a line that does nothing; some changes cannot be noticed, since the
program does the same.

    python tools/mutants.py --n 40 --seed 1 --package relations --package persist
"""

from __future__ import annotations

import argparse
import ast
import compileall
import importlib.util
import os
import py_compile
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import SimpleQueue

COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",  # codespell:ignore notin
}  # fmt: skip
OPERATORS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*",
    ast.BitAnd: "|", ast.BitOr: "&", ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip
GENERATORS = ("default_rng", "child_generator")  # every stream of random numbers is as good

# Runs when a Python process starts that has its folder on PYTHONPATH. An editable installation
# finds modules by a finder of its own, before it looks at any path: this one comes first.
STARTUP = """
import sys
from importlib.machinery import PathFinder

class Copy:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == {name!r}:
            return PathFinder.find_spec(name, [{source!r}] if path is None else path)

sys.meta_path.insert(0, Copy)
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
except (ImportError, ValueError):
    pass
"""
MEMORY = 16 * 2**30  # bytes of addresses: a change may make a program allocate without end


@dataclass(frozen=True)
class Mutation:
    """A change of one line: the bytes from `start` to `end` become `text`."""

    line: int
    start: int
    end: int
    text: str
    kind: str

    def apply(self, source: bytes) -> bytes:
        """Return the source with the change."""
        lines = source.splitlines(keepends=True)
        old = lines[self.line - 1]
        lines[self.line - 1] = old[: self.start] + self.text.encode() + old[self.end :]
        return b"".join(lines)


@dataclass
class Mutant:
    """A change of a module, the tests that should notice it, and what came of them."""

    module: Path
    mutation: Mutation
    tests: Path
    result: str = ""
    seconds: float = 0.0


def mutations(source: bytes) -> list[Mutation]:
    """Return all changes of a module, in the order of its lines.

    Annotations, decorators, docstrings, assertions, messages of errors and the seeds of generators
    are left alone.
    """
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    found = {change for node in _changeable(tree) for change in _changes(node, lines)}
    return sorted(found, key=lambda change: (change.line, change.start, change.end, change.text))


def _changeable(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(GENERATORS):
            continue
        for child in value if isinstance(value, list) else [value]:
            skipped = isinstance(child, (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import))
            if isinstance(child, ast.AST) and not skipped and not _is_declaration(child):
                yield from _changeable(child)


def _is_declaration(node: ast.AST) -> bool:
    """Whether a statement has no effect on what is computed: docstrings, `__all__`, typing."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign):
        return any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        )
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def _changes(node: ast.AST, lines: list[bytes]) -> Iterator[Mutation]:
    def between(first: ast.expr, second: ast.expr, text: str, kind: str) -> Iterator[Mutation]:
        """Replace the operator between two expressions, if all is on one line."""
        line, start, end = first.end_lineno, first.end_col_offset, second.col_offset
        if line is None or start is None or line != second.lineno:
            return
        old = lines[line - 1][start:end].decode()
        opened, closed = old.count("("), old.count(")")  # brackets that belong to the expressions
        yield Mutation(line, start, end, f"{')' * closed} {text} {'(' * opened}", kind)

    def instead(old: ast.expr | ast.stmt, text: str, kind: str) -> Iterator[Mutation]:
        if old.lineno == old.end_lineno and old.end_col_offset is not None:
            yield Mutation(old.lineno, old.col_offset, old.end_col_offset, text, kind)

    def shown(part: ast.expr) -> str:
        return lines[part.lineno - 1][part.col_offset : part.end_col_offset].decode()

    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        text = COMPARISONS[type(node.ops[0])]
        yield from between(node.left, node.comparators[0], text, "comparison")
    elif isinstance(node, ast.BoolOp):
        text = "or" if isinstance(node.op, ast.And) else "and"
        yield from between(node.values[0], node.values[1], text, "and/or")
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield from between(node.left, node.right, OPERATORS[type(node.op)], "operator")
    elif isinstance(node, ast.UnaryOp) and node.lineno == node.end_lineno:
        if isinstance(node.op, (ast.Not, ast.USub)):
            yield from instead(node, shown(node.operand), "sign")
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        if node.test.lineno == node.test.end_lineno and not isinstance(node.test, ast.UnaryOp):
            yield from instead(node.test, f"not ({shown(node.test)})", "condition")
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield from instead(node, str(not node.value), "constant")
        elif isinstance(node.value, (int, float)):
            yield from instead(node, repr(node.value + 1), "constant")
    elif isinstance(node, ast.Return) and node.value is not None:
        # None is as false as False, which is also changed to True.
        value = node.value.value if isinstance(node.value, ast.Constant) else ...
        if value is not None and value is not False:
            yield from instead(node, "return None", "return")
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from instead(node, "pass", "statement")
    elif isinstance(node, (ast.Break, ast.Continue)):
        text = "continue" if isinstance(node, ast.Break) else "break"
        yield from instead(node, text, "loop")


@dataclass
class Copies:
    """Copies of the source tree, of which every thread takes one at a time."""

    root: Path
    folder: Path
    n: int
    free: SimpleQueue[Path] = field(default_factory=SimpleQueue)
    running: set[subprocess.Popen[str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        [package] = [path.parent for path in (self.root / "src").glob("*/__init__.py")]
        self.name = package.name
        for number in range(self.n):
            copy = self.folder / str(number)
            ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
            shutil.copytree(package, copy / "src" / package.name, ignore=ignored)
            for place, module in _compiled(package):
                (copy / place.relative_to(self.root)).symlink_to(module)
            # Compiled once; a changed file is recognized by its content, not by the time.
            mode = py_compile.PycInvalidationMode.CHECKED_HASH
            compileall.compile_dir(copy / "src", quiet=2, invalidation_mode=mode)
            start = STARTUP.format(name=package.name, source=str(copy / "src"), memory=MEMORY)
            (copy / "sitecustomize.py").write_text(start)
            self._check_import(copy)
            self.free.put(copy)

    def _check_import(self, copy: Path) -> None:
        code = f"import {self.name}; print({self.name}.__file__)"
        result, printed, _ = self.run(copy, ["-c", code], 60)
        if result != 0 or not Path(printed.strip()).is_relative_to(copy):
            sys.exit(f"the copy in {copy} is not what Python imports: {printed}")

    def run(self, copy: Path, arguments: list[str], limit: float) -> tuple[int | None, str, float]:
        """Return exit code (None after the time limit), output and seconds of a Python process."""
        path = os.pathsep.join(filter(None, [str(copy), os.environ.get("PYTHONPATH")]))
        started = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self.running.add(process)
        try:
            printed, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return None, "", time.monotonic() - started
        finally:
            self.running.discard(process)
            if process.poll() is None:
                _kill(process)
                process.communicate()
        return process.returncode, printed, time.monotonic() - started

    def test(self, copy: Path, tests: Path, limit: float) -> tuple[int | None, str, float]:
        """Run tests on a copy until the first failure."""
        options = ["-m", "pytest", "-q", "-x", "--no-header", "-p", "no:cacheprovider"]
        return self.run(copy, [*options, str(tests)], limit)

    def check(self, mutant: Mutant, limit: float) -> None:
        """Make a change, run its tests, and take it back."""
        copy = self.free.get()
        path = copy / mutant.module.relative_to(self.root)
        source = path.read_bytes()
        try:
            path.write_bytes(mutant.mutation.apply(source))
            code, _, mutant.seconds = self.test(copy, mutant.tests, limit)
        finally:
            path.write_bytes(source)
            self.free.put(copy)
        noticed = "timed out" if code is None else "killed"
        mutant.result = "SURVIVED" if code == 0 else noticed

    def first(self, tests: Path, limit: float) -> tuple[str, float]:
        """Return why tests cannot be used, or nothing, and how long they take without a change."""
        copy = self.free.get()
        code, printed, seconds = self.test(copy, tests, limit)
        self.free.put(copy)
        if code is None:
            return f"tests take more than {limit:.0f} s", seconds
        last = printed.strip().splitlines()[-1] if printed.strip() else "no output"
        return "" if code == 0 else f"tests fail without a change: {last}", seconds


def _kill(process: subprocess.Popen[str]) -> None:
    """End a process, and those it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL) if os.name == "posix" else process.kill()


def _compiled(package: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the places and the files of compiled modules, which have a stub and no source."""
    for stub in package.rglob("*.pyi"):
        if not stub.with_suffix(".py").exists():
            parts = stub.relative_to(package.parent).with_suffix("").parts
            spec = importlib.util.find_spec(".".join(parts))
            if spec is None or spec.origin is None:
                sys.exit(f"{stub} has no compiled module; install the package first")
            yield stub.parent / Path(spec.origin).name, Path(spec.origin)


def mirrored_tests(module: Path, root: Path) -> Path | None:
    """Return the tests of a module: the file of its name, else the folder of its package."""
    parts = module.relative_to(root / "src").parts[1:]
    name = f"test_{module.stem.strip('_')}.py"
    folders = [root.joinpath("tests", *parts[:depth]) for depth in range(len(parts) - 1, -1, -1)]
    places = [folder / name for folder in folders] + folders[:-1]
    return next((place for place in places if place.exists()), None)


def choose(root: Path, packages: list[str], n: int, seed: int) -> list[Mutant]:
    """Return mutants of the modules of some packages (all if none is named)."""
    [package] = [path.parent for path in (root / "src").glob("*/__init__.py")]
    missing = [name for name in packages if not (package / name).is_dir()]
    if missing:
        sys.exit(f"no package {', '.join(missing)} in {package}")
    folders = [package / name for name in packages] or [package]
    mutants = []
    for module in sorted(path for folder in folders for path in folder.rglob("*.py")):
        tests = mirrored_tests(module, root)
        if tests is not None:
            mutants += [Mutant(module, each, tests) for each in mutations(module.read_bytes())]
    chosen = random.Random(seed).sample(mutants, min(n, len(mutants)))
    return sorted(chosen, key=lambda mutant: (mutant.module, mutant.mutation.line))


def examine(root: Path, mutants: list[Mutant], jobs: int, limit: float) -> None:
    """Set the results of mutants, and print a row for each run of tests.

    A mutant that survives the tests of its module is checked by those of its package.
    """
    firsts: dict[Path, tuple[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies, pool = Copies(root, Path(folder), jobs), ThreadPoolExecutor(jobs)

        def check(mutant: Mutant) -> Mutant:
            mutant.result, seconds = firsts[mutant.tests]
            if not mutant.result:
                copies.check(mutant, min(limit, 10 + 4 * seconds))
            return mutant

        try:
            first = partial(copies.first, limit=limit)
            while mutants:
                tests = list(dict.fromkeys(mutant.tests for mutant in mutants))
                firsts.update(zip(tests, pool.map(first, tests), strict=True))
                for mutant in pool.map(check, mutants):
                    print(_row(root, mutant), flush=True)
                mutants = [
                    mutant
                    for mutant in mutants
                    if mutant.result == "SURVIVED"
                    and mutant.tests.is_file()
                    and mutant.tests.parent != root / "tests"
                ]
                for mutant in mutants:
                    mutant.tests = mutant.tests.parent
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(copies.running):
                _kill(process)
            pool.shutdown()


def _row(root: Path, mutant: Mutant) -> str:
    place = f"{mutant.module.relative_to(root)}:{mutant.mutation.line}"
    tests = mutant.tests.relative_to(root)
    return (
        f"{mutant.result:<10}{mutant.seconds:6.1f} s  {mutant.mutation.kind:<12}{place:<54} {tests}"
    )


def report(root: Path, mutants: list[Mutant]) -> None:
    """Print the lines of the changes that survived, and a count."""
    survivors = [mutant for mutant in mutants if mutant.result == "SURVIVED"]
    for mutant in survivors:
        source = mutant.module.read_bytes()
        print(
            f"\n{mutant.module.relative_to(root)}:{mutant.mutation.line} ({mutant.mutation.kind})"
        )
        for sign, text in (("-", source), ("+", mutant.mutation.apply(source))):
            print(sign, text.splitlines()[mutant.mutation.line - 1].decode().strip())
    noticed = sum(mutant.result in ("killed", "timed out") for mutant in mutants)
    other = len(mutants) - noticed - len(survivors)
    print(
        f"\n{len(mutants)} mutants: {noticed} noticed, {len(survivors)} survived, {other} unchecked"
    )


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=40, help="number of mutants (default 40)")
    parser.add_argument("--seed", type=int, default=0, help="seed of their choice (default 0)")
    parser.add_argument("--package", action="append", default=[], help="only this one (repeatable)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (default 2)")
    parser.add_argument(
        "--limit", type=float, default=300, help="seconds for the tests of a mutant (default 300)"
    )
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    options = parser.parse_args()
    root = options.root.resolve()
    mutants = choose(root, options.package, options.n, options.seed)
    examine(root, mutants, max(1, options.jobs), options.limit)
    report(root, mutants)


if __name__ == "__main__":
    main()
