"""The items of a checklist by their words: which of them a clause names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from claudekeeper.coverage.checklist import ChecklistItem
from claudekeeper.coverage.clause_phrases import clause_phrases
from claudekeeper.coverage.clauses import Clause, interrogative_of, stem_pattern, stems_of

# a clause names an item if it has this share of its words
MIN_WORD_SHARE = 0.6
# how many words before an item a negation leaves it out
NEGATION_REACH = 4
# the two words of an item stand no further apart than this
MAX_PAIR_DISTANCE = 8


class ItemIndex:
    """Finds items, by their index in the checklist."""

    def __init__(self, items: Sequence[ChecklistItem]) -> None:
        # the words of each item, without endings
        self.stems = [{stem for stem in stems_of(item.text) if stem} for item in items]
        self._openings = [interrogative_of(item.text) for item in items]
        self._is_question = [item.kind == "question" for item in items]
        self._by_stem: dict[str, list[int]] = {}
        for index, stems in enumerate(self.stems):
            for stem in stems:
                self._by_stem.setdefault(stem, []).append(index)
        # matches every line that may name an item
        self.hint = re.compile(stem_pattern(set(self._by_stem)), re.IGNORECASE)

    def has_any_word(self, clause: Clause) -> bool:
        return not clause.stems.isdisjoint(self._by_stem.keys())

    def named_items(self, stems: set[str], opening: str | None = None) -> list[int]:
        """The items that have these words; `opening`: the word with which a question begins."""
        counts: dict[int, int] = {}
        for stem in stems:
            for index in self._by_stem.get(stem, ()):
                counts[index] = counts.get(index, 0) + 1
        named: list[int] = []
        for index, count in counts.items():
            size = len(self.stems[index])
            if opening is not None and opening == self._openings[index]:
                count, size = count + 1, size + 1
            needed = size if size <= 2 else max(2, round(size * MIN_WORD_SHARE))
            if count >= needed:
                named.append(index)
        return named

    def asked_items(self, block: list[Clause], *, every: bool = False) -> list[int]:
        """The items that the questions of a paragraph are about, or its topic."""
        items: dict[int, None] = {}
        for clause in block:
            if clause.kind == "asks" or every:
                named = self.named_items(clause.stems, interrogative_of(clause.text))
                items |= dict.fromkeys(index for index in named if self._has_opening(clause, index))
            elif clause.kind in ("plans", "heads") or len(block) > 1:
                after_question = clause.previous is not None and clause.previous.kind == "asks"
                is_topic = after_question or clause.kind in ("plans", "heads")
                for index in self.named_items(clause.stems):
                    if is_topic or clause.stems <= self.stems[index]:
                        items[index] = None
        return list(items)

    def stands_together(self, clause: Clause, index: int) -> bool:
        """Whether the two words of a topic stand near each other in a clause."""
        if self._is_question[index] or len(self.stems[index]) != 2:
            return True
        positions: dict[str, list[int]] = {stem: [] for stem in self.stems[index]}
        for position, stem in enumerate(stems_of(clause.text)):
            if stem is not None and stem in positions:
                positions[stem].append(position)
        first, second = positions.values()
        return any(abs(one - other) <= MAX_PAIR_DISTANCE for one in first for other in second)

    def _has_opening(self, clause: Clause, index: int) -> bool:
        """Whether it has the "who" or "when" of a question that has only one word besides: one word
        stands in much that does not answer it."""
        opening = self._openings[index]
        if opening is None or not self._is_question[index] or len(self.stems[index]) != 1:
            return True
        return re.search(rf"\b{opening}\b", clause.text, re.IGNORECASE) is not None


def is_negated(clause: Clause, stems: set[str]) -> bool:
    """Whether a negation stands right before these words, and decides nothing."""
    phrases = clause_phrases()
    words = enumerate(stems_of(clause.text))
    position = next((position for position, stem in words if stem in stems), 0)
    text = clause.text.casefold().replace("’", "'")
    if any(phrase in text for phrase in phrases.decision_phrases):
        return False
    tokens = text.replace(",", " ").split()
    return any(
        token.strip(".,;:!\"'()") in phrases.negators
        for token in tokens[max(0, position - NEGATION_REACH) : position + 1]
    )
