"""Files of facts: what is written is read by the programs it is for."""

from __future__ import annotations

import io
import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from itertools import pairwise

import duckdb
import jsonschema
import networkx as nx
import pandas as pd
import polars as pl
import pytest
from fact_samples import event, facts_of, mention, pair, predicted
from hypothesis import given, strategies as st

from kernelwood.errors import KernelwoodError, MissingPackageError, StructureError
from kernelwood.relations import FACT_FORMATS, FactEntity, Facts, fact_format
from kernelwood.relations.fact_files import FACT_COLUMNS, _different_names, fact_row
from kernelwood.relations.fact_statements import STATEMENTS, statement_type

ACTIVATES = {"kind": "activates", "relation": "activates(e1,e2)"}
FACTS = facts_of(
    pair("Raf-1", "Ras", references=("UniProt:P04049", "UniProt:P01112"), document="10213"),
    pair("Raf-1", "Ras", references=("UniProt:P04049", "UniProt:P01112"), document="PMC77"),
    pair("Mek", "Erk", **ACTIVATES),
    event("catalyst", "participant", kind="Phosphorylation"),
    event("participant", kind="Gene_expression", probability=0.7),
)
# Names that hurt: quotes, tabs, markup, formulas, separators, other scripts.
NAMES = [
    'a "b"',
    "x\ty",
    "<&>",
    "=1+1",
    "a;b",
    "c,d",
    "β-catenin",
    "鳥\n",
    "'",
    "\\",
    "a // c",
    "e) f(",
]
ODD = facts_of(*(pair(one, two, kind=two) for one, two in pairwise(NAMES)))
ALL = pytest.mark.parametrize("facts", [FACTS, ODD, Facts()], ids=["usual", "odd", "none"])


def written(facts, format, **options):
    out = io.StringIO()
    facts.write(out, format, **options)
    return out.getvalue()


# Which format.


@pytest.mark.parametrize("name", FACT_FORMATS)
def test_every_suffix_stands_for_its_format(name):
    assert fact_format(f"Facts{FACT_FORMATS[name].suffix.upper()}") == name


def test_an_unknown_suffix_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown format of 'x\.doc'; .* \.tsv, \.json"):
        FACTS.write("x.doc")


def test_an_unknown_format_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match="unknown format of facts 'xml'; choose one of tsv, json"):
        FACTS.write(io.StringIO(), "xml")


def test_types_are_refused_where_they_have_no_meaning():
    with pytest.raises(ValueError, match="types= is for the formats indra and bel, not for tsv"):
        FACTS.write(io.StringIO(), "tsv", types={})


@pytest.mark.parametrize("name", [name for name in FACT_FORMATS if name != "neo4j"])
def test_a_file_is_the_same_each_time(name, tmp_path):
    path = tmp_path / f"facts{FACT_FORMATS[name].suffix}"
    FACTS.write(path)
    before = path.read_bytes()
    FACTS.write(path)
    assert path.read_bytes() == before


# Tables.


def test_the_table_has_one_line_for_each_fact():
    lines = written(FACTS, "tsv").splitlines()
    assert len(lines) == len(FACTS) + 1
    row = dict(zip(FACT_COLUMNS, lines[1].split("\t"), strict=True))
    assert row["first"] == "Raf-1"
    assert row["documents"] == "10213;PMC77"
    assert (row["directed"], row["count"], row["first_id"]) == ("no", "2", "UniProt:P04049")


@ALL
def test_duckdb_reads_the_table(facts, tmp_path):
    facts.write(tmp_path / "facts.tsv")
    found = duckdb.sql(
        f"select first, combined from read_csv('{tmp_path / 'facts.tsv'}', delim='\t', quote='\"', "
        "escape='\"', header=true, all_varchar=true)"
    ).fetchall()
    plain = [
        (fact.first.name.replace("\t", " ").replace("\n", " "), fact.combined) for fact in facts
    ]
    assert [(name, float(combined)) for name, combined in found] == plain


