"""Whether a reply ends with a question to the person, and which.

Claude asks at the end of what it says. A question mark elsewhere is part of an explanation, a
heading, code or a quotation.
"""

from __future__ import annotations

import re

MOST_CHARACTERS = 600
# what comes after a question may be no longer than this: "Once I know, I will go on."
SHORT = 280
# questions are looked for so far from the end
TAIL = 4_000

_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]*`")
# stands for a question mark that asks nothing
_HIDDEN = "\0"
_ADDRESS = re.compile(r"\bhttps?://\S+")
_ASKING = re.compile(r"[?？؟][\s\"'”’»›)\]*_`~.!\U0001F300-\U0001FAFF☀-➿️]*$")
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
_MARKS = re.compile(r"[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}")
# it is put to the person: rhetorical questions are not
_TO_YOU = re.compile(
    r"\b(?:you|your|yours|shall I|should I|should we|shall we|want me|can I|may I|could I|do I"
    r"|need me|prefer|OK to|okay to|ready (?:to|for)|go ahead"
    r"|soll(?:en)? (?:ich|wir)|möchte(?:st|n)|willst du|quieres|prefieres|deseas?|veux-tu"
    r"|voulez-vous|souhait(?:es|ez)|vuoi|preferisci|quer(?:es)? que|хо(?:чешь|тите))\b"
    r"|(?:ますか|でしょうか|ましょうか|吗|要不要)",
    re.IGNORECASE,
)
# an opening whose choices follow in a list, whatever sign is behind it
_CHOICE = re.compile(
    r"(?:would you like|do you want|should (?:I|we)|shall (?:I|we)|want me to"
    r"|which (?:one|of|option|approach|would)|how would you like|what would you (?:like|prefer)"
    r"|where should"
    r"|(?:please )?(?:choose|pick|select|decide)\b.{0,40})[^.!?\n]*[:：]\s*$",
    re.IGNORECASE,
)
# it is put to the person without a question mark
_REQUEST = re.compile(
    r"\b(?:let me know (?:which|what|whether|how|when|where|who|your|once|if (?:that|this|it|these)"
    r" (?:is|are|looks?|works?|sounds?)"
    r"|if (?:you'd like|you would like|you want) me to (?:proceed|continue|go ahead|start)"
    r"|if [^.?!]{0,60} before I)"
    r"|please (?:run|try|test|check|restart)\b[^.?!]{0,80}\b(?:share|tell me|let me know|paste)"
    r"|please (?:confirm|choose|pick|select|decide|clarify|specify|advise|answer|tell me|provide"
    r"|share|paste|describe|send me|let me know (?:which|what|whether|how|your))"
    r"|tell me (?:which|what|whether|how)"
    r"|I(?:'ll| will|'d)? need (?:a bit )?(?:more|some|a few|the following) (?:information|details?"
    r"|context|clarification|answers|input)"
    r"|(?:waiting (?:for|on)|wait for|needs?) your (?:answer|approval|confirmation|decision|input"
    r"|go-ahead|reply|call))\b",
    re.IGNORECASE,
)
# and this too, where nothing else comes after it
_LEFT_TO_YOU = re.compile(
    r"\b(?:your call|up to you)\b.{0,4}\b(?:(?:on )?(?:whether|which|how)|if|regarding)\b",
    re.IGNORECASE,
)
# what stands under such words asks, even where more is said after the question mark
_CUE = re.compile(
    r"\b(?:open|remaining|clarifying|some|few|two|three|my) (?:questions?|decisions?)\b"
    r"|\b(?:questions?|decisions?) (?:for you|before|to (?:answer|make|settle)|that|needed)\b"
    r"|\b(?:need|want|like) to (?:know|clarify|confirm|understand)\b"
    r"|\bplease (?:clarify|confirm)\b",
    re.IGNORECASE,
)
# where something was looked up, it says where, after everything else
_SOURCES = re.compile(r"^\W*(?:sources|references)\W*$", re.IGNORECASE)
_COURTESY = re.compile(
    r"anything else|any (?:other |more |further )?questions|how (?:can|may) I (?:help|assist)"
    r"|what can I (?:help|do for) you|does (?:that|this) help"
    r"|what (?:would|do) you (?:like|want) (?:me )?to (?:work on|do) today",
    re.IGNORECASE,
)


def question_in(text: str) -> str | None:
    """The question with which these words end, as it was asked; None where they end otherwise."""
    text = _FENCE.sub("\n\n", text[-TAIL:])
    for silent in (_CODE, _ADDRESS):
        text = silent.sub(lambda found: found[0].replace("?", _HIDDEN), text)
    blocks = _without_sources(_blocks(text))
    after = 0
    for place in range(len(blocks) - 1, max(-1, len(blocks) - 5), -1):
        question = _asked_at(blocks, place, last=after == 0)
        if question is not None:
            # "Tell me which." may only repeat what was asked before it
            before = None if "?" in question or not place else _asked_at(blocks, place - 1)
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


def _blocks(text: str) -> list[list[str]]:
    """Paragraphs and lists, as lines; headings, tables and quotations say nothing here."""
    blocks: list[list[str]] = []
    current: list[str] = []
    for line in text.splitlines():
        silent = _QUOTE.match(line) or (
            _HEADING.match(line) and not _asks(line) and not _CUE.search(line)
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
        if _CHOICE.search(opening[-1]) or (_asks(opening[-1]) and _may_be_meant(opening[-1])):
            return "\n".join([*opening, *block])
        if _CUE.search(opening[-1]) and (open_ := [line for line in block if "?" in line]):
            return "\n".join(open_)
        asking = [line for line in block if _asks(line) and _may_be_meant(line)]
        if asking and (len(asking) * 2 >= len(block) or _asks(block[-1])):
            return "\n".join(asking)
        return None
    sentences = [each for line in block for each in _SENTENCE.split(line) if each.strip()]
    for place, sentence in reversed(list(enumerate(sentences))):
        # the last words may ask anything; what is followed by more must be put to the person
        final = last and place == len(sentences) - 1
        meant = _asks(sentence) and (final or _TO_YOU.search(sentence))
        meant = meant or _REQUEST.search(sentence) or (last and _LEFT_TO_YOU.search(sentence))
        if meant and not _COURTESY.search(sentence):
            return sentence
    return None


def _may_be_meant(line: str) -> bool:
    return not _COURTESY.search(line)


def _shortened(question: str) -> str:
    question = question.replace(_HIDDEN, "?")
    plain = "\n".join(_MARKS.sub("", line).strip() for line in question.splitlines()).strip()
    return plain if len(plain) <= MOST_CHARACTERS else plain[: MOST_CHARACTERS - 1].rstrip() + "…"
