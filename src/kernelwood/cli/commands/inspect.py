"""``kernelwood inspect``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import VERBOSE, counted, note, say, show_table, verbosity, write_json
from kernelwood.cli.options import json_option
from kernelwood.cli.outputs import check_inputs
from kernelwood.structures import one_line, shorten

if TYPE_CHECKING:
    from kernelwood.persist import Entry, Manifest

_SHOWN = 50  # parts in the table
_WIDTH = 80  # of a value in the table
_FITTED = "fitted-"  # prefix of learned attributes
_EXTRACTOR = "relation-extractor"
_INDENT = 13  # columns of the titles of a card
_MEASURES = {
    "f1": "F1",
    "auc": "AUC",
    "average_precision": "average precision",
    "calibration_error": "calibration error",
}
_NONE, _RELATION, _EVENT = "none", "relation", "event"  # classes without a relation type


@click.command()
@click.argument("model")
@click.option("--parts", is_flag=True, help="List all parts with sizes and parameters.")
@json_option
def inspect(model: str, parts: bool, as_json: bool) -> None:
    """Show the contents of a model file.

    MODEL is any file of kernelwood train or kw.save: an extractor, kernel, parser, index and so
    on. Nothing in it is executed. All checksums are verified. The output for an extractor is
    its model card; --parts or --verbose adds the parts of its kernel and their parameters.
    """
    check_inputs(model)
    from kernelwood.persist import contents

    result = _result(model, contents(model))
    if as_json:
        write_json(result)
    else:
        _show(result, parts=parts or "card" not in result or verbosity() >= VERBOSE)


def _result(path: str, manifest: Manifest) -> dict[str, Any]:
    *inner, entry = manifest.entries
    result = {
        "file": path,
        "kind": entry.kind,
        "model": entry.name,
        "kernelwood": manifest.version,
        "size": Path(path).stat().st_size,
        "parameters": _parameters(entry),
        "contents": _sizes(entry, manifest),
        "parts": [
            {
                "number": number,
                "kind": part.kind,
                "name": part.name,
                "parameters": _parameters(part),
                "contents": _sizes(part, manifest),
            }
            for number, part in enumerate(inner)
        ],
    }
    if entry.name == _EXTRACTOR:
        from kernelwood import load
        from kernelwood.relations import card_of

        # The card is made by this version; the file may be older.
        result["card"] = {**card_of(load(path)), "version": manifest.version}
    return result


def _parameters(entry: Entry) -> dict[str, Any]:
    """Return the parameters and learned attributes of a part, except texts and arrays."""
    named = {name.removeprefix(_FITTED): value for name, value in entry.parameters.items()}
    elsewhere = {*entry.texts, *entry.arrays}
    return {name: _plain(value) for name, value in named.items() if name not in elsewhere}


def _sizes(entry: Entry, manifest: Manifest) -> dict[str, int]:
    """Return the sizes of the texts and arrays of a part, in bytes."""
    texts = {name: manifest.members[entry.text(name)].size for name in entry.texts}
    arrays = {name: manifest.members[entry.array(name)].size for name in entry.arrays}
    return {**texts, **arrays}


def _plain(value: Any) -> Any:
    """Return a parameter without the type tags of the file format.

    Examples
    --------
    >>> _plain({"kind": "tuple", "values": [1, {"kind": "part", "number": 3}]})
    [1, 'part 3']
    """
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("kind")
    if kind == "mapping":
        return {name: _plain(one) for name, one in value["values"].items()}
    if kind in ("tuple", "pairs"):
        return _plain(value["values"])
    if kind == "part":
        return f"part {value['number']}"
    if kind == "array":
        return f"array {value['name']}"
    return value.get("value", value.get("name"))


def _show(result: dict[str, Any], *, parts: bool) -> None:
    from kernelwood.compute import format_bytes

    title = f"{result['model']} ({result['kind']})"
    size = format_bytes(result["size"])
    say(_line(f"{title}, saved by kernelwood {result['kernelwood']}, {size}") + "\n")
    if "card" in result:
        for name, text in _card_rows(result["card"]):
            say(f"{name:<{_INDENT}}{text}".rstrip())
        if not parts:
            note(f"\n{counted(len(result['parts']), 'part')}; --parts lists them")
            return
        say()
    elif result["parameters"]:
        rows = [[_line(name), _value(value)] for name, value in result["parameters"].items()]
        show_table(["property", "value"], rows)
        say()
    _show_sizes(result)


def _card_rows(card: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the rows of a model card: a title, and a sentence or list."""
    from kernelwood.relations import ARROWS, is_directed, relation_name

    for name in ("description", "license"):
        if card[name]:
            yield name, one_line(card[name])
    directions = [relation_name(name) for name in card["classes"] if name != _NONE]
    yield "relations", one_line(", ".join(card["relations"]))
    if set(directions) - {*card["relations"], _RELATION, _EVENT}:
        yield "classes", one_line(", ".join(directions))
        if any(map(is_directed, card["classes"])):
            yield "", ARROWS
    kind = "pairs of entities" if card["candidates"] == "pairs" else "triggers with participants"
    yield "candidates", kind
    named = {"document": "documents", "sentence": "sentences"}
    named |= {"candidate": "training_candidates", "relation": "training_relations"}
    yield "trained on", ", ".join(counted(card[key], noun) for noun, key in named.items())
    if known := _measured(card["held_out"]):
        yield "accuracy", f"on held-out documents: {known}"
    yield "threshold", f"{card['threshold']:.3f}"
    for number, (name, examples) in enumerate(card["type_examples"].items()):
        f1 = card["type_f1"].get(name)
        text = f"{relation_name(name)}: {counted(examples, 'example')}"
        text += "" if f1 is None else f", F1 {f1:.3f}"
        yield "" if number else "by type", one_line(text)
    yield "entities", one_line(_entities(card["entities"]))
    yield "recipe", one_line(f"{card['recipe']} ({card['learner']})")
    yield "views", one_line(", ".join(card["views"]))
    yield "parser", one_line(card["parser"])
    for name in ("choices", "warnings"):
        for number, text in enumerate(card[name]):
            yield "" if number else name, one_line(text)
    yield "seed", str(card["seed"])


