"""Speed of finding terms: loading a file of many, and looking for them in text.

    python benchmarks/dictionary.py [--terms 100000] [--megabytes 2] [--repeats 3] [--json]

Terms and text are made up, always the same ones: names of one to three words, some with numbers,
Greek letters and hyphens; a sixth of the words of the text belong to terms. The text is given as
abstracts of about 1,500 characters and as one line. Beside it, if they are installed, the automaton
of ahocorasick_rs, which finds the terms as they are written, at any place and without types, and
the PhraseMatcher of spaCy with a blank English tokenizer, without case. Times are CPU times of one
thread, the best of several runs, all works in turn.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from measure import show_table

import kernelwood as kw
from kernelwood.entities import Dictionary

SYLLABLES = "ba ce di fo gu ka le mi no pu ra se ti vo zu stra klin mer tor phos".split()
TAILS = ["", "", "", "-{n}", " {n}", "{n}", " alpha", "-β", " receptor", " kinase {n}"]
TYPES = ["protein", "chemical", "disease"]
ABSTRACT = 1500  # characters


def words(rng: random.Random, n: int) -> list[str]:
    return ["".join(rng.choices(SYLLABLES, k=rng.randint(2, 5))) for _ in range(n)]


def make_terms(n_terms: int) -> list[tuple[str, str, str]]:
    rng = random.Random(0)
    made: dict[str, tuple[str, str, str]] = {}
    while len(made) < n_terms:
        name = " ".join(words(rng, rng.choice([1, 1, 2, 3])))
        if rng.random() < 0.4:
            name = name.title() if rng.random() < 0.5 else name[:5].upper()
        name += rng.choice(TAILS).format(n=rng.randint(1, 99))
        made.setdefault(name, (name, rng.choice(TYPES), f"DB:{len(made)}"))
    return list(made.values())


def make_text(terms: list[tuple[str, str, str]], n_characters: int) -> str:
    rng = random.Random(1)
    known = words(rng, 20_000)
    parts: list[str] = []
    size = 0
    while size < n_characters:
        parts.append(rng.choice(terms)[0] if rng.random() < 0.08 else rng.choice(known))
        if rng.random() < 0.05:
            parts[-1] += rng.choice([".", ",", "-dependent", " (in vitro)"])
        size += len(parts[-1]) + 1
    return " ".join(parts)


def peer_finders() -> dict[str, Callable[[list[str]], Callable[[str], Any]]]:
    """Return, for each peer that is installed, what makes its function that finds some names."""
    made: dict[str, Callable[[list[str]], Callable[[str], Any]]] = {}
    if find_spec("ahocorasick_rs"):
        from ahocorasick_rs import AhoCorasick, MatchKind

        def automaton(names: list[str]) -> Callable[[str], Any]:
            return AhoCorasick(names, matchkind=MatchKind.LeftmostLongest).find_matches_as_indexes

        made["ahocorasick_rs"] = automaton
    if find_spec("spacy"):
        import spacy
        from spacy.matcher import PhraseMatcher

        def matcher(names: list[str]) -> Callable[[str], Any]:
            nlp = spacy.blank("en")
            found = PhraseMatcher(nlp.vocab, attr="LOWER")
            found.add("term", list(nlp.tokenizer.pipe(names)))
            return lambda text: found(nlp.make_doc(text))

        made["spaCy PhraseMatcher"] = matcher
    return made


def seconds_of(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    made = work()
    return time.process_time() - started, made


def measure(n_terms: int, megabytes: float, repeats: int) -> list[dict[str, object]]:
    terms = make_terms(n_terms)
    text = make_text(terms, int(megabytes * 1e6))
    abstracts = [text[i : i + ABSTRACT] for i in range(0, len(text), ABSTRACT)]
    names = [name for name, *_ in terms]
    loads: dict[str, Callable[[], Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder) / "terms.tsv", Path(folder) / "terms.kw"
        path.write_text("".join("\t".join(row) + "\n" for row in terms), encoding="utf-8")
        kw.save(Dictionary.read(path), model)
        loads["Dictionary, terms.tsv"] = lambda: Dictionary.read(path)
        loads["Dictionary, terms.kw"] = lambda: kw.load(model)
        for peer, make in peer_finders().items():
            loads[peer] = lambda make=make: make(names)  # type: ignore[misc]
        load = {name: seconds_of(work) for name, work in loads.items()}
        for _ in range(repeats - 1):
            for name, work in loads.items():
                load[name] = min(load[name], seconds_of(work), key=lambda pair: pair[0])
    listed = load["Dictionary, terms.tsv"][1]
    documents = [kw.Document(abstract) for abstract in abstracts]
    works: dict[tuple[str, str], Callable[[], list[Any]]] = {
        ("Dictionary, terms.tsv", "matches, abstracts"): lambda: [
            match for abstract in abstracts for match in listed.matches(abstract)
        ],
        ("Dictionary, terms.tsv", "find, abstracts"): lambda: [
            entity for abstract in abstracts for entity in listed.find(abstract)
        ],
        ("Dictionary, terms.kw", "find, one line"): lambda: listed.find(text),
        ("Dictionary, terms.tsv", "annotate, abstracts"): lambda: [
            entity for one in documents for entity in listed.annotate(one).entities
        ],
    }
    for peer in list(loads)[2:]:
        works[peer, "find, abstracts"] = lambda find=load[peer][1]: [  # type: ignore[misc]
            match for abstract in abstracts for match in find(abstract)
        ]
    best = {name: (float("inf"), 0) for name in works}
    for _ in range(repeats):
        for key, work in works.items():
            seconds, found = seconds_of(work)
            best[key] = min(best[key], (seconds, len(found)))
    return [
        {
            "finder": name,
            "terms": len(names),
            "load s": load[name][0],
            "work": work,
            "found": found,
            "MB": len(text) / 1e6,
            "MB/s": len(text) / 1e6 / seconds,
        }
        for (name, work), (seconds, found) in best.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--terms", type=int, default=100_000)
    parser.add_argument("--megabytes", type=float, default=2.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = measure(options.terms, options.megabytes, options.repeats)
    if options.json:
        print(json.dumps(rows))
    else:
        show_table("Terms of a dictionary in text", rows)


if __name__ == "__main__":
    main()
