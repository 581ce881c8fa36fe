"""From annotated documents to an extractor, and from new ones to relations with evidence."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sklearn.base import clone

from kernelwood.errors import KernelInputError
from kernelwood.evaluate import group_splits
from kernelwood.io import cycles_ignored
from kernelwood.relations.analysis import AUTO, GIVEN
from kernelwood.relations.base import ExtractorBase
from kernelwood.relations.candidate_lists import Candidates
from kernelwood.relations.hypotheses import MAX_ENTITIES, documents_or
from kernelwood.relations.judgeable import why
from kernelwood.relations.predictions import Prediction, Predictions
from kernelwood.relations.scores import RelationScores, RelationValidation, score_predictions
from kernelwood.relations.texts import as_examples
from kernelwood.relations.verdicts import Verdict, verify
from kernelwood.seeds import resolve_seed
from kernelwood.text import Example

__all__ = ["RelationExtractor"]


class RelationExtractor(ExtractorBase):
    """Learns relations from annotated documents, and finds them in others, with reasons.

    Every pair of entities of a sentence (or every way to fill an event) is a candidate. Candidates
    are compared by a kernel on some of their views, and a classifier judges them. From documents
    that are held out in turn it is learned how sure a score makes, and from where on a relation
    counts as one.

    Parameters
    ----------
    recipe : str, default "svm"
        Which classifier, with settings that work: a name in `kernelwood.relations.RECIPES`.
    candidates : {"pairs", "events"}, default "pairs"
        What is judged: two entities, or a trigger with participants and perhaps a catalyst.
    views : str or list of str, optional
        What is compared, names in `kernelwood.views.VIEWS`. By default, of pairs the words around
        them, the steps of the dependency path, how their names relate, whether it is denied and,
        if there are several relations, their types; of events the walk and the tree from the
        trigger.
    kernel : Kernel, optional
        How views are compared; by default one that suits them, see
        `kernelwood.relations.recipes.kernel_on`.
    vectors : Vectors, optional
        Let similar words match. Without, words are cut to stems by default.
    options : dict, optional
        Parameters of the classifier that differ from those of the recipe, ``{"C": 10.0}``.
    labels : {"auto", "type", "directed", "binary"}, default "auto"
        What is told apart: types of relations, types with directions, or only whether there is
        one. "auto": directions of those types that run both ways in the training documents.
    symmetric : list of str, optional
        Types whose direction does not matter, however they are annotated.
    types, relations : list of str, optional
        Only entities, and relations, of these types.
    max_distance : int, optional
        Only pairs with at most so many tokens between them.
    max_entities : int, default 60
        Sentences with more entities are not judged: their pairs would be too many. Of events 12
        at most are, however large this is.
    threshold : {"f1", "cautious", "half"} or float, default "f1"
        From which probability on a relation holds: the best F1 on held-out documents; the lowest
        one within a standard error of it, for texts unlike those learned from; one half; or a
        number.
    n_splits : int, default 3
        Parts of whole documents that are held out in turn.
    parser : str, default "auto"
        What parses sentences: ``"auto"`` keeps parses that are given, and parses others with the
        bundled grammar; ``"given"`` never parses; a name of `kernelwood.parsing.load_backend`
        parses all.
    n_evidence : int, default 3
        Labeled cases that explain a prediction.
    license, description : str
        For the card of the model; the model holds the sentences it was trained on.
    random_state : None, int, Generator or RandomState
        Seed.
    n_jobs : int, optional
        Threads; no result depends on them.

    Attributes
    ----------
    learner_ : classifier
        Fitted on the candidates, with the kernel in use (``learner_.kernel_``).
    views_ : tuple of str
        What is compared.
    classes_ : ndarray of str
        ``"none"`` and the relations, with directions.
    relations_ : tuple of str
        The types of relations, or of events.
    threshold_ : float
        The probability from which on a relation holds.
    held_out_ : dict of str to float or None
        Precision, recall, F1, AUC and average precision on held-out documents. F1 is a little too
        good: the threshold was chosen on the same documents.
    dropped_ : dict of str to int
        What could not be learned from, by reason.
    parser_ : str
        Who parsed the sentences.
    cases_ : batch of examples
        What was learned from, as evidence.
    n_documents_, n_sentences_, n_candidates_, n_relations_ : int
        Sizes of the training corpus, and how many of the candidates are relations.
    share_ : float
        The share of them that are.
    seed_ : int
        The seed that was used.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_interactions
    >>> extractor = kw.RelationExtractor(random_state=0).fit(load_interactions("train"))
    >>> found = extractor.predict(load_interactions("test"))
    >>> found[0].type in extractor.relations_, len(found[0].evidence)
    (True, 3)
    """

    _fitted = (
        "learner_", "views_", "labels_", "undirected_", "roles_", "triggers_", "slope_", "offset_",
        "threshold_", "held_out_", "dropped_", "parser_", "cases_", "case_types_", "case_texts_",
        "n_documents_", "n_sentences_", "n_candidates_", "n_relations_", "seed_",
    )  # fmt: skip

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
        options: Mapping[str, Any] | None = None,
        labels: str = "auto",
        symmetric: Any = None,
        types: Any = None,
        relations: Any = None,
        max_distance: int | None = None,
        max_entities: int = MAX_ENTITIES,
        threshold: str | float = "f1",
        n_splits: int = 3,
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
        self.options = options
        self.labels = labels
        self.symmetric = symmetric
        self.types = types
        self.relations = relations
        self.max_distance = max_distance
        self.max_entities = max_entities
        self.threshold = threshold
        self.n_splits = n_splits
        self.parser = parser
        self.n_evidence = n_evidence
        self.license = license
        self.description = description
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, documents: Iterable[Example], y: Any = None) -> RelationExtractor:
        """Learn from annotated documents.

        Parameters
        ----------
        documents : iterable of Example
            With sentences or documents, as `kernelwood.read` returns them.
        y : None
            Not used; labels are in the annotation.

        Raises
        ------
        KernelInputError
            If there are no candidates, no relations among them, or nothing else.
        """
        for name in self._fitted:  # should fitting fail, nothing is left half-way
            self.__dict__.pop(name, None)
        self._check_parameters()
        dropped: Counter[str] = Counter()
        with self._threads():
            self._learn(*self._analyzed(documents, self.parser, dropped), dropped)
        return self

    def predict(self, documents: Iterable[Example], *, all: bool = False) -> Predictions:
        """Return the relations in documents whose entities are known.

        Parameters
        ----------
        documents : iterable of Example
            With sentences or documents; if they have relations, predictions have labels.
        all : bool
            Whether to return the candidates that are no relations, too.

        Returns
        -------
        Predictions
            A list of `Prediction` in the order of the text; ``tally`` counts what was not judged.
        """
        self._check_is_fitted()
        dropped: Counter[str] = Counter()
        with self._threads(), cycles_ignored():
            located, used = self._analyzed(documents, self.parser, dropped)
            return self._predicted(located, used, dropped, all=all)

    def extract(
        self, texts: Any, *, dictionary: Any = None, parser: Any = None, all: bool = False
    ) -> Predictions:
        """Return the relations in texts.

        Parameters
        ----------
        texts : str, Document or Example; or an iterable of these
            Plain texts are called ``text1``, ``text2``, ...
        dictionary : Dictionary, optional
            Finds entities, where a text has none.
        parser : str or Backend, optional
            By default the one of the training documents.
        all : bool
            Whether to return the candidates that are no relations, too.
        """
        self._check_is_fitted()
        dropped: Counter[str] = Counter()
        parser = parser or self.parser
        with self._threads(), cycles_ignored():
            located, used = self._analyzed(as_examples(texts, dictionary), parser, dropped)
            return self._predicted(located, used, dropped, all=all, labeled=False)

    def explain(self, predictions: Any, n: int | None = None) -> Any:
        """Return the labeled cases that are most like a prediction, and what it shares with them.

        Parameters
        ----------
        predictions : Prediction, or a list of these
            Many at once are faster than one after the other.
        n : int, optional
            How many cases, by default ``n_evidence``.

        Returns
        -------
        tuple of Case, or a list of these
        """
        self._check_is_fitted()
        one = isinstance(predictions, Prediction)
        listed = [predictions] if one else list(predictions)
        examples = Candidates([prediction.candidate for prediction in listed]).examples(
            *self.views_
        )
        count = self.n_evidence if n is None else n
        with self._threads():
            found = self._memory().find(examples, count)
        return found[0] if one else found

    def verify(self, claims: Any, *, parser: Any = None) -> list[Verdict]:
        """Return a second opinion on relations that others have found.

        Parameters
        ----------
        claims : iterable of kernelwood.io.Claim
            What is claimed, as `kernelwood.io.read_claims` returns it.
        parser : str or Backend, optional
            By default the one of the training documents.
        """
        self._check_is_fitted()
        return verify(self, claims, parser=parser)

    def evaluate(self, documents: Any, *, n_bootstrap: int = 1000) -> RelationScores:
        """Return how good the relations found in annotated documents are.

        Parameters
        ----------
        documents : iterable of Example, or Predictions
            What :meth:`predict` returned with ``all=True`` is not judged again.
        n_bootstrap : int
            Resamples of documents for intervals; 0 for none.
        """
        judged = isinstance(documents, Predictions)
        predictions = documents if judged else self.predict(documents, all=True)
        if not predictions:
            reasons = why(predictions.tally.reasons)
            raise KernelInputError(f"there is nothing to evaluate: {reasons}")
        return self._scored(predictions, n_bootstrap)

    def cross_validate(
        self, documents: Iterable[Example], *, n_splits: int = 5, n_bootstrap: int = 1000
    ) -> RelationValidation:
        """Return how good extractors like this are on documents they have not seen.

        Parameters
        ----------
        documents : iterable of Example
        n_splits : int
            Parts of whole documents; each is judged by an extractor that learned from the others.
            If there is one document only, its sentences are dealt into parts, with a warning.
        n_bootstrap : int
            Resamples of documents for intervals; 0 for none.
        """
        # Sentences are parsed once for all parts, which must have the same classes, too.
        reasons: Counter[str] = Counter()
        with self._threads():
            located, _ = self._analyzed(documents, self.parser, reasons)
        listed = [place.example for place in located]
        groups = documents_or(listed, [place.document for place in located])
        if len(set(groups)) == 1 < len(listed):
            warnings.warn(
                "as far as ids and files tell, all sentences are of one document, so parts are "
                "made of sentences; if they are of several, figures are too good: give sentences "
                "ids such as d1.s1 and d2.s1",
                UserWarning,
                stacklevel=2,
            )
            groups = [str(number) for number in range(len(listed))]
        classes = self._learn_classes(located)
        seed = resolve_seed(self.random_state)
        common = {
            "labels": classes.labels,
            "symmetric": classes.undirected,
            "random_state": seed,
            "parser": GIVEN,
        }
        predictions, parts = Predictions(), []
        known: set[str] = set()
        for train, test in group_splits(groups, n_splits=n_splits, random_state=seed):
            part = clone(self).set_params(**common).fit([listed[i] for i in train])
            judged = part.predict([listed[i] for i in test], all=True)
            parts.append(part._scored(judged, 0))
            predictions += judged
            reasons.update(judged.tally.reasons)
            known.update(part._names())
        pooled = score_predictions(predictions, sorted(known), reasons, n_bootstrap=n_bootstrap)
        return RelationValidation(pooled, tuple(parts))

    def _scored(self, predictions: Predictions, n_bootstrap: int) -> RelationScores:
        reasons = predictions.tally.reasons
        return score_predictions(predictions, self._names(), reasons, n_bootstrap=n_bootstrap)
