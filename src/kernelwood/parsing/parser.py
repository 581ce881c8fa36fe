"""A constituency parser that learns a grammar from a treebank and returns packed forests."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence as Listing
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.arrays import Flag, Maybe, Plain, Schema, Whole
from kernelwood.compute import Runner, StopFlag, check_budget, format_bytes
from kernelwood.errors import KernelInputError, MemoryBudgetError, ModelFormatError
from kernelwood.parameters import Parameterized
from kernelwood.parsing.boundaries import count_boundaries
from kernelwood.parsing.grammar import Floats, Grammar, Ints, Rules, estimate_grammar
from kernelwood.parsing.lexicon import Lexicon, estimate_lexicon
from kernelwood.parsing.saved import SAVED, no_boundaries, restore_model, save_model
from kernelwood.parsing.treebank import count_productions, prepare_treebank
from kernelwood.structures import Forest, Tree, make_node, shorten

_Result = TypeVar("_Result")

_LONG = 60  # words; longer sentences may take seconds
_LONGEST_CHAIN = 50  # largest max_unary
# Applications of rules in the pruned chart of a sentence: some ten seconds. A sentence of 40 words
# takes a few millions.
_MOST_RULES = 8 * 10**8
_MOST_WORDS = 50_000  # words whose symbols are kept
_COST = 5 * 10**8  # cost of a sentence, in units of the runner
_TOO_LONG = "Split it, or give longer sentences the fallback: ForestParser(max_length=200)"


class ForestParser(Parameterized):
    r"""A constituency parser that returns all plausible trees of a sentence as one packed forest.

    It learns an unlexicalized probabilistic grammar from a treebank in a few seconds: categories
    are annotated with the labels above them, productions are Markov processes over children, and
    unknown words are classified by shape. Parsing computes inside and outside probabilities of the
    whole chart, pruned by a coarser grammar. The hyper-edges of the forest have the categories of
    the treebank, and their probabilities are the conditional expected counts under the grammar: no
    packed forest of this kind is closer to the grammar's distribution over trees.

    Parameters
    ----------
    horizontal : int or None, default 2
        Number of left siblings that a child depends on; None for all, which allows only the
        productions of the treebank.
    smoothing : float, default 2.0
        Weight, in occurrences, of histories with one left sibling less; 0 is faster and covers
        less. Has no effect unless ``horizontal`` is 2 or more.
    vertical : int, default 2
        Number of labels on the path to the root that a category depends on, including its own;
        1 is a plain treebank grammar.
    split_tags : bool, default True
        Whether parts of speech depend on their parent, prepositions also on their grandparent,
        and forms of *be* and *have* have symbols of their own.
    split_categories : bool, default True
        Whether to split categories of the Penn Treebank by their inside: VP by the form of its
        verb, NP by possessives, NP and PP by verbs.
    max_unary : int, default 3
        Longest chain of unary productions over one span.
    max_length : int or None, default None
        Longest sentence, in words; longer ones get the fallback.
    threshold : float, default 8.0
        Largest difference, in nats, between the best tree and the best tree with a hyper-edge;
        other hyper-edges are omitted.
    coarse_threshold : float, default 8.0
        Constituents with a probability below ``exp(-coarse_threshold)`` under the coarse grammar
        are pruned; infinity disables pruning.
    boundary_threshold : float, default 14.0
        Constituents are not tried if the coarse grammar and the parts of speech beside them, as a
        Markov chain, give them a probability below ``exp(-boundary_threshold)``; infinity disables
        this, and `fit` then omits the counts for it.
    n_jobs : int or None, default None
        Threads of `parse_batch`; None for the setting, -1 for all cores.

    Attributes
    ----------
    labels_ : tuple of str
        The labels of the treebank, parts of speech included.
    tags_ : tuple of str
        The parts of speech.
    n_trees_ : int
        Number of training trees with words.
    grammar_, lexicon_
        The rules, and the words; plain arrays.

    Notes
    -----
    Thread safety: all methods but ``fit``.

    The time is linear in the treebank for learning and cubic in the length of the sentence for
    parsing: about 20 ms for 25 words with a grammar of a few thousand trees.

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
    _native_chart: tuple[int, Any] | None
    _known_words: dict[tuple[str, bool, str | None], tuple[Ints, Floats]]

    _saved: ClassVar[Schema] = {
        "horizontal": Maybe(Whole()),
        "smoothing": Plain(),
        "vertical": Whole(1),
        "split_tags": Flag(),
        "split_categories": Flag(),
        "max_unary": Whole(),
        "max_length": Maybe(Whole(1)),
        "threshold": Plain(),
        "coarse_threshold": Plain(),
        "boundary_threshold": Plain(),
        "n_trees": Whole(1),
        **SAVED,
    }

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
        coarse_threshold: float = 8.0,
        boundary_threshold: float = 14.0,
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
        self.boundary_threshold = boundary_threshold
        self.n_jobs = n_jobs

    def fit(self, trees: Iterable[Tree], y: object = None) -> ForestParser:
        """Learn grammar and lexicon from a treebank.

        Traces, function tags, indices and outer brackets (without a label, or labeled ``ROOT``,
        ``TOP`` or ``S1``) are removed first, and an X that is the only child of an X is merged
        with it.

        Parameters
        ----------
        trees : iterable of Tree
            Constituency trees in which every word is the only child of its part of speech. Edge
            labels are ignored.
        y : ignored

        Returns
        -------
        ForestParser
            The fitted parser.

        Raises
        ------
        StructureError
            If a word has no part of speech, or there are no words.
        """
        self._check_parameters()
        prepared = prepare_treebank(trees)
        productions = count_productions(
            prepared,
            vertical=int(self.vertical),
            split_tags=self.split_tags,
            split_categories=self.split_categories,
        )
        horizontal = None if self.horizontal is None else int(self.horizontal)
        grammar, numbers = estimate_grammar(productions, horizontal, float(self.smoothing))
        if self.boundary_threshold != math.inf:
            grammar = replace(grammar, boundaries=count_boundaries(prepared, grammar.labels))
        lexicon = estimate_lexicon(productions.words, numbers, grammar.labels)
        self._learned(grammar, lexicon, len(prepared))
        return self

    def parse(self, tokens: Iterable[str], tags: Iterable[str] | None = None) -> Forest:
        """Return the packed forest of a sentence.

        Parameters
        ----------
        tokens : iterable of str
            The words and punctuation marks, as the treebank writes them.
        tags : iterable of str, optional
            Their parts of speech, if they are known.

        Returns
        -------
        Forest
            Forest with spans, whose leaves are the tokens. If the grammar does not cover the
            sentence, or too many of its rules apply (as to one word repeated hundreds of times), a
            flat tree over the most probable parts of speech with ``fallback=True``.

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
        words = _check_sentence(tokens, "tokens")
        given = None if tags is None else _check_tags(tags, len(words), "tags")
        return self._run(self._parse_one, [words], [given], Runner(1, 0).quiet())[0]

    def parse_batch(
        self,
        sentences: Iterable[Iterable[str]],
        tags: Iterable[Iterable[str]] | None = None,
    ) -> list[Forest]:
        """Return the packed forests of several sentences, as `parse` returns them.

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
        words, given = self._check_batch(sentences, tags)
        return self._run(self._parse_one, words, given, Runner(self.n_jobs, len(words)))

    def parse_trees(
        self,
        sentences: Iterable[Iterable[str]],
        tags: Iterable[Iterable[str]] | None = None,
    ) -> list[Tree | None]:
        """Return the most probable tree of each of several sentences, faster than forests.

        It is the best tree of the forest that a parser with ``threshold=0`` returns. Parameters
        and threads are those of `parse_batch`.

        Returns
        -------
        list of Tree or None
            None where `parse` returns a fallback.

        Examples
        --------
        >>> parser = ForestParser().fit([Tree.from_brackets("(S (NP (NN rain)) (VP (VBZ falls)))")])
        >>> parser.parse_trees([["snow", "falls"], ["rain", "rain", "rain"]])
        [Tree('(S (NP (NN snow)) (VP (VBZ falls)))'), None]
        """
        words, given = self._check_batch(sentences, tags)
        return self._run(self._tree_of, words, given, Runner(self.n_jobs, len(words)))

    def _check_batch(
        self, sentences: Iterable[Iterable[str]], tags: Iterable[Iterable[str]] | None
    ) -> tuple[list[list[str]], list[list[str] | None]]:
        self._check_ready()
        if isinstance(sentences, str):
            raise KernelInputError(
                "sentences must be a list of lists of words, got one string\n"
                "    split it first: [text.split() for text in texts]"
            )
        words = [_check_sentence(each, f"sentence {i}") for i, each in enumerate(sentences)]
        return words, _check_tags_of_batch(tags, words)

    def _run(
        self,
        parse: Callable[[Any, list[str], list[str] | None, StopFlag], _Result],
        sentences: list[list[str]],
        tags: Listing[list[str] | None],
        runner: Runner,
    ) -> list[_Result]:
        limit = math.inf if self.max_length is None else self.max_length
        longest = max((len(words) for words in sentences if len(words) <= limit), default=0)
        check_budget(
            # Inside and outside, as left and right children, of coarse symbols over all spans.
            2 * len(self.labels_) * 4 * 8 * longest * longest,
            f"the chart of a sentence of {longest:,} words",
            _TOO_LONG,
        )
        chart = self._chart()
        results: list[Any] = [None] * len(sentences)

        def work(begin: int, end: int, stop: StopFlag) -> None:
            for i in range(begin, end):
                if not stop[0]:
                    results[i] = parse(chart, sentences[i], tags[i], stop)

        n = len(sentences)
        try:
            runner.run(work, n, evaluations=runner.total, cost=_COST * n, large=longest > _LONG)
        except _native.BudgetExceeded as error:
            raise MemoryBudgetError(
                f"the chart of a sentence needs more than {format_bytes(int(str(error)))}.\n"
                f"    {_TOO_LONG}"
            ) from None
        return results

    def _parse_one(
        self, chart: Any, words: list[str], tags: list[str] | None, stop: StopFlag
    ) -> Forest:
        result = self._chart_result(chart, words, tags, float(self.threshold), stop)
        if result is None:
            return self._fallback(words, tags)
        return _as_forest(result, self.labels_, words)

    def _tree_of(
        self, chart: Any, words: list[str], tags: list[str] | None, stop: StopFlag
    ) -> Tree | None:
        result = self._chart_result(chart, words, tags, 0.0, stop)
        return None if result is None else _as_tree(result, self.labels_, words)

    def _chart_result(
        self,
        chart: Any,
        words: list[str],
        tags: list[str] | None,
        threshold: float,
        stop: StopFlag,
    ) -> Any:
        """Return the forest of the native parser, None if the sentence is not covered."""
        if self.max_length is not None and len(words) > self.max_length:
            return None
        opener = first_word(words)
        symbols, probabilities = [], []
        for position, word in enumerate(words):
            found, p = self._look_up(
                word, position == opener, None if tags is None else tags[position]
            )
            if not len(found):
                return None
            symbols.append(found)
            probabilities.append(p)
        positions = np.repeat(np.arange(len(words), dtype=np.int32), [len(row) for row in symbols])
        result = chart.parse(
            len(words),
            positions,
            np.concatenate(symbols),
            np.concatenate(probabilities),
            self.grammar_.root,
            self.grammar_.root_p,
            float(self.coarse_threshold),
            threshold,
            stop,
            _MOST_RULES,
            float(self.boundary_threshold),
        )
        return result if result.found else None

    def _look_up(self, word: str, opener: bool, tag: str | None) -> tuple[Ints, Floats]:
        """Return the symbols of a word, kept for the next time it occurs."""
        key = word, opener, tag
        found = self._known_words.get(key)
        if found is None:
            number = None if tag is None else self._label_number(tag)
            found = self.lexicon_.look_up(word, opener, number)
            if len(self._known_words) >= _MOST_WORDS:
                self._known_words = {}
            self._known_words[key] = found
        return found

    def _label_number(self, label: str) -> int:
        """Return the number of a label, -1 if it is not in the treebank."""
        return self.labels_.index(label) if label in self.labels_ else -1

    def _fallback(self, words: list[str], tags: list[str] | None) -> Forest:
        """Return a flat tree for a sentence that cannot be parsed, marked as a fallback."""
        if tags is None:
            opener = first_word(words)
            tags = [
                self.labels_[self.lexicon_.best_tag(word, position == opener)]
                for position, word in enumerate(words)
            ]
        n = len(words)
        root = self.labels_[int(self.grammar_.output[self.grammar_.root[0]])]
        edges = [(n + i, (i,), 1.0) for i in range(n)]
        spans = [(i, i + 1) for i in range(n)]
        return Forest(
            [*words, *tags, root],
            [*edges, (2 * n, tuple(range(n, 2 * n)), 1.0)],
            2 * n,
            [*spans, *spans, (0, n)],
            fallback=True,
        )

    def _learned(self, grammar: Grammar, lexicon: Lexicon, n_trees: int) -> None:
        self.grammar_, self.lexicon_, self.n_trees_ = grammar, lexicon, n_trees
        self.labels_ = grammar.labels
        self.tags_ = tuple(grammar.labels[label] for label in lexicon.tags.tolist())
        self._forget()

    def _forget(self) -> None:
        self._native_chart = None
        self._known_words = {}

    def _chart(self) -> Any:
        """Return the native grammar, rebuilt when ``max_unary`` has changed."""
        max_unary = int(self.max_unary)
        made = self._native_chart
        if made is None or made[0] != max_unary:
            self._native_chart = made = max_unary, _build_chart(self.grammar_, max_unary)
        return made[1]

    def _check_ready(self) -> None:
        if not hasattr(self, "grammar_"):
            raise KernelInputError(
                "this ForestParser is not fitted\n    call fit(trees), or load a saved parser"
            )
        self._check_parameters()

    def _check_parameters(self) -> None:
        self._check_count("horizontal", 0, none=True)
        self._check_count("vertical", 1)
        self._check_count("max_unary", 0)
        self._check_number("max_unary", 0, _LONGEST_CHAIN, f"[0, {_LONGEST_CHAIN}]")
        self._check_count("max_length", 1, none=True)
        self._check_number("smoothing", 0.0, math.inf, "[0, inf)")
        self._check_choice("split_tags", (True, False))
        self._check_choice("split_categories", (True, False))
        for name in ("threshold", "coarse_threshold", "boundary_threshold"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real) or not float(value) >= 0.0:
                raise KernelInputError(
                    f"ForestParser: {name} must be a number of nats in [0, inf], got {value!r}"
                )

    def __copy__(self) -> ForestParser:
        # What is derived from the grammar is shared: it does not change.
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __getstate__(self) -> dict[str, Any]:
        # The native grammar is rebuilt from the arrays, and words are looked up again.
        derived = ("_native_chart", "_known_words")
        return {name: value for name, value in self.__dict__.items() if name not in derived}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def _to_saved(self) -> tuple[dict[str, Any], dict[str, list[str]], dict[str, NDArray[Any]]]:
        """Return parameters, lists of strings and arrays that describe a fitted parser."""
        if not hasattr(self, "grammar_"):
            raise ModelFormatError("the ForestParser is not fitted", hint="call fit(trees) first")
        self._check_parameters()
        parameters = self.get_params(deep=False)
        del parameters["n_jobs"]  # not part of the model
        texts, arrays = save_model(self.grammar_, self.lexicon_)
        if self.grammar_.boundaries is None and self.boundary_threshold == math.inf:
            former, _, without = self._added()
            parameters = {name: parameters[name] for name in parameters if name not in former}
            arrays = {name: arrays[name] for name in arrays if name not in without}
        return {**parameters, "n_trees": self.n_trees_}, texts, arrays

    @classmethod
    def _added(cls) -> tuple[dict[str, Any], dict[str, list[str]], dict[str, NDArray[Any]]]:
        """Return the parameters and arrays that files of earlier versions lack."""
        return {"boundary_threshold": math.inf}, {}, no_boundaries()

    @classmethod
    def _from_saved(
        cls,
        parameters: dict[str, Any],
        texts: dict[str, list[str]],
        arrays: dict[str, NDArray[Any]],
    ) -> ForestParser:
        """Return the parser of parts that are as declared, the inverse of `_to_saved`."""
        settings = dict(parameters)
        n_trees = settings.pop("n_trees")
        parser = cls(**settings)
        try:
            parser._check_parameters()
        except KernelInputError as error:
            raise ModelFormatError(str(error)) from None
        parser._learned(*restore_model(texts, arrays), n_trees)
        return parser


