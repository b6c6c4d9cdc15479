"""Whether a command points at what was said before, or away from it, in several languages."""

from __future__ import annotations

import re

import msgspec

from claudekeeper.features.terms import COMMON_WORD, WORD, terms_of

# how surely each kind of word points back
CARRIES_ON, ANSWERS, POINTS, DANGLES, HINTS = 1.0, 0.8, 0.8, 0.7, 0.25
# and how much of that is left when the command is full of new words: “oh and …” is meant so
# whatever follows, a “then” or “it” among many new words may belong to them
OPENS, CARRIED, POINTED = 0.9, 0.6, 0.5
# a command that tells so little by itself can only be about what was there before
LITTLE = 3 * COMMON_WORD
# an answer that is none by its words is no longer than this, and names one thing at most
ANSWER_WORDS = 5


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
    r"|thanks|thank you|please|also gut|gut|bon|bien|vale|danke|merci|gracias|bitte)\b"
    r"[\s,.!:…-]*)+",
    re.IGNORECASE,
)
_STARTS_WITH = _any(
    r"^" + _words(
        "also|oh|and|but|wait|hold on|no|actually|continue|keep going|go on"
        "|one (?:more|other) thing|what about|how about|what if|why not"
        "|und|aber|auch|weiter|außerdem|et|mais|aussi|continue|y|pero|también|sigue|continúa"
        "|e(?= )|ma(?= (?:non|se|come|perché|anche|il|lo|gli|i)\\b)|anche|continua|mas|também"
        "|en(?! (?:el|la|los|las|le|les|une?|una|mi|su|este|esta|ce|cette|nuestr[oa])\\b)"
        "|maar|ook|verder|и|но|а|ale|też|oraz"
    ),
    r"^(?:あと|続けて|さらに|それから|ついでに|再|然后|继续|接着|还|그리고|계속)",
)  # fmt: skip
_THEN = _any(
    r"^" + _words(
        "then|again|now|instead|or|more|less|fewer|shorter|longer|faster|smaller|bigger|simpler"
        "|dann|jetzt|nun|alors|ensuite|maintenant|entonces|ahora|luego|poi|ora|agora|depois|nu"
        "|теперь|teraz"
    ),
    r"^(?:次は|次に|现在|이제)",
)  # fmt: skip
_ANYWHERE = _any(
    _words(
        # “too slow”, “as well as”, “instead of” and “the REST API” carry nothing on
        r"also|and then|and also|too(?=\W*$|[.,;!?])|as well(?! as)|instead(?! of)|keep going"
        r"|while you['’]?re at it|same thing|(?<!at )the same|one more thing|oh and"
        r"|in that (?:same )?file|(?:going )?back to the|follow(?:ing)? up on"
        r"|the rest(?! (?:api|endpoint|service|client|interface))|the remaining|the other one"
        r"|alos|aslo"
        r"|auch|außerdem|ausserdem|zusätzlich|stattdessen|mach weiter|das gleiche|dasselbe"
        r"|aussi|également|en plus|plutôt|la même chose"
        r"|también|tambien|además|lo mismo|en cambio"
        r"|anche|inoltre|lo stesso|invece|também|além disso|o mesmo|ook|hetzelfde|bovendien"
        r"|также|тоже|też|również|to samo"
    ),
    r"(?:ついでに|もう一つ|同じ|も(?:追加|対応|直|変|お願い)|同样|还要|也要|也给|再加|再写"
    r"|도 (?:추가|해))",
)
_ANSWER = _any(
    r"^" + _words(
        "yes|yep|yeah|no|nope|sure|please do|go ahead|do it|looks? (?:good|right|fine|great)|lgtm"
        "|exactly|correct|go (?:with|for)|let['’]?s (?:do (?:it|that|this)|go)"
        "|that['’]?s|ja|nein|doch|genau|oui|non|d['’]accord|sí|no|claro|dale|sì|sim|não|nee|да|нет"
        "|tak|nie"
    ),
    r"^(?:はい|いいえ|いや|お願い|好的|是的|不|네|아니)",
)  # fmt: skip
_POINTER = _any(
    _words(
        "it|its|that|this|those|these|them|they|both|there|the (?:first|second|third|last|other)"
        "|that one|the one|step \\d+|as planned|your|(?:did|have|were|are) you"
        "|you (?:did|wrote|said|made|added|created|changed|found|forgot|broke|missed|just)"
        "|damit|davon|darin|dazu|dafür|daran|darauf|dabei|ihn|diese[nms]?"
        "|ça|cela|ceci|celui-ci|elle|eso|esto|isso|isto|quello|questo|dat|dit|deze"
        "|это|этого|его|нему|ней|них|tego|nim|niego|nich"
    ),
    r"\b(?:das|es)(?= +[a-zäöü]|[.!?]|$)",
    r"\b\w+-(?:le|la|les|lui|y)\b",
    r"\b\w{2,}(?:[aei]r|[áéí]\w{0,4}[aeo])(?:lo|la|los|las)\b",
    r"(?:それ|これ|その|この|あれ|さっき|它|这个|那个|这里|그것|그거|이거|이것)",
)
# “the one that …”, “make sure that …”, “there is”, “both … and”: no pointing
_NOT_POINTING = re.compile(
    r"\b(?:(?:sure|so|such|says?|said|means?|see|think|know|reported|noticed|told|found)[\s,]+that"
    r"|(?!(?:is|was|does|has|isn['’]t|doesn['’]t|let|but|not|are|were|like|use|make|have)\b)"
    r"\w+(?:er|or|ion|ment|ing|t|s|e)"
    r" that (?=\w+s\b|\w+ed\b|reads?\b|lets?\b|makes?\b|has\b|have\b|is\b|are\b|posts?\b|can\b)"
    r"|an? (?:[\w-]+ ){0,3}[\w-]+ that"
    r"|this (?:project|morning|afternoon|evening|week|month|year|quarter|sprint|time)"
    r"|the (?:last|first) (?:\d+ )?(?:days?|weeks?|months?|years?|hours?|time)"
    r"|there(?: is| are| was| were|['’]s|['’]re| seems?)"
    r"|it(?: is|['’]s) (?:time|possible|important)|it(?:['’]d| would) be (?:nice|great|good|better)"
    r"|it (?:seems|turns out|looks like)|both (?=\w+ and )"
    r"|(?:are|have|were) you (?:able|familiar|ever))\b",
    re.IGNORECASE,
)
# what was so before: alone it says little, with a word in common a good deal
_HINT = _any(
    _words(
        "still|again|any ?more|no longer|after all|immer noch|noch immer|schon wieder|encore"
        "|toujours|todavía|sigue|aún|ancora|ainda|nog steeds|ещё|опять|nadal|jeszcze|znowu"
    ),
    r"\b(?:here|hier|ici|aquí)(?=\W*$|[.,;!?])",
    r"(?:まだ|还是|仍然|아직)",
)
# where one clause ends and another begins: “it” cannot mean what its own clause names
_CLAUSES = re.compile(
    r"[,;:.!?]\s|\b(?:and|or|but|then|because|since|that|which|who|when|if|while|how|what|where"
    r"|whether|so|und|oder|aber|weil|dass|wenn|ob|wie|et|ou|mais|que|si|quand|y|o|pero|porque"
    r"|cuando|e|ma|se|che)\b",
    re.IGNORECASE,
)
_ASKS = r"(?:(?:can|could|would|will) you |let['’]?s |help me (?:to )?|kannst du )"
_WANTS = r"(?:(?:i|we)(?:['’]d like| need| want| would like| should) |ich (?:brauche|will) )"
_MAKES = (
    r"(?:write|build|create|make|draft|design|generate|develop|implement|set up|start|prepare"
    r"|compose|draw|plan|schreibe?|erstelle?|baue?|entwirf|mache?|erzeuge|entwickle|écris|crée|fais"
    r"|génère|rédige|prépare|escribe|crea|haz|genera|diseña|prepara|redacta|scrivi|cria|escreve"
    r"|maak|schrijf)(?:[ -](?:me|us|up|mir|uns|bitte|moi|nous))? "
)
# who makes a thing, or turns to one, speaks of something new
_BEGINS = re.compile(
    rf"^(?:now )?(?:{_ASKS}*{_MAKES}|{_WANTS}(?:(?:you )?to {_MAKES})?)"
    r"(?:an?|some|new|eine?[nms]?|une?|des|una|uno|uma?|een)\b"
    r"|^(?:now )?let['’]?s (?:look at|work on|talk about|turn to|tackle|focus on|get to)\b",
    re.IGNORECASE,
)
_PARTING = _any(
    r"\bnew (?:thing|topic|task|session|project|conversation|question|chat|subject)\b",
    r"(?<!try )(?<!use )(?<!it )\b(?:something|anything|completely|totally|entirely) "
    r"(?:else|different|new|unrelated)\b",
    r"(?<!one )\b(?:different|another|other|unrelated|separate) (?:thing|topic|question|project"
    r"|subject|matter|note|task)\b",
    r"\b(?:different|separate) (?:issue|problem|bug)\b",
    r"\b(?:unrelated|separately|nothing to do with|switch(?:ing)? (?:gears|topics?)"
    r"|change of (?:topic|subject)|chang(?:e|ing) the subject|moving on|next up|context switch"
    r"|forget (?:it|that|about)|start (?:over|fresh|anew)|before i forget|next (?:task|topic)"
    r"|that['’]?s (?:enough|it|all) (?:for|of|about))\b",
    r"\bin (?:the|our|my) (?!same\b|this\b)\w+ (?:repo|repository|project)\b",
    r"\b(?:(?:neues|anderes) (?:thema|problem)|(?:et)?was (?:ganz )?anderes|neue aufgabe"
    r"|themenwechsel|unabhängig davon)\b",
    r"\b(?:autre chose|(?:nouveau|autre) sujet|rien à voir|changeons de sujet|nouvelle tâche"
    r"|passons à)\b",
    r"\b(?:otra (?:cosa|tarea)|(?:otro|nuevo) tema|nada que ver|cambiando de tema|nueva tarea"
    r"|pasemos a)\b",
    r"\b(?:altra cosa|altro argomento|cambiando argomento|outra coisa|outro assunto"
    r"|mudando de assunto|iets anders|(?:ander|nieuw) onderwerp|другое|новая (?:задача|тема)"
    r"|другая тема|inna sprawa|nowe zadanie|inny temat|z innej beczki)\b",
    r"(?:別件|別の(?:話|件|こと)|話は変わ|話変わ|ところで|换个话题|另一个问题|另外一件|别的事|新任务"
    r"|다른 (?:얘기|주제|작업|문제)|새로운 (?:작업|주제))",
)


