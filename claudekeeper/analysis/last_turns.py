"""The end of a session: its last turns, its last message, and an open question."""

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
from claudekeeper.transcripts.untyped import content_text, shorten

# `asked`: the last message is a prompt; `said`: it is a finished reply; the others end in mid-turn
EndKind = Literal["nothing", "asked", "said", "cut", "interrupted", "failed"]

MAX_TURNS = 3
# it can be sent again, so all of it is needed
MAX_PROMPT_LENGTH = 20_000
MAX_QUESTION_LENGTH = 1_000
MAX_REPLY_LENGTH = 3_000
# the call with which a scripted turn returns its answer: nothing comes after it
STRUCTURED_OUTPUT_TOOL = "StructuredOutput"
QUESTION_TOOL, PLAN_TOOL = "AskUserQuestion", "ExitPlanMode"
ATTENTION_TOOLS = frozenset({QUESTION_TOOL, PLAN_TOOL})
# Claude Code writes these in Claude's name when a session is resumed and there is nothing to say
_SYNTHETIC_MODEL = "<synthetic>"
_EMPTY_REPLIES = frozenset({"No response requested.", "(no content)"})


class LastTurn(msgspec.Struct, rename="camel"):
    """A turn: its prompt and its last reply. `prompt` is null if it is further back.

    `whole`: all of the turn was read; otherwise it has more calls than `tools`, and maybe a reply.
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
    """A question of Claude's that waits for an answer."""

    kind: Literal["reply", "question", "plan", "permission"]
    text: str
    options: list[str] = []
    uuid: str | None = None
    attention_id: str | None = None


class SessionEnd(msgspec.Struct):
    """The end of a session."""

    turns: list[LastTurn]
    kind: EndKind
    question: OpenQuestion | None = None
    # the error with which it ends
    error: str | None = None
    # the tool that the person refused without a reason, if nothing was said since
    refused_tool: str | None = None
    # the answer of the person to a question or plan, if nothing was said since
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
    """The end of a session, from its last messages, oldest first."""
    fold = _EndFold()
    for message in messages:
        # a branch that a rewind left is not the end
        if message.branch is None:
            fold.add(message)
    return fold.finish()


def extend_turns(turns: list[LastTurn], messages: Iterable[Message]) -> list[LastTurn]:
    """The last turns, extended by the messages before them."""
    before = session_end_of(messages).turns
    if before and turns and turns[0].prompt is None:
        start, rest = before[-1], turns[0]
        start.tools += rest.tools
        if rest.reply is not None:
            start.reply, start.reply_uuid = rest.reply, rest.reply_uuid
        turns = turns[1:]
    return [*before, *turns][-MAX_TURNS:]


class _EndFold:
    def __init__(self) -> None:
        self._turns: list[LastTurn] = []
        self._kind: EndKind = "nothing"
        self._open_calls: dict[str, tuple[str, Raw, str]] = {}
        self._error: str | None = None
        self._refused_tool: str | None = None
        self._answer_text: str | None = None
        self._tool_by_call: dict[str, str] = {}
        # a question card that was dismissed without an answer
        self._dismissed_question: OpenQuestion | None = None
        # a question after which Claude went on although nobody had answered it
        self._skipped_question: OpenQuestion | None = None
        # a command of Claude Code's own with arguments: it was for Claude if Claude replies
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
                # a reply that ends with a question was complete: nothing ran any more
                if not (self._question_in_reply() or self._skipped_question):
                    self._kind = "interrupted"
            case "notice":
                # a background task that ended makes Claude go on, not the person
                self._skipped_question = self._question_in_reply() or self._skipped_question
                self._possible_prompt = None

    def _add_prompt(self, message: Message, parts: list[_Part]) -> None:
        blocks = [ContentBlock(type=part.type, text=part.text) for part in parts]
        text = shorten(prompt_of(blocks), MAX_PROMPT_LENGTH)
        if not text:
            # only the file that an editor has open: the prompt is a message of its own
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
                # of a background call, or a result that is repeated
                continue
            else:
                self._kind = "cut"
                self._answer_text = (
                    _answer_in(name, part, denied_by) if name in ATTENTION_TOOLS else None
                )
                is_refused = part.is_error and name in ATTENTION_TOOLS and not self._answer_text
                self._refused_tool = name if is_refused else None
                if call and self._refused_tool == QUESTION_TOOL:
                    _, call_input, uuid = call
                    self._dismissed_question = question_of_call(name, loads(call_input), uuid)

    def finish(self) -> SessionEnd:
        question = self._pending_question() or self._question_in_reply()
        if question is None and self._kind == "said":
            question = self._skipped_question
        for turn in self._turns:
            turn.reply = shorten(turn.reply, MAX_REPLY_LENGTH) if turn.reply else None
        return SessionEnd(
            self._turns[-MAX_TURNS:],
            self._kind,
            question,
            self._error,
            self._refused_tool,
            self._answer_text,
        )

    def _pending_question(self) -> OpenQuestion | None:
        """The question of a call that has no result, or was dismissed without an answer."""
        if self._dismissed_question is not None:
            return self._dismissed_question
        if self._kind != "cut":
            return None
        for name, call_input, uuid in reversed(self._open_calls.values()):
            if name in ATTENTION_TOOLS:
                return question_of_call(name, loads(call_input), uuid)
        return None

    def _question_in_reply(self) -> OpenQuestion | None:
        """The question with which the last reply ends."""
        if self._kind != "said" or not self._turns or not self._turns[-1].reply:
            return None
        text = find_question(self._turns[-1].reply)
        return OpenQuestion("reply", text, uuid=self._turns[-1].reply_uuid) if text else None


def question_of_call(tool: str, call_input: Any, uuid: str | None = None) -> OpenQuestion:
    """The question or plan of a call, in words."""
    if tool == PLAN_TOOL:
        plan = call_input.get("plan") if isinstance(call_input, dict) else None
        first = next((line.strip(" #*") for line in str(plan or "").splitlines() if line), "")
        return OpenQuestion("plan", f"Is this plan right: {first or 'the plan'}?", uuid=uuid)
    options: list[str] = []
    questions = questions_in(call_input)
    for question in questions:
        choices = question.get("options")
        options += [
            str(option.get("label") or "")
            for option in (choices if isinstance(choices, list) else [])
            if isinstance(option, dict)
        ]
    text = shorten(question_text(questions), MAX_QUESTION_LENGTH)
    return OpenQuestion("question", text or "Claude asks something.", options[:20], uuid)


def _answer_in(tool: str, result: _Part, denied_by: Denier | None) -> str | None:
    """The answer of the person to a question or plan; None if it was dismissed without a word."""
    if result.is_error:
        words = refusal_reason(content_text(result.content), denied_by)
    elif tool == PLAN_TOOL:
        words = "approved"
    else:
        answers = [answer for _, answer in answers_in(EMPTY_RAW, result.content)]
        words = ", ".join(answers) or "answered"
    return shorten(words, MAX_QUESTION_LENGTH) if words else None


def _is_for_claude(parts: list[_Part]) -> bool:
    """Whether a command was for Claude, and did not only run in the terminal."""
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
            # a block of an unknown shape is skipped
            continue
    return parts


def _joined_text(parts: list[_Part]) -> str:
    return shorten("\n".join(part.text for part in parts if part.text), MAX_QUESTION_LENGTH)
