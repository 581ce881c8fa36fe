"""Options that several commands share, each defined once."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from kernelwood.cli.console import nearest, usage

F = TypeVar("F", bound=Callable[..., Any])

# Names of the library, repeated here because importing it takes long.
RECIPES = ("svm", "ridge", "klsh-rf", "klsh-knn", "nystrom", "landmark-ridge")
GATED = ("subsequence", "rooted-tree", "subtree", "subset-tree", "partial-tree")
KERNELS = (*GATED, "forest", "all-paths-graph", "weisfeiler-lehman", "vector")
_SIMILARITIES = ("gaussian", "sigmoid", "exponential", "threshold", "lexical", "compositional")
_THRESHOLDS = ("f1", "cautious", "half")
# Value of --candidates -> the view that is compared unless --view names others.
PARSERS = ("biomedical", "biomedical-dependencies", "spacy", "stanza", "conllu")
_OF_MODEL = "that of the model"
_OF_RECIPE = "that of the recipe"


class Choice(click.Choice):  # type: ignore[type-arg]
    """A choice that suggests the most similar value."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return a value that is one of the choices."""
        try:
            return str(super().convert(value, param, ctx))
        except click.BadParameter as failure:
            text = failure.message.rstrip(".") + nearest(str(value), self.choices)
            raise click.BadParameter(text, ctx, param) from failure


class FormatChoice(Choice):
    """The name of a file format; formats are imported when one is given, or for help."""

    def __init__(self, *, written: bool = False) -> None:
        super().__init__(())
        self._written = written
        del self.choices  # computed below

    def __getattr__(self, name: str) -> Any:
        if name != "choices":
            raise AttributeError(name)
        from kernelwood.io import FORMATS

        rows = [row for row in FORMATS if not self._written or row.write or row.write_files]
        self.choices = tuple(row.name for row in rows)
        return self.choices


FORMAT = FormatChoice()


class FileName(click.ParamType):  # type: ignore[type-arg]
    """A text that shells complete as a file name."""

    name = "text"

    def __repr__(self) -> str:
        return "FileName()"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Let the shell list files."""
        return [CompletionItem(incomplete, type="file")]


def adapt_types(command: click.Command) -> click.Command:
    """Let choices of a command suggest values, and shells complete its file names."""
    for param in command.params:
        if type(param.type) is click.Choice:
            param.type = Choice(param.type.choices, param.type.case_sensitive)
        if param.type is click.STRING and _names_file(param):
            param.type = FileName()
    return command


def _names_file(param: click.Parameter) -> bool:
    if isinstance(param, click.Argument):
        return param.name != "id"
    return "FILE" in (param.metavar or "") or param.metavar == "CORPUS"


def together(*options: Any) -> Callable[[F], F]:
    """Return a decorator that adds several options to a command, in this order."""

    def add(command: F) -> F:
        return reduce(lambda inner, option: option(inner), reversed(options), command)

    return add


def refuse(options: dict[str, Any], names: tuple[str, ...], reason: str) -> None:
    """Raise a usage error if one of the named options is given although it has no effect."""
    flags = {
        "views": "view",
        "source_format": "from",
        "formats": "to",
        "types_file": "types",
    }
    for name in names:
        if options[name] not in (None, (), False):
            flag = flags.get(name, name.replace("_", "-"))
            raise click.UsageError(f"{reason}; leave out --{flag}")


def exclusive(options: dict[str, Any], *names: str) -> None:
    """Raise a usage error if more than one of the named options is given."""
    if sum(options[name] not in (None, (), False) for name in names) > 1:
        *first, last = (f"--{name.replace('_', '-')}" for name in names)
        raise click.UsageError(f"{', '.join(first)} and {last} are mutually exclusive")


def _word_or_fraction(text: str, words: tuple[str, ...]) -> str | float:
    """Return one of some words, or a number between 0 and 1.

    Examples
    --------
    >>> _word_or_fraction("half", ("half",)), _word_or_fraction("0.3", ("half",))
    ('half', 0.3)
    """
    if text in words:
        return text
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < 1:
        raise click.BadParameter(
            f"{text!r} is not a number between 0 and 1, and not one of: {', '.join(words)}"
            f"{nearest(text, words)}"
        )
    return number


def _check_jobs(ctx: click.Context, param: click.Parameter, value: int | None) -> int | None:
    if value == 0:
        raise click.BadParameter("must be a positive number, or -1 for all cores")
    return value


def _check_size(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Return a number of bytes."""
    if value is None:
        return None
    from kernelwood.compute import parse_bytes
    from kernelwood.errors import KernelInputError

    try:
        return parse_bytes(value)
    except KernelInputError:
        raise click.BadParameter(f"{value!r} is not a size such as 500MB or 1GB") from None


