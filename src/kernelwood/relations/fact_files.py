"""Files of facts: tables, networks, and statements of INDRA and BEL.

===============  ==================================================================================
``.tsv``         one fact per line, below a header
``.json``        all facts, with their sentences
``.jsonl``       one fact per line, with its sentences
``.parquet``     one fact per row, with its sentences (extra ``arrow``)
``.sif``         network for Cytoscape: name, type, name
``.cx2``         network for Cytoscape and NDEx, with attributes of nodes and edges
``.graphml``     network for Gephi, yEd, igraph and networkx, with attributes
``.indra.json``  INDRA Statements
``.bel``         BEL script
``.neo4j``       folder with nodes.csv and relationships.csv for ``neo4j-admin database import``
===============  ==================================================================================

A file or folder appears only when it is complete.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from kernelwood.io import Kind, check_parquet, write_folder, write_parquet, write_text
from kernelwood.relations.fact_statements import bel_lines, indra_statements
from kernelwood.relations.facts import Fact, FactEntity, Facts
from kernelwood.relations.frames import separated_lines
from kernelwood.relations.parquet_rows import FACT, fact_values
from kernelwood.structures import encode_json, escape, one_line

FACT_COLUMNS: dict[str, type] = {
    "first": str,
    "first_type": str,
    "first_id": str,
    "type": str,
    "second": str,
    "second_type": str,
    "second_id": str,
    "directed": bool,
    "count": int,
    "n_documents": int,
    "probability": float,
    "combined": float,
    "documents": str,
    "sentence": str,
}
_GRAPHML = "http://graphml.graphdrawing.org/xmlns"
_JOIN = ";"  # of lists in tables, as in Neo4j
# Attributes of edges, with the names of their types in CX2, GraphML and Neo4j.
_EDGE_TYPES = {
    "directed": ("boolean", "boolean", "boolean"),
    "count": ("integer", "int", "int"),
    "n_documents": ("integer", "int", "int"),
    "probability": ("double", "double", "double"),
    "combined": ("double", "double", "double"),
    "documents": ("list_of_string", "string", "string[]"),
    "sentence": ("string", "string", "string"),
}
_NODE_TYPES = {
    "name": ("string", "string", "string"),
    "type": ("string", "string", "string"),
    "reference": ("string", "string", "string"),
    "spellings": ("list_of_string", "string", "string[]"),
    "events": ("list_of_string", "string", "string[]"),
}
_CX2, _XML, _NEO4J = range(3)


def fact_row(fact: Fact) -> list[Any]:
    """Return the values of the columns of a fact.

    Examples
    --------
    >>> fact = Fact(FactEntity("Raf", "protein"), "binds", None, False, 1, ("a", "b"), 0.5, 0.75)
    >>> fact_row(fact)[8:13]
    [1, 2, 0.5, 0.75, 'a;b']
    """
    ends: list[Any] = []
    for entity in (fact.first, fact.second):
        named = None if entity is None else (entity.name, entity.type, entity.reference or None)
        ends.append(named or (None, None, None))
    best = fact.sentences[0].text if fact.sentences else None
    numbers = fact.directed, fact.count, fact.n_documents, fact.probability, fact.combined
    return [*ends[0], fact.type, *ends[1], *numbers, _joined(fact.documents), best]


def _joined(values: Iterable[str]) -> str:
    return _JOIN.join(value.replace(_JOIN, ",") for value in values)


def fact_format(path: str | os.PathLike[str], format: str | None = None) -> str:
    """Return the format of a file of facts.

    Raises
    ------
    ValueError
        If the format is unknown.

    Examples
    --------
    >>> fact_format("facts.indra.json"), fact_format("facts.json.gz"), fact_format("x", "bel")
    ('indra', 'json', 'bel')
    """
    if format is not None:
        if format not in FACT_FORMATS:
            listed = ", ".join(FACT_FORMATS)
            raise ValueError(f"unknown format of facts {format!r}; choose one of {listed}")
        return format
    name = Path(path).name.lower().removesuffix(".gz")
    # The longest suffix first: .indra.json before .json.
    for known, row in sorted(FACT_FORMATS.items(), key=lambda item: -len(item[1].suffix)):
        if name.endswith(row.suffix):
            return known
    listed = ", ".join(row.suffix for row in FACT_FORMATS.values())
    raise ValueError(f"unknown format of {os.fspath(path)!r}; the name must end in one of {listed}")


def write_facts(
    facts: Facts,
    path: str | os.PathLike[str] | IO[str],
    format: str | None = None,
    *,
    types: Mapping[str, str] | None = None,
) -> None:
    """Write facts to a file or folder, completely or not at all; see `Facts.write`."""
    chosen = fact_format(path if isinstance(path, (str, os.PathLike)) else "-", format)
    row = FACT_FORMATS[chosen]
    if types is not None and not row.typed:
        raise ValueError(f"types= is for the formats indra and bel, not for {chosen}")
    options = {"types": types} if row.typed else {}
    made = row.write(facts, **options)
    if row.is_folder:
        if not isinstance(path, (str, os.PathLike)) or path == "-":
            raise ValueError(f"the format {chosen} has several files; name a folder")
        write_folder(path, made)
    elif row.columns is not None:
        write_parquet(check_parquet(path), row.columns, made, content="facts")
    else:
        write_text(path, made)


# Tables and JSON.


def _tsv(facts: Facts) -> Iterator[str]:
    return separated_lines(FACT_COLUMNS, map(fact_row, facts))


def _json(facts: Facts) -> Iterator[str]:
    yield f'{{"by": {encode_json(facts.by)}, "facts": ['
    for place, fact in enumerate(facts):
        yield f"{',' if place else ''}\n{encode_json(fact.to_dict())}"
    yield "\n]}\n"


def _jsonl(facts: Facts) -> Iterator[str]:
    return (f"{encode_json(fact.to_dict())}\n" for fact in facts)


def _parquet(facts: Facts) -> Iterator[tuple[Any, ...]]:
    return map(fact_values, facts)


# Networks.


class _Network(NamedTuple):
    """Facts as a graph.

    Attributes
    ----------
    names : dict of FactEntity to str
        A different name for each entity, in one line.
    events : dict of FactEntity to list of str
        Events of single entities, which are not edges, with their number.
    edges : list of Fact
        Facts with two entities.
    """

    names: dict[FactEntity, str]
    events: dict[FactEntity, list[str]]
    edges: list[Fact]

    @classmethod
    def of(cls, facts: Facts) -> _Network:
        events: dict[FactEntity, list[str]] = {}
        for fact in facts:
            if fact.second is None:
                events.setdefault(fact.first, []).append(f"{fact.type} ({fact.count})")
        return cls(_different_names(facts.entities), events, [one for one in facts if one.second])

    def ends(self, fact: Fact) -> tuple[str, str]:
        first, second = (self.names[entity] for entity in fact.entities)
        return first, second

    def node(self, entity: FactEntity) -> dict[str, Any]:
        """Return the attributes of a node."""
        made: dict[str, Any] = {"name": self.names[entity], "type": entity.type}
        if entity.reference:
            made["reference"] = entity.reference
        made["spellings"] = list(entity.spellings)
        if entity in self.events:
            made["events"] = self.events[entity]
        return made


def _edge(fact: Fact) -> dict[str, Any]:
    """Return the attributes of an edge."""
    made = {name: getattr(fact, name) for name in _EDGE_TYPES if name != "sentence"}
    made["documents"] = list(fact.documents)
    return made | ({"sentence": fact.sentences[0].text} if fact.sentences else {})


def _different_names(entities: Sequence[FactEntity]) -> dict[FactEntity, str]:
    """Return a different name for each entity: with its type or reference if necessary.

    Examples
    --------
    >>> two = [FactEntity("Raf", "protein"), FactEntity("Raf", "drug")]
    >>> list(_different_names(two).values())
    ['Raf (protein)', 'Raf (drug)']
    """
    forms: tuple[Callable[[FactEntity], str], ...] = (
        lambda entity: entity.name,
        lambda entity: f"{entity.name} ({entity.type})",
        lambda entity: f"{entity.name} ({entity.type}, {entity.reference})",
    )
    made: dict[FactEntity, str] = {}
    used: set[str] = set()
    waiting = list(entities)
    for form in forms:
        counted = Counter(one_line(form(entity)) for entity in waiting)
        again = []
        for entity in waiting:
            name = one_line(form(entity))
            if counted[name] == 1 and name.strip() and name not in used:
                made[entity] = name
                used.add(name)
            else:
                again.append(entity)
        waiting = again
    for number, entity in enumerate(waiting, start=1):
        made[entity] = f"{one_line(entity.name)} #{number}"
    return {entity: made[entity] for entity in entities}


def _sif(facts: Facts) -> Iterator[str]:
    network = _Network.of(facts)
    joined: set[FactEntity] = set()
    for fact in network.edges:
        first, second = network.ends(fact)
        joined.update(fact.entities)
        yield f"{first}\t{one_line(fact.type)}\t{second}\n"
    for entity, name in network.names.items():
        if entity not in joined:
            yield f"{name}\n"


def _cx2(facts: Facts) -> Iterator[str]:
    network = _Network.of(facts)
    ids = {entity: number for number, entity in enumerate(network.names)}
    nodes = [{"id": ids[entity], "v": network.node(entity)} for entity in ids]
    edges = [
        {
            "id": number,
            "s": ids[fact.first],
            "t": ids[fact.entities[1]],
            "v": {"interaction": fact.type, **_edge(fact)},
        }
        for number, fact in enumerate(network.edges)
    ]
    edge_types = {"interaction": ("string",), **_EDGE_TYPES}
    declared = {
        "networkAttributes": {"name": {"d": "string"}, "description": {"d": "string"}},
        "nodes": {name: {"d": kinds[_CX2]} for name, kinds in _NODE_TYPES.items()},
        "edges": {name: {"d": kinds[_CX2]} for name, kinds in edge_types.items()},
    }
    about = {
        "name": "Relations",
        "description": f"{len(facts)} facts by {facts.by}, predicted by kernelwood",
    }
    aspects: dict[str, list[Any]] = {
        "attributeDeclarations": [declared],
        "networkAttributes": [about],
        "nodes": nodes,
        "edges": edges,
    }
    present = {name: elements for name, elements in aspects.items() if elements}
    counts = [{"name": name, "elementCount": len(some)} for name, some in present.items()]
    yield '[\n{"CXVersion": "2.0", "hasFragments": false},\n'
    yield f"{encode_json({'metaData': counts})},\n"
    for name, elements in present.items():
        yield f'{{"{name}": [\n'
        for place, element in enumerate(elements):
            yield f"{encode_json(element)}{',' if place + 1 < len(elements) else ''}\n"
        yield "]},\n"
    yield '{"status": [{"success": true}]}\n]\n'


def _graphml(facts: Facts) -> Iterator[str]:
    network = _Network.of(facts)
    default = "directed" if any(fact.directed for fact in network.edges) else "undirected"
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="{_GRAPHML}">\n'
    edge_types = {"interaction": ("string",) * 3, **_EDGE_TYPES}
    for domain, types in (("node", _NODE_TYPES), ("edge", edge_types)):
        for name, kinds in types.items():
            yield (
                f'<key id="{domain}_{name}" for="{domain}" attr.name="{name}" '
                f'attr.type="{kinds[_XML]}"/>\n'
            )
    yield f'<graph edgedefault="{default}">\n'
    ids = {entity: f"n{number}" for number, entity in enumerate(network.names)}
    for entity, name in ids.items():
        yield f'<node id="{name}">{_graphml_data("node", network.node(entity))}</node>\n'
    for number, fact in enumerate(network.edges):
        source, target = (ids[entity] for entity in fact.entities)
        data = _graphml_data("edge", {"interaction": fact.type, **_edge(fact)})
        yield f'<edge id="e{number}" source="{source}" target="{target}">{data}</edge>\n'
    yield "</graph>\n</graphml>\n"


def _graphml_data(domain: str, values: Mapping[str, Any]) -> str:
    return "".join(
        f'<data key="{domain}_{name}">{escape(one_line(_graphml_value(value)))}</data>'
        for name, value in values.items()
    )


def _graphml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _joined(value) if isinstance(value, list) else str(value)


def _neo4j(facts: Facts) -> Iterator[tuple[str, str]]:
    network = _Network.of(facts)
    ids = {entity: f"n{number}" for number, entity in enumerate(network.names)}
    titles = [f"{name}:{kinds[_NEO4J]}" for name, kinds in _NODE_TYPES.items()]
    nodes = (
        [ids[entity], *_neo4j_cells(network.node(entity), _NODE_TYPES), _label(entity.type)]
        for entity in ids
    )
    yield "nodes.csv", "".join(separated_lines(["id:ID", *titles, ":LABEL"], nodes, ","))
    titles = [f"{name}:{kinds[_NEO4J]}" for name, kinds in _EDGE_TYPES.items()]
    edges = (
        [
            *(ids[entity] for entity in fact.entities),
            fact.type or "relation",
            *_neo4j_cells(_edge(fact), _EDGE_TYPES),
        ]
        for fact in network.edges
    )
    header = [":START_ID", ":END_ID", ":TYPE", *titles]
    yield "relationships.csv", "".join(separated_lines(header, edges, ","))


def _label(kind: str) -> str:
    """Return an entity type as the only label of a node."""
    return kind.replace(_JOIN, ",") or "Entity"


def _neo4j_cells(values: Mapping[str, Any], names: Iterable[str]) -> list[Any]:
    return [
        _graphml_value(value) if isinstance(value, (bool, list)) else value
        for value in (values.get(name) for name in names)
    ]


# Statements.


def _indra(facts: Facts, types: Mapping[str, str] | None) -> Iterator[str]:
    statements = indra_statements(facts, types)
    return chain(["["], _listed(statements), ["\n]\n"])


def _listed(objects: Iterable[dict[str, Any]]) -> Iterator[str]:
    for place, made in enumerate(objects):
        yield f"{',' if place else ''}\n{json.dumps(made, ensure_ascii=False)}"


class FactFormat(NamedTuple):
    """A format of files of facts: its suffix, what it is, and its writer."""

    suffix: str
    summary: str
    write: Callable[..., Iterator[Any]]
    typed: bool = False  # whether relation types are mapped to types of the format
    is_folder: bool = False
    columns: Mapping[str, Kind] | None = None  # of a Parquet table, whose rows are written


FACT_FORMATS: dict[str, FactFormat] = {
    "tsv": FactFormat(".tsv", "tab-separated table", _tsv),
    "json": FactFormat(".json", "JSON", _json),
    "jsonl": FactFormat(".jsonl", "JSON lines", _jsonl),
    "parquet": FactFormat(".parquet", "Parquet table", _parquet, columns=FACT),
    "sif": FactFormat(".sif", "simple interaction format (Cytoscape)", _sif),
    "cx2": FactFormat(".cx2", "Cytoscape Exchange 2", _cx2),
    "graphml": FactFormat(".graphml", "GraphML", _graphml),
    "indra": FactFormat(".indra.json", "INDRA Statements", _indra, typed=True),
    "bel": FactFormat(".bel", "BEL script", bel_lines, typed=True),
    "neo4j": FactFormat(".neo4j", "folder of CSV files for Neo4j", _neo4j, is_folder=True),
}
