"""Whether a command says that what was planned is to be done now. Pure.

A session that is planning leaves plan mode by such a word, so in doubt it is none: a question, a
negation, a condition, or a word about the plan itself.
"""

from __future__ import annotations

import re

# a task is described in many sentences, and any of them may speak of building
LONGEST_COMMAND = 400

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|“[^“”]*”|\"[^\"\n]*\"", re.DOTALL)
_MARKS = re.compile(r"^\W+|\W+$")
_SPACES = re.compile(r"[^\S\n]+")
_CLAUSES = re.compile(
    r"[.!;:,\n–—…。！；，、]+\s*|\s+(?:but|and then|then|aber|dann|mais|puis|pero|luego)\s+"
)


def _any_of(*patterns: str) -> str:
    return "|".join(patterns)


# what may stand before it
_LEAD = (
    r"(?:(?:ok(?:ay)?|now|so|yes|yep|yeah|sure|great|good|perfect|nice|right|alright|all right|then"
    r"|and|please|just|cool|fine|thanks|thank you|hey|claude|go ahead|let's|let us|you can(?: now)?"
    r"|you may(?: now)?|it's time to|time to|i want you to|i'd like you to|can you|could you"
    r"|would you|will you|we can(?: now)?|ja|jetzt|nun|gut|bitte|also|oui|maintenant|bien|sí|ahora"
    r"|vale|por favor|да|теперь|好的?|现在|请|はい|では)\s+)*"
)
_THINGS = (
    r"(?:it|this|that|them|these|those|everything|all(?: of (?:it|this|that|them))?|both"
    r"|(?:the|your|this|that|our) (?:whole |entire |approved |proposed )?"
    r"(?:plan|proposal|changes?|design|approach|steps?|solution|fix|feature|idea|code|work))"
)
_MORE = (
    r"(?: (?:up|out|now|then|please|already|for real|as (?:planned|proposed|discussed|is)|all))*"
)
# after it may stand how, and with what; not where in the plan
_TAIL = (
    r"(?: (?:with|using|in (?!the plan|this plan|your plan|plan mode)|on|step by step|one by one"
    r"|exactly|like|including|for|according|all at once|from|and|without asking)\b.*)?"
)
_ENGLISH = _any_of(
    rf"(?:implement|build|code|execute|carry out|realise|realize|apply|do|make|write|create){_MORE}"
    rf" {_THINGS}{_MORE}{_TAIL}",
    rf"(?:start|begin|proceed|continue|go(?: ahead)?)(?: (?:with|on|by|and))?"
    rf"(?: the)? (?:implement(?:ing|ation|ation work)?|building|build|coding|executing|execution"
    rf"|working on it|work|development|do(?:ing)? (?:it|that|this)){_MORE}{_TAIL}",
    rf"(?:go ahead|proceed|go for it|make it (?:so|happen)|get (?:going|started|to work)|start"
    rf"|begin|let's go|build away|fire away){_MORE}",
    rf"(?:start|begin|proceed|go ahead)(?: with| on)? {_THINGS}{_MORE}{_TAIL}",
    # "now implement the till": of what else would a session that plans be told so
    r"(?:now|go ahead and|let's|you can now|start) (?:implement|build|cod)(?:e|ing)? "
    r"(?:the|our|this) [\w ./'-]{1,60}",
    r"(?:implement|build|execute)(?: now| please| away)*",
    r"implementation(?: time| please| now)+",
    r"(?:leave|exit|stop|end|quit|get out of) (?:the )?plan(?:ning)?(?: mode)?(?: now| please)*",
    r"(?:the |your |this )?plan (?:is |looks )?(?:approved|accepted|good to go)",
    r"(?:i )?(?:approve|accept)(?: of)? (?:the|your|this) plan",
)
_OTHER_LANGUAGES = _any_of(
    # German, French, Spanish, Italian, Portuguese, Dutch
    r"(?:(?:es|das|den plan|alles) )?(?:(?:jetzt|bitte|nun) )*(?:umsetzen|implementieren)",
    r"(?:setz|setze)n? (?:es|das|den plan|alles)(?: jetzt| bitte| so| nun)* um",
    r"(?:implementiere|baue?|mache?|programmiere)(?: (?:es|das|den plan|alles|ihn)){1}"
    r"(?: jetzt| bitte| so| nun)*",
    r"(?:leg|fang|mach)e?(?: jetzt| bitte| nun| einfach)* (?:los|an)(?: damit)?",
    r"(?:vas-y|allez-y|lance-toi|(?:implémente|code|réalise|exécute|fais)[- ](?:le|la|ça|les)"
    r"|(?:implémente|réalise|exécute) (?:le plan|tout))(?: maintenant)?",
    r"(?:adelante|hazlo|impleméntalo|constrúyelo|ejecútalo|(?:implementa|ejecuta) (?:el plan|todo))"
    r"(?: ahora)?",
    r"(?:procedi|fallo|implementalo|implementa il piano|realizzalo|vai avanti|faça isso|implemente"
    r"(?:-o| o plano| isso)?|pode (?:fazer|implementar)|ga je gang|voer het (?:plan )?uit"
    r"|implementeer (?:het|dit|dat|het plan))(?: ora| adesso| agora| nu)?",
    # Russian, Polish, Chinese, Japanese, Korean
    r"(?:реализуй|сделай|выполни|внедри)(?:те)?(?: (?:это|план|всё|все|его))?(?: сейчас)?"
    r"|приступай(?:те)?|делай(?:те)?|начинай(?:те)?",
    r"(?:zrób|wdróż|zaimplementuj|zrealizuj) (?:to|plan)(?: teraz)?|działaj",
    r"(?:开始|现在)?(?:实现|实施|执行|动手)(?:它|这个|这个计划|计划|方案|吧|了)*|开始(?:吧|实现|实施|写代码)+|动手吧",
    r"(?:それを|計画を|これを)?(?:実装|実行)(?:して|してください|を?(?:始めて|開始して)(?:ください)?)"
    r"|始めてください|進めてください",
    r"(?:이제 )?(?:구현|실행|진행)(?:해|해줘|해 줘|해주세요|하세요)",
)
_START = re.compile(rf"{_LEAD}(?:{_ENGLISH}|{_OTHER_LANGUAGES})", re.IGNORECASE)
# whatever else is said: then it is not to be done, or not yet, or it is about the plan
_NEGATION = re.compile(
    r"\b(?:don't|dont|do not|not|never|no need|cannot|can't|won't|shouldn't|before|until|unless"
    r"|wait|hold (?:off|on)|instead|rather than|later|yet|stay in|keep planning|nicht|noch kein"
    r"|kein(?:e|en)?|erst|warte|später|ne|n'|pas|jamais|avant|attends|todavía|aún|espera|antes"
    r"|non|prima|não|niet|nog|eerst|не|пока|подожди|сначала|nie|jeszcze|if|wenn|falls|si|se|если"
    r"|jeśli|how|why|what|which|when|whether|wie|warum|comment|pourquoi|cómo|как|почему)\b"
    r"|(?:^|\s)no\s+(?!problem|worries)|先(?:别|不)|不要|别|還|还没|まだ|しないで|하지 ?마|아직"
    r"|[🚫❌⛔🛑✋👎❓]",
    re.IGNORECASE,
)
_ABOUT_PLAN = re.compile(
    r"\b(?:in|into|to|inside|within|of) (?:the|your|this|a|our) plan\b"
    r"|\b(?:update|revise|extend|change|rewrite|refine|redo|write|make|create|draft|do|adjust|improve"
    r"|review|rework|finish|complete|expand)(?: [\w']+){0,3} plan(?:ning)?\b"
    r"|\bplan(?:ning)? (?:to|how|for|out|first|again|more|it)\b|^\W*plan\b|\bin plan mode\b",
    re.IGNORECASE,
)
_QUESTION_MARK = re.compile(r"[?？؟]")
# a request that is put as a question
_REQUEST = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|great|good|now|so|and|please)\W+)*(?:can|could|would|will) you\b",
    re.IGNORECASE,
)


def starts_work(command: str) -> bool:
    """Whether a session that plans is told to do now what it planned."""
    said = _SPACES.sub(
        " ", _CODE.sub(" ", command[: LONGEST_COMMAND + 1].replace("’", "'"))
    ).strip()
    if len(command) > LONGEST_COMMAND or not said or said.startswith("/"):
        return False
    if _NEGATION.search(said) or _ABOUT_PLAN.search(said):
        return False
    if _QUESTION_MARK.search(said) and not _REQUEST.match(said):
        return False
    clauses = _CLAUSES.split(said.rstrip("?？ "))
    # an emoji or a smiley behind it says nothing else
    return any(_START.fullmatch(_MARKS.sub("", clause)) for clause in clauses if clause)
