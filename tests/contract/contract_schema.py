"""What /openapi.json says of a frame of the WebSocket."""

from __future__ import annotations

from functools import cache
from typing import Any

import jsonschema

from claudekeeper.server.app import endpoints
from claudekeeper.server.openapi import openapi_document


def check_frame(frame: Any, schema: str = "ServerFrame") -> None:
    """Fails if a frame is not what the contract says."""
    _validator(schema).validate(frame)


@cache
def contract_schemas() -> dict[str, Any]:
    schemas: dict[str, Any] = openapi_document(endpoints())["components"]["schemas"]
    return schemas


@cache
def _validator(schema: str) -> jsonschema.Draft202012Validator:
    components = {"components": {"schemas": contract_schemas()}}
    return jsonschema.Draft202012Validator({"$ref": f"#/components/schemas/{schema}", **components})
