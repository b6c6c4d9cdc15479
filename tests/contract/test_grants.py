"""What was allowed for a session, put together from answers."""

from __future__ import annotations

from typing import Any

import msgspec

from claudekeeper.contract.grants import MAX_PER_LIST, Grants, apply_permissions


def rules(kind: str, *rules: dict[str, str], **more: str) -> dict[str, Any]:
    fields = {"type": kind, "rules": list(rules), "behavior": "allow", "destination": "session"}
    return fields | more


def directories(kind: str, *paths: str) -> dict[str, Any]:
    return {"type": kind, "directories": list(paths), "destination": "session"}


READ = {"toolName": "Read", "ruleContent": "//tmp/**"}


def test_what_a_session_may_is_written_as_settings_write_it() -> None:
    odd = {"toolName": "Bash", "ruleContent": 'python3 -c "print(1)" \\x'}
    grants = apply_permissions(Grants(), [rules("addRules", READ, {"toolName": "WebSearch"}, odd)])
    grants = apply_permissions(grants, [directories("addDirectories", "/a", "/b")])
    grants = apply_permissions(grants, [rules("addRules", {"toolName": "Edit"}, behavior="deny")])
    settings = msgspec.json.decode(grants.settings_json() or "")
    assert settings == {
        "permissions": {
            "allow": ["Read(//tmp/**)", "WebSearch", r'Bash(python3 -c "print\(1\)" \\x)'],
            "deny": ["Edit"],
            "additionalDirectories": ["/a", "/b"],
        }
    }


def test_what_is_kept_elsewhere_is_not_kept_here() -> None:
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    for each in (rules("addRules", READ, destination="localSettings"), mode):
        assert apply_permissions(Grants(), [each]) == Grants()
    assert Grants().settings_json() is None


def test_rules_and_directories_are_replaced_and_removed_once_each() -> None:
    add, other = rules("addRules", READ), rules("replaceRules", {"toolName": "Glob"})
    assert apply_permissions(Grants(), [add, add]).allow == ("Read(//tmp/**)",)
    assert apply_permissions(Grants(), [add, other]).allow == ("Glob",)
    assert apply_permissions(Grants(), [add, rules("removeRules", READ)]) == Grants()
    paths = [directories("addDirectories", "/a", "/b"), directories("removeDirectories", "/a")]
    assert apply_permissions(Grants(), paths).additional_directories == ("/b",)


def test_it_does_not_grow_without_end() -> None:
    many = [{"toolName": f"t{number}"} for number in range(MAX_PER_LIST + 5)]
    allowed = apply_permissions(Grants(), [rules("addRules", *many)]).allow
    assert (len(allowed), allowed[-1]) == (MAX_PER_LIST, f"t{MAX_PER_LIST + 4}")


def test_a_process_can_be_started_with_all_of_it() -> None:
    grants = Grants()
    for number in range(20):
        long = {"toolName": "Bash", "ruleContent": f"{number} " + "é" * 10_000}
        grants = apply_permissions(grants, [rules("addRules", long)])
    assert len((grants.settings_json() or "").encode()) < 128 * 1024
    assert grants.allow[-1].startswith("Bash(19 ")
    assert apply_permissions(Grants(), [rules("addRules", {"toolName": "x" * 200_000})]) == Grants()
