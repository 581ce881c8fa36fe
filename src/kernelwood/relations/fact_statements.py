"""Facts as statements of INDRA and of the Biological Expression Language (BEL).

Relation types are mapped to types of INDRA Statements by their names: *binds*, *Binding* ->
Complex; *activates* -> Activation; *phosphorylates* -> Phosphorylation; and so on. A mapping given
by the user comes first.
"""

from __future__ import annotations

import re
import uuid
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kernelwood.errors import StructureError
from kernelwood.relations.facts import Fact, FactEntity, Facts, FactSentence
from kernelwood.structures import encode_json, one_line, shorten

# INDRA modification -> its BEL abbreviation; with the prefix De-, the modification is removed.
_MODIFICATIONS = {
    "Phosphorylation": "Ph",
    "Ubiquitination": "Ub",
    "Sumoylation": "Sumo",
    "Hydroxylation": "Hy",
    "Acetylation": "Ac",
    "Glycosylation": "Glyco",
    "Farnesylation": "Farn",
    "Geranylgeranylation": "Gerger",
    "Palmitoylation": "Palm",
    "Myristoylation": "Myr",
    "Ribosylation": "ADPRib",
    "Methylation": "Me",
}
_REMOVALS = {f"De{name.lower()}": short for name, short in _MODIFICATIONS.items()}
_REGULATIONS = ("Activation", "Inhibition", "IncreaseAmount", "DecreaseAmount")
STATEMENTS = (
    *("Complex", *_REGULATIONS, "Translocation", "Influence"),
    *_MODIFICATIONS,
    *_REMOVALS,
)
# Words of relation types, without endings -> Statement.
_STEMS = {
    "bind": "Complex",
    "complex": "Complex",
    "activat": "Activation",
    "stimulat": "Activation",
    "positiveregulat": "Activation",
    "inhibit": "Inhibition",
    "negativeregulat": "Inhibition",
    "upregulat": "IncreaseAmount",
    "geneexpress": "IncreaseAmount",
    "express": "IncreaseAmount",
    "transcri": "IncreaseAmount",
    "downregulat": "DecreaseAmount",
    "degrad": "DecreaseAmount",
    "proteincatabolism": "DecreaseAmount",
    "localiz": "Translocation",
    "translocat": "Translocation",
    **{re.sub("ion$", "", name.lower()): name for name in (*_MODIFICATIONS, *_REMOVALS)},
}
_ENDINGS = re.compile("(?:s|e|es|ed|ing|ion|ation|or|er|be|bes|bed|bing|ption)?")
# Names of databases, without signs -> those of INDRA.
_DATABASES = {
    "uniprot": "UP",
    "uniprotkb": "UP",
    "entrez": "EGID",
    "entrezgene": "EGID",
    "ncbigene": "EGID",
    "geneid": "EGID",
    "pubchemcompound": "PUBCHEM",
    "ncbitaxonomy": "TAXONOMY",
    "ncbitaxon": "TAXONOMY",
    "taxid": "TAXONOMY",
}
_WITH_PREFIX = ("CHEBI", "GO", "DOID", "HP", "EFO", "PR")  # whose ids repeat the prefix
_PUBMED = re.compile(r"(?:(?:pmid|pubmed)[:_ -]?(\d{1,8})|(\d{5,8}))", re.IGNORECASE)
_CENTRAL = re.compile(r"(?:pmcid[:_ -]?)?(PMC\d{1,9})", re.IGNORECASE)
# BEL functions by words in the entity type; other entities are abundances.
_FUNCTIONS = {
    "rna": "r",
    "transcript": "r",
    "protein": "p",
    "gene": "p",
    "disease": "path",
    "disorder": "path",
    "phenotype": "path",
    "process": "bp",
    "pathway": "bp",
}
_NAMES = "TEXT"  # the BEL namespace of entities without a reference
_SOURCE = "kernelwood"


def statement_type(relation: str, types: Mapping[str, str] | None = None) -> str | None:
    """Return the type of INDRA Statement for a relation type; None if it is not known.

    Examples
    --------
    >>> statement_type("Binding"), statement_type("phosphorylates"), statement_type("treats")
    ('Complex', 'Phosphorylation', None)
    >>> statement_type("treats", {"treats": "Inhibition"})
    'Inhibition'
    """
    if types is not None and relation in types:
        return types[relation]
    word = re.sub(r"[\W_]+", "", relation).lower()
    found = [stem for stem in _STEMS if word.startswith(stem)]
    for stem in sorted(found, key=len, reverse=True):
        if _ENDINGS.fullmatch(word, len(stem)):
            return _STEMS[stem]
    return None


