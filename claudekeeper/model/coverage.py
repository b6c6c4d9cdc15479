"""What of a checklist was covered in a conversation, folded message by message.

An item is covered when the person answered it or spoke of it: what Claude only asked or said does
not count, and neither does what is named to be put off, planned, asked about or left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from claudekeeper.model.checklist import ChecklistItem
from claudekeeper.model.clauses import (
    Clause,
    clauses_of,
    hints_of,
    interrogative_of,
    is_faulty,
    is_inspection,
    stems_of,
    tells_of,
    words_of,
)
from claudekeeper.model.discussion import Asking, Discussion, Evidence, Put
from claudekeeper.model.loose import whole

# of the words of an item so many must have been said in one place
ENOUGH = 0.6
# a word before an item by which it is left out, and how far before
NEGATORS = words_of(
    "no not without never don't dont isn't aren't won't except instead rather kein keine keinen"
    " keiner nicht ohne pas sans sin nunca senza niet geen sem"
)
REACH = 4
# the two words of an item stand no further apart than this
APART = 8
# what is asked so is about something that happened, and nothing is settled by the answer
WHY = ("why", "warum", "pourquoi", "perché")
# … and phrases with which that is a decision all the same
DECIDED = (
    *("there is no", "there are no", "there will be no", "there won't be", "we have no"),
    *("don't need", "do not need", "no need for", "won't need", "not need", "not allowed"),
    *("don't have", "do not have", "won't have", "will not have", "not have", "not support"),
    *("don't support", "don't offer", "don't store", "do not store", "do not allow", "don't allow"),
    *("don't use", "do not use", "in the first", "for the first", "don't want to use"),
    *("won't be", "will not be", "must not", "may not", "cannot", "can't", "decided against"),
    *("wird nicht", "brauchen kein", "gibt kein", "pas besoin", "no necesitamos", "il n'y a pas"),
)
_MARK = re.compile("[?？؟]")
# Claude asks without a question mark, too
_REQUEST = re.compile(
    r"\b(?:tell me|let me know|specify|describe|provide|share)\b(?! if\b)", re.IGNORECASE
)
# what refuses a proposal, and says nothing instead
_REFUSES = re.compile(
    r"^\W*(?:no|nope|nah|not (?:really|that)|rather not|nein|non)\b"
    r"(?:[\s,.!]*(?:please|thanks|thank you|something|else|different|other|another|one|that|this"
    r"|it|not|i|do|don['’]t|want|like|rather))*[\s,.!]*\Z",
    re.IGNORECASE,
)
MOST_WORDS = 240
# of a long answer so many clauses are held against the questions
MOST_ANSWERS = 400


class Covering:
    """A discussion in the making."""

    def __init__(self, items: Sequence[ChecklistItem], discussion: Discussion) -> None:
        self.discussion = discussion
        self._words = [{word for word in stems_of(item.text) if word} for item in items]
        self._openings = [interrogative_of(item.text) for item in items]
        # one word of a question stands in much that does not answer it
        self._vague = {
            place
            for place, item in enumerate(items)
            if item.kind == "question" and len(self._words[place]) == 1
        }
        # what has two words is a topic only where they stand together
        self._pairs = {
            place
            for place, item in enumerate(items)
            if item.kind != "question" and len(self._words[place]) == 2
        }
        self._by_word: dict[str, list[int]] = {}
        for place, words in enumerate(self._words):
            for word in words:
                self._by_word.setdefault(word, []).append(place)

        self._near = re.compile(hints_of(set(self._by_word)), re.IGNORECASE)

    # ---- the person ----

    def person(self, text: str, uuid: str, at: str) -> None:
        """The person's next words."""
        known = self.discussion
        # whatever is said may answer; without a question only what is about the checklist counts
        clauses = clauses_of(whole(text), None if known.pending else self._near)
        pending, known.pending = known.pending, []
        known.raised, known.wondered = [], {}
        self._answer(pending, clauses, uuid, at)
        self._say(clauses, uuid, at)
        known.kept = bool(pending) and _asks_back(clauses)
        if known.kept:
            known.pending = pending

    def answer(self, question: str, answer: str, uuid: str, at: str) -> None:
        """A question of Claude's that was answered in its card."""
        items = [*self._asked_in(clauses_of(question), every=True)]
        said = clauses_of(answer)
        for place in items:
            self.discussion.asked[place] = Put(_short(question), uuid, at)
            if said and not all(each.sort in ("defers", "plans") for each in said):
                words = f"{question} {answer}"
                self._cover(place, Evidence("answered", _short(words), uuid, at, 1.0, at))
        self._say(said, uuid, at)

    def _say(self, clauses: list[Clause], uuid: str, at: str) -> None:
        before: Clause | None = None
        known = self.discussion
        about = False
        for clause in clauses:
            was_about, about = about, not clause.content.isdisjoint(self._by_word.keys())
            if not about and not was_about:
                # most of a long text is about nothing of the checklist
                before = clause
                continue
            if clause.sort in ("states", "orders"):
                self._state(clause, before, uuid, at)
            elif clause.sort == "plans":
                known.raised += self._named(clause.content)
            elif clause.sort == "asks" and interrogative_of(clause.text) not in WHY:
                for place in self._asked_in([clause]):
                    known.wondered[place] = Evidence(
                        "discussed", _short(clause.text), uuid, at, 0.6, at
                    )
            before = clause

    def _state(self, clause: Clause, before: Clause | None, uuid: str, at: str) -> None:
        if (clause.sort == "orders" and is_inspection(clause.text)) or is_faulty(clause.text):
            return
        words = clause.content
        named = [place for place in self._named(words) if self._stands_together(clause, place)]
        for place in named:
            mine = self._words[place]
            if not tells_of(clause, mine) or (
                words <= mine and clause.sort == "states" and not clause.says
            ):
                # named, and nothing said of it
                self.discussion.raised.append(place)
            elif not self._is_left_out(clause, mine):
                confidence = 0.8 if len(mine) > 1 and mine <= words else 0.6
                if clause.sort == "orders":
                    confidence = 0.5
                evidence = Evidence("said", _short(clause.text), uuid, at, confidence, at)
                self._cover(place, evidence)
        if before is None or not _belongs(clause, before):
            return
        both = f"{before.text} {clause.text}"
        if before.sort in ("heads", "asks", "plans", "states") and clause.sort == "states":
            said = before.content
            # a heading, a question or a topic, and what is said of it
            alone = self._named(said)
            if before.sort == "states":
                joined = [place for place in self._named(said | words) if place not in alone]
                alone = [
                    *(place for place in alone if said <= self._words[place]),
                    *(place for place in joined if not self._is_left_out(before, said)),
                ]
            # what is told here in its own words needs no others
            for place in set(alone).difference(named if before.sort == "states" else ()):
                self._cover(place, Evidence("said", _short(both), uuid, at, 0.7, at))

    def _stands_together(self, clause: Clause, place: int) -> bool:
        """Whether two words are one topic here, and not each in a place of its own."""
        if place not in self._pairs:
            return True
        at: dict[str, list[int]] = {word: [] for word in self._words[place]}
        for number, word in enumerate(stems_of(clause.text)):
            if word is not None and word in at:
                at[word].append(number)
        first, second = at.values()
        return any(abs(one - other) <= APART for one in first for other in second)

    def _is_left_out(self, clause: Clause, item: set[str]) -> bool:
        """Whether a negation stands right before the item, and decides nothing."""
        words = enumerate(stems_of(clause.text))
        place = next((at for at, word in words if word in item), 0)
        text = clause.text.casefold().replace("’", "'")
        if any(phrase in text for phrase in DECIDED):
            return False
        tokens = text.replace(",", " ").split()
        return any(
            token.strip(".,;:!\"'()") in NEGATORS
            for token in tokens[max(0, place - REACH) : place + 1]
        )

    def _answer(self, pending: list[Asking], clauses: list[Clause], uuid: str, at: str) -> None:
        """What of that which Claude asked these words answer."""
        if not pending:
            return
        clauses = clauses[:MOST_ANSWERS]
        said = [each for each in clauses if each.sort in ("states", "heads", "orders")]
        asked = {word for asking in pending for word in asking.words}
        said = [each for each in said if each.sort != "orders" or each.content & asked]
        answers = [each for each in said if each.sort != "heads"]
        if clauses and _REFUSES.match(clauses[0].text):
            pending = [asking for asking in pending if not asking.proposed]
            if not pending:
                return
        put_off = {word for each in clauses if each.sort == "defers" for word in each.content}
        for asking in pending:
            asking.items = [at for at in asking.items if not self._words[at] & put_off]
        if not answers:
            if pending and pending[-1].assentable and _assents(clauses):
                self._settle([(pending[-1], clauses[0])], uuid, at, 0.8)
            return
        if any(asking.number is not None for asking in pending):
            numbered = {
                each.number: each
                for each in clauses
                if each.number is not None and each.sort in ("states", "orders", "assents")
            }
            if numbered or any(each.number is not None for each in clauses):
                pairs = [
                    (asking, numbered[asking.number])
                    for asking in pending
                    if asking.number in numbered
                ]
                self._settle(pairs, uuid, at, 0.9)
                return
        if len(pending) == 1:
            self._settle([(pending[0], answers[0])], uuid, at, 0.9)
            return
        named = [
            (asking, each)
            for asking in pending
            for each in answers
            if each.content & set(asking.words)
        ]
        replies = [each for each in clauses if each.sort in ("states", "orders", "assents")]
        if len(replies) == len(pending):
            # a yes or no to one of them is an answer, too
            answers = replies
        if len(answers) >= len(pending):
            self._settle(list(zip(pending, answers, strict=False)), uuid, at, 0.7)
        else:
            self._settle(named, uuid, at, 0.8)

    def _settle(
        self, pairs: Iterable[tuple[Asking, Clause]], uuid: str, at: str, confidence: float
    ) -> None:
        for asking, clause in pairs:
            for place in asking.items:
                evidence = Evidence("answered", _short(clause.text), uuid, at, confidence, at)
                self._cover(place, evidence)

    def _cover(self, place: int, evidence: Evidence) -> None:
        known = self.discussion.covered.get(place)
        self.discussion.discussed[place] = evidence.at
        if known is None:
            self.discussion.covered[place] = evidence
        elif evidence.confidence > known.confidence:
            evidence.since = known.since
            self.discussion.covered[place] = evidence

    # ---- Claude ----

    def claude(self, text: str, uuid: str, at: str) -> None:
        """What Claude says next; of a turn the last words ask."""
        known = self.discussion
        asks = _MARK.search(text) or _REQUEST.search(text)
        if not (known.raised or known.wondered or asks):
            # nothing is asked, and the last words of a turn count
            known.pending = known.pending if known.kept else []
            return
        clauses = clauses_of(whole(text))
        asked = set(self._asked_in(clauses))
        for place, evidence in known.wondered.items():
            if place not in asked and self._is_told(place, clauses):
                self._cover(place, evidence)
        blocks: dict[int, list[Clause]] = {}
        for clause in clauses:
            blocks.setdefault(clause.block, []).append(clause)
        pending: list[Asking] = []
        before: list[Clause] = []
        for block in blocks.values():
            if any(each.sort == "asks" for each in block):
                items = self._asked_in(block)
                proposed = [] if items else self._proposed_in(block, before)
                for place in items:
                    question = next(each for each in block if each.sort == "asks")
                    known.asked[place] = Put(_short(question.text), uuid, at)
                pending.append(_asking(items or proposed, block, proposed=bool(proposed)))
            before = block
        if known.raised and not pending:
            pending = [Asking(list(known.raised), [], None, True)]
        elif not any(asking.items for asking in pending):
            # the person brought it up or asked of it: what Claude asks now is about it
            about = [*known.raised, *known.wondered.keys() - set(known.raised)]
            for asking in pending:
                asking.items = list(about)
        known.kept = known.kept and not any(asking.items for asking in pending)
        known.pending = [*(known.pending if known.kept else []), *pending]

    def _is_told(self, place: int, clauses: list[Clause]) -> bool:
        mine = self._words[place]
        return any(
            place in self._named(each.content) and not each.content <= mine
            for each in clauses
            if each.sort == "states"
        )

    def _proposed_in(self, block: list[Clause], before: list[Clause]) -> list[int]:
        """What Claude proposed, where it then asks no more than whether that is right."""
        questions = [each for each in block if each.sort == "asks"]
        if len(questions) > 1 or not _is_short(questions[0]):
            return []
        said = [each for each in block if each.sort == "states"] or before
        return [
            place for each in said if each.sort == "states" for place in self._named(each.content)
        ]

    def _asked_in(self, block: list[Clause], *, every: bool = False) -> list[int]:
        """The items that the questions of a paragraph are about, or its topic."""
        found: dict[int, None] = {}
        for clause in block:
            words = clause.content
            if clause.sort == "asks" or every:
                named = self._named(words, interrogative_of(clause.text))
                found |= dict.fromkeys(at for at in named if self._asks_so(clause, at))
            elif clause.sort in ("plans", "heads") or len(block) > 1:
                listed = clause.before is not None and clause.before.sort == "asks"
                for place in self._named(words):
                    if listed or clause.sort in ("plans", "heads") or words <= self._words[place]:
                        found[place] = None
        return list(found)

    def _asks_so(self, clause: Clause, place: int) -> bool:
        """Whether it has the "who" or "when" of an item that has only one word besides."""
        opening = self._openings[place]
        if place not in self._vague or opening is None:
            return True
        return re.search(rf"\b{opening}\b", clause.text, re.IGNORECASE) is not None

    # ---- words ----

    def _named(self, words: set[str], opening: str | None = None) -> list[int]:
        """The items whose words these are; a question may begin as theirs does."""
        counts: dict[int, int] = {}
        for word in words:
            for place in self._by_word.get(word, ()):
                counts[place] = counts.get(place, 0) + 1
        found: list[int] = []
        for place, count in counts.items():
            size = len(self._words[place])
            if opening is not None and opening == self._openings[place]:
                count, size = count + 1, size + 1
            needed = size if size <= 2 else max(2, round(size * ENOUGH))
            if count >= needed:
                found.append(place)
        return found


def _is_short(question: Clause) -> bool:
    """ "OK?", "Does that work for you?": whether something is right, and not what."""
    return len(question.text.split()) <= 6 and interrogative_of(question.text) is None


def _asking(items: list[int], block: list[Clause], *, proposed: bool = False) -> Asking:
    questions = [each for each in block if each.sort == "asks"]
    last = questions[-1]
    proposes = block[-1].sort != "asks"
    words = sorted({word for each in block for word in each.content})
    assentable = proposes or interrogative_of(last.text) is None
    return Asking(items, words, block[0].number, assentable, proposed)


def _belongs(clause: Clause, before: Clause) -> bool:
    if clause.block == before.block:
        return True
    return before.sort == "heads" and clause.block - before.block <= 2


def _asks_back(clauses: list[Clause]) -> bool:
    said = [each for each in clauses if each.sort not in ("empty", "assents", "heads")]
    return bool(said) and all(each.sort == "asks" for each in said)


def _assents(clauses: list[Clause]) -> bool:
    said = [each for each in clauses if each.sort != "empty"]
    return bool(said) and said[0].sort == "assents"


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MOST_WORDS else words[: MOST_WORDS - 1].rstrip() + "…"
