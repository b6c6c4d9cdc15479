"""The page's types are those of the contract."""

from __future__ import annotations

import pytest

from tests.contract.page_types import FILE, declaration, file_content


def test_the_file_is_fresh() -> None:
    assert FILE.read_text() == file_content(), "run `make contract`"


def test_a_field_with_a_default_is_optional() -> None:
    schema = {
        "type": "object",
        "description": "What is counted.",
        "properties": {
            "name": {"type": "string"},
            "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
            "state": {"anyOf": [{"enum": ["on", "off"]}, {"type": "null"}], "default": None},
            "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}},
            "raw": {},
        },
        "required": ["name", "counts", "parts", "raw"],
    }
    assert declaration("Tally", schema).splitlines() == [
        "/** What is counted. */",
        "export interface Tally {",
        "  name: string;",
        "  counts: Record<string, number>;",
        "  state?: 'on' | 'off' | null;",
        "  parts: Array<Part>;",
        "  raw: unknown;",
        "}",
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "tuple"},
        {"oneOf": []},
        {"not": {}},
        {"const": "x"},
        {"type": "array"},
        {"type": "object", "properties": {}, "anyOf": []},
    ],
)
def test_what_it_does_not_know_ends_it(schema: dict[str, object]) -> None:
    with pytest.raises((AssertionError, KeyError)):
        declaration("Odd", schema)
