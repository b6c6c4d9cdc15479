"""Where a session worked that cannot be read, by what lies beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.catalog.cache import Cache
from claudekeeper.catalog.discovery import SessionRow
from claudekeeper.catalog.folder_scan import scan_folders
from tests.support.transcript_writer import TranscriptWriter, projects_folder, uuid_of

BROKEN = uuid_of(900)
FOLDER = "-code-shop-web"


def folder_with(workdirs: list[str], index: Any = None, *, broken: bytes = b"") -> Path:
    folder = projects_folder() / FOLDER
    folder.mkdir(parents=True)
    for number, workdir in enumerate(workdirs):
        transcript = TranscriptWriter(uuid_of(number + 1), workdir)
        transcript.prompt("words")
        (folder / f"{transcript.session_id}.jsonl").write_bytes(transcript.lines[0] + b"\n")
    (folder / f"{BROKEN}.jsonl").write_bytes(broken)
    if index is not None:
        (folder / "sessions-index.json").write_text(
            index if isinstance(index, str) else json.dumps(index)
        )
    return folder


def listed(session: str | None, path: str | None) -> dict[str, Any]:
    return {"entries": [{"sessionId": session, "projectPath": path}]}


OWN, OTHER = "/code/shop/web", "/code/shop-web"


BESIDE = b'{"type":"summary","leafUuid":"u","summary":"words"}\n{"type":"user","uuid":"' + b"\n"


neighbours = pytest.mark.parametrize(
    ("workdirs", "index", "expected"),
    [
        ([OWN, OWN], None, OWN),
        # one that was moved here says nothing
        ([OWN, "/elsewhere"], None, OWN),
        (["/elsewhere"], None, None),
        ([], None, None),
        # two directories have this folder: nobody knows
        ([OWN, OTHER], None, None),
        ([OWN, OTHER], listed(BROKEN, OTHER), OTHER),
        ([], listed(BROKEN, OWN), OWN),
        ([], {"originalPath": OWN, "entries": []}, OWN),
        ([], listed(uuid_of(7), OWN), OWN),
        # an index that goes stale, or is none
        ([OWN], listed(BROKEN, "/elsewhere"), OWN),
        ([OWN], '{"entries": 7}', OWN),
        ([OWN], "\x00", OWN),
        ([], listed(None, None), None),
    ],
)


def scanned_twice(folder: Path, cache: Cache) -> list[SessionRow]:
    """The row of the broken transcript by a first scan, and by one that knows the first."""
    path = str(folder / f"{BROKEN}.jsonl")
    first = scan_folders([str(folder)], {}, cache)[str(folder)].rows
    second = scan_folders([str(folder)], {str(folder): first}, cache)[str(folder)].rows
    return [first[path], second[path]]


@pytest.mark.parametrize("broken", [b"", b"\x00" * 90, BESIDE], ids=len)
@neighbours
def test_the_directory_is_told_where_it_is_in_no_doubt(
    tmp_path: Path, workdirs: list[str], index: Any, expected: str | None, broken: bytes
) -> None:
    cache = Cache(tmp_path / "cache.db")
    rows = scanned_twice(folder_with(workdirs, index, broken=broken), cache)
    assert all(row.fault is not None or row.summary.unreadable for row in rows)
    assert [row.summary.workdir for row in rows] == [expected] * 2
    cache.close()


@neighbours
def test_a_large_one_is_known_to_be_broken_only_once_it_is_read_to_its_end(
    tmp_path: Path, workdirs: list[str], index: Any, expected: str | None
) -> None:
    cache = Cache(tmp_path / "cache.db")
    rows = scanned_twice(folder_with(workdirs, index, broken=b"no line\n" * 2_000), cache)
    assert [(row.fault, row.summary.unreadable) for row in rows] == [(None, 0)] * 2
    cache.close()


@pytest.mark.parametrize("broken", [b"no line\n", BESIDE], ids=len)
def test_what_a_line_of_its_own_says_later_counts(tmp_path: Path, broken: bytes) -> None:
    folder = folder_with([OWN], broken=broken)
    cache = Cache(tmp_path / "cache.db")
    path = str(folder / f"{BROKEN}.jsonl")
    first = scan_folders([str(folder)], {}, cache)[str(folder)].rows
    again = scan_folders([str(folder)], {str(folder): first}, cache)[str(folder)]
    cache.save_folds({path: fold for path, fold in again.folds.items() if fold is not None})
    assert again.rows[path].summary.workdir == OWN
    transcript = TranscriptWriter(BROKEN, OTHER)
    transcript.prompt("words")
    with (folder / f"{BROKEN}.jsonl").open("ab") as file:
        file.write(transcript.lines[0] + b"\n")
    row = scan_folders([str(folder)], {str(folder): again.rows}, cache)[str(folder)].rows[path]
    assert (row.fault, row.summary.workdir) == (None, OTHER)
    cache.close()


def test_a_sign_beyond_the_first_plane_is_two_to_claude_code(tmp_path: Path) -> None:
    folder = projects_folder() / "-code----shop"
    folder.mkdir(parents=True)
    transcript = TranscriptWriter(uuid_of(1), "/code/\N{SHARK}/shop")
    transcript.prompt("words")
    (folder / f"{transcript.session_id}.jsonl").write_bytes(transcript.lines[0] + b"\n")
    (folder / f"{BROKEN}.jsonl").write_bytes(b"")
    cache = Cache(tmp_path / "cache.db")
    rows = scan_folders([str(folder)], {}, cache)[str(folder)].rows
    assert rows[str(folder / f"{BROKEN}.jsonl")].summary.workdir == "/code/\N{SHARK}/shop"
    cache.close()
