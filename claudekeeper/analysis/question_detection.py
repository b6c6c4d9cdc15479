"""Whether a reply ends with a question to the person, and which.

Claude asks at the end of a reply. A question mark elsewhere is part of an explanation, a heading,
code or a quotation.
"""

from __future__ import annotations

import itertools
import re

from claudekeeper.analysis.question_phrases import question_phrases

MAX_CHARACTERS = 600
# how much may follow a question: "Once I know, I will go on."
MAX_AFTER_QUESTION = 280
# how much may stand between the halves of a question
MAX_ASIDE = 120
# how far from the end a question may be
SEARCHED_CHARACTERS = 4_000

_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]*`")
# stands for a question mark that asks nothing
_HIDDEN_MARK = "\0"
_QUESTION_MARK = re.compile("[?？؟]")
_URL = re.compile(r"\bhttps?://\S+")
# somebody else's question, or a button; a question of Claude's own may quote one or two words
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
# a line at least so long may have been broken for its width
MIN_WRAPPED_LENGTH = 60
# a sentence goes on in small letters: "the first vs. the second"
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
# emphasis, and code, in which these signs have no meaning
_EMPHASIS = re.compile(
    r"(`[^`\n]*`)|(\*{1,3})(?=\S)(.+?)(?<=\S)\2|(?<!\w)(_{1,3})(?=\S)(.+?)(?<=\S)\4(?!\w)"
)
_UNPAIRED_MARK = re.compile(r"^[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}$")
# the list of sources, after everything else
_SOURCES_HEADING = re.compile(r"^\W*(?:sources|references)\W*$", re.IGNORECASE)


def find_question(text: str) -> str | None:
    """The question with which a reply ends, in its words; None if it ends otherwise."""
    text = _FENCE.sub("\n\n", text[-SEARCHED_CHARACTERS:])
    for ignored in (_CODE, _URL, _QUOTATION):
        text = ignored.sub(lambda match: _QUESTION_MARK.sub(_HIDDEN_MARK, match[0]), text)
    blocks = _drop_sources(_split_blocks(text))
    after = 0
    for index in range(len(blocks) - 1, max(-1, len(blocks) - 5), -1):
        question = _question_at(blocks, index, last=after == 0)
        if question is not None:
            before: str | None = None
            if _is_list(blocks[index]):
                before = _choices_before(blocks, index)
            elif index:
                # "Tell me which.", "Answer those." may only repeat the question before it, and "And
                # …?" goes on with it
                goes_on = question_phrases().continuation.match(question) is not None
                if "?" not in question or goes_on:
                    before = _question_before(blocks, index, last=goes_on)
            return _shorten(f"{before}\n{question}" if before else question)
        after += sum(len(line) for line in blocks[index])
        if after > MAX_AFTER_QUESTION:
            return None
    return None


def _drop_sources(blocks: list[list[str]]) -> list[list[str]]:
    for index in range(len(blocks) - 1, max(-1, len(blocks) - 3), -1):
        if _SOURCES_HEADING.match(blocks[index][0]):
            return blocks[:index]
    return blocks


def _question_at(blocks: list[list[str]], index: int, *, last: bool = False) -> str | None:
    opening = blocks[index - 1] if index and _is_list(blocks[index]) else None
    return _question_in_block(blocks[index], opening, last=last)


def _question_before(blocks: list[list[str]], index: int, *, last: bool) -> str | None:
    if question := _question_at(blocks, index - 1, last=last):
        return question
    above = blocks[index - 1]
    return "\n".join(line for line in above if "?" in line) if _is_list(above) else None


def _choices_before(blocks: list[list[str]], index: int) -> str | None:
    """Other questions with their choices as lists, right before this one."""
    questions: list[str] = []
    while index >= 3 and all(_is_question(blocks[each][-1]) for each in (index - 1, index - 3)):
        index -= 2
        question = _question_at(blocks, index) if _is_list(blocks[index]) else None
        if question is None or not _is_question(question.splitlines()[0]):
            break
        questions.insert(0, question)
    return "\n".join(questions) or None


