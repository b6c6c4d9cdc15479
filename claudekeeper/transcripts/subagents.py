"""Subagents and their transcripts, wherever a version of Claude Code put them.

Up to 2.0.19 they stand as sidechain lines in the session's own file, then as `agent-<id>.jsonl`
beside it, since 2.1.14 below `<session>/subagents/`, sometimes in a folder of a workflow's run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from claudekeeper.contract.errors import MessageNotFound, SubagentNotFound
from claudekeeper.contract.message import Message
from claudekeeper.core.paths import is_outside, is_session_id
from claudekeeper.transcripts.entries import (
    Entry,
    blocks_of,
    is_irrelevant,
    loads,
    parse_line,
    starts_with,
)
from claudekeeper.transcripts.history import History, HistorySlice
from claudekeeper.transcripts.layout import (
    SUBAGENTS_FOLDER,
    TRANSCRIPT_SUFFIX,
    agent_id_of,
    first_entry,
    session_of,
)
from claudekeeper.transcripts.line_reader import (
    FileChanged,
    lines_backwards,
    lines_forwards,
    open_readonly,
)
from claudekeeper.transcripts.message_link import link_of
from claudekeeper.transcripts.messages import kind_of, message_of, uuid_of
from claudekeeper.transcripts.prompts import prompt_of

MAX_SIDECAR_BYTES = 1024 * 1024
# how far back the call of a new subagent is looked for
LOOKBACK_BYTES = 1024 * 1024
# bytes of subagents that one request reads
MAX_READ_BYTES = 64 * 1024 * 1024
SPAWN_TOOLS = frozenset({"Task", "Agent"})


class Subagent(msgspec.Struct, rename="camel"):
    """A subagent of a session and the call that started it."""

    agent_id: str
    tool_use_id: str | None = None
    parent_agent_id: str | None = None
    type: str | None = None
    description: str | None = None
    workflow: str | None = None
    size: int | None = None


def list_subagents(transcript: Path, session_id: str, *, inline: bool) -> list[Subagent]:
    """All subagents of a session, in the order of their files. Blocks: call it in a thread."""
    files = _files_by_agent(transcript, session_id)
    subagents = [_describe(agent_id, path) for agent_id, path in files.items()]
    if inline:
        subagents += [Subagent(agent_id=root) for root in _inline_runs(transcript)]
    if any(agent.tool_use_id is None for agent in subagents):
        _find_missing_calls(subagents, transcript)
    return subagents


def read_subagent(
    history: History,
    transcript: Path,
    session_id: str,
    agent_id: str,
    *,
    limit: int,
    before: str | None,
) -> HistorySlice:
    """A page of a subagent's conversation. Blocks: call it in a thread."""
    path = _files_by_agent(transcript, session_id).get(agent_id)
    if path is not None:
        return history.page(path, session_id, limit=limit, before=before, nested=True)
    entries = _inline_runs(transcript).get(agent_id)
    if entries is None:
        raise SubagentNotFound
    return _inline_page(entries, session_id, agent_id, limit, before)


def subagent_file(transcript: Path, session_id: str, agent_id: str) -> Path | None:
    """The file that is read for a subagent, of several with its id. Blocks."""
    return _files_by_agent(transcript, session_id).get(agent_id)


class SubagentEntries:
    """The entries of a session's subagents, by the results of their calls. Blocks."""

    def __init__(self, transcript: Path, session_id: str) -> None:
        self._transcript = transcript
        self._session_id = session_id
        self._unread_files: dict[str, Path] | None = None
        self._remaining_bytes = MAX_READ_BYTES

    def entries_named_in(self, entry: Entry) -> Iterator[Entry]:
        """The entries of the subagent that a result names, once, and up to a limit for all."""
        if not starts_with(entry.tool_use_result, b"{") or b'"agentId"' not in bytes(
            entry.tool_use_result
        ):
            return
        result = loads(entry.tool_use_result)
        if self._unread_files is None:
            self._unread_files = _files_by_agent(self._transcript, self._session_id)
        path = (
            self._unread_files.pop(str(result.get("agentId")), None)
            if isinstance(result, dict)
            else None
        )
        try:
            self._remaining_bytes -= path.stat().st_size if path is not None else 0
            if path is not None and self._remaining_bytes > 0:
                yield from _read_entries(path)
        except (OSError, FileChanged):
            # it is gone, or being rewritten
            return


def _files_by_agent(transcript: Path, session_id: str) -> dict[str, Path]:
    """Transcripts of subagents by agent id."""
    files: dict[str, Path] = {}
    own = transcript.with_suffix("") / SUBAGENTS_FOLDER
    for folder, folders, names in os.walk(own):
        folders.sort()
        for name in sorted(names):
            path = Path(folder, name)
            agent_id = agent_id_of(name)
            if agent_id and not is_outside(path, transcript.parent):
                files.setdefault(agent_id, path)
    try:
        beside = sorted(name for name in os.listdir(transcript.parent) if agent_id_of(name))
    except OSError:
        beside = []
    for name in beside:
        path = transcript.parent / name
        if not path.is_symlink() and (session_of(path) or "").lower() == session_id:
            files.setdefault(agent_id_of(name) or name, path)
    return files


def spawn_call_of(path: Path) -> str | None:
    """The call that started a subagent, if the file beside its transcript says so."""
    return _describe("", path).tool_use_id


def top_level_spawn_call_of(path: Path) -> str | None:
    """The same, where that call stands in the session itself and not in another subagent."""
    described = _describe("", path)
    return None if described.parent_agent_id else described.tool_use_id


