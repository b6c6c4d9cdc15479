"""The page's types of the contract, written from /openapi.json: `make contract`.

The schemas come from msgspec, which uses a small part of JSON Schema. What this does not know ends
it with an error.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from claudekeeper.server.app import endpoints
from claudekeeper.server.openapi import openapi_document

FILE = Path(__file__).parents[2] / "clarvis_ui" / "web" / "src" / "api" / "schema.ts"
HEADER = """\
// Generated from /openapi.json by `make contract`. Do not edit: a test compares it.
// An optional field has a default: the keeper sends it, a client may leave it out.
"""
PRIMITIVES = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}


def file_content() -> str:
    """The content of the file: a declaration for every schema, by name."""
    schemas = sorted(openapi_document(endpoints())["components"]["schemas"].items())
    return "\n".join([HEADER, *(declaration(name, schema) for name, schema in schemas)])


def declaration(name: str, schema: dict[str, Any]) -> str:
    lines = _comment(schema, "")
    if schema.keys() & {"properties", "anyOf"} == {"properties"}:
        lines += [f"export interface {name} {{", *_fields(schema), "}"]
    else:
        lines.append(f"export type {name} = {_type(schema)};")
    return "\n".join([*lines, ""])


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    for name, field in schema["properties"].items():
        yield from _comment(field, "  ")
        optional = "" if name in schema.get("required", ()) else "?"
        yield f"  {name}{optional}: {_type(field)};"


def _comment(schema: dict[str, Any], indent: str) -> list[str]:
    lines = inspect.cleandoc(schema.get("description", "")).splitlines()
    match lines:
        case []:
            return []
        case [line]:
            return [f"{indent}/** {line} */"]
    starred = [f"{indent} * {line}".rstrip() for line in lines]
    return [f"{indent}/**", *starred, f"{indent} */"]


def _type(schema: dict[str, Any]) -> str:
    match schema:
        case {"anyOf": alternatives} if "properties" not in schema:
            return " | ".join(_type(alternative) for alternative in alternatives)
        case {"enum": values}:
            return " | ".join(f"'{value}'" for value in values)
        case {"$ref": reference}:
            return str(reference.rsplit("/", 1)[-1])
        case {"type": "array", "items": items}:
            return f"Array<{_type(items)}>"
        case {"type": "object"} if "properties" not in schema:
            return f"Record<string, {_type(schema.get('additionalProperties', {}))}>"
        case {"type": kind}:
            return PRIMITIVES[kind]
    # JSON that Claude Code wrote
    assert not schema.keys() - {"description", "default"}, schema
    return "unknown"
