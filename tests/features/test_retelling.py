"""What is sent to Claude for a recap stays within its budgets."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from claudekeeper.features.retelling import (
    AT_ONCE,
    BYTES_A_TOKEN,
    QUESTION,
    STATE,
    TURNS,
    Retelling,
    cut,
    prompt_for,
)
from claudekeeper.model.closing import LastTurn
from claudekeeper.model.resume import Cost, NextAction, Recap, Resume


def resume(detailed: str, reply: str) -> Resume:
    return Resume(
        session_id="s",
        last=None,
        idle_seconds=0,
        turns=[LastTurn("ask", "u", None, reply)],
        question=None,
        next=NextAction("done", "Nothing."),
        progress=None,
        coverage=None,
        decisions=[],
        work=None,
        cost=Cost(None, None, None, None),
        warnings=[],
        choices=["resume"],
        complete=True,
        recap=Recap("q", detailed),
    )


def test_a_long_session_sends_no_more_than_a_short_one_may() -> None:
    prompt = prompt_for(resume("é" * 100_000, "the end: " + "ü" * 100_000))
    marks = len("<facts>\n\n</facts>\n\n<turns>\n\n</turns>\n\n")
    assert len(prompt.encode()) <= (STATE + TURNS + QUESTION) * BYTES_A_TOKEN + marks


@given(st.text(), st.integers(1, 20), st.booleans())
def test_what_is_cut_is_a_piece_of_it(text: str, tokens: int, end: bool) -> None:
    kept = cut(text, tokens, end=end)
    assert len(kept.encode()) <= tokens * BYTES_A_TOKEN
    assert text.endswith(kept) if end else text.startswith(kept)


async def test_however_many_sessions_are_retold_few_are_asked_about_at_once() -> None:
    asked, most = 0, 0

    async def ask(_system: str, _prompt: str, schema: dict[str, Any]) -> dict[str, Any]:
        nonlocal asked, most
        asked += 1
        most = max(most, asked)
        await asyncio.sleep(0)
        asked -= 1
        return dict.fromkeys(schema["properties"], "words")

    retelling = Retelling(ask)
    one = resume("d", "r")
    many = [msgspec.structs.replace(one, session_id=f"s{number}") for number in range(50)]
    told = await asyncio.gather(*(retelling.of(each) for each in [*many, *many]))
    assert len(told) == 100
    assert most == AT_ONCE
