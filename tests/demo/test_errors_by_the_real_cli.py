"""The API fails in every way it can, and the CLI says so."""

from __future__ import annotations

import pytest

from tests.support.real_cli import FinishedTurn, RealCli

PROMPTS = [
    "error: 401",
    "error: 429",
    "error: 500",
    "error: 529",
    "error: drop",
    "error: stream",
    "error: 529 once",
    "error: drop once\nsay: Back again.",
    "say: All is well.",
]


@pytest.fixture(scope="module")
def played(real_cli: RealCli) -> dict[str, FinishedTurn]:
    return dict(zip(PROMPTS, real_cli.run_turns(PROMPTS), strict=True))


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("error: 401", "authentication_failed"),
        ("error: 429", "rate_limit"),
        ("error: 500", "server_error"),
        ("error: 529", "server_error"),
        ("error: drop", "server_error"),
        ("error: stream", "server_error"),
    ],
)
def test_a_failure_is_reported(played: dict[str, FinishedTurn], prompt: str, kind: str) -> None:
    assert played[prompt].errors == [kind]
    assert played[prompt].result.is_error


@pytest.mark.parametrize("prompt", ["error: 429", "error: 500", "error: drop"])
def test_it_was_tried_again(played: dict[str, FinishedTurn], prompt: str) -> None:
    assert "api_retry" in played[prompt].subtypes()


def test_a_failure_that_passes_is_survived(played: dict[str, FinishedTurn]) -> None:
    turn = played["error: 529 once"]
    assert turn.text == "The API is back: attempt 2 went through."
    assert "api_retry" in turn.subtypes()
    assert not turn.result.is_error


def test_a_lost_connection_is_survived(played: dict[str, FinishedTurn]) -> None:
    assert played["error: drop once\nsay: Back again."].text == "Back again."


def test_the_session_goes_on_after_failures(played: dict[str, FinishedTurn]) -> None:
    assert played["say: All is well."].text == "All is well."
