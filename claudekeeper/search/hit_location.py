"""Where a message of the index is opened, and whether it can be opened.

The index has lines, a reader sees messages. Several files may have the id of one session, and only
one of them is read. A prompt that waited in the queue is shown elsewhere once it was taken.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from claudekeeper.net.errors import ApiError
from claudekeeper.search.store import MessageLocation, paths_of
from claudekeeper.transcripts.entries import Entry
from claudekeeper.transcripts.history import History
from claudekeeper.transcripts.layout import SUBAGENTS_FOLDER
from claudekeeper.transcripts.messages import uuid_of
from claudekeeper.transcripts.subagents import (
    Subagent,
    inline_agents,
    list_subagents,
    subagent_file,
    top_level_spawn_call_of,
)


class HitLocator:
    """Locates hits during one search. Blocks."""

    def __init__(self, database: sqlite3.Connection, history: History) -> None:
        self._database = database
        self._history = history
        # by session: the file that its history is read from
        self._transcripts: dict[str, str | None] = {}
        self._current_files: dict[str, bool] = {}
        # by old transcript, which holds the lines of its subagents: agents by uuid
        self._inline_agents: dict[str, dict[str, str]] = {}
        self._subagents: dict[str, dict[str, Subagent]] = {}

    def is_current_file(self, location: MessageLocation) -> bool:
        """Whether this file is the one that is read for its session or subagent."""
        if location.path not in self._current_files:
            self._current_files[location.path] = self._check_current_file(location)
        return self._current_files[location.path]

    def is_visible(self, location: MessageLocation, entry: Entry) -> bool:
        """Whether the line is a message as the file is now."""
        if entry.type != "queue-operation":
            return True
        try:
            return self._history.is_visible(
                Path(location.path),
                uuid_of(entry),
                location.offset,
                nested=location.agent is not None,
            )
        except (OSError, ApiError):
            return False

    def inline_agent_of(self, location: MessageLocation, uuid: str) -> str | None:
        """The subagent of a sidechain line in the session's own file."""
        if location.path not in self._inline_agents:
            self._inline_agents[location.path] = inline_agents(Path(location.path))
        return self._inline_agents[location.path].get(uuid)

    def tool_use_id_of(self, location: MessageLocation, agent: str) -> str | None:
        """The session's own call below which the subagent ran, where it is known."""
        if location.agent is not None and (call := top_level_spawn_call_of(Path(location.path))):
            return call
        transcript = self._transcript_of(location.session)
        if transcript is None:
            return None
        agents = self._subagents_of(transcript, location.session)
        subagent = agents.get(agent)
        # another subagent may have started it: go up to the session's own call
        for _ in agents:
            if subagent is None or subagent.parent_agent_id is None:
                return subagent.tool_use_id if subagent is not None else None
            subagent = agents.get(subagent.parent_agent_id)
        return None

    def _check_current_file(self, location: MessageLocation) -> bool:
        transcript = self._transcript_of(location.session)
        if transcript is None or location.agent is None:
            return location.path == transcript
        if len(paths_of(self._database, location.session, location.agent)) > 1:
            file = subagent_file(Path(transcript), location.session, location.agent)
            return file is not None and str(file) == location.path
        of, path = Path(transcript), Path(location.path)
        return path.parent == of.parent or path.is_relative_to(
            of.with_suffix("") / SUBAGENTS_FOLDER
        )

    def _transcript_of(self, session: str) -> str | None:
        """Of several files with the id of a session, the one that was written last, as in lists."""
        if session not in self._transcripts:
            paths = paths_of(self._database, session, None)
            self._transcripts[session] = max(paths, key=_write_order, default=None)
        return self._transcripts[session]

    def _subagents_of(self, transcript: str, session: str) -> dict[str, Subagent]:
        if session not in self._subagents:
            try:
                agents = list_subagents(Path(transcript), session, inline=True)
            except OSError:
                agents = []
            self._subagents[session] = {agent.agent_id: agent for agent in agents}
        return self._subagents[session]


def _write_order(path: str) -> tuple[int, str]:
    try:
        return Path(path).stat().st_mtime_ns, path
    except OSError:
        return -1, path
