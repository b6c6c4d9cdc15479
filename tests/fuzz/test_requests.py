"""Every address of /openapi.json, asked for nonsense: 4xx at worst, and the next request works.

FUZZ_EXAMPLES=2000 looks longer.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claudekeeper.server.app import endpoints
from claudekeeper.server.openapi import openapi_document
from tests.fuzz.conftest import FuzzedKeeper
from tests.security.raw_requests import send_request
from tests.support.transcript_writer import SESSION_ID

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "25"))
DOCUMENT = openapi_document(endpoints())
OPERATIONS = [
    (method.upper(), path)
    for path, operations in DOCUMENT["paths"].items()
    for method in operations
    # tests/fuzz/test_frames.py
    if path != "/ws"
]
UNKNOWN = "5e551011-0000-4000-8000-0000000000ff"

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from([SESSION_ID, UNKNOWN, "/", "/nowhere", "allow", "*", "-x", "\x00", "\ud800"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


# many addresses take the same types
@cache
def fitting_component(name: str, depth: int) -> st.SearchStrategy[Any]:
    return fitting(DOCUMENT["components"]["schemas"][name], depth)


def fitting(schema: dict[str, Any], depth: int = 0) -> st.SearchStrategy[Any]:
    """What the description allows, and now and then something else."""
    if depth > 4:
        return anything
    if "$ref" in schema:
        return fitting_component(schema["$ref"].rsplit("/", 1)[1], depth)
    if "anyOf" in schema:
        return st.one_of([fitting(each, depth + 1) for each in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "object" if "properties" in schema:
            fields = {
                name: fitting(each, depth + 1) | anything
                for name, each in schema["properties"].items()
            }
            return st.fixed_dictionaries({}, optional=fields)
        case "array":
            return st.lists(fitting(schema.get("items", {}), depth + 1), max_size=3)
        case "string":
            return st.sampled_from([SESSION_ID, UNKNOWN, "/tmp", "opus"]) | st.text(max_size=20)
        case "integer":
            return st.integers(-5, 20_000)
        case "boolean":
            return st.booleans()
        case _:
            return anything


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


ids = st.sampled_from([SESSION_ID, UNKNOWN, "..", "a1"]) | st.text(min_size=1, max_size=20)
content_types = st.sampled_from(
    ["application/json"] * 8 + ["text/plain", "", "application/json; x=\xff"]
)
values = st.sampled_from(["1", "-1", "all", "full", "context", "idle", "99999999999", "/"])
any_body = st.none() | anything.map(encoded) | st.binary(max_size=200)


def queries(operation: Any) -> st.SearchStrategy[dict[str, str]]:
    names = [each["name"] for each in operation["parameters"] if each["in"] == "query"]
    return st.dictionaries(
        st.sampled_from([*names, "more"]) | st.text(max_size=5),
        values | st.text(max_size=20),
        max_size=3,
    )


def bodies(operation: Any) -> st.SearchStrategy[bytes | None]:
    if "requestBody" not in operation:
        return any_body
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    return fitting(schema).map(encoded) | any_body


def filled(path: str, part: str) -> str:
    """The path with this for each of its parameters."""
    return re.sub("{.*?}", lambda _: quote(part, safe="", errors="surrogatepass"), path)


def query_string(query: dict[str, str]) -> str:
    return "?" + urlencode(query, errors="surrogatepass") if query else ""


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_nonsense_is_refused_and_nothing_breaks(
    keeper: FuzzedKeeper, method: str, path: str
) -> None:
    operation = DOCUMENT["paths"][path][method.lower()]

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize="FUZZ_EXAMPLES" not in os.environ,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(ids, queries(operation), bodies(operation), content_types)
    def ask(part: str, query: dict[str, str], body: bytes | None, content_type: str) -> None:
        url = filled(path, part) + query_string(query)
        headers = {**keeper.auth_headers, "Content-Type": content_type}
        answer = send_request(keeper.url, method, url, headers, body)
        assert answer.status < 500, (method, url, body, answer)
        assert answer.status < 400 or answer.error
        assert str(answer.status) in operation["responses"], (method, url, body, answer)
        assert send_request(keeper.url, "GET", "/health").status == 200

    ask()
