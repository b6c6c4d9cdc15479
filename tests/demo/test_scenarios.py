"""The jobs fit the projects they are played in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from claudekeeper.demo.sample_projects import PROJECTS
from claudekeeper.demo.scenarios import SCENARIOS, SUBAGENT_JOBS
from claudekeeper.demo.steps import Call, Say, Script

# in the order in which the samples play those that change the same files
IN_ORDER = list(SCENARIOS.values())


def calls(script: Script, tool: str) -> Iterator[dict[str, str]]:
    for reply in script:
        for step in reply:
            if isinstance(step, Call) and step.tool == tool:
                yield step.input


def test_every_edit_finds_what_it_changes() -> None:
    files = {name: text for project in PROJECTS.values() for name, text in project.items()}
    for script in IN_ORDER:
        for written in calls(script, "Write"):
            files[written["file_path"]] = written["content"]
        for change in calls(script, "Edit"):
            before = files[change["file_path"]]
            assert before.count(change["old_string"]) == 1, change
            files[change["file_path"]] = before.replace(change["old_string"], change["new_string"])


@pytest.mark.parametrize("script", [*SCENARIOS.values(), *SUBAGENT_JOBS.values()])
def test_every_file_that_is_read_exists(script: Script) -> None:
    names = {name for project in PROJECTS.values() for name in project}
    assert {tool_input["file_path"] for tool_input in calls(script, "Read")} <= names


@pytest.mark.parametrize("name", [name for name in SCENARIOS if "disk alerts" not in name])
def test_every_job_ends_with_words(name: str) -> None:
    assert isinstance(SCENARIOS[name][-1][-1], Say)


def test_one_job_is_long() -> None:
    lengths = [
        sum(isinstance(step, Call) for reply in script for step in reply)
        for script in SCENARIOS.values()
    ]
    assert max(lengths) > 60
