"""Entities found by a sequence tagger that is learned from annotated texts."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import Instance, Maybe, Named, Real, Schema, Strings, Whole
from kernelwood.entities.abbreviations import abbreviation_mentions
from kernelwood.entities.annotated_texts import read_texts
from kernelwood.entities.chain_model import (
    OUT,
    WEIGHTS,
    ChainModel,
    ChainWeights,
    decode,
    train_chains,
)
from kernelwood.entities.dictionary import Dictionary
from kernelwood.entities.mentions import (
    Mention,
    add_mentions,
    mention_entity,
    without_overlap,
)
from kernelwood.entities.repeats import add_repeats
from kernelwood.entities.tagger_corpus import (
    MentionScores,
    TaggerCorpus,
    dictionary_places,
    placed_terms,
)
from kernelwood.entities.tagger_features import Pieces, cut_text
from kernelwood.entities.terms import feature_of, reference_terms
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.io import cycles_ignored
from kernelwood.parameters import Parameterized
from kernelwood.structures import shorten
from kernelwood.text import Document, Entity, Sentence, Token, tokenize
from kernelwood.threads import n_forks

_A = TypeVar("_A", bound="Document | Sentence")

_BIASES = tuple(0.25 * step for step in range(13))  # that are tried
_MOST_BIAS = 100.0
_REPEATS = (0.5, 0.8)  # probabilities that are tried
_WEIGHTS = tuple(f"{name}_" for name in ChainWeights._fields)


class EntityTagger(Parameterized):
    r"""Sequence tagger of entities: learns from annotated texts, finds mentions in others.

    A linear-chain conditional random field [1]_ labels the words of a sentence, cut at hyphens, as
    parts of mentions. Features are words, shapes, affixes and stems, those of neighboring words,
    and terms of the annotation and of a dictionary. CRFsuite [2]_ learns the weights.

    Parameters
    ----------
    types : list of str, optional
        Types of entities to learn; by default all except triggers of events.
    dictionary : Dictionary, optional
        Terms that are compared with the words of a text. They need not be entities.
    l1, l2 : float
        Weights of the L1 and the L2 norm in training.
    max_iterations : int, default 50
        Maximum number of training iterations.
    abbreviations : bool, default True
        Whether the short form that a text defines for a mention, as in *heat shock protein 90
        (Hsp90)*, is also a mention, there and later in the text.
    n_splits : int, default 3
        Number of folds, of whole documents, by which ``bias_`` and ``repeat_`` are chosen and
        ``held_out_`` is measured.

    Attributes
    ----------
    types_ : list of str
        The types that are found.
    held_out_ : dict of str to float
        Precision, recall and F1 of exact mentions in held-out documents; slightly optimistic,
        since ``bias_`` and ``repeat_`` were chosen on the same documents.
    type_f1_ : dict of str to float
        F1 of each type.
    bias_ : float
        Number added to the score of mentions, chosen for the best F1 on held-out documents.
    repeat_ : float or None
        Mentions of at least this probability are also mentions elsewhere in the document; None if
        this does not help on held-out documents.
    dropped_ : dict of str to int
        Annotated mentions that cannot be found, by reason: one inside another, discontinuous
        ones, and ones that begin or end inside a word. They count as missed in ``held_out_``.
    n_mentions_ : int
        Annotated mentions.

    See Also
    --------
    Dictionary : Entities by a list of terms.

    Notes
    -----
    Thread safety: all methods but ``fit``; threads take turns, text by text.

    References
    ----------
    .. [1] \J. Lafferty, A. McCallum and F. Pereira, "Conditional random fields: probabilistic
       models for segmenting and labeling sequence data", ICML 2001.
    .. [2] \N. Okazaki, "CRFsuite: a fast implementation of conditional random fields", 2007.

    Examples
    --------
    >>> from kernelwood.datasets import load_interactions
    >>> tagger = EntityTagger().fit(load_interactions("train"))
    >>> [entity.text for entity in tagger.find("RAK2 activates TORP1 in T cells.")]
    ['RAK2', 'TORP1']
    """

    _fitted: ClassVar[Schema] = {
        "types_": Strings(filled=True, different=True),
        **{f"{name}_": check for name, check in WEIGHTS.items()},
        "terms_": Instance(Dictionary),
        "references_": Instance(Dictionary),
        "bias_": Real(-_MOST_BIAS, _MOST_BIAS),
        "repeat_": Maybe(Real(0, 1)),
        "held_out_": Named(Real()),
        "type_f1_": Named(Real()),
        "dropped_": Named(Whole()),
        "n_mentions_": Whole(),
    }
    _saved_unfitted = True

    types_: list[str]
    terms_: Dictionary
    references_: Dictionary
    bias_: float
    repeat_: float | None
    held_out_: dict[str, float]
    type_f1_: dict[str, float]
    dropped_: dict[str, int]
    n_mentions_: int

    def __init__(
        self,
        *,
        types: Any = None,
        dictionary: Dictionary | None = None,
        l1: float = 0.05,
        l2: float = 0.05,
        max_iterations: int = 50,
        abbreviations: bool = True,
        n_splits: int = 3,
    ) -> None:
        self.types = types
        self.dictionary = dictionary
        self.l1 = l1
        self.l2 = l2
        self.max_iterations = max_iterations
        self.abbreviations = abbreviations
        self.n_splits = n_splits

    # Training.

    def fit(
        self, documents: Iterable[Any], y: Any = None, *, groups: Sequence[str] | None = None
    ) -> EntityTagger:
        """Train on annotated texts.

        Parameters
        ----------
        documents : iterable of Example, Document or Sentence
            Texts with annotated entities.
        y : None
            Not used.
        groups : sequence of str, optional
            The document of each text, if several are from one. By default each is its own.

        Raises
        ------
        KernelInputError
            If no text has an entity that can be found.
        """
        self._check_parameters()
        for name in (*self._fitted, "_model"):
            self.__dict__.pop(name, None)
        with cycles_ignored():
            texts = read_texts(documents, self.types)
            corpus = TaggerCorpus(texts, groups, self.dictionary)
            held_out = self._hold_out(corpus)
            weights = self._train(corpus, range(len(texts)), corpus.terms.counts())
        for name, value in zip(_WEIGHTS, weights, strict=True):
            setattr(self, name, value)
        self.types_, self.n_mentions_ = list(corpus.types), corpus.n_mentions
        self.terms_, self.references_ = corpus.terms.graded(), reference_terms(texts)
        self.bias_, self.repeat_, (self.held_out_, self.type_f1_) = held_out
        self.dropped_ = dict(corpus.dropped)
        return self

    def _train(
        self, corpus: TaggerCorpus, rows: Iterable[int], counts: NDArray[np.int64]
    ) -> ChainWeights:
        return train_chains(
            corpus.sentences(rows, counts),
            len(corpus.types),
            l1=float(self.l1),
            l2=float(self.l2),
            max_iterations=int(self.max_iterations),
        )

    def _hold_out(self, corpus: TaggerCorpus) -> tuple[float, float | None, MentionScores]:
        """Return what is best on documents that were not learned from, and the scores with it."""
        folds = corpus.folds(int(self.n_splits))
        found: dict[float, dict[int, list[Mention]]] = {bias: {} for bias in _BIASES}
        for fold in range(int(self.n_splits)):
            test, train = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            if not len(train) or not len(test):  # fewer documents than folds
                continue
            counts = corpus.terms.counts(folds != fold)
            model = ChainModel(self._train(corpus, train.tolist(), counts))
            for row in test.tolist():
                cut = corpus.cuts[row]
                emissions = model.emissions(cut, corpus.places(row, counts))
                for before, bias in pairwise((0.0, *_BIASES)):
                    emissions[:, OUT] -= bias - before
                    found[bias][row] = _mentions(model, cut, emissions, corpus.types)
        scores = {bias: corpus.score(rows) for bias, rows in found.items()}
        bias = max(_BIASES, key=lambda one: (scores[one].rates["f1"], -one))
        return bias, *self._try_repeats(corpus, found[bias])

    def _try_repeats(
        self, corpus: TaggerCorpus, found: dict[int, list[Mention]]
    ) -> tuple[float | None, MentionScores]:
        """Return from which probability on to look for mentions elsewhere, and the scores."""
        if self.abbreviations:
            found = {
                row: abbreviation_mentions(corpus.texts[row].text, some)
                for row, some in found.items()
            }
        best: tuple[float | None, MentionScores] = (None, corpus.score(found))
        for least in _REPEATS:
            repeated: dict[int, list[Mention]] = {}
            for rows in corpus.documents():
                held = [row for row in rows if row in found]
                texts = [(corpus.texts[row].text, corpus.cuts[row]) for row in held]
                made = add_repeats(texts, [found[row] for row in held], least)
                repeated.update(zip(held, made, strict=True))
            scores = corpus.score(repeated)
            if scores.rates["f1"] > best[1].rates["f1"]:
                best = (least, scores)
        return best

    # Prediction.

    def find(self, text: str) -> list[Entity]:
        """Return the entities of a text, ``T1``, ``T2``, ... in the order of the text.

        Examples
        --------
        >>> from kernelwood.datasets import load_interactions
        >>> tagger = EntityTagger().fit(load_interactions("train"))
        >>> tagger.find("RAK2 binds.")
        [Entity(id='T1', type='Protein', spans=((0, 4),), text='RAK2')]
        """
        if not isinstance(text, str):
            raise StructureError(f"the text must be a string, got {type(text).__name__}")
        return [
            mention_entity(f"T{number}", text, mention.start, mention.end, mention.type)
            for number, mention in enumerate(self.mentions(text), start=1)
        ]

    def mentions(self, text: str | Document | Sentence) -> list[Mention]:
        """Return the mentions in a text with their probabilities.

        Parameters
        ----------
        text : str, Document or Sentence
            A sentence is not split.

        Returns
        -------
        list of Mention
            In the order of the text, not overlapping. The probability is that of the mention with
            exactly these boundaries and this type.
        """
        self._check_is_fitted()
        written = text if isinstance(text, str) else text.text
        tokens = tokenize(written)
        cut = self._pieces_of(text, tokens)
        if not len(cut):
            return []
        made = self._chain_model()
        with made.lock, cycles_ignored():
            model = made.model
            listed = placed_terms(cut, self._listed(written))
            emissions = model.new_emissions(written, cut, listed)
            emissions[:, OUT] -= self.bias_
            found = [
                one
                for one in _mentions(model, cut, emissions, self.types_)
                if any(map(str.isalnum, written[one.start : one.end]))
            ]
        if found and self.abbreviations:
            starts = [cut.starts[first] for first in cut.sentences[:-1]]
            known = None if isinstance(text, Sentence) else starts
            found = abbreviation_mentions(written, found, known)
        if found and self.repeat_ is not None:
            [found] = add_repeats([(written, cut)], [found], self.repeat_)
        return found

    @staticmethod
    def _pieces_of(
        text: str | Document | Sentence, tokens: Sequence[Token] | None = None
    ) -> Pieces:
        if isinstance(text, Sentence):
            return cut_text(text.text, [(0, len(text.text))], tokens)
        return cut_text(text if isinstance(text, str) else text.text, None, tokens)

    def _listed(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield the listed terms in a text, each with a feature."""
        for start, end, term in self.terms_.matches(text):
            yield start, end, feature_of(term.id, term.type)
        if self.dictionary is not None:
            yield from dictionary_places(self.dictionary, text)

    def annotate(self, document: _A, dictionary: Dictionary | None = None) -> _A:
        r"""Return a document or sentence with the entities that overlap none of its own.

        Ids are ``T1``, ``T2``, ..., if not in use. Probabilities become attributes of type
        ``"probability"``. A mention that was annotated with the id of a database in the training
        corpus, or is in a dictionary, gets this id as an attribute of type ``"Reference"``.

        Parameters
        ----------
        document : Document or Sentence
            The text to search.
        dictionary : Dictionary, optional
            Terms that also become entities. Where a term and a found mention overlap, the longer
            one is kept; if they are equal, type and id are those of the dictionary.

        Returns
        -------
        Document or Sentence
            A copy; new entities follow the existing ones.

        Examples
        --------
        >>> from kernelwood.datasets import load_interactions
        >>> tagger = EntityTagger().fit(load_interactions("train"))
        >>> listed = Dictionary([("TORP1", "Gene", "HGNC:1")])
        >>> found = tagger.annotate(Document("RAK2 activates TORP1."), listed)
        >>> [(entity.type, entity.text) for entity in found.entities]
        [('Protein', 'RAK2'), ('Gene', 'TORP1')]
        """
        text = document.text
        found = [self._referred(text, mention) for mention in self.mentions(document)]
        listed = () if dictionary is None else dictionary._mentions(text)
        return add_mentions(document, without_overlap(listed, found, document.entities))

    def _referred(self, text: str, mention: Mention) -> Mention:
        """Return a mention with the id that it has in the training corpus, if any."""
        if not self.references_.terms:
            return mention
        written = text[mention.start : mention.end]
        for start, end, term in self.references_.matches(written):
            if (start, end, term.type) == (0, len(written), mention.type):
                return mention._replace(reference=f"{term.id}\t{term.term}")
        return mention

    # State.

    def _chain_model(self) -> _SharedModel:
        made: _SharedModel | None = self.__dict__.get("_model")
        if made is None or made.n_forks != n_forks():
            model = ChainModel(ChainWeights(*(getattr(self, name) for name in _WEIGHTS)))
            made = self._model = _SharedModel(model, threading.Lock(), n_forks())
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_model"}

    def _check_parameters(self) -> None:
        for name in ("l1", "l2"):
            self._check_number(name, 0, 1e6, "[0, 1e6]")
        self._check_count("max_iterations", 1)
        self._check_choice("abbreviations", (True, False))
        self._check_count("n_splits", 2)
        if self.dictionary is not None and not isinstance(self.dictionary, Dictionary):
            raise KernelInputError(
                f"EntityTagger: dictionary must be a Dictionary or None, got "
                f"{shorten(repr(self.dictionary))}"
            )

    def _check_restored(self) -> None:
        weights = ChainWeights(*(getattr(self, name) for name in _WEIGHTS))
        weights.check(len(self.types_))

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise KernelInputError("this EntityTagger is not fitted yet; call fit(documents) first")

    def __sklearn_is_fitted__(self) -> bool:
        return all(hasattr(self, name) for name in self._fitted)


class _SharedModel(NamedTuple):
    """A model for one thread at a time, since it keeps sums of features for the next text.

    A forked process makes its own: a thread of the other one may have been using it.
    """

    model: ChainModel
    lock: threading.Lock
    n_forks: int


def _mentions(
    model: ChainModel, cut: Pieces, emissions: NDArray[np.float64], types: Sequence[str]
) -> list[Mention]:
    """Return the mentions of the most probable labels."""
    labels = model.decode(cut, emissions)
    segments = decode(labels)
    if not segments:
        return []
    chances = model.probabilities(cut, emissions, labels, segments).tolist()
    return [
        Mention(cut.starts[first], cut.ends[end - 1], types[kind], chance)
        for (first, end, kind), chance in zip(segments, chances, strict=True)
    ]
