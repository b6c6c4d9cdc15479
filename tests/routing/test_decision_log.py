"""Why messages went where they did, in its file."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from claudekeeper.contract.routing import RoutedMessage
from claudekeeper.routing import decision_log
from claudekeeper.routing.decide import decide
from claudekeeper.routing.decision_log import RoutingLog


def routed(number: int, session: str = "s") -> RoutedMessage:
    return RoutedMessage(
        uuid=f"u{number}", session_id=session, at="now", routing=decide("a word", [])
    )


def opened(path: Path) -> RoutingLog:
    routing_log = RoutingLog(path)
    routing_log.load()
    return routing_log


@pytest.mark.usefixtures("no_umask")
async def test_a_decision_is_kept_for_the_next_keeper(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "routings.jsonl"
    log = opened(path)
    for number in range(3):
        log.add(routed(number, session=f"s{number % 2}"))
    await log.wait_until_saved()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = opened(path)
    assert [each.uuid for each in again.of_session("s0")] == ["u0", "u2"]
    assert again.get("u1") == routed(1, session="s1")
    assert again.get("u9") is None


async def test_only_the_newest_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision_log, "MAX_DECISIONS", 5)
    path = tmp_path / "routings.jsonl"
    routing_log = opened(path)
    for number in range(40):
        routing_log.add(routed(number))
        await routing_log.wait_until_saved()
        assert len(path.read_bytes().splitlines()) <= 10
    expected = [f"u{number}" for number in range(35, 40)]
    assert [each.uuid for each in opened(path).of_session("s")] == expected
    assert [each.uuid for each in routing_log.of_session("s")] == expected


@pytest.mark.parametrize("rubbish", [b"{", b"\xff\xfe\n", b'{"uuid": 1}\n[]\nnull', b"\0" * 50])
async def test_what_cannot_be_read_is_passed_over(tmp_path: Path, rubbish: bytes) -> None:
    path = tmp_path / "routings.jsonl"
    routing_log = opened(path)
    routing_log.add(routed(1))
    await routing_log.wait_until_saved()
    path.write_bytes(rubbish + b"\n" + path.read_bytes() + rubbish)
    again = opened(path)
    assert [each.uuid for each in again.of_session("s")] == ["u1"]
    (aside,) = tmp_path.glob("routings.jsonl.corrupt-*")
    assert rubbish in aside.read_bytes()
    assert len(path.read_bytes().splitlines()) == 1
    again.add(routed(2))
    await again.wait_until_saved()
    assert len(path.read_bytes().splitlines()) == 2
    assert [each.uuid for each in opened(path).of_session("s")] == ["u1", "u2"]


async def test_half_a_line_of_a_writer_that_was_killed_takes_no_other_with_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "routings.jsonl"
    routing_log = opened(path)
    routing_log.add(routed(1))
    await routing_log.wait_until_saved()
    with path.open("ab") as file:
        file.write(b'{"uuid": "u')
    routing_log.add(routed(2))
    await routing_log.wait_until_saved()
    assert [each.uuid for each in opened(path).of_session("s")] == ["u1", "u2"]


async def test_a_folder_in_its_place_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "routings.jsonl"
    path.mkdir()
    routing_log = opened(path)
    routing_log.add(routed(1))
    await routing_log.wait_until_saved()
    assert path.is_file()
    assert len(list(tmp_path.glob("routings.jsonl.corrupt-*"))) == 1


async def test_a_disk_that_takes_nothing_stops_no_message(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    routing_log = RoutingLog(tmp_path / "file" / "routings.jsonl")
    routing_log.add(routed(1))
    await routing_log.wait_until_saved()
    assert routing_log.get("u1") is not None
    assert "could not be saved" in caplog.text
