"""A project's coverage-checklist.yml: categories with the questions and subtopics to be covered.

    categories:
      - name: Security
        required_questions: ["Who may log in?"]
        subtopics: [tokens, {name: rotation, done: true}]

Categories may also be a mapping by name, and lists may be left out. An item is covered if the file
says so, or if the session talked about it: in its prompts, decisions, tasks or last replies.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from claudekeeper.model.resume import Category, Coverage, percent
from claudekeeper.readers.lines import opened

NAMES = ("coverage-checklist.yml", "coverage-checklist.yaml")
LARGEST = 128 * 1024
MOST_CATEGORIES = 200
MOST_ITEMS = 500
MOST_CHARACTERS = 300
# of the words of a question so many must have been said in one place
ENOUGH = 0.6

DEEPEST = 40
_BRACKET = re.compile(r"[\[\]{}]")
_DASHES = re.compile(r"(?:[-?]\s+){40}")
_LISTS = ("required_questions", "requiredQuestions", "questions", "subtopics", "topics", "items")
_DONE = ("done", "covered", "answered", "complete", "completed")
_WORD = re.compile(r"\w{3,}")
_COMMON = re.compile(
    r"the|and|for|are|was|were|with|what|which|who|how|when|where|why|does|should|would|can|could"
    r"|will|this|that|from|have|has|into|our|you|your|they|them|their|any|all|not"
)


def read_checklist(workdir: str) -> tuple[str, Any] | None:
    """The file of a directory and what it says; None where there is none. Blocks."""
    for name in NAMES:
        path = os.path.join(workdir, name)
        try:
            with opened(path) as descriptor:
                facts = os.fstat(descriptor)
                if not stat.S_ISREG(facts.st_mode):
                    continue
                if facts.st_size > LARGEST:
                    return name, "It is larger than 128 kB."
                return name, _parsed(os.pread(descriptor, LARGEST, 0))
        except (OSError, ValueError):
            # not there, or no path at all: a transcript can say anything of its directory
            continue
    return None


def coverage_of(name: str, told: Any, said: Iterable[str]) -> Coverage:
    """By category, what was covered and what is missing."""
    if isinstance(told, str):
        return Coverage(Path(name).name, error=told)
    places = [set(_words(text)) for text in said]
    categories = []
    for title, items in _categories(told):
        missing = [text for text, done in items if not (done or _was_said(text, places))]
        done = len(items) - len(missing)
        categories.append(Category(title, len(items), done, percent(done, len(items)), missing))
    total = sum(each.items for each in categories)
    covered = sum(each.done for each in categories)
    error = None if categories else "It has no categories with questions or subtopics."
    return Coverage(name, total, covered, percent(covered, total), categories, error)


# it is asked for whenever a session of the project is opened, and hardly ever changes
@lru_cache(maxsize=8)
def _parsed(content: bytes) -> Any:
    """What the file holds; a sentence where it cannot be read."""
    # used by few: it is loaded when the first checklist is met
    import yaml

    try:
        text = content.decode("utf-8-sig")
        if re.search(r"(?:^|[\s\[{,:-])&\w", text):
            # a few lines of references can stand for gigabytes
            return "It uses YAML references (&name), which are not read."
        if _is_deep(text):
            # each level is a call for whoever parses it
            return "It is nested too deeply."
        # libyaml where it is there: ten times as fast, and as safe
        told = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError):
        return "It is not valid YAML."
    return told if isinstance(told, dict | list) else "It is empty."


def _is_deep(text: str) -> bool:
    """Whether lists within lists go further than any checklist; indenting so far takes room."""
    depth = 0
    for sign in _BRACKET.findall(text):
        depth += 1 if sign in "[{" else -1
        if depth > DEEPEST:
            return True
    return _DASHES.search(text) is not None


def _categories(told: Any) -> Iterator[tuple[str, list[tuple[str, bool]]]]:
    top = told
    if isinstance(told, dict):
        top = told.get("categories", told.get("checklist", told))
    found: Iterable[tuple[Any, Any]]
    if isinstance(top, dict):
        found = top.items()
    elif isinstance(top, list):
        found = [
            (each.get("name") or each.get("title") or each.get("category") or each.get("id"), each)
            for each in top
            if isinstance(each, dict)
        ]
    else:
        found = []
    for number, (name, body) in enumerate(found):
        if number >= MOST_CATEGORIES:
            return
        title = body.get("name") or body.get("title") if isinstance(body, dict) else None
        items = list(_items(body))[:MOST_ITEMS]
        if items:
            yield _short(str(title or name or "Category")), items


def _items(body: Any) -> Iterator[tuple[str, bool]]:
    lists: list[Any]
    if isinstance(body, list):
        lists = [body]
    elif isinstance(body, dict):
        lists = [body[key] for key in _LISTS if key in body]
    else:
        return
    for each in lists:
        entries = each.items() if isinstance(each, dict) else [(None, item) for item in _list(each)]
        for name, item in entries:
            yield from _item(name, item)


def _item(name: Any, item: Any) -> Iterator[tuple[str, bool]]:
    if isinstance(item, dict):
        done = any(item.get(key) is True for key in _DONE) or item.get("status") in _DONE
        for key in ("question", "text", "name", "title", "topic", "id"):
            name = item.get(key) if isinstance(item.get(key), str) else name
            if isinstance(name, str):
                break
        if isinstance(name, str) and name.strip():
            yield _short(name), done
        for key in _LISTS:
            for inner in _list(item.get(key)):
                yield from _item(None, inner)
    elif name is not None:
        yield _short(str(name)), item is True
    elif isinstance(item, str | int | float) and str(item).strip():
        yield _short(str(item)), False


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _was_said(item: str, places: list[set[str]]) -> bool:
    words = set(_words(item))
    if not words:
        return False
    needed = len(words) if len(words) <= 2 else max(2, round(len(words) * ENOUGH))
    return any(len(words & place) >= needed for place in places)


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.casefold()):
        if not _COMMON.fullmatch(word):
            yield word[:-1] if len(word) > 4 and word.endswith("s") else word


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
