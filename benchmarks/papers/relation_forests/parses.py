"""Packed forests of the sentences of a corpus, parsed once and kept in a folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from roles.corpus import read_sentences
from treebank import SAMPLE, read_trees

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.parsing import load_grammar

__all__ = ["GRAMMARS", "PARSES", "THRESHOLDS", "learn_parser", "parse"]

PARSES = Path(__file__).parents[3] / "build" / "papers" / "forests"
WEB = "srl-propbank/ewt-train.srl.conll.gz"
GRAMMARS = {  # of a corpus: the name of its grammar, and the treebanks it is learned from
    "SemEval": ("penn-and-web", (SAMPLE, WEB)),
    "AIMed": ("biomedical", ()),  # bundled, learned from GENIA
}
# Nats, of constituents and hyper-edges. The larger forests are for curves.
THRESHOLDS = {"forests": 8.0, "larger forests": 12.0}

Words = tuple[str, ...]


def learn_parser(corpus: str, data: str | None) -> kw.ForestParser:
    """Return the parser for the text of a corpus."""
    if not GRAMMARS[corpus][1]:
        return load_grammar()
    trees = read_trees(data, 1, 199)
    web = read_sentences(require_data(WEB, data=data))
    trees += [sentence.tree for sentence in web if sentence.tree is not None]
    return kw.ForestParser().fit(trees)


def parse(
    corpus: str,
    sentences: Sequence[Words],
    threshold: float,
    *,
    parser: Callable[[], kw.ForestParser],
    data: str | None = None,
    folder: Path = PARSES,
) -> dict[Words, kw.Forest]:
    """Return the forest of each sentence, from the folder if it was parsed before.

    Parameters
    ----------
    corpus : str
        A key of `GRAMMARS`.
    sentences : sequence of tuple of str
        Words of the sentences; each is parsed once.
    threshold : float
        Of constituents and hyper-edges, in nats.
    parser : callable
        Returns the parser; called only if the forests are not in the folder.
    data : str, optional
        Folder of the treebanks.
    folder : Path
        Where forests are saved, in a file named by grammar, threshold, version and sentences.
    """
    unique = list(dict.fromkeys(sentences))
    name, treebanks = GRAMMARS[corpus]
    sizes = [require_data(one, data=data).stat().st_size for one in treebanks]
    key = json.dumps([kw.__version__, name, sizes, threshold, unique])
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    path = folder / f"{corpus}-{name}-{threshold:g}-{digest}.kw"
    if path.exists():
        forests = list(kw.load(path))
    else:
        trained = parser().set_params(threshold=threshold, coarse_threshold=threshold)
        forests = trained.parse_batch([list(words) for words in unique])
        folder.mkdir(parents=True, exist_ok=True)
        kw.save(kw.batch(forests), path)
    return dict(zip(unique, forests, strict=True))
