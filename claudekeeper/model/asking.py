"""Whether a reply ends with a question to the person, and which.

Claude asks at the end of what it says. A question mark elsewhere is part of an explanation, a
heading, code or a quotation.
"""

from __future__ import annotations

import itertools
import re

from claudekeeper.model.addressing import (
    ALL_IS_WELL,
    AND_ALSO,
    ANSWERS_ITSELF,
    BEFORE_I,
    BEGINS_ANEW,
    BY_YOURSELF,
    CHOICE,
    COURTESY,
    CUE,
    LEADS_ON,
    LEFT_TO_YOU,
    OPTIONAL,
    OTHERWISE,
    REPORTED,
    REQUEST,
    SHORT_WISH,
    THEN_TOO,
    TO_YOU,
    WAITS_FOR_IT,
    WRITTEN_DOWN,
    YOURS,
)

MOST_CHARACTERS = 600
# what comes after a question may be no longer than this: "Once I know, I will go on."
SHORT = 280
# what stands between the halves of a question may be no longer than this
MOST_ASIDE = 120
# questions are looked for so far from the end
TAIL = 4_000

_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]*`")
# stands for a question mark that asks nothing
_HIDDEN = "\0"
_MARK = re.compile("[?？؟]")
_ADDRESS = re.compile(r"\bhttps?://\S+")
# what somebody else asks, or a button; a word or two may be quoted out of a question of one's own
_QUOTED = re.compile(
    r"\"(?:\S+ ){2,30}\S+\"|“[^“”\n]{9,300}”|„[^„“”\n]{9,300}[“”]"
    r"|«[^«»\n]{9,300}»|[「『][^「」『』\n]*[」』]"
)
# Japanese needs no mark for it
_ASKING = re.compile(
    r"(?:[?？؟]|(?:ます|です|でしょう|ません|ましょう)か。)"
    r"[\s\"'”’»›)\]*_`~.!\U0001F300-\U0001FAFF☀-➿️]*$"
)
_ENDS = re.compile(r"[.!?:。？！：؟…][\s\"'”’»›)\]*_`~\U0001F300-\U0001FAFF☀-➿️]*$")
# a line at least so long may have been broken for its length, not because something ended
WRAPPED = 60
# what goes on in small letters is the same sentence: "the first vs. the second"
_SENTENCE = re.compile(
    r"(?<=[.!?。？！؟])[\"'”’»)\]*_]*\s+(?![a-z])|(?<=[。？！])(?=[^\s。？！\"'”’»」』）)\]*_])"
)
# "- …", "2. …", and choices as paragraphs: "**Option B**: …", "**2. …"
_ITEM = re.compile(
    r"^\s*(?:(?:[-*+•]|\(?[0-9a-zA-Z]{1,2}[.)])\s+"
    r"|\*\*(?:(?:Option|Approach|Choice|Path) [0-9A-Za-z]{1,2}(?:[.):]|\*\*)|\(?[0-9A-Z]{1,2}[.)]))"
)
_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s|\|)|^\s*[*_]{2}[^*_]+[*_]{2}:?\s*$")
_QUOTE = re.compile(r"^\s*>")
# emphasis, and code, in which such signs mean themselves
_MARKS = re.compile(
    r"(`[^`\n]*`)|(\*{1,3})(?=\S)(.+?)(?<=\S)\2|(?<!\w)(_{1,3})(?=\S)(.+?)(?<=\S)\4(?!\w)"
)
_HALF = re.compile(r"^[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}$")
# where something was looked up, it says where, after everything else
_SOURCES = re.compile(r"^\W*(?:sources|references)\W*$", re.IGNORECASE)


def question_in(text: str) -> str | None:
    """The question with which these words end, as it was asked; None where they end otherwise."""
    text = _FENCE.sub("\n\n", text[-TAIL:])
    for silent in (_CODE, _ADDRESS, _QUOTED):
        text = silent.sub(lambda found: _MARK.sub(_HIDDEN, found[0]), text)
    blocks = _without_sources(_blocks(text))
    after = 0
    for place in range(len(blocks) - 1, max(-1, len(blocks) - 5), -1):
        question = _asked_at(blocks, place, last=after == 0)
        if question is not None:
            # "Tell me which.", "Answer those." may only repeat what was asked before it, and "And
            # …?" goes on with it
            goes_on = AND_ALSO.match(question) is not None
            alone = place and ("?" not in question or goes_on) and not _is_list(blocks[place])
            before = _asked_before(blocks, place, last=goes_on) if alone else None
            if _is_list(blocks[place]):
                before = _choices_before(blocks, place)
            return _shortened(f"{before}\n{question}" if before else question)
        after += sum(len(line) for line in blocks[place])
        if after > SHORT:
            return None
    return None


