"""Words with which somebody turns to a person: asks, leaves it to them, waits, or is only polite.

Claude speaks the language of whoever it talks with; the commonest are here. What is missing is
missed only where a question is not the last of what was said. All are tried on one sentence.
"""

from __future__ import annotations

import re


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# it is put to the person: to them, about what they want, or for leave. Rhetorical ones are not
ADDRESSES_PERSON = _any_of(
    r"\b(?:you|your|yours|(?:shall|should|can|may|could|do|must) (?:I|we)|want (?:me|to)|need me"
    r"|prefer|ok(?:ay)? (?:to|if)|ready (?:to|for)|go ahead|interested in)\b",
    # whether something was meant so can only be told by whoever did it
    r"\bis there (?:a|any) (?:good )?reason\b|\b(?:is|was|were|are) (?:that|this|it|these|those)"
    r" (?:intended|intentional|deliberate|on purpose|meant)\b",
    # "Want it squashed?", "Thoughts?", "Push it?"
    r"^\W*(?:want|need|prefer|thoughts|opinions|objections|agreed)\b",
    r"^\W*(?:add|apply|close|commit|continue|delete|deploy|drop|fix|go on|keep|mark|merge|open"
    r"|proceed|publish|push|rebase|release|remove|rename|retry|revert|run|send|ship|squash|start"
    r"|undo|update)(?: (?:all|anyway|both|it|now|that|the|them|these|this|those|with)\b|\W*\?)",
    # German, Dutch, the Nordic ones
    r"\b(?:(?:soll|sollen|kann|können|darf|dürfen|muss|müssen) (?:ich|wir|es)|soll ich's|du|dir"
    r"|dich|euch|Ihnen|Ihre?|möchte(?:st|n)|(?:zal|mag|kan|moet) ik|(?:wil|heb|kun) je"
    r"|(?:wilt|heeft|kunt) u|(?:ska|får|kan) jag|vill du|(?:skal|må|kan) jeg|vil du)\b",
    # the Romance ones
    r"\b(?:quieres|prefieres|deseas?|puedo|debo|puedes|podrías|tienes|te parece|usted"
    r"|veux-tu|voulez-vous|souhait(?:es|ez)|préfér(?:es|ez)|puis-je|dois-je|peux-tu|pouvez-vous"
    r"|pourriez-vous|avez-vous|as-tu|vuoi|preferisci|posso|devo|puoi|potresti"
    r"|quer(?:es)?|prefere|você|pode|poderia|gostaria"
    r"|(?:em|com)piezo|sigo|procedo|continúo|começo|je commence|inizio)\b",
    # the Slavic ones
    r"\b(?:хо(?:чешь|тите)|мне|можно|нужно ли|ты|вы|тебе|тебя|вам|вас|уточни(?:те)?"
    r"|chcesz|czy|chceš|chcete)\b",
    r"ますか|ですか|でしょうか|ましょうか|ませんか|吗|要不要|是否|需要我|你|您|哪个|까요|나요|습니까",
)

# what comes after a question that somebody answers at once: it was put to nobody
SELF_ANSWER = re.compile(
    r"\W*(?:because\b|(?:yes|no|nope)\s*[,.:;!–—-]|(?:the )?(?:short )?answer\b"
    r"|it turns out|I (?:think|thought) (?:not|so)\b|weil\b|(?:ja|nein)[,.:]|parce que\b"
    r"|(?:oui|non)[,.:]|porque\b|(?:sí|sim|não)[,.:]|perché\b|потому\b|(?:да|нет)[,.:]|因为|是的|なぜなら|はい|いいえ)",
    re.IGNORECASE,
)

# somebody else's question, told again
REPORTED_QUESTION = _any_of(
    r"\b(?:you|one|people|someone|reviewers?) (?:might|may|could|will) (?:ask|wonder|object)\b",
    r"\byou (?:asked|wondered|wanted to know)\b",
)

