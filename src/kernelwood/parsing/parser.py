"""Sentences to packed forests, by a grammar learned from a treebank."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence as Listing
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.compute import Runner, StopFlag, check_budget, format_bytes
from kernelwood.errors import KernelInputError, MemoryBudgetError, ModelFormatError
from kernelwood.parameters import Parameterized
from kernelwood.parsing import chart as charts
from kernelwood.parsing.annotation import Annotation, count_productions
from kernelwood.parsing.grammar import Grammar, estimate_grammar
from kernelwood.parsing.lexicon import Lexicon, estimate_lexicon
from kernelwood.parsing.saved import restore_model, save_model
from kernelwood.parsing.sentences import check_sentence, check_tags, check_tags_of_batch
from kernelwood.parsing.treebank import prepare_treebank
from kernelwood.structures import Forest, Tree

__all__ = ["ForestParser"]

_LONG = 60  # words from which parsing may take seconds
_LONGEST_CHAIN = 50  # unary productions over one span: layers of the chart
_COST = 5 * 10**8  # of a sentence, in the units of the runner
_TOO_LONG = "Split it, or give longer sentences the fallback: ForestParser(max_length=200)"


class ForestParser(Parameterized):
    r"""A constituency parser that returns all plausible trees of a sentence as one packed forest.

    It learns an unlexicalized probabilistic grammar from a treebank in a few seconds: categories
    are annotated with what is above them, productions are Markov processes over children, unknown
    words are judged by their look. Parsing computes inside and outside probabilities of the whole
    chart, pruned by a coarser grammar. The hyper-edges of the forest have the treebank's
    categories, and their probabilities are the conditional expected counts under the grammar: no
    packed forest of this kind is closer to the grammar's distribution over trees.

    Parameters
    ----------
    horizontal : int or None, default 2
        Left sisters that the choice of the next child depends on; None for all of them, so that
        only productions of the treebank are used.
    smoothing : float, default 2.0
        How much the choice of the next child also follows what is usual after one left sister
        less, in occurrences; 0 is faster and covers less. Has no effect unless ``horizontal`` is
        2 or more.
    vertical : int, default 2
        Labels on the path to the root that a category depends on, its own included; 1 is a plain
        treebank grammar.
    split_tags : bool, default True
        Whether parts of speech depend on their parent, prepositions on their grandparent, and
        forms of *be* and *have* stand apart.
    split_categories : bool, default True
        Whether categories of the Penn Treebank are told apart by their inside: VP by the form of
        its verb, NP as a possessor, NP and PP with and without a verb in them.
    max_unary : int, default 3
        Longest chain of unary productions over one span.
    max_length : int or None, default None
        Longer sentences are not parsed, they get the fallback.
    threshold : float, default 8.0
        Hyper-edges whose best tree is more than this many nats worse than the best of all are
        left out of the forest.
    coarse_threshold : float, default 9.0
        Constituents whose probability under the coarse grammar is below ``exp(-coarse_threshold)``
        are not looked at; infinity to look at all.
    n_jobs : int or None, default None
        Threads of `parse_batch`; None for the setting, -1 for all cores.

    Attributes
    ----------
    labels_ : tuple of str
        The labels of the treebank, parts of speech included.
    tags_ : tuple of str
        The parts of speech.
    n_trees_ : int
        Trees learned from; those without words are not counted.
    grammar_, lexicon_
        The rules, and the words; plain arrays.

    Notes
    -----
    Learning takes time linear in the treebank, parsing cubic in the length of the sentence: of
    the order of 20 ms for 25 words with a grammar of a few thousand trees.

    References
    ----------
    D. Klein, C. Manning. Accurate unlexicalized parsing. ACL 2003.
    S. Petrov, D. Klein. Improved inference for unlexicalized parsing. NAACL 2007.

    Examples
    --------
    >>> treebank = [
    ...     "(S (NP (NN rain)) (VP (VBZ falls)))",
    ...     "(S (NP (NN snow)) (VP (VBZ falls) (PP (IN on) (NP (NNS roofs)))))",
    ... ]
    >>> parser = ForestParser().fit([Tree.from_brackets(text) for text in treebank])
    >>> parser.parse("rain falls on roofs".split()).best_tree()
    Tree('(S (NP (NN rain)) (VP (VBZ falls) (PP (IN on) (NP (NNS roofs)))))')
    """

    labels_: tuple[str, ...]
    tags_: tuple[str, ...]
    n_trees_: int
    grammar_: Grammar
    lexicon_: Lexicon

    def __init__(
        self,
        *,
        horizontal: int | None = 2,
        smoothing: float = 2.0,
        vertical: int = 2,
        split_tags: bool = True,
        split_categories: bool = True,
        max_unary: int = 3,
        max_length: int | None = None,
        threshold: float = 8.0,
        coarse_threshold: float = 9.0,
        n_jobs: int | None = None,
    ) -> None:
        self.horizontal = horizontal
        self.smoothing = smoothing
        self.vertical = vertical
        self.split_tags = split_tags
        self.split_categories = split_categories
        self.max_unary = max_unary
        self.max_length = max_length
        self.threshold = threshold
        self.coarse_threshold = coarse_threshold
        self.n_jobs = n_jobs

    def fit(self, trees: Iterable[Tree], y: object = None) -> ForestParser:
        """Learn grammar and lexicon from a treebank.

        Traces, function tags and indices are removed first, an outer bracket without a label (or
        labeled ``ROOT``, ``TOP`` or ``S1``) is opened, and an X that is the only child of an X is
        merged with it.

        Parameters
        ----------
        trees : iterable of Tree
            Constituency trees whose words each have a part of speech: the only child of a node.
            Edge labels are not used.
        y : ignored

        Returns
        -------
        ForestParser
            Itself.

        Raises
        ------
        StructureError
            If a word has no part of speech of its own, or there are no words.
        """
        self._check_parameters()
        prepared = prepare_treebank(trees)
        annotation = Annotation(int(self.vertical), self.split_tags, self.split_categories)
        productions = count_productions(prepared, annotation)
        horizontal = None if self.horizontal is None else int(self.horizontal)
        grammar, numbers = estimate_grammar(productions, horizontal, float(self.smoothing))
        lexicon = estimate_lexicon(productions.words, numbers, grammar.labels)
        self._learned(grammar, lexicon, len(prepared))
        return self

    def parse(self, tokens: Iterable[str], tags: Iterable[str] | None = None) -> Forest:
        """Return the packed forest of a sentence.

        Parameters
        ----------
        tokens : iterable of str
            The words, punctuation marks among them, the way the treebank writes them.
        tags : iterable of str, optional
            Their parts of speech, if they are known: no others are considered.

        Returns
        -------
        Forest
            With spans; its leaves are the tokens. If the grammar does not cover the sentence,
            it is a flat tree over the most probable parts of speech with ``fallback=True``.

        Raises
        ------
        KernelInputError
            If the parser is not fitted, there are no tokens, or tags do not match them.

        Examples
        --------
        >>> parser = ForestParser().fit([Tree.from_brackets("(S (NP (NN rain)) (VP (VBZ falls)))")])
        >>> parser.parse(["snow", "falls"]).labels
        ('snow', 'falls', 'NN', 'NP', 'VBZ', 'VP', 'S')
        >>> parser.parse(["rain", "rain", "rain"])
        Forest(7 nodes, 4 hyper-edges, root='S', fallback)
        """
        self._check_ready()
        words = check_sentence(tokens, "tokens")
        given = None if tags is None else check_tags(tags, len(words), "tags")
        return self._run([words], [given], Runner(1, 0).quiet())[0]

    def parse_batch(
        self,
        sentences: Iterable[Iterable[str]],
        tags: Iterable[Iterable[str]] | None = None,
    ) -> list[Forest]:
        """Return the packed forests of many sentences; what `parse` returns for each.

        Runs on ``n_jobs`` threads and reports to the progress callback of the settings.

        Parameters
        ----------
        sentences : iterable of iterable of str
            The words of each sentence.
        tags : iterable of iterable of str, optional
            The parts of speech of each.

        Examples
        --------
        >>> parser = ForestParser().fit([Tree.from_brackets("(S (NP (NN rain)) (VP (VBZ falls)))")])
        >>> [forest.n_trees for forest in parser.parse_batch([["rain", "falls"], ["snow"]])]
        [1, 1]
        """
        self._check_ready()
        if isinstance(sentences, str):
            raise KernelInputError(
                "sentences must be several lists of words, got one string; "
                "split it: [text.split() for text in texts]"
            )
        words = [check_sentence(each, f"sentence {i}") for i, each in enumerate(sentences)]
        given = check_tags_of_batch(tags, words)
        return self._run(words, given, Runner(self.n_jobs, len(words)))

    def _run(
        self,
        sentences: list[list[str]],
        tags: Listing[list[str] | None],
        runner: Runner,
    ) -> list[Forest]:
        limit = math.inf if self.max_length is None else self.max_length
        longest = max((len(words) for words in sentences if len(words) <= limit), default=0)
        check_budget(
            charts.chart_bytes(self.grammar_, longest),
            f"the chart of a sentence of {longest:,} words",
            _TOO_LONG,
        )
        chart = self._chart()
        forests: list[Forest | None] = [None] * len(sentences)

        def work(begin: int, end: int, stop: StopFlag) -> None:
            for i in range(begin, end):
                if not stop[0]:
                    forests[i] = self._parse_one(chart, sentences[i], tags[i], stop)

        n = len(sentences)
        try:
            runner.run(work, n, evaluations=runner.total, cost=_COST * n, large=longest > _LONG)
        except _native.BudgetExceeded as error:
            raise MemoryBudgetError(
                f"the chart of a sentence needs more than {format_bytes(int(str(error)))}.\n"
                f"    {_TOO_LONG}"
            ) from None
        return [forest for forest in forests if forest is not None]

    def _parse_one(
        self, chart: Any, words: list[str], tags: list[str] | None, stop: StopFlag
    ) -> Forest:
        forest = None
        if self.max_length is None or len(words) <= self.max_length:
            forest = charts.parse_sentence(
                chart,
                self.grammar_,
                self.lexicon_,
                words,
                tags,
                thresholds=(float(self.coarse_threshold), float(self.threshold)),
                stop=stop,
            )
        return forest or charts.fallback_forest(self.grammar_, self.lexicon_, words, tags)

    def _learned(self, grammar: Grammar, lexicon: Lexicon, n_trees: int) -> None:
        self.grammar_, self.lexicon_, self.n_trees_ = grammar, lexicon, n_trees
        self.labels_ = grammar.labels
        self.tags_ = tuple(grammar.labels[label] for label in lexicon.tags.tolist())
        self._native_chart: tuple[int, Any] | None = None

    def _chart(self) -> Any:
        """Return the native grammar, made again when ``max_unary`` has changed."""
        max_unary = int(self.max_unary)
        if self._native_chart is None or self._native_chart[0] != max_unary:
            self._native_chart = max_unary, charts.build_chart(self.grammar_, max_unary)
        return self._native_chart[1]

    def _check_ready(self) -> None:
        if not hasattr(self, "grammar_"):
            raise KernelInputError(
                "this ForestParser has no grammar yet; call fit(trees) first, "
                "or load one that was saved"
            )
        self._check_parameters()

    def _check_parameters(self) -> None:
        self._check_integer("horizontal", 0, none=True)
        self._check_integer("vertical", 1)
        self._check_integer("max_unary", 0, most=_LONGEST_CHAIN)
        self._check_integer("max_length", 1, none=True)
        self._check_number("smoothing", 0.0, math.inf, "[0, inf)")
        self._check_flag("split_tags")
        self._check_flag("split_categories")
        self._check_threshold("threshold")
        self._check_threshold("coarse_threshold")

    def _check_integer(
        self, name: str, least: int, *, most: float = math.inf, none: bool = False
    ) -> None:
        value = getattr(self, name)
        if value is None and none:
            return
        integer = isinstance(value, Integral) and not isinstance(value, bool)
        if not integer or not least <= int(value) <= most:
            limits = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
            raise KernelInputError(
                f"ForestParser: {name} must be an int {limits}{' or None' if none else ''}, "
                f"got {value!r}"
            )

    def _check_flag(self, name: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, (bool, np.bool_)):
            raise KernelInputError(f"ForestParser: {name} must be True or False, got {value!r}")

    def _check_threshold(self, name: str) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, Real) or not float(value) >= 0.0:
            raise KernelInputError(
                f"ForestParser: {name} must be a number of nats, 0 or more, got {value!r}"
            )

    def __getstate__(self) -> dict[str, Any]:
        # The native grammar is made again from the arrays.
        return {name: value for name, value in self.__dict__.items() if name != "_native_chart"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._native_chart = None

    def _to_saved(self) -> tuple[dict[str, Any], dict[str, list[str]], dict[str, NDArray[Any]]]:
        """Return parameters, lists of strings and arrays that describe a fitted parser."""
        if not hasattr(self, "grammar_"):
            raise ModelFormatError("a ForestParser without a grammar", hint="call fit(trees) first")
        self._check_parameters()
        parameters = self.get_params(deep=False)
        del parameters["n_jobs"]  # a choice of the moment
        texts, arrays = save_model(self.grammar_, self.lexicon_)
        return {**parameters, "n_trees": self.n_trees_}, texts, arrays

    @classmethod
    def _from_saved(
        cls,
        parameters: dict[str, Any],
        texts: dict[str, list[str]],
        arrays: dict[str, NDArray[Any]],
    ) -> ForestParser:
        """Make the parser that `_to_saved` described, trusting nothing."""
        settings = dict(parameters)
        n_trees = settings.pop("n_trees", None)
        expected = set(cls._parameter_names()) - {"n_jobs"}
        if set(settings) != expected or type(n_trees) is not int or n_trees < 1:
            raise ModelFormatError(
                "the parameters are not those of a ForestParser: "
                f"{', '.join(sorted(map(str, parameters)))}"
            )
        parser = cls(**settings)
        try:
            parser._check_parameters()
        except KernelInputError as error:
            raise ModelFormatError(str(error)) from None
        parser._learned(*restore_model(texts, arrays), n_trees)
        return parser
