"""How people point back at what was said, answer, turn away or begin, in several languages."""

from __future__ import annotations

import re


def _any_of(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


def _whole_words(text: str) -> str:
    return r"\b(?:" + "|".join(text.replace("_", " ").split("|")) + r")\b"


# a thing to which something is done, or that does something: no preposition before its article
OBJECT = re.compile(
    r"(?<!\bon)(?<!\bin)(?<!\bat)(?<!\bof)(?<!\bto)(?<!\bby)(?<!\bfor)(?<!\bfrom)(?<!\bwith)"
    r"(?<!\bafter)(?<!\bbefore)(?<!\bsince)(?<!\blike)(?<!\bexcept) "
    r"(?:the|an?|our|my|der|die|das|den|eine?[nmrs]?|le|la|les|une?|el|los|las|una)\b",
    re.IGNORECASE,
)
LIST_OR_FIGURES = re.compile(r"\d|[,;|]")
# said before the first word that matters
FILLER_OPENING = re.compile(
    r"^(?:(?:ok|okay|um+|uh+|so|hm+|hey|hi|alright|great|good|cool|nice|yeah|well|right|perfect"
    r"|thanks|thank you|please|also gut|gut|bon|bien|vale|danke|merci|gracias|bitte)\b"
    r"[\s,.!:…-]*)+",
    re.IGNORECASE,
)
FOLLOW_UP_OPENING = _any_of(
    r"^" + _whole_words(
        "also|oh|and|but|wait|hold on|no|actually|continue|keep going|go on"
        r"|(?:carry|keep) on(?=\W*$|\W+(?:with|going|working)\b|[,.:;!–—-])|in addition"
        "|additionally|moreover|furthermore|besides|on top of that"
        "|one (?:more|other) thing|what about|how about|what if|why not"
        "|und|aber|auch|weiter|außerdem|et|mais|aussi|continue|y|pero|también|sigue|continúa"
        "|e(?= )|ma(?= (?:non|se|come|perché|anche|il|lo|gli|i)\\b)|anche|continua|mas|também"
        "|en(?! (?:el|la|los|las|le|les|une?|una|mi|su|este|esta|ce|cette|nuestr[oa])\\b)"
        "|maar|ook|verder|и|но|а|ale|też|oraz"
        "|mach weiter|fahr fort|continuez|poursui[st]|poursuivez|siga|adelante|prosegui|vai avanti"
        "|prossiga|ga door|продолжа(?:й|йте|ем)|дальше|кроме того|kontynuuj|dalej|poza tym"
    ),
    r"^(?:あと|続けて|さらに|それから|ついでに|再|然后|继续|接着|还|그리고|계속)",
)  # fmt: skip
FOLLOW_UP_ADVERB = _any_of(
    r"^" + _whole_words(
        "then|again|now|instead|or|more|less|fewer|shorter|longer|faster|smaller|bigger|simpler"
        "|dann|jetzt|nun|alors|ensuite|maintenant|entonces|ahora|luego|poi|ora|agora|depois|nu"
        "|теперь|teraz"
    ),
    r"^(?:次は|次に|现在|이제)",
)  # fmt: skip
FOLLOW_UP_ANYWHERE = _any_of(
    _whole_words(
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
ANSWER = _any_of(
    r"^" + _whole_words(
        "yes|yep|yeah|no|nope|sure|please do|go ahead|do it|looks? (?:good|right|fine|great)|lgtm"
        "|exactly|correct|go (?:with|for)|let['’]?s (?:do (?:it|that|this)|go)"
        "|that['’]?s|ja|nein|doch|genau|oui|non|d['’]accord|sí|no|claro|dale|sì|sim|não|nee|да|нет"
        "|tak|nie"
    ),
    r"^(?:はい|いいえ|いや|お願い|好的|是的|不|네|아니)",
)  # fmt: skip
# a command that opens so asks for something by itself: it is no bare answer to a question
OWN_REQUEST = _any_of(
    r"^" + _whole_words(
        "add|analy[sz]e|build|bump|check|clean|compare|configure|convert|create|debug|deploy|design"
        "|document|draft|explain|export|extract|figure|find|fix|generate|get|give|help|implement"
        "|improve|install|investigate|let['’]?s|list|look|make|migrate|move|open|optimi[sz]e|plan"
        "|port|prepare|publish|read|refactor|remind|remove|rename|replace|review|rewrite|run|search"
        "|send|set|show|speed|split|start|style|summari[sz]e|tell|test|train|translate|update"
        "|upgrade|validate|write|i|we|the|our|my|there|can|could|would|will|please|is|are|do|does"
        "|did|has|have|should|how|what|what['’]?s|when|where|which|who|why"
        "|baue?|behebe|erkläre?|erstelle?|finde?|füge|kannst|lege?|mache?|prüfe?|richte|schreibe?"
        "|stelle?|suche?|teste?|übersetze?|zeige?|warum|was|welche[rs]?|wer|wie|wo|ich|wir|der|die"
        "|das|unsere?"
        "|ajoute|configure|corrige|crée|écris|explique|fais|lance|mets|montre|peux|traduis|trouve"
        "|vérifie|comment|pourquoi|quand|quel(?:le)?s?|qui|je|nous|le|la|les|notre"
        "|añade|arregla|busca|cambia|configura|crea|escribe|explica|genera|haz|muestra|puedes"
        "|revisa|traduce|cómo|cuándo|cuánt[oa]s?|dónde|por qué|qué|quién|el|los|las|nuestr[oa]"
    ),
    # where verbs stand at the end, or are not known here
    r"[^\W\d_a-zà-öø-ÿœ]",
)  # fmt: skip
POINTER = _any_of(
    _whole_words(
        "it|its|this|those|these|them|they|both|there|the (?:first|second|third|last|other)"
        "|that one|the one|steps? (?:\\d+|one|two|three|four|five|six|seven)|as planned|your"
        "|(?:did|have|were|are) you"
        "|you (?:did|wrote|said|made|added|created|changed|found|forgot|broke|missed|just)"
        "|damit|davon|darin|dazu|dafür|daran|darauf|dabei|ihn|diese[nms]?"
        "|ça|cela|ceci|celui-ci|elle|eso|esto|isso|isto|quello|questo|dat|dit|deze"
        "|это|этого|его|нему|ней|них|tego|nim|niego|nich"
    ),
    # not as in “fields that contain” or “mention that we”: at the end of a clause, as its subject,
    # or behind a word that takes an object
    r"\bthat(?=\W*$|[.,;:!?])",
    r"^(?:\w{1,20}\W{1,2}){0,2}that(?:['’]s|(?= (?:is|was|does|did|has|should|would|will|can|could"
    r"|must|isn|wasn|doesn|didn|won|sounds|looks|seems|makes|means)))",
    r"\b(?:for|of|with|without|in|into|to|from|like|as|about|after|before|than|on|by|do|does|did|is"
    r"|was|would|will|can|could|should|use|fix|make|try|undo|revert|keep|drop|change|move|remove"
    r"|rename|test|explain|run|all|what|why|how|and|or|but|not|let) that(?! (?:we|i|you|they|he|she"
    r"|the|our|my|your|it|there|all|every)\b)",
    r"\b(?:das|es)(?= +[a-zäöü]|[.!?]|$)",
    r"(?<=\we )sie\b",
    r"\b\w+-(?:le|la|les|lui|y)\b",
    r"\b\w{2,}(?:[aei]r|[áéíóú]\w{0,4}[aeo])(?:lo|la|los|las)\b",
    r"(?:それ|これ|その|この|あれ|さっき|它|这个|那个|这里|그것|그거|이거|이것)",
)
# “the one that …”, “make sure that …”, “there is”, “both … and”: no pointing
NOT_POINTING = re.compile(
    r"\b(?:(?:sure|so|such|says?|said|means?|see|think|know|reported|noticed|told|found)[\s,]+that"
    r"|(?!(?:is|was|does|has|isn['’]t|doesn['’]t|let|but|not|are|were|like|use|make|have)\b)"
    r"\w+(?:er|or|ion|ment|ing|t|s|e)"
    r" that (?=\w+s\b|\w+ed\b|reads?\b|lets?\b|makes?\b|has\b|have\b|is\b|are\b|posts?\b|can\b)"
    r"|an? (?:[\w-]+ ){0,3}[\w-]+ that"
    r"|this (?:project|morning|afternoon|evening|week|month|year|quarter|sprint|time)"
    r"|the (?:last|first) (?:\d+ )?(?:days?|weeks?|months?|years?|hours?|time)"
    r"|(?:hello|hi|hey|over|out) there|there(?: is| are| was| were|['’]s|['’]re| seems?)"
    r"|it(?: is|['’]s) (?:time|possible|important)|it(?:['’]d| would) be (?:nice|great|good|better)"
    r"|it (?:seems|turns out|looks like)|both (?=\w+ and )"
    r"|(?:are|have|were) you (?:able|familiar|ever))\b",
    re.IGNORECASE,
)
# what was so before: alone it says little, with a word in common a good deal
CONTINUITY_HINT = _any_of(
    _whole_words(
        "still|again|any ?more|no longer|after all|immer noch|noch immer|schon wieder|encore"
        "|toujours|todavía|sigue|aún|ancora|ainda|nog steeds|ещё|опять|nadal|jeszcze|znowu"
    ),
    r"\b(?:here|hier|ici|aquí)(?=\W*$|[.,;!?])",
    r"(?:まだ|还是|仍然|아직)",
)
_SHOULD = (
    r"(?:should(?:n['’]t)?|must(?:n['’]t)?|needs? to|has to|have to|ought to|sollen|sollte?n?|muss"
    r"|müssen|devrai(?:t|ent)|doi(?:t|vent)|debe(?:n|ría|rían)?|tiene que|tienen que|dovrebbe"
    r"|deve|devono|deveria|moet|moeten)\b"
)
# of whom something is asked: what “we” should do may be anything
SHOULD_SUBJECT = re.compile(
    rf"^(?!(?:i|we|you|ich|wir|du|je|nous|on|tu|yo|ich|what|how|when|why|where|who|which)\b)"
    rf"([^,.;:!?]{{1,60}}?)\b{_SHOULD}",
    re.IGNORECASE,
)
# it is named what is spoken of, or gone back to
RETURN_TO_TOPIC = re.compile(
    r"^(?:(?:now|then|let['’]?s|let us|can we|we should|so)\W+){0,2}"
    r"(?:(?:(?:go|get|com|circl|switch|jump|mov)(?:e|ing|ting)? )?back (?:on|to)|return(?:ing)? to"
    r"|pick(?:ing)? (?:back )?up|resume(?: with)?|re(?=:)|regarding|concerning"
    r"|as (?:for|to|regards)|with (?:regards?|respect) to|about (?=the|that|those|our|your)"
    r"|(?:kommen wir )?(?:wieder )?zurück zu[mr]?|bezüglich|betreffend|was (?=[^.!?]{1,60}betrifft)"
    r"|quant (?:à|aux?)|concernant|à propos d(?:es?|u)|(?:pour )?reven(?:ir|ons) (?:à|aux?|sur)"
    r"|(?:volv(?:iendo|amos|er)|regresando) al?|respecto (?:al?|de)|en cuanto al?|acerca del?"
    r"|(?:tornando|torniamo) (?:al?|alla|ai|alle)|riguardo (?:al?|alla|ai|alle)|voltando (?:à|aos?)"
    r"|(?:возвращаясь|верн[её]мся|вернись) к|насч[её]т|по поводу|wracając do|odnośnie"
    r"|回到|关于|話を戻して)"
    r"\W*([^,.;:!?—–\n]{1,60})",
    re.IGNORECASE,
)
# what is there already is to be otherwise: more, larger, or as it should be
AMENDMENT = _any_of(
    r"^(?:the|it|they|these|those|this|that|its|der|die|das|es|le|la|les|el|los|las|il|lo|o|a|os|as"
    rf"|de|het)\b[^,.;:!?]{{0,60}}?\b{_SHOULD}",
    r"\b(?:add|give|show|with|need|want|some|much|a (?:bit|little)|slightly|even) "
    r"(?:more|less|fewer)\b(?! than)",
    r"\b(?:make (?:it|them|the \w+)|slightly|a (?:bit|little)|much|even) \w{3,}er\b",
    r"^(?:all|alle|todos|tous|tutti) (?:but|except|außer|menos|excepto|sauf|tranne)\b",
    r"^(?:only|without|not|except|nur|ohne|nicht|sans|seulement|sin|solo|senza|sem|só|zonder|alleen)\b",
)
# what a program wrote, and somebody shows
PROGRAM_OUTPUT = _any_of(
    r"\bTraceback \(most recent|\bstack backtrace\b|\bpanicked at\b|\bERR!|\berror\[\w+\]",
    r"\b[\w.]{0,60}(?:Error|Exception|error|exception|fatal|FATAL|FAILED|failed)\b *[:(]",
    r"\[(?:error|warn(?:ing)?|fatal)[^\]]{0,60}\]",
    r"\bat [\w.$<>]{1,60} ?\(.{0,200}:\d+",
    r"[\w)]\.\w{1,5}(?::\d+){1,2}\b|\bline \d+, in\b",
    r"\b(?:exit(?:ed)?(?: with)? (?:status|code)|errno) ?:?\d+",
)
# where one clause ends and another begins: “it” cannot mean what its own clause names
CLAUSE_BREAK = re.compile(
    r"[,;:.!?]\s|\b(?:and|or|but|then|before|after|until|once|unless|because|since|that|which|who|when|if|while|how|what|where"
    r"|whether|so|und|oder|aber|weil|dass|wenn|bevor|nachdem|bis|ob|wie|et|ou|mais|que|si|quand|y|o|pero|porque"
    r"|cuando|e|ma|se|che)\b",
    re.IGNORECASE,
)
_REQUEST = r"(?:(?:can|could|would|will) you |let['’]?s |help me (?:to )?|kannst du )"
_WANTS = r"(?:(?:i|we)(?:['’]d like| need| want| would like| should) |ich (?:brauche|will) )"
_CREATE_VERB = (
    r"(?:write|build|create|make|draft|design|generate|develop|implement|set up|start|prepare"
    r"|compose|draw|plan|schreibe?|erstelle?|baue?|entwirf|mache?|erzeuge|entwickle|écris|crée|fais"
    r"|génère|rédige|prépare|escribe|crea|haz|genera|diseña|prepara|redacta|scrivi|cria|escreve"
    r"|maak|schrijf)(?:[ -](?:me|us|up|mir|uns|bitte|moi|nous))? "
)
# who makes a thing, or turns to one, speaks of something new
NEW_WORK = re.compile(
    rf"^(?:now )?(?:{_REQUEST}*{_CREATE_VERB}|{_WANTS}(?:(?:you )?to {_CREATE_VERB})?)"
    r"(?:an?|some|new|eine?[nms]?|une?|des|una|uno|uma?|een)\b"
    r"|^(?:now )?let['’]?s (?:look at|work on|talk about|turn to|tackle|focus on|get to)\b",
    re.IGNORECASE,
)
# “something else” turns to another thing where a clause begins with it, or somebody turns to it;
# who tries or proposes something else stays
_BEFORE_ELSE = (
    r"(?:^|[,.;:!?…] *|\b(?:now|ok|okay|so|and|then|to|do|does|about|on|for|with|jetzt|nun|und|zu"
    r"|maintenant|et|à|de|ahora|y|a|ora|e|agora|nu|en) +)"
)
TOPIC_CHANGE = _any_of(
    r"\bnew (?:thing|topic|task|session|project|conversation|question|chat|subject)\b",
    rf"{_BEFORE_ELSE}(?:(?:something|anything) (?:completely |totally |entirely )?"
    r"(?:else|different|new)|(?:completely|totally|entirely) (?:different|new|unrelated))\b",
    r"(?<!one )\b(?:different|another|other|unrelated|separate) (?:thing|topic|question|project"
    r"|subject|matter|note|task)\b",
    r"\b(?:different|separate) (?:issue|problem|bug)\b",
    r"\b(?:unrelated|separately|nothing to do with|switch(?:ing)? (?:gears|topics?)"
    r"|change of (?:topic|subject)|chang(?:e|ing) the subject|moving on|next up|context switch"
    r"|forget (?:it|that|about)|start (?:over|fresh|anew)|before i forget|next (?:task|topic)"
    r"|that['’]?s (?:enough|it|all) (?:for|of|about))\b",
    r"\bin (?:the|our|my) (?!same\b|this\b)\w+ (?:repo|repository|project)\b",
    r"\b(?:(?:neues|anderes) (?:thema|problem)|neue aufgabe"
    r"|themenwechsel|unabhängig davon)\b",
    rf"{_BEFORE_ELSE}(?:(?:et)?was (?:ganz )?anderes|autre chose|otra cosa|altra cosa|outra coisa"
    r"|iets anders|coś innego)\b",
    r"\b(?:(?:nouveau|autre) sujet|rien à voir|changeons de sujet|nouvelle tâche"
    r"|passons à)\b",
    r"\b(?:otra tarea|(?:otro|nuevo) tema|nada que ver|cambiando de tema|nueva tarea"
    r"|pasemos a)\b",
    r"\b(?:altro argomento|cambiando argomento|outro assunto"
    r"|mudando de assunto|(?:ander|nieuw) onderwerp|другое|новая (?:задача|тема)"
    r"|другая тема|inna sprawa|nowe zadanie|inny temat|z innej beczki)\b",
    r"(?:別件|別の(?:話|件|こと)|話は変わ|話変わ|ところで|换个话题|另一个问题|另外一件|别的事|新任务"
    r"|다른 (?:얘기|주제|작업|문제)|새로운 (?:작업|주제))",
)
