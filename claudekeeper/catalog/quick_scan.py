"""The quick scan: a row from the head and the tail of a transcript.

A first listing reads thousands of files, so few bytes are read and little is decoded: at the
beginning only the line of the first prompt, recognised by its bytes; at the end a few lines at
once, and only the fields that a list shows. The full scan adds what is missed here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from claudekeeper.analysis.summary import SYNTHETIC_MODEL, Summary
from claudekeeper.transcripts.entries import DECODE_ERRORS, Entry, is_irrelevant, parse_line
from claudekeeper.transcripts.line_reader import open_readonly
from claudekeeper.transcripts.prompts import has_arguments, is_caveat, shorten_prompt
from claudekeeper.transcripts.spoken_prompts import PromptFilter

# enough for most files; of the others more is read
HEAD_BYTES = 4 * 1024
TAIL_BYTES = 4 * 1024
WIDER_TAIL_BYTES = 16 * 1024
# the first prompt is looked for in so much; beyond it only the full scan finds it
MAX_HEAD_BYTES = 512 * 1024
# messages that a copy has beyond its original are looked for in so much of its end
END_BYTES = 4 * 1024 * 1024
# inside a string the quotes would be escaped: only a user line has these bytes
USER_CONTENT = b'"role":"user","content":'
RESULT_PREFIX = b'[{"tool_use_id":'
LINK_PREFIX = b'{"parentUuid":'
COMMAND_TAG = "<command-name>"
LOCAL_TAGS = ("<local-command-", "<bash-")


class _Words(msgspec.Struct, gc=False):
    content: str


class _Prompt(msgspec.Struct, rename="camel", gc=False):
    """A user line whose content is a plain string, as of nearly every prompt."""

    message: _Words
    uuid: str
    timestamp: str
    cwd: str
    git_branch: str | None = None
    is_sidechain: bool = False
    is_meta: bool = False
    is_compact_summary: bool = False

    @property
    def is_aside(self) -> bool:
        """Whether it is for the machine, or was done in the terminal only."""
        text = self.message.content
        local = text.startswith(LOCAL_TAGS) or (
            text.startswith(COMMAND_TAG) and not has_arguments(text)
        )
        return self.is_meta or local

    @property
    def is_plain(self) -> bool:
        """Whether it is a person's prompt with nothing to unwrap."""
        text = self.message.content
        return not (
            "<" in text
            or text.startswith(("[", "(", "Caveat:"))
            or self.is_meta
            or self.is_sidechain
            or self.is_compact_summary
            or not text.strip()
        )


class _Stamp(msgspec.Struct, rename="camel", gc=False):
    """The time of a line."""

    timestamp: str | None = None
    is_sidechain: bool = False


class _Said(msgspec.Struct, gc=False):
    model: str | None = None


class _Line(msgspec.Struct, rename="camel", gc=False):
    """Any line: the fields that a list shows."""

    is_sidechain: bool = False
    message: _Said | None = None
    type: str = ""
    git_branch: str | None = None
    agent_name: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    last_prompt: str | None = None


_prompt_decoder = msgspec.json.Decoder(_Prompt)
_line_decoder = msgspec.json.Decoder(_Line)
_stamp_decoder = msgspec.json.Decoder(_Stamp)


def read_head(descriptor: int, summary: Summary) -> None:
    """The directory, the time and the first prompt, from the head."""
    head = os.pread(descriptor, HEAD_BYTES, 0)
    prompt_filter = PromptFilter()
    at = head.find(USER_CONTENT)
    while True:
        end = head.find(b"\n", at) if at >= 0 else -1
        if end >= 0:
            start = head.rfind(b"\n", 0, at) + 1
            if summary.created is None and (link := head.find(LINK_PREFIX, 0, start)) >= 0:
                # a hook's output stands before the first prompt
                summary.created = _timestamp_of(head[link : head.find(b"\n", link)])
            if _read_prompt(
                head[start:end], at - start + len(USER_CONTENT), summary, prompt_filter
            ):
                return
            at = head.find(USER_CONTENT, end)
            continue
        # long output of hooks can stand before the first prompt, and images inside it
        if len(head) >= MAX_HEAD_BYTES or not (
            more := os.pread(descriptor, len(head) * 3, len(head))
        ):
            break
        at = at if at >= 0 else max(0, len(head) - len(USER_CONTENT))
        head += more
        at = head.find(USER_CONTENT, at)
    _read_every_line(head, summary)


