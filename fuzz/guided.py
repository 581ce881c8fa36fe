"""Coverage-guided fuzzing of one reader with atheris, if it is installed.

python -m fuzz.guided FORMAT [--seconds 60] [--seed 1] [--corpus FOLDER]

libFuzzer keeps inputs that reach new code of ``kernelwood.io`` in a folder, and changes them
further. It ends with exit code 77 and the file ``crash-...`` at the first exception that is not a
`ReadError`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from types import FunctionType

from fuzz.reader_seeds import TOKENS, seeds
from fuzz.readers import read_twice, readers

try:
    import atheris
except ImportError:
    sys.exit("atheris is not installed: pip install atheris")

_LONGEST = 4096  # bytes of an input
_MEMORY = 3000  # MB


def main() -> None:
    """Run the command line; libFuzzer ends the process."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.guided", description=__doc__)
    parser.add_argument("format")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="folder of inputs to keep")
    options = parser.parse_args()
    read = readers()[options.format]
    for data in seeds()[options.format]:
        read_twice(read, data)  # modules are imported when they are first used
    instrument("kernelwood.io.", "kernelwood.structures.", "kernelwood.text.")
    with tempfile.TemporaryDirectory() as temporary:
        corpus = options.corpus or Path(temporary, "corpus")
        corpus.mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(seeds()[options.format]):
            (corpus / f"seed-{number}").write_bytes(data)
        dictionary = Path(temporary, "tokens")
        dictionary.write_text("".join(f"{_quoted(token)}\n" for token in TOKENS), encoding="ascii")
        atheris.Setup(
            [
                sys.argv[0],
                str(corpus),
                f"-dict={dictionary}",
                f"-max_total_time={options.seconds}",
                f"-seed={options.seed}",
                f"-max_len={_LONGEST}",
                f"-rss_limit_mb={_MEMORY}",
                "-timeout=10",
            ],
            lambda data: read_twice(read, data) and None,
        )
        atheris.Fuzz()


def instrument(*packages: str) -> None:
    """Count the branches of all functions of some packages.

    (The import hook of atheris does not see editable installations.)
    """
    for name, module in list(sys.modules.items()):
        if not name.startswith(packages):
            continue
        owners = [module, *(one for one in vars(module).values() if isinstance(one, type))]
        for owner in owners:
            for function in list(vars(owner).values()):
                if isinstance(function, FunctionType) and function.__module__ == name:
                    atheris.instrument_func(function)


def _quoted(token: bytes) -> str:
    return '"' + "".join(f"\\x{byte:02x}" for byte in token) + '"'


if __name__ == "__main__":
    main()
