"""The relation extractor: trains on annotated documents, predicts relations in new ones."""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import (
    LARGE,
    ArrayOf,
    ExampleBatch,
    Fields,
    Figure,
    Instance,
    Items,
    Maybe,
    Named,
    Real,
    Schema,
    Strings,
    Text,
    Whole,
)
from kernelwood.compute import config_context, resolve_jobs
from kernelwood.entities import Dictionary, EntityFinder, EntityTagger
from kernelwood.errors import KernelInputError
from kernelwood.features import SEED, Estimator, not_fitted
from kernelwood.io import cycles_ignored
from kernelwood.kernels import Kernel, needed_views
from kernelwood.learners import LEARNERS
from kernelwood.parameters import ChecksParameters
from kernelwood.relations.adaptation import (
    Adaptation,
    DocumentSums,
    DriftMonitor,
    Plan,
    adapt_calibration,
    choose,
    logits_of,
)
from kernelwood.relations.calibration import (
    THRESHOLDS,
    Calibration,
    best_relation,
    calibrate,
    held_out_error,
    ranking,
    rates,
)
from kernelwood.relations.candidates import (
    MAX_EVENT_ENTITIES,
    NONE,
    Candidates,
    Viewed,
    events_in,
    names_of,
    pairs_in,
)
from kernelwood.relations.corpus import (
    AUTO,
    GIVEN,
    SentenceTable,
    check_sentences,
    documents_from,
    example_entries,
    read_sentences,
    text_entries,
    warn_of_parser,
)
from kernelwood.relations.cross_validation import Folds
from kernelwood.relations.end_to_end import score_end_to_end
from kernelwood.relations.entity_remarks import warn_of_entities
from kernelwood.relations.evidence import CaseTexts, TrainingCases
from kernelwood.relations.guards import (
    TextHashes,
    corpus_remarks,
    type_f1,
    warn_of_corpus,
    warn_of_overlap,
    warn_of_size,
)
from kernelwood.relations.labeled_pairs import (
    PriorCases,
    check_both_kinds,
    class_labels,
    labeled_pairs,
    pair_classes,
)
from kernelwood.relations.learning import (
    Comparison,
    assign_folds,
    class_scores,
    fit_and_hold_out,
    trial_rows,
)
from kernelwood.relations.learning_curve import FRACTIONS, LearningCurve
from kernelwood.relations.predictions import Prediction, Predictions
from kernelwood.relations.recipes import (
    ENTITY_VIEW,
    EVENT_VIEWS,
    PAIR_VIEWS,
    SOFT_ENTITY_VIEW,
    TYPE_VIEWS,
    added_kernel,
    check_options,
    find_recipe,
    kernel_on,
    make_learner,
)
from kernelwood.relations.relation_classes import EVENT, RELATION, RelationClasses, type_of
from kernelwood.relations.scores import RelationScores, RelationValidation, score_predictions
from kernelwood.relations.sentence_list import SentenceList
from kernelwood.relations.shared_sentences import SharedSentences
from kernelwood.relations.signatures import Signatures
from kernelwood.relations.triggers import find_triggers, learn_forms, learn_triggers
from kernelwood.relations.verification import Verdicts, verify
from kernelwood.seeds import check_seed, resolve_seed
from kernelwood.structures import show
from kernelwood.text import Document
from kernelwood.vectors import Vectors
from kernelwood.views import find_view, several

_LOG = logging.getLogger(__name__)

_LEAST_GAIN = 0.005  # of held-out F1, for words of entities to be compared
_TRIAL = {"tol": 1e-3}  # for machines that decide about words only
LEARN = "learn"  # a tagger of entities
_ADVICE = (
    "train with entities='learn', give a list of terms (dictionary=), or documents with entities"
)
_MAX_ENTITIES = 60  # of a sentence: 1,770 pairs
_LABELS = ("auto", "binary", "type", "directed")
_CASE_TEXTS = tuple(f"case_{column}_" for column in CaseTexts._fields)
_DOCUMENT_SUMS = tuple(f"document_{column}_" for column in DocumentSums._fields)
_TEXT_HASHES = ("sentence_hashes_", "document_hashes_", "id_hashes_")  # of training


