"""The coverage of a checklist by a conversation, folded message by message.

An item is covered when the person answered it or spoke of it. It is not when only Claude asked or
said it, nor when it is put off, planned, asked about or left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from claudekeeper.coverage.checklist import ChecklistItem
from claudekeeper.coverage.clause_phrases import clause_phrases
from claudekeeper.coverage.clauses import (
    Clause,
    interrogative_of,
    is_faulty,
    is_inspection,
    split_clauses,
    tells_of,
)
from claudekeeper.coverage.discussion import AskedQuestion, Discussion, Evidence, PendingQuestion
from claudekeeper.coverage.item_index import ItemIndex, is_negated
from claudekeeper.transcripts.untyped import replace_surrogates

_QUESTION_MARK = re.compile("[?？؟]")
MAX_CHARACTERS = 240
# of a long answer so many clauses are compared with the questions
MAX_ANSWER_CLAUSES = 400


class CoverageFold:
    """Folds the messages of a conversation into its discussion."""

    def __init__(self, items: Sequence[ChecklistItem], discussion: Discussion) -> None:
        self.discussion = discussion
        self._items = ItemIndex(items)

    # ---- the person ----

    def add_prompt(self, text: str, uuid: str, at: str) -> None:
        """Fold the next prompt."""
        discussion = self.discussion
        # any words may answer a question; without one only those about the checklist count
        clauses = split_clauses(
            replace_surrogates(text), None if discussion.pending_questions else self._items.hint
        )
        pending, discussion.pending_questions = discussion.pending_questions, []
        discussion.raised_items, discussion.asked_by_person = [], {}
        self._apply_answers(pending, clauses, uuid, at)
        self._apply_prompt(clauses, uuid, at)
        discussion.has_older_questions = bool(pending) and _asks_back(clauses)
        if discussion.has_older_questions:
            discussion.pending_questions = pending

    def add_answer(self, question: str, answer: str, uuid: str, at: str) -> None:
        """Fold a question of Claude's that was answered in its card."""
        clauses = split_clauses(answer)
        for index in self._items.asked_items(split_clauses(question), every=True):
            self.discussion.questions[index] = AskedQuestion(_shorten(question), uuid, at)
            if clauses and not all(clause.kind in ("defers", "plans") for clause in clauses):
                words = _shorten(f"{question} {answer}")
                self._cover(index, Evidence("answered", words, uuid, at, 1.0, at))
        self._apply_prompt(clauses, uuid, at)

    def _apply_prompt(self, clauses: list[Clause], uuid: str, at: str) -> None:
        before: Clause | None = None
        discussion = self.discussion
        is_about = False
        for clause in clauses:
            was_about, is_about = is_about, self._items.has_any_word(clause)
            if not is_about and not was_about:
                # most of a long text is not about the checklist
                before = clause
                continue
            if clause.kind in ("states", "orders"):
                self._apply_statement(clause, before, uuid, at)
            elif clause.kind == "plans":
                discussion.raised_items += self._items.named_items(clause.stems)
            elif clause.kind == "asks" and not _asks_why(clause):
                for index in self._items.asked_items([clause]):
                    discussion.asked_by_person[index] = Evidence(
                        "discussed", _shorten(clause.text), uuid, at, 0.6, at
                    )
            before = clause

    def _apply_statement(self, clause: Clause, before: Clause | None, uuid: str, at: str) -> None:
        is_order = clause.kind == "orders"
        if (is_order and is_inspection(clause.text)) or is_faulty(clause.text):
            return
        named = [
            index
            for index in self._items.named_items(clause.stems)
            if self._items.stands_together(clause, index)
        ]
        for index in named:
            stems = self._items.stems[index]
            only_names = clause.stems <= stems and not is_order and not clause.is_sentence
            if only_names or not tells_of(clause, stems):
                self.discussion.raised_items.append(index)
            elif not is_negated(clause, stems):
                confidence = 0.8 if len(stems) > 1 and stems <= clause.stems else 0.6
                if is_order:
                    confidence = 0.5
                evidence = Evidence("said", _shorten(clause.text), uuid, at, confidence, at)
                self._cover(index, evidence)
        if before is None or is_order or not _belongs_together(clause, before):
            return
        if before.kind == "states":
            # what this clause names was handled above
            items = set(self._joined_items(before, clause)).difference(named)
        elif before.kind in ("heads", "asks", "plans"):
            # a heading, a question or a topic, and what is said of it
            items = set(self._items.named_items(before.stems))
        else:
            return
        words = _shorten(f"{before.text} {clause.text}")
        for index in items:
            self._cover(index, Evidence("said", words, uuid, at, 0.7, at))

    def _joined_items(self, before: Clause, clause: Clause) -> list[int]:
        """The items that two statements cover together."""
        alone = self._items.named_items(before.stems)
        topics = [index for index in alone if before.stems <= self._items.stems[index]]
        if is_negated(before, before.stems):
            return topics
        joined = self._items.named_items(before.stems | clause.stems)
        return topics + [index for index in joined if index not in alone]

    def _apply_answers(
        self, pending: list[PendingQuestion], clauses: list[Clause], uuid: str, at: str
    ) -> None:
        """Cover the items of the questions that a prompt answers."""
        if not pending:
            return
        clauses = clauses[:MAX_ANSWER_CLAUSES]
        question_stems = {stem for question in pending for stem in question.stems}
        answers = [
            clause
            for clause in clauses
            if clause.kind == "states"
            or (clause.kind == "orders" and clause.stems & question_stems)
        ]
        if clauses and clause_phrases().refusal.match(clauses[0].text):
            pending = [question for question in pending if not question.is_proposal]
            if not pending:
                return
        deferred = {stem for clause in clauses if clause.kind == "defers" for stem in clause.stems}
        for question in pending:
            question.items = [
                index for index in question.items if not self._items.stems[index] & deferred
            ]
        if not answers:
            if pending[-1].is_yes_no and _assents(clauses):
                self._cover_answered([(pending[-1], clauses[0])], uuid, at, 0.8)
            return
        replies = [each for each in clauses if each.kind in ("states", "orders", "assents")]
        has_numbers = any(clause.number is not None for clause in clauses)
        if has_numbers and any(question.number is not None for question in pending):
            numbered = {each.number: each for each in replies if each.number is not None}
            pairs = [
                (question, numbered[question.number])
                for question in pending
                if question.number in numbered
            ]
            self._cover_answered(pairs, uuid, at, 0.9)
        elif len(pending) == 1:
            self._cover_answered([(pending[0], answers[0])], uuid, at, 0.9)
        elif len(replies) == len(pending):
            # a yes or no to one of them is an answer, too
            self._cover_answered(zip(pending, replies, strict=True), uuid, at, 0.7)
        elif len(answers) >= len(pending):
            self._cover_answered(zip(pending, answers, strict=False), uuid, at, 0.7)
        else:
            pairs = [
                (question, clause)
                for question in pending
                for clause in answers
                if clause.stems & set(question.stems)
            ]
            self._cover_answered(pairs, uuid, at, 0.8)

    def _cover_answered(
        self,
        pairs: Iterable[tuple[PendingQuestion, Clause]],
        uuid: str,
        at: str,
        confidence: float,
    ) -> None:
        for question, clause in pairs:
            for index in question.items:
                evidence = Evidence("answered", _shorten(clause.text), uuid, at, confidence, at)
                self._cover(index, evidence)

    def _cover(self, index: int, evidence: Evidence) -> None:
        """Add evidence; the surest counts, and the time of the first."""
        before = self.discussion.covered.get(index)
        self.discussion.last_discussed[index] = evidence.at
        if before is None:
            self.discussion.covered[index] = evidence
        elif evidence.confidence > before.confidence:
            evidence.since = before.since
            self.discussion.covered[index] = evidence

    # ---- Claude ----

    def add_reply(self, text: str, uuid: str, at: str) -> None:
        """Fold the next reply; the last questions of a turn are pending."""
        discussion = self.discussion
        older = discussion.pending_questions if discussion.has_older_questions else []
        asks = _QUESTION_MARK.search(text) or clause_phrases().request.search(text)
        if not (discussion.raised_items or discussion.asked_by_person or asks):
            discussion.pending_questions = older
            return
        clauses = split_clauses(replace_surrogates(text))
        asked_items = set(self._items.asked_items(clauses))
        for index, evidence in discussion.asked_by_person.items():
            if index not in asked_items and self._is_explained(index, clauses):
                self._cover(index, evidence)
        pending = self._questions_in(clauses, uuid, at)
        if discussion.raised_items and not pending:
            pending = [PendingQuestion(list(discussion.raised_items), [], None, True)]
        elif not any(question.items for question in pending):
            # the person raised it or asked about it: what Claude asks now is about it
            items = dict.fromkeys([*discussion.raised_items, *discussion.asked_by_person])
            for question in pending:
                question.items = list(items)
        if any(question.items for question in pending):
            discussion.has_older_questions, older = False, []
        discussion.pending_questions = [*older, *pending]

    def _questions_in(self, clauses: list[Clause], uuid: str, at: str) -> list[PendingQuestion]:
        """The paragraphs of a reply that ask."""
        blocks: dict[int, list[Clause]] = {}
        for clause in clauses:
            blocks.setdefault(clause.block, []).append(clause)
        pending: list[PendingQuestion] = []
        before: list[Clause] = []
        for block in blocks.values():
            question = next((clause for clause in block if clause.kind == "asks"), None)
            if question is not None:
                items = self._items.asked_items(block)
                proposed = [] if items else self._proposed_items(block, before)
                for index in items:
                    text = _shorten(question.text)
                    self.discussion.questions[index] = AskedQuestion(text, uuid, at)
                pending.append(_pending_question(items or proposed, block, bool(proposed)))
            before = block
        return pending

    def _is_explained(self, index: int, clauses: list[Clause]) -> bool:
        return any(
            index in self._items.named_items(clause.stems)
            and not clause.stems <= self._items.stems[index]
            for clause in clauses
            if clause.kind == "states"
        )

    def _proposed_items(self, block: list[Clause], before: list[Clause]) -> list[int]:
        """The items that Claude proposed, if it only asks whether that is right."""
        questions = [clause for clause in block if clause.kind == "asks"]
        if len(questions) > 1 or not _is_confirmation(questions[0]):
            return []
        statements = [clause for clause in block if clause.kind == "states"] or before
        return [
            index
            for clause in statements
            if clause.kind == "states"
            for index in self._items.named_items(clause.stems)
        ]


