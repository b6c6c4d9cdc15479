"""The samples as they stand on disk: written by the real CLI, and of every kind."""

from __future__ import annotations

from typing import Any

import pytest

from claudekeeper.demo.sample_sessions import SAMPLE_COUNT, Sample, make_samples
from tests.support.real_cli import RealCli, run_in_thread

Lines = list[dict[str, Any]]


class Made:
    """The samples, by their titles."""

    def __init__(self, real_cli: RealCli, samples: list[Sample], progress: list[str]) -> None:
        self._real_cli = real_cli
        self.samples = {sample.title: sample for sample in samples}
        self.progress = progress

    def lines(self, title: str) -> Lines:
        return self._real_cli.transcript(self.samples[title].session_id)

    def blocks(self, title: str) -> list[dict[str, Any]]:
        return blocks(self.lines(title))

    def tools(self, title: str) -> list[str]:
        return [block["name"] for block in self.blocks(title) if block["type"] == "tool_use"]

    def words(self, title: str) -> str:
        return " ".join(str(block.get("text", "")) for block in self.blocks(title))

    def results(self, title: str) -> list[dict[str, Any]]:
        return [block for block in self.blocks(title) if block["type"] == "tool_result"]


def blocks(lines: Lines) -> list[dict[str, Any]]:
    joined: list[dict[str, Any]] = []
    for line in lines:
        # other lines carry a `message` too: api-request-blob, for one
        content = line["message"]["content"] if line["type"] in {"user", "assistant"} else []
        joined += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return joined


@pytest.fixture(scope="module")
def made(real_cli: RealCli) -> Made:
    progress: list[str] = []
    samples = run_in_thread(make_samples(real_cli.home, real_cli.api.url, progress.append))
    return Made(real_cli, samples, progress)


def test_there_are_a_dozen(made: Made) -> None:
    assert len(made.samples) == SAMPLE_COUNT
    assert len(made.progress) == SAMPLE_COUNT


def test_every_session_of_the_home_is_a_sample(made: Made, real_cli: RealCli) -> None:
    on_disk = {path.stem for path in real_cli.home.config.glob("projects/*/*.jsonl")}
    assert on_disk == {sample.session_id for sample in made.samples.values()}


def test_they_are_in_three_projects(made: Made) -> None:
    assert {sample.workdir.name for sample in made.samples.values()} == {
        "payments-api",
        "website",
        "infra",
    }


def test_work_goes_as_the_words_say(made: Made) -> None:
    """No tool fails but the one that is refused."""
    failed = [
        (title, result["content"])
        for title in made.samples
        for result in made.results(title)
        if result.get("is_error")
    ]
    assert [title for title, _ in failed] == ["Rotate the API keys"]


def test_an_edit_has_its_diff(made: Made) -> None:
    lines = made.lines("Fix the auth bug in login")
    results = [line["toolUseResult"] for line in lines if line.get("toolUseResult")]
    assert any(isinstance(result, dict) and result.get("structuredPatch") for result in results)


def test_a_fork_repeats_its_original_and_goes_on(made: Made) -> None:
    original = made.words("Fix the auth bug in login")
    fork = made.words("Compare the passwords in constant time instead")
    assert fork.startswith(original)
    assert len(fork) > len(original)


def test_a_compaction(made: Made) -> None:
    lines = made.lines("Make the sign-up form accessible")
    assert [line for line in lines if line.get("subtype") == "compact_boundary"]
    assert [line for line in lines if line.get("isCompactSummary")]


def test_subagents_beside_their_session(made: Made, real_cli: RealCli) -> None:
    sample = made.samples["Why does the nightly export time out?"]
    folder = real_cli.transcript_path(sample.session_id).with_suffix("") / "subagents"
    assert len(list(folder.glob("agent-*.jsonl"))) == 2
    assert len(list(folder.glob("agent-*.meta.json"))) == 2


def test_an_image(made: Made) -> None:
    title = "The checkout button overlaps the price on phones"
    assert [block for block in made.blocks(title) if block["type"] == "image"]
    assert "I see an image" in made.words(title)


def test_tools_in_parallel(made: Made) -> None:
    lines = made.lines("What can we drop from the bundle?")
    replies = [
        line["message"]["id"]
        for line in lines
        if line["type"] == "assistant" and line["message"]["content"][0]["type"] == "tool_use"
    ]
    assert len(replies) == 3
    assert len(set(replies)) == 1


def test_thinking(made: Made) -> None:
    kinds = [block["type"] for block in made.blocks("Fix the auth bug in login")]
    assert "thinking" in kinds


def test_a_task_list(made: Made) -> None:
    assert {"TaskCreate", "TodoWrite"} & set(made.tools("Retry queue with backoff"))


def test_an_answered_question(made: Made) -> None:
    assert "AskUserQuestion" in made.tools("Set up nightly backups")
    assert "Object storage" in made.results("Set up nightly backups")[0]["content"]


def test_an_approved_plan(made: Made) -> None:
    assert "ExitPlanMode" in made.tools("Upgrade to Postgres 17")
    assert "Edit" in made.tools("Upgrade to Postgres 17")


def test_a_refused_tool(made: Made) -> None:
    assert "Not yet" in made.words("Rotate the API keys")


def test_an_interruption(made: Made) -> None:
    assert "[Request interrupted by user]" in made.words("Switch the whole site to dark mode")


def test_an_api_error(made: Made) -> None:
    lines = made.lines("Disk alerts, 3 am")
    assert [line for line in lines if line.get("isApiErrorMessage")]


def test_a_custom_title(made: Made) -> None:
    titles = [line.get("customTitle") for line in made.lines("Disk alerts, 3 am")]
    assert "Disk alerts, 3 am" in titles


def test_a_long_session(made: Made) -> None:
    lines = made.lines("Add types to all payment handlers")
    assert len([line for line in lines if line["type"] in {"user", "assistant"}]) > 130


def test_the_code_they_leave_behind_works(made: Made) -> None:
    folder = made.samples["Fix the auth bug in login"].workdir
    for source in folder.rglob("*.py"):
        compile(source.read_text(), str(source), "exec")


def test_nobody_touched_a_file_outside(made: Made, real_cli: RealCli, isolated: Any) -> None:
    assert list((isolated / ".claude").iterdir()) == []