def _split_blocks(text: str) -> list[list[str]]:
    """The paragraphs and lists of a text, as lines, without headings, tables and quotations."""
    blocks: list[list[str]] = []
    current: list[str] = []
    lines = _unwrap_lines(text.splitlines())
    answered = _answered_headings(lines)
    question_cue = question_phrases().question_cue
    for index, line in enumerate(lines):
        is_ignored = (
            _QUOTE_LINE.match(line)
            or index in answered
            or (_HEADING.match(line) and not _is_question(line) and not question_cue.search(line))
        )
        starts_list = _LIST_ITEM.match(line) and current and not _LIST_ITEM.match(current[-1])
        ends_list = bool(current) and _is_list(current) and not line.startswith((" ", "\t"))
        if (
            not line.strip()
            or is_ignored
            or (starts_list and not _is_list(current))
            or (ends_list and not _LIST_ITEM.match(line))
        ):
            if current:
                blocks.append(current)
            current = []
        if line.strip() and not is_ignored:
            current.append(line)
    if current:
        blocks.append(current)
    return _join_lists(blocks)


def _answered_headings(lines: list[str]) -> set[int]:
    """Headings that ask and are answered right below: questions of a document's readers."""
    answered: set[int] = set()
    awaits_answer = question_phrases().awaits_answer
    written = [(index, line) for index, line in enumerate(lines) if line.strip()]
    for (index, line), (_, below) in itertools.pairwise(written):
        asks = _HEADING.match(line) and _is_question(line)
        is_text = not any(mark.match(below) for mark in (_HEADING, _QUOTE_LINE, _LIST_ITEM))
        if asks and is_text and not _is_question(below) and not awaits_answer.match(below):
            answered.add(index)
    return answered if len(answered) > 1 else set()


def _unwrap_lines(lines: list[str]) -> list[str]:
    """The lines with those joined that were broken for their width."""
    joined: list[str] = []
    for line in lines:
        before = joined[-1] if joined else ""
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
            joined[-1] = f"{before.rstrip()} {line.lstrip()}"
        else:
            joined.append(line)
    return joined


def _join_lists(blocks: list[list[str]]) -> list[list[str]]:
    """The blocks with the items of one list joined: blank lines may separate them."""
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
    """The question of a paragraph or list; the opening of a list belongs to its question."""
    phrases = question_phrases()
    if opening is not None:
        lead = opening[-1]
        asks = _is_question(lead) and _is_more_than_courtesy(lead)
        if asks or phrases.choice_lead.search(lead) or (lead.endswith(":") and _is_request(lead)):
            return "\n".join([*opening, *block])
        with_mark = [line for line in block if "?" in line]
        if with_mark and phrases.question_cue.search(lead):
            return "\n".join(with_mark)
        if phrases.document_lead.match(_SENTENCE_BREAK.split(lead)[-1]):
            return None
        asking = [line for line in block if _is_question(line) and _is_more_than_courtesy(line)]
        if asking and (len(asking) * 2 >= len(block) or _is_question(block[-1])):
            return "\n".join(asking)
        return None
    sentences = [each for line in block for each in _SENTENCE_BREAK.split(line) if each.strip()]
    for index, sentence in reversed(list(enumerate(sentences))):
        following = sentences[index + 1] if index + 1 < len(sentences) else None
        if _asks_person(sentence, following, last=last) and _is_more_than_courtesy(sentence):
            more = _following_parts(sentences[index + 1 :])
            return " ".join([*_preceding_parts(sentences, index, last=last), sentence, *more])
    return None