def _without_sources(blocks: list[list[str]]) -> list[list[str]]:
    for place in range(len(blocks) - 1, max(-1, len(blocks) - 3), -1):
        if _SOURCES.match(blocks[place][0]):
            return blocks[:place]
    return blocks


def _asked_at(blocks: list[list[str]], place: int, *, last: bool = False) -> str | None:
    opening = blocks[place - 1] if place and _is_list(blocks[place]) else None
    return _asked(blocks[place], opening, last=last)


def _asked_before(blocks: list[list[str]], place: int, *, last: bool) -> str | None:
    if asked := _asked_at(blocks, place - 1, last=last):
        return asked
    above = blocks[place - 1]
    return "\n".join(line for line in above if "?" in line) if _is_list(above) else None


def _choices_before(blocks: list[list[str]], place: int) -> str | None:
    """Other questions with their choices as lists, right before this one."""
    halves: list[str] = []
    while place >= 3 and all(_asks(blocks[at][-1]) for at in (place - 1, place - 3)):
        place -= 2
        asked = _asked_at(blocks, place) if _is_list(blocks[place]) else None
        if asked is None or not _asks(asked.splitlines()[0]):
            break
        halves.insert(0, asked)
    return "\n".join(halves) or None


def _blocks(text: str) -> list[list[str]]:
    """Paragraphs and lists, as lines; headings, tables and quotations say nothing here."""
    blocks: list[list[str]] = []
    current: list[str] = []
    lines = _unwrapped(text.splitlines())
    answered = _answered_headings(lines)
    for at, line in enumerate(lines):
        silent = (
            _QUOTE.match(line)
            or at in answered
            or (_HEADING.match(line) and not _asks(line) and not CUE.search(line))
        )
        starts_list = _ITEM.match(line) and current and not _ITEM.match(current[-1])
        ends_list = bool(current) and _is_list(current) and not line.startswith((" ", "\t"))
        if (
            not line.strip()
            or silent
            or (starts_list and not _is_list(current))
            or (ends_list and not _ITEM.match(line))
        ):
            if current:
                blocks.append(current)
            current = []
        if line.strip() and not silent:
            current.append(line)
    if current:
        blocks.append(current)
    return _joined(blocks)


def _answered_headings(lines: list[str]) -> set[int]:
    """Headings that ask, with the answers right below them: questions of a text's readers."""
    found: set[int] = set()
    said = [(at, line) for at, line in enumerate(lines) if line.strip()]
    for (at, line), (_, below) in itertools.pairwise(said):
        heads = _HEADING.match(line) and _asks(line)
        tells = not any(mark.match(below) for mark in (_HEADING, _QUOTE, _ITEM))
        if heads and tells and not _asks(below) and not WAITS_FOR_IT.match(below):
            found.add(at)
    return found if len(found) > 1 else set()


def _unwrapped(lines: list[str]) -> list[str]:
    """Lines of a paragraph that was broken for its width, as one."""
    whole: list[str] = []
    for line in lines:
        before = whole[-1] if whole else ""
        goes_on = (
            before.strip()
            and line.strip()
            and not any(mark.match(line) for mark in (_ITEM, _HEADING, _QUOTE))
            and not any(mark.match(before) for mark in (_HEADING, _QUOTE))
            and not before.endswith(("  ", "\\", ":"))
            and (
                line.lstrip()[0].islower() or (len(before) >= WRAPPED and not _ENDS.search(before))
            )
        )
        if goes_on:
            whole[-1] = f"{before.rstrip()} {line.lstrip()}"
        else:
            whole.append(line)
    return whole


def _joined(blocks: list[list[str]]) -> list[list[str]]:
    """Items of one list may stand apart."""
    joined: list[list[str]] = []
    for block in blocks:
        if joined and _is_list(block) and _is_list(joined[-1]):
            joined[-1] += block
        else:
            joined.append(block)
    return joined


def _is_list(block: list[str]) -> bool:
    return _ITEM.match(block[0]) is not None


def _asks(text: str) -> bool:
    return _ASKING.search(text) is not None


