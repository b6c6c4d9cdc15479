"""Writes a transcript line by line, each with the one before as its parent."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import BinaryIO

from benchmarks.corpus.format_versions import Era, origin_keys

# bytes that are written to the file at once
FLUSH = 4 * 1024 * 1024

_BRANCHES = ("main", "develop", "fix/rounding", "feature/über-uns")
_HOW_OFTEN = (12, 4, 3, 1)


class Pen:
    """Writes lines with ids, times, parents, and the keys that every line repeats."""

    def __init__(
        self,
        file: BinaryIO,
        random: Random,
        era: Era,
        session: bytes,
        workdir: str,
        *,
        start: int,
        agent: bytes | None = None,
    ) -> None:
        self.random = random
        self.era = era
        self.session = session
        self.version = random.choice(era.versions)
        self.tip: bytes | None = None
        self.written = 0
        self.branch = random.choices(_BRANCHES, _HOW_OFTEN)[0]
        self._slug = "-".join(random.choice(("calm", "brave", "tidy", "lucid")) for _ in range(3))
        self._file = file
        self._milliseconds = start
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._writer = b"false," if agent is None else b'true,"agentId":"%b",' % agent
        self.move_to(workdir)

    def move_to(self, workdir: str) -> None:
        """One session in twelve changes its directory."""
        self.workdir = workdir
        where = origin_keys(self.era, self.version, workdir, self.session, self.branch, self._slug)
        if self.era.origin_first:
            self._before, self._behind = where + b",", b"}\n"
        else:
            self._before, self._behind = b"", b"," + where + b"}\n"

    def uuid(self) -> bytes:
        digits = self.random.randbytes(16).hex()
        return (
            f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:]}".encode()
        )

    def identity(self, prefix: bytes) -> bytes:
        """`msg_…`, `toolu_…`, `req_…`"""
        return prefix + b"_01" + self.random.randbytes(11).hex().encode()

    def digest(self) -> bytes:
        return self.random.randbytes(32).hex().encode()

    def now(self) -> bytes:
        """A time shortly after that of the last line."""
        self._milliseconds += int(self.random.random() * 4000) + 1
        moment = datetime.fromtimestamp(self._milliseconds / 1000, UTC)
        return moment.isoformat(timespec="milliseconds")[:-6].encode() + b"Z"

    def aside(self, line: bytes) -> None:
        """A line outside of the conversation."""
        self._write(line + b"\n")

    def link(
        self,
        before: bytes,
        behind: bytes = b"",
        *,
        parent: bytes | None = None,
        uuid: bytes | None = None,
    ) -> bytes:
        """A line of the conversation, the parent of the next one; returns its uuid."""
        uuid = uuid or self.uuid()
        hangs_on = parent or self.tip
        self._write(
            b'{"parentUuid":%b,"isSidechain":%b%b%b"uuid":"%b","timestamp":"%b"%b%b'
            % (
                b'"%b"' % hangs_on if hangs_on else b"null",
                self._writer,
                self._before,
                before,
                uuid,
                self.now(),
                behind,
                self._behind,
            )
        )
        self.tip = uuid
        return uuid

    def boundary(self, before: bytes, behind: bytes) -> bytes:
        """A compaction: a new root that names the line before it."""
        uuid = self.uuid()
        above = b'"%b"' % self.tip if self.tip else b"null"
        self._write(
            b'{"parentUuid":null,"logicalParentUuid":%b,"isSidechain":false,%b%b"timestamp":"%b"'
            b',"uuid":"%b"%b%b'
            % (above, self._before, before, self.now(), uuid, behind, self._behind)
        )
        self.tip = uuid
        return uuid

    def close(self) -> None:
        # one file in five ends without a newline
        if self._waiting and self.random.random() < 0.2:
            self._waiting[-1] = self._waiting[-1][:-1]
        self._file.write(b"".join(self._waiting))
        self._waiting.clear()

    def _write(self, line: bytes) -> None:
        if self._waiting_bytes > FLUSH:
            self._file.write(b"".join(self._waiting))
            self._waiting.clear()
            self._waiting_bytes = 0
        self._waiting.append(line)
        self._waiting_bytes += len(line)
        self.written += len(line)
