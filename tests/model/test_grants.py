"""What was allowed for a session, put together from answers."""

from __future__ import annotations

from typing import Any

import msgspec

from claudekeeper.model.grants import MOST, Grants, with_answer


def rules(kind: str, *rules: dict[str, str], **more: str) -> dict[str, Any]:
    known = {"type": kind, "rules": list(rules), "behavior": "allow", "destination": "session"}
    return known | more


def directories(kind: str, *paths: str) -> dict[str, Any]:
    return {"type": kind, "directories": list(paths), "destination": "session"}


READ = {"toolName": "Read", "ruleContent": "//tmp/**"}


def test_what_a_session_may_is_written_as_settings_write_it() -> None:
    odd = {"toolName": "Bash", "ruleContent": 'python3 -c "print(1)" \\x'}
    grants = with_answer(Grants(), [rules("addRules", READ, {"toolName": "WebSearch"}, odd)])
    grants = with_answer(grants, [directories("addDirectories", "/a", "/b")])
    grants = with_answer(grants, [rules("addRules", {"toolName": "Edit"}, behavior="deny")])
    settings = msgspec.json.decode(grants.settings() or "")
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
        assert with_answer(Grants(), [each]) == Grants()
    assert Grants().settings() is None


def test_rules_and_directories_are_replaced_and_removed_once_each() -> None:
    add, other = rules("addRules", READ), rules("replaceRules", {"toolName": "Glob"})
    assert with_answer(Grants(), [add, add]).allow == ("Read(//tmp/**)",)
    assert with_answer(Grants(), [add, other]).allow == ("Glob",)
    assert with_answer(Grants(), [add, rules("removeRules", READ)]) == Grants()
    paths = [directories("addDirectories", "/a", "/b"), directories("removeDirectories", "/a")]
    assert with_answer(Grants(), paths).additional_directories == ("/b",)


def test_it_does_not_grow_without_end() -> None:
    many = [{"toolName": f"t{number}"} for number in range(MOST + 5)]
    allowed = with_answer(Grants(), [rules("addRules", *many)]).allow
    assert (len(allowed), allowed[-1]) == (MOST, f"t{MOST + 4}")