@ALL
def test_data_frames_have_the_columns_of_the_table(facts):
    pandas, polars = facts.to_pandas(), facts.to_polars()
    assert list(pandas.columns) == polars.columns == list(FACT_COLUMNS)
    assert [list(row) for row in polars.rows()] == [fact_row(fact) for fact in facts]
    assert pandas["first"].tolist() == [fact.first.name for fact in facts]
    assert [pandas[name].dtype.name for name in ("directed", "count", "combined")] == [
        "bool", "int64", "float64",
    ]  # fmt: skip
    assert polars.schema["directed"] == pl.Boolean
    assert polars.schema["combined"] == pl.Float64


def test_pandas_reads_the_table_as_it_gives_it():
    read = pd.read_csv(
        io.StringIO(written(FACTS, "tsv")), sep="\t", true_values=["yes"], false_values=["no"]
    )
    expected = FACTS.to_pandas()
    pd.testing.assert_frame_equal(read, expected, check_dtype=False)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    message = (
        r"to_polars needs the package polars; install it with: pip install 'kernelwood\[polars"
    )
    with pytest.raises(MissingPackageError, match=message):
        FACTS.to_polars()


def test_a_missing_package_is_an_error_of_the_library_and_of_imports():
    assert issubclass(MissingPackageError, KernelwoodError)
    assert issubclass(MissingPackageError, ImportError)
    assert str(MissingPackageError("figures need it")) == "figures need it"


@ALL
def test_json_has_all_facts(facts):
    whole = json.loads(written(facts, "json"))
    lines = [json.loads(line) for line in written(facts, "jsonl").splitlines()]
    assert whole == {"by": "text", "facts": lines}
    assert lines == [fact.to_dict() for fact in facts]


# Networks.


@ALL
def test_networkx_reads_graphml(facts):
    graph = nx.read_graphml(io.BytesIO(written(facts, "graphml").encode()))
    assert graph.number_of_nodes() == len(facts.entities)
    edges = [fact for fact in facts if fact.second]
    assert graph.number_of_edges() == len(edges)
    arrange = tuple if graph.is_directed() else lambda ends: tuple(sorted(ends))
    found = [
        (arrange([graph.nodes[one]["name"], graph.nodes[two]["name"]]), data["interaction"])
        for one, two, data in graph.edges(data=True)
    ]
    names = _different_names(facts.entities)
    expected = [
        (arrange([names[one] for one in fact.entities]), re.sub(r"\s", " ", fact.type))
        for fact in edges
    ]
    assert sorted(found) == sorted(expected)


def test_graphml_has_directions_and_events():
    graph = nx.read_graphml(io.BytesIO(written(FACTS, "graphml").encode()))
    assert graph.is_directed()
    directed = {d["interaction"]: d["directed"] for _, _, d in graph.edges(data=True)}
    assert directed == {"binds": False, "activates": True, "Phosphorylation": True}
    assert nx.get_node_attributes(graph, "events").popitem()[1] == "Gene_expression (1)"


def test_parallel_facts_are_parallel_edges():
    graph = nx.read_graphml(
        io.BytesIO(written(facts_of(pair(), pair(kind="sees")), "graphml").encode())
    )
    assert graph.number_of_edges() == 2


@ALL
def test_sif_has_three_columns_or_one(facts):
    names = list(_different_names(facts.entities).values())
    seen = set()
    for line in written(facts, "sif").splitlines():
        cells = line.split("\t")
        assert len(cells) in (1, 3)
        seen |= {cells[0], cells[-1]}
    assert seen == set(names)


def test_an_entity_without_partner_is_a_lone_node():
    assert written(facts_of(event("participant")), "sif") == "Raf\n"


