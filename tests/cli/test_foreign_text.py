"""Control characters of file names, ids, texts and labels never reach the terminal."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
import threading
import warnings
from functools import partial

import click
import pytest
from cli.interactions import some_documents
from cli.running import invoke
from click.testing import CliRunner
from processes import start_python
from rich.console import Console

import kernelwood as kw
from kernelwood.cli import app, console, main
from kernelwood.cli.app import COMMANDS
from kernelwood.errors import KernelInputError, ModelFormatError, ReadError, printable
from kernelwood.relations import RelationExtractor

# Every character below 32 but NUL, which neither names of files nor arguments can hold; DEL and the
# control characters of Latin-1; changes of direction; line separators; format characters that
# cannot be seen, some of them deprecated; a title of the terminal; a colored word.
BELOW_32 = "".join(map(chr, range(1, 32)))
C1 = "".join(map(chr, range(0x7F, 0xA0)))
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
HIDDEN = "\u2028\u2029\xad\u180e\u200b\u200c\u200d\u2060\u2064\u206a\u206f\ufeff\ufff9\U000e0041"
OSC = "\x1b]0;owned\x07\x1b[31mred\x9b0m"
FOREIGN = f"a{BELOW_32}{C1}{BIDI}{HIDDEN}{OSC}"
RAW = {*BELOW_32, *C1, *BIDI, *HIDDEN, "\0"} - {"\n"}
UNDECODABLE = "a\udcff\udc80"  # the bytes FF and 80 in the name of a file

posix = pytest.mark.skipif(sys.platform == "win32", reason="names of files are those of POSIX")


def clean(result, *, forged="owned\n", lines=False):
    """Return all that a command has printed, which must not have a control character.

    Unless the text of several ``lines`` was printed as it is, a line feed in a foreign text must
    not begin a line, apart from indented ones.
    """
    printed = result.stdout + result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert not RAW & set(printed)
    assert FOREIGN not in printed and forged not in printed
    assert lines or not any(line.startswith(r"\x0b") for line in printed.split("\n"))
    return printed


def test_all_control_characters_are_escaped():
    shown = printable("\0" + FOREIGN, lines=False)
    assert shown.isprintable()
    assert shown.startswith(r"\x00a\x01\x02") and r"\x1b]0;owned\x07\x1b[31mred\x9b0m" in shown


def test_line_feeds_stay_in_messages_of_several_lines():
    assert printable("a\n\tb") == "a\n\\tb"


# Errors of the library, which may be printed without the command line.


def test_messages_of_the_library_are_clean_but_their_parts_are_not():
    error = ReadError(
        f"odd {FOREIGN}", path=FOREIGN, line=1, column=3, snippet=FOREIGN, hint=FOREIGN
    )
    assert not RAW & set(str(error)) and not RAW & set(repr(error))
    assert str(error).splitlines()[0].startswith(r"a\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b")
    assert (error.path, error.snippet) == (FOREIGN, FOREIGN)


def test_the_caret_stands_below_its_character():
    shown = str(ReadError("odd", path="p", line=1, column=4, snippet="ab\x1bcd"))
    _, snippet, caret = shown.splitlines()
    assert snippet[caret.index("^")] == "c"


def test_names_in_messages_about_models_are_one_line():
    error = ModelFormatError("bad", path="a\nb.kw", member="x\x1b", hint="y")
    assert str(error) == "a\\nb.kw: x\\x1b: bad\n    y"


# Errors of commands.


# All but the command that creates the folder it is given.
READING = [name for name in COMMANDS if name != "sample"]


@posix
@pytest.mark.parametrize("command", READING)
def test_names_of_missing_files_are_escaped(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments in ([FOREIGN], [FOREIGN, FOREIGN], [FOREIGN, "-o", "out.kw"], [f"--{FOREIGN}"]):
        result = invoke(command, *arguments)
        assert result.exit_code != 0
        clean(result, forged="red\n")


@posix
@pytest.mark.parametrize("command", ["convert", "train", "predict", "search", "terms", "embed"])
def test_options_with_wrong_values_are_escaped(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for option in ("--from", "--to", "--view", "--kernel", "--only", "--seed", "--errors"):
        clean(invoke(command, "in.mrg", option, FOREIGN, "out.jsonl"), forged="red\n")


BROKEN = {
    "in.mrg": "(S (NP {}) (VP go)\n",
    "in.jsonl": '{{"id": "{}", "views": {{\n',
    "in.conllu": "{}\ta\n\n",
    "in.amr": "(a / b {}\n",
    "in.srl": "0\t{}\tN\t*)\t-\t-\n",
    "in.klp": "{} |BT:t| (a |ET|\n",
    "in.pubtator": "1|t|{0}\n1\t0\t1\tx\t{0}\t-\n",
    "a-learning-format.xml": "<corpus><{0}></corpus>",
    "in.bioc.xml": "<collection>{0}<document></collection>",
    "in.csv": 'id,text\n1,"{}\n',
}


@posix
@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("errors", ["raise", "skip"])
def test_snippets_of_broken_records_are_escaped(name, errors, tmp_path):
    text = BROKEN[name].format(FOREIGN.replace("\n", "").replace("\r", ""))
    folder = tmp_path / FOREIGN
    folder.mkdir()
    (folder / name).write_text(text, encoding="utf-8", newline="")
    result = invoke("convert", folder / name, tmp_path / "out.jsonl", "--errors", errors)
    assert clean(result)


@posix
def test_names_in_folders_are_escaped(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / f"{FOREIGN}.mrg").write_text("(S (NP we) (VP go)\n")
    (folder / "good.mrg").write_text("(S (NP we) (VP go))\n")
    (folder / f"{FOREIGN}.odd").write_text("x")
    result = invoke("convert", folder, tmp_path / "out.jsonl", "--errors", "skip")
    shown = clean(result, forged="red.odd\n")
    assert r"1 file not read: a\x01" in shown and r"\n\x0b" in shown


@pytest.fixture
def command(monkeypatch):
    """Run a command that does something else."""

    def run(work, *options):
        made = click.Command("doctor", callback=work)
        monkeypatch.setattr(app.Commands, "get_command", lambda *_: app._with_shared_options(made))
        return CliRunner().invoke(main, [*options, "doctor"])

    return run


def fail(failure):
    raise failure


@pytest.mark.parametrize(
    "failure",
    [
        KernelInputError(FOREIGN),
        ReadError(FOREIGN, path=FOREIGN),
        OSError(2, "missing", FOREIGN),
        click.ClickException(FOREIGN),
        click.UsageError(FOREIGN),
        click.BadParameter(FOREIGN),
        click.FileError(FOREIGN, "cannot be opened"),
        click.NoSuchOption(FOREIGN),
    ],
    ids=lambda failure: type(failure).__name__,
)
@pytest.mark.parametrize("options", [[], ["-vv"]])
def test_every_kind_of_error_is_escaped(command, failure, options):
    result = command(partial(fail, failure), *options)
    assert result.exit_code != 0
    assert r"\x1b]0;owned\x07" in clean(result, lines=bool(options))  # with a traceback


def test_warnings_stages_and_logs_are_escaped(command):
    def work():
        with console.running() as begin:
            begin(FOREIGN)
            warnings.warn(FOREIGN, UserWarning, stacklevel=1)
            logging.getLogger("kernelwood.relations").info("reading %s", FOREIGN)
        console.note(FOREIGN)
        console.say(FOREIGN)

    assert clean(command(work, "-v"), lines=True).count(r"\x1b]0;owned") >= 5


def test_logs_without_a_handler_are_escaped(command, monkeypatch):
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # those of pytest

    def work():
        try:
            fail(ValueError(FOREIGN))
        except ValueError:
            logging.getLogger("uvicorn.odd").exception("a request of %s failed", FOREIGN)

    shown = clean(command(work), lines=True)
    assert shown.count("owned") >= 2 and "Traceback" in shown
    assert logging.lastResort.formatter is None


def test_warnings_outside_of_the_work_are_escaped(command):
    def work():
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            sys.stderr.write(warnings.formatwarning(UserWarning(FOREIGN), UserWarning, "a", 1, ""))

    assert "owned" in clean(command(work), lines=True)


def test_failures_of_threads_are_escaped(command, monkeypatch):
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)

    def work():
        thread = threading.Thread(target=fail, args=[ValueError(FOREIGN)])
        thread.start()
        thread.join()

    assert "owned" in clean(command(work), lines=True)


def test_tracebacks_of_unexpected_errors_are_escaped():
    program = (
        "import click\n"
        "from kernelwood.cli import app, main\n"
        "def fail(): raise RuntimeError('a\\x1b]0;owned\\x07')\n"
        "made = click.Command('doctor', callback=fail)\n"
        "app.Commands.get_command = lambda *_: made\n"
        "main(['doctor'])\n"
    )
    process = start_python("-c", program, stderr=subprocess.PIPE, text=True)
    _, shown = process.communicate(timeout=60)
    assert process.returncode == 1
    assert shown.count("Traceback") == 1 and r"RuntimeError: a\x1b]0;owned\x07" in shown
    assert "\x1b" not in shown


# Results of commands.


def foreign_documents(n_documents=8):
    """Return documents whose ids, texts and relation types have control characters."""
    made = []
    for example in some_documents(n_documents, kind=f"binds{FOREIGN}"):
        sentence = example.views["sentence"]
        made.append(kw.Example(f"{example.id}{FOREIGN}", views={"sentence": sentence}))
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("foreign")


@pytest.fixture(scope="module")
def corpus(folder):
    kw.write(foreign_documents(), folder / f"{FOREIGN}.jsonl")
    return folder / f"{FOREIGN}.jsonl"


@pytest.fixture(scope="module")
def model(folder):
    extractor = RelationExtractor(random_state=0).fit(foreign_documents())
    kw.save(extractor, folder / f"{FOREIGN}.kw")
    return folder / f"{FOREIGN}.kw"


@pytest.fixture(scope="module")
def plan(folder, model, corpus):
    made = folder / f"{FOREIGN}.work"
    assert invoke("shards", "plan", made, "predict", model, corpus).exit_code == 0
    assert invoke("shards", "run", made).exit_code == 0
    return made


# Command -> arguments that print foreign text: names, ids, labels, types and texts. MODEL, CORPUS,
# PLAN and TEXTS are files with foreign names and content, OUT is a foreign name without suffix.
WORDS = ("--view", "words")
ROWS = {
    "adapt": [["MODEL", "CORPUS", "--write-labels", "OUT.tsv"], ["MODEL", "CORPUS"]],
    "cluster": [["CORPUS", *WORDS, "--clusters", "2"]],
    "completion": [["OUT"]],
    "convert": [["CORPUS", "OUT.jsonl"], ["CORPUS", "OUT.conllu", "-v"], ["CORPUS", "OUT.odd"]],
    "crossval": [["CORPUS", "--folds", "2"]],
    "demo": [["-o", "OUT/OUT.html"]],
    "doctor": [["OUT.toml"], ["BROKEN.toml"]],
    "embed": [["CORPUS", *WORDS, "--landmarks", "3", "-o", "OUT.npz"]],
    "evaluate": [["MODEL", "CORPUS", "--errors-out", "OUT.jsonl"]],
    "explain": [["MODEL", "CORPUS", "ID"], ["MODEL", "CORPUS", "OUT"]],
    "extract": [["MODEL", "CORPUS", "--all"], ["MODEL", "TEXTS", "--entities", "TERMS"]],
    "inspect": [["MODEL"], ["CORPUS"]],
    "learn-gates": [["CORPUS", "--candidates", "pairs", "--view", "path", "--passes", "1",
                     "--trials", "1", "--checkpoint", "OUT.gates", "-v"]],
    "predict": [["MODEL", "CORPUS"], ["MODEL", "CORPUS", "-o", "OUT.jsonl", "--resume"],
                ["MODEL", "CORPUS", "-o", "OUT.html"], ["MODEL", "CORPUS", "--evidence", "1"]],
    "review": [["OUT.kwp", "TEXTS", "--entities", "TERMS", "--export", "OUT",
                "--to", "facts.tsv"],
               ["OUT-2.kwp", "CORPUS", "--export", "OUT-2"]],
    "sample": [["OUT"], ["CORPUS"]],
    "search": [["CORPUS", "--id", "ID", *WORDS], ["CORPUS", "--id", "OUT", *WORDS]],
    "serve": [["OUT=CORPUS"], ["CORPUS"]],
    "shards": [["status", "PLAN"], ["verify", "PLAN"], ["collect", "PLAN", "OUT.jsonl"],
               ["plan", "OUT.plan", "predict", "MODEL", "CORPUS"], ["run", "PLAN"],
               ["plan", "PLAN", "predict", "MODEL", "TEXTS"], ["status", "OUT"], ["OUT"]],
    "terms": [["CORPUS"], ["CORPUS", "-o", "OUT.tsv"]],
    "train": [["CORPUS", "-o", "OUT.kw"], ["CORPUS", "-o", "OUT/OUT.kw"]],
    "vectors": [["TEXTS", "-o", "OUT.npz", "--min-count", "1", "--dim", "2", "-v"]],
    "verify": [["MODEL", "CLAIMS", "-o", "OUT.jsonl"], ["MODEL", "CORPUS"]],
}  # fmt: skip
FAILING = ("completion", "demo", "doctor", "serve")  # commands that print nothing foreign, or serve


def test_every_command_has_a_row():
    assert set(ROWS) == set(COMMANDS)


@posix
@pytest.mark.parametrize("json_too", [False, True], ids=["", "json"])
@pytest.mark.parametrize("command", ROWS)
def test_results_and_errors_are_escaped(command, json_too, model, corpus, plan, tmp_path):
    printable_text = "".join(one for one in FOREIGN if one not in "\n\r")
    (tmp_path / "OUT.toml").write_text("", encoding="utf-8")
    out = tmp_path / FOREIGN
    (tmp_path / f"{FOREIGN}.txt").write_text(f"Raf binds Ras {BIDI}{C1}.", encoding="utf-8")
    (tmp_path / "terms").write_text("Raf\tprotein\nRas\tprotein\n")
    (tmp_path / "broken.toml").write_text(f"a = {printable_text}", encoding="utf-8")
    named = [{"id": name, "start": start, "end": start + 3, "type": "protein"}
             for name, start in (("e1", 0), ("e2", 10))]  # fmt: skip
    relation = {"type": f"binds{FOREIGN}", "first": "e1", "second": "e2"}
    text = f"Raf binds Ras. {FOREIGN}"
    claim = {"id": FOREIGN, "text": text, "entities": named, "relation": relation}
    (tmp_path / "claims").write_text(json.dumps(claim) + "\n")
    names = {"MODEL": model, "CORPUS": corpus, "PLAN": plan, "TEXTS": tmp_path / f"{FOREIGN}.txt",
             "ID": f"d0.s0{FOREIGN}", "TERMS": tmp_path / "terms", "CLAIMS": tmp_path / "claims",
             "BROKEN.toml": tmp_path / "broken.toml"}  # fmt: skip
    worked, told = 0, []
    for row in ROWS[command]:
        arguments = [names.get(one, one.replace("OUT", str(out))) for one in row]
        if json_too and "OUT" not in row[:1]:
            arguments.append("--json")
        result = invoke(command, *arguments, stdin="y\n" * 10)
        clean(result, forged="red\n")
        worked += result.exit_code == 0
        told.append(result.stderr)
        if "--json" in arguments and result.exit_code == 0 and command != "vectors":
            assert json.loads(result.stdout), row
    assert worked or command in FAILING, told


@posix
@pytest.mark.parametrize("command", READING)
def test_names_that_are_not_text_are_printed(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for encoding in ("utf-8", "ascii"):
        for arguments in ([UNDECODABLE], [UNDECODABLE, UNDECODABLE], [f"--{UNDECODABLE}"]):
            runner = CliRunner(charset=encoding)
            result = runner.invoke(main, [command, *arguments])
            assert isinstance(result.exception, SystemExit), result.exception
            assert "\udcff" not in result.stderr and "\ufffd" not in result.stderr


@posix
def test_what_a_terminal_shows_is_escaped(model, corpus, monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr(
        "rich.console.Console", partial(Console, file=written, force_terminal=True, width=80)
    )
    for arguments in (["predict", model, corpus], ["explain", model, corpus, f"d0.s0{FOREIGN}"]):
        assert invoke(*arguments).exit_code == 0
    shown = written.getvalue()
    assert (RAW - {"\x1b"}).isdisjoint(shown)
    assert "\x1b[31mred" not in shown and "\x1b]" not in shown
    assert "\x1b[" in shown  # the colors of the command itself


def test_progress_bars_are_escaped(monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr("kernelwood.cli.console._is_terminal", lambda stream: True)
    monkeypatch.setattr(
        "rich.console.Console", partial(Console, file=written, force_terminal=True, width=200)
    )
    with console.running() as begin:
        begin(f"{OSC} [bold]")
    shown = written.getvalue()
    assert "\x1b]" not in shown and "\x07" not in shown
    assert "bold" in shown  # not taken for markup


def test_json_escapes_and_reads_back(capsys):
    console.write_json({FOREIGN: FOREIGN})
    shown = capsys.readouterr().out
    assert not RAW & set(shown)
    assert json.loads(shown) == {FOREIGN: FOREIGN}
