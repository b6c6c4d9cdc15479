"""The checklist of a project: the categories and items of its coverage-checklist.yml.

    coverage:
      security:
        title: Security
        required_questions: ["Who may log in?"]
        subtopics: [tokens, {name: rotation, done: true}]
        key_points: ["passwords are hashed"]

Categories may be a list, or a mapping by name, below `coverage`, `categories`, `checklist` or no
key at all. Items may be strings, mappings, or groups of items. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

ItemKind = Literal["question", "subtopic", "point"]

MAX_CATEGORIES = 200
MAX_ITEMS = 500
MAX_CHARACTERS = 300
# no checklist is nested deeper
MAX_DEPTH = 12

_WRAPPER_KEYS = (
    "coverage",
    "coveragechecklist",
    "categories",
    "checklist",
    "areas",
    "sections",
    "domains",
)
_NAME_KEYS = ("name", "title", "label", "category", "area", "section", "topic", "id")
_TEXT_KEYS = ("question", "text", "name", "title", "topic", "subtopic", "point", "label", "id")
_DONE_WORDS = ("done", "covered", "answered", "complete", "completed")
_LIST_KEY = re.compile(
    r"(?:(?:required|open|key|main|sub)?(?:question|subtopic|topic|item|point|requirement|check)s?"
    r"|criteria|goals?|required|mandatory|must(?:cover|haves?)|checklist)\Z"
)
# keys that describe a category, and are no items
_METADATA_KEY = re.compile(
    r"(?:version|description|summary|notes?|owner|author|updated|date|weight|priority|status"
    r"|progress|percent|confidence|threshold|optional.*|metadata|meta|specification|spec|.*_at)\Z"
)
_CHECKBOX = re.compile(r"\s*\[([ xX])\]\s+")


class ChecklistItem(msgspec.Struct, frozen=True):
    """Something to be covered. `group`: the part of its category that it belongs to."""

    text: str
    kind: ItemKind = "subtopic"
    done: bool = False
    group: str | None = None

    @property
    def label(self) -> str:
        return f"{self.group}: {self.text}" if self.group else self.text


class ChecklistCategory(msgspec.Struct, frozen=True):
    name: str
    items: tuple[ChecklistItem, ...]


class Checklist(msgspec.Struct, frozen=True):
    """The content of a checklist file; `error` says why there is none."""

    file: str
    categories: tuple[ChecklistCategory, ...] = ()
    error: str | None = None
    # the file of the specification, if the checklist names it
    specification: str | None = None
    # changes with the file's content
    revision: str = ""

    @property
    def items(self) -> list[ChecklistItem]:
        return [item for category in self.categories for item in category.items]


def parse_checklist(file: str, data: Any, revision: str = "") -> Checklist:
    """A checklist from the data of its YAML, or from a sentence that says why there is none."""
    if isinstance(data, str):
        return Checklist(file, error=data, revision=revision)
    merged: dict[str, list[ChecklistItem]] = {}
    for name, items in _categories(data):
        category = merged.setdefault(name, [])
        category += [item for item in items if item not in category]
        del category[MAX_ITEMS:]
        if len(merged) >= MAX_CATEGORIES:
            break
    categories = tuple(
        ChecklistCategory(name, tuple(items)) for name, items in merged.items() if items
    )
    error = None if categories else _why_empty(data)
    return Checklist(file, categories, error, _specification_file(data), revision)


def _why_empty(data: Any) -> str:
    for key in _WRAPPER_KEYS:
        if isinstance(data, dict) and key in data and not isinstance(data[key], dict | list):
            content = "nothing" if data[key] is None else "a single value"
            return f"Its “{key}” holds {content}, not categories."
    if not _unwrap(data):
        return "It has no categories."
    return "It has no categories with questions or subtopics."


def _specification_file(data: Any) -> str | None:
    for key in ("specification", "spec"):
        value = data.get(key) if isinstance(data, dict) else None
        if isinstance(value, dict):
            value = value.get("file") or value.get("path")
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None


def _unwrap(data: Any) -> Any:
    """The categories themselves, without the keys around them."""
    opened = False
    for _ in range(MAX_DEPTH):
        if not isinstance(data, dict):
            return data
        wrapped = _wrapped(data)
        wrapped += [
            value for key, value in data.items() if _is_list_key(key) and _lists_categories(value)
        ]
        inner = next(iter(wrapped), None)
        opened = opened or inner is not None
        if inner is None and len(data) == 1 and not opened:
            # a project's name above everything
            (only,) = data.values()
            inside = only.values() if isinstance(only, dict) else []
            wraps = isinstance(only, dict) and not _is_category(only) and bool(_wrapped(only))
            inner = only if wraps or any(map(_is_category, inside)) else None
        if inner is None:
            return data
        data = inner
    return data


def _wrapped(data: dict[Any, Any]) -> list[Any]:
    """The values of the usual keys for all categories, in the order of these keys."""
    values = {_normalize_key(key): value for key, value in data.items() if isinstance(key, str)}
    return [values[key] for key in _WRAPPER_KEYS if _holds_categories(values.get(key))]


def _holds_categories(value: Any) -> bool:
    return (isinstance(value, dict) and not _is_category(value)) or isinstance(value, list)


def _lists_categories(value: Any) -> bool:
    return isinstance(value, list) and any(map(_is_category, value))


def _is_category(value: Any) -> bool:
    # "required: true" says something of an item
    return isinstance(value, dict) and any(
        _is_list_key(key) and not isinstance(inner, bool) for key, inner in value.items()
    )


def _categories(data: Any) -> Iterator[tuple[str, list[ChecklistItem]]]:
    top = _unwrap(data)
    if isinstance(top, dict):
        if _is_category(top) and (name := _name_of(top)):
            yield name, _items(top)
            return
        for key, body in top.items():
            if isinstance(body, dict | list):
                yield _name_of(body) or _shorten(str(key)) or "Category", _items(body)
    elif isinstance(top, list):
        title = _name_of(data) if isinstance(data, dict) else None
        loose = [each for each in top if not isinstance(each, dict | list)]
        if loose:
            yield title or "Checklist", _items(loose)
        for each in top:
            if isinstance(each, dict):
                yield from _category_in_list(each)
            elif isinstance(each, list):
                yield title or "Checklist", _items(each)


def _category_in_list(body: dict[Any, Any]) -> Iterator[tuple[str, list[ChecklistItem]]]:
    name = _name_of(body)
    if name is None and not _is_category(body):
        # "- Security: [tokens, auditing]"
        for key, inner in body.items():
            yield _shorten(str(key)) or "Category", _items(inner)
        return
    yield name or "Checklist", _items(body)


def _items(body: Any) -> list[ChecklistItem]:
    # each once, in order
    items: dict[ChecklistItem, None] = {}
    for item in _body_items(body, 0):
        items[item] = None
        if len(items) >= MAX_ITEMS:
            break
    if not isinstance(body, dict):
        return list(items)
    done_texts = {text for key in _DONE_WORDS for text in _texts_in(body.get(key))}
    is_done = _is_done(body)
    return [
        msgspec.structs.replace(item, done=True) if is_done or item.text in done_texts else item
        for item in items
    ]


def _body_items(body: Any, depth: int) -> Iterator[ChecklistItem]:
    if depth > MAX_DEPTH:
        return
    if isinstance(body, dict):
        # a category within this one may be called "goals", too
        groups = {key: value for key, value in body.items() if _is_category(value)}
        lists = [
            (key, value)
            for key, value in body.items()
            if _is_list_key(key) and value is not None and key not in groups
        ]
        name_key = next((key for key in _NAME_KEYS if isinstance(body.get(key), str)), None)
        for key, value in lists:
            if key != name_key:
                yield from _items_in(value, _item_kind(key), None, depth + 1)
        for key, value in groups.items() if lists else ():
            yield from _items_of_key(key, value, "subtopic", None, depth + 1)
        if not lists:
            for key, value in body.items():
                if key in _DONE_WORDS or key in _NAME_KEYS or _is_metadata_key(key):
                    continue
                yield from _items_of_key(key, value, "subtopic", None, depth + 1)
    else:
        yield from _items_in(body, "subtopic", None, depth + 1)


def _items_in(value: Any, kind: ItemKind, group: str | None, depth: int) -> Iterator[ChecklistItem]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _items_of_key(key, inner, kind, group, depth + 1)
    elif isinstance(value, list):
        for each in value:
            if isinstance(each, dict):
                yield from _items_of_mapping(each, kind, group, depth + 1)
            else:
                yield from _items_in(each, kind, group, depth + 1)
    elif value is not None and not isinstance(value, bool):
        box = _CHECKBOX.match(str(value))
        text = _shorten(str(value)[box.end() if box else 0 :])
        if text:
            asks = _asks(text)
            done = bool(box and box[1] in "xX")
            yield ChecklistItem(text, "question" if asks else kind, done, group)


def _items_of_key(
    key: Any, value: Any, kind: ItemKind, group: str | None, depth: int
) -> Iterator[ChecklistItem]:
    """The items of an entry of a mapping: its key, and its value."""
    text = _shorten(str(key))
    if isinstance(value, list) or _is_category(value):
        for item in _body_items(value, depth):
            yield msgspec.structs.replace(item, group=item.group or text)
    elif isinstance(value, dict):
        title = _text_of(value)
        yield from _items_of_mapping(
            value if title else {"text": text, **value}, kind, group, depth
        )
    elif isinstance(value, str) and _asks(value) and not _asks(text):
        # "q1: Who may log in?"
        yield ChecklistItem(_shorten(value), "question", False, group)
    elif text:
        done = value is True or (isinstance(value, str) and value.strip().casefold() in _DONE_WORDS)
        yield ChecklistItem(text, kind, done, group)


def _items_of_mapping(
    item: dict[Any, Any], kind: ItemKind, group: str | None, depth: int
) -> Iterator[ChecklistItem]:
    """The items of a list's entry that is a mapping of its own."""
    if depth > MAX_DEPTH:
        return
    text = _text_of(item)
    if text is None:
        for key, value in item.items():
            if isinstance(value, str) and value.strip().casefold() not in _DONE_WORDS:
                # "- Rotation: how often?" is a mapping to YAML only
                yield ChecklistItem(_shorten(f"{key}: {value}"), kind, False, group)
            elif not _is_metadata_key(key):
                yield from _items_of_key(key, value, kind, group, depth + 1)
        return
    lists = {key: each for key, each in item.items() if isinstance(each, list | dict)}
    inner = [
        nested
        for key, each in lists.items()
        if _is_list_key(key)
        for nested in _items_in(each, _item_kind(key), None, depth + 1)
    ]
    if isinstance(item.get("question"), str):
        kind = "question"
    if kind == "question" or not inner:
        yield ChecklistItem(text, kind, _is_done(item), group)
    for nested in inner:
        yield msgspec.structs.replace(
            nested, group=nested.group or text, done=nested.done or _is_done(item)
        )


