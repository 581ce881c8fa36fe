"""What `kernelwood demo` computes: the main job on the bundled corpus, as plain data."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelwood import GateLearner, RelationExtractor
    from kernelwood.text import Example

__all__ = ["NOTE", "PHASES", "TERMS", "TEXT", "run_demo"]

NOTE = (
    "The bundled sentences were written so that there is something to learn. They are far too few, "
    "and too tidy, to tell how well this works on texts of your own. Mistakes are to be expected: "
    "compare what was found with the text."
)
# Of molecules that do not exist, so that nobody takes it for biology.
TEXT = (
    "RAK2 activates TORP1 in stimulated T cells. TORP1 in turn phosphorylates SMK3 and binds the "
    "adaptor protein Velin. Phosphorylation of SMK3 by TORP1 was inhibited by Crynin. In contrast, "
    "HAB1 did not bind Velin, and no interaction between HAB1 and SMK3 was detected. Expression of "
    "HAB1 is regulated by RAK2, which suggests that RAK2 may also inhibit Crynin."
)
TERMS = tuple((name, "Protein") for name in ("RAK2", "TORP1", "SMK3", "Velin", "Crynin", "HAB1"))
PHASES = (
    "reading the corpus",
    "learning relations",
    "evaluating on other documents",
    "learning gates",
    "extracting from a new text",
    "writing the report",
)
_SEED = 0
_SETTINGS: dict[str, Any] = {
    "parser": "biomedical",  # of the corpus too, so that new texts are parsed as it is
    "symmetric": ["Binds"],
    "threshold": "half",  # which needs no explanation
    "random_state": _SEED,
}
_DOCUMENT = "A new text"


class _Clock:
    """Calls what shows phases, and remembers how long each took."""

    def __init__(self, step: Callable[[str], object]) -> None:
        self.seconds: dict[str, float] = {}
        self._step = step
        self._begin = self._last = time.perf_counter()
        self._phase: str | None = None

    def start(self, phase: str) -> None:
        """End the phase before, and begin one."""
        self.stop()
        self._phase = phase
        self._step(phase)

    def stop(self) -> None:
        """End a phase."""
        now = time.perf_counter()
        if self._phase is not None:
            self.seconds[self._phase] = round(now - self._last, 3)
        self._phase, self._last = None, now

    @property
    def total(self) -> float:
        """Seconds since the beginning."""
        return round(time.perf_counter() - self._begin, 3)


def run_demo(
    output: str, n_jobs: int | None = None, step: Callable[[str], object] = lambda name: None
) -> dict[str, Any]:
    """Learn relations from the bundled corpus, find some in a new text, and write a report.

    Parameters
    ----------
    output : str
        The file of the report.
    n_jobs : int, optional
        Threads, -1 for all cores.
    step : callable, optional
        Called with the name of each phase as it begins.

    Returns
    -------
    dict
        With the keys ``dataset``, ``model``, ``evaluation``, ``gates``, ``text``, ``relations``,
        ``report``, ``note``, ``timings`` and ``seconds``; ready for JSON.
    """
    clock = _Clock(step)
    reading, learning, evaluating, gating, extracting, writing = PHASES
    clock.start(reading)
    import kernelwood as kw
    from kernelwood.datasets import load_interactions
    from kernelwood.relations import write_report

    train, test = load_interactions("train"), load_interactions("test")
    clock.start(learning)
    extractor = kw.RelationExtractor(**_SETTINGS, n_jobs=n_jobs).fit(train)
    clock.start(evaluating)
    scores = extractor.evaluate(test)
    clock.start(gating)
    gates = _learn_gates(train, n_jobs)
    clock.start(extracting)
    text = kw.Example(_DOCUMENT, views={"document": kw.Document(TEXT)})
    found = extractor.extract(text, dictionary=kw.Dictionary(TERMS), all=True)
    relations = found.relations
    evidence = extractor.explain(relations)
    clock.start(writing)
    write_report(
        output,
        title="kernelwood demo: relations in a new text",
        predictions=found,
        documents={_DOCUMENT: TEXT},
        scores=scores,
        extractor=extractor,
        gates=gates,
        timings=clock.seconds,
    )
    clock.stop()
    return {
        "dataset": {"train": _sizes(train), "test": _sizes(test)},
        "model": _model(extractor),
        "evaluation": scores.to_dict(),
        "gates": gates.report().to_dict(),
        "text": TEXT,
        "relations": [
            one.to_dict() | {"evidence": [case.to_dict() for case in cases]}
            for one, cases in zip(relations, evidence, strict=True)
        ],
        "report": str(Path(output).resolve()),
        "note": NOTE,
        "timings": clock.seconds,
        "seconds": clock.total,
    }


def _learn_gates(train: list[Example], n_jobs: int | None) -> GateLearner:
    """Learn which steps of dependency paths tell nothing about relations."""
    import kernelwood as kw

    paths = kw.batch(kw.relations.pair_candidates(train).examples("path"))
    learner = kw.GateLearner(
        kw.OnView("path", kw.SubsequenceKernel()),
        labels=12,
        n_trials=4,
        n_passes=1,
        random_state=_SEED,
        n_jobs=n_jobs,
    )
    return learner.fit(paths, paths.labels)


def _sizes(examples: list[Example]) -> dict[str, Any]:
    from kernelwood.evaluate import documents
    from kernelwood.text import Sentence

    views = [example.view("sentence") for example in examples]
    sentences = [view for view in views if isinstance(view, Sentence)]
    types = Counter(relation.type for sentence in sentences for relation in sentence.relations)
    return {
        "documents": len(set(documents(examples))),
        "sentences": len(sentences),
        "entities": sum(len(sentence.entities) for sentence in sentences),
        "relations": dict(sorted(types.items())),
    }


def _model(extractor: RelationExtractor) -> dict[str, Any]:
    return {
        "recipe": extractor.recipe,
        "views": list(extractor.views_),
        "parser": extractor.parser_,
        "relations": list(extractor.relations_),
        "candidates": extractor.n_candidates_,
        "threshold": extractor.threshold_,
        "held_out": dict(extractor.held_out_),
    }
