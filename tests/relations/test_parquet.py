"""Predictions and facts as Parquet tables."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from functools import cache

import duckdb
import pandas as pd
import polars as pl
import pytest
from fact_samples import event, facts_of, pair
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.errors import KernelInputError, ReadError
from kernelwood.io import join_parquet
from kernelwood.relations import (
    Case,
    CaseFragment,
    DocumentPredictions,
    Evidence,
    Facts,
    MarkedText,
    Participant,
    write_predictions,
)

parquet = pytest.importorskip("pyarrow.parquet")

SENTENCE = kw.Sentence("Raf binds Ras.")
CASE = Case(
    "d1.p0",
    "binds",
    0.75,
    0.5,
    MarkedText("Sos binds Grb", ((0, 3), (10, 13)), ((4, 9),), ((4, 9),)),
    MarkedText("Raf binds Ras.", ((0, 3), (10, 13)), (), ((4, 9),)),
    (("binds", "word"),),
    lambda: (CaseFragment("(V binds)", "tree", 0.25), CaseFragment("鳥", "path", 0.0)),
)
EVIDENCE = Evidence((CASE,), (replace(CASE, id="d2.p1", contribution=-0.25),), 0.5, 0.0, 0.25)
NONE = Evidence()


def one_document(*predictions, evidence=None, name="d1"):
    return DocumentPredictions(name, SENTENCE, predictions, evidence)


@cache
def bundled():
    """Return all predictions for some bundled sentences, with evidence."""
    extractor = kw.RelationExtractor(random_state=0).fit(load_interactions("train"))
    examples = load_interactions("test")[:40]
    found = list(extractor.predict(examples, all=True))
    evidence = extractor.explain(found[:12], 2)
    return found, evidence


# The same content as JSON lines.


def without_missing(value):
    """Return a value of a table without the parts that JSON leaves out."""
    if isinstance(value, list):
        return [without_missing(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"start", "end"}:
        return [value["start"], value["end"]]
    return {name: without_missing(one) for name, one in value.items() if one is not None}


def as_json(row):
    """Return a row of a table of predictions as the object of a JSON line."""
    made = without_missing(row)
    made["probabilities"] = {one["name"]: one["probability"] for one in row["probabilities"]}
    return made


def in_both(documents, folder, *, evidence=False):
    """Write predictions as JSON lines and as a table; return the objects of both."""
    out = io.StringIO()
    write_predictions(documents, out, format="jsonl")
    write_predictions(documents, folder / "a.parquet", evidence=evidence)
    rows = parquet.read_table(folder / "a.parquet").to_pylist()
    return [json.loads(line) for line in out.getvalue().split("\n")[:-1]], rows


def test_bundled_predictions_are_those_of_json_lines(tmp_path):
    found, _ = bundled()
    lines, rows = in_both([one_document(*found)], tmp_path)
    assert len(rows) == len(found) > 50
    assert list(map(as_json, rows)) == lines


def test_bundled_evidence_is_that_of_json_lines(tmp_path):
    found, evidence = bundled()
    documents = [one_document(*found[:12], evidence=evidence)]
    lines, rows = in_both(documents, tmp_path, evidence=True)
    assert any(case["fragments"] for row in rows for case in row["evidence"]["cases"])
    assert list(map(as_json, rows)) == lines


def test_events_are_those_of_json_lines(tmp_path):
    events = event("catalyst", "participant", "participant"), event("participant")
    lines, rows = in_both([one_document(*events)], tmp_path)
    assert rows[0]["trigger"]["text"] == "binds" and len(rows[0]["participants"]) == 3
    assert list(map(as_json, rows)) == lines


def test_evidence_of_events_is_that_of_json_lines(tmp_path):
    documents = [one_document(event("catalyst", "participant"), pair(), evidence=[EVIDENCE, NONE])]
    lines, rows = in_both(documents, tmp_path, evidence=True)
    first = rows[0]["evidence"]["cases"][0]
    assert first["trigger"] == [{"start": 4, "end": 9}]
    assert first["shared"]["words"] == ["binds"]
    assert rows[1]["evidence"]["cases"] == []
    assert list(map(as_json, rows)) == lines


NAMES = st.text(st.characters(codec="utf-8"), max_size=5)


@given(
    texts=st.lists(st.tuples(NAMES, NAMES, NAMES, NAMES), max_size=4),
    label=st.none() | NAMES,
    probabilities=st.dictionaries(NAMES, st.floats(0, 1)),
)
def test_any_texts_are_those_of_json_lines(tmp_path_factory, texts, label, probabilities):
    found = [
        replace(
            pair(document=a, kind=b),
            text=c,
            participants=(
                Participant(a, b, c, d, ((0, 1), (2, 3)), a),
                Participant(d, c, b, a, ()),
            ),
            label=label,
            probabilities=probabilities,
        )
        for a, b, c, d in texts
    ]
    lines, rows = in_both([one_document(*found)], tmp_path_factory.mktemp("random"))
    assert list(map(as_json, rows)) == lines


@pytest.mark.parametrize("evidence", [False, True])
def test_no_predictions_are_a_table_with_all_columns(tmp_path, evidence):
    for documents in [], [one_document()]:
        lines, rows = in_both(documents, tmp_path, evidence=evidence)
        assert lines == rows == []
        columns = parquet.read_schema(tmp_path / "a.parquet").names
        assert columns[:3] == ["document", "id", "type"]
        assert ("evidence" in columns) == evidence


def test_evidence_needs_its_column(tmp_path):
    documents = [one_document(pair(), evidence=[EVIDENCE])]
    with pytest.raises(KernelInputError, match="predictions of 'd1' have evidence"):
        write_predictions(documents, tmp_path / "a.parquet")
    assert not (tmp_path / "a.parquet").exists()


def test_predictions_without_evidence_have_none_in_its_column(tmp_path):
    write_predictions([one_document(pair())], tmp_path / "a.parquet", evidence=True)
    [row] = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert row["evidence"] is None


def test_a_stream_is_refused():
    for out in io.StringIO(), "-":
        with pytest.raises(KernelInputError, match="cannot be written to a stream"):
            write_predictions([], out, format="parquet")


# Bytes.


def test_parts_of_a_run_are_joined_to_its_file(tmp_path):
    found, _ = bundled()
    write_predictions([one_document(*found)], tmp_path / "whole.parquet")
    parts = []
    for number, some in enumerate((found[:1], [], found[1:30], found[30:])):
        parts.append(tmp_path / f"{number}.parquet")
        write_predictions([one_document(*some)], parts[-1])
    join_parquet(parts, tmp_path / "joined.parquet")
    assert (tmp_path / "joined.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_tables_with_and_without_evidence_are_not_joined(tmp_path):
    for name, evidence in ("a", False), ("b", True):
        write_predictions(
            [one_document(pair())], tmp_path / name, format="parquet", evidence=evidence
        )
    with pytest.raises(ReadError, match="the columns are not those of"):
        join_parquet([tmp_path / "a", tmp_path / "b"], tmp_path / "c.parquet")


# Other packages.


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "found.parquet"
    write_predictions([one_document(*bundled()[0])], path)
    return path


def test_duckdb_asks_for_participants(table):
    found = duckdb.sql(
        f"""
        select document, type, participants[1].text, participants[2].text, p.name
        from '{table}', (select unnest(probabilities) as p)
        where positive and probability > 0.6 and p.name = 'none' order by document, id
        """
    ).fetchall()
    expected = sorted(
        (one.document, one.id, one.type, *(each.text for each in one.participants))
        for one in bundled()[0]
        if one.positive and one.probability > 0.6
    )
    assert found == [(name, *rest, "none") for name, _, *rest in expected] != []


def test_duckdb_counts_entities(table):
    found = duckdb.sql(
        f"select p.text, count(*) from (select unnest(participants) p from '{table}') group by all"
    ).fetchall()
    texts = [each.text for one in bundled()[0] for each in one.participants]
    assert dict(found) == {text: texts.count(text) for text in texts}


def test_pandas_reads_it(table):
    frame, found = pd.read_parquet(table), bundled()[0]
    assert frame["positive"].tolist() == [one.positive for one in found]
    assert frame["probability"].tolist() == [one.probability for one in found]
    assert [p[0]["text"] for p in frame["participants"]] == [o.participants[0].text for o in found]


def test_polars_reads_it(table):
    found = bundled()[0]
    frame = pl.scan_parquet(table).select("id", "participants", "sentence").collect()
    ends = frame["participants"].explode().struct.field("text")
    assert ends.to_list() == [each.text for one in found for each in one.participants]
    assert frame["sentence"].struct.field("end").to_list() == [one.sentence[1] for one in found]


# Facts.

FACTS = facts_of(
    pair("Raf-1", "Ræs", references=("UniProt:P04049", ""), document="10213"),
    pair("Raf-1", "Ræs", references=("UniProt:P04049", ""), document="PMC77"),
    pair("Mek", "Erk", kind="activates", relation="activates(e1,e2)"),
    event("catalyst", "participant", kind="Phosphorylation"),
    event("participant", kind="Gene_expression", probability=0.7),
)


@pytest.mark.parametrize("facts", [FACTS, Facts()], ids=["some", "none"])
def test_facts_are_those_of_json_lines(facts, tmp_path):
    facts.write(tmp_path / "facts.parquet")
    rows = parquet.read_table(tmp_path / "facts.parquet").to_pylist()
    second = [{"second": None} | without_missing(row) for row in rows]
    assert second == [fact.to_dict() for fact in facts]


def test_duckdb_reads_facts(tmp_path):
    FACTS.write(tmp_path / "facts.parquet")
    query = f"select first.name, second.name, documents from '{tmp_path}/facts.parquet' limit 1"
    assert duckdb.sql(query).fetchall() == [("Raf-1", "Ræs", ["10213", "PMC77"])]


def test_facts_are_not_written_to_a_stream():
    with pytest.raises(KernelInputError, match="cannot be written to a stream"):
        FACTS.write(io.StringIO(), "parquet")
