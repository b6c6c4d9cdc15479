"""The coverage report of a checklist: by category, over all, and the next topic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from claudekeeper.contract.sessions import SessionProgress
from claudekeeper.coverage.checklist import Checklist, ChecklistCategory, ChecklistItem, ItemKind
from claudekeeper.coverage.discussion import Discussion, Evidence, EvidenceKind

CategoryStatus = Literal["complete", "in_progress", "not_started"]

# percents from which a category is complete, and from which it is in progress
COMPLETE_PERCENT, IN_PROGRESS_PERCENT = 90, 70
# parts of the readiness score: covered items, complete categories, how sure the coverage is
ITEMS_WEIGHT, CATEGORIES_WEIGHT, CONFIDENCE_WEIGHT = 50, 30, 20
MAX_KEY_POINTS = 8


class KeyPoint(msgspec.Struct, rename="camel"):
    """A quotation, with its message."""

    text: str
    uuid: str | None = None
    at: str | None = None


class CoveredItem(msgspec.Struct, rename="camel"):
    """An item of the checklist. `how`: the kind of evidence; null if it is not covered."""

    text: str
    kind: ItemKind
    group: str | None
    covered: bool
    how: EvidenceKind | None = None
    # the person's words, with their message
    words: str | None = None
    uuid: str | None = None
    at: str | None = None
    confidence: float | None = None


class CategoryCoverage(msgspec.Struct, rename="camel"):
    """A category of the checklist, and what is missing of it."""

    name: str
    items: int
    done: int
    percent: int
    missing: list[str]
    # `complete` from 90 percent on, `in_progress` from 70 on, `not_started` below
    status: CategoryStatus = "not_started"
    # from 0 to 1, the mean over the covered items; null if there are none
    confidence: float | None = None
    key_points: list[KeyPoint] = []
    # the last question that Claude asked
    asked: KeyPoint | None = None
    # when the person last spoke of it
    discussed: str | None = None
    entries: list[CoveredItem] = []


class NextTopic(msgspec.Struct, rename="camel"):
    """The next topic: an item of a category, and the prompt that begins it."""

    category: str
    item: str
    # whether something of the category is covered
    begun: bool
    prompt: str


class Coverage(msgspec.Struct, rename="camel"):
    """The coverage of the project's checklist; `error` says why it cannot be used."""

    file: str
    items: int = 0
    done: int = 0
    percent: int = 0
    categories: list[CategoryCoverage] = []
    error: str | None = None
    # from 0 to 100: docs/returning.md has the formula
    readiness: int = 0
    # whether every category is complete
    complete: bool = False
    next: NextTopic | None = None
    # false while the session is still being read
    read: bool = True


def percent(done: int, items: int) -> int:
    """Whole percents, rounded down: 100 only when everything is done."""
    return done * 100 // items if items else 0


def coverage_of(checklist: Checklist, discussion: Discussion | None = None) -> Coverage:
    """The report; without a discussion only items that the file marks are covered."""
    discussion = discussion or Discussion()
    categories: list[CategoryCoverage] = []
    first = 0
    for category in checklist.categories:
        categories.append(_category_coverage(category, first, discussion))
        first += len(category.items)
    items = sum(each.items for each in categories)
    done = sum(each.done for each in categories)
    complete = [each for each in categories if each.status == "complete"]
    confidence = sum(entry.confidence or 0 for each in categories for entry in each.entries)
    score = 0
    if items:
        score = int(
            ITEMS_WEIGHT * done / items
            + CATEGORIES_WEIGHT * len(complete) / len(categories)
            + CONFIDENCE_WEIGHT * confidence / items
            # rounding errors must not lower a sum that is a whole number
            + 1e-9
        )
    return Coverage(
        file=checklist.file,
        items=items,
        done=done,
        percent=percent(done, items),
        categories=categories,
        error=checklist.error,
        readiness=score,
        complete=bool(categories) and len(complete) == len(categories),
        next=next_topic(categories),
    )