# a question that only leads to what is said next
LEADING_QUESTION = re.compile(
    r"\W*(?:(?:want|care|curious|like) to (?:know|see|learn|guess|hear|try|read)"
    r"|what (?:does|do|did) (?:that|this|it|these) mean)\b",
    re.IGNORECASE,
)
# one that stands for "if you want that", where the person is told how to have it
SHORT_OFFER = re.compile(r"\W*(?:want|need|prefer)\b(?! (?:me|us|to)\b)", re.IGNORECASE)
SELF_SERVICE = re.compile(
    r"\W*(?:just |simply |then )?(?:there(?:'s| is| are)|set|change|use|pass|open|run|edit"
    r"|add|see|check|toggle|visit|click|switch|go to|try|look|read|install|enable|disable|put|swap"
    r"|replace|remove|start)\b",
    re.IGNORECASE,
)
# the word of the person, as they would give it
_SAY_VERB = r"(?:say|reply|answer|respond|type|tell me|let me know|lmk|give me)"
# what comes after one that is meant: what becomes of the answer, or what is advised
AWAITS_ANSWER = re.compile(
    rf"\W*(?:(?:(?:just|then|please)\W+){{0,2}}{_SAY_VERB}\b|.{{0,120}}\bor (?:just )?{_SAY_VERB}\b"
    r"|if (?:yes|so|no|not|you)\b|if\b[^.?!]{0,80}, I(?:'d|'ll| would| will| can)\b"
    r"|otherwise\b|depending on\b|once (?:I|you)\b"
    r"|I(?:'d| would|'ll)? (?:lean|suggest|recommend|propose|prefer|default|assume)\b"
    r"|I(?:'d| would) (?:go|take|pick|choose|start)\b"
    r"|my (?:default|suggestion|guess|recommendation|preference|vote)\b"
    r"|(?:that|this|it)(?: (?:decides|determines|depends)\b|(?:'s| is) the (?:next|last|only) )"
    r"|(?:wenn|falls) (?:ja|nein|nicht)\b|davon hängt\b|ich würde\b|si (?:oui|non|sí|no)\b"
    r"|je (?:recommande|propose|suggère)\b|recomiendo\b|sugiero\b|recomendo\b|от этого\b|если\b"
    r"|我建议|如果|もし)",
    re.IGNORECASE,
)

# an opening whose choices follow in a list, whatever sign is behind it
CHOICE_LEAD = re.compile(
    r"(?:would you (?:like|prefer|rather)|do you want|should (?:I|we)|shall (?:I|we)|want me to"
    r"|which (?:one|of|option|approach|would|way)|how (?:would you like|should I|shall I)"
    r"|what would you (?:like|prefer)|where should|soll ich|möchtest du|willst du|quieres que"
    r"|prefieres|voulez-vous|veux-tu|vuoi che|quer que|хочешь|どちら|どれ|要我|你想"
    r"|(?:please )?(?:choose|pick|select|decide)\b.{0,40})[^.!?\n]*[:：]\s*$",
    re.IGNORECASE,
)