def _read_prompt(line: bytes, content: int, summary: Summary, prompt_filter: PromptFilter) -> bool:
    """Whether the line is the first prompt; then nothing else of the head is needed."""
    if line.startswith(RESULT_PREFIX, content):
        return False
    try:
        user = _prompt_decoder.decode(line)
    except DECODE_ERRORS:
        user = None
    if user is not None and user.is_plain:
        summary.first_prompt = shorten_prompt(user.message.content)
        summary.workdir = user.cwd
        summary.git_branch = user.git_branch or None
        summary.created = summary.created or user.timestamp
        summary.main_lines += 1
        return True
    if user is not None and user.is_aside:
        if user.is_meta and is_caveat(user.message.content):
            prompt_filter.caveat_uuid = user.uuid
        return False
    # content blocks, a command, or an unusual line
    for entry in parse_line(line)[0]:
        _add_head_entry(summary, entry, prompt_filter)
    return bool(summary.first_prompt and summary.workdir)


def _timestamp_of(line: bytes) -> str | None:
    try:
        stamp = _stamp_decoder.decode(line)
    except DECODE_ERRORS:
        return None
    return None if stamp.is_sidechain else stamp.timestamp


def _read_every_line(head: bytes, summary: Summary) -> None:
    """Read every line of a head in which no prompt is recognised by its bytes."""
    prompt_filter = PromptFilter()
    for line in head.split(b"\n"):
        if not is_irrelevant(line):
            for entry in parse_line(line)[0]:
                _add_head_entry(summary, entry, prompt_filter)


def _add_head_entry(summary: Summary, entry: Entry, prompt_filter: PromptFilter) -> None:
    if entry.is_sidechain:
        summary.has_sidechains = True
        return
    summary.workdir = summary.workdir or entry.cwd
    summary.git_branch = entry.git_branch or summary.git_branch
    if entry.uuid is None:
        return
    summary.main_lines += 1
    summary.created = summary.created or entry.timestamp
    if entry.type == "user" and (prompt := prompt_filter.short_prompt_in(entry)):
        text, is_for_claude = prompt
        if is_for_claude:
            summary.first_prompt = summary.first_prompt or text
        else:
            summary.first_command = summary.first_command or text


def read_tail(descriptor: int, size: int, summary: Summary) -> None:
    """The titles, the last prompt, the model and the git branch, from the tail."""
    for window in (TAIL_BYTES, WIDER_TAIL_BYTES):
        start = max(0, size - window)
        tail = os.pread(descriptor, window, start)
        # the first line is incomplete
        _apply_tail(_decode_lines(tail[tail.find(b"\n") + 1 :] if start else tail), summary)
        # the last reply can stand before a long result; nothing else is worth reading more
        if summary.model is not None or start == 0:
            return


def _decode_lines(tail: bytes) -> list[_Line]:
    try:
        return _line_decoder.decode_lines(tail)
    except DECODE_ERRORS:
        pass
    lines = []
    for line in tail.split(b"\n"):
        try:
            lines.append(_line_decoder.decode(line))
        except DECODE_ERRORS:
            # torn or unusual: the full scan reads such lines closely
            continue
    return lines


def _apply_tail(lines: list[_Line], summary: Summary) -> None:
    """Of each kind the last line counts."""
    branch = None
    for line in reversed(lines):
        if line.is_sidechain:
            continue
        branch = branch or line.git_branch
        match line.type:
            case "assistant":
                reply = line.message
                if summary.model is None and reply is not None and reply.model != SYNTHETIC_MODEL:
                    summary.model = reply.model
            case "last-prompt":
                summary.last_prompt = summary.last_prompt or line.last_prompt
            case "agent-name":
                summary.agent_name = summary.agent_name or line.agent_name
            case "ai-title":
                summary.ai_title = summary.ai_title or line.ai_title
            case "custom-title":
                summary.custom_title = summary.custom_title or line.custom_title
    summary.git_branch = branch or summary.git_branch


def find_copy_with_message(paths: Iterable[str], original: str, uuid: str) -> str | None:
    """The first of these that is a fork of a session and has a message near its end. Blocks."""
    copied, sought = original.encode(), b'"uuid":"%b"' % uuid.encode()
    for path in paths:
        try:
            with open_readonly(path) as descriptor:
                head = os.pread(descriptor, MAX_HEAD_BYTES, 0)
                if b'"forkedFrom"' not in head or copied not in head:
                    continue
                end = os.fstat(descriptor).st_size
                if sought in os.pread(descriptor, END_BYTES, max(0, end - END_BYTES)):
                    return path
        except OSError:
            continue
    return None


def find_session_of_message(paths: Iterable[str], uuid: str) -> str | None:
    """The first of these transcripts that has a line with this uuid near its beginning. Blocks."""
    # a fork names the messages that it copied in another field
    sought = b'"uuid":"%b"' % uuid.encode()
    for path in paths:
        try:
            with open_readonly(path) as descriptor:
                if sought in os.pread(descriptor, MAX_HEAD_BYTES, 0):
                    return path
        except OSError:
            continue
    return None
