"""The texts of the scripted model: closing sentences, summaries, titles, help."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

import orjson

from claudekeeper.demo.model_request import ImageSource, ModelRequest, ToolResult
from claudekeeper.demo.script_language import WORDS

ANSWERS = re.compile(r'"([^"]*)"="([^"]*)"')
REPORT_MARKER = "The report follows:"
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def shorten(text: str, limit: int = 160) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def closing_text(outcomes: list[ToolResult]) -> str:
    """A sentence for each kind of result that the tools gave."""
    if not outcomes:
        return "Done."
    # each sentence once, as after three updates of a task
    return " ".join(dict.fromkeys(sentence_about(outcome) for outcome in outcomes))


def sentence_about(outcome: ToolResult) -> str:
    if outcome.denied:
        return f"All right, I leave that alone. You said: “{shorten(outcome.text)}”"
    if outcome.failed:
        return f"That failed: {shorten(strip_error_tag(outcome.text))}"
    sentence = SENTENCE_BY_TOOL.get(outcome.tool)
    return sentence(outcome) if sentence else f"{outcome.tool} answered: {shorten(outcome.text)}"


def command_sentence(outcome: ToolResult) -> str:
    command = shorten(str(outcome.input.get("command", "")), 60)
    if outcome.input.get("run_in_background"):
        return f"`{command}` runs in the background now."
    lines = [line for line in outcome.text.splitlines() if line.strip()]
    if not lines or "completed with no output" in outcome.text:
        return f"`{command}` ran without a word, so it worked."
    if outcome.text.startswith("<persisted-output>"):
        return f"`{command}` printed more than fits here; it was saved to a file."
    more = f" and {len(lines) - 1} more lines" if len(lines) > 1 else ""
    return f"`{command}` printed “{shorten(lines[0], 80)}”{more}."


def read_sentence(outcome: ToolResult) -> str:
    lines = [line.partition("\t")[2] for line in outcome.text.splitlines()]
    first = next((line for line in lines if line.strip()), "")
    begins = f"; it begins with “{shorten(first, 80)}”" if first else ""
    size = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
    return f"I read {file_name_of(outcome)}, {size}{begins}."


def answer_sentence(outcome: ToolResult) -> str:
    answers = ANSWERS.findall(outcome.text)
    if not answers:
        return f"You answered: {shorten(outcome.text)}"
    return " ".join(f"{question} You chose “{answer}”." for question, answer in answers)


def agent_sentence(outcome: ToolResult) -> str:
    if "Async agent launched" in outcome.text:
        return "The agent works in the background; I will tell you when it reports."
    # the CLI indents the report's own lines; what is not indented is its own book-keeping
    lines = outcome.text.partition(REPORT_MARKER)[2].splitlines()
    report = " ".join(line for line in lines if line.startswith("  "))
    return f"The agent reports: {shorten(report or outcome.text, 300)}"


def file_name_of(outcome: ToolResult) -> str:
    return PurePath(str(outcome.input.get("file_path", "the file"))).name


SENTENCE_BY_TOOL: dict[str, Callable[[ToolResult], str]] = {
    "Bash": command_sentence,
    "Read": read_sentence,
    "Write": lambda outcome: f"I wrote {file_name_of(outcome)}.",
    "Edit": lambda outcome: f"I changed {file_name_of(outcome)}.",
    "AskUserQuestion": answer_sentence,
    "ExitPlanMode": lambda _: "The plan is approved; I start with its first step.",
    "Agent": agent_sentence,
    "Task": agent_sentence,
    "TodoWrite": lambda _: "The task list is up to date.",
    "TaskCreate": lambda outcome: f"“{outcome.input.get('subject', '')}” is on the list.",
    "TaskUpdate": lambda _: "The task list is up to date.",
}


def strip_error_tag(text: str) -> str:
    return re.sub(r"</?tool_use_error>", "", text)


def report_text(reports: list[tuple[str, str]]) -> str:
    """The reports of background tasks, in a sentence each."""
    return " ".join(f"{summary}. {shorten(result, 300)}".strip() for summary, result in reports)


def echo(prompt: str) -> str:
    if not prompt:
        return "I am here."
    return (
        f"You wrote: “{shorten(prompt)}” I am a scripted model, so I only play what I am told. "
        "Type `help` to see what that can be."
    )


def help_text(scenarios: list[str]) -> str:
    steps = "\n".join(f"- `{word.example}`: {word.meaning}" for word in WORDS.values())
    jobs = "\n".join(f"- `scenario: {name}`" for name in scenarios)
    return (
        f"I play these:\n\n{steps}\n\n"
        "Several lines are steps one after another. ` && ` between two steps, or `+` before a "
        f"line, puts them into one reply.\n\nAnd whole jobs, by their names:\n\n{jobs}"
    )


def describe_images(images: list[ImageSource]) -> str:
    """A description of images that proves that their bytes arrived."""
    described = [describe_image(image) for image in images]
    if len(described) == 1:
        return f"I see an image: {described[0]}."
    return f"I see {len(described)} images: " + "; ".join(described) + "."


def describe_image(image: ImageSource) -> str:
    try:
        data = base64.b64decode(image.data, validate=True)
    except (binascii.Error, ValueError):
        return f"{image.media_type or 'something'} that I cannot decode"
    kind = image.media_type.rpartition("/")[2].upper() or "image"
    size = f"{len(data):,} bytes"
    if data.startswith(PNG_SIGNATURE) and len(data) >= 24:
        width = int.from_bytes(data[16:20], "big")
        height = int.from_bytes(data[20:24], "big")
        return f"{kind}, {width}×{height} pixels, {size}"
    return f"{kind}, {size}"


def compaction_summary(request: ModelRequest) -> str:
    """The summary of a compaction, in the form that the CLI expects."""
    prompts = request.prompts
    files = sorted(
        {
            str(block.input["file_path"])
            for turn in request.body.messages
            for block in turn.blocks
            if block.type == "tool_use" and block.input.get("file_path")
        }
    )
    listed = "\n".join(f"   - {shorten(prompt)}" for prompt in prompts) or "   - nothing yet"
    touched = "\n".join(f"   - {path}" for path in files) or "   - none"
    last = shorten(prompts[-1]) if prompts else "nothing yet"
    return (
        f"<analysis>\nThe conversation has {len(prompts)} requests and touches {len(files)} "
        "files.\n</analysis>\n\n<summary>\n"
        f"1. Primary Request and Intent:\n   {last}\n\n"
        f"2. Files and Code Sections:\n{touched}\n\n"
        "3. Errors and fixes:\n   - none that are still open\n\n"
        f"4. All user messages:\n{listed}\n\n"
        f"5. Current Work:\n   {last}\n</summary>"
    )


def json_for_schema(schema: dict[str, Any], request: ModelRequest) -> str:
    """JSON for a schema. The CLI's own queries, for titles and names, get strings about a topic."""
    session = re.search(r"<session>\s*(.*?)\s*</session>", request.prompt, re.DOTALL)
    topic = title_of(session[1] if session else request.prompt)
    properties: dict[str, dict[str, Any]] = schema.get("properties", {})
    if {"quick", "next", "detailed"} <= properties.keys():
        return orjson.dumps(recap(request)).decode()
    plain: dict[str, Any] = {"boolean": False, "number": 0, "integer": 0, "array": [], "object": {}}
    values = {name: plain.get(str(kind.get("type")), topic) for name, kind in properties.items()}
    if "name" in values:
        values["name"] = re.sub(r"[^a-z0-9]+", "-", topic.lower()).strip("-")
    return orjson.dumps(values).decode()


def recap(request: ModelRequest) -> dict[str, str]:
    """The recap of a session, from the facts in the request."""
    facts = re.search(r"<facts>\s*(.*?)\s*</facts>", request.prompt, re.DOTALL)
    prompts = re.findall(r"^Person: (.*)$", request.prompt, re.MULTILINE)
    last = prompts[-1] if prompts else "something"
    return {
        "quick": f"You asked for “{last}”, and it was seen to. Nothing else is waiting.",
        "next": "Go on with what is open.",
        "detailed": facts[1] if facts else f"You asked for “{last}”.",
    }


def title_of(text: str) -> str:
    """A noun phrase of a few words, without a leading verb."""
    words = re.sub(r"[^\w\s'/.-]", " ", text.partition("\n")[0]).split()
    verbs = {"fix", "add", "update", "upgrade", "please", "the", "a", "implement", "write", "make"}
    while len(words) > 2 and words[0].lower() in verbs:
        words.pop(0)
    phrase = " ".join(words[:5]) or "Conversation"
    return phrase[0].upper() + phrase[1:]
