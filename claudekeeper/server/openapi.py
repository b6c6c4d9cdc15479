"""/openapi.json, made from the table of addresses and the types they use."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from typing import Any

import msgspec
import orjson
from aiohttp import web
from msgspec import Raw

import claudekeeper
from claudekeeper.net.responses import ErrorAnswer
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.schemas import EmptyQuery, parse_query

_REF = "#/components/schemas/{name}"
_JSON = "application/json"


def openapi_document(endpoints: list[Endpoint]) -> dict[str, Any]:
    """The OpenAPI document."""
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    types = [
        ErrorAnswer,
        *(e.response_type for e in endpoints),
        *(e.request_type for e in endpoints if e.request_type),
    ]
    schemas, components = msgspec.json.schema_components(
        types, schema_hook=_schema_of_raw, ref_template=_REF
    )
    schema_of = {id(type_): schema for type_, schema in zip(types, schemas, strict=True)}
    for endpoint in endpoints:
        operation: dict[str, Any] = {
            "summary": endpoint.summary,
            "operationId": endpoint.handler.__name__,
            "parameters": _parameters(endpoint),
            "responses": _responses(endpoint, schema_of),
        }
        if endpoint.request_type is not None:
            operation["requestBody"] = {
                "required": not endpoint.body_optional,
                "content": {_JSON: {"schema": schema_of[id(endpoint.request_type)]}},
            }
        if endpoint.is_public:
            operation["security"] = []
        paths[_camel(endpoint.path)][endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Claudekeeper",
            "version": claudekeeper.__version__,
            "description": "Every Claude Code session of a machine, within reach.",
        },
        "security": [{"bearer": []}],
        "paths": dict(paths),
        "components": {
            "schemas": components,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    in_path = [
        {"name": _camel(name), "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", endpoint.path)
    ]
    in_query = [
        {
            "name": field.encode_name,
            "in": "query",
            "required": field.required,
            "schema": msgspec.json.schema(field.type),
        }
        for field in msgspec.structs.fields(endpoint.query_type)
    ]
    return in_path + in_query


def _responses(endpoint: Endpoint, schema_of: dict[int, Any]) -> dict[str, Any]:
    responses: dict[str, Any] = {
        str(endpoint.status): {
            "description": endpoint.summary,
            "content": {endpoint.media_type: {"schema": schema_of[id(endpoint.response_type)]}},
        }
    }
    by_status: dict[int, list[str]] = defaultdict(list)
    for failure in endpoint.possible_errors:
        by_status[failure.status].append(f"`{failure.code}`: {failure.sentence}")
    for status, sentences in by_status.items():
        responses[str(status)] = {
            "description": " ".join(sentences),
            "content": {_JSON: {"schema": schema_of[id(ErrorAnswer)]}},
        }
    return responses


def _schema_of_raw(type_: type) -> dict[str, Any]:
    if type_ is Raw:
        return {"description": "JSON as Claude Code wrote it."}
    raise NotImplementedError(f"no schema for {type_}")


def _camel(path: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), path)


def openapi_endpoint(endpoints: list[Endpoint]) -> Endpoint:
    """The address that describes all of them, itself included."""

    @cache
    def document() -> bytes:
        return orjson.dumps(openapi_document([*endpoints, endpoint]))

    async def openapi(request: web.Request) -> web.Response:
        parse_query(request, EmptyQuery)
        return web.Response(body=document(), content_type=_JSON)

    endpoint = Endpoint("GET", "/openapi.json", openapi, "This description", dict[str, Any])
    return endpoint
