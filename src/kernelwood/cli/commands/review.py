"""``kernelwood review``."""

from __future__ import annotations

import getpass
import webbrowser
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import (
    counted,
    note,
    one_name,
    running,
    say,
    show_table,
    staged,
    told_warnings,
    usage,
    write_json,
)
from kernelwood.cli.corpora import reading_limits
from kernelwood.cli.model_files import load_extractor
from kernelwood.cli.options import (
    case_option,
    check_parser,
    entities_option,
    json_option,
    refuse,
    seed_option,
    text_options,
)
from kernelwood.cli.outputs import check_inputs, check_writable
from kernelwood.cli.web_options import address_options, need_web, token_of

if TYPE_CHECKING:
    from kernelwood.web import Agreement, Project

_SHOWN = 20  # disagreements in a table
_CREATING = ("entities", "model", "types_file", "held_out", "text_field", "id_field", "only")
_EPILOG = """\b
Examples:
  kernelwood review project.kwp texts/ --entities terms.tsv
  kernelwood review project.kwp corpus.xml --held-out 0.3
  kernelwood review project.kwp texts/ --entities terms.tsv --model model.kw
  kernelwood review project.kwp
  kernelwood review project.kwp --export results/
  kernelwood review project.kwp --compare second.kwp
"""


@click.command(epilog=_EPILOG)
@click.argument("project")
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@entities_option
@case_option
@click.option("--model", metavar="FILE.kw", help="Model to begin with, from kernelwood train.")
@click.option(
    "--types", "types_file", metavar="FILE.toml", help="Relation types, as tables [[type]]."
)
@click.option(
    "--annotation",
    type=click.Choice(["learn", "compare", "ignore"]),
    default="learn",
    help="Existing relations: learn from them, only compare, or ignore.",
)
@click.option(
    "--held-out",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="P",
    help="Fraction of annotated documents to keep for evaluation.",
)
@click.option(
    "--parser", metavar="NAME", callback=check_parser, default="auto",
    help="Parser: auto, given, biomedical[-dependencies], spacy[:MODEL] or stanza[:LANGUAGE].",
)  # fmt: skip
@text_options
@seed_option
@click.option("--author", metavar="NAME", help="Name to store with decisions.")
@click.option("--read-only", is_flag=True, help="Open the project without changing it.")
@click.option("--export", metavar="DIR", help="Write decisions, relations and model to a folder.")
@click.option(
    "--to", "formats", metavar="NAME", multiple=True,
    help="Only this export (repeatable), such as brat or model.kw.",
)  # fmt: skip
@click.option("--predicted", is_flag=True, help="Export predicted relations, too.")
@click.option("--compare", metavar="FILE.kwp", help="Compare decisions with another project.")
@click.option("--merge", metavar="FILE.kwp", help="Add the decisions of another project.")
@address_options(port=0)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@json_option
def review(project: str, texts: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Review candidates and teach a model in the browser.

    PROJECT is a file that contains texts, candidates and decisions. It is created if TEXT is
    given: texts with a list of names (--entities) or a model that finds entities (--model), or an
    annotated corpus. Every decision is stored at once; the model learns in the background. The
    page is served on this machine only, at an address with a secret token.
    """
    actions = [name for name in ("export", "compare", "merge") if options[name] is not None]
    if len(actions) > 1:
        raise click.UsageError(f"--{actions[0]} and --{actions[1]} are mutually exclusive")
    if "export" not in actions:
        refuse(options, ("formats", "predicted"), "--to and --predicted need --export")
    if Path(project).is_dir():
        raise click.UsageError(
            f"{one_name(project)} is a folder; the first argument is the project, PROJECT.kwp"
        )
    check_inputs(
        *texts, options["entities"], options["model"], options["types_file"], options["compare"],
        options["merge"],
    )  # fmt: skip
    if not actions:
        need_web()
    if texts:
        opened = _create(project, texts, options)
    else:
        refuse(options, _CREATING, "the project exists already, or TEXT is missing to create it")
        opened = _open(project, read_only=_reads_only(actions, options))
    with opened:
        if actions == ["export"]:
            _export(opened, options, as_json=as_json)
        elif actions == ["compare"]:
            _compare(opened, options["compare"], as_json=as_json)
        elif actions == ["merge"]:
            _merge(opened, options["merge"], as_json=as_json)
        else:
            _serve(opened, options)


def _reads_only(actions: list[str], options: dict[str, Any]) -> bool:
    return bool(options["read_only"] or actions in (["export"], ["compare"]))


def _open(path: str, *, read_only: bool) -> Project:
    from kernelwood.web import Project

    return Project.open(path, read_only=read_only)


def _create(path: str, texts: tuple[str, ...], options: dict[str, Any]) -> Project:
    """Create a project and print what is in it."""
    if Path(path).exists():
        raise click.UsageError(
            f"{path} exists; leave out TEXT to open it, or choose another name for the project"
        )
    check_writable(Path(path))
    from kernelwood import Dictionary
    from kernelwood.web import build_project, read_types

    entities, model, types = options["entities"], options["model"], options["types_file"]
    with usage(), running(bar=False), staged() as progress:
        made = build_project(
            path,
            texts,
            entities=None if entities is None else Dictionary.read(entities, case=options["case"]),
            extractor=None if model is None else load_extractor(model),
            types=() if types is None else read_types(types),
            annotation=False if options["annotation"] == "ignore" else None,
            held_out=options["held_out"] or 0.0,
            parser=options["parser"],
            seed=options["seed"],
            settings={"learn_annotation": options["annotation"] == "learn"},
            progress=progress,
            errors=options["errors"],
            format=options["source_format"],
            only=options["only"],
            limits=reading_limits(options),
            text_field=options["text_field"] or None,
            id_field=options["id_field"],
        )
    facts = made.settings()["building"]
    note(
        f"{one_name(path)}: {counted(facts['n_documents'], 'document')}, "
        f"{counted(facts['n_sentences'], 'sentence')}, "
        f"{counted(facts['n_candidates'], 'candidate')}"
    )
    for name in ("skipped", "dropped"):
        for reason, count in Counter(facts[name]).most_common():
            note(f"  {name}: {count:,} × {one_name(reason)}")
    return made


def _serve(project: Project, options: dict[str, Any]) -> None:
    """Serve the pages until a signal arrives."""
    from kernelwood.web import Session, create_review, run

    author = options["author"] or str(project.settings().get("author", "")) or _user()
    token = token_of(options, always=True)
    session = Session(project, author=author).start()
    try:
        app = create_review(session, token=token, hosts=options["hosts"])

        def report(url: str) -> None:
            address = f"{url}/?token={token}"
            say(f"{one_name(project.path.name)} is open at {address}", err=True)
            note("press Ctrl-C to end")
            if not options["no_browser"]:
                webbrowser.open(address)

        with told_warnings():
            run(
                app,
                host=options["host"],
                port=options["port"],
                report=report,
                stopping=session.stop,
            )
    finally:
        session.close()


def _user() -> str:
    """Return the name of the user, "reviewer" if the system does not tell it."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "reviewer"


def _export(project: Project, options: dict[str, Any], *, as_json: bool) -> None:
    from kernelwood.web import EXPORTS, export

    known = tuple(EXPORTS)
    for name in options["formats"]:
        if name not in known:
            raise click.UsageError(f"--to: unknown export {name!r} ({', '.join(known)})")
    with running(bar=False), staged() as progress:
        written = export(
            project,
            options["export"],
            options["formats"] or None,
            predicted=options["predicted"],
            annotation=bool(project.settings().get("learn_annotation", True)),
            progress=progress,
        )
    if as_json:
        write_json({"folder": options["export"], "files": [str(path) for path in written]})
    else:
        for path in written:
            say(one_name(path))


def _compare(project: Project, other: str, *, as_json: bool) -> None:
    from kernelwood.web import compare

    with _open(other, read_only=True) as second:
        agreement = compare(project, second)
    write_json(agreement.to_dict()) if as_json else _show_agreement(agreement)


def _show_agreement(agreement: Agreement) -> None:
    say(agreement)
    rows = agreement.disagreements
    if rows:
        say(f"\n{counted(len(rows), 'disagreement')}")
        show_table(
            ["document", "first", "second", "here", "there"],
            [[one.document, one.first, one.second, one.label, one.other] for one in rows[:_SHOWN]],
        )
        if len(rows) > _SHOWN:
            note(f"{len(rows) - _SHOWN:,} more; --json lists all")


def _merge(project: Project, other: str, *, as_json: bool) -> None:
    from kernelwood.web import merge

    with _open(other, read_only=True) as second:
        merged = merge(project, second)
    if as_json:
        write_json(merged.to_dict())
    else:
        say(merged)
