"""Questions that wait for a person, and what a person may answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from claudekeeper.contract.ceilings import AskedCeilings
from claudekeeper.contract.grants import Grant
from claudekeeper.contract.requests import PermissionMode
from claudekeeper.contract.sessions import Origin
from claudekeeper.net.errors import InvalidRequest

# a ceiling is the keeper's own question, about an item of work; Claude asks the others
AttentionKind = Literal["permission", "question", "plan", "ceiling"]
Decision = Literal["allow", "deny"]
AttentionOutcome = Literal["allow", "deny", "withdrawn"]

KIND_BY_TOOL: dict[str, AttentionKind] = {"AskUserQuestion": "question", "ExitPlanMode": "plan"}
# the model sees it, so it says what a person would say
DEFAULT_DENIAL_MESSAGE = "The user does not want this to be done."


class Attention(msgspec.Struct, rename="camel", kw_only=True):
    """An open question: what will be done with `input`, and what may be allowed for good."""

    id: str
    session_id: str
    tool_use_id: str | None
    tool: str
    input: dict[str, Any]
    kind: AttentionKind
    title: str | None
    description: str | None
    suggestions: list[dict[str, Any]]
    # what may be allowed for good: each of them, given back as `updatedPermissions`, is enough
    grants: list[Grant] = []
    blocked_path: str | None
    reason: str | None
    agent_id: str | None
    origin: Origin
    raised: str


class Answer(msgspec.Struct, kw_only=True):
    """What a person decided, ready for whoever asked."""

    decision: Decision
    by: str
    input: dict[str, Any]
    message: str
    permissions: list[dict[str, Any]]
    interrupt: bool = False


class _Rule(msgspec.Struct, rename="camel", omit_defaults=True):
    tool_name: Annotated[str, Meta(min_length=1)]
    # none for the whole tool; Claude Code drops all of an answer in which it is null
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
# changes, rules and directories in one answer: of more, Claude Code drops all
MAX_CHANGES = 4_000


class Resolve(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """An answer as a client sends it."""

    attention_id: str
    decision: Decision
    message: str | None = None
    updated_input: dict[str, Any] | None = None
    updated_permissions: list[dict[str, Any]] | None = None
    answers: dict[str, str | list[str]] | None = None
    interrupt: bool = False
    # with `interrupt`: what waits in the queue is held
    hold: bool = False
    by: Annotated[str, Meta(max_length=100)] = "client"


def attention_kind(tool: str) -> AttentionKind:
    return KIND_BY_TOOL.get(tool, "permission")


def answer_to(attention: Attention, wish: Resolve) -> Answer:
    """The answer, bound to what was shown: only what the wish names differs from it."""
    given = attention.input if wish.updated_input is None else wish.updated_input
    if wish.answers is not None:
        if attention.kind != "question":
            raise InvalidRequest("Only a question takes answers.")
        given = {**given, "answers": _parse_answers(attention, wish.answers)}
    elif attention.kind == "ceiling" and wish.decision == "allow":
        given = {**attention.input, "further": _parse_further_ceilings(attention, given)}
    elif attention.kind == "question" and wish.decision == "allow" and "answers" not in given:
        raise InvalidRequest("The question needs answers: {question: label}.")
    return Answer(
        decision=wish.decision,
        by=wish.by,
        input=given,
        message=(wish.message or "").strip() or DEFAULT_DENIAL_MESSAGE,
        permissions=_parse_permissions(wish.updated_permissions or []),
        interrupt=wish.decision == "deny" and wish.interrupt,
    )


def _parse_further_ceilings(attention: Attention, given: dict[str, Any]) -> dict[str, float]:
    """How much further an item may go: what was offered, unless another amount is said."""
    try:
        said = msgspec.convert(given.get("further", {}), AskedCeilings).as_dict
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"'further' is not valid: {error}.") from error
    offered: dict[str, float] = attention.input["further"]
    for name in said.keys() - offered.keys():
        raise InvalidRequest(f"This ceiling is not reached: {name!r}.")
    return offered | said


def _parse_answers(attention: Attention, given: dict[str, str | list[str]]) -> dict[str, str]:
    """By the question's words; several labels become one text, as Claude Code writes them."""
    asked = attention.input.get("questions")
    questions = asked if isinstance(asked, list) else []
    known = {str(each.get("question")) for each in questions if isinstance(each, dict)}
    for question in given.keys() - known:
        raise InvalidRequest(f"This was not asked: {question!r}.")
    for question in known - given.keys():
        raise InvalidRequest(f"An answer is missing: {question!r}.")
    several = {
        str(each["question"])
        for each in questions
        if isinstance(each, dict) and each.get("multiSelect")
    }
    return {
        question: _parse_answer(question, answer, several=question in several)
        for question, answer in given.items()
    }


def _parse_answer(question: str, answer: str | list[str], *, several: bool) -> str:
    answers = [answer] if isinstance(answer, str) else answer
    if not answers or not all(each.strip() for each in answers):
        raise InvalidRequest(f"An answer is missing: {question!r}.")
    if len(answers) > 1 and not several:
        raise InvalidRequest(f"This takes one answer: {question!r}.")
    return ", ".join(answers)


def _parse_permissions(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As Claude Code takes them, all or none."""
    try:
        changes = msgspec.convert(given, _PermissionChanges)
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"'updatedPermissions' is not valid: {error}.") from error
    parts = sum(
        len(each.rules if isinstance(each, _Rules) else each.directories)
        for each in changes
        if not isinstance(each, _SetMode)
    )
    if len(changes) + parts > MAX_CHANGES:
        raise InvalidRequest(f"'updatedPermissions' takes {MAX_CHANGES:,} changes at most.")
    known: list[dict[str, Any]] = msgspec.to_builtins(changes)
    return known
