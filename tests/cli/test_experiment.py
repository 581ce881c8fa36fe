"""Options of commands in a file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st

from kernelwood.cli import main
from kernelwood.cli.commands.crossval import crossval
from kernelwood.cli.commands.evaluate import evaluate
from kernelwood.cli.commands.train import train
from kernelwood.cli.experiment import _parameters, effective, read_settings, write_settings

# The commands as they are, without the work.


def parsed(command, *arguments):
    """Return the context of a command that was called with these arguments."""
    return command.make_context(command.name, [str(one) for one in arguments])


def refused(path, command=train):
    with pytest.raises(click.UsageError) as caught:
        parsed(command, "--config", path)
    return caught.value.format_message()


@pytest.fixture
def config(tmp_path):
    """Write a file of settings."""

    def write(*lines, name="run.toml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


BASE = ('corpus = "in.jsonl"', 'out = "model.kw"')


# What is taken from a file.


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ('recipe = "klsh-rf"', "recipe", "klsh-rf"),
        ("max-distance = 7", "max_distance", 7),
        ("max_distance = 7", "max_distance", 7),
        ("threshold = 0.25", "threshold", 0.25),
        ('threshold = "cautious"', "threshold", "cautious"),
        ('view = ["path", "context"]', "views", ("path", "context")),
        ('view = "path"', "views", ("path",)),
        ('from = "jsonl"', "source_format", "jsonl"),
        ('format = "jsonl"', "source_format", "jsonl"),
        ("n_jobs = 2", "n_jobs", 2),
        ("jobs = -1", "n_jobs", -1),
        ("seed = 5", "seed", 5),
        ("json = true", "as_json", True),
    ],
)
def test_values_have_their_types(config, line, name, value):
    assert parsed(train, "--config", config(*BASE, line)).params[name] == value


@pytest.mark.parametrize(
    ("line", "positive_rate"),
    [("positive_rate = 0.2", 0.2), ('positive_rate = "trained"', "trained")],
)
def test_a_positive_rate_is_a_number_or_a_word(config, line, positive_rate):
    path = config('model = "m.kw"', 'test = "t.jsonl"', line)
    assert parsed(evaluate, "--config", path).params["positive_rate"] == positive_rate


def test_settings_of_what_learns_are_a_list(config):
    context = parsed(train, "--config", config(*BASE, 'option = ["C=10", "tol=0.01"]'))
    assert context.params["settings"] == ("C=10", "tol=0.01")


def test_the_command_line_beats_the_file(config):
    path = config(*BASE, "seed = 5", 'view = ["path"]')
    params = parsed(train, "--config", path, "--seed", 6, "--view", "context").params
    assert (params["seed"], params["views"]) == (6, ("context",))


def test_the_command_line_beats_the_file_in_either_order(config):
    path = config(*BASE, "seed = 5")
    assert parsed(train, "--seed", 6, "--config", path).params["seed"] == 6


def test_corpora_of_the_command_line_beat_those_of_the_file(config):
    params = parsed(train, "other.xml", "--config", config(*BASE)).params
    assert params["corpus"] == ("other.xml",)


def test_what_no_one_says_has_its_default(config):
    assert parsed(train, "--config", config(*BASE)).params["recipe"] == "svm"


@pytest.mark.parametrize("key", ["corpus", "out", "vectors", "kernel"])
def test_paths_are_meant_from_the_folder_of_the_file(config, tmp_path, key):
    path = config(*BASE, 'vectors = "words.txt"', 'kernel = "k.kw"', name="runs/run.toml")
    value = parsed(train, "--config", path).params[key]
    [found] = value if isinstance(value, tuple) else [value]
    assert found.startswith(str(tmp_path / "runs"))


def test_paths_of_the_command_line_are_meant_from_here(config):
    path = config(*BASE, name="runs/run.toml")
    assert parsed(train, "--config", path, "-o", "here.kw").params["out"] == "here.kw"


def test_whole_paths_stay_what_they_are(config, tmp_path):
    path = config(BASE[1], f"corpus = '{tmp_path / 'in.jsonl'}'", name="runs/run.toml")
    assert parsed(train, "--config", path).params["corpus"] == (str(tmp_path / "in.jsonl"),)


def test_standard_input_has_no_folder(config):
    path = config(BASE[1], 'corpus = "-"', name="runs/run.toml")
    assert parsed(train, "--config", path).params["corpus"] == ("-",)


def test_one_file_serves_all_commands(config, tmp_path):
    path = config(*BASE, 'model = "model.kw"', 'test = "test.jsonl"', "folds = 3", 'recipe = "svm"')
    assert parsed(train, "--config", path).params["out"] == str(tmp_path / "model.kw")
    assert parsed(crossval, "--config", path).params["folds"] == 3
    assert parsed(evaluate, "--config", path).params["test"] == (str(tmp_path / "test.jsonl"),)


def test_a_model_is_not_evaluated_on_the_corpus_it_learned_from(config):
    with pytest.raises(click.MissingParameter):
        parsed(evaluate, "--config", config(*BASE, 'model = "model.kw"'))


def test_a_mark_of_the_byte_order_is_passed_over(tmp_path):
    (tmp_path / "run.toml").write_text("\ufeffout = 'm.kw'\ncorpus = 'c'\n", encoding="utf-8")
    assert parsed(train, "--config", tmp_path / "run.toml").params["out"].endswith("m.kw")


# What is refused.


def test_an_unknown_key_is_told_with_its_line_and_the_nearest(config):
    path = config("# first", *BASE, "", "recipy = 'svm'")
    told = refused(path)
    assert told.startswith(f"{path}:5: unknown option 'recipy'")
    assert "did you mean 'recipe'?" in told


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('seed = "five"', "seed must be an integer"),
        ("seed = 1.0", "seed must be an integer"),
        ("seed = true", "seed must be an integer"),
        ("recipe = 3", "recipe must be a string in quotes"),
        ("view = [1]", "view must be a string or a list of strings"),
        ("threshold = true", "threshold must be a string or a number"),
        ('json = "yes"', "json must be true or false"),
        ("seed = 1979-05-27", "seed must be an integer"),
    ],
)
def test_wrong_types_are_told(config, line, message):
    assert f":3: {message}" in refused(config(*BASE, line))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("seed = -1", "-1 is not in the range"),
        ("splits = 1", "1 is not in the range"),
        ('recipe = "magic"', "klsh-rf"),
        ("threshold = 1.5", "not a number between 0 and 1"),
    ],
)
def test_wrong_values_are_told_with_their_line(config, line, message):
    told = refused(config(*BASE, line))
    assert ":3: " in told and message in told


def test_wrong_values_for_another_command_are_told_as_well(config):
    path = config('model = "m.kw"', 'test = "t"', "splits = 1")
    assert ":3: splits" in refused(path, evaluate)


def test_sections_are_refused(config):
    assert ":3: sections are not allowed" in refused(config(*BASE, "[learner]", "seed = 1"))


def test_the_same_option_under_two_names_is_refused(config):
    assert "jobs is given twice" in refused(config(*BASE, "n-jobs = 1", "jobs = 2"))


@pytest.mark.parametrize("key", ["config", "save-config"])
def test_a_file_names_no_other_files_of_settings(config, key):
    assert "command line only" in refused(config(*BASE, f'{key} = "other.toml"'))


def run(*arguments):
    return CliRunner().invoke(main, [str(one) for one in arguments])


def test_broken_toml_is_told_with_its_place(config):
    path = config("corpus = 'in'", "out = ")
    result = run("train", "--config", path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"{path}:2:" in result.stderr


def test_toml_that_is_nested_too_deeply_is_told(config):
    result = run("train", "--config", config(f"out = {'[' * 20_000}"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nested too deeply" in result.stderr


def test_a_missing_file_is_told(tmp_path):
    result = run("train", "--config", tmp_path / "nix.toml")
    assert result.exit_code == 1
    assert "nix.toml" in result.stderr


def test_a_file_that_is_no_text_is_told(tmp_path):
    (tmp_path / "run.toml").write_bytes(b"out = '\xff\xfe'")
    result = run("train", "--config", tmp_path / "run.toml")
    assert result.exit_code == 1
    assert "UTF-8" in result.stderr


def test_an_unknown_key_is_wrong_usage(config):
    assert run("train", "--config", config(*BASE, "nix = 1")).exit_code == 2


# What is written.


def test_the_settings_of_a_run_repeat_it(tmp_path):
    options = ("--view", "path", "--threshold", "0.5", "--seed", 9, "--license", 'a "b"\n')
    first = parsed(train, tmp_path / "in.jsonl", "-o", tmp_path / "m.kw", *options)
    write_settings(str(tmp_path / "run.toml"), effective(first))
    again = parsed(train, "--config", tmp_path / "run.toml")
    differing = {name for name in first.params if first.params[name] != again.params[name]}
    assert differing == {"config"}


def test_zero_is_a_setting():
    settings = effective(parsed(train, "in", "-o", "m.kw", "--max-distance", 0, "--seed", 0))
    assert (settings["max-distance"], settings["seed"]) == (0, 0)


def test_paths_are_written_as_seen_from_the_file(tmp_path):
    (tmp_path / "runs").mkdir()
    settings = {"corpus": [str(tmp_path / "in.jsonl"), "-"], "out": str(tmp_path / "m.kw")}
    write_settings(str(tmp_path / "runs" / "run.toml"), settings)
    text = (tmp_path / "runs" / "run.toml").read_text()
    assert read_settings(text, "run.toml") == {"corpus": ["../in.jsonl", "-"], "out": "../m.kw"}


def test_what_changes_no_result_is_not_written(tmp_path):
    options = ("--n-jobs", 2, "--json", "--save-config", tmp_path / "run.toml")
    settings = effective(parsed(train, "in", "-o", "m.kw", *options))
    assert not {"jobs", "n-jobs", "json", "save-config", "config"} & set(settings)


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_any_text_and_number_survives(text, number):
    settings = {"license": text, "threshold": number, "view": [text]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.toml")
        write_settings(str(path), settings)
        assert read_settings(path.read_text(encoding="utf-8"), str(path)) == settings


def test_names_mean_the_same_in_all_commands():
    kinds = {}
    for command in (train, crossval, evaluate):
        for name, param in _parameters(command).items():
            kinds.setdefault(name, set()).add((param.name, repr(param.type)))
    assert {name: kind for name, kind in kinds.items() if len(kind) > 1} == {}
