"""Transcripts that cannot be read, or not whole."""

from __future__ import annotations

import pytest

from tests.catalog.test_workdir_inference import BESIDE, BROKEN, OWN, folder_with
from tests.server.conftest import Api, StartKeeper, get_json
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter, projects_folder
from tests.support.waiting import wait_for


@pytest.mark.parametrize("broken", [b"", b"no line\n" * 2_000], ids=len)
async def test_the_keeper_lists_it_in_its_project(
    start_keeper: StartKeeper,
    broken: bytes,
) -> None:
    folder_with([OWN], broken=broken)
    keeper = await start_keeper()

    await wait_for(
        lambda: get_json(keeper, f"/sessions?workdir={OWN}"),
        lambda page: (BROKEN, "error") in [(row["id"], row["state"]) for row in page["sessions"]],
    )
    page = await get_json(keeper, f"/sessions/{BROKEN}")
    assert (page["session"]["workdir"], page["messages"]) == (OWN, [])


async def test_one_of_which_other_lines_can_be_read_is_listed_there_too(
    start_keeper: StartKeeper,
) -> None:
    folder_with([OWN], broken=BESIDE + b"no line\n" * 2_000)
    keeper = await start_keeper()

    await wait_for(
        lambda: get_json(keeper, f"/sessions?workdir={OWN}"),
        lambda page: BROKEN in [row["id"] for row in page["sessions"]],
    )
    session = (await get_json(keeper, f"/sessions/{BROKEN}"))["session"]
    assert (session["workdir"], session["unreadable"]) == (OWN, 2_001)


async def test_a_conversation_says_how_many_lines_could_not_be_read(
    start_keeper: StartKeeper,
) -> None:
    transcript = TranscriptWriter()
    transcript.prompt("begin")
    transcript.raw_bytes(b'{"half": ')
    transcript.raw_bytes(b"\x00\x01\x02")
    transcript.reply("Begun.")
    path = transcript.write(projects_folder())
    keeper: Api = await start_keeper()
    page = await get_json(keeper, f"/sessions/{SESSION_ID}")
    assert page["session"]["unreadable"] == 2
    assert len(page["messages"]) == 2
    # a line that is still being written is not lost yet
    with path.open("ab") as file:
        file.write(b'{"type":"user","uuid":"')
    page = await get_json(keeper, f"/sessions/{SESSION_ID}")
    assert page["session"]["unreadable"] == 2
