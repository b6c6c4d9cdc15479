"""A process that reads many transcripts into the index of words.

It takes neither time nor memory of the keeper. It has a low priority, prints its progress to
stdout, and ends when its stdin ends, so it never outlives the keeper.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from claudekeeper.search import trigrams
from claudekeeper.search.indexer import find_backlog, index_transcripts
from claudekeeper.search.store import IndexUpdate, open_index, write_updates

NICENESS = 10
# passes over all files, which may grow meanwhile; later lines are read by the keeper
MAX_PASSES = 3


def main() -> None:
    index, *roots = (Path(argument) for argument in sys.argv[1:])
    os.nice(NICENESS)
    threading.Thread(target=_exit_with_stdin, daemon=True).start()
    update_index(index, roots)


def update_index(index: Path, roots: list[Path]) -> None:
    """Read everything that the index does not have."""
    database = open_index(index)
    for _ in range(MAX_PASSES):
        todo = find_backlog(database, roots)
        write_updates(database, [IndexUpdate(source, None, []) for source in todo.deleted])
        done = todo.total - todo.size
        for size in index_transcripts(database, (each.transcript for each in todo.stale)):
            done += size
            sys.stdout.write(f"{min(done, todo.total)} {todo.total}\n")
            sys.stdout.flush()
        if not todo.stale:
            break
    if trigrams.is_stale(database):
        trigrams.rebuild(database)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def _exit_with_stdin() -> None:
    # not through sys.stdin, whose lock the interpreter wants when it ends
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
