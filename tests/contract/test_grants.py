"""What was allowed for a session, put together from answers."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from claudekeeper.contract.grants import MAX_PER_LIST, Grants, apply_permissions, possible_grants


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


RULE = {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "x"}]}
EDITS = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


def offered(command: str) -> list[Any]:
    return possible_grants(
        "Bash", {"command": command}, [RULE, EDITS], workdir="/w", mode="default", is_guarded=False
    )


@pytest.mark.parametrize(
    "command",
    # each was tried on Claude Code 2.1.327: it asks again, whatever is allowed
    [
        "rm -f *.tmp",
        "rm 'a*b'",
        "touch a?",
        "FOO=1 rm a*",
        "timeout 5 rm a*",
        "command rm a*",
        "/bin/rm a*",
        "echo *.txt; rm a*",
        "sed -i s/x/y/ *.txt",
        "touch $HOME/x",
        'rm "$(pwd)/a"',
        "cp -r sub sub2",
        "cp -- in.txt b.txt",
        "mv in.txt -t sub",
        "cd sub && touch a",
        "touch a.txt # note",
        "touch a;",
        "touch a.txt > /dev/null",
        "while false; do touch a; done",
    ],
)
def test_what_is_asked_about_every_time_is_not_offered(command: str) -> None:
    assert offered(command) == []


@pytest.mark.parametrize(
    "command", ["touch a.txt", "cp in.txt b-c.txt", "rm -rf sub", "mkdir -m 700 x"]
)
def test_what_holds_is_offered(command: str) -> None:
    assert offered(command) == [[RULE], [EDITS]]


@pytest.mark.parametrize(
    "command",
    [
        # these are asked about where edits are not
        "rm -- a",
        "touch !x",
        "touch a && touch b",
        "mkdir -p sub && cp in.txt sub/ && make",
        "sed -i 's/[x]*/y/' in.txt",
        "rm a || true",
        # patterns are theirs, or are no patterns of files
        "git rm *.txt",
        "ls *.txt | xargs rm",
        "python3 x*.py",
        "python3 -c \"print('rm *')\"",
        "npm run rm $X",
    ],
)
def test_edits_are_offered_only_where_they_allow_it(command: str) -> None:
    assert offered(command) == [[RULE]]


def test_both_ends_of_a_link_are_allowed_together() -> None:
    both = [rules("addRules", READ), rules("addRules", {"toolName": "Read", "ruleContent": "//b"})]
    more = {"workdir": "/w", "mode": "default", "is_guarded": False}
    assert possible_grants("Read", {"file_path": "/w/link/a"}, both, **more) == [both]  # type: ignore[arg-type]
