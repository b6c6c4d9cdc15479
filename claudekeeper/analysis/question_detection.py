"""Whether a reply ends with a question to the person, and which.

Claude asks at the end of what it says. A question mark elsewhere is part of an explanation, a
heading, code or a quotation.
"""

from __future__ import annotations

import itertools
import re

from claudekeeper.analysis.question_phrases import (
    ADDRESSES_PERSON,
    ALL_GOOD,
    ALTERNATIVE,
    AWAITS_ANSWER,
    BEFORE_ACTION,
    CHOICE_LEAD,
    CONTINUATION,
    COURTESY,
    DOCUMENT_LEAD,
    FOLLOW_UP_REQUEST,
    LEADING_QUESTION,
    LEFT_TO_PERSON,
    OPTIONAL_REQUEST,
    PERSONS_MOVE,
    QUESTION_CUE,
    QUESTION_START,
    REPORTED_QUESTION,
    REQUEST,
    SELF_ANSWER,
    SELF_SERVICE,
    SHORT_OFFER,
)

MAX_CHARACTERS = 600
# what comes after a question may be no longer than this: "Once I know, I will go on."
MAX_AFTER_QUESTION = 280
# what stands between the halves of a question may be no longer than this
MAX_ASIDE = 120
# questions are looked for so far from the end
SEARCHED_CHARACTERS = 4_000

_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]*`")
# stands for a question mark that asks nothing
_HIDDEN_MARK = "\0"
_QUESTION_MARK = re.compile("[?？؟]")
_URL = re.compile(r"\bhttps?://\S+")
# what somebody else asks, or a button; a word or two may be quoted out of a question of one's own
_QUOTATION = re.compile(
    r"\"(?:\S+ ){2,30}\S+\"|“[^“”\n]{9,300}”|„[^„“”\n]{9,300}[“”]"
    r"|«[^«»\n]{9,300}»|[「『][^「」『』\n]*[」』]"
)
# Japanese needs no mark for it
_QUESTION_END = re.compile(
    r"(?:[?？؟]|(?:ます|です|でしょう|ません|ましょう)か。)"
    r"[\s\"'”’»›)\]*_`~.!\U0001F300-\U0001FAFF☀-➿️]*$"
)
_SENTENCE_END = re.compile(r"[.!?:。？！：؟…][\s\"'”’»›)\]*_`~\U0001F300-\U0001FAFF☀-➿️]*$")
# a line at least so long may have been broken for its length, not because something ended
MIN_WRAPPED_LENGTH = 60
# what goes on in small letters is the same sentence: "the first vs. the second"
_SENTENCE_BREAK = re.compile(
    r"(?<=[.!?。？！؟])[\"'”’»)\]*_]*\s+(?![a-z])|(?<=[。？！])(?=[^\s。？！\"'”’»」』）)\]*_])"
)
# "- …", "2. …", and choices as paragraphs: "**Option B**: …", "**2. …"
_LIST_ITEM = re.compile(
    r"^\s*(?:(?:[-*+•]|\(?[0-9a-zA-Z]{1,2}[.)])\s+"
    r"|\*\*(?:(?:Option|Approach|Choice|Path) [0-9A-Za-z]{1,2}(?:[.):]|\*\*)|\(?[0-9A-Z]{1,2}[.)]))"
)
_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s|\|)|^\s*[*_]{2}[^*_]+[*_]{2}:?\s*$")
_QUOTE_LINE = re.compile(r"^\s*>")
# emphasis, and code, in which such signs mean themselves
_EMPHASIS = re.compile(
    r"(`[^`\n]*`)|(\*{1,3})(?=\S)(.+?)(?<=\S)\2|(?<!\w)(_{1,3})(?=\S)(.+?)(?<=\S)\4(?!\w)"
)
_UNPAIRED_MARK = re.compile(r"^[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}$")
# where something was looked up, it says where, after everything else
_SOURCES_HEADING = re.compile(r"^\W*(?:sources|references)\W*$", re.IGNORECASE)


def find_question(text: str) -> str | None:
    """The question with which these words end, as it was asked; None where they end otherwise."""
    text = _FENCE.sub("\n\n", text[-SEARCHED_CHARACTERS:])
    for silent in (_CODE, _URL, _QUOTATION):
        text = silent.sub(lambda found: _QUESTION_MARK.sub(_HIDDEN_MARK, found[0]), text)
    blocks = _drop_sources(_split_blocks(text))
    after = 0
    for place in range(len(blocks) - 1, max(-1, len(blocks) - 5), -1):
        question = _question_at(blocks, place, last=after == 0)
        if question is not None:
            # "Tell me which.", "Answer those." may only repeat what was asked before it, and "And
            # …?" goes on with it
            goes_on = CONTINUATION.match(question) is not None
            alone = place and ("?" not in question or goes_on) and not _is_list(blocks[place])
            before = _question_before(blocks, place, last=goes_on) if alone else None
            if _is_list(blocks[place]):
                before = _choices_before(blocks, place)
            return _shorten(f"{before}\n{question}" if before else question)
        after += sum(len(line) for line in blocks[place])
        if after > MAX_AFTER_QUESTION:
            return None
    return None