def check_statement_types(types: Mapping[str, str] | None) -> None:
    """Raise ValueError if a type that relation types are mapped to is unknown."""
    for relation, statement in (types or {}).items():
        if statement not in STATEMENTS:
            raise ValueError(
                f"{statement!r}, given for {relation!r}, is not a type of statement; choose one "
                f"of {', '.join(STATEMENTS)}"
            )


# INDRA.


def indra_statements(facts: Facts, types: Mapping[str, str] | None) -> list[dict[str, Any]]:
    """Return facts as INDRA Statements.

    The belief of a statement is the combined probability of the fact. A fact is left out, with a
    warning, if its relation type is not known, or if it has no direction and its statement needs
    one.

    Raises
    ------
    StructureError
        If all facts would be left out.
    """
    check_statement_types(types)
    made: list[dict[str, Any]] = []
    missing: Counter[str] = Counter()
    for fact in facts:
        kind = statement_type(fact.type, types)
        if kind is None:
            missing[f"of type {shorten(repr(fact.type))}, which needs a statement type"] += 1
        elif kind != "Complex" and fact.second is not None and not fact.directed:
            missing[f"of type {shorten(repr(fact.type))}, which has no direction"] += 1
        else:
            made.append(_statement(fact, kind))
    if missing:
        listed = "; ".join(f"{n} {reason}" for reason, n in missing.most_common(5))
        said = (
            f"{missing.total()} of {len(facts)} facts cannot be INDRA Statements: {listed}; "
            "give types={'relation type': 'statement type'}, or --facts-type on the command line"
        )
        if not made:
            raise StructureError(said)
        warnings.warn(said, stacklevel=2)
    return made


def _statement(fact: Fact, kind: str) -> dict[str, Any]:
    # The same for the same fact of another corpus or model.
    name = _uuid([kind, fact.type, [entity[:3] for entity in fact.entities]])
    agents = [_agent(entity) for entity in fact.entities]
    return {
        "type": kind,
        **_arguments(kind, agents, name),
        "belief": fact.combined,
        "evidence": [_evidence(fact, sentence) for sentence in fact.sentences],
        "id": name,
    }


