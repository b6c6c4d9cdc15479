"""Whether a command points at what was said before, or away from it, in several languages."""

from __future__ import annotations

import re

import msgspec

from claudekeeper.features.terms import COMMON_WORD, WORD, terms_of

# how surely each kind of word points back
CARRIES_ON, ANSWERS, POINTS, DANGLES, POINTS_INSIDE = 1.0, 0.8, 0.8, 0.7, 0.25
# and how much of that is left when the command is full of new words: “oh and …” is meant so
# whatever follows, a “then” or “it” among many new words may belong to them
OPENS, CARRIED, POINTED = 0.9, 0.6, 0.5
# a command that tells so little by itself can only be about what was there before
LITTLE = 2 * COMMON_WORD
# an answer to a question is no longer than this
ANSWER_WORDS = 8


class Reference(msgspec.Struct, frozen=True):
    """`parts`: the command says that it is about something else."""

    strength: float = 0.0
    words: str = ""
    parts: bool = False


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


def _words(text: str) -> str:
    return r"\b(?:" + "|".join(text.replace("_", " ").split("|")) + r")\b"


# said before the first word that matters
_OPENING = re.compile(
    r"^(?:(?:ok|okay|um+|uh+|so|hmm+|hey|hi|alright|great|good|cool|nice|yeah|well|right|perfect"
    r"|thanks|thank you|please|also gut|gut|bon|bien|vale)\b[\s,.!:…-]*)+",
    re.IGNORECASE,
)
_STARTS_WITH = _any(
    r"^" + _words(
        "also|oh|and|but|wait|hold on|no|actually|continue|keep going|go on|one more thing"
        "|und|aber|auch|weiter|außerdem|et|mais|aussi|continue|y|pero|también|sigue|continúa"
        "|e|ma|anche|continua|mas|também|en|maar|ook|verder|и|но|а"
    ),
    r"^(?:あと|続けて|さらに|それから|ついでに|再|然后|继续|接着|还)",
)  # fmt: skip
_THEN = _any(
    r"^" + _words(
        "then|again|now|instead|or|dann|jetzt|nun|alors|ensuite|maintenant|entonces|ahora|luego"
        "|poi|ora|agora|depois|nu|теперь"
    ),
    r"^(?:次は|次に|现在)",
)  # fmt: skip
_ANYWHERE = _any(
    _words(
        r"also|and then|and also|too|as well|instead|keep going|while you['’]?re at it"
        r"|same thing|the same|do the same|one more thing|oh and|in that (?:same )?file"
        r"|(?:going )?back to the|follow(?:ing)? up on|the rest|the remaining|the other one"
        r"|alos|aslo"
        r"|auch|außerdem|ausserdem|zusätzlich|stattdessen|mach weiter|das gleiche|dasselbe"
        r"|aussi|également|en plus|plutôt|la même chose"
        r"|también|tambien|además|lo mismo|en cambio"
        r"|anche|inoltre|lo stesso|invece|também|além disso|o mesmo|ook|hetzelfde|bovendien"
        r"|также|тоже"
    ),
    r"(?:ついでに|もう一つ|同じ|も(?:追加|対応|直|変|お願い)|同样|还要|也要|再加|再写)",
)
_ANSWER = _any(
    r"^" + _words(
        "yes|yep|yeah|no|nope|sure|please do|go ahead|do it|looks? (?:good|right|fine|great)|lgtm"
        "|exactly|correct|thanks|thank you|perfect|done|go (?:with|for)|let['’]?s (?:do|go)"
        "|that['’]?s|ja|nein|doch|genau|oui|non|d['’]accord|sí|no|claro|dale|sì|sim|não|nee|да|нет"
    ),
    r"^(?:はい|いいえ|いや|お願い|好的|是的|不)",
)  # fmt: skip
_POINTER = _any(
    _words(
        "it|its|that|this|those|these|them|they|both|there|the (?:first|second|third|last|other)"
        "|that one|the one|step \\d+|as planned|you did|you wrote|you said|your"
        "|damit|davon|darin|dazu|dafür|daran|darauf|dabei|ihn|diese[nms]?"
        "|ça|cela|ceci|celui-ci|eso|esto|isso|isto|quello|questo|dat|dit|deze|это"
    ),
    r"\b(?:das|es)(?= +[a-zäöü]|[.!?]|$)",
    r"\b\w+-(?:le|la|les|lui|y)\b",
    r"\b\w{2,}[aei]r(?:lo|la|los|las)\b",
    r"(?:それ|これ|その|この|あれ|さっき|它|这个|那个|这里)",
)
# “the one that …”, “make sure that …”: no pointing
_NOT_POINTING = re.compile(
    r"\b(?:(?:sure|so|such|says?|means?|see|think|know)[\s,]+that|\w+(?:er|or|ion|ment|ing|t|s|e)"
    r" that (?=\w+s\b|\w+ed\b|reads?\b|lets?\b|makes?\b|has\b|have\b|is\b|are\b|posts?\b|can\b)"
    r"|this (?:project|morning|week|month|year))",
    re.IGNORECASE,
)
_PARTING = _any(
    r"\bnew (?:thing|topic|task|session|project|conversation|question|chat|subject)\b",
    r"\b(?:something|anything|completely|totally|entirely) (?:else|different|new)\b",
    r"\b(?:different|another|other|unrelated) (?:thing|topic|question|project|subject|matter|note"
    r"|task)\b",
    r"\b(?:unrelated|separately|nothing to do with|switch(?:ing)? (?:gears|topics?)|change of topic"
    r"|forget (?:it|that|about)|start (?:over|fresh|anew)|before i forget|next task)\b",
    r"\bin (?:the|our|my) (?!same\b|this\b)\w+ (?:repo|repository|project)\b",
    r"\b(?:(?:neues|anderes) thema|(?:et)?was (?:ganz )?anderes|neue aufgabe|themenwechsel"
    r"|unabhängig davon)\b",
    r"\b(?:autre chose|(?:nouveau|autre) sujet|rien à voir|changeons de sujet|nouvelle tâche)\b",
    r"\b(?:otra cosa|(?:otro|nuevo) tema|nada que ver|cambiando de tema|nueva tarea)\b",
    r"\b(?:altra cosa|altro argomento|cambiando argomento|outra coisa|outro assunto"
    r"|mudando de assunto|iets anders|(?:ander|nieuw) onderwerp|другое|новая задача)\b",
    r"(?:別件|別の(?:話|件|こと)|話は変わ|話変わ|ところで|换个话题|另一个问题|另外一件|别的事|新任务)",
)