# the sentence begins with what the person is to do, or what follows a colon in it does
_IMPERATIVE_START = (
    r"(?:^|: )\W{0,9}(?:(?:so|then|now|next|first|just|also|and|please)\W{1,3}){0,4}"
)
# "Set it …", "Free up some …": a verb and what it is done to, whichever verb it is
_IMPERATIVE = (
    r"(?!(?:let|all|both|that|this|what|which|here|there|with|from|for|in|on|at|by|once|when|if|after"
    r"|before|not|only|even)\b)[a-z]{2,12}(?<!s)(?<!ed)(?<!ing) (?:(?:the|an?|your|it|this|that"
    r"|these|those|some|any|one|both|up|out|off|me|my)\b|`)"
)
_QUESTION_WORD = r"(?:which|what|whether|how|when|where|who|why|your)"
_ONCE_YOU = r"(?:until|once|as soon as) you(?:'ve| have)?"
_DECIDE_VERB = r"(?:confirm|approve|say|said|decide|answer|reply|tell|told|give|pick|choose|agree)"
_OPTIONAL_IF = r",? if\b(?!.{0,40}\b(?:proceed|continue|go ahead|start|I (?:should|may|can))\b)"
_QUOTED_WORD = r"[\"“'‘`*]+[^\"”'’`*\n]{1,30}[\"”'’`*]+"
# it is put to the person without a question mark
REQUEST = _any_of(
    rf"\b(?:let me know|lmk|tell me) (?:{_QUESTION_WORD}|once|as soon as)\b(?! (?:it goes|else))",
    r"\b(?:let me know|lmk|tell me) if (?:(?:that|this|it|these|those)(?:'s| (?:is|are|works?"
    # "if the two of them are acceptable": to be judged, not only offered
    r"|looks?|sounds?)\b)|(?!you\b|any|some|there)[^.?!]{0,90}\b(?:acceptable|ok(?:ay)?|fine|correct"
    r"|right|makes? sense)\b|(?:you'd like|you would like|you want) (?:me )?to (?:proceed|continue"
    r"|go ahead|start)\b|you(?:'re| are) (?:happy|ok(?:ay)?|fine|good|comfortable)\b|you agree\b"
    r"|[^.?!]{0,60} before I\b)",
    rf"{_IMPERATIVE_START}(?:run|try|test|check|restart|reload|open|review|look)\b[^.?!]{{0,90}}(?:\band|\bthen|,)"
    r" (?:then )?(?:share|paste|tell me|let me know|send me|show me|report back)\b",
    r"\bplease (?:confirm|choose|pick|select|decide|clarify|specify|advise|answer|tell me|provide"
    r"|share|paste|describe|send|upload|approve|grant|point me|let me know (?:which|what|whether"
    r"|how|your)|\w+ [^.?!]{0,90}\b(?:and|then) (?:then )?(?:share|send|paste|tell me|let me know"
    r"|show me)|(?:run|try|test|check|restart|reload|verify)\b[^.?!]{0,80}\b(?:whether|if (?:it|the"
    r"|that|this))|review\b[^.?!]{0,60}\bbefore)\b",
    # "Confirm and I'll send them.", "Once the key is in, tell me and I'll start."
    rf"{_IMPERATIVE_START}(?:(?:confirm|approve|paste|send|share|post|upload|provide|drop|give|point|say|grant|add"
    rf"|tell|ping)\b|{_IMPERATIVE})[^.?!]{{0,90}}\b(?:and|then) I(?:'ll| will| can)\b",
    r"\b(?:once|when|as soon as|after)\b(?! you(?:'d)? (?:like|want|need))[^.?!]{0,90}, (?:just "
    r"|please )?(?:tell me|let me know|ping me|give me a shout|say so)\b",
    r"\bI(?:'d| would)? (?:\w+ )?(?:need|like|want) (?:[^.?!]{0,60}from you\b|you to\b|your\b)",
    r"\bI(?:'ll| will|'d)? need (?:a bit )?(?:more|some|a few|the following) (?:information"
    r"|details?|context|clarification|answers|input)\b",
    r"\b(?:wait(?:ing)?(?: for| on)|await(?:ing)?|pending|needs?|(?:hold|stand)(?:ing)?"
    r"(?: off| by)? for) your (?:word|ok(?:ay)?|answers?|approval|confirmation|decision"
    r"|input|go-?ahead|reply|call|review|sign-?off|feedback|response)\b",
    rf"\bI(?:'ll| will|'m| am)?\b.{{0,120}}\b{_ONCE_YOU} {_DECIDE_VERB}",
    rf"\b{_ONCE_YOU} {_DECIDE_VERB}\w*\b.{{0,120}}\bI(?:'ll| will| can)\b",
    r"\bready to\b.{0,120}\b(?:when(?:ever)?|once|as soon as)"
    rf" you(?:'ve| have)? {_DECIDE_VERB}",
    # "To go on I need the id of the account."
    r"(?:\bto|\bbefore I(?: can)?) (?:continue|proceed|go on|go ahead|finish|start|deploy|move on"
    r"|test|reproduce)\b.{0,60}?\bI(?:'ll|'d| will| would)?(?: still)? need (?!to\b)",
    r"\b(?:holding|waiting|pausing|paused|stopping|stopped)\b.{0,60}"
    rf"\b{_ONCE_YOU} {_DECIDE_VERB}",
    r"\bblocked (?:on|by) you\b",
    rf"{_IMPERATIVE_START}(?:answer|reply to) (?:those|these|them"
    r"|the (?:two|three|four|five|questions?))\b",
    rf"{_IMPERATIVE_START}(?:pick|choose|select) (?:one|between|whichever)\b",
    # "… if you want the tests as well" is an offer
    rf"{_IMPERATIVE_START}(?:give me|say) (?:the|your|a) (?:go-?ahead|word|green light|nod|ok)\b"
    rf"(?!{_OPTIONAL_IF})",
    # "Say `apply` if …, or `skip` to …"
    rf"{_IMPERATIVE_START}(?:say|reply|type|answer)(?: with)? {_QUOTED_WORD}.{{0,120}}"
    rf"(?:\bor\b|,|;).{{0,20}}{_QUOTED_WORD}",
    # "Say if I should."
    rf"{_IMPERATIVE_START}(?:just )?say (?:so )?(?:if|whether) I should\b",
    r"\bI(?:'ll| will|'m)? (?:now )?wait(?:ing)? for you\b",
    rf"(?:{_IMPERATIVE_START}|(?:,|\band|\bthen) )(?:say|reply|type|answer)(?: with)?"
    r" [\"“'‘`*]+(?:go|yes|ok|okay|proceed|approved?|continue|merge|ship it|do it)\b",
    # "Sag Bescheid, wenn der Schlüssel da ist, dann …": something waits for it
    r"\bBescheid,? (?:wenn|sobald)\b[^.?!]{0,90}, (?:\w+ ){0,2}(?:ich|kann|geht)\b"
    r"|\bavísa(?:me|nos) (?:cuando|en cuanto)\b(?! (?:quieras|necesites))"
    r"|\bfammi sapere (?:quando|quale|cosa)\b",
    r"\bsag(?:e|en Sie)? mir,? (?:welche|ob|wie|was|wann)|\bbitte (?:bestätige|prüfe|wähle|schick)"
    r"|\bd[ií](?:me|game) (?:cuál|qué|si|cómo|cuándo)|\bconfírma(?:me)?\b|\bdi(?:s|tes)-moi"
    r" (?:lequel|laquelle|si|quand|ce)|\bme diga (?:qual|se|quando)"
    r"|\bскажи(?:те)?,? (?:как|что|ког)|请(?:确认|选择|提供|告诉我)"
    r"|教えてください|選んでください|ご確認ください|선택해|알려",
)
# but it is only there for whoever wants it
OPTIONAL_REQUEST = _any_of(
    r"\bif (?:you(?:'d| would|'ve| have| want| need| prefer| like| run| see| hit| ever)|any|some"
    r"|there)\b(?![^.?!]{0,30}\b(?:proceed|continue|go ahead|start|before I)\b)",
    r"\bshould you (?:want|need|wish|like|prefer)\b",
    r"\b(?:wenn|falls) (?:du|Sie|ihr|noch|etwas)\b|\bsi (?:tu|vous|quieres|necesitas|deseas|hay)\b"
    r"|\bse (?:vuoi|você|quiser|precisar)\b|\bесли (?:хо|нуж|что|пон)"
    r"|何かあれば|ご不明|必要であれば|必要なら|如果(?:还|你|您|需|有)|필요하시면|있으면",
)

