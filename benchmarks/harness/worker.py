"""One piece of work in a process of its own.

`python -m benchmarks.harness.worker WORK …` prints its cost. Only the modules of the work are
imported, before the clock starts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import closing, redirect_stdout
from io import StringIO
from pathlib import Path
from time import process_time

import orjson

WINDOW = 64 * 1024


def main() -> None:
    name, *arguments = sys.argv[1:]
    work = WORKS[name](*arguments)
    # resets the peak, so that only the work counts
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    # processor time: the work is one thread that never waits, so this is the wall time of a quiet
    # machine, and on a busy one other processes do not count
    start = process_time()
    count = work()
    seconds = process_time() - start
    print(
        orjson.dumps(
            {"seconds": seconds, "memory": _status("VmHWM") - before, "count": count}
        ).decode()
    )


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise LookupError(field)


def _paths(projects: str) -> list[str]:
    return [str(path) for path in sorted(Path(projects).glob("*/????????-*.jsonl"))]


# ---- the list ----


def bare_read(projects: str) -> Callable[[], int]:
    """Reads head and tail of every file, and does nothing with them."""
    paths = _paths(projects)

    def work() -> int:
        for path in paths:
            descriptor = os.open(path, os.O_RDONLY)
            size = os.fstat(descriptor).st_size
            os.pread(descriptor, WINDOW, 0)
            if size > WINDOW:
                os.pread(descriptor, WINDOW, size - WINDOW)
            os.close(descriptor)
        return len(paths)

    return work


def bare_stat(projects: str) -> Callable[[], int]:
    paths = _paths(projects)

    def work() -> int:
        for path in paths:
            os.stat(path)  # noqa: PTH116 - the bare call is what is measured
        return len(paths)

    return work


def first_listing(projects: str) -> Callable[[], int]:
    """The work of a first start, until the list is ready."""
    return _listing(projects, Path(os.environ["XDG_CACHE_HOME"]) / f"{os.getpid()}.db")


def listing_after_restart(projects: str, cache: str) -> Callable[[], int]:
    """The work of a restart: load the cache and verify every file."""
    return _listing(projects, Path(cache))


def _listing(projects: str, database: Path) -> Callable[[], int]:
    from claudekeeper.catalog.cache import Cache
    from claudekeeper.catalog.folder_scan import scan_folders
    from claudekeeper.catalog.row_list import RowList
    from claudekeeper.transcripts.layout import project_folders

    def work() -> int:
        cache = Cache(database)
        shelves, times = cache.load()
        folders = project_folders(Path(projects))
        scanned = scan_folders(folders.keys() | shelves.keys(), shelves, cache, times)
        rows = RowList(row for folder in scanned.values() for row in folder.rows.values())
        cache.close()
        return len(rows)

    return work


def sdk_listing() -> Callable[[], int]:
    from claude_agent_sdk import list_sessions

    return lambda: len(list_sessions())


# ---- a conversation ----


def last_page(path: str, session: str) -> Callable[[], int]:
    from claudekeeper.transcripts.history import History

    history = History()
    return lambda: len(history.page(Path(path), session, limit=200).messages)


def whole_history(path: str, session: str) -> Callable[[], int]:
    """Reads and encodes every message of the file."""
    from claudekeeper.transcripts.history import History

    history = History()

    def work() -> int:
        whole = history.stream(Path(path), session)
        while whole.next_chunk():
            pass
        whole.close()
        return len(whole.uuids)

    return work


def sdk_history(session: str) -> Callable[[], int]:
    from claude_agent_sdk import get_session_messages

    return lambda: len(get_session_messages(session))


# ---- search ----


def bare_extraction(projects: str) -> Callable[[], int]:
    """Collects the words of every shown message, and discards them."""
    from claudekeeper.analysis.plain_text import join_parts, parts_of
    from claudekeeper.transcripts.entries import is_irrelevant, parse_line
    from claudekeeper.transcripts.layout import all_transcripts
    from claudekeeper.transcripts.line_reader import lines_forwards, open_readonly
    from claudekeeper.transcripts.messages import kind_of

    def work() -> int:
        messages = 0
        for transcript in all_transcripts([Path(projects)]):
            with open_readonly(transcript.path) as descriptor:
                for _, line, _ in lines_forwards(descriptor, 0, os.fstat(descriptor).st_size):
                    for entry in parse_line(line)[0] if line and not is_irrelevant(line) else []:
                        nested = transcript.agent is not None or entry.is_sidechain
                        kind = kind_of(entry, nested=nested)
                        if kind is not None:
                            join_parts(parts_of(entry, kind))
                            messages += 1
        return messages

    return work


def build_index(projects: str, index: str) -> Callable[[], int]:
    from claudekeeper.search.index_worker import update_index
    from claudekeeper.search.store import open_read_only

    def work() -> int:
        with redirect_stdout(StringIO()):
            update_index(Path(index), [Path(projects)])
        with closing(open_read_only(Path(index))) as database:
            (messages,) = database.execute("SELECT count(*) FROM message").fetchone()
        return int(messages)

    return work


WORKS: dict[str, Callable[..., Callable[[], int]]] = {
    "bare-read": bare_read,
    "bare-stat": bare_stat,
    "first-listing": first_listing,
    "listing-after-restart": listing_after_restart,
    "sdk-listing": sdk_listing,
    "last-page": last_page,
    "whole-history": whole_history,
    "sdk-history": sdk_history,
    "bare-extraction": bare_extraction,
    "build-index": build_index,
}

if __name__ == "__main__":
    main()