def first_word(tokens: Listing[str]) -> int:
    """Return the position of the first token with a letter or a digit, 0 if there is none.

    Examples
    --------
    >>> first_word(["``", "Rain", "falls"])
    1
    """
    return next((i for i, word in enumerate(tokens) if any(map(str.isalnum, word))), 0)


def _build_chart(grammar: Grammar, max_unary: int) -> Any:
    """Return the grammar of the native chart parser."""

    def parts(rules: Rules) -> tuple[Any, Any, Any, Any]:
        return rules.binary, rules.binary_p, rules.unary, rules.unary_p

    make = _native.ChartGrammar
    coarse = make(*parts(grammar.coarse), grammar.coarse_output, max_unary)
    chart = make(*parts(grammar.fine), grammar.output, max_unary, coarse, grammar.coarse_of)
    counts = grammar.boundaries
    if counts is not None:
        chart.set_boundaries(counts.neighbors, counts.before, counts.after)
    return chart


def _as_tree(result: Any, labels: Listing[str], tokens: Listing[str]) -> Tree:
    """Return the tree of the first hyper-edges; children come before heads."""
    n_words = len(tokens)
    numbers = result.node_label.tolist()
    nodes = [make_node(token, (), "") for token in tokens]
    nodes += nodes[:1] * (len(numbers) - n_words)
    children = result.children.tolist()
    begin, last = 0, -1
    for head, count in zip(result.edge_head.tolist(), result.edge_n_children.tolist(), strict=True):
        if head != last:
            below = tuple([nodes[child] for child in children[begin : begin + count]])
            nodes[head] = make_node(labels[numbers[head]], below, "")
        last = head
        begin += count
    root: Tree = nodes[result.root]
    return root


