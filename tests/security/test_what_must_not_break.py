"""What must not break: threats 16 to 21, 24 and 25, from outside.

22 and 23 (SIGTERM, SIGKILL) are in `tests/integration/recovery`.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import repeat
from math import ceil
from typing import Any

import pytest

from claudekeeper.demo.home import DemoHome
from tests.security.raw_requests import send_request
from tests.support.api_visitor import connect_api
from tests.support.keeper_process import COMMAND, KeeperProcess, parse_metrics
from tests.support.transcript_people import append_lines
from tests.support.transcript_writer import SESSION_ID, TranscriptWriter
from tests.support.waiting import block_for, wait_for

JSON = {"Content-Type": "application/json"}
MEGABYTE = 1024 * 1024
# as large as the list of threats says, or large enough to tell
FULL = os.environ.get("THREATS_FULL") == "1"
LARGE = (300 if FULL else 100) * MEGABYTE
EVENTS = 100_000 if FULL else 4_000
EVENT_CHARACTERS = 500 if FULL else 4_000
CUT_OFF = "claudekeeper_sockets_cut_off_total"


def page_of(keeper: KeeperProcess, session: str, query: str = "limit=1000") -> Any:
    answer = send_request(keeper.url, "GET", f"/sessions/{session}?{query}", keeper.auth_headers)
    assert answer.status == 200, answer
    return answer.json


def texts(page: Any) -> list[str]:
    return [
        "".join(block.get("text", "") for block in message["content"])
        for message in page["messages"]
    ]


def session_id(number: int) -> str:
    return f"5e551011-0000-4000-8000-{number:012}"


def resident(keeper: KeeperProcess) -> int:
    figures = parse_metrics(
        send_request(keeper.url, "GET", "/metrics", keeper.auth_headers).body.decode()
    )
    return int(figures["process_resident_memory_bytes"])


# ---- 16 and 17 ----


def test_16_bad_lines_are_counted_and_later_ones_shown(
    keeper: KeeperProcess, home: DemoHome
) -> None:
    transcript = TranscriptWriter(session_id(16))
    for text in ["first", "second", "third"]:
        transcript.prompt(text)
    first, second, third = transcript.lines
    path = transcript.write(home.config / "projects")
    path.write_bytes(b"")
    with path.open("ab", buffering=0) as file:
        file.write(first[:20])
        assert texts(page_of(keeper, session_id(16))) == []
        file.write(first[20:] + b"\n")
        assert texts(page_of(keeper, session_id(16))) == ["first"]
        # NULs, half of a character, garbage, and a line of thirty megabytes of nothing
        file.write(b"\x00" * 100 + b"\n" + b'{"type": "user", \xff\xfe}\n' + b"}{\n")
        file.write(b"x" * (30 * MEGABYTE) + b"\n")
        # two on one line
        file.write(second + third + b"\n")
    page = page_of(keeper, session_id(16))
    assert texts(page) == ["first", "second", "third"]
    assert page["session"]["error"] is None
    # a file of this size is counted in the background
    page = block_for(
        lambda: page_of(keeper, session_id(16)),
        lambda page: page["session"]["messageCount"] is not None,
    )
    assert page["session"]["messageCount"] == 3
    assert page["session"]["unreadable"] >= 3


def test_17_truncated_replaced_and_recreated_files_are_read_anew(
    keeper: KeeperProcess, home: DemoHome
) -> None:
    transcript = TranscriptWriter(session_id(17))
    for number in range(10):
        transcript.prompt(f"old {number}")
    path = transcript.write(home.config / "projects")
    assert len(texts(page_of(keeper, session_id(17)))) == 10
    path.write_bytes(b"\n".join(transcript.lines[:3]) + b"\n")
    assert texts(page_of(keeper, session_id(17))) == ["old 0", "old 1", "old 2"]

    other = TranscriptWriter(session_id(17))
    other.prompt("new")
    beside = path.with_suffix(".tmp")
    beside.write_bytes(b"\n".join(other.lines) + b"\n")
    beside.rename(path)
    page = page_of(keeper, session_id(17))
    assert texts(page) == ["new"]
    assert page["session"]["messageCount"] == 1

    path.unlink()
    assert (
        send_request(keeper.url, "GET", f"/sessions/{session_id(17)}", keeper.auth_headers).status
        == 404
    )
    transcript.write(home.config / "projects")
    assert len(texts(page_of(keeper, session_id(17)))) == 10


# ---- 18 ----


# before test_18: while its transcript is read, nothing is kept for those who were away
async def test_19_a_socket_that_comes_back_gets_exactly_what_it_missed(
    keeper: KeeperProcess, home: DemoHome
) -> None:
    names = [f"name {number}" for number in range(100)]
    async with connect_api(keeper) as visitor:
        listener = await visitor.listen()
        await visitor.request("PATCH", f"/sessions/{SESSION_ID}", {"name": "before"})
        await listener.wait_for(lambda event: renamed(event) == "before")
        position = listener.events[-1]["position"]
        await listener.close()
        for name in names:
            await visitor.request("PATCH", f"/sessions/{SESSION_ID}", {"name": name})
        again = await visitor.listen_since(position)
        assert again.events[-1]["type"] == "subscribed"
        # other sessions may come and go meanwhile
        received = [
            renamed(await again.wait_for(lambda event: bool(renamed(event)))) for _ in names
        ]
        assert received == names
        await again.close()
        for forgotten in ["00000000:1", "nonsense", position.split(":")[0] + ":99999999"]:
            lost = await visitor.listen_since(forgotten)
            assert lost.events[-1]["type"] == "resync"
            await lost.close()


def renamed(event: Any) -> str | None:
    if event["type"] == "session/updated" and event["sessionId"] == SESSION_ID:
        return str(event["session"]["name"])
    return None


def test_18_a_large_transcript_is_paged_in_bounded_memory(
    keeper: KeeperProcess, home: DemoHome
) -> None:
    """No reading holds the file, so its size says nothing; THREATS_FULL=1 takes 300 MB."""
    transcript = TranscriptWriter(session_id(18))
    transcript.prompt("the beginning")
    for _ in range(100):
        transcript.reply("x" * 10_000)
    block = b"\n".join(transcript.lines) + b"\n"
    path = home.config / "projects" / "-large" / f"{session_id(18)}.jsonl"
    path.parent.mkdir()
    before = resident(keeper)
    with path.open("wb") as file:
        file.writelines(repeat(block, ceil(LARGE / len(block))))
    transcript.lines.clear()
    transcript.prompt("the end")
    with path.open("ab") as file:
        file.write(transcript.lines[0] + b"\n")
    page = page_of(keeper, session_id(18), "limit=50")
    assert texts(page)[-1] == "the end"
    listed = send_request(keeper.url, "GET", "/sessions", keeper.auth_headers).json["sessions"]
    assert session_id(18) in [row["id"] for row in listed]
    assert len(page_of(keeper, session_id(18), f"limit=50&before={page['before']}")["messages"])
    assert send_request(keeper.url, "GET", "/health").status == 200
    assert resident(keeper) - before < 60 * MEGABYTE
    path.unlink()


# ---- 19, 20 and 21 ----


async def test_20_a_client_that_does_not_read_is_cut_off(
    keeper: KeeperProcess, home: DemoHome
) -> None:
    async with connect_api(keeper) as visitor:
        listener, deaf = await visitor.listen(), await visitor.listen()
        before = resident(keeper)
        # more than the system keeps for a client, several times; `deaf` takes nothing of it
        session = await visitor.start_session(home.project("scratch"), "huge: 12")
        reading = asyncio.create_task(listener.wait_for_turn_end(session, outcome="done"))
        await visitor.wait_for_slow_close()
        # it has some seconds to take what is on its way, and the word that it is cut off
        async for _ in deaf.ws:
            pass
        assert deaf.ws.close_code == 4008
        await reading
        assert resident(keeper) - before < 200 * MEGABYTE
        await listener.send({"type": "ping"})
        await listener.wait_for_event("pong")


async def test_20_however_many_events_it_misses(keeper: KeeperProcess, home: DemoHome) -> None:
    """Many small ones; each is a line of a transcript that somebody else writes."""
    transcript = TranscriptWriter(session_id(20))
    transcript.prompt("begin")
    path = transcript.write(home.config / "projects", "-many")
    async with connect_api(keeper) as visitor:
        await visitor.get(f"/sessions/{session_id(20)}")
        listener, deaf = await visitor.listen(), await visitor.listen()
        before, cut_off = resident(keeper), (await visitor.metrics())[CUT_OFF]
        for start in range(0, EVENTS, 250):
            transcript.lines.clear()
            for number in range(start, start + 250):
                transcript.reply(f"{number} " + "x" * EVENT_CHARACTERS)
            append_lines(path, *transcript.lines)
            for _ in range(250):
                await listener.wait_for_event("message/added")
            listener.forget()
        assert resident(keeper) - before < 200 * MEGABYTE
        assert (await visitor.metrics())[CUT_OFF] == cut_off + 1
        await listener.send({"type": "ping"})
        await listener.wait_for_event("pong")
        await deaf.ws.close()


async def test_21_of_two_answers_one_counts_and_what_was_shown_is_done(
    keeper: KeeperProcess, home: DemoHome
) -> None:
    work = home.project("scratch")
    async with connect_api(keeper) as visitor:
        listener = await visitor.listen()
        session = await visitor.start_session(work, "run: touch shown.txt")
        question = (await listener.wait_for_event("attention/raised", session))["attention"]
        assert question["input"]["command"] == "touch shown.txt"
        body = {"attentionId": question["id"], "decision": "allow"}

        async def resolve() -> int:
            async with visitor.client.post("/resolve", json=body) as answer:
                return answer.status

        statuses = await asyncio.gather(*(resolve() for _ in range(5)))
        assert sorted(statuses) == [200, 409, 409, 409, 409]
        await listener.wait_for_turn_end(session, outcome="done")
        assert (work / "shown.txt").exists()

        # nobody answers: nothing is done
        session = await visitor.start_session(work, "run: touch never.txt")
        await listener.wait_for_event("attention/raised", session)
        await visitor.post(f"/sessions/{session}/close", status=202)
        await listener.wait_for_event("attention/settled", session, decision="withdrawn")
        assert not (work / "never.txt").exists()


# ---- 24 ----

LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture
def other_home() -> Iterator[DemoHome]:
    with DemoHome() as home:
        for number in range(8):
            transcript = TranscriptWriter(session_id(number))
            transcript.prompt("hello")
            transcript.write(home.config / "projects")
        yield home


def rename(keeper: KeeperProcess, session: str, name: str) -> int:
    body = json.dumps({"name": name}).encode()
    headers = {**keeper.auth_headers, **JSON}
    return send_request(keeper.url, "PATCH", f"/sessions/{session}", headers, body).status


def test_24_a_disk_that_takes_no_more_keeps_the_old_value(other_home: DemoHome) -> None:
    long = "🎩" * 190
    command = [sys.executable, "-c", LIMITED, *COMMAND]
    with KeeperProcess(other_home, "--no-ui", command=command) as keeper:
        statuses = [rename(keeper, session_id(number), long) for number in range(8)]
        assert statuses[0] == 200
        assert statuses[-1] == 507
        assert rename(keeper, session_id(0), "x" + long[1:]) in {200, 507}
        names = [page_of(keeper, session_id(number))["session"]["name"] for number in range(8)]
        assert [name is not None for name in names] == [status == 200 for status in statuses]
    with KeeperProcess(other_home, "--no-ui") as keeper:
        after = [page_of(keeper, session_id(number))["session"]["name"] for number in range(8)]
        assert after == names


def test_24_a_corrupt_state_is_kept_aside_and_named(other_home: DemoHome) -> None:
    state = other_home.keeper / "state.json"
    state.write_bytes(b'{"names": {"a": ')
    (other_home.keeper / "turns.json").write_bytes(b"\xff{")
    with KeeperProcess(other_home, "--no-ui") as keeper:
        assert rename(keeper, session_id(0), "Hats") == 200
        (aside,) = other_home.keeper.glob("state.json.corrupt-*")
        assert aside.read_bytes() == b'{"names": {"a": '
        assert aside.name in keeper.log


def test_24_names_survive_kills(other_home: DemoHome) -> None:
    """A few with the whole program; two hundred of the writing itself in test_preferences.py."""
    for number in range(2):
        keeper = KeeperProcess(other_home, "--no-ui")
        assert rename(keeper, session_id(number), f"name {number}") == 200
        keeper.kill()
    with KeeperProcess(other_home, "--no-ui") as keeper:
        for number in range(2):
            name = page_of(keeper, session_id(number))["session"]["name"]
            assert name == f"name {number}"


# ---- 25 ----

FEW_WATCHES = 'echo 1 > /proc/sys/user/max_inotify_watches && exec "$@"'


def namespaces_work() -> bool:
    probe = ["unshare", "-Ur", "sh", "-c", FEW_WATCHES, "sh", "true"]
    try:
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not namespaces_work(), reason="a user namespace is needed to take watches away")
async def test_25_without_watches_changes_still_appear(other_home: DemoHome) -> None:
    command = ["unshare", "-Ur", "sh", "-c", FEW_WATCHES, "sh", *COMMAND]
    with KeeperProcess(other_home, "--no-ui", command=command) as keeper:
        async with connect_api(keeper) as visitor:
            health = await wait_for(
                lambda: visitor.get("/health"),
                lambda health: health["watching"]["mode"] == "polling",
            )
            assert health["status"] == "degraded"
            assert "max_user_watches" in health["watching"]["reason"]
            listener = await visitor.listen()
            transcript = TranscriptWriter(session_id(0))
            transcript.prompt("hello")
            transcript.prompt("unheard of")
            transcript.write(other_home.config / "projects")
            event = await listener.wait_for_event("session/updated", session_id(0))
            assert event["session"]["messageCount"] == 2
