"""What the keeper starts to read many transcripts into the index of words: a process of its own.

So neither the keeper's loop nor its memory knows of it. It yields to everything else on the
machine, says how far it is on stdout, and ends when its stdin does: it never outlives the keeper.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from claudekeeper.readers import lexicon
from claudekeeper.readers.indexing import backlog, work_off
from claudekeeper.readers.search_index import Reading, open_index, write

NICENESS = 10
# looks at everything, in case files grow while it works; what comes later the keeper reads itself
PASSES = 3


def main() -> None:
    index, *roots = (Path(argument) for argument in sys.argv[1:])
    os.nice(NICENESS)
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    build(index, roots)


def build(index: Path, roots: list[Path]) -> None:
    """Read everything that the index does not have."""
    database = open_index(index)
    for _ in range(PASSES):
        todo = backlog(database, roots)
        write(database, [Reading(source, None, []) for source in todo.gone])
        done = todo.total - todo.size
        for size in work_off(database, (each.transcript for each in todo.stale)):
            done += size
            sys.stdout.write(f"{min(done, todo.total)} {todo.total}\n")
            sys.stdout.flush()
        if not todo.stale:
            break
    if lexicon.is_stale(database):
        lexicon.make_anew(database)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def _end_with_stdin() -> None:
    # not through sys.stdin, whose lock the interpreter wants when it ends
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