def check_cx2(aspects):
    """Check the rules of the CX2 specification."""
    types = {"string": str, "integer": int, "double": float, "boolean": bool}
    assert aspects[0] == {"CXVersion": "2.0", "hasFragments": False}
    assert aspects[-1] == {"status": [{"success": True}]}
    assert all(len(aspect) == 1 for aspect in aspects[1:])
    (meta,) = aspects[1].values()
    body = {name: elements for aspect in aspects[2:-1] for name, elements in aspect.items()}
    assert {one["name"]: one["elementCount"] for one in meta} == {
        name: len(elements) for name, elements in body.items()
    }
    assert next(iter(body)) == "attributeDeclarations"
    (declared,) = body["attributeDeclarations"]
    nodes, edges = body.get("nodes", []), body.get("edges", [])
    ids = [node["id"] for node in nodes]
    assert len(set(ids)) == len(ids)
    assert len({edge["id"] for edge in edges}) == len(edges)
    assert all(edge["s"] in ids and edge["t"] in ids for edge in edges)
    for name, elements in (("nodes", nodes), ("edges", edges)):
        for element in elements:
            for key, value in element["v"].items():
                kind = declared[name][key]["d"]
                if kind.startswith("list_of_"):
                    assert all(type(item) is types[kind[8:]] for item in value)
                else:
                    assert type(value) is types[kind]
    (network,) = body["networkAttributes"]
    assert network.keys() <= declared["networkAttributes"].keys()
    return nodes, edges


@ALL
def test_cx2_follows_its_specification(facts):
    nodes, edges = check_cx2(json.loads(written(facts, "cx2")))
    assert len(nodes) == len(facts.entities)
    assert len(edges) == sum(fact.second is not None for fact in facts)


@ALL
def test_duckdb_joins_the_files_of_neo4j(facts, tmp_path):
    facts.write(tmp_path / "graph.neo4j")
    options = "delim=',', quote='\"', escape='\"', header=true, all_varchar=true"
    nodes, edges = (
        f"read_csv('{tmp_path / 'graph.neo4j' / name}.csv', {options})"
        for name in ("nodes", "relationships")
    )
    found = duckdb.sql(
        f'select a."name:string", e.":TYPE", b."name:string" from {edges} e join {nodes} a '
        f'on e.":START_ID" = a."id:ID" join {nodes} b on e.":END_ID" = b."id:ID"'
    ).fetchall()
    names = _different_names(facts.entities)
    expected = [
        (names[fact.first], re.sub(r"\s", " ", fact.type), names[fact.second])
        for fact in facts
        if fact.second
    ]
    assert sorted(found) == sorted(expected)


def test_a_folder_is_not_overwritten_and_not_streamed(tmp_path):
    (tmp_path / "a.neo4j").mkdir()
    (tmp_path / "a.neo4j" / "kept").touch()
    with pytest.raises(FileExistsError):
        FACTS.write(tmp_path / "a.neo4j")
    with pytest.raises(ValueError, match="the format neo4j has several files; name a folder"):
        FACTS.write(io.StringIO(), "neo4j")


def test_lists_of_neo4j_have_no_separator_in_their_elements(tmp_path):
    facts_of(pair(document="a;b"), pair(document="c")).write(tmp_path / "x.neo4j")
    assert "a,b;c" in (tmp_path / "x.neo4j" / "relationships.csv").read_text()


def test_names_of_nodes_differ():
    entities = [
        FactEntity("Raf", "protein"),
        FactEntity("Raf", "drug"),
        FactEntity("Raf", "drug", "X:1"),
        FactEntity("Raf (protein)", "gene"),
        FactEntity("", "gene"),
    ]
    names = _different_names(entities)
    assert len(set(names.values())) == len(entities)
    assert all(name.strip() for name in names.values())


# Statements of INDRA.


def indra_schema():
    try:
        files = distribution("indra").files or []
    except PackageNotFoundError:
        pytest.skip("the package indra, whose JSON schema is used, is not installed")
    (schema,) = (file for file in files if file.name == "statements_schema.json")
    return json.loads(schema.locate().read_text(encoding="utf-8"))


