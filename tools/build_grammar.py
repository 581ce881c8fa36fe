"""Learn the bundled grammar from the GENIA treebank, and say how good it is.

    python tools/build_grammar.py [--data DIR] [--check] [--no-score]

The grammar is learned from the parts dev, future_use and test together; the accuracy that is
printed is that of one learned from dev and future_use, on test. The file holds statistics of
rules and words, no sentences, and has the same bytes whenever it is made from the same treebank.
With --check nothing is written; the exit code is 1 if the file differs.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from genia import HELD_OUT, LEARNED, PARAMETERS, read_genia  # noqa: E402
from parsing import LONGEST, measure, take_apart  # noqa: E402

import kernelwood as kw  # noqa: E402
from kernelwood.parsing.bundled import read_grammar, write_grammar  # noqa: E402
from kernelwood.parsing.treebank import prepare_treebank  # noqa: E402

TARGET = ROOT / "src/kernelwood/parsing/grammars/biomedical.npz"
MOST_BYTES = 3_000_000


def as_bytes(trees: list[kw.Tree]) -> bytes:
    """Return the file of the grammar that is learned from trees."""
    out = io.BytesIO()
    write_grammar(kw.ForestParser(**PARAMETERS).fit(trees), out)
    return out.getvalue()


def score(data: str | None) -> str:
    """Return the accuracy on the part that was held out."""
    parser = read_grammar(io.BytesIO(as_bytes(read_genia(data, *LEARNED))))
    gold = [take_apart(tree) for tree in prepare_treebank(read_genia(data, HELD_OUT))]
    gold = [sentence for sentence in gold if len(sentence.words) <= LONGEST]
    found = measure(parser, gold, gold_tags=False, k=0)
    return (
        f"learned from {' and '.join(LEARNED)}, on {HELD_OUT} ({found['sentences']} sentences of "
        f"up to {LONGEST} words): labeled F1 {found['f1']:.1f}, parts of speech "
        f"{found['tagging']:.1f} %, {found['fallbacks']} fallbacks, "
        f"{found['sentences_per_second']:.0f} sentences a second"
    )


def main() -> int:
    """Build the grammar, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--no-score", action="store_true", help="leave the accuracy out")
    options = parser.parse_args()
    trees = read_genia(options.data, *LEARNED, HELD_OUT)
    content = as_bytes(trees)
    print(f"{len(trees):,} trees, {len(content):,} bytes")
    if len(content) > MOST_BYTES:
        print(f"the file must not have more than {MOST_BYTES:,} bytes")
        return 1
    if options.check:
        same = TARGET.exists() and TARGET.read_bytes() == content
        print("the file is the same" if same else f"{TARGET.name} differs")
        return 0 if same else 1
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(content)
    started = time.perf_counter()
    read_grammar(TARGET)
    print(f"read in {time.perf_counter() - started:.2f} s")
    if not options.no_score:
        print(score(options.data))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
