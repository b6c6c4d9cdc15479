"""How a CLI that nobody had asked to end came to its end, in words."""

from __future__ import annotations

import pytest

from claudekeeper.sessions.recovery.failed_turn import describe_exit


class Ended(Exception):
    def __init__(self, exit_code: int | None, words: str = "") -> None:
        super().__init__(words)
        self.exit_code = exit_code


@pytest.mark.parametrize(
    ("error", "last_words", "message"),
    [
        (Ended(-9), "", "it was killed: SIGKILL"),
        (Ended(-11), "a warning", "it was killed: SIGSEGV"),
        # Claude Code heeds a TERM and ends with the number that says so
        (Ended(143), "", "it was told to end: SIGTERM"),
        (Ended(None, "Command failed with exit code 143"), "", "it was told to end: SIGTERM"),
        (Ended(1), "no space left", "it said: no space left"),
        (Ended(1), "", "exit code 1"),
        # no signal has this number
        (Ended(255), "", "exit code 255"),
        (Ended(128), "", "exit code 128"),
        (None, "", ""),
    ],
)
def test_how_it_ended_is_told_in_words(
    error: Exception | None, last_words: str, message: str
) -> None:
    assert describe_exit(error, last_words) == message


def test_how_a_process_ended_goes_before_what_its_pipe_says() -> None:
    error = RuntimeError("Failed to write to process stdin: ")
    assert describe_exit(error, "", -9) == "it was killed: SIGKILL"
    assert describe_exit(error, "", 3) == "exit code 3"