def test_statements_are_valid_by_the_schema_of_indra():
    made = json.loads(written(FACTS, "indra"))
    jsonschema.validate(made, indra_schema())
    assert sorted(one["type"] for one in made) == [
        "Activation", "Complex", "IncreaseAmount", "Phosphorylation",
    ]  # fmt: skip


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("facts", [FACTS[2:3], facts_of(event("participant"))], ids=["two", "one"])
def test_every_type_of_statement_is_valid_by_the_schema_of_indra(statement, facts):
    made = json.loads(written(facts, "indra", types={facts[0].type: statement}))
    jsonschema.validate(made, indra_schema())
    assert made[0]["type"] == statement
    (branch,) = (  # the schema accepts a statement of any branch, so check the right one
        name
        for name, one in indra_schema()["definitions"].items()
        for part in one.get("allOf", [])
        if re.match(part.get("properties", {}).get("type", {}).get("pattern", "$"), statement)
    )
    schema = indra_schema() | {"items": {"$ref": f"#/definitions/{branch}"}}
    jsonschema.validate(made, schema)


def test_a_statement_has_evidence_and_belief():
    made = {one["type"]: one for one in json.loads(written(FACTS, "indra"))}
    bound = made["Complex"]
    assert bound["belief"] == FACTS[0].combined
    assert [agent["db_refs"] for agent in bound["members"]] == [
        {"TEXT": "Raf-1", "UP": "P04049"}, {"TEXT": "Ras", "UP": "P01112"},
    ]  # fmt: skip
    first, second = bound["evidence"]
    assert (first["pmid"], second["text_refs"]) == ("10213", {"PMCID": "PMC77"})
    assert first["annotations"]["agents"]["coords"] == [[0, 5], [10, 13]]
    assert made["IncreaseAmount"].keys() & {"subj", "obj"} == {"obj"}
    assert made["Phosphorylation"]["enz"]["name"] == "Raf"


def test_the_id_of_a_statement_depends_on_the_fact_only():
    first, second = (
        json.loads(written(facts_of(pair(probability=p, document=name)), "indra"))[0]["id"]
        for p, name in ((0.6, "a"), (0.7, "b"))
    )
    assert first == second
    assert first != json.loads(written(facts_of(pair("Mek")), "indra"))[0]["id"]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("CHEBI:1", {"CHEBI": "CHEBI:1"}),
        ("NCBI_Gene:7", {"NCBI_GENE": "7"}),
        ("ncbigene:7", {"EGID": "7"}),
        ("HGNC:6407", {"HGNC": "6407"}),
        ("12", {}),
    ],
)
def test_references_have_the_names_of_indra(reference, expected):
    facts = facts_of(pair(references=(reference, "")))
    (agent, _) = json.loads(written(facts, "indra"))[0]["members"]
    assert agent["db_refs"] == {"TEXT": "Raf", **expected}


def test_facts_without_statement_type_are_named():
    treats = facts_of(pair(kind="treats"))
    with pytest.raises(
        StructureError, match="1 of 1 facts cannot be INDRA Statements: 1 of type 't"
    ):
        written(treats, "indra")
    assert len(json.loads(written(treats, "indra", types={"treats": "Complex"}))) == 1
    with pytest.warns(UserWarning, match="1 of 2 facts cannot be INDRA Statements"):
        made = written(facts_of(pair(), pair(kind="treats")), "indra")
    assert len(json.loads(made)) == 1


def test_a_fact_without_direction_does_not_become_a_directed_statement():
    with pytest.raises(StructureError, match="'activates', which has no direction"):
        written(facts_of(pair(kind="activates")), "indra")


def test_an_unknown_statement_type_is_refused():
    for format in ("indra", "bel"):
        with pytest.raises(ValueError, match="'Cure', given for 'treats', is not a type of"):
            written(FACTS, format, types={"treats": "Cure"})


