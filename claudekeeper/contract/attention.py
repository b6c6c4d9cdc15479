"""Open questions, and the answers of a person."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from claudekeeper.contract.ceilings import AskedCeilings
from claudekeeper.contract.grants import Grant
from claudekeeper.contract.requests import PermissionMode
from claudekeeper.contract.sessions import Origin
from claudekeeper.net.errors import InvalidRequest

# a ceiling is a question of the keeper, about a work item; Claude asks the others
AttentionKind = Literal["permission", "question", "plan", "ceiling"]
Decision = Literal["allow", "deny"]
AttentionOutcome = Literal["allow", "deny", "withdrawn"]

KIND_BY_TOOL: dict[str, AttentionKind] = {"AskUserQuestion": "question", "ExitPlanMode": "plan"}
# for the model, so it has the words of a person
DEFAULT_DENIAL_MESSAGE = "The user does not want this to be done."


class Attention(msgspec.Struct, rename="camel", kw_only=True):
    """An open question: the `input` of the tool call, and what may be allowed for good."""

    id: str
    session_id: str
    tool_use_id: str | None
    tool: str
    input: dict[str, Any]
    kind: AttentionKind
    title: str | None
    description: str | None
    suggestions: list[dict[str, Any]]
    # what may be allowed for good: each of them can be sent as `updatedPermissions`
    grants: list[Grant] = []
    blocked_path: str | None
    reason: str | None
    agent_id: str | None
    origin: Origin
    raised: str


class Answer(msgspec.Struct, kw_only=True):
    """The decision of a person, checked and completed."""

    decision: Decision
    by: str
    input: dict[str, Any]
    message: str
    permissions: list[dict[str, Any]]
    interrupt: bool = False


class _Rule(msgspec.Struct, rename="camel", omit_defaults=True):
    tool_name: Annotated[str, Meta(min_length=1)]
    # None for the whole tool; Claude Code ignores an answer in which it is null
    rule_content: Annotated[str, Meta(min_length=1)] | None = None


class _Permission(msgspec.Struct, tag_field="type", kw_only=True):
    destination: Literal["userSettings", "projectSettings", "localSettings", "session", "cliArg"]


class _Rules(_Permission, kw_only=True):
    rules: Annotated[list[_Rule], Meta(min_length=1)]
    behavior: Literal["allow", "deny", "ask"]


class _AddRules(_Rules, tag="addRules"): ...


class _ReplaceRules(_Rules, tag="replaceRules"): ...


class _RemoveRules(_Rules, tag="removeRules"): ...


class _SetMode(_Permission, tag="setMode"):
    mode: PermissionMode


class _Directories(_Permission, kw_only=True):
    directories: Annotated[list[Annotated[str, Meta(min_length=1)]], Meta(min_length=1)]


class _AddDirectories(_Directories, tag="addDirectories"): ...


class _RemoveDirectories(_Directories, tag="removeDirectories"): ...


_PermissionChanges = list[
    _AddRules | _ReplaceRules | _RemoveRules | _SetMode | _AddDirectories | _RemoveDirectories
]
# changes, rules and directories in one answer; Claude Code ignores an answer with more
MAX_CHANGES = 4_000


class Resolve(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """The request that answers a question."""

    attention_id: str
    decision: Decision
    message: str | None = None
    updated_input: dict[str, Any] | None = None
    updated_permissions: list[dict[str, Any]] | None = None
    answers: dict[str, str | list[str]] | None = None
    interrupt: bool = False
    # with `interrupt`: the messages in the queue are held
    hold: bool = False
    by: Annotated[str, Meta(max_length=100)] = "client"


def attention_kind(tool: str) -> AttentionKind:
    return KIND_BY_TOOL.get(tool, "permission")


def answer_to(attention: Attention, request: Resolve) -> Answer:
    """The answer for whoever asked. What the request leaves out is as the person saw it."""
    updated = attention.input if request.updated_input is None else request.updated_input
    is_allowed = request.decision == "allow"
    if request.answers is not None:
        if attention.kind != "question":
            raise InvalidRequest("Only a question takes answers.")
        updated = {**updated, "answers": _parse_answers(attention, request.answers)}
    elif attention.kind == "ceiling" and is_allowed:
        updated = {**attention.input, "further": _parse_further_ceilings(attention, updated)}
    elif attention.kind == "question" and is_allowed and "answers" not in updated:
        raise InvalidRequest("The question needs answers: {question: label}.")
    return Answer(
        decision=request.decision,
        by=request.by,
        input=updated,
        message=(request.message or "").strip() or DEFAULT_DENIAL_MESSAGE,
        permissions=_parse_permissions(request.updated_permissions or []),
        interrupt=request.interrupt and not is_allowed,
    )


def _parse_further_ceilings(attention: Attention, updated: dict[str, Any]) -> dict[str, float]:
    """How much further an item may go: as offered, or the amounts of the answer."""
    try:
        amounts = msgspec.convert(updated.get("further", {}), AskedCeilings).as_dict
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"'further' is not valid: {error}.") from error
    offered: dict[str, float] = attention.input["further"]
    for name in amounts.keys() - offered.keys():
        raise InvalidRequest(f"This ceiling is not reached: {name!r}.")
    return offered | amounts


def _parse_answers(attention: Attention, answers: dict[str, str | list[str]]) -> dict[str, str]:
    """By the text of the question; several labels become one text, as Claude Code writes them."""
    raw = attention.input.get("questions")
    questions = {
        str(question.get("question")): question
        for question in (raw if isinstance(raw, list) else [])
        if isinstance(question, dict)
    }
    for text in answers.keys() - questions.keys():
        raise InvalidRequest(f"This was not asked: {text!r}.")
    for text in questions.keys() - answers.keys():
        raise InvalidRequest(f"An answer is missing: {text!r}.")
    return {
        text: _parse_answer(text, answer, is_multiple=bool(questions[text].get("multiSelect")))
        for text, answer in answers.items()
    }


def _parse_answer(question: str, answer: str | list[str], *, is_multiple: bool) -> str:
    labels = [answer] if isinstance(answer, str) else answer
    if not labels or not all(label.strip() for label in labels):
        raise InvalidRequest(f"An answer is missing: {question!r}.")
    if len(labels) > 1 and not is_multiple:
        raise InvalidRequest(f"This takes one answer: {question!r}.")
    return ", ".join(labels)


def _parse_permissions(permissions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As Claude Code takes them, all or none."""
    try:
        changes = msgspec.convert(permissions, _PermissionChanges)
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"'updatedPermissions' is not valid: {error}.") from error
    parts = sum(
        len(change.rules if isinstance(change, _Rules) else change.directories)
        for change in changes
        if not isinstance(change, _SetMode)
    )
    if len(changes) + parts > MAX_CHANGES:
        raise InvalidRequest(f"'updatedPermissions' takes {MAX_CHANGES:,} changes at most.")
    checked: list[dict[str, Any]] = msgspec.to_builtins(changes)
    return checked