def _is_done(body: dict[Any, Any]) -> bool:
    if any(body.get(key) is True for key in _DONE_WORDS):
        return True
    status, answer = body.get("status"), body.get("answer")
    return (isinstance(status, str) and status.strip().casefold() in _DONE_WORDS) or (
        isinstance(answer, str) and bool(answer.strip())
    )


def _text_of(item: dict[Any, Any], keys: tuple[str, ...] = _TEXT_KEYS) -> str | None:
    for key in keys:
        value = item.get(key)
        if isinstance(value, str) and value.strip():
            return _shorten(value)
    return None


def _name_of(body: Any) -> str | None:
    return _text_of(body, _NAME_KEYS) if isinstance(body, dict) else None


def _texts_in(value: Any) -> Iterable[str]:
    texts = value if isinstance(value, list) else []
    return {_shorten(each) for each in texts if isinstance(each, str)}


def _is_list_key(key: Any) -> bool:
    return isinstance(key, str) and _LIST_KEY.match(_normalize_key(key)) is not None


def _is_metadata_key(key: Any) -> bool:
    return isinstance(key, str) and _METADATA_KEY.match(key.casefold()) is not None


def _item_kind(key: Any) -> ItemKind:
    name = _normalize_key(str(key))
    if name.endswith(("question", "questions")):
        return "question"
    return "point" if name.endswith(("point", "points")) else "subtopic"


def _normalize_key(key: str) -> str:
    return re.sub(r"[\s_-]+", "", key).casefold()


def _asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "？", "؟"))


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"
