"""How far a checklist is covered: by category and over all, and what comes next of it."""

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
# of the readiness score: items that are covered, categories that are complete, how sure that is
ITEMS_WEIGHT, CATEGORIES_WEIGHT, CONFIDENCE_WEIGHT = 50, 30, 20
MAX_KEY_POINTS = 8


class KeyPoint(msgspec.Struct, rename="camel"):
    """Words, and the message in which they stand."""

    text: str
    uuid: str | None = None
    at: str | None = None


class CoveredItem(msgspec.Struct, rename="camel"):
    """An item of the checklist. `how`: by what it is covered; null where it is not."""

    text: str
    kind: ItemKind
    group: str | None
    covered: bool
    how: EvidenceKind | None = None
    # what the person said, in which message
    words: str | None = None
    uuid: str | None = None
    at: str | None = None
    confidence: float | None = None


class CategoryCoverage(msgspec.Struct, rename="camel"):
    """A category of the project's checklist, and what was not talked about yet."""

    name: str
    items: int
    done: int
    percent: int
    missing: list[str]
    # `complete` from 90 percent on, `in_progress` from 70 on, `not_started` below
    status: CategoryStatus = "not_started"
    # from 0 to 1, over what is covered; null where nothing is
    confidence: float | None = None
    key_points: list[KeyPoint] = []
    # the last question that Claude put
    asked: KeyPoint | None = None
    # when the person spoke of it last
    discussed: str | None = None
    entries: list[CoveredItem] = []


class NextTopic(msgspec.Struct, rename="camel"):
    """What to talk about next: an item of a category, and the words to begin with."""

    category: str
    item: str
    # whether something of the category was covered before
    begun: bool
    prompt: str


class Coverage(msgspec.Struct, rename="camel"):
    """The project's coverage-checklist.yml; `error` says why it tells nothing."""

    file: str
    items: int = 0
    done: int = 0
    percent: int = 0
    categories: list[CategoryCoverage] = []
    error: str | None = None
    # from 0 to 100: docs/returning.md has the formula
    readiness: int = 0
    # whether every category is
    complete: bool = False
    next: NextTopic | None = None
    # false while the session is still being read
    read: bool = True


def percent(done: int, items: int) -> int:
    """Whole percents; 100 only when nothing is left."""
    return done * 100 // items if items else 0


def coverage_of(checklist: Checklist, discussion: Discussion | None = None) -> Coverage:
    """The report; without a discussion it has what the file says by itself."""
    known = discussion or Discussion()
    categories: list[CategoryCoverage] = []
    first = 0
    for category in checklist.categories:
        categories.append(_category_coverage(category, first, known))
        first += len(category.items)
    items = sum(each.items for each in categories)
    done = sum(each.done for each in categories)
    complete = [each for each in categories if each.status == "complete"]
    sure = sum(entry.confidence or 0 for each in categories for entry in each.entries)
    score = 0
    if items:
        score = int(
            ITEMS_WEIGHT * done / items
            + CATEGORIES_WEIGHT * len(complete) / len(categories)
            + CONFIDENCE_WEIGHT * sure / items
            # what adds up to a whole number is that number
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
    """None where nothing of the checklist was covered yet."""
    if coverage.error is not None or not coverage.done:
        return None
    return SessionProgress(
        "checklist", coverage.items, coverage.done, coverage.percent, coverage.complete
    )


def next_topic(categories: Sequence[CategoryCoverage]) -> NextTopic | None:
    """The category that is under way goes on; else the next one begins. None: all are complete."""
    left = [each for each in categories if each.status != "complete" and each.missing]
    if not left:
        return None
    begun = [each for each in left if each.done]
    # the one that is further, and of these the one that was spoken of last
    category = max(
        begun,
        key=lambda each: (each.status == "in_progress", each.discussed or ""),
        default=left[0],
    )
    item = category.missing[0]
    verb = "continue" if category.done else "start"
    name = display_name(category.name)
    return NextTopic(category.name, item, bool(category.done), f"Let’s {verb} with {name}: {item}")


def display_name(name: str) -> str:
    """A category's name as people write it: business_requirements, in words."""
    return name.replace("_", " ").strip() or name


def least_covered(coverage: Coverage, most: int) -> list[CategoryCoverage]:
    """The categories of which most is missing, in the order of the file where they are equal."""
    left = [each for each in coverage.categories if each.missing]
    return sorted(left, key=lambda each: each.percent)[:most]


def covered_times(checklist: Checklist, discussion: Discussion) -> list[str]:
    """When each item was covered first, in order; empty for what the file itself says."""
    return sorted(
        "" if item.done else discussion.covered[place].since
        for place, item in enumerate(checklist.items)
        if item.done or place in discussion.covered
    )


def _category_coverage(
    category: ChecklistCategory, first: int, known: Discussion
) -> CategoryCoverage:
    places = range(first, first + len(category.items))
    evidence = {place: known.covered[place] for place in places if place in known.covered}
    entries = [
        _covered_item(item, evidence.get(place))
        for place, item in zip(places, category.items, strict=True)
    ]
    done = sum(each.covered for each in entries)
    sure = [each.confidence for each in entries if each.confidence is not None]
    share = percent(done, len(entries))
    asked = [known.questions[place] for place in places if place in known.questions]
    last = max(asked, key=lambda put: put.at, default=None)
    return CategoryCoverage(
        name=category.name,
        items=len(entries),
        done=done,
        percent=share,
        missing=[
            item.label
            for item, each in zip(category.items, entries, strict=True)
            if not each.covered
        ],
        status=status_of(share),
        confidence=round(sum(sure) / len(sure), 2) if sure else None,
        key_points=_key_points(evidence.values()),
        asked=KeyPoint(last.text, last.uuid or None, last.at or None) if last else None,
        discussed=max((known.last_discussed.get(place, "") for place in places), default="")
        or None,
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
    """What the person said, each once, in the order in which they said it."""
    said = {(each.uuid, each.words): each for each in sorted(evidence, key=lambda each: each.at)}
    points = [KeyPoint(each.words, each.uuid or None, each.at or None) for each in said.values()]
    return points[-MAX_KEY_POINTS:]