def find_call_by_prompt(path: Path) -> tuple[str, str] | None:
    """The session and the call of a subagent whose file stands beside the session's own.

    Nothing names the call while it runs, but the subagent's first line repeats its prompt.
    """
    first = first_entry(path)
    if first is None or first.session_id is None or not is_session_id(first.session_id):
        return None
    prompt = prompt_of(blocks_of(first.message.content))
    try:
        with open_readonly(path.with_name(f"{first.session_id}{TRANSCRIPT_SUFFIX}")) as descriptor:
            size = os.fstat(descriptor).st_size
            for at, line in lines_backwards(descriptor, size):
                for call in _spawn_calls(loads(line)) if b'"tool_use"' in line else ():
                    arguments = call.get("input")
                    call_prompt = arguments.get("prompt") if isinstance(arguments, dict) else None
                    if isinstance(call_prompt, str) and call_prompt.strip() == prompt:
                        return first.session_id.lower(), str(call.get("id"))
                if size - at > LOOKBACK_BYTES:
                    break
    except (OSError, FileChanged):
        return None
    return None


def _describe(agent_id: str, path: Path) -> Subagent:
    size: int | None = None
    meta: Any = None
    try:
        size = path.stat().st_size
        with open_readonly(
            path.with_name(f"{path.name[: -len(TRANSCRIPT_SUFFIX)]}.meta.json")
        ) as descriptor:
            meta = loads(os.pread(descriptor, MAX_SIDECAR_BYTES, 0))
    except OSError:
        # the sidecar is optional: without it the call is found in the transcript
        pass
    meta = meta if isinstance(meta, dict) else {}
    parts = path.parts
    return Subagent(
        agent_id=agent_id,
        tool_use_id=_text_or_none(meta.get("toolUseId")),
        parent_agent_id=_text_or_none(meta.get("parentAgentId")),
        type=_text_or_none(meta.get("agentType")),
        description=_text_or_none(meta.get("description")),
        workflow=parts[parts.index("workflows") + 1] if "workflows" in parts[:-2] else None,
        size=size,
    )


def _inline_runs(transcript: Path) -> dict[str, list[Entry]]:
    """Sidechain lines of the session's own file, by the uuid of the line each run begins with."""
    runs: dict[str, list[Entry]] = {}
    run_of: dict[str, str] = {}
    for entry in _read_entries(transcript):
        if not entry.is_sidechain or link_of(entry, 0, 0, nested=True) is None:
            continue
        if entry.type == "queue-operation":
            continue
        uuid = uuid_of(entry)
        root = run_of.get(entry.parent_uuid or "", uuid)
        run_of[uuid] = root
        runs.setdefault(root, []).append(entry)
    return runs


def inline_agents(transcript: Path) -> dict[str, str]:
    """The subagents of sidechain lines in the session's own file, by the lines' uuids. Blocks."""
    return {
        uuid_of(entry): root
        for root, entries in _inline_runs(transcript).items()
        for entry in entries
    }


def _inline_page(
    entries: list[Entry], session_id: str, agent_id: str, limit: int, before: str | None
) -> HistorySlice:
    messages: list[Message] = []
    for entry in entries:
        kind = kind_of(entry, nested=True)
        if kind is not None:
            message = message_of(entry, session_id, kind)
            message.agent_id = agent_id
            messages.append(message)
    end = len(messages)
    if before is not None:
        end = next((i for i, each in enumerate(messages) if each.uuid == before), -1)
        if end < 0:
            raise MessageNotFound
    start = max(0, end - limit)
    return HistorySlice(messages[start:end], messages[start].uuid if start > 0 else None)


def _find_missing_calls(agents: list[Subagent], transcript: Path) -> None:
    """Find the call of each agent whose own files do not name it.

    The result of the call names the agent; older versions name it nowhere, but the agent's first
    line repeats the call's prompt.
    """
    runs = {agent.agent_id: agent for agent in agents if agent.tool_use_id is None}
    prompts: dict[str, Subagent] = {}
    for root, entries in _inline_runs(transcript).items():
        if root in runs:
            prompts[prompt_of(blocks_of(entries[0].message.content))] = runs[root]
    for raw in _read_lines(transcript):
        if b'"agentId"' in raw and b'"tool_result"' in raw:
            line = loads(raw)
            result = line.get("toolUseResult") if isinstance(line, dict) else None
            agent = runs.get(result.get("agentId", "")) if isinstance(result, dict) else None
            entries, _ = parse_line(raw)
            if agent is not None and entries:
                blocks = blocks_of(entries[0].message.content)
                agent.tool_use_id = next((b.tool_use_id for b in blocks if b.tool_use_id), None)
        elif prompts and b'"tool_use"' in raw:
            for call in _spawn_calls(loads(raw)):
                arguments = call.get("input")
                prompt = arguments.get("prompt") if isinstance(arguments, dict) else None
                agent = prompts.get(prompt.strip()) if isinstance(prompt, str) else None
                if agent is not None and agent.tool_use_id is None and isinstance(arguments, dict):
                    agent.tool_use_id = _text_or_none(call.get("id"))
                    agent.description = _text_or_none(arguments.get("description"))
                    agent.type = _text_or_none(arguments.get("subagent_type"))


def _spawn_calls(line: Any) -> Iterator[dict[str, Any]]:
    message = line.get("message") if isinstance(line, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and block.get("name") in SPAWN_TOOLS:
            yield block


def _read_entries(transcript: Path) -> Iterator[Entry]:
    for line in _read_lines(transcript):
        yield from parse_line(line)[0]


def _read_lines(transcript: Path) -> Iterator[bytes]:
    with open_readonly(transcript) as descriptor:
        for _, line, _ in lines_forwards(descriptor, 0, os.fstat(descriptor).st_size):
            if line and not is_irrelevant(line):
                yield line


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None