class Pointers(msgspec.Struct, frozen=True):
    """What of a command points back or away, found once for all candidates."""

    # words that end a conversation, open a follow-up, carry on, answer, point
    parting: str | None
    opening: str | None
    carrying: str | None
    answer: str | None
    pointer: str | None
    # how much was named before the pointer in the same breath: it may mean that
    before: float
    # how much the command tells by itself, and in how many words
    weight: float
    length: int

    @classmethod
    def in_command(cls, command: str) -> Pointers:
        rest = _OPENING.sub("", command.strip())
        pointing = _NOT_POINTING.sub(" ", rest)
        pointer = _POINTER.search(pointing)
        return cls(
            parting=_text(_PARTING.search(command)),
            opening=_text(_STARTS_WITH.search(rest)),
            carrying=_text(_THEN.search(rest) or _ANYWHERE.search(rest)),
            answer=_text(_ANSWER.search(command.strip()) or _ANSWER.search(rest)),
            pointer=_text(pointer),
            before=_weight(pointing[: pointer.start()]) if pointer else 0.0,
            weight=_weight(rest),
            length=len(rest.split()),
        )

    def reference(self, *, asked: bool = False, novelty: float = 0.0) -> Reference:
        """`asked`: Claude's last words were a question. `novelty`: how much is new there."""
        if self.parting is not None:
            return Reference(0.0, self.parting, parts=True)
        found = [Reference()]
        if self.opening is not None:
            found.append(Reference(CARRIES_ON * _left(OPENS, novelty), self.opening))
        elif self.carrying is not None:
            found.append(Reference(CARRIES_ON * _left(CARRIED, novelty), self.carrying))
        if self.answer is not None:
            found.append(Reference(ANSWERS * (1 - novelty), self.answer))
        elif asked and self.length <= ANSWER_WORDS:
            found.append(Reference(ANSWERS * (1 - novelty)))
        if self.pointer is not None:
            inside = self.before > WORD
            strength = POINTS_INSIDE * (1 - novelty) if inside else POINTS * _left(POINTED, novelty)
            found.append(Reference(strength, self.pointer))
        if self.weight <= LITTLE:
            found.append(Reference(DANGLES))
        return max(found, key=lambda each: each.strength)


def _left(least: float, novelty: float) -> float:
    """What novelty leaves of a reference."""
    return 1 - (1 - least) * novelty


def _weight(text: str) -> float:
    return sum(term.weight for term in terms_of(text))


def _text(found: re.Match[str] | None) -> str | None:
    return found[0].strip() if found else None
