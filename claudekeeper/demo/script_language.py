"""The language of scripts in prompts: one step in each line, `word: argument`."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import orjson

from claudekeeper.demo.steps import (
    Call,
    Fail,
    Say,
    Script,
    Step,
    Think,
    agent,
    ask,
    edit,
    group_replies,
    plan,
    read,
    run,
    run_in_background,
    todo,
    write,
)

MEGABYTE = 1_000_000
LIMITS = {"words": 1_000_000, "deltas": 1_000_000, "megabytes": 200, "seconds": 3_600}


class ScriptError(ValueError):
    """A valid word with an invalid argument; the scripted model shows an example instead."""


class ScriptWord(msgspec.Struct, frozen=True):
    name: str
    example: str
    meaning: str
    steps: Callable[[str], list[Step]]


def unescape(text: str) -> str:
    r"""Turns `\n` and `\t` into the characters."""
    return text.replace("\\n", "\n").replace("\\t", "\t")


def parse_number(argument: str, unit: str) -> float:
    match = re.match(r"\d+(\.\d+)?", argument.strip())
    if not match:
        raise ScriptError
    return min(float(match[0]), LIMITS[unit])


def require_argument(argument: str) -> str:
    if not argument.strip():
        raise ScriptError
    return argument.strip()


def write_steps(argument: str) -> list[Step]:
    path, colon, content = argument.partition(":")
    if not colon or not path.strip():
        raise ScriptError
    return [write(path.strip(), unescape(content.removeprefix(" ")))]


def edit_steps(argument: str) -> list[Step]:
    path, _, change = argument.partition(":")
    old, arrow, new = change.partition("=>")
    if not arrow or not old.strip():
        raise ScriptError
    return [edit(path.strip(), unescape(old.strip()), unescape(new.strip()))]


def ask_steps(argument: str, *, many: bool) -> list[Step]:
    question, mark, rest = argument.partition("?")
    options = [option.strip() for option in rest.split("|") if option.strip()]
    # the tool accepts two to four options
    if not mark or not 2 <= len(options) <= 4:
        raise ScriptError
    return [ask(question.strip() + "?", *options, many=many)]


def plan_steps(argument: str) -> list[Step]:
    steps = [step.strip() for step in require_argument(argument).split(";") if step.strip()]
    return [plan("## Plan\n\n" + "\n".join(f"{n}. {step}" for n, step in enumerate(steps, 1)))]


def todo_steps(argument: str) -> list[Step]:
    return [todo(*[item.strip() for item in require_argument(argument).split(";") if item.strip()])]


def error_steps(argument: str) -> list[Step]:
    how, _, times = require_argument(argument).partition(" ")
    recovers = {"": None, "once": 1, "twice": 2}.get(times.strip())
    if how in {"drop", "stream"}:
        return [Fail("drop" if how == "drop" else "stream", recovers)]
    if not how.isdigit() or not 400 <= int(how) <= 599:
        raise ScriptError
    return [Fail(int(how), recovers)]


def call_steps(argument: str) -> list[Step]:
    tool, _, input_text = require_argument(argument).partition(" ")
    try:
        arguments = orjson.loads(input_text or "{}")
    except orjson.JSONDecodeError as broken:
        raise ScriptError from broken
    if not isinstance(arguments, dict):
        raise ScriptError
    return [Call(tool, arguments)]


def slow_steps(argument: str) -> list[Step]:
    seconds = parse_number(argument, "seconds")
    words = prose(max(20, int(seconds * 8)))
    return [Say(words, seconds=seconds)]


def count_steps(argument: str) -> list[Step]:
    return [Say(" ".join(str(n) for n in range(1, int(parse_number(argument, "deltas")) + 1)))]


def big_steps(argument: str) -> list[Step]:
    size = int(parse_number(argument, "megabytes") * MEGABYTE)
    return [run(f"head -c {size} /dev/zero | tr '\\0' x", f"Print {size} bytes")]


def huge_steps(argument: str) -> list[Step]:
    size = int(parse_number(argument, "megabytes") * MEGABYTE)
    return [Say(("huge " * (size // 5 + 1))[:size], chunk=65_536)]


WORDS = {
    word.name: word
    for word in [
        ScriptWord("say", "say: hello", "text", lambda a: [Say(unescape(require_argument(a)))]),
        ScriptWord(
            "think",
            "think: is it safe?",
            "thinking",
            lambda a: [Think(unescape(require_argument(a)))],
        ),
        ScriptWord(
            "run", "run: touch a.txt", "a shell command", lambda a: [run(require_argument(a))]
        ),
        ScriptWord(
            "background",
            "background: sleep 5",
            "a shell command that runs on",
            lambda a: [run_in_background(require_argument(a))],
        ),
        ScriptWord("write", "write: notes.md: hello", "a new file", write_steps),
        ScriptWord("edit", "edit: notes.md: hello => good day", "a change in a file", edit_steps),
        ScriptWord(
            "read", "read: notes.md", "a file (or an image)", lambda a: [read(require_argument(a))]
        ),
        ScriptWord(
            "ask",
            "ask: Which database? Postgres | SQLite - no server",
            "a question with two to four answers",
            lambda a: ask_steps(a, many=False),
        ),
        ScriptWord(
            "ask many",
            "ask many: Which checks? Lint | Types | Tests",
            "a question with several answers",
            lambda a: ask_steps(a, many=True),
        ),
        ScriptWord("plan", "plan: read the code; change it", "a plan (in plan mode)", plan_steps),
        ScriptWord("todo", "todo: [x] read; [>] change; test", "a task list", todo_steps),
        ScriptWord(
            "agent", "agent: look around", "a subagent", lambda a: [agent(require_argument(a))]
        ),
        ScriptWord(
            "agent later",
            "agent later: look around",
            "a subagent in the background",
            lambda a: [agent(require_argument(a), background=True)],
        ),
        ScriptWord("call", 'call: Glob {"pattern": "*.md"}', "any tool by its name", call_steps),
        ScriptWord(
            "long",
            "long: 400",
            "a reply of so many words",
            lambda a: [Say(prose(int(parse_number(a, "words"))))],
        ),
        ScriptWord("slow", "slow: 5", "a reply that takes so many seconds", slow_steps),
        ScriptWord("count", "count: 20000", "so many deltas", count_steps),
        ScriptWord("big", "big: 30", "a command that prints so many megabytes", big_steps),
        ScriptWord("huge", "huge: 5", "a reply of so many megabytes, in one line", huge_steps),
        ScriptWord(
            "error",
            "error: 429",
            "an API error: 401, 429, 500, 529, `drop`, `stream`; `error: 529 once` recovers",
            error_steps,
        ),
    ]
}
# longest first, so that "ask many" is not read as "ask"
WORD_PATTERN = "|".join(sorted((re.escape(name) for name in WORDS), key=len, reverse=True))
STEP_LINE = re.compile(rf"^\s*(\+\s*)?({WORD_PATTERN}):(.*)$", re.IGNORECASE | re.DOTALL)
# only before another step: `run: cd x && make` is one command
NEXT_IN_REPLY = re.compile(rf"\s+&&\s+(?=(?:{WORD_PATTERN}):)", re.IGNORECASE)


def parse(text: str) -> Script:
    """The script in a text; empty if the text has none.

    Each line is a step. ` && ` between steps, or `+` before a line, puts them into one reply. A
    line without a word continues the line before it.
    """
    groups: list[list[tuple[str, str]]] = []
    for line in text.splitlines():
        pieces = [STEP_LINE.match(piece) for piece in NEXT_IN_REPLY.split(line)]
        if pieces[0] is None:
            if groups:
                word, argument = groups[-1][-1]
                groups[-1][-1] = (word, f"{argument}\n{line}")
            continue
        steps = [(piece[2].lower(), piece[3].strip(" ")) for piece in pieces if piece]
        if pieces[0][1] and groups:
            groups[-1] += steps
        else:
            groups.append(steps)
    return group_replies(
        [
            [step for word, argument in group for step in steps_of(word, argument)]
            for group in groups
        ]
    )


def steps_of(word: str, argument: str) -> list[Step]:
    try:
        return WORDS[word].steps(argument.rstrip())
    except ScriptError:
        return [Say(f"I did not understand that `{word}:`. Write it like `{WORDS[word].example}`.")]


SENTENCES = [
    "The queue keeps every message until a worker has confirmed it.",
    "When a worker dies, its messages become visible again after thirty seconds.",
    "That is why each handler has to be safe to run twice.",
    "Most of the time is spent waiting for the database, not in our own code.",
    "An index on the column that the filter uses brings the query from seconds to milliseconds.",
    "The tests cover the happy path, so the failure went unnoticed until the weekend.",
    "It helps to write down what the function promises before changing how it does it.",
    "Nothing here needs a new dependency.",
    "The old endpoint stays for one more release and says in its answer that it is going away.",
    "Logs name the request, the user and the time it took, and nothing that is secret.",
]


def prose(words: int) -> str:
    """Readable text of exactly `words` words, in paragraphs."""
    parts: list[str] = []
    while len(parts) < words:
        for position, sentence in enumerate(SENTENCES):
            parts += sentence.split(" ")
            parts[-1] += "\n\n" if position % 4 == 3 else ""
    return " ".join(parts[:words]).replace("\n\n ", "\n\n").rstrip()
