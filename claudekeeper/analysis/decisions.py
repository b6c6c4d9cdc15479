"""What a person decided: questions answered, plans judged, permissions denied with a reason."""

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
# Claude Code's own words in place of a reason
_CLARIFICATION = "The user wants to clarify these questions"


class Decision(msgspec.Struct, rename="camel", gc=False):
    """A question that was answered, a plan that was judged, a permission denied for a reason."""

    kind: DecisionKind
    # the question, the plan's title, or what was not allowed
    about: str
    # the answer; `approved` or `rejected`; `denied`
    decision: str
    reason: str | None = None
    # the message in which it was decided
    uuid: str | None = None
    at: str | None = None


def is_refusal(words: str) -> bool:
    """Whether Claude Code says with this that a person did not want a call."""
    return _REJECTION.match(words) is not None


def refusal_reason(words: str, denied_by: Denier | None = None) -> str | None:
    """Why a person refused; None where no person did, or nobody said why."""
    if is_refusal(words):
        said = _REASON.search(words)
        reason = _TRAILING_NOTE.sub("", said[1]).strip() if said else ""
        return None if reason.startswith(_CLARIFICATION) else reason or None
    if denied_by != "person":
        return None
    # where nothing was said, the keeper itself has to say something
    return None if words.strip() == DEFAULT_DENIAL_MESSAGE else words.strip() or None


def answers_in(kept: Raw, content: Raw) -> Iterator[tuple[str, str]]:
    """Questions and their answers: as the CLI keeps them beside a result, or as the result says."""
    loose = loads(kept) if starts_with(kept, b"{") else None
    answers = loose.get("answers") if isinstance(loose, dict) else None
    if isinstance(answers, dict) and answers:
        for question, answer in answers.items():
            if isinstance(answer, list):
                yield question, ", ".join(str(each) for each in answer)
            elif answer is not None:
                yield question, str(answer)
        return
    yield from _ANSWER.findall(content_text(content))


def questions_in(given: Any) -> list[dict[str, Any]]:
    """The questions of a card, as its call has them."""
    questions = given.get("questions") if isinstance(given, dict) else None
    every = questions if isinstance(questions, list) else []
    return [each for each in every if isinstance(each, dict)]


def question_text(questions: list[dict[str, Any]]) -> str:
    """What a card asks, a line for each question."""
    texts = (str(each.get("question") or each.get("header") or "") for each in questions)
    return "\n".join(text for text in texts if text)


def describe_call(tool: str, given: bytes) -> str:
    """What a call would have done, in a line."""
    loose = loads(given)
    for name in ("command", "file_path", "path", "url", "pattern", "query", "description"):
        if text := text_field(loose, name):
            return f"{tool} {text}"
    return tool


def plan_title(plan: str) -> str:
    """A plan's heading, or its first line."""
    for line in plan.splitlines():
        if line.strip(" #*-"):
            return line.strip(" #*-")
    return "Plan"