def _measured(scores: dict[str, float | None]) -> str:
    """Return scores with their names.

    Examples
    --------
    >>> _measured({"f1": 0.5, "auc": None})
    'F1 0.500'
    """
    known = {_MEASURES.get(name, name): value for name, value in scores.items()}
    return ", ".join(f"{name} {value:.3f}" for name, value in known.items() if value is not None)


def _entities(found: dict[str, Any]) -> str:
    """Return how entities of new texts are found, and how well."""
    known = _measured(found.get("held_out", {}))
    text = f"of new texts: {found['found_by']}"
    text += f" of {', '.join(found['types'])}" if "types" in found else ""
    return f"{text}; on held-out documents: {known}" if known else text


def _show_sizes(result: dict[str, Any]) -> None:
    from kernelwood.compute import format_bytes

    parts = result["parts"]
    rows = [
        [
            str(part["number"]),
            _line(f"{part['name']} ({part['kind']})"),
            format_bytes(sum(part["contents"].values())) if part["contents"] else "",
            _value(part["parameters"]),
        ]
        for part in parts[:_SHOWN]
    ]
    rows += [["", _line(name), format_bytes(size), ""] for name, size in result["contents"].items()]
    if rows:
        show_table([">part", "name", ">size", "parameters"], rows)
    if len(parts) > _SHOWN:
        say(f"and {counted(len(parts) - _SHOWN, 'more part')}")


def _value(value: Any) -> str:
    """Return a value as the text of a table cell.

    Examples
    --------
    >>> _value({"f1": 2 / 3, "auc": None}), _value(["a", "b"])
    ('f1 0.6667, auc none', 'a, b')
    """
    if isinstance(value, dict):
        return _line(", ".join(f"{name} {_value(one)}" for name, one in value.items()))
    if isinstance(value, list):
        return _line(", ".join(map(_value, value)))
    if isinstance(value, float):
        return f"{value:.4g}"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return _line(str(value))


def _line(text: str) -> str:
    return shorten(one_line(text), _WIDTH)