def _arguments(kind: str, agents: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """Return the participants of a statement; an event of one entity happens to the object."""
    if kind == "Complex":
        return {"members": agents}
    if kind == "Translocation":
        return {"agent": agents[-1]}
    if kind == "Influence":
        agents = [
            {"type": "Event", "id": _uuid([name, place]), "concept": one, "delta": None}
            for place, one in enumerate(agents)
        ]
    is_modification = kind in _MODIFICATIONS or kind in _REMOVALS
    names = ("enz", "sub") if is_modification else ("subj", "obj")
    made: dict[str, Any] = dict(zip(names[-len(agents) :], agents, strict=True))
    return made | ({"obj_activity": "activity"} if kind in ("Activation", "Inhibition") else {})


def _agent(entity: FactEntity) -> dict[str, Any]:
    references = {"TEXT": entity.name}
    database, colon, number = entity.reference.partition(":")
    if colon and database and number:
        key = re.sub(r"\W+", "", database)
        known = _DATABASES.get(key.lower(), key.upper())
        references[known] = f"{known}:{number}" if known in _WITH_PREFIX else number
    return {"name": entity.name or "?", "db_refs": references}


def _evidence(fact: Fact, sentence: FactSentence) -> dict[str, Any]:
    marked = [spans for spans in (sentence.first, sentence.second) if spans]
    shift = sentence.sentence[0]
    made: dict[str, Any] = {
        "source_api": _SOURCE,
        "source_id": f"{sentence.document}:{sentence.id}",
        "text": sentence.text,
        "annotations": {
            "agents": {
                "raw_text": [_words(sentence, spans) for spans in marked],
                "coords": [[spans[0][0] - shift, spans[-1][1] - shift] for spans in marked],
            },
            "document": sentence.document,
            "probability": sentence.probability,
            "relation": fact.type,
        },
        "epistemics": {},
        "text_refs": {},
    }
    database, number = citation_of(sentence.document)
    if database == "PubMed":
        made["pmid"] = made["text_refs"]["PMID"] = number
    elif database == "PMC":
        made["text_refs"]["PMCID"] = number
    return made


def _words(sentence: FactSentence, spans: Iterable[tuple[int, int]]) -> str:
    shift = sentence.sentence[0]
    return " ".join(sentence.text[start - shift : end - shift] for start, end in spans)


def citation_of(document: str) -> tuple[str, str]:
    """Return the database and number of a document, or ``"Other"`` and its id.

    A plain number is taken for a PubMed id if it has at least five digits.

    Examples
    --------
    >>> citation_of("PMID:9"), citation_of("10213"), citation_of("pmc12"), citation_of("7")
    (('PubMed', '9'), ('PubMed', '10213'), ('PMC', 'PMC12'), ('Other', '7'))
    """
    if found := _PUBMED.fullmatch(document):
        return "PubMed", found[1] or found[2]
    if found := _CENTRAL.fullmatch(document):
        return "PMC", found[1].upper()
    return "Other", document


def _uuid(value: Any) -> str:
    """Return an id that depends on the value only."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{_SOURCE} {encode_json(value)}"))


# BEL.


def bel_lines(facts: Facts, types: Mapping[str, str] | None) -> Iterator[str]:
    """Yield the lines of a BEL script.

    Relations of other types than those of `statement_type`, and those without direction, are
    associations; the annotation *RelationType* tells them apart. Entities without a reference are
    in the namespace *TEXT*.
    """
    check_statement_types(types)
    entities = facts.entities
    namespaces = sorted({_namespace(entity)[0] for entity in entities})
    yield f'SET DOCUMENT Name = "Relations of {len(facts)} facts"\n'
    yield 'SET DOCUMENT Version = "1.0.0"\n'
    yield 'SET DOCUMENT Description = "Relations predicted from text"\n'
    yield f'SET DOCUMENT Authors = "{_SOURCE}"\n'
    yield 'SET DOCUMENT ContactInfo = "none"\n\n'
    for name in namespaces:
        yield f'DEFINE NAMESPACE {name} AS PATTERN ".+"\n'
    yield 'DEFINE ANNOTATION RelationType AS PATTERN ".*"\n'
    yield 'DEFINE ANNOTATION Probability AS PATTERN "[0-9.e-]+"\n'
    for fact in facts:
        statement = _bel_statement(fact, statement_type(fact.type, types))
        for sentence in fact.sentences:
            database, number = citation_of(sentence.document)
            known = database if database == "PubMed" else "Other"
            yield f"\nSET Citation = {{{_quoted(known)}, {_quoted(number)}, {_quoted(number)}}}\n"
            yield f"SET Evidence = {_quoted(sentence.text)}\n"
            yield f"SET RelationType = {_quoted(fact.type)}\n"
            yield f'SET Probability = "{sentence.probability!r}"\n'
            yield f"{statement}\n"


def _bel_statement(fact: Fact, kind: str | None) -> str:
    terms = [_term(entity) for entity in fact.entities]
    if kind == "Complex" and len(terms) == 2:
        return f"complex({', '.join(terms)})"
    short = (_MODIFICATIONS | _REMOVALS).get(kind or "")
    is_protein = terms[-1].startswith("p(")
    if short and is_protein:
        target = f"{terms[-1][:-1]}, pmod({short}))"
    elif kind in ("Activation", "Inhibition") and is_protein:
        target = f"act({terms[-1]})"
    else:
        target = terms[-1]
    if len(terms) == 1:
        return target
    if not fact.directed or kind in (None, "Translocation") or (short and not is_protein):
        return f"{terms[0]} association {terms[1]}"
    if kind == "Influence":
        return f"{terms[0]} regulates {target}"
    increases = kind in ("Activation", "IncreaseAmount") or kind in _MODIFICATIONS
    return f"{terms[0]} {'increases' if increases else 'decreases'} {target}"


def _term(entity: FactEntity) -> str:
    namespace, name = _namespace(entity)
    kind = entity.type.lower()
    function = next((short for word, short in _FUNCTIONS.items() if word in kind), "a")
    return f"{function}({namespace}:{_quoted(name)})"


def _namespace(entity: FactEntity) -> tuple[str, str]:
    """Return the namespace and the name or number of an entity in it."""
    database, colon, number = entity.reference.partition(":")
    keyword = re.sub("[^A-Za-z0-9]+", "", database)
    return (keyword, number) if colon and keyword and number else (_NAMES, entity.name or "?")


def _quoted(text: str) -> str:
    r"""Return a string of BEL; ``//`` after a blank would begin a comment.

    Examples
    --------
    >>> print(_quoted('the "a" // b'))
    "the \"a\" / / b"
    """
    plain = one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain.replace(" //", " / /")}"'