class Pointers(msgspec.Struct, frozen=True):
    """What of a command points back or away, found once for all candidates."""

    # words that end a conversation, open a follow-up, carry on, answer, point
    parting: str | None
    opening: str | None
    carrying: str | None
    answer: str | None
    pointer: str | None
    # what was so before: “still”, “again”
    hint: str | None
    # whether a thing is asked for that is not there yet
    begins: bool
    # how much was named in the clauses before the pointer: it may mean that
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
            hint=_text(_HINT.search(rest)),
            begins=_BEGINS.search(rest) is not None,
            before=_weight(_clauses_before(pointing, pointer.start())) if pointer else 0.0,
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
        elif asked and self.length <= ANSWER_WORDS and self.weight <= WORD:
            found.append(Reference(ANSWERS))
        if self.pointer is not None:
            inside = self.before > WORD
            strength = HINTS * (1 - novelty) if inside else POINTS * _left(POINTED, novelty)
            found.append(Reference(strength, self.pointer))
        if self.hint is not None:
            found.append(Reference(HINTS * (1 - novelty), self.hint))
        if self.weight <= LITTLE:
            found.append(Reference(DANGLES))
        return max(found, key=lambda each: each.strength)


def _left(least: float, novelty: float) -> float:
    """What novelty leaves of a reference."""
    return 1 - (1 - least) * novelty


def _clauses_before(text: str, at: int) -> str:
    ends = [found.start() for found in _CLAUSES.finditer(text, 0, at)]
    return text[: ends[-1]] if ends else ""


def _weight(text: str) -> float:
    return sum(term.weight for term in terms_of(text))


def _text(found: re.Match[str] | None) -> str | None:
    return found[0].strip() if found else None