def _as_forest(result: Any, labels: Listing[str], tokens: Listing[str]) -> Forest:
    children = result.children.tolist()
    edges = []
    begin = 0
    for head, count, p in zip(
        result.edge_head.tolist(),
        result.edge_n_children.tolist(),
        result.edge_p.tolist(),
        strict=True,
    ):
        edges.append((head, tuple(children[begin : begin + count]), p))
        begin += count
    shown = [labels[label] for label in result.node_label[len(tokens) :].tolist()]
    spans = zip(result.node_start.tolist(), result.node_end.tolist(), strict=True)
    return Forest([*tokens, *shown], edges, result.root, spans)


def _check_sentence(tokens: object, what: str) -> list[str]:
    """Return the words of a sentence as a list of plain strings."""
    words = _check_strings(tokens, what, "words", "split it first: tokens.split()")
    if not words:
        raise KernelInputError(
            f"{what}: a sentence needs at least one word\n    remove empty sentences"
        )
    return words


def _check_tags(tags: object, n_words: int, what: str) -> list[str]:
    """Return the parts of speech of a sentence, one for each word."""
    checked = _check_strings(tags, what, "parts of speech", "split it first: tags.split()")
    if len(checked) != n_words:
        raise KernelInputError(
            f"{what}: {len(checked)} parts of speech for {n_words} words\n"
            "    give one for every word, or tags=None"
        )
    return checked


