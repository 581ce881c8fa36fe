"""Semantic role labeling with the forest kernel, against the tree kernel on the best parse.

    python benchmarks/papers/forest_roles.py [--data DIR] [--sizes 1500 5000] [--tune] [--json]
    python benchmarks/papers/forest_roles.py --sizes 50000 5000 --landmarks 2000 [--data DIR]

Zhang, Zhang and Li, "Convolution Kernel over Packed Parse Forest" (ACL 2010), section 4.1, on
PropBank annotations of the English Web Treebank. One parser gives every sentence a packed forest.
The forest setting finds and compares arguments over all of it; the tree setting runs the very same
code on the forest of its best tree alone, where the forest kernel is the subset tree kernel.

In a forest the learner also knows how probable each candidate is; a single tree cannot tell.
``--ignore-probability`` leaves that out, to see what candidates and kernel give by themselves.

Parser, role classifier and the choice of settings (``--tune``) use different documents of the
training part; figures are on the development part, which nothing was chosen on. Everything is
seeded.

With ``--landmarks``, roles are learned by least squares on that many landmarks, from any number of
predicates: every document of the training part is parsed by a parser learned from other documents.
Bias and prior are then chosen on held-out documents, for trees and forests by themselves.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from roles.corpus import read_sentences
from roles.experiment import (
    Instance,
    Parts,
    Settings,
    Task,
    coverage,
    instances,
    label,
    learn,
    margins,
    sample_tasks,
    single_best,
    split,
)
from roles.report import RATES, SETTINGS, show, show_tuning
from roles.scaled import choose_labels, learn_stream, margins_of, turns
from roles.scoring import mcnemar, randomization, score
from roles.tuning import GENEROUS, tune

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.views import Readings

TRAIN = "srl-propbank/ewt-train.srl.conll.gz"
TEST = "srl-propbank/ewt-dev.srl.conll.gz"

# Candidates are believed or dropped, so the threshold is a higher one; chosen on held-out sentences
# like all else (--tune --ignore-probability).
WITHOUT_PROBABILITY = Settings(prior=0.0, weigh_negatives=False, min_probability=0.35)
HELD_OUT = 700  # predicates for the choice of bias and prior, with --landmarks
TURNS = 5  # parsers, each of which parses documents that the others have seen

Forests = dict[kw.Sentence, kw.Forest]


@dataclass
class Bench:
    """Options, progress on stderr and the seconds that every step took."""

    options: argparse.Namespace
    settings: Settings
    progress: Progress
    seconds: dict[str, float]

    @contextmanager
    def step(self, name: str, total: float | None = None) -> Iterator[Any]:
        """Show and time one step; yields a function that reports ``n`` more units.

        Without a total, parser and kernels report by themselves.
        """
        row = self.progress.add_task(name, total=total)

        def report(done: int, total: int) -> None:
            self.progress.update(row, completed=done, total=total)

        started = time.perf_counter()
        with kw.config_context(progress=report if total is None else None):
            yield lambda n: self.progress.advance(row, n)
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started
        self.progress.update(row, total=1, completed=1)


def read_corpus(bench: Bench) -> tuple[Parts, list[kw.Sentence]]:
    with bench.step("read the corpus"):
        data = bench.options.data
        parts = split(read_sentences(require_data(TRAIN, data=data)))
        return parts, list(read_sentences(require_data(TEST, data=data)))


def train_parser(bench: Bench, sentences: Sequence[kw.Sentence]) -> kw.ForestParser:
    sentences = sentences[: bench.options.parser_sentences]
    with bench.step("train the parser"):
        parser = kw.ForestParser(n_jobs=bench.options.jobs)
        return parser.fit([sentence.tree for sentence in sentences if sentence.tree is not None])


def parse(bench: Bench, parser: kw.ForestParser, tasks: Sequence[Task], what: str) -> Forests:
    sentences = list(dict.fromkeys(task.sentence for task in tasks))
    with bench.step(f"parse {what}"):
        forests = parser.parse_batch([list(sentence.words) for sentence in sentences])
    return dict(zip(sentences, forests, strict=True))


def preparation(bench: Bench, setting: str) -> Callable[[kw.Forest], kw.Forest]:
    """Return what makes the forest of a setting from that of the parser."""
    return (
        (lambda forest: forest.prune(bench.settings.pruning))
        if setting == "forest"
        else single_best
    )


def readings(bench: Bench, tasks: Sequence[Task], forests: Forests, setting: str) -> list[Readings]:
    """Return the readings of each task's sentence: all of them, or the best one alone."""
    prepare = preparation(bench, setting)
    made = {sentence: Readings(prepare(forest)) for sentence, forest in forests.items()}
    return [made[task.sentence] for task in tasks]