def _preceding_parts(sentences: list[str], index: int, *, last: bool) -> list[str]:
    """The questions just before a question that belong to it."""
    phrases = question_phrases()
    parts: list[str] = []
    while index:
        sentence, before = sentences[index], sentences[index - 1]
        if _is_question(before) or not _is_question(sentence):
            # "Which region? And who pays?"; "Push it? Say the word."; "See whether it works. I'll
            # wait for your word."
            belongs = _is_question(before) or (
                phrases.persons_move.match(sentence) is not None
                or _asks_person(before, sentence, last=last)
            )
            if (
                not belongs
                or phrases.reported_question.search(before)
                or not _is_more_than_courtesy(before)
            ):
                break
            index -= 1
        elif (
            index > 1 and _is_aside(before) and _continues_question(sentences[index - 2], sentence)
        ):
            # "Delete it? It costs a lot. Or keep it?": only what asks is repeated
            index -= 2
        else:
            break
        parts.insert(0, sentences[index])
    return parts


def _following_parts(sentences: list[str]) -> list[str]:
    """The sentences that go on with a question: "Or is it yours?", "Then paste it here."."""
    phrases = question_phrases()
    parts = itertools.takewhile(
        lambda each: (
            (_is_question(each) and phrases.continuation.match(each))
            or phrases.follow_up_request.match(each)
        ),
        sentences,
    )
    return list(parts)


def _is_aside(sentence: str) -> bool:
    return len(sentence) <= MAX_ASIDE and question_phrases().self_answer.match(sentence) is None


def _continues_question(question: str, sentence: str) -> bool:
    """Whether a question goes on with one that was asked a sentence before it."""
    if not _is_question(question) or not _is_more_than_courtesy(question):
        return False
    phrases = question_phrases()
    return bool(
        phrases.continuation.match(sentence) and not phrases.leading_question.match(question)
    )


def _asks_person(sentence: str, following: str | None, *, last: bool) -> bool:
    """Whether a sentence asks the person; `last`: nothing comes after its paragraph."""
    phrases = question_phrases()
    if not _is_question(sentence):
        if _is_request(sentence):
            return True
        leaves_it = phrases.left_to_person.search(sentence) or phrases.persons_move.search(sentence)
        return last and leaves_it is not None
    if following is None:
        # the last sentence may ask anything; one that more follows must be put to the person
        return last or phrases.addresses_person.search(sentence) is not None
    if phrases.self_answer.match(following) or phrases.reported_question.search(sentence):
        return False
    if phrases.leading_question.match(sentence):
        return False
    awaits_answer = phrases.awaits_answer.match(following) is not None
    if phrases.short_offer.match(sentence) and phrases.self_service.match(following):
        # they are told how to have it; it asks only if they may also say so
        return awaits_answer
    return awaits_answer or phrases.addresses_person.search(sentence) is not None


def _is_request(sentence: str) -> bool:
    """Whether it wants something of the person without a question mark, and is no mere offer."""
    # nobody would read a longer sentence as a request
    text = sentence[-MAX_CHARACTERS:]
    phrases = question_phrases()
    request = phrases.request.search(text)
    return request is not None and not phrases.optional_request.search(text[: request.start()])


def _is_more_than_courtesy(line: str) -> bool:
    """Whether a line, or what it joins to a courtesy, is more than a courtesy."""
    phrases = question_phrases()
    if not phrases.courtesy.search(line) or phrases.before_action.search(line):
        return True
    return any(
        (phrases.addresses_person.search(part) or (index and phrases.question_start.match(part)))
        and not phrases.courtesy.search(part)
        and not phrases.all_good.search(part)
        for index, part in enumerate(phrases.alternative.split(line))
    )


def _shorten(question: str) -> str:
    question = question.replace(_HIDDEN_MARK, "?")
    plain = "\n".join(map(_strip_marks, question.splitlines())).strip()
    return plain if len(plain) <= MAX_CHARACTERS else plain[: MAX_CHARACTERS - 1].rstrip() + "…"


def _strip_marks(line: str) -> str:
    plain = _EMPHASIS.sub(lambda match: match[1] or match[3] or match[5], line).strip()
    # half of a pair, where a sentence was cut out of emphasised text
    return _UNPAIRED_MARK.sub("", plain)