def _check_tags_of_batch(
    tags: Iterable[Iterable[str]] | None, sentences: list[list[str]]
) -> list[list[str] | None]:
    """Return the parts of speech of several sentences, None for each if none are given."""
    if tags is None:
        return [None] * len(sentences)
    if isinstance(tags, str):
        raise KernelInputError(
            f"tags must be one list of parts of speech per sentence, got {shorten(repr(tags))}"
        )
    listed = list(tags)
    if len(listed) != len(sentences):
        raise KernelInputError(
            f"tags has {len(listed)} lists for {len(sentences)} sentences\n"
            "    give one list for every sentence, or tags=None"
        )
    return [
        _check_tags(each, len(words), f"tags of sentence {i}")
        for i, (each, words) in enumerate(zip(listed, sentences, strict=True))
    ]


def _check_strings(values: object, what: str, kind: str, hint: str) -> list[str]:
    if isinstance(values, str):
        raise KernelInputError(
            f"{what} must be a list of {kind}, got the string {shorten(repr(values))}\n    {hint}"
        )
    if not isinstance(values, Iterable):
        raise KernelInputError(
            f"{what} must be a list of {kind}, got {shorten(repr(values))} "
            f"of type {type(values).__name__}"
        )
    listed = list(values)
    for position, value in enumerate(listed):
        if not isinstance(value, str):
            raise KernelInputError(
                f"{what}: item {position} must be a string, got {shorten(repr(value))} "
                f"of type {type(value).__name__}"
            )
    return [str(value) for value in listed]