def views(
    bench: Bench,
    tasks: Sequence[Task],
    parses: Sequence[Readings],
    settings: Settings,
    what: str,
) -> list[Instance]:
    with bench.step(f"views of {what}", len(tasks)) as advance:
        return instances(tasks, parses, settings, advance)


def run_setting(
    bench: Bench,
    setting: str,
    training: tuple[list[Task], Forests],
    test: tuple[list[Task], Forests],
) -> tuple[dict[str, Any], list[frozenset[kw.text.RoleSpan]]]:
    """Train and label in one setting; return its figures and the arguments found."""
    jobs, settings = bench.options.jobs, bench.settings
    known = views(
        bench, training[0], readings(bench, *training, setting), settings, f"training, {setting}"
    )
    parses = readings(bench, *test, setting)
    found = views(bench, test[0], parses, settings, f"test, {setting}")
    with bench.step(f"learn roles, {setting}"):
        machines = learn(known, settings, jobs)
    with bench.step(f"label, {setting}", len(found)) as advance:
        values = margins(machines, known, found, settings, jobs, advance)
        labels = label(len(test[0]), found, values, machines.roles, settings)
    figures = setting_figures(setting, test, found, labels)
    figures |= {"training_candidates": len(known), "roles": len(machines.roles) - 1}
    if setting == "tree":
        figures["difference_to_subset_tree_kernel"] = difference_to_trees(known[:300], settings)
    return figures, labels


def setting_figures(
    setting: str,
    test: tuple[list[Task], Forests],
    found: Sequence[Instance],
    labels: Sequence[frozenset[kw.text.RoleSpan]],
) -> dict[str, Any]:
    """Return scores and coverage of a setting."""
    scores = score([task.gold for task in test[0]], labels)
    figures = asdict(scores) | {name: getattr(scores, name) for name in RATES}
    whole = [test[1][task.sentence] for task in test[0]]
    if setting == "tree":
        whole = [single_best(forest) for forest in whole]
    return figures | {"coverage": asdict(coverage(test[0], whole, found))}


def difference_to_trees(some: Sequence[Instance], settings: Settings) -> float:
    """Return how far forests of one tree are from the subset tree kernel on these trees."""
    largest = 0.0
    for view in ("path", "argument"):
        forests: list[Any] = [instance.example.view(view) for instance in some]
        trees = [forest.best_tree() for forest in forests]
        ours = kw.ForestKernel(decay=settings.decay, sharpness=settings.sharpness).gram(forests)
        textbook = kw.SubsetTreeKernel(decay=settings.decay).gram(trees)
        largest = max(largest, float(np.abs(ours - textbook).max()))
    return largest


def run(bench: Bench) -> dict[str, Any]:
    """Return all figures of the comparison."""
    options = bench.options
    parts, test_sentences = read_corpus(bench)
    training = sample_tasks(parts.learner, options.sizes[0], options.seed)
    test = sample_tasks(test_sentences, options.sizes[1], options.seed)
    parser = train_parser(bench, parts.parser)
    training_forests = parse(bench, parser, training, "training sentences")
    test_forests = parse(bench, parser, test, "test sentences")
    result: dict[str, Any] = {
        "settings": asdict(bench.settings),
        "sizes": sizes(parts.parser[: options.parser_sentences], training, test, test_forests),
    }
    labels = {}
    for setting in SETTINGS:
        result[setting], labels[setting] = run_setting(
            bench, setting, (training, training_forests), (test, test_forests)
        )
    return result | tests(bench, test, labels)


def sizes(
    parser_sentences: Sequence[kw.Sentence],
    training: Sequence[Task],
    test: Sequence[Task],
    test_forests: Forests,
) -> dict[str, int]:
    """Return how much was learned from, and how much labeled."""
    return {
        "parser_sentences": len(parser_sentences),
        "training_predicates": len(training),
        "test_predicates": len(test),
        "test_sentences": len(test_forests),
        "fallbacks": sum(forest.fallback for forest in test_forests.values()),
    }


def tests(bench: Bench, test: Sequence[Task], labels: dict[str, Any]) -> dict[str, Any]:
    """Return the tests of the difference between tree and forest."""
    options = bench.options
    pair = ([task.gold for task in test], labels["tree"], labels["forest"])
    return {
        "randomization_p": randomization(*pair, rounds=options.rounds, seed=options.seed),
        "mcnemar": mcnemar(*pair),
        "seconds": bench.seconds,
    }


