"""Learn the bundled dependency parser.

    python tools/build_dependency_parser.py [--data DIR] [--check]

It learns from the trees of the GENIA treebank (the parts dev, future_use and test), converted by
head rules, and from the texts of the BioNLP shared tasks 2009 and 2013 (GE), which the bundled
grammar, learned from the same trees, parses: when its file or the chart parser changes, build this
file again. The file holds weights and words, no sentences, and has the same bytes whenever it is
made from the same data. With --check nothing is written; the exit code is 1 if the file differs.
Takes some minutes; `python benchmarks/parsing.py --dependencies` measures the accuracy of a parser
that has not seen the part test.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from genia import HELD_OUT, LEARNED, learn_dependencies, read_genia, read_texts  # noqa: E402

from kernelwood.parsing import load_grammar  # noqa: E402
from kernelwood.parsing.bundled import read_dependency_parser, write_dependency_parser  # noqa: E402

TARGET = ROOT / "src/kernelwood/parsing/grammars/biomedical-dependencies.npz"
MOST_BYTES = 3_000_000


def main() -> int:
    """Build the parser, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args()
    started = time.process_time()
    trees = read_genia(options.data, *LEARNED, HELD_OUT)
    texts = [words for found in read_texts(options.data).values() for words in found]
    out = io.BytesIO()
    write_dependency_parser(learn_dependencies(trees, load_grammar(), texts), out)
    content = out.getvalue()
    print(
        f"{len(trees):,} trees, {len(texts):,} sentences of texts, {len(content):,} bytes, "
        f"{time.process_time() - started:.0f} s CPU"
    )
    if len(content) > MOST_BYTES:
        print(f"the file must not have more than {MOST_BYTES:,} bytes")
        return 1
    if options.check:
        same = TARGET.exists() and TARGET.read_bytes() == content
        print("the file is the same" if same else f"{TARGET.name} differs")
        return 0 if same else 1
    TARGET.write_bytes(content)
    read_dependency_parser(TARGET)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
