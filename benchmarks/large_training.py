"""Time, memory and accuracy of learners on 100,000 and 1,000,000 structures.

    python benchmarks/large_training.py [--sizes 100000 1000000] [--learners ridge forest ...]
                                        [--landmarks 1000] [--json]

Random sequences of 6 to 14 words whose frequencies fall as in text, in three classes: a word of one
set comes before a word of another, after it, or there is no such pair; 5 % of the labels are wrong.
They are compared by the subsequence kernel. Streams (`fit_batches`) have batches of 10,000, which
are made when they are asked for; other learners get all structures at once. Each run is a process
of its own with one thread. Seconds are CPU time of fitting without making the data; the peak is
that of the process; accuracy is that on 5,000 other sequences with correct labels.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from measure import own_peak_memory, show_table

import kernelwood as kw
from kernelwood.arrays import SequenceBatch, Vocabulary

N_WORDS = 20_000
BATCH, TEST = 10_000, 5_000
FIRST, SECOND = range(40, 48), range(50, 58)  # words of the two sets, neither rare nor frequent
WRONG = 0.05
KERNEL = kw.SubsequenceKernel()
VOCABULARY = Vocabulary([f"word{i}" for i in range(N_WORDS)])

Labels = np.ndarray[Any, np.dtype[np.int64]]


def labeled(n: int, seed: int, wrong: float = WRONG) -> tuple[SequenceBatch, Labels]:
    """Return sequences and their classes, always the same ones."""
    random = np.random.default_rng(seed)
    sizes = random.integers(6, 15, size=n)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    frequencies = 1 / (np.arange(N_WORDS) + 5)
    words = random.choice(N_WORDS, size=offsets[-1], p=frequencies / frequencies.sum()) + 1
    labels = random.integers(3, size=n)
    places = np.sort(random.random((n, 2)) * (sizes // 2)[:, None], axis=1).astype(np.int64)
    places[:, 1] += sizes // 2  # the second is always behind the first
    one, two = random.choice(FIRST, size=n), random.choice(SECOND, size=n)
    before, after = labels == 1, labels == 2
    for place, word in ((places[:, 0], one), (places[:, 1], two)):
        words[(offsets[:-1] + place)[before]] = word[before]
    for place, word in ((places[:, 0], two), (places[:, 1], one)):
        words[(offsets[:-1] + place)[after]] = word[after]
    flipped = random.random(n) < wrong
    labels[flipped] = random.integers(3, size=int(flipped.sum()))
    edges = np.zeros(len(words), dtype=np.int32)
    made = SequenceBatch.from_arrays(offsets, words.astype(np.int32), edges, vocabulary=VOCABULARY)
    return made, labels


class Stream:
    """Batches of structures and labels, made on demand; counts the CPU seconds of making them."""

    def __init__(self, n: int) -> None:
        self.n, self.seconds = n, 0.0

    def __iter__(self) -> Iterator[tuple[SequenceBatch, Labels]]:
        for begin in range(0, self.n, BATCH):
            started = time.process_time()
            made = labeled(min(BATCH, self.n - begin), seed=begin + 1)
            self.seconds += time.process_time() - started
            yield made


def ridge(landmarks: int) -> Any:
    return kw.LandmarkRidgeClassifier(
        KERNEL, n_landmarks=landmarks, probability=True, random_state=0
    )


def forest(landmarks: int) -> Any:
    return kw.HashForestClassifier(KERNEL, random_state=0)


def shallow_forest(landmarks: int) -> Any:
    return kw.HashForestClassifier(KERNEL, min_samples_leaf=20, random_state=0)


def machine(landmarks: int) -> Any:
    return kw.KernelSVC(KERNEL, n_landmarks=landmarks, random_state=0)


# Name -> a learner for a number of landmarks, and whether it learns from a stream.
LEARNERS: dict[str, tuple[Callable[[int], Any], bool]] = {
    "LandmarkRidgeClassifier, stream": (ridge, True),
    "HashForestClassifier, stream": (forest, True),
    "HashForestClassifier, 20 in a leaf, stream": (shallow_forest, True),
    "KernelSVC on landmarks": (machine, False),
    "LandmarkRidgeClassifier": (ridge, False),
    "HashForestClassifier": (forest, False),
}


def run(name: str, n: int, landmarks: int) -> dict[str, Any]:
    """Return the figures of one learner, measured in this process."""
    make, streams = LEARNERS[name]
    model, stream = make(landmarks), Stream(n)
    with kw.config_context(n_jobs=1, memory="4GB"):
        if streams:
            started = time.process_time()
            model.fit_batches(stream)
            seconds = time.process_time() - started - stream.seconds
        else:
            X, y = labeled(n, seed=1)
            started = time.process_time()
            model.fit(X, y)
            seconds = time.process_time() - started
        peak = own_peak_memory()
        accuracy = model.score(*labeled(TEST, seed=0, wrong=0.0))
    return {
        "learner": name,
        "structures": n,
        "CPU s": seconds,
        "peak MB": peak,
        "accuracy %": 100 * accuracy,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**5, 10**6])
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=list(LEARNERS)[:2])
    parser.add_argument("--landmarks", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run:
        print(json.dumps(run(args.learners[0], args.sizes[0], args.landmarks)))
        return
    rows = []
    for name in args.learners:
        for n in args.sizes:
            given = ["--learners", name, "--sizes", str(n), "--landmarks", str(args.landmarks)]
            command = [sys.executable, __file__, "--run", *given]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            rows.append(json.loads(done.stdout))
    if args.json:
        print(json.dumps(rows))
    else:
        show_table("Training on many structures", rows, digits=1)


if __name__ == "__main__":
    main()
