"""Where a session worked that cannot be read, by what lies beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from claudekeeper.readers.cache import Cache
from claudekeeper.readers.sweep import look_through
from tests.writing import Transcript, projects_folder, uuid_of

BROKEN = uuid_of(900)
FOLDER = "-code-shop-web"


def folder_with(workdirs: list[str], index: Any = None, *, broken: bytes = b"") -> Path:
    folder = projects_folder() / FOLDER
    folder.mkdir(parents=True)
    for number, workdir in enumerate(workdirs):
        transcript = Transcript(uuid_of(number + 1), workdir)
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


@pytest.mark.parametrize("broken", [b"", b"\x00" * 90, b"no line\n" * 2_000], ids=len)
@pytest.mark.parametrize(
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
def test_the_directory_is_told_where_it_is_in_no_doubt(
    tmp_path: Path, workdirs: list[str], index: Any, expected: str | None, broken: bytes
) -> None:
    folder = folder_with(workdirs, index, broken=broken)
    cache = Cache(tmp_path / "cache.db")
    path = str(folder / f"{BROKEN}.jsonl")
    known = look_through([str(folder)], {}, cache)[str(folder)].rows
    again = look_through([str(folder)], {str(folder): known}, cache)[str(folder)].rows
    # a large one is known to be broken only once it is read to its end
    looks = [known[path], again[path]] if len(broken) < 4096 else []
    assert all(row.fault is not None for row in looks)
    assert [row.summary.workdir for row in looks] == [expected] * len(looks)
    cache.close()