def run_scaled(bench: Bench) -> dict[str, Any]:
    """Return all figures of the comparison on landmarks, with what was tried."""
    options = bench.options
    parts, test_sentences = read_corpus(bench)
    known, every = parts.parser + parts.learner, parts.parser + parts.learner + parts.held_out
    training = sample_tasks(known, options.sizes[0], options.seed)
    held_out = sample_tasks(parts.held_out, HELD_OUT, options.seed)
    test = sample_tasks(test_sentences, options.sizes[1], options.seed)
    forests: Forests = {}
    for others, new in turns(every, TURNS):
        mine = set(new)
        tasks = [task for task in training + held_out if task.sentence in mine]
        forests |= parse(bench, train_parser(bench, others), tasks, "training sentences")
    test_forests = parse(bench, train_parser(bench, every), test, "test sentences")
    result: dict[str, Any] = {
        "settings": asdict(bench.settings),
        "landmarks": options.landmarks,
        "sizes": sizes(every[: options.parser_sentences], training, test, test_forests),
    }
    labels = {}
    for setting in SETTINGS:
        result[setting], labels[setting] = run_setting_scaled(
            bench, setting, (training, held_out, forests), (test, test_forests)
        )
    return result | tests(bench, test, labels)


def run_setting_scaled(
    bench: Bench,
    setting: str,
    training: tuple[list[Task], list[Task], Forests],
    test: tuple[list[Task], Forests],
) -> tuple[dict[str, Any], list[frozenset[kw.text.RoleSpan]]]:
    """Learn on landmarks, choose bias and prior, and label in one setting."""
    options, prepare = bench.options, preparation(bench, setting)
    tasks, held_out, forests = training
    with bench.step(f"learn roles, {setting}", len(tasks)) as advance:
        machines = learn_stream(
            tasks,
            forests,
            prepare,
            bench.settings,
            n_landmarks=options.landmarks,
            seed=options.seed,
            n_jobs=options.jobs,
            advance=advance,
        )
    with bench.step(f"choose bias and prior, {setting}", len(held_out)) as advance:
        found = margins_of(machines, held_out, forests, prepare, bench.settings, advance)
        settings, tried = choose_labels(held_out, *found, machines.roles, bench.settings)
    with bench.step(f"label, {setting}", len(test[0])) as advance:
        candidates, values = margins_of(machines, *test, prepare, settings, advance)
        labels = label(len(test[0]), candidates, values, machines.roles, settings)
    figures = setting_figures(setting, test, candidates, labels)
    chosen = {"none_bias": settings.none_bias, "prior": settings.prior}
    return figures | {"roles": len(machines.roles) - 1, "chosen": chosen, "tried": tried}, labels


def choose(bench: Bench) -> dict[str, Any]:
    """Return the settings tried on held-out sentences of the training part, best first."""
    options = bench.options
    parts, _ = read_corpus(bench)
    parser = train_parser(bench, parts.parser)
    made: list[dict[str, Sequence[Instance]]] = []
    for part, size in zip((parts.learner, parts.held_out), options.sizes, strict=True):
        tasks = sample_tasks(part, size, options.seed)
        forests = parse(bench, parser, tasks, f"{size} predicates")
        made.append(
            {
                setting: views(
                    bench, tasks, readings(bench, tasks, forests, setting), GENEROUS, setting
                )
                for setting in SETTINGS
            }
        )
    with bench.step("try settings", None) as advance:
        found: dict[str, Any] = {}
        found |= tune(
            made[0], made[1], tasks, bench.settings, n_jobs=options.jobs, done=lambda: advance(1)
        )
    return found | {"seconds": bench.seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument(
        "--sizes",
        type=int,
        nargs=2,
        default=[1500, 5000],
        metavar=("TRAIN", "TEST"),
        help="predicates to learn roles from, and to label (5000: all; --tune: held-out ones)",
    )
    parser.add_argument("--parser-sentences", type=int, default=None, help="default: all")
    parser.add_argument("--rounds", type=int, default=10_000, help="of randomization")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--ignore-probability",
        action="store_true",
        help="learn and decide without the probabilities of candidates",
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--tune", action="store_true", help="choose settings on held-out sentences")
    choice.add_argument(
        "--landmarks",
        type=int,
        metavar="N",
        help="learn by least squares on N landmarks, from documents of the whole training part",
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    settings = WITHOUT_PROBABILITY if options.ignore_probability else Settings()
    with Progress(console=Console(stderr=True)) as progress:
        bench = Bench(options, settings, progress, {})
        what = choose if options.tune else run_scaled if options.landmarks else run
        result = what(bench)
    if options.json:
        print(json.dumps(result))
    else:
        show_tuning(result) if options.tune else show(result)


if __name__ == "__main__":
    main()
