"""Which grants a question can offer: only those by which Claude Code does not ask again."""

from __future__ import annotations

from typing import Any

import pytest

from claudekeeper.attention.possible_grants import possible_grants


def read_rule(content: str) -> dict[str, Any]:
    rule = {"toolName": "Read", "ruleContent": content}
    return {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}


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
    both = [read_rule("//tmp/**"), read_rule("//b")]
    more = {"workdir": "/w", "mode": "default", "is_guarded": False}
    assert possible_grants("Read", {"file_path": "/w/link/a"}, both, **more) == [both]  # type: ignore[arg-type]
