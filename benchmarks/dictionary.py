"""Speed of finding terms: loading a file of many, and looking for them in text.

    python benchmarks/dictionary.py [--terms 100000] [--megabytes 2] [--repeats 3] [--json]

Terms and text are made up, always the same ones: names of one to three words, some with numbers,
Greek letters and hyphens; a sixth of the words of the text belong to terms. The text is given as
abstracts of about 1,500 characters and as one line. Times are CPU times of one thread, the best of
several runs.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from pathlib import Path

from measure import cpu_seconds, show_table

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


def measure(n_terms: int, megabytes: float, repeats: int) -> list[dict[str, object]]:
    terms = make_terms(n_terms)
    text = make_text(terms, int(megabytes * 1e6))
    abstracts = [text[i : i + ABSTRACT] for i in range(0, len(text), ABSTRACT)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "terms.tsv"
        path.write_text("".join("\t".join(row) + "\n" for row in terms), encoding="utf-8")
        load = cpu_seconds(lambda: Dictionary.read(path), repeats)
        listed = Dictionary.read(path)
    found = sum(len(listed.find(abstract)) for abstract in abstracts)
    documents = [kw.Document(abstract) for abstract in abstracts]
    works = {
        "find, abstracts": lambda: [listed.find(abstract) for abstract in abstracts],
        "find, one line": lambda: listed.find(text),
        "annotate, abstracts": lambda: [listed.annotate(document) for document in documents],
    }
    rows: list[dict[str, object]] = []
    for name, work in works.items():
        seconds = cpu_seconds(work, repeats)
        row = {"terms": len(listed), "load s": load, "work": name, "found": found}
        rows.append(row | {"MB": len(text) / 1e6, "MB/s": len(text) / 1e6 / seconds})
    return rows


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