# it is left to the person, where nothing else comes after it: in so many words, or by what lacks
LEFT_TO_PERSON = _any_of(
    r"\b(?:your call|up to you)\b.{0,4}\b(?:(?:on )?(?:whether|which|how)|if|regarding)\b",
    r"\bI(?:(?:'d|'ll| would| will)(?: still| only| just)?| (?:still|only|just)) need (?!to\b)",
)
# that at the end, after what it is about
PERSONS_MOVE = re.compile(
    r"(?:^|[;,–—] )\W{0,5}(?:(?:that|it|this)(?:'s| is) )?(?:entirely )?"
    r"(?:your (?:call|choice|decision)|up to you|you (?:choose|decide|pick)|deine entscheidung"
    r"|à vous de (?:voir|choisir)|tú decides|решать (?:вам|тебе))\W{0,9}$",
    re.IGNORECASE,
)
# what stands under such words was written into something: its questions are those of its readers
DOCUMENT_LEAD = re.compile(
    r"^\W*(?:I(?:'ve| have)? )?(?:also )?(?:added|wrote|written|created|drafted|translated|renamed"
    r"|reworded|replaced|documented|put)\b",
    re.IGNORECASE,
)
# what stands under such words asks, even where more is said after the question mark
QUESTION_CUE = _any_of(
    r"\b(?:open|remaining|clarifying|some|few|two|three|four|five|my) (?:questions?|decisions?)\b",
    r"\b(?:questions?|decisions?) (?:for you|before|to (?:answer|make|settle)|that|needed)\b",
    r"\b(?:need|want|like) to (?:know|clarify|confirm|understand|ask)\b",
    r"\bplease (?:clarify|confirm|answer)\b",
    r"\boffene fragen\b|\bpreguntas abiertas\b|\bquestions ouvertes\b|\bоткрытые вопросы\b",
    r"^\W*(?:questions|fragen|preguntas|perguntas|domande|вопросы|问题|質問|질문)\W*$",
)
# another half of a courtesy: "Any questions, or shall I start?"
ALTERNATIVE = re.compile(
    r"(?:[,;–—]\s*|\s)(?:or|oder|ou|oppure|или)\s|[,;–—]\s*[oe]\s", re.IGNORECASE
)
QUESTION_START = re.compile(
    r"\W*(?:should|shall|would|do|can|could|may|is|are|soll|sollen|darf|kann)\b", re.IGNORECASE
)
# which may say no more than that all is well
ALL_GOOD = _any_of(
    r"\b(?:everything|all|it|that|this|you|we)(?:'s|'re| is| are| looks?)?(?: all)? (?:set|good"
    r"|fine|clear|done|ok(?:ay)?|it)\b|\bare (?:you|we) (?:all )?(?:set|good|done)\b"
)
# a sentence that belongs to the question before it
CONTINUATION = re.compile(
    r"\W*(?:and|or|also|if (?:so|not|yes|no)|otherwise|und|oder|et|ou|y|e|o|и|или)\b", re.IGNORECASE
)
FOLLOW_UP_REQUEST = re.compile(
    r"\W*(?:and )?(?:then|afterwards),? (?:please )?(?:paste|send|tell|share|show|post|say|let)\b",
    re.IGNORECASE,
)
# or it waits for the answer all the same
BEFORE_ACTION = _any_of(r"\bbefore (?:I|we)\b|\bbevor ich\b|\bavant que je\b|\bantes de que\b")
COURTESY = _any_of(
    r"anything else|any (?:other |more |further )?questions|how (?:can|may) I (?:help|assist)",
    r"what can I (?:help|do for) you|does (?:that|this) help",
    r"what (?:would|do) you (?:like|want) (?:me )?to (?:work on|do) today",
    r"\bsonst noch\b|\bnoch etwas\?|\balgo más\b|\balguna otra\b|\bautre chose\b|d'autres questions"
    r"|qualcos'altro|\bmais alguma\b|\bчто-(?:нибудь|то) ещё|\bещё (?:что|вопрос)|чем могу помочь"
    r"|(?:他|ほか)に(?:何か|ご)|何かお手伝い|还有(?:什么|其他|别的)"
    r"|有什么(?:可以|能)帮|더 (?:필요|도와)",
)
