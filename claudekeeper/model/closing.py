"""How a conversation stands: its last turns, and what its last message was."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Raw

from claudekeeper.model.asking import question_in
from claudekeeper.model.decisions import answers_in, questions_in, reason_in, wording_of
from claudekeeper.model.entries import NOTHING, Block, Denier, loads
from claudekeeper.model.loose import words_of
from claudekeeper.model.messages import Message
from claudekeeper.model.prompts import asks_with_words, is_command, is_local, prompt_of

# `asked`: a person spoke last; `said`: Claude did, and was done; the others ended in mid-turn
Standing = Literal["nothing", "asked", "said", "cut", "interrupted", "failed"]

MOST_TURNS = 3
# it can be said again, so all of it is needed
MOST_PROMPT = 20_000
MOST_QUESTION = 1_000
MOST_REPLY = 3_000
# the call with which a scripted turn hands over its answer: nothing comes after it
HANDS_OVER = "StructuredOutput"
ASKS, PLANS = "AskUserQuestion", "ExitPlanMode"
WAITING = frozenset({ASKS, PLANS})
# Claude Code writes it in Claude's place where a session is taken up and nothing is to be said
_SYNTHETIC = "<synthetic>"
_SAYS_NOTHING = frozenset({"No response requested.", "(no content)"})


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


class Question(msgspec.Struct, rename="camel"):
    """What Claude wants to know."""

    kind: Literal["reply", "question", "plan", "permission"]
    text: str
    options: list[str] = []
    uuid: str | None = None
    attention_id: str | None = None


class Closing(msgspec.Struct):
    """The end of a conversation."""

    turns: list[LastTurn]
    standing: Standing
    question: Question | None = None
    # what went wrong, if that was the last
    error: str | None = None
    # whether the person refused something, gave no reason, and nothing was said since
    refused: str | None = None
    # what the person answered to a question or plan, if nothing was said since
    answered: str | None = None


class _Part(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None
    input: Raw = NOTHING
    content: Raw = NOTHING


_parts = msgspec.json.Decoder(list[_Part])


def closing_of(messages: Iterable[Message]) -> Closing:
    """The end of a conversation, from its last messages, oldest first."""
    reading = _Reading()
    for message in messages:
        # what was left behind by a rewind is not how it stands
        if message.branch is None:
            reading.add(message)
    return reading.closing()


def further_back(turns: list[LastTurn], messages: Iterable[Message]) -> list[LastTurn]:
    """The last turns again, with the messages before those of which they are made."""
    above = closing_of(messages).turns
    if above and turns and turns[0].prompt is None:
        begun, rest = above[-1], turns[0]
        begun.tools += rest.tools
        if rest.reply is not None:
            begun.reply, begun.reply_uuid = rest.reply, rest.reply_uuid
        turns = turns[1:]
    return [*above, *turns][-MOST_TURNS:]


class _Reading:
    def __init__(self) -> None:
        self._turns: list[LastTurn] = []
        self._standing: Standing = "nothing"
        self._calls: dict[str, tuple[str, Raw, str]] = {}
        self._error: str | None = None
        self._refused: str | None = None
        self._answered: str | None = None
        self._done: dict[str, str] = {}
        # a question card that was put away without an answer
        self._dismissed: Question | None = None
        # a question after which Claude said more, though nobody had answered it
        self._passed_over: Question | None = None
        # a command of Claude Code's own with words: if Claude replies, they were for Claude
        self._perhaps: Message | None = None

    def add(self, message: Message) -> None:
        parts = _parts_of(message.content)
        match message.kind:
            case "prompt":
                self._ask(message, parts)
            case "command" if _is_asked(parts):
                self._ask(message, parts)
            case "command" if asks_with_words(_first(parts)):
                self._perhaps = message
            case "reply":
                self._reply(message, parts)
            case "toolResult":
                self._result(parts, message.denied_by)
            case "error":
                self._standing = "failed"
                self._error = _text(parts)
            case "interruption":
                # what ends with a question was whole: nothing ran any more
                if not (self._asked() or self._passed_over):
                    self._standing = "interrupted"
            case "notice":
                # a task in the background that ends makes Claude speak, not the person
                self._passed_over = self._asked() or self._passed_over
                self._perhaps = None

    def _ask(self, message: Message, parts: list[_Part]) -> None:
        blocks = [Block(type=part.type, text=part.text) for part in parts]
        text = _short(prompt_of(blocks), MOST_PROMPT)
        if not text:
            # only what an editor had open: a prompt of its own comes with it
            return
        self._turns.append(LastTurn(text, message.uuid, message.timestamp))
        self._standing, self._error, self._refused = "asked", None, None
        self._dismissed = self._passed_over = self._answered = None
        self._calls.clear()
        self._perhaps = None

    def _reply(self, message: Message, parts: list[_Part]) -> None:
        if message.model == _SYNTHETIC and _text(parts) in _SAYS_NOTHING:
            return
        if self._perhaps is not None:
            self._ask(self._perhaps, _parts_of(self._perhaps.content))
        if not self._turns:
            self._turns.append(LastTurn(None, None, message.timestamp))
        turn = self._turns[-1]
        self._error = self._refused = self._answered = None
        for part in parts:
            if part.type == "text" and (part.text or "").strip():
                turn.reply = part.text
                turn.reply_uuid = message.uuid
                self._standing, self._dismissed = "said", None
            elif part.type == "tool_use" and part.id:
                turn.tools += 1
                self._calls[part.id] = (part.name or "", part.input, message.uuid)
                self._done[part.id] = part.name or ""
                self._standing, self._dismissed = "cut", None
            elif part.type in ("thinking", "redacted_thinking") and self._standing == "asked":
                self._standing = "cut"

    def _result(self, parts: list[_Part], denied_by: Denier | None) -> None:
        for part in parts:
            if part.type != "tool_result":
                continue
            call = self._calls.pop(part.tool_use_id or "", None)
            name = call[0] if call else self._done.get(part.tool_use_id or "", "")
            if name == HANDS_OVER and not part.is_error:
                self._standing = "said"
            elif self._standing == "said" and not call:
                # of a call that was made in the background, or told twice
                continue
            else:
                self._standing = "cut"
                self._answered = _answer(name, part, denied_by) if name in WAITING else None
                put_away = part.is_error and name in WAITING and self._answered is None
                self._refused = name if put_away else None
                if call and self._refused == ASKS:
                    self._dismissed = waiting_question(ASKS, loads(call[1]), call[2])

    def closing(self) -> Closing:
        question = self._waiting() or self._asked()
        if question is None and self._standing == "said":
            question = self._passed_over
        for turn in self._turns:
            turn.reply = _short(turn.reply, MOST_REPLY) if turn.reply else None
        return Closing(
            self._turns[-MOST_TURNS:],
            self._standing,
            question,
            self._error,
            self._refused,
            self._answered,
        )

    def _waiting(self) -> Question | None:
        """A call that waits for a person: it has no result, or was put away without an answer."""
        if self._dismissed is not None:
            return self._dismissed
        if self._standing != "cut":
            return None
        for name, given, uuid in reversed(self._calls.values()):
            if name in WAITING:
                return waiting_question(name, loads(given), uuid)
        return None

    def _asked(self) -> Question | None:
        """What the last words ask."""
        if self._standing != "said" or not self._turns or not self._turns[-1].reply:
            return None
        text = question_in(self._turns[-1].reply)
        return Question("reply", text, uuid=self._turns[-1].reply_uuid) if text else None


def waiting_question(tool: str, given: Any, uuid: str | None = None) -> Question:
    """The question or plan of a call, in words."""
    given = given if isinstance(given, dict) else {}
    if tool == PLANS:
        plan = given.get("plan")
        first = next((line.strip(" #*") for line in str(plan or "").splitlines() if line), "")
        return Question("plan", f"Is this plan right: {first or 'the plan'}?", uuid=uuid)
    options: list[str] = []
    questions = questions_in(given)
    for each in questions:
        choices = each.get("options")
        options += [
            str(option.get("label") or "")
            for option in (choices if isinstance(choices, list) else [])
            if isinstance(option, dict)
        ]
    text = _short(wording_of(questions), MOST_QUESTION)
    return Question("question", text or "Claude asks something.", options[:20], uuid)


def _answer(tool: str, result: _Part, denied_by: Denier | None) -> str | None:
    """What the person said to a question or plan; None where it was put away without a word."""
    if result.is_error:
        words = reason_in(words_of(result.content), denied_by)
    elif tool == PLANS:
        words = "approved"
    else:
        answers = [answer for _, answer in answers_in(NOTHING, result.content)]
        words = ", ".join(answers) or "answered"
    return _short(words, MOST_QUESTION) if words else None


def _is_asked(parts: list[_Part]) -> bool:
    """Whether a command was put to Claude, not only done in the terminal."""
    first = _first(parts)
    return is_command(first) and not is_local(first)


def _first(parts: list[_Part]) -> str:
    return next((part.text for part in parts if part.text), "") or ""


def _parts_of(content: Raw) -> list[_Part]:
    try:
        return _parts.decode(content)
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


def _text(parts: list[_Part]) -> str:
    return _short("\n".join(part.text for part in parts if part.text), MOST_QUESTION)


def _short(text: str, most: int) -> str:
    text = text.strip()
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
