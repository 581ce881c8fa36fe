"""Write small model files that later versions must read, and beside each what it must give.

::

    python tools/golden.py          # writes those that are not there yet
    python tools/golden.py --check  # writes nothing, fails if one is missing

A golden file is never written again: one that would come out differently, or that gives other
results, is an error. (What an estimator learns depends on versions of numpy and scikit-learn, too;
of these only the results count.) For a model of a new kind, add a function to ``MODELS``; for a new
format of files, the old folder stays as it is.

Decays, gates and vectors are sums of few powers of two, so that values are exact: their bits depend
on no order of sums, no compiler and no machine.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator

import kernelwood as kw
from kernelwood.arrays import (
    Batch,
    ExampleBatch,
    ForestBatch,
    GraphBatch,
    SequenceBatch,
    TreeBatch,
    VectorBatch,
)
from kernelwood.entities import EntityTagger
from kernelwood.kernels import Kernel
from kernelwood.persist.manifest import CARD, FORMAT
from kernelwood.persist.models import MANIFEST
from kernelwood.similarity import Lexical, Similarity, Table, Threshold

FOLDER = Path(__file__).parent.parent / "tests" / "persist" / "golden" / f"v{FORMAT}"

TREES = [
    kw.Tree.from_brackets(text)
    for text in (
        "(S (NP (DT the) (NN owl)) (VP (VBZ waits)))",
        "(S (NP (NN rain)) (VP (VBZ waits) (PP (IN for) (NP (NN nobody)))))",
        "(S (NP (DT the) (NN rain)) (VP (VBZ falls)))",
    )
]
SEQUENCES = [
    kw.Sequence([("", "owl"), ("nsubj", "hears"), ("obj", "mouse")]),
    kw.Sequence(["owl", "", "(né) \n\0\ud800"]),
    kw.Sequence([("", "mouse"), ("nsubj", "hears"), ("obj", "owl"), ("obl", "night")]),
]
FORESTS = [
    kw.Forest(
        ["NP", "NP", "NP", "old", "owls", "and", "mice"],
        [(0, (1, 5, 6), 0.25), (0, (3, 2), 0.75), (1, (3, 4), 1.0), (2, (4, 5, 6), 1.0)],
        root=0,
    ),
    kw.Forest(["NP", "owls"], [(0, (1,), 1.0)], 0, [(0, 1), (0, 1)], fallback=True),
]
GRAPHS = [
    kw.Graph(
        {"h": "hears", "o": "owl", 7: "mouse"},
        [("h", "nsubj", "o"), ("h", "obj", 7), (7, "path", "h"), ("o", "", "o")],
        root="h",
    ),
    kw.Graph(
        ["owl", "mouse", "hears", "(né) \n\0\ud800"],
        [(0, "path", 1), (0, "obj", 1), (1, "", 3), (1, "path", 2), (2, "obj", 1)],
    ),
]
EXAMPLES = [
    kw.Example(
        "a", "bird", {"tree": TREES[0], "words": SEQUENCES[0]}, kw.text.Origin("a.mrg", line=3)
    ),
    kw.Example("b", 7, {"words": SEQUENCES[1], "tree": TREES[1]}, kw.text.Origin("b.mrg", end=9)),
    kw.Example("c", -0.5, {"tree": TREES[2], "words": SEQUENCES[2], "more": FORESTS[0]}),
]
PAIRS = [
    kw.Example.pair("a", EXAMPLES[0], EXAMPLES[1]),
    kw.Example.pair("b", EXAMPLES[1], EXAMPLES[2]),
    kw.Example.pair("c", EXAMPLES[1], EXAMPLES[0]),
]
FEATURES = [{"w=owl": 1.0, "length": 0.75}, {"length": -2.5, "w=mouse": 1.0}, {}]
SAMPLES: dict[type[Any], list[Any]] = {
    SequenceBatch: SEQUENCES,
    TreeBatch: TREES,
    ForestBatch: FORESTS,
    GraphBatch: GRAPHS,
    ExampleBatch: EXAMPLES,
    VectorBatch: FEATURES,
}

WORDS = ["owl", "mouse", "rain", "night"]


def _vectors() -> kw.Vectors:
    return kw.Vectors(WORDS, np.array([[1, 0, 0], [0, 2, 0], [-4, 0, 0], [0, 0, 0.5]]))


def _combined() -> Kernel:
    words = kw.SubsequenceKernel(
        decay=0.5, similarity=Lexical(_vectors(), weight=0.5), gates={"night": 0.25}
    )
    tree = kw.PartialTreeKernel(decay=0.5, depth_decay=0.25, normalize=False)
    return 0.25 * kw.OnView("words", words) + kw.Normalized(kw.OnView("tree", tree) ** 2)


def _parser() -> kw.ForestParser:
    former = {"coarse_threshold": 9.0, "boundary_threshold": math.inf}  # defaults
    return kw.ForestParser(vertical=1, threshold=4.0, **former).fit(TREES)


def _training() -> tuple[list[kw.Example], list[str]]:
    """Return a dozen examples with a tree and words, of three classes."""
    birds, beasts = ("owl", "crow"), ("mouse", "fox")
    examples, labels = [], []
    for animal in (*birds, *beasts):
        for verb, label in (("waits", "still"), ("falls", "moving"), ("hears", "aware")):
            tree = kw.Tree.from_brackets(f"(S (NP (DT the) (NN {animal})) (VP (VBZ {verb})))")
            words = kw.Sequence(["the", animal, ("aux", verb)])
            number = str(len(examples))
            examples.append(kw.Example(number, label, {"tree": tree, "words": words}))
            labels.append(label)
    return examples, labels


def _fitted(cls: Any, kernel: Kernel | None = None, **parameters: Any) -> Any:
    """Return an estimator fitted on examples, or with a kernel of trees on their trees."""
    examples, labels = _training()
    if kernel is None:
        kernel = kw.SubsetTreeKernel(decay=0.5)
        return cls(kernel, **parameters).fit([e.view("tree") for e in examples], labels)
    return cls(kernel, **parameters).fit(examples)


def _sentences(by: str) -> kw.SentenceIndex:
    sentences = [
        kw.Sentence.from_words(["the", animal, verb], dependencies=[(1, "det", 0), (2, "subj", 1)])
        for animal in ("owl", "mouse", "crow")
        for verb in ("waits", "falls")
    ]
    index = kw.SentenceIndex(by=by, n_landmarks=4, n_bits=16, random_state=1).fit(sentences[:5])
    index.add(sentences[5:])
    index.remove([1])
    return index


def _clusters(n_landmarks: int | None = None) -> kw.KernelKMeans:
    trees = [example.view("tree") for example in _training()[0]]
    kernel = kw.SubsetTreeKernel(decay=0.5)
    embedder = None if n_landmarks is None else kw.NystromEmbedder(kernel, n_landmarks=n_landmarks)
    return kw.KernelKMeans(3, kernel, embedder=embedder, random_state=1).fit(trees)


def _annotated() -> list[kw.Example]:
    """Return a dozen sentences about two animals each, half of which are related."""
    examples = []
    for number in range(12):
        verb, related = (("hears", True), ("and", False), ("heard by", True), ("or", False))[
            number % 4
        ]
        words = ["owl", *verb.split(), "mouse"]
        owl, mouse = (
            kw.text.Entity("e1", "animal", ((0, 3),)),
            kw.text.Entity("e2", "animal", ((5 + len(verb), 10 + len(verb)),)),
        )
        ends = ["e1", "e2"] if number % 4 == 0 else ["e2", "e1"]
        arguments = tuple(kw.text.Argument(f"Arg{i + 1}", end) for i, end in enumerate(ends))
        sentence = kw.Sentence.from_words(
            words,
            entities=[owl, mouse],
            relations=[kw.text.Relation("r1", "hears", arguments)] if related else [],
        )
        examples.append(kw.Example(f"d{number // 2}.s{number}", views={"sentence": sentence}))
    return examples


def _extractor(recipe: str, **options: Any) -> kw.RelationExtractor:
    kernel = kw.OnView("context", kw.SubsequenceKernel(decay=0.5))
    made = kw.RelationExtractor(
        recipe, kernel=kernel, options=options, license="CC0", random_state=1
    )
    return made.fit(_annotated())


_HASHED = {"n_references": 6, "n_bits": 16, "random_state": 1}
_CHOICE = {"n_candidates": 4, "n_samples": 10}

# Name of the file -> how its model is made.
MODELS: dict[str, Callable[[], Any]] = {
    "kernel-subsequence": lambda: kw.SubsequenceKernel(decay=0.5, max_length=2, normalize=False),
    "kernel-rooted-tree": lambda: kw.RootedTreeKernel(decay=0.5, contiguous=True),
    "kernel-subtree": lambda: kw.SubtreeKernel(decay=0.25),
    "kernel-subset-tree": lambda: kw.SubsetTreeKernel(decay=0.5, count_leaves=True),
    "kernel-partial-tree": lambda: kw.PartialTreeKernel(decay=0.5, depth_decay=0.5),
    "kernel-forest": lambda: kw.ForestKernel(decay=0.5, normalize=False),
    "kernel-all-paths-graph": lambda: kw.AllPathsGraphKernel(
        edge_weight=0.25, edge_weights={"obj": 0.5}, variant="max", gates={"owl": 0.5}
    ),
    "kernel-weisfeiler-lehman": lambda: kw.WeisfeilerLehmanKernel(
        n_iterations=2, base="assignment", gates={"mouse": 0.25}
    ),
    "kernel-vector": lambda: kw.VectorKernel("polynomial", degree=3, gamma=0.5, coef0=0.25),
    "kernel-vector-words": lambda: kw.VectorKernel("cosine", vectors=_vectors()),
    "kernel-combined": _combined,
    "kernel-pair": lambda: kw.PairKernel(
        kw.OnView("words", kw.SubsequenceKernel(decay=0.5)), mode="best", sharpness=2
    ),
    "similarity-lexical": lambda: Lexical(_vectors(), weight=0.5, floor=0.125),
    "similarity-threshold": lambda: Threshold(_vectors(), floor=-0.5),
    "similarity-table": lambda: Table(WORDS[:2], np.array([[1, 0.5], [0.5, 1]])),
    "vectors": _vectors,
    "parser": _parser,
    "parser-boundaries": lambda: kw.ForestParser(threshold=6.0, boundary_threshold=9.0).fit(TREES),
    "structures-sequences": lambda: kw.batch(SEQUENCES)[1:],
    "structures-trees": lambda: kw.batch([*TREES, kw.Tree("", [kw.Tree("(\n", edge="e")])]),
    "structures-forests": lambda: kw.batch(FORESTS),
    "structures-graphs": lambda: kw.batch(GRAPHS)[1:],
    "structures-vectors-dense": lambda: kw.batch([[0.5, -1.25], [0.0, 3.0], [1e-300, 7.0]])[1:],
    "structures-vectors-sparse": lambda: kw.batch(
        csr_matrix(([0.5, 2.0, -1.0], [0, 7, 3], [0, 2, 2, 3]), (3, 9))
    ),
    "structures-vectors-named": lambda: kw.batch(FEATURES)[1:],
    "structures-examples-vectors": lambda: kw.batch(
        [
            kw.Example("a", "bird", {"tree": TREES[0], "flat": FEATURES[0], "code": (1.5, 0.25)}),
            kw.Example("b", "rain", {"flat": FEATURES[1], "code": (-0.5, 2.0)}),
        ]
    ),
    "structures-examples": lambda: kw.batch(EXAMPLES),
    "hasher-rknn": lambda: _fitted(kw.KernelHasher, method="rknn", **_HASHED),
    "hasher-rmm": lambda: _fitted(kw.KernelHasher, _combined(), **_HASHED).grow(n_bits=8),
    "hasher-kulis": lambda: _fitted(kw.KernelHasher, method="kulis", **_HASHED),
    "hasher-information": lambda: _fitted(
        kw.KernelHasher,
        references=kw.ReferenceSelector(kw.SubtreeKernel(decay=0.5), n_steps=9, **_CHOICE),
        **_HASHED,
    ),
    "reference-selector": lambda: _fitted(kw.ReferenceSelector, **_CHOICE, **_HASHED),
    "reference-selector-coverage": lambda: _fitted(
        kw.ReferenceSelector, _combined(), strategy="coverage", **_HASHED
    ),
    "gate-learner": lambda: _fitted(
        kw.GateLearner,
        kw.OnView("words", kw.SubsequenceKernel(decay=0.5, gate_on="node")),
        n_samples=3,
        n_passes=2,
        random_state=1,
    ),
    "gate-learner-information": lambda: _fitted(
        kw.GateLearner,
        kw.OnView("words", kw.SubsequenceKernel(decay=0.5, gate_on="node")),
        method="information",
        labels=["owl", "the"],
        n_steps=6,
        n_references=6,
        n_bits=16,
        parameters={"kernel__decay": [0.25, 0.5]},
        n_runs=2,
        random_state=1,
    ),
    "nystrom-embedder": lambda: _fitted(
        kw.NystromEmbedder, n_landmarks=5, n_components=4, random_state=1
    ),
    "nystrom-embedder-grown": lambda: _fitted(
        kw.NystromEmbedder, _combined(), n_landmarks=5, selection="stratified", random_state=1
    ).grow(EXAMPLES[:2]),
    "hash-index": lambda: _fitted(kw.HashIndex, n_rerank=4, **_HASHED),
    "embedding-index": lambda: _fitted(
        kw.EmbeddingIndex, n_landmarks=5, n_rerank=1000, random_state=1
    ),
    "sentence-index": lambda: _sentences("vectors"),
    "sentence-index-codes": lambda: _sentences("codes"),
    "kernel-kmeans": lambda: _clusters(),
    "kernel-kmeans-vectors": lambda: _clusters(n_landmarks=6),
    "kernel-network": lambda: _fitted(
        kw.KernelNetworkClassifier, n_landmarks=6, n_sets=2, hidden=(3,), max_iter=5, random_state=1
    ),
    "hash-forest": lambda: _fitted(
        kw.HashForestClassifier, n_estimators=5, bits_per_tree=6, threshold_for="still", **_HASHED
    ),
    "hash-neighbors": lambda: _fitted(
        kw.HashNeighborsClassifier, n_neighbors=3, n_candidates=6, **_HASHED
    ),
    "kernel-neighbors": lambda: _fitted(
        kw.KernelNeighborsClassifier, _combined(), n_neighbors=2, class_weight={"still": 2.0}
    ),
    "kernel-ranker": lambda: kw.KernelRanker(_combined(), C=2.0).fit(
        _training()[0], [len(label) for label in _training()[1]]
    ),
    "kernel-ridge": lambda: _fitted(
        kw.KernelRidgeClassifier, _combined(), ridge=0.5, class_weight="balanced", probability=True
    ),
    "landmark-ridge": lambda: _fitted(
        kw.LandmarkRidgeClassifier,
        n_landmarks=4,
        class_weight="balanced",
        probability=True,
        random_state=1,
    ),
    "kernel-svc": lambda: _fitted(kw.KernelSVC, probability=True, random_state=1),
    "dictionary": lambda: kw.Dictionary([("owl", "animal", "DB:1"), ("Tawny owl", "animal")]),
    "entity-tagger": lambda: EntityTagger().fit(_annotated()),
    "relation-extractor": lambda: _extractor("svm"),
    "relation-extractor-forest": lambda: _extractor(
        "klsh-rf", n_estimators=5, n_bits=16, bits_per_tree=6
    ),
    "kernel-svc-landmarks": lambda: _fitted(kw.KernelSVC, n_landmarks=4, random_state=1),
    "kernel-svc-pairs": lambda: _fitted(kw.KernelSVC, _combined(), strategy="ovo", C=4.0),
}


def results(model: Any) -> dict[str, Any]:
    """Return what a model gives, as JSON in which no bit is lost."""
    if isinstance(model, Kernel):
        of_pairs = isinstance(model, kw.PairKernel)
        return {"gram": plain(model.gram(PAIRS if of_pairs else SAMPLES[model._accepts()]))}
    if isinstance(model, Similarity):
        return {"table": plain(model.table([*WORDS, "fog"], [*WORDS, "fog"]))}
    if isinstance(model, kw.Vectors):
        return {"words": list(model.words), "matrix": plain(model.matrix)}
    if isinstance(model, kw.ForestParser):
        # Its probabilities are logarithms in between, which no two machines compute alike.
        parsed = model.parse(["the", "rain", "waits", "for", "snow"])
        return {"best": parsed.best_tree().to_brackets(), "trees": parsed.n_trees}
    if isinstance(model, kw.Dictionary):
        found = model.find("An owl, a tawny owl and a Tawny Owl.")
        return {"found": [[entity.type, entity.text, entity.start] for entity in found]}
    if isinstance(model, EntityTagger):
        found = model.find("owl hears mouse and owl.")
        return {"found": [[entity.type, entity.text, entity.start] for entity in found]}
    if isinstance(model, (Batch, ExampleBatch)):
        return {"structures": [_structure(structure) for structure in model]}
    return _estimator_results(model)


def _estimator_results(model: Any) -> dict[str, Any]:
    if isinstance(model, kw.SentenceIndex):
        query = kw.Sentence.from_words(["the", "rain", "falls"], dependencies=[(1, "det", 0)])
        return {"matches": [[m.id, m.text, plain(m.similarity)] for m in model.search(query, k=3)]}
    if isinstance(model, kw.RelationExtractor):
        # Exponentials, whose last bit no two machines agree on.
        judged = model.predict(_annotated(), all=True)
        return {
            "relations": [
                [one.relation, one.positive, round(one.probability, 9)] for one in judged
            ],
            "evidence": [[case.id, plain(case.similarity)] for case in judged[0].evidence],
        }
    X = SAMPLES[model.kernel._accepts()]
    methods = ("transform", "kneighbors", "decision_function", "predict_proba", "predict")
    found = {name: plain(getattr(model, name)(X)) for name in methods if hasattr(model, name)}
    if isinstance(model, (kw.HashIndex, kw.EmbeddingIndex)):
        found["search"] = plain(model.search(X, k=3))
    if isinstance(model, kw.ReferenceSelector):
        found = {"indices": plain(model.indices_), "subsets": plain(model.subsets_)}
    if isinstance(model, kw.GateLearner):
        found = {"gates": plain([*model.gates_.items()]), "gram": plain(model.kernel_.gram(X))}
    if isinstance(model, kw.KernelKMeans):
        found["labels"] = plain(model.labels_)
    if isinstance(model, kw.KernelNetworkClassifier) or (
        isinstance(model, (kw.KernelSVC, kw.KernelRidgeClassifier)) and model.probability
    ):
        # Exponentials, whose last bit no two machines agree on.
        found["predict_proba"] = plain(np.round(model.predict_proba(X), 9))
    if not found:
        raise TypeError(f"say in results() what a {type(model).__name__} gives")
    return found


def _structure(structure: Any) -> Any:
    if isinstance(structure, kw.Sequence):
        return [list(structure.edges), list(structure.nodes)]
    if isinstance(structure, kw.Tree):
        return list(structure.flatten())
    if isinstance(structure, kw.Forest):
        return structure.to_json()
    if isinstance(structure, kw.Graph):
        return plain([list(structure.nodes.values()), structure.edges, structure.root])
    if isinstance(structure, tuple):
        return plain(structure)
    if isinstance(structure, Mapping):
        return plain(sorted(structure.items()))
    views = {name: _structure(view) for name, view in sorted(structure.views.items())}
    origin = structure.origin
    place = None if origin is None else [origin.path, origin.line, origin.start, origin.end]
    return [structure.id, repr(structure.label), views, place]


def plain(value: Any) -> Any:
    """Return numbers as JSON: floats by their bits, in hexadecimal."""
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), plain(value.ravel().tolist())]
    return value.hex() if isinstance(value, float) else value


def contents(path: Path) -> dict[str, Any]:
    """Return what a model file says, but for the version that wrote it."""
    with zipfile.ZipFile(path) as archive:
        members: dict[str, Any] = {name: archive.read(name) for name in archive.namelist()}
    del members[CARD]
    manifest = json.loads(members.pop(MANIFEST))
    del manifest["kernelwood"], manifest["members"]
    return {**members, MANIFEST: manifest}


def expected(path: Path) -> Path:
    """Return the file that tells what the model in a file gives."""
    return path.with_suffix(".json")


def missing(folder: Path) -> list[str]:
    """Return the models that have no file yet; raise ValueError if a file would change."""
    new = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, make in MODELS.items():
            old, now = folder / f"{name}.kw", Path(scratch, f"{name}.kw")
            if not old.exists():
                new.append(name)
                continue
            model = make()
            kw.save(model, now)
            learned = isinstance(model, (BaseEstimator, EntityTagger))
            if not learned and contents(old) != contents(now):
                raise ValueError(
                    f"{old} would change. Files like it are out in the world: give the new model "
                    "another name here, and if old files can no longer be read, raise FORMAT"
                )
            if json.loads(expected(old).read_text(encoding="utf-8")) != results(kw.load(old)):
                raise ValueError(f"{old} gives other results than before")
    return new


def write(names: list[str], folder: Path) -> None:
    """Write the files of models that have none."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = folder / f"{name}.kw"
        model = MODELS[name]()
        kw.save(model, path)
        text = json.dumps(results(model), indent=1)
        expected(path).write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if one is new")
    arguments = parser.parse_args()
    try:
        new = missing(FOLDER)
    except ValueError as problem:
        sys.exit(str(problem))
    if arguments.check and new:
        sys.exit(f"run python tools/golden.py: there is no file of {', '.join(new)}")
    write(new, FOLDER)


if __name__ == "__main__":
    main()