def _drop_sources(blocks: list[list[str]]) -> list[list[str]]:
    for place in range(len(blocks) - 1, max(-1, len(blocks) - 3), -1):
        if _SOURCES_HEADING.match(blocks[place][0]):
            return blocks[:place]
    return blocks


def _question_at(blocks: list[list[str]], place: int, *, last: bool = False) -> str | None:
    opening = blocks[place - 1] if place and _is_list(blocks[place]) else None
    return _question_in_block(blocks[place], opening, last=last)


def _question_before(blocks: list[list[str]], place: int, *, last: bool) -> str | None:
    if asked := _question_at(blocks, place - 1, last=last):
        return asked
    above = blocks[place - 1]
    return "\n".join(line for line in above if "?" in line) if _is_list(above) else None


def _choices_before(blocks: list[list[str]], place: int) -> str | None:
    """Other questions with their choices as lists, right before this one."""
    halves: list[str] = []
    while place >= 3 and all(_is_question(blocks[at][-1]) for at in (place - 1, place - 3)):
        place -= 2
        asked = _question_at(blocks, place) if _is_list(blocks[place]) else None
        if asked is None or not _is_question(asked.splitlines()[0]):
            break
        halves.insert(0, asked)
    return "\n".join(halves) or None


def _split_blocks(text: str) -> list[list[str]]:
    """Paragraphs and lists, as lines; headings, tables and quotations say nothing here."""
    blocks: list[list[str]] = []
    current: list[str] = []
    lines = _unwrap_lines(text.splitlines())
    answered = _answered_headings(lines)
    for at, line in enumerate(lines):
        silent = (
            _QUOTE_LINE.match(line)
            or at in answered
            or (_HEADING.match(line) and not _is_question(line) and not QUESTION_CUE.search(line))
        )
        starts_list = _LIST_ITEM.match(line) and current and not _LIST_ITEM.match(current[-1])
        ends_list = bool(current) and _is_list(current) and not line.startswith((" ", "\t"))
        if (
            not line.strip()
            or silent
            or (starts_list and not _is_list(current))
            or (ends_list and not _LIST_ITEM.match(line))
        ):
            if current:
                blocks.append(current)
            current = []
        if line.strip() and not silent:
            current.append(line)
    if current:
        blocks.append(current)
    return _join_lists(blocks)


def _answered_headings(lines: list[str]) -> set[int]:
    """Headings that ask, with the answers right below them: questions of a text's readers."""
    found: set[int] = set()
    said = [(at, line) for at, line in enumerate(lines) if line.strip()]
    for (at, line), (_, below) in itertools.pairwise(said):
        heads = _HEADING.match(line) and _is_question(line)
        tells = not any(mark.match(below) for mark in (_HEADING, _QUOTE_LINE, _LIST_ITEM))
        if heads and tells and not _is_question(below) and not AWAITS_ANSWER.match(below):
            found.add(at)
    return found if len(found) > 1 else set()


def _unwrap_lines(lines: list[str]) -> list[str]:
    """Lines of a paragraph that was broken for its width, as one."""
    whole: list[str] = []
    for line in lines:
        before = whole[-1] if whole else ""
        goes_on = (
            before.strip()
            and line.strip()
            and not any(mark.match(line) for mark in (_LIST_ITEM, _HEADING, _QUOTE_LINE))
            and not any(mark.match(before) for mark in (_HEADING, _QUOTE_LINE))
            and not before.endswith(("  ", "\\", ":"))
            and (
                line.lstrip()[0].islower()
                or (len(before) >= MIN_WRAPPED_LENGTH and not _SENTENCE_END.search(before))
            )
        )
        if goes_on:
            whole[-1] = f"{before.rstrip()} {line.lstrip()}"
        else:
            whole.append(line)
    return whole


def _join_lists(blocks: list[list[str]]) -> list[list[str]]:
    """Items of one list may stand apart."""
    joined: list[list[str]] = []
    for block in blocks:
        if joined and _is_list(block) and _is_list(joined[-1]):
            joined[-1] += block
        else:
            joined.append(block)
    return joined


def _is_list(block: list[str]) -> bool:
    return _LIST_ITEM.match(block[0]) is not None


def _is_question(text: str) -> bool:
    return _QUESTION_END.search(text) is not None