def _check_kernel(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and value not in KERNELS and not value.endswith(".kw"):
        raise click.BadParameter(
            f"{value!r} is not a file ending in .kw, and not one of: {', '.join(KERNELS)}"
            f"{nearest(value, KERNELS)}"
        )
    return value


def _check_views(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    if value:
        from kernelwood.views import find_view

        with usage():
            for name in value:
                find_view(name)
    return value


def _check_fact_types(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Return statement types by relation type."""
    pairs = [value.rpartition("=") for value in values]
    for value, (name, _, statement) in zip(values, pairs, strict=True):
        if not name or not statement:
            raise click.BadParameter(f"{value!r} must be TYPE=STATEMENT")
    return {name: statement for name, _, statement in pairs}


def check_parser(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the name of a parser, or raise a usage error with the nearest one."""
    known = (*PARSERS, *(("auto", "given") if param.default == "auto" else ()))
    kind = None if value is None else value.partition(":")[0]
    if kind is not None and kind not in known:
        raise click.BadParameter(
            f"unknown parser {value!r}{nearest(kind, known)} ({', '.join(known)})"
        )
    return value


def _check_settings(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    for text in value:
        name, _, given = text.partition("=")
        if not (name and given):
            raise click.BadParameter(f"{text!r} is not of the form NAME=VALUE, such as C=10")
    return value


def _check_report(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not value.lower().endswith(".html"):
        raise click.BadParameter(f"{value!r} does not end in .html")
    return value


# All commands.

jobs_option = click.option(
    "--jobs", "--n-jobs", "n_jobs", type=int, metavar="N", callback=_check_jobs,
    help="Number of threads; -1 uses all cores.",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), metavar="N", default=0,
    help="Seed of the random number generator.",
)  # fmt: skip

# Input.

from_option = click.option(
    "--from", "--format", "source_format", type=FORMAT,
    help="Input format, if not recognized by name or content.",
)  # fmt: skip
errors_option = click.option(
    "--errors", type=click.Choice(["raise", "skip"]), default="raise",
    help="Stop at invalid input, or skip and count it.",
)  # fmt: skip
only_option = click.option(
    "--only", metavar="GLOB", help="Only files of a folder or archive with a matching path."
)
memory_option = click.option(
    "--memory-limit", metavar="SIZE", callback=_check_size, show_default="256MiB",
    help="Memory for reading one document or sentence, such as 1GB.",
)  # fmt: skip
types_option = click.option(
    "--type", "types", metavar="TYPE", multiple=True,
    help="Only entities of this type (repeatable).",
)  # fmt: skip
documents_options = together(from_option, errors_option, only_option, memory_option)
corpus_options = together(
    documents_options,
    click.option(
        "--view", "views", metavar="NAME", multiple=True,
        help="View to use (repeatable), such as words, grct or path.",
    ),
    click.option(
        "--candidates", type=click.Choice(["pairs", "events", "amr"]),
        help="Use pairs of entities or events instead of sentences.",
    ),
    types_option,
    click.option(
        "--labels", type=click.Choice(["binary", "type", "directed", "example"]),
        default="binary", help="Labels of candidate pairs.",
    ),
    click.option("--sentences", is_flag=True, help="Split documents into sentences."),
)  # fmt: skip
text_options = together(
    documents_options,
    click.option(
        "--text-field", metavar="NAME", multiple=True,
        help="Column of the text in tables and JSON records (repeatable).",
    ),
    click.option(
        "--id-field", metavar="NAME", help="Column of the id in tables and JSON records."
    ),
)  # fmt: skip
entities_option = click.option(
    "--entities", metavar="FILE",
    help="Terms to mark as entities; tab-separated: term, type, optional id.",
)  # fmt: skip
case_option = click.option(
    "--case", type=click.Choice(["smart", "exact", "ignore"]), default="smart",
    help="Case of terms; smart: matters in short or mixed-case terms.",
)  # fmt: skip
parser_option = click.option(
    "--parser", metavar="NAME", callback=check_parser, show_default=_OF_MODEL,
    help="Parser: biomedical[-dependencies], spacy[:MODEL] or stanza[:LANGUAGE].",
)  # fmt: skip

# Kernels.

decay_option = click.option("--decay", type=float, help="Decay factor of the kernel.")
vectors_option = click.option(
    "--vectors", metavar="FILE", help="Word vectors for soft matching of labels."
)
similarity_option = click.option(
    "--similarity", type=click.Choice(_SIMILARITIES), show_default="gaussian",
    help="Similarity of word vectors.",
)  # fmt: skip
kernel_options = together(
    click.option(
        "--kernel", metavar=f"[{'|'.join(KERNELS)}|FILE.kw]", callback=_check_kernel,
        show_default="subsequence, partial-tree or forest, depending on the view",
        help="Kernel of structures, or a saved kernel.",
    ),
    decay_option,
    vectors_option,
    similarity_option,
)  # fmt: skip
plot_options = together(
    click.option("--plot", metavar="FILE", help="Draw a map of the examples (.png, .svg or .pdf)."),
    click.option(
        "--map", "map_method", type=click.Choice(["tsne", "pca"]), default="tsne",
        help="Projection: tsne preserves neighbors, pca preserves distances.",
    ),
)  # fmt: skip

# Predictions.

threshold_option = click.option(
    "--threshold", type=click.FloatRange(0, 1), metavar="P", show_default=_OF_MODEL,
    help="Decision threshold.",
)  # fmt: skip
positive_rate_option = click.option(
    "--positive-rate", metavar="P|trained",
    callback=lambda ctx, param, value: (
        None if value is None else _word_or_fraction(value, ("trained",))
    ),
    help="Fraction of candidates to predict positive; trained: as in training data.",
)  # fmt: skip
facts_options = together(
    click.option(
        "--facts", metavar="FILE", multiple=True,
        help="Unique relations: .tsv, .json, .parquet, .sif, .cx2, .graphml, .indra.json, .bel, "
        ".neo4j.",
    ),
    click.option(
        "--facts-by", type=click.Choice(["text", "id"]), default="text",
        help="Identify the entities of --facts by text or database id.",
    ),
    click.option(
        "--facts-type", "fact_types", metavar="TYPE=STATEMENT", multiple=True,
        callback=_check_fact_types,
        help="INDRA statement for a relation type, such as treats=Inhibition (repeatable).",
    ),
)  # fmt: skip
end_to_end_option = click.option(
    "--end-to-end", is_flag=True, help="Also evaluate relations between found entities."
)
prediction_options = together(
    click.option(
        "-o", "--out", metavar="FILE", show_default="table on standard output",
        help="Output: .jsonl, .tsv, .parquet, .html, .ann (brat folder), others, or -.",
    ),
    click.option(
        "--to", "target_format", metavar="FORMAT",
        help="Output format, if the file name does not determine it.",
    ),
    facts_options,
    click.option(
        "--all", "every", is_flag=True, help="Include candidates that are predicted negative."
    ),
    click.option(
        "--evidence", "n_evidence", type=click.IntRange(min=0), metavar="N", default=0,
        help="Number of training cases for and against each relation.",
    ),
    threshold_option,
    positive_rate_option,
)  # fmt: skip
cluster_option = click.option(
    "--cluster", metavar="SPEC",
    help="Compute on a Dask cluster: local:N, tcp://HOST:PORT, or a scheduler file.",
)  # fmt: skip
resume_option = click.option(
    "--resume", is_flag=True,
    help="Keep finished blocks in OUT.plan, and continue with them after an interruption.",
)  # fmt: skip
report_option = click.option(
    "--report", metavar="FILE.html", callback=_check_report,
    help="Also write an HTML report: facts, texts with relations, evidence.",
)  # fmt: skip
extractor_options = together(
    click.option(
        "--recipe", type=click.Choice(RECIPES), default="svm", help="Learning algorithm preset."
    ),
    click.option(
        "--candidates", type=click.Choice(["pairs", "events"]), default="pairs",
        help="Candidates: pairs of entities, or triggers with participants.",
    ),
    click.option(
        "--view", "views", metavar="NAME", multiple=True, callback=_check_views,
        show_default=_OF_RECIPE,
        help="View to compare (repeatable), such as path or context.",
    ),
    click.option(
        "--kernel", metavar="FILE.kw", show_default=_OF_RECIPE,
        help="Saved kernel on views of candidates, such as from learn-gates.",
    ),
    click.option(
        "--option", "settings", metavar="NAME=VALUE", multiple=True, callback=_check_settings,
        help="Parameter of the learning algorithm, such as C=10 (repeatable).",
    ),
    vectors_option,
    click.option(
        "--blind", type=click.Choice(["auto", "yes", "no"]), default="auto",
        help="Ignore the words of the entities: auto tests whether they help.",
    ),
    click.option(
        "--labels", type=click.Choice(["auto", "binary", "type", "directed"]), default="auto",
        help="Classes: relation or none, relation types, or types with direction.",
    ),
    click.option(
        "--signatures", type=click.Choice(["auto", "no"]), default="auto",
        help="Leave out pairs of entity types that are never related.",
    ),
    click.option(
        "--symmetric", metavar="TYPE", multiple=True,
        help="Relation type without direction (repeatable).",
    ),
    types_option,
    click.option(
        "--relation", "relations", metavar="TYPE", multiple=True,
        help="Learn only relations of this type (repeatable).",
    ),
    click.option(
        "--max-distance", type=click.IntRange(min=0), metavar="N",
        help="Maximum number of words between the entities of a pair.",
    ),
    click.option(
        "--max-entities", type=click.IntRange(min=2), metavar="N", default=60,
        help="Skip sentences with more entities.",
    ),
    click.option(
        "--threshold", metavar="f1|cautious|half|NUMBER", default="f1",
        callback=lambda ctx, param, value: _word_or_fraction(value, _THRESHOLDS),
        help="Decision threshold: best F1, lower (cautious), one half, or a number.",
    ),
    click.option(
        "--splits", type=click.IntRange(min=2), metavar="N", default=5,
        help="Number of folds used to set the decision threshold.",
    ),
    click.option(
        "--parser", metavar="NAME", callback=check_parser, default="auto",
        help="Parser: auto, given, biomedical[-dependencies], spacy[:MODEL] or stanza[:LANGUAGE].",
    ),
    click.option("--license", metavar="TEXT", help="License of the model."),
    click.option("--description", metavar="TEXT", help="Description of the model."),
)  # fmt: skip
