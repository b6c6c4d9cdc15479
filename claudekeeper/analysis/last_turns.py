"""How a conversation stands: its last turns, and what its last message was."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Raw

from claudekeeper.analysis.decisions import answers_in, question_text, questions_in, refusal_reason
from claudekeeper.analysis.question_detection import find_question
from claudekeeper.contract.message import Denier, Message
from claudekeeper.transcripts.entries import EMPTY_RAW, ContentBlock, loads
from claudekeeper.transcripts.prompts import has_arguments, is_command, is_local_command, prompt_of
from claudekeeper.transcripts.untyped import content_text

# `asked`: a person spoke last; `said`: Claude did, and was done; the others ended in mid-turn
EndKind = Literal["nothing", "asked", "said", "cut", "interrupted", "failed"]

MAX_TURNS = 3
# it can be said again, so all of it is needed
MAX_PROMPT_LENGTH = 20_000
MAX_QUESTION_LENGTH = 1_000
MAX_REPLY_LENGTH = 3_000
# the call with which a scripted turn hands over its answer: nothing comes after it
STRUCTURED_OUTPUT_TOOL = "StructuredOutput"
QUESTION_TOOL, PLAN_TOOL = "AskUserQuestion", "ExitPlanMode"
ATTENTION_TOOLS = frozenset({QUESTION_TOOL, PLAN_TOOL})
# Claude Code writes it in Claude's place where a session is taken up and nothing is to be said
_SYNTHETIC_MODEL = "<synthetic>"
_EMPTY_REPLIES = frozenset({"No response requested.", "(no content)"})


class LastTurn(msgspec.Struct, rename="camel"):
    """What was asked and what came of it. `prompt` is null where it lies further back.

    `whole`: all of the turn was read; otherwise it has more calls than `tools` says, and maybe a
    reply.
    """

    prompt: str | None
    uuid: str | None
    at: str | None
    reply: str | None = None
    reply_uuid: str | None = None
    # calls of tools in this turn
    tools: int = 0
    whole: bool = True


class OpenQuestion(msgspec.Struct, rename="camel"):
    """What Claude wants to know."""

    kind: Literal["reply", "question", "plan", "permission"]
    text: str
    options: list[str] = []
    uuid: str | None = None
    attention_id: str | None = None


class SessionEnd(msgspec.Struct):
    """The end of a conversation."""

    turns: list[LastTurn]
    kind: EndKind
    question: OpenQuestion | None = None
    # what went wrong, if that was the last
    error: str | None = None
    # whether the person refused something, gave no reason, and nothing was said since
    refused_tool: str | None = None
    # what the person answered to a question or plan, if nothing was said since
    answer: str | None = None


class _Part(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None
    input: Raw = EMPTY_RAW
    content: Raw = EMPTY_RAW


_parts_decoder = msgspec.json.Decoder(list[_Part])


def session_end_of(messages: Iterable[Message]) -> SessionEnd:
    """The end of a conversation, from its last messages, oldest first."""
    reading = _Reading()
    for message in messages:
        # what was left behind by a rewind is not how it stands
        if message.branch is None:
            reading.add(message)
    return reading.finish()


def extend_turns(turns: list[LastTurn], messages: Iterable[Message]) -> list[LastTurn]:
    """The last turns again, with the messages before those of which they are made."""
    above = session_end_of(messages).turns
    if above and turns and turns[0].prompt is None:
        begun, rest = above[-1], turns[0]
        begun.tools += rest.tools
        if rest.reply is not None:
            begun.reply, begun.reply_uuid = rest.reply, rest.reply_uuid
        turns = turns[1:]
    return [*above, *turns][-MAX_TURNS:]


class _Reading:
    def __init__(self) -> None:
        self._turns: list[LastTurn] = []
        self._kind: EndKind = "nothing"
        self._open_calls: dict[str, tuple[str, Raw, str]] = {}
        self._error: str | None = None
        self._refused_tool: str | None = None
        self._answer_text: str | None = None
        self._tool_by_call: dict[str, str] = {}
        # a question card that was put away without an answer
        self._dismissed_question: OpenQuestion | None = None
        # a question after which Claude said more, though nobody had answered it
        self._skipped_question: OpenQuestion | None = None
        # a command of Claude Code's own with words: if Claude replies, they were for Claude
        self._possible_prompt: Message | None = None

    def add(self, message: Message) -> None:
        parts = _parts_of(message.content)
        match message.kind:
            case "prompt":
                self._add_prompt(message, parts)
            case "command" if _is_for_claude(parts):
                self._add_prompt(message, parts)
            case "command" if has_arguments(_first_text(parts)):
                self._possible_prompt = message
            case "reply":
                self._add_reply(message, parts)
            case "toolResult":
                self._add_results(parts, message.denied_by)
            case "error":
                self._kind = "failed"
                self._error = _joined_text(parts)
            case "interruption":
                # what ends with a question was whole: nothing ran any more
                if not (self._question_in_reply() or self._skipped_question):
                    self._kind = "interrupted"
            case "notice":
                # a task in the background that ends makes Claude speak, not the person
                self._skipped_question = self._question_in_reply() or self._skipped_question
                self._possible_prompt = None

    def _add_prompt(self, message: Message, parts: list[_Part]) -> None:
        blocks = [ContentBlock(type=part.type, text=part.text) for part in parts]
        text = _shorten(prompt_of(blocks), MAX_PROMPT_LENGTH)
        if not text:
            # only what an editor had open: a prompt of its own comes with it
            return
        self._turns.append(LastTurn(text, message.uuid, message.timestamp))
        self._kind, self._error, self._refused_tool = "asked", None, None
        self._dismissed_question = self._skipped_question = self._answer_text = None
        self._open_calls.clear()
        self._possible_prompt = None

    def _add_reply(self, message: Message, parts: list[_Part]) -> None:
        if message.model == _SYNTHETIC_MODEL and _joined_text(parts) in _EMPTY_REPLIES:
            return
        if self._possible_prompt is not None:
            self._add_prompt(self._possible_prompt, _parts_of(self._possible_prompt.content))
        if not self._turns:
            self._turns.append(LastTurn(None, None, message.timestamp))
        turn = self._turns[-1]
        self._error = self._refused_tool = self._answer_text = None
        for part in parts:
            if part.type == "text" and (part.text or "").strip():
                turn.reply = part.text
                turn.reply_uuid = message.uuid
                self._kind, self._dismissed_question = "said", None
            elif part.type == "tool_use" and part.id:
                turn.tools += 1
                self._open_calls[part.id] = (part.name or "", part.input, message.uuid)
                self._tool_by_call[part.id] = part.name or ""
                self._kind, self._dismissed_question = "cut", None
            elif part.type in ("thinking", "redacted_thinking") and self._kind == "asked":
                self._kind = "cut"

    def _add_results(self, parts: list[_Part], denied_by: Denier | None) -> None:
        for part in parts:
            if part.type != "tool_result":
                continue
            call = self._open_calls.pop(part.tool_use_id or "", None)
            name = call[0] if call else self._tool_by_call.get(part.tool_use_id or "", "")
            if name == STRUCTURED_OUTPUT_TOOL and not part.is_error:
                self._kind = "said"
            elif self._kind == "said" and not call:
                # of a call that was made in the background, or told twice
                continue
            else:
                self._kind = "cut"
                self._answer_text = (
                    _answer_in(name, part, denied_by) if name in ATTENTION_TOOLS else None
                )
                put_away = part.is_error and name in ATTENTION_TOOLS and self._answer_text is None
                self._refused_tool = name if put_away else None
                if call and self._refused_tool == QUESTION_TOOL:
                    self._dismissed_question = question_of_call(
                        QUESTION_TOOL, loads(call[1]), call[2]
                    )

    def finish(self) -> SessionEnd:
        question = self._pending_question() or self._question_in_reply()
        if question is None and self._kind == "said":
            question = self._skipped_question
        for turn in self._turns:
            turn.reply = _shorten(turn.reply, MAX_REPLY_LENGTH) if turn.reply else None
        return SessionEnd(
            self._turns[-MAX_TURNS:],
            self._kind,
            question,
            self._error,
            self._refused_tool,
            self._answer_text,
        )

    def _pending_question(self) -> OpenQuestion | None:
        """A call that waits for a person: it has no result, or was put away without an answer."""
        if self._dismissed_question is not None:
            return self._dismissed_question
        if self._kind != "cut":
            return None
        for name, given, uuid in reversed(self._open_calls.values()):
            if name in ATTENTION_TOOLS:
                return question_of_call(name, loads(given), uuid)
        return None

    def _question_in_reply(self) -> OpenQuestion | None:
        """What the last words ask."""
        if self._kind != "said" or not self._turns or not self._turns[-1].reply:
            return None
        text = find_question(self._turns[-1].reply)
        return OpenQuestion("reply", text, uuid=self._turns[-1].reply_uuid) if text else None


def question_of_call(tool: str, given: Any, uuid: str | None = None) -> OpenQuestion:
    """The question or plan of a call, in words."""
    given = given if isinstance(given, dict) else {}
    if tool == PLAN_TOOL:
        plan = given.get("plan")
        first = next((line.strip(" #*") for line in str(plan or "").splitlines() if line), "")
        return OpenQuestion("plan", f"Is this plan right: {first or 'the plan'}?", uuid=uuid)
    options: list[str] = []
    questions = questions_in(given)
    for each in questions:
        choices = each.get("options")
        options += [
            str(option.get("label") or "")
            for option in (choices if isinstance(choices, list) else [])
            if isinstance(option, dict)
        ]
    text = _shorten(question_text(questions), MAX_QUESTION_LENGTH)
    return OpenQuestion("question", text or "Claude asks something.", options[:20], uuid)


def _answer_in(tool: str, result: _Part, denied_by: Denier | None) -> str | None:
    """What the person said to a question or plan; None where it was put away without a word."""
    if result.is_error:
        words = refusal_reason(content_text(result.content), denied_by)
    elif tool == PLAN_TOOL:
        words = "approved"
    else:
        answers = [answer for _, answer in answers_in(EMPTY_RAW, result.content)]
        words = ", ".join(answers) or "answered"
    return _shorten(words, MAX_QUESTION_LENGTH) if words else None


def _is_for_claude(parts: list[_Part]) -> bool:
    """Whether a command was put to Claude, not only done in the terminal."""
    first = _first_text(parts)
    return is_command(first) and not is_local_command(first)


def _first_text(parts: list[_Part]) -> str:
    return next((part.text for part in parts if part.text), "") or ""


def _parts_of(content: Raw) -> list[_Part]:
    try:
        return _parts_decoder.decode(content)
    except (msgspec.MsgspecError, RecursionError):
        pass
    loose = loads(content)
    parts: list[_Part] = []
    for block in loose if isinstance(loose, list) else []:
        try:
            parts.append(msgspec.convert(block, _Part, strict=False))
        except (msgspec.MsgspecError, RecursionError):
            # a block of a shape that nobody knows tells nothing
            continue
    return parts


def _joined_text(parts: list[_Part]) -> str:
    return _shorten("\n".join(part.text for part in parts if part.text), MAX_QUESTION_LENGTH)


def _shorten(text: str, most: int) -> str:
    text = text.strip()
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