def session_progress(coverage: Coverage) -> SessionProgress | None:
    """None if nothing of the checklist is covered yet."""
    if coverage.error is not None or not coverage.done:
        return None
    return SessionProgress(
        "checklist", coverage.items, coverage.done, coverage.percent, coverage.complete
    )


def next_topic(categories: Sequence[CategoryCoverage]) -> NextTopic | None:
    """An item of a category that is begun, else of the first one; None: all are complete."""
    incomplete = [each for each in categories if each.status != "complete" and each.missing]
    if not incomplete:
        return None
    # those in progress first, and of these the one that was last spoken of
    category = max(
        (each for each in incomplete if each.done),
        key=lambda each: (each.status == "in_progress", each.discussed or ""),
        default=incomplete[0],
    )
    item = category.missing[0]
    verb = "continue" if category.done else "start"
    name = display_name(category.name)
    return NextTopic(category.name, item, bool(category.done), f"Let’s {verb} with {name}: {item}")


def display_name(name: str) -> str:
    """The name of a category in words: business_requirements, without underscores."""
    return name.replace("_", " ").strip() or name


def least_covered(coverage: Coverage, most: int) -> list[CategoryCoverage]:
    """The categories of which most is missing; equal ones in the order of the file."""
    incomplete = [each for each in coverage.categories if each.missing]
    return sorted(incomplete, key=lambda each: each.percent)[:most]


def covered_times(checklist: Checklist, discussion: Discussion) -> list[str]:
    """When each item was first covered, in order; empty for items that the file marks."""
    return sorted(
        "" if item.done else discussion.covered[index].since
        for index, item in enumerate(checklist.items)
        if item.done or index in discussion.covered
    )


def _category_coverage(
    category: ChecklistCategory, first: int, discussion: Discussion
) -> CategoryCoverage:
    indexes = range(first, first + len(category.items))
    evidence = {at: discussion.covered[at] for at in indexes if at in discussion.covered}
    entries = [
        _covered_item(item, evidence.get(index))
        for index, item in zip(indexes, category.items, strict=True)
    ]
    done = sum(each.covered for each in entries)
    confidences = [each.confidence for each in entries if each.confidence is not None]
    share = percent(done, len(entries))
    questions = [discussion.questions[at] for at in indexes if at in discussion.questions]
    last = max(questions, key=lambda question: question.at, default=None)
    last_discussed = max((discussion.last_discussed.get(at, "") for at in indexes), default="")
    return CategoryCoverage(
        name=category.name,
        items=len(entries),
        done=done,
        percent=share,
        missing=[
            item.label
            for item, entry in zip(category.items, entries, strict=True)
            if not entry.covered
        ],
        status=status_of(share),
        confidence=round(sum(confidences) / len(confidences), 2) if confidences else None,
        key_points=_key_points(evidence.values()),
        asked=KeyPoint(last.text, last.uuid or None, last.at or None) if last else None,
        discussed=last_discussed or None,
        entries=entries,
    )


def status_of(share: int) -> CategoryStatus:
    if share >= COMPLETE_PERCENT:
        return "complete"
    return "in_progress" if share >= IN_PROGRESS_PERCENT else "not_started"


def _covered_item(item: ChecklistItem, evidence: Evidence | None) -> CoveredItem:
    if evidence is not None:
        return CoveredItem(
            item.text,
            item.kind,
            item.group,
            True,
            evidence.how,
            evidence.words,
            evidence.uuid or None,
            evidence.at or None,
            evidence.confidence,
        )
    if item.done:
        return CoveredItem(item.text, item.kind, item.group, True, "marked", confidence=1.0)
    return CoveredItem(item.text, item.kind, item.group, False)


def _key_points(evidence: Iterable[Evidence]) -> list[KeyPoint]:
    """The person's words, each once, oldest first."""
    quotations = {
        (each.uuid, each.words): each for each in sorted(evidence, key=lambda each: each.at)
    }
    points = [
        KeyPoint(each.words, each.uuid or None, each.at or None) for each in quotations.values()
    ]
    return points[-MAX_KEY_POINTS:]