class RelationExtractor(ChecksParameters, Estimator):
    """Relation extractor: learns from annotated documents, predicts relations with evidence.

    Every pair of entities of a sentence (or every possible event with its participants) is a
    candidate. A kernel compares candidates by some of their views, and a classifier scores them.
    Scores of held-out documents calibrate probabilities and set the decision threshold.

    Parameters
    ----------
    recipe : str, default "svm"
        Learning algorithm preset, a name in `kernelwood.relations.RECIPES`.
    candidates : {"pairs", "events"}, default "pairs"
        Two entities, or a trigger with participants and an optional catalyst.
    views : str or list of str, optional
        Views to compare, names in `kernelwood.views.VIEWS`. Default for pairs: the words around
        them, the shortest dependency path, the relation of their names, negation; for several
        relation types also entity types and the words of the sentence; words of the entities as set
        by ``blind``. For events: path and tree from the trigger.
    kernel : Kernel, optional
        Kernel on the views; by default that of `kernelwood.relations.kernel_on`.
    vectors : Vectors, optional
        Word vectors by which the words of entities are compared, and those of the views that are
        given; without them, words or stems must be equal.
    blind : {"auto", True, False}, default "auto"
        Whether default views ignore the words of the entities. ``"auto"`` ignores them unless they
        raise F1 on held-out documents of the training corpus by at least 0.005 (``trial_``).
    options : dict, optional
        Parameters of the classifier that override the recipe, such as ``{"C": 10.0}``.
    labels : {"auto", "type", "directed", "binary"}, default "auto"
        Classes: relation types, types with direction, or only relation and none. ``"auto"``:
        types, with direction if both directions occur in the training documents and do not follow
        from the entity types.
    signatures : {"auto", False}, default "auto"
        Whether to leave out pairs of a kind that is never related in the training documents
        although it is frequent: two entity types, equal names, or nested entities.
    symmetric : list of str, optional
        Relation types without direction, regardless of their annotation.
    types, relations : list of str, optional
        Types of entities, and of relations, to use; by default all.
    max_distance : int, optional
        Maximum number of tokens between the entities of a pair.
    max_entities : int, default 60
        Sentences with more entities have no candidates. For events: the number of entities that
        are combined with a trigger, the nearest ones, at most 12.
    threshold : {"f1", "cautious", "half"}, float or dict, default "f1"
        Decision threshold on the probability of the predicted relation: best F1 on held-out
        documents; the lowest within one standard error of it, for texts unlike the training
        corpus; 0.5; a probability; or probabilities by relation type, the others having 0.5.
        Set it before `fit`; later, use ``predict(documents, all=True).with_threshold(0.9)``.
    entities : {None, "learn"}, EntityTagger or Dictionary, default None
        Method by which `extract` finds entities in texts without them: none; a tagger that is
        learned from the entities of the training documents, with the default parameters of
        `kernelwood.entities.EntityTagger` or with given ones; or a list of terms.
    n_splits : int, default 5
        Number of folds, of whole documents, used to calibrate and to set the threshold.
    parser : str, default "auto"
        ``"auto"`` uses given parses, or if no sentence has one, the fastest bundled parser that
        makes all views: ``"biomedical-dependencies"``, or ``"biomedical"`` for views of
        constituency trees; a fitted model keeps the parser of its training corpus. ``"given"``
        never parses; with a name of `kernelwood.parsing.load_backend`, that backend parses every
        sentence.
    n_evidence : int, default 3
        Maximum number of supporting, and of opposing, training cases shown for a prediction.
    license, description : str
        For the model card; the model file contains the training sentences.
    random_state : None, int, Generator or RandomState
        Seed.
    n_jobs : int, optional
        Number of threads; results do not depend on it.

    Attributes
    ----------
    learner_ : classifier
        The classifier, fitted on the candidates, with the kernel in use (``learner_.kernel_``).
    views_ : tuple of str
        Views in use.
    classes_ : ndarray of str
        ``"none"`` and the relations, with directions.
    relations_ : tuple of str
        The types of relations, or of events.
    threshold_ : float
        Decision threshold, a probability.
    slopes_, offsets_, curve_ : ndarray
        Calibration of the scores of ``learner_``; see `kernelwood.relations.Calibration`.
    held_out_ : dict of str to float or None
        Precision, recall, F1, AUC, average precision, and expected calibration error of predicted
        relations on held-out documents. F1 is slightly optimistic: the threshold was chosen on
        the same documents.
    type_examples_, type_f1_ : dict
        Number of training examples of each relation type, and its F1 on held-out documents.
    warnings_ : list of str
        Warnings about a small training corpus, and relation types that were not learned.
    trial_ : dict of str to float
        Held-out F1 with entities ``"blind"`` and with their ``"words"``, if both were tried.
    forms_ : dict of str to list
        For events: the numbers of participants and of catalysts that each type may have.
    dropped_ : dict of str to int
        Candidates and annotations that were not used, by reason.
    tagger_ : EntityTagger, Dictionary or None
        Finder of entities; ``tagger_.held_out_`` has the scores of mentions.
    parser_ : str
        Name of the parser of the training documents.
    cases_ : ExampleBatch
        Training cases, with their classes as labels.
    n_documents_, n_sentences_, n_candidates_, n_relations_ : int
        Size of the training corpus, and the number of candidates that are relations.
    positive_rate_ : float
        Fraction of the training candidates that are relations.
    seed_ : int
        The seed that was used.

    Notes
    -----
    Thread safety: all methods but ``fit`` and ``fit_candidates``.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_interactions
    >>> extractor = kw.RelationExtractor(random_state=0).fit(load_interactions("train"))
    >>> found = extractor.predict(load_interactions("test"))
    >>> found[0].type in extractor.relations_, len(found[0].evidence.supporting)
    (True, 3)
    """

    # The cases come first: what the learner keeps of them is stored as row numbers.
    _fitted: ClassVar[Schema] = {
        "cases_": Instance(ExampleBatch),
        "case_sentences_": Strings(),
        "case_sentence_of_": ArrayOf("int32", "cases_", least=0, below="case_sentences_"),
        "case_spans_": ArrayOf("int32", 2, None, least=0),
        "case_n_mentions_": ArrayOf("int32", "cases_", least=0),
        "case_mentions_": ArrayOf("int32", 2, None, least=0),
        **{name: ArrayOf("uint64", None, rising=True) for name in _TEXT_HASHES},
        "document_candidates_": ArrayOf("float64", "documents", least=1, most=LARGE),
        "document_logits_": ArrayOf("float64", "documents", least=-LARGE, most=LARGE),
        "document_squares_": ArrayOf("float64", "documents", least=0, most=LARGE),
        "document_positive_": ArrayOf("float64", "documents", least=0, most=LARGE),
        "document_right_": ArrayOf("float64", "documents", least=0, most=LARGE),
        "learner_": Instance(*LEARNERS.values(), exact=True),
        "views_": Strings(filled=True, different=True),
        "labels_": Text("binary", "type", "directed"),
        "undirected_": Items(Text()),
        "roles_": Named(Items(Text(), 2)),
        "arguments_": Named(Items(Items(Text(), 2))),
        "signatures_": Fields({"types": Items(Items(Text(), 2)), "kinds": Items(Text())}),
        "triggers_": Items(Items(Text(), 2)),
        "forms_": Named(Items(Items(Whole(), 2))),
        "slopes_": ArrayOf("float64", "learner_.classes_", least=0, most=LARGE),
        "offsets_": ArrayOf("float64", "learner_.classes_", least=-LARGE, most=LARGE),
        "curve_": ArrayOf("float64", 3, least=-LARGE, most=LARGE),
        "threshold_": Real(0, 1),
        "held_out_": Named(Maybe(Figure())),
        "trial_": Named(Figure()),
        "type_examples_": Named(Whole()),
        "type_f1_": Named(Maybe(Figure())),
        "dropped_": Named(Whole()),
        "tagger_": Maybe(Instance(EntityTagger, Dictionary)),
        "parser_": Text(),
        "n_documents_": Whole(),
        "n_sentences_": Whole(),
        "n_candidates_": Whole(1),
        "n_relations_": Whole(),
        "seed_": SEED,
    }

    cases_: ExampleBatch
    learner_: Any
    threshold_: float
    parser_: str

    def __init__(
        self,
        recipe: str = "svm",
        *,
        candidates: str = "pairs",
        views: Any = None,
        kernel: Any = None,
        vectors: Any = None,
        blind: str | bool = "auto",
        options: Mapping[str, Any] | None = None,
        labels: str = "auto",
        signatures: str | bool = "auto",
        symmetric: Any = None,
        types: Any = None,
        relations: Any = None,
        max_distance: int | None = None,
        max_entities: int = _MAX_ENTITIES,
        threshold: str | float | Mapping[str, float] = "f1",
        entities: Any = None,
        n_splits: int = 5,
        parser: str = AUTO,
        n_evidence: int = 3,
        license: str = "",
        description: str = "",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.recipe = recipe
        self.candidates = candidates
        self.views = views
        self.kernel = kernel
        self.vectors = vectors
        self.blind = blind
        self.options = options
        self.labels = labels
        self.signatures = signatures
        self.symmetric = symmetric
        self.types = types
        self.relations = relations
        self.max_distance = max_distance
        self.max_entities = max_entities
        self.threshold = threshold
        self.entities = entities
        self.n_splits = n_splits
        self.parser = parser
        self.n_evidence = n_evidence
        self.license = license
        self.description = description
        self.random_state = random_state
        self.n_jobs = n_jobs

    # Training.

    def fit(self, documents: Any, y: Any = None) -> RelationExtractor:
        """Train on annotated documents.

        Parameters
        ----------
        documents : iterable of Example, or path
            Examples with sentences or documents, as `kernelwood.read` returns them; or the path of
            a corpus, which is read. Instead of examples, the iterable may have documents,
            sentences, parsed texts of spaCy, Stanza and conllu, or paths; see
            `kernelwood.text.adapt`.
        y : None
            Not used; labels are in the annotation.

        Raises
        ------
        KernelInputError
            If there are no candidates, or all of them are relations, or none.

        Warns
        -----
        UserWarning
            If there are few documents, candidates or relations, or few examples of a type, or
            held-out relations of a type were never found (``warnings_``).
        """
        self._check_parameters()
        dropped: Counter[str] = Counter()
        with self._threads():
            entries = example_entries(documents, owner="fit")
            sentences, used = self._sentences(entries, self.parser, dropped)
            self._learn(sentences, used, dropped)
        warn_of_corpus(self.warnings_)
        return self

    def fit_candidates(
        self,
        candidates: Candidates,
        *,
        parser: str | None = None,
        roles: Mapping[str, Sequence[str]] | None = None,
        cases: RelationExtractor | None = None,
    ) -> RelationExtractor:
        """Train on labeled pairs of entities, such as the decisions of a person on some pairs.

        Candidates whose label is None are not used at all. Kinds of pairs that are never related
        (``signatures``) are not learned, because a sample of pairs does not show them. Otherwise
        training is the same as by `fit`.

        Parameters
        ----------
        candidates : Candidates
            Pairs, with views of parsed sentences. Labels are ``"none"``, a type without direction
            such as ``"Binds"``, or a type with its direction in the text, ``"Activates(e1,e2)"``
            or ``"Activates(e2,e1)"``; None if unknown.
            `pair_candidates` with ``labels="directed"`` makes such labels from annotation.
        parser : str, optional
            Name of the parser of the sentences, by default ``"given"``.
        roles : mapping of str to two str, optional
            Roles of the arguments of relation types, by default ``Arg1`` and ``Arg2``. A type with
            two equal roles, or in ``symmetric``, has no direction.
        cases : RelationExtractor, optional
            A fitted extractor of pairs whose training cases are further training examples. Its
            views and kernel are used if this extractor has neither ``views`` nor a ``kernel``, and
            its relation types keep their classes. A candidate replaces the case of the same pair.

        Raises
        ------
        KernelInputError
            If there are no labels, labels of only one class, or labels of another form.

        Warns
        -----
        UserWarning
            As `fit`.

        Examples
        --------
        >>> import kernelwood as kw
        >>> from kernelwood.datasets import load_interactions
        >>> from kernelwood.relations import pair_candidates
        >>> pairs = pair_candidates(load_interactions("train"), labels="directed")
        >>> pairs.labels[40:] = [None] * len(pairs.labels[40:])  # not yet decided
        >>> extractor = kw.RelationExtractor("ridge", random_state=0)
        >>> extractor.fit_candidates(pairs).n_candidates_
        40
        """
        self._check_parameters()
        if self.candidates != "pairs":
            raise KernelInputError("fit_candidates: needs RelationExtractor(candidates='pairs')")
        labeled = labeled_pairs(candidates)
        prior = None if cases is None else PriorCases.of(cases, self)
        with self._threads():
            self._learn_pairs(labeled, parser or GIVEN, roles or {}, prior)
        warn_of_corpus(self.warnings_)
        return self

    def _sentences(
        self,
        entries: Iterable[Any],
        parser: Any,
        dropped: Counter[str],
        *,
        learned: str | None = None,
    ) -> tuple[SentenceTable, str]:
        events = self.candidates == "events"
        return read_sentences(
            entries,
            parser,
            dropped,
            views=self._views(),
            least=1 if events else 2,
            most=None if events else int(self.max_entities),
            n_jobs=self.n_jobs,
            learned=learned,
        )

    def _views(self) -> tuple[str, ...]:
        if hasattr(self, "views_"):
            return tuple(self.views_)
        if self.views is not None:
            return tuple(dict.fromkeys(several(self.views)))
        if self.kernel is not None:
            return needed_views(self.kernel) or ()
        if self.candidates == "events":
            return EVENT_VIEWS
        return PAIR_VIEWS

    def _forget(self) -> None:
        for name in self._fitted:  # should training fail, no part of it is left
            self.__dict__.pop(name, None)

    def _learn(
        self,
        sentences: SentenceTable,
        parser: str,
        dropped: Counter[str],
        classes: RelationClasses | None = None,
    ) -> None:
        """Learn from all pairs, or events, of annotated sentences."""
        self._forget()
        check_sentences(sentences)
        seed = resolve_seed(self.random_state)
        tagger = self._learn_entities(sentences)
        classes = classes or self._learn_classes(sentences)
        self._check_thresholds(classes)
        events = self.candidates == "events"
        forms = learn_forms(sentences.sentences) if events else {}
        candidates = self._candidates(sentences, classes, None, forms)
        if forms and NONE not in candidates.labels:  # there must be negative examples
            forms = {}
            candidates = self._candidates(sentences, classes, None, forms)
        signatures = Signatures([], [])
        if not events and self.signatures:
            learned = Signatures.learn(candidates, several=classes.several)
            selected = learned.select(candidates)
            if NONE in selected.labels:
                signatures, candidates = learned, selected
        dropped.update(candidates.dropped)
        self._train(candidates, classes, dropped, seed)
        self.tagger_, self.parser_ = tagger, parser
        self.signatures_ = signatures._asdict()
        self.triggers_ = learn_triggers(sentences.sentences) if events else []
        self.forms_ = forms
        self._keep_corpus(sentences)

    def _learn_pairs(
        self,
        labeled: Candidates,
        parser: str,
        roles: Mapping[str, Sequence[str]],
        prior: PriorCases | None,
    ) -> None:
        """Learn from labeled pairs, and from the cases of another extractor."""
        self._forget()
        seed = resolve_seed(self.random_state)
        tagger = self._learn_entities(labeled.sentences)
        classes = pair_classes(
            labeled, self.labels, several(self.symmetric or ()), names_of(self.relations), roles
        )
        if prior is not None:
            classes = prior.extended(classes)
        self._check_thresholds(classes)
        pairs = labeled.take(range(len(labeled)))
        pairs.labels = class_labels(labeled, classes, names_of(self.relations))
        if prior is None:
            check_both_kinds(pairs.labels)
        self._train(pairs, classes, Counter(), seed, prior)
        self.tagger_, self.parser_ = tagger, parser
        self.signatures_ = Signatures([], [])._asdict()
        self.triggers_, self.forms_ = [], {}
        self._keep_corpus(labeled.sentences.take(sorted(set(labeled.sentence_of))), prior)

    def _train(
        self,
        candidates: Candidates,
        classes: RelationClasses,
        dropped: Counter[str],
        seed: int,
        prior: PriorCases | None = None,
    ) -> None:
        """Choose views, fit the classifier on candidates labeled with classes, and calibrate it."""
        views, named = self._training_views(classes, prior)
        _LOG.info("making views of %d candidates", len(candidates))
        viewed = _viewed(candidates, views, dropped)
        table, texts = viewed.table, CaseTexts.of(candidates, viewed.rows)
        groups = candidates.groups()
        documents = [groups[row] for row in viewed.rows]
        within = [candidates.sentence_of[row] for row in viewed.rows]
        triggers = [candidates.triggers[row] for row in viewed.rows]
        if prior is not None:
            prior = prior.without(texts)
            documents += prior.documents(texts, documents)
            within += (len(candidates.sentences) + prior.texts.sentence_of).tolist()
            triggers += [None] * len(prior.table)
            table = prior.joined(table)
            texts = texts.extended(prior.texts)
        y = _targets(table, dropped)
        folds = assign_folds(documents, within, y.tolist(), self.n_splits, seed)
        trial: dict[str, float] = {}
        recipe, options, gram = find_recipe(self.recipe), self.options or {}, None
        if self.blind == "auto" and views == named != self._views() and prior is None:
            _LOG.info("comparing entities that are blinded with their words")
            trial, comparison = self._try_entity_words(table, y, documents, folds, views, seed)
            words = trial["words"] >= trial["blind"] + _LEAST_GAIN
            gram = comparison.gram(added=words)
            del comparison
            views = views if words else views[:-1]
        if self.vectors is not None and views == named[:-1]:
            warnings.warn(
                "word vectors are not used: they compare the words of entities, which are blinded"
                + (", since they do not help on held-out documents" if trial else "")
                + "; blind=False uses them",
                UserWarning,
                stacklevel=5,
            )
        kernel = self.kernel or (kernel_on(views, self.vectors) if prior is None else prior.kernel)
        X = table.only(needed_views(kernel) or views)
        learner = make_learner(recipe, kernel, options, len(y), seed)
        missed = [] if candidates.missed is None else candidates.missed.labels
        calibration, held_out, by_type, sums = self._fit_learner(
            learner, X, y, documents, folds, triggers, missed, seed, gram
        )
        self.trial_, self.views_ = trial, list(views)
        self.cases_, self.learner_, self.seed_ = X, learner, seed
        for name, column in zip(_CASE_TEXTS, texts, strict=True):
            setattr(self, name, column)
        for name, column in zip(_DOCUMENT_SUMS, sums, strict=True):
            setattr(self, name, column)
        self.labels_, self.undirected_ = classes.labels, list(classes.undirected)
        self.roles_, self.arguments_ = classes.roles, classes.arguments
        self.slopes_, self.offsets_, self.curve_, self.threshold_ = calibration
        self.held_out_, self.dropped_ = held_out, dict(dropped)
        examples = Counter(_types(y.tolist(), triggers))
        self.type_examples_ = {name: examples[name] for name in by_type}
        self.type_f1_ = by_type
        self.n_candidates_, self.n_relations_ = len(y), int((y != NONE).sum())

    def _training_views(
        self, classes: RelationClasses, prior: PriorCases | None
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the views to make, and these with the words of entities, if these may be used."""
        views = self._views()
        if self.views is not None or self.kernel is not None or self.candidates == "events":
            return views, views
        if prior is not None:
            return prior.views, prior.views
        # Entity types and distant words help to tell relation types apart. They say little about
        # whether there is a relation at all: types are often a matter of how a corpus was
        # annotated.
        views += TYPE_VIEWS if classes.several else ()
        named = (*views, ENTITY_VIEW if self.vectors is None else SOFT_ENTITY_VIEW)
        return named if self.blind == "auto" or not self.blind else views, named

    def _keep_corpus(self, sentences: SentenceTable, prior: PriorCases | None = None) -> None:
        """Store the size of the training corpus, and hashes of its texts."""
        groups = sentences.groups()
        hashes = TextHashes.of(sentences, groups)
        n_documents, n_sentences = len(set(groups)), len(sentences)
        if prior is not None:
            hashes = prior.joined_hashes(hashes)
            n_documents += prior.n_documents
            n_sentences += prior.n_sentences
        for name, column in zip(_TEXT_HASHES, hashes, strict=True):
            setattr(self, name, column)
        self.n_documents_, self.n_sentences_ = n_documents, n_sentences

    def _learn_entities(self, sentences: SentenceTable) -> Any:
        """Return what finds entities, a tagger after learning from these sentences."""
        if self.entities is None or isinstance(self.entities, Dictionary):
            return self.entities
        tagger = EntityTagger() if self.entities == LEARN else self.entities.clone()
        if tagger.types is None:
            tagger.types = None if self.types is None else list(several(self.types))
        _LOG.info("learning to find entities")
        return tagger.fit(sentences.sentences, groups=sentences.groups())

    def _learn_classes(self, sentences: SentenceTable) -> RelationClasses:
        symmetric = several(self.symmetric or ())
        return RelationClasses.learn(
            sentences.sentences, self.labels, symmetric, names_of(self.relations)
        )

    def _fit_learner(
        self,
        learner: Any,
        X: ExampleBatch,
        y: NDArray[Any],
        documents: Sequence[str],
        folds: NDArray[np.int64],
        triggers: Sequence[Any],
        missed: Sequence[str],
        seed: int,
        gram: NDArray[np.float32] | None,
    ) -> tuple[Calibration, dict[str, float | None], dict[str, float], DocumentSums]:
        """Fit the classifier; return its calibration, and figures on held-out documents."""
        _LOG.info("learning from %d candidates", len(y))
        scores = fit_and_hold_out(learner, X, y, folds, gram)
        none = learner.classes_.tolist().index(NONE)
        numbers = np.searchsorted(learner.classes_, y)
        calibration = calibrate(scores, numbers, none, documents, self.threshold, seed=seed)
        held = calibration.held(scores, numbers, none)
        names = learner.classes_[held.best]
        lines = self._thresholds(names, calibration.threshold)
        predicted = held.probabilities >= lines
        # Events that no candidate stands for are relations that are not found.
        related = np.append(held.related, np.zeros(len(missed)))
        auc, precision = ranking(np.append(held.positive, [True] * len(missed)), related)
        figures: dict[str, float | None] = {
            **rates(held, predicted, len(missed))._asdict(),
            "auc": auc,
            "average_precision": precision,
        }
        figures["calibration_error"] = held_out_error(
            scores, numbers, none, folds, calibration.threshold
        )
        given = np.where(predicted, names, NONE)
        true, found = (_types(names.tolist(), triggers) for names in (y, given))
        logits = logits_of(held.probabilities)
        sums = DocumentSums.of(logits, documents, held.positive, held.right)
        by_type = type_f1([*true, *missed], [*found, *[NONE] * len(missed)])
        return calibration, figures, by_type, sums

    def _try_entity_words(
        self,
        table: ExampleBatch,
        y: NDArray[Any],
        documents: Sequence[str],
        folds: NDArray[np.int64],
        views: tuple[str, ...],
        seed: int,
    ) -> tuple[dict[str, float], Comparison]:
        """Return the held-out F1 with blinded entities and with their words, by an SVM."""
        rows = trial_rows(documents, folds, y == NONE, seed)
        blind = kernel_on(views[:-1], self.vectors)
        learner = make_learner(find_recipe(self.recipe), blind, self.options or {}, len(y), seed)
        machine = make_learner(find_recipe("svm"), blind, _TRIAL, len(rows), seed)
        comparison = Comparison(
            learner, machine, added_kernel(views[-1], self.vectors), table, rows
        )
        part = np.unique(folds[rows], return_inverse=True)[1]
        names, classes = np.unique(y[rows], return_inverse=True)
        none = names.tolist().index(NONE)
        taken = [documents[row] for row in rows.tolist()]
        found = {}
        for name in ("blind", "words"):
            if name == "words":
                comparison.add()
            scores = comparison.held_out(y[rows], part)
            calibration = calibrate(scores, classes, none, taken, "f1", seed=seed)
            held = calibration.held(scores, classes, none)
            found[name] = rates(held, held.probabilities >= calibration.threshold).f1
        return found, comparison

    def _check_thresholds(self, classes: RelationClasses) -> None:
        """Raise KernelInputError if a threshold is given for a type that does not occur."""
        if not isinstance(self.threshold, Mapping) or self.candidates == "events":
            return
        known = {RELATION} if classes.labels == "binary" else set(classes.roles)
        for name in self.threshold:
            if name not in known:
                raise KernelInputError(
                    f"RelationExtractor: threshold names {name!r}, which is not a relation type of "
                    f"the training documents (types: {', '.join(sorted(known))})"
                )

    def _thresholds(self, names: Iterable[str], line: float) -> NDArray[np.float64]:
        """Return the decision threshold of candidates with these most probable relations."""
        given = self.threshold if isinstance(self.threshold, Mapping) else {}
        return np.array([given.get(type_of(name), line) for name in names], dtype=np.float64)

    def _candidates(
        self,
        sentences: SentenceTable,
        classes: RelationClasses,
        triggers: list[str] | None,
        forms: Mapping[str, Sequence[Sequence[int]]],
    ) -> Candidates:
        """Return the candidates of sentences, labeled with their classes."""
        if self.candidates == "events":
            found = events_in(
                sentences,
                triggers=triggers,
                types=self.types,
                max_entities=min(self.max_entities, MAX_EVENT_ENTITIES),
                forms=forms,
            )
            found.labels = [EVENT if label == 1 else NONE for label in found.labels]
            if found.missed:  # labeled with the types of their triggers
                found.missed.labels = [one.type for one in found.missed.triggers if one]
        else:
            found = pairs_in(
                sentences,
                types=self.types,
                relations=self.relations,
                labels="directed",
                max_distance=self.max_distance,
                max_entities=self.max_entities,
            )
            found.labels = [
                classes.of(label, *(entity.type for _, entity in pair))
                for label, pair in zip(found.labels, found.participants, strict=True)
            ]
        return found

    # Prediction.

    def predict(self, documents: Any, *, all: bool = False) -> Predictions:
        """Return the relations in documents whose entities are known.

        Parameters
        ----------
        documents : iterable of Example, or path
            As in `fit`; if they have relations, predictions have labels.
        all : bool
            Whether to return negative predictions too.

        Returns
        -------
        Predictions
            In the order of the text; ``tally`` counts candidates and relations without prediction.

        Warns
        -----
        UserWarning
            If no document has entities, or the model does not know the types of some.
        """
        self._check_is_fitted()
        found = self._predict_all(documents)
        warn_of_entities(
            self, found, "give documents with entities, or find them by extract(dictionary=...)"
        )
        return found if all else found.positives()

    def extract(
        self,
        texts: Any,
        *,
        dictionary: Any = None,
        find_entities: bool = True,
        parser: Any = None,
        all: bool = False,
    ) -> Predictions:
        """Return the relations in texts.

        Parameters
        ----------
        texts : str, Document or Example; or an iterable of these
            Plain texts are called ``text1``, ``text2``, ... All inputs of `fit` are also accepted.
            A string that names an existing file or folder is read; a string without blanks that
            looks like a path, with a slash or a known suffix, is an error if there is no such file
            or folder; any other string is a text.
        dictionary : Dictionary or argument of `Dictionary.of`, optional
            Terms that become entities, besides those of a text or found by ``tagger_``: a file, a
            mapping such as ``{"Raf-1": "Protein"}``, pairs of term and type, or a DataFrame; or
            another object whose method ``annotate`` adds entities to a document.
        find_entities : bool, default True
            Whether ``tagger_``, if there is one, finds entities in texts without them.
        parser : str or Backend, optional
            By default that of the training documents.
        all : bool
            Whether to return negative predictions too.

        Warns
        -----
        UserWarning
            If there are no entities and nothing finds them, if the model does not know the types
            of some, or if the texts differ so much from the training corpus that the decision
            threshold probably does not fit; see `adapt`.
        """
        self._check_is_fitted()
        dropped: Counter[str] = Counter()
        with self._threads(), cycles_ignored():
            finder = EntityFinder(self.tagger_ if find_entities else None, dictionary)
            sentences, used = self._sentences(
                text_entries(texts, finder), parser or self.parser, dropped, learned=self.parser_
            )
            found = self._predicted(sentences, used, dropped, labeled=False)
            monitor = DriftMonitor(self)
            monitor.add(found)
        warn_of_entities(self, found, "" if finder.finds else _ADVICE)
        monitor.warn()
        return found if all else found.positives()

    def find_entities(self, document: Document, dictionary: Any = None) -> Document:
        """Return a document or sentence with entities, as `extract` finds them.

        Parameters
        ----------
        document : Document or Sentence
        dictionary : Dictionary, optional
            As in `extract`.

        Examples
        --------
        >>> import kernelwood as kw
        >>> from kernelwood.datasets import load_interactions
        >>> extractor = kw.RelationExtractor(entities="learn", random_state=0)
        >>> extractor = extractor.fit(load_interactions("train"))
        >>> document = extractor.find_entities(kw.Document("RAK2 activates TORP1."))
        >>> [entity.text for entity in document.entities]
        ['RAK2', 'TORP1']
        """
        self._check_is_fitted()
        return EntityFinder(self.tagger_, dictionary).annotate(document)

    def _predicted(
        self,
        sentences: SentenceTable,
        used: str,
        dropped: Counter[str],
        *,
        labeled: bool,
    ) -> Predictions:
        """Return the predictions for all candidates."""
        events = self.candidates == "events"
        if events:
            sentences.sentences = SentenceList(find_triggers(sentences.sentences, self.triggers_))
        classes = self._classes()
        candidates = self._candidates(sentences, classes, self._trigger_types(), self.forms_)
        candidates = Signatures(**self.signatures_).select(candidates)
        dropped.update(candidates.dropped)
        viewed = _viewed(candidates, self.views_, dropped)
        if not viewed.rows:
            return Predictions(candidates.take(()), dropped=dropped)
        warn_of_parser(self.parser_, used)
        names = self.learner_.classes_
        none = names.tolist().index(NONE)
        probabilities = self.class_probabilities(viewed.table)
        best = best_relation(probabilities, none)
        kept = candidates.take(viewed.rows) if len(viewed.rows) < len(candidates) else candidates
        predicted: list[str] = names[best].tolist()
        if events:  # of the type of their trigger
            predicted = [trigger.type if trigger else "" for trigger in kept.triggers]
            kept.labels = [
                name if label == EVENT else NONE
                for name, label in zip(predicted, kept.labels, strict=True)
            ]
        return Predictions(
            kept,
            predicted,
            probabilities[np.arange(len(best)), best],
            self._thresholds(predicted, self.threshold_),
            probabilities=probabilities,
            names=[EVENT if events and name != NONE else name for name in names.tolist()],
            scheme=classes,
            labeled=labeled,
            explain=self.explain,
            dropped=dropped,
        )

    def class_probabilities(self, views: ExampleBatch) -> NDArray[np.float64]:
        """Return the probability of each class for candidates that are given by their views.

        Parameters
        ----------
        views : ExampleBatch
            Candidates with the views in ``views_``, such as the table of
            ``candidates.viewed(*views_)``.

        Returns
        -------
        ndarray, shape (n, n_classes)
            In the order of ``learner_.classes_``.

        Examples
        --------
        >>> import kernelwood as kw
        >>> from kernelwood.datasets import load_interactions
        >>> extractor = kw.RelationExtractor(random_state=0).fit(load_interactions("train"))
        >>> candidates = kw.relations.pair_candidates(load_interactions("test")[:3])
        >>> table = candidates.viewed(*extractor.views_).table
        >>> extractor.class_probabilities(table).sum(axis=1).round(6).tolist() == [1.0] * len(table)
        True
        """
        self._check_is_fitted()
        if missing := sorted(set(self.views_) - set(views.views)):
            raise KernelInputError(
                f"class_probabilities: the candidates lack the view {missing[0]!r}, which the "
                "model compares"
            )
        calibration = Calibration(self.slopes_, self.offsets_, self.curve_, self.threshold_)
        none = self.learner_.classes_.tolist().index(NONE)
        with self._threads():
            scores = class_scores(self.learner_, views)
        return calibration.probabilities(scores, none)

    def explain(self, predictions: Any, n: int | None = None) -> Any:
        """Return the training cases with the largest contributions to predictions.

        Parameters
        ----------
        predictions : Prediction, or a sequence of these
            Passing many at once is faster than one after the other.
        n : int, optional
            Number of supporting and of opposing cases, by default ``n_evidence``.

        Returns
        -------
        Evidence, or a list of these
            Evidence for the score of the predicted relation compared with ``"none"``.
        """
        self._check_is_fitted()
        one = isinstance(predictions, Prediction)
        listed = [predictions] if one or not isinstance(predictions, Iterable) else predictions
        listed = list(listed)
        for prediction in listed:
            if not isinstance(prediction, Prediction):
                raise KernelInputError(
                    f"explain: {show(prediction)} is not a Prediction; give it those of "
                    "predict or extract"
                )
        candidates = Candidates.of_rows(prediction.candidate for prediction in listed)
        cases = TrainingCases(self.cases_, self._case_texts(), self.learner_)
        # A learner of events has one class for all types.
        classes = [name for name in self.learner_.classes_.tolist() if name != NONE]
        relations = [p.relation if p.relation in classes else classes[0] for p in listed]
        count = self.n_evidence if n is None else n
        with self._threads(), cycles_ignored():
            found = cases.find(candidates, self.views_, relations, count)
        return found[0] if one else found

    def verify(self, claims: Any, *, parser: Any = None) -> Verdicts:
        """Return verdicts on relations from another source.

        Parameters
        ----------
        claims : iterable of Claim
            As `kernelwood.io.read_claims` returns them.
        parser : str or Backend, optional
            By default that of the training documents.
        """
        self._check_is_fitted()
        return verify(self, claims, parser=parser)

    # Adaptation.

    def adapt(
        self, documents: Any, labels: Mapping[str, str] | None = None
    ) -> tuple[RelationExtractor, Adaptation]:
        """Return an extractor with calibration and threshold for other texts, and a summary.

        The new extractor shares the classifier with this one; only ``curve_``, ``threshold_`` and
        the document statistics for drift differ. Thresholds that ``threshold`` sets by relation
        type do not change.

        Parameters
        ----------
        documents : iterable of Example, or Predictions
            The texts, with entities; annotated relations are not used. Predictions must be those
            of all candidates: ``extract(texts, all=True)``.
        labels : mapping of str to str, optional
            Relation type (or class with direction) or ``"none"`` by id of the candidate, preferably
            for candidates from `suggest_labels`.

        Examples
        --------
        >>> import kernelwood as kw
        >>> from kernelwood.datasets import load_interactions
        >>> extractor = kw.RelationExtractor(random_state=0).fit(load_interactions("train"))
        >>> texts = load_interactions("test")
        >>> labels = {one.id: one.label for one in extractor.suggest_labels(texts, 10)}
        >>> adapted, summary = extractor.adapt(texts, labels)
        >>> summary.n_labels, adapted.learner_ is extractor.learner_
        (10, True)
        """
        predictions = self._all_predictions(documents)
        calibration, sums, summary = adapt_calibration(
            Calibration(self.slopes_, self.offsets_, self.curve_, self.threshold_),
            self._document_sums(),
            predictions,
            labels or {},
            self._names(),
        )
        made = copy(self)
        made.curve_, made.threshold_ = calibration.curve, calibration.threshold
        for name, column in zip(_DOCUMENT_SUMS, sums, strict=True):
            setattr(made, name, column)
        return made, summary

    def suggest_labels(
        self, documents: Any, n: int = 30, *, random_state: Any = None
    ) -> Predictions:
        """Return candidates whose labels are most useful to `adapt`.

        They are a random sample of five strata of probabilities, equally many of each, so that
        positive rate, precision and recall are estimated without bias.

        Parameters
        ----------
        documents : iterable of Example, or Predictions
            As in `adapt`.
        n : int, default 30
            Number of candidates; the first ones are as good a sample as all of them.
        random_state : None, int, Generator or RandomState
            Seed of the sample.
        """
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise KernelInputError(f"suggest_labels: n must be a positive number, got {n!r}")
        predictions = self._all_predictions(documents)
        plan = Plan.of(self._document_sums(), predictions)
        rng = np.random.default_rng(resolve_seed(random_state))
        return predictions.take(choose(plan.strata, n, rng))

    def _all_predictions(self, documents: Any) -> Predictions:
        self._check_is_fitted()
        if isinstance(documents, Predictions):
            return documents
        return self._predict_all(documents)

    def _predict_all(self, documents: Any) -> Predictions:
        dropped: Counter[str] = Counter()
        with self._threads(), cycles_ignored():
            entries = example_entries(documents, owner="predict")
            sentences, used = self._sentences(entries, self.parser, dropped, learned=self.parser_)
            return self._predicted(sentences, used, dropped, labeled=True)

    # Evaluation.

    def evaluate(
        self, documents: Any, *, n_bootstrap: int = 1000, end_to_end: bool = False
    ) -> RelationScores:
        """Return precision, recall and F1 of predicted relations on annotated documents.

        Parameters
        ----------
        documents : iterable of Example, or Predictions
            Predictions must be those of all candidates: ``predict(documents, all=True)``.
        n_bootstrap : int
            Number of bootstrap resamples, of documents, for intervals; 0 for none.
        end_to_end : bool
            Whether to also evaluate relations with found entities; see
            `kernelwood.relations.EndToEnd`. Needs documents.

        Warns
        -----
        UserWarning
            If documents were used for training, are too few for reliable figures, have entities
            of types that the model does not know, or differ so much from the training corpus that
            the decision threshold probably does not fit.
        """
        if end_to_end:
            if isinstance(documents, Predictions):
                raise KernelInputError("evaluate: end_to_end needs documents, not predictions")
            documents = list(documents_from(documents, "evaluate"))
        predictions = self._all_predictions(documents)
        self._check_candidates(predictions)
        scores = self._scored(predictions, n_bootstrap)
        if end_to_end:
            made = score_end_to_end(self, documents, predictions)
            scores = replace(scores, end_to_end=made)
        warn_of_entities(self, predictions)
        warn_of_overlap(scores)
        warn_of_size(scores)
        if (predictions.thresholds == self.threshold_).any():
            monitor = DriftMonitor(self)
            monitor.add(predictions)
            monitor.warn()
        return scores

    def score(self, documents: Any, y: Any = None) -> float:
        """Return the F1 of the predicted relations of annotated documents.

        All relation types are taken together, and a relation is found if its type and direction
        are right. The value is ``evaluate(documents).f1``, without intervals and warnings.
        Functions of scikit-learn such as ``cross_val_score`` and ``GridSearchCV`` use it.

        Parameters
        ----------
        documents : iterable of Example, path, or Predictions
            As in `evaluate`.
        y : None
            Not used; labels are in the annotation.

        Raises
        ------
        KernelInputError
            If the documents have no candidates.

        Examples
        --------
        >>> import kernelwood as kw
        >>> from kernelwood.datasets import load_interactions
        >>> extractor = kw.RelationExtractor(random_state=0).fit(load_interactions("train"))
        >>> test = load_interactions("test")
        >>> extractor.score(test) == extractor.evaluate(test, n_bootstrap=0).f1
        True
        """
        predictions = self._all_predictions(documents)
        self._check_candidates(predictions)
        return self._scored(predictions, 0).f1

    def cross_validate(
        self,
        documents: Any,
        *,
        n_splits: int = 5,
        n_bootstrap: int = 1000,
        end_to_end: bool = False,
        predictions: bool = False,
    ) -> RelationValidation:
        """Return cross-validated precision, recall and F1.

        Parameters
        ----------
        documents : iterable of Example, or path
            As in `fit`.
        n_splits : int
            Number of folds of whole documents. If there is only one document, folds consist of
            sentences, with a warning.
        n_bootstrap : int
            Number of bootstrap resamples, of documents, for intervals; 0 for none.
        end_to_end : bool
            Whether to also evaluate relations with found entities, by a tagger that is learned from
            the training documents of each fold.
        predictions : bool
            Whether to keep the predictions of each fold, and its model for their evidence.
        """
        self._check_parameters()
        folds = Folds.of(self, documents, n_splits, end_to_end=end_to_end)
        validation = folds.validate(n_bootstrap=n_bootstrap, predictions=predictions)
        warn_of_corpus(validation.warnings)
        warn_of_overlap(validation.pooled, folds=True)
        return validation

    def learning_curve(
        self,
        documents: Any,
        *,
        fractions: Sequence[float] = FRACTIONS,
        n_splits: int = 5,
        n_bootstrap: int = 1000,
        predictions: bool = False,
    ) -> LearningCurve:
        """Return cross-validated F1 by number of training documents.

        The test documents of a fold are the same for all sizes, and smaller training sets are
        parts of larger ones.

        Parameters
        ----------
        documents : iterable of Example
        fractions : sequence of float, default (1/8, 1/4, 1/2, 1)
            Fractions of the training documents, increasing up to 1.
        n_splits, n_bootstrap : int
            As in `cross_validate`.
        predictions : bool
            As in `cross_validate`, with all training documents.

        Examples
        --------
        >>> import kernelwood as kw
        >>> from kernelwood.datasets import load_interactions
        >>> curve = kw.RelationExtractor(labels="binary", random_state=0).learning_curve(
        ...     load_interactions("train"), n_splits=2, n_bootstrap=0
        ... )
        >>> [point.n_documents for point in curve.points]
        [2, 5, 10, 19]
        """
        self._check_parameters()
        folds = Folds.of(self, documents, n_splits)
        curve = LearningCurve.of(folds, fractions, n_bootstrap, predictions=predictions)
        warn_of_corpus(curve.validation.warnings)
        warn_of_overlap(curve.validation.pooled, folds=True)
        return curve

    def _scored(self, predictions: Predictions, n_bootstrap: int) -> RelationScores:
        candidates = predictions.candidates.with_missed()
        seen, same_id = self._text_hashes().find(candidates)
        return score_predictions(
            predictions,
            self._names(),
            predictions.tally.reasons,
            n_bootstrap=n_bootstrap,
            seen=seen,
            same_id=same_id,
            training_rate=self.positive_rate_,
            shared=SharedSentences.of(candidates, seen, self.case_sentences_),
        )

    # Fitted attributes that follow from others.

    def _case_texts(self) -> CaseTexts:
        return CaseTexts(*(getattr(self, name) for name in _CASE_TEXTS))

    def _document_sums(self) -> DocumentSums:
        return DocumentSums(*(getattr(self, name) for name in _DOCUMENT_SUMS))

    def _text_hashes(self) -> TextHashes:
        return TextHashes(*(getattr(self, name) for name in _TEXT_HASHES))

    @property
    def warnings_(self) -> list[str]:
        """Warnings about a small training corpus, and relation types that were not learned."""
        self._check_is_fitted()
        return corpus_remarks(
            self.n_documents_, self.n_candidates_, self.type_examples_, self.type_f1_
        )

    def _classes(self) -> RelationClasses:
        return RelationClasses(self.labels_, tuple(self.undirected_), self.roles_, self.arguments_)

    def _trigger_types(self) -> list[str] | None:
        return sorted({kind for _, kind in self.triggers_}) or None

    def _names(self) -> list[str]:
        """Return the classes of predictions, with directions, and ``"none"``."""
        if self.candidates == "events":
            return [*(self._trigger_types() or ()), NONE]
        return [str(name) for name in self.learner_.classes_.tolist()]

    @property
    def classes_(self) -> NDArray[Any]:
        """``"none"`` and the relations, with directions."""
        self._check_is_fitted()
        return np.array(self._names())

    @property
    def relations_(self) -> tuple[str, ...]:
        """The relation types, or event types."""
        self._check_is_fitted()
        return tuple(sorted({type_of(name) for name in self._names()} - {NONE}))

    @property
    def positive_rate_(self) -> float:
        """Fraction of the training candidates that are relations."""
        self._check_is_fitted()
        return self.n_relations_ / self.n_candidates_

    # Checks.

    @contextmanager
    def _threads(self) -> Iterator[None]:
        with nullcontext() if self.n_jobs is None else config_context(n_jobs=self.n_jobs):
            yield

    def _check_parameters(self) -> None:
        find_recipe(self.recipe)
        self._check_choice("candidates", ("pairs", "events"))
        self._check_choice("labels", _LABELS)
        self._check_choice("blind", ("auto", True, False))
        self._check_choice("signatures", ("auto", True, False))
        self._check_count("max_distance", 0, none=True)
        self._check_count("max_entities", 2)
        self._check_count("n_splits", 2)
        self._check_count("n_evidence", 0)
        if isinstance(self.threshold, str):
            self._check_choice("threshold", THRESHOLDS)
        elif isinstance(self.threshold, Mapping):
            for name, value in self.threshold.items():
                if not isinstance(value, (int, float)) or not 0 < value < 1:
                    raise KernelInputError(
                        f"RelationExtractor: threshold of {name!r} must be in (0, 1), got {value!r}"
                    )
        else:
            self._check_number("threshold", 0, 1, "(0, 1)")
        for name, kind in (("kernel", Kernel), ("vectors", Vectors), ("options", Mapping)):
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise KernelInputError(
                    f"RelationExtractor: {name} must be a {kind.__name__} or None, got {value!r}"
                )
        if not (
            self.entities is None
            or self.entities == LEARN
            or isinstance(self.entities, (Dictionary, EntityTagger))
        ):
            raise KernelInputError(
                f"RelationExtractor: entities must be {LEARN!r}, an EntityTagger, a Dictionary or "
                f"None, got {show(self.entities)}"
            )
        if isinstance(self.entities, EntityTagger):
            self.entities._check_parameters()
        check_options(find_recipe(self.recipe), self.options or {})
        for name in ("license", "description", "parser"):
            if not isinstance(getattr(self, name), str):
                raise KernelInputError(f"RelationExtractor: {name} must be a string")
        for name in ("views", "types", "relations", "symmetric"):
            _check_names(name, getattr(self, name))
        self._check_views()
        check_seed(self.random_state)
        if self.n_jobs is not None:
            resolve_jobs(self.n_jobs)

    def _check_views(self) -> None:
        views = self._views()
        if not views:
            raise KernelInputError(
                "RelationExtractor: the kernel does not say which view it compares; give it one, "
                "such as kw.OnView('path', kernel)"
            )
        needed = () if self.kernel is None else needed_views(self.kernel) or ()
        if missing := sorted(set(needed) - set(views)):
            raise KernelInputError(
                f"RelationExtractor: the kernel compares the view {missing[0]!r}, which is not in "
                f"views={list(views)}"
            )
        for name in views:
            try:
                find_view(name)
            except ValueError as failure:
                raise KernelInputError(f"RelationExtractor: {failure}") from failure

    def _check_restored(self) -> None:
        _check_fitted(self)

    def _check_candidates(self, predictions: Predictions) -> None:
        if not predictions:
            raise KernelInputError(
                f"there are no candidates to evaluate: {_why(predictions.tally.reasons)}"
            )

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise not_fitted(
                "this RelationExtractor is not fitted yet; call fit(documents) first, or load one"
            )

    def __sklearn_is_fitted__(self) -> bool:
        return all(hasattr(self, name) for name in self._fitted)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.target_tags.required = False
        tags.no_validation = True
        return tags


def _types(labels: Sequence[str], triggers: Sequence[Any]) -> list[str]:
    """Return the relation type of each label; events have that of their trigger."""
    return [
        type_of(label) if trigger is None or label == NONE else str(trigger.type)
        for label, trigger in zip(labels, triggers, strict=True)
    ]


def _viewed(candidates: Candidates, views: Sequence[str], dropped: Counter[str]) -> Viewed:
    """Return candidates with views; count those that lack one, warn if most have a fallback."""
    viewed = candidates.viewed(*views)
    dropped.update(viewed.reasons)
    reason, count = max(viewed.remarks.items(), key=lambda row: row[1], default=("", 0))
    n = len(viewed.rows)
    if count > n / 2:
        warnings.warn(
            f"{count:,} of {n:,} candidates have only a fallback of a view ({reason}); if "
            "sentences have no parses, choose a parser, such as parser='biomedical'",
            UserWarning,
            stacklevel=5,
        )
    return viewed


def _targets(X: ExampleBatch, dropped: Mapping[str, int]) -> NDArray[Any]:
    """Return the class of each training case, or raise an error if there is only one class."""
    if not len(X):
        raise KernelInputError(f"there are no candidates to learn from: {_why(dropped)}")
    y = np.array([str(label) for label in X.labels])
    if (y == NONE).all():
        raise KernelInputError(
            f"none of the {len(y):,} candidates is a relation"
            f"{f' ({_why(dropped)})' if dropped else ''}; annotate relations between entities "
            "of one sentence, or check the requested types of entities and relations"
        )
    if (y != NONE).all():
        raise KernelInputError(
            f"all {len(y):,} candidates are relations, so there are no negative examples; add "
            "sentences with entities that are not related"
        )
    return y


def _why(reasons: Mapping[str, int]) -> str:
    """Return why candidates are missing.

    Examples
    --------
    >>> _why({"relation spans sentences": 2})
    '2 × relation spans sentences'
    """
    if not reasons:
        return "no sentence has two entities"
    return ", ".join(f"{n:,} × {reason}" for reason, n in reasons.items())


def _check_names(name: str, value: Any) -> None:
    """Raise KernelInputError unless a parameter is None, a name or several."""
    if value is None or isinstance(value, (str, Iterator)):
        return
    if not isinstance(value, Collection) or not all(isinstance(one, str) for one in value):
        raise KernelInputError(
            f"RelationExtractor: {name} must be a name, a list of names or None, got {show(value)}"
        )


def _check_fitted(model: Any) -> None:
    """Raise ValueError if fitted attributes do not fit together."""
    learner, classes = model.learner_, model.learner_.classes_
    if classes.dtype.kind != "U" or NONE not in classes or len(classes) < 2:
        raise ValueError(f"the classes of learner_ must be names, {NONE!r} among them")
    if not len(model.cases_):
        raise ValueError("cases_ must not be empty")
    if learner._n_training() > len(model.cases_):
        raise ValueError("learner_ must be trained on cases_, but has more training structures")
    model._check_views()
    model._case_texts().check(len(model.cases_))
    model._document_sums().check()
    if model.n_relations_ > model.n_candidates_:
        raise ValueError("n_relations_ must not exceed n_candidates_")
    if (model.curve_[:2] < 0).any():
        raise ValueError("curve_ must not fall")
    wanted = EntityTagger if model.entities == LEARN else type(model.entities)
    if type(model.tagger_) is not wanted:
        raise ValueError("tagger_ must be what entities asks for")
    if isinstance(model.tagger_, EntityTagger) and not model.tagger_.__sklearn_is_fitted__():
        raise ValueError("tagger_ must be fitted")
    if model.trial_ and set(model.trial_) != {"words", "blind"}:
        raise ValueError("trial_ must be figures of both trials")
