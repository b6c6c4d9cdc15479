"""What of a checklist was covered in a conversation, folded message by message.

An item is covered when the person answered it or spoke of it: what Claude only asked or said does
not count, and neither does what is named to be put off, planned, asked about or left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from claudekeeper.coverage.checklist import ChecklistItem
from claudekeeper.coverage.clauses import (
    Clause,
    interrogative_of,
    is_faulty,
    is_inspection,
    split_clauses,
    stem_pattern,
    stems_of,
    tells_of,
    word_set,
)
from claudekeeper.coverage.discussion import AskedItem, Discussion, Evidence, PutOff
from claudekeeper.transcripts.untyped import replace_surrogates

# of the words of an item so many must have been said in one place
MIN_WORD_SHARE = 0.6
# a word before an item by which it is left out, and how far before
NEGATORS = word_set(
    "no not without never don't dont isn't aren't won't except instead rather kein keine keinen"
    " keiner nicht ohne pas sans sin nunca senza niet geen sem"
)
NEGATION_REACH = 4
# the two words of an item stand no further apart than this
APART = 8
# what is asked so is about something that happened, and nothing is settled by the answer
WHY_WORDS = ("why", "warum", "pourquoi", "perché")
# … and phrases with which that is a decision all the same
DECISION_PHRASES = (
    *("there is no", "there are no", "there will be no", "there won't be", "we have no"),
    *("don't need", "do not need", "no need for", "won't need", "not need", "not allowed"),
    *("don't have", "do not have", "won't have", "will not have", "not have", "not support"),
    *("don't support", "don't offer", "don't store", "do not store", "do not allow", "don't allow"),
    *("don't use", "do not use", "in the first", "for the first", "don't want to use"),
    *("won't be", "will not be", "must not", "may not", "cannot", "can't", "decided against"),
    *("wird nicht", "brauchen kein", "gibt kein", "pas besoin", "no necesitamos", "il n'y a pas"),
)
_QUESTION_MARK = re.compile("[?？؟]")
# Claude asks without a question mark, too
_REQUEST = re.compile(
    r"\b(?:tell me|let me know|specify|describe|provide|share)\b(?! if\b)", re.IGNORECASE
)
# what refuses a proposal, and says nothing instead
_REFUSAL = re.compile(
    r"^\W*(?:no|nope|nah|not (?:really|that)|rather not|nein|non)\b"
    r"(?:[\s,.!]*(?:please|thanks|thank you|something|else|different|other|another|one|that|this"
    r"|it|not|i|do|don['’]t|want|like|rather))*[\s,.!]*\Z",
    re.IGNORECASE,
)
MAX_CHARACTERS = 240
# of a long answer so many clauses are held against the questions
MAX_ANSWER_CLAUSES = 400


class CoverageFold:
    """A discussion in the making."""

    def __init__(self, items: Sequence[ChecklistItem], discussion: Discussion) -> None:
        self.discussion = discussion
        self._item_stems = [{word for word in stems_of(item.text) if word} for item in items]
        self._openings = [interrogative_of(item.text) for item in items]
        # one word of a question stands in much that does not answer it
        self._vague_items = {
            place
            for place, item in enumerate(items)
            if item.kind == "question" and len(self._item_stems[place]) == 1
        }
        # what has two words is a topic only where they stand together
        self._pairs = {
            place
            for place, item in enumerate(items)
            if item.kind != "question" and len(self._item_stems[place]) == 2
        }
        self._items_by_stem: dict[str, list[int]] = {}
        for place, words in enumerate(self._item_stems):
            for word in words:
                self._items_by_stem.setdefault(word, []).append(place)

        self._hint_pattern = re.compile(stem_pattern(set(self._items_by_stem)), re.IGNORECASE)

    # ---- the person ----

    def add_prompt(self, text: str, uuid: str, at: str) -> None:
        """The person's next words."""
        known = self.discussion
        # whatever is said may answer; without a question only what is about the checklist counts
        clauses = split_clauses(
            replace_surrogates(text), None if known.pending_questions else self._hint_pattern
        )
        pending, known.pending_questions = known.pending_questions, []
        known.raised_items, known.asked_by_person = [], {}
        self._apply_answers(pending, clauses, uuid, at)
        self._apply_prompt(clauses, uuid, at)
        known.has_older_questions = bool(pending) and _asks_back(clauses)
        if known.has_older_questions:
            known.pending_questions = pending

    def add_answer(self, question: str, answer: str, uuid: str, at: str) -> None:
        """A question of Claude's that was answered in its card."""
        items = [*self._asked_items(split_clauses(question), every=True)]
        said = split_clauses(answer)
        for place in items:
            self.discussion.questions[place] = PutOff(_shorten(question), uuid, at)
            if said and not all(each.kind in ("defers", "plans") for each in said):
                words = f"{question} {answer}"
                self._cover(place, Evidence("answered", _shorten(words), uuid, at, 1.0, at))
        self._apply_prompt(said, uuid, at)

    def _apply_prompt(self, clauses: list[Clause], uuid: str, at: str) -> None:
        before: Clause | None = None
        known = self.discussion
        about = False
        for clause in clauses:
            was_about, about = about, not clause.stems.isdisjoint(self._items_by_stem.keys())
            if not about and not was_about:
                # most of a long text is about nothing of the checklist
                before = clause
                continue
            if clause.kind in ("states", "orders"):
                self._apply_statement(clause, before, uuid, at)
            elif clause.kind == "plans":
                known.raised_items += self._named_items(clause.stems)
            elif clause.kind == "asks" and interrogative_of(clause.text) not in WHY_WORDS:
                for place in self._asked_items([clause]):
                    known.asked_by_person[place] = Evidence(
                        "discussed", _shorten(clause.text), uuid, at, 0.6, at
                    )
            before = clause

    def _apply_statement(self, clause: Clause, before: Clause | None, uuid: str, at: str) -> None:
        if (clause.kind == "orders" and is_inspection(clause.text)) or is_faulty(clause.text):
            return
        words = clause.stems
        named = [
            place for place in self._named_items(words) if self._stands_together(clause, place)
        ]
        for place in named:
            mine = self._item_stems[place]
            if not tells_of(clause, mine) or (
                words <= mine and clause.kind == "states" and not clause.is_sentence
            ):
                # named, and nothing said of it
                self.discussion.raised_items.append(place)
            elif not self._is_negated(clause, mine):
                confidence = 0.8 if len(mine) > 1 and mine <= words else 0.6
                if clause.kind == "orders":
                    confidence = 0.5
                evidence = Evidence("said", _shorten(clause.text), uuid, at, confidence, at)
                self._cover(place, evidence)
        if before is None or not _belongs_together(clause, before):
            return
        both = f"{before.text} {clause.text}"
        if before.kind in ("heads", "asks", "plans", "states") and clause.kind == "states":
            said = before.stems
            # a heading, a question or a topic, and what is said of it
            alone = self._named_items(said)
            if before.kind == "states":
                joined = [place for place in self._named_items(said | words) if place not in alone]
                alone = [
                    *(place for place in alone if said <= self._item_stems[place]),
                    *(place for place in joined if not self._is_negated(before, said)),
                ]
            # what is told here in its own words needs no others
            for place in set(alone).difference(named if before.kind == "states" else ()):
                self._cover(place, Evidence("said", _shorten(both), uuid, at, 0.7, at))

    def _stands_together(self, clause: Clause, place: int) -> bool:
        """Whether two words are one topic here, and not each in a place of its own."""
        if place not in self._pairs:
            return True
        at: dict[str, list[int]] = {word: [] for word in self._item_stems[place]}
        for number, word in enumerate(stems_of(clause.text)):
            if word is not None and word in at:
                at[word].append(number)
        first, second = at.values()
        return any(abs(one - other) <= APART for one in first for other in second)

    def _is_negated(self, clause: Clause, item: set[str]) -> bool:
        """Whether a negation stands right before the item, and decides nothing."""
        words = enumerate(stems_of(clause.text))
        place = next((at for at, word in words if word in item), 0)
        text = clause.text.casefold().replace("’", "'")
        if any(phrase in text for phrase in DECISION_PHRASES):
            return False
        tokens = text.replace(",", " ").split()
        return any(
            token.strip(".,;:!\"'()") in NEGATORS
            for token in tokens[max(0, place - NEGATION_REACH) : place + 1]
        )

    def _apply_answers(
        self, pending: list[AskedItem], clauses: list[Clause], uuid: str, at: str
    ) -> None:
        """What of that which Claude asked these words answer."""
        if not pending:
            return
        clauses = clauses[:MAX_ANSWER_CLAUSES]
        said = [each for each in clauses if each.kind in ("states", "heads", "orders")]
        asked = {word for asking in pending for word in asking.stems}
        said = [each for each in said if each.kind != "orders" or each.stems & asked]
        answers = [each for each in said if each.kind != "heads"]
        if clauses and _REFUSAL.match(clauses[0].text):
            pending = [asking for asking in pending if not asking.is_proposal]
            if not pending:
                return
        put_off = {word for each in clauses if each.kind == "defers" for word in each.stems}
        for asking in pending:
            asking.items = [at for at in asking.items if not self._item_stems[at] & put_off]
        if not answers:
            if pending and pending[-1].is_yes_no and _assents(clauses):
                self._cover_answered([(pending[-1], clauses[0])], uuid, at, 0.8)
            return
        if any(asking.number is not None for asking in pending):
            numbered = {
                each.number: each
                for each in clauses
                if each.number is not None and each.kind in ("states", "orders", "assents")
            }
            if numbered or any(each.number is not None for each in clauses):
                pairs = [
                    (asking, numbered[asking.number])
                    for asking in pending
                    if asking.number in numbered
                ]
                self._cover_answered(pairs, uuid, at, 0.9)
                return
        if len(pending) == 1:
            self._cover_answered([(pending[0], answers[0])], uuid, at, 0.9)
            return
        named = [
            (asking, each)
            for asking in pending
            for each in answers
            if each.stems & set(asking.stems)
        ]
        replies = [each for each in clauses if each.kind in ("states", "orders", "assents")]
        if len(replies) == len(pending):
            # a yes or no to one of them is an answer, too
            answers = replies
        if len(answers) >= len(pending):
            self._cover_answered(list(zip(pending, answers, strict=False)), uuid, at, 0.7)
        else:
            self._cover_answered(named, uuid, at, 0.8)

    def _cover_answered(
        self, pairs: Iterable[tuple[AskedItem, Clause]], uuid: str, at: str, confidence: float
    ) -> None:
        for asking, clause in pairs:
            for place in asking.items:
                evidence = Evidence("answered", _shorten(clause.text), uuid, at, confidence, at)
                self._cover(place, evidence)

    def _cover(self, place: int, evidence: Evidence) -> None:
        known = self.discussion.covered.get(place)
        self.discussion.last_discussed[place] = evidence.at
        if known is None:
            self.discussion.covered[place] = evidence
        elif evidence.confidence > known.confidence:
            evidence.since = known.since
            self.discussion.covered[place] = evidence

    # ---- Claude ----

    def add_reply(self, text: str, uuid: str, at: str) -> None:
        """What Claude says next; of a turn the last words ask."""
        known = self.discussion
        asks = _QUESTION_MARK.search(text) or _REQUEST.search(text)
        if not (known.raised_items or known.asked_by_person or asks):
            # nothing is asked, and the last words of a turn count
            known.pending_questions = known.pending_questions if known.has_older_questions else []
            return
        clauses = split_clauses(replace_surrogates(text))
        asked = set(self._asked_items(clauses))
        for place, evidence in known.asked_by_person.items():
            if place not in asked and self._is_explained(place, clauses):
                self._cover(place, evidence)
        blocks: dict[int, list[Clause]] = {}
        for clause in clauses:
            blocks.setdefault(clause.block, []).append(clause)
        pending: list[AskedItem] = []
        before: list[Clause] = []
        for block in blocks.values():
            if any(each.kind == "asks" for each in block):
                items = self._asked_items(block)
                proposed = [] if items else self._proposed_items(block, before)
                for place in items:
                    question = next(each for each in block if each.kind == "asks")
                    known.questions[place] = PutOff(_shorten(question.text), uuid, at)
                pending.append(_asked_item(items or proposed, block, proposed=bool(proposed)))
            before = block
        if known.raised_items and not pending:
            pending = [AskedItem(list(known.raised_items), [], None, True)]
        elif not any(asking.items for asking in pending):
            # the person brought it up or asked of it: what Claude asks now is about it
            about = [*known.raised_items, *known.asked_by_person.keys() - set(known.raised_items)]
            for asking in pending:
                asking.items = list(about)
        known.has_older_questions = known.has_older_questions and not any(
            asking.items for asking in pending
        )
        known.pending_questions = [
            *(known.pending_questions if known.has_older_questions else []),
            *pending,
        ]

    def _is_explained(self, place: int, clauses: list[Clause]) -> bool:
        mine = self._item_stems[place]
        return any(
            place in self._named_items(each.stems) and not each.stems <= mine
            for each in clauses
            if each.kind == "states"
        )

    def _proposed_items(self, block: list[Clause], before: list[Clause]) -> list[int]:
        """What Claude proposed, where it then asks no more than whether that is right."""
        questions = [each for each in block if each.kind == "asks"]
        if len(questions) > 1 or not _is_confirmation(questions[0]):
            return []
        said = [each for each in block if each.kind == "states"] or before
        return [
            place
            for each in said
            if each.kind == "states"
            for place in self._named_items(each.stems)
        ]

    def _asked_items(self, block: list[Clause], *, every: bool = False) -> list[int]:
        """The items that the questions of a paragraph are about, or its topic."""
        found: dict[int, None] = {}
        for clause in block:
            words = clause.stems
            if clause.kind == "asks" or every:
                named = self._named_items(words, interrogative_of(clause.text))
                found |= dict.fromkeys(at for at in named if self._has_opening(clause, at))
            elif clause.kind in ("plans", "heads") or len(block) > 1:
                listed = clause.previous is not None and clause.previous.kind == "asks"
                for place in self._named_items(words):
                    if (
                        listed
                        or clause.kind in ("plans", "heads")
                        or words <= self._item_stems[place]
                    ):
                        found[place] = None
        return list(found)

    def _has_opening(self, clause: Clause, place: int) -> bool:
        """Whether it has the "who" or "when" of an item that has only one word besides."""
        opening = self._openings[place]
        if place not in self._vague_items or opening is None:
            return True
        return re.search(rf"\b{opening}\b", clause.text, re.IGNORECASE) is not None

    # ---- words ----

    def _named_items(self, words: set[str], opening: str | None = None) -> list[int]:
        """The items whose words these are; a question may begin as theirs does."""
        counts: dict[int, int] = {}
        for word in words:
            for place in self._items_by_stem.get(word, ()):
                counts[place] = counts.get(place, 0) + 1
        found: list[int] = []
        for place, count in counts.items():
            size = len(self._item_stems[place])
            if opening is not None and opening == self._openings[place]:
                count, size = count + 1, size + 1
            needed = size if size <= 2 else max(2, round(size * MIN_WORD_SHARE))
            if count >= needed:
                found.append(place)
        return found


def _is_confirmation(question: Clause) -> bool:
    """ "OK?", "Does that work for you?": whether something is right, and not what."""
    return len(question.text.split()) <= 6 and interrogative_of(question.text) is None


def _asked_item(items: list[int], block: list[Clause], *, proposed: bool = False) -> AskedItem:
    questions = [each for each in block if each.kind == "asks"]
    last = questions[-1]
    proposes = block[-1].kind != "asks"
    words = sorted({word for each in block for word in each.stems})
    assentable = proposes or interrogative_of(last.text) is None
    return AskedItem(items, words, block[0].number, assentable, proposed)


def _belongs_together(clause: Clause, before: Clause) -> bool:
    if clause.block == before.block:
        return True
    return before.kind == "heads" and clause.block - before.block <= 2


def _asks_back(clauses: list[Clause]) -> bool:
    said = [each for each in clauses if each.kind not in ("empty", "assents", "heads")]
    return bool(said) and all(each.kind == "asks" for each in said)


def _assents(clauses: list[Clause]) -> bool:
    said = [each for each in clauses if each.kind != "empty"]
    return bool(said) and said[0].kind == "assents"


def _shorten(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_CHARACTERS else words[: MAX_CHARACTERS - 1].rstrip() + "…"
