"""The OpenAPI description of the service, at ``/openapi.json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import kernelwood
from kernelwood.io import claim_schema
from kernelwood.web.service_input import Limits

Schema: TypeAlias = dict[str, Any]

_STRING: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_BOOL: Schema = {"type": "boolean"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_PROBABILITY: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_ERRORS = {
    400: "The body is not JSON in UTF-8.",
    401: "The token is missing or wrong.",
    403: "The host name or origin is not allowed.",
    404: "The model does not exist.",
    413: "A limit on the size of the request is exceeded.",
    415: "The content type is not application/json.",
    422: "A field is missing or has a wrong value.",
    429: "Too many requests are waiting; Retry-After has the seconds to wait.",
    500: "An internal error, with details in the log of the server.",
    503: "The service is stopping, or has too many connections.",
    504: "The time limit is over.",
}
_OF_ALL = (401, 403, 413, 500, 503, 504)
_OF_BODIES = (400, 415, 422, 429)


def describe_service(limits: Limits) -> Schema:
    """Return the OpenAPI 3.1 document of a service with some limits, as JSON values.

    Examples
    --------
    >>> sorted(describe_service(Limits())["paths"])[:3]
    ['/health', '/metrics', '/openapi.json']
    """
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kernelwood",
            "version": kernelwood.__version__,
            "description": "Relations in texts, with probabilities, offsets and evidence. Offsets "
            "count characters (Unicode code points) from 0, ends are exclusive.",
        },
        "paths": {
            "/v1/extract": {
                "post": _operation(
                    "extract",
                    "Extract relations from texts.",
                    "ExtractAnswer",
                    body="ExtractRequest",
                    errors=(404, *_OF_BODIES),
                )
            },
            "/v1/verify": {
                "post": _operation(
                    "verify",
                    "Check relations found by another tool.",
                    "VerifyAnswer",
                    body="VerifyRequest",
                    errors=(404, *_OF_BODIES),
                )
            },
            "/v1/model": {
                "get": {
                    **_operation("model", "Return the card of a model.", "Model", errors=(404,)),
                    "parameters": [
                        {
                            "name": "name",
                            "in": "query",
                            "required": False,
                            "description": "Name of the model; by default the first.",
                            "schema": _STRING,
                        }
                    ],
                }
            },
            "/v1/models": {"get": _operation("models", "List the models.", "Models")},
            "/health": {"get": _operation("health", "Tell that the service works.", "Health")},
            "/metrics": {"get": _metrics()},
            "/openapi.json": {"get": _operation("openapi", "Return this document.", "Description")},
        },
        "components": {
            "schemas": _schemas(limits),
            "responses": {
                f"Error{status}": _error_response(status, text) for status, text in _ERRORS.items()
            },
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Only if the service was started with a token.",
                }
            },
        },
        "security": [{}, {"bearer": []}],
    }


def _operation(
    name: str,
    summary: str,
    answer: str,
    *,
    body: str | None = None,
    errors: tuple[int, ...] = (),
) -> Schema:
    made: Schema = {
        "operationId": name,
        "summary": summary,
        "responses": {
            "200": {"description": "Success.", "content": _content(answer)},
            **_error_rows(errors),
        },
    }
    if body is not None:
        made["requestBody"] = {"required": True, "content": _content(body)}
    return made


def _error_rows(errors: tuple[int, ...] = ()) -> Schema:
    rows = sorted({*_OF_ALL, *errors})
    return {str(status): {"$ref": f"#/components/responses/Error{status}"} for status in rows}


def _error_response(status: int, text: str) -> Schema:
    made: Schema = {"description": text, "content": _content("Error")}
    if status == 429:
        seconds = {"description": "Seconds to wait.", "schema": {"type": "integer"}}
        made["headers"] = {"Retry-After": seconds}
    return made


def _metrics() -> Schema:
    return {
        "operationId": "metrics",
        "summary": "Return figures in the text format of Prometheus.",
        "responses": {
            "200": {"description": "Success.", "content": {"text/plain": {"schema": _STRING}}},
            **_error_rows(),
        },
    }


def _content(name: str) -> Schema:
    return {"application/json": {"schema": _ref(name)}}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(items: Schema, **limits: Any) -> Schema:
    return {"type": "array", "items": items, **limits}


def _object(
    required: Mapping[str, Any], optional: Mapping[str, Any] | None = None, **more: Any
) -> Schema:
    return {
        "type": "object",
        "required": list(required),
        "additionalProperties": False,
        "properties": {**required, **(optional or {})},
        **more,
    }


def _described(schema: Schema, text: str) -> Schema:
    return {**schema, "description": text}


def _schemas(limits: Limits) -> Schema:
    return {
        **_request_schemas(limits),
        **_relation_schemas(),
        **_answer_schemas(),
    }


def _request_schemas(limits: Limits) -> Schema:
    name: Schema = {"type": "string", "maxLength": limits.name}
    text = {
        "type": "string",
        "maxLength": limits.document_characters,
        "description": f"At most {limits.characters:,} characters in all documents.",
    }
    entities = _list(_ref("Entity"), maxItems=limits.entities)
    evidence = {
        "type": "integer",
        "minimum": 0,
        "maximum": limits.evidence,
        "default": 0,
        "description": "Number of training cases for, and against, each prediction.",
    }
    model = _described(_STRING, "Name of the model; by default the first.")
    options: Schema = {
        "model": {**model, "type": ["string", "null"]},
        "all": {**_BOOL, "default": False, "description": "Include negative predictions."},
        "evidence": evidence,
        "threshold": {
            **_PROBABILITY,
            "type": ["number", "null"],
            "description": "Decision threshold; by default that of the model.",
        },
        "find_entities": {
            **_BOOL,
            "default": True,
            "description": "Find entities in documents without them, if the model can.",
        },
        "terms": _list(
            _list({**name, "minLength": 1}, minItems=2, maxItems=3),
            maxItems=limits.terms,
            description="Terms that are entities: term, type and optionally id of each.",
        ),
    }
    claim = {key: value for key, value in claim_schema().items() if key != "$schema"}
    return {
        "ExtractRequest": {
            "description": "One text, or several documents.",
            "oneOf": [
                _object({"text": text}, {"entities": entities, **options}),
                _object({"documents": _list(_ref("Document"), maxItems=limits.documents)}, options),
            ],
        },
        "Document": _object({"text": text}, {"id": name, "entities": entities}),
        "Entity": {
            "description": "A mention: start and end, or spans of a discontinuous one.",
            "oneOf": [
                _object(
                    {"type": name, "start": _COUNT, "end": {"type": "integer", "minimum": 1}},
                    {"id": name, "text": _STRING},
                ),
                _object(
                    {"type": name, "spans": _list(_ref("Span"), minItems=1)},
                    {"id": name, "text": _STRING},
                ),
            ],
        },
        "VerifyRequest": _object(
            {"claims": _list(_ref("Claim"), maxItems=limits.claims)},
            {
                "model": {**model, "type": ["string", "null"]},
                "evidence": evidence,
                "map": {
                    "type": "object",
                    "additionalProperties": _STRING,
                    "description": "Relation types of the model by other names.",
                },
            },
        ),
        "Claim": claim,
    }


def _relation_schemas() -> Schema:
    participant = {
        "role": _STRING,
        "id": _STRING,
        "type": _STRING,
        "text": _STRING,
        "spans": _list(_ref("Span")),
    }
    spans = _list(_ref("Span"))
    shared = _object({"words": _list(_STRING), "case": spans, "prediction": spans})
    return {
        "Span": {
            "type": "array",
            "items": _COUNT,
            "minItems": 2,
            "maxItems": 2,
            "description": "Start and end, in characters.",
        },
        "Participant": _object(participant, {"reference": _STRING}),
        "Relation": _object(
            {
                "id": _STRING,
                "document": _STRING,
                "type": _described(_STRING, "Relation type; the most probable one."),
                "relation": _described(_STRING, "The type, with its direction if it has one."),
                "positive": _described(_BOOL, "Whether the probability reaches the threshold."),
                "probability": _PROBABILITY,
                "threshold": _PROBABILITY,
                "probabilities": {"type": "object", "additionalProperties": _PROBABILITY},
                "sentence": _ref("Span"),
                "text": _described(_STRING, "The sentence."),
                "participants": _list(_ref("Participant")),
            },
            {"trigger": _ref("Participant"), "evidence": _ref("Evidence")},
        ),
        "Evidence": _object(
            {
                "score": _NUMBER,
                "intercept": _NUMBER,
                "others": _described(_NUMBER, "Contribution of all other training cases."),
                "path": _STRING,
                "cases": _list(_ref("Case")),
            },
            description="score = intercept + others + sum of the contributions of the cases.",
        ),
        "Case": _object(
            {
                "id": _STRING,
                "type": _described(_STRING, "Class of the training case."),
                "similarity": _NUMBER,
                "contribution": _NUMBER,
                "supports": _BOOL,
                "text": _STRING,
                "entities": spans,
                "shared": shared,
                "path": _STRING,
            },
            {"trigger": spans},
        ),
    }


def _answer_schemas() -> Schema:
    warnings = _list(_STRING)
    counts = dict.fromkeys(("supported", "unsupported", "other", "not checkable"), _COUNT)
    return {
        "ExtractAnswer": _object(
            {
                "model": _STRING,
                "relations": _list(_ref("Relation")),
                "documents": _list(
                    _object(
                        {
                            "id": _STRING,
                            "sentences": _COUNT,
                            "entities": _COUNT,
                            "candidates": _COUNT,
                            "relations": _COUNT,
                        }
                    )
                ),
                "dropped": {"type": "object", "additionalProperties": _COUNT},
                "warnings": warnings,
            }
        ),
        "VerifyAnswer": _object(
            {
                "model": _STRING,
                "verdicts": _list(_ref("Verdict")),
                "counts": _object(counts),
                "warnings": warnings,
            }
        ),
        "Verdict": {
            "type": "object",
            "description": "The claim with the verdict.",
            "required": ["id", "text", "relation", "verdict", "probability", "threshold"],
            "properties": {
                "id": _STRING,
                "text": _STRING,
                "verdict": {"enum": list(counts)},
                "probability": {**_PROBABILITY, "type": ["number", "null"]},
                "threshold": _PROBABILITY,
                "checked_as": _STRING,
                "other": _object({"type": _STRING, "first": _STRING, "second": _STRING}),
                "reason": _STRING,
                "evidence": _ref("Evidence"),
            },
        },
        "Model": _object({"name": _STRING, "card": {"type": "object"}}),
        "Models": _object(
            {
                "models": _list(
                    _object(
                        {
                            "name": _STRING,
                            "default": _BOOL,
                            "relations": _list(_STRING),
                            "candidates": {"enum": ["pairs", "events"]},
                            "finds_entities": _BOOL,
                            "description": _STRING,
                        }
                    )
                )
            }
        ),
        "Health": _object({"status": {"const": "ok"}, "version": _STRING}),
        "Description": {"type": "object", "required": ["openapi", "info", "paths"]},
        "Error": _object(
            {
                "error": _object(
                    {"code": _STRING, "message": _STRING},
                    {"field": _described(_STRING, "The wrong field, such as documents[0].text.")},
                )
            }
        ),
    }
