"""Use of a loaded model: its public methods, each with suitable input.

Training is left out (``fit``, ``fit_held_out``, ``held_out``, ``fit_batches``, ``refit``,
``cross_validate`` and ``learning_curve``): its cost depends on parameters that may be large in
honest models, too.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

import kernelwood as kw
from fuzz.kinds import Use
from fuzz.model_samples import documents, event_documents, inputs, kernels_of, training
from kernelwood.arrays import Batch, ExampleBatch, ForestBatch, VectorBatch, Vocabulary
from kernelwood.entities import Dictionary, EntityTagger
from kernelwood.features import BitBlock
from kernelwood.io import Claim
from kernelwood.kernels import Kernel
from kernelwood.learners import BitForest
from kernelwood.persist import write_model
from kernelwood.relations import card_of, report_html
from kernelwood.similarity import Similarity

TEXT = "Owl hears mouse. An owl and a Tawny owl wait, or the mouse is heard by owl."
WORDS = ["owl", "mouse", "rain", "night", "fog", "", "NN::owl"]


def use_model(model: Any, use: Use) -> None:
    """Call the public methods of a model."""
    for kind, function in _USES:
        if isinstance(model, kind):
            function(model, use)
            break
    use(repr, model)
    use(write_model, model, io.BytesIO())


def _kernel(kernel: Kernel, use: Use) -> None:
    X = use(inputs, kernel)
    if X is None:
        return
    use(kernel.gram, X)
    use(kernel.gram, X, dtype="float32")
    use(kernel.cross, X, X[:1])
    use(kernel.diag, X)
    use(kernel.pairs, X, X)
    use(kernel.neighbors, X, X, 1, exclude_self=True)
    use(kernel.value, X[0], X[1])
    use(kernel.reference, X[0], X[1])
    use(kernel.smallest_eigenvalue, X)
    use(kernel.is_stationary)
    use(lambda: [str(one) for one in kernel.hyperparameters])
    use(lambda: (kernel.bounds, kernel.n_dims, kernel.requires_vector_input))
    use(lambda: kernel.clone_with_theta(kernel.theta))
    _parameterized(kernel, use)


def _parameterized(model: Any, use: Use) -> None:
    use(model.clone)
    use(lambda: model == model.clone())
    use(lambda: len(model.get_params()))  # parameters may be NaN, results may not


def _similarity(similarity: Similarity, use: Use) -> None:
    use(similarity.table, WORDS, WORDS)
    use(similarity.value, "owl", "mouse")
    use(similarity.resolve, WORDS)
    use(similarity.smallest_eigenvalue, WORDS)
    use(lambda: similarity.positive_semidefinite)
    use(similarity.check)
    _parameterized(similarity, use)


def _vectors(vectors: kw.Vectors, use: Use) -> None:
    use(lambda: [vectors.row(word) for word in WORDS])
    use(vectors.rows, WORDS)
    use(vectors.nearest, WORDS[0], 2)
    use(vectors.similarity, WORDS[0], WORDS[1])
    use(lambda: (list(vectors), list(vectors.words), vectors.matrix, vectors.dim, len(vectors)))
    use(lambda: (WORDS[0] in vectors, hash(vectors), vectors == vectors))


def _batch(batch: Batch, use: Use) -> None:
    everything = use(list, batch)
    n = len(batch)
    use(lambda: (batch.sizes, batch.largest, batch.n_elements, batch.shape, batch.ndim))
    use(lambda: (batch.prepared_nbytes, batch.forget()))
    if isinstance(batch, ForestBatch):
        use(lambda: batch.edges)
    use(lambda: batch[:1])
    use(lambda: batch[[*range(n)]])
    use(lambda: batch[::-1])
    use(batch.take, np.arange(n)[::-1].copy())
    use(batch.distinct)
    use(batch.in_vocabulary, Vocabulary(["owl", "NP"]))
    if isinstance(batch, VectorBatch):
        use(lambda: batch.matrix() if batch.is_dense else batch.csr(batch.n_columns))
    if everything:
        use(kw.batch, everything)
    for kernel in kernels_of(batch):
        use(kernel.gram, batch)
        use(kernel.cross, batch[:1], batch)


def _examples(batch: ExampleBatch, use: Use) -> None:
    everything = use(list, batch)
    n = len(batch)
    use(lambda: (batch.ids, batch.groups, batch.origins, batch.shape, batch.ndim))
    use(lambda: (batch.prepared_nbytes, batch.forget()))
    use(lambda: list(batch.only([])))
    for name in list(batch.views):
        column = use(batch.column, name)
        if column is not None and isinstance(column.structures, Batch):
            _batch(column.structures, use)
    use(lambda: list(batch[[*range(n)]][::-1]))
    use(batch.with_labels, ["x"] * n)
    if everything:
        use(kw.batch, everything)


def _parser(parser: kw.ForestParser, use: Use) -> None:
    words = ["the", "rain", "waits", "for", "snow"]
    forest = use(parser.parse, words)
    use(parser.parse, ["the", "owl"], ["DT", "NN"])
    use(parser.parse_batch, [words, words[:2]])
    use(parser.parse_trees, [words, words[:2]])
    if forest is not None:
        use(lambda: (forest.best_tree(), forest.n_trees))
    _parameterized(parser, use)


def _dictionary(terms: Dictionary, use: Use) -> None:
    use(terms.find, TEXT)
    use(terms.matches, TEXT)
    use(terms.annotate, kw.Document(TEXT))
    use(terms.not_found)
    use(lambda: (len(terms), terms == terms))


def _tagger(tagger: EntityTagger, use: Use) -> None:
    use(tagger.find, TEXT)
    use(tagger.mentions, TEXT)
    use(tagger.annotate, kw.Document(TEXT))
    use(tagger.annotate, kw.Document(TEXT), Dictionary([("fog", "weather")]))
    _parameterized(tagger, use)


def _bits(block: BitBlock, use: Use) -> None:
    use(block.check)
    use(lambda: block.n_bits)


def _bit_forest(forest: BitForest, use: Use) -> None:
    use(forest.check, 64, 3)
    use(lambda: forest.n_trees)
    use(forest.importances)


def _extractor(model: kw.RelationExtractor, use: Use) -> None:
    events = model.candidates == "events"
    many = event_documents() if events else documents()
    known = many[: 2 if events else 4]
    use(lambda: (model.classes_, model.relations_, model.positive_rate_, model.warnings_))
    use(lambda: card_of(model))
    judged = use(model.predict, known, all=True)
    use(model.predict, known)
    if judged is not None:
        _predictions(model, judged, use)
    document = known[0].view("sentence")
    found = use(model.extract, [kw.Example("x", views={"document": kw.Document(TEXT)})], all=True)
    use(model.find_entities, kw.Document(TEXT))
    use(model.find_entities, document)
    use(model.score, known)
    use(model.evaluate, known, n_bootstrap=2)
    use(model.suggest_labels, many, 2, random_state=0)
    use(lambda: str(model.adapt(many)))
    if not events:
        use(_verdicts, model)
    if found is not None:
        use(lambda: [one.to_dict() for one in found])


def _predictions(model: kw.RelationExtractor, judged: Any, use: Use) -> None:
    use(lambda: [one.to_dict(evidence=True) for one in judged[:2]])
    use(lambda: [(one.runner_up, one.directed, one.error, one.probability) for one in judged])
    use(lambda: [case.fragments for case in judged[0].evidence] if len(judged) else None)
    use(model.explain, list(judged[:1]), 2)
    use(lambda: (judged.positive, judged.relations, judged.positives(), judged.related))
    use(judged.with_threshold, 0.5)
    use(judged.with_positive_rate, 0.3)
    use(lambda: [fact.to_dict() for fact in judged.facts()])
    use(judged.to_displacy)
    use(lambda: report_html(title="a", predictions=judged, extractor=model))


def _verdicts(model: kw.RelationExtractor) -> Any:
    row = {
        "text": "owl hears mouse",
        "entities": [
            {"id": "a", "start": 0, "end": 3, "type": "animal"},
            {"id": "b", "start": 10, "end": 15, "type": "animal"},
        ],
        "relation": {"type": (*model.relations_, "hears")[0], "first": "a", "second": "b"},
    }
    return [one.to_dict() for one in model.verify([Claim.from_object(row, "c")])]


def _estimator(model: Any, use: Use) -> None:
    """Use an estimator: all methods that it has, of those in a table."""
    kernel = getattr(model, "kernel_", None) or getattr(model, "kernel", None)
    if isinstance(model, kw.SentenceIndex):
        _sentence_index(model, use)
        return
    X = use(inputs, kernel) if isinstance(kernel, Kernel) else None
    if X is None:
        return
    if isinstance(X[0], kw.Example):
        X = training()
    use(lambda: len(model.get_params()))
    for name in _PLAIN:
        if hasattr(model, name):  # some depend on parameters
            use(getattr(model, name), X)
    for name, arguments in _WITH_ARGUMENTS.items():
        if hasattr(type(model), name):
            use(lambda name=name, arguments=arguments: arguments(getattr(model, name), model, X))
    for name in _PROPERTIES:
        if hasattr(type(model), name):
            use(getattr, model, name)


_PLAIN = (
    "transform", "predict", "predict_proba", "decision_function", "kneighbors", "codes",
    "similarities", "residual", "apply",
)  # fmt: skip
_PROPERTIES = (
    "subsets_", "rank_", "codes_", "ids_", "next_id_", "structures_", "scales_", "vectors_",
    "bit_importances_", "labels_", "query_evaluations_", "n_support_", "cluster_sizes_",
    "medoid_indices_", "medoids_",
)  # fmt: skip


def _score(score: Callable[..., Any], model: Any, X: Any) -> Any:
    if isinstance(model, kw.KernelRanker):
        return score(X, range(len(X)))
    return score(X, [model.classes_[0]] * len(X)) if hasattr(model, "classes_") else score(X)


def _search_codes(search: Callable[..., Any], model: Any, X: Any) -> Any:
    return search(model.hasher_.codes(X), 3)


def _contributions(method: Callable[..., Any], model: Any, X: Any) -> Any:
    label = model.classes_[0]
    if isinstance(model, kw.HashForestClassifier):
        labeled = isinstance(X[0], kw.Example)
        return method(X[:2], X[0].label, training=X) if labeled else None
    return method(X[:2], label), method(X[:1], label, against=model.classes_[-1])


def _removed(method: Callable[..., Any], model: Any, X: Any) -> Any:
    ids = model.ids_
    method(ids[:1])
    return model.predict(X[:2]) if hasattr(model, "predict") else model.search(X[:2], 3)


def _added(method: Callable[..., Any], model: Any, X: Any) -> Any:
    if hasattr(model, "classes_"):
        method(X[:2], [model.classes_[0]] * 2)
        return model.predict(X[:2])
    method(X[:2])
    return model.search(X[:2], 3)


# Methods with more arguments than structures; those that change the model come last.
_WITH_ARGUMENTS: dict[str, Callable[..., Any]] = {
    "score": _score,
    "search": lambda method, model, X: (method(X, 3), method(X, 3, n_rerank=0)),
    "evidence": lambda method, model, X: str(method(X[0], 3)),
    "contributions": _contributions,
    "encode": lambda method, model, X: method(model.similarities(X)),
    "embed": lambda method, model, X: method(model.similarities(X)),
    "inverse_neighbors": lambda method, model, X: method(model.transform(X[:1]), 2),
    "iter_transform": lambda method, model, X: list(method(X, 2)),
    "get_feature_names_out": lambda method, model, X: method(),
    "reference_importances": lambda method, model, X: method(),
    "search_codes": _search_codes,
    "report": lambda method, model, X: str(method()),
    "describe": lambda method, model, X: str(method()),
    "remove": _removed,
    "add": _added,
    "grow": lambda method, model, X: (
        method(n_bits=8) if isinstance(model, kw.KernelHasher) else method(X[:1])
    ),
}


def _sentence_index(index: kw.SentenceIndex, use: Use) -> None:
    query = kw.Sentence.from_words(["the", "rain", "falls"], dependencies=[(1, "det", 0)])
    use(lambda: (index.ids_, index.names_, index.texts_, index.next_id_, len(index)))
    matches = use(index.search, query, k=3)
    use(index.search, [query, query], k=2, n_rerank=0)
    for match in matches or ():
        use(lambda match=match: (match.id, match.text, match.similarity))
        use(index.explain, query, match.id)
    use(lambda: index.remove(index.ids_[:1]))
    use(index.add, [query])
    use(index.search, query, k=3)


_USES: tuple[tuple[type[Any], Callable[[Any, Use], None]], ...] = (
    (Kernel, _kernel),
    (Similarity, _similarity),
    (kw.Vectors, _vectors),
    (Batch, _batch),
    (ExampleBatch, _examples),
    (kw.ForestParser, _parser),
    (Dictionary, _dictionary),
    (EntityTagger, _tagger),
    (BitBlock, _bits),
    (BitForest, _bit_forest),
    (kw.RelationExtractor, _extractor),
    (object, _estimator),
)