def _asked(block: list[str], opening: list[str] | None, *, last: bool) -> str | None:
    """What a paragraph or list asks; the opening of a list belongs to its question."""
    if opening is not None:
        said = opening[-1]
        asks = _asks(said) and _may_be_meant(said)
        if asks or CHOICE.search(said) or (said.endswith(":") and _is_wanted(said)):
            return "\n".join([*opening, *block])
        if CUE.search(opening[-1]) and (open_ := [line for line in block if "?" in line]):
            return "\n".join(open_)
        if WRITTEN_DOWN.match(_SENTENCE.split(said)[-1]):
            return None
        asking = [line for line in block if _asks(line) and _may_be_meant(line)]
        if asking and (len(asking) * 2 >= len(block) or _asks(block[-1])):
            return "\n".join(asking)
        return None
    sentences = [each for line in block for each in _SENTENCE.split(line) if each.strip()]
    for place, sentence in reversed(list(enumerate(sentences))):
        following = sentences[place + 1] if place + 1 < len(sentences) else None
        if _is_meant(sentence, following, last=last) and _may_be_meant(sentence):
            more = _more_of_it(sentences[place + 1 :])
            return " ".join([*_first_halves(sentences, place, last=last), sentence, *more])
    return None


def _first_halves(sentences: list[str], place: int, *, last: bool) -> list[str]:
    """What was asked just before this, and belongs to it."""
    halves: list[str] = []
    while place:
        sentence, before = sentences[place], sentences[place - 1]
        if _asks(before) or not _asks(sentence):
            # "Which region? And who pays?"; "Push it? Say the word."; "See whether it works. I'll
            # wait for your word."
            belongs = _asks(before) or (
                YOURS.match(sentence) is not None or _is_meant(before, sentence, last=last)
            )
            if not belongs or REPORTED.search(before) or not _may_be_meant(before):
                break
            place -= 1
        elif place > 1 and _is_aside(before) and _goes_on(sentences[place - 2], sentence):
            # "Delete it? It costs a lot. Or keep it?": only what asks is repeated
            place -= 2
        else:
            break
        halves.insert(0, sentences[place])
    return halves


def _more_of_it(after: list[str]) -> list[str]:
    """What goes on with a question: "Or is it yours?", "Then paste the output here."."""
    goes_on = itertools.takewhile(
        lambda each: (_asks(each) and AND_ALSO.match(each)) or THEN_TOO.match(each), after
    )
    return list(goes_on)


def _is_aside(sentence: str) -> bool:
    return len(sentence) <= MOST_ASIDE and ANSWERS_ITSELF.match(sentence) is None


def _goes_on(question: str, sentence: str) -> bool:
    """Whether a question goes on with one that was asked a sentence before it."""
    if not _asks(question) or not _may_be_meant(question):
        return False
    return bool(AND_ALSO.match(sentence) and not LEADS_ON.match(question))


def _is_meant(sentence: str, following: str | None, *, last: bool) -> bool:
    """Whether a sentence asks the person; `last`: nothing comes after its paragraph."""
    if _asks(sentence):
        if following is None:
            # the last words may ask anything; what is followed by more must be put to the person
            return last or TO_YOU.search(sentence) is not None
        if ANSWERS_ITSELF.match(following) or REPORTED.search(sentence):
            return False
        if LEADS_ON.match(sentence):
            return False
        if SHORT_WISH.match(sentence) and BY_YOURSELF.match(following):
            # told how to have it; unless they may say so as well
            return WAITS_FOR_IT.match(following) is not None
        return bool(TO_YOU.search(sentence) or WAITS_FOR_IT.match(following))
    if _is_wanted(sentence):
        return True
    left = LEFT_TO_YOU.search(sentence) or YOURS.search(sentence)
    return last and left is not None


def _is_wanted(sentence: str) -> bool:
    """Whether it wants something of the person without a question mark, and not if they like."""
    # what is longer is none that a person would read as one
    said = sentence[-MOST_CHARACTERS:]
    request = REQUEST.search(said)
    return request is not None and OPTIONAL.search(said[: request.start()]) is None


def _may_be_meant(line: str) -> bool:
    """Whether it is more than a courtesy; what a courtesy is joined to may be."""
    if not COURTESY.search(line) or BEFORE_I.search(line):
        return True
    return any(
        (TO_YOU.search(half) or (at and BEGINS_ANEW.match(half)))
        and not COURTESY.search(half)
        and not ALL_IS_WELL.search(half)
        for at, half in enumerate(OTHERWISE.split(line))
    )


def _shortened(question: str) -> str:
    question = question.replace(_HIDDEN, "?")
    plain = "\n".join(map(_plain, question.splitlines())).strip()
    return plain if len(plain) <= MOST_CHARACTERS else plain[: MOST_CHARACTERS - 1].rstrip() + "…"


def _plain(line: str) -> str:
    plain = _MARKS.sub(lambda found: found[1] or found[3] or found[5], line).strip()
    # half of a pair, where a sentence was cut out of what is emphasised
    return _HALF.sub("", plain)
