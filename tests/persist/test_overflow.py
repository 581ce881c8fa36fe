"""Model files with offsets or ids so far apart that their differences overflow."""

import subprocess
import sys

import numpy as np
import strategies

import kernelwood as kw
from kernelwood.persist.archive import array_chunks

SEQUENCES = strategies.sample_sequences(12)
TREES = strategies.sample_trees(12)
LABELS = list("ab") * 6
TREEBANK = [
    kw.Tree.from_brackets("(S (NP (DT the) (NN owl)) (VP (VBZ waits)))"),
    kw.Tree.from_brackets(
        "(S (NP (NN Rain)) (VP (VBZ falls) (PP (IN on) (NP (CD 12) (NNS x-ies)))))"
    ),
]
CASES = {
    "sequences": (lambda: kw.batch(SEQUENCES), ["offsets"]),
    "trees": (lambda: kw.batch(TREES), ["offsets"]),
    "forests": (
        lambda: kw.batch(strategies.sample_forests(6)),
        ["node_offsets", "edge_offsets", "child_offsets"],
    ),
    "vectors": (lambda: kw.batch(strategies.sample_features(12)), ["offsets"]),
    "index": (
        lambda: kw.HashIndex(kw.SubsequenceKernel(), n_references=6, subset_size=2).fit(SEQUENCES),
        ["ids_"],
    ),
    "svc": (
        lambda: kw.KernelSVC(kw.SubsequenceKernel()).fit(SEQUENCES, LABELS),
        ["support_indices_"],
    ),
    "parser": (lambda: kw.ForestParser().fit(TREEBANK), ["word_offsets", "class_offsets"]),
}
# A process of its own: what is not refused may well end it.
USE = """
import sys
import kernelwood as kw

for path in sys.argv[1:]:
    try:
        model = kw.load(path)
    except kw.errors.ModelFormatError:
        print("refused", flush=True)
    else:
        print("used", model[::-1] if hasattr(model, "offsets") else model, flush=True)
"""


def test_offsets_and_ids_that_overflow_are_refused(forge, tmp_path):
    paths = []
    for case, (make, names) in CASES.items():
        for name in names:

            def change(manifest, members, member=f"{name}.npy"):
                [found] = [each for each in members if each.split("/")[-1] == member]
                header = members[found].index(b"\n") + 1
                values = np.frombuffer(members[found][header:], dtype="<i8").copy()
                values[1:3] = 2**63 - 1, -2
                assert len(values) > 3 and (np.diff(values) > 0).all()  # as 64 bits have it
                members[found] = b"".join(array_chunks(values))

            paths.append(forge(make(), change).rename(tmp_path / f"{case}-{name}.kw"))
    used = subprocess.run(
        [sys.executable, "-c", USE, *map(str, paths)], capture_output=True, text=True, check=False
    )
    answers = dict(zip((path.stem for path in paths), used.stdout.splitlines(), strict=False))
    expected = {path.stem: "refused" for path in paths}
    assert (used.returncode, answers) == (0, expected), used.stderr
