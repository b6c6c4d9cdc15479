"""A text as clauses: what each one does (state, ask, put off …), and its words without endings.

Words of code and of quotations are not a person's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from claudekeeper.coverage.deferral import (
    ABOUT_TALK,
    DEFERS,
    FAULT,
    LATER,
    PLANS,
    REGARDING,
    SPEAKS_OF,
)

# `states`: something is so; `orders`: Claude is to do something; `asks`: a question; `plans`: it is
# to be talked about; `defers`: it is not, or not known; `heads`: a heading, a quotation, a word
# before a colon; `assents`: yes, no, agreed; `empty`: thanks and the like
ClauseKind = Literal["states", "orders", "asks", "plans", "defers", "heads", "assents", "empty"]

_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_QUOTE = re.compile(r"\s*>\s?")
_HEADING = re.compile(r"\s*#{1,6}\s+")
_LIST_ITEM = re.compile(r"\s*(?:[-*+•]|\(?(\d{1,2})[.):])\s+")
# "1) admins 2) every month"
_INLINE_NUMBER = re.compile(r"(?<=\s)(?=\(?\d{1,2}[.):]\s)")
_SENTENCE_BREAK = re.compile(
    r"(?<=[.!?])[\"'”’)\]*_]*\s+|(?<=[。？！])|(?<=;)\s+|\s+[–—]\s+|\s+-\s+"
)
_BUT = re.compile(
    r"[,;]?\s+(?=(?:but|however|although|though|aber|mais|pero|però|maar|mas)\b)", re.IGNORECASE
)
_COLON = re.compile(r"(?<=\w):\s+")
_MARKS = re.compile(r"[*_`~]+(?=\S)|(?<=\S)[*_`~]+")
_QUESTION_END = re.compile(r"[?？؟][\s\"'”’)\]*_]*\Z")

_INDIRECT_QUESTION = re.compile(
    r"^\W*(?:(?:please|can you|could you|would you|so|and|ok|i want to|i['’]d like to)\s+)*"
    r"(?:tell me|explain|describe|wonder|know|i wonder|show me|what about|how about|do you know"
    r"|i (?:would|['’]d) like to know|remind me)\b",
    re.IGNORECASE,
)
_INTERROGATIVE = re.compile(
    r"^\W*(?:(?:and|so|but|now|ok|then)[,\s]+)*(who|whom|whose|what|which|when|where|why|how"
    r"|wer|wen|wem|was|welche\w*|wann|wo|warum|wie|qui|que|quel\w*|quand|où|pourquoi|comment"
    r"|quién|qué|cuál|cuándo|dónde|cómo|chi|cosa|quale|come|perché)\b",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"^\W*(?:(?:please|ok|okay|now|then|just|also|first|and|so|go ahead and|stop|no|yes)[,\s]+)*"
    r"(?:(?:run|re-?run|fix|show|commit|push|revert|stop|wait|explain|rename|refactor|open|write"
    r"|rewrite|implement|build|deploy|test|debug|check|look|read|update|delete|remove|list|print"
    r"|install|merge|rebase|format|lint|clean|undo|redo|retry|try|search|find|grep|continue"
    r"|summari[sz]e|review|analy[sz]e|investigate|generate|draw|translate|restart|upgrade|bump)\b"
    r"|(?:add|create|make|change|move|put|get|set up|do|use) (?:an?|the|some|new|all|this|that|my"
    r"|our|more|another)\b|go on\b|carry on\b|keep going\b)",
    re.IGNORECASE,
)
# "Search ranking should …" begins with a name and not with an order
_NAMED_SO = re.compile(
    r"^\W*\w+ (?:(?!(?:the|an?|if|whether|that|this|it|what|how|why|which|who|where|when|all|our|my"
    r"|your|for|in|on|and|to|as|so|they|we|you|i)\b)\w+ ){1,2}"
    r"(?:is|are|was|were|should|must|will|can|may|has|have|needs?|goes|runs|uses|happens)\b",
    re.IGNORECASE,
)
# … and those by which nothing becomes otherwise than it is
_INSPECTION = re.compile(
    r"^\W*(?:(?:please|ok|okay|now|then|just|also|first|and|so|no|yes)[,\s]+)*(?:run|re-?run|show"
    r"|explain|open|debug|check|look|read|list|print|search|find|grep|summari[sz]e|review|analy[sz]e"
    r"|investigate|try|retry|test|stop|wait|continue)\b",
    re.IGNORECASE,
)
_ASSENTS = re.compile(
    r"^\W*(?:(?:yes|yeah|yep|yup|ok|okay|sure|agreed|right|correct|exactly|fine|perfect|good|great"
    r"|sounds good|do it|do that|go ahead|that['’]?s (?:right|fine|good)|(?:no|nope|nah)(?: need)?"
    r"|ja|nein|genau|oui|non|d['’]accord|sí|si|vale|não|sim|はい|いいえ|是|好|不|네|아니요"
    r"|please|thanks|thank you|to both|both|to all|all of (?:it|them)|i agree|we agree)"
    r"[\s,.!]*)+\Z",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"^\W*(?:(?:thanks|thank you|thx|cheers|hi|hello|hey|cool|nice|wow|hm+|uh|um|well|so|danke"
    r"|merci|gracias|stop|wait|bye|(?:that['’]?s|that is) all"
    r"(?: for (?:today|now))?|good question|good point|interesting|i see|got it)[\s,.!]*)+\Z"
    r"|^\W*\Z",
    re.IGNORECASE,
)

_PHRASAL = re.compile(
    r"\b(log|sign|set|back|roll|opt|check|pay|clean|start|shut|hand)(?:s|ged|ging|ed|ing)?[\s-]"
    r"(?:(?:it|them|this|that|everything) )?(in|on|up|out|off|back|down|over)\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NO_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# what means little wherever it stands
STOP_WORDS = word_set(
    """
    a about above after again all also am an and any anything are as at be because been before being
    but by can could did do does doing done each every few for from further get go had has hasn't
    have having he her here his how i if in into is it its just let like make me more most much my
    next now of ok on only or other our out over own please put she should so some such than that
    the their them then there these they thing things this those through to too topic topics under
    until up us very was we were what when where which while who whom whose why will with would yes
    you your yours want wants need needs talk discuss regarding concerning question questions still
    subject i'm i've i'd i'll we're we've we'd we'll let's it's that's there's what's don't
    der die das den dem des ein eine einen einem einer und oder ist sind wird werden wir ich du sie
    es im in am an auf mit für von zu zum zur über bitte wie was wer wann wo warum soll sollen
    le la les un une des du de et ou est sont nous vous il elle on en au aux pour avec sur dans qui
    que quoi comment el los las una unos y o es son para con por en del al
    """
)
# … and of these the ones that do not make a sentence of a word
_FILLER_WORDS = word_set(
    """
    a about again all also an and any as at but for further in into its just like more my next now
    of ok on only or other our out over please regarding concerning so some such than that the their
    then these this those to too topic topics under up question questions subject what when where
    which who why how yes your still der die das den dem des ein eine einen einem einer und oder zu
    zum zur über bitte le la les un une des du de et ou au aux pour sur el los las una unos y o con
    por en del al
    """
)
_MAY_SYNONYMS = frozenset({"may", "allow", "permit", "authoris", "authoriz", "darf", "dürfen"})
_ENDINGS = (
    *("isations", "izations", "isation", "ization", "ising", "izing", "ised", "ized", "ises"),
    *("izes", "ise", "ize", "ations", "ation", "ions", "ion", "ings", "ing", "ies", "ed", "es"),
    *("e", "s"),
)
_IZE_ENDINGS = frozenset(_ENDINGS[:11])
_MIN_STEM_LENGTH = 3
MAX_WORD_LENGTH = 40


class Clause:
    """A piece of a sentence. What it does is looked at only where somebody asks: most of a long
    text is about nothing of interest."""

    __slots__ = (
        "_heading",
        "_is_question",
        "_kind",
        "block",
        "number",
        "previous",
        "stems",
        "text",
    )

    def __init__(
        self,
        text: str,
        block: int,
        number: int | None,
        *,
        asks: bool,
        heads: Literal["never", "perhaps", "always"],
        before: Clause | None,
    ) -> None:
        self.text = text
        # clauses of one paragraph or item of a list belong together
        self.block = block
        # which of a numbered list, if it is one
        self.number = number
        # the words that tell something, without their endings
        self.stems = {word for word in stems_of(_drop_paths(text)) if word is not None}
        # the clause before this in the same line
        self.previous = before
        self._is_question = asks
        self._heading = heads
        self._kind: ClauseKind | None = None

    @property
    def kind(self) -> ClauseKind:
        if self._kind is None:
            self._kind = self._find_kind()
        return self._kind

    @property
    def is_sentence(self) -> bool:
        """Whether it is more than the words that tell something."""
        words = self.text.casefold().replace("’", "'").split()
        return any(word in STOP_WORDS and word not in _FILLER_WORDS for word in words)

    def _find_kind(self) -> ClauseKind:
        if self._heading == "always":
            return "heads"
        sort = clause_kind(self.text, asks=self._is_question)
        if sort == "states" and self._heading == "perhaps":
            return "heads"
        if sort == "asks" and self._is_planned():
            # "let's go on with: who may log in?" asks nobody
            return "plans"
        return sort

    def _is_planned(self) -> bool:
        before = self.previous
        while before is not None:
            if before.kind == "plans":
                return True
            before = before.previous
        return False


def split_clauses(text: str, near: re.Pattern[str] | None = None) -> list[Clause]:
    """In order; what stands in code is left out. `near`: only lines that have this, and the ones
    beside them."""
    found: list[Clause] = []
    block = 0
    if "```" in text or "~~~" in text:
        text = _FENCE.sub("\n\n", text)
    lines = text.splitlines()
    has = [near is None or near.search(line) is not None for line in lines]
    for at, line in enumerate(lines):
        if not line.strip():
            block += 1
            continue
        if not any(has[max(0, at - 2) : at + 3]):
            continue
        pieces = _INLINE_NUMBER.split(line) if _LIST_ITEM.match(line) else [line]
        for piece in pieces:
            listed = _LIST_ITEM.match(piece)
            number = int(listed[1]) if listed and listed[1] else None
            block += listed is not None
            found += _clauses_in(piece[listed.end() :] if listed else piece, block, number)
    return found


def _clauses_in(line: str, block: int, number: int | None) -> Iterator[Clause]:
    quoted = _QUOTE.match(line)
    heading = _HEADING.match(line)
    cut = quoted or heading
    before: Clause | None = None
    # a run of spaces is looked at once, not from each of them
    words = " ".join(_MARKS.sub("", line[cut.end() :] if cut else line).split())
    for sentence in _SENTENCE_BREAK.split(words):
        asks = _QUESTION_END.search(sentence) is not None
        for piece in _BUT.split(sentence):
            halves = _COLON.split(piece, maxsplit=1)
            for at, half in enumerate(halves):
                if not half.strip():
                    continue
                opens = at == 0 and (len(halves) > 1 or half.rstrip().endswith(":"))
                before = Clause(
                    half.strip(),
                    block,
                    number,
                    asks=asks and at == len(halves) - 1,
                    heads="always" if cut else "perhaps" if opens else "never",
                    before=before,
                )
                yield before


def clause_kind(clause: str, *, asks: bool = False) -> ClauseKind:
    if _EMPTY.match(clause):
        return "empty"
    if DEFERS.search(clause) or LATER.search(clause):
        return "defers"
    if PLANS.search(clause):
        return "plans"
    if asks or _INDIRECT_QUESTION.match(clause):
        return "asks"
    if _ASSENTS.match(clause):
        return "assents"
    return "orders" if _ORDERS.match(clause) and not _NAMED_SO.match(clause) else "states"


def _drop_paths(text: str) -> str:
    """Where a file lies says nothing of what it is called after; nor does a piece of a diff."""
    if text.startswith("@@ "):
        return ""
    if "/" not in text and "\\" not in text:
        return text
    return " ".join(word for word in text.split() if not _is_path(word))


def _is_path(word: str) -> bool:
    parts = re.split(r"[/\\]", word.strip("\"'`()<>,;:"))
    # /etc/hosts, ./a, C:\a, https://a; and a/b.py, but not read/write
    return len(parts) > 1 and (
        parts[0] in ("", "~", ".", "..") or ":" in parts[0] or "." in parts[-1].strip(".")
    )


def is_inspection(order: str) -> bool:
    """Whether Claude is only to look at something, or to run it."""
    return _INSPECTION.match(order) is not None


def interrogative_of(text: str) -> str | None:
    """The word with which a question begins."""
    found = _INTERROGATIVE.match(text)
    return found[1].casefold() if found else None


def stems_of(text: str) -> list[str | None]:
    """Every word without its ending; None where it means little."""
    joined = _PHRASAL.sub(lambda found: found[1] + found[2], text)
    return [stem for token in _TOKEN.findall(joined) for stem in _cached_stems(token)]


def _cached_stems(token: str) -> tuple[str | None, ...]:
    # whatever is longer than a word is not worth remembering
    return _stems(token) if len(token) <= MAX_WORD_LENGTH else _stems.__wrapped__(token)


@lru_cache(maxsize=16_384)
def _stems(token: str) -> tuple[str | None, ...]:
    if _NO_SPACES.search(token):
        # two signs each: words are not set apart
        return tuple(token[at : at + 2] for at in range(max(1, len(token) - 1)))
    word = token.casefold().replace("’", "'")
    if word in STOP_WORDS or (
        len(word) < _MIN_STEM_LENGTH and not token.isupper() and not word.isdigit()
    ):
        return (None,)
    stem = _stem(word.removesuffix("'s"))
    return ("may" if stem in _MAY_SYNONYMS else stem,)


def tells_of(clause: Clause, item: set[str]) -> bool:
    """Whether something is said of the item, and not only that one speaks of it."""
    rest = clause.stems - item
    if (rest and rest <= _about_talk()) or _is_topic(clause.text, item):
        return False
    return not any(item.isdisjoint(stems_of(found[0])) for found in SPEAKS_OF.finditer(clause.text))


def _is_topic(text: str, item: set[str]) -> bool:
    """Whether it stands after "about", and nothing else of it is said."""
    about = REGARDING.split(text, maxsplit=1)
    if len(about) == 1 or not item.isdisjoint(stems_of(about[0])):
        return False
    words = [word for word in stems_of(about[1]) if word is not None]
    return bool(words) and words[0] in item and set(words) <= item | _about_talk()


@lru_cache(maxsize=1)
def _about_talk() -> frozenset[str]:
    return frozenset(word for word in stems_of(ABOUT_TALK) if word is not None)


def is_faulty(text: str) -> bool:
    """Whether it tells of something that does not work as it should: a fault settles nothing."""
    return FAULT.search(text) is not None


def stem_pattern(words: set[str]) -> str:
    """A pattern that is found wherever one of these may stand, with whatever ending."""
    hints = {re.escape(word[:_MIN_STEM_LENGTH]) for word in words}
    if "may" in words:
        hints |= {re.escape(word[:_MIN_STEM_LENGTH]) for word in _MAY_SYNONYMS}
    return "|".join(sorted(hints)) or r"(?!)"


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM_LENGTH:
            if word.endswith("ss"):
                return word
            stem = word[: -len(ending)]
            if ending in _IZE_ENDINGS:
                return stem + "is"
            if ending == "ies":
                return stem + "y"
            if (
                ending in ("ing", "ed", "ings")
                and len(stem) > _MIN_STEM_LENGTH
                and stem[-1] == stem[-2]
            ):
                return stem[:-1]
            return stem
    return word