def _question_in_block(block: list[str], opening: list[str] | None, *, last: bool) -> str | None:
    """What a paragraph or list asks; the opening of a list belongs to its question."""
    if opening is not None:
        said = opening[-1]
        asks = _is_question(said) and _is_more_than_courtesy(said)
        if asks or CHOICE_LEAD.search(said) or (said.endswith(":") and _is_request(said)):
            return "\n".join([*opening, *block])
        if QUESTION_CUE.search(opening[-1]) and (open_ := [line for line in block if "?" in line]):
            return "\n".join(open_)
        if DOCUMENT_LEAD.match(_SENTENCE_BREAK.split(said)[-1]):
            return None
        asking = [line for line in block if _is_question(line) and _is_more_than_courtesy(line)]
        if asking and (len(asking) * 2 >= len(block) or _is_question(block[-1])):
            return "\n".join(asking)
        return None
    sentences = [each for line in block for each in _SENTENCE_BREAK.split(line) if each.strip()]
    for place, sentence in reversed(list(enumerate(sentences))):
        following = sentences[place + 1] if place + 1 < len(sentences) else None
        if _asks_person(sentence, following, last=last) and _is_more_than_courtesy(sentence):
            more = _following_parts(sentences[place + 1 :])
            return " ".join([*_preceding_parts(sentences, place, last=last), sentence, *more])
    return None


def _preceding_parts(sentences: list[str], place: int, *, last: bool) -> list[str]:
    """What was asked just before this, and belongs to it."""
    halves: list[str] = []
    while place:
        sentence, before = sentences[place], sentences[place - 1]
        if _is_question(before) or not _is_question(sentence):
            # "Which region? And who pays?"; "Push it? Say the word."; "See whether it works. I'll
            # wait for your word."
            belongs = _is_question(before) or (
                PERSONS_MOVE.match(sentence) is not None
                or _asks_person(before, sentence, last=last)
            )
            if (
                not belongs
                or REPORTED_QUESTION.search(before)
                or not _is_more_than_courtesy(before)
            ):
                break
            place -= 1
        elif (
            place > 1 and _is_aside(before) and _continues_question(sentences[place - 2], sentence)
        ):
            # "Delete it? It costs a lot. Or keep it?": only what asks is repeated
            place -= 2
        else:
            break
        halves.insert(0, sentences[place])
    return halves


def _following_parts(after: list[str]) -> list[str]:
    """What goes on with a question: "Or is it yours?", "Then paste the output here."."""
    goes_on = itertools.takewhile(
        lambda each: (
            (_is_question(each) and CONTINUATION.match(each)) or FOLLOW_UP_REQUEST.match(each)
        ),
        after,
    )
    return list(goes_on)


def _is_aside(sentence: str) -> bool:
    return len(sentence) <= MAX_ASIDE and SELF_ANSWER.match(sentence) is None


def _continues_question(question: str, sentence: str) -> bool:
    """Whether a question goes on with one that was asked a sentence before it."""
    if not _is_question(question) or not _is_more_than_courtesy(question):
        return False
    return bool(CONTINUATION.match(sentence) and not LEADING_QUESTION.match(question))


def _asks_person(sentence: str, following: str | None, *, last: bool) -> bool:
    """Whether a sentence asks the person; `last`: nothing comes after its paragraph."""
    if _is_question(sentence):
        if following is None:
            # the last words may ask anything; what is followed by more must be put to the person
            return last or ADDRESSES_PERSON.search(sentence) is not None
        if SELF_ANSWER.match(following) or REPORTED_QUESTION.search(sentence):
            return False
        if LEADING_QUESTION.match(sentence):
            return False
        if SHORT_OFFER.match(sentence) and SELF_SERVICE.match(following):
            # told how to have it; unless they may say so as well
            return AWAITS_ANSWER.match(following) is not None
        return bool(ADDRESSES_PERSON.search(sentence) or AWAITS_ANSWER.match(following))
    if _is_request(sentence):
        return True
    left = LEFT_TO_PERSON.search(sentence) or PERSONS_MOVE.search(sentence)
    return last and left is not None


def _is_request(sentence: str) -> bool:
    """Whether it wants something of the person without a question mark, and not if they like."""
    # what is longer is none that a person would read as one
    said = sentence[-MAX_CHARACTERS:]
    request = REQUEST.search(said)
    return request is not None and OPTIONAL_REQUEST.search(said[: request.start()]) is None


def _is_more_than_courtesy(line: str) -> bool:
    """Whether it is more than a courtesy; what a courtesy is joined to may be."""
    if not COURTESY.search(line) or BEFORE_ACTION.search(line):
        return True
    return any(
        (ADDRESSES_PERSON.search(half) or (at and QUESTION_START.match(half)))
        and not COURTESY.search(half)
        and not ALL_GOOD.search(half)
        for at, half in enumerate(ALTERNATIVE.split(line))
    )


def _shorten(question: str) -> str:
    question = question.replace(_HIDDEN_MARK, "?")
    plain = "\n".join(map(_strip_marks, question.splitlines())).strip()
    return plain if len(plain) <= MAX_CHARACTERS else plain[: MAX_CHARACTERS - 1].rstrip() + "…"


def _strip_marks(line: str) -> str:
    plain = _EMPHASIS.sub(lambda found: found[1] or found[3] or found[5], line).strip()
    # half of a pair, where a sentence was cut out of what is emphasised
    return _UNPAIRED_MARK.sub("", plain)
