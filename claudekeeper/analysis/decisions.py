"""Decisions of a person: answers to questions, verdicts on plans, denials with a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from msgspec import Raw

from claudekeeper.contract.attention import DEFAULT_DENIAL_MESSAGE
from claudekeeper.contract.message import Denier
from claudekeeper.transcripts.entries import loads, starts_with
from claudekeeper.transcripts.untyped import content_text, text_field

DecisionKind = Literal["answer", "plan", "denial"]

_REJECTION = re.compile(r"\s*The user doesn't want to (?:proceed|take this action)")
_REASON = re.compile(r"the user said:\s*(.*)", re.DOTALL)
_TRAILING_NOTE = re.compile(r"\n\s*Note: The user's next message may contain .*", re.DOTALL)
_ANSWER = re.compile(r'"((?:[^"\\]|\\.)+)"="((?:[^"\\]|\\.)*)"')
# Claude Code writes this in place of a reason
_CLARIFICATION = "The user wants to clarify these questions"


class Decision(msgspec.Struct, rename="camel", gc=False):
    """An answer to a question, a verdict on a plan, or a denial with a reason."""

    kind: DecisionKind
    # the question, the title of the plan, or the denied call
    about: str
    # the answer; `approved` or `rejected`; `denied`
    decision: str
    reason: str | None = None
    # the message with the decision
    uuid: str | None = None
    at: str | None = None


def is_refusal(words: str) -> bool:
    """Whether Claude Code writes with this text that a person refused a call."""
    return _REJECTION.match(words) is not None


def refusal_reason(words: str, denied_by: Denier | None = None) -> str | None:
    """The reason why a person refused a call; None without a person or a reason."""
    if is_refusal(words):
        match = _REASON.search(words)
        reason = _TRAILING_NOTE.sub("", match[1]).strip() if match else ""
        return None if reason.startswith(_CLARIFICATION) else reason or None
    if denied_by != "person":
        return None
    # the keeper sends this text when the person gave no reason
    return None if words.strip() == DEFAULT_DENIAL_MESSAGE else words.strip() or None


def answers_in(tool_use_result: Raw, content: Raw) -> Iterator[tuple[str, str]]:
    """Questions and their answers, from `toolUseResult` of a line or the text of the result."""
    loose = loads(tool_use_result) if starts_with(tool_use_result, b"{") else None
    answers = loose.get("answers") if isinstance(loose, dict) else None
    if isinstance(answers, dict) and answers:
        for question, answer in answers.items():
            if isinstance(answer, list):
                yield question, ", ".join(str(each) for each in answer)
            elif answer is not None:
                yield question, str(answer)
        return
    yield from _ANSWER.findall(content_text(content))


def questions_in(call_input: Any) -> list[dict[str, Any]]:
    """The questions in the input of a call."""
    questions = call_input.get("questions") if isinstance(call_input, dict) else None
    return dicts_in(questions)


def dicts_in(value: object) -> list[dict[str, Any]]:
    """The objects in a list of untyped JSON."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def question_text(questions: list[dict[str, Any]]) -> str:
    """The text of a card, a line for each question."""
    texts = (str(each.get("question") or each.get("header") or "") for each in questions)
    return "\n".join(text for text in texts if text)


def describe_call(tool: str, call_input: bytes) -> str:
    """A call in one line."""
    loose = loads(call_input)
    for name in ("command", "file_path", "path", "url", "pattern", "query", "description"):
        if text := text_field(loose, name):
            return f"{tool} {text}"
    return tool


def plan_title(plan: str) -> str:
    """The heading of a plan, or its first line."""
    for line in plan.splitlines():
        if line.strip(" #*-"):
            return line.strip(" #*-")
    return "Plan"
