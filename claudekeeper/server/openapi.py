"""/openapi.json, made from the table of addresses and the types they use."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from typing import Any, get_args

import msgspec
import orjson
from aiohttp import web
from msgspec import Raw

import claudekeeper
from claudekeeper.contract.events import TurnStatus
from claudekeeper.contract.frames import ClientFrame, ServerAnswer, ServerEvent
from claudekeeper.net.responses import ErrorAnswer
from claudekeeper.server.endpoint import Endpoint
from claudekeeper.server.schemas import EmptyQuery, parse_query

_REF = "#/components/schemas/{name}"
_FRAME_TYPES = (ClientFrame, ServerAnswer, ServerEvent)
_JSON = "application/json"


def openapi_document(endpoints: list[Endpoint]) -> dict[str, Any]:
    """The OpenAPI document of all addresses and of the frames of the WebSocket."""
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    types = [
        ErrorAnswer,
        *(endpoint.response_type for endpoint in endpoints),
        *(endpoint.request_type for endpoint in endpoints if endpoint.request_type),
        *_FRAME_TYPES,
    ]
    schemas, components = msgspec.json.schema_components(
        types, schema_hook=_schema_of_raw, ref_template=_REF
    )
    schema_of = {id(type_): schema for type_, schema in zip(types, schemas, strict=True)}
    components |= _frame_schemas(*(schema_of[id(type_)] for type_ in _FRAME_TYPES))
    for event in get_args(ServerEvent):
        # a page of a session has the last status too, without a position
        _add_position(components[event.__name__], is_required=event is not TurnStatus)
    for endpoint in endpoints:
        operation: dict[str, Any] = {
            "summary": endpoint.summary,
            "operationId": endpoint.handler.__name__,
            "parameters": _parameters(endpoint),
            "responses": _responses(endpoint, schema_of),
        }
        if endpoint.is_websocket:
            operation["x-websocket"] = {
                "client": _ref("ClientFrame"),
                "server": _ref("ServerFrame"),
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


def _frame_schemas(
    client: dict[str, Any], answer: dict[str, Any], event: dict[str, Any]
) -> dict[str, Any]:
    """The named schemas of the frames."""
    return {
        "ClientFrame": {"description": "A frame that a client may send.", **client},
        "ServerAnswer": {"description": "A frame of the server that is no event.", **answer},
        "ServerEvent": {"description": "An event that the server sends.", **event},
        "ServerFrame": {
            "description": "A frame that the server sends. Clients skip types they do not know.",
            "anyOf": [_ref("ServerAnswer"), _ref("ServerEvent")],
        },
    }


def _add_position(schema: dict[str, Any], *, is_required: bool) -> None:
    """The bus adds the position as it encodes an event."""
    description = "`epoch:seq`: where the event is in the stream."
    position = {"type": "string", "description": description}
    schema["properties"] = {"position": position, **schema["properties"]}
    schema["required"] += ["position"] * is_required


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
    answer: dict[str, Any] = {"description": endpoint.summary}
    if not endpoint.is_websocket:
        schema = schema_of[id(endpoint.response_type)]
        answer["content"] = {endpoint.media_type: {"schema": schema}}
    responses = {str(endpoint.status): answer}
    sentences: dict[int, list[str]] = defaultdict(list)
    for error in endpoint.possible_errors:
        sentences[error.status].append(f"`{error.code}`: {error.sentence}")
    for status, lines in sentences.items():
        responses[str(status)] = {
            "description": " ".join(lines),
            "content": {_JSON: {"schema": schema_of[id(ErrorAnswer)]}},
        }
    return responses


def _ref(name: str) -> dict[str, str]:
    return {"$ref": _REF.format(name=name)}


def _schema_of_raw(type_: type) -> dict[str, Any]:
    if type_ is Raw:
        return {"description": "JSON as Claude Code wrote it."}
    raise NotImplementedError(f"no schema for {type_}")


def _camel(path: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), path)


def openapi_endpoint(endpoints: list[Endpoint]) -> Endpoint:
    """The address of the document, which describes itself too."""

    @cache
    def document() -> bytes:
        return orjson.dumps(openapi_document([*endpoints, endpoint]))

    async def openapi(request: web.Request) -> web.Response:
        parse_query(request, EmptyQuery)
        return web.Response(body=document(), content_type=_JSON)

    endpoint = Endpoint("GET", "/openapi.json", openapi, "This document", dict[str, Any])
    return endpoint
