"""The choice of a reply: a pure function of the request."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import orjson

from claudekeeper.demo import canned_texts
from claudekeeper.demo.model_request import STRUCTURED_OUTPUT_TOOL, ModelRequest
from claudekeeper.demo.scenarios import SCENARIOS, scenario_for, scenario_named
from claudekeeper.demo.script_language import parse
from claudekeeper.demo.steps import (
    Call,
    Fail,
    Reply,
    Say,
    Script,
    Step,
    TaskStatus,
    Think,
    Todo,
    group_replies,
    run,
)

TASK_NUMBER = re.compile(r"Task #(\d+)")
SCENARIO_NAME = re.compile(r"^\s*scenario:\s*(.+?)\s*$", re.IGNORECASE)
LOOK_AROUND = ((run("ls", "List the project's files"),),)


def choose_reply(request: ModelRequest, attempt: int = 0) -> Reply:
    """The reply to a request; `attempt` counts how often the same request failed before."""
    if request.output_schema is not None:
        return (Say(canned_texts.json_for_schema(request.output_schema, request)),)
    if (schema := request.structured_output_schema) is not None:
        output = orjson.loads(canned_texts.json_for_schema(schema, request))
        return (Call(STRUCTURED_OUTPUT_TOOL, output),)
    if request.wants_summary:
        return (Say(canned_texts.compaction_summary(request)),)
    if request.only_task_reports:
        return (Say(canned_texts.report_text(request.task_reports)),)
    latest = request.latest_tool_results
    if any(outcome.denied for outcome in latest):
        return (Say(canned_texts.closing_text([outcome for outcome in latest if outcome.denied])),)
    script = with_task_tools(whole_script(request), request)
    if request.reply_count >= len(script):
        closing = canned_texts.closing_text(latest)
        report = canned_texts.report_text(request.task_reports)
        return (Say(f"{closing} {report}".strip()),)
    reply = without_past_failures(script[request.reply_count], attempt)
    reply = tuple(fill_in(step, request) for step in reply)
    if request.reply_count == 0 and request.images:
        reply = (Say(canned_texts.describe_images(request.images) + "\n\n"), *reply)
    return reply if any(not isinstance(step, Think) for step in reply) else (*reply, Say("Done."))


def whole_script(request: ModelRequest) -> Script:
    """The script of the prompt, followed by those of prompts sent during the turn."""
    prompts = [request.prompt, *request.interjections]
    return group_replies([list(reply) for text in prompts for reply in script_for(text, request)])


def script_for(prompt: str, request: ModelRequest) -> Script:
    """The script of a prompt: a named scenario, steps, help, or else an echo."""
    if prompt.strip().lower() in {"help", "help!", "?"}:
        return ((Say(canned_texts.help_text(sorted(SCENARIOS))),),)
    named = SCENARIO_NAME.match(prompt)
    script = scenario_named(named[1]) if named else scenario_for(prompt) or parse(prompt)
    if script:
        return script
    if named:
        names = ", ".join(f"`{name}`" for name in sorted(SCENARIOS))
        return ((Say(f"I know no scenario “{named[1]}”. I know {names}."),),)
    if request.is_from_subagent:
        return LOOK_AROUND
    if request.images:
        return ((Say("Type `help` to see what else I can do."),),)
    return ((Say(canned_texts.echo(prompt)),),)


def without_past_failures(reply: Reply, attempt: int) -> Reply:
    """The reply without the failures that have happened often enough."""
    steps = tuple(
        step
        for step in reply
        if not (isinstance(step, Fail) and step.times is not None and attempt >= step.times)
    )
    return steps or (Say(f"The API is back: attempt {attempt + 1} went through."),)


def fill_in(step: Step, request: ModelRequest) -> Step:
    """A step with absolute paths and numbers of tasks, which only the request has."""
    if not isinstance(step, Call):
        return step
    tool_input = dict(step.input)
    path = tool_input.get("file_path")
    if isinstance(path, str) and request.workdir:
        tool_input["file_path"] = str(PurePosixPath(request.workdir) / path)
    task = tool_input.get("taskId")
    if isinstance(task, str) and task.startswith("@"):
        created = [
            match[1]
            for outcome in request.tool_results
            if outcome.tool == "TaskCreate" and (match := TASK_NUMBER.search(outcome.text))
        ]
        position = int(task[1:])
        tool_input["taskId"] = created[position] if position < len(created) else str(position + 1)
    return Call(step.tool, tool_input)


def with_task_tools(script: Script, request: ModelRequest) -> Script:
    """Turns task lists into calls of the tools that the CLI offers: `TodoWrite` or `TaskCreate`."""
    if not any(isinstance(step, Todo) for reply in script for step in reply):
        return script
    whole = request.offers_tool("TodoWrite")
    expanded: list[Reply] = []
    created: dict[str, TaskStatus] = {}
    for reply in script:
        updates: list[Step] = []
        steps: list[Step] = []
        for step in reply:
            if not isinstance(step, Todo):
                steps.append(step)
            elif whole:
                steps.append(todo_write_call(step))
            else:
                steps += [task_create_call(text) for text, _ in step.items if text not in created]
                created |= {text: "pending" for text, _ in step.items if text not in created}
                order = list(created)
                for text, mark in step.items:
                    if created[text] != mark:
                        created[text] = mark
                        number = f"@{order.index(text)}"
                        updates.append(Call("TaskUpdate", {"taskId": number, "status": mark}))
        if any(isinstance(step, Call) for step in steps):
            expanded.append(tuple(steps))
            steps = []
        # a new task has no number yet, so its updates come in another reply
        if updates or steps:
            expanded.append((*steps, *updates))
    return tuple(expanded)


def todo_write_call(step: Todo) -> Call:
    items = [{"content": text, "status": mark, "activeForm": text} for text, mark in step.items]
    return Call("TodoWrite", {"todos": items})


def task_create_call(text: str) -> Call:
    return Call("TaskCreate", {"subject": text, "description": text, "activeForm": text})