def _asks_why(question: Clause) -> bool:
    return interrogative_of(question.text) in clause_phrases().why_words


def _is_confirmation(question: Clause) -> bool:
    """ "OK?", "Does that work for you?": whether something is right, and not what."""
    return len(question.text.split()) <= 6 and interrogative_of(question.text) is None


def _pending_question(items: list[int], block: list[Clause], is_proposal: bool) -> PendingQuestion:
    last = [clause for clause in block if clause.kind == "asks"][-1]
    stems = sorted({stem for clause in block for stem in clause.stems})
    is_yes_no = block[-1].kind != "asks" or interrogative_of(last.text) is None
    return PendingQuestion(items, stems, block[0].number, is_yes_no, is_proposal)


def _belongs_together(clause: Clause, before: Clause) -> bool:
    if clause.block == before.block:
        return True
    return before.kind == "heads" and clause.block - before.block <= 2


def _asks_back(clauses: list[Clause]) -> bool:
    kinds = {clause.kind for clause in clauses} - {"empty", "assents", "heads"}
    return kinds == {"asks"}


def _assents(clauses: list[Clause]) -> bool:
    first = next((clause for clause in clauses if clause.kind != "empty"), None)
    return first is not None and first.kind == "assents"


def _shorten(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_CHARACTERS else words[: MAX_CHARACTERS - 1].rstrip() + "…"