@pytest.mark.parametrize(
    ("relation", "statement"),
    [
        ("binds", "Complex"),
        ("Binding", "Complex"),
        ("Activation", "Activation"),
        ("ACTIVATOR", "Activation"),
        ("Positive_regulation", "Activation"),
        ("inhibits", "Inhibition"),
        ("Negative_regulation", "Inhibition"),
        ("Gene_expression", "IncreaseAmount"),
        ("Transcription", "IncreaseAmount"),
        ("Protein_catabolism", "DecreaseAmount"),
        ("phosphorylates", "Phosphorylation"),
        ("Dephosphorylation", "Dephosphorylation"),
        ("ubiquitinates", "Ubiquitination"),
        ("Localization", "Translocation"),
        ("binder_of_books", None),
        ("interacts", None),
        ("relation", None),
        ("", None),
    ],
)
def test_statement_types_follow_from_names(relation, statement):
    assert statement_type(relation) == statement


# BEL.

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_TERM = rf"(?:p|r|a|path|bp)\([A-Za-z0-9]+:{_QUOTED}(?:, pmod\([A-Za-z]+\))?\)"
_OBJECT = rf"(?:act\({_TERM}\)|{_TERM})"
BEL_LINES = [
    re.compile(pattern)
    for pattern in (
        rf"SET DOCUMENT (?:Name|Version|Description|Authors|ContactInfo) = {_QUOTED}",
        rf"DEFINE (?:NAMESPACE|ANNOTATION) [A-Za-z0-9]+ AS PATTERN {_QUOTED}",
        rf'SET Citation = {{"(?:PubMed|Other)", {_QUOTED}, {_QUOTED}}}',
        rf"SET (?:Evidence|RelationType|Probability) = {_QUOTED}",
        rf"{_TERM} (?:increases|decreases|association|regulates) {_OBJECT}",
        rf"complex\({_TERM}, {_TERM}\)",
        _OBJECT,
    )
]


def bel_statements(text):
    """Return the statements of a script, each line of which follows the grammar."""
    lines = [line for line in text.splitlines() if line]
    for line in lines:
        assert any(pattern.fullmatch(line) for pattern in BEL_LINES), line
        assert " //" not in line
    defined = {line.split()[2] for line in lines if line.startswith("DEFINE NAMESPACE")}
    made = [line for line in lines if not line.startswith(("SET", "DEFINE"))]
    used = {name for line in made for name in re.findall(r'([A-Za-z0-9]+):"', line)}
    assert used <= defined
    return made


@ALL
def test_scripts_follow_the_grammar_of_bel(facts):
    assert len(bel_statements(written(facts, "bel"))) == sum(len(one.sentences) for one in facts)


def test_statements_of_bel():
    assert list(dict.fromkeys(bel_statements(written(FACTS, "bel")))) == [
        'complex(p(UniProt:"P04049"), p(UniProt:"P01112"))',
        'p(TEXT:"Mek") increases act(p(TEXT:"Erk"))',
        'p(TEXT:"Raf") increases p(UniProt:"P01112", pmod(Ph))',
        'p(TEXT:"Raf")',
    ]


def test_unknown_relations_of_bel_are_associations():
    drug = mention("Raf", kind="drug"), mention("pain", 10, role="second", kind="disease")
    treats = facts_of(predicted(*drug, kind="treats"))
    assert bel_statements(written(treats, "bel")) == ['path(TEXT:"pain") association a(TEXT:"Raf")']
    assert 'SET RelationType = "treats"' in written(treats, "bel")


_words = st.text(min_size=1, max_size=8)


@given(_words, _words, st.text(max_size=8), st.text(max_size=8))
def test_any_names_can_be_written(first, second, kind, reference):
    facts = facts_of(pair(first, second, kind=kind, references=(reference, ""), document=kind))
    bel_statements(written(facts, "bel"))
    check_cx2(json.loads(written(facts, "cx2")))
    nx.read_graphml(io.BytesIO(written(facts, "graphml").encode("utf-8", "replace")))
    assert written(facts, "tsv").count("\n") == 2
    assert written(facts, "sif").count("\n") == 1
